//! Arrays in which two items are equal. What came is a set, until one of it comes again. Any value may come where a
//! later item can still be equal to another one; where that is too late, only a value that came, or one that a later
//! item can have, too. The functions take the Alternatives.

const std = @import("std");
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const goals_module = @import("goals.zig");
const GoalId = goals_module.GoalId;
const Literal = goals_module.Literal;
const ArrayPlan = @import("plan.zig").ArrayPlan;
const Sets = @import("sets.zig").Sets;
const ValueId = @import("values.zig").ValueId;

pub const Error = goals_module.Error;

/// Of a progress, before whose words is the number of the alternative: the exceptions that came, as bits.
const exceptions_at = 3;

/// Whether a progress is of such an array, and no item came again.
pub fn mustStill(a: anytype, progress: u32) bool {
    return switch (a.alternativeOf(progress).*) {
        .array => |*plan| plan.must_repeat and a.progresses.get(progress)[exceptions_at] & ArrayPlan.repeated == 0,
        else => false,
    };
}

/// Moves the words of a progress after an item of this value.
pub fn take(a: anytype, words: []u32, value: ValueId) Error!void {
    const came = &words[a.all.items[words[0]].array.cameAt()];
    if (a.sets.has(came.*, value)) {
        words[exceptions_at] |= ArrayPlan.repeated;
        came.* = Sets.none;
    } else came.* = try a.sets.with(came.*, value);
}

/// Whether the array can be completed.
pub fn canFinish(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    const came = a.progresses.get(progress)[plan.cameAt()];
    const without = try forgetful(a, plan, progress, 0);
    if (came != Sets.none and try a.canFinish(without)) return true;
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    var ahead = try Ahead(@TypeOf(a)).from(a, plan, without, &arena);
    while (try ahead.next()) |item| {
        if (came != Sets.none) {
            if (try isAgain(a, plan, came, item)) return true;
        } else if ((try equalLater(a, plan, item, .first, &arena)).len > 0) return true;
    }
    return false;
}

/// Adds the ways in which the array can continue with an item that is limited by nothing yet.
pub fn addItems(a: anytype, plan: *const ArrayPlan, progress: u32, item: anytype, found: *ArrayList(@TypeOf(item))) Error!void {
    if (try a.canFinish(try a.free(item.progress))) return a.addLimited(item, found);
    const came = a.progresses.get(progress)[plan.cameAt()];
    if (came != Sets.none and try isAgain(a, plan, came, item)) {
        const behind = try forgetful(a, plan, item.progress, ArrayPlan.repeated);
        try a.addLimited(.{ .progress = behind, .goal = try goalAmong(a, item.goal, came) }, found);
    }
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    for (try equalLater(a, plan, item, .all, &arena)) |goal| {
        try a.addLimited(.{ .progress = item.progress, .goal = goal }, found);
    }
}

/// Whether an item can be one that came, so that the array can be completed.
fn isAgain(a: anytype, plan: *const ArrayPlan, came: u32, item: anytype) Error!bool {
    const behind = try forgetful(a, plan, try a.free(item.progress), ArrayPlan.repeated);
    return try a.canFinish(behind) and try a.isSatisfiable(try goalAmong(a, item.goal, came));
}

/// The goals that an item has if a later one is equal to it, so that the array can be completed: once each.
fn equalLater(a: anytype, plan: *const ArrayPlan, item: anytype, wanted: enum { first, all }, arena: *Arena) Error![]const GoalId {
    var found: ArrayList(GoalId) = .empty;
    var ahead = try Ahead(@TypeOf(a)).from(a, plan, try forgetful(a, plan, try a.free(item.progress), 0), arena);
    while (try ahead.next()) |later| {
        if (!try a.canFinish(try forgetful(a, plan, later.progress, ArrayPlan.repeated))) continue;
        const goal = try goalOfBoth(a, item.goal, later.goal);
        if (std.mem.findScalar(GoalId, found.items, goal) != null or !try a.isSatisfiable(goal)) continue;
        try found.append(arena.allocator(), goal);
        if (wanted == .first) break;
    }
    return found.items;
}

/// The items that can come, breadth first over what progress there is without their values.
fn Ahead(comptime A: type) type {
    return struct {
        a: A,
        plan: *const ArrayPlan,
        arena: *Arena,
        known: NumberMap = .{},
        todo: ArrayList(u32) = .empty,
        at: usize = 0,
        options: u32 = 0,

        const Self = @This();

        fn from(a: A, plan: *const ArrayPlan, progress: u32, arena: *Arena) Error!Self {
            var ahead: Self = .{ .a = a, .plan = plan, .arena = arena };
            try ahead.known.putItem(arena.allocator(), progress, u32, &ahead.todo, progress);
            return ahead;
        }

        fn next(ahead: *Self) Error!?@typeInfo(A).pointer.child.Next {
            while (ahead.at < ahead.todo.items.len) {
                if (ahead.options == ahead.plan.nOptions()) {
                    ahead.options = 0;
                    ahead.at += 1;
                    continue;
                }
                defer ahead.options += 1;
                try ahead.a.work();
                const item = try ahead.a.anyItem(ahead.plan, ahead.todo.items[ahead.at], ahead.options) orelse continue;
                if (ahead.known.get(item.progress) == null) {
                    try ahead.known.putItem(ahead.arena.allocator(), item.progress, u32, &ahead.todo, item.progress);
                }
                return item;
            }
            return null;
        }
    };
}

/// The same progress without what came, and with some bits more.
fn forgetful(a: anytype, plan: *const ArrayPlan, progress: u32, bits: u32) Error!u32 {
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    words[plan.cameAt()] = Sets.none;
    words[exceptions_at] |= bits;
    return a.progresses.put(a.gpa, words);
}

fn goalAmong(a: anytype, goal: GoalId, set: u32) Error!GoalId {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    var literals: ArrayList(Literal) = .empty;
    try literals.appendSlice(arena.allocator(), @ptrCast(a.goals.goals.get(goal)));
    try literals.append(arena.allocator(), .in(a.schema, set));
    return a.goals.goal(literals.items);
}

fn goalOfBoth(a: anytype, one: GoalId, other: GoalId) Error!GoalId {
    if (one == other) return one;
    const literals = try std.mem.concat(a.gpa, u32, &.{ a.goals.goals.get(one), a.goals.goals.get(other) });
    defer a.gpa.free(literals);
    return a.goals.goal(@ptrCast(literals));
}
