/* Many threads use one vocabulary and its constraints, mostly in the first moments of their lives: caches are filled,
 * full and thrown away, constraints prepared, saved and replaced, compiling cancelled, streams cancelled and closed. What
 * each of them sees must be what one thread alone has seen before.
 *
 *     threads_test FOLDER SECONDS [SEED [MODEL]]
 *
 * Meant to be run under ThreadSanitizer, which finds races that did no harm: `python3 tests/run.py test threads`. */
#define _POSIX_C_SOURCE 200809L
#include "random_use.h"

#include <time.h>

enum { N_THREADS = 32, JOBS = 10 };

/* One for all threads. A constraint is used under the lock for reading, and replaced under the one for writing; matchers
 * outlive it. */
typedef struct Shared {
    eliza_vocab *vocab;
    pthread_barrier_t start;
    struct Slot {
        pthread_rwlock_t lock;
        eliza_constraint *constraint;
    } slots[N_KINDS][N_VARIANTS];
} Shared;

static Shared shared;

/* Readers do not wait for each other. */
static void follow_shared(User *user, Kind kind, int variant) {
    struct Slot *slot = &shared.slots[kind][variant];
    pthread_rwlock_rdlock(&slot->lock);
    follow(user, slot->constraint, walk_of(user, kind, variant));
    pthread_rwlock_unlock(&slot->lock);
}

/* The last reference to a constraint may be a matcher's, in any thread. */
static void outlive(User *user, Kind kind, int variant) {
    struct Slot *slot = &shared.slots[kind][variant];
    const Walk *walk = walk_of(user, kind, variant);
    eliza_matcher *matcher = NULL;
    char *message = NULL;
    pthread_rwlock_rdlock(&slot->lock);
    WORKS(user, eliza_inference_matcher_create(slot->constraint, 0, &matcher, &message));
    pthread_rwlock_unlock(&slot->lock);
    for (int at = 0; at < walk->n_steps; at++) {
        check_bitmap(user, matcher, walk, at);
        if (!HOLDS(user, eliza_inference_matcher_accept(matcher, walk->tokens[at]) == walk->results[at])) break;
    }
    eliza_inference_matcher_free(matcher);
}

static void replace(User *user, Kind kind, int variant) {
    const eliza_compile_config_t config = config_of(user);
    eliza_constraint *made = NULL;
    char *message = NULL;
    if (!WORKS(user, compile(shared.vocab, kind, variant, &config, &made, &message))) return;
    struct Slot *slot = &shared.slots[kind][variant];
    pthread_rwlock_wrlock(&slot->lock);
    eliza_constraint *before = slot->constraint;
    slot->constraint = made;
    pthread_rwlock_unlock(&slot->lock);
    eliza_inference_constraint_free(before);
}

static void work_with_shared(User *user, Kind kind, int variant) {
    struct Slot *slot = &shared.slots[kind][variant];
    pthread_rwlock_rdlock(&slot->lock);
    ask_constraint(user, slot->constraint, kind);
    if (below(&user->random, 2)) prepare(user, slot->constraint);
    if (below(&user->random, 2)) save_and_follow(user, shared.vocab, slot->constraint, kind, variant);
    pthread_rwlock_unlock(&slot->lock);
}

/* Streams: those that run now, to be cancelled by whoever likes to. A stream is taken out before it is closed. */

static EliInferenceContext *context;
static eliza_vocab *model_vocab;
static eliza_constraint *model_constraints[2];
static int *prompt;
static size_t prompt_length;

static struct Running {
    pthread_mutex_t lock;
    EliLlmStream *stream;
} running[N_THREADS];

enum { OUTPUT_MAX = 24 };
static int32_t expected_output[2][OUTPUT_MAX];
static int expected_length[2];

/* Its output, and whether it was cancelled: then the output is the beginning of what it would have been. */
static int generate(User *user, EliLlmStream *stream, int which, int32_t *out, int *was_cancelled) {
    char *message = NULL;
    size_t n = 0, n_step = 0;
    *was_cancelled = 0;
    WORKS(user, eliza_inference_set_constraint(stream, model_constraints[which], ELIZA_MODE_GREEDY, NULL));
    int status = eliza_inference_llm_stream_prefill(stream, prompt, prompt_length, &message);
    while (status == 0 && n < OUTPUT_MAX) {
        status = eliza_inference_llm_stream_next(stream, out + n, OUTPUT_MAX - n, &n_step, NULL, 0, NULL, NULL, &message);
        if (status >= 0) n += n_step;
    }
    *was_cancelled = status == ELIZA_ERR_CANCELLED;
    if (*was_cancelled) {
        eliza_inference_free_string(message);
    } else {
        WORKS(user, status);
    }
    return (int)n;
}

static EliLlmStream *open_stream(User *user) {
    eliza_llm_stream_config_t config = {.max_tokens = OUTPUT_MAX, .context_size = 128};
    char *message = NULL;
    EliLlmStream *stream = eliza_inference_llm_stream_open(context, &config, &message);
    HOLDS(user, stream != NULL);
    eliza_inference_free_string(message);
    HOLDS(user, eliza_inference_llm_stream_set_threads(stream, 1) == ELIZA_OK);
    return stream;
}

static void run_stream(User *user) {
    const int which = (int)below(&user->random, 2);
    struct Running *own = &running[user->number];
    int32_t out[OUTPUT_MAX];
    int was_cancelled = 0;
    EliLlmStream *stream = open_stream(user);
    pthread_mutex_lock(&own->lock);
    own->stream = stream;
    pthread_mutex_unlock(&own->lock);
    const int n = generate(user, stream, which, out, &was_cancelled);
    HOLDS(user, was_cancelled ? n <= expected_length[which] : n == expected_length[which]);
    HOLDS(user, memcmp(out, expected_output[which], (size_t)n * sizeof *out) == 0);
    pthread_mutex_lock(&own->lock);
    own->stream = NULL;
    pthread_mutex_unlock(&own->lock);
    eliza_inference_llm_stream_close(stream);
    HOLDS(user, eliza_inference_llm_stream_cancel(stream) == ELIZA_ERR_CLOSED);
}

static void cancel_some_stream(User *user) {
    struct Running *other = &running[below(&user->random, N_THREADS)];
    pthread_mutex_lock(&other->lock);
    if (other->stream) HOLDS(user, eliza_inference_llm_stream_cancel(other->stream) == ELIZA_OK);
    pthread_mutex_unlock(&other->lock);
}

static void open_model(User *user, const char *path) {
    char *message = NULL;
    static const char text[] = "User: set a timer\nAction:";
    context = eliza_inference_create(path, &message);
    if (!HOLDS(user, context != NULL)) return;
    for (int i = 0; i < N_THREADS; i++) pthread_mutex_init(&running[i].lock, NULL);
    WORKS(user, eliza_inference_vocab_from_context(context, &model_vocab, &message));
    WORKS(user, compile(model_vocab, REGEX, 0, NULL, &model_constraints[0], &message));
    WORKS(user, compile(model_vocab, SCHEMA, 0, NULL, &model_constraints[1], &message));
    WORKS(user, eliza_inference_tokenize(context, text, sizeof text - 1, 0, 0, &prompt, &prompt_length, &message));
    for (int which = 0; which < 2; which++) {
        int was_cancelled = 0;
        EliLlmStream *stream = open_stream(user);
        expected_length[which] = generate(user, stream, which, expected_output[which], &was_cancelled);
        HOLDS(user, expected_length[which] > 0);
        eliza_inference_llm_stream_close(stream);
        /* The threads meet new ones. */
        eliza_inference_constraint_free(model_constraints[which]);
        model_constraints[which] = NULL;
    }
}

static void close_model(void) {
    if (!context) return;
    eliza_inference_free_tokens(prompt);
    eliza_inference_vocab_free(model_vocab);
    eliza_inference_destroy(context);
}

/* Rounds */

static void *use(void *argument) {
    User *user = argument;
    pthread_barrier_wait(&shared.start);
    for (int i = 0; i < JOBS; i++) {
        const Kind kind = below(&user->random, N_KINDS);
        const int variant = (int)below(&user->random, N_VARIANTS);
        switch (below(&user->random, context ? 12 : 10)) {
        case 0:
            compile_and_follow(user, shared.vocab);
            break;
        case 1:
            replace(user, kind, variant);
            break;
        case 2:
            work_with_shared(user, kind, variant);
            break;
        case 3:
            ask_vocab(user, shared.vocab);
            ask_trie_cache(user);
            break;
        case 4:
        case 5:
            outlive(user, kind, variant);
            break;
        case 6:
            reopen_vocab_and_follow(user, shared.vocab);
            break;
        case 10:
            run_stream(user);
            break;
        case 11:
            cancel_some_stream(user);
            break;
        default:
            follow_shared(user, kind, variant);
        }
    }
    return NULL;
}

/* A new vocabulary and new constraints, of which nothing is built yet. */
static void run_round(User *first, uint64_t seed, uint64_t round) {
    char *message = NULL;
    shared.vocab = make_vocab(first);
    first->random = random_of(seed, round, 1000);
    for (Kind kind = 0; kind < N_KINDS; kind++)
        for (int variant = 0; variant < N_VARIANTS; variant++) {
            const eliza_compile_config_t config = config_of(first);
            struct Slot *slot = &shared.slots[kind][variant];
            pthread_rwlock_init(&slot->lock, NULL);
            WORKS(first, compile(shared.vocab, kind, variant, &config, &slot->constraint, &message));
        }
    for (int which = 0; context && which < 2; which++)
        WORKS(first, compile(model_vocab, which ? SCHEMA : REGEX, 0, NULL, &model_constraints[which], &message));

    pthread_barrier_init(&shared.start, NULL, N_THREADS);
    pthread_t threads[N_THREADS];
    User users[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        users[i] = (User){.random = random_of(seed, round, (uint64_t)i), .folder = first->folder, .number = i};
        HOLDS(first, pthread_create(&threads[i], NULL, use, &users[i]) == 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        first->passed += users[i].passed;
        first->failed += users[i].failed;
    }
    pthread_barrier_destroy(&shared.start);

    for (Kind kind = 0; kind < N_KINDS; kind++)
        for (int variant = 0; variant < N_VARIANTS; variant++) {
            eliza_inference_constraint_free(shared.slots[kind][variant].constraint);
            pthread_rwlock_destroy(&shared.slots[kind][variant].lock);
        }
    for (int which = 0; which < 2; which++) eliza_inference_constraint_free(model_constraints[which]);
    eliza_inference_vocab_free(shared.vocab);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const double seconds = atof(argv[2]);
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    User first = {.folder = argv[1], .number = -1};
    record_walks(&first);
    if (argc > 4) open_model(&first, argv[4]);
    uint64_t rounds = 0;
    const double end = now() + seconds;
    do {
        run_round(&first, seed, rounds++);
    } while (now() < end);
    close_model();
    printf("%d threads, %llu rounds\nthreads: %ld checks passed, %ld failed\n", N_THREADS, (unsigned long long)rounds, first.passed,
           first.failed);
    return first.failed == 0 ? 0 : 1;
}
