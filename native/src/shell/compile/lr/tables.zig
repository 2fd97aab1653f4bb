//! The tables of an LR(1) parser for a grammar: LALR(1) where that is enough, canonical LR(1) where
//! only it decides. Every table is flat, so that it can be saved and mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Grammar = @import("../grammar.zig").Grammar;
const reduce = @import("reduce.zig");
const Flat = @import("flat.zig").Flat;
const First = @import("first.zig").First;
const Automaton = @import("lr_automaton.zig").Automaton;
const Lalr = @import("lalr.zig").Lalr;
const Settled = @import("settle.zig").Settled;
const must = @import("must.zig");
const merge = @import("merge.zig");
const conflict = @import("conflict.zig");
const displace = @import("displace.zig").displace;
const work_module = @import("work.zig");
const Work = work_module.Work;

pub const Error = work_module.Error;

/// Remarks on a grammar that compiles: a line each, `line:column: ...` where there is a place.
pub const Notes = std.ArrayList([]const u8);

/// Rules, productions and terminals have the numbers that they have in the grammar; those that the
/// construction dropped are in no action. Symbols: terminals, end of input, which is `n_terminals`, then
/// rules. Immutable.
pub const Tables = struct {
    n_states: u32,
    /// Without end of input.
    n_terminals: u32,
    n_productions: u32,
    /// Of 64 bits, for each set of terminals with end of input.
    words: u32,
    /// [state * words]: the terminals that a state shifts.
    shift_sets: []const u64,
    /// [state]: where its transitions are, modulo 2^32.
    displacements: []const u32,
    /// [displacements[state] + symbol] -> state, where there is such a transition; else anything.
    transitions: []const u16,
    /// [n_states + 1]: where the reductions of a state begin.
    reduction_offsets: []const u32,
    /// The production of each reduction.
    reduction_productions: []const u16,
    /// [reduction * words]: the lookaheads of each reduction. Those of a state share no terminal with
    /// each other nor with what the state shifts. A lookahead may turn out not to be viable, but
    /// only before it is shifted.
    reduction_sets: []const u64,
    /// [production]: the symbol of its rule.
    production_symbols: []const u32,
    /// [production], in symbols.
    production_lengths: []const u16,

    /// Over a symbol that the state has a transition over.
    pub fn transition(t: *const Tables, state: usize, symbol: u32) u16 {
        return t.transitions[t.displacements[state] +% symbol];
    }
};

/// The result and notes live in `arena`, like all scratch memory.
/// `found` [terminal]: whether the lexer ever finds it.
/// Notes: terminals that are never found, rules that can never end and rules that are not used; all are
/// left out.
/// ELIZA_ERR_GRAMMAR: the start rule can never end, a rule that derives itself, left recursion
/// behind what can be empty, a conflict that no precedence settles.
pub fn build(
    arena: Allocator,
    grammar: *const Grammar,
    found: []const bool,
    notes: *Notes,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Tables {
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
    return layOut(&w, &f, &automaton, settled.shift_sets);
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

fn layOut(w: *const Work, f: *const Flat, a: *const Automaton, shift_sets: []const u64) Error!Tables {
    const table = try displace(w, a.transition_offsets.items, a.symbols.items, a.targets.items);
    const symbols = try w.alloc(u32, f.n_productions);
    const lengths = try w.alloc(u16, f.n_productions);
    for (symbols, lengths, f.grammar.productions) |*symbol, *length, production| {
        symbol.* = f.symbolOf(production.rule);
        length.* = @intCast(production.symbols.len);
    }
    return .{
        .n_states = a.nStates(),
        .n_terminals = f.n_terminals,
        .n_productions = f.n_productions,
        .words = f.words,
        .shift_sets = shift_sets,
        .displacements = table.displacements,
        .transitions = table.entries,
        .reduction_offsets = a.reduction_offsets.items,
        .reduction_productions = a.reductions.items,
        .reduction_sets = a.lookaheads.items,
        .production_symbols = symbols,
        .production_lengths = lengths,
    };
}
