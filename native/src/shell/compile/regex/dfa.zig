//! From regular expressions, one or many at once, to one minimal DFA over bytes: NFA (nfa.zig), subset construction, minimisation,
//! and which patterns each state can still reach.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("ast.zig");
const determinise = @import("subset_construction.zig").determinise;
const TransitionTable = @import("minimise.zig").TransitionTable;
const reachable_patterns = @import("reachable_patterns.zig");

const Pattern = @import("pattern.zig").Pattern;

const Error = Allocator.Error || diagnostic.Error;

const dfa = @import("engine").dfa;
pub const Dfa = dfa.Dfa;
pub const dead = dfa.dead;
pub const start = dfa.start;

/// The result is freed with `Dfa.deinit` and `gpa`. `words` are those of a reach set: at least 1, and a bit for each pattern.
/// `what` names what is being built, for messages. If a pattern matches the empty text, `start` has a match list that is not
/// empty; to refuse that is the caller's affair. ELIZA_ERR_LIMIT: too many states or bytes, or too long; the number of states can
/// be exponential in a pattern's size.
pub fn build(gpa: Allocator, patterns: []const Pattern, words: u32, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!Dfa {
    std.debug.assert(words >= 1 and patterns.len <= @as(usize, words) * 64);
    var scratch: Arena = .init(gpa);
    defer scratch.deinit();
    const arena = scratch.allocator();

    const subset = try determinise(arena, patterns, 0, budget, what, diag);
    const table = try subset.minimal();
    const reach = try reachable_patterns.find(arena, &table, &subset.lists, patterns.len, words, budget, what, diag);

    try budget.take(std.mem.sliceAsBytes(table.rows).len, what, diag);
    const transitions = try byColumn(gpa, &table);
    errdefer gpa.free(transitions);
    const matches = try gpa.dupe(u16, table.matches);
    errdefer gpa.free(matches);
    const match_offsets = try gpa.dupe(u32, subset.lists.offsets.items);
    errdefer gpa.free(match_offsets);
    const match_patterns = try gpa.dupe(u16, subset.lists.patterns.items);
    errdefer gpa.free(match_patterns);
    const reaches = try gpa.dupe(u16, reach.of_state);
    errdefer gpa.free(reaches);
    const reach_sets = try gpa.dupe(u64, reach.sets);
    var columns: [256]u32 = undefined;
    for (&columns, table.classes) |*column, class| column.* = class * @as(u32, @intCast(matches.len));
    return .{
        .columns = columns,
        .transitions = transitions,
        .matches = matches,
        .match_offsets = match_offsets,
        .match_patterns = match_patterns,
        .reaches = reaches,
        .reach_sets = reach_sets,
        .words = words,
    };
}

/// The table column by column, as `Dfa.transitions` has it.
fn byColumn(gpa: Allocator, table: *const TransitionTable) Allocator.Error![]u16 {
    const n_states = table.matches.len;
    const transitions = try gpa.alloc(u16, table.rows.len);
    for (0..n_states) |state| {
        for (table.rows[state * table.n_classes ..][0..table.n_classes], 0..) |to, class| transitions[class * n_states + state] = to;
    }
    return transitions;
}
