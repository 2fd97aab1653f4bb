//! The text that ends a part, and the tokens in which it can lie.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const sort = @import("../base/sort.zig").sort;
const Symbol = @import("symbols.zig").Symbol;

/// Longer ones, in bytes and tokens, are refused.
pub const end_bytes_max = 127;

/// How much of an end text has been read: bit i says that its first i symbols were, from a place on where the part may
/// stop ("A new approach to text searching", R. Baeza-Yates and G. Gonnet, 1992). Bit 0 is never set: whether the part
/// may stop is only asked where the first symbol follows.
pub const Progress = u128;

/// Lists are made when they are needed, and stay. Whoever asks has a lock.
pub const EndText = struct {
    /// Owned.
    text: []const Symbol,
    /// [symbols read]: the tokens in which the text can continue from there and, of 0, begin anywhere. In the order of
    /// their bytes. None: not yet made.
    crossing: []?[]const u32,

    /// Copies the text.
    pub fn init(gpa: Allocator, text: []const Symbol) Allocator.Error!EndText {
        const copy = try gpa.dupe(Symbol, text);
        errdefer gpa.free(copy);
        const crossing = try gpa.alloc(?[]const u32, text.len);
        @memset(crossing, null);
        return .{ .text = copy, .crossing = crossing };
    }

    pub fn deinit(e: *EndText, gpa: Allocator) void {
        for (e.crossing) |list| if (list) |tokens| gpa.free(tokens);
        gpa.free(e.crossing);
        gpa.free(e.text);
        e.* = undefined;
    }

    /// What is read after another symbol, without what begins with it.
    pub fn after(e: *const EndText, read: Progress, symbol: Symbol) Progress {
        var rest = read;
        var result: Progress = 0;
        while (rest != 0) : (rest &= rest - 1) {
            const n: u7 = @intCast(@ctz(rest));
            if (e.text[n] == symbol) result |= @as(Progress, 2) << n;
        }
        return result;
    }

    /// Whether all of it has been read.
    pub fn isRead(e: *const EndText, read: Progress) bool {
        return read >> @intCast(e.text.len) & 1 != 0;
    }

    /// The tokens of `crossing`. Lent as long as this lives.
    pub fn tokensFrom(e: *EndText, gpa: Allocator, tokens: *const Tokens, n_read: usize) Allocator.Error![]const u32 {
        if (e.crossing[n_read]) |list| return list;
        var found: ArrayList(u32) = .empty;
        defer found.deinit(gpa);
        for (0..tokens.n) |i| {
            const token: u32 = @intCast(i);
            if (tokens.isText(token) and e.canLieIn(tokens.bytesOf(token), n_read)) try found.append(gpa, token);
        }
        const list = try found.toOwnedSlice(gpa);
        sort(u32, list, tokens, isBefore);
        e.crossing[n_read] = list;
        return list;
    }

    fn canLieIn(e: *const EndText, bytes: []const u8, n_read: usize) bool {
        if (n_read > 0) return agree(bytes, e.text[n_read..]);
        const first = e.firstByte() orelse return false;
        var from: usize = 0;
        while (std.mem.findScalarPos(u8, bytes, from, first)) |at| : (from = at + 1) {
            if (agree(bytes[at..], e.text)) return true;
        }
        return false;
    }

    /// Null: a token is first, or nothing.
    pub fn firstByte(e: *const EndText) ?u8 {
        return if (e.text.len > 0 and e.text[0] < 256) @intCast(e.text[0]) else null;
    }

    /// Up to the end of one of them. No byte is a token.
    fn agree(bytes: []const u8, text: []const Symbol) bool {
        const n = @min(bytes.len, text.len);
        for (bytes[0..n], text[0..n]) |byte, symbol| if (byte != symbol) return false;
        return true;
    }

    fn isBefore(tokens: *const Tokens, a: u32, b: u32) bool {
        return switch (std.mem.order(u8, tokens.bytesOf(a), tokens.bytesOf(b))) {
            .lt => true,
            .gt => false,
            .eq => a < b,
        };
    }
};

test "an end text is read along all places where it may have begun" {
    const gpa = std.testing.allocator;
    var end: EndText = try .init(gpa, &.{ 'a', 'a', 'b' });
    defer end.deinit(gpa);
    var read: Progress = 0;
    for ("aaa") |byte| read = end.after(read, byte) | 2;
    try std.testing.expectEqual(0b110, read);
    try std.testing.expect(!end.isRead(read));
    read = end.after(read, 'b');
    try std.testing.expect(end.isRead(read));
}

test "the tokens in which an end text can lie" {
    const gpa = std.testing.allocator;
    var end: EndText = try .init(gpa, &.{ '<', '/', 't', '>' });
    defer end.deinit(gpa);
    //       0   1   2    3     4      5        6  7     8
    const texts = [_][]const u8{ "<", "a", "/t", "x</", "<<", "a</t>b", ">", "</a", "/" };
    var offsets: [texts.len + 1]u64 = undefined;
    offsets[0] = 0;
    for (texts, 0..) |text, i| offsets[i + 1] = offsets[i] + text.len;
    const bytes = "<" ++ "a" ++ "/t" ++ "x</" ++ "<<" ++ "a</t>b" ++ ">" ++ "</a" ++ "/";
    const tokens: Tokens = .{ .n = texts.len, .bytes = bytes, .offsets = &offsets };
    for (0..2) |_| {
        try std.testing.expectEqualSlices(u32, &.{ 0, 4, 5, 3 }, try end.tokensFrom(gpa, &tokens, 0));
        try std.testing.expectEqualSlices(u32, &.{ 8, 2 }, try end.tokensFrom(gpa, &tokens, 1));
        try std.testing.expectEqualSlices(u32, &.{6}, try end.tokensFrom(gpa, &tokens, 3));
    }
}
