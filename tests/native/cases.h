/* The conformance cases as C data: what tests/native/generate.py writes and conformance.c reads. */
#ifndef CASES_H
#define CASES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that stand `count` times. */
typedef struct {
    const char *bytes;
    size_t length;
    size_t count;
} case_part;

/* A call that must fail. `status` 0: it must not. */
typedef struct {
    int status;
    const char *message; /* NULL: not compared */
} case_error;

/* Bits of case_expect.given. */
enum {
    GIVEN_ACTIVE = 1 << 0,
    GIVEN_CAN_STOP = 1 << 1,
    GIVEN_CONSTRAINED = 1 << 2,
    GIVEN_DESCRIPTOR = 1 << 3,
    GIVEN_ALLOWED = 1 << 4,
    GIVEN_FORCED = 1 << 5,
    GIVEN_LEAF = 1 << 6,
    GIVEN_SPAN_TOKENS = 1 << 7,
    GIVEN_SPANS_STARTED = 1 << 8,
    GIVEN_SPANS_ENDED = 1 << 9,
    GIVEN_TIMEOUTS = 1 << 10,
    GIVEN_ILLEGAL = 1 << 11,
    GIVEN_FORCED_BYTES = 1 << 12,
};

typedef struct {
    unsigned given;
    int active, can_stop, constrained, descriptor;
    const int32_t *allowed; /* NULL: all */
    size_t n_allowed;
    const int32_t *forced;
    size_t n_forced;
    const char *forced_bytes;
    size_t n_forced_bytes;
    const char *leaf; /* NULL: none */
    size_t leaf_length;
    uint32_t span_tokens;
    uint64_t spans_started, spans_ended, timeouts, illegal;
} case_expect;

typedef struct {
    int32_t id;
    float value;
} case_logit;

typedef enum {
    STEP_ACCEPT,
    STEP_TEXT,
    STEP_ROLLBACK,
    STEP_ACTIVATE,
    STEP_DEACTIVATE,
    STEP_RESET,
    STEP_CLONE,
    STEP_SET_SPAN_TIMEOUT,
    STEP_SET_SEED,
    STEP_MASK,
    STEP_SAMPLE,
    STEP_FILL_BITMAPS,
} step_kind;

/* A clone of the matcher, taken back by `rollback` tokens, and what is allowed there. */
typedef struct {
    uint64_t rollback;
    const int32_t *allowed; /* NULL: all */
    size_t n_allowed;
} case_row;

typedef struct {
    step_kind kind;
    int32_t token;    /* accept */
    int result;       /* accept: ELIZA_STEP_* bits */
    uint64_t n;       /* rollback, set_span_timeout, set_seed; mask and sample: length of the logits; text: how often;
                         fill_bitmaps: words of a row */
    const char *path; /* activate; text: the text */
    size_t path_length;
    float fill; /* mask, sample */
    const case_logit *logits;
    size_t n_logits;
    const int32_t *ids; /* mask: ids that keep their logit, NULL: all; sample: the tokens drawn */
    size_t n_ids;
    int mode; /* sample */
    float temperature, top_p;
    const case_row *rows; /* fill_bitmaps */
    size_t n_rows;
    uint32_t n_threads;
    case_error error;
    case_expect expect;
} case_step;

/* Fields of eliza_constraint_info_t; -1: not compared. */
typedef struct {
    int64_t n_descriptors, n_leaves, n_nodes, longest_leaf_tokens, widest_node;
} case_info;

/* A vocabulary. The tokens of one with bytes are all single bytes, then `own`. */
typedef struct {
    int32_t size;
    const char *model_id; /* NULL: unknown */
    size_t model_id_length;
    int has_bytes;
    const case_part *own;
    size_t n_own;
    const uint8_t *own_flags;
} case_vocabulary;

#define UNCHANGED INT64_MIN

/* Both files are saved, and one is changed and opened. */
typedef struct {
    const char *path; /* NULL: not in this case */
    int as_vocabulary;
    int64_t flip, length;         /* below 0: from the end */
    const case_vocabulary *other; /* that a constraint is opened for; NULL: its own */
} case_open;

/* What is compiled. */
typedef enum {
    SOURCE_TOKEN_TRIE,
    SOURCE_CHOICES,
    SOURCE_REGEX,
    SOURCE_LARK,
} source_kind;

typedef struct {
    const char *name; /* with its file and its format */
    case_vocabulary vocabulary;
    uint32_t span_timeout; /* 0: the default */
    source_kind source;
    uint32_t flags;           /* ELIZA_CHOICES_*, ELIZA_REGEX_* */
    const case_part *payload; /* also the pattern or the grammar; of choices one part each */
    size_t n_parts;
    uint32_t states_max; /* 0 in these: the default */
    uint64_t bytes_max, ms_max, mask_bytes_max;
    int has_cancel, cancel; /* what the callback says */
    case_open open;
    int has_end;
    const int32_t *end;
    size_t n_end;
    const char *notes; /* NULL: not compared */
    int kind;          /* ELIZA_CONSTRAINT_*; -1: not compared */
    case_error error;
    case_info info;
    case_expect expect;
    const case_step *steps;
    size_t n_steps;
} conformance_case;

extern const conformance_case conformance_cases[];
extern const size_t n_conformance_cases;

#endif
