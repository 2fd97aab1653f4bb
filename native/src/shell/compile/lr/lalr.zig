//! LALR(1) lookaheads for an LR(0) automaton: "Efficient Computation of LALR(1) Look-Ahead Sets",
//! F. DeRemer and T. Pennello, 1982. A step is a transition over a rule. A step reads another if
//! that comes right after it over a rule that can be empty; it includes another if it ends what the
//! other steps over, but for what can be empty; a reduction looks back to the steps over its rule.

const std = @import("std");
const flat_module = @import("flat.zig");
const Flat = flat_module.Flat;
const none = flat_module.none;
const Automaton = @import("lr_automaton.zig").Automaton;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

pub const Step = struct { from: u32, to: u32, rule: u32 };
pub const LookBack = struct { reduction: u32, step: u32 };

pub const Lalr = struct {
    /// By state, then by rule.
    steps: []Step,
    /// Between steps.
    includes: Graph,
    /// [edge of `includes`]: the item in the other's production that has its dot at the step.
    include_items: []u32,
    look_backs: std.ArrayList(LookBack),
    /// [step * words]: the terminals that can come after the step before its production ends.
    reads: []u64,

    /// Fills the lookaheads of the automaton.
    pub fn init(w: *const Work, f: *const Flat, a: *Automaton) Error!Lalr {
        var b: Builder = .{ .w = w, .f = f, .a = a };
        try b.findSteps();
        const reads = try b.read();
        try b.walkProductions();
        const places = try w.alloc(u32, b.include_edges.items.len);
        const includes: Graph = try .init(w, b.steps.len, b.include_edges.items, places);
        const items = try w.alloc(u32, places.len);
        for (places, b.include_items.items) |place, item| items[place] = item;

        const follows = try w.alloc(u64, reads.len);
        @memcpy(follows, reads);
        try graph.spread(w, &includes, follows, f.words);
        const n_words = a.reductions.items.len * f.words;
        try w.reserve(&a.lookaheads, n_words);
        a.lookaheads.items.len = n_words;
        @memset(a.lookaheads.items, 0);
        for (b.look_backs.items) |one| {
            _ = sets.unite(sets.row(a.lookaheads.items, one.reduction, f.words), sets.row(follows, one.step, f.words));
        }
        return .{ .steps = b.steps, .includes = includes, .include_items = items, .look_backs = b.look_backs, .reads = reads };
    }
};

const Builder = struct {
    w: *const Work,
    f: *const Flat,
    a: *Automaton,
    steps: []Step = &.{},
    /// [transition]: its step, if it is over a rule.
    numbers: []u32 = &.{},
    include_edges: std.ArrayList(graph.Edge) = .empty,
    include_items: std.ArrayList(u32) = .empty,
    look_backs: std.ArrayList(LookBack) = .empty,

    fn findSteps(b: *Builder) Error!void {
        const a = b.a;
        var n_steps: u32 = 0;
        for (a.symbols.items) |symbol| n_steps += @intFromBool(b.f.isRule(symbol));
        b.steps = try b.w.alloc(Step, n_steps);
        b.numbers = try b.w.alloc(u32, a.symbols.items.len);
        n_steps = 0;
        for (0..a.nStates()) |state| {
            const range = a.transitionsOf(state);
            for (range.start..range.end) |transition| {
                const symbol = a.symbols.items[transition];
                if (!b.f.isRule(symbol)) continue;
                b.numbers[transition] = n_steps;
                b.steps[n_steps] = .{ .from = @intCast(state), .to = a.targets.items[transition], .rule = b.f.ruleOf(symbol) };
                n_steps += 1;
            }
        }
    }

    fn read(b: *Builder) Error![]u64 {
        const a = b.a;
        const reads = try b.w.filled(u64, b.steps.len * b.f.words, 0);
        var edges: std.ArrayList(graph.Edge) = .empty;
        for (b.steps, 0..) |step, number| {
            if (number % 128 == 0) try b.w.check();
            const set = sets.row(reads, number, b.f.words);
            const range = a.transitionsOf(step.to);
            for (a.symbols.items[range.start..range.end], range.start..) |symbol, transition| {
                if (!b.f.isRule(symbol)) {
                    sets.add(set, symbol);
                } else if (b.f.nullable[b.f.ruleOf(symbol)]) {
                    try b.w.append(&edges, .{ .from = @intCast(number), .to = b.numbers[transition] });
                }
            }
        }
        if (edges.items.len > 0) {
            const g: Graph = try .init(b.w, b.steps.len, edges.items, null);
            try graph.spread(b.w, &g, reads, b.f.words);
        }
        return reads;
    }

    fn walkProductions(b: *Builder) Error!void {
        for (b.steps, 0..) |step, number| {
            if (number % 32 == 0) try b.w.check();
            for (b.f.productionsOf(step.rule)) |p| try b.walk(@intCast(number), step.from, p);
        }
    }

    fn walk(b: *Builder, number: u32, from: u32, production: u16) Error!void {
        const f = b.f;
        var state = from;
        var item = f.first_items[production];
        while (f.after[item] != none) : (item += 1) {
            const symbol = f.after[item];
            const transition = b.a.transitionOver(state, symbol);
            if (f.isRule(symbol) and f.rest_nullable[item + 1]) {
                try b.w.append(&b.include_edges, .{ .from = b.numbers[transition], .to = number });
                try b.w.append(&b.include_items, item);
            }
            state = b.a.targets.items[transition];
        }
        try b.w.append(&b.look_backs, .{ .reduction = b.a.reductionBy(state, production), .step = number });
    }
};
