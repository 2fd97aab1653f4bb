//! The legal next tokens at one place.

const std = @import("std");
const Allocator = std.mem.Allocator;
const bitmap = @import("../base/bitmap.zig");

/// More tokens than these are a bitmap.
pub const list_max = 256;

pub const Mask = struct {
    /// The tokens, ascending, if they are at most `list_max`.
    ids: []const i32,
    /// The tokens as a bitmap if they are more.
    words: ?bitmap.Words,
    n_tokens: u32,
    /// Whether the text may end here. The vocabulary's end-of-generation tokens are among the tokens then.
    can_stop: bool,

    pub fn bytes(mask: *const Mask) usize {
        return @sizeOf(Mask) + std.mem.sliceAsBytes(mask.ids).len + if (mask.words) |words| std.mem.sliceAsBytes(words).len else 0;
    }

    pub fn eql(a: *const Mask, b: *const Mask) bool {
        if (a.can_stop != b.can_stop or a.n_tokens != b.n_tokens) return false;
        if (a.words) |words| return std.mem.eql(u32, words, b.words.?);
        return std.mem.eql(i32, a.ids, b.ids);
    }

    pub fn hash(mask: *const Mask) u64 {
        const content = if (mask.words) |words| std.mem.sliceAsBytes(words) else std.mem.sliceAsBytes(mask.ids);
        return std.hash.Wyhash.hash(@intFromBool(mask.can_stop), content);
    }

    pub fn copy(mask: *const Mask, gpa: Allocator) Allocator.Error!*Mask {
        const kept = try gpa.create(Mask);
        errdefer gpa.destroy(kept);
        kept.* = mask.*;
        if (mask.words) |words| {
            kept.words = try bitmap.alloc(gpa, words.len);
            bitmap.copy(kept.words.?, words);
        } else kept.ids = try gpa.dupe(i32, mask.ids);
        return kept;
    }

    pub fn destroy(mask: *const Mask, gpa: Allocator) void {
        if (mask.words) |words| gpa.free(words) else gpa.free(mask.ids);
        gpa.destroy(mask);
    }
};
