//! What follows triggers and parts of rows: texts that share their beginnings, as a tree. A text that nothing shares with
//! others is kept whole, so that the tree grows with the texts' differences, and not with their bytes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const FreeText = @import("engine").free_text.FreeText;
const Symbol = @import("engine").tag_symbols.Symbol;

/// What it means that a text was read.
pub const Outcome = union(enum) {
    part: u32,
    /// Free text continues.
    outside,
};

/// In place of a node or an edge.
const none = std.math.maxInt(u32);

pub const BeginTexts = struct {
    arena: Allocator,
    nodes: ArrayList(Node) = .empty,
    edges: ArrayList(Edge) = .empty,
    chains: ArrayList(Symbol) = .empty,
    /// Nodes that several symbols continue from.
    branches: ArrayList(u32) = .empty,
    n_pending: u32 = 0,

    const Node = struct {
        /// The first one.
        edge: u32 = none,
        /// Without edges: what continues alone, and what it leads to. With edges: a text that ends here, if there is one.
        tail: []const Symbol = &.{},
        outcome: ?Outcome = null,
        /// Its state, or the first of its tail. Unknown before `number`.
        state: u32 = none,
    };
    const Edge = struct { symbol: Symbol, node: u32, next: u32 };

    pub fn addRoot(b: *BeginTexts) Allocator.Error!u32 {
        try b.nodes.append(b.arena, .{});
        return @intCast(b.nodes.items.len - 1);
    }

    /// Adds a text. One that begins another is a part that begins as soon as the text continues otherwise.
    pub fn add(b: *BeginTexts, root: u32, text: []const Symbol, outcome: Outcome) (Allocator.Error || error{Ambiguous})!void {
        var at = root;
        var rest = text;
        while (true) {
            const node = &b.nodes.items[at];
            if (node.edge == none) {
                const before = node.outcome orelse {
                    node.tail = rest;
                    node.outcome = outcome;
                    return;
                };
                if (node.tail.len > 0) {
                    const tail = node.tail;
                    node.tail = &.{};
                    node.outcome = null;
                    try b.addEdge(at, tail[0], .{ .tail = tail[1..], .outcome = before });
                } else if (before == .outside or rest.len == 0) return error.Ambiguous;
            }
            if (rest.len == 0) {
                if (b.nodes.items[at].outcome != null or outcome == .outside) return error.Ambiguous;
                b.nodes.items[at].outcome = outcome;
                return;
            }
            const next = b.child(at, rest[0]);
            if (next == none) return b.addEdge(at, rest[0], .{ .tail = rest[1..], .outcome = outcome });
            at = next;
            rest = rest[1..];
        }
    }

    fn addEdge(b: *BeginTexts, from: u32, symbol: Symbol, to: Node) Allocator.Error!void {
        const node: u32 = @intCast(b.nodes.items.len);
        try b.nodes.append(b.arena, to);
        try b.edges.append(b.arena, .{ .symbol = symbol, .node = node, .next = b.nodes.items[from].edge });
        b.nodes.items[from].edge = @intCast(b.edges.items.len - 1);
    }

    fn child(b: *const BeginTexts, node: u32, symbol: Symbol) u32 {
        var edge = b.nodes.items[node].edge;
        while (edge != none) : (edge = b.edges.items[edge].next) {
            if (b.edges.items[edge].symbol == symbol) return b.edges.items[edge].node;
        }
        return none;
    }

    // ---- States

    /// Numbers the states of what is reached from the roots, in their order: `n_text` is that of the first. Returns the
    /// place in `chains` where those from `first_open` on begin.
    pub fn number(b: *BeginTexts, n_text: u32, roots: []const u32, first_open: usize) Allocator.Error!u32 {
        var first: u32 = 0;
        var pending: ArrayList(u32) = .empty;
        for (roots, 0..) |root, i| {
            if (i == first_open) first = @intCast(b.chains.items.len);
            try b.visit(n_text, root, &pending);
        }
        if (first_open == roots.len) first = @intCast(b.chains.items.len);
        b.n_pending = @intCast(pending.items.len);
        try b.branches.appendSlice(b.arena, pending.items);
        for (b.branches.items, 0..) |node, i| b.nodes.items[node].state = n_text + @as(u32, @intCast(b.chains.items.len + i));
        return first;
    }

    /// Where only one symbol continues a chain leads, whose end is written later.
    fn visit(b: *BeginTexts, n_text: u32, root: u32, pending: *ArrayList(u32)) Allocator.Error!void {
        var stack: ArrayList(u32) = .empty;
        try stack.append(b.arena, root);
        while (stack.pop()) |at| {
            const node = &b.nodes.items[at];
            if (node.edge == none) {
                if (node.tail.len == 0) continue;
                node.state = n_text + @as(u32, @intCast(b.chains.items.len));
                try b.chains.appendSlice(b.arena, node.tail);
                try b.endChain();
                continue;
            }
            const is_chain = node.outcome == null and b.edges.items[node.edge].next == none;
            if (is_chain) {
                node.state = n_text + @as(u32, @intCast(b.chains.items.len));
                try b.chains.append(b.arena, b.edges.items[node.edge].symbol);
                try b.endChain();
            } else if (node.outcome == null) try b.branches.append(b.arena, at) else try pending.append(b.arena, at);
            var edge = node.edge;
            while (edge != none) : (edge = b.edges.items[edge].next) try stack.append(b.arena, b.edges.items[edge].node);
        }
    }

    fn endChain(b: *BeginTexts) Allocator.Error!void {
        b.chains.items[b.chains.items.len - 1] |= FreeText.chain_end;
        try b.chains.appendNTimes(b.arena, 0, 2);
    }

    /// The code of what follows once a node is reached. `code` has that of an outcome.
    pub fn codeOf(b: *const BeginTexts, at: u32, code: *const Codes) u32 {
        const node = &b.nodes.items[at];
        return if (node.edge == none and node.tail.len == 0) code.of(node.outcome.?) else node.state;
    }

    /// The state in which nothing after a root was read.
    pub fn stateOf(b: *const BeginTexts, root: u32) u32 {
        return b.nodes.items[root].state;
    }

    /// Writes where chains lead.
    pub fn finishChains(b: *BeginTexts, n_text: u32, code: *const Codes) void {
        for (b.nodes.items) |*node| {
            if (node.state == none or node.state >= n_text + b.chains.items.len) continue;
            const at = node.state - n_text;
            const last = if (node.edge == none) at + node.tail.len - 1 else at;
            const target = if (node.edge == none) code.of(node.outcome.?) else b.codeOf(b.edges.items[node.edge].node, code);
            b.chains.items[last + 1] = @truncate(target);
            b.chains.items[last + 2] = @truncate(target >> 16);
        }
    }

    /// Writes the row of a branch: where each symbol leads.
    pub fn fillRow(b: *const BeginTexts, branch: u32, row: []u32, code: *const Codes, classOf: anytype) void {
        @memset(row, FreeText.dead);
        var edge = b.nodes.items[branch].edge;
        while (edge != none) : (edge = b.edges.items[edge].next) {
            const one = &b.edges.items[edge];
            row[classOf.classOf(one.symbol)] = b.codeOf(one.node, code);
        }
    }

    /// The part that begins unless a longer text continues.
    pub fn pendingOf(b: *const BeginTexts, branch: u32) u32 {
        return b.nodes.items[branch].outcome.?.part;
    }
};

/// What the table of free text has for outcomes.
pub const Codes = struct {
    n_states: u32,
    /// Of `outside`.
    outside: u32,

    fn of(codes: *const Codes, outcome: Outcome) u32 {
        return switch (outcome) {
            .part => |part| codes.n_states + part,
            .outside => codes.outside,
        };
    }
};
