//! Walking the vocabulary's trie against a recognizer: which tokens may come next. The method is that
//! of Microsoft's AICI and llguidance ("toktrie"): no recursion, pops deferred to the next step, one
//! branch that is hard to predict.
//!
//! A recognizer has a stack of states and
//!     tryPushByte(byte: u8) bool    pushes the state after the byte, unless no text goes on like that
//!     popBytes(n: usize) void       takes back the last n bytes
//!     depth: usize                  how many bytes are pushed
//! so that a new kind of recognizer is one file.

const std = @import("std");
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const bitmap = @import("../base/bitmap.zig");

comptime {
    // A node's mark is for a byte of a bitmap, which is of words: byte 0 is the low one of word 0.
    std.debug.assert(@import("builtin").cpu.arch.endian() == .little);
}

/// Adds the tokens that the recognizer takes to `words` (of `bitmap.wordsFor`); its stack is as before
/// afterwards.
///
/// Per node: 1 read of 8 bytes; what the recognizer does (an automaton: 3 reads, 1 write); 1 read and
/// 1 write for the mark, also where no token ends and nothing is marked. With an automaton these are 16
/// instructions of x86-64.
pub fn walk(trie: *const ByteTrie, tokens: *const Tokens, recognizer: anytype, words: bitmap.Words) void {
    // A copy that nothing else can point to, so that the compiler keeps its fields in registers.
    var r = recognizer.*;
    defer recognizer.* = r;
    const nodes = trie.nodes.ptr;
    const marks = std.mem.sliceAsBytes(words);
    const n_nodes = trie.nodes.len;
    var at: usize = 1;
    while (at < n_nodes) : (at += 1) {
        const node = nodes[at];
        // So the depth is the node's, and no node waits for the one before it.
        r.popBytes(r.depth + 1 - node.depth);
        if (r.tryPushByte(node.byte)) {
            marks[node.place] |= node.mark;
        } else at += node.subtree - 1;
    }
    r.popBytes(r.depth);
    addLong(trie, tokens, &r, words);
    addDuplicates(trie, words);
}

/// The tokens that have the bytes of another one.
pub noinline fn addDuplicates(trie: *const ByteTrie, words: []u32) void {
    for (trie.duplicates) |duplicate| {
        if (bitmap.has(words, duplicate.token)) bitmap.set(words, duplicate.twin);
    }
}

/// The tokens that are not in the trie.
noinline fn addLong(trie: *const ByteTrie, tokens: *const Tokens, recognizer: anytype, words: []u32) void {
    for (trie.long_tokens) |token| {
        var pushed: usize = 0;
        const text = tokens.bytesOf(token);
        while (pushed < text.len and recognizer.tryPushByte(text[pushed])) pushed += 1;
        recognizer.popBytes(pushed);
        if (pushed == text.len) bitmap.set(words, token);
    }
}
