//! `additional: forbid`: where a schema names members of an object, there are no others.
//!
//! What applies to one value counts together: a schema, and those that it leads to by references, `allOf`, `anyOf`, `oneOf`,
//! `then`, `else` and dependencies. `properties`, `patternProperties` and what is required name members. An object stays
//! open where `additionalProperties` or `unevaluatedProperties` speaks of it, where nothing but `required` names a
//! member, and where `const`, `enum` or `minProperties` asks for members that have no name.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const engine = @import("engine").schema;
const Value = @import("json.zig").Value;
const Keyword = @import("keywords.zig").Keyword;
const subject_module = @import("subject.zig");
const Subject = subject_module.Subject;
const Place = subject_module.Place;
const Closing = subject_module.Closing;
const always = @import("formula.zig").always;

const Error = Allocator.Error || diagnostic.Error;

/// That of a schema within another one. `c` is the Compiler, here and below.
pub fn below(c: anytype, s: *const Subject, keyword: Keyword) Closing {
    if (s.place.closing == .open) return .open;
    return switch (keyword) {
        // What must not hold, or decides what else does, means what the schema says.
        .not, .@"if", .oneOf, .contains, .propertyNames => .open,
        .allOf, .anyOf, .then, .@"else", .dependentSchemas, .dependencies => inPlace(c, s),
        else => .whole,
    };
}

/// That of a schema which applies to the same value.
pub fn inPlace(c: anytype, s: *const Subject) Closing {
    return if (s.place.closing == .whole and !isAlone(c, s)) .part else s.place.closing;
}

/// Whether all names are those of one schema, or of one branch: then these are closed, each by itself.
fn isAlone(c: anytype, s: *const Subject) bool {
    if (s.get(.@"$ref") != null and !c.draftOf(s).hasSiblings()) return true;
    if (!hasNone(s, &others) or !hasNone(s, &naming)) return false;
    if (s.get(.allOf)) |list| if (list.* == .array and list.array.len > 1) return false;
    var n: usize = 0;
    for (applied) |keyword| n += @intFromBool(s.get(keyword) != null);
    return n == 1;
}

/// Whether `properties` and `patternProperties` beside each other name all members.
pub fn isSimple(s: *const Subject) bool {
    if (s.place.closing != .whole or !hasNone(s, &others) or !hasNone(s, &applied)) return false;
    if (s.get(.dependentRequired) != null) return false;
    const required = s.get(.required) orelse return true;
    const properties = s.get(.properties) orelse return false;
    if (required.* != .array or properties.* != .object) return false;
    // Most lists have the order of the members.
    const members = properties.object.members();
    var at: usize = 0;
    for (required.array) |*name| {
        if (name.* != .string) return false;
        at = for (0..members.len) |i| {
            const next = (at + i) % members.len;
            if (std.mem.eql(u8, members[next].key, name.string)) break next + 1;
        } else return false;
    }
    return true;
}

const applied = [_]Keyword{ .@"$ref", .@"$dynamicRef", .@"$recursiveRef", .allOf, .anyOf, .oneOf };
const naming = [_]Keyword{ .properties, .patternProperties, .required, .dependentRequired };
const others = [_]Keyword{
    .@"if",         .dependentSchemas, .dependencies,          .additionalProperties,
    .minProperties, .@"const",         .unevaluatedProperties, .@"enum",
};

fn hasNone(s: *const Subject, keywords: []const Keyword) bool {
    for (keywords) |keyword| if (s.get(keyword) != null) return false;
    return true;
}

/// The members that what applies to one value names.
pub const Names = struct {
    /// Required ones too.
    members: ArrayList(engine.Member) = .empty,
    matching: ArrayList(engine.Matching) = .empty,
    required: ArrayList(engine.Member) = .empty,
    /// Some are named only by schemas that need not hold.
    has_cases: bool = false,
    is_named: bool = false,
    min: u32 = 0,
};

/// How a schema applies.
const Weight = enum {
    certain,
    /// It need not hold.
    possible,
    /// It asks for nothing.
    condition,

    fn lower(weight: Weight, to: Weight) Weight {
        return @fromBackingInt(@max(@backingInt(weight), @backingInt(to)));
    }
};

const Part = struct { schema: *const Value, place: Place, weight: Weight };

/// Null: the object is open.
pub fn namesOf(c: anytype, s: *const Subject) Error!?Names {
    var search: Search(@TypeOf(c)) = .{ .c = c };
    if (!try search.addOwn(s, .certain)) return null;
    var i: usize = 0;
    while (i < search.todo.items.len) : (i += 1) {
        const part = search.todo.items[i];
        if (part.schema.* != .object) continue;
        const object = part.schema.object;
        const place = try c.placeOf(part.place, object);
        const key = @as(u64, place.scope) << 32 | object.serial;
        if (search.seen.get(key) != null) continue;
        try search.seen.put(c.arena, key, 0);
        if (i % 16 == 0) try c.checkBudget();
        var of: Subject = undefined;
        c.setSubject(&of, object, place);
        if (!try search.addOwn(&of, part.weight)) return null;
    }
    const names = search.names;
    if (!names.is_named or names.min > names.members.items.len and names.matching.items.len == 0) return null;
    return names;
}

fn Search(comptime Compiler: type) type {
    return struct {
        const S = @This();

        c: Compiler,
        names: Names = .{},
        todo: ArrayList(Part) = .empty,
        seen: NumberMap = .{},
        /// Keys.
        named: NumberMap = .{},
        asked: NumberMap = .{},

        /// False if the object is open.
        fn addOwn(search: *S, s: *const Subject, weight: Weight) Error!bool {
            const c = search.c;
            for ([_]Keyword{ .@"$ref", .@"$dynamicRef", .@"$recursiveRef" }) |keyword| {
                const target = try c.targetOf(s, keyword) orelse continue;
                const place = try c.targetPlace(target, s.place.scope, .part);
                try search.todo.append(c.arena, .{ .schema = target.schema, .place = place, .weight = weight });
            }
            if (!c.draftOf(s).hasSiblings() and s.get(.@"$ref") != null) return true;
            if (s.get(.additionalProperties) != null or s.get(.unevaluatedProperties) != null) {
                if (weight == .certain) return false;
                search.names.has_cases = true;
            }
            for ([_]Keyword{ .@"const", .@"enum" }) |keyword| if (s.get(keyword)) |value| if (listsObject(value)) return false;
            if (weight != .condition) if (try c.count(s, .minProperties)) |min| {
                search.names.min = @max(search.names.min, min);
            };
            try search.addNames(s, weight);
            const possible = weight.lower(.possible);
            if (s.get(.allOf)) |list| try search.addList(s, list, weight);
            for ([_]Keyword{ .anyOf, .oneOf }) |keyword| if (s.get(keyword)) |list| try search.addList(s, list, possible);
            for ([_]Keyword{ .then, .@"else" }) |keyword| if (s.get(keyword)) |schema| try search.addPart(s, schema, possible);
            if (s.get(.@"if")) |schema| try search.addPart(s, schema, .condition);
            for ([_]Keyword{ .dependentSchemas, .dependencies }) |keyword| for (try c.objectOf(s, keyword)) |*member| {
                if (member.value != .array) try search.addPart(s, &member.value, possible);
            };
            return true;
        }

        fn addNames(search: *S, s: *const Subject, weight: Weight) Error!void {
            const c = search.c;
            const names = &search.names;
            if (s.get(.properties) != null or s.get(.patternProperties) != null) {
                names.is_named = true;
                if (weight != .certain) names.has_cases = true;
            }
            for (try c.objectOf(s, .properties)) |*member| try search.put(&search.named, &names.members, member.key);
            for (try c.objectOf(s, .patternProperties)) |*member| {
                const dfa = try c.patternOf(s, .patternProperties, member.key) orelse continue;
                try names.matching.append(c.arena, .{ .dfa = dfa, .value = always });
            }
            if (weight == .condition) return;
            if (s.get(.required)) |list| try search.addRequired(list);
            for ([_]Keyword{ .dependentRequired, .dependencies }) |keyword| {
                for (try c.objectOf(s, keyword)) |*member| try search.addRequired(&member.value);
            }
        }

        fn addRequired(search: *S, list: *const Value) Error!void {
            if (list.* != .array) return;
            for (list.array) |*name| if (name.* == .string) {
                try search.put(&search.asked, &search.names.required, name.string);
                try search.put(&search.named, &search.names.members, name.string);
            };
        }

        fn addList(search: *S, s: *const Subject, list: *const Value, weight: Weight) Error!void {
            if (list.* == .array) for (list.array) |*schema| try search.addPart(s, schema, weight);
        }

        fn addPart(search: *S, s: *const Subject, schema: *const Value, weight: Weight) Error!void {
            try search.todo.append(search.c.arena, .{ .schema = schema, .place = s.place, .weight = weight });
        }

        fn put(search: *S, known: *NumberMap, to: *ArrayList(engine.Member), name: []const u8) Error!void {
            const c = search.c;
            const key = try c.formula.key(name);
            if (known.get(key) == null) try known.putItem(c.arena, key, engine.Member, to, .{ .key = key, .value = always });
        }
    };
}

fn listsObject(value: *const Value) bool {
    if (value.* == .array) for (value.array) |*one| if (one.* == .object) return true;
    return value.* == .object;
}
