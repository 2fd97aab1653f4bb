//! Whether a payload is for a vocabulary: the bytes of a leaf's tokens contain its name. In another vocabulary the same ids
//! spell something else. What stands around the name, such as a space, is the payload's business. A payload whose model id is
//! the fingerprint of a vocabulary is for that one.

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
    /// That of eliza_vocab_info_t.
    fingerprint: *const fn (pointer: *const anyopaque, diag: *Diagnostic) diagnostic.Error!u64,
    /// Tells vocabularies apart, also those that are gone. 0: not known, so that each use is checked.
    identity: u32,
};

/// The fingerprint that a model id is: "vocabulary:" and 16 hexadecimal digits. Null if it is a name.
pub fn fingerprintIn(model_id: []const u8) ?u64 {
    const digits = std.mem.cutPrefix(u8, model_id, "vocabulary:") orelse return null;
    return if (digits.len == 16) std.fmt.parseInt(u64, digits, 16) catch null else null;
}

fn digitsOf(fingerprint: u64) [16]u8 {
    return std.fmt.bytesToHex(std.mem.toBytes(std.mem.nativeToBig(u64, fingerprint)), .lower);
}

/// Fails with `model_mismatch` if the payload has the fingerprint of another vocabulary, else at the first leaf whose tokens
/// do not spell its name. A leaf with a token of unknown bytes passes. Walks the trie once for each vocabulary, in
/// O(nodes + bytes).
pub fn check(gpa: Allocator, trie: *TokenTrie, spelling: Spelling, diag: *Diagnostic) diagnostic.Error!void {
    if (spelling.identity != 0 and trie.spelt_by.load(.monotonic) == spelling.identity) return;
    if (fingerprintIn(trie.textOf(trie.model_id))) |wanted| {
        const found = try spelling.fingerprint(spelling.pointer, diag);
        if (found != wanted) return diag.fail(
            .model_mismatch,
            "modelId: the payload is for the vocabulary {s}, the model's is {s}",
            .{ @as([]const u8, &digitsOf(wanted)), @as([]const u8, &digitsOf(found)) },
        );
    }
    if (!trie.has_labels) try checkLeaves(gpa, trie, spelling, diag);
    trie.spelt_by.store(spelling.identity, .monotonic);
}

fn checkLeaves(gpa: Allocator, trie: *const TokenTrie, spelling: Spelling, diag: *Diagnostic) diagnostic.Error!void {
    var walk: Walk = .{ .gpa = gpa, .trie = trie, .spelling = spelling, .diag = diag };
    defer walk.bytes.deinit(gpa);
    defer walk.path.deinit(gpa);
    for (0..trie.descriptors.len) |descriptor| {
        walk.descriptor(@intCast(descriptor)) catch |e| return switch (e) {
            error.OutOfMemory => diag.outOfMemory(),
            error.Failed => error.Failed,
        };
    }
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
