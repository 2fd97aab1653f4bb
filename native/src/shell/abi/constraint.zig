//! Header, section 5: constraint and the cache of compiled payloads.

const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const Constraint = @import("engine").constraint.Constraint;
const TokenTrie = @import("engine").trie.TokenTrie;
const cache = @import("engine").trie_cache;
const payloads = @import("../compile/payload.zig");

const invalid_arg = boundary.Status.invalid_arg.code();

/// eliza_constraint_info_t.
pub const Info = extern struct {
    struct_size: u32 = @sizeOf(Info),
    n_descriptors: u32,
    n_leaves: u32,
    n_nodes: u32,
    longest_leaf_tokens: u32,
    widest_node: u32,
    retained_bytes: u64,

    pub const first_size = 32;
};

/// eliza_trie_cache_stats_t.
pub const CacheStats = extern struct {
    struct_size: u32 = @sizeOf(CacheStats),
    entries: u32,
    bytes: u64,
    bytes_max: u64,
    hits: u64,
    misses: u64,
    evictions: u64,

    pub const first_size = 48;
};

export fn eliza_inference_constraint_create_token_trie(
    vocab: ?*const Vocabulary,
    payload: ?[*]const u8,
    payload_len: usize,
    out_constraint: ?*?*const Constraint,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const out = out_constraint orelse return boundary.reject(out_error, "out_constraint is NULL");
    out.* = null;
    const v = vocab orelse return boundary.reject(out_error, "vocab is NULL");
    const bytes = boundary.slice(u8, payload, payload_len) orelse return boundary.reject(out_error, "payload is NULL");
    var diag: boundary.Diagnostic = .init();
    out.* = payloads.createConstraint(gpa, v, bytes, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_constraint_free(constraint: ?*const Constraint) void {
    if (constraint) |c| c.release();
}

fn trieOf(constraint: ?*const Constraint) ?*TokenTrie {
    return (constraint orelse return null).tokenTrie();
}

export fn eliza_inference_constraint_info(constraint: ?*const Constraint, out_info: ?*Info) c_int {
    const trie = trieOf(constraint) orelse return invalid_arg;
    const filled = boundary.fill(Info, out_info, .{
        .n_descriptors = @intCast(trie.descriptors.len),
        .n_leaves = trie.n_leaves,
        .n_nodes = @intCast(trie.tokens.len),
        .longest_leaf_tokens = trie.longest.tokens,
        .widest_node = trie.widest,
        .retained_bytes = trie.retainedBytes(),
    });
    return if (filled) 0 else invalid_arg;
}

export fn eliza_inference_constraint_path(
    constraint: ?*const Constraint,
    descriptor: u32,
    out_path: ?*?[*]const u8,
    out_len: ?*usize,
) c_int {
    const trie = trieOf(constraint) orelse return invalid_arg;
    const path_out = out_path orelse return invalid_arg;
    const len_out = out_len orelse return invalid_arg;
    if (descriptor >= trie.descriptors.len) return invalid_arg;
    const path = trie.textOf(trie.descriptors[descriptor].path);
    path_out.* = path.ptr;
    len_out.* = path.len;
    return 0;
}

export fn eliza_inference_trie_cache_stats(out_stats: ?*CacheStats) c_int {
    const stats = cache.shared.stats();
    const filled = boundary.fill(CacheStats, out_stats, .{
        .entries = stats.entries,
        .bytes = stats.bytes,
        .bytes_max = stats.bytesMax(),
        .hits = stats.hits,
        .misses = stats.misses,
        .evictions = stats.evictions,
    });
    return if (filled) 0 else invalid_arg;
}

export fn eliza_inference_trie_cache_set_limit(bytes_max: u64) c_int {
    cache.shared.setLimit(bytes_max);
    return 0;
}
