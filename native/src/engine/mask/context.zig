//! What computing masks needs besides the language: the same for all positions of a recognizer.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Account = @import("cache.zig").Account;
const mask_module = @import("mask.zig");
const Scratch = @import("scratch.zig").Scratch;
const bitmap = @import("../base/bitmap.zig");
const walk = @import("walk.zig").walk;
const Watch = @import("../base/watch.zig").Watch;

/// Lends everything from the recognizer.
pub const MaskContext = struct {
    gpa: Allocator,
    tokens: *const Tokens,
    trie: *const ByteTrie,
    /// For tables that stay.
    account: *Account,

    /// Computes `scratch.mask` by walking the whole vocabulary with `walker`, which is at the position.
    pub fn computeByWalk(
        context: *const MaskContext,
        walker: anytype,
        can_stop: bool,
        scratch: *Scratch,
        watch: *Watch,
    ) error{TooLarge}!void {
        const builder = &scratch.builder;
        bitmap.clear(builder.words);
        try walk(context.trie, context.tokens, walker, builder.words, watch);
        if (@hasDecl(@TypeOf(walker.*), "addNamed")) walker.addNamed(context.tokens, builder.words);
        context.finishWords(can_stop, scratch);
    }

    /// Makes `scratch.mask` of the tokens in the builder's words. A grammar that names an end token has it there already.
    pub fn finishWords(context: *const MaskContext, can_stop: bool, scratch: *Scratch) void {
        const builder = &scratch.builder;
        builder.clear();
        var n_tokens = bitmap.count(builder.words);
        const is_list = n_tokens <= mask_module.list_max;
        if (can_stop) for (context.trie.end_tokens) |token| {
            n_tokens += @intFromBool(!bitmap.has(builder.words, @intCast(token)));
            bitmap.set(builder.words, @intCast(token));
        };
        scratch.mask = .{
            .ids = if (is_list) builder.ids[0..bitmap.list(builder.words, builder.ids)] else &.{},
            .words = if (is_list) null else builder.words,
            .n_tokens = n_tokens,
            .can_stop = can_stop,
        };
        scratch.mask.assertValid();
    }
};
