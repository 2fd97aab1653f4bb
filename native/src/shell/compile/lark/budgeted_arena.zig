//! An arena whose allocations count against a budget.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Alignment = std.mem.Alignment;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;

/// So that code which knows only std's allocators keeps within the budget. Must not move while its allocator is in use.
pub const BudgetedArena = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    /// What is being built, for messages.
    what: []const u8,
    is_over: bool = false,

    /// Fails with error.OutOfMemory when the budget is exceeded, and then the diagnostic says so. Frees nothing.
    pub fn allocator(a: *BudgetedArena) Allocator {
        return .{ .ptr = a, .vtable = &.{ .alloc = alloc, .resize = resize, .remap = remap, .free = Allocator.noFree } };
    }

    /// The error to return for one of code that used the allocator: error.Failed if it was out of budget, not out of memory.
    pub fn explain(a: *const BudgetedArena, err: (Allocator.Error || diagnostic.Error)) (Allocator.Error || diagnostic.Error) {
        return if (a.is_over) error.Failed else err;
    }

    fn take(a: *BudgetedArena, bytes: usize) bool {
        a.budget.take(bytes, a.what, a.diag) catch {
            a.is_over = true;
            return false;
        };
        return true;
    }

    fn alloc(context: *anyopaque, len: usize, alignment: Alignment, return_address: usize) ?[*]u8 {
        const a: *BudgetedArena = @ptrCast(@alignCast(context));
        return if (a.take(len)) a.arena.rawAlloc(len, alignment, return_address) else null;
    }

    fn resize(context: *anyopaque, memory: []u8, alignment: Alignment, len: usize, return_address: usize) bool {
        const a: *BudgetedArena = @ptrCast(@alignCast(context));
        if (!a.arena.rawResize(memory, alignment, len, return_address)) return false;
        return a.take(len -| memory.len);
    }

    fn remap(context: *anyopaque, memory: []u8, alignment: Alignment, len: usize, return_address: usize) ?[*]u8 {
        return if (resize(context, memory, alignment, len, return_address)) memory.ptr else null;
    }
};

test "what is over budget is an error that says so" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    var budget: Budget = .{ .bytes_max = 500 };
    var diag: Diagnostic = .{};
    var budgeted: BudgetedArena = .{ .arena = arena.allocator(), .budget = &budget, .diag = &diag, .what = "the grammar" };
    var list: ArrayList(u8) = .empty;
    try list.appendNTimes(budgeted.allocator(), 'x', 10);
    const err = list.appendNTimes(budgeted.allocator(), 'x', 1000);
    try std.testing.expectError(error.OutOfMemory, err);
    try std.testing.expectEqual(error.Failed, budgeted.explain(error.OutOfMemory));
    try std.testing.expectEqualStrings("the grammar needs more than 500 bytes", diag.message());
}
