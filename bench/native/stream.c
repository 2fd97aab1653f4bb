/* One constrained step of the library's own stream, after a real forward pass.
 *
 *     stream LIBLLAMA MODEL PAYLOAD MODE REPEATS PATH...
 *
 * MODE is 0 (greedy) or 1 (temperature 0.8, top-p 0.95). Each PATH is activated and stepped REPEATS times.
 * Prints two lists for each path, in nanoseconds: what the stream counts as choosing the token, and the whole
 * call of `next` without the time in the model. */
#include <string.h>

#include "harness.h"

static const char prompt[] = "User: wake me at noon\nAction:";

static EliLlmStream *stream;

static void check_stream(int status, const char *what)
{
    if (status < 0)
        fprintf(stderr, "%s\n", eliza_inference_llm_stream_last_error(stream));
    check(status, NULL, what);
}

static eliza_llm_stream_stats_t stats(void)
{
    eliza_llm_stream_stats_t result = {.struct_size = sizeof result};
    check_stream(eliza_inference_llm_stream_stats(stream, &result), "stats");
    return result;
}

static int32_t prefill(EliInferenceContext *context)
{
    char *error = NULL;
    int *tokens;
    size_t count;
    check(eliza_inference_tokenize(context, prompt, strlen(prompt), 1, 0, &tokens, &count, &error), error, "tokenize");
    check(eliza_inference_llm_stream_prefill(stream, tokens, count, &error), error, "prefill");
    eliza_inference_free_tokens(tokens);
    return (int32_t)count;
}

static void step(const char *path, int32_t n_prompt, double *choosing_ns, double *call_ns)
{
    int32_t token;
    size_t count;
    char text[64];
    check_stream(eliza_inference_llm_stream_reset_keep(stream, n_prompt), "reset");
    check_stream(eliza_inference_llm_stream_activate(stream, path, strlen(path)), "activate");
    int64_t start = now_ns();
    int status = eliza_inference_llm_stream_next(stream, &token, 1, &count, text, sizeof text, NULL, NULL, NULL);
    int64_t elapsed = now_ns() - start;
    check_stream(status, "next");
    eliza_llm_stream_stats_t after = stats();
    *choosing_ns = (double)after.sample_ns;
    *call_ns = (double)elapsed - (double)after.decode_ns;
}

int main(int argc, char **argv)
{
    if (argc < 7) {
        fprintf(stderr, "usage: stream LIBLLAMA MODEL PAYLOAD MODE REPEATS PATH...\n");
        return 2;
    }
    char *error = NULL;
    check(eliza_inference_llama_load(argv[1], strlen(argv[1]), &error), error, "libllama");
    EliInferenceContext *context = eliza_inference_create(argv[2], &error);
    check(context ? ELIZA_OK : ELIZA_ERR_BUNDLE_INVALID, error, "model");
    eliza_llm_stream_config_t config = {.temperature = 0.8f, .top_p = 0.95f, .context_size = 256};
    stream = eliza_inference_llm_stream_open(context, &config, &error);
    check(stream ? ELIZA_OK : ELIZA_ERR_INVALID_ARG, error, "stream");
    check_stream(eliza_inference_llm_stream_set_threads(stream, 1), "threads");
    int32_t n_prompt = prefill(context);
    file_contents payload = read_file(argv[3]);
    check_stream(eliza_inference_set_token_trie(stream, payload.bytes, payload.length, atoi(argv[4])), "trie");

    size_t repeats = (size_t)atoi(argv[5]), n_paths = (size_t)argc - 6;
    double *choosing_ns = allocate(n_paths * repeats * sizeof *choosing_ns);
    double *call_ns = allocate(n_paths * repeats * sizeof *call_ns);
    /* One path after the other: a host comes back to the same names. The forward pass is between any two steps. */
    for (size_t i = 0; i < n_paths * repeats; i++)
        step(argv[6 + i / repeats], n_prompt, &choosing_ns[i], &call_ns[i]);

    printf("{");
    for (size_t path = 0; path < n_paths; path++) {
        char name[128];
        snprintf(name, sizeof name, "%s.choosing_ns", argv[6 + path]);
        print_samples(name, choosing_ns + path * repeats, repeats, ",");
        snprintf(name, sizeof name, "%s.call_ns", argv[6 + path]);
        print_samples(name, call_ns + path * repeats, repeats, ",");
    }
    printf("\"repeats\": %zu}\n", repeats);
    eliza_inference_llm_stream_close(stream);
    eliza_inference_destroy(context);
    return 0;
}
