//! What may come next in an object that has conditions (conditions.zig), and how its state continues. The functions take
//! the Alternatives.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const schema_module = @import("schema.zig");
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const Literal = goals_module.Literal;
const object_plan = @import("object_plan.zig");
const ObjectPlan = object_plan.ObjectPlan;
const Progress = object_plan.Progress;
const Next = @import("plan.zig").Next;
const Which = object_plan.Which;
const conditions = @import("conditions.zig");
const layout = @import("condition_layout.zig");
const condition_search = @import("condition_search.zig");

pub const Error = goals_module.Error;

pub fn atOf(a: anytype, at: Progress) conditions.At {
    return .{
        .alternative = at.alternative,
        .next = at.next,
        .count = at.count,
        .n_came = a.sets.count(at.came),
        .state = a.key_sets.get(at.exceptions),
    };
}

/// Whether the conditions of a component can be met where so many of its members were passed over.
fn canMeet(a: anytype, plan: *const ObjectPlan, number: u32, at: *const conditions.At, rank: u32) Error!bool {
    const laid = plan.laid.?;
    const words = laid.components[number].words;
    var run: ArrayList(u32) = .empty;
    defer run.deinit(a.gpa);
    try run.appendSlice(a.gpa, &.{ at.alternative, number });
    if (at.state.len > 0) try run.appendSlice(a.gpa, at.state[words.from..][0..words.len]) else try run.appendNTimes(a.gpa, 0, words.len);
    if (laid.is_counted) try run.appendSlice(a.gpa, &.{ at.count, at.n_came });
    const place = try a.condition_places.put(a.gpa, run.items);
    if (place >= a.reaches.items.len) try a.reaches.appendNTimes(a.gpa, .{}, place + 1 - a.reaches.items.len);
    const known = a.reaches.items[place];
    if (known.good) |good| if (rank <= good) return true;
    if (rank >= known.bad) return false;
    const outer = a.met_busy;
    a.met_busy = false;
    errdefer a.met_busy = outer;
    const found = try condition_search.reach(a, plan, number, at.*, rank);
    if (found) |good| {
        a.reaches.items[place].good = good;
    } else if (!a.met_busy) a.reaches.items[place].bad = rank;
    a.met_busy = outer or (a.met_busy and found == null);
    return found != null;
}

/// Of a component: how many of its known keys, which are in order, are before a place.
fn rankOf(plan: *const ObjectPlan, number: u32, next: u32) u32 {
    if (plan.n_ordered == 0) return 0;
    const known = plan.laid.?.components[number].known;
    return @intCast(std.sort.lowerBound(u32, known, next, compareKnown));
}

fn compareKnown(wanted: u32, known: u32) std.math.Order {
    return std.math.order(wanted, known);
}

pub fn canMeetAll(a: anytype, plan: *const ObjectPlan, at: *const conditions.At) Error!bool {
    for (0..plan.laid.?.components.len) |i| {
        if (!try canMeet(a, plan, @intCast(i), at, rankOf(plan, @intCast(i), at.next))) return false;
    }
    return true;
}

/// Whether a known key, or with the next number any extra one, or with the one after it the end may come next.
pub fn isOpen(a: anytype, plan: *const ObjectPlan, progress: u32, place: u32) Error!bool {
    const outlook = try outlookOf(a, plan, progress);
    return conditions.hasBit(a.key_sets.get(outlook), place);
}

/// What may come next, found once: members in order are passed over one after the other, as long as their component allows.
pub fn outlookOf(a: anytype, plan: *const ObjectPlan, progress: u32) Error!u32 {
    if (a.outlooks.get(progress)) |found| return found;
    const outer = a.met_busy;
    a.met_busy = false;
    errdefer a.met_busy = outer;
    const laid = plan.laid.?;
    var scratch: Arena = .init(a.gpa);
    defer scratch.deinit();
    const progress_at = a.objectProgress(progress);
    var at = atOf(a, progress_at);
    at.state = try scratch.allocator().dupe(u32, at.state);
    const seen = try scratch.allocator().dupe(u32, a.key_sets.get(progress_at.seen));
    const n: u32 = @intCast(plan.known.len);
    const words = try scratch.allocator().alloc(u32, (n + 2 + 31) / 32);
    @memset(words, 0);
    var passed = progress_at;
    const open_rules = try scratch.allocator().alloc(?[]const u32, laid.components.len);
    @memset(open_rules, null);
    var open: Open = .{ .arena = scratch.allocator(), .next = at.next, .rules = open_rules };
    const is_passed = for (@min(at.next, plan.n_ordered)..n) |i| {
        const known: u32 = @intCast(i);
        if (plan.isNext(passed.next, seen, known) and try hasWay(a, plan, passed, known, &open)) conditions.setBit(words, known);
        if (i >= plan.n_ordered) continue;
        if (plan.known[i].is_required) break false;
        passed.next = known + 1;
        const number = laid.component_of[i];
        if (number != conditions.none and !try canMeet(a, plan, number, &at, 1 + laid.place_of[i])) break false;
    } else true;
    if (is_passed) {
        conditions.setBit(words, n);
        const can_end = for (laid.components, 0..) |*component, i| {
            if (!try canMeet(a, plan, @intCast(i), &at, @intCast(component.known.len + 1))) break false;
        } else true;
        if (can_end) conditions.setBit(words, n + 1);
    }
    const found = try a.key_sets.put(a.gpa, words);
    if (!a.met_busy and a.outlooks.get(progress) == null) try a.outlooks.put(a.gpa, progress, found);
    a.met_busy = a.met_busy or outer;
    return found;
}

/// By component, the rules on which it depends what may come, before any member is passed over.
const Open = struct {
    arena: Allocator,
    next: u32,
    rules: []?[]const u32,

    fn rank(open: *const Open, plan: *const ObjectPlan, number: u32) u32 {
        return rankOf(plan, number, open.next);
    }
};

/// Whether a known key may come with some value, where those before it were passed over.
fn hasWay(a: anytype, plan: *const ObjectPlan, at: Progress, known: u32, open: *Open) Error!bool {
    if (plan.count.max != unbounded and at.count == plan.count.max) return false;
    if (plan.laid.?.component_of[known] == conditions.none) return true;
    var after = at;
    after.count = plan.saturated(at.count + 1);
    if (known < plan.n_ordered) after.next = known + 1 else after.next = plan.n_ordered;
    var ways: Ways(@TypeOf(a)) = .{ .a = a, .plan = plan, .after = after, .is_one_enough = true, .open = open };
    try ways.find(.{ .known = known });
    return ways.is_any;
}

/// The ways in which the object can continue after a member that may come.
pub fn addWays(
    a: anytype,
    plan: *const ObjectPlan,
    after: Progress,
    which: Which,
    gpa: Allocator,
    forks: *ArrayList(Next),
) Error!void {
    var ways: Ways(@TypeOf(a)) = .{ .a = a, .plan = plan, .after = after, .gpa = gpa, .forks = forks };
    try ways.find(switch (which) {
        .known => |i| .{ .known = i },
        .extra => |extra| .{ .extra = extra.index },
    });
}

/// Tells the values of a member apart by the rules that they break.
fn Ways(comptime A: type) type {
    return struct {
        const Self = @This();

        a: A,
        plan: *const ObjectPlan,
        after: Progress,
        is_one_enough: bool = false,
        open: ?*Open = null,
        is_any: bool = false,
        n: u32 = 0,
        gpa: Allocator = undefined,
        forks: *ArrayList(Next) = undefined,
        who: layout.Who = undefined,
        /// The state after the member.
        words: []u32 = &.{},
        /// Schemas on which rules depend; of each rule, by bits, those that it asks for.
        nodes: ArrayList(Literal) = .empty,
        rules: ArrayList(Asked) = .empty,
        literals: ArrayList(Literal) = .empty,

        const Asked = struct { rule: u32, nodes: u64 };

        fn find(w: *Self, who: layout.Who) Error!void {
            const a = w.a;
            var scratch: Arena = .init(a.gpa);
            defer scratch.deinit();
            const arena = scratch.allocator();
            const laid = w.plan.laid.?;
            w.who = who;
            w.words = try arena.alloc(u32, laid.n_words);
            const before = a.key_sets.get(w.after.exceptions);
            @memset(w.words, 0);
            @memcpy(w.words[0..before.len], before);
            switch (who) {
                .known => |known| {
                    const number = laid.component_of[known];
                    if (number != conditions.none) try w.ask(arena, number, if (w.plan.n_ordered == 0) 0 else laid.place_of[known]);
                    conditions.setBit(w.words, laid.came_bits[known]);
                },
                .extra => for (laid.components, 0..) |component, i| {
                    const rank: usize = if (w.plan.n_ordered == 0) 0 else component.known.len;
                    if (component.is_wide or laid.is_counted) try w.ask(arena, @intCast(i), @intCast(rank));
                },
            }
            try w.split(arena, 0, 0);
        }

        fn openRules(w: *Self, arena: Allocator, number: u32, rank: u32) Error![]const u32 {
            var open: ArrayList(u32) = .empty;
            var at = atOf(w.a, w.after);
            at.state = w.words;
            try condition_search.openRules(w.a, arena, w.plan, number, at, rank, &open);
            return open.items;
        }

        /// Looks which rules of a component the member breaks, or may break.
        fn ask(w: *Self, arena: Allocator, number: u32, rank: u32) Error!void {
            const a = w.a;
            const laid = w.plan.laid.?;
            const open = if (w.open) |of_all| of_all.rules[number] orelse found: {
                of_all.rules[number] = try w.openRules(of_all.arena, number, of_all.rank(w.plan, number));
                break :found of_all.rules[number].?;
            } else try w.openRules(arena, number, rank);
            var nodes: ArrayList(Literal) = .empty;
            for (open) |number_of_rule| {
                const rule = &laid.rules[number_of_rule];
                switch (try layout.askedBy(arena, a.schema, w.plan, rule.node, w.who, &nodes)) {
                    .nothing => continue,
                    .never => {
                        conditions.setBit(w.words, rule.bit);
                        continue;
                    },
                    .something => {},
                }
                var asked: u64 = 0;
                for (nodes.items) |literal| {
                    const i = std.mem.findScalar(u32, @ptrCast(w.nodes.items), @bitCast(literal)) orelse new: {
                        if (w.nodes.items.len == conditions.splits_max) return error.TooLarge;
                        try w.nodes.append(arena, literal);
                        break :new w.nodes.items.len - 1;
                    };
                    asked |= @as(u64, 1) << @intCast(i);
                }
                try w.rules.append(arena, .{ .rule = number_of_rule, .nodes = asked });
            }
        }

        /// With the schemas from one on told apart; `broken` are those before it that are not satisfied.
        fn split(w: *Self, arena: Allocator, i: usize, broken: u64) Error!void {
            if (w.is_one_enough and w.is_any) return;
            if (i == w.nodes.items.len) return w.end(broken);
            for ([_]bool{ false, true }) |no| {
                const literal: Literal = .{ .node = w.nodes.items[i].node, .negated = no };
                const n = w.literals.items.len;
                defer w.literals.shrinkRetainingCapacity(n);
                try w.literals.append(arena, literal);
                // The last one is asked when the conditions are.
                if (i + 1 < w.nodes.items.len and try w.a.memberGoalWith(w.plan, w.who, w.literals.items) == null) continue;
                try w.split(arena, i + 1, broken | @as(u64, @intFromBool(no)) << @intCast(i));
            }
        }

        fn end(w: *Self, broken: u64) Error!void {
            const a = w.a;
            const laid = w.plan.laid.?;
            w.n += 1;
            if (w.n > conditions.ways_max) return error.TooLarge;
            var state: ArrayList(u32) = .empty;
            defer state.deinit(a.gpa);
            try state.appendSlice(a.gpa, w.words);
            for (w.rules.items) |asked| if (asked.nodes & broken != 0) conditions.setBit(state.items, laid.rules[asked.rule].bit);
            var at = atOf(a, w.after);
            at.state = state.items;
            switch (w.who) {
                .known => |known| {
                    const number = laid.component_of[known];
                    if (number != conditions.none and !try canMeet(a, w.plan, number, &at, rankOf(w.plan, number, at.next))) return;
                },
                .extra => for (laid.components, 0..) |component, i| {
                    if (!component.is_wide and !laid.is_counted) continue;
                    if (!try canMeet(a, w.plan, @intCast(i), &at, rankOf(w.plan, @intCast(i), at.next))) return;
                },
            }
            const goal = try a.memberGoalWith(w.plan, w.who, w.literals.items) orelse return;
            w.is_any = true;
            if (w.is_one_enough) return;
            var then = w.after;
            then.exceptions = try a.key_sets.put(a.gpa, state.items);
            const number = try a.putProgress(w.plan, then);
            const free_number = try a.free(number);
            if (a.finishable.get(free_number) == .unknown) try a.finishable.put(a.gpa, free_number, .yes);
            try a.addFork(w.plan, number, goal, w.gpa, w.forks);
        }
    };
}
