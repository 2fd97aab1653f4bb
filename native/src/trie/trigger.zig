//! Finds which trigger the accepted tokens end with: the automaton of Aho and Corasick, "Efficient
//! string matching" (1975), over token ids. Its state is one number, so a span's state stays small
//! and a rollback costs nothing.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Payload = @import("../payload/payload.zig").Payload;

pub const TriggerAutomaton = struct {
    nodes: []const Node,
    /// Children of a node are contiguous and ascend by token.
    tokens: []const i32,

    const Node = struct {
        first_child: u32,
        n_children: u32,
        /// The longest proper suffix of this node's tokens that is a node.
        suffix: u32,
        /// Descriptor of the longest trigger that ends here.
        fires: u32 = nothing,
    };

    const nothing = std.math.maxInt(u32);
    pub const start = 0;

    pub fn init(gpa: Allocator, from: *const Payload) Allocator.Error!TriggerAutomaton {
        var entries = try entriesOf(gpa, from);
        defer entries.deinit(gpa);
        if (entries.items.len == 0) return .{ .nodes = &.{}, .tokens = &.{} };
        std.sort.heap(Entry, entries.items, {}, Entry.lessThan);

        var nodes: std.ArrayList(Node) = .empty;
        defer nodes.deinit(gpa);
        var tokens: std.ArrayList(i32) = .empty;
        defer tokens.deinit(gpa);
        try layOut(gpa, entries.items, &nodes, &tokens);
        linkSuffixes(nodes.items, tokens.items);

        const kept_nodes = try nodes.toOwnedSlice(gpa);
        errdefer gpa.free(kept_nodes);
        return .{ .nodes = kept_nodes, .tokens = try tokens.toOwnedSlice(gpa) };
    }

    pub fn deinit(a: *TriggerAutomaton, gpa: Allocator) void {
        gpa.free(a.nodes);
        gpa.free(a.tokens);
    }

    pub fn isEmpty(a: *const TriggerAutomaton) bool {
        return a.nodes.len == 0;
    }

    pub fn retainedBytes(a: *const TriggerAutomaton) u64 {
        return a.nodes.len * @sizeOf(Node) + a.tokens.len * @sizeOf(i32);
    }

    /// The state after a token; amortised over the tokens, a step costs O(log children).
    pub fn step(a: *const TriggerAutomaton, state: u32, token: i32) u32 {
        if (a.nodes.len == 0) return start;
        return advance(a.nodes, a.tokens, state, token);
    }

    /// The descriptor whose trigger is complete in this state.
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

    fn entriesOf(gpa: Allocator, from: *const Payload) Allocator.Error!std.ArrayList(Entry) {
        var entries: std.ArrayList(Entry) = .empty;
        errdefer entries.deinit(gpa);
        for (from.descriptors.items, 0..) |one, descriptor| {
            for (one.triggers.of(from.triggers.items)) |trigger| {
                try entries.append(gpa, .{ .tokens = trigger.of(from.tokens.items), .descriptor = @intCast(descriptor) });
            }
        }
        return entries;
    }

    /// Level by level from the sorted sequences. `tokens[i]` leads to node i; the root's is -1.
    fn layOut(gpa: Allocator, entries: []const Entry, nodes: *std.ArrayList(Node), tokens: *std.ArrayList(i32)) Allocator.Error!void {
        var runs: std.ArrayList([]const Entry) = .empty;
        defer runs.deinit(gpa);
        try runs.append(gpa, entries);
        try tokens.append(gpa, -1);
        var depth: usize = 0;
        while (nodes.items.len < runs.items.len) : (depth += 1) {
            const level_end = runs.items.len;
            while (nodes.items.len < level_end) {
                var run = runs.items[nodes.items.len];
                var node: Node = .{ .first_child = @intCast(tokens.items.len), .n_children = 0, .suffix = start };
                while (run.len > 0 and run[0].tokens.len == depth) : (run = run[1..]) node.fires = run[0].descriptor;
                while (run.len > 0) {
                    var same: usize = 1;
                    while (same < run.len and run[same].tokens[depth] == run[0].tokens[depth]) same += 1;
                    try tokens.append(gpa, run[0].tokens[depth]);
                    try runs.append(gpa, run[0..same]);
                    node.n_children += 1;
                    run = run[same..];
                }
                try nodes.append(gpa, node);
            }
        }
    }

    /// Level by level, so that a node's suffix is complete before its children need it.
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
