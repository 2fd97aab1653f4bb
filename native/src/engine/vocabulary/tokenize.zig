//! The tokens of a text: as the vocabulary's tokenizer spells it, or the longest token first.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Vocabulary = @import("vocabulary.zig").Vocabulary;
const ByteTrie = @import("byte_trie.zig").ByteTrie;

/// Appends the tokens of a text. False if the tokenizer cannot spell it.
pub fn tokenize(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    text: []const u8,
    out: *std.ArrayList(i32),
) Allocator.Error!bool {
    const tokenizer = vocabulary.tokenizer orelse return longestFirst(gpa, trie, text, out);
    try out.ensureUnusedCapacity(gpa, text.len + 1);
    for (0..2) |_| {
        const room = out.unusedCapacitySlice();
        const n = tokenizer.callback(text.ptr, text.len, room.ptr, room.len, tokenizer.user_data);
        if (n < 0) return false;
        const length: usize = @intCast(n);
        if (length <= room.len) {
            for (room[0..length]) |token| if (token < 0 or token >= vocabulary.tokens.n) return false;
            out.items.len += length;
            return true;
        }
        try out.ensureUnusedCapacity(gpa, length);
    }
    return false;
}

fn longestFirst(gpa: Allocator, trie: *const ByteTrie, text: []const u8, out: *std.ArrayList(i32)) Allocator.Error!bool {
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

/// Appends the tokens of the bytes that must follow, up to the first one that a longer token could take
/// the place of. If the text must end after the bytes, that is none.
pub fn forced(
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *const ByteTrie,
    bytes: []const u8,
    must_end: bool,
    out: *std.ArrayList(i32),
) Allocator.Error!void {
    const before = out.items.len;
    if (!try tokenize(gpa, vocabulary, trie, bytes, out)) {
        out.shrinkRetainingCapacity(before);
        return;
    }
    var at: usize = 0;
    for (out.items[before..], 0..) |token, i| {
        const spelt = vocabulary.tokens.bytesOf(@intCast(token));
        const goes_wrong = !vocabulary.tokens.isText(@intCast(token)) or !std.mem.startsWith(u8, bytes[at..], spelt);
        if (goes_wrong or (!must_end and isStart(trie, bytes[at..]))) {
            out.shrinkRetainingCapacity(before + i);
            return;
        }
        at += spelt.len;
    }
}

/// Whether a longer token begins with the text.
fn isStart(trie: *const ByteTrie, text: []const u8) bool {
    const node = trie.find(text) orelse return false;
    return !trie.nodes[node].isLeaf();
}
