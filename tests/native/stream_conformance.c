/* Walks the conformance cases of streams through the C ABI: stream_conformance MODEL.gguf, in a folder for files. What is in
 * a case says `stream_case` of tests/conformance/case.schema.json. */
#include "cases.h"

/* What is being checked, for messages. */
static const char *current_file, *current_name;
static size_t current_step;

static void fail(const char *what) {
    checks_failed++;
    fprintf(stderr, "%s: %s: step %zu: %s\n", current_file, current_name, current_step, what);
}

static const char *model_file;
static EliInferenceContext *context;
static eliza_vocab *vocabulary;
static EliLlmStream *stream;

static void expect_octets(const char *what, const char *actual, size_t length, const json *expected) {
    buffer wanted = octets(expected), found = {0};
    append(&wanted, "", 1);
    append(&found, actual, length);
    append(&found, "", 1);
    expect_text(what, found.bytes, wanted.bytes);
    free(wanted.bytes);
    free(found.bytes);
}

static void expect_tokens(const char *what, const int *tokens, size_t n, const json *pieces) {
    expect_number(what, (long long)n, (long long)pieces->length);
    for (size_t i = 0; i < n && i < pieces->length; i++) {
        const uint8_t *bytes = NULL;
        size_t length = 0;
        eliza_inference_vocab_token(vocabulary, tokens[i], &bytes, &length, NULL);
        expect_octets(what, (const char *)bytes, length, &pieces->items[i]);
    }
}

static eliza_llm_stream_stats_t stats_of_stream(void) {
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    expect_number("stats", eliza_inference_llm_stream_stats(stream, &stats), ELIZA_OK);
    return stats;
}

/* Texts as tokens */

typedef struct {
    int32_t *ids; /* to be freed */
    size_t n;
} ids_of;

static void append_text(ids_of *out, const char *text, size_t length, int add_special) {
    int *tokens = NULL;
    size_t n = 0;
    int status = eliza_inference_tokenize(context, text, length, add_special, 1, &tokens, &n, NULL);
    expect_number("tokenize", status, ELIZA_OK);
    out->ids = realloc(out->ids, (out->n + n + 1) * sizeof *out->ids);
    for (size_t i = 0; i < n; i++) out->ids[out->n++] = tokens[i];
    eliza_inference_free_tokens(tokens);
}

static ids_of ids_of_texts(const json *texts) {
    ids_of out = {calloc(1, sizeof *out.ids), 0};
    for (size_t i = 0; texts && i < texts->length; i++) append_text(&out, texts->items[i].text, texts->items[i].length, 0);
    return out;
}

/* Constraints */

static void append_string(buffer *out, const char *text) {
    append(out, text, strlen(text));
}

/* An array of the tokens of a text. */
static void append_ids(buffer *out, const json *texts, size_t n_texts) {
    ids_of tokens = {calloc(1, sizeof *tokens.ids), 0};
    for (size_t i = 0; i < n_texts; i++) append_text(&tokens, texts[i].text, texts[i].length, 0);
    append_string(out, "[");
    for (size_t i = 0; i < tokens.n; i++) {
        char number[16];
        snprintf(number, sizeof number, "%s%d", i ? "," : "", (int)tokens.ids[i]);
        append_string(out, number);
    }
    append_string(out, "]");
    free(tokens.ids);
}

/* No name, path or pattern in a case has a character that JSON escapes. */
static void append_descriptor(buffer *out, const json *data) {
    const json *leaves = json_get(data, "leaves"), *regex = json_get(data, "regex");
    const json *triggers = json_get(data, "trigger"), *end = json_get(data, "end");
    append_string(out, "{\"path\":\"");
    append_string(out, json_get(data, "path")->text);
    append_string(out, regex ? "\",\"regex\":\"" : "\",\"leaves\":[");
    if (regex) append_string(out, regex->text);
    for (size_t i = 0; leaves && i < leaves->length; i++) {
        append_string(out, i ? ",{\"name\":\"" : "{\"name\":\"");
        append_string(out, leaves->items[i].text);
        append_string(out, "\",\"tokens\":");
        append_ids(out, &leaves->items[i], 1);
        append_string(out, "}");
    }
    append_string(out, regex ? "\"" : "]");
    for (size_t i = 0; triggers && i < triggers->length; i++) {
        append_string(out, i ? "," : ",\"trigger\":[");
        append_ids(out, &triggers->items[i], 1);
    }
    append_string(out, triggers ? "]" : "");
    if (end) {
        append_string(out, ",\"end\":");
        append_ids(out, end->items, end->length);
    }
    append_string(out, "}");
}

static int constrain_by_tree(const json *descriptors, int mode) {
    buffer payload = {0};
    append_string(&payload, "{\"modelId\":\"\",\"descriptors\":[");
    for (size_t i = 0; i < descriptors->length; i++) {
        if (i) append_string(&payload, ",");
        append_descriptor(&payload, &descriptors->items[i]);
    }
    append_string(&payload, "]}");
    int status = eliza_inference_set_token_trie(stream, payload.bytes, payload.length, mode);
    free(payload.bytes);
    return status;
}

static eliza_constraint *recognizer_of(const eliza_vocab *vocab, const json *data) {
    const json *regex = json_get(data, "regex"), *grammar = json_get(data, "grammar");
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_ms_max = (uint64_t)json_integer(data, "mask_ms_max", 0)};
    eliza_constraint *made = NULL;
    int status = regex ? eliza_inference_constraint_create_regex(vocab, regex->text, regex->length, 0, &config, &made, NULL)
                       : eliza_inference_constraint_create_lark(vocab, grammar->text, grammar->length, &config, &made, NULL);
    expect_number("create", status, ELIZA_OK);
    return made;
}

static int run_constrain(const json *step) {
    const json *data = json_get(step, "constraint"), *tree = json_get(data, "tree");
    const int mode = (int)json_integer(step, "mode", ELIZA_MODE_GREEDY);
    if (tree) return constrain_by_tree(tree, mode);
    eliza_constraint *made = recognizer_of(vocabulary, data);
    const json *end = json_get(step, "end"), *prefill = json_get(step, "prefill");
    ids_of end_ids = ids_of_texts(end);
    eliza_span_config_t config = {.struct_size = sizeof config,
                                  .span_timeout = (uint32_t)json_integer(step, "span_timeout", 0),
                                  .end = end ? end_ids.ids : NULL,
                                  .n_end = end_ids.n,
                                  .prefill = prefill ? (const uint8_t *)prefill->text : NULL,
                                  .prefill_len = prefill ? prefill->length : 0};
    int status = eliza_inference_set_constraint(stream, made, mode, &config);
    eliza_inference_constraint_free(made);
    free(end_ids.ids);
    return status;
}

/* The verbs. Each gives the status of its call. */

static void run_step(const json *step);

static int run_prefill(const json *step) {
    const json *text = json_get(step, "text"), *given = json_get(step, "tokens"), *healed = json_get(step, "healed");
    eliza_llm_stream_stats_t stats = stats_of_stream();
    ids_of tokens = {calloc(given ? given->length + 1 : 1, sizeof *tokens.ids), 0};
    for (size_t i = 0; given && i < given->length; i++) tokens.ids[tokens.n++] = (int32_t)given->items[i].integer;
    if (text) {
        buffer prompt = octets(text);
        append_text(&tokens, prompt.bytes, prompt.length, stats.context_tokens + stats.pending_tokens == 0);
        free(prompt.bytes);
    }
    if (healed) {
        buffer taken = {0};
        size_t n_kept = 0;
        append(&taken, "", 0);
        expect_number("heal", eliza_inference_vocab_heal(vocabulary, tokens.ids, tokens.n, &n_kept, NULL), ELIZA_OK);
        for (size_t i = n_kept; i < tokens.n; i++) {
            const uint8_t *bytes = NULL;
            size_t length = 0;
            eliza_inference_vocab_token(vocabulary, tokens.ids[i], &bytes, &length, NULL);
            append(&taken, (const char *)bytes, length);
        }
        expect_octets("what is healed", taken.bytes, taken.length, healed);
        free(taken.bytes);
        tokens.n = n_kept;
    }
    int status = eliza_inference_llm_stream_prefill(stream, tokens.ids, tokens.n, NULL);
    free(tokens.ids);
    return status;
}

static int run_next(const json *step) {
    int32_t tokens[32];
    char text[1024];
    size_t n = 0;
    int status = eliza_inference_llm_stream_next(stream, tokens, (size_t)json_integer(step, "max_tokens", 32), &n, text,
                                                 (size_t)json_integer(step, "max_text_bytes", 1024), NULL, NULL, NULL);
    if (status < 0) return status;
    const json *pieces = json_get(step, "tokens"), *expected = json_get(step, "text"), *done = json_get(step, "done");
    if (pieces) expect_tokens("tokens", tokens, n, pieces);
    if (expected) expect_text("text", text, expected->text);
    if (done) expect_number("done", status, done->integer);
    return ELIZA_OK;
}

typedef struct {
    const json *inside; /* NULL: nothing happens in it */
    int64_t n;
    buffer text;
} callback_state;

static int on_token(int32_t token, const char *text, void *user_data) {
    callback_state *state = user_data;
    (void)token;
    append_string(&state->text, text);
    if (++state->n != json_integer(state->inside, "token", 0)) return 0;
    const json *calls = json_get(state->inside, "calls");
    for (size_t i = 0; calls && i < calls->length; i++) run_step(&calls->items[i]);
    return json_get(state->inside, "stop") != NULL;
}

/* What the running step says of drafts, NULL if nothing; and of how many the verifier was told. */
static const json *drafts;
static size_t n_drafts;

static void on_draft(const EliVerifierEvent *event, void *user_data) {
    (void)user_data;
    if (!drafts || n_drafts++ >= drafts->length) return;
    const json *expected = &drafts->items[n_drafts - 1], *rejected = json_get(expected, "rejected");
    expect_tokens("accepted", event->accepted_token_ids, event->n_accepted, json_get(expected, "accepted"));
    expect_number("rejected from", event->rejected_from, rejected ? rejected->items[0].integer : -1);
    expect_number("rejected to", event->rejected_to, rejected ? rejected->items[1].integer : -1);
    expect_tokens("corrected", event->corrected_token_ids, event->n_corrected, json_get(expected, "corrected"));
}

static int run_generate(const json *step) {
    callback_state state = {.inside = json_get(step, "inside")};
    drafts = json_get(step, "drafts");
    n_drafts = 0;
    int32_t max_tokens = (int32_t)json_integer(step, "max_tokens", 0);
    append(&state.text, "", 0);
    int status = eliza_inference_llm_stream_generate(stream, max_tokens, on_token, &state, NULL);
    const json *text = json_get(step, "text");
    if (status >= 0 && text) expect_octets("text", state.text.bytes, state.text.length, text);
    if (state.inside) expect_number("called so often", state.n >= json_integer(state.inside, "token", 0), 1);
    if (drafts) expect_number("drafts", (long long)n_drafts, (long long)drafts->length);
    drafts = NULL;
    free(state.text.bytes);
    return status;
}

/* Of bindings; in C it is these calls. */
static int run_choose(const json *step) {
    const json *path = json_get(step, "path"), *result = json_get(step, "result");
    callback_state state = {0};
    const char *leaf = NULL;
    size_t length = 0;
    append(&state.text, "", 0);
    expect_number("constrain", run_constrain(step), ELIZA_OK);
    if (path) expect_number("activate", eliza_inference_llm_stream_activate(stream, path->text, path->length), ELIZA_OK);
    eliza_inference_llm_stream_set_stop_at_span_end(stream, 1);
    int status = eliza_inference_llm_stream_generate(stream, 0, on_token, &state, NULL);
    expect_number("leaf", eliza_inference_llm_stream_leaf(stream, &leaf, &length), ELIZA_OK);
    if (leaf) expect_octets("leaf", leaf, length, result);
    else expect_octets("text", state.text.bytes, state.text.length, result);
    eliza_inference_llm_stream_set_stop_at_span_end(stream, 0);
    eliza_inference_clear_constraint(stream);
    free(state.text.bytes);
    return status;
}

typedef struct {
    const json *calls;
    size_t n_asked;
} busy_tokenizer;

static int32_t spell(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    busy_tokenizer *tokenizer = user_data;
    for (size_t i = 0; i < tokenizer->calls->length; i++) run_step(&tokenizer->calls->items[i]);
    tokenizer->n_asked++;
    ids_of tokens = {NULL, 0};
    append_text(&tokens, (const char *)text, length, 0);
    for (size_t i = 0; i < tokens.n && i < cap; i++) out[i] = tokens.ids[i];
    free(tokens.ids);
    return (int32_t)tokens.n;
}

static int run_reenter(const json *step) {
    busy_tokenizer tokenizer = {json_get(step, "calls"), 0};
    eliza_vocab *asking = NULL;
    expect_number("vocabulary", eliza_inference_vocab_from_context(context, &asking, NULL), ELIZA_OK);
    expect_number("tokenizer", eliza_inference_vocab_set_tokenizer(asking, spell, &tokenizer), ELIZA_OK);
    eliza_constraint *made = recognizer_of(asking, json_get(step, "constraint"));
    int status = eliza_inference_set_constraint(stream, made, ELIZA_MODE_GREEDY, NULL);
    if (status == ELIZA_OK) run_step(json_get(step, "step"));
    expect_number("the tokenizer was asked", tokenizer.n_asked > 0, 1);
    eliza_inference_vocab_set_tokenizer(asking, NULL, NULL);
    eliza_inference_constraint_free(made);
    eliza_inference_vocab_free(asking);
    return status;
}

static int run_clear(const json *step) {
    (void)step;
    return eliza_inference_clear_constraint(stream);
}

static int run_cancel(const json *step) {
    (void)step;
    return eliza_inference_llm_stream_cancel(stream);
}

static int run_reset(const json *step) {
    (void)step;
    return eliza_inference_llm_stream_reset(stream);
}

static int run_reset_keep(const json *step) {
    int kept = eliza_inference_llm_stream_reset_keep(stream, (int32_t)json_integer(step, "n", 0));
    if (kept < 0) return kept;
    expect_number("kept", kept, json_integer(step, "kept", -1));
    return ELIZA_OK;
}

static int run_activate(const json *step) {
    const json *path = json_get(step, "path");
    return eliza_inference_llm_stream_activate(stream, path->text, path->length);
}

static int run_save(const json *step) {
    return eliza_inference_llm_stream_save_slot(stream, json_get(step, "path")->text, NULL);
}

static int run_restore(const json *step) {
    return eliza_inference_llm_stream_restore_slot(stream, json_get(step, "path")->text, NULL);
}

static int run_set_seed(const json *step) {
    return eliza_inference_llm_stream_set_seed(stream, (uint64_t)json_integer(step, "n", 0));
}

static int run_set_sampling(const json *step) {
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_GREEDY, (float)json_get(step, "temperature")->number, 1};
    return eliza_inference_llm_stream_set_sampling(stream, &sampling);
}

static int run_set_stop_at_span_end(const json *step) {
    return eliza_inference_llm_stream_set_stop_at_span_end(stream, (int)json_integer(step, "on", 0));
}

static int run_set_span_timeout(const json *step) {
    return eliza_inference_llm_stream_set_span_timeout(stream, (uint32_t)json_integer(step, "n", 0));
}

static int run_set_time_budget_ms(const json *step) {
    return eliza_inference_llm_stream_set_time_budget_ms(stream, (uint64_t)json_integer(step, "n", 0));
}

static const struct {
    const char *name;
    int (*run)(const json *step);
} verbs[] = {
    {"prefill", run_prefill},
    {"next", run_next},
    {"generate", run_generate},
    {"choose", run_choose},
    {"reenter", run_reenter},
    {"constrain", run_constrain},
    {"clear", run_clear},
    {"cancel", run_cancel},
    {"reset", run_reset},
    {"reset_keep", run_reset_keep},
    {"activate", run_activate},
    {"save", run_save},
    {"restore", run_restore},
    {"set_seed", run_set_seed},
    {"set_sampling", run_set_sampling},
    {"set_stop_at_span_end", run_set_stop_at_span_end},
    {"set_span_timeout", run_set_span_timeout},
    {"set_time_budget_ms", run_set_time_budget_ms},
};

/* The state */

static void expect_about(const char *key, long long actual, const json *expected) {
    if (expected->type != JSON_OBJECT) {
        expect_number(key, actual, expected->integer);
        return;
    }
    if (actual < json_integer(expected, "min", actual)) expect_number(key, actual, json_integer(expected, "min", 0));
    if (actual > json_integer(expected, "max", actual)) expect_number(key, actual, json_integer(expected, "max", 0));
}

static void expect_leaf(const json *expected) {
    const char *name = NULL;
    size_t length = 0;
    expect_number("leaf", eliza_inference_llm_stream_leaf(stream, &name, &length), ELIZA_OK);
    expect_number("leaf is none", name == NULL, expected->type == JSON_NULL);
    if (name && expected->type == JSON_STRING) expect_octets("leaf", name, length, expected);
}

static void expect_state(const json *expected) {
    static const char *const stops[] = {"none",     "end_of_generation", "max_tokens", "span_end",
                                        "callback", "time_budget",       "cancelled",  "context_full"}; /* ELIZA_STOP_* */
    eliza_llm_stream_stats_t stats = stats_of_stream();
    eliza_span_state_t state = {.struct_size = sizeof state};
    expect_number("state", eliza_inference_llm_stream_state(stream, &state), ELIZA_OK);
#define OF(from, key) {#key, (long long)from.key}
    const struct {
        const char *key;
        long long value;
    } numbers[] = {
        OF(state, active), OF(state, can_stop), OF(state, constrained), OF(state, descriptor), OF(state, span_tokens),
        OF(state, spans_started), OF(state, spans_ended), OF(state, timeouts), OF(state, illegal),
        OF(stats, grammar_off), OF(stats, forward_passes), OF(stats, saved_passes), OF(stats, drafter_passes),
        OF(stats, decoded_tokens), OF(stats, emitted_tokens), OF(stats, sampled_tokens), OF(stats, forced_tokens),
        OF(stats, context_tokens), OF(stats, pending_tokens), OF(stats, drafted_tokens), OF(stats, constrained_steps),
        OF(stats, accepted_drafts), OF(stats, grammar_rejections), OF(stats, fallbacks),
    };
#undef OF
    for (size_t i = 0; i < expected->length; i++) {
        const json *value = &expected->items[i];
        size_t k = 0;
        while (k < COUNT(numbers) && strcmp(numbers[k].key, value->key) != 0) k++;
        if (k < COUNT(numbers)) expect_about(value->key, numbers[k].value, value);
        else if (strcmp(value->key, "leaf") == 0) expect_leaf(value);
        else if (strcmp(value->key, "stop") == 0)
            expect_number("stop", eliza_inference_llm_stream_stop_reason(stream), json_index(value, stops, COUNT(stops)));
        else fail("unknown key");
    }
}

/* The cases */

static void run_step(const json *step) {
    const json *error = json_get(step, "error"), *expected = json_get(step, "expect");
    size_t verb = 0;
    while (verb < COUNT(verbs) && !json_is(json_get(step, "do"), verbs[verb].name)) verb++;
    if (verb == COUNT(verbs)) {
        fail("unknown verb");
        return;
    }
    int status = verbs[verb].run(step);
    if (error) expect_failure(status, eliza_inference_llm_stream_last_error(stream), error);
    else expect_number("status", status, ELIZA_OK);
    if (expected) expect_state(expected);
}

static const char COPY[] = "copy.gguf";

static void copy_model(void) {
    static char bytes[1 << 16];
    FILE *from = fopen(model_file, "rb"), *to = fopen(COPY, "wb");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;) fwrite(bytes, 1, n, to);
    fclose(from);
    expect_number("the model is copied", fclose(to), 0);
}

static const char *text_of(const json *object, const char *key) {
    const json *value = json_get(object, key);
    return value ? value->text : NULL;
}

static float number_of(const json *object, const char *key) {
    const json *value = json_get(object, key);
    return value ? (float)value->number : 0;
}

static EliLlmStream *open_stream(const json *options, char **error) {
    const char *drafter = text_of(options, "draft_model");
    if (json_is(json_get(options, "draft_model"), "copy")) {
        copy_model();
        drafter = COPY;
    }
    eliza_llm_stream_config_t config = {
        .max_tokens = (int32_t)json_integer(options, "max_tokens", 0),
        .temperature = number_of(options, "temperature"),
        .top_p = number_of(options, "top_p"),
        .top_k = (int32_t)json_integer(options, "top_k", 0),
        .repeat_penalty = number_of(options, "repeat_penalty"),
        .draft_min = (int32_t)json_integer(options, "draft_min", 1),
        .draft_max = (int32_t)json_integer(options, "draft_max", 0),
        .mtp_drafter_path = drafter,
        .gbnf_grammar = text_of(options, "grammar"),
        .n_gpu_layers = -1,
        .cache_type_k = text_of(options, "cache_type_k"),
        .context_size = (int32_t)json_integer(options, "context_size", 256),
    };
    EliLlmStream *opened = eliza_inference_llm_stream_open(context, &config, error);
    if (!opened) return NULL;
    eliza_inference_llm_stream_set_threads(opened, 1);
    if (json_get(options, "skip_ahead")) eliza_inference_llm_stream_set_skip_ahead(opened, 0);
    return opened;
}

static void run_case(const json *data) {
    const json *error = json_get(data, "error"), *steps = json_get(data, "steps");
    char *message = NULL;
    current_name = json_get(data, "name")->text;
    current_step = 0;
    stream = open_stream(json_get(data, "stream"), &message);
    if (error) expect_failure(eliza_inference_error_status(message), message, error);
    else if (message) fail(message);
    eliza_inference_free_string(message);
    for (size_t i = 0; stream && steps && i < steps->length; i++) {
        current_step = i + 1;
        run_step(&steps->items[i]);
    }
    eliza_inference_llm_stream_close(stream);
}

int main(int argc, char **argv) {
    char *message = NULL;
    if (argc < 2) return 2;
    model_file = argv[1];
    context = eliza_inference_create(model_file, &message);
    if (!context || eliza_inference_vocab_from_context(context, &vocabulary, &message) != ELIZA_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    eliza_inference_set_verifier_callback(context, on_draft, NULL, NULL);
    size_t n_cases = 0;
    for (size_t i = 0; i < stream_files.length; i++) {
        const json *file = &stream_files.items[i], *cases = json_get(file, "cases");
        current_file = json_get(file, "name")->text;
        n_cases += cases->length;
        for (size_t j = 0; j < cases->length; j++) run_case(&cases->items[j]);
    }
    eliza_inference_vocab_free(vocabulary);
    eliza_inference_destroy(context);
    eliza_inference_trie_cache_set_limit(0); /* so that a leak checker sees an empty cache */
    printf("conformance of streams: %zu cases\n", n_cases);
    return check_report("conformance of streams");
}
