//! Which rules are regular, and as which regular expressions: those that use regular rules alone, and those
//! that lead to themselves at one end only. The larger a lexeme, the fewer of them a parser has to put together.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const ast = @import("../regex/ast.zig");
const grammar_module = @import("grammar.zig");
const Grammar = grammar_module.Grammar;
const Expression = grammar_module.Expression;
const Part = @import("part.zig").Part;
const intersection = @import("../regex/intersection.zig");
const Pattern = @import("../regex/pattern.zig").Pattern;
const TokenClasses = @import("token_classes.zig").TokenClasses;
const graph = @import("../lr/graph.zig");
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;
const Budget = @import("engine").budget.Budget;
const Diagnostic = @import("engine").diagnostic.Diagnostic;

/// Rules that lead to each other are solved together up to this number.
const solved_max = 8;
/// The most terms of one rule in a system of equations.
const terms_max = 64;
/// What is repeated may become heavier than other expressions if it weighs no more than this.
const repeated_weight_max = 64;
/// And where the lexer became too large so, no more than this.
const counted_weight_max = 4096;

/// Lives in the context's arena.
pub const Regular = struct {
    ctx: *const Context,
    grammar: *const Grammar,
    tokens: *const TokenClasses,
    /// No expression that is put together weighs more.
    weight_max: u32,
    /// [rule]: null if it is not regular, or too heavy.
    of: []?Part,

    pub fn init(ctx: *const Context, grammar: *const Grammar, tokens: *const TokenClasses, weight_max: u32) Error!Regular {
        var r: Regular = .{
            .ctx = ctx,
            .grammar = grammar,
            .tokens = tokens,
            .weight_max = weight_max,
            .of = try ctx.filled(?Part, grammar.rules.len, null),
        };
        var edges: ArrayList(graph.Edge) = .empty;
        for (grammar.rules, 0..) |rule, from| try appendUses(ctx, rule.expression, @intCast(from), &edges);
        const uses: graph.Graph = try .init(ctx, grammar.rules.len, edges.items, null);
        const found = try graph.components(ctx, &uses);
        var start: usize = 0;
        while (start < found.nodes.len) {
            if (start % 64 == 0) try ctx.check();
            var end = start + 1;
            while (end < found.nodes.len and found.of[found.nodes[end]] == found.of[found.nodes[start]]) end += 1;
            const members = found.nodes[start..end];
            const first = members[0];
            const is_recursive = members.len > 1 or std.mem.findScalar(u32, uses.of(first), first) != null;
            if (!is_recursive) {
                r.of[first] = try r.limited(grammar.rules[first], try r.part(grammar.rules[first].expression));
            } else {
                for (members) |member| _ = try r.limited(grammar.rules[member], null);
                if (members.len <= solved_max and !try r.solve(members, .right)) _ = try r.solve(members, .left);
            }
            start = end;
        }
        return r;
    }

    /// The rule with its attributes. ELIZA_ERR_GRAMMAR: it has some, and is not regular.
    fn limited(r: *const Regular, rule: grammar_module.Rule, found: ?Part) Error!?Part {
        if (rule.attributes.isEmpty()) return found;
        const ctx = r.ctx;
        const whole = found orelse return ctx.diag.fail(
            if (r.weight_max == 0) .limit else .grammar,
            "{f}: the rule {s} has attributes, so it must be regular, not lead to itself, and not be large",
            .{ rule.place, rule.name },
        );
        var one = whole;
        if (rule.attributes.characters_max) |most| {
            const some = try ast.repeat(ctx.arena, ast.any_character, 0, most);
            const both = [_]Pattern{ .{ .node = one.node, .soft = true }, .{ .node = some, .soft = true } };
            one = .of(try intersection.intersect(ctx.arena, &both, 2, ctx.budget, rule.name, ctx.diag));
        }
        if (!rule.attributes.lazy) return one;
        if (one.is_nullable) return .empty;
        return .of(try intersection.shortest(ctx.arena, one.node, ctx.budget, rule.name, ctx.diag));
    }

    /// The expression as a regular one; null if it is none, or too heavy.
    pub fn part(r: *const Regular, expression: Expression) Error!?Part {
        const arena = r.ctx.arena;
        switch (expression) {
            .pattern => |node| return .of(node),
            .rule => |rule| return r.of[rule],
            .tokens => |set| return .of(try r.tokens.nodeOf(r.ctx, set)),
            .sequence => |items| {
                var whole: Part = .empty;
                for (items) |item| {
                    const next = try r.part(item) orelse return null;
                    whole = try r.light(try Part.concat(arena, whole, next)) orelse return null;
                }
                return whole;
            },
            .choice => |items| {
                var whole = try r.part(items[0]) orelse return null;
                for (items[1..]) |item| {
                    const other = try r.part(item) orelse return null;
                    whole = try r.light(try Part.alternate(arena, whole, other)) orelse return null;
                }
                return whole;
            },
            .repeat => |repeat| {
                const body = try r.part(repeat.expression) orelse return null;
                const whole = try Part.repeat(arena, body, repeat.min, repeat.max);
                const is_light = body.weight <= repeated_weight_max and (r.weight_max > 0 or whole.weight <= counted_weight_max);
                return if (is_light) whole else r.light(whole);
            },
        }
    }

    fn light(r: *const Regular, one: Part) Error!?Part {
        try r.ctx.take(@sizeOf(Part));
        return if (one.weight <= r.weight_max) one else null;
    }

    // ---- Rules that lead to themselves at one end

    const Side = enum { left, right };

    /// A regular expression and then, or behind, one of the rules that are solved.
    const Term = struct { part: Part, member: ?usize };

    /// [member]: what comes before or after that member; the last one stands alone. Null: nothing does.
    const Row = [solved_max + 1]?Part;

    /// Solves X_i = a_i0 X_0 | ... | b_i by elimination ("Delayed logic and finite state machines", D. N. Arden, 1961).
    /// False if the rules are not of this form, or too heavy.
    fn solve(r: *Regular, members: []const u32, side: Side) Error!bool {
        var rows: [solved_max]Row = @splat(@splat(null));
        for (members, rows[0..members.len]) |member, *row| {
            const terms = try r.linear(r.grammar.rules[member].expression, members, side) orelse return false;
            for (terms) |term| if (!try r.add(&row[term.member orelse solved_max], term.part)) return false;
        }
        var i = members.len;
        while (i > 0) {
            i -= 1;
            if (!try r.close(&rows[i], i, side)) return false;
            for (rows[0..i]) |*row| if (!try r.substitute(row, i, &rows[i], side)) return false;
        }
        for (0..members.len) |solved| {
            for (rows[solved + 1 .. members.len]) |*row| if (!try r.substitute(row, solved, &rows[solved], side)) return false;
        }
        for (members, rows[0..members.len]) |member, row| {
            // Without an end the rule derives no text, and lowering says so.
            r.of[member] = row[solved_max] orelse return false;
        }
        return true;
    }

    /// X = a X | rest is a* rest.
    fn close(r: *Regular, row: *Row, i: usize, side: Side) Error!bool {
        const own = row[i] orelse return true;
        row[i] = null;
        const looped = try Part.repeat(r.ctx.arena, own, 0, null);
        for (row) |*one| if (one.*) |rest| {
            one.* = try r.light(try r.join(looped, rest, side)) orelse return false;
        };
        return true;
    }

    fn substitute(r: *Regular, row: *Row, i: usize, solved: *const Row, side: Side) Error!bool {
        const before = row[i] orelse return true;
        row[i] = null;
        for (row, solved) |*to, from| if (from) |rest| {
            const joined = try r.light(try r.join(before, rest, side)) orelse return false;
            if (!try r.add(to, joined)) return false;
        };
        return true;
    }

    fn add(r: *Regular, to: *?Part, one: Part) Error!bool {
        const there = to.* orelse {
            to.* = one;
            return true;
        };
        to.* = try r.light(try Part.alternate(r.ctx.arena, there, one)) orelse return false;
        return true;
    }

    fn join(r: *Regular, outer: Part, inner: Part, side: Side) Error!Part {
        return switch (side) {
            .right => Part.concat(r.ctx.arena, outer, inner),
            .left => Part.concat(r.ctx.arena, inner, outer),
        };
    }

    /// An expression as alternatives with a member at their end; null if it is not of this form.
    fn linear(r: *Regular, expression: Expression, members: []const u32, side: Side) Error!?[]const Term {
        var terms: ArrayList(Term) = .empty;
        switch (expression) {
            .pattern => |node| try r.ctx.append(&terms, .{ .part = .of(node), .member = null }),
            .rule => |rule| if (std.mem.findScalar(u32, members, rule)) |member| {
                try r.ctx.append(&terms, .{ .part = .empty, .member = member });
            } else try r.ctx.append(&terms, .{ .part = r.of[rule] orelse return null, .member = null }),
            .choice => |items| for (items) |item| {
                try r.ctx.appendSlice(&terms, try r.linear(item, members, side) orelse return null);
            },
            .tokens => |set| try r.ctx.append(&terms, .{ .part = .of(try r.tokens.nodeOf(r.ctx, set)), .member = null }),
            .repeat => |repeat| if (repeat.min == 0 and repeat.max == 1) {
                try r.ctx.append(&terms, .{ .part = .empty, .member = null });
                try r.ctx.appendSlice(&terms, try r.linear(repeat.expression, members, side) orelse return null);
            } else try r.ctx.append(&terms, .{ .part = try r.part(expression) orelse return null, .member = null }),
            .sequence => |items| {
                try r.ctx.append(&terms, .{ .part = .empty, .member = null });
                for (0..items.len) |i| {
                    const item = items[if (side == .right) i else items.len - 1 - i];
                    const more = try r.linear(item, members, side) orelse return null;
                    terms = try r.product(terms.items, more, side) orelse return null;
                }
            },
        }
        return if (terms.items.len <= terms_max) terms.items else null;
    }

    fn product(r: *Regular, outer: []const Term, inner: []const Term, side: Side) Error!?ArrayList(Term) {
        var all: ArrayList(Term) = .empty;
        if (outer.len * inner.len > terms_max) return null;
        for (outer) |a| for (inner) |b| {
            if (a.member != null) {
                if (b.member == null and b.part.isEmpty()) try r.ctx.append(&all, a) else return null;
                continue;
            }
            try r.ctx.append(&all, .{ .part = try r.join(a.part, b.part, side), .member = b.member });
        };
        return all;
    }
};

fn appendUses(ctx: *const Context, expression: Expression, from: u32, edges: *ArrayList(graph.Edge)) Error!void {
    switch (expression) {
        .pattern, .tokens => {},
        .rule => |rule| try ctx.append(edges, .{ .from = from, .to = rule }),
        .sequence, .choice => |items| for (items) |item| try appendUses(ctx, item, from, edges),
        .repeat => |repeat| try appendUses(ctx, repeat.expression, from, edges),
    }
}

test "what is put together counts as memory" {
    var arena_state: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena_state.deinit();
    var budget: Budget = .{ .bytes_max = 100 * @sizeOf(Part) };
    var diag: Diagnostic = .{};
    const ctx: Context = .{ .arena = arena_state.allocator(), .budget = &budget, .diag = &diag };
    const r: Regular = .{ .ctx = &ctx, .grammar = undefined, .tokens = undefined, .weight_max = 1 << 16, .of = &.{} };
    const items: [101]Expression = @splat(.{ .pattern = ast.any_character });
    try std.testing.expect(try r.part(.{ .sequence = items[0..100] }) != null);
    budget.bytes = 0;
    try std.testing.expectError(error.Failed, r.part(.{ .sequence = &items }));
    try std.testing.expectEqual(.limit, diag.status);
}
