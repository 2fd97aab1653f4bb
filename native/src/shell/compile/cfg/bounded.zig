//! Terminals with a bounded number of characters (engine/glr/bounded_texts.zig): which patterns are such, and the automaton of
//! all of a grammar.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const bounded_texts = @import("engine").bounded_texts;
const BoundedTexts = bounded_texts.BoundedTexts;
const Lengths = bounded_texts.Lengths;
const Parts = @import("engine").parts.Parts;
const ast = @import("../regex/ast.zig");
const dfa = @import("../regex/dfa.zig");
const intersect = @import("../regex/intersection.zig").intersect;
const TransitionTable = @import("../regex/minimise.zig").TransitionTable;
const Pattern = @import("../regex/pattern.zig").Pattern;
const BoundedText = @import("../bnf.zig").BoundedText;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// The text of the terminal, by its number: beside the marks of cfg/counted_rules.zig.
pub fn nodeOf(arena: Allocator, number: usize) Allocator.Error!*const ast.Node {
    return ast.create(arena, .{ .bytes = try arena.dupe(u8, &.{ Parts.lead, Parts.parts_max - 1, 0xff, @intCast(number) }) });
}

/// The number of characters of each text of a node; null if they differ, or it is not seen at a glance.
pub fn fixedLength(node: *const ast.Node) ?u32 {
    switch (node.*) {
        .empty => return 0,
        .bytes => |bytes| {
            var n: u32 = 0;
            for (bytes) |byte| n += @intFromBool(bounded_texts.isFirst(byte));
            return n;
        },
        .class => return 1,
        .concat => |nodes| {
            var total: u32 = 0;
            for (nodes) |one| total = std.math.add(u32, total, fixedLength(one) orelse return null) catch return null;
            return total;
        },
        .alternate => |nodes| {
            const first = fixedLength(nodes[0]) orelse return null;
            for (nodes[1..]) |one| if (fixedLength(one) != first) return null;
            return first;
        },
        .repeat => |repeat| {
            if (repeat.max != repeat.min) return null;
            return std.math.mul(u32, repeat.min, fixedLength(repeat.node) orelse return null) catch null;
        },
        .automaton, .look, .substring => return null,
    }
}

/// A pattern without the bounds of its repetition, and with how many characters its texts are those of the pattern.
pub const Split = struct { node: *const ast.Node, min: u32, max: u32 };

/// If a repetition of single characters makes a pattern large, and all else in it has a fixed length: then the bounds are those of
/// whole texts.
pub fn split(arena: Allocator, node: *const ast.Node) Allocator.Error!?Split {
    if (!hasLargeRepeat(node)) return null;
    switch (node.*) {
        .repeat => |repeat| {
            const max = repeat.max orelse return null;
            if (max > characters_max or fixedLength(repeat.node) != 1) return null;
            return .{ .node = try ast.repeat(arena, repeat.node, 0, null), .min = repeat.min, .max = max };
        },
        .concat => |nodes| {
            const parts = try arena.dupe(*const ast.Node, nodes);
            var found: ?Split = null;
            var others: u32 = 0;
            for (parts) |*part| if (try split(arena, part.*)) |one| {
                if (found != null) return null;
                found = one;
                part.* = one.node;
            } else {
                others = std.math.add(u32, others, fixedLength(part.*) orelse return null) catch return null;
            };
            const of_part = found orelse return null;
            if (others > characters_max) return null;
            return .{ .node = try ast.concat(arena, parts), .min = of_part.min + others, .max = of_part.max + others };
        },
        else => return null,
    }
}

/// Most patterns have none, and are looked at no further.
fn hasLargeRepeat(node: *const ast.Node) bool {
    return switch (node.*) {
        .repeat => |repeat| if (repeat.max) |max| max >= repeats_min else false,
        .concat => |nodes| for (nodes) |one| {
            if (hasLargeRepeat(one)) break true;
        } else false,
        else => false,
    };
}

/// Repetitions of fewer are unrolled into states.
const repeats_min = 64;
/// Of a text.
pub const characters_max = 1_000_000;

pub const Found = union(enum) { text: BoundedText, no_text, uncounted };

/// The texts of a node with so many characters. `what` names it for messages.
pub fn textOf(ctx: *const Context, node: *const ast.Node, min: u32, max: u32, what: []const u8) Error!Found {
    const leaf = try intersect(ctx.arena, &.{.{ .node = node, .soft = true }}, 1, ctx.budget, what, ctx.diag);
    const lengths = try lengthsOf(ctx, leaf.automaton.table) orelse return .uncounted;
    if (min > max or !lengths[dfa.start].hasAny(min, max)) return .no_text;
    return .{ .text = .{ .terminal = 0, .node = leaf, .min = min, .max = max } };
}

/// The lengths of the texts that begin in each state of an automaton; null if they cannot all be told.
fn lengthsOf(ctx: *const Context, table: *const TransitionTable) Error!?[]const Lengths {
    const graph: Graph = .{
        .classes = table.classes,
        .n_classes = table.n_classes,
        .rows = table.rows,
        .matches = table.matches,
    };
    return graph.lengths(ctx, null);
}

/// The program's lexer has their terminals. ELIZA_ERR_LIMIT: too many states, or too large numbers.
pub fn build(gpa: Allocator, ctx: *const Context, texts: []const BoundedText, token_bytes_max: usize) Error!*const BoundedTexts {
    if (texts.len == 0) return BoundedTexts.none;
    const n = texts.len;
    const patterns = try ctx.alloc(Pattern, n);
    for (patterns, texts, 0..) |*pattern, text, i| {
        const selector = try ast.create(ctx.arena, .{ .bytes = try ctx.arena.dupe(u8, &.{@as(u8, @intCast(i))}) });
        pattern.* = .{ .node = try ast.concat(ctx.arena, &.{ selector, text.node }) };
    }
    var made: BoundedTexts = .{};
    made.dfa = try dfa.build(gpa, patterns, @intCast((n + 63) / 64), ctx.budget, "strings of bounded length", ctx.diag);
    errdefer {
        made.dfa.deinit(gpa);
        gpa.free(made.list);
        gpa.free(made.lengths);
        gpa.free(made.of);
    }
    const automaton = &made.dfa;
    const list = try gpa.alloc(bounded_texts.Text, n);
    made.list = list;
    for (list, texts, 0..) |*to, text, i| {
        to.* = .{ .terminal = text.terminal, .start = automaton.next(dfa.start, @intCast(i)), .min = text.min, .max = text.max };
        for (0..Parts.lead) |byte| if (automaton.next(to.start, @intCast(byte)) != dfa.dead) {
            made.firsts[byte / 64] |= @as(u64, 1) << @intCast(byte % 64);
        };
    }
    const of = try gpa.alloc(u8, automaton.nStates());
    made.of = of;
    for (of, 0..) |*to, state| {
        const reached = automaton.reachSet(@intCast(state));
        to.* = for (reached, 0..) |word, w| {
            if (word != 0) break @intCast(64 * w + @ctz(word));
        } else 0;
    }
    const graph = try Graph.of(ctx, automaton);
    // Each was looked at alone, and no text begins in the start of all: a selector comes first.
    const lengths = try graph.lengths(ctx, dfa.start) orelse unreachable;
    made.lengths = try gpa.dupe(Lengths, lengths);
    made.finish(token_bytes_max);
    if (!made.fits()) return ctx.diag.fail(.limit, "strings of bounded length have too many states: {d}", .{automaton.nStates()});
    return BoundedTexts.create(gpa, made);
}

/// An automaton, row by row. State 0 is dead.
const Graph = struct {
    classes: *const [256]u8,
    n_classes: usize,
    rows: []const u16,
    matches: []const u16,

    fn of(ctx: *const Context, automaton: *const dfa.Dfa) Error!Graph {
        const n_states = automaton.nStates();
        const n_classes = automaton.nClasses();
        const classes = try ctx.arena.create([256]u8);
        for (classes, automaton.columns) |*class, column| class.* = @intCast(column / n_states);
        const rows = try ctx.alloc(u16, n_states * n_classes);
        for (0..n_classes) |class| for (automaton.column(class), 0..) |to, state| {
            rows[state * n_classes + class] = to;
        };
        return .{ .classes = classes, .n_classes = n_classes, .rows = rows, .matches = automaton.matches };
    }

    const Edge = struct {
        from: u16,
        to: u16,
        /// Of characters.
        n: u1,
    };

    /// By state; null if some cannot be told, that of `unused` excepted.
    fn lengths(g: *const Graph, ctx: *const Context, unused: ?usize) Error!?[]const Lengths {
        const found = try ctx.filled(Lengths, g.matches.len, .{});
        for (found, g.matches) |*one, match| one.some = @intFromBool(match != 0);
        const edges = try g.edgesOf(ctx);
        var is_done = false;
        while (!is_done) {
            is_done = true;
            for (edges) |edge| {
                const more = found[edge.from].some | found[edge.to].some << edge.n;
                is_done = is_done and more == found[edge.from].some;
                found[edge.from].some = more;
            }
            try ctx.check();
        }
        for (edges) |edge| if (edge.n == 1 and found[edge.from].some != 0 and leadsBack(edges, edge, edge.to, 3)) {
            // One more character changes nothing.
            found[edge.from].all_from = @ctz(found[edge.from].some);
        };
        is_done = false;
        while (!is_done) {
            is_done = true;
            for (edges) |edge| {
                const from = @min(found[edge.from].all_from, found[edge.to].all_from +| edge.n);
                is_done = is_done and from == found[edge.from].all_from;
                found[edge.from].all_from = from;
            }
            try ctx.check();
        }
        return if (try isSettled(ctx, edges, found, unused)) found else null;
    }

    /// Whether the edge is the first of a character that leads to where it begins.
    fn leadsBack(edges: []const Edge, first: Edge, at: u16, n_max: usize) bool {
        if (at == first.from) return true;
        if (n_max == 0) return false;
        // They are in the order of their states, the last ones first.
        const from = std.sort.lowerBound(Edge, edges, at, order);
        for (edges[from..]) |edge| {
            if (edge.from != at) break;
            if (edge.n == 0 and leadsBack(edges, first, edge.to, n_max - 1)) return true;
        }
        return false;
    }

    fn order(at: u16, edge: Edge) std.math.Order {
        return std.math.order(edge.from, at);
    }

    /// Whether all lengths are listed, or follow each other from one that is.
    fn isSettled(ctx: *const Context, edges: []const Edge, found: []const Lengths, unused: ?usize) Error!bool {
        // By state, of those with finitely many: the longest, once those after it are known.
        const longest = try ctx.filled(?u32, found.len, null);
        for (0..Lengths.listed) |_| {
            const most = try ctx.filled(?u32, found.len, 0);
            for (edges) |edge| if (most[edge.from]) |n| {
                most[edge.from] = if (longest[edge.to]) |after| @max(n, after + edge.n) else null;
            };
            var is_done = true;
            for (longest, most, found, 0..) |*to, n, one, state| {
                if (one.all_from != Lengths.never or state == dfa.dead) continue;
                if (to.* == null) is_done = false;
                to.* = n;
            }
            if (is_done) break;
        }
        for (found, longest, 0..) |one, n, state| {
            if (state == dfa.dead or state == unused) continue;
            if (one.all_from != Lengths.never) {
                if (one.all_from > Lengths.listed) return false;
            } else if (n == null or n.? >= Lengths.listed) return false;
        }
        return true;
    }

    /// Descending by state.
    fn edgesOf(g: *const Graph, ctx: *const Context) Error![]const Edge {
        // [class]: whether it has bytes that begin no character, and that do.
        var kinds: [256][2]bool = @splat(@splat(false));
        for (g.classes, 0..) |class, byte| kinds[class][@intFromBool(bounded_texts.isFirst(@intCast(byte)))] = true;
        var list: ArrayList(Edge) = .empty;
        var state = g.matches.len;
        while (state > 0) {
            state -= 1;
            const row = g.rows[state * g.n_classes ..][0..g.n_classes];
            for (row, kinds[0..g.n_classes]) |to, kind| for (kind, 0..) |is_there, n| {
                if (!is_there or to == dfa.dead) continue;
                const edge: Edge = .{ .from = @intCast(state), .to = to, .n = @intCast(n) };
                if (list.items.len > 0 and std.meta.eql(list.items[list.items.len - 1], edge)) continue;
                try ctx.append(&list, edge);
            };
        }
        return list.items;
    }
};
