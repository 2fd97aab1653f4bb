//! JSON (RFC 8259) for the reader, strict: UTF-8 without BOM, no comments, no trailing commas.

const std = @import("std");
const reader = @import("reader.zig");
const Reader = reader.Reader;
const Kind = reader.Kind;
const Container = reader.Container;
const Error = reader.Error;

pub fn kind(r: *Reader) Kind {
    skipSpace(r);
    return switch (peek(r)) {
        '{' => .map,
        '[' => .array,
        '"' => .string,
        '-', '0'...'9' => if (isFloat(r)) .float else .integer,
        't', 'f' => .boolean,
        'n' => .null,
        else => {
            unexpected(r, "expected a value") catch {};
            return .nothing;
        },
    };
}

pub fn next(r: *Reader, container: *Container) Error!void {
    const close: u8 = if (container.kind == .map) '}' else ']';
    skipSpace(r);
    if (peek(r) == close) {
        r.at += 1;
        container.ended = true;
        return;
    }
    if (!container.first) {
        if (peek(r) != ',') return unexpected(r, if (container.kind == .map) "expected ',' or '}'" else "expected ',' or ']'");
        r.at += 1;
        skipSpace(r);
    }
    container.first = false;
    if (container.kind == .map and peek(r) != '"') return unexpected(r, "expected a key");
}

/// What follows a key.
pub fn colon(r: *Reader) Error!void {
    skipSpace(r);
    if (peek(r) != ':') return unexpected(r, "expected ':'");
    r.at += 1;
}

pub inline fn plainKey(r: *Reader, map: *Container, comptime name: []const u8) bool {
    const at = if (map.first) r.at else behindComma(r.bytes, r.at) orelse return false;
    const spelling = "\"" ++ name ++ "\":";
    if (!std.mem.startsWith(u8, r.bytes[at..], spelling)) return false;
    map.first = false;
    r.at = at + spelling.len;
    return true;
}

/// Where the next element is, behind a comma and a space, which many writers put there.
inline fn behindComma(bytes: []const u8, at: usize) ?usize {
    if (at == bytes.len or bytes[at] != ',') return null;
    return if (at + 1 < bytes.len and bytes[at + 1] == ' ') at + 2 else at + 1;
}

pub fn text(r: *Reader, list: *std.ArrayList(u8), gpa: std.mem.Allocator, out: *[]const u8) Error!void {
    std.debug.assert(r.bytes[r.at] == '"');
    const first = r.at;
    const run = plainRun(r, first + 1);
    if (run.end == r.bytes.len or r.bytes[run.end] != '"') return unescape(r, list, gpa, out);
    out.* = r.bytes[first + 1 .. run.end];
    if (!run.ascii and !std.unicode.utf8ValidateSlice(out.*)) return r.malformed("string is not valid UTF-8", first);
    r.at = run.end + 1;
}

/// A string with escapes, appended to the list.
fn unescape(r: *Reader, list: *std.ArrayList(u8), gpa: std.mem.Allocator, out: *[]const u8) Error!void {
    const first = r.at;
    r.at += 1;
    const start = list.items.len;
    while (true) {
        const run = plainRun(r, r.at);
        try list.ensureUnusedCapacity(gpa, run.end - r.at + character_bytes_max);
        list.appendSliceAssumeCapacity(r.bytes[r.at..run.end]);
        r.at = run.end;
        if (r.at == r.bytes.len) return r.ended();
        switch (r.bytes[r.at]) {
            '"' => break,
            '\\' => try escape(r, list),
            else => return r.malformed("control character in a string", r.at),
        }
    }
    r.at += 1;
    out.* = list.items[start..];
    if (!std.unicode.utf8ValidateSlice(out.*)) return r.malformed("string is not valid UTF-8", first);
}

pub fn plainTokens(r: *Reader, array: *Container, room: []i32) usize {
    const bytes = r.bytes;
    var at = r.at; // behind the last id that was taken
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
    r.at = at;
    if (n > 0) array.first = false;
    return n;
}

/// No id of so many digits is beyond 31 bits.
const plain_digits_max = 9;

pub fn integer(r: *Reader) Error!reader.Integer {
    const negative = peek(r) == '-';
    if (negative) r.at += 1;
    const first = r.at;
    const magnitude_max = @as(u64, std.math.maxInt(i64)) + @intFromBool(negative);
    var magnitude: u64 = 0;
    var saturated = false;
    while (r.at < r.bytes.len and std.ascii.isDigit(r.bytes[r.at])) : (r.at += 1) {
        const digit: u64 = r.bytes[r.at] - '0';
        saturated = saturated or magnitude > (magnitude_max - digit) / 10;
        magnitude = if (saturated) magnitude_max else magnitude * 10 + digit;
    }
    if (r.at == first) return unexpected(r, "expected a digit");
    if (r.bytes[first] == '0' and r.at - first > 1) return r.malformed("number with a leading zero", first);
    const bits: i64 = @bitCast(if (negative) 0 -% magnitude else magnitude);
    return .{ .value = bits, .saturated = saturated };
}

/// A float, a boolean or null.
pub fn skipOther(r: *Reader, found: Kind) Error!void {
    switch (found) {
        .float => try skipFloat(r),
        .boolean => try word(r, if (peek(r) == 't') "true" else "false"),
        .null => try word(r, "null"),
        else => unreachable, // not in JSON, or taken by the reader
    }
}

fn peek(r: *const Reader) u8 {
    return if (r.at < r.bytes.len) r.bytes[r.at] else 0;
}

/// The bytes from `start` that stand for themselves.
fn plainRun(r: *const Reader, start: usize) struct { end: usize, ascii: bool } {
    var i = start;
    var all: u8 = 0;
    while (i < r.bytes.len and plain[r.bytes[i]]) : (i += 1) all |= r.bytes[i];
    return .{ .end = i, .ascii = all < 0x80 };
}

pub fn skipSpace(r: *Reader) void {
    while (r.at < r.bytes.len) : (r.at += 1) switch (r.bytes[r.at]) {
        ' ', '\t', '\n', '\r' => {},
        else => return,
    };
}

fn isFloat(r: *const Reader) bool {
    var i = r.at + 1;
    while (i < r.bytes.len and std.ascii.isDigit(r.bytes[i])) i += 1;
    return i < r.bytes.len and (r.bytes[i] == '.' or r.bytes[i] == 'e' or r.bytes[i] == 'E');
}

fn skipFloat(r: *Reader) Error!void {
    _ = try integer(r);
    if (peek(r) == '.') {
        r.at += 1;
        try digits(r);
    }
    if (peek(r) == 'e' or peek(r) == 'E') {
        r.at += 1;
        if (peek(r) == '+' or peek(r) == '-') r.at += 1;
        try digits(r);
    }
}

fn digits(r: *Reader) Error!void {
    if (!std.ascii.isDigit(peek(r))) return unexpected(r, "expected a digit");
    while (std.ascii.isDigit(peek(r))) r.at += 1;
}

fn word(r: *Reader, expected: []const u8) Error!void {
    if (!std.mem.startsWith(u8, r.bytes[r.at..], expected)) return r.malformed("expected a value", r.at);
    r.at += expected.len;
}

/// Of a character that an escape stands for.
const character_bytes_max = 4;

/// Needs room in the list for a character.
fn escape(r: *Reader, list: *std.ArrayList(u8)) Error!void {
    const first = r.at;
    r.at += 1;
    const letter = peek(r);
    r.at += 1;
    const byte: u8 = switch (letter) {
        '"', '\\', '/' => letter,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return escapedCharacter(r, first, list),
        else => return if (first + 1 >= r.bytes.len) r.ended() else r.malformed("unknown escape in a string", first),
    };
    list.appendAssumeCapacity(byte);
}

fn escapedCharacter(r: *Reader, first: usize, list: *std.ArrayList(u8)) Error!void {
    const unit = try hexUnit(r, first);
    const character: u21 = switch (unit) {
        0xd800...0xdbff => blk: {
            if (!std.mem.startsWith(u8, r.bytes[r.at..], "\\u")) return r.malformed("lone surrogate in a string", first);
            r.at += 2;
            const low = try hexUnit(r, first);
            if (low < 0xdc00 or low > 0xdfff) return r.malformed("lone surrogate in a string", first);
            break :blk 0x10000 + ((@as(u21, unit) - 0xd800) << 10) + (low - 0xdc00);
        },
        0xdc00...0xdfff => return r.malformed("lone surrogate in a string", first),
        else => unit,
    };
    var encoded: [character_bytes_max]u8 = undefined;
    const length = std.unicode.utf8Encode(character, &encoded) catch unreachable; // no surrogate is left
    list.appendSliceAssumeCapacity(encoded[0..length]);
}

fn hexUnit(r: *Reader, first: usize) Error!u16 {
    if (r.bytes.len - @min(r.at, r.bytes.len) < 4) return r.ended();
    var unit: u16 = 0;
    for (r.bytes[r.at..][0..4]) |byte| {
        const digit = std.fmt.charToDigit(byte, 16) catch return r.malformed("unknown escape in a string", first);
        unit = unit << 4 | digit;
    }
    r.at += 4;
    return unit;
}

fn unexpected(r: *Reader, what: []const u8) Error {
    return if (r.at >= r.bytes.len) r.ended() else r.malformed(what, r.at);
}

/// Bytes of a string that stand for themselves.
const plain: [256]bool = blk: {
    var table: [256]bool = @splat(true);
    for (0..0x20) |control| table[control] = false;
    table['"'] = false;
    table['\\'] = false;
    break :blk table;
};

const testing = std.testing;

fn expectText(json: []const u8, expected: []const u8) !void {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var r: Reader = .init(.json, json, 4);
    try testing.expectEqual(.string, r.kind());
    var found: []const u8 = undefined;
    try r.text(&list, testing.allocator, &found);
    try r.end();
    try testing.expectEqualStrings(expected, found);
}

test "escapes become UTF-8" {
    try expectText("\"\"", "");
    try expectText("\"plain \u{e9}\"", "plain \u{e9}");
    try expectText("\"a\\n\\\"\\u00e9\\ud83d\\ude00/\\/\"", "a\n\"\u{e9}\u{1f600}//");
}

fn expectProblem(json: []const u8, what: []const u8, at: usize) !void {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var r: Reader = .init(.json, json, 4);
    const result = if (r.skip(&list, testing.allocator)) r.end() else |e| e;
    try testing.expectError(error.Malformed, result);
    try testing.expectEqualStrings(what, r.problem.what);
    try testing.expectEqual(at, r.problem.at);
}

test "problems name the byte" {
    try expectProblem("{\"a\":1,}", "expected a key", 7);
    try expectProblem("[1,]", "expected a value", 3);
    try expectProblem("[1 2]", "expected ',' or ']'", 3);
    try expectProblem("[01]", "number with a leading zero", 1);
    try expectProblem("[1.]", "expected a digit", 3);
    try expectProblem("\"\\ud800x\"", "lone surrogate in a string", 1);
    try expectProblem("\"\\x\"", "unknown escape in a string", 1);
    try expectProblem("\"a\nb\"", "control character in a string", 2);
    try expectProblem("\"\xff\"", "string is not valid UTF-8", 0);
    try expectProblem("[true,nul]", "expected a value", 6);
    try expectProblem("{\"a\"", "the payload ends too early", 4);
    try expectProblem("[] x", "trailing bytes", 3);
    try expectProblem("", "the payload ends too early", 0);
}

test "integers saturate at 64 bits" {
    var r: Reader = .init(.json, "-9223372036854775809", 4);
    const low = try r.integer();
    try testing.expect(low.saturated and low.value == std.math.minInt(i64));
    r = .init(.json, "9223372036854775807", 4);
    const high = try r.integer();
    try testing.expect(!high.saturated and high.value == std.math.maxInt(i64));
}

test "nesting is bounded" {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var fits: Reader = .init(.json, "[[[[1]]]]", 4);
    try fits.skip(&list, testing.allocator);
    var deep: Reader = .init(.json, "[[[[[1]]]]]", 4);
    try testing.expectError(error.TooDeep, deep.skip(&list, testing.allocator));
}
