//! Gathers the tokens of a mask: in a list while they are few, then in a bitmap.

const std = @import("std");
const builtin = @import("builtin");
const bitmap = @import("../base/bitmap.zig");
const mask_module = @import("mask.zig");
const Mask = mask_module.Mask;

/// Lends its memory from a scratch. Usable again after `clear`.
pub const MaskBuilder = struct {
    words: bitmap.Words,
    /// Room for `mask.list_max` and the end tokens.
    ids: []i32,
    /// The length of the list. Null once the tokens are in the bitmap.
    n_listed: ?usize = 0,
    n_tokens: u32 = 0,
    /// Bitmaps still to be added, all at once.
    waiting: [bitmap.sources_max]bitmap.Words = undefined,
    n_waiting: usize = 0,
    /// Lists that are neighbours in memory, still to be added.
    run: []const i32 = &.{},

    /// Back to no tokens.
    pub fn clear(b: *MaskBuilder) void {
        b.n_listed = 0;
        b.n_tokens = 0;
        b.n_waiting = 0;
        b.run = &.{};
    }

    /// Adds tokens, none of which was added before. `ids` must stay where they are until `finish`.
    pub inline fn addList(b: *MaskBuilder, ids: []const i32) void {
        b.n_tokens += @intCast(ids.len);
        if (b.run.ptr + b.run.len == ids.ptr) {
            b.run.len += ids.len;
        } else {
            b.endRun(mask_module.list_max);
            b.run = ids;
        }
    }

    /// Adds `n_tokens` tokens, none of which was added before. `words` must stay where they are until `finish`.
    pub fn addBitmap(b: *MaskBuilder, words: bitmap.Words, n_tokens: u32) void {
        b.n_tokens += n_tokens;
        if (b.n_listed) |n| {
            bitmap.copy(b.words, words);
            b.spread(n);
            return;
        }
        if (b.n_waiting == b.waiting.len) b.uniteWaiting();
        b.waiting[b.n_waiting] = words;
        b.n_waiting += 1;
    }

    /// Removes tokens, given in ascending order, as far as they were added.
    pub fn remove(b: *MaskBuilder, tokens: []const i32) void {
        if (std.debug.runtime_safety) std.debug.assert(std.sort.isSorted(i32, tokens, {}, std.sort.asc(i32)));
        b.endRun(mask_module.list_max);
        if (b.n_listed) |n| return b.removeListed(n, tokens);
        b.uniteWaiting();
        for (tokens) |token| {
            b.n_tokens -= @intFromBool(bitmap.has(b.words, @intCast(token)));
            bitmap.unset(b.words, @intCast(token));
        }
    }

    /// The mask; with the end tokens if `can_stop`. Lent until the builder is used again.
    pub fn finish(b: *MaskBuilder, can_stop: bool, end_tokens: []const i32) Mask {
        const mask = b.finishUnchecked(can_stop, end_tokens);
        mask.assertValid();
        return mask;
    }

    /// As `finish`, where some tokens may have been added more than once: of a grammar that others wrote.
    pub fn finishDistinct(b: *MaskBuilder, can_stop: bool, end_tokens: []const i32) Mask {
        var mask = b.finishUnchecked(can_stop, end_tokens);
        if (mask.words) |words| {
            mask.n_tokens = bitmap.count(words);
        } else {
            var n: usize = 0;
            for (mask.ids) |id| {
                if (n > 0 and b.ids[n - 1] == id) continue;
                b.ids[n] = id;
                n += 1;
            }
            mask.ids = b.ids[0..n];
            mask.n_tokens = @intCast(n);
        }
        mask.assertValid();
        return mask;
    }

    fn finishUnchecked(b: *MaskBuilder, can_stop: bool, end_tokens: []const i32) Mask {
        b.endRun(mask_module.list_max);
        if (can_stop) b.addList(end_tokens);
        b.endRun(b.ids.len);
        const n = b.n_listed orelse {
            b.uniteWaiting();
            return .{ .ids = &.{}, .words = b.words, .n_tokens = b.n_tokens, .can_stop = can_stop };
        };
        std.sort.heap(i32, b.ids[0..n], {}, std.sort.asc(i32));
        return .{ .ids = b.ids[0..n], .words = null, .n_tokens = b.n_tokens, .can_stop = can_stop };
    }

    /// Aligned: if its loop straddles two cache lines, masks take up to 6 % longer. WebAssembly has no addresses of code.
    const endRun = if (builtin.cpu.arch.isWasm()) addRun else alignedAddRun;

    noinline fn alignedAddRun(b: *MaskBuilder, listed_max: usize) align(64) void {
        b.addRun(listed_max);
    }

    inline fn addRun(b: *MaskBuilder, listed_max: usize) void {
        defer b.run = &.{};
        if (b.n_listed) |n| {
            if (n + b.run.len <= listed_max) {
                @memcpy(b.ids[n..][0..b.run.len], b.run);
                b.n_listed = n + b.run.len;
                return;
            }
            bitmap.clear(b.words);
            b.spread(n);
        }
        setAll(b.words, b.run);
    }

    /// Moves the list to the bitmap.
    fn spread(b: *MaskBuilder, n: usize) void {
        setAll(b.words, b.ids[0..n]);
        b.n_listed = null;
    }

    inline fn setAll(words: bitmap.Words, ids: []const i32) void {
        for (ids) |id| bitmap.set(words, @intCast(id));
    }

    fn uniteWaiting(b: *MaskBuilder) void {
        bitmap.unite(b.words, b.waiting[0..b.n_waiting]);
        b.n_waiting = 0;
    }

    fn removeListed(b: *MaskBuilder, n: usize, tokens: []const i32) void {
        var kept: usize = 0;
        for (b.ids[0..n]) |id| {
            if (std.sort.binarySearch(i32, tokens, id, compare) != null) continue;
            b.ids[kept] = id;
            kept += 1;
        }
        b.n_listed = kept;
        b.n_tokens = @intCast(kept);
    }

    fn compare(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }
};

test "few tokens are a list, more are a bitmap, with the same content" {
    const gpa = std.testing.allocator;
    const n_tokens = 2000;
    const words = try bitmap.alloc(gpa, bitmap.wordsFor(n_tokens));
    defer gpa.free(words);
    const third = try bitmap.alloc(gpa, words.len);
    defer gpa.free(third);
    bitmap.clear(third);
    for (600..700) |token| bitmap.set(third, @intCast(token));
    var ids: [mask_module.list_max + 1]i32 = undefined;
    var builder: MaskBuilder = .{ .words = words, .ids = &ids };
    var many: [300]i32 = undefined;
    for (&many, 0..) |*id, i| id.* = @intCast(2 * i);

    builder.addList(&.{ 9, 5, 1 });
    builder.remove(&.{ 5, 7 });
    const few = builder.finish(true, &.{3});
    try std.testing.expectEqualSlices(i32, &.{ 1, 3, 9 }, few.ids);
    try std.testing.expectEqual(3, few.n_tokens);

    builder.clear();
    builder.addList(&.{ 9, 5, 1 });
    builder.addList(&many);
    builder.addBitmap(third, 100);
    builder.remove(&.{ 0, 5, 650, 651 });
    const mask = builder.finish(true, &.{1999});
    try std.testing.expectEqual(3 + 300 + 100 - 4 + 1, mask.n_tokens);
    try std.testing.expectEqual(mask.n_tokens, bitmap.count(mask.words.?));
    for ([_]u32{ 1, 9, 2, 598, 600, 699, 1999 }) |token| try std.testing.expect(bitmap.has(mask.words.?, token));
    for ([_]u32{ 0, 5, 650, 651, 3, 700 }) |token| try std.testing.expect(!bitmap.has(mask.words.?, token));

    // The end tokens make no difference to the form.
    for ([_]usize{ mask_module.list_max, mask_module.list_max + 1 }) |n| {
        builder.clear();
        builder.addList(many[0..n]);
        const one = builder.finish(true, &.{1999});
        try std.testing.expectEqual(n + 1, one.n_tokens);
        try std.testing.expectEqual(n > mask_module.list_max, one.words != null);
    }

    // Added twice, they count once.
    for ([_]usize{ 10, mask_module.list_max }) |n| {
        builder.clear();
        builder.addList(many[0..n]);
        builder.addList(many[0..7]);
        const one = builder.finishDistinct(true, &.{1999});
        try std.testing.expectEqual(n + 1, one.n_tokens);
        try std.testing.expectEqual(n == mask_module.list_max, one.words != null);
    }
}
