/* A byte of flags, then a grammar in GBNF or in XGrammar's EBNF. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    begin_input(data, size);
    input in = {data, size};
    uint8_t flags = take(&in);
    eliza_vocab *vocab = flags & 128 ? hostile_vocabulary() : vocabulary();
    const char *root = flags & 2 ? "a" : NULL;
    eliza_constraint *made = NULL;
    char *error = NULL;
    int status = eliza_inference_constraint_create_gbnf(vocab, (const char *)in.at, in.left, root, root != NULL,
                                                        flags & ELIZA_GBNF_EBNF, &budget, &made, &error);
    check_error(status, error);
    /* EBNF names tokens by macros, GBNF in angle brackets. */
    bool names_tokens = (flags & ELIZA_GBNF_EBNF) || memchr(in.at, '<', in.left) != NULL;
    if (made != NULL) walk(made, hash_of(data, size), names_tokens ? 0 : WALK_ANY_TOKENS);
    end_input();
    return 0;
}
