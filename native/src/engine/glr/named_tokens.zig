//! The tokens that a grammar names, as `<|end|>` or `<[17]>`. Such a token stands for itself, whatever it spells; to the
//! lexer it is two bytes that no text has: `lead`, and the class of all tokens that the grammar takes alike.

const std = @import("std");
const Allocator = std.mem.Allocator;
const tokens_module = @import("../vocabulary/tokens.zig");
const Tokens = tokens_module.Tokens;
const Flags = tokens_module.Flags;
const bitmap = @import("../base/bitmap.zig");

/// Immutable.
pub const NamedTokens = struct {
    /// Where runs of tokens begin that are taken alike, ascending from 0; each continues to the next one.
    starts: []const u32 = &.{},
    /// Of each run: a class, `no_class`, or `unlisted` of tokens that no list has.
    classes: []const u8 = &.{},
    /// Of all unlisted ones: `no_class` unless the grammar takes any token but some.
    others: u8 = no_class,
    /// They are numbered from 1.
    n_classes: u8 = 0,

    /// In no text: UTF-8 does not have it.
    pub const lead = 0xff;
    pub const no_class = 0;
    pub const unlisted = 0xff;
    pub const classes_max = 0xfe;

    pub fn deinit(named: *NamedTokens, gpa: Allocator) void {
        gpa.free(named.starts);
        gpa.free(named.classes);
        named.* = undefined;
    }

    /// Whether no operation reads beyond the arrays, and all runs ascend, up to `n_tokens`.
    pub fn isSound(named: *const NamedTokens, n_tokens: u32) bool {
        if (named.starts.len != named.classes.len) return false;
        for (named.starts, 0..) |start, i| if (start > n_tokens or (i > 0 and named.starts[i - 1] >= start)) return false;
        return true;
    }

    pub fn isEmpty(named: *const NamedTokens) bool {
        return named.n_classes == 0;
    }

    pub fn classOf(named: *const NamedTokens, token: u32, flags: Flags) u8 {
        const class = named.listedClassOf(token);
        if (class != unlisted) return class;
        return if (isOther(flags)) named.others else no_class;
    }

    /// Whether "any token but those that are listed" takes one at all.
    pub fn hasOthers(named: *const NamedTokens, tokens: *const Tokens) bool {
        return for (0..tokens.n) |i| {
            const token: u32 = @intCast(i);
            if (named.listedClassOf(token) == unlisted and isOther(tokens.flagsOf(token))) break true;
        } else false;
    }

    fn listedClassOf(named: *const NamedTokens, token: u32) u8 {
        var low: usize = 0;
        var high = named.starts.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (named.starts[middle] <= token) low = middle + 1 else high = middle;
        }
        return if (low == 0) unlisted else named.classes[low - 1];
    }

    /// Whether "any token but some" takes such a token: none that ends the generation, none that is unused.
    fn isOther(flags: Flags) bool {
        return !flags.unused and !flags.end_of_generation;
    }

    /// Adds the tokens of a class.
    pub fn addClass(named: *const NamedTokens, class: u8, tokens: *const Tokens, words: []u32) void {
        for (named.starts, named.classes, 1..) |start, one, next| {
            const is_other = one == unlisted and class == named.others;
            if (one != class and !is_other) continue;
            const end = if (next < named.starts.len) named.starts[next] else tokens.n;
            for (start..@min(end, tokens.n)) |token| {
                if (!is_other or isOther(tokens.flagsOf(@intCast(token)))) bitmap.set(words, @intCast(token));
            }
        }
    }
};

test "runs are sound that ascend, up to the last token" {
    const isSound = NamedTokens.isSound;
    try std.testing.expect(isSound(&.{ .starts = &.{ 0, 2, 5 }, .classes = &.{ 1, 0, 2 } }, 5));
    try std.testing.expect(!isSound(&.{ .starts = &.{ 0, 2, 6 }, .classes = &.{ 1, 0, 2 } }, 5));
    try std.testing.expect(!isSound(&.{ .starts = &.{ 0, 0, 5 }, .classes = &.{ 1, 0, 2 } }, 5));
    try std.testing.expect(!isSound(&.{ .starts = &.{ 0, 5, 5 }, .classes = &.{ 1, 0, 2 } }, 5));
    try std.testing.expect(!isSound(&.{ .starts = &.{ 0, 2 }, .classes = &.{1} }, 5));
}
