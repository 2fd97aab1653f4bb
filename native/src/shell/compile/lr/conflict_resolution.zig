//! Resolves shift-reduce conflicts by declared precedence, as yacc does ("Deterministic Parsing of Ambiguous Grammars",
//! A. V. Aho, S. C. Johnson and J. D. Ullman, 1975), and finds those that remain. Only here does an automaton lose an action.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const Automaton = @import("lr_automaton.zig").Automaton;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Two actions of one state on one lookahead, undecided.
pub const Conflict = struct {
    state: u32,
    terminal: u32,
    /// An index in the automaton.
    reduction: u32,
    /// null: the other action is to shift.
    other_reduction: ?u32,
};

/// A shift that lost to a reduction, or that %nonassoc removed together with it.
pub const DroppedShift = struct { state: u32, terminal: u32, reduction: u32 };

/// The outcome for all states. Lives in the context's arena.
pub const Resolution = struct {
    /// [state * words]: the terminals that each state still shifts.
    shift_sets: []u64,
    shifts_win: bool,
    dropped: ArrayList(DroppedShift) = .empty,
    /// The first conflict that remains of each kind, and how many there are.
    shift_reduce: ?Conflict = null,
    reduce_reduce: ?Conflict = null,
    n_shift_reduce: u32 = 0,
    n_reduce_reduce: u32 = 0,

    /// `shifts_win`: where no precedence decides, shifts win. Removes reductions that lose from the automaton's lookaheads,
    /// which must be computed. Never fails for a conflict: the
    /// caller asks `shift_reduce` and `reduce_reduce`.
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar, a: *Automaton, shifts_win: bool) Error!Resolution {
        var s: Resolution = .{ .shifts_win = shifts_win, .shift_sets = try ctx.filled(u64, @as(usize, a.nStates()) * g.words, 0) };
        const seen = try ctx.alloc(u64, g.words);
        for (0..a.nStates()) |state| {
            if (state % 16 == 0) try ctx.check();
            const shifts = sets.row(s.shift_sets, state, g.words);
            const range = a.transitionsOf(state);
            for (a.symbols.items[range.start..range.end]) |symbol| {
                if (g.isRule(symbol)) break;
                sets.add(shifts, symbol);
            }
            try s.resolveShifts(ctx, g, a, @intCast(state), shifts);
            s.findReduceReduce(g, a, @intCast(state), seen);
        }
        return s;
    }

    fn resolveShifts(s: *Resolution, ctx: *const Context, g: *const AugmentedGrammar, a: *Automaton, state: u32, shifts: []u64) Error!void {
        const n_dropped = s.dropped.items.len;
        const range = a.reductionsOf(state);
        for (range.start..range.end) |reduction| {
            const lookaheads = sets.row(a.lookaheads.items, reduction, g.words);
            if (!sets.intersects(lookaheads, shifts)) continue;
            var terminals = sets.iterate(lookaheads);
            while (terminals.next()) |terminal| {
                if (!sets.has(shifts, terminal)) continue;
                const declared = winnerOf(g, a.reductions.items[reduction], terminal);
                const winner = if (declared == .undecided and s.shifts_win) .shift else declared;
                if (winner == .shift or winner == .neither) sets.remove(lookaheads, terminal);
                if (winner == .reduce or winner == .neither) {
                    try ctx.append(&s.dropped, .{ .state = state, .terminal = terminal, .reduction = @intCast(reduction) });
                }
                if (winner != .undecided) continue;
                s.n_shift_reduce += 1;
                if (s.shift_reduce != null) continue;
                s.shift_reduce = .{ .state = state, .terminal = terminal, .reduction = @intCast(reduction), .other_reduction = null };
            }
        }
        // Only now, so that every reduction was compared with the shift.
        for (s.dropped.items[n_dropped..]) |one| sets.remove(shifts, one.terminal);
    }

    fn findReduceReduce(s: *Resolution, g: *const AugmentedGrammar, a: *const Automaton, state: u32, seen: []u64) void {
        const range = a.reductionsOf(state);
        if (range.end - range.start < 2) return;
        @memset(seen, 0);
        for (range.start..range.end) |reduction| {
            const lookaheads = sets.row(a.lookaheads.items, reduction, g.words);
            if (sets.intersects(seen, lookaheads)) s.warnOfReduceReduce(g, a, state, range.start, @intCast(reduction), seen);
            _ = sets.unite(seen, lookaheads);
        }
    }

    fn warnOfReduceReduce(
        s: *Resolution,
        g: *const AugmentedGrammar,
        a: *const Automaton,
        state: u32,
        first: u32,
        reduction: u32,
        seen: []const u64,
    ) void {
        var terminals = sets.iterate(sets.row(a.lookaheads.items, reduction, g.words));
        while (terminals.next()) |terminal| {
            if (!sets.has(seen, terminal)) continue;
            s.n_reduce_reduce += 1;
            if (s.reduce_reduce != null) continue;
            var earlier = first;
            while (!sets.has(sets.row(a.lookaheads.items, earlier, g.words), terminal)) earlier += 1;
            s.reduce_reduce = .{ .state = state, .terminal = terminal, .reduction = reduction, .other_reduction = earlier };
        }
    }
};

const Winner = enum { shift, reduce, neither, undecided };

fn winnerOf(g: *const AugmentedGrammar, production: u16, terminal: u32) Winner {
    // The terminal is never end of input: a state that shifts that has nothing to reduce.
    const shifted = g.bnf.terminals[terminal].precedence orelse return .undecided;
    const reduced = g.bnf.productions[production].precedence orelse return .undecided;
    if (reduced.level != shifted.level) return if (reduced.level > shifted.level) .reduce else .shift;
    return switch (shifted.associativity) {
        .left => .reduce,
        .right => .shift,
        .none => .neither,
    };
}
