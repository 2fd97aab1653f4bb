//! How many tokens a lexeme may have (`max_tokens` of a rule in Lark's notation). A token counts if a byte of it is the
//! lexeme's. Once a lexeme has had as many tokens as a terminal may have, the terminal is *spent*: if the lexeme matches it
//! then, or else as soon as it first does, the lexeme ends there as far as that terminal goes; it is *over*. So a limit
//! leads into no dead end, and whether one is reached depends on nothing but the tokens before.
//!
//! A configuration whose lexeme is counted has a *count* in its state (graph.zig): the tokens so far, and how many of the
//! limits are over. Within a token both stay, so masks depend on which limits are spent and over alone.
//!
//! A rule that is more than one terminal is cut off: after the token that is its last it counts as whole, whatever it lacks.
//! Two terminals that no text has stand around it in the grammar. The first is shifted, without a byte, where a lexeme may be
//! the rule's first, and its cell has the time at which the rule is over (graph.zig), by a clock that each token advances. The
//! second is shifted as soon as it can be, and the rule reduced. So what is below a lexeme tells which rules it is in; masks,
//! which end with a token, do not depend on times.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program_module = @import("../lr/program.zig");
const Program = program_module.Program;
const first_counted = @import("../language/bounded_texts.zig").states_end;

pub const Count = u31;
/// Of the clock of a text. It begins again after so many tokens; no rule has as many.
pub const Time = u15;

/// A rule that is more than one terminal.
pub const Rule = extern struct {
    /// The terminals around it.
    begin: u16,
    end: u16,
    /// The most tokens.
    tokens: u16,
};

/// Immutable.
pub const Limits = struct {
    /// [terminal]: the most tokens; 0: any number. Empty if no terminal has a limit.
    of: []const u32 = &.{},
    /// The terminals that have one.
    limited: []const u64 = &.{},
    /// All limits, ascending.
    steps: []const u32 = &.{},
    /// Of a state of the lexer; the rest of a configuration's is a count.
    state_bits: u32 = 16,
    rules: []const Rule = &.{},
    /// [parser's state]: the symbol of the rule that has just begun there; 0: none has. Empty without rules.
    begun: []const u32 = &.{},

    /// The largest limit of a terminal, and of a rule.
    pub const tokens_max = 1_000_000;
    pub const rule_tokens_max = std.math.maxInt(Time);
    /// The most different ones.
    pub const steps_max = 7;

    /// For a lexer of so many states. False: these and counts are too many together.
    pub fn setStates(l: *Limits, n_states: u32) bool {
        l.state_bits = 32 - @clz(n_states - 1);
        return l.fits();
    }

    fn fits(l: *const Limits) bool {
        const n_counts = (@as(u64, l.steps[l.steps.len - 1]) + 1) * (l.steps.len + 1);
        return n_counts << @intCast(l.state_bits) <= first_counted;
    }

    pub fn deinit(l: *Limits, gpa: Allocator) void {
        gpa.free(l.of);
        gpa.free(l.limited);
        gpa.free(l.steps);
        gpa.free(l.rules);
        gpa.free(l.begun);
        l.* = undefined;
    }

    /// Where tokens are not told apart.
    pub fn dropTerminals(l: *Limits, gpa: Allocator) void {
        gpa.free(l.of);
        gpa.free(l.limited);
        gpa.free(l.steps);
        l.of = &.{};
        l.limited = &.{};
        l.steps = &.{};
    }

    pub fn isEmpty(l: *const Limits) bool {
        return l.of.len == 0 and l.rules.len == 0;
    }

    /// Whether no operation reads beyond the arrays.
    pub fn isSound(l: *const Limits, program: *const Program) bool {
        const n_states = program.lexer.nStates();
        if (l.state_bits > 16 or n_states > @as(u32, 1) << @intCast(l.state_bits) or !l.areRulesSound(program)) return false;
        if (l.of.len == 0) return true;
        if (l.of.len != program.n_terminals or l.limited.len != program.width) return false;
        if (l.steps.len == 0 or l.steps.len > steps_max) return false;
        for (l.steps) |step| if (step > tokens_max) return false;
        return std.sort.isSorted(u32, l.steps, {}, std.sort.asc(u32)) and l.fits();
    }

    /// The program is sound.
    fn areRulesSound(l: *const Limits, program: *const Program) bool {
        if (l.rules.len == 0) return true;
        if (l.begun.len != program.nParserStates()) return false;
        for (l.rules) |rule| {
            if (rule.tokens > rule_tokens_max or rule.begin >= program.n_terminals or rule.end >= program.n_terminals) return false;
            for (0..l.begun.len) |state| {
                if (program.shifts(state, rule.begin)) {
                    const symbol = l.begun[program.transition(state, rule.begin)];
                    if (!program.hasTransition(state, symbol)) return false;
                }
                if (program.shifts(state, rule.end) and !program.hasReductions(program.transition(state, rule.end))) return false;
            }
        }
        return true;
    }

    // ---- Counts

    /// The state of a configuration, of the lexer's.
    pub fn counted(l: *const Limits, state: u16, c: Count) u32 {
        return first_counted | @as(u32, c) << @intCast(l.state_bits) | state;
    }

    pub fn countOf(l: *const Limits, state: u32) Count {
        return @intCast((state & first_counted - 1) >> @intCast(l.state_bits));
    }

    /// Of the lexer, of a state that is no place and no text.
    pub inline fn lexerState(l: *const Limits, state: u32) u16 {
        return @truncate(state & (@as(u32, 1) << @intCast(l.state_bits)) - 1);
    }

    /// Of a lexeme that has one token.
    pub fn first(l: *const Limits) Count {
        return l.count(1, 0);
    }

    fn count(l: *const Limits, tokens: usize, n_over: usize) Count {
        return @intCast(tokens * (l.steps.len + 1) + n_over);
    }

    fn tokensOf(l: *const Limits, c: Count) usize {
        return c / (l.steps.len + 1);
    }

    fn nOver(l: *const Limits, c: Count) usize {
        return c % (l.steps.len + 1);
    }

    fn nSpent(l: *const Limits, c: Count) usize {
        for (l.steps, 0..) |step, i| if (step > l.tokensOf(c)) return i;
        return l.steps.len;
    }

    /// With another token.
    pub fn next(l: *const Limits, c: Count) Count {
        return l.count(@min(l.tokensOf(c) + 1, l.steps[l.steps.len - 1]), l.nOver(c));
    }

    /// Where what is spent is over.
    pub fn ended(l: *const Limits, c: Count) Count {
        return l.count(l.tokensOf(c), l.nSpent(c));
    }

    pub fn isSpent(l: *const Limits, terminal: u16, c: Count) bool {
        return l.of[terminal] != 0 and l.of[terminal] <= l.tokensOf(c);
    }

    pub fn isOver(l: *const Limits, terminal: u16, c: Count) bool {
        const n = l.nOver(c);
        return n > 0 and l.of[terminal] != 0 and l.of[terminal] <= l.steps[n - 1];
    }

    /// What masks depend on: less than 64.
    pub fn phaseOf(l: *const Limits, c: Count) u32 {
        return @intCast(l.nSpent(c) * (l.steps.len + 1) + l.nOver(c));
    }
};

test "tokens are counted up to the largest limit" {
    const limits: Limits = .{ .of = &.{ 2, 0, 5 }, .limited = &.{5}, .steps = &.{ 2, 5 } };
    var count = limits.first();
    try std.testing.expect(!limits.isSpent(0, count));
    count = limits.next(count);
    try std.testing.expect(limits.isSpent(0, count) and !limits.isSpent(1, count) and !limits.isSpent(2, count));
    try std.testing.expect(!limits.isOver(0, count));
    const ended = limits.ended(count);
    try std.testing.expect(limits.isOver(0, ended) and !limits.isOver(2, ended));
    try std.testing.expect(limits.phaseOf(count) != limits.phaseOf(ended));
    for (0..3) |_| count = limits.next(count);
    try std.testing.expect(limits.isSpent(2, count));
    try std.testing.expectEqual(count, limits.next(count));
}
