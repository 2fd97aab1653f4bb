//! What an alternative asks of an array or an object, laid out for a thread that runs along it: which goal
//! each item and each member has, what must still come, and whether it can.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const Bounds = schema_module.Bounds;
const NodeId = schema_module.NodeId;
const Range = schema_module.Range;
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const Literal = goals_module.Literal;
const Conjunction = goals_module.Conjunction;

/// What one item or member can count for, beyond its own goal; each doubles the ways to go on.
pub const options_max = 6;

pub const Error = error{ OutOfMemory, TooLarge };

/// How many items or members matter: more are as many.
pub fn saturation(count: Bounds) u32 {
    return if (count.max == unbounded) count.min else count.max;
}

pub const ArrayPlan = struct {
    count: Bounds,
    /// `array_items` that hold.
    items: []const NodeId,
    /// `array_items` of which some item is an exception.
    exceptions: []const NodeId,
    contains: []const Conjunction.Contains,
    /// From here on all items have the same goal.
    n_prefix: u32,

    pub fn init(arena: Allocator, schema: *const Schema, from: *const Conjunction) Error!ArrayPlan {
        var items: ArrayList(NodeId) = .empty;
        var exceptions: ArrayList(NodeId) = .empty;
        var n_prefix: u32 = 0;
        for (from.literals) |literal| switch (schema.nodes[literal.node]) {
            .array_items => |atom| {
                n_prefix = @max(n_prefix, atom.prefix.len);
                try (if (literal.negated) &exceptions else &items).append(arena, literal.node);
            },
            else => return error.TooLarge, // uniqueness of items
        };
        if (exceptions.items.len + from.contains.len > options_max) return error.TooLarge;
        return .{
            .count = from.count,
            .items = items.items,
            .exceptions = exceptions.items,
            .contains = from.contains,
            .n_prefix = n_prefix,
        };
    }

    /// Words of a thread's progress: the index, the count, the exceptions that came as bits, and how
    /// often each of `contains` held.
    pub fn nWords(plan: *const ArrayPlan) usize {
        return 3 + plan.contains.len;
    }

    /// Whether the array may end.
    pub fn accepts(plan: *const ArrayPlan, progress: []const u32) bool {
        if (progress[1] < plan.count.min) return false;
        if (@popCount(progress[2]) != plan.exceptions.len) return false;
        for (plan.contains, progress[3..]) |contains, n| if (n < contains.count.min) return false;
        return true;
    }

    /// Adds the literals of the item at `progress` that counts for `options`, and moves `progress` behind
    /// it. False if it cannot count so, or if there is no room for an item.
    pub fn take(
        plan: *const ArrayPlan,
        arena: Allocator,
        schema: *const Schema,
        progress: []u32,
        options: u32,
        literals: *ArrayList(Literal),
    ) Allocator.Error!bool {
        if (plan.count.max != unbounded and progress[1] == plan.count.max) return false;
        for (plan.items) |node| try literals.append(arena, .of(itemOf(schema, node, progress[0])));
        for (plan.exceptions, 0..) |node, i| {
            const bit = @as(u32, 1) << @intCast(i);
            if (options & bit == 0) continue;
            if (progress[2] & bit != 0) return false;
            progress[2] |= bit;
            try literals.append(arena, .no(itemOf(schema, node, progress[0])));
        }
        for (plan.contains, progress[3..], plan.exceptions.len..) |contains, *n, i| {
            const chosen = options >> @intCast(i) & 1 != 0;
            const is_bounded = contains.count.max != unbounded;
            if (chosen) {
                if (n.* == saturation(contains.count)) return false;
                n.* += 1;
                try literals.append(arena, .of(contains.item));
            } else if (is_bounded) try literals.append(arena, .no(contains.item));
        }
        progress[0] = @min(progress[0] + 1, plan.n_prefix);
        progress[1] = @min(progress[1] + 1, saturation(plan.count));
        return true;
    }

    pub fn nOptions(plan: *const ArrayPlan) u32 {
        return @as(u32, 1) << @intCast(plan.exceptions.len + plan.contains.len);
    }
};

fn itemOf(schema: *const Schema, node: NodeId, index: u32) NodeId {
    const atom = schema.nodes[node].array_items;
    return if (index < atom.prefix.len) schema.children[atom.prefix.from + index] else atom.rest;
}
