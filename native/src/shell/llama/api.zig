//! What this library calls in libllama. One list of names drives the search for symbols; an optional pointer is
//! a function that not every supported build has.

const std = @import("std");
const Layout = @import("layout.zig").Layout;

/// llama_model.
pub const Model = opaque {};
/// llama_context.
pub const Context = opaque {};
/// llama_vocab.
pub const Vocab = opaque {};
/// llama_memory_t, without its pointer.
pub const Memory = opaque {};

/// llama_token_data.
pub const TokenData = extern struct { id: i32, logit: f32, p: f32 };

/// llama_token_data_array.
pub const TokenDataArray = extern struct {
    data: [*]TokenData,
    size: usize,
    selected: i64,
    sorted: bool,
};

/// llama_batch.
pub const Batch = extern struct {
    n_tokens: i32,
    token: ?[*]const i32,
    embd: ?[*]f32 = null,
    /// Null: after the positions in the memory.
    pos: ?[*]i32 = null,
    /// Null: sequence 0.
    n_seq_id: ?[*]i32 = null,
    seq_id: ?[*][*]i32 = null,
    /// Null: logits of the last token only.
    logits: ?[*]i8 = null,
};

/// llama_sampler.
pub const Sampler = extern struct { iface: *const SamplerInterface, ctx: ?*anyopaque };

/// llama_sampler_i: the members of the first known build. Later builds append members for sampling on a device,
/// which may be null, so the table ends with more nulls than any build reads.
pub const SamplerInterface = extern struct {
    name: *const fn (*const Sampler) callconv(.c) [*:0]const u8,
    accept: *const fn (*Sampler, i32) callconv(.c) void,
    apply: *const fn (*Sampler, *TokenDataArray) callconv(.c) void,
    reset: *const fn (*Sampler) callconv(.c) void,
    clone: *const fn (*const Sampler) callconv(.c) ?*Sampler,
    free: *const fn (*Sampler) callconv(.c) void,
    absent: [26]?*const anyopaque = @splat(null),
};

/// ggml_log_callback.
pub const LogCallback = fn (level: c_int, text: [*:0]const u8, user_data: ?*anyopaque) callconv(.c) void;
/// ggml_abort_callback: true interrupts the decode.
pub const AbortCallback = fn (data: ?*anyopaque) callconv(.c) bool;

/// Bits of llama_vocab_get_attr.
pub const TokenAttribute = packed struct(c_int) {
    unknown: bool,
    unused: bool,
    normal: bool,
    control: bool,
    user_defined: bool,
    _: u27,
};

/// The functions of one loaded libllama, by their C names.
pub const Api = struct {
    // These pass structs by value: call them through the functions below.
    llama_model_default_params: *const anyopaque,
    llama_context_default_params: *const anyopaque,
    llama_model_load_from_file: *const anyopaque,
    llama_init_from_model: *const anyopaque,

    llama_backend_init: *const fn () callconv(.c) void,
    llama_log_set: *const fn (?*const LogCallback, ?*anyopaque) callconv(.c) void,
    llama_supports_gpu_offload: *const fn () callconv(.c) bool,
    llama_version: ?*const fn () callconv(.c) [*:0]const u8,
    ggml_version: ?*const fn () callconv(.c) [*:0]const u8,
    ggml_commit: ?*const fn () callconv(.c) [*:0]const u8,

    llama_model_free: *const fn (*Model) callconv(.c) void,
    llama_model_get_vocab: *const fn (*const Model) callconv(.c) *const Vocab,
    llama_model_n_ctx_train: *const fn (*const Model) callconv(.c) i32,
    llama_model_n_layer: *const fn (*const Model) callconv(.c) i32,
    llama_model_n_embd: *const fn (*const Model) callconv(.c) i32,
    llama_model_n_embd_out: ?*const fn (*const Model) callconv(.c) i32,
    llama_model_n_params: *const fn (*const Model) callconv(.c) u64,
    llama_model_size: *const fn (*const Model) callconv(.c) u64,
    llama_model_desc: *const fn (*const Model, [*]u8, usize) callconv(.c) i32,
    llama_model_has_encoder: *const fn (*const Model) callconv(.c) bool,

    llama_vocab_n_tokens: *const fn (*const Vocab) callconv(.c) i32,
    llama_vocab_get_attr: *const fn (*const Vocab, i32) callconv(.c) TokenAttribute,
    llama_vocab_is_eog: *const fn (*const Vocab, i32) callconv(.c) bool,
    llama_tokenize: *const fn (*const Vocab, [*]const u8, i32, ?[*]i32, i32, bool, bool) callconv(.c) i32,
    llama_detokenize: *const fn (*const Vocab, ?[*]const i32, i32, [*]u8, i32, bool, bool) callconv(.c) i32,
    llama_token_to_piece: *const fn (*const Vocab, i32, [*]u8, i32, i32, bool) callconv(.c) i32,

    llama_free: *const fn (*Context) callconv(.c) void,
    llama_n_ctx: *const fn (*const Context) callconv(.c) u32,
    llama_n_batch: *const fn (*const Context) callconv(.c) u32,
    llama_set_n_threads: *const fn (*Context, i32, i32) callconv(.c) void,
    llama_set_abort_callback: *const fn (*Context, ?*const AbortCallback, ?*anyopaque) callconv(.c) void,
    llama_decode: *const fn (*Context, Batch) callconv(.c) i32,
    llama_get_logits_ith: *const fn (*Context, i32) callconv(.c) ?[*]f32,
    llama_set_embeddings: *const fn (*Context, bool) callconv(.c) void,
    llama_get_embeddings_seq: *const fn (*Context, i32) callconv(.c) ?[*]f32,
    llama_get_memory: *const fn (*const Context) callconv(.c) ?*Memory,
    llama_memory_seq_rm: *const fn (?*Memory, i32, i32, i32) callconv(.c) bool,
    llama_memory_seq_pos_max: ?*const fn (?*Memory, i32) callconv(.c) i32,
    llama_state_seq_get_size: *const fn (*Context, i32) callconv(.c) usize,
    llama_state_seq_get_data: *const fn (*Context, [*]u8, usize, i32) callconv(.c) usize,
    llama_state_seq_set_data: *const fn (*Context, [*]const u8, usize, i32) callconv(.c) usize,

    llama_sampler_init: *const fn (*const SamplerInterface, ?*anyopaque) callconv(.c) ?*Sampler,
    llama_sampler_apply: *const fn (*Sampler, *TokenDataArray) callconv(.c) void,
    llama_sampler_accept: *const fn (*Sampler, i32) callconv(.c) void,
    llama_sampler_reset: *const fn (*Sampler) callconv(.c) void,
    llama_sampler_free: *const fn (*Sampler) callconv(.c) void,
    llama_sampler_init_dist: *const fn (u32) callconv(.c) ?*Sampler,
    llama_sampler_init_top_k: *const fn (i32) callconv(.c) ?*Sampler,
    llama_sampler_init_top_p: *const fn (f32, usize) callconv(.c) ?*Sampler,
    llama_sampler_init_temp: *const fn (f32) callconv(.c) ?*Sampler,
    llama_sampler_init_grammar: *const fn (*const Vocab, [*:0]const u8, [*:0]const u8) callconv(.c) ?*Sampler,

    /// Fills the table. Returns the name of the first required function that is missing; null if there is none.
    pub fn load(api: *Api, library: anytype) ?[:0]const u8 {
        const fields = @typeInfo(Api).@"struct";
        inline for (fields.field_names, fields.field_types) |name, Pointer| {
            const address = library.lookup(name);
            if (@typeInfo(Pointer) == .optional) {
                @field(api, name) = @ptrCast(@alignCast(address));
            } else {
                @field(api, name) = @ptrCast(@alignCast(address orelse return name));
            }
        }
        return null;
    }

    /// llama_model_load_from_file with the parameters of this layout. Null if it fails.
    pub fn loadModel(api: *const Api, layout: *const Layout, path: [*:0]const u8, params: *const ParamWords) ?*Model {
        return switch (layout.model_params_bytes) {
            inline 72, 80 => |bytes| {
                const call: *const fn ([*:0]const u8, ByValue(bytes)) callconv(.c) ?*Model =
                    @ptrCast(@alignCast(api.llama_model_load_from_file));
                return call(path, .{ .words = params[0 .. bytes / 4].* });
            },
            else => unreachable,
        };
    }

    /// llama_init_from_model with the parameters of this layout. Null if it fails.
    pub fn newContext(api: *const Api, layout: *const Layout, model: *Model, params: *const ParamWords) ?*Context {
        return switch (layout.context_params_bytes) {
            inline 120, 136, 160 => |bytes| {
                const call: *const fn (*Model, ByValue(bytes)) callconv(.c) ?*Context =
                    @ptrCast(@alignCast(api.llama_init_from_model));
                return call(model, .{ .words = params[0 .. bytes / 4].* });
            },
            else => unreachable,
        };
    }
};

/// A parameter struct as the probe read it. Has room for any.
pub const ParamWords = [256]u32;

/// Every calling convention passes a struct of more than 16 bytes by its bytes alone, whatever its members.
fn ByValue(comptime bytes: usize) type {
    return extern struct { words: [bytes / 4]u32 align(8) };
}

comptime {
    if (@sizeOf(usize) == 8) {
        std.debug.assert(@sizeOf(TokenData) == 12);
        std.debug.assert(@sizeOf(TokenDataArray) == 32);
        std.debug.assert(@sizeOf(Batch) == 56);
        std.debug.assert(@sizeOf(ByValue(72)) == 72);
    }
}
