//! What mask/walk.zig walks an ambiguous grammar with: sets of configurations, as an automaton that is made as the
//! walk goes on.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const run_module = @import("run.zig");
const Run = run_module.Run;
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const Parts = @import("parts.zig").Parts;
const spans_module = @import("spans.zig");
const Spans = spans_module.Spans;
const Bytes = spans_module.Bytes;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const bitmap = @import("../base/bitmap.zig");
const Tokens = @import("../vocabulary/tokens.zig").Tokens;

/// A walk from one position. Belongs to one thread.
pub const Walker = struct {
    run: *Run,
    named: *const NamedTokens,
    /// [byte]: its class in the lexer.
    classes: [256]u8,
    n_classes: usize,
    /// [set * n_classes + class]: the set after it, or `unknown`.
    rows: ArrayList(u32) = .empty,
    /// The set at each depth: room for the longest token and one more.
    sets: []u32,
    depth: usize = 0,
    /// A walk cannot fail. Once it has, it refuses every byte, and its mask does not count.
    failure: ?run_module.Error = null,
    /// [class]: its bytes.
    alike: [256]Bytes = undefined,
    /// [set]: the bytes that it stays at, if they are many; else none.
    loops: ArrayList(?Bytes) = .empty,

    const unknown = std.math.maxInt(u32);

    pub fn init(run: *Run, named: *const NamedTokens, sets: []u32, set: u32) Allocator.Error!Walker {
        const lexer = &run.program.lexer;
        var w: Walker = .{ .run = run, .named = named, .sets = sets, .classes = undefined, .n_classes = lexer.nClasses() };
        for (&w.classes, lexer.columns) |*class, column| class.* = @intCast(column / lexer.nStates());
        if (run.parts != null) {
            // Documents tell bytes apart that no lexeme does.
            w.n_classes = 256;
            for (&w.classes, 0..) |*class, byte| class.* = @intCast(byte);
        }
        try w.moveTo(set);
        return w;
    }

    /// Begins at another set.
    pub fn moveTo(w: *Walker, set: u32) Allocator.Error!void {
        std.debug.assert(w.depth == 0);
        w.sets[0] = set;
        try w.grow();
    }

    /// Adds those of some tokens that go on from a set. Tokens that begin alike are neighbours.
    pub fn addAll(w: *Walker, set: u32, some: []const u32, tokens: *const Tokens, words: []u32) Allocator.Error!void {
        try w.moveTo(set);
        defer w.popBytes(w.depth);
        var before: []const u8 = "";
        for (some) |token| {
            if (bitmap.has(words, token)) continue;
            const text = tokens.bytesOf(token);
            const n_shared = std.mem.findDiff(u8, before, text) orelse text.len;
            // Where the one before it was refused, this one is too if it has the same byte there.
            if (n_shared <= w.depth) {
                w.popBytes(w.depth - n_shared);
                while (w.depth < text.len and w.tryPushByte(text[w.depth])) {}
            }
            before = text;
            if (w.depth == text.len) bitmap.set(words, token);
        }
    }

    pub fn deinit(w: *Walker) void {
        w.rows.deinit(w.run.gpa);
        w.loops.deinit(w.run.gpa);
    }

    /// Adds the tokens of the trie that go on from the set.
    pub fn addTree(w: *Walker, trie: *const ByteTrie, spans: *Spans, words: []u32) run_module.Error!void {
        std.debug.assert(w.depth == 0);
        @memset(w.alike[0..w.n_classes], .empty);
        for (w.classes, 0..) |class, byte| w.alike[class].set(byte);
        const span_min: u32 = @intCast(std.math.clamp(trie.nodes.len / span_share, span_least, span_most));
        w.addBelow(.{ .trie = trie, .spans = spans, .words = words, .span_min = span_min }, 0) catch |e| return w.failure orelse e;
        w.depth = 0;
    }

    const Tree = struct { trie: *const ByteTrie, spans: *Spans, words: []u32, span_min: u32 };

    /// Subtrees with fewer nodes are walked through: a share of all, within these bounds.
    const span_share = 512;
    const span_least = 16;
    const span_most = 128;
    /// That the watch counts as a step.
    const nodes_of_step = 16;

    /// Adds the tokens below a node, whose set is that at its depth.
    fn addBelow(w: *Walker, tree: Tree, node: u32) run_module.Error!void {
        const nodes = tree.trie.nodes;
        try w.run.pool.watch.steps(nodes[node].subtree / nodes_of_step + 1);
        w.depth = nodes[node].depth;
        const set = w.sets[w.depth];
        if (nodes[node].subtree < tree.span_min) return w.walkBelow(tree, node);
        var spanned: Bytes = .empty;
        const end = node + nodes[node].subtree;
        var child = node + 1;
        while (child < end) : (child += nodes[child].subtree) {
            const byte = nodes[child].byte;
            const to = w.setAfter(set, byte);
            if (to == Run.empty or spanned.isSet(byte)) continue;
            if (nodes[child].subtree >= tree.span_min) if (try w.loopOf(to)) |stay| {
                const first = w.bytesTo(set, to);
                if (try tree.spans.get(tree.trie, node, first, stay)) |span| {
                    spanned.setUnion(first);
                    try w.run.pool.watch.steps(@intCast(1 + span.tokens.len / nodes_of_step));
                    span.addTokens(tree.words);
                    try w.addExits(tree, to, span.*);
                    continue;
                }
            };
            try w.enter(tree, child, to);
        }
    }

    fn enter(w: *Walker, tree: Tree, node: u32, set: u32) run_module.Error!void {
        const one = tree.trie.nodes[node];
        if (one.token()) |token| bitmap.set(tree.words, token);
        if (one.isLeaf()) return;
        w.sets[one.depth] = set;
        return w.addBelow(tree, node);
    }

    fn addExits(w: *Walker, tree: Tree, set: u32, span: spans_module.Span) run_module.Error!void {
        var from: u32 = 0;
        for (span.ends) |end| {
            const to = w.setAfter(set, end.byte);
            if (to != Run.empty) for (span.exits[from..end.to]) |exit| try w.enter(tree, exit, to);
            from = end.to;
        }
    }

    /// As mask/walk.zig, below a node.
    fn walkBelow(w: *Walker, tree: Tree, node: u32) void {
        const nodes = tree.trie.nodes;
        const marks = std.mem.sliceAsBytes(tree.words);
        const end = node + nodes[node].subtree;
        var at = node + 1;
        while (at < end) : (at += 1) {
            const one = nodes[at];
            w.depth = one.depth - 1;
            if (w.tryPushByte(one.byte)) {
                marks[one.place] |= one.mark;
            } else at += one.subtree - 1;
        }
    }

    fn setAfter(w: *Walker, set: u32, byte: u8) u32 {
        const at = set * w.n_classes + w.classes[byte];
        const known = w.rows.items[at];
        return if (known != unknown) known else w.findFrom(set, at, byte);
    }

    /// The bytes that lead from one set to another.
    fn bytesTo(w: *Walker, set: u32, to: u32) Bytes {
        var bytes: Bytes = .empty;
        for (w.alike[0..w.n_classes]) |*class| {
            const byte = class.findFirstSet() orelse continue;
            if (w.setAfter(set, @intCast(byte)) == to) bytes.setUnion(class.*);
        }
        return bytes;
    }

    /// The bytes that a set stays at, if they are many.
    fn loopOf(w: *Walker, set: u32) Allocator.Error!?Bytes {
        const n = w.loops.items.len;
        if (set >= n) try w.loops.appendNTimes(w.run.gpa, null, set + 1 - n);
        const known = w.loops.items[set];
        const stay = known orelse w.bytesBackTo(set);
        if (known == null) w.loops.items[set] = if (stay.count() >= loop_least) stay else .empty;
        return if (stay.count() >= loop_least) stay else null;
    }

    const loop_least = 8;

    /// The bytes that lead from a set to itself, or most of them.
    fn bytesBackTo(w: *Walker, set: u32) Bytes {
        var bytes: Bytes = .empty;
        for (w.alike[0..w.n_classes]) |*class| {
            const byte = class.findFirstSet() orelse continue;
            if (w.run.mayStay(set, @intCast(byte)) and w.setAfter(set, @intCast(byte)) == set) bytes.setUnion(class.*);
        }
        return bytes;
    }

    pub inline fn tryPushByte(w: *Walker, byte: u8) bool {
        const at = w.sets[w.depth] * w.n_classes + w.classes[byte];
        const known = w.rows.items[at];
        const next = if (known != unknown) known else w.find(at, byte);
        if (next == Run.empty) return false;
        w.depth += 1;
        w.sets[w.depth] = next;
        return true;
    }

    pub inline fn popBytes(w: *Walker, n: usize) void {
        w.depth -= n;
    }

    /// Adds the tokens that the grammar names and that may come next. At the position.
    pub fn addNamed(w: *Walker, tokens: *const Tokens, words: []u32) void {
        for (0..w.named.n_classes) |i| {
            const class: u8 = @intCast(i + 1);
            const after = w.run.stepToken(w.sets[0], class) catch |e| {
                w.failure = e;
                return;
            };
            if (after != Run.empty) w.named.addClass(class, tokens, words);
        }
    }

    noinline fn find(w: *Walker, at: usize, byte: u8) u32 {
        return w.findFrom(w.sets[w.depth], at, byte);
    }

    fn findFrom(w: *Walker, set: u32, at: usize, byte: u8) u32 {
        const next = w.step(set, byte) catch |e| {
            w.failure = e;
            return Run.empty;
        };
        w.rows.items[at] = next;
        return next;
    }

    fn step(w: *Walker, set: u32, byte: u8) run_module.Error!u32 {
        if (w.failure) |failed| return failed;
        if (byte >= Parts.lead) return Run.empty;
        const next = try w.run.step(set, byte);
        try w.grow();
        return next;
    }

    /// A row for each set.
    fn grow(w: *Walker) Allocator.Error!void {
        const n = w.run.sets.items.len * w.n_classes;
        if (n > w.rows.items.len) try w.rows.appendNTimes(w.run.gpa, unknown, n - w.rows.items.len);
    }
};
