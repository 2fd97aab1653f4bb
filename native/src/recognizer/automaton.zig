//! An automaton over bytes that tells which of many patterns match: a lexer, or one regular expression.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// The state that nothing leaves and that matches nothing.
pub const dead: u16 = 0;
/// Always there, also if no text matches.
pub const start: u16 = 1;

/// Immutable. States are numbered from 0, `dead`, over 1, `start`. From each state but `dead` (and
/// `start`, if no text matches) some match is reachable, and no two states have the same future.
pub const Dfa = struct {
    /// The class of each byte. Bytes of one class are not told apart by any state.
    classes: [256]u8,
    n_classes: u32,
    /// Rows of `transitions` have 2^row_shift entries: a walk waits for the place of each row, and a
    /// shift is there sooner than a product.
    row_shift: u32,
    /// [state << row_shift | class] -> state. Row 0 is all `dead`.
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

    /// By class.
    pub fn row(d: *const Dfa, state: usize) []const u16 {
        return d.transitions[state << @intCast(d.row_shift) ..][0..d.n_classes];
    }

    pub inline fn next(d: *const Dfa, state: u16, byte: u8) u16 {
        return d.transitions[@as(usize, state) << @intCast(d.row_shift) | d.classes[byte]];
    }

    pub fn nLists(d: *const Dfa) u32 {
        return @intCast(d.match_offsets.len - 1);
    }

    /// Match list i.
    pub inline fn list(d: *const Dfa, i: u16) []const u16 {
        return d.match_patterns[d.match_offsets[i]..d.match_offsets[i + 1]];
    }

    pub inline fn matchList(d: *const Dfa, state: u16) []const u16 {
        return d.list(d.matches[state]);
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
