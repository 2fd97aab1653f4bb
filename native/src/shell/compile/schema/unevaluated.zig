//! unevaluatedProperties and unevaluatedItems, as formulas without a memory of what was evaluated. Which
//! members and items the schemas beside the keyword evaluate depends on which of those hold that need not;
//! so cases are told apart by them, and in each case the keyword is `additionalProperties` (or the items
//! after a prefix) with all keys that are evaluated there.

const std = @import("std");
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Value = @import("json.zig").Value;
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Subject = @import("subject.zig").Subject;
const Place = @import("subject.zig").Place;
const Keyword = @import("keywords.zig").Keyword;
const Names = @import("closed.zig").Names;
const always = @import("formula.zig").always;
const never = @import("formula.zig").never;

/// Conditions in one formula, and schemas that are looked at for it.
pub const conditions_max = 256;
const schemas_max = 1 << 14;
/// Where an option asks for it, and not the schema, its cases are to stay few.
const closed_conditions_max = 64;

const Error = Allocator.Error || diagnostic.Error;

/// What `keyword`, which the schema has, asserts; null if there are too many cases. `c` is the Compiler.
pub fn lower(c: anytype, s: *const Subject, keyword: Keyword) Error!?NodeId {
    var lowering: Lowering(@TypeOf(c)) = .{ .c = c, .keyword = keyword, .value = try c.node(s, keyword, s.get(keyword).?) };
    if (lowering.value == always) return always;
    try lowering.addOwn(s, true);
    return lowering.solve() catch |e| switch (e) {
        error.TooLarge => null,
        else => |other| other,
    };
}

/// What closing the schema's object asserts, of which `names` are all the names in it; null if there are too many cases.
pub fn lowerClosed(c: anytype, s: *const Subject, names: *const Names) Error!?NodeId {
    var lowering: Lowering(@TypeOf(c)) = .{ .c = c, .keyword = .unevaluatedProperties, .value = never, .names = names };
    try lowering.addOwn(s, true);
    return lowering.solve() catch |e| switch (e) {
        error.TooLarge => null,
        else => |other| other,
    };
}

/// A schema that holds in the case that is being looked at.
const Part = struct { schema: *const Value, place: Place };

/// What tells two cases apart.
const Condition = struct {
    when: NodeId,
    yes: []const Part,
    no: []const Part = &.{},
    /// Told apart where the first is not met.
    next: ?*const Condition = null,
};

fn Lowering(comptime Compiler: type) type {
    return struct {
        const L = @This();

        c: Compiler,
        keyword: Keyword,
        value: NodeId,
        /// Of an object that is closed.
        names: ?*const Names = null,
        todo: ArrayList(Part) = .empty,
        conditions: ArrayList(*const Condition) = .empty,
        evaluated: Evaluated = .{},
        n_conditions: u32 = 0,
        n_schemas: u32 = 0,

        /// In the case that is being looked at.
        const Evaluated = struct {
            all: bool = false,
            is_named: bool = false,
            members: ArrayList(engine.Member) = .empty,
            matching: ArrayList(engine.Matching) = .empty,
            n_prefix: u32 = 0,
            contained: ArrayList(NodeId) = .empty,
        };

        fn solve(l: *L) (Error || error{TooLarge})!NodeId {
            while (l.todo.pop()) |part| try l.add(part);
            if (l.evaluated.all) return always;
            const condition = l.conditions.pop() orelse return l.rest();
            const most: u32 = if (l.names == null) conditions_max else closed_conditions_max;
            if (l.n_conditions == most) return error.TooLarge;
            l.n_conditions += 1;

            const arena = l.c.arena;
            const conditions = try arena.dupe(*const Condition, l.conditions.items);
            const evaluated = l.evaluated;
            try l.todo.appendSlice(arena, condition.yes);
            const then = try l.solve();

            l.conditions.clearRetainingCapacity();
            try l.conditions.appendSlice(arena, conditions);
            // What was added lies after these lengths.
            l.evaluated.all = evaluated.all;
            l.evaluated.is_named = evaluated.is_named;
            l.evaluated.n_prefix = evaluated.n_prefix;
            l.evaluated.members.shrinkRetainingCapacity(evaluated.members.items.len);
            l.evaluated.matching.shrinkRetainingCapacity(evaluated.matching.items.len);
            l.evaluated.contained.shrinkRetainingCapacity(evaluated.contained.items.len);
            try l.todo.appendSlice(arena, condition.no);
            if (condition.next) |next| try l.conditions.append(arena, next);
            const otherwise = try l.solve();
            return l.c.formula.add(.{ .conditional = .{ .when = condition.when, .then = then, .otherwise = otherwise } });
        }

        /// The keyword with what is evaluated in the case.
        fn rest(l: *L) Error!NodeId {
            try l.c.checkBudget(); // each case has all keys again
            const f = &l.c.formula;
            if (l.names) |names| {
                if (!l.evaluated.is_named) return always;
                for (names.required.items) |member| try l.addMember(member.key);
            }
            if (l.keyword == .unevaluatedProperties) return f.add(.{ .object_members = .{
                .named = try f.memberList(l.evaluated.members.items),
                .matching = try f.matchingList(l.evaluated.matching.items),
                .rest = l.value,
            } });
            const prefix = try l.c.arena.alloc(NodeId, l.evaluated.n_prefix);
            @memset(prefix, always);
            var nodes: ArrayList(NodeId) = .empty;
            try nodes.appendSlice(l.c.arena, l.evaluated.contained.items);
            try nodes.append(l.c.arena, l.value);
            return f.add(.{ .array_items = .{ .prefix = try f.list(prefix), .rest = try f.any(nodes.items) } });
        }

        fn add(l: *L, part: Part) (Error || error{TooLarge})!void {
            if (part.schema.* != .object) return; // true and false evaluate nothing
            l.n_schemas += 1;
            if (l.n_schemas == schemas_max) return error.TooLarge;
            if (l.n_schemas % 16 == 0) try l.c.checkBudget();
            const object = part.schema.object;
            var s: Subject = undefined;
            l.c.setSubject(&s, object, try l.c.placeOf(part.place, object));
            if (s.place.closing == .whole) s.place.closing = .part;
            try l.addOwn(&s, false);
        }

        /// What a schema that holds evaluates.
        fn addOwn(l: *L, s: *const Subject, is_whole: bool) Error!void {
            for ([_]Keyword{ .@"$ref", .@"$dynamicRef", .@"$recursiveRef" }) |keyword| {
                const target = try l.c.targetOf(s, keyword) orelse continue;
                const place = try l.c.targetPlace(target, s.place.scope, s.place.closing);
                try l.todo.append(l.c.arena, .{ .schema = target.schema, .place = place });
            }
            if (!l.c.draftOf(s).hasSiblings() and s.get(.@"$ref") != null) return;
            if (l.keyword == .unevaluatedProperties) try l.addMembers(s, is_whole) else try l.addItems(s, is_whole);
            if (s.get(.allOf)) |list| for (try l.parts(s, .allOf, list)) |part| try l.todo.append(l.c.arena, part);
            if (s.get(.anyOf)) |list| for (try l.parts(s, .anyOf, list)) |*part| {
                try l.addCondition(.{ .when = try l.c.node(s, .anyOf, part.schema), .yes = part[0..1] });
            };
            if (s.get(.oneOf)) |list| try l.addOneOf(s, try l.parts(s, .oneOf, list));
            if (s.get(.@"if")) |when| try l.addIf(s, when);
            for ([_]Keyword{ .dependentSchemas, .dependencies }) |keyword| try l.addDependent(s, keyword);
        }

        fn addMembers(l: *L, s: *const Subject, is_whole: bool) Error!void {
            const arena = l.c.arena;
            if (s.get(.additionalProperties) != null) l.evaluated.all = true;
            if (!is_whole and s.get(.unevaluatedProperties) != null) l.evaluated.all = true;
            if (s.get(.properties) != null or s.get(.patternProperties) != null) l.evaluated.is_named = true;
            for (try l.c.objectOf(s, .properties)) |*member| try l.addMember(try l.c.formula.key(member.key));
            for (try l.c.objectOf(s, .patternProperties)) |*member| {
                const dfa = try l.c.patternOf(s, .patternProperties, member.key) orelse continue;
                const is_known = for (l.evaluated.matching.items) |known| {
                    if (known.dfa == dfa) break true;
                } else false;
                if (!is_known) try l.evaluated.matching.append(arena, .{ .dfa = dfa, .value = always });
            }
        }

        fn addMember(l: *L, key: u32) Error!void {
            for (l.evaluated.members.items) |known| if (known.key == key) return;
            try l.evaluated.members.append(l.c.arena, .{ .key = key, .value = always });
        }

        fn addItems(l: *L, s: *const Subject, is_whole: bool) Error!void {
            var prefix = s.get(.prefixItems);
            if (s.get(.items)) |items| {
                if (items.* == .array) {
                    prefix = items;
                    if (s.get(.additionalItems) != null) l.evaluated.all = true;
                } else l.evaluated.all = true;
            }
            if (!is_whole and s.get(.unevaluatedItems) != null) l.evaluated.all = true;
            if (prefix) |list| if (list.* == .array) {
                l.evaluated.n_prefix = @max(l.evaluated.n_prefix, @as(u32, @intCast(list.array.len)));
            };
            const contains = s.get(.contains) orelse return;
            // In 2019-09 items are not evaluated by it.
            if (l.c.draftOf(s) == .draft2020_12) try l.evaluated.contained.append(l.c.arena, try l.c.node(s, .contains, contains));
        }

        fn parts(l: *L, s: *const Subject, keyword: Keyword, list: *const Value) Error![]const Part {
            if (list.* != .array) return l.c.fail(s, keyword, "must be an array of schemas");
            const all = try l.c.arena.alloc(Part, list.array.len);
            for (all, list.array) |*part, *schema| part.* = .{ .schema = schema, .place = s.place };
            return all;
        }

        /// Exactly one holds: the last, if none before.
        fn addOneOf(l: *L, s: *const Subject, all: []const Part) Error!void {
            if (all.len == 0) return;
            if (all.len == 1) return l.todo.append(l.c.arena, all[0]);
            if (!l.evaluates(all)) return;
            var next: ?*const Condition = null;
            var i = all.len - 1;
            while (i > 0) {
                i -= 1;
                const condition = try l.c.arena.create(Condition);
                condition.* = .{ .when = try l.c.node(s, .oneOf, all[i].schema), .yes = all[i..][0..1], .next = next };
                if (next == null) condition.no = all[i + 1 ..];
                next = condition;
            }
            try l.conditions.append(l.c.arena, next.?);
        }

        fn addIf(l: *L, s: *const Subject, when: *const Value) Error!void {
            var yes: ArrayList(Part) = .empty;
            try yes.append(l.c.arena, .{ .schema = when, .place = s.place });
            if (s.get(.then)) |then| try yes.append(l.c.arena, .{ .schema = then, .place = s.place });
            var no: ArrayList(Part) = .empty;
            if (s.get(.@"else")) |otherwise| try no.append(l.c.arena, .{ .schema = otherwise, .place = s.place });
            try l.addCondition(.{ .when = try l.c.node(s, .@"if", when), .yes = yes.items, .no = no.items });
        }

        fn addDependent(l: *L, s: *const Subject, keyword: Keyword) Error!void {
            if (l.keyword == .unevaluatedItems) return; // an array has no such members
            for (try l.c.objectOf(s, keyword)) |*member| {
                if (member.value == .array) continue;
                const yes = try l.c.arena.alloc(Part, 1);
                yes[0] = .{ .schema = &member.value, .place = s.place };
                const has = try l.c.formula.add(.{ .object_has = try l.c.formula.key(member.key) });
                try l.addCondition(.{ .when = has, .yes = yes });
            }
        }

        fn addCondition(l: *L, condition: Condition) Error!void {
            if (!l.evaluates(condition.yes) and !l.evaluates(condition.no)) return;
            const kept = try l.c.arena.create(Condition);
            kept.* = condition;
            try l.conditions.append(l.c.arena, kept);
        }

        /// False only if none of the schemas can evaluate anything: most that stand beside the keyword only
        /// require something, and make no cases.
        fn evaluates(l: *const L, all: []const Part) bool {
            for (all) |part| {
                if (part.schema.* != .object) continue;
                for (part.schema.object.members()) |*member| {
                    const keyword = Keyword.of(member.key) orelse continue;
                    switch (keyword) {
                        .@"$ref",
                        .@"$dynamicRef",
                        .@"$recursiveRef",
                        .allOf,
                        .anyOf,
                        .oneOf,
                        .@"if",
                        .dependentSchemas,
                        .dependencies,
                        => return true,
                        .properties,
                        .patternProperties,
                        .additionalProperties,
                        .unevaluatedProperties,
                        => if (l.keyword == .unevaluatedProperties) return true,
                        .prefixItems, .items, .contains, .unevaluatedItems => if (l.keyword == .unevaluatedItems) return true,
                        else => {},
                    }
                }
            }
            return false;
        }
    };
}
