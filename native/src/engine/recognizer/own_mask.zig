//! A mask in memory of its own: one that is not cached, or that has other end tokens.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const bitmap = @import("../base/bitmap.zig");
const mask_module = @import("../mask/mask.zig");
const Mask = mask_module.Mask;
const Scratch = @import("../mask/scratch.zig").Scratch;
const ScratchPool = @import("../mask/scratch.zig").ScratchPool;
const end_tokens_max = @import("../contract/span.zig").end_tokens_max;

/// Memory for one mask. Belongs to one thread.
pub const OwnMask = struct {
    mask: Mask,
    ids: []i32,
    words: bitmap.Words,

    /// `gpa` is that of the scratches whose masks it takes. The mask is undefined until `take` or `copy`.
    pub fn create(gpa: Allocator, trie: *const ByteTrie) Allocator.Error!*OwnMask {
        const own = try gpa.create(OwnMask);
        errdefer gpa.destroy(own);
        const ids = try gpa.alloc(i32, mask_module.list_max + trie.end_tokens.len + end_tokens_max);
        errdefer gpa.free(ids);
        const words = try bitmap.alloc(gpa, bitmap.wordsFor(trie.n_tokens));
        own.* = .{ .mask = undefined, .ids = ids, .words = words };
        return own;
    }

    /// `gpa` is the one that `create` was given.
    pub fn destroy(own: *OwnMask, gpa: Allocator) void {
        gpa.free(own.ids);
        gpa.free(own.words);
        gpa.destroy(own);
    }

    /// Takes the mask out of a scratch: a bitmap is swapped, not copied.
    pub fn take(own: *OwnMask, scratch: *Scratch) void {
        if (scratch.mask.words == null or scratch.mask.shared != null) return own.copy(&scratch.mask);
        std.debug.assert(own.words.len == scratch.builder.words.len);
        std.mem.swap(bitmap.Words, &own.words, &scratch.builder.words);
        own.mask = scratch.mask;
    }

    /// Copies a mask.
    pub fn copy(own: *OwnMask, mask: *const Mask) void {
        own.mask = mask.*;
        own.mask.shared = null;
        if (mask.words) |words| {
            bitmap.copy(own.words, words);
            own.mask.words = own.words;
        } else {
            @memcpy(own.ids[0..mask.ids.len], mask.ids);
            own.mask.ids = own.ids[0..mask.ids.len];
        }
    }

    /// Removes the tokens `out` and adds the tokens `in`, at most `end_tokens_max`.
    pub fn replace(own: *OwnMask, out: []const i32, in: []const i32) void {
        if (own.mask.words) |words| {
            for (out) |token| own.mask.n_tokens -= @intFromBool(remove(words, token));
            for (in) |token| {
                own.mask.n_tokens += @intFromBool(!bitmap.has(words, @intCast(token)));
                bitmap.set(words, @intCast(token));
            }
            return;
        }
        var n: usize = 0;
        for (own.mask.ids) |id| {
            if (std.mem.findScalar(i32, out, id) != null) continue;
            own.ids[n] = id;
            n += 1;
        }
        for (in) |token| {
            if (std.mem.findScalar(i32, own.ids[0..n], token) != null) continue;
            own.ids[n] = token;
            n += 1;
        }
        std.sort.heap(i32, own.ids[0..n], {}, std.sort.asc(i32));
        own.mask.ids = own.ids[0..n];
        own.mask.n_tokens = @intCast(n);
    }

    fn remove(words: bitmap.Words, token: i32) bool {
        const had = bitmap.has(words, @intCast(token));
        bitmap.unset(words, @intCast(token));
        return had;
    }
};

test "other end tokens, in a list and in a bitmap" {
    const gpa = std.testing.allocator;
    const trie: ByteTrie = .{
        .n_tokens = 1000,
        .nodes = &.{},
        .duplicates = &.{},
        .long_tokens = &.{},
        .longest = 1,
        .missing_bytes = 0,
        .end_tokens = &.{ 5, 999 },
    };
    var scratches: ScratchPool = .{ .gpa = gpa, .trie = &trie };
    defer scratches.deinit();
    const scratch = try scratches.take();
    defer scratches.giveBack(scratch);
    const own: *OwnMask = try .create(gpa, &trie);
    defer own.destroy(gpa);
    var all: [mask_module.list_max + 1]i32 = undefined;
    for (&all, 0..) |*token, i| token.* = @intCast(10 + i);
    for ([_]usize{ 3, all.len }) |n| {
        const builder = &scratch.builder;
        builder.clear();
        builder.addList(all[0..n]);
        scratch.mask = builder.finish(true, trie.end_tokens);
        own.take(scratch);
        // What the scratch is used for next does not change it.
        builder.clear();
        builder.addList(&.{7});
        scratch.mask = builder.finish(false, &.{});
        try std.testing.expectEqual(n > mask_module.list_max, own.mask.words != null);
        try expectTokens(own, all[0..n], &.{ 5, 999 });
        // A token that is in the mask already, one that is given twice, and an end token that is not there.
        own.replace(&.{ 5, 999, 4 }, &.{ 11, 2, 2 });
        try expectTokens(own, all[0..n], &.{2});
        const copy: *OwnMask = try .create(gpa, &trie);
        defer copy.destroy(gpa);
        copy.copy(&own.mask);
        own.replace(&.{2}, &.{});
        try expectTokens(copy, all[0..n], &.{2});
    }
}

fn expectTokens(own: *const OwnMask, some: []const i32, others: []const i32) !void {
    try std.testing.expectEqual(some.len + others.len, own.mask.n_tokens);
    for ([_][]const i32{ some, others }) |tokens| for (tokens) |token| {
        const is_listed = std.mem.findScalar(i32, own.mask.ids, token) != null;
        try std.testing.expect(if (own.mask.words) |words| bitmap.has(words, @intCast(token)) else is_listed);
    };
    if (own.mask.words) |words| return std.testing.expectEqual(own.mask.n_tokens, bitmap.count(words));
    try std.testing.expectEqual(own.mask.n_tokens, own.mask.ids.len);
    try std.testing.expect(std.sort.isSorted(i32, own.mask.ids, {}, std.sort.asc(i32)));
}
