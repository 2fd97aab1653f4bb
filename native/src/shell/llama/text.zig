//! Token bytes as text: whole characters of UTF-8. A token may hold part of a character; the incomplete rest
//! waits for the next token. Bytes that are not UTF-8, and the zero byte, which would end the text for a C
//! caller, become U+FFFD.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;

/// The bytes of a character that is not complete yet. Starts with none.
pub const Text = struct {
    held: [4]u8 = undefined,
    held_len: u3 = 0,

    /// What takes the place of a byte that is no text.
    pub const replacement = "\u{fffd}";

    /// Appends the characters that `bytes` completes.
    pub fn push(text: *Text, gpa: Allocator, out: *ArrayList(u8), bytes: []const u8) Allocator.Error!void {
        if (text.held_len == 0 and isPlain(bytes)) return out.appendSlice(gpa, bytes);
        try out.ensureUnusedCapacity(gpa, (bytes.len + 1) * replacement.len);
        for (bytes) |byte| text.pushByte(out, byte);
    }

    /// Ends the text: an incomplete character is replaced. `out` has room for the replacement.
    pub fn finish(text: *Text, out: *ArrayList(u8)) void {
        if (text.held_len > 0) text.replaceHeld(out);
    }

    fn pushByte(text: *Text, out: *ArrayList(u8), byte: u8) void {
        if (text.held_len > 0 and byte & 0xc0 != 0x80) text.replaceHeld(out);
        text.held[text.held_len] = byte;
        text.held_len += 1;
        const length = std.unicode.utf8ByteSequenceLength(text.held[0]) catch return text.replaceHeld(out);
        if (text.held_len < length) return;
        const character = text.held[0..length];
        if (!isPlain(character)) return text.replaceHeld(out);
        out.appendSliceAssumeCapacity(character);
        text.held_len = 0;
    }

    fn replaceHeld(text: *Text, out: *ArrayList(u8)) void {
        out.appendSliceAssumeCapacity(replacement);
        text.held_len = 0;
    }
};

/// The length of the longest prefix of whole characters that fits in `room` bytes.
pub fn fitting(text: []const u8, room: usize) usize {
    if (text.len <= room) return text.len;
    var length = room;
    while (length > 0 and text[length] & 0xc0 == 0x80) length -= 1;
    return length;
}

fn isPlain(bytes: []const u8) bool {
    return std.mem.findScalar(u8, bytes, 0) == null and std.unicode.utf8ValidateSlice(bytes);
}

fn expectText(expected: []const u8, pieces: []const []const u8, finished: bool) !void {
    const gpa = std.testing.allocator;
    var out: ArrayList(u8) = .empty;
    defer out.deinit(gpa);
    var text: Text = .{};
    for (pieces) |piece| try text.push(gpa, &out, piece);
    try out.ensureUnusedCapacity(gpa, Text.replacement.len);
    if (finished) text.finish(&out);
    try std.testing.expectEqualStrings(expected, out.items);
}

test "a character that is cut between tokens comes whole" {
    try expectText("a\u{20ac}b", &.{ "a\xe2", "\x82", "\xacb" }, false);
    try expectText("a", &.{ "a\xf0\x9f", "\x98" }, false);
    try expectText("a\u{1f600}", &.{ "a\xf0\x9f", "\x98\x80" }, true);
}

test "what is not UTF-8 is replaced" {
    try expectText("a\u{fffd}", &.{"a\xe2"}, true);
    try expectText("\u{fffd}b", &.{ "\xe2\x82", "b" }, false);
    try expectText("\u{fffd}b", &.{ "\xe2", "b" }, false);
    try expectText("\u{fffd}\u{fffd}x", &.{"\xff\x80x"}, false);
    try expectText("\u{fffd}", &.{"\xed\xa0\x80"}, false);
    try expectText("a\u{fffd}b", &.{"a\x00b"}, false);
}

test "text is cut at characters" {
    try std.testing.expectEqual(3, fitting("abc", 3));
    try std.testing.expectEqual(1, fitting("a\u{20ac}", 3));
    try std.testing.expectEqual(4, fitting("a\u{20ac}b", 4));
    try std.testing.expectEqual(0, fitting("\u{1f600}", 3));
}
