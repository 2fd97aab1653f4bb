//! A growing array: what `std.ArrayList` does, in less code. All that growing takes is one function for all types of
//! elements; only where the elements lie is typed.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;

/// Methods that may grow it take the allocator, always the same one. What `items` lends is good until then. When a
/// method fails, the list is as before.
pub fn ArrayList(comptime T: type) type {
    return struct {
        items: []T = &.{},
        /// Elements that there is memory for.
        capacity: usize = 0,

        const Self = @This();

        pub const empty: Self = .{};

        pub fn initCapacity(gpa: Allocator, n: usize) Allocator.Error!Self {
            var list: Self = .empty;
            try list.ensureTotalCapacityPrecise(gpa, n);
            return list;
        }

        pub fn deinit(list: *Self, gpa: Allocator) void {
            release(gpa, list.memory(), alignment);
            list.* = undefined;
        }

        /// Exactly the elements, which are the caller's now.
        pub fn toOwnedSlice(list: *Self, gpa: Allocator) Allocator.Error![]T {
            if (list.items.len == 0) {
                list.deinit(gpa);
                list.* = .empty;
                return &.{};
            }
            try list.setCapacity(gpa, list.items.len);
            defer list.* = .empty;
            return list.items;
        }

        pub fn clone(list: *const Self, gpa: Allocator) Allocator.Error!Self {
            var copy: Self = try .initCapacity(gpa, list.capacity);
            copy.appendSliceAssumeCapacity(list.items);
            return copy;
        }

        pub fn append(list: *Self, gpa: Allocator, item: T) Allocator.Error!void {
            const n = list.items.len;
            if (n == list.capacity) try list.grow(gpa, 1);
            list.items.ptr[n] = item;
            list.items.len = n + 1;
        }

        pub fn appendAssumeCapacity(list: *Self, item: T) void {
            const n = list.items.len;
            std.debug.assert(n < list.capacity);
            list.items.ptr[n] = item;
            list.items.len = n + 1;
        }

        pub fn appendSlice(list: *Self, gpa: Allocator, items: []const T) Allocator.Error!void {
            try list.ensureUnusedCapacity(gpa, items.len);
            list.appendSliceAssumeCapacity(items);
        }

        pub fn appendSliceAssumeCapacity(list: *Self, items: []const T) void {
            @memcpy(list.addManyAsSliceAssumeCapacity(items.len), items);
        }

        pub fn appendNTimes(list: *Self, gpa: Allocator, item: T, n: usize) Allocator.Error!void {
            @memset(try list.addManyAsSlice(gpa, n), item);
        }

        pub fn appendNTimesAssumeCapacity(list: *Self, item: T, n: usize) void {
            @memset(list.addManyAsSliceAssumeCapacity(n), item);
        }

        /// Not set yet.
        pub fn addOne(list: *Self, gpa: Allocator) Allocator.Error!*T {
            try list.ensureUnusedCapacity(gpa, 1);
            return list.addOneAssumeCapacity();
        }

        pub fn addOneAssumeCapacity(list: *Self) *T {
            std.debug.assert(list.items.len < list.capacity);
            list.items.len += 1;
            return &list.items[list.items.len - 1];
        }

        /// Not set yet.
        pub fn addManyAsSlice(list: *Self, gpa: Allocator, n: usize) Allocator.Error![]T {
            try list.ensureUnusedCapacity(gpa, n);
            return list.addManyAsSliceAssumeCapacity(n);
        }

        pub fn addManyAsSliceAssumeCapacity(list: *Self, n: usize) []T {
            std.debug.assert(n <= list.capacity - list.items.len);
            list.items.len += n;
            return list.items[list.items.len - n ..];
        }

        /// New elements are not set.
        pub fn resize(list: *Self, gpa: Allocator, n: usize) Allocator.Error!void {
            try list.ensureTotalCapacity(gpa, n);
            list.items.len = n;
        }

        pub fn pop(list: *Self) ?T {
            if (list.items.len == 0) return null;
            list.items.len -= 1;
            return list.items.ptr[list.items.len];
        }

        pub fn getLast(list: *const Self) T {
            return list.items[list.items.len - 1];
        }

        /// The last element takes the place of the one that is removed.
        pub fn swapRemove(list: *Self, i: usize) T {
            const removed = list.items[i];
            list.items[i] = list.getLast();
            list.items.len -= 1;
            return removed;
        }

        pub fn insert(list: *Self, gpa: Allocator, i: usize, item: T) Allocator.Error!void {
            _ = try list.addOne(gpa);
            @memmove(list.items[i + 1 ..], list.items[i .. list.items.len - 1]);
            list.items[i] = item;
        }

        pub fn shrinkRetainingCapacity(list: *Self, n: usize) void {
            std.debug.assert(n <= list.items.len);
            list.items.len = n;
        }

        pub fn clearRetainingCapacity(list: *Self) void {
            list.items.len = 0;
        }

        pub fn ensureTotalCapacity(list: *Self, gpa: Allocator, n: usize) Allocator.Error!void {
            if (n > list.capacity) try list.grow(gpa, n - list.items.len);
        }

        pub fn ensureTotalCapacityPrecise(list: *Self, gpa: Allocator, n: usize) Allocator.Error!void {
            if (n > list.capacity) try list.setCapacity(gpa, n);
        }

        /// Room for `n` elements more.
        pub fn ensureUnusedCapacity(list: *Self, gpa: Allocator, n: usize) Allocator.Error!void {
            if (n > list.capacity - list.items.len) try list.grow(gpa, n);
        }

        /// Memory after the elements, all that there is.
        pub fn unusedCapacitySlice(list: *const Self) []T {
            return list.allocatedSlice()[list.items.len..];
        }

        pub fn allocatedSlice(list: *const Self) []T {
            return list.items.ptr[0..list.capacity];
        }

        const alignment: Alignment = .of(T);

        fn memory(list: *const Self) []u8 {
            return @ptrCast(list.allocatedSlice());
        }

        noinline fn grow(list: *Self, gpa: Allocator, n_more: usize) Allocator.Error!void {
            const least = comptime @max(1, 64 / @sizeOf(T));
            list.use(try enlarged(gpa, list.memory(), @sizeOf(T), alignment, list.items.len, n_more, least));
        }

        fn setCapacity(list: *Self, gpa: Allocator, n: usize) Allocator.Error!void {
            list.use(try moved(gpa, list.memory(), @sizeOf(T), alignment, list.items.len, n));
        }

        inline fn use(list: *Self, bytes: []u8) void {
            list.items.ptr = @ptrCast(@alignCast(bytes.ptr));
            list.capacity = bytes.len / @sizeOf(T);
        }
    };
}

/// Room for `n` elements and `n_more`, and half as many and `least` beyond, so that a list that grows one by one is
/// copied seldom.
noinline fn enlarged(
    gpa: Allocator,
    memory: []u8,
    size: usize,
    alignment: Alignment,
    n: usize,
    n_more: usize,
    least: usize,
) Allocator.Error![]u8 {
    @branchHint(.cold);
    const wanted = n +| n_more;
    return moved(gpa, memory, size, alignment, n, wanted +| (wanted / 2 + least));
}

/// Memory for `capacity` elements, of which the first `n` are set.
noinline fn moved(gpa: Allocator, memory: []u8, size: usize, alignment: Alignment, n: usize, capacity: usize) Allocator.Error![]u8 {
    const n_bytes = std.math.mul(usize, capacity, size) catch return error.OutOfMemory;
    std.debug.assert(n_bytes > 0);
    if (n_bytes == memory.len) return memory;
    if (memory.len > 0) {
        if (gpa.rawRemap(memory, alignment, n_bytes, @returnAddress())) |same| return same[0..n_bytes];
    }
    const to = gpa.rawAlloc(n_bytes, alignment, @returnAddress()) orelse return error.OutOfMemory;
    @memcpy(to[0 .. n * size], memory[0 .. n * size]);
    release(gpa, memory, alignment);
    return to[0..n_bytes];
}

noinline fn release(gpa: Allocator, memory: []u8, alignment: Alignment) void {
    if (memory.len > 0) gpa.rawFree(memory, alignment, @returnAddress());
}

test "as the standard library's" {
    const gpa = std.testing.allocator;
    var random: std.Random.DefaultPrng = .init(7);
    var ours: ArrayList(u24) = .empty;
    defer ours.deinit(gpa);
    var theirs: std.ArrayList(u24) = .empty;
    defer theirs.deinit(gpa);
    for (0..2000) |i| {
        const item: u24 = @intCast(i);
        const n = random.random().uintLessThan(usize, 20);
        const place = random.random().uintAtMost(usize, theirs.items.len);
        switch (random.random().uintLessThan(u8, 9)) {
            0 => {
                try ours.append(gpa, item);
                try theirs.append(gpa, item);
            },
            1 => {
                try ours.appendSlice(gpa, &.{ item, 1, 2 });
                try theirs.appendSlice(gpa, &.{ item, 1, 2 });
            },
            2 => {
                try ours.appendNTimes(gpa, item, n);
                try theirs.appendNTimes(gpa, item, n);
            },
            3 => {
                try ours.insert(gpa, place, item);
                try theirs.insert(gpa, place, item);
            },
            4 => try std.testing.expectEqual(theirs.pop(), ours.pop()),
            5 => {
                ours.shrinkRetainingCapacity(place);
                theirs.shrinkRetainingCapacity(place);
            },
            6 => if (theirs.items.len > 0) {
                const at = place % theirs.items.len;
                try std.testing.expectEqual(theirs.swapRemove(at), ours.swapRemove(at));
            },
            7 => {
                var copy = try ours.clone(gpa);
                defer copy.deinit(gpa);
                std.mem.swap(ArrayList(u24), &ours, &copy);
            },
            else => {
                const owned = try ours.toOwnedSlice(gpa);
                defer gpa.free(owned);
                try ours.appendSlice(gpa, owned);
            },
        }
        try std.testing.expectEqualSlices(u24, theirs.items, ours.items);
        try std.testing.expect(ours.capacity >= ours.items.len);
    }
}

test "out of memory it is as before" {
    var failing: std.testing.FailingAllocator = .init(std.testing.allocator, .{ .fail_index = 1, .resize_fail_index = 0 });
    const gpa = failing.allocator();
    var list: ArrayList(u64) = .empty;
    defer list.deinit(gpa);
    try list.append(gpa, 3);
    try list.ensureTotalCapacity(gpa, list.capacity);
    try std.testing.expectError(error.OutOfMemory, list.appendNTimes(gpa, 4, list.capacity));
    try std.testing.expectError(error.OutOfMemory, list.resize(gpa, std.math.maxInt(usize)));
    try std.testing.expectEqualSlices(u64, &.{3}, list.items);
}
