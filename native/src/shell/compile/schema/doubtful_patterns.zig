//! What a pattern may say, and seldom means: a warning each, once for each pattern.

const std = @import("std");

pub const Doubt = struct { at: usize, reason: []const u8 };

/// Goes through a pattern that is valid.
pub const Doubts = struct {
    text: []const u8,
    at: usize = 0,
    found: std.EnumSet(Kind) = .empty,

    const Kind = enum { slashes, brace, bracket, backspace, word_edge, operator };

    pub fn next(d: *Doubts) ?Doubt {
        while (d.at < d.text.len) {
            const at = d.at;
            const kind = d.step() orelse continue;
            if (d.found.contains(kind)) continue;
            d.found.insert(kind);
            return .{ .at = at, .reason = switch (kind) {
                .slashes => "a pattern has no slashes around it: these are characters, and an anchor beside them never matches",
                .brace => "this '{' begins no repeat and is a character: write '\\{'",
                .bracket => "this ']' closes no class and is a character: write '\\]'",
                .backspace => "this is the character backspace: in JSON, \\b is written \\\\b",
                .word_edge => "this is the character after the backslash: the edge of a word is \\b",
                .operator => "within a class '&&' is two characters: to take characters out, write (?!...) before the class",
            } };
        }
        return null;
    }

    /// What is doubtful at the next place.
    fn step(d: *Doubts) ?Kind {
        const rest = d.text[d.at..];
        d.at += 1;
        switch (rest[0]) {
            '/' => if (d.at == 1 and std.mem.startsWith(u8, rest, "/^")) return .slashes,
            '$' => if (d.at + 1 == d.text.len and rest[1] == '/') return .slashes,
            0x08 => return .backspace,
            ']' => return .bracket,
            '[' => return d.class(),
            '\\' => return d.escape(),
            '{' => {
                const length = repeatLength(rest) orelse return .brace;
                d.at += length - 1;
            },
            else => {},
        }
        return null;
    }

    fn escape(d: *Doubts) ?Kind {
        const letter = d.text[d.at];
        d.at += 1;
        switch (letter) {
            '<', '>' => return .word_edge,
            'p', 'P', 'u' => if (d.at < d.text.len and d.text[d.at] == '{') {
                d.at = (std.mem.findScalarPos(u8, d.text, d.at, '}') orelse d.text.len - 1) + 1;
            },
            else => {},
        }
        return null;
    }

    fn class(d: *Doubts) ?Kind {
        var kind: ?Kind = null;
        while (d.text[d.at] != ']') : (d.at += 1) switch (d.text[d.at]) {
            '\\' => d.at += 1,
            '&' => if (d.text[d.at + 1] == '&') {
                kind = .operator;
            },
            else => {},
        };
        d.at += 1;
        return kind;
    }

    /// Of `{n}`, `{n,}` or `{n,m}`.
    fn repeatLength(text: []const u8) ?usize {
        const end = std.mem.findScalar(u8, text, '}') orelse return null;
        const inside = text[1..end];
        const comma = std.mem.findScalar(u8, inside, ',') orelse inside.len;
        if (comma == 0) return null;
        for (inside, 0..) |byte, i| if (i != comma and !std.ascii.isDigit(byte)) return null;
        return end + 1;
    }
};

test "what is doubtful in a pattern is told once, and where" {
    for ([_]struct { []const u8, ?usize }{
        .{ "^a{2}b{3,}c{4,5}[[{\\]{}]\\{\\]\\u{41}\\p{L}$", null },
        .{ "{model}", 0 },
        .{ "a{b}{c}", 1 },
        .{ "\\[a]", 3 },
        .{ "/^a$/", 0 },
        .{ "a$/", 1 },
        .{ "/api/", null },
        .{ "a\x08", 1 },
        .{ "a\\<b\\>", 1 },
        .{ "[a&&b]", 0 },
        .{ "{", 0 },
    }) |case| {
        var doubts: Doubts = .{ .text = case[0] };
        const first = doubts.next();
        try std.testing.expectEqual(case[1], if (first) |doubt| doubt.at else null);
    }
}
