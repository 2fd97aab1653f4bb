//! Where a set of configurations is its own successor for many bytes, as within a name, a comment or free text, most of a
//! walk over the vocabulary does nothing: tokens of these bytes alone are legal, and the others depend on what
//! follows the first byte that is none of them. A span keeps both for a node of the trie and two sets of bytes:
//! those that lead from the node to such a set, and those that stay there.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const bitmap = @import("../base/bitmap.zig");

pub const Bytes = std.StaticBitSet(256);

/// All spans together: words of memory, and their number.
const words_max = 1 << 21;
const spans_max = 1 << 12;

pub const Span = struct {
    node: u32,
    first: Bytes,
    stay: Bytes,
    /// The tokens below the node whose first byte is in `first` and whose others are in `stay`, if they are many as a bitmap.
    tokens: []const u32,
    is_bitmap: bool,
    /// Nodes behind such a path, one byte further, by that byte, which is not in `stay`.
    exits: []const u32,
    /// Where those of each byte end in `exits`, ascending by byte.
    ends: []const End,

    pub const End = struct { byte: u8, to: u32 };

    fn deinit(span: *const Span, gpa: Allocator) void {
        gpa.free(span.tokens);
        gpa.free(span.exits);
        gpa.free(span.ends);
    }

    pub fn addTokens(span: *const Span, words: []u32) void {
        if (!span.is_bitmap) {
            for (span.tokens) |token| bitmap.set(words, token);
        } else for (words, span.tokens) |*word, more| word.* |= more;
    }
};

/// Belongs to one thread. For one trie.
pub const Spans = struct {
    gpa: Allocator,
    list: ArrayList(Span) = .empty,
    /// From a hash to the last span with it.
    by_hash: NumberMap = .{},
    n_words: usize = 0,
    // Of the span that is being made.
    tokens: ArrayList(u32) = .empty,
    exits: ArrayList(u32) = .empty,

    pub fn deinit(s: *Spans) void {
        for (s.list.items) |*span| span.deinit(s.gpa);
        s.list.deinit(s.gpa);
        s.by_hash.deinit(s.gpa);
        s.tokens.deinit(s.gpa);
        s.exits.deinit(s.gpa);
    }

    /// Good until the next call. Null if there is no room for more.
    pub fn get(s: *Spans, trie: *const ByteTrie, node: u32, first: Bytes, stay: Bytes) Allocator.Error!?*const Span {
        const hash = std.hash.Wyhash.hash(node, std.mem.asBytes(&[_]Bytes{ first, stay })) >> 1;
        const known = s.by_hash.get(hash);
        if (known) |i| {
            const span = &s.list.items[i];
            return if (span.node == node and span.first.eql(first) and span.stay.eql(stay)) span else null;
        }
        if (s.list.items.len == spans_max or s.n_words > words_max) return null;
        const span = try s.make(trie, node, first, stay);
        errdefer span.deinit(s.gpa);
        try s.by_hash.putItem(s.gpa, hash, Span, &s.list, span);
        s.n_words += span.tokens.len + span.exits.len;
        return &s.list.items[s.list.items.len - 1];
    }

    fn make(s: *Spans, trie: *const ByteTrie, node: u32, first: Bytes, stay: Bytes) Allocator.Error!Span {
        s.tokens.clearRetainingCapacity();
        s.exits.clearRetainingCapacity();
        const nodes = trie.nodes;
        const top: usize = nodes[node].depth;
        const end = node + nodes[node].subtree;
        var at: u32 = node + 1;
        while (at < end) {
            const one = nodes[at];
            const is_first = one.depth == top + 1;
            if ((if (is_first) first else stay).isSet(one.byte)) {
                if (one.token()) |token| try s.tokens.append(s.gpa, token);
                at += 1;
            } else {
                if (!is_first) try s.exits.append(s.gpa, at);
                at += one.subtree;
            }
        }
        std.sort.pdq(u32, s.exits.items, nodes, isBefore);
        return s.keep(trie, .{
            .node = node,
            .first = first,
            .stay = stay,
            .tokens = &.{},
            .is_bitmap = false,
            .exits = &.{},
            .ends = &.{},
        });
    }

    fn isBefore(nodes: []const @import("../vocabulary/byte_trie.zig").Node, a: u32, b: u32) bool {
        return if (nodes[a].byte != nodes[b].byte) nodes[a].byte < nodes[b].byte else a < b;
    }

    fn keep(s: *Spans, trie: *const ByteTrie, from: Span) Allocator.Error!Span {
        var span = from;
        const n_words = bitmap.wordsFor(trie.n_tokens);
        span.is_bitmap = s.tokens.items.len > n_words / 2;
        if (span.is_bitmap) {
            const words = try s.gpa.alloc(u32, n_words);
            @memset(words, 0);
            for (s.tokens.items) |token| bitmap.set(words, token);
            span.tokens = words;
        } else span.tokens = try s.gpa.dupe(u32, s.tokens.items);
        errdefer s.gpa.free(span.tokens);
        span.exits = try s.gpa.dupe(u32, s.exits.items);
        errdefer s.gpa.free(span.exits);
        var ends: ArrayList(Span.End) = .empty;
        defer ends.deinit(s.gpa);
        for (s.exits.items, 1..) |exit, to| {
            const byte = trie.nodes[exit].byte;
            if (ends.items.len == 0 or ends.items[ends.items.len - 1].byte != byte) try ends.append(s.gpa, .{ .byte = byte, .to = 0 });
            ends.items[ends.items.len - 1].to = @intCast(to);
        }
        span.ends = try ends.toOwnedSlice(s.gpa);
        return span;
    }
};
