//! Makes the automaton of free text: of triggers and excluded texts that may begin anywhere, and behind a trigger, of
//! the begin texts that can still be meant.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Budget = @import("engine").budget.Budget;
const FreeText = @import("engine").free_text.FreeText;
const Descriptor = @import("descriptor.zig").Descriptor;

/// ELIZA_TAGS_TEXT_BYTES_MAX of the header: of all triggers, begin texts and excluded texts together.
pub const text_bytes_max = 16384;

const Error = Allocator.Error || diagnostic.Error;
const what = "the automaton of free text";

/// The caller frees it.
pub fn build(gpa: Allocator, arena: Allocator, d: *const Descriptor, budget: *Budget, diag: *Diagnostic) Error!FreeText {
    var b: Builder = .{ .arena = arena, .d = d, .budget = budget, .diag = diag, .triggers = d.triggers };
    if (d.triggers.len == 0) {
        const begins = try arena.alloc([]const u8, d.tags.len);
        for (begins, d.tags) |*begin, *tag| begin.* = tag.begin;
        b.triggers = begins;
    }
    try b.check();
    try b.addTexts();
    try b.addBegins();
    try b.link();
    return b.finish(gpa);
}

const Builder = struct {
    arena: Allocator,
    d: *const Descriptor,
    budget: *Budget,
    diag: *Diagnostic,
    triggers: []const []const u8,
    nodes: ArrayList(Node) = .empty,
    /// The nodes of free text are below it, then come those behind triggers.
    n_text_nodes: u32 = 0,
    /// [trigger]: where its begin texts go on, or the part.
    behind: []Outcome = &.{},

    /// A byte that is missing among the children leads on as `fail` says.
    const Node = struct {
        children: ArrayList(Edge) = .empty,
        fail: u32 = root,
        outcome: Outcome = .state,
    };
    const Edge = struct { byte: u8, node: u32 };
    /// What it means that a node is reached.
    const Outcome = union(enum) { state, excluded, trigger: u32, part: u32, node: u32 };
    const root = 0;

    fn check(b: *Builder) Error!void {
        const d = b.d;
        if (d.tags.len == 0) return b.diag.fail(.grammar, "tags: there is none", .{});
        if (d.count.most) |most| if (most < d.count.least or most == 0) {
            return b.diag.fail(.grammar, "at_most: {d} is below at_least, or 0", .{most});
        };
        if (d.count.stop_after_first and d.count.least > 1) {
            return b.diag.fail(.grammar, "at_least: {d} parts, but stop_after_first", .{d.count.least});
        }
        var n_bytes: usize = d.after.len;
        for (d.tags, 0..) |*tag, i| {
            if (tag.begin.len == 0) return b.diag.fail(.grammar, "tags[{d}].begin: empty, or not given", .{i});
            n_bytes += tag.begin.len;
        }
        for (d.triggers) |text| n_bytes += text.len;
        for (d.excludes) |text| n_bytes += text.len;
        if (n_bytes > text_bytes_max) {
            const message = "{d} bytes of triggers, begin texts and excluded texts are more than {d}";
            return b.diag.fail(.limit, message, .{ n_bytes, text_bytes_max });
        }
        for (b.triggers, 0..) |one, i| {
            try b.budget.check(what, b.diag);
            for (b.triggers, 0..) |other, j| if (i != j and std.mem.find(u8, one, other) != null) {
                const args = .{ i, quoted(one), j, quoted(other) };
                if (d.triggers.len > 0) return b.diag.fail(.grammar, "triggers[{d}] {f} contains triggers[{d}] {f}", args);
                return b.diag.fail(
                    .grammar,
                    "tags[{d}].begin: {f} contains tags[{d}].begin {f}, with which that part would begin first; " ++
                        "a trigger that both begin with tells them apart by what follows",
                    args,
                );
            };
            for (d.excludes, 0..) |text, j| if (std.mem.find(u8, one, text) != null) {
                return b.diag.fail(.grammar, "excludes[{d}]: {f} is in the trigger {f}", .{ j, quoted(text), quoted(one) });
            };
        }
    }

    /// Free text.
    fn addTexts(b: *Builder) Error!void {
        _ = try b.addNode();
        for (b.d.excludes) |text| b.nodes.items[try b.addText(root, text)].outcome = .excluded;
        for (b.triggers, 0..) |text, i| b.nodes.items[try b.addText(root, text)].outcome = .{ .trigger = @intCast(i) };
        b.n_text_nodes = @intCast(b.nodes.items.len);
    }

    /// What follows triggers.
    fn addBegins(b: *Builder) Error!void {
        b.behind = try b.arena.alloc(Outcome, b.triggers.len);
        @memset(b.behind, .excluded);
        for (b.d.tags, 0..) |*tag, i| {
            try b.budget.check(what, b.diag);
            const trigger = for (b.triggers, 0..) |text, j| {
                if (std.mem.startsWith(u8, tag.begin, text)) break j;
            } else return b.diag.fail(.grammar, "tags[{d}].begin: {f} begins with no trigger", .{ i, quoted(tag.begin) });
            const rest = tag.begin[b.triggers[trigger].len..];
            const start = &b.behind[trigger];
            if (rest.len == 0) {
                if (start.* != .excluded) return b.ambiguous(i);
                start.* = .{ .part = @intCast(i) };
                continue;
            }
            if (start.* == .part) return b.ambiguous(i);
            if (start.* == .excluded) start.* = .{ .node = try b.addNode() };
            var node = start.node;
            for (rest) |byte| {
                if (b.nodes.items[node].outcome == .part) return b.ambiguous(i);
                node = try b.addByte(node, byte);
            }
            if (b.nodes.items[node].outcome != .state or b.nodes.items[node].children.items.len > 0) return b.ambiguous(i);
            b.nodes.items[node].outcome = .{ .part = @intCast(i) };
        }
        for (b.behind, 0..) |start, i| if (start == .excluded) {
            return b.diag.fail(.grammar, "triggers[{d}]: no begin text begins with {f}", .{ i, quoted(b.triggers[i]) });
        };
    }

    fn ambiguous(b: *Builder, tag: usize) diagnostic.Error {
        return b.diag.fail(
            .grammar,
            "tags[{d}].begin: {f} begins with another begin text, or another with it: only the shorter one's part would begin",
            .{ tag, quoted(b.d.tags[tag].begin) },
        );
    }

    fn addNode(b: *Builder) Error!u32 {
        try b.nodes.append(b.arena, .{});
        return @intCast(b.nodes.items.len - 1);
    }

    fn addText(b: *Builder, from: u32, text: []const u8) Error!u32 {
        var node: u32 = from;
        for (text) |byte| node = try b.addByte(node, byte);
        return node;
    }

    fn addByte(b: *Builder, node: u32, byte: u8) Error!u32 {
        if (b.child(node, byte)) |known| return known;
        const made = try b.addNode();
        try b.nodes.items[node].children.append(b.arena, .{ .byte = byte, .node = made });
        return made;
    }

    fn child(b: *const Builder, node: u32, byte: u8) ?u32 {
        for (b.nodes.items[node].children.items) |edge| if (edge.byte == byte) return edge.node;
        return null;
    }

    /// Finds for each node of free text the longest one that its text ends with, level by level.
    fn link(b: *Builder) Error!void {
        var queue: ArrayList(u32) = .empty;
        try queue.append(b.arena, root);
        var at: usize = 0;
        while (at < queue.items.len) : (at += 1) {
            try b.budget.check(what, b.diag);
            const node = queue.items[at];
            for (b.nodes.items[node].children.items) |edge| {
                const fail = if (node == root) root else b.goTo(b.nodes.items[node].fail, edge.byte);
                b.nodes.items[edge.node].fail = fail;
                const outcome = &b.nodes.items[edge.node].outcome;
                if (outcome.* == .state or b.nodes.items[fail].outcome == .excluded) outcome.* = b.nodes.items[fail].outcome;
                try queue.append(b.arena, edge.node);
            }
        }
    }

    fn goTo(b: *const Builder, from: u32, byte: u8) u32 {
        var node = from;
        while (true) {
            if (b.child(node, byte)) |next| return next;
            if (node == root) return root;
            node = b.nodes.items[node].fail;
        }
    }

    // ---- The table: first the states before the text `after`, as many as it has bytes, then the nodes

    fn finish(b: *Builder, gpa: Allocator) Error!FreeText {
        const n_before: u32 = @intCast(b.d.after.len);
        const n_states: u32 = n_before + @as(u32, @intCast(b.nodes.items.len));
        if (n_states + b.d.tags.len >= FreeText.dead) return b.diag.fail(.limit, "{s} has too many states", .{what});
        var f: FreeText = .{
            .classes = undefined,
            .n_classes = 0,
            .next = &.{},
            .n_states = n_states,
            .first_behind_trigger = n_before + b.n_text_nodes,
            .initial = if (n_before > 0) 0 else n_before + root,
            .outside = n_before + root,
            .may_begin = &.{},
        };
        const of_class = b.classify(&f);
        try b.budget.take(@as(u64, n_states) * f.n_classes * 2, what, b.diag);
        const next = try gpa.alloc(u16, n_states * f.n_classes);
        errdefer gpa.free(next);
        for (of_class[0..f.n_classes], 0..) |byte, class| {
            try b.budget.check(what, b.diag);
            for (0..n_before) |state| next[state * f.n_classes + class] = b.beforeAfter(state, byte);
            for (0..b.nodes.items.len) |node| next[(n_before + node) * f.n_classes + class] = b.afterNode(@intCast(node), byte, &f);
        }
        f.next = next;
        f.may_begin = try b.findWhereMayBegin(gpa, &f);
        return f;
    }

    /// Returns a byte of each class. A byte that is in no text is like all others that are in none.
    fn classify(b: *const Builder, f: *FreeText) [256]u8 {
        var used: [256]bool = @splat(false);
        for (b.d.after) |byte| used[byte] = true;
        for (b.nodes.items) |*node| for (node.children.items) |edge| {
            used[edge.byte] = true;
        };
        var of_class: [256]u8 = undefined;
        var others: ?u8 = null;
        for (0..256) |i| {
            const byte: u8 = @intCast(i);
            if (!used[byte]) if (others) |class| {
                f.classes[byte] = class;
                continue;
            };
            if (!used[byte]) others = @intCast(f.n_classes);
            f.classes[byte] = @intCast(f.n_classes);
            of_class[f.n_classes] = byte;
            f.n_classes += 1;
        }
        return of_class;
    }

    /// The longest beginning of `after` that ends here.
    fn beforeAfter(b: *const Builder, state: usize, byte: u8) u16 {
        const text = b.d.after;
        var n = state + 1;
        while (n > 0) : (n -= 1) {
            if (text[n - 1] == byte and std.mem.eql(u8, text[0 .. n - 1], text[state + 1 - n .. state])) return @intCast(n);
        }
        return 0;
    }

    fn afterNode(b: *const Builder, node: u32, byte: u8, f: *const FreeText) u16 {
        const n_before = f.outside - root;
        const next = if (node < b.n_text_nodes) b.goTo(node, byte) else b.child(node, byte) orelse return FreeText.dead;
        const part: u32 = switch (b.nodes.items[next].outcome) {
            .state => return @intCast(n_before + next),
            .excluded => return FreeText.dead,
            .part => |part| part,
            .trigger => |trigger| switch (b.behind[trigger]) {
                .part => |part| part,
                .node => |start| return @intCast(n_before + start),
                else => unreachable,
            },
            .node => unreachable,
        };
        return @intCast(f.n_states + part);
    }

    /// From the states from which a part begins back to all that lead there.
    fn findWhereMayBegin(b: *Builder, gpa: Allocator, f: *const FreeText) Error![]bool {
        const may_begin = try gpa.alloc(bool, f.n_states);
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
                    may.* = may.* or next != FreeText.dead and (next >= f.n_states or may_begin[next]);
                }
                has_changed = has_changed or may.*;
            }
        }
        return may_begin;
    }
};
