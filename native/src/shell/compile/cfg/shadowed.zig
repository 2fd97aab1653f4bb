//! With maximal munch, a text that several terminals match is the first one's, wherever the parser is: so a terminal loses
//! texts. Where words are reserved that is meant; where patterns overlap it seldom is, and is a warning.

const std = @import("std");
const allocPrint = std.fmt.allocPrint;
const ArrayList = @import("engine").array_list.ArrayList;
const quoted = @import("engine").diagnostic.quoted;
const dfa = @import("../regex/dfa.zig");
const Dfa = dfa.Dfa;
const subset_construction = @import("../regex/subset_construction.zig");
const SubsetConstruction = subset_construction.SubsetConstruction;
const determinise = subset_construction.determinise;
const Pattern = @import("../regex/pattern.zig").Pattern;
const Bnf = @import("../bnf.zig").Bnf;
const tables_module = @import("../lr/tables.zig");
const Tables = tables_module.Tables;
const Warnings = tables_module.Warnings;
const sets = @import("../lr/sets.zig");
const findAccepted = @import("separable.zig").findAccepted;
const context = @import("../lr/context.zig");
const Context = context.Context;
const Error = context.Error;

const warnings_max = 20;
/// A text of more bytes says little.
const text_bytes_max = 64;

/// Adds a warning for each two patterns of which one loses a text to the other where the parser takes that one alone, with a
/// shortest such text. `lexer` is that of all terminals.
pub fn warn(ctx: *const Context, grammar: *const Bnf, parser: *const Tables, lexer: *const Dfa, warnings: *Warnings) Error!void {
    var numbers: ArrayList(u16) = .empty;
    for (grammar.terminals, 0..) |terminal, number| {
        if (!terminal.literal and !terminal.soft and !terminal.matches_nothing) try ctx.append(&numbers, @intCast(number));
    }
    if (numbers.items.len < 2) return;
    const patterns = try ctx.alloc(Pattern, numbers.items.len);
    for (patterns, numbers.items) |*pattern, number| pattern.* = .{ .node = grammar.terminals[number].pattern, .soft = true };
    // Seldom is a text of two patterns: an automaton that is not minimal is enough to find out.
    const together = try determinise(ctx.arena, patterns, 0, ctx.budget, "the patterns together", ctx.diag);
    if (!overlap(together)) return;

    const accepted = try findAccepted(ctx, parser);
    const is_warned = try ctx.filled(bool, patterns.len * patterns.len, false);
    var n_warned: usize = 0;
    var walk: Walk = try .init(ctx, together);
    while (try walk.next()) |state| {
        const list = together.lists.get(together.matches.items[state]);
        if (list.len < 2) continue;
        const text = walk.text(state) orelse continue;
        for (list[1..]) |one| {
            const pair = list[0] * patterns.len + one;
            const winner = numbers.items[list[0]];
            const loser = numbers.items[one];
            if (is_warned[pair] or winnerOf(lexer, text) != winner) continue;
            if (!isTakenAlone(grammar, parser, accepted, loser, winner)) continue;
            is_warned[pair] = true;
            n_warned += 1;
            if (n_warned > warnings_max) return;
            const place = grammar.terminals[loser].place;
            const lost = grammar.terminals[loser].name;
            const won = grammar.terminals[winner].name;
            try ctx.append(warnings, if (std.unicode.utf8ValidateSlice(text))
                try allocPrint(ctx.arena, "{f}: {s} is never {f}: that is {s}, wherever it stands", .{ place, lost, quoted(text), won })
            else // such as a token that the grammar names
                try allocPrint(ctx.arena, "{f}: some of {s} is {s}, wherever it stands", .{ place, lost, won }));
        }
    }
}

/// Whether some text is of two patterns.
fn overlap(automaton: *const SubsetConstruction) bool {
    const offsets = automaton.lists.offsets.items;
    for (offsets[1..], offsets[0 .. offsets.len - 1]) |end, start| if (end - start > 1) return true;
    return false;
}

/// The terminal that the lexer finds.
fn winnerOf(lexer: *const Dfa, text: []const u8) ?u16 {
    var state: u16 = dfa.start;
    for (text) |byte| state = lexer.next(state, byte);
    const list = lexer.matchList(state);
    return if (list.len > 0) list[0] else null;
}

/// Whether some state of the parser takes one terminal and not the other.
fn isTakenAlone(grammar: *const Bnf, parser: *const Tables, accepted: []const u64, one: u16, other: u16) bool {
    for (0..parser.n_states) |state| {
        const row = sets.row(accepted, state, parser.words);
        if (sets.has(row, one) and (grammar.terminals[other].skip or !sets.has(row, other))) return true;
    }
    return false;
}

/// The states of an automaton, those with shorter texts first.
const Walk = struct {
    ctx: *const Context,
    automaton: *const SubsetConstruction,
    found: ArrayList(Step) = .empty,
    /// [state]: its place in `found`, from 1.
    places: []u32,
    at: usize = 0,
    buffer: [text_bytes_max]u8 = undefined,

    const Step = struct { state: u16, from: u32, byte: u8 };

    fn init(ctx: *const Context, automaton: *const SubsetConstruction) Error!Walk {
        var walk: Walk = .{ .ctx = ctx, .automaton = automaton, .places = try ctx.filled(u32, automaton.ends.items.len, 0) };
        try walk.add(dfa.start, 0, 0);
        return walk;
    }

    fn add(w: *Walk, state: u16, from: u32, byte: u8) Error!void {
        if (state == dfa.dead or w.places[state] != 0) return;
        try w.ctx.append(&w.found, .{ .state = state, .from = from, .byte = byte });
        w.places[state] = @intCast(w.found.items.len);
    }

    fn next(w: *Walk) Error!?u16 {
        if (w.at == w.found.items.len) return null;
        if (w.at % 64 == 0) try w.ctx.check();
        const state = w.found.items[w.at].state;
        w.at += 1;
        for (0..256) |byte| try w.add(w.automaton.next(state, @intCast(byte)), @intCast(w.at), @intCast(byte));
        return state;
    }

    /// Good until the next one. Null: it is long.
    fn text(w: *Walk, state: u16) ?[]const u8 {
        var i: usize = text_bytes_max;
        var place = w.places[state];
        while (place > 1) : (place = w.found.items[place - 1].from) {
            if (i == 0) return null;
            i -= 1;
            w.buffer[i] = w.found.items[place - 1].byte;
        }
        return w.buffer[i..];
    }
};
