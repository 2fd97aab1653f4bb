//! JSON values as numbers: equal values have one number, whatever the order of their members and the spelling of their
//! numbers. A scalar's is that of its canonical text, an array's or object's that of its parts.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Interner = @import("../base/interner.zig").Interner;

pub const ValueId = u32;

pub const Kind = enum(u32) { array, object };

pub const Values = struct {
    /// [kind, items ...] or [kind, key, value, ...], ascending by key.
    composites: Interner = .{},
    /// What came of an array or object: [what came before, key, value]; the first has nothing.
    parts: Interner = .{},

    const is_composite = 1 << 31;

    /// In place of a key, in an array.
    const no_key = std.math.maxInt(u32);

    /// What came of an array or object before its first part.
    pub const begun = 0;

    /// Before all else.
    pub fn begin(v: *Values, gpa: Allocator) Allocator.Error!void {
        std.debug.assert(try v.parts.put(gpa, &.{}) == begun);
    }

    pub fn deinit(v: *Values, gpa: Allocator) void {
        v.composites.deinit(gpa);
        v.parts.deinit(gpa);
    }

    pub fn isScalar(value: ValueId) bool {
        return value & is_composite == 0;
    }

    /// With one item more, or one member of a key.
    pub fn append(v: *Values, gpa: Allocator, before: u32, key: ?u32, value: ValueId) Allocator.Error!u32 {
        return v.parts.put(gpa, &.{ before, key orelse no_key, value });
    }

    pub fn finish(v: *Values, gpa: Allocator, kind: Kind, came: u32) Allocator.Error!ValueId {
        const Part = struct {
            key: u32,
            value: ValueId,

            fn isBefore(_: void, x: @This(), y: @This()) bool {
                return x.key < y.key;
            }
        };
        var found: ArrayList(Part) = .empty;
        defer found.deinit(gpa);
        var at = came;
        while (at != begun) {
            const before, const key, const value = v.parts.get(at)[0..3].*;
            try found.append(gpa, .{ .key = key, .value = value });
            at = before;
        }
        if (kind == .array) std.mem.reverse(Part, found.items) else std.sort.heap(Part, found.items, {}, Part.isBefore);
        var words: ArrayList(u32) = .empty;
        defer words.deinit(gpa);
        try words.append(gpa, @backingInt(kind));
        for (found.items) |part| {
            if (kind == .object) try words.append(gpa, part.key);
            try words.append(gpa, part.value);
        }
        return is_composite | try v.composites.put(gpa, words.items);
    }

    /// How many items or members it has; null if it is of another kind.
    pub fn count(v: *const Values, value: ValueId, kind: Kind) ?u32 {
        if (isScalar(value)) return null;
        const words = v.composites.get(value & ~@as(u32, is_composite));
        if (words[0] != @backingInt(kind)) return null;
        return @intCast((words.len - 1) >> @intFromBool(kind == .object));
    }

    /// Null if there is none.
    pub fn itemOf(v: *const Values, value: ValueId, index: u32) ?ValueId {
        const n = v.count(value, .array) orelse return null;
        return if (index < n) v.composites.get(value & ~@as(u32, is_composite))[1 + index] else null;
    }

    /// Null if there is none.
    pub fn memberOf(v: *const Values, value: ValueId, key: u32) ?ValueId {
        const n = v.count(value, .object) orelse return null;
        const words = v.composites.get(value & ~@as(u32, is_composite));
        for (0..n) |i| if (words[1 + 2 * i] == key) return words[2 + 2 * i];
        return null;
    }

    /// The key of a member, in the order of `composites`.
    pub fn keyAt(v: *const Values, value: ValueId, i: u32) u32 {
        return v.composites.get(value & ~@as(u32, is_composite))[1 + 2 * i];
    }
};

test "objects are equal in any order, arrays are not" {
    const gpa = std.testing.allocator;
    var values: Values = .{};
    defer values.deinit(gpa);
    try values.begin(gpa);
    const ab = try values.append(gpa, try values.append(gpa, Values.begun, 1, 7), 2, 8);
    const ba = try values.append(gpa, try values.append(gpa, Values.begun, 2, 8), 1, 7);
    const object = try values.finish(gpa, .object, ab);
    try std.testing.expectEqual(object, try values.finish(gpa, .object, ba));
    try std.testing.expectEqual(8, values.memberOf(object, 2));
    try std.testing.expectEqual(null, values.memberOf(object, 3));
    try std.testing.expectEqual(null, values.itemOf(object, 0));
    const one = try values.append(gpa, try values.append(gpa, Values.begun, null, 7), null, object);
    const other = try values.append(gpa, try values.append(gpa, Values.begun, null, object), null, 7);
    const array = try values.finish(gpa, .array, one);
    try std.testing.expect(array != try values.finish(gpa, .array, other));
    try std.testing.expectEqual(object, values.itemOf(array, 1));
    try std.testing.expectEqual(null, values.itemOf(array, 2));
    try std.testing.expectEqual(2, values.count(array, .array));
    try std.testing.expectEqual(0, values.count(try values.finish(gpa, .object, Values.begun), .object));
}
