//! A compiled grammar: the lexer's DFA, the parser's tables, and what computing masks needs of both. Immutable.
//! The terminals are the lexer's patterns; the end of input comes after them. The parser's symbols are these
//! and the rules, whose numbers come next.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Info = @import("../contract/info.zig").Info;
const dfa = @import("../language/dfa.zig");
const Dfa = dfa.Dfa;

/// Words of a set of terminals: the parser is compiled for each of these widths.
pub const set_widths = [_]usize{ 2, 16 };
pub const width_max = set_widths[set_widths.len - 1];

/// Words of a set of `n` terminals and the end of input. `n` is at most `terminals_max`.
pub fn setWidth(n: usize) u32 {
    for (set_widths) |width| if (n + 1 <= 64 * width) return @intCast(width);
    unreachable; // the number of terminals is bounded
}

comptime {
    std.debug.assert(terminals_max + 1 <= 64 * width_max);
}

/// ELIZA_TERMINALS_MAX of the header.
pub const terminals_max = 1023;

/// Replaces `length` symbols by the symbol of a rule. `needs`: what a list must have had before (glr/any_order.zig).
pub const Reduction = extern struct { symbol: u32, length: u16, needs: u16 = 0 };

/// A grammar's tables, in arrays that files can map.
pub const Program = struct {
    /// Words of each set of terminals.
    width: u32,
    n_terminals: u32,
    n_productions: u32,
    lexer: Dfa,

    // The parser, by state. Reductions of state s: from reduction_offsets[s] up to those of the next state.
    shift_sets: []const u64,
    reduction_offsets: []const u32,
    reductions: []const Reduction,
    reduction_sets: []const u64,
    /// Where a state's transitions are, modulo 2^32. One array holds those of all states, each in the gaps of others:
    /// row displacement (Tarjan, Yao, "Storing a sparse table", 1979).
    displacements: []const u32,
    /// [displacements[state] + symbol] -> state, for symbols on which the state has a transition.
    transitions: []const u16,
    /// Whose transition each of them is; `none` of those in gaps. For `check` alone.
    owners: []const u16,

    /// Terminals that the parser never sees.
    skip: []const u64,
    /// These, and terminals that can come between any two others although the parser sees them (only for glr).
    separators: []const u64,
    /// [separator * width], by terminal: the terminals that it can stand before, as far as its texts tell
    /// (shell/compile/lr/separators.zig). Empty, unless lexemes are read with contextual lexing.
    parted: []const u64,
    /// Those that are skipped and may also come before the first lexeme (only for glr: elsewhere all may).
    first_skip: []const u64,
    /// Terminals whose lexeme ends where it matches first, and then is no other's (only for glr).
    lazy: []const u64,
    /// By reach set of the lexer: whether it has a skipped terminal.
    reaches_skip: []const bool,
    /// By match list: whether it is one skipped terminal alone.
    is_skip: []const bool,
    /// [match list * width]: what can follow a lexeme that ends with this list, in some text. Everything can follow the
    /// empty list: nothing has ended yet.
    follows: []const u64,
    /// [match list * reach sets]: whether a pending lexeme with this reach set can follow one that ends with this list.
    follows_reach: []const bool,

    /// The class of a first byte. Lexemes end before bytes of one class in the same lexer states. `none`: no lexeme
    /// begins with the byte.
    first_classes: [256]u16,
    /// First classes come in shards of 64, one word each.
    n_shards: u32,
    /// [lexer state * n_shards]: the first classes that end a pending lexeme in this state.
    enders: []const u64,

    /// No first class, and no state.
    pub const none = std.math.maxInt(u16);

    /// Not for a program whose arrays are mapped.
    pub fn deinit(p: *Program, gpa: Allocator) void {
        p.lexer.deinit(gpa);
        inline for (owned) |field| gpa.free(@field(p, field));
        p.* = undefined;
    }

    /// Memory of the arrays.
    pub fn bytes(p: *const Program) usize {
        var total = p.lexer.bytes();
        inline for (owned) |field| total += std.mem.sliceAsBytes(@field(p, field)).len;
        return total;
    }

    /// Fills in the sizes of lexer and parser.
    pub fn describe(p: *const Program, info: *Info) void {
        info.n_states = p.lexer.nStates();
        info.n_parser_states = p.nParserStates();
        info.n_terminals = p.n_terminals;
        info.n_productions = p.n_productions;
        info.automaton_bytes = p.bytes();
    }

    /// Its own arrays, besides the lexer's.
    pub const owned = .{
        "shift_sets",  "reduction_offsets", "reductions",    "reduction_sets", "displacements",
        "transitions", "skip",              "reaches_skip",  "is_skip",        "follows",
        "lazy",        "first_skip",        "follows_reach", "enders",         "owners",
        "separators",  "parted",
    };

    /// Number of parser states.
    pub fn nParserStates(p: *const Program) u32 {
        return @intCast(p.reduction_offsets.len - 1);
    }

    /// The state after a symbol on which `state` has a transition; for other symbols, undefined.
    pub inline fn transition(p: *const Program, state: usize, symbol: u32) u16 {
        return p.transitions[p.displacements[state] +% symbol];
    }

    pub fn hasTransition(p: *const Program, state: usize, symbol: u32) bool {
        const at = p.displacements[state] +% symbol;
        return at < p.owners.len and p.owners[at] == state;
    }

    pub fn shifts(p: *const Program, state: usize, terminal: u16) bool {
        return has(p.shift_sets[state * p.width ..][0..p.width], terminal);
    }

    /// Whether the state reduces before some terminal.
    pub inline fn hasReductions(p: *const Program, state: u16) bool {
        return p.reduction_offsets[state] != p.reduction_offsets[state + 1];
    }

    /// The terminal that ends every text.
    pub fn endOfInput(p: *const Program) u16 {
        return @intCast(p.n_terminals);
    }

    /// A reach set of the lexer.
    pub fn reachSet(p: *const Program, reach: u16) []const u64 {
        return p.lexer.reach_sets[reach * p.width ..][0..p.width];
    }

    /// Of a word of a set: the bits that are terminals.
    pub fn terminalsOf(p: *const Program, word: usize) u64 {
        const n = p.n_terminals -| 64 * word;
        return if (n >= 64) std.math.maxInt(u64) else (@as(u64, 1) << @intCast(n)) - 1;
    }

    /// What can follow a lexeme that ends with the match list `after`.
    pub fn followsSet(p: *const Program, after: u16) []const u64 {
        return p.follows[after * p.width ..][0..p.width];
    }

    /// Whether a lexeme that ends with the match list `next` can follow one that ends with `after`.
    pub fn canFollowList(p: *const Program, after: u16, next: u16) bool {
        for (p.lexer.list(next)) |terminal| {
            if (has(p.skip, terminal) or has(p.followsSet(after), terminal)) return true;
        }
        return false;
    }

    /// The first classes before which a pending lexeme in this lexer state ends.
    pub fn endersOf(p: *const Program, state: u16) []const u64 {
        return p.enders[@as(usize, state) * p.n_shards ..][0..p.n_shards];
    }
};

/// Whether a set of any width has a terminal.
pub inline fn has(set: []const u64, i: usize) bool {
    return set[i / 64] >> @truncate(i) & 1 != 0;
}

/// Adds a terminal to a set.
pub fn add(set: []u64, i: usize) void {
    set[i / 64] |= @as(u64, 1) << @truncate(i);
}

pub fn remove(set: []u64, i: usize) void {
    set[i / 64] &= ~(@as(u64, 1) << @truncate(i));
}

pub fn count(set: []const u64) usize {
    var n: usize = 0;
    for (set) |word| n += @popCount(word);
    return n;
}

/// Adds a set of the same width.
pub fn unite(to: []u64, from: []const u64) void {
    for (to, from) |*a, b| a.* |= b;
}

/// Whether two sets of the same width have a common terminal.
pub fn intersects(a: []const u64, b: []const u64) bool {
    for (a, b) |x, y| if (x & y != 0) return true;
    return false;
}
