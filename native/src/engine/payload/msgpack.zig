//! MessagePack (the specification of 2017, with str 8, bin and ext) for the reader. reader.zig says what each
//! operation promises.

const std = @import("std");
const input = @import("input.zig");
const Input = input.Input;
const Kind = input.Kind;
const Container = input.Container;
const Error = input.Error;

pub fn kind(in: *Input) Kind {
    if (in.at >= in.bytes.len) {
        in.ended() catch {};
        return .nothing;
    }
    const found = kinds[in.bytes[in.at]];
    if (found == .nothing) in.malformed("byte 0xc1 is not MessagePack", in.at) catch {};
    return found;
}

pub fn open(in: *Input, container: *Container) Error!void {
    const tag = try take(in, u8);
    container.remaining = switch (tag) {
        0x80...0x9f => tag & 0x0f,
        0xdc, 0xde => try take(in, u16),
        0xdd, 0xdf => try take(in, u32),
        else => unreachable, // `kind` said otherwise
    };
}

pub fn next(in: *Input, container: *Container) Error!void {
    container.ended = container.remaining == 0;
    if (container.ended) return;
    container.remaining -= 1;
    if (container.kind == .map) switch (kind(in)) {
        .string => {},
        .nothing => return error.Malformed,
        else => return in.malformed("a key is not a string", in.at),
    };
}

pub inline fn plainKey(in: *Input, map: *Container, comptime name: []const u8) bool {
    const spelling = [_]u8{0xa0 | @as(u8, name.len)} ++ name;
    if (map.remaining == 0 or !std.mem.startsWith(u8, in.bytes[in.at..], spelling)) return false;
    map.remaining -= 1;
    in.at += spelling.len;
    return true;
}

pub fn text(in: *Input, out: *[]const u8) Error!void {
    const first = in.at;
    out.* = try blob(in);
    if (!std.unicode.utf8ValidateSlice(out.*)) return in.malformed("string is not valid UTF-8", first);
}

pub fn plainTokens(in: *Input, array: *Container, room: []i32) usize {
    const most = @min(room.len, array.remaining);
    var at = in.at;
    var n: usize = 0;
    while (n < most and in.bytes.len - at >= 5) : (n += 1) {
        const bytes = in.bytes[at..][0..5];
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
    in.at = at;
    array.remaining -= @intCast(n);
    return n;
}

pub fn integer(in: *Input) Error!input.Integer {
    const tag = try take(in, u8);
    return switch (tag) {
        0x00...0x7f => .{ .value = tag },
        0xe0...0xff => .{ .value = @as(i8, @bitCast(tag)) },
        0xcc => .{ .value = try take(in, u8) },
        0xcd => .{ .value = try take(in, u16) },
        0xce => .{ .value = try take(in, u32) },
        0xcf => blk: {
            const large = try take(in, u64);
            const fits = std.math.cast(i64, large);
            break :blk .{ .value = fits orelse std.math.maxInt(i64), .saturated = fits == null };
        },
        0xd0 => .{ .value = try take(in, i8) },
        0xd1 => .{ .value = try take(in, i16) },
        0xd2 => .{ .value = try take(in, i32) },
        0xd3 => .{ .value = try take(in, i64) },
        else => unreachable, // `kind` said otherwise
    };
}

/// A float, a boolean, null, binary data or an extension.
pub fn skipOther(in: *Input, found: Kind) Error!void {
    switch (found) {
        .float => _ = try slice(in, if (try take(in, u8) == 0xca) 4 else 8),
        .boolean, .null => in.at += 1,
        .binary => _ = try blob(in),
        .extension => try skipExtension(in),
        .map, .array, .string, .integer, .nothing => unreachable, // the reader takes these
    }
}

/// The bytes of a string or of binary data.
fn blob(in: *Input) Error![]const u8 {
    const tag = try take(in, u8);
    const length: usize = switch (tag) {
        0xa0...0xbf => tag & 0x1f,
        0xc4, 0xd9 => try take(in, u8),
        0xc5, 0xda => try take(in, u16),
        0xc6, 0xdb => try take(in, u32),
        else => unreachable, // `kind` said otherwise
    };
    return slice(in, length);
}

fn skipExtension(in: *Input) Error!void {
    const tag = try take(in, u8);
    const length: usize = switch (tag) {
        0xd4...0xd8 => @as(usize, 1) << @intCast(tag - 0xd4),
        0xc7 => try take(in, u8),
        0xc8 => try take(in, u16),
        0xc9 => try take(in, u32),
        else => unreachable, // `kind` said otherwise
    };
    _ = try take(in, u8); // its type
    _ = try slice(in, length);
}

fn take(in: *Input, comptime T: type) Error!T {
    const bytes = try slice(in, @sizeOf(T));
    return std.mem.readInt(T, bytes[0..@sizeOf(T)], .big);
}

fn slice(in: *Input, length: usize) Error![]const u8 {
    if (in.bytes.len - in.at < length) return in.ended();
    defer in.at += length;
    return in.bytes[in.at..][0..length];
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
