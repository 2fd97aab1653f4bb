//! From the leaves of a payload, in any order, to the flat arrays of a TokenTrie: sort the token
//! sequences, then lay out the nodes level by level. O(tokens) beside the sort, and independent of
//! how long the shared prefixes are.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const payload = @import("../payload/payload.zig");
const Payload = payload.Payload;
const Range = payload.Range;
const trie = @import("trie.zig");
const TokenTrie = trie.TokenTrie;
const Mark = trie.Mark;
const TriggerAutomaton = @import("trigger.zig").TriggerAutomaton;

pub const Error = Allocator.Error || diagnostic.Error;

pub fn build(gpa: Allocator, source: []const u8, from: *Payload, diag: *Diagnostic) Error!*TokenTrie {
    var layout: Layout = try .init(gpa, from, diag);
    defer layout.deinit();
    try layout.sortAll();
    try layout.layOut();

    // Every allocation that the result owns, in one place, so that a failure frees those before it.
    const result = try gpa.create(TokenTrie);
    errdefer gpa.destroy(result);
    const descriptors = try gpa.alloc(TokenTrie.Descriptor, from.descriptors.items.len);
    errdefer gpa.free(descriptors);
    const names = try gpa.alloc(Range, from.leaves.items.len);
    errdefer gpa.free(names);
    var triggers = try TriggerAutomaton.init(gpa, from);
    errdefer triggers.deinit(gpa);
    const copy = try gpa.dupe(u8, source);
    errdefer gpa.free(copy);
    const text = try gpa.dupe(u8, from.text.items);
    errdefer gpa.free(text);
    const tokens = try layout.tokens.toOwnedSlice(gpa);
    errdefer gpa.free(tokens);
    const first_child = try layout.first_child.toOwnedSlice(gpa);
    errdefer gpa.free(first_child);
    const marks = try layout.marks.toOwnedSlice(gpa);

    for (descriptors, from.descriptors.items) |*to, one| to.* = .{ .path = one.path, .leaves = one.leaves };
    for (names, from.leaves.items) |*to, one| to.* = one.name;
    result.* = .{
        .gpa = gpa,
        .tokens = tokens,
        .first_child = first_child,
        .marks = marks,
        .descriptors = descriptors,
        .triggers = triggers,
        .text = text,
        .names = names,
        .source = copy,
        .model_id = from.model_id,
        .n_leaves = layout.n_leaves,
        .widest = layout.widest,
        .largest = from.largest,
        .longest = from.longest,
    };
    return result;
}

const Layout = struct {
    gpa: Allocator,
    from: *const Payload,
    diag: *Diagnostic,

    /// Leaves of the payload, each descriptor's run sorted by its tokens.
    sorted: []u32,
    /// For each node the run of `sorted` that passes through it; empty for end nodes.
    runs: std.ArrayList(Range) = .empty,

    tokens: std.ArrayList(i32) = .empty,
    first_child: std.ArrayList(u32) = .empty,
    marks: std.ArrayList(Mark) = .empty,
    n_leaves: u32 = 0,
    widest: u32 = 0,

    fn init(gpa: Allocator, from: *const Payload, diag: *Diagnostic) Allocator.Error!Layout {
        const sorted = try gpa.alloc(u32, from.leaves.items.len);
        for (sorted, 0..) |*leaf, i| leaf.* = @intCast(i);
        return .{ .gpa = gpa, .from = from, .diag = diag, .sorted = sorted };
    }

    fn deinit(l: *Layout) void {
        l.gpa.free(l.sorted);
        l.runs.deinit(l.gpa);
        l.tokens.deinit(l.gpa);
        l.first_child.deinit(l.gpa);
        l.marks.deinit(l.gpa);
    }

    fn sequence(l: *const Layout, leaf: u32) []const i32 {
        return l.from.leaves.items[leaf].tokens.of(l.from.tokens.items);
    }

    /// Sorts by two tokens at a time: the pair, as one 64-bit key, goes through a radix sort; runs
    /// of equal pairs are sorted by their next two.
    fn sortAll(l: *Layout) Allocator.Error!void {
        var widest: usize = 0;
        for (l.from.descriptors.items) |one| widest = @max(widest, one.leaves.len);
        const keyed = try l.gpa.alloc(Keyed, 2 * widest);
        defer l.gpa.free(keyed);
        var work: std.ArrayList(Work) = .empty;
        defer work.deinit(l.gpa);

        for (l.from.descriptors.items) |one| try work.append(l.gpa, .{ .run = one.leaves, .depth = 0 });
        while (work.pop()) |item| {
            const leaves = item.run.of(l.sorted);
            const keys = keyed[0..leaves.len];
            for (keys, leaves) |*key, leaf| key.* = .{ .key = pairAt(l.sequence(leaf), item.depth), .leaf = leaf };
            sortKeys(keys, keyed[widest..][0..leaves.len]);
            for (leaves, keys) |*leaf, key| leaf.* = key.leaf;
            try pushEqualRuns(l.gpa, &work, keys, item);
        }
    }

    const Keyed = struct { key: u64, leaf: u32 };
    const Work = struct { run: Range, depth: u32 };

    /// Tokens are counted from 1, so that the end of a sequence sorts first.
    fn pairAt(tokens: []const i32, depth: u32) u64 {
        const first: u64 = if (depth < tokens.len) @intCast(@as(i64, tokens[depth]) + 1) else 0;
        const second: u64 = if (depth + 1 < tokens.len) @intCast(@as(i64, tokens[depth + 1]) + 1) else 0;
        return first << 32 | second;
    }

    fn pushEqualRuns(gpa: Allocator, work: *std.ArrayList(Work), keys: []const Keyed, item: Work) Allocator.Error!void {
        var start: u32 = 0;
        while (start < keys.len) {
            var end = start + 1;
            while (end < keys.len and keys[end].key == keys[start].key) end += 1;
            const ended = keys[start].key & std.math.maxInt(u32) == 0;
            if (end - start > 1 and !ended) {
                const run: Range = .{ .start = item.run.start + start, .len = end - start };
                try work.append(gpa, .{ .run = run, .depth = item.depth + 2 });
            }
            start = end;
        }
    }

    /// Stable. Leaves the result in `keys`.
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
    const digit_bits = 8;
    const digit_mask = (1 << digit_bits) - 1;

    fn scatter(from: []const Keyed, to: []Keyed, shift: u6) void {
        var starts: [1 << digit_bits]u32 = @splat(0);
        for (from) |one| starts[one.key >> shift & digit_mask] += 1;
        var sum: u32 = 0;
        for (&starts) |*start| {
            const count = start.*;
            start.* = sum;
            sum += count;
        }
        for (from) |one| {
            const start = &starts[one.key >> shift & digit_mask];
            to[start.*] = one;
            start.* += 1;
        }
    }

    fn lessKey(_: void, a: Keyed, b: Keyed) bool {
        return a.key < b.key;
    }

    /// One descriptor's nodes are not contiguous below the roots, so the level of a node tells its
    /// depth and the descriptor comes with its run.
    fn layOut(l: *Layout) Error!void {
        for (l.from.descriptors.items) |one| try l.addNode(-1, one.leaves, .{});
        var node: u32 = 0;
        var depth: u32 = 0;
        while (node < l.tokens.items.len) : (depth += 1) {
            const level_end = l.tokens.items.len;
            while (node < level_end) : (node += 1) {
                const first: u32 = @intCast(l.tokens.items.len);
                try l.first_child.append(l.gpa, first);
                try l.expand(node, depth);
                l.widest = @max(l.widest, @as(u32, @intCast(l.tokens.items.len - first)));
            }
        }
        try l.first_child.append(l.gpa, @intCast(l.tokens.items.len));
    }

    fn addNode(l: *Layout, token: i32, run: Range, mark: Mark) Allocator.Error!void {
        try l.tokens.append(l.gpa, token);
        try l.runs.append(l.gpa, run);
        try l.marks.append(l.gpa, mark);
    }

    fn expand(l: *Layout, node: u32, depth: u32) Error!void {
        const run = l.runs.items[node];
        const through = run.of(l.sorted);
        var ended: u32 = 0; // sequences that end here sort first
        while (ended < through.len and l.sequence(through[ended]).len == depth) ended += 1;
        if (ended == 0) return l.addChildren(run, depth, &.{}, .{});

        const descriptor = l.descriptorOf(through[0]);
        const leaf = l.smallestName(through[0..ended]) - descriptor.leaves.start;
        const has_end = descriptor.end.len > 0;
        l.n_leaves += 1;
        l.marks.items[node] = .{ .leaf = @intCast(leaf), .steps_back = ended < through.len and !has_end };
        if (ended == through.len) return;
        const rest: Range = .{ .start = run.start + ended, .len = run.len - ended };
        return l.addChildren(rest, depth, descriptor.end.of(l.from.tokens.items), .{ .leaf = @intCast(leaf) });
    }

    /// Merges the next tokens of a run with the end tokens, ascending.
    fn addChildren(l: *Layout, run: Range, depth: u32, end_tokens: []const i32, end_mark: Mark) Error!void {
        const nothing: Range = .{ .start = 0, .len = 0 };
        const through = run.of(l.sorted);
        var ends = end_tokens;
        var start: u32 = 0;
        while (start < through.len) {
            const token = l.sequence(through[start])[depth];
            var stop = start + 1;
            while (stop < through.len and l.sequence(through[stop])[depth] == token) stop += 1;
            while (ends.len > 0 and ends[0] < token) : (ends = ends[1..]) try l.addNode(ends[0], nothing, end_mark);
            if (ends.len > 0 and ends[0] == token) return l.endIsChild(token, through[start], depth, end_mark.leaf);
            try l.addNode(token, .{ .start = run.start + start, .len = stop - start }, .{});
            start = stop;
        }
        for (ends) |end_token| try l.addNode(end_token, nothing, end_mark);
    }

    fn endIsChild(l: *Layout, token: i32, longer: u32, depth: u32, shorter: u31) diagnostic.Error {
        const descriptor = l.descriptorOf(longer);
        const index = for (l.from.descriptors.items, 0..) |one, i| {
            if (one.path.start == descriptor.path.start) break i;
        } else unreachable;
        return l.diag.fail(.payload, "descriptors[{d}].end: {d} is also tokens[{d}] of the leaf {f}, which continues {f}", .{
            index,
            token,
            depth,
            quoted(l.from.leaves.items[longer].name.of(l.from.text.items)),
            quoted(descriptor.leaves.of(l.from.leaves.items)[shorter].name.of(l.from.text.items)),
        });
    }

    /// Of leaves with the same tokens, the one whose name is smaller by its bytes.
    fn smallestName(l: *const Layout, leaves: []const u32) u32 {
        var best = leaves[0];
        for (leaves[1..]) |leaf| {
            const name = l.from.leaves.items[leaf].name.of(l.from.text.items);
            if (std.mem.lessThan(u8, name, l.from.leaves.items[best].name.of(l.from.text.items))) best = leaf;
        }
        return best;
    }

    fn descriptorOf(l: *const Layout, leaf: u32) payload.Descriptor {
        const all = l.from.descriptors.items;
        var low: usize = 0;
        var high = all.len;
        while (high - low > 1) {
            const middle = low + (high - low) / 2;
            if (all[middle].leaves.start <= leaf) low = middle else high = middle;
        }
        return all[low];
    }
};
