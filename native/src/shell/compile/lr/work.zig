//! What every step of the construction carries: scratch memory, the budget it counts against, and
//! where a failure is written down.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Budget = @import("engine").budget.Budget;

pub const Error = Allocator.Error || diagnostic.Error;

pub const Work = struct {
    /// Nothing in it is freed one by one.
    arena: Allocator,
    budget: *Budget,
    diag: *diagnostic.Diagnostic,

    const what = "the parser";

    // Out of line: they are called from everywhere, and seldom take long.

    pub noinline fn check(w: *const Work) Error!void {
        return w.budget.check(what, w.diag);
    }

    pub fn checkStates(w: *const Work, n: usize) Error!void {
        return w.budget.checkStates(n, what, w.diag);
    }

    pub noinline fn take(w: *const Work, bytes: u64) Error!void {
        return w.budget.take(bytes, what, w.diag);
    }

    pub noinline fn alloc(w: *const Work, comptime T: type, n: usize) Error![]T {
        try w.take(@as(u64, n) * @sizeOf(T));
        return w.arena.alloc(T, n);
    }

    pub noinline fn filled(w: *const Work, comptime T: type, n: usize, value: T) Error![]T {
        const slice = try w.alloc(T, n);
        @memset(slice, value);
        return slice;
    }

    pub fn reserve(w: *const Work, list: anytype, n: usize) Error!void {
        if (list.capacity - list.items.len < n) return w.grow(list, n);
    }

    noinline fn grow(w: *const Work, list: anytype, n: usize) Error!void {
        const capacity = @max(list.items.len + n, 2 * list.capacity, 64);
        try w.take(@as(u64, capacity) * @sizeOf(@TypeOf(list.items[0])));
        try list.ensureTotalCapacityPrecise(w.arena, capacity);
    }

    pub fn append(w: *const Work, list: anytype, item: @TypeOf(list.items[0])) Error!void {
        try w.reserve(list, 1);
        list.appendAssumeCapacity(item);
    }

    pub noinline fn appendSlice(w: *const Work, list: anytype, items: []const @TypeOf(list.items[0])) Error!void {
        try w.reserve(list, items.len);
        list.appendSliceAssumeCapacity(items);
    }
};
