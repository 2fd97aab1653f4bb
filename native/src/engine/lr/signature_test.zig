//! Tables of signatures, of a grammar that is written out; and the store of a grammar's tables.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const gpa = std.testing.allocator;
const bitmap = @import("../base/bitmap.zig");
const Budget = @import("../base/budget.zig").Budget;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const program_module = @import("program.zig");
const signature = @import("signature.zig");
const Table = signature.Table;
const selection = @import("selection.zig");
const TableStore = @import("table_store.zig").TableStore;
const brackets = @import("brackets_test.zig");
const lexer = brackets.lexer;

/// The node at the end of a path of match lists.
fn nodeAt(table: *const Table, path: []const u16) ?u32 {
    var n: u32 = 0;
    for (path) |list| {
        var child = n + 1;
        n = while (child < table.nodes[n].end) : (child = table.nodes[child].end) {
            if (table.nodes[child].list == list) break child;
        } else return null;
    }
    return n;
}

/// The tokens with this signature, in any order.
fn expectTokens(expected: []const i32, table: *const Table, path: []const u16, reach: u16) !void {
    var found: ArrayList(i32) = .empty;
    defer found.deinit(gpa);
    if (nodeAt(table, path)) |n| for (table.groups[table.nodes[n].groups..table.nodes[n + 1].groups]) |group| {
        if (group.reach != reach) continue;
        try std.testing.expect(!group.is_bitmap);
        try found.appendSlice(gpa, table.ids[group.start..][0..group.n_tokens]);
    };
    std.sort.heap(i32, found.items, {}, std.sort.asc(i32));
    try std.testing.expectEqualSlices(i32, expected, found.items);
}

// Match lists, which are the lexer's states less 1; and reach sets, which have their numbers.
const open = lexer.open - 1;
const close = lexer.close - 1;
const x = lexer.x - 1;

test "tokens stand by the lexemes that end in them and by the one that is pending" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var table = try signature.buildRestart(gpa, f.source(), 0);
    defer table.deinit(gpa);
    try expectTokens(&.{ 0, 10, 12 }, &table, &.{}, lexer.open); // `(` twice, and after a space, which is left out
    try expectTokens(&.{1}, &table, &.{}, lexer.close);
    try expectTokens(&.{ 2, 7 }, &table, &.{}, lexer.x); // `x` and `xx`
    try expectTokens(&.{3}, &table, &.{}, lexer.space);
    try expectTokens(&.{4}, &table, &.{open}, lexer.open);
    try expectTokens(&.{5}, &table, &.{x}, lexer.close);
    try expectTokens(&.{6}, &table, &.{close}, lexer.close);
    try expectTokens(&.{8}, &table, &.{ x, close }, lexer.close);
    try expectTokens(&.{11}, &table, &.{ open, x }, lexer.close);
    // `()` and `x x` are nowhere: no `)` comes after `(` in any text, and no `x` after `x`.
    var n: usize = 0;
    for (table.groups) |group| n += group.n_tokens;
    try std.testing.expectEqual(brackets.end_token - 2, n);
    // What decides at the root: which lexemes may be pending, or end and continue.
    const all = brackets.setOf(&.{ brackets.open, brackets.close, brackets.x, brackets.space });
    try std.testing.expectEqualSlices(u64, &all, table.interests[0..2]);
    try expectOrdered(&table);
}

/// What selection relies on.
fn expectOrdered(table: *const Table) !void {
    const last = table.nodes.len - 1;
    try std.testing.expectEqual(last, table.nodes[0].end);
    try std.testing.expectEqual(table.groups.len, table.nodes[last].groups);
    for (table.nodes[0..last], table.nodes[1..], 0..) |*node, next, n| {
        try std.testing.expect(node.groups <= next.groups and node.end > n and node.end <= last);
        var firsts: u64 = 0;
        var reach: u16 = 0;
        for (table.groups[node.groups..next.groups]) |group| {
            try std.testing.expect(group.reach >= reach);
            reach = group.reach;
            firsts |= group.first;
        }
        var child: u32 = @intCast(n + 1);
        while (child < node.end) : (child = table.nodes[child].end) firsts |= table.nodes[child].firsts;
        try std.testing.expectEqual(firsts, node.firsts);
    }
}

test "a continuation has the tokens whose first byte continues" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var table = try signature.buildContinuation(gpa, f.source(), lexer.x);
    defer table.deinit(gpa);
    try expectTokens(&.{ 2, 7 }, &table, &.{}, lexer.x);
    try expectTokens(&.{5}, &table, &.{x}, lexer.close);
    try expectTokens(&.{8}, &table, &.{ x, close }, lexer.close);
    try std.testing.expectEqual(4, table.ids.len);
    try std.testing.expectEqual(signature.no_base, table.base);
    var none = try signature.buildContinuation(gpa, f.source(), lexer.open);
    defer none.deinit(gpa);
    try std.testing.expectEqual(0, none.groups.len);
}

test "a token of too many lexemes makes a table too large" {
    const depth_max = 200;
    inline for (.{ depth_max + 1, depth_max + 2, 400 }) |n| {
        const many: [n]u8 = @splat('(');
        const f: *brackets.Fixture = try .create(comptime brackets.vocabularyOf(&.{ &many, "" }));
        defer f.destroy();
        // The last `(` is pending.
        if (n - 1 > depth_max) {
            try std.testing.expectError(error.TooLarge, signature.buildRestart(gpa, f.source(), 0));
        } else {
            var table = try signature.buildRestart(gpa, f.source(), 0);
            table.deinit(gpa);
        }
    }
}

// ---- States that differ from another one in a few tokens

/// The lexer of `if` and of names, /[a-z]+/: a state for `i`, one for `if`, one for names.
const words = struct {
    const start = 1;
    const i = 2;
    const @"if" = 3;
    const name = 4;
    const n = 5;
    /// Classes: none, `i`, `f`, other letters.
    var transitions = [4 * n]u16{
        0, 0,    0,    0,    0,
        0, i,    name, name, name,
        0, name, 3,    name, name,
        0, name, name, name, name,
    };
    var matches = [n]u16{ 0, 0, 1, 2, 1 };
    var match_offsets = [_]u32{ 0, 0, 1, 2 };
    /// Terminal 0 is a name, 1 the keyword.
    var match_patterns = [_]u16{ 0, 1 };
    var reaches = [n]u16{ 0, 1, 1, 1, 2 };
    var reach_sets = [_]u64{ 0, 0, 0b11, 0, 0b01, 0 };
    const columns = columns: {
        var c: [256]u32 = @splat(0);
        for ('a'..'z' + 1) |letter| c[letter] = 3 * n;
        c['i'] = n;
        c['f'] = 2 * n;
        break :columns c;
    };

    fn program() program_module.Program {
        var p = brackets.program;
        p.lexer = .{
            .columns = columns,
            .transitions = &transitions,
            .matches = &matches,
            .match_offsets = &match_offsets,
            .match_patterns = &match_patterns,
            .reaches = &reaches,
            .reach_sets = &reach_sets,
            .words = 2,
        };
        p.skip = &.{ 0, 0 };
        p.is_skip = &.{ false, false, false };
        p.reaches_skip = &.{ false, false, false };
        p.follows = &.{ 3, 0, 3, 0, 3, 0 };
        p.follows_reach = &.{ false, true, true, false, true, true, false, true, true };
        return p;
    }

    /// Tokens that make of `i` the keyword are few.
    const tokens = brackets.vocabularyOf(&.{
        "f", "fa", "f", "a", "aa", "ab", "ba", "bc", "ca", "da", "dab", "dac", "e", "ea", "g", "ga", "gab", "gac", "i", "if", "ifs", "",
    });
};

test "a state differs from its base in what it leaves out and what it adds" {
    const f: *brackets.Fixture = try .create(words.tokens);
    defer f.destroy();
    f.program = words.program();
    const source = f.source();
    try std.testing.expectEqual(words.name, signature.baseOf(source, words.i));
    try std.testing.expectEqual(signature.no_base, signature.baseOf(source, words.name));
    var base = try signature.buildContinuation(gpa, source, words.name);
    defer base.deinit(gpa);
    var table = try signature.buildContinuation(gpa, source, words.i);
    defer table.deinit(gpa);
    try std.testing.expectEqual(words.name, table.base);
    // `f` twice may still be the keyword; `fa` is a name as it is in the base.
    try std.testing.expectEqualSlices(i32, &.{ 0, 2 }, table.except);
    try expectTokens(&.{ 0, 2 }, &table, &.{}, words.reaches[words.@"if"]);
    try std.testing.expectEqual(2, table.ids.len);
    try std.testing.expectEqual(words.tokens.n - 1, base.ids.len);
}

// ---- The store

const everything: Budget = .{};

test "a table is built once, and lent to every thread" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var store: TableStore = try .init(gpa, lexer.n, 1);
    defer store.deinit();
    const Found = struct {
        tables: [lexer.n]?*const Table = @splat(null),
        restart: ?*const Table = null,
        failed: bool = false,

        fn all(found: *@This(), of: *TableStore, source: signature.Source) void {
            for (0..lexer.n) |state| {
                if (state == 0 or state == lexer.start) continue;
                var restarts: [1]*const Table = undefined;
                const tables = (of.forState(source, @intCast(state), &restarts) catch null) orelse {
                    found.failed = true;
                    return;
                };
                found.tables[state] = tables.continuation;
                found.restart = tables.restarts[0];
            }
        }
    };
    var found: [4]Found = @splat(.{});
    var threads: [found.len]std.Thread = undefined;
    for (&threads, &found) |*thread, *of| thread.* = try std.Thread.spawn(.{}, Found.all, .{ of, &store, f.source() });
    for (threads) |thread| thread.join();
    for (found) |of| {
        try std.testing.expect(!of.failed);
        try std.testing.expectEqual(found[0], of);
    }
    try std.testing.expectEqual(lexer.n - 2 + 1, store.count());
    var bytes: usize = found[0].restart.?.bytes();
    for (found[0].tables) |table| if (table) |one| {
        bytes += one.bytes();
    };
    try std.testing.expectEqual(bytes, f.account.bytes.load(.monotonic));
}

test "before the first byte of a lexeme there is nothing to continue" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var store: TableStore = try .init(gpa, lexer.n, 1);
    defer store.deinit();
    var restarts: [1]*const Table = undefined;
    const tables = (try store.forState(f.source(), 0, &restarts)).?;
    try std.testing.expectEqual(null, tables.continuation);
    try std.testing.expectEqual(1, store.count());
}

test "the table of a state comes with that of its base" {
    const f: *brackets.Fixture = try .create(words.tokens);
    defer f.destroy();
    f.program = words.program();
    var store: TableStore = try .init(gpa, words.n, 1);
    defer store.deinit();
    var restarts: [1]*const Table = undefined;
    const of_i = (try store.forState(f.source(), words.i, &restarts)).?;
    const of_name = (try store.forState(f.source(), words.name, &restarts)).?;
    try std.testing.expectEqual(of_name.continuation, of_i.base);
    try std.testing.expectEqual(null, of_name.base);
}

test "when a table does not fit, no further one is tried, and nothing is taken for it" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var store: TableStore = try .init(gpa, lexer.n, 1);
    defer store.deinit();
    var diag: Diagnostic = .{};
    var restarts: [1]*const Table = undefined;
    _ = (try store.forState(f.source(), 0, &restarts)).?;
    const taken = f.account.bytes.load(.monotonic);
    f.account.bytes_max = taken;
    try std.testing.expectEqual(null, try store.forState(f.source(), lexer.x, &restarts));
    try std.testing.expectEqual(taken, f.account.bytes.load(.monotonic));
    f.account.bytes_max = 1 << 20;
    try store.prepare(f.source(), &everything, &diag);
    try std.testing.expectEqual(null, try store.forState(f.source(), lexer.x, &restarts));
    try std.testing.expectEqual(1, store.count());
    // What fits already stays of use.
    try std.testing.expect(try store.forState(f.source(), 0, &restarts) != null);
}

test "all tables at once" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    var store: TableStore = try .init(gpa, lexer.n, 1);
    defer store.deinit();
    var diag: Diagnostic = .{};
    try store.prepare(f.source(), &everything, &diag);
    try std.testing.expectEqual(lexer.n - 1 + 1, store.count());
    const late: Budget = .{ .deadline_ns = 1 };
    try std.testing.expectError(error.Failed, store.prepare(f.source(), &late, &diag));
    try std.testing.expectEqual(.limit, diag.status);
}

test "a table that is too large is not tried again" {
    const many: [400]u8 = @splat('(');
    const f: *brackets.Fixture = try .create(comptime brackets.vocabularyOf(&.{ &many, "" }));
    defer f.destroy();
    var store: TableStore = try .init(gpa, lexer.n, 1);
    defer store.deinit();
    var restarts: [1]*const Table = undefined;
    for (0..2) |_| try std.testing.expectEqual(null, try store.forState(f.source(), 0, &restarts));
    try std.testing.expectEqual(0, store.count());
    try std.testing.expect(!store.is_full.load(.monotonic));
}

test "out of memory leaves nothing behind" {
    const f: *brackets.Fixture = try .create(brackets.vocabulary);
    defer f.destroy();
    const once = struct {
        fn once(allocator: Allocator, source: signature.Source) !void {
            var store: TableStore = try .init(allocator, lexer.n, 1);
            defer store.deinit();
            var restarts: [1]*const Table = undefined;
            _ = try store.forState(source, lexer.x, &restarts);
        }
    }.once;
    try std.testing.checkAllAllocationFailures(gpa, once, .{f.source()});
}
