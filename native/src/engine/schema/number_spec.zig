//! What a set of numbers is given by.

const std = @import("std");
const Order = std.math.Order;
const decimal = @import("decimal.zig");
const short_text = @import("short_text.zig");
const Decimal = decimal.Decimal;

pub const Bound = struct {
    decimal: Decimal,
    /// The value itself is out.
    strict: bool,
};

/// A conjunction. What it refers to is lent for the life of the automaton; its decimals are within the bounds that
/// `decimal.parse` puts on them.
pub const Spec = struct {
    /// Whether numbers whose value is an integer are in the set.
    integers: bool = true,
    /// Whether others are.
    fractions: bool = true,
    least: ?Bound = null,
    most: ?Bound = null,
    /// The value is a multiple of each. All are positive.
    multiples: []const Decimal = &.{},
    /// The value is a multiple of none of these. All are positive.
    not_multiples: []const Decimal = &.{},
    /// Values that are not in the set.
    excluded: []const Decimal = &.{},
    /// Integers may be spelled 1.0 even where no fractions are in the set.
    integer_fraction: bool = false,
    /// No exponent, even where there is no constraint.
    is_plain: bool = false,
    /// Only numbers as short as the text of a double: short_text.zig.
    is_short: bool = false,

    /// The same with short numbers only. Integers are those of 64 bits, with a sign or without.
    pub fn toShort(spec: Spec) Spec {
        var short = spec;
        short.is_short = true;
        if (spec.fractions) return short;
        short.atLeast(.{ .decimal = .{ .negative = true, .digits = "9223372036854775808", .exponent = 0 }, .strict = false });
        short.atMost(.{ .decimal = .{ .digits = "18446744073709551615", .exponent = 0 }, .strict = false });
        return short;
    }

    /// Adds a lower bound.
    pub fn atLeast(spec: *Spec, bound: Bound) void {
        if (spec.least) |old| if (!isTighter(bound, old, .gt)) return;
        spec.least = bound;
    }

    /// Adds an upper bound.
    pub fn atMost(spec: *Spec, bound: Bound) void {
        if (spec.most) |old| if (!isTighter(bound, old, .lt)) return;
        spec.most = bound;
    }

    fn isTighter(bound: Bound, old: Bound, inner: Order) bool {
        const order = decimal.compare(bound.decimal, old.decimal);
        return order == inner or (order == .eq and bound.strict);
    }

    /// If there is a value, there are infinitely many: no bound on one side, or any fraction between two bounds that
    /// are not the same.
    pub fn isEndless(spec: Spec) bool {
        const least = spec.least orelse return spec.multiples.len == 0 or spec.not_multiples.len == 0;
        const most = spec.most orelse return spec.multiples.len == 0 or spec.not_multiples.len == 0;
        return spec.fractions and spec.multiples.len == 0 and decimal.compare(least.decimal, most.decimal) == .lt;
    }

    /// Of a set that is not endless: no value needs more digits after the point.
    pub fn places(spec: Spec) u32 {
        if (spec.is_short and spec.fractions) return short_text.bytes_max;
        if (spec.multiples.len > 0) return spec.multiples[0].fractionPlaces();
        return if (spec.fractions) spec.least.?.decimal.fractionPlaces() else 0;
    }

    /// Of a value with this sign: its text can at each byte still become infinitely many others.
    pub fn isOpen(spec: Spec, sign: Order) bool {
        if (spec.is_short) return false;
        if (spec.multiples.len > 0 or spec.not_multiples.len > 0) return false;
        if (spec.fractions) return spec.least == null and spec.most == null;
        if (spec.integer_fraction) return false;
        return switch (sign) {
            .lt => spec.least == null,
            .eq => false,
            .gt => spec.most == null,
        };
    }

    /// There is no constraint.
    pub fn isFree(spec: Spec) bool {
        return !spec.is_plain and spec.integers and spec.fractions and spec.least == null and spec.most == null and
            spec.multiples.len == 0 and spec.not_multiples.len == 0 and spec.excluded.len == 0;
    }
};
