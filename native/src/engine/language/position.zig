//! Where a text stands in a language: a state and, if the language nests, a stack.
//!
//! Stacks share what is below (Tomita, "Efficient parsing for natural language", 1985): a stack is its top
//! state and a reference to a node in a pool, whose parent links lead to the bottom. Nothing that a reference
//! leads to ever changes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Watch = @import("../base/watch.zig").Watch;

/// What a language keeps below the state of a position.
pub const StackForm = enum {
    none,
    /// One stack: cells are `Node`s.
    one,
    /// Several at once, as a graph (glr/graph.zig): `Node.depth` is a cell too.
    graph,
    /// Each position has its own: `Language.inner` tells.
    mixed,
};

/// A plain value. Its stack means something only with its pool.
pub const Position = struct {
    /// The language says what its numbers mean.
    state: u32,
    /// Unused by languages without stacks.
    stack: Stack = .initial,
};

/// A stack of states. One word, so that it is written and read as a whole: a read of what was written in two parts
/// waits until both are in the cache.
pub const Stack = packed struct(u64) {
    /// The node below the top, or `bottom`.
    below: u32,
    top: u32,

    /// Of a language that has stacks, no other state is at the bottom, and this one is nowhere else.
    pub const initial: Stack = .{ .below = bottom, .top = 0 };
};

/// In place of a node: nothing is below.
pub const bottom = std.math.maxInt(u32);

/// A state of a stack, and the node below it.
pub const Node = extern struct {
    parent: u32,
    /// 0 at the bottom of the stack.
    depth: u32,
    state: u32,
};

/// The nodes of all stacks of one text. Belongs to one thread. A node stands after its parent.
pub const Pool = struct {
    nodes: ArrayList(Node) = .empty,
    /// What operations on the text may take.
    watch: Watch = .{},

    /// The node of a stack's top, to be below another top.
    pub fn push(pool: *Pool, gpa: Allocator, stack: Stack) Allocator.Error!u32 {
        const n = pool.nodes.items.len;
        if (n == bottom) return error.OutOfMemory;
        std.debug.assert(stack.below == bottom or stack.below < n);
        try pool.nodes.append(gpa, .{ .parent = stack.below, .depth = pool.depthOf(stack), .state = stack.top });
        return @intCast(n);
    }

    /// The depth of a stack's top: 0 if nothing is below it.
    pub fn depthOf(pool: *const Pool, stack: Stack) u32 {
        return if (stack.below == bottom) 0 else pool.nodes.items[stack.below].depth + 1;
    }

    /// Drops the nodes that none of the given stacks leads to, and adapts the stacks. `stacks` has `len`,
    /// `at(i) *Stack`, and `isGraph(i)`, which says whether it is a graph: no node is in one and in another stack.
    /// O(nodes). If it fails, nothing has changed.
    pub fn compact(pool: *Pool, gpa: Allocator, stacks: anytype) Allocator.Error!void {
        const nodes = pool.nodes.items;
        const places = try gpa.alloc(u32, nodes.len);
        defer gpa.free(places);
        @memset(places, 0);
        const in_stack = 1;
        const in_graph = 2;
        for (0..stacks.len) |i| {
            const below = stacks.at(i).below;
            if (below != bottom) places[below] = if (stacks.isGraph(i)) in_graph else in_stack;
        }
        var i = nodes.len;
        while (i > 0) {
            i -= 1;
            std.debug.assert(nodes[i].parent == bottom or nodes[i].parent < i);
            if (places[i] == 0) continue;
            if (nodes[i].parent != bottom) places[nodes[i].parent] = places[i];
            if (places[i] == in_graph and nodes[i].depth != bottom) places[nodes[i].depth] = in_graph;
        }
        var kept: u32 = 0;
        for (0..nodes.len) |n| if (places[n] != 0) {
            var node = nodes[n];
            if (node.parent != bottom) node.parent = places[node.parent];
            if (places[n] == in_graph and node.depth != bottom) node.depth = places[node.depth];
            nodes[kept] = node;
            places[n] = kept;
            kept += 1;
        };
        for (0..stacks.len) |n| {
            const stack = stacks.at(n);
            if (stack.below != bottom) stack.below = places[stack.below];
        }
        pool.nodes.shrinkRetainingCapacity(kept);
    }
};
