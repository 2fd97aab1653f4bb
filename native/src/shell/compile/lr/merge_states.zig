//! Merges states of canonical LR(1) that need not be apart, so that the tables are seldom larger than those of LALR(1). The aim
//! is that of "A Practical General Method for Constructing LR(k) Parsers" (D. Pager, 1977), which merges while it constructs.
//! Here the canonical automaton is whole already, so its states are partitioned, and the partition is refined until it agrees
//! with the transitions, as "Gedanken-Experiments on Sequential Machines" minimises automata (E. F. Moore, 1956).
//!
//! States may merge if they have the same items and shift the same terminals, if none gets a reduce-reduce conflict from it, and
//! if what they lead to merges. That a reduction gets more lookaheads does no harm: as in LALR(1), a terminal that cannot follow
//! is found out before it is shifted.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const AugmentedGrammar = @import("augmented_grammar.zig").AugmentedGrammar;
const Automaton = @import("lr_automaton.zig").Automaton;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Lives in the context's arena.
pub const Merged = struct {
    /// Its kernels have no lookaheads; its reductions have.
    automaton: Automaton,
    /// [state * words]: the terminals that a state shifts.
    shift_sets: []u64,
};

/// Of a canonical automaton without conflicts; `shift_sets` are what its states still shift. The result has none either.
pub fn mergeStates(ctx: *const Context, g: *const AugmentedGrammar, a: *const Automaton, shift_sets: []const u64) Error!Merged {
    const n = a.nStates();
    var m: Merger = .{
        .ctx = ctx,
        .g = g,
        .a = a,
        .shift_sets = shift_sets,
        .groups = try ctx.alloc(u32, n),
        .next_groups = try ctx.alloc(u32, n),
        .members = try ctx.alloc(u32, n),
        .table = .{ .heads = try ctx.alloc(u32, std.math.ceilPowerOfTwoAssert(usize, @as(usize, n) + 1)), .next = try ctx.alloc(u32, n) },
    };
    try m.groupByKernelAndShifts();
    while (try m.split()) {}
    return m.assemble();
}

/// A hash table of groups, chained. The user compares.
const GroupTable = struct {
    /// Their number is a power of two.
    heads: []u32,
    /// [group]
    next: []u32,

    const end = std.math.maxInt(u32);

    fn clear(c: *const GroupTable) void {
        @memset(c.heads, end);
    }

    fn head(c: *const GroupTable, hash: u64) *u32 {
        return &c.heads[@intCast(hash & (c.heads.len - 1))];
    }

    fn add(c: *const GroupTable, hash: u64, number: u32) void {
        c.next[number] = c.head(hash).*;
        c.head(hash).* = number;
    }
};

const Merger = struct {
    ctx: *const Context,
    g: *const AugmentedGrammar,
    a: *const Automaton,
    shift_sets: []const u64,
    /// [state]: its group, and what `split` makes of it.
    groups: []u32,
    next_groups: []u32,
    /// [group]: its first state.
    members: []u32,
    n_groups: u32 = 0,
    table: GroupTable,

    /// The first partition: by items and shifts, as long as no reductions conflict. First fit, so the result depends on the order
    /// of states, which is that of construction.
    fn groupByKernelAndShifts(m: *Merger) Error!void {
        const words = m.g.words;
        // [group's first reduction + i]: the lookaheads of its reductions so far.
        var united: ArrayList(u64) = .empty;
        const offsets = try m.ctx.alloc(usize, m.groups.len);
        m.table.clear();
        for (m.groups, 0..) |*to, state| {
            if (state % 32 == 0) try m.ctx.check();
            const range = m.a.reductionsOf(state);
            const own = m.a.lookaheads.items[@as(usize, range.start) * words .. @as(usize, range.end) * words];
            const hash = std.hash.Wyhash.hash(
                std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(m.a.kernelOf(state))),
                std.mem.sliceAsBytes(m.shiftsOf(state)),
            );
            var number = m.table.head(hash).*;
            while (number != GroupTable.end) : (number = m.table.next[number]) {
                if (!m.haveSameKernelAndShifts(m.members[number], state)) continue;
                const theirs = united.items[offsets[number]..][0..own.len];
                if (reductionsConflict(theirs, own, words)) continue;
                _ = sets.unite(theirs, own);
                break;
            } else {
                number = m.n_groups;
                m.n_groups += 1;
                m.members[number] = @intCast(state);
                offsets[number] = united.items.len;
                try m.ctx.appendSlice(&united, own);
                m.table.add(hash, number);
            }
            to.* = number;
        }
    }

    fn haveSameKernelAndShifts(m: *const Merger, a: usize, b: usize) bool {
        return std.mem.eql(u32, m.a.kernelOf(a), m.a.kernelOf(b)) and std.mem.eql(u64, m.shiftsOf(a), m.shiftsOf(b));
    }

    fn shiftsOf(m: *const Merger, state: usize) []const u64 {
        return sets.row(m.shift_sets, state, m.g.words);
    }

    /// Splits groups whose states lead to different groups. Whether there was any.
    fn split(m: *Merger) Error!bool {
        const n_before = m.n_groups;
        m.n_groups = 0;
        m.table.clear();
        for (m.next_groups, 0..) |*to, state| {
            if (state % 32 == 0) try m.ctx.check();
            const hash = m.hashOfTargets(state);
            var number = m.table.head(hash).*;
            while (number != GroupTable.end) : (number = m.table.next[number]) {
                if (m.haveSameTargets(m.members[number], state)) break;
            } else {
                number = m.n_groups;
                m.n_groups += 1;
                m.members[number] = @intCast(state);
                m.table.add(hash, number);
            }
            to.* = number;
        }
        std.mem.swap([]u32, &m.groups, &m.next_groups);
        return m.n_groups > n_before;
    }

    fn hashOfTargets(m: *const Merger, state: usize) u64 {
        var hash: u64 = m.groups[state];
        for (m.targetsOf(state)) |target| hash = (std.math.rotl(u64, hash, 5) ^ m.groups[target]) *% 0x9e37_79b9_7f4a_7c15;
        return hash ^ hash >> 32;
    }

    fn haveSameTargets(m: *const Merger, a: usize, b: usize) bool {
        if (m.groups[a] != m.groups[b]) return false;
        for (m.targetsOf(a), m.targetsOf(b)) |x, y| if (m.groups[x] != m.groups[y]) return false;
        return true;
    }

    fn targetsOf(m: *const Merger, state: usize) []const u32 {
        const range = m.a.transitionsOf(state);
        return m.a.targets.items[range.start..range.end];
    }

    /// Groups are numbered by their first states, so the start is 0 again.
    fn assemble(m: *const Merger) Error!Merged {
        const words = m.g.words;
        var to: Automaton = .{ .kernel_words = 0 };
        const shift_sets = try m.ctx.alloc(u64, @as(usize, m.n_groups) * words);
        for ([_]*ArrayList(u32){ &to.kernel_offsets, &to.transition_offsets, &to.reduction_offsets }) |offsets| {
            try m.ctx.append(offsets, 0);
        }
        for (m.members[0..m.n_groups], 0..) |state, number| {
            try m.ctx.check();
            @memcpy(sets.row(shift_sets, number, words), m.shiftsOf(state));
            try m.ctx.appendSlice(&to.kernels, m.a.kernelOf(state));
            try m.ctx.append(&to.kernel_offsets, @intCast(to.kernels.items.len));
            const transitions = m.a.transitionsOf(state);
            for (transitions.start..transitions.end) |i| {
                try m.ctx.append(&to.symbols, m.a.symbols.items[i]);
                try m.ctx.append(&to.targets, m.groups[m.a.targets.items[i]]);
            }
            try m.ctx.append(&to.transition_offsets, @intCast(to.symbols.items.len));
            const reductions = m.a.reductionsOf(state);
            try m.ctx.appendSlice(&to.reductions, m.a.reductions.items[reductions.start..reductions.end]);
            try m.ctx.append(&to.reduction_offsets, @intCast(to.reductions.items.len));
        }
        const n_words = to.reductions.items.len * words;
        try m.ctx.reserve(&to.lookaheads, n_words);
        to.lookaheads.appendNTimesAssumeCapacity(0, n_words);
        for (m.groups, 0..) |number, state| {
            const from = m.a.reductionsOf(state);
            const own = m.a.lookaheads.items[@as(usize, from.start) * words .. @as(usize, from.end) * words];
            _ = sets.unite(to.lookaheads.items[@as(usize, to.reductionsOf(number).start) * words ..][0..own.len], own);
        }
        return .{ .automaton = to, .shift_sets = shift_sets };
    }
};

/// Whether a reduction of one has a lookahead that is another reduction's in the other.
fn reductionsConflict(a: []const u64, b: []const u64, words: usize) bool {
    const n = a.len / words;
    for (0..n) |i| {
        for (0..n) |j| {
            if (i != j and sets.intersects(sets.row(a, i, words), sets.row(b, j, words))) return true;
        }
    }
    return false;
}
