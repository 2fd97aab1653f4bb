//! Reads rules in GBNF or EBNF. Groups are kept on a stack of the parser's own, so that no grammar can exhaust
//! the caller's, and the expressions that come out are never deep: every so many levels a group is a rule.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Budget = @import("engine").budget.Budget;
const Diagnostic = diagnostic.Diagnostic;
const message = @import("message");
const grammar = @import("../cfg/grammar.zig");
const Expression = grammar.Expression;
const Attributes = grammar.Attributes;
const quoted = diagnostic.quoted;
const Place = @import("../bnf.zig").Place;
const Characters = @import("characters.zig").Characters;
const Cursor = @import("cursor.zig").Cursor;
const Dialect = @import("characters.zig").Dialect;
const macros = @import("macros.zig");
const ast = @import("../regex/ast.zig");
const Part = @import("../cfg/part.zig").Part;
const Tokens = @import("tokens.zig").Tokens;

const Error = Allocator.Error || diagnostic.Error;

/// How deep groups may be nested.
pub const nesting_max = 1000;
/// Of repetitions with counts, one after the other, of one item.
const repetitions_max = 4;
/// Groups at this depth, and at each multiple of it, become rules.
const depth_of_rules = 64;
/// What a repetition may count to.
pub const count_max = std.math.maxInt(u32) - 1;

/// A rule that was mentioned.
pub const Rule = struct {
    name: []const u8,
    /// Where it was mentioned first.
    mention: Place,
    /// null: it was not defined yet.
    place: ?Place = null,
    expression: Expression = .empty,
    attributes: Attributes = .{},
};

/// An open group, or the rule itself.
const Frame = struct {
    /// Of its parenthesis.
    place: Place,
    at: usize,
    /// Where its items and alternatives begin on the parser's stacks.
    first_item: usize,
    first_alternative: usize,
    kind: enum { rule, group, look_ahead },
};

/// Everything it makes lives in the arena; names lend the text.
pub const Parser = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    dialect: Dialect,
    cursor: *Cursor,
    characters: Characters,
    tokens: Tokens,

    rules: ArrayList(Rule) = .empty,
    /// Of the rules that have one; groups that became rules have none.
    names: Texts = .{},
    /// [name]: its rule.
    rule_of: ArrayList(u32) = .empty,
    /// Each "line:column: ..." without a newline.
    warnings: ArrayList([]const u8) = .empty,

    frames: ArrayList(Frame) = .empty,
    items: ArrayList(Expression) = .empty,
    alternatives: ArrayList(Expression) = .empty,
    /// Where the last token ended.
    last_line: u32 = 0,
    /// Repetitions of the last item so far, if the last token was one.
    n_repetitions: u32 = 0,
    steps: u32 = 0,

    /// Reads the whole text.
    pub fn read(p: *Parser) Error!void {
        p.cursor.skipSpace(true);
        while (p.cursor.peek() != 0) {
            try p.readRule();
            p.cursor.skipSpace(true);
        }
    }

    /// The rule of this name, if it was mentioned.
    pub fn find(p: *const Parser, name: []const u8) ?u32 {
        return if (p.names.find(name)) |number| p.rule_of.items[number] else null;
    }

    // ---- Rules

    fn readRule(p: *Parser) Error!void {
        const place = p.cursor.here();
        const name = try p.readName();
        const attributes = if (p.dialect == .ebnf and p.cursor.take("[")) try p.readAttributes() else Attributes{};
        p.cursor.skipSpace(p.dialect == .ebnf);
        if (!p.cursor.take("::=")) return p.cursor.expected("\"::=\"");
        const rule = try p.define(name, place);
        p.cursor.skipSpace(true);
        // Reading the body may move the rules.
        const expression = try p.readBody(place);
        p.rules.items[rule].expression = expression;
        p.rules.items[rule].attributes = attributes;
        switch (p.cursor.peek()) {
            0, '\n', '\r' => {},
            else => if (p.dialect == .gbnf or !p.isRuleNext()) return p.cursor.expected("the end of the rule"),
        }
    }

    /// What is in brackets after the name of a rule, of which the first is read.
    fn readAttributes(p: *Parser) Error!Attributes {
        var attributes: Attributes = .{};
        while (true) {
            p.cursor.skipSpace(false);
            const place = p.cursor.here();
            const Known = enum { lazy, max_chars };
            const name = p.cursor.run(isGbnfName);
            const known = std.meta.stringToEnum(Known, name) orelse
                return p.cursor.fail(place, "the attribute {f} is unsupported", .{quoted(name)});
            switch (known) {
                .lazy => attributes.lazy = true,
                .max_chars => {
                    if (!p.cursor.take("=")) return p.cursor.expected("\"=\"");
                    attributes.characters_max = try p.cursor.number(count_max);
                },
            }
            p.cursor.skipSpace(false);
            if (p.cursor.take("]")) return attributes;
            if (!p.cursor.take(",")) return p.cursor.expected("\",\" or \"]\"");
        }
    }

    fn readName(p: *Parser) Error![]const u8 {
        const name = p.nameAt(p.cursor);
        return if (name.len > 0) name else p.cursor.expected("the name of a rule");
    }

    /// "": no name is next.
    fn nameAt(p: *const Parser, cursor: *Cursor) []const u8 {
        if (p.dialect == .gbnf) return cursor.run(isGbnfName);
        return if (isEbnfName(cursor.peek()) and cursor.peek() != '.' and !std.ascii.isDigit(cursor.peek())) cursor.run(isEbnfName) else "";
    }

    fn isGbnfName(byte: u8) bool {
        return std.ascii.isAlphanumeric(byte) or byte == '-' or byte == '_';
    }

    fn isAttributeByte(byte: u8) bool {
        return isGbnfName(byte) or byte == '=' or byte == ',' or byte == ' ';
    }

    fn isEbnfName(byte: u8) bool {
        return isGbnfName(byte) or byte == '.';
    }

    fn mentionOf(p: *Parser, rule: []const u8, place: Place) Error!u32 {
        const number = try p.names.put(p.arena, rule);
        if (number < p.rule_of.items.len) return p.rule_of.items[number];
        const index: u32 = @intCast(p.rules.items.len);
        try p.rule_of.append(p.arena, index);
        try p.rules.append(p.arena, .{ .name = rule, .mention = place });
        return index;
    }

    fn define(p: *Parser, rule: []const u8, place: Place) Error!u32 {
        const index = try p.mentionOf(rule, place);
        const known = &p.rules.items[index];
        if (known.place) |earlier| {
            if (p.dialect == .ebnf) {
                return p.cursor.fail(place, "{s} is defined at {f} already", .{ rule, earlier });
            }
            const again = "{s} is defined again at {f}, and only its last definition counts";
            try p.warn(earlier, again, .{ rule, place });
        }
        known.place = place;
        return index;
    }

    /// Whether the head of a rule is next, which ends an EBNF rule. Line ends mean nothing there.
    fn isRuleNext(p: *const Parser) bool {
        var ahead = p.cursor.*;
        if (p.nameAt(&ahead).len == 0) return false;
        if (ahead.take("[")) {
            _ = ahead.run(isAttributeByte);
            if (!ahead.take("]")) return false;
        }
        ahead.skipSpace(true);
        return ahead.startsWith("::=");
    }

    // ---- Expressions

    fn readBody(p: *Parser, place: Place) Error!Expression {
        try p.open(.rule, place);
        while (try p.step()) {
            p.last_line = p.cursor.line;
            p.cursor.skipSpace(p.dialect == .ebnf or p.frames.items.len > 1);
        }
        const innermost = p.innermostFrame();
        if (innermost.kind != .rule) return p.cursor.fail(p.cursor.here(), "expected \")\" for the \"(\" of {f}, found {f}", .{
            innermost.place, p.cursor.next(),
        });
        return p.close();
    }

    /// Reads one token; false if the rule has ended.
    fn step(p: *Parser) Error!bool {
        p.steps += 1;
        if (p.steps % 128 == 0) try p.budget.check("the grammar", p.diag);
        const place = p.cursor.here();
        const n_before = p.n_repetitions;
        p.n_repetitions = 0;
        switch (p.cursor.peek()) {
            '"' => try p.add(.{ .pattern = try p.characters.literal() }),
            '[' => try p.add(.{ .pattern = try p.characters.class() }),
            '(' => try p.openGroup(place),
            ')' => {
                if (p.frames.items.len == 1) return false;
                _ = p.cursor.take(")");
                try p.closeGroup();
            },
            '|' => {
                _ = p.cursor.take("|");
                try p.closeAlternative();
                p.cursor.skipSpace(true);
            },
            '*', '+', '?', '{' => {
                if (n_before > 0 and p.dialect == .ebnf) {
                    return p.cursor.fail(place, "a repetition of a repetition: put the first into parentheses", .{});
                }
                try p.repeat(place, n_before);
            },
            else => return p.stepOther(place),
        }
        return true;
    }

    fn stepOther(p: *Parser, place: Place) Error!bool {
        if (p.dialect == .gbnf) switch (p.cursor.peek()) {
            '.' => {
                _ = p.cursor.take(".");
                try p.add(.{ .pattern = p.characters.any() });
                return true;
            },
            '<', '!' => {
                try p.add(.{ .tokens = try p.tokens.read(p.cursor) });
                return true;
            },
            else => {},
        };
        if (p.dialect == .ebnf and p.isRuleNext()) {
            if (place.line > p.last_line) return false;
            return p.cursor.fail(place, "a rule begins on a line of its own", .{});
        }
        const rule = p.nameAt(p.cursor);
        if (rule.len == 0) return false;
        if (p.dialect == .ebnf and p.cursor.peek() == '(') if (std.meta.stringToEnum(macros.Macro, rule)) |macro| {
            try p.add(try p.call(macro, place));
            return true;
        };
        try p.add(.{ .rule = try p.mentionOf(rule, place) });
        return true;
    }

    fn call(p: *Parser, macro: macros.Macro, place: Place) Error!Expression {
        const reader: macros.Macros = .{
            .arena = p.arena,
            .cursor = p.cursor,
            .characters = &p.characters,
            .tokens = &p.tokens,
            .budget = p.budget,
        };
        return switch (try reader.read(macro, place)) {
            .pattern => |node| p.expressionOf(node),
            .tokens => |tokens| .{ .tokens = tokens },
            .dispatch => |dispatch| p.dispatched(dispatch),
        };
    }

    /// What is heavy is taken apart, so that the grammar can count its repetitions.
    fn expressionOf(p: *Parser, node: *const ast.Node) Error!Expression {
        if (Part.of(node).weight <= heavy) return .{ .pattern = node };
        switch (node.*) {
            .concat, .alternate => |parts| {
                const all = try p.arena.alloc(Expression, parts.len);
                for (all, parts) |*to, part| to.* = try p.expressionOf(part);
                return if (node.* == .concat) .{ .sequence = all } else .{ .choice = all };
            },
            .repeat => |r| {
                const counted = try p.arena.create(grammar.Repeat);
                counted.* = .{ .expression = try p.expressionOf(r.node), .min = r.min, .max = r.max };
                return .{ .repeat = counted };
            },
            else => return .{ .pattern = node },
        }
    }

    /// States of an NFA.
    const heavy = 1 << 14;

    fn dispatched(p: *Parser, dispatch: macros.Dispatch) Error!Expression {
        const free: Expression = .{ .pattern = dispatch.free };
        if (dispatch.tags.len == 0) return free;
        const parts = try p.arena.alloc(Expression, dispatch.tags.len);
        for (parts, dispatch.tags) |*part, tag| {
            const rule: Expression = .{ .rule = try p.mentionOf(tag.rule, tag.place) };
            part.* = .{ .sequence = try p.arena.dupe(Expression, &.{ .{ .pattern = tag.before }, rule }) };
        }
        if (!dispatch.loops) return .{ .choice = try p.arena.dupe(Expression, &.{ free, .{ .choice = parts } }) };
        const loop = try p.arena.create(grammar.Repeat);
        loop.* = .{ .expression = .{ .choice = parts }, .min = 0, .max = null };
        return .{ .sequence = try p.arena.dupe(Expression, &.{ .{ .repeat = loop }, free }) };
    }

    fn innermostFrame(p: *const Parser) *Frame {
        return &p.frames.items[p.frames.items.len - 1];
    }

    fn add(p: *Parser, item: Expression) Error!void {
        try p.items.append(p.arena, item);
    }

    fn open(p: *Parser, kind: @FieldType(Frame, "kind"), place: Place) Error!void {
        try p.frames.append(p.arena, .{
            .place = place,
            .at = p.cursor.at,
            .first_item = p.items.items.len,
            .first_alternative = p.alternatives.items.len,
            .kind = kind,
        });
    }

    fn openGroup(p: *Parser, place: Place) Error!void {
        if (p.frames.items.len > nesting_max) {
            return p.cursor.failLimit(place, "parentheses are nested deeper than {d}", .{nesting_max});
        }
        const is_look_ahead = p.dialect == .ebnf and p.cursor.startsWith("(=");
        try p.open(if (is_look_ahead) .look_ahead else .group, place);
        p.cursor.at += if (is_look_ahead) 2 else 1;
    }

    fn closeAlternative(p: *Parser) Error!void {
        const first = p.innermostFrame().first_item;
        const items = p.items.items[first..];
        const expression: Expression = if (items.len == 1) items[0] else .{ .sequence = try p.arena.dupe(Expression, items) };
        p.items.shrinkRetainingCapacity(first);
        try p.alternatives.append(p.arena, expression);
    }

    /// Pops the innermost frame, and returns its expression.
    fn close(p: *Parser) Error!Expression {
        try p.closeAlternative();
        const closed = p.frames.pop().?;
        const found = p.alternatives.items[closed.first_alternative..];
        const expression: Expression = if (found.len == 1) found[0] else .{ .choice = try p.arena.dupe(Expression, found) };
        p.alternatives.shrinkRetainingCapacity(closed.first_alternative);
        return expression;
    }

    fn closeGroup(p: *Parser) Error!void {
        const depth = p.frames.items.len - 1;
        const closed = p.innermostFrame().*;
        const expression = try p.close();
        if (closed.kind == .look_ahead) {
            return p.warn(closed.place, "a look-ahead says what follows its rule and takes no text: it has no effect", .{});
        }
        if (depth % depth_of_rules != 0) return p.add(expression);
        const rule: u32 = @intCast(p.rules.items.len);
        try p.rules.append(p.arena, .{
            .name = p.cursor.text[closed.at..p.cursor.at],
            .mention = closed.place,
            .place = closed.place,
            .expression = expression,
        });
        return p.add(.{ .rule = rule });
    }

    // ---- Repetitions

    /// Of the last item.
    fn repeat(p: *Parser, place: Place, n_before: u32) Error!void {
        const is_counted = p.cursor.peek() == '{';
        var min: u32 = if (p.cursor.peek() == '+') 1 else 0;
        var max: ?u32 = if (p.cursor.peek() == '?') 1 else null;
        p.cursor.at += 1;
        if (is_counted) {
            min = try p.count();
            max = min;
            if (p.cursor.take(",")) {
                p.skipInCount();
                max = if (p.cursor.peek() == '}') null else try p.count();
            }
            if (!p.cursor.take("}")) return p.cursor.expected("\"}\"");
            if (max) |most| if (most < min) return p.cursor.fail(place, "the repetition is at most {d}, but at least {d}", .{ most, min });
        }
        if (p.items.items.len == p.innermostFrame().first_item) return p.cursor.fail(place, "there is nothing to repeat", .{});
        const last = &p.items.items[p.items.items.len - 1];
        p.n_repetitions = n_before + 1;
        if (n_before > 0) {
            if (folded(last.repeat.*, min, max)) |one| {
                p.n_repetitions = n_before;
                const node = try p.arena.create(grammar.Repeat);
                node.* = one;
                last.* = .{ .repeat = node };
                return;
            }
            if (n_before == repetitions_max) {
                return p.cursor.failLimit(place, "more than {d} repetitions of a repetition", .{repetitions_max});
            }
        }
        const node = try p.arena.create(grammar.Repeat);
        node.* = .{ .expression = last.*, .min = min, .max = max };
        last.* = .{ .repeat = node };
    }

    /// A repetition of a repetition by `*`, `+` and `?` alone is one of these.
    fn folded(inner: grammar.Repeat, min: u32, max: ?u32) ?grammar.Repeat {
        if (!isSimple(inner.min, inner.max) or !isSimple(min, max)) return null;
        return .{ .expression = inner.expression, .min = inner.min * min, .max = if (inner.max == 1 and max == 1) 1 else null };
    }

    fn isSimple(min: u32, max: ?u32) bool {
        return if (max) |most| min == 0 and most == 1 else min <= 1;
    }

    fn count(p: *Parser) Error!u32 {
        p.skipInCount();
        const value = try p.cursor.number(count_max);
        p.skipInCount();
        return value;
    }

    fn skipInCount(p: *Parser) void {
        p.cursor.skipSpace(p.dialect == .ebnf or p.frames.items.len > 1);
    }

    // ---- Warnings

    fn warn(p: *Parser, place: Place, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const text = message.print(&buffer, "{f}: " ++ format, .{place} ++ args);
        try p.warnings.append(p.arena, try p.arena.dupe(u8, text));
    }
};
