//! Which patterns can still match, by state: the union of the match lists that the state reaches.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const TransitionTable = @import("minimise.zig").TransitionTable;
const MatchLists = @import("match_lists.zig").MatchLists;
const interner = @import("interner.zig");
const filled = @import("minimise.zig").filled;

const Error = Allocator.Error || diagnostic.Error;

/// Lives in the arena that `find` was given.
pub const ReachablePatterns = struct {
    /// By state: the number of its set. Sets are interned; set 0 is empty.
    of_state: []u16,
    /// [set * words]: a bit for each pattern.
    sets: []u64,
};

/// Of a minimal table. In one pass over the transitions, by strongly connected components in the order in which they are finished
/// ("Depth-First Search and Linear Graph Algorithms", R. E. Tarjan, 1972): the states of one component reach the same, and all
/// that it leads to is finished before it. The stack is the search's own, since the patterns decide how deep it gets.
pub fn find(
    arena: Allocator,
    table: *const TransitionTable,
    lists: *const MatchLists,
    n_patterns: usize,
    words: u32,
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,
) Error!ReachablePatterns {
    const n = table.matches.len;
    if (n_patterns == 1) return ofOnePattern(arena, table, words);
    var search: Search = .{
        .arena = arena,
        .table = table,
        .lists = lists,
        .words = words,
        .of_state = try filled(u16, arena, n, unfinished),
        .orders = try filled(u32, arena, n, 0),
        .set = try arena.alloc(u64, words),
    };
    @memset(search.set, 0);
    _ = try search.internSet(); // set 0
    search.of_state[0] = 0;
    try search.enter(1);
    while (search.path.items.len > 0) {
        if (search.order % 256 == 0) try budget.check(what, diag);
        try search.visitNext();
    }
    try budget.take(search.sets.items.len * @sizeOf(u64), what, diag);
    return .{ .of_state = search.of_state, .sets = search.sets.items };
}

/// In a minimal table the only pattern can match from every state but the dead one, and from the start unless nothing matches.
fn ofOnePattern(arena: Allocator, table: *const TransitionTable, words: u32) Allocator.Error!ReachablePatterns {
    const n = table.matches.len;
    const nothing = n == 2 and table.matches[1] == 0;
    const of_state = try filled(u16, arena, n, @intFromBool(!nothing));
    of_state[0] = 0;
    const sets = try arena.alloc(u64, if (nothing) words else 2 * words);
    @memset(sets, 0);
    if (!nothing) sets[words] = 1;
    return .{ .of_state = of_state, .sets = sets };
}

/// Of a state whose component is not finished.
const unfinished = std.math.maxInt(u16);

const Search = struct {
    arena: Allocator,
    table: *const TransitionTable,
    lists: *const MatchLists,
    words: u32,
    of_state: []u16,
    /// By state: when it was entered, from 1 on; 0: not yet.
    orders: []u32,
    order: u32 = 0,
    /// The states from the start to where the search is.
    path: ArrayList(Visit) = .empty,
    /// The states of open components, as they were entered.
    component: ArrayList(u16) = .empty,
    sets: ArrayList(u64) = .empty,
    interned: interner.Interner = .{},
    /// The set of the component that is being finished.
    set: []u64,

    const Visit = struct {
        state: u16,
        class: u16 = 0,
        /// The earliest state of the path that it is known to reach.
        low: u32,
    };

    fn enter(s: *Search, state: u16) Allocator.Error!void {
        s.order += 1;
        s.orders[state] = s.order;
        try s.path.append(s.arena, .{ .state = state, .low = s.order });
        try s.component.append(s.arena, state);
    }

    fn row(s: *const Search, state: u16) []const u16 {
        return s.table.rows[@as(usize, state) * s.table.n_classes ..][0..s.table.n_classes];
    }

    /// Continues to a state that was not entered, or back when there is none.
    fn visitNext(s: *Search) Allocator.Error!void {
        const visit = &s.path.items[s.path.items.len - 1];
        for (s.row(visit.state)[visit.class..]) |to| {
            visit.class += 1;
            if (s.of_state[to] != unfinished) continue;
            if (s.orders[to] == 0) return s.enter(to);
            visit.low = @min(visit.low, s.orders[to]);
        }
        const done = visit.*;
        _ = s.path.pop();
        if (s.path.items.len > 0) {
            const back = &s.path.items[s.path.items.len - 1];
            back.low = @min(back.low, done.low);
        }
        if (done.low == s.orders[done.state]) try s.finish(done.state);
    }

    /// `first` is the first state of a component; the others were entered after it.
    fn finish(s: *Search, first: u16) Allocator.Error!void {
        var from = s.component.items.len - 1;
        while (s.component.items[from] != first) from -= 1;
        const states = s.component.items[from..];
        for (states) |state| {
            var before: u16 = 0;
            for (s.row(state)) |to| {
                if (to == before or s.of_state[to] == unfinished) continue;
                before = to;
                const set = s.sets.items[@as(usize, s.of_state[to]) * s.words ..][0..s.words];
                for (s.set, set) |*all, word| all.* |= word;
            }
            for (s.lists.get(s.table.matches[state])) |pattern| s.set[pattern / 64] |= @as(u64, 1) << @truncate(pattern);
        }
        const set = try s.internSet();
        for (states) |state| s.of_state[state] = set;
        s.component.shrinkRetainingCapacity(from);
        @memset(s.set, 0);
    }

    fn internSet(s: *Search) Allocator.Error!u16 {
        var hash: u32 = 0;
        for (s.set) |word| hash = interner.combine(interner.combine(hash, @truncate(word)), @truncate(word >> 32));
        if (s.interned.find(hash, Same{ .search = s })) |set| return @intCast(set);
        const set: u16 = @intCast(s.sets.items.len / s.words);
        try s.interned.insert(s.arena, hash, set);
        try s.sets.appendSlice(s.arena, s.set);
        return set;
    }

    const Same = struct {
        search: *const Search,

        pub fn equals(same: Same, set: u32) bool {
            const s = same.search;
            return std.mem.eql(u64, s.sets.items[set * s.words ..][0..s.words], s.set);
        }
    };
};
