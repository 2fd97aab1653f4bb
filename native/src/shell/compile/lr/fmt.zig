//! Formatters for messages: places, names, items, derivations and sentences, cut so that several fit one message.

const std = @import("std");
const Writer = std.Io.Writer;
const bnf = @import("../bnf.zig");
const augmented_grammar = @import("augmented_grammar.zig");
const AugmentedGrammar = augmented_grammar.AugmentedGrammar;
const message = @import("message");

/// Bytes of a name that are shown.
const name_max = 40;
/// Symbols on either side of a dot that are shown.
const side_max = 7;
/// Rules of a derivation that are shown.
const derivation_max = 8;

/// "line:column: ", or nothing for a place that is nowhere.
pub fn place(at: bnf.Place) std.fmt.Alt(bnf.Place, printPlace) {
    return .{ .data = at };
}

fn printPlace(at: bnf.Place, writer: *Writer) Writer.Error!void {
    if (at.line > 0) try message.write(writer, "{f}: ", .{at});
}

const Item = struct { grammar: *const AugmentedGrammar, item: u32 };

/// A production with a dot, as in `sum: sum . "+" product`.
pub fn item(g: *const AugmentedGrammar, number: u32) std.fmt.Alt(Item, printItem) {
    return .{ .data = .{ .grammar = g, .item = number } };
}

fn printItem(i: Item, writer: *Writer) Writer.Error!void {
    const g = i.grammar;
    const before = g.before(i.item);
    const all = g.itemsOf(g.productions[i.item]);
    const behind = all[before.len .. all.len - 1];
    try printName(g.bnf.rules[g.rules[g.productions[i.item]]].name, writer);
    try writer.writeByte(':');
    try printLast(g, before, writer);
    try writer.writeAll(" .");
    for (behind[0..@min(behind.len, side_max)]) |symbol| {
        try writer.writeByte(' ');
        try printSymbol(g, symbol, writer);
    }
    if (behind.len > side_max) try writer.writeAll(" ...");
}

/// The last of them, each with a space before it.
fn printLast(g: *const AugmentedGrammar, symbols: []const u32, writer: *Writer) Writer.Error!void {
    if (symbols.len > side_max) try writer.writeAll(" ...");
    for (symbols[symbols.len -| side_max..]) |symbol| {
        try writer.writeByte(' ');
        try printSymbol(g, symbol, writer);
    }
}

const Symbol = struct { grammar: *const AugmentedGrammar, symbol: u32 };

/// A symbol by its number in the augmented grammar.
pub fn symbolOf(g: *const AugmentedGrammar, number: u32) std.fmt.Alt(Symbol, printOneSymbol) {
    return .{ .data = .{ .grammar = g, .symbol = number } };
}

fn printOneSymbol(s: Symbol, writer: *Writer) Writer.Error!void {
    return printSymbol(s.grammar, s.symbol, writer);
}

fn printSymbol(g: *const AugmentedGrammar, symbol: u32, writer: *Writer) Writer.Error!void {
    if (symbol < g.n_terminals) return printName(g.bnf.terminals[symbol].name, writer);
    if (symbol == g.n_terminals) return writer.writeAll("end of input");
    return printName(g.bnf.rules[g.ruleOf(symbol)].name, writer);
}

/// The name of a terminal or a rule, cut after whole characters.
pub fn name(text: []const u8) std.fmt.Alt([]const u8, printName) {
    return .{ .data = text };
}

fn printName(text: []const u8, writer: *Writer) Writer.Error!void {
    if (text.len <= name_max) return writer.writeAll(text);
    try writer.writeAll(text[0..message.wholeCharacters(text[0..name_max])]);
    try writer.writeAll("...");
}

const Derivation = struct { grammar: *const AugmentedGrammar, first: u32, rules: []const u32 };

/// Which rule leads to which, as in `a -> b -> a`; a long way is cut before its end.
pub fn derivation(g: *const AugmentedGrammar, first: u32, rules: []const u32) std.fmt.Alt(Derivation, printDerivation) {
    return .{ .data = .{ .grammar = g, .first = first, .rules = rules } };
}

fn printDerivation(r: Derivation, writer: *Writer) Writer.Error!void {
    try printName(r.grammar.bnf.rules[r.first].name, writer);
    for (r.rules, 0..) |rule, i| {
        if (i >= derivation_max and i + 1 < r.rules.len) continue;
        try writer.writeAll(if (i > derivation_max) " -> ... -> " else " -> ");
        try printName(r.grammar.bnf.rules[rule].name, writer);
    }
}

const Sentence = struct { grammar: *const AugmentedGrammar, terminals: []const u32, is_cut: bool, lookahead: u32 };

/// Terminals, a dot, and the lookahead. `is_cut`: there are more terminals in front.
pub fn sentence(g: *const AugmentedGrammar, terminals: []const u32, is_cut: bool, lookahead: u32) std.fmt.Alt(Sentence, printSentence) {
    return .{ .data = .{ .grammar = g, .terminals = terminals, .is_cut = is_cut, .lookahead = lookahead } };
}

fn printSentence(s: Sentence, writer: *Writer) Writer.Error!void {
    if (s.is_cut) try writer.writeAll("... ");
    for (s.terminals) |terminal| {
        try printSymbol(s.grammar, terminal, writer);
        try writer.writeByte(' ');
    }
    try writer.writeAll(". ");
    try printSymbol(s.grammar, s.lookahead, writer);
}
