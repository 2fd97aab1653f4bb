/* Attacks the recognizers at the C ABI: choices, regular expressions, grammars, their files and their
 * matchers. As abi_test.c, of which it is the part that needs a vocabulary with bytes.
 *
 *     recognizer_test FOLDER   where files may be written
 */
#include "abi_check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Tokens 0 to 255 are the bytes; then some longer ones, and a tail without bytes. */
enum { AB = 256, ABC, ABC_TWIN, QUOTE_A, END, OTHER_END, SPECIAL, UNUSED, N_TOKENS = 300, N_WORDS = (N_TOKENS + 31) / 32 };

static eliza_vocab *make_vocab_where(const char *last_text, uint32_t n_tokens) {
    static const char *const texts[] = {"ab", "abc", "abc", "\"a", "</s>", "<eot>", "<s>", NULL};
    uint8_t bytes[512], flags[N_TOKENS] = {0};
    uint64_t offsets[N_TOKENS + 1], at = 0;
    for (uint32_t token = 0; token < n_tokens; token++) {
        offsets[token] = at;
        if (token < AB) bytes[at++] = (uint8_t)token;
        if (token >= AB && token <= UNUSED) {
            const char *text = texts[token - AB] ? texts[token - AB] : last_text;
            memcpy(bytes + at, text, strlen(text));
            at += strlen(text);
        }
    }
    offsets[n_tokens] = at;
    flags[END] = ELIZA_TOKEN_END_OF_GENERATION | ELIZA_TOKEN_SPECIAL;
    flags[OTHER_END] = ELIZA_TOKEN_END_OF_GENERATION;
    flags[SPECIAL] = ELIZA_TOKEN_SPECIAL;
    flags[UNUSED] = ELIZA_TOKEN_UNUSED;
    eliza_vocab_config_t config = {sizeof config, (int32_t)n_tokens, "bytes", 5, bytes, offsets, flags};
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    return vocab;
}

static eliza_vocab *make_vocab(void) {
    return make_vocab_where("unused", N_TOKENS);
}

static eliza_vocab *make_vocab_without_bytes(void) {
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = N_TOKENS};
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    return vocab;
}

static const uint8_t CHOICES[] = "yesnonever";
static const uint64_t CHOICES_OFFSETS[] = {0, 3, 5, 10};
static const char LIST_GRAMMAR[] = "start: \"[\" [start (\",\" start)*] \"]\" | WORD\nWORD: /[a-z]+/\n%ignore /[ ]+/\n";

static eliza_constraint *make_choices(const eliza_vocab *vocab) {
    eliza_constraint *made = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_choices(vocab, CHOICES, CHOICES_OFFSETS, 3, 0, NULL, &made, &error));
    return made;
}

static eliza_constraint *make_regex_within(const eliza_vocab *vocab, const char *pattern, uint64_t mask_bytes_max) {
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = mask_bytes_max};
    eliza_constraint *made = NULL;
    GIVES(ELIZA_OK,
          eliza_inference_constraint_create_regex(vocab, pattern, strlen(pattern), 0, &config, &made, &error));
    return made;
}

static eliza_constraint *make_regex(const eliza_vocab *vocab, const char *pattern) {
    return make_regex_within(vocab, pattern, 0);
}

static eliza_constraint *make_grammar_within(const eliza_vocab *vocab, uint64_t mask_bytes_max) {
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = mask_bytes_max};
    eliza_constraint *made = NULL;
    size_t length = sizeof LIST_GRAMMAR - 1;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_lark(vocab, LIST_GRAMMAR, length, &config, &made, &error));
    return made;
}

static eliza_constraint *make_grammar(const eliza_vocab *vocab) {
    return make_grammar_within(vocab, 0);
}

static const char LIST_SCHEMA[] = "{\"$ref\":\"#/$defs/list\",\"$defs\":{\"list\":{\"anyOf\":[{\"type\":\"array\",\"items\":"
                                  "{\"$ref\":\"#/$defs/list\"}},{\"type\":\"string\"}]}}}";

static eliza_constraint *make_schema(const eliza_vocab *vocab) {
    eliza_constraint *made = NULL;
    size_t length = sizeof LIST_SCHEMA - 1;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_json_schema(vocab, LIST_SCHEMA, length, NULL, NULL, &made, &error));
    return made;
}

static eliza_constraint *make_trie(const eliza_vocab *vocab) {
    static const char payload[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"p\",\"leaves\":["
                                  "{\"name\":\"ab\",\"tokens\":[97,98]},{\"name\":\"c\",\"tokens\":[99]}]}]}";
    eliza_constraint *made = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_token_trie(vocab, payload, sizeof payload - 1, &made, &error));
    return made;
}

static eliza_matcher *make_matcher(const eliza_constraint *constraint) {
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    return matcher;
}

static eliza_matcher *make_matcher_with_ends(const eliza_constraint *constraint, const int32_t *end, size_t n_end) {
    eliza_span_config_t config = {.struct_size = sizeof config, .end = end, .n_end = n_end};
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create_span(constraint, &config, &matcher, &error));
    return matcher;
}

/* Every token is asked for with what lends, fills and accepts; they agree. The number of legal ones. */
static size_t check_masks(eliza_matcher *matcher) {
    int32_t words[N_WORDS + 2], rows[N_WORDS];
    const int32_t *ids = NOT_A_HANDLE, *lent = NOT_A_HANDLE;
    size_t n = 99, n_lent = 99, counted = 0;
    memset(words, SENTINEL, sizeof words);
    int kind = eliza_inference_matcher_allowed(matcher, &ids, &n);
    CHECK(kind >= ELIZA_ALLOWED_ALL && kind <= ELIZA_ALLOWED_BITMAP);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS + 1), kind);
    CHECK(words[N_WORDS] == 0 && words[N_WORDS + 1] == (int32_t)0xa5a5a5a5);
    CHECK_EQUAL(eliza_inference_matcher_bitmap(matcher, &lent, &n_lent), kind);
    if (kind == ELIZA_ALLOWED_BITMAP)
        CHECK(n_lent == N_WORDS && memcmp(lent, words, N_WORDS * 4) == 0);
    else
        CHECK(lent == NULL && n_lent == 0);
    CHECK((kind == ELIZA_ALLOWED_LIST) == (ids != NULL && n > 0) || n == 0);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(&matcher, 1, rows, N_WORDS, 2), ELIZA_OK);
    CHECK(memcmp(rows, words, sizeof rows) == 0);
    eliza_span_state_t state = {.struct_size = sizeof state};
    CHECK_EQUAL(eliza_inference_matcher_state(matcher, &state), ELIZA_OK);
    CHECK_EQUAL(state.constrained, kind != ELIZA_ALLOWED_ALL);
    CHECK_EQUAL(state.can_stop, eliza_inference_matcher_can_stop(matcher));
    for (int32_t token = 0; token < N_TOKENS; token++) {
        int is_legal = (words[token / 32] >> (token % 32)) & 1;
        if (kind == ELIZA_ALLOWED_LIST && is_legal) CHECK(counted < n && ids[counted] == token);
        counted += (size_t)is_legal;
    }
    CHECK(kind == ELIZA_ALLOWED_ALL ? counted == N_TOKENS && n == 0 : counted == n);
    CHECK_EQUAL(state.n_allowed, kind == ELIZA_ALLOWED_ALL ? 0 : counted);
    for (int32_t token = 0; token < N_TOKENS; token++) {
        int result = eliza_inference_matcher_accept(matcher, token);
        int is_legal = (words[token / 32] >> (token % 32)) & 1;
        if (!CHECK((result != ELIZA_STEP_REFUSED) == is_legal)) fprintf(stderr, "token %d\n", token);
        if (result != ELIZA_STEP_REFUSED) CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_OK);
    }
    return counted;
}

static void accept_text(eliza_matcher *matcher, const char *text) {
    for (; *text; text++)
        CHECK_EQUAL(eliza_inference_matcher_accept(matcher, (unsigned char)*text), ELIZA_STEP_IN_SPAN);
}

/* 4: vocabulary */

static void test_vocab_trie(void) {
    eliza_vocab *vocab = make_vocab(), *bare = make_vocab_without_bytes();
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_prepare(NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_prepare(bare, &error));
    CHECK_EQUAL(eliza_inference_vocab_prepare(bare, NULL), ELIZA_ERR_INVALID_ARG);
    eliza_vocab_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_vocab_info(vocab, &info), ELIZA_OK);
    CHECK(info.n_tokens == N_TOKENS && info.n_nodes == 0 && info.fingerprint != 0);
    GIVES(ELIZA_OK, eliza_inference_vocab_prepare(vocab, &error));
    GIVES(ELIZA_OK, eliza_inference_vocab_prepare(vocab, &error));
    const int32_t prompt[] = {'b', 'a', N_TOKENS};
    size_t n_kept = 9;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_heal(NULL, prompt, 2, &n_kept, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_heal(bare, prompt, 2, &n_kept, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_heal(vocab, NULL, 2, &n_kept, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_heal(vocab, prompt, 2, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_heal(vocab, prompt, 3, &n_kept, &error));
    CHECK_EQUAL(n_kept, 9);
    GIVES(ELIZA_OK, eliza_inference_vocab_heal(vocab, prompt, 2, &n_kept, &error));
    CHECK_EQUAL(n_kept, 1);
    GIVES(ELIZA_OK, eliza_inference_vocab_heal(vocab, prompt, 1, &n_kept, &error));
    CHECK_EQUAL(n_kept, 1);
    GIVES(ELIZA_OK, eliza_inference_vocab_heal(vocab, NULL, 0, &n_kept, &error));
    CHECK_EQUAL(n_kept, 0);
    CHECK_STRUCT(eliza_vocab_info_t, vocab, eliza_inference_vocab_info);
    CHECK_EQUAL(eliza_inference_vocab_info(NULL, &info), ELIZA_ERR_INVALID_ARG);
    uint64_t before = info.fingerprint;
    CHECK_EQUAL(eliza_inference_vocab_info(vocab, &info), ELIZA_OK);
    CHECK(info.fingerprint == before && info.n_nodes == 260 && info.n_duplicates == 1);
    CHECK(info.missing_bytes == 0 && info.longest_token == 3 && info.retained_bytes > 0);
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(NULL, NULL, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, NULL, NOT_A_HANDLE), ELIZA_OK);
    eliza_inference_vocab_free(vocab);

    /* Vocabularies that no text can be made of. */
    const uint8_t flag[] = {ELIZA_TOKEN_SPECIAL};
    const uint64_t offsets[] = {0, 1};
    eliza_vocab_config_t config = {sizeof config, 1, NULL, 0, (const uint8_t *)"a", offsets, flag};
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    GIVES(ELIZA_OK, eliza_inference_vocab_prepare(vocab, &error));
    eliza_constraint *constraint = make_regex(vocab, "a+");
    CHECK(strstr(eliza_inference_constraint_warnings(constraint), "256") != NULL);
    eliza_matcher *matcher = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    CHECK(matcher == NULL);
    const int32_t none = 0;
    matcher = make_matcher_with_ends(constraint, &none, 0);
    const int32_t *ids;
    size_t n;
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 0), ELIZA_STEP_REFUSED);
    CHECK(eliza_inference_matcher_allowed(matcher, &ids, &n) >= 0);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    eliza_inference_vocab_free(bare);
}

/* 5: constraint */

/* A call that makes a constraint and must fail: no constraint, a message. */
#define REFUSES(status, call)                                                                                          \
    do {                                                                                                               \
        eliza_constraint *made = NOT_A_HANDLE;                                                                         \
        GIVES(status, call);                                                                                           \
        CHECK(made == NULL);                                                                                           \
    } while (0)

static void test_choices_arguments(const eliza_vocab *vocab, const eliza_vocab *bare) {
    const uint64_t descending[] = {0, 3, 2}, empty_one[] = {0, 3, 3, 5}, wrapped[] = {3, 2}, huge[] = {0, UINT64_MAX};
    const uint64_t *at = CHOICES_OFFSETS;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, at, 3, 0, NULL, NULL, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(NULL, CHOICES, at, 3, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(bare, CHOICES, at, 3, 0, NULL, &made, &error));
    for (uint32_t flags = 0; flags <= ELIZA_CHOICES_CANONICAL; flags++) {
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, NULL, at, 3, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, NULL, 3, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, NULL, 0, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, at, 0, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_choices(vocab, CHOICES, at, SIZE_MAX, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_choices(vocab, CHOICES, at, ELIZA_CHOICES_MAX + 1, flags, NULL,
                                                                           &made, &error));
        REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_choices(vocab, CHOICES, huge, 1, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG,
                eliza_inference_constraint_create_choices(vocab, CHOICES, descending, 2, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, wrapped, 1, flags, NULL, &made, &error));
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, empty_one, 3, flags, NULL, &made, &error));
    }
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, at, 3, 2, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_choices(vocab, CHOICES, at, 3, UINT32_MAX, NULL, &made, &error));

    eliza_constraint *made = NULL; /* the first offset need not be 0, and nothing before it is read */
    const uint64_t later[] = {3, 5};
    CHECK_EQUAL(eliza_inference_constraint_create_choices(vocab, CHOICES, later, 1, 0, NULL, &made, NULL), ELIZA_OK);
    eliza_matcher *matcher = make_matcher(made);
    CHECK_EQUAL(check_masks(matcher), 1);
    accept_text(matcher, "no");
    CHECK_EQUAL(check_masks(matcher), 2);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(made);
}

static void test_text_arguments(const eliza_vocab *vocab, const eliza_vocab *bare) {
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_regex(vocab, "a", 1, 0, NULL, NULL, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_regex(NULL, "a", 1, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_regex(bare, "a", 1, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_regex(vocab, NULL, 1, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_regex(vocab, "a", 1, 4, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_regex(vocab, "a", SIZE_MAX, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_regex(vocab, "a", ELIZA_REGEX_BYTES_MAX + 1, 0, NULL, &made, &error));
    static const char *const wrong[] = {"(", ")", "[", "a{3,2}", "*", "\\", "a\\1", "(?=a)", "(?>a)",
                                        "[z-a]", "a\xff", "\\p{Nothing}", "a++"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_regex(vocab, wrong[i], strlen(wrong[i]), 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_regex(vocab, "a\0(", 3, 0, NULL, &made, &error));

    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark(vocab, "start: \"a\"", 10, NULL, NULL, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark(NULL, "start: \"a\"", 10, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark(bare, "start: \"a\"", 10, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark(vocab, NULL, 10, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_lark(vocab, "a", SIZE_MAX, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_lark(vocab, "a", ELIZA_GRAMMAR_BYTES_MAX + 1, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_lark(vocab, NULL, 0, NULL, &made, &error));
    eliza_lark_options_t options = {.struct_size = 1};
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark_with(vocab, "a: \"b\"", 6, &options, NULL, &made, &error));
    options = (eliza_lark_options_t){.struct_size = sizeof options, .flags = 1};
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_lark_with(vocab, "a: \"b\"", 6, &options, NULL, &made, &error));
    options = (eliza_lark_options_t){.struct_size = sizeof options, .start = "b", .start_len = 1};
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_lark_with(vocab, "a: \"b\"", 6, &options, NULL, &made, &error));
    static const char *const wrong_grammars[] = {
        "",       "start",         "start: a",         "start: \"a", "start: /(/",  "start: start", "%nothing",
        "a: \"b\"", "start: \"a\"\xff", "start: A\nA: A", "%import nothing", "start: \"a\"{2,1}", "start: (((", "start: a\na: \"b\" a",
    };
    for (size_t i = 0; i < sizeof wrong_grammars / sizeof *wrong_grammars; i++) {
        eliza_constraint *made = NOT_A_HANDLE;
        error = garbage;
        int status = eliza_inference_constraint_create_lark(vocab, wrong_grammars[i], strlen(wrong_grammars[i]), NULL, &made, &error);
        CHECK_EQUAL(status, ELIZA_ERR_GRAMMAR);
        check_message(status, __FILE__, __LINE__, wrong_grammars[i]);
        CHECK((made == NULL) == (status != ELIZA_OK));
        eliza_inference_constraint_free(made);
    }
}

static void test_gbnf_arguments(const eliza_vocab *vocab, const eliza_vocab *bare) {
    static const char text[] = "root ::= \"a\"";
    const size_t n = sizeof text - 1;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(vocab, text, n, NULL, 0, 0, NULL, NULL, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(NULL, text, n, NULL, 0, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(bare, text, n, NULL, 0, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(vocab, NULL, n, NULL, 0, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(vocab, text, n, NULL, 1, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_gbnf(vocab, text, n, NULL, 0, 2, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_gbnf(vocab, text, SIZE_MAX, NULL, 0, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_gbnf(vocab, NULL, 0, NULL, 0, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_gbnf(vocab, text, n, "roo", 3, 0, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_gbnf(vocab, text, n, "", 0, 0, NULL, &made, &error));
    eliza_constraint *constraint = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_gbnf(vocab, text, n, "rooted", 4, ELIZA_GBNF_EBNF, NULL, &constraint, &error));
    eliza_inference_constraint_free(constraint);
    for (size_t length = 0; length < 40; length++) { /* a part of a grammar with everything in it */
        static const char all[] = "root ::= <[1]>|\"\\x41\"[^a-\\]]*(.{1,2}|a)+\na::=b";
        eliza_constraint *made = NULL;
        int status = eliza_inference_constraint_create_gbnf(vocab, all, length, NULL, 0, 0, NULL, &made, NULL);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_GRAMMAR);
        eliza_inference_constraint_free(made);
    }
}

static int create_tags(const eliza_vocab *vocab, const void *descriptor, size_t length, eliza_constraint **out) {
    return eliza_inference_constraint_create_tags(vocab, descriptor, length, NULL, out, &error);
}

static void test_tags_arguments(const eliza_vocab *vocab, const eliza_vocab *bare) {
    static const char text[] = "{\"triggers\":[\"<\"],\"tags\":[{\"begin\":\"<a\",\"end\":\">\",\"json_schema\":{\"type\":\"object\"}},"
                               "{\"begin\":\"<b\",\"choices\":[\"\\u0061\"]}],\"at_most\":3,\"excludes\":[\"x\"]}";
    static const char packed[] = "\x82\xa4tags\x91\x83\xa5" "begin\xa1<\xa3" "end\xa1>\xa5regex\xa1" "a\xb0stop_after_first\xc3";
    const size_t n = sizeof text - 1;
    REFUSES(ELIZA_ERR_INVALID_ARG, create_tags(NULL, text, n, &made));
    REFUSES(ELIZA_ERR_INVALID_ARG, create_tags(bare, text, n, &made));
    REFUSES(ELIZA_ERR_INVALID_ARG, create_tags(vocab, NULL, n, &made));
    REFUSES(ELIZA_ERR_GRAMMAR, create_tags(vocab, NULL, 0, &made));
    REFUSES(ELIZA_ERR_LIMIT, create_tags(vocab, text, SIZE_MAX, &made));
    GIVES(ELIZA_ERR_INVALID_ARG, create_tags(vocab, text, n, NULL));
    for (int format = 0; format < 2; format++) {
        const char *whole = format ? packed : text;
        const size_t length = format ? sizeof packed - 1 : n;
        eliza_constraint *constraint = NULL;
        GIVES(ELIZA_OK, create_tags(vocab, whole, length, &constraint));
        eliza_inference_constraint_free(constraint);
        char changed[sizeof text];
        for (size_t i = 0; i < length; i++) { /* a part of it, and with each byte another one */
            constraint = NULL;
            int status = eliza_inference_constraint_create_tags(vocab, (const uint8_t *)whole, i, NULL, &constraint, NULL);
            CHECK_EQUAL(status, ELIZA_ERR_GRAMMAR);
            for (int other = 0; other < 256; other += 5) {
                memcpy(changed, whole, length);
                changed[i] = (char)other;
                constraint = NULL;
                status = eliza_inference_constraint_create_tags(vocab, (const uint8_t *)changed, length, NULL, &constraint, NULL);
                CHECK(status == ELIZA_OK || status == ELIZA_ERR_GRAMMAR || status == ELIZA_ERR_LIMIT);
                eliza_inference_constraint_free(constraint);
            }
        }
    }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"tags\":[{\"json_schema\":", 24);
    REFUSES(ELIZA_ERR_LIMIT, create_tags(vocab, deep, sizeof deep, &made));
}

static int create_schema(const eliza_vocab *vocab, const eliza_json_schema_options_t *options, eliza_constraint **out) {
    return eliza_inference_constraint_create_json_schema(vocab, LIST_SCHEMA, sizeof LIST_SCHEMA - 1, options, NULL, out, &error);
}

static const char PARTS[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"a\",\"leaves\":[{\"name\":\"b\",\"tokens\":[98]}]},"
                            "{\"path\":\"text\",\"regex\":\"[a-z]+\",\"end\":[59]}]}";

/* A payload with a language: cut and changed, it is refused with a message; as it is, its text is told. */
static void test_parts(const char *folder, const eliza_vocab *vocab, const eliza_vocab *bare) {
    char path[1024];
    const size_t path_len = (size_t)snprintf(path, sizeof path, "%s/parts", folder);
    eliza_constraint *constraint = NULL;
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_constraint_create_token_trie(bare, PARTS, sizeof PARTS - 1, &constraint, &error));
    for (size_t i = 0; i < sizeof PARTS - 1; i++) {
        GIVES(ELIZA_ERR_PAYLOAD, eliza_inference_constraint_create_token_trie(vocab, PARTS, i, &constraint, &error));
        CHECK(constraint == NULL);
        char changed[sizeof PARTS];
        memcpy(changed, PARTS, sizeof PARTS);
        changed[i] ^= 1;
        int status = eliza_inference_constraint_create_token_trie(vocab, changed, sizeof PARTS - 1, &constraint, &error);
        CHECK(status == ELIZA_OK ? constraint && !error : !constraint && is_utf8(error));
        eliza_inference_free_string(error);
        error = NULL;
        eliza_inference_constraint_free(constraint);
    }
    GIVES(ELIZA_OK, eliza_inference_constraint_create_token_trie(vocab, PARTS, sizeof PARTS - 1, &constraint, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_save(constraint, path, path_len, &error));
    eliza_constraint_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_constraint_info(constraint, &info), ELIZA_OK);
    CHECK(info.n_descriptors == 2 && info.n_leaves == 1);
    eliza_recognizer_info_t sizes = {.struct_size = sizeof sizes};
    CHECK_EQUAL(eliza_inference_constraint_recognizer_info(constraint, &sizes), ELIZA_OK);
    CHECK(sizes.kind == ELIZA_CONSTRAINT_TOKEN_TRIE && sizes.n_states > 0);

    const int32_t end = 59;
    eliza_span_config_t config = {.struct_size = sizeof config, .end = &end, .n_end = 1};
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(constraint, &config, &matcher, &error));
    matcher = make_matcher(constraint);
    eliza_inference_constraint_free(constraint);
    const int32_t tokens[] = {'b', AB, 'z', ';'};
    const int last[] = {ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED | ELIZA_STEP_SPAN_STARTED, ELIZA_STEP_IN_SPAN,
                        ELIZA_STEP_IN_SPAN, ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED};
    for (int i = 0; i < 4; i++) CHECK_EQUAL(eliza_inference_matcher_accept(matcher, tokens[i]), last[i]);
    eliza_span_state_t state = {.struct_size = sizeof state};
    CHECK_EQUAL(eliza_inference_matcher_state(matcher, &state), ELIZA_OK);
    CHECK(state.leaf_descriptor == 1 && state.leaf == -1 && state.spans_ended == 2);
    const char *text = NULL;
    size_t length = 0;
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &text, &length), ELIZA_OK);
    CHECK(length == 3 && memcmp(text, "abz", 3) == 0);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &text, &length), ELIZA_OK);
    CHECK(text == NULL && length == 0);
    eliza_inference_matcher_free(matcher);
}

static void test_schema_arguments(const eliza_vocab *vocab, const eliza_vocab *bare) {
    GIVES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, NULL, NULL));
    REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(NULL, NULL, &made));
    REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(bare, NULL, &made));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_json_schema(vocab, NULL, 4, NULL, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_json_schema(vocab, NULL, 0, NULL, NULL, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_json_schema(vocab, "{}", SIZE_MAX, NULL, NULL, &made, &error));
    REFUSES(ELIZA_ERR_GRAMMAR, eliza_inference_constraint_create_json_schema(vocab, "{}", 1, NULL, NULL, &made, &error));

    const eliza_json_schema_options_t good = {.struct_size = sizeof good};
    eliza_json_schema_options_t options = good;
    eliza_constraint *constraint = NULL;
    options.struct_size = FIRST_SIZE(eliza_json_schema_options_t) - 1;
    REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, &options, &made));
    options.struct_size = UINT32_MAX; /* of a later version, whose fields are not read */
    GIVES(ELIZA_OK, create_schema(vocab, &options, &constraint));
    eliza_inference_constraint_free(constraint);
    const uint32_t unknown_flags[] = {1u << 30, ELIZA_JSON_LENIENT | ELIZA_JSON_INTEGER_FRACTION | 1u << 30, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        options = good;
        options.flags = unknown_flags[i];
        REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, &options, &made));
    }
    const int32_t unknown_spaces[] = {-1, ELIZA_JSON_SPACE_ANY + 1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        options = good;
        options.space = unknown_spaces[i];
        REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, &options, &made));
    }
    const int32_t unknown_orders[] = {-1, ELIZA_JSON_ORDER_ANY + 1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        options = good;
        options.order = unknown_orders[i];
        REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, &options, &made));
    }
    const int32_t unknown_drafts[] = {-1, ELIZA_JSON_DRAFT_4 + 1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        options = good;
        options.draft = unknown_drafts[i];
        REFUSES(ELIZA_ERR_INVALID_ARG, create_schema(vocab, &options, &made));
    }
    for (int32_t space = 0; space <= ELIZA_JSON_SPACE_ANY; space++) {
        options = (eliza_json_schema_options_t){.struct_size = sizeof options,
                                                .flags = ELIZA_JSON_LENIENT | ELIZA_JSON_INTEGER_FRACTION,
                                                .space = space,
                                                .order = ELIZA_JSON_ORDER_ANY};
        GIVES(ELIZA_OK, create_schema(vocab, &options, &constraint));
        eliza_matcher *matcher = make_matcher(constraint);
        accept_text(matcher, "[\"a\",");
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
}

/* Nested as deep as a text of the limit allows: an answer, not the end of the stack. */
static void test_deep_nesting(const eliza_vocab *vocab) {
    static const char *const parts[][3] = {{"(", "a", ")"}, {"(?:", "a", ")*"}, {"(", "a", "){2}"}, {"(?i:", "a", ")?"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t depth = 100000, length = 0;
        char *text = malloc(depth * 8 + 64);
        for (size_t j = 0; j < depth; j++) length += (size_t)sprintf(text + length, "%s", parts[i][0]);
        length += (size_t)sprintf(text + length, "%s", parts[i][1]);
        for (size_t j = 0; j < depth; j++) length += (size_t)sprintf(text + length, "%s", parts[i][2]);
        eliza_constraint *made = NULL;
        int status = eliza_inference_constraint_create_regex(vocab, text, length, 0, NULL, &made, NULL);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_LIMIT || status == ELIZA_ERR_GRAMMAR);
        eliza_inference_constraint_free(made);

        char *grammar = malloc(length + 64);
        size_t grammar_length = (size_t)sprintf(grammar, "start: /%.*s/", (int)length, text);
        made = NULL;
        status = eliza_inference_constraint_create_lark(vocab, grammar, grammar_length, NULL, &made, NULL);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_LIMIT || status == ELIZA_ERR_GRAMMAR);
        eliza_inference_constraint_free(made);
        made = NULL;
        length = (size_t)sprintf(grammar, "start: ");
        for (size_t j = 0; j < depth; j++) grammar[length++] = i % 2 ? '[' : '(';
        length += (size_t)sprintf(grammar + length, "\"a\"");
        for (size_t j = 0; j < depth; j++) grammar[length++] = i % 2 ? ']' : ')';
        status = eliza_inference_constraint_create_lark(vocab, grammar, length, NULL, &made, NULL);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_LIMIT || status == ELIZA_ERR_GRAMMAR);
        eliza_inference_constraint_free(made);
        made = NULL;
        length = (size_t)sprintf(grammar, "root ::= ");
        for (size_t j = 0; j < depth; j++) grammar[length++] = '(';
        status = eliza_inference_constraint_create_gbnf(vocab, grammar, length, NULL, 0, 0, NULL, &made, NULL);
        CHECK_EQUAL(status, ELIZA_ERR_LIMIT);
        free(grammar);
        free(text);
    }
}

static int n_asked;

static int cancel_after(void *user_data) {
    n_asked++;
    return n_asked > *(int *)user_data;
}

/* All kinds with one config: a status that each of them must give. */
static void compile_all(const eliza_vocab *vocab, const eliza_compile_config_t *config, int status) {
    static const char json_like[] = "start: value\nvalue: \"{\" [pair (\",\" pair)*] \"}\" | \"[\" [value (\",\" value)*] \"]\" | S | N\n"
                                    "pair: S \":\" value\nS: /\"[^\"]*\"/\nN: /-?[0-9]+(\\.[0-9]+)?/\n%ignore /[ \\n]+/\n";
    static const char pattern[] = "(\\w{1,30}|[a-f]{20,40}x)*";
    eliza_constraint *made = NOT_A_HANDLE;
    GIVES(status, eliza_inference_constraint_create_choices(vocab, CHOICES, CHOICES_OFFSETS, 3, 0, config, &made, &error));
    CHECK((made == NULL) == (status != ELIZA_OK));
    if (status == ELIZA_OK) eliza_inference_constraint_free(made);
    GIVES(status, eliza_inference_constraint_create_regex(vocab, pattern, sizeof pattern - 1, 0, config, &made, &error));
    CHECK((made == NULL) == (status != ELIZA_OK));
    if (status == ELIZA_OK) eliza_inference_constraint_free(made);
    GIVES(status, eliza_inference_constraint_create_lark(vocab, json_like, sizeof json_like - 1, config, &made, &error));
    CHECK((made == NULL) == (status != ELIZA_OK));
    if (status == ELIZA_OK) eliza_inference_constraint_free(made);
    size_t length = sizeof LIST_SCHEMA - 1;
    GIVES(status, eliza_inference_constraint_create_json_schema(vocab, LIST_SCHEMA, length, NULL, config, &made, &error));
    CHECK((made == NULL) == (status != ELIZA_OK));
    if (status == ELIZA_OK) eliza_inference_constraint_free(made);
}

static int create_regex(const eliza_vocab *vocab, const eliza_compile_config_t *config) {
    eliza_constraint *made = NULL;
    int status = eliza_inference_constraint_create_regex(vocab, "a+", 2, 0, config, &made, NULL);
    eliza_inference_constraint_free(made);
    return status;
}

static void test_budgets(const eliza_vocab *vocab) {
    eliza_compile_config_t config = {.struct_size = sizeof config};
    int never = INT32_MAX, at_once = 0;
    compile_all(vocab, &config, ELIZA_OK);
    config.struct_size = UINT32_MAX;
    compile_all(vocab, &config, ELIZA_OK);
    CHECK_GIVEN_STRUCT(eliza_compile_config_t, config, create_regex(vocab, given));
    config.struct_size = FIRST_SIZE(eliza_compile_config_t) - 1;
    compile_all(vocab, &config, ELIZA_ERR_INVALID_ARG);
    config.struct_size = 0;
    compile_all(vocab, &config, ELIZA_ERR_INVALID_ARG);
    config = (eliza_compile_config_t){.struct_size = sizeof config, .states_max = ELIZA_COMPILE_STATES + 1};
    compile_all(vocab, &config, ELIZA_ERR_INVALID_ARG);
    config = (eliza_compile_config_t){.struct_size = sizeof config, .bytes_max = 1};
    compile_all(vocab, &config, ELIZA_ERR_LIMIT);
    config = (eliza_compile_config_t){.struct_size = sizeof config, .bytes_max = UINT64_MAX, .ms_max = UINT64_MAX,
                                      .mask_bytes_max = UINT64_MAX};
    compile_all(vocab, &config, ELIZA_OK);
    config = (eliza_compile_config_t){.struct_size = sizeof config, .mask_bytes_max = 1};
    compile_all(vocab, &config, ELIZA_OK);
    config = (eliza_compile_config_t){.struct_size = sizeof config, .cancel = cancel_after, .user_data = &never};
    n_asked = 0;
    compile_all(vocab, &config, ELIZA_OK);
    int asked = n_asked;
    CHECK(asked >= 3);
    config.user_data = &at_once;
    compile_all(vocab, &config, ELIZA_ERR_CANCELLED);

    /* Whenever it is cancelled, and however little memory there may be, nothing is lost. */
    static const char pattern[] = "(\\w{1,30}|[a-f]{20,40}x)*";
    config.states_max = 2;
    config.cancel = NULL;
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_regex(vocab, pattern, sizeof pattern - 1, 0, &config, &made, &error));
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_lark(vocab, LIST_GRAMMAR, sizeof LIST_GRAMMAR - 1, &config, &made, &error));
    config.states_max = 0;
    for (uint64_t bytes = 16; bytes < 1 << 20; bytes = bytes * 3 / 2) {
        config.bytes_max = bytes;
        eliza_constraint *made = NULL;
        int status = eliza_inference_constraint_create_lark(vocab, LIST_GRAMMAR, sizeof LIST_GRAMMAR - 1, &config, &made, NULL);
        CHECK(status == ELIZA_OK || status == ELIZA_ERR_LIMIT);
        eliza_inference_constraint_free(made);
    }
    static const char *const explosions[] = {
        "(a{1,1000}b){1,1000}", "((\\w{1,100}b){1,100}c){1,100}", "(a|b)*a(a|b){20}", "(\\w|ab){60000}",
    };
    for (size_t i = 0; i < sizeof explosions / sizeof *explosions; i++)
        REFUSES(ELIZA_ERR_LIMIT,
                eliza_inference_constraint_create_regex(vocab, explosions[i], strlen(explosions[i]), 0, NULL, &made, &error));
}

static void test_prepare(const eliza_vocab *vocab) {
    eliza_constraint *all[] = {make_choices(vocab), make_regex(vocab, "[a-z]*"), make_grammar(vocab), make_trie(vocab)};
    int never = INT32_MAX, at_once = 0;
    eliza_compile_config_t config = {.struct_size = sizeof config, .cancel = cancel_after, .user_data = &never};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_prepare(NULL, NULL, &error));
    for (size_t i = 0; i < 4; i++) {
        GIVES(ELIZA_OK, eliza_inference_constraint_prepare(all[i], NULL, &error));
        GIVES(ELIZA_OK, eliza_inference_constraint_prepare(all[i], &config, &error));
        config.struct_size = 1;
        GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_prepare(all[i], &config, &error));
        config.struct_size = sizeof config;
        eliza_inference_constraint_free(all[i]);
    }
    eliza_constraint *grammar = make_grammar(vocab);
    config.user_data = &at_once;
    GIVES(ELIZA_ERR_CANCELLED, eliza_inference_constraint_prepare(grammar, &config, &error));
    GIVES(ELIZA_OK, eliza_inference_constraint_prepare(grammar, NULL, &error));
    eliza_inference_constraint_free(grammar);
}

/* What a constraint says of itself, by kind. */
static void test_kinds(const eliza_vocab *vocab) {
    eliza_constraint *all[] = {make_trie(vocab), make_choices(vocab), make_regex(vocab, "[a-z]*"), make_grammar(vocab),
                               make_schema(vocab)};
    CHECK(strcmp(eliza_inference_constraint_warnings(NULL), "") == 0);
    for (int32_t kind = ELIZA_CONSTRAINT_TOKEN_TRIE; kind <= ELIZA_CONSTRAINT_JSON_SCHEMA; kind++) {
        eliza_constraint *constraint = all[kind];
        eliza_recognizer_info_t info = {.struct_size = sizeof info};
        eliza_constraint_info_t trie_info = {.struct_size = sizeof trie_info};
        const char *path = NULL;
        size_t length = 0;
        int is_trie = kind == ELIZA_CONSTRAINT_TOKEN_TRIE;
        CHECK_STRUCT(eliza_recognizer_info_t, constraint, eliza_inference_constraint_recognizer_info);
        CHECK_EQUAL(eliza_inference_constraint_recognizer_info(NULL, &info), ELIZA_ERR_INVALID_ARG);
        CHECK_EQUAL(eliza_inference_constraint_recognizer_info(constraint, &info), ELIZA_OK);
        CHECK_EQUAL(info.kind, kind);
        CHECK_EQUAL(info.n_states == 0, is_trie);
        CHECK_EQUAL(info.automaton_bytes == 0, is_trie);
        CHECK_EQUAL(info.n_parser_states > 0 && info.n_terminals > 0 && info.n_productions > 0, kind == ELIZA_CONSTRAINT_GRAMMAR);
        CHECK(strcmp(eliza_inference_constraint_warnings(constraint), "") == 0);
        CHECK_EQUAL(eliza_inference_constraint_info(constraint, &trie_info), is_trie ? ELIZA_OK : ELIZA_ERR_INVALID_ARG);
        CHECK_EQUAL(eliza_inference_constraint_path(constraint, 0, &path, &length), is_trie ? ELIZA_OK : ELIZA_ERR_INVALID_ARG);
        eliza_inference_constraint_free(constraint);
    }
    eliza_constraint *canonical = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_choices(vocab, CHOICES, CHOICES_OFFSETS, 3, ELIZA_CHOICES_CANONICAL, NULL,
                                                              &canonical, &error));
    const char *path = NULL;
    size_t length = 0;
    CHECK_EQUAL(eliza_inference_constraint_path(canonical, 0, &path, &length), ELIZA_OK);
    CHECK(length == 7 && memcmp(path, "choices", 7) == 0);
    eliza_inference_constraint_free(canonical);
}

/* Tokenizers that do what they must not. */
static int32_t says_minus_one(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)length, (void)out, (void)cap, (void)user_data;
    return -1;
}

static int32_t says_too_many(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)length, (void)out, (void)user_data;
    return cap < 1000000 ? (int32_t)cap + 1 : (int32_t)cap;
}

static int32_t says_the_most(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)length, (void)user_data;
    CHECK(cap < 1000000);
    for (size_t i = 0; i < cap; i++) out[i] = 'x';
    return INT32_MAX;
}

static int32_t says_unknown_tokens(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)user_data;
    for (size_t i = 0; i < length && i < cap; i++) out[i] = i % 2 ? INT32_MAX : -5;
    return (int32_t)length;
}

static int32_t says_other_tokens(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)user_data;
    for (size_t i = 0; i < length && i < cap; i++) out[i] = i % 2 ? SPECIAL : 'x';
    return (int32_t)length;
}

static int32_t says_control_token(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    (void)text, (void)length, (void)user_data;
    if (cap > 0) out[0] = SPECIAL;
    return 1;
}

static void test_tokenizers(eliza_vocab *vocab) {
    static eliza_tokenize_callback const all[] = {says_minus_one,      says_too_many,     says_the_most,
                                                  says_unknown_tokens, says_other_tokens, says_control_token};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, all[i], NULL), ELIZA_OK);
        eliza_constraint *made = NULL, *regex = make_regex(vocab, "<s>abcabc[xy]");
        int status = eliza_inference_constraint_create_choices(vocab, CHOICES, CHOICES_OFFSETS, 3, ELIZA_CHOICES_CANONICAL, NULL,
                                                               &made, NULL);
        CHECK_EQUAL(status == ELIZA_OK, made != NULL);
        eliza_inference_constraint_free(made);
        eliza_matcher *matcher = make_matcher(regex);
        int32_t run[32];
        size_t n = 99;
        CHECK_EQUAL(eliza_inference_matcher_forced(matcher, run, 32, &n), ELIZA_OK);
        CHECK(n <= 32);
        for (size_t j = 0; j < n; j++) CHECK_EQUAL(eliza_inference_matcher_accept(matcher, run[j]), ELIZA_STEP_IN_SPAN);
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(regex);
    }
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, NULL, NULL), ELIZA_OK);
}

/* Uses a matcher that a call is using, in every way that may change it. */
static void check_that_it_is_busy(eliza_matcher *matcher) {
    eliza_matcher *copy = NULL;
    eliza_span_state_t state = {.struct_size = sizeof state};
    const int32_t *lent = NULL;
    int32_t words[32] = {0};
    uint8_t bytes[4];
    size_t n = 0;
    float logits[4] = {0};
    int32_t token = 0;
    eliza_sampling_t greedy = {.struct_size = sizeof greedy, .mode = ELIZA_MODE_GREEDY};
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 'a'), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 0), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_reset(matcher), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "", 0), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_deactivate(matcher), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(matcher, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_set_seed(matcher, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_state(matcher, &state), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_allowed(matcher, &lent, &n), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_bitmap(matcher, &lent, &n), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(matcher, words, 32), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(&matcher, 1, words, 32, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_mask_rows(&matcher, 1, logits, ELIZA_LOGITS_F32, 4, 4, NULL, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_can_stop(matcher), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, words, 32, &n), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, bytes, 4, &n), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, 4), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, 4, &greedy, &token), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_clone(matcher, &copy), ELIZA_ERR_BUSY);
    CHECK(copy == NULL);
    eliza_inference_matcher_free(matcher); /* not now */
}

static void *uses_it_in_another_thread(void *matcher) {
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    const char *name = NULL;
    size_t n = 0;
    check_that_it_is_busy(matcher);
    CHECK_EQUAL(eliza_inference_matcher_info(matcher, &info), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &name, &n), ELIZA_ERR_BUSY);
    CHECK(strstr(eliza_inference_matcher_last_error(matcher), "another thread") != NULL);
    return NULL;
}

/* Uses the matcher whose call it is part of, in its own thread and in another. */
static int32_t uses_the_matcher(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    eliza_matcher *matcher = *(eliza_matcher **)user_data;
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    pthread_t other;
    CHECK_EQUAL(pthread_create(&other, NULL, uses_it_in_another_thread, matcher), 0);
    pthread_join(other, NULL);
    check_that_it_is_busy(matcher);
    CHECK_EQUAL(eliza_inference_matcher_info(matcher, &info), ELIZA_OK);
    CHECK(strstr(eliza_inference_matcher_last_error(matcher), "callback") != NULL);
    for (size_t i = 0; i < length && i < cap; i++) out[i] = text[i];
    return (int32_t)length;
}

/* Two threads that do not ask each other. */
static void *uses_it_at_will(void *matcher) {
    int32_t words[N_WORDS], token = 0;
    float logits[N_TOKENS] = {0};
    eliza_sampling_t sampled = {sizeof sampled, ELIZA_MODE_SAMPLED, 1, 1};
    for (int i = 0; i < 20000; i++) {
        if (eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampled, &token) == ELIZA_OK)
            eliza_inference_matcher_accept(matcher, token);
        eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS);
        if (i % 8 == 0) eliza_inference_matcher_rollback(matcher, 1);
        if (i % 64 == 0) eliza_inference_matcher_reset(matcher);
    }
    return NULL;
}

static void test_two_threads_on_one_matcher(eliza_vocab *vocab) {
    eliza_constraint *grammar = make_grammar(vocab);
    eliza_matcher *matcher = make_matcher(grammar);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, uses_it_at_will, matcher), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK_EQUAL(eliza_inference_matcher_reset(matcher), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, '['), ELIZA_STEP_IN_SPAN);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(grammar);
}

static void test_a_batch_has_each_matcher_once(eliza_vocab *vocab) {
    eliza_constraint *regex = make_regex(vocab, "a+");
    eliza_matcher *one = make_matcher(regex), *other = make_matcher(regex);
    eliza_matcher *batch[] = {one, other, one};
    int32_t words[3 * N_WORDS];
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(batch, 3, words, N_WORDS, 1), ELIZA_ERR_INVALID_ARG);
    CHECK(strstr(eliza_inference_matcher_last_error(one), "twice") != NULL);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(batch, 2, words, N_WORDS, 1), ELIZA_OK); /* none was left in use */
    eliza_inference_matcher_free(one);
    eliza_inference_matcher_free(other);
    eliza_inference_constraint_free(regex);
}

static void test_a_tokenizer_cannot_use_its_matcher(eliza_vocab *vocab) {
    eliza_constraint *regex = make_regex(vocab, "abcabc[xy]");
    eliza_matcher *matcher = make_matcher(regex);
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, uses_the_matcher, &matcher), ELIZA_OK);
    int32_t run[32];
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, run, 32, &n), ELIZA_OK);
    CHECK(n > 0);
    for (size_t i = 0; i < n; i++) CHECK_EQUAL(eliza_inference_matcher_accept(matcher, run[i]), ELIZA_STEP_IN_SPAN);
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, NULL, NULL), ELIZA_OK);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(regex);
}

typedef struct {
    eliza_vocab *vocab;
    eliza_constraint *constraint;
} freed_within;

/* The references of the caller, whose call continues. */
static int frees(void *user_data) {
    freed_within *at = user_data;
    eliza_inference_vocab_free(at->vocab);
    eliza_inference_constraint_free(at->constraint);
    *at = (freed_within){0};
    return 0;
}

static int gives_nothing_and_frees(const char *uri, size_t uri_len, const char **out_text, size_t *out_len, void *user_data) {
    (void)uri, (void)uri_len, (void)out_text, (void)out_len;
    return frees(user_data);
}

static void test_callbacks_may_free_what_is_in_use(void) {
    freed_within at = {make_vocab(), NULL};
    eliza_compile_config_t config = {.struct_size = sizeof config, .cancel = frees, .user_data = &at};
    eliza_constraint *made = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_regex(at.vocab, "a+", 2, 0, &config, &made, &error));
    CHECK(at.vocab == NULL);
    eliza_inference_constraint_free(made);

    const char *schema = "{\"$ref\":\"other\"}";
    at.vocab = make_vocab();
    eliza_json_schema_options_t options = {.struct_size = sizeof options, .document = gives_nothing_and_frees, .user_data = &at};
    GIVES(ELIZA_ERR_GRAMMAR,
          eliza_inference_constraint_create_json_schema(at.vocab, schema, strlen(schema), &options, NULL, &made, &error));
    CHECK(at.vocab == NULL);

    const char *grammar = "start: \"a\" start?";
    at.vocab = make_vocab();
    GIVES(ELIZA_OK, eliza_inference_constraint_create_lark(at.vocab, grammar, strlen(grammar), NULL, &at.constraint, &error));
    GIVES(ELIZA_OK, eliza_inference_constraint_prepare(at.constraint, &config, &error));
    CHECK(at.constraint == NULL);
}

/* 6: matcher */

static int create_span(const eliza_constraint *constraint, const eliza_span_config_t *config) {
    eliza_matcher *made = NULL;
    int status = eliza_inference_matcher_create_span(constraint, config, &made, NULL);
    eliza_inference_matcher_free(made);
    return status;
}

static void test_span_config(const eliza_vocab *vocab) {
    eliza_constraint *regex = make_regex(vocab, "a+"), *trie = make_trie(vocab);
    int32_t ends[ELIZA_END_TOKENS_MAX + 1] = {0};
    const int32_t below[] = {-1}, beyond[] = {'x', N_TOKENS};
    eliza_span_config_t config = {.struct_size = sizeof config};
    eliza_matcher *made = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(NULL, &config, &made, &error));
    CHECK(made == NULL);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, NULL, &error));
    CHECK_GIVEN_STRUCT(eliza_span_config_t, config, create_span(regex, given));
    config.struct_size = FIRST_SIZE(eliza_span_config_t) - 1;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = ends, .n_end = ELIZA_END_TOKENS_MAX + 1};
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config.n_end = SIZE_MAX;
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = below, .n_end = 1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = beyond, .n_end = 2};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = NULL, .n_end = 1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .prefill = NULL, .prefill_len = 1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    const uint8_t before[ELIZA_PREFILL_BYTES_MAX + 1] = {'x'};
    config = (eliza_span_config_t){.struct_size = sizeof config, .prefill = before, .prefill_len = sizeof before};
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    config.prefill_len = 1;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(trie, &config, &made, &error));
    GIVES(ELIZA_OK, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_REFUSED);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'x'), ELIZA_STEP_IN_SPAN);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN);
    eliza_inference_matcher_free(made);
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = ends, .n_end = 1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(trie, &config, &made, &error));
    config.n_end = 0;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create_span(trie, &config, &made, &error));
    config = (eliza_span_config_t){.struct_size = sizeof config, .span_timeout = 1};
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_matcher_create_span(trie, &config, &made, &error));
    CHECK(made == NULL);
    GIVES(ELIZA_OK, eliza_inference_matcher_create_span(regex, &config, &made, &error));
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED | ELIZA_STEP_TIMED_OUT);
    eliza_inference_matcher_free(made);

    /* The same token several times, a letter of the text, an end of generation: each is legal once. */
    const int32_t several[] = {'x', 'a', END, 'x', UNUSED, AB};
    made = make_matcher_with_ends(regex, several, 6);
    CHECK_EQUAL(check_masks(made), 1);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN);
    CHECK_EQUAL(check_masks(made), 5);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    CHECK_EQUAL(check_masks(made), N_TOKENS);
    eliza_inference_matcher_free(made);

    made = make_matcher_with_ends(regex, several, 0); /* it steps back */
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'x'), ELIZA_STEP_REFUSED);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN);
    CHECK_EQUAL(check_masks(made), N_TOKENS);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'x'), ELIZA_STEP_SPAN_ENDED);
    CHECK_EQUAL(eliza_inference_matcher_rollback(made, 1), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_accept(made, 'a'), ELIZA_STEP_IN_SPAN);
    eliza_inference_matcher_free(made);
    eliza_inference_constraint_free(regex);
    eliza_inference_constraint_free(trie);
}

static void test_matcher_without_handle(void) {
    const int32_t *words;
    int32_t own[N_WORDS];
    uint8_t bytes[4];
    size_t n;
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_matcher_bitmap(NULL, &words, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(NULL, own, N_WORDS), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(NULL, bytes, 4, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_info(NULL, &info), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(NULL, 1, own, N_WORDS, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(NULL, 0, NULL, 0, 0), ELIZA_OK);
}

static void test_bitmap_rows(eliza_matcher *matcher, eliza_matcher *other) {
    int32_t words[3 * N_WORDS];
    const int32_t *lent;
    size_t n;
    CHECK_EQUAL(eliza_inference_matcher_bitmap(matcher, NULL, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_bitmap(matcher, &lent, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(matcher, NULL, N_WORDS), ELIZA_ERR_INVALID_ARG);
    memset(words, SENTINEL, sizeof words);
    for (size_t n_words = 0; n_words < N_WORDS; n_words++) {
        CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(matcher, words, n_words), ELIZA_ERR_INVALID_ARG);
        CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(&matcher, 1, words, n_words, 1), ELIZA_ERR_INVALID_ARG);
    }
    CHECK(is_sentinel((unsigned char *)words, sizeof words));
    CHECK(strlen(eliza_inference_matcher_last_error(matcher)) > 5);

    eliza_matcher *pair[] = {matcher, other, NULL};
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 3, words, N_WORDS, 2), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 2, NULL, N_WORDS, 2), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(NULL, 2, words, N_WORDS, 2), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 0, NULL, 0, 2), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 3, NULL, 0, 2), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 2, NULL, 0, 2), ELIZA_OK);
    CHECK(is_sentinel((unsigned char *)words, sizeof words));
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmaps(pair, 2, words, N_WORDS, UINT32_MAX), ELIZA_OK);
    CHECK(is_sentinel((unsigned char *)(words + 2 * N_WORDS), sizeof words / 3));
    int32_t row[N_WORDS];
    CHECK(eliza_inference_matcher_fill_bitmap(other, row, N_WORDS) >= 0);
    CHECK(memcmp(row, words + N_WORDS, sizeof row) == 0);
}

static void test_forced_buffers(const eliza_vocab *vocab) {
    eliza_constraint *constraint = make_regex(vocab, "abcabcdef"), *trie = make_trie(vocab);
    eliza_matcher *matcher = make_matcher(constraint);
    size_t n = 99;
    for (size_t cap = 0; cap <= 12; cap++) {
        uint8_t bytes[16];
        int32_t tokens[16];
        memset(bytes, SENTINEL, sizeof bytes);
        memset(tokens, SENTINEL, sizeof tokens);
        CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, cap ? bytes : NULL, cap, &n), ELIZA_OK);
        size_t written = cap < 9 ? cap : 9;
        CHECK(n == 9 && memcmp(bytes, "abcabcdef", written) == 0);
        CHECK(is_sentinel(bytes + written, sizeof bytes - written));
        CHECK_EQUAL(eliza_inference_matcher_forced(matcher, cap ? tokens : NULL, cap, &n), ELIZA_OK);
        CHECK_EQUAL(n, 5);
        written = cap < n ? cap : n;
        CHECK(is_sentinel((unsigned char *)(tokens + written), sizeof tokens - written * sizeof *tokens));
    }
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, NULL, 1, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, NULL, 0, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, NULL, 1, &n), ELIZA_ERR_INVALID_ARG);
    eliza_inference_matcher_free(matcher);
    matcher = make_matcher(trie);
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, NULL, 0, &n), ELIZA_OK);
    CHECK_EQUAL(n, 0);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(trie);
    eliza_inference_constraint_free(constraint);
}

/* Only one text, without an end, would be forced for ever. */
static void test_forced_run_is_cut(const eliza_vocab *vocab) {
    char *text = malloc(70000);
    uint64_t offsets[] = {0, 70000};
    memset(text, 'z', 70000);
    eliza_constraint *constraint = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_choices(vocab, (uint8_t *)text, offsets, 1, 0, NULL, &constraint, &error));
    eliza_matcher *matcher = make_matcher(constraint);
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_matcher_forced_bytes(matcher, (uint8_t *)text, 70000, &n), ELIZA_OK);
    CHECK_EQUAL(n, ELIZA_FORCED_BYTES_MAX);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, NULL, 0, &n), ELIZA_OK);
    CHECK(n > 0 && n <= ELIZA_FORCED_BYTES_MAX);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    free(text);
}

static void check_sampling(eliza_matcher *matcher) {
    float logits[N_TOKENS + 3] = {0};
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, 1, 0.9f};
    int32_t token = -1;
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, N_TOKENS - 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &token), ELIZA_OK);
    int32_t words[N_WORDS];
    CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS) >= 0);
    CHECK(token >= 0 && token < N_TOKENS && (words[token / 32] >> (token % 32) & 1));
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, N_TOKENS + 3), ELIZA_OK);
    for (int32_t i = 0; i < N_TOKENS; i++) CHECK((logits[i] == 0) == (words[i / 32] >> (i % 32) & 1));
}

/* Whether the number at `place` is -inf: its bits, in the bytes of a row of any type. */
static int is_lowest(const unsigned char *row, int type, size_t place) {
    uint64_t bits = 0;
    static const uint64_t lowest[] = {0xff800000u, 0xfc00u, 0xff80u, 0xfff0000000000000u};
    static const size_t sizes[] = {4, 2, 2, 8};
    memcpy(&bits, row + place * sizes[type], sizes[type]); /* little-endian, as all processors that this runs on */
    return bits == lowest[type];
}

static void test_logits_of_rows(eliza_matcher *matcher, eliza_matcher *other) {
    static const size_t sizes[] = {4, 2, 2, 8};
    enum { N_LOGITS = N_TOKENS + 3, STRIDE = N_LOGITS + 4, N_ROWS = 4 };
    static double memory[N_ROWS * STRIDE]; /* of the largest type */
    unsigned char *bytes = (unsigned char *)memory;
    eliza_matcher *pair[] = {matcher, other, NULL};
    const uint32_t rows[] = {3, 1};
    int32_t words[2][N_WORDS];
    for (int i = 0; i < 2; i++) CHECK(eliza_inference_matcher_fill_bitmap(pair[i], words[i], N_WORDS) >= 0);
    for (int type = ELIZA_LOGITS_F32; type <= ELIZA_LOGITS_F64; type++) {
        memset(memory, 0, sizeof memory);
        CHECK_EQUAL(eliza_inference_matcher_mask_rows(pair, 2, memory, type, N_LOGITS, STRIDE, rows, 2), ELIZA_OK);
        for (size_t row = 0; row < N_ROWS; row++) {
            const int32_t *legal = row == 3 ? words[0] : row == 1 ? words[1] : NULL;
            for (size_t i = 0; i < STRIDE; i++) {
                int masked = legal && i < N_LOGITS && (i >= N_TOKENS || !(legal[i / 32] >> (i % 32) & 1));
                CHECK(is_lowest(bytes + row * STRIDE * sizes[type], type, i) == masked);
            }
        }
        CHECK_EQUAL(eliza_inference_matcher_mask_rows(pair, 2, memory, type, N_LOGITS, STRIDE, NULL, 0), ELIZA_OK);
        CHECK(is_lowest(bytes, type, N_TOKENS) && !is_lowest(bytes + 2 * STRIDE * sizes[type], type, N_TOKENS));
    }
    memset(memory, SENTINEL, sizeof memory);
#define REFUSED_ROWS(...) CHECK_EQUAL(eliza_inference_matcher_mask_rows(__VA_ARGS__), ELIZA_ERR_INVALID_ARG)
    REFUSED_ROWS(NULL, 2, memory, ELIZA_LOGITS_F32, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 3, memory, ELIZA_LOGITS_F32, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, NULL, ELIZA_LOGITS_F32, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, memory, -1, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, memory, ELIZA_LOGITS_F64 + 1, N_LOGITS, STRIDE, NULL, 1);
    CHECK(strstr(eliza_inference_matcher_last_error(matcher), "type 4") != NULL);
    REFUSED_ROWS(pair, 2, bytes + 1, ELIZA_LOGITS_BF16, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, bytes + 4, ELIZA_LOGITS_F64, N_LOGITS, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, memory, ELIZA_LOGITS_F32, N_TOKENS - 1, STRIDE, NULL, 1);
    REFUSED_ROWS(pair, 2, memory, ELIZA_LOGITS_F32, N_LOGITS, N_LOGITS - 1, NULL, 1);
    REFUSED_ROWS(pair, 2, memory, ELIZA_LOGITS_F64, N_LOGITS, SIZE_MAX, NULL, 1);
#undef REFUSED_ROWS
    CHECK_EQUAL(eliza_inference_matcher_mask_rows(NULL, 0, NULL, 0, 0, 0, NULL, 0), ELIZA_OK);
    CHECK(is_sentinel(bytes, sizeof memory));
}

/* One matcher of each kind through everything; `text` is legal. */
static void use_matcher(const eliza_constraint *constraint, const char *text) {
    eliza_matcher *matcher = make_matcher(constraint), *copy = NULL;
    const char *name = NOT_A_HANDLE;
    size_t n = 9, length = strlen(text);
    CHECK_STRUCT(eliza_matcher_info_t, matcher, eliza_inference_matcher_info);
    CHECK_STRUCT(eliza_span_state_t, matcher, eliza_inference_matcher_state);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &name, &n), ELIZA_OK);
    CHECK(name == NULL && n == 0);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, -1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, N_TOKENS), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "x", 1), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(is_utf8(eliza_inference_matcher_last_error(matcher)));
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(matcher, 0), ELIZA_ERR_INVALID_ARG);

    size_t at_start = check_masks(matcher);
    check_sampling(matcher);
    accept_text(matcher, text);
    size_t at_end = check_masks(matcher);
    CHECK_EQUAL(eliza_inference_matcher_can_stop(matcher), 1);
    CHECK_EQUAL(eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, length), ELIZA_OK);
    CHECK_EQUAL(check_masks(matcher), at_start);
    CHECK_EQUAL(check_masks(copy), at_end);
    test_bitmap_rows(matcher, copy);
    test_logits_of_rows(matcher, copy);
    CHECK_EQUAL(eliza_inference_matcher_rollback(copy, length), ELIZA_OK); /* the history was copied */
    CHECK_EQUAL(check_masks(copy), at_start);
    CHECK_EQUAL(eliza_inference_matcher_rollback(copy, 1), ELIZA_ERR_INVALID_ARG);
    eliza_inference_matcher_free(copy);

    accept_text(matcher, text);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, END), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    CHECK_EQUAL(check_masks(matcher), N_TOKENS); /* outside of the span */
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, SPECIAL), 0);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 2), ELIZA_OK);
    CHECK_EQUAL(check_masks(matcher), at_end);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, OTHER_END), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, NULL, 0), ELIZA_OK);
    CHECK_EQUAL(check_masks(matcher), at_start);
    CHECK_EQUAL(eliza_inference_matcher_deactivate(matcher), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_deactivate(matcher), ELIZA_OK);
    CHECK_EQUAL(check_masks(matcher), N_TOKENS);
    CHECK_EQUAL(eliza_inference_matcher_reset(matcher), ELIZA_OK);
    CHECK_EQUAL(check_masks(matcher), at_start);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_ERR_INVALID_ARG);

    /* A clone with other end tokens keeps them. */
    const int32_t end[] = {SPECIAL};
    eliza_matcher *ended = make_matcher_with_ends(constraint, end, 1);
    accept_text(ended, text);
    check_masks(ended);
    CHECK_EQUAL(eliza_inference_matcher_clone(ended, &copy), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_accept(copy, END), ELIZA_STEP_REFUSED);
    CHECK_EQUAL(eliza_inference_matcher_accept(copy, SPECIAL), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    eliza_inference_matcher_free(copy);
    eliza_inference_matcher_free(ended);
    eliza_inference_matcher_free(matcher);
}

static void test_matchers(const eliza_vocab *vocab) {
    const uint64_t budgets[] = {0, 1, 5000, 30000};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        eliza_constraint *regex = make_regex_within(vocab, "[^b]*(abc)?", budgets[i]), *grammar = make_grammar_within(vocab, budgets[i]);
        use_matcher(regex, "xabc");
        use_matcher(grammar, "[abc, [d],[]]");
        eliza_recognizer_info_t info = {.struct_size = sizeof info};
        CHECK_EQUAL(eliza_inference_constraint_recognizer_info(grammar, &info), ELIZA_OK);
        if (budgets[i] > 0) CHECK(info.table_bytes <= budgets[i]);
        eliza_inference_constraint_free(regex);
        eliza_inference_constraint_free(grammar);
    }
    eliza_constraint *choices = make_choices(vocab);
    use_matcher(choices, "never");
    eliza_inference_constraint_free(choices);
}

/* A matcher keeps its constraint, and a constraint its vocabulary. */
static void test_lifetimes(void) {
    eliza_vocab *vocab = make_vocab();
    eliza_constraint *constraint = make_grammar(vocab);
    eliza_inference_vocab_free(vocab);
    eliza_matcher *matcher = make_matcher(constraint);
    eliza_inference_constraint_free(constraint);
    accept_text(matcher, "[a");
    CHECK(check_masks(matcher) > 3);
    eliza_inference_matcher_free(matcher);
}

/* Far more tokens than can be taken back, and stacks that are made smaller on the way. */
static void test_long_output(const eliza_vocab *vocab) {
    eliza_constraint *constraint = make_grammar(vocab);
    eliza_matcher *matcher = make_matcher(constraint);
    const size_t depth = 70000;
    for (size_t i = 0; i < depth; i++)
        if (eliza_inference_matcher_accept(matcher, '[') != ELIZA_STEP_IN_SPAN) CHECK(!"it takes any number of them");
    check_masks(matcher);
    for (size_t i = 0; i < depth; i++)
        if (eliza_inference_matcher_accept(matcher, ']') != ELIZA_STEP_IN_SPAN) CHECK(!"it takes as many as are open");
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, ']'), ELIZA_STEP_REFUSED);
    CHECK_EQUAL(eliza_inference_matcher_can_stop(matcher), 1);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, ELIZA_ROLLBACK_TOKENS_MAX + 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, ELIZA_ROLLBACK_TOKENS_MAX), ELIZA_OK);
    for (size_t i = 0; i < ELIZA_ROLLBACK_TOKENS_MAX; i++)
        if (eliza_inference_matcher_accept(matcher, ']') != ELIZA_STEP_IN_SPAN) CHECK(!"all of it came back");
    CHECK_EQUAL(eliza_inference_matcher_can_stop(matcher), 1);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

/* Many threads find the masks of one constraint while there is no room to keep them all. */
static void *use_constraint(void *argument) {
    const eliza_constraint *constraint = argument;
    size_t wrong = 0;
    for (int round = 0; round < 20; round++) {
        eliza_matcher *matcher = NULL;
        wrong += eliza_inference_matcher_create(constraint, 0, &matcher, NULL) != ELIZA_OK;
        for (int i = 0; i < 40; i++) {
            int32_t words[N_WORDS];
            wrong += eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS) < 0;
            wrong += !(words['[' / 32] >> ('[' % 32) & 1) || (words[']' / 32] >> (']' % 32) & 1) != (i % 2 == 0 && i > 0);
            wrong += eliza_inference_matcher_accept(matcher, '[') != ELIZA_STEP_IN_SPAN;
            if (i % 2) continue;
            wrong += eliza_inference_matcher_accept(matcher, 'a' + i % 26) != ELIZA_STEP_IN_SPAN;
            wrong += eliza_inference_matcher_accept(matcher, ',') != ELIZA_STEP_IN_SPAN;
        }
        eliza_inference_matcher_free(matcher);
    }
    return (void *)wrong;
}

static void test_threads(const eliza_vocab *vocab) {
    const uint64_t budgets[] = {1, 20000, 0};
    for (size_t i = 0; i < 3; i++) {
        eliza_constraint *constraint = make_grammar_within(vocab, budgets[i]);
        pthread_t threads[4];
        for (size_t j = 0; j < 4; j++) CHECK_EQUAL(pthread_create(&threads[j], NULL, use_constraint, constraint), 0);
        for (size_t j = 0; j < 4; j++) {
            void *wrong = NULL;
            pthread_join(threads[j], &wrong);
            CHECK_EQUAL((size_t)wrong, 0);
        }
        eliza_inference_constraint_free(constraint);
    }
}

/* Files */

static char path[1024];

static size_t path_in(const char *folder, const char *name) {
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void test_file_arguments(const char *folder, const eliza_vocab *vocab) {
    eliza_constraint *regex = make_regex(vocab, "a+"), *trie = make_trie(vocab);
    eliza_vocab *bare = make_vocab_without_bytes(), *opened = NOT_A_HANDLE;
    size_t n = path_in(folder, "arguments");
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_save(NULL, path, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_save(regex, NULL, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_save(trie, path, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_save(NULL, path, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_save(vocab, NULL, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_save(bare, path, n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_open(NULL, n, &opened, &error));
    CHECK(opened == NULL);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_open(path, n, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(vocab, path, n, NULL, NULL, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(NULL, path, n, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(bare, path, n, NULL, &made, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(vocab, NULL, n, NULL, &made, &error));
    eliza_compile_config_t config = {.struct_size = 3};
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(vocab, path, n, &config, &made, &error));

    /* Paths where no file is, or can be. */
    static const char *const nowhere[] = {"", "/", "/nonexistent/file", "/nonexistent/\xff"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        size_t length = strlen(nowhere[i]);
        GIVES(ELIZA_ERR_IO, eliza_inference_constraint_save(regex, nowhere[i], length, &error));
        GIVES(ELIZA_ERR_IO, eliza_inference_vocab_save(vocab, nowhere[i], length, &error));
        GIVES(ELIZA_ERR_IO, eliza_inference_vocab_open(nowhere[i], length, &opened, &error));
        REFUSES(ELIZA_ERR_IO, eliza_inference_constraint_open(vocab, nowhere[i], length, NULL, &made, &error));
    }
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_save(regex, "a\0b", 3, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_save(vocab, "a\0b", 3, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_open("a\0b", 3, &opened, &error));
    REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open(vocab, "a\0b", 3, NULL, &made, &error));
    eliza_inference_constraint_free(regex);
    eliza_inference_constraint_free(trie);
    eliza_inference_vocab_free(bare);
}

static char *read_whole(size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) exit(1);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length);
    CHECK_EQUAL(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static void write_whole(const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    CHECK_EQUAL(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

/* The file at `path`, damaged in many ways, is refused. `vocab` NULL: it is one of a vocabulary. */
static void refuses_damage(const eliza_vocab *vocab) {
    const size_t n = strlen(path);
    size_t length = 0;
    char *whole = read_whole(&length);
    eliza_vocab *opened = NULL;
    eliza_constraint *made = NULL;
    for (size_t i = 0; i < 200; i++) {
        size_t kept = i < 100 ? i * 3 : length - (i - 99);
        if (i >= 100 && i - 99 > length) break;
        if (kept >= length) continue;
        write_whole(whole, kept);
        if (vocab) GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(vocab, path, n, NULL, &made, &error));
        else GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_vocab_open(path, n, &opened, &error));
    }
    size_t step = length / 300 + 1;
    for (size_t at = 0; at < length; at += at < 48 ? 1 : step) {
        if (at >= 48 && at < 64) continue; /* reserved */
        whole[at] ^= 0x10;
        write_whole(whole, length);
        whole[at] ^= 0x10;
        if (vocab) GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(vocab, path, n, NULL, &made, &error));
        else GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_vocab_open(path, n, &opened, &error));
    }
    char *longer = calloc(1, length + 64);
    memcpy(longer, whole, length);
    write_whole(longer, length + 64);
    if (vocab) GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(vocab, path, n, NULL, &made, &error));
    else GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_vocab_open(path, n, &opened, &error));
    free(longer);
    CHECK(made == NULL && opened == NULL);
    write_whole(whole, length);
    free(whole);
}

/* What the caller has: one document, a memory that is used again, and calls that it counts. */
typedef struct {
    const eliza_vocab *vocab;
    char lent[64];
    int n_calls;
} library_of_documents;

static int give_document(const char *uri, size_t uri_len, const char **out_text, size_t *out_len, void *user_data) {
    static const char first[] = "http://h/first", empty[] = "http://h/empty", stop[] = "http://h/stop";
    library_of_documents *documents = user_data;
    documents->n_calls++;
    CHECK(*out_text == NULL);
    if (uri_len == sizeof stop - 1 && memcmp(uri, stop, uri_len) == 0) return 1;
    if (uri_len == sizeof empty - 1 && memcmp(uri, empty, uri_len) == 0) {
        *out_text = documents->lent;
        *out_len = 0;
        return 0;
    }
    /* It may compile a constraint of its own. */
    eliza_inference_constraint_free(make_schema(documents->vocab));
    int is_first = uri_len == sizeof first - 1 && memcmp(uri, first, uri_len) == 0;
    *out_len = (size_t)sprintf(documents->lent, is_first ? "{\"type\":\"array\",\"items\":{\"$ref\":\"second\"}}" : "{\"const\":\"b\"}");
    *out_text = documents->lent;
    return 0;
}

static int create_referring(library_of_documents *documents, const char *schema, eliza_constraint **out) {
    const eliza_json_schema_options_t options = {
        .struct_size = sizeof options, .document = give_document, .user_data = documents};
    return eliza_inference_constraint_create_json_schema(documents->vocab, schema, strlen(schema), &options, NULL, out, &error);
}

static void test_schema_documents(const char *folder, const eliza_vocab *vocab) {
    library_of_documents documents = {.vocab = vocab};
    eliza_constraint *constraint = NULL;
    size_t n = path_in(folder, "constraint");
    const char schema[] = "{\"anyOf\":[{\"$ref\":\"http://h/first\"},{\"items\":{\"$ref\":\"http://h/first\"},\"type\":\"array\"}]}";
    GIVES(ELIZA_OK, create_referring(&documents, schema, &constraint));
    CHECK_EQUAL(documents.n_calls, 2);
    memset(documents.lent, 'x', sizeof documents.lent);
    GIVES(ELIZA_OK, eliza_inference_constraint_save(constraint, path, n, &error));
    eliza_inference_constraint_free(constraint);
    GIVES(ELIZA_OK, eliza_inference_constraint_open(vocab, path, n, NULL, &constraint, &error));
    CHECK_EQUAL(documents.n_calls, 2);
    eliza_matcher *matcher = make_matcher(constraint);
    accept_text(matcher, "[[\"b");
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 'a'), ELIZA_STEP_REFUSED);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    REFUSES(ELIZA_ERR_CANCELLED, create_referring(&documents, "{\"$ref\":\"http://h/stop\"}", &made));
    REFUSES(ELIZA_ERR_GRAMMAR, create_referring(&documents, "{\"$ref\":\"http://h/empty\"}", &made));

    const eliza_compile_config_t little = {.struct_size = sizeof little, .bytes_max = 1};
    GIVES(ELIZA_OK, create_schema(vocab, NULL, &constraint));
    GIVES(ELIZA_OK, eliza_inference_constraint_save(constraint, path, n, &error));
    eliza_inference_constraint_free(constraint);
    REFUSES(ELIZA_ERR_LIMIT, eliza_inference_constraint_open(vocab, path, n, &little, &made, &error));
    remove(path);
}

static void test_files(const char *folder, const eliza_vocab *vocab) {
    eliza_constraint *all[] = {make_choices(vocab), make_regex(vocab, "[^b]*(abc)?"), make_grammar(vocab), make_schema(vocab)};
    static const char *const texts[] = {"never", "xabc", "[abc, [d],[]]", "[\"a\",\n []]"};
    eliza_vocab *other = make_vocab_where("other", N_TOKENS), *larger = NULL, *opened = NULL;
    eliza_constraint *mapped = NULL;
    size_t n = path_in(folder, "vocabulary");
    GIVES(ELIZA_OK, eliza_inference_vocab_save(vocab, path, n, &error));
    REFUSES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(vocab, path, n, NULL, &made, &error));
    refuses_damage(NULL);
    GIVES(ELIZA_OK, eliza_inference_vocab_open(path, n, &opened, &error));
    for (uint32_t flags = 0; flags <= (ELIZA_OPEN_TRUSTED | ELIZA_OPEN_COPY); flags++) {
        eliza_vocab *again = NULL;
        GIVES(ELIZA_OK, eliza_inference_vocab_open_with(path, n, flags, &again, &error));
        CHECK_EQUAL(eliza_inference_vocab_size(again), N_TOKENS);
        eliza_inference_vocab_free(again);
    }
    eliza_vocab *refused = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_open_with(path, n, 4, &refused, &error));
    CHECK(refused == NULL);
    larger = make_vocab_where("unused", N_TOKENS - 1);
    CHECK_STRUCT(eliza_vocab_info_t, opened, eliza_inference_vocab_info);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (i < 2) GIVES(ELIZA_OK, eliza_inference_constraint_prepare(all[i], NULL, &error));
        eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = 1};
        n = path_in(folder, "constraint");
        for (int prepared = 0; prepared < 2; prepared++) { /* without tables, and with all of them */
            GIVES(ELIZA_OK, eliza_inference_constraint_save(all[i], path, n, &error));
            GIVES(ELIZA_OK, eliza_inference_constraint_open(opened, path, n, &config, &mapped, &error));
            use_matcher(mapped, texts[i]);
            GIVES(ELIZA_OK, eliza_inference_constraint_prepare(mapped, NULL, &error));
            eliza_inference_constraint_free(mapped);
            GIVES(ELIZA_OK, eliza_inference_constraint_prepare(all[i], NULL, &error));
        }
        REFUSES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(other, path, n, NULL, &made, &error));
        REFUSES(ELIZA_ERR_FILE_INVALID, eliza_inference_constraint_open(larger, path, n, NULL, &made, &error));
        eliza_vocab *none = NOT_A_HANDLE;
        GIVES(ELIZA_ERR_FILE_INVALID, eliza_inference_vocab_open(path, n, &none, &error));
        CHECK(none == NULL);
        refuses_damage(vocab);

        for (uint32_t flags = 0; flags <= (ELIZA_OPEN_TRUSTED | ELIZA_OPEN_COPY); flags++) {
            GIVES(ELIZA_OK, eliza_inference_constraint_open_with(vocab, path, n, flags, NULL, &mapped, &error));
            use_matcher(mapped, texts[i]);
            eliza_inference_constraint_free(mapped);
        }
        REFUSES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_open_with(vocab, path, n, 4, NULL, &made, &error));

        /* What was opened is saved again, and outlives the handles that it came from. */
        GIVES(ELIZA_OK, eliza_inference_constraint_open(vocab, path, n, NULL, &mapped, &error));
        n = path_in(folder, "again");
        GIVES(ELIZA_OK, eliza_inference_constraint_save(mapped, path, n, &error));
        eliza_inference_constraint_free(mapped);
        GIVES(ELIZA_OK, eliza_inference_constraint_open(vocab, path, n, NULL, &mapped, &error));
        remove(path);
        use_matcher(mapped, texts[i]);
        CHECK(strcmp(eliza_inference_constraint_warnings(mapped), eliza_inference_constraint_warnings(all[i])) == 0);
        eliza_inference_constraint_free(mapped);
        eliza_inference_constraint_free(all[i]);
    }
    eliza_inference_vocab_free(opened);
    eliza_inference_vocab_free(other);
    eliza_inference_vocab_free(larger);
    path_in(folder, "constraint");
    remove(path);
    path_in(folder, "vocabulary");
    remove(path);
}

/* Tokens of many lexemes, a thread with a small stack. */
#define LEXEMES_MAX 4096
#define TERMINALS_MAX 1000

static void *fill_with_small_stack(void *argument) {
    eliza_matcher *matcher = NULL;
    int32_t words[9], none = 0;
    eliza_span_config_t config = {.struct_size = sizeof config, .end = &none};
    CHECK_EQUAL(eliza_inference_matcher_create_span(argument, &config, &matcher, NULL), ELIZA_OK);
    CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, 9) >= 0);
    CHECK_EQUAL(words[8], 1); /* the long token */
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 256), ELIZA_STEP_IN_SPAN);
    eliza_inference_matcher_free(matcher);
    return NULL;
}

static void test_small_stack(int n_lexemes, int n_terminals) {
    static uint8_t bytes[256 + LEXEMES_MAX];
    static char grammar[64 * TERMINALS_MAX];
    uint64_t offsets[258];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    for (int i = 0; i <= 256; i++) offsets[i] = (uint64_t)i;
    memset(bytes + 256, '[', (size_t)n_lexemes);
    offsets[257] = 256 + (uint64_t)n_lexemes;
    size_t length = (size_t)sprintf(grammar, "start: item*\nitem: \"[\" item* \"]\"");
    for (int i = 0; i < n_terminals; i++) length += (size_t)sprintf(grammar + length, " | \"t%dx\"", i);
    length += (size_t)sprintf(grammar + length, "\n");
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 257, .bytes = bytes, .offsets = offsets};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    CHECK_EQUAL(eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_constraint_create_lark(vocab, grammar, length, NULL, &constraint, NULL), ELIZA_OK);
    pthread_attr_t small;
    pthread_t thread;
    CHECK_EQUAL(pthread_attr_init(&small), 0);
    CHECK_EQUAL(pthread_attr_setstacksize(&small, 256 << 10), 0);
    CHECK_EQUAL(pthread_create(&thread, &small, fill_with_small_stack, constraint), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&small);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    eliza_vocab *vocab = make_vocab(), *bare = make_vocab_without_bytes();
    test_vocab_trie();
    test_choices_arguments(vocab, bare);
    test_text_arguments(vocab, bare);
    test_gbnf_arguments(vocab, bare);
    test_tags_arguments(vocab, bare);
    test_parts(folder, vocab, bare);
    test_schema_arguments(vocab, bare);
    test_schema_documents(folder, vocab);
    test_deep_nesting(vocab);
    test_budgets(vocab);
    test_prepare(vocab);
    test_kinds(vocab);
    test_tokenizers(vocab);
    test_a_tokenizer_cannot_use_its_matcher(vocab);
    test_two_threads_on_one_matcher(vocab);
    test_a_batch_has_each_matcher_once(vocab);
    test_callbacks_may_free_what_is_in_use();
    test_span_config(vocab);
    test_matcher_without_handle();
    test_forced_buffers(vocab);
    test_forced_run_is_cut(vocab);
    test_matchers(vocab);
    test_lifetimes();
    test_long_output(vocab);
    test_threads(vocab);
    test_small_stack(190, 50); /* with tables of what the token is lexed as */
    test_small_stack(45, TERMINALS_MAX);
    test_small_stack(LEXEMES_MAX, TERMINALS_MAX); /* without */
    test_file_arguments(folder, vocab);
    test_files(folder, vocab);
    eliza_inference_vocab_free(bare);
    eliza_inference_vocab_free(vocab);
    eliza_inference_trie_cache_set_limit(0); /* so that a leak checker sees an empty cache */
    return check_report("recognizers");
}
