//! Advice about the memory of files that someone else has mapped, such as libllama a model. Linux and Android alone tell
//! where; elsewhere nothing happens.

const std = @import("std");
const builtin = @import("builtin");
const file = @import("file.zig");

pub const Advice = enum {
    /// All of it will be read.
    needed,
    /// Nothing of it will be read soon. What is read is fetched again from the file.
    not_needed,
};

/// Advises the system about all read-only mappings of a file. Costs a look through the mappings of the process.
pub fn advise(gpa: std.mem.Allocator, path: [:0]const u8, advice: Advice) error{OutOfMemory}!void {
    if (builtin.os.tag != .linux) return;
    var buffer: [path_bytes_max]u8 = undefined;
    const real = std.mem.span(realpath(path, &buffer) orelse return);
    const maps = file.readAll(gpa, "/proc/self/maps") catch |e| return if (e == error.OutOfMemory) error.OutOfMemory else {};
    defer gpa.free(maps);
    var lines = std.mem.tokenizeScalar(u8, maps, '\n');
    while (lines.next()) |line| {
        if (mappingIn(line, real)) |range| apply(range, advice);
    }
}

const Range = struct { from: usize, to: usize };

/// The range of a line of /proc/self/maps: "from-to r--s offset device inode   path".
fn mappingIn(line: []const u8, path: []const u8) ?Range {
    if (!std.mem.endsWith(u8, line, path)) return null;
    var words = std.mem.tokenizeScalar(u8, line[0 .. line.len - path.len], ' ');
    const range = words.next() orelse return null;
    const rights = words.next() orelse return null;
    const is_whole_path = words.next() != null and words.next() != null and words.next() != null and words.next() == null;
    if (!is_whole_path or !std.mem.startsWith(u8, rights, "r-")) return null;
    const dash = std.mem.findScalar(u8, range, '-') orelse return null;
    return .{
        .from = std.fmt.parseInt(usize, range[0..dash], 16) catch return null,
        .to = std.fmt.parseInt(usize, range[dash + 1 ..], 16) catch return null,
    };
}

fn apply(range: Range, advice: Advice) void {
    const start: *anyopaque = @ptrFromInt(range.from);
    const length = range.to - range.from;
    switch (advice) {
        .not_needed => _ = madvise(start, length, dont_need),
        .needed => if (madvise(start, length, populate_read) != 0) {
            _ = madvise(start, length, will_need); // before Linux 5.14
        },
    }
}

const path_bytes_max = 4096; // PATH_MAX
const will_need = 3;
const dont_need = 4;
const populate_read = 22;

extern "c" fn madvise(address: *anyopaque, length: usize, advice: c_int) c_int;
extern "c" fn realpath(path: [*:0]const u8, resolved: [*]u8) ?[*:0]const u8;

test "a line of the process's mappings" {
    const line = "7f00a000-7f00c000 r--s 00001000 08:01 1234      /models/a b.gguf";
    try std.testing.expectEqual(Range{ .from = 0x7f00a000, .to = 0x7f00c000 }, mappingIn(line, "/models/a b.gguf"));
    try std.testing.expectEqual(null, mappingIn(line, "b.gguf"));
    try std.testing.expectEqual(null, mappingIn(line, "/models/other.gguf"));
    try std.testing.expectEqual(null, mappingIn("7f00a000-7f00c000 rw-p 00001000 08:01 1234 /m", "/m"));
    try std.testing.expectEqual(null, mappingIn("/m", "/m"));
}
