/* What both runners of the conformance cases need: comparing, and what the notations in cases stand for. */
#ifndef CASES_H
#define CASES_H

#include "check.h"
#include "eliza_inference.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The runner's own: says where it is. */
static void fail(const char *what);

static void expect_number(const char *what, long long actual, long long expected) {
    if (actual == expected) {
        checks_passed++;
        return;
    }
    char text[160];
    snprintf(text, sizeof text, "%s is %lld, expected %lld", what, actual, expected);
    fail(text);
}

static void expect_text(const char *what, const char *actual, const char *expected) {
    if (strcmp(actual ? actual : "none", expected) == 0) {
        checks_passed++;
        return;
    }
    fail(what);
    fprintf(stderr, "    is       %s\n    expected %s\n", actual ? actual : "(none)", expected);
}

static void expect_failure(int status, const char *message, const json *error) {
    expect_text("status", eliza_inference_status_name(status), json_get(error, "status")->text);
    const json *expected = json_get(error, "message");
    if (expected) expect_text("message", message, expected->text);
}

/* Notations */

typedef struct {
    char *bytes; /* to be freed */
    size_t length, capacity;
} buffer;

static void append(buffer *out, const char *bytes, size_t length) {
    if (!out->bytes || out->length + length > out->capacity) {
        out->capacity = 2 * (out->length + length) + 1;
        out->bytes = realloc(out->bytes, out->capacity);
    }
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

/* A text, a piece, or a list of these. */
static void append_octets(buffer *out, const json *value) {
    if (value->type == JSON_STRING) append(out, value->text, value->length);
    if (value->type == JSON_ARRAY)
        for (size_t i = 0; i < value->length; i++) append_octets(out, &value->items[i]);
    if (value->type != JSON_OBJECT) return;
    const json *text = json_get(value, "text"), *hex = json_get(value, "hex");
    buffer piece = {0};
    if (text) append(&piece, text->text, text->length);
    for (size_t i = 0; hex && i < hex->length; i += 2) {
        const char digits[3] = {hex->text[i], hex->text[i + 1], 0}, byte = (char)strtol(digits, NULL, 16);
        append(&piece, &byte, 1);
    }
    for (int64_t n = json_integer(value, "count", 1); piece.bytes && n > 0; n--) append(out, piece.bytes, piece.length);
    free(piece.bytes);
}

static buffer octets(const json *value) {
    buffer out = {0};
    append(&out, "", 0);
    append_octets(&out, value);
    return out;
}

#endif
