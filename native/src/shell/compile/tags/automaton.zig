//! Makes the automaton of free text: of triggers and excluded texts that may begin anywhere, and after a trigger, of
//! the begin texts that can still be meant.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const FreeText = @import("engine").free_text.FreeText;
const Behind = @import("engine").tags.Behind;
const symbols = @import("engine").tag_symbols;
const Symbol = symbols.Symbol;
const begin_texts = @import("begin_texts.zig");
const BeginTexts = begin_texts.BeginTexts;
const Codes = begin_texts.Codes;
const Descriptor = @import("descriptor.zig").Descriptor;
const Marker = @import("markers.zig").Marker;

/// ELIZA_TAGS_TEXT_BYTES_MAX of the header: of all triggers and excluded texts together, and of begin texts that are triggers.
pub const text_bytes_max = 16384;
/// ELIZA_TAGS_BEGIN_BYTES_MAX of the header: of all begin texts together.
pub const begin_bytes_max = 1 << 20;

const Error = Allocator.Error || diagnostic.Error;
const what = "the automaton of free text";

pub const Automaton = struct {
    /// The caller frees it.
    free: FreeText,
    /// [tag]
    behind: []const Behind,
};

pub fn build(gpa: Allocator, arena: Allocator, d: *const Descriptor, budget: *Budget, diag: *Diagnostic) Error!Automaton {
    var b: Builder = .{
        .arena = arena,
        .d = d,
        .budget = budget,
        .diag = diag,
        .triggers = d.triggers,
        .texts = .{ .arena = arena },
    };
    try b.findBegins();
    try b.check();
    try b.addTexts();
    try b.addClosings();
    try b.addBegins();
    try b.addRows();
    try b.link();
    return .{ .free = try b.finish(gpa), .behind = try b.findBehind() };
}

const Builder = struct {
    arena: Allocator,
    d: *const Descriptor,
    budget: *Budget,
    diag: *Diagnostic,
    triggers: []const Marker,
    /// [tag]: with that of its row.
    begins: []Marker = &.{},
    /// Of free text.
    nodes: ArrayList(Node) = .empty,
    texts: BeginTexts,
    /// Roots in `texts`. [row]: where its end text must follow.
    closings: []u32 = &.{},
    /// [row]: where its end text may follow, or another part.
    goings_on: []u32 = &.{},
    /// [trigger]: where its begin texts continue.
    behind: []u32 = &.{},
    /// Symbols and edges that are looked at up to the next check of the budget.
    left: usize = check_interval,

    const check_interval = 1 << 13;

    /// A byte that is missing among the children leads on as `fail` says.
    const Node = struct {
        children: ArrayList(Edge) = .empty,
        fail: u32 = root,
        outcome: Outcome = .state,
    };
    const Edge = struct { symbol: Symbol, node: u32 };
    /// What it means that a node is reached.
    const Outcome = union(enum) { state, excluded, trigger: u32 };
    const root = 0;

    fn findBegins(b: *Builder) Error!void {
        const d = b.d;
        b.begins = try b.arena.alloc(Marker, d.tags.len);
        for (b.begins, d.tags) |*begin, *tag| {
            if (tag.begin.symbols.len == 0) return b.diag.fail(.grammar, "{s}.begin: empty, or not given", .{tag.place});
            begin.* = try d.beginOf(b.arena, tag);
        }
        if (b.triggers.len > 0) return;
        var triggers: ArrayList(Marker) = .empty;
        for (d.tags) |*tag| if (tag.row == null) try triggers.append(b.arena, tag.begin);
        for (d.rows, 0..) |*row, i| {
            const has_tags = for (d.tags) |*tag| {
                if (tag.row == @as(u32, @intCast(i))) break true;
            } else false;
            if (has_tags) try triggers.append(b.arena, row.begin);
        }
        b.triggers = triggers.items;
    }

    /// The place of a trigger, for messages.
    fn placeOf(b: *const Builder, trigger: usize) []const u8 {
        var i: usize = 0;
        for (b.d.tags) |*tag| if (tag.row == null) {
            if (i == trigger) return tag.place;
            i += 1;
        };
        return b.d.rows[trigger - i].place;
    }

    fn check(b: *Builder) Error!void {
        const d = b.d;
        if (d.tags.len == 0 and (d.excludes.len == 0 or d.count.least > 0)) {
            return b.diag.fail(.grammar, "tags: there is none", .{});
        }
        if (d.count.most) |most| if (most < d.count.least or most == 0) {
            return b.diag.fail(.grammar, "at_most: {d} is below at_least, or 0", .{most});
        };
        if (d.count.stop_after_first and d.count.least > 1) {
            return b.diag.fail(.grammar, "at_least: {d} parts, but stop_after_first", .{d.count.least});
        }
        var n_bytes: usize = d.after.symbols.len;
        for (b.triggers) |marker| n_bytes += marker.symbols.len;
        for (d.excludes) |marker| n_bytes += marker.symbols.len;
        if (n_bytes > text_bytes_max) {
            const advice = if (d.triggers.len == 0) ": give triggers that several begin texts begin with" else "";
            const message = "{d} bytes of triggers and excluded texts are more than {d}{s}";
            return b.diag.fail(.limit, message, .{ n_bytes, text_bytes_max, advice });
        }
        try b.checkBegins();
        for (b.triggers, 0..) |one, i| {
            try b.budget.check(what, b.diag);
            for (b.triggers, 0..) |other, j| if (i != j and std.mem.find(Symbol, one.symbols, other.symbols) != null) {
                if (d.triggers.len > 0) {
                    const args = .{ i, quoted(one.text), j, quoted(other.text) };
                    return b.diag.fail(.grammar, "triggers[{d}] {f} contains triggers[{d}] {f}", args);
                }
                return b.diag.fail(
                    .grammar,
                    "{s}.begin: {f} contains {s}.begin {f}, with which that part would begin first; " ++
                        "a trigger that both begin with tells them apart by what follows",
                    .{ b.placeOf(i), quoted(one.text), b.placeOf(j), quoted(other.text) },
                );
            };
            for (d.excludes, 0..) |other, j| if (std.mem.find(Symbol, one.symbols, other.symbols) != null) {
                return b.diag.fail(.grammar, "excludes[{d}]: {f} is in the trigger {f}", .{ j, quoted(other.text), quoted(one.text) });
            };
        }
    }

    fn checkBegins(b: *Builder) Error!void {
        const d = b.d;
        var n_bytes: usize = 0;
        for (d.tags, b.begins) |*tag, begin| {
            n_bytes += begin.symbols.len;
            if (tag.row) |row| n_bytes += d.rows[row].separator.symbols.len + tag.begin.symbols.len;
            if (n_bytes <= begin_bytes_max) continue;
            return b.diag.fail(.limit, "{s}.begin: the begin texts have more than {d} bytes", .{ tag.place, begin_bytes_max });
        }
    }

    /// Free text.
    fn addTexts(b: *Builder) Error!void {
        _ = try b.addNode();
        for (b.d.excludes) |marker| b.nodes.items[try b.addText(root, marker.symbols)].outcome = .excluded;
        for (b.triggers, 0..) |marker, i| b.nodes.items[try b.addText(root, marker.symbols)].outcome = .{ .trigger = @intCast(i) };
    }

    /// The end texts of rows, where no other part may come.
    fn addClosings(b: *Builder) Error!void {
        b.closings = try b.arena.alloc(u32, b.d.rows.len);
        for (b.closings, b.d.rows) |*closing, *row| {
            closing.* = try b.texts.addRoot();
            try b.addEnd(closing.*, row.end);
        }
    }

    /// What follows triggers.
    fn addBegins(b: *Builder) Error!void {
        b.behind = try b.arena.alloc(u32, b.triggers.len);
        for (b.behind) |*from| from.* = try b.texts.addRoot();
        const is_used = try b.arena.alloc(bool, b.triggers.len);
        @memset(is_used, false);
        for (b.d.tags, b.begins, 0..) |*tag, begin, i| {
            if (i % 64 == 0) try b.budget.check(what, b.diag);
            const trigger = for (b.triggers, 0..) |marker, j| {
                if (std.mem.startsWith(Symbol, begin.symbols, marker.symbols)) break j;
            } else return b.diag.fail(.grammar, "{s}.begin: {f} begins with no trigger", .{ tag.place, quoted(begin.text) });
            is_used[trigger] = true;
            try b.addBegin(b.behind[trigger], begin.symbols[b.triggers[trigger].symbols.len..], i);
        }
        for (is_used, 0..) |used, i| if (!used) {
            return b.diag.fail(.grammar, "triggers[{d}]: no begin text begins with {f}", .{ i, quoted(b.triggers[i].text) });
        };
    }

    /// What follows the parts of rows.
    fn addRows(b: *Builder) Error!void {
        b.goings_on = try b.arena.alloc(u32, b.d.rows.len);
        for (b.goings_on, b.d.rows) |*from, *row| {
            from.* = try b.texts.addRoot();
            try b.addEnd(from.*, row.end);
        }
        for (b.d.tags, 0..) |*tag, i| if (tag.row) |row| {
            if (i % 64 == 0) try b.budget.check(what, b.diag);
            const text = try std.mem.concat(b.arena, Symbol, &.{ b.d.rows[row].separator.symbols, tag.begin.symbols });
            try b.addBegin(b.goings_on[row], text, i);
        };
    }

    fn addEnd(b: *Builder, from: u32, end: Marker) Error!void {
        b.texts.add(from, end.symbols, .outside) catch |e| switch (e) {
            error.OutOfMemory => return error.OutOfMemory,
            error.Ambiguous => unreachable, // the first one
        };
    }

    fn addBegin(b: *Builder, from: u32, text: []const Symbol, tag: usize) Error!void {
        b.texts.add(from, text, .{ .part = @intCast(tag) }) catch |e| switch (e) {
            error.OutOfMemory => return error.OutOfMemory,
            error.Ambiguous => return b.diag.fail(
                .grammar,
                "{s}.begin: {f} is another begin text, or begins with the end text of its row",
                .{ b.d.tags[tag].place, quoted(b.begins[tag].text) },
            ),
        };
    }

    fn findBehind(b: *const Builder) Error![]const Behind {
        const outside: u32 = @intCast(b.d.after.symbols.len + root);
        const last: u32 = if (b.d.count.stop_after_first) Behind.finished else outside;
        const behind = try b.arena.alloc(Behind, b.d.tags.len);
        for (behind, b.d.tags) |*one, *tag| one.* = if (tag.row) |row|
            .{ .state = b.texts.stateOf(b.goings_on[row]), .last = b.texts.stateOf(b.closings[row]), .is_row = true }
        else
            .{ .state = outside, .last = last, .is_row = false };
        return behind;
    }

    fn addNode(b: *Builder) Error!u32 {
        try b.nodes.append(b.arena, .{});
        return @intCast(b.nodes.items.len - 1);
    }

    fn addText(b: *Builder, from: u32, text: []const Symbol) Error!u32 {
        var node: u32 = from;
        for (text) |symbol| node = try b.addSymbol(node, symbol);
        return node;
    }

    fn addSymbol(b: *Builder, node: u32, symbol: Symbol) Error!u32 {
        if (try b.child(node, symbol)) |known| return known;
        const made = try b.addNode();
        try b.nodes.items[node].children.append(b.arena, .{ .symbol = symbol, .node = made });
        return made;
    }

    fn work(b: *Builder, n: usize) Error!void {
        if (b.left > n) {
            b.left -= n;
            return;
        }
        b.left = check_interval;
        return b.budget.check(what, b.diag);
    }

    fn child(b: *Builder, node: u32, symbol: Symbol) Error!?u32 {
        try b.work(1 + b.nodes.items[node].children.items.len);
        for (b.nodes.items[node].children.items) |edge| if (edge.symbol == symbol) return edge.node;
        return null;
    }

    /// Finds for each node of free text the longest one that its text ends with, level by level.
    fn link(b: *Builder) Error!void {
        var queue: ArrayList(u32) = .empty;
        try queue.append(b.arena, root);
        var at: usize = 0;
        while (at < queue.items.len) : (at += 1) {
            const node = queue.items[at];
            for (b.nodes.items[node].children.items) |edge| {
                const fail = if (node == root) root else try b.goTo(b.nodes.items[node].fail, edge.symbol);
                b.nodes.items[edge.node].fail = fail;
                const outcome = &b.nodes.items[edge.node].outcome;
                if (outcome.* == .state or b.nodes.items[fail].outcome == .excluded) outcome.* = b.nodes.items[fail].outcome;
                try queue.append(b.arena, edge.node);
            }
        }
    }

    fn goTo(b: *Builder, from: u32, symbol: Symbol) Error!u32 {
        var node = from;
        while (true) {
            if (try b.child(node, symbol)) |next| return next;
            if (node == root) return root;
            node = b.nodes.items[node].fail;
        }
    }

    // ---- The table: first the states before the text `after`, as many as it has symbols, then the nodes

    fn finish(b: *Builder, gpa: Allocator) Error!FreeText {
        const n_before: u32 = @intCast(b.d.after.symbols.len);
        const n_text: u32 = n_before + @as(u32, @intCast(b.nodes.items.len));
        const roots = try std.mem.concat(b.arena, u32, &.{ b.closings, b.behind, b.goings_on });
        const first_open = try b.texts.number(n_text, roots, b.closings.len);
        const n_chains: u32 = @intCast(b.texts.chains.items.len);
        const n_branches: u32 = @intCast(b.texts.branches.items.len);
        const n_states = n_text + n_chains + n_branches;
        var f: FreeText = .{
            .classes = undefined,
            .token_classes = &.{},
            .n_classes = 0,
            .next = &.{},
            .chains = &.{},
            .n_text = n_text,
            .first_branch = n_text + n_chains,
            .pending = &.{},
            .first_pending = n_states - b.texts.n_pending,
            .n_states = n_states,
            .first_closing = n_text,
            .first_behind_trigger = n_text + first_open,
            .initial = if (n_before > 0) 0 else n_before + root,
            .outside = n_before + root,
            .may_begin = &.{},
        };
        const outside: u32 = if (b.d.count.stop_after_first) n_states + @as(u32, @intCast(b.d.tags.len)) else f.outside;
        const codes: Codes = .{ .n_states = n_states, .outside = outside };
        const token_classes = try gpa.alloc(u16, b.d.markers.ids.items.len);
        errdefer gpa.free(token_classes);
        f.token_classes = token_classes;
        var of_class: [symbols_max]Symbol = undefined;
        b.classify(&f, token_classes, &of_class);
        const n_rows = n_text + n_branches;
        try b.budget.take(@as(u64, n_rows) * f.n_classes * 4 + 2 * n_chains, what, b.diag);
        const next = try gpa.alloc(u32, n_rows * f.n_classes);
        errdefer gpa.free(next);
        for (of_class[0..f.n_classes], 0..) |symbol, class| {
            try b.budget.check(what, b.diag);
            for (0..n_before) |state| next[state * f.n_classes + class] = try b.beforeAfter(state, symbol);
            for (0..b.nodes.items.len) |node| {
                next[(n_before + node) * f.n_classes + class] = try b.afterNode(@intCast(node), symbol, &codes, n_before);
            }
        }
        for (b.texts.branches.items, n_text..) |branch, row| {
            if (row % 256 == 0) try b.budget.check(what, b.diag);
            b.texts.fillRow(branch, next[row * f.n_classes ..][0..f.n_classes], &codes, &f);
        }
        f.next = next;
        const pending = try gpa.alloc(u32, b.texts.n_pending);
        errdefer gpa.free(pending);
        for (pending, b.texts.branches.items[n_branches - pending.len ..]) |*part, branch| part.* = b.texts.pendingOf(branch);
        f.pending = pending;
        b.texts.finishChains(n_text, &codes);
        f.chains = try gpa.dupe(Symbol, b.texts.chains.items);
        errdefer gpa.free(f.chains);
        f.may_begin = try b.findWhereMayBegin(gpa, &f);
        return f;
    }

    const symbols_max = @as(usize, symbols.first_token) + symbols.named_max;

    /// Writes a symbol of each class. Those that no row tells apart are alike.
    fn classify(b: *const Builder, f: *FreeText, token_classes: []u16, of_class: *[symbols_max]Symbol) void {
        var used: [symbols_max]bool = @splat(false);
        for (b.d.after.symbols) |symbol| used[symbol] = true;
        for (b.nodes.items) |*node| for (node.children.items) |edge| {
            used[edge.symbol] = true;
        };
        for (b.texts.edges.items) |*edge| used[edge.symbol] = true;
        var others: ?u16 = null;
        for (0..symbols.first_token + token_classes.len) |symbol| {
            var class: u16 = @intCast(f.n_classes);
            if (!used[symbol]) class = others orelse class;
            if (!used[symbol]) others = class;
            if (symbol < symbols.first_token) f.classes[symbol] = @intCast(class) else token_classes[symbol - symbols.first_token] = class;
            if (class < f.n_classes) continue;
            of_class[class] = @intCast(symbol);
            f.n_classes += 1;
        }
    }

    /// The longest beginning of `after` that ends here.
    fn beforeAfter(b: *Builder, state: usize, symbol: Symbol) Error!u32 {
        const text = b.d.after.symbols;
        var n = state + 1;
        while (n > 0) : (n -= 1) {
            try b.work(1);
            if (text[n - 1] == symbol and std.mem.eql(Symbol, text[0 .. n - 1], text[state + 1 - n .. state])) return @intCast(n);
        }
        return 0;
    }

    fn afterNode(b: *Builder, node: u32, symbol: Symbol, codes: *const Codes, n_before: u32) Error!u32 {
        const next = try b.goTo(node, symbol);
        return switch (b.nodes.items[next].outcome) {
            .state => n_before + next,
            .excluded => FreeText.dead,
            .trigger => |trigger| b.texts.codeOf(b.behind[trigger], codes),
        };
    }

    /// From the states from which a part begins back to all that lead there.
    fn findWhereMayBegin(b: *Builder, gpa: Allocator, f: *const FreeText) Error![]bool {
        const may_begin = try gpa.alloc(bool, f.n_text);
        errdefer gpa.free(may_begin);
        @memset(may_begin, b.d.excludes.len == 0);
        if (b.d.excludes.len == 0) return may_begin;
        var has_changed = true;
        while (has_changed) {
            has_changed = false;
            for (may_begin, 0..) |*may, state| {
                if (may.*) continue;
                try b.budget.check(what, b.diag);
                for (f.next[state * f.n_classes ..][0..f.n_classes]) |next| {
                    may.* = may.* or next != FreeText.dead and (next >= f.n_text or may_begin[next]);
                }
                has_changed = has_changed or may.*;
            }
        }
        return may_begin;
    }
};
