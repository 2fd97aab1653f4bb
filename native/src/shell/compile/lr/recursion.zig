//! Refuses two kinds of rules for which there is no LR parser, before an automaton is built, since the conflicts that they would
//! cause do not show why: a rule that derives itself alone (a cycle), and hidden left recursion, behind what can be empty.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const fmt = @import("fmt.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// ELIZA_ERR_GRAMMAR with the way round from the rule to itself. Linear: both are strongly connected components of a graph.
pub fn check(ctx: *const Context, g: *const AugmentedGrammar) Error!void {
    inline for (.{ Corners.Kind.unit, Corners.Kind.any }) |kind| {
        const corners: Corners = try .find(ctx, g, kind);
        const corner_graph: Graph = try .init(ctx, g.n_rules, corners.edges.items, null);
        const found = try graph.components(ctx, &corner_graph);
        for (corners.items.items, corners.edges.items) |item, edge| {
            if (found.of[edge.from] != found.of[edge.to]) continue;
            if (kind == .any and g.before(item).len == 0) continue;
            return failLoop(ctx, g, &corner_graph, item, edge, kind);
        }
    }
}

/// The left corners: items whose dot is at a rule, with nothing before it or what can be empty. An edge leads from the item's
/// rule to the one at its dot.
const Corners = struct {
    items: ArrayList(u32) = .empty,
    edges: ArrayList(graph.Edge) = .empty,

    const Kind = enum {
        /// Only those where all else in the production can be empty too, so that the rule derives the other alone.
        unit,
        any,
    };

    fn find(ctx: *const Context, g: *const AugmentedGrammar, kind: Kind) Error!Corners {
        var c: Corners = .{};
        for (0..g.n_productions) |p| {
            if (p % 256 == 0) try ctx.check();
            for (g.itemsOf(p), g.first_items[p]..) |symbol, item| {
                if (!g.isRule(symbol)) break;
                const rule = g.ruleOf(symbol);
                if (kind == .any or g.rest_nullable[item + 1]) {
                    try ctx.append(&c.items, @intCast(item));
                    try ctx.append(&c.edges, .{ .from = g.rules[p], .to = rule });
                }
                if (!g.nullable[rule]) break;
            }
        }
        return c;
    }
};

fn failLoop(
    ctx: *const Context,
    g: *const AugmentedGrammar,
    corner_graph: *const Graph,
    item: u32,
    edge: graph.Edge,
    kind: Corners.Kind,
) Error {
    const costs = try ctx.filled(u64, corner_graph.targets.len, 1);
    const paths = try graph.shortestPaths(ctx, corner_graph, costs, &.{.{ .node = edge.to, .cost = 0 }});
    var route: ArrayList(u32) = .empty;
    var rule = edge.from;
    while (true) {
        try ctx.append(&route, rule);
        if (rule == edge.to) break;
        rule = paths.from[rule];
    }
    std.mem.reverse(u32, route.items);
    const at = fmt.place(g.bnf.productions[g.productions[item]].place);
    const name = fmt.name(g.bnf.rules[edge.from].name);
    const shown = fmt.derivation(g, edge.from, route.items);
    return switch (kind) {
        .unit => ctx.diag.fail(.grammar, "{f}rule {f} derives itself: {f}", .{ at, name, shown }),
        .any => ctx.diag.fail(
            .grammar,
            "{f}rule {f} is left-recursive behind what can be empty: {f}, in   {f}",
            .{ at, name, shown, fmt.item(g, item) },
        ),
    };
}
