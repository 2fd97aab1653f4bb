//! Interning: equal things get one number, found again by hash.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// A hash table of numbers, with open addressing. Whoever uses it keeps the things that the numbers stand for, and hashes and
/// compares them.
pub const Interner = struct {
    /// Their number is a power of two, and at least half of them are free; none before the first insertion.
    slots: []Slot = &.{},
    n: usize = 0,

    const Slot = struct { hash: u32, number: u32 };
    const free = std.math.maxInt(u32);

    /// The number for which `context.equals(number)`, if any; asked only of numbers with the same hash.
    pub inline fn find(interner: *const Interner, hash: u32, context: anytype) ?u32 {
        if (interner.slots.len == 0) return null;
        const mask = interner.slots.len - 1;
        var at = hash & mask;
        while (interner.slots[at].number != free) : (at = (at + 1) & mask) {
            const slot = interner.slots[at];
            if (slot.hash == hash and context.equals(slot.number)) return slot.number;
        }
        return null;
    }

    /// Adds the number of a thing that `find` does not find.
    pub fn insert(interner: *Interner, gpa: Allocator, hash: u32, number: u32) Allocator.Error!void {
        if (2 * (interner.n + 1) > interner.slots.len) try interner.grow(gpa);
        interner.place(.{ .hash = hash, .number = number });
        interner.n += 1;
    }

    /// Forgets all numbers, and keeps the memory.
    pub fn clear(interner: *Interner) void {
        @memset(interner.slots, .{ .hash = 0, .number = free });
        interner.n = 0;
    }

    /// Not needed if `gpa` is an arena.
    pub fn deinit(interner: *Interner, gpa: Allocator) void {
        gpa.free(interner.slots);
    }

    fn place(interner: *Interner, slot: Slot) void {
        const mask = interner.slots.len - 1;
        var at = slot.hash & mask;
        while (interner.slots[at].number != free) at = (at + 1) & mask;
        interner.slots[at] = slot;
    }

    fn grow(interner: *Interner, gpa: Allocator) Allocator.Error!void {
        const before = interner.slots;
        interner.slots = try gpa.alloc(Slot, @max(64, 2 * before.len));
        @memset(interner.slots, .{ .hash = 0, .number = free });
        for (before) |slot| if (slot.number != free) interner.place(slot);
        gpa.free(before);
    }
};

/// Spreads the bits of a number. The hash of a set is the sum of these, whatever the order of its members.
pub inline fn mix(value: u32) u32 {
    var x = value *% 0x9e3779b1;
    x ^= x >> 15;
    x *%= 0x85ebca77;
    return x ^ (x >> 13);
}

/// The hash of a list: that of all but its last element, combined with this.
pub inline fn combine(hash: u32, value: u32) u32 {
    return mix(std.math.rotl(u32, hash, 5) ^ value);
}

test "equal things get one number, through growth and clearing" {
    const gpa = std.testing.allocator;
    var interner: Interner = .{};
    defer interner.deinit(gpa);
    const Equal = struct {
        value: u32,
        pub fn equals(e: @This(), number: u32) bool {
            return e.value == number;
        }
    };
    for (0..2) |_| {
        for (0..1000) |i| {
            const value: u32 = @intCast(i);
            try std.testing.expectEqual(null, interner.find(mix(value / 8), Equal{ .value = value }));
            try interner.insert(gpa, mix(value / 8), value);
        }
        for (0..1000) |i| {
            try std.testing.expectEqual(@as(?u32, @intCast(i)), interner.find(mix(@intCast(i / 8)), Equal{ .value = @intCast(i) }));
        }
        interner.clear();
    }
}
