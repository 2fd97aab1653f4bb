//! A position in a grammar's text that knows its line and column, and the few tokens that both dialects share:
//! space, names, numbers.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Place = @import("../bnf.zig").Place;

/// Copyable: a copy reads on from where it is.
pub const Cursor = struct {
    /// Valid UTF-8 without zero bytes.
    text: []const u8,
    diag: *Diagnostic,
    at: usize = 0,
    line: u32 = 1,
    /// Where the line starts, plus its continuation bytes so far, so that columns count characters.
    line_start: usize = 0,

    /// 0 at the end: the text has no zero bytes.
    pub fn peek(c: *const Cursor) u8 {
        return if (c.at < c.text.len) c.text[c.at] else 0;
    }

    pub fn startsWith(c: *const Cursor, prefix: []const u8) bool {
        return std.mem.startsWith(u8, c.text[c.at..], prefix);
    }

    /// Reads `text`, if it is next. There is no line end in it, and nothing beyond ASCII.
    pub fn take(c: *Cursor, text: []const u8) bool {
        if (!c.startsWith(text)) return false;
        c.at += text.len;
        return true;
    }

    /// The next character, which is there.
    pub fn character(c: *Cursor) u21 {
        const length = std.unicode.utf8ByteSequenceLength(c.text[c.at]) catch unreachable;
        const value = std.unicode.utf8Decode(c.text[c.at..][0..length]) catch unreachable;
        c.at += length;
        if (value == '\n' or value == '\r' and c.peek() != '\n') {
            c.line += 1;
            c.line_start = c.at;
        } else c.line_start += length - 1;
        return value;
    }

    /// Skips blanks and comments, and line ends if `lines`.
    pub fn skipSpace(c: *Cursor, lines: bool) void {
        while (true) switch (c.peek()) {
            ' ', '\t' => c.at += 1,
            '\r', '\n' => if (lines) {
                _ = c.character();
            } else return,
            '#' => while (c.peek() != 0 and c.peek() != '\n' and c.peek() != '\r') : (c.at += 1) {
                c.line_start += @intFromBool(c.peek() & 0xc0 == 0x80);
            },
            else => return,
        };
    }

    /// As long a run of bytes as possible for which `in` holds, which are ASCII.
    pub fn run(c: *Cursor, comptime in: fn (u8) bool) []const u8 {
        const first = c.at;
        while (in(c.peek())) c.at += 1;
        return c.text[first..c.at];
    }

    /// A number of at most `most`.
    pub fn number(c: *Cursor, most: u32) diagnostic.Error!u32 {
        const place = c.here();
        const digits = c.run(std.ascii.isDigit);
        if (digits.len == 0) return c.expected("a number");
        const value = std.fmt.parseInt(u32, digits, 10) catch most +| 1;
        return if (value <= most) value else c.fail(place, "the number is more than {d}", .{most});
    }

    /// The place of the next character.
    pub fn here(c: *const Cursor) Place {
        return .{ .line = c.line, .column = @intCast(c.at - c.line_start + 1) };
    }

    /// ELIZA_ERR_GRAMMAR: something else comes next.
    pub fn expected(c: *const Cursor, what: []const u8) diagnostic.Error {
        return c.fail(c.here(), "expected {s}, found {f}", .{ what, c.next() });
    }

    /// What comes next, for messages.
    pub fn next(c: *const Cursor) Next {
        const length = if (c.at == c.text.len) 0 else std.unicode.utf8ByteSequenceLength(c.text[c.at]) catch unreachable;
        return .{ .text = c.text[c.at..][0..length] };
    }

    pub const Next = struct {
        text: []const u8,

        pub fn format(n: Next, writer: *std.Io.Writer) std.Io.Writer.Error!void {
            if (n.text.len == 0) return writer.writeAll("the end of the grammar");
            if (n.text[0] == '\n' or n.text[0] == '\r') return writer.writeAll("the end of the line");
            return quoted(n.text).format(writer);
        }
    };

    /// ELIZA_ERR_GRAMMAR with a message that begins with the place.
    pub fn fail(c: *const Cursor, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return c.diag.fail(.grammar, "{f}: " ++ format, .{place} ++ args);
    }

    /// The same with ELIZA_ERR_LIMIT.
    pub fn failLimit(c: *const Cursor, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return c.diag.fail(.limit, "{f}: " ++ format, .{place} ++ args);
    }
};
