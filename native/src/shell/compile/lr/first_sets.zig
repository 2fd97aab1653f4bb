//! FIRST sets: the terminals that what is after a dot can begin with.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Immutable; lives in the context's arena.
pub const FirstSets = struct {
    /// [item * words]: of all that is after the dot, to the end of the production.
    rest: []u64,

    /// Linear in the grammar's symbols, but for the unions of sets (`graph.uniteReachable`).
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar) Error!FirstSets {
        const rules = try ofRules(ctx, g);
        const rest = try ctx.filled(u64, g.after.len * g.words, 0);
        var item = g.after.len;
        while (item > 0) {
            item -= 1;
            if (item % 256 == 0) try ctx.check();
            const symbol = g.after[item];
            const set = sets.row(rest, item, g.words);
            if (g.isRule(symbol)) {
                const rule = g.ruleOf(symbol);
                @memcpy(set, sets.row(rules, rule, g.words));
                if (g.nullable[rule]) _ = sets.unite(set, sets.row(rest, item + 1, g.words));
            } else if (symbol <= g.n_terminals) {
                sets.add(set, symbol);
            }
        }
        return .{ .rest = rest };
    }

    fn ofRules(ctx: *const Context, g: *const AugmentedGrammar) Error![]u64 {
        const rules = try ctx.filled(u64, @as(usize, g.n_rules) * g.words, 0);
        var edges: ArrayList(graph.Edge) = .empty;
        for (0..g.n_productions) |p| {
            if (p % 256 == 0) try ctx.check();
            for (g.itemsOf(p)) |symbol| {
                if (g.isRule(symbol)) {
                    try ctx.append(&edges, .{ .from = g.rules[p], .to = g.ruleOf(symbol) });
                    if (g.nullable[g.ruleOf(symbol)]) continue;
                } else if (symbol <= g.n_terminals) {
                    sets.add(sets.row(rules, g.rules[p], g.words), symbol);
                }
                break;
            }
        }
        const corners: Graph = try .init(ctx, g.n_rules, edges.items, null);
        try graph.uniteReachable(ctx, &corners, rules, g.words);
        return rules;
    }
};
