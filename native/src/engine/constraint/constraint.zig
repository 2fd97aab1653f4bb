//! A compiled constraint for a vocabulary: immutable, shared by any number of threads. What depends on the
//! vocabulary, and not on the payload alone, is checked here at each use of a cached payload.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const cache = @import("../trie/cache.zig");
const Recognizer = @import("../recognizer/recognizer.zig").Recognizer;
const Compiled = @import("kinds.zig").Compiled;

/// Reference-counted. Retains its vocabulary and what was compiled.
pub const Constraint = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    compiled: Compiled,

    /// Compiles a token-tree payload, or takes it from the cache. The caller owns one reference.
    pub fn createTokenTrie(
        gpa: Allocator,
        vocabulary: *const Vocabulary,
        payload: []const u8,
        diag: *Diagnostic,
    ) diagnostic.Error!*Constraint {
        const trie = try compilePayload(gpa, payload, vocabulary.tokens.n, vocabulary.model_id, diag);
        errdefer trie.release();
        return create(gpa, vocabulary, .{ .token_trie = trie }, diag);
    }

    /// Takes over the reference to `compiled`, unless it fails. The caller owns one reference to the
    /// constraint.
    pub fn create(gpa: Allocator, vocabulary: *const Vocabulary, compiled: Compiled, diag: *Diagnostic) diagnostic.Error!*Constraint {
        const c = gpa.create(Constraint) catch return diag.outOfMemory();
        c.* = .{ .gpa = gpa, .vocabulary = vocabulary.retain(), .compiled = compiled };
        return c;
    }

    /// Another reference. Safe from any thread.
    pub fn retain(c: *const Constraint) *const Constraint {
        _ = @constCast(c).references.fetchAdd(1, .monotonic);
        return c;
    }

    /// Gives a reference back; the last one frees the constraint. Safe from any thread.
    pub fn release(c: *const Constraint) void {
        const owned = @constCast(c);
        if (owned.references.fetchSub(1, .acq_rel) != 1) return;
        c.compiled.release();
        c.vocabulary.release();
        c.gpa.destroy(owned);
    }

    /// For what only a token trie has; null if this is none. Lent by the constraint.
    pub fn tokenTrie(c: *const Constraint) ?*TokenTrie {
        return if (c.compiled == .token_trie) c.compiled.token_trie else null;
    }

    /// For what only a recognizer has; null if this is none. Lent by the constraint.
    pub fn recognizer(c: *const Constraint) ?*Recognizer {
        return if (c.compiled == .recognizer) c.compiled.recognizer else null;
    }
};

/// The trie of a payload, from the cache if it is there, checked against a vocabulary of `n_tokens` and the
/// model's id, "" if unknown. The caller owns one reference.
pub fn compilePayload(
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
