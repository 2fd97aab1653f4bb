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
const Import = bnf.Import;
const message = @import("message");
const json = @import("../schema/json.zig");
const source_text = @import("../source_text.zig");
const parametric = @import("parametric.zig");
const Documents = @import("../schema/documents.zig").Documents;
const common_terminals = @import("common_terminals.zig");
const shipped_grammars = @import("shipped_grammars.zig");
const patterns = @import("patterns.zig");
const guidance = @import("guidance.zig");
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
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const Limits = @import("engine").token_limits.Limits;
const Tokens = @import("engine").vocabulary.Tokens;
const Tag = @import("scanner.zig").Tag;

const Error = Allocator.Error || diagnostic.Error;

/// How deep parentheses may be nested. Bounds the use of the caller's stack.
const nesting_max = 128;

/// How deep grammars may be within grammars, or import each other. Bounds the use of the caller's stack.
const grammars_nested_max = 16;
/// How many rules templates may become.
const instances_max = 65_535;
const lower_case = "abcdefghijklmnopqrstuvwxyz";
/// What messages show of an argument.
const shown_bytes_max = 48;

/// What a grammar's text is read with.
pub const Options = struct {
    /// The rule that derives whole texts.
    start: []const u8 = "start",
    /// Those that `%import` finds, by name.
    grammars: Documents = .{},
    /// Those that it can name.
    tokens: *const Tokens = &.{ .n = 0 },
};

/// `text` is valid UTF-8 without zero bytes, and must live as long as the result, which lives in `arena`.
/// Warnings of what is legal but seldom meant go to `warnings`. ELIZA_ERR_GRAMMAR: a syntax error, a name that is not defined, or a
/// definition that is there already; ELIZA_ERR_LIMIT: nested too deep, too many patterns, or over budget.
pub fn parse(
    arena: Allocator,
    text: []const u8,
    options: Options,
    warnings: *ArrayList([]const u8),
    budget: *Budget,
    diag: *Diagnostic,
) Error!SyntaxTree {
    var parser: Parser = .{
        .arena = arena,
        .budget = budget,
        .diag = diag,
        .callers = options.grammars,
        .warnings = warnings,
        .scanner = .{ .text = text, .diag = diag },
        .patterns = .{ .arena = arena, .budget = budget, .diag = diag, .warnings = warnings, .tokens = options.tokens },
        .token = undefined,
    };
    try parser.addGrammar(.outermost);
    try parser.advance();
    while (parser.token.tag != .end) try parser.readItem();
    try parser.readInstances();
    const start = try parser.startOf(options.start);
    try parser.resolveNames();
    if (parser.reading.lexing == .longest) {
        for (parser.limited.items) |one| try parser.warnOfLimit(one.head, one.place, "lexemes are the longest");
        for (parser.terminals.items) |*one| one.tokens_max = 0;
        for (parser.rules.items) |*one| one.tokens_max = 0;
    }
    const tokens = try arena.create(TokenClasses);
    tokens.* = try parser.patterns.finishTokens();
    parser.reading.tokens = &tokens.named;
    parser.reading.n_parts = parser.patterns.parts.items.len;
    return .{
        .names = parser.names.items,
        .patterns = parser.patterns.list.items,
        .rules = parser.rules.items,
        .terminals = parser.terminals.items,
        .ignored = parser.ignored.items,
        .ignored_expressions = parser.ignored_expressions.items,
        .soft = parser.soft.items,
        .precedences = parser.precedences.items,
        .skips_first = parser.skips_first,
        .skips_once = parser.skips_once.items,
        .start = start,
        .reading = parser.reading,
        .parts = parser.patterns.parts.items,
        .tokens = tokens,
    };
}

/// Where a grammar stands: each has its own names.
const Grammar = enum {
    outermost,
    /// In the braces of a `%lark`.
    nested,
    imported,
};

/// A rule or terminal with parameters, or with a number. It is read again for each use with other arguments.
const Template = struct {
    head: Token,
    parameters: []const Token,
    has_number: bool,
    grammar: u32,
    /// After the parameters.
    scanner: Scanner,
    token: Token,
};

/// What a template's parameters stand for.
const Instance = struct {
    name: u32,
    /// The first use.
    head: Token,
    arguments: []const Reference,
    number: ?u64,
    /// Of the use.
    grammar: u32,
};

/// What stands in brackets after the name of a rule.
const Attributes = struct {
    lazy: bool = false,
    /// The rule is one lexeme.
    is_lexeme: bool = false,
    /// What ends it; null also if that is the empty text.
    marker: ?Expression = null,
    /// No token may be in it.
    is_empty: bool = false,
    /// 0: any number.
    tokens_max: u32 = 0,
    /// Of `max_tokens`.
    place: Place = .{},
};

/// What a definition does to one that is there.
const Definition = enum { new, override, extend };

const Parser = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    callers: Documents,
    warnings: *ArrayList([]const u8),
    scanner: Scanner,
    patterns: Patterns,
    /// The current token, which is not consumed yet.
    token: Token,
    /// Where the token before it ends.
    end: usize = 0,
    n_tokens: u32 = 0,
    grammars: ArrayList(Grammar) = .empty,
    /// The one that is being read, and how many are around it.
    grammar: u32 = 0,
    n_around: u32 = 0,
    /// Those of `callers` that are read.
    imported: ArrayList(struct { name: []const u8, grammar: u32 }) = .empty,
    /// Those of `callers` that `@name` has asked for.
    named: ArrayList(struct { name: []const u8, is: union(enum) { schema: []const u8, grammar: u32 } }) = .empty,
    names: ArrayList(Name) = .empty,
    /// Of `names`: with the grammar before it unless that is the outermost, and the arguments after it.
    name_texts: Texts = .{},
    templates: ArrayList(Template) = .empty,
    /// Of `templates`, as those of names.
    template_texts: Texts = .{},
    instances: ArrayList(Instance) = .empty,
    /// Of the instance that is being read.
    parameters: []const Token = &.{},
    arguments: []const Reference = &.{},
    number: ?u64 = null,
    rules: ArrayList(Rule) = .empty,
    terminals: ArrayList(Terminal) = .empty,
    ignored: ArrayList(Mention) = .empty,
    ignored_expressions: ArrayList(Terminal) = .empty,
    soft: ArrayList(Mention) = .empty,
    reading: bnf.Reading = .{ .lexing = .contextual },
    precedences: ArrayList(Precedence) = .empty,
    /// Rules with a limit of tokens.
    limited: ArrayList(struct { head: Token, place: Place }) = .empty,
    skips_first: bool = true,
    /// [grammar].
    skips_once: ArrayList(bool) = .empty,
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
            .rule, .question, .bang, .terminal => try p.readDefinition(.new),
            else => return p.unexpected("a rule, a terminal or a directive"),
        }
    }

    fn readDefinition(p: *Parser, how: Definition) Error!void {
        const is_marked = p.token.tag == .question or p.token.tag == .bang;
        while (p.token.tag == .question or p.token.tag == .bang) try p.advance();
        const head = p.token;
        if (head.tag != .rule and (is_marked or head.tag != .terminal)) return p.unexpected("the name of a rule");
        try p.advance();
        if (p.token.tag == .left_brace or p.token.tag == .double_colon) {
            if (how != .new) return p.fail(head.place, "a template is neither extended nor overridden", .{});
            return p.readTemplate(head);
        }
        return p.readBody(head, try p.nameOf(head), how);
    }

    /// What is after the name and its parameters.
    fn readBody(p: *Parser, head: Token, name: u32, how: Definition) Error!void {
        var attributes = if (p.token.tag == .left_bracket) try p.readAttributes(head) else Attributes{};
        const priority = try p.readPriority();
        try p.expect(.colon, "\":\"");
        if (attributes.tokens_max > 0) try p.checkLimit(head, &attributes);
        const is_terminal = head.tag == .terminal or attributes.is_lexeme;
        const definition = try p.define(head, name, is_terminal, how);
        p.in_terminal = is_terminal;
        if (is_terminal) {
            const body = try p.readList(.bar, 0);
            const expression = try p.withMarker(body, attributes, head.place);
            const both = [_]Expression{ p.terminals.items[definition].expression, expression };
            const list = try p.listOf(both[@intFromBool(how != .extend)..], head.place);
            p.terminals.items[definition] = .{
                .name = p.terminals.items[definition].name,
                .place = p.terminals.items[definition].place,
                .priority = priority,
                .expression = if (how == .extend) .{ .alternatives = list } else expression,
                .lazy = attributes.lazy,
                .tokens_max = @intCast(attributes.tokens_max),
            };
            return p.endLine();
        }
        const base = p.alternatives.items.len;
        defer p.alternatives.shrinkRetainingCapacity(base);
        if (how == .extend) try p.alternatives.appendSlice(p.arena, p.rules.items[definition].alternatives);
        while (true) {
            try p.readAlternative();
            if (p.token.tag != .bar) break;
            try p.advance();
        }
        const nothing: Alternative = .{ .expression = .{ .sequence = &.{} }, .place = head.place };
        const alternatives = if (attributes.is_empty) &.{nothing} else p.alternatives.items[base..];
        const rule = &p.rules.items[definition];
        rule.alternatives = try p.arena.dupe(Alternative, alternatives);
        if (how != .extend or attributes.tokens_max > 0) {
            rule.tokens_max = @intCast(attributes.tokens_max);
            rule.limit_place = attributes.place;
        }
        return p.endLine();
    }

    /// The shortest text of the body and then the marker, if there is one.
    fn withMarker(p: *Parser, body: Expression, attributes: Attributes, place: Place) Error!Expression {
        if (!attributes.lazy) return body;
        const marker = attributes.marker orelse return .{ .shortest = try p.listOf(&.{body}, place) };
        const whole = try p.arena.dupe(Expression, &.{ body, marker });
        return .{ .shortest = try p.listOf(&.{.{ .sequence = whole }}, place) };
    }

    fn readAttributes(p: *Parser, head: Token) Error!Attributes {
        var attributes: Attributes = .{};
        const Known = enum { lazy, stop, suffix, max_tokens, temperature, capture, stop_capture, save_stop_text };
        var seen: std.EnumSet(Known) = .empty;
        if (head.tag == .terminal) return p.fail(p.token.place, "attributes are for rules, with a name in lower case", .{});
        while (true) {
            try p.advance();
            const name = p.token;
            try p.expect(.rule, "the name of an attribute");
            const known = std.meta.stringToEnum(Known, name.text) orelse
                return p.fail(name.place, "there is no attribute {s}", .{name.text});
            if (seen.contains(known)) return p.fail(name.place, "the attribute {s} is there twice", .{name.text});
            seen.insert(known);
            const has_value = p.token.tag == .equals;
            if (has_value) try p.advance();
            switch (known) {
                .lazy => {
                    attributes.lazy = true;
                    attributes.is_lexeme = true;
                },
                .stop, .suffix => {
                    if (attributes.is_lexeme) return p.fail(name.place, "lazy, stop and suffix cannot be combined", .{});
                    attributes.is_lexeme = true;
                    const is_empty = p.token.tag == .string and p.token.text.len == 2;
                    p.in_terminal = true;
                    const marker = try p.readAtom(0);
                    if (!is_empty) attributes.marker = marker;
                    attributes.lazy = !is_empty;
                },
                .max_tokens => {
                    const most = try p.readNumber(std.math.maxInt(u32));
                    attributes.is_empty = most == 0;
                    attributes.tokens_max = most;
                    attributes.place = name.place;
                },
                .temperature => {
                    try p.skipValue();
                    try p.warn(name.place, "temperature of {s} has no effect: whoever samples sets it", .{head.text});
                },
                .capture, .stop_capture, .save_stop_text => {
                    if (has_value) try p.skipValue();
                    try p.warn(name.place, "{s} of {s} has no effect: no part of a text is captured", .{ name.text, head.text });
                },
            }
            if (p.token.tag != .comma) break;
        }
        return if (p.token.tag == .right_bracket) blk: {
            try p.advance();
            break :blk attributes;
        } else p.unexpected("\",\" or \"]\"");
    }

    /// Keeps the limit where it can be enforced; elsewhere warns why not. At the rule's body.
    fn checkLimit(p: *Parser, head: Token, attributes: *Attributes) Error!void {
        attributes.is_lexeme = attributes.is_lexeme or try p.isOneTerminal();
        const most: u32 = if (attributes.is_lexeme) Limits.tokens_max else Limits.rule_tokens_max;
        if (attributes.tokens_max <= most) {
            return p.limited.append(p.arena, .{ .head = head, .place = attributes.place });
        }
        attributes.tokens_max = 0;
        try p.warnOfLimit(head, attributes.place, "so many are not counted");
    }

    fn warnOfLimit(p: *Parser, head: Token, place: Place, why: []const u8) Error!void {
        try p.warn(place, "max_tokens of {s} is not enforced: {s}", .{ head.text, why });
    }

    /// Whether a string, a regex or the name of a terminal is all that comes in the line.
    fn isOneTerminal(p: *const Parser) Error!bool {
        switch (p.token.tag) {
            .string, .regex, .terminal => {},
            else => return false,
        }
        var ahead = p.scanner;
        return switch ((try ahead.next()).tag) {
            .newline, .end => true,
            .right_brace => p.grammar != 0,
            else => false,
        };
    }

    /// Of an attribute: a string, a name or a number, which may have a fraction.
    fn skipValue(p: *Parser) Error!void {
        const first = p.token.tag;
        switch (first) {
            .string, .rule, .terminal, .number => try p.advance(),
            else => return p.unexpected("a value"),
        }
        if (first == .number and p.token.tag == .dot) {
            try p.advance();
            try p.expect(.number, "a number");
        }
    }

    // ---- Templates

    fn readTemplate(p: *Parser, head: Token) Error!void {
        const has_number = p.token.tag == .double_colon;
        var parameters: ArrayList(Token) = .empty;
        if (has_number) {
            try p.advance();
            if (!std.mem.eql(u8, p.token.text, "_")) return p.unexpected("\"_\", the number of the rule");
            try p.advance();
        } else while (true) {
            try p.advance();
            if (p.token.tag != .rule and p.token.tag != .terminal) return p.unexpected("the name of a parameter");
            try parameters.append(p.arena, p.token);
            try p.advance();
            if (p.token.tag != .comma) {
                try p.expect(.right_brace, "\",\" or \"}\"");
                break;
            }
        }
        const key = try p.keyOf(p.grammar, head.text);
        if (try p.template_texts.put(p.arena, key) < p.templates.items.len) {
            const earlier = p.templates.items[p.template_texts.find(key).?].head.place;
            return p.fail(head.place, "{s} is defined at {f} already", .{ head.text, earlier });
        }
        try p.templates.append(p.arena, .{
            .head = head,
            .parameters = parameters.items,
            .has_number = has_number,
            .grammar = p.grammar,
            .scanner = p.scanner,
            .token = p.token,
        });
        var n_open: usize = 0;
        while (p.token.tag != .newline and p.token.tag != .end) {
            if (p.token.tag == .left_brace) n_open += 1;
            if (p.token.tag == .right_brace) {
                if (n_open == 0) return; // of the grammar around it
                n_open -= 1;
            }
            try p.advance();
        }
    }

    /// What is after the name of a template: `{a, b}` or `::number`.
    fn readUse(p: *Parser, head: Token, depth: u32) Error!Expression {
        var arguments: ArrayList(Reference) = .empty;
        var text: ArrayList(u8) = .empty;
        try text.appendSlice(p.arena, head.text);
        if (p.token.tag == .double_colon) {
            try p.advance();
            var reader: parametric.Reader = .{ .scanner = &p.scanner, .token = p.token, .own = p.number };
            const number = try reader.value();
            p.end = p.scanner.at - reader.token.text.len;
            p.token = reader.token;
            var buffer: [32]u8 = undefined;
            try text.appendSlice(p.arena, message.print(&buffer, "::{d}", .{number}));
            return p.instance(head, text.items, &.{}, number);
        }
        while (true) {
            try p.advance();
            const first = p.token;
            const argument = try p.readAtom(depth + 1);
            if (argument != .reference) return p.fail(first.place, "an argument is a name, a string, a regex or a template", .{});
            try text.append(p.arena, if (arguments.items.len == 0) '{' else ',');
            const shown = switch (argument.reference) {
                .name => |index| p.names.items[index].text,
                .pattern => |index| p.patterns.list.items[index].text,
            };
            try text.appendSlice(p.arena, if (shown.len <= shown_bytes_max) shown else "...");
            try arguments.append(p.arena, argument.reference);
            if (p.token.tag != .comma) break;
        }
        try p.expect(.right_brace, "\",\" or \"}\"");
        try text.append(p.arena, '}');
        return p.instance(head, text.items, arguments.items, null);
    }

    fn instance(p: *Parser, head: Token, text: []const u8, arguments: []const Reference, number: ?u64) Error!Expression {
        var key: ArrayList(u8) = .empty;
        try key.appendSlice(p.arena, try p.keyOf(p.grammar, head.text));
        try key.append(p.arena, if (number == null) '{' else ':');
        for (arguments) |argument| {
            const index = switch (argument) {
                inline else => |index| index,
            };
            try key.append(p.arena, if (argument == .name) 'n' else 'p');
            try key.appendSlice(p.arena, std.mem.asBytes(&index));
        }
        if (number) |one| try key.appendSlice(p.arena, std.mem.asBytes(&one));
        const name = try p.intern(key.items, text, head);
        const one = &p.names.items[name];
        if (!one.is_symbol) {
            one.is_symbol = true;
            if (p.instances.items.len == instances_max) {
                return p.diag.fail(.limit, "{f}: templates are used with more than {d} different arguments", .{
                    head.place, instances_max,
                });
            }
            try p.instances.append(p.arena, .{
                .name = name,
                .head = head,
                .arguments = arguments,
                .number = number,
                .grammar = p.grammar,
            });
        }
        return .{ .reference = .{ .name = name } };
    }

    /// Reads the templates for their uses, as more of these are found.
    fn readInstances(p: *Parser) Error!void {
        var next: usize = 0;
        while (next < p.instances.items.len) : (next += 1) {
            const one = p.instances.items[next];
            const head = one.head;
            const number = p.template_texts.find(try p.keyOf(one.grammar, head.text)) orelse
                return p.fail(head.place, "the template {s} is not defined", .{head.text});
            const template = p.templates.items[number];
            const is_number = one.number != null;
            if (is_number != template.has_number or one.arguments.len != template.parameters.len) {
                return p.fail(head.place, "{s} has other parameters, see {f}", .{ head.text, template.head.place });
            }
            p.parameters = template.parameters;
            p.arguments = one.arguments;
            p.number = one.number;
            p.grammar = template.grammar;
            p.scanner = template.scanner;
            p.token = template.token;
            p.end = p.scanner.at - p.token.text.len;
            try p.readBody(template.head, one.name, .new);
        }
    }

    fn argumentOf(p: *const Parser, token: Token) ?Reference {
        for (p.parameters, p.arguments) |parameter, argument| {
            if (std.mem.eql(u8, parameter.text, token.text)) return argument;
        }
        return null;
    }

    // ---- Alternatives and directives

    fn readAlternative(p: *Parser) Error!void {
        const place = p.token.place;
        const n_instances = p.instances.items.len;
        const expression = try p.readList(.ampersand, 0);
        var precedence: ?Mention = null;
        var holds = true;
        while (true) {
            if (p.token.tag == .arrow) {
                try p.readAlias();
            } else if (p.token.tag == .directive and std.mem.eql(u8, p.token.text, "%if")) {
                try p.advance();
                var reader: parametric.Reader = .{ .scanner = &p.scanner, .token = p.token, .own = p.number };
                holds = try reader.condition(0) and holds;
                p.token = reader.token;
            } else if (isPrec(p.token)) {
                if (precedence != null) return p.fail(p.token.place, "the alternative has a second %prec", .{});
                try p.advance();
                precedence = (try p.readMention()) orelse return p.unexpected("a terminal's name or a string");
                if (precedence.?.reference == .name) p.names.items[precedence.?.reference.name].is_precedence = true;
            } else break;
        }
        if (holds) return p.alternatives.append(p.arena, .{ .expression = expression, .place = place, .precedence = precedence });
        for (p.instances.items[n_instances..]) |unused| p.names.items[unused.name].is_symbol = false;
        p.instances.shrinkRetainingCapacity(n_instances);
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

    fn readPriority(p: *Parser) Error!i32 {
        if (p.token.tag != .dot) return 0;
        try p.advance();
        const negative = p.token.tag == .minus;
        if (negative or p.token.tag == .plus) try p.advance();
        const token = p.token;
        try p.expect(.number, "a number");
        const number: i32 = std.fmt.parseInt(i32, token.text, 10) catch |e| switch (e) {
            error.Overflow => std.math.maxInt(i32), // it is compared with others, and none is larger
            error.InvalidCharacter => return p.fail(token.place, "{s} is no number", .{token.text}),
        };
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
        if (p.grammar != 0 and (std.mem.eql(u8, name, "lexing") or std.mem.eql(u8, name, "conflicts"))) {
            return p.fail(directive.place, "{s} stands in the outermost grammar", .{directive.text});
        }
        if (std.mem.eql(u8, name, "case")) {
            const Case = enum { ascii, unicode };
            p.patterns.ascii_case = try p.readWord(Case, &.{ .ascii, .unicode }) == .ascii;
            return p.endLine();
        }
        if (std.mem.eql(u8, name, "lexing")) {
            p.reading.lexing = try p.readWord(Lexing, &.{ .longest, .contextual, .any });
            return p.endLine();
        }
        if (std.mem.eql(u8, name, "conflicts")) {
            p.reading.conflicts = try p.readWord(Conflicts, &.{ .follow, .shift, .refuse });
            return p.endLine();
        }
        if (isPrec(directive)) return p.failPrec();
        if (std.mem.eql(u8, name, "override") or std.mem.eql(u8, name, "extend")) {
            try p.advance();
            return p.readDefinition(if (std.mem.eql(u8, name, "override")) .override else .extend);
        }
        if (std.mem.eql(u8, name, "declare")) return p.readDeclare();
        if (std.mem.eql(u8, name, "llguidance") or std.mem.eql(u8, name, "grammar_options")) return p.readOptions();
        return p.fail(directive.place, "there is no directive {f}", .{quoted(directive.text)});
    }

    /// One of the words that may stand after a directive.
    fn readWord(p: *Parser, comptime Word: type, words: []const Word) Error!Word {
        const directive = p.token;
        try p.advance();
        for (words) |word| if (p.token.tag == .rule and std.mem.eql(u8, p.token.text, @tagName(word))) {
            try p.advance();
            return word;
        };
        const names: []const u8 = switch (Word) {
            Lexing => "longest, contextual or any",
            Conflicts => "follow, shift or refuse",
            else => "ascii or unicode",
        };
        return p.fail(p.token.place, "{s} is followed by {s}", .{ directive.text, names });
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
        switch (p.grammars.items[p.grammar]) {
            .outermost => {},
            .imported => return p.endLine(), // as in Lark
            .nested => try p.warn(first.place, "{s} is ignored in the whole text, not only by the grammar in braces", .{p.textFrom(first)}),
        }
        switch (expression) {
            .reference => |reference| try p.ignored.append(p.arena, .{
                .reference = reference,
                .place = first.place,
                .grammar = p.grammar,
            }),
            else => try p.ignored_expressions.append(p.arena, .{
                .name = p.textFrom(first),
                .place = first.place,
                .expression = expression,
                .grammar = p.grammar,
            }),
        }
        return p.endLine();
    }

    fn readDeclare(p: *Parser) Error!void {
        try p.advance();
        if (p.token.tag != .terminal) return p.unexpected("the name of a terminal");
        while (p.token.tag == .terminal) {
            const head = p.token;
            const definition = try p.define(head, try p.nameOf(head), true, .new);
            p.terminals.items[definition].expression = .{ .reference = .{ .pattern = try p.patterns.nothing(head) } };
            try p.warn(head.place, "the terminal {s} is declared, and no text is one: what needs it is left out", .{head.text});
            try p.advance();
        }
        return p.endLine();
    }

    /// `{ "name": value }` of other engines.
    fn readOptions(p: *Parser) Error!void {
        const directive = p.token;
        try p.advance();
        const place = p.token.place;
        const value = try p.readJson();
        if (value != .object) return p.fail(place, "{s} is followed by a JSON object", .{directive.text});
        for (value.object.members()) |member| {
            const Known = enum { allow_initial_skip, no_forcing, allow_invalid_utf8, ignore_once };
            const known = std.meta.stringToEnum(Known, member.key) orelse
                return p.fail(place, "{s} has no option {f}", .{ directive.text, quoted(member.key) });
            if (member.value != .boolean) return p.fail(place, "the option {s} is true or false", .{member.key});
            const is_set = member.value.boolean;
            switch (known) {
                // A grammar within another comes after what that one skips.
                .allow_initial_skip => if (p.grammar == 0) {
                    p.skips_first = is_set;
                },
                // The caller decides whether to take forced tokens.
                .no_forcing, .allow_invalid_utf8 => if (is_set) {
                    try p.warn(place, "{s} has no effect", .{member.key});
                },
                .ignore_once => p.skips_once.items[p.grammar] = is_set,
            }
        }
        return p.endLine();
    }

    /// The braces whose first is the current token.
    fn readJson(p: *Parser) Error!json.Value {
        const open = p.token;
        if (open.tag != .left_brace) return p.unexpected("\"{\"");
        const text = try p.scanner.braces(open);
        var n_objects: u32 = 0;
        const value = json.read(p.arena, p.arena, text, &n_objects, p.budget, p.diag) catch |e| {
            if (e == error.OutOfMemory or p.diag.status != .grammar) return e;
            return source_text.failAgain(open.place, p.diag);
        };
        try p.advance();
        return value;
    }

    fn readImport(p: *Parser) Error!void {
        const first = p.token;
        var path: ArrayList(u8) = .empty;
        while (p.token.tag == .dot or p.token.tag == .dots) try p.advance();
        var name = p.token;
        var grammar: ?u32 = null; // of the caller, once the path is known
        while (true) {
            if (name.tag != .rule and name.tag != .terminal) return p.unexpected("the name of a grammar");
            try p.advance();
            if (p.token.tag != .dot and p.token.tag != .left_parenthesis) break;
            if (path.items.len > 0) try path.append(p.arena, '.');
            try path.appendSlice(p.arena, name.text);
            if (p.token.tag == .left_parenthesis) break;
            try p.advance();
            name = p.token;
        }
        if (path.items.len == 0) return p.fail(first.place, "an import is written %import grammar.NAME", .{});
        const is_common = first.tag == .rule and std.mem.eql(u8, path.items, "common");
        if (!is_common) grammar = try p.grammarOf(path.items, first);
        if (p.token.tag == .left_parenthesis) {
            while (true) {
                try p.advance();
                const one = p.token;
                try p.advance();
                try p.import(one, one, grammar);
                if (p.token.tag != .comma) break;
            }
            try p.expect(.right_parenthesis, "\",\" or \")\"");
        } else {
            var as = name;
            if (p.token.tag == .arrow) {
                try p.advance();
                as = p.token;
                try p.advance();
            }
            try p.import(name, as, grammar);
        }
        return p.endLine();
    }

    /// Defines `as` as what `name` is in a grammar, or in common.
    fn import(p: *Parser, name: Token, as: Token, grammar: ?u32) Error!void {
        for ([_]Token{ name, as }) |one| {
            if (one.tag != .terminal and (one.tag != .rule or grammar == null)) {
                return p.fail(one.place, "expected the name of a terminal, found {f}", .{one});
            }
        }
        if (name.tag != as.tag) return p.fail(as.place, "{s} and {s} are not both rules or terminals", .{ name.text, as.text });
        if (grammar) |number| {
            const target = try p.intern(try p.keyOf(number, name.text), name.text, name);
            p.names.items[target].is_symbol = true;
            const local = &p.names.items[try p.nameOf(as)];
            if (local.definition != null or local.stands_for != null and local.stands_for != target) {
                return p.fail(as.place, "{s} is defined already", .{as.text});
            }
            local.stands_for = target;
            return;
        }
        const expression = common_terminals.find(name.text) orelse
            return p.fail(name.place, "common has no terminal {s} (or it cannot be supported)", .{name.text});
        const definition = try p.define(as, try p.nameOf(as), true, .new);
        const pattern = try p.patterns.imported(expression, as.place);
        p.terminals.items[definition].expression = .{ .reference = .{ .pattern = pattern } };
    }

    /// The grammar of the caller with this name, or the one that ships, which is read when it is first asked for.
    fn grammarOf(p: *Parser, name: []const u8, first: Token) Error!u32 {
        for (p.imported.items) |one| if (std.mem.eql(u8, one.name, name)) return one.grammar;
        const text = try p.callers.find(p.arena, name, p.budget, p.diag) orelse shipped_grammars.find(name) orelse
            return p.fail(first.place, "there is no grammar {s} to import from: it is not common, and not among those given", .{name});
        const number: u32 = @intCast(p.grammars.items.len);
        try p.addGrammar(.imported);
        try p.imported.append(p.arena, .{ .name = name, .grammar = number });
        try p.readText(number, text, first.place, name);
        return number;
    }

    /// Reads a grammar of the caller.
    fn readText(p: *Parser, number: u32, text: []const u8, place: Place, name: []const u8) Error!void {
        const outer = try p.enter(number, place);
        const within = try p.arena.create(Import);
        within.* = .{ .place = place, .name = name };
        p.scanner = .{ .text = text, .within = within, .diag = p.diag };
        try p.readAll();
        p.leave(outer);
    }

    fn readAll(p: *Parser) Error!void {
        try source_text.check(p.scanner.text, p.scanner.within, p.diag);
        try p.advance();
        while (p.token.tag != .end) try p.readItem();
    }

    const Outer = struct { grammar: u32, scanner: Scanner, token: Token, end: usize, in_terminal: bool };

    fn addGrammar(p: *Parser, grammar: Grammar) Error!void {
        try p.grammars.append(p.arena, grammar);
        try p.skips_once.append(p.arena, false);
    }

    fn enter(p: *Parser, grammar: u32, place: Place) Error!Outer {
        if (p.n_around == grammars_nested_max) {
            return p.diag.fail(.limit, "{f}: grammars are nested deeper than {d}", .{ place, grammars_nested_max });
        }
        p.n_around += 1;
        const outer: Outer = .{
            .grammar = p.grammar,
            .scanner = p.scanner,
            .token = p.token,
            .end = p.end,
            .in_terminal = p.in_terminal,
        };
        p.grammar = grammar;
        return outer;
    }

    fn leave(p: *Parser, outer: Outer) void {
        p.n_around -= 1;
        p.grammar = outer.grammar;
        p.scanner = outer.scanner;
        p.token = outer.token;
        p.end = outer.end;
        p.in_terminal = outer.in_terminal;
    }

    /// `%lark { ... }`: a grammar with names of its own, of which it is the start.
    fn readNested(p: *Parser) Error!Expression {
        const directive = p.token;
        if (p.in_terminal) return p.fail(directive.place, "a terminal cannot use a grammar", .{});
        const depth = p.scanner.depth;
        try p.advance();
        if (p.token.tag != .left_brace) return p.unexpected("\"{\"");
        const number: u32 = @intCast(p.grammars.items.len);
        try p.addGrammar(.nested);
        const outer = try p.enter(number, directive.place);
        p.scanner.depth = 0;
        try p.advance();
        while (p.token.tag != .right_brace) {
            if (p.token.tag == .end) return p.fail(directive.place, "the grammar in braces is not closed", .{});
            try p.readItem();
        }
        p.n_around -= 1;
        p.grammar = outer.grammar;
        p.in_terminal = outer.in_terminal;
        p.scanner.depth = depth;
        try p.advance();
        return p.startIn(number, directive);
    }

    /// `%regex { ... }`.
    fn readStructured(p: *Parser) Error!Expression {
        try p.advance();
        const open = p.token;
        const value = try p.readJson();
        const pattern = try p.patterns.structured(open, p.textFrom(open), value);
        return .{ .reference = .{ .pattern = pattern } };
    }

    /// `%json { ... }`: a document that is valid against this schema.
    fn readSchema(p: *Parser) Error!Expression {
        const directive = p.token;
        try p.advance();
        const open = p.token;
        if (open.tag != .left_brace) return p.unexpected("\"{\"");
        const text = try p.scanner.braces(open);
        try p.advance();
        return p.document(directive, text);
    }

    fn document(p: *Parser, token: Token, text: []const u8) Error!Expression {
        if (p.in_terminal) return p.fail(token.place, "a terminal cannot use a schema", .{});
        const found = guidance.read(p.arena, text, p.budget, p.diag) catch |e| {
            return if (e == error.OutOfMemory) e else source_text.failAgain(token.place, p.diag);
        };
        for (found.unsupported) |name| try p.warn(token.place, "x-guidance: {s} has no effect", .{name});
        var options = found.options;
        options.documents = p.callers;
        return .{ .reference = .{ .pattern = try p.patterns.document(token, text, options) } };
    }

    /// `@name`: what the caller has by this name, a schema or the start of a grammar.
    fn readPart(p: *Parser) Error!Expression {
        const token = p.token;
        const name = token.text[1..];
        try p.advance();
        for (p.named.items) |one| if (std.mem.eql(u8, one.name, name)) switch (one.is) {
            .schema => |text| return p.document(token, text),
            .grammar => |grammar| return p.startIn(grammar, token),
        };
        const text = try p.callers.find(p.arena, name, p.budget, p.diag) orelse
            return p.fail(token.place, "there is no grammar or schema {s} among those given", .{name});
        if (isSchema(text)) {
            try p.named.append(p.arena, .{ .name = name, .is = .{ .schema = text } });
            return p.document(token, text);
        }
        const number: u32 = @intCast(p.grammars.items.len);
        try p.addGrammar(.nested);
        try p.named.append(p.arena, .{ .name = name, .is = .{ .grammar = number } });
        try p.readText(number, text, token.place, name);
        return p.startIn(number, token);
    }

    /// No grammar begins with a brace, and none is a single word.
    fn isSchema(text: []const u8) bool {
        const trimmed = std.mem.trim(u8, text, " \t\r\n");
        if (std.mem.eql(u8, trimmed, "true") or std.mem.eql(u8, trimmed, "false")) return true;
        return trimmed.len > 0 and trimmed[0] == '{';
    }

    fn startIn(p: *Parser, grammar: u32, token: Token) Error!Expression {
        if (p.in_terminal) return p.fail(token.place, "a terminal cannot use a grammar", .{});
        const start = try p.intern(try p.keyOf(grammar, "start"), "start", .{ .tag = .rule, .text = "start", .place = token.place });
        p.names.items[start].is_symbol = true;
        return .{ .reference = .{ .name = start } };
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
            .rule, .terminal, .string, .regex, .token, .part, .left_parenthesis, .left_bracket, .not => true,
            .directive => isAtom(p.token),
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
            .times, .left_brace => {},
            else => return expression,
        }
        const operator = p.token.tag;
        try p.advance();
        if (operator == .left_brace) {
            const place = p.token.place;
            if (p.token.tag == .number) min = try p.readNumber(std.math.maxInt(u32));
            if (p.token.tag == .comma) {
                try p.advance();
                if (p.token.tag == .number) max = try p.readNumber(std.math.maxInt(u32));
            } else max = min;
            if (max != null and max.? < min) return p.fail(place, "the repetition is at most {d}, but at least {d}", .{ max.?, min });
            try p.expect(.right_brace, "\"}\"");
        } else if (operator == .times) {
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
            .question, .star, .plus, .times, .left_brace => return p.fail(
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
                try p.advance();
                if (p.argumentOf(token)) |argument| return .{ .reference = argument };
                if (p.token.tag == .double_colon or p.token.tag == .left_brace and !try p.isCount()) return p.readUse(token, depth);
                const name = try p.nameOf(token);
                if (!p.names.items[name].is_symbol) {
                    p.names.items[name].is_symbol = true;
                    p.names.items[name].place = token.place;
                }
                return .{ .reference = .{ .name = name } };
            },
            .string => return .{ .reference = .{ .pattern = try p.readString() } },
            .regex => {
                const pattern = try p.patterns.regularExpression(token);
                try p.advance();
                return .{ .reference = .{ .pattern = pattern } };
            },
            .token => {
                const pattern = try p.patterns.named(token);
                try p.advance();
                return .{ .reference = .{ .pattern = pattern } };
            },
            .part => return p.readPart(),
            .left_parenthesis, .left_bracket => return p.readGroup(depth),
            .directive => if (std.mem.eql(u8, token.text, "%lark")) {
                return p.readNested();
            } else if (std.mem.eql(u8, token.text, "%regex")) {
                return p.readStructured();
            } else if (std.mem.eql(u8, token.text, "%json")) {
                return p.readSchema();
            },
            .not => {
                try p.refuseInRule();
                try p.advance();
                if (p.token.tag != .not) return .{ .complement = try p.listOf(&.{try p.readAtom(depth)}, token.place) };
            },
            else => {},
        }
        return p.unexpected("a terminal, a string, a regex or a group");
    }

    /// Directives that stand for a symbol.
    fn isAtom(token: Token) bool {
        for ([_][]const u8{ "%lark", "%regex", "%json" }) |one| if (std.mem.eql(u8, token.text, one)) return true;
        return false;
    }

    /// Whether the brace that is the current token begins a number of repetitions.
    fn isCount(p: *const Parser) Error!bool {
        var ahead = p.scanner;
        const token = try ahead.next();
        return token.tag == .number or token.tag == .comma;
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
            return p.diag.fail(.limit, "{f}: parentheses are nested deeper than {d}", .{ open.place, nesting_max });
        }
        try p.advance();
        const expression = try p.readList(.bar, depth + 1);
        const close: Tag = if (is_optional) .right_bracket else .right_parenthesis;
        if (isPrec(p.token)) return p.failPrec();
        if (p.token.tag != close) {
            const wanted = if (is_optional) "]" else ")";
            return p.fail(p.token.place, "expected \"{s}\" for the {f} of {f}, found {f}", .{
                wanted, quoted(open.text), open.place, p.token,
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

    /// Of the grammar that is being read.
    fn nameOf(p: *Parser, token: Token) Error!u32 {
        return p.intern(try p.keyOf(p.grammar, token.text), token.text, token);
    }

    fn keyOf(p: *Parser, grammar: u32, text: []const u8) Error![]const u8 {
        if (grammar == 0) return text;
        var buffer: [16]u8 = undefined;
        return std.mem.concat(p.arena, u8, &.{ message.print(&buffer, "{d}:", .{grammar}), text });
    }

    fn intern(p: *Parser, key: []const u8, text: []const u8, token: Token) Error!u32 {
        const index = try p.name_texts.put(p.arena, key);
        if (index < p.names.items.len) return index;
        try p.names.append(p.arena, .{
            .text = text,
            .place = token.place,
            .is_terminal = token.tag == .terminal,
            .grammar = p.grammar,
        });
        return index;
    }

    /// The definition of a name, to be filled in: an empty one, or that which is to be changed.
    fn define(p: *Parser, head: Token, index: u32, is_terminal: bool, how: Definition) Error!u32 {
        const name = p.targetOf(index);
        const was_terminal = name.is_terminal;
        name.is_terminal = is_terminal;
        p.names.items[index].is_terminal = is_terminal;
        if (name.definition) |earlier| {
            const place = if (was_terminal) p.terminals.items[earlier].place else p.rules.items[earlier].place;
            if (how == .new) return p.fail(head.place, "{s} is defined at {f} already", .{ head.text, place });
            if (is_terminal == was_terminal) return earlier;
            if (how == .extend) return p.fail(
                head.place,
                "{s} is {s} at {f}, but not here: attributes decide that, and %extend cannot change it",
                .{ head.text, if (was_terminal) "a terminal" else "a rule", place },
            );
        } else if (how != .new) {
            return p.fail(head.place, "{s} is not defined so far, so it cannot be changed", .{head.text});
        } else if (p.names.items[index].stands_for != null) {
            return p.fail(head.place, "{s} is imported already", .{head.text});
        }
        if (is_terminal) {
            name.definition = @intCast(p.terminals.items.len);
            const nothing: Expression = .{ .sequence = &.{} };
            try p.terminals.append(p.arena, .{ .name = name.text, .place = head.place, .expression = nothing });
        } else {
            name.definition = @intCast(p.rules.items.len);
            try p.rules.append(p.arena, .{ .name = name.text, .place = head.place, .alternatives = &.{} });
        }
        return name.definition.?;
    }

    /// The name that an imported one stands for, over as many grammars as import it from each other.
    fn targetOf(p: *Parser, index: u32) *Name {
        var name = &p.names.items[index];
        for (0..p.grammars.items.len) |_| name = &p.names.items[name.stands_for orelse break];
        return name;
    }

    fn startOf(p: *Parser, text: []const u8) Error!u32 {
        if (p.name_texts.find(text)) |index| {
            const target = p.targetOf(index).*;
            if (target.definition != null and !target.is_terminal) return index;
            if (target.definition != null and std.mem.findAny(u8, text, lower_case) != null) return p.ruleOf(index, target);
        }
        return p.diag.fail(.grammar, "1:1: the grammar has no rule {s}", .{text});
    }

    /// A rule with nothing but `index`, a rule whose attributes made it a terminal.
    fn ruleOf(p: *Parser, index: u32, target: Name) Error!u32 {
        p.names.items[index].is_symbol = true;
        const alternative: Alternative = .{ .expression = .{ .reference = .{ .name = index } }, .place = target.place };
        const head: Token = .{ .tag = .rule, .text = target.text, .place = target.place };
        const rule = try p.intern("(start)", target.text, head);
        const definition = try p.define(head, rule, false, .new);
        p.rules.items[definition].alternatives = try p.arena.dupe(Alternative, &.{alternative});
        return rule;
    }

    /// Fails if a rule or terminal is used but not defined.
    fn resolveNames(p: *Parser) Error!void {
        for (p.names.items, 0..) |*name, i| {
            const target = p.targetOf(@intCast(i));
            name.definition = target.definition;
            name.is_terminal = target.is_terminal;
            if (!name.is_symbol or name.definition != null) continue;
            const kind: []const u8 = if (name.is_terminal) "terminal" else "rule";
            return p.fail(name.place, "the {s} {s} is not defined", .{ kind, name.text });
        }
    }

    fn warn(p: *Parser, place: Place, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        const text = message.print(&buffer, "{f}: " ++ format, .{place} ++ args);
        try p.warnings.append(p.arena, try p.arena.dupe(u8, text));
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
        if (p.token.tag == .end or p.token.tag == .right_brace and p.grammar != 0) return;
        if (isPrec(p.token)) return p.failPrec();
        return p.expect(.newline, "the end of the line");
    }

    fn readNumber(p: *Parser, largest: u32) Error!u32 {
        const token = p.token;
        try p.expect(.number, "a number");
        const number = std.fmt.parseInt(u32, token.text, 10) catch |e| switch (e) {
            error.Overflow => std.math.maxInt(u32),
            error.InvalidCharacter => return p.fail(token.place, "{s} is no number", .{token.text}),
        };
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
