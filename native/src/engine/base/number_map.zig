//! A hash map from numbers to numbers with linear probing: smaller and faster than the standard library's.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("array_list.zig").ArrayList;

/// Starts empty. Keys are below 2^64-1 and cannot be removed.
pub const NumberMap = struct {
    /// A power of two of them, at least half free. None before the first `put`.
    slots: []Slot = &.{},
    n: usize = 0,

    const Slot = struct { key: u64, value: u32 };
    /// A key of all ones marks a free slot.
    const free = std.math.maxInt(u64);

    /// `gpa` is the one that `put` was given.
    pub fn deinit(map: *NumberMap, gpa: Allocator) void {
        gpa.free(map.slots);
    }

    /// Null if the key is not in the map.
    pub fn get(map: *const NumberMap, key: u64) ?u32 {
        if (map.slots.len == 0) return null;
        var at = map.start(key);
        while (map.slots[at].key != free) : (at = (at + 1) & (map.slots.len - 1)) {
            if (map.slots[at].key == key) return map.slots[at].value;
        }
        return null;
    }

    /// Adds a key that is not in the map yet. If it fails, the map is as before.
    pub fn put(map: *NumberMap, gpa: Allocator, key: u64, value: u32) Allocator.Error!void {
        if (2 * (map.n + 1) > map.slots.len) try map.grow(gpa);
        map.place(.{ .key = key, .value = value });
        map.n += 1;
    }

    /// Adds an item to a list, and its index there by a key that is not in the map yet. If it fails, both are as before.
    pub fn putItem(map: *NumberMap, gpa: Allocator, key: u64, comptime T: type, list: *ArrayList(T), item: T) Allocator.Error!void {
        try list.ensureUnusedCapacity(gpa, 1);
        try map.put(gpa, key, @intCast(list.items.len));
        list.appendAssumeCapacity(item);
    }

    /// Takes all keys out; the memory stays.
    pub fn clear(map: *NumberMap) void {
        if (map.n > 0) @memset(map.slots, .{ .key = free, .value = 0 });
        map.n = 0;
    }

    noinline fn grow(map: *NumberMap, gpa: Allocator) Allocator.Error!void {
        @branchHint(.cold);
        const before = map.slots;
        map.slots = try gpa.alloc(Slot, @max(16, 2 * before.len));
        @memset(map.slots, .{ .key = free, .value = 0 });
        for (before) |slot| if (slot.key != free) map.place(slot);
        gpa.free(before);
    }

    fn place(map: *NumberMap, slot: Slot) void {
        var at = map.start(slot.key);
        while (map.slots[at].key != free) at = (at + 1) & (map.slots.len - 1);
        map.slots[at] = slot;
    }

    /// Multiplicative hashing (Knuth, TAOCP 3, 6.4).
    inline fn start(map: *const NumberMap, key: u64) usize {
        return @intCast((key *% 0x9e3779b97f4a7c15) >> 32 & (map.slots.len - 1));
    }
};

test "as a list" {
    const gpa = std.testing.allocator;
    var map: NumberMap = .{};
    defer map.deinit(gpa);
    try std.testing.expectEqual(null, map.get(7));
    for (0..1000) |i| try map.put(gpa, i * i, @intCast(i));
    for (0..1000) |i| try std.testing.expectEqual(@as(u32, @intCast(i)), map.get(i * i));
    try std.testing.expectEqual(null, map.get(2));
    map.clear();
    try std.testing.expectEqual(null, map.get(4));
    try map.put(gpa, 4, 5);
    try std.testing.expectEqual(5, map.get(4));
}
