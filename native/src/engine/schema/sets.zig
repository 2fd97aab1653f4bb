//! Sets of numbers that share what they have in common: equal sets have one number, a set with one element more costs
//! some nodes, and to look for an element takes as many steps. Binary tries over the bits of the elements, from the
//! highest in which they differ (Okasaki and Gill, "Fast mergeable integer maps", 1998), each node once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Interner = @import("../base/interner.zig").Interner;

pub const Sets = struct {
    gpa: Allocator,
    /// [element], or [bit, those without it, those with it].
    nodes: Interner = .{},

    /// The set without elements.
    pub const none = 0;

    /// Before all else.
    pub fn begin(s: *Sets) Allocator.Error!void {
        std.debug.assert(try s.nodes.put(s.gpa, &.{}) == none);
    }

    pub fn deinit(s: *Sets) void {
        s.nodes.deinit(s.gpa);
    }

    pub fn has(s: *const Sets, set: u32, element: u32) bool {
        return set != none and s.nearest(set, element) == element;
    }

    pub fn count(s: *const Sets, set: u32) u32 {
        if (set == none) return 0;
        const node = s.nodes.get(set);
        return if (node.len == 1) 1 else s.count(node[1]) + s.count(node[2]);
    }

    pub fn with(s: *Sets, set: u32, element: u32) Allocator.Error!u32 {
        if (set == none) return s.nodes.put(s.gpa, &.{element});
        const differing = s.nearest(set, element) ^ element;
        return if (differing == 0) set else s.insert(set, element, 31 - @clz(differing));
    }

    /// The elements of which `keep(context, element)` is true.
    pub fn filter(s: *Sets, set: u32, context: anytype, comptime keep: anytype) Allocator.Error!u32 {
        if (set == none) return none;
        const node = s.nodes.get(set);
        if (node.len == 1) return if (keep(context, node[0])) set else none;
        const bit, const without, const with_bit = node[0..3].*;
        const low = try s.filter(without, context, keep);
        const high = try s.filter(with_bit, context, keep);
        if (low == without and high == with_bit) return set;
        if (low == none or high == none) return low + high;
        return s.nodes.put(s.gpa, &.{ bit, low, high });
    }

    /// The elements, ascending.
    pub fn list(s: *const Sets, gpa: Allocator, set: u32, out: *ArrayList(u32)) Allocator.Error!void {
        if (set == none) return;
        const node = s.nodes.get(set);
        if (node.len == 1) return out.append(gpa, node[0]);
        try s.list(gpa, node[1], out);
        try s.list(gpa, node[2], out);
    }

    /// The element that agrees with another in all bits that are asked.
    fn nearest(s: *const Sets, set: u32, element: u32) u32 {
        var node = s.nodes.get(set);
        while (node.len > 1) node = s.nodes.get(node[1 + (element >> @intCast(node[0]) & 1)]);
        return node[0];
    }

    /// `bit` is the highest in which the element and its nearest differ.
    fn insert(s: *Sets, set: u32, element: u32, bit: u32) Allocator.Error!u32 {
        const node = s.nodes.get(set);
        if (node.len > 1 and node[0] > bit) {
            var parts = node[0..3].*;
            const side = 1 + (element >> @intCast(node[0]) & 1);
            parts[side] = try s.insert(parts[side], element, bit);
            return s.nodes.put(s.gpa, &parts);
        }
        const own = try s.nodes.put(s.gpa, &.{element});
        return s.nodes.put(s.gpa, &if (element >> @intCast(bit) & 1 != 0) [_]u32{ bit, set, own } else [_]u32{ bit, own, set });
    }
};

test "as sorted lists, in any order of insertion" {
    const gpa = std.testing.allocator;
    var sets: Sets = .{ .gpa = gpa };
    defer sets.deinit();
    try sets.begin();
    var random: std.Random.DefaultPrng = .init(1);
    var elements: [200]u32 = undefined;
    for (&elements, 0..) |*element, i| element.* = if (i % 3 == 0) @intCast(i) else random.random().int(u32) >> 1;
    var forwards: u32 = Sets.none;
    var backwards: u32 = Sets.none;
    for (elements, 0..) |element, i| {
        forwards = try sets.with(forwards, element);
        backwards = try sets.with(backwards, elements[elements.len - 1 - i]);
        for (elements, 0..) |other, j| {
            const is_in = j <= i or std.mem.findScalar(u32, elements[0 .. i + 1], other) != null;
            try std.testing.expectEqual(is_in, sets.has(forwards, other));
        }
    }
    try std.testing.expectEqual(forwards, backwards);
    const isOdd = struct {
        fn isOdd(_: void, element: u32) bool {
            return element & 1 != 0;
        }
    }.isOdd;
    var odd: u32 = Sets.none;
    for (elements) |element| if (isOdd({}, element)) {
        odd = try sets.with(odd, element);
    };
    try std.testing.expectEqual(odd, try sets.filter(forwards, {}, isOdd));
    var found: ArrayList(u32) = .empty;
    defer found.deinit(gpa);
    try sets.list(gpa, forwards, &found);
    try std.testing.expect(std.sort.isSorted(u32, found.items, {}, std.sort.asc(u32)));
    try std.testing.expectEqual(found.items.len, sets.count(forwards));
    for (elements) |element| try std.testing.expect(std.mem.findScalar(u32, found.items, element) != null);
}
