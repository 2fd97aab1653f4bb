/* Lets each allocation of small sessions fail, one after the other: the call in which it fails must
 * say so, change nothing and lose nothing, and the session must work when it is tried again.
 *
 *     oom_test FOLDER   where a file may be written
 *
 * The allocation functions of this program take the place of the C library's (glibc only). */
#include "check.h"
#include "eliza_inference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Allocations until one fails; below zero, none does. */
static long allocations_left = -1;
static long live_blocks;

static int fails(void) {
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *counted(void *block) {
    if (block) live_blocks++;
    return block;
}

void *malloc(size_t size) {
    return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (fails()) return NULL;
    void *moved = __libc_realloc(block, size);
    if (!block) counted(moved);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (fails()) return ENOMEM;
    *out = counted(__libc_memalign(alignment, size));
    return *out ? 0 : ENOMEM;
}

void free(void *block) {
    if (block) live_blocks--;
    __libc_free(block);
}

/* The session */

static const char PAYLOAD[] = "{\"modelId\":\"m\",\"note\":[{\"a\":\"b\"}],\"descriptors\":[{\"path\":\"action\",\"leaves\":["
                              "{\"name\":\"GO\",\"tokens\":[10,11]},{\"name\":\"GO_ON\",\"tokens\":[10,11,12]},"
                              "{\"name\":\"STOP\",\"tokens\":[20]}],\"end\":[30],\"trigger\":[[40,41],[42]]}]}";

static int n_failed_calls;

/* A status that is 0 or above passes; only an exhausted memory may fail. */
static int works(int status) {
    if (status >= 0) return 1;
    CHECK_EQUAL(status, ELIZA_ERR_OOM);
    n_failed_calls++;
    return 0;
}

static char *error;

/* The same of a call with `&error`: a message may be missing when memory is, but not half there. */
static int works_or_says(int status) {
    CHECK(status < 0 || error == NULL);
    CHECK(error == NULL || strstr(error, "memory") != NULL);
    eliza_inference_free_string(error);
    error = NULL;
    return works(status);
}

/* Accepts, or sees that a failure changed nothing and tries again. */
static void accept(eliza_matcher *matcher, int32_t token, int expected) {
    eliza_span_state_t before = {.struct_size = sizeof before}, after = before;
    if (!works(eliza_inference_matcher_state(matcher, &before))) /* finds what is legal */
        CHECK_EQUAL(eliza_inference_matcher_state(matcher, &before), ELIZA_OK);
    int result = eliza_inference_matcher_accept(matcher, token);
    if (!works(result)) {
        CHECK_EQUAL(eliza_inference_matcher_state(matcher, &after), ELIZA_OK);
        CHECK(memcmp(&before, &after, sizeof before) == 0);
        CHECK(strlen(eliza_inference_matcher_last_error(matcher)) > 5);
        result = eliza_inference_matcher_accept(matcher, token);
    }
    CHECK_EQUAL(result, expected);
}

static void use_matcher(eliza_matcher *matcher) {
    static float logits[100];
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, 1, 0.9f};
    int32_t token = -1;
    accept(matcher, 42, ELIZA_STEP_SPAN_STARTED);
    if (!works(eliza_inference_matcher_sample(matcher, logits, 100, &sampling, &token)))
        CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, 100, &sampling, &token), ELIZA_OK);
    CHECK(token == 10 || token == 20);
    accept(matcher, 10, ELIZA_STEP_IN_SPAN);

    eliza_matcher *copy = (eliza_matcher *)logits;
    if (!works(eliza_inference_matcher_clone(matcher, &copy))) {
        CHECK(copy == NULL);
        CHECK_EQUAL(eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
    }
    accept(copy, 11, ELIZA_STEP_IN_SPAN);
    for (int i = 0; i < 40; i++) {
        accept(matcher, 11, ELIZA_STEP_IN_SPAN);
        accept(matcher, 30, ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
        accept(matcher, 42, ELIZA_STEP_SPAN_STARTED);
        accept(matcher, 10, ELIZA_STEP_IN_SPAN);
    }
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 161), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "nothing", 7), ELIZA_ERR_UNKNOWN_PATH);
    eliza_inference_matcher_free(copy);
}

/* 1 if every call worked at the first attempt. */
static int session(void) {
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 100, .model_id = "m", .model_id_len = 1};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    n_failed_calls = 0;
    if (!works_or_says(eliza_inference_vocab_create(&config, &vocab, &error))) {
        CHECK(vocab == NULL);
        CHECK_EQUAL(eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    }
    for (int again = 0; again < 2; again++) { /* compiled, and then from the cache */
        size_t length = sizeof PAYLOAD - 1;
        if (!works_or_says(eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, length, &constraint, &error))) {
            CHECK(constraint == NULL);
            CHECK_EQUAL(eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, length, &constraint, NULL), ELIZA_OK);
        }
        if (!works_or_says(eliza_inference_matcher_create(constraint, 0, &matcher, &error))) {
            CHECK(matcher == NULL);
            CHECK_EQUAL(eliza_inference_matcher_create(constraint, 0, &matcher, NULL), ELIZA_OK);
        }
        use_matcher(matcher);
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
    eliza_inference_vocab_free(vocab);
    eliza_inference_trie_cache_set_limit(0);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
    return n_failed_calls == 0;
}

/* The sessions with recognizers */

enum { N_TOKENS = 300, N_WORDS = (N_TOKENS + 31) / 32, END_TOKEN = 299 };

static const char GRAMMAR[] = "start: list\nlist: \"[\" [item (\",\" item)*] \"]\"\nitem: list | WORD | STRING\n"
                              "WORD: /[a-z]+/\nSTRING: /\"[^\"]*\"/\n%ignore /[ ]+/\n";
static const char PATTERN[] = "\\[+[a-z,]*\\]*|[^b]{0,20}";
static const char SCHEMA[] =
    "{\"$ref\":\"#/$defs/list\",\"$defs\":{\"list\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/list\"},"
    "{\"type\":\"string\",\"pattern\":\"^a+\",\"maxLength\":9},{\"type\":\"number\",\"minimum\":-2.5,\"multipleOf\":0.5},"
    "{\"enum\":[true,\"x\",{\"k\":[null]}]},{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1}},\"patternProperties\":"
    "{\"^b\":{\"not\":{\"type\":\"string\"}}},\"propertyNames\":{\"minLength\":1},\"required\":[\"a\"],"
    "\"unevaluatedProperties\":false}]},\"contains\":{\"type\":\"array\"},\"minContains\":0}}}";
/* Items that must be different, arrays of two that are equal, keys of several kinds, and a pattern with states that are alike. */
static const char ITEMS_SCHEMA[] =
    "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"anyOf\":[{\"type\":[\"array\",\"integer\"]},{\"type\":\"array\","
    "\"maxItems\":2,\"not\":{\"uniqueItems\":true}},{\"type\":\"object\",\"patternProperties\":{\"^a\":{\"type\":\"integer\"},"
    "\"b$\":{\"type\":\"number\"}},\"additionalProperties\":{\"type\":\"string\",\"pattern\":\"^([a-z]+ ){0,40}$\"}}]}}";
static const uint8_t CHOICES[] = "[a,b][a][ab]";
static const uint64_t CHOICES_OFFSETS[] = {0, 5, 8, 12};
static char file_path[1024];

static int create_vocab(eliza_vocab **out) {
    uint8_t bytes[N_TOKENS * 2], flags[N_TOKENS] = {[END_TOKEN] = ELIZA_TOKEN_END_OF_GENERATION};
    uint64_t offsets[N_TOKENS + 1], at = 0;
    for (int i = 0; i < N_TOKENS; i++) {
        offsets[i] = at;
        bytes[at++] = (uint8_t)i;
        if (i > 255) bytes[at++] = (uint8_t)('a' + i % 7);
    }
    offsets[N_TOKENS] = at;
    eliza_vocab_config_t config = {sizeof config, N_TOKENS, NULL, 0, bytes, offsets, flags};
    return eliza_inference_vocab_create(&config, out, &error);
}

/* The same call again if it failed, with nothing made. */
#define MAKES(made, call)                                                                                              \
    do {                                                                                                               \
        if (!works_or_says(call)) {                                                                                    \
            CHECK((made) == NULL);                                                                                     \
            CHECK_EQUAL(call, ELIZA_OK);                                                                               \
        }                                                                                                              \
    } while (0)

static int nothing_fails;
static int32_t expected_words[6][3][N_WORDS];

/* The C library needs memory for a file too: then it cannot be written. */
static void save(int (*each)(const void *what, size_t path_len), const void *what) {
    int status = each(what, strlen(file_path));
    if (status == ELIZA_ERR_IO) {
        n_failed_calls++;
        eliza_inference_free_string(error);
        error = NULL;
    } else if (works_or_says(status)) {
        return;
    }
    CHECK_EQUAL(each(what, strlen(file_path)), ELIZA_OK);
}

static int save_vocab(const void *vocab, size_t path_len) {
    return eliza_inference_vocab_save(vocab, file_path, path_len, &error);
}

static int save_constraint(const void *constraint, size_t path_len) {
    return eliza_inference_constraint_save(constraint, file_path, path_len, &error);
}

/* What is legal, with another try; the same as in the session in which nothing fails. */
static void check_legal(eliza_matcher *matcher, int32_t *expected) {
    int32_t words[N_WORDS];
    if (!works(eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS)))
        CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS) > 0);
    if (nothing_fails) memcpy(expected, words, sizeof words);
    CHECK(memcmp(words, expected, sizeof words) == 0);
}

static void use_recognizer(const eliza_constraint *constraint, int kind) {
    eliza_matcher *matcher = NULL, *copy = NULL;
    const int32_t end[] = {'!', END_TOKEN};
    eliza_span_config_t config = {.struct_size = sizeof config, .end = end, .n_end = 2};
    MAKES(matcher, eliza_inference_matcher_create_span(constraint, &config, &matcher, &error));
    size_t n = 0;
    uint8_t bytes[8];
    int32_t tokens[8];
    if (!works(eliza_inference_matcher_forced_bytes(matcher, bytes, 8, &n)))
        CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, bytes, 8, &n), ELIZA_OK);
    if (!works(eliza_inference_matcher_forced(matcher, tokens, 8, &n)))
        CHECK_EQUAL(eliza_inference_matcher_forced(matcher, tokens, 8, &n), ELIZA_OK);
    check_legal(matcher, expected_words[kind][0]);
    accept(matcher, '[', ELIZA_STEP_IN_SPAN);
    check_legal(matcher, expected_words[kind][1]);
    accept(matcher, 'a', ELIZA_STEP_IN_SPAN);
    if (!works(eliza_inference_matcher_clone(matcher, &copy))) {
        CHECK(copy == NULL);
        CHECK_EQUAL(eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
    }
    accept(copy, ']', ELIZA_STEP_IN_SPAN);
    check_legal(copy, expected_words[kind][2]);
    int can_stop = eliza_inference_matcher_can_stop(copy);
    if (!works(can_stop)) can_stop = eliza_inference_matcher_can_stop(copy);
    CHECK_EQUAL(can_stop, 1);
    accept(copy, '!', ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    CHECK_EQUAL(eliza_inference_matcher_rollback(copy, 4), ELIZA_OK);
    check_legal(copy, expected_words[kind][0]);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_OK);
    check_legal(matcher, expected_words[kind][1]);
    eliza_inference_matcher_free(matcher);
    eliza_inference_matcher_free(copy);
}

/* Through a text, and what is legal before and after it. */
static void use_schema(const eliza_constraint *constraint, const char *text, int32_t expected[2][N_WORDS]) {
    eliza_matcher *matcher = NULL;
    MAKES(matcher, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    check_legal(matcher, expected[0]);
    for (const char *at = text; *at; at++) accept(matcher, *at, ELIZA_STEP_IN_SPAN);
    check_legal(matcher, expected[1]);
    eliza_inference_matcher_free(matcher);
}

static int give_schema(const char *uri, size_t uri_len, const char **out_text, size_t *out_len, void *user_data) {
    (void)uri, (void)uri_len, (void)user_data;
    *out_text = SCHEMA;
    *out_len = sizeof SCHEMA - 1;
    return 0;
}

/* Ambiguous, so that every parse of a text is followed. */
static int session_gbnf(void) {
    static const char text[] = "root ::= \"[\" item* \"]\"\nitem ::= item item | \"a\" | root";
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    size_t length = sizeof text - 1;
    MAKES(constraint, eliza_inference_constraint_create_gbnf(vocab, text, length, NULL, 0, 0, NULL, &constraint, &error));
    use_recognizer(constraint, 3);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

/* With documents of a schema in it, and a limit of tokens. */
static int session_lark(void) {
    static const char text[] = "start: \"[\" (a | %json {\"type\": \"array\", \"items\": {\"type\": \"array\"}})* \"]\"\n"
                               "a[max_tokens=1]: /a+/";
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL, *opened = NULL;
    size_t length = sizeof text - 1, path_len = strlen(file_path);
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    MAKES(constraint, eliza_inference_constraint_create_lark(vocab, text, length, NULL, &constraint, &error));
    use_recognizer(constraint, 5);
    save(save_constraint, constraint);
    MAKES(opened, eliza_inference_constraint_open(vocab, file_path, path_len, NULL, &opened, &error));
    use_recognizer(opened, 5);
    eliza_inference_constraint_free(opened);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

/* A part of each kind of language. */
static int session_tags(void) {
    static const char text[] = "{\"tags\":[{\"begin\":\"[\",\"end\":\"]\",\"gbnf\":\"root ::= root root | \\\"a\\\"\"},"
                               "{\"begin\":\"{\",\"end\":\"}\",\"lark\":\"start: \\\"a\\\"\"},"
                               "{\"begin\":\"<\",\"json_schema\":true},{\"begin\":\"(\",\"regex\":\"a+\"}],\"excludes\":[\"aaaaa\"]}";
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    size_t length = sizeof text - 1;
    MAKES(constraint,
          eliza_inference_constraint_create_tags(vocab, (const uint8_t *)text, length, NULL, &constraint, &error));
    use_recognizer(constraint, 4);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

/* A payload of leaves and of languages, through all of its spans and back. */
static int session_parts(void) {
    static const char text[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"a\",\"leaves\":[{\"name\":\"b\",\"tokens\":[98]}]},"
                               "{\"path\":\"r\",\"regex\":\"a+\",\"end\":[59]},"
                               "{\"path\":\"g\",\"gbnf\":\"root ::= root root | \\\"a\\\"\"},"
                               "{\"path\":\"s\",\"json_schema\":true}]}";
    const int in = ELIZA_STEP_IN_SPAN, ended = ELIZA_STEP_SPAN_ENDED, started = ELIZA_STEP_SPAN_STARTED;
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL, *copy = NULL;
    const char *leaf = NULL;
    size_t length = sizeof text - 1;
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    MAKES(constraint, eliza_inference_constraint_create_token_trie(vocab, text, length, &constraint, &error));
    MAKES(matcher, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    accept(matcher, 'b', in | ended | started);
    accept(matcher, 'a', in);
    accept(matcher, 'a', in);
    accept(matcher, ';', in | ended | started);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &leaf, &length), ELIZA_OK);
    CHECK(length == 2 && memcmp(leaf, "aa", 2) == 0);
    accept(matcher, 'a', in);
    accept(matcher, 'a', in);
    MAKES(copy, eliza_inference_matcher_clone(matcher, &copy));
    accept(copy, '-', ended | started);
    accept(copy, '[', in);
    accept(copy, ']', in | ended);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 4), ELIZA_OK);
    accept(matcher, 'a', in);
    eliza_inference_matcher_free(copy);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    eliza_inference_trie_cache_set_limit(0);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
    return n_failed_calls == 0;
}

static int session_schema(void) {
    static int32_t expected[2][N_WORDS];
    static const char schema[] = "{\"$ref\":\"other\"}";
    const eliza_json_schema_options_t options = {.struct_size = sizeof options, .document = give_schema};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL, *opened = NULL;
    size_t length = sizeof schema - 1, path_len = strlen(file_path);
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    MAKES(constraint, eliza_inference_constraint_create_json_schema(vocab, schema, length, &options, NULL, &constraint, &error));
    use_schema(constraint, "[[],\"a\",-1.5,{\"a\":1,\"bc\":", expected); /* values of most types */
    save(save_constraint, constraint);
    MAKES(opened, eliza_inference_constraint_open(vocab, file_path, path_len, NULL, &opened, &error));
    eliza_inference_constraint_free(opened);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

static int session_items(void) {
    static int32_t expected[2][N_WORDS];
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    size_t length = sizeof ITEMS_SCHEMA - 1;
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    MAKES(constraint, eliza_inference_constraint_create_json_schema(vocab, ITEMS_SCHEMA, length, NULL, NULL, &constraint, &error));
    use_schema(constraint, "[1,{\"ab\":1,\"c\":\"a b \"},[2],{\"ab\":1,\"c\":\"a b \",\"d\":\"a", expected);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

static int create_kind(const eliza_vocab *vocab, int kind, uint64_t mask_bytes_max, eliza_constraint **out) {
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = mask_bytes_max};
    size_t pattern_len = sizeof PATTERN - 1, grammar_len = sizeof GRAMMAR - 1;
    switch (kind) {
    case 0:
        return eliza_inference_constraint_create_choices(vocab, CHOICES, CHOICES_OFFSETS, 3, 0, &config, out, &error);
    case 1:
        return eliza_inference_constraint_create_regex(vocab, PATTERN, pattern_len, 0, &config, out, &error);
    default:
        return eliza_inference_constraint_create_lark(vocab, GRAMMAR, grammar_len, &config, out, &error);
    }
}

static int session_of(int kind, uint64_t mask_bytes_max) {
    eliza_vocab *vocab = NULL, *mapped_vocab = NULL;
    eliza_constraint *constraint = NULL, *mapped = NULL;
    size_t path_len = strlen(file_path);
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    MAKES(constraint, create_kind(vocab, kind, mask_bytes_max, &constraint));
    use_recognizer(constraint, kind);
    if (!works_or_says(eliza_inference_constraint_prepare(constraint, NULL, &error)))
        CHECK_EQUAL(eliza_inference_constraint_prepare(constraint, NULL, &error), ELIZA_OK);
    save(save_vocab, vocab);
    MAKES(mapped_vocab, eliza_inference_vocab_open(file_path, path_len, &mapped_vocab, &error));
    save(save_constraint, constraint);
    MAKES(mapped, eliza_inference_constraint_open(mapped_vocab, file_path, path_len, NULL, &mapped, &error));
    use_recognizer(mapped, kind);
    eliza_inference_constraint_free(mapped);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(mapped_vocab);
    eliza_inference_vocab_free(vocab);
    return n_failed_calls == 0;
}

static int32_t tokenize_bytes(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)user_data;
    for (size_t i = 0; i < length && i < cap; i++) out[i] = text[i];
    return (int32_t)length;
}

static int give_grammar(const char *name, size_t name_len, const char **out_text, size_t *out_len, void *user_data) {
    (void)name, (void)name_len, (void)user_data;
    *out_text = "ITEM: \"a\" | \"b\"\n";
    *out_len = strlen(*out_text);
    return 0;
}

/* The C library needs memory to read a file too: then it cannot be opened. */
static int without_io(int status) {
    if (status != ELIZA_ERR_IO) return status;
    eliza_inference_free_string(error);
    error = NULL;
    return ELIZA_ERR_OOM;
}

/* Other ways to the same: prepared, imported, with options, canonical, with a prefill. */
static int session_of_options(void) {
    static const char grammar[] = "%import others.ITEM\nbegin: \"[\" ITEM* \"]\"";
    const eliza_lark_options_t options = {sizeof options, 0, "begin", 5, give_grammar, NULL};
    eliza_vocab *vocab = NULL, *copied = NULL;
    eliza_constraint *constraint = NULL, *opened = NULL, *canonical = NULL;
    eliza_matcher *matcher = NULL;
    size_t path_len = strlen(file_path), n = 0, kept = 0;
    const int32_t prompt[] = {'x', '['};
    n_failed_calls = 0;
    MAKES(vocab, create_vocab(&vocab));
    if (!works_or_says(eliza_inference_vocab_prepare(vocab, &error)))
        CHECK_EQUAL(eliza_inference_vocab_prepare(vocab, &error), ELIZA_OK);
    if (!works_or_says(eliza_inference_vocab_heal(vocab, prompt, 2, &kept, &error)))
        CHECK_EQUAL(eliza_inference_vocab_heal(vocab, prompt, 2, &kept, &error), ELIZA_OK);
    save(save_vocab, vocab);
    MAKES(copied, without_io(eliza_inference_vocab_open_with(file_path, path_len, ELIZA_OPEN_COPY, &copied, &error)));
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(copied, tokenize_bytes, NULL), ELIZA_OK);
    MAKES(canonical, eliza_inference_constraint_create_choices(copied, CHOICES, CHOICES_OFFSETS, 3, ELIZA_CHOICES_CANONICAL,
                                                               NULL, &canonical, &error));
    size_t length = sizeof grammar - 1;
    MAKES(constraint,
          eliza_inference_constraint_create_lark_with(copied, grammar, length, &options, NULL, &constraint, &error));
    save(save_constraint, constraint);
    MAKES(opened, without_io(eliza_inference_constraint_open_with(copied, file_path, path_len, ELIZA_OPEN_COPY, NULL, &opened,
                                                                  &error)));

    const eliza_span_config_t config = {.struct_size = sizeof config, .prefill = (const uint8_t *)"x", .prefill_len = 1};
    const int32_t *lent = NULL;
    float logits[N_TOKENS] = {0};
    int32_t tokens[4];
    MAKES(matcher, eliza_inference_matcher_create_span(opened, &config, &matcher, &error));
    if (!works(eliza_inference_matcher_allowed(matcher, &lent, &n)))
        CHECK(eliza_inference_matcher_allowed(matcher, &lent, &n) >= 0);
    if (!works(eliza_inference_matcher_forced(matcher, tokens, 4, &n)))
        CHECK_EQUAL(eliza_inference_matcher_forced(matcher, tokens, 4, &n), ELIZA_OK);
    accept(matcher, 'x', ELIZA_STEP_IN_SPAN);
    accept(matcher, '[', ELIZA_STEP_IN_SPAN);
    if (!works(eliza_inference_matcher_bitmap(matcher, &lent, &n)))
        CHECK(eliza_inference_matcher_bitmap(matcher, &lent, &n) >= 0);
    if (!works(eliza_inference_matcher_mask_logits(matcher, logits, N_TOKENS))) {
        CHECK_EQUAL(logits['x'], 0); /* all or nothing */
        CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, N_TOKENS), ELIZA_OK);
    }
    CHECK(logits['x'] < 0 && logits['b'] == 0);
    eliza_matcher *copies[2] = {NULL, NULL};
    int32_t words[2 * N_WORDS];
    for (int i = 0; i < 2; i++) MAKES(copies[i], eliza_inference_matcher_clone(matcher, &copies[i]));
    for (int i = 0; i < 2; i++) accept(copies[i], 'a' + i, ELIZA_STEP_IN_SPAN);
    if (!works(eliza_inference_matcher_fill_bitmaps(copies, 2, words, N_WORDS, 1)))
        CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(copies, 2, words, N_WORDS, 1), ELIZA_OK);
    CHECK(memcmp(words, words + N_WORDS, sizeof words / 2) == 0);
    float rows[2][N_TOKENS] = {{0}};
    if (!works(eliza_inference_matcher_mask_rows(copies, 2, rows, ELIZA_LOGITS_F32, N_TOKENS, N_TOKENS, NULL, 1))) {
        CHECK(rows[0]['x'] == 0 && rows[1]['x'] == 0); /* all or nothing */
        CHECK_EQUAL(eliza_inference_matcher_mask_rows(copies, 2, rows, ELIZA_LOGITS_F32, N_TOKENS, N_TOKENS, NULL, 1), ELIZA_OK);
    }
    CHECK(rows[0]['x'] < 0 && rows[1]['x'] < 0);
    for (int i = 0; i < 2; i++) eliza_inference_matcher_free(copies[i]);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(canonical);
    eliza_inference_constraint_free(opened);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(copied);
    eliza_inference_vocab_free(vocab);
    eliza_inference_trie_cache_set_limit(0);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
    return n_failed_calls == 0;
}

static int session_choices(void) {
    return session_of(0, 0);
}

static int session_regex(void) {
    return session_of(1, 0);
}

static int session_grammar(void) {
    return session_of(2, 0);
}

static int session_without_masks(void) {
    return session_of(2, 1);
}

static void run(const char *name, int (*each)(void)) {
    nothing_fails = 1;
    each(); /* what the C library itself keeps is allocated now */
    nothing_fails = 0;
    long nth = 0, blocks_before = live_blocks;
    for (int finished = 0; !finished; nth++) {
        allocations_left = nth;
        each();
        finished = allocations_left >= 0; /* the session needs no more than this */
        allocations_left = -1;
        if (!CHECK_EQUAL(live_blocks, blocks_before)) {
            fprintf(stderr, "%s: allocation %ld\n", name, nth);
            blocks_before = live_blocks;
        }
    }
    printf("out of memory: %s, %ld allocations\n", name, nth - 1);
    CHECK(nth > 20);
}

int main(int argc, char **argv) {
    snprintf(file_path, sizeof file_path, "%s/image", argc > 1 ? argv[1] : ".");
    run("token trie", session);
    run("choices", session_choices);
    run("options", session_of_options);
    run("regex", session_regex);
    run("grammar", session_grammar);
    run("grammar without masks", session_without_masks);
    run("GBNF", session_gbnf);
    run("grammar with a schema", session_lark);
    run("tags", session_tags);
    run("parts of a payload", session_parts);
    run("JSON Schema", session_schema);
    run("JSON Schema of different items", session_items);
    remove(file_path);
    return check_report("out of memory");
}
