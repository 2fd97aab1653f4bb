//! Values between tags as rules of a grammar: what is around a value, and the value if it is a string, are terminals;
//! all others are documents (glr/parts.zig), or where the style has it so, rules of more elements.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const message = @import("message");
const StringIndex = @import("engine").string_index.StringIndex;
const engine = @import("engine").schema;
const NodeId = engine.NodeId;
const Types = engine.Types;
const ast = @import("../regex/ast.zig");
const regex = @import("../regex/parse.zig");
const bnf = @import("../bnf.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const Markers = @import("../tags/markers.zig").Markers;
const first_token = @import("engine").tag_symbols.first_token;
const bounded = @import("../cfg/bounded.zig");
const DocumentGrammar = @import("../document_grammar.zig").DocumentGrammar;
const json_schema = @import("../json_schema.zig");
const Read = @import("../schema/compile.zig").Read;
const unbounded = engine.unbounded;
const always = @import("../schema/formula.zig").always;
const Texts = @import("style.zig").Texts;
const symbolsOf = @import("style.zig").symbolsOf;
const strings = @import("strings.zig");
const Strings = strings.Strings;

const Error = Allocator.Error || diagnostic.Error;

const a_line_end: *const ast.Node = &.{ .bytes = "\n" };
/// It may be left out.
const line_end: *const ast.Node = &.{ .repeat = .{ .node = a_line_end, .min = 0, .max = 1 } };
/// The same where elements are within each other, which may be indented.
const indented_line_end: *const ast.Node = &.{ .repeat = .{ .node = &.{ .concat = &.{ a_line_end, indentation } }, .min = 0, .max = 1 } };
const indentation: *const ast.Node = &.{ .repeat = .{ .node = &.{ .bytes = " " }, .min = 0, .max = indentation_max } };
const indentation_max = 32;

/// What stands around a value.
pub const Tag = struct {
    /// For messages.
    name: []const u8,
    before: *const ast.Node,
    /// In what closes it, where the style says so. `id` is the same for the same name.
    in_close: *const ast.Node,
    id: u32,

    /// Of items; others have the number of a key.
    pub const of_items = std.math.maxInt(u32);
    /// Of names that are not listed.
    pub const of_others = of_items - 1;
};

/// A value whose rule is not written yet.
pub const Nested = struct { rule: u16, node: NodeId, is_array: bool, name: []const u8 };

/// A value that is no string; `number` is that of its type in the style.
const Other = struct { number: usize, symbol: bnf.Symbol };

pub const Elements = struct {
    to: *DocumentGrammar,
    arena: Allocator,
    index: *StringIndex,
    read: *Read,
    types: *strings.NodeTypes,
    sets: Strings,
    texts: *const Texts,
    markers: Markers,
    tokens: *const TokenClasses,
    pending: ArrayList(Nested) = .empty,
    /// By node.
    others: NumberMap = .{},
    of_others: ArrayList([]const Other) = .empty,
    /// By node.
    without_length: NumberMap = .{},
    of_without_length: ArrayList(Bounded) = .empty,
    /// Terminals: of strings by node and the types of other values; of what is before a value by name and type; of what
    /// closes values by name.
    strings: NumberMap = .{},
    of_strings: ArrayList(bnf.Symbol) = .empty,
    opened: NumberMap = .{},
    closed: NumberMap = .{},

    /// A rule for every way to write it; null if it has no value. `among` has the types that a reader takes into account.
    pub fn element(e: *Elements, tag: *const Tag, node: NodeId, among: Types) Error!?u16 {
        const types = try e.types.of(node);
        const string = if (types.string) try e.stringOf(tag, node, among) else null;
        const others = try e.othersOf(tag, node, types);
        if (string == null and others.len == 0) return null;
        const rule = try e.to.rule(tag.name);
        if (string) |one| try e.to.produce(rule, &.{ .{ .terminal = try e.open(tag, null) }, one });
        for (others) |other| {
            const opened: bnf.Symbol = .{ .terminal = try e.open(tag, other.number) };
            try e.to.produce(rule, &.{ opened, other.symbol, .{ .terminal = try e.close(tag) } });
        }
        return rule;
    }

    /// Line ends may be left out, and the text of a control token is that token.
    pub fn text(e: *Elements, given: []const u8) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (try symbolsOf(&e.markers, given)) |symbol| try nodes.append(e.arena, if (symbol >= first_token)
            try e.tokens.nodeOf(e.to.ctx, try .one(e.arena, e.markers.ids.items[symbol - first_token]))
        else if (symbol == '\n')
            e.lineEnd()
        else
            try ast.create(e.arena, .{ .bytes = try e.arena.dupe(u8, &.{@intCast(symbol)}) }));
        return ast.concat(e.arena, nodes.items);
    }

    fn lineEnd(e: *const Elements) *const ast.Node {
        return if (e.texts.items == null) line_end else indented_line_end;
    }

    // ---- Tags

    /// `number` is null for strings.
    fn open(e: *Elements, tag: *const Tag, number: ?usize) Error!u16 {
        const other = if (number != null) e.texts.before_other else null;
        const key = @as(u64, tag.id) << 8 | if (other == null) 0 else number.? + 1;
        if (tag.id != Tag.of_others) if (e.opened.get(key)) |known| return @intCast(known);
        const behind = if (other) |given|
            try std.mem.replaceOwned(u8, e.arena, given, Texts.type_place, e.texts.types[number.?].name)
        else
            e.texts.before_string;
        const made = try e.to.terminal(tag.name, try ast.concat(e.arena, &.{ tag.before, try e.text(behind) }));
        if (tag.id != Tag.of_others) try e.opened.put(e.arena, key, made);
        return made;
    }

    /// Of values that are no strings.
    fn close(e: *Elements, tag: *const Tag) Error!u16 {
        const id = if (e.texts.closesByName()) tag.id else 0;
        if (e.closed.get(id)) |known| return @intCast(known);
        const made = try e.to.terminal(e.texts.close, try e.closing(tag, e.texts.close_other orelse e.texts.close));
        try e.closed.put(e.arena, id, made);
        return made;
    }

    fn closing(e: *Elements, tag: *const Tag, given: []const u8) Error!*const ast.Node {
        const parts = std.mem.cut(u8, given, Texts.name_place) orelse return e.text(given);
        return ast.concat(e.arena, &.{ try e.text(parts[0]), tag.in_close, try e.text(parts[1]) });
    }

    // ---- Strings

    /// What a string and what closes it are; null if none can be written.
    fn stringOf(e: *Elements, tag: *const Tag, node: NodeId, among: Types) Error!?bnf.Symbol {
        var others = among;
        others.string = false;
        const key = @as(u64, @as(u8, @bitCast(others))) << 32 | node;
        if (!e.texts.closesByName()) if (e.strings.get(key)) |known| return e.of_strings.items[known];
        const found = e.rawString(tag, node, others) catch |failure| try e.unchecked(tag, others, failure);
        const made = found orelse return null;
        if (!e.texts.closesByName()) try e.strings.putItem(e.arena, key, bnf.Symbol, &e.of_strings, made);
        return made;
    }

    /// With `lenient`, a string whose automaton is too large may be any.
    fn unchecked(e: *Elements, tag: *const Tag, others: Types, failure: Error) Error!?bnf.Symbol {
        const diag = e.to.ctx.diag;
        if (failure != error.Failed or diag.status != .limit) return failure;
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const reason = message.print(&buffer, "the parameter {f}: {s}", .{ quoted(tag.name), diag.message() });
        if (!e.read.compiler.is_lenient) return diag.fail(.limit, "{s}", .{reason});
        try e.read.references.warn("{s}: it is not enforced", .{reason});
        return e.rawString(tag, always, others);
    }

    /// It has not what closes it.
    fn rawString(e: *Elements, tag: *const Tag, node: NodeId, others: Types) Error!?bnf.Symbol {
        const s = &e.sets;
        const letters = try ast.create(e.arena, .{ .bytes = e.texts.not_in_strings orelse e.texts.close });
        const end = try e.closing(tag, e.texts.close);
        var unwanted: ArrayList(*const ast.Node) = .empty;
        try unwanted.append(e.arena, try ast.concat(e.arena, &.{ ast.anything, letters, ast.anything }));
        if (!e.texts.says_which) try e.spellings(others, &unwanted);
        const bounded_values = try e.withoutLength(node);
        if (bounded_values.length.max != unbounded) {
            const values = try s.both(&.{ bounded_values.values, try s.of(e.read.as_it_is) }, unwanted.items);
            if (try e.boundedString(tag, values, end, bounded_values.length)) |made| return made;
        }
        const values = try s.both(&.{ try s.of(node), try s.of(e.read.as_it_is) }, unwanted.items);
        if (strings.isNothing(values)) {
            if (strings.isNothing(try s.both(&.{try s.of(node)}, &.{}))) return null;
            const why = "it would have what closes it, or be read as another value";
            try e.read.references.warn("the parameter {f}: no string of the schema is written: {s}", .{ quoted(tag.name), why });
            return null;
        }
        const written = try ast.alternate(e.arena, try e.waysToWrite(values));
        return .{ .terminal = try e.to.terminal(tag.name, try ast.concat(e.arena, &.{ written, end })) };
    }

    /// A value as it is, or where the style has lines, on lines of its own; then as it is only if it has none around it.
    fn waysToWrite(e: *Elements, values: *const ast.Node) Error![]const *const ast.Node {
        if (!e.texts.has_lines) return e.arena.dupe(*const ast.Node, &.{values});
        const inline_values = try e.sets.both(&.{values}, &.{
            try ast.concat(e.arena, &.{ a_line_end, ast.anything }),
            try ast.concat(e.arena, &.{ ast.anything, a_line_end }),
        });
        return e.arena.dupe(*const ast.Node, &.{ inline_values, try ast.concat(e.arena, &.{ a_line_end, values, a_line_end }) });
    }

    // ---- Strings of bounded length

    const Bounded = struct { values: *const ast.Node, length: engine.Bounds = .{} };

    /// The strings of a node, with bounds of their length apart from the rest, where all of them have these.
    fn withoutLength(e: *Elements, node: NodeId) Error!Bounded {
        if (e.without_length.get(node)) |known| return e.of_without_length.items[known];
        const s = &e.sets;
        try s.depth.enter(e.to.ctx.diag);
        defer s.depth.leave();
        const found = try e.findBounded(node);
        try e.without_length.putItem(e.arena, node, Bounded, &e.of_without_length, found);
        return found;
    }

    fn findBounded(e: *Elements, node: NodeId) Error!Bounded {
        const s = &e.sets;
        const f = s.formula;
        switch (f.nodes.items[node]) {
            .string_length => |bounds| return .{ .values = ast.anything, .length = bounds },
            .all => |range| {
                var length: engine.Bounds = .{};
                var wanted: ArrayList(*const ast.Node) = .empty;
                for (strings.childrenOf(f, range)) |child| {
                    const one = try e.withoutLength(child);
                    length = .{ .min = @max(length.min, one.length.min), .max = @min(length.max, one.length.max) };
                    try wanted.append(e.arena, one.values);
                }
                return .{ .values = try s.both(wanted.items, &.{}), .length = length };
            },
            .any => |range| if (try e.onlyOfStrings(strings.childrenOf(f, range))) |one| return e.withoutLength(one),
            else => {},
        }
        return .{ .values = try s.of(node) };
    }

    /// The one of some nodes that strings may satisfy; null if there are none or several.
    fn onlyOfStrings(e: *Elements, nodes: []const NodeId) Error!?NodeId {
        var only: ?NodeId = null;
        for (nodes) |node| {
            if (!(try e.types.of(node)).string) continue;
            if (only != null) return null;
            only = node;
        }
        return only;
    }

    /// Null if it cannot be counted, or there is none.
    fn boundedString(
        e: *Elements,
        tag: *const Tag,
        values: *const ast.Node,
        end: *const ast.Node,
        length: engine.Bounds,
    ) Error!?bnf.Symbol {
        const ctx = e.to.ctx;
        const length_of_end = bounded.fixedLength(end) orelse return null;
        if (length.max > bounded.characters_max) {
            return ctx.diag.fail(.limit, "maxLength {d} is more than {d}", .{ length.max, bounded.characters_max });
        }
        var found: ArrayList(bnf.BoundedText) = .empty;
        for (try e.waysToWrite(values), 0..) |way, i| {
            const whole = try ast.concat(e.arena, &.{ way, end });
            const more: u32 = length_of_end + 2 * @as(u32, @intCast(i));
            const least = @as(u32, @intCast(length.min)) + more;
            const most = @as(u32, @intCast(length.max)) + more;
            switch (try bounded.textOf(ctx, whole, least, most, "a string of the schema")) {
                .text => |one| try found.append(e.arena, one),
                .no_text => {},
                .uncounted => return null,
            }
        }
        if (found.items.len == 0) return null;
        if (found.items.len == 1) return .{ .terminal = try e.to.boundedTerminal(tag.name, found.items[0]) };
        const rule = try e.to.rule(tag.name);
        for (found.items) |one| try e.to.produce(rule, &.{.{ .terminal = try e.to.boundedTerminal(tag.name, one) }});
        return .{ .rule = rule };
    }

    /// Appends what would be read as a value of one of the types.
    fn spellings(e: *Elements, types: Types, list: *ArrayList(*const ast.Node)) Error!void {
        const nests = e.texts.items != null;
        const all: []const struct { bool, []const u8 } = &.{
            .{ types.null, "null" },
            .{ types.boolean, "true|false" },
            .{ types.integer or types.fraction, "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?" },
            .{ types.array and !nests, "\\[(?s:.*)" },
            .{ types.object and !nests, "\\{(?s:.*)" },
        };
        for (all) |one| if (one[0]) {
            const pattern = try std.mem.concat(e.arena, u8, &.{ "[ \\n\\r\\t]*(", one[1], ")[ \\n\\r\\t]*" });
            try list.append(e.arena, try regex.parse(e.arena, pattern, .{}, null, e.to.ctx.budget, e.to.ctx.diag));
        };
        // One of no elements.
        if (nests and (types.array or types.object)) try list.append(e.arena, indented_line_end);
    }

    // ---- Other values

    fn othersOf(e: *Elements, tag: *const Tag, node: NodeId, types: Types) Error![]const Other {
        if (e.others.get(node)) |known| return e.of_others.items[known];
        var list: ArrayList(Other) = .empty;
        for (e.texts.types, 0..) |one, number| {
            const wanted = types.intersectWith(one.of);
            if (wanted.isEmpty()) continue;
            const symbol: ?bnf.Symbol = if (e.texts.items != null and (wanted.object or wanted.array))
                .{ .rule = try e.nestedRule(tag, node, wanted.array) }
            else
                try e.document(node, types, wanted);
            if (symbol) |is| try list.append(e.arena, .{ .number = number, .symbol = is });
        }
        try e.others.putItem(e.arena, node, []const Other, &e.of_others, list.items);
        return list.items;
    }

    fn nestedRule(e: *Elements, tag: *const Tag, node: NodeId, is_array: bool) Error!u16 {
        const rule = try e.to.rule(tag.name);
        try e.pending.append(e.arena, .{ .rule = rule, .node = node, .is_array = is_array, .name = tag.name });
        return rule;
    }

    /// The documents of a node, which has all of `types`, that are of one of those in `wanted`, if there is any.
    fn document(e: *Elements, node: NodeId, types: Types, wanted: Types) Error!?bnf.Symbol {
        const f = &e.read.compiler.formula;
        const gpa = e.to.gpa;
        const ctx = e.to.ctx;
        var asked: ArrayList(NodeId) = .empty;
        try asked.append(e.arena, node);
        if (wanted != types) try asked.append(e.arena, try f.add(.{ .types = wanted }));
        if (e.read.in_documents != always) try asked.append(e.arena, e.read.in_documents);
        const read = try e.read.schema(gpa, try f.all(asked.items));
        const n_bytes = read.arena.bytes(); // each value has all of the source
        var schema = try json_schema.of(gpa, read, e.index, ctx.diag);
        errdefer schema.deinit(gpa, .owned);
        try ctx.budget.take(n_bytes, "the list of parameters", ctx.diag);
        if (!try json_schema.isSatisfiable(&schema, ctx.budget, ctx.diag)) {
            schema.deinit(gpa, .owned);
            return null;
        }
        const made = try e.to.terminal("a document", ast.empty);
        e.to.terminals.items[made].pattern = try e.to.document(schema);
        return .{ .terminal = made };
    }
};
