//! Numbers of JSON as they are written, exactly: decimals of any size within `places_max`.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const Order = std.math.Order;

/// How many digits a number may have before and after its point.
pub const places_max = 1 << 14;

/// `digits` (ASCII; no leading zero, no trailing zero but in "0") times ten to the `exponent`.
/// Zero is "0", not negative, with the exponent 0.
pub const Decimal = struct {
    negative: bool = false,
    digits: []const u8,
    exponent: i32,

    pub const zero: Decimal = .{ .digits = "0", .exponent = 0 };
    pub const one: Decimal = .{ .digits = "1", .exponent = 0 };

    pub fn isZero(d: Decimal) bool {
        return d.digits[0] == '0';
    }

    pub fn isInteger(d: Decimal) bool {
        return d.exponent >= 0;
    }

    pub fn magnitude(d: Decimal) Decimal {
        return .{ .digits = d.digits, .exponent = d.exponent };
    }

    /// The place after the highest digit that is not 0: the length of the integer part, or if there is
    /// none, minus the zeros that follow the point.
    pub fn top(d: Decimal) i32 {
        if (d.isZero()) return 0;
        return @as(i32, @intCast(d.digits.len)) + d.exponent;
    }

    /// Digits of the integer part, 0 for a magnitude below one.
    pub fn integerPlaces(d: Decimal) u32 {
        return @intCast(@max(0, d.top()));
    }

    pub fn fractionPlaces(d: Decimal) u32 {
        return @intCast(@max(0, -d.exponent));
    }

    /// The digit of ten to the `place`.
    pub fn digit(d: Decimal, place: i32) u8 {
        const at = d.top() - 1 - place;
        if (at < 0 or at >= d.digits.len) return 0;
        return d.digits[@intCast(at)] - '0';
    }

    /// Whether there is a digit other than 0 below ten to the `place`.
    pub fn hasBelow(d: Decimal, place: i32) bool {
        return !d.isZero() and d.exponent < place;
    }

    /// The least magnitude that has at most `scale` fraction digits and is at least (if `strict`, above)
    /// that of `d`.
    pub fn roundUp(d: Decimal, arena: Allocator, scale: u32, strict: bool) Allocator.Error!Decimal {
        const digits = try d.expand(arena, scale);
        if (strict or d.hasBelow(-@as(i32, @intCast(scale)))) {
            var at = digits.len - 1;
            while (digits[at] == '9') : (at -= 1) digits[at] = '0';
            digits[at] += 1;
        }
        return normalise(false, digits, -@as(i32, @intCast(scale)));
    }

    /// The greatest magnitude that has at most `scale` fraction digits and is at most (if `strict`, below)
    /// that of `d`; null if there is none.
    pub fn roundDown(d: Decimal, arena: Allocator, scale: u32, strict: bool) Allocator.Error!?Decimal {
        const digits = try d.expand(arena, scale);
        if (strict and !d.hasBelow(-@as(i32, @intCast(scale)))) {
            if (d.isZero()) return null;
            var at = digits.len - 1;
            while (digits[at] == '0') : (at -= 1) digits[at] = '9';
            digits[at] -= 1;
        }
        return normalise(false, digits, -@as(i32, @intCast(scale)));
    }

    /// The digits down to the `scale`-th after the point, with a zero before them for a carry.
    fn expand(d: Decimal, arena: Allocator, scale: u32) Allocator.Error![]u8 {
        const digits = try arena.alloc(u8, d.integerPlaces() + scale + 1);
        var place: i32 = @intCast(d.integerPlaces());
        for (digits) |*to| {
            to.* = '0' + d.digit(place);
            place -= 1;
        }
        return digits;
    }
};

fn normalise(negative: bool, digits: []const u8, exponent: i32) Decimal {
    const leading = std.mem.trimStart(u8, digits, "0");
    const kept = std.mem.trimEnd(u8, leading, "0");
    if (kept.len == 0) return .zero;
    return .{
        .negative = negative,
        .digits = kept,
        .exponent = exponent + @as(i32, @intCast(leading.len - kept.len)),
    };
}

/// The value of a JSON number. `Invalid` if `text` is none, `TooLarge` if it has more than `places_max` digits
/// before or after the point when it is written without an exponent.
pub fn parse(arena: Allocator, text: []const u8) error{ OutOfMemory, TooLarge, Invalid }!Decimal {
    var rest = text;
    const negative = take(&rest, "-") != null;
    const integer = takeDigits(&rest);
    if (integer.len == 0 or (integer.len > 1 and integer[0] == '0')) return error.Invalid;
    const fraction = if (take(&rest, ".") != null) takeDigits(&rest) else "0";
    if (fraction.len == 0) return error.Invalid;
    var shift: i64 = 0;
    if (take(&rest, "eE") != null) {
        const sign = take(&rest, "+-") orelse '+';
        const digits = takeDigits(&rest);
        if (digits.len == 0) return error.Invalid;
        for (digits) |d| shift = @min(shift * 10 + (d - '0'), std.math.maxInt(i32));
        if (sign == '-') shift = -shift;
    }
    if (rest.len != 0) return error.Invalid;

    const digits = try std.mem.concat(arena, u8, &.{ integer, fraction });
    const plain = normalise(negative, digits, 0);
    if (plain.isZero()) return .zero;
    const exponent = plain.exponent + shift - @as(i64, @intCast(fraction.len));
    if (exponent < -places_max or exponent + @as(i64, @intCast(plain.digits.len)) > places_max) return error.TooLarge;
    return .{ .negative = negative, .digits = plain.digits, .exponent = @intCast(exponent) };
}

fn take(rest: *[]const u8, any_of: []const u8) ?u8 {
    if (rest.len == 0 or std.mem.findScalar(u8, any_of, rest.*[0]) == null) return null;
    defer rest.* = rest.*[1..];
    return rest.*[0];
}

fn takeDigits(rest: *[]const u8) []const u8 {
    const n = for (rest.*, 0..) |byte, at| {
        if (!std.ascii.isDigit(byte)) break at;
    } else rest.len;
    defer rest.* = rest.*[n..];
    return rest.*[0..n];
}

pub fn compare(a: Decimal, b: Decimal) Order {
    if (a.negative != b.negative) return if (a.negative) .lt else .gt;
    return if (a.negative) compareMagnitudes(b, a) else compareMagnitudes(a, b);
}

fn compareMagnitudes(a: Decimal, b: Decimal) Order {
    if (a.isZero() or b.isZero()) return std.math.order(@intFromBool(b.isZero()), @intFromBool(a.isZero()));
    if (a.top() != b.top()) return std.math.order(a.top(), b.top());
    return std.mem.order(u8, a.digits, b.digits);
}

/// Whether `value` is `of`, within the bounds of `parse`, times an integer.
/// Takes time with the product of the numbers of digits.
pub fn isMultiple(value: Decimal, of: Decimal) bool {
    if (value.isZero()) return true;
    // With a lower last place than that of `of`, `value` would have to end with a zero.
    if (of.isZero() or value.exponent < of.exponent) return false;
    if (of.digits.len == 1 and of.digits[0] == '1') return true;

    // Long division: what is left after each digit is below `of`, so one place more has room for the next.
    var buffer: [2 * places_max + 1]u8 = undefined;
    const left = buffer[0 .. of.digits.len + 1];
    @memset(left, 0);
    const n = value.digits.len + @as(usize, @intCast(value.exponent - of.exponent));
    for (0..n) |at| {
        std.mem.copyForwards(u8, left[0 .. left.len - 1], left[1..]);
        left[left.len - 1] = if (at < value.digits.len) value.digits[at] - '0' else 0;
        while (subtract(left, of.digits)) {}
        if (at >= value.digits.len and std.mem.allEqual(u8, left, 0)) return true;
    }
    return std.mem.allEqual(u8, left, 0);
}

/// Takes `digits` (ASCII) from `left`, which has one place more; false and nothing if it is less.
fn subtract(left: []u8, digits: []const u8) bool {
    if (left[0] == 0) {
        for (left[1..], digits) |l, d| {
            if (l != d - '0') {
                if (l < d - '0') return false;
                break;
            }
        }
    }
    var borrow: u8 = 0;
    var at = digits.len;
    while (at > 0) : (at -= 1) {
        const much = digits[at - 1] - '0' + borrow;
        borrow = @intFromBool(left[at] < much);
        left[at] = left[at] + 10 * borrow - much;
    }
    left[0] -= borrow;
    return true;
}

pub fn powerOfTen(n: u32) u128 {
    var power: u128 = 1;
    for (0..n) |_| power *= 10;
    return power;
}

const testing = std.testing;

fn expectText(expected: []const u8, d: Decimal) !void {
    var buffer: [64]u8 = undefined;
    try testing.expectEqualStrings(
        expected,
        try std.fmt.bufPrint(&buffer, "{s}{s}e{d}", .{ if (d.negative) "-" else "", d.digits, d.exponent }),
    );
}

test "a number is read in any spelling" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    for ([_][2][]const u8{
        .{ "0", "0e0" },        .{ "-0.00e7", "0e0" },    .{ "1", "1e0" },
        .{ "-120", "-12e1" },   .{ "0.00120", "12e-4" },  .{ "12.50E+3", "125e2" },
        .{ "1e-7", "1e-7" },    .{ "1e308", "1e308" },    .{ "0e99999999999999999999", "0e0" },
        .{ "100.0e-2", "1e0" }, .{ "-1.5e-0", "-15e-1" }, .{ "9007199254740993", "9007199254740993e0" },
    }) |case| try expectText(case[1], try parse(arena.allocator(), case[0]));
    for ([_][]const u8{ "", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1 ", "0x1", "--1", "1.5.5" }) |bad| {
        try testing.expectError(error.Invalid, parse(arena.allocator(), bad));
    }
    for ([_][]const u8{ "1e99999999999999999999", "1e-99999", "1e16384" }) |large| {
        try testing.expectError(error.TooLarge, parse(arena.allocator(), large));
    }
}

test "order and multiples agree with integers" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    const scales = [_]struct { []const u8, i64 }{ .{ "e2", 10000 }, .{ "", 100 }, .{ "e-2", 1 } };
    var values: ArrayList(struct { Decimal, i64 }) = .empty;
    for (scales) |scale| for ([_]i64{ 0, 1, -1, 2, 3, -7, 10, 12, 48, -100, 101, 99999 }) |n| {
        const text = try std.fmt.allocPrint(arena.allocator(), "{d}{s}", .{ n, scale[0] });
        try values.append(arena.allocator(), .{ try parse(arena.allocator(), text), n * scale[1] });
    };
    for (values.items) |a| for (values.items) |b| {
        try testing.expectEqual(std.math.order(a[1], b[1]), compare(a[0], b[0]));
        const expected = if (b[1] == 0) a[1] == 0 else @mod(a[1], @as(i64, @intCast(@abs(b[1])))) == 0;
        try testing.expectEqual(expected, isMultiple(a[0], b[0]));
    };
}

test "multiples of numbers with many digits" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    const of = try parse(arena.allocator(), "1234567890123456789012345678901234567890123456789");
    try testing.expect(isMultiple(try parse(arena.allocator(), "3703703670370370367037037036703703703670370370367"), of));
    try testing.expect(!isMultiple(try parse(arena.allocator(), "3703703670370370367037037036703703703670370370368"), of));
    try testing.expect(isMultiple(try parse(arena.allocator(), "1e308"), try parse(arena.allocator(), "0.5")));
    try testing.expect(!isMultiple(try parse(arena.allocator(), "1e308"), try parse(arena.allocator(), "0.123456789")));
}

test "rounding to a number of fraction digits" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    const a = arena.allocator();
    for ([_]struct { []const u8, u32, bool, []const u8, ?[]const u8 }{
        .{ "9.99", 1, false, "1e1", "99e-1" },
        .{ "9.9", 1, false, "99e-1", "99e-1" },
        .{ "9.9", 1, true, "1e1", "98e-1" },
        .{ "100", 0, true, "101e0", "99e0" },
        .{ "0", 0, true, "1e0", null },
        .{ "1e-5", 2, true, "1e-2", "0e0" },
    }) |case| {
        const value = try parse(a, case[0]);
        try expectText(case[3], try value.roundUp(a, case[1], case[2]));
        const down = try value.roundDown(a, case[1], case[2]);
        if (case[4]) |expected| try expectText(expected, down.?) else try testing.expectEqual(null, down);
    }
}
