//! Terminals of a grammar that a repetition makes large, as texts of bounded length (bounded.zig). Such a text is read beside
//! the lexemes and may end wherever it is whole; where maximal munch counts, that is right if nothing else can begin where
//! it does, or continue where it begins or ends.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const BoundedTexts = @import("engine").bounded_texts.BoundedTexts;
const Parts = @import("engine").parts.Parts;
const Bytes = @import("engine").parts.Bytes;
const dfa = @import("engine").dfa;
const program_module = @import("engine").program;
const Program = program_module.Program;
const bnf = @import("../bnf.zig");
const Bnf = bnf.Bnf;
const bounded = @import("bounded.zig");
const sets = @import("../lr/sets.zig");
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

/// The grammar with them; null if it has none.
pub fn find(ctx: *const Context, grammar: *const Bnf, reading: bnf.Reading) Error!?Bnf {
    if (reading.token_bytes_max == 0 or grammar.counted.len > 0) return null;
    if (reading.lexing != .any and !reading.isPlain()) return null;
    var terminals: ?[]bnf.Terminal = null;
    var texts: ArrayList(bnf.BoundedText) = .empty;
    try ctx.appendSlice(&texts, grammar.texts);
    for (grammar.terminals, 0..) |*terminal, i| {
        const is_simple = !terminal.skip and !terminal.separates and !terminal.lazy and !terminal.looks and terminal.tokens_max == 0;
        if (!is_simple or texts.items.len == BoundedTexts.texts_max) continue;
        const split = try bounded.split(ctx.arena, terminal.pattern) orelse continue;
        var text = switch (try bounded.textOf(ctx, split.node, split.min, split.max, terminal.name)) {
            .text => |one| one,
            .no_text, .uncounted => continue,
        };
        text.terminal = @intCast(i);
        const all = terminals orelse try ctx.arena.dupe(bnf.Terminal, grammar.terminals);
        terminals = all;
        all[i].pattern = try bounded.nodeOf(ctx.arena, texts.items.len);
        try ctx.append(&texts, text);
    }
    var with = grammar.*;
    with.terminals = terminals orelse return null;
    with.texts = texts.items;
    return with;
}

/// Whether each text ends where its maximal munch would. A sufficient condition.
pub fn areApart(ctx: *const Context, program: *const Program, texts: *const BoundedTexts) Error!bool {
    // [terminal]: the bytes that it can begin with, and those that it can continue with although it is whole.
    const firsts = try ctx.filled(Bytes, program.n_terminals, .empty);
    const nexts = try ctx.filled(Bytes, program.n_terminals, .empty);
    const lexer = &program.lexer;
    for (0..Parts.lead) |byte| {
        var begun = sets.iterate(lexer.reachSet(lexer.next(dfa.start, @intCast(byte))));
        while (begun.next()) |terminal| firsts[terminal].set(byte);
        for (1..lexer.nStates()) |state| if (lexer.next(@intCast(state), @intCast(byte)) != dfa.dead) {
            for (lexer.matchList(@intCast(state))) |terminal| nexts[terminal].set(byte);
        };
        const automaton = &texts.dfa;
        for (texts.list) |text| if (automaton.next(text.start, @intCast(byte)) != dfa.dead) firsts[text.terminal].set(byte);
        for (1..automaton.nStates()) |state| {
            const goes_on = automaton.next(@intCast(state), @intCast(byte)) != dfa.dead;
            if (goes_on and automaton.matches[state] != 0) nexts[texts.list[texts.of[state]].terminal].set(byte);
        }
        try ctx.check();
    }
    const is_text = try ctx.filled(u64, program.width, 0);
    for (texts.list) |text| program_module.add(is_text, text.terminal);
    const expected = try ctx.alloc(u64, program.nParserStates() * program.width);
    for (0..program.nParserStates()) |state| {
        const row = sets.row(expected, state, program.width);
        @memcpy(row, program.shift_sets[state * program.width ..][0..program.width]);
        for (program.reduction_offsets[state]..program.reduction_offsets[state + 1]) |r| {
            program_module.unite(row, program.reduction_sets[r * program.width ..][0..program.width]);
        }
        program_module.unite(row, program.skip);
    }
    for (0..program.nParserStates()) |state| {
        try ctx.check();
        const row = sets.row(expected, state, program.width);
        for (texts.list) |text| if (program_module.has(row, text.terminal)) {
            if (meets(program, row, firsts, text.terminal, firsts[text.terminal])) return false;
        };
        var shifted = sets.iterate(program.shift_sets[state * program.width ..][0..program.width]);
        while (shifted.next()) |terminal| {
            if (terminal >= program.n_terminals) continue;
            const after = sets.row(expected, program.transition(state, @intCast(terminal)), program.width);
            const is_own = program_module.has(is_text, terminal);
            for (0..program.n_terminals) |next| {
                const matters = is_own or program_module.has(is_text, next);
                if (matters and program_module.has(after, next) and intersect(firsts[next], nexts[terminal])) return false;
            }
        }
    }
    return true;
}

/// Whether another terminal of a set can begin with one of the bytes.
fn meets(program: *const Program, set: []const u64, firsts: []const Bytes, but: usize, bytes: Bytes) bool {
    return for (0..program.n_terminals) |terminal| {
        if (terminal != but and program_module.has(set, terminal) and intersect(firsts[terminal], bytes)) break true;
    } else false;
}

fn intersect(a: Bytes, b: Bytes) bool {
    return a.intersectWith(b).count() > 0;
}
