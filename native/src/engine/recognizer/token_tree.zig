//! A token trie as a language: a part of another, which may stop wherever a leaf is complete. It has tokens and no bytes, so
//! that a text reaches it, and leaves it, where a token ends.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Budget = @import("../base/budget.zig").Budget;
const bitmap = @import("../base/bitmap.zig");
const Kind = @import("../contract/kind.zig").Kind;
const Info = @import("../contract/info.zig").Info;
const Position = @import("../language/position.zig").Position;
const Pool = @import("../language/position.zig").Pool;
const StackForm = @import("../language/position.zig").StackForm;
const Arrays = @import("../language/arrays.zig").Arrays;
const Flags = @import("../vocabulary/tokens.zig").Flags;
const MaskContext = @import("../mask/context.zig").MaskContext;
const Scratch = @import("../mask/scratch.zig").Scratch;
const trie_module = @import("../trie/trie.zig");
const TokenTrie = trie_module.TokenTrie;
const Mark = trie_module.Mark;

/// recognizer/language.zig says what each operation promises. A position's state is a node of the trie.
pub const TokenTree = struct {
    /// Of one descriptor; its tokens are the vocabulary's. One reference.
    trie: *TokenTrie,

    pub const kind: Kind = .token_trie;
    pub const stack_form: StackForm = .none;

    pub fn deinit(tree: *TokenTree, _: Allocator, _: Arrays) void {
        tree.trie.release();
    }

    pub fn describe(tree: *const TokenTree, info: *Info) void {
        info.automaton_bytes = @intCast(tree.trie.retainedBytes());
    }

    pub fn initial(_: *const TokenTree) u32 {
        return 0; // the root of the first descriptor
    }

    pub fn advance(_: *const TokenTree, _: Allocator, _: *Pool, from: Position, text: []const u8) Allocator.Error!?Position {
        return if (text.len == 0) from else null;
    }

    pub fn advanceToken(
        tree: *const TokenTree,
        _: Allocator,
        _: *Pool,
        from: Position,
        token: u32,
        _: Flags,
        _: ?[]const u8,
    ) Allocator.Error!?Position {
        return .{ .state = tree.trie.child(tree.trie.at(from.state), @intCast(token)) orelse return null };
    }

    pub fn namesTokens(_: *const TokenTree) bool {
        return true;
    }

    pub fn takesTokens(tree: *const TokenTree, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        return !tree.trie.at(at.state).isLast();
    }

    pub fn canStop(tree: *const TokenTree, _: Allocator, _: *Pool, at: Position) Allocator.Error!bool {
        return tree.trie.at(at.state).mark.leaf != Mark.no_leaf;
    }

    pub fn computeMask(tree: *TokenTree, context: *const MaskContext, pool: *Pool, at: Position, scratch: *Scratch) Allocator.Error!u32 {
        const words = scratch.builder.words;
        bitmap.clear(words);
        for (tree.trie.children(tree.trie.at(at.state))) |token| bitmap.set(words, @intCast(token));
        context.finishWords(try tree.canStop(context.gpa, pool, at), scratch);
        return 0;
    }

    pub fn prepare(_: *TokenTree, _: *const MaskContext, _: *const Budget, _: *diagnostic.Diagnostic) diagnostic.Error!void {}

    /// The payload; whatever it is a part of has that in its own source, which is compiled again.
    pub fn save(tree: *const TokenTree, writer: anytype) Allocator.Error!void {
        return writer.put(&tree.trie.source);
    }
};
