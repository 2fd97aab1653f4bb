//! Shortest sentences of rules.

const std = @import("std");
const flat_module = @import("flat.zig");
const Flat = flat_module.Flat;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

const unknown = std.math.maxInt(u64);

pub const Yields = struct {
    flat: *const Flat,
    /// [rule]: terminals of its shortest sentence, saturating.
    lengths: []u64,
    /// [rule]: the production that it begins with.
    choices: []u16,

    pub fn init(w: *const Work, f: *const Flat) Error!Yields {
        const y: Yields = .{
            .flat = f,
            .lengths = try w.filled(u64, f.n_rules, unknown),
            .choices = try w.alloc(u16, f.n_rules),
        };
        var edges: std.ArrayList(graph.Edge) = .empty;
        for (0..f.n_productions) |p| {
            for (f.itemsOf(p)) |symbol| {
                if (f.isRule(symbol)) try w.append(&edges, .{ .from = f.ruleOf(symbol), .to = @intCast(p) });
            }
        }
        const occurrences: Graph = try .init(w, f.n_rules, edges.items, null);
        // Rules whose length fell, and whether they are among those.
        var fallen: std.ArrayList(u32) = .empty;
        const waiting = try w.filled(bool, f.n_rules, false);
        for (0..f.n_productions) |p| {
            if (f.itemsOf(p).len > 0) try y.weigh(w, @intCast(p), &fallen, waiting);
        }
        while (fallen.pop()) |rule| {
            try w.check();
            waiting[rule] = false;
            for (occurrences.of(rule)) |p| try y.weigh(w, @intCast(p), &fallen, waiting);
        }
        return y;
    }

    fn weigh(y: *const Yields, w: *const Work, production: u16, fallen: *std.ArrayList(u32), waiting: []bool) Error!void {
        const symbols = y.flat.itemsOf(production);
        var length: u64 = 0;
        for (symbols[0 .. symbols.len - 1]) |symbol| {
            if (y.of(symbol) == unknown) return;
            length = @min(length +| y.of(symbol), unknown - 1);
        }
        const rule = y.flat.rules[production];
        if (length >= y.lengths[rule]) return;
        y.lengths[rule] = length;
        y.choices[rule] = production;
        if (waiting[rule]) return;
        waiting[rule] = true;
        try w.append(fallen, rule);
    }

    pub fn of(y: *const Yields, symbol: u32) u64 {
        return if (y.flat.isRule(symbol)) y.lengths[y.flat.ruleOf(symbol)] else 1;
    }

    pub fn ofAll(y: *const Yields, symbols: []const u32) u64 {
        var length: u64 = 0;
        for (symbols) |symbol| length +|= y.of(symbol);
        return length;
    }

    pub const Last = struct { terminals: []const u32, cut: bool };

    /// As many terminals of the shortest sentence of `symbols` as fit `buffer`, from its end.
    pub fn last(y: *const Yields, w: *const Work, symbols: []const u32, buffer: []u32) Error!Last {
        var open: std.ArrayList(u32) = .empty;
        try w.appendSlice(&open, symbols);
        var free = buffer.len;
        while (open.pop()) |symbol| {
            if (y.of(symbol) == 0) continue;
            if (free == 0) return .{ .terminals = buffer, .cut = true };
            if (!y.flat.isRule(symbol)) {
                free -= 1;
                buffer[free] = symbol;
                continue;
            }
            const inner = y.flat.itemsOf(y.choices[y.flat.ruleOf(symbol)]);
            try w.appendSlice(&open, inner[0 .. inner.len - 1]);
        }
        return .{ .terminals = buffer[free..], .cut = false };
    }
};
