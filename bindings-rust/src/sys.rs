// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.

use std::os::raw::{c_char, c_int, c_void};

pub const ELIZA_INFERENCE_ABI_VERSION: i32 = 15;
pub const ELIZA_LOG_ERROR: i32 = 0;
pub const ELIZA_LOG_WARN: i32 = 1;
pub const ELIZA_LOG_INFO: i32 = 2;
pub const ELIZA_OK: i32 = 0;
pub const ELIZA_ERR_UNSUPPORTED: i32 = -1;
pub const ELIZA_ERR_INVALID_ARG: i32 = -2;
pub const ELIZA_ERR_BUNDLE_INVALID: i32 = -3;
pub const ELIZA_ERR_FFI_FAULT: i32 = -4;
pub const ELIZA_ERR_OOM: i32 = -5;
pub const ELIZA_ERR_ABI_MISMATCH: i32 = -6;
pub const ELIZA_ERR_CANCELLED: i32 = -7;
pub const ELIZA_ERR_BUSY: i32 = -8;
pub const ELIZA_ERR_CLOSED: i32 = -9;
pub const ELIZA_ERR_PAYLOAD: i32 = -10;
pub const ELIZA_ERR_LIMIT: i32 = -11;
pub const ELIZA_ERR_MODEL_MISMATCH: i32 = -12;
pub const ELIZA_ERR_UNKNOWN_PATH: i32 = -13;
pub const ELIZA_ERR_CONTEXT_FULL: i32 = -14;
pub const ELIZA_ERR_IO: i32 = -15;
pub const ELIZA_ERR_STATE: i32 = -16;
pub const ELIZA_ERR_GRAMMAR: i32 = -17;
pub const ELIZA_ERR_FILE_INVALID: i32 = -18;
pub const ELIZA_PAYLOAD_BYTES_MAX: i32 = 67108864;
pub const ELIZA_PAYLOAD_DEPTH_MAX: i32 = 64;
pub const ELIZA_DESCRIPTORS_MAX: i32 = 4096;
pub const ELIZA_LEAVES_MAX: i32 = 1048576;
pub const ELIZA_LEAF_TOKENS_MAX: i32 = 4096;
pub const ELIZA_TOKENS_MAX: i32 = 16777216;
pub const ELIZA_TRIGGERS_MAX: i32 = 64;
pub const ELIZA_TRIGGER_TOKENS_MAX: i32 = 64;
pub const ELIZA_END_TOKENS_MAX: i32 = 16;
pub const ELIZA_NAME_BYTES_MAX: i32 = 65535;
pub const ELIZA_SPAN_TIMEOUT_TOKENS: i32 = 500;
pub const ELIZA_ROLLBACK_TOKENS_MAX: i32 = 65536;
pub const ELIZA_HANDLES_MAX: i32 = 2048;
pub const ELIZA_REGEX_BYTES_MAX: i32 = 1048576;
pub const ELIZA_GRAMMAR_BYTES_MAX: i32 = 16777216;
pub const ELIZA_TERMINALS_MAX: i32 = 1023;
pub const ELIZA_CHOICES_MAX: i32 = 16777216;
pub const ELIZA_CHOICES_BYTES_MAX: i32 = 1073741824;
pub const ELIZA_COMPILE_STATES: i32 = 65535;
pub const ELIZA_COMPILE_BYTES: i32 = 268435456;
pub const ELIZA_MASK_BYTES: i32 = 67108864;
pub const ELIZA_TRIE_CACHE_ENTRIES: i32 = 128;
pub const ELIZA_TRIE_CACHE_BYTES: i32 = 33554432;
pub const ELIZA_TOKEN_SPECIAL: i32 = 1;
pub const ELIZA_TOKEN_END_OF_GENERATION: i32 = 2;
pub const ELIZA_TOKEN_UNUSED: i32 = 4;
pub const ELIZA_PREFILL_BYTES_MAX: i32 = 256;
pub const ELIZA_OPEN_TRUSTED: i32 = 1;
pub const ELIZA_OPEN_COPY: i32 = 2;
pub const ELIZA_CHOICES_CANONICAL: i32 = 1;
pub const ELIZA_REGEX_IGNORE_CASE: i32 = 1;
pub const ELIZA_REGEX_SEARCH: i32 = 2;
pub const ELIZA_GBNF_EBNF: i32 = 1;
pub const ELIZA_JSON_SPACE_LOOSE: i32 = 0;
pub const ELIZA_JSON_SPACE_COMPACT: i32 = 1;
pub const ELIZA_JSON_SPACE_SPACED: i32 = 2;
pub const ELIZA_JSON_SPACE_ANY: i32 = 3;
pub const ELIZA_JSON_ORDER_DECLARED: i32 = 0;
pub const ELIZA_JSON_ORDER_ANY: i32 = 1;
pub const ELIZA_JSON_LENIENT: i32 = 1;
pub const ELIZA_JSON_INTEGER_FRACTION: i32 = 2;
pub const ELIZA_JSON_NUMBERS_DOUBLE: i32 = 4;
pub const ELIZA_JSON_ADDITIONAL_FORBID: i32 = 8;
pub const ELIZA_JSON_DRAFT_2020_12: i32 = 0;
pub const ELIZA_JSON_DRAFT_2019_09: i32 = 1;
pub const ELIZA_JSON_DRAFT_7: i32 = 2;
pub const ELIZA_JSON_DRAFT_6: i32 = 3;
pub const ELIZA_JSON_DRAFT_4: i32 = 4;
pub const ELIZA_TAGS_DESCRIPTOR_BYTES_MAX: i32 = 16777216;
pub const ELIZA_TAGS_MAX: i32 = 4096;
pub const ELIZA_TAGS_TEXT_BYTES_MAX: i32 = 16384;
pub const ELIZA_TAGS_BEGIN_BYTES_MAX: i32 = 1048576;
pub const ELIZA_TAGS_END_BYTES_MAX: i32 = 127;
pub const ELIZA_TAGS_COUNT_MAX: i32 = 1024;
pub const ELIZA_CONSTRAINT_TOKEN_TRIE: i32 = 0;
pub const ELIZA_CONSTRAINT_CHOICES: i32 = 1;
pub const ELIZA_CONSTRAINT_REGEX: i32 = 2;
pub const ELIZA_CONSTRAINT_GRAMMAR: i32 = 3;
pub const ELIZA_CONSTRAINT_JSON_SCHEMA: i32 = 4;
pub const ELIZA_CONSTRAINT_TAGS: i32 = 5;
pub const ELIZA_STEP_IN_SPAN: i32 = 1;
pub const ELIZA_STEP_SPAN_ENDED: i32 = 2;
pub const ELIZA_STEP_SPAN_STARTED: i32 = 4;
pub const ELIZA_STEP_TIMED_OUT: i32 = 8;
pub const ELIZA_STEP_REFUSED: i32 = 16;
pub const ELIZA_ALLOWED_ALL: i32 = 0;
pub const ELIZA_ALLOWED_LIST: i32 = 1;
pub const ELIZA_ALLOWED_BITMAP: i32 = 2;
pub const ELIZA_FORCED_BYTES_MAX: i32 = 65536;
pub const ELIZA_LOGITS_F32: i32 = 0;
pub const ELIZA_LOGITS_F16: i32 = 1;
pub const ELIZA_LOGITS_BF16: i32 = 2;
pub const ELIZA_LOGITS_F64: i32 = 3;
pub const ELIZA_MODE_GREEDY: i32 = 0;
pub const ELIZA_MODE_SAMPLED: i32 = 1;
pub const ELIZA_POOLING_MEAN: i32 = 1;
pub const ELIZA_POOLING_FIRST: i32 = 2;
pub const ELIZA_POOLING_LAST: i32 = 3;
pub const ELIZA_DRAFT_TOKENS_MAX: i32 = 64;
pub const ELIZA_STOP_NONE: i32 = 0;
pub const ELIZA_STOP_END_OF_GENERATION: i32 = 1;
pub const ELIZA_STOP_MAX_TOKENS: i32 = 2;
pub const ELIZA_STOP_SPAN_END: i32 = 3;
pub const ELIZA_STOP_CALLBACK: i32 = 4;
pub const ELIZA_STOP_TIME_BUDGET: i32 = 5;
pub const ELIZA_STOP_CANCELLED: i32 = 6;
pub const ELIZA_STOP_CONTEXT_FULL: i32 = 7;

#[repr(C)]
pub struct EliAsrStream {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliDiariz {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliInferenceContext {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliLlmStream {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliSpeaker {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliVad {
    _private: [u8; 0],
}

#[repr(C)]
pub struct EliWakeWord {
    _private: [u8; 0],
}

#[repr(C)]
pub struct eliza_constraint {
    _private: [u8; 0],
}

#[repr(C)]
pub struct eliza_matcher {
    _private: [u8; 0],
}

#[repr(C)]
pub struct eliza_vocab {
    _private: [u8; 0],
}

#[repr(C)]
pub struct llama_sampler {
    _private: [u8; 0],
}

#[repr(C)]
pub struct llama_vocab {
    _private: [u8; 0],
}

pub type FfiLlmHandle = *mut EliLlmStream;
pub type eliza_log_callback = Option<unsafe extern "C" fn(level: i32, message: *const c_char, length: usize, user_data: *mut c_void)>;
pub type eliza_tokenize_callback = Option<unsafe extern "C" fn(text: *const u8, text_len: usize, out_tokens: *mut i32, cap: usize, user_data: *mut c_void) -> i32>;
pub type eliza_cancel_callback = Option<unsafe extern "C" fn(user_data: *mut c_void) -> c_int>;
pub type eliza_grammar_callback = Option<unsafe extern "C" fn(name: *const c_char, name_len: usize, out_text: *mut *const c_char, out_len: *mut usize, user_data: *mut c_void) -> c_int>;
pub type eliza_json_document_callback = Option<unsafe extern "C" fn(uri: *const c_char, uri_len: usize, out_text: *mut *const c_char, out_len: *mut usize, user_data: *mut c_void) -> c_int>;
pub type eliza_llm_token_callback = Option<unsafe extern "C" fn(token_id: i32, token_text: *const c_char, user_data: *mut c_void) -> c_int>;
pub type eliza_verifier_cb = Option<unsafe extern "C" fn(event: *const EliVerifierEvent, user_data: *mut c_void)>;
pub type eliza_tts_chunk_cb = Option<unsafe extern "C" fn(pcm: *const f32, n_samples: usize, is_final: c_int, user_data: *mut c_void) -> c_int>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_vocab_config_t {
    pub struct_size: u32,
    pub n_tokens: i32,
    pub model_id: *const c_char,
    pub model_id_len: usize,
    pub bytes: *const u8,
    pub offsets: *const u64,
    pub flags: *const u8,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 28] = [(); std::mem::size_of::<eliza_vocab_config_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_vocab_config_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_vocab_info_t {
    pub struct_size: u32,
    pub n_tokens: u32,
    pub n_nodes: u32,
    pub n_duplicates: u32,
    pub missing_bytes: u32,
    pub longest_token: u32,
    pub fingerprint: u64,
    pub retained_bytes: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 40] = [(); std::mem::size_of::<eliza_vocab_info_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 40] = [(); std::mem::size_of::<eliza_vocab_info_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_compile_config_t {
    pub struct_size: u32,
    pub states_max: u32,
    pub bytes_max: u64,
    pub ms_max: u64,
    pub mask_bytes_max: u64,
    pub cancel: eliza_cancel_callback,
    pub user_data: *mut c_void,
    pub mask_ms_max: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_compile_config_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 56] = [(); std::mem::size_of::<eliza_compile_config_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_lark_options_t {
    pub struct_size: u32,
    pub flags: u32,
    pub start: *const c_char,
    pub start_len: usize,
    pub grammar: eliza_grammar_callback,
    pub user_data: *mut c_void,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 24] = [(); std::mem::size_of::<eliza_lark_options_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 40] = [(); std::mem::size_of::<eliza_lark_options_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_json_schema_options_t {
    pub struct_size: u32,
    pub flags: u32,
    pub space: i32,
    pub draft: i32,
    pub document: eliza_json_document_callback,
    pub user_data: *mut c_void,
    pub order: i32,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 28] = [(); std::mem::size_of::<eliza_json_schema_options_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 40] = [(); std::mem::size_of::<eliza_json_schema_options_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_recognizer_info_t {
    pub struct_size: u32,
    pub kind: i32,
    pub n_states: u32,
    pub n_parser_states: u32,
    pub n_terminals: u32,
    pub n_productions: u32,
    pub n_tables: u32,
    pub n_masks: u32,
    pub automaton_bytes: u64,
    pub table_bytes: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_recognizer_info_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_recognizer_info_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_constraint_info_t {
    pub struct_size: u32,
    pub n_descriptors: u32,
    pub n_leaves: u32,
    pub n_nodes: u32,
    pub longest_leaf_tokens: u32,
    pub widest_node: u32,
    pub retained_bytes: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 32] = [(); std::mem::size_of::<eliza_constraint_info_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 32] = [(); std::mem::size_of::<eliza_constraint_info_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_trie_cache_stats_t {
    pub struct_size: u32,
    pub entries: u32,
    pub bytes: u64,
    pub bytes_max: u64,
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_trie_cache_stats_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_trie_cache_stats_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_span_config_t {
    pub struct_size: u32,
    pub span_timeout: u32,
    pub end: *const i32,
    pub n_end: usize,
    pub prefill: *const u8,
    pub prefill_len: usize,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 24] = [(); std::mem::size_of::<eliza_span_config_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 40] = [(); std::mem::size_of::<eliza_span_config_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_span_state_t {
    pub struct_size: u32,
    pub active: i32,
    pub descriptor: i32,
    pub can_stop: i32,
    pub constrained: i32,
    pub n_allowed: u32,
    pub span_tokens: u32,
    pub leaf_descriptor: i32,
    pub leaf: i32,
    pub reserved: u32,
    pub spans_started: u64,
    pub spans_ended: u64,
    pub timeouts: u64,
    pub illegal: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 72] = [(); std::mem::size_of::<eliza_span_state_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 72] = [(); std::mem::size_of::<eliza_span_state_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_matcher_info_t {
    pub struct_size: u32,
    pub reserved: u32,
    pub retained_bytes: u64,
    pub history_bytes: u64,
    pub stack_bytes: u64,
    pub mask_hits: u64,
    pub mask_misses: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_matcher_info_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 48] = [(); std::mem::size_of::<eliza_matcher_info_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_sampling_t {
    pub struct_size: u32,
    pub mode: i32,
    pub temperature: f32,
    pub top_p: f32,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 16] = [(); std::mem::size_of::<eliza_sampling_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 16] = [(); std::mem::size_of::<eliza_sampling_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_llama_info_t {
    pub struct_size: u32,
    pub reserved: u32,
    pub path: *const c_char,
    pub version: *const c_char,
    pub layout: *const c_char,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 20] = [(); std::mem::size_of::<eliza_llama_info_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 32] = [(); std::mem::size_of::<eliza_llama_info_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_llm_stream_config_t {
    pub max_tokens: i32,
    pub temperature: f32,
    pub top_p: f32,
    pub top_k: i32,
    pub repeat_penalty: f32,
    pub slot_id: i32,
    pub prompt_cache_key: *const c_char,
    pub draft_min: i32,
    pub draft_max: i32,
    pub mtp_drafter_path: *const c_char,
    pub gbnf_grammar: *const c_char,
    pub disable_thinking: i32,
    pub n_gpu_layers: i32,
    pub cache_type_k: *const c_char,
    pub cache_type_v: *const c_char,
    pub context_size: i32,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 64] = [(); std::mem::size_of::<eliza_llm_stream_config_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 88] = [(); std::mem::size_of::<eliza_llm_stream_config_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct eliza_llm_stream_stats_t {
    pub struct_size: u32,
    pub grammar_off: i32,
    pub prefill_passes: u64,
    pub forward_passes: u64,
    pub decoded_tokens: u64,
    pub emitted_tokens: u64,
    pub sampled_tokens: u64,
    pub forced_tokens: u64,
    pub constrained_steps: u64,
    pub skipped_candidates: u64,
    pub fallbacks: u64,
    pub grammar_rejections: u64,
    pub sample_ns: u64,
    pub decode_ns: u64,
    pub context_tokens: u64,
    pub pending_tokens: u64,
    pub drafted_tokens: u64,
    pub accepted_drafts: u64,
    pub saved_passes: u64,
    pub drafter_passes: u64,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 152] = [(); std::mem::size_of::<eliza_llm_stream_stats_t>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 152] = [(); std::mem::size_of::<eliza_llm_stream_stats_t>()];

#[repr(C)]
#[derive(Clone, Copy)]
pub struct EliVerifierEvent {
    pub accepted_token_ids: *const c_int,
    pub n_accepted: usize,
    pub rejected_from: c_int,
    pub rejected_to: c_int,
    pub corrected_token_ids: *const c_int,
    pub n_corrected: usize,
}

#[cfg(target_pointer_width = "32")]
const _: [(); 24] = [(); std::mem::size_of::<EliVerifierEvent>()];
#[cfg(target_pointer_width = "64")]
const _: [(); 40] = [(); std::mem::size_of::<EliVerifierEvent>()];

extern "C" {
    pub fn eliza_inference_abi_version() -> *const c_char;
    pub fn eliza_inference_version() -> *const c_char;
    pub fn eliza_inference_free_string(string: *mut c_char);
    pub fn eliza_inference_error_status(error: *const c_char) -> c_int;
    pub fn eliza_inference_status_name(status: c_int) -> *const c_char;
    pub fn eliza_inference_set_log_callback(callback: eliza_log_callback, user_data: *mut c_void);
    pub fn eliza_inference_vocab_create(config: *const eliza_vocab_config_t, out_vocab: *mut *mut eliza_vocab, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_free(vocab: *mut eliza_vocab);
    pub fn eliza_inference_vocab_size(vocab: *const eliza_vocab) -> c_int;
    pub fn eliza_inference_vocab_token(vocab: *const eliza_vocab, token: i32, out_bytes: *mut *const u8, out_len: *mut usize, out_flags: *mut u32) -> c_int;
    pub fn eliza_inference_vocab_prepare(vocab: *const eliza_vocab, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_heal(vocab: *const eliza_vocab, tokens: *const i32, n_tokens: usize, out_n_kept: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_info(vocab: *const eliza_vocab, out_info: *mut eliza_vocab_info_t) -> c_int;
    pub fn eliza_inference_vocab_save(vocab: *const eliza_vocab, path: *const c_char, path_len: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_open(path: *const c_char, path_len: usize, out_vocab: *mut *mut eliza_vocab, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_open_with(path: *const c_char, path_len: usize, flags: u32, out_vocab: *mut *mut eliza_vocab, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vocab_set_tokenizer(vocab: *mut eliza_vocab, tokenize: eliza_tokenize_callback, user_data: *mut c_void) -> c_int;
    pub fn eliza_inference_constraint_create_token_trie(vocab: *const eliza_vocab, payload: *const c_char, payload_len: usize, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_choices(vocab: *const eliza_vocab, bytes: *const u8, offsets: *const u64, n_choices: usize, flags: u32, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_regex(vocab: *const eliza_vocab, pattern: *const c_char, pattern_len: usize, flags: u32, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_lark(vocab: *const eliza_vocab, grammar: *const c_char, grammar_len: usize, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_lark_with(vocab: *const eliza_vocab, grammar: *const c_char, grammar_len: usize, options: *const eliza_lark_options_t, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_gbnf(vocab: *const eliza_vocab, grammar: *const c_char, grammar_len: usize, root: *const c_char, root_len: usize, flags: u32, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_warnings(constraint: *const eliza_constraint) -> *const c_char;
    pub fn eliza_inference_constraint_prepare(constraint: *const eliza_constraint, config: *const eliza_compile_config_t, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_json_schema(vocab: *const eliza_vocab, schema: *const c_char, schema_len: usize, options: *const eliza_json_schema_options_t, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_create_tags(vocab: *const eliza_vocab, descriptor: *const u8, descriptor_len: usize, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_save(constraint: *const eliza_constraint, path: *const c_char, path_len: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_open(vocab: *const eliza_vocab, path: *const c_char, path_len: usize, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_open_with(vocab: *const eliza_vocab, path: *const c_char, path_len: usize, flags: u32, config: *const eliza_compile_config_t, out_constraint: *mut *mut eliza_constraint, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_constraint_recognizer_info(constraint: *const eliza_constraint, out_info: *mut eliza_recognizer_info_t) -> c_int;
    pub fn eliza_inference_constraint_free(constraint: *mut eliza_constraint);
    pub fn eliza_inference_constraint_info(constraint: *const eliza_constraint, out_info: *mut eliza_constraint_info_t) -> c_int;
    pub fn eliza_inference_constraint_path(constraint: *const eliza_constraint, descriptor: u32, out_path: *mut *const c_char, out_len: *mut usize) -> c_int;
    pub fn eliza_inference_trie_cache_stats(out_stats: *mut eliza_trie_cache_stats_t) -> c_int;
    pub fn eliza_inference_trie_cache_set_limit(bytes_max: u64) -> c_int;
    pub fn eliza_inference_matcher_create(constraint: *const eliza_constraint, span_timeout: u32, out_matcher: *mut *mut eliza_matcher, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_matcher_create_span(constraint: *const eliza_constraint, config: *const eliza_span_config_t, out_matcher: *mut *mut eliza_matcher, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_matcher_clone(matcher: *const eliza_matcher, out_matcher: *mut *mut eliza_matcher) -> c_int;
    pub fn eliza_inference_matcher_free(matcher: *mut eliza_matcher);
    pub fn eliza_inference_matcher_last_error(matcher: *const eliza_matcher) -> *const c_char;
    pub fn eliza_inference_matcher_accept(matcher: *mut eliza_matcher, token: i32) -> c_int;
    pub fn eliza_inference_matcher_rollback(matcher: *mut eliza_matcher, n_tokens: usize) -> c_int;
    pub fn eliza_inference_matcher_reset(matcher: *mut eliza_matcher) -> c_int;
    pub fn eliza_inference_matcher_activate(matcher: *mut eliza_matcher, path: *const c_char, path_len: usize) -> c_int;
    pub fn eliza_inference_matcher_deactivate(matcher: *mut eliza_matcher) -> c_int;
    pub fn eliza_inference_matcher_set_span_timeout(matcher: *mut eliza_matcher, n_tokens: u32) -> c_int;
    pub fn eliza_inference_matcher_set_seed(matcher: *mut eliza_matcher, seed: u64) -> c_int;
    pub fn eliza_inference_matcher_state(matcher: *mut eliza_matcher, out_state: *mut eliza_span_state_t) -> c_int;
    pub fn eliza_inference_matcher_leaf(matcher: *const eliza_matcher, out_name: *mut *const c_char, out_len: *mut usize) -> c_int;
    pub fn eliza_inference_matcher_allowed(matcher: *mut eliza_matcher, out_ids: *mut *const i32, out_n: *mut usize) -> c_int;
    pub fn eliza_inference_matcher_bitmap(matcher: *mut eliza_matcher, out_words: *mut *const i32, out_n_words: *mut usize) -> c_int;
    pub fn eliza_inference_matcher_fill_bitmap(matcher: *mut eliza_matcher, words: *mut i32, n_words: usize) -> c_int;
    pub fn eliza_inference_matcher_fill_bitmaps(matchers: *const *mut eliza_matcher, n: usize, words: *mut i32, n_words: usize, n_threads: u32) -> c_int;
    pub fn eliza_inference_matcher_can_stop(matcher: *mut eliza_matcher) -> c_int;
    pub fn eliza_inference_matcher_forced(matcher: *mut eliza_matcher, out_tokens: *mut i32, cap: usize, out_n: *mut usize) -> c_int;
    pub fn eliza_inference_matcher_forced_bytes(matcher: *mut eliza_matcher, out_bytes: *mut u8, cap: usize, out_n: *mut usize) -> c_int;
    pub fn eliza_inference_matcher_info(matcher: *const eliza_matcher, out_info: *mut eliza_matcher_info_t) -> c_int;
    pub fn eliza_inference_matcher_mask_logits(matcher: *mut eliza_matcher, logits: *mut f32, n_logits: usize) -> c_int;
    pub fn eliza_inference_matcher_mask_rows(matchers: *const *mut eliza_matcher, n: usize, logits: *mut c_void, float_type: c_int, n_logits: usize, stride: usize, rows: *const u32, n_threads: u32) -> c_int;
    pub fn eliza_inference_matcher_sample(matcher: *mut eliza_matcher, logits: *const f32, n_logits: usize, sampling: *const eliza_sampling_t, out_token: *mut i32) -> c_int;
    pub fn eliza_inference_llama_load(path: *const c_char, path_len: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llama_info(out_info: *mut eliza_llama_info_t) -> c_int;
    pub fn eliza_inference_create(bundle_dir: *const c_char, out_error: *mut *mut c_char) -> *mut EliInferenceContext;
    pub fn eliza_inference_destroy(ctx: *mut EliInferenceContext);
    pub fn eliza_inference_set_model_id(ctx: *mut EliInferenceContext, model_id: *const c_char, model_id_len: usize) -> c_int;
    pub fn eliza_inference_vocab_from_context(ctx: *mut EliInferenceContext, out_vocab: *mut *mut eliza_vocab, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_tokenize(ctx: *mut EliInferenceContext, text: *const c_char, text_len: usize, add_special: c_int, parse_special: c_int, out_tokens: *mut *mut c_int, out_n: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_free_tokens(tokens: *mut c_int);
    pub fn eliza_inference_detokenize(ctx: *mut EliInferenceContext, tokens: *const c_int, n_tokens: usize, remove_special: c_int, unparse_special: c_int, out_text: *mut c_char, max_text_bytes: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_embed(ctx: *mut EliInferenceContext, text: *const c_char, text_len: usize, pooling: c_int, out_embedding: *mut f32, out_capacity: usize, out_dim: *mut c_int, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_mmap_acquire(ctx: *mut EliInferenceContext, region_name: *const c_char, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_mmap_evict(ctx: *mut EliInferenceContext, region_name: *const c_char, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_tokenize_supported() -> c_int;
    pub fn eliza_inference_embed_supported() -> c_int;
    pub fn eliza_inference_llm_stream_supported() -> c_int;
    pub fn eliza_inference_llm_mtp_supported() -> c_int;
    pub fn eliza_inference_llm_kv_quant_supported() -> c_int;
    pub fn eliza_inference_llm_stream_open(ctx: *mut EliInferenceContext, cfg: *const eliza_llm_stream_config_t, out_error: *mut *mut c_char) -> *mut EliLlmStream;
    pub fn eliza_inference_llm_stream_prefill(stream: *mut EliLlmStream, token_ids: *const i32, num_tokens: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_next(stream: *mut EliLlmStream, tokens_out: *mut i32, tokens_cap: usize, num_tokens_out: *mut usize, text_out: *mut c_char, text_cap: usize, drafter_drafted_out: *mut i32, drafter_accepted_out: *mut i32, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_generate(stream: *mut EliLlmStream, max_tokens: i32, on_token: eliza_llm_token_callback, user_data: *mut c_void, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_cancel(stream: *mut EliLlmStream) -> c_int;
    pub fn eliza_inference_llm_stream_reset(stream: *mut EliLlmStream) -> c_int;
    pub fn eliza_inference_llm_stream_reset_keep(stream: *mut EliLlmStream, n_keep: i32) -> c_int;
    pub fn eliza_inference_llm_stream_close(stream: *mut EliLlmStream);
    pub fn eliza_inference_llm_stream_save_slot(stream: *mut EliLlmStream, filename: *const c_char, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_restore_slot(stream: *mut EliLlmStream, filename: *const c_char, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_last_error(stream: *mut EliLlmStream) -> *const c_char;
    pub fn eliza_inference_llm_stream_set_seed(stream: *mut EliLlmStream, seed: u64) -> c_int;
    pub fn eliza_inference_llm_stream_set_sampling(stream: *mut EliLlmStream, sampling: *const eliza_sampling_t) -> c_int;
    pub fn eliza_inference_llm_stream_set_time_budget_ms(stream: *mut EliLlmStream, ms: u64) -> c_int;
    pub fn eliza_inference_llm_stream_set_span_timeout(stream: *mut EliLlmStream, n_tokens: u32) -> c_int;
    pub fn eliza_inference_llm_stream_set_stop_at_span_end(stream: *mut EliLlmStream, on: c_int) -> c_int;
    pub fn eliza_inference_llm_stream_set_skip_ahead(stream: *mut EliLlmStream, on: c_int) -> c_int;
    pub fn eliza_inference_llm_stream_set_threads(stream: *mut EliLlmStream, n_threads: i32) -> c_int;
    pub fn eliza_inference_llm_stream_stop_reason(stream: *mut EliLlmStream) -> c_int;
    pub fn eliza_inference_set_verifier_callback(ctx: *mut EliInferenceContext, callback: eliza_verifier_cb, user_data: *mut c_void, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_llm_stream_stats(stream: *mut EliLlmStream, out_stats: *mut eliza_llm_stream_stats_t) -> c_int;
    pub fn eliza_inference_set_token_trie(handle: FfiLlmHandle, payload: *const c_char, payload_len: usize, mode: c_int) -> c_int;
    pub fn eliza_inference_clear_token_trie(handle: FfiLlmHandle) -> c_int;
    pub fn eliza_inference_set_constraint(handle: FfiLlmHandle, constraint: *const eliza_constraint, mode: c_int, config: *const eliza_span_config_t) -> c_int;
    pub fn eliza_inference_clear_constraint(handle: FfiLlmHandle) -> c_int;
    pub fn eliza_inference_llm_stream_activate(stream: *mut EliLlmStream, path: *const c_char, path_len: usize) -> c_int;
    pub fn eliza_inference_llm_stream_state(stream: *mut EliLlmStream, out_state: *mut eliza_span_state_t) -> c_int;
    pub fn eliza_inference_llm_stream_leaf(stream: *mut EliLlmStream, out_name: *mut *const c_char, out_len: *mut usize) -> c_int;
    pub fn llama_sampler_init_token_trie(vocab: *const llama_vocab, trie_descriptor_json: *const c_char, mode: c_int) -> *mut llama_sampler;
    pub fn eliza_inference_sampler_init_token_trie(vocab: *const llama_vocab, payload: *const c_char, payload_len: usize, mode: c_int, out_error: *mut *mut c_char) -> *mut llama_sampler;
    pub fn llama_sampler_init_constraint(vocab: *const llama_vocab, constraint: *const eliza_constraint, mode: c_int) -> *mut llama_sampler;
    pub fn eliza_inference_sampler_init_constraint(vocab: *const llama_vocab, constraint: *const eliza_constraint, mode: c_int, config: *const eliza_span_config_t, out_error: *mut *mut c_char) -> *mut llama_sampler;
    pub fn eliza_inference_sampler_set_token_trie(sampler: *mut llama_sampler, payload: *const c_char, payload_len: usize, mode: c_int, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_sampler_clear_token_trie(sampler: *mut llama_sampler) -> c_int;
    pub fn eliza_inference_sampler_set_constraint(sampler: *mut llama_sampler, constraint: *const eliza_constraint, mode: c_int, config: *const eliza_span_config_t, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_sampler_activate(sampler: *mut llama_sampler, path: *const c_char, path_len: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_sampler_state(sampler: *const llama_sampler, out_state: *mut eliza_span_state_t) -> c_int;
    pub fn eliza_inference_tts_stream_supported() -> c_int;
    pub fn eliza_inference_tts_synthesize(ctx: *mut EliInferenceContext, text: *const c_char, text_len: usize, speaker_preset_id: *const c_char, out_pcm: *mut f32, max_samples: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_tts_synthesize_stream(ctx: *mut EliInferenceContext, text: *const c_char, text_len: usize, speaker_preset_id: *const c_char, on_chunk: eliza_tts_chunk_cb, user_data: *mut c_void, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_cancel_tts(ctx: *mut EliInferenceContext, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_encode_reference(ctx: *mut EliInferenceContext, pcm: *const f32, n_samples: usize, sample_rate_hz: c_int, out_K: *mut c_int, out_ref_T: *mut c_int, out_tokens: *mut *mut c_int, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_kokoro_supported() -> c_int;
    pub fn eliza_inference_kokoro_load(ctx: *mut EliInferenceContext, gguf_path: *const c_char, voice_bin_path: *const c_char, style_dim: c_int, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_kokoro_synthesize(ctx: *mut EliInferenceContext, text: *const c_char, text_len: usize, speed: f32, out_pcm: *mut f32, max_samples: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_kokoro_sample_rate(ctx: *mut EliInferenceContext) -> c_int;
    pub fn eliza_inference_kokoro_g2p_kind(ctx: *mut EliInferenceContext) -> c_int;
    pub fn eliza_inference_kokoro_synthesize_ipa(ctx: *mut EliInferenceContext, ipa: *const c_char, ipa_len: usize, speed: f32, out_pcm: *mut f32, max_samples: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_transcribe(ctx: *mut EliInferenceContext, pcm: *const f32, n_samples: usize, sample_rate_hz: c_int, out_text: *mut c_char, max_text_bytes: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_timestamps_supported() -> c_int;
    pub fn eliza_inference_asr_transcribe_timed(ctx: *mut EliInferenceContext, pcm: *const f32, n_samples: usize, sample_rate_hz: c_int, out_text: *mut c_char, max_text_bytes: usize, out_word_start_ms: *mut c_int, out_word_end_ms: *mut c_int, io_n_words: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_stream_supported() -> c_int;
    pub fn eliza_inference_asr_stream_open(ctx: *mut EliInferenceContext, sample_rate_hz: c_int, out_error: *mut *mut c_char) -> *mut EliAsrStream;
    pub fn eliza_inference_asr_stream_feed(stream: *mut EliAsrStream, pcm: *const f32, n_samples: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_stream_partial(stream: *mut EliAsrStream, out_text: *mut c_char, max_text_bytes: usize, out_tokens: *mut c_int, io_n_tokens: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_stream_finish(stream: *mut EliAsrStream, out_text: *mut c_char, max_text_bytes: usize, out_tokens: *mut c_int, io_n_tokens: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_asr_stream_close(stream: *mut EliAsrStream);
    pub fn eliza_inference_vad_supported() -> c_int;
    pub fn eliza_inference_vad_open(ctx: *mut EliInferenceContext, sample_rate_hz: c_int, out_error: *mut *mut c_char) -> *mut EliVad;
    pub fn eliza_inference_vad_process(vad: *mut EliVad, pcm: *const f32, n_samples: usize, out_probability: *mut f32, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vad_reset(vad: *mut EliVad, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vad_close(vad: *mut EliVad);
    pub fn eliza_inference_wakeword_supported() -> c_int;
    pub fn eliza_inference_wakeword_open(ctx: *mut EliInferenceContext, sample_rate_hz: c_int, head_name: *const c_char, out_error: *mut *mut c_char) -> *mut EliWakeWord;
    pub fn eliza_inference_wakeword_score(wake: *mut EliWakeWord, pcm: *const f32, n_samples: usize, out_probability: *mut f32, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_wakeword_reset(wake: *mut EliWakeWord, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_wakeword_close(wake: *mut EliWakeWord);
    pub fn eliza_inference_speaker_supported() -> c_int;
    pub fn eliza_inference_speaker_open(ctx: *mut EliInferenceContext, gguf_path: *const c_char, out_error: *mut *mut c_char) -> *mut EliSpeaker;
    pub fn eliza_inference_speaker_embed(speaker: *mut EliSpeaker, pcm: *const f32, n_samples: usize, out_embedding: *mut f32, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_speaker_free(embedding: *mut f32);
    pub fn eliza_inference_speaker_close(speaker: *mut EliSpeaker);
    pub fn eliza_inference_diariz_supported() -> c_int;
    pub fn eliza_inference_diariz_open(ctx: *mut EliInferenceContext, gguf_path: *const c_char, out_error: *mut *mut c_char) -> *mut EliDiariz;
    pub fn eliza_inference_diariz_segment(diariz: *mut EliDiariz, pcm: *const f32, n_samples: usize, out_labels: *mut i8, io_n_labels: *mut usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_diariz_close(diariz: *mut EliDiariz);
    pub fn eliza_inference_llm_eot_supported() -> c_int;
    pub fn eliza_inference_llm_eot_score(ctx: *mut EliInferenceContext, token_ids: *const i32, num_tokens: usize, target_token_id: i32, out_target_prob: *mut f32, out_top_token: *mut i32, out_top_prob: *mut f32, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vision_supported() -> c_int;
    pub fn eliza_inference_describe_image(ctx: *mut EliInferenceContext, image_bytes: *const u8, n_bytes: usize, mmproj_path: *const c_char, prompt: *const c_char, out_text: *mut c_char, max_text_bytes: usize, out_error: *mut *mut c_char) -> c_int;
    pub fn eliza_inference_vision_stream_supported() -> c_int;
    pub fn eliza_inference_describe_image_stream_open(ctx: *mut EliInferenceContext, image_bytes: *const u8, n_bytes: usize, mmproj_path: *const c_char, prompt: *const c_char, out_error: *mut *mut c_char) -> *mut EliLlmStream;
}
