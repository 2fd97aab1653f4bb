/* Lets each allocation of a small session fail, one after the other: the call in which it fails must
 * say so, change nothing and lose nothing, and the session must work when it is tried again.
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

int main(void) {
    session(); /* what the C library itself keeps is allocated now */
    long nth = 0, blocks_before = live_blocks;
    for (int finished = 0; !finished; nth++) {
        allocations_left = nth;
        session();
        finished = allocations_left >= 0; /* the session needs no more than this */
        allocations_left = -1;
        CHECK_EQUAL(live_blocks, blocks_before);
    }
    printf("out of memory: %ld allocations\n", nth - 1);
    CHECK(nth > 20);
    return check_report("out of memory");
}
