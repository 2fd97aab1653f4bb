/* A byte of flags, then a regular expression. */
#include "fuzz.h"

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    (void)names_tokens;
    return eliza_inference_constraint_create_regex(vocab, (const char *)in.at, in.left, flags & 3, &budget, made, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
