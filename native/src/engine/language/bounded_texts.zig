//! Texts of regular expressions with a bounded number of characters, such as strings with `maxLength`: whole texts, or
//! terminals of a grammar. A bound costs no states: beside the state of an automaton that knows nothing of it there is the
//! number of characters so far. Of each state it is known with how many more a text can end (`Lengths`), so what could not end
//! within the bounds continues no further, and there is no dead end.
//!
//! Masks far from the bounds do not depend on the number: it is left out of the keys of masks, and nothing is counted where
//! such a mask is computed.
//!
//! To a grammar's lexer such a terminal is bytes that no text has, as a document is (glr/parts.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const dfa_module = @import("dfa.zig");
const Dfa = dfa_module.Dfa;
const Arrays = @import("arrays.zig").Arrays;

/// From here on states are those of texts; no other language has states between it and `states_end`.
pub const first_state = 1 << 30;
pub const states_end = 1 << 31;

/// The bounds of one terminal, in characters.
pub const Text = extern struct {
    terminal: u16,
    /// Of the automaton, before the first byte.
    start: u16,
    min: u32,
    max: u32,
};

/// With how many characters a text can end that begins in a state.
pub const Lengths = extern struct {
    /// Bit n: with n.
    some: u64 align(8) = 0,
    /// With each number from here on; `never` if they are finitely many.
    all_from: u32 = never,
    _: u32 = 0,

    pub const never = std.math.maxInt(u32);
    pub const listed = 64;

    /// Whether with a number within bounds.
    pub fn hasAny(l: *const Lengths, min: u32, max: u32) bool {
        if (max >= l.all_from) return true;
        if (min >= listed) return false;
        const up_to = if (max >= listed - 1) std.math.maxInt(u64) else (@as(u64, 1) << @intCast(max + 1)) - 1;
        return l.some & up_to >> @intCast(min) << @intCast(min) != 0;
    }
};

/// Immutable. A state is the automaton's, and the number of characters.
pub const BoundedTexts = struct {
    /// That of all texts; each pattern is one of them.
    dfa: Dfa = .none,
    list: []const Text = &.{},
    /// [state]
    lengths: []const Lengths = &.{},
    /// [state]: its text.
    of: []const u8 = &.{},
    /// The bytes that texts begin with.
    firsts: [4]u64 = @splat(0),
    /// Bits of a number of characters.
    count_bits: u32 = 0,
    /// From a bound, so many characters are near.
    near: u32 = 0,

    pub const texts_max = 256;
    /// ELIZA_ERR_LIMIT beyond it: a state and a number share 30 bits, and keys have fewer.
    const numbers_max = 1 << 30;
    const key_numbers_max = 1 << 27;
    const near_max = 1 << 26;

    /// How the number of characters matters; what is far below the least is `low`, far from both bounds `free`.
    const Phase = enum(u32) { low, free, _ };

    /// Languages without any share one.
    pub const none: *const BoundedTexts = &.{};

    /// In memory of its own: a language is copied in less time.
    pub fn create(gpa: Allocator, t: BoundedTexts) Allocator.Error!*const BoundedTexts {
        if (t.isEmpty()) return none;
        const made = try gpa.create(BoundedTexts);
        made.* = t;
        return made;
    }

    pub fn destroy(t: *const BoundedTexts, gpa: Allocator, arrays: Arrays) void {
        if (t.isEmpty()) return;
        if (arrays == .owned) {
            var dfa = t.dfa;
            dfa.deinit(gpa);
            gpa.free(t.list);
            gpa.free(t.lengths);
            gpa.free(t.of);
        }
        gpa.destroy(t);
    }

    pub fn isEmpty(t: *const BoundedTexts) bool {
        return t.list.len == 0;
    }

    pub fn bytes(t: *const BoundedTexts) usize {
        return t.dfa.bytes() + std.mem.sliceAsBytes(t.list).len + std.mem.sliceAsBytes(t.lengths).len + t.of.len;
    }

    /// Whether no operation reads beyond the arrays.
    pub fn isSound(t: *const BoundedTexts, n_terminals: usize) bool {
        if (t.isEmpty()) return true;
        if (t.list.len > texts_max or !t.dfa.isSound(t.list.len)) return false;
        const n_states = t.dfa.nStates();
        if (t.lengths.len != n_states or t.of.len != n_states or t.count_bits < 2 or t.count_bits > 30) return false;
        if (t.near > near_max or !t.fits()) return false;
        for (t.list) |text| {
            if (text.terminal >= n_terminals or text.start >= n_states) return false;
            if (text.min > text.max or text.max >= t.lowCount()) return false;
        }
        for (t.of) |text| if (text >= t.list.len) return false;
        return true;
    }

    /// Whether states and numbers of characters are few enough.
    pub fn fits(t: *const BoundedTexts) bool {
        const n_states: u64 = t.dfa.nStates();
        return n_states << @intCast(t.count_bits) <= numbers_max and n_states * t.nPhases() <= key_numbers_max;
    }

    /// Its texts, for a vocabulary whose longest token has so many bytes.
    pub fn finish(t: *BoundedTexts, token_bytes_max: usize) void {
        var most: u32 = 0;
        for (t.list) |text| most = @max(most, text.max);
        t.count_bits = 64 - @clz(@as(u64, most) + 3);
        t.near = @intCast(@min(Lengths.listed + token_bytes_max, near_max));
    }

    // ---- States

    fn stateOf(t: *const BoundedTexts, state: u16, count: u32) u32 {
        return first_state | @as(u32, state) << @intCast(t.count_bits) | count;
    }

    fn countOf(t: *const BoundedTexts, at: u32) u32 {
        return at & (@as(u32, 1) << @intCast(t.count_bits)) - 1;
    }

    fn dfaState(t: *const BoundedTexts, at: u32) u16 {
        return @intCast((at & first_state - 1) >> @intCast(t.count_bits));
    }

    fn textAt(t: *const BoundedTexts, at: u32) *const Text {
        return &t.list[t.of[t.dfaState(at)]];
    }

    pub fn terminalOf(t: *const BoundedTexts, at: u32) u16 {
        return t.textAt(at).terminal;
    }

    /// In place of a number far from the bounds.
    fn freeCount(t: *const BoundedTexts) u32 {
        return (@as(u32, 1) << @intCast(t.count_bits)) - 1;
    }

    fn lowCount(t: *const BoundedTexts) u32 {
        return t.freeCount() - 1;
    }

    /// Before the first byte.
    pub fn initial(t: *const BoundedTexts, text: usize) u32 {
        return t.stateOf(t.list[text].start, 0);
    }

    pub fn beginsWith(t: *const BoundedTexts, byte: u8) bool {
        return t.firsts[byte / 64] >> @truncate(byte) & 1 != 0;
    }

    /// After the first byte; null if the text does not begin so.
    pub fn begin(t: *const BoundedTexts, text: usize, byte: u8) ?u32 {
        return t.next(t.initial(text), byte);
    }

    /// After a byte; null if no text continues so.
    pub fn next(t: *const BoundedTexts, at: u32, byte: u8) ?u32 {
        const state = t.dfa.next(t.dfaState(at), byte);
        if (state == dfa_module.dead) return null;
        const text = &t.list[t.of[state]];
        const lengths = &t.lengths[state];
        const before = t.countOf(at);
        if (before == t.freeCount()) return t.stateOf(state, before);
        if (before == t.lowCount()) return if (lengths.all_from == Lengths.never) null else t.stateOf(state, before);
        const count = before + @intFromBool(isFirst(byte));
        if (count > text.max or !lengths.hasAny(text.min -| count, text.max - count)) return null;
        return t.stateOf(state, count);
    }

    /// That of the automaton, if nothing is counted.
    pub fn freeState(t: *const BoundedTexts, at: u32) ?u32 {
        return if (t.countOf(at) == t.freeCount()) t.dfaState(at) else null;
    }

    pub fn canStop(t: *const BoundedTexts, at: u32) bool {
        if (t.dfa.matches[t.dfaState(at)] == 0) return false;
        const count = t.countOf(at);
        return count == t.freeCount() or count != t.lowCount() and count >= t.textAt(at).min;
    }

    /// The state with what masks depend on alone.
    pub fn canonical(t: *const BoundedTexts, at: u32) u32 {
        return switch (t.phaseOf(at)) {
            .low => t.stateOf(t.dfaState(at), t.lowCount()),
            .free => t.stateOf(t.dfaState(at), t.freeCount()),
            else => at,
        };
    }

    /// The same as a number of a mask's key.
    pub fn keyOf(t: *const BoundedTexts, at: u32) u32 {
        return @as(u32, @intCast(t.dfaState(at))) * t.nPhases() + @backingInt(t.phaseOf(at));
    }

    fn nPhases(t: *const BoundedTexts) u32 {
        return 2 * t.near + 3;
    }

    fn phaseOf(t: *const BoundedTexts, at: u32) Phase {
        const text = t.textAt(at);
        const count = t.countOf(at);
        if (count == t.freeCount()) return .free;
        if (count == t.lowCount()) return .low;
        if (count < text.min) {
            const missing = text.min - count;
            return if (missing > t.near) .low else @fromBackingInt(1 + missing);
        }
        const left = text.max - count;
        return if (left > t.near) .free else @fromBackingInt(2 + t.near + left);
    }
};

/// Whether a character begins with the byte. The two bytes of a token that a text names are none (named_tokens.zig).
pub fn isFirst(byte: u8) bool {
    return byte & 0xc0 != 0x80;
}
