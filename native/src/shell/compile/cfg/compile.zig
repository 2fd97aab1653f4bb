//! Compiles a grammar of expressions to a language: a regular expression, if it is one.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Language = @import("engine").language.Language;
const Tokens = @import("engine").vocabulary.Tokens;
const dfa = @import("../regex/dfa.zig");
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;
const Warnings = @import("../lr/tables.zig").Warnings;
const Grammar = @import("grammar.zig").Grammar;
const Expression = @import("grammar.zig").Expression;
const TokenSet = @import("../token_set.zig").TokenSet;
const Regular = @import("regular.zig").Regular;
const TokenClasses = @import("token_classes.zig").TokenClasses;
const lower = @import("lower.zig").lower;
const choose = @import("choose.zig").choose;

/// How heavy a terminal that is put together may be. If the lexer becomes too large so, none is put together.
const weight_max_first = 4096;

/// The language owns what it has from `gpa`; all else lives in `arena`. ELIZA_ERR_GRAMMAR: no text is in the language.
/// ELIZA_ERR_LIMIT: it is larger than the budget or this library allows.
pub fn compile(
    gpa: Allocator,
    arena: Allocator,
    vocabulary: *const Tokens,
    grammar: *const Grammar,
    warnings: *Warnings,
    budget: *Budget,
    diag: *Diagnostic,
) Error!Language {
    const ctx: Context = .{ .arena = arena, .budget = budget, .diag = diag };
    var sets: ArrayList(TokenSet) = .empty;
    for (grammar.rules) |rule| try collect(&ctx, rule.expression, &sets);
    const tokens: TokenClasses = try .init(&ctx, vocabulary, sets.items);
    const n_warnings = warnings.items.len;
    return attempt(gpa, &ctx, grammar, &tokens, weight_max_first, warnings) catch |e| {
        if (e == error.OutOfMemory or diag.status != .limit) return e;
        try budget.check("the grammar", diag);
        warnings.shrinkRetainingCapacity(n_warnings);
        return attempt(gpa, &ctx, grammar, &tokens, 0, warnings);
    };
}

fn collect(ctx: *const Context, expression: Expression, sets: *ArrayList(TokenSet)) Error!void {
    switch (expression) {
        .pattern, .rule => {},
        .sequence, .choice => |items| for (items) |item| try collect(ctx, item, sets),
        .repeat => |repeat| try collect(ctx, repeat.expression, sets),
        .tokens => |set| try ctx.append(sets, set),
    }
}

fn attempt(
    gpa: Allocator,
    ctx: *const Context,
    grammar: *const Grammar,
    tokens: *const TokenClasses,
    weight_max: u32,
    warnings: *Warnings,
) Error!Language {
    const regular: Regular = try .init(ctx, grammar, tokens, weight_max);
    const whole = regular.of[grammar.start];
    if (whole == null or !tokens.named.isEmpty()) {
        return choose(gpa, ctx, &try lower(ctx, &regular), .{ .lexing = .any, .tokens = &tokens.named }, warnings);
    }
    var automaton = try dfa.build(gpa, &.{.{ .node = whole.?.node }}, 1, ctx.budget, "the grammar's automaton", ctx.diag);
    if (automaton.nReach() > 1) return .{ .regex = .{ .dfa = automaton } };
    automaton.deinit(gpa);
    return ctx.diag.fail(.grammar, "no text is in the language of rule {s}", .{grammar.rules[grammar.start].name});
}
