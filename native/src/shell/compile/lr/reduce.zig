//! What has to be so before an automaton is built: the lexer finds every terminal, every rule can end
//! and is used, no rule derives itself, no rule recurs on the left behind what can be empty.

const std = @import("std");
const grammar_module = @import("../grammar.zig");
const Grammar = grammar_module.Grammar;
const flat_module = @import("flat.zig");
const Flat = flat_module.Flat;
const graph = @import("graph.zig");
const Graph = graph.Graph;
const show = @import("show.zig");
const message = @import("message");
const work_module = @import("work.zig");
const Work = work_module.Work;
const Error = work_module.Error;

/// [production]: whether it can be part of a sentence. Each terminal and each rule that cannot is a
/// note. `found` [terminal]: whether the lexer ever finds it.
pub fn usable(w: *const Work, g: *const Grammar, found: []const bool, notes: *Notes) Error![]bool {
    const productive = try findProductive(w, g, found);
    if (!productive[g.start]) return failEmpty(w, g, found, productive);
    for (g.terminals, found) |terminal, is_found| {
        if (is_found or terminal.skip) continue;
        try note(
            w,
            notes,
            never_found ++ ", so alternatives with it are left out",
            .{ show.place(terminal.place), show.name(terminal.name) },
        );
    }
    const kept = try w.filled(bool, g.productions.len, true);
    for (g.productions, kept) |production, *keep| {
        for (production.symbols) |symbol| keep.* = keep.* and switch (symbol) {
            .terminal => |t| found[t],
            .rule => |r| productive[r],
        };
    }
    const used = try findUsed(w, g, kept);
    for (g.productions, kept) |production, *keep| keep.* = keep.* and used[production.rule];
    for (g.rules, productive, used) |rule, ends, is_used| {
        if (ends and is_used) continue;
        const why = if (ends) "is not used" else "can never end";
        try note(w, notes, "{f}rule {f} {s} and is left out", .{ show.place(rule.place), show.name(rule.name), why });
    }
    return kept;
}

const Notes = std.ArrayList([]const u8);
const note_bytes_max = 256;
const never_found = "{f}{f} is never found: terminals before it match all its texts";

fn note(w: *const Work, notes: *Notes, comptime format: []const u8, args: anytype) Error!void {
    var buffer: [note_bytes_max]u8 = undefined;
    const text = message.print(&buffer, format, args);
    const line = try w.alloc(u8, text.len);
    @memcpy(line, text);
    try w.append(notes, line);
}

/// The rules that yield a text of terminals that are found.
fn findProductive(w: *const Work, g: *const Grammar, found: []const bool) Error![]bool {
    const productive = try w.filled(bool, g.rules.len, false);
    const remaining = try w.filled(u32, g.productions.len, 0);
    const matters = try w.filled(bool, g.productions.len, true);
    for (g.productions, remaining, matters) |production, *left, *matter| {
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => |t| matter.* = matter.* and found[t],
            .rule => left.* += 1,
        };
    }
    try flat_module.closeUpwards(w, g, matters, remaining, productive);
    return productive;
}

/// The start rule can never end, be it for its rules alone, be it for terminals that are never found.
fn failEmpty(w: *const Work, g: *const Grammar, found: []const bool, productive: []const bool) Error {
    const rule = g.rules[g.start];
    const start = show.name(rule.name);
    const all = try w.filled(bool, g.terminals.len, true);
    const by_rules = try findProductive(w, g, all);
    if (!by_rules[g.start]) return w.diag.fail(.grammar, "{f}rule {f} can never end", .{ show.place(rule.place), start });
    const t = for (g.productions) |production| {
        if (!productive[production.rule]) if (missingAlone(production, found, productive)) |t| break g.terminals[t];
    } else unreachable;
    return w.diag.fail(.grammar, never_found ++ ", so rule {f} can never end", .{ show.place(t.place), show.name(t.name), start });
}

/// A terminal that a production lacks, if it lacks no rule.
fn missingAlone(production: grammar_module.Production, found: []const bool, productive: []const bool) ?u16 {
    var missing: ?u16 = null;
    for (production.symbols) |symbol| switch (symbol) {
        .terminal => |t| if (!found[t]) {
            missing = t;
        },
        .rule => |r| if (!productive[r]) return null,
    };
    return missing;
}

fn findUsed(w: *const Work, g: *const Grammar, kept: []const bool) Error![]bool {
    const used = try w.filled(bool, g.rules.len, false);
    var edges: std.ArrayList(graph.Edge) = .empty;
    for (g.productions, kept) |production, keep| {
        if (!keep) continue;
        for (production.symbols) |symbol| switch (symbol) {
            .terminal => {},
            .rule => |r| try w.append(&edges, .{ .from = production.rule, .to = r }),
        };
    }
    const uses: Graph = try .init(w, g.rules.len, edges.items, null);
    const open = try w.alloc(u32, g.rules.len);
    open[0] = g.start;
    var n_open: usize = 1;
    used[g.start] = true;
    while (n_open > 0) {
        n_open -= 1;
        for (uses.of(open[n_open])) |rule| {
            if (used[rule]) continue;
            used[rule] = true;
            open[n_open] = rule;
            n_open += 1;
        }
    }
    return used;
}

/// The items whose dot is at a rule with nothing before it, or with what can be empty before it.
const Corners = struct {
    items: std.ArrayList(u32) = .empty,
    edges: std.ArrayList(graph.Edge) = .empty,

    const Kind = enum {
        /// All else in the production can be empty, too.
        unit,
        any,
    };

    fn find(w: *const Work, f: *const Flat, kind: Kind) Error!Corners {
        var c: Corners = .{};
        for (0..f.n_productions) |p| {
            if (p % 256 == 0) try w.check();
            for (f.itemsOf(p), f.first_items[p]..) |symbol, item| {
                if (!f.isRule(symbol)) break;
                const rule = f.ruleOf(symbol);
                if (kind == .any or f.rest_nullable[item + 1]) {
                    try w.append(&c.items, @intCast(item));
                    try w.append(&c.edges, .{ .from = f.rules[p], .to = rule });
                }
                if (!f.nullable[rule]) break;
            }
        }
        return c;
    }
};

pub fn refuseLoops(w: *const Work, f: *const Flat) Error!void {
    // Without empty rules the only loops are those of single rules; both searches are cheap.
    inline for (.{ Corners.Kind.unit, Corners.Kind.any }) |kind| {
        const corners: Corners = try .find(w, f, kind);
        const g: Graph = try .init(w, f.n_rules, corners.edges.items, null);
        const found = try graph.components(w, &g);
        for (corners.items.items, corners.edges.items) |item, edge| {
            if (found.of[edge.from] != found.of[edge.to]) continue;
            if (kind == .any and f.before(item).len == 0) continue;
            return failLoop(w, f, &g, item, edge, kind);
        }
    }
}

fn failLoop(w: *const Work, f: *const Flat, g: *const Graph, item: u32, edge: graph.Edge, kind: Corners.Kind) Error {
    const costs = try w.filled(u64, g.targets.len, 1);
    const paths = try graph.cheapest(w, g, costs, &.{.{ .node = edge.to, .cost = 0 }});
    var route: std.ArrayList(u32) = .empty;
    var rule = edge.from;
    while (true) {
        try w.append(&route, rule);
        if (rule == edge.to) break;
        rule = paths.from[rule];
    }
    std.mem.reverse(u32, route.items);
    const at = show.place(f.grammar.productions[f.productions[item]].place);
    const name = show.name(f.grammar.rules[edge.from].name);
    const shown = show.route(f, edge.from, route.items);
    return switch (kind) {
        .unit => w.diag.fail(.grammar, "{f}rule {f} derives itself: {f}", .{ at, name, shown }),
        .any => w.diag.fail(
            .grammar,
            "{f}rule {f} is left-recursive behind what can be empty: {f}, in   {f}",
            .{ at, name, shown, show.item(f, item) },
        ),
    };
}
