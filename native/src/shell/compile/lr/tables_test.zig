//! The parser's construction on textbook grammars, and against the oracles of naive_test.zig on random ones.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ast = @import("../regex/ast.zig");
const Budget = @import("engine").budget.Budget;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Symbol = bnf.Symbol;
const tables_module = @import("tables.zig");
const Tables = tables_module.Tables;
const naive = @import("naive_test.zig");

const pattern: ast.Node = .{ .bytes = "x" };

/// Reads one rule per line, `name: symbols | symbols`; names without a line are terminals. `%left`, `%right` and `%nonassoc` lines
/// come lowest first. `%prec NAME` ends an alternative.
const Reader = struct {
    arena: Allocator,
    terminals: std.ArrayList(bnf.Terminal) = .empty,
    rules: std.ArrayList(bnf.Rule) = .empty,
    productions: std.ArrayList(bnf.Production) = .empty,

    fn read(arena: Allocator, text: []const u8) !Bnf {
        var r: Reader = .{ .arena = arena };
        var lines = std.mem.splitScalar(u8, text, '\n');
        var number: u32 = 0;
        while (lines.next()) |line| {
            number += 1;
            const colon = std.mem.indexOfScalar(u8, line, ':') orelse continue;
            try r.rules.append(arena, .{ .name = line[0..colon], .place = .{ .line = number, .column = 1 } });
        }
        lines.reset();
        var level: u32 = 0;
        while (lines.next()) |line| {
            if (line.len == 0 or line[0] != '%') continue;
            level += 1;
            var words = std.mem.tokenizeScalar(u8, line, ' ');
            const kind = words.next().?;
            while (words.next()) |name| r.terminals.items[try r.terminal(name)].precedence = .{
                .level = level,
                .associativity = if (std.mem.eql(u8, kind, "%left")) .left else if (std.mem.eql(u8, kind, "%right")) .right else .none,
            };
        }
        lines.reset();
        number = 0;
        while (lines.next()) |line| {
            number += 1;
            const colon = std.mem.indexOfScalar(u8, line, ':') orelse continue;
            var alternatives = std.mem.splitScalar(u8, line[colon + 1 ..], '|');
            while (alternatives.next()) |alternative| try r.production(line[0..colon], alternative, number);
        }
        return .{ .terminals = r.terminals.items, .rules = r.rules.items, .productions = r.productions.items, .start = 0 };
    }

    fn production(r: *Reader, name: []const u8, text: []const u8, line: u32) !void {
        var symbols: std.ArrayList(Symbol) = .empty;
        var precedence: ?bnf.Precedence = null;
        var words = std.mem.tokenizeScalar(u8, text, ' ');
        while (words.next()) |word| {
            if (std.mem.eql(u8, word, "%prec")) {
                precedence = r.terminals.items[try r.terminal(words.next().?)].precedence;
            } else if (r.rule(word)) |number| {
                try symbols.append(r.arena, .{ .rule = number });
            } else {
                const number = try r.terminal(word);
                precedence = r.terminals.items[number].precedence;
                try symbols.append(r.arena, .{ .terminal = number });
            }
        }
        try r.productions.append(
            r.arena,
            .{ .rule = r.rule(name).?, .symbols = symbols.items, .precedence = precedence, .place = .{ .line = line, .column = 3 } },
        );
    }

    fn rule(r: *const Reader, name: []const u8) ?u16 {
        for (r.rules.items, 0..) |one, number| {
            if (std.mem.eql(u8, one.name, name)) return @intCast(number);
        }
        return null;
    }

    fn terminal(r: *Reader, name: []const u8) !u16 {
        for (r.terminals.items, 0..) |one, number| {
            if (std.mem.eql(u8, one.name, name)) return @intCast(number);
        }
        try r.terminals.append(r.arena, .{ .name = name, .pattern = &pattern });
        return @intCast(r.terminals.items.len - 1);
    }
};

const Built = struct {
    arena: std.heap.ArenaAllocator,
    grammar: Bnf = undefined,
    warnings: tables_module.Warnings = .empty,
    budget: Budget = .{},
    diag: Diagnostic = .{},
    /// The only terminal that the lexer never finds.
    unfound: ?[]const u8 = null,
    tables: Tables = undefined,

    fn init() Built {
        return .{ .arena = .init(std.testing.allocator) };
    }

    fn deinit(b: *Built) void {
        b.arena.deinit();
    }

    /// Everything lives in the arena.
    fn from(b: *Built, text: []const u8) !void {
        b.grammar = try Reader.read(b.arena.allocator(), text);
        b.tables = try b.build();
    }

    fn build(b: *Built) !Tables {
        const arena = b.arena.allocator();
        const found = try arena.alloc(bool, b.grammar.terminals.len);
        for (found, b.grammar.terminals) |*is_found, terminal| is_found.* = !b.isUnfound(terminal);
        return tables_module.build(arena, &b.grammar, found, .refuse, &b.warnings, &b.budget, &b.diag);
    }

    fn isUnfound(b: *const Built, terminal: bnf.Terminal) bool {
        return b.unfound != null and std.mem.eql(u8, b.unfound.?, terminal.name);
    }

    /// Removes the productions with a terminal that is not found from the grammar.
    fn dropUnfound(b: *Built) !void {
        var kept: std.ArrayList(bnf.Production) = .empty;
        for (b.grammar.productions) |production| {
            for (production.symbols) |symbol| {
                if (symbol == .terminal and b.isUnfound(b.grammar.terminals[symbol.terminal])) break;
            } else try kept.append(b.arena.allocator(), production);
        }
        b.grammar.productions = kept.items;
    }

    fn takes(b: *Built, text: []const u8) !bool {
        const arena = b.arena.allocator();
        var terminals: std.ArrayList(u16) = .empty;
        var words = std.mem.tokenizeScalar(u8, text, ' ');
        while (words.next()) |word| {
            for (b.grammar.terminals, 0..) |terminal, number| {
                if (std.mem.eql(u8, terminal.name, word)) try terminals.append(arena, @intCast(number));
            }
        }
        return (try naive.parse(arena, &b.tables, terminals.items)).complete;
    }
};

fn expectSentences(text: []const u8, good: []const []const u8, bad: []const []const u8) !void {
    var b: Built = .init();
    defer b.deinit();
    b.from(text) catch |err| {
        std.debug.print("{s}\n", .{b.diag.message()});
        return err;
    };
    for (good) |one| try std.testing.expect(try b.takes(one));
    for (bad) |one| try std.testing.expect(!try b.takes(one));
}

fn expectRefused(text: []const u8, message: []const u8) !void {
    var b: Built = .init();
    defer b.deinit();
    try std.testing.expectError(error.Failed, b.from(text));
    try std.testing.expectEqual(.grammar, b.diag.status);
    try std.testing.expectEqualStrings(message, b.diag.message());
}

test "LALR(1) but not SLR(1)" {
    try expectSentences("S: L = R | R\nL: * R | id\nR: L", &.{ "id = id", "* id = * * id", "id" }, &.{ "", "id =", "id = id = id" });
}

test "LR(1) but not LALR(1)" {
    const text = "S: a A d | b B d | a B e | b A e\nA: c\nB: c";
    try expectSentences(text, &.{ "a c d", "b c d", "a c e", "b c e" }, &.{ "a c", "c d", "a c d e" });
}

test "canonical states are merged again where nothing tells them apart" {
    var b: Built = .init();
    defer b.deinit();
    try b.from("S: a A d | b B d | a B e | b A e | ( E ) | [ E ]\nA: c\nB: c\nE: E + n | n");
    try std.testing.expect(try b.takes("[ n + n ]"));
    try std.testing.expect(!try b.takes("[ n + n )"));
    // One more than LALR(1): `c` after `a`, and after `b`.
    try std.testing.expectEqual(24, b.tables.n_states);
}

test "empty rules" {
    try expectSentences("S: A B c\nA: | a\nB: | b B", &.{ "c", "a c", "a b b c", "b c" }, &.{ "", "b a c", "a a c" });
    try expectSentences("S:", &.{""}, &.{});
}

test "ambiguous expressions with precedence" {
    var b: Built = .init();
    defer b.deinit();
    try b.from("%left + -\n%left *\n%right ^\nE: E + E | E - E | E * E | E ^ E | - E %prec ^ | ( E ) | n");
    try std.testing.expect(try b.takes("n + n * n ^ - n - ( n + n )"));
    try std.testing.expect(!try b.takes("n + * n"));
    // LALR(1) will do: every operator may follow each state of an operator and its operand.
    try std.testing.expectEqual(17, b.tables.n_states);
}

test "what does not associate" {
    try expectSentences(
        "%nonassoc <\n%left +\nE: E < E | E + E | n",
        &.{ "n < n", "n + n + n < n", "n" },
        &.{ "n < n < n", "n + n < n < n" },
    );
}

test "dangling else, reported and resolved" {
    const text = "S: if e S | if e S else S | x";
    try expectRefused(
        text,
        "1:3: conflict on else: shift in   S: if e S . else S   or reduce   S: if e S .   ; example: if e if e x . else",
    );
    try expectSentences(
        "%nonassoc then\n%nonassoc else\nS: if e S %prec then | if e S else S | x",
        &.{ "if e if e x else x", "if e x else if e x" },
        &.{ "else", "if e x else" },
    );
}

test "a shift that only some canonical states drop is kept by the others" {
    // After `a`, `+` may follow what X ends; after `b` it may only be shifted.
    const text = "%left +\nS: a X + n | a X | b X\nX: n %prec + | n + n";
    try expectSentences(text, &.{ "b n + n", "a n + n", "a n", "b n" }, &.{"a n + n + n"});
}

test "a shift that an empty reduction drops is kept where only it can follow" {
    // After `a y`, `+` may follow the empty X; after `b y` it may only be shifted. Behind `c` it always follows.
    const text = "%left - +\nS: a Y + n | b Y | c c c c X + n\nY: y X\nX: %prec + | + n";
    try expectSentences(text, &.{ "b y + n", "a y + n", "b y", "c c c c + n" }, &.{ "a y + n + n", "c c c c + n + n" });
}

test "reductions that meet" {
    try expectRefused(
        "S: A x | B x\nA: a C\nB: a D\nC: c\nD: c",
        "5:3: conflict on x: reduce   C: c .   or reduce   D: c .   ; example: a c . x",
    );
    try expectRefused(
        "S: A | B\nA: a\nB: a",
        "3:3: conflict on end of input: reduce   A: a .   or reduce   B: a .   ; example: a . end of input",
    );
}

test "an example ends what has to be ended before the lookahead comes" {
    // Inside brackets, `+` can come only after them.
    try expectRefused(
        "S: E ; | [ E ] + n ;\nE: T | T + E | + \nT: n U\nU: | + n",
        "4:3: conflict on +: shift in   U: . + n   or reduce   U: .   ; example: n . +",
    );
}

test "rules that derive themselves" {
    try expectRefused("S: A | x\nA: B C\nB: A | b\nC: | c", "2:3: rule A derives itself: A -> B -> A");
    try expectRefused("S: S | x", "1:3: rule S derives itself: S -> S");
}

test "left recursion behind what can be empty" {
    try expectRefused(
        "S: A\nA: B C y | x\nB: | b\nC: A c",
        "2:3: rule A is left-recursive behind what can be empty: A -> C -> A, in   A: B . C y",
    );
}

test "rules that can never end, and rules that are not used" {
    var b: Built = .init();
    defer b.deinit();
    try b.from("S: a | U b\nU: U u\nV: v");
    try std.testing.expectEqual(2, b.warnings.items.len);
    try std.testing.expectEqualStrings("2:1: rule U can never end and is left out", b.warnings.items[0]);
    try std.testing.expectEqualStrings("3:1: rule V is not used and is left out", b.warnings.items[1]);
    try std.testing.expect(try b.takes("a"));
    try expectRefused("S: a S", "1:1: rule S can never end");
}

test "rules that a definition became have one warning together, and none if one of them is used" {
    var b: Built = .init();
    defer b.deinit();
    b.grammar = try Reader.read(b.arena.allocator(), "S: a | T b\nT: t\nU: u\nV: v\nW: w");
    const rules = try b.arena.allocator().dupe(bnf.Rule, b.grammar.rules);
    rules[2].place = rules[1].place;
    rules[4].place = rules[3].place;
    b.grammar.rules = rules;
    b.tables = try b.build();
    try std.testing.expectEqual(1, b.warnings.items.len);
    try std.testing.expectEqualStrings("4:1: rule V is not used and is left out", b.warnings.items[0]);
}

test "terminals that are never found" {
    var b: Built = .init();
    defer b.deinit();
    b.unfound = "n";
    try b.from("S: A a | b | n c\nA: n B | A n\nB: d");
    try std.testing.expect(try b.takes("b"));
    for ([_][]const u8{ "n", "n c", "n d", "n d a" }) |text| try std.testing.expect(!try b.takes(text));
    // `b` and the end of input.
    for (b.tables.shift_sets) |word| try std.testing.expectEqual(0, word & ~@as(u64, 1 << 1 | 1 << 5));
    const expected = [_][]const u8{
        "n is never found: terminals before it match all its texts, so alternatives with it are left out",
        "2:1: rule A can never end and is left out",
        "3:1: rule B is not used and is left out",
    };
    try std.testing.expectEqual(expected.len, b.warnings.items.len);
    for (expected, b.warnings.items) |line, warning| try std.testing.expectEqualStrings(line, warning);

    // `n` is to blame in A, and A alone would not be in S.
    try std.testing.expectError(error.Failed, b.from("S: A b\nA: n a | A n"));
    try std.testing.expectEqualStrings(
        "n is never found: terminals before it match all its texts, so rule S can never end",
        b.diag.message(),
    );
    try std.testing.expectError(error.Failed, b.from("S: A b\nA: B A | n B\nB: B a"));
    try std.testing.expectEqualStrings("1:1: rule S can never end", b.diag.message());
}

test "bounds" {
    var b: Built = .init();
    defer b.deinit();
    b.budget.states_max = 5;
    try std.testing.expectError(error.Failed, b.from("S: a b c d e f"));
    try std.testing.expectEqualStrings("the parser needs more than 5 states", b.diag.message());
    b.budget = .{ .bytes_max = 3000 };
    try std.testing.expectError(error.Failed, b.from("S: a b c d e f"));
    try std.testing.expectEqualStrings("the parser needs more than 3000 bytes", b.diag.message());
}

test "no more symbols and alternatives than 16 bits number" {
    const n = std.math.maxInt(u16);
    const Case = struct { before: []const u8, each: []const u8, message: []const u8 };
    for ([_]Case{
        .{ .before = "S:", .each = " a", .message = "an alternative has more than 65534 symbols" },
        .{ .before = "S: a", .each = "|b", .message = "the grammar has more than 65534 alternatives, those of repetitions counted" },
    }) |case| {
        const gpa = std.testing.allocator;
        var text: std.ArrayList(u8) = .empty;
        defer text.deinit(gpa);
        try text.appendSlice(gpa, case.before);
        for (0..n) |_| try text.appendSlice(gpa, case.each);
        var b: Built = .init();
        defer b.deinit();
        try std.testing.expectError(error.Failed, b.from(text.items));
        try std.testing.expectEqualStrings(case.message, b.diag.message());
    }
}

test "long chains of rules do not recurse" {
    var b: Built = .init();
    defer b.deinit();
    var text: std.ArrayList(u8) = .empty;
    for (0..1000) |i| try text.print(b.arena.allocator(), "r{d}: r{d}\n", .{ i, i + 1 });
    try text.appendSlice(b.arena.allocator(), "r1000: a | r1000 c");
    try b.from(text.items);
    try std.testing.expect(try b.takes("a c c"));
    try text.appendSlice(b.arena.allocator(), " | r0 d");
    try b.from(text.items);
    try std.testing.expect(try b.takes("a c d d c"));
}

test "out of memory leaves nothing behind" {
    const buildOnce = struct {
        fn buildOnce(gpa: Allocator) !void {
            var b: Built = .{ .arena = .init(gpa), .unfound = "n" };
            defer b.deinit();
            b.grammar = try Reader.read(b.arena.allocator(), "S: a A d | b B d | a B e | b A e | n\nA: c\nB: c\nU: u");
            _ = try b.build();
        }
    }.buildOnce;
    try std.testing.checkAllAllocationFailures(std.testing.allocator, buildOnce, .{});
}

const random_seeds = 4000;

test "random grammars" {
    var accepted: u32 = 0;
    for (0..random_seeds) |seed| {
        var b: Built = .init();
        defer b.deinit();
        const arena = b.arena.allocator();
        var prng: std.Random.DefaultPrng = .init(seed);
        b.grammar = try randomGrammar(arena, prng.random(), seed % 2 == 1, seed % 4 >= 2);
        if (seed % 8 >= 6) b.unfound = "c";
        errdefer std.debug.print("seed {d}: {s}\n", .{ seed, b.diag.message() });
        const built = b.build();
        try b.dropUnfound();
        const expected = if (try isEmptyLanguage(arena, &b.grammar)) null else try naive.canonical(arena, &b.grammar);
        b.tables = built catch {
            try std.testing.expectEqual(.grammar, b.diag.status);
            // Rules that derive themselves are refused even if precedence could resolve their conflicts.
            const is_conflict = std.mem.startsWith(u8, b.diag.message(), "conflict");
            try std.testing.expect(expected == null or (!is_conflict and seed % 2 == 1));
            if (is_conflict) try expectRealExample(arena, &b);
            continue;
        };
        try std.testing.expect(expected != null);
        accepted += 1;
        try compare(arena, &b, &expected.?, seed % 2 == 0);
    }
    try std.testing.expect(accepted > random_seeds / 20);
}

/// Expects that the message's example, with its lookahead, can continue to a sentence.
fn expectRealExample(arena: Allocator, b: *Built) !void {
    const message = b.diag.message();
    const intro = "; example: ";
    const example = message[std.mem.indexOf(u8, message, intro).? + intro.len ..];
    var words = std.mem.tokenizeAny(u8, example, " ;");
    var text: std.ArrayList(u16) = .empty;
    while (words.next()) |word| {
        if (std.mem.eql(u8, word, ".")) break;
        try text.append(arena, word[0] - 'a');
    }
    const lookahead = words.next().?;
    if (std.mem.eql(u8, lookahead, "end")) return std.testing.expect((try naive.earley(arena, &b.grammar, text.items)).complete);
    try text.append(arena, lookahead[0] - 'a');
    try std.testing.expect((try naive.earley(arena, &b.grammar, text.items)).alive);
}

fn isEmptyLanguage(arena: Allocator, grammar: *const Bnf) !bool {
    for (try naive.augmented(arena, grammar)) |p| {
        if (p.rule == grammar.start) return false;
    }
    return true;
}

/// With `twins` the last two rules are the same terminal, and most productions put one of them between terminals: this often needs
/// more than LALR(1).
fn randomGrammar(arena: Allocator, random: std.Random, with_precedence: bool, twins: bool) !Bnf {
    const n_terminals = random.intRangeAtMost(u16, if (twins) 3 else 1, 3);
    const n_rules = random.intRangeAtMost(u16, if (twins) 3 else 1, 4);
    const terminals = try arena.alloc(bnf.Terminal, n_terminals);
    for (terminals, 0..) |*to, i| to.* = .{
        .name = ([_][]const u8{ "a", "b", "c" })[i],
        .pattern = &pattern,
        .precedence = if (with_precedence and random.boolean()) randomPrecedence(random) else null,
    };
    const rules = try arena.alloc(bnf.Rule, n_rules);
    for (rules, 0..) |*to, i| to.* = .{ .name = ([_][]const u8{ "S", "A", "B", "C" })[i] };
    const productions = try arena.alloc(bnf.Production, n_rules + random.uintAtMost(u16, 4));
    const n_others = if (twins) n_rules - 2 else n_rules;
    for (productions, 0..) |*to, i| {
        const is_twin = i >= n_others and i < n_rules;
        to.* = .{
            .rule = if (i < n_rules) @intCast(i) else random.uintLessThan(u16, n_others),
            .symbols = if (is_twin)
                try arena.dupe(Symbol, &.{.{ .terminal = 0 }})
            else if (twins and random.uintLessThan(u8, 4) > 0)
                try arena.dupe(
                    Symbol,
                    &.{
                        randomTerminal(random, n_terminals),
                        .{ .rule = n_others + random.uintLessThan(u16, 2) },
                        randomTerminal(random, n_terminals),
                    },
                )
            else
                try randomSymbols(arena, random, n_terminals, n_rules),
            .precedence = if (with_precedence and random.uintLessThan(u8, 4) > 0) randomPrecedence(random) else null,
        };
    }
    return .{ .terminals = terminals, .rules = rules, .productions = productions, .start = 0 };
}

fn randomSymbols(arena: Allocator, random: std.Random, n_terminals: u16, n_rules: u16) ![]const Symbol {
    const symbols = try arena.alloc(Symbol, random.uintAtMost(u16, 3));
    for (symbols) |*symbol| {
        symbol.* = if (random.boolean()) randomTerminal(random, n_terminals) else .{ .rule = random.uintLessThan(u16, n_rules) };
    }
    return symbols;
}

fn randomTerminal(random: std.Random, n_terminals: u16) Symbol {
    return .{ .terminal = random.uintLessThan(u16, n_terminals) };
}

fn randomPrecedence(random: std.Random) bnf.Precedence {
    const level = random.intRangeAtMost(u32, 1, 2);
    return .{ .level = level, .associativity = if (level == 1) .left else random.enumValue(bnf.Associativity) };
}

/// Checks all texts of up to five terminals, shorter ones for larger alphabets.
fn compare(arena: Allocator, b: *Built, expected: *const naive.CanonicalParser, unambiguous: bool) !void {
    const n = b.grammar.terminals.len;
    const longest: usize = if (n == 3) 4 else 5;
    var text: [5]u16 = undefined;
    for (0..longest + 1) |length| {
        for (0..try std.math.powi(usize, n, length)) |number| {
            var rest = number;
            for (text[0..length]) |*terminal| {
                terminal.* = @intCast(rest % n);
                rest /= n;
            }
            const verdict = try naive.parse(arena, &b.tables, text[0..length]);
            try std.testing.expectEqual(try expected.parse(arena, text[0..length]), verdict);
            if (unambiguous) try std.testing.expectEqual(try naive.earley(arena, &b.grammar, text[0..length]), verdict);
        }
    }
}
