//! From EBNF to BNF: rules with groups and repetition become productions.
//!
//! Groups and optional parts become alternatives, since a parser that need not reduce an empty rule or a helper has fewer
//! conflicts. What would become too many alternatives gets a helper, a rule of its own. `x+` is the left-recursive helper
//! `x | x+ x`, so that the parser's stack stays flat, and `x*` is that helper or nothing. Equal parts share their helper.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Texts = @import("engine").texts.Texts;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const message = @import("message");
const bnf = @import("../bnf.zig");
const Place = bnf.Place;
const syntax_tree = @import("syntax_tree.zig");
const Expression = syntax_tree.Expression;
const Terminals = @import("terminals.zig").Terminals;

const Error = Allocator.Error || diagnostic.Error;

/// How many alternatives one alternative of a rule may become by the groups and optional parts in it, and how many symbols these
/// may have together.
const alternatives_max = 64;
const symbols_max = 8192;
/// `x~n..m` is written out up to this m. What x is made of is copied, not replaced by a helper, up to this many symbols.
const copies_max = 64;
const copied_symbols_max = 256;
/// Rules, productions and symbols of a production are numbered by 16 bits.
const number_max = std.math.maxInt(u16);

/// An index in `Expansion.rules` or `Terminals.entries`: terminals have no final numbers yet.
pub const Symbol = packed struct(u32) { index: u31, is_rule: bool };

const Sequence = []const Symbol;

/// A production of the grammar, but for the numbers of its terminals.
pub const Production = struct {
    rule: u32,
    symbols: Sequence,
    precedence: ?bnf.Precedence,
    place: Place,
};

/// The rules and productions as they are found, from the start rule on. Recursion is as deep as parentheses are, which the parser
/// limits.
pub const Expansion = struct {
    arena: Allocator,
    budget: *Budget,
    diag: *Diagnostic,
    tree: *const syntax_tree.SyntaxTree,
    terminals: *Terminals,
    rules: ArrayList(bnf.Rule) = .empty,
    productions: ArrayList(Production) = .empty,
    /// [definition]: its rule, or `none` if nothing has used it so far.
    of_definitions: []u32,
    /// Definitions in the order of their rules, to be expanded.
    waiting: ArrayList(u32) = .empty,
    /// What helpers are made of, as bytes, and their rules.
    helpers: Texts = .{},
    helper_rules: ArrayList(u32) = .empty,
    /// The productions so far, as bytes.
    known: Texts = .{},
    /// What is being expanded: the definition, and the place of its alternative.
    definition: *const syntax_tree.Rule = undefined,
    place: Place = .{},

    /// Of a definition that is not used, in `of_definitions`.
    pub const none = std.math.maxInt(u32);

    /// Expands the definition `start`, which becomes rule 0, and all that it uses. All names must be defined. To be called once.
    pub fn run(e: *Expansion, start: u32) Error!void {
        _ = try e.ruleOf(start);
        var next: usize = 0;
        while (next < e.waiting.items.len) : (next += 1) {
            const definition = e.waiting.items[next];
            e.definition = &e.tree.rules[definition];
            const rule = e.of_definitions[definition];
            for (e.definition.alternatives) |alternative| {
                e.place = alternative.place;
                const precedence = if (alternative.precedence) |mention| try e.terminals.precedenceOf(mention) else null;
                for (try e.expand(alternative.expression)) |symbols| try e.produce(rule, &.{symbols}, precedence);
            }
        }
    }

    // ---- Expressions to alternatives

    fn expand(e: *Expansion, expression: Expression) Error![]const Sequence {
        switch (expression) {
            .reference => |reference| return e.symbolsOf(reference),
            .sequence => |parts| return e.join(parts),
            .repeat => |repeat| return e.repeated(repeat),
            .intersection, .complement, .shortest => unreachable, // of a terminal
            .alternatives => |alternatives| {
                var all: ArrayList(Sequence) = .empty;
                for (alternatives.items) |alternative| {
                    const more = try e.expand(alternative);
                    try all.appendSlice(e.arena, more);
                }
                return all.items;
            },
        }
    }

    /// A terminal that may be the empty text is one that is not, or nothing.
    fn symbolsOf(e: *Expansion, reference: syntax_tree.Reference) Error![]const Sequence {
        const found = try e.symbolOf(reference) orelse return e.arena.dupe(Sequence, &.{&.{}});
        const alone = try e.one(found);
        if (found.is_rule) return alone;
        const properties = e.terminals.entries.items[found.index].tree.properties;
        // With look-around it may be empty in some places alone (cfg/contexts.zig).
        if (!properties.matches_empty or properties.looks) return alone;
        return e.arena.dupe(Sequence, &.{ alone[0], &.{} });
    }

    fn one(e: *Expansion, symbol: Symbol) Error![]const Sequence {
        const sequence = try e.arena.dupe(Symbol, &.{symbol});
        return e.arena.dupe(Sequence, &.{sequence});
    }

    fn join(e: *Expansion, parts: []const Expression) Error![]const Sequence {
        var product: Product = .{ .expansion = e };
        try product.lists.append(e.arena, .empty);
        for (parts) |part| {
            const choices = try e.expand(part);
            if (product.canTake(choices)) {
                try product.multiply(choices);
            } else {
                try product.append(&.{try e.group(choices, e.labelOf(part))});
            }
        }
        const sequences = try e.arena.alloc(Sequence, product.lists.items.len);
        for (sequences, product.lists.items) |*to, list| to.* = list.items;
        return sequences;
    }

    /// Sequences under construction: one for each way to choose among the parts so far.
    const Product = struct {
        expansion: *Expansion,
        lists: ArrayList(ArrayList(Symbol)) = .empty,
        n_symbols: usize = 0,

        fn append(p: *Product, symbols: Sequence) Error!void {
            for (p.lists.items) |*list| try list.appendSlice(p.expansion.arena, symbols);
            p.n_symbols += symbols.len * p.lists.items.len;
        }

        fn canTake(p: *const Product, choices: []const Sequence) bool {
            if (choices.len == 1) return true;
            if (choices.len > alternatives_max / p.lists.items.len) return false;
            return p.n_symbols * choices.len + p.lists.items.len * countSymbols(choices) <= symbols_max;
        }

        fn multiply(p: *Product, choices: []const Sequence) Error!void {
            if (choices.len == 1) return p.append(choices[0]);
            const e = p.expansion;
            const n_symbols = p.n_symbols * choices.len + p.lists.items.len * countSymbols(choices);
            var all: ArrayList(ArrayList(Symbol)) = try .initCapacity(e.arena, p.lists.items.len * choices.len);
            for (p.lists.items) |head| for (choices) |tail| {
                var list: ArrayList(Symbol) = try .initCapacity(e.arena, head.items.len + tail.len);
                list.appendSliceAssumeCapacity(head.items);
                list.appendSliceAssumeCapacity(tail);
                all.appendAssumeCapacity(list);
            };
            p.lists = all;
            p.n_symbols = n_symbols;
        }
    };

    fn countSymbols(choices: []const Sequence) usize {
        var n: usize = 0;
        for (choices) |choice| n += choice.len;
        return n;
    }

    // ---- Repetition

    fn repeated(e: *Expansion, repeat: *const syntax_tree.Repeat) Error![]const Sequence {
        const choices = try e.expand(repeat.expression);
        var some: ArrayList(Sequence) = try .initCapacity(e.arena, choices.len + 1);
        for (choices) |choice| if (choice.len > 0) some.appendAssumeCapacity(choice);
        const is_optional = repeat.min == 0 or some.items.len < choices.len;
        if (some.items.len == 0 or repeat.max == 0) return e.arena.dupe(Sequence, &.{&.{}});

        const label: Label = .{ .text = repeat.text, .place = repeat.place };
        if (repeat.max == null) {
            const symbol = try e.oneOrMore(some.items, label);
            if (repeat.min > 1 and !is_optional) {
                var all: ArrayList(Sequence) = .empty;
                for (try e.times(some.items, repeat.min - 1, label)) |first| {
                    try all.append(e.arena, try std.mem.concat(e.arena, Symbol, &.{ first, &.{symbol} }));
                }
                return all.items;
            }
            some.clearRetainingCapacity();
            try some.append(e.arena, (try e.one(symbol))[0]);
        } else if (repeat.max.? > 1) {
            return e.counted(some.items, if (is_optional) 0 else repeat.min, repeat.max.?, label);
        }
        if (is_optional) try some.append(e.arena, &.{});
        return some.items;
    }

    fn times(e: *Expansion, choices: []const Sequence, n: u32, label: Label) Error![]const Sequence {
        return if (n == 1) choices else e.counted(choices, n, n, label);
    }

    /// `min` to `max` times, where `max` is at least 2.
    fn counted(e: *Expansion, choices: []const Sequence, min: u32, max: u32, label: Label) Error![]const Sequence {
        const is_written_out = max <= copies_max and max - min < alternatives_max;
        const is_symbol = choices.len == 1 and choices[0].len == 1;
        const unit = if (is_symbol or is_written_out and areFew(choices, min, max))
            choices
        else
            try e.one(try e.group(choices, label));
        return if (is_written_out) e.writtenOut(unit, min, max) else e.inBinary(unit[0][0], min, max, label);
    }

    /// Whether that many copies, each choosing for itself, give few enough alternatives.
    fn areFew(choices: []const Sequence, min: u32, max: u32) bool {
        var n_all: usize = 0;
        var n: usize = 1;
        for (0..max + 1) |i| {
            if (i >= min) n_all +|= n;
            n *|= choices.len;
        }
        return n_all <= alternatives_max and max * countSymbols(choices) <= copied_symbols_max;
    }

    fn writtenOut(e: *Expansion, unit: []const Sequence, min: u32, max: u32) Error![]const Sequence {
        var all: ArrayList(Sequence) = .empty;
        var product: Product = .{ .expansion = e };
        try product.lists.append(e.arena, .empty);
        for (0..max + 1) |n| {
            if (n > 0) try product.multiply(unit);
            if (n < min) continue;
            for (product.lists.items) |list| try all.append(e.arena, try e.arena.dupe(Symbol, list.items));
        }
        return all.items;
    }

    fn inBinary(e: *Expansion, symbol: Symbol, min: u32, max: u32, label: Label) Error![]const Sequence {
        var exactly: ArrayList(Symbol) = .empty;
        for (0..32) |i| {
            const power: u5 = @intCast(31 - i);
            if (min >> power & 1 != 0) try exactly.append(e.arena, try e.timesPower(symbol, power, label));
        }
        const least = try e.arena.dupe(Symbol, exactly.items);
        if (max == min) return e.arena.dupe(Sequence, &.{least});
        try exactly.append(e.arena, try e.upTo(symbol, max - min, label));
        return e.arena.dupe(Sequence, &.{ least, exactly.items });
    }

    fn oneOrMore(e: *Expansion, choices: []const Sequence, label: Label) Error!Symbol {
        const helper = try e.helperOf('+', 0, choices, try e.nameOf(label, "+", 0), label.place);
        if (helper.is_new) for (choices) |choice| {
            try e.produce(helper.symbol.index, &.{choice}, null);
            try e.produce(helper.symbol.index, &.{ &.{helper.symbol}, choice }, null);
        };
        return helper.symbol;
    }

    /// Exactly 2^power times: twice half as often. So a count of any size takes few states, and the parser counts in binary on its
    /// stack.
    fn timesPower(e: *Expansion, symbol: Symbol, power: u5, label: Label) Error!Symbol {
        if (power == 0) return symbol;
        const n = @as(u32, 1) << power;
        const helper = try e.helperOf('=', n, &.{&.{symbol}}, try e.nameOf(label, "~", n), label.place);
        if (helper.is_new) {
            const half = try e.timesPower(symbol, power - 1, label);
            try e.produce(helper.symbol.index, &.{&.{ half, half }}, null);
        }
        return helper.symbol;
    }

    /// One to n times. With p the largest power of two up to n: fewer than p, or p, or p and then up to n - p.
    fn upTo(e: *Expansion, symbol: Symbol, n: u32, label: Label) Error!Symbol {
        if (n == 1) return symbol;
        const helper = try e.helperOf('<', n, &.{&.{symbol}}, try e.nameOf(label, "~1..", n), label.place);
        if (helper.is_new) {
            const power: u5 = @intCast(31 - @clz(n));
            const p = @as(u32, 1) << power;
            const whole = try e.timesPower(symbol, power, label);
            const fewer = try e.upTo(symbol, p - 1, label);
            try e.produce(helper.symbol.index, &.{&.{fewer}}, null);
            try e.produce(helper.symbol.index, &.{&.{whole}}, null);
            if (n > p) {
                const rest = try e.upTo(symbol, n - p, label);
                try e.produce(helper.symbol.index, &.{&.{ whole, rest }}, null);
            }
        }
        return helper.symbol;
    }

    /// A helper for choices. It can be empty if one of them is.
    fn group(e: *Expansion, choices: []const Sequence, label: Label) Error!Symbol {
        const helper = try e.helperOf('(', 0, choices, try e.nameOf(label, "", 0), label.place);
        if (helper.is_new) for (choices) |choice| try e.produce(helper.symbol.index, &.{choice}, null);
        return helper.symbol;
    }

    // ---- Rules and productions

    /// Null for a terminal that is the empty text alone.
    fn symbolOf(e: *Expansion, reference: syntax_tree.Reference) Error!?Symbol {
        if (reference == .name) {
            const name = e.tree.names[reference.name];
            if (!name.is_terminal) return .{ .index = @intCast(try e.ruleOf(name.definition.?)), .is_rule = true };
        }
        const id = try e.terminals.use(reference);
        const entry = e.terminals.entries.items[id];
        if (entry.skip) {
            return e.terminals.fail(e.place, "the rule {s} uses {s}, which %ignore takes away", .{ e.definition.name, entry.name });
        }
        if (entry.tree.properties.is_empty) return null;
        return .{ .index = @intCast(id), .is_rule = false };
    }

    fn ruleOf(e: *Expansion, definition: u32) Error!u32 {
        if (e.of_definitions[definition] == none) {
            const rule = e.tree.rules[definition];
            e.of_definitions[definition] = try e.addRule(rule.name, rule.place);
            try e.waiting.append(e.arena, definition);
        }
        return e.of_definitions[definition];
    }

    fn addRule(e: *Expansion, name: []const u8, place: Place) Error!u32 {
        if (e.rules.items.len == number_max) return e.failLimit(place, "the grammar has more than {d} rules");
        try e.rules.append(e.arena, .{ .name = name, .place = place });
        return @intCast(e.rules.items.len - 1);
    }

    const Helper = struct { symbol: Symbol, is_new: bool };

    fn helperOf(e: *Expansion, kind: u8, n: u32, choices: []const Sequence, name: []const u8, place: Place) Error!Helper {
        var key: ArrayList(u8) = .empty;
        try key.append(e.arena, kind);
        try key.appendSlice(e.arena, std.mem.asBytes(&n));
        for (choices) |choice| {
            const length: u32 = @intCast(choice.len);
            try key.appendSlice(e.arena, std.mem.asBytes(&length));
            try key.appendSlice(e.arena, std.mem.sliceAsBytes(choice));
        }
        const helper = try e.helpers.put(e.arena, key.items);
        const is_new = helper == e.helper_rules.items.len;
        if (is_new) try e.helper_rules.append(e.arena, try e.addRule(name, place));
        return .{ .symbol = .{ .index = @intCast(e.helper_rules.items[helper]), .is_rule = true }, .is_new = is_new };
    }

    /// Adds the production whose symbols are those of `parts` in order, unless the rule has it already.
    fn produce(e: *Expansion, rule: u32, parts: []const Sequence, precedence: ?bnf.Precedence) Error!void {
        const n_symbols = countSymbols(parts);
        const key = try e.arena.alloc(Symbol, n_symbols + 1);
        key[0] = .{ .index = @intCast(rule), .is_rule = true };
        var at: usize = 1;
        for (parts) |part| {
            @memcpy(key[at..][0..part.len], part);
            at += part.len;
        }
        const n_known = e.known.count();
        if (try e.known.put(e.arena, std.mem.sliceAsBytes(key)) < n_known) return;
        if (e.productions.items.len == number_max) return e.failLimit(e.place, "the grammar has more than {d} productions");
        if (n_symbols > number_max) return e.failLimit(e.place, "the alternative has more than {d} symbols");
        if (e.productions.items.len % 64 == 0) try e.budget.check("the grammar", e.diag);
        try e.productions.append(e.arena, .{
            .rule = rule,
            .symbols = key[1..],
            .precedence = precedence orelse e.precedenceOf(key[1..]),
            .place = e.place,
        });
    }

    /// The precedence of the last terminal.
    fn precedenceOf(e: *const Expansion, symbols: Sequence) ?bnf.Precedence {
        var i = symbols.len;
        while (i > 0) {
            i -= 1;
            if (!symbols[i].is_rule) return e.terminals.entries.items[symbols[i].index].precedence;
        }
        return null;
    }

    // ---- Names of helpers

    /// What a helper is named after.
    const Label = struct { text: []const u8, place: Place };

    const label_bytes_max = 48;

    fn labelOf(e: *const Expansion, expression: Expression) Label {
        return switch (expression) {
            .alternatives => |alternatives| .{ .text = alternatives.text, .place = alternatives.place },
            .repeat => |repeat| .{ .text = repeat.whole, .place = repeat.place },
            .reference, .sequence, .intersection, .complement, .shortest => .{ .text = "", .place = e.place },
        };
    }

    fn nameOf(e: *Expansion, label: Label, operator: []const u8, count: u32) Error![]const u8 {
        var buffer: [256]u8 = undefined;
        var length: usize = undefined;
        if (label.text.len == 0 or label.text.len > label_bytes_max or std.mem.findScalar(u8, label.text, '\n') != null) {
            const rule = e.definition.name[0..@min(e.definition.name.len, label_bytes_max)];
            length = message.print(&buffer, "(part of {s} at {f}){s}", .{ rule, label.place, operator }).len;
        } else {
            length = message.print(&buffer, "{s}{s}", .{ label.text, operator }).len;
        }
        if (count > 0) length += message.print(buffer[length..], "{d}", .{count}).len;
        return e.arena.dupe(u8, buffer[0..length]);
    }

    fn failLimit(e: *const Expansion, place: Place, comptime format: []const u8) diagnostic.Error {
        return e.diag.fail(.limit, "{f}: " ++ format, .{ place, number_max });
    }
};
