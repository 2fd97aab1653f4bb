//! Before which terminals something skipped can end. Where what is ignored continues with all that a terminal begins with, it does
//! not separate it from what came before.

const std = @import("std");
const dfa = @import("../regex/dfa.zig");
const Dfa = dfa.Dfa;
const Parts = @import("engine").parts.Parts;
const Bnf = @import("../bnf.zig").Bnf;
const sets = @import("sets.zig");
const context = @import("context.zig");
const Context = context.Context;
const Error = context.Error;

/// [separator * lexer.words], by terminal: the terminals that begin with a byte that some text of the separator does not continue
/// with as any separator; and those that can come behind skipped ones of which that is so. All, if the parser sees the
/// separator and takes it once: then it knows what comes after it. In the context's arena.
pub fn findParted(ctx: *const Context, grammar: *const Bnf, lexer: *const Dfa) Error![]const u64 {
    const rows = try ctx.alloc(u16, grammar.terminals.len);
    const separators = try ctx.filled(u64, lexer.words, 0);
    var n: u16 = 0;
    for (rows, grammar.terminals, 0..) |*row, terminal, number| {
        row.* = n;
        if (!terminal.skip and !terminal.separates) continue;
        sets.add(separators, number);
        n += 1;
    }
    if (n == 0) return &.{};
    const parted = try ctx.filled(u64, @as(usize, n) * lexer.words, 0);
    for (1..lexer.nStates()) |state| {
        if (state % 64 == 0) try ctx.check();
        for (lexer.matchList(@intCast(state))) |terminal| {
            if (!sets.has(separators, terminal)) continue;
            addParted(grammar, lexer, @intCast(state), separators, sets.row(parted, rows[terminal], lexer.words));
        }
    }
    try addThrough(ctx, grammar, parted, rows, lexer.words);
    for (rows, grammar.terminals) |row, terminal| {
        if (terminal.separates and terminal.once) @memset(sets.row(parted, row, lexer.words), std.math.maxInt(u64));
    }
    return parted;
}

/// Those that begin with a byte that no separator continues with in a state.
fn addParted(grammar: *const Bnf, lexer: *const Dfa, state: u16, separators: []const u64, to: []u64) void {
    const lead = lexer.columns[Parts.lead] / lexer.matches.len; // documents are below
    for (0..lexer.nClasses()) |class| {
        const column = lexer.column(class);
        const begun = column[dfa.start];
        if (begun == dfa.dead or class == lead or goesOn(lexer, column[state], separators)) continue;
        _ = sets.unite(to, lexer.reachSet(begun));
    }
    for (grammar.terminals, 0..) |terminal, number| {
        var firsts = (terminal.firsts orelse continue).iterator(.{});
        while (firsts.next()) |byte| {
            if (!goesOn(lexer, lexer.next(state, @intCast(byte)), separators)) sets.add(to, number);
        }
    }
}

fn goesOn(lexer: *const Dfa, next: u16, separators: []const u64) bool {
    return next != dfa.dead and sets.intersects(lexer.reachSet(next), separators);
}

/// What comes after one skipped lexeme may come behind others before it.
fn addThrough(ctx: *const Context, grammar: *const Bnf, parted: []u64, rows: []const u16, words: usize) Error!void {
    var is_new = true;
    while (is_new) {
        is_new = false;
        try ctx.check();
        for (grammar.terminals, rows) |one, row| if (one.skip) for (grammar.terminals, rows, 0..) |other, of, number| {
            if (!other.skip or !sets.has(sets.row(parted, row, words), number)) continue;
            is_new = sets.unite(sets.row(parted, row, words), sets.row(parted, of, words)) or is_new;
        };
    }
}
