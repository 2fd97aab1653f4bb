/* One hot path, COUNT times over, for counting instructions: the difference between two counts is what
 * the path costs, without the start of the program.
 *
 *     hot step|hit|compile COUNT PAYLOAD VOCABULARY_SIZE
 *     hot apply            COUNT PAYLOAD LIBLLAMA BACKEND MODEL
 */
#include <string.h>

#include "harness.h"
#include "llama_min.h"

static const float temperature = 0.8f, top_p = 0.95f;

/* Walks the names of the payload: at each step the legal tokens are looked up, one is drawn and accepted. */
static void step(const eliza_constraint *constraint, size_t n_logits, int count)
{
    eliza_matcher *matcher = make_matcher(constraint);
    float *logits = allocate(n_logits * sizeof *logits);
    for (size_t i = 0; i < n_logits; i++)
        logits[i] = (float)(i * 7919 % 1024) / 64;
    eliza_sampling_t sampling = {sizeof sampling, ELIZA_MODE_SAMPLED, temperature, top_p};
    for (int i = 0; i < count; i++) {
        int32_t token;
        check(eliza_inference_matcher_sample(matcher, logits, n_logits, &sampling, &token), NULL, "sample");
        int result = eliza_inference_matcher_accept(matcher, token);
        check(result, NULL, "accept");
        if (result & ELIZA_STEP_SPAN_ENDED)
            eliza_inference_matcher_reset(matcher);
    }
    eliza_inference_matcher_free(matcher);
    free(logits);
}

static void create(const eliza_vocab *vocab, file_contents payload, int count)
{
    for (int i = 0; i < count; i++)
        eliza_inference_constraint_free(make_constraint(vocab, payload));
}

/* The array is in id order before each call; only what the adapter has changed is written again. */
static void apply(const struct llama_vocab *vocab, file_contents payload, int count)
{
    char *error = NULL;
    struct llama_sampler *adapter =
        eliza_inference_sampler_init_token_trie(vocab, payload.bytes, payload.length, ELIZA_MODE_SAMPLED, &error);
    if (adapter == NULL)
        check(ELIZA_ERR_PAYLOAD, error, "adapter");
    int32_t n_tokens = llama.vocab_n_tokens(vocab);
    llama_token_data *data = allocate((size_t)n_tokens * sizeof *data);
    int32_t *legal = allocate((size_t)n_tokens * sizeof *legal);
    for (int32_t i = 0; i < n_tokens; i++)
        data[i] = (llama_token_data){i, (float)i, 0};
    for (int i = 0; i < count; i++) {
        llama_token_data_array candidates = {data, (size_t)n_tokens, -1, false};
        llama.apply(adapter, &candidates);
        for (size_t k = 0; k < candidates.size; k++)
            legal[k] = candidates.data[k].id;
        for (size_t k = 0; k < candidates.size; k++) {
            data[k] = (llama_token_data){(int32_t)k, (float)k, 0};
            data[legal[k]] = (llama_token_data){legal[k], (float)legal[k], 0};
        }
    }
    free(data);
    free(legal);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: hot step|hit|compile COUNT PAYLOAD VOCABULARY_SIZE\n"
                        "       hot apply COUNT PAYLOAD LIBLLAMA BACKEND MODEL\n");
        return 2;
    }
    int count = atoi(argv[2]);
    file_contents payload = read_file(argv[3]);
    if (strcmp(argv[1], "apply") == 0 && argc == 7) {
        open_llama(argv[4], argv[5]);
        apply(load_vocab(argv[6]), payload, count);
        return 0;
    }
    eliza_vocab *vocab = make_vocab(atoi(argv[4]));
    if (strcmp(argv[1], "compile") == 0)
        eliza_inference_trie_cache_set_limit(0);
    eliza_constraint *constraint = make_constraint(vocab, payload);
    if (strcmp(argv[1], "step") == 0)
        step(constraint, (size_t)atoi(argv[4]), count);
    else
        create(vocab, payload, count);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return 0;
}
