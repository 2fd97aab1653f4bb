//! Pull reader of MessagePack (the specification of 2017, with str 8, bin and ext). See value.zig
//! for the calls.

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

    pub inline fn kind(r: *Reader) Error!Kind {
        if (r.at >= r.bytes.len) return r.ended();
        return kinds[r.bytes[r.at]] orelse r.malformed("byte 0xc1 is not MessagePack");
    }

    pub fn open(r: *Reader, container: Kind) Error!Container {
        if (r.depth == r.depth_max) return error.TooDeep;
        const tag = try r.take(u8);
        const remaining: u32 = switch (tag) {
            0x80...0x9f => tag & 0x0f,
            0xdc, 0xde => try r.take(u16),
            0xdd, 0xdf => try r.take(u32),
            else => unreachable, // `kind` said otherwise
        };
        r.depth += 1;
        return .{ .kind = container, .remaining = remaining };
    }

    pub fn more(r: *Reader, container: *Container) Error!bool {
        if (container.remaining == 0) {
            r.depth -= 1;
            return false;
        }
        container.remaining -= 1;
        if (container.kind == .map and try r.kind() != .string) return r.malformed("a key is not a string");
        return true;
    }

    pub fn key(r: *Reader, _: *std.ArrayList(u8), _: std.mem.Allocator) Error![]const u8 {
        return r.string();
    }

    pub inline fn plainKey(r: *Reader, map: *Container, comptime name: []const u8) bool {
        const spelling = [_]u8{0xa0 | @as(u8, name.len)} ++ name;
        if (map.remaining == 0 or !std.mem.startsWith(u8, r.bytes[r.at..], spelling)) return false;
        map.remaining -= 1;
        r.at += spelling.len;
        return true;
    }

    pub fn text(r: *Reader, _: *std.ArrayList(u8), _: std.mem.Allocator) Error!?[]const u8 {
        return try r.string();
    }

    pub fn plainToken(r: *Reader, array: *Container) ?i32 {
        if (array.remaining == 0 or r.bytes.len - r.at < 5) return null;
        const bytes = r.bytes[r.at..][0..5];
        const length: usize, const id: u32 = switch (bytes[0]) {
            0x00...0x7f => .{ 1, bytes[0] },
            0xcc => .{ 2, bytes[1] },
            0xcd => .{ 3, std.mem.readInt(u16, bytes[1..3], .big) },
            0xce => .{ 5, std.mem.readInt(u32, bytes[1..5], .big) },
            else => return null,
        };
        if (id > std.math.maxInt(i32)) return null;
        array.remaining -= 1;
        r.at += length;
        return @intCast(id);
    }

    pub fn integer(r: *Reader) Error!value.Integer {
        const tag = try r.take(u8);
        return switch (tag) {
            0x00...0x7f => .{ .value = tag },
            0xe0...0xff => .{ .value = @as(i8, @bitCast(tag)) },
            0xcc => .{ .value = try r.take(u8) },
            0xcd => .{ .value = try r.take(u16) },
            0xce => .{ .value = try r.take(u32) },
            0xcf => blk: {
                const large = try r.take(u64);
                const fits = std.math.cast(i64, large);
                break :blk .{ .value = fits orelse std.math.maxInt(i64), .saturated = fits == null };
            },
            0xd0 => .{ .value = try r.take(i8) },
            0xd1 => .{ .value = try r.take(i16) },
            0xd2 => .{ .value = try r.take(i32) },
            0xd3 => .{ .value = try r.take(i64) },
            else => unreachable, // `kind` said otherwise
        };
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
            .string => _ = try r.string(),
            .integer => _ = try r.integer(),
            .float => _ = try r.slice(if (try r.take(u8) == 0xca) 4 else 8),
            .boolean, .null => r.at += 1,
            .binary => _ = try r.blob(),
            .extension => try r.skipExtension(),
        }
    }

    pub fn end(r: *Reader) Error!void {
        if (r.at != r.bytes.len) return r.malformed("trailing bytes");
    }

    fn string(r: *Reader) Error![]const u8 {
        const first = r.at;
        const bytes = try r.blob();
        if (!std.unicode.utf8ValidateSlice(bytes)) return r.malformedAt(first, "string is not valid UTF-8");
        return bytes;
    }

    /// The bytes of a string or of binary data.
    fn blob(r: *Reader) Error![]const u8 {
        const tag = try r.take(u8);
        const length: usize = switch (tag) {
            0xa0...0xbf => tag & 0x1f,
            0xc4, 0xd9 => try r.take(u8),
            0xc5, 0xda => try r.take(u16),
            0xc6, 0xdb => try r.take(u32),
            else => unreachable, // `kind` said otherwise
        };
        return r.slice(length);
    }

    fn skipExtension(r: *Reader) Error!void {
        const tag = try r.take(u8);
        const length: usize = switch (tag) {
            0xd4...0xd8 => @as(usize, 1) << @intCast(tag - 0xd4),
            0xc7 => try r.take(u8),
            0xc8 => try r.take(u16),
            0xc9 => try r.take(u32),
            else => unreachable, // `kind` said otherwise
        };
        _ = try r.slice(length + 1); // and its type
    }

    fn take(r: *Reader, comptime T: type) Error!T {
        const bytes = try r.slice(@sizeOf(T));
        return std.mem.readInt(T, bytes[0..@sizeOf(T)], .big);
    }

    fn slice(r: *Reader, length: usize) Error![]const u8 {
        if (r.bytes.len - r.at < length) return r.ended();
        defer r.at += length;
        return r.bytes[r.at..][0..length];
    }

    fn ended(r: *Reader) Error {
        return r.malformedAt(r.bytes.len, "the payload ends too early");
    }

    fn malformed(r: *Reader, what: []const u8) Error {
        return r.malformedAt(r.at, what);
    }

    fn malformedAt(r: *Reader, at: usize, what: []const u8) Error {
        r.problem = .{ .what = what, .at = at };
        return error.Malformed;
    }
};

/// What the first byte of a value says; null where it begins none.
const kinds: [256]?Kind = blk: {
    var table: [256]?Kind = undefined;
    for (&table, 0..) |*kind, byte| kind.* = switch (byte) {
        0x00...0x7f, 0xe0...0xff, 0xcc...0xcf, 0xd0...0xd3 => .integer,
        0x80...0x8f, 0xde, 0xdf => .map,
        0x90...0x9f, 0xdc, 0xdd => .array,
        0xa0...0xbf, 0xd9...0xdb => .string,
        0xc0 => .null,
        0xc1 => null,
        0xc2, 0xc3 => .boolean,
        0xc4...0xc6 => .binary,
        0xc7...0xc9, 0xd4...0xd8 => .extension,
        0xca, 0xcb => .float,
        else => unreachable,
    };
    break :blk table;
};

const testing = std.testing;

test "every form of an integer" {
    const cases = .{
        .{ "\x07", 7 },                                                    .{ "\xff", -1 },
        .{ "\xcc\xff", 255 },                                              .{ "\xcd\x01\x00", 256 },
        .{ "\xce\x80\x00\x00\x00", 2147483648 },                           .{ "\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 4294967296 },
        .{ "\xd0\x80", -128 },                                             .{ "\xd1\x80\x00", -32768 },
        .{ "\xd2\x80\x00\x00\x00", -2147483648 },                          .{ "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", -1 },
        .{ "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", std.math.maxInt(i64) },
    };
    inline for (cases) |case| {
        var reader: Reader = .init(case[0], 4);
        try testing.expectEqual(.integer, try reader.kind());
        const integer = try reader.integer();
        try reader.end();
        try testing.expectEqual(@as(i64, case[1]), integer.value);
        try testing.expect(!integer.saturated);
    }
    var huge: Reader = .init("\xcf\x80\x00\x00\x00\x00\x00\x00\x00", 4);
    try testing.expect((try huge.integer()).saturated);
}

test "skip takes exactly one value of every form" {
    const sixteen: [16]u8 = @splat(0xff);
    const values = [_][]const u8{
        "\xc0",                  "\xc2",                          "\xca\x00\x00\x00\x00",     "\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
        "\xa1x",                 "\xd9\x01x",                     "\xda\x00\x01x",            "\xdb\x00\x00\x00\x01x",
        "\xc4\x01\xff",          "\xc5\x00\x01\xff",              "\xc6\x00\x00\x00\x01\xff", "\xd4\x01\xff",
        "\xd8\x01" ++ sixteen,   "\xc7\x02\x01\xff\xff",          "\xc8\x00\x01\x01\xff",     "\xc9\x00\x00\x00\x01\x01\xff",
        "\x92\x01\x91\xc3",      "\xdc\x00\x01\x05",              "\xdd\x00\x00\x00\x01\x05", "\x81\xa1k\x80",
        "\xde\x00\x01\xa1k\x01", "\xdf\x00\x00\x00\x01\xa1k\x01",
    };
    var list: std.ArrayList(u8) = .empty;
    defer list.deinit(testing.allocator);
    for (values) |bytes| {
        var reader: Reader = .init(bytes, 4);
        try reader.skip(&list, testing.allocator);
        try reader.end();
        for (0..bytes.len) |cut| {
            var short: Reader = .init(bytes[0..cut], 4);
            try testing.expectError(error.Malformed, short.skip(&list, testing.allocator));
        }
    }
}
