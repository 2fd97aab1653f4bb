//! What has to be so before an automaton is built: the lexer finds every terminal, every rule can end
//! and is used, no rule derives itself, no rule recurs on the left behind what can be empty.

const std = @import("std");
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

/// [production]: whether it can be part of a sentence. Each terminal and each rule that cannot is a
/// note. `found` [terminal]: whether the lexer ever finds it.
pub fn findUseful(ctx: *const Context, grammar: *const Bnf, found: []const bool, notes: *Notes) Error![]bool {
    const productive = try findProductive(ctx, grammar, found);
    if (!productive[grammar.start]) return failEmpty(ctx, grammar, found, productive);
    for (grammar.terminals, found) |terminal, is_found| {
        if (is_found or terminal.skip) continue;
        try note(
            ctx,
            notes,
            never_found ++ ", so alternatives with it are left out",
            .{ fmt.place(terminal.place), fmt.name(terminal.name) },
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
    for (grammar.rules, productive, used) |rule, ends, is_used| {
        if (ends and is_used) continue;
        const why = if (ends) "is not used" else "can never end";
        try note(ctx, notes, "{f}rule {f} {s} and is left out", .{ fmt.place(rule.place), fmt.name(rule.name), why });
    }
    return kept;
}

const Notes = std.ArrayList([]const u8);
const note_bytes_max = 256;
const never_found = "{f}{f} is never found: terminals before it match all its texts";

fn note(ctx: *const Context, notes: *Notes, comptime format: []const u8, args: anytype) Error!void {
    var buffer: [note_bytes_max]u8 = undefined;
    const text = message.print(&buffer, format, args);
    const line = try ctx.alloc(u8, text.len);
    @memcpy(line, text);
    try ctx.append(notes, line);
}

/// The rules that yield a text of terminals that are found.
fn findProductive(ctx: *const Context, grammar: *const Bnf, found: []const bool) Error![]bool {
    const productive = try ctx.filled(bool, grammar.rules.len, false);
    const remaining = try ctx.filled(u32, grammar.productions.len, 0);
    const matters = try ctx.filled(bool, grammar.productions.len, true);
    for (grammar.productions, remaining, matters) |production, *left, *matter| {
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => |t| matter.* = matter.* and found[t],
            .rule => left.* += 1,
        };
    }
    try augmented_grammar.closeUpwards(ctx, grammar, matters, remaining, productive);
    return productive;
}

/// The start rule can never end, be it for its rules alone, be it for terminals that are never found.
fn failEmpty(ctx: *const Context, grammar: *const Bnf, found: []const bool, productive: []const bool) Error {
    const rule = grammar.rules[grammar.start];
    const start = fmt.name(rule.name);
    const all = try ctx.filled(bool, grammar.terminals.len, true);
    const by_rules = try findProductive(ctx, grammar, all);
    if (!by_rules[grammar.start]) return ctx.diag.fail(.grammar, "{f}rule {f} can never end", .{ fmt.place(rule.place), start });
    const t = for (grammar.productions) |production| {
        if (!productive[production.rule]) if (missingAlone(production, found, productive)) |t| break grammar.terminals[t];
    } else unreachable;
    return ctx.diag.fail(.grammar, never_found ++ ", so rule {f} can never end", .{ fmt.place(t.place), fmt.name(t.name), start });
}

/// A terminal that a production lacks, if it lacks no rule.
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

fn findUsed(ctx: *const Context, grammar: *const Bnf, kept: []const bool) Error![]bool {
    const used = try ctx.filled(bool, grammar.rules.len, false);
    var edges: std.ArrayList(graph.Edge) = .empty;
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
