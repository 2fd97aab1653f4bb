/* Random valid use for as long as one likes: every kind of constraint, matchers and streams, clones and ways back, saving
 * and opening, compiling and dropping. What it finds is checked as in threads_test.c; and memory is flat. An era is some
 * sessions with one vocabulary, one model and a set of constraints: in its second half no more is live than before, and
 * when all is closed at its end, what was live after the first one.
 *
 *     long_test FOLDER SECONDS SEED MODEL [SESSIONS]   sessions of an era; 12
 *
 * The allocation functions of this program take the place of the C library's (glibc only). */
#define _GNU_SOURCE
#include "random_use.h"

#include <malloc.h>
#include <time.h>

/* What is allocated, by this library and by libllama. */

static long live_blocks, live_bytes;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *counted(void *block, long sign) {
    if (!block) return NULL;
    __atomic_fetch_add(&live_blocks, sign, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live_bytes, sign * (long)malloc_usable_size(block), __ATOMIC_RELAXED);
    return block;
}

void *malloc(size_t size) {
    return counted(__libc_malloc(size), 1);
}

void *calloc(size_t n, size_t size) {
    return counted(__libc_calloc(n, size), 1);
}

void *realloc(void *block, size_t size) {
    counted(block, -1);
    void *moved = __libc_realloc(block, size);
    counted(moved ? moved : size > 0 ? block : NULL, 1);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size), 1);
}

void *memalign(size_t alignment, size_t size) {
    return counted(__libc_memalign(alignment, size), 1);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    *out = counted(__libc_memalign(alignment, size), 1);
    return *out ? 0 : 12; /* ENOMEM */
}

void free(void *block) {
    counted(block, -1);
    __libc_free(block);
}

static long resident_bytes(void) {
    long pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) pages[1] = 0;
    if (file) fclose(file);
    return pages[1] * sysconf(_SC_PAGESIZE);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What lives through an era */

static eliza_vocab *vocab, *model_vocab;
static eliza_constraint *kept[N_KINDS][N_VARIANTS];

enum { N_MODEL_CONSTRAINTS = 6 };
static const Kind model_kinds[N_MODEL_CONSTRAINTS] = {CHOICES, REGEX, LARK_LR, GBNF, SCHEMA, TAGS};
static eliza_constraint *model_constraints[N_MODEL_CONSTRAINTS];
static EliInferenceContext *context;
static int *prompt;
static size_t prompt_length;

static void begin_era(User *user, const char *model) {
    static const char text[] = "User: set a timer\nAction:";
    char *message = NULL;
    vocab = make_vocab(user);
    for (Kind kind = 0; kind < N_KINDS; kind++)
        for (int variant = 0; variant < N_VARIANTS; variant++) {
            const eliza_compile_config_t config = config_of(user);
            WORKS(user, compile(vocab, kind, variant, &config, &kept[kind][variant], &message));
        }
    context = eliza_inference_create(model, &message);
    if (!HOLDS(user, context != NULL)) exit(1);
    WORKS(user, eliza_inference_vocab_from_context(context, &model_vocab, &message));
    WORKS(user, eliza_inference_tokenize(context, text, sizeof text - 1, 0, 0, &prompt, &prompt_length, &message));
    for (int i = 0; i < N_MODEL_CONSTRAINTS; i++) {
        const eliza_compile_config_t config = config_of(user);
        WORKS(user, compile(model_vocab, model_kinds[i], 0, &config, &model_constraints[i], &message));
    }
}

static void end_era(User *user) {
    for (int i = 0; i < N_MODEL_CONSTRAINTS; i++) eliza_inference_constraint_free(model_constraints[i]);
    eliza_inference_free_tokens(prompt);
    eliza_inference_vocab_free(model_vocab);
    eliza_inference_destroy(context);
    for (Kind kind = 0; kind < N_KINDS; kind++)
        for (int variant = 0; variant < N_VARIANTS; variant++) eliza_inference_constraint_free(kept[kind][variant]);
    eliza_inference_vocab_free(vocab);
    HOLDS(user, eliza_inference_trie_cache_set_limit(0) == ELIZA_OK);
}

static void replace(User *user, Kind kind, int variant) {
    const eliza_compile_config_t config = config_of(user);
    char *message = NULL;
    eliza_inference_constraint_free(kept[kind][variant]);
    WORKS(user, compile(vocab, kind, variant, &config, &kept[kind][variant], &message));
}

/* What the library says that it keeps of what lives. */
static long reported_bytes(User *user) {
    eliza_vocab_info_t info = {.struct_size = sizeof info};
    HOLDS(user, eliza_inference_vocab_info(vocab, &info) == ELIZA_OK);
    long total = (long)info.retained_bytes;
    HOLDS(user, eliza_inference_vocab_info(model_vocab, &info) == ELIZA_OK);
    total += (long)info.retained_bytes;
    for (int i = 0; i < N_KINDS * N_VARIANTS + N_MODEL_CONSTRAINTS; i++) {
        const int j = i - N_KINDS * N_VARIANTS;
        const eliza_constraint *constraint = j < 0 ? kept[i / N_VARIANTS][i % N_VARIANTS] : model_constraints[j];
        eliza_recognizer_info_t sizes = {.struct_size = sizeof sizes};
        HOLDS(user, eliza_inference_constraint_recognizer_info(constraint, &sizes) == ELIZA_OK);
        total += (long)(sizes.automaton_bytes + sizes.table_bytes);
    }
    return total;
}

/* Streams */

static EliLlmStream *open_stream(User *user) {
    Random *random = &user->random;
    eliza_llm_stream_config_t config = {.context_size = 256, .max_tokens = 48, .repeat_penalty = 1.1f};
    config.temperature = below(random, 2) ? 0.9f : 0;
    config.top_p = below(random, 2) ? 0.9f : 0;
    config.top_k = (int32_t)below(random, 2) * 40;
    config.draft_max = (int32_t)below(random, 2) * 4;
    config.draft_min = 1;
    config.gbnf_grammar = below(random, 3) ? NULL : "root ::= ([a-zA-Z_]+ [ .,]?)+";
    char *message = NULL;
    EliLlmStream *stream = eliza_inference_llm_stream_open(context, &config, &message);
    if (!HOLDS(user, stream != NULL)) fprintf(stderr, "%s\n", message);
    eliza_inference_free_string(message);
    HOLDS(user, eliza_inference_llm_stream_set_threads(stream, 1) == ELIZA_OK);
    HOLDS(user, eliza_inference_llm_stream_set_seed(stream, next_random(random)) == ELIZA_OK);
    return stream;
}

static int constrain(User *user, EliLlmStream *stream) {
    const eliza_constraint *constraint = model_constraints[below(&user->random, N_MODEL_CONSTRAINTS)];
    static const char trie[] = "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":[{\"path\":\"a\",\"leaves\":["
                               "{\"name\":\"x\",\"tokens\":[97,98]},{\"name\":\"y\",\"tokens\":[99,100,101]}]}]}";
    const int mode = (int)below(&user->random, 2);
    return below(&user->random, 3) ? eliza_inference_set_constraint(stream, constraint, mode, NULL)
                                   : eliza_inference_set_token_trie(stream, trie, sizeof trie - 1, mode);
}

static void save_and_restore(User *user, EliLlmStream *stream) {
    char path[1200], *message = NULL;
    snprintf(path, sizeof path, "%s/slot", user->folder);
    WORKS(user, eliza_inference_llm_stream_save_slot(stream, path, &message));
    WORKS(user, eliza_inference_llm_stream_restore_slot(stream, path, &message));
    WORKS(user, eliza_inference_llm_stream_prefill(stream, prompt, 1, &message));
    remove(path);
}

static void step(User *user, EliLlmStream *stream, int *goes_on) {
    int32_t tokens[16];
    size_t n = 0;
    char text[256], *message = NULL;
    const int status = eliza_inference_llm_stream_next(stream, tokens, 1 + below(&user->random, 16), &n, text, sizeof text, NULL,
                                                       NULL, &message);
    *goes_on = status == 0;
    if (status == ELIZA_ERR_CANCELLED) {
        eliza_inference_free_string(message);
        HOLDS(user, eliza_inference_llm_stream_reset(stream) == ELIZA_OK);
        return;
    }
    WORKS(user, status);
    HOLDS(user, n <= 16);
}

static void use_stream(User *user) {
    Random *random = &user->random;
    char *message = NULL;
    EliLlmStream *stream = open_stream(user);
    for (int answers = 1 + (int)below(random, 3); answers > 0; answers--) {
        int goes_on = 1;
        if (below(random, 3)) HOLDS(user, constrain(user, stream) == ELIZA_OK);
        WORKS(user, eliza_inference_llm_stream_prefill(stream, prompt, prompt_length, &message));
        for (int steps = 40; goes_on && steps > 0; steps--) {
            step(user, stream, &goes_on);
            if (!goes_on) break;
            switch (below(random, 40)) {
            case 0:
                HOLDS(user, eliza_inference_clear_constraint(stream) == ELIZA_OK);
                break;
            case 1:
                HOLDS(user, constrain(user, stream) == ELIZA_OK);
                break;
            case 2:
                HOLDS(user, eliza_inference_llm_stream_cancel(stream) == ELIZA_OK);
                break;
            case 3:
                save_and_restore(user, stream);
            }
        }
        eliza_llm_stream_stats_t stats = {.struct_size = sizeof stats};
        HOLDS(user, eliza_inference_llm_stream_stats(stream, &stats) == ELIZA_OK);
        HOLDS(user, eliza_inference_llm_stream_reset_keep(stream, (int32_t)below(random, 4)) >= 0);
    }
    eliza_inference_llm_stream_close(stream);
}

static void use_text(User *user) {
    char text[200], *message = NULL;
    float vector[1024];
    int dimension = 0, *tokens = NULL;
    size_t n = 0;
    const int from = (int)below(&user->random, 100), length = 5 + (int)below(&user->random, 90);
    WORKS(user, eliza_inference_tokenize(context, CORPUS + from, (size_t)length, 0, 0, &tokens, &n, &message));
    WORKS(user, eliza_inference_detokenize(context, tokens, n, 0, 0, text, sizeof text, &message));
    eliza_inference_free_tokens(tokens);
    WORKS(user, eliza_inference_embed(context, CORPUS + from, (size_t)length, ELIZA_POOLING_MEAN, vector, 1024, &dimension, &message));
}

/* Latency: how long accepting a token and finding what is legal after it take. */

enum { N_BUCKETS = 256 };

typedef struct Times {
    long counts[N_BUCKETS]; /* eight for each doubling */
    long n;
    double longest;
} Times;

static void add_time(Times *times, double seconds) {
    int bucket = (int)(8 * log2(seconds * 1e9));
    times->counts[bucket < 0 ? 0 : bucket < N_BUCKETS ? bucket : N_BUCKETS - 1]++;
    times->n++;
    if (seconds > times->longest) times->longest = seconds;
}

/* Microseconds that this share of the steps did not take longer than. */
static double microseconds(const Times *times, double share) {
    long left = (long)(share * (double)times->n);
    for (int i = 0; i < N_BUCKETS; i++) {
        left -= times->counts[i];
        if (left < 0) return exp2((i + 1) / 8.0) / 1000;
    }
    return times->longest * 1e6;
}

static void time_steps(User *user, Times *times) {
    int32_t words[N_WORDS];
    for (Kind kind = 0; kind < N_KINDS; kind++) {
        const Walk *walk = &walks[kind][0][0];
        eliza_matcher *matcher = NULL;
        HOLDS(user, eliza_inference_matcher_create(kept[kind][0], 0, &matcher, NULL) == ELIZA_OK);
        for (int at = 0; at < walk->n_steps; at++) {
            const double before = now();
            const int result = eliza_inference_matcher_accept(matcher, walk->tokens[at]);
            const int form = eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS);
            add_time(times, now() - before);
            HOLDS(user, result == walk->results[at] && form == walk->kinds[at + 1]);
        }
        eliza_inference_matcher_free(matcher);
    }
}

/* A session leaves nothing behind but what caches keep. */

enum { JOBS = 40 };

static void run_session(User *user) {
    for (int i = 0; i < JOBS; i++) {
        const Kind kind = below(&user->random, N_KINDS);
        const int variant = (int)below(&user->random, N_VARIANTS);
        switch (below(&user->random, 15)) {
        case 12:
        case 13:
        case 14:
            wander(user, kept[kind][variant]);
            break;
        case 0:
            compile_and_follow(user, vocab);
            break;
        case 1:
            replace(user, kind, variant);
            break;
        case 2:
            save_and_follow(user, vocab, kept[kind][variant], kind, variant);
            break;
        case 3:
            reopen_vocab_and_follow(user, vocab);
            break;
        case 4:
            ask_vocab(user, vocab);
            ask_trie_cache(user);
            break;
        case 5:
            ask_constraint(user, kept[kind][variant], kind);
            prepare(user, kept[kind][variant]);
            break;
        case 6:
            use_stream(user);
            break;
        case 7:
            use_text(user);
            break;
        default:
            follow(user, kept[kind][variant], walk_of(user, kind, variant));
        }
    }
}

/* libllama keeps a few texts that grow now and then. */
enum { BLOCKS_MAX = 16, BYTES_MAX = 65536 };

/* What was live after each session of an era, at most that many. */
enum { SESSIONS_MAX = 20000, SESSIONS_TO_TELL = 200 };
static long live[SESSIONS_MAX];

static long most(int from, int to) {
    long found = 0;
    for (int i = from; i < to; i++)
        if (live[i] > found) found = live[i];
    return found;
}

/* The second half of an era keeps no more than its second quarter did, but for what is chance in caches. */
enum { CHANCE_BYTES = 2000000 };

static void check_flat(User *user, int sessions) {
    if (sessions < SESSIONS_TO_TELL) return;
    const long before = most(sessions / 4, sessions / 2), later = most(sessions / 2, sessions);
    if (!HOLDS(user, later <= before + CHANCE_BYTES)) fprintf(stderr, "%ld bytes, later %ld\n", before, later);
}

/* A line for each part of the run. */
static void print_part(int part, long sessions, const Times *times, long bytes_max, long reported_max) {
    printf("%4d %9ld %12.3f %12.3f %12.1f %9.2f %9.2f %9.0f\n", part, sessions, (double)bytes_max / 1e6, (double)reported_max / 1e6,
           (double)resident_bytes() / 1e6, microseconds(times, 0.5), microseconds(times, 0.99), times->longest * 1e6);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    enum { N_PARTS = 10 };
    const double seconds = atof(argv[2]);
    const uint64_t seed = strtoull(argv[3], NULL, 10);
    const int era_sessions = argc > 5 ? atoi(argv[5]) : 12;
    if (era_sessions < 1 || era_sessions > SESSIONS_MAX) return 2;
    User user = {.folder = argv[1]};
    record_walks(&user);
    printf("part  sessions      live MB  reported MB  resident MB    p50 us    p99 us    max us\n");

    const double start = now();
    long sessions = 0, eras = 0, blocks = 0, bytes = 0, bytes_max = 0, reported_max = 0;
    int part = 0;
    Times times = {0};
    while (now() < start + seconds || eras < 3) {
        user.random = random_of(seed, (uint64_t)eras, 0);
        begin_era(&user, argv[4]);
        for (int i = 0; i < era_sessions; i++, sessions++) {
            run_session(&user);
            time_steps(&user, &times);
            const long reported = reported_bytes(&user);
            live[i] = live_bytes;
            if (live[i] > bytes_max) bytes_max = live[i];
            if (reported > reported_max) reported_max = reported;
            if (now() - start < seconds * (part + 1) / N_PARTS || part == N_PARTS) continue;
            print_part(++part, sessions + 1, &times, bytes_max, reported_max);
            times = (Times){0};
            bytes_max = reported_max = 0;
        }
        check_flat(&user, era_sessions);
        end_era(&user);
        if (eras++ == 0) {
            blocks = live_blocks;
            bytes = live_bytes;
        }
        if (!HOLDS(&user, live_blocks <= blocks + BLOCKS_MAX && live_bytes <= bytes + BYTES_MAX))
            fprintf(stderr, "after era %ld: %ld blocks more, %ld bytes\n", eras, live_blocks - blocks, live_bytes - bytes);
    }
    printf("%ld sessions, %ld eras; at the end %ld blocks and %ld bytes more than after the first\n", sessions, eras,
           live_blocks - blocks, live_bytes - bytes);
    printf("long: %ld checks passed, %ld failed\n", user.passed, user.failed);
    return user.failed == 0 ? 0 : 1;
}
