//! Sorting texts by their bytes. Their first ones lie beside them, and tell most texts apart, so that thousands are
//! sorted without being read.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Watch = @import("watch.zig").Watch;

pub const Text = struct {
    /// The first bytes, as a number: zeros stand for what a short text has not.
    first: u64,
    text: []const u8,
    /// Where it was.
    place: u32,

    pub fn of(text: []const u8, place: usize) Text {
        var first: [8]u8 = @splat(0);
        const n = @min(text.len, first.len);
        @memcpy(first[0..n], text[0..n]);
        return .{ .first = std.mem.readInt(u64, &first, .big), .text = text, .place = @intCast(place) };
    }

    fn isBefore(x: Text, y: Text) bool {
        return if (x.first != y.first) x.first < y.first else std.mem.lessThan(u8, x.text, y.text);
    }
};

/// Equal texts stay in their order. Merges runs, from the bottom up, to memory beside them and back.
pub fn sort(gpa: Allocator, texts: []Text) Allocator.Error!void {
    return sortWatched(gpa, texts, null) catch |e| switch (e) {
        error.OutOfMemory => error.OutOfMemory,
        error.TooLarge => unreachable, // there is no watch
    };
}

/// The same, unless the watch stops it.
pub noinline fn sortWatched(gpa: Allocator, texts: []Text, watch: ?*Watch) error{ OutOfMemory, TooLarge }!void {
    const beside = try gpa.alloc(Text, texts.len);
    defer gpa.free(beside);
    var from = texts;
    var to = beside;
    var run: usize = 1;
    while (run < texts.len) : (run *= 2) {
        var at: usize = 0;
        while (at < texts.len) : (at += 2 * run) {
            const middle = @min(at + run, texts.len);
            const end = @min(at + 2 * run, texts.len);
            try merge(from[at..middle], from[middle..end], to[at..end], watch);
        }
        std.mem.swap([]Text, &from, &to);
    }
    if (from.ptr != texts.ptr) @memcpy(texts, from);
}

/// Texts that are merged between two looks at the watch.
const few = 256;

fn merge(left: []const Text, right: []const Text, to: []Text, watch: ?*Watch) error{TooLarge}!void {
    var l: usize = 0;
    var r: usize = 0;
    for (to, 0..) |*one, i| {
        if (i % few == 0) if (watch) |w| try w.steps(@intCast(@min(few, to.len - i)));
        const is_right = l == left.len or r < right.len and Text.isBefore(right[r], left[l]);
        one.* = if (is_right) right[r] else left[l];
        r += @intFromBool(is_right);
        l += @intFromBool(!is_right);
    }
}

test "in the order of their bytes, also where one begins with another" {
    const short = [_][]const u8{ "", "\x00", "\x00\x00", "a", "a\x00", "ab" };
    const expected = short ++ [_][]const u8{ "abcdefgh", "abcdefgh\x00", "abcdefghi", "abcdefgi", "\xff" };
    var random: std.Random.DefaultPrng = .init(7);
    for (0..100) |_| {
        var shuffled = expected;
        random.random().shuffle([]const u8, &shuffled);
        var texts: [expected.len]Text = undefined;
        for (&texts, shuffled, 0..) |*one, text, place| one.* = .of(text, place);
        try sort(std.testing.allocator, &texts);
        for (texts, expected) |one, text| {
            try std.testing.expectEqualStrings(text, one.text);
            try std.testing.expectEqualStrings(text, shuffled[one.place]);
        }
    }
}
