//! Whether the conditions of one component (conditions.zig) can still be met: a tableau. Formulas wait in an agenda; where
//! one of several parts must hold, they are tried in turn. What is left of them says of each member of the component
//! whether it must come, must stay away, and what its value must satisfy if it comes. Functions take the Alternatives.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const schema_module = @import("schema.zig");
const NodeId = schema_module.NodeId;
const Range = schema_module.Range;
const Bounds = schema_module.Bounds;
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const Literal = goals_module.Literal;
const ObjectPlan = @import("object_plan.zig").ObjectPlan;
const conditions = @import("conditions.zig");
const layout = @import("condition_layout.zig");
const Conditions = conditions.Conditions;
const At = conditions.At;

pub const Error = goals_module.Error;

/// Parts of a formula that are looked at again rather than remembered.
const flat_max = 8;

pub const Status = enum { yes, no, unknown };

/// How many of a component's members may be passed over, where its conditions can be met: all, and no extra ones come
/// either, is one more than there are. Null where they cannot.
pub fn reach(a: anytype, plan: *const ObjectPlan, number: u32, at: At, rank: u32) Error!?u32 {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    const n: u32 = @intCast(plan.laid.?.components[number].known.len);
    var none_comes = try Search(@TypeOf(a)).init(a, arena.allocator(), plan, number, at, n + 1);
    if (!none_comes.isRequired(rank) and try none_comes.holds()) return n + 1;
    if (rank > n) return null;
    var search = try Search(@TypeOf(a)).init(a, arena.allocator(), plan, number, at, rank);
    return if (try search.run()) search.farthest(rank) else null;
}

/// Adds the rules on which it depends whether the conditions of a component are met, where so many members were passed over.
pub fn openRules(
    a: anytype,
    arena: Allocator,
    plan: *const ObjectPlan,
    number: u32,
    at: At,
    rank: u32,
    rules: *ArrayList(u32),
) Error!void {
    const component = &plan.laid.?.components[number];
    var search = try Search(@TypeOf(a)).init(a, arena, plan, number, at, rank);
    var seen: NumberMap = .{};
    for (plan.laid.?.roots[component.roots.from..][0..component.roots.len]) |root| try search.collect(root.node, &seen, rules);
}

fn Search(comptime A: type) type {
    return struct {
        const Self = @This();

        a: A,
        arena: Allocator,
        plan: *const ObjectPlan,
        laid: *const Conditions,
        component: *const Conditions.Component,
        at: At,
        /// Nothing comes any more.
        is_over: bool,
        /// Of the component's known keys, the first that may still come.
        first: u32,
        keys: []Key,
        trail: ArrayList(Change) = .empty,
        /// Of the component's known keys: those that must come.
        there: ArrayList(u32) = .empty,
        agenda: ?*const Cell = null,
        /// Rules that hold for all members.
        held: ?*const Cell = null,
        /// Extra members that must come.
        demands: ?*const Demand = null,
        n_demands: u32 = 0,
        count: Bounds,
        choices: ArrayList(Choice) = .empty,
        /// By node, of `formulas`; those that were taken, in their order; and how often members changed, plus one.
        formula_of: NumberMap = .{},
        formulas: ArrayList(Formula) = .empty,
        took: ArrayList(u32) = .empty,
        epoch: u32 = 1,

        /// Many ways may lead to it: it is taken once, and looked at once until members change.
        const Formula = struct { taken: enum { not, as_it_is, negated } = .not, epoch: u32 = 0, status: Status = .unknown };
        const Key = struct { presence: enum { open, there, absent } = .open, literals: ?*const Cell = null };
        const Change = struct { place: u32, before: Key };
        const Cell = struct { literal: Literal, next: ?*const Cell };
        const Demand = struct { id: u32, class: u32, literal: ?Literal, next: ?*const Demand };
        const Option = union(enum) {
            literals: []const Literal,
            /// One child alone holds of those that may.
            only: struct { children: []const NodeId, i: usize },
            member: struct { place: u32, literal: ?Literal },
            count: Bounds,
            extra: struct { id: ?u32, class: u32, literal: ?Literal },
        };
        const Choice = struct {
            agenda: ?*const Cell,
            held: ?*const Cell,
            demands: ?*const Demand,
            n_demands: u32,
            count: Bounds,
            n_changes: usize,
            n_there: usize,
            n_took: usize,
            options: []const Option,
            next: usize,
        };

        fn init(a: A, arena: Allocator, plan: *const ObjectPlan, number: u32, at: At, rank: u32) Error!Self {
            const laid = plan.laid.?;
            const component = &laid.components[number];
            const n: u32 = @intCast(component.known.len);
            const s: Self = .{
                .a = a,
                .arena = arena,
                .plan = plan,
                .laid = laid,
                .component = component,
                .at = at,
                .is_over = rank > n,
                .first = @min(rank, n),
                .keys = try arena.alloc(Key, n),
                .count = plan.count,
            };
            @memset(s.keys, .{});
            return s;
        }

        fn run(s: *Self) Error!bool {
            const roots = s.laid.roots[s.component.roots.from..][0..s.component.roots.len];
            try s.push(roots);
            for (s.component.known[s.first..], s.first..) |known, place| {
                if (s.plan.known[known].is_required and s.canCome(@intCast(place))) if (!try s.setThere(@intCast(place))) return false;
            }
            while (true) {
                if (s.a.watch) |watch| try watch.steps(4);
                const goes_on = if (s.agenda) |cell| taken: {
                    s.agenda = cell.next;
                    break :taken try s.take(cell.literal);
                } else if (try s.isDone()) return true else false;
                if (!goes_on and !try s.tryNext()) return false;
            }
        }

        /// Whether members must still come that the schema requires anyway.
        fn isRequired(s: *const Self, rank: u32) bool {
            for (s.component.known[@min(rank, s.keys.len)..]) |known| {
                const has_come = conditions.hasBit(s.at.state, s.laid.came_bits[known]);
                if (s.plan.known[known].is_required and !has_come) return true;
            }
            return false;
        }

        /// Whether the conditions are seen to be met, and the count is kept.
        fn holds(s: *Self) Error!bool {
            for (s.laid.roots[s.component.roots.from..][0..s.component.roots.len]) |root| {
                if (try s.status(root) != .yes) return false;
            }
            return s.isDone();
        }

        /// Of a search that found a way.
        fn farthest(s: *const Self, rank: u32) u32 {
            const n: u32 = @intCast(s.keys.len);
            if (s.laid.is_counted and s.at.count < s.plan.count.min) return rank;
            if (s.laid.is_counted and (s.count.min > s.plan.count.min or s.count.max < s.plan.count.max)) return rank;
            var first = if (s.n_demands > 0) n else n + 1;
            for (s.there.items) |place| first = @min(first, place);
            return @max(rank, first);
        }

        // ---- The agenda

        fn push(s: *Self, literals: []const Literal) Allocator.Error!void {
            var i = literals.len;
            while (i > 0) {
                i -= 1;
                try s.pushOne(literals[i]);
            }
        }

        fn pushOne(s: *Self, literal: Literal) Allocator.Error!void {
            const cell = try s.arena.create(Cell);
            cell.* = .{ .literal = literal, .next = s.agenda };
            s.agenda = cell;
        }

        /// False if it cannot hold.
        fn take(s: *Self, literal: Literal) Error!bool {
            const no = literal.negated;
            const schema = s.a.schema;
            const number = try s.formulaOf(literal.node);
            switch (s.formulas.items[number].taken) {
                .not => {},
                .as_it_is => return !no,
                .negated => return no,
            }
            s.formulas.items[number].taken = if (no) .negated else .as_it_is;
            try s.took.append(s.arena, number);
            switch (schema.nodes[literal.node]) {
                .all, .any => |range| {
                    const children = schema.children[range.from..][0..range.len];
                    if ((schema.nodes[literal.node] == .any) != no) return s.choose(children, no);
                    var i = children.len;
                    while (i > 0) {
                        i -= 1;
                        try s.pushOne(.{ .node = @intCast(children[i]), .negated = no });
                    }
                    return true;
                },
                .one => |range| {
                    const children = schema.children[range.from..][0..range.len];
                    return if (no) s.chooseNotOne(children) else s.chooseOne(children);
                },
                .not => |of| {
                    try s.pushOne(.{ .node = @intCast(of), .negated = !no });
                    return true;
                },
                .conditional => |of| {
                    const ways = [2][2]Literal{
                        .{ .of(of.when), .{ .node = @intCast(of.then), .negated = no } },
                        .{ .no(of.when), .{ .node = @intCast(of.otherwise), .negated = no } },
                    };
                    var options: ArrayList(Option) = .empty;
                    for (&ways) |*way| {
                        const first, const second = .{ try s.status(way[0]), try s.status(way[1]) };
                        if (first == .yes and second == .yes) return true;
                        if (first == .no or second == .no) continue;
                        try options.append(s.arena, .{ .literals = try s.arena.dupe(Literal, way) });
                    }
                    return s.branch(options.items);
                },
                .object_has => |key| {
                    const is = try s.status(literal);
                    if (is != .unknown) return is == .yes;
                    const place = s.laid.place_of[s.laid.known_of.get(key).?];
                    return if (no) s.setAbsent(place) else s.setThere(place);
                },
                .object_count => |bounds| return s.takeCount(bounds, no),
                .object_members, .object_names => return if (no) s.breakRule(literal.node) else s.holdRule(literal.node),
                else => return try s.status(literal) == .yes,
            }
        }

        fn takeCount(s: *Self, bounds: Bounds, no: bool) Error!bool {
            if (!no) return s.meet(bounds);
            const below: ?Bounds = if (bounds.min > 0) .{ .max = bounds.min - 1 } else null;
            const above: ?Bounds = if (bounds.max < unbounded) .{ .min = bounds.max + 1 } else null;
            var options: ArrayList(Option) = .empty;
            if (below) |one| try options.append(s.arena, .{ .count = one });
            if (above) |one| try options.append(s.arena, .{ .count = one });
            return s.branch(options.items);
        }

        fn meet(s: *Self, bounds: Bounds) bool {
            s.count = .{ .min = @max(s.count.min, bounds.min), .max = @min(s.count.max, bounds.max) };
            return s.count.min <= s.count.max;
        }

        // ---- Choices

        /// False if none is left.
        fn tryNext(s: *Self) Error!bool {
            while (s.choices.items.len > 0) {
                const choice = &s.choices.items[s.choices.items.len - 1];
                if (s.a.watch) |watch| try watch.steps(4);
                s.undo(choice);
                const option = choice.options[choice.next];
                choice.next += 1;
                if (choice.next == choice.options.len) _ = s.choices.pop();
                if (try s.apply(option)) return true;
            }
            return false;
        }

        fn undo(s: *Self, choice: *const Choice) void {
            s.agenda = choice.agenda;
            s.held = choice.held;
            s.demands = choice.demands;
            s.n_demands = choice.n_demands;
            s.count = choice.count;
            while (s.trail.items.len > choice.n_changes) {
                const change = s.trail.pop().?;
                s.keys[change.place] = change.before;
            }
            s.there.shrinkRetainingCapacity(choice.n_there);
            while (s.took.items.len > choice.n_took) s.formulas.items[s.took.pop().?].taken = .not;
            s.epoch += 1;
        }

        fn branch(s: *Self, options: []const Option) Error!bool {
            if (options.len == 0) return false;
            if (options.len > 1) try s.choices.append(s.arena, .{
                .agenda = s.agenda,
                .held = s.held,
                .demands = s.demands,
                .n_demands = s.n_demands,
                .count = s.count,
                .n_changes = s.trail.items.len,
                .n_there = s.there.items.len,
                .n_took = s.took.items.len,
                .options = options,
                .next = 1,
            });
            return s.apply(options[0]);
        }

        fn apply(s: *Self, option: Option) Error!bool {
            switch (option) {
                .literals => |literals| try s.push(literals),
                .only => |only| {
                    for (only.children, 0..) |child, i| if (i != only.i) try s.pushOne(.no(child));
                    try s.pushOne(.of(only.children[only.i]));
                },
                .member => |member| {
                    if (!try s.setThere(member.place)) return false;
                    if (member.literal) |literal| return s.addLiteral(member.place, literal);
                },
                .count => |bounds| return s.meet(bounds),
                .extra => |extra| {
                    const demand = try s.arena.create(Demand);
                    demand.* = .{ .id = extra.id orelse s.n_demands, .class = extra.class, .literal = extra.literal, .next = s.demands };
                    if (extra.id == null) s.n_demands += 1;
                    s.demands = demand;
                    return s.hasExtra(demand.id);
                },
            }
            return true;
        }

        /// One of the children holds, or its negation: first those for which no member need come. Of the others the last
        /// first: its members are the last to be passed over.
        fn choose(s: *Self, children: []const NodeId, no: bool) Error!bool {
            var options: ArrayList(Option) = .empty;
            for ([_]bool{ true, false }) |is_free| {
                if (!try s.addOptions(children, no, is_free, &options)) return true;
            }
            return s.branch(options.items);
        }

        /// False if one holds already.
        fn addOptions(s: *Self, children: []const NodeId, no: bool, is_free: bool, options: *ArrayList(Option)) Error!bool {
            var i = children.len;
            while (i > 0) {
                i -= 1;
                const is_met_by_absence = switch (s.a.schema.nodes[children[i]]) {
                    .object_has => no,
                    .object_members, .object_names => !no,
                    else => false,
                };
                if (is_met_by_absence != is_free) continue;
                const literal: Literal = .{ .node = @intCast(children[i]), .negated = no };
                switch (try s.status(literal)) {
                    .yes => return false,
                    .no => {},
                    .unknown => if (!isAmong(options.items, literal)) {
                        try options.append(s.arena, .{ .literals = try s.arena.dupe(Literal, &.{literal}) });
                    },
                }
            }
            return true;
        }

        fn isAmong(options: []const Option, literal: Literal) bool {
            for (options[0..@min(options.len, 8)]) |option| if (option.literals[0] == literal) return true;
            return false;
        }

        fn chooseOne(s: *Self, children: []const NodeId) Error!bool {
            var options: ArrayList(Option) = .empty;
            var that: ?usize = null;
            var i = children.len;
            while (i > 0) {
                i -= 1;
                switch (try s.status(.of(children[i]))) {
                    .yes => {
                        if (that != null) return false;
                        that = i;
                    },
                    .no => {},
                    .unknown => try options.append(s.arena, .{ .only = .{ .children = children, .i = i } }),
                }
            }
            if (that) |is| return s.apply(.{ .only = .{ .children = children, .i = is } });
            return s.branch(options.items);
        }

        /// None holds, or two do.
        fn chooseNotOne(s: *Self, children: []const NodeId) Error!bool {
            var options: ArrayList(Option) = .empty;
            const never = try s.arena.alloc(Literal, children.len);
            var may: ArrayList(NodeId) = .empty;
            for (never, children) |*literal, child| {
                literal.* = .no(child);
                if (try s.status(.of(child)) != .no) try may.append(s.arena, child);
            }
            if (may.items.len == 0) return true;
            try options.append(s.arena, .{ .literals = never });
            for (may.items, 0..) |first, i| for (may.items[0..i]) |second| {
                if (s.a.watch) |watch| try watch.steps(1);
                try options.append(s.arena, .{ .literals = try s.arena.dupe(Literal, &.{ .of(first), .of(second) }) });
            };
            return s.branch(options.items);
        }

        // ---- What is known of a formula. Unknown where it is not seen at once.

        fn status(s: *Self, literal: Literal) Error!Status {
            const is = try s.statusOf(literal.node);
            return if (literal.negated) not(is) else is;
        }

        fn not(is: Status) Status {
            return switch (is) {
                .yes => .no,
                .no => .yes,
                .unknown => .unknown,
            };
        }

        fn formulaOf(s: *Self, node: NodeId) Allocator.Error!u32 {
            if (s.formula_of.get(node)) |known| return known;
            try s.formula_of.putItem(s.arena, node, Formula, &s.formulas, .{});
            return @intCast(s.formulas.items.len - 1);
        }

        /// Recurses as deep as formulas may be.
        fn statusOf(s: *Self, node: NodeId) Error!Status {
            switch (s.a.schema.nodes[node]) {
                .all, .any, .one, .conditional => {},
                .not => |of| return not(try s.statusOf(of)),
                else => return s.atomStatus(node),
            }
            if (s.isFlat(node)) return s.formulaStatus(node);
            const number = try s.formulaOf(node);
            const known = s.formulas.items[number];
            if (known.epoch == s.epoch) return known.status;
            if (s.a.watch) |watch| try watch.steps(1);
            const is = try s.formulaStatus(node);
            s.formulas.items[number].epoch = s.epoch;
            s.formulas.items[number].status = is;
            return is;
        }

        /// Whether it has a few parts alone, which have none.
        fn isFlat(s: *const Self, node: NodeId) bool {
            const range = switch (s.a.schema.nodes[node]) {
                .all, .any => |range| range,
                else => return false,
            };
            if (range.len > flat_max) return false;
            for (s.a.schema.children[range.from..][0..range.len]) |child| switch (s.a.schema.nodes[child]) {
                .all, .any, .one, .conditional, .not => return false,
                else => {},
            };
            return true;
        }

        fn formulaStatus(s: *Self, node: NodeId) Error!Status {
            const schema = s.a.schema;
            switch (schema.nodes[node]) {
                .all, .any => |range| {
                    const deciding: Status = if (schema.nodes[node] == .all) .no else .yes;
                    var all = not(deciding);
                    for (schema.children[range.from..][0..range.len]) |child| {
                        const one = try s.statusOf(child);
                        if (one == deciding) return deciding;
                        if (one == .unknown) all = .unknown;
                    }
                    return all;
                },
                .one => |range| {
                    var n: u32 = 0;
                    var is_open = false;
                    for (schema.children[range.from..][0..range.len]) |child| switch (try s.statusOf(child)) {
                        .yes => n += 1,
                        .no => {},
                        .unknown => is_open = true,
                    };
                    return if (n > 1) .no else if (is_open) .unknown else if (n == 1) .yes else .no;
                },
                .conditional => |of| switch (try s.statusOf(of.when)) {
                    .yes => return s.statusOf(of.then),
                    .no => return s.statusOf(of.otherwise),
                    .unknown => {
                        const then = try s.statusOf(of.then);
                        return if (then == try s.statusOf(of.otherwise)) then else .unknown;
                    },
                },
                else => unreachable, // has no parts
            }
        }

        fn atomStatus(s: *const Self, node: NodeId) Status {
            const schema = s.a.schema;
            switch (schema.nodes[node]) {
                .all, .any, .one, .conditional, .not => unreachable, // is no atom
                .always => return .yes,
                .never, .listed => return .no,
                .types => |types| return if (types.object) .yes else .no,
                .object_has => |key| {
                    const known = s.laid.known_of.get(key) orelse return .no;
                    if (conditions.hasBit(s.at.state, s.laid.came_bits[known])) return .yes;
                    const place = s.laid.place_of[known];
                    if (!s.canCome(place)) return .no;
                    return switch (s.keys[place].presence) {
                        .open => .unknown,
                        .there => .yes,
                        .absent => .no,
                    };
                },
                .object_count => |bounds| {
                    if (s.is_over) return if (s.at.count >= bounds.min and s.at.count <= bounds.max) .yes else .no;
                    return if (s.at.count > bounds.max) .no else .unknown;
                },
                .object_members, .object_names => return s.ruleStatus(node),
                .string_length, .string_matches, .number_limit, .number_multiple => return .yes,
                .array_length, .array_items, .array_contains, .array_unique => return .yes,
            }
        }

        fn ruleStatus(s: *const Self, node: NodeId) Status {
            const rule = s.laid.rules[s.laid.rule_of.get(node).?];
            if (conditions.hasBit(s.at.state, rule.bit)) return .no;
            if (s.is_over) return .yes;
            if (rule.is_wide) return .unknown;
            const atom = s.a.schema.nodes[node].object_members;
            for (s.a.schema.members[atom.named.from..][0..atom.named.len]) |member| {
                if (s.a.schema.nodes[member.value] == .always) continue;
                const known = s.laid.known_of.get(member.key) orelse continue;
                const place = s.laid.place_of[known];
                if (s.canCome(place) and s.keys[place].presence != .absent) return .unknown;
            }
            return .yes;
        }

        /// Rules of which it is not known whether they hold, where something depends on it.
        fn collect(s: *Self, node: NodeId, seen: *NumberMap, rules: *ArrayList(u32)) Error!void {
            if (seen.get(node) != null) return;
            try seen.put(s.arena, node, 0);
            if (try s.status(.of(node)) != .unknown) return;
            const schema = s.a.schema;
            switch (schema.nodes[node]) {
                .all, .any, .one => |range| for (schema.children[range.from..][0..range.len]) |child| try s.collect(child, seen, rules),
                .not => |of| try s.collect(of, seen, rules),
                .conditional => |of| {
                    const when = try s.status(.of(of.when));
                    if (when == .unknown) try s.collect(of.when, seen, rules);
                    if (when != .no) try s.collect(of.then, seen, rules);
                    if (when != .yes) try s.collect(of.otherwise, seen, rules);
                },
                .object_members, .object_names => try rules.append(s.arena, s.laid.rule_of.get(node).?),
                else => {},
            }
        }

        // ---- Members

        fn canCome(s: *const Self, place: u32) bool {
            return place >= s.first and !conditions.hasBit(s.at.state, s.laid.came_bits[s.component.known[place]]);
        }

        fn keyOf(s: *Self, place: u32) Allocator.Error!*Key {
            try s.trail.append(s.arena, .{ .place = place, .before = s.keys[place] });
            s.epoch += 1;
            return &s.keys[place];
        }

        fn setThere(s: *Self, place: u32) Error!bool {
            switch (s.keys[place].presence) {
                .there => return true,
                .absent => return false,
                .open => {},
            }
            (try s.keyOf(place)).presence = .there;
            try s.there.append(s.arena, place);
            return s.hasValue(place);
        }

        fn setAbsent(s: *Self, place: u32) Error!bool {
            switch (s.keys[place].presence) {
                .there => return false,
                .absent => return true,
                .open => {},
            }
            (try s.keyOf(place)).presence = .absent;
            return true;
        }

        /// The member's value satisfies it, if it comes.
        fn addLiteral(s: *Self, place: u32, literal: Literal) Error!bool {
            const cell = try s.arena.create(Cell);
            cell.* = .{ .literal = literal, .next = s.keys[place].literals };
            (try s.keyOf(place)).literals = cell;
            return s.keys[place].presence != .there or try s.hasValue(place);
        }

        fn hasValue(s: *Self, place: u32) Error!bool {
            const cells = s.keys[place].literals orelse return true;
            return try s.a.memberGoalWith(s.plan, .{ .known = s.component.known[place] }, try s.list(cells)) != null;
        }

        fn list(s: *Self, cells: ?*const Cell) Allocator.Error![]const Literal {
            var found: ArrayList(Literal) = .empty;
            var at = cells;
            while (at) |cell| : (at = cell.next) try found.append(s.arena, cell.literal);
            return found.items;
        }

        // ---- Rules

        fn asked(s: *const Self, node: NodeId, place: u32, nodes: *ArrayList(Literal)) Allocator.Error!layout.Asked {
            return layout.askedBy(s.arena, s.a.schema, s.plan, node, .{ .known = s.component.known[place] }, nodes);
        }

        /// No member breaks it.
        fn holdRule(s: *Self, node: NodeId) Error!bool {
            const rule = s.laid.rules[s.laid.rule_of.get(node).?];
            if (conditions.hasBit(s.at.state, rule.bit)) return false;
            if (s.is_over) return true;
            var places = s.placesOf(&rule);
            while (places.next()) |place| {
                if (!s.canCome(place) or s.keys[place].presence == .absent) continue;
                if (!try s.holdFor(node, place)) return false;
            }
            if (!rule.is_wide) return true;
            const cell = try s.arena.create(Cell);
            cell.* = .{ .literal = .of(node), .next = s.held };
            s.held = cell;
            for (0..s.n_demands) |id| if (!try s.hasExtra(@intCast(id))) return false;
            return true;
        }

        fn holdFor(s: *Self, node: NodeId, place: u32) Error!bool {
            var nodes: ArrayList(Literal) = .empty;
            switch (try s.asked(node, place, &nodes)) {
                .nothing => {},
                .never => return s.setAbsent(place),
                .something => for (nodes.items) |literal| if (!try s.addLiteral(place, literal)) return false,
            }
            return true;
        }

        /// Some member does.
        fn breakRule(s: *Self, node: NodeId) Error!bool {
            const rule = s.laid.rules[s.laid.rule_of.get(node).?];
            if (conditions.hasBit(s.at.state, rule.bit)) return true;
            if (s.is_over) return false;
            var nodes: ArrayList(Literal) = .empty;
            for (s.there.items) |place| {
                if (try s.asked(node, place, &nodes) == .never) return true;
            }
            var options: ArrayList(Option) = .empty;
            var places = s.placesOf(&rule);
            while (places.next()) |place| {
                if (!s.canCome(place) or s.keys[place].presence == .absent) continue;
                switch (try s.asked(node, place, &nodes)) {
                    .nothing => {},
                    .never => try options.append(s.arena, .{ .member = .{ .place = place, .literal = null } }),
                    .something => for (nodes.items) |literal| {
                        try options.append(s.arena, .{ .member = .{ .place = place, .literal = .no(literal.node) } });
                    },
                }
            }
            for (0..s.n_demands) |id| {
                const who: layout.Who = .{ .extra = s.classOf(@intCast(id)) };
                if (try layout.askedBy(s.arena, s.a.schema, s.plan, node, who, &nodes) == .never) return true;
            }
            if (rule.is_wide) for (0..s.plan.extras.len) |class| try s.addExtras(node, @intCast(class), &options);
            return s.branch(options.items);
        }

        /// The ways in which an extra member can break a rule: one that must come already, or another.
        fn addExtras(s: *Self, node: NodeId, class: u32, options: *ArrayList(Option)) Error!void {
            var nodes: ArrayList(Literal) = .empty;
            const what = try layout.askedBy(s.arena, s.a.schema, s.plan, node, .{ .extra = class }, &nodes);
            if (what == .nothing) return;
            const n_ways = if (what == .never) 1 else nodes.items.len;
            for (0..n_ways) |i| {
                const literal: ?Literal = if (what == .never) null else .no(nodes.items[i].node);
                // Only where the count is bounded is another member worse than one that comes anyway.
                for (0..if (s.laid.is_counted) s.n_demands else 0) |id| {
                    if (s.classOf(@intCast(id)) != class) continue;
                    try options.append(s.arena, .{ .extra = .{ .id = @intCast(id), .class = class, .literal = literal } });
                }
                try options.append(s.arena, .{ .extra = .{ .id = null, .class = class, .literal = literal } });
            }
        }

        fn classOf(s: *const Self, id: u32) u32 {
            var at = s.demands;
            while (at) |demand| : (at = demand.next) if (demand.id == id) return demand.class;
            unreachable; // all below `n_demands` are there
        }

        /// The known keys of the component of which a rule tells.
        const Places = struct {
            s: *const Self,
            /// Null if it tells of all.
            named: ?Range,
            i: u32 = 0,

            fn next(p: *Places) ?u32 {
                const range = p.named orelse {
                    if (p.i == p.s.keys.len) return null;
                    p.i += 1;
                    return p.i - 1;
                };
                while (p.i < range.len) {
                    const member = p.s.a.schema.members[range.from + p.i];
                    p.i += 1;
                    if (p.s.a.schema.nodes[member.value] == .always) continue;
                    const known = p.s.laid.known_of.get(member.key) orelse continue;
                    return p.s.laid.place_of[known];
                }
                return null;
            }
        };

        fn placesOf(s: *const Self, rule: *const Conditions.Rule) Places {
            return .{ .s = s, .named = if (rule.is_wide) null else s.a.schema.nodes[rule.node].object_members.named };
        }

        // ---- The end

        /// Whether the count is kept.
        fn isDone(s: *Self) Error!bool {
            if (!s.laid.is_counted) return true;
            const n_must: u32 = s.at.count + @as(u32, @intCast(s.there.items.len)) + s.n_demands;
            if (s.count.max != unbounded and n_must > s.count.max) return false;
            if (n_must >= s.count.min) return true;
            return n_must +| try s.nMore() >= s.count.min;
        }

        /// How many members can come besides.
        fn nMore(s: *Self) Error!u32 {
            if (s.is_over) return 0;
            var n: u32 = 0;
            for (s.keys, 0..) |*key, place| {
                if (key.presence != .open or !s.canCome(@intCast(place))) continue;
                n += @intFromBool(try s.hasValue(@intCast(place)));
            }
            for (0..s.plan.extras.len) |class| {
                if (!try s.hasClass(@intCast(class), &.{})) continue;
                // Those of a few keys are known ones where conditions tell of them.
                return n +| if (s.plan.n_extra_keys == unbounded) unbounded else s.plan.n_extra_keys -| s.at.n_came -| s.n_demands;
            }
            return n;
        }

        fn hasExtra(s: *Self, id: u32) Error!bool {
            var literals: ArrayList(Literal) = .empty;
            var at = s.demands;
            while (at) |demand| : (at = demand.next) {
                if (demand.id == id) if (demand.literal) |literal| try literals.append(s.arena, literal);
            }
            return s.hasClass(s.classOf(id), literals.items);
        }

        /// Whether an extra member of a class can come with a value of which some literals hold.
        fn hasClass(s: *Self, class: u32, more: []const Literal) Error!bool {
            var literals: ArrayList(Literal) = .empty;
            try literals.appendSlice(s.arena, more);
            var nodes: ArrayList(Literal) = .empty;
            var at = s.held;
            while (at) |cell| : (at = cell.next) {
                switch (try layout.askedBy(s.arena, s.a.schema, s.plan, cell.literal.node, .{ .extra = class }, &nodes)) {
                    .nothing => {},
                    .never => return false,
                    .something => try literals.appendSlice(s.arena, nodes.items),
                }
            }
            return try s.a.memberGoalWith(s.plan, .{ .extra = class }, literals.items) != null;
        }
    };
}
