//! What an alternative asks of an object, laid out for a thread that runs along it. The keys that it names come
//! in its order, and before all others; or in any order, and then those that came are a set.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const text_sort = @import("../base/text_sort.zig");
const schema_module = @import("schema.zig");
const Schema = schema_module.Schema;
const Bounds = schema_module.Bounds;
const NodeId = schema_module.NodeId;
const unbounded = schema_module.unbounded;
const goals_module = @import("goals.zig");
const GoalId = goals_module.GoalId;
const Literal = goals_module.Literal;
const Conjunction = goals_module.Conjunction;
const plan_module = @import("plan.zig");
const saturation = plan_module.saturation;
const options_max = goals_module.options_max;
const Avoided = plan_module.Avoided;
const Sets = @import("sets.zig").Sets;
const conditions_module = @import("conditions.zig");
const Conditions = conditions_module.Conditions;
const Error = plan_module.Error;
const dfa_module = @import("../language/dfa.zig");
const NumberMap = @import("../base/number_map.zig").NumberMap;
const Order = @import("form.zig").Order;

/// A key that the schema names and that may come.
pub const Known = struct {
    /// Null for one that only patterns and names tell, of which there are few.
    key: ?u32,
    /// Of the patterns of the plan: those that match.
    matched: []const u32,
    /// Of the value, if it is no exception.
    goal: GoalId,
    /// As it stands in the text, without its first quote.
    spelled: []const u8,
    is_required: bool,
    /// Exceptions that a member with this key can be, as bits, and those that it is whatever its value.
    possible: u32,
    certain: u32,
};

/// Keys that the schema does not name, told apart by what applies to their values.
pub const Extra = struct {
    /// Null unless there is one such key alone, of which something is asked.
    key: ?u32 = null,
    /// Of the patterns of the plan: those that match.
    matched: []const u32,
    /// Of the value, if it is no exception.
    goal: GoalId,
    /// What the key must be, beside them.
    names: *const Conjunction,
    /// Of the patterns of the plan: those that must be asked not to match.
    unmatched: []const u32,
    possible: u32,
    certain: u32,
};

pub const ObjectPlan = struct {
    count: Bounds,
    /// `object_members` that hold.
    members: []const NodeId,
    /// `object_names` that hold.
    names: []const NodeId,
    /// `object_members` and `object_names` of which some member is an exception.
    exceptions: []const NodeId,
    /// Formulas that hold besides, and how they are laid out with the known keys: exceptions are among them then, but that
    /// `exceptions` still has the names of which it tells.
    conditions: []const Literal = &.{},
    laid: ?*const Conditions = null,
    /// Some tell of keys that the schema does not name.
    is_wide: bool = false,
    /// So many members matter to conditions.
    n_counted: u32 = 0,
    required: []const u32,
    /// Values of required keys that do not satisfy a node.
    unlike: []const Conjunction.Unlike,
    forbidden: []const u32,
    /// If it is one value: its keys, each with the set that has the value of the member alone. Keys that the plan does not
    /// name have numbers beyond those of the schema.
    equal: ?[]const Equal = null,
    /// Of `Schema.dfas`, different ones.
    patterns: []const u32,
    /// Every key that is named, also those that may not come: an extra one is none of them.
    named: []const u32,
    known: []Known = &.{},
    /// So many of `known` come in this order, before all others: all of them or none.
    n_ordered: u32 = 0,
    /// With contextual lexing among those in order, and one more: required ones from there on, and the place after the
    /// first of them, or after all.
    n_required_from: []const u32 = &.{},
    reachable_from: []const u32 = &.{},
    /// Of the known keys that come in any order: a bit for each required one, and how many.
    required_set: []const u32 = &.{},
    n_required_in_set: u32 = 0,
    /// The known keys in the order of their texts.
    by_text: []const u32 = &.{},
    extras: []const Extra = &.{},
    /// `unbounded` if there are more than matter.
    n_extra_keys: u32 = 0,
    /// Some exceptions are left to extra keys, or to known ones whose values decide.
    exceptions_all: u32,
    is_watched: bool,

    pub const Equal = struct { key: u32, set: u32 };

    pub fn init(arena: Allocator, schema: *const Schema, from: *const Conjunction) Error!ObjectPlan {
        var members: ArrayList(NodeId) = .empty;
        var names: ArrayList(NodeId) = .empty;
        var exceptions: ArrayList(NodeId) = .empty;
        var required: ArrayList(u32) = .empty;
        var forbidden: ArrayList(u32) = .empty;
        for (from.literals) |literal| switch (schema.nodes[literal.node]) {
            .object_members => try (if (literal.negated) &exceptions else &members).append(arena, literal.node),
            .object_names => try (if (literal.negated) &exceptions else &names).append(arena, literal.node),
            .object_has => |key| try (if (literal.negated) &forbidden else &required).append(arena, key),
            else => unreachable, // no other literals are of objects
        };
        for (from.unlike) |one| try required.append(arena, one.key);
        var plan: ObjectPlan = .{
            .count = from.count,
            .members = members.items,
            .names = names.items,
            .exceptions = exceptions.items,
            .required = required.items,
            .unlike = from.unlike,
            .forbidden = forbidden.items,
            .patterns = undefined,
            .named = undefined,
            .exceptions_all = 0,
            .is_watched = from.is_watched,
        };
        if (from.conditions.len > 0 or exceptions.items.len > options_max) {
            try plan.findConditions(arena, schema, from);
        } else plan.exceptions_all = (@as(u32, 1) << @intCast(exceptions.items.len)) - 1;
        try plan.findPatterns(arena, schema);
        try plan.findNamed(arena, schema, from);
        return plan;
    }

    /// Words of a thread's progress: the next key in order, the count, the exceptions that came, the set of
    /// extra keys that came, and that of known keys in any order; and if it is watched what it must not be.
    pub fn nWords(plan: *const ObjectPlan) usize {
        return if (plan.is_watched) n_words_max else n_words_max - Avoided.n_words;
    }

    pub const n_words_max = 5 + Avoided.n_words;

    /// Lays out the known keys.
    pub fn setKnown(plan: *ObjectPlan, arena: Allocator, known: []Known, order: Order) Allocator.Error!void {
        const n_ordered: u32 = if (order == .declared) @intCast(known.len) else 0;
        plan.known = known;
        plan.n_ordered = n_ordered;
        const by_text = try arena.alloc(u32, known.len);
        const texts = try arena.alloc(text_sort.Text, known.len);
        for (texts, known, 0..) |*text, one, place| text.* = .of(one.spelled, place);
        try text_sort.sort(arena, texts);
        for (by_text, texts) |*i, text| i.* = text.place;
        plan.by_text = by_text;

        const n_required_from = try arena.alloc(u32, n_ordered + 1);
        const reachable_from = try arena.alloc(u32, n_ordered + 1);
        n_required_from[n_ordered] = 0;
        reachable_from[n_ordered] = n_ordered;
        var i = n_ordered;
        while (i > 0) {
            i -= 1;
            n_required_from[i] = n_required_from[i + 1] + @intFromBool(known[i].is_required);
            reachable_from[i] = if (known[i].is_required) i + 1 else reachable_from[i + 1];
        }
        plan.n_required_from = n_required_from;
        plan.reachable_from = reachable_from;

        const set = try arena.alloc(u32, plan.setWords());
        @memset(set, 0);
        plan.n_required_in_set = 0;
        for (known[n_ordered..], 0..) |one, bit| if (one.is_required) {
            set[bit / 32] |= @as(u32, 1) << @intCast(bit % 32);
            plan.n_required_in_set += 1;
        };
        plan.required_set = set;
    }

    /// Of a set of the known keys that come in any order.
    pub fn setWords(plan: *const ObjectPlan) usize {
        return (plan.known.len - plan.n_ordered + 31) / 32;
    }

    /// Whether a set has a known key that comes in any order; the empty set may be given without words.
    pub fn isIn(plan: *const ObjectPlan, set: []const u32, known: u32) bool {
        const bit = known - plan.n_ordered;
        return set.len > 0 and set[bit / 32] >> @intCast(bit % 32) & 1 != 0;
    }

    fn findConditions(plan: *ObjectPlan, arena: Allocator, schema: *const Schema, from: *const Conjunction) Error!void {
        var all: ArrayList(Literal) = .empty;
        for (plan.exceptions) |node| try all.append(arena, .no(node));
        for (from.conditions) |condition| try all.append(arena, condition.literal);
        plan.conditions = all.items;
        var atoms: Atoms = .{ .arena = arena, .schema = schema };
        for (plan.conditions) |literal| try atoms.find(literal.node, 0);
        var names: ArrayList(NodeId) = .empty;
        for (atoms.list.items) |node| switch (schema.nodes[node]) {
            .object_names => {
                plan.is_wide = true;
                try names.append(arena, node);
            },
            .object_members => plan.is_wide = plan.is_wide or conditions_module.isWide(schema, node),
            .object_count => |count| {
                if (count.max != unbounded) plan.n_counted = @max(plan.n_counted, count.max + 1);
                plan.n_counted = @max(plan.n_counted, count.min);
            },
            else => {},
        };
        if (names.items.len > options_max) return error.TooLarge;
        plan.exceptions = names.items;
    }

    /// Whether it matters how many members there are.
    pub fn isCounted(plan: *const ObjectPlan) bool {
        return plan.count.min > 0 or plan.count.max != unbounded;
    }

    fn findPatterns(plan: *ObjectPlan, arena: Allocator, schema: *const Schema) Error!void {
        var patterns: ArrayList(u32) = .empty;
        var atoms: Atoms = .{ .arena = arena, .schema = schema };
        for (plan.conditions) |literal| try atoms.find(literal.node, 0);
        for ([_][]const NodeId{ plan.members, plan.exceptions, atoms.list.items }) |nodes| for (nodes) |node| {
            const atom = membersOf(schema, node) orelse continue;
            for (schema.matching[atom.matching.from..][0..atom.matching.len]) |one| {
                if (!has(patterns.items, one.dfa)) try patterns.append(arena, one.dfa);
            }
        };
        plan.patterns = patterns.items;
    }

    fn findNamed(plan: *ObjectPlan, arena: Allocator, schema: *const Schema, from: *const Conjunction) Error!void {
        var keys: Keys = .{ .arena = arena };
        // As they stand in the schema.
        var atoms: Atoms = .{ .arena = arena, .schema = schema };
        var left = from.conditions;
        for (from.literals, 0..) |literal, i| {
            while (left.len > 0 and left[0].behind <= i) : (left = left[1..]) try keys.addFormula(&atoms, left[0].literal.node);
            if (!literal.negated) try keys.addNamed(schema, literal.node);
        }
        for (left) |one| try keys.addFormula(&atoms, one.literal.node);
        for (plan.required) |key| try keys.add(key);
        for (atoms.list.items) |node| switch (schema.nodes[node]) {
            .object_has => |key| try keys.add(key),
            else => {},
        };
        for (plan.conditions) |literal| try keys.addNamed(schema, literal.node);
        for (plan.exceptions) |node| try keys.addNamed(schema, node);
        for (plan.forbidden) |key| try keys.add(key);
        plan.named = keys.list.items;
    }

    /// What formulas assert of an object, in their order, once each.
    const Atoms = struct {
        arena: Allocator,
        schema: *const Schema,
        list: ArrayList(NodeId) = .empty,
        seen: NumberMap = .{},

        fn find(atoms: *Atoms, node: NodeId, depth: u32) Error!void {
            if (depth == conditions_module.depth_max) return error.TooLarge;
            if (atoms.seen.get(node) != null) return;
            try atoms.seen.put(atoms.arena, node, 0);
            switch (atoms.schema.nodes[node]) {
                .all, .any, .one => |range| {
                    for (atoms.schema.children[range.from..][0..range.len]) |child| try atoms.find(child, depth + 1);
                },
                .not => |of| try atoms.find(of, depth + 1),
                .conditional => |of| for ([_]NodeId{ of.when, of.then, of.otherwise }) |child| try atoms.find(child, depth + 1),
                else => try atoms.list.append(atoms.arena, node),
            }
        }
    };

    /// In the order in which they were first met.
    const Keys = struct {
        arena: Allocator,
        list: ArrayList(u32) = .empty,
        /// Those of a list that is too long to look through.
        seen: NumberMap = .{},

        const few = 32;

        fn add(keys: *Keys, key: u32) Error!void {
            if (keys.list.items.len < few) {
                if (!has(keys.list.items, key)) try keys.list.append(keys.arena, key);
                return;
            }
            if (keys.seen.n == 0) for (keys.list.items) |known| try keys.seen.put(keys.arena, known, 0);
            if (keys.seen.get(key) != null) return;
            try keys.seen.put(keys.arena, key, 0);
            try keys.list.append(keys.arena, key);
        }

        fn addFormula(keys: *Keys, atoms: *Atoms, node: NodeId) Error!void {
            const n = atoms.list.items.len;
            try atoms.find(node, 0);
            for (atoms.list.items[n..]) |atom| try keys.addNamed(atoms.schema, atom);
        }

        fn addNamed(keys: *Keys, schema: *const Schema, node: NodeId) Error!void {
            const atom = membersOf(schema, node) orelse return;
            for (schema.members[atom.named.from..][0..atom.named.len]) |member| try keys.add(member.key);
        }
    };

    pub fn isRequired(plan: *const ObjectPlan, key: u32) bool {
        return has(plan.required, key) or plan.equalOf(key) != null;
    }

    pub fn isForbidden(plan: *const ObjectPlan, key: u32) bool {
        return has(plan.forbidden, key) or plan.equal != null and plan.equalOf(key) == null;
    }

    fn equalOf(plan: *const ObjectPlan, key: u32) ?u32 {
        for (plan.equal orelse return null) |one| if (one.key == key) return one.set;
        return null;
    }

    /// Which of the patterns match.
    pub fn matchedBy(plan: *const ObjectPlan, arena: Allocator, schema: *const Schema, content: []const u8) Allocator.Error![]const u32 {
        var matched: ArrayList(u32) = .empty;
        for (plan.patterns) |pattern| {
            if (matches(&schema.dfas[pattern].dfa, content)) try matched.append(arena, pattern);
        }
        return matched.items;
    }

    /// Adds the literals of the value of a member: `key` null for an extra one. Exceptions that are chosen
    /// are those of `object_members`; `way`, below `nWays`, says which of the schemas that apply fails for each.
    pub fn addValue(
        plan: *const ObjectPlan,
        arena: Allocator,
        schema: *const Schema,
        key: ?u32,
        matched: []const u32,
        chosen: u32,
        way: usize,
        literals: *ArrayList(Literal),
    ) Allocator.Error!void {
        for (plan.members) |node| try addOf(arena, schema, node, key, matched, literals);
        for (plan.unlike) |one| if (one.key == key) try literals.append(arena, .no(one.value));
        var left = way;
        for (plan.exceptions, 0..) |node, i| {
            if (chosen >> @intCast(i) & 1 == 0) continue;
            var own: ArrayList(Literal) = .empty;
            try addOf(arena, schema, node, key, matched, &own);
            try literals.append(arena, .no(own.items[left % own.items.len].node));
            left /= own.items.len;
        }
        if (key) |known| if (plan.equalOf(known)) |set| try literals.append(arena, .in(schema, set));
        if (plan.is_watched) try literals.append(arena, .notIn(schema, Sets.none));
    }

    /// In how many ways a member can be all the exceptions that are chosen.
    pub fn nWays(plan: *const ObjectPlan, schema: *const Schema, key: ?u32, matched: []const u32, chosen: u32) usize {
        var n: usize = 1;
        for (plan.exceptions, 0..) |node, i| {
            if (chosen >> @intCast(i) & 1 != 0) n *|= nApplied(schema, node, key, matched);
        }
        return n;
    }

    /// How many nodes of a members assertion apply to a member.
    fn nApplied(schema: *const Schema, node: NodeId, key: ?u32, matched: []const u32) usize {
        const atom = membersOf(schema, node) orelse return 0;
        var n: usize = @intFromBool(named(schema, atom, key) != null);
        for (schema.matching[atom.matching.from..][0..atom.matching.len]) |one| n += @intFromBool(has(matched, one.dfa));
        return @max(n, 1);
    }

    pub fn addOf(
        arena: Allocator,
        schema: *const Schema,
        node: NodeId,
        key: ?u32,
        matched: []const u32,
        literals: *ArrayList(Literal),
    ) Allocator.Error!void {
        const atom = membersOf(schema, node).?;
        var is_covered = false;
        if (named(schema, atom, key)) |value| {
            try literals.append(arena, .of(value));
            is_covered = true;
        }
        for (schema.matching[atom.matching.from..][0..atom.matching.len]) |one| {
            if (!has(matched, one.dfa)) continue;
            try literals.append(arena, .of(one.value));
            is_covered = true;
        }
        if (!is_covered) try literals.append(arena, .of(atom.rest));
    }

    /// The range of `by_text` whose texts begin with those of `[low, high)` and then `byte`, at `depth`.
    pub fn narrow(plan: *const ObjectPlan, low: u32, high: u32, depth: u32, byte: u8) struct { u32, u32 } {
        var from = low;
        while (from < high and plan.byteAt(from, depth) < byte) from += 1;
        var to = from;
        while (to < high and plan.byteAt(to, depth) == byte) to += 1;
        return .{ from, to };
    }

    fn byteAt(plan: *const ObjectPlan, i: u32, depth: u32) u8 {
        return plan.known[plan.by_text[i]].spelled[depth];
    }

    /// Required keys that are still to come: those in order from `next` on, and those that are not in the set.
    pub fn nRequired(plan: *const ObjectPlan, next: u32, set: []const u32) u32 {
        var n = plan.n_required_in_set;
        if (n > 0 and set.len > 0) {
            for (plan.required_set, set) |required, came| n -= @popCount(required & came);
        }
        return n + plan.n_required_from[@min(next, plan.n_ordered)];
    }

    /// Known keys that may still come in some order, if there is room.
    pub fn nKnown(plan: *const ObjectPlan, next: u32, set: []const u32) u32 {
        var n: u32 = @intCast(plan.known.len - @min(next, plan.n_ordered));
        for (set) |came| n -= @popCount(came);
        return n;
    }

    /// Whether a known key may come next, as far as order goes: required ones are not passed over.
    pub fn isNext(plan: *const ObjectPlan, next: u32, set: []const u32, known: u32) bool {
        if (known < plan.n_ordered) return known >= next and known < plan.reachable_from[next];
        return plan.n_required_from[next] == 0 and !plan.isIn(set, known);
    }

    pub fn saturated(plan: *const ObjectPlan, n: u32) u32 {
        return @min(n, @max(saturation(plan.count), plan.n_counted));
    }
};

/// Of an object: the words of a progress.
pub const Progress = struct {
    alternative: u32,
    /// The first of the keys in order that may still come.
    next: u32,
    count: u32,
    exceptions: u32,
    /// Of `sets`: extra keys. Of `key_sets`: known ones in any order.
    came: u32,
    seen: u32,
    avoided: Avoided,
};

/// Which member comes: a known key, or an extra one with its text.
pub const Which = union(enum) { known: u32, extra: struct { index: u32, text: u32 } };

const Atom = @FieldType(schema_module.Node, "object_members");

/// Not inline: vectors make much code of it.
noinline fn has(list: []const u32, wanted: u32) bool {
    return std.mem.findScalar(u32, list, wanted) != null;
}

fn membersOf(schema: *const Schema, node: NodeId) ?Atom {
    return switch (schema.nodes[node]) {
        .object_members => |atom| atom,
        else => null,
    };
}

/// Keys that are met here first have numbers in a row, so that one is looked for from where it would be then.
fn named(schema: *const Schema, atom: Atom, key: ?u32) ?NodeId {
    const wanted = key orelse return null;
    const all = schema.members[atom.named.from..][0..atom.named.len];
    if (all.len == 0) return null;
    const from = @min(wanted -| all[0].key, all.len - 1);
    return valueOf(all[from..], wanted) orelse valueOf(all[0..from], wanted);
}

fn valueOf(members: []const schema_module.Member, wanted: u32) ?NodeId {
    for (members) |member| if (member.key == wanted) return member.value;
    return null;
}

pub fn matches(dfa: *const dfa_module.Dfa, content: []const u8) bool {
    var state: u16 = dfa_module.start;
    for (content) |byte| state = dfa.next(state, byte);
    return dfa.matches[state] != 0;
}
