//! Where a set of configurations is its own successor for many bytes, as within a name, a comment or free text, most of a
//! walk over the vocabulary does nothing: tokens of these bytes alone are legal, and the others depend on what
//! follows the first byte that is none of them. A span keeps both for a node of the trie and a *path*: a small automaton of
//! classes of bytes, whose state 0 is such a set, and whose others are within characters of several bytes.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const NumberMap = @import("../base/number_map.zig").NumberMap;
const ByteTrie = @import("../vocabulary/byte_trie.zig").ByteTrie;
const bitmap = @import("../base/bitmap.zig");

/// The most states of a path: UTF-8 has seven within characters.
pub const states_max = 8;
/// In place of a state: the bytes do not belong to the path.
pub const outside = std.math.maxInt(u8);

/// All spans together: words of memory, and their number.
const words_max = 1 << 21;
const spans_max = 1 << 12;
/// More tokens than this share of a bitmap's words are kept as a bitmap.
const bitmap_share = 12;

pub const Path = struct {
    /// [byte]: its class.
    classes: *const [256]u8,
    n_classes: usize,
    /// [class]: the state after a byte from the node; then [state * n_classes + class]: the next one.
    states: []const u8,
};

pub const Span = struct {
    node: u32,
    /// Of its path.
    states: []const u8,
    /// The tokens below the node that stay on the path; if they are many, as a bitmap.
    tokens: []const u32,
    words: ?bitmap.Words,
    /// Nodes one byte behind state 0, by that byte, which does not belong to the path.
    exits: []const u32,
    /// Where those of each byte end in `exits`, ascending by byte.
    ends: []const End,

    pub const End = struct { byte: u8, to: u32 };

    fn deinit(span: *const Span, gpa: Allocator) void {
        gpa.free(span.states);
        gpa.free(span.tokens);
        if (span.words) |own| gpa.free(own);
        gpa.free(span.exits);
        gpa.free(span.ends);
    }

    pub fn addTokens(span: *const Span, words: bitmap.Words) void {
        if (span.words) |own| return bitmap.unite(words, &.{own});
        for (span.tokens) |token| bitmap.set(words, token);
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
    pub fn get(s: *Spans, trie: *const ByteTrie, node: u32, path: Path) Allocator.Error!?*const Span {
        const hash = std.hash.Wyhash.hash(node, path.states) >> 1;
        const known = s.by_hash.get(hash);
        if (known) |i| {
            const span = &s.list.items[i];
            return if (span.node == node and std.mem.eql(u8, span.states, path.states)) span else null;
        }
        if (s.list.items.len == spans_max or s.n_words > words_max) return null;
        try s.gather(trie, node, path);
        const span = try s.keep(trie, node, path.states);
        errdefer span.deinit(s.gpa);
        try s.by_hash.putItem(s.gpa, hash, Span, &s.list, span);
        s.n_words += span.tokens.len + (if (span.words) |own| own.len else 0) + span.exits.len + span.states.len / 4;
        return &s.list.items[s.list.items.len - 1];
    }

    /// Leaves in `tokens` and `exits` those below the node.
    fn gather(s: *Spans, trie: *const ByteTrie, node: u32, path: Path) Allocator.Error!void {
        s.tokens.clearRetainingCapacity();
        s.exits.clearRetainingCapacity();
        const nodes = trie.nodes;
        const end = node + nodes[node].subtree;
        // [depth]: where the row of the state begins in the path.
        var rows: [256]usize = undefined;
        rows[nodes[node].depth] = 0;
        var at: u32 = node + 1;
        while (at < end) {
            const one = nodes[at];
            const row = rows[one.depth - 1];
            const state = path.states[row + path.classes[one.byte]];
            if (state != outside) {
                rows[one.depth] = (1 + @as(usize, state)) * path.n_classes;
                if (one.token()) |token| try s.tokens.append(s.gpa, token);
                at += 1;
            } else {
                if (row == path.n_classes) try s.exits.append(s.gpa, at);
                at += one.subtree;
            }
        }
        std.sort.pdq(u32, s.exits.items, nodes, isBefore);
    }

    fn isBefore(nodes: []const @import("../vocabulary/byte_trie.zig").Node, a: u32, b: u32) bool {
        return if (nodes[a].byte != nodes[b].byte) nodes[a].byte < nodes[b].byte else a < b;
    }

    /// The span of what was gathered.
    fn keep(s: *Spans, trie: *const ByteTrie, node: u32, states: []const u8) Allocator.Error!Span {
        const n_words = bitmap.wordsFor(trie.n_tokens);
        var span: Span = .{ .node = node, .states = states, .tokens = &.{}, .words = null, .exits = &.{}, .ends = &.{} };
        span.states = try s.gpa.dupe(u8, states);
        errdefer s.gpa.free(span.states);
        if (s.tokens.items.len > n_words / bitmap_share) {
            const words = try bitmap.alloc(s.gpa, n_words);
            bitmap.clear(words);
            for (s.tokens.items) |token| bitmap.set(words, token);
            span.words = words;
        } else span.tokens = try s.gpa.dupe(u32, s.tokens.items);
        errdefer {
            s.gpa.free(span.tokens);
            if (span.words) |own| s.gpa.free(own);
        }
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
