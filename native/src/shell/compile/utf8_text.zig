//! Whether a text is UTF-8, and where it is not.

const std = @import("std");

/// Where the first byte is that is not UTF-8. Null: the text is valid.
pub fn firstInvalid(text: []const u8) ?usize {
    if (std.unicode.utf8ValidateSlice(text)) return null;
    var at: usize = 0;
    while (at < text.len) {
        const length = std.unicode.utf8ByteSequenceLength(text[at]) catch break;
        if (at + length > text.len or !std.unicode.utf8ValidateSlice(text[at..][0..length])) break;
        at += length;
    }
    return at;
}

/// The same, of a text that C reads up to the first zero byte: that is invalid, too.
pub fn firstUnreadable(text: []const u8) ?usize {
    const zero = std.mem.findScalar(u8, text, 0) orelse return firstInvalid(text);
    return firstInvalid(text[0..zero]) orelse zero;
}

test "a text is invalid from the first character on that is not whole" {
    for ([_]struct { []const u8, ?usize }{
        .{ "", null },
        .{ "a\u{e9}\u{20ac}\u{1f600}", null },
        .{ "\xff", 0 },
        .{ "\u{e9}\u{e9}\xff\u{e9}", 4 },
        .{ "ab\xe2\x82", 2 },
        .{ "a\xc0\x80", 1 },
        .{ "\xed\xa0\x80", 0 },
    }) |case| {
        try std.testing.expectEqual(case[1], firstInvalid(case[0]));
        try std.testing.expectEqual(case[1], firstUnreadable(case[0]));
    }
    try std.testing.expectEqual(1, firstUnreadable("a\x00\xff"));
    try std.testing.expectEqual(0, firstUnreadable("\xff\x00"));
    try std.testing.expectEqual(null, firstInvalid("a\x00"));
}
