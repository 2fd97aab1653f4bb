//! What each token does inside a JSON string: a *plain* one is text that stands for itself, and any other is plain
//! text and then a tail, which begins with a quote, a backslash, or bytes of an unfinished character. Tokens with
//! one tail are legal together where any text may stand, so that only the tails, some hundreds, are tried.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const bitmap = @import("../base/bitmap.zig");
const Tokens = @import("tokens.zig").Tokens;
const ByteTrie = @import("byte_trie.zig").ByteTrie;

pub const StringIndex = struct {
    arena: Arena,
    plain: bitmap.Words,
    n_plain: u32,
    /// Characters of the longest plain token, or plain part of one.
    longest: u32,
    /// The different tails, as the tokens of a trie.
    tails: Tokens,
    trie: ByteTrie,
    /// The tokens with tail i are `members[starts[i]..starts[i + 1]]`, ascending.
    members: []const i32,
    starts: []const u32,

    pub fn build(gpa: Allocator, tokens: *const Tokens, diag: *Diagnostic) diagnostic.Error!StringIndex {
        return tryBuild(gpa, tokens, diag) catch |e| switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Failed => error.Failed,
        };
    }

    pub fn deinit(index: *StringIndex) void {
        index.arena.deinit();
    }

    const Tailed = struct { tail: []const u8, token: i32 };

    fn tryBuild(gpa: Allocator, tokens: *const Tokens, diag: *Diagnostic) (Allocator.Error || diagnostic.Error)!StringIndex {
        var arena_state: Arena = .init(gpa);
        errdefer arena_state.deinit();
        const arena = arena_state.allocator();
        const plain = try bitmap.alloc(arena, bitmap.wordsFor(tokens.n));
        bitmap.clear(plain);
        var tailed: ArrayList(Tailed) = .empty;
        var longest: u32 = 0;
        for (0..tokens.n) |token| {
            if (!tokens.isText(@intCast(token))) continue;
            const text = tokens.bytesOf(@intCast(token));
            const n_plain = plainStart(text);
            longest = @max(longest, nCharacters(text[0..n_plain]));
            if (n_plain == text.len) {
                bitmap.set(plain, @intCast(token));
            } else if (text[n_plain] >= 0x20) try tailed.append(arena, .{ .tail = text[n_plain..], .token = @intCast(token) });
        }
        std.sort.heap(Tailed, tailed.items, {}, isBefore);
        const members = try arena.alloc(i32, tailed.items.len);
        var starts: ArrayList(u32) = .empty;
        var bytes: ArrayList(u8) = .empty;
        var offsets: ArrayList(u64) = .empty;
        for (tailed.items, members, 0..) |one, *member, i| {
            member.* = one.token;
            if (i > 0 and std.mem.eql(u8, one.tail, tailed.items[i - 1].tail)) continue;
            try starts.append(arena, @intCast(i));
            try offsets.append(arena, bytes.items.len);
            try bytes.appendSlice(arena, one.tail);
        }
        try starts.append(arena, @intCast(tailed.items.len));
        try offsets.append(arena, bytes.items.len);
        const tails: Tokens = .{ .n = @intCast(starts.items.len - 1), .bytes = bytes.items, .offsets = offsets.items };
        return .{
            .plain = plain,
            .n_plain = bitmap.count(plain),
            .longest = longest,
            .tails = tails,
            .trie = try .build(arena, &tails, diag),
            .members = members,
            .starts = starts.items,
            .arena = arena_state,
        };
    }

    fn isBefore(_: void, a: Tailed, b: Tailed) bool {
        return switch (std.mem.order(u8, a.tail, b.tail)) {
            .lt => true,
            .gt => false,
            .eq => a.token < b.token,
        };
    }
};

/// The bytes of whole characters that stand for themselves in a JSON string.
fn plainStart(text: []const u8) usize {
    var at: usize = 0;
    while (at < text.len) {
        const byte = text[at];
        if (byte < 0x20 or byte == '"' or byte == '\\') return at;
        const n = std.unicode.utf8ByteSequenceLength(byte) catch return at;
        if (at + n > text.len or !std.unicode.utf8ValidateSlice(text[at..][0..n])) return at;
        at += n;
    }
    return at;
}

fn nCharacters(utf8: []const u8) u32 {
    var n: u32 = 0;
    for (utf8) |byte| n += @intFromBool(byte & 0xc0 != 0x80);
    return n;
}

test "plain tokens, and others by their tails" {
    const texts = [_][]const u8{ "ab", "a\"", "\"", "b\",", "\\", "\n", "\xc3", "x\xc3", "\xa9", "\u{e9}", "q\"" };
    var bytes: [64]u8 = undefined;
    var offsets: [texts.len + 1]u64 = undefined;
    var n: usize = 0;
    for (texts, 0..) |text, i| {
        offsets[i] = n;
        @memcpy(bytes[n..][0..text.len], text);
        n += text.len;
    }
    offsets[texts.len] = n;
    var diag: Diagnostic = .{};
    const tokens: Tokens = .{ .n = texts.len, .bytes = bytes[0..n], .offsets = &offsets };
    var index: StringIndex = try .build(std.testing.allocator, &tokens, &diag);
    defer index.deinit();
    try std.testing.expectEqual(2, index.n_plain);
    try std.testing.expect(bitmap.has(index.plain, 0) and bitmap.has(index.plain, 9));
    try std.testing.expectEqual(5, index.tails.n);
    try std.testing.expectEqualStrings("\"", index.tails.bytesOf(0));
    try std.testing.expectEqualSlices(i32, &.{ 1, 2, 10 }, index.members[index.starts[0]..index.starts[1]]);
    try std.testing.expectEqual(2, index.longest);
}
