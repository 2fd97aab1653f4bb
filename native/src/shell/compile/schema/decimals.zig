//! Numbers of JSON as counts, and their canonical text: plain digits, no exponent, no needless zero.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Decimal = @import("engine").decimal.Decimal;
const parse = @import("engine").decimal.parse;

/// The canonical text.
pub fn plain(arena: Allocator, decimal: Decimal) Allocator.Error![]const u8 {
    var out: ArrayList(u8) = .empty;
    if (decimal.negative) try out.append(arena, '-');
    const n_whole = decimal.integerPlaces();
    if (n_whole == 0) try out.append(arena, '0');
    var place = @as(i32, @intCast(n_whole)) - 1;
    while (place >= @min(decimal.exponent, 0)) : (place -= 1) {
        if (place == -1) try out.append(arena, '.');
        try out.append(arena, '0' + decimal.digit(place));
    }
    return out.items;
}

/// The value, if it is a whole number that is not negative; `most` if it is more.
pub fn count(decimal: Decimal, most: u32) ?u32 {
    if (decimal.negative or !decimal.isInteger()) return null;
    if (decimal.integerPlaces() > 10) return most;
    var value: u64 = 0;
    var place = decimal.integerPlaces();
    while (place > 0) {
        place -= 1;
        value = value * 10 + decimal.digit(@intCast(place));
    }
    return @intCast(@min(value, most));
}

test "canonical numbers" {
    var arena_state: Arena = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    for ([_][2][]const u8{
        .{ "0", "0" },       .{ "-0.0e7", "0" },     .{ "1.50", "1.5" },   .{ "1e2", "100" },
        .{ "-12.0", "-12" }, .{ "1.25E+1", "12.5" }, .{ "5e-3", "0.005" }, .{ "-120e-1", "-12" },
        .{ "100", "100" },   .{ "0.10", "0.1" },     .{ "12e-1", "1.2" },
    }) |case| try std.testing.expectEqualStrings(case[1], try plain(arena, try parse(arena, case[0])));
    try std.testing.expectEqual(120, count(try parse(arena, "1.2e2"), 1000));
    try std.testing.expectEqual(1000, count(try parse(arena, "99999999999"), 1000));
    try std.testing.expectEqual(0, count(try parse(arena, "0"), 1000));
    try std.testing.expectEqual(null, count(try parse(arena, "-1"), 1000));
    try std.testing.expectEqual(null, count(try parse(arena, "1.5"), 1000));
}
