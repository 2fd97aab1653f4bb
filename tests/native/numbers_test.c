/* Draws by the million: how often each token comes must be what the logits say, by Pearson's chi-square test. The
 * expected shares are computed here, with the C library's exp and by sorting. Seeds are fixed, so that the result is.
 *
 *     numbers_test [DRAWS]   a million of each distribution over few tokens, and as many, or DRAWS, over many */
#include "check.h"
#include "eliza_inference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Token n spells n with three digits, so that patterns choose what is legal; the last one ends the generation. */
enum { N_TOKENS = 401, END = 400 };

static eliza_vocab *make_vocab(void) {
    static char bytes[3 * END + 4];
    uint64_t offsets[N_TOKENS + 1];
    uint8_t flags[N_TOKENS] = {[END] = ELIZA_TOKEN_END_OF_GENERATION};
    for (int i = 0; i < END; i++) snprintf(bytes + 3 * i, 4, "%03d", i);
    for (int i = 0; i < N_TOKENS; i++) offsets[i] = 3 * (uint64_t)i;
    bytes[3 * END] = '$';
    offsets[N_TOKENS] = 3 * END + 1;
    eliza_vocab_config_t config = {sizeof config, N_TOKENS, NULL, 0, (uint8_t *)bytes, offsets, flags};
    eliza_vocab *vocab = NULL;
    CHECK_EQUAL(eliza_inference_vocab_create(&config, &vocab, NULL), ELIZA_OK);
    return vocab;
}

/* `pattern` NULL: outside a span, where all is legal. */
static eliza_matcher *make_matcher(const eliza_vocab *vocab, const char *pattern) {
    static const char trie[] = "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":[{\"path\":\"p\",\"trigger\":[[1]],"
                               "\"leaves\":[{\"name\":\"x\",\"tokens\":[2]}]}]}";
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    const int status =
        pattern ? eliza_inference_constraint_create_regex(vocab, pattern, strlen(pattern), 0, NULL, &constraint, NULL)
                : eliza_inference_constraint_create_token_trie(vocab, trie, sizeof trie - 1, &constraint, NULL);
    CHECK_EQUAL(status, ELIZA_OK);
    CHECK_EQUAL(eliza_inference_matcher_create(constraint, 0, &matcher, NULL), ELIZA_OK);
    eliza_inference_constraint_free(constraint);
    return matcher;
}

static int is_set(const int32_t *words, int token) {
    return (int)((uint32_t)words[token / 32] >> (token % 32) & 1);
}

/* Logits */

/* Bell-shaped, with equal ones among them; here and there one that must never be drawn. */
static void make_logits(float *logits) {
    for (int i = 0; i < N_TOKENS; i++) {
        const double x = (i * 37 % 101) / 25.0 - 2;
        logits[i] = (float)(3 - x * x);
        if (i % 29 == 3) logits[i] = NAN;
        if (i % 29 == 4) logits[i] = -INFINITY;
    }
}

/* What should come out */

static const double *weights_to_sort;

static int by_descending_weight(const void *a, const void *b) {
    const int i = *(const int *)a, j = *(const int *)b;
    const double x = weights_to_sort[i], y = weights_to_sort[j];
    return x != y ? (x < y ? 1 : -1) : i - j;
}

/* The share of each token: e^(logit / temperature) of the legal ones, cut to the fewest most likely that have `top_p`. */
static void expect(const float *logits, const int32_t *words, double temperature, double top_p, double *shares) {
    int order[N_TOKENS];
    double total = 0, kept = 0;
    for (int i = 0; i < N_TOKENS; i++) {
        order[i] = i;
        shares[i] = is_set(words, i) && !isnan(logits[i]) ? exp(logits[i] / temperature) : 0;
        total += shares[i];
    }
    weights_to_sort = shares;
    qsort(order, N_TOKENS, sizeof *order, by_descending_weight);
    for (int i = 0; i < N_TOKENS; i++) {
        double *share = &shares[order[i]];
        if (kept >= top_p * total) *share = 0;
        kept += *share;
    }
    for (int i = 0; i < N_TOKENS; i++) shares[i] /= kept;
}

/* Pearson's statistic as a standard normal deviate (Wilson and Hilferty, "The distribution of chi-square", 1931). Tokens
 * that are expected fewer than ten times count together. Infinite if one came that must not. */
static double deviation(const long *counts, const double *shares, long n) {
    double statistic = 0, rare_expected = 0;
    long rare = 0;
    int classes = 0;
    for (int i = 0; i < N_TOKENS; i++) {
        const double expected = shares[i] * (double)n;
        if (expected == 0 && counts[i] > 0) return INFINITY;
        if (expected < 10) {
            rare += counts[i];
            rare_expected += expected;
        } else {
            statistic += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
            classes++;
        }
    }
    if (rare_expected >= 10) {
        statistic += ((double)rare - rare_expected) * ((double)rare - rare_expected) / rare_expected;
        classes++;
    }
    if (classes < 2) return 0;
    const double freedom = classes - 1;
    return (cbrt(statistic / freedom) - (1 - 2 / (9 * freedom))) / sqrt(2 / (9 * freedom));
}

/* Draws */

static void draw(eliza_matcher *matcher, const float *logits, const eliza_sampling_t *sampling, long n, long *counts) {
    int wrong = 0;
    memset(counts, 0, N_TOKENS * sizeof *counts);
    for (long i = 0; i < n; i++) {
        int32_t token = -1;
        wrong += eliza_inference_matcher_sample(matcher, logits, N_TOKENS, sampling, &token) != ELIZA_OK;
        if (token >= 0 && token < N_TOKENS) counts[token]++;
    }
    CHECK_EQUAL(wrong, 0);
}

/* One chance in 30,000 that a right sampler would fail, for each seed; but the seed is fixed. */
static const double too_far = 4;

static void test_draws(const eliza_vocab *vocab, const char *pattern, int kind, long n) {
    static const float settings[][2] = {{1, 1}, {0.4f, 1}, {3, 1}, {1, 0.9f}, {0.7f, 0.35f}}; /* temperature, top-p */
    eliza_matcher *matcher = make_matcher(vocab, pattern);
    int32_t words[(N_TOKENS + 31) / 32];
    float logits[N_TOKENS];
    double shares[N_TOKENS];
    long counts[N_TOKENS];
    CHECK_EQUAL(eliza_inference_matcher_fill_bitmap(matcher, words, (N_TOKENS + 31) / 32), kind);
    make_logits(logits);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, settings[i][0], settings[i][1]};
        CHECK_EQUAL(eliza_inference_matcher_set_seed(matcher, 20 + i), ELIZA_OK);
        draw(matcher, logits, &sampling, n, counts);
        expect(logits, words, sampling.temperature, sampling.top_p, shares);
        const double found = deviation(counts, shares, n);
        if (!CHECK(fabs(found) < too_far))
            fprintf(stderr, "%s, temperature %g, top-p %g: %g\n", pattern ? pattern : "all", settings[i][0], settings[i][1], found);
        /* The test can tell: a distribution that is hardly another one is refused. */
        if (n < 1000000 || sampling.top_p < 1) continue;
        expect(logits, words, sampling.temperature * 1.02, sampling.top_p, shares);
        CHECK(deviation(counts, shares, n) > too_far);
    }
    eliza_inference_matcher_free(matcher);
}

/* Of equal logits each comes as often as another, whatever they are. */
static void test_equal(const eliza_vocab *vocab, const char *pattern, float logit, long n) {
    eliza_matcher *matcher = make_matcher(vocab, pattern);
    int32_t words[(N_TOKENS + 31) / 32];
    float logits[N_TOKENS], same[N_TOKENS] = {0};
    double shares[N_TOKENS];
    long counts[N_TOKENS];
    const eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, 1, 1};
    for (int i = 0; i < N_TOKENS; i++) logits[i] = logit;
    CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, (N_TOKENS + 31) / 32) >= 0);
    draw(matcher, logits, &sampling, n, counts);
    expect(same, words, 1, 1, shares);
    CHECK(fabs(deviation(counts, shares, n)) < too_far);
    eliza_inference_matcher_free(matcher);
}

/* +inf is the largest number: it takes all, and several share it. */
static void test_infinity(const eliza_vocab *vocab, const char *pattern, long n) {
    eliza_matcher *matcher = make_matcher(vocab, pattern);
    float logits[N_TOKENS];
    double shares[N_TOKENS] = {0};
    long counts[N_TOKENS];
    const eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, 1, 0.999f};
    make_logits(logits);
    logits[10] = logits[13] = logits[17] = INFINITY;
    logits[11] = 3e38f; /* below the largest, but not by much */
    shares[10] = shares[13] = shares[17] = 1.0 / 3;
    draw(matcher, logits, &sampling, n, counts);
    CHECK(fabs(deviation(counts, shares, n)) < too_far);
    eliza_inference_matcher_free(matcher);
}

/* The highest legal logit, the smallest id of equal ones; a NaN is never the highest. */
static void test_greedy(const eliza_vocab *vocab, const char *pattern) {
    static const float values[] = {NAN, -INFINITY, INFINITY, 0, -0.0f, 1, -1, 3e38f, -3e38f, 1e-45f};
    eliza_matcher *matcher = make_matcher(vocab, pattern);
    int32_t words[(N_TOKENS + 31) / 32];
    const eliza_sampling_t greedy = {sizeof greedy, ELIZA_MODE_GREEDY, 1, 1}, cold = {sizeof cold, ELIZA_MODE_SAMPLED, 0, 1};
    int wrong = 0;
    uint32_t random = 1;
    CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, (N_TOKENS + 31) / 32) >= 0);
    for (int round = 0; round < 3000; round++) {
        float logits[N_TOKENS];
        int best = -1, first = -1;
        const uint32_t n_values = 1 + (uint32_t)round % 10;
        for (int i = 0; i < N_TOKENS; i++) {
            random = random * 1664525 + 1013904223;
            logits[i] = values[(random >> 16) % n_values];
            if (!is_set(words, i)) continue;
            if (first < 0) first = i;
            if (!isnan(logits[i]) && logits[i] > -INFINITY && (best < 0 || logits[i] > logits[best])) best = i;
        }
        int32_t chosen[2] = {-1, -1};
        wrong += eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &greedy, &chosen[0]) != ELIZA_OK;
        wrong += eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &cold, &chosen[1]) != ELIZA_OK;
        wrong += chosen[0] != (best < 0 ? first : best) || chosen[1] != chosen[0];
    }
    CHECK_EQUAL(wrong, 0);
    eliza_inference_matcher_free(matcher);
}

/* A text that continues with a byte that no token has: nothing is legal. */
static void test_nothing_legal(const eliza_vocab *vocab) {
    eliza_matcher *matcher = make_matcher(vocab, "001a|002b");
    float logits[N_TOKENS] = {0};
    int32_t words[(N_TOKENS + 31) / 32], token = 7;
    CHECK_EQUAL(eliza_inference_matcher_accept(matcher, 1), ELIZA_STEP_IN_SPAN);
    CHECK(eliza_inference_matcher_fill_bitmap(matcher, words, (N_TOKENS + 31) / 32) >= 0);
    for (int i = 0; i < N_TOKENS; i++) CHECK(!is_set(words, i));
    for (int mode = ELIZA_MODE_GREEDY; mode <= ELIZA_MODE_SAMPLED; mode++) {
        const eliza_sampling_t sampling = {sizeof sampling, mode, 1, 1};
        CHECK_EQUAL(eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &token), ELIZA_ERR_STATE);
        CHECK(token == 7 && strstr(eliza_inference_matcher_last_error(matcher), "no token") != NULL);
    }
    CHECK(eliza_inference_matcher_mask_logits(matcher, logits, N_TOKENS) >= 0);
    for (int i = 0; i < N_TOKENS; i++) CHECK(logits[i] == -INFINITY);
    CHECK_EQUAL(eliza_inference_matcher_rollback(matcher, 1), ELIZA_OK); /* it is usable as before */
    CHECK_EQUAL(eliza_inference_matcher_can_stop(matcher), 0);
    eliza_inference_matcher_free(matcher);
}

int main(int argc, char **argv) {
    const long n = 1000000, n_large = argc > 1 ? atol(argv[1]) : n;
    /* By how many tokens are legal, and how the library has them: a short list, a longer one, a bitmap, everything. */
    static const struct {
        const char *pattern;
        int kind;
    } sets[] = {
        {"0[0-3]\\d", ELIZA_ALLOWED_LIST},
        {"[01]\\d\\d", ELIZA_ALLOWED_LIST},
        {"\\d{3}", ELIZA_ALLOWED_BITMAP},
        {NULL, ELIZA_ALLOWED_ALL},
    };
    eliza_vocab *vocab = make_vocab();
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *pattern = sets[i].pattern;
        test_draws(vocab, pattern, sets[i].kind, i == 0 ? n : n_large);
        test_equal(vocab, pattern, 2, n_large);
        test_equal(vocab, pattern, -INFINITY, n_large);
        test_equal(vocab, pattern, NAN, n_large);
        test_equal(vocab, pattern, INFINITY, n_large);
        test_infinity(vocab, pattern, n_large);
        test_greedy(vocab, pattern);
    }
    test_nothing_legal(vocab);
    eliza_inference_vocab_free(vocab);
    return check_report("numbers");
}
