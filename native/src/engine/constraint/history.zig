//! What a matcher can be rolled back to: the checkpoint before each accepted token, the latest last.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;

/// ELIZA_ROLLBACK_TOKENS_MAX of the header.
pub const rollback_tokens_max = 65536;

/// A stack of checkpoints, which are plain values. Always holds the last `rollback_tokens_max` of them.
pub fn History(comptime Checkpoint: type) type {
    return struct {
        checkpoints: ArrayList(Checkpoint) = .empty,

        const H = @This();

        /// A copy. The caller frees it.
        pub fn clone(h: *const H, gpa: Allocator) Allocator.Error!H {
            return .{ .checkpoints = try h.checkpoints.clone(gpa) };
        }

        /// `gpa` is the one that `reserve` was given.
        pub fn deinit(h: *H, gpa: Allocator) void {
            h.checkpoints.deinit(gpa);
        }

        /// Memory in use.
        pub fn bytes(h: *const H) usize {
            return h.checkpoints.capacity * @sizeOf(Checkpoint);
        }

        /// Forgets all checkpoints and keeps the memory.
        pub fn clear(h: *H) void {
            h.checkpoints.clearRetainingCapacity();
        }

        /// Makes room for one more checkpoint. Amortised O(1).
        pub fn reserve(h: *H, gpa: Allocator) Allocator.Error!void {
            if (h.checkpoints.items.len == 2 * rollback_tokens_max) h.forgetOldest();
            return h.checkpoints.ensureUnusedCapacity(gpa, 1);
        }

        /// Adds the checkpoint before a token, after `reserve`.
        pub fn push(h: *H, checkpoint: Checkpoint) void {
            h.checkpoints.appendAssumeCapacity(checkpoint);
        }

        /// Removes the last `n` checkpoints and returns the one from before those tokens; null if `n` is 0.
        /// Fails, and removes nothing, if there are fewer.
        pub fn pop(h: *H, n: usize, diag: *Diagnostic) diagnostic.Error!?Checkpoint {
            const kept = h.checkpoints.items.len;
            const most = @min(kept, rollback_tokens_max);
            if (n > most) return diag.fail(.invalid_arg, "cannot take back {d} tokens: {d} can be taken back", .{ n, most });
            if (n == 0) return null;
            defer h.checkpoints.shrinkRetainingCapacity(kept - n);
            return h.checkpoints.items[kept - n];
        }

        /// Forgets half at a time, so that a long text costs O(1) per token.
        fn forgetOldest(h: *H) void {
            @memcpy(h.checkpoints.items[0..rollback_tokens_max], h.checkpoints.items[rollback_tokens_max..]);
            h.checkpoints.shrinkRetainingCapacity(rollback_tokens_max);
        }
    };
}

test "the last checkpoints are there, however long the text" {
    const gpa = std.testing.allocator;
    const max = rollback_tokens_max;
    var h: History(u32) = .{};
    defer h.deinit(gpa);
    var diag: Diagnostic = .{};
    var n: u32 = 0;
    // Up to where the oldest half is forgotten, and a little further.
    for ([_]u32{ 10, max, 2 * max - 1, 2 * max, 2 * max + 1, 3 * max, 3 * max + 1, 5 * max }) |length| {
        while (n < length) : (n += 1) {
            try h.reserve(gpa);
            h.push(n);
        }
        try std.testing.expect(h.checkpoints.items.len <= 2 * max);
        const most = @min(n, max);
        try std.testing.expectError(error.Failed, h.pop(most + 1, &diag));
        try std.testing.expectEqual(null, try h.pop(0, &diag));
        try std.testing.expectEqual(n - 1, try h.pop(1, &diag));
        try std.testing.expectEqual(n - 4, try h.pop(3, &diag));
        n -= 4;
    }
    // All that may be, across where checkpoints were forgotten.
    try std.testing.expectEqual(n - max, try h.pop(max, &diag));
    var copy = try h.clone(gpa);
    defer copy.deinit(gpa);
    h.clear();
    try std.testing.expectError(error.Failed, h.pop(1, &diag));
    try std.testing.expect(copy.checkpoints.items.len > 0);
}
