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
const string_index = @import("../vocabulary/string_index.zig");
const Closer = string_index.Closer;
const Digits = string_index.Digits;
const SharedMask = @import("../mask/shared_mask.zig").SharedMask;
const Scratch = @import("../mask/scratch.zig").Scratch;
const addDuplicates = @import("../mask/walk.zig").addDuplicates;
const list_max = @import("../mask/mask.zig").list_max;

const Error = machine_module.Error;

/// More tokens are put in order by a bitmap.
const sorted_max = 64;

/// One thread's at a time; its memory is used again.
pub const MaskFinder = struct {
    v: string_places.Vocabulary,
    machine: *Machine,
    pool: *Pool = undefined,
    /// The trie that is walked: the vocabulary's, or that of what follows strings.
    trie: *const ByteTrie,
    /// What was found in it. In no order; some may be there twice, and of twins one.
    ids: ArrayList(i32) = .empty,
    /// What was found besides, where it is much, and the key by which constraints share such masks.
    parts: ArrayList(Part) = .empty,
    key: ArrayList(u32) = .empty,
    /// Those in the key.
    n_parts: u32 = 0,
    rests: ArrayList(i32) = .empty,
    /// Of `StringIndex.inners`: what may not stand before the quote.
    excluded: ArrayList(u32) = .empty,
    /// A thread was met for which all plain tokens are legal: of others what they do with these does not matter.
    takes_plain: bool = false,
    /// The way to the present node, and the configurations on it, by depth.
    bytes: [256]u8 = undefined,
    places: [257]Words = undefined,

    /// A place in a string.
    const Part = struct {
        place: *StringPlace,
        /// Of `key`: tokens of the place that are too long, what may follow the string, and keys that may not come.
        too_long: Range = .{},
        rests: Range = .{},
        excluded: Range = .{},
        /// Else its tokens are among `ids`.
        is_in_key: bool = false,

        const Range = struct { from: usize = 0, to: usize = 0 };
    };

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
        f.forget();
        f.parts.deinit(gpa);
        f.key.deinit(gpa);
        for (&f.places) |*place| place.deinit(gpa);
    }

    fn forget(f: *MaskFinder) void {
        for (f.parts.items) |part| part.place.release(f.v.gpa);
        f.parts.clearRetainingCapacity();
        f.key.clearRetainingCapacity();
        f.n_parts = 0;
        f.ids.clearRetainingCapacity();
    }

    /// Leaves the mask in the scratch.
    pub fn find(f: *MaskFinder, pool: *Pool, at: Point, scratch: *Scratch) Error!void {
        const gpa = f.v.gpa;
        const can_stop = f.machine.canStop(at);
        f.machine.alternatives.is_trying = true;
        defer f.machine.alternatives.is_trying = false;
        f.pool = pool;
        f.forget();
        scratch.hold(gpa, null);
        try f.from(0, at);
        for (f.v.trie.long_tokens) |token| {
            if (try f.takes(at, f.v.tokens.bytesOf(token))) try f.ids.append(gpa, @intCast(token));
        }
        if (can_stop) try f.ids.appendSlice(gpa, f.v.trie.end_tokens);
        if (f.n_parts > 0 or f.ids.items.len > sorted_max) return f.finishMany(can_stop, scratch);
        try f.addTwins();
        const n = distinct(f.ids.items);
        @memcpy(scratch.builder.ids[0..n], f.ids.items[0..n]);
        scratch.mask = .{ .ids = scratch.builder.ids[0..n], .words = null, .n_tokens = @intCast(n), .can_stop = can_stop };
        scratch.mask.assertValid();
    }

    /// Puts tokens in order, each once; returns how many they are.
    fn distinct(ids: []i32) usize {
        std.sort.insertion(i32, ids, {}, std.sort.asc(i32));
        var n: usize = 0;
        for (ids) |id| {
            if (n > 0 and ids[n - 1] == id) continue;
            ids[n] = id;
            n += 1;
        }
        return n;
    }

    fn addTwins(f: *MaskFinder) Allocator.Error!void {
        if (f.v.trie.duplicates.len == 0) return;
        const n = distinct(f.ids.items);
        for (f.v.trie.duplicates) |duplicate| {
            const token: i32 = @intCast(duplicate.token);
            if (std.sort.binarySearch(i32, f.ids.items[0..n], token, compare) == null) continue;
            try f.ids.append(f.v.gpa, @intCast(duplicate.twin));
        }
    }

    fn compare(wanted: i32, id: i32) std.math.Order {
        return std.math.order(wanted, id);
    }

    /// A mask that constraints share or, if it is small, a list.
    fn finishMany(f: *MaskFinder, can_stop: bool, scratch: *Scratch) Error!void {
        const gpa = f.v.gpa;
        try f.key.appendSlice(gpa, &.{ @intFromBool(can_stop), f.n_parts }); // after the parts: where they end
        try f.key.appendSlice(gpa, @ptrCast(f.ids.items));
        const key = std.mem.sliceAsBytes(f.key.items);
        const found: *SharedMask = if (f.v.index.sets.get(key)) |shared|
            @fieldParentPtr("shared", shared)
        else
            try f.makeMask(key, can_stop, scratch);
        if (found.words == null) {
            defer found.shared.release(gpa);
            const ids = scratch.builder.ids[0..found.ids.len];
            @memcpy(ids, found.ids);
            scratch.mask = .{ .ids = ids, .words = null, .n_tokens = found.n_tokens, .can_stop = can_stop };
            return;
        }
        scratch.hold(gpa, &found.shared);
        scratch.mask = .{
            .ids = &.{},
            .words = found.words,
            .n_tokens = found.n_tokens,
            .can_stop = can_stop,
            .shared = &found.shared,
        };
    }

    /// The caller owns the reference.
    fn makeMask(f: *MaskFinder, key: []const u8, can_stop: bool, scratch: *Scratch) Allocator.Error!*SharedMask {
        const words = scratch.builder.words;
        try f.unite(words);
        const n_tokens = bitmap.count(words);
        const is_list = n_tokens <= list_max + if (can_stop) f.v.trie.end_tokens.len else 0;
        const made: *SharedMask = if (is_list)
            try .createList(f.v.gpa, key, scratch.builder.ids[0..bitmap.list(words, scratch.builder.ids)])
        else
            try .create(f.v.gpa, key, words, n_tokens);
        f.v.index.sets.put(&made.shared);
        return made;
    }

    /// All that was found.
    fn unite(f: *MaskFinder, words: bitmap.Words) Allocator.Error!void {
        bitmap.clear(words);
        if (f.n_parts == 0) return f.addIds(words);
        const own = try bitmap.alloc(f.v.gpa, words.len);
        defer f.v.gpa.free(own);
        for (f.parts.items) |part| {
            if (!part.is_in_key) continue;
            if (part.place.words) |many| bitmap.copy(own, many) else bitmap.clear(own);
            for (part.place.ids) |id| bitmap.set(own, @intCast(id));
            for (f.key.items[part.too_long.from..part.too_long.to]) |id| bitmap.unset(own, id);
            const excluded = f.key.items[part.excluded.from..part.excluded.to];
            for (f.key.items[part.rests.from..part.rests.to]) |rest| {
                var closers = f.closersOf(part.place, rest, excluded);
                while (closers.next()) |token| bitmap.set(own, @intCast(token));
            }
            bitmap.unite(words, &.{own});
        }
        f.addIds(words);
    }

    fn addIds(f: *const MaskFinder, words: bitmap.Words) void {
        for (f.ids.items) |id| bitmap.set(words, @intCast(id));
        addDuplicates(f.v.trie, words);
    }

    /// Whether the machine takes a text.
    fn takes(f: *MaskFinder, at: Point, bytes: []const u8) Error!bool {
        return try f.machine.follow(f.pool, at, bytes) != null;
    }

    /// The tokens below a node, to whose text the point belongs.
    fn from(f: *MaskFinder, node: u32, at: Point) Error!void {
        if (f.trie.nodes[node].isLeaf()) return;
        const n = Machine.nSeparate(at.words);
        if (n > 0) {
            var buffer: [Machine.alone_max]u32 = undefined;
            f.takes_plain = n > 1 and node == 0 and f.trie == f.v.trie and for (0..n) |i| {
                switch (try f.machine.textOf(Machine.alone(at.words, i, &buffer))) {
                    .open => |open| if (string_places.takesPlain(&f.v, open.strings, open.state)) break true,
                    else => {},
                }
            } else false;
            for (0..n) |i| try f.text(node, .{ .words = Machine.alone(at.words, i, &buffer), .stack = at.stack });
            return;
        }
        if (f.machine.numberOf(at.words)) |number| {
            if (f.trie == f.v.trie) return f.inNumber(node, at, number.numbers, number.state);
        }
        return f.children(node, at, try f.machine.possible(at.words));
    }

    /// The children over some bytes.
    fn children(f: *MaskFinder, node: u32, at: Point, over: Bytes) Error!void {
        var bytes = over;
        if (f.childTable(node)) |table| {
            while (bytes.toggleFirstSet()) |byte| if (table[byte] != 0) try f.step(table[byte], at);
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
        try f.pool.watch.steps(2);
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
        const table = f.childTable(node) orelse return f.trie.child(node, byte);
        return if (table[byte] != 0) table[byte] else null;
    }

    /// In a number. Where digits change nothing, tokens of digits are legal without a look.
    fn inNumber(f: *MaskFinder, node: u32, at: Point, numbers: *Numbers, state: u32) Error!void {
        var buffer: [Machine.alone_max]u32 = undefined;
        const here: Point = .{ .words = Machine.numberAt(at.words, state, &buffer), .stack = at.stack };
        var others = try f.machine.possible(at.words);
        others.setRangeValue(.{ .start = '0', .end = '9' + 1 }, false);
        try f.children(node, here, others);
        const is_loop = for ("0123456789") |digit| {
            if (try numbers.next(state, digit) != state) break false;
        } else true;
        if (is_loop and f.isAllDigits(node)) {
            const end = node + f.trie.nodes[node].subtree;
            const digits = f.v.index.digits;
            var i = std.sort.lowerBound(Digits, digits, node + 1, compareNode);
            while (i < digits.len and digits[i].node < end) : (i += 1) try f.ids.append(f.v.gpa, digits[i].token);
            for (f.v.index.behind_digits) |behind| {
                if (behind > node and behind < end and f.trie.nodes[behind].depth > f.trie.nodes[node].depth + 1) try f.step(behind, here);
            }
            return;
        }
        for ("0123456789") |digit| {
            const next = try numbers.next(state, digit) orelse continue;
            const child = f.childOf(node, digit) orelse continue;
            f.bytes[f.trie.nodes[child].depth - 1] = digit;
            if (f.trie.nodes[child].token()) |token| try f.add(token);
            if (!f.trie.nodes[child].isLeaf()) try f.inNumber(child, at, numbers, next);
        }
    }

    /// Whether nothing but digits leads to a node. What the index has of digits is of those.
    fn isAllDigits(f: *const MaskFinder, node: u32) bool {
        for (f.bytes[0..f.trie.nodes[node].depth]) |byte| if (!std.ascii.isDigit(byte)) return false;
        return true;
    }

    fn compareNode(wanted: u32, one: Digits) std.math.Order {
        return std.math.order(wanted, one.node);
    }

    // ---- Strings and keys, one thread alone

    fn text(f: *MaskFinder, node: u32, at: Point) Error!void {
        switch (try f.machine.textOf(at.words)) {
            .listed => |*listed| try f.along(node, at, listed, listed.low, listed.high, listed.depth),
            .known => |*known| try f.along(node, at, known, known.low, known.high, known.depth),
            .open => |*open| if (f.trie != f.v.trie)
                try f.openBelow(node, at, open)
            else if (node == 0) try f.openAtRoot(at, open) else try f.openInTrie(node, at, open),
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

    /// Below a node of the vocabulary's trie.
    fn openInTrie(f: *MaskFinder, node: u32, at: Point, open: *const Machine.Open) Error!void {
        const gpa = f.v.gpa;
        try f.parts.ensureUnusedCapacity(gpa, 1);
        const place: *StringPlace = try .getBelow(&f.v, open.strings, open.state, node);
        f.parts.appendAssumeCapacity(.{ .place = place });
        if (place.ids.len > 0) try f.finishPart(&.{}, &.{}, &.{});
        for (place.specials) |special| {
            if (special.n_behind > 0) f.fillBytes(node, special.node);
            var buffer: [Machine.alone_max]u32 = undefined;
            const words = Machine.further(at.words, special.state, special.n_behind, &buffer);
            try f.step(special.node, .{ .words = words, .stack = at.stack });
        }
    }

    /// Puts the bytes between two nodes on the way.
    fn fillBytes(f: *MaskFinder, above: u32, below: u32) void {
        const nodes = f.trie.nodes;
        var at = above + 1;
        while (at < below) {
            const node = nodes[at];
            if (below < at + node.subtree) {
                f.bytes[node.depth - 1] = node.byte;
                at += 1;
            } else at += node.subtree;
        }
    }

    /// In the trie of the rests: there are few.
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
        if (strings.is_late) {
            var arena: Arena = .init(gpa);
            defer arena.deinit();
            const begun = f.machine.begun(at.words);
            for (strings.spec.excluded) |content| {
                // Most texts begin with another byte.
                if (begun.len > 0 and content.len > 0 and begun[0] != content[0] and begun[0] != '\\') continue;
                const quoted = try spelling.quoted(arena.allocator(), content);
                try f.exclude(quoted[1 .. quoted.len - 1], at);
            }
        }
        if (open.progress) |progress| {
            var came: ArrayList(u32) = .empty;
            defer came.deinit(gpa);
            try f.machine.alternatives.listCame(gpa, progress, &came);
            for (came.items) |number| try f.exclude(f.machine.alternatives.texts.list.items[number], at);
        }
        const n_never = f.excluded.items.len;
        if (open.decides) for (f.machine.alternatives.remembered.items) |number| {
            try f.exclude(f.machine.alternatives.texts.list.items[number], at);
        };
        try f.parts.ensureUnusedCapacity(gpa, 1);
        const but_plain = f.takes_plain and !string_places.takesPlain(&f.v, strings, open.state);
        const place: *StringPlace = try .get(&f.v, strings, open.state, .{ .any_spelling = open.any_spelling, .but_plain = but_plain });
        f.parts.appendAssumeCapacity(.{ .place = place });
        f.rests.clearRetainingCapacity();
        if (place.closing.len > 0) {
            try f.findRests(at, .{ .product = place.ending, .count = strings.spec.length.min }, open.progress != null or open.decides);
            if (open.decides) try f.takeKnown(at, place, f.excluded.items[n_never..]);
            if (open.progress != null or open.decides) try f.takeNext(at, place, open.decides);
        }
        var too_long: ArrayList(i32) = .empty;
        defer too_long.deinit(gpa);
        try string_places.addTooLong(&f.v, strings, open.state, &too_long);
        if (place.words != null) return f.finishPart(@ptrCast(f.rests.items), f.excluded.items, @ptrCast(too_long.items));
        for (place.ids) |token| if (std.mem.findScalar(i32, too_long.items, token) == null) try f.ids.append(gpa, token);
        for (f.rests.items) |rest| {
            var closers = f.closersOf(place, @intCast(rest), f.excluded.items);
            while (closers.next()) |token| try f.ids.append(gpa, token);
        }
    }

    /// Makes the last place a part of the mask.
    fn finishPart(f: *MaskFinder, rests: []const u32, excluded: []const u32, too_long: []const u32) Allocator.Error!void {
        const part = &f.parts.items[f.parts.items.len - 1];
        const id: [2]u32 = @bitCast(part.place.shared.id);
        try f.key.appendSlice(f.v.gpa, &id);
        part.rests = try f.addToKey(rests);
        part.excluded = try f.addToKey(excluded);
        part.too_long = try f.addToKey(too_long);
        part.is_in_key = true;
        f.n_parts += 1;
    }

    fn addToKey(f: *MaskFinder, run: []const u32) Allocator.Error!Part.Range {
        try f.key.append(f.v.gpa, @intCast(run.len));
        const from_key = f.key.items.len;
        try f.key.appendSlice(f.v.gpa, run);
        return .{ .from = from_key, .to = f.key.items.len };
    }

    const Closers = struct {
        place: *const StringPlace,
        left: []const Closer,
        excluded: []const u32,

        fn next(c: *Closers) ?i32 {
            while (c.left.len > 0) {
                const one = c.left[0];
                c.left = c.left[1..];
                if (!bitmap.has(c.place.closing, one.inner)) continue;
                if (std.mem.findScalar(u32, c.excluded, one.inner) == null) return one.token;
            }
            return null;
        }
    };

    /// The tokens that end the string, with this rest.
    fn closersOf(f: *const MaskFinder, place: *const StringPlace, rest: u32, excluded: []const u32) Closers {
        const starts = f.v.index.rests.starts;
        return .{ .place = place, .left = f.v.index.closers[starts[rest]..starts[rest + 1]], .excluded = excluded };
    }

    /// Tokens that reach into another key are tried one by one: it must not be the key before it, which the rest alone
    /// does not tell. So are those that reach after an item that must be none of the next ones.
    fn takeNext(f: *MaskFinder, at: Point, place: *const StringPlace, is_item: bool) Error!void {
        var n: usize = 0;
        for (f.rests.items) |rest| {
            const bytes = f.v.index.rests.tokens.bytesOf(@intCast(rest));
            const n_more = if (is_item) std.mem.countScalar(u8, bytes, ',') else std.mem.countScalar(u8, bytes, '"') / 3;
            if (n_more == 0) {
                f.rests.items[n] = rest;
                n += 1;
                continue;
            }
            var closers = f.closersOf(place, @intCast(rest), f.excluded.items);
            while (closers.next()) |token| {
                if (try f.takes(at, f.v.tokens.bytesOf(@intCast(token)))) try f.ids.append(f.v.gpa, token);
            }
        }
        f.rests.shrinkRetainingCapacity(n);
    }

    /// Tokens that end the string as a value or a key that came are tried one by one: what may follow depends on it.
    fn takeKnown(f: *MaskFinder, at: Point, place: *const StringPlace, inners: []const u32) Error!void {
        if (inners.len == 0) return;
        for (f.v.index.closers) |closer| {
            if (!bitmap.has(place.closing, closer.inner) or std.mem.findScalar(u32, inners, closer.inner) == null) continue;
            if (try f.takes(at, f.v.tokens.bytesOf(@intCast(closer.token)))) try f.ids.append(f.v.gpa, closer.token);
        }
    }

    /// What may follow the quote, from its byte on. What is after a key does not depend on the key.
    fn findRests(f: *MaskFinder, at: Point, ending: Strings.State, forgets: bool) Error!void {
        var buffer: [Machine.alone_max]u32 = undefined;
        const words = Machine.further(at.words, ending, 0, &buffer);
        if (forgets) try f.machine.forgetText(words);
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

    /// Where a text would be complete, what stands before the quote.
    fn exclude(f: *MaskFinder, spelled: []const u8, at: Point) Allocator.Error!void {
        const begun = f.machine.begun(at.words);
        if (!std.mem.startsWith(u8, spelled, begun)) return;
        if (f.v.index.innerOf(spelled[begun.len..])) |inner| try f.excluded.append(f.v.gpa, inner);
    }
};
