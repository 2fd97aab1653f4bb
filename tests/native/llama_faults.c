/* A libllama whose calls can fail: the real one, to which this library is linked, with some of its functions in front. Structs
 * are passed on as they come: on x86-64 those of more than 16 bytes lie on the stack, and what is after them does no harm. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    unsigned char bytes[256];
} on_stack;

static const char *failing = "";
static long calls_left;
static long long failure;
static void (*decoding)(void *user_data);
static void *decoding_data;

/* Of the function with this name, the call after `calls` others returns `result`, and does nothing. */
void faults_set(const char *name, long calls, long long result) {
    failing = name;
    calls_left = calls;
    failure = result;
}

/* Whether that was reached. */
bool faults_happened(void) {
    return calls_left < 0;
}

/* Is called at the beginning of each llama_decode; NULL: nothing is. */
void faults_on_decode(void (*callback)(void *user_data), void *user_data) {
    decoding = callback;
    decoding_data = user_data;
}

static bool fails(const char *name) {
    return strcmp(failing, name) == 0 && calls_left >= 0 && calls_left-- == 0;
}

/* Calls the real one unless it fails. */
#define FAULTY(type, name, parameters, arguments)                                                                      \
    type name parameters {                                                                                             \
        if (fails(#name)) return (type)failure;                                                                        \
        type(*real) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                          \
        return real arguments;                                                                                         \
    }

static bool has_gpu;
static int32_t layers_on_gpu = INT32_MIN;

/* Whether there is a GPU, as it says. */
void faults_pretend_gpu(bool is_there) {
    has_gpu = is_there;
}

/* How many layers the last model was to have on it that was loaded since this was asked; INT32_MIN: none was loaded. */
int32_t faults_layers_on_gpu(void) {
    const int32_t layers = layers_on_gpu;
    layers_on_gpu = INT32_MIN;
    return layers;
}

bool llama_supports_gpu_offload(void) {
    return has_gpu;
}

void *llama_model_load_from_file(const char *path, on_stack params) {
    memcpy(&layers_on_gpu, params.bytes + 16, sizeof layers_on_gpu);
    if (fails("llama_model_load_from_file")) return (void *)failure;
    void *(*real)(const char *, on_stack) = (void *(*)(const char *, on_stack))dlsym(RTLD_NEXT, "llama_model_load_from_file");
    return real(path, params);
}

FAULTY(void *, llama_init_from_model, (void *model, on_stack params), (model, params))
FAULTY(int32_t, llama_tokenize,
       (const void *vocab, const char *text, int32_t length, int32_t *tokens, int32_t room, bool special, bool parse),
       (vocab, text, length, tokens, room, special, parse))
FAULTY(int32_t, llama_detokenize,
       (const void *vocab, const int32_t *tokens, int32_t n, char *text, int32_t room, bool remove, bool unparse),
       (vocab, tokens, n, text, room, remove, unparse))
FAULTY(float *, llama_get_logits_ith, (void *context, int32_t i), (context, i))
FAULTY(float *, llama_get_embeddings_seq, (void *context, int32_t sequence), (context, sequence))
FAULTY(size_t, llama_state_seq_get_data, (void *context, uint8_t *out, size_t size, int32_t sequence),
       (context, out, size, sequence))
FAULTY(size_t, llama_state_seq_set_data, (void *context, const uint8_t *from, size_t size, int32_t sequence),
       (context, from, size, sequence))
FAULTY(bool, llama_memory_seq_rm, (void *memory, int32_t sequence, int32_t from, int32_t to), (memory, sequence, from, to))
FAULTY(int32_t, llama_memory_seq_pos_max, (void *memory, int32_t sequence), (memory, sequence))

int32_t llama_decode(void *context, on_stack batch) {
    if (decoding) decoding(decoding_data);
    if (fails("llama_decode")) return (int32_t)failure;
    int32_t (*real)(void *, on_stack) = (int32_t(*)(void *, on_stack))dlsym(RTLD_NEXT, "llama_decode");
    return real(context, batch);
}
