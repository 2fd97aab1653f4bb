//! A set of characters while it is being put together: a character class before it becomes a node.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Range = @import("ast.zig").Range;
const unicode = @import("unicode.zig");

/// Ranges in any order, overlapping or not, until `normalise`. Belongs to an arena, or to whoever frees `ranges`.
pub const CharacterSet = struct {
    ranges: ArrayList(Range) = .empty,

    /// Adds a range, both ends included; the set is no longer normalised.
    pub fn add(c: *CharacterSet, gpa: Allocator, first: u21, last: u21) Allocator.Error!void {
        try c.ranges.append(gpa, .{ .first = first, .last = last });
    }

    /// Sorts and merges the ranges, as `ast.Node.class` needs them: ascending, with a gap between each two.
    pub fn normalise(c: *CharacterSet) void {
        const ranges = c.ranges.items;
        if (ranges.len < 2) return;
        if (!std.sort.isSorted(Range, ranges, {}, before)) std.sort.heap(Range, ranges, {}, before);
        var n: usize = 0;
        for (ranges[1..]) |range| {
            if (range.first <= @as(u32, ranges[n].last) + 1) {
                ranges[n].last = @max(ranges[n].last, range.last);
            } else {
                n += 1;
                ranges[n] = range;
            }
        }
        c.ranges.shrinkRetainingCapacity(n + 1);
    }

    fn before(_: void, a: Range, b: Range) bool {
        return a.first < b.first;
    }

    /// Replaces the set, which must be normalised, by its complement, which is.
    pub fn negate(c: *CharacterSet, gpa: Allocator) Allocator.Error!void {
        var first: u32 = 0;
        var n: usize = 0;
        for (c.ranges.items) |range| {
            const gap: ?Range = if (range.first > first) .{ .first = @intCast(first), .last = range.first - 1 } else null;
            first = @as(u32, range.last) + 1;
            if (gap) |found| {
                c.ranges.items[n] = found;
                n += 1;
            }
        }
        c.ranges.shrinkRetainingCapacity(n);
        if (first <= unicode.last_code_point) try c.add(gpa, @intCast(first), unicode.last_code_point);
    }

    /// Adds all characters that differ from a member only by case. The set must be normalised, and is again.
    pub fn ignoreCase(c: *CharacterSet, gpa: Allocator, folds: *const unicode.Folds) Allocator.Error!void {
        if (c.size() <= few_max) {
            const n = c.ranges.items.len;
            for (0..n) |i| {
                const range = c.ranges.items[i];
                for (range.first..@as(u32, range.last) + 1) |character| try folds.appendVariants(gpa, &c.ranges, @intCast(character));
            }
            return c.normalise();
        }
        for (0..2) |pass| {
            const n = c.ranges.items.len;
            for (folds.pairs) |pair| {
                const from, const to = if (pass == 0) .{ pair.from, pair.to } else .{ pair.to, pair.from };
                if (contains(c.ranges.items[0..n], from)) try c.add(gpa, to, to);
            }
            c.normalise();
        }
    }

    /// The same for the letters of ASCII alone.
    pub fn ignoreAsciiCase(c: *CharacterSet, gpa: Allocator) Allocator.Error!void {
        const n = c.ranges.items.len;
        for ('A'..'Z' + 1) |upper| {
            const lower = upper + 32;
            if (contains(c.ranges.items[0..n], @intCast(upper))) try c.add(gpa, @intCast(lower), @intCast(lower));
            if (contains(c.ranges.items[0..n], @intCast(lower))) try c.add(gpa, @intCast(upper), @intCast(upper));
        }
        c.normalise();
    }

    /// Up to this many members, looking up each one is cheaper than looking at every pair of the folds.
    const few_max = 32;

    fn size(c: *const CharacterSet) usize {
        var total: usize = 0;
        for (c.ranges.items) |range| total += range.last - range.first + 1;
        return total;
    }

    fn contains(ranges: []const Range, character: u21) bool {
        var low: usize = 0;
        var high = ranges.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (ranges[middle].last < character) low = middle + 1 else high = middle;
        }
        return low < ranges.len and ranges[low].first <= character;
    }
};

test "sets of characters: sorted, merged, negated" {
    const gpa = std.testing.allocator;
    var set: CharacterSet = .{};
    defer set.ranges.deinit(gpa);
    const added = [_]Range{
        .{ .first = 'x', .last = 'z' },
        .{ .first = 0, .last = 9 },
        .{ .first = 'a', .last = 'c' },
        .{ .first = 'd', .last = 'e' },
        .{ .first = 'b', .last = 'b' },
    };
    for (added) |range| try set.add(gpa, range.first, range.last);
    set.normalise();
    try std.testing.expectEqualSlices(
        Range,
        &.{ .{ .first = 0, .last = 9 }, .{ .first = 'a', .last = 'e' }, .{ .first = 'x', .last = 'z' } },
        set.ranges.items,
    );
    try set.negate(gpa);
    try std.testing.expectEqualSlices(
        Range,
        &.{ .{ .first = 10, .last = 'a' - 1 }, .{ .first = 'f', .last = 'w' }, .{ .first = 'z' + 1, .last = 0x10ffff } },
        set.ranges.items,
    );
    try set.negate(gpa);
    try std.testing.expectEqual(3, set.ranges.items.len);
    set.ranges.clearRetainingCapacity();
    try set.negate(gpa);
    try std.testing.expectEqualSlices(Range, &.{.{ .first = 0, .last = 0x10ffff }}, set.ranges.items);
    try set.negate(gpa);
    try std.testing.expectEqual(0, set.ranges.items.len);
}

test "few and many characters find the same variants" {
    const gpa = std.testing.allocator;
    var folds: unicode.Folds = undefined;
    folds.init();
    var one: CharacterSet = .{};
    defer one.ranges.deinit(gpa);
    var many: CharacterSet = .{};
    defer many.ranges.deinit(gpa);
    // All of Greek, a few characters at a time and at once.
    try many.add(gpa, 0x370, 0x3ff);
    try many.ignoreCase(gpa, &folds);
    var at: u21 = 0x370;
    while (at < 0x400) : (at += 16) {
        var part: CharacterSet = .{};
        defer part.ranges.deinit(gpa);
        try part.add(gpa, at, at + 15);
        try part.ignoreCase(gpa, &folds);
        try one.ranges.appendSlice(gpa, part.ranges.items);
    }
    one.normalise();
    try std.testing.expectEqualSlices(Range, many.ranges.items, one.ranges.items);
}
