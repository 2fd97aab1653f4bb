//! The legal next tokens at one position.

const std = @import("std");
const Allocator = std.mem.Allocator;
const bitmap = @import("../base/bitmap.zig");
const Shared = @import("../base/shared_cache.zig").Shared;

/// More tokens than this are a bitmap.
pub const list_max = 256;

/// Whoever hands one out says how long it lasts. Immutable once it is cached.
pub const Mask = struct {
    /// The tokens, ascending, if there are at most `list_max` and the end tokens; else empty.
    ids: []const i32,
    /// The tokens as a bitmap, if there are more; else null.
    words: ?bitmap.Words,
    n_tokens: u32,
    /// Whether the text may end here. If so, the vocabulary's end-of-generation tokens are among the tokens.
    can_stop: bool,
    /// What owns the bitmap, if constraints share it; a copy of the mask then has a reference to it.
    shared: ?*Shared = null,

    /// In safe builds: the tokens ascend and are as many as is said.
    pub fn assertValid(mask: *const Mask) void {
        if (!std.debug.runtime_safety) return;
        if (mask.words) |words| {
            std.debug.assert(mask.ids.len == 0);
            return std.debug.assert(mask.n_tokens == bitmap.count(words));
        }
        std.debug.assert(mask.n_tokens == mask.ids.len);
        if (mask.ids.len > 1) for (mask.ids[0 .. mask.ids.len - 1], mask.ids[1..]) |id, next| std.debug.assert(id < next);
    }

    /// Memory in use, but for what is shared.
    pub fn bytes(mask: *const Mask) usize {
        if (mask.shared != null) return @sizeOf(Mask);
        return @sizeOf(Mask) + std.mem.sliceAsBytes(mask.ids).len + if (mask.words) |words| std.mem.sliceAsBytes(words).len else 0;
    }

    /// Whether both have the same tokens and `can_stop`; a bitmap that is shared is equal to itself alone.
    pub fn eql(a: *const Mask, b: *const Mask) bool {
        if (a.shared != null or b.shared != null) return a.shared == b.shared and a.can_stop == b.can_stop;
        if (a.can_stop != b.can_stop or a.n_tokens != b.n_tokens) return false;
        if (a.words) |words| return bitmap.equal(words, b.words.?);
        return std.mem.eql(i32, a.ids, b.ids);
    }

    /// Equal for masks that are `eql`.
    pub fn hash(mask: *const Mask) u64 {
        if (mask.shared) |shared| return std.hash.Wyhash.hash(@intFromBool(mask.can_stop), std.mem.asBytes(&shared.id));
        const seed = @intFromBool(mask.can_stop);
        if (mask.words) |words| return bitmap.hash(words, seed);
        return std.hash.Wyhash.hash(seed, std.mem.sliceAsBytes(mask.ids));
    }

    /// A copy that owns its arrays, for `destroy`.
    pub fn copy(mask: *const Mask, gpa: Allocator) Allocator.Error!*Mask {
        const kept = try gpa.create(Mask);
        errdefer gpa.destroy(kept);
        kept.* = mask.*;
        if (mask.shared) |shared| {
            _ = shared.retain();
        } else if (mask.words) |words| {
            kept.words = try bitmap.alloc(gpa, words.len);
            bitmap.copy(kept.words.?, words);
        } else kept.ids = try gpa.dupe(i32, mask.ids);
        return kept;
    }

    /// Frees a mask that `copy` made.
    pub fn destroy(mask: *const Mask, gpa: Allocator) void {
        if (mask.shared) |shared| shared.release(gpa) else if (mask.words) |words| gpa.free(words) else gpa.free(mask.ids);
        gpa.destroy(mask);
    }
};

test "masks are alike if their tokens and whether the text may stop are" {
    const gpa = std.testing.allocator;
    const words = try bitmap.alloc(gpa, bitmap.wordsFor(1000));
    defer gpa.free(words);
    bitmap.clear(words);
    for (0..300) |token| bitmap.set(words, @intCast(3 * token));
    const masks = [_]Mask{
        .{ .ids = &.{ 1, 2 }, .words = null, .n_tokens = 2, .can_stop = false },
        .{ .ids = &.{ 1, 3 }, .words = null, .n_tokens = 2, .can_stop = false },
        .{ .ids = &.{ 1, 2 }, .words = null, .n_tokens = 2, .can_stop = true },
        .{ .ids = &.{}, .words = null, .n_tokens = 0, .can_stop = false },
        .{ .ids = &.{}, .words = words, .n_tokens = 300, .can_stop = false },
        .{ .ids = &.{}, .words = words, .n_tokens = 300, .can_stop = true },
    };
    for (&masks, 0..) |*a, i| {
        const copy = try a.copy(gpa);
        defer copy.destroy(gpa);
        copy.assertValid();
        try std.testing.expectEqual(a.bytes(), copy.bytes());
        for (&masks, 0..) |*b, j| {
            try std.testing.expectEqual(i == j, copy.eql(b));
            try std.testing.expectEqual(i == j, copy.hash() == b.hash());
        }
    }
}
