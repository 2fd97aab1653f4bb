//! A call's parameters between tags like those of XML: an object of a JSON Schema, of which each member stands between
//! tags of its own, strings as they are and all else as JSON, or in some styles as elements within each other. It is a
//! part of a grammar.

const std = @import("std");
const Allocator = std.mem.Allocator;
const clock = @import("engine").clock;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const quoted = diagnostic.quoted;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const unbounded = engine.unbounded;
const ast = @import("../regex/ast.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const AnyOrder = @import("engine").any_order.AnyOrder;
const Seen = @import("engine").any_order.Seen;
const DocumentGrammar = @import("../document_grammar.zig").DocumentGrammar;
const Read = @import("../schema/compile.zig").Read;
const Options = @import("../schema/compile.zig").Options;
const Elements = @import("elements.zig").Elements;
const Nested = @import("elements.zig").Nested;
const Tag = @import("elements.zig").Tag;
const Shapes = @import("shapes.zig").Shapes;
const Object = @import("shapes.zig").Object;
const Array = @import("shapes.zig").Array;
const NodeTypes = @import("strings.zig").NodeTypes;

const Error = Allocator.Error || diagnostic.Error;

/// Of names that the schema does not list.
const name_character: *const ast.Node = &.{ .class = &.{
    .{ .first = '-', .last = '.' },
    .{ .first = '0', .last = '9' },
    .{ .first = 'A', .last = 'Z' },
    .{ .first = '_', .last = '_' },
    .{ .first = 'a', .last = 'z' },
} };

/// Of arrays whose items are elements: there is a rule for each that is counted.
const counted_items_max = 1024;

/// Adds the lists of parameters of a schema whose options have a style, and returns their rule. `tokens` has those of the
/// style. ELIZA_ERR_GRAMMAR: the schema is wrong, or asks for what a list of parameters cannot show.
pub fn write(
    to: *DocumentGrammar,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: *const Options,
    tokens: *const TokenClasses,
    warnings: *ArrayList([]const u8),
) Error!u16 {
    const ctx = to.ctx;
    var read: Read = undefined;
    const since = clock.nowNs();
    const index = try vocabulary.stringIndex(ctx.diag);
    ctx.budget.leaveOut(since);
    try read.init(to.gpa, ctx.arena, text, options, &index.automata, warnings, ctx.budget, ctx.diag);
    defer read.deinit();
    var types: NodeTypes = .{ .formula = &read.compiler.formula, .diag = ctx.diag };
    var writer: Writer = .{
        .to = to,
        .arena = ctx.arena,
        .shapes = .{ .compiler = &read.compiler, .types = &types },
        .elements = .{
            .to = to,
            .arena = ctx.arena,
            .index = index,
            .read = &read,
            .types = &types,
            .sets = .{
                .arena = ctx.arena,
                .formula = &read.compiler.formula,
                .dfas = &read.dfas,
                .budget = ctx.budget,
                .diag = ctx.diag,
            },
            .texts = options.style.?.texts(),
            .markers = .{ .arena = ctx.arena, .tokens = &vocabulary.tokens },
            .tokens = tokens,
        },
    };
    return writer.write(read.root);
}

const Writer = struct {
    to: *DocumentGrammar,
    arena: Allocator,
    shapes: Shapes,
    elements: Elements,

    /// The rule of the whole lists.
    fn write(w: *Writer, root: NodeId) Error!u16 {
        const objects = try w.shapes.objects(root);
        if (objects.len == 0) return w.to.ctx.diag.fail(.grammar, "at #: parameters must be an object", .{});
        const lists = try w.to.rule("parameters");
        try w.addObjects(lists, objects);
        while (w.elements.pending.pop()) |nested| {
            try w.to.ctx.check();
            try w.addNested(&nested);
        }
        const start = try w.to.rule("parameters");
        try w.to.produce(start, &.{.{ .rule = lists }});
        const end = try w.to.terminal("line end", try w.elements.text("\n"));
        try w.to.produce(start, &.{ .{ .rule = lists }, .{ .terminal = end } });
        return start;
    }

    fn addNested(w: *Writer, nested: *const Nested) Error!void {
        w.shapes.place = try std.fmt.allocPrint(w.arena, "the parameter {f}", .{quoted(nested.name)});
        if (nested.is_array) return w.addArrays(nested, try w.shapes.arrays(nested.node));
        const objects = try w.shapes.objects(nested.node);
        if (w.mayBeMistaken() and (try w.shapes.types.of(nested.node)).array and !try w.areApart(objects)) return;
        try w.addObjects(nested.rule, objects);
    }

    /// Whether a reader that knows no types tells the objects from arrays. If they have no listed members at all, they are not
    /// written.
    fn areApart(w: *Writer, objects: []const Object) Error!bool {
        const items_name = w.elements.texts.items.?.name;
        for (objects) |*object| {
            if (object.members.len == 0) return false;
            for (object.members) |member| {
                if (std.mem.eql(u8, w.shapes.compiler.formula.keys.list.items[member.key], items_name)) break;
            } else if (object.required.len > 0) continue;
            try w.shapes.refuse("an array and an object that may be empty or have a member with an item's name");
        }
        return true;
    }

    // ---- Objects

    fn addObjects(w: *Writer, rule: u16, objects: []const Object) Error!void {
        if (w.mayBeMistaken()) for (objects) |*object| try w.checkMembers(object, objects);
        for (objects) |*object| try w.to.produce(rule, &.{.{ .rule = try w.membersOf(object, objects) }});
    }

    fn checkMembers(w: *Writer, object: *const Object, among: []const Object) Error!void {
        for (object.members) |member| for (among) |*other| {
            const value = other.listed(member.key) orelse continue;
            if (value != member.value) try w.refuseNested(try w.shapes.types.of(member.value));
        };
    }

    /// Whether elements are within each other, and their texts do not tell their types.
    fn mayBeMistaken(w: *const Writer) bool {
        return w.elements.texts.items != null and !w.elements.texts.says_which;
    }

    /// Of alternatives: what is within would have to be told apart, too.
    fn refuseNested(w: *Writer, types: Types) Error!void {
        if (types.object or types.array) try w.shapes.refuse("alternatives with different objects or arrays in one place");
    }

    /// `among` others, of which a reader does not know which it is.
    fn membersOf(w: *Writer, object: *const Object, among: []const Object) Error!u16 {
        const ways = try w.arena.alloc(?u16, object.members.len);
        var names: ArrayList(*const ast.Node) = .empty;
        for (object.members, ways) |member, *way| way.* = try w.namedMember(&names, member.key, member.value, among);
        const other = try w.ruleOf("other parameters", try w.otherMembers(object, &names, among));
        return switch (w.elements.read.options.form.order) {
            .declared => w.inOrder(object, ways, other),
            .any => w.inAnyOrder(object, ways, other),
        };
    }

    /// Adds its name.
    fn namedMember(w: *Writer, names: *ArrayList(*const ast.Node), key: u32, value: NodeId, among: []const Object) Error!?u16 {
        const name = w.shapes.compiler.formula.keys.list.items[key];
        for (name) |byte| if (byte <= ' ' or std.mem.findScalar(u8, w.elements.texts.not_in_names, byte) != null) {
            return w.to.ctx.diag.fail(.grammar, "the parameter {f}: its name cannot stand between tags", .{quoted(name)});
        };
        const node = try ast.create(w.arena, .{ .bytes = name });
        try names.append(w.arena, node);
        if (w.isExcluded(name)) return null;
        var types: Types = .{};
        for (among) |*one| types = types.unionWith(try w.shapes.types.of(one.listed(key) orelse one.rest));
        return w.elements.element(&try w.tag(name, node, key), value, types);
    }

    /// Those that the object does not list: each that another lists, since it has types of its own, and all others.
    fn otherMembers(w: *Writer, object: *const Object, names: *ArrayList(*const ast.Node), among: []const Object) Error![]const u16 {
        const e = &w.elements;
        if ((try w.shapes.types.of(object.rest)).isEmpty()) return &.{};
        if (e.texts.closesByName()) {
            const unwritten = "names that the schema does not list are not written: tags that close would have to repeat them";
            try w.elements.read.references.warn(unwritten, .{});
            return &.{};
        }
        var ways: ArrayList(u16) = .empty;
        var seen: ArrayList(u32) = .empty;
        var types: Types = .{};
        for (among) |*one| {
            types = types.unionWith(try w.shapes.types.of(one.rest));
            for (one.members) |listed| {
                if (object.listed(listed.key) != null or std.mem.findScalar(u32, seen.items, listed.key) != null) continue;
                try seen.append(w.arena, listed.key);
                if (try w.namedMember(names, listed.key, object.rest, among)) |way| try ways.append(w.arena, way);
            }
        }
        const all_names = [_]*const ast.Node{ try ast.repeat(w.arena, name_character, 1, null), try e.sets.of(w.elements.read.as_it_is) };
        const others = try e.sets.both(&all_names, names.items);
        if (try e.element(&try w.tag("other parameters", others, Tag.of_others), object.rest, types)) |way| try ways.append(w.arena, way);
        return ways.items;
    }

    /// One rule for several.
    fn ruleOf(w: *Writer, name: []const u8, ways: []const u16) Error!?u16 {
        if (ways.len < 2) return if (ways.len == 0) null else ways[0];
        const made = try w.to.rule(name);
        for (ways) |way| try w.to.produce(made, &.{.{ .rule = way }});
        return made;
    }

    fn tag(w: *Writer, name: []const u8, node: *const ast.Node, id: u32) Error!Tag {
        const texts = w.elements.texts;
        const before = [_]*const ast.Node{ try w.elements.text(texts.before_name), node, try w.elements.text(texts.after_name) };
        return .{ .name = name, .before = try ast.concat(w.arena, &before), .in_close = node, .id = id };
    }

    fn isExcluded(w: *const Writer, name: []const u8) bool {
        for (w.elements.read.excluded) |one| if (std.mem.find(u8, name, one) != null) return true;
        return false;
    }

    /// A rule for each parameter and those after it, in the order of the schema; the last one is for other names.
    fn inOrder(w: *Writer, object: *const Object, ways: []const ?u16, other: ?u16) Error!u16 {
        const rules = try w.arena.alloc(u16, ways.len + 1);
        for (rules) |*rule| rule.* = try w.to.rule("parameters");
        for (object.members, ways, rules[0..ways.len], rules[1..]) |member, way, rule, next| {
            if (way) |one| try w.to.produce(rule, &.{ .{ .rule = one }, .{ .rule = next } });
            if (!object.isRequired(member.key)) try w.to.produce(rule, &.{.{ .rule = next }});
        }
        const last = rules[ways.len];
        if (other) |one| try w.to.produce(last, &.{ .{ .rule = one }, .{ .rule = last } });
        try w.to.produce(last, &.{});
        return rules[0];
    }

    /// A list with an alternative for each parameter.
    fn inAnyOrder(w: *Writer, object: *const Object, ways: []const ?u16, other: ?u16) Error!u16 {
        if (ways.len > AnyOrder.members_max) {
            return w.to.ctx.diag.fail(.limit, "{d} parameters in any order are more than {d}", .{ ways.len, AnyOrder.members_max });
        }
        var required: Seen = .empty;
        for (object.members, 0..) |member, i| required.setValue(i, object.isRequired(member.key));
        const whole = try w.to.rule("parameters");
        const list = try w.to.rule("parameters");
        if (required.count() == 0) try w.to.produce(whole, &.{});
        if (object.members.len > 0 or other != null) try w.to.produce(whole, &.{.{ .rule = list }});
        for (ways, 0..) |way, i| if (way) |one| try w.addMember(list, one, @intCast(i), required);
        if (other) |one| try w.addMember(list, one, AnyOrder.repeated, required);
        return whole;
    }

    fn addMember(w: *Writer, list: u16, member: u16, number: u8, required: Seen) Error!void {
        w.to.rules.items[member].member = number;
        try w.to.produce(list, &.{ .{ .rule = member }, .{ .rule = list } });
        try w.to.produceLast(list, member, required);
    }

    // ---- Arrays

    fn addArrays(w: *Writer, nested: *const Nested, arrays: []const Array) Error!void {
        const items = w.elements.texts.items.?;
        const tag_of_items: Tag = .{
            .name = nested.name,
            .before = try w.elements.text(items.before),
            .in_close = try ast.create(w.arena, .{ .bytes = items.name }),
            .id = Tag.of_items,
        };
        var types: Types = .{};
        for (arrays) |*array| types = types.unionWith(try w.typesOfItems(array));
        if (w.mayBeMistaken() and arrays.len > 1) try w.refuseNested(types);
        for (arrays) |*array| {
            const among = if (arrays.len == 1) null else types;
            try w.to.produce(nested.rule, &.{.{ .rule = try w.itemsOf(array, &tag_of_items, among) }});
        }
    }

    fn typesOfItems(w: *Writer, array: *const Array) Error!Types {
        var types = try w.shapes.types.of(array.rest);
        for (array.prefix) |node| types = types.unionWith(try w.shapes.types.of(node));
        return types;
    }

    /// A rule for each item that is counted and those after it. `among` is null for the types of the item alone.
    fn itemsOf(w: *Writer, array: *const Array, of: *const Tag, among: ?Types) Error!u16 {
        const length = array.length;
        const is_bounded = length.max != unbounded;
        const n = if (is_bounded) length.max else @max(array.prefix.len, length.min);
        if (n > counted_items_max) return w.to.ctx.diag.fail(
            .limit,
            "the parameter {f}: {d} items that are counted are more than {d}",
            .{ quoted(of.name), n, counted_items_max },
        );
        const rest = try w.item(of, array.rest, among);
        const rules = try w.arena.alloc(u16, n + 1);
        for (rules) |*rule| rule.* = try w.to.rule(of.name);
        for (rules[0..n], rules[1..], 0..) |rule, next, i| {
            const way = if (i < array.prefix.len) try w.item(of, array.prefix[i], among) else rest;
            if (way) |one| try w.to.produce(rule, &.{ .{ .rule = one }, .{ .rule = next } });
            if (i >= length.min) try w.to.produce(rule, &.{});
        }
        if (n >= length.min) try w.to.produce(rules[n], &.{});
        if (!is_bounded) if (rest) |one| try w.to.produce(rules[n], &.{ .{ .rule = rules[n] }, .{ .rule = one } });
        return rules[0];
    }

    fn item(w: *Writer, of: *const Tag, node: NodeId, among: ?Types) Error!?u16 {
        return w.elements.element(of, node, among orelse try w.shapes.types.of(node));
    }
};
