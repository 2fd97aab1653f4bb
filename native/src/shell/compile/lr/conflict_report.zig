//! A conflict as a message: the two items, and a shortest sentence that leads to the conflict. For LALR(1) the sentence is found
//! backwards along the relations that gave the lookahead, so that the lookahead really can follow, which is the part of a
//! counterexample that users need ("Finding Counterexamples from Parsing Conflicts", C. Isradisaikul and A. C. Myers, 2015).

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const Automaton = @import("lr_automaton.zig").Automaton;
const Closure = @import("closure.zig").Closure;
const Conflict = @import("conflict_resolution.zig").Conflict;
const LalrLookaheads = @import("lalr.zig").LalrLookaheads;
const ShortestSentences = @import("shortest_sentences.zig").ShortestSentences;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const sets = @import("sets.zig");
const fmt = @import("fmt.zig");
const message = @import("message");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Terminals of the example that are shown, counted from its end.
const example_max = 24;

/// Always fails, with ELIZA_ERR_GRAMMAR. `lalr` is given if the automaton has LALR(1) lookaheads, and then the conflict must be
/// between a shift and a reduction. `n_more`: other conflicts, which the message only counts.
pub fn fail(
    ctx: *const Context,
    g: *const AugmentedGrammar,
    a: *const Automaton,
    lalr: ?*const LalrLookaheads,
    conflict: Conflict,
    n_more: u32,
) Error {
    const sentences: ShortestSentences = try .init(ctx, g);
    var prefix: ArrayList(u32) = .empty;
    if (lalr) |l| {
        try appendLookback(ctx, g, a, l, &sentences, conflict, &prefix);
    } else {
        const paths = try cheapestStates(ctx, a, &sentences);
        try appendPath(ctx, a, &paths, conflict.state, &prefix);
    }
    var buffer: [example_max]u32 = undefined;
    const example = try sentences.suffix(ctx, prefix.items, &buffer);

    const production = a.reductions.items[conflict.reduction];
    const reduced = g.first_items[production + 1] - 1;
    const other = if (conflict.other_reduction) |r| g.first_items[a.reductions.items[r] + 1] - 1 else try shiftItem(ctx, g, a, conflict);
    var more_buffer: [64]u8 = undefined;
    const more: []const u8 = if (n_more == 0) "" else message.print(&more_buffer, "; and {d} more of them", .{n_more});
    return ctx.diag.fail(.grammar, "{f}conflict on {f}: {s}   {f}   or reduce   {f}   ; example: {f}{s}", .{
        fmt.place(g.bnf.productions[production].place),
        fmt.symbolOf(g, conflict.terminal),
        @as([]const u8, if (conflict.other_reduction == null) "shift in" else "reduce"),
        fmt.item(g, other),
        fmt.item(g, reduced),
        fmt.sentence(g, example.terminals, example.is_cut, conflict.terminal),
        more,
    });
}

/// An item of the state that shifts the terminal.
fn shiftItem(ctx: *const Context, g: *const AugmentedGrammar, a: *const Automaton, conflict: Conflict) Error!u32 {
    for (a.kernelOf(conflict.state)) |item| {
        if (g.after[item] == conflict.terminal) return item;
    }
    var closure: Closure = try .init(ctx, g, null);
    try closure.close(ctx, a.kernelOf(conflict.state), &.{});
    for (closure.found()) |rule| {
        for (g.productionsOf(rule)) |p| {
            if (g.after[g.first_items[p]] == conflict.terminal) return g.first_items[p];
        }
    }
    unreachable;
}

fn cheapestStates(ctx: *const Context, a: *const Automaton, sentences: *const ShortestSentences) Error!graph.Paths {
    const costs = try ctx.alloc(u64, a.symbols.items.len);
    for (costs, a.symbols.items) |*cost, symbol| cost.* = sentences.of(symbol);
    const transitions: Graph = .{ .offsets = a.transition_offsets.items, .targets = a.targets.items };
    return graph.shortestPaths(ctx, &transitions, costs, &.{.{ .node = 0, .cost = 0 }});
}

fn appendPath(ctx: *const Context, a: *const Automaton, paths: *const graph.Paths, state: u32, prefix: *ArrayList(u32)) Error!void {
    var at = state;
    while (at != 0) : (at = paths.from[at]) try ctx.append(prefix, a.symbols.items[paths.edges[at]]);
    std.mem.reverse(u32, prefix.items);
}

/// Symbols after which the terminal really can follow the reduction: those on the cheapest path to a goto that reads it, and
/// those of every production that ends between that goto and the reduction.
fn appendLookback(
    ctx: *const Context,
    g: *const AugmentedGrammar,
    a: *const Automaton,
    l: *const LalrLookaheads,
    sentences: *const ShortestSentences,
    conflict: Conflict,
    prefix: *ArrayList(u32),
) Error!void {
    const reduced = g.first_items[a.reductions.items[conflict.reduction] + 1] - 1;
    var sources: ArrayList(graph.Source) = .empty;
    for (l.lookbacks.items) |one| {
        if (one.reduction != conflict.reduction) continue;
        try ctx.append(&sources, .{ .node = one.goto, .cost = sentences.ofAll(g.before(reduced)) });
    }
    const costs = try ctx.alloc(u64, l.include_items.len);
    for (costs, l.include_items) |*cost, item| cost.* = sentences.ofAll(g.before(item));
    const outwards = try graph.shortestPaths(ctx, &l.includes, costs, sources.items);
    const states = try cheapestStates(ctx, a, sentences);

    var outermost: usize = 0;
    var cheapest: u64 = graph.Paths.unreached;
    for (l.gotos, outwards.costs, 0..) |goto, cost, number| {
        if (cost == graph.Paths.unreached or !sets.has(sets.row(l.read_sets, number, g.words), conflict.terminal)) continue;
        const whole = @min(cost +| states.costs[goto.from], graph.Paths.unreached - 1);
        if (whole >= cheapest) continue;
        cheapest = whole;
        outermost = number;
    }
    try appendPath(ctx, a, &states, l.gotos[outermost].from, prefix);
    var goto = outermost;
    while (outwards.edges[goto] != graph.Paths.no_edge) : (goto = outwards.from[goto]) {
        try ctx.appendSlice(prefix, g.before(l.include_items[outwards.edges[goto]]));
    }
    try ctx.appendSlice(prefix, g.before(reduced));
}
