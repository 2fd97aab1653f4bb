//! Walks the vocabulary's trie against a recognizer to find the legal next tokens. The method is that of
//! Microsoft's AICI and llguidance ("toktrie"): no recursion, pops deferred to the next step, one branch that
//! is hard to predict.
//!
//! The recognizer is any walker: a stack of states with
//!     tryPushByte(byte: u8) bool    pushes the state after the byte, unless no text continues like that
//!     popBytes(n: usize) void       takes back the last n bytes
//!     depth: usize                  how many bytes are pushed

const std = @import("std");
const ArrayList = @import("../base/array_list.zig").ArrayList;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const Tokens = @import("../vocabulary/tokens.zig").Tokens;
const Diagnostic = @import("../base/diagnostic.zig").Diagnostic;
const bitmap = @import("../base/bitmap.zig");
const Watch = @import("../base/watch.zig").Watch;

comptime {
    // A node's mark is for a byte of a bitmap of words: byte 0 is the low byte of word 0.
    std.debug.assert(@import("builtin").cpu.arch.endian() == .little);
}

/// Adds the tokens that the recognizer accepts to `words` (of `bitmap.wordsFor`). Leaves its stack as it was. `TooLarge`: the
/// watch, which is asked every `nodes_between` nodes, has stopped the operation.
///
/// Per node: one read of 8 bytes; the recognizer's work (a DFA's: 3 reads, 1 write); one read and one write for
/// the mark, even where no token ends and nothing is marked. With a DFA these are 16 instructions of x86-64.
pub fn walk(
    trie: *const ByteTrie,
    tokens: *const Tokens,
    recognizer: anytype,
    words: bitmap.Words,
    watch: *Watch,
) error{TooLarge}!void {
    // A copy that nothing else points to, so that the compiler keeps its fields in registers.
    var r = recognizer.*;
    std.debug.assert(r.depth == 0);
    defer recognizer.* = r;
    const nodes = trie.nodes.ptr;
    const marks = std.mem.sliceAsBytes(words);
    defer r.popBytes(r.depth);
    var at: usize = 1;
    while (at < trie.nodes.len) {
        const end = @min(at + nodes_between, trie.nodes.len);
        try watch.steps(@intCast((end - at) / nodes_of_step));
        while (at < end) : (at += 1) {
            const node = nodes[at];
            // The new depth follows from the node, so that no node waits for the one before it.
            r.popBytes(r.depth + 1 - node.depth);
            if (r.tryPushByte(node.byte)) {
                marks[node.place] |= node.mark;
            } else at += node.subtree - 1;
        }
    }
    r.popBytes(r.depth);
    try watch.steps(@intCast(trie.long_tokens.len + trie.duplicates.len / nodes_of_step));
    addLong(trie, tokens, &r, words);
    addDuplicates(trie, words);
}

/// Some tenths of a millisecond, since each may take a look at memory.
const nodes_between = 1 << 14;
/// That a watch counts as a step: where a byte takes more than a look into a table, the recognizer asks itself.
const nodes_of_step = 4;

/// Adds the tokens with the same bytes as one that is in `words`.
pub noinline fn addDuplicates(trie: *const ByteTrie, words: []u32) void {
    for (trie.duplicates) |duplicate| {
        if (bitmap.has(words, duplicate.token)) bitmap.set(words, duplicate.twin);
    }
}

/// Tries the tokens that are not in the trie.
pub noinline fn addLong(trie: *const ByteTrie, tokens: *const Tokens, recognizer: anytype, words: []u32) void {
    for (trie.long_tokens) |token| {
        var pushed: usize = 0;
        const text = tokens.bytesOf(token);
        while (pushed < text.len and recognizer.tryPushByte(text[pushed])) pushed += 1;
        recognizer.popBytes(pushed);
        if (pushed == text.len) bitmap.set(words, token);
    }
}

/// Takes texts of up to `n_max` bytes whose bytes add up to no multiple of three.
const Sums = struct {
    sums: [512]u32 = @splat(1),
    depth: usize = 0,
    n_max: usize,

    pub fn tryPushByte(s: *Sums, byte: u8) bool {
        const sum = s.sums[s.depth] + byte;
        if (sum % 3 == 0 or s.depth == s.n_max) return false;
        s.depth += 1;
        s.sums[s.depth] = sum;
        return true;
    }

    pub fn popBytes(s: *Sums, n: usize) void {
        s.depth -= n;
    }
};

test "a walk takes the tokens that are taken byte by byte" {
    const gpa = std.testing.allocator;
    var random: std.Random.DefaultPrng = .init(1);
    var bytes: ArrayList(u8) = .empty;
    defer bytes.deinit(gpa);
    var offsets: ArrayList(u64) = .empty;
    defer offsets.deinit(gpa);
    // Short ones, so that some are there twice; some that are too long for the trie; and the empty one.
    for (0..600) |i| {
        try offsets.append(gpa, bytes.items.len);
        const length = if (i % 100 == 1) 300 + i / 100 else random.random().uintAtMost(usize, 6);
        // Long ones are taken as far as their length allows.
        for (0..length) |_| try bytes.append(gpa, if (length > 6) 3 else random.random().uintLessThan(u8, 7));
    }
    try offsets.append(gpa, bytes.items.len);
    const tokens: Tokens = .{ .n = 600, .bytes = bytes.items, .offsets = offsets.items };
    var diag: Diagnostic = .{};
    var trie: ByteTrie = try .build(gpa, &tokens, &diag);
    defer trie.deinit(gpa);
    try std.testing.expect(trie.duplicates.len > 0 and trie.long_tokens.len == 6);
    const words = try bitmap.alloc(gpa, bitmap.wordsFor(tokens.n));
    defer gpa.free(words);
    for ([_]usize{ 0, 1, 3, 302, 400 }) |n_max| {
        var sums: Sums = .{ .n_max = n_max };
        bitmap.clear(words);
        var watch: Watch = .{};
        try walk(&trie, &tokens, &sums, words, &watch);
        try std.testing.expectEqual(trie.nodes.len / 4 > 0, watch.taken() > 0);
        try std.testing.expectEqual(0, sums.depth);
        for (0..tokens.n) |token| {
            const text = tokens.bytesOf(@intCast(token));
            var n: usize = 0;
            while (n < text.len and sums.tryPushByte(text[n])) n += 1;
            sums.popBytes(n);
            try std.testing.expectEqual(text.len > 0 and n == text.len, bitmap.has(words, @intCast(token)));
        }
    }
}
