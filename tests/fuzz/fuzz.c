#include "fuzz.h"

#include <time.h>

void fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

/* ---- The input ---- */

uint8_t take(input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->at++;
}

uint32_t take_below(input *in, uint32_t n) {
    uint32_t value = take(in);
    if (n > 256) value = value << 8 | take(in);
    return value % n;
}

uint64_t take_word(input *in) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | take(in);
    return value;
}

input take_text(input *in, size_t most) {
    size_t n = take(in);
    if (n > most) n = most;
    if (n > in->left) n = in->left;
    input text = {in->at, n};
    in->at += n;
    in->left -= n;
    return text;
}

uint64_t hash_of(const uint8_t *bytes, size_t n) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- The vocabulary ---- */

static const struct {
    const char *text;
    uint8_t flags;
} longer[N_TOKENS - 256] = {
    {"ab", 0}, {"abc", 0}, {"abc", 0}, {"\"a", 0}, {"true", 0}, {"false", 0}, {"null", 0}, {"{\"", 0}, {"\":", 0}, {"\",\"", 0},
    {"[", 0}, {"]}", 0}, {"}}", 0}, {"  ", 0}, {" \n", 0}, {"\n\n", 0}, {"12", 0}, {"1.", 0}, {"-0", 0}, {"e+", 0},
    {"if", 0}, {"while ", 0}, {"==", 0}, {" =", 0}, {"()", 0}, {"\xc3\xa9", 0}, {"\xe2\x82", 0}, {"\x82\xac", 0}, {"\\u00", 0},
    {"2024-", 0}, {"yes", 0}, {"no", 0}, {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
    {"<a>", 0}, {"</a>", 0}, {"call", 0},
    {"</s>", ELIZA_TOKEN_END_OF_GENERATION | ELIZA_TOKEN_SPECIAL}, {"<eot>", ELIZA_TOKEN_END_OF_GENERATION},
    {"<s>", ELIZA_TOKEN_SPECIAL}, {"<tool>", ELIZA_TOKEN_SPECIAL}, {"unused", ELIZA_TOKEN_UNUSED}, {"", 0},
};

static const uint8_t single[256] = {
#define FOUR(n) n, n + 1, n + 2, n + 3
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
#define SIXTY_FOUR(n) SIXTEEN(n), SIXTEEN(n + 16), SIXTEEN(n + 32), SIXTEEN(n + 48)
    SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128), SIXTY_FOUR(192)};

input token_bytes(int32_t token) {
    if (token < 256) return (input){&single[token], 1};
    const char *text = longer[token - 256].text;
    return (input){(const uint8_t *)text, strlen(text)};
}

uint8_t token_flags(int32_t token) {
    return token < 256 ? 0 : longer[token - 256].flags;
}

static eliza_vocab *make_vocabulary(void) {
    static uint8_t bytes[4096], flags[N_TOKENS];
    static uint64_t offsets[N_TOKENS + 1];
    for (int32_t token = 0; token < N_TOKENS; token++) {
        input text = token_bytes(token);
        memcpy(bytes + offsets[token], text.at, text.left);
        offsets[token + 1] = offsets[token] + text.left;
        flags[token] = token_flags(token);
    }
    eliza_vocab_config_t config = {.struct_size = sizeof config, .n_tokens = N_TOKENS, .bytes = bytes, .offsets = offsets, .flags = flags};
    eliza_vocab *made = NULL;
    CHECK(eliza_inference_vocab_create(&config, &made, NULL) == ELIZA_OK);
    return made;
}

static eliza_vocab *usual, *hostile;

eliza_vocab *vocabulary(void) {
    if (usual == NULL) usual = make_vocabulary();
    return usual;
}

/* What it does depends on the text alone, so that an input does the same again. */
static int32_t tokenize_wrongly(const uint8_t *text, size_t n, int32_t *out, size_t cap, void *user_data) {
    (void)user_data;
    uint64_t state = hash_of(text, n);
    switch (draw(&state) % 8) {
        case 0: return -1;
        case 1: return 0;
        case 2: /* ids that are none */
            for (size_t i = 0; i < cap; i++) out[i] = (int32_t)draw(&state);
            return (int32_t)cap;
        case 3: /* tokens of another text */
            for (size_t i = 0; i < cap; i++) out[i] = (int32_t)(draw(&state) % N_TOKENS);
            return (int32_t)cap;
        case 4: return (int32_t)(n + 1000); /* too many for any room, and for the text */
        case 5: return INT32_MAX;
        default: /* byte by byte, which is right */
            for (size_t i = 0; i < n && i < cap; i++) out[i] = text[i];
            return (int32_t)n;
    }
}

eliza_vocab *hostile_vocabulary(void) {
    if (hostile != NULL) return hostile;
    hostile = make_vocabulary();
    CHECK(eliza_inference_vocab_set_tokenizer(hostile, tokenize_wrongly, NULL) == ELIZA_OK);
    return hostile;
}

static void forget_vocabularies(void) {
    eliza_inference_vocab_free(usual);
    eliza_inference_vocab_free(hostile);
    usual = hostile = NULL;
}

/* ---- One input ---- */

/* By the clock of clock.c. A search reads it ten times as seldom as a compile does. 0: no limit. */
#ifndef COMPILE_MS_MAX
#define COMPILE_MS_MAX 20
#define MASK_MS_MAX 1
#endif

const eliza_compile_config_t budget = {
    .struct_size = sizeof budget,
    .states_max = 1024,
    .bytes_max = 32 << 20,
    .ms_max = COMPILE_MS_MAX,
    .mask_bytes_max = 4 << 20,
    .mask_ms_max = MASK_MS_MAX,
};

#ifndef INPUT_MS_MAX
#define INPUT_MS_MAX 10000
#endif
#define INPUT_BYTES_MAX (256u << 20)

/* Blocks and bytes that the library has: its allocation functions are these (-Wl,--wrap). */
static int64_t live_blocks, live_bytes;

void *__real_malloc(size_t n);
void __real_free(void *block);
void *__real_realloc(void *block, size_t n);
int __real_posix_memalign(void **out, size_t alignment, size_t n);
size_t malloc_usable_size(void *block);

static void *counted(void *block) {
    if (block == NULL) return NULL;
    __atomic_add_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&live_bytes, (int64_t)malloc_usable_size(block), __ATOMIC_RELAXED);
    return block;
}

static void discount(void *block) {
    if (block == NULL) return;
    __atomic_sub_fetch(&live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&live_bytes, (int64_t)malloc_usable_size(block), __ATOMIC_RELAXED);
}

static bool is_too_much(size_t n) {
    return n > INPUT_BYTES_MAX || __atomic_load_n(&live_bytes, __ATOMIC_RELAXED) + (int64_t)n > (int64_t)INPUT_BYTES_MAX;
}

void *__wrap_malloc(size_t n) {
    CHECK(!is_too_much(n));
    return counted(__real_malloc(n));
}

void __wrap_free(void *block) {
    discount(block);
    __real_free(block);
}

void *__wrap_realloc(void *block, size_t n) {
    CHECK(!is_too_much(n));
    discount(block);
    void *moved = __real_realloc(block, n);
    return counted(moved != NULL ? moved : block);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t n) {
    CHECK(!is_too_much(n));
    int status = __real_posix_memalign(out, alignment, n);
    if (status == 0) counted(*out);
    return status;
}

static int64_t blocks_at_start;

static int64_t ms_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* On a busy machine time passes without the input. The processor's clock is slow to read, so it is read seldom. */
static struct {
    int64_t start_ms, read_ms, processor_ms;
} spent;

static void begin_time(void) {
    spent.start_ms = ms_of(CLOCK_MONOTONIC_COARSE);
    if (spent.start_ms - spent.read_ms < 100 && spent.read_ms != 0) return;
    spent.read_ms = spent.start_ms;
    spent.processor_ms = ms_of(CLOCK_PROCESS_CPUTIME_ID);
}

static void check_time(void) {
    if (ms_of(CLOCK_MONOTONIC_COARSE) - spent.start_ms > INPUT_MS_MAX)
        CHECK(ms_of(CLOCK_PROCESS_CPUTIME_ID) - spent.processor_ms <= INPUT_MS_MAX);
}

/* They are kept by the process. */
static void forget_payloads(void) {
    CHECK(eliza_inference_trie_cache_set_limit(0) == ELIZA_OK);
    CHECK(eliza_inference_trie_cache_set_limit(ELIZA_TRIE_CACHE_BYTES) == ELIZA_OK);
}

/* A vocabulary keeps what its schemas share: that nothing else stays shows when it is gone, for some of all inputs. The first
   ones leave what a process keeps permanently. */
enum { FIRST_INPUTS = 1000 };
static bool is_alone;
static int n_inputs;

void begin_input(const uint8_t *data, size_t size) {
    is_alone = n_inputs == FIRST_INPUTS && hash_of(data, size) % 8 == 0;
    n_inputs += n_inputs < FIRST_INPUTS;
    if (is_alone) forget_vocabularies();
    blocks_at_start = live_blocks;
    begin_time();
}

void end_input(void) {
    check_time();
    forget_payloads();
    if (is_alone) {
        forget_vocabularies();
        CHECK(live_blocks == blocks_at_start);
    }
}

void check_error(int status, char *error) {
    CHECK((status < 0) == (error != NULL));
    if (error == NULL) return;
    CHECK(error[0] != 0);
    CHECK(eliza_inference_error_status(error) == status);
    CHECK(strcmp(eliza_inference_status_name(status), "ELIZA_ERR_UNKNOWN") != 0);
    eliza_inference_free_string(error);
}
