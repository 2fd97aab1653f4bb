//! Regular expressions with what lowering asks of them: how much they weigh, and whether they match the empty text.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const ast = @import("../regex/ast.zig");
const dfa = @import("../regex/dfa.zig");

/// A plain value; the node lives in the arena of whoever made it.
pub const Part = struct {
    node: *const ast.Node,
    /// About the number of the NFA's states, but at least 1 if it is not empty, so that it bounds how large the node is, written out;
    /// saturates.
    weight: u32,
    is_nullable: bool,

    pub const empty: Part = .{ .node = ast.empty, .weight = 0, .is_nullable = true };

    /// Recursion is as deep as the node.
    pub fn of(node: *const ast.Node) Part {
        const is_empty = node.* == .empty;
        return .{ .node = node, .weight = if (is_empty) 0 else @max(1, weightOf(node)), .is_nullable = isNullable(node) };
    }

    pub fn isEmpty(part: Part) bool {
        return part.node.* == .empty;
    }

    pub fn concat(arena: Allocator, a: Part, b: Part) Allocator.Error!Part {
        if (a.isEmpty()) return b;
        if (b.isEmpty()) return a;
        return .{
            .node = try ast.concat(arena, &.{ a.node, b.node }),
            .weight = a.weight +| b.weight,
            .is_nullable = a.is_nullable and b.is_nullable,
        };
    }

    pub fn alternate(arena: Allocator, a: Part, b: Part) Allocator.Error!Part {
        if (a.isEmpty() and b.isEmpty()) return a;
        return .{
            .node = try ast.alternate(arena, &.{ a.node, b.node }),
            .weight = a.weight +| b.weight,
            .is_nullable = a.is_nullable or b.is_nullable,
        };
    }

    pub fn repeat(arena: Allocator, a: Part, min: u32, max: ?u32) Allocator.Error!Part {
        return .{
            .node = try ast.repeat(arena, a.node, min, max),
            .weight = a.weight *| @max(1, max orelse min +| 1),
            .is_nullable = min == 0 or a.is_nullable,
        };
    }

    /// Appends bytes that are equal for equal expressions, whichever nodes they are made of.
    pub fn appendKey(part: Part, arena: Allocator, key: *ArrayList(u8)) Allocator.Error!void {
        return appendNode(arena, part.node, key);
    }
};

fn weightOf(node: *const ast.Node) u32 {
    switch (node.*) {
        .empty => return 0,
        .bytes => |bytes| return std.math.lossyCast(u32, bytes.len),
        .class => |ranges| return std.math.lossyCast(u32, 3 * ranges.len),
        .concat, .alternate => |nodes| {
            var sum: u32 = 0;
            for (nodes) |one| sum +|= weightOf(one);
            return sum;
        },
        .repeat => |r| return weightOf(r.node) *| @max(1, r.max orelse r.min +| 1),
        .automaton => |a| return std.math.lossyCast(u32, a.table.matches.len),
        .look => unreachable, // not in these grammars
        .substring => |chunks| {
            var sum: u32 = 0;
            for (chunks) |chunk| sum +|= std.math.lossyCast(u32, 2 * chunk.len);
            return sum;
        },
    }
}

fn isNullable(node: *const ast.Node) bool {
    return switch (node.*) {
        .empty, .substring => true,
        .bytes => |bytes| bytes.len == 0,
        .class => false,
        .concat => |nodes| for (nodes) |one| {
            if (!isNullable(one)) break false;
        } else true,
        .alternate => |nodes| for (nodes) |one| {
            if (isNullable(one)) break true;
        } else false,
        .repeat => |r| r.min == 0 or isNullable(r.node),
        .automaton => |a| a.table.matches[dfa.start] != 0, // without silent bytes: nothing is searched for in these grammars
        .look => unreachable,
    };
}

/// On a stack of its own, since the grammar decides how deep an expression is.
fn appendNode(arena: Allocator, whole: *const ast.Node, key: *ArrayList(u8)) Allocator.Error!void {
    var waiting: ArrayList(*const ast.Node) = .empty;
    defer waiting.deinit(arena);
    try waiting.append(arena, whole);
    while (waiting.pop()) |node| {
        try key.append(arena, @backingInt(std.meta.activeTag(node.*)));
        switch (node.*) {
            .empty => {},
            .bytes => |bytes| try appendSized(arena, bytes, key),
            .class => |ranges| try appendSized(arena, std.mem.sliceAsBytes(ranges), key),
            .concat, .alternate => |nodes| {
                try key.appendSlice(arena, std.mem.asBytes(&nodes.len));
                for (0..nodes.len) |i| try waiting.append(arena, nodes[nodes.len - 1 - i]);
            },
            .repeat => |r| {
                const max: u64 = r.max orelse std.math.maxInt(u64);
                try key.appendSlice(arena, std.mem.asBytes(&r.min));
                try key.appendSlice(arena, std.mem.asBytes(&max));
                try waiting.append(arena, r.node);
            },
            .automaton, .substring, .look => try key.appendSlice(arena, std.mem.asBytes(&node)),
        }
    }
}

fn appendSized(arena: Allocator, bytes: []const u8, key: *ArrayList(u8)) Allocator.Error!void {
    try key.appendSlice(arena, std.mem.asBytes(&bytes.len));
    try key.appendSlice(arena, bytes);
}
