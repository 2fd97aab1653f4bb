//! Whether a vocabulary out of a file is sound: its tokens lie in the bytes, and its trie has them, as `ByteTrie.build` would.

const std = @import("std");
const Allocator = std.mem.Allocator;
const bitmap = @import("../base/bitmap.zig");
const byte_trie = @import("byte_trie.zig");
const ByteTrie = byte_trie.ByteTrie;
const Tokens = @import("tokens.zig").Tokens;

/// O(tokens and their bytes).
pub fn isSound(gpa: Allocator, tokens: *const Tokens, trie: *const ByteTrie) Allocator.Error!bool {
    if (!areSoundTokens(tokens) or trie.n_tokens != tokens.n) return false;
    const seen = try bitmap.alloc(gpa, bitmap.wordsFor(tokens.n));
    defer gpa.free(seen);
    bitmap.clear(seen);
    var checker: Checker = .{ .tokens = tokens, .trie = trie, .seen = seen };
    return checker.nodesAreSound() and checker.listsAreSound();
}

fn areSoundTokens(t: *const Tokens) bool {
    if (t.n == 0 or t.n > byte_trie.tokens_max or t.offsets.len != @as(usize, t.n) + 1) return false;
    if (t.flags.len != 0 and t.flags.len != t.n) return false;
    var ascend = t.offsets[t.n] <= t.bytes.len;
    for (t.offsets[0..t.n], t.offsets[1..]) |from, to| ascend = ascend and from <= to;
    return ascend;
}

const Checker = struct {
    tokens: *const Tokens,
    trie: *const ByteTrie,
    seen: bitmap.Words,
    longest: usize = 0,
    n_seen: usize = 0,

    /// Whether the nodes are a trie in depth-first order, with the texts of tokens.
    fn nodesAreSound(c: *Checker) bool {
        const nodes = c.trie.nodes;
        if (nodes.len == 0 or nodes.len > byte_trie.nodes_max) return false;
        if (nodes[0].depth != 0 or nodes[0].mark != 0 or nodes[0].subtree != nodes.len) return false;
        const n_places = 4 * c.seen.len;
        var ends: [byte_trie.depth_max + 1]usize = undefined; // of the last subtree at each depth
        // The bytes of the path, after the last of them: a text of up to 8 bytes is compared as a number.
        var path: [byte_trie.depth_max + 1]u8 = undefined;
        ends[0] = nodes.len;
        var before: usize = 0;
        var is_sound = true;
        for (nodes[1..], 1..) |node, at| {
            const depth: usize = node.depth;
            if (depth == 0 or depth > before + 1 or node.place >= n_places) return false;
            // A first child, or the next sibling of an open node.
            is_sound = is_sound and (depth > before or (ends[depth] == at and path[depth] < node.byte));
            ends[depth] = at + node.subtree;
            is_sound = is_sound and node.subtree > 0 and ends[depth] <= ends[depth - 1];
            path[depth] = node.byte;
            before = depth;
            if (node.mark == 0) continue;
            const token = node.token().?;
            if (node.mark & (node.mark - 1) != 0 or !c.see(token)) return false;
            is_sound = is_sound and std.mem.eql(u8, path[1 .. depth + 1], c.tokens.bytesOf(token));
            c.longest = @max(c.longest, depth);
        }
        return is_sound and ends[before] == nodes.len;
    }

    /// Whether what is not in the trie is in a list, each token once.
    fn listsAreSound(c: *Checker) bool {
        const t = c.tokens;
        for (c.trie.long_tokens, 0..) |token, i| {
            if (i > 0 and c.trie.long_tokens[i - 1] >= token) return false;
            if (!c.see(token) or t.bytesOf(token).len <= byte_trie.depth_max) return false;
            c.longest = @max(c.longest, t.bytesOf(token).len);
        }
        for (c.trie.duplicates) |duplicate| {
            if (duplicate.token >= t.n or !bitmap.has(c.seen, duplicate.token) or !c.see(duplicate.twin)) return false;
            if (!std.mem.eql(u8, t.bytesOf(duplicate.token), t.bytesOf(duplicate.twin))) return false;
        }
        var n_texts: usize = 0;
        var n_ends: usize = 0;
        for (0..t.n) |token| {
            n_texts += @intFromBool(t.isText(@intCast(token)));
            if (!t.flagsOf(@intCast(token)).end_of_generation) continue;
            if (n_ends == c.trie.end_tokens.len or c.trie.end_tokens[n_ends] != token) return false;
            n_ends += 1;
        }
        return n_ends == c.trie.end_tokens.len and n_texts == c.n_seen and c.longest == c.trie.longest;
    }

    /// Whether it is a token of texts that was not seen before.
    fn see(c: *Checker, token: u32) bool {
        if (token >= c.tokens.n or bitmap.has(c.seen, token) or !c.tokens.isText(token)) return false;
        bitmap.set(c.seen, token);
        c.n_seen += 1;
        return true;
    }
};

test "a trie is sound as it was built, and not if a number in it leads elsewhere" {
    const gpa = std.testing.allocator;
    const long: [2 * byte_trie.depth_max]u8 = @splat('x');
    const texts = [_][]const u8{ "a", "ab", "b", "a", "<end>", long[0 .. byte_trie.depth_max + 1], &long, "a" };
    var offsets: [texts.len + 1]u64 = undefined;
    offsets[0] = 0;
    for (texts, 0..) |text, i| offsets[i + 1] = offsets[i] + text.len;
    var flags: [texts.len]@typeInfo(@FieldType(Tokens, "flags")).pointer.child = @splat(.{});
    flags[4].end_of_generation = true;
    const bytes = try std.mem.concat(gpa, u8, &texts);
    defer gpa.free(bytes);
    const tokens: Tokens = .{ .n = texts.len, .bytes = bytes, .offsets = &offsets, .flags = &flags };
    var diag: @import("../base/diagnostic.zig").Diagnostic = .{};
    var trie = try ByteTrie.build(gpa, &tokens, &diag);
    defer trie.deinit(gpa);
    try std.testing.expect(try isSound(gpa, &tokens, &trie));

    const n = texts.len;
    for ([_][2]u32{ .{ 5, 5 }, .{ 6, 5 }, .{ 5, n }, .{ 2, 5 }, .{ 5, 4 }, .{ 5, std.math.maxInt(u32) } }) |list| {
        var changed = trie;
        changed.long_tokens = &list;
        try std.testing.expect(!try isSound(gpa, &tokens, &changed));
    }
    for ([_][2]u32{ .{ 0, n }, .{ n, 3 }, .{ 3, 0 }, .{ 2, 3 }, .{ 0, 2 }, .{ 0, 0 }, .{ 0, 4 } }) |pair| {
        var changed = trie;
        changed.duplicates = &.{.{ .token = pair[0], .twin = pair[1] }};
        try std.testing.expect(!try isSound(gpa, &tokens, &changed));
    }
    // What the trie has not is no twin of another.
    var unseen = trie;
    unseen.duplicates = &.{ .{ .token = 3, .twin = 7 }, .{ .token = 0, .twin = 3 } };
    try std.testing.expect(!try isSound(gpa, &tokens, &unseen));
    for ([_][]const i32{ &.{}, &.{3}, &.{n}, &.{ 4, 5 }, &.{ 4, n }, &.{-1} }) |ends| {
        var changed = trie;
        changed.end_tokens = ends;
        try std.testing.expect(!try isSound(gpa, &tokens, &changed));
    }
    const nodes = try gpa.dupe(byte_trie.Node, trie.nodes);
    defer gpa.free(nodes);
    for (nodes, 0..) |*node, i| inline for (comptime std.meta.fieldNames(byte_trie.Node)) |name| {
        const is_free = comptime std.mem.eql(u8, name, "place"); // of a node without a token: any byte of a bitmap
        for ([_]@FieldType(byte_trie.Node, name){ 1, 2, 3, std.math.maxInt(@FieldType(byte_trie.Node, name)) }) |other| {
            const kept = node.*;
            defer node.* = kept;
            if (@field(node, name) == other or (i == 0 and (is_free or comptime std.mem.eql(u8, name, "byte")))) continue;
            if (is_free and node.mark == 0 and other < 4) continue;
            @field(node, name) = other;
            var changed = trie;
            changed.nodes = nodes;
            try std.testing.expect(!try isSound(gpa, &tokens, &changed));
        }
    };
    // Where no token is in the trie, it is a root all the same.
    const end: Tokens = .{ .n = 1, .bytes = texts[4], .offsets = &.{ 0, texts[4].len }, .flags = flags[4..5] };
    var root = try ByteTrie.build(gpa, &end, &diag);
    defer root.deinit(gpa);
    try std.testing.expect(try isSound(gpa, &end, &root));
    var other = root.nodes[0];
    other.subtree += 1;
    var changed = root;
    changed.nodes = &.{other};
    try std.testing.expect(!try isSound(gpa, &end, &changed));
}
