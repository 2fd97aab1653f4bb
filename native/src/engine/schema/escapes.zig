//! The inside of a JSON string, byte by byte: what stands for itself, and what an escape spells.

const std = @import("std");
const spelling = @import("spelling.zig");

/// What came of an escape: 0 outside one; else 1, the number of its characters after the backslash from bit
/// 1 on, the first of them from bit 8 on, and the digits of a unit from bit 16 on.
pub const State = u32;

/// The characters of an escape so far, after the backslash.
pub const Prefix = struct {
    characters: [5]u8,
    len: u8,

    pub fn slice(prefix: *const Prefix) []const u8 {
        return prefix.characters[0..prefix.len];
    }
};

pub const Event = struct {
    state: State,
    what: union(enum) {
        /// The end of the string.
        quote,
        /// Stands for itself.
        byte: u8,
        unfinished: Prefix,
        /// An escape is whole.
        escaped: struct { unit: u16, is_canonical: bool },
    },
};

/// Null if JSON has no string that continues so.
pub fn next(state: State, byte: u8) ?Event {
    if (state == 0) return switch (byte) {
        '"' => .{ .state = 0, .what = .quote },
        '\\' => .{ .state = 1, .what = .{ .unfinished = .{ .characters = undefined, .len = 0 } } },
        0x00...0x1f => null,
        else => .{ .state = 0, .what = .{ .byte = byte } },
    };
    const n: u8 = @truncate(state >> 1 & 0x7f);
    if (n == 0) {
        if (byte == 'u') return unfinished(2 | 1, 0);
        const unit: u8 = switch (byte) {
            '"', '\\', '/' => byte,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            else => return null,
        };
        return .{ .state = 0, .what = .{ .escaped = .{ .unit = unit, .is_canonical = byte != '/' } } };
    }
    const digit = std.fmt.charToDigit(byte, 16) catch return null;
    // Upper case digits are never canonical: bit 15 remembers one.
    const is_upper = state >> 15 & 1 | @as(u32, @intFromBool(std.ascii.isUpper(byte)));
    const unit: u16 = @truncate((state >> 16 & 0x0fff) << 4 | digit);
    if (n < 4) return unfinished((@as(u32, n) + 1) << 1 | 1 | is_upper << 15, unit);
    const is_canonical = is_upper == 0 and unit < 0x20 and !hasShort(@intCast(unit));
    return .{ .state = 0, .what = .{ .escaped = .{ .unit = unit, .is_canonical = is_canonical } } };
}

fn unfinished(low: u32, unit: u16) Event {
    const n: u8 = @truncate(low >> 1 & 0x7f);
    var prefix: Prefix = .{ .characters = undefined, .len = n };
    prefix.characters[0] = 'u';
    for (1..n) |i| prefix.characters[i] = digits[unit >> @intCast(4 * (n - 1 - i)) & 15];
    // No canonical escape begins so.
    if (low >> 15 & 1 != 0) prefix.characters[0] = 'U';
    return .{ .state = low | @as(u32, unit) << 16, .what = .{ .unfinished = prefix } };
}

const digits = "0123456789abcdef";

fn hasShort(character: u8) bool {
    return switch (character) {
        0x08, 0x0c, '\n', '\r', '\t' => true,
        else => false,
    };
}

/// The escapes of canonical texts, after the backslash.
pub const canonical = blk: {
    @setEvalBranchQuota(10_000);
    var all: [34]struct { character: u8, escape: []const u8 } = undefined;
    var n: usize = 0;
    for (0..0x80) |character| {
        var buffer: [5]u8 = undefined;
        const escape = spelling.escapeOf(character, &buffer) orelse continue;
        const kept = escape[0..escape.len].*;
        all[n] = .{ .character = character, .escape = &kept };
        n += 1;
    }
    std.debug.assert(n == all.len);
    break :blk all;
};
