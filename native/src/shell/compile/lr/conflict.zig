//! A conflict in words: the two items, and a shortest sentence that comes to where they meet.

const std = @import("std");
const flat_module = @import("flat.zig");
const Flat = flat_module.Flat;
const Automaton = @import("lr_automaton.zig").Automaton;
const Closure = @import("closure.zig").Closure;
const Conflict = @import("settle.zig").Conflict;
const Lalr = @import("lalr.zig").Lalr;
const Yields = @import("yields.zig").Yields;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const sets = @import("sets.zig");
const show = @import("show.zig");
const message = @import("message");
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

/// Terminals of an example, counted from its end.
const example_max = 24;

/// `lalr` if the automaton is LR(0) with LALR lookaheads; then a shift and a reduction meet.
pub fn fail(w: *const Work, f: *const Flat, a: *const Automaton, lalr: ?*const Lalr, conflict: Conflict, n_more: u32) Error {
    const yields: Yields = try .init(w, f);
    var prefix: std.ArrayList(u32) = .empty;
    if (lalr) |l| {
        try appendLookBack(w, f, a, l, &yields, conflict, &prefix);
    } else {
        const paths = try cheapestStates(w, a, &yields);
        try appendPath(w, a, &paths, conflict.state, &prefix);
    }
    var buffer: [example_max]u32 = undefined;
    const example = try yields.last(w, prefix.items, &buffer);

    const production = a.reductions.items[conflict.reduction];
    const reduced = f.first_items[production + 1] - 1;
    const other = if (conflict.other_reduction) |r| f.first_items[a.reductions.items[r] + 1] - 1 else try shiftItem(w, f, a, conflict);
    var more_buffer: [64]u8 = undefined;
    const more: []const u8 = if (n_more == 0) "" else message.print(&more_buffer, "; and {d} more of them", .{n_more});
    return w.diag.fail(.grammar, "{f}conflict on {f}: {s}   {f}   or reduce   {f}   ; example: {f}{s}", .{
        show.place(f.grammar.productions[production].place),
        show.symbolOf(f, conflict.terminal),
        @as([]const u8, if (conflict.other_reduction == null) "shift in" else "reduce"),
        show.item(f, other),
        show.item(f, reduced),
        show.sentence(f, example.terminals, example.cut, conflict.terminal),
        more,
    });
}

/// An item of the state that shifts the terminal.
fn shiftItem(w: *const Work, f: *const Flat, a: *const Automaton, conflict: Conflict) Error!u32 {
    for (a.kernelOf(conflict.state)) |item| {
        if (f.after[item] == conflict.terminal) return item;
    }
    var closure: Closure = try .init(w, f, null);
    try closure.close(w, a.kernelOf(conflict.state), &.{});
    for (closure.found()) |rule| {
        for (f.productionsOf(rule)) |p| {
            if (f.after[f.first_items[p]] == conflict.terminal) return f.first_items[p];
        }
    }
    unreachable;
}

fn cheapestStates(w: *const Work, a: *const Automaton, yields: *const Yields) Error!graph.Paths {
    const costs = try w.alloc(u64, a.symbols.items.len);
    for (costs, a.symbols.items) |*cost, symbol| cost.* = yields.of(symbol);
    const g: Graph = .{ .offsets = a.transition_offsets.items, .targets = a.targets.items };
    return graph.cheapest(w, &g, costs, &.{.{ .node = 0, .cost = 0 }});
}

fn appendPath(w: *const Work, a: *const Automaton, paths: *const graph.Paths, state: u32, prefix: *std.ArrayList(u32)) Error!void {
    var at = state;
    while (at != 0) : (at = paths.from[at]) try w.append(prefix, a.symbols.items[paths.edges[at]]);
    std.mem.reverse(u32, prefix.items);
}

/// Symbols after which the reduction really can be followed by the terminal: those before a step
/// that reads it, and of every production that ends in between.
fn appendLookBack(
    w: *const Work,
    f: *const Flat,
    a: *const Automaton,
    l: *const Lalr,
    yields: *const Yields,
    conflict: Conflict,
    prefix: *std.ArrayList(u32),
) Error!void {
    const reduced = f.first_items[a.reductions.items[conflict.reduction] + 1] - 1;
    var sources: std.ArrayList(graph.Source) = .empty;
    for (l.look_backs.items) |one| {
        if (one.reduction != conflict.reduction) continue;
        try w.append(&sources, .{ .node = one.step, .cost = yields.ofAll(f.before(reduced)) });
    }
    const costs = try w.alloc(u64, l.include_items.len);
    for (costs, l.include_items) |*cost, item| cost.* = yields.ofAll(f.before(item));
    const outwards = try graph.cheapest(w, &l.includes, costs, sources.items);
    const states = try cheapestStates(w, a, yields);

    var outermost: usize = 0;
    var cheapest: u64 = graph.Paths.unreached;
    for (l.steps, outwards.costs, 0..) |step, cost, number| {
        if (cost == graph.Paths.unreached or !sets.has(sets.row(l.reads, number, f.words), conflict.terminal)) continue;
        const whole = @min(cost +| states.costs[step.from], graph.Paths.unreached - 1);
        if (whole >= cheapest) continue;
        cheapest = whole;
        outermost = number;
    }
    try appendPath(w, a, &states, l.steps[outermost].from, prefix);
    var step = outermost;
    while (outwards.edges[step] != graph.Paths.no_edge) : (step = outwards.from[step]) {
        try w.appendSlice(prefix, f.before(l.include_items[outwards.edges[step]]));
    }
    try w.appendSlice(prefix, f.before(reduced));
}
