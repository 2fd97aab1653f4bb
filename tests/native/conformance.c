/* Walks the conformance cases through the C ABI. What is in a case says tests/conformance/case.schema.json. */
#include "cases.h"

#include <math.h>

/* How a constraint is come by: what is expected is the same each time. */
typedef enum {
    COMPILED,
    UNKEPT, /* with room for next to no mask */
    OPENED, /* prepared, saved, and opened, as its vocabulary is */
    N_WAYS,
} way_of;

/* One run of a case. */
typedef struct {
    const json *data;
    const json *payload; /* of a token trie */
    way_of way;
} run_of;

/* What is being checked, for messages. */
static const char *current_file, *current_name;
static way_of current_way;
static size_t current_step; /* 0: before the first */

/* Of the vocabulary of the case. */
static size_t n_tokens, n_bitmap_words;
static int32_t token_of_byte[256]; /* the first token without flags that is just this byte */

static void fail(const char *what) {
    static const char *const ways[N_WAYS] = {"compiled", "unkept", "opened"};
    checks_failed++;
    fprintf(stderr, "%s: %s (%s): step %zu: %s\n", current_file, current_name, ways[current_way], current_step, what);
}

static void expect_ids(const char *what, const int32_t *actual, size_t n_actual, const json *expected) {
    if (n_actual != expected->length) {
        expect_number(what, (long long)n_actual, (long long)expected->length);
        return;
    }
    for (size_t i = 0; i < n_actual; i++) {
        if (actual[i] != expected->items[i].integer) {
            expect_number(what, actual[i], expected->items[i].integer);
            return;
        }
    }
    checks_passed++;
}

/* Of several values, one after the other; *offsets, to be freed, receives where each begins and the last ends. */
static buffer octets_of_each(const json *values, uint64_t **out_offsets) {
    uint64_t *offsets = malloc((values->length + 1) * sizeof *offsets);
    buffer out = {0};
    append(&out, "", 0);
    offsets[0] = 0;
    for (size_t i = 0; i < values->length; i++) {
        append_octets(&out, &values->items[i]);
        offsets[i + 1] = out.length;
    }
    *out_offsets = offsets;
    return out;
}

static float float_of(const json *value, float absent) {
    if (!value) return absent;
    if (json_is(value, "nan")) return NAN;
    if (json_is(value, "inf")) return INFINITY;
    if (json_is(value, "-inf")) return -INFINITY;
    return (float)value->number;
}

static int bits_of(const json *list, const char *const *names, size_t n_names) {
    int bits = 0;
    for (size_t i = 0; list && i < list->length; i++) bits |= 1 << json_index(&list->items[i], names, n_names);
    return bits;
}

static int is_all(const json *ids) {
    return json_is(ids, "all");
}

static int has_id(const json *ids, int64_t id) {
    for (size_t i = 0; i < ids->length; i++)
        if (ids->items[i].integer == id) return 1;
    return 0;
}

/* The state */

/* What a matcher shows of itself, to tell whether it changed. */
typedef struct {
    eliza_span_state_t state;
    int form;
    uint64_t allowed; /* hash of the allowed set */
    int can_tell_forced;
    size_t n_forced;
} look_of;

/* A bitmap, to be freed, and in what form the set is. */
static int32_t *make_bitmap(eliza_matcher *matcher, int *out_form) {
    size_t n_words = n_bitmap_words;
    int32_t *words = malloc((n_words + 2) * sizeof *words);
    words[n_words] = words[n_words + 1] = 0x55555555;
    *out_form = eliza_inference_matcher_fill_bitmap(matcher, words, n_words + 1);
    expect_number("the word beyond the bitmap", words[n_words], 0);
    expect_number("what is after the bitmap", words[n_words + 1], 0x55555555);
    return words;
}

static look_of look(eliza_matcher *matcher) {
    look_of seen = {.state = {.struct_size = sizeof seen.state}};
    expect_number("state", eliza_inference_matcher_state(matcher, &seen.state), ELIZA_OK);
    int32_t *words = make_bitmap(matcher, &seen.form);
    for (size_t i = 0; i < n_bitmap_words; i++) seen.allowed = (seen.allowed ^ (uint32_t)words[i]) * 0x9e3779b97f4a7c15u;
    free(words);
    seen.can_tell_forced = eliza_inference_matcher_forced(matcher, NULL, 0, &seen.n_forced) == ELIZA_OK;
    return seen;
}

static int same_look(const look_of *a, const look_of *b) {
    return memcmp(&a->state, &b->state, sizeof a->state) == 0 && a->form == b->form && a->allowed == b->allowed &&
           a->can_tell_forced == b->can_tell_forced && a->n_forced == b->n_forced;
}

static void expect_bits(const int32_t *words, size_t n_words, const json *allowed) {
    for (size_t token = 0, next = 0; token < 32 * n_words; token++) {
        int wanted = is_all(allowed) ? token < n_tokens
                                     : next < allowed->length && allowed->items[next].integer == (int64_t)token;
        next += (size_t)wanted;
        if ((int)((uint32_t)words[token / 32] >> token % 32 & 1) != wanted)
            expect_number("wrong bit of token", (long long)token, -1);
    }
}

/* The list, where that is the form of the set, and the bitmap, which there is in any form. */
static void expect_allowed(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {
    const int32_t *ids = NULL, *lent = NULL;
    size_t n_ids = 0, n_words = 0, n_expected = is_all(expected) ? 0 : expected->length;
    int form = eliza_inference_matcher_allowed(matcher, &ids, &n_ids), filled;
    expect_number("everything is allowed", form == ELIZA_ALLOWED_ALL, is_all(expected));
    if (form == ELIZA_ALLOWED_LIST && !is_all(expected)) expect_ids("allowed", ids, n_ids, expected);
    if (form == ELIZA_ALLOWED_BITMAP) expect_number("allowed", (long long)n_ids, (long long)n_expected);
    expect_number("n_allowed", state->n_allowed, (long long)n_expected);

    int32_t *words = make_bitmap(matcher, &filled);
    expect_number("form of the filled bitmap", filled, form);
    expect_bits(words, n_bitmap_words, expected);
    expect_number("form of the lent bitmap", eliza_inference_matcher_bitmap(matcher, &lent, &n_words), form);
    expect_number("a bitmap is lent", lent != NULL, form == ELIZA_ALLOWED_BITMAP);
    if (lent) {
        expect_number("words of the lent bitmap", (long long)n_words, (long long)n_bitmap_words);
        expect_number("the lent bitmap", memcmp(lent, words, n_words * sizeof *words), 0);
    }
    free(words);
}

/* Whether what is expected is that asking fails, which has given this status. */
static int expects_failure(eliza_matcher *matcher, int status, const json *expected) {
    const json *error = expected->type == JSON_OBJECT ? json_get(expected, "error") : NULL;
    if (error) expect_failure(status, eliza_inference_matcher_last_error(matcher), error);
    return error != NULL;
}

static void expect_forced_bytes(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {
    (void)state;
    if (expects_failure(matcher, eliza_inference_matcher_forced_bytes(matcher, NULL, 0, &(size_t){0}), expected)) return;
    buffer wanted = octets(expected);
    size_t length = 0;
    expect_number("forced bytes", eliza_inference_matcher_forced_bytes(matcher, NULL, 0, &length), ELIZA_OK);
    expect_number("length of the forced bytes", (long long)length, (long long)wanted.length);
    uint8_t *run = malloc(length + 1);
    run[length] = 123;
    expect_number("forced bytes", eliza_inference_matcher_forced_bytes(matcher, run, length, &length), ELIZA_OK);
    if (length == wanted.length) expect_number("forced bytes", memcmp(run, wanted.bytes, length), 0);
    expect_number("what is after the forced bytes", run[length], 123);
    free(run);
    free(wanted.bytes);
}

static void expect_forced(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {
    (void)state;
    size_t length = 0;
    if (expects_failure(matcher, eliza_inference_matcher_forced(matcher, NULL, 0, &length), expected)) return;
    expect_number("forced", eliza_inference_matcher_forced(matcher, NULL, 0, &length), ELIZA_OK);
    int32_t *run = malloc((length + 1) * sizeof *run);
    run[length] = 12345;
    expect_number("forced", eliza_inference_matcher_forced(matcher, run, length, &length), ELIZA_OK);
    expect_ids("forced", run, length, expected);
    expect_number("what is after the forced run", run[length], 12345);
    free(run);
}

static void expect_leaf(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {
    (void)state;
    const char *name = "";
    size_t length = 1;
    expect_number("leaf", eliza_inference_matcher_leaf(matcher, &name, &length), ELIZA_OK);
    expect_number("leaf is none", name == NULL, expected->type == JSON_NULL);
    expect_number("length of the leaf's name", (long long)length, (long long)expected->length);
    if (name && length == expected->length) expect_number("leaf's name", memcmp(name, expected->text, length), 0);
}

static void expect_can_stop(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {
    expect_number("can_stop", state->can_stop, expected->integer);
    expect_number("can_stop", eliza_inference_matcher_can_stop(matcher), expected->integer);
}

#define EXPECT_FIELD(field)                                                                                           \
    static void expect_##field(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected) {       \
        (void)matcher;                                                                                                \
        expect_number(#field, (long long)state->field, expected->integer);                                            \
    }
EXPECT_FIELD(active)
EXPECT_FIELD(constrained)
EXPECT_FIELD(descriptor)
EXPECT_FIELD(span_tokens)
EXPECT_FIELD(spans_started)
EXPECT_FIELD(spans_ended)
EXPECT_FIELD(timeouts)
EXPECT_FIELD(illegal)

static const struct {
    const char *key;
    void (*expect)(eliza_matcher *matcher, const eliza_span_state_t *state, const json *expected);
} state_keys[] = {
    {"active", expect_active},
    {"can_stop", expect_can_stop},
    {"constrained", expect_constrained},
    {"descriptor", expect_descriptor},
    {"allowed", expect_allowed},
    {"forced", expect_forced},
    {"forced_bytes", expect_forced_bytes},
    {"leaf", expect_leaf},
    {"span_tokens", expect_span_tokens},
    {"spans_started", expect_spans_started},
    {"spans_ended", expect_spans_ended},
    {"timeouts", expect_timeouts},
    {"illegal", expect_illegal},
};

static void expect_state(eliza_matcher *matcher, const json *expected) {
    eliza_span_state_t state = {.struct_size = sizeof state};
    expect_number("state", eliza_inference_matcher_state(matcher, &state), ELIZA_OK);
    for (size_t i = 0; expected && i < expected->length; i++) {
        size_t k = 0;
        while (k < COUNT(state_keys) && strcmp(state_keys[k].key, expected->items[i].key) != 0) k++;
        if (k == COUNT(state_keys)) fail("unknown key");
        else state_keys[k].expect(matcher, &state, &expected->items[i]);
    }
}

/* The verbs. Each gives the status of its call. */

static int run_accept(eliza_matcher *matcher, const json *step) {
    static const char *const names[] = {"in_span", "span_ended", "span_started", "timed_out", "refused"};
    int result = eliza_inference_matcher_accept(matcher, (int32_t)json_integer(step, "token", -1));
    if (result < 0) return result;
    expect_number("result", result, bits_of(json_get(step, "result"), names, COUNT(names)));
    return ELIZA_OK;
}

static int run_text(eliza_matcher *matcher, const json *step) {
    buffer text = octets(step);
    for (size_t i = 0; i < text.length; i++) {
        int result = eliza_inference_matcher_accept(matcher, token_of_byte[(uint8_t)text.bytes[i]]);
        if (result != ELIZA_STEP_IN_SPAN) {
            expect_number("result of byte", result, ELIZA_STEP_IN_SPAN);
            break;
        }
    }
    free(text.bytes);
    return ELIZA_OK;
}

static int run_rollback(eliza_matcher *matcher, const json *step) {
    return eliza_inference_matcher_rollback(matcher, (uint64_t)json_integer(step, "n", 0));
}

static int run_activate(eliza_matcher *matcher, const json *step) {
    const json *path = json_get(step, "path");
    return eliza_inference_matcher_activate(matcher, path->text, path->length);
}

static int run_deactivate(eliza_matcher *matcher, const json *step) {
    (void)step;
    return eliza_inference_matcher_deactivate(matcher);
}

static int run_reset(eliza_matcher *matcher, const json *step) {
    (void)step;
    return eliza_inference_matcher_reset(matcher);
}

static int run_set_span_timeout(eliza_matcher *matcher, const json *step) {
    return eliza_inference_matcher_set_span_timeout(matcher, (uint32_t)json_integer(step, "n", 0));
}

static int run_set_seed(eliza_matcher *matcher, const json *step) {
    return eliza_inference_matcher_set_seed(matcher, (uint64_t)json_integer(step, "seed", 0));
}

/* To be freed. */
static float *make_logits(const json *step, size_t *out_length) {
    const json *given = json_get(step, "logits");
    size_t n = (size_t)json_integer(step, "n", (int64_t)n_tokens);
    float *logits = malloc((n + 1) * sizeof *logits);
    for (size_t i = 0; i < n; i++) logits[i] = float_of(json_get(step, "fill"), 0);
    for (size_t i = 0; i < given->length; i++) logits[atoi(given->items[i].key)] = float_of(&given->items[i], 0);
    *out_length = n;
    return logits;
}

static int run_mask(eliza_matcher *matcher, const json *step) {
    size_t n;
    float *before = make_logits(step, &n), *after = make_logits(step, &n);
    const json *kept = json_get(step, "kept");
    int status = eliza_inference_matcher_mask_logits(matcher, after, n);
    for (size_t i = 0; status == ELIZA_OK && kept && i < n; i++) {
        int is_kept = is_all(kept) || has_id(kept, (int64_t)i);
        int right = is_kept ? memcmp(&before[i], &after[i], sizeof before[i]) == 0 : after[i] == -INFINITY;
        if (!right) expect_number("wrong logit after mask, of token", (long long)i, -1);
    }
    free(before);
    free(after);
    return status;
}

static int run_sample(eliza_matcher *matcher, const json *step) {
    eliza_sampling_t sampling = {sizeof sampling, (int32_t)json_integer(step, "mode", 0),
                                 float_of(json_get(step, "temperature"), 1), float_of(json_get(step, "top_p"), 1)};
    const json *expected = json_get(step, "tokens");
    size_t n, n_draws = expected ? expected->length : 1;
    float *logits = make_logits(step, &n);
    int status = ELIZA_OK;
    for (size_t i = 0; i < n_draws && status == ELIZA_OK; i++) {
        int32_t token = -1;
        status = eliza_inference_matcher_sample(matcher, logits, n, &sampling, &token);
        if (status == ELIZA_OK && expected) expect_number("sampled token", token, expected->items[i].integer);
    }
    free(logits);
    return status;
}

/* -inf in logits exactly where bitmaps have no bit, in rows that lie the other way round. */
static void expect_masked_rows(eliza_matcher *const *matchers, size_t n, const int32_t *words, size_t n_words, uint32_t n_threads) {
    size_t n_logits = n_tokens + 2, stride = n_logits + 1;
    float *logits = calloc(n * stride + 1, sizeof *logits);
    uint32_t *rows = calloc(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++) rows[i] = (uint32_t)(n - 1 - i);
    int status = eliza_inference_matcher_mask_rows(matchers, n, logits, ELIZA_LOGITS_F32, n_logits, stride, rows, n_threads);
    expect_number("mask_rows", status, ELIZA_OK);
    for (size_t i = 0; i < n; i++) {
        const float *row = logits + rows[i] * stride;
        for (size_t token = 0; token < stride; token++) {
            int is_legal = token < n_tokens && (uint32_t)words[i * n_words + token / 32] >> token % 32 & 1;
            if ((row[token] == 0) != (is_legal || token >= n_logits)) expect_number("wrong logit of token", (long long)token, -1);
        }
    }
    free(logits);
    free(rows);
}

/* Of clones, each taken back to its place: all at once as one by one. */
static int run_fill_bitmaps(eliza_matcher *matcher, const json *step) {
    const json *rows = json_get(step, "rows");
    size_t n_words = (size_t)json_integer(step, "n_words", (int64_t)n_bitmap_words);
    eliza_matcher **clones = calloc(rows->length + 1, sizeof *clones);
    int32_t *words = calloc(rows->length * n_words + 1, sizeof *words), *alone = calloc(n_words + 1, sizeof *alone);
    for (size_t i = 0; i < rows->length; i++) {
        uint64_t n = (uint64_t)json_integer(&rows->items[i], "rollback", 0);
        expect_number("clone", eliza_inference_matcher_clone(matcher, &clones[i]), ELIZA_OK);
        expect_number("rollback", eliza_inference_matcher_rollback(clones[i], n), ELIZA_OK);
    }
    uint32_t n_threads = (uint32_t)json_integer(step, "n_threads", 0);
    int status = eliza_inference_matcher_fill_bitmaps(clones, rows->length, words, n_words, n_threads);
    if (status == ELIZA_OK) expect_masked_rows(clones, rows->length, words, n_words, n_threads);
    for (size_t i = 0; i < rows->length; i++) {
        const int32_t *row = words + i * n_words;
        if (status == ELIZA_OK) {
            expect_bits(row, n_words, json_get(&rows->items[i], "allowed"));
            expect_number("form of the bitmap is known", eliza_inference_matcher_fill_bitmap(clones[i], alone, n_words) >= 0, 1);
            expect_number("the bitmap of the matcher alone", memcmp(alone, row, n_words * sizeof *row), 0);
        }
        eliza_inference_matcher_free(clones[i]);
    }
    free(clones);
    free(words);
    free(alone);
    return status;
}

/* What the tokenizer of a case does first when it is asked. */
static struct {
    eliza_matcher *matcher; /* NULL: nothing */
    const json *calls;
    size_t n_asked;
} meanwhile;

/* Calls a clone of the matcher from within a call on it. */
static int run_reenter(eliza_matcher *matcher, const json *step) {
    expect_number("clone", eliza_inference_matcher_clone(matcher, &meanwhile.matcher), ELIZA_OK);
    eliza_matcher *asked = meanwhile.matcher;
    meanwhile.calls = json_get(step, "calls");
    meanwhile.n_asked = 0;
    expect_forced(asked, NULL, json_get(step, "forced"));
    meanwhile.matcher = NULL;
    eliza_inference_matcher_free(asked);
    expect_number("the tokenizer was asked", meanwhile.n_asked > 0, 1);
    return ELIZA_OK;
}

/* All but `clone`, which run_steps does. */
static const struct {
    const char *name;
    int (*run)(eliza_matcher *matcher, const json *step);
} verbs[] = {
    {"accept", run_accept},
    {"text", run_text},
    {"rollback", run_rollback},
    {"activate", run_activate},
    {"deactivate", run_deactivate},
    {"reset", run_reset},
    {"set_span_timeout", run_set_span_timeout},
    {"set_seed", run_set_seed},
    {"mask", run_mask},
    {"sample", run_sample},
    {"fill_bitmaps", run_fill_bitmaps},
    {"reenter", run_reenter},
};

/* Of a status, which is that of the call. */
static int run_verb(eliza_matcher *matcher, const json *step) {
    for (size_t verb = 0; verb < COUNT(verbs); verb++)
        if (json_is(json_get(step, "do"), verbs[verb].name)) return verbs[verb].run(matcher, step);
    fail("unknown verb");
    return ELIZA_OK;
}

static int32_t tokenize_by_bytes(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)user_data;
    for (size_t i = 0; meanwhile.matcher && i < meanwhile.calls->length; i++) {
        const json *call = &meanwhile.calls->items[i];
        int status = run_verb(meanwhile.matcher, call);
        expect_failure(status, eliza_inference_matcher_last_error(meanwhile.matcher), json_get(call, "error"));
    }
    meanwhile.n_asked++;
    for (size_t i = 0; i < length && i < cap; i++) out[i] = token_of_byte[text[i]];
    return (int32_t)length;
}

/* The steps */

static void run_step(eliza_matcher *matcher, const json *step) {
    const json *error = json_get(step, "error");
    look_of before = look(matcher);
    int status = run_verb(matcher, step);
    if (!error) {
        expect_number("status", status, ELIZA_OK);
        return;
    }
    expect_failure(status, eliza_inference_matcher_last_error(matcher), error);
    look_of after = look(matcher);
    expect_number("the state is unchanged", same_look(&before, &after), 1);
}

/* An original keeps its look while its clone continues, and is freed after it. */
static void run_steps(eliza_matcher *matcher, const json *steps, size_t first) {
    for (size_t i = first; steps && i < steps->length; i++) {
        const json *step = &steps->items[i];
        current_step = i + 1;
        if (json_is(json_get(step, "do"), "clone")) {
            look_of before = look(matcher);
            eliza_matcher *copy = NULL;
            expect_number("clone", eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
            look_of cloned = look(copy);
            expect_number("the clone is like the original", same_look(&before, &cloned), 1);
            expect_state(copy, json_get(step, "expect"));
            run_steps(copy, steps, i + 1);
            eliza_inference_matcher_free(copy);
            look_of after = look(matcher);
            expect_number("the original is unchanged", same_look(&before, &after), 1);
            return;
        }
        run_step(matcher, step);
        expect_state(matcher, json_get(step, "expect"));
    }
}

/* Vocabularies */

static void set_tokenizer(eliza_vocab *vocab, const json *data) {
    if (!json_get(data, "tokenizer")) return;
    expect_number("set_tokenizer", eliza_inference_vocab_set_tokenizer(vocab, tokenize_by_bytes, NULL), ELIZA_OK);
}

static eliza_vocab *make_vocabulary(const json *data) {
    static const char *const flag_names[] = {"special", "end_of_generation", "unused"};
    const json *tokens = json_get(data, "tokens"), *model_id = json_get(data, "model_id");
    size_t n_single = json_get(data, "single_bytes") ? 256 : 0;
    n_tokens = tokens ? n_single + tokens->length : (size_t)json_integer(data, "size", 0);
    n_bitmap_words = (n_tokens + 31) / 32;
    buffer bytes = {0};
    uint64_t *offsets = calloc(n_tokens + 1, sizeof *offsets);
    uint8_t *flags = calloc(n_tokens + 1, 1);
    for (size_t i = 0; tokens && i < n_tokens; i++) {
        const char single = (char)i;
        if (i < n_single) {
            append(&bytes, &single, 1);
        } else {
            append_octets(&bytes, &tokens->items[i - n_single]);
            flags[i] = (uint8_t)bits_of(json_get(&tokens->items[i - n_single], "flags"), flag_names, COUNT(flag_names));
        }
        offsets[i + 1] = bytes.length;
    }
    for (size_t i = n_tokens; tokens && i-- > 0;)
        if (offsets[i + 1] - offsets[i] == 1 && flags[i] == 0) token_of_byte[(uint8_t)bytes.bytes[offsets[i]]] = (int32_t)i;

    append(&bytes, "", 0); /* there may be no token, but there are bytes */
    eliza_vocab_config_t config = {.struct_size = sizeof config,
                                   .n_tokens = (int32_t)n_tokens,
                                   .bytes = tokens ? (const uint8_t *)bytes.bytes : NULL,
                                   .offsets = tokens ? offsets : NULL,
                                   .flags = tokens ? flags : NULL,
                                   .model_id = model_id ? model_id->text : NULL,
                                   .model_id_len = model_id ? model_id->length : 0};
    eliza_vocab *vocab = NULL;
    expect_number("vocabulary", eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    set_tokenizer(vocab, data);
    free(bytes.bytes);
    free(offsets);
    free(flags);
    return vocab;
}

/* Constraints */

typedef struct {
    const run_of *run;
    const json *source; /* the value of the key that says the kind */
    const eliza_vocab *vocab;
    const eliza_compile_config_t *config;
} compile_input;

static int say(void *answer) {
    return ((const json *)answer)->integer != 0;
}

static eliza_compile_config_t config_of(const run_of *run) {
    const json *budget = json_get(run->data, "budget"), *cancel = json_get(budget, "cancel");
    uint64_t mask_bytes_max = (uint64_t)json_integer(budget, "mask_bytes_max", 0);
    return (eliza_compile_config_t){.struct_size = sizeof(eliza_compile_config_t),
                                    .states_max = (uint32_t)json_integer(budget, "states_max", 0),
                                    .bytes_max = (uint64_t)json_integer(budget, "bytes_max", 0),
                                    .ms_max = (uint64_t)json_integer(budget, "ms_max", 0),
                                    .mask_bytes_max = run->way == UNKEPT ? 1 : mask_bytes_max,
                                    .mask_ms_max = (uint64_t)json_integer(budget, "mask_ms_max", 0),
                                    .cancel = cancel ? say : NULL,
                                    .user_data = (void *)cancel};
}

static int compile_token_trie(const compile_input *in, eliza_constraint **out, char **error) {
    buffer payload = octets(in->run->payload);
    int status = eliza_inference_constraint_create_token_trie(in->vocab, payload.bytes, payload.length, out, error);
    free(payload.bytes);
    return status;
}

static int compile_choices(const compile_input *in, eliza_constraint **out, char **error) {
    uint64_t *offsets;
    buffer text = octets_of_each(in->source, &offsets);
    uint32_t flags = json_get(json_get(in->run->data, "constraint"), "canonical") ? ELIZA_CHOICES_CANONICAL : 0;
    int status = eliza_inference_constraint_create_choices(in->vocab, (const uint8_t *)text.bytes, offsets,
                                                           in->source->length, flags, in->config, out, error);
    free(text.bytes);
    free(offsets);
    return status;
}

static int compile_regex(const compile_input *in, eliza_constraint **out, char **error) {
    buffer text = octets(in->source);
    const json *source = json_get(in->run->data, "constraint");
    uint32_t flags = (json_get(source, "ignore_case") ? ELIZA_REGEX_IGNORE_CASE : 0) |
                     (json_get(source, "search") ? ELIZA_REGEX_SEARCH : 0);
    int status = eliza_inference_constraint_create_regex(in->vocab, text.bytes, text.length, flags, in->config, out, error);
    free(text.bytes);
    return status;
}

static int compile_gbnf(const compile_input *in, eliza_constraint **out, char **error) {
    buffer text = octets(in->source);
    const json *constraint = json_get(in->run->data, "constraint"), *root = json_get(constraint, "root");
    uint32_t flags = json_get(constraint, "ebnf") ? ELIZA_GBNF_EBNF : 0;
    int status = eliza_inference_constraint_create_gbnf(in->vocab, text.bytes, text.length, root ? root->text : NULL,
                                                        root ? root->length : 0, flags, in->config, out, error);
    free(text.bytes);
    return status;
}

static int compile_shipped(const compile_input *in, eliza_constraint **out, char **error) {
    const json *text = json_get(&shipped_grammars, in->source->text);
    return eliza_inference_constraint_create_lark(in->vocab, text->text, text->length, in->config, out, error);
}

static int give_document(const char *uri, size_t uri_len, const char **out_text, size_t *out_len, void *documents) {
    const json *object = documents;
    for (size_t i = 0; object && i < object->length; i++) {
        const json *one = &object->items[i];
        if (strlen(one->key) != uri_len || memcmp(one->key, uri, uri_len) != 0) continue;
        *out_text = one->text;
        *out_len = one->length;
    }
    return 0;
}

static int compile_grammar(const compile_input *in, eliza_constraint **out, char **error) {
    buffer text = octets(in->source);
    const json *constraint = json_get(in->run->data, "constraint"), *start = json_get(constraint, "start");
    eliza_lark_options_t options = {.struct_size = sizeof options,
                                    .start = start ? start->text : NULL,
                                    .start_len = start ? start->length : 0,
                                    .grammar = give_document,
                                    .user_data = (void *)json_get(constraint, "imports")};
    int status = eliza_inference_constraint_create_lark_with(in->vocab, text.bytes, text.length, &options, in->config, out, error);
    free(text.bytes);
    return status;
}

static int compile_json_schema(const compile_input *in, eliza_constraint **out, char **error) {
    static const char *const spaces[] = {"loose", "compact", "spaced", "any"};       /* ELIZA_JSON_SPACE_* */
    static const char *const drafts[] = {"2020-12", "2019-09", "7", "6", "4"}; /* ELIZA_JSON_DRAFT_* */
    const json *constraint = json_get(in->run->data, "constraint"), *space = json_get(constraint, "space");
    const json *draft = json_get(constraint, "draft");
    eliza_json_schema_options_t options = {.struct_size = sizeof options,
                                           .flags = json_get(constraint, "lenient") ? ELIZA_JSON_LENIENT : 0,
                                           .document = give_document,
                                           .user_data = (void *)json_get(constraint, "documents")};
    if (space) options.space = json_index(space, spaces, COUNT(spaces));
    if (json_get(constraint, "order")) options.order = ELIZA_JSON_ORDER_ANY;
    if (json_get(constraint, "numbers")) options.flags |= ELIZA_JSON_NUMBERS_DOUBLE;
    if (json_get(constraint, "additional")) options.flags |= ELIZA_JSON_ADDITIONAL_FORBID;
    if (json_get(constraint, "integer_fraction")) options.flags |= ELIZA_JSON_INTEGER_FRACTION;
    if (draft) options.draft = json_index(draft, drafts, COUNT(drafts));
    return eliza_inference_constraint_create_json_schema(in->vocab, in->source->text, in->source->length, &options, in->config,
                                                         out, error);
}

static int compile_tags(const compile_input *in, eliza_constraint **out, char **error) {
    buffer text = octets(in->source);
    int status = eliza_inference_constraint_create_tags(in->vocab, (const uint8_t *)text.bytes, text.length, in->config, out, error);
    free(text.bytes);
    return status;
}

/* By the key of the constraint that says its kind. */
static const struct {
    const char *key;
    int32_t number;
    int (*compile)(const compile_input *in, eliza_constraint **out, char **error);
} kinds[] = {
    {"token_trie", ELIZA_CONSTRAINT_TOKEN_TRIE, compile_token_trie},
    {"choices", ELIZA_CONSTRAINT_CHOICES, compile_choices},
    {"regex", ELIZA_CONSTRAINT_REGEX, compile_regex},
    {"grammar", ELIZA_CONSTRAINT_GRAMMAR, compile_grammar},
    {"gbnf", ELIZA_CONSTRAINT_GRAMMAR, compile_gbnf},
    {"shipped", ELIZA_CONSTRAINT_GRAMMAR, compile_shipped},
    {"json_schema", ELIZA_CONSTRAINT_JSON_SCHEMA, compile_json_schema},
    {"tags", ELIZA_CONSTRAINT_TAGS, compile_tags},
};

static int32_t number_of_kind(const json *name) {
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (json_is(name, kinds[i].key)) return kinds[i].number;
    return -1;
}

static int compile(const run_of *run, const eliza_vocab *vocab, eliza_constraint **out, char **error) {
    eliza_compile_config_t config = config_of(run);
    compile_input in = {.run = run, .vocab = vocab, .config = &config};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        in.source = json_get(json_get(run->data, "constraint"), kinds[i].key);
        if (in.source) return kinds[i].compile(&in, out, error);
    }
    fail("unknown kind of constraint");
    return ELIZA_ERR_INVALID_ARG;
}

/* Files, in the folder that the program runs in */

static const char VOCABULARY_FILE[] = "vocabulary", CONSTRAINT_FILE[] = "constraint";

static int save_both(const eliza_vocab *vocab, const eliza_constraint *constraint, char **error) {
    int status = eliza_inference_vocab_save(vocab, VOCABULARY_FILE, strlen(VOCABULARY_FILE), error);
    return status ? status : eliza_inference_constraint_save(constraint, CONSTRAINT_FILE, strlen(CONSTRAINT_FILE), error);
}

static uint32_t flags_of(const json *open) {
    const json *how = json_get(open, "how");
    return !how ? 0 : json_is(how, "copy") ? ELIZA_OPEN_COPY : ELIZA_OPEN_TRUSTED;
}

static void empty_file(const char *path) {
    FILE *file = fopen(path, "wb");
    fclose(file);
}

/* Takes the place of what was compiled. */
static void reopen(const run_of *run, eliza_vocab **vocab, eliza_constraint **constraint) {
    const json *open = json_get(run->data, "open");
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    eliza_compile_config_t config = config_of(run);
    expect_number("info", eliza_inference_constraint_recognizer_info(*constraint, &info), ELIZA_OK);
    if (info.kind == ELIZA_CONSTRAINT_TOKEN_TRIE) return; /* is not saved */
    expect_number("prepare", eliza_inference_constraint_prepare(*constraint, NULL, NULL), ELIZA_OK);
    expect_number("save", save_both(*vocab, *constraint, NULL), ELIZA_OK);
    eliza_inference_constraint_free(*constraint);
    eliza_inference_vocab_free(*vocab);
    int status = eliza_inference_vocab_open_with(VOCABULARY_FILE, strlen(VOCABULARY_FILE), flags_of(open), vocab, NULL);
    expect_number("open", status, ELIZA_OK);
    set_tokenizer(*vocab, json_get(run->data, "vocabulary"));
    status = eliza_inference_constraint_open_with(*vocab, CONSTRAINT_FILE, strlen(CONSTRAINT_FILE), flags_of(open), &config,
                                                  constraint, NULL);
    expect_number("open", status, ELIZA_OK);
    if (!json_get(open, "emptied")) return;
    empty_file(VOCABULARY_FILE);
    empty_file(CONSTRAINT_FILE);
}

/* Offsets and lengths below 0 are from the end. */
static void change_file(const char *path, const json *flip, const json *length) {
    if (!flip && !length) return;
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    int64_t n = (int64_t)fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (flip) bytes[flip->integer < 0 ? n + flip->integer : flip->integer] ^= (char)0xff;
    if (length) n = length->integer < 0 ? n + length->integer : length->integer;
    file = fopen(path, "wb");
    expect_number("written", (long long)fwrite(bytes, 1, (size_t)n, file), n);
    fclose(file);
}

static int open_changed(const json *data, const eliza_vocab *vocab, const eliza_constraint *constraint, char **error) {
    const json *as = json_get(data, "as"), *path = json_get(data, "path"), *other = json_get(data, "for");
    if (!path) path = as;
    eliza_vocab *opened = NULL, *owner = NULL;
    eliza_constraint *made = NULL;
    int status = save_both(vocab, constraint, error);
    if (status) return status;
    change_file(path->text, json_get(data, "flip"), json_get(data, "length"));
    if (json_is(as, "vocabulary")) {
        status = eliza_inference_vocab_open_with(path->text, path->length, flags_of(data), &opened, error);
    } else {
        if (other) owner = make_vocabulary(other);
        const eliza_vocab *own = owner ? owner : vocab;
        status = eliza_inference_constraint_open_with(own, path->text, path->length, flags_of(data), NULL, &made, error);
    }
    expect_number("something is opened", opened || made, 0);
    eliza_inference_constraint_free(made);
    eliza_inference_vocab_free(opened);
    eliza_inference_vocab_free(owner);
    return status;
}

/* The cases */

static int make_matcher(const json *data, const eliza_constraint *constraint, eliza_matcher **out, char **error) {
    const json *end = json_get(data, "end");
    const json *prefill = json_get(data, "prefill");
    uint32_t span_timeout = (uint32_t)json_integer(data, "span_timeout", 0);
    if (!end && !prefill) return eliza_inference_matcher_create(constraint, span_timeout, out, error);
    size_t n_end = end ? end->length : 0;
    int32_t *ids = calloc(n_end + 1, sizeof *ids);
    for (size_t i = 0; i < n_end; i++) ids[i] = (int32_t)end->items[i].integer;
    buffer before = {0};
    if (prefill) before = octets(prefill);
    eliza_span_config_t config = {.struct_size = sizeof config,
                                  .span_timeout = span_timeout,
                                  .end = end ? ids : NULL,
                                  .n_end = n_end,
                                  .prefill = (const uint8_t *)before.bytes,
                                  .prefill_len = before.length};
    int status = eliza_inference_matcher_create_span(constraint, &config, out, error);
    free(before.bytes);
    free(ids);
    return status;
}

/* One key of `info` after the other; a token trie alone has sizes. */
static void expect_info(const eliza_constraint *constraint, const json *expected) {
    eliza_recognizer_info_t recognizer = {.struct_size = sizeof recognizer};
    eliza_constraint_info_t trie = {.struct_size = sizeof trie};
    expect_number("info", eliza_inference_constraint_recognizer_info(constraint, &recognizer), ELIZA_OK);
    if (recognizer.kind == ELIZA_CONSTRAINT_TOKEN_TRIE)
        expect_number("info", eliza_inference_constraint_info(constraint, &trie), ELIZA_OK);
    const struct {
        const char *key;
        long long value;
    } numbers[] = {
        {"n_descriptors", trie.n_descriptors}, {"n_leaves", trie.n_leaves},
        {"n_nodes", trie.n_nodes},             {"longest_leaf_tokens", trie.longest_leaf_tokens},
        {"widest_node", trie.widest_node},
    };
    size_t n_known = 0;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        const json *value = json_get(expected, numbers[i].key);
        n_known += value != NULL;
        if (value) expect_number(numbers[i].key, numbers[i].value, value->integer);
    }
    const json *kind = json_get(expected, "kind"), *warnings = json_get(expected, "warnings");
    if (kind) expect_number("kind", recognizer.kind, number_of_kind(kind));
    if (warnings) {
        buffer lines = {0};
        for (size_t i = 0; i < warnings->length; i++) {
            if (i > 0) append(&lines, "\n", 1);
            append(&lines, warnings->items[i].text, warnings->items[i].length);
        }
        append(&lines, "", 1);
        expect_text("warnings", eliza_inference_constraint_warnings(constraint), lines.bytes);
        free(lines.bytes);
    }
    n_known += (kind != NULL) + (warnings != NULL);
    if (expected) expect_number("known keys of info", (long long)n_known, (long long)expected->length);
}

static void run_case(const run_of *run) {
    const json *data = run->data, *error = json_get(data, "error"), *open = json_get(data, "open");
    current_name = json_get(data, "name")->text;
    current_way = run->way;
    current_step = 0;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    char *message = NULL;
    eliza_vocab *vocab = make_vocabulary(json_get(data, "vocabulary"));
    int status = compile(run, vocab, &constraint, &message);
    if (status == ELIZA_OK && open && error) status = open_changed(open, vocab, constraint, &message);
    if (status == ELIZA_OK && (run->way == OPENED || (open && !error))) reopen(run, &vocab, &constraint);
    if (status == ELIZA_OK) {
        expect_info(constraint, json_get(data, "info"));
        status = make_matcher(data, constraint, &matcher, &message);
    }
    eliza_inference_vocab_free(vocab); /* matchers and constraints keep what they need */
    eliza_inference_constraint_free(constraint);

    if (error) {
        expect_failure(status, message, error);
    } else {
        expect_number("status", status, ELIZA_OK);
        if (message) fail(message);
    }
    eliza_inference_free_string(message);
    if (matcher) {
        expect_state(matcher, json_get(data, "expect"));
        run_steps(matcher, json_get(data, "steps"), 0);
    }
    eliza_inference_matcher_free(matcher);
}

/* Once for each payload; without payloads once for each way, if it compiles at all and the case says no way itself. */
static size_t run_each(const json *data) {
    const json *payloads = json_get(json_get(data, "constraint"), "token_trie");
    if (payloads) {
        for (size_t i = 0; i < payloads->length; i++) run_case(&(run_of){data, &payloads->items[i], COMPILED});
        return payloads->length;
    }
    size_t n_ways = json_get(data, "error") || json_get(data, "open") ? 1 : N_WAYS;
    for (size_t way = 0; way < n_ways; way++) run_case(&(run_of){data, NULL, (way_of)way});
    return n_ways;
}

int main(void) {
    size_t n_cases = 0, n_runs = 0;
    for (size_t i = 0; i < conformance_files.length; i++) {
        const json *file = &conformance_files.items[i], *cases = json_get(file, "cases");
        current_file = json_get(file, "name")->text;
        n_cases += cases->length;
        for (size_t j = 0; j < cases->length; j++) n_runs += run_each(&cases->items[j]);
    }
    eliza_inference_trie_cache_set_limit(0); /* so that a leak checker sees an empty cache */
    printf("conformance: %zu cases, %zu runs\n", n_cases, n_runs);
    return check_report("conformance");
}
