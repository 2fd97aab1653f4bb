//! From the leaves of a payload, in any order, to the flat arrays of a TokenTrie: sorts the token sequences,
//! then lays out the nodes level by level. O(tokens) beside the sort, however long the shared prefixes are.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const decode = @import("../payload/decode.zig");
const payload = @import("../payload/payload.zig");
const Payload = payload.Payload;
const Range = payload.Range;
const trie_module = @import("trie.zig");
const TokenTrie = trie_module.TokenTrie;
const Mark = trie_module.Mark;
const TriggerAutomaton = @import("trigger.zig").TriggerAutomaton;

const Error = Allocator.Error || diagnostic.Error;

/// Compiles a payload. The caller owns one reference.
pub fn compile(gpa: Allocator, source: []const u8, diag: *Diagnostic) diagnostic.Error!*TokenTrie {
    var decoded = try decode.parse(gpa, source, diag);
    defer decoded.deinit(gpa);
    return build(gpa, source, &decoded, diag) catch |e| switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Failed => error.Failed,
    };
}

fn build(gpa: Allocator, source: []const u8, from: *Payload, diag: *Diagnostic) Error!*TokenTrie {
    const sorted: Sorted = try .init(gpa, from);
    defer sorted.deinit(gpa);
    var layout: Layout = .{ .gpa = gpa, .from = from, .sorted = &sorted, .diag = diag };
    defer layout.deinit();
    try layout.reserve();
    try layout.layOut();

    // All that the result owns is allocated here, so that a failure frees what came before.
    const result = try gpa.create(TokenTrie);
    errdefer gpa.destroy(result);
    const descriptors = try gpa.alloc(TokenTrie.Descriptor, from.descriptors.items.len);
    errdefer gpa.free(descriptors);
    const parts = try partsOf(gpa, from);
    errdefer gpa.free(parts);
    var triggers = try TriggerAutomaton.init(gpa, from);
    errdefer triggers.deinit(gpa);
    const copy = try gpa.dupe(u8, source);
    errdefer gpa.free(copy);
    const unescaped = try from.unescaped.toOwnedSlice(gpa);
    errdefer gpa.free(unescaped);
    const names = try from.names.toOwnedSlice(gpa);
    errdefer gpa.free(names);
    const tokens = try layout.tokens.toOwnedSlice(gpa);
    errdefer gpa.free(tokens);
    const first_child = try layout.first_child.toOwnedSlice(gpa);
    errdefer gpa.free(first_child);
    const marks = try layout.marks.toOwnedSlice(gpa);

    for (descriptors, from.descriptors.items) |*to, one| to.* = .{ .path = one.path, .leaves = one.leaves };
    result.* = .{
        .gpa = gpa,
        .tokens = tokens,
        .first_child = first_child,
        .marks = marks,
        .descriptors = descriptors,
        .parts = parts,
        .triggers = triggers,
        .unescaped = unescaped,
        .names = names,
        .source = copy,
        .model_id = from.model_id,
        .has_labels = from.has_labels,
        .n_leaves = layout.n_leaves,
        .widest = layout.widest,
        .largest = from.largest,
        .longest = from.longest,
    };
    return result;
}

fn partsOf(gpa: Allocator, from: *const Payload) Allocator.Error![]const TokenTrie.Part {
    var parts: ArrayList(TokenTrie.Part) = .empty;
    errdefer parts.deinit(gpa);
    for (from.descriptors.items, 0..) |one, i| {
        if (one.part.len > 0) try parts.append(gpa, .{ .descriptor = @intCast(i), .source = one.part });
    }
    return parts.toOwnedSlice(gpa);
}

/// The token sequences, copied in sorted order so that laying out the levels reads memory forwards.
const Sorted = struct {
    /// The leaves of the payload, each descriptor's run ordered by tokens.
    leaves: []const u32,
    /// Where the tokens of each leaf start; one more at the end.
    starts: []const u32,
    tokens: []const i32,

    fn init(gpa: Allocator, from: *const Payload) Allocator.Error!Sorted {
        const leaves = try gpa.alloc(u32, from.sequences.items.len);
        errdefer gpa.free(leaves);
        for (leaves, 0..) |*leaf, i| leaf.* = @intCast(i);
        try sortLeaves(gpa, from, leaves);
        const starts = try gpa.alloc(u32, leaves.len + 1);
        errdefer gpa.free(starts);
        const tokens = try gpa.alloc(i32, from.tokens.items.len);
        var at: u32 = 0;
        for (leaves, starts[0..leaves.len]) |leaf, *start| {
            const ids = sequenceOf(from, leaf);
            @memcpy(tokens[at..][0..ids.len], ids);
            start.* = at;
            at += @intCast(ids.len);
        }
        starts[leaves.len] = at;
        return .{ .leaves = leaves, .starts = starts, .tokens = tokens };
    }

    fn deinit(s: *const Sorted, gpa: Allocator) void {
        gpa.free(s.leaves);
        gpa.free(s.starts);
        gpa.free(s.tokens);
    }

    /// Tokens of the leaf at position `i`.
    fn len(s: *const Sorted, i: u32) u32 {
        return s.starts[i + 1] - s.starts[i];
    }

    fn token(s: *const Sorted, i: u32, depth: u32) i32 {
        return s.tokens[s.starts[i] + depth];
    }

    fn sequenceOf(from: *const Payload, leaf: u32) []const i32 {
        return from.sequences.items[leaf].of(from.tokens.items);
    }

    /// Sorts by as many tokens at a time as fit in a 64-bit key, with a radix sort (Knuth, TAOCP 3, 5.2.5); runs of
    /// equal keys are sorted by the tokens that follow.
    fn sortLeaves(gpa: Allocator, from: *const Payload, all: []u32) Allocator.Error!void {
        var widest: usize = 0;
        for (from.descriptors.items) |one| widest = @max(widest, one.leaves.len);
        const keyed = try gpa.alloc(Keyed, 2 * widest);
        defer gpa.free(keyed);
        var work: ArrayList(Work) = .empty;
        defer work.deinit(gpa);
        const packing: Packing = .of(@max(0, from.largest.token));

        for (from.descriptors.items) |one| try work.append(gpa, .{ .run = one.leaves, .depth = 0 });
        while (work.pop()) |item| {
            const leaves = item.run.of(all);
            const keys = keyed[0..leaves.len];
            for (keys, leaves) |*key, leaf| key.* = .{ .key = packing.key(sequenceOf(from, leaf), item.depth), .leaf = leaf };
            sortKeys(keys, keyed[widest..][0..leaves.len]);
            for (leaves, keys) |*leaf, key| leaf.* = key.leaf;
            try pushEqualRuns(gpa, &work, keys, item, packing);
        }
    }

    const Keyed = struct { key: u64, leaf: u32 };
    const Work = struct { run: Range, depth: u32 };

    /// Puts tokens into a key. They count from 1, so that the end of a sequence, 0, sorts first.
    const Packing = struct {
        bits: u6,
        /// Tokens in a key.
        count: u32,

        fn of(largest: i32) Packing {
            const bits: u6 = @intCast(64 - @clz(@as(u64, @intCast(largest)) + 1));
            return .{ .bits = bits, .count = 64 / @as(u32, bits) };
        }

        fn key(packing: Packing, tokens: []const i32, depth: u32) u64 {
            var packed_tokens: u64 = 0;
            for (depth..depth + packing.count) |i| {
                const id: u64 = if (i < tokens.len) @intCast(@as(i64, tokens[i]) + 1) else 0;
                packed_tokens = packed_tokens << packing.bits | id;
            }
            return packed_tokens;
        }

        fn endsWithin(packing: Packing, packed_tokens: u64) bool {
            return packed_tokens & ((@as(u64, 1) << packing.bits) - 1) == 0;
        }
    };

    fn pushEqualRuns(gpa: Allocator, work: *ArrayList(Work), keys: []const Keyed, item: Work, packing: Packing) Allocator.Error!void {
        var start: u32 = 0;
        while (start < keys.len) {
            var end = start + 1;
            while (end < keys.len and keys[end].key == keys[start].key) end += 1;
            if (end - start > 1 and !packing.endsWithin(keys[start].key)) {
                const run: Range = .{ .start = item.run.start + start, .len = end - start };
                try work.append(gpa, .{ .run = run, .depth = item.depth + packing.count });
            }
            start = end;
        }
    }

    /// Stable; the result is in `keys`.
    fn sortKeys(keys: []Keyed, spare: []Keyed) void {
        if (keys.len <= insertion_max) return std.sort.insertion(Keyed, keys, {}, lessKey);
        var differing: u64 = 0;
        for (keys) |one| differing |= one.key ^ keys[0].key;
        var from = keys;
        var to = spare;
        var shift: u6 = 0;
        while (differing >> shift != 0) {
            if (differing >> shift & digit_mask != 0) {
                scatter(from, to, shift);
                std.mem.swap([]Keyed, &from, &to);
            }
            if (@as(u32, shift) + digit_bits >= 64) break;
            shift += digit_bits;
        }
        if (from.ptr != keys.ptr) @memcpy(keys, from);
    }

    const insertion_max = 64;
    const digit_bits = 11;
    const digit_mask = (1 << digit_bits) - 1;

    // Inlined, there would be a copy for each digit.
    noinline fn scatter(from: []const Keyed, to: []Keyed, shift: u6) void {
        var starts: [1 << digit_bits]u32 = @splat(0);
        for (from) |one| starts[digitOf(one.key, shift)] += 1;
        var sum: u32 = 0;
        for (&starts) |*start| {
            const count = start.*;
            start.* = sum;
            sum += count;
        }
        for (from) |one| {
            const start = &starts[digitOf(one.key, shift)];
            to[start.*] = one;
            start.* += 1;
        }
    }

    fn digitOf(key: u64, shift: u6) usize {
        return @intCast(key >> shift & digit_mask);
    }

    fn lessKey(_: void, a: Keyed, b: Keyed) bool {
        return a.key < b.key;
    }
};

const Layout = struct {
    gpa: Allocator,
    from: *const Payload,
    sorted: *const Sorted,
    diag: *Diagnostic,

    tokens: ArrayList(i32) = .empty,
    first_child: ArrayList(u32) = .empty,
    marks: ArrayList(Mark) = .empty,
    /// For each node, the run of sorted leaves through it; empty for end nodes.
    runs: ArrayList(Range) = .empty,
    n_leaves: u32 = 0,
    widest: u32 = 0,

    fn deinit(l: *Layout) void {
        l.tokens.deinit(l.gpa);
        l.first_child.deinit(l.gpa);
        l.marks.deinit(l.gpa);
        l.runs.deinit(l.gpa);
    }

    /// Makes room for a root for each descriptor, a node for each token, and the end nodes after each leaf. Unused
    /// pages cost nothing.
    fn reserve(l: *Layout) Allocator.Error!void {
        var nodes_max = l.from.descriptors.items.len + l.sorted.tokens.len;
        for (l.from.descriptors.items) |one| nodes_max += @as(usize, one.leaves.len) * one.end.len;
        try l.tokens.ensureTotalCapacityPrecise(l.gpa, nodes_max);
        try l.first_child.ensureTotalCapacityPrecise(l.gpa, nodes_max + 1);
        try l.marks.ensureTotalCapacityPrecise(l.gpa, nodes_max);
        try l.runs.ensureTotalCapacityPrecise(l.gpa, nodes_max);
    }

    /// Expands the nodes level by level.
    fn layOut(l: *Layout) diagnostic.Error!void {
        for (l.from.descriptors.items) |one| l.addNode(-1, one.leaves, .{});
        var depth: u32 = 0;
        var level_end = l.nodeCount();
        var node: u32 = 0;
        while (node < l.nodeCount()) : (node += 1) {
            const first = l.nodeCount();
            if (node == level_end) {
                depth += 1;
                level_end = first;
            }
            l.first_child.appendAssumeCapacity(first);
            try l.expand(node, l.runs.items[node], depth);
            l.widest = @max(l.widest, l.nodeCount() - first);
        }
        l.first_child.appendAssumeCapacity(node);
    }

    fn nodeCount(l: *const Layout) u32 {
        return @intCast(l.tokens.items.len);
    }

    fn addNode(l: *Layout, token: i32, run: Range, mark: Mark) void {
        l.tokens.appendAssumeCapacity(token);
        l.marks.appendAssumeCapacity(mark);
        l.runs.appendAssumeCapacity(run);
    }

    fn expand(l: *Layout, node: u32, run: Range, depth: u32) diagnostic.Error!void {
        var ended: u32 = 0; // sequences that end here sort first
        while (ended < run.len and l.sorted.len(run.start + ended) == depth) ended += 1;
        if (ended == 0) return l.addChildren(run, depth, &.{}, .{});

        const complete = l.sorted.leaves[run.start..][0..ended];
        const descriptor = l.from.descriptors.items[l.descriptorOf(complete[0])];
        const leaf = l.smallestName(complete) - descriptor.leaves.start;
        const has_end = descriptor.end.len > 0;
        l.n_leaves += 1;
        l.marks.items[node] = .{ .leaf = @intCast(leaf), .allows_any = ended < run.len and !has_end };
        if (ended == run.len) return;
        const longer: Range = .{ .start = run.start + ended, .len = run.len - ended };
        return l.addChildren(longer, depth, descriptor.end.of(l.from.tokens.items), .{ .leaf = @intCast(leaf) });
    }

    /// Merges the next tokens of a run with the end tokens, ascending.
    fn addChildren(l: *Layout, run: Range, depth: u32, end_tokens: []const i32, end_mark: Mark) diagnostic.Error!void {
        const nothing: Range = .{ .start = 0, .len = 0 };
        const stop = run.start + run.len;
        var ends = end_tokens;
        var i = run.start;
        while (i < stop) {
            const first = i;
            const token = l.sorted.token(first, depth);
            i += 1;
            while (i < stop and l.sorted.token(i, depth) == token) i += 1;
            while (ends.len > 0 and ends[0] < token) : (ends = ends[1..]) l.addNode(ends[0], nothing, end_mark);
            if (ends.len > 0 and ends[0] == token) return l.endIsChild(token, l.sorted.leaves[first], depth, end_mark.leaf);
            l.addNode(token, .{ .start = first, .len = i - first }, .{});
        }
        for (ends) |end_token| l.addNode(end_token, nothing, end_mark);
    }

    fn endIsChild(l: *Layout, token: i32, longer: u32, depth: u32, shorter: u31) diagnostic.Error {
        const index = l.descriptorOf(longer);
        const leaves = l.from.descriptors.items[index].leaves;
        return l.diag.fail(.payload, "descriptors[{d}].end: {d} is also tokens[{d}] of the leaf {f}, which continues {f}", .{
            index,
            token,
            depth,
            quoted(l.nameOf(longer)),
            quoted(l.nameOf(leaves.start + shorter)),
        });
    }

    /// Of leaves with the same tokens, the one with the smallest name, in byte order.
    fn smallestName(l: *const Layout, leaves: []const u32) u32 {
        var best = leaves[0];
        for (leaves[1..]) |leaf| {
            if (std.mem.lessThan(u8, l.nameOf(leaf), l.nameOf(best))) best = leaf;
        }
        return best;
    }

    fn nameOf(l: *const Layout, leaf: u32) []const u8 {
        return l.from.textOf(l.from.names.items[leaf]);
    }

    /// The descriptor that a leaf belongs to.
    fn descriptorOf(l: *const Layout, leaf: u32) u32 {
        const all = l.from.descriptors.items;
        var low: u32 = 0;
        var high: u32 = @intCast(all.len);
        while (high - low > 1) {
            const middle = low + (high - low) / 2;
            if (all[middle].leaves.start <= leaf) low = middle else high = middle;
        }
        return low;
    }
};

const testing = std.testing;

fn compileOnce(gpa: Allocator, source: []const u8) !void {
    var diag: Diagnostic = .{};
    const trie = compile(gpa, source, &diag) catch return if (diag.status == .oom) error.OutOfMemory else error.Unexpected;
    trie.release();
}

test "out of memory anywhere is reported and loses nothing" {
    const source =
        \\{"modelId":"m","descriptors":[
        \\ {"path":"a","trigger":[[1,2],[3]],"end":[9],"leaves":[{"name":"A","tokens":[4]},{"name":"B","tokens":[4,5]}]},
        \\ {"path":"b","leaves":[{"name":"C","tokens":[6,7,8]}]}]}
    ;
    // Without growth in place, which depends on the memory after a block, every run allocates alike.
    var moving: testing.FailingAllocator = .init(testing.allocator, .{ .resize_fail_index = 0 });
    try testing.checkAllAllocationFailures(moving.allocator(), compileOnce, .{source});
}

test "leaves that begin with the same tokens, more than fit one key, lie in order" {
    // Each leaf has its 0 at a depth of its own; few leaves and many, and keys of nine tokens and of two.
    for ([_]usize{ 7, 90 }) |n_leaves| for ([_]u32{ 100, 1 << 30 }) |largest| {
        var source: std.Io.Writer.Allocating = .init(testing.allocator);
        defer source.deinit();
        try source.writer.writeAll("{\"modelId\":\"m\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[");
        for (0..n_leaves) |i| {
            const number = i * 37 % n_leaves; // out of order
            try source.writer.print("{s}{{\"name\":\"N{d}\",\"tokens\":[", .{ if (i == 0) "" else ",", number });
            for (0..100) |depth| try source.writer.print("{d},", .{if (depth == number) 0 else largest});
            try source.writer.print("{d}]}}", .{number % 3});
        }
        try source.writer.writeAll("]}]}");
        var diag: Diagnostic = .{};
        const trie = try compile(testing.allocator, source.written(), &diag);
        defer trie.release();
        try testing.expectEqual(n_leaves, trie.n_leaves);
        for (0..n_leaves) |number| {
            var node: trie_module.Node = 0;
            for (0..100) |depth| {
                const children = trie.children(trie.at(node));
                for (children[1..], children[0 .. children.len - 1]) |child, before| try testing.expect(before < child);
                node = trie.child(trie.at(node), if (depth == number) 0 else @intCast(largest)).?;
            }
            try testing.expectEqualSlices(i32, &.{@intCast(number % 3)}, trie.children(trie.at(node)));
        }
    };
}

test "the largest token id" {
    var diag: Diagnostic = .{};
    const largest = "{\"modelId\":\"m\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[{\"name\":\"N\",\"tokens\":[2147483647,0]}]}]}";
    const trie = try compile(testing.allocator, largest, &diag);
    defer trie.release();
    try testing.expectEqualSlices(i32, &.{std.math.maxInt(i32)}, trie.children(trie.at(0)));
    const larger = "{\"modelId\":\"m\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[{\"name\":\"N\",\"tokens\":[2147483648]}]}]}";
    try testing.expectError(error.Failed, compile(testing.allocator, larger, &diag));
    try testing.expectEqualStrings("descriptors[0].leaves[0].tokens[0]: 2147483648 is outside 0..2147483647", diag.message());
}

test "children are found among few and among many" {
    var source: std.Io.Writer.Allocating = .init(testing.allocator);
    defer source.deinit();
    try source.writer.writeAll("{\"modelId\":\"m\",\"descriptors\":[{\"path\":\"p\",\"leaves\":[");
    for (0..200) |i| {
        const separator = if (i == 0) "" else ",";
        const token = 3 * (i * 77 % 200); // out of order, with gaps
        try source.writer.print("{s}{{\"name\":\"N{d}\",\"tokens\":[{d},{d}]}}", .{ separator, i, token, i % 3 });
    }
    try source.writer.writeAll("]}]}");
    var diag: Diagnostic = .{};
    const trie = try compile(testing.allocator, source.written(), &diag);
    defer trie.release();
    const root = trie.at(0);
    try testing.expectEqual(200, trie.children(root).len);
    try testing.expectEqual(401, trie.tokens.len);
    for (0..600) |token| {
        const node = trie.child(root, @intCast(token));
        try testing.expectEqual(token % 3 == 0, node != null);
        if (node) |n| try testing.expectEqual(1, trie.children(trie.at(n)).len);
    }
    try testing.expectEqual(null, trie.child(root, 600));
}
