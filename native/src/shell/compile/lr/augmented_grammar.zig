//! The productions laid out flat, items numbered through. Symbols: terminals, then end of input,
//! then rules. Production `n_productions` is the parser's own: the start rule, then end of input.

const std = @import("std");
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// After the dot of a finished item.
pub const none = std.math.maxInt(u32);

pub const AugmentedGrammar = struct {
    bnf: *const Bnf,
    /// Without end of input, whose symbol this is.
    n_terminals: u32,
    /// Without the parser's own, which comes after them.
    n_rules: u32,
    n_productions: u32,
    n_symbols: u32,
    /// Of a set of terminals with end of input.
    words: u32,
    /// [item]: the symbol after the dot, or `none`.
    after: []u32,
    /// [item]
    productions: []u16,
    /// [production]: its first item. Productions that are left out have no items.
    first_items: []u32,
    /// [production]
    rules: []u16,
    /// [rule + 1]: where the productions of a rule begin.
    rule_offsets: []u32,
    rule_productions: []u16,
    /// [rule]: can be empty.
    nullable: []bool,
    /// [item]: all that is after the dot can be empty.
    rest_nullable: []bool,

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
        const matters = try ctx.filled(bool, g.n_productions, true);
        const remaining = try ctx.alloc(u32, g.n_productions);
        for (0..g.n_productions, matters, remaining) |p, *matter, *left| {
            const items = g.itemsOf(p);
            left.* = @intCast(items.len -| 1);
            matter.* = items.len > 0;
            for (items) |symbol| {
                if (symbol <= g.n_terminals) matter.* = false;
            }
        }
        try closeUpwards(ctx, g.bnf, matters, remaining, g.nullable);
        var item = g.after.len;
        while (item > 0) {
            item -= 1;
            const symbol = g.after[item];
            g.rest_nullable[item] = symbol == none or
                (symbol > g.n_terminals and g.nullable[g.ruleOf(symbol)] and g.rest_nullable[item + 1]);
        }
    }

    pub fn symbolOf(g: *const AugmentedGrammar, rule: usize) u32 {
        return g.n_terminals + 1 + @as(u32, @intCast(rule));
    }

    /// Of a symbol beyond the terminals.
    pub fn ruleOf(g: *const AugmentedGrammar, symbol: u32) u32 {
        return symbol - g.n_terminals - 1;
    }

    pub fn isRule(g: *const AugmentedGrammar, symbol: u32) bool {
        return symbol != none and symbol > g.n_terminals;
    }

    /// The productions of a rule, ascending.
    pub fn productionsOf(g: *const AugmentedGrammar, rule: usize) []const u16 {
        return g.rule_productions[g.rule_offsets[rule]..g.rule_offsets[rule + 1]];
    }

    /// The symbols of a production and a final `none`.
    pub fn itemsOf(g: *const AugmentedGrammar, production: usize) []const u32 {
        return g.after[g.first_items[production]..g.first_items[production + 1]];
    }

    /// The symbols before the dot.
    pub fn before(g: *const AugmentedGrammar, item: u32) []const u32 {
        return g.after[g.first_items[g.productions[item]]..item];
    }
};

/// Marks in `closed` every rule with a production whose `remaining` falls to zero, when a rule's
/// closing lowers it by one for each of its occurrences. Only productions that matter count.
pub fn closeUpwards(ctx: *const Context, grammar: *const Bnf, matters: []const bool, remaining: []u32, closed: []bool) Error!void {
    var edges: std.ArrayList(graph.Edge) = .empty;
    const ready = try ctx.alloc(u32, grammar.rules.len);
    var n_ready: usize = 0;
    for (grammar.productions, matters, remaining, 0..) |production, matter, left, p| {
        if (p % 256 == 0) try ctx.check();
        if (!matter) continue;
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => {},
            .rule => |r| try ctx.append(&edges, .{ .from = r, .to = @intCast(p) }),
        };
        if (left == 0 and !closed[production.rule]) {
            closed[production.rule] = true;
            ready[n_ready] = production.rule;
            n_ready += 1;
        }
    }
    const occurrences: Graph = try .init(ctx, grammar.rules.len, edges.items, null);
    while (n_ready > 0) {
        n_ready -= 1;
        for (occurrences.of(ready[n_ready])) |p| {
            remaining[p] -= 1;
            const rule = grammar.productions[p].rule;
            if (remaining[p] > 0 or closed[rule]) continue;
            closed[rule] = true;
            ready[n_ready] = rule;
            n_ready += 1;
        }
    }
}
