//! A call's parameters between tags like those of XML: an object of a JSON Schema, of which each member stands between
//! tags of its own, strings as they are and all else as JSON. It is a part of a grammar: what is around a value, and the value
//! if it is a string, are terminals, and all other values are documents (glr/parts.zig).

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const message = @import("message");
const StringIndex = @import("engine").string_index.StringIndex;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const ast = @import("../regex/ast.zig");
const regex = @import("../regex/parse.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const Markers = @import("../tags/markers.zig").Markers;
const first_token = @import("engine").tag_symbols.first_token;
const DocumentGrammar = @import("../document_grammar.zig").DocumentGrammar;
const json_schema = @import("../json_schema.zig");
const Read = @import("../schema/compile.zig").Read;
const Options = @import("../schema/compile.zig").Options;
const always = @import("../schema/formula.zig").always;
const Texts = @import("style.zig").Texts;
const symbolsOf = @import("style.zig").symbolsOf;
const strings = @import("strings.zig");
const Strings = strings.Strings;

const Error = Allocator.Error || diagnostic.Error;

/// Of names, besides control characters and white space.
const not_in_names = "<>\"";
/// Of names that the schema does not list.
const name_character: *const ast.Node = &.{ .class = &.{
    .{ .first = '-', .last = '.' },
    .{ .first = '0', .last = '9' },
    .{ .first = 'A', .last = 'Z' },
    .{ .first = '_', .last = '_' },
    .{ .first = 'a', .last = 'z' },
} };

const a_line_end: *const ast.Node = &.{ .bytes = "\n" };
/// How many parameters may come in any order: there is a rule for each set of them.
const any_order_max = 12;

/// It may be left out.
const line_end: *const ast.Node = &.{ .repeat = .{ .node = a_line_end, .min = 0, .max = 1 } };

/// Adds the lists of parameters of a schema whose options have a style, and returns their rule. `tokens` has those of the
/// style. ELIZA_ERR_GRAMMAR: the schema is wrong, or asks for what a list of parameters cannot show.
pub fn write(
    to: *DocumentGrammar,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: *const Options,
    tokens: *const TokenClasses,
    notes: *ArrayList([]const u8),
) Error!u16 {
    const ctx = to.ctx;
    var read: Read = undefined;
    const index = try vocabulary.stringIndex(ctx.diag);
    try read.init(to.gpa, ctx.arena, text, options, &index.automata, notes, ctx.budget, ctx.diag);
    defer read.deinit();
    var list: Parameters = .{ .read = &read };
    try list.collect(read.root);
    var writer: Writer = .{
        .to = to,
        .arena = ctx.arena,
        .index = index,
        .read = &read,
        .texts = options.style.?.texts(),
        .markers = .{ .arena = ctx.arena, .tokens = &vocabulary.tokens },
        .tokens = tokens,
        .budget = ctx.budget,
        .diag = ctx.diag,
    };
    return writer.write(&list);
}

/// What the schema's object consists of.
const Parameters = struct {
    read: *Read,
    members: ?@FieldType(engine.Node, "object_members") = null,
    /// Keys.
    required: ArrayList(u32) = .empty,

    /// Recurses as deep as `allOf` and references are within each other.
    fn collect(p: *Parameters, node: NodeId) Error!void {
        const c = &p.read.compiler;
        switch (c.formula.nodes.items[node]) {
            .all => |range| for (0..range.len) |i| try p.collect(c.formula.children.items[range.from + i]),
            .types => |types| if (!types.object) return p.failEmpty(),
            .never, .listed => return p.failEmpty(),
            .object_has => |key| try p.required.append(c.arena, key),
            .object_members => |members| if (p.members == null and members.matching.len == 0) {
                p.members = members;
            } else try p.refuse("patternProperties, and properties in several schemas, are not served for parameters"),
            .object_count, .object_names => try p.refuse("minProperties, maxProperties and propertyNames are not served for parameters"),
            .any, .one, .not, .conditional => try p.refuse("alternatives and conditions are not served for parameters"),
            else => {}, // says nothing of objects
        }
    }

    fn failEmpty(p: *const Parameters) Error {
        return p.read.compiler.diag.fail(.grammar, "at #: parameters must be an object", .{});
    }

    /// With `lenient` a note.
    fn refuse(p: *Parameters, reason: []const u8) Error!void {
        const c = &p.read.compiler;
        if (!c.is_lenient) return c.diag.fail(.grammar, "at #: {s}", .{reason});
        try c.references.note("at #: {s}: it is not enforced", .{reason});
    }

    fn isRequired(p: *const Parameters, key: u32) bool {
        return std.mem.findScalar(u32, p.required.items, key) != null;
    }

    /// Of other names.
    fn rest(p: *const Parameters) NodeId {
        return if (p.members) |members| members.rest else always;
    }

    /// In the order of the schema; behind them other names that must be there.
    fn all(p: *const Parameters) Error![]const engine.Member {
        const c = &p.read.compiler;
        var list: ArrayList(engine.Member) = .empty;
        if (p.members) |members| try list.appendSlice(c.arena, c.formula.members.items[members.named.from..][0..members.named.len]);
        next: for (p.required.items) |key| {
            for (list.items) |member| if (member.key == key) continue :next;
            try list.append(c.arena, .{ .key = key, .value = p.rest() });
        }
        return list.items;
    }
};

/// Terminals of what a value may be.
const Value = struct {
    /// With what closes it; null if it cannot be one.
    string: ?u16 = null,
    /// One, or where the style names types one for each.
    others: []const Other = &.{},
};

const Other = struct { type_name: []const u8, document: u16 };

/// As styles name those of documents.
const named_types: []const struct { []const u8, Types } = &.{
    .{ "null", .{ .null = true } },
    .{ "boolean", .{ .boolean = true } },
    .{ "number", .number },
    .{ "array", .{ .array = true } },
    .{ "object", .{ .object = true } },
};

const Writer = struct {
    to: *DocumentGrammar,
    arena: Allocator,
    index: *StringIndex,
    read: *Read,
    texts: *const Texts,
    markers: Markers,
    tokens: *const TokenClasses,
    budget: *Budget,
    diag: *Diagnostic,
    /// By node.
    values: NumberMap = .{},
    of_values: ArrayList(Value) = .empty,
    close_other: ?u16 = null,

    /// The rule of the whole lists.
    fn write(w: *Writer, list: *const Parameters) Error!u16 {
        const members = try list.all();
        const ways = try w.arena.alloc(?u16, members.len);
        const names = try w.arena.alloc(*const ast.Node, members.len);
        for (members, names, ways) |member, *node, *way| {
            const name = w.read.compiler.formula.keys.list.items[member.key];
            for (name) |byte| if (byte <= ' ' or std.mem.findScalar(u8, not_in_names, byte) != null) {
                return w.diag.fail(.grammar, "the parameter {f}: its name cannot stand between tags", .{quoted(name)});
            };
            node.* = try ast.create(w.arena, .{ .bytes = name });
            way.* = if (w.isExcluded(name)) null else try w.parameter(name, node.*, member.value);
        }
        const all_names = [_]*const ast.Node{ try ast.repeat(w.arena, name_character, 1, null), try w.sets().of(w.read.as_it_is) };
        const others = try w.sets().both(&all_names, names);
        const other = try w.parameter("other parameters", others, list.rest());
        const lists = switch (w.read.options.form.order) {
            .declared => try w.inOrder(list, members, ways, other),
            .any => try w.inAnyOrder(list, members, ways, other),
        };
        const start = try w.to.rule("parameters");
        try w.to.produce(start, &.{.{ .rule = lists }});
        const end = try w.to.terminal("line end", a_line_end);
        try w.to.produce(start, &.{ .{ .rule = lists }, .{ .terminal = end } });
        return start;
    }

    fn isExcluded(w: *const Writer, name: []const u8) bool {
        for (w.read.excluded) |one| if (std.mem.find(u8, name, one) != null) return true;
        return false;
    }

    /// A rule for each parameter and those behind it, in the order of the schema; the last one is for other names.
    fn inOrder(w: *Writer, list: *const Parameters, members: []const engine.Member, ways: []const ?u16, other: ?u16) Error!u16 {
        const rules = try w.arena.alloc(u16, members.len + 1);
        for (rules) |*rule| rule.* = try w.to.rule("parameters");
        for (members, ways, rules[0..members.len], rules[1..]) |member, way, rule, next| {
            if (way) |one| try w.to.produce(rule, &.{ .{ .rule = one }, .{ .rule = next } });
            if (!list.isRequired(member.key)) try w.to.produce(rule, &.{.{ .rule = next }});
        }
        const last = rules[members.len];
        if (other) |one| try w.to.produce(last, &.{ .{ .rule = one }, .{ .rule = last } });
        try w.to.produce(last, &.{});
        return rules[0];
    }

    /// A rule for each set of the parameters that there were, from the left, so that a parser's stack stays flat.
    fn inAnyOrder(w: *Writer, list: *const Parameters, members: []const engine.Member, ways: []const ?u16, other: ?u16) Error!u16 {
        if (members.len > any_order_max) {
            return w.diag.fail(.limit, "{d} parameters in any order are more than {d}", .{ members.len, any_order_max });
        }
        const Set = std.bit_set.IntegerBitSet(any_order_max);
        const n_sets = @as(usize, 1) << @intCast(members.len);
        const first: u16 = @intCast(w.to.rules.items.len);
        for (0..n_sets) |_| _ = try w.to.rule("parameters");
        var required: Set = .empty;
        for (members, 0..) |member, i| required.setValue(i, list.isRequired(member.key));
        const whole = try w.to.rule("parameters");
        try w.to.produce(first, &.{});
        for (0..n_sets) |number| {
            try w.to.ctx.check();
            const set: Set = .{ .mask = @intCast(number) };
            const rule: u16 = @intCast(first + number);
            for (ways, 0..) |way, i| if (way) |one| if (set.isSet(i)) {
                const before: u16 = @intCast(number & ~(@as(usize, 1) << @intCast(i)));
                try w.to.produce(rule, &.{ .{ .rule = first + before }, .{ .rule = one } });
            };
            if (other) |one| try w.to.produce(rule, &.{ .{ .rule = rule }, .{ .rule = one } });
            if (required.subsetOf(set)) try w.to.produce(whole, &.{.{ .rule = rule }});
        }
        return whole;
    }

    /// A rule for all ways to write it; null if it has no value.
    fn parameter(w: *Writer, name: []const u8, name_node: *const ast.Node, value: NodeId) Error!?u16 {
        const found = try w.valueOf(value, name);
        if (found.string == null and found.others.len == 0) return null;
        const rule = try w.to.rule(name);
        var opened: ?u16 = null;
        if (found.string) |string| {
            opened = try w.open(name, name_node, w.texts.before_string);
            try w.to.produce(rule, &.{ .{ .terminal = opened.? }, .{ .terminal = string } });
        }
        for (found.others) |other| {
            if (opened == null or w.texts.before_other != null) opened = try w.open(name, name_node, try w.beforeOther(other.type_name));
            const close = w.close_other orelse
                try w.to.terminal(w.texts.close, try w.text(w.texts.close_other orelse w.texts.close));
            w.close_other = close;
            try w.to.produce(rule, &.{ .{ .terminal = opened.? }, .{ .terminal = other.document }, .{ .terminal = close } });
        }
        return rule;
    }

    fn beforeOther(w: *const Writer, type_name: []const u8) Error![]const u8 {
        const given = w.texts.before_other orelse return w.texts.before_string;
        return if (w.texts.names_types) std.mem.replaceOwned(u8, w.arena, given, Texts.type_place, type_name) else given;
    }

    fn open(w: *Writer, name: []const u8, name_node: *const ast.Node, before_value: []const u8) Error!u16 {
        const node = try ast.concat(w.arena, &.{ try w.text(w.texts.before_name), name_node, try w.text(before_value) });
        return w.to.terminal(name, node);
    }

    /// Line ends may be left out, and the text of a control token is that token.
    fn text(w: *Writer, given: []const u8) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (try symbolsOf(&w.markers, given)) |symbol| try nodes.append(w.arena, if (symbol >= first_token)
            try w.tokens.nodeOf(w.to.ctx, try .one(w.arena, w.markers.ids.items[symbol - first_token]))
        else if (symbol == '\n')
            line_end
        else
            try ast.create(w.arena, .{ .bytes = try w.arena.dupe(u8, &.{@intCast(symbol)}) }));
        return ast.concat(w.arena, nodes.items);
    }

    // ---- Values

    /// `name` is the parameter's, for messages.
    fn valueOf(w: *Writer, node: NodeId, name: []const u8) Error!Value {
        if (w.values.get(node)) |known| return w.of_values.items[known];
        const types = strings.typesOf(&w.read.compiler.formula, node);
        var others = types;
        others.string = false;
        var value: Value = .{};
        if (types.string) value.string = w.rawString(node, others, name) catch |e| try w.unchecked(others, name, e);
        value.others = try w.documents(node, types);
        try w.values.putItem(w.arena, node, Value, &w.of_values, value);
        return value;
    }

    /// With `lenient`, a string whose automaton is too large may be any.
    fn unchecked(w: *Writer, others: Types, name: []const u8, e: Error) Error!u16 {
        if (e != error.Failed or w.diag.status != .limit) return e;
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const reason = message.print(&buffer, "the parameter {f}: {s}", .{ quoted(name), w.diag.message() });
        if (!w.read.compiler.is_lenient) return w.diag.fail(.limit, "{s}", .{reason});
        try w.read.references.note("{s}: it is not enforced", .{reason});
        return w.rawString(always, others, name);
    }

    /// A string and what closes it, which the string has not.
    fn rawString(w: *Writer, node: NodeId, others: Types, name: []const u8) Error!u16 {
        const s = w.sets();
        const letters = try ast.create(w.arena, .{ .bytes = w.texts.close });
        const close = try w.text(w.texts.close);
        var unwanted: ArrayList(*const ast.Node) = .empty;
        try unwanted.append(w.arena, try ast.concat(w.arena, &.{ ast.anything, letters, ast.anything }));
        if (!w.texts.says_which) try w.spellings(others, &unwanted);
        const values = try s.both(&.{ try s.of(node), try s.of(w.read.as_it_is) }, unwanted.items);
        if (!w.texts.has_lines) return w.to.terminal(name, try ast.concat(w.arena, &.{ values, close }));
        const inline_values = try s.both(&.{values}, &.{
            try ast.concat(w.arena, &.{ a_line_end, ast.anything }),
            try ast.concat(w.arena, &.{ ast.anything, a_line_end }),
        });
        const framed = try ast.concat(w.arena, &.{ a_line_end, values, a_line_end });
        return w.to.terminal(name, try ast.concat(w.arena, &.{ try ast.alternate(w.arena, &.{ framed, inline_values }), close }));
    }

    /// Appends what would be read as a value of one of the types.
    fn spellings(w: *Writer, types: Types, list: *ArrayList(*const ast.Node)) Error!void {
        const all: []const struct { bool, []const u8 } = &.{
            .{ types.null, "null" },
            .{ types.boolean, "true|false" },
            .{ types.integer or types.fraction, "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?" },
            .{ types.array, "\\[(?s:.*)" },
            .{ types.object, "\\{(?s:.*)" },
        };
        for (all) |one| if (one[0]) {
            const pattern = try std.mem.concat(w.arena, u8, &.{ "[ \\n\\r\\t]*(", one[1], ")[ \\n\\r\\t]*" });
            try list.append(w.arena, try regex.parse(w.arena, pattern, .{}, null, w.budget, w.diag));
        };
    }

    fn sets(w: *Writer) Strings {
        const r = w.read;
        return .{ .arena = w.arena, .formula = &r.compiler.formula, .dfas = &r.dfas, .budget = w.budget, .diag = w.diag };
    }

    /// Those that are no strings.
    fn documents(w: *Writer, node: NodeId, types: Types) Error![]const Other {
        var list: ArrayList(Other) = .empty;
        if (w.texts.names_types) {
            for (named_types) |one| try w.addDocument(&list, one[0], node, types, types.intersectWith(one[1]));
        } else {
            var others = types;
            others.string = false;
            try w.addDocument(&list, "", node, types, others);
        }
        return list.items;
    }

    /// The documents of a node, which has all of `types`, that are of one of those in `wanted`, if there is any.
    fn addDocument(w: *Writer, list: *ArrayList(Other), name: []const u8, node: NodeId, types: Types, wanted: Types) Error!void {
        if (wanted == @as(Types, .{})) return;
        try list.ensureUnusedCapacity(w.arena, 1);
        const f = &w.read.compiler.formula;
        var asked: ArrayList(NodeId) = .empty;
        try asked.append(w.arena, node);
        if (wanted != types) try asked.append(w.arena, try f.add(.{ .types = wanted }));
        if (w.read.in_documents != always) try asked.append(w.arena, w.read.in_documents);
        var schema = try json_schema.of(w.to.gpa, try w.read.schema(w.to.gpa, try f.all(asked.items)), w.index, w.diag);
        errdefer schema.deinit(w.to.gpa, .owned);
        if (!try json_schema.isSatisfiable(&schema, w.budget, w.diag)) return schema.deinit(w.to.gpa, .owned);
        const made = try w.to.terminal("a document", ast.empty);
        w.to.terminals.items[made].pattern = try w.to.document(schema);
        list.appendAssumeCapacity(.{ .type_name = name, .document = made });
    }
};
