//! Minimises a DFA: merges states with the same future, and byte classes that no state tells apart.
//!
//! States that lead to finitely many texts are merged by their rows, from the last to the first, in linear time ("Minimisation
//! of Acyclic Deterministic Automata in Linear Time", D. Revuz, 1992). The others are merged by partition refinement: "Efficient
//! Minimization of DFAs with Partial Transition Functions" (A. Valmari and P. Lehtinen, 2008), in O(m log m) for m transitions.
//! Hopcroft's algorithm (1971) would also count the transitions to the dead state, which are most of them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const interner = @import("interner.zig");

const Error = Allocator.Error || diagnostic.Error;

/// A DFA that becomes smaller in place. State 0 is the dead state, state 1 the start; these two always exist.
pub const TransitionTable = struct {
    /// By byte.
    classes: *[256]u8,
    n_classes: u32,
    /// [state * n_classes + class] -> state.
    rows: []u16,
    /// By state: what it matches. 0: nothing.
    matches: []u16,

    /// Gives equal columns one class, in one pass over the rows and one over each pair that may be equal.
    pub fn mergeClasses(t: *TransitionTable) void {
        var hashes: [256]u32 = @splat(0);
        var rest: []const u16 = t.rows;
        while (rest.len > 0) : (rest = rest[t.n_classes..]) {
            for (hashes[0..t.n_classes], rest[0..t.n_classes]) |*hash, to| hash.* = (hash.* << 5) +% hash.* +% to;
        }
        var kept: [256]u8 = undefined;
        var renamed: [256]u8 = undefined;
        var n: usize = 0;
        for (0..t.n_classes) |class| {
            const same = for (kept[0..n], 0..) |earlier, i| {
                if (hashes[earlier] == hashes[class] and t.sameColumn(earlier, class)) break i;
            } else n;
            renamed[class] = @intCast(same);
            if (same < n) continue;
            kept[n] = @intCast(class);
            n += 1;
        }
        if (n == t.n_classes) return;
        for (t.classes) |*class| class.* = renamed[class.*];
        // Rows only get shorter: nothing is overwritten before it is read.
        for (0..t.matches.len) |state| {
            for (kept[0..n], 0..) |class, i| t.rows[state * n + i] = t.rows[state * t.n_classes + class];
        }
        t.n_classes = @intCast(n);
        t.rows = t.rows[0 .. t.matches.len * n];
    }

    fn sameColumn(t: *const TransitionTable, a: usize, b: usize) bool {
        var at: usize = 0;
        while (at < t.rows.len) : (at += t.n_classes) if (t.rows[at + a] != t.rows[at + b]) return false;
        return true;
    }

    /// The targets of a state, by class.
    pub fn row(t: *const TransitionTable, state: usize) []u16 {
        return t.rows[state * t.n_classes ..][0..t.n_classes];
    }

    /// Merges states with the same future and numbers the rest again, in the same order; the start keeps its number, even if it is
    /// as dead as state 0. Returns whether any were merged. Scratch memory goes to `arena`.
    pub fn mergeStates(t: *TransitionTable, arena: Allocator, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!bool {
        const n = t.matches.len;
        var merge: Merge = .{
            .table = t,
            .arena = arena,
            .canonical = try filled(u16, arena, n, 0),
            .budget = budget,
            .what = what,
            .diag = diag,
        };
        try merge.mergeAcyclic();
        try merge.mergeCyclic();
        return t.rename(arena, merge.canonical);
    }

    /// Keeps one state of each class of equals, in the order of the first state of each: the dead state stays 0, the start 1.
    fn rename(t: *TransitionTable, arena: Allocator, canonical: []const u16) Allocator.Error!bool {
        const numbers = try filled(u16, arena, canonical.len, none);
        const kept = try filled(u16, arena, canonical.len, 0);
        var n: u16 = 0;
        for (canonical) |state| if (numbers[state] == none) {
            numbers[state] = n;
            kept[n] = state;
            n += 1;
        };
        if (n == canonical.len) return false;
        // The new number of a kept state is at most its old one, so its row and match are read before they are overwritten.
        for (kept[0..n], 0..) |state, number| {
            for (t.row(number), t.row(state)) |*to, from| to.* = numbers[canonical[from]];
            t.matches[number] = t.matches[state];
        }
        t.matches = t.matches[0..n];
        t.rows = t.rows[0 .. n * @as(usize, t.n_classes)];
        return true;
    }
};

const none = std.math.maxInt(u16);

/// `n` elements, each of them `value`. Out of line, since allocating takes much code.
pub noinline fn filled(comptime T: type, arena: Allocator, n: usize, value: T) Allocator.Error![]T {
    const list = try arena.alloc(T, n);
    @memset(list, value);
    return list;
}

/// Finds for each state a canonical one with the same future.
const Merge = struct {
    table: *TransitionTable,
    arena: Allocator,
    /// By state; `none`: not known yet.
    canonical: []u16,
    /// States by their match and their row; targets that are not known yet all count as equal.
    interned: interner.Interner = .{},
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,
    work: usize = 0,

    /// States without a future become the dead state. Those with finitely many are visited after all their targets, and are equal
    /// if their rows are. Patterns of texts of bounded length have almost only these.
    fn mergeAcyclic(m: *Merge) Error!void {
        const n = m.canonical.len;
        const n_unknown = try filled(u32, m.arena, n, 0); // runs of classes to a target that is not known
        const first = try filled(u32, m.arena, n + 1, 0); // where the sources of a state begin
        var n_runs: u32 = 0;
        for (0..n) |state| {
            var runs: Runs = .{ .row = m.table.row(state) };
            const before = n_runs;
            while (runs.next()) |run| if (run.to != 0) {
                first[run.to] += 1;
                n_runs += 1;
            };
            n_unknown[state] = n_runs - before;
            try m.account(runs.row.len);
        }
        var total: u32 = 0;
        for (first) |*count| {
            total += count.*;
            count.* = total;
        }
        try m.budget.take(n_runs * @sizeOf(u16) + n * 14, m.what, m.diag);
        const sources = try filled(u16, m.arena, n_runs, 0);
        for (0..n) |state| {
            var runs: Runs = .{ .row = m.table.row(state) };
            while (runs.next()) |run| if (run.to != 0) {
                first[run.to] -= 1;
                sources[first[run.to]] = @intCast(state);
            };
        }

        const order = try filled(u16, m.arena, n, 0);
        try m.findLive(first, sources, order);
        var n_known: usize = 0;
        for (n_unknown, m.canonical, 0..) |*unknown, same, state| {
            if (same != none) unknown.* = 0;
            if (unknown.* > 0) continue;
            order[n_known] = @intCast(state);
            n_known += 1;
        }
        var done: usize = 0;
        while (done < n_known) : (done += 1) {
            const state = order[done];
            if (m.canonical[state] == none) m.canonical[state] = try m.internRow(state);
            try m.account(m.table.n_classes);
            for (sources[first[state]..first[state + 1]]) |source| {
                n_unknown[source] -%= 1; // below 0 in those with no future
                if (n_unknown[source] != 0) continue;
                order[n_known] = source;
                n_known += 1;
            }
        }
    }

    /// All states begin as dead. Makes those unknown from which a match is reachable, and the start, which always exists.
    /// `order` is scratch memory.
    fn findLive(m: *Merge, first: []const u32, sources: []const u16, order: []u16) Error!void {
        var n_live: usize = 0;
        for (m.table.matches, 0..) |match, state| if (match != 0) m.markLive(@intCast(state), order, &n_live);
        var done: usize = 0;
        while (done < n_live) : (done += 1) {
            const into = sources[first[order[done]]..first[order[done] + 1]];
            try m.account(into.len);
            for (into) |source| m.markLive(source, order, &n_live);
        }
        m.canonical[1] = none;
    }

    fn markLive(m: *Merge, state: u16, order: []u16, n_live: *usize) void {
        if (m.canonical[state] == none) return;
        m.canonical[state] = none;
        order[n_live.*] = state;
        n_live.* += 1;
    }

    /// Merges the other states: those that reach a cycle.
    fn mergeCyclic(m: *Merge) Error!void {
        const n = m.canonical.len;
        var states: ArrayList(u16) = .empty;
        for (m.canonical, 0..) |state, i| if (state == none) try states.append(m.arena, @intCast(i));
        if (states.items.len == 0) return;
        // The first partition is by what is known already.
        const dense = try filled(u16, m.arena, n, 0);
        const sets = try filled(u32, m.arena, states.items.len, 0);
        const set_of = try filled(u32, m.arena, n, 0);
        var n_sets: u32 = 0;
        for (states.items, sets, 0..) |state, *set, i| {
            dense[state] = @intCast(i);
            const same = try m.internRow(state);
            if (same == state) {
                set_of[state] = n_sets;
                n_sets += 1;
            }
            set.* = set_of[same];
            try m.account(m.table.n_classes);
        }
        var refinement: Refinement = undefined;
        try refinement.init(m, states.items, dense, sets, n_sets);
        try refinement.run(m);
        const of_set = try filled(u16, m.arena, refinement.states.n_sets, none);
        for (states.items, refinement.states.set_of) |state, set| {
            if (of_set[set] == none) of_set[set] = state;
            m.canonical[state] = of_set[set];
        }
    }

    /// The first state with the same match and row, or the state itself. Makes the row's known targets canonical.
    fn internRow(m: *Merge, state: u16) Allocator.Error!u16 {
        var hash: u32 = m.table.matches[state];
        var runs: Runs = .{ .row = m.table.row(state) };
        var before: ?u16 = null;
        while (runs.next()) |run| {
            const to = m.canonical[run.to];
            if (to != none and to != run.to) @memset(runs.row[run.first..run.end], to);
            if (to == before) continue; // runs that have become one
            before = to;
            hash = interner.combine(hash, @as(u32, to) << 8 | run.first);
        }
        if (m.interned.find(hash, Same{ .merge = m, .state = state })) |same| return @intCast(same);
        try m.interned.insert(m.arena, hash, state);
        return state;
    }

    const Same = struct {
        merge: *const Merge,
        state: u16,

        pub fn equals(same: Same, other: u32) bool {
            const m = same.merge;
            if (m.table.matches[other] != m.table.matches[same.state]) return false;
            for (m.table.row(other), m.table.row(same.state)) |a, b| {
                if (a != b and (m.canonical[a] != none or m.canonical[b] != none)) return false;
            }
            return true;
        }
    };

    fn account(m: *Merge, work: usize) Error!void {
        m.work += work;
        if (m.work < work_between_checks) return;
        m.work = 0;
        try m.budget.check(m.what, m.diag);
    }

    const work_between_checks = 2048;
};

/// The runs of a row: neighbouring classes that lead to one state.
const Runs = struct {
    row: []u16,
    at: u16 = 0,

    const Run = struct { first: u16, end: u16, to: u16 };

    inline fn next(r: *Runs) ?Run {
        if (r.at == r.row.len) return null;
        const first = r.at;
        const to = r.row[first];
        while (r.at < r.row.len and r.row[r.at] == to) r.at += 1;
        return .{ .first = first, .end = r.at, .to = to };
    }
};

/// Valmari and Lehtinen's two partitions, which refine each other until they agree: of the states, into those that may have the
/// same future; of the transitions between them, into those of one byte class that lead to one set of states.
const Refinement = struct {
    states: Partition,
    transitions: Partition,
    /// By transition: the state that it comes from.
    tails: []u16,
    /// The transitions into state s: incoming[incoming_first[s]..incoming_first[s + 1]].
    incoming: []u32,
    incoming_first: []u32,

    /// States are numbered by their index in `members`, which `dense` gives back. State i begins in set sets[i] of n_sets.
    fn init(r: *Refinement, m: *Merge, members: []const u16, dense: []const u16, sets: []const u32, n_sets: u32) Error!void {
        const arena = m.arena;
        const t = m.table;
        const by_class = try filled(u32, arena, t.n_classes + 1, 0);
        const first = try filled(u32, arena, members.len + 1, 0);
        for (members) |state| for (t.row(state), by_class[1..]) |to, *count| {
            if (m.canonical[to] != none) continue;
            count.* += 1;
            first[dense[to]] += 1;
        };
        var total: u32 = 0;
        for (first) |*count| {
            total += count.*;
            count.* = total; // where the transitions into the state end; filled backwards
        }
        try m.budget.take((@as(u64, total) + members.len) * Partition.bytes_per_element + @as(u64, total) * 6, m.what, m.diag);
        r.tails = try arena.alloc(u16, total);
        r.incoming = try arena.alloc(u32, total);
        for (1..by_class.len) |class| by_class[class] += by_class[class - 1];

        r.transitions = try .init(arena, total);
        r.transitions.ordered(by_class);
        for (members, 0..) |state, number| for (t.row(state), by_class[0..t.n_classes]) |to, *at| {
            if (m.canonical[to] != none) continue;
            r.tails[at.*] = @intCast(number);
            const into = dense[to];
            first[into] -= 1;
            r.incoming[first[into]] = at.*;
            at.* += 1;
        };
        r.incoming_first = first;
        try r.initStates(arena, sets, n_sets);
    }

    fn initStates(r: *Refinement, arena: Allocator, sets: []const u32, n_sets: u32) Allocator.Error!void {
        const p = &r.states;
        p.* = try .init(arena, @intCast(sets.len));
        const places = try filled(u32, arena, n_sets + 1, 0);
        for (sets) |set| places[set + 1] += 1;
        for (1..places.len) |i| places[i] += places[i - 1];
        p.ordered(places);
        for (sets, 0..) |set, state| {
            p.elements[places[set]] = @intCast(state);
            p.places[state] = places[set];
            p.set_of[state] = set;
            places[set] += 1;
        }
    }

    fn run(r: *Refinement, m: *Merge) Error!void {
        // The first set of states need not split transitions: what leads there is what the other sets leave over.
        var next_states: u32 = 1;
        var next_transitions: u32 = 0;
        while (next_transitions < r.transitions.n_sets) : (next_transitions += 1) {
            const set = r.transitions.members(next_transitions);
            try m.account(set.len);
            for (set) |transition| r.states.mark(r.tails[transition]);
            r.states.split();
            while (next_states < r.states.n_sets) : (next_states += 1) {
                for (r.states.members(next_states)) |state| {
                    for (r.incoming[r.incoming_first[state]..r.incoming_first[state + 1]]) |transition| r.transitions.mark(transition);
                }
                r.transitions.split();
            }
        }
    }
};

/// A refinable partition of the numbers below n. Members are marked, then every set that has both kinds is split.
const Partition = struct {
    /// The sets one after the other, the marked members of each first.
    elements: []u32,
    /// By number: its index in `elements`.
    places: []u32,
    /// By number: its set.
    set_of: []u32,
    /// By set: its range of `elements`.
    firsts: []u32,
    ends: []u32,
    n_marked: []u32,
    n_sets: u32,
    /// Sets with a marked member.
    touched: []u32,
    n_touched: u32,

    const bytes_per_element = 7 * @sizeOf(u32);

    fn init(arena: Allocator, n: u32) Allocator.Error!Partition {
        var p: Partition = undefined;
        inline for (.{ "elements", "places", "set_of", "firsts", "ends", "n_marked", "touched" }) |name| {
            @field(p, name) = try filled(u32, arena, n, 0);
        }
        p.n_sets = 0;
        p.n_touched = 0;
        return p;
    }

    /// Puts all numbers in order; the sets are the ranges from borders[i] up to borders[i + 1], but for empty ones.
    fn ordered(p: *Partition, borders: []const u32) void {
        for (borders[1..], borders[0 .. borders.len - 1]) |end, first| {
            if (first == end) continue;
            p.firsts[p.n_sets] = first;
            p.ends[p.n_sets] = end;
            for (first..end) |i| {
                p.elements[i] = @intCast(i);
                p.places[i] = @intCast(i);
                p.set_of[i] = p.n_sets;
            }
            p.n_sets += 1;
        }
    }

    fn members(p: *const Partition, set: u32) []const u32 {
        return p.elements[p.firsts[set]..p.ends[set]];
    }

    inline fn mark(p: *Partition, number: u32) void {
        const set = p.set_of[number];
        const place = p.places[number];
        const border = p.firsts[set] + p.n_marked[set];
        const other = p.elements[border];
        p.elements[place] = other;
        p.places[other] = place;
        p.elements[border] = number;
        p.places[number] = border;
        if (p.n_marked[set] == 0) {
            p.touched[p.n_touched] = set;
            p.n_touched += 1;
        }
        p.n_marked[set] += 1;
    }

    /// The smaller part becomes the new set, which bounds the work by O(n log n). Clears the marks.
    fn split(p: *Partition) void {
        while (p.n_touched > 0) {
            p.n_touched -= 1;
            const set = p.touched[p.n_touched];
            const border = p.firsts[set] + p.n_marked[set];
            const n_marked = p.n_marked[set];
            p.n_marked[set] = 0;
            if (border == p.ends[set]) continue;
            const added = p.n_sets;
            p.n_sets += 1;
            if (n_marked <= p.ends[set] - border) {
                p.firsts[added] = p.firsts[set];
                p.ends[added] = border;
                p.firsts[set] = border;
            } else {
                p.firsts[added] = border;
                p.ends[added] = p.ends[set];
                p.ends[set] = border;
            }
            for (p.members(added)) |number| p.set_of[number] = added;
        }
    }
};
