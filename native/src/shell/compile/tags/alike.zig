//! Tags whose languages are given alike, as those of many tools are, and of the ways to call one: each is compiled once.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const Tag = @import("descriptor.zig").Tag;

pub const Alike = struct {
    arena: Allocator,
    by_hash: NumberMap = .{},
    list: ArrayList(Known) = .empty,

    pub const Known = struct {
        tag: *const Tag,
        /// As the caller numbers them.
        language: u32,
        /// Without a place.
        warnings: []const []const u8,
    };

    /// A language that is given like the tag's.
    pub fn find(a: *const Alike, tag: *const Tag) ?*const Known {
        const text = textOf(tag) orelse return null;
        const known = &a.list.items[a.by_hash.get(hashOf(tag, text)) orelse return null];
        return if (isAlike(known.tag, tag)) known else null;
    }

    pub fn put(a: *Alike, known: Known) Allocator.Error!void {
        const text = textOf(known.tag) orelse return;
        const hash = hashOf(known.tag, text);
        if (a.by_hash.get(hash) == null) try a.by_hash.putItem(a.arena, hash, Known, &a.list, known);
    }
};

fn isAlike(one: *const Tag, other: *const Tag) bool {
    return std.meta.activeTag(one.content) == other.content and one.style == other.style and
        std.mem.eql(u8, one.options_text, other.options_text) and std.mem.eql(u8, textOf(one).?, textOf(other).?);
}

fn textOf(tag: *const Tag) ?[]const u8 {
    return switch (tag.content) {
        .json_schema, .regex, .lark, .gbnf, .ebnf, .token_tree => |text| text,
        .any_text => "",
        .nothing, .choices, .row => null,
    };
}

fn hashOf(tag: *const Tag, text: []const u8) u64 {
    const content: u64 = @backingInt(std.meta.activeTag(tag.content));
    const style: u64 = if (tag.style) |one| @as(u64, @backingInt(one)) + 1 else 0;
    const seed = content << 8 | style;
    return std.hash.Wyhash.hash(seed, text) >> 1;
}
