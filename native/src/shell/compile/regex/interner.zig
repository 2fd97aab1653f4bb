//! Finds things that were numbered before by what they hold, so that equal things get one number.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// A hash table of numbers. What the numbers stand for is the user's: it hashes and compares.
pub const Interner = struct {
    /// A power of two of them, at least half free; none before the first insertion.
    slots: []Slot = &.{},
    n: usize = 0,

    const Slot = struct { hash: u32, number: u32 };
    const free = std.math.maxInt(u32);

    /// The number whose thing is equal: `context.equals(number)`.
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

    /// Of a thing that is not there.
    pub fn insert(interner: *Interner, gpa: Allocator, hash: u32, number: u32) Allocator.Error!void {
        if (2 * (interner.n + 1) > interner.slots.len) try interner.grow(gpa);
        interner.place(.{ .hash = hash, .number = number });
        interner.n += 1;
    }

    pub fn clear(interner: *Interner) void {
        @memset(interner.slots, .{ .hash = 0, .number = free });
        interner.n = 0;
    }

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

/// Spreads the bits of a number; hashes of sets are sums of these, of lists `combine` them.
pub inline fn mix(value: u32) u32 {
    var x = value *% 0x9e3779b1;
    x ^= x >> 15;
    x *%= 0x85ebca77;
    return x ^ (x >> 13);
}

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
