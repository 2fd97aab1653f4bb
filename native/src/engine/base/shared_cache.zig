//! Things that are found again by the bytes that they are made of. A cache has a fixed number of slots: a new thing
//! takes the slot of an older one, which lives on as long as someone uses it. A key leads to a few slots, which take turns.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Mutex = @import("../platform/mutex.zig").Mutex;

/// The head of a thing. Reference-counted; immutable once it is in a cache.
pub const Shared = struct {
    references: std.atomic.Value(u32) = .init(1),
    /// No two things of a process have the same.
    id: u64,
    /// The thing's own, from the same allocator.
    key: []const u8,
    /// Frees the thing around the head, but for the key.
    destroy: *const fn (shared: *Shared, gpa: Allocator) void,

    /// Copies the key. The caller owns the one reference.
    pub fn init(gpa: Allocator, key: []const u8, destroy: *const fn (*Shared, Allocator) void) Allocator.Error!Shared {
        const copy = try gpa.dupe(u8, key);
        ids.lock();
        defer ids.unlock();
        last_id += 1;
        return .{ .id = last_id, .key = copy, .destroy = destroy };
    }

    pub fn retain(shared: *Shared) *Shared {
        _ = shared.references.fetchAdd(1, .monotonic);
        return shared;
    }

    /// The last one frees the thing. Safe from any thread.
    pub fn release(shared: *Shared, gpa: Allocator) void {
        if (shared.references.fetchSub(1, .acq_rel) != 1) return;
        gpa.free(shared.key);
        shared.destroy(shared, gpa);
    }

    var ids: Mutex = .{};
    var last_id: u64 = 0;
};

/// Safe from any thread: its lock is held for a look-up alone.
pub fn SharedCache(comptime n_slots: usize) type {
    return struct {
        gpa: Allocator,
        mutex: Mutex = .{},
        slots: [n_slots]?*Shared = @splat(null),
        turn: usize = 0,

        const Self = @This();
        const n_ways = 4;

        pub fn deinit(cache: *Self) void {
            for (cache.slots) |slot| if (slot) |shared| shared.release(cache.gpa);
        }

        /// A reference to what has this key, if it is there.
        pub fn get(cache: *Self, key: []const u8) ?*Shared {
            const first = firstOf(key);
            cache.mutex.lock();
            defer cache.mutex.unlock();
            for (cache.slots[first..][0..n_ways]) |slot| {
                const shared = slot orelse continue;
                if (std.mem.eql(u8, shared.key, key)) return shared.retain();
            }
            return null;
        }

        /// Keeps a reference of its own.
        pub fn put(cache: *Self, shared: *Shared) void {
            const first = firstOf(shared.key);
            cache.mutex.lock();
            cache.turn += 1;
            const slot = for (cache.slots[first..][0..n_ways]) |*slot| {
                if (slot.* == null) break slot;
            } else &cache.slots[first + cache.turn % n_ways];
            const before = slot.*;
            slot.* = shared.retain();
            cache.mutex.unlock();
            if (before) |one| one.release(cache.gpa);
        }

        fn firstOf(key: []const u8) usize {
            return @intCast(std.hash.Wyhash.hash(0, key) % (n_slots / n_ways) * n_ways);
        }
    };
}

test "a thing is found until another takes its slot, and lives as long as it is used" {
    const gpa = std.testing.allocator;
    const Thing = struct {
        shared: Shared,
        number: usize,

        fn create(number: usize) !*@This() {
            const thing = try gpa.create(@This());
            errdefer gpa.destroy(thing);
            thing.* = .{ .shared = try .init(gpa, std.mem.asBytes(&number), destroy), .number = number };
            return thing;
        }

        fn destroy(shared: *Shared, from: Allocator) void {
            from.destroy(@as(*@This(), @fieldParentPtr("shared", shared)));
        }
    };
    var cache: SharedCache(4) = .{ .gpa = gpa };
    defer cache.deinit();
    var first: ?*Thing = null;
    var last_id: u64 = 0;
    for (0..40) |i| {
        const made: *Thing = try .create(i);
        try std.testing.expect(made.shared.id > last_id);
        last_id = made.shared.id;
        cache.put(&made.shared);
        made.shared.release(gpa);
        const found: *Thing = @fieldParentPtr("shared", cache.get(std.mem.asBytes(&i)).?);
        try std.testing.expectEqual(i, found.number);
        if (first == null) first = found else found.shared.release(gpa);
    }
    try std.testing.expectEqual(null, cache.get("other"));
    try std.testing.expectEqual(0, first.?.number);
    first.?.shared.release(gpa);
}
