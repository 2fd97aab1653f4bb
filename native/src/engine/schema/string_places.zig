//! What the tokens of a vocabulary do at a place in a string: which continue with it, and behind which texts it may
//! end. Most are found by their shapes, thousands at a time: where all characters of a class lead to one state, and
//! where those that may follow all lead back to it. What is left are the few tokens of which the letters matter.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const bitmap = @import("../base/bitmap.zig");
const Shared = @import("../base/shared_cache.zig").Shared;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const index_module = @import("../vocabulary/string_index.zig");
const StringIndex = index_module.StringIndex;
const Alphabet = index_module.Alphabet;
const schema_module = @import("schema.zig");
const unbounded = schema_module.unbounded;
const strings_module = @import("strings.zig");
const Strings = strings_module.Strings;
const State = Strings.State;
const Graph = @import("string_graph.zig").Graph;
const escapes = @import("escapes.zig");
const spell = @import("spell.zig").spell;
const list_max = @import("../mask/mask.zig").list_max;

pub const Error = strings_module.Error;

/// Where a walk from the first bytes meets so few nodes, it is the quickest way.
const light_max = 3000;
/// Where the letters of more tokens matter, they are found by a walk over the bytes.
const unclear_max = 40_000;

/// Reference-counted, immutable.
pub const StringPlace = struct {
    shared: Shared,
    /// Tokens within the string, in any order; with those of `words`, if they are many. Of long ones `addTooLong` says more.
    ids: []const i32 = &.{},
    words: ?bitmap.Words = null,
    /// By what stands before the quote of a closer (`StringIndex.inners`): bits of those behind which the string may
    /// end. Empty if it may not.
    closing: []const u32 = &.{},
    /// Of the graph: a state where it may end.
    ending: u32 = Graph.dead,
    /// Below a node of the trie, in place of the two above: where a quote or an escape is next.
    specials: []const Special = &.{},

    /// Behind `state`, and its bytes after the first node.
    pub const Special = struct { node: u32, state: State, n_behind: u32 };

    /// The same of the tokens below a node of the vocabulary's trie: in `ids` alone.
    pub fn getBelow(v: *const Vocabulary, strings: *Strings, state: State, node: u32) Error!*StringPlace {
        const length = strings.spec.length;
        const key: [5]u64 = .{ strings.shared.shared.id, @bitCast(state), length.min, length.max, node };
        if (v.index.sets.get(std.mem.sliceAsBytes(&key))) |shared| return @fieldParentPtr("shared", shared);
        var finder: Finder = .{ .v = v, .strings = strings, .any_spelling = false, .is_uncounted = false };
        defer finder.ids.deinit(v.gpa);
        var specials: ArrayList(Special) = .empty;
        defer specials.deinit(v.gpa);
        try finder.findBelow(state, node, &specials);
        const kept = try v.gpa.dupe(Special, specials.items);
        errdefer v.gpa.free(kept);
        const place = try keep(v, std.mem.sliceAsBytes(&key), &finder, &.{});
        place.specials = kept;
        v.index.sets.put(&place.shared);
        return place;
    }

    /// Which spellings are meant, and which tokens.
    pub const Wanted = packed struct(u32) {
        any_spelling: bool = false,
        /// Not the plain ones, which are legal anyway.
        but_plain: bool = false,
        _: u30 = 0,
    };

    /// The caller owns a reference. No character has begun that `state` is within, unless it is one of few.
    pub fn get(v: *const Vocabulary, strings: *Strings, state: State, wanted: Wanted) Error!*StringPlace {
        const key = keyOf(v.index, strings, state, wanted);
        if (v.index.sets.get(std.mem.asBytes(&key))) |shared| return @fieldParentPtr("shared", shared);
        var finder: Finder = .{
            .v = v,
            .strings = strings,
            .any_spelling = wanted.any_spelling,
            .is_uncounted = isUncounted(strings, &key),
        };
        defer finder.ids.deinit(v.gpa);
        errdefer if (finder.words) |words| v.gpa.free(words);
        try if (wanted.but_plain) finder.walkAll(state, &v.index.others.trie, &v.index.others) else finder.find(state);
        const closing = try finder.findClosing(state);
        errdefer v.gpa.free(closing);
        const place = try keep(v, std.mem.asBytes(&key), &finder, closing);
        v.index.sets.put(&place.shared);
        return place;
    }

    fn keep(v: *const Vocabulary, key: []const u8, finder: *Finder, closing: []const u32) Allocator.Error!*StringPlace {
        const place = try v.gpa.create(StringPlace);
        errdefer v.gpa.destroy(place);
        const ids = try v.gpa.dupe(i32, finder.ids.items);
        errdefer v.gpa.free(ids);
        place.* = .{
            .shared = try .init(v.gpa, key, destroy),
            .ids = ids,
            .words = finder.words,
            .closing = closing,
            .ending = finder.ending,
        };
        return place;
    }

    pub fn release(place: *StringPlace, gpa: Allocator) void {
        place.shared.release(gpa);
    }

    fn destroy(shared: *Shared, gpa: Allocator) void {
        const place: *StringPlace = @fieldParentPtr("shared", shared);
        gpa.free(place.ids);
        if (place.words) |words| gpa.free(words);
        gpa.free(place.closing);
        gpa.free(place.specials);
        gpa.destroy(place);
    }
};

pub const Vocabulary = struct {
    gpa: Allocator,
    index: *StringIndex,
    tokens: *const Tokens,
    trie: *const ByteTrie,
};

const Key = extern struct { graph: u64, state: u32, needed: u32, left: u32, wanted: u32 };

/// What decides: not how many characters came, but how many are needed and left, as far as most tokens reach.
fn keyOf(index: *const StringIndex, strings: *const Strings, state: State, wanted: StringPlace.Wanted) Key {
    const length = strings.spec.length;
    const needed = length.min -| state.count;
    const left = if (length.max == unbounded) unbounded else length.max - state.count;
    const is_free = strings.graph.isFree(state.product);
    const is_far = left >= index.reach +| strings.graph.depth and (needed == 0 or is_free and strings.graph.is_endless);
    return .{
        .graph = strings.shared.shared.id,
        .state = state.product,
        // The longest closer is within reach.
        .needed = if (is_free) @min(needed, index.reach + 1) else needed,
        .left = if (is_far) unbounded else left,
        .wanted = @bitCast(wanted),
    };
}

/// Every state of the graph is alive, however many characters have come.
fn isUncounted(strings: *const Strings, key: *const Key) bool {
    return key.left == unbounded and (key.needed == 0 or strings.graph.is_endless);
}

/// Whether all plain tokens are legal at a place.
pub fn takesPlain(v: *const Vocabulary, strings: *const Strings, state: State) bool {
    const key = keyOf(v.index, strings, state, .{});
    return strings.spec.length.max == unbounded and strings.graph.fatal[state.product] == 0 and isUncounted(strings, &key);
}

/// Adds the tokens of a place that are too long for what is left.
pub fn addTooLong(v: *const Vocabulary, strings: *Strings, state: State, ids: *ArrayList(i32)) Error!void {
    const max = strings.spec.length.max;
    if (max == unbounded or keyOf(v.index, strings, state, .{}).left != unbounded) return;
    next: for (v.index.long) |long| {
        if (long.length +| strings.graph.depth <= max - state.count) return;
        var at = state;
        for (v.tokens.bytesOf(@intCast(long.token))) |byte| {
            at = try strings.next(at, byte) orelse {
                try ids.append(v.gpa, long.token);
                continue :next;
            };
        }
    }
}

const Finder = struct {
    v: *const Vocabulary,
    strings: *Strings,
    any_spelling: bool,
    is_uncounted: bool,
    ids: ArrayList(i32) = .empty,
    words: ?bitmap.Words = null,
    ending: u32 = Graph.dead,

    inline fn next(f: *Finder, state: State, byte: u8) Error!?State {
        if (!f.is_uncounted) return f.strings.next(state, byte);
        const product = f.strings.graph.next(state.product, byte);
        if (product == Graph.dead) return null;
        return .{ .product = product, .count = state.count + @intFromBool(byte & 0xc0 != 0x80) };
    }

    fn find(f: *Finder, state: State) Error!void {
        const index = f.v.index;
        var n_nodes: usize = 0;
        for (index.root, 0..) |child, byte| {
            if (child == 0 or byte < 0x20 or byte == '"') continue;
            if (byte != '\\' and try f.next(state, @intCast(byte)) == null) continue;
            n_nodes += f.v.trie.nodes[child].subtree;
        }
        if (n_nodes <= light_max) return f.walkAll(state, f.v.trie, null);
        if (f.is_uncounted and f.strings.graph.fatal[state.product] == 0) {
            f.words = try bitmap.alloc(f.v.gpa, index.plain.len);
            bitmap.copy(f.words.?, index.plain);
            try f.walkAll(state, &index.others.trie, &index.others);
        } else if (try f.findByShape(state)) {
            try f.walkAll(state, &index.others.trie, &index.others);
        } else try f.walkAll(state, f.v.trie, null);
        if (f.words == null and f.ids.items.len > list_max) {
            f.words = try bitmap.alloc(f.v.gpa, index.plain.len);
            bitmap.clear(f.words.?);
        }
        const words = f.words orelse return;
        for (f.ids.items) |id| bitmap.set(words, @intCast(id));
        f.ids.clearRetainingCapacity();
    }

    // ---- Shapes

    /// Of the index's `members`: runs of them.
    const Runs = struct {
        list: ArrayList([2]u32) = .empty,
        n: u32 = 0,

        fn add(r: *Runs, gpa: Allocator, from: u32, to: u32) Allocator.Error!void {
            if (from == to) return;
            r.n += to - from;
            const items = r.list.items;
            if (items.len > 0 and items[items.len - 1][1] == from) {
                items[items.len - 1][1] = to;
            } else try r.list.append(gpa, .{ from, to });
        }
    };

    /// The plain tokens. False if too many would have to be read.
    fn findByShape(f: *Finder, state: State) Error!bool {
        const gpa = f.v.gpa;
        var legal: Runs = .{};
        defer legal.list.deinit(gpa);
        var unclear: Runs = .{};
        defer unclear.list.deinit(gpa);
        var ways: WaysOfStates = try .init(gpa, f.strings.graph);
        defer ways.deinit();
        try f.walkShapes(state, &ways, &legal, &unclear);
        if (unclear.n > unclear_max) return false;
        const members = f.v.index.members;
        if (legal.n > list_max) {
            f.words = try bitmap.alloc(gpa, f.v.index.plain.len);
            f.addRuns(f.words.?, &legal);
        } else for (legal.list.items) |run| try f.ids.appendSlice(gpa, members[run[0]..run[1]]);
        for (unclear.list.items) |run| try f.addRead(state, run[0], run[1]);
        return true;
    }

    /// Those of a run of members that are legal by their text.
    fn addRead(f: *Finder, from: State, first: u32, end: u32) Error!void {
        const index = f.v.index;
        try f.ids.ensureUnusedCapacity(f.v.gpa, end - first);
        var begin = if (first == 0) 0 else index.ends[first - 1];
        next: for (index.members[first..end], index.ends[first..end]) |token, stop| {
            const text = index.texts[begin..stop];
            begin = stop;
            var state = from;
            for (text) |byte| state = try f.next(state, byte) orelse continue :next;
            f.ids.appendAssumeCapacity(token);
        }
    }

    fn addRuns(f: *const Finder, words: bitmap.Words, runs: *const Runs) void {
        const members = f.v.index.members;
        if (runs.n < members.len / 2) {
            bitmap.clear(words);
            for (runs.list.items) |run| for (members[run[0]..run[1]]) |token| bitmap.set(words, @intCast(token));
            return;
        }
        bitmap.copy(words, f.v.index.plain);
        var at: u32 = 0;
        for (runs.list.items) |run| {
            for (members[at..run[0]]) |token| bitmap.unset(words, @intCast(token));
            at = run[1];
        }
        for (members[at..]) |token| bitmap.unset(words, @intCast(token));
    }

    fn walkShapes(f: *Finder, from: State, ways: *WaysOfStates, legal: *Runs, unclear: *Runs) Error!void {
        const gpa = f.v.gpa;
        const shapes = f.v.index.shapes;
        var states: [256]State = undefined;
        var ways_of: [256]u32 = undefined;
        states[0] = from;
        ways_of[0] = try ways.of(from.product);
        var at: u32 = 0;
        while (at + 1 < shapes.len) {
            const shape = &shapes[at];
            const end = at + shape.subtree;
            const before = states[shape.depth - 1];
            const to = ways.to(ways_of[shape.depth - 1], shape.class);
            if (to == Ways.several) {
                const all = shape.below | @as(Alphabet, 1) << shape.class;
                const is_legal = f.isSafe(before.product, all, shape.height + 1);
                try (if (is_legal) legal else unclear).add(gpa, shape.from, shapes[end].from);
                at = end;
                continue;
            }
            const after = try f.behindCharacter(before, to) orelse {
                at = end;
                continue;
            };
            const its_ways = if (shape.height > 0) try ways.of(to) else 0;
            if (shape.height == 0 or f.isSafe(to, shape.below, shape.height)) {
                try legal.add(gpa, shape.from, shapes[end].from);
                at = end;
                continue;
            }
            if (ways.isLoop(its_ways, shape.below)) {
                try f.addLoop(after, at, legal);
                at = end;
                continue;
            }
            try legal.add(gpa, shape.from, shapes[at + 1].from);
            states[shape.depth] = after;
            ways_of[shape.depth] = its_ways;
            at += 1;
        }
    }

    /// Whether no text of so many characters, all of these classes, is an end.
    fn isSafe(f: *const Finder, product: u32, classes: Alphabet, n: u32) bool {
        const graph = f.strings.graph;
        const fatal = if (n <= Graph.near) graph.fatal_near else graph.fatal;
        return f.is_uncounted and classes & fatal[product] == 0;
    }

    /// The tokens of a shape and of all below it, which lead back to the state after the shape: those that are not too long.
    fn addLoop(f: *const Finder, state: State, first: u32, legal: *Runs) Allocator.Error!void {
        const shapes = f.v.index.shapes;
        const max = f.strings.spec.length.max;
        const depth_max = if (f.is_uncounted or max == unbounded)
            unbounded
        else
            shapes[first].depth + max - state.count - f.strings.graph.shortest[state.product];
        const end = first + shapes[first].subtree;
        var at = first;
        while (at < end) {
            const shape = &shapes[at];
            const fits = shape.depth <= depth_max;
            const is_over = !fits or shape.depth + shape.height <= depth_max;
            const next_one = at + if (is_over) shape.subtree else 1;
            if (fits) try legal.add(f.v.gpa, shape.from, shapes[next_one].from);
            at = next_one;
        }
    }

    fn behindCharacter(f: *Finder, state: State, product: u32) Error!?State {
        if (!f.is_uncounted) return f.strings.behindCharacter(state, product);
        return if (product == Graph.dead) null else .{ .product = product, .count = state.count };
    }

    // ---- Walks

    /// All tokens of a trie; `texts` if its tokens are those of an index.
    fn walkAll(f: *Finder, state: State, trie: *const ByteTrie, texts: ?*const StringIndex.Texts) Error!void {
        var child: u32 = 1;
        while (child < trie.nodes.len) : (child += trie.nodes[child].subtree) try f.walk(state, trie, child, texts);
    }

    /// The tokens of the subtree of a node, before whose byte the state is.
    fn walk(f: *Finder, from: State, trie: *const ByteTrie, root: u32, texts: ?*const StringIndex.Texts) Error!void {
        var states: [256]State = undefined;
        const nodes = trie.nodes;
        const base = nodes[root].depth;
        states[0] = from;
        const end = root + nodes[root].subtree;
        var at = root;
        while (at < end) {
            const node = nodes[at];
            const state = states[node.depth - base];
            if (node.byte == '\\') try f.walkEscape(state, 0, trie, at, texts);
            const is_plain = node.byte >= 0x20 and node.byte != '"' and node.byte != '\\';
            const goes_on = if (is_plain) try f.next(state, node.byte) else null;
            if (goes_on) |after| {
                states[node.depth - base + 1] = after;
                if (node.token()) |token| try f.add(token, texts);
                at += 1;
            } else at += node.subtree;
        }
    }

    fn findBelow(f: *Finder, from: State, top: u32, specials: *ArrayList(StringPlace.Special)) Error!void {
        const nodes = f.v.trie.nodes;
        var states: [257]State = undefined;
        states[0] = from;
        var at = top + 1;
        while (at < top + nodes[top].subtree) {
            const node = nodes[at];
            const n_behind = node.depth - nodes[top].depth - 1;
            const state = states[n_behind];
            const is_special = node.byte == '"' or node.byte == '\\';
            if (is_special) try specials.append(f.v.gpa, .{ .node = at, .state = state, .n_behind = n_behind });
            const goes_on = if (is_special or node.byte < 0x20) null else try f.next(state, node.byte);
            if (goes_on) |after| {
                states[n_behind + 1] = after;
                if (node.token()) |token| try f.add(token, null);
                at += 1;
            } else at += node.subtree;
        }
    }

    fn walkEscape(
        f: *Finder,
        from: State,
        escape: escapes.State,
        trie: *const ByteTrie,
        root: u32,
        texts: ?*const StringIndex.Texts,
    ) Error!void {
        const node = trie.nodes[root];
        const event = escapes.next(escape, node.byte) orelse return;
        if (event.what == .quote) return;
        const state = try spell(f.strings, from, event, f.any_spelling) orelse return;
        if (node.token()) |token| try f.add(token, texts);
        var child = root + 1;
        while (child < root + node.subtree) : (child += trie.nodes[child].subtree) {
            try f.walkEscape(state, event.state, trie, child, texts);
        }
    }

    fn add(f: *Finder, token: u32, texts: ?*const StringIndex.Texts) Allocator.Error!void {
        const one = [_]i32{@intCast(token)};
        try f.ids.appendSlice(f.v.gpa, if (texts) |t| t.of[t.starts[token]..t.starts[token + 1]] else &one);
    }

    // ---- Ends

    /// Behind which texts the string may end, in the finder's memory.
    fn findClosing(f: *Finder, state: State) Error![]const u32 {
        const inners = f.v.index.inners;
        const closing = try f.v.gpa.alloc(u32, inners.len / 32 + 1);
        errdefer f.v.gpa.free(closing);
        @memset(closing, 0);
        var i: usize = 0;
        while (i < inners.len) : (i += 1) {
            const inner = inners[i];
            const last = try f.behind(state, inner) orelse {
                // Those that begin with the same byte are neighbours.
                if (inner[0] == '\\' or try f.next(state, inner[0]) != null) continue;
                while (i + 1 < inners.len and inners[i + 1][0] == inner[0]) i += 1;
                continue;
            };
            if (!f.strings.canEnd(last)) continue;
            f.ending = last.product;
            bitmap.set(closing, @intCast(i));
        }
        if (f.ending != Graph.dead) return closing;
        f.v.gpa.free(closing);
        return &.{};
    }

    /// The state after a text without quotes; null if it does not continue so, or within an escape.
    fn behind(f: *Finder, from: State, text: []const u8) Error!?State {
        const last, const escape = try f.read(from, text) orelse return null;
        return if (escape == 0) last else null;
    }

    /// The same, and the escape that it ends in.
    fn read(f: *Finder, from: State, text: []const u8) Error!?struct { State, escapes.State } {
        var state = from;
        var escape: escapes.State = 0;
        for (text) |byte| {
            if (escape == 0 and byte != '\\') {
                state = try f.next(state, byte) orelse return null;
                continue;
            }
            const event = escapes.next(escape, byte) orelse return null;
            state = try spell(f.strings, state, event, f.any_spelling) orelse return null;
            escape = event.state;
        }
        return .{ state, escape };
    }
};

/// Where the classes of characters lead from a state, as far as it was asked for.
const Ways = struct {
    state: u32,
    known: Alphabet,
    /// Those of the known ones that lead back.
    loop: Alphabet,
    to: [64]u32,

    /// Not all characters of the class lead to one state.
    const several = std.math.maxInt(u32);
};

/// Those of the states that a walk meets.
const WaysOfStates = struct {
    gpa: Allocator,
    graph: *const Graph,
    list: ArrayList(Ways) = .empty,
    /// By state: 1 more than the index in `list`; 0 where it was not met.
    by_state: []u32,
    /// A byte of each class of continuation bytes.
    continuations: [64]u8 = undefined,
    n_continuations: usize = 0,

    fn init(gpa: Allocator, graph: *const Graph) Allocator.Error!WaysOfStates {
        var w: WaysOfStates = .{ .gpa = gpa, .graph = graph, .by_state = try gpa.alloc(u32, graph.nStates()) };
        @memset(w.by_state, 0);
        var seen: std.StaticBitSet(256) = .empty;
        for (0x80..0xc0) |byte| {
            if (seen.isSet(graph.classes[byte])) continue;
            seen.set(graph.classes[byte]);
            w.continuations[w.n_continuations] = @intCast(byte);
            w.n_continuations += 1;
        }
        return w;
    }

    fn deinit(w: *WaysOfStates) void {
        w.list.deinit(w.gpa);
        w.gpa.free(w.by_state);
    }

    /// The index in `list`.
    fn of(w: *WaysOfStates, state: u32) Allocator.Error!u32 {
        if (w.by_state[state] == 0) {
            const ways = try w.list.addOne(w.gpa);
            ways.state = state;
            ways.known = 0;
            ways.loop = 0;
            w.by_state[state] = @intCast(w.list.items.len);
        }
        return w.by_state[state] - 1;
    }

    inline fn to(w: *WaysOfStates, index: u32, class: u6) u32 {
        const ways = &w.list.items[index];
        if (ways.known >> class & 1 == 0) w.find(ways, class);
        return ways.to[class];
    }

    fn find(w: *const WaysOfStates, ways: *Ways, class: u6) void {
        const range = index_module.bytesOf(class);
        var byte = range[0];
        ways.to[class] = w.behind(ways.state, byte);
        while (byte < range[1]) : (byte += 1) {
            if (w.graph.classes[byte + 1] == w.graph.classes[byte]) continue;
            if (w.behind(ways.state, byte + 1) != ways.to[class]) ways.to[class] = Ways.several;
        }
        const bit = @as(Alphabet, 1) << class;
        ways.known |= bit;
        if (ways.to[class] == ways.state) ways.loop |= bit;
    }

    /// After all characters that begin with a byte.
    fn behind(w: *const WaysOfStates, state: u32, lead: u8) u32 {
        if (lead < 0x80) return w.graph.next(state, lead);
        return w.graph.behindLead(state, lead, w.continuations[0..w.n_continuations]) orelse Ways.several;
    }

    /// Whether all of these classes lead back.
    fn isLoop(w: *WaysOfStates, index: u32, classes: Alphabet) bool {
        const ways = &w.list.items[index];
        var left = classes & ~ways.known;
        while (left != 0 and classes & ways.known & ~ways.loop == 0) : (left &= left - 1) w.find(ways, @intCast(@ctz(left)));
        return classes & ~ways.loop == 0;
    }
};
