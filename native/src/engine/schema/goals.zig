//! What a value must be, as a goal: literals that all hold, each a node or its negation. A goal is expanded
//! for a class of values into alternatives in disjunctive form: negation is pushed inwards to single
//! assertions, where JSON Schema has the complement, and each alternative is a set of assertions that all
//! hold. Goals and expansions are found when a text first asks for them, and kept.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const Bounds = schema_module.Bounds;
const NodeId = schema_module.NodeId;
const unbounded = schema_module.unbounded;
const Interner = @import("interner.zig").Interner;
const NumberMap = @import("../base/number_map.zig").NumberMap;

pub const GoalId = u32;

/// Expansions of one goal and one class; a schema that needs more is refused.
pub const alternatives_max = 512;
/// Literals that one expansion looks at.
const steps_max = 1 << 16;
/// Forks within each other, which are on the stack.
const depth_max = 256;

pub const Error = error{ OutOfMemory, TooLarge };

pub const Literal = packed struct(u32) {
    node: u31,
    negated: bool = false,

    pub fn of(node: NodeId) Literal {
        return .{ .node = @intCast(node) };
    }

    pub fn no(node: NodeId) Literal {
        return .{ .node = @intCast(node), .negated = true };
    }

    /// The value is in none of the sets of values that came in an array; this one has a number.
    pub fn notIn(schema: *const Schema, set: u32) Literal {
        return .{ .node = @intCast(schema.nodes.len + set) };
    }

    /// The number of such a set; null for what stands in the schema.
    pub fn setOf(literal: Literal, schema: *const Schema) ?u32 {
        return if (literal.node < schema.nodes.len) null else literal.node - @as(u32, @intCast(schema.nodes.len));
    }
};

/// What the first byte of a value tells.
pub const Class = enum(u3) { null, boolean, number, string, array, object };

/// Assertions that all hold, of one class.
pub const Conjunction = struct {
    class: Class,
    /// Whether integers, and other numbers, are meant.
    integers: bool = true,
    fractions: bool = true,
    /// Characters, items or members.
    count: Bounds = .{},
    /// The assertions that are not in the fields above, in the order of the schema.
    literals: []const Literal = &.{},
    /// `array_contains`, with the bounds that are left when it was negated.
    contains: []const Contains = &.{},

    pub const Contains = struct { item: NodeId, count: Bounds };
};

pub const Goals = struct {
    gpa: Allocator,
    schema: *const Schema,
    arena: Arena,
    goals: Interner = .{},
    /// By goal and class: of `found`.
    expansions: NumberMap = .{},
    found: ArrayList([]const Conjunction) = .empty,

    pub fn init(gpa: Allocator, schema: *const Schema) Goals {
        return .{ .gpa = gpa, .schema = schema, .arena = .init(gpa) };
    }

    pub fn deinit(g: *Goals) void {
        g.expansions.deinit(g.gpa);
        g.found.deinit(g.gpa);
        g.goals.deinit(g.gpa);
        g.arena.deinit();
    }

    /// The goal of these literals, which are changed. Their order is that of the keys that they name.
    pub fn goal(g: *Goals, literals: []Literal) Allocator.Error!GoalId {
        const words: []u32 = @ptrCast(literals);
        var n: usize = 0;
        for (words) |word| {
            const literal: Literal = @bitCast(word);
            if (literal.setOf(g.schema) == null) {
                const node = g.schema.nodes[literal.node];
                if (node == .always and !literal.negated) continue;
                if (node == .never and literal.negated) continue;
            }
            if (std.mem.findScalar(u32, words[0..n], word) != null) continue;
            words[n] = word;
            n += 1;
        }
        return g.goals.put(g.gpa, words[0..n]);
    }

    /// Lent for the life of the goals.
    pub fn expand(g: *Goals, id: GoalId, class: Class) Error![]const Conjunction {
        const key = @as(u64, id) << 3 | @backingInt(class);
        if (g.expansions.get(key)) |found| return g.found.items[found];
        var scratch: Arena = .init(g.gpa);
        defer scratch.deinit();
        var expansion: Expansion = .{ .arena = scratch.allocator(), .schema = g.schema, .class = class };
        var branch: Branch = .{};
        try push(expansion.arena, &branch.todo, @ptrCast(g.goals.get(id)));
        try expansion.run(&branch);
        const found = try g.keep(expansion.done.items);
        try g.expansions.putItem(g.gpa, key, []const Conjunction, &g.found, found);
        return found;
    }

    fn keep(g: *Goals, found: []const Conjunction) Allocator.Error![]const Conjunction {
        const arena = g.arena.allocator();
        const kept = try arena.dupe(Conjunction, found);
        for (kept) |*one| {
            one.literals = try arena.dupe(Literal, one.literals);
            one.contains = try arena.dupe(Conjunction.Contains, one.contains);
        }
        return kept;
    }
};

/// An alternative that is being made.
const Branch = struct {
    todo: ArrayList(Literal) = .empty,
    /// Formulas that were looked at: a reference that leads back adds nothing.
    seen: ArrayList(Literal) = .empty,
    literals: ArrayList(Literal) = .empty,
    contains: ArrayList(Conjunction.Contains) = .empty,
    integers: bool = true,
    fractions: bool = true,
    count: Bounds = .{},

    fn clone(b: *const Branch, arena: Allocator) Allocator.Error!Branch {
        var copy = b.*;
        copy.todo = try b.todo.clone(arena);
        copy.seen = try b.seen.clone(arena);
        copy.literals = try b.literals.clone(arena);
        copy.contains = try b.contains.clone(arena);
        return copy;
    }

    /// False if nothing is left.
    fn meet(b: *Branch, bounds: Bounds) bool {
        b.count = .{ .min = @max(b.count.min, bounds.min), .max = @min(b.count.max, bounds.max) };
        return b.count.min <= b.count.max;
    }
};

const Expansion = struct {
    arena: Allocator,
    schema: *const Schema,
    class: Class,
    done: ArrayList(Conjunction) = .empty,
    steps: u32 = 0,
    /// Forks within each other.
    depth: u32 = 0,

    fn run(e: *Expansion, b: *Branch) Error!void {
        while (b.todo.pop()) |literal| {
            e.steps += 1;
            if (e.steps > steps_max) return error.TooLarge;
            if (has(b.seen.items, literal)) continue;
            if (has(b.seen.items, .{ .node = literal.node, .negated = !literal.negated })) return; // a contradiction
            try b.seen.append(e.arena, literal);
            if (!try e.take(b, literal)) return;
        }
        if (e.done.items.len == alternatives_max) return error.TooLarge;
        try e.done.append(e.arena, .{
            .class = e.class,
            .integers = b.integers,
            .fractions = b.fractions,
            .count = b.count,
            .literals = b.literals.items,
            .contains = b.contains.items,
        });
    }

    /// False if the branch is at its end: nothing satisfies it, or others go on in its place.
    fn take(e: *Expansion, b: *Branch, literal: Literal) Error!bool {
        const no = literal.negated;
        // Arrays and objects are not compared.
        if (literal.setOf(e.schema) != null) return if (e.class == .array or e.class == .object) true else e.keep(b, literal);
        switch (e.schema.nodes[literal.node]) {
            .always => return !no,
            .never => return no,
            .all => |range| if (no) return e.either(b, e.childrenOf(range), true) else return e.both(b, e.childrenOf(range), false),
            .any => |range| if (no) return e.both(b, e.childrenOf(range), true) else return e.either(b, e.childrenOf(range), false),
            .one => |range| return e.exactlyOne(b, e.childrenOf(range), no),
            .not => |node| return e.both(b, &.{node}, !no),
            .conditional => |c| {
                try e.fork(b, &.{ .of(c.when), .{ .node = @intCast(c.then), .negated = no } });
                try e.fork(b, &.{ .no(c.when), .{ .node = @intCast(c.otherwise), .negated = no } });
                return false;
            },
            .types => |types| return e.takeTypes(b, types, no),
            .listed => {
                if (e.class == .array or e.class == .object) return no;
                return e.keep(b, literal);
            },
            .string_length => |bounds| return e.takeCount(b, .string, bounds, no),
            .array_length => |bounds| return e.takeCount(b, .array, bounds, no),
            .object_count => |bounds| return e.takeCount(b, .object, bounds, no),
            .string_matches => return e.keepOf(b, .string, literal),
            .number_limit, .number_multiple => return e.keepOf(b, .number, literal),
            .array_items, .array_unique => return e.keepOf(b, .array, literal),
            .array_contains => |contains| return e.takeContains(b, contains.item, contains.count, no),
            .object_has, .object_names, .object_members => return e.keepOf(b, .object, literal),
        }
    }

    fn childrenOf(e: *const Expansion, range: schema_module.Range) []const NodeId {
        return e.schema.children[range.from..][0..range.len];
    }

    fn both(e: *Expansion, b: *Branch, nodes: []const NodeId, negated: bool) Error!bool {
        var i = nodes.len;
        while (i > 0) {
            i -= 1;
            try b.todo.append(e.arena, .{ .node = @intCast(nodes[i]), .negated = negated });
        }
        return true;
    }

    fn either(e: *Expansion, b: *Branch, nodes: []const NodeId, negated: bool) Error!bool {
        if (nodes.len == 1) return e.both(b, nodes, negated);
        for (nodes) |node| try e.fork(b, &.{.{ .node = @intCast(node), .negated = negated }});
        return false;
    }

    fn exactlyOne(e: *Expansion, b: *Branch, nodes: []const NodeId, negated: bool) Error!bool {
        const literals = try e.arena.alloc(Literal, nodes.len);
        for (literals, nodes) |*literal, node| literal.* = .no(node);
        if (!negated) {
            for (literals) |*literal| {
                literal.negated = false;
                defer literal.negated = true;
                try e.fork(b, literals);
            }
            return false;
        }
        try e.fork(b, literals);
        // Two or more: the first two that hold.
        for (0..nodes.len) |first| for (first + 1..nodes.len) |second| {
            for (literals, 0..) |*literal, i| literal.negated = i < second and i != first;
            try e.fork(b, literals[0 .. second + 1]);
        };
        return false;
    }

    fn fork(e: *Expansion, b: *const Branch, literals: []const Literal) Error!void {
        if (e.isHopeless(literals)) return;
        if (e.depth == depth_max) return error.TooLarge;
        e.depth += 1;
        defer e.depth -= 1;
        var copy = try b.clone(e.arena);
        try push(e.arena, &copy.todo, literals);
        return e.run(&copy);
    }

    /// Whether a look at a literal tells that no value of the class satisfies it: spares the copy.
    fn isHopeless(e: *const Expansion, literals: []const Literal) bool {
        for (literals) |literal| switch (e.schema.nodes[literal.node]) {
            .types => |types| if (e.hasClass(types) == literal.negated and e.class != .number) return true,
            else => {},
        };
        return false;
    }

    fn hasClass(e: *const Expansion, types: schema_module.Types) bool {
        return switch (e.class) {
            .null => types.null,
            .boolean => types.boolean,
            .number => types.integer or types.fraction,
            .string => types.string,
            .array => types.array,
            .object => types.object,
        };
    }

    fn takeTypes(e: *Expansion, b: *Branch, types: schema_module.Types, no: bool) bool {
        if (e.class != .number) return e.hasClass(types) != no;
        b.integers = b.integers and types.integer != no;
        b.fractions = b.fractions and types.fraction != no;
        return b.integers or b.fractions;
    }

    fn takeCount(e: *Expansion, b: *Branch, class: Class, bounds: Bounds, no: bool) Error!bool {
        if (e.class != class) return !no;
        if (!no) return b.meet(bounds);
        if (bounds.min > 0 and bounds.max < unbounded) {
            var below = try b.clone(e.arena);
            if (below.meet(.{ .max = bounds.min - 1 })) try e.run(&below);
            return b.meet(.{ .min = bounds.max + 1 });
        }
        if (bounds.min > 0) return b.meet(.{ .max = bounds.min - 1 });
        return bounds.max < unbounded and b.meet(.{ .min = bounds.max + 1 });
    }

    fn takeContains(e: *Expansion, b: *Branch, item: NodeId, bounds: Bounds, no: bool) Error!bool {
        if (e.class != .array) return !no;
        if (!no) return e.addContains(b, item, bounds);
        if (bounds.min > 0 and bounds.max < unbounded) {
            var below = try b.clone(e.arena);
            if (try e.addContains(&below, item, .{ .max = bounds.min - 1 })) try e.run(&below);
            return e.addContains(b, item, .{ .min = bounds.max + 1 });
        }
        if (bounds.min > 0) return e.addContains(b, item, .{ .max = bounds.min - 1 });
        return bounds.max < unbounded and try e.addContains(b, item, .{ .min = bounds.max + 1 });
    }

    fn addContains(e: *Expansion, b: *Branch, item: NodeId, bounds: Bounds) Error!bool {
        if (bounds.min > bounds.max) return false;
        if (bounds.min == 0 and bounds.max == unbounded) return true;
        try b.contains.append(e.arena, .{ .item = item, .count = bounds });
        return true;
    }

    fn keepOf(e: *Expansion, b: *Branch, class: Class, literal: Literal) Error!bool {
        if (e.class != class) return !literal.negated;
        return e.keep(b, literal);
    }

    fn keep(e: *Expansion, b: *Branch, literal: Literal) Error!bool {
        try b.literals.append(e.arena, literal);
        return true;
    }
};

/// Last in, first out: so literals are looked at in the order of the schema.
fn push(arena: Allocator, todo: *ArrayList(Literal), literals: []const Literal) Allocator.Error!void {
    var i = literals.len;
    while (i > 0) {
        i -= 1;
        try todo.append(arena, literals[i]);
    }
}

fn has(literals: []const Literal, wanted: Literal) bool {
    return std.mem.findScalar(u32, @ptrCast(literals), @bitCast(wanted)) != null;
}
