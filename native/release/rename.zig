//! rename INPUT OUTPUT FROM TO: a copy of a shared library that calls itself otherwise. For a name as long as the old one
//! nothing else changes, and nothing is compiled again.

const std = @import("std");

pub fn main(init: std.process.Init) !void {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    const content = try std.Io.Dir.cwd().readFileAlloc(init.io, arguments[1], arena, .unlimited);
    const place = try placeOf(content, arguments[3]);
    if (arguments[4].len != arguments[3].len) return error.NamesDifferInLength;
    @memcpy(content[place..][0..arguments[4].len], arguments[4]);
    try std.Io.Dir.cwd().writeFile(init.io, .{ .sub_path = arguments[2], .data = content });
}

/// Where the name stands, between zero bytes: in the table of strings, once.
fn placeOf(content: []const u8, name: []const u8) !usize {
    var found: ?usize = null;
    var from: usize = 1;
    while (std.mem.findPos(u8, content, from, name)) |place| : (from = place + 1) {
        if (content[place - 1] != 0 or content[place + name.len] != 0) continue;
        if (found != null) return error.SeveralNames;
        found = place;
    }
    return found orelse error.NoName;
}
