//! Masks of a grammar that is written out: selection from tables, and walking, against trying each token.

const std = @import("std");
const gpa = std.testing.allocator;
const Pool = @import("../language/position.zig").Pool;
const Position = @import("../language/position.zig").Position;
const Mask = @import("../mask/mask.zig").Mask;
const Scratch = @import("../mask/scratch.zig").Scratch;
const ScratchPool = @import("../mask/scratch.zig").ScratchPool;
const walk = @import("../mask/walk.zig").walk;
const bitmap = @import("../base/bitmap.zig");
const Grammar = @import("grammar.zig").Grammar;
const Parser = @import("parser.zig").Parser(2);
const Selector = @import("selection.zig").Selector(2);
const Walker = @import("walker.zig").Walker(2);
const brackets = @import("brackets_test.zig");
const lexer = brackets.lexer;
const state = brackets.state;

const Case = struct {
    /// Of the lexer; 0: no lexeme is pending.
    pending: u32,
    stack: []const u16,
    legal: []const i32,
    can_stop: bool = false,
    least_depth: u32,
};

const end_token = brackets.end_token;
// Tokens: 0 `(`  1 `)`  2 `x`  3 ` `  4 `((`  5 `x)`  6 `))`  7 `xx`  8 `x) )`  9 `()`  10 `(`  11 `(x)`  12 ` (`  13 `x x`
const cases = [_]Case{
    // At the start no bracket is open.
    .{ .pending = 0, .stack = &.{state.start}, .legal = &.{ 0, 2, 3, 4, 7, 10, 11, 12 }, .least_depth = 0 },
    .{ .pending = lexer.space, .stack = &.{state.start}, .legal = &.{ 0, 2, 3, 4, 7, 10, 11, 12 }, .least_depth = 0 },
    // A bracket is pending: no token closes it and two more, so that nothing below the top is looked at.
    .{ .pending = lexer.open, .stack = &.{state.start}, .legal = &.{ 0, 2, 3, 4, 5, 7, 10, 11, 12 }, .least_depth = 0 },
    .{
        .pending = lexer.open,
        .stack = &.{ state.start, state.open, state.open },
        .legal = &.{ 0, 2, 3, 4, 5, 7, 8, 10, 11, 12 },
        .least_depth = 2,
    },
    // `x` is pending: it may continue, or as many brackets be closed as are open.
    .{ .pending = lexer.x, .stack = &.{state.start}, .legal = &.{ 2, 3, 7, end_token }, .can_stop = true, .least_depth = 0 },
    .{ .pending = lexer.x, .stack = &.{ state.start, state.open }, .legal = &.{ 1, 2, 3, 5, 7 }, .least_depth = 0 },
    .{
        .pending = lexer.x,
        .stack = &.{ state.start, state.open, state.open },
        .legal = &.{ 1, 2, 3, 5, 6, 7, 8 },
        .least_depth = 1,
    },
    // After `x` and a space, no `x`.
    .{ .pending = lexer.space, .stack = &.{ state.start, state.x }, .legal = &.{ 3, end_token }, .can_stop = true, .least_depth = 0 },
    .{
        .pending = lexer.close,
        .stack = &.{ state.start, state.open, state.open, state.inner },
        .legal = &.{ 1, 3 },
        .least_depth = 0,
    },
};

const Fixture = struct {
    base: *brackets.Fixture,
    grammar: Grammar,
    scratches: ScratchPool,
    scratch: *Scratch,
    pool: Pool = .{},

    fn create() !*Fixture {
        const f = try gpa.create(Fixture);
        const base: *brackets.Fixture = try .create(brackets.vocabulary);
        f.* = .{
            .base = base,
            .grammar = try .init(gpa, base.program),
            .scratches = .{ .gpa = gpa, .trie = &base.trie },
            .scratch = undefined,
        };
        f.scratch = try f.scratches.take();
        return f;
    }

    fn destroy(f: *Fixture) void {
        f.scratches.giveBack(f.scratch);
        f.scratches.deinit();
        f.pool.nodes.deinit(gpa);
        f.grammar.deinit(gpa, .mapped);
        f.base.destroy();
        gpa.destroy(f);
    }

    fn position(f: *Fixture, case: Case) !Position {
        return .{ .state = case.pending, .stack = try brackets.stackOf(&f.pool, case.stack) };
    }

    fn expectMask(f: *Fixture, case: Case, least_depth: u32) !void {
        const at = try f.position(case);
        const n_nodes = f.pool.nodes.items.len;
        try std.testing.expectEqual(least_depth, try f.grammar.computeMask(&f.base.context, &f.pool, at, f.scratch));
        try std.testing.expectEqualSlices(i32, case.legal, f.scratch.mask.ids);
        try std.testing.expectEqual(case.legal.len, f.scratch.mask.n_tokens);
        try std.testing.expectEqual(case.can_stop, f.scratch.mask.can_stop);
        try std.testing.expectEqual(n_nodes, f.pool.nodes.items.len);
    }
};

test "what is legal is what can be advanced over" {
    const f: *Fixture = try .create();
    defer f.destroy();
    for (cases, 0..) |case, i| {
        errdefer std.debug.print("case {d}\n", .{i});
        const at = try f.position(case);
        for (brackets.tokens[0..end_token], 0..) |text, token| {
            const after = try f.grammar.advance(gpa, &f.pool, at, text);
            try std.testing.expectEqual(std.mem.findScalar(i32, case.legal, @intCast(token)) != null, after != null);
        }
        try std.testing.expectEqual(case.can_stop, try f.grammar.canStop(gpa, &f.pool, at));
    }
}

test "masks from tables look at what decides" {
    const f: *Fixture = try .create();
    defer f.destroy();
    // Twice: what was learnt the first time is reused the second time, and nothing else changes.
    for (0..2) |_| for (cases, 0..) |case, i| {
        errdefer std.debug.print("case {d}\n", .{i});
        try f.expectMask(case, case.least_depth);
    };
    const selector = f.scratch.attachmentOf(Selector).?;
    // After `(` what `(x)` needs is known whatever is below; after `x` it is not.
    try std.testing.expect(selector.statics.items.len > 0);
    try std.testing.expect(selector.known.n > selector.statics.items.len);
    try std.testing.expectEqual(0, selector.parser.levels.items.len);
}

test "masks by walking are the same, and count the whole stack" {
    const f: *Fixture = try .create();
    defer f.destroy();
    f.base.account.bytes_max = 0;
    for (cases, 0..) |case, i| {
        errdefer std.debug.print("case {d}\n", .{i});
        try f.expectMask(case, 0);
    }
    try std.testing.expectEqual(0, f.grammar.tables.count());
}

test "a walker goes back to where it was" {
    const f: *Fixture = try .create();
    defer f.destroy();
    var parser: Parser = .{ .gpa = gpa, .program = &f.base.program, .pool = &f.pool };
    defer parser.deinit();
    var places: [8]Walker.Place = undefined;
    var w: Walker = try .init(&parser, &places, 0, .initial);
    defer w.deinit();
    for ("(x ") |byte| try std.testing.expect(w.tryPushByte(byte));
    for ("(x") |byte| try std.testing.expect(!w.tryPushByte(byte));
    try std.testing.expectEqual(3, w.depth);
    w.popBytes(2);
    for ("(x))") |byte| try std.testing.expect(w.tryPushByte(byte));
    try std.testing.expect(!w.tryPushByte(')'));
    w.popBytes(5);
    try std.testing.expectEqual(0, w.depth);
    try std.testing.expect(!w.tryPushByte(')'));
}

test "a walker that is out of memory says so" {
    const f: *Fixture = try .create();
    defer f.destroy();
    var failing: std.testing.FailingAllocator = .init(gpa, .{});
    var parser: Parser = .{ .gpa = failing.allocator(), .program = &f.base.program, .pool = &f.pool };
    defer parser.deinit();
    var places: [8]Walker.Place = undefined;
    var w: Walker = try .init(&parser, &places, lexer.x, .initial);
    defer w.deinit();
    try std.testing.expect(w.tryPushByte('x'));
    failing.fail_index = failing.alloc_index;
    try std.testing.expect(!w.tryPushByte(' '));
    try std.testing.expectEqual(error.OutOfMemory, w.failure.?);
}
