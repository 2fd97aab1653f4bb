//! What other dialects of regular expressions write, and what to write instead: such a pattern is an error, since it would
//! match other texts than its author means.

const std = @import("std");

/// What a POSIX class, such as `[:alpha:]`, is within a class: `text` begins with it. Null: it does not.
pub fn posixClass(text: []const u8) ?[]const u8 {
    if (!std.mem.startsWith(u8, text, "[:")) return null;
    const end = std.mem.findPos(u8, text, 2, ":]") orelse return null;
    for (posix_classes) |class| if (std.mem.eql(u8, class[0], text[2..end])) return class[1];
    return null;
}

const posix_classes = [_][2][]const u8{
    .{ "alpha", "A-Za-z" },     .{ "digit", "0-9" },              .{ "alnum", "A-Za-z0-9" },      .{ "upper", "A-Z" },
    .{ "lower", "a-z" },        .{ "space", "\\s" },              .{ "blank", " \\t" },           .{ "word", "\\w" },
    .{ "xdigit", "0-9A-Fa-f" }, .{ "punct", "!-\\/:-@\\[-`{-~" }, .{ "cntrl", "\\0-\\x1f\\x7f" }, .{ "graph", "!-~" },
    .{ "print", " -~" },
};

/// What to write for an escape that the dialect lacks. Null: nothing stands for it.
pub fn escape(letter: u21) ?[]const u8 {
    return switch (letter) {
        'A' => "^",
        'Z', 'z' => "$",
        'a' => "\\x07",
        'e' => "\\x1b",
        'h' => "[ \\t]",
        'N' => ".",
        'R' => "(?:\\r\\n|\\n|\\r)",
        'Q', 'E' => "each character with a backslash of its own",
        'U' => "\\u{H...}",
        else => null,
    };
}

/// Whether a class is meant to hold another one, as it can in Java, and in ECMAScript with the flag `v`: it holds a `[` and
/// more after it, and a `]` follows it.
pub fn isNested(inside: []const u8, after: []const u8) bool {
    if (after.len == 0 or after[0] != ']') return false;
    var at: usize = 0;
    while (at + 1 < inside.len) : (at += 1) switch (inside[at]) {
        '\\' => at += 1,
        '[' => return true,
        else => {},
    };
    return false;
}

pub const posix = "this is a POSIX class: write [{s}]";
pub const nested = "a class holds no other class: write '\\[' for the character, or (?!...) before the class to take characters out";
