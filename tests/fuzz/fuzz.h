/* What all targets share: an input that is read piece by piece, one small vocabulary, budgets, checks, and a walk along a
 * constraint that asks naive oracles. A target is one function, `LLVMFuzzerTestOneInput`; libFuzzer calls it, or replay.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eliza_inference.h"

/* ---- Checks ---- */

/* A finding: says what does not hold, and ends the process. */
#define CHECK(condition) ((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

void fail(const char *file, int line, const char *what) __attribute__((noreturn));

/* ---- The input ---- */

/* What is left of it. At its end every number is 0. */
typedef struct {
    const uint8_t *at;
    size_t left;
} input;

uint8_t take(input *in);
uint32_t take_below(input *in, uint32_t n); /* one byte, or two if n is more than 256; n is at least 1 */
uint64_t take_word(input *in);
input take_text(input *in, size_t most); /* a byte with its length, which is at most 255, then it */

/* A number that depends on all bytes. */
uint64_t hash_of(const uint8_t *bytes, size_t n);

/* SplitMix64. */
uint64_t draw(uint64_t *state);

/* ---- The vocabulary ---- */

/* Tokens 0 to 255 are the bytes. */
enum {
    TOKEN_AB = 256,
    TOKEN_END = 292,
    TOKEN_OTHER_END,
    TOKEN_SPECIAL,
    TOKEN_TOOL,
    TOKEN_UNUSED,
    TOKEN_EMPTY,
    N_TOKENS,
    N_WORDS = (N_TOKENS + 31) / 32
};

/* Made once for many inputs. Tokenizes longest token first. */
eliza_vocab *vocabulary(void);

/* The same tokens with a tokenizer of its own, which is wrong in each way that a caller's can be. */
eliza_vocab *hostile_vocabulary(void);

/* The bytes of a token, and its ELIZA_TOKEN_* flags. */
input token_bytes(int32_t token);
uint8_t token_flags(int32_t token);

/* ---- One input ---- */

/* Every compile and every call of a target has a budget; an input that all the same takes ten seconds of the processor, or
 * leaves a block of memory behind, is a finding. */
void begin_input(const uint8_t *data, size_t size);
void end_input(void);

/* For each compile of a target. */
extern const eliza_compile_config_t budget;

/* Frees a message, and checks that there is one if and only if the call failed. */
void check_error(int status, char *error);

/* ---- A walk ---- */

enum {
    WALK_ANY_TOKENS = 1 /* a text is the same in any tokens: nothing in the constraint names a token */
};

/* Goes along a text of the constraint, by its legal tokens, and compares what the library says with what follows from it.
 * Drops the constraint. */
void walk(eliza_constraint *constraint, uint64_t seed, int flags);

/* An input of a byte of flags, then a text: `compile` makes a constraint of it, which is walked along, and returns its call's
 * status. It says where a text is not the same in any tokens. */
typedef int notation(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error);
int try_notation(notation *compile, const uint8_t *data, size_t size);

/* The mask, and checks of it: each form of it says the same. Returns ELIZA_ALLOWED_*, or a negative status, which is that of a
 * budget. */
int mask_of(eliza_matcher *matcher, int32_t words[N_WORDS]);

static inline bool has(const int32_t *words, int32_t token) {
    return (uint32_t)words[token / 32] >> token % 32 & 1;
}

/* Checks that a clone accepts exactly the tokens of the mask. */
void check_accepted_are(const eliza_matcher *matcher, const int32_t words[N_WORDS]);

/* Checks forced tokens and bytes against the masks on their way. */
void check_forced(const eliza_matcher *matcher);

/* Checks masked logits and choices against naive ones. */
void check_choices(eliza_matcher *matcher, const int32_t words[N_WORDS], int allowed, uint64_t seed);

/* A failure that the library may have at any place: a budget is over, or memory. */
static inline bool is_over_budget(int status) {
    return status == ELIZA_ERR_LIMIT || status == ELIZA_ERR_CANCELLED || status == ELIZA_ERR_OOM;
}

#endif
