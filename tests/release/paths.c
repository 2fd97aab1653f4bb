/* Paths beyond ASCII: one in the environment, and files that are written and opened. */
#include "eliza_inference.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    const char path[] = "vocabulary \xC5\x81\xC3\xB3""d\xC5\xBA \xE6\x9D\xB1.bin";
    const uint64_t offsets[] = {0, 1, 2};
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 2, .bytes = (const uint8_t *)"ab", .offsets = offsets};
    eliza_vocab *vocab = NULL, *opened = NULL;
    char *error = NULL;
    if (eliza_inference_vocab_create(&config, &vocab, &error) != ELIZA_OK ||
        eliza_inference_vocab_save(vocab, path, strlen(path), &error) != ELIZA_OK ||
        eliza_inference_vocab_open(path, strlen(path), &opened, &error) != ELIZA_OK) {
        printf("%s\n", error ? error : "no message");
        return 1;
    }
    int status = eliza_inference_llama_load(NULL, 0, &error); /* the one that the environment names */
    printf("%s: %s\n", eliza_inference_status_name(status), error);
    eliza_inference_free_string(error);
    eliza_inference_vocab_free(opened);
    eliza_inference_vocab_free(vocab);
    return 0;
}
