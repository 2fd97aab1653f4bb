/* The part of libllama's interface that the harnesses call, found in the library at run time.
 * The layouts are those of libllama 0.5; open_llama refuses any other. */
#ifndef BENCH_LLAMA_MIN_H
#define BENCH_LLAMA_MIN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct llama_model;
struct llama_vocab;
struct llama_sampler;

struct llama_model_params {
    void *devices, *tensor_buft_overrides;
    int32_t n_gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
    void *tensor_split, *progress_callback, *progress_callback_user_data, *kv_overrides;
    bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};

struct llama_sampler_chain_params {
    bool no_perf;
};

typedef struct {
    int32_t id;
    float logit, p;
} llama_token_data;

typedef struct {
    llama_token_data *data;
    size_t size;
    int64_t selected;
    bool sorted;
} llama_token_data_array;

static struct {
    const char *(*version)(void);
    void (*log_set)(void (*callback)(int, const char *, void *), void *user_data);
    void (*backend_init)(void);
    void *(*backend_load)(const char *path);
    struct llama_model_params (*model_default_params)(void);
    struct llama_model *(*model_load_from_file)(const char *path, struct llama_model_params params);
    const struct llama_vocab *(*model_get_vocab)(const struct llama_model *model);
    int32_t (*vocab_n_tokens)(const struct llama_vocab *vocab);
    struct llama_sampler *(*chain_init)(struct llama_sampler_chain_params params);
    void (*chain_add)(struct llama_sampler *chain, struct llama_sampler *sampler);
    struct llama_sampler *(*init_temp)(float temperature);
    struct llama_sampler *(*init_dist)(uint32_t seed);
    struct llama_sampler *(*init_grammar)(const struct llama_vocab *vocab, const char *grammar, const char *root);
    void (*apply)(struct llama_sampler *sampler, llama_token_data_array *candidates);
    void (*accept)(struct llama_sampler *sampler, int32_t token);
    void (*reset)(struct llama_sampler *sampler);
} llama;

static void *find_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "libllama has no %s\n", name);
        exit(1);
    }
    return symbol;
}

static void ignore_log(int level, const char *text, void *user_data)
{
    (void)level, (void)text, (void)user_data;
}

/* `backend` is one CPU backend beside libllama: nothing is computed, but libllama wants one. */
static void open_llama(const char *path, const char *backend)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&llama.version = find_symbol(library, "llama_version");
    if (strncmp(llama.version(), "0.5.", 4) != 0 && strncmp(llama.version(), "v0.5.", 5) != 0) {
        fprintf(stderr, "%s is libllama %s; the harness knows 0.5\n", path, llama.version());
        exit(1);
    }
    *(void **)&llama.log_set = find_symbol(library, "llama_log_set");
    *(void **)&llama.backend_init = find_symbol(library, "llama_backend_init");
    *(void **)&llama.backend_load = find_symbol(library, "ggml_backend_load");
    *(void **)&llama.model_default_params = find_symbol(library, "llama_model_default_params");
    *(void **)&llama.model_load_from_file = find_symbol(library, "llama_model_load_from_file");
    *(void **)&llama.model_get_vocab = find_symbol(library, "llama_model_get_vocab");
    *(void **)&llama.vocab_n_tokens = find_symbol(library, "llama_vocab_n_tokens");
    *(void **)&llama.chain_init = find_symbol(library, "llama_sampler_chain_init");
    *(void **)&llama.chain_add = find_symbol(library, "llama_sampler_chain_add");
    *(void **)&llama.init_temp = find_symbol(library, "llama_sampler_init_temp");
    *(void **)&llama.init_dist = find_symbol(library, "llama_sampler_init_dist");
    *(void **)&llama.init_grammar = find_symbol(library, "llama_sampler_init_grammar");
    *(void **)&llama.apply = find_symbol(library, "llama_sampler_apply");
    *(void **)&llama.accept = find_symbol(library, "llama_sampler_accept");
    *(void **)&llama.reset = find_symbol(library, "llama_sampler_reset");
    llama.log_set(ignore_log, NULL);
    llama.backend_init();
    llama.backend_load(backend);
}

static const struct llama_vocab *load_vocab(const char *path)
{
    struct llama_model_params params = llama.model_default_params();
    params.vocab_only = true;
    struct llama_model *model = llama.model_load_from_file(path, params);
    if (model == NULL) {
        fprintf(stderr, "libllama cannot load %s\n", path);
        exit(1);
    }
    return llama.model_get_vocab(model);
}

#endif
