//! Properties of a terminal's tree that are needed before a DFA is made of it: whether it matches the empty text, or nothing at
//! all, and how large it is, with shared parts counted each time.

const std = @import("std");
const ast = @import("../regex/ast.zig");

/// Limit of a terminal's tree, so that trees can be walked recursively.
pub const depth_max = 256;
/// Limit of a terminal's tree.
pub const nodes_max = 1 << 20;

/// Those of a tree follow from those of its parts, so that a shared part is walked once, though it counts each time.
pub const Properties = struct {
    matches_empty: bool,
    matches_nothing: bool = false,
    /// What is before or after its text counts, or the order of the ways to match.
    looks: bool = false,
    /// Matches the empty text alone.
    is_empty: bool = false,
    /// 1 for a leaf.
    depth: u32 = 1,
    /// The number of nodes, what is repeated counted once. Saturates.
    nodes: u64 = 1,

    /// Walks the tree, recursively. null: it is deeper than `depth_max`.
    pub fn of(node: *const ast.Node) ?Properties {
        return within(node, depth_max);
    }

    fn within(node: *const ast.Node, depth_left: u32) ?Properties {
        if (depth_left == 0) return null;
        switch (node.*) {
            .empty => return .{ .matches_empty = true, .is_empty = true },
            .bytes => |bytes| return .{ .matches_empty = bytes.len == 0, .is_empty = bytes.len == 0, .nodes = 1 + bytes.len / 8 },
            .class => |ranges| return .{ .matches_empty = false, .matches_nothing = ranges.len == 0, .nodes = 1 + ranges.len / 2 },
            .concat => |parts| {
                var all: Properties = .concatenation;
                for (parts) |part| all.follow(within(part, depth_left - 1) orelse return null);
                return all;
            },
            .alternate => |parts| {
                var all: Properties = .alternation;
                for (parts) |part| all.either(within(part, depth_left - 1) orelse return null);
                return all;
            },
            .look => |look| {
                const part = within(look.node, depth_left - 1) orelse return null;
                return .{ .matches_empty = true, .looks = true, .depth = part.depth + 1, .nodes = part.nodes +| 1 };
            },
            .automaton => |automaton| return .{
                .matches_empty = automaton.table.matches[1] != 0,
                .matches_nothing = automaton.table.matches.len == 2 and automaton.table.matches[1] == 0,
                .nodes = automaton.table.matches.len,
            },
            .substring => |chunks| {
                var nodes: u64 = 1;
                for (chunks) |chunk| nodes += 1 + chunk.len / 8;
                return .{ .matches_empty = true, .nodes = nodes };
            },
            .repeat => |repeat| {
                const part = within(repeat.node, depth_left - 1) orelse return null;
                var all = part.repeated(repeat.min, repeat.max);
                all.looks = all.looks or repeat.lazy;
                return all;
            },
        }
    }

    /// Those of a concatenation of no parts; `follow` adds the parts.
    pub const concatenation: Properties = .{ .matches_empty = true, .is_empty = true };
    /// Those of alternatives, none so far; `either` adds them.
    pub const alternation: Properties = .{ .matches_empty = false, .matches_nothing = true, .is_empty = true };

    /// Appends a part to a concatenation.
    pub fn follow(all: *Properties, part: Properties) void {
        all.matches_empty = all.matches_empty and part.matches_empty;
        all.matches_nothing = all.matches_nothing or part.matches_nothing;
        all.is_empty = all.is_empty and part.is_empty;
        all.contain(part);
    }

    /// Adds an alternative.
    pub fn either(all: *Properties, part: Properties) void {
        all.matches_empty = all.matches_empty or part.matches_empty;
        all.matches_nothing = all.matches_nothing and part.matches_nothing;
        all.is_empty = all.is_empty and part.is_empty;
        all.contain(part);
    }

    /// Those of `min` to `max` repetitions of a part; null: no limit.
    pub fn repeated(part: Properties, min: u32, max: ?u32) Properties {
        const can_be_empty = min == 0 or max == 0 or part.matches_empty;
        var all: Properties = .{
            .matches_empty = can_be_empty,
            .matches_nothing = part.matches_nothing and !can_be_empty,
            .is_empty = part.is_empty or max == 0,
        };
        all.contain(part);
        return all;
    }

    fn contain(all: *Properties, part: Properties) void {
        all.depth = @max(all.depth, part.depth +| 1);
        all.nodes +|= part.nodes;
        all.looks = all.looks or part.looks;
    }
};

test "what matches empty, what matches nothing" {
    const a: ast.Node = .{ .bytes = "a" };
    const nothing: ast.Node = .{ .class = &.{} };
    const maybe: ast.Node = .{ .repeat = .{ .node = &a, .min = 0, .max = 1 } };
    const never: ast.Node = .{ .repeat = .{ .node = &nothing, .min = 0, .max = null } };
    const both: ast.Node = .{ .concat = &.{ &maybe, &never } };
    const dead: ast.Node = .{ .concat = &.{ &a, &nothing } };
    const either: ast.Node = .{ .alternate = &.{ &dead, &a } };
    try std.testing.expectEqual(Properties{ .matches_empty = true, .depth = 3, .nodes = 5 }, Properties.of(&both).?);
    try std.testing.expect(Properties.of(&dead).?.matches_nothing);
    try std.testing.expect(!Properties.of(&either).?.matches_nothing and !Properties.of(&either).?.matches_empty);
}
