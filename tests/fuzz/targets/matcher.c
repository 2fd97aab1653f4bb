/* A byte for the constraint, one for how its span ends, then calls: each a byte, and what it takes. Beside each matcher stand the
 * masks and states at each of its tokens, which rollback has to bring back. */
#include "../samples.h"

enum { MATCHERS = 3, DEPTH_MAX = 32, CALLS_MAX = 96, SEARCHES_MAX = 2 };

typedef struct {
    int32_t mask[N_WORDS];
    eliza_span_state_t state;
    int form; /* ELIZA_ALLOWED_*, or a negative status: the rest is not known */
} moment;

typedef struct {
    eliza_matcher *matcher;
    moment after[DEPTH_MAX + 1]; /* so many tokens */
    size_t n;
} subject;

static subject all[MATCHERS];
static int searches;

static moment now(eliza_matcher *matcher) {
    moment seen;
    memset(&seen, 0, sizeof seen);
    seen.form = mask_of(matcher, seen.mask);
    seen.state.struct_size = sizeof seen.state;
    if (seen.form >= 0 && eliza_inference_matcher_state(matcher, &seen.state) < 0) seen.form = ELIZA_ERR_LIMIT;
    return seen;
}

static void check_is(eliza_matcher *matcher, const moment *before) {
    moment seen = now(matcher);
    if (seen.form >= 0 && before->form >= 0) CHECK(memcmp(&seen, before, sizeof seen) == 0);
}

static void remember(subject *of) {
    of->after[of->n] = now(of->matcher);
}

static void reset(subject *of) {
    CHECK(eliza_inference_matcher_reset(of->matcher) == ELIZA_OK);
    of->n = 0;
    remember(of);
}

static void accept(subject *of, int32_t token) {
    const moment *before = &of->after[of->n];
    int step = eliza_inference_matcher_accept(of->matcher, token);
    if (token < 0 || token >= N_TOKENS) {
        CHECK(step == ELIZA_ERR_INVALID_ARG);
        check_is(of->matcher, before);
    } else if (step < 0) {
        CHECK(is_over_budget(step));
        check_is(of->matcher, before);
    } else {
        bool is_refused = step & ELIZA_STEP_REFUSED;
        if (before->form >= 0) CHECK(is_refused == !has(before->mask, token));
        if (is_refused) {
            CHECK(step == ELIZA_STEP_REFUSED);
            check_is(of->matcher, before);
            return;
        }
        of->n++;
        remember(of);
        const moment *after = &of->after[of->n];
        if (before->form < 0 || after->form < 0) return;
        CHECK((int)(after->state.spans_ended - before->state.spans_ended) == !!(step & ELIZA_STEP_SPAN_ENDED));
        CHECK((int)(after->state.spans_started - before->state.spans_started) == !!(step & ELIZA_STEP_SPAN_STARTED));
        CHECK((int)(after->state.timeouts - before->state.timeouts) == !!(step & ELIZA_STEP_TIMED_OUT));
        if (of->n == DEPTH_MAX) reset(of);
    }
}

static void accept_legal(subject *of, uint32_t chosen) {
    const moment *before = &of->after[of->n];
    if (before->form < 0) return;
    for (int32_t i = 0; i < N_TOKENS; i++) {
        int32_t token = (int32_t)((chosen + (uint32_t)i) % N_TOKENS);
        if (has(before->mask, token)) return accept(of, token);
    }
}

static void roll_back(subject *of, size_t n) {
    int status = eliza_inference_matcher_rollback(of->matcher, n);
    CHECK(status == (n <= of->n ? ELIZA_OK : ELIZA_ERR_INVALID_ARG));
    if (status == ELIZA_OK) of->n -= n;
    check_is(of->matcher, &of->after[of->n]);
}

static void clone(const subject *from, subject *to) {
    if (from == to) return;
    eliza_inference_matcher_free(to->matcher);
    *to = *from;
    to->matcher = NULL;
    CHECK(eliza_inference_matcher_clone(from->matcher, &to->matcher) == ELIZA_OK);
    check_is(to->matcher, &to->after[to->n]);
}

static void activate(subject *of, uint8_t which) {
    static const char *const paths[] = {"p", "q", "", "choices", "none", "p\0"};
    const char *path = paths[which % 6];
    int status = eliza_inference_matcher_activate(of->matcher, path, which % 6 == 5 ? 2 : strlen(path));
    CHECK(status == ELIZA_OK || status == ELIZA_ERR_UNKNOWN_PATH || is_over_budget(status));
    if (status < 0) {
        check_is(of->matcher, &of->after[of->n]);
    } else {
        remember(of);
        if (of->after[of->n].form >= 0) CHECK(of->after[of->n].state.active == 1);
    }
}

/* Whatever is asked changes nothing. */
static void ask(subject *of, uint64_t seed) {
    const moment *before = &of->after[of->n];
    if (searches++ < SEARCHES_MAX && before->form >= 0) {
        check_accepted_are(of->matcher, before->mask);
        check_forced(of->matcher);
        check_choices(of->matcher, before->mask, before->form, seed);
    }
    const char *name;
    size_t n;
    int status = eliza_inference_matcher_leaf(of->matcher, &name, &n);
    CHECK(status == ELIZA_OK);
    CHECK((name == NULL) == (n == 0) || n == 0);
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    CHECK(eliza_inference_matcher_info(of->matcher, &info) == ELIZA_OK);
    CHECK(info.retained_bytes >= info.history_bytes);
    check_is(of->matcher, before);
}

static void fill_all(void) {
    eliza_matcher *matchers[MATCHERS];
    int32_t rows[MATCHERS][N_WORDS + 1];
    size_t n = 0;
    for (int i = 0; i < MATCHERS; i++)
        if (all[i].matcher != NULL) matchers[n++] = all[i].matcher;
    int status = eliza_inference_matcher_fill_bitmaps(matchers, n, rows[0], N_WORDS + 1, 1);
    CHECK(status >= 0 || is_over_budget(status));
    n = 0;
    for (int i = 0; status >= 0 && i < MATCHERS; i++) {
        if (all[i].matcher == NULL) continue;
        const moment *before = &all[i].after[all[i].n];
        if (before->form >= 0) CHECK(memcmp(rows[n], before->mask, sizeof before->mask) == 0 && rows[n][N_WORDS] == 0);
        n++;
    }
}

static void mask_all(void) {
    eliza_matcher *matchers[MATCHERS];
    static uint16_t rows[MATCHERS][N_TOKENS + 1];
    size_t n = 0;
    for (int i = 0; i < MATCHERS; i++)
        if (all[i].matcher != NULL) matchers[n++] = all[i].matcher;
    memset(rows, 0, sizeof rows);
    int status = eliza_inference_matcher_mask_rows(matchers, n, rows, ELIZA_LOGITS_F16, N_TOKENS + 1, N_TOKENS + 1, NULL, 1);
    CHECK(status == ELIZA_OK || is_over_budget(status));
    n = 0;
    for (int i = 0; i < MATCHERS; i++) {
        if (all[i].matcher == NULL) continue;
        const moment *before = &all[i].after[all[i].n];
        CHECK(rows[n][N_TOKENS] == (status == ELIZA_OK ? 0xfc00 : 0));
        for (int token = 0; before->form >= 0 && status == ELIZA_OK && token < N_TOKENS; token++)
            CHECK((rows[n][token] == 0) == (before->mask[token / 32] >> (token % 32) & 1));
        n++;
    }
}

static void call(input *in) {
    uint8_t which = take(in);
    subject *of = &all[which / 16 % MATCHERS];
    if (of->matcher == NULL) of = &all[0];
    switch (which % 16) {
        case 0:
        case 1: return accept(of, (int32_t)take_below(in, N_TOKENS));
        case 2: return accept(of, take(in)); /* a byte */
        case 3: return accept(of, (int32_t)take_word(in));
        case 4:
        case 5:
        case 6: return accept_legal(of, take_below(in, N_TOKENS));
        case 7: return accept_legal(of, TOKEN_END);
        case 8:
        case 9: return roll_back(of, take(in) % (DEPTH_MAX / 4));
        case 10: return clone(of, &all[take(in) % MATCHERS]);
        case 11: return activate(of, take(in));
        case 12:
            CHECK(eliza_inference_matcher_deactivate(of->matcher) == ELIZA_OK);
            return remember(of);
        case 13: return reset(of);
        case 14: {
            uint32_t timeout = take(in) % 8;
            int status = eliza_inference_matcher_set_span_timeout(of->matcher, timeout);
            CHECK(status == (timeout == 0 ? ELIZA_ERR_INVALID_ARG : ELIZA_OK));
            CHECK(eliza_inference_matcher_set_seed(of->matcher, timeout) == ELIZA_OK);
            return check_is(of->matcher, &of->after[of->n]);
        }
        default: break;
    }
    switch (take(in) % 4) {
        case 0: return fill_all();
        case 1: return mask_all();
        default: return ask(of, take_word(in));
    }
}

static eliza_matcher *begin(const eliza_constraint *constraint, uint32_t sampled, input *in) {
    static const int32_t ends[] = {TOKEN_OTHER_END, TOKEN_TOOL, 'b'};
    uint8_t how = take(in);
    eliza_span_config_t config = {.struct_size = sizeof config, .span_timeout = how / 32 % 2 ? how / 64 + 2 : 0};
    if (sampled >= N_TREES && how % 4 != 0) {
        config.end = ends;
        config.n_end = how % 4 - 1;
    }
    if (sampled >= N_TREES && how / 4 % 4 == 1) {
        config.prefill = (const uint8_t *)"<ab";
        config.prefill_len = how / 16 % 2 ? 3 : 1;
    }
    eliza_matcher *matcher = NULL;
    char *error = NULL;
    check_error(eliza_inference_matcher_create_span(constraint, &config, &matcher, &error), error);
    return matcher;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    begin_input(data, size);
    input in = {data, size};
    uint8_t first = take(&in);
    uint32_t sampled = first % N_SAMPLES;
    eliza_constraint *constraint = sample(sampled, first / N_SAMPLES % 4 == 3 ? hostile_vocabulary() : vocabulary());
    searches = 0;
    all[0].matcher = constraint != NULL ? begin(constraint, sampled, &in) : NULL;
    all[0].n = 0;
    if (all[0].matcher != NULL) {
        remember(&all[0]);
        for (int i = 0; i < CALLS_MAX && in.left > 0; i++) call(&in);
    }
    for (int i = 0; i < MATCHERS; i++) {
        eliza_inference_matcher_free(all[i].matcher);
        all[i].matcher = NULL;
    }
    eliza_inference_constraint_free(constraint);
    end_input();
    return 0;
}
