//! The texts of a number without constraint, with an exponent or without: all that JSON allows, or the short ones.

const std = @import("std");
const short = @import("short_text.zig");

const State = u32;

/// Where a text stands. All but `phase` is of short ones.
const Text = packed struct(State) {
    phase: Phase = .start,
    bytes: u5 = 0,
    /// Significant ones so far.
    digits: u5 = 0,
    /// Of ten: that of the first significant digit, or as many zeros as follow the point. In an exponent, its digits.
    power: i7 = 0,
    /// The significant digits beside those of the greatest double.
    order: enum(u2) { same, less, greater } = .same,
    /// The greatest exponent.
    most: u9 = 0,

    /// There is no greatest one.
    const any = std.math.maxInt(u9);
    /// An exponent of which no digit follows.
    const whole = std.math.maxInt(i7);

    fn after(text: Text, phase: Phase, byte: u8) ?Text {
        var to = text;
        to.phase = phase;
        if (text.bytes == short.bytes_max) return null;
        to.bytes += 1;
        switch (phase) {
            .sign => {},
            .zero, .integer, .fraction => if (!to.addDigit(byte)) return null,
            .exponent => {
                to.most = if (text.digits == 0) any else @intCast(308 - @as(i32, text.power) - @intFromBool(text.order == .greater));
                to.digits, to.power, to.order = .{ 0, 0, .same };
            },
            .exponent_sign => if (byte == '-') {
                to.most = any;
            },
            .exponent_digits => return to.withExponent(byte),
            .point => {},
            .start => unreachable,
        }
        // These need one digit more.
        return if (!phase.canEnd() and to.bytes == short.bytes_max) null else to;
    }

    /// False if it is one too many.
    fn addDigit(text: *Text, byte: u8) bool {
        if (text.phase == .fraction and text.digits == 0) text.power -= 1;
        if (text.phase == .integer and text.digits > 0) text.power += 1;
        if (text.digits == 0 and byte == '0') return true;
        if (text.digits == short.digits_max) return byte == '0';
        if (text.order == .same) text.order = switch (std.math.order(byte, greatest[text.digits])) {
            .lt => .less,
            .eq => .same,
            .gt => .greater,
        };
        text.digits += 1;
        return true;
    }

    fn withExponent(text: Text, byte: u8) ?Text {
        var to = text;
        if (text.most == any) return to;
        const value = @as(u32, @intCast(text.power)) * 10 + byte - '0';
        if (value > text.most) return null;
        if (value * 10 <= text.most) {
            to.power = @intCast(value);
        } else {
            to.power = whole;
            to.bytes = short.bytes_max;
        }
        return to;
    }
};

/// 1.7976931348623157e308.
const greatest: *const [short.digits_max]u8 = "17976931348623157";

const Phase = enum(u4) {
    start,
    sign,
    zero,
    integer,
    point,
    fraction,
    exponent,
    exponent_sign,
    exponent_digits,

    fn canEnd(phase: Phase) bool {
        return switch (phase) {
            .zero, .integer, .fraction, .exponent_digits => true,
            else => false,
        };
    }

    fn after(phase: Phase, byte: u8) ?Phase {
        return switch (byte) {
            '-' => switch (phase) {
                .start => .sign,
                .exponent => .exponent_sign,
                else => null,
            },
            '+' => if (phase == .exponent) .exponent_sign else null,
            '.' => if (phase == .zero or phase == .integer) .point else null,
            'e', 'E' => switch (phase) {
                .zero, .integer, .fraction => .exponent,
                else => null,
            },
            '0'...'9' => switch (phase) {
                .start, .sign => if (byte == '0') .zero else .integer,
                .zero => null,
                .integer => .integer,
                .point, .fraction => .fraction,
                .exponent, .exponent_sign, .exponent_digits => .exponent_digits,
            },
            else => null,
        };
    }
};

pub fn next(state: State, byte: u8, is_short: bool) ?State {
    const text: Text = @bitCast(state);
    const phase = text.phase.after(byte) orelse return null;
    return @bitCast(if (is_short) text.after(phase, byte) orelse return null else Text{ .phase = phase });
}

pub fn canEnd(state: State) bool {
    return @as(Text, @bitCast(state)).phase.canEnd();
}
