/* What may fail around a stream: calls of libllama, memory, the disk, the model's file, whoever cancels, a fork. Each call in
 * which something fails says so, changes nothing and loses nothing, and the same call works when it is tried again.
 *
 *     faults_test MODEL FOLDER   ELIZA_INFERENCE_LLAMA names a libllama with llama_faults.c in front
 */
#define _GNU_SOURCE
#include "check.h"
#include "eliza_inference.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory: that which the library itself asks for may fail. The functions of this program take the place of the C library's. */

static uintptr_t library_from, library_to;
static long allocations_left = -1;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* The library's blocks, by address: whoever frees them. Open addressing. */
enum { N_SLOTS = 1 << 16 };
static void *blocks[N_SLOTS];
static long live_blocks;
static volatile int blocks_lock;

static size_t slot_of(const void *block) {
    size_t slot = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15 >> 48;
    while (blocks[slot] && blocks[slot] != block) slot = (slot + 1) % N_SLOTS;
    return slot;
}

static void lock_blocks(void) {
    while (__atomic_exchange_n(&blocks_lock, 1, __ATOMIC_ACQUIRE)) {}
}

static void unlock_blocks(void) {
    __atomic_store_n(&blocks_lock, 0, __ATOMIC_RELEASE);
}

static void *add_block(void *block) {
    if (!block) return NULL;
    lock_blocks();
    blocks[slot_of(block)] = block;
    live_blocks++;
    unlock_blocks();
    return block;
}

static bool remove_block(void *block) {
    lock_blocks();
    size_t slot = slot_of(block);
    const bool is_there = block && blocks[slot];
    if (is_there) {
        live_blocks--;
        blocks[slot] = NULL;
        while (blocks[slot = (slot + 1) % N_SLOTS]) { /* those after it go where they are found */
            void *moved = blocks[slot];
            blocks[slot] = NULL;
            blocks[slot_of(moved)] = moved;
        }
    }
    unlock_blocks();
    return is_there;
}

#define IS_OF_LIBRARY ((uintptr_t)__builtin_return_address(0) - library_from < library_to - library_from)

static bool fails(void) {
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *malloc(size_t size) {
    if (!IS_OF_LIBRARY) return __libc_malloc(size);
    return fails() ? NULL : add_block(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    if (!IS_OF_LIBRARY) return __libc_calloc(count, size);
    return fails() ? NULL : add_block(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (!IS_OF_LIBRARY) return __libc_realloc(block, size);
    if (fails()) return NULL;
    const bool was_there = remove_block(block);
    void *moved = __libc_realloc(block, size);
    if (!moved) return was_there ? add_block(block), NULL : NULL;
    return add_block(moved);
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (!IS_OF_LIBRARY) return __libc_memalign(alignment, size);
    return fails() ? NULL : add_block(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    const bool is_of_library = IS_OF_LIBRARY;
    if (is_of_library && fails()) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    if (is_of_library) add_block(*out);
    return *out ? 0 : ENOMEM;
}

void free(void *block) {
    remove_block(block);
    __libc_free(block);
}

static int find_library(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    const uintptr_t inside = (uintptr_t)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || inside < from || inside >= to) continue;
        library_from = from;
        library_to = to;
        return 1;
    }
    return 0;
}

/* libllama */

static void (*faults_set)(const char *name, long calls, long long result);
static bool (*faults_happened)(void);
static void (*faults_on_decode)(void (*callback)(void *user_data), void *user_data);
static void (*faults_pretend_gpu)(bool is_there);
static int32_t (*faults_layers_on_gpu)(void);

static void find_faults(void) {
    void *library = dlopen(getenv("ELIZA_INFERENCE_LLAMA"), RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    faults_set = (void (*)(const char *, long, long long))dlsym(library, "faults_set");
    faults_happened = (bool (*)(void))dlsym(library, "faults_happened");
    faults_on_decode = (void (*)(void (*)(void *), void *))dlsym(library, "faults_on_decode");
    faults_pretend_gpu = (void (*)(bool))dlsym(library, "faults_pretend_gpu");
    faults_layers_on_gpu = (int32_t (*)(void))dlsym(library, "faults_layers_on_gpu");
    CHECK(faults_set && faults_happened && faults_on_decode && faults_pretend_gpu && faults_layers_on_gpu);
}

/* The session */

static const char *model_path;
static char slot_path[1024], file_path[1024], folder_path[1024];
static int n_failed_calls;
static char *error;

static const char PROMPT[] = "User: remind me to water the plants\nAction:";
static const char TRIE[] = "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":[{\"path\":\"a\",\"leaves\":["
                           "{\"name\":\"X\",\"tokens\":[10,11,12]},{\"name\":\"Y\",\"tokens\":[20,21]}]}]}";

static const char PARTS[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"a\",\"regex\":\" [a-z]\"},"
                            "{\"path\":\"b\",\"gbnf\":\"root ::= \\\"x\\\" root | \\\"y\\\"\"}]}";

/* 1 if a call worked; if not, it has said why, unless memory was too short for that. */
static int works(int status) {
    const char *text = error;
    CHECK(status < 0 || error == NULL);
    if (status < 0) {
        n_failed_calls++;
        CHECK(status == ELIZA_ERR_OOM || status == ELIZA_ERR_FFI_FAULT || status == ELIZA_ERR_CONTEXT_FULL ||
              status == ELIZA_ERR_BUNDLE_INVALID || status == ELIZA_ERR_IO);
        CHECK(status == ELIZA_ERR_OOM || text == NULL || strlen(text) > 8);
    }
    eliza_inference_free_string(error);
    error = NULL;
    return status >= 0;
}

#define TWICE(call)                                                                                                    \
    do {                                                                                                               \
        if (!works(call)) CHECK((call) >= 0);                                                                          \
    } while (0)

#define MAKES(made, call)                                                                                              \
    do {                                                                                                               \
        if (!((made) = (call))) {                                                                                      \
            works(error ? eliza_inference_error_status(error) : ELIZA_ERR_OOM);                                        \
            (made) = (call);                                                                                           \
            CHECK((made) != NULL);                                                                                     \
        }                                                                                                              \
    } while (0)

typedef struct {
    char text[512];
    size_t length;
    float vector[4096];
    int dimension;
} outcome;

static int add_text(int32_t token_id, const char *text, void *user_data) {
    outcome *out = user_data;
    (void)token_id;
    const size_t n = strlen(text);
    if (CHECK(out->length + n < sizeof out->text)) memcpy(out->text + out->length, text, n + 1), out->length += n;
    return 0;
}

/* Steps by `next`, and takes what came before a failure as it is. */
static void add_steps(EliLlmStream *stream, int n_steps, outcome *out) {
    for (int i = 0; i < n_steps; i++) {
        int32_t tokens[8];
        char text[64];
        size_t n = 0;
        int status = eliza_inference_llm_stream_next(stream, tokens, 8, &n, text, sizeof text, NULL, NULL, &error);
        if (!works(status)) {
            CHECK_EQUAL(n, 0);
            status = eliza_inference_llm_stream_next(stream, tokens, 8, &n, text, sizeof text, NULL, NULL, &error);
            CHECK(status >= 0);
        }
        add_text(0, text, out);
        if (status == 1) return;
    }
}

static void use_stream(EliInferenceContext *ctx, EliLlmStream *stream, bool is_sampled, outcome *out) {
    int *prompt = NULL;
    size_t n = 0, kept = 0;
    eliza_vocab *vocab = NULL;
    eliza_constraint *regex = NULL;
    eliza_span_state_t state = {.struct_size = sizeof state};
    TWICE(eliza_inference_tokenize(ctx, PROMPT, sizeof PROMPT - 1, 1, 0, &prompt, &n, &error));
    TWICE(eliza_inference_llm_stream_prefill(stream, prompt, n, &error));
    TWICE(eliza_inference_llm_stream_save_slot(stream, slot_path, &error));
    outcome saved = {.length = 0};
    add_steps(stream, 3, &saved);
    TWICE(eliza_inference_llm_stream_restore_slot(stream, slot_path, &error));
    add_steps(stream, 3, out);
    if (!is_sampled) CHECK(saved.length > 0 && strcmp(saved.text, out->text) == 0);

    TWICE(eliza_inference_vocab_from_context(ctx, &vocab, &error));
    TWICE(eliza_inference_vocab_heal(vocab, prompt, n, &kept, &error));
    CHECK(kept <= n);
    TWICE(eliza_inference_constraint_create_regex(vocab, " (timer|alarm) set!", 19, 0, NULL, &regex, &error));
    TWICE(eliza_inference_set_constraint(stream, regex, ELIZA_MODE_SAMPLED, NULL));
    TWICE(eliza_inference_llm_stream_activate(stream, "", 0));
    TWICE(eliza_inference_llm_stream_state(stream, &state));
    CHECK_EQUAL(state.active, 1);
    add_steps(stream, 4, out);
    TWICE(eliza_inference_set_token_trie(stream, TRIE, sizeof TRIE - 1, ELIZA_MODE_GREEDY));
    add_steps(stream, 2, out);
    TWICE(eliza_inference_set_token_trie(stream, PARTS, sizeof PARTS - 1, ELIZA_MODE_GREEDY));
    add_steps(stream, 3, out);
    CHECK_EQUAL(eliza_inference_clear_token_trie(stream), ELIZA_OK);

    TWICE(eliza_inference_llm_stream_reset_keep(stream, (int32_t)n));
    TWICE(eliza_inference_llm_stream_prefill(stream, prompt, 3, &error));
    if (!works(eliza_inference_llm_stream_generate(stream, 6, add_text, out, &error)))
        CHECK_EQUAL(eliza_inference_llm_stream_generate(stream, 0, add_text, out, &error), ELIZA_OK);

    char text[256];
    int length = eliza_inference_detokenize(ctx, prompt, n, 0, 1, text, sizeof text, &error);
    if (!works(length)) length = eliza_inference_detokenize(ctx, prompt, n, 0, 1, text, sizeof text, &error);
    CHECK(length > 0);
    eliza_inference_free_tokens(prompt);
    eliza_inference_constraint_free(regex);
    eliza_inference_vocab_free(vocab);
}

/* `is_sampled`: through libllama's samplers outside of spans, with a grammar and drafts. */
static void session(bool is_sampled, outcome *out) {
    eliza_llm_stream_config_t config = {.max_tokens = 64, .context_size = 160};
    EliInferenceContext *ctx;
    EliLlmStream *stream;
    if (is_sampled) {
        config.temperature = 0.8f;
        config.top_k = 40;
        config.top_p = 0.95f;
        config.draft_min = 1;
        config.draft_max = 4;
        config.gbnf_grammar = "root ::= [a-zA-Z_ !]*";
    }
    n_failed_calls = 0;
    memset(out, 0, sizeof *out);
    MAKES(ctx, eliza_inference_create(model_path, &error));
    TWICE(eliza_inference_set_model_id(ctx, "router", 6));
    TWICE(eliza_inference_set_model_id(ctx, NULL, 0));
    MAKES(stream, eliza_inference_llm_stream_open(ctx, &config, &error));
    use_stream(ctx, stream, is_sampled, out);
    eliza_inference_llm_stream_close(stream);
    TWICE(eliza_inference_embed(ctx, "a b", 3, ELIZA_POOLING_MEAN, out->vector, 4096, &out->dimension, &error));
    TWICE(eliza_inference_mmap_acquire(ctx, "text", &error));
    TWICE(eliza_inference_mmap_evict(ctx, "text", &error));
    eliza_inference_destroy(ctx);
    eliza_inference_trie_cache_set_limit(0);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
}

static outcome expected[2];

/* A sampler in the chain of a host, which has a model of its own. */

typedef struct {
    unsigned char bytes[256];
} on_stack;

typedef struct {
    int32_t id;
    float logit, p;
} candidate;

typedef struct {
    candidate *data;
    size_t size;
    int64_t selected;
    bool sorted;
} candidates;

static struct {
    const struct llama_vocab *vocab;
    int32_t n_tokens;
    void (*apply)(struct llama_sampler *, candidates *);
    void (*accept)(struct llama_sampler *, int32_t);
    void (*reset)(struct llama_sampler *);
    struct llama_sampler *(*clone)(const struct llama_sampler *);
    void (*free)(struct llama_sampler *);
} host;

static void open_host(void) {
    void *library = dlopen(getenv("ELIZA_INFERENCE_LLAMA"), RTLD_NOW | RTLD_NOLOAD);
    on_stack (*params)(void) = (on_stack(*)(void))dlsym(library, "llama_model_default_params");
    void *(*load)(const char *, on_stack) = (void *(*)(const char *, on_stack))dlsym(library, "llama_model_load_from_file");
    const struct llama_vocab *(*vocab_of)(void *) = (const struct llama_vocab *(*)(void *))dlsym(library, "llama_model_get_vocab");
    int32_t (*n_tokens)(const struct llama_vocab *) =
        (int32_t(*)(const struct llama_vocab *))dlsym(library, "llama_vocab_n_tokens");
    host.vocab = vocab_of(load(model_path, params()));
    host.n_tokens = n_tokens(host.vocab);
    host.apply = (void (*)(struct llama_sampler *, candidates *))dlsym(library, "llama_sampler_apply");
    host.accept = (void (*)(struct llama_sampler *, int32_t))dlsym(library, "llama_sampler_accept");
    host.reset = (void (*)(struct llama_sampler *))dlsym(library, "llama_sampler_reset");
    host.clone = (struct llama_sampler * (*)(const struct llama_sampler *)) dlsym(library, "llama_sampler_clone");
    host.free = (void (*)(struct llama_sampler *))dlsym(library, "llama_sampler_free");
}

static int32_t best_of(struct llama_sampler *sampler) {
    static candidate data[1 << 16];
    for (int32_t id = 0; id < host.n_tokens; id++) data[id] = (candidate){id, (float)(id % 7), 0};
    candidates array = {data, (size_t)host.n_tokens, -1, false};
    host.apply(sampler, &array);
    return array.size > 0 ? array.data[0].id : -1;
}

static void session_sampler(bool is_sampled, outcome *out) {
    const int mode = is_sampled ? ELIZA_MODE_SAMPLED : ELIZA_MODE_GREEDY;
    EliInferenceContext *ctx;
    eliza_vocab *vocab = NULL;
    eliza_constraint *regex = NULL;
    eliza_span_state_t state = {.struct_size = sizeof state};
    struct llama_sampler *first, *second, *copy;
    n_failed_calls = 0;
    memset(out, 0, sizeof *out);
    MAKES(ctx, eliza_inference_create(model_path, &error));
    TWICE(eliza_inference_vocab_from_context(ctx, &vocab, &error));
    TWICE(eliza_inference_constraint_create_regex(vocab, "a+b", 3, 0, NULL, &regex, &error));
    MAKES(first, eliza_inference_sampler_init_token_trie(host.vocab, TRIE, sizeof TRIE - 1, mode, &error));
    MAKES(second, eliza_inference_sampler_init_constraint(host.vocab, regex, mode, NULL, &error));
    const int32_t token = best_of(first); /* out of memory, all are let through, and the log says so */
    CHECK(token == 10 || token == 20 || is_sampled || allocations_left < 0);
    host.accept(first, 20);
    TWICE(eliza_inference_sampler_set_constraint(first, regex, mode, NULL, &error));
    TWICE(eliza_inference_sampler_set_token_trie(first, TRIE, sizeof TRIE - 1, mode, &error));
    TWICE(eliza_inference_sampler_activate(second, "", 0, &error));
    TWICE(eliza_inference_sampler_state(first, &state));
    CHECK_EQUAL(state.n_allowed, 2);
    best_of(second);
    host.accept(second, 'a');
    MAKES(copy, host.clone(second));
    host.reset(copy);
    best_of(copy);
    host.free(copy);
    host.free(second);
    host.free(first);
    eliza_inference_constraint_free(regex);
    eliza_inference_vocab_free(vocab);
    eliza_inference_destroy(ctx);
    eliza_inference_trie_cache_set_limit(0);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
}

static void check_session(bool is_sampled) {
    static outcome found;
    session(is_sampled, &found);
    const outcome *wanted = &expected[is_sampled];
    if (!CHECK(strcmp(found.text, wanted->text) == 0)) fprintf(stderr, "%s\n%s\n", found.text, wanted->text);
    CHECK_EQUAL(found.dimension, wanted->dimension);
    CHECK(memcmp(found.vector, wanted->vector, sizeof found.vector) == 0);
}

static void check_sampler(bool is_sampled) {
    static outcome ignored;
    session_sampler(is_sampled, &ignored);
}

static void test_failing_calls_of_libllama(void) {
    const struct {
        const char *name;
        long long result;
        bool may_be_unseen; /* another way is taken then, and no call fails */
    } faults[] = {
        {"llama_decode", -1, false},          {"llama_decode", 1, false},
        {"llama_get_logits_ith", 0, false},   {"llama_init_from_model", 0, false},
        {"llama_tokenize", INT32_MIN, true}, {"llama_detokenize", INT32_MIN, false},
        {"llama_get_embeddings_seq", 0, false}, {"llama_state_seq_get_data", 0, false},
        {"llama_state_seq_set_data", 0, false}, {"llama_model_load_from_file", 0, false},
        {"llama_memory_seq_rm", 0, true},     {"llama_memory_seq_pos_max", 3, false},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        long n = 0;
        for (;; n++) {
            const bool is_sampled = n % 2;
            faults_set(faults[i].name, n / 2, faults[i].result);
            check_session(is_sampled);
            const bool happened = faults_happened();
            if (!happened && is_sampled) break;
            if (happened && !CHECK(n_failed_calls > 0 || faults[i].may_be_unseen))
                fprintf(stderr, "%s, call %ld\n", faults[i].name, n / 2);
        }
        CHECK(n > 1);
        printf("faults: %s, %ld sessions\n", faults[i].name, n);
    }
    faults_set("", 0, 0);
}

static void test_memory(const char *name, void (*each)(bool is_sampled), bool is_sampled) {
    each(is_sampled); /* what is kept for the process is made now */
    CHECK_EQUAL(n_failed_calls, 0);
    const long blocks_before = live_blocks;
    long nth = 0;
    for (bool finished = false; !finished; nth++) {
        allocations_left = nth;
        each(is_sampled);
        finished = allocations_left >= 0;
        allocations_left = -1;
        if (!CHECK_EQUAL(live_blocks, blocks_before)) fprintf(stderr, "allocation %ld\n", nth), live_blocks = blocks_before;
    }
    printf("faults: out of memory, %s, %ld allocations\n", name, nth - 1);
    CHECK(nth > 20);
}

/* Cancelled within each decode, and by each token. */

typedef struct {
    EliLlmStream *stream;
    long left;
} cancelling;

static void cancel_in_decode(void *user_data) {
    cancelling *at = user_data;
    if (at->left-- == 0) CHECK_EQUAL(eliza_inference_llm_stream_cancel(at->stream), ELIZA_OK);
}

static int cancel_by_token(int32_t token_id, const char *text, void *user_data) {
    (void)token_id, (void)text;
    cancel_in_decode(user_data);
    return 0;
}

static EliInferenceContext *open_context(void) {
    EliInferenceContext *ctx = eliza_inference_create(model_path, NULL);
    CHECK(ctx != NULL);
    return ctx;
}

static void test_cancelling(void) {
    EliInferenceContext *ctx = open_context();
    const eliza_llm_stream_config_t config = {.context_size = 128, .draft_min = 1, .draft_max = 4};
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, NULL);
    int *prompt = NULL;
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_tokenize(ctx, PROMPT, sizeof PROMPT - 1, 1, 0, &prompt, &n, NULL), ELIZA_OK);
    outcome whole = {.length = 0};
    CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, n, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_llm_stream_generate(stream, 8, add_text, &whole, NULL), ELIZA_OK);
    for (int by_token = 0; by_token < 2; by_token++) {
        long at = 0;
        for (bool finished = false; !finished; at++) {
            cancelling now = {stream, at};
            CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
            if (!by_token) faults_on_decode(cancel_in_decode, &now);
            int status = eliza_inference_llm_stream_prefill(stream, prompt, n, NULL);
            outcome ignored = {.length = 0};
            if (status == ELIZA_OK)
                status = by_token ? eliza_inference_llm_stream_generate(stream, 8, cancel_by_token, &now, NULL)
                                  : eliza_inference_llm_stream_generate(stream, 8, add_text, &ignored, NULL);
            faults_on_decode(NULL, NULL);
            finished = now.left >= 0;
            CHECK_EQUAL(status, finished ? ELIZA_OK : ELIZA_ERR_CANCELLED);
            if (finished) continue;
            CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_CANCELLED);
            outcome again = {.length = 0};
            CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
            CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, n, NULL), ELIZA_OK);
            CHECK_EQUAL(eliza_inference_llm_stream_generate(stream, 8, add_text, &again, NULL), ELIZA_OK);
            CHECK(strcmp(again.text, whole.text) == 0);
        }
        CHECK(at > 2);
    }
    eliza_inference_free_tokens(prompt);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(ctx);
}

static void test_full_context(void) {
    EliInferenceContext *ctx = open_context();
    enum { ROOM = 8 };
    const eliza_llm_stream_config_t config = {.context_size = ROOM};
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, NULL);
    int *prompt = NULL;
    size_t n = 0;
    CHECK_EQUAL(eliza_inference_tokenize(ctx, PROMPT, sizeof PROMPT - 1, 1, 0, &prompt, &n, NULL), ELIZA_OK);
    CHECK(n > ROOM);
    eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
    for (int again = 0; again < 2; again++) {
        CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, ROOM + 1, NULL), ELIZA_ERR_CONTEXT_FULL);
        CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, ROOM - 2, NULL), ELIZA_OK);
        CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, 3, NULL), ELIZA_ERR_CONTEXT_FULL);
        outcome out = {.length = 0};
        CHECK_EQUAL(eliza_inference_llm_stream_generate(stream, 0, add_text, &out, NULL), ELIZA_OK);
        const int reason = eliza_inference_llm_stream_stop_reason(stream);
        CHECK(reason == ELIZA_STOP_CONTEXT_FULL || reason == ELIZA_STOP_END_OF_GENERATION);
        CHECK_EQUAL(eliza_inference_llm_stream_stats(stream, &stats), ELIZA_OK);
        CHECK(stats.context_tokens <= ROOM);
        CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
        CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, ROOM, NULL), ELIZA_OK); /* to the last place */
        CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, 1, NULL), ELIZA_ERR_CONTEXT_FULL);
        CHECK_EQUAL(eliza_inference_llm_stream_generate(stream, 0, add_text, &out, NULL), ELIZA_OK);
        CHECK_EQUAL(eliza_inference_llm_stream_stop_reason(stream), ELIZA_STOP_CONTEXT_FULL);
        CHECK_EQUAL(eliza_inference_llm_stream_reset(stream), ELIZA_OK);
    }
    eliza_inference_free_tokens(prompt);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(ctx);
}

/* The disk */

static size_t entries_of_folder(void) {
    DIR *folder = opendir(folder_path);
    size_t n = 0;
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static long size_of(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 ? (long)found.st_size : -1;
}

typedef int saving(void *what, const char *path);

static int save_slot(void *stream, const char *path) {
    return eliza_inference_llm_stream_save_slot(stream, path, &error);
}

static int save_vocab(void *vocab, const char *path) {
    return eliza_inference_vocab_save(vocab, path, strlen(path), &error);
}

static int save_constraint(void *constraint, const char *path) {
    return eliza_inference_constraint_save(constraint, path, strlen(path), &error);
}

/* A file may have so many bytes and no more, as on a full disk: the old one stays, and nothing lies beside it. */
static void check_full_disk(saving *save, void *what) {
    struct rlimit limit = {0}, before;
    CHECK_EQUAL(save(what, file_path), ELIZA_OK);
    const long whole = size_of(file_path);
    const size_t entries = entries_of_folder();
    getrlimit(RLIMIT_FSIZE, &before);
    for (int i = 0; i <= 8; i++) {
        limit = before;
        limit.rlim_cur = i == 8 ? (rlim_t)whole - 1 : (rlim_t)(whole * i / 8);
        setrlimit(RLIMIT_FSIZE, &limit);
        const int status = save(what, file_path);
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK_EQUAL(status, ELIZA_ERR_IO);
        CHECK(error != NULL && strstr(error, file_path) != NULL);
        eliza_inference_free_string(error);
        error = NULL;
        CHECK_EQUAL(size_of(file_path), whole);
        CHECK_EQUAL(entries_of_folder(), entries);
    }
    CHECK_EQUAL(save(what, file_path), ELIZA_OK);
    const char *nowhere[] = {"/proc/slot", "/nonexistent/slot", folder_path, ""};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        CHECK(save(what, nowhere[i]) < 0);
        eliza_inference_free_string(error);
        error = NULL;
    }
    CHECK_EQUAL(entries_of_folder(), entries);
    remove(file_path);
}

static void test_disk(void) {
    EliInferenceContext *ctx = open_context();
    const eliza_llm_stream_config_t config = {.context_size = 64};
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, NULL);
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    const int32_t prompt[] = {10, 11, 12, 13};
    CHECK_EQUAL(eliza_inference_llm_stream_prefill(stream, prompt, 4, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_vocab_from_context(ctx, &vocab, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_constraint_create_regex(vocab, "(ab)+", 5, 0, NULL, &constraint, NULL), ELIZA_OK);
    signal(SIGXFSZ, SIG_IGN);
    check_full_disk(save_slot, stream);
    check_full_disk(save_vocab, vocab);
    check_full_disk(save_constraint, constraint);
    signal(SIGXFSZ, SIG_DFL);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(ctx);
}

/* The model's file, cut at each hundredth of its length. */
static void test_cut_models(void) {
    const long whole = size_of(model_path);
    char *bytes = malloc((size_t)whole);
    FILE *file = fopen(model_path, "rb");
    CHECK_EQUAL(fread(bytes, 1, (size_t)whole, file), whole);
    fclose(file);
    for (int percent = 0; percent < 100; percent++) {
        file = fopen(file_path, "wb");
        CHECK(fwrite(bytes, 1, (size_t)(whole * percent / 100), file) > 0 || percent == 0);
        fclose(file);
        EliInferenceContext *ctx = eliza_inference_create(file_path, &error);
        if (!CHECK(ctx == NULL)) fprintf(stderr, "%d %%\n", percent), eliza_inference_destroy(ctx);
        CHECK_EQUAL(eliza_inference_error_status(error), ELIZA_ERR_BUNDLE_INVALID);
        CHECK(error && strstr(error, file_path) != NULL);
        eliza_inference_free_string(error);
        error = NULL;
    }
    remove(file_path);
    free(bytes);
}

static void open_with_gpu_layers(EliInferenceContext *ctx, int32_t n_gpu_layers) {
    eliza_llm_stream_config_t config = {.n_gpu_layers = n_gpu_layers, .context_size = 64};
    EliLlmStream *stream = eliza_inference_llm_stream_open(ctx, &config, &error);
    CHECK(stream != NULL && error == NULL);
    eliza_inference_llm_stream_close(stream);
}

/* Where there is a GPU, a stream has as many layers on it as it asks for: 0 are none, below 0 what the context has. */
static void test_gpu_layers(void) {
    const struct {
        int32_t asked, loaded; /* INT32_MIN: the model stays */
    } streams[] = {{-1, INT32_MIN}, {0, 0}, {0, INT32_MIN}, {-1, INT32_MIN}, {1, 1}, {0, 0}};
    faults_pretend_gpu(true);
    EliInferenceContext *ctx = eliza_inference_create(model_path, &error);
    CHECK(ctx != NULL && error == NULL);
    CHECK(faults_layers_on_gpu() != 0);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        open_with_gpu_layers(ctx, streams[i].asked);
        CHECK_EQUAL(faults_layers_on_gpu(), streams[i].loaded);
    }
    eliza_inference_destroy(ctx);
    faults_pretend_gpu(false);
}

/* A child continues with the vocabularies, constraints and matchers of its parent, and so does the parent. */
static int use_of_matchers(const eliza_vocab *vocab, const eliza_constraint *constraint, eliza_matcher *matcher) {
    eliza_matcher *others[4] = {NULL};
    eliza_constraint *own = NULL;
    const int n = eliza_inference_vocab_size(vocab), n_words = (n + 31) / 32;
    int32_t *words = malloc(4 * (size_t)n_words * sizeof *words);
    int is_right = eliza_inference_matcher_accept(matcher, 'b') == ELIZA_STEP_IN_SPAN;
    for (int i = 0; i < 4; i++) is_right &= eliza_inference_matcher_clone(matcher, &others[i]) == ELIZA_OK;
    is_right &= eliza_inference_matcher_fill_bitmaps(others, 4, words, (size_t)n_words, 4) == ELIZA_OK;
    for (int i = 0; i < 4; i++) is_right &= words[i * n_words + 'a' / 32] >> 'a' % 32 == 1;
    for (int i = 0; i < 4; i++) eliza_inference_matcher_free(others[i]);
    is_right &= eliza_inference_constraint_prepare(constraint, NULL, NULL) == ELIZA_OK;
    is_right &= eliza_inference_constraint_create_regex(vocab, "[ab]+", 5, 0, NULL, &own, NULL) == ELIZA_OK;
    eliza_inference_constraint_free(own);
    is_right &= eliza_inference_matcher_rollback(matcher, 1) == ELIZA_OK;
    free(words);
    return is_right;
}

static void test_fork(void) {
    uint8_t bytes[257], flags[257] = {[256] = ELIZA_TOKEN_END_OF_GENERATION};
    uint64_t offsets[258];
    for (int i = 0; i < 257; i++) bytes[i] = (uint8_t)i, offsets[i] = (uint64_t)i;
    offsets[257] = 256;
    const eliza_vocab_config_t config = {sizeof config, 257, NULL, 0, bytes, offsets, flags};
    eliza_vocab *vocab = NULL, *mapped = NULL;
    CHECK_EQUAL(eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_vocab_save(vocab, file_path, strlen(file_path), NULL), ELIZA_OK);
    CHECK_EQUAL(eliza_inference_vocab_open(file_path, strlen(file_path), &mapped, NULL), ELIZA_OK);
    const eliza_vocab *vocabularies[] = {vocab, mapped};
    for (int i = 0; i < 2; i++) {
        eliza_constraint *constraint = NULL;
        eliza_matcher *matcher = NULL;
        const char *grammar = "start: (\"ab\" | start start)+";
        CHECK_EQUAL(eliza_inference_constraint_create_lark(vocabularies[i], grammar, strlen(grammar), NULL, &constraint, NULL),
                    ELIZA_OK);
        CHECK_EQUAL(eliza_inference_matcher_create(constraint, 0, &matcher, NULL), ELIZA_OK);
        CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 'a'), ELIZA_STEP_IN_SPAN);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            const int is_right = use_of_matchers(vocabularies[i], constraint, matcher);
            eliza_inference_matcher_free(matcher);
            eliza_inference_constraint_free(constraint);
            _exit(is_right ? 0 : 1);
        }
        CHECK(use_of_matchers(vocabularies[i], constraint, matcher));
        int status = -1;
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
    eliza_inference_vocab_free(mapped);
    eliza_inference_vocab_free(vocab);
    remove(file_path);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    model_path = argv[1];
    snprintf(folder_path, sizeof folder_path, "%s", argv[2]);
    snprintf(slot_path, sizeof slot_path, "%s/slot", argv[2]);
    snprintf(file_path, sizeof file_path, "%s/file", argv[2]);
    CHECK(dl_iterate_phdr(find_library, (void *)(uintptr_t)eliza_inference_version) == 1);
    session(false, &expected[0]); /* what is kept for the process is made now */
    CHECK_EQUAL(n_failed_calls, 0);
    session(true, &expected[1]);
    CHECK_EQUAL(n_failed_calls, 0);
    CHECK(expected[0].length > 8 && expected[1].length > 8);
    find_faults();
    test_failing_calls_of_libllama();
    open_host();
    for (int is_sampled = 0; is_sampled < 2; is_sampled++) {
        test_memory("stream", check_session, is_sampled);
        test_memory("sampler", check_sampler, is_sampled);
    }
    test_cancelling();
    test_full_context();
    test_disk();
    test_cut_models();
    test_gpu_layers();
    test_fork();
    remove(slot_path);
    return check_report("faults");
}
