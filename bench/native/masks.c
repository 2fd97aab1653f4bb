/* A recognizer from C: preparing the vocabulary, compiling, masks in document order, saving and mapping.
 *
 *     masks VOCABULARY KIND DEFINITION DOCUMENTS PASSES FOLDER
 *
 * FOLDER is where files to map are written; the other files are described in languages.h.
 *
 * Times of positions are the least of PASSES passes, in ns, the clock's own part included.
 */
#include <sys/stat.h>

#include "passes.h"

#define VOCABULARY_REPEATS 7
#define COMPILE_REPEATS 15
#define COMPILE_NS_MAX 1500000000
#define COLD_REPEATS 5
#define SAVE_REPEATS 5
#define MATCHER_TOKENS 50
#define PATH_MAX_BYTES 4096

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_number(const char *name, double value)
{
    printf("\"%s\": %.1f,\n", name, value);
}

static void print_median(const char *name, double *samples, size_t count)
{
    qsort(samples, count, sizeof *samples, compare_doubles);
    print_number(name, samples[count / 2]);
}

/* ---- Measuring ------------------------------------------------------------------------------------------ */

static eliza_constraint *open_constraint(const eliza_vocab *vocab, const char *path, uint64_t mask_bytes_max)
{
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = mask_bytes_max};
    eliza_constraint *constraint;
    char *error;
    check(eliza_inference_constraint_open(vocab, path, strlen(path), &config, &constraint, &error), error, path);
    return constraint;
}

static double open_vocabulary(const char *path, uint32_t flags)
{
    eliza_vocab *opened;
    char *error;
    int64_t started = now_ns();
    check(eliza_inference_vocab_open_with(path, strlen(path), flags, &opened, &error), error, path);
    check(eliza_inference_vocab_prepare(opened, &error), error, path);
    int64_t taken = now_ns() - started;
    eliza_inference_vocab_free(opened);
    return (double)taken;
}

static eliza_vocab *measure_vocabulary(file_contents file, const char *folder)
{
    double built[VOCABULARY_REPEATS], mapped[VOCABULARY_REPEATS], trusted[VOCABULARY_REPEATS];
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/vocabulary.bin", folder);
    eliza_vocab *vocab = NULL;
    char *error;
    for (int i = 0; i < VOCABULARY_REPEATS; i++) {
        eliza_inference_vocab_free(vocab);
        int64_t started = now_ns();
        vocab = build_vocabulary(file);
        built[i] = (double)(now_ns() - started);
    }
    check(eliza_inference_vocab_save(vocab, path, strlen(path), &error), error, path);
    eliza_vocab_info_t info = {.struct_size = sizeof info};
    check(eliza_inference_vocab_info(vocab, &info), NULL, "info");
    eliza_inference_vocab_free(vocab);
    for (int i = 0; i < VOCABULARY_REPEATS; i++) {
        mapped[i] = open_vocabulary(path, 0);
        trusted[i] = open_vocabulary(path, ELIZA_OPEN_TRUSTED);
    }
    print_number("vocabulary_bytes", (double)info.retained_bytes);
    print_number("vocabulary_nodes", info.n_nodes);
    print_median("vocabulary_built_ns", built, VOCABULARY_REPEATS);
    print_median("vocabulary_mapped_ns", mapped, VOCABULARY_REPEATS);
    print_median("vocabulary_trusted_ns", trusted, VOCABULARY_REPEATS);
    return build_vocabulary(file);
}

static void measure_compile(const eliza_vocab *vocab, const definition *from)
{
    double samples[COMPILE_REPEATS], total = 0;
    size_t count = 0;
    while (count < COMPILE_REPEATS && total < COMPILE_NS_MAX) {
        int64_t started = now_ns();
        eliza_constraint *constraint = compile(vocab, from);
        samples[count] = (double)(now_ns() - started);
        total += samples[count++];
        eliza_inference_constraint_free(constraint);
    }
    print_median("compile_ns", samples, count);
}

static void print_constraint(const eliza_constraint *constraint, const char *prefix)
{
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    check(eliza_inference_constraint_recognizer_info(constraint, &info), NULL, "info");
    printf("\"%s_automaton_bytes\": %llu,\n", prefix, (unsigned long long)info.automaton_bytes);
    printf("\"%s_table_bytes\": %llu,\n", prefix, (unsigned long long)info.table_bytes);
    printf("\"%s_tables\": %u,\n", prefix, info.n_tables);
    printf("\"%s_masks\": %u,\n", prefix, info.n_masks);
}

/* What a matcher takes after some tokens of the longest document. */
static void print_matcher(const eliza_constraint *constraint, const documents *from, size_t n_tokens,
                          const char *prefix)
{
    eliza_matcher *matcher = make_matcher(constraint);
    const int32_t *ids, *tokens = from->tokens;
    size_t n;
    for (size_t d = 0; (size_t)from->lengths[d] < from->longest; d++)
        tokens += from->lengths[d];
    if (n_tokens > from->longest)
        n_tokens = from->longest;
    for (size_t i = 0; i < n_tokens; i++) {
        check(eliza_inference_matcher_allowed(matcher, &ids, &n), NULL, "mask");
        check(eliza_inference_matcher_accept(matcher, tokens[i]), NULL, "accept");
    }
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    check(eliza_inference_matcher_info(matcher, &info), NULL, "info");
    printf("\"%s_tokens\": %zu,\n", prefix, n_tokens);
    printf("\"%s_bytes\": %llu,\n", prefix, (unsigned long long)info.retained_bytes);
    printf("\"%s_history_bytes\": %llu,\n", prefix, (unsigned long long)info.history_bytes);
    printf("\"%s_stack_bytes\": %llu,\n", prefix, (unsigned long long)info.stack_bytes);
    eliza_inference_matcher_free(matcher);
}

/* Masks of a constraint that was just compiled, and still has nothing but its automata. */
static void measure_cold(const eliza_vocab *vocab, const definition *from, const documents *texts)
{
    double *times = no_times(texts->n_positions);
    for (int i = 0; i < COLD_REPEATS; i++) {
        eliza_constraint *constraint = compile(vocab, from);
        eliza_matcher *matcher = make_matcher(constraint);
        pass(matcher, texts, ALLOWED, NULL, 0, times, NULL);
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
    print_samples("cold_ns", times, texts->n_positions, ",");
    free(times);
}

/* Masks with all ready that the documents need. */
static void measure_warm(const eliza_vocab *vocab, const definition *from, const documents *texts, int passes)
{
    size_t n_words = ((size_t)eliza_inference_vocab_size(vocab) + 31) / 32;
    int32_t *words = allocate(n_words * sizeof *words);
    double *warm = no_times(texts->n_positions);
    double *fill = no_times(texts->n_positions), *accept = no_times(texts->n_positions);
    eliza_constraint *constraint = compile(vocab, from);
    eliza_matcher *matcher = make_matcher(constraint);
    pass(matcher, texts, ALLOWED, NULL, 0, warm, NULL);
    for (int i = 0; i < passes; i++) {
        pass(matcher, texts, ALLOWED, words, n_words, warm, accept);
        pass(matcher, texts, FILL, words, n_words, fill, NULL);
    }
    print_samples("warm_ns", warm, texts->n_positions, ",");
    print_samples("fill_ns", fill, texts->n_positions, ",");
    print_samples("accept_ns", accept, texts->n_positions, ",");
    print_constraint(constraint, "warm");
    print_matcher(constraint, texts, MATCHER_TOKENS, "matcher");
    print_matcher(constraint, texts, texts->longest, "long_matcher");
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
    free(words);
    free(warm);
    free(fill);
    free(accept);
}

/* Passes over a mapped constraint that is opened again for each: with its tables, and no whole mask yet. */
static void measure_mapped(const eliza_vocab *vocab, const char *path, const documents *texts, int passes,
                           uint64_t mask_bytes_max, const char *name)
{
    double *times = no_times(texts->n_positions);
    for (int i = 0; i < passes; i++) {
        eliza_constraint *constraint = open_constraint(vocab, path, mask_bytes_max);
        eliza_matcher *matcher = make_matcher(constraint);
        pass(matcher, texts, ALLOWED, NULL, 0, times, NULL);
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
    print_samples(name, times, texts->n_positions, ",");
    free(times);
}

static void measure_tables(const eliza_vocab *vocab, const definition *from, const documents *texts, int passes,
                           const char *folder)
{
    double prepared[SAVE_REPEATS], saved[SAVE_REPEATS], opened[SAVE_REPEATS];
    char path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "%s/constraint.bin", folder);
    char *error;
    for (int i = 0; i < SAVE_REPEATS; i++) {
        eliza_constraint *constraint = compile(vocab, from);
        int64_t started = now_ns();
        check(eliza_inference_constraint_prepare(constraint, NULL, &error), error, "prepare");
        prepared[i] = (double)(now_ns() - started);
        started = now_ns();
        check(eliza_inference_constraint_save(constraint, path, strlen(path), &error), error, path);
        saved[i] = (double)(now_ns() - started);
        if (i == 0)
            print_constraint(constraint, "prepared");
        eliza_inference_constraint_free(constraint);
        started = now_ns();
        constraint = open_constraint(vocab, path, 0);
        opened[i] = (double)(now_ns() - started);
        eliza_inference_constraint_free(constraint);
    }
    print_median("prepare_ns", prepared, SAVE_REPEATS);
    print_median("save_ns", saved, SAVE_REPEATS);
    print_median("open_ns", opened, SAVE_REPEATS);
    struct stat status;
    if (stat(path, &status) == 0)
        print_number("file_bytes", (double)status.st_size);
    measure_mapped(vocab, path, texts, passes, 0, "mapped_ns");
    measure_mapped(vocab, path, texts, passes, 1, "no_memo_ns");
}

/* A first mask of `(?s).*`: nearly all nodes of the byte trie are walked and their bits set. */
static void measure_walk(const eliza_vocab *vocab, int passes)
{
    const char pattern[] = "(?s).*";
    definition all = {ELIZA_CONSTRAINT_REGEX, false, {(char *)pattern, sizeof pattern - 1}, NULL, 0};
    double least = 1e18;
    for (int i = 0; i < passes; i++) {
        eliza_constraint *constraint = compile(vocab, &all);
        eliza_matcher *matcher = make_matcher(constraint);
        const int32_t *ids;
        size_t n;
        int64_t started = now_ns();
        check(eliza_inference_matcher_allowed(matcher, &ids, &n), NULL, "mask");
        double took = (double)(now_ns() - started);
        least = took < least ? took : least;
        eliza_inference_matcher_free(matcher);
        eliza_inference_constraint_free(constraint);
    }
    print_number("walk_ns", least);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: masks VOCABULARY choices|regex|lark|gbnf|schema|tags DEFINITION DOCUMENTS PASSES FOLDER\n");
        return 2;
    }
    int passes = atoi(argv[5]);
    definition from = read_definition(argv[2], argv[3]);
    documents texts = read_documents(read_file(argv[4]));
    printf("{\n");
    eliza_vocab *vocab = measure_vocabulary(read_file(argv[1]), argv[6]);
    measure_walk(vocab, passes);
    measure_compile(vocab, &from);
    measure_cold(vocab, &from, &texts);
    measure_warm(vocab, &from, &texts, passes);
    measure_tables(vocab, &from, &texts, passes, argv[6]);
    printf("\"clock_ns\": %.1f\n}\n", clock_ns());
    eliza_inference_vocab_free(vocab);
    return 0;
}
