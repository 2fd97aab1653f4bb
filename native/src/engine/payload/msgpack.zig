//! MessagePack (the specification of 2017, with str 8, bin and ext) for the reader.

const std = @import("std");
const reader = @import("reader.zig");
const Reader = reader.Reader;
const Kind = reader.Kind;
const Container = reader.Container;
const Error = reader.Error;

pub fn kind(r: *Reader) Kind {
    if (r.at >= r.bytes.len) {
        r.ended() catch {};
        return .nothing;
    }
    const found = kinds[r.bytes[r.at]];
    if (found == .nothing) r.malformed("byte 0xc1 is not MessagePack", r.at) catch {};
    return found;
}

pub fn open(r: *Reader, container: *Container) Error!void {
    const tag = try take(r, u8);
    container.remaining = switch (tag) {
        0x80...0x9f => tag & 0x0f,
        0xdc, 0xde => try take(r, u16),
        0xdd, 0xdf => try take(r, u32),
        else => unreachable, // `kind` said otherwise
    };
}

pub fn next(r: *Reader, container: *Container) Error!void {
    container.ended = container.remaining == 0;
    if (container.ended) return;
    container.remaining -= 1;
    if (container.kind == .map) switch (kind(r)) {
        .string => {},
        .nothing => return error.Malformed,
        else => return r.malformed("a key is not a string", r.at),
    };
}

pub inline fn plainKey(r: *Reader, map: *Container, comptime name: []const u8) bool {
    const spelling = [_]u8{0xa0 | @as(u8, name.len)} ++ name;
    if (map.remaining == 0 or !std.mem.startsWith(u8, r.bytes[r.at..], spelling)) return false;
    map.remaining -= 1;
    r.at += spelling.len;
    return true;
}

pub fn text(r: *Reader, out: *[]const u8) Error!void {
    const first = r.at;
    out.* = try blob(r);
    if (!std.unicode.utf8ValidateSlice(out.*)) return r.malformed("string is not valid UTF-8", first);
}

pub fn plainTokens(r: *Reader, array: *Container, room: []i32) usize {
    const most = @min(room.len, array.remaining);
    var at = r.at;
    var n: usize = 0;
    while (n < most and r.bytes.len - at >= 5) : (n += 1) {
        const bytes = r.bytes[at..][0..5];
        const length: usize, const id: u32 = switch (bytes[0]) {
            0x00...0x7f => .{ 1, bytes[0] },
            0xcc => .{ 2, bytes[1] },
            0xcd => .{ 3, std.mem.readInt(u16, bytes[1..3], .big) },
            0xce => .{ 5, std.mem.readInt(u32, bytes[1..5], .big) },
            else => break,
        };
        if (id > std.math.maxInt(i32)) break;
        room[n] = @intCast(id);
        at += length;
    }
    r.at = at;
    array.remaining -= @intCast(n);
    return n;
}

pub fn integer(r: *Reader) Error!reader.Integer {
    const tag = try take(r, u8);
    return switch (tag) {
        0x00...0x7f => .{ .value = tag },
        0xe0...0xff => .{ .value = @as(i8, @bitCast(tag)) },
        0xcc => .{ .value = try take(r, u8) },
        0xcd => .{ .value = try take(r, u16) },
        0xce => .{ .value = try take(r, u32) },
        0xcf => blk: {
            const large = try take(r, u64);
            const fits = std.math.cast(i64, large);
            break :blk .{ .value = fits orelse std.math.maxInt(i64), .saturated = fits == null };
        },
        0xd0 => .{ .value = try take(r, i8) },
        0xd1 => .{ .value = try take(r, i16) },
        0xd2 => .{ .value = try take(r, i32) },
        0xd3 => .{ .value = try take(r, i64) },
        else => unreachable, // `kind` said otherwise
    };
}

/// A float, a boolean, null, binary data or an extension.
pub fn skipOther(r: *Reader, found: Kind) Error!void {
    switch (found) {
        .float => _ = try slice(r, if (try take(r, u8) == 0xca) 4 else 8),
        .boolean, .null => r.at += 1,
        .binary => _ = try blob(r),
        .extension => try skipExtension(r),
        .map, .array, .string, .integer, .nothing => unreachable, // the reader takes these
    }
}

/// The bytes of a string or of binary data.
fn blob(r: *Reader) Error![]const u8 {
    const tag = try take(r, u8);
    const length: usize = switch (tag) {
        0xa0...0xbf => tag & 0x1f,
        0xc4, 0xd9 => try take(r, u8),
        0xc5, 0xda => try take(r, u16),
        0xc6, 0xdb => try take(r, u32),
        else => unreachable, // `kind` said otherwise
    };
    return slice(r, length);
}

fn skipExtension(r: *Reader) Error!void {
    const tag = try take(r, u8);
    const length: usize = switch (tag) {
        0xd4...0xd8 => @as(usize, 1) << @intCast(tag - 0xd4),
        0xc7 => try take(r, u8),
        0xc8 => try take(r, u16),
        0xc9 => try take(r, u32),
        else => unreachable, // `kind` said otherwise
    };
    _ = try slice(r, length + 1); // and its type
}

fn take(r: *Reader, comptime T: type) Error!T {
    const bytes = try slice(r, @sizeOf(T));
    return std.mem.readInt(T, bytes[0..@sizeOf(T)], .big);
}

fn slice(r: *Reader, length: usize) Error![]const u8 {
    if (r.bytes.len - r.at < length) return r.ended();
    defer r.at += length;
    return r.bytes[r.at..][0..length];
}

/// What the first byte of a value says.
const kinds: [256]Kind = blk: {
    var table: [256]Kind = undefined;
    for (&table, 0..) |*to, byte| to.* = switch (byte) {
        0x00...0x7f, 0xe0...0xff, 0xcc...0xcf, 0xd0...0xd3 => .integer,
        0x80...0x8f, 0xde, 0xdf => .map,
        0x90...0x9f, 0xdc, 0xdd => .array,
        0xa0...0xbf, 0xd9...0xdb => .string,
        0xc0 => .null,
        0xc1 => .nothing,
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
        var r: Reader = .init(.msgpack, case[0], 4);
        try testing.expectEqual(.integer, r.kind());
        const found = try r.integer();
        try r.end();
        try testing.expectEqual(@as(i64, case[1]), found.value);
        try testing.expect(!found.saturated);
    }
    var huge: Reader = .init(.msgpack, "\xcf\x80\x00\x00\x00\x00\x00\x00\x00", 4);
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
        var r: Reader = .init(.msgpack, bytes, 4);
        try r.skip(&list, testing.allocator);
        try r.end();
        for (0..bytes.len) |cut| {
            var short: Reader = .init(.msgpack, bytes[0..cut], 4);
            try testing.expectError(error.Malformed, short.skip(&list, testing.allocator));
        }
    }
}
