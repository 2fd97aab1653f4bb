//! Joins the lexer's DFA and the parser's tables to the engine's `Program`, and precomputes what finding masks needs of both.

const std = @import("std");
const Allocator = std.mem.Allocator;
const program = @import("engine").program;
const Program = program.Program;
const Reduction = program.Reduction;
const add = program.add;
const has = program.has;
const intersects = program.intersects;
const unite = program.unite;
const dfa = @import("../regex/dfa.zig");
const Dfa = dfa.Dfa;
const Tables = @import("tables.zig").Tables;
const sets = @import("sets.zig");
const Bnf = @import("../bnf.zig").Bnf;

/// Owns `lexer` from the call on: on failure it is freed. Copies what it needs of `tables`, so that their arena can go. The
/// result is freed with `Program.deinit` and `gpa`.
pub fn buildProgram(gpa: Allocator, grammar: *const Bnf, lexer: Dfa, tables: *const Tables, parted: []const u64) Allocator.Error!Program {
    var p: Program = undefined;
    p.lexer = lexer;
    inline for (Program.owned) |field| @field(p, field) = &.{};
    errdefer p.deinit(gpa);
    p.width = lexer.words;
    p.n_terminals = tables.n_terminals;
    p.n_productions = tables.n_productions;
    p.shift_sets = try widen(gpa, tables.shift_sets, tables.words, p.width);
    p.reduction_sets = try widen(gpa, tables.reduction_sets, tables.words, p.width);
    p.displacements = try gpa.dupe(u32, tables.displacements);
    p.transitions = try gpa.dupe(u16, tables.transitions);
    p.owners = try gpa.dupe(u16, tables.owners);
    p.reduction_offsets = try gpa.dupe(u32, tables.reduction_offsets);
    p.reductions = try reductionsOf(gpa, grammar, tables);
    p.skip = try setOf(gpa, grammar, p.width, "skip");
    p.separators = try setOf(gpa, grammar, p.width, "separates");
    for (@constCast(p.separators), p.skip) |*to, skipped| to.* |= skipped;
    p.parted = try gpa.dupe(u64, parted);
    p.first_skip = try setOf(gpa, grammar, p.width, "leads");
    for (@constCast(p.first_skip), p.skip) |*to, skipped| to.* &= skipped;
    p.lazy = try setOf(gpa, grammar, p.width, "lazy");
    p.reaches_skip = try findReachesSkip(&p, gpa);
    p.is_skip = try findIsSkip(&p, gpa);
    p.follows = try findFollows(&p, gpa, grammar);
    p.follows_reach = try findFollowsReach(&p, gpa);
    try findFirstClasses(&p, gpa);
    return p;
}

fn widen(gpa: Allocator, narrow: []const u64, from: usize, to: usize) Allocator.Error![]u64 {
    const wide = try gpa.alloc(u64, narrow.len / from * to);
    @memset(wide, 0);
    var i: usize = 0;
    while (i * from < narrow.len) : (i += 1) @memcpy(wide[i * to ..][0..from], narrow[i * from ..][0..from]);
    return wide;
}

fn reductionsOf(gpa: Allocator, grammar: *const Bnf, tables: *const Tables) Allocator.Error![]Reduction {
    const reductions = try gpa.alloc(Reduction, tables.reduction_productions.len);
    for (reductions, tables.reduction_productions) |*reduction, production| {
        reduction.* = .{
            .symbol = tables.production_symbols[production],
            .length = tables.production_lengths[production],
            .needs = grammar.productions[production].needs,
        };
    }
    return reductions;
}

fn setOf(gpa: Allocator, grammar: *const Bnf, width: usize, comptime field: []const u8) Allocator.Error![]u64 {
    const set = try gpa.alloc(u64, width);
    @memset(set, 0);
    for (grammar.terminals, 0..) |terminal, i| if (@field(terminal, field)) add(set, i);
    return set;
}

fn findReachesSkip(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
    const result = try gpa.alloc(bool, p.lexer.nReach());
    for (result, 0..) |*reaches, r| reaches.* = intersects(p.reachSet(@intCast(r)), p.skip);
    return result;
}

fn findIsSkip(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
    const result = try gpa.alloc(bool, p.lexer.nLists());
    for (result, 0..) |*is, i| {
        const terminals = p.lexer.list(@intCast(i));
        is.* = terminals.len == 1 and has(p.skip, terminals[0]);
    }
    return result;
}

fn findFollows(p: *const Program, gpa: Allocator, grammar: *const Bnf) Allocator.Error![]u64 {
    const w = p.width;
    const by_terminal = try gpa.alloc(u64, p.n_terminals * w);
    defer gpa.free(by_terminal);
    @memset(by_terminal, 0);
    for (0..p.nParserStates()) |state| {
        var terminals = sets.iterate(sets.row(p.shift_sets, state, w));
        while (terminals.next()) |terminal| {
            if (terminal == p.n_terminals) break;
            const next = p.transition(state, terminal);
            const follows = sets.row(by_terminal, terminal, w);
            unite(follows, sets.row(p.shift_sets, next, w));
            for (p.reduction_offsets[next]..p.reduction_offsets[next + 1]) |r| unite(follows, sets.row(p.reduction_sets, r, w));
        }
    }
    // What follows a mark follows what it follows, however many they are.
    for (grammar.terminals, 0..) |mark, by| if (mark.marks) for (0..p.n_terminals) |terminal| {
        const follows = sets.row(by_terminal, terminal, w);
        if (has(follows, by)) unite(follows, sets.row(by_terminal, by, w));
    };
    const follows = try gpa.alloc(u64, p.lexer.nLists() * w);
    @memset(follows, 0);
    @memset(follows[0..w], std.math.maxInt(u64));
    for (1..p.lexer.nLists()) |i| for (p.lexer.list(@intCast(i))) |terminal| {
        const set = follows[i * w ..][0..w];
        if (has(p.skip, terminal)) @memset(set, std.math.maxInt(u64)) else unite(set, by_terminal[terminal * w ..][0..w]);
    };
    return follows;
}

fn findFollowsReach(p: *const Program, gpa: Allocator) Allocator.Error![]bool {
    const n_reach = p.lexer.nReach();
    const result = try gpa.alloc(bool, p.lexer.nLists() * n_reach);
    for (0..p.lexer.nLists()) |i| for (0..n_reach) |r| {
        result[i * n_reach + r] = p.reaches_skip[r] or intersects(p.followsSet(@intCast(i)), p.reachSet(@intCast(r)));
    };
    return result;
}

fn findFirstClasses(p: *Program, gpa: Allocator) Allocator.Error!void {
    const n_states = p.lexer.nStates();
    // The first byte of each class found so far.
    const representative = try gpa.alloc(u8, 256);
    defer gpa.free(representative);
    var n: usize = 0;
    @memset(&p.first_classes, Program.none);
    for (0..256) |byte| {
        if (p.lexer.next(dfa.start, @intCast(byte)) == dfa.dead) continue;
        const class = for (representative[0..n], 0..) |other, class| {
            if (sameColumn(p, @intCast(byte), other)) break class;
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
    if (p.lexer.columns[a] == p.lexer.columns[b]) return true;
    for (1..p.lexer.nStates()) |state| {
        const takes_a = p.lexer.next(@intCast(state), a) != dfa.dead;
        const takes_b = p.lexer.next(@intCast(state), b) != dfa.dead;
        if (takes_a != takes_b) return false;
    }
    return true;
}
