//! Whether LALR(1) and canonical LR(1) drop the same shifts, so that LALR(1) will do. Where precedence prefers a reduction, the
//! merged lookaheads of LALR(1) may drop a shift that some canonical state keeps, because there the terminal cannot follow the
//! reduction. That cannot be where the terminal is a lookahead on every path to the state. The lookaheads that all paths have in
//! common are found on the LR(0) automaton, as data-flow analysis finds what holds on all paths: the greatest fixed point, by a
//! worklist ("A Unified Approach to Global Program Optimization", G. A. Kildall, 1973).

const std = @import("std");
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const FirstSets = @import("first_sets.zig").FirstSets;
const Closure = @import("closure.zig").Closure;
const Automaton = @import("lr_automaton.zig").Automaton;
const DroppedShift = @import("conflict_resolution.zig").DroppedShift;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Whether canonical LR(1) drops each of these shifts in all its states. False may also mean that it is not certain. `a` is the
/// LR(0) automaton that they were dropped from.
pub fn canonicalDropsAll(
    ctx: *const Context,
    g: *const AugmentedGrammar,
    first: *const FirstSets,
    a: *const Automaton,
    dropped: []const DroppedShift,
) Error!bool {
    var m: CommonLookaheads = .{
        .g = g,
        .a = a,
        .closure = try .init(ctx, g, first),
        .kernel_sets = try ctx.filled(u64, a.kernels.items.len * g.words, std.math.maxInt(u64)),
    };
    try m.solve(ctx);
    for (dropped) |one| {
        const production = a.reductions.items[one.reduction];
        if (!sets.has(try m.lookaheadsOfReduction(ctx, one.state, production), one.terminal)) return false;
    }
    return true;
}

const CommonLookaheads = struct {
    g: *const AugmentedGrammar,
    a: *const Automaton,
    closure: Closure,
    /// [kernel item * words]: the lookaheads that all paths have in common. They shrink from everything to the greatest fixed
    /// point.
    kernel_sets: []u64,

    fn solve(m: *CommonLookaheads, ctx: *const Context) Error!void {
        const n = m.a.nStates();
        @memset(m.setsOf(0), 0);
        const ring = try ctx.alloc(u32, n);
        const waiting = try ctx.filled(bool, n, false);
        ring[0] = 0;
        waiting[0] = true;
        var head: usize = 0;
        var n_waiting: usize = 1;
        const visited = try ctx.filled(bool, n, false);
        while (n_waiting > 0) {
            try ctx.check();
            const state = ring[head];
            head = (head + 1) % n;
            n_waiting -= 1;
            waiting[state] = false;
            visited[state] = true;
            try m.closure.close(ctx, m.a.kernelOf(state), m.setsOf(state));
            const range = m.a.transitionsOf(state);
            for (m.a.targets.items[range.start..range.end]) |target| {
                const shrunk = m.meetKernel(state, target);
                if (waiting[target] or !(shrunk or !visited[target])) continue;
                waiting[target] = true;
                ring[(head + n_waiting) % n] = target;
                n_waiting += 1;
            }
        }
    }

    /// Intersects the target's kernel with the lookaheads that its items have in `state`. Whether any was lost.
    fn meetKernel(m: *CommonLookaheads, state: u32, target: u32) bool {
        var shrunk = false;
        const to = m.setsOf(target);
        for (m.a.kernelOf(target), 0..) |item, i| {
            const set = m.lookaheadsOf(state, item - 1);
            if (sets.intersect(sets.row(to, i, m.g.words), set)) shrunk = true;
        }
        return shrunk;
    }

    /// The lookaheads of an item of `state`, which must be the one closed last.
    fn lookaheadsOf(m: *const CommonLookaheads, state: u32, item: u32) []const u64 {
        for (m.a.kernelOf(state), 0..) |one, i| {
            if (one == item) return sets.row(m.setsOf(state), i, m.g.words);
        }
        return sets.row(m.closure.lookaheads, m.g.rules[m.g.productions[item]], m.g.words);
    }

    fn lookaheadsOfReduction(m: *CommonLookaheads, ctx: *const Context, state: u32, production: u16) Error![]const u64 {
        try m.closure.close(ctx, m.a.kernelOf(state), m.setsOf(state));
        return m.lookaheadsOf(state, m.g.first_items[production + 1] - 1);
    }

    fn setsOf(m: *const CommonLookaheads, state: u32) []u64 {
        const offsets = m.a.kernel_offsets.items;
        return m.kernel_sets[@as(usize, offsets[state]) * m.g.words .. @as(usize, offsets[state + 1]) * m.g.words];
    }
};
