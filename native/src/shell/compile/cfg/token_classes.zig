//! The classes of the tokens that a grammar names: tokens that are in the same sets are taken alike, and become one
//! character of the lexer (glr/named_tokens.zig).

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const sort = @import("engine").sort.sort;
const NamedTokens = @import("engine").named_tokens.NamedTokens;
const Tokens = @import("engine").vocabulary.Tokens;
const ast = @import("../regex/ast.zig");
const TokenSet = @import("../token_set.zig").TokenSet;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// Lives in the context's arena.
pub const TokenClasses = struct {
    ctx: *const Context,
    named: NamedTokens = .{},
    /// Those that the grammar has.
    sets: []const TokenSet,
    /// By class, from 1: a token of it; null for those that are in no list.
    examples: ArrayList(?u32) = .empty,

    pub fn init(ctx: *const Context, tokens: *const Tokens, sets: []const TokenSet) Error!TokenClasses {
        var t: TokenClasses = .{ .ctx = ctx, .sets = sets };
        if (sets.len == 0) return t;
        const starts = try t.findStarts();
        var kinds: Texts = .{};
        const classes = try ctx.alloc(u8, starts.len);
        for (classes, starts) |*class, start| {
            const is_listed = for (sets) |set| {
                if (set.lists(start)) break true;
            } else false;
            class.* = if (is_listed) try t.classOf(&kinds, start) else NamedTokens.unlisted;
        }
        t.named = .{ .starts = starts, .classes = classes };
        if (t.named.hasOthers(tokens)) t.named.others = try t.classOf(&kinds, null);
        t.named.n_classes = @intCast(t.examples.items.len);
        return t;
    }

    /// A set as the lexer has it.
    pub fn nodeOf(t: *const TokenClasses, set: TokenSet) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (t.examples.items, 1..) |example, class| {
            if (!set.has(example)) continue;
            const bytes = try t.ctx.alloc(u8, 2);
            bytes[0] = NamedTokens.lead;
            bytes[1] = @intCast(class);
            try t.ctx.append(&nodes, try ast.create(t.ctx.arena, .{ .bytes = bytes }));
        }
        if (nodes.items.len == 0) return ast.create(t.ctx.arena, .{ .class = &.{} });
        return ast.alternate(t.ctx.arena, nodes.items);
    }

    /// Tokens between two of them are in the same sets.
    fn findStarts(t: *const TokenClasses) Error![]const u32 {
        var starts: ArrayList(u32) = .empty;
        try t.ctx.append(&starts, 0);
        for (t.sets) |set| for (set.ranges) |range| {
            try t.ctx.append(&starts, range.first);
            if (range.last < std.math.maxInt(u32)) try t.ctx.append(&starts, range.last + 1);
        };
        sort(u32, starts.items, {}, std.sort.asc(u32));
        var n: usize = 0;
        for (starts.items) |start| if (n == 0 or starts.items[n - 1] != start) {
            starts.items[n] = start;
            n += 1;
        };
        return starts.items[0..n];
    }

    /// By which sets a token is in; no class if it is in none. Null: one that is in no list.
    fn classOf(t: *TokenClasses, kinds: *Texts, token: ?u32) Error!u8 {
        try t.ctx.check();
        const key = try t.ctx.alloc(u8, t.sets.len);
        var is_in_any = false;
        for (key, t.sets) |*is_in, set| {
            is_in.* = @intFromBool(set.has(token));
            is_in_any = is_in_any or is_in.* != 0;
        }
        if (!is_in_any) return NamedTokens.no_class;
        const number = try kinds.put(t.ctx.arena, key);
        if (number == t.examples.items.len) {
            if (number == NamedTokens.classes_max) {
                return t.ctx.diag.fail(.limit, "the grammar tells more than {d} kinds of tokens apart", .{NamedTokens.classes_max});
            }
            try t.ctx.append(&t.examples, token);
        }
        return @intCast(number + 1);
    }
};
