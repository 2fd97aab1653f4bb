//! Oracles for the parser's construction, straight from the definitions: an Earley recogniser, and canonical LR(1) over sets of
//! single items. For small grammars.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Tables = @import("tables.zig").Tables;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const Production = bnf.Production;
const Symbol = bnf.Symbol;
const sets = @import("sets.zig");

/// The productions without those that have a rule that can never end. The last one is that of the start: rule `n_rules`.
pub fn augmented(arena: Allocator, grammar: *const Bnf) ![]const Production {
    const productive = try arena.alloc(bool, grammar.rules.len);
    @memset(productive, false);
    for (grammar.rules) |_| {
        for (grammar.productions) |p| {
            if (ends(p, productive)) productive[p.rule] = true;
        }
    }
    var kept: ArrayList(Production) = .empty;
    for (grammar.productions) |p| {
        if (ends(p, productive)) try kept.append(arena, p);
    }
    try kept.append(arena, .{ .rule = @intCast(grammar.rules.len), .symbols = try arena.dupe(Symbol, &.{.{ .rule = grammar.start }}) });
    return kept.items;
}

fn ends(p: Production, productive: []const bool) bool {
    for (p.symbols) |symbol| if (symbol == .rule and !productive[symbol.rule]) return false;
    return true;
}

pub const Verdict = struct { alive: bool, complete: bool };

const EarleyItem = struct { production: u32, dot: u32, from: u32 };

/// Whether the text can continue to a sentence, and whether it is one.
pub fn earley(arena: Allocator, grammar: *const Bnf, text: []const u16) !Verdict {
    const productions = try augmented(arena, grammar);
    var columns: ArrayList(std.AutoArrayHashMapUnmanaged(EarleyItem, void)) = .empty;
    try columns.append(arena, .empty);
    try columns.items[0].put(arena, .{ .production = @intCast(productions.len - 1), .dot = 0, .from = 0 }, {});
    for (0..text.len + 1) |at| {
        try columns.append(arena, .empty);
        const column = &columns.items[at];
        // To a fixed point: what completes at once, being empty, may be predicted again later.
        var before: usize = std.math.maxInt(usize);
        while (before != column.count()) {
            before = column.count();
            var i: usize = 0;
            while (i < column.count()) : (i += 1) {
                const item = column.keys()[i];
                const p = productions[item.production];
                if (item.dot == p.symbols.len) {
                    var j: usize = 0;
                    while (j < columns.items[item.from].count()) : (j += 1) {
                        const waiting = columns.items[item.from].keys()[j];
                        const symbols = productions[waiting.production].symbols;
                        if (waiting.dot == symbols.len or symbols[waiting.dot] != .rule or symbols[waiting.dot].rule != p.rule) continue;
                        try column.put(arena, .{ .production = waiting.production, .dot = waiting.dot + 1, .from = waiting.from }, {});
                    }
                    continue;
                }
                switch (p.symbols[item.dot]) {
                    .terminal => |t| if (at < text.len and text[at] == t) {
                        try columns.items[at + 1].put(
                            arena,
                            .{ .production = item.production, .dot = item.dot + 1, .from = item.from },
                            {},
                        );
                    },
                    .rule => |r| for (productions, 0..) |q, number| {
                        if (q.rule == r) try column.put(arena, .{ .production = @intCast(number), .dot = 0, .from = @intCast(at) }, {});
                    },
                }
            }
        }
    }
    const last = &columns.items[text.len];
    const done: EarleyItem = .{ .production = @intCast(productions.len - 1), .dot = 1, .from = 0 };
    return .{ .alive = last.count() > 0, .complete = last.contains(done) };
}

/// How the parser takes the text.
pub fn parse(arena: Allocator, t: *const Tables, text: []const u16) !Verdict {
    var stack: ArrayList(u16) = .empty;
    try stack.append(arena, 0);
    for (text) |terminal| {
        if (!try shift(arena, t, &stack, terminal)) return .{ .alive = false, .complete = false };
    }
    return .{ .alive = true, .complete = try shift(arena, t, &stack, @intCast(t.n_terminals)) };
}

fn shift(arena: Allocator, t: *const Tables, stack: *ArrayList(u16), terminal: u16) !bool {
    while (true) {
        const state = stack.items[stack.items.len - 1];
        if (sets.has(sets.row(t.shift_sets, state, t.words), terminal)) {
            try stack.append(arena, t.transition(state, terminal));
            return true;
        }
        for (t.reduction_offsets[state]..t.reduction_offsets[state + 1]) |reduction| {
            if (!sets.has(sets.row(t.reduction_sets, reduction, t.words), terminal)) continue;
            const production = t.reduction_productions[reduction];
            stack.items.len -= t.production_lengths[production];
            const below = stack.items[stack.items.len - 1];
            const to = t.transition(below, t.production_symbols[production]);
            std.debug.assert(to != 0);
            try stack.append(arena, to);
            break;
        } else return false;
    }
}

const Item = struct { production: u16, dot: u16, lookahead: u16 };
const State = std.AutoArrayHashMapUnmanaged(Item, void);

pub const Action = union(enum) { fails, shift: u16, reduce: u16 };

pub const CanonicalParser = struct {
    productions: []const Production,
    n_terminals: u16,
    /// By state, by terminal and end of input.
    actions: []const []const Action,
    gotos: []const []const u16,

    pub fn parse(p: *const CanonicalParser, arena: Allocator, text: []const u16) !Verdict {
        var stack: ArrayList(u16) = .empty;
        try stack.append(arena, 0);
        for (text) |terminal| {
            if (!try p.shiftOne(arena, &stack, terminal)) return .{ .alive = false, .complete = false };
        }
        return .{ .alive = true, .complete = try p.shiftOne(arena, &stack, p.n_terminals) };
    }

    fn shiftOne(p: *const CanonicalParser, arena: Allocator, stack: *ArrayList(u16), terminal: u16) !bool {
        while (true) switch (p.actions[stack.items[stack.items.len - 1]][terminal]) {
            .fails => return false,
            .shift => |to| {
                try stack.append(arena, to);
                return true;
            },
            .reduce => |production| {
                if (production == p.productions.len - 1) return true;
                stack.items.len -= p.productions[production].symbols.len;
                try stack.append(arena, p.gotos[stack.items[stack.items.len - 1]][p.productions[production].rule]);
            },
        };
    }
};

/// null: a conflict remains.
pub fn canonical(arena: Allocator, grammar: *const Bnf) !?CanonicalParser {
    const productions = try augmented(arena, grammar);
    const end: u16 = @intCast(grammar.terminals.len);
    var states: ArrayList(State) = .empty;
    var first: State = .empty;
    try first.put(arena, .{ .production = @intCast(productions.len - 1), .dot = 0, .lookahead = end }, {});
    try close(arena, grammar, productions, &first);
    try states.append(arena, first);
    var actions: ArrayList([]Action) = .empty;
    var gotos: ArrayList([]u16) = .empty;
    var number: usize = 0;
    while (number < states.items.len) : (number += 1) {
        const row = try arena.alloc(Action, grammar.terminals.len + 1);
        @memset(row, .fails);
        const leads = try arena.alloc(u16, grammar.rules.len);
        try actions.append(arena, row);
        try gotos.append(arena, leads);
        for (0..grammar.terminals.len) |terminal| {
            if (try step(arena, grammar, productions, &states, number, .{ .terminal = @intCast(terminal) })) |to| {
                row[terminal] = .{ .shift = to };
            }
        }
        for (leads, 0..) |*to, rule| to.* = try step(arena, grammar, productions, &states, number, .{ .rule = @intCast(rule) }) orelse 0;
        if (!try reduceAll(arena, grammar, productions, &states.items[number], row)) return null;
    }
    return .{ .productions = productions, .n_terminals = end, .actions = actions.items, .gotos = gotos.items };
}

/// Whether precedence resolves every conflict of the state.
fn reduceAll(arena: Allocator, grammar: *const Bnf, productions: []const Production, state: *const State, row: []Action) !bool {
    const shifts = try arena.dupe(Action, row);
    const taken = try arena.alloc(u32, row.len);
    @memset(taken, 0);
    const keep = try arena.alloc(bool, row.len);
    @memset(keep, true);
    for (state.keys()) |item| {
        const p = productions[item.production];
        if (item.dot < p.symbols.len) continue;
        if (shifts[item.lookahead] == .shift) {
            const a = grammar.terminals[item.lookahead].precedence orelse return false;
            const b = p.precedence orelse return false;
            const reduces = b.level > a.level or (b.level == a.level and a.associativity == .left);
            const is_shifted = b.level < a.level or (b.level == a.level and a.associativity == .right);
            if (!is_shifted) keep[item.lookahead] = false;
            if (!reduces) continue;
        }
        if (taken[item.lookahead] != 0) return false;
        taken[item.lookahead] = @as(u32, item.production) + 1;
    }
    for (row, taken, keep) |*action, production, kept| {
        if (!kept) action.* = .fails;
        if (production == 0) continue;
        if (action.* == .shift) return false;
        action.* = .{ .reduce = @intCast(production - 1) };
    }
    return true;
}

fn step(
    arena: Allocator,
    grammar: *const Bnf,
    productions: []const Production,
    states: *ArrayList(State),
    from: usize,
    over: Symbol,
) !?u16 {
    var to: State = .empty;
    for (states.items[from].keys()) |item| {
        const symbols = productions[item.production].symbols;
        if (item.dot == symbols.len or !std.meta.eql(symbols[item.dot], over)) continue;
        try to.put(arena, .{ .production = item.production, .dot = item.dot + 1, .lookahead = item.lookahead }, {});
    }
    if (to.count() == 0) return null;
    try close(arena, grammar, productions, &to);
    for (states.items, 0..) |*state, number| {
        if (state.count() != to.count()) continue;
        for (to.keys()) |item| {
            if (!state.contains(item)) break;
        } else return @intCast(number);
    }
    try states.append(arena, to);
    return @intCast(states.items.len - 1);
}

fn close(arena: Allocator, grammar: *const Bnf, productions: []const Production, state: *State) !void {
    var i: usize = 0;
    while (i < state.count()) : (i += 1) {
        const item = state.keys()[i];
        const symbols = productions[item.production].symbols;
        if (item.dot == symbols.len or symbols[item.dot] != .rule) continue;
        for (0..grammar.terminals.len + 1) |lookahead| {
            if (!begins(grammar, productions, symbols[item.dot + 1 ..], item.lookahead, @intCast(lookahead))) continue;
            for (productions, 0..) |p, number| {
                if (p.rule != symbols[item.dot].rule) continue;
                try state.put(arena, .{ .production = @intCast(number), .dot = 0, .lookahead = @intCast(lookahead) }, {});
            }
        }
    }
}

/// Whether `symbols` and then `behind` can begin with the terminal.
fn begins(grammar: *const Bnf, productions: []const Production, symbols: []const Symbol, behind: u16, terminal: u16) bool {
    var empty: [16]bool = @splat(false);
    var starts: [16]bool = @splat(false);
    for (0..2 * grammar.rules.len + 2) |_| {
        for (productions) |p| {
            if (p.rule >= grammar.rules.len) continue;
            for (p.symbols) |symbol| {
                if (startsWith(symbol, &starts, terminal)) starts[p.rule] = true;
                if (symbol == .terminal or !empty[symbol.rule]) break;
            } else empty[p.rule] = true;
        }
    }
    for (symbols) |symbol| {
        if (startsWith(symbol, &starts, terminal)) return true;
        if (symbol == .terminal or !empty[symbol.rule]) return false;
    }
    return behind == terminal;
}

fn startsWith(symbol: Symbol, starts: []const bool, terminal: u16) bool {
    return switch (symbol) {
        .terminal => |t| t == terminal,
        .rule => |r| starts[r],
    };
}
