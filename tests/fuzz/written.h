/* Constraints that are written by decisions: an input says what stands where, and what comes out is well-formed, however much
 * its parts ask of each other. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include "fuzz.h"

/* ---- A text ---- */

/* Of what is begun behind `enough` bytes, the least is written. */
typedef struct {
    char *bytes;
    size_t n, enough, room;
} text;

void put(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_json_string(text *to, const text *content);

static inline bool is_enough(const text *to) {
    return to->n >= to->enough;
}

/* From 1, in growing steps, up to `most`. */
int take_scale(input *in, int most);

/* How many of a list, mostly few. Of many, each is written by the same decisions. */
typedef struct {
    int n;
    bool is_same;
} many;
many take_many(input *in, int most);

/* ---- What is written ---- */

/* Of which `i` of `n` something is written, and which `j` of a list there: names and numbers come of them. */
typedef struct {
    int i, n, j;
    bool is_below; /* within a member or an item */
} place;

enum dialect { LARK, GBNF, EBNF };

void write_regex(text *to, input *in);

/* Of objects alone with members that are named, or of any values. Its first members are `before`, with a comma after them. */
void write_schema(text *to, input *in, bool is_of_objects, const char *before);

void write_grammar(text *to, input *in, enum dialect dialect);

#endif
