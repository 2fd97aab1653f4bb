/* One hot path of the recognizers, COUNT times over, for counting instructions, as hot.c.
 *
 *     hot_masks vocabulary|compile|first|again|pass COUNT VOCABULARY KIND DEFINITION DOCUMENTS
 *
 * vocabulary: building it with its trie; compile: the constraint; first: the constraint and its first mask;
 * again: the constraint, and the masks and tokens of the documents; pass: masks of all positions and taking their
 * tokens, with all masks ready that can be.
 */
#include "languages.h"

static void mask(eliza_matcher *matcher)
{
    const int32_t *ids;
    size_t n;
    check(eliza_inference_matcher_allowed(matcher, &ids, &n), NULL, "mask");
}

static void pass(eliza_matcher *matcher, const documents *from)
{
    const int32_t *token = from->tokens;
    for (size_t d = 0; d < from->n_documents; d++) {
        check(eliza_inference_matcher_reset(matcher), NULL, "reset");
        for (int32_t i = 0; i < from->lengths[d]; i++, token++) {
            mask(matcher);
            check(eliza_inference_matcher_accept(matcher, *token), NULL, "accept");
        }
    }
}

static void compile_anew(const eliza_vocab *vocab, const definition *from, int with_mask, const documents *texts)
{
    eliza_constraint *constraint = compile(vocab, from);
    if (with_mask || texts) {
        eliza_matcher *matcher = make_matcher(constraint);
        if (texts)
            pass(matcher, texts);
        else
            mask(matcher);
        eliza_inference_matcher_free(matcher);
    }
    eliza_inference_constraint_free(constraint);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: hot_masks vocabulary|compile|first|again|pass COUNT VOCABULARY KIND DEFINITION DOCUMENTS\n");
        return 2;
    }
    const char *path = argv[1];
    int count = atoi(argv[2]);
    file_contents file = read_file(argv[3]);
    definition from = read_definition(argv[4], argv[5]);
    documents texts = read_documents(read_file(argv[6]));
    eliza_vocab *vocab = build_vocabulary(file);
    eliza_constraint *constraint = compile(vocab, &from);
    eliza_matcher *matcher = make_matcher(constraint);
    if (strcmp(path, "pass") == 0)
        pass(matcher, &texts);
    for (int i = 0; i < count; i++) {
        if (strcmp(path, "vocabulary") == 0)
            eliza_inference_vocab_free(build_vocabulary(file));
        else if (strcmp(path, "pass") == 0)
            pass(matcher, &texts);
        else
            compile_anew(vocab, &from, strcmp(path, "first") == 0, strcmp(path, "again") == 0 ? &texts : NULL);
    }
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    eliza_inference_vocab_free(vocab);
    return 0;
}
