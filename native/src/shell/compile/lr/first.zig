//! With which terminals what is after a dot can begin.

const std = @import("std");
const Flat = @import("flat.zig").Flat;
const sets = @import("sets.zig");
const graph = @import("graph.zig");
const Graph = graph.Graph;
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

pub const First = struct {
    /// [item * words]: of all that is after the dot.
    rest: []u64,

    pub fn init(w: *const Work, f: *const Flat) Error!First {
        const rules = try ofRules(w, f);
        const rest = try w.filled(u64, f.after.len * f.words, 0);
        var item = f.after.len;
        while (item > 0) {
            item -= 1;
            if (item % 256 == 0) try w.check();
            const symbol = f.after[item];
            const set = sets.row(rest, item, f.words);
            if (f.isRule(symbol)) {
                const rule = f.ruleOf(symbol);
                @memcpy(set, sets.row(rules, rule, f.words));
                if (f.nullable[rule]) _ = sets.unite(set, sets.row(rest, item + 1, f.words));
            } else if (symbol <= f.n_terminals) {
                sets.add(set, symbol);
            }
        }
        return .{ .rest = rest };
    }

    fn ofRules(w: *const Work, f: *const Flat) Error![]u64 {
        const rules = try w.filled(u64, @as(usize, f.n_rules) * f.words, 0);
        var edges: std.ArrayList(graph.Edge) = .empty;
        for (0..f.n_productions) |p| {
            if (p % 256 == 0) try w.check();
            for (f.itemsOf(p)) |symbol| {
                if (f.isRule(symbol)) {
                    try w.append(&edges, .{ .from = f.rules[p], .to = f.ruleOf(symbol) });
                    if (f.nullable[f.ruleOf(symbol)]) continue;
                } else if (symbol <= f.n_terminals) {
                    sets.add(sets.row(rules, f.rules[p], f.words), symbol);
                }
                break;
            }
        }
        const corners: Graph = try .init(w, f.n_rules, edges.items, null);
        try graph.spread(w, &corners, rules, f.words);
        return rules;
    }
};
