//! How many short numbers without an exponent a text can still become.

const std = @import("std");
const Order = std.math.Order;
const decimal = @import("decimal.zig");
const Decimal = decimal.Decimal;
const powerOfTen = decimal.powerOfTen;
const short_text = @import("short_text.zig");
const bytes_max = short_text.bytes_max;
const digits_max = short_text.digits_max;
const Room = short_text.Room;
const side_module = @import("number_side.zig");
const Side = side_module.Side;
const Position = Side.Position;

/// Values that begin with the digits of an integer part that is not 0, with a limit.
pub fn ofInteger(s: *const Side, at: Position, room: Room) u64 {
    var n: u64 = 0;
    for (0..@as(usize, room.bytes) + 1) |more| {
        const place: i32 = @intCast(more);
        const least, const most = s.orders(at, @intCast(more));
        n +|= count(s, at, .{ .least = least, .most = most, .place = place, .last = place - room.digits });
    }
    return n;
}

/// Values that begin with a point and the digits after it, of which there may be none.
pub fn ofFraction(s: *const Side, at: Position, room: Room) u64 {
    const place = -@as(i32, @intCast(at.place));
    const here: Window = .{ .least = at.least, .most = at.most, .place = place, .last = place };
    if (room.is_begun) return count(s, at, here.downTo(place - @min(room.digits, room.bytes)));
    var n = count(s, at, here); // 0
    for (0..room.bytes) |zeros| {
        const digits: u8 = @min(digits_max, room.bytes - @as(u8, @intCast(zeros)));
        var window = here.downTo(place - @as(i32, @intCast(zeros)) - digits);
        window.digits = digits;
        n +|= count(s, at, window);
    }
    return n;
}

/// All values of a side.
pub fn ofSide(s: *const Side, negative: bool, has_fractions: bool) u64 {
    const bytes: u8 = bytes_max - @as(u8, @intFromBool(negative));
    var n = if (s.afterZero(s.begin())) |at| ofFraction(s, at, .{ .bytes = bytes - 2 }) else 0;
    for (1..@as(usize, bytes) + 1) |digits| {
        const place: i32 = @intCast(digits);
        const least, const most = s.orders(s.begin(), @intCast(digits));
        const last = if (has_fractions) place - digits_max else 0;
        n +|= count(s, s.begin(), .{ .least = least, .most = most, .place = place, .last = last, .digits = @intCast(place - last) });
    }
    return n;
}

/// The numbers with the digits read as their highest ones, the last of which is the one of ten to the `place`, and no
/// other digit than 0 below ten to the `last`.
const Window = struct {
    least: Order,
    most: Order,
    place: i32,
    last: i32,
    /// If given, the first of so many last ones is not 0, and what is before them is.
    digits: ?u8 = null,

    fn downTo(window: Window, last: i32) Window {
        var lower = window;
        lower.last = last;
        return lower;
    }
};

fn count(s: *const Side, at: Position, w: Window) u64 {
    if (s.empty or w.least == .lt or w.most == .gt) return 0;
    const n_digits: u32 = @intCast(w.place - w.last);
    var low: u128 = if (w.digits) |n| powerOfTen(n - 1) else 0;
    var high: u128 = powerOfTen(w.digits orelse n_digits) - 1;
    if (w.least == .eq) {
        const is_out = s.least.strict or s.least.decimal.hasBelow(w.last);
        low = @max(low, digitsOf(s.least.decimal, w) + @intFromBool(is_out));
    }
    if (w.most == .eq) {
        const most = s.most.?;
        const is_out: u128 = @intFromBool(most.strict and !most.decimal.hasBelow(w.last));
        const digits = digitsOf(most.decimal, w);
        if (digits < is_out) return 0;
        high = @min(high, digits - is_out);
    }
    if (low > high) return 0;
    return std.math.lossyCast(u64, s.multiples.countBelow(at.remainder, at.loose, w.place, w.last, low, high));
}

fn digitsOf(d: Decimal, w: Window) u128 {
    var digits: u128 = 0;
    var place = w.place;
    while (place > w.last) {
        place -= 1;
        digits = digits * 10 + d.digit(place);
    }
    return digits;
}
