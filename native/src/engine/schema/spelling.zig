//! How strings are spelled in JSON texts: canonical, with the escapes that JSON demands and no other.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const Class = @import("goals.zig").Class;

/// The class of a scalar's canonical text.
pub fn classOf(text: []const u8) Class {
    return switch (text[0]) {
        'n' => .null,
        't', 'f' => .boolean,
        '"' => .string,
        else => .number,
    };
}

/// Whether a text is one of these, which ascend.
pub fn find(texts: []const []const u8, wanted: []const u8) bool {
    return std.sort.binarySearch([]const u8, texts, wanted, order) != null;
}

fn order(wanted: []const u8, text: []const u8) std.math.Order {
    return std.mem.order(u8, wanted, text);
}

pub fn nCharacters(utf8: []const u8) u32 {
    var n: u32 = 0;
    for (utf8) |byte| n += @intFromBool(byte & 0xc0 != 0x80);
    return n;
}

/// The escape of a character that cannot stand for itself, after the backslash.
pub fn escapeOf(byte: u8, buffer: *[5]u8) ?[]const u8 {
    const short: u8 = switch (byte) {
        '"', '\\' => byte,
        0x08 => 'b',
        0x0c => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        0x00...0x07, 0x0b, 0x0e...0x1f => {
            buffer.* = .{ 'u', '0', '0', '0' + (byte >> 4), "0123456789abcdef"[byte & 15] };
            return buffer;
        },
        else => return null,
    };
    buffer[0] = short;
    return buffer[0..1];
}

/// A string in quotes.
pub fn quoted(arena: Allocator, utf8: []const u8) Allocator.Error![]const u8 {
    var out: ArrayList(u8) = try .initCapacity(arena, utf8.len + 2);
    try out.append(arena, '"');
    for (utf8) |byte| {
        var buffer: [5]u8 = undefined;
        if (escapeOf(byte, &buffer)) |escape| {
            try out.append(arena, '\\');
            try out.appendSlice(arena, escape);
        } else try out.append(arena, byte);
    }
    try out.append(arena, '"');
    return out.items;
}

/// What a canonical text in quotes spells.
pub fn content(arena: Allocator, text: []const u8) Allocator.Error![]const u8 {
    return unescaped(arena, text[1 .. text.len - 1]);
}

/// What a canonical text spells, without its quotes.
pub fn unescaped(arena: Allocator, text: []const u8) Allocator.Error![]const u8 {
    var out: ArrayList(u8) = try .initCapacity(arena, text.len);
    var i: usize = 0;
    while (i < text.len) : (i += 1) {
        if (text[i] != '\\') {
            out.appendAssumeCapacity(text[i]);
            continue;
        }
        i += 1;
        const byte: u8 = switch (text[i]) {
            'b' => 0x08,
            'f' => 0x0c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => unit: {
                i += 4;
                break :unit std.fmt.parseInt(u8, text[i - 1 .. i + 1], 16) catch unreachable; // canonical
            },
            else => text[i],
        };
        out.appendAssumeCapacity(byte);
    }
    return out.items;
}

test "canonical spelling there and back" {
    var arena_state: Arena = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var all: [256]u8 = undefined;
    for (&all, 0..) |*byte, i| byte.* = @intCast(i);
    const text = try quoted(arena, &all);
    try std.testing.expectEqualSlices(u8, &all, try content(arena, text));
    try std.testing.expectEqualStrings("\"a\\n\\u0001\\\"\\\\/\"", try quoted(arena, "a\n\x01\"\\/"));
    try std.testing.expectEqual(3, nCharacters("a\u{e9}\u{1f600}"));
}
