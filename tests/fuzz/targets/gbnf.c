/* A byte of flags, then a grammar in GBNF or in XGrammar's EBNF. */
#include "fuzz.h"

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    const char *root = flags & 2 ? "a" : NULL;
    /* EBNF names tokens by macros, GBNF in angle brackets. */
    *names_tokens = (flags & ELIZA_GBNF_EBNF) || memchr(in.at, '<', in.left) != NULL;
    return eliza_inference_constraint_create_gbnf(vocab, (const char *)in.at, in.left, root, root != NULL, flags & ELIZA_GBNF_EBNF,
                                                  &budget, made, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
