//! States with their history: rollback over compacted stacks, copies, and memory that runs out.

const std = @import("std");
const gpa = std.testing.allocator;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const brackets = @import("../recognizer/recognizer_test.zig");
const State = @import("kinds.zig").State;

const mask_bytes_max = 1 << 20;

/// What is legal after `n` tokens of a text of `n_open` brackets, an `x`, and brackets that close again.
fn expectAt(state: *State, n_open: usize, n: usize) !void {
    const legal = (try state.allowed()).?.list;
    const n_left = 2 * n_open + 1 - n;
    const expected: []const i32 = if (n == 0)
        &.{ 0, 2, 3, 4, 7, 10, 11, 12 }
    else if (n == 1)
        &.{ 0, 2, 3, 4, 5, 7, 10, 11, 12 }
    else if (n <= n_open)
        &.{ 0, 2, 3, 4, 5, 7, 8, 10, 11, 12 }
    else if (n == n_open + 1)
        &.{ 1, 2, 3, 5, 6, 7, 8 }
    else switch (n_left) {
        0 => &.{ 3, brackets.end_token },
        1 => &.{ 1, 3 },
        else => &.{ 1, 3, 6 },
    };
    try std.testing.expectEqualSlices(i32, expected, legal);
}

/// The tokens of brackets around an `x`.
fn tokenAt(n_open: usize, n: usize) i32 {
    return if (n < n_open) brackets.open else if (n == n_open) brackets.x else brackets.close;
}

test "rollback goes back to what was legal, over stacks that were compacted" {
    const r = try brackets.createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var state: State = .init(gpa, .{ .recognizer = r }, .{});
    defer state.deinit(gpa);
    const n_open = 3000;
    const n_all = 2 * n_open + 1;
    for (0..n_all) |n| try std.testing.expect(!(try state.accept(gpa, tokenAt(n_open, n), 0)).refused);
    // With a checkpoint for each token all stacks that were are kept, but each once.
    try std.testing.expect(state.recognizer.at.compact_at > 4096);
    try std.testing.expect(try state.canStop());
    var diag: Diagnostic = .{};
    var n: usize = n_all;
    for ([_]usize{ 0, 1, 500, 2000, 499, 1, 1500, 1498 }) |n_back| {
        try state.rollback(n_back, &diag);
        n -= n_back;
        try expectAt(&state, n_open, n);
        // From here the same tokens lead on, and no bracket can be closed that is not open.
        var copy = try state.clone(gpa);
        defer copy.deinit(gpa);
        for (n..n_all) |i| try std.testing.expect(!(try copy.accept(gpa, tokenAt(n_open, i), 0)).refused);
        try std.testing.expect((try copy.accept(gpa, brackets.close, 0)).refused);
        try std.testing.expect(try copy.canStop());
    }
    try std.testing.expectError(error.Failed, state.rollback(n + 1, &diag));
    try state.rollback(n, &diag);
    try expectAt(&state, n_open, 0);
}

test "each checkpoint keeps its stack where no other has a part of it" {
    const r = try brackets.createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var state: State = .init(gpa, .{ .recognizer = r }, .{});
    defer state.deinit(gpa);
    const n_open = 30;
    const n_all = 2 * n_open + 1;
    const n_committed = n_open + 3; // from here on each token takes something off the stack
    for (0..n_committed) |n| _ = try state.commit(tokenAt(n_open, n), 0); // which leaves no checkpoint
    for (n_committed..n_all) |n| try std.testing.expect(!(try state.accept(gpa, tokenAt(n_open, n), 0)).refused);
    for ([_]usize{ n_all - n_committed, 1, 7 }) |step| {
        var copy = try state.clone(gpa);
        defer copy.deinit(gpa);
        copy.recognizer.at.compact_at = 0;
        copy.recognizer.at.compact(copy.recognizer.history.checkpoints.items);
        var n: usize = n_all;
        while (n >= n_committed + step) {
            var diag: Diagnostic = .{};
            try copy.rollback(step, &diag);
            n -= step;
            try expectAt(&copy, n_open, n);
        }
        for (n..n_all) |i| try std.testing.expect(!(try copy.accept(gpa, tokenAt(n_open, i), 0)).refused);
        try std.testing.expect(try copy.canStop());
    }
}

test "stacks that nothing leads to any more are dropped" {
    const r = try brackets.createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var state: State = .init(gpa, .{ .recognizer = r }, .{});
    defer state.deinit(gpa);
    for (0..20) |_| {
        for (0..2 * 500 + 1) |n| _ = try state.commit(tokenAt(500, n), 0);
        // Complete: the next text begins in a span of its own.
        _ = try state.commit(brackets.end_token, 0);
        var diag: Diagnostic = .{};
        try state.activate("", &diag);
    }
    try std.testing.expect(state.recognizer.at.pool.nodes.items.len < 3 * 4096);
}

test "without memory nothing is accepted, and nothing is changed" {
    var failing: std.testing.FailingAllocator = .init(gpa, .{});
    const allocator = failing.allocator();
    const r = try brackets.createBrackets(allocator, mask_bytes_max);
    defer r.release();
    var state: State = .init(allocator, .{ .recognizer = r }, .{});
    defer state.deinit(allocator);
    const n_open = 40;
    var n_failed: usize = 0;
    for (0..2 * n_open + 1) |n| {
        const n_nodes = state.recognizer.at.pool.nodes.items.len;
        failing.fail_index = failing.alloc_index;
        failing.resize_fail_index = failing.resize_index;
        if (state.accept(allocator, tokenAt(n_open, n), 0)) |step| {
            try std.testing.expect(!step.refused);
            continue;
        } else |e| try std.testing.expectEqual(error.OutOfMemory, e);
        failing.fail_index = std.math.maxInt(usize);
        failing.resize_fail_index = std.math.maxInt(usize);
        n_failed += 1;
        try std.testing.expectEqual(n_nodes, state.recognizer.at.pool.nodes.items.len);
        try expectAt(&state, n_open, n);
        try std.testing.expect(!(try state.accept(allocator, tokenAt(n_open, n), 0)).refused);
    }
    try std.testing.expect(n_failed > 1);
    failing.fail_index = std.math.maxInt(usize);
    failing.resize_fail_index = std.math.maxInt(usize);
    try std.testing.expect(try state.canStop());
}
