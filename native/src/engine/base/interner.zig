//! Numbers for runs of words: equal runs have one number, and are kept once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("array_list.zig").ArrayList;

pub const Interner = struct {
    words: ArrayList(u32) = .empty,
    /// Where each run begins in `words`, and one more.
    offsets: ArrayList(u32) = .empty,
    /// Open addressing: the number of a run, plus one; a power of two of them.
    slots: []u32 = &.{},

    pub fn deinit(in: *Interner, gpa: Allocator) void {
        in.words.deinit(gpa);
        in.offsets.deinit(gpa);
        gpa.free(in.slots);
    }

    pub fn count(in: *const Interner) u32 {
        return @intCast(in.offsets.items.len -| 1);
    }

    pub fn bytes(in: *const Interner) usize {
        return 4 * (in.words.capacity + in.offsets.capacity + in.slots.len);
    }

    /// Lent until the next `put`.
    pub fn get(in: *const Interner, number: u32) []const u32 {
        return in.words.items[in.offsets.items[number]..in.offsets.items[number + 1]];
    }

    /// Null if the run has no number.
    pub fn find(in: *const Interner, run: []const u32) ?u32 {
        if (in.slots.len == 0) return null;
        const slot = in.slots[in.slotOf(run)];
        return if (slot == 0) null else slot - 1;
    }

    /// `run` does not lie in the interner.
    pub fn put(in: *Interner, gpa: Allocator, run: []const u32) Allocator.Error!u32 {
        if (2 * (in.count() + 1) > in.slots.len) try in.grow(gpa);
        const slot = in.slotOf(run);
        if (in.slots[slot] != 0) return in.slots[slot] - 1;
        try in.offsets.ensureUnusedCapacity(gpa, 2);
        try in.words.appendSlice(gpa, run);
        if (in.offsets.items.len == 0) in.offsets.appendAssumeCapacity(0);
        in.offsets.appendAssumeCapacity(@intCast(in.words.items.len));
        in.slots[slot] = in.count();
        return in.count() - 1;
    }

    /// That of the run, or the free one where it belongs.
    fn slotOf(in: *const Interner, run: []const u32) usize {
        const mask = in.slots.len - 1;
        var slot = hashOf(run) & mask;
        while (in.slots[slot] != 0) : (slot = (slot + 1) & mask) {
            if (std.mem.eql(u32, in.get(in.slots[slot] - 1), run)) break;
        }
        return slot;
    }

    fn grow(in: *Interner, gpa: Allocator) Allocator.Error!void {
        const slots = try gpa.alloc(u32, @max(16, 2 * in.slots.len));
        @memset(slots, 0);
        for (0..in.count()) |number| {
            var slot = hashOf(in.get(@intCast(number))) & (slots.len - 1);
            while (slots[slot] != 0) slot = (slot + 1) & (slots.len - 1);
            slots[slot] = @intCast(number + 1);
        }
        gpa.free(in.slots);
        in.slots = slots;
    }

    fn hashOf(run: []const u32) usize {
        return @truncate(std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(run)));
    }
};

test "equal runs have one number" {
    const gpa = std.testing.allocator;
    var in: Interner = .{};
    defer in.deinit(gpa);
    for (0..2) |_| for (0..100) |i| {
        const run = [_]u32{ @intCast(i), 7 };
        try std.testing.expectEqual(i, try in.put(gpa, run[0 .. 1 + i % 2]));
    };
    try std.testing.expectEqual(100, in.count());
    try std.testing.expectEqualSlices(u32, &.{ 3, 7 }, in.get(3));
}
