//! Literals and character classes, with the escapes of both dialects, as trees of regular expressions.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Budget = @import("engine").budget.Budget;
const Place = @import("../bnf.zig").Place;
const ast = @import("../regex/ast.zig");
const CharacterSet = @import("../regex/character_set.zig").CharacterSet;
const unicode = @import("../regex/unicode.zig");
const dialects = @import("../regex/dialects.zig");
const Cursor = @import("cursor.zig").Cursor;

const Error = Allocator.Error || diagnostic.Error;

/// llama.cpp's notation, and XGrammar's.
pub const Dialect = enum { gbnf, ebnf };

/// What the escapes of one text are read with.
pub const Characters = struct {
    arena: Allocator,
    cursor: *Cursor,
    budget: *const Budget,
    dialect: Dialect,
    n_read: u32 = 0,

    /// A literal, with its quotes. Lives in the arena.
    pub fn literal(c: *Characters) Error!*const ast.Node {
        const text = try c.string();
        return if (text.len == 0) ast.empty else ast.create(c.arena, .{ .bytes = text });
    }

    /// The text that a literal stands for.
    pub fn string(c: *Characters) Error![]const u8 {
        const open = c.cursor.here();
        _ = c.cursor.take("\"");
        var out: ArrayList(u8) = .empty;
        while (!c.cursor.take("\"")) {
            const place = c.cursor.here();
            const value = try c.next(open, "literal", false);
            var buffer: [4]u8 = undefined;
            const length = if (c.isOfTexts(value)) std.unicode.utf8Encode(@intCast(value), &buffer) catch 0 else 0;
            if (length == 0) return c.cursor.fail(place, "no text has the character U+{s}", .{&hex(value)});
            try out.appendSlice(c.arena, buffer[0..length]);
        }
        return out.items;
    }

    /// A class, with its brackets.
    pub fn class(c: *Characters) Error!*const ast.Node {
        const open = c.cursor.here();
        if (dialects.posixClass(c.cursor.text[c.cursor.at..])) |instead| return c.cursor.fail(open, dialects.posix, .{instead});
        _ = c.cursor.take("[");
        const negated = c.cursor.take("^");
        if (c.cursor.peek() == ']' and !(negated and c.dialect == .ebnf)) {
            return c.cursor.fail(open, "an empty class: any character is written {s}, the empty text \"\"", .{
                @as([]const u8, if (c.dialect == .gbnf) "." else "[^]"),
            });
        }
        var set: CharacterSet = .{};
        const first = c.cursor.at;
        while (!c.cursor.take("]")) {
            if (dialects.posixClass(c.cursor.text[c.cursor.at..])) |instead| return c.cursor.fail(open, dialects.posix, .{instead});
            try c.range(&set, open);
        }
        const inside = c.cursor.text[first .. c.cursor.at - 1];
        if (dialects.isNested(inside, c.cursor.text[c.cursor.at..])) return c.cursor.fail(open, "a class holds no other class", .{});
        set.normalise();
        if (negated) try set.negate(c.arena);
        return ast.create(c.arena, .{ .class = if (c.isOfTexts(0)) set.ranges.items else withoutZero(set.ranges.items) });
    }

    /// What `.` is in GBNF.
    pub fn any(_: *const Characters) *const ast.Node {
        return &any_but_zero;
    }

    const any_but_zero: ast.Node = .{ .class = &.{.{ .first = 1, .last = unicode.last_code_point }} };

    fn range(c: *Characters, set: *CharacterSet, open: Place) Error!void {
        const place = c.cursor.here();
        const first = try c.next(open, "class", true);
        var last = first;
        if (c.cursor.startsWith("-") and !c.cursor.startsWith("-]")) {
            _ = c.cursor.take("-");
            last = try c.next(open, "class", true);
        }
        if (last < first) return c.cursor.fail(place, "the range ends before it begins", .{});
        // What is beyond Unicode is in no text.
        if (first <= unicode.last_code_point) try set.add(c.arena, @intCast(first), @intCast(@min(last, unicode.last_code_point)));
    }

    fn withoutZero(ranges: []ast.Range) []ast.Range {
        if (ranges.len == 0 or ranges[0].first > 0) return ranges;
        if (ranges[0].last == 0) return ranges[1..];
        ranges[0].first = 1;
        return ranges;
    }

    /// llama.cpp ends a token's text at a zero.
    fn isOfTexts(c: *const Characters, value: u32) bool {
        return value <= unicode.last_code_point and (value > 0 or c.dialect == .ebnf);
    }

    /// A character or an escape, within what began at `open`.
    fn next(c: *Characters, open: Place, what: []const u8, in_class: bool) diagnostic.Error!u32 {
        c.n_read += 1;
        if (c.n_read % 1024 == 0) try c.budget.check("the grammar", c.cursor.diag);
        switch (c.cursor.peek()) {
            0 => {},
            '\n', '\r' => if (c.dialect == .gbnf) return c.cursor.character(),
            '\\' => {
                const place = c.cursor.here();
                _ = c.cursor.take("\\");
                return c.escape(in_class) orelse c.cursor.fail(
                    place,
                    "the {s} has no such escape (a backslash is written \\\\)",
                    .{what},
                );
            },
            else => return c.cursor.character(),
        }
        return c.cursor.fail(open, "the {s} is not closed", .{what});
    }

    /// What comes after a backslash; null: no escape.
    fn escape(c: *Characters, in_class: bool) ?u32 {
        const letter = c.cursor.peek();
        switch (letter) {
            'x' => return c.hexadecimal(2),
            'u' => return c.hexadecimal(4),
            'U' => return c.hexadecimal(8),
            else => {},
        }
        const value: u32 = switch (letter) {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\\', '"' => letter,
            '[', ']', '-' => if (c.dialect == .gbnf or in_class) letter else return null,
            else => if (c.dialect == .ebnf) ebnfEscape(letter, in_class) orelse return null else return null,
        };
        c.cursor.at += 1;
        return value;
    }

    fn ebnfEscape(letter: u8, in_class: bool) ?u32 {
        return switch (letter) {
            '/', '\'', '?' => letter,
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0c,
            'v' => 0x0b,
            'e' => 0x1b,
            '0' => 0,
            '^', '$', '.', '*', '+', '(', ')', '{', '}', '|' => if (in_class) letter else null,
            else => null,
        };
    }

    /// A letter and its digits. In EBNF any number of them may follow an `x`.
    fn hexadecimal(c: *Characters, n_digits: usize) ?u32 {
        var ahead = c.cursor.*;
        ahead.at += 1;
        const found = ahead.run(std.ascii.isHex);
        const is_free = n_digits == 2 and c.dialect == .ebnf;
        if (found.len < if (is_free) 1 else n_digits) return null;
        const digits = if (is_free) found else found[0..n_digits];
        c.cursor.at += 1 + digits.len;
        return std.fmt.parseInt(u32, digits, 16) catch std.math.maxInt(u32);
    }
};

fn hex(value: u32) [8]u8 {
    var digits: [8]u8 = undefined;
    for (&digits, 0..) |*digit, i| digit.* = "0123456789ABCDEF"[@intCast(value >> @intCast(28 - 4 * i) & 15)];
    return digits;
}
