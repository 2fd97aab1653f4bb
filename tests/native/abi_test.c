/* Attacks the C ABI: what a caller may do wrong with each function must give the documented status
 * and leave the object usable. The recognizers are attacked by recognizer_test.c; tests/native/build.py
 * checks that every exported function is in one of the two.
 *
 *     abi_test              the parts that need no libllama
 *     abi_test MODEL.gguf   all of it; libllama is found by ELIZA_INFERENCE_LLAMA
 */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "abi_check.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef _WIN32
#define setenv(name, value, overwrite) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#endif

#define VOCAB_SIZE 100

static const char PAYLOAD[] = "{\"modelId\":\"tiny\",\"descriptors\":[{\"path\":\"action\",\"leaves\":["
                              "{\"name\":\"GO\",\"tokens\":[10,11]},{\"name\":\"STOP\",\"tokens\":[20]}]}],"
                              "\"names\":\"labels\"}";
#define PAYLOAD_LENGTH (sizeof PAYLOAD - 1)

/* 1 and 2: library, errors */

static int n_logged;

static void on_log(int32_t level, const char *message, size_t length, void *user_data) {
    CHECK(level >= ELIZA_LOG_ERROR && level <= ELIZA_LOG_INFO);
    CHECK_EQUAL(strlen(message), length);
    CHECK(is_utf8(message));
    CHECK(user_data == &n_logged);
    n_logged++;
}

static void test_library(void) {
    char expected[16];
    snprintf(expected, sizeof expected, "%d", ELIZA_INFERENCE_ABI_VERSION);
    CHECK(strcmp(eliza_inference_abi_version(), expected) == 0);
    int major, minor, patch;
    CHECK_EQUAL(sscanf(eliza_inference_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    eliza_inference_free_string(NULL);
    eliza_inference_free_string(NULL);
    CHECK_EQUAL(eliza_inference_error_status(NULL), ELIZA_OK);

    const struct {
        int status;
        const char *name;
    } statuses[] = {
        {ELIZA_OK, "ELIZA_OK"},
        {ELIZA_ERR_UNSUPPORTED, "ELIZA_ERR_UNSUPPORTED"},
        {ELIZA_ERR_INVALID_ARG, "ELIZA_ERR_INVALID_ARG"},
        {ELIZA_ERR_BUNDLE_INVALID, "ELIZA_ERR_BUNDLE_INVALID"},
        {ELIZA_ERR_FFI_FAULT, "ELIZA_ERR_FFI_FAULT"},
        {ELIZA_ERR_OOM, "ELIZA_ERR_OOM"},
        {ELIZA_ERR_ABI_MISMATCH, "ELIZA_ERR_ABI_MISMATCH"},
        {ELIZA_ERR_CANCELLED, "ELIZA_ERR_CANCELLED"},
        {ELIZA_ERR_BUSY, "ELIZA_ERR_BUSY"},
        {ELIZA_ERR_CLOSED, "ELIZA_ERR_CLOSED"},
        {ELIZA_ERR_PAYLOAD, "ELIZA_ERR_PAYLOAD"},
        {ELIZA_ERR_LIMIT, "ELIZA_ERR_LIMIT"},
        {ELIZA_ERR_MODEL_MISMATCH, "ELIZA_ERR_MODEL_MISMATCH"},
        {ELIZA_ERR_UNKNOWN_PATH, "ELIZA_ERR_UNKNOWN_PATH"},
        {ELIZA_ERR_CONTEXT_FULL, "ELIZA_ERR_CONTEXT_FULL"},
        {ELIZA_ERR_IO, "ELIZA_ERR_IO"},
        {ELIZA_ERR_STATE, "ELIZA_ERR_STATE"},
        {ELIZA_ERR_GRAMMAR, "ELIZA_ERR_GRAMMAR"},
        {ELIZA_ERR_FILE_INVALID, "ELIZA_ERR_FILE_INVALID"},
        {1, "ELIZA_ERR_UNKNOWN"},
        {-19, "ELIZA_ERR_UNKNOWN"},
        {INT32_MIN, "ELIZA_ERR_UNKNOWN"},
        {INT32_MAX, "ELIZA_ERR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        CHECK(strcmp(eliza_inference_status_name(statuses[i].status), statuses[i].name) == 0);
    eliza_inference_set_log_callback(NULL, NULL);
    eliza_inference_set_log_callback(on_log, &n_logged);
}

/* 4: vocabulary */

static eliza_vocab *make_vocab(void) {
    eliza_vocab_config_t config = {sizeof config, VOCAB_SIZE, "tiny", 4, NULL, NULL, NULL};
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    return vocab;
}

/* A config with one thing wrong. */
#define REFUSES_CONFIG(...)                                                                                            \
    do {                                                                                                               \
        eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 3};                                   \
        __VA_ARGS__;                                                                                                   \
        eliza_vocab *vocab = NOT_A_HANDLE;                                                                             \
        GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_create(&config, &vocab, &error));                           \
        CHECK(vocab == NULL);                                                                                          \
        CHECK_EQUAL(eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_ERR_INVALID_ARG);                       \
    } while (0)

static int create_vocab(const eliza_vocab_config_t *config) {
    eliza_vocab *vocab = NULL;
    int status = eliza_inference_vocab_create(config, &vocab, NULL);
    eliza_inference_vocab_free(vocab);
    return status;
}

static void test_vocab_config(void) {
    const uint8_t bytes[] = "abc";
    const uint64_t descending[] = {0, 2, 1, 3};
    const uint64_t offsets[] = {0, 1, 1, 3};
    eliza_vocab_config_t good = {.struct_size = sizeof good, .n_tokens = 3};
    eliza_vocab *vocab = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_create(NULL, &vocab, &error));
    CHECK(vocab == NULL);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_create(&good, NULL, &error));
    REFUSES_CONFIG(config.struct_size = 0);
    REFUSES_CONFIG(config.struct_size = FIRST_SIZE(eliza_vocab_config_t) - 1);
    REFUSES_CONFIG(config.n_tokens = 0);
    REFUSES_CONFIG(config.n_tokens = -1);
    REFUSES_CONFIG(config.n_tokens = INT32_MIN);
    REFUSES_CONFIG(config.model_id_len = 1);
    REFUSES_CONFIG((config.model_id = "a\xff", config.model_id_len = 2));
    REFUSES_CONFIG((config.model_id = "a", config.model_id_len = 2));
    REFUSES_CONFIG(config.bytes = bytes);
    REFUSES_CONFIG(config.offsets = offsets);
    REFUSES_CONFIG(config.bytes = bytes, config.offsets = descending);

    CHECK_GIVEN_STRUCT(eliza_vocab_config_t, good, create_vocab(given));
    good.struct_size = UINT32_MAX;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&good, &vocab, &error));
    eliza_inference_vocab_free(vocab);
    good.struct_size = sizeof good;
    good.n_tokens = INT32_MAX;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&good, &vocab, &error));
    CHECK_EQUAL(eliza_inference_vocab_size(vocab), INT32_MAX);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, INT32_MAX - 1, NULL, NULL, NULL), ELIZA_OK);
    eliza_inference_vocab_free(vocab);
    eliza_inference_vocab_free(NULL);
    eliza_inference_vocab_free(NULL);
}

static void test_vocab(void) {
    uint8_t bytes[] = "abc", flags[] = {0, ELIZA_TOKEN_SPECIAL, ELIZA_TOKEN_END_OF_GENERATION | ELIZA_TOKEN_UNUSED};
    uint64_t offsets[] = {0, 1, 1, 3};
    char model_id[] = "tiny";
    eliza_vocab_config_t config = {sizeof config, 3, model_id, 4, bytes, offsets, flags};
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    memset(bytes, 'x', sizeof bytes); /* everything was copied */
    memset(offsets, 0xff, sizeof offsets);
    memset(flags, 0xff, sizeof flags);
    memset(model_id, 'x', sizeof model_id);

    const uint8_t *lent = NULL;
    size_t length = 9;
    uint32_t token_flags = 9;
    CHECK_EQUAL(eliza_inference_vocab_size(vocab), 3);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, 2, &lent, &length, &token_flags), ELIZA_OK);
    CHECK(length == 2 && memcmp(lent, "bc", 2) == 0);
    CHECK_EQUAL(token_flags, ELIZA_TOKEN_END_OF_GENERATION | ELIZA_TOKEN_UNUSED);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, 1, &lent, &length, &token_flags), ELIZA_OK);
    CHECK(length == 0 && token_flags == ELIZA_TOKEN_SPECIAL);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, 0, NULL, NULL, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, -1, &lent, &length, &token_flags), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_vocab_token(vocab, 3, &lent, &length, &token_flags), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_vocab_token(NULL, 0, &lent, &length, &token_flags), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_vocab_size(NULL), ELIZA_ERR_INVALID_ARG);
    eliza_inference_vocab_free(vocab);
}

/* 5: constraint */

static eliza_constraint *make_constraint(const char *payload, size_t length) {
    eliza_vocab *vocab = make_vocab();
    eliza_constraint *constraint = NULL;
    GIVES(ELIZA_OK, eliza_inference_constraint_create_token_trie(vocab, payload, length, &constraint, &error));
    eliza_inference_vocab_free(vocab);
    return constraint;
}

static void test_constraint(void) {
    eliza_vocab *vocab = make_vocab();
    eliza_constraint *constraint = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_constraint_create_token_trie(NULL, PAYLOAD, PAYLOAD_LENGTH, &constraint, &error));
    CHECK(constraint == NULL);
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, PAYLOAD_LENGTH, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_constraint_create_token_trie(vocab, NULL, 1, &constraint, &error));
    GIVES(ELIZA_ERR_PAYLOAD, eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, 0, &constraint, &error));
    CHECK(eliza_inference_constraint_create_token_trie(vocab, NULL, 0, &constraint, NULL) < 0);
    constraint = NOT_A_HANDLE;
    GIVES(ELIZA_ERR_PAYLOAD,
          eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, PAYLOAD_LENGTH - 1, &constraint, &error));
    CHECK(constraint == NULL);
    CHECK_EQUAL(eliza_inference_constraint_create_token_trie(vocab, "[]", 2, &constraint, NULL), ELIZA_ERR_PAYLOAD);
    GIVES(ELIZA_OK, eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, PAYLOAD_LENGTH, &constraint, &error));
    eliza_inference_vocab_free(vocab);

    CHECK_STRUCT(eliza_constraint_info_t, constraint, eliza_inference_constraint_info);
    eliza_constraint_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_constraint_info(NULL, &info), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_info(constraint, &info), ELIZA_OK);
    CHECK(info.retained_bytes >= PAYLOAD_LENGTH);

    const char *path = NULL;
    size_t length = 0;
    CHECK_EQUAL(eliza_inference_constraint_path(NULL, 0, &path, &length), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_path(constraint, 0, NULL, &length), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_path(constraint, 0, &path, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_path(constraint, 1, &path, &length), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_path(constraint, UINT32_MAX, &path, &length), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_constraint_path(constraint, 0, &path, &length), ELIZA_OK);
    CHECK(length == 6 && memcmp(path, "action", 6) == 0);
    eliza_inference_constraint_free(constraint);
    eliza_inference_constraint_free(NULL);
    eliza_inference_constraint_free(NULL);
}

/* Paths must differ, so that this limit is not among the conformance cases. */
static char *many_descriptors(size_t n, size_t *length) {
    char *payload = malloc(64 + n * 80), *end = payload;
    end += sprintf(end, "{\"modelId\":\"\",\"descriptors\":[");
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, "%s{\"path\":\"%zu\",\"leaves\":[{\"name\":\"A\",\"tokens\":[1,2]}]}", i ? "," : "", i);
    end += sprintf(end, "]}");
    *length = (size_t)(end - payload);
    return payload;
}

static void test_descriptor_limit(void) {
    eliza_vocab *vocab = make_vocab();
    eliza_constraint *constraint = NULL;
    size_t length;
    char *payload = many_descriptors(ELIZA_DESCRIPTORS_MAX + 1, &length);
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_token_trie(vocab, payload, length, &constraint, &error));
    free(payload);
    payload = many_descriptors(ELIZA_DESCRIPTORS_MAX, &length);
    GIVES(ELIZA_OK, eliza_inference_constraint_create_token_trie(vocab, payload, length, &constraint, &error));
    free(payload);

    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "4095", 4), ELIZA_OK);
    eliza_span_state_t state = {.struct_size = sizeof state};
    CHECK_EQUAL(eliza_inference_matcher_state(matcher, &state), ELIZA_OK);
    CHECK_EQUAL(state.descriptor, 4095);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "4096", 4), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(is_utf8(eliza_inference_matcher_last_error(matcher)));
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
}

/* Whatever the caller's text is, a message is UTF-8: also where it is cut. */
static void test_messages_are_utf8(void) {
    eliza_vocab_config_t config = {sizeof config, VOCAB_SIZE, "\xff\xfe", 2, NULL, NULL, NULL};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_create(&config, &vocab, &error));
    CHECK(vocab == NULL);

    constraint = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "\x80\xc3", 2), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(is_utf8(eliza_inference_matcher_last_error(matcher)));
    char path[200];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(path, 'a', sizeof path);
        for (size_t i = shift; i + 4 <= sizeof path; i += 4) memcpy(path + i, "\xf0\x9f\x98\x80", 4);
        CHECK_EQUAL(eliza_inference_matcher_activate(matcher, path, sizeof path - shift), ELIZA_ERR_UNKNOWN_PATH);
        CHECK(is_utf8(eliza_inference_matcher_last_error(matcher)));
    }
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "a\0b", 3), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(strstr(eliza_inference_matcher_last_error(matcher), "known") != NULL);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

/* Known paths of many bytes each, so that the list of them is cut somewhere inside one. */
static void test_long_lists_of_paths(void) {
    char payload[4096], *end = payload;
    end += sprintf(end, "{\"modelId\":\"\",\"descriptors\":[");
    for (int i = 0; i < 20; i++) {
        end += sprintf(end, "%s{\"path\":\"%*s", i ? "," : "", i, "");
        for (int j = 0; j < 12; j++) end += sprintf(end, "\xe6\x80\x9d\xf0\x9f\x98\x80");
        end += sprintf(end, "\",\"leaves\":[{\"name\":\"A\",\"tokens\":[1]}]}");
    }
    end += sprintf(end, "]}");
    eliza_constraint *constraint = make_constraint(payload, (size_t)(end - payload));
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "x", 1), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(is_utf8(eliza_inference_matcher_last_error(matcher)));
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

/* The cache */

static int stats_of(void *unused, eliza_trie_cache_stats_t *stats) {
    (void)unused;
    return eliza_inference_trie_cache_stats(stats);
}

static eliza_trie_cache_stats_t cache_stats(void) {
    eliza_trie_cache_stats_t stats = {.struct_size = sizeof stats};
    CHECK_EQUAL(eliza_inference_trie_cache_stats(&stats), ELIZA_OK);
    return stats;
}

static size_t numbered_payload(char *buffer, int number) {
    return (size_t)sprintf(buffer,
                           "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"p%d\",\"leaves\":["
                           "{\"name\":\"A\",\"tokens\":[1,%d]},{\"name\":\"B\",\"tokens\":[2]}]}]}",
                           number, number % VOCAB_SIZE);
}

static void test_cache(void) {
    CHECK_STRUCT(eliza_trie_cache_stats_t, NULL, stats_of);
    CHECK_EQUAL(eliza_inference_trie_cache_set_limit(0), ELIZA_OK);
    eliza_trie_cache_stats_t empty = cache_stats();
    CHECK(empty.entries == 0 && empty.bytes == 0 && empty.bytes_max == 0);
    CHECK_EQUAL(eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES), ELIZA_OK);
    CHECK_EQUAL(cache_stats().bytes_max, ELIZA_TRIE_CACHE_BYTES);

    eliza_constraint *first = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    eliza_constraint *second = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    eliza_trie_cache_stats_t stats = cache_stats();
    CHECK_EQUAL(stats.entries, 1);
    CHECK_EQUAL(stats.hits, empty.hits + 1);
    CHECK_EQUAL(stats.misses, empty.misses + 1);
    eliza_inference_constraint_free(second);

    char payload[256];
    for (int i = 0; i < 2 * ELIZA_TRIE_CACHE_ENTRIES; i++)
        eliza_inference_constraint_free(make_constraint(payload, numbered_payload(payload, i)));
    stats = cache_stats();
    CHECK_EQUAL(stats.entries, ELIZA_TRIE_CACHE_ENTRIES);
    CHECK(stats.bytes <= stats.bytes_max && stats.bytes > 0);
    CHECK_EQUAL(stats.evictions, empty.evictions + ELIZA_TRIE_CACHE_ENTRIES + 1);

    /* The last used is kept, the longest unused is not. */
    uint64_t hits = stats.hits;
    eliza_inference_constraint_free(make_constraint(payload, numbered_payload(payload, ELIZA_TRIE_CACHE_ENTRIES)));
    CHECK_EQUAL(cache_stats().hits, hits + 1);
    eliza_inference_constraint_free(make_constraint(payload, numbered_payload(payload, 1000)));
    eliza_inference_constraint_free(make_constraint(payload, numbered_payload(payload, ELIZA_TRIE_CACHE_ENTRIES)));
    CHECK_EQUAL(cache_stats().hits, hits + 2);
    eliza_inference_constraint_free(make_constraint(payload, numbered_payload(payload, ELIZA_TRIE_CACHE_ENTRIES + 1)));
    CHECK_EQUAL(cache_stats().hits, hits + 2);

    /* An entry in use outlives its eviction. */
    CHECK_EQUAL(eliza_inference_trie_cache_set_limit(0), ELIZA_OK);
    CHECK_EQUAL(cache_stats().entries, 0);
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(first, 0, &matcher, &error));
    eliza_inference_constraint_free(first);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 10), ELIZA_STEP_IN_SPAN);
    eliza_inference_matcher_free(matcher);

    /* Nothing is kept now, and what fails is never kept. */
    eliza_inference_constraint_free(make_constraint(PAYLOAD, PAYLOAD_LENGTH));
    CHECK_EQUAL(cache_stats().entries, 0);
    CHECK_EQUAL(eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES), ELIZA_OK);
    eliza_vocab *vocab = make_vocab();
    eliza_constraint *none = NULL;
    for (int i = 0; i < 2; i++)
        GIVES(ELIZA_ERR_PAYLOAD, eliza_inference_constraint_create_token_trie(vocab, "{}", 2, &none, &error));
    CHECK_EQUAL(cache_stats().entries, 0);
    eliza_inference_vocab_free(vocab);
}

static void *use_cache(void *argument) {
    const eliza_vocab *vocab = argument;
    size_t wrong = 0;
    for (int i = 0; i < 400; i++) {
        char payload[256];
        eliza_constraint *constraint = NULL;
        eliza_matcher *matcher = NULL;
        size_t length = numbered_payload(payload, i % 9);
        wrong += eliza_inference_constraint_create_token_trie(vocab, payload, length, &constraint, NULL) != ELIZA_OK;
        if (i % 50 == 0) eliza_inference_trie_cache_set_limit(i % 100 ? 4096 : ELIZA_TRIE_CACHE_BYTES);
        wrong += eliza_inference_matcher_create(constraint, 0, &matcher, NULL) != ELIZA_OK;
        wrong += eliza_inference_matcher_accept(matcher, 1) != ELIZA_STEP_IN_SPAN;
        eliza_inference_constraint_free(constraint);
        wrong += eliza_inference_matcher_accept(matcher, i % 9) != (ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
        eliza_inference_matcher_free(matcher);
    }
    return (void *)wrong;
}

static void test_threads(void) {
    eliza_vocab *vocab = make_vocab();
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, use_cache, vocab), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CHECK_EQUAL((size_t)wrong, 0);
    }
    eliza_inference_vocab_free(vocab);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
}

/* A length that cannot be: the bytes are not touched. */
static void test_lengths_beyond_the_limits(void) {
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 3, .model_id = "m", .model_id_len = SIZE_MAX};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_vocab_create(&config, &vocab, &error));
    config.model_id_len = 0;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    GIVES(ELIZA_ERR_LIMIT, eliza_inference_constraint_create_token_trie(vocab, PAYLOAD, SIZE_MAX, &constraint, &error));
    eliza_inference_vocab_free(vocab);
}

/* 6: matcher */

static void test_matcher_without_handle(void) {
    eliza_matcher *matcher = NOT_A_HANDLE;
    eliza_span_state_t state = {.struct_size = sizeof state};
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_GREEDY, 1, 1};
    const char *name;
    const int32_t *ids;
    size_t n;
    int32_t token;
    float logits[VOCAB_SIZE] = {0};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create(NULL, 0, &matcher, &error));
    CHECK(matcher == NULL);
    matcher = NOT_A_HANDLE;
    CHECK_EQUAL(eliza_inference_matcher_clone(NULL, &matcher), ELIZA_ERR_INVALID_ARG);
    CHECK(matcher == NULL);
    eliza_inference_matcher_free(NULL);
    eliza_inference_matcher_free(NULL);
    CHECK(strcmp(eliza_inference_matcher_last_error(NULL), "") == 0);
    CHECK_EQUAL(eliza_inference_matcher_accept(NULL, 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_rollback(NULL, 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_rollback(NULL, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_reset(NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_activate(NULL, "action", 6), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_deactivate(NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(NULL, 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_set_seed(NULL, 1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_state(NULL, &state), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_leaf(NULL, &name, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_allowed(NULL, &ids, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_can_stop(NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced(NULL, &token, 1, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(NULL, logits, VOCAB_SIZE), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(NULL, logits, VOCAB_SIZE, &sampling, &token), ELIZA_ERR_INVALID_ARG);
}

static void test_matcher_buffers(eliza_matcher *matcher) {
    const char *name;
    const int32_t *ids;
    size_t n = 9;
    int32_t token = 7;
    CHECK_EQUAL(eliza_inference_matcher_clone(matcher, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, SIZE_MAX), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, NULL, 6), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, NULL, 0), ELIZA_ERR_UNKNOWN_PATH);
    CHECK_EQUAL(eliza_inference_matcher_activate(matcher, "action", 0), ELIZA_ERR_UNKNOWN_PATH);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, NULL, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_leaf(matcher, &name, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_allowed(matcher, NULL, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_allowed(matcher, &ids, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, NULL, 1, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, &token, 1, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, NULL, 0, &n), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, &token, 0, &n), ELIZA_OK);
    CHECK_EQUAL(token, 7);
    CHECK_STRUCT(eliza_span_state_t, matcher, eliza_inference_matcher_state);
}

static void test_matcher_logits(eliza_matcher *matcher) {
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_GREEDY, 1, 1};
    float logits[VOCAB_SIZE] = {0};
    int32_t token = 7;
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, NULL, VOCAB_SIZE), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, NULL, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_mask_logits(matcher, logits, VOCAB_SIZE - 1), ELIZA_ERR_INVALID_ARG);
    for (int i = 0; i < VOCAB_SIZE; i++) CHECK(logits[i] == 0);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, NULL, VOCAB_SIZE, &sampling, &token), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, 0, &sampling, &token), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, 99, &sampling, &token), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, NULL, &token), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &sampling, NULL), ELIZA_ERR_INVALID_ARG);
    sampling.struct_size = 0;
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &sampling, &token), ELIZA_ERR_INVALID_ARG);
    sampling.struct_size = FIRST_SIZE(eliza_sampling_t) - 1;
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &sampling, &token), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(token, 7);
    CHECK_GIVEN_STRUCT(eliza_sampling_t, sampling,
                       eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, given, &token));
    sampling.struct_size = UINT32_MAX;
    CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &sampling, &token), ELIZA_OK);
    CHECK_EQUAL(token, 10);

    /* Any number is a temperature and a top-p; the choice is legal whatever they are. */
    const float odd[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e-45f, 1e38f, 2};
    sampling = (eliza_sampling_t){sizeof sampling, ELIZA_MODE_SAMPLED, 1, 1};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (size_t j = 0; j < sizeof odd / sizeof *odd; j++) {
            sampling.temperature = odd[i];
            sampling.top_p = odd[j];
            logits[10] = odd[j];
            logits[20] = odd[i];
            int status = eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &sampling, &token);
            CHECK(status == ELIZA_ERR_INVALID_ARG || (status == ELIZA_OK && (token == 10 || token == 20)));
        }
    }
}

static void test_matcher(void) {
    eliza_constraint *constraint = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    eliza_matcher *matcher = NULL, *copy = NULL;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_matcher_create(constraint, 0, NULL, &error));
    CHECK_EQUAL(eliza_inference_matcher_create(constraint, 0, &matcher, NULL), ELIZA_OK);
    eliza_inference_matcher_free(matcher);
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    eliza_inference_constraint_free(constraint);
    CHECK(strcmp(eliza_inference_matcher_last_error(matcher), "") == 0);

    test_matcher_buffers(matcher);
    test_matcher_logits(matcher);

    /* It is as it was. */
    int32_t run[4] = {0, 0, 55, 55};
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 30), ELIZA_STEP_REFUSED);
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 10), ELIZA_STEP_IN_SPAN);
    CHECK_EQUAL(eliza_inference_matcher_clone(matcher, &copy), ELIZA_OK);
    eliza_inference_matcher_free(matcher);
    CHECK_EQUAL(eliza_inference_matcher_forced(copy, run, 4, &n), ELIZA_OK);
    CHECK(n == 1 && run[0] == 11 && run[2] == 55);
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(copy, UINT32_MAX), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_accept(copy, 11), ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED);
    eliza_inference_matcher_free(copy);
}

static void test_forced_run_longer_than_its_buffer(void) {
    static const char payload[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"p\",\"leaves\":["
                                  "{\"name\":\"A\",\"tokens\":[1,2,3,4,5]}]}]}";
    eliza_constraint *constraint = make_constraint(payload, sizeof payload - 1);
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    int32_t run[3] = {0, 0, 77};
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_matcher_forced(matcher, run, 2, &n), ELIZA_OK);
    CHECK(n == 5 && run[0] == 1 && run[1] == 2 && run[2] == 77);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

static void test_log(void) {
    eliza_constraint *constraint = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    eliza_matcher *matcher = NULL;
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &matcher, &error));
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(matcher, 1), ELIZA_OK);
    int before = n_logged;
    CHECK(eliza_inference_matcher_accept(matcher, 10) & ELIZA_STEP_TIMED_OUT);
    CHECK_EQUAL(n_logged, before + 1);
    eliza_inference_set_log_callback(NULL, NULL);
    CHECK_EQUAL(eliza_inference_matcher_reset(matcher), ELIZA_OK);
    CHECK(eliza_inference_matcher_accept(matcher, 10) & ELIZA_STEP_TIMED_OUT);
    CHECK_EQUAL(n_logged, before + 1);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

/* 7: libllama, before one is loaded */

static void test_llama_missing(void) {
    eliza_llama_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_llama_info(&info), ELIZA_ERR_STATE);
    CHECK(eliza_inference_llama_info(NULL) < 0);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llama_load(NULL, 3, &error));
    GIVES(ELIZA_ERR_ABI_MISMATCH, eliza_inference_llama_load("/nonexistent/libllama.so", 24, &error));
    GIVES(ELIZA_ERR_ABI_MISMATCH, eliza_inference_llama_load("/", 1, &error));
    GIVES(ELIZA_ERR_ABI_MISMATCH, eliza_inference_llama_load("\xff\xfe", 2, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llama_load("a\0b", 3, &error));
    size_t length = 100000;
    char *path = malloc(length);
    memset(path, 'x', length);
    GIVES(ELIZA_ERR_ABI_MISMATCH, eliza_inference_llama_load(path, length, &error));
    free(path);
    CHECK_EQUAL(eliza_inference_llama_load("/nonexistent/libllama.so", 24, NULL), ELIZA_ERR_ABI_MISMATCH);
}

/* 8: context */

/* Handles that are none: `status` is what each function must say of them. */
static void test_context_handle(EliInferenceContext *ctx, int status) {
    const int tokens[] = {1, 2};
    eliza_vocab *vocab = NULL;
    int *out_tokens = NULL;
    size_t n = 0;
    char text[32];
    eliza_llm_stream_config_t config = {.max_tokens = 4};
    CHECK_EQUAL(eliza_inference_set_model_id(ctx, "tiny", 4), status);
    GIVES(status, eliza_inference_vocab_from_context(ctx, &vocab, &error));
    GIVES(status, eliza_inference_tokenize(ctx, "abc", 3, 0, 0, &out_tokens, &n, &error));
    GIVES(status, eliza_inference_detokenize(ctx, tokens, 2, 0, 0, text, sizeof text, &error));
    GIVES_NULL(status, eliza_inference_llm_stream_open(ctx, &config, &error));
    CHECK(eliza_inference_llm_stream_open(ctx, &config, NULL) == NULL);
}

static void test_contexts_that_are_none(void) {
    test_context_handle(NULL, ELIZA_ERR_INVALID_ARG);
    test_context_handle(NOT_A_HANDLE, ELIZA_ERR_CLOSED);
    test_context_handle(NO_POINTER, ELIZA_ERR_CLOSED);
    eliza_inference_destroy(NULL);
    eliza_inference_destroy(NOT_A_HANDLE);
    eliza_inference_free_tokens(NULL);
    int status = eliza_inference_llm_stream_supported() ? ELIZA_ERR_BUNDLE_INVALID : ELIZA_ERR_ABI_MISMATCH;
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_create(NULL, &error));
    GIVES_NULL(status, eliza_inference_create("", &error));
    GIVES_NULL(status, eliza_inference_create("/nonexistent/model.gguf", &error));
    CHECK(eliza_inference_create("/nonexistent/model.gguf", NULL) == NULL);
    CHECK_EQUAL(eliza_inference_llm_mtp_supported(), eliza_inference_llm_stream_supported());
    CHECK_EQUAL(eliza_inference_embed_supported(), eliza_inference_llm_stream_supported());
    CHECK_EQUAL(eliza_inference_llm_kv_quant_supported(), eliza_inference_llm_stream_supported());
}

/* 9 and 10: stream */

static int never_called(int32_t token_id, const char *token_text, void *user_data) {
    (void)token_id, (void)token_text, (void)user_data;
    CHECK(!"a callback of a call that fails");
    return 1;
}

static void test_stream_handle(EliLlmStream *stream, int status) {
    int32_t tokens[4] = {1, 2, 3, 4};
    char text[64];
    size_t n = 0;
    const char *name;
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_GREEDY, 1, 1};
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    eliza_span_state_t state = {.struct_size = sizeof state};
    GIVES(status, eliza_inference_llm_stream_prefill(stream, tokens, 4, &error));
    GIVES(status, eliza_inference_llm_stream_next(stream, tokens, 4, &n, text, sizeof text, NULL, NULL, &error));
    GIVES(status, eliza_inference_llm_stream_generate(stream, 1, never_called, NULL, &error));
    GIVES(status, eliza_inference_llm_stream_save_slot(stream, "/nonexistent/slot", &error));
    GIVES(status, eliza_inference_llm_stream_restore_slot(stream, "/nonexistent/slot", &error));
    CHECK_EQUAL(eliza_inference_llm_stream_cancel(stream), status);
    CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), status);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, 0), status);
    CHECK(strcmp(eliza_inference_llm_stream_last_error(stream), "") == 0);
    CHECK_EQUAL(eliza_inference_llm_stream_set_seed(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_sampling(stream, &sampling), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_time_budget_ms(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_stop_at_span_end(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_skip_ahead(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_set_threads(stream, 1), status);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), status);
    CHECK_EQUAL(eliza_inference_llm_stream_stats(stream, &stats), status);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY), status);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), status);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, NULL, ELIZA_MODE_GREEDY, NULL), status);
    CHECK_EQUAL(eliza_inference_clear_constraint(stream), status);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "action", 6), status);
    CHECK_EQUAL(eliza_inference_llm_stream_state(stream, &state), status);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, &n), status);
    eliza_inference_llm_stream_close(stream);
}

/* 11: sampler */

static void test_samplers_that_are_none(void) {
    /* The beginning of a llama_sampler of someone else: a pointer to its functions and its state. */
    static const void *interface[16];
    const void *foreign[2] = {interface, NULL};
    struct llama_sampler *samplers[] = {NULL, (struct llama_sampler *)foreign};
    eliza_constraint *constraint = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    for (size_t i = 0; i < 2; i++) {
        eliza_span_state_t state = {.struct_size = sizeof state};
        GIVES(ELIZA_ERR_INVALID_ARG,
              eliza_inference_sampler_set_token_trie(samplers[i], PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY, &error));
        GIVES(ELIZA_ERR_INVALID_ARG,
              eliza_inference_sampler_set_constraint(samplers[i], constraint, ELIZA_MODE_GREEDY, NULL, &error));
        CHECK_EQUAL(eliza_inference_sampler_clear_token_trie(samplers[i]), ELIZA_ERR_INVALID_ARG);
        GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_sampler_activate(samplers[i], "action", 6, &error));
        CHECK_EQUAL(eliza_inference_sampler_state(samplers[i], &state), ELIZA_ERR_INVALID_ARG);
    }
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_token_trie(NULL, PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY, &error));
    CHECK(llama_sampler_init_token_trie(NULL, PAYLOAD, ELIZA_MODE_GREEDY) == NULL);
    struct llama_vocab *vocab = NOT_A_HANDLE; /* never looked at: something else is wrong */
    CHECK(llama_sampler_init_token_trie(vocab, NULL, ELIZA_MODE_GREEDY) == NULL);
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_token_trie(vocab, NULL, 1, ELIZA_MODE_GREEDY, &error));
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_token_trie(vocab, PAYLOAD, PAYLOAD_LENGTH, 2, &error));

    eliza_span_config_t config = {.struct_size = FIRST_SIZE(eliza_span_config_t) - 1};
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_constraint(NULL, constraint, ELIZA_MODE_GREEDY, NULL, &error));
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_constraint(vocab, NULL, ELIZA_MODE_GREEDY, NULL, &error));
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_sampler_init_constraint(vocab, constraint, 2, NULL, &error));
    GIVES_NULL(ELIZA_ERR_INVALID_ARG,
               eliza_inference_sampler_init_constraint(vocab, constraint, ELIZA_MODE_GREEDY, &config, &error));
    CHECK(llama_sampler_init_constraint(NULL, constraint, ELIZA_MODE_GREEDY) == NULL);
    CHECK(llama_sampler_init_constraint(vocab, NULL, ELIZA_MODE_GREEDY) == NULL);
    eliza_inference_constraint_free(constraint);
}

/* 12: speech, images */

static int never_gets_audio(const float *pcm, size_t n_samples, int is_final, void *user_data) {
    (void)pcm, (void)n_samples, (void)is_final, (void)user_data;
    CHECK(!"a callback of a call that fails");
    return 1;
}

/* Whatever it is given, what is not here says so, and writes nothing. */
static void test_speech(EliInferenceContext *ctx) {
    const int none = ELIZA_ERR_UNSUPPORTED;
    const uint8_t image[4] = {0};
    const int32_t token = 1;
    float pcm[4] = {0}, out[4] = {9}, probability = 9;
    char text[8] = "before";
    int a = 9, b = 9, *tokens = NULL;
    int8_t labels[4] = {9};
    size_t n = 4;
    CHECK_EQUAL(eliza_inference_tts_stream_supported(), 0);
    CHECK_EQUAL(eliza_inference_kokoro_supported(), 0);
    CHECK_EQUAL(eliza_inference_asr_timestamps_supported(), 0);
    CHECK_EQUAL(eliza_inference_asr_stream_supported(), 0);
    CHECK_EQUAL(eliza_inference_vad_supported(), 0);
    CHECK_EQUAL(eliza_inference_wakeword_supported(), 0);
    CHECK_EQUAL(eliza_inference_speaker_supported(), 0);
    CHECK_EQUAL(eliza_inference_diariz_supported(), 0);
    CHECK_EQUAL(eliza_inference_llm_eot_supported(), 0);
    CHECK_EQUAL(eliza_inference_vision_supported(), 0);
    CHECK_EQUAL(eliza_inference_vision_stream_supported(), 0);
    CHECK_EQUAL(eliza_inference_tokenize_supported(), 1);

    GIVES(none, eliza_inference_tts_synthesize(ctx, "hello", 5, NULL, out, 4, &error));
    GIVES(none, eliza_inference_tts_synthesize_stream(ctx, "hello", 5, NULL, never_gets_audio, NULL, &error));
    GIVES(none, eliza_inference_encode_reference(ctx, pcm, 4, 24000, &a, &b, &tokens, &error));
    GIVES(none, eliza_inference_kokoro_load(ctx, "kokoro.gguf", "voice.bin", 256, &error));
    CHECK_EQUAL(eliza_inference_kokoro_synthesize(ctx, "hello", 5, 1.0f, out, 4, NULL), none);
    CHECK_EQUAL(eliza_inference_kokoro_synthesize_ipa(ctx, "h", 1, 1.0f, out, 4, NULL), none);
    CHECK_EQUAL(eliza_inference_kokoro_sample_rate(ctx), none);
    CHECK_EQUAL(eliza_inference_kokoro_g2p_kind(ctx), none);
    GIVES(none, eliza_inference_asr_transcribe(ctx, pcm, 4, 16000, text, sizeof text, &error));
    GIVES(none, eliza_inference_asr_transcribe_timed(ctx, pcm, 4, 16000, text, sizeof text, &a, &b, &n, &error));
    GIVES_NULL(none, eliza_inference_asr_stream_open(ctx, 16000, &error));
    GIVES(none, eliza_inference_asr_stream_feed(NULL, pcm, 4, &error));
    GIVES(none, eliza_inference_asr_stream_partial(NULL, text, sizeof text, &a, &n, &error));
    GIVES(none, eliza_inference_asr_stream_finish(NULL, text, sizeof text, &a, &n, &error));
    eliza_inference_asr_stream_close(NULL);
    GIVES_NULL(none, eliza_inference_vad_open(ctx, 16000, &error));
    GIVES(none, eliza_inference_vad_process(NULL, pcm, 4, &probability, &error));
    GIVES(none, eliza_inference_vad_reset(NULL, &error));
    eliza_inference_vad_close(NULL);
    GIVES_NULL(none, eliza_inference_wakeword_open(ctx, 16000, "hello", &error));
    GIVES(none, eliza_inference_wakeword_score(NULL, pcm, 4, &probability, &error));
    GIVES(none, eliza_inference_wakeword_reset(NULL, &error));
    eliza_inference_wakeword_close(NULL);
    GIVES_NULL(none, eliza_inference_speaker_open(ctx, NULL, &error));
    GIVES(none, eliza_inference_speaker_embed(NULL, pcm, 4, out, &error));
    eliza_inference_speaker_free(NULL);
    eliza_inference_speaker_close(NULL);
    GIVES_NULL(none, eliza_inference_diariz_open(ctx, NULL, &error));
    GIVES(none, eliza_inference_diariz_segment(NULL, pcm, 4, labels, &n, &error));
    eliza_inference_diariz_close(NULL);
    GIVES(none, eliza_inference_llm_eot_score(ctx, &token, 1, 2, &probability, &a, out, &error));
    GIVES(none, eliza_inference_describe_image(ctx, image, 4, "mmproj.gguf", NULL, text, sizeof text, &error));
    GIVES_NULL(none, eliza_inference_describe_image_stream_open(ctx, image, 4, "mmproj.gguf", NULL, &error));
    CHECK_EQUAL(eliza_inference_tts_synthesize(ctx, NULL, 0, NULL, NULL, 0, NULL), none);
    CHECK(a == 9 && b == 9 && tokens == NULL && n == 4 && out[0] == 9 && probability == 9 && labels[0] == 9);
    CHECK(strcmp(text, "before") == 0);
}

/* What the host asks for, also without a need. */
static void test_host_requests(EliInferenceContext *ctx, int status) {
    float vector[1];
    int dimension = 9;
    GIVES(status, eliza_inference_mmap_acquire(ctx, "text", &error));
    GIVES(status, eliza_inference_mmap_evict(ctx, "text", &error));
    GIVES(status, eliza_inference_mmap_acquire(ctx, "mtp", &error));
    GIVES(status, eliza_inference_mmap_evict(ctx, "dflash", &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_mmap_acquire(ctx, NULL, &error));
    GIVES(status ? status : ELIZA_ERR_UNSUPPORTED, eliza_inference_mmap_acquire(ctx, "tts", &error));
    GIVES(status ? status : ELIZA_ERR_UNSUPPORTED, eliza_inference_mmap_evict(ctx, "", &error));
    GIVES(status ? status : ELIZA_ERR_INVALID_ARG,
          eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_MEAN, NULL, 0, &dimension, &error));
    CHECK(status ? dimension == 0 : dimension > 1);
    GIVES(status ? status : ELIZA_ERR_INVALID_ARG,
          eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_LAST, vector, 1, &dimension, &error));
    GIVES(status, eliza_inference_set_verifier_callback(ctx, NULL, NULL, &error));
    GIVES(status, eliza_inference_cancel_tts(ctx, &error));
}

/* 8 to 10 with a model */

static int *tokenize(EliInferenceContext *ctx, const char *text, size_t *n) {
    int *tokens = NULL;
    GIVES(ELIZA_OK, eliza_inference_tokenize(ctx, text, strlen(text), 1, 0, &tokens, n, &error));
    return tokens;
}

static void test_embeddings(EliInferenceContext *ctx) {
    float first[1024], again[1024];
    int dimension = 0;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_embed(ctx, "hello", 5, 0, first, 1024, &dimension, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_embed(ctx, NULL, 5, ELIZA_POOLING_MEAN, first, 1024, &dimension, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_embed(ctx, "\xff", 1, ELIZA_POOLING_MEAN, first, 1024, &dimension, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_MEAN, first, 1024, NULL, &error));
    GIVES(ELIZA_OK, eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_MEAN, first, 1024, &dimension, &error));
    CHECK(dimension > 1 && dimension <= 1024);
    GIVES(ELIZA_OK, eliza_inference_mmap_evict(ctx, "text", &error));
    GIVES(ELIZA_OK, eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_MEAN, again, 1024, &dimension, &error));
    CHECK(memcmp(first, again, (size_t)dimension * sizeof *first) == 0);
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_embed(ctx, "hello", 5, ELIZA_POOLING_MEAN, again, (size_t)dimension - 1, &dimension, &error));
}

static void test_tokens(EliInferenceContext *ctx) {
    int *tokens = NOT_A_HANDLE;
    size_t n = 9;
    char text[64];
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_tokenize(ctx, NULL, 3, 0, 0, &tokens, &n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_tokenize(ctx, "abc", 3, 0, 0, NULL, &n, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_tokenize(ctx, "abc", 3, 0, 0, &tokens, NULL, &error));
    GIVES(ELIZA_OK, eliza_inference_tokenize(ctx, NULL, 0, 0, 0, &tokens, &n, &error));
    CHECK_EQUAL(n, 0);
    eliza_inference_free_tokens(tokens);

    GIVES(ELIZA_OK, eliza_inference_tokenize(ctx, "set a timer", 11, 0, 0, &tokens, &n, &error));
    CHECK(n > 0);
    int length = eliza_inference_detokenize(ctx, tokens, n, 0, 0, NULL, 0, NULL);
    CHECK(length > 0 && (size_t)length < sizeof text);
    memset(text, 'x', sizeof text);
    GIVES(length, eliza_inference_detokenize(ctx, tokens, n, 0, 0, text, (size_t)length, &error));
    CHECK(text[0] == 0 && text[length] == 'x');
    GIVES(length, eliza_inference_detokenize(ctx, tokens, n, 0, 0, text, (size_t)length + 1, &error));
    CHECK(strstr(text, "set a timer") != NULL && strlen(text) == (size_t)length);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_detokenize(ctx, tokens, n, 0, 0, NULL, 5, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_detokenize(ctx, NULL, 2, 0, 0, text, sizeof text, &error));
    GIVES(0, eliza_inference_detokenize(ctx, NULL, 0, 0, 0, text, sizeof text, &error));
    int *begun = NULL;
    size_t n_begun = 0;
    char of_begun[64];
    GIVES(ELIZA_OK, eliza_inference_tokenize(ctx, "set a timer", 11, 1, 0, &begun, &n_begun, &error));
    CHECK_EQUAL(n_begun, n + 1);
    CHECK(eliza_inference_detokenize(ctx, begun, n_begun, 0, 1, of_begun, sizeof of_begun, &error) > length);
    GIVES(length, eliza_inference_detokenize(ctx, begun, n_begun, 1, 1, of_begun, sizeof of_begun, &error));
    CHECK(strcmp(of_begun, "set a timer") == 0);
    eliza_inference_free_tokens(begun);
    const int outside[] = {INT32_MAX}, below[] = {-1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_detokenize(ctx, outside, 1, 0, 0, text, sizeof text, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_detokenize(ctx, below, 1, 0, 0, text, sizeof text, &error));
    eliza_inference_free_tokens(tokens);

    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_vocab_from_context(ctx, NULL, &error));
    GIVES(ELIZA_OK, eliza_inference_vocab_from_context(ctx, &vocab, &error));
    CHECK(eliza_inference_vocab_size(vocab) > 0);
    eliza_inference_vocab_free(vocab);
    CHECK_EQUAL(eliza_inference_set_model_id(ctx, NULL, 3), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_model_id(ctx, NULL, 0), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_set_model_id(ctx, "\xff", 1), ELIZA_ERR_INVALID_ARG);
}

static eliza_llm_stream_config_t small_config(void) {
    return (eliza_llm_stream_config_t){.max_tokens = 8, .context_size = 128};
}

static EliLlmStream *open_stream(EliInferenceContext *ctx) {
    eliza_llm_stream_config_t config = small_config();
    error = garbage;
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, &error);
    CHECK(stream != NULL && error == NULL);
    CHECK_EQUAL(eliza_inference_llm_stream_set_threads(stream, 1), ELIZA_OK);
    return stream;
}

/* Ready to answer, whatever happened before. */
static void start_over(EliInferenceContext *ctx, EliLlmStream *stream) {
    size_t n = 0;
    int *prompt = tokenize(ctx, "User: set a timer\nAction:", &n);
    CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
    GIVES(ELIZA_OK, eliza_inference_llm_stream_prefill(stream, prompt, n, &error));
    eliza_inference_free_tokens(prompt);
}

static void test_stream_config(EliInferenceContext *ctx) {
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, NULL, &error));
    eliza_llm_stream_config_t config = small_config();
    config.draft_min = 1;
    config.draft_max = ELIZA_DRAFT_TOKENS_MAX + 1;
    GIVES_NULL(ELIZA_ERR_LIMIT, eliza_inference_llm_stream_open(ctx, &config, &error));
    config.draft_max = 4;
    config.draft_min = 5;
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config.draft_min = 4;
    config.mtp_drafter_path = "drafter.gguf";
    GIVES_NULL(ELIZA_ERR_BUNDLE_INVALID, eliza_inference_llm_stream_open(ctx, &config, &error));
    config = small_config();
    config.gbnf_grammar = "root ::= (";
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config.gbnf_grammar = "leaf ::= \"a\"";
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config = small_config();
    config.cache_type_k = "q9_9";
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config = small_config();
    config.cache_type_v = "nonsense";
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config = small_config();
    config.temperature = NAN;
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config = small_config();
    config.repeat_penalty = nextafterf(1e-6f, 0);
    GIVES_NULL(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_open(ctx, &config, &error));
    config.repeat_penalty = 1e-6f;
    eliza_inference_llm_stream_close(eliza_inference_llm_stream_open(ctx, &config, &error));
    CHECK(error == NULL);

    config = small_config();
    config.draft_min = config.draft_max = config.slot_id = -7;
    config.mtp_drafter_path = config.gbnf_grammar = config.prompt_cache_key = "";
    config.cache_type_k = "qjl1_256";
    config.cache_type_v = "q4_polar";
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, NULL);
    CHECK(stream != NULL);
    eliza_inference_llm_stream_close(stream);
}

/* Drafts as the host is told of them. */
typedef struct Drafts {
    EliLlmStream *stream;
    size_t n, accepted, rejected;
    int32_t out[64]; /* without drafts */
} Drafts;

static void on_draft(const EliVerifierEvent *event, void *user_data) {
    Drafts *drafts = user_data;
    drafts->n++;
    drafts->accepted += event->n_accepted;
    CHECK((event->rejected_from < 0) == (event->rejected_to < 0));
    size_t end; /* of what was accepted, in the output */
    if (event->rejected_from < 0) {
        eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
        CHECK_EQUAL(eliza_inference_llm_stream_stats(drafts->stream, &stats), ELIZA_OK);
        CHECK(event->n_accepted > 0 && event->n_corrected == 0);
        end = (size_t)stats.emitted_tokens;
    } else {
        CHECK(event->rejected_from < event->rejected_to && event->n_corrected <= 1);
        drafts->rejected += (size_t)(event->rejected_to - event->rejected_from);
        if (event->n_corrected) CHECK_EQUAL(event->corrected_token_ids[0], drafts->out[event->rejected_from]);
        end = (size_t)event->rejected_from;
    }
    const int32_t *before = drafts->out + end - event->n_accepted;
    for (size_t i = 0; i < event->n_accepted; i++) CHECK_EQUAL(event->accepted_token_ids[i], before[i]);
    CHECK_EQUAL(eliza_inference_llm_stream_reset(drafts->stream), ELIZA_ERR_BUSY);
}

static size_t generate(EliInferenceContext *ctx, EliLlmStream *stream, int32_t *out, size_t cap) {
    size_t n = 0, n_step = 0;
    start_over(ctx, stream);
    while (eliza_inference_llm_stream_next(stream, out + n, cap - n, &n_step, NULL, 0, NULL, NULL, NULL) == 0) n += n_step;
    return n + n_step;
}

static void test_drafts(EliInferenceContext *ctx) {
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_set_verifier_callback(NULL, on_draft, NULL, &error));
    eliza_llm_stream_config_t config = small_config();
    config.max_tokens = 60;
    config.gbnf_grammar = "root ::= (\" timer\" | \" cat\" | \" set a\")*";
    Drafts drafts = {.stream = eliza_inference_llm_stream_open(ctx, &config, &error)};
    const size_t n = generate(ctx, drafts.stream, drafts.out, 64);
    eliza_llm_stream_stats_t plain = {.struct_size = sizeof plain}, stats = plain;
    CHECK_EQUAL(eliza_inference_llm_stream_stats(drafts.stream, &plain), ELIZA_OK);
    CHECK(plain.drafted_tokens == 0 && plain.saved_passes == 0);
    eliza_inference_llm_stream_close(drafts.stream);

    config.draft_min = 1;
    config.draft_max = 4;
    drafts.stream = eliza_inference_llm_stream_open(ctx, &config, &error);
    GIVES(ELIZA_OK, eliza_inference_set_verifier_callback(ctx, on_draft, &drafts, &error));
    int32_t out[64];
    CHECK_EQUAL(generate(ctx, drafts.stream, out, 64), n);
    CHECK(memcmp(out, drafts.out, n * sizeof *out) == 0);
    CHECK_EQUAL(eliza_inference_llm_stream_stats(drafts.stream, &stats), ELIZA_OK);
    CHECK(stats.saved_passes > 0 && stats.forward_passes + stats.saved_passes == plain.forward_passes);
    CHECK_EQUAL(drafts.accepted, stats.accepted_drafts);
    CHECK_EQUAL(drafts.accepted + drafts.rejected, stats.drafted_tokens);
    CHECK(drafts.n > 0);

    const size_t n_told = drafts.n;
    GIVES(ELIZA_OK, eliza_inference_set_verifier_callback(ctx, NULL, NULL, &error));
    CHECK_EQUAL(generate(ctx, drafts.stream, out, 64), n);
    CHECK_EQUAL(drafts.n, n_told);
    eliza_inference_llm_stream_close(drafts.stream);
}

/* A config that ends where `context_size` would begin; what lies behind is not read. */
static void test_config_of_abi_13(EliInferenceContext *ctx) {
    const size_t size = offsetof(eliza_llm_stream_config_t, context_size);
    eliza_llm_stream_config_t config = small_config();
    char *shorter = malloc(size);
    memcpy(shorter, &config, size);
    const eliza_llm_stream_config_t *given = (void *)shorter;
    setenv("ELIZA_INFERENCE_ABI", "13", 1);
    CHECK(strcmp(eliza_inference_abi_version(), "13") == 0);
    error = garbage;
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, given, &error);
    CHECK(stream != NULL && error == NULL);
    size_t n = 0;
    int *prompt = tokenize(ctx, "User: set a timer\nAction:", &n);
    int32_t many[200];
    for (size_t i = 0; i < 200; i++) many[i] = prompt[0];
    GIVES(ELIZA_OK, eliza_inference_llm_stream_prefill(stream, many, 200, &error)); /* more than small_config's 128 */
    eliza_inference_free_tokens(prompt);
    eliza_inference_llm_stream_close(stream);
    free(shorter);
    unsetenv("ELIZA_INFERENCE_ABI");
    CHECK(strcmp(eliza_inference_abi_version(), "15") == 0);
}

static void test_stream_arguments(EliInferenceContext *ctx, EliLlmStream *stream) {
    int32_t out[8];
    size_t n = 9;
    char text[64];
    GIVES(ELIZA_ERR_STATE, eliza_inference_llm_stream_next(stream, out, 8, &n, text, sizeof text, NULL, NULL, &error));
    CHECK_EQUAL(n, 0);
    GIVES(ELIZA_ERR_STATE, eliza_inference_llm_stream_generate(stream, 1, never_called, NULL, &error));
    CHECK(strlen(eliza_inference_llm_stream_last_error(stream)) > 5);

    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_prefill(stream, NULL, 3, &error));
    const int32_t outside[] = {1, INT32_MAX}, below[] = {-1};
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_prefill(stream, outside, 2, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_prefill(stream, below, 1, &error));
    int32_t many[1000] = {0};
    GIVES(ELIZA_ERR_CONTEXT_FULL, eliza_inference_llm_stream_prefill(stream, many, 1000, &error));
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    CHECK_EQUAL(eliza_inference_llm_stream_stats(stream, &stats), ELIZA_OK);
    CHECK(stats.context_tokens == 0 && stats.pending_tokens == 0);

    start_over(ctx, stream);
    int32_t drafted = 9, accepted = 9;
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_llm_stream_next(stream, NULL, 8, &n, text, sizeof text, &drafted, &accepted, &error));
    CHECK(drafted == 0 && accepted == 0);
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_llm_stream_next(stream, out, 0, &n, text, sizeof text, NULL, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG,
          eliza_inference_llm_stream_next(stream, out, 8, NULL, text, sizeof text, NULL, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_next(stream, out, 8, &n, NULL, 1, NULL, NULL, &error));
    for (size_t cap = 0; cap < 5; cap++)
        GIVES(ELIZA_ERR_INVALID_ARG,
              eliza_inference_llm_stream_next(stream, out, 8, &n, text, cap, NULL, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_generate(stream, 1, NULL, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_generate(stream, -1, never_called, NULL, &error));
    GIVES(ELIZA_OK, eliza_inference_llm_stream_next(stream, out, 8, &n, NULL, 0, NULL, NULL, &error));
    CHECK(n >= 1);
    drafted = accepted = 9;
    CHECK(eliza_inference_llm_stream_next(stream, out, 8, &n, text, 5, &drafted, &accepted, NULL) >= 0);
    CHECK(drafted == 0 && accepted == 0);
}

static void test_stream_settings(EliLlmStream *stream) {
    eliza_sampling_t sampling = {sizeof sampling, 99, 1, 1};
    CHECK_EQUAL(eliza_inference_llm_stream_set_sampling(stream, NULL), ELIZA_ERR_INVALID_ARG);
    sampling.struct_size = FIRST_SIZE(eliza_sampling_t) - 1;
    CHECK_EQUAL(eliza_inference_llm_stream_set_sampling(stream, &sampling), ELIZA_ERR_INVALID_ARG);
    sampling.struct_size = sizeof sampling; /* `mode` is not read */
    CHECK_GIVEN_STRUCT(eliza_sampling_t, sampling, eliza_inference_llm_stream_set_sampling(stream, given));
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_set_threads(stream, 0), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_set_threads(stream, -1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, -1), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_set_time_budget_ms(stream, UINT64_MAX), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_set_time_budget_ms(stream, 0), ELIZA_OK);
    CHECK_STRUCT(eliza_llm_stream_stats_t, stream, eliza_inference_llm_stream_stats);
    CHECK_STRUCT(eliza_span_state_t, stream, eliza_inference_llm_stream_state);
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_save_slot(stream, NULL, &error));
    GIVES(ELIZA_ERR_INVALID_ARG, eliza_inference_llm_stream_restore_slot(stream, NULL, &error));
    GIVES(ELIZA_ERR_IO, eliza_inference_llm_stream_save_slot(stream, "/nonexistent/slot", &error));
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, 3), 3);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, INT32_MAX), 3);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, 0), 0);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, 1), 0);
}

static void test_stream_trie(EliInferenceContext *ctx, EliLlmStream *stream) {
    const char *name = PAYLOAD;
    size_t n = 9;
    start_over(ctx, stream);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "action", 6), ELIZA_ERR_STATE);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, &n), ELIZA_OK);
    CHECK(name == NULL && n == 0);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, NULL, &n), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, NULL, 5, ELIZA_MODE_GREEDY), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, PAYLOAD_LENGTH, 2), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, 0, ELIZA_MODE_GREEDY), ELIZA_ERR_PAYLOAD);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY), ELIZA_OK);

    /* A failed `set` changes nothing. */
    eliza_span_state_t state = {.struct_size = sizeof state};
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, "{}", 2, ELIZA_MODE_GREEDY), ELIZA_ERR_PAYLOAD);
    CHECK(strstr(eliza_inference_llm_stream_last_error(stream), "modelId") != NULL);
    CHECK_EQUAL(eliza_inference_llm_stream_state(stream, &state), ELIZA_OK);
    CHECK(state.active == 1 && state.n_allowed == 2);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, NULL, 6), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "\xff", 1), ELIZA_ERR_UNKNOWN_PATH);
    CHECK(is_utf8(eliza_inference_llm_stream_last_error(stream)));
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "action", 6), ELIZA_OK);

    int32_t out[8];
    GIVES(ELIZA_OK, eliza_inference_llm_stream_next(stream, out, 8, &n, NULL, 0, NULL, NULL, &error));
    CHECK(n >= 1 && (out[0] == 10 || out[0] == 20));
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
}

static eliza_constraint *make_regex(const eliza_vocab *vocab, const char *pattern) {
    eliza_constraint *constraint = NULL;
    size_t length = strlen(pattern);
    GIVES(ELIZA_OK, eliza_inference_constraint_create_regex(vocab, pattern, length, 0, NULL, &constraint, &error));
    return constraint;
}

/* As many tokens as the model, all of them "a". */
static eliza_vocab *make_vocab_like(const eliza_vocab *model) {
    int n = eliza_inference_vocab_size(model);
    uint64_t *offsets = malloc(((size_t)n + 1) * sizeof *offsets);
    uint8_t *bytes = malloc((size_t)n);
    memset(bytes, 'a', (size_t)n);
    for (int i = 0; i <= n; i++) offsets[i] = (uint64_t)i;
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = n, .bytes = bytes, .offsets = offsets};
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_create(&config, &vocab, &error));
    free(offsets);
    free(bytes);
    return vocab;
}

static void test_stream_constraint(EliInferenceContext *ctx, EliLlmStream *stream) {
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_from_context(ctx, &vocab, &error));
    eliza_vocab *like = make_vocab_like(vocab);
    eliza_constraint *regex = make_regex(vocab, "(timer|alarm)!"), *other = make_regex(like, "a+");
    eliza_constraint *trie = make_constraint(PAYLOAD, PAYLOAD_LENGTH); /* of a smaller vocabulary */
    eliza_span_config_t config = {.struct_size = FIRST_SIZE(eliza_span_config_t) - 1};
    const int32_t outside[] = {INT32_MAX};
    start_over(ctx, stream);
    CHECK_EQUAL(eliza_inference_clear_constraint(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, NULL, ELIZA_MODE_GREEDY, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, regex, 2, NULL), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, regex, ELIZA_MODE_GREEDY, &config), ELIZA_ERR_INVALID_ARG);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, trie, ELIZA_MODE_GREEDY, NULL), ELIZA_ERR_MODEL_MISMATCH);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, other, ELIZA_MODE_GREEDY, NULL), ELIZA_ERR_MODEL_MISMATCH);
    CHECK(is_utf8(eliza_inference_llm_stream_last_error(stream)));
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "", 0), ELIZA_ERR_STATE); /* nothing was set */
    config = (eliza_span_config_t){.struct_size = sizeof config, .end = outside, .n_end = 1};
    CHECK_EQUAL(eliza_inference_set_constraint(stream, regex, ELIZA_MODE_GREEDY, &config), ELIZA_ERR_INVALID_ARG);
    config.n_end = ELIZA_END_TOKENS_MAX + 1;
    CHECK_EQUAL(eliza_inference_set_constraint(stream, regex, ELIZA_MODE_GREEDY, &config), ELIZA_ERR_LIMIT);
    config.n_end = 0; /* the span ends by itself */
    CHECK_GIVEN_STRUCT(eliza_span_config_t, config,
                       eliza_inference_set_constraint(stream, regex, ELIZA_MODE_SAMPLED, given));
    eliza_inference_constraint_free(regex); /* the stream keeps it, and it its vocabulary */
    eliza_inference_vocab_free(vocab);

    /* A failed `set` changes nothing. */
    CHECK_EQUAL(eliza_inference_set_constraint(stream, other, ELIZA_MODE_GREEDY, NULL), ELIZA_ERR_MODEL_MISMATCH);
    eliza_span_state_t state = {.struct_size = sizeof state};
    CHECK_EQUAL(eliza_inference_llm_stream_state(stream, &state), ELIZA_OK);
    CHECK(state.active == 1 && state.descriptor == 0 && state.n_allowed > 0);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "action", 6), ELIZA_ERR_UNKNOWN_PATH);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "", 0), ELIZA_OK);
    const char *name = PAYLOAD;
    size_t n = 9, length = 0;
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, &n), ELIZA_OK);
    CHECK(name == NULL && n == 0);

    CHECK_EQUAL(eliza_inference_llm_stream_set_stop_at_span_end(stream, 1), ELIZA_OK);
    char text[64] = "";
    for (int status = 0; status == 0 && length < 32; length += strlen(text + length)) {
        int32_t out[8];
        status = eliza_inference_llm_stream_next(stream, out, 8, &n, text + length, 32, NULL, NULL, NULL);
        CHECK(status >= 0);
    }
    CHECK(strcmp(text, "timer!") == 0 || strcmp(text, "alarm!") == 0);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_SPAN_END);
    CHECK_EQUAL(eliza_inference_llm_stream_set_stop_at_span_end(stream, 0), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_clear_constraint(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_state(stream, &state), ELIZA_OK);
    CHECK(state.active == 0 && state.descriptor == -1 && state.leaf == -1);
    eliza_inference_constraint_free(other);
    eliza_inference_constraint_free(trie);
    eliza_inference_vocab_free(like);
}

typedef struct {
    EliLlmStream *stream;
    int calls;
} reentry;

/* Of any callback within a call of the stream. */
static void check_that_work_is_busy(EliLlmStream *stream) {
    int32_t out[4] = {0};
    size_t n;
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llm_stream_prefill(stream, out, 1, &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llm_stream_next(stream, out, 4, &n, NULL, 0, NULL, NULL, &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llm_stream_generate(stream, 1, never_called, NULL, &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llm_stream_save_slot(stream, "/nonexistent/slot", &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llm_stream_restore_slot(stream, "/nonexistent/slot", &error));
    CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_reset_keep(stream, 0), ELIZA_ERR_BUSY);
}

/* Of a callback that may not use the stream whose call it is part of, and of another thread. */
static void check_that_changes_are_busy(EliLlmStream *stream, const char *reason) {
    eliza_span_state_t state = {.struct_size = sizeof state};
    eliza_sampling_t greedy = {.struct_size = sizeof greedy, .mode = ELIZA_MODE_GREEDY};
    check_that_work_is_busy(stream);
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY), ELIZA_ERR_BUSY);
    CHECK(strstr(eliza_inference_llm_stream_last_error(stream), reason) != NULL);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, NULL, ELIZA_MODE_GREEDY, NULL), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_clear_constraint(stream), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "", 0), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_state(stream, &state), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_seed(stream, 3), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_sampling(stream, &greedy), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_time_budget_ms(stream, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_stop_at_span_end(stream, 1), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_skip_ahead(stream, 0), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_set_threads(stream, 1), ELIZA_ERR_BUSY);
    eliza_inference_llm_stream_close(stream); /* not now */
}

static void check_that_all_is_busy(EliLlmStream *stream) {
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    const char *name;
    size_t n;
    check_that_changes_are_busy(stream, "callback");
    /* What changes nothing. */
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_NONE);
    CHECK_EQUAL(eliza_inference_llm_stream_stats(stream, &stats), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, &n), ELIZA_OK);
}

static void *uses_it_in_another_thread(void *stream) {
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    const char *name;
    size_t n;
    check_that_changes_are_busy(stream, "another thread");
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_stats(stream, &stats), ELIZA_ERR_BUSY);
    CHECK_EQUAL(eliza_inference_llm_stream_leaf(stream, &name, &n), ELIZA_ERR_BUSY);
    return NULL;
}

static void check_another_thread(EliLlmStream *stream) {
    pthread_t other;
    CHECK_EQUAL(pthread_create(&other, NULL, uses_it_in_another_thread, stream), 0);
    pthread_join(other, NULL);
}

static int reenter(int32_t token_id, const char *token_text, void *user_data) {
    reentry *at = user_data;
    EliLlmStream *stream = at->stream;
    (void)token_id;
    CHECK(token_text != NULL);
    check_that_work_is_busy(stream);
    check_another_thread(stream);
    eliza_inference_llm_stream_close(stream); /* not now */
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, PAYLOAD, PAYLOAD_LENGTH, ELIZA_MODE_GREEDY), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_activate(stream, "action", 6), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_set_seed(stream, 3), ELIZA_OK);
    at->calls++;
    CHECK_EQUAL(eliza_inference_llm_stream_cancel(stream), ELIZA_OK);
    return 0;
}

static void test_reentry(EliInferenceContext *ctx, EliLlmStream *stream) {
    reentry at = {stream, 0};
    start_over(ctx, stream);
    GIVES(ELIZA_ERR_CANCELLED, eliza_inference_llm_stream_generate(stream, 4, reenter, &at, &error));
    CHECK_EQUAL(at.calls, 1);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_CANCELLED);
    CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_NONE);
}

static int32_t tokenizes_by_the_stream(const uint8_t *text, size_t length, int32_t *out, size_t cap, void *user_data) {
    reentry *at = user_data;
    (void)text, (void)length, (void)out, (void)cap;
    at->calls++;
    check_that_all_is_busy(at->stream);
    check_another_thread(at->stream);
    return -1;
}

/* Forced tokens are asked for in steps, and in drafts. */
static void test_a_tokenizer_cannot_use_its_stream(EliInferenceContext *ctx, EliLlmStream *stream) {
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_from_context(ctx, &vocab, &error));
    reentry at = {stream, 0};
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, tokenizes_by_the_stream, &at), ELIZA_OK);
    eliza_constraint *regex = make_regex(vocab, "timer");
    start_over(ctx, stream);
    CHECK_EQUAL(eliza_inference_set_constraint(stream, regex, ELIZA_MODE_GREEDY, NULL), ELIZA_OK);
    int32_t out[32];
    size_t n = 0, length = 0;
    char text[64] = "";
    for (int status = 0; status == 0 && length < 32; length += strlen(text + length))
        status = eliza_inference_llm_stream_next(stream, out, 32, &n, text + length, 32, NULL, NULL, NULL);
    CHECK(strcmp(text, "timer") == 0);
    CHECK(at.calls > 0);
    CHECK_EQUAL(eliza_inference_vocab_set_tokenizer(vocab, NULL, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_clear_constraint(stream), ELIZA_OK);
    eliza_inference_constraint_free(regex);
    eliza_inference_vocab_free(vocab);
}

typedef struct {
    EliInferenceContext *ctx;
    EliLlmStream *stream;
    eliza_matcher *matcher;
    int calls;
} logged_calls;

static void logs_by_calling(int32_t level, const char *message, size_t length, void *user_data) {
    logged_calls *at = user_data;
    eliza_vocab *vocab = NULL;
    float vector[1];
    int dimension = 0;
    (void)level, (void)message, (void)length;
    at->calls++;
    if (at->stream) check_that_all_is_busy(at->stream);
    if (at->matcher) {
        CHECK_EQUAL(eliza_inference_matcher_reset(at->matcher), ELIZA_ERR_BUSY);
        CHECK(strstr(eliza_inference_matcher_last_error(at->matcher), "callback") != NULL);
        eliza_inference_matcher_free(at->matcher); /* not now */
    }
    if (!at->ctx) return;
    GIVES_NULL(ELIZA_ERR_BUSY, eliza_inference_create("/nonexistent/model.gguf", &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_llama_load(NULL, 0, &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_vocab_from_context(at->ctx, &vocab, &error));
    GIVES(ELIZA_ERR_BUSY, eliza_inference_embed(at->ctx, "a", 1, ELIZA_POOLING_MEAN, vector, 1, &dimension, &error));
    GIVES_NULL(ELIZA_ERR_BUSY, eliza_inference_llm_stream_open(at->ctx, NULL, &error));
    eliza_inference_set_log_callback(logs_by_calling, at); /* is allowed */
}

static void test_a_log_callback_cannot_use_what_logs(EliInferenceContext *ctx, EliLlmStream *stream) {
    logged_calls at = {ctx, stream, NULL, 0};
    int32_t out[8];
    size_t n = 0;
    start_over(ctx, stream);
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, 2), ELIZA_OK);
    static const char payload[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"a\",\"leaves\":[{\"name\":\"X\","
                                  "\"tokens\":[10,11]}]}],\"names\":\"labels\"}";
    CHECK_EQUAL(eliza_inference_set_token_trie(stream, payload, sizeof payload - 1, ELIZA_MODE_GREEDY), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, 1), ELIZA_OK);
    eliza_inference_set_log_callback(logs_by_calling, &at);
    CHECK_EQUAL(eliza_inference_llm_stream_next(stream, out, 1, &n, NULL, 0, NULL, NULL, NULL), ELIZA_OK);
    CHECK_EQUAL(at.calls, 1);
    eliza_inference_set_log_callback(NULL, NULL);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_set_span_timeout(stream, ELIZA_SPAN_TIMEOUT_TOKENS), ELIZA_OK);
    eliza_vocab *vocab = NULL;
    GIVES(ELIZA_OK, eliza_inference_vocab_from_context(ctx, &vocab, &error)); /* the callback is over */
    eliza_inference_vocab_free(vocab);
}

static void test_a_log_callback_cannot_use_its_matcher(void) {
    eliza_constraint *constraint = make_constraint(PAYLOAD, PAYLOAD_LENGTH);
    logged_calls at = {0};
    GIVES(ELIZA_OK, eliza_inference_matcher_create(constraint, 0, &at.matcher, &error));
    CHECK_EQUAL(eliza_inference_matcher_set_span_timeout(at.matcher, 1), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_activate(at.matcher, "action", 6), ELIZA_OK);
    eliza_inference_set_log_callback(logs_by_calling, &at);
    CHECK_EQUAL(eliza_inference_matcher_accept(at.matcher, 10),
                ELIZA_STEP_IN_SPAN | ELIZA_STEP_SPAN_ENDED | ELIZA_STEP_TIMED_OUT);
    eliza_inference_set_log_callback(NULL, NULL);
    CHECK_EQUAL(at.calls, 1);
    CHECK_EQUAL(eliza_inference_matcher_reset(at.matcher), ELIZA_OK);
    eliza_inference_matcher_free(at.matcher);
    eliza_inference_constraint_free(constraint);
}

/* A context is no stream, a stream no context, and an address inside a handle is neither. */
static void test_handles_of_another_kind(EliInferenceContext *ctx, EliLlmStream *stream) {
    test_stream_handle((EliLlmStream *)ctx, ELIZA_ERR_CLOSED);
    test_context_handle((EliInferenceContext *)stream, ELIZA_ERR_CLOSED);
    test_stream_handle((EliLlmStream *)((char *)stream + 1), ELIZA_ERR_CLOSED);
    test_context_handle((EliInferenceContext *)((char *)ctx + 8), ELIZA_ERR_CLOSED);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_NONE);
    CHECK_EQUAL(eliza_inference_set_model_id(ctx, NULL, 0), ELIZA_OK);
}

static void test_slots(EliInferenceContext *ctx, const char *model) {
    EliLlmStream *stream = open_stream(ctx);
    GIVES(ELIZA_ERR_IO, eliza_inference_llm_stream_restore_slot(stream, "/nonexistent/slot", &error));
    error = garbage;
    int status = eliza_inference_llm_stream_restore_slot(stream, model, &error); /* a file, but no slot */
    CHECK(status < 0);
    check_message(status, __FILE__, __LINE__, "message of restoring what is no slot");
    size_t n = 0;
    int *prompt = tokenize(ctx, "User: hello\nAction:", &n);
    GIVES(ELIZA_OK, eliza_inference_llm_stream_prefill(stream, prompt, n, &error)); /* empty and usable */
    eliza_inference_free_tokens(prompt);
    eliza_inference_llm_stream_close(stream);
}

static int llama_info_of(const void *none, eliza_llama_info_t *out) {
    (void)none;
    return eliza_inference_llama_info(out);
}

static void test_with_model(const char *model, const char *not_a_model) {
    GIVES(ELIZA_OK, eliza_inference_llama_load(NULL, 0, &error));
    GIVES(ELIZA_OK, eliza_inference_llama_load("", 0, &error));
    GIVES(ELIZA_ERR_STATE, eliza_inference_llama_load("/nonexistent/libllama.so", 24, &error));
    CHECK_STRUCT(eliza_llama_info_t, NULL, llama_info_of);
    eliza_llama_info_t info = {.struct_size = sizeof info};
    CHECK_EQUAL(eliza_inference_llama_info(&info), ELIZA_OK);
    CHECK(info.path && info.version && info.layout);
    CHECK_EQUAL(eliza_inference_llm_stream_supported(), 1);

    GIVES_NULL(ELIZA_ERR_BUNDLE_INVALID, eliza_inference_create("/nonexistent/model.gguf", &error));
    GIVES_NULL(ELIZA_ERR_BUNDLE_INVALID, eliza_inference_create("/", &error));
    GIVES_NULL(ELIZA_ERR_BUNDLE_INVALID, eliza_inference_create(not_a_model, &error));
    error = garbage;
    EliInferenceContext *ctx = eliza_inference_create(model, &error);
    if (!CHECK(ctx != NULL)) {
        fprintf(stderr, "%s\n", error);
        eliza_inference_free_string(error);
        return;
    }
    CHECK(error == NULL);
    test_tokens(ctx);
    test_embeddings(ctx);
    test_speech(ctx);
    test_host_requests(ctx, ELIZA_OK);
    test_stream_config(ctx);
    test_drafts(ctx);
    test_config_of_abi_13(ctx);

    EliLlmStream *stream = open_stream(ctx);
    test_stream_arguments(ctx, stream);
    test_stream_settings(stream);
    test_stream_trie(ctx, stream);
    test_stream_constraint(ctx, stream);
    test_reentry(ctx, stream);
    test_a_tokenizer_cannot_use_its_stream(ctx, stream);
    test_a_log_callback_cannot_use_what_logs(ctx, stream);
    test_handles_of_another_kind(ctx, stream);
    test_slots(ctx, model);

    /* A closed stream, and the one that takes its place. */
    eliza_inference_llm_stream_close(stream);
    EliLlmStream *other = open_stream(ctx);
    CHECK(other != stream);
    test_stream_handle(stream, ELIZA_ERR_CLOSED);
    CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(other), ELIZA_STOP_NONE);

    /* A stream outlives its context. */
    size_t n = 0;
    int *prompt = tokenize(ctx, "User: hello\nAction:", &n);
    eliza_inference_destroy(ctx);
    eliza_inference_destroy(ctx);
    test_context_handle(ctx, ELIZA_ERR_CLOSED);
    GIVES(ELIZA_OK, eliza_inference_llm_stream_prefill(other, prompt, n, &error));
    eliza_inference_free_tokens(prompt);
    int32_t out[4];
    GIVES(ELIZA_OK, eliza_inference_llm_stream_next(other, out, 1, &n, NULL, 0, NULL, NULL, &error));
    eliza_inference_llm_stream_close(other);
    eliza_inference_llm_stream_close(other);
}

int main(int argc, char **argv) {
    test_library();
    test_vocab_config();
    test_vocab();
    test_constraint();
    test_descriptor_limit();
    test_messages_are_utf8();
    test_lengths_beyond_the_limits();
    test_long_lists_of_paths();
    test_cache();
    test_threads();
    test_matcher_without_handle();
    test_matcher();
    test_forced_run_longer_than_its_buffer();
    test_log();
    test_a_log_callback_cannot_use_its_matcher();
    test_samplers_that_are_none();
    test_llama_missing();
    test_contexts_that_are_none();
    test_speech(NULL);
    test_host_requests(NULL, ELIZA_ERR_INVALID_ARG);
    test_host_requests(NOT_A_HANDLE, ELIZA_ERR_CLOSED);
    test_stream_handle(NULL, ELIZA_ERR_INVALID_ARG);
    test_stream_handle(NOT_A_HANDLE, ELIZA_ERR_CLOSED);
    test_stream_handle(NO_POINTER, ELIZA_ERR_CLOSED);
    if (argc > 1) test_with_model(argv[1], argv[0]);
    eliza_inference_trie_cache_set_limit(0); /* so that a leak checker sees an empty cache */
    return check_report(argc > 1 ? "abi" : "abi without a model");
}
