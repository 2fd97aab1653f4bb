//! The classes of the tokens that a grammar names: tokens that are in the same sets are taken alike, and become one
//! character of the lexer (glr/named_tokens.zig).

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const sort = @import("engine").sort.sort;
const NamedTokens = @import("engine").named_tokens.NamedTokens;
const ast = @import("../regex/ast.zig");
const grammar_module = @import("grammar.zig");
const Grammar = grammar_module.Grammar;
const Expression = grammar_module.Expression;
const Tokens = grammar_module.Tokens;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// Of classes, which are told apart by one byte.
const classes_max = 255;

/// Lives in the context's arena.
pub const TokenClasses = struct {
    ctx: *const Context,
    named: NamedTokens = .{},
    /// The sets that the grammar has.
    sets: ArrayList(Tokens) = .empty,
    /// By class, from 1: a token of it; null for those that are in no list.
    examples: ArrayList(?u32) = .empty,

    pub fn init(ctx: *const Context, grammar: *const Grammar) Error!TokenClasses {
        var t: TokenClasses = .{ .ctx = ctx };
        for (grammar.rules) |rule| try t.collect(rule.expression);
        if (t.sets.items.len == 0) return t;
        var ids: ArrayList(u32) = .empty;
        for (t.sets.items) |set| try ctx.appendSlice(&ids, set.ids);
        sort(u32, ids.items, {}, std.sort.asc(u32));
        var n: usize = 0;
        for (ids.items) |id| if (n == 0 or ids.items[n - 1] != id) {
            ids.items[n] = id;
            n += 1;
        };
        var kinds: Texts = .{};
        const classes = try ctx.alloc(u8, n);
        for (classes, ids.items[0..n]) |*class, id| class.* = try t.classOf(&kinds, id);
        const others = try t.classOf(&kinds, null);
        t.named = .{ .ids = ids.items[0..n], .classes = classes, .others = others, .n_classes = @intCast(t.examples.items.len) };
        return t;
    }

    /// A set as the lexer has it.
    pub fn nodeOf(t: *const TokenClasses, set: Tokens) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (t.examples.items, 1..) |example, class| {
            if (!contains(set, example)) continue;
            const bytes = try t.ctx.alloc(u8, 2);
            bytes[0] = NamedTokens.lead;
            bytes[1] = @intCast(class);
            try t.ctx.append(&nodes, try ast.create(t.ctx.arena, .{ .bytes = bytes }));
        }
        if (nodes.items.len == 0) return ast.create(t.ctx.arena, .{ .class = &.{} });
        return ast.alternate(t.ctx.arena, nodes.items);
    }

    fn collect(t: *TokenClasses, expression: Expression) Error!void {
        switch (expression) {
            .pattern, .rule => {},
            .sequence, .choice => |items| for (items) |item| try t.collect(item),
            .repeat => |repeat| try t.collect(repeat.expression),
            .tokens => |set| try t.ctx.append(&t.sets, set),
        }
    }

    /// By which sets a token is in; no class if it is in none. Null: one that is in no list.
    fn classOf(t: *TokenClasses, kinds: *Texts, token: ?u32) Error!u8 {
        try t.ctx.check();
        const key = try t.ctx.alloc(u8, t.sets.items.len);
        var is_in_any = false;
        for (key, t.sets.items) |*is_in, set| {
            is_in.* = @intFromBool(contains(set, token));
            is_in_any = is_in_any or is_in.* != 0;
        }
        if (!is_in_any) return NamedTokens.no_class;
        const number = try kinds.put(t.ctx.arena, key);
        if (number == t.examples.items.len) {
            if (number == classes_max) {
                return t.ctx.diag.fail(.limit, "the grammar tells more than {d} kinds of tokens apart", .{@as(u32, classes_max)});
            }
            try t.ctx.append(&t.examples, token);
        }
        return @intCast(number + 1);
    }
};

fn contains(set: Tokens, token: ?u32) bool {
    const id = token orelse return set.negated;
    return (std.mem.findScalar(u32, set.ids, id) != null) != set.negated;
}
