//! Directed graphs, stored as compressed sparse rows: strongly connected components, sets united over all reachable nodes, and
//! shortest paths. Nothing recurses, since the grammar decides how deep that would go.

const std = @import("std");
const Arena = @import("engine").arena.Arena;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Between two nodes, for `Graph.init`.
pub const Edge = struct { from: u32, to: u32 };

/// Immutable; nodes are numbered from 0.
pub const Graph = struct {
    /// [nodes + 1]: where the edges of a node begin.
    offsets: []const u32,
    targets: []const u32,

    fn nNodes(g: *const Graph) u32 {
        return @intCast(g.offsets.len - 1);
    }

    /// The targets of a node's edges.
    pub fn of(g: *const Graph, node: usize) []const u32 {
        return g.targets[g.offsets[node]..g.offsets[node + 1]];
    }

    /// A counting sort by source: a node's edges stay in their order. `places`, if given, gets the index in `targets` of each
    /// edge. Linear.
    pub fn init(ctx: *const Context, n_nodes: usize, edges: []const Edge, places: ?[]u32) Error!Graph {
        const offsets = try ctx.filled(u32, n_nodes + 2, 0);
        for (edges) |edge| offsets[edge.from + 2] += 1;
        for (offsets[1..], offsets[0 .. offsets.len - 1]) |*offset, previous| offset.* += previous;
        const targets = try ctx.alloc(u32, edges.len);
        for (edges, 0..) |edge, i| {
            const place = offsets[edge.from + 1];
            offsets[edge.from + 1] += 1;
            targets[place] = edge.to;
            if (places) |p| p[i] = place;
        }
        return .{ .offsets = offsets[0 .. n_nodes + 1], .targets = targets };
    }
};

/// Strongly connected components, in reverse topological order.
pub const Components = struct {
    /// [node]: its component. Edges between components lead to smaller numbers.
    of: []u32,
    /// The nodes, component by component.
    nodes: []u32,
};

/// Linear: "Depth-First Search and Linear Graph Algorithms", R. E. Tarjan, 1972, on a stack of its own.
pub fn components(ctx: *const Context, g: *const Graph) Error!Components {
    const n = g.nNodes();
    var t: Tarjan = .{
        .g = g,
        .lowest = try ctx.filled(u32, n, unseen),
        .next_edge = try ctx.alloc(u32, n),
        .path = try ctx.alloc(u32, n),
        .open = try ctx.alloc(u32, n),
        .result = .{ .of = try ctx.filled(u32, n, unseen), .nodes = try ctx.alloc(u32, n) },
    };
    for (0..n) |root| {
        if (root % 256 == 0) try ctx.check();
        if (t.lowest[root] == unseen) t.visitFrom(@intCast(root));
    }
    return t.result;
}

const unseen = std.math.maxInt(u32);

const Tarjan = struct {
    g: *const Graph,
    /// The earliest node of `open` that a node reaches, by its position there.
    lowest: []u32,
    next_edge: []u32,
    /// From the root to the node that is visited.
    path: []u32,
    /// Nodes whose component is not known yet, in the order of their visits.
    open: []u32,
    n_path: u32 = 0,
    n_open: u32 = 0,
    n_closed: u32 = 0,
    n_components: u32 = 0,
    result: Components,

    fn visitFrom(t: *Tarjan, root: u32) void {
        t.enter(root);
        while (t.n_path > 0) {
            const node = t.path[t.n_path - 1];
            if (t.next_edge[node] < t.g.offsets[node + 1]) {
                const to = t.g.targets[t.next_edge[node]];
                t.next_edge[node] += 1;
                if (t.lowest[to] == unseen) {
                    t.enter(to);
                } else if (t.result.of[to] == unseen) {
                    t.lowest[node] = @min(t.lowest[node], t.lowest[to]);
                }
                continue;
            }
            t.leave(node);
        }
    }

    fn enter(t: *Tarjan, node: u32) void {
        t.lowest[node] = t.n_open;
        t.next_edge[node] = t.g.offsets[node];
        t.open[t.n_open] = node;
        t.n_open += 1;
        t.path[t.n_path] = node;
        t.n_path += 1;
    }

    fn leave(t: *Tarjan, node: u32) void {
        t.n_path -= 1;
        const lowest = t.lowest[node];
        if (t.open[lowest] == node) {
            for (t.open[lowest..t.n_open]) |member| {
                t.result.of[member] = t.n_components;
                t.result.nodes[t.n_closed] = member;
                t.n_closed += 1;
            }
            t.n_open = lowest;
            t.n_components += 1;
        }
        if (t.n_path > 0) {
            const above = t.path[t.n_path - 1];
            t.lowest[above] = @min(t.lowest[above], lowest);
        }
    }
};

/// Unites the set of every node with those of all nodes that it reaches. The "digraph" algorithm of DeRemer and Pennello
/// (1982): one union per edge, in the order of the components, where sweeps to a fixed point would take one per edge and sweep.
pub fn uniteReachable(ctx: *const Context, g: *const Graph, all: []u64, words: usize) Error!void {
    const found = try components(ctx, g);
    var start: usize = 0;
    while (start < found.nodes.len) {
        if (start % 64 == 0) try ctx.check();
        const component = found.of[found.nodes[start]];
        const whole = sets.row(all, found.nodes[start], words);
        var end = start;
        while (end < found.nodes.len and found.of[found.nodes[end]] == component) : (end += 1) {
            const node = found.nodes[end];
            _ = sets.unite(whole, sets.row(all, node, words));
            for (g.of(node)) |to| {
                if (found.of[to] != component) _ = sets.unite(whole, sets.row(all, to, words));
            }
        }
        for (found.nodes[start + 1 .. end]) |node| @memcpy(sets.row(all, node, words), whole);
        start = end;
    }
}

/// Where paths may start, and what it costs to start there.
pub const Source = struct { node: u32, cost: u64 };

/// To every node, the cheapest path: followed backwards by `edges` and `from`.
pub const Paths = struct {
    /// [node]; `unreached` if no path leads there.
    costs: []u64,
    /// [node]: the last edge of its path; `no_edge` at sources.
    edges: []u32,
    /// [node]: where that edge starts.
    from: []u32,

    /// In `costs`.
    pub const unreached = std.math.maxInt(u64);
    /// In `edges`.
    pub const no_edge = std.math.maxInt(u32);
};

/// Shortest paths from several sources, by the algorithm of Bellman and Ford with a queue (E. F. Moore, 1957). It is preferred to
/// Dijkstra's since only error messages need these paths, and it needs no heap. Costs saturate just below `unreached`.
pub fn shortestPaths(ctx: *const Context, g: *const Graph, costs: []const u64, sources: []const Source) Error!Paths {
    const n = g.nNodes();
    const paths: Paths = .{
        .costs = try ctx.filled(u64, n, Paths.unreached),
        .edges = try ctx.filled(u32, n, Paths.no_edge),
        .from = try ctx.alloc(u32, n),
    };
    // A ring of the nodes whose cost fell; each is in it at most once.
    const ring = try ctx.alloc(u32, n);
    const waiting = try ctx.filled(bool, n, false);
    var n_waiting: usize = 0;
    var head: usize = 0;
    for (sources) |source| {
        if (source.cost >= paths.costs[source.node]) continue;
        paths.costs[source.node] = source.cost;
        if (waiting[source.node]) continue;
        waiting[source.node] = true;
        ring[n_waiting] = source.node;
        n_waiting += 1;
    }
    while (n_waiting > 0) {
        try ctx.check();
        const node = ring[head];
        head = (head + 1) % n;
        n_waiting -= 1;
        waiting[node] = false;
        for (g.offsets[node]..g.offsets[node + 1]) |edge| {
            const to = g.targets[edge];
            const cost = @min(paths.costs[node] +| costs[edge], Paths.unreached - 1);
            if (cost >= paths.costs[to]) continue;
            paths.costs[to] = cost;
            paths.edges[to] = @intCast(edge);
            paths.from[to] = node;
            if (waiting[to]) continue;
            waiting[to] = true;
            ring[(head + n_waiting) % n] = to;
            n_waiting += 1;
        }
    }
    return paths;
}

test "components come after those they lead to, and sets spread against the edges" {
    var arena: Arena = .init(std.testing.allocator);
    defer arena.deinit();
    var budget: @import("engine").budget.Budget = .{};
    var diag: @import("engine").diagnostic.Diagnostic = .{};
    const ctx: Context = .{ .arena = arena.allocator(), .budget = &budget, .diag = &diag };
    // 0 -> 1 <-> 2 -> 3, 4 -> 4
    const edges = [_]Edge{
        .{ .from = 0, .to = 1 },
        .{ .from = 1, .to = 2 },
        .{ .from = 2, .to = 1 },
        .{ .from = 2, .to = 3 },
        .{ .from = 4, .to = 4 },
    };
    const g: Graph = try .init(&ctx, 5, &edges, null);
    const found = try components(&ctx, &g);
    try std.testing.expectEqual(found.of[1], found.of[2]);
    try std.testing.expect(found.of[0] > found.of[1] and found.of[1] > found.of[3]);
    var all = [_]u64{ 1, 2, 4, 8, 16 };
    try uniteReachable(&ctx, &g, &all, 1);
    try std.testing.expectEqualSlices(u64, &.{ 15, 14, 14, 8, 16 }, &all);

    const paths = try shortestPaths(&ctx, &g, &.{ 5, 1, 1, 1, 1 }, &.{.{ .node = 0, .cost = 2 }});
    try std.testing.expectEqualSlices(u64, &.{ 2, 7, 8, 9, Paths.unreached }, paths.costs);
    try std.testing.expectEqual(2, paths.from[3]);
}
