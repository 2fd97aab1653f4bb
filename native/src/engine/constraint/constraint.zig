//! A compiled constraint: immutable, shared by any number of threads. What depends on the
//! vocabulary and not on the payload alone is checked here, on every use of a cached payload.

const std = @import("std");
const Allocator = std.mem.Allocator;
const diagnostic = @import("../base/diagnostic.zig");
const Diagnostic = diagnostic.Diagnostic;
const quoted = diagnostic.quoted;
const Vocabulary = @import("../vocabulary/vocabulary.zig").Vocabulary;
const TokenTrie = @import("../trie/trie.zig").TokenTrie;
const cache = @import("../trie/cache.zig");
const Recognizer = @import("../recognizer/recognizer.zig").Recognizer;
const end_tokens_max = @import("../recognizer/state.zig").end_tokens_max;

pub const span_timeout_default = 500;

pub const Kind = union(enum) {
    trie: *TokenTrie,
    recognizer: *Recognizer,
};

pub const Constraint = struct {
    references: std.atomic.Value(u32) = .init(1),
    gpa: Allocator,
    vocabulary: *const Vocabulary,
    kind: Kind,

    pub fn createTokenTrie(
        gpa: Allocator,
        vocabulary: *const Vocabulary,
        payload: []const u8,
        diag: *Diagnostic,
    ) diagnostic.Error!*Constraint {
        const trie = try compile(gpa, payload, vocabulary.tokens.n, vocabulary.model_id, diag);
        errdefer trie.release();
        return create(gpa, vocabulary, .{ .trie = trie }, diag);
    }

    /// Takes over what it is made of, unless it fails.
    pub fn create(gpa: Allocator, vocabulary: *const Vocabulary, kind: Kind, diag: *Diagnostic) diagnostic.Error!*Constraint {
        const c = gpa.create(Constraint) catch return diag.outOfMemory();
        c.* = .{ .gpa = gpa, .vocabulary = vocabulary.retain(), .kind = kind };
        return c;
    }

    pub fn retain(c: *const Constraint) *const Constraint {
        _ = @constCast(c).references.fetchAdd(1, .monotonic);
        return c;
    }

    pub fn release(c: *const Constraint) void {
        const owned = @constCast(c);
        if (owned.references.fetchSub(1, .acq_rel) != 1) return;
        switch (c.kind) {
            .trie => |trie| trie.release(),
            .recognizer => |recognizer| recognizer.destroy(),
        }
        c.vocabulary.release();
        c.gpa.destroy(owned);
    }
};

/// How a span ends: eliza_span_config_t of the header.
pub const SpanConfig = struct {
    /// Tokens; 0: the default.
    timeout: u32 = 0,
    /// null: the vocabulary's end-of-generation tokens.
    end: ?[]const i32 = null,

    /// The timeout in force, 0 for none.
    pub fn check(config: SpanConfig, c: *const Constraint, diag: *Diagnostic) diagnostic.Error!u32 {
        const trie = switch (c.kind) {
            .trie => |trie| trie,
            .recognizer => {
                try config.checkEnd(c.vocabulary.tokens.n, diag);
                return config.timeout;
            },
        };
        if (config.end != null) return diag.fail(.invalid_arg, "end: the end tokens of a token trie are in its payload", .{});
        const timeout = if (config.timeout == 0) span_timeout_default else config.timeout;
        try checkTimeout(trie, timeout, diag);
        return timeout;
    }

    fn checkEnd(config: SpanConfig, n_tokens: u32, diag: *Diagnostic) diagnostic.Error!void {
        const end = config.end orelse return;
        if (end.len > end_tokens_max) return diag.fail(.limit, "end: {d} tokens are more than {d}", .{ end.len, end_tokens_max });
        for (end, 0..) |token, i| {
            if (token < 0 or token >= n_tokens) return diag.fail(.invalid_arg, "end[{d}]: {d} is outside 0..{d}", .{ i, token, n_tokens - 1 });
        }
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
