//! The parser on stacks of a grammar that is written out: what it finds, and how deep it looks for it.

const std = @import("std");
const gpa = std.testing.allocator;
const Pool = @import("../language/position.zig").Pool;
const Stack = @import("../language/position.zig").Stack;
const program_module = @import("program.zig");
const Parser = @import("parser.zig").Parser(2);
const brackets = @import("brackets_test.zig");
const lexer = brackets.lexer;
const state = brackets.state;
const setOf = brackets.setOf;
const stackOf = brackets.stackOf;

const all_terminals = setOf(&.{ brackets.open, brackets.close, brackets.x, brackets.end });

const Case = struct {
    /// From the bottom.
    stack: []const u16,
    wanted: [2]u64 = all_terminals,
    viable: []const u16,
    /// Where a terminal that is viable is shifted.
    shifting: []const u16 = &.{},
    least_depth: u32,
};

const cases = [_]Case{
    // Only shifts.
    .{ .stack = &.{state.start}, .viable = &.{ brackets.open, brackets.x }, .shifting = &.{state.start}, .least_depth = 0 },
    .{
        .stack = &.{ state.start, state.open },
        .viable = &.{ brackets.open, brackets.x },
        .shifting = &.{ state.start, state.open },
        .least_depth = 1,
    },
    // Unit reductions: the state below tells what follows.
    .{ .stack = &.{ state.start, state.x }, .viable = &.{brackets.end}, .shifting = &.{ state.start, state.all }, .least_depth = 0 },
    .{
        .stack = &.{ state.start, state.open, state.open, state.x },
        .viable = &.{brackets.close},
        .shifting = &.{ state.start, state.open, state.open, state.inner },
        .least_depth = 2,
    },
    // No reduction is made before what is wanted: nothing below is looked at.
    .{
        .stack = &.{ state.start, state.open, state.open, state.x },
        .wanted = setOf(&.{ brackets.open, brackets.x }),
        .viable = &.{},
        .least_depth = 3,
    },
    // A reduction of three uncovers a state.
    .{
        .stack = &.{ state.start, state.open, state.inner, state.close },
        .viable = &.{brackets.end},
        .shifting = &.{ state.start, state.all },
        .least_depth = 0,
    },
    .{
        .stack = &.{ state.start, state.open, state.open, state.inner, state.close },
        .viable = &.{brackets.close},
        .shifting = &.{ state.start, state.open, state.inner },
        .least_depth = 1,
    },
    .{
        .stack = &.{ state.start, state.open, state.open, state.inner, state.close },
        .wanted = setOf(&.{brackets.open}),
        .viable = &.{},
        .least_depth = 4,
    },
    .{ .stack = &.{ state.start, state.all, state.ended }, .viable = &.{}, .least_depth = 2 },
};

test "what can be shifted, where, and how deep that is looked for" {
    var pool: Pool = .{};
    defer pool.nodes.deinit(gpa);
    var parser: Parser = .{ .gpa = gpa, .program = &brackets.program, .pool = &pool };
    defer parser.deinit();
    for (cases, 0..) |case, i| {
        errdefer std.debug.print("case {d}\n", .{i});
        const stack = try stackOf(&pool, case.stack);
        parser.begin(stack);
        const viable = try parser.viable(stack, &case.wanted);
        try std.testing.expectEqual(setOf(case.viable), viable);
        try std.testing.expectEqual(case.least_depth, parser.least_depth);
        for (case.viable) |terminal| try brackets.expectStates(case.shifting, &pool, parser.shifting(0, terminal));
        // From the cache of chains: the same.
        parser.begin(stack);
        try std.testing.expectEqual(viable, try parser.viable(stack, &case.wanted));
        try std.testing.expectEqual(case.least_depth, parser.least_depth);
    }
}

test "one terminal at a time: the same, and looked at as deep" {
    var pool: Pool = .{};
    defer pool.nodes.deinit(gpa);
    var parser: Parser = .{ .gpa = gpa, .program = &brackets.program, .pool = &pool };
    defer parser.deinit();
    for (cases, 0..) |case, i| for (0..brackets.end + 1) |number| {
        errdefer std.debug.print("case {d}, terminal {d}\n", .{ i, number });
        const terminal: u16 = @intCast(number);
        if (!program_module.has(&case.wanted, terminal)) continue;
        const stack = try stackOf(&pool, case.stack);
        const is_viable = std.mem.findScalar(u16, case.viable, terminal) != null;
        parser.begin(stack);
        const after = try parser.take(stack, terminal);
        try std.testing.expectEqual(is_viable, after != null);
        try std.testing.expect(parser.least_depth >= case.least_depth);
        if (is_viable) try std.testing.expectEqual(case.least_depth, parser.least_depth);
        if (after) |stack_after| {
            const depth_after = pool.depthOf(stack_after);
            try brackets.expectStates(case.shifting, &pool, .{
                .below = pool.nodes.items[stack_after.below].parent,
                .top = @intCast(pool.nodes.items[stack_after.below].state),
            });
            try std.testing.expectEqual(case.shifting.len, depth_after);
        }
        parser.begin(stack);
        try std.testing.expectEqual(is_viable, try parser.anyViable(stack, &setOf(&.{terminal})));
        try std.testing.expectEqual(0, parser.levels.items.len);
    };
}

test "the pending lexeme ends as what the stack takes, or is ignored" {
    var pool: Pool = .{};
    defer pool.nodes.deinit(gpa);
    var parser: Parser = .{ .gpa = gpa, .program = &brackets.program, .pool = &pool };
    defer parser.deinit();
    const stack = try stackOf(&pool, &.{ state.start, state.open });
    try std.testing.expectEqual(stack, try parser.endLexeme(0, stack));
    try std.testing.expectEqual(stack, try parser.endLexeme(lexer.space, stack));
    try std.testing.expectEqual(null, try parser.endLexeme(lexer.close, stack));
    try brackets.expectStates(&.{ state.start, state.open, state.x }, &pool, (try parser.endLexeme(lexer.x, stack)).?);
    try std.testing.expect(!try parser.canEnd(lexer.x, stack));
    try std.testing.expect(try parser.canEnd(lexer.x, .initial));
    try std.testing.expect(try parser.canEnd(lexer.close, try stackOf(&pool, &.{ state.start, state.open, state.inner })));
    try std.testing.expect(!try parser.canEnd(0, .initial));
}
