//! What mask/walk.zig walks an ambiguous grammar with: sets of configurations, as an automaton that is made as the
//! walk continues.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const run_module = @import("run.zig");
const Run = run_module.Run;
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const Parts = @import("parts.zig").Parts;
const spans_module = @import("spans.zig");
const Spans = spans_module.Spans;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const bitmap = @import("../base/bitmap.zig");
const Tokens = @import("../vocabulary/tokens.zig").Tokens;

/// Walks from positions of one grammar, one after the other. Belongs to one thread.
pub const Walker = struct {
    named: *const NamedTokens,
    run: *Run = undefined,
    /// [byte]: its class in the lexer.
    classes: [256]u8,
    n_classes: usize,
    /// [set * n_classes + class]: the set after it, or `unknown`.
    rows: ArrayList(u32) = .empty,
    /// The set at each depth: room for the longest token and one more.
    sets: []u32 = undefined,
    depth: usize = 0,
    /// A walk cannot fail. Once it has, it refuses every byte, and its mask does not count.
    failure: ?run_module.Error = null,
    /// [class]: the least of its bytes, and how many they are.
    firsts: [256]u8 = undefined,
    sizes: [256]u16 = @splat(0),
    /// [lexer state]: what `stayingBytes` tells of the sets with this state alone, or `uncounted`.
    staying: ArrayList(u16) = .empty,
    /// [set]: its loop in `loops`, or `no_loop`; null before it was looked for.
    of_sets: ArrayList(?u32) = .empty,
    loops: ArrayList(Loop) = .empty,
    /// Of all loops, as in `path`.
    tables: ArrayList(u8) = .empty,
    /// Of the span that is wanted.
    path: ArrayList(u8) = .empty,

    const unknown = Run.unknown;
    /// Rows that are made with the one that is wanted.
    const rows_ahead = 15;

    /// A set that many bytes lead back to, at once or by sets that lead to it alone: inside a character of several bytes.
    const Loop = struct {
        sets: [spans_module.states_max]u32,
        n: usize,
        /// Where its table begins: [set * n_classes + class], as spans.zig says.
        table: usize,

        fn stateOf(loop: *const Loop, set: u32) u8 {
            if (set == Run.empty) return spans_module.outside;
            for (loop.sets[0..loop.n], 0..) |known, state| if (known == set) return @intCast(state);
            return spans_module.outside;
        }
    };

    pub fn init(how: Run.How, named: *const NamedTokens) Walker {
        const lexer = &how.program.lexer;
        var w: Walker = .{ .named = named, .classes = undefined, .n_classes = lexer.nClasses() };
        for (&w.classes, lexer.columns) |*class, column| class.* = @intCast(column / lexer.nStates());
        if (how.parts != null or !how.texts.isEmpty()) {
            // Documents and texts tell bytes apart that no lexeme does.
            w.n_classes = 256;
            for (&w.classes, 0..) |*class, byte| class.* = @intCast(byte);
        }
        for (w.classes, 0..) |class, byte| {
            if (w.sizes[class] == 0) w.firsts[class] = @intCast(byte);
            w.sizes[class] += 1;
        }
        return w;
    }

    /// At a set of a run that has begun. `sets`: room for the set at each depth.
    pub fn begin(w: *Walker, run: *Run, sets: []u32, set: u32) Allocator.Error!void {
        w.run = run;
        w.sets = sets;
        w.depth = 0;
        w.failure = null;
        inline for (lists) |name| @field(w, name).clearRetainingCapacity();
        try w.moveTo(set);
    }

    /// Begins at another set.
    pub fn moveTo(w: *Walker, set: u32) Allocator.Error!void {
        std.debug.assert(w.depth == 0);
        w.sets[0] = set;
        try w.grow();
    }

    /// Adds those of some tokens that continue from a set. Tokens that begin alike are neighbours.
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

    pub fn deinit(w: *Walker, gpa: Allocator) void {
        w.staying.deinit(gpa);
        inline for (lists) |name| @field(w, name).deinit(gpa);
    }

    const lists = .{ "rows", "of_sets", "loops", "tables", "path" };

    /// Memory that the walker has.
    pub fn held(w: *const Walker) usize {
        var total: usize = std.mem.sliceAsBytes(w.staying.allocatedSlice()).len;
        inline for (lists) |name| total += std.mem.sliceAsBytes(@field(w, name).allocatedSlice()).len;
        return total;
    }

    /// Adds the tokens of the trie that continue from the set.
    pub fn addTree(w: *Walker, trie: *const ByteTrie, spans: *Spans, words: bitmap.Words) run_module.Error!void {
        std.debug.assert(w.depth == 0);
        const span_min: u32 = @intCast(std.math.clamp(trie.nodes.len / span_share, span_least, span_most));
        w.addBelow(.{ .trie = trie, .spans = spans, .words = words, .span_min = span_min }, 0) catch |e| return w.failure orelse e;
        w.depth = 0;
    }

    const Tree = struct { trie: *const ByteTrie, spans: *Spans, words: bitmap.Words, span_min: u32 };

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
        var spanned: std.StaticBitSet(256) = .empty;
        const end = node + nodes[node].subtree;
        var child = node + 1;
        while (child < end) : (child += nodes[child].subtree) {
            const byte = nodes[child].byte;
            const to = w.setAfter(set, byte);
            if (to == Run.empty or spanned.isSet(w.classes[byte])) continue;
            if (nodes[child].subtree >= child_least or w.isLoop(to)) if (try w.loopOf(to)) |loop| {
                const path = try w.pathInto(set, &w.loops.items[loop]);
                if (try tree.spans.get(tree.trie, node, path)) |span| {
                    for (path.states[0..w.n_classes], 0..) |state, class| if (state != spans_module.outside) spanned.set(class);
                    try w.run.pool.watch.steps(@intCast(1 + (if (span.words) |own| own.len / 8 else span.tokens.len) / nodes_of_step));
                    span.addTokens(tree.words);
                    try w.addExits(tree, w.loops.items[loop].sets[0], span.*);
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
        // The compiler cannot tell that marking leaves these as they are.
        const sets = w.sets;
        const n_classes = w.n_classes;
        var rows = w.rows.items;
        const end = node + nodes[node].subtree;
        var at = node + 1;
        while (at < end) {
            const one = nodes[at];
            const set = sets[one.depth - 1];
            const cell = set * n_classes + w.classes[one.byte];
            var next = rows[cell];
            if (next == unknown) {
                next = w.findFrom(set, cell, one.byte);
                rows = w.rows.items;
            }
            if (next == Run.empty) {
                at += one.subtree;
                continue;
            }
            sets[one.depth] = next;
            marks[one.place] |= one.mark;
            at += 1;
        }
    }

    inline fn setAfter(w: *Walker, set: u32, byte: u8) u32 {
        const at = set * w.n_classes + w.classes[byte];
        const known = w.rows.items[at];
        return if (known != unknown) known else w.findFrom(set, at, byte);
    }

    /// How bytes lead from a set into a loop, and then on in it.
    fn pathInto(w: *Walker, set: u32, loop: *const Loop) run_module.Error!spans_module.Path {
        try w.fillRow(set);
        w.path.clearRetainingCapacity();
        const n = w.n_classes;
        const path = try w.path.addManyAsSlice(w.run.gpa, (1 + loop.n) * n);
        for (path[0..n], w.firsts[0..n]) |*state, byte| state.* = loop.stateOf(w.setAfter(set, byte));
        @memcpy(path[n..], w.tables.items[loop.table..][0 .. loop.n * n]);
        return .{ .classes = &w.classes, .n_classes = w.n_classes, .states = w.path.items };
    }

    /// Finds the sets after all bytes at once, where that is less work.
    fn fillRow(w: *Walker, set: u32) run_module.Error!void {
        if (!w.run.ends_anywhere) return;
        try w.run.stepAll(set, w.firsts[0..w.n_classes], w.rows.items[set * w.n_classes ..][0..w.n_classes]);
        try w.grow();
    }

    const uncounted = std.math.maxInt(u16);
    const no_loop = std.math.maxInt(u32);
    /// So many bytes lead back to a set at once.
    const loop_least = 8;
    /// Loops are looked for at children with so many nodes.
    const child_least = 64;

    fn isLoop(w: *const Walker, set: u32) bool {
        return set < w.of_sets.items.len and w.of_sets.items[set] orelse no_loop != no_loop;
    }

    fn loopOf(w: *Walker, set: u32) run_module.Error!?u32 {
        const n = w.of_sets.items.len;
        if (set >= n) try w.of_sets.appendNTimes(w.run.gpa, null, set + 1 - n);
        const found = w.of_sets.items[set] orelse try w.findLoop(set);
        w.of_sets.items[set] = found;
        return if (found == no_loop) null else found;
    }

    fn findLoop(w: *Walker, set: u32) run_module.Error!u32 {
        if (try w.stayingBytes(set) < loop_least) return no_loop;
        try w.fillRow(set);
        var loop: Loop = .{ .sets = undefined, .n = 1, .table = w.tables.items.len };
        loop.sets[0] = set;
        if (w.run.ends_anywhere) for (w.firsts[0..w.n_classes]) |byte| {
            if (byte >= 0x80 and w.setAfter(set, byte) != Run.empty) _ = try w.leadsBack(&loop, w.setAfter(set, byte), 3);
        };
        var n_back: usize = 0;
        for (loop.sets[0..loop.n], 0..) |from, state| for (w.firsts[0..w.n_classes], w.sizes[0..w.n_classes]) |byte, size| {
            // Other bytes are not asked for where each takes a step of its own.
            const is_asked = w.run.ends_anywhere or w.run.mayStay(set, byte);
            const to = if (is_asked) loop.stateOf(w.setAfter(from, byte)) else spans_module.outside;
            if (state == 0 and to == 0) n_back += size;
            try w.tables.append(w.run.gpa, to);
        };
        if (n_back < loop_least) return no_loop;
        try w.loops.append(w.run.gpa, loop);
        return @intCast(w.loops.items.len - 1);
    }

    /// So many bytes seem to lead back to the set.
    fn stayingBytes(w: *Walker, set: u32) Allocator.Error!u16 {
        const state = w.run.onlyState(set) orelse return w.countStaying(set);
        if (w.staying.items.len == 0) try w.staying.appendNTimes(w.run.gpa, uncounted, w.run.program.lexer.nStates());
        const known = &w.staying.items[state];
        if (known.* == uncounted) known.* = w.countStaying(set);
        return known.*;
    }

    fn countStaying(w: *const Walker, set: u32) u16 {
        var n: u16 = 0;
        for (w.firsts[0..w.n_classes], w.sizes[0..w.n_classes]) |byte, size| {
            if (w.run.mayStay(set, byte)) n += size;
        }
        return n;
    }

    /// Whether all bytes after a set lead back to a loop, within `n_max` of them; then it is put there.
    fn leadsBack(w: *Walker, loop: *Loop, set: u32, n_max: usize) run_module.Error!bool {
        if (loop.stateOf(set) != spans_module.outside) return true;
        const n = loop.n;
        if (n_max == 0 or n == loop.sets.len) return false;
        loop.sets[n] = set;
        loop.n += 1;
        try w.fillRow(set);
        for (w.firsts[0..w.n_classes]) |byte| {
            const to = w.setAfter(set, byte);
            if (to == Run.empty or try w.leadsBack(loop, to, n_max - 1)) continue;
            loop.n = n;
            return false;
        }
        return true;
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

    noinline fn findFrom(w: *Walker, set: u32, at: usize, byte: u8) u32 {
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
        if (n > w.rows.items.len) try w.rows.appendNTimes(w.run.gpa, unknown, n - w.rows.items.len + rows_ahead * w.n_classes);
    }
};
