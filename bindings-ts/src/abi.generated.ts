// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.
import { FFIType } from "bun:ffi";

export const ELIZA_INFERENCE_ABI_VERSION = 15;
export const ELIZA_LOG_ERROR = 0;
export const ELIZA_LOG_WARN = 1;
export const ELIZA_LOG_INFO = 2;
export const ELIZA_OK = 0;
export const ELIZA_ERR_NOT_IMPLEMENTED = -1;
export const ELIZA_ERR_INVALID_ARG = -2;
export const ELIZA_ERR_BUNDLE_INVALID = -3;
export const ELIZA_ERR_FFI_FAULT = -4;
export const ELIZA_ERR_OOM = -5;
export const ELIZA_ERR_ABI_MISMATCH = -6;
export const ELIZA_ERR_CANCELLED = -7;
export const ELIZA_ERR_BUSY = -8;
export const ELIZA_ERR_CLOSED = -9;
export const ELIZA_ERR_PAYLOAD = -10;
export const ELIZA_ERR_LIMIT = -11;
export const ELIZA_ERR_MODEL_MISMATCH = -12;
export const ELIZA_ERR_UNKNOWN_PATH = -13;
export const ELIZA_ERR_CONTEXT_FULL = -14;
export const ELIZA_ERR_IO = -15;
export const ELIZA_ERR_STATE = -16;
export const ELIZA_ERR_GRAMMAR = -17;
export const ELIZA_ERR_FILE_INVALID = -18;
export const ELIZA_PAYLOAD_BYTES_MAX = 67108864;
export const ELIZA_PAYLOAD_DEPTH_MAX = 64;
export const ELIZA_DESCRIPTORS_MAX = 4096;
export const ELIZA_LEAVES_MAX = 1048576;
export const ELIZA_LEAF_TOKENS_MAX = 4096;
export const ELIZA_TOKENS_MAX = 16777216;
export const ELIZA_TRIGGERS_MAX = 64;
export const ELIZA_TRIGGER_TOKENS_MAX = 64;
export const ELIZA_END_TOKENS_MAX = 16;
export const ELIZA_NAME_BYTES_MAX = 65535;
export const ELIZA_SPAN_TIMEOUT_TOKENS = 500;
export const ELIZA_ROLLBACK_TOKENS_MAX = 65536;
export const ELIZA_HANDLES_MAX = 2048;
export const ELIZA_REGEX_BYTES_MAX = 1048576;
export const ELIZA_GRAMMAR_BYTES_MAX = 16777216;
export const ELIZA_TERMINALS_MAX = 1023;
export const ELIZA_CHOICES_MAX = 16777216;
export const ELIZA_CHOICES_BYTES_MAX = 1073741824;
export const ELIZA_COMPILE_STATES = 65535;
export const ELIZA_COMPILE_BYTES = 268435456;
export const ELIZA_MASK_BYTES = 67108864;
export const ELIZA_TRIE_CACHE_ENTRIES = 128;
export const ELIZA_TRIE_CACHE_BYTES = 33554432;
export const ELIZA_TOKEN_SPECIAL = 1;
export const ELIZA_TOKEN_END_OF_GENERATION = 2;
export const ELIZA_TOKEN_UNUSED = 4;
export const ELIZA_CHOICES_CANONICAL = 1;
export const ELIZA_REGEX_IGNORE_CASE = 1;
export const ELIZA_GBNF_EBNF = 1;
export const ELIZA_JSON_SPACE_LOOSE = 0;
export const ELIZA_JSON_SPACE_COMPACT = 1;
export const ELIZA_JSON_SPACE_SPACED = 2;
export const ELIZA_JSON_SPACE_ANY = 3;
export const ELIZA_JSON_ORDER_DECLARED = 0;
export const ELIZA_JSON_ORDER_ANY = 1;
export const ELIZA_JSON_LENIENT = 1;
export const ELIZA_JSON_INTEGER_FRACTION = 2;
export const ELIZA_JSON_DRAFT_2020_12 = 0;
export const ELIZA_JSON_DRAFT_2019_09 = 1;
export const ELIZA_JSON_DRAFT_7 = 2;
export const ELIZA_JSON_DRAFT_6 = 3;
export const ELIZA_JSON_DRAFT_4 = 4;
export const ELIZA_TAGS_DESCRIPTOR_BYTES_MAX = 16777216;
export const ELIZA_TAGS_MAX = 4096;
export const ELIZA_TAGS_TEXT_BYTES_MAX = 16384;
export const ELIZA_TAGS_END_BYTES_MAX = 127;
export const ELIZA_TAGS_COUNT_MAX = 1024;
export const ELIZA_CONSTRAINT_TOKEN_TRIE = 0;
export const ELIZA_CONSTRAINT_CHOICES = 1;
export const ELIZA_CONSTRAINT_REGEX = 2;
export const ELIZA_CONSTRAINT_GRAMMAR = 3;
export const ELIZA_CONSTRAINT_JSON_SCHEMA = 4;
export const ELIZA_CONSTRAINT_TAGS = 5;
export const ELIZA_STEP_IN_SPAN = 1;
export const ELIZA_STEP_SPAN_ENDED = 2;
export const ELIZA_STEP_SPAN_STARTED = 4;
export const ELIZA_STEP_TIMED_OUT = 8;
export const ELIZA_STEP_REFUSED = 16;
export const ELIZA_ALLOWED_ALL = 0;
export const ELIZA_ALLOWED_LIST = 1;
export const ELIZA_ALLOWED_BITMAP = 2;
export const ELIZA_FORCED_BYTES_MAX = 65536;
export const ELIZA_MODE_GREEDY = 0;
export const ELIZA_MODE_SAMPLED = 1;
export const ELIZA_POOLING_MEAN = 1;
export const ELIZA_POOLING_FIRST = 2;
export const ELIZA_POOLING_LAST = 3;
export const ELIZA_DRAFT_TOKENS_MAX = 64;
export const ELIZA_STOP_NONE = 0;
export const ELIZA_STOP_END_OF_GENERATION = 1;
export const ELIZA_STOP_MAX_TOKENS = 2;
export const ELIZA_STOP_SPAN_END = 3;
export const ELIZA_STOP_CALLBACK = 4;
export const ELIZA_STOP_TIME_BUDGET = 5;
export const ELIZA_STOP_CANCELLED = 6;
export const ELIZA_STOP_CONTEXT_FULL = 7;

export const eliza_vocab_config_t = {
  size: 48,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    n_tokens: { offset: 4, type: "i32" },
    model_id: { offset: 8, type: "ptr" },
    model_id_len: { offset: 16, type: "u64" },
    bytes: { offset: 24, type: "ptr" },
    offsets: { offset: 32, type: "ptr" },
    flags: { offset: 40, type: "ptr" },
  },
} as const;

export const eliza_vocab_info_t = {
  size: 40,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    n_tokens: { offset: 4, type: "u32" },
    n_nodes: { offset: 8, type: "u32" },
    n_duplicates: { offset: 12, type: "u32" },
    missing_bytes: { offset: 16, type: "u32" },
    longest_token: { offset: 20, type: "u32" },
    fingerprint: { offset: 24, type: "u64" },
    retained_bytes: { offset: 32, type: "u64" },
  },
} as const;

export const eliza_compile_config_t = {
  size: 48,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    states_max: { offset: 4, type: "u32" },
    bytes_max: { offset: 8, type: "u64" },
    ms_max: { offset: 16, type: "u64" },
    mask_bytes_max: { offset: 24, type: "u64" },
    cancel: { offset: 32, type: "ptr" },
    user_data: { offset: 40, type: "ptr" },
  },
} as const;

export const eliza_lark_options_t = {
  size: 40,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    flags: { offset: 4, type: "u32" },
    start: { offset: 8, type: "ptr" },
    start_len: { offset: 16, type: "u64" },
    grammar: { offset: 24, type: "ptr" },
    user_data: { offset: 32, type: "ptr" },
  },
} as const;

export const eliza_json_schema_options_t = {
  size: 40,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    flags: { offset: 4, type: "u32" },
    space: { offset: 8, type: "i32" },
    draft: { offset: 12, type: "i32" },
    document: { offset: 16, type: "ptr" },
    user_data: { offset: 24, type: "ptr" },
    order: { offset: 32, type: "i32" },
  },
} as const;

export const eliza_recognizer_info_t = {
  size: 48,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    kind: { offset: 4, type: "i32" },
    n_states: { offset: 8, type: "u32" },
    n_parser_states: { offset: 12, type: "u32" },
    n_terminals: { offset: 16, type: "u32" },
    n_productions: { offset: 20, type: "u32" },
    n_tables: { offset: 24, type: "u32" },
    n_masks: { offset: 28, type: "u32" },
    automaton_bytes: { offset: 32, type: "u64" },
    table_bytes: { offset: 40, type: "u64" },
  },
} as const;

export const eliza_constraint_info_t = {
  size: 32,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    n_descriptors: { offset: 4, type: "u32" },
    n_leaves: { offset: 8, type: "u32" },
    n_nodes: { offset: 12, type: "u32" },
    longest_leaf_tokens: { offset: 16, type: "u32" },
    widest_node: { offset: 20, type: "u32" },
    retained_bytes: { offset: 24, type: "u64" },
  },
} as const;

export const eliza_trie_cache_stats_t = {
  size: 48,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    entries: { offset: 4, type: "u32" },
    bytes: { offset: 8, type: "u64" },
    bytes_max: { offset: 16, type: "u64" },
    hits: { offset: 24, type: "u64" },
    misses: { offset: 32, type: "u64" },
    evictions: { offset: 40, type: "u64" },
  },
} as const;

export const eliza_span_config_t = {
  size: 24,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    span_timeout: { offset: 4, type: "u32" },
    end: { offset: 8, type: "ptr" },
    n_end: { offset: 16, type: "u64" },
  },
} as const;

export const eliza_span_state_t = {
  size: 72,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    active: { offset: 4, type: "i32" },
    descriptor: { offset: 8, type: "i32" },
    can_stop: { offset: 12, type: "i32" },
    constrained: { offset: 16, type: "i32" },
    n_allowed: { offset: 20, type: "u32" },
    span_tokens: { offset: 24, type: "u32" },
    leaf_descriptor: { offset: 28, type: "i32" },
    leaf: { offset: 32, type: "i32" },
    reserved: { offset: 36, type: "u32" },
    spans_started: { offset: 40, type: "u64" },
    spans_ended: { offset: 48, type: "u64" },
    timeouts: { offset: 56, type: "u64" },
    illegal: { offset: 64, type: "u64" },
  },
} as const;

export const eliza_matcher_info_t = {
  size: 48,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    reserved: { offset: 4, type: "u32" },
    retained_bytes: { offset: 8, type: "u64" },
    history_bytes: { offset: 16, type: "u64" },
    stack_bytes: { offset: 24, type: "u64" },
    mask_hits: { offset: 32, type: "u64" },
    mask_misses: { offset: 40, type: "u64" },
  },
} as const;

export const eliza_sampling_t = {
  size: 16,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    mode: { offset: 4, type: "i32" },
    temperature: { offset: 8, type: "f32" },
    top_p: { offset: 12, type: "f32" },
  },
} as const;

export const eliza_llama_info_t = {
  size: 32,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    reserved: { offset: 4, type: "u32" },
    path: { offset: 8, type: "ptr" },
    version: { offset: 16, type: "ptr" },
    layout: { offset: 24, type: "ptr" },
  },
} as const;

export const eliza_llm_stream_config_t = {
  size: 88,
  fields: {
    max_tokens: { offset: 0, type: "i32" },
    temperature: { offset: 4, type: "f32" },
    top_p: { offset: 8, type: "f32" },
    top_k: { offset: 12, type: "i32" },
    repeat_penalty: { offset: 16, type: "f32" },
    slot_id: { offset: 20, type: "i32" },
    prompt_cache_key: { offset: 24, type: "ptr" },
    draft_min: { offset: 32, type: "i32" },
    draft_max: { offset: 36, type: "i32" },
    mtp_drafter_path: { offset: 40, type: "ptr" },
    gbnf_grammar: { offset: 48, type: "ptr" },
    disable_thinking: { offset: 56, type: "i32" },
    n_gpu_layers: { offset: 60, type: "i32" },
    cache_type_k: { offset: 64, type: "ptr" },
    cache_type_v: { offset: 72, type: "ptr" },
    context_size: { offset: 80, type: "i32" },
  },
} as const;

export const eliza_llm_stream_stats_t = {
  size: 152,
  fields: {
    struct_size: { offset: 0, type: "u32" },
    grammar_off: { offset: 4, type: "i32" },
    prefill_passes: { offset: 8, type: "u64" },
    forward_passes: { offset: 16, type: "u64" },
    decoded_tokens: { offset: 24, type: "u64" },
    emitted_tokens: { offset: 32, type: "u64" },
    sampled_tokens: { offset: 40, type: "u64" },
    forced_tokens: { offset: 48, type: "u64" },
    constrained_steps: { offset: 56, type: "u64" },
    skipped_candidates: { offset: 64, type: "u64" },
    fallbacks: { offset: 72, type: "u64" },
    grammar_rejections: { offset: 80, type: "u64" },
    sample_ns: { offset: 88, type: "u64" },
    decode_ns: { offset: 96, type: "u64" },
    context_tokens: { offset: 104, type: "u64" },
    pending_tokens: { offset: 112, type: "u64" },
    drafted_tokens: { offset: 120, type: "u64" },
    accepted_drafts: { offset: 128, type: "u64" },
    saved_passes: { offset: 136, type: "u64" },
    drafter_passes: { offset: 144, type: "u64" },
  },
} as const;

export const EliVerifierEvent = {
  size: 40,
  fields: {
    accepted_token_ids: { offset: 0, type: "ptr" },
    n_accepted: { offset: 8, type: "u64" },
    rejected_from: { offset: 16, type: "i32" },
    rejected_to: { offset: 20, type: "i32" },
    corrected_token_ids: { offset: 24, type: "ptr" },
    n_corrected: { offset: 32, type: "u64" },
  },
} as const;

export const declarations = {
  eliza_inference_abi_version: { args: [], returns: FFIType.cstring },
  eliza_inference_version: { args: [], returns: FFIType.cstring },
  eliza_inference_free_string: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_error_status: { args: [FFIType.cstring], returns: FFIType.i32 },
  eliza_inference_status_name: { args: [FFIType.i32], returns: FFIType.cstring },
  eliza_inference_set_log_callback: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.void },
  eliza_inference_vocab_create: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_free: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_vocab_size: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_token: { args: [FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_prepare: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_info: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_save: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_open: { args: [FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vocab_set_tokenizer: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_token_trie: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_choices: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.u32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_regex: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.u32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_lark: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_lark_with: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_gbnf: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.u64_fast, FFIType.u32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_notes: { args: [FFIType.ptr], returns: FFIType.cstring },
  eliza_inference_constraint_prepare: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_json_schema: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_create_tags: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_save: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_open: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_recognizer_info: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_free: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_constraint_info: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_constraint_path: { args: [FFIType.ptr, FFIType.u32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_trie_cache_stats: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_trie_cache_set_limit: { args: [FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_create: { args: [FFIType.ptr, FFIType.u32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_create_span: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_clone: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_free: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_matcher_last_error: { args: [FFIType.ptr], returns: FFIType.cstring },
  eliza_inference_matcher_accept: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_matcher_rollback: { args: [FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_reset: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_activate: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_deactivate: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_set_span_timeout: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  eliza_inference_matcher_set_seed: { args: [FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_state: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_leaf: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_allowed: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_bitmap: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_fill_bitmap: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_fill_bitmaps: { args: [FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.u64_fast, FFIType.u32], returns: FFIType.i32 },
  eliza_inference_matcher_can_stop: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_forced: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_forced_bytes: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_info: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_matcher_mask_logits: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_matcher_sample: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llama_load: { args: [FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llama_info: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_create: { args: [FFIType.cstring, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_destroy: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_set_model_id: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_vocab_from_context: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_tokenize: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_free_tokens: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_detokenize: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_embed: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_mmap_acquire: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_mmap_evict: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_tokenize_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_embed_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_llm_stream_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_llm_mtp_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_llm_kv_quant_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_llm_stream_open: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_llm_stream_prefill: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_next: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_generate: { args: [FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_cancel: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_reset: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_reset_keep: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_llm_stream_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_llm_stream_save_slot: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_restore_slot: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_last_error: { args: [FFIType.ptr], returns: FFIType.cstring },
  eliza_inference_llm_stream_set_seed: { args: [FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_sampling: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_time_budget_ms: { args: [FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_span_timeout: { args: [FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_stop_at_span_end: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_skip_ahead: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_llm_stream_set_threads: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_llm_stream_stop_reason: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_set_verifier_callback: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_stats: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_set_token_trie: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32], returns: FFIType.i32 },
  eliza_inference_clear_token_trie: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_set_constraint: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_clear_constraint: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_activate: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast], returns: FFIType.i32 },
  eliza_inference_llm_stream_state: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_llm_stream_leaf: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  llama_sampler_init_token_trie: { args: [FFIType.ptr, FFIType.cstring, FFIType.i32], returns: FFIType.ptr },
  eliza_inference_sampler_init_token_trie: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  llama_sampler_init_constraint: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32], returns: FFIType.ptr },
  eliza_inference_sampler_init_constraint: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_sampler_set_token_trie: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_sampler_clear_token_trie: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_sampler_set_constraint: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_sampler_activate: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_sampler_state: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_tts_stream_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_tts_synthesize: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.cstring, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_tts_synthesize_stream: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.cstring, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_cancel_tts: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_encode_reference: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_kokoro_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_kokoro_load: { args: [FFIType.ptr, FFIType.cstring, FFIType.cstring, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_kokoro_synthesize: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.f32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_kokoro_sample_rate: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_kokoro_g2p_kind: { args: [FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_kokoro_synthesize_ipa: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.f32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_transcribe: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_timestamps_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_asr_transcribe_timed: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_stream_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_asr_stream_open: { args: [FFIType.ptr, FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_asr_stream_feed: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_stream_partial: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_stream_finish: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_asr_stream_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_vad_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_vad_open: { args: [FFIType.ptr, FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_vad_process: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vad_reset: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vad_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_wakeword_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_wakeword_open: { args: [FFIType.ptr, FFIType.i32, FFIType.cstring, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_wakeword_score: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_wakeword_reset: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_wakeword_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_speaker_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_speaker_open: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_speaker_embed: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_speaker_free: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_speaker_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_diariz_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_diariz_open: { args: [FFIType.ptr, FFIType.cstring, FFIType.ptr], returns: FFIType.ptr },
  eliza_inference_diariz_segment: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_diariz_close: { args: [FFIType.ptr], returns: FFIType.void },
  eliza_inference_llm_eot_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_llm_eot_score: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.i32, FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vision_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_describe_image: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.cstring, FFIType.cstring, FFIType.ptr, FFIType.u64_fast, FFIType.ptr], returns: FFIType.i32 },
  eliza_inference_vision_stream_supported: { args: [], returns: FFIType.i32 },
  eliza_inference_describe_image_stream_open: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64_fast, FFIType.cstring, FFIType.cstring, FFIType.ptr], returns: FFIType.ptr },
} as const;
