/* Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit. */
#define FIRST_SIZE_eliza_vocab_config_t (sizeof(void *) == 8 ? 48 : 28)
#define FIRST_SIZE_eliza_vocab_info_t 40
#define FIRST_SIZE_eliza_compile_config_t (sizeof(void *) == 8 ? 48 : 40)
#define FIRST_SIZE_eliza_lark_options_t (sizeof(void *) == 8 ? 40 : 24)
#define FIRST_SIZE_eliza_json_schema_options_t 12
#define FIRST_SIZE_eliza_recognizer_info_t 48
#define FIRST_SIZE_eliza_constraint_info_t 32
#define FIRST_SIZE_eliza_trie_cache_stats_t 48
#define FIRST_SIZE_eliza_span_config_t (sizeof(void *) == 8 ? 24 : 16)
#define FIRST_SIZE_eliza_span_state_t 72
#define FIRST_SIZE_eliza_matcher_info_t 48
#define FIRST_SIZE_eliza_sampling_t 16
#define FIRST_SIZE_eliza_llama_info_t (sizeof(void *) == 8 ? 32 : 20)
#define FIRST_SIZE_eliza_llm_stream_stats_t 120
