//! How far words are apart, for messages that name what was probably meant.

const std = @import("std");

const bytes_max = 32;

/// How many bytes to insert, remove or change, without regard to case, `_` and `-`. More than 32 bytes: far apart.
pub fn between(a: []const u8, b: []const u8) usize {
    var buffers: [2][bytes_max]u8 = undefined;
    const from = plain(&buffers[0], a) orelse return bytes_max;
    const to = plain(&buffers[1], b) orelse return bytes_max;
    var row: [bytes_max + 1]usize = undefined;
    for (&row, 0..) |*one, i| one.* = i;
    for (from, 1..) |byte, i| {
        var before = row[0];
        row[0] = i;
        for (to, 1..) |other, j| {
            const changed = before + @intFromBool(byte != other);
            before = row[j];
            row[j] = @min(row[j] + 1, row[j - 1] + 1, changed);
        }
    }
    return row[to.len];
}

fn plain(buffer: *[bytes_max]u8, word: []const u8) ?[]const u8 {
    var n: usize = 0;
    for (word) |byte| {
        if (byte == '_' or byte == '-') continue;
        if (n == bytes_max) return null;
        buffer[n] = std.ascii.toLower(byte);
        n += 1;
    }
    return buffer[0..n];
}

test "words that are spelled otherwise, and words that are others" {
    try std.testing.expectEqual(0, between("atLeast", "at_least"));
    try std.testing.expectEqual(1, between("exclude", "excludes"));
    try std.testing.expectEqual(2, between("regexp", "regx"));
    try std.testing.expectEqual(5, between("", "begin"));
    try std.testing.expectEqual(bytes_max, between(&@as([33]u8, @splat('x')), "x"));
}
