/* Walks the stack from a callback, through the library's frames, to this program's: what crash reporters do. */
#include "eliza_inference.h"
#include <execinfo.h>
#include <stdio.h>

static int reached;

/* The address of a function's end is not known in C: this one stands behind what it is asked about. */
static int ask(eliza_matcher *matcher);
static int behind(void);

static int32_t tokenize(const uint8_t *text, size_t length, int32_t *tokens, size_t cap, void *user_data) {
    void *frames[64];
    int n = backtrace(frames, 64);
    for (int i = 0; i < n; i++)
        reached |= (char *)frames[i] > (char *)ask && (char *)frames[i] < (char *)behind;
    (void)user_data;
    for (size_t i = 0; i < length && i < cap; i++) tokens[i] = text[i] - 'a';
    return (int32_t)length;
}

__attribute__((noinline)) static int ask(eliza_matcher *matcher) {
    int32_t tokens[8];
    size_t n = 0;
    int status = eliza_inference_matcher_forced(matcher, tokens, 8, &n);
    return status == ELIZA_OK ? (int)n : status;
}

__attribute__((noinline)) static int behind(void) { return reached; }

int main(void) {
    const uint64_t offsets[] = {0, 1, 2, 3};
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = 3, .bytes = (const uint8_t *)"abc", .offsets = offsets};
    eliza_span_config_t span = {.struct_size = sizeof span, .end = (const int32_t[]){2}, .n_end = 1};
    eliza_vocab *vocab = NULL;
    eliza_constraint *constraint = NULL;
    eliza_matcher *matcher = NULL;
    if (eliza_inference_vocab_create(&config, &vocab, NULL) != ELIZA_OK ||
        eliza_inference_vocab_set_tokenizer(vocab, tokenize, NULL) != ELIZA_OK ||
        eliza_inference_constraint_create_regex(vocab, "abab", 4, 0, NULL, &constraint, NULL) != ELIZA_OK ||
        eliza_inference_matcher_create_span(constraint, &span, &matcher, NULL) != ELIZA_OK)
        return 1;
    int n = ask(matcher);
    printf("%d forced, %s\n", n, behind() ? "the caller was reached" : "the walk ended in the library");
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return 0;
}
