//! The `pattern` of a JSON Schema as an automaton: a regular expression of ECMA-262 that matches anywhere in a
//! string.
//!
//! Anchors at the edges, which nearly all patterns have at most, are settled in the tree. In general an assertion is
//! a mark, a letter of its own in the text: the pattern with its marks matches marked texts; those where a mark
//! stands and does not hold are a regular language too, and taken away; then the marks are erased. What holds
//! at the mark of a look-ahead is found in the same way first, with the mark as the place where it begins.
//! It takes automata that are made deterministic some times more.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const engine = @import("engine");
const diagnostic = engine.diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = engine.budget.Budget;
const ast = @import("../regex/ast.zig");
const Node = ast.Node;
const Pattern = @import("../regex/pattern.zig").Pattern;
const TransitionTable = @import("../regex/minimise.zig").TransitionTable;
const dfa = @import("../regex/dfa.zig");
const intersect = @import("../regex/intersection.zig").intersect;
const anchors = @import("../regex/anchors.zig");
const ecmascript = @import("ecmascript.zig");
const marks = ecmascript.marks;

pub const Dfa = dfa.Dfa;
pub const Error = Allocator.Error || diagnostic.Error;

const what = "the pattern";

/// The strings, in UTF-8, in which the pattern matches somewhere. Says nothing of what is not UTF-8.
/// `arena` is for what is needed on the way. A message says where in the pattern, "at byte 12: ...".
pub fn compile(gpa: Allocator, arena: Allocator, pattern: []const u8, budget: *Budget, diag: *Diagnostic) Error!Dfa {
    const tree = try ecmascript.parse(arena, pattern, budget, diag);
    var settler: Settler = .{ .arena = arena, .looks = tree.looks, .budget = budget, .diag = diag };
    return dfa.build(gpa, &.{try settler.settled(tree.node)}, 1, budget, what, diag);
}

/// Whether a whole string is one of those that an automaton takes.
pub fn accepts(automaton: *const Dfa, text: []const u8) bool {
    var state = dfa.start;
    for (text) |byte| state = automaton.next(state, byte);
    return automaton.matches[state] != 0;
}

/// A table that goes from its start to `to` over the bytes of the set.
fn overBytes(comptime set: std.StaticBitSet(256), comptime to: u16) TransitionTable {
    @setEvalBranchQuota(20_000);
    const n_states = to + 1;
    const shared = struct {
        const classes: [256]u8 = blk: {
            @setEvalBranchQuota(20_000);
            var all: [256]u8 = undefined;
            for (&all, 0..) |*class, byte| class.* = @intFromBool(set.isSet(byte));
            break :blk all;
        };
        const rows: [2 * n_states]u16 = blk: {
            var all: [2 * n_states]u16 = @splat(dfa.dead);
            all[2 * dfa.start + 1] = to;
            break :blk all;
        };
        const matches: [n_states]u16 = blk: {
            var all: [n_states]u16 = @splat(0);
            all[to] = 1;
            break :blk all;
        };
    };
    return .{
        .classes = @constCast(&shared.classes),
        .n_classes = 2,
        .rows = @constCast(&shared.rows),
        .matches = @constCast(&shared.matches),
    };
}

/// Any number of bytes that are no marks. In valid UTF-8 it says what an automaton of eight states would say.
const anything: *const Node = &.{ .automaton = .{ .table = &overBytes(Marks.none_of_them, dfa.start) } };
const any_byte: *const Node = &.{ .automaton = .{ .table = &overBytes(Marks.none_of_them, 2) } };
/// The last byte of a character of a word, and of another one.
const word_byte: *const Node = &.{ .class = ecmascript.word };
const other_byte: *const Node = &.{ .automaton = .{ .table = &overBytes(Marks.none_of_them.differenceWith(word_set), 2) } };

const word_set: std.StaticBitSet(256) = blk: {
    @setEvalBranchQuota(20_000);
    var set: std.StaticBitSet(256) = .empty;
    for (ecmascript.word) |range| set.setRangeValue(.{ .start = range.first, .end = range.last + 1 }, true);
    break :blk set;
};

fn isMark(node: *const Node, mark: u8) bool {
    return node.* == .bytes and node.bytes.len == 1 and node.bytes[0] == mark;
}

/// Those in a tree.
const Marks = struct {
    set: std.StaticBitSet(256) = .empty,

    const none_of_them: std.StaticBitSet(256) = blk: {
        var set: std.StaticBitSet(256) = .full;
        for (ecmascript.marks.looks ++ [_]u8{ marks.start, marks.end, marks.boundary, marks.no_boundary }) |mark| set.unset(mark);
        break :blk set;
    };

    fn of(node: *const Node) Marks {
        var found: Marks = .{};
        found.find(node);
        return found;
    }

    fn find(m: *Marks, node: *const Node) void {
        switch (node.*) {
            .bytes => |bytes| switch (bytes[0]) {
                0xc0, 0xc1, 0xf5...0xff => |mark| m.set.set(mark),
                else => {},
            },
            .concat, .alternate => |children| for (children) |child| m.find(child),
            .repeat => |repeat| m.find(repeat.node),
            .empty, .class, .automaton, .substring, .look => {},
        }
    }

    fn isEmpty(m: *const Marks) bool {
        return m.set.findFirstSet() == null;
    }

    fn list(m: *const Marks, arena: Allocator) Error![]const u8 {
        var bytes: ArrayList(u8) = .empty;
        var iterator = m.set.iterator(.{});
        while (iterator.next()) |mark| try bytes.append(arena, @intCast(mark));
        return bytes.items;
    }
};

/// Makes a tree without marks of one with them.
const Settler = struct {
    arena: Allocator,
    looks: []const ecmascript.Look,
    budget: *Budget,
    diag: *Diagnostic,
    /// By look: the texts with its mark at one place, where it does not hold.
    failures: [marks.looks.len]*const Node = undefined,

    /// The strings in which the tree is found, by the cheapest way that can say it.
    fn settled(s: *Settler, node: *const Node) Error!Pattern {
        const from_any = try anchors.open(s.arena, node, .first, anything);
        if (Marks.of(from_any).isEmpty()) return .{ .node = from_any, .open = true };
        const open = try anchors.open(s.arena, from_any, .last, anything);
        if (Marks.of(open).isEmpty()) return .{ .node = open };
        return .{ .node = try s.byStart(node) orelse try s.byMarks(node) };
    }

    /// An intersection, if the pattern is `^`, look-aheads and a tree with anchors at most at its edges.
    fn byStart(s: *Settler, node: *const Node) Error!?*const Node {
        if (node.* != .concat or !anchors.isAnchor(node.concat[0], .first)) return null;
        var wanted: ArrayList(*const Node) = .empty;
        var unwanted: ArrayList(*const Node) = .empty;
        var rest = node.concat[1..];
        while (rest.len > 0) : (rest = rest[1..]) {
            const look = for (s.looks) |look| {
                if (isMark(rest[0], look.mark)) break look;
            } else break;
            if (look.behind) return null;
            try (if (look.negated) &unwanted else &wanted).append(s.arena, try s.fromStart(look.node) orelse return null);
        }
        try wanted.append(s.arena, try s.fromStart(try s.concat(rest)) orelse return null);
        return try s.without(wanted.items, unwanted.items);
    }

    /// The texts that begin with one of the node.
    fn fromStart(s: *Settler, node: *const Node) Error!?*const Node {
        const open = try anchors.open(s.arena, try anchors.open(s.arena, node, .first, ast.empty), .last, anything);
        return if (Marks.of(open).isEmpty()) open else null;
    }

    /// Whatever the assertions are.
    fn byMarks(s: *Settler, node: *const Node) Error!*const Node {
        for (s.looks, 0..) |look, i| {
            const mark = try s.byte(look.mark);
            const found = if (look.behind)
                try s.settle(&.{ anything, look.node, mark, anything }, look.mark)
            else
                try s.settle(&.{ anything, mark, look.node, anything }, look.mark);
            const anywhere = try s.concat(&.{ anything, mark, anything });
            s.failures[i] = if (look.negated) found else try s.without(&.{anywhere}, &.{found});
        }
        // The marks stand between characters, never within.
        return s.settle(&.{ ast.anything, node, anything }, null);
    }

    /// The texts of the sequence of nodes in which all assertions hold, without marks but that one.
    fn settle(s: *Settler, nodes: []const *const Node, keep: ?u8) Error!*const Node {
        const wanted = try s.concat(nodes);
        var found: Marks = .of(wanted);
        const present = try found.list(s.arena);
        if (keep) |mark| found.set.unset(mark);
        const silent = try found.list(s.arena);

        var failures: ArrayList(*const Node) = .empty;
        const places: Places = try .init(s, present);
        for (silent) |mark| switch (mark) {
            marks.start => try failures.append(s.arena, try s.concat(&.{ places.some, try s.byte(mark), places.any })),
            marks.end => try failures.append(s.arena, try s.concat(&.{ places.any, try s.byte(mark), places.some })),
            marks.boundary, marks.no_boundary => for (places.before, 0..) |before, in_word| {
                const after = places.after[if (mark == marks.boundary) in_word else 1 - in_word];
                try failures.append(s.arena, try s.concat(&.{ before, try s.byte(mark), after }));
            },
            else => for (s.looks, s.failures[0..s.looks.len]) |look, failure| if (look.mark == mark) {
                const table = (try s.without(&.{failure}, &.{})).automaton.table;
                try failures.append(s.arena, try ast.create(s.arena, .{ .automaton = .{ .table = table, .ignored = present } }));
            },
        };
        const held = try s.without(&.{wanted}, failures.items);
        return ast.create(s.arena, .{ .automaton = .{ .table = held.automaton.table, .silent = silent } });
    }

    /// The texts of all that is wanted and of nothing that is not.
    fn without(s: *Settler, wanted: []const *const Node, unwanted: []const *const Node) Error!*const Node {
        const patterns = try s.arena.alloc(Pattern, wanted.len + unwanted.len);
        for (patterns[0..wanted.len], wanted) |*pattern, node| pattern.* = .{ .node = node, .soft = true };
        for (patterns[wanted.len..], unwanted) |*pattern, node| pattern.* = .{ .node = node, .soft = true };
        return intersect(s.arena, patterns, wanted.len, s.budget, what, s.diag);
    }

    fn concat(s: *Settler, nodes: []const *const Node) Error!*const Node {
        return ast.concat(s.arena, nodes);
    }

    fn byte(s: *Settler, mark: u8) Error!*const Node {
        return ast.create(s.arena, .{ .bytes = try s.arena.dupe(u8, &.{mark}) });
    }
};

/// What stands around a mark, in texts that are marked.
const Places = struct {
    /// Bytes of characters and marks.
    any: *const Node,
    /// The same, with one byte of a character at least.
    some: *const Node,
    /// All before a place that is after a character of a word (1), or after another or none (0); all after a
    /// place likewise.
    before: [2]*const Node,
    after: [2]*const Node,

    fn init(s: *Settler, present: []const u8) Error!Places {
        const arena = s.arena;
        const one = try arena.alloc(*const Node, present.len + 1);
        for (present, one[1..]) |mark, *node| node.* = try s.byte(mark);
        one[0] = any_byte;
        const any = try ast.repeat(arena, try ast.alternate(arena, one), 0, null);
        const only_marks = if (present.len == 0)
            ast.empty
        else
            try ast.repeat(arena, try ast.alternate(arena, one[1..]), 0, null);
        var places: Places = .{
            .any = any,
            .some = try s.concat(&.{ any, any_byte, any }),
            .before = undefined,
            .after = undefined,
        };
        for ([_]*const Node{ other_byte, word_byte }, &places.before, &places.after) |byte, *before, *after| {
            before.* = try s.concat(&.{ any, byte, only_marks });
            after.* = try s.concat(&.{ only_marks, byte, any });
        }
        places.before[0] = try ast.alternate(arena, &.{ places.before[0], only_marks });
        places.after[0] = try ast.alternate(arena, &.{ places.after[0], only_marks });
        return places;
    }
};
