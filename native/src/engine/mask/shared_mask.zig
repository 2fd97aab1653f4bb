//! A mask that constraints of a vocabulary share.

const std = @import("std");
const Allocator = std.mem.Allocator;
const bitmap = @import("../base/bitmap.zig");
const Shared = @import("../base/shared_cache.zig").Shared;

/// Reference-counted, immutable.
pub const SharedMask = struct {
    shared: Shared,
    /// As in a mask.
    ids: []const i32,
    words: ?bitmap.Words,
    n_tokens: u32,

    /// Of few tokens. Copies them. The caller owns the reference.
    pub fn createList(gpa: Allocator, key: []const u8, ids: []const i32) Allocator.Error!*SharedMask {
        const made = try gpa.create(SharedMask);
        errdefer gpa.destroy(made);
        const copy = try gpa.dupe(i32, ids);
        errdefer gpa.free(copy);
        made.* = .{ .shared = try .init(gpa, key, destroy), .ids = copy, .words = null, .n_tokens = @intCast(ids.len) };
        return made;
    }

    /// Copies the bitmap. The caller owns the reference.
    pub fn create(gpa: Allocator, key: []const u8, words: bitmap.Words, n_tokens: u32) Allocator.Error!*SharedMask {
        const made = try gpa.create(SharedMask);
        errdefer gpa.destroy(made);
        const copy = try bitmap.alloc(gpa, words.len);
        errdefer gpa.free(copy);
        bitmap.copy(copy, words);
        made.* = .{ .shared = try .init(gpa, key, destroy), .ids = &.{}, .words = copy, .n_tokens = n_tokens };
        return made;
    }

    fn destroy(shared: *Shared, gpa: Allocator) void {
        const mask: *SharedMask = @fieldParentPtr("shared", shared);
        if (mask.words) |words| gpa.free(words);
        gpa.free(mask.ids);
        gpa.destroy(mask);
    }
};
