/* A byte of flags, then a token tree or a descriptor of tags, as JSON or as MessagePack. */
#include "fuzz.h"

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    *names_tokens = true;
    return flags & 1 ? eliza_inference_constraint_create_tags(vocab, in.at, in.left, &budget, made, error)
                     : eliza_inference_constraint_create_token_trie(vocab, (const char *)in.at, in.left, made, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
