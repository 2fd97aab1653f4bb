//! How messages show places, items and sentences: short enough that several fit one message.

const std = @import("std");
const Writer = std.Io.Writer;
const grammar_module = @import("../grammar.zig");
const flat_module = @import("flat.zig");
const Flat = flat_module.Flat;
const message = @import("message");

/// Bytes of a name.
const name_max = 40;
/// Symbols on either side of a dot.
const side_max = 7;
/// Rules of a route.
const route_max = 8;

pub fn place(at: grammar_module.Place) std.fmt.Alt(grammar_module.Place, printPlace) {
    return .{ .data = at };
}

fn printPlace(at: grammar_module.Place, writer: *Writer) Writer.Error!void {
    if (at.line > 0) try message.write(writer, "{d}:{d}: ", .{ at.line, at.column });
}

const Item = struct { flat: *const Flat, item: u32 };

/// A production with a dot.
pub fn item(f: *const Flat, number: u32) std.fmt.Alt(Item, printItem) {
    return .{ .data = .{ .flat = f, .item = number } };
}

fn printItem(i: Item, writer: *Writer) Writer.Error!void {
    const f = i.flat;
    const before = f.before(i.item);
    const all = f.itemsOf(f.productions[i.item]);
    const behind = all[before.len .. all.len - 1];
    try printName(f.grammar.rules[f.rules[f.productions[i.item]]].name, writer);
    try writer.writeByte(':');
    try printLast(f, before, writer);
    try writer.writeAll(" .");
    for (behind[0..@min(behind.len, side_max)]) |symbol| {
        try writer.writeByte(' ');
        try printSymbol(f, symbol, writer);
    }
    if (behind.len > side_max) try writer.writeAll(" ...");
}

/// Each with a space before it.
fn printLast(f: *const Flat, symbols: []const u32, writer: *Writer) Writer.Error!void {
    if (symbols.len > side_max) try writer.writeAll(" ...");
    for (symbols[symbols.len -| side_max..]) |symbol| {
        try writer.writeByte(' ');
        try printSymbol(f, symbol, writer);
    }
}

const Symbol = struct { flat: *const Flat, symbol: u32 };

pub fn symbolOf(f: *const Flat, number: u32) std.fmt.Alt(Symbol, printOneSymbol) {
    return .{ .data = .{ .flat = f, .symbol = number } };
}

fn printOneSymbol(s: Symbol, writer: *Writer) Writer.Error!void {
    return printSymbol(s.flat, s.symbol, writer);
}

fn printSymbol(f: *const Flat, symbol: u32, writer: *Writer) Writer.Error!void {
    if (symbol < f.n_terminals) return printName(f.grammar.terminals[symbol].name, writer);
    if (symbol == f.n_terminals) return writer.writeAll("end of input");
    return printName(f.grammar.rules[f.ruleOf(symbol)].name, writer);
}

/// The name of a terminal or a rule.
pub fn name(text: []const u8) std.fmt.Alt([]const u8, printName) {
    return .{ .data = text };
}

fn printName(text: []const u8, writer: *Writer) Writer.Error!void {
    if (text.len <= name_max) return writer.writeAll(text);
    try writer.writeAll(text[0..message.wholeCharacters(text[0..name_max])]);
    try writer.writeAll("...");
}

const Route = struct { flat: *const Flat, first: u32, rules: []const u32 };

/// Which rule leads to which; a long way is cut short of its end.
pub fn route(f: *const Flat, first: u32, rules: []const u32) std.fmt.Alt(Route, printRoute) {
    return .{ .data = .{ .flat = f, .first = first, .rules = rules } };
}

fn printRoute(r: Route, writer: *Writer) Writer.Error!void {
    try printName(r.flat.grammar.rules[r.first].name, writer);
    for (r.rules, 0..) |rule, i| {
        if (i >= route_max and i + 1 < r.rules.len) continue;
        try writer.writeAll(if (i > route_max) " -> ... -> " else " -> ");
        try printName(r.flat.grammar.rules[rule].name, writer);
    }
}

const Sentence = struct { flat: *const Flat, terminals: []const u32, cut: bool, lookahead: u32 };

/// Terminals, a dot, and the terminal that is looked at. `cut`: there are more in front.
pub fn sentence(f: *const Flat, terminals: []const u32, cut: bool, lookahead: u32) std.fmt.Alt(Sentence, printSentence) {
    return .{ .data = .{ .flat = f, .terminals = terminals, .cut = cut, .lookahead = lookahead } };
}

fn printSentence(s: Sentence, writer: *Writer) Writer.Error!void {
    if (s.cut) try writer.writeAll("... ");
    for (s.terminals) |terminal| {
        try printSymbol(s.flat, terminal, writer);
        try writer.writeByte(' ');
    }
    try writer.writeAll(". ");
    try printSymbol(s.flat, s.lookahead, writer);
}
