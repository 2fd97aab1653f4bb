//! The notation's scanner: tokens one after the other, in one pass over the text.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Place = @import("../bnf.zig").Place;
const Import = @import("../bnf.zig").Import;

/// The kind of a token.
pub const Tag = enum {
    /// Of the text; repeated for ever.
    end,
    /// One or more of them, unless inside brackets or before `|` or `&`.
    newline,
    /// A name in lower case.
    rule,
    /// A name in upper case.
    terminal,
    /// With its quotes and, after them, `i`.
    string,
    /// With its slashes and the letters after them.
    regex,
    /// `<name>` or `<[numbers]>`.
    token,
    /// `@name`.
    part,
    /// Digits alone.
    number,
    /// `%` and a word.
    directive,
    colon,
    /// `::`, before the value of a parametric rule.
    double_colon,
    equals,
    bar,
    ampersand,
    left_parenthesis,
    right_parenthesis,
    left_bracket,
    right_bracket,
    left_brace,
    right_brace,
    comma,
    dot,
    dots,
    arrow,
    minus,
    plus,
    star,
    question,
    bang,
    /// `~` before a number.
    times,
    /// `~` before anything else.
    not,
};

/// `text` is a slice of the grammar's text.
pub const Token = struct {
    tag: Tag,
    text: []const u8,
    place: Place,

    /// As messages show it.
    pub fn format(token: Token, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        switch (token.tag) {
            .end => try writer.writeAll("the end of the grammar"),
            .newline => try writer.writeAll("the end of the line"),
            .string, .regex => try writer.writeAll(token.text),
            else => try quoted(token.text).format(writer),
        }
    }
};

/// The letters that may follow a regex in Lark.
const regex_flags = "imslux";

/// Copyable: a copy scans on from where it is.
pub const Scanner = struct {
    /// Valid UTF-8 without zero bytes.
    text: []const u8,
    /// If it is imported.
    within: ?*const Import = null,
    diag: *Diagnostic,
    at: usize = 0,
    line: u32 = 1,
    /// Where the line starts, plus its continuation bytes so far, so that columns count characters.
    line_start: usize = 0,
    /// Open parentheses, brackets and braces. The parser limits them.
    depth: usize = 0,

    /// The next token. ELIZA_ERR_GRAMMAR: a string, regex or name that is malformed, or a character that begins no token.
    pub fn next(s: *Scanner) diagnostic.Error!Token {
        const line_end = s.here();
        const text = s.text[s.at..s.at];
        const has_ended = s.skipBlank();
        const goes_on = s.depth > 0 or s.byteAt(0) == '|' or s.byteAt(0) == '&';
        if (has_ended and !goes_on) return .{ .tag = .newline, .text = text, .place = line_end };
        const start = s.at;
        const place = s.here();
        const tag = try s.scan(place);
        return .{ .tag = tag, .text = s.text[start..s.at], .place = place };
    }

    /// ELIZA_ERR_GRAMMAR with a message that begins with the place.
    pub fn fail(s: *const Scanner, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return s.diag.fail(.grammar, "{f}: " ++ format, .{place} ++ args);
    }

    /// The place of the next byte.
    fn here(s: *const Scanner) Place {
        return .{ .line = s.line, .column = @intCast(s.at - s.line_start + 1), .within = s.within };
    }

    /// 0 beyond the end: the text has no zero bytes.
    fn byteAt(s: *const Scanner, ahead: usize) u8 {
        return if (ahead < s.text.len - s.at) s.text[s.at + ahead] else 0;
    }

    /// Skips white space, comments, and line ends after a backslash. Returns whether a line ended.
    fn skipBlank(s: *Scanner) bool {
        var ended = false;
        while (true) switch (s.byteAt(0)) {
            ' ', '\t', '\r', 0x0c => s.at += 1,
            '\n' => {
                ended = true;
                s.endLine();
            },
            '#' => s.skipLine(),
            '/' => if (s.byteAt(1) == '/') s.skipLine() else return ended,
            '\\' => {
                const rest = std.mem.trimStart(u8, s.text[s.at + 1 ..], " \t\r");
                if (rest.len == 0 or rest[0] != '\n') return ended;
                s.at = s.text.len - rest.len;
                s.endLine();
            },
            else => return ended,
        };
    }

    fn endLine(s: *Scanner) void {
        s.at += 1;
        s.line += 1;
        s.line_start = s.at;
    }

    fn skipLine(s: *Scanner) void {
        s.at = std.mem.findScalarPos(u8, s.text, s.at, '\n') orelse s.text.len;
        // No token follows on this line, so its columns need not be kept.
    }

    fn scan(s: *Scanner, place: Place) diagnostic.Error!Tag {
        const first = s.byteAt(0);
        switch (first) {
            0 => return .end,
            '"' => return s.scanString(place),
            '/' => return s.scanRegex(place),
            '<' => return s.scanToken(place),
            '@' => {
                s.at += 1;
                const start = s.at;
                while (isNameByte(s.byteAt(0)) or s.byteAt(0) == '-') s.at += 1;
                return if (s.at > start) .part else s.fail(place, "a name must follow the \"@\"", .{});
            },
            '_', 'a'...'z', 'A'...'Z' => return s.scanName(place),
            '0'...'9' => {
                s.skipWhile(std.ascii.isAlphanumeric); // 0x1f
                return .number;
            },
            '%' => {
                s.at += 1;
                s.skipWhile(isNameByte);
                return .directive;
            },
            '(', '[', '{' => s.depth += 1,
            ')', ']', '}' => s.depth -|= 1,
            else => {},
        }
        const two: ?Tag = switch (first) {
            '.' => if (s.byteAt(1) == '.') .dots else null,
            '-' => if (s.byteAt(1) == '>') .arrow else null,
            ':' => if (s.byteAt(1) == ':' and s.byteAt(2) != '=') .double_colon else null,
            else => null,
        };
        if (two) |tag| {
            s.at += 2;
            return tag;
        }
        const tag: Tag = switch (first) {
            ':' => if (std.mem.startsWith(u8, s.text[s.at..], "::="))
                return s.fail(place, "a rule is written \"name: ...\"; ::= is of other notations", .{})
            else
                .colon,
            '|' => .bar,
            '&' => .ampersand,
            '(' => .left_parenthesis,
            ')' => .right_parenthesis,
            '[' => .left_bracket,
            ']' => .right_bracket,
            '{' => .left_brace,
            '}' => .right_brace,
            '=' => .equals,
            ',' => .comma,
            '.' => .dot,
            '-' => .minus,
            '+' => .plus,
            '*' => .star,
            '?' => .question,
            '!' => .bang,
            '~' => if (s.isBeforeNumber()) .times else .not,
            '\'' => return s.fail(place, "a string is written in double quotes", .{}),
            else => {
                const length = std.unicode.utf8ByteSequenceLength(first) catch 1;
                return s.fail(place, "{f} means nothing here", .{quoted(s.text[s.at..][0..length])});
            },
        };
        s.at += 1;
        return tag;
    }

    /// Reads on to the end of what is in braces, of which the first was the last token: JSON, but not checked. Returns it,
    /// with its braces.
    pub fn braces(s: *Scanner, open: Token) diagnostic.Error![]const u8 {
        const start = @intFromPtr(open.text.ptr) - @intFromPtr(s.text.ptr);
        const depth = s.depth;
        var in_string = false;
        while (s.at < s.text.len) {
            const byte = s.text[s.at];
            if (byte == '\n') {
                s.endLine();
                continue;
            }
            s.step(byte);
            if (in_string and byte == '\\') {
                if (s.byteAt(0) != '\n') s.step(s.byteAt(0));
            } else if (byte == '"') {
                in_string = !in_string;
            } else if (!in_string and byte == '{') {
                s.depth += 1;
            } else if (!in_string and byte == '}') {
                s.depth -= 1;
                if (s.depth < depth) return s.text[start..s.at];
            }
        }
        return s.fail(open.place, "the braces are not closed", .{});
    }

    /// Whether a number follows the current byte.
    fn isBeforeNumber(s: *const Scanner) bool {
        var ahead = s.*;
        ahead.at += 1;
        _ = ahead.skipBlank();
        return isDigit(ahead.byteAt(0));
    }

    fn skipWhile(s: *Scanner, comptime in: fn (u8) bool) void {
        while (in(s.byteAt(0))) s.at += 1;
    }

    fn isDigit(byte: u8) bool {
        return byte >= '0' and byte <= '9';
    }

    fn isNameByte(byte: u8) bool {
        return byte == '_' or std.ascii.isAlphanumeric(byte);
    }

    fn scanName(s: *Scanner, place: Place) diagnostic.Error!Tag {
        const start = s.at;
        s.skipWhile(isNameByte);
        while (s.byteAt(0) == '-' and isNameByte(s.byteAt(1))) {
            s.at += 1;
            s.skipWhile(isNameByte);
        }
        if (s.at == start + 1 and s.text[start] == '_') return .rule; // the value of a parametric rule
        var lower = false;
        var upper = false;
        for (s.text[start..s.at]) |byte| {
            lower = lower or std.ascii.isLower(byte);
            upper = upper or std.ascii.isUpper(byte);
        }
        if (lower == upper) {
            return s.fail(place, "{f} is no name: rules are lower case, terminals upper case", .{quoted(s.text[start..s.at])});
        }
        return if (lower) .rule else .terminal;
    }

    fn scanString(s: *Scanner, place: Place) diagnostic.Error!Tag {
        s.at += 1;
        while (s.at < s.text.len) {
            const byte = s.text[s.at];
            s.step(byte);
            switch (byte) {
                '"' => {
                    if (s.byteAt(0) == 'i') s.at += 1;
                    return .string;
                },
                '\n' => break,
                '\\' => if (s.byteAt(0) != '\n') s.step(s.byteAt(0)),
                else => {},
            }
        }
        return s.fail(place, "the string is not closed on its line", .{});
    }

    fn scanRegex(s: *Scanner, place: Place) diagnostic.Error!Tag {
        s.at += 1;
        const first_line = s.line;
        while (s.at < s.text.len) {
            const byte = s.text[s.at];
            s.step(byte);
            switch (byte) {
                '/' => {
                    const flags = s.at;
                    while (s.byteAt(0) != 0 and std.mem.findScalar(u8, regex_flags, s.byteAt(0)) != null) s.at += 1;
                    if (s.line == first_line or std.mem.findScalar(u8, s.text[flags..s.at], 'x') != null) return .regex;
                    return s.fail(place, "the regex is not closed on its line, and only with the flag x may it have several", .{});
                },
                '\n' => {
                    s.line += 1;
                    s.line_start = s.at;
                },
                '\\' => if (s.byteAt(0) != '\n') s.step(s.byteAt(0)),
                else => {},
            }
        }
        return s.fail(place, "the regex is not closed", .{});
    }

    fn scanToken(s: *Scanner, place: Place) diagnostic.Error!Tag {
        const end: []const u8 = if (s.byteAt(1) == '[') "]>" else ">";
        const rest = s.text[s.at..];
        const length = std.mem.find(u8, rest, end) orelse rest.len;
        const line_end = std.mem.findScalar(u8, rest, '\n') orelse rest.len;
        if (length > line_end or length == rest.len) return s.fail(place, "the token is not closed by \"{s}\" on its line", .{end});
        for (0..length + end.len) |_| s.step(s.byteAt(0));
        return .token;
    }

    /// Moves past one byte, and keeps columns in characters.
    fn step(s: *Scanner, byte: u8) void {
        if (s.at == s.text.len) return;
        s.at += 1;
        if (byte & 0xc0 == 0x80) s.line_start += 1;
    }
};
