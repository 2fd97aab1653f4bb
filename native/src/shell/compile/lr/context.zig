//! What every step of the parser's construction carries: scratch memory, the budget that it counts against, and the
//! diagnostic that a failure is written to.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Budget = @import("engine").budget.Budget;

/// error.Failed: the diagnostic says why.
pub const Error = Allocator.Error || diagnostic.Error;

/// Allocates within the budget. All memory is freed at once, with the arena.
pub const Context = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *diagnostic.Diagnostic,

    const what = "the parser";

    // Out of line: they are called from everywhere, and their own cost hardly counts.

    /// Fails when time is up or the caller has cancelled. To be called in every loop whose length the grammar sets.
    pub noinline fn check(ctx: *const Context) Error!void {
        return ctx.budget.check(what, ctx.diag);
    }

    /// Fails if `n` states are more than the budget allows.
    pub fn checkStates(ctx: *const Context, n: usize) Error!void {
        return ctx.budget.checkStates(n, what, ctx.diag);
    }

    /// Counts memory that is allocated elsewhere.
    pub noinline fn take(ctx: *const Context, bytes: u64) Error!void {
        return ctx.budget.take(bytes, what, ctx.diag);
    }

    /// Undefined elements.
    pub noinline fn alloc(ctx: *const Context, comptime T: type, n: usize) Error![]T {
        try ctx.take(@as(u64, n) * @sizeOf(T));
        return ctx.arena.alloc(T, n);
    }

    /// `n` elements, each of them `value`.
    pub noinline fn filled(ctx: *const Context, comptime T: type, n: usize, value: T) Error![]T {
        const slice = try ctx.alloc(T, n);
        @memset(slice, value);
        return slice;
    }

    /// Makes room in an ArrayList for `n` more elements, at least doubling it when it grows.
    pub fn reserve(ctx: *const Context, list: anytype, n: usize) Error!void {
        if (list.capacity - list.items.len < n) return ctx.grow(list, n);
    }

    noinline fn grow(ctx: *const Context, list: anytype, n: usize) Error!void {
        const capacity = @max(list.items.len + n, 2 * list.capacity, 64);
        try ctx.take(@as(u64, capacity) * @sizeOf(@TypeOf(list.items[0])));
        try list.ensureTotalCapacityPrecise(ctx.arena, capacity);
    }

    /// To an ArrayList.
    pub fn append(ctx: *const Context, list: anytype, item: @TypeOf(list.items[0])) Error!void {
        try ctx.reserve(list, 1);
        list.appendAssumeCapacity(item);
    }

    /// To an ArrayList.
    pub noinline fn appendSlice(ctx: *const Context, list: anytype, items: []const @TypeOf(list.items[0])) Error!void {
        try ctx.reserve(list, items.len);
        list.appendSliceAssumeCapacity(items);
    }
};
