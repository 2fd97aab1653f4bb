/* The steps of a matcher on any engine's logits.
 *
 *     steps FILE VOCABULARY_SIZE WIDTH...
 *
 * FILE has a descriptor for each width, "width-N-0" with N leaves of one token, and the descriptor "long" with
 * one leaf of 400 tokens. Prints nanoseconds per call; a sample is the mean of a batch of calls, since
 * one call is shorter than reading the clock. */
#include <string.h>

#include "harness.h"

enum { BATCHES = 200, BATCH_CALLS = 500, MASK_CALLS = 5, LONG_TOKENS = 399, SHIFTS = 4096 };

static eliza_matcher *matcher;
static float *logits; /* n_logits + SHIFTS */
static size_t n_logits;
static int32_t long_token;

static void activate(const char *path)
{
    check(eliza_inference_matcher_activate(matcher, path, strlen(path)), NULL, path);
}

static void allowed(void)
{
    const int32_t *ids;
    size_t count;
    eliza_inference_matcher_allowed(matcher, &ids, &count);
}

static void can_stop(void)
{
    eliza_inference_matcher_can_stop(matcher);
}

/* Other logits each time, or the processor learns their order by heart. */
static void sample(int mode, float top_p)
{
    static size_t shift;
    shift = (shift + 97) % SHIFTS;
    eliza_sampling_t sampling = {sizeof sampling, mode, 0.8f, top_p};
    int32_t token;
    eliza_inference_matcher_sample(matcher, logits + shift, n_logits, &sampling, &token);
}

static void sample_greedy(void)
{
    sample(ELIZA_MODE_GREEDY, 1.0f);
}

static void sample_drawn(void)
{
    sample(ELIZA_MODE_SAMPLED, 0.95f);
}

/* Masked logits stay masked, so the cost does not depend on what they were. */
static void mask(void)
{
    eliza_inference_matcher_mask_logits(matcher, logits, n_logits);
}

static void measure(const char *name, void (*call)(void), int calls)
{
    double samples[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        int64_t start = now_ns();
        for (int i = 0; i < calls; i++)
            call();
        samples[batch] = (double)(now_ns() - start) / calls;
    }
    print_samples(name, samples, BATCHES, ",");
}

/* Walks of the long leaf up to its last token, each from a fresh activation that is not timed. */
static void measure_accept(void)
{
    double samples[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        activate("long");
        int64_t start = now_ns();
        for (int i = 0; i < LONG_TOKENS; i++)
            if (eliza_inference_matcher_accept(matcher, long_token) != ELIZA_STEP_IN_SPAN)
                exit(1);
        samples[batch] = (double)(now_ns() - start) / LONG_TOKENS;
    }
    print_samples("accept_ns", samples, BATCHES, ",");
}

static void measure_width(const char *width)
{
    char name[64];
    snprintf(name, sizeof name, "width-%s-0", width);
    activate(name);
    snprintf(name, sizeof name, "greedy_%s_ns", width);
    measure(name, sample_greedy, BATCH_CALLS);
    snprintf(name, sizeof name, "drawn_%s_ns", width);
    measure(name, sample_drawn, BATCH_CALLS);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: steps FILE VOCABULARY_SIZE WIDTH...\n");
        return 2;
    }
    file_contents payload = read_file(argv[1]);
    n_logits = (size_t)atoi(argv[2]);
    eliza_vocab *vocab = make_vocab((int32_t)n_logits);
    eliza_constraint *constraint = make_constraint(vocab, payload);
    matcher = make_matcher(constraint);
    logits = allocate((n_logits + SHIFTS) * sizeof *logits);
    uint32_t random = 1;
    for (size_t i = 0; i < n_logits + SHIFTS; i++) {
        random = random * 1664525 + 1013904223;
        logits[i] = (float)(random >> 8) / (1 << 24) * 20 - 10;
    }

    printf("{");
    activate("long");
    const int32_t *ids;
    size_t count;
    eliza_inference_matcher_allowed(matcher, &ids, &count);
    long_token = ids[0];
    measure_accept();
    for (int i = 3; i < argc; i++)
        measure_width(argv[i]);
    measure("allowed_ns", allowed, BATCH_CALLS);
    measure("can_stop_ns", can_stop, BATCH_CALLS);
    measure("mask_ns", mask, MASK_CALLS);
    printf("\"vocabulary_size\": %zu}\n", n_logits);

    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    free(logits);
    free(payload.bytes);
    return 0;
}
