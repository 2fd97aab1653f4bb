//! universal OUTPUT (ARCHITECTURE FILE)...: joins files for several of Apple's processors into one, as `lipo -create`
//! does; a pair of an architecture, `x86_64` or `arm64`, and its file each.

const std = @import("std");

/// Each part begins at a page of the largest size that one of the processors has.
const alignment_log2 = 14;

const Architecture = enum { x86_64, arm64 };

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    var parts: std.ArrayList(Part) = .empty;
    var rest = arguments[2..];
    while (rest.len > 0) : (rest = rest[2..]) {
        try parts.append(arena, .{
            .architecture = std.meta.stringToEnum(Architecture, rest[0]) orelse return error.UnknownArchitecture,
            .content = try std.Io.Dir.cwd().readFileAlloc(init.io, rest[1], arena, .unlimited),
        });
    }
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = arguments[1], .data = try join(arena, parts.items) });
}

const Part = struct { architecture: Architecture, content: []const u8 };

/// `fat_header` and `fat_arch` of mach-o/fat.h, whose numbers are big-endian, and then the parts.
fn join(arena: std.mem.Allocator, parts: []const Part) ![]const u8 {
    var file: std.ArrayList(u8) = .empty;
    try append(&file, arena, &.{ 0xcafebabe, @intCast(parts.len) });
    var offset = std.mem.alignForward(usize, 8 + 20 * parts.len, 1 << alignment_log2);
    for (parts) |part| {
        const processor: u32, const model: u32 = switch (part.architecture) {
            .x86_64 => .{ 0x01000007, 3 },
            .arm64 => .{ 0x0100000c, 0 },
        };
        try append(&file, arena, &.{ processor, model, @intCast(offset), @intCast(part.content.len), alignment_log2 });
        offset = std.mem.alignForward(usize, offset + part.content.len, 1 << alignment_log2);
    }
    for (parts) |part| {
        const start = std.mem.alignForward(usize, file.items.len, 1 << alignment_log2);
        try file.appendNTimes(arena, 0, start - file.items.len);
        try file.appendSlice(arena, part.content);
    }
    return file.items;
}

fn append(file: *std.ArrayList(u8), arena: std.mem.Allocator, numbers: []const u32) !void {
    for (numbers) |number| {
        var bytes: [4]u8 = undefined;
        std.mem.writeInt(u32, &bytes, number, .big);
        try file.appendSlice(arena, &bytes);
    }
}
