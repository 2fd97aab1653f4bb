//! Choices in their canonical tokenization, the one that the model's tokenizer gives: a token trie. It is made from a payload,
//! written as MessagePack, so that the trie cache and the limits and checks of payloads apply to it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("engine").array_list.ArrayList;
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;
const Budget = @import("engine").budget.Budget;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const choices = @import("engine").choices;
const Constraint = @import("engine").constraint.Constraint;
const firstInvalid = @import("utf8_text.zig").firstInvalid;
const tokenize = @import("engine").tokenize.tokenize;

const path = "choices";
const what = "the choices as tokens";

/// String i is text[offsets[i]..offsets[i + 1]]. The caller owns one reference to the result. The budget bounds the payload and is
/// asked before each choice. ELIZA_ERR_INVALID_ARG: the offsets are malformed, the vocabulary's token bytes are not known, or a
/// string is not UTF-8, or none that the tokenizer can spell.
pub fn createChoices(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    offsets: []const u64,
    given: Budget,
    diag: *Diagnostic,
) diagnostic.Error!*Constraint {
    try choices.check(offsets, diag);
    var budget = given;
    const payload = try write(gpa, vocabulary, text, offsets, &budget, diag);
    defer gpa.free(payload);
    return Constraint.createTokenTrie(gpa, vocabulary, payload, diag);
}

fn write(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    text: []const u8,
    offsets: []const u64,
    budget: *Budget,
    diag: *Diagnostic,
) diagnostic.Error![]u8 {
    var out: ArrayList(u8) = .empty;
    defer out.deinit(gpa);
    writeAll(gpa, &out, vocabulary, text, offsets, budget, diag) catch |e| return switch (e) {
        error.OutOfMemory => diag.outOfMemory(),
        error.Failed => error.Failed,
    };
    return out.toOwnedSlice(gpa) catch diag.outOfMemory();
}

fn writeAll(
    gpa: Allocator,
    out: *ArrayList(u8),
    vocabulary: *const Vocabulary,
    text: []const u8,
    offsets: []const u64,
    budget: *Budget,
    diag: *Diagnostic,
) (Allocator.Error || diagnostic.Error)!void {
    const trie = try vocabulary.byteTrie(diag);
    try out.append(gpa, 0x82);
    try writeString(gpa, out, "modelId");
    try writeString(gpa, out, "");
    try writeString(gpa, out, "descriptors");
    try out.appendSlice(gpa, &.{ 0x91, 0x82 });
    try writeString(gpa, out, "path");
    try writeString(gpa, out, path);
    try writeString(gpa, out, "leaves");
    try writeLength(gpa, out, 0xdd, offsets.len - 1);
    var tokens: ArrayList(i32) = .empty;
    defer tokens.deinit(gpa);
    for (offsets[0 .. offsets.len - 1], offsets[1..], 0..) |start, end, i| {
        const string = text[@intCast(start)..@intCast(end)];
        const written = out.items.len;
        try budget.check(what, diag);
        if (firstInvalid(string)) |at| return diag.fail(.invalid_arg, "choices[{d}]: byte {d} is not UTF-8", .{ i, at });
        tokens.clearRetainingCapacity();
        if (!try tokenize(gpa, vocabulary, trie, string, &tokens) or !spells(vocabulary, tokens.items, string)) {
            return diag.fail(.invalid_arg, "choices[{d}]: the tokenizer cannot spell {f}", .{ i, diagnostic.quoted(string) });
        }
        try out.append(gpa, 0x82);
        try writeString(gpa, out, "name");
        try writeString(gpa, out, string);
        try writeString(gpa, out, "tokens");
        try writeLength(gpa, out, 0xdd, tokens.items.len);
        for (tokens.items) |token| try writeLength(gpa, out, 0xce, @intCast(token));
        try budget.take(out.items.len - written, what, diag);
    }
}

/// Whether the tokens spell the string. A tokenizer may add tokens of its own, or give those of another text.
fn spells(vocabulary: *const Vocabulary, tokens: []const i32, string: []const u8) bool {
    var at: usize = 0;
    for (tokens) |token| {
        const spelled = vocabulary.tokens.bytesOf(@intCast(token));
        if (!std.mem.startsWith(u8, string[at..], spelled)) return false;
        at += spelled.len;
    }
    return tokens.len > 0 and at == string.len;
}

fn writeString(gpa: Allocator, out: *ArrayList(u8), string: []const u8) Allocator.Error!void {
    try writeLength(gpa, out, 0xdb, string.len);
    try out.appendSlice(gpa, string);
}

/// `form` is the MessagePack format with 32 bits of an integer, an array's length or a string's length.
fn writeLength(gpa: Allocator, out: *ArrayList(u8), form: u8, length: usize) Allocator.Error!void {
    var bytes: [5]u8 = undefined;
    bytes[0] = form;
    std.mem.writeInt(u32, bytes[1..], @intCast(length), .big);
    try out.appendSlice(gpa, &bytes);
}
