//! Grammars whose terminals have look-around, without it. What is before a terminal and what must follow it is a context, one
//! of few. Each terminal is cut into those texts of it that lead from one context to another, and each rule into one for
//! each pair of contexts ("On formal properties of simple phrase structure grammars", Y. Bar-Hillel, M. Perles, E.
//! Shamir, 1961). What is ignored becomes a part of the rules, since it changes the context, too.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const NumberMap = @import("engine").number_map.NumberMap;
const ast = @import("../regex/ast.zig");
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Symbol = bnf.Symbol;
const look_around = @import("../regex/look_around.zig");
const Looks = look_around.Looks;
const Place = look_around.Place;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// Contexts of a grammar: sets of them are words.
const contexts_max = 64;

/// A grammar with the same texts and no look-around. Sets `reading.is_split` if terminals were cut. ELIZA_ERR_GRAMMAR: it
/// reaches beyond its terminal, and `reading` does not serve that.
pub fn resolve(ctx: *const Context, grammar: *const Bnf, reading: *bnf.Reading) Error!Bnf {
    for (grammar.terminals) |terminal| {
        if (terminal.looks or terminal.skip and terminal.once) break;
    } else return grammar.*;
    var looks: Looks = try .init(ctx, "");
    for (grammar.terminals) |terminal| if (terminal.looks) {
        looks.what = try whatOf(ctx, terminal);
        try looks.add(terminal.pattern);
    };
    var cutter: Cutter = .{ .ctx = ctx, .grammar = grammar, .looks = &looks };
    try cutter.findMoves();
    if (cutter.isClosed()) {
        if (!cutter.skipsOnce()) return cutter.inPlace();
    } else if (reading.lexing != .contextual or !reading.isPlain()) return cutter.failOpen(reading);
    reading.is_split = true;
    return cutter.cut();
}

/// For messages.
fn whatOf(ctx: *const Context, terminal: bnf.Terminal) Error![]const u8 {
    return std.fmt.allocPrint(ctx.arena, "{f}: {s}", .{ terminal.place, terminal.name });
}

/// From a context to another, by a new terminal; null for the empty text.
const Move = struct { to: u6, by: ?u16 };

const Cutter = struct {
    ctx: *const Context,
    grammar: *const Bnf,
    looks: *Looks,
    contexts: ArrayList(Place) = .empty,
    terminals: ArrayList(bnf.Terminal) = .empty,
    /// [new terminal]: the one that it is cut from.
    origins: ArrayList(u16) = .empty,
    /// [context * terminals + terminal].
    moves: ArrayList([]const Move) = .empty,
    /// [context]: those that what is ignored leads to, itself among them; and of this what may be skipped more than once.
    skipped: []u64 = &.{},
    repeated: []u64 = &.{},
    /// [context * rules + rule]: the contexts after the rule's texts; and whether it is asked for there.
    reach: []u64 = &.{},
    asked: []bool = &.{},
    rules: ArrayList(bnf.Rule) = .empty,
    productions: ArrayList(bnf.Production) = .empty,
    /// From what is cut, and its contexts, to the rule.
    of_keys: NumberMap = .{},
    waiting: ArrayList(Key) = .empty,

    /// The start, a rule, a terminal with what is ignored after it, what is ignored, or what of it may be so more than once; from
    /// a context to another.
    const Key = struct {
        what: union(enum) { start, skip, repeat, rule: u16, terminal: u16 },
        from: u6,
        to: u6,

        fn number(key: Key) u64 {
            const tag: u64 = @backingInt(std.meta.activeTag(key.what));
            const index: u64 = switch (key.what) {
                .start, .skip, .repeat => 0,
                .rule, .terminal => |index| index,
            };
            return tag << 40 | index << 16 | @as(u64, key.from) << 8 | key.to;
        }
    };

    // ---- Contexts

    fn findMoves(c: *Cutter) Error!void {
        try c.ctx.append(&c.contexts, try c.looks.start());
        var at: usize = 0;
        while (at < c.contexts.items.len) : (at += 1) for (c.grammar.terminals, 0..) |terminal, number| {
            try c.ctx.check();
            const moves = try c.movesOf(terminal, @intCast(number), c.contexts.items[at]);
            try c.ctx.append(&c.moves, moves);
        };
    }

    fn movesOf(c: *Cutter, terminal: bnf.Terminal, number: u16, from: Place) Error![]const Move {
        var moves: ArrayList(Move) = .empty;
        if (!terminal.looks and from.needs == 0 and from.behind.len == 0) {
            try c.ctx.append(&moves, .{ .to = try c.contextOf(from), .by = try c.terminalOf(number, terminal.pattern) });
            return moves.items;
        }
        c.looks.what = try whatOf(c.ctx, terminal);
        for (try c.looks.ways(terminal.pattern, from)) |way| {
            const to = try c.contextOf(way.to);
            if (way.is_empty and terminal.looks) try c.ctx.append(&moves, .{ .to = to, .by = null });
            if (way.node) |node| try c.ctx.append(&moves, .{ .to = to, .by = try c.terminalOf(number, node) });
        }
        return moves.items;
    }

    fn contextOf(c: *Cutter, place: Place) Error!u6 {
        for (c.contexts.items, 0..) |known, number| if (look_around.isSame(known, place)) return @intCast(number);
        if (c.contexts.items.len == contexts_max) {
            return c.ctx.diag.fail(.limit, "the grammar's look-around has more than {d} contexts", .{contexts_max});
        }
        try c.ctx.append(&c.contexts, place);
        return @intCast(c.contexts.items.len - 1);
    }

    fn terminalOf(c: *Cutter, origin: u16, node: *const ast.Node) Error!u16 {
        for (c.terminals.items, c.origins.items, 0..) |known, of, number| {
            if (of == origin and isSamePattern(known.pattern, node)) return @intCast(number);
        }
        if (c.terminals.items.len == std.math.maxInt(u16)) {
            return c.ctx.diag.fail(.limit, "the grammar's look-around makes too many terminals", .{});
        }
        var terminal = c.grammar.terminals[origin];
        terminal.pattern = node;
        terminal.looks = false;
        try c.ctx.append(&c.terminals, terminal);
        try c.ctx.append(&c.origins, origin);
        return @intCast(c.terminals.items.len - 1);
    }

    fn isSamePattern(a: *const ast.Node, b: *const ast.Node) bool {
        return a == b or a.* == .automaton and b.* == .automaton and look_around.isSameTable(a.automaton.table, b.automaton.table);
    }

    /// Whether the terminals can stay as they are.
    fn isClosed(c: *const Cutter) bool {
        if (c.contexts.items.len > 1) return false;
        for (c.moves.items) |moves| for (moves) |move| if (move.by == null) return false;
        return true;
    }

    fn inPlace(c: *Cutter) Error!Bnf {
        const terminals = try c.ctx.alloc(bnf.Terminal, c.grammar.terminals.len);
        for (terminals, c.grammar.terminals, c.moves.items) |*to, from, moves| {
            to.* = from;
            to.looks = false;
            to.matches_nothing = moves.len == 0;
            to.pattern = if (moves.len == 0) nothing else c.terminals.items[moves[0].by.?].pattern;
        }
        var grammar = c.grammar.*;
        grammar.terminals = terminals;
        return grammar;
    }

    const nothing: *const ast.Node = &.{ .class = &.{} };

    fn failOpen(c: *const Cutter, reading: *const bnf.Reading) Error {
        const place = for (c.grammar.terminals) |terminal| {
            if (terminal.looks) break terminal.place;
        } else unreachable; // nothing else opens one
        const why = if (reading.lexing != .contextual) "with maximal munch" else "in a grammar with tokens or schemas";
        return c.ctx.diag.fail(
            .grammar,
            "{f}: look-around that reaches beyond its terminal, or in one that may be empty, is unsupported {s}",
            .{ place, @as([]const u8, why) },
        );
    }

    // ---- What leads where

    fn movesFrom(c: *const Cutter, from: usize, terminal: usize) []const Move {
        return c.moves.items[from * c.grammar.terminals.len + terminal];
    }

    fn findSkipped(c: *Cutter) Error!void {
        const n = c.contexts.items.len;
        c.repeated = try c.ctx.alloc(u64, n);
        for (c.repeated, 0..) |*to, from| to.* = bit(from);
        var is_new = true;
        while (is_new) {
            is_new = false;
            for (c.repeated) |*to| {
                const all = to.* | c.afterSkipped(to.*, false);
                is_new = is_new or all != to.*;
                to.* = all;
            }
        }
        c.skipped = try c.ctx.alloc(u64, n);
        for (c.skipped, c.repeated) |*to, repeated| {
            to.* = repeated;
            const behind = c.afterSkipped(repeated, true);
            for (c.repeated, 0..) |more, by| to.* |= if (behind & bit(by) != 0) more else 0;
        }
    }

    /// The contexts after one lexeme that is ignored, once or any number of times.
    fn afterSkipped(c: *const Cutter, from: u64, once: bool) u64 {
        var to: u64 = 0;
        for (c.grammar.terminals, 0..) |terminal, t| if (terminal.skip and terminal.once == once) {
            for (0..c.contexts.items.len) |at| if (from & bit(at) != 0) for (c.movesFrom(at, t)) |move| {
                to |= if (move.by != null) bit(move.to) else 0;
            };
        };
        return to;
    }

    fn findReach(c: *Cutter) Error!void {
        const n = c.contexts.items.len;
        const n_rules = c.grammar.rules.len;
        c.reach = try c.ctx.filled(u64, n * n_rules, 0);
        c.asked = try c.ctx.filled(bool, n * n_rules, false);
        for (0..n) |from| if (c.firsts() & bit(from) != 0) {
            c.asked[from * n_rules + c.grammar.start] = true;
        };
        var is_new = true;
        while (is_new) {
            is_new = false;
            try c.ctx.check();
            for (c.grammar.productions) |p| for (0..n) |from| {
                if (!c.asked[from * n_rules + p.rule]) continue;
                var at = bit(from);
                for (p.symbols) |symbol| {
                    if (symbol == .rule) for (0..n) |by| if (at & bit(by) != 0 and !c.asked[by * n_rules + symbol.rule]) {
                        c.asked[by * n_rules + symbol.rule] = true;
                        is_new = true;
                    };
                    at = c.after(at, symbol);
                }
                const to = &c.reach[from * n_rules + p.rule];
                is_new = is_new or at & ~to.* != 0;
                to.* |= at;
            };
        }
    }

    /// The contexts in which the first lexeme may begin.
    fn firsts(c: *const Cutter) u64 {
        for (c.grammar.terminals) |terminal| if (terminal.skip and terminal.leads) return c.skipped[0];
        return bit(0);
    }

    fn after(c: *const Cutter, from: u64, symbol: Symbol) u64 {
        var to: u64 = 0;
        for (0..c.contexts.items.len) |at| if (from & bit(at) != 0) switch (symbol) {
            .rule => |rule| to |= c.reach[at * c.grammar.rules.len + rule],
            .terminal => |terminal| for (c.movesFrom(at, terminal)) |move| {
                to |= if (move.by == null) bit(move.to) else c.skipped[move.to];
            },
        };
        return to;
    }

    // ---- The grammar

    fn cut(c: *Cutter) Error!Bnf {
        try c.findSkipped();
        try c.findReach();
        for (c.terminals.items) |*terminal| if (terminal.skip) {
            terminal.skip = false;
            terminal.soft = false; // as those that are skipped
            terminal.separates = true;
        };
        const root = try c.ruleOf(.{ .what = .start, .from = 0, .to = 0 });
        while (c.waiting.pop()) |key| {
            try c.ctx.check();
            const rule = (try c.ruleOf(key)).rule;
            switch (key.what) {
                .start => try c.cutStart(rule),
                .skip => try c.cutSkip(rule, key.from, key.to),
                .repeat => try c.cutRepeat(rule, key.from, key.to),
                .terminal => |terminal| try c.cutTerminal(rule, terminal, key.from, key.to),
                .rule => |of| for (c.grammar.productions) |p| if (p.rule == of) try c.cutProduction(rule, p, key.from, key.to),
            }
        }
        return .{ .terminals = try c.usedTerminals(), .rules = c.rules.items, .productions = c.productions.items, .start = root.rule };
    }

    /// Numbers those that the rules use again, in their order.
    fn usedTerminals(c: *Cutter) Error![]const bnf.Terminal {
        const is_used = try c.ctx.filled(bool, c.terminals.items.len, false);
        for (c.productions.items) |p| for (p.symbols) |symbol| if (symbol == .terminal) {
            is_used[symbol.terminal] = true;
        };
        const numbers = try c.ctx.alloc(u16, is_used.len);
        var used: ArrayList(bnf.Terminal) = .empty;
        for (numbers, is_used, c.terminals.items) |*number, is, terminal| if (is) {
            number.* = @intCast(used.items.len);
            try c.ctx.append(&used, terminal);
        };
        for (c.productions.items) |p| for (@constCast(p.symbols)) |*symbol| if (symbol.* == .terminal) {
            symbol.* = .{ .terminal = numbers[symbol.terminal] };
        };
        return used.items;
    }

    fn ruleOf(c: *Cutter, key: Key) Error!Symbol {
        if (c.of_keys.get(key.number())) |known| return .{ .rule = @intCast(known) };
        const number = c.rules.items.len;
        if (number > std.math.maxInt(u16)) return c.ctx.diag.fail(.limit, "the grammar's look-around makes too many rules", .{});
        try c.of_keys.put(c.ctx.arena, key.number(), @intCast(number));
        try c.ctx.append(&c.rules, switch (key.what) {
            .start, .skip, .repeat => c.grammar.rules[c.grammar.start],
            .rule => |rule| c.grammar.rules[rule],
            .terminal => |terminal| .{ .name = c.grammar.terminals[terminal].name, .place = c.grammar.terminals[terminal].place },
        });
        try c.ctx.append(&c.waiting, key);
        return .{ .rule = @intCast(number) };
    }

    fn add(c: *Cutter, rule: u16, symbols: []const Symbol, precedence: ?bnf.Precedence, place: bnf.Place) Error!void {
        if (c.productions.items.len > std.math.maxInt(u16)) {
            return c.ctx.diag.fail(.limit, "the grammar's look-around makes too many alternatives", .{});
        }
        const copy = try c.ctx.alloc(Symbol, symbols.len);
        @memcpy(copy, symbols);
        try c.ctx.append(&c.productions, .{ .rule = rule, .symbols = copy, .precedence = precedence, .place = place });
    }

    fn addHelper(c: *Cutter, rule: u16, symbols: []const Symbol) Error!void {
        return c.add(rule, symbols, null, c.rules.items[rule].place);
    }

    fn cutStart(c: *Cutter, rule: u16) Error!void {
        const n_rules = c.grammar.rules.len;
        for (0..c.contexts.items.len) |from| if (c.firsts() & bit(from) != 0) for (0..c.contexts.items.len) |to| {
            if (c.reach[from * n_rules + c.grammar.start] & bit(to) == 0 or !c.looks.mayEnd(c.contexts.items[to].needs)) continue;
            const body = try c.ruleOf(.{ .what = .{ .rule = c.grammar.start }, .from = @intCast(from), .to = @intCast(to) });
            if (c.firsts() == bit(0) and !c.leads()) {
                try c.addHelper(rule, &.{body});
                continue;
            }
            try c.addHelper(rule, &.{ try c.skipOf(0, @intCast(from)), body });
        };
    }

    /// Whether something is ignored before the first lexeme.
    fn leads(c: *const Cutter) bool {
        for (c.grammar.terminals) |terminal| if (terminal.skip and terminal.leads) return true;
        return false;
    }

    fn skipsOnce(c: *const Cutter) bool {
        for (c.grammar.terminals) |terminal| if (terminal.skip and terminal.once) return true;
        return false;
    }

    fn skipOf(c: *Cutter, from: u6, to: u6) Error!Symbol {
        return c.ruleOf(.{ .what = if (c.skipsOnce()) .skip else .repeat, .from = from, .to = to });
    }

    /// One lexeme that is ignored once, or none, among those that may be skipped more often.
    fn cutSkip(c: *Cutter, rule: u16, from: u6, to: u6) Error!void {
        if (c.repeated[from] & bit(to) != 0) try c.addHelper(rule, &.{try c.ruleOf(.{ .what = .repeat, .from = from, .to = to })});
        for (0..c.contexts.items.len) |by| if (c.repeated[from] & bit(by) != 0) for (c.grammar.terminals, 0..) |terminal, t| {
            if (!terminal.skip or !terminal.once) continue;
            for (c.movesFrom(by, t)) |move| if (move.by) |number| if (c.repeated[move.to] & bit(to) != 0) {
                const before = try c.ruleOf(.{ .what = .repeat, .from = from, .to = @intCast(by) });
                const behind = try c.ruleOf(.{ .what = .repeat, .from = move.to, .to = to });
                try c.addHelper(rule, &.{ before, .{ .terminal = number }, behind });
            };
        };
    }

    fn cutRepeat(c: *Cutter, rule: u16, from: u6, to: u6) Error!void {
        if (from == to) try c.addHelper(rule, &.{});
        for (0..c.contexts.items.len) |by| if (c.repeated[from] & bit(by) != 0) for (c.grammar.terminals, 0..) |terminal, t| {
            if (!terminal.skip or terminal.once) continue;
            for (c.movesFrom(by, t)) |move| if (move.to == to) if (move.by) |number| {
                const before = try c.ruleOf(.{ .what = .repeat, .from = from, .to = @intCast(by) });
                try c.addHelper(rule, &.{ before, .{ .terminal = number } });
            };
        };
    }

    fn cutTerminal(c: *Cutter, rule: u16, terminal: u16, from: u6, to: u6) Error!void {
        const has_skip = for (c.grammar.terminals) |one| {
            if (one.skip) break true;
        } else false;
        for (c.movesFrom(from, terminal)) |move| {
            const number = move.by orelse {
                if (move.to == to) try c.addHelper(rule, &.{});
                continue;
            };
            if (c.skipped[move.to] & bit(to) == 0) continue;
            if (has_skip) {
                try c.addHelper(rule, &.{ .{ .terminal = number }, try c.skipOf(move.to, to) });
            } else try c.addHelper(rule, &.{.{ .terminal = number }});
        }
    }

    /// Every parse through the contexts.
    fn cutProduction(c: *Cutter, rule: u16, p: bnf.Production, from: u6, to: u6) Error!void {
        const forward = try c.ctx.alloc(u64, p.symbols.len + 1);
        forward[0] = bit(from);
        for (p.symbols, 0..) |symbol, i| forward[i + 1] = c.after(forward[i], symbol);
        const useful = try c.ctx.filled(u64, p.symbols.len + 1, 0);
        useful[p.symbols.len] = forward[p.symbols.len] & bit(to);
        var i = p.symbols.len;
        while (i > 0) {
            i -= 1;
            for (0..c.contexts.items.len) |at| {
                if (forward[i] & bit(at) != 0 and c.after(bit(at), p.symbols[i]) & useful[i + 1] != 0) useful[i] |= bit(at);
            }
        }
        if (useful[0] == 0) return;
        const symbols = try c.ctx.alloc(Symbol, p.symbols.len);
        // The contexts between the symbols: the first that are left to try.
        const at = try c.ctx.filled(u7, p.symbols.len + 1, 0);
        at[0] = from;
        i = 0;
        while (true) {
            if (i == p.symbols.len) {
                try c.add(rule, symbols, p.precedence, p.place);
            } else if (c.nextOf(at[i], p.symbols[i], useful[i + 1], at[i + 1])) |next| {
                at[i + 1] = next;
                symbols[i] = try c.ruleOf(.{
                    .what = switch (p.symbols[i]) {
                        .rule => |number| .{ .rule = number },
                        .terminal => |number| .{ .terminal = number },
                    },
                    .from = @intCast(at[i]),
                    .to = @intCast(next),
                });
                i += 1;
                if (i < p.symbols.len) at[i + 1] = 0;
                continue;
            }
            if (i == 0) return;
            at[i] += 1;
            i -= 1;
        }
    }

    /// The first context from `least` on that is useful after a symbol.
    fn nextOf(c: *const Cutter, from: u7, symbol: Symbol, useful: u64, least: u7) ?u7 {
        const all = c.after(bit(from), symbol) & useful;
        for (least..c.contexts.items.len) |next| if (all & bit(next) != 0) return @intCast(next);
        return null;
    }
};

fn bit(context_number: usize) u64 {
    return @as(u64, 1) << @intCast(context_number);
}
