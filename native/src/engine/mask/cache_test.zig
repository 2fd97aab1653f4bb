//! The cache of masks: keys, room, growth, and readers while it grows.

const std = @import("std");
const gpa = std.testing.allocator;
const Mask = @import("mask.zig").Mask;
const bitmap = @import("../base/bitmap.zig");
const cache = @import("cache.zig");
const Account = cache.Account;
const MaskCache = cache.MaskCache;

/// Of a key that is written out.
const States = struct {
    left: []const u32,

    /// After the last state comes one that is in no key.
    pub fn next(states: *States) u32 {
        if (states.left.len == 0) return std.math.maxInt(u31);
        defer states.left = states.left[1..];
        return states.left[0];
    }
};

fn find(c: *const MaskCache, key: []const u32) ?*const Mask {
    var states: States = .{ .left = key };
    return c.get(&states);
}

fn listOf(ids: []const i32) Mask {
    return .{ .ids = ids, .words = null, .n_tokens = @intCast(ids.len), .can_stop = false };
}

test "a mask is found by its key and by whatever begins with it" {
    var account: Account = .{ .bytes_max = 1 << 20 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    try std.testing.expectEqual(null, find(&c, &.{7}));
    const a = c.insert(&.{ 7, 1 }, &listOf(&.{ 1, 2 })).?;
    const b = c.insert(&.{ 7, 2, 3 }, &listOf(&.{3})).?;
    try std.testing.expectEqualSlices(i32, &.{ 1, 2 }, a.ids);
    try std.testing.expectEqual(a, find(&c, &.{ 7, 1 }));
    try std.testing.expectEqual(a, find(&c, &.{ 7, 1, 5, 6 }));
    try std.testing.expectEqual(b, find(&c, &.{ 7, 2, 3 }));
    for ([_][]const u32{ &.{7}, &.{ 7, 2 }, &.{ 7, 3 }, &.{ 7, 2, 4 }, &.{ 1, 7 }, &.{} }) |key| {
        try std.testing.expectEqual(null, find(&c, key));
    }
    try std.testing.expectEqual(2, c.count());
}

test "of two keys on one way the first stays" {
    var account: Account = .{ .bytes_max = 1 << 20 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    const a = c.insert(&.{ 1, 2 }, &listOf(&.{1}));
    try std.testing.expectEqual(a, c.insert(&.{ 1, 2 }, &listOf(&.{2})));
    try std.testing.expectEqual(a, c.insert(&.{ 1, 2, 3 }, &listOf(&.{3})));
    try std.testing.expectEqual(null, c.insert(&.{1}, &listOf(&.{4})));
    try std.testing.expectEqual(a, find(&c, &.{ 1, 2, 3 }));
}

test "keys as long as those of graphs may be are kept, into a table that is empty, among short ones, and while these are moved" {
    for ([_]usize{ 0, 60, 70, 120, 500 }) |n_short| {
        var account: Account = .{ .bytes_max = 1 << 24 };
        var c: MaskCache = .{ .gpa = gpa, .account = &account };
        defer c.deinit();
        for (0..n_short) |i| _ = c.insert(&.{ @intCast(i), 1 }, &listOf(&.{@intCast(i)})).?;
        var key: [cache.graph_key_max]u32 = undefined;
        for (0..12) |i| {
            for (&key, 0..) |*state, place| state.* = @intCast(1000 + 31 * i + place);
            const length: usize = if (i % 3 == 2) 200 else cache.graph_key_max;
            _ = c.insert(key[0..length], &listOf(&.{@intCast(2000 + i)})).?;
            try std.testing.expectEqual(@as(i32, @intCast(2000 + i)), find(&c, key[0..length]).?.ids[0]);
        }
        for (0..n_short) |i| {
            try std.testing.expectEqual(@as(i32, @intCast(i)), find(&c, &.{ @intCast(i), 1 }).?.ids[0]);
        }
    }
}

test "masks that are alike are there once" {
    var account: Account = .{ .bytes_max = 1 << 20 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    const words = try bitmap.alloc(gpa, bitmap.wordsFor(1000));
    defer gpa.free(words);
    bitmap.clear(words);
    for (0..500) |token| bitmap.set(words, @intCast(token));
    const many: Mask = .{ .ids = &.{}, .words = words, .n_tokens = 500, .can_stop = false };
    const kept = c.insert(&.{1}, &many).?;
    try std.testing.expect(kept.words.?.ptr != words.ptr);
    try std.testing.expectEqual(kept, c.insert(&.{2}, &many));
    const taken = account.bytes.load(.monotonic);
    var stopping = many;
    stopping.can_stop = true;
    try std.testing.expect(c.insert(&.{3}, &stopping) != kept);
    try std.testing.expectEqual(2, c.count());
    try std.testing.expectEqual(taken + many.bytes(), account.bytes.load(.monotonic));
}

test "without room a mask is not kept, and those that are stay" {
    var account: Account = .{ .bytes_max = 0 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    try std.testing.expectEqual(null, c.insert(&.{1}, &listOf(&.{1})));
    try std.testing.expectEqual(0, account.bytes.load(.monotonic));
    account.bytes_max = 1 << 13;
    var n: u32 = 0;
    while (c.insert(&.{ n, n + 1 }, &listOf(&.{@intCast(n)})) != null) n += 1;
    try std.testing.expect(n > 10);
    try std.testing.expect(account.bytes.load(.monotonic) <= account.bytes_max);
    // Not found half, either: the key may lead somewhere, but to no mask.
    try std.testing.expectEqual(null, find(&c, &.{ n, n + 1 }));
    for (0..n) |i| {
        const key = [_]u32{ @intCast(i), @intCast(i + 1) };
        try std.testing.expectEqualSlices(i32, &.{@intCast(i)}, find(&c, &key).?.ids);
    }
}

test "out of memory leaves nothing behind" {
    const once = struct {
        fn once(allocator: std.mem.Allocator) !void {
            var account: Account = .{ .bytes_max = 1 << 20 };
            var c: MaskCache = .{ .gpa = allocator, .account = &account };
            defer c.deinit();
            for (0..300) |i| {
                const key = [_]u32{ @intCast(i % 10), @intCast(i) };
                const kept = c.insert(&key, &listOf(&.{@intCast(i)})) orelse return error.OutOfMemory;
                try std.testing.expectEqual(kept, find(&c, &key));
            }
        }
    }.once;
    try std.testing.checkAllAllocationFailures(gpa, once, .{});
}

test "a mask that there is no memory for takes no room" {
    var failing: std.testing.FailingAllocator = .init(gpa, .{});
    var account: Account = .{ .bytes_max = 1 << 20 };
    var c: MaskCache = .{ .gpa = failing.allocator(), .account = &account };
    defer c.deinit();
    _ = c.insert(&.{1}, &listOf(&.{1})).?;
    const taken = account.bytes.load(.monotonic);
    var n_failed: usize = 0;
    while (true) : (n_failed += 1) {
        failing.fail_index = failing.alloc_index + n_failed;
        if (c.insert(&.{2}, &listOf(&.{2})) != null) break;
        try std.testing.expectEqual(taken, account.bytes.load(.monotonic));
        try std.testing.expectEqual(null, find(&c, &.{2}));
    }
    try std.testing.expect(n_failed > 0);
}

/// Keys of three states, masks of one token.
fn keyOf(n: u32) [3]u32 {
    return .{ n % 7, n % 100, n };
}

test "keys are found while the slots are moved to larger ones, a few by each insertion" {
    var account: Account = .{ .bytes_max = 1 << 24 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    var n_moving: usize = 0;
    for (0..5000) |i| {
        const n: u32 = @intCast(i);
        _ = c.insert(&keyOf(n), &listOf(&.{@intCast(n)})).?;
        n_moving += @intFromBool(c.next != null);
        for ([_]u32{ 0, n / 2, n }) |other| {
            const mask = find(&c, &keyOf(other)) orelse return error.Lost;
            try std.testing.expectEqualSlices(i32, &.{@intCast(other)}, mask.ids);
        }
    }
    for (0..5000) |n| try std.testing.expect(find(&c, &keyOf(@intCast(n))) != null);
    try std.testing.expectEqual(5000, c.count());
    try std.testing.expect(n_moving > 200);
}

test "threads insert and look up at once" {
    var account: Account = .{ .bytes_max = 1 << 24 };
    var c: MaskCache = .{ .gpa = gpa, .account = &account };
    defer c.deinit();
    const n_keys = 3000;
    const Work = struct {
        of: *MaskCache,
        seed: u64,
        n_wrong: usize = 0,

        /// Each thread in an order of its own: what it does not find it inserts, and then finds.
        fn run(w: *@This()) void {
            var prng: std.Random.DefaultPrng = .init(w.seed);
            for (0..2 * n_keys) |_| {
                const n = prng.random().uintLessThan(u32, n_keys);
                const mask = find(w.of, &keyOf(n)) orelse w.of.insert(&keyOf(n), &listOf(&.{@intCast(n)})) orelse {
                    w.n_wrong += 1;
                    continue;
                };
                w.n_wrong += @intFromBool(mask.ids[0] != n or find(w.of, &keyOf(n)) != mask);
            }
        }
    };
    var work: [4]Work = undefined;
    var threads: [work.len]std.Thread = undefined;
    for (&work, &threads, 0..) |*w, *thread, seed| {
        w.* = .{ .of = &c, .seed = seed };
        thread.* = try std.Thread.spawn(.{}, Work.run, .{w});
    }
    for (threads) |thread| thread.join();
    for (work) |w| try std.testing.expectEqual(0, w.n_wrong);
    // Each key once, whoever was first.
    try std.testing.expect(c.count() <= n_keys);
}
