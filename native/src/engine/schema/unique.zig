//! Arrays whose items are all different: which values an item may not have, and whether enough are left for the
//! items that must still come. The functions take the Alternatives.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const goals_module = @import("goals.zig");
const GoalId = goals_module.GoalId;
const Class = goals_module.Class;
const Literal = goals_module.Literal;
const ArrayPlan = @import("plan.zig").ArrayPlan;
const Numbers = @import("numbers.zig").Numbers;
const spelling = @import("spelling.zig");

pub const Error = goals_module.Error;

/// Values of an item that are told one by one.
const values_max = 1 << 10;
/// States that a search looks at where items may count for something.
const search_max = 1 << 12;

/// What an item can be.
const Values = union(enum) {
    /// Texts, by number.
    few: []const u32,
    /// More than `values_max`.
    many,
    endless,

    /// Whether there are so many that are different, and different from all other values.
    fn hasOthers(v: Values, n: u64) Error!bool {
        return switch (v) {
            .few => unreachable,
            .many => if (n <= values_max) true else error.TooLarge,
            .endless => true,
        };
    }
};

/// The set of the values that the item at a progress may not have: those that came, and those without which what
/// must come behind it cannot be.
pub fn excluded(a: anytype, plan: *const ArrayPlan, progress: u32) Error!u32 {
    const key: u64 = progress;
    if (a.excluded_values.get(key)) |set| return set;
    const set = try findExcluded(a, plan, progress);
    try a.excluded_values.put(a.gpa, key, set);
    return set;
}

fn findExcluded(a: anytype, plan: *const ArrayPlan, progress: u32) Error!u32 {
    const came = plan.seen(a.progresses.get(progress));
    if (!mustGoOn(a, plan, progress)) return came;
    var set = came;
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    // Only a value that some item behind may have can be missing there.
    var candidates: ArrayList(u32) = .empty;
    var known: NumberMap = .{};
    const n_prefix = plan.n_prefix;
    for (a.progresses.get(progress)[1]..@as(usize, n_prefix) + 1) |index| for (0..plan.nOptions()) |options| {
        const goal = try itemGoal(a, plan, arena.allocator(), @intCast(index), @intCast(options)) orelse continue;
        switch (try valuesOf(a, goal)) {
            .few => |texts| for (texts) |text| {
                if (known.get(text) != null) continue;
                try known.put(arena.allocator(), text, 0);
                try candidates.append(arena.allocator(), text);
            },
            else => {},
        }
    };
    for (candidates.items) |text| {
        if (contains(a.key_sets.get(came), text)) continue;
        const can = for (0..plan.nOptions()) |options| {
            const behind = try take(a, plan, progress, @intCast(options)) orelse continue;
            if (try a.canFinish(try withValue(a, plan, behind, text))) break true;
        } else false;
        if (!can) set = try a.withKey(set, text);
    }
    return set;
}

/// The progress behind an item of this value, from the one behind an item of which it is not known.
pub fn withValue(a: anytype, plan: *const ArrayPlan, progress: u32, text: u32) Allocator.Error!u32 {
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    const set = &words[words.len - 1];
    std.debug.assert(words.len == 1 + plan.nWords());
    if (!contains(a.key_sets.get(set.*), text)) set.* = try a.withKey(set.*, text);
    return a.progresses.put(a.gpa, words);
}

/// Whether the array can be completed.
pub fn canFinish(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    if (a.acceptsArray(plan, progress)) return true;
    return if (plan.nOptions() == 1) canFill(a, plan, progress) else search(a, plan, progress);
}

/// Behind the next item, there is one that must come.
fn mustGoOn(a: anytype, plan: *const ArrayPlan, progress: u32) bool {
    return plan.nOptions() > 1 or a.progresses.get(progress)[2] + 1 < plan.count.min;
}

/// Whether each item that must still come has a value of its own: a matching of items and values.
fn canFill(a: anytype, plan: *const ArrayPlan, progress: u32) Error!bool {
    var arena: Arena = .init(a.gpa);
    defer arena.deinit();
    const words = a.progresses.get(progress);
    const came = try arena.allocator().dupe(u32, a.key_sets.get(plan.seen(words)));
    const first, const count = .{ words[1], words[2] };
    const n_missing = plan.count.min - count;
    if (plan.count.max < plan.count.min) return false;
    var matching: Matching = .{ .arena = arena.allocator() };
    for (0..n_missing) |i| {
        const index = @min(first + @as(u32, @intCast(i)), plan.n_prefix);
        const goal = try itemGoal(a, plan, arena.allocator(), index, 0) orelse return false;
        switch (try valuesOf(a, goal)) {
            .few => |texts| if (!try matching.add(texts, came)) return false,
            // All behind it are alike, once the prefix has come.
            else => |values| {
                if (!try values.hasOthers(@as(u64, plan.count.min) + came.len)) unreachable;
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
        if (a.acceptsArray(plan, at)) return true;
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
            const came = try arena.allocator().dupe(u32, a.key_sets.get(plan.seen(a.progresses.get(at))));
            for (values.few) |text| {
                if (!contains(came, text)) try visit(arena.allocator(), &found, &todo, try withValue(a, plan, behind, text));
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

/// The progress behind an item that counts so; null if it cannot.
fn take(a: anytype, plan: *const ArrayPlan, progress: u32, options: u32) Error!?u32 {
    const words = try a.gpa.dupe(u32, a.progresses.get(progress));
    defer a.gpa.free(words);
    return if (plan.move(words[1..], options)) try a.progresses.put(a.gpa, words) else null;
}

// ---- Values

/// What a goal's values are; found once.
fn valuesOf(a: anytype, goal: GoalId) Error!Values {
    if (a.values_of.get(goal)) |known| return switch (known) {
        many => .many,
        endless => .endless,
        else => .{ .few = a.key_sets.get(known) },
    };
    const found = try findValues(a, goal);
    const code = switch (found) {
        .many => many,
        .endless => endless,
        .few => |texts| try a.key_sets.put(a.gpa, texts),
    };
    // What is asked for while a goal is still being looked at may be more later.
    if (!a.met_busy) try a.values_of.put(a.gpa, goal, code);
    return found;
}

const many = std.math.maxInt(u32);
const endless = many - 1;

/// Those that are few lie in the arena of the alternatives.
fn findValues(a: anytype, goal: GoalId) Error!Values {
    var texts: ArrayList(u32) = .empty;
    var is_many = false;
    const arena = a.arena.allocator();
    for (std.enums.values(Class)) |class| for (try a.of(goal, class)) |id| switch (a.all.items[id].*) {
        .listed => |listed| for (listed) |text| try texts.append(arena, try a.text(text)),
        .number => |numbers| {
            if (numbers.isEndless()) return .endless;
            if (!try addNumbers(a, numbers, &texts)) is_many = true;
        },
        .string => |strings| {
            if (strings.isEndless()) return .endless;
            const contents = try strings.all(arena, values_max);
            if (contents == null) is_many = true;
            for (contents orelse &.{}) |content| try texts.append(arena, try a.text(try spelling.quoted(arena, content)));
        },
        .array, .object => return .endless, // are not compared
    };
    if (is_many or texts.items.len > values_max) return .many;
    std.sort.heap(u32, texts.items, {}, std.sort.asc(u32));
    var n: usize = 0;
    for (texts.items) |text| {
        if (n > 0 and texts.items[n - 1] == text) continue;
        texts.items[n] = text;
        n += 1;
    }
    return .{ .few = texts.items[0..n] };
}

/// Adds the integers of a set; false if there are too many.
fn addNumbers(a: anytype, numbers: *Numbers, texts: *ArrayList(u32)) Error!bool {
    if (numbers.has_point) return false;
    const arena = a.arena.allocator();
    const Begun = struct { state: u32, text: []const u8 };
    var begun: ArrayList(Begun) = .empty;
    try begun.append(arena, .{ .state = Numbers.start, .text = "" });
    var i: usize = 0;
    while (i < begun.items.len) : (i += 1) {
        const one = begun.items[i];
        if (i > 0 and numbers.canEnd(one.state)) try texts.append(arena, try a.text(canonicalNumber(one.text)));
        if (texts.items.len > values_max) return false;
        for ("-0123456789") |byte| {
            const state = try numbers.next(one.state, byte) orelse continue;
            try begun.append(arena, .{ .state = state, .text = try std.mem.concat(arena, u8, &.{ one.text, &.{byte} }) });
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
