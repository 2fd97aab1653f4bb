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
    /// Ascending.
    ids: []const u32 = &.{},
    /// Of each of them, from 1.
    classes: []const u8 = &.{},
    /// Of all others: `no_class` unless the grammar takes any token but some.
    others: u8 = no_class,
    n_classes: u8 = 0,

    /// In no text: UTF-8 does not have it.
    pub const lead = 0xff;
    pub const no_class = 0;

    pub fn deinit(named: *NamedTokens, gpa: Allocator) void {
        gpa.free(named.ids);
        gpa.free(named.classes);
        named.* = undefined;
    }

    pub fn isEmpty(named: *const NamedTokens) bool {
        return named.n_classes == 0;
    }

    pub fn classOf(named: *const NamedTokens, token: u32, flags: Flags) u8 {
        var low: usize = 0;
        var high = named.ids.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (named.ids[middle] == token) return named.classes[middle];
            if (named.ids[middle] < token) low = middle + 1 else high = middle;
        }
        return if (isOther(flags)) named.others else no_class;
    }

    /// Whether "any token but some" takes such a token: none that ends the generation, none that is unused.
    fn isOther(flags: Flags) bool {
        return !flags.unused and !flags.end_of_generation;
    }

    /// Adds the tokens of a class.
    pub fn addClass(named: *const NamedTokens, class: u8, tokens: *const Tokens, words: []u32) void {
        for (named.ids, named.classes) |id, one| if (one == class) bitmap.set(words, id);
        if (class != named.others) return;
        var next: usize = 0;
        for (0..tokens.n) |token| {
            while (next < named.ids.len and named.ids[next] < token) next += 1;
            const is_named = next < named.ids.len and named.ids[next] == token;
            if (!is_named and isOther(tokens.flagsOf(@intCast(token)))) bitmap.set(words, @intCast(token));
        }
    }
};
