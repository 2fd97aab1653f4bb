//! The tables of an LR(1) parser for a grammar: LALR(1) where that is enough, canonical LR(1) where
//! only it decides. Every table is flat, so that it can be saved and mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Grammar = @import("grammar.zig").Grammar;
const reduce = @import("reduce.zig");
const Flat = @import("flat.zig").Flat;
const First = @import("first.zig").First;
const Automaton = @import("lr_automaton.zig").Automaton;
const Lalr = @import("lalr.zig").Lalr;
const Settled = @import("settle.zig").Settled;
const must = @import("must.zig");
const merge = @import("merge.zig");
const conflict = @import("conflict.zig");
const work_module = @import("work.zig");
const Work = work_module.Work;

pub const Error = work_module.Error;

/// Remarks on a grammar that compiles: a line each, `line:column: ...` where there is a place.
pub const Notes = std.ArrayList([]const u8);

/// Rules, productions and terminals have the numbers that they have in the grammar; those that the
/// construction dropped are in no action. End of input is terminal `n_terminals`. Immutable, hence
/// safe from any thread.
pub const Tables = struct {
    n_states: u32,
    /// Without end of input.
    n_terminals: u32,
    n_rules: u32,
    n_productions: u32,
    /// Of 64 bits, for each set of terminals with end of input.
    words: u32,
    /// Where shifting end of input leads. It has no actions.
    accepting: u16,
    /// [state * words]: the terminals that a state shifts.
    shift_sets: []u64,
    /// [state * (n_terminals + 1) + terminal] -> state. Means something only where `shift_sets` has
    /// the terminal.
    shifts: []u16,
    /// [n_states + 1]: where the reductions of a state begin.
    reduction_offsets: []u32,
    /// The production of each reduction.
    reduction_productions: []u16,
    /// [reduction * words]: the lookaheads of each reduction. Those of a state share no terminal with
    /// each other nor with what the state shifts. A lookahead may turn out not to be viable, but
    /// only before it is shifted.
    reduction_sets: []u64,
    /// [production]
    production_rules: []u16,
    /// [production], in symbols.
    production_lengths: []u16,
    /// [state * n_rules + rule] -> state. 0: none.
    gotos: []u16,

    pub fn deinit(t: *Tables, gpa: Allocator) void {
        gpa.free(t.shift_sets);
        gpa.free(t.shifts);
        gpa.free(t.reduction_offsets);
        gpa.free(t.reduction_productions);
        gpa.free(t.reduction_sets);
        gpa.free(t.production_rules);
        gpa.free(t.production_lengths);
        gpa.free(t.gotos);
        t.* = undefined;
    }
};

/// The caller owns the result, which is made with `gpa`. Scratch memory and notes live in `arena`.
/// `found` [terminal]: whether the lexer ever finds it.
/// Notes: terminals that are never found, rules that can never end and rules that are not used; all are
/// left out.
/// ELIZA_ERR_GRAMMAR: the start rule can never end, a rule that derives itself, left recursion
/// behind what can be empty, a conflict that no precedence settles.
pub fn build(gpa: Allocator, arena: Allocator, grammar: *const Grammar, found: []const bool, notes: *Notes, budget: *Budget, diag: *Diagnostic) Error!Tables {
    const w: Work = .{ .arena = arena, .budget = budget, .diag = diag };
    try checkLimits(grammar, diag);
    const kept = try reduce.usable(&w, grammar, found, notes);
    const f: Flat = try .init(&w, grammar, kept);
    try reduce.refuseLoops(&w, &f);

    var automaton: Automaton = try .init(&w, &f, null);
    const lalr: Lalr = try .init(&w, &f, &automaton);
    var settled: Settled = try .init(&w, &f, &automaton);
    // Merging states makes no such conflict, so canonical LR(1) has it, too.
    if (settled.shift_reduce) |one| {
        return conflict.fail(&w, &f, &automaton, &lalr, one, settled.n_shift_reduce - 1);
    }
    if (try needsCanonical(&w, &f, &automaton, &settled)) |first| {
        automaton = try .init(&w, &f, &first);
        settled = try .init(&w, &f, &automaton);
        if (settled.reduce_reduce) |one| {
            return conflict.fail(&w, &f, &automaton, null, one, settled.n_reduce_reduce - 1);
        }
        const merged = try merge.merge(&w, &f, &automaton, settled.shift_sets);
        automaton = merged.automaton;
        settled.shift_sets = merged.shift_sets;
    }
    return layOut(gpa, &f, &automaton, settled.shift_sets);
}

const numbers_max = std.math.maxInt(u16) - 1;

fn checkLimits(grammar: *const Grammar, diag: *Diagnostic) Error!void {
    const counts = .{
        .{ "terminals", grammar.terminals.len },
        .{ "rules, those of repetitions counted", grammar.rules.len },
        .{ "alternatives, those of repetitions counted", grammar.productions.len },
    };
    inline for (counts) |one| {
        if (one[1] > numbers_max) {
            return diag.fail(.limit, "the grammar has more than {d} {s}", .{ @as(u32, numbers_max), @as([]const u8, one[0]) });
        }
    }
    for (grammar.productions) |production| {
        if (production.symbols.len > numbers_max) {
            return diag.fail(.limit, "an alternative has more than {d} symbols", .{@as(u32, numbers_max)});
        }
    }
}

fn needsCanonical(w: *const Work, f: *const Flat, a: *const Automaton, settled: *const Settled) Error!?First {
    if (settled.reduce_reduce == null and settled.dropped.items.len == 0) return null;
    const first: First = try .init(w, f);
    if (settled.reduce_reduce != null) return first;
    return if (try must.allCanonical(w, f, &first, a, settled.dropped.items)) null else first;
}

/// The budget has been charged for the rows of the tables, state by state.
fn layOut(gpa: Allocator, f: *const Flat, a: *const Automaton, shift_sets: []const u64) Error!Tables {
    const n_states = a.nStates();
    const row = f.n_terminals + 1;
    const own_shift_sets = try gpa.dupe(u64, shift_sets);
    errdefer gpa.free(own_shift_sets);
    const shifts = try gpa.alloc(u16, @as(usize, n_states) * row);
    errdefer gpa.free(shifts);
    const reduction_offsets = try gpa.dupe(u32, a.reduction_offsets.items);
    errdefer gpa.free(reduction_offsets);
    const reduction_productions = try gpa.dupe(u16, a.reductions.items);
    errdefer gpa.free(reduction_productions);
    const reduction_sets = try gpa.dupe(u64, a.lookaheads.items);
    errdefer gpa.free(reduction_sets);
    const production_rules = try gpa.dupe(u16, f.rules[0..f.n_productions]);
    errdefer gpa.free(production_rules);
    const production_lengths = try gpa.alloc(u16, f.n_productions);
    errdefer gpa.free(production_lengths);
    const gotos = try gpa.alloc(u16, @as(usize, n_states) * f.n_rules);

    for (production_lengths, f.grammar.productions) |*length, production| length.* = @intCast(production.symbols.len);
    @memset(shifts, 0);
    @memset(gotos, 0);
    var accepting: u16 = 0;
    for (0..n_states) |state| {
        const range = a.transitionsOf(state);
        for (a.symbols.items[range.start..range.end], a.targets.items[range.start..range.end]) |symbol, target| {
            const to: u16 = @intCast(target);
            if (f.isRule(symbol)) {
                gotos[state * f.n_rules + f.ruleOf(symbol)] = to;
            } else {
                shifts[state * row + symbol] = to;
                if (symbol == f.n_terminals) accepting = to;
            }
        }
    }
    return .{
        .n_states = n_states,
        .n_terminals = f.n_terminals,
        .n_rules = f.n_rules,
        .n_productions = f.n_productions,
        .words = f.words,
        .accepting = accepting,
        .shift_sets = own_shift_sets,
        .shifts = shifts,
        .reduction_offsets = reduction_offsets,
        .reduction_productions = reduction_productions,
        .reduction_sets = reduction_sets,
        .production_rules = production_rules,
        .production_lengths = production_lengths,
        .gotos = gotos,
    };
}
