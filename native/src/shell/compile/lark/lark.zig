//! The front end for grammars in Lark's notation (docs/reference/grammars.md): from a text to terminals and productions.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const BudgetedArena = @import("budgeted_arena.zig").BudgetedArena;
const Expansion = @import("expand.zig").Expansion;
const bnf = @import("../bnf.zig");
const TokenClasses = @import("../cfg/token_classes.zig").TokenClasses;
const message = @import("message");
const Place = bnf.Place;
const parser = @import("parser.zig");
const source_text = @import("../source_text.zig");
const SyntaxTree = @import("syntax_tree.zig").SyntaxTree;
pub const Options = parser.Options;
const Terminals = @import("terminals.zig").Terminals;
const counted_rules = @import("../cfg/counted_rules.zig");

const Error = Allocator.Error || diagnostic.Error;

const warnings_max = 100;

/// Lives in the arena that `parse` was given.
pub const Parsed = struct {
    grammar: bnf.Bnf,
    /// Of its rules, in tokens.
    limits: []const counted_rules.Limit,
    /// What is legal but seldom meant, each "line:column: ..." without a newline.
    warnings: []const []const u8,
    reading: bnf.Reading,
    /// The JSON documents that its terminals are, by number.
    parts: []const bnf.Part,
    /// Of the tokens that it names.
    tokens: *const TokenClasses,
};

/// The result lives in `arena` and keeps nothing of `text`. ELIZA_ERR_GRAMMAR: an error in the text; its message begins with
/// "line:column: ". ELIZA_ERR_LIMIT: the text is larger than this library, or the budget, allows.
pub fn parse(arena: Allocator, text: []const u8, options: Options, budget: *Budget, diag: *Diagnostic) Error!Parsed {
    try source_text.check(text, null, diag);
    var budgeted: BudgetedArena = .{ .arena = arena, .budget = budget, .diag = diag, .what = "the grammar" };
    return parseChecked(budgeted.allocator(), arena, text, options, budget, diag) catch |err| budgeted.explain(err);
}

fn parseChecked(
    arena: Allocator,
    uncounted: Allocator,
    text: []const u8,
    options: Options,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Parsed {
    var warnings: Warnings = .{ .arena = arena };
    const tree = try parser.parse(arena, try arena.dupe(u8, text), options, &warnings.list, budget, diag);
    var terminals: Terminals = try .init(arena, uncounted, &tree, budget, diag);

    var expansion: Expansion = .{
        .arena = arena,
        .budget = budget,
        .diag = diag,
        .tree = &tree,
        .terminals = &terminals,
        .of_definitions = try arena.alloc(u32, tree.rules.len),
    };
    @memset(expansion.of_definitions, Expansion.none);
    try expansion.run(tree.names[tree.start].definition.?);
    return .{
        .grammar = try assemble(arena, &terminals, &expansion),
        .limits = try limitsOf(&expansion),
        .warnings = try warnOfUnused(&warnings, &terminals, &expansion),
        .reading = tree.reading,
        .parts = tree.parts,
        .tokens = tree.tokens,
    };
}

fn assemble(arena: Allocator, terminals: *Terminals, expansion: *const Expansion) Error!bnf.Bnf {
    const numbers = try arena.alloc(u16, terminals.entries.items.len);
    const finished = try terminals.finish(numbers);
    const productions = try arena.alloc(bnf.Production, expansion.productions.items.len);
    for (productions, expansion.productions.items) |*to, from| {
        const symbols = try arena.alloc(bnf.Symbol, from.symbols.len);
        for (symbols, from.symbols) |*symbol, one| {
            symbol.* = if (one.is_rule) .{ .rule = @intCast(one.index) } else .{ .terminal = numbers[one.index] };
        }
        to.* = .{ .rule = @intCast(from.rule), .symbols = symbols, .precedence = from.precedence, .place = from.place };
    }
    return .{ .terminals = finished, .rules = expansion.rules.items, .productions = productions, .start = 0 };
}

fn limitsOf(expansion: *const Expansion) Error![]const counted_rules.Limit {
    var limits: ArrayList(counted_rules.Limit) = .empty;
    for (expansion.tree.rules, expansion.of_definitions) |rule, number| if (rule.tokens_max > 0 and number != Expansion.none) {
        try limits.append(expansion.arena, .{
            .rule = @intCast(number),
            .name = rule.name,
            .place = rule.limit_place,
            .tokens_max = @intCast(rule.tokens_max),
        });
    };
    return limits.items;
}

fn warnOfUnused(warnings: *Warnings, terminals: *const Terminals, expansion: *const Expansion) Error![]const []const u8 {
    for (expansion.tree.rules, expansion.of_definitions) |rule, used_as| {
        if (used_as == Expansion.none) try warnings.add(rule.place, "rule", rule.name);
    }
    for (terminals.entries.items) |entry| {
        if (!entry.is_used and !entry.is_part and !entry.skip) try warnings.add(entry.place, "terminal", entry.name);
    }
    return warnings.finish();
}

const Warnings = struct {
    arena: Allocator,
    list: ArrayList([]const u8) = .empty,
    n_more: usize = 0,

    fn add(n: *Warnings, place: Place, kind: []const u8, name: []const u8) Error!void {
        if (n.list.items.len >= warnings_max) {
            n.n_more += 1;
            return;
        }
        return n.write("{f}: the {s} {s} is never used", .{ place, kind, name });
    }

    fn write(n: *Warnings, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [Diagnostic.message_bytes_max]u8 = undefined;
        try n.list.append(n.arena, try n.arena.dupe(u8, message.print(&buffer, format, args)));
    }

    fn finish(n: *Warnings) Error![]const []const u8 {
        if (n.n_more > 0) try n.write("and {d} more rules and terminals that are never used", .{n.n_more});
        return n.list.items;
    }
};

// ---- Tests

const testing = std.testing;

const Fixture = struct {
    arena: Arena = .init(testing.allocator),
    budget: Budget = .{},
    diag: Diagnostic = .{},

    fn parseText(f: *Fixture, text: []const u8) !Parsed {
        return parse(f.arena.allocator(), text, .{}, &f.budget, &f.diag) catch |err| {
            if (err == error.Failed) try testing.expectEqualStrings("no error", f.diag.message());
            return err;
        };
    }

    /// Each production as "rule: symbols" on a line of its own, rule by rule.
    fn productions(f: *Fixture, from: bnf.Bnf) ![]const u8 {
        var out: std.Io.Writer.Allocating = .init(f.arena.allocator());
        for (0..from.rules.len) |of| for (from.productions) |production| {
            if (production.rule != of) continue;
            try out.writer.print("{s}:", .{from.rules[production.rule].name});
            for (production.symbols) |symbol| switch (symbol) {
                .rule => |rule| try out.writer.print(" {s}", .{from.rules[rule].name}),
                .terminal => |terminal| try out.writer.print(" {s}", .{from.terminals[terminal].name}),
            };
            if (production.precedence) |one| try out.writer.print(" %{d} {t}", .{ one.level, one.associativity });
            try out.writer.writeByte('\n');
        };
        return std.mem.trimEnd(u8, out.written(), "\n");
    }

    /// Names in the order of priority, with marks.
    fn terminals(f: *Fixture, from: bnf.Bnf) ![]const u8 {
        var out: std.Io.Writer.Allocating = .init(f.arena.allocator());
        for (from.terminals) |terminal| {
            try out.writer.print("{s}{s}{s} ", .{
                terminal.name, if (terminal.soft) " soft" else "", if (terminal.skip) " skip" else "",
            });
        }
        return std.mem.trimEnd(u8, out.written(), " ");
    }
};

fn expectProductions(text: []const u8, expected: []const u8) !void {
    var f: Fixture = .{};
    defer f.arena.deinit();
    try testing.expectEqualStrings(expected, try f.productions((try f.parseText(text)).grammar));
}

fn expectTerminals(text: []const u8, expected: []const u8) !void {
    var f: Fixture = .{};
    defer f.arena.deinit();
    try testing.expectEqualStrings(expected, try f.terminals((try f.parseText(text)).grammar));
}

fn expectError(status: anytype, text: []const u8, expected: []const u8) !void {
    var f: Fixture = .{};
    defer f.arena.deinit();
    try testing.expectError(error.Failed, parse(f.arena.allocator(), text, .{}, &f.budget, &f.diag));
    try testing.expectEqualStrings(expected, f.diag.message());
    try testing.expectEqual(status, f.diag.status);
}

test "alternatives, groups and optional parts are written out" {
    try expectProductions(
        \\?start: a ("x" | "y") [a] -> name
        \\      | // nothing
        \\
        \\      | (("x")) "x"? -> other   # twice the same
        \\!_b.2: "z"
        \\a: _b
        \\ | _b | (_b)
    ,
        \\start: a "x" a
        \\start: a "x"
        \\start: a "y" a
        \\start: a "y"
        \\start:
        \\start: "x" "x"
        \\start: "x"
        \\a: _b
        \\_b: "z"
    );
}

test "repetition is a left-recursive rule, and equal ones are one rule" {
    try expectProductions(
        \\start: item* | "[" item+ "]" | ("," item?)* | list
        \\list: (item)+ ","
        \\item: (A?)+ B~2
        \\A: "a"
        \\B: "b"
    ,
        \\start: item+
        \\start:
        \\start: "[" item+ "]"
        \\start: ("," item?)+
        \\start: list
        \\item: (A?)+ B B
        \\item: B B
        \\item+: item
        \\item+: item+ item
        \\("," item?)+: "," item
        \\("," item?)+: ("," item?)+ "," item
        \\("," item?)+: ","
        \\("," item?)+: ("," item?)+ ","
        \\list: item+ ","
        \\(A?)+: A
        \\(A?)+: (A?)+ A
    );
}

test "counts are written out while they are small, and counted in binary then" {
    try expectProductions("start: \"x\"~1..3 | (\"y\" | \"z\")~2 | \"v\"~0",
        \\start: "x"
        \\start: "x" "x"
        \\start: "x" "x" "x"
        \\start: "y" "y"
        \\start: "y" "z"
        \\start: "z" "y"
        \\start: "z" "z"
        \\start:
    );
    try expectProductions("start: (\"x\" | \"y\")~69..78",
        \\start: ("x" | "y")~64 ("x" | "y")~4 ("x" | "y")
        \\start: ("x" | "y")~64 ("x" | "y")~4 ("x" | "y") ("x" | "y")~1..9
        \\("x" | "y"): "x"
        \\("x" | "y"): "y"
        \\("x" | "y")~64: ("x" | "y")~32 ("x" | "y")~32
        \\("x" | "y")~32: ("x" | "y")~16 ("x" | "y")~16
        \\("x" | "y")~16: ("x" | "y")~8 ("x" | "y")~8
        \\("x" | "y")~8: ("x" | "y")~4 ("x" | "y")~4
        \\("x" | "y")~4: ("x" | "y")~2 ("x" | "y")~2
        \\("x" | "y")~2: ("x" | "y") ("x" | "y")
        \\("x" | "y")~1..9: ("x" | "y")~1..7
        \\("x" | "y")~1..9: ("x" | "y")~8
        \\("x" | "y")~1..9: ("x" | "y")~8 ("x" | "y")
        \\("x" | "y")~1..7: ("x" | "y")~1..3
        \\("x" | "y")~1..7: ("x" | "y")~4
        \\("x" | "y")~1..7: ("x" | "y")~4 ("x" | "y")~1..3
        \\("x" | "y")~1..3: ("x" | "y")
        \\("x" | "y")~1..3: ("x" | "y")~2
        \\("x" | "y")~1..3: ("x" | "y")~2 ("x" | "y")
    );
}

test "what would be more than 64 alternatives gets rules of its own" {
    var f: Fixture = .{};
    defer f.arena.deinit();
    const parsed = try f.parseText("start: \"0\"? \"1\"? \"2\"? \"3\"? \"4\"? \"5\"? \"6\"? (\"7\" | \"8\")");
    const all = try f.productions(parsed.grammar);
    const end =
        \\
        \\start: "6"? ("7" | "8")
        \\"6"?: "6"
        \\"6"?:
        \\("7" | "8"): "7"
        \\("7" | "8"): "8"
    ;
    try testing.expectStringEndsWith(all, end);
    try testing.expectEqual(64 + 2 + 2, parsed.grammar.productions.len);
}

test "terminals are in the order of explicit priority, literals before regexes, then place" {
    try expectTerminals(
        \\%import common.WS -> SPACE
        \\%import common (INT, CNAME)
        \\start: CNAME KEY "b"i "a".."f" INT LAST HIGH /r/ "key" "\x6bey" ALIAS "\u{6b}ey"
        \\%ignore SPACE
        \\LAST.-1: "last"
        \\KEY: ("key")
        \\HIGH.2: /h/
        \\ALIAS: PART
        \\PART: "part"
        \\%ignore "//" /[^\n]*/
        \\%soft KEY "b"i
    , "HIGH \"b\"i soft KEY soft ALIAS SPACE skip INT CNAME \"a\"..\"f\" /r/ \"//\" /[^\\n]*/ skip LAST");
}

test "a terminal's tree" {
    var f: Fixture = .{};
    defer f.arena.deinit();
    const parsed = try f.parseText(
        \\start: A
        \\A: B* ["\t\"\\\x41\u00e9\U0001F600"] "z"~3
        \\B: "0".."9" | "\u00e9"
    );
    const parts = parsed.grammar.terminals[0].pattern.concat;
    try testing.expectEqual(null, parts[0].repeat.max);
    const either = parts[0].repeat.node.alternate;
    try testing.expectEqualSlices(@import("../regex/ast.zig").Range, &.{.{ .first = '0', .last = '9' }}, either[0].class);
    try testing.expectEqualStrings("\u{e9}", either[1].bytes);
    try testing.expectEqualStrings("\t\"\\A\u{e9}\u{1f600}", parts[1].repeat.node.bytes);
    try testing.expectEqual(3, parts[2].repeat.min);
}

test "precedence: by the last terminal, or by %prec" {
    try expectProductions(
        \\%left "+" "-"
        \\%right POWER
        \\%nonassoc NEGATION
        \\start: start ("+" | "-") start | start POWER start
        \\     | "-" start %prec NEGATION -> negation | "n"
        \\POWER: "^"
    ,
        \\start: start "+" start %1 left
        \\start: start "-" start %1 left
        \\start: start POWER start %2 right
        \\start: "-" start %3 none
        \\start: "n"
    );
}

test "what is not used is left out with a warning" {
    var f: Fixture = .{};
    defer f.arena.deinit();
    const parsed = try f.parseText(
        \\start: "a"
        \\lost: lost "b" C
        \\C: D
        \\D: "d"
        \\%soft "e"
    );
    try testing.expectEqualStrings("\"a\"", try f.terminals(parsed.grammar));
    try testing.expectEqual(1, parsed.grammar.rules.len);
    const expected = [_][]const u8{
        "2:1: the rule lost is never used",
        "3:1: the terminal C is never used",
        "5:7: the terminal \"e\" is never used",
    };
    try testing.expectEqual(expected.len, parsed.warnings.len);
    for (expected, parsed.warnings) |line, warning| try testing.expectEqualStrings(line, warning);
}

test "errors say where and what" {
    const cases = [_][2][]const u8{
        .{ "", "1:1: the grammar has no rule start" },
        .{ "// x\na: \"a\"", "1:1: the grammar has no rule start" },
        .{ "start: a\n  | b", "1:8: the rule a is not defined" },
        .{ "%left A\nstart: \"x\" | A", "2:14: the terminal A is not defined" },
        .{ "start: \"a\"\n\nstart: \"b\"", "3:1: start is defined at 1:1 already" },
        .{ "%import common.INT\nstart: INT\nINT: \"1\"", "3:1: INT is defined at 1:16 already" },
        .{ "start: Ab", "1:8: \"Ab\" is no name: rules are lower case, terminals upper case" },
        .{ "start: \"\u{e9}\u{20ac}\" \"a\n\"", "1:13: the string is not closed on its line" },
        .{ "start: /a(\u{e9}\n/ \"b\"", "1:8: the regex is not closed on its line, and only with the flag x may it have several" },
        .{ "start: /a", "1:8: the regex is not closed" },
        .{ "start: \"\\x4\"", "1:9: the string has no such escape (a backslash is written \\\\)" },
        .{ "start: \"\\ud800\"", "1:9: the escape is no character of Unicode" },
        .{ "start: \"z\"..\"a\"", "1:13: the range ends before it begins" },
        .{ "start: \"a\"..\"bc\"", "1:13: a range goes from one character to another" },
        .{ "start: A\nA: B \"x\"\nB: C\nC: A", "2:1: the terminal A is a part of itself" },
        .{ "start: A\nA: \"x\" start", "2:8: a terminal cannot use the rule start" },
        .{ "start: A\n%ignore A\nA: \"x\"", "1:8: the rule start uses A, which %ignore takes away" },
        .{ "start: (\"a\" | [\"b\" )", "1:20: expected \"]\" for the \"[\" of 1:15, found \")\"" },
        .{ "start: \"a\" )", "1:12: expected the end of the line, found \")\"" },
        .{ "start: \"a\"\n  \"b\"", "2:3: expected a rule, a terminal or a directive, found \"b\"" },
        .{ "start: x y\nx", "2:2: expected \":\", found the end of the grammar" },
        .{ "start: \"a\"**", "1:12: a repetition of a repetition: put the first into parentheses" },
        .{ "start: \"a\"~3..2", "1:15: the repetition is at most 2, but at least 3" },
        .{ "start: \"a\"~99999999999", "1:12: the number is too large" },
        .{ "start: x{\"a\"}", "1:8: the template x is not defined" },
        .{ "start: x{\"a\"}\nx{b, c}: b c", "1:8: x has other parameters, see 2:1" },
        .{ "start: x::1\nx{b}: b", "1:8: x has other parameters, see 2:1" },
        .{ "start: x{(\"a\" \"b\")}\nx{b}: b", "1:10: an argument is a name, a string, a regex or a template" },
        .{ "start: x{\"a\"}\nx{b}: b\nx{c}: c", "3:1: x is defined at 2:1 already" },
        .{ "start: x{\"a\"\nx{b}: b", "2:1: expected \",\" or \"}\", found \"x\"" },
        .{ "start: x{1}", "1:8: the rule x is not defined" },
        .{ "start: x::_\nx::_: \"a\"", "1:11: only a rule with a number, name::_, has one to look at" },
        .{ "start: x::0\nx::_: \"a\" %if odd(1)", "2:15: there is no condition odd" },
        .{ "start: x::turn(1)\nx::_: \"a\"", "1:11: only a rule with a number, name::_, has one to look at" },
        .{ "start: x::0\nx::_: x::turn(1)", "2:10: there is no change of a number turn" },
        .{ "start: x::64\nx::_: \"a\" %if bit_set(64)", "2:23: the number is more than 63" },
        .{ "start: x::0\nx::_: \"a\" %if lt([4:2], 1)", "2:18: the bits end before they begin" },
        .{ "start: \"a\"{2,1}", "1:12: the repetition is at most 1, but at least 2" },
        .{ "start: \"a\"{2", "1:13: expected \"}\", found the end of the grammar" },
        .{ "start[wild]: \"a\"", "1:7: there is no attribute wild" },
        .{ "A[lazy]: \"a\"", "1:2: attributes are for rules, with a name in lower case" },
        .{ "start[lazy, stop=\"b\"]: \"a\"", "1:13: lazy, stop and suffix cannot be combined" },
        .{ "start[lazy, lazy]: \"a\"", "1:13: the attribute lazy is there twice" },
        .{ "start[max_tokens=3, max_tokens=4]: \"a\"", "1:21: the attribute max_tokens is there twice" },
        .{ "start[lazy]: a\na: \"a\"", "1:14: a terminal cannot use the rule a" },
        .{ "start[capture=]: \"a\"", "1:15: expected a value, found \"]\"" },
        .{ "start: %regex {}", "1:15: %regex is followed by an object of one member" },
        .{ "start: %regex {\"pattern\": \"a\"}", "1:15: %regex has no \"pattern\"" },
        .{ "start: %regex {\"substring_chars\": 1}", "1:15: substring_chars is a string" },
        .{ "start: %regex {\"substring_chunks\": [1]}", "1:15: substring_chunks is an array of strings" },
        .{ "start: %regex {\"substring_chars\": \"\\ud800\"}", "1:15: half of a surrogate pair is no character" },
        .{ "start: %regex {\"a\"", "1:15: the braces are not closed" },
        .{ "start: A\nA: %json {\"type\": \"null\"}", "2:4: a terminal cannot use a schema" },
        .{ "start: %json \"a\"", "1:14: expected \"{\", found \"a\"" },
        .{ "start: <|end|>", "1:8: no token of the vocabulary is \"<|end|>\"" },
        .{ "start: <|end", "1:8: the token is not closed by \">\" on its line" },
        .{ "start: <[1>\n\"]>\"", "1:8: the token is not closed by \"]>\" on its line" },
        .{ "start: <[1-x]>", "1:8: there is no token 1: the vocabulary has 0" },
        .{ "start: <[]>", "1:8: tokens are written <[1,5-9]>, <[^1]>, <[*]> or <name>" },
        .{ "start: @other", "1:8: there is no grammar or schema other among those given" },
        .{ "start: @ other", "1:8: a name must follow the \"@\"" },
        .{ "%case upper", "1:7: %case is followed by ascii or unicode" },
        .{ "start: %lark { a: \"b\" }", "1:8: the rule start is not defined" },
        .{ "start: %lark { start: a }\na: \"b\"", "1:23: the rule a is not defined" },
        .{ "start: %lark { start: \"a\"", "1:8: the grammar in braces is not closed" },
        .{ "start: A\nA: %lark { start: \"a\" }", "2:4: a terminal cannot use a grammar" },
        .{ "start: %lark { %lexing longest\n start: \"a\" }", "1:16: %lexing stands in the outermost grammar" },
        .{ "%llguidance {\"fast\": true}\nstart: \"a\"", "1:13: %llguidance has no option \"fast\"" },
        .{ "%llguidance {\"no_forcing\": 1}\nstart: \"a\"", "1:13: the option no_forcing is true or false" },
        .{ "%override A: \"b\"\nA: \"a\"\nstart: A", "1:11: A is not defined so far, so it cannot be changed" },
        .{ "%declare a", "1:10: expected the name of a terminal, found \"a\"" },
        .{ "%import other.A\nstart: A", "1:9: there is no grammar other to import from: it is not common, and not among those given" },
        .{ "%import common.int\nstart: int", "1:16: expected the name of a terminal, found \"int\"" },
        .{ "start: \"a\"\n %nothing", "2:2: there is no directive \"%nothing\"" },
        .{ "%import common.NAME", "1:16: common has no terminal NAME (or it cannot be supported)" },
        .{ "start: (\"a\" %prec X)", "1:13: %prec stands at the end of an alternative of a rule, outside of parentheses" },
        .{ "start: \"a\" %prec X", "1:18: X has no precedence: %left, %right or %nonassoc gives one" },
        .{ "%left X\nstart: \"a\"", "1:7: X is neither a terminal nor used by %prec" },
        .{ "%left \"a\"\n%right \"a\"\nstart: \"a\"", "2:8: \"a\" has a precedence already" },
        .{ "start: \"a\" \x01", "1:12: \"\\u0001\" means nothing here" },
        .{ "start: \"a\"\n\u{e9}", "2:1: \"\u{e9}\" means nothing here" },
        .{ "start: \"a\" | 'b'", "1:14: a string is written in double quotes" },
        .{ "start ::= \"a\"", "1:7: a rule is written \"name: ...\"; ::= is of other notations" },
        .{ "start: \"\u{e9}\x00\"", "1:10: a zero byte" },
        .{ "start: \"\u{e9}\xff\"", "1:10: invalid UTF-8" },
        .{ "start: /a/l", "1:11: the flag l depends on a locale and is unsupported" },
    };
    for (cases) |case| try expectError(.grammar, case[0], case[1]);
}

test "an error of a regex is placed in the grammar" {
    var f: Fixture = .{};
    defer f.arena.deinit();
    try testing.expectError(error.Failed, parse(f.arena.allocator(), "start: A\nA: \"\u{e9}\" /a(?>b)/", .{}, &f.budget, &f.diag));
    try testing.expectStringStartsWith(f.diag.message(), "2:10: ");
    try testing.expect(f.diag.message().len > 10 and f.diag.message()[6] != '1');
}

test "limits hold in time that is linear in the text" {
    const gpa = testing.allocator;
    const nested = try std.mem.concat(gpa, u8, &.{ "start: ", &@as([100_000]u8, @splat('(')), "\"a\"" });
    defer gpa.free(nested);
    try expectError(.limit, nested, "1:136: parentheses are nested deeper than 128");

    // Each terminal is twice the next one.
    var doubled: std.Io.Writer.Allocating = .init(gpa);
    defer doubled.deinit();
    try doubled.writer.writeAll("start: A0\n");
    for (0..60) |i| try doubled.writer.print("A{d}: A{d} A{d}\n", .{ i, i + 1, i + 1 });
    try doubled.writer.writeAll("A60: \"a\"\n");
    try expectError(.limit, doubled.written(), "42:1: the terminal A40 has more than 1048576 parts");

    var chain: std.Io.Writer.Allocating = .init(gpa);
    defer chain.deinit();
    try chain.writer.writeAll("start: A0\n");
    for (0..5000) |i| try chain.writer.print("A{d}: A{d} \"x\"\n", .{ i, i + 1 });
    try chain.writer.writeAll("A5000: \"a\"\n");
    try expectError(.limit, chain.written(), "258:1: the terminal A256 is deeper than 256");
    const lazy = try std.mem.concat(gpa, u8, &.{ "start: a\na[lazy]: A0", chain.written()["start: A0".len..] });
    defer gpa.free(lazy);
    try expectError(.limit, lazy, "258:1: the terminal A255 is deeper than 256");

    var many: std.Io.Writer.Allocating = .init(gpa);
    defer many.deinit();
    try many.writer.writeAll("start: \"x\"");
    for (0..70_000) |i| try many.writer.print(" | \"{d}\"", .{i});
    try expectError(.limit, many.written(), "1:644244: the grammar has more than 65535 productions");

    var intersection: std.Io.Writer.Allocating = .init(gpa);
    defer intersection.deinit();
    try intersection.writer.writeAll("start: A\nA: \"b\" | \"a\"");
    for (0..70_000) |_| try intersection.writer.writeAll(" & \"a\"");
    try expectError(.limit, intersection.written(), "the combination at 2:10 needs more than 65535 states");

    // Each is the complement of the next one.
    chain.clearRetainingCapacity();
    try chain.writer.writeAll("start: A0\n");
    for (0..5000) |i| try chain.writer.print("A{d}: ~A{d}\n", .{ i, i + 1 });
    try chain.writer.writeAll("A5000: \"a\"\n");
    try expectError(.limit, chain.written(), "258:1: the terminal A256 is deeper than 256");

    var f: Fixture = .{};
    defer f.arena.deinit();
    const parsed = try f.parseText("start: \"x\"~0..4294967294 | (((\"y\"~8)~8)~8)~8");
    try testing.expect(parsed.grammar.productions.len < 300);
}
