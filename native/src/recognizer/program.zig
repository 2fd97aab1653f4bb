//! A compiled grammar: the lexer's automaton and the parser's tables, and what finding masks needs of
//! both. Immutable. Terminals are the lexer's patterns, and the end of input is the one behind them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const dfa = @import("automaton.zig");
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

pub const Reduction = extern struct { rule: u16, length: u16 };

pub const Program = struct {
    /// Words of each set of terminals.
    width: u32,
    n_terminals: u32,
    n_rules: u32,
    n_productions: u32,
    lexer: Dfa,

    // The parser, by state.
    shift_sets: []const u64,
    shifts: []const u16,
    reduction_offsets: []const u32,
    reductions: []const Reduction,
    reduction_sets: []const u64,
    gotos: []const u16,

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

    /// Takes over `lexer`, which is freed on failure too; copies what it needs of the parser's `tables`
    /// (grammar/tables.zig). `skipped` are the terminals that are dropped before the parser.
    pub fn init(gpa: Allocator, skipped: []const u16, lexer: Dfa, tables: anytype) Allocator.Error!Program {
        var p: Program = undefined;
        p.lexer = lexer;
        errdefer p.lexer.deinit(gpa);
        p.width = lexer.words;
        p.n_terminals = tables.n_terminals;
        p.n_rules = tables.n_rules;
        p.n_productions = tables.n_productions;
        p.shift_sets = try widen(gpa, tables.shift_sets, tables.words, p.width);
        errdefer gpa.free(p.shift_sets);
        p.reduction_sets = try widen(gpa, tables.reduction_sets, tables.words, p.width);
        errdefer gpa.free(p.reduction_sets);
        p.shifts = try gpa.dupe(u16, tables.shifts);
        errdefer gpa.free(p.shifts);
        p.gotos = try gpa.dupe(u16, tables.gotos);
        errdefer gpa.free(p.gotos);
        p.reduction_offsets = try gpa.dupe(u32, tables.reduction_offsets);
        errdefer gpa.free(p.reduction_offsets);
        p.reductions = try reductionsOf(gpa, tables);
        errdefer gpa.free(p.reductions);
        p.skip = try skipSet(gpa, skipped, p.width);
        errdefer gpa.free(p.skip);
        p.reaches_skip = try p.findReachesSkip(gpa);
        errdefer gpa.free(p.reaches_skip);
        p.is_skip = try p.findIsSkip(gpa);
        errdefer gpa.free(p.is_skip);
        p.follows = try p.findFollows(gpa);
        errdefer gpa.free(p.follows);
        p.follows_reach = try p.findFollowsReach(gpa);
        errdefer gpa.free(p.follows_reach);
        try p.findFirstClasses(gpa);
        return p;
    }

    pub fn deinit(p: *Program, gpa: Allocator) void {
        p.lexer.deinit(gpa);
        inline for (owned) |field| gpa.free(@field(p, field));
        p.* = undefined;
    }

    pub fn bytes(p: *const Program) usize {
        var total: usize = 0;
        inline for (.{ "transitions", "matches", "match_offsets", "match_patterns", "reaches", "reach_sets" }) |field| {
            total += std.mem.sliceAsBytes(@field(p.lexer, field)).len;
        }
        inline for (owned) |field| total += std.mem.sliceAsBytes(@field(p, field)).len;
        return total;
    }

    const owned = .{
        "shift_sets",        "shifts", "reduction_offsets", "reductions", "reduction_sets", "gotos",
        "skip",              "reaches_skip", "is_skip",    "follows",    "follows_reach",  "enders",
    };

    pub fn nParserStates(p: *const Program) u32 {
        return @intCast(p.reduction_offsets.len - 1);
    }

    pub fn endOfInput(p: *const Program) u16 {
        return @intCast(p.n_terminals);
    }

    pub fn nLists(p: *const Program) u32 {
        return @intCast(p.lexer.match_offsets.len - 1);
    }

    pub inline fn list(p: *const Program, i: u16) []const u16 {
        return p.lexer.match_patterns[p.lexer.match_offsets[i]..p.lexer.match_offsets[i + 1]];
    }

    pub fn reachSet(p: *const Program, reach: u16) []const u64 {
        return p.lexer.reach_sets[reach * p.width ..][0..p.width];
    }

    pub fn followsSet(p: *const Program, after: u16) []const u64 {
        return p.follows[after * p.width ..][0..p.width];
    }

    pub fn canFollow(p: *const Program, after: u16, reach: u16) bool {
        return p.follows_reach[@as(usize, after) * p.lexer.nReach() + reach];
    }

    /// Whether a lexeme that ends with `next` can come after one that ends with `list`.
    pub fn canFollowList(p: *const Program, after: u16, next: u16) bool {
        for (p.list(next)) |terminal| {
            if (has(p.skip, terminal) or has(p.followsSet(after), terminal)) return true;
        }
        return false;
    }

    pub fn endersOf(p: *const Program, state: u16) []const u64 {
        return p.enders[@as(usize, state) * p.n_shards ..][0..p.n_shards];
    }

    fn widen(gpa: Allocator, sets: []const u64, from: usize, to: usize) Allocator.Error![]u64 {
        const wide = try gpa.alloc(u64, sets.len / from * to);
        @memset(wide, 0);
        var i: usize = 0;
        while (i * from < sets.len) : (i += 1) @memcpy(wide[i * to ..][0..from], sets[i * from ..][0..from]);
        return wide;
    }

    fn reductionsOf(gpa: Allocator, tables: anytype) Allocator.Error![]Reduction {
        const reductions = try gpa.alloc(Reduction, tables.reduction_productions.len);
        for (reductions, tables.reduction_productions) |*reduction, production| {
            reduction.* = .{ .rule = tables.production_rules[production], .length = tables.production_lengths[production] };
        }
        return reductions;
    }

    fn skipSet(gpa: Allocator, skipped: []const u16, width: usize) Allocator.Error![]u64 {
        const set = try gpa.alloc(u64, width);
        @memset(set, 0);
        for (skipped) |terminal| add(set, terminal);
        return set;
    }

    fn findReachesSkip(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
        const result = try gpa.alloc(bool, p.lexer.nReach());
        for (result, 0..) |*reaches, r| reaches.* = intersects(p.reachSet(@intCast(r)), p.skip);
        return result;
    }

    fn findIsSkip(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
        const result = try gpa.alloc(bool, p.nLists());
        for (result, 0..) |*is, i| {
            const terminals = p.list(@intCast(i));
            is.* = terminals.len == 1 and has(p.skip, terminals[0]);
        }
        return result;
    }

    fn findFollows(p: *const Program, gpa: Allocator) Allocator.Error![]u64 {
        const w = p.width;
        const by_terminal = try gpa.alloc(u64, p.n_terminals * w);
        defer gpa.free(by_terminal);
        @memset(by_terminal, 0);
        for (0..p.nParserStates()) |state| for (0..p.n_terminals) |terminal| {
            if (!has(p.shift_sets[state * w ..][0..w], terminal)) continue;
            const next = p.shifts[state * (p.n_terminals + 1) + terminal];
            const follows = by_terminal[terminal * w ..][0..w];
            unite(follows, p.shift_sets[@as(usize, next) * w ..][0..w]);
            for (p.reduction_offsets[next]..p.reduction_offsets[next + 1]) |r| unite(follows, p.reduction_sets[r * w ..][0..w]);
        };
        const follows = try gpa.alloc(u64, p.nLists() * w);
        @memset(follows, 0);
        @memset(follows[0..w], std.math.maxInt(u64));
        for (1..p.nLists()) |i| for (p.list(@intCast(i))) |terminal| {
            const set = follows[i * w ..][0..w];
            if (has(p.skip, terminal)) @memset(set, std.math.maxInt(u64)) else unite(set, by_terminal[terminal * w ..][0..w]);
        };
        return follows;
    }

    fn findFollowsReach(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
        const n_reach = p.lexer.nReach();
        const result = try gpa.alloc(bool, p.nLists() * n_reach);
        for (0..p.nLists()) |i| for (0..n_reach) |r| {
            result[i * n_reach + r] = p.reaches_skip[r] or intersects(p.followsSet(@intCast(i)), p.reachSet(@intCast(r)));
        };
        return result;
    }

    fn findFirstClasses(p: *Program, gpa: Allocator) Allocator.Error!void {
        const n_states = p.lexer.nStates();
        // A column of the lexer's table as a number for each byte: which states take it.
        const representative = try gpa.alloc(u8, 256);
        defer gpa.free(representative);
        var n: usize = 0;
        @memset(&p.first_classes, none);
        for (0..256) |byte| {
            if (p.lexer.next(dfa.start, @intCast(byte)) == dfa.dead) continue;
            const class = for (representative[0..n], 0..) |other, class| {
                if (p.sameColumn(@intCast(byte), other)) break class;
            } else class: {
                representative[n] = @intCast(byte);
                n += 1;
                break :class n - 1;
            };
            p.first_classes[byte] = @intCast(class);
        }
        p.n_shards = @intCast(@max(1, (n + 63) / 64));
        const enders = try gpa.alloc(u64, n_states * p.n_shards);
        @memset(enders, 0);
        for (0..n_states) |state| for (representative[0..n], 0..) |byte, class| {
            if (p.lexer.next(@intCast(state), byte) == dfa.dead) add(enders[state * p.n_shards ..][0..p.n_shards], class);
        };
        p.enders = enders;
    }

    fn sameColumn(p: *const Program, a: u8, b: u8) bool {
        if (p.lexer.classes[a] == p.lexer.classes[b]) return true;
        for (1..p.lexer.nStates()) |state| {
            const takes_a = p.lexer.next(@intCast(state), a) != dfa.dead;
            const takes_b = p.lexer.next(@intCast(state), b) != dfa.dead;
            if (takes_a != takes_b) return false;
        }
        return true;
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
