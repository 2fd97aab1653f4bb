/* A byte of flags, then a grammar in Lark's notation. What it imports is one of a few others, or the grammar itself. */
#include "fuzz.h"

static input grammar;

static int give(const char *name, size_t name_len, const char **out_text, size_t *out_len, void *user_data) {
    static const char *const others[] = {
        "a: \"x\" | b\nb: /[0-9]+/ a?\nWORD: /[a-z]+/\n",
        "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"integer\"}}}",
        "start: a+\na: %json {\"enum\": [1, \"b\"]}\n",
        "false",
    };
    (void)user_data;
    uint64_t which = hash_of((const uint8_t *)name, name_len) % 7;
    if (which == 6) return 1;
    if (which == 5) return 0;
    *out_text = which == 4 ? (const char *)grammar.at : others[which];
    *out_len = which == 4 ? grammar.left : strlen(others[which]);
    return 0;
}

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    grammar = in;
    eliza_lark_options_t options = {.struct_size = sizeof options, .grammar = flags & 1 ? give : NULL};
    if (flags & 2) {
        options.start = "a";
        options.start_len = 1;
    }
    /* In angle brackets, here or in what is imported; or counts them. */
    *names_tokens = memchr(in.at, '<', in.left) != NULL || memmem(in.at, in.left, "max_tokens", 10) != NULL;
    return eliza_inference_constraint_create_lark_with(vocab, (const char *)in.at, in.left, &options, &budget, made, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
