//! The grammars that every text may import from: those that ship under the names of Lark's own.

const std = @import("std");

/// The text of a grammar; static. null: no such one ships.
pub fn find(name: []const u8) ?[]const u8 {
    if (std.mem.eql(u8, name, "python")) return @embedFile("python.lark");
    if (std.mem.eql(u8, name, "lark")) return @embedFile("lark.lark");
    return null;
}
