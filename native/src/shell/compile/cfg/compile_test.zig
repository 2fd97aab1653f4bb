//! Random context-free grammars, compiled, against an Earley recogniser: whether a text can continue, and whether it may end.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Budget = @import("engine").budget.Budget;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const Recognizer = @import("engine").recognizer.Recognizer;
const RecognizerState = @import("engine").recognizer_state.RecognizerState;
const Language = @import("engine").language.Language;
const ast = @import("../regex/ast.zig");
const cfg = @import("grammar.zig");
const compile = @import("compile.zig").compile;
const compiler = @import("../compile.zig");

const alphabet = "abc";

/// A symbol is a byte of the alphabet, or a rule.
const Symbol = union(enum) { byte: u8, rule: u32 };
const Production = struct { rule: u32, symbols: []const Symbol };

/// "An efficient context-free parsing algorithm", J. Earley, 1970, without its refinements.
const Earley = struct {
    arena: Allocator,
    productions: []const Production,
    columns: ArrayList(ArrayList(Item)) = .empty,

    const Item = struct { production: u32, dot: u32, origin: u32 };

    fn init(arena: Allocator, productions: []const Production, n_rules: usize) !Earley {
        // Only rules that end, so that each item can be completed.
        const ends = try arena.alloc(bool, n_rules);
        @memset(ends, false);
        for (0..n_rules + 1) |_| for (productions) |p| {
            if (allEnd(ends, p.symbols)) ends[p.rule] = true;
        };
        var kept: ArrayList(Production) = .empty;
        for (productions) |p| if (allEnd(ends, p.symbols)) try kept.append(arena, p);
        var e: Earley = .{ .arena = arena, .productions = kept.items };
        try e.columns.append(arena, .empty);
        try e.predict(0, 0);
        try e.close(0);
        return e;
    }

    fn allEnd(ends: []const bool, symbols: []const Symbol) bool {
        for (symbols) |symbol| if (symbol == .rule and !ends[symbol.rule]) return false;
        return true;
    }

    fn push(e: *Earley, byte: u8) !bool {
        const n = e.columns.items.len;
        try e.columns.append(e.arena, .empty);
        for (e.columns.items[n - 1].items) |item| {
            const symbols = e.productions[item.production].symbols;
            if (item.dot == symbols.len or symbols[item.dot] != .byte or symbols[item.dot].byte != byte) continue;
            try e.add(n, .{ .production = item.production, .dot = item.dot + 1, .origin = item.origin });
        }
        try e.close(n);
        return e.columns.items[n].items.len > 0;
    }

    fn pop(e: *Earley) void {
        _ = e.columns.pop();
    }

    fn canEnd(e: *const Earley) bool {
        for (e.columns.items[e.columns.items.len - 1].items) |item| {
            const p = e.productions[item.production];
            if (p.rule == 0 and item.origin == 0 and item.dot == p.symbols.len) return true;
        }
        return false;
    }

    fn add(e: *Earley, column: usize, item: Item) !void {
        for (e.columns.items[column].items) |known| if (std.meta.eql(known, item)) return;
        try e.columns.items[column].append(e.arena, item);
    }

    fn predict(e: *Earley, column: usize, rule: u32) !void {
        for (e.productions, 0..) |p, i| if (p.rule == rule) {
            try e.add(column, .{ .production = @intCast(i), .dot = 0, .origin = @intCast(column) });
        };
    }

    /// Until nothing is added: rules may be empty.
    fn close(e: *Earley, column: usize) !void {
        var before: usize = std.math.maxInt(usize);
        while (before != e.columns.items[column].items.len) {
            before = e.columns.items[column].items.len;
            var i: usize = 0;
            while (i < e.columns.items[column].items.len) : (i += 1) {
                const item = e.columns.items[column].items[i];
                const p = e.productions[item.production];
                if (item.dot < p.symbols.len) {
                    if (p.symbols[item.dot] == .rule) try e.predict(column, p.symbols[item.dot].rule);
                    continue;
                }
                var j: usize = 0;
                while (j < e.columns.items[item.origin].items.len) : (j += 1) {
                    const waiting = e.columns.items[item.origin].items[j];
                    const symbols = e.productions[waiting.production].symbols;
                    if (waiting.dot == symbols.len or symbols[waiting.dot] != .rule or symbols[waiting.dot].rule != p.rule) continue;
                    try e.add(column, .{ .production = waiting.production, .dot = waiting.dot + 1, .origin = waiting.origin });
                }
            }
        }
    }
};

fn randomProductions(arena: Allocator, random: std.Random, n_rules: u32) ![]const Production {
    var all: ArrayList(Production) = .empty;
    for (0..n_rules) |rule| for (0..1 + random.uintLessThan(usize, 3)) |_| {
        const symbols = try arena.alloc(Symbol, random.uintLessThan(usize, 4));
        for (symbols) |*symbol| symbol.* = if (random.boolean())
            .{ .byte = alphabet[random.uintLessThan(usize, alphabet.len)] }
        else
            .{ .rule = random.uintLessThan(u32, n_rules) };
        try all.append(arena, .{ .rule = @intCast(rule), .symbols = symbols });
    };
    return all.items;
}

fn grammarOf(arena: Allocator, productions: []const Production, n_rules: u32) !cfg.Grammar {
    const rules = try arena.alloc(cfg.Rule, n_rules);
    for (rules, 0..) |*rule, number| {
        var choice: ArrayList(cfg.Expression) = .empty;
        for (productions) |p| if (p.rule == number) {
            const items = try arena.alloc(cfg.Expression, p.symbols.len);
            for (items, p.symbols) |*item, symbol| item.* = switch (symbol) {
                .byte => |byte| .{ .pattern = try ast.create(arena, .{ .bytes = try arena.dupe(u8, &.{byte}) }) },
                .rule => |r| .{ .rule = r },
            };
            try choice.append(arena, .{ .sequence = items });
        };
        rule.* = .{ .name = "r", .expression = .{ .choice = choice.items } };
    }
    return .{ .rules = rules, .start = 0 };
}

/// All texts of one to three bytes.
fn testVocabulary(gpa: Allocator, texts: *ArrayList([]const u8), arena: Allocator) !*const Vocabulary {
    var bytes: ArrayList(u8) = .empty;
    var offsets: ArrayList(u64) = .empty;
    for (1..4) |length| {
        for (0..std.math.pow(usize, alphabet.len, length)) |number| {
            const text = try arena.alloc(u8, length);
            var rest = number;
            for (text) |*byte| {
                byte.* = alphabet[rest % alphabet.len];
                rest /= alphabet.len;
            }
            try texts.append(arena, text);
            try offsets.append(arena, bytes.items.len);
            try bytes.appendSlice(arena, text);
        }
    }
    try offsets.append(arena, bytes.items.len);
    var diag: Diagnostic = .{};
    return Vocabulary.create(gpa, .{ .n = @intCast(texts.items.len), .bytes = bytes.items, .offsets = offsets.items }, "", &diag);
}

test "random grammars allow what Earley's recogniser allows" {
    const gpa = std.testing.allocator;
    var random: std.Random.DefaultPrng = .init(11);
    var texts_arena: std.heap.ArenaAllocator = .init(gpa);
    defer texts_arena.deinit();
    var texts: ArrayList([]const u8) = .empty;
    const vocabulary = try testVocabulary(gpa, &texts, texts_arena.allocator());
    defer vocabulary.release();
    var n_of: [3]usize = @splat(0);
    for (0..1500) |_| {
        var arena_state: std.heap.ArenaAllocator = .init(gpa);
        defer arena_state.deinit();
        const arena = arena_state.allocator();
        const n_rules = 1 + random.random().uintLessThan(u32, 5);
        const productions = try randomProductions(arena, random.random(), n_rules);
        var oracle: Earley = try .init(arena, productions, n_rules);
        const is_empty = oracle.columns.items[0].items.len == 0;
        const grammar = try grammarOf(arena, productions, n_rules);
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        var warnings: ArrayList([]const u8) = .empty;
        const language = compile(gpa, arena, &vocabulary.tokens, &grammar, &warnings, &budget, &diag) catch |e| {
            if (!is_empty) std.debug.print("{s}\n", .{diag.message()});
            try std.testing.expectEqual(error.Failed, e);
            try std.testing.expect(is_empty);
            continue;
        };
        n_of[
            switch (language) {
                .regex => 0,
                .grammar => 1,
                .ambiguous => 2,
                else => unreachable,
            }
        ] += 1;
        try std.testing.expect(!is_empty);
        const trie = try vocabulary.byteTrie(&diag);
        const recognizer = try Recognizer.create(gpa, vocabulary, trie, language, .owned, "", .{ .mask_bytes_max = 1 << 20 });
        defer recognizer.release();
        errdefer for (productions) |p| {
            std.debug.print("r{d}:", .{p.rule});
            for (p.symbols) |symbol| switch (symbol) {
                .byte => |byte| std.debug.print(" {c}", .{byte}),
                .rule => |r| std.debug.print(" r{d}", .{r}),
            };
            std.debug.print("\n", .{});
        };
        for (0..4) |_| try walkBoth(gpa, &oracle, recognizer, texts.items, random.random());
    }
    // All three kinds of language are met.
    for (n_of) |n| try std.testing.expect(n > 100);
}

fn walkBoth(gpa: Allocator, oracle: *Earley, recognizer: *Recognizer, texts: []const []const u8, random: std.Random) !void {
    var state: RecognizerState = .init(gpa, recognizer, .{});
    defer state.deinit();
    oracle.columns.shrinkRetainingCapacity(1);
    for (0..6) |_| {
        try std.testing.expectEqual(oracle.canEnd(), try state.canStop());
        const legal = (try state.allowed()) orelse return;
        var allowed: [64]i32 = undefined;
        var n: usize = 0;
        for (texts, 0..) |text, token| {
            var pushed: usize = 0;
            const goes_on = for (text) |byte| {
                pushed += 1;
                if (!try oracle.push(byte)) break false;
            } else true;
            for (0..pushed) |_| oracle.pop();
            if (goes_on != isLegal(legal, @intCast(token))) {
                std.debug.print("{s}: token {s}: {}\n", .{ @tagName(recognizer.language), text, goes_on });
                return error.Different;
            }
            if (goes_on) {
                allowed[n] = @intCast(token);
                n += 1;
            }
        }
        if (n == 0) return;
        const token = allowed[random.uintLessThan(usize, n)];
        for (texts[@intCast(token)]) |byte| _ = try oracle.push(byte);
        const result = try state.accept(token, 0, .refuse);
        try std.testing.expect(!result.refused);
    }
}

fn isLegal(legal: anytype, token: i32) bool {
    return switch (legal) {
        .list => |ids| std.mem.findScalar(i32, ids, token) != null,
        .bitmap => |bitmap| bitmap.words[@intCast(@divTrunc(token, 32))] >> @intCast(@mod(token, 32)) & 1 != 0,
        .all => true,
    };
}

test "a text that has too many readings is an error, and leaves everything as it was" {
    const gpa = std.testing.allocator;
    var diag: Diagnostic = .{};
    const many: [4096]u8 = @splat('a');
    const offsets = [_]u64{ 0, 1, many.len + 1, many.len + 2 };
    const vocabulary = try Vocabulary.create(gpa, .{ .n = 3, .bytes = "a" ++ many ++ "b", .offsets = &offsets }, "", &diag);
    defer vocabulary.release();
    const grammar = "start: s\ns: t t t | t t | \"a\"\nt: s | \"aa\"";
    const recognizer = try compiler.compile(gpa, vocabulary, .{ .lark = .{ .text = grammar } }, .{}, &diag);
    defer recognizer.release();
    var state: RecognizerState = .init(gpa, recognizer, .{ .end = &.{2} });
    defer state.deinit();
    try std.testing.expectError(error.TooLarge, state.accept(1, 0, .refuse));
    const n_cells = state.pool.nodes.items.len;
    try std.testing.expectError(error.TooLarge, state.allowed());
    try std.testing.expectEqual(n_cells, state.pool.nodes.items.len);
    try std.testing.expect(!(try state.accept(0, 0, .refuse)).refused);
    try std.testing.expect(try state.canStop());
}

test "alternatives that are others joined make no text ambiguous" {
    const gpa = std.testing.allocator;
    var diag: Diagnostic = .{};
    const many: [4096]u8 = @splat('a');
    const offsets = [_]u64{ 0, 1, many.len + 1, many.len + 2 };
    const vocabulary = try Vocabulary.create(gpa, .{ .n = 3, .bytes = "a" ++ many ++ "b", .offsets = &offsets }, "", &diag);
    defer vocabulary.release();
    for ([_][]const u8{
        "start: s\ns: s s s | s s | \"a\"",
        "start: s\ns: \"a\"? s s s \"a\"? | \"a\" |",
        "start: s\ns: s \"b\" | s s | \"a\" s s | \"a\" \"a\" s | \"a\"",
    }) |grammar| {
        const recognizer = try compiler.compile(gpa, vocabulary, .{ .lark = .{ .text = grammar } }, .{}, &diag);
        defer recognizer.release();
        var state: RecognizerState = .init(gpa, recognizer, .{ .end = &.{2} });
        defer state.deinit();
        try std.testing.expect(!(try state.accept(1, 0, .refuse)).refused);
        try std.testing.expect(try state.canStop());
    }
}
