/* Random valid use of the library, checked: constraints of every kind on a small vocabulary, walks along texts whose
 * masks one thread has recorded before, and what a program does on the way. threads_test.c runs it on many threads,
 * long_test.c for a long time. The same seed does the same things. */
#ifndef RANDOM_USE_H
#define RANDOM_USE_H

#include "eliza_inference.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Random numbers: SplitMix64, one generator for each thread. */

typedef struct Random {
    uint64_t state;
} Random;

static uint64_t next_random(Random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(Random *random, uint32_t n) {
    return (uint32_t)(next_random(random) % n);
}

/* A generator that what came before does not move. */
static Random random_of(uint64_t a, uint64_t b, uint64_t c) {
    Random random = {a};
    random.state = next_random(&random) + b;
    random.state = next_random(&random) + c;
    return random;
}

/* Checks. Every thread has its own counts. */

typedef struct User {
    Random random;
    long passed, failed;
    const char *folder; /* where files may be written */
    int number;         /* of the thread */
} User;

#define HOLDS(user, condition) holds(user, (condition) != 0, __FILE__, __LINE__, #condition)

static int holds(User *user, int condition, const char *file, int line, const char *what) {
    if (condition) {
        user->passed++;
    } else {
        user->failed++;
        fprintf(stderr, "%s:%d: failed in thread %d: %s\n", file, line, user->number, what);
    }
    return condition;
}

/* A status with the message that came with it. */
#define WORKS(user, call) works(user, call, &message, __FILE__, __LINE__, #call)

static int works(User *user, int status, char **message, const char *file, int line, const char *what) {
    if (status < 0) fprintf(stderr, "%d: %s\n", status, *message ? *message : "");
    eliza_inference_free_string(*message);
    *message = NULL;
    return holds(user, status >= 0, file, line, what);
}

/* The vocabulary: the bytes, pieces of the texts that the constraints are about, an end, and a control token. */

enum { N_TOKENS = 1200, N_WORDS = (N_TOKENS + 31) / 32, END = N_TOKENS - 2, CONTROL = N_TOKENS - 1 };

static const char CORPUS[] = "{\"name\": \"Ada\", \"tags\": [\"red\", \"green\"], \"id\": 12, \"next\": null, \"on\": true}"
                             "the timer is set, water the plants and mute the room <call>{\"ok\":false}</call> "
                             "(a + b) * c1 - 20.5 if x then y else zebra; 2026-05-17 alpha beta gamma delta omega";

static eliza_vocab *make_vocab(User *user) {
    static uint8_t bytes[N_TOKENS * 8], flags[N_TOKENS];
    static uint64_t offsets[N_TOKENS + 1];
    Random random = {1};
    uint64_t at = 0;
    for (uint32_t token = 0; token < N_TOKENS; token++) {
        offsets[token] = at;
        if (token < 256) {
            bytes[at++] = (uint8_t)token;
        } else if (token < END) {
            uint32_t length = 2 + below(&random, 6);
            memcpy(bytes + at, CORPUS + below(&random, sizeof CORPUS - length), length);
            at += length;
        }
    }
    memcpy(bytes + at, "</s><c>", 7);
    offsets[CONTROL] = at + 4;
    offsets[N_TOKENS] = at + 7;
    flags[END] = ELIZA_TOKEN_END_OF_GENERATION | ELIZA_TOKEN_SPECIAL;
    flags[CONTROL] = ELIZA_TOKEN_SPECIAL;
    eliza_vocab_config_t config = {sizeof config, N_TOKENS, "made", 4, bytes, offsets, flags};
    eliza_vocab *vocab = NULL;
    char *message = NULL;
    WORKS(user, eliza_inference_vocab_create(&config, &vocab, &message));
    return vocab;
}

/* The constraints. Each kind comes in variants that differ in a number in their texts. */

typedef enum Kind {
    TRIE,
    CHOICES,
    CANONICAL,
    REGEX,
    LARK_LR,
    LARK_GLR,
    LARK_PARTS,
    GBNF,
    SCHEMA,
    SCHEMA_ANY_ORDER,
    TAGS,
    N_KINDS
} Kind;

enum { N_VARIANTS = 3 };

/* Texts with a place for the variant's number; choices are made below. */
static const char *const SOURCES[N_KINDS] = {
    [TRIE] = "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":[{\"path\":\"a\",\"trigger\":[[40],[41,42]],\"end\":[59],"
             "\"leaves\":[{\"name\":\"x\",\"tokens\":[97,98]},{\"name\":\"y\",\"tokens\":[97,98,99]},"
             "{\"name\":\"z\",\"tokens\":[300,301,302,48,4%d]}]},{\"path\":\"b\",\"trigger\":[[91]],\"leaves\":["
             "{\"name\":\"u\",\"tokens\":[110]},{\"name\":\"v\",\"tokens\":[111,112]}]}]}",
    [REGEX] = "(?:[a-z]{1,%d7}|\\d{4}-[01]\\d-\\pL+)(?:, ?(?:the )?\\w+)*[.!]?",
    [LARK_LR] = "start: value\nvalue: object | array | STRING | NUMBER | \"true\" | \"null\"\n"
                "object: \"{\" [pair (\",\" pair)*] \"}\"\npair: STRING \":\" value\n"
                "array: \"[\" [value (\",\" value)*] \"]\"\nSTRING: /\"[^\"\\\\\\x00-\\x1f]*\"/\n"
                "NUMBER: /-?\\d+(\\.\\d{1,%d})?/\n%%ignore /[ \\n]+/\n",
    [LARK_GLR] = "start: e\ne: e \"+\" e | e \"*\" e | e e | \"(\" e \")\" | WORD | DIGITS\n"
                 "WORD: /[a-z]{1,%d}/\nDIGITS: /[0-9]+/\n",
    [LARK_PARTS] = "start: (call \";\")+\ncall: NAME \"(\" [arg (\", \" arg)*] \")\"\narg: NAME | data\nNAME: /[a-z]{1,1%d}/\n"
                   "data: %%json {\"type\": \"object\", \"properties\": {\"on\": {\"type\": \"boolean\"}, "
                   "\"name\": {\"type\": \"string\"}}, \"additionalProperties\": false}\n",
    [GBNF] = "root ::= s\ns ::= s s | \"(\" s \")\" | [a-z]{1,%d} \" \" | \"if \" s \"then \" s (\"else \" s)?\n",
    [SCHEMA] = "{\"type\":\"object\",\"properties\":{"
               "\"name\":{\"type\":\"string\",\"maxLength\":%d0,\"pattern\":\"^[A-Za-z ]+$\"},"
               "\"id\":{\"type\":\"integer\",\"minimum\":3,\"maximum\":250},"
               "\"tags\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"gray\"]},\"maxItems\":4},"
               "\"at\":{\"type\":\"string\",\"format\":\"date\"},\"next\":{\"$ref\":\"#\"}},"
               "\"required\":[\"name\",\"id\"]}",
    [SCHEMA_ANY_ORDER] = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\",\"multipleOf\":0.5},"
                         "\"b\":{\"anyOf\":[{\"type\":\"boolean\"},"
                         "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"integer\"}}]}},"
                         "\"patternProperties\":{\"^x\":{\"const\":\"the timer\"}},\"minProperties\":2,\"maxProperties\":%d5}",
    [TAGS] = "{\"tags\":[{\"begin\":\"<call>\",\"json_schema\":{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":\"boolean\"},"
             "\"n\":{\"type\":\"integer\",\"maximum\":%d0}}},\"end\":\"</call>\"},{\"begin\":\"(\",\"regex\":\"[a-z]+(?: \\\\+ "
             "[a-z]+)*\",\"end\":\")\"}],\"at_most\":5}",
};

/* Its result is the status; `config` NULL is all defaults. */
static int compile(const eliza_vocab *vocab, Kind kind, int variant, const eliza_compile_config_t *config,
                   eliza_constraint **out, char **message) {
    char text[2048];
    size_t length = 0;
    if (SOURCES[kind]) length = (size_t)snprintf(text, sizeof text, SOURCES[kind], variant + 1);
    eliza_json_schema_options_t options = {.struct_size = sizeof options};
    options.space = ELIZA_JSON_SPACE_ANY;
    options.order = ELIZA_JSON_ORDER_ANY;
    uint64_t offsets[33];
    switch (kind) {
    case TRIE:
        return eliza_inference_constraint_create_token_trie(vocab, text, length, out, message);
    case CHOICES:
    case CANONICAL:
        for (int i = 0; i < 32; i++) {
            offsets[i] = length;
            const int from = (i * 7 + variant * 3) % 150, n = 4 + i % 17;
            length += (size_t)snprintf(text + length, sizeof text - length, "%.*s", n, CORPUS + from);
        }
        offsets[32] = length;
        const uint32_t flags = kind == CANONICAL ? ELIZA_CHOICES_CANONICAL : 0;
        return eliza_inference_constraint_create_choices(vocab, (const uint8_t *)text, offsets, 32, flags, config, out, message);
    case REGEX:
        return eliza_inference_constraint_create_regex(vocab, text, length, 0, config, out, message);
    case LARK_LR:
    case LARK_GLR:
    case LARK_PARTS:
        return eliza_inference_constraint_create_lark(vocab, text, length, config, out, message);
    case GBNF:
        return eliza_inference_constraint_create_gbnf(vocab, text, length, NULL, 0, 0, config, out, message);
    case SCHEMA:
        return eliza_inference_constraint_create_json_schema(vocab, text, length, NULL, config, out, message);
    case SCHEMA_ANY_ORDER:
        return eliza_inference_constraint_create_json_schema(vocab, text, length, &options, config, out, message);
    default:
        return eliza_inference_constraint_create_tags(vocab, (const uint8_t *)text, length, config, out, message);
    }
}

/* How much a constraint keeps: much of what it finds; some; next to nothing. */
static eliza_compile_config_t config_of(User *user) {
    static const uint64_t rooms[] = {100000, 30000, 1};
    eliza_compile_config_t config = {.struct_size = sizeof config, .mask_bytes_max = rooms[below(&user->random, 3)]};
    return config;
}

/* Walks: tokens by chance, and what was legal before each of them and at the end. One thread records them with
 * constraints of its own; whoever walks along them later must see the same. */

enum { N_WALKS = 4, STEPS_MAX = 48 };

typedef struct Walk {
    int n_steps;
    int32_t tokens[STEPS_MAX];
    int results[STEPS_MAX]; /* of accept */
    int32_t words[STEPS_MAX + 1][N_WORDS];
    int kinds[STEPS_MAX + 1]; /* ELIZA_ALLOWED_* */
    int can_stop[STEPS_MAX + 1];
    size_t n_forced[STEPS_MAX + 1];
    int32_t forced[STEPS_MAX + 1]; /* the first, or -1 */
} Walk;

static Walk walks[N_KINDS][N_VARIANTS][N_WALKS];

static int is_set(const int32_t *words, int32_t token) {
    return (int)((uint32_t)words[token / 32] >> (token % 32) & 1);
}

/* A legal token. Long ones are tried first, so that walks get somewhere; -1 if the text is to end here. */
static int32_t legal_token(Random *random, const int32_t *words) {
    const uint32_t from = below(random, END), step = 1 + 2 * below(random, 40);
    for (uint32_t i = 0; i < 200; i++) {
        const int32_t token = (int32_t)((from + i * step) % END);
        if (is_set(words, token)) return token;
    }
    for (uint32_t i = 0; i < END; i++) {
        const int32_t token = (int32_t)((from + i) % END);
        if (is_set(words, token)) return token;
    }
    return -1;
}

static void record_forced(User *user, eliza_matcher *matcher, size_t *n, int32_t *first) {
    int32_t tokens[1] = {-1};
    HOLDS(user, eliza_inference_matcher_forced(matcher, tokens, 1, n) == ELIZA_OK);
    *first = *n ? tokens[0] : -1;
}

static void record(User *user, Kind kind, int variant, int number, const eliza_constraint *constraint) {
    Walk *walk = &walks[kind][variant][number];
    Random random = random_of(kind, (uint64_t)variant, (uint64_t)number);
    eliza_matcher *matcher = NULL;
    char *message = NULL;
    if (!WORKS(user, eliza_inference_matcher_create(constraint, 0, &matcher, &message))) return;
    for (walk->n_steps = 0;; walk->n_steps++) {
        const int at = walk->n_steps;
        walk->kinds[at] = eliza_inference_matcher_fill_bitmap(matcher, walk->words[at], N_WORDS);
        HOLDS(user, walk->kinds[at] >= 0);
        walk->can_stop[at] = eliza_inference_matcher_can_stop(matcher);
        record_forced(user, matcher, &walk->n_forced[at], &walk->forced[at]);
        if (at == STEPS_MAX || (at > 0 && walk->tokens[at - 1] == END)) break;
        const int32_t token = legal_token(&random, walk->words[at]);
        walk->tokens[at] = token < 0 ? END : token;
        walk->results[at] = eliza_inference_matcher_accept(matcher, walk->tokens[at]);
        HOLDS(user, walk->results[at] >= 0 && walk->results[at] != ELIZA_STEP_REFUSED);
    }
    eliza_inference_matcher_free(matcher);
}

static void record_walks(User *user) {
    eliza_vocab *vocab = make_vocab(user);
    for (Kind kind = 0; kind < N_KINDS; kind++)
        for (int variant = 0; variant < N_VARIANTS; variant++) {
            eliza_constraint *constraint = NULL;
            char *message = NULL;
            if (!WORKS(user, compile(vocab, kind, variant, NULL, &constraint, &message))) continue;
            for (int i = 0; i < N_WALKS; i++) record(user, kind, variant, i, constraint);
            eliza_inference_constraint_free(constraint);
        }
    eliza_inference_vocab_free(vocab);
}

/* Ways to ask what is legal; each must agree with the record. */

static void check_bitmap(User *user, eliza_matcher *matcher, const Walk *walk, int at) {
    int32_t words[N_WORDS];
    HOLDS(user, eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS) == walk->kinds[at]);
    HOLDS(user, memcmp(words, walk->words[at], sizeof words) == 0);
}

static void check_natural_form(User *user, eliza_matcher *matcher, const Walk *walk, int at) {
    const int32_t *ids = NULL, *lent = NULL;
    size_t n = 0, n_lent = 0;
    int32_t words[N_WORDS] = {0};
    const int kind = eliza_inference_matcher_allowed(matcher, &ids, &n);
    if (!HOLDS(user, kind == walk->kinds[at])) return;
    if (kind == ELIZA_ALLOWED_LIST) {
        for (size_t i = 0; i < n; i++) words[ids[i] / 32] |= (int32_t)(1u << (ids[i] % 32));
        HOLDS(user, memcmp(words, walk->words[at], sizeof words) == 0);
    }
    HOLDS(user, eliza_inference_matcher_bitmap(matcher, &lent, &n_lent) == kind);
    if (kind == ELIZA_ALLOWED_BITMAP) HOLDS(user, n_lent == N_WORDS && memcmp(lent, walk->words[at], sizeof words) == 0);
}

/* Three clones, so that there is something to do for more than one thread. */
static void check_batch(User *user, eliza_matcher *matcher, const Walk *walk, int at) {
    eliza_matcher *matchers[3] = {matcher};
    int32_t rows[3][N_WORDS];
    for (int i = 1; i < 3; i++) HOLDS(user, eliza_inference_matcher_clone(matcher, &matchers[i]) == ELIZA_OK);
    HOLDS(user, eliza_inference_matcher_fill_bitmaps(matchers, 3, rows[0], N_WORDS, 2) == ELIZA_OK);
    for (int i = 0; i < 3; i++) HOLDS(user, memcmp(rows[i], walk->words[at], sizeof rows[i]) == 0);
    for (int i = 1; i < 3; i++) eliza_inference_matcher_free(matchers[i]);
}

static void check_logits(User *user, eliza_matcher *matcher, const Walk *walk, int at) {
    float logits[N_TOKENS], masked[N_TOKENS];
    int32_t best = -1, token = -1;
    for (int32_t i = 0; i < N_TOKENS; i++) {
        logits[i] = masked[i] = (float)below(&user->random, 50);
        if (is_set(walk->words[at], i) && (best < 0 || logits[i] > logits[best])) best = i;
    }
    eliza_sampling_t sampling = {.struct_size = sizeof sampling, .mode = ELIZA_MODE_GREEDY};
    HOLDS(user, eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &token) == ELIZA_OK && token == best);
    sampling.mode = ELIZA_MODE_SAMPLED;
    sampling.temperature = 0.9f;
    sampling.top_p = below(&user->random, 2) ? 0.8f : 1;
    HOLDS(user, eliza_inference_matcher_sample(matcher, logits, N_TOKENS, &sampling, &token) == ELIZA_OK);
    HOLDS(user, is_set(walk->words[at], token));
    HOLDS(user, eliza_inference_matcher_mask_logits(matcher, masked, N_TOKENS) >= 0);
    int wrong = 0;
    for (int32_t i = 0; i < N_TOKENS; i++) wrong += is_set(walk->words[at], i) ? masked[i] != logits[i] : masked[i] != -INFINITY;
    HOLDS(user, wrong == 0);
}

static void check_forced(User *user, eliza_matcher *matcher, const Walk *walk, int at) {
    size_t n = 0;
    int32_t first = -1;
    record_forced(user, matcher, &n, &first);
    HOLDS(user, n == walk->n_forced[at] && first == walk->forced[at]);
    HOLDS(user, eliza_inference_matcher_can_stop(matcher) == walk->can_stop[at]);
}

static void check_infos(User *user, eliza_matcher *matcher) {
    eliza_span_state_t state = {.struct_size = sizeof state};
    eliza_matcher_info_t info = {.struct_size = sizeof info};
    HOLDS(user, eliza_inference_matcher_state(matcher, &state) == ELIZA_OK);
    HOLDS(user, eliza_inference_matcher_info(matcher, &info) == ELIZA_OK && info.retained_bytes > 0);
}

/* Walks along a record, with clones, ways back and beginnings again on the way. */
static void follow(User *user, const eliza_constraint *constraint, const Walk *walk) {
    eliza_matcher *matcher = NULL, *clone = NULL;
    char *message = NULL;
    if (!WORKS(user, eliza_inference_matcher_create(constraint, 0, &matcher, &message))) return;
    Random *random = &user->random;
    int at = 0, detours = 6;
    while (at < walk->n_steps || detours > 0) {
        switch (below(random, 7)) {
        case 0:
            check_natural_form(user, matcher, walk, at);
            break;
        case 1:
            check_logits(user, matcher, walk, at);
            break;
        case 2:
            check_forced(user, matcher, walk, at);
            break;
        case 3:
            check_infos(user, matcher);
            break;
        default:
            check_bitmap(user, matcher, walk, at);
        }
        const uint32_t chance = detours > 0 ? below(random, 24) : 24;
        if (chance < 4) {
            detours--;
            const int back = (int)below(random, (uint32_t)at + 1);
            HOLDS(user, eliza_inference_matcher_rollback(matcher, (size_t)back) == ELIZA_OK);
            at -= back;
        } else if (chance < 6) {
            detours--;
            HOLDS(user, eliza_inference_matcher_clone(matcher, &clone) == ELIZA_OK);
            eliza_inference_matcher_free(matcher);
            matcher = clone;
        } else if (chance == 6) {
            detours--;
            HOLDS(user, eliza_inference_matcher_reset(matcher) == ELIZA_OK);
            at = 0;
        } else if (chance == 7) {
            detours--;
            check_batch(user, matcher, walk, at);
        }
        if (at == walk->n_steps) {
            if (detours-- <= 0) break;
            continue;
        }
        if (!HOLDS(user, eliza_inference_matcher_accept(matcher, walk->tokens[at]) == walk->results[at])) break;
        at++;
    }
    check_bitmap(user, matcher, walk, at);
    eliza_inference_matcher_free(matcher);
}

/* Along a text that nobody has recorded. */
static void wander(User *user, const eliza_constraint *constraint) {
    eliza_matcher *matcher = NULL;
    char *message = NULL;
    if (!WORKS(user, eliza_inference_matcher_create(constraint, 0, &matcher, &message))) return;
    for (int steps = 10 + (int)below(&user->random, 150); steps > 0; steps--) {
        int32_t words[N_WORDS];
        const int status = eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS);
        if (status == ELIZA_ERR_LIMIT) { /* a text by chance may lead to a search that is too long: it goes back */
            HOLDS(user, eliza_inference_matcher_reset(matcher) == ELIZA_OK);
            HOLDS(user, eliza_inference_matcher_fill_bitmap(matcher, words, N_WORDS) >= 0);
            break;
        }
        if (!HOLDS(user, status >= 0)) break;
        const int32_t token = legal_token(&user->random, words);
        const int result = eliza_inference_matcher_accept(matcher, token < 0 ? END : token);
        if (result == ELIZA_ERR_LIMIT || token < 0) break;
        if (!HOLDS(user, result >= 0 && result != ELIZA_STEP_REFUSED)) break;
    }
    eliza_inference_matcher_free(matcher);
}

static const Walk *walk_of(User *user, Kind kind, int variant) {
    return &walks[kind][variant][below(&user->random, N_WALKS)];
}

/* One of one's own, which may be cancelled while it is compiled. */

static int cancels_when_zero(void *user_data) {
    int *left = user_data;
    return (*left)-- <= 0;
}

static void compile_and_follow(User *user, const eliza_vocab *vocab) {
    const Kind kind = below(&user->random, N_KINDS);
    const int variant = (int)below(&user->random, N_VARIANTS);
    eliza_compile_config_t config = config_of(user);
    int left = (int)below(&user->random, 12);
    const int may_cancel = below(&user->random, 3) == 0;
    if (may_cancel) {
        config.cancel = cancels_when_zero;
        config.user_data = &left;
    }
    eliza_constraint *constraint = NULL;
    char *message = NULL;
    const int status = compile(vocab, kind, variant, &config, &constraint, &message);
    if (may_cancel && status == ELIZA_ERR_CANCELLED) {
        HOLDS(user, constraint == NULL && eliza_inference_error_status(message) == status);
        eliza_inference_free_string(message);
        return;
    }
    if (!WORKS(user, status)) return;
    follow(user, constraint, walk_of(user, kind, variant));
    wander(user, constraint);
    eliza_inference_constraint_free(constraint);
}

static int is_saved(Kind kind) {
    return kind != TRIE && kind != CANONICAL;
}

/* Saves it, with the tables that it has just now, and walks along a record with what is opened of the file. */
static void save_and_follow(User *user, const eliza_vocab *vocab, const eliza_constraint *constraint, Kind kind, int variant) {
    char path[1200], *message = NULL;
    eliza_constraint *opened = NULL;
    const size_t n = (size_t)snprintf(path, sizeof path, "%s/constraint-%d", user->folder, user->number);
    const uint32_t flags = below(&user->random, 4); /* of ELIZA_OPEN_* */
    const eliza_compile_config_t config = config_of(user);
    if (!is_saved(kind)) {
        HOLDS(user, eliza_inference_constraint_save(constraint, path, n, NULL) == ELIZA_ERR_INVALID_ARG);
        return;
    }
    if (!WORKS(user, eliza_inference_constraint_save(constraint, path, n, &message))) return;
    if (!WORKS(user, eliza_inference_constraint_open_with(vocab, path, n, flags, &config, &opened, &message))) return;
    remove(path); /* what is mapped stays */
    follow(user, opened, walk_of(user, kind, variant));
    eliza_inference_constraint_free(opened);
}

static void reopen_vocab_and_follow(User *user, const eliza_vocab *vocab) {
    char path[1200], *message = NULL;
    eliza_vocab *opened = NULL;
    const size_t n = (size_t)snprintf(path, sizeof path, "%s/vocabulary-%d", user->folder, user->number);
    if (!WORKS(user, eliza_inference_vocab_save(vocab, path, n, &message))) return;
    if (!WORKS(user, eliza_inference_vocab_open_with(path, n, below(&user->random, 4), &opened, &message))) return;
    remove(path);
    const Kind kind = below(&user->random, N_KINDS);
    const int variant = (int)below(&user->random, N_VARIANTS);
    eliza_constraint *constraint = NULL;
    WORKS(user, compile(opened, kind, variant, NULL, &constraint, &message));
    eliza_inference_vocab_free(opened); /* the constraint keeps its own reference */
    if (constraint) follow(user, constraint, walk_of(user, kind, variant));
    eliza_inference_constraint_free(constraint);
}

/* What can be asked of what is shared. */

static void ask_vocab(User *user, const eliza_vocab *vocab) {
    eliza_vocab_info_t info = {.struct_size = sizeof info};
    char *message = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    uint32_t flags = 0;
    if (below(&user->random, 2)) WORKS(user, eliza_inference_vocab_prepare(vocab, &message));
    HOLDS(user, eliza_inference_vocab_info(vocab, &info) == ELIZA_OK && info.n_tokens == N_TOKENS);
    HOLDS(user, eliza_inference_vocab_token(vocab, 65, &bytes, &length, &flags) == ELIZA_OK && length == 1 && bytes[0] == 65);
    const int32_t tokens[] = {'t', 'h', 'e', ' ', 't'};
    size_t kept = 0;
    WORKS(user, eliza_inference_vocab_heal(vocab, tokens, 5, &kept, &message));
    HOLDS(user, kept < 5);
}

static void ask_constraint(User *user, const eliza_constraint *constraint, Kind kind) {
    eliza_recognizer_info_t info = {.struct_size = sizeof info};
    HOLDS(user, eliza_inference_constraint_recognizer_info(constraint, &info) == ELIZA_OK);
    HOLDS(user, (info.kind == ELIZA_CONSTRAINT_TOKEN_TRIE) == (kind == TRIE || kind == CANONICAL));
    HOLDS(user, eliza_inference_constraint_warnings(constraint) != NULL);
}

/* It may be cancelled; what was built stays. */
static void prepare(User *user, const eliza_constraint *constraint) {
    int left = (int)below(&user->random, 40);
    eliza_compile_config_t config = {.struct_size = sizeof config, .cancel = cancels_when_zero, .user_data = &left};
    const int status = eliza_inference_constraint_prepare(constraint, &config, NULL);
    HOLDS(user, status == ELIZA_OK || status == ELIZA_ERR_CANCELLED);
}

static void ask_trie_cache(User *user) {
    eliza_trie_cache_stats_t stats = {.struct_size = sizeof stats};
    HOLDS(user, eliza_inference_trie_cache_stats(&stats) == ELIZA_OK && stats.entries <= ELIZA_TRIE_CACHE_ENTRIES);
    const uint64_t limit = below(&user->random, 2) ? 2000 : ELIZA_TRIE_CACHE_BYTES;
    HOLDS(user, eliza_inference_trie_cache_set_limit(limit) == ELIZA_OK);
}

#endif
