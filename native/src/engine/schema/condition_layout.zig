//! Lays out the conditions of an object (conditions.zig) with its known keys, and says what their rules ask of a member.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const NodeId = schema_module.NodeId;
const Range = schema_module.Range;
const goals_module = @import("goals.zig");
const Literal = goals_module.Literal;
const ObjectPlan = @import("object_plan.zig").ObjectPlan;
const conditions = @import("conditions.zig");
const Conditions = conditions.Conditions;
const none = conditions.none;
const depth_max = conditions.depth_max;
const isWide = conditions.isWide;

pub const Error = goals_module.Error;

/// Of a plan whose known keys are laid out.
pub fn make(a: anytype, plan: *const ObjectPlan) Error!*Conditions {
    const arena = a.arena.allocator();
    const c = try arena.create(Conditions);
    var making: Making = .{ .arena = arena, .schema = a.schema, .plan = plan, .c = c };
    try making.run();
    return c;
}

const Making = struct {
    arena: Allocator,
    schema: *const Schema,
    plan: *const ObjectPlan,
    c: *Conditions,
    rules: ArrayList(Conditions.Rule) = .empty,
    /// By known key, and then by root: the one that stands for its set.
    parents: []u32 = &.{},
    asked: []bool = &.{},
    seen: NumberMap = .{},

    fn run(m: *Making) Error!void {
        const n_known = m.plan.known.len;
        const roots = m.plan.conditions;
        m.c.* = .{
            .roots = &.{},
            .rules = &.{},
            .components = &.{},
            .component_of = try m.arena.alloc(u32, n_known),
            .place_of = try m.arena.alloc(u32, n_known),
            .came_bits = try m.arena.alloc(u32, n_known),
            .n_words = 0,
            .is_counted = m.plan.isCounted(),
        };
        for (m.plan.known, 0..) |known, i| if (known.key) |key| {
            if (m.c.known_of.get(key) == null) try m.c.known_of.put(m.arena, key, @intCast(i));
        };
        m.parents = try m.arena.alloc(u32, n_known + roots.len + 1);
        for (m.parents, 0..) |*parent, i| parent.* = @intCast(i);
        m.asked = try m.arena.alloc(bool, n_known);
        @memset(m.asked, m.plan.n_ordered == 0);
        for (roots, n_known..) |root, id| {
            m.seen.clear();
            try m.add(root.node, @intCast(id), 0);
        }
        if (m.c.is_counted) {
            for (0..m.parents.len) |id| m.join(@intCast(id), @intCast(m.parents.len - 1));
            // As many members may be one of these more, or another one.
            for (m.asked, m.plan.known) |*is_asked, known| is_asked.* = is_asked.* or known.is_required;
        }
        try m.part();
    }

    fn find(m: *Making, id: u32) u32 {
        var at = id;
        while (m.parents[at] != at) {
            m.parents[at] = m.parents[m.parents[at]];
            at = m.parents[at];
        }
        return at;
    }

    fn join(m: *Making, x: u32, y: u32) void {
        const first, const second = .{ m.find(x), m.find(y) };
        m.parents[@max(first, second)] = @min(first, second);
    }

    /// What a formula tells of belongs to its root.
    fn add(m: *Making, node: NodeId, root: u32, depth: u32) Error!void {
        if (depth == depth_max) return error.TooLarge;
        if (m.seen.get(node) != null) return;
        try m.seen.put(m.arena, node, 0);
        switch (m.schema.nodes[node]) {
            .all, .any, .one => |range| for (m.schema.children[range.from..][0..range.len]) |child| try m.add(child, root, depth + 1),
            .not => |of| try m.add(of, root, depth + 1),
            .conditional => |of| for ([_]NodeId{ of.when, of.then, of.otherwise }) |child| try m.add(child, root, depth + 1),
            .object_has => |key| if (m.c.known_of.get(key)) |known| {
                m.asked[known] = true;
                m.join(known, root);
            },
            .object_count => m.c.is_counted = true,
            .object_members, .object_names => try m.addRule(node, root),
            else => {},
        }
    }

    fn addRule(m: *Making, node: NodeId, root: u32) Error!void {
        const is_wide = isWide(m.schema, node);
        if (is_wide) {
            // It tells of all members.
            for (0..m.plan.known.len) |known| m.join(@intCast(known), root);
            m.join(@intCast(m.parents.len - 1), root);
        } else {
            const atom = m.schema.nodes[node].object_members;
            for (m.schema.members[atom.named.from..][0..atom.named.len]) |member| {
                if (m.schema.nodes[member.value] == .always) continue;
                if (m.c.known_of.get(member.key)) |known| m.join(known, root);
            }
        }
        if (m.c.rule_of.get(node)) |known| return m.join(m.rules.items[known].component, root);
        const rule: Conditions.Rule = .{ .node = node, .bit = 0, .component = root, .is_wide = is_wide };
        try m.c.rule_of.putItem(m.arena, node, Conditions.Rule, &m.rules, rule);
    }

    /// Numbers the components, and gives each its words of the state.
    fn part(m: *Making) Error!void {
        const c = m.c;
        const plan = m.plan;
        const n_known: u32 = @intCast(plan.known.len);
        @memset(c.component_of, none);
        @memset(c.came_bits, none);
        const number_of = try m.arena.alloc(u32, m.parents.len);
        @memset(number_of, none);
        var n: u32 = 0;
        for (plan.conditions, n_known..) |_, id| {
            const set = m.find(@intCast(id));
            if (number_of[set] != none) continue;
            number_of[set] = n;
            n += 1;
        }
        const components = try m.arena.alloc(Conditions.Component, n);
        const Lists = struct {
            roots: ArrayList(Literal) = .empty,
            known: ArrayList(u32) = .empty,
            rules: ArrayList(u32) = .empty,
        };
        const lists = try m.arena.alloc(Lists, n);
        @memset(lists, .{});
        for (plan.conditions, n_known..) |root, id| try lists[number_of[m.find(@intCast(id))]].roots.append(m.arena, root);
        for (m.rules.items, 0..) |*rule, i| {
            rule.component = number_of[m.find(rule.component)];
            try lists[rule.component].rules.append(m.arena, @intCast(i));
        }
        for (0..n_known) |known| {
            const number = number_of[m.find(@intCast(known))];
            if (number == none) continue;
            c.component_of[known] = number;
            c.place_of[known] = @intCast(lists[number].known.items.len);
            try lists[number].known.append(m.arena, @intCast(known));
        }
        const wide = number_of[m.find(@intCast(m.parents.len - 1))];
        var roots: ArrayList(Literal) = .empty;
        for (components, lists, 0..) |*component, *own, i| {
            var bit = 32 * c.n_words;
            for (own.rules.items) |rule| {
                m.rules.items[rule].bit = bit;
                bit += 1;
            }
            for (own.known.items) |known| if (m.asked[known]) {
                c.came_bits[known] = bit;
                bit += 1;
            };
            const words: Range = .{ .from = c.n_words, .len = (bit + 31) / 32 - c.n_words };
            c.n_words += words.len;
            const from: u32 = @intCast(roots.items.len);
            try roots.appendSlice(m.arena, own.roots.items);
            component.* = .{
                .roots = .{ .from = from, .len = @intCast(own.roots.items.len) },
                .known = own.known.items,
                .rules = own.rules.items,
                .words = words,
                .is_wide = i == wide,
            };
        }
        c.components = components;
        c.roots = roots.items;
        c.rules = m.rules.items;
    }
};

/// A member that may come: a known one, or an extra one of a class.
pub const Who = union(enum) {
    known: u32,
    extra: u32,

    fn keyOf(who: Who, plan: *const ObjectPlan) struct { ?u32, []const u32, u32 } {
        return switch (who) {
            .known => |i| .{ plan.known[i].key, plan.known[i].matched, plan.known[i].certain },
            .extra => |i| .{ plan.extras[i].key, plan.extras[i].matched, plan.extras[i].certain },
        };
    }
};

pub const Asked = enum { nothing, something, never };

/// What a rule asks of a member's value; a single `never` where the key breaks it.
pub fn askedBy(
    arena: Allocator,
    schema: *const Schema,
    plan: *const ObjectPlan,
    node: NodeId,
    who: Who,
    nodes: *ArrayList(Literal),
) Allocator.Error!Asked {
    nodes.clearRetainingCapacity();
    const key, const matched, const certain = who.keyOf(plan);
    if (schema.nodes[node] == .object_names) {
        const i = std.mem.findScalar(NodeId, plan.exceptions, node).?;
        return if (certain >> @intCast(i) & 1 != 0) .never else .nothing;
    }
    try ObjectPlan.addOf(arena, schema, node, key, matched, nodes);
    var n: usize = 0;
    for (nodes.items) |literal| switch (schema.nodes[literal.node]) {
        .always => {},
        .never => return .never,
        else => {
            nodes.items[n] = literal;
            n += 1;
        },
    };
    nodes.shrinkRetainingCapacity(n);
    return if (n == 0) .nothing else .something;
}
