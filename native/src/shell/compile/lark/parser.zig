//! Parses a grammar's text to its syntax tree, by recursive descent.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const bnf = @import("../bnf.zig");
const Place = bnf.Place;
const common_terminals = @import("common_terminals.zig");
const patterns = @import("patterns.zig");
const Patterns = patterns.Patterns;
const syntax_tree = @import("syntax_tree.zig");
const Lexing = @import("engine").ambiguous.Lexing;
const Conflicts = bnf.Conflicts;
const SyntaxTree = syntax_tree.SyntaxTree;
const Alternative = syntax_tree.Alternative;
const Expression = syntax_tree.Expression;
const List = syntax_tree.List;
const Mention = syntax_tree.Mention;
const Name = syntax_tree.Name;
const Precedence = syntax_tree.Precedence;
const Reference = syntax_tree.Reference;
const Repeat = syntax_tree.Repeat;
const Rule = syntax_tree.Rule;
const Terminal = syntax_tree.Terminal;
const Scanner = @import("scanner.zig").Scanner;
const Token = @import("scanner.zig").Token;
const Tag = @import("scanner.zig").Tag;

const Error = Allocator.Error || diagnostic.Error;

/// How deep parentheses may be nested. Bounds the use of the caller's stack.
const nesting_max = 128;

/// `text` is valid UTF-8 without zero bytes, and must live as long as the result, which lives in `arena`. ELIZA_ERR_GRAMMAR: a
/// syntax error, or a definition that is there already; ELIZA_ERR_LIMIT: nested too deep, too many patterns, or over budget.
pub fn parse(arena: Allocator, text: []const u8, budget: *Budget, diag: *Diagnostic) Error!SyntaxTree {
    var parser: Parser = .{
        .arena = arena,
        .budget = budget,
        .diag = diag,
        .scanner = .{ .text = text, .diag = diag },
        .patterns = .{ .arena = arena, .budget = budget, .diag = diag },
        .token = undefined,
    };
    try parser.advance();
    while (parser.token.tag != .end) try parser.readItem();
    return .{
        .names = parser.names.items,
        .patterns = parser.patterns.list.items,
        .rules = parser.rules.items,
        .terminals = parser.terminals.items,
        .ignored = parser.ignored.items,
        .ignored_expressions = parser.ignored_expressions.items,
        .soft = parser.soft.items,
        .precedences = parser.precedences.items,
        .reading = parser.reading,
    };
}

const Parser = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    scanner: Scanner,
    patterns: Patterns,
    /// The current token, which is not consumed yet.
    token: Token,
    /// Where the token before it ends.
    end: usize = 0,
    n_tokens: u32 = 0,
    names: ArrayList(Name) = .empty,
    /// Of `names`.
    name_texts: Texts = .{},
    rules: ArrayList(Rule) = .empty,
    terminals: ArrayList(Terminal) = .empty,
    ignored: ArrayList(Mention) = .empty,
    ignored_expressions: ArrayList(Terminal) = .empty,
    soft: ArrayList(Mention) = .empty,
    reading: bnf.Reading = .{ .lexing = .contextual },
    precedences: ArrayList(Precedence) = .empty,
    /// Lists under construction, the innermost last.
    stack: ArrayList(Expression) = .empty,
    alternatives: ArrayList(Alternative) = .empty,
    level: u32 = 0,
    /// Whether the current expression is of a terminal, not of a rule.
    in_terminal: bool = false,

    // ---- Items

    fn readItem(p: *Parser) Error!void {
        switch (p.token.tag) {
            .newline => try p.advance(),
            .directive => try p.readDirective(),
            .rule, .question, .bang => try p.readRule(),
            .terminal => try p.readTerminal(),
            else => return p.unexpected("a rule, a terminal or a directive"),
        }
    }

    fn readRule(p: *Parser) Error!void {
        while (p.token.tag == .question or p.token.tag == .bang) try p.advance();
        if (p.token.tag != .rule) return p.unexpected("the name of a rule");
        const head = p.token;
        try p.define(head, p.rules.items.len);
        try p.advance();
        _ = try p.readPriority();
        try p.expect(.colon, "\":\"");
        p.in_terminal = false;
        p.alternatives.clearRetainingCapacity();
        while (true) {
            try p.readAlternative();
            if (p.token.tag != .bar) break;
            try p.advance();
        }
        try p.endLine();
        try p.rules.append(p.arena, .{
            .name = head.text,
            .place = head.place,
            .alternatives = try p.arena.dupe(Alternative, p.alternatives.items),
        });
    }

    fn readAlternative(p: *Parser) Error!void {
        const place = p.token.place;
        const expression = try p.readList(.ampersand, 0);
        var precedence: ?Mention = null;
        while (true) {
            if (p.token.tag == .arrow) {
                try p.readAlias();
            } else if (isPrec(p.token)) {
                if (precedence != null) return p.fail(p.token.place, "the alternative has a second %prec", .{});
                try p.advance();
                precedence = (try p.readMention()) orelse return p.unexpected("a terminal's name or a string");
                if (precedence.?.reference == .name) p.names.items[precedence.?.reference.name].is_precedence = true;
            } else break;
        }
        try p.alternatives.append(p.arena, .{ .expression = expression, .place = place, .precedence = precedence });
    }

    fn isPrec(token: Token) bool {
        return token.tag == .directive and std.mem.eql(u8, token.text, "%prec");
    }

    fn failPrec(p: *const Parser) diagnostic.Error {
        return p.fail(p.token.place, "%prec stands at the end of an alternative of a rule, outside of parentheses", .{});
    }

    fn readAlias(p: *Parser) Error!void {
        if (p.in_terminal) return p.fail(p.token.place, "an alias belongs to an alternative of a rule", .{});
        try p.advance();
        return p.expect(.rule, "a name in lower case");
    }

    fn readTerminal(p: *Parser) Error!void {
        const head = p.token;
        try p.define(head, p.terminals.items.len);
        try p.advance();
        const priority = try p.readPriority();
        try p.expect(.colon, "\":\"");
        p.in_terminal = true;
        const expression = try p.readList(.bar, 0);
        try p.terminals.append(p.arena, .{
            .name = head.text,
            .place = head.place,
            .priority = priority,
            .expression = expression,
        });
        return p.endLine();
    }

    fn readPriority(p: *Parser) Error!i32 {
        if (p.token.tag == .left_brace) return p.fail(p.token.place, "templates are not served", .{});
        if (p.token.tag != .dot) return 0;
        try p.advance();
        const negative = p.token.tag == .minus;
        if (negative or p.token.tag == .plus) try p.advance();
        const number: i32 = @intCast(try p.readNumber(std.math.maxInt(i32)));
        return if (negative) -number else number;
    }

    fn readDirective(p: *Parser) Error!void {
        const directive = p.token;
        const name = directive.text[1..];
        if (std.mem.eql(u8, name, "ignore")) {
            try p.advance();
            return p.readIgnore();
        }
        if (std.mem.eql(u8, name, "import")) {
            try p.advance();
            return p.readImport();
        }
        if (std.mem.eql(u8, name, "soft")) return p.readMentions(null);
        for ([_]struct { []const u8, bnf.Associativity }{
            .{ "left", .left }, .{ "right", .right }, .{ "nonassoc", .none },
        }) |one| if (std.mem.eql(u8, name, one[0])) {
            p.level += 1;
            return p.readMentions(.{ .level = p.level, .associativity = one[1] });
        };
        if (std.mem.eql(u8, name, "lexing")) {
            p.reading.lexing = try p.readWord(Lexing, &.{ .longest, .contextual });
            return p.endLine();
        }
        if (std.mem.eql(u8, name, "conflicts")) {
            p.reading.conflicts = try p.readWord(Conflicts, &.{ .follow, .shift, .refuse });
            return p.endLine();
        }
        if (isPrec(directive)) return p.failPrec();
        for ([_][]const u8{ "declare", "override", "extend" }) |known| if (std.mem.eql(u8, name, known)) {
            return p.fail(directive.place, "{s} is not served", .{directive.text});
        };
        return p.fail(directive.place, "there is no directive {f}", .{quoted(directive.text)});
    }

    /// One of the words that may stand behind a directive.
    fn readWord(p: *Parser, comptime Word: type, words: []const Word) Error!Word {
        const directive = p.token;
        try p.advance();
        for (words) |word| if (p.token.tag == .rule and std.mem.eql(u8, p.token.text, @tagName(word))) {
            try p.advance();
            return word;
        };
        const names = if (Word == Lexing) "longest or contextual" else "follow, shift or refuse";
        return p.fail(p.token.place, "{s} is followed by {s}", .{ directive.text, @as([]const u8, names) });
    }

    /// The symbols of %soft, or of a level of precedence.
    fn readMentions(p: *Parser, precedence: ?bnf.Precedence) Error!void {
        try p.advance();
        var n: usize = 0;
        while (try p.readMention()) |mention| : (n += 1) {
            if (precedence) |one| {
                try p.precedences.append(p.arena, .{ .mention = mention, .precedence = one });
            } else {
                try p.soft.append(p.arena, mention);
            }
        }
        if (n == 0) return p.unexpected("a terminal's name or a string");
        return p.endLine();
    }

    fn readMention(p: *Parser) Error!?Mention {
        const token = p.token;
        const reference: Reference = switch (token.tag) {
            .terminal => .{ .name = try p.nameOf(token) },
            .string => .{ .pattern = try p.patterns.string(token) },
            else => return null,
        };
        try p.advance();
        return .{ .reference = reference, .place = token.place };
    }

    fn readIgnore(p: *Parser) Error!void {
        const first = p.token;
        p.in_terminal = true;
        const expression = try p.readList(.bar, 0);
        switch (expression) {
            .reference => |reference| try p.ignored.append(p.arena, .{ .reference = reference, .place = first.place }),
            else => try p.ignored_expressions.append(p.arena, .{
                .name = p.textFrom(first),
                .place = first.place,
                .expression = expression,
            }),
        }
        return p.endLine();
    }

    fn readImport(p: *Parser) Error!void {
        if (p.token.tag != .rule or !std.mem.eql(u8, p.token.text, "common")) {
            return p.fail(p.token.place, "only terminals of common can be imported: %import common.NAME", .{});
        }
        try p.advance();
        if (p.token.tag == .left_parenthesis) {
            try p.advance();
            while (true) {
                try p.import(p.token, null);
                if (p.token.tag != .comma) break;
                try p.advance();
            }
            try p.expect(.right_parenthesis, "\",\" or \")\"");
        } else {
            try p.expect(.dot, "\".\" and a name");
            try p.import(p.token, .arrow);
        }
        return p.endLine();
    }

    /// Defines the terminal that `name` is in common, under another name if `alias` and a name follow.
    fn import(p: *Parser, name: Token, alias: ?Tag) Error!void {
        if (name.tag != .terminal) return p.unexpected("the name of a terminal");
        const expression = common_terminals.find(name.text) orelse
            return p.fail(name.place, "common has no terminal {s} (or it cannot be served)", .{name.text});
        try p.advance();
        var as = name;
        if (alias == p.token.tag) {
            try p.advance();
            as = p.token;
            if (as.tag != .terminal) return p.unexpected("the name of a terminal");
            try p.advance();
        }
        try p.define(as, p.terminals.items.len);
        const pattern = try p.patterns.imported(expression, as.place);
        try p.terminals.append(p.arena, .{
            .name = as.text,
            .place = as.place,
            .expression = .{ .reference = .{ .pattern = pattern } },
        });
    }

    // ---- Expressions

    /// Alternatives of intersections of sequences, or one intersection.
    fn readList(p: *Parser, separator: Tag, depth: u32) Error!Expression {
        const place = p.token.place;
        const base = p.stack.items.len;
        while (true) {
            const expression = if (separator == .bar) try p.readList(.ampersand, depth) else try p.readSequence(depth);
            try p.stack.append(p.arena, expression);
            while (p.token.tag == .arrow) try p.readAlias();
            if (p.token.tag != separator) break;
            if (separator == .ampersand) try p.refuseInRule();
            try p.advance();
        }
        const items = p.stack.items[base..];
        defer p.stack.shrinkRetainingCapacity(base);
        if (items.len == 1) return items[0];
        const list = try p.listOf(items, place);
        return if (separator == .bar) .{ .alternatives = list } else .{ .intersection = list };
    }

    fn listOf(p: *Parser, items: []const Expression, place: Place) Error!*List {
        const list = try p.arena.create(List);
        list.* = .{ .items = try p.arena.dupe(Expression, items), .place = place };
        return list;
    }

    fn refuseInRule(p: *const Parser) Error!void {
        if (!p.in_terminal) return p.fail(p.token.place, "& and ~ are for terminals: define one, with a name in upper case", .{});
    }

    fn readSequence(p: *Parser, depth: u32) Error!Expression {
        const base = p.stack.items.len;
        while (switch (p.token.tag) {
            .rule, .terminal, .string, .regex, .left_parenthesis, .left_bracket, .not => true,
            else => false,
        }) try p.stack.append(p.arena, try p.readRepeated(depth));
        const list = p.stack.items[base..];
        defer p.stack.shrinkRetainingCapacity(base);
        return if (list.len == 1) list[0] else .{ .sequence = try p.arena.dupe(Expression, list) };
    }

    fn readRepeated(p: *Parser, depth: u32) Error!Expression {
        const first = p.token;
        const expression = try p.readAtom(depth);
        const text = p.textFrom(first);
        var min: u32 = 0;
        var max: ?u32 = null;
        switch (p.token.tag) {
            .question => max = 1,
            .star => {},
            .plus => min = 1,
            .times => {},
            else => return expression,
        }
        const is_counted = p.token.tag == .times;
        try p.advance();
        if (is_counted) {
            min = @intCast(try p.readNumber(std.math.maxInt(u32)));
            max = min;
            if (p.token.tag == .dots) {
                try p.advance();
                const place = p.token.place;
                max = @intCast(try p.readNumber(std.math.maxInt(u32)));
                if (max.? < min) return p.fail(place, "the repetition is at most {d}, but at least {d}", .{ max.?, min });
            }
        }
        switch (p.token.tag) {
            .question, .star, .plus, .times => return p.fail(
                p.token.place,
                "a repetition of a repetition: put the first into parentheses",
                .{},
            ),
            else => {},
        }
        return p.repeat(.{
            .expression = expression,
            .min = min,
            .max = max,
            .place = first.place,
            .text = text,
            .whole = p.textFrom(first),
        });
    }

    fn repeat(p: *Parser, one: Repeat) Error!Expression {
        const node = try p.arena.create(Repeat);
        node.* = one;
        return .{ .repeat = node };
    }

    fn readAtom(p: *Parser, depth: u32) Error!Expression {
        const token = p.token;
        switch (token.tag) {
            .rule, .terminal => {
                if (p.in_terminal and token.tag == .rule) {
                    return p.fail(token.place, "a terminal cannot use the rule {s}", .{token.text});
                }
                const name = try p.nameOf(token);
                if (!p.names.items[name].is_symbol) {
                    p.names.items[name].is_symbol = true;
                    p.names.items[name].place = token.place;
                }
                try p.advance();
                if (p.token.tag == .left_brace) return p.fail(p.token.place, "templates are not served", .{});
                return .{ .reference = .{ .name = name } };
            },
            .string => return .{ .reference = .{ .pattern = try p.readString() } },
            .regex => {
                const pattern = try p.patterns.regularExpression(token);
                try p.advance();
                return .{ .reference = .{ .pattern = pattern } };
            },
            .left_parenthesis, .left_bracket => return p.readGroup(depth),
            .not => {
                try p.refuseInRule();
                try p.advance();
                if (p.token.tag != .not) return .{ .complement = try p.listOf(&.{try p.readAtom(depth)}, token.place) };
            },
            else => {},
        }
        return p.unexpected("a terminal, a string, a regex or a group");
    }

    fn readString(p: *Parser) Error!u32 {
        const from = p.token;
        try p.advance();
        if (p.token.tag != .dots) return p.patterns.string(from);
        try p.advance();
        const to = p.token;
        if (to.tag != .string) return p.unexpected("the last character of the range, as a string");
        const pattern = try p.patterns.range(from, to);
        try p.advance();
        return pattern;
    }

    fn readGroup(p: *Parser, depth: u32) Error!Expression {
        const open = p.token;
        const is_optional = open.tag == .left_bracket;
        if (depth == nesting_max) {
            return p.diag.fail(
                .limit,
                "{d}:{d}: parentheses are nested deeper than {d}",
                .{ open.place.line, open.place.column, nesting_max },
            );
        }
        try p.advance();
        const expression = try p.readList(.bar, depth + 1);
        const close: Tag = if (is_optional) .right_bracket else .right_parenthesis;
        if (isPrec(p.token)) return p.failPrec();
        if (p.token.tag != close) {
            const wanted = if (is_optional) "]" else ")";
            return p.fail(p.token.place, "expected \"{s}\" for the {f} of {d}:{d}, found {f}", .{
                wanted, quoted(open.text), open.place.line, open.place.column, p.token,
            });
        }
        try p.advance();
        const text = p.textFrom(open);
        if (is_optional) {
            return p.repeat(.{ .expression = expression, .min = 0, .max = 1, .place = open.place, .text = text, .whole = text });
        }
        if (expression == .alternatives) expression.alternatives.text = text;
        return expression;
    }

    // ---- Names, tokens, lists

    fn nameOf(p: *Parser, token: Token) Error!u32 {
        const index = try p.name_texts.put(p.arena, token.text);
        if (index < p.names.items.len) return index;
        try p.names.append(p.arena, .{ .text = token.text, .place = token.place, .is_terminal = token.tag == .terminal });
        return index;
    }

    fn define(p: *Parser, head: Token, definition: usize) Error!void {
        const name = &p.names.items[try p.nameOf(head)];
        if (name.definition) |earlier| {
            const place = if (name.is_terminal) p.terminals.items[earlier].place else p.rules.items[earlier].place;
            return p.fail(head.place, "{s} is defined at {d}:{d} already", .{ head.text, place.line, place.column });
        }
        name.definition = @intCast(definition);
    }

    fn advance(p: *Parser) Error!void {
        p.n_tokens += 1;
        if (p.n_tokens % 128 == 0) try p.budget.check("the grammar", p.diag);
        p.end = p.scanner.at;
        p.token = try p.scanner.next();
    }

    fn expect(p: *Parser, tag: Tag, what: []const u8) Error!void {
        if (p.token.tag != tag) return p.unexpected(what);
        return p.advance();
    }

    fn endLine(p: *Parser) Error!void {
        if (p.token.tag == .end) return;
        if (isPrec(p.token)) return p.failPrec();
        return p.expect(.newline, "the end of the line");
    }

    fn readNumber(p: *Parser, largest: u32) Error!u32 {
        const token = p.token;
        try p.expect(.number, "a number");
        const number = std.fmt.parseInt(u32, token.text, 10) catch std.math.maxInt(u32);
        if (number < largest) return number;
        return p.fail(token.place, "the number is too large", .{});
    }

    /// The text from a token to the one consumed last.
    fn textFrom(p: *const Parser, first: Token) []const u8 {
        const start = @intFromPtr(first.text.ptr) - @intFromPtr(p.scanner.text.ptr);
        return std.mem.trimEnd(u8, p.scanner.text[start..@max(start, p.end)], " \t\r\n");
    }

    fn unexpected(p: *const Parser, wanted: []const u8) diagnostic.Error {
        return p.fail(p.token.place, "expected {s}, found {f}", .{ wanted, p.token });
    }

    fn fail(p: *const Parser, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return p.scanner.fail(place, format, args);
    }
};
