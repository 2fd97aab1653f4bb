//! Rules of which a text may have so many tokens (engine/glr/limits.zig): puts terminals that no text has around them.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Parts = @import("engine").parts.Parts;
const ast = @import("../regex/ast.zig");
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Symbol = bnf.Symbol;
const graph = @import("../lr/graph.zig");
const markBottomUp = @import("../lr/augmented_grammar.zig").markBottomUp;
const Warnings = @import("../lr/tables.zig").Warnings;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

pub const Limit = struct { rule: u16, name: []const u8, place: bnf.Place, tokens_max: u16 };

/// Marks need two bytes, of which the last is their number.
const limits_max = 128;

/// The grammar with the rules marked, and a warning for each that cannot be. Lives in the context's arena.
pub fn mark(ctx: *const Context, grammar: *const Bnf, limits: []const Limit, reading: bnf.Reading, warnings: *Warnings) Error!Bnf {
    if (limits.len == 0) return grammar.*;
    var m: Marking = .{ .ctx = ctx };
    try ctx.appendSlice(&m.terminals, grammar.terminals);
    try ctx.appendSlice(&m.rules, grammar.rules);
    try ctx.appendSlice(&m.productions, grammar.productions);
    const leads_to_itself = if (reading.is_split) &.{} else try findLeftRecursive(ctx, grammar);
    for (limits) |limit| {
        const why = if (reading.is_split)
            "terminals are cut, by what is around them or for ignore_once"
        else if (reading.conflicts != .follow or hasPrecedence(grammar))
            "conflicts are not followed"
        else if (leads_to_itself[limit.rule])
            "it can begin with itself"
        else if (m.counted.items.len == limits_max)
            "there are too many"
        else {
            try m.add(limit);
            continue;
        };
        const warning = "{f}: max_tokens of {s} is not enforced: {s}";
        try ctx.append(warnings, try std.fmt.allocPrint(ctx.arena, warning, .{ limit.place, limit.name, @as([]const u8, why) }));
    }
    var marked = grammar.*;
    marked.terminals = m.terminals.items;
    marked.rules = m.rules.items;
    marked.productions = m.productions.items;
    marked.counted = m.counted.items;
    return marked;
}

const Marking = struct {
    ctx: *const Context,
    terminals: ArrayList(bnf.Terminal) = .empty,
    rules: ArrayList(bnf.Rule) = .empty,
    productions: ArrayList(bnf.Production) = .empty,
    counted: ArrayList(bnf.CountedRule) = .empty,

    /// The rule's alternatives become those of another, which has the marks around it.
    fn add(m: *Marking, limit: Limit) Error!void {
        if (m.rules.items.len > std.math.maxInt(u16)) return m.ctx.diag.fail(.limit, "the grammar has too many rules", .{});
        const body: u16 = @intCast(m.rules.items.len);
        try m.ctx.append(&m.rules, m.rules.items[limit.rule]);
        for (m.productions.items) |*p| if (p.rule == limit.rule) {
            p.rule = body;
        };
        const number: u8 = @intCast(2 * m.counted.items.len);
        const begin = try m.addMark(limit, number);
        const end = try m.addMark(limit, number + 1);
        const symbols = try m.ctx.alloc(Symbol, 3);
        symbols[0..3].* = .{ .{ .terminal = begin }, .{ .rule = body }, .{ .terminal = end } };
        try m.ctx.append(&m.productions, .{ .rule = limit.rule, .symbols = symbols, .place = limit.place });
        try m.ctx.append(&m.counted, .{ .begin = begin, .end = end, .tokens_max = limit.tokens_max });
    }

    fn addMark(m: *Marking, limit: Limit, number: u8) Error!u16 {
        if (m.terminals.items.len >= std.math.maxInt(u16)) return m.ctx.diag.fail(.limit, "the grammar has too many terminals", .{});
        // A part has two bytes, of which the first is the same.
        const bytes = try m.ctx.alloc(u8, 3);
        bytes[0..3].* = .{ Parts.lead, Parts.parts_max - 1, number };
        const pattern = try ast.create(m.ctx.arena, .{ .bytes = bytes });
        try m.ctx.append(&m.terminals, .{ .name = limit.name, .pattern = pattern, .marks = true, .place = limit.place });
        return @intCast(m.terminals.items.len - 1);
    }
};

fn hasPrecedence(grammar: *const Bnf) bool {
    for (grammar.productions) |p| if (p.precedence != null) return true;
    return false;
}

/// [rule]: whether its texts may begin with one of its own, which then begins at the same place.
fn findLeftRecursive(ctx: *const Context, grammar: *const Bnf) Error![]const bool {
    const n = grammar.rules.len;
    const nullable = try ctx.filled(bool, n, false);
    const unmarked = try ctx.filled(u32, grammar.productions.len, 0);
    const eligible = try ctx.filled(bool, grammar.productions.len, true);
    for (grammar.productions, unmarked, eligible) |p, *n_rules, *is_eligible| for (p.symbols) |symbol| switch (symbol) {
        .terminal => is_eligible.* = false,
        .rule => n_rules.* += 1,
    };
    try markBottomUp(ctx, grammar, eligible, unmarked, nullable);
    var edges: ArrayList(graph.Edge) = .empty;
    const found = try ctx.filled(bool, n, false);
    for (grammar.productions) |p| for (p.symbols) |symbol| {
        if (symbol != .rule) break;
        if (symbol.rule == p.rule) found[p.rule] = true;
        try ctx.append(&edges, .{ .from = p.rule, .to = symbol.rule });
        if (!nullable[symbol.rule]) break;
    };
    const firsts: graph.Graph = try .init(ctx, n, edges.items, null);
    const components = try graph.components(ctx, &firsts);
    const sizes = try ctx.filled(u32, n, 0);
    for (components.of) |component| sizes[component] += 1;
    for (found, components.of) |*is, component| is.* = is.* or sizes[component] > 1;
    return found;
}
