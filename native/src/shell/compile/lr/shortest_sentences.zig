//! The shortest sentence that each rule derives, for the examples in messages. Lengths fall until none falls further, by a
//! worklist; D. E. Knuth's "A Generalization of Dijkstra's Algorithm" (1977) would visit each rule once, but needs a heap.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

const unknown = std.math.maxInt(u64);

/// Lives in the context's arena.
pub const ShortestSentences = struct {
    grammar: *const AugmentedGrammar,
    /// [rule]: the number of terminals in its shortest sentence, saturating.
    lengths: []u64,
    /// [rule]: the production whose symbols derive that sentence.
    choices: []u16,

    /// Every rule with a production that takes part must derive some sentence.
    pub fn init(ctx: *const Context, g: *const AugmentedGrammar) Error!ShortestSentences {
        const s: ShortestSentences = .{
            .grammar = g,
            .lengths = try ctx.filled(u64, g.n_rules, unknown),
            .choices = try ctx.alloc(u16, g.n_rules),
        };
        var edges: ArrayList(graph.Edge) = .empty;
        for (0..g.n_productions) |p| {
            for (g.itemsOf(p)) |symbol| {
                if (g.isRule(symbol)) try ctx.append(&edges, .{ .from = g.ruleOf(symbol), .to = @intCast(p) });
            }
        }
        const occurrences: Graph = try .init(ctx, g.n_rules, edges.items, null);
        // Rules whose length fell.
        var fallen: ArrayList(u32) = .empty;
        for (0..g.n_productions) |p| {
            if (g.itemsOf(p).len > 0) try s.update(ctx, @intCast(p), &fallen);
        }
        while (fallen.pop()) |rule| {
            try ctx.check();
            for (occurrences.of(rule)) |p| try s.update(ctx, @intCast(p), &fallen);
        }
        return s;
    }

    fn update(s: *const ShortestSentences, ctx: *const Context, production: u16, fallen: *ArrayList(u32)) Error!void {
        const symbols = s.grammar.itemsOf(production);
        var length: u64 = 0;
        for (symbols[0 .. symbols.len - 1]) |symbol| {
            if (s.of(symbol) == unknown) return;
            length = @min(length +| s.of(symbol), unknown - 1);
        }
        const rule = s.grammar.rules[production];
        if (length >= s.lengths[rule]) return;
        s.lengths[rule] = length;
        s.choices[rule] = production;
        try ctx.append(fallen, rule);
    }

    /// The length of the shortest sentence of a symbol; 1 for a terminal.
    pub fn of(s: *const ShortestSentences, symbol: u32) u64 {
        return if (s.grammar.isRule(symbol)) s.lengths[s.grammar.ruleOf(symbol)] else 1;
    }

    /// That of a string of symbols, saturating.
    pub fn ofAll(s: *const ShortestSentences, symbols: []const u32) u64 {
        var length: u64 = 0;
        for (symbols) |symbol| length +|= s.of(symbol);
        return length;
    }

    /// `is_cut`: the sentence has more terminals in front.
    pub const Suffix = struct { terminals: []const u32, is_cut: bool };

    /// The last terminals of the shortest sentence of `symbols`, as many as fit `buffer`, which holds the result.
    pub fn suffix(s: *const ShortestSentences, ctx: *const Context, symbols: []const u32, buffer: []u32) Error!Suffix {
        var open: ArrayList(u32) = .empty;
        try ctx.appendSlice(&open, symbols);
        var free = buffer.len;
        while (open.pop()) |symbol| {
            if (s.of(symbol) == 0) continue;
            if (free == 0) return .{ .terminals = buffer, .is_cut = true };
            if (!s.grammar.isRule(symbol)) {
                free -= 1;
                buffer[free] = symbol;
                continue;
            }
            const inner = s.grammar.itemsOf(s.choices[s.grammar.ruleOf(symbol)]);
            try ctx.appendSlice(&open, inner[0 .. inner.len - 1]);
        }
        return .{ .terminals = buffer[free..], .is_cut = false };
    }
};
