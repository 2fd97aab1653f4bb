//! The closure of a state's kernel: the rules that its items may begin with next, and the lookaheads of these rules.

const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const FirstSets = @import("first_sets.zig").FirstSets;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Scratch memory, used for one state after the other: each `close` replaces what the one before found. A closure is a list of
/// rules, not of items: it has all productions of a rule, with the dot at the beginning and the same lookaheads.
pub const Closure = struct {
    grammar: *const AugmentedGrammar,
    /// null: no lookaheads are computed.
    first: ?*const FirstSets,
    /// The rules, in the order in which they were found.
    rules: []u32,
    n: usize = 0,
    /// [rule]: the number of the `close` that found it last, from 1.
    stamps: []u32,
    stamp: u32 = 0,
    /// [rule * words]: the terminals that can follow the rule in this state. Only those of `found` are valid.
    lookaheads: []u64,

    /// Takes memory for all rules, with lookaheads only if `first` is given.
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar, first: ?*const FirstSets) Error!Closure {
        return .{
            .grammar = g,
            .first = first,
            .rules = try ctx.alloc(u32, g.n_rules),
            .stamps = try ctx.filled(u32, g.n_rules, 0),
            .lookaheads = try ctx.alloc(u64, if (first == null) 0 else @as(usize, g.n_rules) * g.words),
        };
    }

    /// The rules of the closure, until the next `close`.
    pub fn found(c: *const Closure) []const u32 {
        return c.rules[0..c.n];
    }

    /// `kernel_sets` [kernel item * words]: the lookaheads of each item; empty if none are computed. Lookaheads are found by
    /// sweeps over the closure, to a fixed point.
    pub fn close(c: *Closure, ctx: *const Context, kernel: []const u32, kernel_sets: []const u64) Error!void {
        c.n = 0;
        c.stamp += 1;
        for (kernel) |item| c.addRule(c.grammar.after[item]);
        var i: usize = 0;
        while (i < c.n) : (i += 1) {
            if (i % 256 == 255) try ctx.check();
            for (c.grammar.productionsOf(c.rules[i])) |p| c.addRule(c.grammar.after[c.grammar.first_items[p]]);
        }
        if (c.first) |first| try c.closeLookaheads(ctx, first, kernel, kernel_sets);
    }

    fn addRule(c: *Closure, symbol: u32) void {
        if (!c.grammar.isRule(symbol)) return;
        const rule = c.grammar.ruleOf(symbol);
        if (c.stamps[rule] == c.stamp) return;
        c.stamps[rule] = c.stamp;
        c.rules[c.n] = rule;
        c.n += 1;
    }

    fn closeLookaheads(
        c: *Closure,
        ctx: *const Context,
        first: *const FirstSets,
        kernel: []const u32,
        kernel_sets: []const u64,
    ) Error!void {
        const g = c.grammar;
        for (c.found()) |rule| @memset(sets.row(c.lookaheads, rule, g.words), 0);
        for (kernel, 0..) |item, i| _ = c.addLookaheads(first, item, sets.row(kernel_sets, i, g.words));
        var growing = true;
        while (growing) {
            growing = false;
            try ctx.check();
            for (c.found()) |rule| {
                const behind = sets.row(c.lookaheads, rule, g.words);
                for (g.productionsOf(rule)) |p| {
                    if (c.addLookaheads(first, g.first_items[p], behind)) growing = true;
                }
            }
        }
    }

    /// Adds the lookaheads that an item, itself followed by `behind`, gives to the rule after its dot. Whether any was new.
    fn addLookaheads(c: *Closure, first: *const FirstSets, item: u32, behind: []const u64) bool {
        const g = c.grammar;
        if (!g.isRule(g.after[item])) return false;
        const set = sets.row(c.lookaheads, g.ruleOf(g.after[item]), g.words);
        var grown = sets.unite(set, sets.row(first.rest, item + 1, g.words));
        if (g.rest_nullable[item + 1] and sets.unite(set, behind)) grown = true;
        return grown;
    }
};
