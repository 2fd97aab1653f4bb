//! The front end for grammars in llama.cpp's notation GBNF, and in XGrammar's EBNF, which grew out of it:
//! from a text to rules (docs/reference/gbnf.md).

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const BudgetedArena = @import("../lark/budgeted_arena.zig").BudgetedArena;
const grammar = @import("../cfg/grammar.zig");
const source_text = @import("../source_text.zig");
const Cursor = @import("cursor.zig").Cursor;
const parser_module = @import("parser.zig");
const Parser = parser_module.Parser;

const Error = Allocator.Error || diagnostic.Error;

pub const Dialect = @import("characters.zig").Dialect;

pub const Options = struct {
    dialect: Dialect = .gbnf,
    /// The rule that derives whole texts.
    root: []const u8 = "root",
};

/// Lives in the arena that `parse` was given.
pub const Parsed = struct {
    grammar: grammar.Grammar,
    /// What is legal but seldom meant, each "line:column: ..." without a newline.
    warnings: []const []const u8,
};

/// The result lives in `arena` and keeps nothing of `text`. The vocabulary is the one whose tokens the grammar may
/// name. ELIZA_ERR_GRAMMAR: an error in the text; its message begins with "line:column: ". ELIZA_ERR_LIMIT: the text
/// is larger or nested deeper than this library, or the budget, allows.
pub fn parse(
    arena: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: Options,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Parsed {
    try source_text.check(text, null, diag);
    var budgeted: BudgetedArena = .{ .arena = arena, .budget = budget, .diag = diag, .what = "the grammar" };
    return parseChecked(budgeted.allocator(), vocabulary, text, options, budget, diag) catch |err| budgeted.explain(err);
}

fn parseChecked(
    arena: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    options: Options,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Parsed {
    var cursor: Cursor = .{ .text = try arena.dupe(u8, text), .diag = diag };
    var parser: Parser = .{
        .arena = arena,
        .budget = budget,
        .diag = diag,
        .dialect = options.dialect,
        .cursor = &cursor,
        .characters = .{ .arena = arena, .cursor = &cursor, .budget = budget, .dialect = options.dialect },
        .tokens = .{ .arena = arena, .vocabulary = vocabulary },
    };
    try parser.read();
    const start = parser.find(options.root) orelse
        return diag.fail(.grammar, "1:1: the grammar has no rule {f}", .{quoted(options.root)});
    const rules = try arena.alloc(grammar.Rule, parser.rules.items.len);
    for (rules, parser.rules.items) |*to, from| {
        const place = from.place orelse return cursor.fail(from.mention, "the rule {s} is not defined", .{from.name});
        to.* = .{ .name = from.name, .place = place, .expression = from.expression, .attributes = from.attributes };
    }
    return .{ .grammar = .{ .rules = rules, .start = start }, .warnings = parser.warnings.items };
}

// ---- Tests

const testing = std.testing;
const Status = @import("engine").status.Status;
const Expression = grammar.Expression;

const Fixture = struct {
    arena: std.heap.ArenaAllocator = .init(testing.allocator),
    budget: Budget = .{},
    diag: Diagnostic = .{},
    vocabulary: *Vocabulary,

    /// Tokens 0 to 3: x, <a>, </a>, and the special <a>.
    fn init() !Fixture {
        var diag: Diagnostic = .{};
        return .{ .vocabulary = try .create(testing.allocator, .{
            .n = 4,
            .bytes = "x<a></a><a>",
            .offsets = &.{ 0, 1, 4, 8, 11 },
            .flags = &.{ .{}, .{}, .{}, .{ .special = true } },
        }, "", &diag) };
    }

    fn deinit(f: *Fixture) void {
        f.vocabulary.release();
        f.arena.deinit();
    }

    fn read(f: *Fixture, dialect: Dialect, text: []const u8) !Parsed {
        return parse(f.arena.allocator(), f.vocabulary, text, .{ .dialect = dialect }, &f.budget, &f.diag);
    }

    fn print(parsed: Parsed, out: *std.Io.Writer) !void {
        for (parsed.grammar.rules, 0..) |rule, i| {
            try out.print("{s}{s}:", .{ if (i == parsed.grammar.start) "*" else "", rule.name });
            try printExpression(parsed, rule.expression, out);
            try out.writeByte('\n');
        }
    }

    fn printExpression(parsed: Parsed, expression: Expression, out: *std.Io.Writer) !void {
        switch (expression) {
            .rule => |rule| try out.print(" {s}", .{parsed.grammar.rules[rule].name}),
            .pattern => |node| switch (node.*) {
                .empty => try out.writeAll(" ''"),
                .bytes => |bytes| try out.print(" '{s}'", .{bytes}),
                .class => |ranges| {
                    try out.writeAll(" [");
                    for (ranges) |range| try out.print("{x}-{x},", .{ range.first, range.last });
                    try out.writeAll("]");
                },
                .alternate => |nodes| {
                    try out.writeAll(" (");
                    for (nodes, 0..) |one, i| {
                        if (i > 0) try out.writeAll(" |");
                        try printExpression(parsed, .{ .pattern = one }, out);
                    }
                    try out.writeAll(" )");
                },
                .substring => |chunks| for (chunks, 0..) |chunk, i| {
                    try out.print("{s}'{s}'", .{ if (i == 0) " " else "..", chunk });
                },
                else => unreachable,
            },
            .sequence => |items| {
                try out.writeAll(" (");
                for (items) |item| try printExpression(parsed, item, out);
                try out.writeAll(" )");
            },
            .choice => |items| {
                try out.writeAll(" (");
                for (items, 0..) |item, i| {
                    if (i > 0) try out.writeAll(" |");
                    try printExpression(parsed, item, out);
                }
                try out.writeAll(" )");
            },
            .repeat => |repeat| {
                try printExpression(parsed, repeat.expression, out);
                try out.print("{{{d},", .{repeat.min});
                if (repeat.max) |max| try out.print("{d}", .{max});
                try out.writeAll("}");
            },
            .tokens => |tokens| {
                try out.writeAll(if (tokens.negated) " !<" else " <");
                for (tokens.ranges) |range| try out.print("{d},", .{range.first});
                try out.writeAll(">");
            },
        }
    }
};

fn expectGrammar(dialect: Dialect, text: []const u8, expected: []const u8) !void {
    var f: Fixture = try .init();
    defer f.deinit();
    const parsed = f.read(dialect, text) catch |err| {
        if (err == error.Failed) try testing.expectEqualStrings("no error", f.diag.message());
        return err;
    };
    var out: std.Io.Writer.Allocating = .init(f.arena.allocator());
    try Fixture.print(parsed, &out.writer);
    try testing.expectEqualStrings(expected, std.mem.trimEnd(u8, out.written(), "\n"));
}

fn expectError(dialect: Dialect, status: Status, text: []const u8, expected: []const u8) !void {
    var f: Fixture = try .init();
    defer f.deinit();
    try testing.expectError(error.Failed, f.read(dialect, text));
    try testing.expectEqualStrings(expected, f.diag.message());
    try testing.expectEqual(status, f.diag.status);
}

test "sequences, alternatives, groups and repetitions" {
    try expectGrammar(.gbnf,
        \\# a comment
        \\root ::= a-1 "x" | ( b
        \\  "y" # another
        \\  | ) * |
        \\  | "z"{2} "z" {2,}"z"{ 2 , 3 }+?
        \\
        \\a-1::=""
        \\b ::= ((("v")))
    ,
        \\*root: ( ( a-1 'x' ) | ( ( b 'y' ) | ( ) ){0,} | ( ) | ( 'z'{2,2} 'z'{2,} 'z'{2,3}{0,} ) )
        \\a-1: ''
        \\b: 'v'
    );
}

test "line ends of all kinds, and rules in any order" {
    try expectGrammar(.gbnf, "x ::=\r\n \"a\"\rroot ::= x\n\n\r\n  y ::= # c\n #d\n\"b\"", "x: 'a'\n*root: x\ny: 'b'");
}

test "characters: escapes, Unicode, classes" {
    try expectGrammar(
        .gbnf,
        \\root ::= "\x41\u00e9\U0001F600\t\r\n\\\"\[\]\-é😀x" [abé-\u00ff\]] [^a-] [-a] [^\-] [\x00-\x1f] . |
        \\  "a
        \\b" [\UFFFFFFFF\U00110000] [^\x00-\uFFFF] [\ud800-\U00110000]
    ,
        "*root: ( ( 'A\u{e9}\u{1f600}\t\r\n\\\"[]-\u{e9}\u{1f600}x' [5d-5d,61-62,e9-ff,] [1-2c,2e-60,62-10ffff,]" ++
            " [2d-2d,61-61,] [1-2c,2e-10ffff,] [1-1f,] [1-10ffff,] ) | ( 'a\nb' [] [10000-10ffff,] [d800-10ffff,] ) )",
    );
}

test "tokens" {
    try expectGrammar(.gbnf, "root ::= <[2]> !<[0]>* <a> !</a>", "*root: ( <2,> !<0,>{0,} <3,> !<2,> )");
}

test "EBNF: line ends mean nothing, more escapes, no dot" {
    try expectGrammar(
        .ebnf,
        \\root ::= a.b
        \\  "\x1F600\?\e" | [^]
        \\  [\$\x10-o\]\--] (= "b")
        \\a.b
        \\  ::= "x" [^\n]{2}
    ,
        "*root: ( ( a.b '\u{1f600}?\x1b' ) | ( [0-10ffff,] [10-6f,] ) )\na.b: ( 'x' [0-9,b-10ffff,]{2,2} )",
    );
}

test "EBNF: calls" {
    try expectGrammar(.ebnf,
        \\root ::= Token(1, 2) ExcludeToken( 0 )* | Regex( "\\x61" , flags="") Regex("\"|[!-$]", json_string=true)
        \\  Substring("x", "", "yz") | Regex (Substring)
        \\Regex ::= Substring()
        \\Substring ::= "v"
    ,
        \\*root: ( ( <1,2,> !<0,>{0,} ) | ( 'a' ( [] | [21-21,23-24,] ) 'x'..'yz' ) | ( Regex Substring ) )
        \\Regex: ''
        \\Substring: 'v'
    );
}

test "warnings" {
    var f: Fixture = try .init();
    defer f.deinit();
    const parsed = try f.read(.gbnf, "root ::= a\na ::= \"b\"\na ::= \"c\"");
    try testing.expectEqual(1, parsed.warnings.len);
    try testing.expectEqualStrings("2:1: a is defined again at 3:1, and only its last definition counts", parsed.warnings[0]);
}

test "errors say where and what" {
    for ([_][2][]const u8{
        .{ "", "1:1: the grammar has no rule \"root\"" },
        .{ "a ::= \"b\"", "1:1: the grammar has no rule \"root\"" },
        .{ "root ::= \"é\" b\nc ::= b", "1:14: the rule b is not defined" },
        .{ "root = \"a\"", "1:6: expected \"::=\", found \"=\"" },
        .{ "root\n::= \"a\"", "1:5: expected \"::=\", found the end of the line" },
        .{ "\"a\"", "1:1: expected the name of a rule, found \"\\\"\"" },
        .{ "root ::= \"a\"\n  | \"b\"", "2:3: expected the name of a rule, found \"|\"" },
        .{ "root ::= \"a\" b ::= \"c\"", "1:16: expected the end of the rule, found \":\"" },
        .{ "root ::= \"a\" )", "1:14: expected the end of the rule, found \")\"" },
        .{ "root ::= (\"a\"\n\"b\" ;", "2:5: expected \")\" for the \"(\" of 1:10, found \";\"" },
        .{ "root ::= ((", "1:12: expected \")\" for the \"(\" of 1:11, found the end of the grammar" },
        .{ "root ::= \"a", "1:10: the literal is not closed" },
        .{ "root ::= [a", "1:10: the class is not closed" },
        .{ "root ::= \"é\\d\"", "1:12: the literal has no such escape (a backslash is written \\\\)" },
        .{ "root ::= [\\x4]", "1:11: the class has no such escape (a backslash is written \\\\)" },
        .{ "root ::= \"\\u00\"", "1:11: the literal has no such escape (a backslash is written \\\\)" },
        .{ "root ::= \"\\ud800\"", "1:11: no text has the character U+0000D800" },
        .{ "root ::= \"\\x00\"", "1:11: no text has the character U+00000000" },
        .{ "root ::= \"\\U00110000\"", "1:11: no text has the character U+00110000" },
        .{ "root ::= [az-a]", "1:12: the range ends before it begins" },
        .{ "root ::= \"x\" []", "1:14: an empty class: any character is written ., the empty text \"\"" },
        .{ "root ::= [^]", "1:10: an empty class: any character is written ., the empty text \"\"" },
        .{ "root ::= * \"a\"", "1:10: there is nothing to repeat" },
        .{ "root ::= \"a\" | +", "1:16: there is nothing to repeat" },
        .{ "root ::= \"a\"{,3}", "1:14: expected a number, found \",\"" },
        .{ "root ::= \"a\"{1", "1:15: expected \"}\", found the end of the grammar" },
        .{ "root ::= \"a\"{3,2}", "1:13: the repetition is at most 2, but at least 3" },
        .{ "root ::= \"a\"{4294967295}", "1:14: the number is more than 4294967294" },
        .{ "root ::= <[4]>", "1:12: there is no token 4: the vocabulary has 4" },
        .{ "root ::= <[1>", "1:13: expected \"]>\", found \">\"" },
        .{ "root ::= !<é>", "1:11: no token of the vocabulary is \"<é>\"" },
        .{ "root ::= <é", "1:10: the token is not closed by \">\"" },
        .{ "root ::= ! \"a\"", "1:11: expected \"<\", found \" \"" },
        .{ "root ::= 'a'", "1:10: expected the end of the rule, found \"'\"" },
        .{ "root ::= \"é\x00\"", "1:12: a zero byte" },
    }) |case| try expectError(.gbnf, .grammar, case[0], case[1]);
    for ([_][2][]const u8{
        .{ "root ::= \"a\"\nroot ::= \"b\"", "2:1: root is defined at 1:1 already" },
        .{ "root ::= \"a\" b ::= \"c\"", "1:14: a rule begins on a line of its own" },
        .{ "root ::= (\"a\"\nb ::= \"c\"", "2:1: expected \")\" for the \"(\" of 1:10, found \"b\"" },
        .{ "root ::= \"a\"++", "1:14: a repetition of a repetition: put the first into parentheses" },
        .{ "root ::= \"a\n\"", "1:10: the literal is not closed" },
        .{ "root ::= [\\d]", "1:11: the class has no such escape (a backslash is written \\\\)" },
        .{ "root ::= []", "1:10: an empty class: any character is written [^], the empty text \"\"" },
        .{ "root ::= .", "1:10: expected the end of the rule, found \".\"" },
        .{ "root ::= Regex(\"(\")", "1:10: at byte 0: this group is not closed" },
        .{ "root ::= Regex(\"a\", x=1)", "1:21: Regex has the options flags and json_string" },
        .{ "root ::= Token(4)", "1:16: there is no token 4: the vocabulary has 4" },
        .{ "root ::= TagDispatch((\"a\", b))", "1:28: the rule b is not defined" },
        .{ "root ::= TagDispatch((\"\", root))", "1:22: the text is empty" },
        .{ "root ::= TokenTagDispatch((1, root))", "1:10: TokenTagDispatch is unsupported" },
        .{ "1a ::= \"b\"", "1:1: expected the name of a rule, found \"1\"" },
    }) |case| try expectError(.ebnf, .grammar, case[0], case[1]);
}

test "nesting is limited, and deep expressions become rules" {
    const gpa = testing.allocator;
    const n = parser_module.nesting_max;
    const deep = try std.mem.concat(gpa, u8, &.{ "root ::= ", &@as([n]u8, @splat('(')), "\"a\"", &@as([n]u8, @splat(')')) });
    defer gpa.free(deep);
    var f: Fixture = try .init();
    defer f.deinit();
    const parsed = try f.read(.gbnf, deep);
    try testing.expectEqual(1 + n / 64, parsed.grammar.rules.len);
    const deeper = try std.mem.concat(gpa, u8, &.{ "root ::= ", &@as([n + 1]u8, @splat('(')), "\"a\"" });
    defer gpa.free(deeper);
    try expectError(.gbnf, .limit, deeper, "1:1010: parentheses are nested deeper than 1000");
}

test "a budget ends it" {
    var f: Fixture = try .init();
    defer f.deinit();
    f.budget.bytes_max = 1000;
    const long = try std.mem.concat(testing.allocator, u8, &.{ "root ::= [", &@as([5000]u8, @splat('a')), "]" });
    defer testing.allocator.free(long);
    try testing.expectError(error.Failed, f.read(.gbnf, long));
    try testing.expectEqual(.limit, f.diag.status);
}
