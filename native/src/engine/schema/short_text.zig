//! Short numbers have at most 24 bytes and 17 significant digits, from the first to the last that is not 0: what the text of
//! a double has.

const std = @import("std");
const Decimal = @import("decimal.zig").Decimal;

pub const bytes_max = 24;
pub const digits_max = 17;

/// What a text may still have.
pub const Room = struct {
    bytes: u8 = bytes_max,
    digits: u8 = digits_max,
    /// A digit other than 0 has come.
    is_begun: bool = false,

    /// Of numbers with fractions; of integers their bounds limit the digits.
    pub fn after(room: Room, byte: u8, has_fractions: bool) ?Room {
        if (room.bytes == 0) return null;
        var left = room;
        left.bytes -= 1;
        if (!has_fractions or !std.ascii.isDigit(byte)) return left;
        if (byte != '0') {
            left.is_begun = true;
            if (room.digits == 0) return null;
        }
        if (left.is_begun) left.digits -|= 1;
        return left;
    }
};

/// Whether a value is written so.
pub fn isShort(value: Decimal, negative: bool) bool {
    if (value.isZero()) return true;
    if (value.digits.len > digits_max) return false;
    const sign: i32 = @intFromBool(negative);
    return value.top() <= bytes_max - sign and (value.top() > 0 or value.fractionPlaces() + 2 <= bytes_max - sign);
}
