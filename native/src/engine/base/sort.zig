//! Heap sort for what is sorted once: one function for all types of elements, which compares and swaps through pointers.
//! Where sorting is hot, `std.sort` is compiled for its type.

const std = @import("std");

/// Not stable. `isBefore` is a strict weak order.
pub fn sort(comptime T: type, items: []T, context: anytype, comptime isBefore: fn (@TypeOf(context), T, T) bool) void {
    const Sorted = struct {
        items: []T,
        context: @TypeOf(context),

        fn lessThan(sorted: *const anyopaque, a: usize, b: usize) bool {
            const s: *const @This() = @ptrCast(@alignCast(sorted));
            return isBefore(s.context, s.items[a], s.items[b]);
        }

        fn swap(sorted: *const anyopaque, a: usize, b: usize) void {
            const s: *const @This() = @ptrCast(@alignCast(sorted));
            std.mem.swap(T, &s.items[a], &s.items[b]);
        }
    };
    const sorted: Sorted = .{ .items = items, .context = context };
    heapSort(items.len, .{ .sorted = &sorted, .less_than = Sorted.lessThan, .swap_two = Sorted.swap });
}

const Erased = struct {
    sorted: *const anyopaque,
    less_than: *const fn (sorted: *const anyopaque, a: usize, b: usize) bool,
    swap_two: *const fn (sorted: *const anyopaque, a: usize, b: usize) void,

    pub fn lessThan(e: Erased, a: usize, b: usize) bool {
        return e.less_than(e.sorted, a, b);
    }

    pub fn swap(e: Erased, a: usize, b: usize) void {
        e.swap_two(e.sorted, a, b);
    }
};

noinline fn heapSort(n: usize, erased: Erased) void {
    std.sort.heapContext(0, n, erased);
}

test "as the standard library's" {
    var random: std.Random.DefaultPrng = .init(7);
    var ours: [300]u24 = undefined;
    for (0..ours.len) |n| {
        for (ours[0..n]) |*item| item.* = random.random().uintLessThan(u24, 100);
        var theirs = ours;
        sort(u24, ours[0..n], {}, std.sort.desc(u24));
        std.sort.heap(u24, theirs[0..n], {}, std.sort.desc(u24));
        try std.testing.expectEqualSlices(u24, theirs[0..n], ours[0..n]);
    }
}
