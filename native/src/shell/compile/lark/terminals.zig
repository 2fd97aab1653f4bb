//! From the definitions of terminals to their trees, sorted by priority.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const sort = @import("engine").sort.sort;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const message = @import("message");
const ast = @import("../regex/ast.zig");
const intersection = @import("../regex/intersection.zig");
const look_around = @import("../regex/look_around.zig");
const Context = @import("../lr/context.zig").Context;
const Pattern = @import("../regex/pattern.zig").Pattern;
const bnf = @import("../bnf.zig");
const Place = bnf.Place;
const properties = @import("properties.zig");
const Properties = properties.Properties;
const syntax_tree = @import("syntax_tree.zig");
const SyntaxTree = syntax_tree.SyntaxTree;

const Error = Allocator.Error || diagnostic.Error;

/// ELIZA_TERMINALS_MAX of the header.
pub const terminals_max = @import("engine").program.terminals_max;

/// A candidate for a terminal of the grammar: only those that are used or skipped become one.
const Entry = struct {
    name: []const u8,
    place: Place,
    priority: i32 = 0,
    tree: Tree = undefined,
    state: enum { unread, being_read, read } = .unread,
    soft: bool = false,
    skip: bool = false,
    /// Whether all grammars that skip it skip it once.
    once: bool = true,
    lazy: bool = false,
    tokens_max: u32 = 0,
    precedence: ?bnf.Precedence = null,
    /// Whether a rule uses it.
    is_used: bool = false,
    /// Whether another terminal uses it.
    is_part: bool = false,
};

const Tree = struct { node: *const ast.Node, properties: Properties, is_literal: bool };

const none = std.math.maxInt(u32);

/// All terminals while a grammar is read. Each is read once, however often it is used; ids are indices in `entries`.
pub const Terminals = struct {
    arena: Allocator,
    /// For the DFAs of intersections and complements, which count against the budget themselves.
    uncounted: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    tree: *const SyntaxTree,
    /// First those of `SyntaxTree.terminals`, with the same numbers, then those of `SyntaxTree.ignored_expressions`, then the
    /// strings and regexes that no terminal is defined as, as they are asked for.
    entries: ArrayList(Entry) = .empty,
    /// [pattern]: its entry, or `none` so far.
    of_patterns: []u32,
    /// [name]: its precedence, if it is not a terminal's name.
    precedences: []?bnf.Precedence,

    /// Reads the trees of all definitions, and applies the directives. All names that are symbols must be defined. `arena` counts
    /// against the budget, `uncounted` is the same memory without counting.
    pub fn init(arena: Allocator, uncounted: Allocator, from: *const SyntaxTree, budget: *Budget, diag: *Diagnostic) Error!Terminals {
        var t: Terminals = .{
            .arena = arena,
            .uncounted = uncounted,
            .budget = budget,
            .diag = diag,
            .tree = from,
            .of_patterns = try arena.alloc(u32, from.patterns.len),
            .precedences = try arena.alloc(?bnf.Precedence, from.names.len),
        };
        const n_named = from.terminals.len + from.ignored_expressions.len;
        @memset(t.of_patterns, none);
        @memset(t.precedences, null);
        try t.entries.ensureTotalCapacity(arena, n_named + from.patterns.len);
        for ([_][]const syntax_tree.Terminal{ from.terminals, from.ignored_expressions }) |list| for (list) |one| {
            t.entries.appendAssumeCapacity(.{
                .name = one.name,
                .place = one.place,
                .priority = one.priority,
                .lazy = one.lazy,
                .tokens_max = one.tokens_max,
            });
        };
        for (from.terminals, 0..) |one, id| t.claimPattern(one, @intCast(id));
        for (0..n_named) |id| _ = try t.treeOf(@intCast(id), 0);
        try t.applyDirectives();
        return t;
    }

    /// The id of the terminal that a rule refers to, which becomes one of the grammar's.
    pub fn use(t: *Terminals, reference: syntax_tree.Reference) Error!u32 {
        const id = try t.idOf(reference) orelse unreachable; // names have been looked up
        t.entries.items[id].is_used = true;
        return id;
    }

    /// The precedence that a %prec names.
    pub fn precedenceOf(t: *Terminals, mention: syntax_tree.Mention) Error!bnf.Precedence {
        const precedence = if (try t.idOf(mention.reference)) |id|
            t.entries.items[id].precedence
        else
            t.precedences[mention.reference.name];
        return precedence orelse
            t.fail(mention.place, "{s} has no precedence: %left, %right or %nonassoc gives one", .{t.textOf(mention)});
    }

    /// The terminals that are used or skipped, by priority. Sets `numbers[id]` to the number of each of them.
    pub fn finish(t: *Terminals, numbers: []u16) Error![]const bnf.Terminal {
        var order: ArrayList(u32) = .empty;
        for (t.entries.items, 0..) |entry, id| {
            if (!entry.is_used and !entry.skip) continue;
            try order.append(t.arena, @intCast(id));
        }
        if (order.items.len > terminals_max) {
            const place = t.entries.items[order.items[terminals_max]].place;
            return t.diag.fail(.limit, "{f}: the grammar has more than {d} terminals", .{ place, terminals_max });
        }
        sort(u32, order.items, t.entries.items, precedes);
        const terminals = try t.arena.alloc(bnf.Terminal, order.items.len);
        for (terminals, order.items, 0..) |*terminal, id, number| {
            const entry = t.entries.items[id];
            numbers[id] = @intCast(number);
            terminal.* = .{
                .name = entry.name,
                .pattern = entry.tree.node,
                .soft = entry.soft,
                .skip = entry.skip,
                .leads = t.tree.skips_first,
                .once = entry.once,
                .lazy = entry.lazy,
                .tokens_max = entry.tokens_max,
                .literal = entry.tree.is_literal,
                .looks = entry.tree.properties.looks,
                .matches_nothing = entry.tree.properties.matches_nothing,
                .precedence = entry.precedence,
                .place = entry.place,
            };
        }
        return terminals;
    }

    /// By explicit priority, then literals first, then with contextual lexing.
    fn precedes(entries: []const Entry, a: u32, b: u32) bool {
        const x = entries[a];
        const y = entries[b];
        if (x.priority != y.priority) return x.priority > y.priority;
        if (x.tree.is_literal != y.tree.is_literal) return x.tree.is_literal;
        if (x.place.line != y.place.line) return x.place.line < y.place.line;
        if (x.place.column != y.place.column) return x.place.column < y.place.column;
        return a < b;
    }

    // ---- Trees

    /// A terminal without a limit that is defined as exactly a string or regex is what that string or regex means; of
    /// several, the first of the highest priority.
    fn claimPattern(t: *Terminals, terminal: syntax_tree.Terminal, id: u32) void {
        if (terminal.expression != .reference or terminal.tokens_max > 0) return;
        if (terminal.expression.reference != .pattern) return;
        const owner = &t.of_patterns[terminal.expression.reference.pattern];
        if (owner.* == none or t.entries.items[owner.*].priority < terminal.priority) owner.* = id;
    }

    fn treeOf(t: *Terminals, id: u32, depth: u32) Error!Tree {
        const entry = &t.entries.items[id]; // reading trees adds no entries
        switch (entry.state) {
            .read => return entry.tree,
            .being_read => return t.fail(entry.place, "the terminal {s} is a part of itself", .{entry.name}),
            .unread => {},
        }
        try t.budget.check("the terminals", t.diag);
        entry.state = .being_read;
        const n_named = t.tree.terminals.len;
        const definition = if (id < n_named) t.tree.terminals[id] else t.tree.ignored_expressions[id - n_named];
        const is_too_deep = depth >= properties.depth_max;
        const is_alias = definition.expression == .reference; // deeper for the stack, though the tree is not
        if (!is_too_deep) entry.tree = try t.read(definition.expression, depth + @intFromBool(is_alias));
        if (is_too_deep or entry.tree.properties.depth > properties.depth_max) {
            return t.failLimit(entry.*, "is deeper than {d}", properties.depth_max);
        }
        if (entry.tree.properties.nodes > properties.nodes_max) {
            return t.failLimit(entry.*, "has more than {d} parts", properties.nodes_max);
        }
        entry.state = .read;
        return entry.tree;
    }

    fn read(t: *Terminals, expression: syntax_tree.Expression, depth: u32) Error!Tree {
        switch (expression) {
            .reference => |reference| switch (reference) {
                .pattern => |index| {
                    const pattern = t.tree.patterns[index];
                    return .{ .node = pattern.node, .properties = pattern.properties, .is_literal = pattern.is_literal };
                },
                .name => |index| {
                    const id = t.tree.names[index].definition.?;
                    const tree = try t.treeOf(id, depth);
                    t.entries.items[id].is_part = true;
                    return tree;
                },
            },
            .sequence => |list| {
                var all: Properties = .concatenation;
                const nodes = try t.arena.alloc(*const ast.Node, list.len);
                for (nodes, list) |*node, one| {
                    const tree = try t.read(one, depth + 1);
                    node.* = tree.node;
                    all.follow(tree.properties);
                }
                return .{ .node = try ast.concat(t.arena, nodes), .properties = all, .is_literal = false };
            },
            .alternatives => |alternatives| {
                var all: Properties = .alternation;
                const nodes = try t.arena.alloc(*const ast.Node, alternatives.items.len);
                for (nodes, alternatives.items) |*node, one| {
                    const tree = try t.read(one, depth + 1);
                    node.* = tree.node;
                    all.either(tree.properties);
                }
                return .{ .node = try ast.alternate(t.arena, nodes), .properties = all, .is_literal = false };
            },
            .repeat => |repeat| {
                const tree = try t.read(repeat.expression, depth + 1);
                const node = try ast.repeat(t.arena, tree.node, repeat.min, repeat.max);
                return .{ .node = node, .properties = tree.properties.repeated(repeat.min, repeat.max), .is_literal = false };
            },
            .intersection => |list| return t.combine(list.items, list.place, depth),
            .complement => |list| return t.combine(&.{expression}, list.place, depth),
            .shortest => |list| {
                const tree = try t.closed(try t.read(list.items[0], depth + 1), list.place);
                if (tree.properties.matches_empty) {
                    return .{ .node = ast.empty, .properties = .concatenation, .is_literal = false };
                }
                var buffer: [64]u8 = undefined;
                const what = message.print(&buffer, "the lazy rule at {f}", .{list.place});
                const node = try intersection.shortest(t.uncounted, tree.node, t.budget, what, t.diag);
                return .{ .node = node, .properties = Properties.of(node).?, .is_literal = false };
            },
        }
    }

    fn combine(t: *Terminals, operands: []const syntax_tree.Expression, place: Place, depth: u32) Error!Tree {
        // What must match comes first; what must not is filled in from the end.
        const patterns = try t.arena.alloc(Pattern, operands.len + 1);
        patterns[0] = .{ .node = ast.anything, .soft = true };
        var n_wanted: usize = 1;
        var n: usize = patterns.len;
        for (operands) |operand| {
            const is_complement = operand == .complement;
            const tree = try t.closed(try t.read(if (is_complement) operand.complement.items[0] else operand, depth + 1), place);
            n -= @intFromBool(is_complement);
            patterns[if (is_complement) n else n_wanted] = .{ .node = tree.node, .soft = true };
            n_wanted += @intFromBool(!is_complement);
        }
        // `anything` is needed only if nothing else must match.
        const first = @intFromBool(n_wanted > 1);
        var buffer: [64]u8 = undefined;
        const what = message.print(&buffer, "the combination at {f}", .{place});
        const node = try intersection.intersect(t.uncounted, patterns[first..], n_wanted - first, t.budget, what, t.diag);
        return .{ .node = node, .properties = Properties.of(node).?, .is_literal = false };
    }

    /// The same texts, without look-around, which may not reach beyond them.
    fn closed(t: *Terminals, tree: Tree, place: Place) Error!Tree {
        if (!tree.properties.looks or !look_around.isIn(tree.node)) return tree;
        const ctx: Context = .{ .arena = t.uncounted, .budget = t.budget, .diag = t.diag };
        var buffer: [64]u8 = undefined;
        const what = message.print(&buffer, "{f}", .{place});
        const node = try look_around.closed(&ctx, tree.node, what);
        return .{ .node = node, .properties = Properties.of(node).?, .is_literal = false };
    }

    // ---- Directives

    fn applyDirectives(t: *Terminals) Error!void {
        for (t.tree.ignored_expressions, t.entries.items[t.tree.terminals.len..]) |one, *entry| t.ignore(entry, one.grammar);
        for (t.tree.ignored) |mention| t.ignore(try t.mentioned(mention), mention.grammar);
        for (t.tree.soft) |mention| (try t.mentioned(mention)).soft = true;
        for (t.tree.precedences) |one| {
            const precedence = if (try t.idOf(one.mention.reference)) |id|
                &t.entries.items[id].precedence
            else
                try t.placeholder(one.mention);
            if (precedence.* != null) return t.fail(one.mention.place, "{s} has a precedence already", .{t.textOf(one.mention)});
            precedence.* = one.precedence;
        }
    }

    fn ignore(t: *const Terminals, entry: *Entry, grammar: u32) void {
        entry.skip = true;
        entry.once = entry.once and t.tree.skips_once[grammar];
    }

    /// A name that is no terminal and only carries a precedence to %prec.
    fn placeholder(t: *Terminals, mention: syntax_tree.Mention) Error!*?bnf.Precedence {
        const index = mention.reference.name;
        if (t.tree.names[index].is_precedence) return &t.precedences[index];
        return t.fail(mention.place, "{s} is neither a terminal nor used by %prec", .{t.textOf(mention)});
    }

    fn mentioned(t: *Terminals, mention: syntax_tree.Mention) Error!*Entry {
        const id = try t.idOf(mention.reference) orelse
            return t.fail(mention.place, "the terminal {s} is not defined", .{t.textOf(mention)});
        return &t.entries.items[id];
    }

    fn textOf(t: *const Terminals, mention: syntax_tree.Mention) []const u8 {
        return switch (mention.reference) {
            .name => |index| t.tree.names[index].text,
            .pattern => |index| t.tree.patterns[index].text,
        };
    }

    /// null: a name that is not defined.
    fn idOf(t: *Terminals, reference: syntax_tree.Reference) Error!?u32 {
        const index = switch (reference) {
            .name => |index| return t.tree.names[index].definition,
            .pattern => |index| index,
        };
        if (t.of_patterns[index] != none) return t.of_patterns[index];
        const pattern = t.tree.patterns[index];
        t.of_patterns[index] = @intCast(t.entries.items.len);
        try t.entries.append(t.arena, .{
            .name = pattern.text,
            .place = pattern.place,
            .tree = .{ .node = pattern.node, .properties = pattern.properties, .is_literal = pattern.is_literal },
            .state = .read,
        });
        return t.of_patterns[index];
    }

    // ---- Errors

    fn failLimit(t: *const Terminals, entry: Entry, comptime format: []const u8, limit: u32) diagnostic.Error {
        const place = entry.place;
        return t.diag.fail(.limit, "{f}: the terminal {s} " ++ format, .{ place, entry.name, limit });
    }

    /// ELIZA_ERR_GRAMMAR with a message that begins with the place.
    pub fn fail(t: *const Terminals, place: Place, comptime format: []const u8, args: anytype) diagnostic.Error {
        return t.diag.fail(.grammar, "{f}: " ++ format, .{place} ++ args);
    }
};
