//! A compiled constraint for a vocabulary: immutable, shared by any number of threads. What depends on the
//! vocabulary, and not on the payload alone, is checked here at each use of a cached payload.

const std = @import("std");
const Allocator = std.mem.Allocator;
const ArrayList = @import("../base/array_list.zig").ArrayList;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const cache = @import("../trie/cache.zig");
const spelling_module = @import("../trie/spelling.zig");
pub const Spelling = spelling_module.Spelling;
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
        const target: Target = .{
            .n_tokens = vocabulary.tokens.n,
            .model_id = vocabulary.model_id,
            .spelling = if (vocabulary.tokens.offsets.len == 0) null else .{
                .pointer = vocabulary,
                .append = appendBytes,
                .fingerprint = fingerprintOf,
                .identity = vocabulary.identity,
            },
        };
        const trie = try compilePayload(gpa, payload, target, diag);
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

    /// For what only a payload has; null if this is none. Lent by the constraint.
    pub fn tokenTrie(c: *const Constraint) ?*TokenTrie {
        return switch (c.compiled) {
            .token_trie => |trie| trie,
            .parted_trie => |parted| parted.trie,
            .recognizer => null,
        };
    }

    /// For what only a recognizer has; null if this is none. Lent by the constraint.
    pub fn recognizer(c: *const Constraint) ?*Recognizer {
        return if (c.compiled == .recognizer) c.compiled.recognizer else null;
    }
};

fn appendBytes(pointer: *const anyopaque, token: i32, out: *ArrayList(u8)) Allocator.Error!void {
    const vocabulary: *const Vocabulary = @ptrCast(@alignCast(pointer));
    try out.appendSlice(vocabulary.gpa, vocabulary.tokens.bytesOf(@intCast(token)));
}

fn fingerprintOf(pointer: *const anyopaque, _: *Diagnostic) diagnostic.Error!u64 {
    const vocabulary: *const Vocabulary = @ptrCast(@alignCast(pointer));
    return vocabulary.fingerprint();
}

/// What a payload is checked against.
pub const Target = struct {
    n_tokens: u32,
    /// "" if unknown.
    model_id: []const u8 = "",
    /// Null if the bytes of the tokens are not known.
    spelling: ?Spelling,
};

/// The trie of a payload, from the cache if it is there, checked against the target. The caller owns one reference.
pub fn compilePayload(gpa: Allocator, payload: []const u8, target: Target, diag: *Diagnostic) diagnostic.Error!*TokenTrie {
    const trie = try cache.shared.get(gpa, payload, diag);
    errdefer trie.release();
    const for_model = trie.textOf(trie.model_id);
    const id = target.model_id;
    const differ = id.len > 0 and for_model.len > 0 and !std.mem.eql(u8, id, for_model);
    if (differ and spelling_module.fingerprintIn(for_model) == null) {
        return diag.fail(.model_mismatch, "modelId: the payload is for {f}, the model is {f}", .{ quoted(for_model), quoted(id) });
    }
    const largest = trie.largest;
    if (largest.token >= target.n_tokens) {
        return diag.fail(.payload, "{f}: {d} is not below the vocabulary size {d}", .{ largest.place, largest.token, target.n_tokens });
    }
    if (target.spelling) |spelling| try spelling_module.check(gpa, trie, spelling, diag);
    return trie;
}
