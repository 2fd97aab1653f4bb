//! A grammar written out as tables, as the tests of this folder need it:
//!
//!     S: "(" S ")" | X        X: /x+/        spaces are skipped
//!
//! with merged lookaheads: after `x` and after `)` the tables say that `)` and the end may come, and the
//! stack tells which.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const position = @import("../language/position.zig");
const Pool = position.Pool;
const Stack = position.Stack;
const Account = @import("../mask/cache.zig").Account;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Program = @import("program.zig").Program;
const Source = @import("signature.zig").Source;

pub const open = 0;
pub const close = 1;
pub const x = 2;
pub const space = 3;
pub const end = 4;
const S = 5;
const X = 6;
const n_symbols = 7;

/// States of the lexer, and match lists: those of a state's lexeme are the state less 1.
pub const lexer = struct {
    pub const start = 1;
    pub const open = 2;
    pub const close = 3;
    pub const x = 4;
    pub const space = 5;
    pub const n = 6;
};

/// States of the parser, by what has been taken.
pub const state = struct {
    pub const start = 0;
    pub const open = 1;
    pub const x = 2;
    pub const all = 3;
    pub const X = 4;
    pub const inner = 5;
    pub const close = 6;
    pub const ended = 7;
    pub const n = 8;
};

/// Of terminals.
pub fn setOf(terminals: []const u16) [2]u64 {
    var set: [2]u64 = @splat(0);
    for (terminals) |terminal| set[0] |= @as(u64, 1) << @intCast(terminal);
    return set;
}

const any: [2]u64 = @splat(std.math.maxInt(u64));
const shifts = [state.n][2]u64{
    setOf(&.{ open, x }), setOf(&.{ open, x }), setOf(&.{}), setOf(&.{end}),
    setOf(&.{}),          setOf(&.{close}),     setOf(&.{}), setOf(&.{}),
};
const lookaheads: [3][2]u64 = @splat(setOf(&.{ close, end }));
const reach_sets = [lexer.n][2]u64{
    setOf(&.{}), setOf(&.{ open, close, x, space }), setOf(&.{open}), setOf(&.{close}), setOf(&.{x}), setOf(&.{space}),
};
const follows = [5][2]u64{ any, setOf(&.{ open, x }), setOf(&.{ close, end }), setOf(&.{ close, end }), any };
const skip = setOf(&.{space});

const transitions = table: {
    var t: [state.n * n_symbols]u16 = @splat(0);
    for ([_]u16{ state.start, state.open }, [_]u16{ state.all, state.inner }) |from, to| {
        t[from * n_symbols + open] = state.open;
        t[from * n_symbols + x] = state.x;
        t[from * n_symbols + X] = state.X;
        t[from * n_symbols + S] = to;
    }
    t[state.all * n_symbols + end] = state.ended;
    t[state.inner * n_symbols + close] = state.close;
    break :table t;
};
const displacements = table: {
    var d: [state.n]u32 = undefined;
    for (&d, 0..) |*to, i| to.* = i * n_symbols;
    break :table d;
};
const owners = table: {
    var o: [transitions.len]u16 = undefined;
    for (&o, transitions, 0..) |*owner, target, i| owner.* = if (target == 0) Program.none else i / n_symbols;
    break :table o;
};
const follows_reach = table: {
    var f: [5 * lexer.n]bool = undefined;
    for (&f, 0..) |*can, i| {
        const reach = reach_sets[i % lexer.n][0];
        can.* = reach & (skip[0] | follows[i / lexer.n][0]) != 0;
    }
    break :table f;
};

var lexer_transitions = table: {
    var t: [5 * lexer.n]u16 = @splat(0);
    for ([_]u16{ lexer.open, lexer.close, lexer.x, lexer.space }, 1..) |to, class| t[class * lexer.n + lexer.start] = to;
    t[3 * lexer.n + lexer.x] = lexer.x;
    break :table t;
};
var matches = [lexer.n]u16{ 0, 0, 1, 2, 3, 4 };
var match_offsets = [_]u32{ 0, 0, 1, 2, 3, 4 };
var match_patterns = [_]u16{ open, close, x, space };
var reaches = [lexer.n]u16{ 0, 1, 2, 3, 4, 5 };
var reach_words: [2 * lexer.n]u64 = @bitCast(reach_sets);

pub const program: Program = .{
    .width = 2,
    .n_terminals = end,
    .n_productions = 3,
    .lexer = .{
        .columns = byBytes(u32, 0, .{ lexer.n, 2 * lexer.n, 3 * lexer.n, 4 * lexer.n }),
        .transitions = &lexer_transitions,
        .matches = &matches,
        .match_offsets = &match_offsets,
        .match_patterns = &match_patterns,
        .reaches = &reaches,
        .reach_sets = &reach_words,
        .words = 2,
    },
    .shift_sets = flat(&shifts),
    .reduction_offsets = &.{ 0, 0, 0, 1, 1, 2, 2, 3, 3 },
    .reductions = &.{ .{ .symbol = X, .length = 1 }, .{ .symbol = S, .length = 1 }, .{ .symbol = S, .length = 3 } },
    .reduction_sets = flat(&lookaheads),
    .displacements = &displacements,
    .transitions = &transitions,
    .owners = &owners,
    .skip = &skip,
    .first_skip = &skip,
    .separators = &skip,
    .parted = &.{},
    .lazy = &@as([skip.len]u64, @splat(0)),
    .reaches_skip = &.{ false, true, false, false, false, true },
    .is_skip = &.{ false, false, false, false, true },
    .follows = flat(&follows),
    .follows_reach = &follows_reach,
    .first_classes = byBytes(u16, Program.none, .{ 0, 1, 2, 3 }),
    .n_shards = 1,
    .enders = &.{ 0b1111, 0, 0b1111, 0b1111, 0b1011, 0b1111 },
};

fn flat(sets: []const [2]u64) []const u64 {
    return @as([*]const u64, @ptrCast(sets.ptr))[0 .. 2 * sets.len];
}

/// The values of `(`, `)`, `x` and the space.
fn byBytes(comptime T: type, other: T, values: [4]T) [256]T {
    var all: [256]T = @splat(other);
    for ("()x ", values) |byte, value| all[byte] = value;
    return all;
}

/// A stack of these states, from the bottom.
pub fn stackOf(pool: *Pool, states: []const u16) !Stack {
    var stack: Stack = .{ .below = position.bottom, .top = states[0] };
    for (states[1..]) |top| stack = .{ .below = try pool.push(std.testing.allocator, stack), .top = top };
    return stack;
}

/// From the bottom.
pub fn expectStates(expected: []const u16, pool: *const Pool, stack: Stack) !void {
    try std.testing.expectEqual(expected.len, pool.depthOf(stack) + 1);
    var at = stack;
    var i = expected.len;
    while (i > 0) {
        i -= 1;
        try std.testing.expectEqual(expected[i], at.top);
        if (i == 0) break;
        const node = pool.nodes.items[at.below];
        at = .{ .below = node.parent, .top = @intCast(node.state) };
    }
}

/// By number. The last one ends the text.
pub const tokens = [_][]const u8{ "(", ")", "x", " ", "((", "x)", "))", "xx", "x) )", "()", "(", "(x)", " (", "x x", "" };
pub const end_token = tokens.len - 1;
pub const vocabulary: Tokens = vocabularyOf(&tokens);

pub fn vocabularyOf(comptime texts: []const []const u8) Tokens {
    comptime {
        var bytes: []const u8 = "";
        var offsets: [texts.len + 1]u64 = undefined;
        for (texts, 0..) |text, i| {
            offsets[i] = bytes.len;
            bytes = bytes ++ text;
        }
        offsets[texts.len] = bytes.len;
        var flags: [texts.len]Flags = @splat(.{});
        flags[texts.len - 1].end_of_generation = true;
        const last_offsets = offsets;
        const last_flags = flags;
        return .{ .n = texts.len, .bytes = bytes, .offsets = &last_offsets, .flags = &last_flags };
    }
}

/// What tables are built from.
pub const Fixture = struct {
    tokens: Tokens,
    program: Program = program,
    trie: ByteTrie,
    account: Account = .{ .bytes_max = 1 << 20 },
    context: MaskContext = undefined,

    pub fn create(from: Tokens) !*Fixture {
        const gpa = std.testing.allocator;
        var diag: Diagnostic = .{};
        const f = try gpa.create(Fixture);
        f.* = .{ .tokens = from, .trie = try .build(gpa, &from, &diag) };
        f.context = .{ .gpa = gpa, .tokens = &f.tokens, .trie = &f.trie, .account = &f.account };
        return f;
    }

    pub fn destroy(f: *Fixture) void {
        f.trie.deinit(std.testing.allocator);
        std.testing.allocator.destroy(f);
    }

    pub fn source(f: *const Fixture) Source {
        return .{ .program = &f.program, .context = &f.context };
    }
};
