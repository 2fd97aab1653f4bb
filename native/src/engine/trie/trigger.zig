//! Finds the trigger that the accepted tokens end with: the automaton of Aho and Corasick, "Efficient string
//! matching" (1975), over token ids. Its state is one number, so that a span's state stays small and a rollback
//! costs nothing.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Payload = @import("../payload/payload.zig").Payload;

/// Immutable. Without triggers it has no nodes and never fires.
pub const TriggerAutomaton = struct {
    nodes: []const Node,
    /// The token that leads to each node. A node's children are contiguous and ascend by token.
    tokens: []const i32,

    const Node = struct {
        first_child: u32,
        n_children: u32,
        /// The node of the longest proper suffix of this node's tokens.
        suffix: u32,
        /// The descriptor of the longest trigger that ends here.
        fires: u32 = nothing,
    };

    const nothing = std.math.maxInt(u32);
    /// The state before any token.
    pub const start = 0;

    /// The automaton of all triggers of a payload. Copies what it needs.
    pub fn init(gpa: Allocator, from: *const Payload) Allocator.Error!TriggerAutomaton {
        if (from.triggers.items.len == 0) return .{ .nodes = &.{}, .tokens = &.{} };
        const entries = try gpa.alloc(Entry, from.triggers.items.len);
        defer gpa.free(entries);
        const nodes_max = collect(from, entries);
        std.sort.heap(Entry, entries, {}, Entry.lessThan);

        var nodes: ArrayList(Node) = try .initCapacity(gpa, nodes_max);
        defer nodes.deinit(gpa);
        var tokens: ArrayList(i32) = try .initCapacity(gpa, nodes_max);
        defer tokens.deinit(gpa);
        const runs = try gpa.alloc([]const Entry, nodes_max);
        defer gpa.free(runs);
        layOut(entries, runs, &nodes, &tokens);
        linkSuffixes(nodes.items, tokens.items);

        const kept_nodes = try nodes.toOwnedSlice(gpa);
        errdefer gpa.free(kept_nodes);
        return .{ .nodes = kept_nodes, .tokens = try tokens.toOwnedSlice(gpa) };
    }

    /// `gpa` is the one that `init` was given.
    pub fn deinit(a: *TriggerAutomaton, gpa: Allocator) void {
        gpa.free(a.nodes);
        gpa.free(a.tokens);
    }

    /// Whether there are no triggers.
    pub fn isEmpty(a: *const TriggerAutomaton) bool {
        return a.nodes.len == 0;
    }

    /// Memory of the arrays.
    pub fn retainedBytes(a: *const TriggerAutomaton) u64 {
        return a.nodes.len * @sizeOf(Node) + a.tokens.len * @sizeOf(i32);
    }

    /// The state after a token. Amortised over the tokens, O(log children).
    pub fn step(a: *const TriggerAutomaton, state: u32, token: i32) u32 {
        if (a.nodes.len == 0) return start;
        return advance(a.nodes, a.tokens, state, token);
    }

    /// The descriptor whose trigger is complete in this state; null if none is.
    pub fn fired(a: *const TriggerAutomaton, state: u32) ?u32 {
        if (a.nodes.len == 0 or a.nodes[state].fires == nothing) return null;
        return a.nodes[state].fires;
    }

    const Entry = struct {
        tokens: []const i32,
        descriptor: u32,

        fn lessThan(_: void, a: Entry, b: Entry) bool {
            return std.mem.order(i32, a.tokens, b.tokens) == .lt;
        }
    };

    /// Gathers the triggers of all descriptors. Returns the most nodes that they can need.
    fn collect(from: *const Payload, entries: []Entry) usize {
        var n: usize = 0;
        var nodes_max: usize = 1;
        for (from.descriptors.items, 0..) |one, descriptor| {
            for (one.triggers.of(from.triggers.items)) |trigger| {
                entries[n] = .{ .tokens = trigger.of(from.tokens.items), .descriptor = @intCast(descriptor) };
                n += 1;
                nodes_max += trigger.len;
            }
        }
        return nodes_max;
    }

    /// Lays out the nodes level by level. The sequences `runs[i]` pass through node i, to which `tokens[i]` leads;
    /// the root's token is -1.
    fn layOut(entries: []const Entry, runs: [][]const Entry, nodes: *ArrayList(Node), tokens: *ArrayList(i32)) void {
        runs[0] = entries;
        tokens.appendAssumeCapacity(-1);
        var depth: usize = 0;
        while (nodes.items.len < tokens.items.len) : (depth += 1) {
            const level_end = tokens.items.len;
            while (nodes.items.len < level_end) {
                var run = runs[nodes.items.len];
                var node: Node = .{ .first_child = @intCast(tokens.items.len), .n_children = 0, .suffix = start };
                while (run.len > 0 and run[0].tokens.len == depth) : (run = run[1..]) node.fires = run[0].descriptor;
                while (run.len > 0) {
                    var same: usize = 1;
                    while (same < run.len and run[same].tokens[depth] == run[0].tokens[depth]) same += 1;
                    runs[tokens.items.len] = run[0..same];
                    tokens.appendAssumeCapacity(run[0].tokens[depth]);
                    node.n_children += 1;
                    run = run[same..];
                }
                nodes.appendAssumeCapacity(node);
            }
        }
    }

    /// In the order of the nodes, so that a node has its suffix before its children need it.
    fn linkSuffixes(nodes: []Node, tokens: []const i32) void {
        for (0..nodes.len) |parent| {
            const first = nodes[parent].first_child;
            for (first..first + nodes[parent].n_children) |child| {
                const suffix = if (parent == start) start else advance(nodes, tokens, nodes[parent].suffix, tokens[child]);
                nodes[child].suffix = suffix;
                if (nodes[child].fires == nothing) nodes[child].fires = nodes[suffix].fires;
            }
        }
    }

    fn advance(nodes: []const Node, tokens: []const i32, from: u32, token: i32) u32 {
        var state = from;
        while (true) {
            const node = nodes[state];
            const ids = tokens[node.first_child..][0..node.n_children];
            const i = std.sort.lowerBound(i32, ids, token, order);
            if (i < ids.len and ids[i] == token) return node.first_child + @as(u32, @intCast(i));
            if (state == start) return start;
            state = node.suffix;
        }
    }

    fn order(token: i32, id: i32) std.math.Order {
        return std.math.order(token, id);
    }
};
