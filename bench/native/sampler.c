/* The adapter in a chain of llama.cpp's samplers, against the other ways to constrain one.
 *
 *     sampler LIBLLAMA BACKEND MODEL GRAMMAR PAYLOAD SEQUENCES REPEATS
 *
 * PAYLOAD and GRAMMAR allow the same names; SEQUENCES has one name a line, as token ids. At each position
 * of each name, and REPEATS times over, every way gets the array of the whole vocabulary, and applies its
 * constraint, temperature 0.8 and a draw. Prints for each way two lists of nanoseconds, [position][repeat]
 * in one row: building the array, and all that comes after it. */
#include <math.h>

#include "harness.h"
#include "llama_min.h"

enum { POSITIONS_MAX = 1024 };

typedef enum { ARRAY_ONLY, FREE, ADAPTER, ADAPTER_GREEDY, GRAMMAR, MINUS_INFINITY, WAYS } way;

static const char *way_names[WAYS] = {"array_only", "free", "adapter", "adapter_greedy", "grammar", "minus_infinity"};

static struct llama_sampler *chains[WAYS]; /* NULL: no sampler */
static eliza_matcher *matcher;             /* tells MINUS_INFINITY what is legal */
static float *logits;
static llama_token_data *data;
static int32_t n_tokens;

static double *build_ns[WAYS], *rest_ns[WAYS];
static size_t n_samples;

static struct llama_sampler *new_chain(struct llama_sampler *first, bool draws)
{
    struct llama_sampler *chain = llama.chain_init((struct llama_sampler_chain_params){true});
    if (first != NULL)
        llama.chain_add(chain, first);
    if (draws) {
        llama.chain_add(chain, llama.init_temp(0.8f));
        llama.chain_add(chain, llama.init_dist(42));
    }
    return chain;
}

static struct llama_sampler *new_adapter(const struct llama_vocab *vocab, file_contents payload, int mode)
{
    char *error = NULL;
    struct llama_sampler *adapter =
        eliza_inference_sampler_init_token_trie(vocab, payload.bytes, payload.length, mode, &error);
    if (adapter == NULL)
        check(ELIZA_ERR_PAYLOAD, error, "adapter");
    return adapter;
}

static void build_array(void)
{
    for (int32_t i = 0; i < n_tokens; i++)
        data[i] = (llama_token_data){i, logits[i], 0.0f};
}

static void write_minus_infinity(void)
{
    const int32_t *legal;
    size_t count;
    eliza_inference_matcher_allowed(matcher, &legal, &count);
    size_t next = 0;
    for (int32_t i = 0; i < n_tokens; i++) {
        if (next < count && legal[next] == i)
            next++;
        else
            data[i].logit = -INFINITY;
    }
}

static void measure(way w, bool is_legal_required)
{
    build_array(); /* every way starts with the same memory in the caches */
    int64_t start = now_ns();
    build_array();
    int64_t built = now_ns();
    llama_token_data_array candidates = {data, (size_t)n_tokens, -1, false};
    if (w == MINUS_INFINITY)
        write_minus_infinity();
    if (chains[w] != NULL)
        llama.apply(chains[w], &candidates);
    int64_t end = now_ns();
    build_ns[w][n_samples] = (double)(built - start);
    rest_ns[w][n_samples] = (double)(end - built);

    if (!is_legal_required)
        return;
    const int32_t *legal;
    size_t count;
    eliza_inference_matcher_allowed(matcher, &legal, &count);
    if (candidates.selected < 0 || (size_t)candidates.selected >= candidates.size) {
        fprintf(stderr, "%s selected nothing\n", way_names[w]);
        exit(1);
    }
    int32_t selected = candidates.data[candidates.selected].id;
    for (size_t i = 0; i < count; i++)
        if (legal[i] == selected)
            return;
    fprintf(stderr, "%s selected the illegal token %d\n", way_names[w], selected);
    exit(1);
}

static void measure_position(int repeats)
{
    for (int repeat = 0; repeat < repeats; repeat++) {
        for (way w = 0; w < WAYS; w++)
            /* A grammar also allows other tokenisations of the names. */
            measure(w, w == ADAPTER || w == ADAPTER_GREEDY || w == MINUS_INFINITY);
        n_samples++;
    }
}

static void accept_token(int32_t token)
{
    for (way w = 0; w < WAYS; w++)
        if (chains[w] != NULL)
            llama.accept(chains[w], token);
    eliza_inference_matcher_accept(matcher, token);
}

static void restart(void)
{
    for (way w = 0; w < WAYS; w++)
        if (chains[w] != NULL)
            llama.reset(chains[w]);
    eliza_inference_matcher_reset(matcher);
}

static void measure_name(char *tokens, int repeats)
{
    restart();
    for (char *word = strtok(tokens, " "); word != NULL; word = strtok(NULL, " ")) {
        measure_position(repeats);
        accept_token(atoi(word));
    }
}

static void make_ways(const struct llama_vocab *vocab, const char *grammar, file_contents payload)
{
    chains[FREE] = new_chain(NULL, true);
    chains[ADAPTER] = new_chain(new_adapter(vocab, payload, ELIZA_MODE_SAMPLED), true);
    chains[ADAPTER_GREEDY] = new_chain(new_adapter(vocab, payload, ELIZA_MODE_GREEDY), false);
    chains[GRAMMAR] = new_chain(llama.init_grammar(vocab, grammar, "root"), true);
    chains[MINUS_INFINITY] = new_chain(NULL, true);
    matcher = make_matcher(make_constraint(make_vocab(n_tokens), payload));
}

int main(int argc, char **argv)
{
    if (argc != 8) {
        fprintf(stderr, "usage: sampler LIBLLAMA BACKEND MODEL GRAMMAR PAYLOAD SEQUENCES REPEATS\n");
        return 2;
    }
    open_llama(argv[1], argv[2]);
    const struct llama_vocab *vocab = load_vocab(argv[3]);
    n_tokens = llama.vocab_n_tokens(vocab);
    make_ways(vocab, read_file(argv[4]).bytes, read_file(argv[5]));
    FILE *sequences = fopen(argv[6], "r");
    int repeats = atoi(argv[7]);

    logits = allocate((size_t)n_tokens * sizeof *logits);
    data = allocate((size_t)n_tokens * sizeof *data);
    srand(1);
    for (int32_t i = 0; i < n_tokens; i++)
        logits[i] = (float)rand() / (float)RAND_MAX * 20 - 10;
    for (way w = 0; w < WAYS; w++) {
        build_ns[w] = allocate((size_t)(POSITIONS_MAX * repeats) * sizeof(double));
        rest_ns[w] = allocate((size_t)(POSITIONS_MAX * repeats) * sizeof(double));
    }

    char line[4096];
    while (sequences != NULL && fgets(line, sizeof line, sequences) != NULL)
        measure_name(line, repeats);

    printf("{");
    for (way w = 0; w < WAYS; w++) {
        char name[64];
        snprintf(name, sizeof name, "%s.build_ns", way_names[w]);
        print_samples(name, build_ns[w], n_samples, ",");
        snprintf(name, sizeof name, "%s.rest_ns", way_names[w]);
        print_samples(name, rest_ns[w], n_samples, ",");
    }
    printf("\"repeats\": %d, \"vocabulary_size\": %d}\n", repeats, n_tokens);
    return 0;
}
