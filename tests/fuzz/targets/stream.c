/* Streams of a model that has none, and samplers. A byte for what constrains them, a few for the settings, then calls: each a byte,
 * and what it takes. A matcher follows what comes out: a token that it refuses is a finding. */
#include "../llama.h"
#include "../memory_file.h"
#include "../samples.h"

enum { CALLS_MAX = 48, TIMEOUT = 20 };

static char slot_path[64];

static EliInferenceContext *context;
static eliza_vocab *vocab;
static eliza_constraint *constraint;
static EliLlmStream *stream;
static eliza_matcher *shadow; /* of the stream's constraint; NULL: not known where it stands */
static bool may_wait; /* a token that was chosen before, for room for its text */

static void make_files(void) {
    if (slot_path[0] != 0) return;
    static const uint8_t head[24] = "GGUF\3";
    put_memory_file(head, sizeof head);
    snprintf(slot_path, sizeof slot_path, "/dev/shm/eliza-fuzz-slot-%d", (int)getpid());
}

static void drop_shadow(void) {
    eliza_inference_matcher_free(shadow);
    shadow = NULL;
}

static void begin_shadow(void) {
    drop_shadow();
    const eliza_span_config_t config = {.struct_size = sizeof config, .span_timeout = TIMEOUT};
    if (!may_wait) CHECK(eliza_inference_matcher_create_span(constraint, &config, &shadow, NULL) == ELIZA_OK);
}

static void follow(int32_t token) {
    CHECK(token >= 0 && token < N_TOKENS);
    if (shadow == NULL) return;
    int step = eliza_inference_matcher_accept(shadow, token);
    CHECK(step >= 0 || is_over_budget(step));
    if (step < 0) return drop_shadow();
    CHECK(!(step & ELIZA_STEP_REFUSED));
}

/* What libllama's failures give, and budgets. */
static bool may_fail_so(int status) {
    return is_over_budget(status) || status == ELIZA_ERR_FFI_FAULT || status == ELIZA_ERR_CONTEXT_FULL || status == ELIZA_ERR_STATE;
}

static void check_failure(int status, char *error) {
    if (status < 0) {
        CHECK(may_fail_so(status));
        CHECK(eliza_inference_llm_stream_last_error(stream)[0] != 0);
        drop_shadow();
    }
    check_error(status, error);
}

static void check_end(void) {
    int reason = eliza_inference_llm_stream_stop_reason(stream);
    CHECK(reason >= ELIZA_STOP_NONE && reason <= ELIZA_STOP_CONTEXT_FULL);
    if (reason == ELIZA_STOP_END_OF_GENERATION) drop_shadow(); /* its token is not emitted */
}

static void check_text(const char *text, size_t room) {
    size_t n = strnlen(text, room);
    CHECK(n < room);
    for (size_t i = 0; i < n;) { /* whole characters */
        uint8_t lead = (uint8_t)text[i];
        size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        CHECK(lead < 0x80 || lead >= 0xc2);
        for (size_t j = 1; j < length; j++) CHECK(((uint8_t)text[i + j] & 0xc0) == 0x80);
        i += length;
    }
}

/* ---- Calls ---- */

static void prefill(input *in) {
    int32_t tokens[40];
    size_t n = take(in) % 40;
    for (size_t i = 0; i < n; i++) tokens[i] = (int32_t)take_below(in, N_TOKENS);
    char *error = NULL;
    int status = eliza_inference_llm_stream_prefill(stream, tokens, n, &error);
    if (n == 0 && status < 0) {
        eliza_inference_free_string(error);
        return;
    }
    check_failure(status, error);
}

static void next(input *in) {
    int32_t tokens[16];
    char text[2048];
    size_t n = 0, cap = 1 + take(in) % 16, room = take(in) % 4 == 0 ? 5 : sizeof text;
    if (room == 5) may_wait = true;
    char *error = NULL;
    int status = eliza_inference_llm_stream_next(stream, tokens, cap, &n, text, room, NULL, NULL, &error);
    CHECK(n <= cap);
    for (size_t i = 0; i < n; i++) follow(tokens[i]);
    check_failure(status, error);
    if (status < 0) return;
    check_text(text, room);
    check_end();
}

typedef struct {
    uint64_t seed;
    int calls;
} listener;

static void activate(uint64_t which) {
    static const char *const paths[] = {"p", "q", "", "none"};
    int status = eliza_inference_llm_stream_activate(stream, paths[which % 4], strlen(paths[which % 4]));
    if (status == ELIZA_OK) drop_shadow();
}

static void set(uint64_t how) {
    int mode = (int)(how & 1);
    if (how & 2) {
        const char *payload = sample_text((uint32_t)(how >> 8) % N_TREES);
        int status = eliza_inference_set_token_trie(stream, payload, strlen(payload), mode);
        if (status == ELIZA_OK) drop_shadow();
    } else if (constraint != NULL) {
        const eliza_span_config_t config = {.struct_size = sizeof config, .span_timeout = TIMEOUT};
        int status = eliza_inference_set_constraint(stream, constraint, mode, &config);
        if (status == ELIZA_OK) begin_shadow();
    }
}

static int on_token(int32_t token, const char *text, void *user_data) {
    listener *of = user_data;
    check_text(text, 4096);
    if (token >= 0) follow(token);
    uint64_t what = draw(&of->seed);
    if (of->calls++ > 40) return 1;
    switch (what % 16) {
        case 0: return 1;
        case 1: CHECK(eliza_inference_clear_constraint(stream) == ELIZA_OK); drop_shadow(); break;
        case 2: set(what >> 8); break;
        case 3: activate(what >> 8); break;
        case 4: CHECK(eliza_inference_llm_stream_reset(stream) == ELIZA_ERR_BUSY); break;
        case 5: eliza_inference_llm_stream_close(stream); break; /* does nothing here */
        case 6: CHECK(eliza_inference_llm_stream_prefill(stream, &token, 1, NULL) == ELIZA_ERR_BUSY); break;
        case 7: if (what >> 8 & 1) eliza_inference_llm_stream_cancel(stream); break;
        default: break;
    }
    return 0;
}

static void generate(input *in) {
    listener of = {.seed = take(in)};
    char *error = NULL;
    int status = eliza_inference_llm_stream_generate(stream, 1 + take(in) % 24, on_token, &of, &error);
    check_failure(status, error);
    if (status < 0) return;
    may_wait = false;
    check_end();
}

static void slot(input *in) {
    uint8_t how = take(in);
    char *error = NULL;
    int status;
    if (how % 4 == 0) {
        status = eliza_inference_llm_stream_save_slot(stream, slot_path, &error);
        check_failure(status, error);
        return;
    }
    if (how % 4 == 1) { /* changed, or anything */
        uint8_t bytes[512];
        FILE *file = fopen(slot_path, "rb");
        size_t n = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file != NULL) fclose(file);
        input change = take_text(in, 64);
        size_t at = n > 0 ? take_below(in, (uint32_t)n) : 0;
        if (at + change.left > sizeof bytes) at = 0;
        memcpy(bytes + at, change.at, change.left);
        if (at + change.left > n) n = at + change.left;
        file = fopen(slot_path, "wb");
        CHECK(file != NULL && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
    }
    status = eliza_inference_llm_stream_restore_slot(stream, slot_path, &error);
    check_error(status, error);
    if (status == ELIZA_OK || status == ELIZA_ERR_FFI_FAULT) drop_shadow();
    if (status < 0) drop_shadow();
}

static float number_of(uint8_t byte) {
    static const float special[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e-38f, 3e38f, 1};
    return byte < 8 ? special[byte] : (float)byte / 64;
}

static void settings(input *in) {
    uint8_t which = take(in), value = take(in);
    eliza_sampling_t sampling = {sizeof sampling, 0, number_of(value), number_of(take(in))};
    switch (which % 8) {
        case 0: eliza_inference_llm_stream_set_seed(stream, value); break;
        case 1: eliza_inference_llm_stream_set_sampling(stream, &sampling); break;
        case 2: eliza_inference_llm_stream_set_time_budget_ms(stream, value); break;
        case 3: eliza_inference_llm_stream_set_span_timeout(stream, value); break;
        case 4: eliza_inference_llm_stream_set_stop_at_span_end(stream, value & 1); break;
        case 5: eliza_inference_llm_stream_set_skip_ahead(stream, value & 1); break;
        case 6: eliza_inference_llm_stream_set_threads(stream, value); break;
        default: eliza_inference_llm_stream_cancel(stream);
    }
}

static void reset(input *in) {
    int32_t keep = (int8_t)take(in);
    int status = keep % 2 ? eliza_inference_llm_stream_reset(stream) : eliza_inference_llm_stream_reset_keep(stream, keep);
    CHECK(status >= 0 || may_fail_so(status) || (keep < 0 && status == ELIZA_ERR_INVALID_ARG));
    if (status < 0) return drop_shadow();
    if (shadow != NULL) CHECK(eliza_inference_matcher_reset(shadow) == ELIZA_OK);
}

static void ask(input *in) {
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    CHECK(eliza_inference_llm_stream_stats(stream, &stats) == ELIZA_OK);
    CHECK(stats.emitted_tokens >= stats.forced_tokens || stats.sampled_tokens + stats.forced_tokens >= stats.emitted_tokens);
    eliza_span_state_t state = {.struct_size = sizeof state};
    int status = eliza_inference_llm_stream_state(stream, &state);
    CHECK(status == ELIZA_OK || is_over_budget(status));
    const char *name;
    size_t n;
    CHECK(eliza_inference_llm_stream_leaf(stream, &name, &n) == ELIZA_OK);
    input text = take_text(in, 40);
    int *tokens = NULL;
    char *error = NULL;
    status = eliza_inference_tokenize(context, (const char *)text.at, text.left, 1, 0, &tokens, &n, &error);
    check_error(status, error);
    char back[256];
    if (status == ELIZA_OK) {
        error = NULL;
        status = eliza_inference_detokenize(context, tokens, n, 0, 1, back, sizeof back, &error);
        check_error(status, error);
        eliza_inference_free_tokens(tokens);
    }
    float vector[8];
    int dimension = 0;
    error = NULL;
    status = eliza_inference_embed(context, (const char *)text.at, text.left, 1 + text.left % 3, vector, 8, &dimension, &error);
    check_error(status, error);
}

/* ---- Samplers ---- */

static size_t draw_candidates(token_data *out, uint64_t *state) {
    float logits[N_TOKENS];
    draw_logits(logits, N_TOKENS, state);
    for (int32_t i = 0; i < N_TOKENS; i++) out[i] = (token_data){i, logits[i], 0};
    size_t n = N_TOKENS;
    if (draw(state) % 2) return n;
    for (size_t i = 0; i < n; i++) {
        size_t other = draw(state) % n;
        token_data kept = out[i];
        out[i] = out[other];
        out[other] = kept;
    }
    return draw(state) % 2 ? n : draw(state) % (n + 1);
}

static void check_applied(const eliza_matcher *beside, const token_data_array *of, size_t n_before, int mode) {
    eliza_matcher *clone = NULL;
    int32_t words[N_WORDS];
    CHECK(eliza_inference_matcher_clone(beside, &clone) == ELIZA_OK);
    int form = mask_of(clone, words);
    int32_t n_legal = 0;
    for (int32_t token = 0; form >= 0 && token < N_TOKENS; token++) n_legal += has(words, token);
    if (form == ELIZA_ALLOWED_ALL) CHECK(of->size == n_before);
    if (form > 0 && n_legal > 0) {
        CHECK(of->size > 0);
        for (size_t i = 0; i < of->size; i++) CHECK(has(words, of->data[i].id) && !isnan(of->data[i].logit));
        if (mode == ELIZA_MODE_GREEDY) {
            CHECK(of->selected >= 0 && (size_t)of->selected < of->size);
            for (size_t i = 0; i < of->size; i++) CHECK(of->data[i].logit <= of->data[of->selected].logit);
        }
    }
    eliza_inference_matcher_free(clone);
}

static void use_sampler(input *in) {
    if (constraint == NULL) return;
    int mode = take(in) % 2;
    uint64_t state = take(in);
    const eliza_span_config_t config = {.struct_size = sizeof config, .span_timeout = TIMEOUT};
    char *error = NULL;
    struct llama_sampler *sampler = eliza_inference_sampler_init_constraint(llama_vocab_of_all(), constraint, mode, &config, &error);
    check_error(sampler != NULL ? ELIZA_OK : eliza_inference_error_status(error), error);
    eliza_matcher *beside = NULL;
    CHECK(sampler != NULL && eliza_inference_matcher_create_span(constraint, &config, &beside, NULL) == ELIZA_OK);
    for (int i = 0; i < 8 && in->left > 0; i++) {
        static token_data data[N_TOKENS];
        token_data_array of = {data, draw_candidates(data, &state), -1, false};
        size_t n_before = of.size;
        if (take(in) % 4 == 0) {
            struct llama_sampler *clone = sampler->iface->clone(sampler);
            CHECK(clone != NULL);
            llama_sampler_free(sampler);
            sampler = clone;
        }
        sampler->iface->apply(sampler, &of);
        if (beside != NULL) check_applied(beside, &of, n_before, mode);
        int32_t token = of.size > 0 && take(in) % 8 ? of.data[draw(&state) % of.size].id : (int32_t)take_below(in, N_TOKENS + 2) - 1;
        sampler->iface->accept(sampler, token);
        int step = beside != NULL ? eliza_inference_matcher_accept(beside, token) : 0;
        if (step < 0 || step & ELIZA_STEP_REFUSED) { /* the sampler continues without the span */
            eliza_inference_matcher_free(beside);
            beside = NULL;
        }
        eliza_span_state_t there = {.struct_size = sizeof there};
        step = eliza_inference_sampler_state(sampler, &there);
        CHECK(step == ELIZA_OK || is_over_budget(step));
        if (take(in) % 16 == 0) {
            sampler->iface->reset(sampler);
            eliza_inference_matcher_free(beside);
            beside = NULL;
        }
    }
    eliza_inference_matcher_free(beside);
    llama_sampler_free(sampler);
}

/* ---- An input ---- */

static void call(input *in) {
    switch (take(in) % 16) {
        case 0: return prefill(in);
        case 1:
        case 2:
        case 3: return next(in);
        case 4:
        case 5: return generate(in);
        case 6:
        case 7: return set(take_word(in));
        case 8: CHECK(eliza_inference_clear_constraint(stream) == ELIZA_OK); return drop_shadow();
        case 9: return activate(take(in));
        case 10: return reset(in);
        case 11: return slot(in);
        case 12: return settings(in);
        case 13: return use_sampler(in);
        case 14: return ask(in);
        default: return set(0);
    }
}

static EliLlmStream *open_stream(input *in) {
    static const char *const grammars[] = {NULL, "root ::= [a-z]+", "root ::= root \"a\" | \"b\" | \"true\" root", "root ::= "};
    uint8_t how = take(in);
    eliza_llm_stream_config_t config = {
        .max_tokens = how % 4 == 0 ? 0 : 30,
        .temperature = number_of(take(in)),
        .top_p = number_of(take(in)),
        .top_k = how / 4 % 4,
        .repeat_penalty = number_of(take(in)),
        .draft_min = how / 16 % 2,
        .draft_max = how / 16 % 2 * 4,
        .gbnf_grammar = grammars[how / 32 % 4],
        .context_size = take(in) % 128,
    };
    char *error = NULL;
    EliLlmStream *opened = eliza_inference_llm_stream_open(context, &config, &error);
    check_error(opened != NULL ? ELIZA_OK : eliza_inference_error_status(error), error);
    return opened;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    make_files();
    input in = {data, size};
    uint8_t first = take(&in), how = take(&in);
    llama_begin(hash_of(data, size), true, how & 1, !(how & 2));
    static bool is_begun; /* libllama is found once */
    if (!is_begun) eliza_inference_destroy(eliza_inference_create(memory_file_path, NULL));
    is_begun = true;
    begin_input(data, size);
    context = eliza_inference_create(memory_file_path, NULL);
    CHECK(context != NULL);
    CHECK(eliza_inference_vocab_from_context(context, &vocab, NULL) == ELIZA_OK);
    constraint = sample(first % N_SAMPLES, vocab);
    may_wait = false;
    stream = open_stream(&in);
    for (int i = 0; stream != NULL && i < CALLS_MAX && in.left > 0; i++) call(&in);
    eliza_inference_llm_stream_close(stream);
    drop_shadow();
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    eliza_inference_destroy(context);
    unlink(slot_path);
    end_input();
    return 0;
}
