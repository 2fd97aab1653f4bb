//! Finds neighbours that the lexer cannot separate. It munches maximally: a lexeme continues for as long as it can, so an `a`
//! swallows the `b` after it unless `b` begins with a byte that the pending lexeme cannot take.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const message = @import("message");
const Budget = @import("engine").budget.Budget;
const dfa = @import("../regex/dfa.zig");
const Pattern = @import("../regex/pattern.zig").Pattern;
const Dfa = dfa.Dfa;
const Bnf = @import("../bnf.zig").Bnf;
const tables_module = @import("tables.zig");
const Tables = tables_module.Tables;
const Warnings = tables_module.Warnings;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const sets = @import("sets.zig");
const fmt = @import("fmt.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Adds a warning for each pair `a`, `b` where the parser allows `b` right after `a`, but some text of `a` can never be ended by `b`,
/// not even after continuing. There is no warning if something skipped can come in between; a skipped terminal has a warning of its own,
/// for the first `b` that can never end it. A grammar without such warnings has no dead ends, unless soft terminals match all texts
/// of those that end a rule. Warnings live in `arena`: at most `warnings_max`, and then a line with the number of the others.
pub fn warnOfInseparable(
    arena: Allocator,
    grammar: *const Bnf,
    tables: *const Tables,
    lexer: *const Dfa,
    warnings: *Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!void {
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    var s: Search = try .init(&ctx, grammar, tables, lexer, warnings);
    try s.warnOfPairs();
    if (s.n_warned > warnings_max) try s.add("and {d} more like these", .{s.n_warned - warnings_max});
}

const warnings_max = 100;

/// A bit set of the lexer's byte classes.
pub const Classes = [256 / 64]u64;
const no_classes: Classes = @splat(0);

const Search = struct {
    ctx: *const Context,
    grammar: *const Bnf,
    tables: *const Tables,
    lexer: *const Dfa,
    warnings: *Warnings,
    n_warned: u32 = 0,
    /// [terminal]: the classes that it can begin with.
    firsts: []Classes,
    /// [lexer state]: the classes that a pending lexeme can continue with.
    takes: []Classes,
    /// From terminals to the lexer's states that match them.
    states: Graph,
    /// From the lexer's states to those that lead there; made at first use.
    backwards: ?Graph = null,
    /// [terminal * words]: what can come right after it in the parser.
    followers: []u64,
    /// The terminals that some state of the parser shifts.
    shifted: []u64,
    /// [terminal]: whether it is ignored and has its warning.
    is_warned: []bool,
    /// Scratch of `canEndLater`, by lexer state.
    good: []bool,
    open: []u32,
    /// Result of `findEnders`, by terminal.
    used: []bool,

    fn init(ctx: *const Context, grammar: *const Bnf, tables: *const Tables, lexer: *const Dfa, warnings: *Warnings) Error!Search {
        return .{
            .ctx = ctx,
            .grammar = grammar,
            .tables = tables,
            .lexer = lexer,
            .warnings = warnings,
            .firsts = try findFirsts(ctx, lexer, tables.n_terminals),
            .takes = try findTaken(ctx, lexer),
            .states = try findStates(ctx, lexer, tables.n_terminals),
            .followers = try findFollowers(ctx, tables),
            .shifted = try findShifted(ctx, tables),
            .is_warned = try ctx.filled(bool, tables.n_terminals, false),
            .good = try ctx.alloc(bool, lexer.nStates()),
            .open = try ctx.alloc(u32, lexer.nStates()),
            .used = try ctx.alloc(bool, tables.n_terminals),
        };
    }

    fn warnOfPairs(s: *Search) Error!void {
        const n = s.tables.n_terminals;
        for (0..n) |after| {
            try s.ctx.check();
            if (s.states.of(after).len == 0) continue;
            const enders = try s.findEnders(after);
            for (0..n) |before| {
                if (!sets.has(sets.row(s.followers, before, s.tables.words), after)) continue;
                if (s.canAlwaysEnd(before, enders)) continue;
                if (!try s.canEndLater(before, enders)) try s.addPair(before, after);
            }
            if (!sets.has(s.shifted, after)) continue;
            for (s.grammar.terminals, s.used, s.is_warned, 0..) |terminal, used, *is_warned, number| {
                if (!terminal.skip or used or is_warned.* or s.states.of(number).len == 0) continue;
                is_warned.* = true;
                try s.addPair(number, after);
            }
        }
    }

    fn addPair(s: *Search, before: usize, after: usize) Error!void {
        const a = s.grammar.terminals[before];
        const b = s.grammar.terminals[after];
        try s.addOne(
            "{f}{f} can take in the {f} that comes after it, and nothing else can end it there",
            .{ fmt.place(a.place), fmt.name(a.name), fmt.name(b.name) },
        );
    }

    /// The classes that can begin `after`, or a skipped terminal that `after` can end in turn; these are marked in `used`.
    fn findEnders(s: *Search, after: usize) Error!Classes {
        var enders = s.firsts[after];
        @memset(s.used, false);
        var growing = true;
        while (growing) {
            growing = false;
            for (s.grammar.terminals, s.used, 0..) |terminal, *is_used, number| {
                if (!terminal.skip or is_used.* or s.states.of(number).len == 0) continue;
                if (!s.canAlwaysEnd(number, enders) and !try s.canEndLater(number, enders)) continue;
                is_used.* = true;
                growing = true;
                _ = sets.unite(&enders, &s.firsts[number]);
            }
        }
        return enders;
    }

    fn ends(s: *const Search, state: u32, enders: Classes) bool {
        for (enders, s.takes[state]) |ending, taken| if (ending & ~taken != 0) return true;
        return false;
    }

    fn canAlwaysEnd(s: *const Search, terminal: usize, enders: Classes) bool {
        for (s.states.of(terminal)) |state| if (!s.ends(state, enders)) return false;
        return true;
    }

    /// Whether each state that matches the terminal leads to one of them that `enders` end.
    fn canEndLater(s: *Search, terminal: usize, enders: Classes) Error!bool {
        const backwards = s.backwards orelse try s.findBackwards();
        s.backwards = backwards;
        const good = s.good;
        const open = s.open;
        @memset(good, false);
        var n_open: usize = 0;
        for (s.states.of(terminal)) |state| {
            if (!s.ends(state, enders)) continue;
            good[state] = true;
            open[n_open] = state;
            n_open += 1;
        }
        while (n_open > 0) {
            if (n_open % 256 == 0) try s.ctx.check();
            n_open -= 1;
            for (backwards.of(open[n_open])) |state| {
                if (good[state]) continue;
                good[state] = true;
                open[n_open] = state;
                n_open += 1;
            }
        }
        for (s.states.of(terminal)) |state| if (!good[state]) return false;
        return true;
    }

    fn findBackwards(s: *const Search) Error!Graph {
        const n = s.lexer.nStates();
        var edges: ArrayList(graph.Edge) = .empty;
        const last = try s.ctx.filled(u32, n, 0);
        for (1..n) |state| {
            if (state % 64 == 0) try s.ctx.check();
            for (0..s.lexer.nClasses()) |class| {
                const to = s.lexer.column(class)[state];
                if (to == dfa.dead or last[to] == state) continue;
                last[to] = @intCast(state);
                try s.ctx.append(&edges, .{ .from = to, .to = @intCast(state) });
            }
        }
        return .init(s.ctx, n, edges.items, null);
    }

    fn addOne(s: *Search, comptime format: []const u8, args: anytype) Error!void {
        s.n_warned += 1;
        if (s.n_warned <= warnings_max) try s.add(format, args);
    }

    fn add(s: *Search, comptime format: []const u8, args: anytype) Error!void {
        var buffer: [256]u8 = undefined;
        const text = message.print(&buffer, format, args);
        const line = try s.ctx.alloc(u8, text.len);
        @memcpy(line, text);
        try s.ctx.append(s.warnings, line);
    }
};

/// [terminal]: the byte classes of the lexer that it can begin with.
pub fn findFirsts(ctx: *const Context, lexer: *const Dfa, n_terminals: u32) Error![]Classes {
    const firsts = try ctx.filled(Classes, n_terminals, no_classes);
    for (0..lexer.nClasses()) |class| {
        const to = lexer.column(class)[dfa.start];
        if (to == dfa.dead) continue;
        var patterns = sets.iterate(lexer.reachSet(to));
        while (patterns.next()) |terminal| sets.add(&firsts[terminal], class);
    }
    return firsts;
}

fn findTaken(ctx: *const Context, lexer: *const Dfa) Error![]Classes {
    const takes = try ctx.filled(Classes, lexer.nStates(), no_classes);
    for (0..lexer.nClasses()) |class| {
        try ctx.check();
        for (takes, lexer.column(class)) |*classes, to| {
            if (to != dfa.dead) sets.add(classes, class);
        }
    }
    return takes;
}

fn findStates(ctx: *const Context, lexer: *const Dfa, n_terminals: u32) Error!Graph {
    var edges: ArrayList(graph.Edge) = .empty;
    for (0..lexer.nStates()) |state| {
        for (lexer.matchList(@intCast(state))) |terminal| try ctx.append(&edges, .{ .from = terminal, .to = @intCast(state) });
    }
    return .init(ctx, n_terminals, edges.items, null);
}

fn findShifted(ctx: *const Context, t: *const Tables) Error![]u64 {
    const shifted = try ctx.filled(u64, t.words, 0);
    for (0..t.n_states) |state| _ = sets.unite(shifted, sets.row(t.shift_sets, state, t.words));
    return shifted;
}

fn findFollowers(ctx: *const Context, t: *const Tables) Error![]u64 {
    const followers = try ctx.filled(u64, @as(usize, t.n_terminals + 1) * t.words, 0);
    for (0..t.n_states) |state| {
        if (state % 64 == 0) try ctx.check();
        var shifted = sets.iterate(sets.row(t.shift_sets, state, t.words));
        while (shifted.next()) |terminal| {
            const to = t.transition(state, terminal);
            const set = sets.row(followers, terminal, t.words);
            _ = sets.unite(set, sets.row(t.shift_sets, to, t.words));
            for (t.reduction_offsets[to]..t.reduction_offsets[to + 1]) |reduction| {
                _ = sets.unite(set, sets.row(t.reduction_sets, reduction, t.words));
            }
        }
    }
    return followers;
}

const lark = @import("../lark/lark.zig");

/// The warnings of a grammar in the notation, joined.
fn warningsOf(arena: Allocator, text: []const u8) ![]const u8 {
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    errdefer std.debug.print("{s}\n", .{diag.message()});
    const parsed = try lark.parse(arena, text, .{}, &budget, &diag);
    var warnings: Warnings = .empty;
    const all = try arena.alloc(bool, parsed.grammar.terminals.len);
    @memset(all, true);
    const tables = try tables_module.build(arena, &parsed.grammar, all, .refuse, &warnings, &budget, &diag);
    const patterns = try arena.alloc(Pattern, parsed.grammar.terminals.len);
    for (patterns, parsed.grammar.terminals) |*to, from| to.* = .{ .node = from.pattern, .soft = from.soft };
    var lexer = try dfa.build(arena, patterns, 2, &budget, "the lexer", &diag);
    try warnOfInseparable(arena, &parsed.grammar, &tables, &lexer, &warnings, &budget, &diag);
    return std.mem.join(arena, "\n", warnings.items);
}

test "neighbours that are never told apart" {
    var arena_state: Arena = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const swallowed = "2:1: A can take in the \"a\" that comes after it, and nothing else can end it there";
    try std.testing.expectEqualStrings(swallowed, try warningsOf(arena, "start: A \"a\"\nA: /a+/"));
    // Only some texts of A: `c` can be ended by `a`, but `aa` cannot.
    try std.testing.expectEqualStrings(swallowed, try warningsOf(arena, "start: A \"a\"\nA: /a+|c/"));
    // A can continue until `a` ends it.
    try std.testing.expectEqualStrings("", try warningsOf(arena, "start: A \"a\"\nA: /a+b?/"));
    try std.testing.expectEqualStrings("", try warningsOf(arena, "start: A \"a\"\nA: /a{1,3}/"));
    // Something skipped ends it, and is ended itself.
    try std.testing.expectEqualStrings("", try warningsOf(arena, "start: A \"a\"\nA: /a+/\n%ignore \" \""));
    const both = swallowed ++ "\n3:1: WORD can take in the \"a\" that comes after it, and nothing else can end it there";
    try std.testing.expectEqualStrings(both, try warningsOf(arena, "start: A \"a\"\nA: /a+/\nWORD: /#.*/\n%ignore WORD"));
    try std.testing.expectEqualStrings("", try warningsOf(arena, "start: A \"a\"\nA: /a+/\nWORD: /#.*/\n%ignore WORD\n%ignore \"\\n\""));
}

test "of many warnings some are written, and how many the others are" {
    var arena_state: Arena = .init(std.testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    for ([_]usize{ warnings_max, warnings_max + 2 }) |n| {
        // Each number is taken in by the digits before it.
        var text: std.Io.Writer.Allocating = .init(arena);
        try text.writer.writeAll("D: /[0-9]+/\nstart: D \"100\"");
        for (101..100 + n) |number| try text.writer.print(" | D \"{d}\"", .{number});
        const warnings = try warningsOf(arena, text.written());
        try std.testing.expectEqual(@min(n, warnings_max + 1), 1 + std.mem.countScalar(u8, warnings, '\n'));
        try std.testing.expectEqual(n > warnings_max, std.mem.endsWith(u8, warnings, "\nand 2 more like these"));
    }
}
