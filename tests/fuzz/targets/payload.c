/* A byte of flags, then a token tree or a descriptor of tags, as JSON or as MessagePack. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    begin_input(data, size);
    input in = {data, size};
    uint8_t flags = take(&in);
    eliza_vocab *vocab = flags & 128 ? hostile_vocabulary() : vocabulary();
    eliza_constraint *made = NULL;
    char *error = NULL;
    int status = flags & 1 ? eliza_inference_constraint_create_tags(vocab, in.at, in.left, &budget, &made, &error)
                           : eliza_inference_constraint_create_token_trie(vocab, (const char *)in.at, in.left, &made, &error);
    check_error(status, error);
    if (made != NULL) walk(made, hash_of(data, size), 0);
    end_input();
    return 0;
}
