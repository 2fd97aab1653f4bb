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
    named: NamedTokens = .{},
    /// By class, from 1: a token of it; null for those that are in no list.
    examples: []const ?u32 = &.{},

    /// `sets` are those that the grammar has.
    pub fn init(ctx: *const Context, tokens: *const Tokens, sets: []const TokenSet) Error!TokenClasses {
        var s: Search = .{ .ctx = ctx, .sets = sets };
        if (sets.len == 0) return .{};
        const starts = try s.findStarts();
        var kinds: Texts = .{};
        const classes = try ctx.alloc(u8, starts.len);
        for (classes, starts) |*class, start| {
            const is_listed = for (sets) |set| {
                if (set.lists(start)) break true;
            } else false;
            class.* = if (is_listed) try s.classOf(&kinds, start) else NamedTokens.unlisted;
        }
        var named: NamedTokens = .{ .starts = starts, .classes = classes };
        if (named.hasOthers(tokens)) named.others = try s.classOf(&kinds, null);
        named.n_classes = @intCast(s.examples.items.len);
        return .{ .named = named, .examples = s.examples.items };
    }

    /// A set as the lexer has it.
    pub fn nodeOf(t: *const TokenClasses, ctx: *const Context, set: TokenSet) Error!*const ast.Node {
        var nodes: ArrayList(*const ast.Node) = .empty;
        for (t.examples, 1..) |example, class| {
            if (!set.has(example)) continue;
            const bytes = try ctx.alloc(u8, 2);
            bytes[0] = NamedTokens.lead;
            bytes[1] = @intCast(class);
            try ctx.append(&nodes, try ast.create(ctx.arena, .{ .bytes = bytes }));
        }
        if (nodes.items.len == 0) return ast.create(ctx.arena, .{ .class = &.{} });
        return ast.alternate(ctx.arena, nodes.items);
    }
};

const Search = struct {
    ctx: *const Context,
    sets: []const TokenSet,
    examples: ArrayList(?u32) = .empty,

    /// Tokens between two of them are in the same sets.
    fn findStarts(s: *const Search) Error![]const u32 {
        var starts: ArrayList(u32) = .empty;
        try s.ctx.append(&starts, 0);
        for (s.sets) |set| for (set.ranges) |range| {
            try s.ctx.append(&starts, range.first);
            if (range.last < std.math.maxInt(u32)) try s.ctx.append(&starts, range.last + 1);
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
    fn classOf(s: *Search, kinds: *Texts, token: ?u32) Error!u8 {
        try s.ctx.check();
        const key = try s.ctx.alloc(u8, s.sets.len);
        var is_in_any = false;
        for (key, s.sets) |*is_in, set| {
            is_in.* = @intFromBool(set.has(token));
            is_in_any = is_in_any or is_in.* != 0;
        }
        if (!is_in_any) return NamedTokens.no_class;
        const number = try kinds.put(s.ctx.arena, key);
        if (number == s.examples.items.len) {
            if (number == NamedTokens.classes_max) {
                return s.ctx.diag.fail(.limit, "the grammar tells more than {d} kinds of tokens apart", .{NamedTokens.classes_max});
            }
            try s.ctx.append(&s.examples, token);
        }
        return @intCast(number + 1);
    }
};
