//! LALR(1) lookaheads for an LR(0) automaton: "Efficient Computation of LALR(1) Look-Ahead Sets", F. DeRemer and T. Pennello,
//! 1982. Each set is united once along each edge of three relations, where propagating lookaheads between kernels takes repeated
//! passes.
//!
//! A goto is a transition over a rule. A goto *reads* the goto right after it if that is over a rule that can be empty. A goto
//! *includes* another if its rule can end the other's rule: only what can be empty comes after it. A reduction *looks back* to
//! the gotos over its rule, and its lookaheads are what can follow these.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const none = augmented_grammar.none;
const Automaton = @import("lr_automaton.zig").Automaton;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// A transition over a rule, between two states.
pub const Goto = struct { from: u32, to: u32, rule: u32 };
/// Of a reduction (an index in the automaton) to a goto (an index in `gotos`).
pub const Lookback = struct { reduction: u32, goto: u32 };

/// What led to the lookaheads, which conflict reports follow backwards. Lives in the context's arena.
pub const LalrLookaheads = struct {
    /// By state, then by rule.
    gotos: []Goto,
    /// Its nodes are gotos.
    includes: Graph,
    /// [edge of `includes`]: the item of the included goto's production whose dot is at the goto that includes.
    include_items: []u32,
    lookbacks: ArrayList(Lookback),
    /// [goto * words]: the terminals that can come right after the goto, before the production that it is part of ends.
    read_sets: []u64,

    /// Fills `lookaheads` of an LR(0) automaton.
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar, a: *Automaton) Error!LalrLookaheads {
        var b: Builder = .{ .ctx = ctx, .g = g, .a = a };
        try b.findGotos();
        const read_sets = try b.findReadSets();
        try b.walkProductions();
        const places = try ctx.alloc(u32, b.include_edges.items.len);
        const includes: Graph = try .init(ctx, b.gotos.len, b.include_edges.items, places);
        const items = try ctx.alloc(u32, places.len);
        for (places, b.include_items.items) |place, item| items[place] = item;

        const follows = try ctx.alloc(u64, read_sets.len);
        @memcpy(follows, read_sets);
        try graph.uniteReachable(ctx, &includes, follows, g.words);
        const n_words = a.reductions.items.len * g.words;
        try ctx.reserve(&a.lookaheads, n_words);
        a.lookaheads.items.len = n_words;
        @memset(a.lookaheads.items, 0);
        for (b.lookbacks.items) |one| {
            _ = sets.unite(sets.row(a.lookaheads.items, one.reduction, g.words), sets.row(follows, one.goto, g.words));
        }
        return .{ .gotos = b.gotos, .includes = includes, .include_items = items, .lookbacks = b.lookbacks, .read_sets = read_sets };
    }
};

const Builder = struct {
    ctx: *const Context,
    g: *const AugmentedGrammar,
    a: *Automaton,
    gotos: []Goto = &.{},
    /// [transition]: the number of its goto, if it is over a rule.
    numbers: []u32 = &.{},
    include_edges: ArrayList(graph.Edge) = .empty,
    include_items: ArrayList(u32) = .empty,
    lookbacks: ArrayList(Lookback) = .empty,

    fn findGotos(b: *Builder) Error!void {
        const a = b.a;
        var n_gotos: u32 = 0;
        for (a.symbols.items) |symbol| n_gotos += @intFromBool(b.g.isRule(symbol));
        b.gotos = try b.ctx.alloc(Goto, n_gotos);
        b.numbers = try b.ctx.alloc(u32, a.symbols.items.len);
        n_gotos = 0;
        for (0..a.nStates()) |state| {
            const range = a.transitionsOf(state);
            for (range.start..range.end) |transition| {
                const symbol = a.symbols.items[transition];
                if (!b.g.isRule(symbol)) continue;
                b.numbers[transition] = n_gotos;
                b.gotos[n_gotos] = .{ .from = @intCast(state), .to = a.targets.items[transition], .rule = b.g.ruleOf(symbol) };
                n_gotos += 1;
            }
        }
    }

    fn findReadSets(b: *Builder) Error![]u64 {
        const a = b.a;
        const read_sets = try b.ctx.filled(u64, b.gotos.len * b.g.words, 0);
        var edges: ArrayList(graph.Edge) = .empty;
        for (b.gotos, 0..) |goto, number| {
            if (number % 128 == 0) try b.ctx.check();
            const set = sets.row(read_sets, number, b.g.words);
            const range = a.transitionsOf(goto.to);
            for (a.symbols.items[range.start..range.end], range.start..) |symbol, transition| {
                if (!b.g.isRule(symbol)) {
                    sets.add(set, symbol);
                } else if (b.g.nullable[b.g.ruleOf(symbol)]) {
                    try b.ctx.append(&edges, .{ .from = @intCast(number), .to = b.numbers[transition] });
                }
            }
        }
        if (edges.items.len > 0) {
            const reads: Graph = try .init(b.ctx, b.gotos.len, edges.items, null);
            try graph.uniteReachable(b.ctx, &reads, read_sets, b.g.words);
        }
        return read_sets;
    }

    fn walkProductions(b: *Builder) Error!void {
        for (b.gotos, 0..) |goto, number| {
            if (number % 32 == 0) try b.ctx.check();
            for (b.g.productionsOf(goto.rule)) |p| try b.walk(@intCast(number), goto.from, p);
        }
    }

    fn walk(b: *Builder, number: u32, from: u32, production: u16) Error!void {
        const g = b.g;
        var state = from;
        var item = g.first_items[production];
        while (g.after[item] != none) : (item += 1) {
            const symbol = g.after[item];
            const transition = b.a.transitionOver(state, symbol);
            if (g.isRule(symbol) and g.rest_nullable[item + 1]) {
                try b.ctx.append(&b.include_edges, .{ .from = b.numbers[transition], .to = number });
                try b.ctx.append(&b.include_items, item);
            }
            state = b.a.targets.items[transition];
        }
        try b.ctx.append(&b.lookbacks, .{ .reduction = b.a.reductionBy(state, production), .goto = number });
    }
};
