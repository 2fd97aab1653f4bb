//! Look-around is regular: what must be true of the text after a place is an automaton that reads along with what follows,
//! and what must be true of the text before it is one that has read it. A pattern with look-around becomes a DFA whose
//! states are sets of threads: a state of the pattern's NFA, and the states of the automata that are still to be satisfied
//! (needs). What is needed after the pattern is left to whoever reads on.
//!
//! Where a pattern has lazy repeats, its threads are in the order of preference, as a backtracking matcher tries them, and
//! those after a match are dropped ("Regular Expression Matching: the Virtual Machine Approach", R. Cox, 2009).

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const dfa = @import("engine").dfa;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;
const ast = @import("ast.zig");
const Node = ast.Node;
const nfa_module = @import("nfa.zig");
const Nfa = nfa_module.Nfa;
const TransitionTable = @import("minimise.zig").TransitionTable;

/// The most threads of a state, sets of needs, and pairs that `seesBefore` looks at.
const threads_max = 1 << 12;

/// A node that matches the same whole texts and has no look-around.
pub fn whole(ctx: *const Context, node: *const Node, what: []const u8) Error!*const Node {
    var looks: Looks = try .init(ctx, what);
    looks.is_whole = true;
    const nfa = try looks.nfaOf(node);
    for (nfa.looks) |look| _ = try looks.numberOf(look);
    return nodeOf(ctx, try looks.wholeTable(&nfa, .end));
}

/// The same, where the node may be a part of a text. ELIZA_ERR_GRAMMAR: what is around the node's text counts.
pub fn closed(ctx: *const Context, node: *const Node, what: []const u8) Error!*const Node {
    var looks: Looks = try .init(ctx, what);
    try looks.add(node);
    const nfa = try looks.nfaOf(node);
    const beyond = "look-around that reaches beyond its text is unsupported in this place";
    if (looks.open.items.len > 0) return looks.fail(0, beyond);
    return nodeOf(ctx, try looks.wholeTable(&nfa, .{ .nothing = .{ .at = 0, .message = beyond } }));
}

/// An automaton that is still to be satisfied, and its state.
const Need = struct { look: u16, state: u16 };

/// What comes before a text, as far as it counts, and what it must be.
pub const Place = struct {
    /// Of each automaton of `Looks.open`: its state.
    behind: []const u16,
    /// The number of a set of needs.
    needs: u32 = 0,
};

/// The texts of a pattern that lead from one place to another.
pub const Way = struct {
    to: Place,
    /// Without look-around, and without the empty text. Null: no other is there.
    node: ?*const Node,
    /// Whether the empty text leads there.
    is_empty: bool,
};

/// The look-around of some patterns. All lives in the context's arena.
pub const Looks = struct {
    ctx: *const Context,
    /// What the patterns are, for messages.
    what: []const u8,
    /// The one pattern is all that there is: messages name bytes of it.
    is_whole: bool = false,
    list: ArrayList(Look) = .empty,
    of_nodes: ArrayList(struct { node: *const Node, number: u16 }) = .empty,
    /// Sets of needs, ascending; the first is empty.
    needs: ArrayList([]const Need) = .empty,
    /// The automata for which the text before a pattern counts.
    open: ArrayList(u16) = .empty,

    const Look = struct {
        behind: bool,
        negated: bool,
        table: TransitionTable,
        /// By state: whether all texts that continue from it are in the automaton, or none.
        decided: []const Decided,

        const Decided = enum { yes, no, open };

        fn next(look: *const Look, state: u16, byte: u8) u16 {
            return look.table.row(state)[look.table.classes[byte]];
        }

        /// Whether it is true of a text that ends in this state.
        fn holds(look: *const Look, state: u16) bool {
            return (look.table.matches[state] != 0) != look.negated;
        }

        /// Whether it is true, whatever follows.
        fn decide(look: *const Look, state: u16) Decided {
            return switch (look.decided[state]) {
                .open => .open,
                .yes => if (look.negated) .no else .yes,
                .no => if (look.negated) .yes else .no,
            };
        }
    };

    pub fn init(ctx: *const Context, what: []const u8) Error!Looks {
        var looks: Looks = .{ .ctx = ctx, .what = what };
        try ctx.append(&looks.needs, &.{});
        return looks;
    }

    /// Reads the look-around of a pattern. To be called for all patterns before `ways`.
    pub fn add(looks: *Looks, node: *const Node) Error!void {
        const nfa = try looks.nfaOf(node);
        for (nfa.looks) |look| {
            const number = try looks.numberOf(look);
            if (std.mem.findScalar(u16, looks.open.items, number) != null) continue;
            if (looks.list.items[number].behind and try looks.seesBefore(&nfa, number)) try looks.ctx.append(&looks.open, number);
        }
    }

    /// Before all text.
    pub fn start(looks: *const Looks) Error!Place {
        return .{ .behind = try looks.ctx.filled(u16, looks.open.items.len, dfa.start) };
    }

    /// Whether a text may end at a place.
    pub fn mayEnd(looks: *const Looks, needs: u32) bool {
        for (looks.needs.items[needs]) |need| if (!looks.list.items[need.look].holds(need.state)) return false;
        return true;
    }

    /// Where a pattern leads. An empty list: no text of it can stand there.
    pub fn ways(looks: *Looks, node: *const Node, from: Place) Error![]const Way {
        const nfa = try looks.nfaOf(node);
        const machine = try looks.run(&nfa, isOrdered(node), from);
        var found: ArrayList(Way) = .empty;
        for (1..machine.states.items.len) |state| for (machine.threadsOf(state)) |thread| {
            if (thread.nfa != match or machine.isCovered(state, thread)) continue;
            const to: Place = .{ .behind = machine.behindOf(state)[0..looks.open.items.len], .needs = thread.needs };
            for (found.items) |way| {
                if (isSame(way.to, to)) break;
            } else try looks.ctx.append(&found, .{ .to = to, .node = null, .is_empty = false });
        };
        for (found.items) |*way| {
            const matches = try looks.ctx.filled(u16, machine.states.items.len, 0);
            for (matches[1..], 1..) |*to, state| for (machine.threadsOf(state)) |thread| {
                if (thread.nfa != match or machine.isCovered(state, thread)) continue;
                const behind = machine.behindOf(state)[0..looks.open.items.len];
                if (isSame(way.to, .{ .behind = behind, .needs = thread.needs })) to.* = 1;
            };
            way.is_empty = matches[dfa.start] != 0;
            matches[dfa.start] = 0; // nothing leads back there
            if (std.mem.findScalar(u16, matches, 1) == null) continue;
            way.node = try nodeOf(looks.ctx, try machine.minimal(matches));
        }
        return found.items;
    }

    fn nfaOf(looks: *const Looks, node: *const Node) Error!Nfa {
        return nfa_module.build(looks.ctx.arena, &.{.{ .node = node }}, looks.ctx.budget, looks.what, looks.ctx.diag);
    }

    // ---- The automata

    /// Of a node that is one; those within it come before.
    fn numberOf(looks: *Looks, node: *const Node) Error!u16 {
        for (looks.of_nodes.items) |known| if (known.node == node) return known.number;
        const of = node.look;
        const parts = if (of.behind) [_]*const Node{ any_bytes, of.node } else [_]*const Node{ of.node, any_bytes };
        const nfa = try looks.nfaOf(try ast.concat(looks.ctx.arena, &parts));
        const beyond = "look-around in look-around that sees what is beyond both is unsupported";
        for (nfa.looks) |inner| {
            const number = try looks.numberOf(inner);
            if (!of.behind and looks.list.items[number].behind and try looks.seesBefore(&nfa, number)) {
                return looks.fail(of.at, beyond);
            }
        }
        const table = try looks.wholeTable(&nfa, if (of.behind) .{ .nothing = .{ .at = of.at, .message = beyond } } else .end);
        const number = for (looks.list.items, 0..) |known, i| {
            if (known.behind == of.behind and known.negated == of.negated and isSameTable(&known.table, &table)) break i;
        } else looks.list.items.len;
        if (number == std.math.maxInt(u16)) return looks.failLimit();
        if (number == looks.list.items.len) try looks.ctx.append(&looks.list, .{
            .behind = of.behind,
            .negated = of.negated,
            .table = table,
            .decided = try looks.decidedOf(&table),
        });
        try looks.ctx.append(&looks.of_nodes, .{ .node = node, .number = @intCast(number) });
        return @intCast(number);
    }

    /// What may be needed after a whole text: what its end satisfies, or nothing, and if something is, that is this error.
    const Behind = union(enum) { end, nothing: struct { at: usize, message: []const u8 } };

    fn wholeTable(looks: *Looks, nfa: *const Nfa, behind: Behind) Error!TransitionTable {
        const machine = try looks.run(nfa, false, try looks.start());
        const matches = try looks.ctx.filled(u16, machine.states.items.len, 0);
        for (matches[1..], 1..) |*to, state| for (machine.threadsOf(state)) |thread| {
            if (thread.nfa != match or machine.isCovered(state, thread)) continue;
            if (behind == .nothing and thread.needs != 0) return looks.fail(behind.nothing.at, behind.nothing.message);
            if (looks.mayEnd(thread.needs)) to.* = 1;
        };
        return machine.minimal(matches);
    }

    fn decidedOf(looks: *Looks, table: *const TransitionTable) Error![]const Look.Decided {
        const decided = try looks.ctx.alloc(Look.Decided, table.matches.len);
        for (decided, table.matches, 0..) |*to, state_match, state| {
            to.* = if (state_match != 0) .yes else .no;
            for (table.row(state)) |next| if (next != state) {
                to.* = .open;
            };
        }
        return decided;
    }

    /// Whether, at some place within the pattern, the automaton tells two texts before the pattern apart.
    fn seesBefore(looks: *Looks, nfa: *const Nfa, number: u16) Error!bool {
        const look = looks.list.items[number];
        var pairs: Pairs = .{ .looks = looks, .look = &look };
        const first = try looks.ctx.alloc(u16, look.table.matches.len);
        for (first, 0..) |*to, state| to.* = @intCast(@max(state, dfa.start)); // what reads any text is never dead
        try pairs.add(nfa.start, first);
        var at: usize = 0;
        while (at < pairs.list.items.len) : (at += 1) {
            if (at > threads_max) return true;
            if (at % 64 == 0) try looks.ctx.check();
            const pair = pairs.list.items[at];
            const state = nfa.states[pair.nfa];
            switch (state.kind) {
                .match => {},
                .look => {
                    if (try looks.numberOf(nfa.looks[state.b]) == number) for (pair.images) |image| {
                        if (look.holds(image) != look.holds(pair.images[0])) return true;
                    };
                    try pairs.add(state.a, pair.images);
                },
                .split => for ([_]u32{ state.a, state.b }) |to| try pairs.add(to, pair.images),
                .branch => for (nfa.targets[state.a..][0..state.b]) |to| try pairs.add(to, pair.images),
                .byte => try pairs.move(pair.images, state.low, state.high, state.a),
                .ranges => for (nfa.transitions[state.a..][0..state.b]) |to| try pairs.move(pair.images, to.low, to.high, to.to),
            }
        }
        return false;
    }

    /// States of an NFA and, for each state of an automaton before the pattern, the state that it has become.
    const Pairs = struct {
        looks: *Looks,
        look: *const Look,
        list: ArrayList(struct { nfa: u32, images: []const u16 }) = .empty,

        fn move(p: *Pairs, from: []const u16, low: u8, high: u8, to: u32) Error!void {
            var seen: [256]bool = @splat(false);
            for (low..@as(usize, high) + 1) |byte| {
                const class = p.look.table.classes[byte];
                if (seen[class]) continue;
                seen[class] = true;
                const images = try p.looks.ctx.alloc(u16, from.len);
                for (images, from) |*image, state| image.* = p.look.next(state, @intCast(byte));
                try p.add(to, images);
            }
        }

        fn add(p: *Pairs, nfa: u32, images: []const u16) Error!void {
            for (p.list.items) |known| if (known.nfa == nfa and std.mem.eql(u16, known.images, images)) return;
            try p.looks.ctx.append(&p.list, .{ .nfa = nfa, .images = images });
        }
    };

    // ---- Needs

    /// After a byte; null if one cannot be satisfied any more.
    fn advance(looks: *Looks, needs: u32, byte: u8) Error!?u32 {
        if (needs == 0) return 0;
        var left: ArrayList(Need) = .empty;
        for (looks.needs.items[needs]) |need| {
            const look = &looks.list.items[need.look];
            if (!try looks.addNeed(&left, .{ .look = need.look, .state = look.next(need.state, byte) })) return null;
        }
        return try looks.setOf(left.items);
    }

    /// With one more, which begins; null if it cannot be satisfied.
    fn with(looks: *Looks, needs: u32, number: u16) Error!?u32 {
        var all: ArrayList(Need) = .empty;
        try looks.ctx.appendSlice(&all, looks.needs.items[needs]);
        return if (try looks.addNeed(&all, .{ .look = number, .state = dfa.start })) try looks.setOf(all.items) else null;
    }

    fn addNeed(looks: *const Looks, needs: *ArrayList(Need), need: Need) Error!bool {
        switch (looks.list.items[need.look].decide(need.state)) {
            .yes => return true,
            .no => return false,
            .open => {},
        }
        for (needs.items) |known| if (std.meta.eql(known, need)) return true;
        try looks.ctx.append(needs, need);
        return true;
    }

    fn setOf(looks: *Looks, needs: []Need) Error!u32 {
        std.sort.insertion(Need, needs, {}, isBefore);
        for (looks.needs.items, 0..) |known, i| {
            if (std.mem.eql(u8, std.mem.sliceAsBytes(known), std.mem.sliceAsBytes(needs))) return @intCast(i);
        }
        if (looks.needs.items.len > threads_max) return looks.failLimit();
        try looks.ctx.append(&looks.needs, needs);
        return @intCast(looks.needs.items.len - 1);
    }

    fn isBefore(_: void, a: Need, b: Need) bool {
        return if (a.look != b.look) a.look < b.look else a.state < b.state;
    }

    /// Whether all that one set needs, another does.
    fn isPart(looks: *const Looks, part: u32, of: u32) bool {
        for (looks.needs.items[part]) |need| {
            for (looks.needs.items[of]) |known| {
                if (std.meta.eql(known, need)) break;
            } else return false;
        }
        return true;
    }

    // ---- Threads

    /// The NFA's state of a match.
    const match = 0;

    const Thread = struct {
        nfa: u32,
        needs: u32,

        fn key(thread: Thread) u64 {
            return @as(u64, thread.nfa) << 32 | thread.needs;
        }

        fn isBefore(_: void, a: Thread, b: Thread) bool {
            return a.key() < b.key();
        }
    };

    fn run(looks: *Looks, nfa: *const Nfa, is_ordered: bool, from: Place) Error!Machine {
        var machine: Machine = .{ .looks = looks, .nfa = nfa, .is_ordered = is_ordered };
        try looks.ctx.appendSlice(&machine.tracked, looks.open.items);
        try looks.ctx.appendSlice(&machine.behind, from.behind);
        for (nfa.looks) |look| {
            const number = try looks.numberOf(look);
            if (!looks.list.items[number].behind or std.mem.findScalar(u16, machine.tracked.items, number) != null) continue;
            try looks.ctx.append(&machine.tracked, number);
            try looks.ctx.append(&machine.behind, dfa.start); // any will do
        }
        try machine.expandAll(from.needs);
        return machine;
    }

    /// The DFA before it is minimised. State 0 is dead, and nothing leads back to the start.
    const Machine = struct {
        looks: *Looks,
        nfa: *const Nfa,
        is_ordered: bool,
        /// The automata that read what is before a thread. [state * their number]: where they are.
        tracked: ArrayList(u16) = .empty,
        behind: ArrayList(u16) = .empty,
        classes: [256]u8 = undefined,
        n_classes: u32 = 0,
        bytes: [256]u8 = undefined,
        rows: ArrayList(u16) = .empty,
        states: ArrayList(struct { from: u32, to: u32 }) = .empty,
        threads: ArrayList(Thread) = .empty,
        /// By the hash of a state: the last state with this hash, and of each state the one before.
        by_hash: NumberMap = .{},
        earlier: ArrayList(u32) = .empty,
        // Of the state that is being made.
        here: ArrayList(u16) = .empty,
        set: ArrayList(Thread) = .empty,
        known: NumberMap = .{},
        waiting: ArrayList(Thread) = .empty,

        fn threadsOf(m: *const Machine, state: usize) []const Thread {
            return m.threads.items[m.states.items[state].from..m.states.items[state].to];
        }

        fn behindOf(m: *const Machine, state: usize) []const u16 {
            return m.behind.items[state * m.tracked.items.len ..][0..m.tracked.items.len];
        }

        /// Whether another thread of the state matches and needs less.
        fn isCovered(m: *const Machine, state: usize, thread: Thread) bool {
            for (m.threadsOf(state)) |other| {
                if (other.nfa == match and other.needs != thread.needs and m.looks.isPart(other.needs, thread.needs)) return true;
            }
            return false;
        }

        fn expandAll(m: *Machine, needs: u32) Error!void {
            const ctx = m.looks.ctx;
            try m.classify();
            const n_tracked = m.tracked.items.len;
            try ctx.appendSlice(&m.here, m.behind.items);
            try m.behind.appendSlice(ctx.arena, m.here.items); // of the dead state, too
            try ctx.append(&m.states, .{ .from = 0, .to = 0 });
            try ctx.append(&m.earlier, 0);
            try ctx.appendSlice(&m.rows, (try ctx.filled(u16, m.n_classes, dfa.dead)));
            m.begin();
            _ = try m.close(.{ .nfa = m.nfa.start, .needs = needs });
            try m.addState();
            var state: usize = dfa.start;
            while (state < m.states.items.len) : (state += 1) {
                for (0..m.n_classes) |class| {
                    try ctx.check();
                    const byte = m.bytes[class];
                    m.begin();
                    m.here.clearRetainingCapacity();
                    for (0..n_tracked) |i| {
                        const at = m.behind.items[state * n_tracked + i];
                        m.here.appendAssumeCapacity(m.looks.list.items[m.tracked.items[i]].next(at, byte));
                    }
                    const range = m.states.items[state];
                    for (range.from..range.to) |i| if (!try m.step(m.threads.items[i], byte)) break;
                    const next = try m.stateOfSet();
                    m.rows.items[state * m.n_classes + class] = next;
                }
            }
        }

        /// Bytes of one class are alike to the pattern and to all look-around.
        fn classify(m: *Machine) Error!void {
            var borders: [257]bool = @splat(false);
            for (m.nfa.states) |state| if (state.kind == .byte) {
                borders[state.low] = true;
                borders[@as(usize, state.high) + 1] = true;
            };
            for (m.nfa.transitions) |transition| {
                borders[transition.low] = true;
                borders[@as(usize, transition.high) + 1] = true;
            }
            for (m.looks.list.items) |*look| for (1..256) |byte| {
                if (look.table.classes[byte] != look.table.classes[byte - 1]) borders[byte] = true;
            };
            for (0..256) |byte| {
                if (byte == 0 or borders[byte]) {
                    m.bytes[m.n_classes] = @intCast(byte);
                    m.n_classes += 1;
                }
                m.classes[byte] = @intCast(m.n_classes - 1);
            }
        }

        /// Adds to the set what a thread becomes. False: nothing after it counts.
        fn step(m: *Machine, thread: Thread, byte: u8) Error!bool {
            const needs = try m.looks.advance(thread.needs, byte) orelse return true;
            const state = m.nfa.states[thread.nfa];
            switch (state.kind) {
                .match => {},
                .byte => if (state.low <= byte and byte <= state.high) return m.close(.{ .nfa = state.a, .needs = needs }),
                .ranges => for (m.nfa.transitions[state.a..][0..state.b]) |move| {
                    if (move.low <= byte and byte <= move.high and !try m.close(.{ .nfa = move.to, .needs = needs })) return false;
                },
                .split, .branch, .look => unreachable, // they are followed at once
            }
            return true;
        }

        fn begin(m: *Machine) void {
            m.set.clearRetainingCapacity();
            m.known.clear();
        }

        /// Adds a thread, with all that it leads to without a byte, in the order of preference. False: nothing after it counts.
        fn close(m: *Machine, from: Thread) Error!bool {
            const ctx = m.looks.ctx;
            m.waiting.clearRetainingCapacity();
            try ctx.append(&m.waiting, from);
            while (m.waiting.pop()) |at| {
                if (m.known.get(at.key()) != null) continue;
                try m.known.put(ctx.arena, at.key(), 0);
                const state = m.nfa.states[at.nfa];
                switch (state.kind) {
                    .split => for ([_]u32{ state.b, state.a }) |to| try ctx.append(&m.waiting, .{ .nfa = to, .needs = at.needs }),
                    .branch => for (0..state.b) |i| {
                        const to = m.nfa.targets[state.a + state.b - 1 - i];
                        try ctx.append(&m.waiting, .{ .nfa = to, .needs = at.needs });
                    },
                    .look => {
                        const needs = try m.behindLook(at.needs, try m.looks.numberOf(m.nfa.looks[state.b])) orelse continue;
                        try ctx.append(&m.waiting, .{ .nfa = state.a, .needs = needs });
                    },
                    .match, .byte, .ranges => {
                        if (m.set.items.len == threads_max) return m.looks.failLimit();
                        try ctx.append(&m.set, at);
                        if (m.is_ordered and at.nfa == match and at.needs == 0) return false;
                    },
                }
            }
            return true;
        }

        /// What is needed after a look-around; null if it is false.
        fn behindLook(m: *Machine, needs: u32, number: u16) Error!?u32 {
            const look = &m.looks.list.items[number];
            if (!look.behind) return m.looks.with(needs, number);
            const i = std.mem.findScalar(u16, m.tracked.items, number).?;
            return if (look.holds(m.here.items[i])) needs else null;
        }

        fn stateOfSet(m: *Machine) Error!u16 {
            if (m.set.items.len == 0) return dfa.dead;
            if (!m.is_ordered) std.sort.heap(Thread, m.set.items, {}, Thread.isBefore);
            const hash = m.hashOfSet();
            var number = m.by_hash.get(hash) orelse 0;
            while (number != 0) : (number = m.earlier.items[number]) {
                if (std.mem.eql(u16, m.behindOf(number), m.here.items) and
                    std.mem.eql(u8, std.mem.sliceAsBytes(m.threadsOf(number)), std.mem.sliceAsBytes(m.set.items))) return @intCast(number);
            }
            number = @intCast(m.states.items.len);
            try m.addState();
            m.earlier.items[number] = m.by_hash.get(hash) orelse 0;
            try m.by_hash.put(m.looks.ctx.arena, hash, number);
            return @intCast(number);
        }

        fn hashOfSet(m: *const Machine) u64 {
            const here = std.hash.Wyhash.hash(0, std.mem.sliceAsBytes(m.here.items));
            return std.hash.Wyhash.hash(here, std.mem.sliceAsBytes(m.set.items)) >> 1;
        }

        fn addState(m: *Machine) Error!void {
            const ctx = m.looks.ctx;
            try ctx.budget.checkStates(m.states.items.len + 1, m.looks.what, ctx.diag);
            const from: u32 = @intCast(m.threads.items.len);
            try ctx.appendSlice(&m.threads, m.set.items);
            if (m.states.items.len > dfa.start) try ctx.appendSlice(&m.behind, m.here.items);
            try ctx.append(&m.states, .{ .from = from, .to = @intCast(m.threads.items.len) });
            try ctx.append(&m.earlier, 0);
            try ctx.appendSlice(&m.rows, try ctx.filled(u16, m.n_classes, dfa.dead));
        }

        /// With these states matching. Takes neither the rows nor the matches over.
        fn minimal(m: *const Machine, matches: []const u16) Error!TransitionTable {
            const ctx = m.looks.ctx;
            const classes = try ctx.alloc(u8, 256);
            @memcpy(classes, &m.classes);
            const rows = try ctx.alloc(u16, m.rows.items.len);
            @memcpy(rows, m.rows.items);
            const matching = try ctx.alloc(u16, matches.len);
            @memcpy(matching, matches);
            var table: TransitionTable = .{ .classes = classes[0..256], .n_classes = m.n_classes, .rows = rows, .matches = matching };
            table.mergeClasses();
            if (try table.mergeStates(ctx.arena, ctx.budget, m.looks.what, ctx.diag)) table.mergeClasses();
            return table;
        }
    };

    fn fail(looks: *const Looks, at: usize, text: []const u8) Error {
        if (looks.is_whole) return looks.ctx.diag.fail(.grammar, "at byte {d}: {s}", .{ at, text });
        return looks.ctx.diag.fail(.grammar, "{s}: {s}", .{ looks.what, text });
    }

    fn failLimit(looks: *const Looks) Error {
        return looks.ctx.diag.fail(.limit, "{s}: the look-around is too large", .{looks.what});
    }
};

/// Whether a node has look-around.
pub fn isIn(node: *const Node) bool {
    return switch (node.*) {
        .look => true,
        .repeat => |repeat| isIn(repeat.node),
        .concat, .alternate => |children| for (children) |child| {
            if (isIn(child)) break true;
        } else false,
        else => false,
    };
}

/// Whether the order of its ways to match counts.
fn isOrdered(node: *const Node) bool {
    return switch (node.*) {
        .repeat => |repeat| repeat.lazy or isOrdered(repeat.node),
        .concat, .alternate => |children| for (children) |child| {
            if (isOrdered(child)) break true;
        } else false,
        else => false,
    };
}

pub fn isSame(a: Place, b: Place) bool {
    return a.needs == b.needs and std.mem.eql(u16, a.behind, b.behind);
}

pub fn isSameTable(a: *const TransitionTable, b: *const TransitionTable) bool {
    return a.n_classes == b.n_classes and std.mem.eql(u8, a.classes, b.classes) and
        std.mem.eql(u16, a.rows, b.rows) and std.mem.eql(u16, a.matches, b.matches);
}

fn nodeOf(ctx: *const Context, table: TransitionTable) Error!*const Node {
    const kept = try ctx.alloc(TransitionTable, 1);
    kept[0] = table;
    return ast.create(ctx.arena, .{ .automaton = .{ .table = &kept[0] } });
}

/// Any bytes, in characters or not.
const any_bytes: *const Node = &.{ .automaton = .{ .table = &any_bytes_table } };
var any_bytes_classes: [256]u8 = @splat(0);
var any_bytes_rows = [_]u16{ dfa.dead, dfa.start };
var any_bytes_matches = [_]u16{ 0, 1 };
const any_bytes_table: TransitionTable = .{
    .classes = &any_bytes_classes,
    .n_classes = 1,
    .rows = &any_bytes_rows,
    .matches = &any_bytes_matches,
};
