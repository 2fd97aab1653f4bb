/* Chooses a name with any engine's logits; a real program gets them from its model. */
#include "eliza_inference.h"
#include <stdio.h>

#define VOCAB_SIZE 32000

static void run_model(float *logits) {
    for (int token = 0; token < VOCAB_SIZE; token++) logits[token] = 0;
    logits[50] = 9; /* the best token of all continues no name ... */
    logits[91] = 5; /* ... and this one is the best that does */
}

int main(void) {
    const char payload[] = "{\"modelId\":\"\",\"descriptors\":[{\"path\":\"action\",\"leaves\":["
                           "{\"name\":\"SEND_MESSAGE\",\"tokens\":[412,77,90]},"
                           "{\"name\":\"SEND_MAIL\",\"tokens\":[412,77,91,13]}]}]}";
    static float logits[VOCAB_SIZE];
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = VOCAB_SIZE};
    eliza_sampling_t greedy = {.struct_size = sizeof greedy, .mode = ELIZA_MODE_GREEDY};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    char *error = NULL;
    int passes = 0;

    if (eliza_inference_vocab_create(&config, &vocab, &error) != ELIZA_OK ||
        eliza_inference_constraint_create_token_trie(vocab, payload, sizeof payload - 1, &constraint, &error) != ELIZA_OK ||
        eliza_inference_matcher_create(constraint, 0, &matcher, &error) != ELIZA_OK) {
        fprintf(stderr, "%s\n", error ? error : "out of memory");
        return 1;
    }

    while (!eliza_inference_matcher_can_stop(matcher)) {
        int32_t tokens[16];
        size_t n;
        eliza_inference_matcher_forced(matcher, tokens, 16, &n); /* tokens without a choice need no model */
        if (n == 0) {
            run_model(logits);
            passes++;
            eliza_inference_matcher_sample(matcher, logits, VOCAB_SIZE, &greedy, tokens);
            n = 1;
        }
        for (size_t i = 0; i < n && i < 16; i++) eliza_inference_matcher_accept(matcher, tokens[i]);
    }

    const char *name;
    size_t length;
    eliza_inference_matcher_leaf(matcher, &name, &length);
    printf("%.*s after %d pass\n", (int)length, name, passes); /* prints: SEND_MAIL after 1 pass */

    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return 0;
}
