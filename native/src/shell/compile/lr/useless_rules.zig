//! Leaves out what can be part of no sentence, so that the automaton is built of a reduced grammar: terminals that the lexer
//! never finds, rules that derive no text, and rules that the start rule does not reach.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const fmt = @import("fmt.zig");
const message = @import("message");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// Returns [production]: whether it can be part of a sentence. Adds a warning for each terminal and each rule that cannot.
/// `found` [terminal]: whether the lexer ever finds it. ELIZA_ERR_GRAMMAR: the start rule derives no text.
pub fn findUseful(ctx: *const Context, grammar: *const Bnf, found: []const bool, warnings: *Warnings) Error![]bool {
    const productive = try findProductive(ctx, grammar, found);
    if (!productive[grammar.start]) return failEmpty(ctx, grammar, found, productive);
    for (grammar.terminals, found) |terminal, is_found| {
        if (is_found or terminal.skip) continue;
        try warn(
            ctx,
            warnings,
            "{f}{f} {s}, so alternatives with it are left out",
            .{ fmt.place(terminal.place), fmt.name(terminal.name), whyNever(terminal) },
        );
    }
    const kept = try ctx.filled(bool, grammar.productions.len, true);
    for (grammar.productions, kept) |production, *keep| {
        for (production.symbols) |symbol| keep.* = keep.* and switch (symbol) {
            .terminal => |t| found[t],
            .rule => |r| productive[r],
        };
    }
    const used = try findUsed(ctx, grammar, kept);
    for (grammar.productions, kept) |production, *keep| keep.* = keep.* and used[production.rule];
    try warnOfUseless(ctx, grammar, productive, used, warnings);
    return kept;
}

/// A definition of the text may have become many rules: it gets one warning, and none if one of them is used.
fn warnOfUseless(ctx: *const Context, grammar: *const Bnf, productive: []const bool, used: []const bool, warnings: *Warnings) Error!void {
    var told: Texts = .{};
    for (grammar.rules, productive, used) |*rule, ends, is_used| {
        if (ends and is_used) _ = try isNew(ctx, &told, &rule.place);
    }
    for (grammar.rules, productive, used) |*rule, ends, is_used| {
        if (ends and is_used or !try isNew(ctx, &told, &rule.place)) continue;
        const why = if (ends) "is not used" else "can never end";
        try warn(ctx, warnings, "{f}rule {f} {s} and is left out", .{ fmt.place(rule.place), fmt.name(rule.name), why });
    }
}

/// Whether a place is not among those told before, which it joins. A rule without a place is always new.
fn isNew(ctx: *const Context, told: *Texts, place: *const bnf.Place) Error!bool {
    if (place.line == 0) return true;
    const n = told.count();
    return try told.put(ctx.arena, std.mem.asBytes(place)) == n;
}

const Warnings = ArrayList([]const u8);
const warning_bytes_max = 256;

fn whyNever(terminal: bnf.Terminal) []const u8 {
    return if (terminal.matches_nothing) "matches no text" else "is never found: terminals before it match all its texts";
}

fn warn(ctx: *const Context, warnings: *Warnings, comptime format: []const u8, args: anytype) Error!void {
    var buffer: [warning_bytes_max]u8 = undefined;
    const text = message.print(&buffer, format, args);
    const line = try ctx.alloc(u8, text.len);
    @memcpy(line, text);
    try ctx.append(warnings, line);
}

/// The rules that derive a text of terminals that are found.
fn findProductive(ctx: *const Context, grammar: *const Bnf, found: []const bool) Error![]bool {
    const productive = try ctx.filled(bool, grammar.rules.len, false);
    const unmarked = try ctx.filled(u32, grammar.productions.len, 0);
    const eligible = try ctx.filled(bool, grammar.productions.len, true);
    for (grammar.productions, unmarked, eligible) |production, *n_unmarked, *is_eligible| {
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => |t| is_eligible.* = is_eligible.* and found[t],
            .rule => n_unmarked.* += 1,
        };
    }
    try augmented_grammar.markBottomUp(ctx, grammar, eligible, unmarked, productive);
    return productive;
}

/// The start rule can never end: because of the rules alone, or because of terminals that are never found.
fn failEmpty(ctx: *const Context, grammar: *const Bnf, found: []const bool, productive: []const bool) Error {
    const rule = grammar.rules[grammar.start];
    const start = fmt.name(rule.name);
    const all = try ctx.filled(bool, grammar.terminals.len, true);
    const by_rules = try findProductive(ctx, grammar, all);
    if (!by_rules[grammar.start]) return ctx.diag.fail(.grammar, "{f}rule {f} can never end", .{ fmt.place(rule.place), start });
    const t = for (grammar.productions) |production| {
        if (!productive[production.rule]) if (missingAlone(production, found, productive)) |t| break grammar.terminals[t];
    } else unreachable;
    const never = .{ fmt.place(t.place), fmt.name(t.name), whyNever(t), start };
    return ctx.diag.fail(.grammar, "{f}{f} {s}, so rule {f} can never end", never);
}

/// A terminal that a production needs and the lexer never finds, unless the production also needs a rule that cannot end.
fn missingAlone(production: bnf.Production, found: []const bool, productive: []const bool) ?u16 {
    var missing: ?u16 = null;
    for (production.symbols) |symbol| switch (symbol) {
        .terminal => |t| if (!found[t]) {
            missing = t;
        },
        .rule => |r| if (!productive[r]) return null,
    };
    return missing;
}

/// [rule]: whether the start rule leads to it by the productions that are kept.
pub fn findUsed(ctx: *const Context, grammar: *const Bnf, kept: []const bool) Error![]bool {
    const used = try ctx.filled(bool, grammar.rules.len, false);
    var edges: ArrayList(graph.Edge) = .empty;
    for (grammar.productions, kept) |production, keep| {
        if (!keep) continue;
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => {},
            .rule => |r| try ctx.append(&edges, .{ .from = production.rule, .to = r }),
        };
    }
    const uses: Graph = try .init(ctx, grammar.rules.len, edges.items, null);
    const open = try ctx.alloc(u32, grammar.rules.len);
    open[0] = grammar.start;
    var n_open: usize = 1;
    used[grammar.start] = true;
    while (n_open > 0) {
        n_open -= 1;
        for (uses.of(open[n_open])) |rule| {
            if (used[rule]) continue;
            used[rule] = true;
            open[n_open] = rule;
            n_open += 1;
        }
    }
    return used;
}
