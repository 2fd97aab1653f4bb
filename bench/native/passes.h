/* Walks over documents, with the time of each mask. In ns, the clock's own part included. */
#ifndef BENCH_PASSES_H
#define BENCH_PASSES_H

#include "languages.h"

enum call { ALLOWED, FILL };

/* Walks all documents once. Times are lowered to what this pass took; `accepts` may be NULL. */
static inline void pass(eliza_matcher *matcher, const documents *from, enum call call, int32_t *words, size_t n_words,
                        double *masks, double *accepts)
{
    const int32_t *token = from->tokens;
    size_t position = 0;
    for (size_t d = 0; d < from->n_documents; d++) {
        check(eliza_inference_matcher_reset(matcher), NULL, "reset");
        for (int32_t i = 0; i < from->lengths[d]; i++, token++, position++) {
            const int32_t *ids;
            size_t n;
            int64_t started = now_ns();
            int status = call == ALLOWED ? eliza_inference_matcher_allowed(matcher, &ids, &n)
                                         : eliza_inference_matcher_fill_bitmap(matcher, words, n_words);
            int64_t filled = now_ns();
            int result = eliza_inference_matcher_accept(matcher, *token);
            int64_t accepted = now_ns();
            check(status, NULL, "mask");
            if (result < 0 || result & ELIZA_STEP_REFUSED) {
                fprintf(stderr, "document %zu: token %d is refused\n", d, (int)i);
                exit(1);
            }
            double mask_ns = (double)(filled - started), accept_ns = (double)(accepted - filled);
            if (masks[position] > mask_ns)
                masks[position] = mask_ns;
            if (accepts != NULL && accepts[position] > accept_ns)
                accepts[position] = accept_ns;
        }
    }
}

static inline double *no_times(size_t count)
{
    double *times = allocate((count + 1) * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[i] = 1e18;
    return times;
}

static inline double clock_ns(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        int64_t started = now_ns(), took = now_ns() - started;
        least = took < least ? took : least;
    }
    return (double)least;
}

#endif
