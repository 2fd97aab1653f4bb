//! Embeddings of texts: one vector for each, pooled by libllama over the tokens, of length 1.

const std = @import("std");
const api_module = @import("api.zig");
const Layout = @import("layout.zig").Layout;
const Model = @import("model.zig").Model;
const defaultThreads = @import("sequence.zig").defaultThreads;
const native_log = @import("native_log.zig");
const diagnostic = @import("engine").diagnostic;
const Diagnostic = diagnostic.Diagnostic;

/// How the vectors of the tokens become one: llama_pooling_type.
pub const Pooling = enum(c_int) { mean = 1, first = 2, last = 3 };

/// A context of libllama for embeddings. Belongs to one thread. Retains the model.
pub const Embedder = struct {
    model: *Model,
    context: *api_module.Context,
    pooling: Pooling,
    /// Tokens of the longest text that it takes.
    n_tokens_max: u32,

    /// For texts of up to `n_tokens` tokens, and somewhat longer ones.
    pub fn init(model: *Model, pooling: Pooling, n_tokens: u32, d: *Diagnostic) diagnostic.Error!Embedder {
        const room = @min(std.math.ceilPowerOfTwo(u32, @max(n_tokens, tokens_min)) catch n_tokens, windowOf(model));
        const layout = model.runtime.layout;
        var params = model.runtime.defaults.context.words;
        for ([_]usize{ Layout.n_ctx, Layout.n_batch, Layout.n_ubatch }) |offset| params[offset / 4] = room;
        params[layout.pooling / 4] = @intCast(@backingInt(pooling));
        native_log.forget();
        const api = model.api();
        const context = api.newContext(layout, model.handle, &params) orelse return fail(model, "llama_init_from_model", d);
        const n_threads = defaultThreads(model);
        api.llama_set_n_threads(context, n_threads, n_threads);
        api.llama_set_embeddings(context, true);
        return .{ .model = model.retain(), .context = context, .pooling = pooling, .n_tokens_max = room };
    }

    pub fn deinit(e: *const Embedder) void {
        e.model.api().llama_free(e.context);
        e.model.release();
    }

    /// Writes the vector, of `dimension` numbers. At least one token, at most `n_tokens_max`.
    pub fn embed(e: *const Embedder, tokens: []const i32, out: []f32, d: *Diagnostic) diagnostic.Error!void {
        const api = e.model.api();
        if (api.llama_get_memory(e.context)) |memory| _ = api.llama_memory_seq_rm(memory, 0, -1, -1);
        native_log.forget();
        if (api.llama_decode(e.context, .{ .n_tokens = @intCast(tokens.len), .token = tokens.ptr }) != 0) {
            return fail(e.model, "llama_decode", d);
        }
        const pooled = api.llama_get_embeddings_seq(e.context, 0) orelse return fail(e.model, "llama_get_embeddings_seq", d);
        normalize(pooled[0..out.len], out);
    }

    fn fail(model: *const Model, what: []const u8, d: *Diagnostic) diagnostic.Error {
        var buffer: [native_log.reason_bytes_max]u8 = undefined;
        return d.fail(.ffi_fault, "{s} failed for embeddings of {s}: {s}", .{ what, model.path, native_log.reason(&buffer) });
    }
};

/// Tokens that a model embeds at once.
pub fn windowOf(model: *const Model) u32 {
    return @intCast(@max(model.api().llama_model_n_ctx_train(model.handle), 1));
}

/// Numbers of an embedding.
pub fn dimensionOf(model: *const Model) usize {
    const api = model.api();
    const dimension = if (api.llama_model_n_embd_out) |n_embd_out| n_embd_out(model.handle) else api.llama_model_n_embd(model.handle);
    return @intCast(dimension);
}

/// A smaller context would not be cheaper.
const tokens_min = 64;

/// Gives the vector length 1; 0 stays 0.
fn normalize(vector: []const f32, out: []f32) void {
    var square: f64 = 0;
    for (vector) |x| square += @as(f64, x) * x;
    const scale: f64 = if (square > 0) 1 / @sqrt(square) else 0;
    for (vector, out) |x, *y| y.* = @floatCast(x * scale);
}

test "a vector gets length 1, but that of length 0" {
    var out: [2]f32 = undefined;
    normalize(&.{ 3, -4 }, &out);
    try std.testing.expectEqualSlices(f32, &.{ 0.6, -0.8 }, &out);
    normalize(&.{ 0, -0.25 }, &out);
    try std.testing.expectEqualSlices(f32, &.{ 0, -1 }, &out);
    normalize(&.{ 0, 0 }, &out);
    try std.testing.expectEqualSlices(f32, &.{ 0, 0 }, &out);
}
