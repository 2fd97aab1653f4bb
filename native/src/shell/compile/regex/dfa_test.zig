//! DFAs of random small regular expressions against naive oracles: sets of positions computed on the tree, and reachability and
//! equality of states by iteration to a fixed point.

const std = @import("std");
const ArrayList = @import("engine").array_list.ArrayList;
const Arena = @import("engine").arena.Arena;
const testing = std.testing;
const Diagnostic = @import("engine").diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const ast = @import("ast.zig");
const Node = ast.Node;
const parse = @import("parse.zig");
const dfa = @import("dfa.zig");
const Pattern = @import("pattern.zig").Pattern;
const intersect = @import("intersection.zig").intersect;
const TransitionTable = @import("minimise.zig").TransitionTable;

/// Bit i of the result: the node can end at i if it begins at one of the positions of `from`.
fn ends(node: *const Node, text: []const u8, from: u64) u64 {
    switch (node.*) {
        .empty => return from,
        .look => unreachable,
        .bytes => |bytes| {
            var at: u64 = 0;
            for (0..text.len + 1) |i| {
                if (from >> @intCast(i) & 1 != 0 and std.mem.startsWith(u8, text[i..], bytes)) at |= @as(u64, 1) << @intCast(i + bytes.len);
            }
            return at;
        },
        .class => |ranges| {
            var at: u64 = 0;
            for (0..text.len) |i| {
                if (from >> @intCast(i) & 1 == 0) continue;
                const length = std.unicode.utf8ByteSequenceLength(text[i]) catch continue;
                if (i + length > text.len) continue;
                const character = std.unicode.utf8Decode(text[i..][0..length]) catch continue;
                for (ranges) |range| {
                    if (range.first <= character and character <= range.last) at |= @as(u64, 1) << @intCast(i + length);
                }
            }
            return at;
        },
        .concat => |children| {
            var at = from;
            for (children) |child| at = ends(child, text, at);
            return at;
        },
        .alternate => |children| {
            var at: u64 = 0;
            for (children) |child| at |= ends(child, text, from);
            return at;
        },
        .repeat => |repeat| {
            var at = from;
            for (0..repeat.min) |_| at = ends(repeat.node, text, at);
            var all = at;
            // More repetitions than there are positions add nothing.
            for (0..@min(text.len + 1, (repeat.max orelse 99) - repeat.min)) |_| {
                at = ends(repeat.node, text, at);
                all |= at;
            }
            return all;
        },
        .substring => |chunks| {
            var at = from;
            for (0..chunks.len) |first| {
                var here = from;
                for (chunks[first..]) |chunk| {
                    here = ends(&.{ .bytes = chunk }, text, here);
                    at |= here;
                }
            }
            return at;
        },
        .automaton => |automaton| {
            const table = automaton.table;
            var at: u64 = 0;
            for (0..text.len + 1) |i| {
                if (from >> @intCast(i) & 1 == 0) continue;
                var state = dfa.start;
                for (i..text.len + 1) |end| {
                    if (table.matches[state] != 0) at |= @as(u64, 1) << @intCast(end);
                    if (end < text.len) state = table.row(state)[table.classes[text[end]]];
                }
            }
            return at;
        },
    }
}

fn matchesWhole(node: *const Node, text: []const u8) bool {
    return ends(node, text, 1) >> @intCast(text.len) & 1 != 0;
}

/// The match list of a text: what matches, in order, up to the first pattern that is not soft.
fn naiveList(buffer: *[8]u16, patterns: []const Pattern, text: []const u8) []const u16 {
    var n: usize = 0;
    for (patterns, 0..) |pattern, i| {
        if (!matchesWhole(pattern.node, text)) continue;
        buffer[n] = @intCast(i);
        n += 1;
        if (!pattern.soft) break;
    }
    return buffer[0..n];
}

fn stateAfter(d: *const dfa.Dfa, text: []const u8) u16 {
    var state = dfa.start;
    for (text) |byte| state = d.next(state, byte);
    return state;
}

/// A random pattern over a, b, c and an accented letter.
fn generate(random: std.Random, out: *ArrayList(u8), gpa: std.mem.Allocator, depth: usize) !void {
    switch (random.uintLessThan(u8, if (depth == 0) 5 else 12)) {
        0 => try out.append(gpa, 'a'),
        1 => try out.append(gpa, 'b'),
        2 => try out.appendSlice(gpa, "[ab]"),
        3 => try out.appendSlice(gpa, "\u{e9}"),
        4 => try out.appendSlice(gpa, ([_][]const u8{ "[^a]", "[^\\s\\S]", "()", "c" })[random.uintLessThan(u8, 4)]),
        5, 6, 7 => {
            try generate(random, out, gpa, depth - 1);
            try generate(random, out, gpa, depth - 1);
        },
        8, 9 => {
            try out.append(gpa, '(');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, '|');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, ')');
        },
        else => {
            try out.append(gpa, '(');
            try generate(random, out, gpa, depth - 1);
            try out.append(gpa, ')');
            try out.appendSlice(gpa, ([_][]const u8{ "*", "+", "?", "{2}", "{1,3}", "{2,}" })[random.uintLessThan(u8, 6)]);
        },
    }
}

const n_texts = 5 * 5 * 5 * 5 * 5 * 2;

/// Text number n of all short ones: the digits of the number are its letters, and the first is its length.
fn textOf(number: usize, buffer: *[16]u8) []const u8 {
    const letters = [_][]const u8{ "a", "b", "c", "\u{e9}", "\xc3" };
    var rest = number;
    var length: usize = 0;
    while (rest > 0) : (rest /= 5) {
        const letter = letters[rest % 5];
        @memcpy(buffer[length..][0..letter.len], letter);
        length += letter.len;
    }
    return buffer[0..length];
}

fn checkTexts(d: *const dfa.Dfa, patterns: []const Pattern) !void {
    for (0..n_texts) |number| {
        var buffer: [16]u8 = undefined;
        const text = textOf(number, &buffer);
        var list: [8]u16 = undefined;
        try testing.expectEqualSlices(u16, naiveList(&list, patterns, text), d.matchList(stateAfter(d, text)));
    }
}

/// Expects that every state but the dead one can still match, that no two are equal, and that reach sets are right.
fn checkStates(d: *const dfa.Dfa, gpa: std.mem.Allocator) !void {
    const n = d.nStates();
    const reach = try gpa.alloc(u64, n);
    defer gpa.free(reach);
    const different = try gpa.alloc(bool, @as(usize, n) * n);
    defer gpa.free(different);
    for (0..n) |a| {
        reach[a] = 0;
        for (d.matchList(@intCast(a))) |pattern| reach[a] |= @as(u64, 1) << @intCast(pattern);
        for (0..n) |b| different[a * n + b] = d.matches[a] != d.matches[b];
    }
    var changed = true;
    while (changed) {
        changed = false;
        for (0..n) |a| for (0..d.nClasses()) |class| {
            const to = d.column(class)[a];
            if (reach[to] & ~reach[a] != 0) changed = true;
            reach[a] |= reach[to];
            for (0..n) |b| {
                const other = d.column(class)[b];
                if (!different[a * n + b] and different[@as(usize, to) * n + other]) {
                    different[a * n + b] = true;
                    changed = true;
                }
            }
        };
    }
    for (0..n) |a| {
        try testing.expectEqual(reach[a], d.reachSet(@intCast(a))[0]);
        try testing.expect((reach[a] == 0) == (a == dfa.dead or (a == dfa.start and n == 2 and d.matches[1] == 0)));
        for (0..a) |b| try testing.expect(different[a * n + b] or reach[a] == 0);
    }
    // No two columns are the same.
    for (0..d.nClasses()) |a| for (0..a) |b| try testing.expect(!std.mem.eql(u16, d.column(a), d.column(b)));
}

test "automata agree with naive matchers, alone and together" {
    var rng: std.Random.DefaultPrng = .init(1);
    const random = rng.random();
    for (0..300) |round| {
        var arena: Arena = .init(testing.allocator);
        defer arena.deinit();
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        var buffer: [5]Pattern = undefined;
        const patterns = buffer[0 .. 1 + round % 5];
        var text: ArrayList(u8) = .empty;
        for (patterns) |*pattern| {
            const first = text.items.len;
            try generate(random, &text, arena.allocator(), 4);
            const parsed = parse.parse(arena.allocator(), text.items[first..], .{}, null, &budget, &diag);
            const node = parsed catch return error.TestUnexpectedResult;
            pattern.* = .{ .node = node, .soft = random.boolean() };
            try text.append(arena.allocator(), ' ');
        }
        errdefer std.debug.print("patterns: {s}\n", .{text.items});
        var d = dfa.build(testing.allocator, patterns, 1, &budget, "the lexer", &diag) catch return error.TestUnexpectedResult;
        defer d.deinit(testing.allocator);
        try checkTexts(&d, patterns);
        try checkStates(&d, testing.allocator);
    }
}

/// Whether a text matches the first `n_wanted` patterns and none of the others.
fn checkCombination(node: *const Node, patterns: []const Pattern, n_wanted: usize) !void {
    for (0..n_texts) |number| {
        var buffer: [16]u8 = undefined;
        const text = textOf(number, &buffer);
        const expected = for (patterns, 0..) |pattern, i| {
            if (matchesWhole(pattern.node, text) != (i < n_wanted)) break false;
        } else true;
        try testing.expectEqual(expected, matchesWhole(node, text));
    }
}

test "intersections and complements agree with naive matchers, and are parts of other trees" {
    var rng: std.Random.DefaultPrng = .init(2);
    const random = rng.random();
    for (0..150) |round| {
        var arena: Arena = .init(testing.allocator);
        defer arena.deinit();
        const gpa = arena.allocator();
        var budget: Budget = .{};
        var diag: Diagnostic = .{};
        var buffer: [4]Pattern = undefined;
        const patterns = buffer[0 .. 1 + round % 4];
        var text: ArrayList(u8) = .empty;
        for (patterns) |*pattern| {
            const first = text.items.len;
            try generate(random, &text, gpa, 3);
            const node = parse.parse(gpa, text.items[first..], .{}, null, &budget, &diag) catch return error.TestUnexpectedResult;
            pattern.* = .{ .node = node, .soft = true };
            try text.append(gpa, ' ');
        }
        if (round % 3 == 0) patterns[0].node = ast.anything;
        const n_wanted = random.intRangeAtMost(usize, 1, patterns.len);
        errdefer std.debug.print("all of the first {d} of: {s}\n", .{ n_wanted, text.items });
        const node = intersect(gpa, patterns, n_wanted, &budget, "the combination", &diag) catch return error.TestUnexpectedResult;
        try checkCombination(node, patterns, n_wanted);

        const many = try ast.repeat(gpa, node, 1, 3);
        const outer = [_]Pattern{
            .{ .node = try ast.concat(gpa, &.{ patterns[0].node, node, patterns[patterns.len - 1].node }), .soft = true },
            .{ .node = try ast.alternate(gpa, &.{ many, try ast.concat(gpa, &.{ node, patterns[0].node }) }) },
        };
        var d = try dfa.build(testing.allocator, &outer, 1, &budget, "the lexer", &diag);
        defer d.deinit(testing.allocator);
        try checkTexts(&d, &outer);
        try checkStates(&d, testing.allocator);
    }
}

fn accepts(pattern: []const u8, flags: parse.Flags, text: []const u8) !bool {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    errdefer std.debug.print("{s}: {s}\n", .{ pattern, diag.message() });
    const node = try parse.parse(arena.allocator(), pattern, flags, null, &budget, &diag);
    var d = try dfa.build(testing.allocator, &.{.{ .node = node }}, 1, &budget, "the regular expression", &diag);
    defer d.deinit(testing.allocator);
    return d.matchList(stateAfter(&d, text)).len > 0;
}

test "the dialect: what each notation takes and what it does not" {
    const Case = struct { []const u8, []const []const u8, []const []const u8 };
    for ([_]Case{
        .{ "\\.\\n\\x41\\x{42}\\x{9}\\u0043\\u{1F600}\\0\\/", &.{".\nAB\tC\u{1f600}\x00/"}, &.{"xnABC"} },
        .{ "\\a\\e\\f\\v\\t\\r", &.{"\x07\x1b\x0c\x0b\t\r"}, &.{} },
        .{ ".", &.{ "a", "\r", "\u{10ffff}", "\u{7f}" }, &.{ "", "\n", "ab", "\xff", "\xed\xa0\x80" } },
        .{ "(?s).", &.{"\n"}, &.{} },
        .{ "[]a-c-]", &.{ "]", "b", "-" }, &.{ "d", "[" } },
        .{ "[^]a]", &.{ "b", "\u{e9}", "\n" }, &.{ "]", "a", "" } },
        .{ "[&&--~~[]", &.{ "&", "~", "[", "-" }, &.{"]"} }, // "&--" is the range from & to -
        .{ "[\\d_]\\D\\w\\W\\s\\S", &.{"\u{663}x\u{4e2d}-\u{3000}."}, &.{"ax1- ."} },
        .{ "[^\\d\\s]", &.{ "a", "\u{4e2d}" }, &.{ "1", "\u{661}", "\t" } },
        .{ "\\w+", &.{ "na\u{ef}ve_1", "e\u{301}", "\u{24b6}", "\u{203f}" }, &.{ "a-b", "\u{bd}", "" } },
        .{ "\\pL\\p{Lu}\\P{Greek}\\p{greek}", &.{"\u{3b1}Aa\u{3b1}"}, &.{"\u{3b1}aa\u{3b1}"} },
        .{ "[\\p{Greek}\\PL]", &.{ "\u{3b1}", "1" }, &.{"a"} },
        .{ "a|b|", &.{ "a", "b", "" }, &.{ "ab", "|" } },
        .{ "(?:a)(?<n>b)(?P<m>c)", &.{"abc"}, &.{"ab"} },
        .{ "a*?b+?c??d{2}e{1,}f{0,2}?", &.{ "bdde", "aabcddeeff" }, &.{ "bde", "bddefff", "dde" } },
        .{ "{a{b{1,x}", &.{"{a{b{1,x}"}, &.{} },
        .{ "(?i)stra\u{df}e", &.{ "STRA\u{1e9e}e", "\u{17f}TRA\u{df}E" }, &.{"STRASSE"} },
        .{ "(?i)[k-l]\u{3c3}", &.{ "K\u{3a3}", "\u{212a}\u{3c2}", "L\u{3c3}" }, &.{"j\u{3c3}"} },
        .{ "(?i)[^k]", &.{"l"}, &.{ "K", "k", "\u{212a}" } },
        .{ "a(?i)b(c)d|e", &.{ "aBCD", "E" }, &.{ "Abcd", "A" } },
        .{ "(?i:a)b(?i)c(?-i)d", &.{ "AbCd", "abcd" }, &.{ "aBcd", "abcD" } },
        .{ "(?x) a b # comment\n [ ] \\  c *", &.{ "ab  ", "ab  cc" }, &.{"a b"} },
        .{ "(?x-s: a . ) b", &.{"ax b"}, &.{ "a\n b", "axb" } },
        .{ "a(?# no (text) *", &.{ "a", "a  " }, &.{"a)"} },
        .{ "^(?i)(^a$|^b$)$|\\Ac\\z", &.{ "a", "B", "c" }, &.{"^a"} },
        .{ "a\\^\\$]}", &.{"a^$]}"}, &.{} },
        .{ "\u{e9}+|\u{4e2d}{2}", &.{ "\u{e9}\u{e9}", "\u{4e2d}\u{4e2d}" }, &.{ "\u{4e2d}", "\xa9" } },
    }) |case| {
        for (case[1]) |text| if (!try accepts(case[0], .{}, text)) {
            std.debug.print("{s} does not take \"{s}\"\n", .{ case[0], text });
            return error.TestUnexpectedResult;
        };
        for (case[2]) |text| if (try accepts(case[0], .{}, text)) {
            std.debug.print("{s} takes \"{s}\"\n", .{ case[0], text });
            return error.TestUnexpectedResult;
        };
    }
}

fn buildOnly(gpa: std.mem.Allocator, pattern: []const u8, budget: *Budget, diag: *Diagnostic) !u32 {
    var arena: Arena = .init(gpa);
    defer arena.deinit();
    const node = try parse.parse(arena.allocator(), pattern, .{}, null, budget, diag);
    var d = try dfa.build(gpa, &.{.{ .node = node }}, 1, budget, "the pattern", diag);
    defer d.deinit(gpa);
    return d.nStates();
}

test "what is too large is an error that says so" {
    const Case = struct {
        pattern: []const u8,
        budget: Budget = .{},
        status: @TypeOf(@as(Diagnostic, .{}).status) = .limit,
        message: []const u8,
    };
    const cancel = struct {
        fn always(_: ?*anyopaque) callconv(.c) c_int {
            return 1;
        }
    }.always;
    for ([_]Case{
        .{ .pattern = "(a{1,1000}){1,1000}", .message = "the pattern needs more than 262141 states before equal ones are merged" },
        .{ .pattern = "(a|b)*a(a|b){30}", .message = "the pattern needs more than 65535 states" },
        .{ .pattern = "[ab]{5}", .budget = .{ .states_max = 6 }, .message = "the pattern needs more than 6 states" },
        .{
            .pattern = "([ab]?[bc]?[cd]?[de]?){1,200}",
            .budget = .{ .states_max = 500 },
            .message = "the pattern needs too many steps to become deterministic",
        },
        .{ .pattern = "\\w{1,50}", .budget = .{ .bytes_max = 100_000 }, .message = "the pattern needs more than 100000 bytes" },
        .{ .pattern = "a{4294967296}", .message = "at byte 1: a bound of this repeat is too large" },
        .{ .pattern = "a{0,4294967295}", .message = "the pattern needs more than 262141 states before equal ones are merged" },
        .{ .pattern = "\\w{1,50}", .budget = .{ .deadline_ns = 1 }, .message = "building the pattern takes longer than ms_max" },
        .{
            .pattern = "\\w{1,50}",
            .budget = .{ .cancel = cancel },
            .status = .cancelled,
            .message = "cancelled while building the pattern",
        },
    }) |case| {
        var budget = case.budget;
        var diag: Diagnostic = .{};
        try testing.expectError(error.Failed, buildOnly(testing.allocator, case.pattern, &budget, &diag));
        try testing.expectEqualStrings(case.message, diag.message());
        try testing.expectEqual(case.status, diag.status);
    }
    // The exact number is enough: the dead state, the start, and one for each character.
    var budget: Budget = .{ .states_max = 7 };
    var diag: Diagnostic = .{};
    try testing.expectEqual(7, try buildOnly(testing.allocator, "[ab]{5}", &budget, &diag));
}

/// Counts how often the budget asks.
fn goOn(user_data: ?*anyopaque) callconv(.c) c_int {
    const n: *u32 = @ptrCast(@alignCast(user_data));
    n.* += 1;
    return 0;
}

test "the budget is asked by the states that are made, however few nodes they are of" {
    for ([_][]const u8{ "\\w{60000}", "a{1000000}", &@as([300_000]u8, @splat('a')) }) |pattern| {
        var n_asked: u32 = 0;
        var budget: Budget = .{ .cancel = goOn, .user_data = &n_asked };
        var diag: Diagnostic = .{};
        try testing.expectError(error.Failed, buildOnly(testing.allocator, pattern, &budget, &diag));
        try testing.expectEqualStrings("the pattern needs more than 262141 states before equal ones are merged", diag.message());
        try testing.expect(n_asked >= 255);
    }
}

test "the budget is asked the more often the longer states are told apart" {
    const n = 40_000;
    var asked: [2]u32 = @splat(0);
    for (&asked, [_]bool{ false, true }) |*n_asked, differ| {
        var arena: Arena = .init(testing.allocator);
        defer arena.deinit();
        // A ring, of which all states match, or the last alone, so that they are as different as can be.
        const rows = try arena.allocator().alloc(u16, n + 1);
        for (rows, 0..) |*to, state| to.* = @intCast(if (state == 0) 0 else state % n + 1);
        const matches = try arena.allocator().alloc(u16, n + 1);
        @memset(matches, @intFromBool(!differ));
        matches[0] = 0;
        matches[n] = 1;
        var classes: [256]u8 = @splat(0);
        var table: TransitionTable = .{ .classes = &classes, .n_classes = 1, .rows = rows, .matches = matches };
        var budget: Budget = .{ .cancel = goOn, .user_data = n_asked };
        var diag: Diagnostic = .{};
        try testing.expectEqual(!differ, try table.mergeStates(arena.allocator(), &budget, "the ring", &diag));
        try testing.expectEqual(@as(usize, if (differ) n + 1 else 2), table.matches.len);
    }
    try testing.expect(asked[1] > asked[0]);
}

test "a combination is as large as the budget lets it become, and smaller as a part" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    var diag: Diagnostic = .{};
    var budget: Budget = .{};
    // The a that is the tenth character from the end makes a thousand states, unless what is wanted has no a.
    const tenth = try parse.parse(arena.allocator(), "[ab]*a[ab]{9}", .{}, null, &budget, &diag);
    const any = try parse.parse(arena.allocator(), "[ab]*", .{}, null, &budget, &diag);
    const short = try parse.parse(arena.allocator(), "b*", .{}, null, &budget, &diag);
    const patterns = [_]Pattern{ .{ .node = tenth, .soft = true }, .{ .node = any, .soft = true } };
    budget.states_max = 1000;
    try testing.expectError(error.Failed, intersect(arena.allocator(), &patterns, 1, &budget, "the combination", &diag));
    try testing.expectEqualStrings("the combination needs more than 1000 states", diag.message());
    var late: Budget = .{ .deadline_ns = 1 };
    try testing.expectError(error.Failed, intersect(arena.allocator(), &patterns, 1, &late, "the combination", &diag));
    try testing.expectEqualStrings("building the combination takes longer than ms_max", diag.message());
    budget.states_max = 1100;
    const nothing = try intersect(arena.allocator(), &patterns, 1, &budget, "the combination", &diag);
    try testing.expectEqualSlices(u16, &.{ 0, 0 }, nothing.automaton.table.matches);
    budget.states_max = 100;
    const few = [_]Pattern{ .{ .node = short, .soft = true }, .{ .node = tenth, .soft = true } };
    const node = try intersect(arena.allocator(), &few, 1, &budget, "the combination", &diag);
    try testing.expectEqual(2, node.automaton.table.matches.len); // dead, and b*
}

test "a loop through nodes that are empty ends, and so does a tree that shares them without end" {
    var arena: Arena = .init(testing.allocator);
    defer arena.deinit();
    const gpa = arena.allocator();
    // 2^64 empty texts, as a grammar's terminals can nest them.
    var node = try ast.create(gpa, .{ .concat = &.{} });
    for (0..64) |_| node = try ast.concat(gpa, &.{ node, node });
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    try testing.expectError(error.Failed, dfa.build(testing.allocator, &.{.{ .node = node }}, 1, &budget, "the lexer", &diag));
    try testing.expectEqualStrings("the lexer repeats the empty text too often", diag.message());
    // A tree too deep for recursion.
    node = try ast.create(gpa, .{ .bytes = "a" });
    for (0..100_000) |_| node = try ast.create(gpa, .{ .repeat = .{ .node = node, .min = 0, .max = null } });
    var d = try dfa.build(testing.allocator, &.{.{ .node = node }}, 1, &budget, "the lexer", &diag);
    defer d.deinit(testing.allocator);
    try testing.expectEqual(2, d.nStates());
    try testing.expect(d.matchList(dfa.start).len == 1);
}

test "every failure of memory is survived" {
    try testing.checkAllAllocationFailures(testing.allocator, struct {
        fn run(gpa: std.mem.Allocator) !void {
            var budget: Budget = .{};
            var diag: Diagnostic = .{};
            _ = buildOnly(gpa, "(?i)(\\p{Greek}+|[a-z\u{e9}]{1,9})*x", &budget, &diag) catch |e| switch (e) {
                error.OutOfMemory => return error.OutOfMemory,
                else => return error.TestUnexpectedResult,
            };
            var arena: Arena = .init(gpa);
            defer arena.deinit();
            const patterns = [_]Pattern{ .{ .node = ast.anything, .soft = true }, .{ .node = &.{ .bytes = "x" }, .soft = true } };
            const node = intersect(arena.allocator(), &patterns, 1, &budget, "the combination", &diag) catch |e| switch (e) {
                error.OutOfMemory => return error.OutOfMemory,
                else => return error.TestUnexpectedResult,
            };
            var d = dfa.build(gpa, &.{.{ .node = node }}, 1, &budget, "the lexer", &diag) catch |e| switch (e) {
                error.OutOfMemory => return error.OutOfMemory,
                else => return error.TestUnexpectedResult,
            };
            d.deinit(gpa);
        }
    }.run, .{});
}
