//! Walks the vocabulary's trie against a recognizer to find the legal next tokens. The method is that of
//! Microsoft's AICI and llguidance ("toktrie"): no recursion, pops deferred to the next step, one branch that
//! is hard to predict.
//!
//! The recognizer is any walker: a stack of states with
//!     tryPushByte(byte: u8) bool    pushes the state after the byte, unless no text continues like that
//!     popBytes(n: usize) void       takes back the last n bytes
//!     depth: usize                  how many bytes are pushed

const std = @import("std");
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const bitmap = @import("../base/bitmap.zig");

comptime {
    // A node's mark is for a byte of a bitmap of words: byte 0 is the low byte of word 0.
    std.debug.assert(@import("builtin").cpu.arch.endian() == .little);
}

/// Adds the tokens that the recognizer accepts to `words` (of `bitmap.wordsFor`). Leaves its stack as it was.
///
/// Per node: one read of 8 bytes; the recognizer's work (a DFA's: 3 reads, 1 write); one read and one write for
/// the mark, even where no token ends and nothing is marked. With a DFA these are 16 instructions of x86-64.
pub fn walk(trie: *const ByteTrie, tokens: *const Tokens, recognizer: anytype, words: bitmap.Words) void {
    // A copy that nothing else points to, so that the compiler keeps its fields in registers.
    var r = recognizer.*;
    defer recognizer.* = r;
    const nodes = trie.nodes.ptr;
    const marks = std.mem.sliceAsBytes(words);
    const n_nodes = trie.nodes.len;
    var at: usize = 1;
    while (at < n_nodes) : (at += 1) {
        const node = nodes[at];
        // The new depth follows from the node, so that no node waits for the one before it.
        r.popBytes(r.depth + 1 - node.depth);
        if (r.tryPushByte(node.byte)) {
            marks[node.place] |= node.mark;
        } else at += node.subtree - 1;
    }
    r.popBytes(r.depth);
    addLong(trie, tokens, &r, words);
    addDuplicates(trie, words);
}

/// Adds the tokens with the same bytes as one that is in `words`.
pub noinline fn addDuplicates(trie: *const ByteTrie, words: []u32) void {
    for (trie.duplicates) |duplicate| {
        if (bitmap.has(words, duplicate.token)) bitmap.set(words, duplicate.twin);
    }
}

/// Tries the tokens that are not in the trie.
noinline fn addLong(trie: *const ByteTrie, tokens: *const Tokens, recognizer: anytype, words: []u32) void {
    for (trie.long_tokens) |token| {
        var pushed: usize = 0;
        const text = tokens.bytesOf(token);
        while (pushed < text.len and recognizer.tryPushByte(text[pushed])) pushed += 1;
        recognizer.popBytes(pushed);
        if (pushed == text.len) bitmap.set(words, token);
    }
}
