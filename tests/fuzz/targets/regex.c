/* A byte of flags, then a regular expression. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    begin_input(data, size);
    input in = {data, size};
    uint8_t flags = take(&in);
    eliza_vocab *vocab = flags & 128 ? hostile_vocabulary() : vocabulary();
    eliza_constraint *made = NULL;
    char *error = NULL;
    int status = eliza_inference_constraint_create_regex(vocab, (const char *)in.at, in.left, flags & 3, &budget, &made, &error);
    check_error(status, error);
    if (made != NULL) walk(made, hash_of(data, size), WALK_ANY_TOKENS);
    end_input();
    return 0;
}
