/* A file that was saved, with changes and a right checksum. A byte says which file, the rest are its changes: which array, where,
 * how. Whatever a file says, it is refused, or every call gives a result or an error. */
#include <unistd.h>

#include "../memory_file.h"
#include "../samples.h"

/* ---- The checksum: Wyhash, as in Zig's standard library ---- */

static const uint64_t secrets[4] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};

static uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* Of at least 48 bytes. */
static uint64_t wyhash(uint64_t seed, const uint8_t *bytes, size_t n) {
    uint64_t first = seed ^ mix(seed ^ secrets[0], secrets[1]), state[3] = {first, first, first};
    size_t at = 0;
    for (; at + 48 < n; at += 48)
        for (int lane = 0; lane < 3; lane++) {
            const uint8_t *pair = bytes + at + 16 * lane;
            state[lane] = mix(word_at(pair) ^ secrets[lane + 1], word_at(pair + 8) ^ state[lane]);
        }
    state[0] ^= state[1] ^ state[2];
    for (; at + 16 < n; at += 16) state[0] = mix(word_at(bytes + at) ^ secrets[1], word_at(bytes + at + 8) ^ state[0]);
    uint64_t a = word_at(bytes + n - 16) ^ secrets[1], b = word_at(bytes + n - 8) ^ state[0];
    __uint128_t product = (__uint128_t)a * b;
    return mix((uint64_t)product ^ secrets[0] ^ n, (uint64_t)(product >> 64) ^ secrets[1]);
}

/* ---- Files ---- */

enum { HEADER = 64, N_SECTIONS_AT = 20, FINGERPRINT_AT = 24, FILE_BYTES_AT = 32, CHECKSUM_AT = 40, FILE_BYTES_MAX = 1 << 20 };

typedef struct {
    uint8_t *bytes;
    size_t n;
} file;

static void seal(file *of) {
    uint64_t n = of->n;
    memcpy(of->bytes + FILE_BYTES_AT, &n, 8);
    uint64_t checksum = wyhash(word_at(of->bytes + FINGERPRINT_AT), of->bytes + HEADER, of->n - HEADER);
    memcpy(of->bytes + CHECKSUM_AT, &checksum, 8);
}

static file read_saved(const char *path) {
    FILE *saved = fopen(path, "rb");
    CHECK(saved != NULL);
    file read = {malloc(FILE_BYTES_MAX), 0};
    read.n = fread(read.bytes, 1, FILE_BYTES_MAX, saved);
    fclose(saved);
    unlink(path);
    CHECK(read.n > HEADER + 48 && read.n < FILE_BYTES_MAX);
    uint64_t checksum = word_at(read.bytes + CHECKSUM_AT);
    seal(&read);
    CHECK(word_at(read.bytes + CHECKSUM_AT) == checksum); /* else the checksum has changed, and nothing would be tested */
    return read;
}

enum { N_FILES = 1 + N_SAMPLES - N_TREES };

/* File 0 is the vocabulary's, the others are the recognizers'. */
static file saved(uint32_t which) {
    static file kept[N_FILES];
    file *of = &kept[which];
    if (of->bytes != NULL) return *of;
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/eliza-fuzz-%d", (int)getpid());
    if (which == 0) {
        CHECK(eliza_inference_vocab_save(vocabulary(), path, strlen(path), NULL) == ELIZA_OK);
    } else {
        eliza_constraint *constraint = sample(N_TREES + which - 1, vocabulary());
        CHECK(eliza_inference_constraint_prepare(constraint, NULL, NULL) == ELIZA_OK);
        CHECK(eliza_inference_constraint_save(constraint, path, strlen(path), NULL) == ELIZA_OK);
        eliza_inference_constraint_free(constraint);
    }
    return *of = read_saved(path);
}

/* ---- Changes ---- */

static void change(file *of, input *in) {
    uint32_t n_sections = 0, section = take(in);
    memcpy(&n_sections, of->bytes + N_SECTIONS_AT, 1); /* they are few, and the number may have been changed before */
    section %= n_sections + 1; /* the last: the list of arrays */
    uint64_t begin = HEADER, length = 16 * (uint64_t)n_sections;
    if (section < n_sections) {
        begin = word_at(of->bytes + HEADER + 16 * section);
        length = word_at(of->bytes + HEADER + 16 * section + 8);
    }
    uint8_t how = take(in);
    uint64_t width = (uint64_t)1 << how % 4;
    uint64_t place_of = (uint64_t)take(in) << 8 | take(in);
    if (length < width || begin > of->n || length > of->n - begin) return; /* the list was changed before */
    uint8_t *at = of->bytes + begin + place_of % (length / width) * width;
    uint64_t value = 0;
    memcpy(&value, at, width);
    switch (how / 4 % 8) {
        case 0: value++; break;
        case 1: value--; break;
        case 2: value = 0; break;
        case 3: value = UINT64_MAX; break;
        case 4: value = UINT64_MAX >> (65 - 8 * width); break;
        case 5: value ^= (uint64_t)1 << take(in) % 64; break;
        case 6: value = take(in); break;
        default: value = take_word(in);
    }
    memcpy(at, &value, width);
}

/* ---- Use ---- */

/* Calls whatever reads what is in a file. What the answers are is the business of who wrote it. */
static void use(eliza_constraint *constraint, const eliza_vocab *vocab, uint64_t seed) {
    int32_t words[4096], n_tokens = eliza_inference_vocab_size(vocab);
    static float logits[32 * 4096];
    if (constraint == NULL) return;
    eliza_matcher *matcher = NULL;
    eliza_span_config_t config = {.struct_size = sizeof config, .end = words};
    int status = eliza_inference_matcher_create_span(constraint, seed % 2 ? &config : NULL, &matcher, NULL);
    for (int i = 0; status == ELIZA_OK && n_tokens <= 32 * 4096 && i < 10; i++) {
        status = eliza_inference_matcher_fill_bitmap(matcher, words, 4096);
        if (status < 0) break;
        int32_t token = (int32_t)(draw(&seed) % (uint64_t)n_tokens);
        if (eliza_inference_matcher_sample(matcher, logits, (size_t)n_tokens, &(eliza_sampling_t){.struct_size = 16}, &token) == ELIZA_OK) {
            CHECK(token >= 0 && token < n_tokens && has(words, token));
        }
        for (int j = 0; j < 8 && draw(&seed) % 8; j++) {
            int32_t other = (int32_t)(draw(&seed) % (uint64_t)n_tokens);
            if (has(words, other)) token = other;
        }
        int32_t run[16];
        size_t n;
        if (i == 2) eliza_inference_matcher_forced(matcher, run, 16, &n);
        eliza_inference_matcher_can_stop(matcher);
        if (draw(&seed) % 8 == 0) token = (int32_t)(draw(&seed) % (uint64_t)n_tokens);
        status = eliza_inference_matcher_accept(matcher, token);
        if (status >= 0) status = ELIZA_OK;
    }
    eliza_matcher *clone = NULL;
    if (matcher != NULL && eliza_inference_matcher_clone(matcher, &clone) == ELIZA_OK) {
        eliza_inference_matcher_rollback(clone, 1);
        eliza_inference_matcher_fill_bitmap(clone, words, 4096);
    }
    eliza_inference_matcher_free(clone);
    eliza_inference_matcher_free(matcher);
    eliza_inference_constraint_free(constraint);
}

/* Of a vocabulary that may be anything, even one for which there is no constraint. */
static eliza_constraint *create_on(const eliza_vocab *of, uint64_t which) {
    static const char schema[] = "{\"properties\": {\"a\": {\"type\": \"string\", \"maxLength\": 3}, \"b\": {\"enum\": [1, true]}}}";
    static const char lark[] = "start: \"[\" [start (\",\" start)*] \"]\" | WORD\nWORD: /[a-z]+/\n%ignore /[ ]+/\n";
    eliza_constraint *c = NULL;
    switch (which) {
        case 0: eliza_inference_constraint_create_regex(of, "[a-z]+|true", 11, 0, &budget, &c, NULL); break;
        case 1: eliza_inference_constraint_create_json_schema(of, schema, strlen(schema), NULL, &budget, &c, NULL); break;
        default: eliza_inference_constraint_create_lark(of, lark, strlen(lark), &budget, &c, NULL);
    }
    return c;
}

static void open_vocabulary(uint32_t flags, uint64_t seed) {
    eliza_vocab *opened = NULL;
    char *error = NULL;
    check_error(eliza_inference_vocab_open_with(memory_file_path, strlen(memory_file_path), flags, &opened, &error), error);
    if (opened == NULL) return;
    int32_t n = eliza_inference_vocab_size(opened);
    CHECK(n >= 1);
    for (int32_t token = 0; token < n; token++) {
        const uint8_t *bytes;
        size_t length;
        uint32_t token_flags;
        CHECK(eliza_inference_vocab_token(opened, token, &bytes, &length, &token_flags) == ELIZA_OK);
        for (size_t i = 0; i < length; i++) seed += bytes[i];
    }
    use(create_on(opened, seed / 16 % 3), opened, seed);
    eliza_inference_vocab_free(opened);
}

static void open_constraint(uint32_t flags, uint64_t seed) {
    eliza_constraint *opened = NULL;
    char *error = NULL;
    int status = eliza_inference_constraint_open_with(vocabulary(), memory_file_path, strlen(memory_file_path), flags, &budget,
                                                              &opened, &error);
    check_error(status, error);
    if (opened != NULL) CHECK(eliza_inference_constraint_warnings(opened) != NULL);
    use(opened, vocabulary(), seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t changed[FILE_BYTES_MAX];
    for (uint32_t i = 0; i < N_FILES; i++) saved(i); /* what stays */
    begin_input(data, size);
    input in = {data, size};
    uint8_t first = take(&in);
    uint32_t which = first % N_FILES, flags = first & 128 ? ELIZA_OPEN_COPY : 0;
    file base = saved(which), of = {changed, base.n};
    memcpy(changed, base.bytes, base.n);
    for (int i = 0; i < 8 && in.left > 0; i++) change(&of, &in);
    seal(&of);
    put_memory_file(of.bytes, of.n);
    if (which == 0) {
        open_vocabulary(flags, hash_of(data, size));
    } else {
        open_constraint(flags, hash_of(data, size));
    }
    end_input();
    return 0;
}
