//! Merges states with the same future, and classes of bytes that no state tells apart.
//!
//! States: the refinement of Valmari and Lehtinen, "Efficient Minimization of DFAs with Partial Transition
//! Functions" (2008), in O(m log m) for m transitions, whatever their shape.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../../diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("../budget.zig").Budget;

pub const Error = Allocator.Error || diagnostic.Error;

/// An automaton that becomes smaller in place. State 0 is dead; from all others a match is reachable.
pub const Table = struct {
    classes: *[256]u8,
    n_classes: u32,
    /// [state * n_classes + class] -> state.
    rows: []u16,
    /// By state: what it matches.
    matches: []u16,

    pub fn mergeClasses(t: *Table) void {
        var hashes: [256]u32 = @splat(0);
        for (0..t.matches.len) |state| {
            for (hashes[0..t.n_classes], t.row(state)) |*hash, to| hash.* = hash.* *% 33 +% to;
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
        // Never writes what is still to be read.
        for (0..t.matches.len) |state| {
            for (kept[0..n], 0..) |class, i| t.rows[state * n + i] = t.rows[state * t.n_classes + class];
        }
        t.n_classes = @intCast(n);
        t.rows = t.rows[0 .. t.matches.len * n];
    }

    fn sameColumn(t: *const Table, a: usize, b: usize) bool {
        for (0..t.matches.len) |state| {
            const cells = t.row(state);
            if (cells[a] != cells[b]) return false;
        }
        return true;
    }

    fn row(t: *const Table, state: usize) []u16 {
        return t.rows[state * t.n_classes ..][0..t.n_classes];
    }

    pub fn mergeStates(t: *Table, arena: Allocator, n_lists: usize, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!void {
        const n = t.matches.len;
        var refinement: Refinement = undefined;
        try refinement.init(arena, t, n_lists, budget, what, diag);
        try refinement.run(budget, what, diag);
        if (refinement.states.n_sets == n) return;

        // Numbered by the first state of each: the dead state stays 0, the start 1.
        const numbers = try arena.alloc(u16, n);
        const of_set = try arena.alloc(u16, refinement.states.n_sets);
        @memset(of_set, none);
        var n_kept: u16 = 0;
        for (numbers, refinement.states.set_of) |*number, set| {
            if (of_set[set] == none) {
                of_set[set] = n_kept;
                n_kept += 1;
            }
            number.* = of_set[set];
        }
        var next: u16 = 0;
        for (numbers, 0..) |number, state| {
            if (number != next) continue;
            next += 1;
            for (t.rows[@as(usize, number) * t.n_classes ..][0..t.n_classes], t.row(state)) |*to, from| to.* = numbers[from];
            t.matches[number] = t.matches[state];
        }
        t.matches = t.matches[0..n_kept];
        t.rows = t.rows[0 .. n_kept * @as(usize, t.n_classes)];
    }

    const none = std.math.maxInt(u16);
};

/// Two partitions that refine each other until they agree: of the states, into those that may have the
/// same future; of the transitions, into those of one class that lead to one set of states.
const Refinement = struct {
    states: Partition,
    transitions: Partition,
    /// By transition, where it comes from.
    tails: []u16,
    /// The transitions into state s: incoming[incoming_first[s]..incoming_first[s + 1]].
    incoming: []u32,
    incoming_first: []u32,

    fn init(r: *Refinement, arena: Allocator, t: *const Table, n_lists: usize, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!void {
        const n = t.matches.len;
        const by_class = try arena.alloc(u32, t.n_classes + 1);
        @memset(by_class, 0);
        const first = try arena.alloc(u32, n + 1);
        @memset(first, 0);
        for (0..n) |state| for (t.row(state), by_class[1..]) |to, *count| {
            count.* += @intFromBool(to != 0);
            first[to] += 1;
        };
        first[0] = 0;
        var m: u32 = 0;
        for (first) |*count| {
            m += count.*;
            count.* = m; // where the transitions into the state end; filled backwards
        }
        try budget.take(m * @as(u64, Partition.bytes_per_element + 6) + n * @as(u64, Partition.bytes_per_element), what, diag);
        r.tails = try arena.alloc(u16, m);
        r.incoming = try arena.alloc(u32, m);
        for (1..by_class.len) |class| by_class[class] += by_class[class - 1];

        r.transitions = try .init(arena, m);
        r.transitions.ordered(by_class);
        for (0..n) |state| for (t.row(state), by_class[0..t.n_classes]) |to, *at| {
            if (to == 0) continue;
            r.tails[at.*] = @intCast(state);
            first[to] -= 1;
            r.incoming[first[to]] = at.*;
            at.* += 1;
        };
        r.incoming_first = first;
        try r.initStates(arena, t.matches, n_lists);
    }

    /// Into those with equal matches; the dead state is one of its own.
    fn initStates(r: *Refinement, arena: Allocator, matches: []const u16, n_lists: usize) Allocator.Error!void {
        r.states = try .init(arena, @intCast(matches.len));
        const ends = try arena.alloc(u32, n_lists + 2);
        @memset(ends, 0);
        ends[1] = 1;
        for (matches[1..]) |list| ends[list + 2] += 1;
        for (1..ends.len) |i| ends[i] += ends[i - 1];
        r.states.ordered(ends);
        // `ordered` has put state i at place i: now to the places of their lists.
        r.states.elements[0] = 0;
        for (matches[1..], 1..) |list, state| {
            const place = ends[list + 1];
            ends[list + 1] += 1;
            r.states.elements[place] = @intCast(state);
            r.states.places[state] = place;
        }
        for (0..r.states.n_sets) |set| {
            for (r.states.elements[r.states.firsts[set]..r.states.ends[set]]) |state| r.states.set_of[state] = @intCast(set);
        }
    }

    fn run(r: *Refinement, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!void {
        var work: usize = 0;
        // The transitions into the first states, set 1, are what the other sets leave over.
        var next_states: u32 = 2;
        var next_transitions: u32 = 0;
        while (next_transitions < r.transitions.n_sets) : (next_transitions += 1) {
            const set = r.transitions.members(next_transitions);
            work += set.len;
            for (set) |transition| r.states.mark(r.tails[transition]);
            r.states.split();
            while (next_states < r.states.n_sets) : (next_states += 1) {
                for (r.states.members(next_states)) |state| {
                    const into = r.incoming[r.incoming_first[state]..r.incoming_first[state + 1]];
                    work += into.len;
                    for (into) |transition| r.transitions.mark(transition);
                }
                r.transitions.split();
            }
            if (work < work_between_checks) continue;
            work = 0;
            try budget.check(what, diag);
        }
    }

    const work_between_checks = 1024;
};

/// Sets of the numbers below n. Members are marked, and then every set that has both kinds is split.
const Partition = struct {
    /// The sets one behind the other, the marked members of each first.
    elements: []u32,
    /// By number: where in `elements`, in which set.
    places: []u32,
    set_of: []u32,
    /// By set.
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
            @field(p, name) = try arena.alloc(u32, n);
        }
        @memset(p.n_marked, 0);
        p.n_sets = 0;
        p.n_touched = 0;
        return p;
    }

    /// All numbers in their order; set i is those from borders[i] up to borders[i + 1], if any.
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

    /// The smaller part becomes a new set. Clears the marks.
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
