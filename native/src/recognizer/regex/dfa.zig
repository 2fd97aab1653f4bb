//! Regular expressions, one or many at once, as one automaton over bytes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../budget.zig").Budget;
const ast = @import("ast.zig");
const nfa = @import("nfa.zig");
const determinise = @import("subset.zig").determinise;
const Table = @import("minimise.zig").Table;
const reach_module = @import("reach.zig");

pub const Error = Allocator.Error || diagnostic.Error;

/// The state that nothing leaves and that matches nothing.
pub const dead: u16 = 0;
/// Always there, also if no text matches.
pub const start: u16 = 1;

/// In the order of their priority: of those that match, the first one wins.
pub const Pattern = struct {
    node: *const ast.Node,
    /// Wins only where its user says so; what it hides is in the match list behind it.
    soft: bool = false,
};

/// Immutable. States are numbered from 0, `dead`, over 1, `start`. From each state but `dead` (and
/// `start`, if no text matches) some match is reachable, and no two states have the same future.
pub const Dfa = struct {
    /// The class of each byte. Bytes of one class are not told apart by any state.
    classes: [256]u8,
    /// Stride of `transitions`.
    n_classes: u32,
    /// [state * n_classes + class] -> state. Row 0 is all `dead`.
    transitions: []u16,
    /// By state: index of its match list. List 0 is empty.
    matches: []u16,
    /// List i is match_patterns[match_offsets[i]..match_offsets[i + 1]]; one more at the end.
    match_offsets: []u32,
    /// In priority order, and cut after the first pattern that is not soft.
    match_patterns: []u16,
    /// By state: index of its reach set. Set 0 is empty.
    reaches: []u16,
    /// [set * words]: bit p of a set is pattern p, which is in the match list of a state that is
    /// reachable from here, this one included.
    reach_sets: []u64,
    /// u64 words of a reach set.
    words: u32,

    pub fn nStates(d: *const Dfa) u32 {
        return @intCast(d.matches.len);
    }

    pub fn nReach(d: *const Dfa) u32 {
        return @intCast(d.reach_sets.len / d.words);
    }

    pub inline fn next(d: *const Dfa, state: u16, byte: u8) u16 {
        return d.transitions[@as(usize, state) * d.n_classes + d.classes[byte]];
    }

    pub inline fn matchList(d: *const Dfa, state: u16) []const u16 {
        const list = d.matches[state];
        return d.match_patterns[d.match_offsets[list]..d.match_offsets[list + 1]];
    }

    pub inline fn reachSet(d: *const Dfa, state: u16) []const u64 {
        return d.reach_sets[@as(usize, d.reaches[state]) * d.words ..][0..d.words];
    }

    pub fn deinit(d: *Dfa, gpa: Allocator) void {
        gpa.free(d.transitions);
        gpa.free(d.matches);
        gpa.free(d.match_offsets);
        gpa.free(d.match_patterns);
        gpa.free(d.reaches);
        gpa.free(d.reach_sets);
        d.* = undefined;
    }
};

/// `words` is at least 1 and enough for a bit for each pattern. `what` is being built, for messages.
/// A pattern that matches the empty text makes the match list of `start` not empty.
pub fn build(gpa: Allocator, patterns: []const Pattern, words: u32, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!Dfa {
    std.debug.assert(words >= 1 and patterns.len <= @as(usize, words) * 64);
    var scratch: std.heap.ArenaAllocator = .init(gpa);
    defer scratch.deinit();
    const arena = scratch.allocator();

    var automaton = try nfa.build(arena, patterns, budget, what, diag);
    var subset = try determinise(arena, &automaton, patterns, budget, what, diag);
    var table: Table = .{
        .classes = &subset.classes,
        .n_classes = subset.n_classes,
        .rows = subset.rows.items,
        .matches = subset.matches.items,
    };
    table.mergeClasses();
    if (try table.mergeStates(arena, budget, what, diag)) table.mergeClasses();
    const reach = try reach_module.find(arena, &table, &subset.lists, patterns.len, words, budget, what, diag);

    const transitions = try gpa.dupe(u16, table.rows);
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
    return .{
        .classes = table.classes.*,
        .n_classes = table.n_classes,
        .transitions = transitions,
        .matches = matches,
        .match_offsets = match_offsets,
        .match_patterns = match_patterns,
        .reaches = reaches,
        .reach_sets = reach_sets,
        .words = words,
    };
}
