//! The functions of libelizainference that the bridge calls: see eliza_inference.h.

pub const Context = opaque {};
pub const Stream = opaque {};

pub const StreamConfig = extern struct {
    max_tokens: i32 = 0,
    temperature: f32 = 0,
    top_p: f32 = 1,
    top_k: i32 = 0,
    repeat_penalty: f32 = 1,
    slot_id: i32 = -1,
    prompt_cache_key: ?[*:0]const u8 = null,
    draft_min: i32 = 0,
    draft_max: i32 = 0,
    mtp_drafter_path: ?[*:0]const u8 = null,
    gbnf_grammar: ?[*:0]const u8 = null,
    disable_thinking: i32 = 0,
    n_gpu_layers: i32 = 0,
    cache_type_k: ?[*:0]const u8 = null,
    cache_type_v: ?[*:0]const u8 = null,
    context_size: i32 = 0,
};

pub const TokenCallback = *const fn (i32, [*:0]const u8, ?*anyopaque) callconv(.c) c_int;
pub const OutError = *?[*:0]u8;

pub const err_invalid_arg = -2;
pub const err_oom = -5;
pub const err_cancelled = -7;
pub const stop_cancelled = 6;

pub extern fn eliza_inference_abi_version() [*:0]const u8;
pub extern fn eliza_inference_version() [*:0]const u8;
pub extern fn eliza_inference_status_name(status: c_int) [*:0]const u8;
pub extern fn eliza_inference_error_status(message: ?[*:0]const u8) c_int;
pub extern fn eliza_inference_free_string(string: ?[*:0]u8) void;
pub extern fn eliza_inference_llama_load(path: ?[*]const u8, path_len: usize, out_error: OutError) c_int;

pub extern fn eliza_inference_create(path: [*:0]const u8, out_error: OutError) ?*Context;
pub extern fn eliza_inference_destroy(context: ?*Context) void;
pub extern fn eliza_inference_set_model_id(context: ?*Context, model_id: ?[*]const u8, model_id_len: usize) c_int;
pub extern fn eliza_inference_tokenize(context: ?*Context, text: ?[*]const u8, text_len: usize, add_special: c_int, parse_special: c_int, out_tokens: *?[*]c_int, out_n: *usize, out_error: OutError) c_int;
pub extern fn eliza_inference_free_tokens(tokens: ?[*]c_int) void;
pub extern fn eliza_inference_detokenize(context: ?*Context, tokens: ?[*]const c_int, n_tokens: usize, remove_special: c_int, unparse_special: c_int, out_text: ?[*]u8, max_text_bytes: usize, out_error: OutError) c_int;

pub extern fn eliza_inference_llm_stream_open(context: ?*Context, config: *const StreamConfig, out_error: OutError) ?*Stream;
pub extern fn eliza_inference_llm_stream_close(stream: ?*Stream) void;
pub extern fn eliza_inference_llm_stream_prefill(stream: ?*Stream, tokens: ?[*]const i32, n_tokens: usize, out_error: OutError) c_int;
pub extern fn eliza_inference_llm_stream_generate(stream: ?*Stream, max_tokens: i32, on_token: ?TokenCallback, user_data: ?*anyopaque, out_error: OutError) c_int;
pub extern fn eliza_inference_llm_stream_cancel(stream: ?*Stream) c_int;
pub extern fn eliza_inference_llm_stream_reset(stream: ?*Stream) c_int;
pub extern fn eliza_inference_llm_stream_stop_reason(stream: ?*Stream) c_int;
pub extern fn eliza_inference_llm_stream_last_error(stream: ?*Stream) ?[*:0]const u8;
pub extern fn eliza_inference_llm_stream_set_seed(stream: ?*Stream, seed: u64) c_int;
pub extern fn eliza_inference_llm_stream_set_time_budget_ms(stream: ?*Stream, ms: u64) c_int;
pub extern fn eliza_inference_llm_stream_set_stop_at_span_end(stream: ?*Stream, on: c_int) c_int;
pub extern fn eliza_inference_llm_stream_activate(stream: ?*Stream, path: ?[*]const u8, path_len: usize) c_int;
pub extern fn eliza_inference_llm_stream_leaf(stream: ?*Stream, out_name: *?[*]const u8, out_len: *usize) c_int;
pub extern fn eliza_inference_set_token_trie(stream: ?*Stream, payload: ?[*]const u8, payload_len: usize, mode: c_int) c_int;
pub extern fn eliza_inference_clear_token_trie(stream: ?*Stream) c_int;
