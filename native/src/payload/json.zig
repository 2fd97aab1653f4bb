//! Pull reader of JSON (RFC 8259), strict: UTF-8 without BOM, no comments, no trailing commas. See
//! value.zig for the calls.

const std = @import("std");
const value = @import("value.zig");
const Kind = value.Kind;
const Container = value.Container;
const Error = value.Error;

pub const Reader = struct {
    bytes: []const u8,
    at: usize = 0,
    depth: u32 = 0,
    depth_max: u32,
    problem: value.Problem = .{},

    pub fn init(bytes: []const u8, depth_max: u32) Reader {
        return .{ .bytes = bytes, .depth_max = depth_max };
    }

    pub fn kind(r: *Reader) Error!Kind {
        r.skipSpace();
        return switch (r.peek()) {
            '{' => .map,
            '[' => .array,
            '"' => .string,
            '-', '0'...'9' => if (r.isFloat()) .float else .integer,
            't', 'f' => .boolean,
            'n' => .null,
            else => if (r.at == r.bytes.len) r.ended() else r.malformed("expected a value"),
        };
    }

    /// The next value must be of this kind (see `kind`).
    pub fn open(r: *Reader, container: Kind) Error!Container {
        std.debug.assert(container == .map or container == .array);
        if (r.depth == r.depth_max) return error.TooDeep;
        r.depth += 1;
        r.at += 1;
        return .{ .kind = container };
    }

    pub fn more(r: *Reader, container: *Container) Error!bool {
        const close: u8 = if (container.kind == .map) '}' else ']';
        r.skipSpace();
        if (r.peek() == close) {
            r.at += 1;
            r.depth -= 1;
            return false;
        }
        if (!container.first) {
            if (r.peek() != ',') return r.unexpected(if (container.kind == .map) "expected ',' or '}'" else "expected ',' or ']'");
            r.at += 1;
            r.skipSpace();
        }
        container.first = false;
        if (container.kind == .map and r.peek() != '"') return r.unexpected("expected a key");
        return true;
    }

    /// Copied to `scratch` only if it has escapes.
    pub fn key(r: *Reader, scratch: *std.ArrayList(u8), gpa: std.mem.Allocator) Error![]const u8 {
        scratch.clearRetainingCapacity();
        const name = try r.text(scratch, gpa) orelse scratch.items;
        r.skipSpace();
        if (r.peek() != ':') return r.unexpected("expected ':'");
        r.at += 1;
        return name;
    }

    pub inline fn plainKey(r: *Reader, map: *Container, comptime name: []const u8) bool {
        const spelling = if (map.first) "\"" ++ name ++ "\":" else ",\"" ++ name ++ "\":";
        if (!std.mem.startsWith(u8, r.bytes[r.at..], spelling)) return false;
        map.first = false;
        r.at += spelling.len;
        return true;
    }

    pub fn text(r: *Reader, list: *std.ArrayList(u8), gpa: std.mem.Allocator) Error!?[]const u8 {
        std.debug.assert(r.bytes[r.at] == '"');
        const first = r.at;
        const run = r.plainRun(first + 1);
        if (run.end == r.bytes.len or r.bytes[run.end] != '"') {
            try r.unescape(list, gpa);
            return null;
        }
        const lent = r.bytes[first + 1 .. run.end];
        if (!run.ascii and !std.unicode.utf8ValidateSlice(lent)) return r.malformedAt(first, "string is not valid UTF-8");
        r.at = run.end + 1;
        return lent;
    }

    /// A string with escapes, appended to the list.
    fn unescape(r: *Reader, list: *std.ArrayList(u8), gpa: std.mem.Allocator) Error!void {
        const first = r.at;
        r.at += 1;
        const start = list.items.len;
        while (true) {
            const run = r.plainRun(r.at);
            try list.appendSlice(gpa, r.bytes[r.at..run.end]);
            r.at = run.end;
            if (r.at == r.bytes.len) return r.ended();
            switch (r.bytes[r.at]) {
                '"' => break,
                '\\' => try r.escape(list, gpa),
                else => return r.malformed("control character in a string"),
            }
        }
        r.at += 1;
        if (!std.unicode.utf8ValidateSlice(list.items[start..])) return r.malformedAt(first, "string is not valid UTF-8");
    }

    pub fn plainToken(r: *Reader, array: *Container) ?i32 {
        var i = r.at;
        if (!array.first) {
            if (i >= r.bytes.len or r.bytes[i] != ',') return null;
            i += 1;
        }
        const first = i;
        var id: u32 = 0;
        while (i < r.bytes.len and std.ascii.isDigit(r.bytes[i])) : (i += 1) {
            if (i - first == plain_digits_max) return null;
            id = id * 10 + (r.bytes[i] - '0');
        }
        if (i == first or i == r.bytes.len or (r.bytes[first] == '0' and i - first > 1)) return null;
        if (r.bytes[i] != ',' and r.bytes[i] != ']') return null;
        array.first = false;
        r.at = i;
        return @intCast(id);
    }

    /// No id of so many digits is beyond 31 bits.
    const plain_digits_max = 9;

    pub fn integer(r: *Reader) Error!value.Integer {
        const negative = r.peek() == '-';
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
        if (r.at == first) return r.unexpected("expected a digit");
        if (r.bytes[first] == '0' and r.at - first > 1) return r.malformedAt(first, "number with a leading zero");
        const bits: i64 = @bitCast(if (negative) 0 -% magnitude else magnitude);
        return .{ .value = bits, .saturated = saturated };
    }

    pub fn skip(r: *Reader, scratch: *std.ArrayList(u8), gpa: std.mem.Allocator) Error!void {
        switch (try r.kind()) {
            .map, .array => |container_kind| {
                var container = try r.open(container_kind);
                while (try r.more(&container)) {
                    if (container_kind == .map) _ = try r.key(scratch, gpa);
                    try r.skip(scratch, gpa);
                }
            },
            .string => {
                scratch.clearRetainingCapacity();
                _ = try r.text(scratch, gpa);
            },
            .integer => _ = try r.integer(),
            .float => try r.skipFloat(),
            .boolean => try r.word(if (r.peek() == 't') "true" else "false"),
            .null => try r.word("null"),
            .binary, .extension => unreachable,
        }
    }

    pub fn end(r: *Reader) Error!void {
        r.skipSpace();
        if (r.at != r.bytes.len) return r.malformed("trailing bytes");
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

    fn skipSpace(r: *Reader) void {
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
        _ = try r.integer();
        if (r.peek() == '.') {
            r.at += 1;
            try r.digits();
        }
        if (r.peek() == 'e' or r.peek() == 'E') {
            r.at += 1;
            if (r.peek() == '+' or r.peek() == '-') r.at += 1;
            try r.digits();
        }
    }

    fn digits(r: *Reader) Error!void {
        if (!std.ascii.isDigit(r.peek())) return r.unexpected("expected a digit");
        while (std.ascii.isDigit(r.peek())) r.at += 1;
    }

    fn word(r: *Reader, expected: []const u8) Error!void {
        if (!std.mem.startsWith(u8, r.bytes[r.at..], expected)) return r.malformed("expected a value");
        r.at += expected.len;
    }

    fn escape(r: *Reader, list: *std.ArrayList(u8), gpa: std.mem.Allocator) Error!void {
        const first = r.at;
        r.at += 1;
        const letter = r.peek();
        r.at += 1;
        const byte: u8 = switch (letter) {
            '"', '\\', '/' => letter,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return r.escapedCharacter(first, list, gpa),
            else => return if (first + 1 >= r.bytes.len) r.ended() else r.malformedAt(first, "unknown escape in a string"),
        };
        try list.append(gpa, byte);
    }

    fn escapedCharacter(r: *Reader, first: usize, list: *std.ArrayList(u8), gpa: std.mem.Allocator) Error!void {
        const unit = try r.hexUnit(first);
        const character: u21 = switch (unit) {
            0xd800...0xdbff => blk: {
                if (!std.mem.startsWith(u8, r.bytes[r.at..], "\\u")) return r.malformedAt(first, "lone surrogate in a string");
                r.at += 2;
                const low = try r.hexUnit(first);
                if (low < 0xdc00 or low > 0xdfff) return r.malformedAt(first, "lone surrogate in a string");
                break :blk 0x10000 + ((@as(u21, unit) - 0xd800) << 10) + (low - 0xdc00);
            },
            0xdc00...0xdfff => return r.malformedAt(first, "lone surrogate in a string"),
            else => unit,
        };
        var encoded: [4]u8 = undefined;
        const length = std.unicode.utf8Encode(character, &encoded) catch unreachable; // no surrogate is left
        try list.appendSlice(gpa, encoded[0..length]);
    }

    fn hexUnit(r: *Reader, first: usize) Error!u16 {
        if (r.bytes.len - @min(r.at, r.bytes.len) < 4) return r.ended();
        var unit: u16 = 0;
        for (r.bytes[r.at..][0..4]) |byte| {
            const digit = std.fmt.charToDigit(byte, 16) catch return r.malformedAt(first, "unknown escape in a string");
            unit = unit << 4 | digit;
        }
        r.at += 4;
        return unit;
    }

    fn ended(r: *Reader) Error {
        return r.malformedAt(r.bytes.len, "the payload ends too early");
    }

    fn unexpected(r: *Reader, what: []const u8) Error {
        return if (r.at >= r.bytes.len) r.ended() else r.malformed(what);
    }

    fn malformed(r: *Reader, what: []const u8) Error {
        return r.malformedAt(r.at, what);
    }

    fn malformedAt(r: *Reader, at: usize, what: []const u8) Error {
        r.problem = .{ .what = what, .at = at };
        return error.Malformed;
    }
};

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
    var reader: Reader = .init(json, 4);
    try testing.expectEqual(.string, try reader.kind());
    const lent = try reader.text(&list, testing.allocator);
    try reader.end();
    try testing.expectEqualStrings(expected, lent orelse list.items);
}

test "escapes become UTF-8" {
    try expectText("\"\"", "");
    try expectText("\"plain \u{e9}\"", "plain \u{e9}");
    try expectText("\"a\\n\\\"\\u00e9\\ud83d\\ude00/\\/\"", "a\n\"\u{e9}\u{1f600}//");
}

fn expectProblem(json: []const u8, what: []const u8, at: usize) !void {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var reader: Reader = .init(json, 4);
    const result = if (reader.skip(&list, testing.allocator)) reader.end() else |e| e;
    try testing.expectError(error.Malformed, result);
    try testing.expectEqualStrings(what, reader.problem.what);
    try testing.expectEqual(at, reader.problem.at);
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
    var reader: Reader = .init("-9223372036854775809", 4);
    const low = try reader.integer();
    try testing.expect(low.saturated and low.value == std.math.minInt(i64));
    reader = .init("9223372036854775807", 4);
    const high = try reader.integer();
    try testing.expect(!high.saturated and high.value == std.math.maxInt(i64));
}

test "nesting is bounded" {
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    var fits: Reader = .init("[[[[1]]]]", 4);
    try fits.skip(&list, testing.allocator);
    var deep: Reader = .init("[[[[[1]]]]]", 4);
    try testing.expectError(error.TooDeep, deep.skip(&list, testing.allocator));
}
