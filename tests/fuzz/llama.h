/* A libllama without a model, which the library finds in the process: its vocabulary is that of fuzz.h, its logits and its
 * failures follow from a seed. It checks how it is called. */
#ifndef FUZZ_LLAMA_H
#define FUZZ_LLAMA_H

#include "fuzz.h"

/* From now on. */
void llama_begin(uint64_t seed, bool loads_models, bool fails, bool forgets_parts);

/* Logits of the vocabulary: some of them NaN, infinite, equal. */
void draw_logits(float *logits, size_t n, uint64_t *state);

/* llama_token_data, llama_token_data_array, and the first members of llama_sampler_i. */
typedef struct {
    int32_t id;
    float logit, p;
} token_data;

typedef struct {
    token_data *data;
    size_t size;
    int64_t selected;
    bool sorted;
} token_data_array;

struct llama_sampler {
    const struct sampler_interface *iface;
    void *ctx;
};

struct sampler_interface {
    const char *(*name)(const struct llama_sampler *);
    void (*accept)(struct llama_sampler *, int32_t token);
    void (*apply)(struct llama_sampler *, token_data_array *);
    void (*reset)(struct llama_sampler *);
    struct llama_sampler *(*clone)(const struct llama_sampler *);
    void (*free)(struct llama_sampler *);
};

void llama_sampler_free(struct llama_sampler *sampler);
const struct llama_vocab *llama_vocab_of_all(void);

#endif
