#include "llama.h"

enum { STEPS_MAX = 10, FORCED_MAX = 64, LOGITS_BEYOND = 3 };

static int count_of(const int32_t *words) {
    int n = 0;
    for (int i = 0; i < N_WORDS; i++) n += __builtin_popcount((uint32_t)words[i]);
    return n;
}

static void check_list(eliza_matcher *matcher, const int32_t *words, int form, int n) {
    const int32_t *ids;
    size_t n_ids;
    int again = eliza_inference_matcher_allowed(matcher, &ids, &n_ids);
    if (is_over_budget(again)) return;
    CHECK(again == form);
    if (form == ELIZA_ALLOWED_ALL) {
        CHECK(ids == NULL && n == N_TOKENS);
        return;
    }
    CHECK(n_ids == (size_t)n);
    CHECK(n == 0 || (ids == NULL) == (form == ELIZA_ALLOWED_BITMAP));
    for (size_t i = 0; ids != NULL && i < n_ids; i++) {
        CHECK(ids[i] >= 0 && ids[i] < N_TOKENS && has(words, ids[i]));
        CHECK(i == 0 || ids[i - 1] < ids[i]);
    }
}

static void check_lent(eliza_matcher *matcher, const int32_t *words, int form) {
    const int32_t *lent;
    size_t n_lent;
    int again = eliza_inference_matcher_bitmap(matcher, &lent, &n_lent);
    if (is_over_budget(again)) return;
    CHECK(again == form);
    if (form != ELIZA_ALLOWED_BITMAP) {
        CHECK(lent == NULL);
        return;
    }
    CHECK(n_lent == N_WORDS && memcmp(lent, words, N_WORDS * sizeof *words) == 0);
}

int mask_of(eliza_matcher *matcher, int32_t words[N_WORDS]) {
    memset(words, 0xa5, N_WORDS * sizeof *words);
    int form = eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS);
    if (form < 0) {
        CHECK(is_over_budget(form));
        CHECK(eliza_inference_matcher_last_error(matcher)[0] != 0);
        return form;
    }
    for (int32_t bit = N_TOKENS; bit < 32 * N_WORDS; bit++) CHECK(!has(words, bit));
    int n = count_of(words);
    if (n % 4 == 0) { /* each takes as long as the mask itself */
        check_list(matcher, words, form, n);
        check_lent(matcher, words, form);
    }
    eliza_span_state_t state = {.struct_size = sizeof state};
    int status = eliza_inference_matcher_state(matcher, &state);
    if (is_over_budget(status)) return status;
    CHECK(status == ELIZA_OK);
    CHECK(state.constrained == (form != ELIZA_ALLOWED_ALL));
    CHECK(state.n_allowed == (state.constrained ? (uint32_t)n : 0));
    CHECK(state.can_stop == eliza_inference_matcher_can_stop(matcher));
    return form;
}

void check_accepted_are(const eliza_matcher *matcher, const int32_t words[N_WORDS]) {
    eliza_matcher *clone = NULL;
    CHECK(eliza_inference_matcher_clone(matcher, &clone) == ELIZA_OK);
    for (int32_t token = 0; token < N_TOKENS; token++) {
        int step = eliza_inference_matcher_accept(clone, token);
        if (step < 0) {
            CHECK(is_over_budget(step));
            continue;
        }
        CHECK(((step & ELIZA_STEP_REFUSED) == 0) == has(words, token));
        CHECK((step & ELIZA_STEP_REFUSED) == 0 || step == ELIZA_STEP_REFUSED);
        if (step != ELIZA_STEP_REFUSED) CHECK(eliza_inference_matcher_rollback(clone, 1) == ELIZA_OK);
    }
    int32_t again[N_WORDS];
    if (mask_of(clone, again) >= 0) CHECK(memcmp(again, words, sizeof again) == 0);
    eliza_inference_matcher_free(clone);
}

static void check_forced_bytes(eliza_matcher *matcher) {
    uint8_t bytes[FORCED_MAX];
    size_t n;
    int status = eliza_inference_matcher_forced_bytes(matcher, bytes, FORCED_MAX, &n);
    CHECK(status == ELIZA_OK || is_over_budget(status));
    if (status < 0 || n == 0) return;
    int32_t words[N_WORDS];
    if (mask_of(matcher, words) < 0) return;
    CHECK(!eliza_inference_matcher_can_stop(matcher));
    for (int32_t token = 0; token < N_TOKENS; token++) {
        input text = token_bytes(token);
        if (has(words, token) && text.left > 0 && !(token_flags(token) & ELIZA_TOKEN_SPECIAL)) CHECK(text.at[0] == bytes[0]);
    }
}

void check_forced(const eliza_matcher *matcher) {
    eliza_matcher *clone = NULL;
    CHECK(eliza_inference_matcher_clone(matcher, &clone) == ELIZA_OK);
    check_forced_bytes(clone);
    int32_t tokens[FORCED_MAX];
    size_t n = 0;
    int status = eliza_inference_matcher_forced(clone, tokens, FORCED_MAX, &n);
    CHECK(status == ELIZA_OK || is_over_budget(status));
    if (status < 0) n = 0;
    for (size_t i = 0; i < n && i < FORCED_MAX; i++) {
        int32_t words[N_WORDS];
        CHECK(tokens[i] >= 0 && tokens[i] < N_TOKENS);
        if (mask_of(clone, words) < 0) break;
        CHECK(has(words, tokens[i]));
        int step = eliza_inference_matcher_accept(clone, tokens[i]);
        if (is_over_budget(step)) break;
        CHECK(step >= 0 && !(step & ELIZA_STEP_REFUSED));
    }
    eliza_inference_matcher_free(clone);
}

/* The highest of the legal logits, of equal ones the smallest id; NaN counts as -inf. -1 if nothing is legal. */
static int32_t naive_greedy(const int32_t *words, const float *logits) {
    int32_t best = -1;
    float most = -INFINITY;
    for (int32_t token = 0; token < N_TOKENS; token++) {
        if (!has(words, token)) continue;
        float logit = isnan(logits[token]) ? -INFINITY : logits[token];
        if (best < 0 || logit > most) {
            best = token;
            most = logit;
        }
    }
    return best;
}

void draw_logits(float *logits, size_t n, uint64_t *state) {
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 3.4e38f, -3.4e38f, 1e-45f};
    uint64_t share = draw(state) % 5; /* how many of four are special */
    for (size_t i = 0; i < n; i++) {
        uint64_t word = draw(state);
        logits[i] = word % 4 < share ? special[word >> 8 & 7] : (float)(int32_t)(word >> 32) / 1e8f;
    }
}

void check_choices(eliza_matcher *matcher, const int32_t words[N_WORDS], int allowed, uint64_t seed) {
    float logits[N_TOKENS + LOGITS_BEYOND], masked[N_TOKENS + LOGITS_BEYOND];
    draw_logits(logits, N_TOKENS + LOGITS_BEYOND, &seed);
    memcpy(masked, logits, sizeof masked);
    int status = eliza_inference_matcher_mask_logits(matcher, masked, N_TOKENS + LOGITS_BEYOND);
    if (is_over_budget(status)) return;
    CHECK(status == ELIZA_OK);
    for (int32_t token = 0; token < N_TOKENS + LOGITS_BEYOND; token++) {
        bool is_kept = allowed == ELIZA_ALLOWED_ALL || (token < N_TOKENS && has(words, token));
        if (is_kept) {
            CHECK(memcmp(&masked[token], &logits[token], sizeof(float)) == 0);
        } else {
            CHECK(masked[token] == -INFINITY);
        }
    }
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_GREEDY, 0, 0};
    int32_t best = naive_greedy(words, logits), chosen = -1;
    status = eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &chosen);
    if (is_over_budget(status)) return;
    CHECK((status == ELIZA_OK) == (best >= 0));
    if (best < 0) return;
    CHECK(chosen == best);
    sampling.mode = ELIZA_MODE_SAMPLED;
    sampling.temperature = (float)(draw(&seed) % 5) / 2;
    sampling.top_p = (float)(draw(&seed) % 5) / 4;
    status = eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &chosen);
    if (is_over_budget(status)) return;
    CHECK(status == ELIZA_OK && chosen >= 0 && chosen < N_TOKENS && has(words, chosen));
    if (logits[best] > -INFINITY) CHECK(logits[chosen] > -INFINITY);
}

/* A text in the tokens in which it was walked, with the mask before each and after the last. */
typedef struct {
    int32_t tokens[STEPS_MAX];
    int32_t masks[STEPS_MAX + 1][N_WORDS];
    int n;
} path;

static eliza_matcher *begin(const eliza_constraint *constraint, uint64_t seed, int flags) {
    static const int32_t ends[] = {TOKEN_OTHER_END, TOKEN_TOOL};
    eliza_span_config_t config = {.struct_size = sizeof config};
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    CHECK(eliza_inference_constraint_recognizer_info(constraint, &info) == ELIZA_OK);
    if (info.kind != ELIZA_CONSTRAINT_TOKEN_TRIE) {
        config.end = seed % 3 == 0 ? NULL : ends;
        config.n_end = seed % 3 == 1 ? 2 : 0;
        if (seed / 3 % 8 == 0) {
            config.prefill = (const uint8_t *)"ab";
            config.prefill_len = 2;
        }
    }
    if (!(flags & WALK_ANY_TOKENS) && seed / 24 % 4 == 0) config.span_timeout = 5;
    eliza_matcher *matcher = NULL;
    char *error = NULL;
    int status = eliza_inference_matcher_create_span(constraint, &config, &matcher, &error);
    check_error(status, error);
    return matcher;
}

/* Chooses among the legal tokens, and more often one of several bytes. */
static int32_t choose(const int32_t *words, uint64_t *seed) {
    int32_t chosen = -1;
    uint64_t n = 0;
    for (int32_t token = 0; token < N_TOKENS; token++) {
        if (!has(words, token)) continue;
        uint64_t weight = token < 256 ? 1 : 20;
        n += weight;
        if (draw(seed) % n < weight) chosen = token;
    }
    return chosen;
}

static void check_rollback(eliza_matcher *matcher, const path *along, uint64_t seed) {
    int back = (int)(seed % ((uint64_t)along->n + 1));
    CHECK(eliza_inference_matcher_rollback(matcher, (size_t)back) == ELIZA_OK);
    int32_t words[N_WORDS];
    if (mask_of(matcher, words) >= 0) CHECK(memcmp(words, along->masks[along->n - back], sizeof words) == 0);
    CHECK(eliza_inference_matcher_rollback(matcher, (size_t)(along->n - back + 1)) == ELIZA_ERR_INVALID_ARG);
}

/* The same text byte by byte leads to the same mask. Where everything is allowed, a token may be no part of the text. */
static void check_bytes(const eliza_constraint *constraint, const path *along, uint64_t seed) {
    eliza_matcher *matcher = begin(constraint, seed, WALK_ANY_TOKENS);
    int32_t words[N_WORDS];
    for (int i = 0; i < along->n; i++) {
        if (token_flags(along->tokens[i]) != 0 || count_of(along->masks[i]) == N_TOKENS) break;
        for (input text = token_bytes(along->tokens[i]); text.left > 0;) {
            int step = eliza_inference_matcher_accept(matcher, take(&text));
            if (is_over_budget(step)) goto end;
            CHECK(step >= 0 && !(step & ELIZA_STEP_REFUSED));
            if (step & ELIZA_STEP_SPAN_ENDED) goto end;
        }
        if (mask_of(matcher, words) < 0) break;
        CHECK(memcmp(words, along->masks[i + 1], sizeof words) == 0);
    }
end:
    eliza_inference_matcher_free(matcher);
}

void walk(eliza_constraint *constraint, uint64_t seed, int flags) {
    eliza_matcher *matcher = begin(constraint, seed, flags);
    path along = {.n = 0};
    uint64_t state = seed;
    int deep = (int)(draw(&state) % 4);
    while (matcher != NULL) {
        int32_t *words = along.masks[along.n];
        int allowed = mask_of(matcher, words);
        if (allowed < 0) break;
        if (along.n == deep) {
            check_accepted_are(matcher, words);
            check_forced(matcher);
            check_choices(matcher, words, allowed, draw(&state));
        }
        int32_t token = choose(words, &state);
        if (token < 0 || along.n == STEPS_MAX) {
            check_rollback(matcher, &along, draw(&state));
            if (flags & WALK_ANY_TOKENS) check_bytes(constraint, &along, seed);
            break;
        }
        int step = eliza_inference_matcher_accept(matcher, token);
        if (is_over_budget(step)) break;
        CHECK(step >= 0 && !(step & ELIZA_STEP_REFUSED));
        along.tokens[along.n++] = token;
    }
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

int try_notation(notation *compile, const uint8_t *data, size_t size) {
    begin_input(data, size);
    input in = {data, size};
    uint8_t flags = take(&in);
    bool names_tokens = false;
    eliza_constraint *made = NULL;
    char *error = NULL;
    check_error(compile(flags & 128 ? hostile_vocabulary() : vocabulary(), flags, in, &names_tokens, &made, &error), error);
    if (made != NULL) walk(made, hash_of(data, size), names_tokens ? 0 : WALK_ANY_TOKENS);
    end_input();
    return 0;
}
