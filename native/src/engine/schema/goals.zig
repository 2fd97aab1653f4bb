//! What a value must be, as a goal: literals that all hold, each a node or its negation. A goal is expanded
//! for a class of values into alternatives in disjunctive form: negation is pushed inwards to single
//! assertions, where JSON Schema has the complement, and each alternative is a set of assertions that all
//! hold. Goals and expansions are found when a text first asks for them, and kept.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const schema_module = @import("schema.zig");
const Types = schema_module.Types;
const Schema = schema_module.Schema;
const Bounds = schema_module.Bounds;
const NodeId = schema_module.NodeId;
const unbounded = schema_module.unbounded;
const Interner = @import("../base/interner.zig").Interner;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Watch = @import("../base/watch.zig").Watch;

pub const GoalId = u32;

/// Expansions of one goal and one class; a schema that needs more is refused.
pub const alternatives_max = 1024;
/// Of these, with members in any order, that are followed as they stand.
const cases_max = 32;
/// What one item or member can count for, beyond its own goal, in one alternative; each doubles the ways to continue.
pub const options_max = 8;
/// Literals that one expansion looks at.
const steps_max = 1 << 16;
/// Forks within each other, which are on the stack.
const depth_max = 256;
/// What is looked at to tell whether one literal holds: beyond it that is not known.
const looks_max = 1 << 16;
/// Formulas within each other that are asked for their classes.
const classes_depth_max = 4;

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

    /// The value is in none of the sets of values that may not come; this one has a number. It tells of scalars: whether
    /// an array or object is another one is known to the thread that runs along it.
    pub fn notIn(schema: *const Schema, set: u32) Literal {
        return .{ .node = @intCast(schema.nodes.len + set) };
    }

    /// The value is in the set, whatever it is.
    pub fn in(schema: *const Schema, set: u32) Literal {
        return .{ .node = @intCast(schema.nodes.len + set), .negated = true };
    }

    /// The number of the set, of both; null for what stands in the schema.
    pub fn setOf(literal: Literal, schema: *const Schema) ?u32 {
        return if (literal.node < schema.nodes.len) null else literal.node - @as(u32, @intCast(schema.nodes.len));
    }
};

/// What the first byte of a value tells.
pub const Class = enum(u3) {
    null,
    boolean,
    number,
    string,
    array,
    object,

    /// Whether some of its values are of these types.
    fn isOf(class: Class, types: schema_module.Types) bool {
        return switch (class) {
            .null => types.null,
            .boolean => types.boolean,
            .number => types.integer or types.fraction,
            .string => types.string,
            .array => types.array,
            .object => types.object,
        };
    }
};

const Classes = std.EnumSet(Class);

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
    /// Keys that must be there, with a value that does not satisfy a node.
    unlike: []const Unlike = &.{},
    /// Of an object: choices that hold besides, where alternatives of them would be too many.
    conditions: []const Condition = &.{},
    /// Sets of values: it is one of each.
    among: []const u32 = &.{},
    /// Of an array or object: its value is remembered, since it may have to be another one than some others.
    is_watched: bool = false,

    /// Stands behind so many of `literals` in the schema.
    pub const Condition = struct { literal: Literal, behind: u32 };
    pub const Unlike = struct { key: u32, value: NodeId };
    pub const Contains = struct { item: NodeId, count: Bounds };
};

pub const Goals = struct {
    gpa: Allocator,
    schema: *const Schema,
    arena: Arena,
    /// Of one expansion.
    scratch: Arena,
    goals: Interner = .{},
    /// By goal and class: of `found`.
    expansions: NumberMap = .{},
    found: ArrayList([]const Conjunction) = .empty,
    /// By goal, as far as it was asked for: null if it was not.
    classes: ArrayList(?Classes) = .empty,

    pub fn init(gpa: Allocator, schema: *const Schema) Goals {
        return .{ .gpa = gpa, .schema = schema, .arena = .init(gpa), .scratch = .init(gpa) };
    }

    pub fn deinit(g: *Goals) void {
        g.expansions.deinit(g.gpa);
        g.found.deinit(g.gpa);
        g.classes.deinit(g.gpa);
        g.goals.deinit(g.gpa);
        g.scratch.deinit();
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

    /// False where the types that a goal names tell that no value of the class satisfies it: most goals are of one class.
    pub fn mayBe(g: *Goals, id: GoalId, class: Class) Allocator.Error!bool {
        const n_known = g.classes.items.len;
        if (id >= n_known) try g.classes.appendNTimes(g.gpa, null, id + 1 - n_known);
        const found = g.classes.items[id] orelse found: {
            var classes: Classes = .full;
            for (g.goals.get(id)) |word| {
                const literal: Literal = @bitCast(word);
                if (!literal.negated and literal.setOf(g.schema) == null) classes.setIntersection(g.classesOf(literal.node, 0));
            }
            g.classes.items[id] = classes;
            break :found classes;
        };
        return found.contains(class);
    }

    /// What the values of a node are at most.
    fn classesOf(g: *const Goals, id: NodeId, depth: u32) Classes {
        if (depth == classes_depth_max) return .full;
        switch (g.schema.nodes[id]) {
            .types => |types| {
                var classes: Classes = .empty;
                for (std.enums.values(Class)) |class| if (class.isOf(types)) classes.insert(class);
                return classes;
            },
            .listed => |range| {
                const values = g.schema.values[range.from..][0..range.len];
                // In order: the quote is before all else.
                return if (values[values.len - 1][0] == '"') .initOne(.string) else .initMany(&.{ .null, .boolean, .number, .string });
            },
            .all => |range| {
                var classes: Classes = .full;
                for (g.schema.children[range.from..][0..range.len]) |child| classes.setIntersection(g.classesOf(child, depth + 1));
                return classes;
            },
            .any, .one => |range| {
                var classes: Classes = .empty;
                for (g.schema.children[range.from..][0..range.len]) |child| classes.setUnion(g.classesOf(child, depth + 1));
                return classes;
            },
            else => return .full,
        }
    }

    /// Lent for the life of the goals.
    pub fn expand(g: *Goals, id: GoalId, class: Class, watch: ?*Watch) Error![]const Conjunction {
        const key = @as(u64, id) << 3 | @backingInt(class);
        if (g.expansions.get(key)) |found| return g.found.items[found];
        const found = try g.find(id, class, watch);
        try g.expansions.putItem(g.gpa, key, []const Conjunction, &g.found, found);
        return found;
    }

    /// Where there are many as they stand, cases are told apart.
    fn find(g: *Goals, id: GoalId, class: Class, watch: ?*Watch) Error![]const Conjunction {
        // It fixes an order of some keys, which must not be for the sake of time alone.
        const many: usize = if (g.schema.form.order == .any) cases_max else alternatives_max;
        defer g.scratch.clear();
        const arena = g.scratch.allocator();
        if (try g.expandBy(id, class, .as_they_are, many, watch, arena)) |found| return g.keep(found);
        if (try g.expandBy(id, class, .told_apart, alternatives_max, watch, arena)) |found| return g.keep(found);
        const last: Cases = if (class == .object) .left else .as_they_are;
        return g.keep(try g.expandBy(id, class, last, alternatives_max, watch, arena) orelse return error.TooLarge);
    }

    /// Null if it is too much.
    fn expandBy(
        g: *Goals,
        id: GoalId,
        class: Class,
        cases: Cases,
        most: usize,
        watch: ?*Watch,
        arena: Allocator,
    ) Error!?[]const Conjunction {
        var expansion: Expansion = .{ .arena = arena, .schema = g.schema, .class = class, .cases = cases, .most = most, .watch = watch };
        var branch: Branch = .{};
        try branch.push(arena, @ptrCast(g.goals.get(id)), &.{});
        expansion.run(&branch) catch |e| return switch (e) {
            error.OutOfMemory => error.OutOfMemory,
            // Only what is too much may be told apart in another way: not what is out of time.
            error.TooLarge => if (watch == null or watch.?.stopped == .not) null else error.TooLarge,
        };
        return expansion.done.items;
    }

    fn keep(g: *Goals, found: []const Conjunction) Allocator.Error![]const Conjunction {
        const arena = g.arena.allocator();
        const kept = try arena.dupe(Conjunction, found);
        for (kept) |*one| {
            one.literals = try arena.dupe(Literal, one.literals);
            one.contains = try arena.dupe(Conjunction.Contains, one.contains);
            one.conditions = try arena.dupe(Conjunction.Condition, one.conditions);
            one.unlike = try arena.dupe(Conjunction.Unlike, one.unlike);
            one.among = try arena.dupe(u32, one.among);
        }
        return kept;
    }
};

/// The first node of a schema is always true.
const nothing: Literal = .of(0);

/// A literal that waits, and where it stands among the schemas that apply: the keys of earlier places come first.
const Todo = struct { literal: Literal, place: []const u32 };

/// An alternative that is being made.
const Branch = struct {
    todo: ArrayList(Todo) = .empty,
    /// Formulas of which one part must hold: they wait until it is known which of them can.
    choices: ArrayList(Todo) = .empty,
    /// Those that are left as they are.
    conditions: ArrayList(Todo) = .empty,
    /// Formulas that were looked at: a reference that leads back adds nothing.
    seen: ArrayList(Literal) = .empty,
    literals: ArrayList(Todo) = .empty,
    contains: ArrayList(Conjunction.Contains) = .empty,
    among: ArrayList(u32) = .empty,
    integers: bool = true,
    fractions: bool = true,
    count: Bounds = .{},
    is_watched: bool = false,

    fn clone(b: *const Branch, arena: Allocator) Allocator.Error!Branch {
        var copy = b.*;
        copy.todo = try b.todo.clone(arena);
        copy.choices = try b.choices.clone(arena);
        copy.conditions = try b.conditions.clone(arena);
        copy.seen = try b.seen.clone(arena);
        copy.literals = try b.literals.clone(arena);
        copy.contains = try b.contains.clone(arena);
        copy.among = try b.among.clone(arena);
        return copy;
    }

    /// False if nothing is left.
    fn meet(b: *Branch, bounds: Bounds) bool {
        b.count = .{ .min = @max(b.count.min, bounds.min), .max = @min(b.count.max, bounds.max) };
        return b.count.min <= b.count.max;
    }

    fn removeChoice(b: *Branch, i: usize) Todo {
        const choices = b.choices.items;
        const removed = choices[i];
        std.mem.copyForwards(Todo, choices[i .. choices.len - 1], choices[i + 1 ..]);
        b.choices.shrinkRetainingCapacity(choices.len - 1);
        return removed;
    }

    fn push(b: *Branch, arena: Allocator, literals: []const Literal, place: []const u32) Allocator.Error!void {
        // Last in, first out.
        var i = literals.len;
        while (i > 0) {
            i -= 1;
            const own = try arena.alloc(u32, place.len + 1);
            @memcpy(own[0..place.len], place);
            own[place.len] = @intCast(i);
            try b.todo.append(arena, .{ .literal = literals[i], .place = own });
        }
    }
};

/// Whether a choice is as many alternatives as it has parts, of which a value may satisfy several; or a part that tells of
/// members is left where it does not hold: the members decide other choices, too. Or it is left as a condition.
const Cases = enum { as_they_are, told_apart, left };

const Expansion = struct {
    arena: Allocator,
    schema: *const Schema,
    class: Class,
    cases: Cases,
    /// Alternatives.
    most: usize,
    done: ArrayList(Conjunction) = .empty,
    steps: u32 = 0,
    /// Forks within each other.
    depth: u32 = 0,
    watch: ?*Watch,

    fn run(e: *Expansion, b: *Branch) Error!void {
        while (true) {
            while (b.todo.pop()) |one| {
                e.steps += 1;
                if (e.steps > steps_max) return error.TooLarge;
                try e.look(b.seen.items.len / 16);
                if (has(b.seen.items, one.literal)) continue;
                if (has(b.seen.items, opposite(one.literal))) return; // a contradiction
                try b.seen.append(e.arena, one.literal);
                if (!try e.take(b, one)) return;
            }
            switch (try e.choose(b)) {
                .none => return,
                .one => {},
                .several => if (!try e.leave(b)) return e.forkFirst(b),
                .all => break,
            }
        }
        var unlike: ArrayList(Conjunction.Unlike) = .empty;
        var conditions: []const Conjunction.Condition = &.{};
        const literals = try e.finish(b, &unlike, &conditions) orelse return;
        if (e.cases == .told_apart and e.nExceptions(literals) > options_max) return error.TooLarge;
        try e.look(e.done.items.len / 4);
        for (e.done.items) |*before| if (isSame(before, b, literals)) return;
        if (e.done.items.len == e.most) return error.TooLarge;
        try e.done.append(e.arena, .{
            .class = e.class,
            .integers = b.integers,
            .fractions = b.fractions,
            .count = b.count,
            .literals = literals,
            .contains = b.contains.items,
            .conditions = conditions,
            .unlike = unlike.items,
            .among = b.among.items,
            .is_watched = b.is_watched,
        });
    }

    /// So much is looked at.
    fn look(e: *const Expansion, n: usize) Error!void {
        if (e.watch) |watch| try watch.steps(1 + std.math.lossyCast(u32, n));
    }

    fn nExceptions(e: *const Expansion, literals: []const Literal) usize {
        var n: usize = 0;
        for (literals) |literal| {
            const is_scalar = literal.setOf(e.schema) != null;
            if (!is_scalar and literal.negated and e.schema.nodes[literal.node] == .object_members) n += 1;
        }
        return n;
    }

    fn isSame(before: *const Conjunction, b: *const Branch, literals: []const Literal) bool {
        return before.integers == b.integers and before.fractions == b.fractions and std.meta.eql(before.count, b.count) and
            before.contains.len == 0 and b.contains.items.len == 0 and before.class != .object and
            std.mem.eql(u32, before.among, b.among.items) and std.mem.eql(u32, @ptrCast(before.literals), @ptrCast(literals));
    }

    /// What is kept, in the order of the schema; null if nothing satisfies it. Exceptions that others make certain
    /// are left out, and those that a single key can be go to `unlike`.
    fn finish(
        e: *Expansion,
        b: *Branch,
        unlike: *ArrayList(Conjunction.Unlike),
        conditions: *[]const Conjunction.Condition,
    ) Error!?[]const Literal {
        var facts: Facts = .{ .schema = e.schema, .class = e.class, .b = b };
        if (e.class == .object) std.sort.insertion(Todo, b.literals.items, {}, isBefore);
        var literals: ArrayList(Literal) = .empty;
        var places: ArrayList([]const u32) = .empty;
        for (b.literals.items) |*one| {
            const literal = one.literal;
            if (literal.negated and e.class == .object) switch (e.schema.nodes[literal.node]) {
                .object_members => {
                    one.literal = nothing; // it must not follow from itself
                    facts.looks = 0;
                    const is = facts.members(literal.node);
                    const only = facts.onlyException(literal.node);
                    try e.look(facts.looks);
                    if (is == .yes) return null;
                    if (is == .no) continue;
                    one.literal = literal;
                    if (only) |exception| {
                        try unlike.append(e.arena, exception);
                        continue;
                    }
                },
                else => {},
            };
            try literals.append(e.arena, literal);
            try places.append(e.arena, one.place);
        }
        conditions.* = try e.conditionsOf(b, places.items);
        if (e.class != .object) std.sort.insertion(u32, @ptrCast(literals.items), {}, std.sort.asc(u32));
        return literals.items;
    }

    fn isBefore(_: void, x: Todo, y: Todo) bool {
        return std.mem.order(u32, x.place, y.place) == .lt;
    }

    /// False if the branch is at its end: nothing satisfies it, or others continue in its place.
    fn take(e: *Expansion, b: *Branch, one: Todo) Error!bool {
        const literal = one.literal;
        const no = literal.negated;
        if (literal.setOf(e.schema)) |set| {
            if (no) {
                try b.among.append(e.arena, set);
                return true;
            }
            if (e.class != .array and e.class != .object) return e.keep(b, one);
            b.is_watched = true;
            return true;
        }
        switch (e.schema.nodes[literal.node]) {
            .always => return !no,
            .never => return no,
            .all => |range| if (no) return e.wait(b, one) else return e.both(b, e.childrenOf(range), one),
            .any => |range| if (no) return e.both(b, e.childrenOf(range), one) else return e.wait(b, one),
            .one, .conditional => return e.wait(b, one),
            .not => |node| {
                try b.push(e.arena, &.{.{ .node = @intCast(node), .negated = !no }}, one.place);
                return true;
            },
            .types => |types| return e.takeTypes(b, types, no),
            .listed => {
                if (e.class == .array or e.class == .object) return no;
                return e.keep(b, one);
            },
            .string_length => |bounds| return e.takeCount(b, .string, bounds, no),
            .array_length => |bounds| return e.takeCount(b, .array, bounds, no),
            .object_count => |bounds| return e.takeCount(b, .object, bounds, no),
            .string_matches => return e.keepOf(b, .string, one),
            .number_limit, .number_multiple => return e.keepOf(b, .number, one),
            .array_items, .array_unique => return e.keepOf(b, .array, one),
            .array_contains => |contains| return e.takeContains(b, contains.item, contains.count, no),
            .object_has, .object_names, .object_members => return e.keepOf(b, .object, one),
        }
    }

    fn childrenOf(e: *const Expansion, range: schema_module.Range) []const NodeId {
        return e.schema.children[range.from..][0..range.len];
    }

    fn both(e: *Expansion, b: *Branch, nodes: []const NodeId, one: Todo) Error!bool {
        try b.push(e.arena, try e.literalsOf(nodes, one.literal.negated), one.place);
        return true;
    }

    fn literalsOf(e: *Expansion, nodes: []const NodeId, negated: bool) Error![]Literal {
        const literals = try e.arena.alloc(Literal, nodes.len);
        for (literals, nodes) |*literal, node| literal.* = .{ .node = @intCast(node), .negated = negated };
        return literals;
    }

    fn wait(e: *Expansion, b: *Branch, one: Todo) Error!bool {
        try b.choices.append(e.arena, one);
        return true;
    }

    // ---- Choices that are left

    /// Leaves choices as conditions, where that is better than to make an alternative of each way to decide them all.
    fn leave(e: *Expansion, b: *Branch) Error!bool {
        if (e.class != .object) return false;
        if (e.cases == .left) {
            try b.conditions.appendSlice(e.arena, b.choices.items);
            b.choices.clearRetainingCapacity();
            return true;
        }
        const choices = b.choices.items;
        var parting: Parting = .{ .arena = e.arena, .schema = e.schema, .choices = choices };
        if (!try parting.run()) return false;
        try e.look(parting.looks);
        var n: usize = 0;
        for (choices, 0..) |one, i| {
            if (parting.isLeft(i)) {
                try b.conditions.append(e.arena, one);
                continue;
            }
            choices[n] = one;
            n += 1;
        }
        b.choices.shrinkRetainingCapacity(n);
        return true;
    }

    /// With the places of the literals that are kept.
    fn conditionsOf(e: *Expansion, b: *Branch, places: []const []const u32) Error![]const Conjunction.Condition {
        if (b.conditions.items.len == 0) return &.{};
        std.sort.insertion(Todo, b.conditions.items, {}, isBefore);
        const found = try e.arena.alloc(Conjunction.Condition, b.conditions.items.len);
        var n: u32 = 0;
        for (found, b.conditions.items) |*to, one| {
            while (n < places.len and std.mem.order(u32, places[n], one.place) == .lt) n += 1;
            to.* = .{ .literal = one.literal, .behind = n };
        }
        return found;
    }

    // ---- Choices

    /// Looks at what waits: a choice with a part that holds is made, one of which a single part can hold is that part,
    /// and one of which none can is the end.
    fn choose(e: *Expansion, b: *Branch) Error!enum { none, one, several, all } {
        var i: usize = 0;
        while (i < b.choices.items.len) {
            const options = try e.optionsOf(b, b.choices.items[i]) orelse {
                _ = b.removeChoice(i);
                continue;
            };
            if (options.len == 0) return .none;
            if (options.len == 1) {
                const one = b.removeChoice(i);
                try b.push(e.arena, options[0].literals, try e.placeOf(one.place, options[0].number));
                return .one;
            }
            i += 1;
        }
        return if (b.choices.items.len == 0) .all else .several;
    }

    fn placeOf(e: *Expansion, place: []const u32, number: usize) Error![]const u32 {
        const own = try e.arena.alloc(u32, place.len + 1);
        @memcpy(own[0..place.len], place);
        own[place.len] = @intCast(number);
        return own;
    }

    /// One branch for each part of the first choice that can hold.
    fn forkFirst(e: *Expansion, b: *Branch) Error!void {
        if (e.depth == depth_max) return error.TooLarge;
        e.depth += 1;
        defer e.depth -= 1;
        const one = b.removeChoice(0);
        const options = (try e.optionsOf(b, one)).?;
        for (std.enums.values(Telling)) |telling| for (options) |option| {
            if (e.tellingOf(option) != telling) continue;
            const place = try e.placeOf(one.place, option.number);
            var copy = try b.clone(e.arena);
            try copy.push(e.arena, option.literals, place);
            try e.run(&copy);
            // What is left is where it does not hold.
            if (telling != .nothing) try b.push(e.arena, &.{opposite(option.literals[0])}, place);
        };
    }

    /// What a part of a choice tells of other choices, if it holds and if it does not: most first.
    const Telling = enum { members, presence, nothing };

    fn tellingOf(e: *const Expansion, option: Option) Telling {
        if (e.cases == .as_they_are or option.literals.len > 1) return .nothing;
        return switch (e.schema.nodes[option.literals[0].node]) {
            .object_members => .members,
            .object_has => .presence,
            else => .nothing,
        };
    }

    /// Literals that hold together.
    const Option = struct { number: usize, literals: []const Literal };

    /// Those of a choice that can hold; null if one of them holds anyway.
    fn optionsOf(e: *Expansion, b: *const Branch, choice: Todo) Error!?[]const Option {
        var facts: Facts = .{ .schema = e.schema, .class = e.class, .b = b };
        const no = choice.literal.negated;
        var found: ArrayList(Option) = .empty;
        switch (e.schema.nodes[choice.literal.node]) {
            .all, .any => |range| for (e.childrenOf(range), 0..) |node, i| {
                const literals = try e.literalsOf(&.{node}, no);
                switch (try e.ask(&facts, literals[0])) {
                    .yes => return null,
                    .no => {},
                    .unknown => try found.append(e.arena, .{ .number = i, .literals = literals }),
                }
            },
            .conditional => |c| {
                const literals = [2][2]Literal{
                    .{ .of(c.when), .{ .node = @intCast(c.then), .negated = no } },
                    .{ .no(c.when), .{ .node = @intCast(c.otherwise), .negated = no } },
                };
                for (&literals, 0..) |*both_of, i| {
                    const first, const second = .{ try e.ask(&facts, both_of[0]), try e.ask(&facts, both_of[1]) };
                    if (first == .no or second == .no) continue;
                    if (first == .yes and second == .yes) return null;
                    try found.append(e.arena, .{ .number = i, .literals = try e.arena.dupe(Literal, both_of) });
                }
            },
            .one => |range| try e.addCounted(&facts, e.childrenOf(range), no, &found),
            else => unreachable, // makes no choice
        }
        return found.items;
    }

    fn ask(e: *const Expansion, facts: *Facts, literal: Literal) Error!Status {
        facts.looks = 0;
        const is = facts.status(literal, 0);
        try e.look(facts.looks);
        return is;
    }

    /// Exactly one of the nodes holds; or none, or more.
    fn addCounted(e: *Expansion, facts: *Facts, nodes: []const NodeId, no: bool, found: *ArrayList(Option)) Error!void {
        var can: ArrayList(NodeId) = .empty;
        for (nodes) |node| if (try e.ask(facts, .of(node)) != .no) try can.append(e.arena, node);
        if (!no) {
            for (can.items, 0..) |node, i| {
                try e.look(can.items.len / 8);
                const literals = try e.literalsOf(can.items, true);
                literals[i] = literals[0];
                literals[0] = .of(node);
                try found.append(e.arena, .{ .number = i, .literals = literals });
            }
            return;
        }
        try found.append(e.arena, .{ .number = 0, .literals = try e.literalsOf(can.items, true) });
        // Two or more: the first two that hold.
        for (0..can.items.len) |first| for (first + 1..can.items.len) |second| {
            try e.look(second / 8);
            const literals = try e.literalsOf(can.items[0 .. second + 1], true);
            literals[first].negated = false;
            literals[second].negated = false;
            try found.append(e.arena, .{ .number = 1 + second, .literals = literals });
        };
    }

    fn takeTypes(e: *Expansion, b: *Branch, types: schema_module.Types, no: bool) bool {
        if (e.class != .number) return e.class.isOf(types) != no;
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

    fn keepOf(e: *Expansion, b: *Branch, class: Class, one: Todo) Error!bool {
        if (e.class != class) return !one.literal.negated;
        return e.keep(b, one);
    }

    fn keep(e: *Expansion, b: *Branch, one: Todo) Error!bool {
        try b.literals.append(e.arena, one);
        return true;
    }
};

/// Finds which choices to leave: where many tell of no common member, each of them would multiply the alternatives.
const Parting = struct {
    arena: Allocator,
    schema: *const Schema,
    choices: []const Todo,
    /// By choice: one of those that tell of common members stands for them.
    parents: []u32 = &.{},
    /// By choice that stands for others: whether they are left.
    is_left: []bool = &.{},
    /// By key, the choice, and the schemas of its value; and pairs of them.
    choice_of: NumberMap = .{},
    n_values: NumberMap = .{},
    counts: ArrayList(u32) = .empty,
    pairs: NumberMap = .{},
    seen: NumberMap = .{},
    looks: usize = 0,

    /// So many that are independent make too many alternatives.
    const independent_min = 5;
    /// Schemas of the value of one member: each is told apart where its value is not known in time.
    const values_max = 3;
    const looks_max_of_choices = 1 << 14;

    /// False if there are none to leave.
    fn run(p: *Parting) Allocator.Error!bool {
        const n = p.choices.len;
        p.parents = try p.arena.alloc(u32, n);
        for (p.parents, 0..) |*parent, i| parent.* = @intCast(i);
        p.is_left = try p.arena.alloc(bool, n);
        @memset(p.is_left, n >= independent_min);
        if (n >= independent_min) for (p.choices, 0..) |one, i| {
            p.seen.clear();
            if (!try p.add(one.literal.node, @intCast(i), 0)) return false;
        };
        var n_independent: u32 = 0;
        for (0..n) |i| {
            if (!p.is_left[i]) p.is_left[p.find(@intCast(i))] = false;
        }
        for (p.parents, 0..) |parent, i| n_independent += @intFromBool(parent == i and p.is_left[i]);
        if (n_independent >= independent_min) return true;
        @memset(p.is_left, false);
        var is_any = false;
        for (p.choices, 0..) |one, i| if (try p.isWideChoice(one.literal)) {
            p.is_left[p.find(@intCast(i))] = true;
            is_any = true;
        };
        return is_any;
    }

    fn isLeft(p: *Parting, i: usize) bool {
        return p.is_left[p.find(@intCast(i))];
    }

    fn find(p: *Parting, i: u32) u32 {
        var at = i;
        while (p.parents[at] != at) {
            p.parents[at] = p.parents[p.parents[at]];
            at = p.parents[at];
        }
        return at;
    }

    /// False if it tells of all members.
    fn add(p: *Parting, node: NodeId, choice: u32, depth: u32) Allocator.Error!bool {
        if (p.seen.get(node) != null) return true;
        try p.seen.put(p.arena, node, 0);
        p.looks += 1;
        if (p.looks > looks_max_of_choices or depth == depth_max) return false;
        switch (p.schema.nodes[node]) {
            .all, .any, .one => |range| for (p.schema.children[range.from..][0..range.len]) |child| {
                if (!try p.add(child, choice, depth + 1)) return false;
            },
            .not => |of| return p.add(of, choice, depth + 1),
            .conditional => |of| for ([_]NodeId{ of.when, of.then, of.otherwise }) |child| {
                if (!try p.add(child, choice, depth + 1)) return false;
            },
            .object_has => |key| try p.addKey(key, choice),
            .object_count, .object_names => return false,
            .object_members => |atom| {
                if (atom.matching.len > 0 or p.schema.nodes[atom.rest] != .always) return false;
                for (p.schema.members[atom.named.from..][0..atom.named.len]) |member| {
                    if (p.schema.nodes[member.value] == .always) continue;
                    try p.addKey(member.key, choice);
                    const pair = @as(u64, member.key) << 32 | member.value;
                    if (p.pairs.get(pair) != null) continue;
                    try p.pairs.put(p.arena, pair, 0);
                    if (p.n_values.get(member.key) == null) try p.n_values.putItem(p.arena, member.key, u32, &p.counts, 0);
                    const n = &p.counts.items[p.n_values.get(member.key).?];
                    n.* += 1;
                    if (n.* > values_max) p.is_left[choice] = false;
                }
            },
            else => {},
        }
        return true;
    }

    fn addKey(p: *Parting, key: u32, choice: u32) Allocator.Error!void {
        const other = p.choice_of.get(key) orelse return p.choice_of.put(p.arena, key, choice);
        const x, const y = .{ p.find(other), p.find(choice) };
        p.parents[@max(x, y)] = @min(x, y);
    }

    /// Whether exactly one of many holds, and no two tell of a common member.
    fn isWideChoice(p: *Parting, literal: Literal) Allocator.Error!bool {
        const range = switch (p.schema.nodes[literal.node]) {
            .one => |range| range,
            else => return false,
        };
        if (literal.negated or range.len <= options_max) return false;
        var keys: NumberMap = .{};
        for (p.schema.children[range.from..][0..range.len], 0..) |child, i| {
            const n = keys.n;
            p.seen.clear();
            if (!try p.areOwn(child, @intCast(i), &keys, 0) or keys.n == n) return false;
        }
        return true;
    }

    fn areOwn(p: *Parting, node: NodeId, i: u32, keys: *NumberMap, depth: u32) Allocator.Error!bool {
        if (p.seen.get(node) != null) return true;
        try p.seen.put(p.arena, node, 0);
        p.looks += 1;
        if (p.looks > looks_max_of_choices or depth == depth_max) return false;
        switch (p.schema.nodes[node]) {
            .all, .any, .one => |range| for (p.schema.children[range.from..][0..range.len]) |child| {
                if (!try p.areOwn(child, i, keys, depth + 1)) return false;
            },
            .not => |of| return p.areOwn(of, i, keys, depth + 1),
            .object_has => |key| return p.isOwn(key, i, keys),
            .object_members => |atom| for (p.schema.members[atom.named.from..][0..atom.named.len]) |member| {
                if (p.schema.nodes[member.value] != .always and !try p.isOwn(member.key, i, keys)) return false;
            },
            else => {},
        }
        return true;
    }

    fn isOwn(p: *Parting, key: u32, i: u32, keys: *NumberMap) Allocator.Error!bool {
        if (keys.get(key)) |owner| return owner == i;
        try keys.put(p.arena, key, i);
        return true;
    }
};

fn opposite(literal: Literal) Literal {
    return .{ .node = literal.node, .negated = !literal.negated };
}

fn has(literals: []const Literal, wanted: Literal) bool {
    return std.mem.findScalar(u32, @ptrCast(literals), @bitCast(wanted)) != null;
}

// ---- What is known of an alternative that is being made

const Status = enum {
    yes,
    no,
    unknown,

    fn of(is: bool) Status {
        return if (is) .yes else .no;
    }

    fn not(status: Status) Status {
        return switch (status) {
            .yes => .no,
            .no => .yes,
            .unknown => .unknown,
        };
    }
};

/// Tells of some formulas whether they follow from what holds already, or contradict it; so that choices are not made
/// where nothing is left to choose. What it cannot tell at once is unknown.
const Facts = struct {
    schema: *const Schema,
    class: Class,
    b: *const Branch,
    /// At what one question looked so far.
    looks: usize = 0,

    const status_depth_max = 6;
    const kind_depth_max = 4;

    /// Whether that was enough.
    fn isOver(f: *Facts, n: usize) bool {
        f.looks += n;
        return f.looks > looks_max;
    }

    fn status(f: *Facts, literal: Literal, depth: u32) Status {
        if (f.isOver(1 + f.b.seen.items.len / 16)) return .unknown;
        if (has(f.b.seen.items, literal)) return .yes;
        if (has(f.b.seen.items, opposite(literal))) return .no;
        if (depth == status_depth_max) return .unknown;
        const is = f.node(literal.node, depth + 1);
        return if (literal.negated) is.not() else is;
    }

    fn node(f: *Facts, id: NodeId, depth: u32) Status {
        switch (f.schema.nodes[id]) {
            .always => return .yes,
            .never => return .no,
            .all => |range| return f.allOf(range, false, depth),
            .any => |range| return f.allOf(range, true, depth).not(),
            .not => |of| return f.status(.no(of), depth),
            .one, .conditional => return .unknown,
            .types => |types| return f.ofTypes(types),
            .listed => return if (f.class == .array or f.class == .object) .no else .unknown,
            .string_length => |bounds| return f.ofCount(.string, bounds),
            .array_length => |bounds| return f.ofCount(.array, bounds),
            .object_count => |bounds| return f.ofCount(.object, bounds),
            .string_matches => return f.unless(.string),
            .number_limit, .number_multiple => return f.unless(.number),
            .array_items, .array_contains, .array_unique => return f.unless(.array),
            .object_names => return f.unless(.object),
            .object_has => |key| return if (f.class == .object) f.presence(key) else .yes,
            .object_members => return if (f.class == .object) f.members(id) else .yes,
        }
    }

    /// Whether all hold; or none does, if their negations are meant.
    fn allOf(f: *Facts, range: schema_module.Range, negated: bool, depth: u32) Status {
        var all: Status = .yes;
        for (f.schema.children[range.from..][0..range.len]) |child| {
            switch (f.status(.{ .node = @intCast(child), .negated = negated }, depth)) {
                .no => return .no,
                .unknown => all = .unknown,
                .yes => {},
            }
        }
        return all;
    }

    fn ofTypes(f: *const Facts, types: schema_module.Types) Status {
        if (f.class != .number) return .of(f.class.isOf(types));
        const can = f.b.integers and types.integer or f.b.fractions and types.fraction;
        const must = (types.integer or !f.b.integers) and (types.fraction or !f.b.fractions);
        return if (must) .yes else if (can) .unknown else .no;
    }

    fn unless(f: *const Facts, class: Class) Status {
        return if (f.class == class) .unknown else .yes;
    }

    fn ofCount(f: *const Facts, class: Class, bounds: Bounds) Status {
        if (f.class != class) return .yes;
        const count = f.b.count;
        if (count.min >= bounds.min and count.max <= bounds.max) return .yes;
        return if (count.min > bounds.max or count.max < bounds.min) .no else .unknown;
    }

    /// Whether a key is there.
    fn presence(f: *Facts, key: u32) Status {
        if (f.isOver(1 + f.b.literals.items.len / 4)) return .unknown;
        for (f.b.literals.items) |one| switch (f.schema.nodes[one.literal.node]) {
            .object_has => |known| if (known == key) return .of(!one.literal.negated),
            .object_members => if (one.literal.negated) {
                if (f.single(one.literal.node)) |exception| if (exception.key == key) return .yes;
            } else {
                const said = f.valueOf(one.literal.node, key) orelse continue;
                if (f.schema.nodes[said] == .never) return .no;
            },
            else => {},
        };
        return .unknown;
    }

    /// What a members assertion says of the value of a key; null if patterns may say something too.
    fn valueOf(f: *Facts, id: NodeId, key: u32) ?NodeId {
        const atom = f.schema.nodes[id].object_members;
        f.looks += atom.named.len / 8;
        for (f.schema.members[atom.named.from..][0..atom.named.len]) |member| if (member.key == key) return member.value;
        return if (atom.matching.len == 0) atom.rest else null;
    }

    /// Whether a members assertion holds.
    fn members(f: *Facts, id: NodeId) Status {
        const atom = f.schema.nodes[id].object_members;
        var all: Status = if (atom.matching.len == 0 and f.schema.nodes[atom.rest] == .always) .yes else .unknown;
        for (f.schema.members[atom.named.from..][0..atom.named.len]) |member| {
            if (all == .unknown and f.schema.nodes[member.value] == .always) continue;
            const there = f.presence(member.key);
            if (there == .no) continue;
            switch (f.value(member.key, member.value)) {
                .yes => {},
                .no => if (there == .yes) return .no else {
                    all = .unknown;
                },
                .unknown => all = .unknown,
            }
        }
        if (f.schema.nodes[atom.rest] != .never or atom.matching.len > 0) return all;
        for (f.b.literals.items) |one| switch (f.schema.nodes[one.literal.node]) {
            .object_has => |key| if (!one.literal.negated and f.schema.nodes[f.valueOf(id, key).?] == .never) return .no,
            else => {},
        };
        return all;
    }

    /// The member that must be the exception, where the assertion says something of one key alone.
    fn single(f: *const Facts, id: NodeId) ?Conjunction.Unlike {
        const atom = f.schema.nodes[id].object_members;
        if (atom.named.len != 1 or atom.matching.len > 0 or f.schema.nodes[atom.rest] != .always) return null;
        const member = f.schema.members[atom.named.from];
        return .{ .key = member.key, .value = member.value };
    }

    /// The same where all others of its keys are not there, or have values that satisfy it.
    fn onlyException(f: *Facts, id: NodeId) ?Conjunction.Unlike {
        const atom = f.schema.nodes[id].object_members;
        if (atom.matching.len > 0 or f.schema.nodes[atom.rest] != .always) return null;
        var only: ?Conjunction.Unlike = null;
        for (f.schema.members[atom.named.from..][0..atom.named.len]) |member| {
            if (f.schema.nodes[member.value] == .always or f.presence(member.key) == .no) continue;
            if (atom.named.len > 1 and f.value(member.key, member.value) == .yes) continue;
            if (only != null) return null;
            only = .{ .key = member.key, .value = member.value };
        }
        return only;
    }

    /// Whether the value of a key, if it is there, satisfies a node.
    fn value(f: *Facts, key: u32, wanted: NodeId) Status {
        if (f.schema.nodes[wanted] == .always) return .yes;
        if (f.isOver(1 + f.b.literals.items.len / 4)) return .unknown;
        const w = f.kindOf(wanted, 0);
        for (f.b.literals.items) |one| switch (f.schema.nodes[one.literal.node]) {
            .object_members => if (one.literal.negated) {
                const exception = f.single(one.literal.node) orelse continue;
                if (exception.key != key) continue;
                if (exception.value == wanted) return .no;
                const not = f.kindOf(exception.value, 0);
                if (not.is_exact and f.isWithin(&w, &not)) return .no;
            } else {
                const known = f.valueOf(one.literal.node, key) orelse continue;
                if (known == wanted) return .yes;
                const k = f.kindOf(known, 0);
                if (f.areDisjoint(&k, &w)) return .no;
                if (w.is_exact and f.isWithin(&k, &w)) return .yes;
            },
            else => {},
        };
        return .unknown;
    }

    /// What a value is at most: of some types and, of scalars, one of some values.
    const Kind = struct {
        types: Types = .all,
        listed: ?schema_module.Range = null,
        /// Every such value satisfies the node.
        is_exact: bool = true,
    };

    fn kindOf(f: *Facts, id: NodeId, depth: u32) Kind {
        if (f.isOver(1)) return .{ .is_exact = false };
        switch (f.schema.nodes[id]) {
            .always => return .{},
            .types => |types| return .{ .types = types },
            .listed => |range| return .{ .types = .ofAny(f.schema.values[range.from..][0..range.len]), .listed = range },
            .all => |range| {
                var kind: Kind = .{};
                for (f.schema.children[range.from..][0..range.len]) |child| {
                    if (depth == kind_depth_max) return .{ .is_exact = false };
                    const one = f.kindOf(child, depth + 1);
                    kind.types = kind.types.intersectWith(one.types);
                    kind.is_exact = kind.is_exact and one.is_exact and (kind.listed == null or one.listed == null);
                    kind.listed = kind.listed orelse one.listed;
                }
                return kind;
            },
            .any, .one => |range| {
                var kind: Kind = .{ .types = .{}, .is_exact = false };
                for (f.schema.children[range.from..][0..range.len]) |child| {
                    if (depth == kind_depth_max) return .{ .is_exact = false };
                    kind.types = kind.types.unionWith(f.kindOf(child, depth + 1).types);
                }
                return kind;
            },
            else => return .{ .is_exact = false },
        }
    }

    fn areDisjoint(f: *Facts, x: *const Kind, y: *const Kind) bool {
        const types = x.types.intersectWith(y.types);
        if (types.isEmpty()) return true;
        const range = x.listed orelse y.listed orelse return false;
        const other = if (x.listed != null) y.listed else null;
        if (f.isOver(range.len)) return false;
        for (f.schema.values[range.from..][0..range.len]) |text| {
            if (!types.intersectWith(.of(text)).isEmpty() and (other == null or f.isListed(other.?, text))) return false;
        }
        return true;
    }

    fn isWithin(f: *Facts, x: *const Kind, y: *const Kind) bool {
        const range = x.listed orelse return y.listed == null and x.types.intersectWith(y.types) == x.types;
        if (f.isOver(range.len)) return false;
        for (f.schema.values[range.from..][0..range.len]) |text| {
            if (x.types.intersectWith(.of(text)).isEmpty()) continue;
            if (y.types.intersectWith(.of(text)).isEmpty() or y.listed != null and !f.isListed(y.listed.?, text)) return false;
        }
        return true;
    }

    fn isListed(f: *const Facts, range: schema_module.Range, text: []const u8) bool {
        return std.sort.binarySearch([]const u8, f.schema.values[range.from..][0..range.len], text, order) != null;
    }

    fn order(wanted: []const u8, text: []const u8) std.math.Order {
        return std.mem.order(u8, wanted, text);
    }
};
