//! JSON (RFC 8259) for the reader, strict: UTF-8 without BOM, no comments, no trailing commas. reader.zig says
//! what each operation promises.

const std = @import("std");
const ArrayList = @import("../base/array_list.zig").ArrayList;
const input = @import("input.zig");
const Input = input.Input;
const Kind = input.Kind;
const Container = input.Container;
const Error = input.Error;

pub fn kind(in: *Input) Kind {
    skipSpace(in);
    return switch (peek(in)) {
        '{' => .map,
        '[' => .array,
        '"' => .string,
        '-', '0'...'9' => if (isFloat(in)) .float else .integer,
        't', 'f' => .boolean,
        'n' => .null,
        else => {
            unexpected(in, "expected a value") catch {};
            return .nothing;
        },
    };
}

pub fn next(in: *Input, container: *Container) Error!void {
    const close: u8 = if (container.kind == .map) '}' else ']';
    skipSpace(in);
    if (peek(in) == close) {
        in.at += 1;
        container.ended = true;
        return;
    }
    if (!container.first) {
        if (peek(in) != ',') return unexpected(in, if (container.kind == .map) "expected ',' or '}'" else "expected ',' or ']'");
        in.at += 1;
        skipSpace(in);
    }
    container.first = false;
    if (container.kind == .map and peek(in) != '"') return unexpected(in, "expected a key");
}

/// Takes the colon after a key.
pub fn colon(in: *Input) Error!void {
    skipSpace(in);
    if (peek(in) != ':') return unexpected(in, "expected ':'");
    in.at += 1;
}

pub inline fn plainKey(in: *Input, map: *Container, comptime name: []const u8) bool {
    const at = if (map.first) in.at else behindComma(in.bytes, in.at) orelse return false;
    const spelling = "\"" ++ name ++ "\":";
    if (!std.mem.startsWith(u8, in.bytes[at..], spelling)) return false;
    map.first = false;
    in.at = at + spelling.len;
    return true;
}

/// Where the next element starts: after a comma, and the space that many writers put there.
inline fn behindComma(bytes: []const u8, at: usize) ?usize {
    if (at == bytes.len or bytes[at] != ',') return null;
    return if (at + 1 < bytes.len and bytes[at + 1] == ' ') at + 2 else at + 1;
}

pub fn text(in: *Input, list: *ArrayList(u8), gpa: std.mem.Allocator, out: *[]const u8) Error!void {
    std.debug.assert(in.bytes[in.at] == '"');
    const first = in.at;
    const run = plainRun(in, first + 1);
    if (run.end == in.bytes.len or in.bytes[run.end] != '"') return unescape(in, list, gpa, out);
    out.* = in.bytes[first + 1 .. run.end];
    if (!run.ascii and !std.unicode.utf8ValidateSlice(out.*)) return in.malformed("string is not valid UTF-8", first);
    in.at = run.end + 1;
}

/// A string with escapes, appended to the list.
fn unescape(in: *Input, list: *ArrayList(u8), gpa: std.mem.Allocator, out: *[]const u8) Error!void {
    const first = in.at;
    in.at += 1;
    const start = list.items.len;
    while (true) {
        const run = plainRun(in, in.at);
        try list.ensureUnusedCapacity(gpa, run.end - in.at + character_bytes_max);
        list.appendSliceAssumeCapacity(in.bytes[in.at..run.end]);
        in.at = run.end;
        if (in.at == in.bytes.len) return in.ended();
        switch (in.bytes[in.at]) {
            '"' => break,
            '\\' => try escape(in, list),
            else => return in.malformed("control character in a string", in.at),
        }
    }
    in.at += 1;
    out.* = list.items[start..];
    if (!std.unicode.utf8ValidateSlice(out.*)) return in.malformed("string is not valid UTF-8", first);
}

pub fn plainTokens(in: *Input, array: *Container, room: []i32) usize {
    const bytes = in.bytes;
    var at = in.at; // after the last id taken
    var n: usize = 0;
    while (n < room.len) : (n += 1) {
        const first = if (n == 0 and array.first) at else behindComma(bytes, at) orelse break;
        var i = first;
        var id: u32 = 0;
        while (i < bytes.len and std.ascii.isDigit(bytes[i])) : (i += 1) id = id *% 10 +% (bytes[i] - '0');
        const length = i - first;
        if (length == 0 or length > plain_digits_max or (length > 1 and bytes[first] == '0')) break;
        if (i == bytes.len or (bytes[i] != ',' and bytes[i] != ']')) break;
        room[n] = @intCast(id);
        at = i;
    }
    in.at = at;
    if (n > 0) array.first = false;
    return n;
}

/// An id of so many digits fits in 31 bits.
const plain_digits_max = 9;

pub fn integer(in: *Input) Error!input.Integer {
    const negative = peek(in) == '-';
    if (negative) in.at += 1;
    const first = in.at;
    const magnitude_max = @as(u64, std.math.maxInt(i64)) + @intFromBool(negative);
    var magnitude: u64 = 0;
    var saturated = false;
    while (in.at < in.bytes.len and std.ascii.isDigit(in.bytes[in.at])) : (in.at += 1) {
        const digit: u64 = in.bytes[in.at] - '0';
        saturated = saturated or magnitude > (magnitude_max - digit) / 10;
        magnitude = if (saturated) magnitude_max else magnitude * 10 + digit;
    }
    if (in.at == first) return unexpected(in, "expected a digit");
    if (in.bytes[first] == '0' and in.at - first > 1) return in.malformed("number with a leading zero", first);
    const bits: i64 = @bitCast(if (negative) 0 -% magnitude else magnitude);
    return .{ .value = bits, .saturated = saturated };
}

/// A float, a boolean or null.
pub fn skipOther(in: *Input, found: Kind) Error!void {
    switch (found) {
        .float => try skipFloat(in),
        .boolean => try word(in, if (peek(in) == 't') "true" else "false"),
        .null => try word(in, "null"),
        else => unreachable, // not in JSON, or taken by the reader
    }
}

fn peek(in: *const Input) u8 {
    return if (in.at < in.bytes.len) in.bytes[in.at] else 0;
}

/// The bytes from `start` that stand for themselves.
fn plainRun(in: *const Input, start: usize) struct { end: usize, ascii: bool } {
    var i = start;
    var all: u8 = 0;
    while (i < in.bytes.len and plain[in.bytes[i]]) : (i += 1) all |= in.bytes[i];
    return .{ .end = i, .ascii = all < 0x80 };
}

/// Takes white space.
pub fn skipSpace(in: *Input) void {
    while (in.at < in.bytes.len) : (in.at += 1) switch (in.bytes[in.at]) {
        ' ', '\t', '\n', '\r' => {},
        else => return,
    };
}

fn isFloat(in: *const Input) bool {
    var i = in.at + 1;
    while (i < in.bytes.len and std.ascii.isDigit(in.bytes[i])) i += 1;
    return i < in.bytes.len and (in.bytes[i] == '.' or in.bytes[i] == 'e' or in.bytes[i] == 'E');
}

fn skipFloat(in: *Input) Error!void {
    _ = try integer(in);
    if (peek(in) == '.') {
        in.at += 1;
        try digits(in);
    }
    if (peek(in) == 'e' or peek(in) == 'E') {
        in.at += 1;
        if (peek(in) == '+' or peek(in) == '-') in.at += 1;
        try digits(in);
    }
}

fn digits(in: *Input) Error!void {
    if (!std.ascii.isDigit(peek(in))) return unexpected(in, "expected a digit");
    while (std.ascii.isDigit(peek(in))) in.at += 1;
}

fn word(in: *Input, expected: []const u8) Error!void {
    if (!std.mem.startsWith(u8, in.bytes[in.at..], expected)) return in.malformed("expected a value", in.at);
    in.at += expected.len;
}

/// Of an escaped character, as UTF-8.
const character_bytes_max = 4;

/// The list has room for a character.
fn escape(in: *Input, list: *ArrayList(u8)) Error!void {
    const first = in.at;
    in.at += 1;
    const letter = peek(in);
    in.at += 1;
    const byte: u8 = switch (letter) {
        '"', '\\', '/' => letter,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return escapedCharacter(in, first, list),
        else => return if (first + 1 >= in.bytes.len) in.ended() else in.malformed("unknown escape in a string", first),
    };
    list.appendAssumeCapacity(byte);
}

fn escapedCharacter(in: *Input, first: usize, list: *ArrayList(u8)) Error!void {
    const unit = try hexUnit(in, first);
    const character: u21 = switch (unit) {
        0xd800...0xdbff => blk: {
            if (!std.mem.startsWith(u8, in.bytes[in.at..], "\\u")) return in.malformed("lone surrogate in a string", first);
            in.at += 2;
            const low = try hexUnit(in, first);
            if (low < 0xdc00 or low > 0xdfff) return in.malformed("lone surrogate in a string", first);
            break :blk 0x10000 + ((@as(u21, unit) - 0xd800) << 10) + (low - 0xdc00);
        },
        0xdc00...0xdfff => return in.malformed("lone surrogate in a string", first),
        else => unit,
    };
    var encoded: [character_bytes_max]u8 = undefined;
    const length = std.unicode.utf8Encode(character, &encoded) catch unreachable; // no surrogate is left
    list.appendSliceAssumeCapacity(encoded[0..length]);
}

fn hexUnit(in: *Input, first: usize) Error!u16 {
    if (in.bytes.len - @min(in.at, in.bytes.len) < 4) return in.ended();
    var unit: u16 = 0;
    for (in.bytes[in.at..][0..4]) |byte| {
        const digit = std.fmt.charToDigit(byte, 16) catch return in.malformed("unknown escape in a string", first);
        unit = unit << 4 | digit;
    }
    in.at += 4;
    return unit;
}

fn unexpected(in: *Input, what: []const u8) Error {
    return if (in.at >= in.bytes.len) in.ended() else in.malformed(what, in.at);
}

/// Bytes of a string that stand for themselves.
const plain: [256]bool = blk: {
    var table: [256]bool = @splat(true);
    for (0..0x20) |control| table[control] = false;
    table['"'] = false;
    table['\\'] = false;
    break :blk table;
};
