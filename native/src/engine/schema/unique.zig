//! Values that must be other ones than some that came: the items of an array that are all different, and all that is
//! within them. What an item may not be is told of scalars by its goal, of arrays and objects by the thread that runs
//! along them: that knows which of the values it begins like. A value is forbidden where no completion of what is
//! around it is left after it; where infinitely many are left, none is looked for. The functions take the Alternatives.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const schema_module = @import("schema.zig");
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const GoalId = goals_module.GoalId;
const Class = goals_module.Class;
const Literal = goals_module.Literal;
const plan_module = @import("plan.zig");
const ArrayPlan = plan_module.ArrayPlan;
const Avoided = plan_module.Avoided;
const ObjectPlan = @import("object_plan.zig").ObjectPlan;
const Numbers = @import("numbers.zig").Numbers;
const Sets = @import("sets.zig").Sets;
const values_module = @import("values.zig");
const Values = values_module.Values;
const ValueId = values_module.ValueId;
const spelling = @import("spelling.zig");
const repeats = @import("repeats.zig");

pub const Error = goals_module.Error;

/// Values of an item that are told one by one.
const values_max = 1 << 10;
/// States that a search looks at where items may count for something, or where values are listed.
const search_max = 1 << 12;
/// Values within each other that are asked for another one, each on the stack.
const depth_max = 200;

/// What an item or a member is at most, and what it must not be: a goal that excludes scalars, and a set of values of
/// which the arrays and objects matter.
pub const Limited = struct { goal: GoalId, avoid: u32 = Sets.none };

/// What an item or a member may be, of a goal that excludes nothing yet. `behind`: the progress after it, that does
/// not know its value. Null if nothing is left.
pub fn limit(a: anytype, goal: GoalId, behind: u32) Error!?Limited {
    const came = cameOf(a, behind);
    const is_late = try latenessOf(a, goal);
    var set = try a.sets.filter(came, Told{ .texts = a.texts.list.items, .is_late = is_late }, Told.has);
    var avoid = came;
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    for (try candidates(a, arena.allocator(), behind)) |value| {
        if (a.sets.has(came, value)) continue;
        if (Values.isScalar(value) and is_late.has(a.texts.list.items[value])) continue;
        if (try behindValue(a, behind, value) != null) continue;
        const one = if (Values.isScalar(value)) &set else &avoid;
        one.* = try a.sets.with(one.*, value);
    }
    const limited: Limited = .{ .goal = try excluding(a, goal, set), .avoid = avoid };
    return if (try canBe(a, limited)) limited else null;
}

/// The goal with a set in the place of the empty one.
fn excluding(a: anytype, goal: GoalId, set: u32) Error!GoalId {
    if (set == Sets.none) return goal;
    const literals = try a.gpa.dupe(Literal, @ptrCast(a.goals.goals.get(goal)));
    defer a.gpa.free(literals);
    for (literals) |*literal| if (literal.setOf(a.schema) != null and !literal.negated) {
        literal.* = .notIn(a.schema, set);
    };
    return a.goals.goal(literals);
}

fn canBe(a: anytype, limited: Limited) Error!bool {
    if (!try a.isSatisfiable(limited.goal)) return false;
    if (limited.avoid == Sets.none) return true;
    for (std.enums.values(Class)) |class| for (try a.of(limited.goal, class)) |id| {
        if (try a.canBegin(id, limited.avoid)) return true;
    };
    return false;
}

/// The scalars of what came that a goal must exclude.
const Told = struct {
    texts: []const []const u8,
    is_late: Lateness,

    fn has(told: Told, value: ValueId) bool {
        return Values.isScalar(value) and !told.is_late.has(told.texts[value]);
    }
};

/// Scalars that can become infinitely many other ones at each byte: whether one is forbidden is asked at its end.
const Lateness = packed struct(u32) {
    strings: bool = false,
    positive: bool = false,
    zero: bool = false,
    negative: bool = false,
    _: u28 = 0,

    fn has(late: Lateness, text: []const u8) bool {
        return switch (spelling.classOf(text)) {
            .string => late.strings,
            .number => switch (text[0]) {
                '-' => late.negative,
                '0' => if (text.len == 1) late.zero else late.positive,
                else => late.positive,
            },
            else => false,
        };
    }
};

fn latenessOf(a: anytype, goal: GoalId) Error!Lateness {
    if (a.lateness.get(goal)) |known| return @bitCast(known);
    var late: Lateness = .{ .strings = true, .positive = true, .zero = true, .negative = true };
    for (try a.of(goal, .string)) |id| switch (a.all.items[id].*) {
        .string => |strings| late.strings = late.strings and strings.isOpen(),
        else => late.strings = false,
    };
    for (try a.of(goal, .number)) |id| switch (a.all.items[id].*) {
        .number => |numbers| {
            late.positive = late.positive and numbers.spec.isOpen(.gt);
            late.zero = late.zero and numbers.spec.isOpen(.eq);
            late.negative = late.negative and numbers.spec.isOpen(.lt);
        },
        else => {
            late.positive = false;
            late.zero = false;
            late.negative = false;
        },
    };
    if (a.lateness.get(goal) == null) try a.lateness.put(a.gpa, goal, @bitCast(late));
    return late;
}

/// Values behind which there may be no completion: all others are like each other.
fn candidates(a: anytype, arena: Allocator, behind: u32) Error![]const ValueId {
    var found: ArrayList(ValueId) = .empty;
    var known: NumberMap = .{};
    const avoided = a.avoidedOf(behind);
    if (avoided.set != Sets.none and !try isEndless(a, try a.free(behind))) {
        var others: ArrayList(u32) = .empty;
        try a.sets.list(arena, avoided.set, &others);
        for (others.items) |other| if (partOf(a, behind, avoided, other)) |part| try add(arena, &known, &found, part);
    }
    const plan = switch (a.alternativeOf(behind).*) {
        .array => |*plan| plan,
        else => return found.items,
    };
    const words = a.progresses.get(behind);
    const index, const n_came = .{ words[1], words[2] };
    if (!plan.is_unique or plan.nOptions() == 1 and n_came >= plan.count.min) return found.items;
    if (areAlike(plan) and try hasSpare(a, plan, arena, behind)) return found.items;
    // Only a value that some item behind may have can be missing there.
    for (index..@as(usize, plan.n_prefix) + 1) |i| for (0..plan.nOptions()) |options| {
        const goal = try itemGoal(a, plan, arena, @intCast(i), @intCast(options)) orelse continue;
        switch (try valuesOf(a, goal)) {
            .few => |few| for (few) |value| try add(arena, &known, &found, value),
            else => {},
        }
    };
    return found.items;
}

/// Whether all items are of one goal: then only how many of its values came matters, and not which.
fn areAlike(plan: *const ArrayPlan) bool {
    return plan.nOptions() == 1 and plan.n_prefix == 0;
}

/// Of alike items: whether more values are left than items must still come, after one whose value is not known.
fn hasSpare(a: anytype, plan: *const ArrayPlan, arena: Allocator, behind: u32) Error!bool {
    const goal = try itemGoal(a, plan, arena, 0, 0) orelse return false;
    const values = try valuesOf(a, goal);
    if (values != .few) return false;
    var came: ArrayList(u32) = .empty;
    try a.sets.list(arena, cameOf(a, behind), &came);
    return nLeft(values.few, came.items) > plan.count.min - a.progresses.get(behind)[2];
}

fn add(arena: Allocator, known: *NumberMap, found: *ArrayList(ValueId), value: ValueId) Allocator.Error!void {
    if (known.get(value) == null) try known.putItem(arena, value, ValueId, found, value);
}

/// Of another array or object that begins in the same way, the item or member that is next here.
fn partOf(a: anytype, progress: u32, avoided: Avoided, other: ValueId) ?ValueId {
    return switch (a.alternativeOf(progress).*) {
        .array => a.values.itemOf(other, avoided.n),
        .object => a.values.memberOf(other, avoided.key),
        else => unreachable,
    };
}

/// The progress after an item or a member whose value is known, from the one that does not know it. Null if it may
/// not have this value.
pub fn behindValue(a: anytype, progress: u32, value: ValueId) Error!?u32 {
    if (!a.asksForValues(progress)) return progress;
    const avoided = a.avoidedOf(progress);
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    if (cameAt(a, progress)) |at| {
        if (a.sets.has(words[at], value)) return null;
        words[at] = try a.sets.with(words[at], value);
    }
    if (repeats.mustStill(a, progress)) try repeats.take(a, words, value);
    if (avoided.set != Sets.none) {
        const Agrees = struct {
            a: @TypeOf(a),
            progress: u32,
            avoided: Avoided,
            value: ValueId,

            fn agrees(c: @This(), other: ValueId) bool {
                return partOf(c.a, c.progress, c.avoided, other) == c.value;
            }
        };
        const context: Agrees = .{ .a = a, .progress = progress, .avoided = avoided, .value = value };
        const left: Avoided = .{ .set = try a.sets.filter(avoided.set, context, Agrees.agrees), .n = avoided.n + 1 };
        words[words.len - Avoided.n_words ..][0..Avoided.n_words].* = left.words();
    }
    const behind = try a.progresses.put(a.gpa, words);
    return if (try a.canFinish(behind)) behind else null;
}

/// What an object must not be after a key: the objects that have it.
pub fn withKey(a: anytype, avoided: Avoided, key: u32) Allocator.Error!Avoided {
    if (avoided.set == Sets.none) return .{};
    const Has = struct {
        values: *const Values,
        key: u32,

        fn has(c: @This(), other: ValueId) bool {
            return c.values.memberOf(other, c.key) != null;
        }
    };
    const set = try a.sets.filter(avoided.set, Has{ .values = &a.values, .key = key }, Has.has);
    return .{ .set = set, .n = avoided.n, .key = key };
}

/// The keys with which objects continue that this one must not be.
pub fn keysAhead(a: anytype, arena: Allocator, avoided: Avoided) Error![]const u32 {
    var found: ArrayList(u32) = .empty;
    var known: NumberMap = .{};
    var others: ArrayList(u32) = .empty;
    try a.sets.list(arena, avoided.set, &others);
    for (others.items) |other| {
        for (0..a.values.count(other, .object) orelse 0) |i| try add(arena, &known, &found, a.values.keyAt(other, @intCast(i)));
    }
    return found.items;
}

/// Whether the array or object is, if it ends here, one that it must not be.
pub fn isAvoided(a: anytype, progress: u32) Error!bool {
    const avoided = a.avoidedOf(progress);
    if (avoided.set == Sets.none) return false;
    const kind: values_module.Kind = if (a.alternativeOf(progress).* == .array) .array else .object;
    if (avoided.n == 0) return a.sets.has(avoided.set, try a.values.finish(a.gpa, kind, Values.begun));
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    var others: ArrayList(u32) = .empty;
    try a.sets.list(arena.allocator(), avoided.set, &others);
    for (others.items) |other| if (a.values.count(other, kind) == avoided.n) return true;
    return false;
}

/// Whether what must be avoided can be: after the next item or member there is a completion at least without it.
pub fn canBeOther(a: anytype, progress: u32) Error!bool {
    const without = try a.free(progress);
    if (!try a.canFinish(without)) return false;
    if (try a.accepts(progress) or try isEndless(a, without)) return true;
    if (a.n_others == depth_max) return error.TooLarge;
    a.n_others += 1;
    defer a.n_others -= 1;
    return switch (a.alternativeOf(progress).*) {
        .array => |*plan| (try a.otherItems(plan, progress)).len > 0,
        .object => |*plan| a.hasNext(plan, progress),
        else => unreachable,
    };
}

// ---- Whether there are infinitely many completions. No, where that is not seen at once.

fn isEndless(a: anytype, progress: u32) Error!bool {
    const known = a.endless.get(progress);
    if (known != .unknown) return known == .yes;
    if (!try a.canFinish(progress)) return false;
    if (a.n_others == depth_max) return error.TooLarge;
    a.n_others += 1;
    defer a.n_others -= 1;
    try a.endless.put(a.gpa, progress, .busy);
    errdefer a.endless.forget(progress);
    const is = switch (a.alternativeOf(progress).*) {
        .array => |*plan| try isEndlessArray(a, plan, progress),
        .object => |*plan| try isEndlessObject(a, plan, progress),
        else => unreachable,
    };
    try a.endless.put(a.gpa, progress, .of(is));
    return is;
}

fn isEndlessGoal(a: anytype, goal: GoalId) Error!bool {
    for (std.enums.values(Class)) |class| for (try a.of(goal, class)) |id| switch (a.all.items[id].*) {
        .listed => {},
        .number => |numbers| if (numbers.isEndless()) return true,
        .string => |strings| if (strings.isEndless()) return true,
        .array, .object => if (try isEndless(a, try a.start(id, Sets.none))) return true,
    };
    return false;
}

fn isEndlessArray(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    if (repeats.mustStill(a, progress)) {
        for (try a.otherItems(plan, progress)) |next| {
            if (try isEndlessGoal(a, next.goal) or try isEndless(a, next.progress)) return true;
        }
        return false;
    }
    if (plan.nOptions() > 1) return false;
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    const words = a.progresses.get(progress);
    const first, const came = .{ words[1], words[2] };
    var index = first;
    var n = came;
    while (plan.count.max == unbounded or n < plan.count.max) : ({
        index += 1;
        n += 1;
    }) {
        const goal = try itemGoal(a, plan, arena.allocator(), index, 0) orelse return false;
        // Different items before one that need not come may be too few.
        const can_come = !plan.is_unique or index == first or n < plan.count.min;
        if (can_come and try isEndlessGoal(a, goal)) return true;
        if (index == plan.n_prefix) return !plan.is_unique and plan.count.max == unbounded;
    }
    return false;
}

fn isEndlessObject(a: anytype, plan: *const ObjectPlan, progress: u32) Error!bool {
    if (a.missesException(plan, progress)) return false;
    for (0..plan.known.len) |i| {
        if (a.canCome(plan, progress, @intCast(i)) and try isEndlessGoal(a, plan.known[i].goal)) return true;
    }
    if (plan.count.max != unbounded) return false;
    const last = try a.behindKnown(plan, progress);
    for (plan.extras, 0..) |extra, i| {
        const strings = try a.extraOpen(plan, last, i) orelse continue;
        if (strings.isEndless() or try isEndlessGoal(a, extra.goal)) return true;
    }
    return false;
}

// ---- Arrays of different items

/// Whether the array can be completed.
pub fn canFinish(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    if (try a.accepts(progress)) return true;
    return if (plan.nOptions() == 1) canFill(a, plan, progress) else search(a, plan, progress);
}

/// The values that came, if all are different.
fn cameOf(a: anytype, progress: u32) u32 {
    return a.progresses.get(progress)[cameAt(a, progress) orelse return Sets.none];
}

fn cameAt(a: anytype, progress: u32) ?usize {
    return switch (a.alternativeOf(progress).*) {
        .array => |*plan| if (plan.is_unique) plan.cameAt() else null,
        else => null,
    };
}

/// The progress after an item of this value, if nothing else is asked.
fn withValue(a: anytype, plan: *const ArrayPlan, progress: u32, value: ValueId) Allocator.Error!u32 {
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    words[plan.cameAt()] = try a.sets.with(words[plan.cameAt()], value);
    return a.progresses.put(a.gpa, words);
}

/// Whether each item that must still come has a value of its own: a matching of items and values.
fn canFill(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    const words = a.progresses.get(progress);
    const first, const count = .{ words[1], words[2] };
    var came: ArrayList(u32) = .empty;
    try a.sets.list(arena.allocator(), words[plan.cameAt()], &came);
    const n_missing = plan.count.min - count;
    if (plan.count.max < plan.count.min) return false;
    var matching: Matching = .{ .arena = arena.allocator() };
    for (0..n_missing) |i| {
        const index = @min(first + @as(u32, @intCast(i)), plan.n_prefix);
        const goal = try itemGoal(a, plan, arena.allocator(), index, 0) orelse return false;
        switch (try valuesOf(a, goal)) {
            .few => |texts| if (areAlike(plan)) {
                return nLeft(texts, came.items) >= n_missing;
            } else if (!try matching.add(texts, came.items)) return false,
            // All after it are alike, once the prefix has come.
            else => |values| {
                if (!try values.hasOthers(@as(u64, plan.count.min) + came.items.len)) unreachable;
                if (index == plan.n_prefix) return true;
            },
        }
    }
    return true;
}

/// Items, each with a value of its own (augmenting paths).
const Matching = struct {
    arena: Allocator,
    items: ArrayList([]const u32) = .empty,
    /// By value, the item.
    owners: NumberMap = .{},
    owned: ArrayList(u32) = .empty,

    /// False if there is no value for one item more.
    fn add(m: *Matching, texts: []const u32, came: []const u32) Allocator.Error!bool {
        var left: ArrayList(u32) = .empty;
        for (texts) |text| if (!contains(came, text)) try left.append(m.arena, text);
        try m.items.append(m.arena, left.items);
        var tried: NumberMap = .{};
        return m.place(@intCast(m.items.items.len - 1), &tried);
    }

    /// As deep as there are values at most.
    fn place(m: *Matching, item: u32, tried: *NumberMap) Allocator.Error!bool {
        for (m.items.items[item]) |text| {
            if (tried.get(text) != null) continue;
            try tried.put(m.arena, text, 0);
            const slot = m.owners.get(text) orelse {
                try m.owners.put(m.arena, text, @intCast(m.owned.items.len));
                try m.owned.append(m.arena, item);
                return true;
            };
            if (!try m.place(m.owned.items[slot], tried)) continue;
            m.owned.items[slot] = item;
            return true;
        }
        return false;
    }
};

/// Where items may count for something: breadth first over what progress there is, with each value of which there
/// are few. One of many is best one that is in no other set.
fn search(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    var found: NumberMap = .{};
    var todo: ArrayList(u32) = .empty;
    try found.put(arena.allocator(), progress, 0);
    try todo.append(arena.allocator(), progress);
    var i: usize = 0;
    while (i < todo.items.len) : (i += 1) {
        const at = todo.items[i];
        if (try a.accepts(at)) return true;
        if (todo.items.len > search_max) return error.TooLarge;
        for (0..plan.nOptions()) |options| {
            const index = a.progresses.get(at)[1];
            const goal = try itemGoal(a, plan, arena.allocator(), index, @intCast(options)) orelse continue;
            const behind = try take(a, plan, at, @intCast(options)) orelse continue;
            const values = try valuesOf(a, goal);
            if (values != .few) {
                if (!try values.hasOthers(@as(u64, plan.count.min) + todo.items.len)) unreachable;
                try visit(arena.allocator(), &found, &todo, behind);
                continue;
            }
            const came = cameOf(a, at);
            for (values.few) |text| {
                if (!a.sets.has(came, text)) try visit(arena.allocator(), &found, &todo, try withValue(a, plan, behind, text));
            }
        }
    }
    return false;
}

fn visit(arena: Allocator, found: *NumberMap, todo: *ArrayList(u32), progress: u32) Allocator.Error!void {
    if (found.get(progress) != null) return;
    try found.put(arena, progress, 0);
    try todo.append(arena, progress);
}

/// The goal of an item, whatever came before it; null if nothing satisfies it.
fn itemGoal(a: anytype, plan: *const ArrayPlan, arena: Allocator, index: u32, options: u32) Error!?GoalId {
    var literals: ArrayList(Literal) = .empty;
    try plan.addItem(arena, a.schema, index, options, &literals);
    const goal = try a.goals.goal(literals.items);
    return if (try a.isSatisfiable(goal)) goal else null;
}

/// The progress after an item that counts so; null if it cannot.
fn take(a: anytype, plan: *const ArrayPlan, progress: u32, options: u32) Error!?u32 {
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    return if (plan.move(words[1..], options)) try a.progresses.put(a.gpa, words) else null;
}

// ---- Values

/// What an item can be.
const Possible = union(enum) {
    few: []const ValueId,
    /// More than `values_max`.
    many,
    endless,

    /// Whether there are so many that are different, and different from all other values.
    fn hasOthers(p: Possible, n: u64) Error!bool {
        return switch (p) {
            .few => unreachable,
            .many => if (n <= values_max) true else error.TooLarge,
            .endless => true,
        };
    }
};

/// What a goal's values are; found once.
fn valuesOf(a: anytype, goal: GoalId) Error!Possible {
    if (a.values_of.get(goal)) |known| return switch (known) {
        many => .many,
        endless => .endless,
        else => .{ .few = a.value_lists.items[known] },
    };
    // What leads back to itself does so without end.
    if (std.mem.findScalar(GoalId, a.listed_goals.items, goal) != null) return .endless;
    try a.listed_goals.append(a.gpa, goal);
    defer _ = a.listed_goals.pop();
    const found = try findValues(a, goal);
    // What is asked for while a goal is still being looked at may be more later.
    if (a.met_busy or a.listed_goals.items.len > 1) return found;
    switch (found) {
        .many => try a.values_of.put(a.gpa, goal, many),
        .endless => try a.values_of.put(a.gpa, goal, endless),
        .few => |values| try a.values_of.putItem(a.gpa, goal, []const ValueId, &a.value_lists, values),
    }
    return found;
}

const many = std.math.maxInt(u32);
const endless = many - 1;

/// Different values, as many as matter.
const Listing = struct {
    arena: Allocator,
    found: ArrayList(ValueId) = .empty,
    known: NumberMap = .{},

    fn put(l: *Listing, value: ValueId) Allocator.Error!void {
        try add(l.arena, &l.known, &l.found, value);
    }

    fn isFull(l: *const Listing) bool {
        return l.found.items.len > values_max;
    }
};

/// Those that are few lie in the arena of the alternatives, ascending.
fn findValues(a: anytype, goal: GoalId) Error!Possible {
    const arena = a.arena.allocator();
    var listing: Listing = .{ .arena = arena };
    var is_many = false;
    for (std.enums.values(Class)) |class| for (try a.of(goal, class)) |id| switch (a.all.items[id].*) {
        .listed => |listed| for (listed) |text| try listing.put(try a.text(if (class == .number) canonicalNumber(text) else text)),
        .number => |numbers| {
            if (numbers.isEndless()) return .endless;
            if (!try addNumbers(a, numbers, &listing)) is_many = true;
        },
        .string => |strings| {
            if (strings.isEndless()) return .endless;
            const contents = try strings.all(arena, values_max);
            if (contents == null) is_many = true;
            for (contents orelse &.{}) |content| try listing.put(try a.text(try spelling.quoted(arena, content)));
        },
        .array, .object => {
            if (try isEndless(a, try a.start(id, Sets.none))) return .endless;
            switch (try addComposites(a, id, &listing)) {
                .few => {},
                .many => is_many = true,
                .endless => return .endless,
            }
        },
    };
    if (is_many or listing.isFull()) return .many;
    std.sort.heap(u32, listing.found.items, {}, std.sort.asc(u32));
    return .{ .few = listing.found.items };
}

/// An array or object that is not whole, when values are listed.
const Begun = struct {
    progress: u32,
    part: u32 = Values.begun,
    /// Members come in one order: known keys as they are numbered, then others by their texts.
    known: u32 = 0,
    extra: u32 = 0,
};

/// Adds all values of an alternative, if they are few.
fn addComposites(a: anytype, id: u32, listing: *Listing) Error!std.meta.Tag(Possible) {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    var todo: ArrayList(Begun) = .empty;
    try todo.append(arena.allocator(), .{ .progress = try a.start(id, Sets.none) });
    var n_steps: u32 = 0;
    while (todo.pop()) |begun| {
        n_steps += 1;
        if (n_steps + todo.items.len > search_max) return error.TooLarge;
        const kind: values_module.Kind = if (a.all.items[id].* == .array) .array else .object;
        if (try a.accepts(begun.progress)) try listing.put(try a.values.finish(a.gpa, kind, begun.part));
        if (listing.isFull()) return .many;
        switch (a.all.items[id].*) {
            .array => |*plan| {
                var forks: ArrayList(@TypeOf(a.*).Next) = .empty;
                try a.addItems(plan, begun.progress, arena.allocator(), &forks);
                for (forks.items) |fork| if (try addParts(a, arena.allocator(), begun, null, fork, &todo)) |others| return others;
            },
            .object => |*plan| {
                for (begun.known..plan.known.len) |i| {
                    var forks: ArrayList(@TypeOf(a.*).Next) = .empty;
                    try a.addMembers(plan, begun.progress, .{ .known = @intCast(i) }, arena.allocator(), &forks);
                    const key = try a.keyText(&plan.known[i]);
                    var from = begun;
                    from.known = @intCast(i + 1);
                    for (forks.items) |fork| if (try addParts(a, arena.allocator(), from, key, fork, &todo)) |others| return others;
                }
                for (0..plan.extras.len) |extra| {
                    if (try addExtras(a, arena.allocator(), plan, begun, @intCast(extra), &todo)) |others| return others;
                }
            },
            else => unreachable,
        }
    }
    return .few;
}

/// Continues with each extra key of a kind; says if there are too many.
fn addExtras(
    a: anytype,
    arena: Allocator,
    plan: *const ObjectPlan,
    begun: Begun,
    extra: u32,
    todo: *ArrayList(Begun),
) Error!?std.meta.Tag(Possible) {
    const strings = try a.extraOpen(plan, begun.progress, extra) orelse return null;
    if (strings.isEndless()) return .endless;
    for (try strings.all(arena, values_max) orelse return .many) |content| {
        const quoted = try spelling.quoted(arena, content);
        const key = try a.text(quoted[1 .. quoted.len - 1]);
        if (key < begun.extra) continue;
        var forks: ArrayList(@TypeOf(a.*).Next) = .empty;
        try a.addMembers(plan, begun.progress, .{ .extra = .{ .index = extra, .text = key } }, arena, &forks);
        const from: Begun = .{ .progress = 0, .part = begun.part, .known = @intCast(plan.known.len), .extra = key + 1 };
        for (forks.items) |fork| if (try addParts(a, arena, from, key, fork, todo)) |others| return others;
    }
    return null;
}

/// Continues with each value of an item or a member; says if there are too many.
fn addParts(a: anytype, arena: Allocator, from: Begun, key: ?u32, next: anytype, todo: *ArrayList(Begun)) Error!?std.meta.Tag(Possible) {
    const possible = try valuesOf(a, next.goal);
    if (possible != .few) return possible;
    for (possible.few) |value| {
        var begun = from;
        begun.progress = try behindValue(a, next.progress, value) orelse continue;
        begun.part = try a.values.append(a.gpa, from.part, key, value);
        try todo.append(arena, begun);
    }
    return null;
}

/// Adds the numbers of a set that is not endless; false if there are too many.
fn addNumbers(a: anytype, numbers: *Numbers, listing: *Listing) Error!bool {
    const arena = a.arena.allocator();
    const places_max = numbers.spec.places();
    const Digits = struct {
        state: u32,
        text: []const u8,
        /// Digits after the point, once there is one.
        places: ?u32 = null,
    };
    var begun: ArrayList(Digits) = .empty;
    try begun.append(arena, .{ .state = Numbers.start, .text = "" });
    var i: usize = 0;
    while (i < begun.items.len) : (i += 1) {
        const one = begun.items[i];
        if (i > 0 and numbers.canEnd(one.state)) try listing.put(try a.text(canonicalNumber(one.text)));
        if (listing.isFull()) return false;
        if (one.places == places_max) continue;
        for (if (places_max > 0) "-.0123456789" else "-0123456789") |byte| {
            const state = try numbers.next(one.state, byte) orelse continue;
            const text = try std.mem.concat(arena, u8, &.{ one.text, &.{byte} });
            const places = if (byte == '.') 0 else if (one.places) |n| n + 1 else null;
            try begun.append(arena, .{ .state = state, .text = text, .places = places });
        }
    }
    return true;
}

/// The value of a number that has no exponent, as `enum` has it: without needless zeros.
pub fn canonicalNumber(text: []const u8) []const u8 {
    const has_point = std.mem.findScalar(u8, text, '.') != null;
    const short = if (has_point) std.mem.trimEnd(u8, std.mem.trimEnd(u8, text, "0"), ".") else text;
    return if (std.mem.eql(u8, short, "-0")) "0" else short;
}

/// How many of some values did not come; both ascend.
fn nLeft(values: []const u32, came: []const u32) usize {
    var n: usize = 0;
    for (values) |value| n += @intFromBool(!contains(came, value));
    return n;
}

fn contains(ascending: []const u32, wanted: u32) bool {
    return std.sort.binarySearch(u32, ascending, wanted, order) != null;
}

fn order(wanted: u32, one: u32) std.math.Order {
    return std.math.order(wanted, one);
}

test "one number has one text" {
    for ([_][2][]const u8{
        .{ "1.50", "1.5" }, .{ "10", "10" },   .{ "1.0", "1" },
        .{ "-0", "0" },     .{ "-0.00", "0" }, .{ "100.0", "100" },
    }) |case| {
        try std.testing.expectEqualStrings(case[1], canonicalNumber(case[0]));
    }
}
