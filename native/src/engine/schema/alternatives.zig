//! The alternatives of goals, made ready for threads: automata for scalars, plans for arrays and objects; and
//! whether something satisfies them at all, which is a least fixed point over goals.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Watch = @import("../base/watch.zig").Watch;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Arena = @import("../base/arena.zig").Arena;
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const Bounds = schema_module.Bounds;
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const Goals = goals_module.Goals;
const GoalId = goals_module.GoalId;
const Class = goals_module.Class;
const Literal = goals_module.Literal;
const Conjunction = goals_module.Conjunction;
const Interner = @import("../base/interner.zig").Interner;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Texts = @import("../base/texts.zig").Texts;
const plan_module = @import("plan.zig");
const ArrayPlan = plan_module.ArrayPlan;
const Avoided = plan_module.Avoided;
const object_plan = @import("object_plan.zig");
const ObjectPlan = object_plan.ObjectPlan;
const Known = object_plan.Known;
const Progress = object_plan.Progress;
const Which = object_plan.Which;
const Extra = object_plan.Extra;
const conditions = @import("conditions.zig");
const layout = @import("condition_layout.zig");
const key_classes = @import("key_classes.zig");
const outlook = @import("outlook.zig");
const Numbers = @import("numbers.zig").Numbers;
const number_spec = @import("number_spec.zig");
const decimal = @import("decimal.zig");
const Decimal = decimal.Decimal;
const Dfa = @import("../language/dfa.zig").Dfa;
const Strings = @import("strings.zig").Strings;
const Automata = @import("../vocabulary/string_index.zig").StringIndex.Automata;
const spelling = @import("spelling.zig");
const Sets = @import("sets.zig").Sets;
const Evident = @import("evident.zig").Evident;
const values_module = @import("values.zig");
const Values = values_module.Values;
const ValueId = values_module.ValueId;
const unique = @import("unique.zig");
const repeats = @import("repeats.zig");

pub const Error = goals_module.Error;

pub const Id = u32;

pub const Alternative = union(enum) {
    /// JSON texts, ascending.
    listed: []const []const u8,
    number: *Numbers,
    string: *Strings,
    array: ArrayPlan,
    object: ObjectPlan,
};

/// Members whose goals one call may look for: some tenths of a second.
pub const work_max = 1 << 18;

/// States that a search for the end of an array or object may look at.
const search_max = 1 << 14;

/// Extra keys that are told one by one, where they may be too few.
const extra_keys_max = 1 << 10;

/// The text of a key that stands for any: no key is spelled so.
pub const no_key = "\"";

pub const Alternatives = struct {
    gpa: Allocator,
    arena: Arena,
    schema: *const Schema,
    /// The vocabulary's.
    automata: *Automata,
    evident: Evident,
    goals: Goals,
    all: ArrayList(*Alternative) = .empty,
    /// By goal and class: of `lists`, those that something satisfies.
    of_goal: NumberMap = .{},
    lists: ArrayList([]const Id) = .empty,
    /// By goal.
    satisfiable: Verdicts = .{},
    /// Goals that are being looked at, each for the one before.
    depth: u32 = 0,
    /// The goal for which `depth_max` was too little.
    too_deep: ?GoalId = null,
    /// Keys that are looked at for exceptions, each for the one before.
    n_excepts: u32 = 0,
    /// A goal was met that is still being looked at: what is not satisfiable then may be so later.
    met_busy: bool = false,
    /// [alternative, words ...]: how far a thread has come in an array or an object.
    progresses: Interner = .{},
    /// By progress.
    finishable: Verdicts = .{},
    /// [two words of the plan's address, words ...]: where exceptions are missing, and by number whether they can come.
    except_places: Interner = .{},
    exceptable: Verdicts = .{},
    /// Values that came where items must be different.
    values: Values = .{},
    /// Sets of them, and of extra keys, which are numbers of `texts`.
    sets: Sets,
    /// Of `texts`: values and keys that came there, once each. Not those that a mask tries.
    remembered: ArrayList(u32) = .empty,
    is_remembered: NumberMap = .{},
    is_trying: bool = false,
    /// By progress, where the values of items are asked for: of `forks`.
    items: NumberMap = .{},
    /// By goal, for unique.zig: what its values are, of `value_lists`; and which of them are forbidden late.
    values_of: NumberMap = .{},
    value_lists: ArrayList([]const ValueId) = .empty,
    listed_goals: ArrayList(GoalId) = .empty,
    lateness: NumberMap = .{},
    /// By progress: whether there are infinitely many completions.
    endless: Verdicts = .{},
    /// Values within each other that are asked for another one.
    n_others: u32 = 0,
    /// What may still be looked at in the present call: it is as a whole that no search takes long.
    work_left: u32 = work_max,
    /// Of the present operation.
    watch: ?*Watch = null,
    /// By progress and known key, where exceptions are missing: of `forks`, the ways to continue.
    members: NumberMap = .{},
    forks: ArrayList([]const Next) = .empty,
    /// By progress and extra key: of `extra_automata`, if it may come.
    open_extras: NumberMap = .{},
    /// Sets of known keys that come in any order, and states of conditions: bits.
    key_sets: Interner = .{},
    /// [alternative, component, words ...]: where conditions are to be met, and by number how far.
    condition_places: Interner = .{},
    reaches: ArrayList(Reach) = .empty,
    /// By progress, where there are conditions: of `key_sets`, what may come next.
    outlooks: NumberMap = .{},
    texts: Texts = .{},
    /// [object, extra key, set of keys], and by number the automaton without them; none where no text is left.
    extra_keys: Interner = .{},
    extra_automata: ArrayList(?*Strings) = .empty,

    /// Conditions can be met where so many members of their component are passed over, and cannot where so many are.
    pub const Reach = struct { good: ?u32 = null, bad: u32 = std.math.maxInt(u32) };

    /// In `open_extras`: it may not come.
    const closed = std.math.maxInt(u32);
    /// Each takes about 2 kB of the stack.
    const depth_max = 36;
    /// Each takes about 300 bytes of the stack.
    const excepts_max = 1100;

    /// Gives number 0 to what is empty; before all else.
    pub fn begin(a: *Alternatives) Allocator.Error!void {
        try a.evident.find(a.gpa);
        try a.values.begin(a.gpa);
        try a.sets.begin();
        _ = try a.key_sets.put(a.gpa, &.{});
    }

    pub fn deinit(a: *Alternatives) void {
        for (a.all.items) |one| switch (one.*) {
            .number => |numbers| numbers.deinit(),
            .string => |automaton| automaton.deinit(),
            else => {},
        };
        for (a.extra_automata.items) |automaton| if (automaton) |one| one.deinit();
        a.extra_automata.deinit(a.gpa);
        a.extra_keys.deinit(a.gpa);
        a.all.deinit(a.gpa);
        a.of_goal.deinit(a.gpa);
        a.lists.deinit(a.gpa);
        a.satisfiable.deinit(a.gpa);
        a.progresses.deinit(a.gpa);
        a.finishable.deinit(a.gpa);
        a.members.deinit(a.gpa);
        a.forks.deinit(a.gpa);
        a.except_places.deinit(a.gpa);
        a.exceptable.deinit(a.gpa);
        a.open_extras.deinit(a.gpa);
        a.values.deinit(a.gpa);
        a.sets.deinit();
        a.remembered.deinit(a.gpa);
        a.is_remembered.deinit(a.gpa);
        a.items.deinit(a.gpa);
        a.values_of.deinit(a.gpa);
        a.value_lists.deinit(a.gpa);
        a.listed_goals.deinit(a.gpa);
        a.lateness.deinit(a.gpa);
        a.endless.deinit(a.gpa);
        a.key_sets.deinit(a.gpa);
        a.condition_places.deinit(a.gpa);
        a.reaches.deinit(a.gpa);
        a.outlooks.deinit(a.gpa);
        a.texts.deinit(a.gpa);
        a.goals.deinit();
        a.evident.deinit(a.gpa);
        a.arena.deinit();
    }

    /// The alternatives of a goal that something satisfies. Lent.
    pub fn of(a: *Alternatives, goal: GoalId, class: Class) Error![]const Id {
        if (!try a.goals.mayBe(goal, class)) return &.{};
        const key = @as(u64, goal) << 3 | @backingInt(class);
        if (a.of_goal.get(key)) |found| return a.lists.items[found];
        var found: ArrayList(Id) = .empty;
        for (try a.goals.expand(goal, class, a.watch)) |*one| try a.addOf(one, &found);
        // Without what is known only later it is asked for again.
        if (!a.met_busy and a.of_goal.get(key) == null) try a.of_goal.putItem(a.gpa, key, []const Id, &a.lists, found.items);
        return found.items;
    }

    /// Adds the alternative if something satisfies it; one for each value, if it is one of some.
    fn addOf(a: *Alternatives, from: *const Conjunction, found: *ArrayList(Id)) Error!void {
        if (from.among.len == 0 or a.areListed(from)) return a.add(from, null, found);
        var values: ArrayList(ValueId) = .empty;
        defer values.deinit(a.gpa);
        try a.sets.list(a.gpa, from.among[0], &values);
        next: for (values.items) |value| {
            for (from.among[1..]) |set| if (!a.sets.has(set, value)) continue :next;
            if (a.classOf(value) == from.class) try a.add(from, value, found);
        }
    }

    /// Whether values of which it is one have a single spelling.
    fn areListed(a: *const Alternatives, from: *const Conjunction) bool {
        return switch (from.class) {
            .null, .boolean, .string => true,
            .number => listedIn(a.schema, from) != null or !from.fractions and !a.schema.form.integer_fraction,
            .array, .object => false,
        };
    }

    fn classOf(a: *const Alternatives, value: ValueId) Class {
        if (Values.isScalar(value)) return spelling.classOf(a.texts.list.items[value]);
        return if (a.values.count(value, .array) != null) .array else .object;
    }

    fn add(a: *Alternatives, from: *const Conjunction, value: ?ValueId, found: *ArrayList(Id)) Error!void {
        const alternative = try a.arena.allocator().create(Alternative);
        try a.all.ensureUnusedCapacity(a.gpa, 1); // or what is made now would be lost
        alternative.* = try a.make(from, value) orelse return;
        a.all.appendAssumeCapacity(alternative);
        const id: Id = @intCast(a.all.items.len - 1);
        if (try a.isPossible(id)) try found.append(a.arena.allocator(), id);
    }

    /// Whether some value satisfies the goal. Goals that are too deep within each other for the stack are put off: the
    /// innermost are looked at first.
    pub fn isSatisfiable(a: *Alternatives, goal: GoalId) Error!bool {
        if (a.isEvident(goal)) return true;
        const known = a.satisfiable.get(goal);
        if (known == .busy) a.met_busy = true;
        if (known != .unknown) return known == .yes;
        if (a.depth > 0) return a.decide(goal);
        const met_before = a.met_busy;
        defer a.met_busy = met_before;
        var waiting: ArrayList(GoalId) = .empty;
        defer waiting.deinit(a.gpa);
        try waiting.append(a.gpa, goal);
        while (true) {
            const next = waiting.items[waiting.items.len - 1];
            a.too_deep = null;
            const is = a.decide(next) catch |e| {
                const deeper = a.too_deep orelse return e;
                // They lead back to each other, further around than the stack is deep.
                if (std.mem.findScalar(GoalId, waiting.items, deeper) != null) return e;
                try waiting.append(a.gpa, deeper);
                continue;
            };
            // No other goal is being looked at, so it holds, whatever was met.
            try a.satisfiable.put(a.gpa, next, .of(is));
            _ = waiting.pop();
            if (waiting.items.len == 0) return is;
        }
    }

    fn isEvident(a: *const Alternatives, goal: GoalId) bool {
        const literals: []const Literal = @ptrCast(a.goals.goals.get(goal));
        if (literals.len != 1) return literals.len == 0;
        return !literals[0].negated and literals[0].setOf(a.schema) == null and a.evident.has(literals[0].node);
    }

    fn decide(a: *Alternatives, goal: GoalId) Error!bool {
        if (a.depth == depth_max) {
            a.too_deep = goal;
            return error.TooLarge;
        }
        a.depth += 1;
        defer a.depth -= 1;
        try a.satisfiable.put(a.gpa, goal, .busy);
        const outer = a.met_busy;
        a.met_busy = false;
        errdefer {
            a.satisfiable.forget(goal);
            a.met_busy = outer;
        }
        const is = for (std.enums.values(Class)) |class| {
            if ((try a.of(goal, class)).len > 0) break true;
        } else false;
        // What was found with busy goals counted as unsatisfiable holds if it is yes.
        if (is or !a.met_busy) {
            try a.satisfiable.put(a.gpa, goal, .of(is));
        } else a.satisfiable.forget(goal);
        a.met_busy = outer or (a.met_busy and !is);
        return is;
    }

    /// The progress at the start of an array or an object that is none of some values.
    pub fn start(a: *Alternatives, id: Id, avoid: u32) Error!u32 {
        var words: [@max(1 + ObjectPlan.n_words_max, 5 + goals_module.options_max + Avoided.n_words)]u32 = @splat(0);
        words[0] = id;
        const n = switch (a.all.items[id].*) {
            .array => |*plan| plan.nWords(),
            .object => |*plan| plan.nWords(),
            else => unreachable,
        };
        if (avoid != Sets.none) words[1 + n - Avoided.n_words] = avoid;
        return a.progresses.put(a.gpa, words[0 .. 1 + n]);
    }

    /// Whether an alternative has a value that is none of some.
    pub fn canBegin(a: *Alternatives, id: Id, avoid: u32) Error!bool {
        return switch (a.all.items[id].*) {
            .array, .object => avoid == Sets.none or try a.canFinish(try a.start(id, avoid)),
            else => true, // scalars are in the goal
        };
    }

    /// What an array or object must not be.
    pub fn avoidedOf(a: *const Alternatives, progress: u32) Avoided {
        const is_watched = switch (a.alternativeOf(progress).*) {
            .array => |*plan| plan.is_watched,
            .object => |*plan| plan.is_watched,
            else => unreachable,
        };
        if (!is_watched) return .{};
        const words = a.progresses.get(progress);
        const set, const n, const key = words[words.len - Avoided.n_words ..][0..3].*;
        return .{ .set = set, .n = n, .key = key };
    }

    /// The same progress where nothing must be avoided.
    pub fn free(a: *Alternatives, progress: u32) Allocator.Error!u32 {
        if (a.avoidedOf(progress).set == Sets.none) return progress;
        const words = try a.gpa.dupe(u32, a.progresses.get(progress));
        defer a.gpa.free(words);
        words[words.len - Avoided.n_words ..][0..Avoided.n_words].* = (Avoided{}).words();
        return a.progresses.put(a.gpa, words);
    }

    /// Whether the values of items or members are asked for.
    pub fn asksForValues(a: *const Alternatives, progress: u32) bool {
        return switch (a.alternativeOf(progress).*) {
            .array => |*plan| plan.asksForValues(),
            .object => |*plan| plan.is_watched,
            else => unreachable,
        };
    }

    /// Whether the array or object may end.
    pub fn accepts(a: *Alternatives, progress: u32) Error!bool {
        const can = switch (a.alternativeOf(progress).*) {
            .array => |*plan| a.acceptsArray(plan, progress),
            .object => |*plan| try a.acceptsObject(plan, progress),
            else => unreachable,
        };
        return can and !try unique.isAvoided(a, progress);
    }

    /// Whether an array or object that has come so far can be completed.
    pub fn canFinish(a: *Alternatives, progress: u32) Error!bool {
        const known = a.finishable.get(progress);
        if (known != .unknown) return known == .yes;
        const busy_before = a.met_busy;
        a.met_busy = false;
        errdefer a.met_busy = busy_before;
        const avoids = a.avoidedOf(progress).set != Sets.none;
        const can = if (avoids) try unique.canBeOther(a, progress) else switch (a.alternativeOf(progress).*) {
            .array => |*plan| try a.canFinishArray(plan, progress),
            .object => |*plan| try a.canFinishObject(plan, progress),
            else => unreachable,
        };
        if (can or !a.met_busy) try a.finishable.put(a.gpa, progress, .of(can));
        a.met_busy = busy_before or (a.met_busy and !can);
        return can;
    }

    // ---- Making them

    /// Not inline: it has a large frame, and does not look at goals within each other.
    noinline fn make(a: *Alternatives, from: *const Conjunction, value: ?ValueId) Error!?Alternative {
        const arena = a.arena.allocator();
        switch (from.class) {
            .null => return a.listedOf(from, &.{"null"}),
            .boolean => return a.listedOf(from, &.{ "false", "true" }),
            .number, .string => return a.scalarOf(from, value),
            .array => {
                const equal = if (value) |known| try a.equalItems(known) else null;
                return .{ .array = try ArrayPlan.init(arena, a.schema, from, equal) orelse return null };
            },
            .object => {
                var plan: ObjectPlan = try .init(arena, a.schema, from);
                if (value) |known| try a.makeEqual(&plan, known);
                return .{ .object = plan };
            },
        }
    }

    fn only(a: *Alternatives, value: ValueId) Allocator.Error!u32 {
        return a.sets.with(Sets.none, value);
    }

    fn equalItems(a: *Alternatives, value: ValueId) Error![]const u32 {
        const items = try a.arena.allocator().alloc(u32, a.values.count(value, .array).?);
        for (items, 0..) |*item, i| item.* = try a.only(a.values.itemOf(value, @intCast(i)).?);
        return items;
    }

    fn makeEqual(a: *Alternatives, plan: *ObjectPlan, value: ValueId) Error!void {
        const members = try a.arena.allocator().alloc(ObjectPlan.Equal, a.values.count(value, .object).?);
        for (members, 0..) |*member, i| {
            const spelled = a.values.keyAt(value, @intCast(i));
            const content = try a.contentOf(spelled);
            const key = for (plan.named) |key| {
                if (std.mem.eql(u8, a.schema.keys[key], content)) break key;
            } else @as(u32, @intCast(a.schema.keys.len)) + spelled;
            member.* = .{ .key = key, .set = try a.only(a.values.memberOf(value, spelled).?) };
        }
        plan.equal = members;
        const n: u32 = @intCast(members.len);
        plan.count = .{ .min = @max(plan.count.min, n), .max = @min(plan.count.max, n) };
    }

    fn scalarOf(a: *Alternatives, from: *const Conjunction, value: ?ValueId) Error!?Alternative {
        if (listedIn(a.schema, from)) |range| return a.listedOf(from, a.schema.values[range.from..][0..range.len]);
        if (from.among.len > 0 and value == null) return a.listedOf(from, try a.textsOf(from.among[0]));
        return if (from.class == .number) a.numberOf(from, value) else a.stringOf(from);
    }

    fn listedIn(schema: *const Schema, from: *const Conjunction) ?schema_module.Range {
        for (from.literals) |literal| {
            if (literal.setOf(schema) != null or literal.negated) continue;
            switch (schema.nodes[literal.node]) {
                .listed => |range| return range,
                else => {},
            }
        }
        return null;
    }

    /// Those of the values that everything holds for.
    fn listedOf(a: *Alternatives, from: *const Conjunction, values: []const []const u8) Error!?Alternative {
        const arena = a.arena.allocator();
        var kept: ArrayList([]const u8) = .empty;
        for (values) |value| {
            if (a.watch) |watch| try watch.steps(listed_steps);
            if (spelling.classOf(value) != from.class or !try a.holds(from, value)) continue;
            try kept.append(arena, value);
            const is_integer = from.class == .number and std.mem.findAny(u8, value, ".e") == null;
            // The values are sorted, and none lies between the two spellings.
            if (is_integer and a.schema.form.integer_fraction) try kept.append(arena, try std.mem.concat(arena, u8, &.{ value, ".0" }));
        }
        return if (kept.items.len == 0) null else .{ .listed = kept.items };
    }

    fn holds(a: *Alternatives, from: *const Conjunction, value: []const u8) Error!bool {
        const arena = a.arena.allocator();
        if (from.class == .number) {
            if (if ((try decimalOf(arena, value)).isInteger()) !from.integers else !from.fractions) return false;
        }
        if (from.class == .string) {
            const n = spelling.nCharacters(try spelling.content(arena, value));
            if (n < from.count.min or n > from.count.max) return false;
        }
        for (from.among) |set| if (!a.sets.has(set, try a.text(value))) return false;
        for (from.literals) |literal| {
            if (literal.setOf(a.schema)) |set| {
                if (a.sets.has(set, try a.text(value))) return false;
                continue;
            }
            const does = switch (a.schema.nodes[literal.node]) {
                .listed => |range| spelling.find(a.schema.values[range.from..][0..range.len], value),
                .string_matches => |dfa| object_plan.matches(&a.schema.dfas[dfa].dfa, try spelling.content(arena, value)),
                .number_limit => |i| a.isWithin(try decimalOf(arena, value), a.schema.limits[i]),
                .number_multiple => |i| decimal.isMultiple(try decimalOf(arena, value), a.schema.decimals[i]),
                else => unreachable, // of no scalar
            };
            if (does == literal.negated) return false;
        }
        return true;
    }

    fn isWithin(a: *const Alternatives, value: Decimal, limit: schema_module.Limit) bool {
        const order = decimal.compare(value, a.schema.decimals[limit.decimal]);
        return switch (limit.side) {
            .at_least => order != .lt,
            .above => order == .gt,
            .at_most => order != .gt,
            .below => order == .lt,
        };
    }

    fn numberOf(a: *Alternatives, from: *const Conjunction, value: ?ValueId) Error!?Alternative {
        const arena = a.arena.allocator();
        var spec: number_spec.Spec = .{
            .integers = from.integers,
            .fractions = from.fractions,
            .integer_fraction = a.schema.form.integer_fraction,
        };
        var multiples: ArrayList(Decimal) = .empty;
        var not_multiples: ArrayList(Decimal) = .empty;
        var excluded: ArrayList(Decimal) = .empty;
        var came: ArrayList(Decimal) = .empty;
        for (from.literals) |literal| if (literal.setOf(a.schema)) |set| {
            spec.is_plain = true;
            for (try a.textsOf(set)) |one| {
                if (spelling.classOf(one) == .number) try came.append(arena, try decimalOf(arena, one));
            }
        } else switch (a.schema.nodes[literal.node]) {
            .number_limit => |i| {
                const limit = a.schema.limits[i];
                const least_or_most = a.schema.decimals[limit.decimal];
                const is_least = limit.side == .at_least or limit.side == .above;
                const is_strict = limit.side == .above or limit.side == .below;
                // Not at least x is below x.
                const bound: number_spec.Bound = .{ .decimal = least_or_most, .strict = is_strict != literal.negated };
                if (is_least != literal.negated) spec.atLeast(bound) else spec.atMost(bound);
            },
            .number_multiple => |i| try (if (literal.negated) &not_multiples else &multiples).append(arena, a.schema.decimals[i]),
            .listed => |range| for (a.schema.values[range.from..][0..range.len]) |one| {
                if (spelling.classOf(one) == .number) try excluded.append(arena, try decimalOf(arena, one));
            },
            else => unreachable, // of no number
        };
        if (value) |only_one| {
            const bound: number_spec.Bound = .{ .decimal = try decimalOf(arena, a.texts.list.items[only_one]), .strict = false };
            spec.atLeast(bound);
            spec.atMost(bound);
        }
        spec.multiples = multiples.items;
        spec.not_multiples = not_multiples.items;
        const n_excluded = excluded.items.len;
        try excluded.appendSlice(arena, came.items);
        spec.excluded = excluded.items;
        if (a.schema.form.numbers == .any) return a.numbersOf(spec);
        if (try a.numbersOf(spec.toShort())) |short| return short;
        // Longer ones are allowed where the schema leaves no others, not where all others came.
        var whole = spec;
        whole.excluded = excluded.items[0..n_excluded];
        if (came.items.len > 0) if (try a.numbersOf(whole.toShort())) |short| {
            short.number.deinit();
            return null;
        };
        return a.numbersOf(spec);
    }

    fn numbersOf(a: *Alternatives, spec: number_spec.Spec) Error!?Alternative {
        const numbers = try a.arena.allocator().create(Numbers);
        numbers.* = try .init(a.gpa, spec);
        if (!numbers.isEmpty()) return .{ .number = numbers };
        numbers.deinit();
        return null;
    }

    /// The scalars of a set, or the keys, ascending.
    fn textsOf(a: *Alternatives, set: u32) Error![]const []const u8 {
        const arena = a.arena.allocator();
        var numbers: ArrayList(u32) = .empty;
        try a.sets.list(arena, set, &numbers);
        var found: ArrayList([]const u8) = .empty;
        for (numbers.items) |number| if (Values.isScalar(number)) try found.append(arena, a.texts.list.items[number]);
        std.sort.heap([]const u8, found.items, {}, isTextBefore);
        return found.items;
    }

    fn isTextBefore(_: void, x: []const u8, y: []const u8) bool {
        return std.mem.lessThan(u8, x, y);
    }

    fn stringOf(a: *Alternatives, from: *const Conjunction) Error!?Alternative {
        return if (try a.strings(from, &.{}, &.{}, &.{})) |one| .{ .string = one } else null;
    }

    /// The strings of an alternative that match and do not match some patterns more, and are none of `excluded`;
    /// null if there is none.
    fn strings(
        a: *Alternatives,
        from: *const Conjunction,
        matched: []const u32,
        unmatched: []const u32,
        not: []const []const u8,
    ) Error!?*Strings {
        const arena = a.arena.allocator();
        var matches: ArrayList(*const Dfa) = .empty;
        var mismatches: ArrayList(*const Dfa) = .empty;
        var excluded: ArrayList([]const u8) = .empty;
        for (matched) |dfa| try matches.append(arena, &a.schema.dfas[dfa].dfa);
        for (unmatched) |dfa| try mismatches.append(arena, &a.schema.dfas[dfa].dfa);
        try excluded.appendSlice(arena, not);
        var is_item = false;
        var listed: ?[]const []const u8 = if (from.among.len > 0) try a.textsOf(from.among[0]) else null;
        for (from.literals) |literal| if (literal.setOf(a.schema)) |set| {
            is_item = true;
            for (try a.textsOf(set)) |one| {
                if (spelling.classOf(one) == .string) try excluded.append(arena, try spelling.content(arena, one));
            }
        } else switch (a.schema.nodes[literal.node]) {
            .string_matches => |i| try (if (literal.negated) &mismatches else &matches).append(arena, &a.schema.dfas[i].dfa),
            .listed => |range| if (!literal.negated) {
                listed = a.schema.values[range.from..][0..range.len];
            } else for (a.schema.values[range.from..][0..range.len]) |value| {
                if (spelling.classOf(value) == .string) try excluded.append(arena, try spelling.content(arena, value));
            },
            else => unreachable,
        };
        const one = try arena.create(Strings);
        one.* = try .init(a.automata.gpa, a.automata, if (listed) |values| .{
            .listed = try a.listedStrings(from, values, matches.items, mismatches.items, not),
        } else .{
            .length = from.count,
            .matches = matches.items,
            .mismatches = mismatches.items,
            .excluded = excluded.items,
            .as_key = not.len > 0 or is_item,
            .as_item = is_item,
        }, a.watch);
        errdefer one.deinit();
        if (!try one.isEmpty()) return one;
        one.deinit();
        return null;
    }

    /// Of the watch, for each value.
    const listed_steps = 8;

    /// The content of those values that everything holds for.
    fn listedStrings(
        a: *Alternatives,
        from: *const Conjunction,
        values: []const []const u8,
        matches: []const *const Dfa,
        mismatches: []const *const Dfa,
        not: []const []const u8,
    ) Error![]const []const u8 {
        const arena = a.arena.allocator();
        var kept: ArrayList([]const u8) = .empty;
        next: for (values) |value| {
            if (a.watch) |watch| try watch.steps(listed_steps);
            if (spelling.classOf(value) != .string or !try a.holds(from, value)) continue;
            const content = try spelling.content(arena, value);
            for (matches) |dfa| if (!object_plan.matches(dfa, content)) continue :next;
            for (mismatches) |dfa| if (object_plan.matches(dfa, content)) continue :next;
            for (not) |one| if (std.mem.eql(u8, one, content)) continue :next;
            try kept.append(arena, content);
        }
        return kept.items;
    }

    fn isPossible(a: *Alternatives, id: Id) Error!bool {
        switch (a.all.items[id].*) {
            .listed, .number, .string => return true, // else they were not made
            .array => {},
            .object => |*plan| if (!try a.prepareObject(plan)) return false,
        }
        return a.canFinish(try a.start(id, Sets.none));
    }

    // ---- Arrays

    pub const Next = plan_module.Next;

    /// The ways in which the array can continue with an item, so that it can be completed.
    pub fn addItems(a: *Alternatives, plan: *const ArrayPlan, progress: u32, gpa: Allocator, forks: *ArrayList(Next)) Error!void {
        if (plan.asksForValues()) return forks.appendSlice(gpa, try a.otherItems(plan, progress));
        for (0..plan.nOptions()) |options| {
            const next = try a.anyItem(plan, progress, @intCast(options)) orelse continue;
            if (try a.canFinish(next.progress)) try forks.append(gpa, next);
        }
    }

    /// The same where values are asked for, found once. Lent.
    pub fn otherItems(a: *Alternatives, plan: *const ArrayPlan, progress: u32) Error![]const Next {
        if (a.items.get(progress)) |found| return a.forks.items[found];
        const outer = a.met_busy;
        a.met_busy = false;
        errdefer a.met_busy = outer;
        var found: ArrayList(Next) = .empty;
        for (0..plan.nOptions()) |options| {
            const next = try a.anyItem(plan, progress, @intCast(options)) orelse continue;
            if (repeats.mustStill(a, progress)) {
                try repeats.addItems(a, plan, progress, next, &found);
            } else if (try a.canFinish(try a.free(next.progress))) try a.addLimited(next, &found);
        }
        if (!a.met_busy and a.items.get(progress) == null) try a.items.putItem(a.gpa, progress, []const Next, &a.forks, found.items);
        a.met_busy = a.met_busy or outer;
        return found.items;
    }

    /// What may come next, with what its value must not be; the list is of the arena.
    pub fn addLimited(a: *Alternatives, next: Next, found: *ArrayList(Next)) Error!void {
        const limited = try unique.limit(a, next.goal, next.progress) orelse return;
        try found.append(a.arena.allocator(), .{ .progress = next.progress, .goal = limited.goal, .avoid = limited.avoid });
    }

    /// The next item, whatever comes after it and whatever its value must not be.
    pub fn anyItem(a: *Alternatives, plan: *const ArrayPlan, progress: u32, options: u32) Error!?Next {
        var scratch: Arena = .init(a.gpa);
        defer scratch.deinit();
        var literals: ArrayList(Literal) = .empty;
        const words = try scratch.allocator().dupe(u32, a.progresses.get(progress));
        const index = words[1];
        if (!plan.move(words[1..], options)) return null;
        try plan.addItem(scratch.allocator(), a.schema, index, options, &literals);
        const goal = try a.goals.goal(literals.items);
        if (!try a.isSatisfiable(goal)) return null;
        return .{ .progress = try a.progresses.put(a.gpa, words), .goal = goal };
    }

    fn acceptsArray(a: *const Alternatives, plan: *const ArrayPlan, progress: u32) bool {
        return plan.accepts(a.progresses.get(progress)[1..]);
    }

    /// The progress after an item or a member of which the value is known now, from that of its `Next`. Null if it may
    /// not have it.
    pub fn behindValue(a: *Alternatives, progress: u32, value: ValueId) Error!?u32 {
        return unique.behindValue(a, progress, value);
    }

    /// The value of a scalar with this text: of a string what stands between its quotes.
    pub fn scalar(a: *Alternatives, number: u32, is_string: bool) Allocator.Error!ValueId {
        const bytes = a.texts.list.items[number];
        if (!is_string) return a.text(unique.canonicalNumber(bytes));
        try a.remember(number);
        const in_quotes = try std.mem.concat(a.gpa, u8, &.{ "\"", bytes, "\"" });
        defer a.gpa.free(in_quotes);
        return a.text(in_quotes);
    }

    pub fn remember(a: *Alternatives, number: u32) Allocator.Error!void {
        if (a.is_trying or a.is_remembered.get(number) != null) return;
        try a.is_remembered.putItem(a.gpa, number, u32, &a.remembered, number);
    }

    fn canFinishArray(a: *Alternatives, plan: *const ArrayPlan, progress: u32) Error!bool {
        if (plan.is_unique) return unique.canFinish(a, plan, progress);
        if (repeats.mustStill(a, progress)) return repeats.canFinish(a, plan, progress);
        // Breadth first over what progress there is; long arrays of like items continue with a count alone.
        var seen: NumberMap = .{};
        defer seen.deinit(a.gpa);
        var todo: ArrayList(u32) = .empty;
        defer todo.deinit(a.gpa);
        try seen.putItem(a.gpa, progress, u32, &todo, progress);
        var i: usize = 0;
        while (i < todo.items.len) : (i += 1) {
            const at = todo.items[i];
            if (a.acceptsArray(plan, at)) return true;
            if (try a.canRepeat(plan, at)) |can| return can;
            if (todo.items.len > search_max) return error.TooLarge;
            for (0..plan.nOptions()) |options| {
                const next = try a.anyItem(plan, at, @intCast(options)) orelse continue;
                if (seen.get(next.progress) == null) try seen.putItem(a.gpa, next.progress, u32, &todo, next.progress);
            }
        }
        return false;
    }

    /// Where only the count is missing and all items have one goal: whether it is satisfiable.
    fn canRepeat(a: *Alternatives, plan: *const ArrayPlan, progress: u32) Error!?bool {
        if (plan.nOptions() > 1 or a.progresses.get(progress)[1] < plan.n_prefix) return null;
        return try a.anyItem(plan, progress, 0) != null;
    }

    // ---- Objects

    /// False if something that is required cannot come.
    fn prepareObject(a: *Alternatives, plan: *ObjectPlan) Error!bool {
        const arena = a.arena.allocator();
        var known: ArrayList(Known) = .empty;
        for (plan.named) |key| {
            const one = try a.knownKey(plan, key);
            if (one) |it| try known.append(arena, it) else if (plan.isRequired(key)) return false;
        }
        plan.extras = if (plan.equal) |members| try a.equalExtras(plan, members) orelse return false else try a.extraKeys(plan);
        plan.n_extra_keys = try a.countExtraKeys(plan, &known);
        try plan.setKnown(arena, known.items, a.schema.form.order);
        if (plan.conditions.len > 0) plan.laid = try layout.make(a, plan);
        return true;
    }

    fn knownKey(a: *Alternatives, plan: *const ObjectPlan, key: u32) Error!?Known {
        if (plan.isForbidden(key)) return null;
        const n_keys = a.schema.keys.len;
        const content = if (key < n_keys) a.schema.keys[key] else try a.contentOf(@intCast(key - n_keys));
        for (plan.names) |node| {
            if (!try a.isNamed(a.schema.nodes[node].object_names, content, false)) return null;
        }
        var known: Known = .{
            .key = key,
            .matched = try plan.matchedBy(a.arena.allocator(), a.schema, content),
            .goal = undefined,
            .spelled = (try spelling.quoted(a.arena.allocator(), content))[1..],
            .is_required = plan.isRequired(key),
            .possible = 0,
            .certain = 0,
        };
        for (plan.exceptions, 0..) |node, i| {
            const bit = @as(u32, 1) << @intCast(i);
            switch (a.schema.nodes[node]) {
                .object_names => |names| if (try a.isNamed(names, content, true)) {
                    known.certain |= bit;
                },
                else => known.possible |= bit,
            }
        }
        // Without exceptions it must be possible: these ask for more.
        known.goal = try a.memberGoal(plan, key, known.matched, 0, 0) orelse return null;
        return known;
    }

    /// The keys of the value that it is which the plan does not name; null if one of them cannot come.
    fn equalExtras(a: *Alternatives, plan: *const ObjectPlan, members: []const ObjectPlan.Equal) Error!?[]const Extra {
        const arena = a.arena.allocator();
        var extras: ArrayList(Extra) = .empty;
        for (members) |member| {
            if (member.key < a.schema.keys.len) continue;
            const known = try a.knownKey(plan, member.key) orelse return null;
            const quoted = try std.mem.concat(arena, u8, &.{ "\"", known.spelled });
            const names = try arena.create(Conjunction);
            names.* = .{ .class = .string, .among = try arena.dupe(u32, &.{try a.only(try a.text(quoted))}) };
            try extras.append(arena, .{
                .key = member.key,
                .matched = known.matched,
                .goal = known.goal,
                .names = names,
                .unmatched = &.{}, // there is one key alone
                .possible = known.possible,
                .certain = known.certain,
            });
        }
        return extras.items;
    }

    /// Whether a key satisfies a node, or its negation.
    fn isNamed(a: *Alternatives, node: schema_module.NodeId, content: []const u8, negated: bool) Error!bool {
        var literals = [_]Literal{.{ .node = @intCast(node), .negated = negated }};
        const goal = try a.goals.goal(&literals);
        const spelled = try spelling.quoted(a.arena.allocator(), content);
        for (try a.goals.expand(goal, .string, a.watch)) |*one| if (try a.holds(one, spelled)) return true;
        return false;
    }

    /// The goal of a member's value, in one of the ways to be what is chosen; null if nothing satisfies it.
    fn memberGoal(a: *Alternatives, plan: *const ObjectPlan, key: ?u32, matched: []const u32, chosen: u32, way: usize) Error!?GoalId {
        try a.work();
        var scratch: Arena = .init(a.gpa);
        defer scratch.deinit();
        var literals: ArrayList(Literal) = .empty;
        try plan.addValue(scratch.allocator(), a.schema, key, matched, chosen, way, &literals);
        const goal = try a.goals.goal(literals.items);
        return if (try a.isSatisfiable(goal)) goal else null;
    }

    /// The goal of a member's value of which some literals hold besides; null if nothing satisfies it.
    pub fn memberGoalWith(a: *Alternatives, plan: *const ObjectPlan, who: layout.Who, more: []const Literal) Error!?GoalId {
        const key, const matched, const plain = switch (who) {
            .known => |i| .{ plan.known[i].key, plan.known[i].matched, plan.known[i].goal },
            .extra => |i| .{ plan.extras[i].key, plan.extras[i].matched, plan.extras[i].goal },
        };
        if (more.len == 0) return plain;
        try a.work();
        var scratch: Arena = .init(a.gpa);
        defer scratch.deinit();
        var literals: ArrayList(Literal) = .empty;
        try plan.addValue(scratch.allocator(), a.schema, key, matched, 0, 0, &literals);
        try literals.appendSlice(scratch.allocator(), more);
        const goal = try a.goals.goal(literals.items);
        return if (try a.isSatisfiable(goal)) goal else null;
    }

    /// Before a goal is looked for.
    pub fn work(a: *Alternatives) Error!void {
        if (a.work_left == 0) return error.TooLarge;
        a.work_left -= 1;
        if (a.watch) |watch| try watch.steps(64);
    }

    /// Whether some value can be what is chosen.
    fn hasMember(a: *Alternatives, plan: *const ObjectPlan, key: ?u32, matched: []const u32, chosen: u32) Error!bool {
        for (0..plan.nWays(a.schema, key, matched, chosen)) |way| {
            if (try a.memberGoal(plan, key, matched, chosen, way) != null) return true;
        }
        return false;
    }

    fn extraKeys(a: *Alternatives, plan: *const ObjectPlan) Error![]const Extra {
        const arena = a.arena.allocator();
        var extras: ArrayList(Extra) = .empty;
        var n_names: u5 = 0;
        var of_names: u32 = 0;
        for (plan.exceptions, 0..) |node, i| if (a.schema.nodes[node] == .object_names) {
            n_names += 1;
            of_names |= @as(u32, 1) << @intCast(i);
        };
        const classes = try key_classes.find(arena, a.schema, plan.patterns, a.watch);
        var names: u32 = of_names;
        while (true) : (names = (names -% 1) & of_names) {
            var literals: ArrayList(Literal) = .empty;
            for (plan.names) |node| try literals.append(arena, .of(a.schema.nodes[node].object_names));
            for (plan.exceptions, 0..) |node, i| {
                if (of_names >> @intCast(i) & 1 == 0) continue;
                try literals.append(
                    arena,
                    .{ .node = @intCast(a.schema.nodes[node].object_names), .negated = names >> @intCast(i) & 1 != 0 },
                );
            }
            const goal = try a.goals.goal(literals.items);
            for (classes) |class| {
                const value = try a.memberGoal(plan, null, class.matched, 0, 0) orelse continue;
                for (try a.goals.expand(goal, .string, a.watch)) |*one| {
                    const extra: Extra = .{
                        .matched = class.matched,
                        .unmatched = class.unmatched,
                        .goal = value,
                        .names = one,
                        .possible = plan.exceptions_all & ~of_names,
                        .certain = names,
                    };
                    const strings_of = try a.keysOf(plan, extra, &.{}) orelse continue;
                    strings_of.deinit();
                    try extras.append(arena, extra);
                }
            }
            if (names == 0) break;
        }
        return extras.items;
    }

    /// How many different extra keys there are, as far as it matters. Those that are few and may be exceptions are
    /// followed one by one: they become known ones.
    noinline fn countExtraKeys(a: *Alternatives, plan: *ObjectPlan, known: *ArrayList(Known)) Error!u32 {
        if (plan.extras.len == 0) return 0;
        if (plan.count.min == 0 and plan.exceptions.len == 0 and !plan.is_wide) return unbounded;
        const arena = a.arena.allocator();
        var scratch: Arena = .init(a.gpa);
        defer scratch.deinit();
        var few: Texts = .{};
        var extras: ArrayList(Extra) = .empty;
        var is_endless = false;
        var is_many = false;
        var n_few: u32 = 0;
        for (plan.extras) |extra| {
            const strings_of = (try a.keysOf(plan, extra, &.{})).?;
            defer strings_of.deinit();
            const contents = try strings_of.all(scratch.allocator(), extra_keys_max);
            is_endless = is_endless or strings_of.isEndless();
            is_many = is_many or contents == null;
            const may_matter = plan.is_wide or extra.possible | extra.certain != 0;
            if (contents == null or !may_matter) try extras.append(arena, extra);
            for (contents orelse &.{}) |content| {
                const n = few.count();
                if (try few.put(scratch.allocator(), content) < n) continue;
                if (!may_matter) {
                    n_few += 1;
                    continue;
                }
                try known.append(arena, .{
                    .key = extra.key,
                    .matched = extra.matched,
                    .goal = extra.goal,
                    .spelled = (try spelling.quoted(arena, content))[1..],
                    .is_required = false,
                    .possible = extra.possible,
                    .certain = extra.certain,
                });
            }
        }
        plan.extras = extras.items;
        if (!is_many) return n_few;
        return if (plan.count.min > extra_keys_max and !is_endless) error.TooLarge else unbounded;
    }

    /// Extra keys of one kind but those that came; null if there are none.
    fn keysOf(a: *Alternatives, plan: *const ObjectPlan, extra: Extra, came: []const []const u8) Error!?*Strings {
        const arena = a.arena.allocator();
        var excluded: ArrayList([]const u8) = .empty;
        for (plan.named) |key| try excluded.append(arena, a.schema.keys[key]);
        for (came) |key| if (!std.mem.eql(u8, key, no_key)) try excluded.append(arena, try spelling.unescaped(arena, key));
        return a.strings(extra.names, extra.matched, extra.unmatched, excluded.items);
    }

    // ---- Members

    /// The alternative that a progress is of.
    pub fn alternativeOf(a: *const Alternatives, progress: u32) *Alternative {
        return a.all.items[a.progresses.get(progress)[0]];
    }

    pub fn putProgress(a: *Alternatives, plan: *const ObjectPlan, p: Progress) Allocator.Error!u32 {
        const words = [_]u32{ p.alternative, p.next, p.count, p.exceptions, p.came, p.seen } ++ p.avoided.words();
        return a.progresses.put(a.gpa, words[0 .. 1 + plan.nWords()]);
    }

    pub fn objectProgress(a: *const Alternatives, progress: u32) Progress {
        const words = a.progresses.get(progress);
        return .{
            .alternative = words[0],
            .next = words[1],
            .count = words[2],
            .exceptions = words[3],
            .came = words[4],
            .seen = words[5],
            .avoided = a.avoidedOf(progress),
        };
    }

    fn acceptsObject(a: *Alternatives, plan: *const ObjectPlan, progress: u32) Error!bool {
        const at = a.objectProgress(progress);
        if (plan.laid != null and !try outlook.isOpen(a, plan, progress, @intCast(plan.known.len + 1))) return false;
        return at.count >= plan.count.min and (plan.laid != null or at.exceptions == plan.exceptions_all) and
            plan.nRequired(at.next, a.key_sets.get(at.seen)) == 0;
    }

    /// What may come next, where no exception is missing: then only numbers of keys decide.
    const Room = struct {
        plan: *const ObjectPlan,
        at: Progress,
        seen: []const u32,
        /// Required keys that are still to come.
        n_required: u32,
        /// Keys that may still come in place of the ones that are passed over: extra ones, and known ones.
        n_extra: u32,
        n_known: u32,

        /// Lent until a set of keys is added.
        fn of(a: *const Alternatives, plan: *const ObjectPlan, at: Progress) Room {
            const seen = a.key_sets.get(at.seen);
            return .{
                .plan = plan,
                .at = at,
                .seen = seen,
                .n_required = plan.nRequired(at.next, seen),
                .n_extra = if (plan.n_extra_keys == unbounded)
                    unbounded
                else
                    plan.n_extra_keys -| a.sets.count(at.came),
                .n_known = plan.nKnown(at.next, seen),
            };
        }

        /// Whether the object can be completed.
        fn isEnough(r: *const Room) bool {
            return r.fits(0, r.n_required) and r.at.count +| r.n_known +| r.n_extra >= r.plan.count.min;
        }

        /// Whether it can be after a known key.
        fn hasKnown(r: *const Room, known: u32) bool {
            if (!r.plan.isNext(r.at.next, r.seen, known)) return false;
            if (!r.fits(1, r.n_required - @intFromBool(r.plan.known[known].is_required))) return false;
            // Keys in order that are passed over cannot come any more.
            const n_passed = @min(known, r.plan.n_ordered) - @min(r.at.next, known);
            return r.at.count +| (r.n_known - n_passed) +| r.n_extra >= r.plan.count.min;
        }

        /// Whether it can be after an extra key.
        fn hasExtra(r: *const Room) bool {
            if (r.plan.n_required_from[r.at.next] > 0 or r.n_extra == 0 or !r.fits(1, r.n_required)) return false;
            const n_passed = r.plan.n_ordered - r.at.next;
            return r.at.count +| (r.n_known - n_passed) +| r.n_extra >= r.plan.count.min;
        }

        fn fits(r: *const Room, n_more: u32, n_required: u32) bool {
            return r.plan.count.max == unbounded or r.at.count + n_more + n_required <= r.plan.count.max;
        }
    };

    /// Texts of extra keys that came. The caller owns the list.
    pub fn listCame(a: *const Alternatives, gpa: Allocator, progress: u32, texts: *ArrayList(u32)) Allocator.Error!void {
        return a.sets.list(gpa, a.objectProgress(progress).came, texts);
    }

    /// The ways in which the object can continue after a known key, found once. Lent.
    fn knownMembers(a: *Alternatives, plan: *const ObjectPlan, progress: u32, known: u32) Error![]const Next {
        const key = @as(u64, progress) << 32 | known;
        if (a.members.get(key)) |found| return a.forks.items[found];
        var forks: ArrayList(Next) = .empty;
        defer forks.deinit(a.gpa);
        try a.addMembers(plan, progress, .{ .known = known }, a.gpa, &forks);
        const found = try a.arena.allocator().dupe(Next, forks.items);
        if (a.members.get(key) == null) try a.members.putItem(a.gpa, key, []const Next, &a.forks, found);
        return found;
    }

    /// Whether a known key of a range of `by_text` may come next, so that the object can be completed.
    pub fn anyKnown(a: *Alternatives, plan: *const ObjectPlan, progress: u32, low: u32, high: u32) Error!bool {
        if (plan.laid != null and a.avoidedOf(progress).set == Sets.none) {
            const open = try outlook.outlookOf(a, plan, progress);
            for (plan.by_text[low..high]) |known| if (conditions.hasBit(a.key_sets.get(open), known)) return true;
            return false;
        }
        const at = a.objectProgress(progress);
        const room: Room = .of(a, plan, at);
        if (plan.laid == null and at.exceptions == plan.exceptions_all and at.avoided.set == Sets.none) {
            for (plan.by_text[low..high]) |known| if (room.hasKnown(known)) return true;
            return false;
        }
        for (low..high) |i| {
            if ((try a.knownMembers(plan, progress, plan.by_text[i])).len > 0) return true;
        }
        return false;
    }

    /// The automaton of an extra key that may come next; null if it may not. Only its text is still open.
    pub fn extraOpen(a: *Alternatives, plan: *const ObjectPlan, progress: u32, extra: usize) Error!?*Strings {
        const key = @as(u64, progress) << 32 | extra;
        const number = a.open_extras.get(key) orelse found: {
            const found = try a.findExtra(plan, progress, @intCast(extra)) orelse closed;
            try a.open_extras.put(a.gpa, key, found);
            break :found found;
        };
        return if (number == closed) null else a.extra_automata.items[number];
    }

    /// Of `extra_automata`.
    fn findExtra(a: *Alternatives, plan: *const ObjectPlan, progress: u32, extra: u32) Error!?u32 {
        const at = a.objectProgress(progress);
        if (plan.laid != null) {
            if (!try a.anyMember(plan, progress, .{ .extra = .{ .index = extra, .text = try a.text(no_key) } })) return null;
        } else if (at.exceptions == plan.exceptions_all) {
            const room: Room = .of(a, plan, at);
            if (!room.hasExtra()) return null;
            // What is after such a member does not depend on its text. This one is no key's, so that it has not come.
        } else if (!try a.anyMember(plan, progress, .{ .extra = .{ .index = extra, .text = try a.text(no_key) } })) return null;
        // Where there are infinitely many at each place, those that may not come are refused at their end.
        const any = try a.extraWithout(plan, at.alternative, extra, Sets.none);
        if (a.extra_automata.items[any]) |strings_of| if (strings_of.isOpen()) return any;
        return try a.extraWithout(plan, at.alternative, extra, try a.forbiddenKeys(plan, progress, extra));
    }

    /// Of `extra_automata`: that of the extra keys which are not in a set.
    fn extraWithout(a: *Alternatives, plan: *const ObjectPlan, id: Id, extra: u32, set: u32) Error!u32 {
        const place = [_]u32{ id, extra, set };
        if (a.extra_keys.find(&place)) |number| return number;
        try a.extra_automata.ensureUnusedCapacity(a.gpa, 1); // or what is made now would be lost
        const strings_of = try a.keysOf(plan, plan.extras[extra], try a.textsOf(set));
        errdefer if (strings_of) |automaton| automaton.deinit();
        const number = try a.extra_keys.put(a.gpa, &place);
        a.extra_automata.appendAssumeCapacity(strings_of);
        return number;
    }

    /// Extra keys that came, and those with which the object would be one that it must not be.
    fn forbiddenKeys(a: *Alternatives, plan: *const ObjectPlan, progress: u32, extra: u32) Error!u32 {
        const at = a.objectProgress(progress);
        if (at.avoided.set == Sets.none) return at.came;
        var scratch: Arena = .init(a.gpa);
        defer scratch.deinit();
        var set = at.came;
        for (try unique.keysAhead(a, scratch.allocator(), at.avoided)) |key| {
            if (a.sets.has(at.came, key)) continue;
            if (!try a.anyMember(plan, progress, .{ .extra = .{ .index = extra, .text = key } })) set = try a.sets.with(set, key);
        }
        return set;
    }

    fn anyMember(a: *Alternatives, plan: *const ObjectPlan, progress: u32, which: Which) Error!bool {
        var forks: ArrayList(Next) = .empty;
        defer forks.deinit(a.gpa);
        try a.addMembers(plan, progress, which, a.gpa, &forks);
        return forks.items.len > 0;
    }

    /// Whether some member may come.
    pub fn hasNext(a: *Alternatives, plan: *const ObjectPlan, progress: u32) Error!bool {
        if (try a.anyKnown(plan, progress, 0, @intCast(plan.known.len))) return true;
        for (0..plan.extras.len) |extra| if (try a.extraOpen(plan, progress, extra) != null) return true;
        return false;
    }

    // What unique.zig asks of an object

    /// Whether some member must still be an exception, or conditions tell of members.
    pub fn missesException(a: *const Alternatives, plan: *const ObjectPlan, progress: u32) bool {
        return plan.laid != null or a.objectProgress(progress).exceptions != plan.exceptions_all;
    }

    /// Whether a known key can surely still come, where the object can be completed and misses no exception.
    pub fn canCome(a: *const Alternatives, plan: *const ObjectPlan, progress: u32, known: u32) bool {
        const at = a.objectProgress(progress);
        const seen = a.key_sets.get(at.seen);
        const is_left = if (known < plan.n_ordered) known >= at.next else !plan.isIn(seen, known);
        if (!is_left or plan.count.max == unbounded or plan.known[known].is_required) return is_left;
        const room: Room = .of(a, plan, at);
        return room.hasKnown(known);
    }

    /// The progress where all required keys came.
    pub fn behindKnown(a: *Alternatives, plan: *const ObjectPlan, progress: u32) Error!u32 {
        var at = a.objectProgress(progress);
        at.count = plan.saturated(at.count + plan.nRequired(at.next, a.key_sets.get(at.seen)));
        at.next = plan.n_ordered;
        return a.putProgress(plan, at);
    }

    /// As it stands in a text.
    pub fn keyText(a: *Alternatives, known: *const Known) Allocator.Error!u32 {
        return a.text(known.spelled[0 .. known.spelled.len - 1]);
    }

    // ----

    /// The ways in which the object can continue after a member, each with the goal of its value.
    pub fn addMembers(
        a: *Alternatives,
        plan: *const ObjectPlan,
        progress: u32,
        which: Which,
        gpa: Allocator,
        forks: *ArrayList(Next),
    ) Error!void {
        const at = a.objectProgress(progress);
        if (plan.count.max != unbounded and at.count == plan.count.max) return;
        var after = at;
        after.count = plan.saturated(at.count + 1);
        var key: ?u32 = null;
        var matched: []const u32 = undefined;
        var possible: u32 = undefined;
        var plain: GoalId = undefined;
        switch (which) {
            .known => |i| {
                if (!plan.isNext(at.next, a.key_sets.get(at.seen), i)) return;
                const known = &plan.known[i];
                key = known.key;
                matched = known.matched;
                possible = known.possible;
                plain = known.goal;
                if (plan.laid == null) after.exceptions |= known.certain;
                if (i < plan.n_ordered) {
                    after.next = i + 1;
                } else {
                    after.next = plan.n_ordered;
                    after.seen = try a.withKnown(plan, at.seen, i);
                }
            },
            .extra => |extra| {
                const one = &plan.extras[extra.index];
                if (plan.n_required_from[at.next] > 0) return;
                key = one.key;
                matched = one.matched;
                possible = one.possible;
                plain = one.goal;
                if (plan.laid == null) after.exceptions |= one.certain;
                after.next = plan.n_ordered;
                if (a.sets.has(at.came, extra.text)) return;
                after.came = try a.sets.with(at.came, extra.text);
            },
        }
        if (at.avoided.set != Sets.none) {
            const spelled = switch (which) {
                .known => |i| try a.keyText(&plan.known[i]),
                .extra => |extra| extra.text,
            };
            after.avoided = try unique.withKey(a, at.avoided, spelled);
        }
        if (plan.laid != null) {
            const place = switch (which) {
                .known => |i| i,
                .extra => @as(u32, @intCast(plan.known.len)),
            };
            // What must not be avoided may come nevertheless: then it is as if nothing had to be.
            if (!try outlook.isOpen(a, plan, try a.free(progress), place)) return;
            return outlook.addWays(a, plan, after, which, gpa, forks);
        }
        possible &= ~after.exceptions;
        // All subsets of what the member can be an exception to.
        var chosen = possible;
        while (true) : (chosen = (chosen -% 1) & possible) {
            for (0..plan.nWays(a.schema, key, matched, chosen)) |way| {
                const goal = if (chosen == 0) plain else try a.memberGoal(plan, key, matched, chosen, way) orelse continue;
                var then = after;
                then.exceptions |= chosen;
                const number = try a.putProgress(plan, then);
                if (try a.canFinish(try a.free(number))) try a.addFork(plan, number, goal, gpa, forks);
            }
            if (chosen == 0) break;
        }
    }

    pub fn addFork(
        a: *Alternatives,
        plan: *const ObjectPlan,
        number: u32,
        goal: GoalId,
        gpa: Allocator,
        forks: *ArrayList(Next),
    ) Error!void {
        var limited: unique.Limited = .{ .goal = goal };
        if (plan.is_watched) limited = try unique.limit(a, goal, number) orelse return;
        try forks.append(gpa, .{ .progress = number, .goal = limited.goal, .avoid = limited.avoid });
    }

    /// A set of known keys with one more.
    fn withKnown(a: *Alternatives, plan: *const ObjectPlan, seen: u32, known: u32) Allocator.Error!u32 {
        var words: ArrayList(u32) = .empty;
        defer words.deinit(a.gpa);
        try words.appendNTimes(a.gpa, 0, plan.setWords());
        const before = a.key_sets.get(seen);
        @memcpy(words.items[0..before.len], before);
        const bit = known - plan.n_ordered;
        words.items[bit / 32] |= @as(u32, 1) << @intCast(bit % 32);
        return a.key_sets.put(a.gpa, words.items);
    }

    fn canFinishObject(a: *Alternatives, plan: *const ObjectPlan, progress: u32) Error!bool {
        const at = a.objectProgress(progress);
        const room: Room = .of(a, plan, at);
        if (plan.laid != null) {
            if (!room.isEnough()) return false;
            var here = outlook.atOf(a, at);
            here.state = try a.gpa.dupe(u32, here.state); // the sets may move
            defer a.gpa.free(here.state);
            return outlook.canMeetAll(a, plan, &here);
        }
        if (plan.exceptions_all == at.exceptions) return room.isEnough();
        if (!room.fits(0, room.n_required)) return false;
        // Each exception that is missing is some member's. What comes in any order may as well come in this one.
        const missing = plan.exceptions_all & ~at.exceptions;
        return a.canExcept(plan, at, at.next, missing, at.count);
    }

    /// Whether the missing exceptions can still come, and the count be kept, from a known key on that none of
    /// those behind `at` has passed. Found once for each place.
    fn canExcept(a: *Alternatives, plan: *const ObjectPlan, at: Progress, next: u32, missing: u32, count: u32) Error!bool {
        const address: [2]u32 = @bitCast(@as(u64, @intFromPtr(plan)));
        const n_came = a.sets.count(at.came);
        const place = try a.except_places.put(a.gpa, &(address ++ .{ next, missing, count, at.seen, n_came }));
        const known = a.exceptable.get(place);
        if (known != .unknown) return known == .yes;
        if (a.n_excepts == excepts_max) return error.TooLarge;
        a.n_excepts += 1;
        defer a.n_excepts -= 1;
        const outer = a.met_busy;
        a.met_busy = false;
        const can = try a.searchExcept(plan, at, next, missing, count);
        if (can or !a.met_busy) try a.exceptable.put(a.gpa, place, .of(can));
        a.met_busy = outer or (a.met_busy and !can);
        return can;
    }

    fn searchExcept(a: *Alternatives, plan: *const ObjectPlan, at: Progress, first: u32, missing: u32, before: u32) Error!bool {
        var next = first;
        var count = before;
        const limit = plan.count.max;
        var n_required: u32 = 0;
        var n_left: u32 = 0;
        for (plan.known[next..], next..) |known, i| {
            if (i >= plan.n_ordered and plan.isIn(a.key_sets.get(at.seen), @intCast(i))) continue;
            n_required += @intFromBool(known.is_required);
            n_left += 1;
        }
        if (limit != unbounded and count + n_required > limit) return false;
        const room: Room = .of(a, plan, at);
        if (missing == 0) return count +| n_left +| room.n_extra >= plan.count.min;
        // What can be no exception comes only if it must, once there are enough members.
        while (next < plan.known.len and count >= plan.count.min) : (next += 1) {
            const known = &plan.known[next];
            if (next >= plan.n_ordered and plan.isIn(room.seen, next)) continue;
            if (try a.canBeException(plan, known, missing)) break;
            if (!known.is_required) continue;
            if (!try a.hasMember(plan, known.key, known.matched, 0)) return false;
            count = plan.saturated(count + 1);
        }
        if (next == plan.known.len) return a.extrasExcept(plan, missing, count);
        if (next >= plan.n_ordered and plan.isIn(room.seen, next)) return a.canExcept(plan, at, next + 1, missing, count);
        const known = &plan.known[next];
        const matched = known.matched;
        const possible = known.possible & missing;
        var chosen = possible;
        while (true) : (chosen = (chosen -% 1) & possible) {
            const left = missing & ~known.certain & ~chosen;
            const is_left_out = chosen == 0 and !known.is_required;
            if (is_left_out and try a.canExcept(plan, at, next + 1, missing, count)) return true;
            const has_room = limit == unbounded or count < limit;
            if (has_room and try a.hasMember(plan, known.key, matched, chosen) and
                try a.canExcept(plan, at, next + 1, left, plan.saturated(count + 1))) return true;
            if (chosen == 0) return false;
        }
    }

    fn canBeException(a: *Alternatives, plan: *const ObjectPlan, known: *const Known, missing: u32) Error!bool {
        if (known.certain & missing != 0) return true;
        const possible = known.possible & missing;
        var chosen = possible;
        while (chosen != 0) : (chosen = (chosen - 1) & possible) {
            if (try a.hasMember(plan, known.key, known.matched, chosen)) return true;
        }
        return false;
    }

    /// Extra members come one for each exception at most.
    fn extrasExcept(a: *Alternatives, plan: *const ObjectPlan, missing: u32, count: u32) Error!bool {
        if (missing == 0) return true;
        if (plan.count.max != unbounded and count == plan.count.max) return false;
        for (plan.extras) |*extra| {
            const possible = extra.possible & missing;
            var chosen = possible;
            while (true) : (chosen = (chosen -% 1) & possible) {
                const left = missing & ~extra.certain & ~chosen;
                if (left != missing and try a.hasMember(plan, extra.key, extra.matched, chosen) and
                    try a.extrasExcept(plan, left, plan.saturated(count + 1))) return true;
                if (chosen == 0) break;
            }
        }
        return false;
    }

    // ---- Texts of keys

    pub fn text(a: *Alternatives, bytes: []const u8) Allocator.Error!u32 {
        if (a.texts.find(bytes)) |known| return known;
        return a.texts.put(a.gpa, try a.arena.allocator().dupe(u8, bytes));
    }

    /// What a text spells. Lent for the life of the alternatives.
    pub fn contentOf(a: *Alternatives, number: u32) Allocator.Error![]const u8 {
        const spelled = a.texts.list.items[number];
        return if (std.mem.findScalar(u8, spelled, '\\') == null) spelled else spelling.unescaped(a.arena.allocator(), spelled);
    }

    pub fn textAfter(a: *Alternatives, before: u32, bytes: []const u8) Allocator.Error!u32 {
        const longer = try std.mem.concat(a.gpa, u8, &.{ a.texts.list.items[before], bytes });
        defer a.gpa.free(longer);
        return a.text(longer);
    }
};

const Verdict = enum(u8) {
    unknown,
    /// Being looked for.
    busy,
    no,
    yes,

    pub fn of(is: bool) Verdict {
        return if (is) .yes else .no;
    }
};

/// By number, which are dense.
const Verdicts = struct {
    list: ArrayList(Verdict) = .empty,

    fn deinit(v: *Verdicts, gpa: Allocator) void {
        v.list.deinit(gpa);
    }

    pub fn get(v: *const Verdicts, number: u32) Verdict {
        return if (number < v.list.items.len) v.list.items[number] else .unknown;
    }

    pub fn put(v: *Verdicts, gpa: Allocator, number: u32, verdict: Verdict) Allocator.Error!void {
        if (number >= v.list.items.len) try v.list.appendNTimes(gpa, .unknown, number + 1 - v.list.items.len);
        v.list.items[number] = verdict;
    }

    pub fn forget(v: *Verdicts, number: u32) void {
        v.list.items[number] = .unknown;
    }
};

/// The number of a canonical text.
fn decimalOf(arena: Allocator, canonical: []const u8) Error!Decimal {
    return decimal.parse(arena, canonical) catch |e| switch (e) {
        error.OutOfMemory => error.OutOfMemory,
        error.TooLarge => error.TooLarge,
        error.Invalid => unreachable, // it is canonical
    };
}
