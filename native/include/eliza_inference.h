/*
 * libelizainference: constrained generation for a language model in the same process.
 *
 * The library works on logits: it lets through only tokens that continue one of the caller's names
 * (a token trie) or a text that a recognizer accepts (choices, a regular expression, a grammar), at
 * next to no cost. Sections, from simple to advanced:
 *
 *   1  library        version, strings, log
 *   2  errors         status codes
 *   3  limits         of what a caller may pass
 *   4  vocabulary     token ids and their bytes          (any engine)
 *   5  constraint     compiled, immutable                (any engine)
 *   6  matcher        the state of one text              (any engine)
 *   7  libllama       which copy is used
 *   8  context        a model in this process            (llama.cpp)
 *   9  stream         one generation                     (llama.cpp)
 *   10 constraining a stream                             (llama.cpp)
 *   11 sampler        constraining a foreign chain       (llama.cpp)
 *   12 speech, images what the host's loaders look for, and this library does not do
 *
 * Conventions
 *   - A function that returns `int` returns ELIZA_OK (0), a positive result where it says so, or a
 *     negative ELIZA_ERR_* status. No function exits, throws or crashes on a NULL handle, a NULL
 *     buffer or a zero length: it returns a status. A function that returns a pointer returns NULL
 *     on failure.
 *   - `char **out_error` may be NULL. On failure it receives a message in UTF-8 that names the
 *     offending thing; free it with eliza_inference_free_string. On success it receives NULL.
 *   - Strings from the caller are pointer + length and need no terminator, except where the
 *     parameter is a plain `const char *` alone. They are read during the call only.
 *   - A struct of this library begins with `uint32_t struct_size`: zero the struct and set this to its
 *     sizeof. Structs grow at their end, so a caller and a library of different age share the fields
 *     that both know: a field that the caller's struct lacks counts as 0 and is not written; a field
 *     that the library does not know is neither read nor written. A size smaller than that of the first
 *     version of the struct is ELIZA_ERR_INVALID_ARG.
 *   - Who owns what a function hands out: a `T **out_x` and a returned `T *` are the caller's, freed by
 *     the function that takes a `T *` alone and returns nothing. A pointer to const is not the
 *     caller's. The end of a comment says, in brackets, whose it is: [static], valid as long as the
 *     library is loaded; [lent by x], as long as x lives; [borrowed from x], until the next call that
 *     changes x. [keeps x] says that the library holds on to x after the call, [updates x] that it
 *     reads and writes x.
 *   - Threads: a vocabulary, a constraint and a context may be used by any number of threads. A matcher, a stream and a
 *     sampler belong to one thread at a time: while a call on one of them runs, every other call on it, from whatever
 *     thread, is ELIZA_ERR_BUSY and changes nothing; freeing or closing it does nothing. Only
 *     eliza_inference_llm_stream_cancel may come from another thread at any time. The text of a matcher's or a stream's
 *     last_error is then "another thread is using the matcher" or "... the stream". Contexts and streams may also be
 *     destroyed and closed while other threads call functions on them. A matcher, a vocabulary or a constraint must not be
 *     freed while another thread may begin a call on it. There is no thread-local state.
 *   - After fork() a child may use the vocabularies, constraints and matchers of its parent, if no other thread of the
 *     parent was within a call when it forked. Contexts, streams and samplers are the parent's: libllama has threads, and
 *     perhaps a GPU, that a child has not.
 *   - Callbacks: what calls back is in use until it returns. Inside, another call on the same matcher, stream or sampler
 *     is ELIZA_ERR_BUSY, and freeing or closing it does nothing (a sampler must not be freed while it is in use: it would
 *     never be freed completely); only what changes nothing (last_error, info, leaf, stats, stop_reason),
 *     eliza_inference_llm_stream_cancel, and what eliza_llm_token_callback says, work in the callback's own thread. Inside
 *     a log callback all functions of sections 7 and 8, and opening a stream or a sampler, are ELIZA_ERR_BUSY too. Other
 *     handles may be used, and the caller's references of a vocabulary or constraint freed.
 *   - Streams and contexts are looked up in a table, so that a closed one is told from an open one
 *     (ELIZA_ERR_CLOSED). Using a freed vocabulary, constraint or matcher is undefined, as with
 *     free(); freeing NULL does nothing.
 */
#ifndef ELIZA_INFERENCE_H
#define ELIZA_INFERENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. Library ---------------------------------------------------------------------------- */

/* The context and stream functions have the signatures of the host's ABI 15. Additions leave this
 * number as it is: look a function up by name before using it with an older build. */
#define ELIZA_INFERENCE_ABI_VERSION 15

/* The ABI version in decimal, "15"; "13" if the environment variable ELIZA_INFERENCE_ABI is 13, for a host of that
 * version: its eliza_llm_stream_config_t ends before `context_size`, and is then read as that. [static] */
const char *eliza_inference_abi_version(void);

/* The version of this library, "1.2.3". [static] */
const char *eliza_inference_version(void);

/* Frees a string that this library returned through `out_error`. NULL does nothing. */
void eliza_inference_free_string(char *string);

/* The status of the failure that a message from `out_error` is about, for functions that return a
 * pointer. ELIZA_OK for NULL. */
int eliza_inference_error_status(const char *error);

/* The name of a status, "ELIZA_ERR_INVALID_ARG"; "ELIZA_ERR_UNKNOWN" for any other value. [static] */
const char *eliza_inference_status_name(int status);

/* Log levels. */
#define ELIZA_LOG_ERROR 0
#define ELIZA_LOG_WARN 1
#define ELIZA_LOG_INFO 2

/* Receives a message of `length` bytes (also NUL-terminated), valid during the call only. May be
 * called from any thread that calls this library, in the middle of any function: see "Callbacks" for what it may not
 * call. */
typedef void (*eliza_log_callback)(int32_t level, const char *message, size_t length, void *user_data);

/* Sets the receiver of log messages for the whole process; NULL turns logging off (the default).
 * Callback and user_data must stay valid until they are replaced. [keeps callback, user_data] */
void eliza_inference_set_log_callback(eliza_log_callback callback, void *user_data);

/* ---- 2. Errors ----------------------------------------------------------------------------- */

#define ELIZA_OK 0 /* the call succeeded */
#define ELIZA_ERR_UNSUPPORTED (-1)     /* this build does not support it: the message names it */
#define ELIZA_ERR_INVALID_ARG (-2)     /* NULL, out of range, wrong struct_size */
#define ELIZA_ERR_BUNDLE_INVALID (-3)  /* the model file is missing or damaged */
#define ELIZA_ERR_FFI_FAULT (-4)       /* libllama failed: the message says in which call */
#define ELIZA_ERR_OOM (-5)             /* memory could not be allocated; nothing changed */
#define ELIZA_ERR_ABI_MISMATCH (-6)    /* libllama is missing, of unknown layout, or lacks a symbol */
#define ELIZA_ERR_CANCELLED (-7)       /* eliza_inference_llm_stream_cancel was called */
#define ELIZA_ERR_BUSY (-8)            /* the handle is in use: by another thread, or by the call whose callback this is in */
#define ELIZA_ERR_CLOSED (-9)          /* the handle was closed, or is not one of this kind */
#define ELIZA_ERR_PAYLOAD (-10)        /* the payload is malformed: the message gives the path */
#define ELIZA_ERR_LIMIT (-11)          /* beyond a limit: one below, or the caller's own */
#define ELIZA_ERR_MODEL_MISMATCH (-12) /* the payload or the slot file is for another model */
#define ELIZA_ERR_UNKNOWN_PATH (-13)   /* no descriptor has this path */
#define ELIZA_ERR_CONTEXT_FULL (-14)   /* the tokens do not fit the context; nothing was decoded */
#define ELIZA_ERR_IO (-15)             /* a slot file cannot be read or written */
#define ELIZA_ERR_STATE (-16)          /* not possible now, such as `next` before `prefill` */
#define ELIZA_ERR_GRAMMAR (-17)        /* a regular expression or grammar is wrong: the message gives the place */
#define ELIZA_ERR_FILE_INVALID (-18)   /* a file is damaged, of another version, or for another vocabulary */

/* ---- 3. Limits ----------------------------------------------------------------------------- */

#define ELIZA_PAYLOAD_BYTES_MAX 67108864  /* bytes of one payload (64 MiB) */
#define ELIZA_PAYLOAD_DEPTH_MAX 64        /* nesting of arrays and objects */
#define ELIZA_DESCRIPTORS_MAX 4096        /* descriptors in a payload */
#define ELIZA_LEAVES_MAX 1048576          /* leaves in a payload, all descriptors together */
#define ELIZA_LEAF_TOKENS_MAX 4096        /* tokens of one leaf */
#define ELIZA_TOKENS_MAX 16777216         /* tokens in a payload: leaves, triggers and ends */
#define ELIZA_TRIGGERS_MAX 64             /* triggers of one descriptor */
#define ELIZA_TRIGGER_TOKENS_MAX 64       /* tokens of one trigger */
#define ELIZA_END_TOKENS_MAX 16           /* end tokens of one descriptor */
#define ELIZA_NAME_BYTES_MAX 65535        /* bytes of a name, a path or a model id */
#define ELIZA_SPAN_TIMEOUT_TOKENS 500     /* default span timeout */
#define ELIZA_ROLLBACK_TOKENS_MAX 65536   /* tokens that a matcher can take back */
#define ELIZA_HANDLES_MAX 2048            /* contexts open at a time, and streams */
#define ELIZA_REGEX_BYTES_MAX 1048576     /* bytes of one regular expression (1 MiB) */
#define ELIZA_GRAMMAR_BYTES_MAX 16777216  /* bytes of one grammar (16 MiB) */
#define ELIZA_TERMINALS_MAX 1023          /* terminals of one grammar */
#define ELIZA_CHOICES_MAX 16777216        /* strings of one set of choices */
#define ELIZA_CHOICES_BYTES_MAX 1073741824 /* bytes of all of them (1 GiB) */
#define ELIZA_COMPILE_STATES 65535        /* states of one automaton: default and maximum */
#define ELIZA_COMPILE_BYTES 268435456     /* default limit on memory for compiling (256 MiB) */
#define ELIZA_MASK_BYTES 67108864         /* default limit on masks and tables kept (64 MiB) */
#define ELIZA_TRIE_CACHE_ENTRIES 128      /* compiled payloads kept */
#define ELIZA_TRIE_CACHE_BYTES 33554432   /* default limit on their memory (32 MiB) */

/* ---- 4. Vocabulary ------------------------------------------------------------------------- */

/* The tokens of a model: their bytes, flags and byte trie. Reference-counted, shared by threads. */
typedef struct eliza_vocab eliza_vocab;

#define ELIZA_TOKEN_SPECIAL 1u           /* a control token: its text is not output */
#define ELIZA_TOKEN_END_OF_GENERATION 2u /* ends the generation */
#define ELIZA_TOKEN_UNUSED 4u            /* never produced */

/* What a vocabulary is made from. */
typedef struct eliza_vocab_config_t {
    uint32_t struct_size;
    int32_t n_tokens;        /* vocabulary size: token ids are 0 .. n_tokens-1; at least 1 */
    const char *model_id;    /* UTF-8, compared with a payload's modelId; length 0: unknown */
    size_t model_id_len;     /* bytes */
    const uint8_t *bytes;    /* bytes of all tokens, one after another; NULL: unknown */
    const uint64_t *offsets; /* n_tokens+1 ascending offsets into `bytes`; NULL with `bytes` NULL */
    const uint8_t *flags;    /* n_tokens sets of ELIZA_TOKEN_*; NULL: all 0 */
} eliza_vocab_config_t;

/* Copies everything. The caller owns *out_vocab (eliza_inference_vocab_free). */
int eliza_inference_vocab_create(const eliza_vocab_config_t *config, eliza_vocab **out_vocab, char **out_error);

/* Drops the caller's reference; constraints made from it keep their own. */
void eliza_inference_vocab_free(eliza_vocab *vocab);

/* Number of tokens, or a negative status. */
int eliza_inference_vocab_size(const eliza_vocab *vocab);

/* Lends the bytes of one token (not terminated; length 0 if they are unknown) and gives its
 * ELIZA_TOKEN_* flags. `out_bytes`, `out_len` and `out_flags` may each be NULL. [lent by vocab] */
int eliza_inference_vocab_token(const eliza_vocab *vocab, int32_t token, const uint8_t **out_bytes, size_t *out_len,
                                uint32_t *out_flags);

/*
 * The recognizers of section 5 walk the vocabulary as a trie of bytes, built when first needed;
 * `prepare` builds it now. It leaves out tokens without bytes and special, end-of-generation and
 * unused tokens: no text contains them. A vocabulary that is padded beyond its tokens ends with
 * tokens without bytes. ELIZA_ERR_INVALID_ARG if the token bytes are unknown, ELIZA_ERR_LIMIT for
 * more than 2,097,152 tokens or 4,194,303 trie nodes.
 */
int eliza_inference_vocab_prepare(const eliza_vocab *vocab, char **out_error);

#define ELIZA_PREFILL_BYTES_MAX 256 /* bytes that token healing takes back */

/*
 * Token healing: a prompt that ends inside a word ends with tokens that the model would not write if it knew what
 * follows. Gives how many of its tokens to keep: the most tokens of text at its end that, as one text of at most
 * ELIZA_PREFILL_BYTES_MAX bytes, begin a longer token, are taken back. The bytes of those are the `prefill` of an
 * eliza_span_config_t: the first tokens spell them again, and continue as the constraint allows.
 */
int eliza_inference_vocab_heal(const eliza_vocab *vocab, const int32_t *tokens, size_t n_tokens, size_t *out_n_kept,
                               char **out_error);

/* The sizes of a vocabulary. */
typedef struct eliza_vocab_info_t {
    uint32_t struct_size;
    uint32_t n_tokens;
    uint32_t n_nodes;        /* of the byte trie, including the root; 0: not prepared */
    uint32_t n_duplicates;   /* tokens with the same bytes as another one */
    uint32_t missing_bytes;  /* bytes that are no token by themselves: where one of them is the only
                                legal byte, there may be no legal token */
    uint32_t longest_token;  /* bytes of the longest token */
    uint64_t fingerprint;    /* of the token bytes and flags: saved constraints are compared with it */
    uint64_t retained_bytes; /* memory in use, including mapped files */
} eliza_vocab_info_t;

/* Fills `out_info`. */
int eliza_inference_vocab_info(const eliza_vocab *vocab, eliza_vocab_info_t *out_info);

/* Writes the vocabulary with its byte trie to a file that `open` maps. `path` is UTF-8. */
int eliza_inference_vocab_save(const eliza_vocab *vocab, const char *path, size_t path_len, char **out_error);

/* Opens such a file by mapping it, whoever wrote it: all that it says is checked, and a damaged file is
 * ELIZA_ERR_FILE_INVALID. The file must not change while the vocabulary lives; if it shrinks, the
 * process may be killed. */
int eliza_inference_vocab_open(const char *path, size_t path_len, eliza_vocab **out_vocab, char **out_error);

/* How files of vocabularies and constraints are opened. */
#define ELIZA_OPEN_TRUSTED 1u /* only header, version and checksum are checked, which detects corruption, not tampering */
#define ELIZA_OPEN_COPY 2u    /* read into memory, not mapped: then the file may change */

/* The same; `flags` are of ELIZA_OPEN_*. */
int eliza_inference_vocab_open_with(const char *path, size_t path_len, uint32_t flags, eliza_vocab **out_vocab,
                                    char **out_error);

/* Tokenizes a text: writes up to `cap` ids and returns how many there are, or a negative number if it
 * cannot. Adds no special tokens. */
typedef int32_t (*eliza_tokenize_callback)(const uint8_t *text, size_t text_len, int32_t *out_tokens, size_t cap,
                                           void *user_data);

/* Sets the model's own tokenizer, for forced tokens and canonical choices; without one, text is
 * tokenized longest token first. It is called during calls on matchers and constraints of this
 * vocabulary, on the threads of these calls. Callback and `user_data` must stay valid until they are
 * replaced or the vocabulary and all that was made from it are freed; NULL removes it. The vocabulary
 * of a context has one. Must not be called while other threads use the vocabulary.
 * [keeps tokenize, user_data] */
int eliza_inference_vocab_set_tokenizer(eliza_vocab *vocab, eliza_tokenize_callback tokenize, void *user_data);

/* ---- 5. Constraint ------------------------------------------------------------------------- */

/* Compiled, immutable, reference-counted. */
typedef struct eliza_constraint eliza_constraint;

/*
 * Compiles a TokenTreePayload, or finds it in the cache (a hit does no parsing).
 *
 *   { "modelId": string,
 *     "descriptors": [ { "path": string,
 *                        "leaves": [ { "name": string, "tokens": [id, ...] }, ... ],  or a language, see below
 *                        "trigger": [[id, ...], ...],      optional
 *                        "end": [id, ...] }, ... ],        optional
 *     "names": "text" | "labels" }                          optional
 *
 * as JSON (UTF-8, no BOM; first byte `{` or white space) or as MessagePack (first byte a map). The
 * same tree in both gives the same constraint. Unknown keys are ignored, with their values. Ids
 * are JSON integers without fraction or exponent, or MessagePack integers. Errors: a missing,
 * wrongly typed or repeated key of the format; no descriptor, no leaf, an empty list of triggers; a
 * leaf, a trigger or an `end` without tokens; a MessagePack key that is not a string; two descriptors
 * with one path; one trigger in two descriptors; an id outside the vocabulary; an end token that is
 * also a child of a leaf's node; trailing bytes; anything beyond the limits. If two leaves have the
 * same tokens, the smaller name (by its UTF-8 bytes) stays.
 *
 * A payload for another vocabulary is ELIZA_ERR_MODEL_MISMATCH: one with another model id, where both are
 * known, and one with a leaf whose tokens, as far as their bytes are known, spell no text that contains
 * its name. "names": "labels" says that names are not what their tokens spell. A model id "vocabulary:" with 16
 * hexadecimal digits is the fingerprint of a vocabulary (eliza_vocab_info_t), and compared with the
 * model's, whatever the model's id. (Samplers of section 11 know no bytes.)
 *
 * Spans. Without triggers the descriptors are active one after the other, in their order: the first at
 * once, each other when a token has ended the span before. With triggers, a span is activated when the
 * tokens accepted since the last span end with one: the first to complete fires, of several on one token
 * the longest. A caller may activate any by path; then nothing follows in order until a reset. A leaf that no other continues ends the
 * span. At a leaf that is a prefix of another, with `end`: the children and the end tokens are
 * legal, and an end token ends the span; without `end`: everything is allowed for one token, which
 * either continues another leaf or is not part of the span, and ends it.
 *
 * Languages. In place of `leaves` a descriptor may have one of `json_schema` (with `schema_options`), `regex`, `lark`,
 * `gbnf`, `ebnf` and `choices`, as a tag has (docs/reference/tags.md): its span is any text of that, in any tokenisation. The
 * vocabulary needs bytes (ELIZA_ERR_INVALID_ARG). A text that nothing can continue ends the span. Where it is complete
 * and can continue, it is as at a leaf that is a prefix of another; an end token that could also continue the text ends the
 * span. A text that was complete when its span ended is told as a leaf's name is, before the first token of the next
 * span. Of such a descriptor an unknown key is an error. One in a language is ELIZA_ERR_GRAMMAR or ELIZA_ERR_LIMIT, and its
 * message begins with the place, such as `descriptors[1].regex: `. The trie is found in the cache, and the languages
 * are compiled again; a stream finds its last ones. All of them together have the default budget of one constraint.
 */
int eliza_inference_constraint_create_token_trie(const eliza_vocab *vocab, const char *payload, size_t payload_len,
                                                 eliza_constraint **out_constraint, char **out_error);

/*
 * Recognizers. The constraints below allow any text that the recognizer accepts, in any tokenisation:
 * a token is legal if its bytes continue a text that can still be accepted. Where the text so far is
 * complete, the end tokens of the matcher are legal too.
 */

/* A non-zero return cancels: ELIZA_ERR_CANCELLED. Called from the compiling thread. */
typedef int (*eliza_cancel_callback)(void *user_data);

/* What compiling may use. 0 in a field is its default, NULL for the struct all defaults. Beyond a
 * limit: ELIZA_ERR_LIMIT, with what was being built. */
typedef struct eliza_compile_config_t {
    uint32_t struct_size;
    uint32_t states_max;          /* states of each automaton; default and maximum: ELIZA_COMPILE_STATES */
    uint64_t bytes_max;           /* memory for compiling; default ELIZA_COMPILE_BYTES */
    uint64_t ms_max;              /* wall clock; default: no limit. What the vocabulary prepares once does not count */
    uint64_t mask_bytes_max;      /* masks and tables that the constraint keeps; default ELIZA_MASK_BYTES. Where it is given,
                                     what each JSON Schema keeps of texts is bounded by it too, or by 1 MiB if that is more;
                                     else by 1 GiB. Beyond that, texts that lead to anything new are ELIZA_ERR_LIMIT.
                                     When no matcher is left, it is dropped if it is more than half of either bound */
    eliza_cancel_callback cancel; /* NULL: never */
    void *user_data;
    uint64_t mask_ms_max;         /* wall clock of each later call on a matcher of the constraint; default: no limit.
                                     Beyond it the call is ELIZA_ERR_LIMIT, and the matcher is as it was */
} eliza_compile_config_t;

#define ELIZA_CHOICES_CANONICAL 1u /* only as the vocabulary's tokenizer tokenizes them: gives a token trie
                                      whose one descriptor has the path "choices" */

/* Any of `n_choices` strings: string i is the bytes from offsets[i] up to offsets[i+1]
 * (n_choices + 1 ascending offsets). Repeated strings count once; an empty one is
 * ELIZA_ERR_INVALID_ARG. */
int eliza_inference_constraint_create_choices(const eliza_vocab *vocab, const uint8_t *bytes, const uint64_t *offsets,
                                              size_t n_choices, uint32_t flags, const eliza_compile_config_t *config,
                                              eliza_constraint **out_constraint, char **out_error);

#define ELIZA_REGEX_IGNORE_CASE 1u /* as (?i) at the start */
#define ELIZA_REGEX_SEARCH 2u      /* the pattern matches anywhere in a text, not the whole: only `^` and `$` hold it to an edge */

/*
 * Texts that the whole pattern matches (UTF-8; anchored at both ends). The dialect:
 *
 *   x  \.  \n \r \t \f \v \a \e \0  \xHH  \x{H...}  \uHHHH  \u{H...}  \UHHHHHHHH   characters
 *   .                     any character but \n (with flag s: any)
 *   [a-z] [^a-z] [\d_]    classes; inside them && -- ~~ are no operators
 *   \d \D \w \W \s \S      Unicode: decimal digits, word characters, white space
 *   \pL \p{Lu} \P{Greek} \p{scx=Greek} \p{Emoji}        general category, script, binary property
 *   xy x|y (x) (?:x) (?<name>x)                     groups do not capture
 *   x* x+ x? x{n} x{n,} x{n,m}, also with a trailing ? (the same language)
 *   (?=x) (?!x) (?<=x) (?<!x) \b \B                  look-around; within it ^ and $ are the text's edges
 *   (?i) (?s) (?x) (?is-x:y)                        ignore case, dot is all, verbose
 *   ^ $ \A \z \Z          at the edges of the pattern only (`^a$|^b$` too): they change nothing but with ELIZA_REGEX_SEARCH
 *   (?#comment)
 *
 * For what two patterns both match, or one does not match, use a grammar of two lines: `start: T` and
 * `T: /[a-z]+/ & ~/if|then/`.
 *
 * Not regular or unsupported: back-references, possessive and atomic groups, and with ELIZA_REGEX_SEARCH
 * an anchor beside look-around. Each is an error that begins with the offset, "at byte 12: ". Texts are always valid UTF-8.
 * Classes are those of Unicode 18.0; \w and \s follow its Technical Standard 18.
 */
int eliza_inference_constraint_create_regex(const eliza_vocab *vocab, const char *pattern, size_t pattern_len,
                                            uint32_t flags, const eliza_compile_config_t *config,
                                            eliza_constraint **out_constraint, char **out_error);

/*
 * Texts of a context-free grammar in Lark's notation, an ambiguous one too. docs/reference/grammars.md describes
 * the notation, which words are read where (with contextual lexing, the longest match with reserved words, or in any way), and
 * what is unsupported. An error message begins with "line:column: ".
 */
int eliza_inference_constraint_create_lark(const eliza_vocab *vocab, const char *grammar, size_t grammar_len,
                                           const eliza_compile_config_t *config, eliza_constraint **out_constraint,
                                           char **out_error);

/*
 * Gives a grammar in Lark's notation (UTF-8) that `%import` names: `name` is `a.b` for `%import a.b.RULE` and for
 * `%import .a.b.RULE`; or what `@name` names: such a grammar, or a JSON Schema, which is a JSON object or `true` or `false`; or
 * the schema that references in such schemas lead to by the URI `name`. If there is one, sets `*out_text`, which is NULL, and
 * `*out_len`; the text is copied at once, and stays the caller's. A non-zero return cancels: ELIZA_ERR_CANCELLED. Called
 * from the compiling thread, at most once for each name that has a grammar; it may compile other constraints.
 */
typedef int (*eliza_grammar_callback)(const char *name, size_t name_len, const char **out_text, size_t *out_len,
                                      void *user_data);

/* Options for grammars in Lark's notation. */
typedef struct eliza_lark_options_t {
    uint32_t struct_size;
    uint32_t flags;    /* 0 */
    const char *start; /* the rule that a text is of; NULL: "start" */
    size_t start_len;
    eliza_grammar_callback grammar; /* NULL: there are none but `common` */
    void *user_data;
} eliza_lark_options_t;

/* As eliza_inference_constraint_create_lark, with options; NULL: all defaults. */
int eliza_inference_constraint_create_lark_with(const eliza_vocab *vocab, const char *grammar, size_t grammar_len,
                                                const eliza_lark_options_t *options, const eliza_compile_config_t *config,
                                                eliza_constraint **out_constraint, char **out_error);

#define ELIZA_GBNF_EBNF 1u /* XGrammar's EBNF, which grew out of GBNF */

/*
 * Texts of a context-free grammar in GBNF, the notation of llama.cpp 0.5.0: any grammar, ambiguous or left-recursive
 * ones too. Its characters are the terminals: there is no lexer. docs/reference/gbnf.md describes the notation and how it
 * differs from llama.cpp's. `root` names the rule that a text is of; NULL: "root". An error message begins with
 * "line:column: ". The constraint's kind is that of what the grammar became: ELIZA_CONSTRAINT_GRAMMAR, or
 * ELIZA_CONSTRAINT_REGEX if it is regular and names no tokens.
 */
int eliza_inference_constraint_create_gbnf(const eliza_vocab *vocab, const char *grammar, size_t grammar_len,
                                           const char *root, size_t root_len, uint32_t flags,
                                           const eliza_compile_config_t *config, eliza_constraint **out_constraint,
                                           char **out_error);

/* Likely mistakes that compiling found, one line each: terminals that the lexing rule can never separate,
 * rules that produce nothing, rules that are never used, a vocabulary without a token for each byte.
 * "" if there are none. [lent by constraint] */
const char *eliza_inference_constraint_warnings(const eliza_constraint *constraint);

/* Builds now every table that would be built at first use, up to mask_bytes_max. `config` limits this
 * call (states_max and mask_bytes_max are not read); beyond ms_max or cancelled, what was built stays. */
int eliza_inference_constraint_prepare(const eliza_constraint *constraint, const eliza_compile_config_t *config,
                                       char **out_error);

/* White space between the tokens of a JSON text. */
#define ELIZA_JSON_SPACE_LOOSE 0   /* at each place none, one space, or one newline and up to 32 spaces or tabs */
#define ELIZA_JSON_SPACE_COMPACT 1 /* none */
#define ELIZA_JSON_SPACE_SPACED 2  /* one space after each comma and colon, as Python's json.dumps writes */
#define ELIZA_JSON_SPACE_ANY 3

/* In which order the members of an object come. */
#define ELIZA_JSON_ORDER_DECLARED 0 /* the keys of `properties` in order, then other required ones, then the rest */
#define ELIZA_JSON_ORDER_ANY 1

#define ELIZA_JSON_LENIENT 1u          /* what cannot be enforced exactly is a warning, and ignored, in place of an error */
#define ELIZA_JSON_INTEGER_FRACTION 2u /* an integer may be spelled 1.0; not in draft 4 */
#define ELIZA_JSON_NUMBERS_DOUBLE 4u   /* at most 17 significant digits, 24 bytes, and finite; integers: 64 bits */
#define ELIZA_JSON_ADDITIONAL_FORBID 8u /* no members but those that a schema names, where it names some */

/* The draft of a schema that has no `$schema`. */
#define ELIZA_JSON_DRAFT_2020_12 0
#define ELIZA_JSON_DRAFT_2019_09 1
#define ELIZA_JSON_DRAFT_7 2
#define ELIZA_JSON_DRAFT_6 3
#define ELIZA_JSON_DRAFT_4 4

/*
 * Gives the document (a JSON Schema, UTF-8) that a `$ref` or `$schema` leads to. `uri` has no fragment, and is absolute if
 * the schema that refers to it has an absolute `$id`. If there is such a document, sets `*out_text`, which is NULL, and
 * `*out_len`; the text is copied at once, and stays the caller's. A non-zero return cancels: ELIZA_ERR_CANCELLED.
 * Called from the compiling thread, at most once for each URI that has a document; it may compile other constraints.
 */
typedef int (*eliza_json_document_callback)(const char *uri, size_t uri_len, const char **out_text, size_t *out_len,
                                            void *user_data);

/* Options for JSON Schemas. */
typedef struct eliza_json_schema_options_t {
    uint32_t struct_size;
    uint32_t flags;                        /* ELIZA_JSON_LENIENT, ELIZA_JSON_INTEGER_FRACTION, ... */
    int32_t space;                         /* ELIZA_JSON_SPACE_* */
    int32_t draft;                         /* ELIZA_JSON_DRAFT_* */
    eliza_json_document_callback document; /* NULL: there are no other documents but the drafts' meta-schemas */
    void *user_data;
    int32_t order; /* ELIZA_JSON_ORDER_* */
} eliza_json_schema_options_t;

/*
 * A JSON document that is valid against a JSON Schema (UTF-8; draft 2020-12, or the one that `$schema` names).
 * A token is legal if and only if some completion of the text is valid. docs/reference/json-schema.md says for each keyword what
 * is done. No key comes twice. `options` NULL: all defaults. A schema that is wrong, or that nothing satisfies: ELIZA_ERR_GRAMMAR with
 * the JSON Pointer of the place.
 */
int eliza_inference_constraint_create_json_schema(const eliza_vocab *vocab, const char *schema, size_t schema_len,
                                                  const eliza_json_schema_options_t *options,
                                                  const eliza_compile_config_t *config,
                                                  eliza_constraint **out_constraint, char **out_error);

/* Limits of a descriptor of tags. */
#define ELIZA_TAGS_DESCRIPTOR_BYTES_MAX 16777216
#define ELIZA_TAGS_MAX 4096
#define ELIZA_TAGS_TEXT_BYTES_MAX 16384 /* triggers and excluded texts together; without triggers, begin texts are triggers */
#define ELIZA_TAGS_BEGIN_BYTES_MAX 1048576 /* begin texts together */
#define ELIZA_TAGS_END_BYTES_MAX 127
#define ELIZA_TAGS_COUNT_MAX 1024 /* of at_least and at_most */

/*
 * Free text with parts in it: a begin text opens a part, which is a text of a language of its own, up to an end text;
 * then free text continues. `descriptor` is JSON or MessagePack, such as {"tags": [{"begin": "<call>", "json_schema":
 * {"type": "object"}, "end": "</call>"}]}; of XGrammar's structural tags, triggered tags are read too. The texts may be
 * tokens.
 * docs/reference/tags.md describes it, and which text is read how. What is wrong is ELIZA_ERR_GRAMMAR, with the place.
 */
int eliza_inference_constraint_create_tags(const eliza_vocab *vocab, const uint8_t *descriptor, size_t descriptor_len,
                                           const eliza_compile_config_t *config, eliza_constraint **out_constraint,
                                           char **out_error);

/* Writes a recognizer, with the tables that it has so far, to a file that `open` maps. Not for token
 * tries: ELIZA_ERR_INVALID_ARG. */
int eliza_inference_constraint_save(const eliza_constraint *constraint, const char *path, size_t path_len,
                                    char **out_error);

/* Opens such a file by mapping it, whoever wrote it, for a vocabulary with the same fingerprint. Of `config` only
 * mask_bytes_max and mask_ms_max are read; the mapped tables do not count. A damaged file, or one for another
 * vocabulary, is ELIZA_ERR_FILE_INVALID. The file must not change while the constraint lives; if it shrinks, the process
 * may be killed. Which texts a changed file allows is its writer's to say. The file of a JSON
 * Schema holds its text with the documents that it used, that of tags their descriptor, and is compiled again,
 * within `config`. */
int eliza_inference_constraint_open(const eliza_vocab *vocab, const char *path, size_t path_len,
                                    const eliza_compile_config_t *config, eliza_constraint **out_constraint,
                                    char **out_error);

/* The same; `flags` are of ELIZA_OPEN_*. */
int eliza_inference_constraint_open_with(const eliza_vocab *vocab, const char *path, size_t path_len, uint32_t flags,
                                         const eliza_compile_config_t *config, eliza_constraint **out_constraint,
                                         char **out_error);

/* The kinds of constraints. */
#define ELIZA_CONSTRAINT_TOKEN_TRIE 0
#define ELIZA_CONSTRAINT_CHOICES 1
#define ELIZA_CONSTRAINT_REGEX 2
#define ELIZA_CONSTRAINT_GRAMMAR 3
#define ELIZA_CONSTRAINT_JSON_SCHEMA 4
#define ELIZA_CONSTRAINT_TAGS 5

/* The kind and the sizes of a constraint. */
typedef struct eliza_recognizer_info_t {
    uint32_t struct_size;
    int32_t kind;            /* ELIZA_CONSTRAINT_* */
    uint32_t n_states;       /* of the choices' trie, of the regex's automaton, of the lexer */
    uint32_t n_parser_states;
    uint32_t n_terminals;
    uint32_t n_productions;
    uint32_t n_tables;       /* lexer states with a table */
    uint32_t n_masks;        /* masks kept */
    uint64_t automaton_bytes;/* memory of the compiled automata */
    uint64_t table_bytes;    /* memory of the tables and masks, at most mask_bytes_max */
} eliza_recognizer_info_t;

/* For a token trie all but the kind is 0: eliza_inference_constraint_info gives its sizes. With languages: the sums of
 * theirs. */
int eliza_inference_constraint_recognizer_info(const eliza_constraint *constraint, eliza_recognizer_info_t *out_info);

/* Drops the caller's reference; matchers keep their own. */
void eliza_inference_constraint_free(eliza_constraint *constraint);

/* The sizes of a token trie. */
typedef struct eliza_constraint_info_t {
    uint32_t struct_size;
    uint32_t n_descriptors;
    uint32_t n_leaves;            /* distinct token sequences, all descriptors */
    uint32_t n_nodes;             /* trie nodes, including roots and end nodes */
    uint32_t longest_leaf_tokens; /* tokens of the longest leaf */
    uint32_t widest_node;         /* most children of one node */
    uint64_t retained_bytes;      /* memory in use, including the copy of the payload */
} eliza_constraint_info_t;

/* Of a token trie; ELIZA_ERR_INVALID_ARG for a recognizer. */
int eliza_inference_constraint_info(const eliza_constraint *constraint, eliza_constraint_info_t *out_info);

/* Lends the path of a descriptor (UTF-8, not terminated). [lent by constraint] */
int eliza_inference_constraint_path(const eliza_constraint *constraint, uint32_t descriptor, const char **out_path,
                                    size_t *out_len);

/* The state of the cache of compiled payloads. */
typedef struct eliza_trie_cache_stats_t {
    uint32_t struct_size;
    uint32_t entries;
    uint64_t bytes;     /* memory of the entries */
    uint64_t bytes_max; /* the limit in force */
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
} eliza_trie_cache_stats_t;

/* The process has one cache, safe from any thread. A payload larger than the limit is compiled but not
 * kept. An entry in use outlives its eviction. */
int eliza_inference_trie_cache_stats(eliza_trie_cache_stats_t *out_stats);
int eliza_inference_trie_cache_set_limit(uint64_t bytes_max); /* evicts at once; 0 keeps nothing */

/* ---- 6. Matcher ---------------------------------------------------------------------------- */

/* The state of one text in a constraint. Cheap to make and to clone. */
typedef struct eliza_matcher eliza_matcher;

/* A fresh matcher. A span that has not ended after `span_timeout` tokens is deactivated; 0:
 * ELIZA_SPAN_TIMEOUT_TOKENS for a token trie, no timeout for a recognizer. ELIZA_ERR_LIMIT if a leaf
 * has more tokens. */
int eliza_inference_matcher_create(const eliza_constraint *constraint, uint32_t span_timeout,
                                   eliza_matcher **out_matcher, char **out_error);

/*
 * How the span of a recognizer ends. It is open from the start and has descriptor 0. `end` NULL: by
 * the vocabulary's end-of-generation tokens. End tokens are legal exactly where the text is complete,
 * close the span, and are the only legal tokens where nothing can follow; one that could also continue
 * the text closes the span. With `end` not NULL and n_end 0, the span ends by itself where nothing can
 * follow; where the text is complete but can continue, everything is allowed for one token: if it
 * continues the text, the span continues; otherwise it is not part of the span and ends it. With a vocabulary
 * without end-of-generation tokens, `end` must be given: ELIZA_ERR_INVALID_ARG. A token trie refuses a config with
 * end tokens: its payload has them.
 */
typedef struct eliza_span_config_t {
    uint32_t struct_size;
    uint32_t span_timeout; /* tokens; 0: as in eliza_inference_matcher_create */
    const int32_t *end;
    size_t n_end;          /* at most ELIZA_END_TOKENS_MAX */
    /* What the first tokens spell before the text of a recognizer begins: a token is legal if it spells a piece of
     * what is left of it, or all of that and then what the constraint takes. Copied. A reset begins with it again;
     * activate does not. */
    const uint8_t *prefill;
    size_t prefill_len; /* at most ELIZA_PREFILL_BYTES_MAX */
} eliza_span_config_t;

/* A fresh matcher; `config` NULL is all defaults. */
int eliza_inference_matcher_create_span(const eliza_constraint *constraint, const eliza_span_config_t *config,
                                        eliza_matcher **out_matcher, char **out_error);

/* Copies the position, the rollback history and the generator. */
int eliza_inference_matcher_clone(const eliza_matcher *matcher, eliza_matcher **out_matcher);

/* Frees the matcher. Does nothing while a call on it runs. */
void eliza_inference_matcher_free(eliza_matcher *matcher);

/* Text of the last failed call on this matcher; "" if there was none. [borrowed from matcher] */
const char *eliza_inference_matcher_last_error(const eliza_matcher *matcher);

/* What an accepted token did: a set of bits, the result of eliza_inference_matcher_accept. A token
 * outside any span that starts none gives 0. */
#define ELIZA_STEP_IN_SPAN 1      /* the token belongs to a span (an end token too) */
#define ELIZA_STEP_SPAN_ENDED 2   /* a span is over: after this token, or before it if not IN_SPAN */
#define ELIZA_STEP_SPAN_STARTED 4 /* a span is open after this token: a trigger fired, or the next in order */
#define ELIZA_STEP_TIMED_OUT 8    /* the span reached its timeout (with SPAN_ENDED) */
#define ELIZA_STEP_REFUSED 16     /* not allowed here: nothing changed */

/* Takes one token. A set of ELIZA_STEP_* bits, or ELIZA_ERR_INVALID_ARG for an id outside the
 * vocabulary. An end-of-generation token is a token like any other here. */
int eliza_inference_matcher_accept(eliza_matcher *matcher, int32_t token);

/* Takes back the last n_tokens accepted tokens with all that they did: activations, ends,
 * triggers, timeouts, counters. At most what was accepted since the last reset, and at most
 * ELIZA_ROLLBACK_TOKENS_MAX; otherwise ELIZA_ERR_INVALID_ARG and nothing changed. */
int eliza_inference_matcher_rollback(eliza_matcher *matcher, size_t n_tokens);

/* Back to the state right after creation, counters included. Seed and timeout stay. */
int eliza_inference_matcher_reset(eliza_matcher *matcher);

/* Opens a span at the root of the descriptor with this path; an open span starts over. The span of a
 * recognizer has the path "". */
int eliza_inference_matcher_activate(eliza_matcher *matcher, const char *path, size_t path_len);

/* Ends an open span without a leaf; triggers stay in force, and nothing follows in order until a reset. */
int eliza_inference_matcher_deactivate(eliza_matcher *matcher);

/* Changes the span timeout; at least 1. In force at once: the leaves are not checked again. */
int eliza_inference_matcher_set_span_timeout(eliza_matcher *matcher, uint32_t n_tokens);

/* Sets the state of the generator that eliza_inference_matcher_sample draws from (default 0). */
int eliza_inference_matcher_set_seed(eliza_matcher *matcher, uint64_t seed);

/* Where a text stands in its constraint. */
typedef struct eliza_span_state_t {
    uint32_t struct_size;
    int32_t active;          /* 1 in a span */
    int32_t descriptor;      /* index of the active descriptor, -1 outside a span */
    int32_t can_stop;        /* 1 outside a span and where a leaf or a text is complete */
    int32_t constrained;     /* 1 if the next token is restricted */
    uint32_t n_allowed;      /* legal next tokens if constrained, else 0 */
    uint32_t span_tokens;    /* tokens accepted in the open span */
    int32_t leaf_descriptor; /* descriptor of `leaf`, or of the text that the last span ended with; or -1 */
    int32_t leaf;            /* index in the payload of the leaf that is complete here, or, before the first
                                token of a span, that the last span ended with; -1: none, or a text */
    uint32_t reserved;
    uint64_t spans_started;  /* counters since creation or reset */
    uint64_t spans_ended;    /* by timeouts, deactivations and restarts too */
    uint64_t timeouts;
    uint64_t illegal;        /* spans that an illegal token ended (adapters only: matchers refuse) */
} eliza_span_state_t;

/* Fills `out_state`. */
int eliza_inference_matcher_state(eliza_matcher *matcher, eliza_span_state_t *out_state);

/* Lends the name of `leaf` of the state, or the text that the last span ended with: the bytes of its tokens, without
 * an end token (not terminated); length 0 and NULL if there is none. Good until the next call that changes the
 * matcher. [lent by matcher] */
int eliza_inference_matcher_leaf(const eliza_matcher *matcher, const char **out_name, size_t *out_len);

/* The forms of a set of legal tokens. */
#define ELIZA_ALLOWED_ALL 0 /* every token: nothing is constrained here */
#define ELIZA_ALLOWED_LIST 1 /* ascending ids */
#define ELIZA_ALLOWED_BITMAP 2 /* a bit for each token */

/* The legal next tokens in their natural form. Returns ELIZA_ALLOWED_ALL (*out_ids NULL),
 * ELIZA_ALLOWED_LIST with *out_n ascending ids, or ELIZA_ALLOWED_BITMAP with *out_n the number of
 * legal tokens and *out_ids NULL: eliza_inference_matcher_bitmap lends the bitmap. ELIZA_ERR_OOM if
 * memory is too short to compute them. [borrowed from matcher] */
int eliza_inference_matcher_allowed(eliza_matcher *matcher, const int32_t **out_ids, size_t *out_n);

/* Lends the legal next tokens as a bitmap, where that is their natural form: bit i % 32 of word i / 32
 * is token i, ceil(n_tokens / 32) words, the bits beyond the vocabulary 0. Returns ELIZA_ALLOWED_*,
 * with *out_words NULL unless it is ELIZA_ALLOWED_BITMAP. [borrowed from matcher] */
int eliza_inference_matcher_bitmap(eliza_matcher *matcher, const int32_t **out_words, size_t *out_n_words);

/* Writes the legal next tokens as such a bitmap, whatever their natural form: the layout of llguidance
 * and XGrammar. n_words is at least ceil(n_tokens / 32); words beyond it become 0. Returns
 * ELIZA_ALLOWED_ALL (all bits of the vocabulary set), LIST or BITMAP. */
int eliza_inference_matcher_fill_bitmap(eliza_matcher *matcher, int32_t *words, size_t n_words);

/* Fills the bitmaps of n matchers: row i of `words`, of n_words words, is for matcher i. Uses up to
 * n_threads threads (0: one for each processor), but no more than there are masks to compute. No
 * matcher may occur twice. With NULL and n_words 0 it computes the masks alone, so that the next call
 * on a matcher finds its own ready. Returns the status of the first failure, after all others are done. */
int eliza_inference_matcher_fill_bitmaps(eliza_matcher *const *matchers, size_t n, int32_t *words, size_t n_words,
                                         uint32_t n_threads);

/* 1 if the text may stop here (outside a span, at a complete leaf, where a recognizer's text or that of a
 * language is complete), else 0. */
int eliza_inference_matcher_can_stop(eliza_matcher *matcher);

/* The forced tokens. In a token trie: a run in which each step has one legal token and cannot stop, up to where the
 * span of a language begins or ends. In a recognizer, and in such a span: the forced bytes as the vocabulary's
 * tokenizer tokenizes them, up to the first token that a longer one could still replace; and an end token that is the
 * only legal token. Writes up to
 * `cap` ids; *out_n receives the length of the whole run, even if it is more than `cap`. `out_tokens`
 * may be NULL with cap 0. */
int eliza_inference_matcher_forced(eliza_matcher *matcher, int32_t *out_tokens, size_t cap, size_t *out_n);

#define ELIZA_FORCED_BYTES_MAX 65536 /* a longer run is cut there, and before if long searches are needed to find it */

/* The forced bytes of a recognizer, or in the span of a language: at each, no other byte can follow and the text cannot
 * stop. Written as above; none elsewhere in a token trie. */
int eliza_inference_matcher_forced_bytes(eliza_matcher *matcher, uint8_t *out_bytes, size_t cap, size_t *out_n);

/* The memory of a matcher, and how its masks were found. */
typedef struct eliza_matcher_info_t {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t retained_bytes; /* memory of this matcher, including the following */
    uint64_t history_bytes;  /* what rollback needs */
    uint64_t stack_bytes;    /* the parser's stacks */
    uint64_t mask_hits;      /* masks that were cached */
    uint64_t mask_misses;    /* masks that were computed */
} eliza_matcher_info_t;

/* Fills `out_info`. */
int eliza_inference_matcher_info(const eliza_matcher *matcher, eliza_matcher_info_t *out_info);

/* Sets the logits of illegal tokens to -inf; changes nothing if everything is allowed. `n_logits` is the
 * length of the array, at least the vocabulary size; logits beyond the vocabulary are masked too.
 * [updates logits] */
int eliza_inference_matcher_mask_logits(eliza_matcher *matcher, float *logits, size_t n_logits);

/* The floats of logits. */
#define ELIZA_LOGITS_F32 0
#define ELIZA_LOGITS_F16 1  /* IEEE 754, of 16 bits */
#define ELIZA_LOGITS_BF16 2 /* the upper half of 32 bits */
#define ELIZA_LOGITS_F64 3

/* Sets the logits of illegal tokens to -inf in rows of a batch: matcher i has the row rows[i], or i with `rows` NULL, which
 * begins that many times `stride` floats behind `logits`. `float_type` is one of ELIZA_LOGITS_*; `n_logits` is the length of a row,
 * at least the vocabulary size and at most `stride`; `logits` is aligned as its floats are. Logits beyond the vocabulary are
 * always masked; rows without a matcher stay. Masks that are not ready are computed first, with up to n_threads threads as in
 * eliza_inference_matcher_fill_bitmaps; no matcher may occur twice. Returns the status of the first failure; no logit has
 * changed then. [updates logits] */
int eliza_inference_matcher_mask_rows(eliza_matcher *const *matchers, size_t n, void *logits, int float_type, size_t n_logits,
                                      size_t stride, const uint32_t *rows, uint32_t n_threads);

#define ELIZA_MODE_GREEDY 0  /* the highest legal logit, of equal ones the smallest id */
#define ELIZA_MODE_SAMPLED 1 /* temperature, then top-p, over the legal tokens; then a draw */

/* How a token is chosen among the legal ones. */
typedef struct eliza_sampling_t {
    uint32_t struct_size;
    int32_t mode;      /* ELIZA_MODE_* */
    float temperature; /* <= 0: greedy; finite */
    float top_p;       /* 1 or more, or <= 0: off; the most likely token always stays */
} eliza_sampling_t;

/* Chooses among the legal tokens from `n_logits` (at least the vocabulary size) logits; does not
 * accept. NaN counts as -inf, and +inf as the largest number; if no legal token is above -inf, they count as equal. A
 * single legal token, and greedy mode, draw no random number. Returns ELIZA_OK and *out_token, or ELIZA_ERR_STATE if no
 * token is legal, which is so where only a byte can follow that no token begins with.
 *
 * Top-p keeps the most likely tokens, of equal ones the smaller id first, until their share reaches
 * top_p. The draw walks what is kept: by ascending id, with top_p below 1 by descending share. The
 * generator is SplitMix64 (Steele, Lea, Flood 2014) from the seed as state; a draw is its upper 53
 * bits / 2^53. Probabilities are computed without the C library, so the same logits and seed give
 * the same tokens on every platform. */
int eliza_inference_matcher_sample(eliza_matcher *matcher, const float *logits, size_t n_logits,
                                   const eliza_sampling_t *sampling, int32_t *out_token);

/* ---- 7. libllama --------------------------------------------------------------------------- */

/* Loads libllama from this file (path_len > 0), or searches: the environment variable
 * ELIZA_INFERENCE_LLAMA, a copy that is already in the process, then the folder of this library. Once
 * loaded it stays, and another explicit path is ELIZA_ERR_STATE. A version whose struct layouts are
 * not known is refused (ELIZA_ERR_ABI_MISMATCH) with a message that names it and those supported.
 * The functions of sections 8 to 10 search by themselves; section 11 uses only a copy that the
 * process has loaded, since the host's pointers belong to it. */
int eliza_inference_llama_load(const char *path, size_t path_len, char **out_error);

/* The libllama in use. */
typedef struct eliza_llama_info_t {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;    /* of the loaded file [static] */
    const char *version; /* as the library gives it, or "unknown" [static] */
    const char *layout;  /* name of the struct layout in use [static] */
} eliza_llama_info_t;

/* ELIZA_ERR_STATE if no libllama is loaded yet. */
int eliza_inference_llama_info(eliza_llama_info_t *out_info);

/* ---- 8. Context ---------------------------------------------------------------------------- */

/* A model that is open in this process. */
typedef struct EliInferenceContext EliInferenceContext;

/* Opens a model: a GGUF file, or a folder with one under `text/` (the first by name). The host's
 * `bundle_dir` is a NUL-terminated path. */
EliInferenceContext *eliza_inference_create(const char *bundle_dir, char **out_error);

/* Closes the context. Its open streams keep the model until they are closed. */
void eliza_inference_destroy(EliInferenceContext *ctx);

/* Names the model, in UTF-8; payloads with another modelId are then refused. Length 0: unknown. */
int eliza_inference_set_model_id(EliInferenceContext *ctx, const char *model_id, size_t model_id_len);

/* A vocabulary (section 4) with the model's token bytes, flags and id. */
int eliza_inference_vocab_from_context(EliInferenceContext *ctx, eliza_vocab **out_vocab, char **out_error);

/* Tokenises UTF-8 text. Free *out_tokens with eliza_inference_free_tokens. */
int eliza_inference_tokenize(EliInferenceContext *ctx, const char *text, size_t text_len, int add_special,
                             int parse_special, int **out_tokens, size_t *out_n, char **out_error);
void eliza_inference_free_tokens(int *tokens);

/* Writes the text of the tokens with a terminator. Returns its length in bytes; if that is
 * max_text_bytes or more, nothing but the terminator was written, and a buffer of the result + 1 is
 * needed. `out_text` may be NULL with max_text_bytes 0. */
int eliza_inference_detokenize(EliInferenceContext *ctx, const int *tokens, size_t n_tokens, int remove_special,
                               int unparse_special, char *out_text, size_t max_text_bytes, char **out_error);

/* Writes the embedding of a UTF-8 text, a vector of length 1, and its dimension to *out_dim, also if out_capacity is
 * less (ELIZA_ERR_INVALID_ARG). `out_embedding` may be NULL with out_capacity 0. The vectors of the tokens become one by
 * `pooling`. Of a text with more tokens than the model was trained with, the beginning counts, and the last token; a warning
 * is logged. Any thread, one at a time. */
#define ELIZA_POOLING_MEAN 1
#define ELIZA_POOLING_FIRST 2 /* that of the first token */
#define ELIZA_POOLING_LAST 3
int eliza_inference_embed(EliInferenceContext *ctx, const char *text, size_t text_len, int pooling,
                          float *out_embedding, size_t out_capacity, int *out_dim, char **out_error);

/* Advice about memory. The region "text" is the model: `acquire` reads its file into memory, `evict` gives the pages back,
 * which come again when they are used (Linux and Android; elsewhere the system decides), and what is kept for the next
 * embedding. "mtp" (also "dflash") is the drafting model: `evict` gives it back once no stream uses it. Any other region
 * is ELIZA_ERR_UNSUPPORTED. */
int eliza_inference_mmap_acquire(EliInferenceContext *ctx, const char *region_name, char **out_error);
int eliza_inference_mmap_evict(EliInferenceContext *ctx, const char *region_name, char **out_error);

int eliza_inference_tokenize_supported(void); /* 1 */
int eliza_inference_embed_supported(void);    /* 1 if streams are supported */

/* 1 if a libllama that this library can drive is loaded or found, else 0. */
int eliza_inference_llm_stream_supported(void);
int eliza_inference_llm_mtp_supported(void);      /* 1 if streams are supported: they draft */
int eliza_inference_llm_kv_quant_supported(void); /* 1 if streams are supported: cache_type_k and _v are supported */

/* ---- 9. Stream ----------------------------------------------------------------------------- */

/* One generation with a model: prompt, KV cache, settings, constraint. */
typedef struct EliLlmStream EliLlmStream;

/* The host's struct: no struct_size. 88 bytes with 64-bit pointers, 64 with 32-bit ones; in ABI 13 80 and 60. */
typedef struct eliza_llm_stream_config_t {
    int32_t max_tokens;           /* tokens to emit; 0: no limit */
    float temperature;            /* <= 0: greedy */
    float top_p;                  /* 1 or more, or <= 0: off */
    int32_t top_k;                /* <= 0: off */
    float repeat_penalty;         /* over the last 64 tokens; 1 or <= 0: off; at least 1e-6 */
    int32_t slot_id;              /* accepted, not used: each stream has its own KV cache */
    const char *prompt_cache_key; /* accepted, not used */
    int32_t draft_min;            /* shorter drafts are not tried; 0 or less: no drafts */
    int32_t draft_max;            /* tokens of a draft, at most ELIZA_DRAFT_TOKENS_MAX; 0 or less: no drafts */
    const char *mtp_drafter_path; /* GGUF file of a drafting model; NULL, "" or the model's own: prompt lookup */
    const char *gbnf_grammar;     /* GBNF with a rule `root` (docs/reference/gbnf.md); NULL or "": none. llama.cpp's own sampler
                                   * follows it if the environment variable ELIZA_INFERENCE_GRAMMAR is llama */
    int32_t disable_thinking;     /* 1: <think> is never sampled */
    int32_t n_gpu_layers;         /* layers on the GPU; 0: none, all on the CPU; -1: as the model was loaded */
    const char *cache_type_k;     /* "f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", */
    const char *cache_type_v;     /* "q5_1"; "qjl1_256" and "q4_polar" are supported as q4_0; NULL or "": f16 */
    int32_t context_size;         /* tokens; 0 or less: what the model was trained with; not in ABI 13 */
} eliza_llm_stream_config_t;

#define ELIZA_DRAFT_TOKENS_MAX 64 /* tokens of one draft */

/* Opens a stream on the context. The config and its strings are read during the call only.
 *
 * With draft_min and draft_max above 0 the stream drafts: a forward pass also decodes tokens that may follow, and as many
 * of them as the stream then chooses take no pass of their own. What it chooses, and the random numbers that it draws,
 * are as without drafts: each token is chosen from its logits by the same rule. (libllama may round the logits of several
 * tokens at once differently than those of one.) Drafts come from prompt lookup, where the last tokens stood earlier in
 * the text, or from a smaller model with the same vocabulary (ELIZA_ERR_MODEL_MISMATCH), which the context keeps for
 * its next stream; and the constraint or the grammar adds what they force, and refuses the rest. A model whose memory cannot
 * forget a part, such as a recurrent one, has no drafts. */
EliLlmStream *eliza_inference_llm_stream_open(EliInferenceContext *ctx, const eliza_llm_stream_config_t *cfg,
                                              char **out_error);

/* Decodes prompt tokens, together with output tokens not yet decoded; logits are ready after it.
 * May be called again at any time: the tokens are appended. They never reach the trie, the grammar
 * or the triggers. max_tokens and the time budget count from here. After the end of generation the
 * grammar starts over. If the tokens do not fit, ELIZA_ERR_CONTEXT_FULL and nothing changed; while a
 * token waits for room for its text, ELIZA_ERR_STATE. */
int eliza_inference_llm_stream_prefill(EliLlmStream *stream, const int32_t *token_ids, size_t num_tokens,
                                       char **out_error);

/* One step: forced tokens, at most one forward pass, one chosen token and the tokens that it
 * forces, and those that were drafted rightly; at most `tokens_cap` tokens. A step ends with the token that starts or ends
 * a span.
 * Returns 0 (more), 1 (final: see eliza_inference_llm_stream_stop_reason) or a status.
 *
 * `text_out` receives whole characters of UTF-8 and a terminator; it may be NULL with text_cap 0,
 * else text_cap is at least 5. An incomplete character is held back; at the end it becomes U+FFFD.
 * A token whose text does not fit is delivered by the next call. If it does not fit a whole buffer,
 * it comes in parts: calls that return 0 with *num_tokens_out 0, the token with its last part.
 * The end-of-generation token is not emitted. `drafter_drafted_out` receives how many tokens were drafted in this step,
 * `drafter_accepted_out` how many came out as drafted, in this step or one before; they may be NULL. */
int eliza_inference_llm_stream_next(EliLlmStream *stream, int32_t *tokens_out, size_t tokens_cap,
                                    size_t *num_tokens_out, char *text_out, size_t text_cap,
                                    int32_t *drafter_drafted_out, int32_t *drafter_accepted_out, char **out_error);

/* A non-zero return stops the generation. `token_text` is whole characters, NUL-terminated, valid
 * during the call only. If the output ends inside a character, a last call with token_id -1 brings
 * the U+FFFD for it. Inside: set, clear, activate, the settings and cancel are allowed and act
 * before the next token; prefill, next, generate, reset, save and restore are
 * ELIZA_ERR_BUSY, and close does nothing. */
typedef int (*eliza_llm_token_callback)(int32_t token_id, const char *token_text, void *user_data);

/* Steps until the end or until `max_tokens` tokens (0: as configured) were emitted. Returns 0 on
 * every ordinary end, ELIZA_ERR_CANCELLED on cancel. */
int eliza_inference_llm_stream_generate(EliLlmStream *stream, int32_t max_tokens, eliza_llm_token_callback on_token,
                                        void *user_data, char **out_error);

/* Makes the running and all later steps return ELIZA_ERR_CANCELLED until reset. Any thread. */
int eliza_inference_llm_stream_cancel(EliLlmStream *stream);

/* Empties the KV cache and goes back to the state right after open; the settings stay, and so does a
 * token trie, in the state right after set. `reset_keep` keeps the first n_keep tokens of the context, or all if
 * there are fewer, and returns how many it kept: the next prompt is appended to these. */
int eliza_inference_llm_stream_reset(EliLlmStream *stream);
int eliza_inference_llm_stream_reset_keep(EliLlmStream *stream, int32_t n_keep);

/* Closes the stream. NULL, a stream that is already closed and one on which a call runs do nothing: a stream that was closed
 * gives ELIZA_ERR_CLOSED afterwards. */
void eliza_inference_llm_stream_close(EliLlmStream *stream);

/* Stores the tokens and llama.cpp's sequence state in a file, after decoding what is pending. It is
 * written beside `filename` (with ".partial") and then takes its place. Both functions are for
 * regular files. */
int eliza_inference_llm_stream_save_slot(EliLlmStream *stream, const char *filename, char **out_error);

/* Restores them: checks model and context size, refills the penalty window, clears any trie and
 * switches the grammar off (logged). A failed restore leaves an empty, usable stream. */
int eliza_inference_llm_stream_restore_slot(EliLlmStream *stream, const char *filename, char **out_error);

/* Text of the last failed call on this stream; "" if there was none or it is closed.
 * [borrowed from stream] */
const char *eliza_inference_llm_stream_last_error(EliLlmStream *stream);

/* Settings that the host's config lacks. They act from the next token on. */
int eliza_inference_llm_stream_set_seed(EliLlmStream *stream, uint64_t seed);             /* default 0 */
int eliza_inference_llm_stream_set_sampling(EliLlmStream *stream, const eliza_sampling_t *sampling); /* `mode` is not read */
int eliza_inference_llm_stream_set_time_budget_ms(EliLlmStream *stream, uint64_t ms);     /* from the first step after prefill; 0: none */
int eliza_inference_llm_stream_set_span_timeout(EliLlmStream *stream, uint32_t n_tokens); /* of token tries set without one; at least 1 */
int eliza_inference_llm_stream_set_stop_at_span_end(EliLlmStream *stream, int on);        /* default 0; 1: that step is final */
int eliza_inference_llm_stream_set_skip_ahead(EliLlmStream *stream, int on);              /* default 1; 0: forced tokens one by one */
int eliza_inference_llm_stream_set_threads(EliLlmStream *stream, int32_t n_threads);      /* 1 .. 512 */

/* Why a stream stopped. */
#define ELIZA_STOP_NONE 0 /* not ended */
#define ELIZA_STOP_END_OF_GENERATION 1
#define ELIZA_STOP_MAX_TOKENS 2
#define ELIZA_STOP_SPAN_END 3
#define ELIZA_STOP_CALLBACK 4
#define ELIZA_STOP_TIME_BUDGET 5
#define ELIZA_STOP_CANCELLED 6
#define ELIZA_STOP_CONTEXT_FULL 7

/* Why the last step was final, or a negative status. `prefill`, `set`, `activate` and `generate`
 * let a stopped stream continue, except after the end of generation, which needs `prefill`. */
int eliza_inference_llm_stream_stop_reason(EliLlmStream *stream);

/* Counters of a stream. */
typedef struct eliza_llm_stream_stats_t {
    uint32_t struct_size;
    int32_t grammar_off;        /* 1: the grammar was switched off (a trie's token it refuses, a restore) */
    uint64_t prefill_passes;    /* calls of the model for prompts */
    uint64_t forward_passes;    /* calls of the model for output tokens */
    uint64_t decoded_tokens;    /* tokens in all of these calls, drafted ones included */
    uint64_t emitted_tokens;
    uint64_t sampled_tokens;    /* those of them that were chosen from logits */
    uint64_t forced_tokens;     /* the others: they needed no logits */
    uint64_t constrained_steps; /* choices inside a span, including one that ends the generation */
    uint64_t skipped_candidates;/* sum over constrained steps of vocabulary size - legal tokens */
    uint64_t fallbacks;         /* constrained steps in which no legal logit was above -inf */
    uint64_t grammar_rejections;/* unconstrained tokens that the grammar refused, so that it tested all */
    uint64_t sample_ns;         /* time in choosing tokens, including forced ones */
    uint64_t decode_ns;         /* time in the model */
    uint64_t context_tokens;    /* tokens in the KV cache */
    uint64_t pending_tokens;    /* accepted, not yet decoded */
    uint64_t drafted_tokens;
    uint64_t accepted_drafts;   /* drafted tokens that came out */
    uint64_t saved_passes;      /* choices that took no pass, since a draft had left the logits */
    uint64_t drafter_passes;    /* calls of the drafting model */
} eliza_llm_stream_stats_t;

/* What became of a draft, once its last token or another one came out, or the generation ended. */
typedef struct EliVerifierEvent {
    const int *accepted_token_ids; /* that came out as drafted [borrowed from the call] */
    size_t n_accepted;
    int rejected_from; /* the others by their places in the output since open or reset, half-open; both -1: none */
    int rejected_to;
    const int *corrected_token_ids; /* what came out in their place [borrowed from the call] */
    size_t n_corrected;
} EliVerifierEvent;

/* On the thread that steps. Inside, the functions of that stream are as in eliza_llm_token_callback. */
typedef void (*eliza_verifier_cb)(const EliVerifierEvent *event, void *user_data);

/* Sets what is told about the drafts of all streams of the context; NULL: nothing is. [keeps callback, user_data] */
int eliza_inference_set_verifier_callback(EliInferenceContext *ctx, eliza_verifier_cb callback, void *user_data,
                                          char **out_error);

/* Counters since open or reset. */
int eliza_inference_llm_stream_stats(EliLlmStream *stream, eliza_llm_stream_stats_t *out_stats);

/* ---- 10. Constraining a stream ------------------------------------------------------------- */

/* The name that the host has for a stream. */
typedef EliLlmStream *FfiLlmHandle;

/* Constrains the stream by a TokenTreePayload (section 5), in which nothing may follow a token that
 * ends the generation (ELIZA_ERR_PAYLOAD). mode: ELIZA_MODE_*; sampled uses the
 * stream's temperature, top_p and seed on the legal tokens only. Inside a span, penalties, top_k and
 * the grammar do not choose, but are fed. A failed call changes nothing. The message of a failure
 * is eliza_inference_llm_stream_last_error. */
int eliza_inference_set_token_trie(FfiLlmHandle handle, const char *payload, size_t payload_len, int mode);

/* Removes the trie, so that only the stream's grammar is left. Without a trie nothing happens. */
int eliza_inference_clear_token_trie(FfiLlmHandle handle);

/* Constrains the stream by any constraint, which replaces the present one. The constraint's vocabulary
 * must be that of the model: as many tokens, and for a recognizer the same bytes
 * (ELIZA_ERR_MODEL_MISMATCH). `config` NULL is all defaults; its span_timeout 0 means the stream's for a
 * token trie, none for a recognizer. Otherwise as eliza_inference_set_token_trie. */
int eliza_inference_set_constraint(FfiLlmHandle handle, const eliza_constraint *constraint, int mode,
                                   const eliza_span_config_t *config);

/* Removes the constraint or token trie. */
int eliza_inference_clear_constraint(FfiLlmHandle handle);

/* As eliza_inference_matcher_activate, on the stream's trie. ELIZA_ERR_STATE without a trie. */
int eliza_inference_llm_stream_activate(EliLlmStream *stream, const char *path, size_t path_len);

/* The span of the stream. Without a constraint: all 0, and -1 where an index is meant. */
int eliza_inference_llm_stream_state(EliLlmStream *stream, eliza_span_state_t *out_state);

/* Lends the name of the complete leaf or the text, as eliza_inference_matcher_leaf, until the next call on the stream.
 * [borrowed from stream] */
int eliza_inference_llm_stream_leaf(EliLlmStream *stream, const char **out_name, size_t *out_len);

/* ---- 11. Sampler for a foreign chain ------------------------------------------------------- */

/* Types of llama.cpp. */
struct llama_vocab;
struct llama_sampler;

/*
 * A llama_sampler that constrains the chain it is added to. Put it first, before truncating
 * samplers. mode 0: the best legal token is selected, whatever follows. mode 1: only the legal
 * candidates stay, and the chain continues with them. On the array of the whole vocabulary in id order
 * this costs O(legal). A legal logit that is NaN becomes -inf. Freed with the chain. NULL on a parse
 * error or an empty leaf set, or for a payload with languages, which need bytes: make a constraint of that.
 * [freed by llama_sampler_free]
 */
struct llama_sampler *llama_sampler_init_token_trie(const struct llama_vocab *vocab, const char *trie_descriptor_json,
                                                    int mode);

/* The same with a length, so that MessagePack works, and with a message. [freed by llama_sampler_free] */
struct llama_sampler *eliza_inference_sampler_init_token_trie(const struct llama_vocab *vocab, const char *payload,
                                                              size_t payload_len, int mode, char **out_error);

/* The same for any constraint, with the defaults of eliza_span_config_t. [freed by llama_sampler_free] */
struct llama_sampler *llama_sampler_init_constraint(const struct llama_vocab *vocab, const eliza_constraint *constraint,
                                                    int mode);
struct llama_sampler *eliza_inference_sampler_init_constraint(const struct llama_vocab *vocab,
                                                              const eliza_constraint *constraint, int mode,
                                                              const eliza_span_config_t *config, char **out_error);

/* The functions below take such a sampler only; any other gives ELIZA_ERR_INVALID_ARG. */
int eliza_inference_sampler_set_token_trie(struct llama_sampler *sampler, const char *payload, size_t payload_len,
                                           int mode, char **out_error);
int eliza_inference_sampler_clear_token_trie(struct llama_sampler *sampler);
int eliza_inference_sampler_set_constraint(struct llama_sampler *sampler, const eliza_constraint *constraint, int mode,
                                           const eliza_span_config_t *config, char **out_error);
int eliza_inference_sampler_activate(struct llama_sampler *sampler, const char *path, size_t path_len,
                                     char **out_error);
int eliza_inference_sampler_state(const struct llama_sampler *sampler, eliza_span_state_t *out_state);

/* ---- 12. Speech, images --------------------------------------------------------------------- */

/*
 * The host's loaders refuse a library that lacks one of these functions, which are of its ABI 15 with those of
 * sections 8 and 9. This library constrains text and has nothing of the kind: each `_supported` is 0, what opens
 * returns NULL, and what else fails returns ELIZA_ERR_UNSUPPORTED, with a message that names what is missing;
 * nothing is written but the message. (On 32-bit ARM the two functions that take a float give no message.)
 */

/* Speech synthesis. `cancel_tts` is ELIZA_OK: nothing runs that it could cancel. */
typedef int (*eliza_tts_chunk_cb)(const float *pcm, size_t n_samples, int is_final, void *user_data);
int eliza_inference_tts_stream_supported(void);
int eliza_inference_tts_synthesize(EliInferenceContext *ctx, const char *text, size_t text_len,
                                   const char *speaker_preset_id, float *out_pcm, size_t max_samples,
                                   char **out_error);
int eliza_inference_tts_synthesize_stream(EliInferenceContext *ctx, const char *text, size_t text_len,
                                          const char *speaker_preset_id, eliza_tts_chunk_cb on_chunk, void *user_data,
                                          char **out_error);
int eliza_inference_cancel_tts(EliInferenceContext *ctx, char **out_error);
int eliza_inference_encode_reference(EliInferenceContext *ctx, const float *pcm, size_t n_samples, int sample_rate_hz,
                                     int *out_K, int *out_ref_T, int **out_tokens, char **out_error);
int eliza_inference_kokoro_supported(void);
int eliza_inference_kokoro_load(EliInferenceContext *ctx, const char *gguf_path, const char *voice_bin_path,
                                int style_dim, char **out_error);
int eliza_inference_kokoro_synthesize(EliInferenceContext *ctx, const char *text, size_t text_len, float speed,
                                      float *out_pcm, size_t max_samples, char **out_error);
int eliza_inference_kokoro_sample_rate(EliInferenceContext *ctx);
int eliza_inference_kokoro_g2p_kind(EliInferenceContext *ctx);
int eliza_inference_kokoro_synthesize_ipa(EliInferenceContext *ctx, const char *ipa, size_t ipa_len, float speed,
                                          float *out_pcm, size_t max_samples, char **out_error);

/* Speech recognition. */
typedef struct EliAsrStream EliAsrStream;
int eliza_inference_asr_transcribe(EliInferenceContext *ctx, const float *pcm, size_t n_samples, int sample_rate_hz,
                                   char *out_text, size_t max_text_bytes, char **out_error);
int eliza_inference_asr_timestamps_supported(void);
int eliza_inference_asr_transcribe_timed(EliInferenceContext *ctx, const float *pcm, size_t n_samples,
                                         int sample_rate_hz, char *out_text, size_t max_text_bytes,
                                         int *out_word_start_ms, int *out_word_end_ms, size_t *io_n_words,
                                         char **out_error);
int eliza_inference_asr_stream_supported(void);
EliAsrStream *eliza_inference_asr_stream_open(EliInferenceContext *ctx, int sample_rate_hz, char **out_error);
int eliza_inference_asr_stream_feed(EliAsrStream *stream, const float *pcm, size_t n_samples, char **out_error);
int eliza_inference_asr_stream_partial(EliAsrStream *stream, char *out_text, size_t max_text_bytes, int *out_tokens,
                                       size_t *io_n_tokens, char **out_error);
int eliza_inference_asr_stream_finish(EliAsrStream *stream, char *out_text, size_t max_text_bytes, int *out_tokens,
                                      size_t *io_n_tokens, char **out_error);
void eliza_inference_asr_stream_close(EliAsrStream *stream);

/* Voice activity, wake words, speakers. */
typedef struct EliVad EliVad;
int eliza_inference_vad_supported(void);
EliVad *eliza_inference_vad_open(EliInferenceContext *ctx, int sample_rate_hz, char **out_error);
int eliza_inference_vad_process(EliVad *vad, const float *pcm, size_t n_samples, float *out_probability,
                                char **out_error);
int eliza_inference_vad_reset(EliVad *vad, char **out_error);
void eliza_inference_vad_close(EliVad *vad);

/* Wake words: unsupported. */
typedef struct EliWakeWord EliWakeWord;
int eliza_inference_wakeword_supported(void);
EliWakeWord *eliza_inference_wakeword_open(EliInferenceContext *ctx, int sample_rate_hz, const char *head_name,
                                           char **out_error);
int eliza_inference_wakeword_score(EliWakeWord *wake, const float *pcm, size_t n_samples, float *out_probability,
                                   char **out_error);
int eliza_inference_wakeword_reset(EliWakeWord *wake, char **out_error);
void eliza_inference_wakeword_close(EliWakeWord *wake);

/* Speaker recognition: unsupported. */
typedef struct EliSpeaker EliSpeaker;
int eliza_inference_speaker_supported(void);
EliSpeaker *eliza_inference_speaker_open(EliInferenceContext *ctx, const char *gguf_path, char **out_error);
int eliza_inference_speaker_embed(EliSpeaker *speaker, const float *pcm, size_t n_samples, float *out_embedding,
                                  char **out_error);
void eliza_inference_speaker_free(float *embedding);
void eliza_inference_speaker_close(EliSpeaker *speaker);

/* Diarization: unsupported. */
typedef struct EliDiariz EliDiariz;
int eliza_inference_diariz_supported(void);
EliDiariz *eliza_inference_diariz_open(EliInferenceContext *ctx, const char *gguf_path, char **out_error);
int eliza_inference_diariz_segment(EliDiariz *diariz, const float *pcm, size_t n_samples, int8_t *out_labels,
                                   size_t *io_n_labels, char **out_error);
void eliza_inference_diariz_close(EliDiariz *diariz);

/* The end of a turn, images. */
int eliza_inference_llm_eot_supported(void);
int eliza_inference_llm_eot_score(EliInferenceContext *ctx, const int32_t *token_ids, size_t num_tokens,
                                  int32_t target_token_id, float *out_target_prob, int32_t *out_top_token,
                                  float *out_top_prob, char **out_error);
int eliza_inference_vision_supported(void);
int eliza_inference_describe_image(EliInferenceContext *ctx, const uint8_t *image_bytes, size_t n_bytes,
                                   const char *mmproj_path, const char *prompt, char *out_text, size_t max_text_bytes,
                                   char **out_error);
int eliza_inference_vision_stream_supported(void);
EliLlmStream *eliza_inference_describe_image_stream_open(EliInferenceContext *ctx, const uint8_t *image_bytes,
                                                         size_t n_bytes, const char *mmproj_path, const char *prompt,
                                                         char **out_error);

#ifdef __cplusplus
}
#endif

#endif /* ELIZA_INFERENCE_H */
