//! Tokenizing: with the vocabulary's tokenizer or, if it has none, longest token first.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const Vocabulary = @import("vocabulary.zig").Vocabulary;
const ByteTrie = @import("byte_trie.zig").ByteTrie;

/// Appends the tokens of a text. False if they cannot be found; the caller then drops what was appended.
pub fn tokenize(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    text: []const u8,
    out: *ArrayList(i32),
) Allocator.Error!bool {
    const tokenizer = vocabulary.tokenizer orelse return longestFirst(gpa, trie, text, out);
    try out.ensureUnusedCapacity(gpa, text.len + 1);
    const room = out.unusedCapacitySlice();
    const n = tokenizer.callback(text.ptr, text.len, room.ptr, room.len, tokenizer.user_data);
    // More tokens than bytes do not spell the text.
    if (n < 0 or n > room.len) return false;
    const length: usize = @intCast(n);
    for (room[0..length]) |token| if (token < 0 or token >= vocabulary.tokens.n) return false;
    out.items.len += length;
    return true;
}

fn longestFirst(gpa: Allocator, trie: *const ByteTrie, text: []const u8, out: *ArrayList(i32)) Allocator.Error!bool {
    var at: usize = 0;
    while (at < text.len) {
        var node: u32 = 0;
        var longest: ?i32 = null;
        var end = at;
        for (text[at..], at + 1..) |byte, after| {
            node = trie.child(node, byte) orelse break;
            longest = @intCast(trie.nodes[node].token() orelse continue);
            end = after;
        }
        try out.append(gpa, longest orelse return false);
        at = end;
    }
    return true;
}

/// Appends the tokens of forced bytes, up to the first that a longer token could replace: the bytes after `bytes`
/// are unknown, unless the text `ends_here`. Appends nothing if the bytes cannot be tokenized.
pub fn forced(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    bytes: []const u8,
    ends_here: bool,
    out: *ArrayList(i32),
) Allocator.Error!void {
    const before = out.items.len;
    if (!try tokenize(gpa, vocabulary, trie, bytes, out)) {
        out.shrinkRetainingCapacity(before);
        return;
    }
    var at: usize = 0;
    for (out.items[before..], 0..) |token, i| {
        const token_bytes = vocabulary.tokens.bytesOf(@intCast(token));
        const is_wrong = !vocabulary.tokens.isText(@intCast(token)) or !std.mem.startsWith(u8, bytes[at..], token_bytes);
        if (is_wrong or (!ends_here and isProperPrefix(trie, bytes[at..]))) {
            out.shrinkRetainingCapacity(before + i);
            return;
        }
        at += token_bytes.len;
    }
}

/// How many tokens of a prompt stay if those are taken back that a longer token could replace, whatever follows: the most
/// tokens at its end that, as one text, are the beginning of another. Their text has at most `bytes_max` bytes.
pub fn nKept(vocabulary: *const Vocabulary, trie: *const ByteTrie, prompt: []const i32, comptime bytes_max: usize) usize {
    var buffer: [bytes_max]u8 = undefined;
    var from: usize = bytes_max;
    var n_kept = prompt.len;
    var i = prompt.len;
    while (i > 0) {
        i -= 1;
        const token: u32 = @intCast(prompt[i]);
        const text = vocabulary.tokens.bytesOf(token);
        if (!vocabulary.tokens.isText(token) or text.len > from) break;
        from -= text.len;
        @memcpy(buffer[from..][0..text.len], text);
        if (isProperPrefix(trie, buffer[from..])) n_kept = i;
    }
    return n_kept;
}

/// Whether a longer token begins with the text.
fn isProperPrefix(trie: *const ByteTrie, text: []const u8) bool {
    const node = trie.find(text) orelse return false;
    return !trie.nodes[node].isLeaf();
}
