//! A compiled constraint: immutable, shared by any number of threads. What depends on the
//! vocabulary and not on the payload alone is checked here, on every use of a cached payload.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Vocabulary = @import("vocabulary.zig").Vocabulary;
const TokenTrie = @import("trie/trie.zig").TokenTrie;
const cache = @import("trie/cache.zig");

pub const span_timeout_default = 500;

pub const Constraint = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    trie: *TokenTrie,

    pub fn createTokenTrie(
        gpa: Allocator,
        vocabulary: *const Vocabulary,
        payload: []const u8,
        diag: *Diagnostic,
    ) diagnostic.Error!*Constraint {
        const trie = try compile(gpa, payload, vocabulary.n_tokens, vocabulary.model_id, diag);
        errdefer trie.release();
        const c = gpa.create(Constraint) catch return diag.outOfMemory();
        c.* = .{ .gpa = gpa, .vocabulary = vocabulary.retain(), .trie = trie };
        return c;
    }

    pub fn retain(c: *const Constraint) *const Constraint {
        _ = @constCast(c).references.fetchAdd(1, .monotonic);
        return c;
    }

    pub fn release(c: *const Constraint) void {
        const owned = @constCast(c);
        if (owned.references.fetchSub(1, .acq_rel) != 1) return;
        c.trie.release();
        c.vocabulary.release();
        c.gpa.destroy(owned);
    }
};

/// The trie of a payload, from the cache where it can be, checked against a vocabulary. One
/// reference belongs to the caller. `model_id` is "" if unknown.
pub fn compile(
    gpa: Allocator,
    payload: []const u8,
    n_tokens: u32,
    model_id: []const u8,
    diag: *Diagnostic,
) diagnostic.Error!*TokenTrie {
    const trie = try cache.shared.get(gpa, payload, diag);
    errdefer trie.release();
    const for_model = trie.textOf(trie.model_id);
    if (model_id.len > 0 and for_model.len > 0 and !std.mem.eql(u8, model_id, for_model)) {
        return diag.fail(.model_mismatch, "modelId: the payload is for {f}, the model is {f}", .{ quoted(for_model), quoted(model_id) });
    }
    if (trie.largest.token >= n_tokens) {
        return diag.fail(.payload, "{f}: {d} is not below the vocabulary size {d}", .{ trie.largest.place, trie.largest.token, n_tokens });
    }
    return trie;
}

/// Whether every leaf can be completed within the timeout.
pub fn checkTimeout(trie: *const TokenTrie, timeout: u32, diag: *Diagnostic) diagnostic.Error!void {
    if (trie.longest.tokens <= timeout) return;
    const place = trie.longest.place;
    return diag.fail(.limit, "descriptors[{d}].leaves[{d}].tokens: {d} tokens are more than the span timeout of {d}", .{
        place.descriptor, place.item, trie.longest.tokens, timeout,
    });
}
