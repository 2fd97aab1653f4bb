//! What a schema says of the members of objects and the items of arrays, as far as tags of their own can show it:
//! alternatives, of which a value is any.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const Compiler = @import("../schema/compiler.zig").Compiler;
const always = @import("../schema/formula.zig").always;
const never = @import("../schema/formula.zig").never;
const NodeTypes = @import("strings.zig").NodeTypes;
const Depth = @import("strings.zig").Depth;

const Error = Allocator.Error || diagnostic.Error;

/// Of one value.
pub const alternatives_max = 64;

pub const Object = struct {
    /// In the order of the schema; after them others that are required.
    members: []const engine.Member,
    /// Keys.
    required: []const u32,
    /// Of other names.
    rest: NodeId,

    pub fn isRequired(object: *const Object, key: u32) bool {
        return std.mem.findScalar(u32, object.required, key) != null;
    }

    /// What a member has to be, if it is listed.
    pub fn listed(object: *const Object, key: u32) ?NodeId {
        for (object.members) |member| if (member.key == key) return member.value;
        return null;
    }
};

pub const Array = struct {
    /// Of the first items.
    prefix: []const NodeId = &.{},
    rest: NodeId = always,
    length: engine.Bounds = .{},
};

/// Reads the nodes of a compiler's formula, which is folded.
pub const Shapes = struct {
    compiler: *Compiler,
    types: *NodeTypes,
    /// Of the value in the schema, for messages.
    place: []const u8 = "#",
    /// By node, and 1 for arrays.
    known: NumberMap = .{},
    of_known: ArrayList([]const Together) = .empty,
    depth: Depth = .{},

    /// Nodes that hold together.
    const Together = []const NodeId;

    const of_names = "minProperties, maxProperties and propertyNames";
    const unsupported = "conditions and oneOf of such values";

    /// None if the value cannot be an object. ELIZA_ERR_GRAMMAR: they are not of members alone, each by its name.
    pub fn objects(s: *Shapes, node: NodeId) Error![]const Object {
        const found = try s.alternatives(node, .{ .object = true });
        const list = try s.compiler.arena.alloc(Object, found.len);
        for (list, found) |*to, nodes| to.* = try s.object(nodes);
        return list;
    }

    /// None if the value cannot be an array. ELIZA_ERR_GRAMMAR: they are not of items alone, each by its place.
    pub fn arrays(s: *Shapes, node: NodeId) Error![]const Array {
        const found = try s.alternatives(node, .{ .array = true });
        const list = try s.compiler.arena.alloc(Array, found.len);
        for (list, found) |*to, nodes| to.* = try s.array(nodes);
        return list;
    }

    fn object(s: *const Shapes, nodes: []const NodeId) Error!Object {
        const c = s.compiler;
        var members: ArrayList(engine.Member) = .empty;
        var required: ArrayList(u32) = .empty;
        var rest: ?NodeId = null;
        var count: engine.Bounds = .{};
        for (nodes) |node| switch (c.formula.nodes.items[node]) {
            .object_has => |key| if (std.mem.findScalar(u32, required.items, key) == null) try required.append(c.arena, key),
            .object_members => |m| if (rest == null and m.matching.len == 0) {
                try members.appendSlice(c.arena, c.formula.members.items[m.named.from..][0..m.named.len]);
                rest = m.rest;
            } else try s.refuse("patternProperties, and properties in several schemas,"),
            .object_count => |b| count = .{ .min = @max(count.min, b.min), .max = @min(count.max, b.max) },
            .object_names => try s.refuse(of_names),
            .one, .not, .conditional => try s.refuse(unsupported),
            else => {}, // says nothing of objects
        };
        next: for (required.items) |key| {
            for (members.items) |member| if (member.key == key) continue :next;
            try members.append(c.arena, .{ .key = key, .value = rest orelse always });
        }
        const found: Object = .{ .members = members.items, .required = required.items, .rest = rest orelse always };
        if (count.max == required.items.len and count.min <= count.max) return s.closed(&found);
        if (count.max != engine.unbounded or count.min > required.items.len) try s.refuse(of_names);
        return found;
    }

    /// The same without what is not required, as a constant has it.
    fn closed(s: *const Shapes, open: *const Object) Error!Object {
        var members: ArrayList(engine.Member) = .empty;
        for (open.members) |member| if (open.isRequired(member.key)) try members.append(s.compiler.arena, member);
        return .{ .members = members.items, .required = open.required, .rest = never };
    }

    fn array(s: *const Shapes, nodes: []const NodeId) Error!Array {
        const f = &s.compiler.formula;
        var found: Array = .{};
        var has_items = false;
        for (nodes) |node| switch (f.nodes.items[node]) {
            .array_length => |b| {
                found.length = .{ .min = @max(found.length.min, b.min), .max = @min(found.length.max, b.max) };
            },
            .array_items => |items| if (!has_items) {
                has_items = true;
                found.prefix = f.children.items[items.prefix.from..][0..items.prefix.len];
                found.rest = items.rest;
            } else try s.refuse("items in several schemas"),
            .array_contains, .array_unique => try s.refuse("contains and uniqueItems"),
            .one, .not, .conditional => try s.refuse(unsupported),
            else => {}, // says nothing of arrays
        };
        return found;
    }

    /// With `lenient` a warning.
    pub fn refuse(s: *const Shapes, keywords: []const u8) Error!void {
        const c = s.compiler;
        if (!c.is_lenient) return c.diag.fail(.grammar, "at {s}: {s} are unsupported for parameters", .{ s.place, keywords });
        try c.references.warn("at {s}: {s} are unsupported for parameters: they are not enforced", .{ s.place, keywords });
    }

    /// Not empty where the types of the node have that of `of`.
    fn alternatives(s: *Shapes, node: NodeId, of: Types) Error![]const Together {
        if ((try s.types.of(node)).intersectWith(of).isEmpty()) return &.{};
        const key = @as(u64, node) << 1 | @intFromBool(of.array);
        if (s.known.get(key)) |known| return s.of_known.items[known];
        try s.depth.enter(s.compiler.diag);
        defer s.depth.leave();
        const arena = s.compiler.arena;
        const found: []const Together = switch (s.compiler.formula.nodes.items[node]) {
            .any => |range| try s.unionOf(range, of),
            .all => |range| try s.product(range, of),
            else => try arena.dupe(Together, &.{try arena.dupe(NodeId, &.{node})}),
        };
        try s.known.putItem(arena, key, []const Together, &s.of_known, found);
        return found;
    }

    fn unionOf(s: *Shapes, range: engine.Range, of: Types) Error![]const Together {
        var list: ArrayList(Together) = .empty;
        for (range.from..range.from + range.len) |place| {
            for (try s.alternatives(s.compiler.formula.children.items[place], of)) |one| try s.add(&list, one, &.{});
        }
        return list.items;
    }

    fn product(s: *Shapes, range: engine.Range, of: Types) Error![]const Together {
        var list: []const Together = &.{&.{}};
        for (range.from..range.from + range.len) |place| {
            var joined: ArrayList(Together) = .empty;
            for (try s.alternatives(s.compiler.formula.children.items[place], of)) |one| {
                for (list) |before| try s.add(&joined, before, one);
            }
            list = joined.items;
        }
        return list;
    }

    fn add(s: *const Shapes, list: *ArrayList(Together), first: Together, second: Together) Error!void {
        const c = s.compiler;
        var nodes: ArrayList(NodeId) = try .initCapacity(c.arena, first.len + second.len);
        nodes.appendSliceAssumeCapacity(first);
        for (second) |node| {
            if (std.mem.findScalar(NodeId, first, node) == null) nodes.appendAssumeCapacity(node);
        }
        for (list.items) |known| if (std.mem.eql(NodeId, known, nodes.items)) return;
        if (list.items.len == alternatives_max) {
            return c.diag.fail(.limit, "at {s}: more than {d} alternatives", .{ s.place, alternatives_max });
        }
        try list.append(c.arena, nodes.items);
    }
};
