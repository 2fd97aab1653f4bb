//! The tables of an LR(1) parser for a grammar: LALR(1) where that accepts the same language without conflicts, else canonical
//! LR(1) with its states merged. The canonical automaton can be many times larger, so it is built only where it is needed. Every
//! table is one array, so that it can be saved and mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
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

const Error = context.Error;

/// Remarks on a grammar that compiles, a line each: "line:column: " if it has a place, and a text.
pub const Warnings = ArrayList([]const u8);

/// Rules, productions and terminals keep their numbers from the grammar; those that were left out are in no action. Symbols are
/// the terminals, end of input, which is `n_terminals`, then the rules. State 0 is the start. Immutable.
pub const Tables = struct {
    n_states: u32,
    /// End of input not counted.
    n_terminals: u32,
    n_productions: u32,
    /// 64-bit words of each set of terminals and end of input.
    words: u32,
    /// [state * words]: the terminals that a state shifts.
    shift_sets: []const u64,
    /// [state]: where its transitions are, modulo 2^32 (row_displacement.zig).
    displacements: []const u32,
    /// [displacements[state] + symbol] -> state, if there is such a transition; if not, any value.
    transitions: []const u16,
    /// The state of each of them.
    owners: []const u16,
    /// [n_states + 1]: where the reductions of a state begin.
    reduction_offsets: []const u32,
    /// The production of each reduction.
    reduction_productions: []const u16,
    /// [reduction * words]: the lookaheads of each reduction. Those of a state share no terminal with each other or with what the
    /// state shifts. A lookahead may turn out not to be viable, but always before it is shifted.
    reduction_sets: []const u64,
    /// [production]: the symbol of its rule.
    production_symbols: []const u32,
    /// [production]: the number of its symbols.
    production_lengths: []const u16,
    /// Whether a state has several actions on one terminal: see `Conflicts.keep`.
    has_conflicts: bool = false,

    /// The state after `symbol`, over which `state` must have a transition.
    pub fn transition(t: *const Tables, state: usize, symbol: u32) u16 {
        return t.transitions[t.displacements[state] +% symbol];
    }
};

/// What becomes of conflicts that no precedence resolves.
pub const Conflicts = enum {
    /// ELIZA_ERR_GRAMMAR. So are a rule that derives itself, and left recursion behind what can be empty.
    refuse,
    /// The parser reads on. All else is refused.
    shift,
    /// They stay in the tables of LALR(1). No rule may derive itself, nor lead to itself behind what can be empty.
    keep,
};

/// The result and the warnings live in `arena`, as all scratch memory does. `found` [terminal]: whether the lexer ever finds it.
/// Terminals that are never found, rules that can never end and rules that are not used are left out, each with a warning.
/// ELIZA_ERR_GRAMMAR: the start rule can never end, or what `conflicts` refuses. ELIZA_ERR_LIMIT: more than 16-bit numbers can
/// count, or than the budget allows.
pub fn build(
    arena: Allocator,
    grammar: *const Bnf,
    found: []const bool,
    conflicts: Conflicts,
    warnings: *Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Tables {
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    try checkLimits(grammar, diag);
    const kept = try useless_rules.findUseful(&ctx, grammar, found, warnings);
    const g: AugmentedGrammar = try .init(&ctx, grammar, kept);
    if (conflicts != .keep) try recursion.check(&ctx, &g);

    var automaton: Automaton = try .init(&ctx, &g, null);
    const lalr: LalrLookaheads = try .init(&ctx, &g, &automaton);
    var resolution: Resolution = try .init(&ctx, &g, &automaton, conflicts == .shift);
    if (conflicts == .keep and (resolution.shift_reduce != null or resolution.reduce_reduce != null)) {
        return layOut(&ctx, &g, &automaton, resolution.shift_sets, true);
    }
    // Canonical LR(1) has it too: merging lookaheads never causes a shift-reduce conflict.
    if (resolution.shift_reduce) |one| {
        return conflict_report.fail(&ctx, &g, &automaton, &lalr, one, resolution.n_shift_reduce - 1);
    }
    if (try needsCanonical(&ctx, &g, &automaton, &resolution)) |first| {
        automaton = try .init(&ctx, &g, &first);
        resolution = try .init(&ctx, &g, &automaton, conflicts == .shift);
        if (resolution.reduce_reduce) |one| {
            return conflict_report.fail(&ctx, &g, &automaton, null, one, resolution.n_reduce_reduce - 1);
        }
        const merged = try merge_states.mergeStates(&ctx, &g, &automaton, resolution.shift_sets);
        automaton = merged.automaton;
        resolution.shift_sets = merged.shift_sets;
    }
    return layOut(&ctx, &g, &automaton, resolution.shift_sets, false);
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

fn layOut(
    ctx: *const Context,
    g: *const AugmentedGrammar,
    a: *const Automaton,
    shift_sets: []const u64,
    has_conflicts: bool,
) Error!Tables {
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
        .owners = table.owners,
        .reduction_offsets = a.reduction_offsets.items,
        .reduction_productions = a.reductions.items,
        .reduction_sets = a.lookaheads.items,
        .production_symbols = symbols,
        .production_lengths = lengths,
        .has_conflicts = has_conflicts,
    };
}

test "so many terminals, rules and alternatives, and one more" {
    inline for (.{ "terminals", "rules", "productions" }) |name| for ([_]usize{ numbers_max, numbers_max + 1 }) |n| {
        var grammar: Bnf = .{ .terminals = &.{}, .rules = &.{}, .productions = &.{}, .start = 0 };
        const gpa = std.testing.allocator;
        const list = try gpa.alloc(std.meta.Elem(@FieldType(Bnf, name)), n);
        defer gpa.free(list);
        if (comptime std.mem.eql(u8, name, "productions")) @memset(list, .{ .rule = 0, .symbols = &.{} });
        @field(grammar, name) = list;
        var diag: Diagnostic = .init();
        if (n == numbers_max) try checkLimits(&grammar, &diag) else try std.testing.expectError(error.Failed, checkLimits(&grammar, &diag));
    };
}
