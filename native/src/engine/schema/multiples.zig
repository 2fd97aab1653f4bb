//! What values are multiples of, and what they are not, by remainders: as whole numbers, in units of the last
//! fraction digit that matters.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const decimal = @import("decimal.zig");
const Decimal = decimal.Decimal;
const powerOfTen = decimal.powerOfTen;

/// The least common multiple of all numbers is at most this, in units of the last fraction digit that matters.
pub const period_max = 1 << 60;
/// Numbers that values are no multiples of, without those that are multiples of another one.
pub const nots_max = 8;

pub const Multiples = struct {
    /// Fraction digits that matter. What follows them is 0 in a multiple of `step`, and where it is not, the value
    /// is no multiple of any of `nots`.
    scale: u32,
    /// Values are multiples of it; 0: no matter of what.
    step: u64,
    /// And of none of these, which are multiples of `step`.
    nots: []const u64,
    /// What the remainders of a number are of that still gets as many zeros: at first the least common multiple,
    /// then without factors that the zeros bring. The last is for any more zeros, too.
    periods: []const u64,
    /// Numbers whose multiples are counted, and taken away again.
    terms: []const Term,

    const Term = struct { of: u64, sign: i8 };
    pub const Error = error{ OutOfMemory, TooLarge };

    /// Multiples of each of `of` and of none of `not`, all of which are positive.
    pub fn init(arena: Allocator, of: []const Decimal, not: []const Decimal) Error!Multiples {
        var common: ?Factors = null;
        for (of) |d| {
            const one = try Factors.init(d);
            common = if (common) |c| try c.leastCommonMultiple(one) else one;
        }
        var kept: ArrayList(Factors) = .empty;
        for (not) |d| {
            const one = try Factors.init(d);
            try keepLeast(arena, &kept, if (common) |c| try c.leastCommonMultiple(one) else one);
        }
        if (kept.items.len > nots_max) return error.TooLarge;

        // On multiples of `step` no digit after its own last one is other than 0.
        var scale = if (common) |c| c.scale() else 0;
        if (common == null) for (kept.items) |f| {
            scale = @max(scale, f.scale());
        };
        const step = if (common) |c| try c.scaled(scale) else 0;
        var period = @max(1, step);
        const nots = try arena.alloc(u64, kept.items.len);
        for (nots, kept.items) |*to, f| {
            to.* = try f.scaled(scale);
            period = try leastCommon(period, to.*);
        }
        return .{
            .scale = scale,
            .step = step,
            .nots = nots,
            .periods = try periodsFrom(arena, period, scale),
            // Without a step there are values between the multiples of all numbers: no term is for them.
            .terms = if (step == 0) (try inclusionExclusion(arena, 1, nots))[1..] else try inclusionExclusion(arena, step, nots),
        };
    }

    /// No value at all, not even 0.
    pub fn isEmpty(m: Multiples) bool {
        return m.step != 0 and std.mem.findScalar(u64, m.nots, m.step) != null;
    }

    /// The remainder with a digit more, if `scale` is reached by so many zeros after it.
    pub fn append(m: Multiples, remainder: u64, digit: u8, zeros: u32) u64 {
        return (remainder * 10 + digit) % m.periods[@min(zeros, m.periods.len - 1)];
    }

    /// The remainder at `scale`, which is reached by so many zeros.
    pub fn shift(m: Multiples, remainder: u64, zeros: u32) u64 {
        var result = remainder;
        var power: u64 = 10;
        var left = zeros;
        while (left != 0) : (left >>= 1) {
            if (left & 1 != 0) result = m.multiply(result, power);
            power = m.multiply(power, power);
        }
        return result;
    }

    fn multiply(m: Multiples, a: u64, b: u64) u64 {
        return @intCast(@as(u128, a) * b % m.periods[0]);
    }

    /// That of a number with nothing but zeros after `scale`.
    pub fn remainderOf(m: Multiples, d: Decimal) u64 {
        const last = -@as(i32, @intCast(m.scale));
        std.debug.assert(!d.hasBelow(last));
        var remainder: u64 = 0;
        var place = d.top();
        while (place > last) {
            place -= 1;
            remainder = m.append(remainder, d.digit(place), 0);
        }
        return remainder;
    }

    /// Whether a value with this remainder at `scale` is one of the set.
    pub fn has(m: Multiples, remainder: u64) bool {
        if (m.step != 0 and remainder % m.step != 0) return false;
        for (m.nots) |of| if (remainder % of == 0) return false;
        return true;
    }

    pub fn hasValue(m: Multiples, d: Decimal) bool {
        if (d.hasBelow(-@as(i32, @intCast(m.scale)))) return m.step == 0;
        return m.has(m.remainderOf(d));
    }

    /// How many of the set there are from a value with this remainder at `scale` to the one that is `width` higher.
    /// Only for a set with a `step`.
    pub fn count(m: Multiples, remainder: u64, width: u128) i128 {
        var n: i128 = 0;
        for (m.terms) |term| {
            const first = (term.of - remainder % term.of) % term.of;
            if (first <= width) n += term.sign * @as(i128, @intCast((width - first) / term.of + 1));
        }
        return n;
    }

    /// How many of the set there are among numbers that begin with digits down to the one of ten to the `place`, and are in
    /// units of ten to the `last` from `low` to `high` above these. `remainder` is that of the digits, which are
    /// `loose` if one is not 0 behind `scale`.
    pub fn countBelow(m: Multiples, remainder: u64, loose: bool, place: i32, last: i32, low: u128, high: u128) u128 {
        var n: i128 = if (m.step == 0) @intCast(high - low + 1) else 0;
        if (loose) return @intCast(n);
        const scale: i32 = @intCast(m.scale);
        const digits = if (place > -scale) m.shift(remainder, @intCast(place + scale)) else remainder;
        // Of units below `scale` only those matter that are whole ones of it.
        const many = powerOfTen(@intCast(std.math.clamp(-scale - last, 0, place - last)));
        const from, const to = .{ std.math.divCeil(u128, low, many) catch unreachable, high / many };
        if (from > to) return @intCast(n);
        const unit = m.shift(1, @intCast(@max(0, last + scale)));
        for (m.terms) |term| n += term.sign * @as(i128, @intCast(countOf(term.of, digits, unit, from, to)));
        return @intCast(n);
    }
};

/// How many numbers from `from` to `to` there are that, in units of `unit` and with `digits` added, are multiples of `of`.
fn countOf(of: u64, digits: u64, unit: u64, from: u128, to: u128) u128 {
    const shared = std.math.gcd(unit % of, of);
    if (digits % shared != 0) return 0;
    const period: i128 = of / shared;
    const wanted = @mod(-@as(i128, digits / shared) * inverse(unit % of / shared, period), period);
    const first: u128 = @intCast(wanted);
    const n_to = (to + @as(u128, @intCast(period)) - first) / @as(u128, @intCast(period));
    const n_from = (from + @as(u128, @intCast(period)) - first -| 1) / @as(u128, @intCast(period));
    return n_to - n_from;
}

/// Of a number without a common factor: their product leaves 1 of the period (Euclid).
fn inverse(of: u64, period: i128) i128 {
    var a: i128, var b: i128 = .{ period, @mod(of, period) };
    var x: i128, var y: i128 = .{ 0, 1 };
    while (b != 0) {
        const quotient = @divFloor(a, b);
        a, b = .{ b, a - quotient * b };
        x, y = .{ y, x - quotient * y };
    }
    return @mod(x, period);
}

/// Keeps `f` unless it is a multiple of a kept one, and drops its own multiples.
fn keepLeast(arena: Allocator, kept: *ArrayList(Factors), f: Factors) Allocator.Error!void {
    for (kept.items) |one| if (one.divides(f)) return;
    var n: usize = 0;
    for (kept.items) |one| {
        if (f.divides(one)) continue;
        kept.items[n] = one;
        n += 1;
    }
    kept.shrinkRetainingCapacity(n);
    try kept.append(arena, f);
}

fn periodsFrom(arena: Allocator, period: u64, scale: u32) Allocator.Error![]const u64 {
    var periods: ArrayList(u64) = .empty;
    try periods.append(arena, period);
    for (0..scale) |_| {
        const last = periods.getLast();
        const factor = std.math.gcd(last, 10);
        if (factor == 1) break;
        try periods.append(arena, last / factor);
    }
    return periods.items;
}

fn inclusionExclusion(arena: Allocator, step: u64, nots: []const u64) Multiples.Error![]const Multiples.Term {
    const terms = try arena.alloc(Multiples.Term, @as(usize, 1) << @intCast(nots.len));
    terms[0] = .{ .of = step, .sign = 1 };
    var n: usize = 1;
    for (nots) |of| {
        for (terms[0..n], terms[n..][0..n]) |term, *to| {
            to.* = .{ .of = try leastCommon(term.of, of), .sign = -term.sign };
        }
        n *= 2;
    }
    return terms;
}

fn leastCommon(a: u64, b: u64) error{TooLarge}!u64 {
    return product(a, b / std.math.gcd(a, b));
}

fn product(a: u64, b: u64) error{TooLarge}!u64 {
    const result = std.math.mul(u64, a, b) catch return error.TooLarge;
    return if (result > period_max) error.TooLarge else result;
}

/// Two to the `two` times five to the `five` times `rest`, which has neither factor: so the common multiple of
/// very large and very small numbers is found without their digits.
const Factors = struct {
    two: i32,
    five: i32,
    rest: u64,

    fn init(d: Decimal) error{TooLarge}!Factors {
        std.debug.assert(!d.isZero());
        var rest = std.fmt.parseInt(u128, d.digits, 10) catch return error.TooLarge;
        var f: Factors = .{ .two = d.exponent, .five = d.exponent, .rest = 0 };
        while (rest % 2 == 0) : (rest /= 2) f.two += 1;
        while (rest % 5 == 0) : (rest /= 5) f.five += 1;
        if (rest > period_max) return error.TooLarge;
        f.rest = @intCast(rest);
        return f;
    }

    fn leastCommonMultiple(a: Factors, b: Factors) error{TooLarge}!Factors {
        return .{
            .two = @max(a.two, b.two),
            .five = @max(a.five, b.five),
            .rest = try leastCommon(a.rest, b.rest),
        };
    }

    fn divides(f: Factors, other: Factors) bool {
        return f.two <= other.two and f.five <= other.five and other.rest % f.rest == 0;
    }

    /// Fraction digits of the number.
    fn scale(f: Factors) u32 {
        return @intCast(@max(0, -f.two, -f.five));
    }

    /// The number times ten to the `places`, which makes it an integer.
    fn scaled(f: Factors, places: u32) error{TooLarge}!u64 {
        var result = f.rest;
        for (0..@intCast(f.two + @as(i32, @intCast(places)))) |_| result = try product(result, 2);
        for (0..@intCast(f.five + @as(i32, @intCast(places)))) |_| result = try product(result, 5);
        return result;
    }
};
