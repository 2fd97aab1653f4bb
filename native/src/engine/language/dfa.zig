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
    /// Where the column of each byte begins in `transitions`. Bytes with one column are of one class: no
    /// state tells them apart.
    columns: [256]u32,
    /// [column + state] -> state. By class and then by state, so that a step is an addition, and waits
    /// for nothing but the state. `dead` leads to `dead`.
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

    pub fn nClasses(d: *const Dfa) u32 {
        return @intCast(d.transitions.len / d.matches.len);
    }

    /// By state.
    pub fn column(d: *const Dfa, class: usize) []const u16 {
        return d.transitions[class * d.matches.len ..][0..d.matches.len];
    }

    pub inline fn next(d: *const Dfa, state: u16, byte: u8) u16 {
        return d.transitions[d.columns[byte] + state];
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
        inline for (owned) |field| gpa.free(@field(d, field));
        d.* = undefined;
    }

    pub fn bytes(d: *const Dfa) usize {
        var total: usize = 0;
        inline for (owned) |field| total += std.mem.sliceAsBytes(@field(d, field)).len;
        return total;
    }

    const owned = .{ "transitions", "matches", "match_offsets", "match_patterns", "reaches", "reach_sets" };
};
