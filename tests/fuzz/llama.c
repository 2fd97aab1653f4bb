#include "llama.h"

enum { N_CTX_TRAIN = 96, N_BATCH = 16, N_EMBD = 4, N_LAYER = 2 };

struct llama_model {
    int unused;
};
struct llama_vocab {
    int unused;
};
struct llama_context {
    uint32_t n_ctx;
    uint32_t n; /* tokens in its memory */
    uint64_t text; /* of which its logits depend */
    bool embeds;
    int32_t n_batch; /* tokens of the last batch; 0: it failed */
    bool has_logits[N_BATCH];
    float logits[N_BATCH][N_TOKENS];
    float embedding[N_EMBD];
};

static uint64_t seed_of_all, plan;
static bool may_load, may_fail, may_forget_parts;

void llama_begin(uint64_t seed, bool loads_models, bool fails, bool forgets_parts) {
    seed_of_all = plan = seed;
    may_load = loads_models;
    may_fail = fails;
    may_forget_parts = forgets_parts;
}

static bool fails_now(void) {
    return may_fail && draw(&plan) % 16 == 0;
}

/* ---- Parameters, in the layout of 0.5.0 ---- */

typedef struct {
    uint32_t words[20];
} __attribute__((aligned(8))) model_params;
typedef struct {
    uint32_t words[40];
} __attribute__((aligned(8))) context_params;

model_params llama_model_default_params(void) {
    return (model_params){{[4] = UINT32_MAX, [5] = 1}};
}

context_params llama_context_default_params(void) {
    const uint32_t minus_one = 0xbf800000;
    return (context_params){{512, 2048, 512, 1, 0, 0, 1, 4, 4, 0, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                             0, 0, minus_one, minus_one, minus_one, minus_one, 0, minus_one, 0, 0, 0, 0, 1, 1}};
}

/* ---- Model and vocabulary ---- */

void llama_backend_init(void) {}
void llama_log_set(void (*callback)(int, const char *, void *), void *user_data) { (void)callback, (void)user_data; }
bool llama_supports_gpu_offload(void) { return false; }

struct llama_model *llama_model_load_from_file(const char *path, model_params params) {
    (void)path, (void)params;
    return may_load ? malloc(sizeof(struct llama_model)) : NULL;
}

void llama_model_free(struct llama_model *model) { free(model); }

static const struct llama_vocab all;
const struct llama_vocab *llama_vocab_of_all(void) { return &all; }

const struct llama_vocab *llama_model_get_vocab(const struct llama_model *model) {
    (void)model;
    return &all;
}

int32_t llama_model_n_ctx_train(const struct llama_model *model) { return (void)model, N_CTX_TRAIN; }
int32_t llama_model_n_layer(const struct llama_model *model) { return (void)model, N_LAYER; }
int32_t llama_model_n_embd(const struct llama_model *model) { return (void)model, N_EMBD; }
uint64_t llama_model_n_params(const struct llama_model *model) { return (void)model, 1; }
uint64_t llama_model_size(const struct llama_model *model) { return (void)model, 1; }
bool llama_model_has_encoder(const struct llama_model *model) { return (void)model, false; }

int32_t llama_model_desc(const struct llama_model *model, char *out, size_t size) {
    (void)model;
    return snprintf(out, size, "fuzz");
}

int32_t llama_vocab_n_tokens(const struct llama_vocab *vocab) { return (void)vocab, N_TOKENS; }

int llama_vocab_get_attr(const struct llama_vocab *vocab, int32_t token) {
    (void)vocab;
    CHECK(token >= 0 && token < N_TOKENS);
    uint8_t flags = token_flags(token);
    return flags & ELIZA_TOKEN_UNUSED ? 2 : flags & ELIZA_TOKEN_SPECIAL ? 8 : 4;
}

bool llama_vocab_is_eog(const struct llama_vocab *vocab, int32_t token) {
    (void)vocab;
    CHECK(token >= 0 && token < N_TOKENS);
    return token_flags(token) & ELIZA_TOKEN_END_OF_GENERATION;
}

int32_t llama_tokenize(const struct llama_vocab *vocab, const char *text, int32_t length, int32_t *out, int32_t most,
                       bool add_special, bool parse_special) {
    (void)vocab, (void)parse_special;
    CHECK(length >= 0 && most >= 0);
    int32_t n = length + add_special;
    if (n > most) return -n;
    if (add_special) *out++ = TOKEN_SPECIAL;
    for (int32_t i = 0; i < length; i++) out[i] = (uint8_t)text[i];
    return n;
}

int32_t llama_token_to_piece(const struct llama_vocab *vocab, int32_t token, char *out, int32_t length, int32_t lstrip, bool special) {
    (void)vocab, (void)lstrip;
    CHECK(token >= 0 && token < N_TOKENS && length >= 0);
    input text = token_bytes(token);
    if (!special && (token_flags(token) & ELIZA_TOKEN_SPECIAL)) return 0;
    if ((int32_t)text.left > length) return -(int32_t)text.left;
    memcpy(out, text.at, text.left);
    return (int32_t)text.left;
}

int32_t llama_detokenize(const struct llama_vocab *vocab, const int32_t *tokens, int32_t n_tokens, char *out, int32_t most,
                         bool remove_special, bool unparse_special) {
    (void)remove_special;
    int32_t n = 0;
    for (int32_t i = 0; i < n_tokens; i++) {
        char piece[128];
        int32_t length = llama_token_to_piece(vocab, tokens[i], piece, sizeof piece, 0, unparse_special);
        if (n + length <= most) memcpy(out + n, piece, (size_t)length);
        n += length;
    }
    return n <= most ? n : -n;
}

/* ---- Context ---- */

struct llama_context *llama_init_from_model(struct llama_model *model, context_params params) {
    (void)model;
    if (fails_now()) return NULL;
    struct llama_context *made = malloc(sizeof *made);
    memset(made, 0, sizeof *made);
    made->n_ctx = params.words[0] == 0 ? N_CTX_TRAIN : params.words[0] < 512 ? params.words[0] : 512;
    return made;
}

void llama_free(struct llama_context *ctx) { free(ctx); }
uint32_t llama_n_ctx(const struct llama_context *ctx) { return ctx->n_ctx; }
uint32_t llama_n_batch(const struct llama_context *ctx) { return (void)ctx, N_BATCH; }

void llama_set_n_threads(struct llama_context *ctx, int32_t n, int32_t n_batch) {
    (void)ctx;
    CHECK(n >= 1 && n_batch >= 1);
}

void llama_set_abort_callback(struct llama_context *ctx, bool (*callback)(void *), void *data) {
    (void)ctx, (void)callback, (void)data;
}

typedef struct {
    int32_t n_tokens;
    const int32_t *token;
    float *embd;
    int32_t *pos, *n_seq_id, **seq_id;
    int8_t *logits;
} batch;

int32_t llama_decode(struct llama_context *ctx, batch given) {
    CHECK(given.n_tokens >= 1 && (given.n_tokens <= N_BATCH || ctx->embeds) && given.token != NULL && given.embd == NULL);
    for (int32_t i = 0; i < given.n_tokens; i++) CHECK(given.token[i] >= 0 && given.token[i] < N_TOKENS);
    ctx->n_batch = 0;
    if (ctx->n + (uint32_t)given.n_tokens > ctx->n_ctx) return 1;
    if (fails_now()) return draw(&plan) % 2 ? 1 : -1;
    for (int32_t i = 0; i < given.n_tokens; i++) {
        ctx->text = (ctx->text ^ (uint64_t)given.token[i]) * 1099511628211u;
        if (ctx->embeds) continue;
        ctx->has_logits[i] = given.logits != NULL ? given.logits[i] != 0 : i == given.n_tokens - 1;
        uint64_t state = ctx->text ^ seed_of_all;
        if (ctx->has_logits[i]) draw_logits(ctx->logits[i], N_TOKENS, &state);
    }
    ctx->n += (uint32_t)given.n_tokens;
    if (!ctx->embeds) ctx->n_batch = given.n_tokens;
    return 0;
}

float *llama_get_logits_ith(struct llama_context *ctx, int32_t i) {
    CHECK(ctx->n_batch > 0);
    if (i < 0) i += ctx->n_batch;
    CHECK(i >= 0 && i < ctx->n_batch && ctx->has_logits[i]);
    return fails_now() ? NULL : ctx->logits[i];
}

void llama_set_embeddings(struct llama_context *ctx, bool on) { ctx->embeds = on; }

float *llama_get_embeddings_seq(struct llama_context *ctx, int32_t sequence) {
    (void)sequence;
    for (int i = 0; i < N_EMBD; i++) ctx->embedding[i] = (float)(ctx->text >> 16 * i & 255);
    return fails_now() ? NULL : ctx->embedding;
}

struct llama_context *llama_get_memory(struct llama_context *ctx) { return ctx; }

bool llama_memory_seq_rm(struct llama_context *ctx, int32_t sequence, int32_t from, int32_t to) {
    CHECK(sequence == 0 || sequence == -1);
    uint32_t first = from < 0 ? 0 : (uint32_t)from;
    if (first >= ctx->n) return true;
    if (first > 0 && !may_forget_parts) return false;
    CHECK(to < 0 || (uint32_t)to >= ctx->n);
    ctx->n = first;
    ctx->text = first;
    return true;
}

size_t llama_state_seq_get_size(struct llama_context *ctx, int32_t sequence) {
    (void)sequence;
    return ctx->n + 4;
}

size_t llama_state_seq_get_data(struct llama_context *ctx, uint8_t *out, size_t size, int32_t sequence) {
    (void)sequence;
    if (fails_now() || size < ctx->n + 4) return 0;
    memcpy(out, &ctx->n, 4);
    memset(out + 4, 7, ctx->n);
    return ctx->n + 4;
}

size_t llama_state_seq_set_data(struct llama_context *ctx, const uint8_t *bytes, size_t size, int32_t sequence) {
    (void)sequence;
    uint32_t n;
    if (fails_now() || size < 4) return 0;
    memcpy(&n, bytes, 4);
    if (n > ctx->n_ctx || size != n + 4) return 0;
    ctx->n = n;
    return size;
}

/* ---- Samplers ---- */

struct llama_sampler *llama_sampler_init(const struct sampler_interface *interface, void *ctx) {
    struct llama_sampler *made = malloc(sizeof *made);
    *made = (struct llama_sampler){interface, ctx};
    return made;
}

void llama_sampler_apply(struct llama_sampler *sampler, token_data_array *of) { sampler->iface->apply(sampler, of); }
void llama_sampler_accept(struct llama_sampler *sampler, int32_t token) { sampler->iface->accept(sampler, token); }
void llama_sampler_reset(struct llama_sampler *sampler) { sampler->iface->reset(sampler); }

void llama_sampler_free(struct llama_sampler *sampler) {
    if (sampler == NULL) return;
    sampler->iface->free(sampler);
    free(sampler);
}

static const char *plain_name(const struct llama_sampler *sampler) { return (void)sampler, "plain"; }
static void plain_accept(struct llama_sampler *sampler, int32_t token) { (void)sampler, (void)token; }
static void plain_reset(struct llama_sampler *sampler) { (void)sampler; }
static void plain_free(struct llama_sampler *sampler) { (void)sampler; }
static void keep_all(struct llama_sampler *sampler, token_data_array *of) { (void)sampler, (void)of; }

static void select_one(struct llama_sampler *sampler, token_data_array *of) {
    (void)sampler;
    CHECK(of->size > 0);
    of->selected = (int64_t)(draw(&plan) % of->size);
}

static struct llama_sampler *clone_plain(const struct llama_sampler *sampler) { return llama_sampler_init(sampler->iface, NULL); }

static const struct sampler_interface
    keeping = {plain_name, plain_accept, keep_all, plain_reset, clone_plain, plain_free},
    selecting = {plain_name, plain_accept, select_one, plain_reset, clone_plain, plain_free};

struct llama_sampler *llama_sampler_init_dist(uint32_t seed) { return (void)seed, llama_sampler_init(&selecting, NULL); }
struct llama_sampler *llama_sampler_init_top_k(int32_t k) { return (void)k, llama_sampler_init(&keeping, NULL); }
struct llama_sampler *llama_sampler_init_top_p(float p, size_t least) { return (void)p, (void)least, llama_sampler_init(&keeping, NULL); }
struct llama_sampler *llama_sampler_init_temp(float t) { return (void)t, llama_sampler_init(&keeping, NULL); }

struct llama_sampler *llama_sampler_init_grammar(const struct llama_vocab *vocab, const char *text, const char *root) {
    (void)vocab, (void)text, (void)root;
    return NULL;
}
