//! The product of what a string must match, must not match and must not be, with valid UTF-8; laid out, with
//! the lengths of what each state can still become.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const text_sort = @import("../base/text_sort.zig");
const Watch = @import("../base/watch.zig").Watch;
const Arena = @import("../base/arena.zig").Arena;
const dfa_module = @import("../language/dfa.zig");
const Dfa = dfa_module.Dfa;
const Interner = @import("../base/interner.zig").Interner;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const string_index = @import("../vocabulary/string_index.zig");
const Alphabet = string_index.Alphabet;
const class_of = string_index.class_of;
const classOfLead = string_index.classOfLead;

pub const Error = error{ OutOfMemory, TooLarge };

/// States of a product; a schema that needs more is refused.
pub const states_max = 1 << 15;

pub const Graph = struct {
    gpa: Allocator,
    /// By byte.
    classes: [256]u8,
    n_classes: u32,
    /// By class: its bytes begin a character.
    leads: std.StaticBitSet(256),
    /// [state * n_classes + class]; `dead` where no string of the set continues so.
    table: []u32,
    ends: []bool,
    /// By state: characters of the shortest and of the longest completion; `none` and `endless`.
    shortest: []u32,
    longest: []u32,
    /// By state: the classes of characters of which one may be the end, here or further on: any other text continues.
    fatal: []Alphabet,
    /// The same of the end within `near` characters.
    fatal_near: []Alphabet,
    /// The state of any text; `dead` if there is none.
    free: u32,
    /// The greatest of `shortest`.
    depth: u32,
    /// From each state on there is no end of completions.
    is_endless: bool,

    /// Most tokens are shorter.
    pub const near = 32;

    pub const dead = 0;
    pub const start = 1;
    pub const none = std.math.maxInt(u32);
    pub const endless = std.math.maxInt(u32);

    /// Every loop is counted by the watch, if there is one: `TooLarge` where it stops the work.
    pub fn init(
        gpa: Allocator,
        matches: []const *const Dfa,
        mismatches: []const *const Dfa,
        excluded: []const []const u8,
        watch: ?*Watch,
    ) Error!Graph {
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var product: Product = .{
            .arena = arena.allocator(),
            .watch = watch,
            .matches = matches,
            .mismatches = mismatches,
            .texts = try sorted(arena.allocator(), excluded, watch),
            .are_excluded = true,
        };
        try product.build();
        return product.layOut(gpa);
    }

    /// Of these strings alone.
    pub fn initListed(gpa: Allocator, texts: []const []const u8, watch: ?*Watch) Error!Graph {
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var product: Product = .{
            .arena = arena.allocator(),
            .watch = watch,
            .matches = &.{},
            .mismatches = &.{},
            .texts = try sorted(arena.allocator(), texts, watch),
            .are_excluded = false,
        };
        try product.build();
        return product.layOut(gpa);
    }

    pub fn deinit(g: *Graph) void {
        g.gpa.free(g.table);
        g.gpa.free(g.ends);
        g.gpa.free(g.shortest);
        g.gpa.free(g.longest);
        g.gpa.free(g.fatal);
        g.gpa.free(g.fatal_near);
    }

    pub inline fn next(g: *const Graph, state: u32, byte: u8) u32 {
        return g.table[state * g.n_classes + g.classes[byte]];
    }

    pub fn accepts(g: *const Graph, state: u32) bool {
        return g.ends[state];
    }

    /// Whether any valid text leads back here, and each state on the way can end.
    pub fn isFree(g: *const Graph, state: u32) bool {
        return g.free == state;
    }

    /// Where all characters that begin with a byte beyond ASCII lead; null if not all to one state. They are UTF-8, so that
    /// none is dead where another is not, unless it is said so here. `continuations`: one byte of each class of those.
    pub fn behindLead(g: *const Graph, state: u32, lead: u8, continuations: []const u8) ?u32 {
        var pending: [24][2]u32 = undefined;
        pending[0] = .{ utf8Next(utf8_start, lead), g.next(state, lead) };
        if (pending[0][1] == dead) return dead;
        var n: usize = 1;
        var i: usize = 0;
        var found: ?u32 = null;
        while (i < n) : (i += 1) for (continuations) |byte| {
            const utf8 = utf8Next(pending[i][0], byte);
            if (utf8 == utf8_dead) continue;
            const to = g.next(pending[i][1], byte);
            if (utf8 == utf8_start or to == dead) {
                if (found) |one| if (one != to) return null;
                found = to;
                continue;
            }
            const is_known = for (pending[0..n]) |one| {
                if (one[0] == utf8 and one[1] == to) break true;
            } else false;
            if (is_known) continue;
            if (n == pending.len) return null;
            pending[n] = .{ utf8, to };
            n += 1;
        };
        return found.?;
    }

    pub fn nStates(g: *const Graph) u32 {
        return @intCast(g.ends.len);
    }

    /// Whether a completion of some length between the bounds exists: by the sets of states after each number of
    /// characters. They repeat from some number on, which is noticed, so that high bounds cost no more.
    pub fn hasLength(g: *const Graph, gpa: Allocator, from: u32, min: u32, max: u32, steps: *usize, steps_max: usize) Error!bool {
        if (min > max) return false;
        var arena: Arena = .init(gpa);
        defer arena.deinit();
        var layer: std.DynamicBitSetUnmanaged = try .initEmpty(arena.allocator(), g.nStates());
        var following: std.DynamicBitSetUnmanaged = try .initEmpty(arena.allocator(), g.nStates());
        var pending: ArrayList(u32) = .empty;
        layer.set(from);
        try pending.append(arena.allocator(), from);
        var earlier = try layer.clone(arena.allocator());
        var n_earlier: u32 = 0;
        var n: u32 = 0;
        while (true) {
            var can_end = false;
            following.unsetAll();
            var i: usize = 0;
            while (i < pending.items.len) : (i += 1) {
                const state = pending.items[i];
                can_end = can_end or g.ends[state];
                for (g.table[state * g.n_classes ..][0..g.n_classes], 0..) |to, class| {
                    if (to == dead) continue;
                    if (g.leads.isSet(class)) {
                        following.set(to);
                    } else if (!layer.isSet(to)) { // within a character that has begun
                        layer.set(to);
                        try pending.append(arena.allocator(), to);
                    }
                }
            }
            if (can_end and n >= min) return true;
            if (n == max or pending.items.len == 0) return false;
            steps.* += pending.items.len * g.n_classes;
            if (steps.* > steps_max) return error.TooLarge;
            std.mem.swap(std.DynamicBitSetUnmanaged, &layer, &following);
            n += 1;
            if (layer.eql(earlier)) {
                const period = n - n_earlier;
                if (n < min) n += (min - n) / period * period else if (n - min >= period) return false;
            } else if (@popCount(n) == 1) {
                earlier.unsetAll();
                earlier.setUnion(layer);
                n_earlier = n;
            }
            pending.clearRetainingCapacity();
            var states = layer.iterator(.{});
            while (states.next()) |state| try pending.append(arena.allocator(), @intCast(state));
        }
    }
};

fn sorted(arena: Allocator, texts: []const []const u8, watch: ?*Watch) Error![]const []const u8 {
    const copy = try arena.dupe([]const u8, texts);
    const keyed = try arena.alloc(text_sort.Text, texts.len);
    for (keyed, texts, 0..) |*one, text, i| one.* = .of(text, i);
    try text_sort.sortWatched(arena, keyed, watch);
    for (copy, keyed) |*one, key| one.* = key.text;
    return copy;
}

/// Whether a state matches, and every character leads back to it.
fn takesAll(dfa: *const Dfa, state: u16) bool {
    if (dfa.matches[state] == 0) return false;
    // Within a character: its UTF-8 state, and that of the automaton.
    var pending: [64][2]u32 = undefined;
    pending[0] = .{ utf8_start, state };
    var n: usize = 1;
    var i: usize = 0;
    while (i < n) : (i += 1) for (0..256) |byte| {
        const utf8 = utf8Next(pending[i][0], @intCast(byte));
        if (utf8 == utf8_dead) continue;
        const to: [2]u32 = .{ utf8, dfa.next(@intCast(pending[i][1]), @intCast(byte)) };
        if (utf8 == utf8_start and to[1] != state) return false;
        const is_known = for (pending[0..n]) |one| {
            if (std.meta.eql(one, to)) break true;
        } else false;
        if (is_known) continue;
        if (n == pending.len) return false;
        pending[n] = to;
        n += 1;
    };
    return true;
}

const Product = struct {
    arena: Allocator,
    watch: ?*Watch,
    matches: []const *const Dfa,
    mismatches: []const *const Dfa,
    /// Ascending: all strings but these, or no others.
    texts: []const []const u8,
    are_excluded: bool,
    /// [utf8, states of the automata ..., range of the texts that begin so, bytes]
    states: Interner = .{},
    /// By `keyOf`, which is quicker to look up.
    numbers: NumberMap = .{},
    widths: []const u6 = &.{},
    has_keys: bool = false,
    classes: [256]u8 = @splat(0),
    /// A byte of each class.
    members: ArrayList(u8) = .empty,
    table: ArrayList(u32) = .empty,

    fn build(p: *Product) Error!void {
        try p.classify();
        if (p.isPlain()) return p.copy();
        const n = 1 + p.matches.len + p.mismatches.len + 3;
        try p.measure(n);
        const words = try p.arena.alloc(u32, n);
        @memset(words, 0);
        _ = try p.states.put(p.arena, words); // dead: no automaton is in this state
        words[0] = utf8_start;
        for (words[1 .. n - 3]) |*state| state.* = dfa_module.start;
        words[n - 2] = @intCast(p.texts.len);
        if (p.texts.len == 0) @memset(words[n - 3 ..], 0);
        _ = try p.states.put(p.arena, words);
        const after = try p.arena.alloc(u32, n);
        const from = try p.arena.alloc(u32, n);
        try p.table.appendNTimes(p.arena, Graph.dead, p.members.items.len);
        var state: u32 = 1;
        while (state < p.states.count()) : (state += 1) {
            if (state == states_max) return error.TooLarge;
            @memcpy(from, p.states.get(state));
            try p.table.ensureUnusedCapacity(p.arena, p.members.items.len);
            try p.work(2 * p.members.items.len * (2 + n / 4));
            for (p.members.items) |byte| {
                const to = if (try p.step(from, byte, after)) try p.number(after) else Graph.dead;
                p.table.appendAssumeCapacity(to);
            }
        }
    }

    /// Counts steps of the watch.
    fn work(p: *const Product, n: usize) Error!void {
        if (p.watch) |watch| try watch.steps(std.math.lossyCast(u32, n));
    }

    fn number(p: *Product, words: []const u32) Error!u32 {
        const key = p.keyOf(words) orelse return p.states.put(p.arena, words);
        if (p.numbers.get(key)) |known| return known;
        const made = try p.states.put(p.arena, words);
        try p.numbers.put(p.arena, key, made);
        return made;
    }

    /// A state in one number, if it has room. Where a range of texts ends follows from where it begins.
    inline fn keyOf(p: *const Product, words: []const u32) ?u64 {
        if (!p.has_keys) return null;
        var key: u64 = words[words.len - 1];
        for (words[0 .. words.len - 2], p.widths) |word, width| key = key << width | word;
        return key;
    }

    /// The bits of each word of a state but the last two.
    fn measure(p: *Product, n: usize) Allocator.Error!void {
        const widths = try p.arena.alloc(u6, n - 2);
        widths[0] = 4; // of UTF-8
        for (p.matches, widths[1..][0..p.matches.len]) |dfa, *width| width.* = bitsOf(dfa.nStates());
        for (p.mismatches, widths[1 + p.matches.len ..][0..p.mismatches.len]) |dfa, *width| width.* = bitsOf(dfa.nStates());
        widths[n - 3] = bitsOf(p.texts.len);
        var longest: usize = 0;
        for (p.texts) |text| longest = @max(longest, text.len);
        var n_bits: usize = bitsOf(longest);
        for (widths) |width| n_bits += width;
        p.widths = widths;
        p.has_keys = n_bits < 64; // none is all ones
    }

    fn bitsOf(most: usize) u6 {
        return @intCast(@bitSizeOf(usize) - @clz(most));
    }

    /// Whether the product is its one automaton, since that is of ASCII.
    fn isPlain(p: *const Product) bool {
        if (p.matches.len != 1 or p.mismatches.len > 0 or p.texts.len > 0) return false;
        const dfa = p.matches[0];
        for (dfa.columns[0x80..]) |column| {
            if (column != dfa.columns[0xff]) return false;
        }
        for (dfa.transitions[dfa.columns[0xff]..][0..dfa.nStates()]) |to| if (to != dfa_module.dead) return false;
        return true;
    }

    fn copy(p: *Product) Error!void {
        const dfa = p.matches[0];
        if (dfa.nStates() > states_max) return error.TooLarge;
        for (0..dfa.nStates()) |state| {
            const is_start = [_]u32{ if (state == dfa_module.dead) utf8_dead else utf8_start, @intCast(state), 0, 0, 0 };
            _ = try p.states.put(p.arena, &is_start);
            try p.work(p.members.items.len);
            for (p.members.items) |byte| try p.table.append(p.arena, dfa.next(@intCast(state), byte));
        }
    }

    /// Bytes that nothing tells apart.
    fn classify(p: *Product) Error!void {
        var tags: [256]u64 = undefined;
        for (&tags, utf8_classes) |*tag, class| tag.* = class;
        for ([_][]const *const Dfa{ p.matches, p.mismatches }) |dfas| for (dfas) |dfa| {
            for (&tags, dfa.columns) |*tag, column| {
                const mixed = (std.math.rotl(u64, tag.*, 23) ^ column) *% 0x9e37_79b9_7f4a_7c15;
                tag.* = mixed ^ mixed >> 32;
            }
        };
        var is_own: std.StaticBitSet(256) = .empty;
        for (p.texts) |text| for (text) |byte| is_own.set(byte);
        var seen: [512]u16 = @splat(0); // by tag: 1 more than the first byte with it
        for (tags, 0..) |tag, byte| {
            var at: usize = @intCast(tag >> 55);
            if (!is_own.isSet(byte)) {
                while (seen[at] != 0 and tags[seen[at] - 1] != tag) at = (at + 1) % seen.len;
                if (seen[at] != 0) {
                    p.classes[byte] = p.classes[seen[at] - 1];
                    continue;
                }
                seen[at] = @intCast(byte + 1);
            }
            p.classes[byte] = @intCast(p.members.items.len);
            try p.members.append(p.arena, @intCast(byte));
        }
    }

    fn step(p: *const Product, from: []const u32, byte: u8, to: []u32) Error!bool {
        to[0] = utf8Next(from[0], byte);
        if (to[0] == utf8_dead) return false;
        for (p.matches, from[1..][0..p.matches.len], to[1..][0..p.matches.len]) |dfa, before, *after| {
            after.* = dfa.next(@intCast(before), byte);
            if (after.* == dfa_module.dead) return false;
        }
        const first = 1 + p.matches.len;
        for (p.mismatches, from[first..][0..p.mismatches.len], to[first..][0..p.mismatches.len]) |dfa, before, *after| {
            after.* = dfa.next(@intCast(before), byte);
        }
        const low, const high, const depth = from[from.len - 3 ..][0..3].*;
        var begin = low;
        while (begin < high and (p.texts[begin].len <= depth or p.texts[begin][depth] < byte)) begin += 1;
        var end = begin;
        while (end < high and p.texts[end][depth] == byte) end += 1;
        try p.work((end - low) / 2);
        to[to.len - 3 ..][0..3].* = if (begin < end) .{ begin, end, depth + 1 } else .{ 0, 0, 0 };
        return p.are_excluded or begin < end;
    }

    fn accepts(p: *const Product, words: []const u32) bool {
        if (words[0] != utf8_start) return false;
        for (p.matches, words[1..][0..p.matches.len]) |dfa, state| if (dfa.matches[state] == 0) return false;
        for (p.mismatches, words[1 + p.matches.len ..][0..p.mismatches.len]) |dfa, state| if (dfa.matches[state] != 0) return false;
        const low, const high, const depth = words[words.len - 3 ..][0..3].*;
        const is_text = low < high and p.texts[low].len == depth;
        return is_text != p.are_excluded;
    }

    fn layOut(p: *Product, gpa: Allocator) Error!Graph {
        const n = p.states.count();
        var g: Graph = .{
            .gpa = gpa,
            .classes = p.classes,
            .n_classes = @intCast(p.members.items.len),
            .leads = .empty,
            .table = &.{},
            .ends = &.{},
            .shortest = &.{},
            .longest = &.{},
            .fatal = &.{},
            .fatal_near = &.{},
            .free = p.findFree(),
            .depth = 0,
            .is_endless = true,
        };
        errdefer g.deinit();
        for (p.members.items, 0..) |byte, class| g.leads.setValue(class, byte & 0xc0 != 0x80);
        g.table = try gpa.dupe(u32, p.table.items);
        g.ends = try gpa.alloc(bool, n);
        for (g.ends, 0..) |*end, state| end.* = state != Graph.dead and p.accepts(p.states.get(@intCast(state)));
        g.shortest = try gpa.alloc(u32, n);
        g.longest = try gpa.alloc(u32, n);
        g.fatal = try gpa.alloc(Alphabet, n);
        g.fatal_near = try gpa.alloc(Alphabet, n);
        const sources: Sources = try .init(p, &g);
        try sources.findShortest(p, &g);
        // What cannot end is dead.
        for (g.table) |*to| if (g.shortest[to.*] == Graph.none) {
            to.* = Graph.dead;
        };
        try sources.findLongest(p, &g);
        for (g.shortest, g.longest) |shortest, longest| if (shortest != Graph.none) {
            g.depth = @max(g.depth, shortest);
            g.is_endless = g.is_endless and longest == Graph.endless;
        };
        if (g.shortest[Graph.start] == Graph.none) g.is_endless = false;
        try p.findFatal(&g, &sources);
        return g;
    }

    /// Within a character: one of its next bytes is the end. Of no class.
    const fatal_within: Alphabet = 1 << 62;

    /// Backwards from the states that some character leads nowhere, one number of characters after the other.
    fn findFatal(p: *Product, g: *Graph, sources: *const Sources) Error!void {
        var alphabets: [256]Alphabet = @splat(0); // by class: of its bytes that begin a character without an escape
        for (p.classes, 0..) |class, byte| switch (byte) {
            0x00...0x1f, '"', '\\', 0x80...0xbf => {},
            else => alphabets[class] |= @as(Alphabet, 1) << if (byte < 0x80) class_of[byte] else classOfLead(@intCast(byte)),
        };
        var layer: ArrayList(u32) = .empty;
        var following: ArrayList(u32) = .empty;
        var ends: [utf8_table.len][256]Alphabet = undefined; // by state of UTF-8 and class: what is fatal if it leads nowhere
        for (&ends, 0..) |*row, utf8| for (row[0..g.n_classes], p.members.items, 0..) |*end, byte, class| {
            const is_utf8 = utf8 == utf8_dead or utf8Next(@intCast(utf8), byte) != utf8_dead;
            end.* = if (!is_utf8) 0 else if (g.leads.isSet(class)) alphabets[class] else fatal_within;
        };
        for (g.fatal, 0..) |*fatal, state| {
            const row = g.table[state * g.n_classes ..][0..g.n_classes];
            try p.work(row.len / 8);
            const ends_here = ends[p.states.get(@intCast(state))[0]][0..g.n_classes];
            fatal.* = 0;
            for (row, ends_here) |to, end| fatal.* |= if (to == Graph.dead) end else 0;
            if (fatal.* != 0) try layer.append(p.arena, @intCast(state));
        }
        var n: u32 = 0;
        while (layer.items.len > 0 or n <= Graph.near) : (n += 1) {
            if (n == Graph.near) @memcpy(g.fatal_near, g.fatal);
            following.clearRetainingCapacity();
            while (layer.pop()) |state| for (sources.of(state)) |edge| {
                try p.work(1);
                const is_lead = edge.length > 0;
                if (is_lead and alphabets[edge.class] == 0) continue; // after an escape
                var more = g.fatal[state];
                if (is_lead and more & fatal_within != 0) more = more & ~fatal_within | alphabets[edge.class];
                if (g.fatal[edge.from] | more == g.fatal[edge.from]) continue;
                g.fatal[edge.from] |= more;
                try (if (is_lead) &following else &layer).append(p.arena, edge.from);
            };
            std.mem.swap(ArrayList(u32), &layer, &following);
        }
    }

    /// Where nothing but UTF-8 is left to check.
    fn findFree(p: *const Product) u32 {
        if (!p.are_excluded) return Graph.dead;
        for (0..p.states.count()) |state| {
            const words = p.states.get(@intCast(state));
            if (words[0] != utf8_start or p.accepts(words) == false) continue;
            const is_free = for (words[1 .. words.len - 3], 0..) |at, i| {
                const is_match = i < p.matches.len;
                const dfa = if (is_match) p.matches[i] else p.mismatches[i - p.matches.len];
                // A mismatch that is dead never matches; a match must take all text for ever.
                if (is_match) {
                    if (!takesAll(dfa, @intCast(at))) break false;
                } else if (at != dfa_module.dead) break false;
            } else words[words.len - 2] == 0;
            if (is_free) return @intCast(state);
        }
        return Graph.dead;
    }
};

/// The transitions of a graph by where they lead.
const Sources = struct {
    /// Those of a state are from firsts[state] to firsts[state + 1].
    firsts: []const u32,
    edges: []const Edge,

    /// `length`: characters that begin.
    const Edge = struct { from: u32, class: u16, length: u16 };

    fn init(p: *const Product, g: *const Graph) Error!Sources {
        const arena = p.arena;
        const n = g.ends.len;
        try p.work(g.table.len / 16);
        const firsts = try arena.alloc(u32, n + 1);
        @memset(firsts, 0);
        for (g.table) |to| firsts[to] += @intFromBool(to != Graph.dead);
        var total: u32 = 0;
        for (firsts) |*first| {
            total += first.*;
            first.* = total;
        }
        const edges = try arena.alloc(Edge, total);
        var lengths: [256]u16 = undefined;
        for (lengths[0..g.n_classes], 0..) |*length, class| length.* = @intFromBool(g.leads.isSet(class));
        for (0..n) |state| {
            try p.work(g.n_classes / 8);
            for (g.table[state * g.n_classes ..][0..g.n_classes], 0..) |to, class| {
                if (to == Graph.dead) continue;
                firsts[to] -= 1;
                edges[firsts[to]] = .{ .from = @intCast(state), .class = @intCast(class), .length = lengths[class] };
            }
        }
        return .{ .firsts = firsts, .edges = edges };
    }

    fn of(s: *const Sources, state: u32) []const Edge {
        return s.edges[s.firsts[state]..s.firsts[state + 1]];
    }

    /// Backwards from the ends, one number of characters after the other.
    fn findShortest(s: *const Sources, p: *const Product, g: *Graph) Error!void {
        const arena = p.arena;
        var layer: ArrayList(u32) = .empty;
        var following: ArrayList(u32) = .empty;
        for (g.shortest, g.ends, 0..) |*shortest, end, state| {
            shortest.* = if (end) 0 else Graph.none;
            if (end) try layer.append(arena, @intCast(state));
        }
        var n: u32 = 0;
        while (layer.items.len > 0) : (n += 1) {
            following.clearRetainingCapacity();
            var i: usize = 0;
            while (i < layer.items.len) : (i += 1) {
                if (g.shortest[layer.items[i]] != n) continue; // reached over fewer characters since
                try p.work(s.of(layer.items[i]).len / 4);
                for (s.of(layer.items[i])) |edge| {
                    const length = n + edge.length;
                    if (g.shortest[edge.from] <= length) continue;
                    g.shortest[edge.from] = length;
                    try (if (length == n) &layer else &following).append(arena, edge.from);
                }
            }
            std.mem.swap(ArrayList(u32), &layer, &following);
        }
    }

    /// A state is known once all that it leads to is; what never is lies on the way to a cycle.
    fn findLongest(s: *const Sources, p: *const Product, g: *Graph) Error!void {
        const arena = p.arena;
        const n_unknown = try arena.alloc(u32, g.ends.len);
        var known: ArrayList(u32) = .empty;
        for (n_unknown, 0..) |*n, state| {
            n.* = 0;
            try p.work(g.n_classes / 8);
            for (g.table[state * g.n_classes ..][0..g.n_classes]) |to| n.* += @intFromBool(to != Graph.dead);
            g.longest[state] = if (n.* == 0) 0 else Graph.endless;
            if (n.* == 0) try known.append(arena, @intCast(state));
        }
        var i: usize = 0;
        while (i < known.items.len) : (i += 1) {
            if (g.shortest[known.items[i]] == Graph.none) continue; // nothing leads there any more
            for (s.of(known.items[i])) |edge| {
                n_unknown[edge.from] -= 1;
                if (n_unknown[edge.from] > 0) continue;
                try p.work(g.n_classes / 8);
                var longest: u32 = 0;
                for (g.table[edge.from * g.n_classes ..][0..g.n_classes], 0..) |to, class| {
                    if (to != Graph.dead) longest = @max(longest, g.longest[to] + @intFromBool(g.leads.isSet(class)));
                }
                g.longest[edge.from] = longest;
                try known.append(arena, edge.from);
            }
        }
    }
};

// ---- UTF-8 (RFC 3629)

const utf8_dead = 0;
const utf8_start = 1;

/// By byte: which bytes no state tells apart.
const utf8_classes: [256]u8 = blk: {
    var classes: [256]u8 = undefined;
    for (&classes, 0..) |*class, byte| class.* = switch (byte) {
        0x00...0x7f => 0,
        0x80...0x8f => 1,
        0x90...0x9f => 2,
        0xa0...0xbf => 3,
        0xc0, 0xc1, 0xf5...0xff => 4,
        0xc2...0xdf => 5,
        0xe0 => 6,
        0xe1...0xec, 0xee, 0xef => 7,
        0xed => 8,
        0xf0 => 9,
        0xf1...0xf3 => 10,
        0xf4 => 11,
        else => unreachable,
    };
    break :blk classes;
};

/// By state and class of the byte. States beyond the first: one, two or three continuation bytes to come; then the
/// first of two or three behind E0, ED, F0 and F4.
const utf8_table: [9][12]u8 = .{
    @splat(utf8_dead),
    .{ utf8_start, 0, 0, 0, 0, 2, 5, 3, 6, 7, 4, 8 },
    .{ 0, utf8_start, utf8_start, utf8_start, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0 },
    .{ 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
};

inline fn utf8Next(state: u32, byte: u8) u32 {
    return utf8_table[state][utf8_classes[byte]];
}
