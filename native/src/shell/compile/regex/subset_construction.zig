//! From an NFA to a DFA whose states are sets of NFA states: the subset construction ("Finite Automata and Their Decision
//! Problems", M. O. Rabin and D. Scott, 1959). Most sets are small, and most are reached from one NFA state only: these are
//! remembered by that state, and need no hashing.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const budget_module = @import("engine").budget;
const Budget = budget_module.Budget;
const nfa_module = @import("nfa.zig");
const Nfa = nfa_module.Nfa;
const Transition = @import("utf8.zig").Transition;
const Pattern = @import("pattern.zig").Pattern;
const MatchLists = @import("match_lists.zig").MatchLists;
const dfa = @import("engine").dfa;
const interner = @import("interner.zig");
const minimise = @import("minimise.zig");
const filled = minimise.filled;

const Error = Allocator.Error || diagnostic.Error;

/// The DFA before it is minimised. It follows no text that one of the first `n_wanted` patterns cannot match any more. It lives in
/// `arena`, as does all scratch memory. ELIZA_ERR_LIMIT: more states, steps, memory or time than the budget allows.
pub fn determinise(
    arena: Allocator,
    patterns: []const Pattern,
    n_wanted: usize,
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,
) Error!*SubsetConstruction {
    const nfa = try nfa_module.build(arena, patterns, budget, what, diag);
    const subset = try arena.create(SubsetConstruction);
    subset.* = .{ .arena = arena, .nfa = nfa, .patterns = patterns, .n_wanted = n_wanted, .budget = budget, .what = what, .diag = diag };
    subset.classify();
    const n = nfa.states.len;
    try budget.take(n * (@sizeOf(u16) + @sizeOf(u32)), what, diag);
    subset.alone = try filled(u16, arena, n, unknown);
    subset.marks = try filled(u32, arena, n, 0);
    subset.pattern_bits = try arena.alloc(u64, (patterns.len + 63) / 64);
    @memset(subset.pattern_bits, 0);

    try subset.lists.offsets.appendSlice(arena, &.{ 0, 0 });
    _ = try subset.newState(0); // dead
    subset.begin();
    try subset.close(nfa.start);
    const first = try subset.stateOfSet();
    // Even if no text matches there is a start.
    if (first == dfa.dead) _ = try subset.newState(0);
    var state: u32 = dfa.start;
    while (state < subset.ends.items.len) : (state += 1) {
        try subset.expand(state);
        try subset.account();
    }
    return subset;
}

const steps_between_checks = 2048;

/// Steps that each allowed state may take on average; some tens are usual. This bounds the size of the sets, and time with it.
const steps_per_state = 512;

const unknown = std.math.maxInt(u16);

/// State 0 is `dfa.dead`, state 1 `dfa.start`. What follows `lists` is of the construction alone.
pub const SubsetConstruction = struct {
    arena: Allocator,
    /// `classify` replaces its bytes by byte classes.
    nfa: Nfa,
    patterns: []const Pattern,
    n_wanted: usize,
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,

    classes: [256]u8 = undefined,
    n_classes: u32 = 0,
    /// [state * n_classes + class] -> state.
    rows: ArrayList(u16) = .empty,
    /// By state: the number of its match list.
    matches: ArrayList(u16) = .empty,
    lists: MatchLists = .{},

    /// The sets one after the other, and where each ends.
    members: ArrayList(u32) = .empty,
    ends: ArrayList(u32) = .empty,
    interned: interner.Interner = .{},
    /// By NFA state: the DFA state of its closure alone, or `unknown`.
    alone: []u16 = &.{},

    /// The set that is being made: closed, in no order. `marks` of its members are `generation`.
    set: ArrayList(u32) = .empty,
    hash: u32 = 0,
    /// The first pattern of the set that is not soft.
    first_hard: u32 = 0,
    marks: []u32 = &.{},
    generation: u32 = 0,
    pending: ArrayList(u32) = .empty,
    pattern_bits: []u64 = &.{},

    moves: ArrayList(Transition) = .empty,
    /// Moves and states visited: so far, and when the budget is asked next.
    steps: usize = 0,
    next_check: usize = steps_between_checks,
    buckets: ArrayList(u32) = .empty,

    /// The state after a byte.
    pub fn next(s: *const SubsetConstruction, state: u16, byte: u8) u16 {
        return s.rows.items[@as(usize, state) * s.n_classes + s.classes[byte]];
    }

    /// Minimises it in place; to be called once. The table shares the construction's memory.
    pub fn minimal(s: *SubsetConstruction) Error!minimise.TransitionTable {
        var table: minimise.TransitionTable = .{
            .classes = &s.classes,
            .n_classes = s.n_classes,
            .rows = s.rows.items,
            .matches = s.matches.items,
        };
        table.mergeClasses();
        if (try table.mergeStates(s.arena, s.budget, s.what, s.diag)) table.mergeClasses();
        return table;
    }

    /// Byte classes: in the order of bytes, a new one begins where some transition begins or ends.
    fn classify(s: *SubsetConstruction) void {
        var borders: [257]bool = @splat(false);
        for (s.nfa.states) |state| if (state.kind == .byte) {
            borders[state.low] = true;
            borders[@as(usize, state.high) + 1] = true;
        };
        for (s.nfa.transitions) |transition| {
            borders[transition.low] = true;
            borders[@as(usize, transition.high) + 1] = true;
        }
        var class: u8 = 0;
        for (&s.classes, 0..) |*to, byte| {
            class += @intFromBool(byte > 0 and borders[byte]);
            to.* = class;
        }
        s.n_classes = @as(u32, class) + 1;
        for (s.nfa.states) |*state| if (state.kind == .byte) {
            state.low = s.classes[state.low];
            state.high = s.classes[state.high];
        };
        for (s.nfa.transitions) |*transition| {
            transition.low = s.classes[transition.low];
            transition.high = s.classes[transition.high];
        }
    }

    fn setOf(s: *const SubsetConstruction, state: u32) []const u32 {
        const first = if (state == 0) 0 else s.ends.items[state - 1];
        return s.members.items[first..s.ends.items[state]];
    }

    /// Fills the row of a state.
    fn expand(s: *SubsetConstruction, state: u32) Error!void {
        if (s.isDecided(s.setOf(state))) return @memset(s.row(state), @intCast(state));
        s.moves.clearRetainingCapacity();
        var sources: usize = 0;
        for (s.setOf(state)) |member| {
            const from = s.nfa.states[member];
            switch (from.kind) {
                .byte => try s.moves.append(s.arena, .{ .low = from.low, .high = from.high, .to = from.a }),
                .ranges => try s.moves.appendSlice(s.arena, s.nfa.transitions[from.a..][0..from.b]),
                .match => continue,
                .split, .branch, .look => unreachable,
            }
            sources += 1;
        }
        s.steps += s.moves.items.len;
        if (sources > 1 and s.moves.items.len > 0) return s.expandMany(state);
        for (s.moves.items) |move| {
            const to = try s.stateOfOne(move.to);
            @memset(s.row(state)[move.low .. @as(usize, move.high) + 1], to);
        }
    }

    fn account(s: *SubsetConstruction) Error!void {
        if (s.steps < s.next_check) return;
        s.next_check = s.steps + steps_between_checks;
        if (s.steps > steps_per_state * @as(usize, s.budget.states_max)) {
            return s.diag.fail(.limit, "{s} needs too many steps to become deterministic", .{s.what});
        }
        try s.budget.check(s.what, s.diag);
    }

    fn row(s: *SubsetConstruction, state: u32) []u16 {
        return s.rows.items[@as(usize, state) * s.n_classes ..][0..s.n_classes];
    }

    /// Fills the row of a state with several moves: cuts the classes into segments in which no move begins or ends, and finds the
    /// state of the targets of each.
    fn expandMany(s: *SubsetConstruction, state: u32) Error!void {
        var borders: [257]bool = @splat(false);
        for (s.moves.items) |move| {
            borders[move.low] = true;
            borders[@as(usize, move.high) + 1] = true;
        }
        var firsts: [258]u16 = undefined;
        var segments: [257]u16 = undefined;
        var n: u16 = 0;
        for (borders[0 .. s.n_classes + 1], segments[0 .. s.n_classes + 1], 0..) |border, *segment, class| {
            if (!border) continue;
            segment.* = n;
            firsts[n] = @intCast(class);
            n += 1;
        }

        var ends: [258]u32 = @splat(0);
        for (s.moves.items) |move| {
            for (segments[move.low]..segments[@as(usize, move.high) + 1]) |segment| ends[segment + 1] += 1;
        }
        for (1..n) |segment| ends[segment] += ends[segment - 1];
        try s.buckets.resize(s.arena, ends[n - 1]);
        for (s.moves.items) |move| {
            for (segments[move.low]..segments[@as(usize, move.high) + 1]) |segment| {
                s.buckets.items[ends[segment]] = move.to;
                ends[segment] += 1;
            }
        }

        var first: u32 = 0;
        for (0..n - 1) |segment| {
            const targets = s.buckets.items[first..ends[segment]];
            first = ends[segment];
            const to = if (targets.len == 1) try s.stateOfOne(targets[0]) else try s.stateOfMany(targets);
            try s.account();
            @memset(s.row(state)[firsts[segment]..firsts[segment + 1]], to);
        }
    }

    fn stateOfOne(s: *SubsetConstruction, target: u32) Error!u16 {
        if (s.alone[target] != unknown) return s.alone[target];
        const state = try s.stateOfMany(&.{target});
        s.alone[target] = state;
        return state;
    }

    fn stateOfMany(s: *SubsetConstruction, targets: []const u32) Error!u16 {
        if (targets.len == 0) return dfa.dead;
        s.begin();
        for (targets) |target| try s.close(target);
        return s.stateOfSet();
    }

    fn begin(s: *SubsetConstruction) void {
        s.set.clearRetainingCapacity();
        s.hash = 0;
        s.first_hard = std.math.maxInt(u32);
        s.generation += 1;
    }

    /// Adds the epsilon closure of an NFA state to the set.
    fn close(s: *SubsetConstruction, from: u32) Error!void {
        try s.pending.append(s.arena, from);
        while (s.pending.pop()) |at| {
            s.steps += 1;
            if (s.marks[at] == s.generation) continue;
            s.marks[at] = s.generation;
            const state = s.nfa.states[at];
            switch (state.kind) {
                .split => {
                    try s.pending.append(s.arena, state.b);
                    try s.pending.append(s.arena, state.a);
                },
                .branch => try s.pending.appendSlice(s.arena, s.nfa.targets[state.a..][0..state.b]),
                .look => unreachable, // look_around.zig leaves none
                .byte, .ranges => try s.include(at),
                .match => {
                    if (!s.patterns[at].soft) s.first_hard = @min(s.first_hard, at);
                    try s.include(at);
                },
            }
        }
    }

    fn include(s: *SubsetConstruction, member: u32) Allocator.Error!void {
        try s.set.append(s.arena, member);
        s.hash +%= interner.mix(member);
    }

    fn stateOfSet(s: *SubsetConstruction) Error!u16 {
        if (s.set.items.len == 0 or !s.hasWanted()) return dfa.dead;
        if (s.first_hard < s.patterns.len) s.dropHidden();
        if (s.interned.find(interner.mix(s.hash), Same{ .subset = s })) |state| return @intCast(state);
        const list = try s.matchList();
        const state = try s.newState(list);
        try s.interned.insert(s.arena, interner.mix(s.hash), state);
        return state;
    }

    /// Whether the first pattern matches, and continues to whatever follows.
    fn isDecided(s: *const SubsetConstruction, set: []const u32) bool {
        return s.patterns.len > 0 and s.patterns[0].open and set.len == 1 and set[0] == 0;
    }

    fn hasWanted(s: *const SubsetConstruction) bool {
        var first = s.patterns.len;
        for (s.nfa.ends[0..s.n_wanted], 0..) |end, pattern| {
            for (s.set.items) |member| {
                if (member == pattern or (first <= member and member < end)) break;
            } else return false;
            first = end;
        }
        return true;
    }

    /// Drops the patterns after the first that is not soft: they never win. After the match of the very first
    /// that is open nothing does.
    fn dropHidden(s: *SubsetConstruction) void {
        if (s.first_hard == 0 and s.patterns[0].open) {
            s.set.clearRetainingCapacity();
            s.set.appendAssumeCapacity(0);
            s.hash = interner.mix(0);
            return;
        }
        var n: usize = 0;
        for (s.set.items) |member| {
            if (member < s.patterns.len and member > s.first_hard) {
                s.marks[member] = 0;
                s.hash -%= interner.mix(member);
            } else {
                s.set.items[n] = member;
                n += 1;
            }
        }
        s.set.shrinkRetainingCapacity(n);
    }

    fn matchList(s: *SubsetConstruction) Allocator.Error!u16 {
        var first_word = s.pattern_bits.len;
        var end_word: usize = 0;
        for (s.set.items) |member| if (member < s.patterns.len) {
            const word = member / 64;
            s.pattern_bits[word] |= @as(u64, 1) << @truncate(member);
            first_word = @min(first_word, word);
            end_word = @max(end_word, word + 1);
        };
        for (first_word..@max(first_word, end_word)) |word| {
            while (s.pattern_bits[word] != 0) : (s.pattern_bits[word] &= s.pattern_bits[word] - 1) {
                try s.lists.patterns.append(s.arena, @intCast(word * 64 + @ctz(s.pattern_bits[word])));
            }
        }
        return s.lists.intern(s.arena);
    }

    const Same = struct {
        subset: *const SubsetConstruction,

        pub fn equals(same: Same, number: u32) bool {
            const s = same.subset;
            const members = s.setOf(number);
            if (members.len != s.set.items.len) return false;
            for (members) |member| if (s.marks[member] != s.generation) return false;
            return true;
        }
    };

    fn newState(s: *SubsetConstruction, list: u16) Error!u16 {
        const state = s.ends.items.len;
        try s.budget.checkStates(state + 1, s.what, s.diag);
        try s.budget.take(s.set.items.len * @sizeOf(u32) + s.n_classes * @sizeOf(u16), s.what, s.diag);
        try s.members.appendSlice(s.arena, s.set.items);
        try s.ends.append(s.arena, @intCast(s.members.items.len));
        try s.matches.append(s.arena, list);
        @memset(try s.rows.addManyAsSlice(s.arena, s.n_classes), dfa.dead);
        return @intCast(state);
    }
};

comptime {
    // State numbers fit, and `unknown` is none of them.
    std.debug.assert(budget_module.states_most <= unknown);
}
