//! Splits a text into the chunks of which `%regex` takes some that follow each other.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const ast = @import("../regex/ast.zig");
const unicode = @import("../regex/unicode.zig");

/// Appends the characters of the text, or its words: runs of word characters, of white space, and of all others. The chunks are
/// slices of the text.
pub fn split(arena: Allocator, text: []const u8, into_words: bool, chunks: *ArrayList([]const u8)) Allocator.Error!void {
    var words: ArrayList(ast.Range) = .empty;
    if (into_words) try unicode.appendWord(arena, &words);
    var start: usize = 0;
    var kind: Kind = .other;
    var at: usize = 0;
    while (at < text.len) {
        // JSON may escape half a surrogate pair, which is three bytes that no decoder takes.
        const length = std.unicode.utf8ByteSequenceLength(text[at]) catch 1;
        const end = @min(at + length, text.len);
        const character = std.unicode.utf8Decode(text[at..end]) catch std.unicode.replacement_character;
        const next = kindOf(words.items, character);
        if (at > start and (!into_words or next != kind)) {
            try chunks.append(arena, text[start..at]);
            start = at;
        }
        kind = next;
        at = end;
    }
    if (at > start) try chunks.append(arena, text[start..at]);
}

const Kind = enum { word, space, other };

fn kindOf(words: []const ast.Range, character: u21) Kind {
    const isBefore = struct {
        fn compare(wanted: u21, range: ast.Range) std.math.Order {
            return if (wanted < range.first) .lt else if (wanted > range.last) .gt else .eq;
        }
    }.compare;
    if (std.sort.binarySearch(ast.Range, words, character, isBefore) != null) return .word;
    return switch (character) {
        ' ', '\t'...'\r', 0x85, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 => .space,
        else => .other,
    };
}

test "characters and words" {
    var arena: @import("engine").arena.Arena = .init(std.testing.allocator);
    defer arena.deinit();
    for ([_]struct { bool, []const u8, []const []const u8 }{
        .{ false, "", &.{} },
        .{ true, "", &.{} },
        .{ false, "a\u{e9}\u{1f600}", &.{ "a", "\u{e9}", "\u{1f600}" } },
        .{ true, "\u{c9}t\u{e9} 12_a,  b.", &.{ "\u{c9}t\u{e9}", " ", "12_a", ",", "  ", "b", "." } },
    }) |case| {
        var chunks: ArrayList([]const u8) = .empty;
        try split(arena.allocator(), case[1], case[0], &chunks);
        try std.testing.expectEqual(case[2].len, chunks.items.len);
        for (case[2], chunks.items) |expected, chunk| try std.testing.expectEqualStrings(expected, chunk);
    }
}
