//! The grammar, augmented with a production for the parser itself (the start rule, then end of input), with its LR(0) items
//! and symbols numbered. Symbols are the terminals, then end of input, then the rules.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// The symbol after the dot of a complete item.
pub const none = std.math.maxInt(u32);

/// An item is an index into `after`; the next item has its dot one symbol further. Immutable once made.
pub const AugmentedGrammar = struct {
    bnf: *const Bnf,
    /// End of input not counted: this is its symbol.
    n_terminals: u32,
    /// The parser's own not counted: it comes after them.
    n_rules: u32,
    /// The parser's own not counted: this is its number.
    n_productions: u32,
    n_symbols: u32,
    /// 64-bit words of a set of terminals and end of input.
    words: u32,
    /// [item]: the symbol after the dot, or `none`.
    after: []u32,
    /// [item]: its production.
    productions: []u16,
    /// [production + 1]: where its items begin. A production that is left out has none.
    first_items: []u32,
    /// [production]: its rule.
    rules: []u16,
    /// [rule + 1]: where the productions of a rule begin.
    rule_offsets: []u32,
    rule_productions: []u16,
    /// [rule]: whether it derives the empty text.
    nullable: []bool,
    /// [item]: whether all symbols after the dot can be empty together.
    rest_nullable: []bool,

    /// `kept` [production]: whether it takes part. Lives in the context's arena.
    pub fn init(ctx: *const Context, grammar: *const Bnf, kept: []const bool) Error!AugmentedGrammar {
        const n_productions: u32 = @intCast(grammar.productions.len);
        const n_rules: u32 = @intCast(grammar.rules.len);
        var n_items: u64 = 3;
        for (grammar.productions, kept) |production, keep| {
            if (keep) n_items += production.symbols.len + 1;
        }
        if (n_items >= none) return ctx.diag.fail(.limit, "the grammar has more than {d} symbols", .{none - 1});
        var g: AugmentedGrammar = .{
            .bnf = grammar,
            .n_terminals = @intCast(grammar.terminals.len),
            .n_rules = n_rules,
            .n_productions = n_productions,
            .n_symbols = @intCast(grammar.terminals.len + 1 + n_rules),
            .words = sets.wordsFor(grammar.terminals.len + 1),
            .after = try ctx.alloc(u32, @intCast(n_items)),
            .productions = try ctx.alloc(u16, @intCast(n_items)),
            .first_items = try ctx.alloc(u32, n_productions + 2),
            .rules = try ctx.alloc(u16, n_productions + 1),
            .rule_offsets = try ctx.filled(u32, n_rules + 2, 0),
            .rule_productions = try ctx.alloc(u16, n_productions),
            .nullable = try ctx.filled(bool, n_rules, false),
            .rest_nullable = try ctx.filled(bool, @intCast(n_items), false),
        };
        g.layOutItems(kept);
        g.groupByRule(kept);
        try g.findNullable(ctx);
        return g;
    }

    fn layOutItems(g: *AugmentedGrammar, kept: []const bool) void {
        var item: u32 = 0;
        for (g.bnf.productions, kept, 0..) |production, keep, p| {
            g.first_items[p] = item;
            g.rules[p] = production.rule;
            if (!keep) continue;
            for (production.symbols) |symbol| {
                g.after[item] = switch (symbol) {
                    .terminal => |t| t,
                    .rule => |r| g.symbolOf(r),
                };
                g.productions[item] = @intCast(p);
                item += 1;
            }
            g.after[item] = none;
            g.productions[item] = @intCast(p);
            item += 1;
        }
        g.first_items[g.n_productions] = item;
        g.rules[g.n_productions] = @intCast(g.n_rules);
        g.after[item..][0..3].* = .{ g.symbolOf(g.bnf.start), g.n_terminals, none };
        @memset(g.productions[item..][0..3], @intCast(g.n_productions));
        g.first_items[g.n_productions + 1] = item + 3;
    }

    fn groupByRule(g: *AugmentedGrammar, kept: []const bool) void {
        for (g.rules[0..g.n_productions], kept) |rule, keep| {
            if (keep) g.rule_offsets[rule + 2] += 1;
        }
        for (g.rule_offsets[1..], g.rule_offsets[0 .. g.rule_offsets.len - 1]) |*offset, previous| offset.* += previous;
        for (g.rules[0..g.n_productions], kept, 0..) |rule, keep, p| {
            if (!keep) continue;
            g.rule_productions[g.rule_offsets[rule + 1]] = @intCast(p);
            g.rule_offsets[rule + 1] += 1;
        }
    }

    fn findNullable(g: *AugmentedGrammar, ctx: *const Context) Error!void {
        const eligible = try ctx.filled(bool, g.n_productions, true);
        const unmarked = try ctx.alloc(u32, g.n_productions);
        for (0..g.n_productions, eligible, unmarked) |p, *is_eligible, *n_unmarked| {
            const items = g.itemsOf(p);
            n_unmarked.* = @intCast(items.len -| 1);
            is_eligible.* = items.len > 0;
            for (items) |symbol| {
                if (symbol <= g.n_terminals) is_eligible.* = false;
            }
        }
        try markBottomUp(ctx, g.bnf, eligible, unmarked, g.nullable);
        var item = g.after.len;
        while (item > 0) {
            item -= 1;
            const symbol = g.after[item];
            g.rest_nullable[item] = symbol == none or
                (symbol > g.n_terminals and g.nullable[g.ruleOf(symbol)] and g.rest_nullable[item + 1]);
        }
    }

    /// The symbol of a rule.
    pub fn symbolOf(g: *const AugmentedGrammar, rule: usize) u32 {
        return g.n_terminals + 1 + @as(u32, @intCast(rule));
    }

    /// The rule of a symbol that `isRule` accepts.
    pub fn ruleOf(g: *const AugmentedGrammar, symbol: u32) u32 {
        return symbol - g.n_terminals - 1;
    }

    /// False for terminals, end of input and `none`.
    pub fn isRule(g: *const AugmentedGrammar, symbol: u32) bool {
        return symbol != none and symbol > g.n_terminals;
    }

    /// The productions of a rule that take part, in ascending order.
    pub fn productionsOf(g: *const AugmentedGrammar, rule: usize) []const u16 {
        return g.rule_productions[g.rule_offsets[rule]..g.rule_offsets[rule + 1]];
    }

    /// The symbols of a production and a final `none`: one for each of its items. Empty if it is left out.
    pub fn itemsOf(g: *const AugmentedGrammar, production: usize) []const u32 {
        return g.after[g.first_items[production]..g.first_items[production + 1]];
    }

    /// The symbols before the item's dot.
    pub fn before(g: *const AugmentedGrammar, item: u32) []const u32 {
        return g.after[g.first_items[g.productions[item]]..item];
    }
};

/// Marks every rule that has a production of marked rules only, and so on until none is left to mark: rules that can be empty,
/// rules that derive some text. Linear, by counting down the unmarked occurrences of rules in each production, as
/// "Linear-Time Algorithms for Testing the Satisfiability of Propositional Horn Formulae" does (W. Dowling and J. Gallier, 1984).
/// `eligible` [production]: whether it counts at all. `unmarked` [production]: its occurrences of rules; used up.
pub fn markBottomUp(
    ctx: *const Context,
    grammar: *const Bnf,
    eligible: []const bool,
    unmarked: []u32,
    marked: []bool,
) Error!void {
    var edges: ArrayList(graph.Edge) = .empty;
    const ready = try ctx.alloc(u32, grammar.rules.len);
    var n_ready: usize = 0;
    for (grammar.productions, eligible, unmarked, 0..) |production, is_eligible, n_unmarked, p| {
        if (p % 256 == 0) try ctx.check();
        if (!is_eligible) continue;
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => {},
            .rule => |r| try ctx.append(&edges, .{ .from = r, .to = @intCast(p) }),
        };
        if (n_unmarked == 0 and !marked[production.rule]) {
            marked[production.rule] = true;
            ready[n_ready] = production.rule;
            n_ready += 1;
        }
    }
    const occurrences: Graph = try .init(ctx, grammar.rules.len, edges.items, null);
    while (n_ready > 0) {
        n_ready -= 1;
        for (occurrences.of(ready[n_ready])) |p| {
            unmarked[p] -= 1;
            const rule = grammar.productions[p].rule;
            if (unmarked[p] > 0 or marked[rule]) continue;
            marked[rule] = true;
            ready[n_ready] = rule;
            n_ready += 1;
        }
    }
}
