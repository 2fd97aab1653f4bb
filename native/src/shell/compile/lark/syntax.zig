//! What a grammar's text says, definition by definition, with names not yet looked up.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const grammar = @import("../grammar.zig");
const Place = grammar.Place;
const common = @import("common.zig");
const patterns = @import("patterns.zig");
const Patterns = patterns.Patterns;
const Scanner = @import("scan.zig").Scanner;
const Token = @import("scan.zig").Token;
const Tag = @import("scan.zig").Tag;

pub const Error = Allocator.Error || diagnostic.Error;

/// Parentheses in parentheses, terminals in terminals. Bounds the use of the caller's stack.
pub const nesting_max = 128;

/// A name or a string of the text that stands for one symbol.
pub const Reference = union(enum) {
    /// Index of `Syntax.names`.
    name: u32,
    /// Index of `Syntax.patterns`.
    pattern: u32,
};

pub const Expression = union(enum) {
    reference: Reference,
    sequence: []const Expression,
    alternatives: *List,
    /// Of a terminal: what matches all of them.
    intersection: *const List,
    /// Of a terminal: what the one that is there does not match.
    complement: *const List,
    repeat: *const Repeat,

    pub const nothing: Expression = .{ .sequence = &.{} };
};

pub const List = struct {
    items: []const Expression,
    place: Place,
    /// Alternatives as written, with the parentheses around it; "" without them.
    text: []const u8 = "",
};

pub const Repeat = struct {
    expression: Expression,
    min: u32,
    /// null: without end.
    max: ?u32,
    place: Place,
    /// As written: what is repeated, and all.
    text: []const u8,
    whole: []const u8,
};

pub const Name = struct {
    text: []const u8,
    /// Where a rule or a terminal uses it first; where it stands first, if none does.
    place: Place,
    is_terminal: bool,
    /// Index of `Syntax.rules` or `Syntax.terminals`.
    definition: ?u32 = null,
    /// Used by a rule, a terminal or %ignore.
    is_symbol: bool = false,
    /// Used by %prec.
    is_precedence: bool = false,
};

pub const Rule = struct {
    name: []const u8,
    place: Place,
    alternatives: []const Alternative,
};

/// Of a rule, not within parentheses.
pub const Alternative = struct {
    expression: Expression,
    place: Place,
    /// Declared with %prec, and where.
    precedence: ?Mention = null,
};

pub const Mention = struct { reference: Reference, place: Place };

pub const Terminal = struct {
    name: []const u8,
    place: Place,
    priority: i32 = 0,
    expression: Expression,
};

pub const Precedence = struct { mention: Mention, precedence: grammar.Precedence };

pub const Syntax = struct {
    names: []const Name,
    patterns: []const patterns.Pattern,
    rules: []const Rule,
    terminals: []const Terminal,
    /// By %ignore: names, strings, regexes.
    ignored: []const Mention,
    /// By %ignore: what else it spells out, named by its text.
    ignored_expressions: []const Terminal,
    soft: []const Mention,
    precedences: []const Precedence,
};

/// `text` is valid UTF-8 without zero bytes and stays as long as the result, which lives in `arena`.
pub fn read(arena: Allocator, text: []const u8, budget: *Budget, diag: *Diagnostic) Error!Syntax {
    var reader: Reader = .{
        .arena = arena,
        .budget = budget,
        .diag = diag,
        .scanner = .{ .text = text, .diag = diag },
        .patterns = .{ .arena = arena, .budget = budget, .diag = diag },
        .token = undefined,
    };
    try reader.advance();
    while (reader.token.tag != .end) try reader.readItem();
    return .{
        .names = reader.names.items,
        .patterns = reader.patterns.list.items,
        .rules = reader.rules.items,
        .terminals = reader.terminals.items,
        .ignored = reader.ignored.items,
        .ignored_expressions = reader.ignored_expressions.items,
        .soft = reader.soft.items,
        .precedences = reader.precedences.items,
    };
}

const Reader = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    scanner: Scanner,
    patterns: Patterns,
    /// The one to be read next.
    token: Token,
    /// Where the one before it ends.
    end: usize = 0,
    n_tokens: u32 = 0,
    names: std.ArrayList(Name) = .empty,
    name_indices: std.StringHashMapUnmanaged(u32) = .empty,
    rules: std.ArrayList(Rule) = .empty,
    terminals: std.ArrayList(Terminal) = .empty,
    ignored: std.ArrayList(Mention) = .empty,
    ignored_expressions: std.ArrayList(Terminal) = .empty,
    soft: std.ArrayList(Mention) = .empty,
    precedences: std.ArrayList(Precedence) = .empty,
    /// Lists under construction, the innermost on top.
    stack: std.ArrayList(Expression) = .empty,
    alternatives: std.ArrayList(Alternative) = .empty,
    level: u32 = 0,
    /// What is being read is of a terminal, not of a rule.
    in_terminal: bool = false,

    // ---- Items

    fn readItem(r: *Reader) Error!void {
        switch (r.token.tag) {
            .newline => try r.advance(),
            .directive => try r.readDirective(),
            .rule, .question, .bang => try r.readRule(),
            .terminal => try r.readTerminal(),
            else => return r.unexpected("a rule, a terminal or a directive"),
        }
    }

    fn readRule(r: *Reader) Error!void {
        while (r.token.tag == .question or r.token.tag == .bang) try r.advance();
        if (r.token.tag != .rule) return r.unexpected("the name of a rule");
        const head = r.token;
        try r.define(head, r.rules.items.len);
        try r.advance();
        _ = try r.readPriority();
        try r.expect(.colon, "\":\"");
        r.in_terminal = false;
        r.alternatives.clearRetainingCapacity();
        while (true) {
            try r.readAlternative();
            if (r.token.tag != .bar) break;
            try r.advance();
        }
        try r.endLine();
        try r.rules.append(r.arena, .{
            .name = head.text,
            .place = head.place,
            .alternatives = try r.arena.dupe(Alternative, r.alternatives.items),
        });
    }

    fn readAlternative(r: *Reader) Error!void {
        const place = r.token.place;
        const expression = try r.readList(.ampersand, 0);
        var precedence: ?Mention = null;
        while (true) {
            if (r.token.tag == .arrow) {
                try r.readAlias();
            } else if (isPrec(r.token)) {
                if (precedence != null) return r.fail(r.token.place, "the alternative has a second %prec", .{});
                try r.advance();
                precedence = (try r.readMention()) orelse return r.unexpected("a terminal's name or a string");
                if (precedence.?.reference == .name) r.names.items[precedence.?.reference.name].is_precedence = true;
            } else break;
        }
        try r.alternatives.append(r.arena, .{ .expression = expression, .place = place, .precedence = precedence });
    }

    fn isPrec(token: Token) bool {
        return token.tag == .directive and std.mem.eql(u8, token.text, "%prec");
    }

    fn failPrec(r: *const Reader) diagnostic.Error {
        return r.fail(r.token.place, "%prec stands at the end of an alternative of a rule, outside of parentheses", .{});
    }

    fn readAlias(r: *Reader) Error!void {
        if (r.in_terminal) return r.fail(r.token.place, "an alias belongs to an alternative of a rule", .{});
        try r.advance();
        return r.expect(.rule, "a name in lower case");
    }

    fn readTerminal(r: *Reader) Error!void {
        const head = r.token;
        try r.define(head, r.terminals.items.len);
        try r.advance();
        const priority = try r.readPriority();
        try r.expect(.colon, "\":\"");
        r.in_terminal = true;
        const expression = try r.readList(.bar, 0);
        try r.terminals.append(r.arena, .{
            .name = head.text,
            .place = head.place,
            .priority = priority,
            .expression = expression,
        });
        return r.endLine();
    }

    fn readPriority(r: *Reader) Error!i32 {
        if (r.token.tag == .left_brace) return r.fail(r.token.place, "templates are not served", .{});
        if (r.token.tag != .dot) return 0;
        try r.advance();
        const negative = r.token.tag == .minus;
        if (negative or r.token.tag == .plus) try r.advance();
        const number: i32 = @intCast(try r.readNumber(std.math.maxInt(i32)));
        return if (negative) -number else number;
    }

    fn readDirective(r: *Reader) Error!void {
        const directive = r.token;
        const name = directive.text[1..];
        if (std.mem.eql(u8, name, "ignore")) {
            try r.advance();
            return r.readIgnore();
        }
        if (std.mem.eql(u8, name, "import")) {
            try r.advance();
            return r.readImport();
        }
        if (std.mem.eql(u8, name, "soft")) return r.readMentions(null);
        for ([_]struct { []const u8, grammar.Associativity }{
            .{ "left", .left }, .{ "right", .right }, .{ "nonassoc", .none },
        }) |one| if (std.mem.eql(u8, name, one[0])) {
            r.level += 1;
            return r.readMentions(.{ .level = r.level, .associativity = one[1] });
        };
        if (isPrec(directive)) return r.failPrec();
        for ([_][]const u8{ "declare", "override", "extend" }) |known| if (std.mem.eql(u8, name, known)) {
            return r.fail(directive.place, "{s} is not served", .{directive.text});
        };
        return r.fail(directive.place, "there is no directive {f}", .{quoted(directive.text)});
    }

    /// Of %soft, or of a level of precedence.
    fn readMentions(r: *Reader, precedence: ?grammar.Precedence) Error!void {
        try r.advance();
        var n: usize = 0;
        while (try r.readMention()) |mention| : (n += 1) {
            if (precedence) |one| {
                try r.precedences.append(r.arena, .{ .mention = mention, .precedence = one });
            } else {
                try r.soft.append(r.arena, mention);
            }
        }
        if (n == 0) return r.unexpected("a terminal's name or a string");
        return r.endLine();
    }

    fn readMention(r: *Reader) Error!?Mention {
        const token = r.token;
        const reference: Reference = switch (token.tag) {
            .terminal => .{ .name = try r.nameOf(token) },
            .string => .{ .pattern = try r.patterns.string(token) },
            else => return null,
        };
        try r.advance();
        return .{ .reference = reference, .place = token.place };
    }

    fn readIgnore(r: *Reader) Error!void {
        const first = r.token;
        r.in_terminal = true;
        const expression = try r.readList(.bar, 0);
        switch (expression) {
            .reference => |reference| try r.ignored.append(r.arena, .{ .reference = reference, .place = first.place }),
            else => try r.ignored_expressions.append(r.arena, .{
                .name = r.textFrom(first),
                .place = first.place,
                .expression = expression,
            }),
        }
        return r.endLine();
    }

    fn readImport(r: *Reader) Error!void {
        if (r.token.tag != .rule or !std.mem.eql(u8, r.token.text, "common")) {
            return r.fail(r.token.place, "only terminals of common can be imported: %import common.NAME", .{});
        }
        try r.advance();
        if (r.token.tag == .left_parenthesis) {
            try r.advance();
            while (true) {
                try r.import(r.token, null);
                if (r.token.tag != .comma) break;
                try r.advance();
            }
            try r.expect(.right_parenthesis, "\",\" or \")\"");
        } else {
            try r.expect(.dot, "\".\" and a name");
            try r.import(r.token, .arrow);
        }
        return r.endLine();
    }

    /// The terminal that `name` is in common, possibly under another name.
    fn import(r: *Reader, name: Token, alias: ?Tag) Error!void {
        if (name.tag != .terminal) return r.unexpected("the name of a terminal");
        const expression = common.find(name.text) orelse
            return r.fail(name.place, "common has no terminal {s} (or it cannot be served)", .{name.text});
        try r.advance();
        var as = name;
        if (alias == r.token.tag) {
            try r.advance();
            as = r.token;
            if (as.tag != .terminal) return r.unexpected("the name of a terminal");
            try r.advance();
        }
        try r.define(as, r.terminals.items.len);
        const pattern = try r.patterns.shipped(expression, as.place);
        try r.terminals.append(r.arena, .{
            .name = as.text,
            .place = as.place,
            .expression = .{ .reference = .{ .pattern = pattern } },
        });
    }

    // ---- Expressions

    /// Alternatives of intersections of sequences, or one intersection.
    fn readList(r: *Reader, separator: Tag, depth: u32) Error!Expression {
        const place = r.token.place;
        const base = r.stack.items.len;
        while (true) {
            const expression = if (separator == .bar) try r.readList(.ampersand, depth) else try r.readSequence(depth);
            try r.stack.append(r.arena, expression);
            while (r.token.tag == .arrow) try r.readAlias();
            if (r.token.tag != separator) break;
            if (separator == .ampersand) try r.refuseInRule();
            try r.advance();
        }
        const items = r.stack.items[base..];
        defer r.stack.shrinkRetainingCapacity(base);
        if (items.len == 1) return items[0];
        const list = try r.listOf(items, place);
        return if (separator == .bar) .{ .alternatives = list } else .{ .intersection = list };
    }

    fn listOf(r: *Reader, items: []const Expression, place: Place) Error!*List {
        const list = try r.arena.create(List);
        list.* = .{ .items = try r.arena.dupe(Expression, items), .place = place };
        return list;
    }

    fn refuseInRule(r: *const Reader) Error!void {
        if (!r.in_terminal) return r.fail(r.token.place, "& and ~ are for terminals: define one, with a name in upper case", .{});
    }

    fn readSequence(r: *Reader, depth: u32) Error!Expression {
        const base = r.stack.items.len;
        while (switch (r.token.tag) {
            .rule, .terminal, .string, .regex, .left_parenthesis, .left_bracket, .not => true,
            else => false,
        }) try r.stack.append(r.arena, try r.readRepeated(depth));
        const list = r.stack.items[base..];
        defer r.stack.shrinkRetainingCapacity(base);
        return if (list.len == 1) list[0] else .{ .sequence = try r.arena.dupe(Expression, list) };
    }

    fn readRepeated(r: *Reader, depth: u32) Error!Expression {
        const first = r.token;
        const expression = try r.readAtom(depth);
        const text = r.textFrom(first);
        var min: u32 = 0;
        var max: ?u32 = null;
        switch (r.token.tag) {
            .question => max = 1,
            .star => {},
            .plus => min = 1,
            .times => {},
            else => return expression,
        }
        const is_counted = r.token.tag == .times;
        try r.advance();
        if (is_counted) {
            min = @intCast(try r.readNumber(std.math.maxInt(u32)));
            max = min;
            if (r.token.tag == .dots) {
                try r.advance();
                const place = r.token.place;
                max = @intCast(try r.readNumber(std.math.maxInt(u32)));
                if (max.? < min) return r.fail(place, "the repetition is at most {d}, but at least {d}", .{ max.?, min });
            }
        }
        switch (r.token.tag) {
            .question, .star, .plus, .times => return r.fail(
                r.token.place,
                "a repetition of a repetition: put the first into parentheses",
                .{},
            ),
            else => {},
        }
        return r.repeat(.{
            .expression = expression,
            .min = min,
            .max = max,
            .place = first.place,
            .text = text,
            .whole = r.textFrom(first),
        });
    }

    fn repeat(r: *Reader, one: Repeat) Error!Expression {
        const node = try r.arena.create(Repeat);
        node.* = one;
        return .{ .repeat = node };
    }

    fn readAtom(r: *Reader, depth: u32) Error!Expression {
        const token = r.token;
        switch (token.tag) {
            .rule, .terminal => {
                if (r.in_terminal and token.tag == .rule) {
                    return r.fail(token.place, "a terminal cannot use the rule {s}", .{token.text});
                }
                const name = try r.nameOf(token);
                if (!r.names.items[name].is_symbol) {
                    r.names.items[name].is_symbol = true;
                    r.names.items[name].place = token.place;
                }
                try r.advance();
                if (r.token.tag == .left_brace) return r.fail(r.token.place, "templates are not served", .{});
                return .{ .reference = .{ .name = name } };
            },
            .string => return .{ .reference = .{ .pattern = try r.readString() } },
            .regex => {
                const pattern = try r.patterns.regularExpression(token);
                try r.advance();
                return .{ .reference = .{ .pattern = pattern } };
            },
            .left_parenthesis, .left_bracket => return r.readGroup(depth),
            .not => {
                try r.refuseInRule();
                try r.advance();
                if (r.token.tag != .not) return .{ .complement = try r.listOf(&.{try r.readAtom(depth)}, token.place) };
            },
            else => {},
        }
        return r.unexpected("a terminal, a string, a regex or a group");
    }

    fn readString(r: *Reader) Error!u32 {
        const from = r.token;
        try r.advance();
        if (r.token.tag != .dots) return r.patterns.string(from);
        try r.advance();
        const to = r.token;
        if (to.tag != .string) return r.unexpected("the last character of the range, as a string");
        const pattern = try r.patterns.range(from, to);
        try r.advance();
        return pattern;
    }

    fn readGroup(r: *Reader, depth: u32) Error!Expression {
        const open = r.token;
        const is_optional = open.tag == .left_bracket;
        if (depth == nesting_max) {
            return r.diag.fail(
                .limit,
                "{d}:{d}: parentheses are nested deeper than {d}",
                .{ open.place.line, open.place.column, nesting_max },
            );
        }
        try r.advance();
        const expression = try r.readList(.bar, depth + 1);
        const close: Tag = if (is_optional) .right_bracket else .right_parenthesis;
        if (isPrec(r.token)) return r.failPrec();
        if (r.token.tag != close) {
            const wanted = if (is_optional) "]" else ")";
            return r.fail(r.token.place, "expected \"{s}\" for the {f} of {d}:{d}, found {f}", .{
                wanted, quoted(open.text), open.place.line, open.place.column, r.token,
            });
        }
        try r.advance();
        const text = r.textFrom(open);
        if (is_optional) {
            return r.repeat(.{ .expression = expression, .min = 0, .max = 1, .place = open.place, .text = text, .whole = text });
        }
        if (expression == .alternatives) expression.alternatives.text = text;
        return expression;
    }

    // ---- Names, tokens, lists

    fn nameOf(r: *Reader, token: Token) Error!u32 {
        const slot = try r.name_indices.getOrPut(r.arena, token.text);
        if (slot.found_existing) return slot.value_ptr.*;
        const index: u32 = @intCast(r.names.items.len);
        slot.value_ptr.* = index;
        try r.names.append(r.arena, .{ .text = token.text, .place = token.place, .is_terminal = token.tag == .terminal });
        return index;
    }

    fn define(r: *Reader, head: Token, definition: usize) Error!void {
        const name = &r.names.items[try r.nameOf(head)];
        if (name.definition) |earlier| {
            const place = if (name.is_terminal) r.terminals.items[earlier].place else r.rules.items[earlier].place;
            return r.fail(head.place, "{s} is defined at {d}:{d} already", .{ head.text, place.line, place.column });
        }
        name.definition = @intCast(definition);
    }

    fn advance(r: *Reader) Error!void {
        r.n_tokens += 1;
        if (r.n_tokens % 128 == 0) try r.budget.check("the grammar", r.diag);
        r.end = r.scanner.at;
        r.token = try r.scanner.next();
    }

    fn expect(r: *Reader, tag: Tag, what: []const u8) Error!void {
        if (r.token.tag != tag) return r.unexpected(what);
        return r.advance();
    }

    fn endLine(r: *Reader) Error!void {
        if (r.token.tag == .end) return;
        if (isPrec(r.token)) return r.failPrec();
        return r.expect(.newline, "the end of the line");
    }

    fn readNumber(r: *Reader, largest: u32) Error!u32 {
        const token = r.token;
        try r.expect(.number, "a number");
        const number = std.fmt.parseInt(u32, token.text, 10) catch std.math.maxInt(u32);
        if (number < largest) return number;
        return r.fail(token.place, "the number is too large", .{});
    }

    /// As written, from a token to the one read last.
    fn textFrom(r: *const Reader, first: Token) []const u8 {
        const start = @intFromPtr(first.text.ptr) - @intFromPtr(r.scanner.text.ptr);
        return std.mem.trimEnd(u8, r.scanner.text[start..@max(start, r.end)], " \t\r\n");
    }

    fn unexpected(r: *const Reader, wanted: []const u8) diagnostic.Error {
        return r.fail(r.token.place, "expected {s}, found {f}", .{ wanted, r.token });
    }

    fn fail(r: *const Reader, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return r.scanner.fail(place, format, args);
    }
};
