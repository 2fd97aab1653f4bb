//! Whether a payload is for a vocabulary: the bytes of a leaf's tokens contain its name. In another vocabulary the same ids
//! spell something else. What stands around the name, such as a space, is the payload's business.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const trie_module = @import("trie.zig");
const TokenTrie = trie_module.TokenTrie;
const Node = trie_module.Node;

/// What the tokens of a vocabulary spell. Lends `pointer`.
pub const Spelling = struct {
    pointer: *const anyopaque,
    /// Appends the bytes of a token; none if they are not known.
    append: *const fn (pointer: *const anyopaque, token: i32, out: *ArrayList(u8)) Allocator.Error!void,
    /// Tells vocabularies apart, also those that are gone. 0: not known, so that each use is checked.
    identity: u32,
};

/// Fails with `model_mismatch` at the first leaf whose tokens do not spell its name. A leaf with a token of unknown bytes
/// passes. Walks the trie once for each vocabulary, in O(nodes + bytes).
pub fn check(gpa: Allocator, trie: *TokenTrie, spelling: Spelling, diag: *Diagnostic) diagnostic.Error!void {
    if (trie.has_labels) return;
    if (spelling.identity != 0 and trie.spelt_by.load(.monotonic) == spelling.identity) return;
    var walk: Walk = .{ .gpa = gpa, .trie = trie, .spelling = spelling, .diag = diag };
    defer walk.bytes.deinit(gpa);
    defer walk.path.deinit(gpa);
    for (0..trie.descriptors.len) |descriptor| {
        walk.descriptor(@intCast(descriptor)) catch |e| return switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Failed => error.Failed,
        };
    }
    trie.spelt_by.store(spelling.identity, .monotonic);
}

const Walk = struct {
    gpa: Allocator,
    trie: *const TokenTrie,
    spelling: Spelling,
    diag: *Diagnostic,
    /// What the tokens on the path spell.
    bytes: ArrayList(u8) = .empty,
    /// From the root to the present node.
    path: ArrayList(Step) = .empty,

    /// A node: its children that are still to come, and what leads to it.
    const Step = struct { next: Node, end: Node, n_bytes: usize, is_known: bool };

    fn descriptor(w: *Walk, number: u32) (Allocator.Error || diagnostic.Error)!void {
        w.bytes.clearRetainingCapacity();
        try w.enter(number, true);
        while (w.path.items.len > 0) {
            const at = &w.path.items[w.path.items.len - 1];
            if (at.next == at.end) {
                w.path.items.len -= 1;
                continue;
            }
            const node = at.next;
            at.next += 1;
            const before = at.n_bytes;
            const parent_is_known = at.is_known;
            w.bytes.shrinkRetainingCapacity(before);
            try w.spelling.append(w.spelling.pointer, w.trie.tokens[node], &w.bytes);
            const is_known = parent_is_known and w.bytes.items.len > before;
            if (is_known) try w.compare(number, node);
            try w.enter(node, is_known);
        }
    }

    fn enter(w: *Walk, node: Node, is_known: bool) Allocator.Error!void {
        const children = w.trie.first_child[node..][0..2];
        try w.path.append(w.gpa, .{ .next = children[0], .end = children[1], .n_bytes = w.bytes.items.len, .is_known = is_known });
    }

    fn compare(w: *Walk, number: u32, node: Node) diagnostic.Error!void {
        const mark = w.trie.marks[node];
        if (mark.leaf == trie_module.Mark.no_leaf) return;
        const name = w.trie.leafName(number, mark.leaf);
        if (std.mem.find(u8, w.bytes.items, name) != null) return;
        return w.diag.fail(
            .model_mismatch,
            "descriptors[{d}].leaves[{d}]: the tokens of {f} are {f} in this vocabulary: the payload is for another one",
            .{ number, mark.leaf, quoted(name), quoted(w.bytes.items) },
        );
    }
};
