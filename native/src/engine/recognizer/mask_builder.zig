//! Where the tokens of a mask are gathered: a list as long as they are few, then a bitmap.

const std = @import("std");
const bitmap = @import("../base/bitmap.zig");
const mask_module = @import("mask.zig");
const Mask = mask_module.Mask;

pub const Sink = struct {
    words: bitmap.Words,
    /// Room for `mask.list_max` and the end tokens.
    ids: []i32,
    /// The list's length; null once the tokens are in the bitmap.
    n_listed: ?usize = 0,
    n_tokens: u32 = 0,
    /// Bitmaps that are still to be added, all at once.
    waiting: [bitmap.sources_max]bitmap.Words = undefined,
    n_waiting: usize = 0,
    /// Lists that stand one behind the other, still to be added.
    run: []const i32 = &.{},

    pub fn clear(s: *Sink) void {
        s.n_listed = 0;
        s.n_tokens = 0;
        s.n_waiting = 0;
        s.run = &.{};
    }

    /// No token is added twice. The ids stay where they are until the mask is finished.
    pub inline fn addList(s: *Sink, ids: []const i32) void {
        s.n_tokens += @intCast(ids.len);
        if (s.run.ptr + s.run.len == ids.ptr) {
            s.run.len += ids.len;
        } else {
            s.endRun(mask_module.list_max);
            s.run = ids;
        }
    }

    pub fn addBitmap(s: *Sink, words: bitmap.Words, n_tokens: u32) void {
        s.n_tokens += n_tokens;
        if (s.n_listed) |n| {
            bitmap.copy(s.words, words);
            s.spread(n);
            return;
        }
        if (s.n_waiting == s.waiting.len) s.settle();
        s.waiting[s.n_waiting] = words;
        s.n_waiting += 1;
    }

    /// Takes out those of the tokens, which ascend, that were added.
    pub fn remove(s: *Sink, tokens: []const i32) void {
        s.endRun(mask_module.list_max);
        if (s.n_listed) |n| return s.removeListed(n, tokens);
        s.settle();
        for (tokens) |token| {
            s.n_tokens -= @intFromBool(bitmap.has(s.words, @intCast(token)));
            bitmap.unset(s.words, @intCast(token));
        }
    }

    /// Lent until the next token is added.
    pub fn finish(s: *Sink, can_stop: bool, end_tokens: []const i32) Mask {
        s.endRun(mask_module.list_max);
        if (can_stop) s.addList(end_tokens);
        s.endRun(s.ids.len);
        const n = s.n_listed orelse {
            s.settle();
            return .{ .ids = &.{}, .words = s.words, .n_tokens = s.n_tokens, .can_stop = can_stop };
        };
        std.sort.heap(i32, s.ids[0..n], {}, std.sort.asc(i32));
        return .{ .ids = s.ids[0..n], .words = null, .n_tokens = s.n_tokens, .can_stop = can_stop };
    }

    /// Aligned, or its loop may lie across two lines of the processor's cache, and masks take up to 6 % longer.
    noinline fn endRun(s: *Sink, listed_max: usize) align(64) void {
        defer s.run = &.{};
        if (s.n_listed) |n| {
            if (n + s.run.len <= listed_max) {
                @memcpy(s.ids[n..][0..s.run.len], s.run);
                s.n_listed = n + s.run.len;
                return;
            }
            bitmap.clear(s.words);
            s.spread(n);
        }
        setAll(s.words, s.run);
    }

    /// From the list to the bitmap.
    fn spread(s: *Sink, n: usize) void {
        setAll(s.words, s.ids[0..n]);
        s.n_listed = null;
    }

    inline fn setAll(words: bitmap.Words, ids: []const i32) void {
        for (ids) |id| bitmap.set(words, @intCast(id));
    }

    fn settle(s: *Sink) void {
        bitmap.unite(s.words, s.waiting[0..s.n_waiting]);
        s.n_waiting = 0;
    }

    fn removeListed(s: *Sink, n: usize, tokens: []const i32) void {
        var kept: usize = 0;
        for (s.ids[0..n]) |id| {
            if (std.sort.binarySearch(i32, tokens, id, compare) != null) continue;
            s.ids[kept] = id;
            kept += 1;
        }
        s.n_listed = kept;
        s.n_tokens = @intCast(kept);
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
    var sink: Sink = .{ .words = words, .ids = &ids };
    var many: [300]i32 = undefined;
    for (&many, 0..) |*id, i| id.* = @intCast(2 * i);

    sink.addList(&.{ 9, 5, 1 });
    sink.remove(&.{ 5, 7 });
    const few = sink.finish(true, &.{3});
    try std.testing.expectEqualSlices(i32, &.{ 1, 3, 9 }, few.ids);
    try std.testing.expectEqual(3, few.n_tokens);

    sink.clear();
    sink.addList(&.{ 9, 5, 1 });
    sink.addList(&many);
    sink.addBitmap(third, 100);
    sink.remove(&.{ 0, 5, 650, 651 });
    const mask = sink.finish(true, &.{1999});
    try std.testing.expectEqual(3 + 300 + 100 - 4 + 1, mask.n_tokens);
    try std.testing.expectEqual(mask.n_tokens, bitmap.count(mask.words.?));
    for ([_]u32{ 1, 9, 2, 598, 600, 699, 1999 }) |token| try std.testing.expect(bitmap.has(mask.words.?, token));
    for ([_]u32{ 0, 5, 650, 651, 3, 700 }) |token| try std.testing.expect(!bitmap.has(mask.words.?, token));

    // The end tokens make no difference to the form.
    for ([_]usize{ mask_module.list_max, mask_module.list_max + 1 }) |n| {
        sink.clear();
        sink.addList(many[0..n]);
        const one = sink.finish(true, &.{1999});
        try std.testing.expectEqual(n + 1, one.n_tokens);
        try std.testing.expectEqual(n > mask_module.list_max, one.words != null);
    }
}
