//! Intersection and complement, by subset construction: a set of NFA states tells which patterns match, so a state of the DFA
//! matches if its match list is the wanted one. No product automaton and no complement of each pattern is made.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("ast.zig");
const Pattern = @import("pattern.zig").Pattern;
const dfa = @import("engine").dfa;
const determinise = @import("subset_construction.zig").determinise;
const SubsetConstruction = @import("subset_construction.zig").SubsetConstruction;
const TransitionTable = @import("minimise.zig").TransitionTable;

const Error = Allocator.Error || diagnostic.Error;

/// A leaf for the texts that match the first `n_wanted` patterns and none of the others. All must be soft, so that none hides
/// another, and at least one must be wanted, since what must not match does not keep texts valid UTF-8. Lives in `arena`.
/// ELIZA_ERR_LIMIT: more states or memory than the budget allows.
pub fn intersect(
    arena: Allocator,
    patterns: []const Pattern,
    n_wanted: usize,
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,
) Error!*const ast.Node {
    try budget.checkStates(patterns.len, what, diag); // patterns are numbered by 16 bits, as states are
    const subset = try determinise(arena, patterns, n_wanted, budget, what, diag);
    for (subset.matches.items) |*match| {
        const list = subset.lists.get(match.*);
        // Patterns are in ascending order.
        match.* = @intFromBool(list.len == n_wanted and list[n_wanted - 1] < n_wanted);
    }
    return leafOf(arena, subset);
}

/// A leaf for the texts that match the node, and none of whose proper beginnings does. Fails as `intersect` does.
pub fn shortest(arena: Allocator, node: *const ast.Node, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!*const ast.Node {
    const subset = try determinise(arena, &.{.{ .node = node }}, 1, budget, what, diag);
    for (subset.matches.items, 0..) |*match, state| {
        if (match.* == 0) continue;
        match.* = 1;
        @memset(subset.rows.items[state * subset.n_classes ..][0..subset.n_classes], dfa.dead);
    }
    return leafOf(arena, subset);
}

fn leafOf(arena: Allocator, subset: *SubsetConstruction) Error!*const ast.Node {
    const table = try arena.create(TransitionTable);
    table.* = try subset.minimal();
    return ast.create(arena, .{ .automaton = .{ .table = table } });
}
