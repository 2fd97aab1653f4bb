// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.

export const ELIZA_INFERENCE_ABI_VERSION = 15;
export const ELIZA_LOG_ERROR = 0;
export const ELIZA_LOG_WARN = 1;
export const ELIZA_LOG_INFO = 2;
export const ELIZA_OK = 0;
export const ELIZA_ERR_UNSUPPORTED = -1;
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
export const ELIZA_PREFILL_BYTES_MAX = 256;
export const ELIZA_OPEN_TRUSTED = 1;
export const ELIZA_OPEN_COPY = 2;
export const ELIZA_CHOICES_CANONICAL = 1;
export const ELIZA_REGEX_IGNORE_CASE = 1;
export const ELIZA_REGEX_SEARCH = 2;
export const ELIZA_GBNF_EBNF = 1;
export const ELIZA_JSON_SPACE_LOOSE = 0;
export const ELIZA_JSON_SPACE_COMPACT = 1;
export const ELIZA_JSON_SPACE_SPACED = 2;
export const ELIZA_JSON_SPACE_ANY = 3;
export const ELIZA_JSON_ORDER_DECLARED = 0;
export const ELIZA_JSON_ORDER_ANY = 1;
export const ELIZA_JSON_LENIENT = 1;
export const ELIZA_JSON_INTEGER_FRACTION = 2;
export const ELIZA_JSON_NUMBERS_DOUBLE = 4;
export const ELIZA_JSON_ADDITIONAL_FORBID = 8;
export const ELIZA_JSON_DRAFT_2020_12 = 0;
export const ELIZA_JSON_DRAFT_2019_09 = 1;
export const ELIZA_JSON_DRAFT_7 = 2;
export const ELIZA_JSON_DRAFT_6 = 3;
export const ELIZA_JSON_DRAFT_4 = 4;
export const ELIZA_TAGS_DESCRIPTOR_BYTES_MAX = 16777216;
export const ELIZA_TAGS_MAX = 4096;
export const ELIZA_TAGS_TEXT_BYTES_MAX = 16384;
export const ELIZA_TAGS_BEGIN_BYTES_MAX = 1048576;
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
export const ELIZA_LOGITS_F32 = 0;
export const ELIZA_LOGITS_F16 = 1;
export const ELIZA_LOGITS_BF16 = 2;
export const ELIZA_LOGITS_F64 = 3;
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
  size: { 4: 28, 8: 48 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    n_tokens: { 4: 4, 8: 4, type: "i32" },
    model_id: { 4: 8, 8: 8, type: "ptr" },
    model_id_len: { 4: 12, 8: 16, type: "ptr" },
    bytes: { 4: 16, 8: 24, type: "ptr" },
    offsets: { 4: 20, 8: 32, type: "ptr" },
    flags: { 4: 24, 8: 40, type: "ptr" },
  },
} as const;

export const eliza_vocab_info_t = {
  size: { 4: 40, 8: 40 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    n_tokens: { 4: 4, 8: 4, type: "u32" },
    n_nodes: { 4: 8, 8: 8, type: "u32" },
    n_duplicates: { 4: 12, 8: 12, type: "u32" },
    missing_bytes: { 4: 16, 8: 16, type: "u32" },
    longest_token: { 4: 20, 8: 20, type: "u32" },
    fingerprint: { 4: 24, 8: 24, type: "u64" },
    retained_bytes: { 4: 32, 8: 32, type: "u64" },
  },
} as const;

export const eliza_compile_config_t = {
  size: { 4: 48, 8: 56 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    states_max: { 4: 4, 8: 4, type: "u32" },
    bytes_max: { 4: 8, 8: 8, type: "u64" },
    ms_max: { 4: 16, 8: 16, type: "u64" },
    mask_bytes_max: { 4: 24, 8: 24, type: "u64" },
    cancel: { 4: 32, 8: 32, type: "ptr" },
    user_data: { 4: 36, 8: 40, type: "ptr" },
    mask_ms_max: { 4: 40, 8: 48, type: "u64" },
  },
} as const;

export const eliza_lark_options_t = {
  size: { 4: 24, 8: 40 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    flags: { 4: 4, 8: 4, type: "u32" },
    start: { 4: 8, 8: 8, type: "ptr" },
    start_len: { 4: 12, 8: 16, type: "ptr" },
    grammar: { 4: 16, 8: 24, type: "ptr" },
    user_data: { 4: 20, 8: 32, type: "ptr" },
  },
} as const;

export const eliza_json_schema_options_t = {
  size: { 4: 28, 8: 40 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    flags: { 4: 4, 8: 4, type: "u32" },
    space: { 4: 8, 8: 8, type: "i32" },
    draft: { 4: 12, 8: 12, type: "i32" },
    document: { 4: 16, 8: 16, type: "ptr" },
    user_data: { 4: 20, 8: 24, type: "ptr" },
    order: { 4: 24, 8: 32, type: "i32" },
  },
} as const;

export const eliza_recognizer_info_t = {
  size: { 4: 48, 8: 48 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    kind: { 4: 4, 8: 4, type: "i32" },
    n_states: { 4: 8, 8: 8, type: "u32" },
    n_parser_states: { 4: 12, 8: 12, type: "u32" },
    n_terminals: { 4: 16, 8: 16, type: "u32" },
    n_productions: { 4: 20, 8: 20, type: "u32" },
    n_tables: { 4: 24, 8: 24, type: "u32" },
    n_masks: { 4: 28, 8: 28, type: "u32" },
    automaton_bytes: { 4: 32, 8: 32, type: "u64" },
    table_bytes: { 4: 40, 8: 40, type: "u64" },
  },
} as const;

export const eliza_constraint_info_t = {
  size: { 4: 32, 8: 32 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    n_descriptors: { 4: 4, 8: 4, type: "u32" },
    n_leaves: { 4: 8, 8: 8, type: "u32" },
    n_nodes: { 4: 12, 8: 12, type: "u32" },
    longest_leaf_tokens: { 4: 16, 8: 16, type: "u32" },
    widest_node: { 4: 20, 8: 20, type: "u32" },
    retained_bytes: { 4: 24, 8: 24, type: "u64" },
  },
} as const;

export const eliza_trie_cache_stats_t = {
  size: { 4: 48, 8: 48 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    entries: { 4: 4, 8: 4, type: "u32" },
    bytes: { 4: 8, 8: 8, type: "u64" },
    bytes_max: { 4: 16, 8: 16, type: "u64" },
    hits: { 4: 24, 8: 24, type: "u64" },
    misses: { 4: 32, 8: 32, type: "u64" },
    evictions: { 4: 40, 8: 40, type: "u64" },
  },
} as const;

export const eliza_span_config_t = {
  size: { 4: 24, 8: 40 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    span_timeout: { 4: 4, 8: 4, type: "u32" },
    end: { 4: 8, 8: 8, type: "ptr" },
    n_end: { 4: 12, 8: 16, type: "ptr" },
    prefill: { 4: 16, 8: 24, type: "ptr" },
    prefill_len: { 4: 20, 8: 32, type: "ptr" },
  },
} as const;

export const eliza_span_state_t = {
  size: { 4: 72, 8: 72 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    active: { 4: 4, 8: 4, type: "i32" },
    descriptor: { 4: 8, 8: 8, type: "i32" },
    can_stop: { 4: 12, 8: 12, type: "i32" },
    constrained: { 4: 16, 8: 16, type: "i32" },
    n_allowed: { 4: 20, 8: 20, type: "u32" },
    span_tokens: { 4: 24, 8: 24, type: "u32" },
    leaf_descriptor: { 4: 28, 8: 28, type: "i32" },
    leaf: { 4: 32, 8: 32, type: "i32" },
    reserved: { 4: 36, 8: 36, type: "u32" },
    spans_started: { 4: 40, 8: 40, type: "u64" },
    spans_ended: { 4: 48, 8: 48, type: "u64" },
    timeouts: { 4: 56, 8: 56, type: "u64" },
    illegal: { 4: 64, 8: 64, type: "u64" },
  },
} as const;

export const eliza_matcher_info_t = {
  size: { 4: 48, 8: 48 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    reserved: { 4: 4, 8: 4, type: "u32" },
    retained_bytes: { 4: 8, 8: 8, type: "u64" },
    history_bytes: { 4: 16, 8: 16, type: "u64" },
    stack_bytes: { 4: 24, 8: 24, type: "u64" },
    mask_hits: { 4: 32, 8: 32, type: "u64" },
    mask_misses: { 4: 40, 8: 40, type: "u64" },
  },
} as const;

export const eliza_sampling_t = {
  size: { 4: 16, 8: 16 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    mode: { 4: 4, 8: 4, type: "i32" },
    temperature: { 4: 8, 8: 8, type: "f32" },
    top_p: { 4: 12, 8: 12, type: "f32" },
  },
} as const;

export const eliza_llama_info_t = {
  size: { 4: 20, 8: 32 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    reserved: { 4: 4, 8: 4, type: "u32" },
    path: { 4: 8, 8: 8, type: "ptr" },
    version: { 4: 12, 8: 16, type: "ptr" },
    layout: { 4: 16, 8: 24, type: "ptr" },
  },
} as const;

export const eliza_llm_stream_config_t = {
  size: { 4: 64, 8: 88 },
  fields: {
    max_tokens: { 4: 0, 8: 0, type: "i32" },
    temperature: { 4: 4, 8: 4, type: "f32" },
    top_p: { 4: 8, 8: 8, type: "f32" },
    top_k: { 4: 12, 8: 12, type: "i32" },
    repeat_penalty: { 4: 16, 8: 16, type: "f32" },
    slot_id: { 4: 20, 8: 20, type: "i32" },
    prompt_cache_key: { 4: 24, 8: 24, type: "ptr" },
    draft_min: { 4: 28, 8: 32, type: "i32" },
    draft_max: { 4: 32, 8: 36, type: "i32" },
    mtp_drafter_path: { 4: 36, 8: 40, type: "ptr" },
    gbnf_grammar: { 4: 40, 8: 48, type: "ptr" },
    disable_thinking: { 4: 44, 8: 56, type: "i32" },
    n_gpu_layers: { 4: 48, 8: 60, type: "i32" },
    cache_type_k: { 4: 52, 8: 64, type: "ptr" },
    cache_type_v: { 4: 56, 8: 72, type: "ptr" },
    context_size: { 4: 60, 8: 80, type: "i32" },
  },
} as const;

export const eliza_llm_stream_stats_t = {
  size: { 4: 152, 8: 152 },
  fields: {
    struct_size: { 4: 0, 8: 0, type: "u32" },
    grammar_off: { 4: 4, 8: 4, type: "i32" },
    prefill_passes: { 4: 8, 8: 8, type: "u64" },
    forward_passes: { 4: 16, 8: 16, type: "u64" },
    decoded_tokens: { 4: 24, 8: 24, type: "u64" },
    emitted_tokens: { 4: 32, 8: 32, type: "u64" },
    sampled_tokens: { 4: 40, 8: 40, type: "u64" },
    forced_tokens: { 4: 48, 8: 48, type: "u64" },
    constrained_steps: { 4: 56, 8: 56, type: "u64" },
    skipped_candidates: { 4: 64, 8: 64, type: "u64" },
    fallbacks: { 4: 72, 8: 72, type: "u64" },
    grammar_rejections: { 4: 80, 8: 80, type: "u64" },
    sample_ns: { 4: 88, 8: 88, type: "u64" },
    decode_ns: { 4: 96, 8: 96, type: "u64" },
    context_tokens: { 4: 104, 8: 104, type: "u64" },
    pending_tokens: { 4: 112, 8: 112, type: "u64" },
    drafted_tokens: { 4: 120, 8: 120, type: "u64" },
    accepted_drafts: { 4: 128, 8: 128, type: "u64" },
    saved_passes: { 4: 136, 8: 136, type: "u64" },
    drafter_passes: { 4: 144, 8: 144, type: "u64" },
  },
} as const;

export const EliVerifierEvent = {
  size: { 4: 24, 8: 40 },
  fields: {
    accepted_token_ids: { 4: 0, 8: 0, type: "ptr" },
    n_accepted: { 4: 4, 8: 8, type: "ptr" },
    rejected_from: { 4: 8, 8: 16, type: "i32" },
    rejected_to: { 4: 12, 8: 20, type: "i32" },
    corrected_token_ids: { 4: 16, 8: 24, type: "ptr" },
    n_corrected: { 4: 20, 8: 32, type: "ptr" },
  },
} as const;

/** @internal */
export const declarations = {
  eliza_inference_abi_version: { args: [], returns: "cstring" },
  eliza_inference_version: { args: [], returns: "cstring" },
  eliza_inference_free_string: { args: ["handle"], returns: "void" },
  eliza_inference_error_status: { args: ["cstring"], returns: "i32" },
  eliza_inference_status_name: { args: ["i32"], returns: "cstring" },
  eliza_inference_set_log_callback: { args: ["handle", "handle"], returns: "void" },
  eliza_inference_vocab_create: { args: ["in", "out", "out"], returns: "i32" },
  eliza_inference_vocab_free: { args: ["handle"], returns: "void" },
  eliza_inference_vocab_size: { args: ["handle"], returns: "i32" },
  eliza_inference_vocab_token: { args: ["handle", "i32", "out", "out", "out"], returns: "i32" },
  eliza_inference_vocab_prepare: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_vocab_heal: { args: ["handle", "in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_vocab_info: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_vocab_save: { args: ["handle", "in", "usize", "out"], returns: "i32" },
  eliza_inference_vocab_open: { args: ["in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_vocab_open_with: { args: ["in", "usize", "u32", "out", "out"], returns: "i32" },
  eliza_inference_vocab_set_tokenizer: { args: ["handle", "handle", "handle"], returns: "i32" },
  eliza_inference_constraint_create_token_trie: { args: ["handle", "in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_choices: { args: ["handle", "in", "in", "usize", "u32", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_regex: { args: ["handle", "in", "usize", "u32", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_lark: { args: ["handle", "in", "usize", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_lark_with: { args: ["handle", "in", "usize", "in", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_gbnf: { args: ["handle", "in", "usize", "in", "usize", "u32", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_warnings: { args: ["handle"], returns: "cstring" },
  eliza_inference_constraint_prepare: { args: ["handle", "in", "out"], returns: "i32" },
  eliza_inference_constraint_create_json_schema: { args: ["handle", "in", "usize", "in", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_create_tags: { args: ["handle", "in", "usize", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_save: { args: ["handle", "in", "usize", "out"], returns: "i32" },
  eliza_inference_constraint_open: { args: ["handle", "in", "usize", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_open_with: { args: ["handle", "in", "usize", "u32", "in", "out", "out"], returns: "i32" },
  eliza_inference_constraint_recognizer_info: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_constraint_free: { args: ["handle"], returns: "void" },
  eliza_inference_constraint_info: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_constraint_path: { args: ["handle", "u32", "out", "out"], returns: "i32" },
  eliza_inference_trie_cache_stats: { args: ["out"], returns: "i32" },
  eliza_inference_trie_cache_set_limit: { args: ["u64"], returns: "i32" },
  eliza_inference_matcher_create: { args: ["handle", "u32", "out", "out"], returns: "i32" },
  eliza_inference_matcher_create_span: { args: ["handle", "in", "out", "out"], returns: "i32" },
  eliza_inference_matcher_clone: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_matcher_free: { args: ["handle"], returns: "void" },
  eliza_inference_matcher_last_error: { args: ["handle"], returns: "cstring" },
  eliza_inference_matcher_accept: { args: ["handle", "i32"], returns: "i32" },
  eliza_inference_matcher_rollback: { args: ["handle", "usize"], returns: "i32" },
  eliza_inference_matcher_reset: { args: ["handle"], returns: "i32" },
  eliza_inference_matcher_activate: { args: ["handle", "in", "usize"], returns: "i32" },
  eliza_inference_matcher_deactivate: { args: ["handle"], returns: "i32" },
  eliza_inference_matcher_set_span_timeout: { args: ["handle", "u32"], returns: "i32" },
  eliza_inference_matcher_set_seed: { args: ["handle", "u64"], returns: "i32" },
  eliza_inference_matcher_state: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_matcher_leaf: { args: ["handle", "out", "out"], returns: "i32" },
  eliza_inference_matcher_allowed: { args: ["handle", "out", "out"], returns: "i32" },
  eliza_inference_matcher_bitmap: { args: ["handle", "out", "out"], returns: "i32" },
  eliza_inference_matcher_fill_bitmap: { args: ["handle", "out", "usize"], returns: "i32" },
  eliza_inference_matcher_fill_bitmaps: { args: ["in", "usize", "out", "usize", "u32"], returns: "i32" },
  eliza_inference_matcher_can_stop: { args: ["handle"], returns: "i32" },
  eliza_inference_matcher_forced: { args: ["handle", "out", "usize", "out"], returns: "i32" },
  eliza_inference_matcher_forced_bytes: { args: ["handle", "out", "usize", "out"], returns: "i32" },
  eliza_inference_matcher_info: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_matcher_mask_logits: { args: ["handle", "out", "usize"], returns: "i32" },
  eliza_inference_matcher_mask_rows: { args: ["in", "usize", "out", "i32", "usize", "usize", "in", "u32"], returns: "i32" },
  eliza_inference_matcher_sample: { args: ["handle", "in", "usize", "in", "out"], returns: "i32" },
  eliza_inference_llama_load: { args: ["in", "usize", "out"], returns: "i32" },
  eliza_inference_llama_info: { args: ["out"], returns: "i32" },
  eliza_inference_create: { args: ["cstring", "out"], returns: "handle" },
  eliza_inference_destroy: { args: ["handle"], returns: "void" },
  eliza_inference_set_model_id: { args: ["handle", "in", "usize"], returns: "i32" },
  eliza_inference_vocab_from_context: { args: ["handle", "out", "out"], returns: "i32" },
  eliza_inference_tokenize: { args: ["handle", "in", "usize", "i32", "i32", "out", "out", "out"], returns: "i32" },
  eliza_inference_free_tokens: { args: ["handle"], returns: "void" },
  eliza_inference_detokenize: { args: ["handle", "in", "usize", "i32", "i32", "out", "usize", "out"], returns: "i32" },
  eliza_inference_embed: { args: ["handle", "in", "usize", "i32", "out", "usize", "out", "out"], returns: "i32" },
  eliza_inference_mmap_acquire: { args: ["handle", "cstring", "out"], returns: "i32" },
  eliza_inference_mmap_evict: { args: ["handle", "cstring", "out"], returns: "i32" },
  eliza_inference_tokenize_supported: { args: [], returns: "i32" },
  eliza_inference_embed_supported: { args: [], returns: "i32" },
  eliza_inference_llm_stream_supported: { args: [], returns: "i32" },
  eliza_inference_llm_mtp_supported: { args: [], returns: "i32" },
  eliza_inference_llm_kv_quant_supported: { args: [], returns: "i32" },
  eliza_inference_llm_stream_open: { args: ["handle", "in", "out"], returns: "handle" },
  eliza_inference_llm_stream_prefill: { args: ["handle", "in", "usize", "out"], returns: "i32" },
  eliza_inference_llm_stream_next: { args: ["handle", "out", "usize", "out", "out", "usize", "out", "out", "out"], returns: "i32" },
  eliza_inference_llm_stream_generate: { args: ["handle", "i32", "handle", "handle", "out"], returns: "i32" },
  eliza_inference_llm_stream_cancel: { args: ["handle"], returns: "i32" },
  eliza_inference_llm_stream_reset: { args: ["handle"], returns: "i32" },
  eliza_inference_llm_stream_reset_keep: { args: ["handle", "i32"], returns: "i32" },
  eliza_inference_llm_stream_close: { args: ["handle"], returns: "void" },
  eliza_inference_llm_stream_save_slot: { args: ["handle", "cstring", "out"], returns: "i32" },
  eliza_inference_llm_stream_restore_slot: { args: ["handle", "cstring", "out"], returns: "i32" },
  eliza_inference_llm_stream_last_error: { args: ["handle"], returns: "cstring" },
  eliza_inference_llm_stream_set_seed: { args: ["handle", "u64"], returns: "i32" },
  eliza_inference_llm_stream_set_sampling: { args: ["handle", "in"], returns: "i32" },
  eliza_inference_llm_stream_set_time_budget_ms: { args: ["handle", "u64"], returns: "i32" },
  eliza_inference_llm_stream_set_span_timeout: { args: ["handle", "u32"], returns: "i32" },
  eliza_inference_llm_stream_set_stop_at_span_end: { args: ["handle", "i32"], returns: "i32" },
  eliza_inference_llm_stream_set_skip_ahead: { args: ["handle", "i32"], returns: "i32" },
  eliza_inference_llm_stream_set_threads: { args: ["handle", "i32"], returns: "i32" },
  eliza_inference_llm_stream_stop_reason: { args: ["handle"], returns: "i32" },
  eliza_inference_set_verifier_callback: { args: ["handle", "handle", "handle", "out"], returns: "i32" },
  eliza_inference_llm_stream_stats: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_set_token_trie: { args: ["handle", "in", "usize", "i32"], returns: "i32" },
  eliza_inference_clear_token_trie: { args: ["handle"], returns: "i32" },
  eliza_inference_set_constraint: { args: ["handle", "handle", "i32", "in"], returns: "i32" },
  eliza_inference_clear_constraint: { args: ["handle"], returns: "i32" },
  eliza_inference_llm_stream_activate: { args: ["handle", "in", "usize"], returns: "i32" },
  eliza_inference_llm_stream_state: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_llm_stream_leaf: { args: ["handle", "out", "out"], returns: "i32" },
  llama_sampler_init_token_trie: { args: ["handle", "cstring", "i32"], returns: "handle" },
  eliza_inference_sampler_init_token_trie: { args: ["handle", "in", "usize", "i32", "out"], returns: "handle" },
  llama_sampler_init_constraint: { args: ["handle", "handle", "i32"], returns: "handle" },
  eliza_inference_sampler_init_constraint: { args: ["handle", "handle", "i32", "in", "out"], returns: "handle" },
  eliza_inference_sampler_set_token_trie: { args: ["handle", "in", "usize", "i32", "out"], returns: "i32" },
  eliza_inference_sampler_clear_token_trie: { args: ["handle"], returns: "i32" },
  eliza_inference_sampler_set_constraint: { args: ["handle", "handle", "i32", "in", "out"], returns: "i32" },
  eliza_inference_sampler_activate: { args: ["handle", "in", "usize", "out"], returns: "i32" },
  eliza_inference_sampler_state: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_tts_stream_supported: { args: [], returns: "i32" },
  eliza_inference_tts_synthesize: { args: ["handle", "in", "usize", "cstring", "out", "usize", "out"], returns: "i32" },
  eliza_inference_tts_synthesize_stream: { args: ["handle", "in", "usize", "cstring", "handle", "handle", "out"], returns: "i32" },
  eliza_inference_cancel_tts: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_encode_reference: { args: ["handle", "in", "usize", "i32", "out", "out", "out", "out"], returns: "i32" },
  eliza_inference_kokoro_supported: { args: [], returns: "i32" },
  eliza_inference_kokoro_load: { args: ["handle", "cstring", "cstring", "i32", "out"], returns: "i32" },
  eliza_inference_kokoro_synthesize: { args: ["handle", "in", "usize", "f32", "out", "usize", "out"], returns: "i32" },
  eliza_inference_kokoro_sample_rate: { args: ["handle"], returns: "i32" },
  eliza_inference_kokoro_g2p_kind: { args: ["handle"], returns: "i32" },
  eliza_inference_kokoro_synthesize_ipa: { args: ["handle", "in", "usize", "f32", "out", "usize", "out"], returns: "i32" },
  eliza_inference_asr_transcribe: { args: ["handle", "in", "usize", "i32", "out", "usize", "out"], returns: "i32" },
  eliza_inference_asr_timestamps_supported: { args: [], returns: "i32" },
  eliza_inference_asr_transcribe_timed: { args: ["handle", "in", "usize", "i32", "out", "usize", "out", "out", "out", "out"], returns: "i32" },
  eliza_inference_asr_stream_supported: { args: [], returns: "i32" },
  eliza_inference_asr_stream_open: { args: ["handle", "i32", "out"], returns: "handle" },
  eliza_inference_asr_stream_feed: { args: ["handle", "in", "usize", "out"], returns: "i32" },
  eliza_inference_asr_stream_partial: { args: ["handle", "out", "usize", "out", "out", "out"], returns: "i32" },
  eliza_inference_asr_stream_finish: { args: ["handle", "out", "usize", "out", "out", "out"], returns: "i32" },
  eliza_inference_asr_stream_close: { args: ["handle"], returns: "void" },
  eliza_inference_vad_supported: { args: [], returns: "i32" },
  eliza_inference_vad_open: { args: ["handle", "i32", "out"], returns: "handle" },
  eliza_inference_vad_process: { args: ["handle", "in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_vad_reset: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_vad_close: { args: ["handle"], returns: "void" },
  eliza_inference_wakeword_supported: { args: [], returns: "i32" },
  eliza_inference_wakeword_open: { args: ["handle", "i32", "cstring", "out"], returns: "handle" },
  eliza_inference_wakeword_score: { args: ["handle", "in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_wakeword_reset: { args: ["handle", "out"], returns: "i32" },
  eliza_inference_wakeword_close: { args: ["handle"], returns: "void" },
  eliza_inference_speaker_supported: { args: [], returns: "i32" },
  eliza_inference_speaker_open: { args: ["handle", "cstring", "out"], returns: "handle" },
  eliza_inference_speaker_embed: { args: ["handle", "in", "usize", "out", "out"], returns: "i32" },
  eliza_inference_speaker_free: { args: ["handle"], returns: "void" },
  eliza_inference_speaker_close: { args: ["handle"], returns: "void" },
  eliza_inference_diariz_supported: { args: [], returns: "i32" },
  eliza_inference_diariz_open: { args: ["handle", "cstring", "out"], returns: "handle" },
  eliza_inference_diariz_segment: { args: ["handle", "in", "usize", "out", "out", "out"], returns: "i32" },
  eliza_inference_diariz_close: { args: ["handle"], returns: "void" },
  eliza_inference_llm_eot_supported: { args: [], returns: "i32" },
  eliza_inference_llm_eot_score: { args: ["handle", "in", "usize", "i32", "out", "out", "out", "out"], returns: "i32" },
  eliza_inference_vision_supported: { args: [], returns: "i32" },
  eliza_inference_describe_image: { args: ["handle", "in", "usize", "cstring", "cstring", "out", "usize", "out"], returns: "i32" },
  eliza_inference_vision_stream_supported: { args: [], returns: "i32" },
  eliza_inference_describe_image_stream_open: { args: ["handle", "in", "usize", "cstring", "cstring", "out"], returns: "handle" },
} as const;
