//! The tables of an LR(1) parser for a grammar: LALR(1) where that is enough, canonical LR(1) where
//! only it decides. Every table is flat, so that it can be saved and mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Bnf = @import("../bnf.zig").Bnf;
const useless_rules = @import("useless_rules.zig");
const recursion = @import("recursion.zig");
const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const FirstSets = @import("first_sets.zig").FirstSets;
const Automaton = @import("lr_automaton.zig").Automaton;
const LalrLookaheads = @import("lalr.zig").LalrLookaheads;
const Resolution = @import("conflict_resolution.zig").Resolution;
const common_lookaheads = @import("common_lookaheads.zig");
const merge_states = @import("merge_states.zig");
const conflict_report = @import("conflict_report.zig");
const displaceRows = @import("row_displacement.zig").displaceRows;
const context = @import("context.zig");
const Context = context.Context;

pub const Error = context.Error;

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
    grammar: *const Bnf,
    found: []const bool,
    notes: *Notes,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Tables {
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    try checkLimits(grammar, diag);
    const kept = try useless_rules.findUseful(&ctx, grammar, found, notes);
    const g: AugmentedGrammar = try .init(&ctx, grammar, kept);
    try recursion.check(&ctx, &g);

    var automaton: Automaton = try .init(&ctx, &g, null);
    const lalr: LalrLookaheads = try .init(&ctx, &g, &automaton);
    var resolution: Resolution = try .init(&ctx, &g, &automaton);
    // Merging states makes no such conflict, so canonical LR(1) has it, too.
    if (resolution.shift_reduce) |one| {
        return conflict_report.fail(&ctx, &g, &automaton, &lalr, one, resolution.n_shift_reduce - 1);
    }
    if (try needsCanonical(&ctx, &g, &automaton, &resolution)) |first| {
        automaton = try .init(&ctx, &g, &first);
        resolution = try .init(&ctx, &g, &automaton);
        if (resolution.reduce_reduce) |one| {
            return conflict_report.fail(&ctx, &g, &automaton, null, one, resolution.n_reduce_reduce - 1);
        }
        const merged = try merge_states.mergeStates(&ctx, &g, &automaton, resolution.shift_sets);
        automaton = merged.automaton;
        resolution.shift_sets = merged.shift_sets;
    }
    return layOut(&ctx, &g, &automaton, resolution.shift_sets);
}

const numbers_max = std.math.maxInt(u16) - 1;

fn checkLimits(grammar: *const Bnf, diag: *Diagnostic) Error!void {
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

fn needsCanonical(ctx: *const Context, g: *const AugmentedGrammar, a: *const Automaton, resolution: *const Resolution) Error!?FirstSets {
    if (resolution.reduce_reduce == null and resolution.dropped.items.len == 0) return null;
    const first: FirstSets = try .init(ctx, g);
    if (resolution.reduce_reduce != null) return first;
    return if (try common_lookaheads.canonicalDropsAll(ctx, g, &first, a, resolution.dropped.items)) null else first;
}

fn layOut(ctx: *const Context, g: *const AugmentedGrammar, a: *const Automaton, shift_sets: []const u64) Error!Tables {
    const table = try displaceRows(ctx, a.transition_offsets.items, a.symbols.items, a.targets.items);
    const symbols = try ctx.alloc(u32, g.n_productions);
    const lengths = try ctx.alloc(u16, g.n_productions);
    for (symbols, lengths, g.bnf.productions) |*symbol, *length, production| {
        symbol.* = g.symbolOf(production.rule);
        length.* = @intCast(production.symbols.len);
    }
    return .{
        .n_states = a.nStates(),
        .n_terminals = g.n_terminals,
        .n_productions = g.n_productions,
        .words = g.words,
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
