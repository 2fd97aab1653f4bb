//! The vocabulary as a trie of bytes in depth-first order, for walking it against a recognizer: the "toktrie"
//! of Microsoft's AICI and llguidance. A node holds its depth where theirs holds the number of parents to pop
//! after it: the same knowledge, without asking whether the node is a leaf. A node's first child is the next
//! node; its next sibling is `subtree` nodes on.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Tokens = @import("tokens.zig").Tokens;

/// As many as `Node.subtree` can count.
pub const nodes_max = std.math.maxInt(@FieldType(Node, "subtree"));
/// As many as `Node.place` and `Node.mark` can tell apart.
pub const tokens_max = 8 << @bitSizeOf(@FieldType(Node, "place"));
/// Longer tokens, in bytes, are not in the trie: they are tried one by one.
pub const depth_max = 255;

/// The fields stand where a walk reads them cheapest: one instruction for each of the lowest two bytes, no
/// masking for the third and the highest bits.
pub const Node = packed struct(u64) {
    byte: u8,
    /// Bytes from the root to here, including `byte`.
    depth: u8,
    /// The bit, in its byte of a bitmap, of the token that ends here. 0: none does.
    mark: u8,
    /// Nodes of the subtree, including this one.
    subtree: u22,
    /// The index of that byte. Nodes without a token take turns among a few bytes: writes to the same byte would
    /// wait for each other.
    place: u18,

    /// The token that ends here; null if none does.
    pub inline fn token(node: Node) ?u32 {
        return if (node.mark != 0) @as(u32, node.place) * 8 + @ctz(node.mark) else null;
    }

    fn setToken(node: *Node, number: u32) void {
        node.mark = @as(u8, 1) << @truncate(number);
        node.place = @intCast(number / 8);
    }

    /// Whether no longer token continues here.
    pub fn isLeaf(node: Node) bool {
        return node.subtree == 1;
    }
};

/// Two tokens with the same bytes. The trie has the first, `token`.
pub const Duplicate = extern struct { token: u32, twin: u32 };

/// The trie of a vocabulary. Immutable.
pub const ByteTrie = struct {
    n_tokens: u32,
    /// Node 0 is the root: the empty text.
    nodes: []const Node,
    duplicates: []const Duplicate,
    /// Tokens of more than `depth_max` bytes.
    long_tokens: []const u32,
    /// The longest token, in bytes.
    longest: u32,
    /// Number of single bytes that are no token.
    missing_bytes: u32,
    /// The end-of-generation tokens, ascending. They are not in the trie.
    end_tokens: []const i32,

    /// Fails for tokens without bytes, and beyond `tokens_max` and `nodes_max`. Sorts the tokens: about linear in
    /// their bytes.
    pub fn build(gpa: Allocator, tokens: *const Tokens, diag: *Diagnostic) diagnostic.Error!ByteTrie {
        if (tokens.offsets.len == 0) {
            return diag.fail(.invalid_arg, "the vocabulary was made without the bytes of its tokens, which recognizers need", .{});
        }
        if (tokens.n > tokens_max) {
            return diag.fail(.limit, "{d} tokens are more than {d}", .{ tokens.n, tokens_max });
        }
        var builder: Builder = .{ .gpa = gpa, .tokens = tokens };
        return builder.build() catch |e| switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.TooManyNodes => diag.fail(.limit, "the vocabulary needs more than {d} trie nodes", .{nodes_max}),
        };
    }

    /// Not for a trie whose arrays are mapped.
    pub fn deinit(trie: *ByteTrie, gpa: Allocator) void {
        gpa.free(trie.nodes);
        gpa.free(trie.duplicates);
        gpa.free(trie.long_tokens);
        gpa.free(trie.end_tokens);
        trie.* = undefined;
    }

    /// Memory of the arrays.
    pub fn bytes(trie: *const ByteTrie) usize {
        return std.mem.sliceAsBytes(trie.nodes).len + std.mem.sliceAsBytes(trie.duplicates).len +
            std.mem.sliceAsBytes(trie.long_tokens).len + std.mem.sliceAsBytes(trie.end_tokens).len;
    }

    /// The node that these bytes lead to; null if no token begins with them.
    pub fn find(trie: *const ByteTrie, text: []const u8) ?u32 {
        var node: u32 = 0;
        for (text) |byte| node = trie.child(node, byte) orelse return null;
        return node;
    }

    /// The child that a byte leads to; null if there is none. Looks at one sibling after another.
    pub fn child(trie: *const ByteTrie, parent: u32, byte: u8) ?u32 {
        var node = parent + 1;
        const end = parent + trie.nodes[parent].subtree;
        while (node < end) : (node += trie.nodes[node].subtree) {
            if (trie.nodes[node].byte == byte) return node;
        }
        return null;
    }
};

const Builder = struct {
    gpa: Allocator,
    tokens: *const Tokens,
    duplicates: ArrayList(Duplicate) = .empty,
    long_tokens: ArrayList(u32) = .empty,
    end_tokens: ArrayList(i32) = .empty,
    longest: u32 = 0,
    /// For each token of the trie: the length of the prefix that it shares with the one before it.
    shared: []u8 = &.{},

    /// A token with its first bytes as a number, so that most comparisons need no text.
    const Entry = struct { key: u64, token: u32 };

    fn build(b: *Builder) error{ OutOfMemory, TooManyNodes }!ByteTrie {
        errdefer b.duplicates.deinit(b.gpa);
        errdefer b.long_tokens.deinit(b.gpa);
        errdefer b.end_tokens.deinit(b.gpa);
        const entries = try b.gather();
        defer b.gpa.free(entries);
        const unique = try b.sort(entries);
        b.shared = try b.gpa.alloc(u8, unique.len + 1);
        defer b.gpa.free(b.shared);
        const nodes = try b.gpa.alloc(Node, try b.countNodes(unique));
        errdefer b.gpa.free(nodes);
        b.layOut(unique, nodes);
        const duplicates = try b.duplicates.toOwnedSlice(b.gpa);
        errdefer b.gpa.free(duplicates);
        const long_tokens = try b.long_tokens.toOwnedSlice(b.gpa);
        errdefer b.gpa.free(long_tokens);
        return .{
            .n_tokens = b.tokens.n,
            .nodes = nodes,
            .duplicates = duplicates,
            .long_tokens = long_tokens,
            .end_tokens = try b.end_tokens.toOwnedSlice(b.gpa),
            .longest = b.longest,
            .missing_bytes = missingBytes(nodes),
        };
    }

    /// The tokens that a text can consist of.
    fn gather(b: *Builder) error{OutOfMemory}![]Entry {
        var entries: ArrayList(Entry) = try .initCapacity(b.gpa, b.tokens.n);
        errdefer entries.deinit(b.gpa);
        for (0..b.tokens.n) |token| {
            const text = b.tokens.bytesOf(@intCast(token));
            const flags = b.tokens.flagsOf(@intCast(token));
            if (flags.end_of_generation) try b.end_tokens.append(b.gpa, @intCast(token));
            if (text.len == 0 or flags.special or flags.end_of_generation or flags.unused) continue;
            b.longest = @max(b.longest, @as(u32, @intCast(@min(text.len, std.math.maxInt(u32)))));
            if (text.len > depth_max) {
                try b.long_tokens.append(b.gpa, @intCast(token));
            } else {
                entries.appendAssumeCapacity(.{ .key = firstBytes(text), .token = @intCast(token) });
            }
        }
        return entries.toOwnedSlice(b.gpa);
    }

    fn firstBytes(text: []const u8) u64 {
        if (text.len >= 8) return std.mem.readInt(u64, text[0..8], .big);
        var key: u64 = 0;
        for (text) |byte| key = key << 8 | byte;
        return key << @intCast(8 * (8 - text.len));
    }

    /// Sorts by bytes, then by id. Returns the first of each run of equal tokens; the others become duplicates.
    fn sort(b: *Builder, entries: []Entry) error{OutOfMemory}![]Entry {
        try b.sortKeys(entries);
        var start: usize = 0;
        while (start < entries.len) {
            var end = start + 1;
            while (end < entries.len and entries[end].key == entries[start].key) end += 1;
            if (end - start > 1) std.sort.heap(Entry, entries[start..end], b.tokens, isBefore);
            start = end;
        }
        var unique: usize = 0;
        for (entries) |entry| {
            if (unique > 0 and std.mem.eql(u8, b.textOf(entries[unique - 1]), b.textOf(entry))) {
                try b.duplicates.append(b.gpa, .{ .token = entries[unique - 1].token, .twin = entry.token });
                continue;
            }
            entries[unique] = entry;
            unique += 1;
        }
        return entries[0..unique];
    }

    /// Radix sort, least significant byte first (Knuth, TAOCP 3, 5.2.5).
    fn sortKeys(b: *Builder, entries: []Entry) error{OutOfMemory}!void {
        const other = try b.gpa.alloc(Entry, entries.len);
        defer b.gpa.free(other);
        const counts = try b.gpa.create([8][256]u32);
        defer b.gpa.destroy(counts);
        counts.* = @splat(@splat(0));
        for (entries) |entry| inline for (0..8) |i| {
            counts[i][@as(u8, @truncate(entry.key >> 8 * i))] += 1;
        };
        var from = entries;
        var to = other;
        for (counts, 0..) |*count, i| {
            var sum: u32 = 0;
            for (count) |*c| {
                const n = c.*;
                c.* = sum;
                sum += n;
            }
            for (from) |entry| {
                const place = &count[@as(u8, @truncate(entry.key >> @intCast(8 * i)))];
                to[place.*] = entry;
                place.* += 1;
            }
            std.mem.swap([]Entry, &from, &to);
        }
        comptime std.debug.assert(8 % 2 == 0); // after an even number of passes the result is in `entries`
    }

    fn isBefore(tokens: *const Tokens, a: Entry, b: Entry) bool {
        return switch (std.mem.order(u8, tokens.bytesOf(a.token), tokens.bytesOf(b.token))) {
            .lt => true,
            .gt => false,
            .eq => a.token < b.token,
        };
    }

    fn countNodes(b: *Builder, entries: []const Entry) error{TooManyNodes}!usize {
        var n: usize = 1;
        for (entries, 0..) |entry, i| {
            b.shared[i] = @intCast(b.sharedStart(entries, i));
            n += b.textOf(entry).len - b.shared[i];
        }
        b.shared[entries.len] = 0;
        return if (n <= nodes_max) n else error.TooManyNodes;
    }

    fn sharedStart(b: *const Builder, entries: []const Entry, i: usize) usize {
        if (i == 0) return 0;
        const different = @clz(entries[i].key ^ entries[i - 1].key) / 8;
        const here = b.textOf(entries[i]);
        const before = b.textOf(entries[i - 1]);
        if (different < 8) return @min(different, here.len, before.len);
        return std.mem.findDiff(u8, here, before) orelse @min(here.len, before.len);
    }

    const idle_places = 8;

    fn layOut(b: *const Builder, entries: []const Entry, nodes: []Node) void {
        nodes[0] = .{ .byte = 0, .depth = 0, .mark = 0, .subtree = @intCast(nodes.len), .place = 0 };
        var path: [depth_max + 1]u32 = undefined; // the open node of each depth
        var n: u32 = 1;
        for (entries, 0..) |entry, i| {
            const bytes = b.textOf(entry);
            for (b.shared[i]..bytes.len) |depth| {
                path[depth + 1] = n;
                nodes[n] = .{
                    .byte = bytes[depth],
                    .depth = @intCast(depth + 1),
                    .mark = 0,
                    .subtree = 0,
                    .place = @intCast(n % idle_places),
                };
                n += 1;
            }
            nodes[n - 1].setToken(entry.token);
            const stays = b.shared[i + 1];
            for (path[stays + 1 .. bytes.len + 1]) |open| nodes[open].subtree = @intCast(n - open);
        }
    }

    fn missingBytes(nodes: []const Node) u32 {
        var missing: u32 = 256;
        var node: u32 = 1;
        while (node < nodes.len) : (node += nodes[node].subtree) {
            if (nodes[node].mark != 0) missing -= 1;
        }
        return missing;
    }

    fn textOf(b: *const Builder, entry: Entry) []const u8 {
        return b.tokens.bytesOf(entry.token);
    }
};

/// A vocabulary of these texts.
const TestTokens = struct {
    tokens: Tokens,

    fn init(texts: []const []const u8) !TestTokens {
        const gpa = std.testing.allocator;
        const offsets = try gpa.alloc(u64, texts.len + 1);
        errdefer gpa.free(offsets);
        offsets[0] = 0;
        for (texts, 0..) |text, i| offsets[i + 1] = offsets[i] + text.len;
        return .{ .tokens = .{ .n = @intCast(texts.len), .bytes = try std.mem.concat(gpa, u8, texts), .offsets = offsets } };
    }

    fn deinit(t: *const TestTokens) void {
        std.testing.allocator.free(t.tokens.bytes);
        std.testing.allocator.free(t.tokens.offsets);
    }
};

test "depth-first order with subtrees and depths" {
    const made: TestTokens = try .init(&.{ "aza", "b", "a", "ay", "ax", "ayb", "aya", "c", "", "b" });
    defer made.deinit();
    var diag: Diagnostic = .{};
    var trie = try ByteTrie.build(std.testing.allocator, &made.tokens, &diag);
    defer trie.deinit(std.testing.allocator);
    const Shown = struct { u8, u8, u22, ?u32 };
    for ([_]Shown{
        .{ 0, 0, 10, null },
        .{ 'a', 1, 7, 2 },
        .{ 'x', 2, 1, 4 },
        .{ 'y', 2, 3, 3 },
        .{ 'a', 3, 1, 6 },
        .{ 'b', 3, 1, 5 },
        .{ 'z', 2, 2, null },
        .{ 'a', 3, 1, 0 },
        .{ 'b', 1, 1, 1 },
        .{ 'c', 1, 1, 7 },
    }, trie.nodes) |expected, node| {
        try std.testing.expectEqual(expected, Shown{ node.byte, node.depth, node.subtree, node.token() });
    }
    try std.testing.expectEqualSlices(Duplicate, &.{.{ .token = 1, .twin = 9 }}, trie.duplicates);
    try std.testing.expectEqual(253, trie.missing_bytes);
    try std.testing.expectEqual(5, trie.find("ayb"));
    try std.testing.expectEqual(null, trie.find("ac"));
}

test "every token is found, also with zero bytes, long common starts and more than fit the trie" {
    const long: [300]u8 = @splat('x');
    const made: TestTokens = try .init(&.{ "a", "a\x00", "a\x00\x00b", "aaaaaaaaa", "aaaaaaaab", "aaaaaaaa", &long, long[0..255], "\xff" });
    defer made.deinit();
    var diag: Diagnostic = .{};
    var trie = try ByteTrie.build(std.testing.allocator, &made.tokens, &diag);
    defer trie.deinit(std.testing.allocator);
    for (0..made.tokens.n) |token| {
        if (token == 6) continue;
        const node = trie.find(made.tokens.bytesOf(@intCast(token))).?;
        try std.testing.expectEqual(token, trie.nodes[node].token().?);
    }
    try std.testing.expectEqualSlices(u32, &.{6}, trie.long_tokens);
    try std.testing.expectEqual(300, trie.longest);
}

test "as many tokens as are numbered, and one more" {
    const gpa = std.testing.allocator;
    const offsets = try gpa.alloc(u64, tokens_max + 2);
    defer gpa.free(offsets);
    @memset(offsets[0..tokens_max], 0);
    @memset(offsets[tokens_max..], 1);
    for ([_]u32{ tokens_max, tokens_max + 1 }) |n_tokens| {
        var diag: Diagnostic = .{};
        const tokens: Tokens = .{ .n = n_tokens, .bytes = "a", .offsets = offsets[0 .. n_tokens + 1] };
        if (n_tokens > tokens_max) {
            try std.testing.expectError(error.Failed, ByteTrie.build(gpa, &tokens, &diag));
            try std.testing.expectEqualStrings("2097153 tokens are more than 2097152", diag.message());
            continue;
        }
        var trie = try ByteTrie.build(gpa, &tokens, &diag);
        defer trie.deinit(gpa);
        try std.testing.expectEqual(tokens_max - 1, trie.nodes[1].token());
    }
}

test "as many nodes as are numbered, and one more" {
    const gpa = std.testing.allocator;
    // Each text begins with two bytes of its own. There is a node for the empty text and for each start,
    // and one for each byte after a start.
    const n_texts = 1 << 16;
    const left = nodes_max - (1 + (1 << 8) + n_texts);
    var bytes: ArrayList(u8) = .empty;
    defer bytes.deinit(gpa);
    const offsets = try gpa.alloc(u64, n_texts + 1);
    defer gpa.free(offsets);
    for ([_]usize{ left, left + 1 }) |n| {
        bytes.clearRetainingCapacity();
        for (offsets[0..n_texts], 0..) |*offset, i| {
            offset.* = bytes.items.len;
            try bytes.appendSlice(gpa, &.{ @truncate(i >> 8), @truncate(i) });
            try bytes.appendNTimes(gpa, 'x', n / n_texts + @intFromBool(i < n % n_texts));
        }
        offsets[n_texts] = bytes.items.len;
        var diag: Diagnostic = .{};
        const tokens: Tokens = .{ .n = n_texts, .bytes = bytes.items, .offsets = offsets };
        if (n > left) {
            try std.testing.expectError(error.Failed, ByteTrie.build(gpa, &tokens, &diag));
            try std.testing.expectEqualStrings("the vocabulary needs more than 4194303 trie nodes", diag.message());
            continue;
        }
        var trie = try ByteTrie.build(gpa, &tokens, &diag);
        defer trie.deinit(gpa);
        try std.testing.expectEqual(nodes_max, trie.nodes.len);
        try std.testing.expectEqual(nodes_max, trie.nodes[0].subtree);
    }
}
