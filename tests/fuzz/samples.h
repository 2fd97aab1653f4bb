/* Constraints of every kind, for the targets that are not about compiling. */
#ifndef FUZZ_SAMPLES_H
#define FUZZ_SAMPLES_H

#include "fuzz.h"

enum { N_TREES = 5, N_SAMPLES = 24 };

/* Of the vocabulary, or of one with the same tokens; the first N_TREES are token tries. Owned by the caller. */
eliza_constraint *sample(uint32_t which, const eliza_vocab *vocab);

/* Its text. */
const char *sample_text(uint32_t which);

/* A text of its language is the same in any tokens. */
bool sample_takes_any_tokens(uint32_t which);

#endif
