//! The tables of an LR(1) parser for a grammar: LALR(1) where that is enough, canonical LR(1) where
//! only it decides. Every table is flat, so that it can be saved and mapped.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../budget.zig").Budget;
const Grammar = @import("grammar.zig").Grammar;

pub const Error = Allocator.Error || diagnostic.Error;

/// Remarks on a grammar that compiles: a line each, `line:column: ...` where there is a place.
pub const Notes = std.ArrayList([]const u8);

pub const start_state: u16 = 0;

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
/// Notes: rules that can never end and rules that are not used; both are dropped.
/// ELIZA_ERR_GRAMMAR: the start rule can never end, a rule that derives itself, left recursion
/// behind what can be empty, a conflict that no precedence settles.
pub fn build(gpa: Allocator, arena: Allocator, grammar: *const Grammar, notes: *Notes, budget: *Budget, diag: *Diagnostic) Error!Tables {
    _ = gpa;
    _ = arena;
    _ = grammar;
    _ = notes;
    _ = budget;
    return diag.fail(.not_implemented, "the parser's tables are not built yet", .{});
}
