//! Rewrites a grammar so that its language stays and a generalised LR parser has less to follow: nothing is empty but
//! the start, no rule derives itself alone, and, unless precedences say how, a rule that leads to itself at both
//! ends leads to itself at the left alone. So many ambiguous grammars become LR(1), since nobody asks for their trees.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Symbol = bnf.Symbol;
const graph = @import("../lr/graph.zig");
const useless_rules = @import("../lr/useless_rules.zig");
const markBottomUp = @import("../lr/augmented_grammar.zig").markBottomUp;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// Alternatives of a rule of which each is compared with all others.
const compared_max = 256;
/// Symbols of one production that may be empty; what is after them gets a helper.
const nullable_max = 4;
const number_max = std.math.maxInt(u16) - 1;

/// The same language: over its terminals, and so over texts. Precedences are kept only where the production is.
/// Lives in the context's arena.
pub fn normalise(ctx: *const Context, grammar: *const Bnf) Error!Bnf {
    var n: Normal = .{ .ctx = ctx, .grammar = grammar };
    try ctx.appendSlice(&n.rules, grammar.rules);
    for (grammar.productions) |p| try n.add(p.rule, p.symbols, p);
    const is_nullable = try n.removeEmpty();
    try n.joinUnitCycles();
    try n.removeUseless();
    if (!hasPrecedence(grammar)) {
        try n.inlineUnits();
        try n.dropJoined();
        try n.leanLeft();
    }
    try n.removeUseless();
    return n.finish(is_nullable);
}

const Normal = struct {
    ctx: *const Context,
    grammar: *const Bnf,
    rules: ArrayList(bnf.Rule) = .empty,
    productions: ArrayList(bnf.Production) = .empty,
    /// Of `productions`, as bytes.
    known: Texts = .{},

    /// Adds a production with the place and precedence of another, unless it is there already.
    fn add(n: *Normal, rule: u32, symbols: []const Symbol, like: bnf.Production) Error!void {
        var key: ArrayList(u8) = .empty;
        try n.ctx.appendSlice(&key, std.mem.asBytes(&rule));
        for (symbols) |symbol| {
            const number: u32 = switch (symbol) {
                .terminal => |t| t,
                .rule => |r| @as(u32, 1) << 16 | r,
            };
            try n.ctx.appendSlice(&key, std.mem.asBytes(&number));
        }
        if (try n.known.put(n.ctx.arena, key.items) < n.productions.items.len) return;
        if (n.productions.items.len == number_max) return n.failLimit("alternatives");
        if (n.productions.items.len % 64 == 0) try n.ctx.check();
        const copy = try n.ctx.alloc(Symbol, symbols.len);
        @memcpy(copy, symbols);
        var production = like;
        production.rule = @intCast(rule);
        production.symbols = copy;
        try n.ctx.append(&n.productions, production);
    }

    fn addRule(n: *Normal, like: u32) Error!u32 {
        if (n.rules.items.len == number_max) return n.failLimit("rules");
        const rule = n.rules.items[like];
        try n.ctx.append(&n.rules, rule);
        return @intCast(n.rules.items.len - 1);
    }

    fn failLimit(n: *const Normal, what: []const u8) Error {
        return n.ctx.diag.fail(.limit, "the grammar has more than {d} {s}", .{ @as(u32, number_max), what });
    }

    /// Takes all productions out, to be added again.
    fn takeAll(n: *Normal) []const bnf.Production {
        const all = n.productions.items;
        n.productions = .empty;
        n.known = .{};
        return all;
    }

    // ---- What is empty

    /// Leaves what can be empty out, or not, in each production. Returns whether the start can be empty.
    fn removeEmpty(n: *Normal) Error!bool {
        try n.shorten();
        const nullable = try n.mark(.empty);
        for (n.takeAll()) |p| {
            var symbols: ArrayList(Symbol) = .empty;
            try n.addChosen(nullable, p, &symbols, 0);
        }
        return nullable[n.grammar.start];
    }

    /// No production keeps more than `nullable_max` rules before its last two symbols, so that few can be empty.
    fn shorten(n: *Normal) Error!void {
        for (n.takeAll()) |p| {
            var rule: u32 = p.rule;
            var rest = p.symbols;
            while (true) {
                var n_rules: usize = 0;
                const cut = for (rest, 0..) |symbol, i| {
                    n_rules += @intFromBool(symbol == .rule);
                    if (n_rules == nullable_max and i + 2 < rest.len) break i + 1;
                } else break;
                const helper = try n.addRule(rule);
                const head = try n.ctx.alloc(Symbol, cut + 1);
                @memcpy(head[0..cut], rest[0..cut]);
                head[cut] = .{ .rule = @intCast(helper) };
                try n.add(rule, head, p);
                rule = helper;
                rest = rest[cut..];
            }
            try n.add(rule, rest, p);
        }
    }

    fn addChosen(n: *Normal, nullable: []const bool, p: bnf.Production, symbols: *ArrayList(Symbol), from: usize) Error!void {
        const length = symbols.items.len;
        defer symbols.shrinkRetainingCapacity(length);
        for (p.symbols[from..], from..) |symbol, i| {
            if (symbol == .rule and nullable[symbol.rule]) try n.addChosen(nullable, p, symbols, i + 1);
            try n.ctx.append(symbols, symbol);
        }
        if (symbols.items.len > 0) try n.add(p.rule, symbols.items, p);
    }

    // ---- Rules that derive each other alone

    /// They are one rule.
    fn joinUnitCycles(n: *Normal) Error!void {
        var edges: ArrayList(graph.Edge) = .empty;
        for (n.productions.items) |p| if (p.symbols.len == 1 and p.symbols[0] == .rule) {
            try n.ctx.append(&edges, .{ .from = p.rule, .to = p.symbols[0].rule });
        };
        const units: graph.Graph = try .init(n.ctx, n.rules.items.len, edges.items, null);
        const found = try graph.components(n.ctx, &units);
        // Each component is called as the start or its first member.
        const names = try n.ctx.filled(u32, n.rules.items.len, std.math.maxInt(u32));
        names[found.of[n.grammar.start]] = n.grammar.start;
        for (found.nodes) |rule| if (names[found.of[rule]] == std.math.maxInt(u32)) {
            names[found.of[rule]] = rule;
        };
        for (n.takeAll()) |p| {
            const rule = names[found.of[p.rule]];
            const symbols = try n.ctx.alloc(Symbol, p.symbols.len);
            for (symbols, p.symbols) |*to, from| to.* = switch (from) {
                .terminal => from,
                .rule => |r| .{ .rule = @intCast(names[found.of[r]]) },
            };
            if (symbols.len == 1 and symbols[0] == .rule and symbols[0].rule == rule) continue;
            try n.add(rule, symbols, p);
        }
    }

    /// A rule that is used once, alone, is written where it is used.
    fn inlineUnits(n: *Normal) Error!void {
        const uses = try n.ctx.filled(u32, n.rules.items.len, 0);
        const user = try n.ctx.filled(u32, n.rules.items.len, 0);
        const is_unit = try n.ctx.filled(bool, n.rules.items.len, false);
        for (n.productions.items) |p| for (p.symbols) |symbol| if (symbol == .rule) {
            uses[symbol.rule] += 1;
            user[symbol.rule] = p.rule;
            is_unit[symbol.rule] = p.symbols.len == 1;
        };
        is_unit[n.grammar.start] = false;
        for (n.takeAll()) |p| {
            if (p.symbols.len == 1 and p.symbols[0] == .rule and uses[p.symbols[0].rule] == 1 and is_unit[p.symbols[0].rule]) continue;
            // Without cycles, what uses it leads to a rule that stays.
            var rule: u32 = p.rule;
            while (uses[rule] == 1 and is_unit[rule]) rule = user[rule];
            try n.add(rule, p.symbols, p);
        }
    }

    // ---- Rules that lead to themselves at both ends

    /// With an alternative A A, texts of A joined are a text of A: other alternatives that are made of shorter ones, and of
    /// A itself, say nothing new.
    fn dropJoined(n: *Normal) Error!void {
        const joins = try n.ctx.filled(bool, n.rules.items.len, false);
        for (n.productions.items) |p| if (isJoin(p)) {
            joins[p.rule] = true;
        };
        const of_rules = try n.ctx.filled(ArrayList([]const Symbol), n.rules.items.len, .empty);
        for (n.productions.items) |p| if (joins[p.rule]) try n.ctx.append(&of_rules[p.rule], p.symbols);
        for (n.takeAll()) |p| {
            const others = of_rules[p.rule].items;
            if (joins[p.rule] and !isJoin(p) and others.len <= compared_max and try n.isMadeOf(others, p)) continue;
            try n.add(p.rule, p.symbols, p);
        }
    }

    fn isJoin(p: bnf.Production) bool {
        return p.symbols.len == 2 and isRule(p.symbols[0], p.rule) and isRule(p.symbols[1], p.rule);
    }

    /// Whether the alternative is the rule itself and shorter ones, one after the other.
    fn isMadeOf(n: *Normal, others: []const []const Symbol, p: bnf.Production) Error!bool {
        const length = p.symbols.len;
        const is_end = try n.ctx.filled(bool, length + 1, false);
        is_end[0] = true;
        for (0..length) |from| {
            if (!is_end[from]) continue;
            if (isRule(p.symbols[from], p.rule)) is_end[from + 1] = true;
            for (others) |other| {
                if (other.len >= length or other.len > length - from) continue;
                for (other, p.symbols[from..][0..other.len]) |a, b| {
                    if (!std.meta.eql(a, b)) break;
                } else is_end[from + other.len] = true;
            }
        }
        return is_end[length];
    }

    /// Let A lead to A at the left, and call its other alternatives B. Where an alternative ends with A, it may end with B
    /// instead: what follows that B in the A was to continue at the left can follow the whole.
    fn leanLeft(n: *Normal) Error!void {
        const n_rules = n.rules.items.len;
        const at_left = try n.ctx.filled(bool, n_rules, false);
        const at_right = try n.ctx.filled(bool, n_rules, false);
        for (n.productions.items) |p| {
            if (isRule(p.symbols[0], p.rule)) at_left[p.rule] = true;
            if (isRule(p.symbols[p.symbols.len - 1], p.rule)) at_right[p.rule] = true;
        }
        const others = try n.ctx.filled(u32, n_rules, 0);
        for (others, at_left, at_right, 0..) |*other, left, right, rule| {
            if (!left or !right) continue;
            other.* = try n.addRule(@intCast(rule));
        }
        for (n.takeAll()) |p| {
            const other = others[p.rule];
            if (other == 0) {
                try n.add(p.rule, p.symbols, p);
                continue;
            }
            const symbols = try n.ctx.alloc(Symbol, p.symbols.len);
            @memcpy(symbols, p.symbols);
            const last = &symbols[symbols.len - 1];
            if (isRule(last.*, p.rule)) last.* = .{ .rule = @intCast(other) };
            try n.add(if (isRule(symbols[0], p.rule)) p.rule else other, symbols, p);
            try n.add(p.rule, &.{.{ .rule = @intCast(other) }}, p);
        }
    }

    // ---- Rules that are not needed

    /// Leaves out rules that derive no text but the empty one, or are not used.
    fn removeUseless(n: *Normal) Error!void {
        const ends = try n.mark(.any);
        const kept = try n.ctx.alloc(bool, n.productions.items.len);
        for (kept, n.productions.items) |*keep, p| keep.* = allEnd(ends, p.symbols);
        const used = try useless_rules.findUsed(n.ctx, &n.now(), kept);
        for (n.takeAll(), kept) |p, keep| if (used[p.rule] and keep) try n.add(p.rule, p.symbols, p);
    }

    /// [rule]: whether it derives the empty text, or any.
    fn mark(n: *Normal, text: enum { empty, any }) Error![]const bool {
        const marked = try n.ctx.filled(bool, n.rules.items.len, false);
        const unmarked = try n.ctx.filled(u32, n.productions.items.len, 0);
        const eligible = try n.ctx.filled(bool, n.productions.items.len, true);
        for (n.productions.items, unmarked, eligible) |p, *n_rules, *is_eligible| for (p.symbols) |symbol| switch (symbol) {
            .terminal => is_eligible.* = is_eligible.* and text == .any,
            .rule => n_rules.* += 1,
        };
        try markBottomUp(n.ctx, &n.now(), eligible, unmarked, marked);
        return marked;
    }

    /// The grammar as far as it is rewritten.
    fn now(n: *const Normal) Bnf {
        return .{ .terminals = n.grammar.terminals, .rules = n.rules.items, .productions = n.productions.items, .start = n.grammar.start };
    }

    /// Numbers the rules that are left. A start that can be empty gets one of its own before it.
    fn finish(n: *Normal, is_nullable: bool) Error!Bnf {
        const numbers = try n.ctx.filled(u32, n.rules.items.len, 0);
        const is_left = try n.ctx.filled(bool, n.rules.items.len, false);
        is_left[n.grammar.start] = true;
        for (n.productions.items) |p| is_left[p.rule] = true;
        var rules: ArrayList(bnf.Rule) = .empty;
        if (is_nullable) try n.ctx.append(&rules, n.rules.items[n.grammar.start]);
        for (numbers, is_left, n.rules.items) |*number, left, rule| if (left) {
            number.* = @intCast(rules.items.len);
            try n.ctx.append(&rules, rule);
        };
        const start: u16 = if (is_nullable) 0 else @intCast(numbers[n.grammar.start]);
        var productions: ArrayList(bnf.Production) = .empty;
        if (is_nullable) {
            const place = n.rules.items[n.grammar.start].place;
            const whole = try n.ctx.alloc(Symbol, 1);
            whole[0] = .{ .rule = @intCast(numbers[n.grammar.start]) };
            try n.ctx.append(&productions, .{ .rule = 0, .symbols = &.{}, .place = place });
            try n.ctx.append(&productions, .{ .rule = 0, .symbols = whole, .place = place });
        }
        for (n.productions.items) |p| {
            const symbols = try n.ctx.alloc(Symbol, p.symbols.len);
            for (symbols, p.symbols) |*to, from| to.* = switch (from) {
                .terminal => from,
                .rule => |r| .{ .rule = @intCast(numbers[r]) },
            };
            try n.ctx.append(&productions, .{
                .rule = @intCast(numbers[p.rule]),
                .symbols = symbols,
                .precedence = p.precedence,
                .place = p.place,
                .needs = p.needs,
            });
        }
        return .{
            .terminals = n.grammar.terminals,
            .rules = rules.items,
            .productions = productions.items,
            .start = start,
            .counted = n.grammar.counted,
            .texts = n.grammar.texts,
            .needed = n.grammar.needed,
        };
    }
};

fn hasPrecedence(grammar: *const Bnf) bool {
    for (grammar.productions) |p| if (p.precedence != null) return true;
    return false;
}

fn isRule(symbol: Symbol, rule: u32) bool {
    return symbol == .rule and symbol.rule == rule;
}

fn allEnd(ends: []const bool, symbols: []const Symbol) bool {
    for (symbols) |symbol| if (symbol == .rule and !ends[symbol.rule]) return false;
    return true;
}
