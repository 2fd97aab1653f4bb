/* What the attacks on the C ABI share: wrong handles, messages, structs of every size. */
#ifndef ABI_CHECK_H
#define ABI_CHECK_H

#include "check.h"
#include "eliza_inference.h"
#include "first_sizes.h"

#include <stdlib.h>
#include <string.h>

/* An address that is no handle, and one that is no pointer at all. */
static char not_a_handle_at[256];
#define NOT_A_HANDLE ((void *)not_a_handle_at)
#define NO_POINTER ((void *)(uintptr_t)0x7ff3)

/* Messages */

static char *error;
static char garbage[] = "what was in the variable before the call";

static int is_utf8(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    while (*c) {
        int more = *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc2 ? 1 : 0;
        if (*c >= 0xf5 || (*c >= 0x80 && *c < 0xc2)) return 0;
        for (c++; more > 0; more--, c++)
            if ((*c & 0xc0) != 0x80) return 0;
    }
    return 1;
}

/* After a call with `&error` that gave this status: a message if it failed, else none. */
static void check_message(int status, const char *file, int line, const char *call) {
    if (error == garbage) {
        check_that(0, file, line, call);
        return;
    }
    check_equal(eliza_inference_error_status(error), status < 0 ? status : ELIZA_OK, file, line, call);
    if (status < 0)
        check_that(error && strlen(error) > 5 && is_utf8(error), file, line, call);
    else
        check_that(error == NULL, file, line, call);
    if (status == ELIZA_ERR_UNSUPPORTED) /* what is missing, and where */
        check_that(error && strstr(error, "this library") > error, file, line, call);
    eliza_inference_free_string(error);
    error = garbage;
}

/* A call with `&error` as its last argument: its status, and a message exactly if it failed. */
#define GIVES(status, call)                                                                                            \
    do {                                                                                                               \
        error = garbage;                                                                                               \
        int result_ = (call);                                                                                          \
        check_equal(result_, (status), __FILE__, __LINE__, #call);                                                     \
        check_message(result_, __FILE__, __LINE__, "message of " #call);                                               \
    } while (0)

/* The same for a call that returns a pointer and must fail. */
#define GIVES_NULL(status, call)                                                                                       \
    do {                                                                                                               \
        error = garbage;                                                                                               \
        check_that((call) == NULL, __FILE__, __LINE__, #call);                                                         \
        check_message((status), __FILE__, __LINE__, "message of " #call);                                              \
    } while (0)

/* A struct with room after it, to see that only what the library knows is written. */
#define SENTINEL 0xa5
#define WITH_ROOM(type)                                                                                                \
    struct {                                                                                                           \
        type known;                                                                                                    \
        unsigned char beyond[32];                                                                                      \
    }
#define FILL(roomy, size) (memset(&(roomy), SENTINEL, sizeof(roomy)), (roomy).known.struct_size = (uint32_t)(size))
#define IS_UNTOUCHED(roomy) is_sentinel((roomy).beyond, sizeof(roomy).beyond)

static int is_sentinel(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != SENTINEL) return 0;
    return 1;
}

/* The size of a struct's first version. */
#define FIRST_SIZE(type) ((size_t)FIRST_SIZE_##type)

/* An output struct: missing, too small, as old as can be, exact, larger. */
#define CHECK_STRUCT(type, handle, function)                                                                           \
    do {                                                                                                               \
        WITH_ROOM(type) roomy;                                                                                         \
        CHECK_EQUAL(function(handle, NULL), ELIZA_ERR_INVALID_ARG);                                                    \
        FILL(roomy, 0);                                                                                                \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_ERR_INVALID_ARG);                                            \
        FILL(roomy, FIRST_SIZE(type) - 1);                                                                             \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_ERR_INVALID_ARG);                                            \
        CHECK(is_sentinel((unsigned char *)&roomy + sizeof(uint32_t), sizeof roomy - sizeof(uint32_t)));               \
        FILL(roomy, FIRST_SIZE(type));                                                                                 \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_OK);                                                         \
        CHECK(is_sentinel((unsigned char *)&roomy + FIRST_SIZE(type), sizeof roomy - FIRST_SIZE(type)));               \
        CHECK_EQUAL(roomy.known.struct_size, FIRST_SIZE(type));                                                        \
        FILL(roomy, sizeof(type));                                                                                     \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_OK);                                                         \
        CHECK(IS_UNTOUCHED(roomy));                                                                                    \
        FILL(roomy, sizeof roomy);                                                                                     \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_OK);                                                         \
        CHECK(IS_UNTOUCHED(roomy));                                                                                    \
        CHECK_EQUAL(roomy.known.struct_size, sizeof roomy);                                                            \
        FILL(roomy, UINT32_MAX);                                                                                       \
        CHECK_EQUAL(function(handle, &roomy.known), ELIZA_OK);                                                         \
        CHECK(IS_UNTOUCHED(roomy));                                                                                    \
    } while (0)

/* An input struct: too small, as old as can be, exact, larger. `call` passes `given`, whose memory ends where it does. */
#define CHECK_GIVEN_STRUCT(type, good, call)                                                                           \
    do {                                                                                                               \
        const size_t sizes_[] = {FIRST_SIZE(type) - 1, FIRST_SIZE(type), sizeof(type), sizeof(type) + 32};             \
        for (size_t i_ = 0; i_ < sizeof sizes_ / sizeof *sizes_; i_++) {                                               \
            const type *given = copy_of_size(&(good), sizeof(type), sizes_[i_]);                                       \
            CHECK_EQUAL(call, i_ == 0 ? ELIZA_ERR_INVALID_ARG : ELIZA_OK);                                             \
            free((void *)given);                                                                                       \
        }                                                                                                              \
    } while (0)

static inline void *copy_of_size(const void *known, size_t known_size, size_t size) {
    unsigned char *copy = malloc(size);
    const uint32_t struct_size = (uint32_t)size;
    memset(copy, SENTINEL, size);
    memcpy(copy, known, size < known_size ? size : known_size);
    memcpy(copy, &struct_size, sizeof struct_size);
    return copy;
}

#endif
