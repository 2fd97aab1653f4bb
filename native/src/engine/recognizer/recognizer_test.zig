//! Texts in recognizers of small languages: spans, masks and what is forced.

const std = @import("std");
const Allocator = std.mem.Allocator;
const gpa = std.testing.allocator;
const Budget = @import("../base/budget.zig").Budget;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const Choices = @import("../language/choices.zig").Choices;
const Grammar = @import("../lr/grammar.zig").Grammar;
const brackets = @import("../lr/brackets_test.zig");
const Arrays = @import("../language/arrays.zig").Arrays;
const Language = @import("language.zig").Language;
const Recognizer = @import("recognizer.zig").Recognizer;
const RecognizerState = @import("state.zig").RecognizerState;
const StackKey = @import("key.zig").StackKey;
const key = @import("key.zig");
const position = @import("../language/position.zig");

pub const open = 0;
pub const close = 1;
pub const x = 2;
const space = 3;
const two_open = 4;
pub const end_token = brackets.end_token;
const mask_bytes_max = 1 << 20;

/// For the vocabulary of brackets_test.zig. Takes the language over.
fn create(allocator: Allocator, language: Language, bytes_max: u64) !*Recognizer {
    var diag: Diagnostic = .{};
    const vocabulary: *Vocabulary = try .create(allocator, brackets.vocabulary, "", &diag);
    defer vocabulary.release();
    const trie = try vocabulary.byteTrie(&diag);
    const arrays: Arrays = if (language == .grammar) .mapped else .owned;
    return .create(allocator, vocabulary, trie, language, arrays, "", .{ .mask_bytes_max = bytes_max });
}

/// Of the grammar of brackets.
pub fn createBrackets(allocator: Allocator, bytes_max: u64) !*Recognizer {
    const grammar: Grammar = try .init(allocator, brackets.program);
    return create(allocator, .{ .grammar = grammar }, bytes_max);
}

test "the key is the state and the stack down to what was looked at, and nothing below the bottom" {
    var pool: position.Pool = .{};
    defer pool.nodes.deinit(gpa);
    const at: position.Position = .{ .state = 9, .stack = try brackets.stackOf(&pool, &.{ 0, 1, 1, 5 }) };
    var states: [8]u32 = undefined;
    for (0..4) |least_depth| {
        const length = 5 - least_depth;
        try std.testing.expectEqual(length, key.write(&pool, at, @intCast(least_depth), &states));
        try std.testing.expectEqualSlices(u32, ([_]u32{ 9, 5, 1, 1, 0 })[0..length], states[0..length]);
        try std.testing.expectEqual(null, key.write(&pool, at, @intCast(least_depth), states[0 .. length - 1]));
    }
    var asked: StackKey = .of(&pool, at);
    for ([_]u32{ 9, 5, 1, 1, 0 }) |state| try std.testing.expectEqual(state, asked.next());
    for (0..3) |_| try std.testing.expect(asked.next() > std.math.maxInt(u16));
}

test "a span ends with an end token where the text is complete, and nowhere else" {
    const r = try createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var s: RecognizerState = .init(gpa, r, .{});
    defer s.deinit();
    const at_start = s.checkpoint();
    try std.testing.expect((try s.accept(end_token, 0, .refuse)).refused);
    try std.testing.expectEqual(at_start, s.checkpoint());
    _ = try s.accept(open, 0, .refuse);
    _ = try s.accept(x, 0, .refuse);
    try std.testing.expect((try s.accept(end_token, 0, .refuse)).refused);
    _ = try s.accept(close, 0, .refuse);
    try std.testing.expect(try s.canStop());
    const step = try s.accept(end_token, 0, .refuse);
    try std.testing.expect(step.in_span and step.span_ended);
    try std.testing.expectEqual(null, try s.allowed());
    s.restore(at_start);
    try std.testing.expectEqualSlices(i32, &.{ 0, 2, 3, 4, 7, 10, 11, 12 }, (try s.allowed()).?.list);
}

test "other tokens may end the span, or none: then what does not continue does" {
    const r = try createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var s: RecognizerState = .init(gpa, r, .{ .end = &.{two_open} });
    defer s.deinit();
    // Where the text is not complete, it is a token as others are.
    _ = try s.accept(two_open, 0, .refuse);
    s.reset();
    _ = try s.accept(x, 0, .refuse);
    try std.testing.expectEqualSlices(i32, &.{ x, space, two_open, 7 }, (try s.allowed()).?.list);
    try std.testing.expect((try s.accept(two_open, 0, .refuse)).span_ended);

    var none: RecognizerState = .init(gpa, r, .{ .end = &.{} });
    defer none.deinit();
    _ = try none.accept(x, 0, .refuse);
    try std.testing.expectEqual(null, try none.allowed());
    const step = try none.accept(close, 0, .refuse);
    try std.testing.expect(step.span_ended and !step.in_span);
}

test "a span that is too long times out; an illegal token may end one" {
    const r = try createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var s: RecognizerState = .init(gpa, r, .{});
    defer s.deinit();
    try std.testing.expect(!(try s.accept(open, 2, .refuse)).timed_out);
    try std.testing.expect((try s.accept(open, 2, .refuse)).timed_out);
    try std.testing.expectEqual(1, (try s.report()).timeouts);
    var diag: Diagnostic = .{};
    try s.activate("", &diag);
    try std.testing.expect((try s.accept(close, 0, .end_span)).span_ended);
    try std.testing.expectEqual(1, s.nIllegal());
}

test "a mask that is not cached is the state's own" {
    const r = try createBrackets(gpa, 0);
    defer r.release();
    var a: RecognizerState = .init(gpa, r, .{});
    defer a.deinit();
    var b: RecognizerState = .init(gpa, r, .{});
    defer b.deinit();
    _ = try b.accept(x, 0, .refuse);
    const of_a = (try a.allowed()).?;
    const of_b = (try b.allowed()).?;
    try std.testing.expectEqualSlices(i32, &.{ 0, 2, 3, 4, 7, 10, 11, 12 }, of_a.list);
    try std.testing.expectEqualSlices(i32, &.{ x, space, 7, end_token }, of_b.list);
    try std.testing.expect(a.isReady());
    a.restore(a.checkpoint());
    try std.testing.expect(!a.isReady());
    _ = try a.allowed();
    try std.testing.expectEqual(2, a.usage().mask_misses);
    try std.testing.expectEqual(0, a.usage().mask_hits);
}

test "what two states look for is found once" {
    const r = try createBrackets(gpa, mask_bytes_max);
    defer r.release();
    var a: RecognizerState = .init(gpa, r, .{});
    defer a.deinit();
    var b: RecognizerState = .init(gpa, r, .{});
    defer b.deinit();
    _ = try a.allowed();
    try std.testing.expect(b.isReady());
    _ = try b.allowed();
    try std.testing.expectEqual(1, b.usage().mask_hits);
    try std.testing.expectEqual(0, b.usage().mask_misses);
}

test "bytes that must follow, and their tokens" {
    var budget: Budget = .{};
    var diag: Diagnostic = .{};
    const choices: Choices = try .build(gpa, "((x)((x xx", &.{ 0, 4, 10 }, &budget, &diag);
    const r = try create(gpa, .{ .choices = choices }, mask_bytes_max);
    defer r.release();
    var s: RecognizerState = .init(gpa, r, .{});
    defer s.deinit();
    var bytes: [16]u8 = undefined;
    try std.testing.expectEqual(3, try s.forcedBytes(&bytes));
    try std.testing.expectEqualStrings("((x", bytes[0..3]);
    // As many as there is room for; the number of all.
    try std.testing.expectEqual(3, try s.forcedBytes(bytes[0..1]));
    var tokens: [16]i32 = undefined;
    const n = try s.forced(&tokens, 0);
    try std.testing.expect(n > 0);
    for (tokens[0..n], 0..) |token, i| {
        try std.testing.expectEqual(token, try s.forcedToken());
        try std.testing.expect(!(try s.accept(token, 0, .refuse)).refused);
        var rest: [16]i32 = undefined;
        if (i + 1 < n) try std.testing.expectEqualSlices(i32, tokens[i + 1 .. n], rest[0..try s.forced(&rest, 0)]);
    }
    // After `((x`, one or the other.
    s.reset();
    for ([_]i32{ two_open, x }) |token| _ = try s.accept(token, 0, .refuse);
    try std.testing.expectEqual(null, try s.forcedToken());
    _ = try s.accept(close, 0, .refuse);
    try std.testing.expectEqual(@as(i32, end_token), try s.forcedToken());
}
