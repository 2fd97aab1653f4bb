//! The magnitudes that numbers of a set with one sign may have, and what the digits read so far leave of them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const sort = @import("../base/sort.zig").sort;
const Order = std.math.Order;
const decimal = @import("decimal.zig");
const Decimal = decimal.Decimal;
const Multiples = @import("multiples.zig").Multiples;
const Bound = @import("number_spec.zig").Bound;
const Spec = @import("number_spec.zig").Spec;
const short_text = @import("short_text.zig");

pub const Side = struct {
    multiples: Multiples,
    /// There is no value. The rest is then not asked for.
    empty: bool = false,
    least: Bound,
    /// Null if there is no upper bound.
    most: ?Bound,
    /// Of `least`, if there is a step.
    least_remainder: u64 = 0,
    /// The value of `most` is not out for another reason than `least` and `excluded`.
    has_most: bool = false,
    /// Values that are in the set but for this, in the order of their texts, so that those which begin
    /// alike stand together.
    excluded: []const Decimal = &.{},
    /// Fraction digits of all that was said so far.
    places: u32,
    /// Places count, since they are limited.
    is_short: bool,

    /// What the rest of a number depends on. Before the point it counts digits of the integer part, none for a
    /// single 0; after the point those of the fraction.
    pub const Position = struct {
        /// How the digits compare with as many of the lower bound; greater if that has less.
        least: Order = .eq,
        /// With the upper bound. Less if there is none.
        most: Order = .eq,
        /// A digit other than 0 has followed those that matter to multiples.
        loose: bool = false,
        /// How many digits were read, or the number from which on it does not matter.
        place: u32 = 0,
        remainder: u64 = 0,
        /// Of `excluded`: those that begin so.
        from: u32 = 0,
        to: u32 = 0,
    };

    /// Above what an interval needs in order to have a multiple that is not excluded.
    const width_max = 1 << 100;

    pub fn init(arena: Allocator, spec: Spec, multiples: Multiples, negative: bool) Allocator.Error!Side {
        const low, const high = if (negative) .{ spec.most, spec.least } else .{ spec.least, spec.most };
        var s: Side = .{
            .multiples = multiples,
            .empty = multiples.isEmpty(),
            .least = .{ .decimal = .zero, .strict = false },
            .most = null,
            .places = multiples.scale,
            .is_short = spec.is_short,
        };
        if (low) |bound| if (bound.decimal.isZero() or bound.decimal.negative == negative) {
            s.least = .{ .decimal = bound.decimal.magnitude(), .strict = bound.strict };
        };
        if (high) |bound| {
            s.most = .{ .decimal = bound.decimal.magnitude(), .strict = bound.strict };
            if (!bound.decimal.isZero() and bound.decimal.negative != negative) s.empty = true;
        }
        if (s.empty) return s;

        if (multiples.step != 0) try s.tighten(arena);
        if (s.empty) return s;
        for ([_]?Bound{ s.least, s.most }) |bound| {
            if (bound) |b| s.places = @max(s.places, b.decimal.fractionPlaces());
        }
        if (s.most) |most| s.has_most = !most.strict and multiples.hasValue(most.decimal);
        try s.exclude(arena, spec, negative);
        return s;
    }

    /// Moves the bounds inwards to values with no more fraction digits than multiples have.
    fn tighten(s: *Side, arena: Allocator) Allocator.Error!void {
        const scale = s.multiples.scale;
        s.least = .{ .decimal = try s.least.decimal.roundUp(arena, scale, s.least.strict), .strict = false };
        s.least_remainder = s.multiples.remainderOf(s.least.decimal);
        if (s.most) |most| {
            if (try most.decimal.roundDown(arena, scale, most.strict)) |inner| {
                s.most = .{ .decimal = inner, .strict = false };
            } else s.empty = true;
        }
    }

    fn exclude(s: *Side, arena: Allocator, spec: Spec, negative: bool) Allocator.Error!void {
        var kept: ArrayList(Decimal) = .empty;
        for (spec.excluded) |value| {
            const d = value.magnitude();
            if (!d.isZero() and value.negative != negative) continue;
            if (!s.isWithin(d) or !s.multiples.hasValue(d)) continue;
            if (spec.is_short and spec.fractions and !short_text.isShort(d, negative)) continue;
            s.places = @max(s.places, d.fractionPlaces());
            try kept.append(arena, d);
        }
        sort(Decimal, kept.items, {}, isTextBefore);
        var n: usize = 0;
        for (kept.items) |d| {
            if (n > 0 and decimal.compare(kept.items[n - 1], d) == .eq) continue;
            kept.items[n] = d;
            n += 1;
        }
        s.excluded = kept.items[0..n];
    }

    fn isWithin(s: *const Side, d: Decimal) bool {
        const least = decimal.compare(d, s.least.decimal);
        if (least == .lt or (least == .eq and s.least.strict)) return false;
        const most = decimal.compare(d, (s.most orelse return true).decimal);
        return most == .lt or (most == .eq and !s.most.?.strict);
    }

    pub fn begin(s: *const Side) Position {
        return .{ .most = if (s.most == null) .lt else .eq, .to = @intCast(s.excluded.len) };
    }

    /// After a 0 that is the whole integer part. Null, of this and the next three: no value of the set begins so.
    pub fn afterZero(s: *const Side, before: Position) ?Position {
        var at = before;
        at.least, at.most = s.orders(before, 0);
        s.narrow(&at, .{ .integer_places = 0 });
        return if (s.hasCompletion(at, 0)) at else null;
    }

    pub fn afterInteger(s: *const Side, before: Position, digit: u8) ?Position {
        if (s.empty) return null;
        var at = before;
        at.least = orderAfter(before.least, s.least.decimal, before.place, digit);
        if (s.most) |most| at.most = orderAfter(before.most, most.decimal, before.place, digit);
        at.remainder = s.multiples.append(before.remainder, digit, s.multiples.scale);
        s.narrow(&at, .{ .integer_digit = digit });
        at.place += 1;
        if (s.most == null and at.from == at.to and !s.is_short) at.place = @min(at.place, s.least.decimal.integerPlaces());
        if (s.most == null) return at; // without a bound there are values after any digits
        return if (s.hasLonger(at)) at else null;
    }

    fn orderAfter(before: Order, bound: Decimal, place: u32, digit: u8) Order {
        const places = bound.integerPlaces();
        if (place >= places) return .gt;
        return if (before == .eq) std.math.order(digit, bound.digit(@intCast(places - 1 - place))) else before;
    }

    pub fn afterPoint(s: *const Side, before: Position) ?Position {
        var at = before;
        at.least, at.most = s.orders(before, 0);
        s.narrow(&at, .{ .integer_places = before.place });
        at.place = 0;
        return if (s.hasCompletion(at, 0)) at else null;
    }

    pub fn afterFraction(s: *const Side, before: Position, digit: u8) ?Position {
        const place = -1 - @as(i32, @intCast(before.place));
        var at = before;
        if (before.least == .eq) at.least = std.math.order(digit, s.least.decimal.digit(place));
        if (before.most == .eq) at.most = std.math.order(digit, s.most.?.decimal.digit(place));
        if (before.place < s.multiples.scale) {
            at.remainder = s.multiples.append(before.remainder, digit, s.multiples.scale - before.place - 1);
        } else if (digit != 0) {
            if (s.multiples.step != 0) return null;
            at.loose = true;
            at.remainder = 0;
        }
        s.narrow(&at, .{ .fraction_digit = digit });
        if (at.least == .eq and !s.least.strict and !s.least.decimal.hasBelow(place)) at.least = .gt;
        const is_open = at.least == .eq or at.most == .eq or at.from != at.to;
        at.place = before.place + 1;
        if (!s.is_short) at.place = @min(at.place, if (is_open) s.places else s.multiples.scale);
        return if (s.hasCompletion(at, -@as(i32, @intCast(at.place)))) at else null;
    }

    /// Whether what was read, without a point, is a value of the set.
    pub fn hasInteger(s: *const Side, at: Position) bool {
        var whole = at;
        whole.least, whole.most = s.orders(at, 0);
        s.narrow(&whole, .{ .integer_places = at.place });
        whole.place = 0;
        return s.hasFraction(whole);
    }

    /// Whether what was read, with a point, is a value of the set.
    pub fn hasFraction(s: *const Side, at: Position) bool {
        const last = -@as(i32, @intCast(at.place));
        if (at.least == .lt or at.most == .gt) return false;
        if (at.least == .eq and (s.least.strict or s.least.decimal.hasBelow(last))) return false;
        if (at.most == .eq and s.most.?.strict and !s.most.?.decimal.hasBelow(last)) return false;
        // The value with nothing but zeros to come is the first in the order of texts.
        if (at.from != at.to and !s.excluded[at.from].hasBelow(last)) return false;
        if (at.loose) return true;
        const scale = s.multiples.scale;
        return s.multiples.has(s.multiples.shift(at.remainder, scale - @min(scale, at.place)));
    }

    /// How an integer part of the digits read and `more` ones compares with the bounds, as far as it is read.
    pub fn orders(s: *const Side, at: Position, more: u32) struct { Order, Order } {
        const least = std.math.order(at.place + more, s.least.decimal.integerPlaces());
        const most = if (s.most) |most| std.math.order(at.place + more, most.decimal.integerPlaces()) else .lt;
        return .{ if (least == .eq) at.least else least, if (most == .eq) at.most else most };
    }

    /// Whether digits of an integer part are those of a value, or of the beginning of one. There is an upper bound.
    fn hasLonger(s: *const Side, at: Position) bool {
        const longest = s.most.?.decimal.integerPlaces();
        if (at.place > longest) return false;
        const shortest = @max(at.place, s.least.decimal.integerPlaces());
        var found: u64 = 0;
        var length = longest + 1; // The longest first: where there are many values, they are among these.
        while (length > shortest) {
            length -= 1;
            const least, const most = s.orders(at, length - at.place);
            found +|= s.countValues(at, least, most, @intCast(length - at.place));
            if (found > at.to - at.from) return true;
        }
        return false;
    }

    /// Whether there is a value with the digits read as its highest ones, the last of which is the one of ten
    /// to the `place`.
    fn hasCompletion(s: *const Side, at: Position, place: i32) bool {
        return !s.empty and s.countValues(at, at.least, at.most, place) > at.to - at.from;
    }

    const infinite = std.math.maxInt(u32) + 1;

    /// How many values there are with the digits read as their highest ones, those excluded not taken away;
    /// no more than `infinite`.
    fn countValues(s: *const Side, at: Position, least: Order, most: Order, place: i32) u64 {
        if (least == .lt or most == .gt) return 0;
        const scale: i32 = @intCast(s.multiples.scale);
        if (s.multiples.step == 0) {
            if (most == .lt) return infinite;
            const width = s.widthBelow(place, -@as(i32, @intCast(s.places)), least, most);
            if (width != 0) return if (width > 0) infinite else 0;
            return @intFromBool(s.has_most and !(least == .eq and s.least.strict));
        }
        const width = s.widthBelow(place, -scale, least, most);
        if (width < 0) return 0;
        const first = if (least == .eq) s.least_remainder else s.multiples.shift(at.remainder, @intCast(@max(0, place + scale)));
        return @intCast(@min(infinite, s.multiples.count(first, @intCast(width))));
    }

    /// From the lowest to the highest number with the digits read, in units of the `last` place: where they are
    /// those of a bound, that is it. Exact up to `width_max`.
    fn widthBelow(s: *const Side, place: i32, last: i32, least: Order, most: Order) i128 {
        var width: i128 = 0;
        var at = place;
        while (at > last and width >= 0 and width < width_max) {
            at -= 1;
            const low: i128 = if (least == .eq) s.least.decimal.digit(at) else 0;
            const high: i128 = if (most == .eq) s.most.?.decimal.digit(at) else 9;
            width = width * 10 + high - low;
        }
        return width;
    }

    const Narrowing = union(enum) {
        /// Exactly so many digits before the point, none for 0.
        integer_places: u32,
        integer_digit: u8,
        fraction_digit: u8,
    };

    /// Leaves of the excluded values those that continue so.
    fn narrow(s: *const Side, at: *Position, by: Narrowing) void {
        if (at.from == at.to) return;
        const Context = struct {
            at: Position,
            by: Narrowing,

            fn order(c: @This(), d: Decimal) Order {
                const wanted: u32, const found: u32 = switch (c.by) {
                    .integer_places => |places| .{ places, d.integerPlaces() },
                    // One that ends here comes before those that have a digit.
                    .integer_digit => |digit| .{ @as(u32, digit) + 1, digitAfter(d, c.at.place) },
                    .fraction_digit => |digit| .{ digit, d.digit(-1 - @as(i32, @intCast(c.at.place))) },
                };
                return std.math.order(wanted, found);
            }
        };
        const from, const to = std.sort.equalRange(Decimal, s.excluded[at.from..at.to], Context{ .at = at.*, .by = by }, Context.order);
        at.to = at.from + @as(u32, @intCast(to));
        at.from += @intCast(from);
        if (at.from == at.to) {
            at.from = 0;
            at.to = 0;
        }
    }
};

/// The digit of the integer part after the first `n`, plus one; 0 if there is none.
fn digitAfter(d: Decimal, n: u32) u32 {
    const places = d.integerPlaces();
    if (n >= places) return 0;
    return @as(u32, d.digit(@intCast(places - 1 - n))) + 1;
}

/// The order of texts in which the end of the integer part comes before a digit.
fn isTextBefore(_: void, a: Decimal, b: Decimal) bool {
    for (0..@max(a.integerPlaces(), b.integerPlaces())) |n| {
        const of_a, const of_b = .{ digitAfter(a, @intCast(n)), digitAfter(b, @intCast(n)) };
        if (of_a != of_b) return of_a < of_b;
    }
    // The integer parts are the same.
    return decimal.compare(a, b) == .lt;
}
