//! Anchors of a pattern that is found anywhere in a text. In a tree each is a mark, a byte that no text has. Where they stand at
//! the pattern's edges, which they nearly always do, its branches are sorted by them: what may come before and after
//! the others comes once, so that the automaton need not tell after which branch it is.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const ast = @import("ast.zig");
const Node = ast.Node;

pub const start_mark = 0xf8;
pub const end_mark = 0xf9;

pub const Side = enum { first, last };

/// The tree with what may stand `outside` of it, at that side, where no anchor forbids it.
pub fn open(arena: Allocator, node: *const Node, side: Side, outside: *const Node) Allocator.Error!*const Node {
    const held = try part(arena, node, side, true);
    const free = try part(arena, node, side, false) orelse return held.?;
    const opened = try ast.concat(arena, if (side == .first) &.{ outside, free } else &.{ free, outside });
    return ast.alternate(arena, if (held) |one| &.{ opened, one } else &.{opened});
}

pub fn isAnchor(node: *const Node, side: Side) bool {
    return node.* == .bytes and node.bytes.len == 1 and node.bytes[0] == @as(u8, if (side == .first) start_mark else end_mark);
}

/// Its texts that an anchor holds to that side, without the anchor, or the others. Null: there are none.
fn part(arena: Allocator, node: *const Node, side: Side, held: bool) Allocator.Error!?*const Node {
    if (isAnchor(node, side)) return if (held) ast.empty else null;
    switch (node.*) {
        .alternate => |children| {
            var parts: ArrayList(*const Node) = .empty;
            for (children) |child| if (try part(arena, child, side, held)) |one| try parts.append(arena, one);
            if (parts.items.len == children.len and !held) return node;
            return if (parts.items.len == 0) null else try ast.alternate(arena, parts.items);
        },
        .concat => |children| {
            const edge = if (side == .first) 0 else children.len - 1;
            if (isAnchor(children[edge], side)) {
                if (!held) return null;
                const rest = if (side == .first) children[1..] else children[0..edge];
                return try open(arena, try ast.concat(arena, rest), side, ast.empty);
            }
            const one = try part(arena, children[edge], side, held) orelse return null;
            if (one == children[edge]) return node;
            const parts = try arena.dupe(*const Node, children);
            parts[edge] = one;
            return try ast.create(arena, .{ .concat = parts });
        },
        else => return if (held) null else node,
    }
}
