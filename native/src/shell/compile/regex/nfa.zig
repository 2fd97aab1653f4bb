//! From syntax trees to one NFA with epsilon transitions: "Regular Expression Search Algorithm", K. Thompson, 1968. Each pattern is
//! built from its end to its start, so that what follows a node exists when the node is added, and nothing is patched but loops.
//! The tree is walked on a stack of its own, since the patterns decide how deep it is.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("ast.zig");
const utf8 = @import("utf8.zig");
const interner = @import("interner.zig");
const TransitionTable = @import("minimise.zig").TransitionTable;
const Pattern = @import("pattern.zig").Pattern;
const dfa = @import("engine").dfa;

const Error = Allocator.Error || diagnostic.Error;

/// What `a`, `b`, `low` and `high` are is said at its kind.
pub const State = struct {
    kind: Kind,
    low: u8 = 0,
    high: u8 = 0,
    a: u32 = 0,
    b: u32 = 0,

    /// What the state does.
    pub const Kind = enum(u8) {
        /// The pattern that has this state's number is complete.
        match,
        /// Bytes from `low` to `high` lead to `a`.
        byte,
        /// `b` entries of `transitions` from `a` on.
        ranges,
        /// Epsilon transitions to `a` and to `b`.
        split,
        /// Epsilon transitions to `b` entries of `targets` from `a` on.
        branch,
        /// To `a`, where entry `b` of `looks` is true.
        look,
    };
};

/// Subset construction changes its bytes to byte classes in place. Epsilon transitions are in the order of preference.
pub const Nfa = struct {
    /// State p, for each pattern p, is that pattern's match.
    states: []State,
    transitions: []utf8.Transition,
    targets: []u32,
    start: u32,
    looks: []const *const ast.Node,
    /// Of each pattern: its states but the match are those before here, from the end of the pattern before on, or
    /// from after the matches.
    ends: []u32,
};

/// The result lives in `arena`. ELIZA_ERR_LIMIT: far more states than the budget allows the DFA, or too long.
pub fn build(arena: Allocator, patterns: []const Pattern, budget: *Budget, what: []const u8, diag: *Diagnostic) Error!Nfa {
    var builder: Builder = .{
        .arena = arena,
        .budget = budget,
        .what = what,
        .diag = diag,
        .n_states_max = patterns.len + states_before_merging * @as(usize, budget.states_max),
        .classes = .{ .arena = arena },
    };
    for (0..patterns.len) |_| _ = try builder.add(.{ .kind = .match });
    const ends = try arena.alloc(u32, patterns.len);
    for (patterns, ends, 0..) |pattern, *end, i| {
        const first = try builder.pattern(pattern.node, @intCast(i));
        try builder.values.append(arena, first);
        end.* = @intCast(builder.states.items.len);
    }
    const start = try builder.branch(0);
    try builder.account();
    return .{
        .states = builder.states.items,
        .transitions = builder.transitions.items,
        .targets = builder.targets.items,
        .start = start,
        .looks = builder.looks.items,
        .ends = ends,
    };
}

/// An NFA that has this many times the states that the DFA may have is refused at once.
const states_before_merging = 4;

const Builder = struct {
    arena: Allocator,
    budget: *Budget,
    what: []const u8,
    diag: *Diagnostic,
    n_states_max: usize,

    states: ArrayList(State) = .empty,
    transitions: ArrayList(utf8.Transition) = .empty,
    targets: ArrayList(u32) = .empty,
    looks: ArrayList(*const ast.Node) = .empty,

    classes: utf8.Builder,
    /// Classes by the address of their ranges: parsers share those that a pattern has many times.
    known_classes: ArrayList(Known) = .empty,
    known_interned: interner.Interner = .{},

    frames: ArrayList(Frame) = .empty,
    /// Where the finished alternatives of the open frames begin.
    values: ArrayList(u32) = .empty,
    steps: usize = 0,
    accounted: usize = 0,

    const Known = struct { ranges: []const ast.Range, class: utf8.Class };

    /// A node that is being added.
    const Frame = struct {
        node: *const ast.Node,
        /// What follows it.
        next: u32,
        /// Children or repetitions that are added.
        done: u32 = 0,
        /// Of a repeat without limit: the split that goes back.
        loop: u32 = 0,
    };

    fn pattern(b: *Builder, node: *const ast.Node, match: u32) Error!u32 {
        var at = try b.enter(node, match);
        while (b.frames.items.len > 0) {
            at = try b.enterNext(&b.frames.items[b.frames.items.len - 1], at);
        }
        return at;
    }

    /// Adds a leaf, or opens a frame for its children. `next` is what follows the node; returns where the node begins so far.
    fn enter(b: *Builder, node: *const ast.Node, next: u32) Error!u32 {
        b.steps += 1;
        if (b.steps % between_checks == 0) try b.account();
        switch (node.*) {
            .empty => return next,
            .bytes => |bytes| {
                var at = next;
                var i = bytes.len;
                while (i > 0) {
                    i -= 1;
                    at = try b.add(.{ .kind = .byte, .low = bytes[i], .high = bytes[i], .a = at });
                }
                return at;
            },
            .class => |ranges| return b.addClass(try b.classOf(ranges), next),
            .automaton => |automaton| return b.addAutomaton(automaton, next),
            .substring => |chunks| return b.addSubstring(chunks, next),
            .look => {
                const number = for (b.looks.items, 0..) |known, i| {
                    if (known == node) break i;
                } else b.looks.items.len;
                if (number == b.looks.items.len) try b.looks.append(b.arena, node);
                return b.add(.{ .kind = .look, .a = next, .b = @intCast(number) });
            },
            .concat, .alternate, .repeat => try b.frames.append(b.arena, .{ .node = node, .next = next }),
        }
        return next;
    }

    /// Enters the next child of the innermost frame, or closes the frame. `at` is where what was added last begins.
    fn enterNext(b: *Builder, frame: *Frame, at: u32) Error!u32 {
        switch (frame.node.*) {
            .concat => |children| {
                if (frame.done == children.len) return b.close(at);
                frame.done += 1;
                return b.enter(children[children.len - frame.done], at);
            },
            .alternate => |children| {
                if (frame.done > 0) try b.values.append(b.arena, at);
                if (frame.done == children.len) return b.close(try b.branch(b.values.items.len - children.len));
                frame.done += 1;
                return b.enter(children[frame.done - 1], frame.next);
            },
            .repeat => |repeat| return if (repeat.max) |max| b.bounded(frame, repeat, max, at) else b.unbounded(frame, repeat, at),
            else => unreachable,
        }
    }

    /// One after the other. They may begin before each of them and end after each, so that subset construction makes the
    /// automaton of all factors of the text ("The smallest automaton recognizing the subwords of a text", A. Blumer et
    /// al., 1985), with fewer than two states for each byte.
    fn addSubstring(b: *Builder, chunks: []const []const u8, next: u32) Error!u32 {
        const first = b.values.items.len;
        try b.values.append(b.arena, next);
        var at = next;
        for (0..chunks.len) |i| {
            const bytes: ast.Node = .{ .bytes = chunks[chunks.len - 1 - i] };
            const whole = try b.enter(&bytes, at);
            try b.values.append(b.arena, whole);
            at = try b.add(.{ .kind = .split, .a = whole, .b = next });
        }
        return b.branch(first);
    }

    fn close(b: *Builder, at: u32) u32 {
        _ = b.frames.pop();
        return at;
    }

    /// The optional repetitions are added first, since they are last in the text; each may skip all that follow it.
    fn bounded(b: *Builder, frame: *Frame, repeat: ast.Node.Repeat, max: u32, at: u32) Error!u32 {
        const optional = max - repeat.min;
        var begin = at;
        if (frame.done > 0 and frame.done <= optional) begin = try b.addSplit(repeat, at, frame.next);
        if (frame.done == max) return b.close(begin);
        frame.done += 1;
        return b.enter(repeat.node, begin);
    }

    fn unbounded(b: *Builder, frame: *Frame, repeat: ast.Node.Repeat, at: u32) Error!u32 {
        const node = repeat.node;
        if (frame.done == 0) {
            frame.done = 1;
            frame.loop = try b.addSplit(repeat, frame.next, frame.next);
            return b.enter(node, frame.loop);
        }
        var begin = at;
        if (frame.done == 1) {
            const loop = &b.states.items[frame.loop];
            if (repeat.lazy) loop.b = at else loop.a = at;
            if (repeat.min == 0) begin = frame.loop;
        }
        if (frame.done >= repeat.min) return b.close(begin);
        frame.done += 1;
        return b.enter(node, begin);
    }

    fn addSplit(b: *Builder, repeat: ast.Node.Repeat, once_more: u32, done: u32) Error!u32 {
        return b.add(if (repeat.lazy) .{ .kind = .split, .a = done, .b = once_more } else .{ .kind = .split, .a = once_more, .b = done });
    }

    /// A state that continues at each of `values` from `first` on, which it takes off.
    fn branch(b: *Builder, first: usize) Error!u32 {
        const alternatives = b.values.items[first..];
        defer b.values.shrinkRetainingCapacity(first);
        if (alternatives.len == 1) return alternatives[0];
        const a: u32 = @intCast(b.targets.items.len);
        try b.targets.appendSlice(b.arena, alternatives);
        return b.add(.{ .kind = .branch, .a = a, .b = @intCast(alternatives.len) });
    }

    fn classOf(b: *Builder, ranges: []const ast.Range) Error!utf8.Class {
        const address = @intFromPtr(ranges.ptr);
        const hash = interner.combine(interner.mix(@truncate(address >> 3)), @intCast(ranges.len));
        const Same = struct {
            builder: *const Builder,
            ranges: []const ast.Range,

            pub fn equals(same: @This(), number: u32) bool {
                const known = same.builder.known_classes.items[number].ranges;
                return known.ptr == same.ranges.ptr and known.len == same.ranges.len;
            }
        };
        if (b.known_interned.find(hash, Same{ .builder = b, .ranges = ranges })) |number| return b.known_classes.items[number].class;
        const class = try b.classes.class(ranges);
        try b.known_interned.insert(b.arena, hash, @intCast(b.known_classes.items.len));
        try b.known_classes.append(b.arena, .{ .ranges = ranges, .class = class });
        return class;
    }

    fn addClass(b: *Builder, class: utf8.Class, next: u32) Error!u32 {
        const base: u32 = @intCast(b.states.items.len);
        for (class.nodes) |node| {
            const transitions = b.classes.transitions.items[node.first..][0..node.len];
            if (transitions.len == 1) {
                const only = transitions[0];
                _ = try b.add(.{
                    .kind = .byte,
                    .low = only.low,
                    .high = only.high,
                    .a = if (only.to == utf8.complete) next else base + only.to,
                });
                continue;
            }
            const first: u32 = @intCast(b.transitions.items.len);
            for (transitions) |transition| {
                var moved = transition;
                moved.to = if (transition.to == utf8.complete) next else base + transition.to;
                try b.transitions.append(b.arena, moved);
            }
            _ = try b.add(.{ .kind = .ranges, .a = first, .b = node.len });
        }
        return @intCast(b.states.items.len - 1);
    }

    /// Each state of the table is three: its transitions, the bytes that it ignores, and a branch, to which others
    /// lead, to these two, to what follows, if it matches, and to where silent bytes lead.
    fn addAutomaton(b: *Builder, automaton: ast.Node.Automaton, next: u32) Error!u32 {
        const table = automaton.table;
        const base: u32 = @intCast(b.states.items.len);
        for (table.matches[1..], 1..) |match, state| {
            const row = table.row(state);
            const own = try b.add(.{ .kind = .ranges, .a = @intCast(b.transitions.items.len) });
            var before: u32 = dfa.dead;
            for (table.classes, 0..) |class, byte| {
                const to: u32 = row[class];
                if (to != dfa.dead and to == before) {
                    b.transitions.items[b.transitions.items.len - 1].high = @intCast(byte);
                } else if (to != dfa.dead) {
                    const low: u8 = @intCast(byte);
                    try b.transitions.append(b.arena, .{ .low = low, .high = low, .to = entryOf(base, to) });
                }
                before = to;
            }
            b.states.items[own].b = @as(u32, @intCast(b.transitions.items.len)) - b.states.items[own].a;

            const first: u32 = @intCast(b.transitions.items.len);
            const loop = try b.add(.{ .kind = .ranges, .a = first, .b = @intCast(automaton.ignored.len) });
            for (automaton.ignored) |byte| {
                try b.transitions.append(b.arena, .{ .low = byte, .high = byte, .to = entryOf(base, @intCast(state)) });
            }

            const first_target = b.targets.items.len;
            try b.targets.append(b.arena, own);
            if (automaton.ignored.len > 0) try b.targets.append(b.arena, loop);
            if (match != 0) try b.targets.append(b.arena, next);
            for (automaton.silent) |byte| {
                const to = row[table.classes[byte]];
                if (to != dfa.dead) try b.targets.append(b.arena, entryOf(base, to));
            }
            const n_targets = b.targets.items.len - first_target;
            _ = try b.add(.{ .kind = .branch, .a = @intCast(first_target), .b = @intCast(n_targets) });
        }
        return entryOf(base, dfa.start);
    }

    /// The branch of a table's state.
    fn entryOf(base: u32, state: u32) u32 {
        return base + 3 * state - 1;
    }

    fn add(b: *Builder, state: State) Error!u32 {
        if (b.states.items.len >= b.n_states_max) {
            return b.diag.fail(.limit, "{s} needs more than {d} states before equal ones are merged", .{ b.what, b.n_states_max });
        }
        try b.states.append(b.arena, state);
        if (b.states.items.len % between_checks == 0) try b.account();
        return @intCast(b.states.items.len - 1);
    }

    /// Also bounds what adds no states: repeats of nodes that are empty.
    fn account(b: *Builder) Error!void {
        if (b.steps > steps_per_state * b.n_states_max) {
            return b.diag.fail(.limit, "{s} repeats the empty text too often", .{b.what});
        }
        const bytes = b.states.items.len * @sizeOf(State) + b.targets.items.len * @sizeOf(u32) +
            (b.transitions.items.len + b.classes.transitions.items.len) * @sizeOf(utf8.Transition);
        try b.budget.take(bytes - b.accounted, b.what, b.diag);
        b.accounted = bytes;
        try b.budget.check(b.what, b.diag);
    }

    const steps_per_state = 16;
    /// Of steps, and of states, since one step may add many.
    const between_checks = 1024;
};
