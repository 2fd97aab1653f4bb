//! The engine's automaton of strings against sets that are told by trying each string.

const std = @import("std");
const testing = std.testing;
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const engine = @import("engine");
const Diagnostic = engine.diagnostic.Diagnostic;
const Budget = engine.budget.Budget;
const Strings = engine.schema_strings.Strings;
const Spec = engine.schema_strings.Spec;
const patterns = @import("patterns.zig");

/// Two of them begin with the same byte.
const letters = [_][]const u8{ "a", "b", "\u{e9}", "\u{ea}" };

const expressions = [_][]const u8{
    "",    "a",          "^a",           "b$",          "^(ab)*$",     "^a{2,3}$",     "^(aaa)*$", "^(?:a|bb)*$", "\u{e9}", "^[^\u{e9}]*$",
    "^.$", "^(aa|bbb)$", "^(...)*(b|)$", "^(?!.*ab).*", "^a*$|^b{5}$", "\\b\u{e9}\\b", "(?=.a)b?", "^[]$",        "^$",     "^(..)+$",
};

const all_max = 5;

fn isMember(spec: *const Spec, string: []const u8) bool {
    const n = std.unicode.utf8CountCodepoints(string) catch unreachable;
    if (n < spec.length.min or n > spec.length.max) return false;
    for (spec.matches) |dfa| if (!patterns.accepts(dfa, string)) return false;
    for (spec.mismatches) |dfa| if (patterns.accepts(dfa, string)) return false;
    for (spec.excluded) |other| if (std.mem.eql(u8, other, string)) return false;
    return true;
}

/// Follows the strings from `state` on, whose content so far is `string`.
fn check(strings: *Strings, state: Strings.State, string: *ArrayList(u8), n: usize) !void {
    try testing.expectEqual(isMember(&strings.spec, string.items), strings.canEnd(state) and !strings.excludes(string.items));
    try testing.expect(try canFinish(strings, state, string, 14));
    if (n == all_max) return;
    for (letters) |letter| {
        const length = string.items.len;
        defer string.shrinkRetainingCapacity(length);
        try string.appendSlice(testing.allocator, letter);
        var after: ?Strings.State = state;
        for (letter, 1..) |byte, n_bytes| {
            after = try strings.next(after.?, byte) orelse {
                after = null;
                break;
            };
            string.shrinkRetainingCapacity(length);
            try string.appendSlice(testing.allocator, letter[0..n_bytes]);
            if (after) |alive| try testing.expect(try canFinish(strings, alive, string, 14));
        }
        string.shrinkRetainingCapacity(length);
        try string.appendSlice(testing.allocator, letter);
        if (after) |alive| try check(strings, alive, string, n + 1) else try expectNone(&strings.spec, string, n + 1);
    }
}

/// No string of the set begins so.
fn expectNone(spec: *const Spec, string: *ArrayList(u8), n: usize) !void {
    try testing.expect(!isMember(spec, string.items));
    if (n >= all_max) return;
    for (letters) |letter| {
        const length = string.items.len;
        defer string.shrinkRetainingCapacity(length);
        try string.appendSlice(testing.allocator, letter);
        try expectNone(spec, string, n + 1);
    }
}

/// Whether up to so many bytes lead to an end, from `state` on, whose content so far is `string`.
fn canFinish(strings: *Strings, state: Strings.State, string: *ArrayList(u8), n_bytes: usize) !bool {
    if (strings.canEnd(state) and !strings.excludes(string.items)) return true;
    if (n_bytes == 0) return false;
    for ("ab\xc3\xa9\xaa") |byte| {
        const after = try strings.next(state, byte) orelse continue;
        try string.append(testing.allocator, byte);
        defer string.shrinkRetainingCapacity(string.items.len - 1);
        if (try canFinish(strings, after, string, n_bytes - 1)) return true;
    }
    return false;
}

fn show(spec: *const Spec, dfas: []const patterns.Dfa, string: []const u8) void {
    for (spec.matches) |dfa| std.debug.print("matches {s}\n", .{expressions[dfa - dfas.ptr]});
    for (spec.mismatches) |dfa| std.debug.print("does not match {s}\n", .{expressions[dfa - dfas.ptr]});
    std.debug.print("{d} to {d} characters, {d} excluded, after '{s}'\n", .{ spec.length.min, spec.length.max, spec.excluded.len, string });
}

test "automata of strings take each byte exactly if a string of the set continues so" {
    const gpa = testing.allocator;
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    var dfas: [expressions.len]patterns.Dfa = undefined;
    for (expressions, &dfas) |expression, *dfa| dfa.* = try patterns.compile(
        arena.allocator(),
        arena.allocator(),
        expression,
        &budget,
        &diag,
    );

    var prng: std.Random.DefaultPrng = .init(5);
    const random = prng.random();
    var string: ArrayList(u8) = .empty;
    defer string.deinit(gpa);
    for (0..300) |_| {
        var chosen: [3]*const patterns.Dfa = undefined;
        for (&chosen) |*dfa| dfa.* = &dfas[random.uintLessThan(usize, dfas.len)];
        const n_matches = random.uintLessThan(usize, 3);
        const excluded = [_][]const u8{ "", "ab", "a", "\u{e9}", "\u{e9}\u{ea}", "bb", "aaa", "a" };
        const min = random.uintLessThan(u32, 5);
        const spec: Spec = .{
            .matches = chosen[0..n_matches],
            .mismatches = chosen[2..][0..random.uintLessThan(usize, 2)],
            .excluded = excluded[0..random.uintLessThan(usize, excluded.len)],
            .as_key = random.boolean(),
            .length = .{
                .min = min,
                .max = if (random.boolean()) engine.schema.unbounded else random.uintLessThan(u32, 6),
            },
        };
        errdefer show(&spec, &dfas, string.items);
        var strings: Strings = try .init(gpa, null, spec, null);
        defer strings.deinit();
        string.clearRetainingCapacity();
        if (try strings.isEmpty()) try expectNone(&spec, &string, 0) else try check(&strings, strings.start(), &string, 0);
    }
}

test "high bounds of lengths cost little, whatever lengths a pattern has" {
    const gpa = testing.allocator;
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const threes = try patterns.compile(arena.allocator(), arena.allocator(), "^(...)*$", &budget, &diag);
    for ([_]struct { u32, u32, bool }{
        .{ 3_000_000, 3_000_001, true },
        .{ 3_000_001, 3_000_002, false },
        .{ 2_999_999, 3_000_000, true },
        .{ 4_000_000_000, 4_000_000_002, true },
        .{ 4_000_000_000, 4_000_000_001, false },
    }) |case| {
        var strings: Strings = try .init(gpa, null, .{ .matches = &.{&threes}, .length = .{ .min = case[0], .max = case[1] } }, null);
        defer strings.deinit();
        try testing.expectEqual(case[2], !try strings.isEmpty());
    }
}
