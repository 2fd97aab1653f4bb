/* What every harness shares: clocks, reading a file, and results as JSON on standard output. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eliza_inference.h"

static inline int64_t read_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t now_ns(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

/* Ends the program with the message of a failed call. */
static inline void check(int status, char *error, const char *what)
{
    if (status >= 0)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, eliza_inference_status_name(status), error ? error : "no message");
    exit(1);
}

static inline void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

typedef struct {
    char *bytes; /* terminated */
    size_t length;
} file_contents;

static inline file_contents read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    file_contents contents = {NULL, (size_t)ftell(file)};
    rewind(file);
    contents.bytes = allocate(contents.length + 1);
    if (fread(contents.bytes, 1, contents.length, file) != contents.length) {
        perror(path);
        exit(1);
    }
    contents.bytes[contents.length] = 0;
    fclose(file);
    return contents;
}

/* "name": [samples], with `end` after it. */
static inline void print_samples(const char *name, const double *samples, size_t count, const char *end)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf(i ? ",%.2f" : "%.2f", samples[i]);
    printf("]%s\n", end);
}

static inline eliza_vocab *make_vocab(int32_t n_tokens)
{
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = n_tokens};
    eliza_vocab *vocab;
    char *error;
    check(eliza_inference_vocab_create(&config, &vocab, &error), error, "vocabulary");
    return vocab;
}

static inline eliza_constraint *make_constraint(const eliza_vocab *vocab, file_contents payload)
{
    eliza_constraint *constraint;
    char *error;
    int status =
        eliza_inference_constraint_create_token_trie(vocab, payload.bytes, payload.length, &constraint, &error);
    check(status, error, "payload");
    return constraint;
}

static inline eliza_matcher *make_matcher(const eliza_constraint *constraint)
{
    eliza_matcher *matcher;
    char *error = NULL;
    check(eliza_inference_matcher_create(constraint, 0, &matcher, &error), error, "matcher");
    return matcher;
}

#endif
