/* The head of a model, after its first four bytes. It is refused, or libllama gets it, which refuses it here. */
#include "../llama.h"
#include "../memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t file[1 << 16] = "GGUF";
    if (size > sizeof file - 4) return 0;
    memcpy(file + 4, data, size);
    put_memory_file(file, 4 + size);
    static bool is_begun;
    if (!is_begun) eliza_inference_create(memory_file_path, NULL); /* libllama is found once, and refuses all */
    is_begun = true;
    begin_input(data, size);
    char *error = NULL;
    EliInferenceContext *context = eliza_inference_create(memory_file_path, &error);
    CHECK(context == NULL && eliza_inference_error_status(error) == ELIZA_ERR_BUNDLE_INVALID);
    eliza_inference_free_string(error);
    end_input();
    return 0;
}
