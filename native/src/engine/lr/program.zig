//! A compiled grammar: the lexer's automaton and the parser's tables, and what finding masks needs of
//! both. Immutable. Terminals are the lexer's patterns, and the end of input is the one behind them. The
//! parser's symbols are these and the rules, whose numbers come after them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const dfa = @import("../language/dfa.zig");
const Dfa = dfa.Dfa;

/// Sets of terminals have one of these numbers of words, for which the parser is compiled.
pub const set_widths = [_]usize{ 2, 16 };

/// Words of a set of `n` terminals and the end of input.
pub fn setWidth(n: usize) u32 {
    for (set_widths) |width| if (n + 1 <= 64 * width) return @intCast(width);
    unreachable; // the number of terminals is bounded
}

comptime {
    std.debug.assert(terminals_max + 1 <= 64 * set_widths[set_widths.len - 1]);
}

/// ELIZA_TERMINALS_MAX of the header.
pub const terminals_max = 1023;

/// Of `length` symbols to the symbol of a rule.
pub const Reduction = extern struct { symbol: u32, length: u16, _: u16 = 0 };

pub const Program = struct {
    /// Words of each set of terminals.
    width: u32,
    n_terminals: u32,
    n_productions: u32,
    lexer: Dfa,

    // The parser, by state.
    shift_sets: []const u64,
    reduction_offsets: []const u32,
    reductions: []const Reduction,
    reduction_sets: []const u64,
    /// Where its transitions are, modulo 2^32: one array holds those of all states, each state's in the
    /// gaps of others.
    displacements: []const u32,
    /// [displacements[state] + symbol] -> state, for the symbols that the state has a transition over.
    transitions: []const u16,

    /// Terminals that are dropped before the parser.
    skip: []const u64,
    /// By reach set of the lexer: whether it has a skipped terminal.
    reaches_skip: []const bool,
    /// By match list: whether it is a skipped terminal alone.
    is_skip: []const bool,
    /// [match list * width]: what can come after a lexeme that ends with it, somewhere. All after the
    /// empty list: nothing has ended yet.
    follows: []const u64,
    /// [match list * reach sets]: whether a pending lexeme with this reach set can come after it.
    follows_reach: []const bool,

    /// Bytes that the same lexer states cannot take, so that a lexeme ends before them in the same
    /// places; `none` if no lexeme begins with the byte.
    first_classes: [256]u16,
    /// Words of 64 first classes.
    n_shards: u32,
    /// [lexer state * n_shards]: the first classes that end a pending lexeme in this state.
    enders: []const u64,

    pub const none = std.math.maxInt(u16);

    pub fn deinit(p: *Program, gpa: Allocator) void {
        p.lexer.deinit(gpa);
        inline for (owned) |field| gpa.free(@field(p, field));
        p.* = undefined;
    }

    pub fn bytes(p: *const Program) usize {
        var total = p.lexer.bytes();
        inline for (owned) |field| total += std.mem.sliceAsBytes(@field(p, field)).len;
        return total;
    }

    /// Its own arrays.
    pub const owned = .{
        "shift_sets",    "reduction_offsets", "reductions",   "reduction_sets", "displacements",
        "transitions",   "skip",              "reaches_skip", "is_skip",        "follows",
        "follows_reach", "enders",
    };

    pub fn nParserStates(p: *const Program) u32 {
        return @intCast(p.reduction_offsets.len - 1);
    }

    /// Over a symbol that the parser's state has a transition over.
    pub inline fn transition(p: *const Program, state: usize, symbol: u32) u16 {
        return p.transitions[p.displacements[state] +% symbol];
    }

    pub inline fn hasReductions(p: *const Program, state: u16) bool {
        return p.reduction_offsets[state] != p.reduction_offsets[state + 1];
    }

    pub fn endOfInput(p: *const Program) u16 {
        return @intCast(p.n_terminals);
    }

    pub fn reachSet(p: *const Program, reach: u16) []const u64 {
        return p.lexer.reach_sets[reach * p.width ..][0..p.width];
    }

    pub fn followsSet(p: *const Program, after: u16) []const u64 {
        return p.follows[after * p.width ..][0..p.width];
    }

    /// Whether a lexeme that ends with the match list `next` can come after one that ends with `after`.
    pub fn canFollowList(p: *const Program, after: u16, next: u16) bool {
        for (p.lexer.list(next)) |terminal| {
            if (has(p.skip, terminal) or has(p.followsSet(after), terminal)) return true;
        }
        return false;
    }

    pub fn endersOf(p: *const Program, state: u16) []const u64 {
        return p.enders[@as(usize, state) * p.n_shards ..][0..p.n_shards];
    }
};

pub inline fn has(set: []const u64, i: usize) bool {
    return set[i / 64] >> @truncate(i) & 1 != 0;
}

pub fn add(set: []u64, i: usize) void {
    set[i / 64] |= @as(u64, 1) << @truncate(i);
}

pub fn unite(to: []u64, from: []const u64) void {
    for (to, from) |*a, b| a.* |= b;
}

pub fn intersects(a: []const u64, b: []const u64) bool {
    for (a, b) |x, y| if (x & y != 0) return true;
    return false;
}
