//! Rules with a number, as llguidance has them: `name::value`, the number that the rule gets, and `%if condition`, which an
//! alternative needs. The number of the rule itself is `_`, and `[a:b]` are its bits from a up to b, without b.

const std = @import("std");
const diagnostic = @import("engine").diagnostic;
const scanner_module = @import("scanner.zig");
const Scanner = scanner_module.Scanner;
const Tag = scanner_module.Tag;
const Token = scanner_module.Token;

/// How deep conditions may be nested. Bounds the use of the caller's stack.
const nesting_max = 64;

const Change = enum { set_bit, clear_bit, bit_and, bit_or, incr, decr };
const Condition = enum {
    true,
    bit_set,
    bit_clear,
    is_ones,
    is_zeros,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    bit_count_eq,
    bit_count_ne,
    bit_count_lt,
    bit_count_le,
    bit_count_gt,
    bit_count_ge,
    @"and",
    @"or",
    not,
};

/// Reads one value or condition, and works it out.
pub const Reader = struct {
    scanner: *Scanner,
    /// The current token, which is not consumed yet.
    token: Token,
    /// The number of the rule that is being read; null: it has none.
    own: ?u64,

    /// `0x1f`, `_`, or a change of `_`: `set_bit(3)`, `incr([0:4])`. A number that would leave its bits stays.
    pub fn value(r: *Reader) diagnostic.Error!u64 {
        if (r.token.tag == .number) return r.number(std.math.maxInt(u64));
        const own = try r.ownNumber();
        const word = r.token;
        try r.expect(.rule, "a number or a change of one");
        if (std.mem.eql(u8, word.text, "_")) return own;
        const change = std.meta.stringToEnum(Change, word.text) orelse
            return r.scanner.fail(word.place, "there is no change of a number {s}", .{word.text});
        try r.expect(.left_parenthesis, "\"(\"");
        const result: u64 = switch (change) {
            .set_bit => own | @as(u64, 1) << @intCast(try r.number(63)),
            .clear_bit => own & ~(@as(u64, 1) << @intCast(try r.number(63))),
            .bit_and => own & try r.number(std.math.maxInt(u64)),
            .bit_or => own | try r.number(std.math.maxInt(u64)),
            .incr, .decr => blk: {
                const bits = try r.range();
                const now = bits.of(own);
                const next = if (change == .incr) @min(now +| 1, bits.all()) else now -| 1;
                break :blk own & ~(bits.all() << bits.first) | next << bits.first;
            },
        };
        try r.expect(.right_parenthesis, "\")\"");
        return result;
    }

    /// Such as `bit_clear(2)`, `lt([0:4], 3)`, `and(is_ones(_), not(eq(_, 0)))`.
    pub fn condition(r: *Reader, depth: u32) diagnostic.Error!bool {
        if (depth == nesting_max) return r.scanner.fail(r.token.place, "conditions are nested deeper than {d}", .{nesting_max});
        const own = try r.ownNumber();
        const word = r.token;
        try r.expect(.rule, "a condition");
        const what = std.meta.stringToEnum(Condition, word.text) orelse
            return r.scanner.fail(word.place, "there is no condition {s}", .{word.text});
        if (what == .true) return true;
        try r.expect(.left_parenthesis, "\"(\"");
        const holds = switch (what) {
            .true => unreachable,
            .bit_set => own >> @intCast(try r.number(63)) & 1 == 1,
            .bit_clear => own >> @intCast(try r.number(63)) & 1 == 0,
            .is_ones, .is_zeros => blk: {
                const bits = try r.range();
                break :blk bits.of(own) == if (what == .is_ones) bits.all() else 0;
            },
            .@"and", .@"or" => blk: {
                const first = try r.condition(depth + 1);
                try r.expect(.comma, "\",\"");
                const second = try r.condition(depth + 1);
                break :blk if (what == .@"and") first and second else first or second;
            },
            .not => !try r.condition(depth + 1),
            else => blk: {
                const bits = (try r.range()).of(own);
                try r.expect(.comma, "\",\"");
                const right = try r.number(std.math.maxInt(u64));
                const counted: u64 = @popCount(bits);
                break :blk switch (what) {
                    .eq => bits == right,
                    .ne => bits != right,
                    .lt => bits < right,
                    .le => bits <= right,
                    .gt => bits > right,
                    .ge => bits >= right,
                    .bit_count_eq => counted == right,
                    .bit_count_ne => counted != right,
                    .bit_count_lt => counted < right,
                    .bit_count_le => counted <= right,
                    .bit_count_gt => counted > right,
                    .bit_count_ge => counted >= right,
                    else => unreachable,
                };
            },
        };
        try r.expect(.right_parenthesis, "\")\"");
        return holds;
    }

    const Bits = struct {
        first: u6,
        /// From 1 to 64.
        n: u7,

        fn all(bits: Bits) u64 {
            return @as(u64, std.math.maxInt(u64)) >> @intCast(64 - bits.n);
        }

        fn of(bits: Bits, from: u64) u64 {
            return from >> bits.first & bits.all();
        }
    };

    /// `_` or `[a:b]`.
    fn range(r: *Reader) diagnostic.Error!Bits {
        const place = r.token.place;
        if (r.token.tag == .rule and std.mem.eql(u8, r.token.text, "_")) {
            try r.advance();
            return .{ .first = 0, .n = 64 };
        }
        try r.expect(.left_bracket, "\"_\" or \"[\"");
        const first = try r.number(63);
        try r.expect(.colon, "\":\"");
        const end = try r.number(64);
        try r.expect(.right_bracket, "\"]\"");
        if (end <= first) return r.scanner.fail(place, "the bits end before they begin", .{});
        return .{ .first = @intCast(first), .n = @intCast(end - first) };
    }

    fn number(r: *Reader, largest: u64) diagnostic.Error!u64 {
        const token = r.token;
        try r.expect(.number, "a number");
        const found: ?u64 = std.fmt.parseInt(u64, token.text, 0) catch |e| switch (e) {
            error.InvalidCharacter => return r.scanner.fail(token.place, "{s} is no number", .{token.text}),
            error.Overflow => null,
        };
        if (found) |one| if (one <= largest) return one;
        return r.scanner.fail(token.place, "the number is more than {d}", .{largest});
    }

    fn ownNumber(r: *const Reader) diagnostic.Error!u64 {
        return r.own orelse r.scanner.fail(r.token.place, "only a rule with a number, name::_, has one to look at", .{});
    }

    fn advance(r: *Reader) diagnostic.Error!void {
        r.token = try r.scanner.next();
    }

    fn expect(r: *Reader, tag: Tag, what: []const u8) diagnostic.Error!void {
        if (r.token.tag != tag) return r.scanner.fail(r.token.place, "expected {s}, found {f}", .{ what, r.token });
        return r.advance();
    }
};

test "changes and conditions" {
    const expectEqual = std.testing.expectEqual;
    for ([_]struct { []const u8, u64, u64 }{
        .{ "7", 0, 7 },
        .{ "0x1F", 0, 31 },
        .{ "0xffffffffffffffff", 0, std.math.maxInt(u64) },
        .{ "_", 5, 5 },
        .{ "set_bit(63)", 1, 1 << 63 | 1 },
        .{ "clear_bit(2)", 7, 3 },
        .{ "bit_and(0x6)", 5, 4 },
        .{ "bit_or(0x6)", 5, 7 },
        .{ "incr(_)", 5, 6 },
        .{ "incr(_)", std.math.maxInt(u64), std.math.maxInt(u64) },
        .{ "incr([2:4])", 0b0101, 0b1001 },
        .{ "incr([2:4])", 0b1101, 0b1101 },
        .{ "decr([2:4])", 0b0101, 0b0001 },
        .{ "decr([2:4])", 0b0001, 0b0001 },
    }) |case| {
        var diag: diagnostic.Diagnostic = .{};
        var scanner: Scanner = .{ .text = case[0], .diag = &diag };
        var reader: Reader = .{ .scanner = &scanner, .token = try scanner.next(), .own = case[1] };
        try expectEqual(case[2], try reader.value());
        try expectEqual(.end, reader.token.tag);
    }
    for ([_]struct { []const u8, u64, bool }{
        .{ "true", 0, true },
        .{ "bit_set(1)", 2, true },
        .{ "bit_clear(1)", 2, false },
        .{ "is_ones([0:3])", 7, true },
        .{ "is_ones([0:4])", 7, false },
        .{ "is_zeros([3:64])", 7, true },
        .{ "eq([1:3], 3)", 0b111, true },
        .{ "ne(_, 3)", 3, false },
        .{ "lt(_, 6)", 6, false },
        .{ "le(_, 6)", 6, true },
        .{ "gt(_, 6)", 7, true },
        .{ "ge([0:1], 1)", 6, false },
        .{ "bit_count_eq(_, 2)", 6, true },
        .{ "bit_count_ge([0:2], 2)", 6, false },
        .{ "and(bit_set(1), not(bit_set(0)))", 6, true },
        .{ "or(bit_set(0), bit_set(3))", 6, false },
    }) |case| {
        var diag: diagnostic.Diagnostic = .{};
        var scanner: Scanner = .{ .text = case[0], .diag = &diag };
        var reader: Reader = .{ .scanner = &scanner, .token = try scanner.next(), .own = case[1] };
        try expectEqual(case[2], try reader.condition(0));
        try expectEqual(.end, reader.token.tag);
    }
}
