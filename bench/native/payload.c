/* Payload to trie, and cache hits.
 *
 *     payload FILE VOCABULARY_SIZE REPEATS
 *
 * Prints nanoseconds of each compilation (with the cache off) and of each hit, and what is retained.
 * Compilations are long enough to be interrupted by other processes, so theirs is the thread's own time. */
#include "harness.h"

static double time_create(const eliza_vocab *vocab, file_contents payload, clockid_t clock)
{
    int64_t start = read_clock_ns(clock);
    eliza_constraint *constraint = make_constraint(vocab, payload);
    double elapsed = (double)(read_clock_ns(clock) - start);
    eliza_inference_constraint_free(constraint);
    return elapsed;
}

static void measure(const char *name, const eliza_vocab *vocab, file_contents payload, clockid_t clock, size_t repeats)
{
    double *samples = allocate(repeats * sizeof *samples);
    for (size_t i = 0; i < repeats; i++)
        samples[i] = time_create(vocab, payload, clock);
    print_samples(name, samples, repeats, ",");
    free(samples);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: payload FILE VOCABULARY_SIZE REPEATS\n");
        return 2;
    }
    file_contents payload = read_file(argv[1]);
    eliza_vocab *vocab = make_vocab(atoi(argv[2]));
    size_t repeats = (size_t)atoi(argv[3]);

    eliza_constraint *constraint = make_constraint(vocab, payload);
    eliza_constraint_info_t info = {.struct_size = sizeof info};
    check(eliza_inference_constraint_info(constraint, &info), NULL, "info");
    eliza_inference_constraint_free(constraint);

    printf("{");
    eliza_inference_trie_cache_set_limit(0);
    measure("compile_ns", vocab, payload, CLOCK_THREAD_CPUTIME_ID, repeats);
    eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES);
    time_create(vocab, payload, CLOCK_MONOTONIC);
    measure("hit_ns", vocab, payload, CLOCK_MONOTONIC, repeats);
    printf("\"payload_bytes\": %zu, \"retained_bytes\": %llu, \"nodes\": %u, \"leaves\": %u}\n", payload.length,
           (unsigned long long)info.retained_bytes, info.n_nodes, info.n_leaves);
    eliza_inference_vocab_free(vocab);
    return 0;
}
