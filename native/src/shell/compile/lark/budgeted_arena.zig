//! An arena whose every allocation counts against a budget.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Alignment = std.mem.Alignment;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;

pub const BudgetedArena = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    what: []const u8,
    is_over: bool = false,

    /// Over budget it is out of memory, and the diagnostic says why.
    pub fn allocator(a: *BudgetedArena) Allocator {
        return .{ .ptr = a, .vtable = &.{ .alloc = alloc, .resize = resize, .remap = remap, .free = Allocator.noFree } };
    }

    /// What an error of someone who used the allocator means.
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
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var budget: Budget = .{ .bytes_max = 500 };
    var diag: Diagnostic = .{};
    var budgeted: BudgetedArena = .{ .arena = arena.allocator(), .budget = &budget, .diag = &diag, .what = "the grammar" };
    var list: std.ArrayList(u8) = .empty;
    try list.appendNTimes(budgeted.allocator(), 'x', 10);
    const err = list.appendNTimes(budgeted.allocator(), 'x', 1000);
    try std.testing.expectError(error.OutOfMemory, err);
    try std.testing.expectEqual(error.Failed, budgeted.explain(error.OutOfMemory));
    try std.testing.expectEqualStrings("the grammar needs more than 500 bytes", diag.message());
}
