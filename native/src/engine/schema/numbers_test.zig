//! The automaton of numbers against integers: every short text, and every state of each automaton.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const testing = std.testing;
const decimal = @import("decimal.zig");
const Decimal = decimal.Decimal;
const Multiples = @import("multiples.zig").Multiples;
const Numbers = @import("numbers.zig").Numbers;
const Spec = @import("numbers.zig").Spec;
const State = @import("numbers.zig").State;

const alphabet = "0123456789.-";

/// Values are counted in units of ten to the minus `Naive.places`.
const Naive = struct {
    integers: bool = true,
    fractions: bool = true,
    integer_fraction: bool = false,
    at_least: ?i64 = null,
    above: ?i64 = null,
    at_most: ?i64 = null,
    below: ?i64 = null,
    multiples: []const i64 = &.{},
    not_multiples: []const i64 = &.{},
    excluded: []const i64 = &.{},

    const places = 4;
    const one = std.math.powi(i64, 10, places) catch unreachable;

    fn has(naive: Naive, text: []const u8) bool {
        const point = std.mem.findScalar(u8, text, '.');
        if (point != null and !naive.fractions and !naive.integer_fraction) return false;
        const value = valueOf(text);
        if (!(if (@rem(value, one) == 0) naive.integers else naive.fractions)) return false;
        if (naive.at_least) |bound| if (value < bound) return false;
        if (naive.above) |bound| if (value <= bound) return false;
        if (naive.at_most) |bound| if (value > bound) return false;
        if (naive.below) |bound| if (value >= bound) return false;
        for (naive.multiples) |of| if (@rem(value, of) != 0) return false;
        for (naive.not_multiples) |of| if (@rem(value, of) == 0) return false;
        return std.mem.findScalar(i64, naive.excluded, value) == null;
    }

    fn valueOf(text: []const u8) i64 {
        var value: i64 = 0;
        var unit: i64 = one;
        var is_fraction = false;
        for (text) |byte| switch (byte) {
            '-' => {},
            '.' => is_fraction = true,
            else => if (is_fraction) {
                unit = @divExact(unit, 10);
                value += unit * (byte - '0');
            } else {
                value = value * 10 + one * (byte - '0');
            },
        };
        return if (text[0] == '-') -value else value;
    }

    fn toSpec(naive: Naive, arena: Allocator) !Spec {
        var spec: Spec = .{
            .integers = naive.integers,
            .fractions = naive.fractions,
            .integer_fraction = naive.integer_fraction,
            .multiples = try toDecimals(arena, naive.multiples),
            .not_multiples = try toDecimals(arena, naive.not_multiples),
            .excluded = try toDecimals(arena, naive.excluded),
        };
        if (naive.at_least) |bound| spec.atLeast(.{ .decimal = try toDecimal(arena, bound), .strict = false });
        if (naive.above) |bound| spec.atLeast(.{ .decimal = try toDecimal(arena, bound), .strict = true });
        if (naive.at_most) |bound| spec.atMost(.{ .decimal = try toDecimal(arena, bound), .strict = false });
        if (naive.below) |bound| spec.atMost(.{ .decimal = try toDecimal(arena, bound), .strict = true });
        return spec;
    }

    fn toDecimals(arena: Allocator, values: []const i64) ![]const Decimal {
        const result = try arena.alloc(Decimal, values.len);
        for (result, values) |*to, value| to.* = try toDecimal(arena, value);
        return result;
    }

    fn toDecimal(arena: Allocator, value: i64) !Decimal {
        return decimal.parse(arena, try std.fmt.allocPrint(arena, "{d}e-{d}", .{ value, places }));
    }

    fn random(arena: Allocator, r: std.Random) !Naive {
        // Coarse values meet more often, fine ones have fractions.
        const unit = ([_]i64{ one, one, one / 10, one / 100 })[r.uintLessThan(usize, 4)];
        const kind = r.uintLessThan(u8, 4);
        return .{
            .integers = kind != 0,
            .fractions = kind != 1,
            .integer_fraction = r.boolean(),
            .at_least = randomBound(r, unit),
            .above = randomBound(r, unit),
            .at_most = randomBound(r, unit),
            .below = randomBound(r, unit),
            .multiples = try randomValues(arena, r, unit, 1, 12, if (r.boolean()) 2 else 0),
            .not_multiples = try randomValues(arena, r, unit, 1, 8, if (r.boolean()) 3 else 0),
            .excluded = try randomValues(arena, r, unit, -30, 120, if (r.boolean()) 40 else 0),
        };
    }

    fn randomBound(r: std.Random, unit: i64) ?i64 {
        if (r.uintLessThan(u8, 3) > 0) return null;
        const most: i64 = if (r.boolean()) 20 else 1500;
        return unit * r.intRangeAtMost(i64, -most, most);
    }

    fn randomValues(arena: Allocator, r: std.Random, unit: i64, from: i64, to: i64, n_max: usize) ![]const i64 {
        const values = try arena.alloc(i64, r.uintAtMost(usize, n_max));
        for (values) |*value| value.* = unit * r.intRangeAtMost(i64, from, to);
        return values;
    }
};

/// Compares all texts of JSON numbers without exponent that begin with the first `len` of `buffer`.
fn expectSame(n: *Numbers, naive: Naive, buffer: []u8, len: usize, state: ?State) !void {
    const text = buffer[0..len];
    if (len > 0 and std.ascii.isDigit(text[len - 1])) {
        const expected = naive.has(text);
        const found = if (state) |s| n.canEnd(s) else false;
        if (expected != found) {
            std.debug.print("{s} is {s}in {}\n", .{ text, if (expected) "" else "not ", naive });
            return error.TestUnexpectedResult;
        }
    }
    if (len == buffer.len) return;
    for (alphabet) |byte| {
        if (!beginsNumber(text, byte)) {
            if (state) |s| try testing.expectEqual(null, try n.next(s, byte));
            continue;
        }
        buffer[len] = byte;
        try expectSame(n, naive, buffer, len + 1, if (state) |s| try n.next(s, byte) else null);
    }
}

fn beginsNumber(text: []const u8, byte: u8) bool {
    if (byte == '-') return text.len == 0;
    const digits = std.mem.trimStart(u8, text, "-");
    if (byte == '.') return digits.len > 0 and std.mem.findScalar(u8, digits, '.') == null;
    return !std.mem.eql(u8, digits, "0");
}

/// Meets all states and finds from each a way to an end.
fn expectNoDeadEnd(arena: Allocator, n: *Numbers) !void {
    const states_most = 100_000;
    var steps: ArrayList([2]State) = .empty;
    var ends: ArrayList(bool) = .empty;
    var at: State = Numbers.start;
    while (at < n.n_states) : (at += 1) {
        try testing.expect(at < states_most);
        try ends.append(arena, n.canEnd(at));
        for (alphabet) |byte| if (try n.next(at, byte)) |to| try steps.append(arena, .{ at, to });
    }
    var is_changed = true;
    while (is_changed) {
        is_changed = false;
        var left = steps.items.len;
        while (left > 0) {
            left -= 1;
            const from, const to = steps.items[left];
            if (ends.items[from] or !ends.items[to]) continue;
            ends.items[from] = true;
            is_changed = true;
        }
    }
    try testing.expectEqual(n.isEmpty(), !ends.items[Numbers.start]);
    if (!n.isEmpty()) try testing.expect(std.mem.allEqual(bool, ends.items, true));
}

test "random sets: every short text, and no state without an end" {
    var prng: std.Random.DefaultPrng = .init(7);
    var n_empty: usize = 0;
    for (0..200) |_| {
        var arena: Arena = .init(testing.allocator);
        defer arena.deinit();
        const naive: Naive = try .random(arena.allocator(), prng.random());
        const spec = try naive.toSpec(arena.allocator());
        if (spec.isFree()) continue;
        var n: Numbers = try .init(testing.allocator, spec);
        defer n.deinit();
        n_empty += @intFromBool(n.isEmpty());
        var buffer: [5]u8 = undefined;
        try expectSame(&n, naive, &buffer, 0, Numbers.start);
        expectNoDeadEnd(arena.allocator(), &n) catch |err| {
            std.debug.print("dead end or too many states in {}\n", .{naive});
            return err;
        };
    }
    try testing.expect(n_empty > 20 and n_empty < 150);
}

/// A set by the texts of its numbers.
const Set = struct {
    integers: bool = true,
    fractions: bool = true,
    integer_fraction: bool = false,
    at_least: ?[]const u8 = null,
    above: ?[]const u8 = null,
    at_most: ?[]const u8 = null,
    below: ?[]const u8 = null,
    multiples: []const []const u8 = &.{},
    not_multiples: []const []const u8 = &.{},
    excluded: []const []const u8 = &.{},

    fn open(set: Set, arena: Allocator) !Numbers {
        var spec: Spec = .{
            .integers = set.integers,
            .fractions = set.fractions,
            .integer_fraction = set.integer_fraction,
            .multiples = try parseAll(arena, set.multiples),
            .not_multiples = try parseAll(arena, set.not_multiples),
            .excluded = try parseAll(arena, set.excluded),
        };
        if (set.at_least) |text| spec.atLeast(.{ .decimal = try decimal.parse(arena, text), .strict = false });
        if (set.above) |text| spec.atLeast(.{ .decimal = try decimal.parse(arena, text), .strict = true });
        if (set.at_most) |text| spec.atMost(.{ .decimal = try decimal.parse(arena, text), .strict = false });
        if (set.below) |text| spec.atMost(.{ .decimal = try decimal.parse(arena, text), .strict = true });
        return .init(testing.allocator, spec);
    }

    fn parseAll(arena: Allocator, texts: []const []const u8) ![]const Decimal {
        const result = try arena.alloc(Decimal, texts.len);
        for (result, texts) |*to, text| to.* = try decimal.parse(arena, text);
        return result;
    }
};

/// A text up to `|` begins a number of the set, with the byte after it no longer. One without is a number of
/// the set.
fn expectTexts(set: Set, texts: []const []const u8) !void {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    var n = try set.open(arena.allocator());
    defer n.deinit();
    for (texts) |text| {
        errdefer std.debug.print("{s}\n", .{text});
        const begin = std.mem.sliceTo(text, '|');
        var state: State = Numbers.start;
        for (begin) |byte| state = try n.next(state, byte) orelse return error.TestUnexpectedResult;
        if (begin.len == text.len) {
            try testing.expect(n.canEnd(state));
        } else for (text[begin.len + 1 ..]) |byte| {
            try testing.expectEqual(null, try n.next(state, byte));
        }
    }
}

test "bounds of any size" {
    const zeros: []const u8 = &@as([308]u8, @splat('0'));
    const nines: []const u8 = &@as([308]u8, @splat('9'));
    try expectTexts(.{ .integers = true, .fractions = false, .at_most = "1e308", .at_least = "-1e308" }, &.{
        "1" ++ zeros, "-1" ++ zeros, nines, "0", "-0", "1" ++ zeros ++ "|0.", "2" ++ nines[1..] ++ "|0", "1" ++ zeros[1..] ++ "|123456789e",
    });
    try expectTexts(.{ .at_least = "9007199254740993", .below = "9007199254740994" }, &.{
        "9007199254740993", "9007199254740993.000", "9007199254740993.999", "900719925474099|012456789.", "|-0", "9007199254740993|0",
    });
    try expectTexts(.{ .above = "1e-7", .at_most = "2e-7" }, &.{
        "0.0000002", "0.00000020", "0.00000011", "0.00000010|.e", "0.000000|03456789", "0.0000002|123456789", "0|1e",
    });
    try expectTexts(.{ .above = "0", .below = "1e-10000" }, &.{ "0." ++ @as([10000]u8, @splat('0')) ++ "1", "|-1", "0|1e" });
    try expectTexts(.{ .fractions = false, .at_least = "10", .at_most = "15" }, &.{ "10", "15", "1|6789.-", "|023456789" });
}

test "multiples of any size" {
    try expectTexts(.{ .fractions = false, .multiples = &.{"0.123456789"} }, &.{ "0", "-123456789", "246913578", "1|.e" });
    try expectTexts(.{ .multiples = &.{"0.01"}, .at_least = "0" }, &.{ "19.99", "19.990", "5", "5.0", "19.99|123456789", "-|123456789" });
    try expectTexts(.{ .multiples = &.{"1e-7"} }, &.{ "0.0000001", "0.0000001|1", "-12.5" });
    try expectTexts(.{ .multiples = &.{ "1e-30", "1" } }, &.{ "3", "3.0", "3|e", "3.|1" });
    try expectTexts(.{ .multiples = &.{"7"}, .at_least = "50", .at_most = "60" }, &.{ "56", "5|01234578", "5|9", "|0123479-", "56.0" });
    try expectTexts(
        .{ .multiples = &.{"1000"}, .at_most = "2500", .at_least = "0" },
        &.{ "0", "1000", "2000", "1|123456789", "100|123456789", "|3456789" },
    );
    try expectTexts(.{ .integers = false, .not_multiples = &.{"0.5"} }, &.{ "0.51", "1.3", "1.|", "2.5|e", "2.50000001" });
    try expectTexts(.{ .fractions = false, .multiples = &.{"3"}, .not_multiples = &.{"5"}, .at_least = "14", .at_most = "30" }, &.{
        "18", "27", "1|012345679", "2|0235689", "|0345689-",
    });
}

test "how integers may be spelled" {
    try expectTexts(.{ .fractions = false }, &.{ "0", "-0", "12", "0|0.e", "12|.eE", "-|-." });
    try expectTexts(.{ .fractions = false, .integer_fraction = true }, &.{ "1.0", "1.00", "-0.0", "1.|123456789", "1.0|1e" });
    try expectTexts(.{ .at_most = "1" }, &.{ "1.0", "0.5", "1", "1.|123456789", "1.0|1" });
    try expectTexts(.{ .integers = false }, &.{ "1.5", "1.50", "1.05", "-0.1", "1|e", "1.0|" });
}

test "a number without constraint has any form" {
    try expectTexts(.{}, &.{ "0", "-0.0", "12.50", "1e5", "1E+05", "1.5e-7", "0|0", "1.|e.", "1e|.e", "1e+|-+", "-|.e-", "|+.e\"" });
    var n: Numbers = try .init(testing.allocator, .{});
    defer n.deinit();
    try testing.expect(n.isFree() and !n.isEmpty());
}

test "a set without a number is empty, and no other" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    for ([_]Set{
        .{ .integers = false, .fractions = false },
        .{ .fractions = false, .above = "1", .below = "2" },
        .{ .at_least = "2", .at_most = "1.9" },
        .{ .above = "5", .at_most = "5" },
        .{ .at_least = "1e308", .below = "1e308" },
        .{ .multiples = &.{"7"}, .above = "7", .below = "14" },
        .{ .multiples = &.{"2"}, .not_multiples = &.{"1"} },
        .{ .integers = false, .multiples = &.{"3"} },
        .{ .fractions = false, .at_least = "-1", .at_most = "1", .excluded = &.{ "0", "-1", "1", "17", "0.5" } },
        .{
            .multiples = &.{"0.5"},
            .at_least = "1e300",
            .below = "1000000000000000000000000000001e270",
            .integers = false,
            .at_most = "1e300",
        },
        .{ .at_least = "0", .at_most = "0", .not_multiples = &.{"3"} },
    }) |set| {
        var n = try set.open(arena.allocator());
        defer n.deinit();
        try testing.expect(n.isEmpty());
        for (alphabet) |byte| try testing.expectEqual(null, try n.next(Numbers.start, byte));
    }
    for ([_]Set{
        .{ .above = "1", .below = "2" },
        .{ .above = "1", .below = "1.0000000000000000000000000000000000000000000000000001" },
        .{ .at_least = "-0.5", .at_most = "-0.5", .integers = false },
        .{ .fractions = false, .at_least = "0", .at_most = "0" },
        .{ .fractions = false, .multiples = &.{"123456789123456789"}, .above = "1e300", .below = "1000000000000000001e282" },
        .{ .multiples = &.{"6"}, .not_multiples = &.{ "12", "18" }, .above = "0", .below = "12" },
    }) |set| {
        var n = try set.open(arena.allocator());
        defer n.deinit();
        try testing.expect(!n.isEmpty());
    }
}

test "what is too large is an error" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    for ([_]Set{
        .{ .multiples = &.{"1e300"} },
        .{ .multiples = &.{ "1000000007", "1000000009", "998244353" } },
        .{ .not_multiples = &.{ "2", "3", "5", "7", "11", "13", "17", "19", "23" } },
    }) |set| try testing.expectError(error.TooLarge, set.open(arena.allocator()));

    var n = try (Set{ .fractions = false, .multiples = &.{"1000003"} }).open(arena.allocator());
    defer n.deinit();
    const one = (try n.next(Numbers.start, '1')).?;
    var state: State = one;
    while (true) {
        for ("023456789") |digit| _ = n.next(state, digit) catch |err| {
            try testing.expectEqual(error.TooLarge, err);
            try testing.expectEqual(one, try n.next(Numbers.start, '1'));
            return;
        };
        state += 1;
    }
}

test "threads that meet the same states find the same numbers" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    var n = try (Set{ .fractions = false, .multiples = &.{"37"}, .at_most = "100000" }).open(arena.allocator());
    defer n.deinit();
    const Walk = struct {
        fn count(numbers: *Numbers, found: *u32) void {
            var buffer: [16]u8 = undefined;
            found.* = 0;
            for (0..20000) |value| {
                const text = std.fmt.bufPrint(&buffer, "{d}", .{value}) catch unreachable;
                var state: State = Numbers.start;
                for (text) |byte| {
                    state = (numbers.next(state, byte) catch unreachable) orelse break;
                } else found.* += @intFromBool(numbers.canEnd(state));
            }
        }
    };
    var found: [4]u32 = undefined;
    var threads: [4]std.Thread = undefined;
    for (&threads, &found) |*thread, *to| thread.* = try .spawn(.{}, Walk.count, .{ &n, to });
    for (threads) |thread| thread.join();
    try testing.expectEqualSlices(u32, &@as([4]u32, @splat(19999 / 37 + 1)), &found);
}
