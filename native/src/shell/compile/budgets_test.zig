//! Operations on texts that are stopped at each place where they ask: nothing has changed then, and the same operation later
//! tells what one tells that was never stopped. Steps are counted, not time.

const std = @import("std");
const engine = @import("engine");
const Diagnostic = engine.diagnostic.Diagnostic;
const Vocabulary = engine.vocabulary.Vocabulary;
const Flags = engine.vocabulary.Flags;
const Interrupt = engine.watch.Interrupt;
const Recognizer = engine.recognizer.Recognizer;
const RecognizerState = engine.recognizer_state.RecognizerState;
const compile = @import("compile.zig");

const gpa = std.testing.allocator;

/// Whoever is asked for the n-th time, counted from 0, cancels from then on, or only then.
const Asked = struct {
    n: u32 = 0,
    stop_at: u32 = std.math.maxInt(u32),
    once: bool = false,

    fn ask(user_data: ?*anyopaque) callconv(.c) c_int {
        const asked: *Asked = @ptrCast(@alignCast(user_data.?));
        defer asked.n += 1;
        return @intFromBool(asked.n == asked.stop_at or asked.n > asked.stop_at and !asked.once);
    }
};

const Case = struct {
    source: compile.Source,
    /// What was read before.
    text: []const u8 = "",
    settings: compile.Settings = .{},
    /// Each operation asks at least so often, all together.
    least: u32,
};

const cases = [_]Case{
    .{ .source = .{ .regex = .{ .pattern = "[ab]*c|(x|yy)+" } }, .least = 1 },
    .{ .source = .{ .choices = .{ .text = "abacabbaxy", .offsets = &.{ 0, 4, 8, 10 } } }, .least = 1 },
    .{ .source = .{ .lark = .{ .text = "start: (A | \"(\" start \")\")*\nA: /[a-z]+/\n%ignore /[ ]+/" } }, .text = "a(", .least = 2 },
    .{
        .source = .{ .lark = .{ .text = "start: (A | \"(\" start \")\")*\nA: /[a-z]+/" } },
        .settings = .{ .mask_bytes_max = 1 },
        .least = 1,
    },
    .{ .source = .{ .lark = .{ .text = "start: \"a\"~300 | \"a\"~300 \"b\"" } }, .least = 2 },
    .{
        .source = .{ .gbnf = .{ .text = "root ::= root root | [a-z] | \"(\" root \")\"", .options = .{} } },
        .text = "aa(a",
        .least = 2,
    },
    // Many stacks in each reading: sorting them is counted, too.
    .{
        .source = .{ .gbnf = .{ .text = "root ::= ([a-z]+ | [a-z0-9]+ | [a-z] [a-z]+ | \"ab\" root \"c\")*", .options = .{} } },
        .text = "abaab1cabab",
        .least = 20,
    },
    .{
        .source = .{ .lark = .{ .text = "start: (\"a\" | %json {\"type\":\"array\",\"items\":{\"allOf\":[" ++ choices(7) ++ "{}]}})*" } },
        .text = "a[",
        .least = 2,
    },
    .{
        .source = .{ .tags = "{\"tags\":[{\"begin\":\"(\",\"end\":\")\",\"lark\":\"start: A*\\nA: /[a-z]/\"}]}" },
        .text = "ab(",
        .least = 1,
    },
    .{
        .source = .{ .json_schema = .{ .text = "{\"type\":\"array\",\"items\":{\"allOf\":[" ++ contents(4) ++ "{}]}}", .options = .{} } },
        .text = "[",
        .least = 2,
    },
    // What holds already is looked at for each part of a choice.
    .{ .source = .{ .json_schema = .{ .text = "{\"items\":" ++ keys_and_choice ++ "}", .options = .{} } }, .text = "[", .least = 70 },
};

const keys_and_choice = "{\"required\":[" ++ names(0, 100) ++ "],\"anyOf\":[{\"required\":[" ++ names(1000, 100) ++
    "]},{\"required\":[" ++ names(2000, 100) ++ "]}]}";

/// So many keys, with numbers from the first one on.
fn names(comptime first: usize, comptime n: usize) []const u8 {
    @setEvalBranchQuota(1 << 20);
    comptime var text: []const u8 = "";
    inline for (first..first + n) |i| text = text ++ (if (i > first) "," else "") ++ std.fmt.comptimePrint("\"k{d}\"", .{i});
    return text;
}

/// So many schemas, each of which has two alternatives.
fn choices(comptime n: usize) []const u8 {
    comptime var text: []const u8 = "";
    inline for (0..n) |i| {
        const letter = [_]u8{'a' + i};
        text = text ++ "{\"anyOf\":[{\"required\":[\"" ++ letter ++ "\"]},{\"required\":[\"" ++ letter ++ letter ++ "\"]}]},";
    }
    return text;
}

/// The same for arrays, whose conditions are not followed side by side.
fn contents(comptime n: usize) []const u8 {
    comptime var text: []const u8 = "";
    inline for (1..n + 1) |i| {
        const number = std.fmt.comptimePrint("{d}", .{i});
        text = text ++ "{\"anyOf\":[{\"contains\":{\"const\":" ++ number ++ "}},{\"contains\":{\"const\":-" ++ number ++ "}}]},";
    }
    return text;
}

const Operation = enum { allowed, can_stop, forced, forced_bytes, accept, report };

test "an operation that is stopped at any place has changed nothing, and continues to the same result" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    for (cases, 0..) |case, i| {
        errdefer std.debug.print("case {d}\n", .{i});
        var n_stopped: u32 = 0;
        for (std.enums.values(Operation)) |operation| {
            errdefer std.debug.print("{t}\n", .{operation});
            n_stopped += try stopEverywhere(vocabulary, &case, operation);
        }
        try std.testing.expect(n_stopped >= case.least);
    }
}

/// Returns in how many places.
fn stopEverywhere(vocabulary: *const Vocabulary, case: *const Case, operation: Operation) !u32 {
    var expected: Result = try .of(vocabulary, case, operation, null);
    defer expected.deinit();
    var at: u32 = 0;
    while (true) : (at += 1 + at / 8) {
        errdefer std.debug.print("stopped at {d}\n", .{at});
        var asked: Asked = .{ .stop_at = at };
        var found: Result = try .of(vocabulary, case, operation, &asked);
        defer found.deinit();
        try std.testing.expectEqualSlices(u64, expected.words.items, found.words.items);
        if (asked.n <= at) return at;
    }
}

const Result = struct {
    words: std.ArrayList(u64) = .empty,

    fn deinit(result: *Result) void {
        result.words.deinit(gpa);
    }

    /// Of the operation in a fresh recognizer, and what stands after it. If `asked` stops it, it must say so at once, and is
    /// tried again.
    fn of(vocabulary: *const Vocabulary, case: *const Case, operation: Operation, asked: ?*Asked) !Result {
        var diag: Diagnostic = .{};
        const r = compile.compile(gpa, vocabulary, case.source, case.settings, &diag) catch |e| {
            std.debug.print("{s}\n", .{diag.message()});
            return e;
        };
        defer r.release();
        var s: RecognizerState = .init(gpa, r, .{});
        defer s.deinit();
        for (case.text) |byte| try std.testing.expect((try s.accept(byte, 0, .refuse)).in_span);
        const interrupt: Interrupt = .{ .ask = Asked.ask, .user_data = asked };
        if (asked != null) s.pool.watch.interrupt = &interrupt;
        const before = s.span;
        var result: Result = .{};
        errdefer result.deinit();
        result.run(&s, operation) catch |e| {
            if (e != error.TooLarge or asked == null) return e;
            try std.testing.expectEqual(.interrupted, s.pool.watch.stopped);
            try std.testing.expectEqual(before, s.span);
            // What was being done is left at the next place that asks: loops within loops are few.
            try std.testing.expect(asked.?.n - asked.?.stop_at <= 4);
            s.pool.watch.interrupt = null;
            result.words.clearRetainingCapacity();
            try result.run(&s, operation);
        };
        s.pool.watch.interrupt = null;
        try result.run(&s, .report);
        try result.run(&s, .allowed);
        return result;
    }

    fn run(result: *Result, s: *RecognizerState, operation: Operation) !void {
        const words = &result.words;
        switch (operation) {
            .allowed => {
                const legal = try s.allowed() orelse return words.append(gpa, 1 << 40);
                switch (legal) {
                    .all => unreachable,
                    .list => |ids| for (ids) |id| try words.append(gpa, @intCast(id)),
                    .bitmap => |bitmap| for (bitmap.words, 0..) |word, i| for (0..32) |bit| {
                        if (word >> @intCast(bit) & 1 != 0) try words.append(gpa, 32 * i + bit);
                    },
                }
            },
            .can_stop => try words.append(gpa, @intFromBool(try s.canStop())),
            .forced => {
                var out: [64]i32 = undefined;
                const n = try s.forced(&out, 0);
                for (out[0..@min(n, out.len)]) |token| try words.append(gpa, @intCast(token));
            },
            .forced_bytes => {
                var out: [64]u8 = undefined;
                const n = try s.forcedBytes(&out);
                for (out[0..@min(n, out.len)]) |byte| try words.append(gpa, byte);
            },
            .accept => {
                const step = try s.accept('a', 0, .refuse);
                try words.append(gpa, @as(u8, @intFromBool(step.refused)) + 2 * @as(u8, @intFromBool(step.in_span)));
            },
            .report => {
                const report = try s.report();
                try words.appendSlice(gpa, &.{ report.n_allowed, report.tokens, @intFromBool(report.can_stop) });
            },
        }
    }
};

test "tables are asked about while they are built, and one that was given up is built later" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var diag: Diagnostic = .{};
    const source: compile.Source = .{ .lark = .{ .text = "start: A | B\nA: /[a-z]+/\nB: /[a-z0-9]+!/" } };
    var n_tables: u32 = 0;
    var at: u32 = 0;
    while (true) : (at += 1 + at / 4) {
        const r = try compile.compile(gpa, vocabulary, source, .{}, &diag);
        defer r.release();
        var asked: Asked = .{ .stop_at = at };
        const budget: engine.budget.Budget = .{ .cancel = Asked.ask, .user_data = &asked };
        if (r.prepare(&budget, &diag)) {
            n_tables = r.language.grammar.tables.count();
            break;
        } else |_| {
            try std.testing.expectEqual(.cancelled, diag.status);
            try std.testing.expectEqual(at + 1, asked.n);
        }
        asked = .{};
        try r.prepare(&budget, &diag);
        if (n_tables == 0) n_tables = r.language.grammar.tables.count();
        try std.testing.expectEqual(n_tables, r.language.grammar.tables.count());
    }
    // More often than once for each.
    try std.testing.expect(at > 4 * n_tables);
}

test "compiling asks as often as the work is long" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var chain: std.ArrayList(u8) = .empty;
    defer chain.deinit(gpa);
    try chain.appendSlice(gpa, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    for (0..200) |i| {
        try chain.print(gpa, "\"{d}\":{{\"$ref\":\"#/$defs/{d}\",\"unevaluatedProperties\":{{\"minLength\":{d}}}}},", .{ i, i + 1, i });
    }
    try chain.appendSlice(gpa, "\"200\":{\"properties\":{\"a\":{}}}}}");
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    const strings = try numbered(arena, 1 << 14);
    const sources = [_]struct { compile.Source, u32 }{
        .{ .{ .choices = .{ .text = strings.text, .offsets = strings.offsets } }, 20 },
        // Few strings, which have much in common.
        .{ .{ .choices = .{ .text = try long(arena, "", "a", 1 << 18, ""), .offsets = &.{ 0, 1 << 16, (1 << 17) + 1, 1 << 18 } } }, 40 },
        .{ .{ .tags = try long(arena, "{\"tags\":[{\"begin\":\"", "a", 1 << 13, "\",\"end\":\"b\",\"regex\":\"c\"}]}") }, 5000 },
        .{ schemaSource(try long(arena, "{", " ", 1 << 18, "}")), 30 },
        .{ schemaSource(try long(arena, "{\"title\":1", "1", 1 << 18, "}")), 30 },
        .{ schemaSource(try long(arena, "{\"title\":[0", ",0", 1 << 15, "]}")), 60 },
        .{ schemaSource(try long(arena, "{\"title\":\"", "\\u00e9", 1 << 15, "\"}")), 30 },
        .{ schemaSource(try long(arena, "{\"const\":[0", ",0", 1 << 13, "]}")), 100 },
        .{ schemaSource(try long(arena, "{\"minimum\":0,\"enum\":[0", ",0", 1 << 13, "]}")), 60 },
        // The product of several automata.
        .{ schemaSource("{\"type\":\"string\",\"not\":{\"anyOf\":[{\"format\":\"email\"},{\"format\":\"ipv6\"}," ++
            "{\"format\":\"date-time\"},{\"format\":\"uri\"}]}}"), 300 },
        .{ .{ .json_schema = .{ .text = chain.items, .options = .{} } }, 1000 },
        .{ .{ .lark = .{ .text = "start: /(?=.*a[bc]{9})[a-z]*1/" } }, 1000 },
        .{ .{ .lark = .{ .text = "start: %json " ++ keys_and_choice } }, 45 },
    };
    for (sources) |one| {
        const source, const least = one;
        var asked: Asked = .{};
        var diag: Diagnostic = .{};
        (try compile.compile(gpa, vocabulary, source, .{ .budget = .{ .cancel = Asked.ask, .user_data = &asked } }, &diag)).release();
        try std.testing.expect(asked.n >= least);
    }
}

test "a compile that is cancelled once does not continue in another way" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    const source: compile.Source = .{ .lark = .{ .text = "start: %json " ++ keys_and_choice } };
    var asked: Asked = .{ .stop_at = 0, .once = true };
    while (true) : (asked = .{ .stop_at = asked.stop_at + 1, .once = true }) {
        var diag: Diagnostic = .{};
        const settings: compile.Settings = .{ .budget = .{ .cancel = Asked.ask, .user_data = &asked } };
        const made = compile.compile(gpa, vocabulary, source, settings, &diag) catch {
            try std.testing.expectEqual(.cancelled, diag.status);
            continue;
        };
        made.release();
        break; // it was asked less often
    }
    try std.testing.expect(asked.n <= asked.stop_at and asked.stop_at >= 45);
}

/// Whoever is asked for the second time finds what may come at the start of a text.
const Reader = struct {
    r: *Recognizer,
    n: u32 = 0,
    n_tables: u32 = 0,

    fn ask(user_data: ?*anyopaque) callconv(.c) c_int {
        const reader: *Reader = @ptrCast(@alignCast(user_data.?));
        defer reader.n += 1;
        if (reader.n == 1) reader.read() catch return 1;
        return 0;
    }

    fn read(reader: *Reader) !void {
        var s: RecognizerState = .init(gpa, reader.r, .{});
        defer s.deinit();
        _ = try s.allowed();
        reader.n_tables = reader.r.language.grammar.tables.count();
    }
};

test "of a table that a text needs while it is built for all of them, one is kept" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var diag: Diagnostic = .{};
    const source: compile.Source = .{ .lark = .{ .text = "start: A | B\nA: /[a-z]+/\nB: /[a-z0-9]+!/" } };
    const r = try compile.compile(gpa, vocabulary, source, .{}, &diag);
    defer r.release();
    var reader: Reader = .{ .r = r };
    const budget: engine.budget.Budget = .{ .cancel = Reader.ask, .user_data = &reader };
    try r.prepare(&budget, &diag);
    try std.testing.expectEqual(1, reader.n_tables);
    const n_tables = r.language.grammar.tables.count();
    try r.prepare(&.{}, &diag);
    try std.testing.expectEqual(n_tables, r.language.grammar.tables.count());
}

test "texts leave no more places in the parts of tags than there is memory for" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var diag: Diagnostic = .{};
    const source: compile.Source = .{ .tags = "{\"tags\":[{\"begin\":\"(\",\"end\":\")\",\"regex\":\"abcd\"}]}" };
    const r = try compile.compile(gpa, vocabulary, source, .{ .text_bytes_max = 1 }, &diag);
    defer r.release();
    var s: RecognizerState = .init(gpa, r, .{});
    defer s.deinit();
    try std.testing.expect((try s.accept('(', 0, .refuse)).in_span);
    try std.testing.expectError(error.TooLarge, s.accept('a', 0, .refuse));
}

test "what texts of a schema have left is dropped when it is much and no text continues" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var diag: Diagnostic = .{};
    const source: compile.Source = .{ .json_schema = .{
        .text = "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"uniqueItems\":true}",
        .options = .{},
    } };
    const r = try compile.compile(gpa, vocabulary, source, .{ .mask_bytes_max = 1 }, &diag);
    defer r.release();
    const much = 1 << 19;
    {
        var s: RecognizerState = .init(gpa, r, .{});
        defer s.deinit();
        try std.testing.expect((try s.accept('[', 0, .refuse)).in_span);
        var buffer: [16]u8 = undefined;
        var n: u32 = 0;
        while (r.language.grown() <= much) : (n += 1) {
            for (try std.fmt.bufPrint(&buffer, "{d},", .{n})) |byte| try std.testing.expect((try s.accept(byte, 0, .refuse)).in_span);
        }
        var another: RecognizerState = .init(gpa, r, .{});
        defer another.deinit();
        try std.testing.expect((try another.accept('[', 0, .refuse)).in_span);
        try std.testing.expect(r.language.grown() > much);
    }
    var s: RecognizerState = .init(gpa, r, .{});
    defer s.deinit();
    try std.testing.expect((try s.accept('[', 0, .refuse)).in_span);
    try std.testing.expect(r.language.grown() < much / 2);
}

test "what may follow in a part of tags is found once for all texts, also beside an ambiguous part" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    var diag: Diagnostic = .{};
    const source: compile.Source = .{ .tags = "{\"tags\":[" ++
        "{\"begin\":\"<\",\"end\":\">\",\"lark\":\"start: \\\"(\\\" start \\\")\\\" | \\\"[\\\" start \\\"]\\\" | \\\"x\\\"\"}," ++
        "{\"begin\":\"{\",\"end\":\"}\",\"lark\":\"start: \\\"x\\\" start \\\"x\\\" | \\\"x\\\"\"}]}" };
    const r = try compile.compile(gpa, vocabulary, source, .{}, &diag);
    defer r.release();
    for ([_][]const u8{ "<([x", "{xx" }) |text| for ([_]bool{ false, true }) |is_known| {
        var s: RecognizerState = .init(gpa, r, .{});
        defer s.deinit();
        for (text) |byte| try std.testing.expect((try s.accept(byte, 0, .refuse)).in_span);
        try std.testing.expectEqual(is_known, s.isReady());
        _ = try s.allowed();
    };
}

test "most of the memory that is allocated while compiling counts" {
    const vocabulary = try manyTokens();
    defer vocabulary.release();
    const strings: [8000]u8 = @splat('a');
    const sources = [_]struct { compile.Source, u64 }{
        .{ .{ .choices = .{ .text = &strings, .offsets = &.{ 0, 3000, 5000, 8000 } } }, 80 },
        .{ .{ .lark = .{ .text = "start: \"a\" start \"b\" start \"c\" | start \"d\" start | \"e\" start \"f\" | \"g\"" } }, 65 },
        .{ .{ .gbnf = .{ .text = "root ::= root root | [a-z] | \"(\" root \")\"", .options = .{} } }, 50 },
    };
    for (sources) |one| {
        const source, const percent = one;
        var counting: std.testing.FailingAllocator = .init(gpa, .{});
        var diag: Diagnostic = .{};
        (try compile.compile(counting.allocator(), vocabulary, source, .{}, &diag)).release();
        const wanted = counting.allocated_bytes * percent / 100;
        try std.testing.expectError(error.Failed, compile.compile(gpa, vocabulary, source, .{ .budget = .{ .bytes_max = wanted } }, &diag));
        try std.testing.expectEqual(.limit, diag.status);
    }
}

fn schemaSource(text: []const u8) compile.Source {
    return .{ .json_schema = .{ .text = text, .options = .{} } };
}

/// With `n` times the same in it.
fn long(arena: std.mem.Allocator, before: []const u8, part: []const u8, n: usize, after: []const u8) ![]const u8 {
    const text = try arena.alloc(u8, before.len + n * part.len + after.len);
    @memcpy(text[0..before.len], before);
    for (0..n) |i| @memcpy(text[before.len + i * part.len ..][0..part.len], part);
    @memcpy(text[text.len - after.len ..], after);
    return text;
}

/// So many strings, out of order.
fn numbered(arena: std.mem.Allocator, n: u32) !struct { text: []const u8, offsets: []const u64 } {
    const text = try arena.alloc(u8, 8 * n);
    const offsets = try arena.alloc(u64, n + 1);
    for (offsets, 0..) |*offset, i| offset.* = 8 * i;
    for (0..n) |i| _ = try std.fmt.bufPrint(text[8 * i ..][0..8], "{x:0>8}", .{@as(u32, @intCast(i)) *% 0x9e37_79b1});
    return .{ .text = text, .offsets = offsets };
}

/// A token for each byte, and all words of one to three letters: the walk through them asks more than once.
fn manyTokens() !*Vocabulary {
    var arena_state: std.heap.ArenaAllocator = .init(gpa);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var bytes: std.ArrayList(u8) = .empty;
    var offsets: std.ArrayList(u64) = .empty;
    for (0..256) |byte| {
        try offsets.append(arena, bytes.items.len);
        try bytes.append(arena, @intCast(byte));
    }
    for ('a'..'z' + 1) |first| for ('a'..'z' + 1) |second| for (('a' - 1)..'z' + 1) |third| {
        try offsets.append(arena, bytes.items.len);
        try bytes.appendSlice(arena, &.{ @intCast(first), @intCast(second) });
        if (third >= 'a') try bytes.append(arena, @intCast(third));
    };
    try offsets.append(arena, bytes.items.len);
    try bytes.appendSlice(arena, "<end>");
    const n: u32 = @intCast(offsets.items.len);
    try offsets.append(arena, bytes.items.len);
    const flags = try arena.alloc(Flags, n);
    @memset(flags, .{});
    flags[n - 1].end_of_generation = true;
    var diag: Diagnostic = .{};
    return Vocabulary.create(gpa, .{ .n = n, .bytes = bytes.items, .offsets = offsets.items, .flags = flags }, "", &diag);
}
