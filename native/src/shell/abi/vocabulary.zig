//! Header, section 4: vocabulary.

const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const vocabulary = @import("engine").vocabulary;
const limits = @import("engine").limits;
const tokenizing = @import("engine").tokenize;
const prefill_bytes_max = @import("engine").span.prefill_bytes_max;
const Vocabulary = vocabulary.Vocabulary;
const firstUnreadable = @import("../compile/utf8_text.zig").firstUnreadable;

/// eliza_vocab_config_t.
pub const Config = extern struct {
    struct_size: u32,
    n_tokens: i32,
    model_id: ?[*]const u8,
    model_id_len: usize,
    bytes: ?[*]const u8,
    offsets: ?[*]const u64,
    flags: ?[*]const u8,

    pub const first_size = if (@sizeOf(usize) == 8) 48 else 28;
};

export fn eliza_inference_vocab_create(
    config: ?*const Config,
    out_vocab: ?*?*const Vocabulary,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const out = out_vocab orelse return boundary.reject(out_error, "out_vocab is NULL");
    out.* = null;
    const c = config orelse return boundary.reject(out_error, "config is NULL");
    var diag: boundary.Diagnostic = .init();
    out.* = create(c, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn create(config: *const Config, diag: *boundary.Diagnostic) boundary.Error!*Vocabulary {
    const c = try boundary.read(Config, "config", config, diag);
    if (c.n_tokens < 1) return diag.fail(.invalid_arg, "config.n_tokens is less than 1", .{});
    if ((c.bytes == null) != (c.offsets == null)) {
        return diag.fail(.invalid_arg, "config.bytes and config.offsets come together", .{});
    }
    const n: usize = @intCast(c.n_tokens);
    if (c.model_id_len > limits.name_bytes_max) {
        return diag.fail(.limit, "config.model_id: {d} bytes are more than {d}", .{ c.model_id_len, limits.name_bytes_max });
    }
    const model_id = boundary.slice(u8, c.model_id, c.model_id_len) orelse
        return diag.fail(.invalid_arg, "config.model_id is NULL", .{});
    if (firstUnreadable(model_id)) |at| {
        return diag.fail(.invalid_arg, "config.model_id: byte {d} is zero or not UTF-8", .{at});
    }
    const offsets: []const u64 = if (c.offsets) |offsets| offsets[0 .. n + 1] else &.{};
    if (offsets.len > 0) for (offsets[0..n], offsets[1..], 0..) |start, end, i| {
        if (start > end) return diag.fail(.invalid_arg, "config.offsets[{d}]: {d} is below the one before it", .{ i + 1, end });
    };
    const bytes: []const u8 = if (offsets.len > 0) c.bytes.?[0..@intCast(offsets[n])] else "";
    const flags: []const vocabulary.Flags = if (c.flags) |flags| @ptrCast(flags[0..n]) else &.{};
    return Vocabulary.create(gpa, .{
        .n = @intCast(c.n_tokens),
        .bytes = bytes,
        .offsets = offsets,
        .flags = flags,
    }, model_id, diag);
}

export fn eliza_inference_vocab_free(vocab: ?*const Vocabulary) void {
    if (vocab) |v| v.release();
}

export fn eliza_inference_vocab_size(vocab: ?*const Vocabulary) c_int {
    const v = vocab orelse return boundary.Status.invalid_arg.code();
    return @intCast(v.tokens.n);
}

export fn eliza_inference_vocab_token(
    vocab: ?*const Vocabulary,
    token: i32,
    out_bytes: ?*?[*]const u8,
    out_len: ?*usize,
    out_flags: ?*u32,
) c_int {
    const v = vocab orelse return boundary.Status.invalid_arg.code();
    if (token < 0 or token >= v.tokens.n) return boundary.Status.invalid_arg.code();
    const bytes = v.tokens.bytesOf(@intCast(token));
    if (out_bytes) |out| out.* = if (bytes.len > 0) bytes.ptr else null;
    if (out_len) |out| out.* = bytes.len;
    const flags: u8 = @bitCast(v.tokens.flagsOf(@intCast(token)));
    if (out_flags) |out| out.* = flags;
    return 0;
}

export fn eliza_inference_vocab_heal(
    vocab: ?*const Vocabulary,
    tokens: ?[*]const i32,
    n_tokens: usize,
    out_n_kept: ?*usize,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const out = out_n_kept orelse return boundary.reject(out_error, "out_n_kept is NULL");
    const v = vocab orelse return boundary.reject(out_error, "vocab is NULL");
    const prompt = boundary.slice(i32, tokens, n_tokens) orelse return boundary.reject(out_error, "tokens is NULL");
    var diag: boundary.Diagnostic = .init();
    for (prompt, 0..) |token, i| if (token < 0 or token >= v.tokens.n) {
        diag.fail(.invalid_arg, "tokens[{d}]: {d} is outside 0..{d}", .{ i, token, v.tokens.n - 1 }) catch {};
        return boundary.fail(out_error, &diag);
    };
    const trie = v.byteTrie(&diag) catch return boundary.fail(out_error, &diag);
    out.* = tokenizing.nKept(v, trie, prompt, prefill_bytes_max);
    return 0;
}

export fn eliza_inference_vocab_prepare(vocab: ?*const Vocabulary, out_error: ?*boundary.Message) c_int {
    boundary.begin(out_error);
    const v = vocab orelse return boundary.reject(out_error, "vocab is NULL");
    var diag: boundary.Diagnostic = .init();
    _ = v.byteTrie(&diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

/// eliza_vocab_info_t.
pub const Info = extern struct {
    struct_size: u32 = @sizeOf(Info),
    n_tokens: u32,
    n_nodes: u32 = 0,
    n_duplicates: u32 = 0,
    missing_bytes: u32 = 0,
    longest_token: u32 = 0,
    fingerprint: u64,
    retained_bytes: u64,

    pub const first_size = 40;
};

export fn eliza_inference_vocab_info(vocab: ?*const Vocabulary, out_info: ?*Info) c_int {
    const v = vocab orelse return boundary.Status.invalid_arg.code();
    var info: Info = .{ .n_tokens = v.tokens.n, .fingerprint = v.fingerprint(), .retained_bytes = v.retainedBytes() };
    if (v.byte_trie.load(.acquire)) |trie| {
        info.n_nodes = @intCast(trie.nodes.len);
        info.n_duplicates = @intCast(trie.duplicates.len);
        info.missing_bytes = trie.missing_bytes;
        info.longest_token = trie.longest;
    }
    return if (boundary.fill(Info, out_info, info)) 0 else boundary.Status.invalid_arg.code();
}

export fn eliza_inference_vocab_set_tokenizer(
    vocab: ?*Vocabulary,
    tokenize: ?*const vocabulary.Tokenizer.Callback,
    user_data: ?*anyopaque,
) c_int {
    const v = vocab orelse return boundary.Status.invalid_arg.code();
    v.tokenizer = if (tokenize) |callback| .{ .callback = callback, .user_data = user_data } else null;
    return 0;
}
