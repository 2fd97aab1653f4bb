/* Vocabularies, languages and documents as bench/recognizers/measure.py writes them.
 *
 * Vocabulary: uint32 n, n+1 uint64 offsets, n flags, the bytes. Language: choices (a line each), a regular
 * expression, a grammar, a schema, or a descriptor of tags. Documents: for each one int32 length and its tokens.
 */
#ifndef BENCH_LANGUAGES_H
#define BENCH_LANGUAGES_H

#include <stdbool.h>
#include <string.h>

#include "harness.h"

typedef struct {
    const int32_t *tokens; /* documents one after the other */
    const int32_t *lengths;
    size_t n_documents, n_positions, longest;
} documents;

typedef struct {
    int kind;     /* ELIZA_CONSTRAINT_* */
    bool is_gbnf; /* of a grammar: else Lark */
    file_contents text;
    uint64_t *offsets; /* of choices */
    size_t n_choices;
} definition;

static inline eliza_vocab *build_vocabulary(file_contents file)
{
    uint32_t n_tokens;
    memcpy(&n_tokens, file.bytes, sizeof n_tokens);
    size_t offsets_size = ((size_t)n_tokens + 1) * sizeof(uint64_t);
    uint64_t *offsets = allocate(offsets_size);
    memcpy(offsets, file.bytes + sizeof n_tokens, offsets_size);
    const uint8_t *flags = (const uint8_t *)file.bytes + sizeof n_tokens + offsets_size;
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = (int32_t)n_tokens};
    config.offsets = offsets;
    config.flags = flags;
    config.bytes = flags + n_tokens;
    eliza_vocab *vocab;
    char *error;
    check(eliza_inference_vocab_create(&config, &vocab, &error), error, "vocabulary");
    check(eliza_inference_vocab_prepare(vocab, &error), error, "byte trie");
    free(offsets);
    return vocab;
}

static inline documents read_documents(file_contents file)
{
    const int32_t *words = (const int32_t *)(const void *)file.bytes;
    size_t n_words = file.length / sizeof *words;
    int32_t *tokens = allocate(file.length + 1), *lengths = allocate(file.length + 1);
    documents read = {tokens, lengths, 0, 0, 0};
    for (size_t at = 0; at < n_words; at += 1 + (size_t)words[at]) {
        size_t length = (size_t)words[at];
        memcpy(tokens + read.n_positions, words + at + 1, length * sizeof *tokens);
        lengths[read.n_documents++] = words[at];
        read.n_positions += length;
        read.longest = length > read.longest ? length : read.longest;
    }
    return read;
}

static inline definition read_definition(const char *kind, const char *path)
{
    definition read = {ELIZA_CONSTRAINT_GRAMMAR, strcmp(kind, "gbnf") == 0, read_file(path), NULL, 0};
    if (strcmp(kind, "regex") == 0)
        read.kind = ELIZA_CONSTRAINT_REGEX;
    if (strcmp(kind, "schema") == 0)
        read.kind = ELIZA_CONSTRAINT_JSON_SCHEMA;
    if (strcmp(kind, "tags") == 0)
        read.kind = ELIZA_CONSTRAINT_TAGS;
    if (strcmp(kind, "choices") != 0)
        return read;
    read.kind = ELIZA_CONSTRAINT_CHOICES;
    read.offsets = allocate((read.text.length + 1) * sizeof *read.offsets);
    size_t end = 0;
    read.offsets[0] = 0;
    for (size_t i = 0; i < read.text.length; i++) {
        if (read.text.bytes[i] == '\n')
            read.offsets[++read.n_choices] = end;
        else
            read.text.bytes[end++] = read.text.bytes[i];
    }
    return read;
}

static inline eliza_constraint *compile(const eliza_vocab *vocab, const definition *from)
{
    eliza_constraint *constraint;
    char *error;
    int status;
    if (from->kind == ELIZA_CONSTRAINT_CHOICES)
        status = eliza_inference_constraint_create_choices(vocab, (const uint8_t *)from->text.bytes, from->offsets,
                                                           from->n_choices, 0, NULL, &constraint, &error);
    else if (from->kind == ELIZA_CONSTRAINT_REGEX)
        status = eliza_inference_constraint_create_regex(vocab, from->text.bytes, from->text.length, 0, NULL,
                                                         &constraint, &error);
    else if (from->kind == ELIZA_CONSTRAINT_JSON_SCHEMA)
        status = eliza_inference_constraint_create_json_schema(vocab, from->text.bytes, from->text.length, NULL, NULL,
                                                               &constraint, &error);
    else if (from->kind == ELIZA_CONSTRAINT_TAGS)
        status = eliza_inference_constraint_create_tags(vocab, (const uint8_t *)from->text.bytes, from->text.length,
                                                        NULL, &constraint, &error);
    else if (from->is_gbnf)
        status = eliza_inference_constraint_create_gbnf(vocab, from->text.bytes, from->text.length, "root", 4, 0, NULL,
                                                        &constraint, &error);
    else
        status = eliza_inference_constraint_create_lark(vocab, from->text.bytes, from->text.length, NULL, &constraint,
                                                        &error);
    check(status, error, "compile");
    return constraint;
}

#endif
