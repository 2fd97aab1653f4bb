//! Header, section 8: context.

const std = @import("std");
const boundary = @import("boundary.zig");
const gpa = boundary.gpa;
const Context = @import("../llama/context.zig").Context;
const Pooling = @import("../llama/embedder.zig").Pooling;
const quoted = @import("engine").diagnostic.quoted;
const loader = @import("../llama/loader.zig");
const native_log = @import("../llama/native_log.zig");
const Vocabulary = @import("engine").vocabulary.Vocabulary;
const limits = @import("engine").limits;
const Table = @import("handles.zig").Table;
const firstUnreadable = @import("../compile/utf8_text.zig").firstUnreadable;

const invalid_arg = boundary.Status.invalid_arg.code();

/// EliInferenceContext: a number of the table, not an address.
pub const Handle = opaque {};

var contexts: Table(Context, Handle, .context) = .{};

/// The context of an open handle, with a reference that the caller gives back: another thread may destroy it meanwhile. Fails in a
/// receiver of log messages, which may be within a call on this context.
pub fn find(ctx: ?*const Handle, diag: *boundary.Diagnostic) boundary.Error!*Context {
    try native_log.refuseWithin(diag);
    if (ctx == null) return diag.fail(.invalid_arg, "ctx is NULL", .{});
    return contexts.get(ctx, Context.retain) orelse diag.fail(.closed, "ctx is not an open context", .{});
}

export fn eliza_inference_create(bundle_dir: ?[*:0]const u8, out_error: ?*boundary.Message) ?*Handle {
    boundary.begin(out_error);
    const bundle = bundle_dir orelse {
        _ = boundary.reject(out_error, "bundle_dir is NULL");
        return null;
    };
    var diag: boundary.Diagnostic = .init();
    return create(std.mem.span(bundle), &diag) catch {
        _ = boundary.fail(out_error, &diag);
        return null;
    };
}

fn create(bundle: [:0]const u8, diag: *boundary.Diagnostic) boundary.Error!*Handle {
    const context = try Context.create(bundle, diag);
    errdefer context.release();
    return contexts.add(gpa, context) catch diag.outOfMemory();
}

export fn eliza_inference_destroy(ctx: ?*Handle) void {
    if (contexts.take(ctx, isAnyClosed)) |context| context.release();
}

/// Calls that are on it have references of their own.
fn isAnyClosed(_: *Context) bool {
    return true;
}

export fn eliza_inference_set_model_id(ctx: ?*Handle, model_id: ?[*]const u8, model_id_len: usize) c_int {
    var diag: boundary.Diagnostic = .init();
    const context = find(ctx, &diag) catch return diag.status.code();
    defer context.release();
    const text = boundary.slice(u8, model_id, model_id_len) orelse return invalid_arg;
    if (text.len > limits.name_bytes_max) return boundary.Status.limit.code();
    if (firstUnreadable(text) != null) return invalid_arg;
    context.setModelId(text) catch return boundary.Status.oom.code();
    return 0;
}

export fn eliza_inference_vocab_from_context(ctx: ?*Handle, out_vocab: ?*?*Vocabulary, out_error: ?*boundary.Message) c_int {
    boundary.begin(out_error);
    const out = out_vocab orelse return boundary.reject(out_error, "out_vocab is NULL");
    out.* = null;
    var diag: boundary.Diagnostic = .init();
    const context = find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    defer context.release();
    out.* = context.vocabularyOf(&diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

export fn eliza_inference_tokenize(
    ctx: ?*Handle,
    text: ?[*]const u8,
    text_len: usize,
    add_special: c_int,
    parse_special: c_int,
    out_tokens: ?*?[*]c_int,
    out_n: ?*usize,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const tokens_out = out_tokens orelse return boundary.reject(out_error, "out_tokens is NULL");
    const n_out = out_n orelse return boundary.reject(out_error, "out_n is NULL");
    tokens_out.* = null;
    n_out.* = 0;
    const bytes = boundary.slice(u8, text, text_len) orelse return boundary.reject(out_error, "text is NULL");
    var diag: boundary.Diagnostic = .init();
    const context = find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    defer context.release();
    const tokens = context.tokenize(bytes, add_special != 0, parse_special != 0, &diag) catch return boundary.fail(out_error, &diag);
    defer gpa.free(tokens);
    tokens_out.* = TokenList.create(tokens) orelse {
        diag.outOfMemory() catch {};
        return boundary.fail(out_error, &diag);
    };
    n_out.* = tokens.len;
    return 0;
}

export fn eliza_inference_free_tokens(tokens: ?[*]c_int) void {
    if (tokens) |list| TokenList.destroy(list);
}

/// Tokens that the caller owns. It gives back the pointer without a length, so they are in a block of the C library.
const TokenList = struct {
    fn create(tokens: []const i32) ?[*]c_int {
        const block = std.c.malloc(@max(tokens.len, 1) * @sizeOf(c_int)) orelse return null;
        const list: [*]c_int = @ptrCast(@alignCast(block));
        @memcpy(list, tokens);
        return list;
    }

    fn destroy(list: [*]c_int) void {
        std.c.free(list);
    }
};

export fn eliza_inference_detokenize(
    ctx: ?*Handle,
    tokens: ?[*]const c_int,
    n_tokens: usize,
    remove_special: c_int,
    unparse_special: c_int,
    out_text: ?[*]u8,
    max_text_bytes: usize,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    if (out_text == null and max_text_bytes > 0) return boundary.reject(out_error, "out_text is NULL");
    const list = boundary.slice(c_int, tokens, n_tokens) orelse return boundary.reject(out_error, "tokens is NULL");
    var diag: boundary.Diagnostic = .init();
    const context = find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    defer context.release();
    const text = context.detokenize(list, remove_special != 0, unparse_special != 0, &diag) catch return boundary.fail(out_error, &diag);
    defer gpa.free(text);
    if (max_text_bytes > 0) {
        const length = if (text.len < max_text_bytes) text.len else 0;
        @memcpy(out_text.?[0..length], text[0..length]);
        out_text.?[length] = 0;
    }
    return @intCast(text.len);
}

export fn eliza_inference_embed_supported() c_int {
    return eliza_inference_llm_stream_supported();
}

export fn eliza_inference_embed(
    ctx: ?*Handle,
    text: ?[*]const u8,
    text_len: usize,
    pooling: c_int,
    out_embedding: ?[*]f32,
    out_capacity: usize,
    out_dim: ?*c_int,
    out_error: ?*boundary.Message,
) c_int {
    boundary.begin(out_error);
    const dimension_out = out_dim orelse return boundary.reject(out_error, "out_dim is NULL");
    dimension_out.* = 0;
    const out: []f32 = if (out_embedding) |first| first[0..out_capacity] else &.{};
    var diag: boundary.Diagnostic = .init();
    var dimension: usize = 0;
    defer dimension_out.* = @intCast(dimension);
    embed(ctx, boundary.slice(u8, text, text_len), pooling, out, &dimension, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn embed(ctx: ?*Handle, text: ?[]const u8, pooling: c_int, out: []f32, dimension: *usize, diag: *boundary.Diagnostic) boundary.Error!void {
    const context = try find(ctx, diag);
    defer context.release();
    const bytes = text orelse return diag.fail(.invalid_arg, "text is NULL", .{});
    const how = std.enums.fromInt(Pooling, pooling) orelse
        return diag.fail(.invalid_arg, "pooling: {d} is none of 1 (mean), 2 (first token), 3 (last token)", .{pooling});
    return context.embed(bytes, how, out, dimension, diag);
}

export fn eliza_inference_mmap_acquire(ctx: ?*Handle, region_name: ?[*:0]const u8, out_error: ?*boundary.Message) c_int {
    return advise(ctx, region_name, out_error, Context.acquire);
}

export fn eliza_inference_mmap_evict(ctx: ?*Handle, region_name: ?[*:0]const u8, out_error: ?*boundary.Message) c_int {
    return advise(ctx, region_name, out_error, Context.evict);
}

fn advise(
    ctx: ?*Handle,
    region_name: ?[*:0]const u8,
    out_error: ?*boundary.Message,
    action: fn (*Context, Context.Region, *boundary.Diagnostic) boundary.Error!void,
) c_int {
    boundary.begin(out_error);
    const name = std.mem.span(region_name orelse return boundary.reject(out_error, "region_name is NULL"));
    var diag: boundary.Diagnostic = .init();
    const context = find(ctx, &diag) catch return boundary.fail(out_error, &diag);
    defer context.release();
    const region = regionOf(name, &diag) catch return boundary.fail(out_error, &diag);
    action(context, region, &diag) catch return boundary.fail(out_error, &diag);
    return 0;
}

fn regionOf(name: []const u8, diag: *boundary.Diagnostic) boundary.Error!Context.Region {
    if (std.mem.eql(u8, name, "text")) return .text;
    if (std.mem.eql(u8, name, "mtp") or std.mem.eql(u8, name, "dflash")) return .drafter;
    return diag.fail(.unsupported, "region_name: this library has \"text\" and \"mtp\", not {f}", .{quoted(name)});
}

export fn eliza_inference_tokenize_supported() c_int {
    return 1;
}

export fn eliza_inference_llm_stream_supported() c_int {
    var diag: boundary.Diagnostic = .init();
    _ = loader.load("", &diag) catch return 0;
    return 1;
}

export fn eliza_inference_llm_mtp_supported() c_int {
    return eliza_inference_llm_stream_supported();
}

export fn eliza_inference_llm_kv_quant_supported() c_int {
    return eliza_inference_llm_stream_supported();
}
