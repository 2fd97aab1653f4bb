//! The productions laid out flat, items numbered through. Symbols: terminals, then end of input,
//! then rules. Production `n_productions` is the parser's own: the start rule, then end of input.

const std = @import("std");
const grammar_module = @import("../grammar.zig");
const Grammar = grammar_module.Grammar;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

/// After the dot of a finished item.
pub const none = std.math.maxInt(u32);

pub const Flat = struct {
    grammar: *const Grammar,
    /// Without end of input, whose symbol this is.
    n_terminals: u32,
    /// Without the parser's own, which comes after them.
    n_rules: u32,
    n_productions: u32,
    n_symbols: u32,
    /// Of a set of terminals with end of input.
    words: u32,
    /// [item]: the symbol after the dot, or `none`.
    after: []u32,
    /// [item]
    productions: []u16,
    /// [production]: its first item. Productions that are left out have no items.
    first_items: []u32,
    /// [production]
    rules: []u16,
    /// [rule + 1]: where the productions of a rule begin.
    rule_offsets: []u32,
    rule_productions: []u16,
    /// [rule]: can be empty.
    nullable: []bool,
    /// [item]: all that is after the dot can be empty.
    rest_nullable: []bool,

    pub fn init(w: *const Work, g: *const Grammar, kept: []const bool) Error!Flat {
        const n_productions: u32 = @intCast(g.productions.len);
        const n_rules: u32 = @intCast(g.rules.len);
        var n_items: u64 = 3;
        for (g.productions, kept) |production, keep| {
            if (keep) n_items += production.symbols.len + 1;
        }
        if (n_items >= none) return w.diag.fail(.limit, "the grammar has more than {d} symbols", .{none - 1});
        var f: Flat = .{
            .grammar = g,
            .n_terminals = @intCast(g.terminals.len),
            .n_rules = n_rules,
            .n_productions = n_productions,
            .n_symbols = @intCast(g.terminals.len + 1 + n_rules),
            .words = sets.wordsFor(g.terminals.len + 1),
            .after = try w.alloc(u32, @intCast(n_items)),
            .productions = try w.alloc(u16, @intCast(n_items)),
            .first_items = try w.alloc(u32, n_productions + 2),
            .rules = try w.alloc(u16, n_productions + 1),
            .rule_offsets = try w.filled(u32, n_rules + 2, 0),
            .rule_productions = try w.alloc(u16, n_productions),
            .nullable = try w.filled(bool, n_rules, false),
            .rest_nullable = try w.filled(bool, @intCast(n_items), false),
        };
        f.layOutItems(kept);
        f.groupByRule(kept);
        try f.findNullable(w);
        return f;
    }

    fn layOutItems(f: *Flat, kept: []const bool) void {
        var item: u32 = 0;
        for (f.grammar.productions, kept, 0..) |production, keep, p| {
            f.first_items[p] = item;
            f.rules[p] = production.rule;
            if (!keep) continue;
            for (production.symbols) |symbol| {
                f.after[item] = switch (symbol) {
                    .terminal => |t| t,
                    .rule => |r| f.symbolOf(r),
                };
                f.productions[item] = @intCast(p);
                item += 1;
            }
            f.after[item] = none;
            f.productions[item] = @intCast(p);
            item += 1;
        }
        f.first_items[f.n_productions] = item;
        f.rules[f.n_productions] = @intCast(f.n_rules);
        f.after[item..][0..3].* = .{ f.symbolOf(f.grammar.start), f.n_terminals, none };
        @memset(f.productions[item..][0..3], @intCast(f.n_productions));
        f.first_items[f.n_productions + 1] = item + 3;
    }

    fn groupByRule(f: *Flat, kept: []const bool) void {
        for (f.rules[0..f.n_productions], kept) |rule, keep| {
            if (keep) f.rule_offsets[rule + 2] += 1;
        }
        for (f.rule_offsets[1..], f.rule_offsets[0 .. f.rule_offsets.len - 1]) |*offset, previous| offset.* += previous;
        for (f.rules[0..f.n_productions], kept, 0..) |rule, keep, p| {
            if (!keep) continue;
            f.rule_productions[f.rule_offsets[rule + 1]] = @intCast(p);
            f.rule_offsets[rule + 1] += 1;
        }
    }

    fn findNullable(f: *Flat, w: *const Work) Error!void {
        const matters = try w.filled(bool, f.n_productions, true);
        const remaining = try w.alloc(u32, f.n_productions);
        for (0..f.n_productions, matters, remaining) |p, *matter, *left| {
            const items = f.itemsOf(p);
            left.* = @intCast(items.len -| 1);
            matter.* = items.len > 0;
            for (items) |symbol| {
                if (symbol <= f.n_terminals) matter.* = false;
            }
        }
        try closeUpwards(w, f.grammar, matters, remaining, f.nullable);
        var item = f.after.len;
        while (item > 0) {
            item -= 1;
            const symbol = f.after[item];
            f.rest_nullable[item] = symbol == none or
                (symbol > f.n_terminals and f.nullable[f.ruleOf(symbol)] and f.rest_nullable[item + 1]);
        }
    }

    pub fn symbolOf(f: *const Flat, rule: usize) u32 {
        return f.n_terminals + 1 + @as(u32, @intCast(rule));
    }

    /// Of a symbol beyond the terminals.
    pub fn ruleOf(f: *const Flat, symbol: u32) u32 {
        return symbol - f.n_terminals - 1;
    }

    pub fn isRule(f: *const Flat, symbol: u32) bool {
        return symbol != none and symbol > f.n_terminals;
    }

    /// The productions of a rule, ascending.
    pub fn productionsOf(f: *const Flat, rule: usize) []const u16 {
        return f.rule_productions[f.rule_offsets[rule]..f.rule_offsets[rule + 1]];
    }

    /// The symbols of a production and a final `none`.
    pub fn itemsOf(f: *const Flat, production: usize) []const u32 {
        return f.after[f.first_items[production]..f.first_items[production + 1]];
    }

    /// The symbols before the dot.
    pub fn before(f: *const Flat, item: u32) []const u32 {
        return f.after[f.first_items[f.productions[item]]..item];
    }
};

/// Marks in `closed` every rule with a production whose `remaining` falls to zero, when a rule's
/// closing lowers it by one for each of its occurrences. Only productions that matter count.
pub fn closeUpwards(w: *const Work, g: *const Grammar, matters: []const bool, remaining: []u32, closed: []bool) Error!void {
    var edges: std.ArrayList(graph.Edge) = .empty;
    const ready = try w.alloc(u32, g.rules.len);
    var n_ready: usize = 0;
    for (g.productions, matters, remaining, 0..) |production, matter, left, p| {
        if (p % 256 == 0) try w.check();
        if (!matter) continue;
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => {},
            .rule => |r| try w.append(&edges, .{ .from = r, .to = @intCast(p) }),
        };
        if (left == 0 and !closed[production.rule]) {
            closed[production.rule] = true;
            ready[n_ready] = production.rule;
            n_ready += 1;
        }
    }
    const occurrences: Graph = try .init(w, g.rules.len, edges.items, null);
    while (n_ready > 0) {
        n_ready -= 1;
        for (occurrences.of(ready[n_ready])) |p| {
            remaining[p] -= 1;
            const rule = g.productions[p].rule;
            if (remaining[p] > 0 or closed[rule]) continue;
            closed[rule] = true;
            ready[n_ready] = rule;
            n_ready += 1;
        }
    }
}
