//! What mask/walk.zig walks an ambiguous grammar with: sets of configurations, as an automaton that is made as the
//! walk goes on.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const run_module = @import("run.zig");
const Run = run_module.Run;
const NamedTokens = @import("named_tokens.zig").NamedTokens;
const Parts = @import("parts.zig").Parts;
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
        const next = w.step(byte) catch |e| {
            w.failure = e;
            return Run.empty;
        };
        w.rows.items[at] = next;
        return next;
    }

    fn step(w: *Walker, byte: u8) run_module.Error!u32 {
        if (w.failure) |failed| return failed;
        if (byte >= Parts.lead) return Run.empty;
        const next = try w.run.step(w.sets[w.depth], byte);
        try w.grow();
        return next;
    }

    /// A row for each set.
    fn grow(w: *Walker) Allocator.Error!void {
        const n = w.run.sets.items.len * w.n_classes;
        if (n > w.rows.items.len) try w.rows.appendNTimes(w.run.gpa, unknown, n - w.rows.items.len);
    }
};
