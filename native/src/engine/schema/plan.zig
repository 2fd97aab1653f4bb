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
const options_max = goals_module.options_max;
const Sets = @import("sets.zig").Sets;

pub const Error = error{ OutOfMemory, TooLarge };

/// How many items or members matter: more are as many.
pub fn saturation(count: Bounds) u32 {
    return if (count.max == unbounded) count.min else count.max;
}

/// What may come next: its goal, values that it must not be, and the progress after it, which does not know its value.
pub const Next = struct { progress: u32, goal: goals_module.GoalId, avoid: u32 = Sets.none };

/// The last words of the progress of an array or object that is watched.
pub const Avoided = struct {
    /// Values that it must not be: of these, those that begin as it does. None: the others are 0, too.
    set: u32 = Sets.none,
    /// Items or members that came, since there is a set.
    n: u32 = 0,
    /// Of the member whose value comes next: the text of its key.
    key: u32 = 0,

    pub const n_words = 3;

    pub fn words(avoided: Avoided) [n_words]u32 {
        return if (avoided.set == Sets.none) @splat(0) else .{ avoided.set, avoided.n, avoided.key };
    }
};

pub const ArrayPlan = struct {
    count: Bounds,
    /// `array_items` that hold.
    items: []const NodeId,
    /// `array_items` of which some item is an exception.
    exceptions: []const NodeId,
    contains: []const Conjunction.Contains,
    /// All items are different.
    is_unique: bool,
    /// Two items are equal: what came is remembered until one comes again.
    must_repeat: bool,
    /// If it is one value: of each item, the set that has it alone.
    equal: ?[]const u32,
    is_watched: bool,
    /// From here on all items have the same goal.
    n_prefix: u32,

    /// Among the exceptions that came, as bits: an item came again.
    pub const repeated = 1 << 31;

    /// Null if nothing satisfies it.
    pub fn init(arena: Allocator, schema: *const Schema, from: *const Conjunction, equal: ?[]const u32) Error!?ArrayPlan {
        var items: ArrayList(NodeId) = .empty;
        var exceptions: ArrayList(NodeId) = .empty;
        var n_prefix: u32 = 0;
        var is_unique = false;
        var must_repeat = false;
        var count = from.count;
        for (from.literals) |literal| switch (schema.nodes[literal.node]) {
            .array_items => |atom| {
                n_prefix = @max(n_prefix, atom.prefix.len);
                try (if (literal.negated) &exceptions else &items).append(arena, literal.node);
            },
            .array_unique => if (literal.negated) {
                must_repeat = true;
            } else {
                is_unique = true;
            },
            else => unreachable, // no other literals are of arrays
        };
        if (exceptions.items.len + from.contains.len > options_max) return error.TooLarge;
        if (equal) |values| {
            const n: u32 = @intCast(values.len);
            if (n < count.min or n > count.max) return null;
            count = .{ .min = n, .max = n };
            n_prefix = @max(n_prefix, n);
        }
        if (is_unique and must_repeat) return null;
        return .{
            .count = count,
            .items = items.items,
            .exceptions = exceptions.items,
            .contains = from.contains,
            .is_unique = is_unique,
            .must_repeat = must_repeat,
            .equal = equal,
            .is_watched = from.is_watched,
            .n_prefix = n_prefix,
        };
    }

    /// Words of a thread's progress: the index, the count, the exceptions that came as bits, how often each of
    /// `contains` held, if values are remembered the set of those that came, and if it is watched what it must not be.
    pub fn nWords(plan: *const ArrayPlan) usize {
        return 3 + plan.contains.len + @intFromBool(plan.remembers()) + @as(usize, if (plan.is_watched) Avoided.n_words else 0);
    }

    /// Whether what came is compared with what comes.
    pub fn remembers(plan: *const ArrayPlan) bool {
        return plan.is_unique or plan.must_repeat;
    }

    /// Where the set of the values that came stands in a progress, before which is the number of the alternative.
    pub fn cameAt(plan: *const ArrayPlan) usize {
        std.debug.assert(plan.remembers());
        return 4 + plan.contains.len;
    }

    /// Whether the values of items are asked for.
    pub fn asksForValues(plan: *const ArrayPlan) bool {
        return plan.remembers() or plan.is_watched;
    }

    /// Whether the array may end.
    pub fn accepts(plan: *const ArrayPlan, progress: []const u32) bool {
        if (progress[1] < plan.count.min) return false;
        if (@popCount(progress[2]) != plan.exceptions.len + @intFromBool(plan.must_repeat)) return false;
        for (plan.contains, progress[3..][0..plan.contains.len]) |contains, n| if (n < contains.count.min) return false;
        return true;
    }

    /// Adds the literals of the item of an index that counts for `options`.
    pub fn addItem(
        plan: *const ArrayPlan,
        arena: Allocator,
        schema: *const Schema,
        index: u32,
        options: u32,
        literals: *ArrayList(Literal),
    ) Allocator.Error!void {
        for (plan.items) |node| try literals.append(arena, .of(itemOf(schema, node, index)));
        for (plan.exceptions, 0..) |node, i| {
            if (options >> @intCast(i) & 1 != 0) try literals.append(arena, .no(itemOf(schema, node, index)));
        }
        for (plan.contains, plan.exceptions.len..) |contains, i| {
            if (options >> @intCast(i) & 1 != 0) {
                try literals.append(arena, .of(contains.item));
            } else if (contains.count.max != unbounded) try literals.append(arena, .no(contains.item));
        }
        if (plan.equal) |values| if (index < values.len) try literals.append(arena, .in(schema, values[index]));
        if (plan.asksForValues()) try literals.append(arena, .notIn(schema, Sets.none));
    }

    /// Moves a progress after an item that counts for `options`. False if it cannot count so, or if there is no
    /// room for an item.
    pub fn move(plan: *const ArrayPlan, progress: []u32, options: u32) bool {
        if (plan.count.max != unbounded and progress[1] == plan.count.max) return false;
        for (0..plan.exceptions.len) |i| {
            const bit = @as(u32, 1) << @intCast(i);
            if (options & bit == 0) continue;
            if (progress[2] & bit != 0) return false;
            progress[2] |= bit;
        }
        for (plan.contains, progress[3..][0..plan.contains.len], plan.exceptions.len..) |contains, *n, i| {
            if (options >> @intCast(i) & 1 == 0) continue;
            if (n.* == saturation(contains.count)) return false;
            n.* += 1;
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
