/* Walks the conformance cases through the C ABI. */
#include "cases.h"
#include "check.h"
#include "eliza_inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a recognizer is come by: what is expected is the same each time. */
typedef enum {
    COMPILED,
    UNKEPT, /* with room for next to no mask */
    OPENED, /* prepared, saved, and opened, as its vocabulary is */
    N_WAYS,
} way_of;

/* What is being checked, for messages. */
static const char *current_name;
static way_of current_way;
static size_t current_step; /* 0: before the first */

/* Of the vocabulary of the case. */
static size_t n_tokens, n_bitmap_words;

static void fail(const char *what) {
    static const char *const ways[N_WAYS] = {"compiled", "unkept", "opened"};
    checks_failed++;
    fprintf(stderr, "%s (%s): step %zu: %s\n", current_name, ways[current_way], current_step, what);
}

static void expect_number(const char *what, long long actual, long long expected) {
    if (actual == expected) {
        checks_passed++;
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "%s is %lld, expected %lld", what, actual, expected);
    fail(text);
}

static void expect_ids(const char *what, const int32_t *actual, size_t n_actual, const int32_t *expected,
                       size_t n_expected) {
    if (n_actual != n_expected) {
        expect_number(what, (long long)n_actual, (long long)n_expected);
        return;
    }
    for (size_t i = 0; i < n_actual; i++) {
        if (actual[i] != expected[i]) {
            expect_number(what, actual[i], expected[i]);
            return;
        }
    }
    checks_passed++;
}

static void expect_failure(int status, const char *message, const case_error *error) {
    expect_number("status", status, error->status);
    if (!error->message) return;
    if (strcmp(message ? message : "no message", error->message) == 0) {
        checks_passed++;
    } else {
        fail("another message than expected:");
        fprintf(stderr, "    is       %s\n    expected %s\n", message ? message : "(none)", error->message);
    }
}

/* The state */

/* What a matcher shows of itself, to tell whether it changed. */
typedef struct {
    eliza_span_state_t state;
    int form;
    uint64_t allowed; /* hash of the allowed set */
    size_t n_forced;
} look_of;

/* A bitmap, to be freed, and in what form the set is. */
static int32_t *make_bitmap(eliza_matcher *matcher, int *out_form) {
    size_t n_words = n_bitmap_words;
    int32_t *words = malloc((n_words + 2) * sizeof *words);
    words[n_words] = words[n_words + 1] = 0x55555555;
    *out_form = eliza_inference_matcher_fill_bitmap(matcher, words, n_words + 1);
    expect_number("the word beyond the bitmap", words[n_words], 0);
    expect_number("what is behind the bitmap", words[n_words + 1], 0x55555555);
    return words;
}

static look_of look(eliza_matcher *matcher) {
    look_of seen = {.state = {.struct_size = sizeof seen.state}};
    expect_number("state", eliza_inference_matcher_state(matcher, &seen.state), ELIZA_OK);
    int32_t *words = make_bitmap(matcher, &seen.form);
    for (size_t i = 0; i < n_bitmap_words; i++) seen.allowed = (seen.allowed ^ (uint32_t)words[i]) * 0x9e3779b97f4a7c15u;
    free(words);
    expect_number("forced", eliza_inference_matcher_forced(matcher, NULL, 0, &seen.n_forced), ELIZA_OK);
    return seen;
}

static int same_look(const look_of *a, const look_of *b) {
    return memcmp(&a->state, &b->state, sizeof a->state) == 0 && a->form == b->form && a->allowed == b->allowed &&
           a->n_forced == b->n_forced;
}

static void expect_bits(const int32_t *words, size_t n_words, const int32_t *allowed, size_t n_allowed) {
    for (size_t token = 0, next = 0; token < 32 * n_words; token++) {
        int wanted = allowed ? next < n_allowed && allowed[next] == (int32_t)token : token < n_tokens;
        next += (size_t)wanted;
        if ((int)((uint32_t)words[token / 32] >> token % 32 & 1) != wanted)
            expect_number("wrong bit of token", (long long)token, -1);
    }
}

/* The list, where that is the form of the set, and the bitmap, which there is in any form. */
static void expect_allowed(eliza_matcher *matcher, const case_expect *expect) {
    const int32_t *ids = NULL, *lent = NULL;
    size_t n_ids = 0, n_words = 0;
    int form = eliza_inference_matcher_allowed(matcher, &ids, &n_ids), filled;
    expect_number("everything is allowed", form == ELIZA_ALLOWED_ALL, expect->allowed == NULL);
    if (form == ELIZA_ALLOWED_LIST && expect->allowed)
        expect_ids("allowed", ids, n_ids, expect->allowed, expect->n_allowed);
    if (form == ELIZA_ALLOWED_BITMAP) expect_number("allowed", (long long)n_ids, (long long)expect->n_allowed);

    int32_t *words = make_bitmap(matcher, &filled);
    expect_number("form of the filled bitmap", filled, form);
    expect_bits(words, n_bitmap_words, expect->allowed, expect->n_allowed);
    expect_number("form of the lent bitmap", eliza_inference_matcher_bitmap(matcher, &lent, &n_words), form);
    expect_number("a bitmap is lent", lent != NULL, form == ELIZA_ALLOWED_BITMAP);
    if (lent) {
        expect_number("words of the lent bitmap", (long long)n_words, (long long)n_bitmap_words);
        expect_number("the lent bitmap", memcmp(lent, words, n_words * sizeof *words), 0);
    }
    free(words);
}

static void expect_forced_bytes(eliza_matcher *matcher, const case_expect *expect) {
    size_t length = 0;
    expect_number("forced bytes", eliza_inference_matcher_forced_bytes(matcher, NULL, 0, &length), ELIZA_OK);
    expect_number("length of the forced bytes", (long long)length, (long long)expect->n_forced_bytes);
    uint8_t *run = malloc(length + 1);
    run[length] = 123;
    expect_number("forced bytes", eliza_inference_matcher_forced_bytes(matcher, run, length, &length), ELIZA_OK);
    if (length == expect->n_forced_bytes && length > 0)
        expect_number("forced bytes", memcmp(run, expect->forced_bytes, length), 0);
    expect_number("what is behind the forced bytes", run[length], 123);
    free(run);
}

static void expect_forced(eliza_matcher *matcher, const case_expect *expect) {
    size_t length = 0;
    expect_number("forced", eliza_inference_matcher_forced(matcher, NULL, 0, &length), ELIZA_OK);
    int32_t *run = malloc((length + 1) * sizeof *run);
    run[length] = 12345;
    expect_number("forced", eliza_inference_matcher_forced(matcher, run, length, &length), ELIZA_OK);
    expect_ids("forced", run, length, expect->forced, expect->n_forced);
    expect_number("what is behind the forced run", run[length], 12345);
    free(run);
}

static void expect_leaf(const eliza_matcher *matcher, const case_expect *expect) {
    const char *name = "";
    size_t length = 1;
    expect_number("leaf", eliza_inference_matcher_leaf(matcher, &name, &length), ELIZA_OK);
    expect_number("leaf is none", name == NULL, expect->leaf == NULL);
    expect_number("length of the leaf's name", (long long)length, (long long)expect->leaf_length);
    if (name && expect->leaf && length == expect->leaf_length)
        expect_number("leaf's name", memcmp(name, expect->leaf, length), 0);
}

static void expect_state(eliza_matcher *matcher, const case_expect *expect) {
    eliza_span_state_t state = {.struct_size = sizeof state};
    expect_number("state", eliza_inference_matcher_state(matcher, &state), ELIZA_OK);
    if (expect->given & GIVEN_ACTIVE) expect_number("active", state.active, expect->active);
    if (expect->given & GIVEN_CAN_STOP) {
        expect_number("can_stop", state.can_stop, expect->can_stop);
        expect_number("can_stop", eliza_inference_matcher_can_stop(matcher), expect->can_stop);
    }
    if (expect->given & GIVEN_CONSTRAINED) expect_number("constrained", state.constrained, expect->constrained);
    if (expect->given & GIVEN_DESCRIPTOR) expect_number("descriptor", state.descriptor, expect->descriptor);
    if (expect->given & GIVEN_ALLOWED) {
        expect_allowed(matcher, expect);
        expect_number("n_allowed", state.n_allowed, (long long)expect->n_allowed);
    }
    if (expect->given & GIVEN_FORCED) expect_forced(matcher, expect);
    if (expect->given & GIVEN_FORCED_BYTES) expect_forced_bytes(matcher, expect);
    if (expect->given & GIVEN_LEAF) expect_leaf(matcher, expect);
    if (expect->given & GIVEN_SPAN_TOKENS) expect_number("span_tokens", state.span_tokens, expect->span_tokens);
    if (expect->given & GIVEN_SPANS_STARTED)
        expect_number("spans_started", (long long)state.spans_started, (long long)expect->spans_started);
    if (expect->given & GIVEN_SPANS_ENDED)
        expect_number("spans_ended", (long long)state.spans_ended, (long long)expect->spans_ended);
    if (expect->given & GIVEN_TIMEOUTS)
        expect_number("timeouts", (long long)state.timeouts, (long long)expect->timeouts);
    if (expect->given & GIVEN_ILLEGAL)
        expect_number("illegal", (long long)state.illegal, (long long)expect->illegal);
}

/* The steps */

static float *make_logits(const case_step *step) {
    float *logits = malloc((step->n + 1) * sizeof *logits);
    for (size_t i = 0; i < step->n; i++) logits[i] = step->fill;
    for (size_t i = 0; i < step->n_logits; i++) logits[step->logits[i].id] = step->logits[i].value;
    return logits;
}

static int is_kept(const case_step *step, int32_t id) {
    if (!step->ids) return step->n_ids == 0;
    for (size_t i = 0; i < step->n_ids; i++)
        if (step->ids[i] == id) return 1;
    return 0;
}

static int run_mask(eliza_matcher *matcher, const case_step *step) {
    float *before = make_logits(step), *after = make_logits(step);
    int status = eliza_inference_matcher_mask_logits(matcher, after, step->n);
    for (size_t i = 0; status == ELIZA_OK && i < step->n; i++) {
        int right = is_kept(step, (int32_t)i) ? memcmp(&before[i], &after[i], sizeof before[i]) == 0
                                              : after[i] == -INFINITY;
        if (!right) expect_number("wrong logit after mask, of token", (long long)i, -1);
    }
    free(before);
    free(after);
    return status;
}

static int run_sample(eliza_matcher *matcher, const case_step *step) {
    eliza_sampling_t sampling = {sizeof sampling, step->mode, step->temperature, step->top_p};
    float *logits = make_logits(step);
    int status = ELIZA_OK;
    size_t draws = step->error.status ? 1 : step->n_ids;
    for (size_t i = 0; i < draws && status == ELIZA_OK; i++) {
        int32_t token = -1;
        status = eliza_inference_matcher_sample(matcher, logits, step->n, &sampling, &token);
        if (status == ELIZA_OK && i < step->n_ids) expect_number("sampled token", token, step->ids[i]);
    }
    free(logits);
    return status;
}

/* Of clones, each taken back to its place: all at once as one by one. */
static int run_fill_bitmaps(eliza_matcher *matcher, const case_step *step) {
    eliza_matcher **clones = calloc(step->n_rows + 1, sizeof *clones);
    int32_t *words = calloc(step->n_rows * step->n + 1, sizeof *words), *alone = calloc(step->n, sizeof *alone);
    for (size_t i = 0; i < step->n_rows; i++) {
        expect_number("clone", eliza_inference_matcher_clone(matcher, &clones[i]), ELIZA_OK);
        expect_number("rollback", eliza_inference_matcher_rollback(clones[i], step->rows[i].rollback), ELIZA_OK);
    }
    int status = eliza_inference_matcher_fill_bitmaps(clones, step->n_rows, words, step->n, step->n_threads);
    for (size_t i = 0; i < step->n_rows; i++) {
        const int32_t *row = words + i * step->n;
        if (status == ELIZA_OK) {
            expect_bits(row, step->n, step->rows[i].allowed, step->rows[i].n_allowed);
            expect_number("form of the bitmap is known", eliza_inference_matcher_fill_bitmap(clones[i], alone, step->n) >= 0, 1);
            expect_number("the bitmap of the matcher alone", memcmp(alone, row, step->n * sizeof *row), 0);
        }
        eliza_inference_matcher_free(clones[i]);
    }
    free(clones);
    free(words);
    free(alone);
    return status;
}

/* The first token that is just one byte, by the byte; set by make_vocabulary. */
static int32_t single_byte_tokens[256];

static int run_text(eliza_matcher *matcher, const case_step *step) {
    for (size_t i = 0; i < step->n * step->path_length; i++) {
        int result = eliza_inference_matcher_accept(matcher, single_byte_tokens[(uint8_t)step->path[i % step->path_length]]);
        if (result != ELIZA_STEP_IN_SPAN) {
            expect_number("result of byte", result, ELIZA_STEP_IN_SPAN);
            break;
        }
    }
    return ELIZA_OK;
}

static int run_call(eliza_matcher *matcher, const case_step *step) {
    switch (step->kind) {
    case STEP_ACCEPT: return eliza_inference_matcher_accept(matcher, step->token);
    case STEP_TEXT: return run_text(matcher, step);
    case STEP_ROLLBACK: return eliza_inference_matcher_rollback(matcher, step->n);
    case STEP_ACTIVATE: return eliza_inference_matcher_activate(matcher, step->path, step->path_length);
    case STEP_DEACTIVATE: return eliza_inference_matcher_deactivate(matcher);
    case STEP_RESET: return eliza_inference_matcher_reset(matcher);
    case STEP_CLONE: return ELIZA_OK; /* by run_steps */
    case STEP_SET_SPAN_TIMEOUT: return eliza_inference_matcher_set_span_timeout(matcher, (uint32_t)step->n);
    case STEP_SET_SEED: return eliza_inference_matcher_set_seed(matcher, step->n);
    case STEP_MASK: return run_mask(matcher, step);
    case STEP_SAMPLE: return run_sample(matcher, step);
    case STEP_FILL_BITMAPS: return run_fill_bitmaps(matcher, step);
    }
    return ELIZA_OK;
}

/* An original keeps its look while its clone goes on, and is freed after it. */
static eliza_matcher *run_steps(eliza_matcher *matcher, const conformance_case *c, size_t first) {
    for (size_t i = first; i < c->n_steps; i++) {
        const case_step *step = &c->steps[i];
        current_step = i + 1;
        if (step->kind == STEP_CLONE) {
            look_of before = look(matcher);
            eliza_matcher *copy = NULL;
            expect_number("clone", eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
            look_of cloned = look(copy);
            expect_number("the clone is like the original", same_look(&before, &cloned), 1);
            expect_state(copy, &step->expect);
            eliza_inference_matcher_free(run_steps(copy, c, i + 1));
            look_of after = look(matcher);
            expect_number("the original is unchanged", same_look(&before, &after), 1);
            return matcher;
        }
        look_of before = look(matcher);
        int result = run_call(matcher, step);
        if (step->error.status) {
            expect_failure(result, eliza_inference_matcher_last_error(matcher), &step->error);
            look_of after = look(matcher);
            expect_number("the state is unchanged", same_look(&before, &after), 1);
        } else {
            expect_number("result", result, step->kind == STEP_ACCEPT ? step->result : ELIZA_OK);
        }
        expect_state(matcher, &step->expect);
    }
    return matcher;
}

/* The cases */

/* The parts one after the other; *offsets, to be freed, receives where each begins and the last ends. */
static char *join(const case_part *parts, size_t n_parts, uint64_t **out_offsets) {
    uint64_t *offsets = malloc((n_parts + 1) * sizeof *offsets);
    offsets[0] = 0;
    for (size_t i = 0; i < n_parts; i++) offsets[i + 1] = offsets[i] + parts[i].length * parts[i].count;
    char *joined = malloc(offsets[n_parts] + 1), *end = joined;
    for (size_t i = 0; i < n_parts; i++)
        for (size_t j = 0; j < parts[i].count; j++, end += parts[i].length) memcpy(end, parts[i].bytes, parts[i].length);
    *out_offsets = offsets;
    return joined;
}

static eliza_vocab *make_vocabulary(const case_vocabulary *v) {
    eliza_vocab_config_t config = {.struct_size = sizeof config,
                                   .n_tokens = v->size,
                                   .model_id = v->model_id,
                                   .model_id_len = v->model_id_length};
    eliza_vocab *vocab = NULL;
    n_tokens = (size_t)v->size;
    n_bitmap_words = (n_tokens + 31) / 32;
    if (!v->has_bytes) {
        expect_number("vocabulary", eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
        return vocab;
    }
    size_t n_single = n_tokens - v->n_own;
    char singles[256];
    case_part *parts = malloc((n_tokens + 1) * sizeof *parts);
    uint8_t *flags = calloc(n_tokens + 1, 1);
    for (size_t i = 0; i < n_single; i++) {
        singles[i] = (char)i;
        parts[i] = (case_part){&singles[i], 1, 1};
    }
    if (v->n_own > 0) {
        memcpy(parts + n_single, v->own, v->n_own * sizeof *parts);
        memcpy(flags + n_single, v->own_flags, v->n_own);
    }
    uint64_t *offsets;
    char *bytes = join(parts, n_tokens, &offsets);
    config.bytes = (const uint8_t *)bytes;
    config.offsets = offsets;
    config.flags = flags;
    for (size_t i = n_tokens; i-- > 0;)
        if (offsets[i + 1] - offsets[i] == 1 && flags[i] == 0) single_byte_tokens[(uint8_t)bytes[offsets[i]]] = (int32_t)i;
    expect_number("vocabulary", eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    free(bytes);
    free(offsets);
    free(parts);
    free(flags);
    return vocab;
}

static int say(void *answer) {
    return *(const int *)answer;
}

static eliza_compile_config_t config_of(const conformance_case *c) {
    return (eliza_compile_config_t){.struct_size = sizeof(eliza_compile_config_t),
                                    .states_max = c->states_max,
                                    .bytes_max = c->bytes_max,
                                    .ms_max = c->ms_max,
                                    .mask_bytes_max = current_way == UNKEPT ? 1 : c->mask_bytes_max,
                                    .cancel = c->has_cancel ? say : NULL,
                                    .user_data = (void *)&c->cancel};
}

static int compile(const conformance_case *c, const eliza_vocab *vocab, eliza_constraint **out, char **error) {
    eliza_compile_config_t config = config_of(c);
    uint64_t *offsets;
    char *text = join(c->payload, c->n_parts, &offsets);
    size_t length = offsets[c->n_parts];
    int status = ELIZA_OK;
    switch (c->source) {
    case SOURCE_TOKEN_TRIE:
        status = eliza_inference_constraint_create_token_trie(vocab, text, length, out, error);
        break;
    case SOURCE_CHOICES:
        status = eliza_inference_constraint_create_choices(vocab, (const uint8_t *)text, offsets, c->n_parts, c->flags,
                                                           &config, out, error);
        break;
    case SOURCE_REGEX:
        status = eliza_inference_constraint_create_regex(vocab, text, length, c->flags, &config, out, error);
        break;
    case SOURCE_LARK:
        status = eliza_inference_constraint_create_lark(vocab, text, length, &config, out, error);
        break;
    }
    free(text); /* nothing of it may be used from here on */
    free(offsets);
    return status;
}

static const char VOCABULARY_FILE[] = "vocabulary", CONSTRAINT_FILE[] = "constraint";

/* As files of the folder that the program runs in. */
static int save_both(const eliza_vocab *vocab, const eliza_constraint *constraint, char **error) {
    int status = eliza_inference_vocab_save(vocab, VOCABULARY_FILE, strlen(VOCABULARY_FILE), error);
    return status ? status : eliza_inference_constraint_save(constraint, CONSTRAINT_FILE, strlen(CONSTRAINT_FILE), error);
}

/* Takes the place of what was compiled. */
static void reopen(const conformance_case *c, eliza_vocab **vocab, eliza_constraint **constraint) {
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    eliza_compile_config_t config = config_of(c);
    expect_number("info", eliza_inference_constraint_recognizer_info(*constraint, &info), ELIZA_OK);
    if (info.kind == ELIZA_CONSTRAINT_TOKEN_TRIE) return; /* is not saved */
    expect_number("prepare", eliza_inference_constraint_prepare(*constraint, NULL, NULL), ELIZA_OK);
    expect_number("save", save_both(*vocab, *constraint, NULL), ELIZA_OK);
    eliza_inference_constraint_free(*constraint);
    eliza_inference_vocab_free(*vocab);
    expect_number("open", eliza_inference_vocab_open(VOCABULARY_FILE, strlen(VOCABULARY_FILE), vocab, NULL), ELIZA_OK);
    expect_number("open",
                  eliza_inference_constraint_open(*vocab, CONSTRAINT_FILE, strlen(CONSTRAINT_FILE), &config, constraint, NULL),
                  ELIZA_OK);
}

static void change_file(const char *path, int64_t flip, int64_t length) {
    if (flip == UNCHANGED && length == UNCHANGED) return;
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    int64_t n = (int64_t)fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (flip != UNCHANGED) bytes[flip < 0 ? n + flip : flip] ^= (char)0xff;
    if (length != UNCHANGED) n = length < 0 ? n + length : length;
    file = fopen(path, "wb");
    expect_number("written", (long long)fwrite(bytes, 1, (size_t)n, file), n);
    fclose(file);
}

static int open_changed(const case_open *o, const eliza_vocab *vocab, const eliza_constraint *constraint, char **error) {
    eliza_vocab *opened = NULL, *other = NULL;
    eliza_constraint *made = NULL;
    int status = save_both(vocab, constraint, error);
    if (status) return status;
    change_file(o->path, o->flip, o->length);
    if (o->as_vocabulary) {
        status = eliza_inference_vocab_open(o->path, strlen(o->path), &opened, error);
    } else {
        if (o->other) other = make_vocabulary(o->other);
        status = eliza_inference_constraint_open(other ? other : vocab, o->path, strlen(o->path), NULL, &made, error);
    }
    expect_number("something is opened", opened || made, 0);
    eliza_inference_constraint_free(made);
    eliza_inference_vocab_free(opened);
    eliza_inference_vocab_free(other);
    return status;
}

static int make_matcher(const conformance_case *c, const eliza_constraint *constraint, eliza_matcher **out, char **error) {
    static const int32_t none[1] = {0};
    eliza_span_config_t config = {.struct_size = sizeof config,
                                  .span_timeout = c->span_timeout,
                                  .end = c->n_end > 0 ? c->end : none,
                                  .n_end = c->n_end};
    if (c->has_end) return eliza_inference_matcher_create_span(constraint, &config, out, error);
    return eliza_inference_matcher_create(constraint, c->span_timeout, out, error);
}

static void expect_recognizer(const eliza_constraint *constraint, const conformance_case *c) {
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    if (c->kind >= 0) {
        expect_number("info", eliza_inference_constraint_recognizer_info(constraint, &info), ELIZA_OK);
        expect_number("kind", info.kind, c->kind);
    }
    if (c->notes && strcmp(eliza_inference_constraint_notes(constraint), c->notes) != 0) {
        fail("other notes than expected:");
        fprintf(stderr, "    are      %s\n    expected %s\n", eliza_inference_constraint_notes(constraint), c->notes);
    }
}

static void expect_info(const eliza_constraint *constraint, const case_info *expect) {
    eliza_constraint_info_t info = {.struct_size = sizeof info};
    expect_number("info", eliza_inference_constraint_info(constraint, &info), ELIZA_OK);
    if (expect->n_descriptors >= 0) expect_number("n_descriptors", info.n_descriptors, expect->n_descriptors);
    if (expect->n_leaves >= 0) expect_number("n_leaves", info.n_leaves, expect->n_leaves);
    if (expect->n_nodes >= 0) expect_number("n_nodes", info.n_nodes, expect->n_nodes);
    if (expect->longest_leaf_tokens >= 0)
        expect_number("longest_leaf_tokens", info.longest_leaf_tokens, expect->longest_leaf_tokens);
    if (expect->widest_node >= 0) expect_number("widest_node", info.widest_node, expect->widest_node);
}

static void run_case(const conformance_case *c, way_of way) {
    current_name = c->name;
    current_way = way;
    current_step = 0;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    char *error = NULL;
    eliza_vocab *vocab = make_vocabulary(&c->vocabulary);
    int status = compile(c, vocab, &constraint, &error);
    if (status == ELIZA_OK && c->open.path) status = open_changed(&c->open, vocab, constraint, &error);
    if (status == ELIZA_OK && way == OPENED) reopen(c, &vocab, &constraint);
    if (status == ELIZA_OK) {
        if (c->source == SOURCE_TOKEN_TRIE) expect_info(constraint, &c->info);
        expect_recognizer(constraint, c);
        status = make_matcher(c, constraint, &matcher, &error);
    }
    eliza_inference_vocab_free(vocab); /* matchers and constraints keep what they need */
    eliza_inference_constraint_free(constraint);

    if (c->error.status) {
        expect_failure(status, error, &c->error);
    } else {
        expect_number("status", status, ELIZA_OK);
        if (error) fail(error);
    }
    eliza_inference_free_string(error);
    if (matcher) {
        expect_state(matcher, &c->expect);
        run_steps(matcher, c, 0);
    }
    eliza_inference_matcher_free(matcher);
}

int main(void) {
    for (size_t i = 0; i < n_conformance_cases; i++) {
        const conformance_case *c = &conformance_cases[i];
        int n_ways = c->source == SOURCE_TOKEN_TRIE || c->error.status ? 1 : N_WAYS;
        for (int way = COMPILED; way < n_ways; way++) run_case(c, (way_of)way);
    }
    eliza_inference_trie_cache_set_limit(0); /* so that a leak checker sees an empty cache */
    printf("conformance: %zu cases\n", n_conformance_cases);
    return check_report("conformance");
}
