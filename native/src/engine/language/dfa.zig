//! A DFA over bytes that tells which of many patterns match: a lexer, or one regular expression.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// The state of texts that nothing continues and no pattern matches.
pub const dead: u16 = 0;
/// The state of the empty text. It exists even if no text matches.
pub const start: u16 = 1;

/// Immutable and minimal. States are numbered from 0: `dead`, `start`, then the others. From each state but
/// `dead` (and `start`, if no text matches) some match is reachable, and no two states have the same future.
pub const Dfa = struct {
    /// Where the column of each byte begins in `transitions`. Bytes of one class share a column: no state tells them
    /// apart.
    columns: [256]u32,
    /// [column + state] -> state. By class first, so that a step is an addition that waits for the state alone.
    /// `dead` leads to `dead`.
    transitions: []u16,
    /// By state: index of its match list. List 0 is empty.
    matches: []u16,
    /// List i is match_patterns[match_offsets[i]..match_offsets[i + 1]]; one more at the end.
    match_offsets: []u32,
    /// In order of priority, cut after the first pattern that is not soft.
    match_patterns: []u16,
    /// By state: index of its reach set. Set 0 is empty.
    reaches: []u16,
    /// [set * words]: bit p says that pattern p is in the match list of this state, or of one that is reachable
    /// from it.
    reach_sets: []u64,
    /// Words of a reach set.
    words: u32,

    /// No states; for what has none.
    pub const none: Dfa = .{
        .columns = @splat(0),
        .transitions = &.{},
        .matches = &.{},
        .match_offsets = &.{},
        .match_patterns = &.{},
        .reaches = &.{},
        .reach_sets = &.{},
        .words = 0,
    };

    /// Number of states.
    pub fn nStates(d: *const Dfa) u32 {
        return @intCast(d.matches.len);
    }

    /// Number of reach sets.
    pub fn nReach(d: *const Dfa) u32 {
        return @intCast(d.reach_sets.len / d.words);
    }

    /// Number of classes of bytes.
    pub fn nClasses(d: *const Dfa) u32 {
        return @intCast(d.transitions.len / d.matches.len);
    }

    /// The transitions of a class, by state.
    pub fn column(d: *const Dfa, class: usize) []const u16 {
        return d.transitions[class * d.matches.len ..][0..d.matches.len];
    }

    /// The state after a byte. Two reads.
    pub inline fn next(d: *const Dfa, state: u16, byte: u8) u16 {
        return d.transitions[d.columns[byte] + state];
    }

    /// Number of match lists.
    pub fn nLists(d: *const Dfa) u32 {
        return @intCast(d.match_offsets.len - 1);
    }

    /// Match list i.
    pub inline fn list(d: *const Dfa, i: u16) []const u16 {
        return d.match_patterns[d.match_offsets[i]..d.match_offsets[i + 1]];
    }

    /// The patterns that match in a state, in order of priority.
    pub inline fn matchList(d: *const Dfa, state: u16) []const u16 {
        return d.list(d.matches[state]);
    }

    /// The patterns that match in a state or after it.
    pub inline fn reachSet(d: *const Dfa, state: u16) []const u64 {
        return d.reach_sets[@as(usize, d.reaches[state]) * d.words ..][0..d.words];
    }

    /// Whether no operation reads beyond the arrays, whatever wrote them, and all patterns are below `n_patterns`.
    pub fn isSound(d: *const Dfa, n_patterns: usize) bool {
        const n_states = d.matches.len;
        if (n_states < 2 or n_states > std.math.maxInt(u16) or d.reaches.len != n_states) return false;
        if (d.transitions.len % n_states != 0 or d.nClasses() == 0 or d.nClasses() > 256) return false;
        for (d.columns) |place| if (place % n_states != 0 or place >= d.transitions.len) return false;
        if (d.words == 0 or d.reach_sets.len % d.words != 0 or n_patterns > 64 * @as(usize, d.words)) return false;
        return areBelow(d.transitions, n_states) and areBelow(d.reaches, d.nReach()) and
            areRanges(d.match_offsets, d.match_patterns.len) and areBelow(d.matches, d.nLists()) and
            areBelow(d.match_patterns, n_patterns) and d.reachesBelow(n_patterns);
    }

    /// Whether no reach set has another pattern. They are at most as many as the bits of a set.
    fn reachesBelow(d: *const Dfa, n_patterns: usize) bool {
        const first: usize = n_patterns / 64;
        if (first == d.words) return true;
        var others: u64 = 0;
        var at: usize = 0;
        while (at < d.reach_sets.len) : (at += d.words) {
            const set = d.reach_sets[at..][0..d.words];
            others |= set[first] >> @intCast(n_patterns % 64);
            for (set[first + 1 ..]) |word| others |= word;
        }
        return others == 0;
    }

    /// Not for a DFA whose arrays are mapped.
    pub fn deinit(d: *Dfa, gpa: Allocator) void {
        inline for (owned) |field| gpa.free(@field(d, field));
        d.* = undefined;
    }

    /// Memory of the arrays.
    pub fn bytes(d: *const Dfa) usize {
        var total: usize = 0;
        inline for (owned) |field| total += std.mem.sliceAsBytes(@field(d, field)).len;
        return total;
    }

    const owned = .{ "transitions", "matches", "match_offsets", "match_patterns", "reaches", "reach_sets" };
};

/// Whether all numbers are below a bound. Reads all, so that the compiler takes several at once.
pub fn areBelow(numbers: []const u16, bound: usize) bool {
    var largest: u16 = 0;
    for (numbers) |number| largest = @max(largest, number);
    return numbers.len == 0 or largest < bound;
}

/// Whether these are offsets of ranges, one after another, of an array of `length`; there may be none, but for the end.
pub fn areRanges(offsets: []const u32, length: usize) bool {
    if (offsets.len == 0 or offsets[0] != 0 or offsets[offsets.len - 1] > length) return false;
    var ascend = true;
    for (offsets[0 .. offsets.len - 1], offsets[1..]) |from, to| ascend = ascend and from <= to;
    return ascend;
}

test "offsets begin at 0, never descend and end within" {
    const expect = std.testing.expect;
    try expect(areRanges(&.{0}, 0) and areRanges(&.{ 0, 0, 2, 2, 5 }, 5));
    for ([_][]const u32{ &.{}, &.{1}, &.{ 1, 2 }, &.{ 0, 2, 1 }, &.{ 0, 2, 6 } }) |offsets| try expect(!areRanges(offsets, 5));
}
