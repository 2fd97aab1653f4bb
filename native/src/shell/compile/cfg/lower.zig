//! From a grammar's expressions to terminals and productions. What is regular becomes one terminal, as large as it
//! can be; groups become alternatives, or helpers where these would be too many; repetition becomes
//! left-recursive helpers, so that the parser's stack stays flat. No language is lost or gained: a text is split
//! into lexemes in any way.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const ast = @import("../regex/ast.zig");
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const grammar_module = @import("grammar.zig");
const Grammar = grammar_module.Grammar;
const Expression = grammar_module.Expression;
const Repeat = grammar_module.Repeat;
const Part = @import("part.zig").Part;
const Regular = @import("regular.zig").Regular;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// How many alternatives one expression may become before its parts get helpers.
const alternatives_max = 32;
/// Parts of one alternative that may match the empty text; more get helpers.
const nullable_max = 5;
const number_max = std.math.maxInt(u16) - 1;
/// Up to so many, repetitions are written out, and more are counted by blocks.
const unary_max = 4096;
const block_units = 256;

/// Productions may be empty and rules lead to themselves in any way; terminals may match the empty text, which no
/// lexeme is. Lives in the context's arena.
pub fn lower(ctx: *const Context, regular: *const Regular) Error!Bnf {
    const grammar = regular.grammar;
    var l: Lowering = .{
        .ctx = ctx,
        .grammar = grammar,
        .regular = regular,
        .numbers = try ctx.filled(u32, grammar.rules.len, none),
    };
    _ = try l.ruleOf(grammar.start);
    var next: usize = 0;
    while (next < l.waiting.items.len) : (next += 1) {
        try ctx.check();
        const rule = &grammar.rules[l.waiting.items[next]];
        l.rule = rule;
        const number = l.numbers[l.waiting.items[next]];
        for (try l.expand(rule.expression)) |sequence| try l.produce(number, sequence);
    }
    return .{ .terminals = l.terminals.items, .rules = l.rules.items, .productions = l.productions.items, .start = 0 };
}

const none = std.math.maxInt(u32);

const Symbol = union(enum) { rule: u32, part: Part };
const Sequence = []const Symbol;

const Lowering = struct {
    ctx: *const Context,
    grammar: *const Grammar,
    regular: *const Regular,
    /// [rule of the grammar]: its number here, or `none` if nothing has used it so far.
    numbers: []u32,
    /// Rules of the grammar in the order of their numbers, to be expanded.
    waiting: ArrayList(u32) = .empty,
    /// What is being expanded, for names.
    rule: *const grammar_module.Rule = undefined,
    rules: ArrayList(bnf.Rule) = .empty,
    terminals: ArrayList(bnf.Terminal) = .empty,
    /// By what they are made of, as bytes.
    known_terminals: Texts = .{},
    productions: ArrayList(bnf.Production) = .empty,

    fn ruleOf(l: *Lowering, rule: u32) Error!u32 {
        if (l.numbers[rule] == none) {
            l.rule = &l.grammar.rules[rule];
            l.numbers[rule] = try l.addRule();
            try l.ctx.append(&l.waiting, rule);
        }
        return l.numbers[rule];
    }

    fn addRule(l: *Lowering) Error!u32 {
        if (l.rules.items.len == number_max) return l.failLimit("rules");
        try l.ctx.append(&l.rules, .{ .name = l.rule.name, .place = l.rule.place });
        return @intCast(l.rules.items.len - 1);
    }

    // ---- Expressions to alternatives

    fn expand(l: *Lowering, expression: Expression) Error![]const Sequence {
        if (try l.regular.part(expression)) |part| return l.one(if (part.isEmpty()) &.{} else &.{.{ .part = part }});
        switch (expression) {
            .pattern, .tokens => unreachable,
            .rule => |rule| {
                const rule_before = l.rule;
                defer l.rule = rule_before;
                return l.one(&.{.{ .rule = try l.ruleOf(rule) }});
            },
            .choice => |items| return l.expandChoice(items),
            .sequence => |items| {
                var all = try l.one(&.{});
                for (items) |item| all = try l.product(all, try l.expand(item));
                return all;
            },
            .repeat => |repeat| return l.expandRepeat(repeat),
        }
    }

    fn one(l: *Lowering, sequence: Sequence) Error![]const Sequence {
        const all = try l.ctx.alloc(Sequence, 1);
        const copy = try l.ctx.alloc(Symbol, sequence.len);
        @memcpy(copy, sequence);
        all[0] = copy;
        return all;
    }

    /// Regular alternatives become one, as far as that is not too heavy.
    fn expandChoice(l: *Lowering, items: []const Expression) Error![]const Sequence {
        var all: ArrayList(Sequence) = .empty;
        var together: ?Part = null;
        for (items) |item| {
            const part = try l.regular.part(item) orelse {
                try l.ctx.appendSlice(&all, try l.expand(item));
                continue;
            };
            const before = together orelse {
                together = part;
                continue;
            };
            const both = try Part.alternate(l.ctx.arena, before, part);
            if (both.weight <= l.regular.weight_max) together = both else try l.ctx.appendSlice(&all, try l.expand(item));
        }
        if (together) |part| try l.ctx.appendSlice(&all, try l.one(if (part.isEmpty()) &.{} else &.{.{ .part = part }}));
        return all.items;
    }

    fn product(l: *Lowering, heads: []const Sequence, tails: []const Sequence) Error![]const Sequence {
        if (heads.len * tails.len > alternatives_max) {
            if (tails.len > 1) return l.product(heads, try l.one(&.{try l.group(tails)}));
            return l.product(try l.one(&.{try l.group(heads)}), tails);
        }
        const all = try l.ctx.alloc(Sequence, heads.len * tails.len);
        for (heads, 0..) |head, i| for (tails, 0..) |tail, j| {
            const sequence = try l.ctx.alloc(Symbol, head.len + tail.len);
            @memcpy(sequence[0..head.len], head);
            @memcpy(sequence[head.len..], tail);
            all[i * tails.len + j] = sequence;
        };
        return all;
    }

    /// A helper for some alternatives.
    fn group(l: *Lowering, alternatives: []const Sequence) Error!Symbol {
        const helper = try l.addRule();
        for (alternatives) |alternative| try l.produce(helper, alternative);
        return .{ .rule = helper };
    }

    fn expandRepeat(l: *Lowering, repeat: *const Repeat) Error![]const Sequence {
        if (repeat.max == 0) return l.one(&.{});
        const body = try l.expand(repeat.expression);
        if (repeat.min == 0 and repeat.max == 1) return l.orNothing(body);
        const unit = if (body.len == 1 and body[0].len == 1) body[0][0] else try l.group(body);
        // The counts from `min` on: without an end, at least one of a list; with one, nested optional tails.
        var head: ArrayList(Symbol) = .empty;
        const n_head = if (repeat.max == null) repeat.min -| 1 else repeat.min;
        try l.exactly(unit, n_head, &head);
        const max = repeat.max orelse {
            const list = try l.addRule();
            try l.produce(list, &.{unit});
            try l.produce(list, &.{ .{ .rule = list }, unit });
            try l.ctx.append(&head, .{ .rule = list });
            const all = try l.one(head.items);
            return if (repeat.min == 0) l.orNothing(all) else all;
        };
        if (max > repeat.min) try l.ctx.append(&head, try l.upTo(unit, max - repeat.min));
        return l.one(head.items);
    }

    /// A helper for none to `n` of them: one and then none to n - 1, so that what comes next decides when it ends.
    fn upTo(l: *Lowering, unit: Symbol, n: u32) Error!Symbol {
        if (n > unary_max) return l.upToBlocks(unit, n);
        var helper: ?Symbol = null;
        for (0..n) |_| {
            const next = try l.addRule();
            try l.produce(next, &.{});
            try l.produce(next, if (helper) |rest| &.{ unit, rest } else &.{unit});
            helper = .{ .rule = next };
        }
        return helper.?;
    }

    /// As many blocks as are whole, and then less than one: within a block there are two ways to read on.
    fn upToBlocks(l: *Lowering, unit: Symbol, n: u32) Error!Symbol {
        const block = try l.power(unit, std.math.log2_int(u32, block_units));
        var helper = if (n % block_units > 0) try l.upTo(unit, n % block_units) else try l.group(try l.one(&.{}));
        const rest = try l.upTo(unit, block_units - 1);
        for (0..n / block_units) |_| {
            const next = try l.addRule();
            try l.produce(next, &.{rest});
            try l.produce(next, &.{ block, helper });
            helper = .{ .rule = next };
        }
        return helper;
    }

    /// Counted in binary, if they are many.
    fn exactly(l: *Lowering, unit: Symbol, n: u32, out: *ArrayList(Symbol)) Error!void {
        if (n <= unary_max) {
            for (0..n) |_| try l.ctx.append(out, unit);
            return;
        }
        for (0..32) |bit| if (n >> @intCast(bit) & 1 != 0) try l.ctx.append(out, try l.power(unit, bit));
    }

    /// 2 to the power of `exponent` of them.
    fn power(l: *Lowering, unit: Symbol, exponent: usize) Error!Symbol {
        var whole = unit;
        for (0..exponent) |_| {
            const next = try l.addRule();
            try l.produce(next, &.{ whole, whole });
            whole = .{ .rule = next };
        }
        return whole;
    }

    fn orNothing(l: *Lowering, alternatives: []const Sequence) Error![]const Sequence {
        const all = try l.ctx.alloc(Sequence, alternatives.len + 1);
        @memcpy(all[0..alternatives.len], alternatives);
        all[alternatives.len] = &.{};
        return all;
    }

    // ---- Productions

    /// Neighbours that are regular become one terminal, and what may be empty is there or not.
    fn produce(l: *Lowering, rule: u32, sequence: Sequence) Error!void {
        var joined: ArrayList(Symbol) = .empty;
        var n_nullable: u32 = 0;
        for (sequence) |symbol| {
            if (symbol == .part and joined.items.len > 0 and joined.items[joined.items.len - 1] == .part) {
                const last = &joined.items[joined.items.len - 1].part;
                const both = try Part.concat(l.ctx.arena, last.*, symbol.part);
                if (both.weight <= l.regular.weight_max) {
                    n_nullable -= @intFromBool(last.is_nullable and !both.is_nullable);
                    last.* = both;
                    continue;
                }
            }
            var added = symbol;
            if (symbol == .part and symbol.part.is_nullable) {
                if (n_nullable == nullable_max) added = try l.optionalTerminal(symbol.part) else n_nullable += 1;
            }
            try l.ctx.append(&joined, added);
        }
        return l.produceChosen(rule, joined.items, 0);
    }

    fn optionalTerminal(l: *Lowering, part: Part) Error!Symbol {
        const helper = try l.addRule();
        try l.addProduction(helper, &.{});
        try l.addProduction(helper, &.{.{ .terminal = try l.terminalOf(part) }});
        return .{ .rule = helper };
    }

    /// `chosen` of the symbols are decided; recursion is as deep as parts may be empty.
    fn produceChosen(l: *Lowering, rule: u32, sequence: []Symbol, chosen: usize) Error!void {
        for (sequence[chosen..], chosen..) |symbol, i| {
            if (symbol != .part or !symbol.part.is_nullable) continue;
            var with = symbol.part;
            with.is_nullable = false;
            sequence[i] = .{ .part = with };
            try l.produceChosen(rule, sequence, i + 1);
            sequence[i] = .{ .part = .empty };
            try l.produceChosen(rule, sequence, i + 1);
            sequence[i] = symbol;
            return;
        }
        var symbols: ArrayList(bnf.Symbol) = .empty;
        for (sequence) |symbol| switch (symbol) {
            .rule => |r| try l.ctx.append(&symbols, .{ .rule = @intCast(r) }),
            .part => |part| if (!part.isEmpty()) try l.ctx.append(&symbols, .{ .terminal = try l.terminalOf(part) }),
        };
        return l.addProduction(rule, symbols.items);
    }

    fn addProduction(l: *Lowering, rule: u32, symbols: []const bnf.Symbol) Error!void {
        if (l.productions.items.len == number_max) return l.failLimit("alternatives");
        if (symbols.len > number_max) return l.failLimit("symbols in an alternative");
        if (l.productions.items.len % 64 == 0) try l.ctx.check();
        const copy = try l.ctx.alloc(bnf.Symbol, symbols.len);
        @memcpy(copy, symbols);
        try l.ctx.append(&l.productions, .{ .rule = @intCast(rule), .symbols = copy, .place = l.rule.place });
    }

    fn terminalOf(l: *Lowering, part: Part) Error!u16 {
        var key: ArrayList(u8) = .empty;
        try part.appendKey(l.ctx.arena, &key);
        try l.ctx.take(key.items.len);
        const number = try l.known_terminals.put(l.ctx.arena, key.items);
        if (number == l.terminals.items.len) {
            if (number == number_max) return l.failLimit("terminals");
            try l.ctx.append(&l.terminals, .{ .name = l.rule.name, .pattern = part.node, .place = l.rule.place });
        }
        return @intCast(number);
    }

    fn failLimit(l: *const Lowering, what: []const u8) Error {
        return l.ctx.diag.fail(.limit, "the grammar has more than {d} {s}", .{ @as(u32, number_max), what });
    }
};
