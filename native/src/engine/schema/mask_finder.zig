//! Finds the tokens that are legal at a point of the machine. Outside strings few bytes can follow, and the trie is
//! walked along these alone. Inside a string or key each thread has a way of its own, and what is legal for one of
//! them is legal: listed texts lead through the trie, and other strings ask what the vocabulary knows of the place
//! (string_places.zig), so that only what follows the quote is walked.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const bitmap = @import("../base/bitmap.zig");
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const machine_module = @import("machine.zig");
const Machine = machine_module.Machine;
const Point = machine_module.Point;
const Words = machine_module.Words;
const Bytes = machine_module.Bytes;
const Pool = @import("../language/position.zig").Pool;
const Strings = @import("strings.zig").Strings;
const Numbers = @import("numbers.zig").Numbers;
const spelling = @import("spelling.zig");
const string_places = @import("string_places.zig");
const StringPlace = string_places.StringPlace;

const Error = machine_module.Error;

/// One thread's at a time; its memory is used again.
pub const MaskFinder = struct {
    v: string_places.Vocabulary,
    machine: *Machine,
    pool: *Pool = undefined,
    /// The trie that is walked: the vocabulary's, or that of what follows strings.
    trie: *const ByteTrie,
    /// What was found in it. In no order; some may be there twice, and of twins one.
    ids: ArrayList(i32) = .empty,
    /// What was found besides, if `has_words`.
    words: bitmap.Words = undefined,
    has_words: bool = false,
    rests: ArrayList(i32) = .empty,
    /// Of `StringIndex.inners`: keys that may not come.
    excluded: ArrayList(u32) = .empty,
    /// The way to the present node, and the configurations on it, by depth.
    bytes: [256]u8 = undefined,
    places: [257]Words = undefined,

    pub fn init(v: string_places.Vocabulary, machine: *Machine) MaskFinder {
        var f: MaskFinder = .{ .v = v, .machine = machine, .trie = v.trie };
        for (&f.places) |*place| place.* = .empty; // as a default, they would be copied from six kilobytes of the library
        return f;
    }

    pub fn deinit(f: *MaskFinder) void {
        const gpa = f.v.gpa;
        f.ids.deinit(gpa);
        f.rests.deinit(gpa);
        f.excluded.deinit(gpa);
        for (&f.places) |*place| place.deinit(gpa);
    }

    /// Leaves what it finds in `ids` and, if `has_words`, in `words`, which is undefined before.
    pub fn find(f: *MaskFinder, pool: *Pool, at: Point, words: bitmap.Words) Error!void {
        f.pool = pool;
        f.words = words;
        f.has_words = false;
        f.ids.clearRetainingCapacity();
        try f.from(0, at);
        for (f.v.trie.long_tokens) |token| {
            if (try f.takes(at, f.v.tokens.bytesOf(token))) try f.ids.append(f.v.gpa, @intCast(token));
        }
    }

    /// Whether the machine takes a text.
    fn takes(f: *MaskFinder, at: Point, bytes: []const u8) Error!bool {
        const gpa = f.v.gpa;
        var words: Words = .empty;
        defer words.deinit(gpa);
        var after: Words = .empty;
        defer after.deinit(gpa);
        try words.appendSlice(gpa, at.words);
        var stack = at.stack;
        for (bytes, 0..) |byte, i| {
            f.machine.behind = bytes[0..i];
            stack = try f.machine.step(f.pool, .{ .words = words.items, .stack = stack }, byte, &after) orelse return false;
            std.mem.swap(Words, &words, &after);
        }
        return true;
    }

    /// The tokens below a node, to whose text the point belongs.
    fn from(f: *MaskFinder, node: u32, at: Point) Error!void {
        if (f.trie.nodes[node].isLeaf()) return;
        const n = Machine.nSeparate(at.words);
        if (n > 0) {
            var buffer: [Machine.alone_max]u32 = undefined;
            for (0..n) |i| try f.text(node, .{ .words = Machine.alone(at.words, i, &buffer), .stack = at.stack });
            return;
        }
        var bytes = f.machine.possible(at.words);
        if (f.childTable(node)) |children| {
            while (bytes.toggleFirstSet()) |byte| if (children[byte] != 0) try f.step(children[byte], at);
            return;
        }
        var child = node + 1;
        const end = node + f.trie.nodes[node].subtree;
        while (child < end) : (child += f.trie.nodes[child].subtree) {
            if (bytes.isSet(f.trie.nodes[child].byte)) try f.step(child, at);
        }
    }

    /// The token of a node, and those below it, from the point before its byte.
    fn step(f: *MaskFinder, child: u32, at: Point) Error!void {
        const node = f.trie.nodes[child];
        f.bytes[node.depth - 1] = node.byte;
        f.machine.behind = f.bytes[0 .. node.depth - 1];
        const out = &f.places[node.depth];
        const stack = try f.machine.step(f.pool, at, node.byte, out) orelse return;
        if (node.token()) |token| try f.add(token);
        return f.from(child, .{ .words = out.items, .stack = stack });
    }

    fn add(f: *MaskFinder, token: u32) Allocator.Error!void {
        try f.ids.append(f.v.gpa, @intCast(token));
    }

    /// By byte; null if there is no table.
    fn childTable(f: *const MaskFinder, node: u32) ?*const [256]u32 {
        if (f.trie != f.v.trie) return null;
        if (node == 0) return &f.v.index.root;
        return if (node == f.v.index.space_node) &f.v.index.space else null;
    }

    fn childOf(f: *const MaskFinder, node: u32, byte: u8) ?u32 {
        const children = f.childTable(node) orelse return f.trie.child(node, byte);
        return if (children[byte] != 0) children[byte] else null;
    }

    // ---- Strings and keys, one thread alone

    fn text(f: *MaskFinder, node: u32, at: Point) Error!void {
        switch (try f.machine.textOf(at.words)) {
            .listed => |*listed| try f.along(node, at, listed, listed.low, listed.high, listed.depth),
            .known => |*known| try f.along(node, at, known, known.low, known.high, known.depth),
            .open => |*open| if (node == 0 and f.trie == f.v.trie) try f.openAtRoot(at, open) else try f.openBelow(node, at, open),
        }
    }

    /// Along the texts of a range, which agree up to `depth`.
    fn along(f: *MaskFinder, node: u32, at: Point, texts: anytype, low: u32, high: u32, depth: u32) Error!void {
        if (f.trie.nodes[node].isLeaf()) return;
        var from_text = low;
        while (from_text < high) {
            const byte = texts.byteAt(from_text, depth) orelse {
                from_text += 1;
                continue;
            };
            const to_text = texts.endOf(from_text, high, depth, byte);
            defer from_text = to_text;
            const child = f.childOf(node, byte) orelse continue;
            f.bytes[f.trie.nodes[child].depth - 1] = byte;
            if (texts.isLast(from_text, depth)) {
                // The text ends with its quote.
                var buffer: [Machine.alone_max]u32 = undefined;
                const words = f.machine.among(at.words, from_text, to_text, depth, &buffer);
                try f.step(child, .{ .words = words, .stack = at.stack });
            } else {
                if (!try f.machine.isAlive(texts, from_text, to_text)) continue;
                if (f.trie.nodes[child].token()) |token| try f.add(token);
                try f.along(child, at, texts, from_text, to_text, depth + 1);
            }
        }
    }

    /// Below a node within the vocabulary's trie, or in that of the rests: there are few.
    fn openBelow(f: *MaskFinder, node: u32, at: Point, open: *const Machine.Open) Error!void {
        const nodes = f.trie.nodes;
        var states: [257]Strings.State = undefined;
        const base = nodes[node].depth;
        states[0] = open.state;
        const end = node + nodes[node].subtree;
        var child = node + 1;
        while (child < end) {
            const one = nodes[child];
            const n_behind = one.depth - base - 1;
            const state = states[n_behind];
            f.bytes[one.depth - 1] = one.byte;
            if (one.byte < 0x20) {
                child += one.subtree;
            } else if (one.byte == '"' or one.byte == '\\') {
                var buffer: [Machine.alone_max]u32 = undefined;
                try f.step(child, .{ .words = Machine.further(at.words, state, n_behind, &buffer), .stack = at.stack });
                child += one.subtree;
            } else if (try open.strings.next(state, one.byte)) |after| {
                states[n_behind + 1] = after;
                if (one.token()) |token| try f.add(token);
                child += 1;
            } else child += one.subtree;
        }
    }

    fn openAtRoot(f: *MaskFinder, at: Point, open: *const Machine.Open) Error!void {
        const gpa = f.v.gpa;
        const strings = open.strings;
        f.excluded.clearRetainingCapacity();
        if (strings.is_late) try f.exclude(strings.spec.excluded, f.machine.begun(at.words));
        const place: *StringPlace = try .get(&f.v, strings, open.state, open.any_spelling);
        defer place.release(gpa);
        try f.ids.appendSlice(gpa, place.ids);
        if (place.words) |words| try f.addWords(words, strings, open.state);
        if (place.closing.len == 0) return;
        const ending: Strings.State = .{ .product = place.ending, .count = strings.spec.length.min };
        try f.findRests(at, ending, open.is_key);
        const rests = &f.v.index.rests;
        for (f.rests.items) |rest| {
            const range = rests.starts[@intCast(rest)..][0..2];
            const has_key = open.is_key and hasKey(rests.tokens.bytesOf(@intCast(rest)));
            for (f.v.index.closers[range[0]..range[1]]) |closer| {
                if (!bitmap.has(place.closing, closer.inner)) continue;
                if (std.mem.findScalar(u32, f.excluded.items, closer.inner) != null) continue;
                if (has_key and !try f.takes(at, f.v.tokens.bytesOf(@intCast(closer.token)))) continue;
                try f.ids.append(gpa, closer.token);
            }
        }
    }

    fn addWords(f: *MaskFinder, words: bitmap.Words, strings: *Strings, state: Strings.State) Error!void {
        if (!f.has_words) {
            f.has_words = true;
            bitmap.copy(f.words, words);
            return string_places.removeLong(&f.v, strings, state, f.words);
        }
        const own = try bitmap.alloc(f.v.gpa, words.len);
        defer f.v.gpa.free(own);
        bitmap.copy(own, words);
        try string_places.removeLong(&f.v, strings, state, own);
        bitmap.unite(f.words, &.{own});
    }

    /// Whether a rest reaches into another key, which must not be the one before it: that is not known of a rest.
    fn hasKey(rest: []const u8) bool {
        return std.mem.countScalar(u8, rest, '"') > 2;
    }

    /// What may follow the quote, from its byte on. What is behind a key does not depend on the key.
    fn findRests(f: *MaskFinder, at: Point, ending: Strings.State, is_key: bool) Error!void {
        var buffer: [Machine.alone_max]u32 = undefined;
        const words = Machine.further(at.words, ending, 0, &buffer);
        if (is_key) try f.machine.forgetKey(words);
        const outer = f.ids;
        f.ids = f.rests;
        f.ids.clearRetainingCapacity();
        f.trie = &f.v.index.rests.trie;
        defer {
            f.rests = f.ids;
            f.ids = outer;
            f.trie = f.v.trie;
        }
        if (f.trie.child(0, '"')) |quote| try f.step(quote, .{ .words = words, .stack = at.stack });
    }

    fn exclude(f: *MaskFinder, contents: []const []const u8, begun: []const u8) Allocator.Error!void {
        var arena: Arena = .init(f.v.gpa);
        defer arena.deinit();
        for (contents) |content| {
            // Most texts begin with another byte.
            if (begun.len > 0 and content.len > 0 and begun[0] != content[0] and begun[0] != '\\') continue;
            const quoted = try spelling.quoted(arena.allocator(), content);
            const spelt = quoted[1 .. quoted.len - 1];
            if (!std.mem.startsWith(u8, spelt, begun)) continue;
            if (f.v.index.innerOf(spelt[begun.len..])) |inner| try f.excluded.append(f.v.gpa, inner);
        }
    }
};
