/* Masks of schemas that have seen their documents once, from C.
 *
 *     second_use VOCABULARY PASSES [SCHEMA DOCUMENTS]...
 *
 * The files are described in languages.h. In each pass a schema is compiled again and its documents are walked twice, by
 * a matcher each; times are of the second walk, the least of PASSES.
 */
#include "passes.h"

static void measure(const eliza_vocab *vocab, const definition *from, const documents *texts, int passes,
                    enum call call, const char *name, const char *end)
{
    size_t n_words = ((size_t)eliza_inference_vocab_size(vocab) + 31) / 32;
    int32_t *words = allocate(n_words * sizeof *words);
    double *first = no_times(texts->n_positions), *second = no_times(texts->n_positions);
    for (int i = 0; i < passes; i++) {
        eliza_constraint *constraint = compile(vocab, from);
        for (int use = 0; use < 2; use++) {
            eliza_matcher *matcher = make_matcher(constraint);
            pass(matcher, texts, call, words, n_words, use == 0 ? first : second, NULL);
            eliza_inference_matcher_free(matcher);
        }
        eliza_inference_constraint_free(constraint);
    }
    print_samples(name, second, texts->n_positions, end);
    free(first);
    free(second);
    free(words);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: second_use VOCABULARY PASSES [SCHEMA DOCUMENTS]...\n");
        return 2;
    }
    eliza_vocab *vocab = build_vocabulary(read_file(argv[1]));
    int passes = atoi(argv[2]);
    printf("{\"schemas\": [");
    for (int i = 3; i < argc; i += 2) {
        definition from = read_definition("schema", argv[i]);
        documents texts = read_documents(read_file(argv[i + 1]));
        printf(i > 3 ? ",\n{" : "\n{");
        measure(vocab, &from, &texts, passes, ALLOWED, "allowed_ns", ",");
        measure(vocab, &from, &texts, passes, FILL, "fill_ns", "}");
    }
    printf("],\n\"clock_ns\": %.1f}\n", clock_ns());
    eliza_inference_vocab_free(vocab);
    return 0;
}
