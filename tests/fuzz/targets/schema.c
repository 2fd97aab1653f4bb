/* A byte of flags, one for white space, order and draft, then a JSON Schema. What it refers to is one of a few documents. */
#include "fuzz.h"

static int give(const char *uri, size_t uri_len, const char **out_text, size_t *out_len, void *user_data) {
    static const char *const documents[] = {
        "{\"type\": \"string\", \"$defs\": {\"a\": {\"$ref\": \"#\"}}}",
        "{\"$id\": \"b\", \"$ref\": \"a\"}",
        "true",
        "[",
    };
    (void)user_data;
    uint64_t which = hash_of((const uint8_t *)uri, uri_len) % 6;
    if (which == 5) return 1;
    if (which == 4) return 0;
    *out_text = documents[which];
    *out_len = strlen(documents[which]);
    return 0;
}

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    (void)names_tokens;
    uint8_t kind = take(&in);
    eliza_json_schema_options_t options = {
        .struct_size = sizeof options,
        .flags = flags & 3,
        .space = kind & 3,
        .draft = kind / 4 % 5,
        .order = kind / 32 % 2,
        .document = flags & 4 ? give : NULL,
    };
    return eliza_inference_constraint_create_json_schema(vocab, (const char *)in.at, in.left, &options, &budget, made, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
