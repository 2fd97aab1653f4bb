//! The strings that satisfy a node of a schema's formula, as they are, without quotes and escapes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const unbounded = engine.unbounded;
const spelling = @import("engine").schema_spelling;
const Dfa = @import("engine").dfa.Dfa;
const ast = @import("../regex/ast.zig");
const Pattern = @import("../regex/pattern.zig").Pattern;
const TransitionTable = @import("../regex/minimise.zig").TransitionTable;
const intersect = @import("../regex/intersection.zig").intersect;
const Formula = @import("../schema/formula.zig").Formula;
const Dfas = @import("../schema/dfas.zig").Dfas;

const Error = Allocator.Error || diagnostic.Error;

pub const nothing: *const ast.Node = &.{ .class = &.{} };

/// Whether no text is in a set that `Strings.both` has made.
pub fn isNothing(set: *const ast.Node) bool {
    if (set.* != .automaton) return false;
    for (set.automaton.table.matches) |match| if (match != 0) return false;
    return true;
}

/// How deep schemas about one value are within each other, counted from those that were not looked at before.
pub const Depth = struct {
    now: u32 = 0,

    const max = 256;

    /// ELIZA_ERR_LIMIT: too deep.
    pub fn enter(d: *Depth, diag: *Diagnostic) diagnostic.Error!void {
        if (d.now == max) return diag.fail(.limit, "more than {d} schemas of one value are within each other", .{max});
        d.now += 1;
    }

    pub fn leave(d: *Depth) void {
        d.now -= 1;
    }
};

/// The types that values may have, by what `type`, `enum`, `const` and combinations of them say. Readers of texts go by the
/// same rule, and ask nothing else.
pub const NodeTypes = struct {
    formula: *const Formula,
    diag: *Diagnostic,
    /// By node.
    known: NumberMap = .{},
    depth: Depth = .{},

    pub fn of(t: *NodeTypes, node: NodeId) Error!Types {
        if (t.known.get(node)) |known| return @bitCast(@as(u8, @intCast(known)));
        try t.depth.enter(t.diag);
        defer t.depth.leave();
        const types = try t.find(node);
        try t.known.put(t.formula.arena, node, @as(u8, @bitCast(types)));
        return types;
    }

    fn find(t: *NodeTypes, node: NodeId) Error!Types {
        switch (t.formula.nodes.items[node]) {
            .never => return .{},
            .types => |types| return types,
            .listed => |range| {
                const types: Types = .ofAny(t.formula.values.items[range.from..][0..range.len]);
                return if (types.integer or types.fraction) types.unionWith(.number) else types;
            },
            .all => |range| {
                var types: Types = .all;
                for (childrenOf(t.formula, range)) |child| types = types.intersectWith(try t.of(child));
                return types;
            },
            .any, .one => |range| {
                var types: Types = .{};
                for (childrenOf(t.formula, range)) |child| types = types.unionWith(try t.of(child));
                return types;
            },
            else => return .all,
        }
    }
};

pub fn childrenOf(f: *const Formula, range: engine.Range) []const NodeId {
    return f.children.items[range.from..][0..range.len];
}

pub const Strings = struct {
    arena: Allocator,
    formula: *const Formula,
    dfas: *const Dfas,
    budget: *Budget,
    diag: *Diagnostic,

    /// By node.
    known: NumberMap = .{},
    of_known: ArrayList(*const ast.Node) = .empty,
    depth: Depth = .{},

    const what = "a string of the schema";

    /// Those that satisfy the node.
    pub fn of(s: *Strings, node: NodeId) Error!*const ast.Node {
        if (s.known.get(node)) |known| return s.of_known.items[known];
        try s.depth.enter(s.diag);
        defer s.depth.leave();
        const found = try s.find(node);
        try s.known.putItem(s.arena, node, *const ast.Node, &s.of_known, found);
        return found;
    }

    fn find(s: *Strings, node: NodeId) Error!*const ast.Node {
        switch (s.formula.nodes.items[node]) {
            .never => return nothing,
            .types => |types| return if (types.string) ast.anything else nothing,
            .listed => |range| return s.listed(range),
            .string_length => |bounds| {
                if (bounds.min > bounds.max) return nothing;
                return ast.repeat(s.arena, ast.any_character, bounds.min, if (bounds.max == unbounded) null else bounds.max);
            },
            .string_matches => |dfa| return s.automaton(&s.dfas.list.items[dfa].dfa),
            .all => |range| return s.both(try s.each(range), &.{}),
            .any => |range| return s.either(try s.each(range)),
            .one => |range| return s.exactlyOne(try s.each(range)),
            .not => |child| return s.both(&.{}, &.{try s.of(child)}),
            .conditional => |c| {
                const when = try s.of(c.when);
                return s.either(&.{
                    try s.both(&.{ when, try s.of(c.then) }, &.{}),
                    try s.both(&.{try s.of(c.otherwise)}, &.{when}),
                });
            },
            else => return ast.anything,
        }
    }

    fn each(s: *Strings, range: engine.Range) Error![]*const ast.Node {
        const nodes = try s.arena.alloc(*const ast.Node, range.len);
        for (nodes, childrenOf(s.formula, range)) |*to, child| to.* = try s.of(child);
        return nodes;
    }

    /// Texts of whole characters that are in all of some sets, and in none of others.
    pub fn both(s: *const Strings, wanted: []const *const ast.Node, unwanted: []const *const ast.Node) Error!*const ast.Node {
        var patterns: ArrayList(Pattern) = .empty;
        try patterns.append(s.arena, .{ .node = ast.anything, .soft = true });
        for (wanted) |node| if (node != ast.anything) try patterns.append(s.arena, .{ .node = node, .soft = true });
        const n_wanted = patterns.items.len;
        for (unwanted) |node| try patterns.append(s.arena, .{ .node = node, .soft = true });
        if (patterns.items.len == 1) return ast.anything;
        return intersect(s.arena, patterns.items, n_wanted, s.budget, what, s.diag);
    }

    /// One automaton, since a set may be a part of others many times over.
    fn either(s: *const Strings, nodes: []const *const ast.Node) Error!*const ast.Node {
        var different: ArrayList(*const ast.Node) = .empty;
        for (nodes) |node| {
            if (node == ast.anything) return node;
            if (node != nothing and std.mem.findScalar(*const ast.Node, different.items, node) == null) try different.append(s.arena, node);
        }
        return switch (different.items.len) {
            0 => nothing,
            1 => different.items[0],
            else => s.both(&.{try ast.alternate(s.arena, different.items)}, &.{}),
        };
    }

    fn exactlyOne(s: *const Strings, nodes: []const *const ast.Node) Error!*const ast.Node {
        const ways = try s.arena.alloc(*const ast.Node, nodes.len);
        const others = try s.arena.alloc(*const ast.Node, nodes.len - 1);
        for (ways, nodes, 0..) |*way, node, i| {
            @memcpy(others[0..i], nodes[0..i]);
            @memcpy(others[i..], nodes[i + 1 ..]);
            way.* = try s.both(&.{node}, others);
        }
        return s.either(ways);
    }

    fn listed(s: *const Strings, range: engine.Range) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (s.formula.values.items[range.from..][0..range.len]) |text| {
            if (text[0] != '"') continue;
            try nodes.append(s.arena, try ast.create(s.arena, .{ .bytes = try spelling.content(s.arena, text) }));
        }
        return if (nodes.items.len == 0) nothing else ast.alternate(s.arena, nodes.items);
    }

    fn automaton(s: *const Strings, dfa: *const Dfa) Error!*const ast.Node {
        const n_states = dfa.matches.len;
        const table = try s.arena.create(TransitionTable);
        table.* = .{
            .classes = try s.arena.create([256]u8),
            .n_classes = dfa.nClasses(),
            .rows = try s.arena.alloc(u16, dfa.transitions.len),
            .matches = dfa.matches,
        };
        for (table.classes, dfa.columns) |*class, column| class.* = @intCast(column / n_states);
        for (0..table.n_classes) |class| for (dfa.column(class), 0..) |to, state| {
            table.rows[state * table.n_classes + class] = to;
        };
        return ast.create(s.arena, .{ .automaton = .{ .table = table } });
    }
};
