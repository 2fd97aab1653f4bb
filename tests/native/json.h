/* JSON as C data: what generate.py makes of the conformance cases, and how a C program reads it. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;

typedef struct json {
    json_type type;
    const char *key;  /* of a member of an object */
    int64_t integer;  /* a bool; a number without its fraction */
    double number;    /* of a number */
    const char *text; /* of a string; ends with a 0 */
    const struct json *items; /* of an array, or the members of an object */
    size_t length;            /* of the text, in bytes; of the items */
} json;

/* All case files, an array; each object is a file, with its `name`. Those of streams are apart. */
extern const json conformance_files, stream_files;
/* The grammars that ship: an object of texts by name. */
extern const json shipped_grammars;

/* NULL if there is no such member, or no object. */
static inline const json *json_get(const json *object, const char *key) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    for (size_t i = 0; i < object->length; i++)
        if (strcmp(object->items[i].key, key) == 0) return &object->items[i];
    return NULL;
}

static inline int64_t json_integer(const json *object, const char *key, int64_t absent) {
    const json *value = json_get(object, key);
    return value ? value->integer : absent;
}

static inline int json_is(const json *string, const char *text) {
    return string && string->type == JSON_STRING && strcmp(string->text, text) == 0;
}

/* The place of a string in a list of names; -1: not in it. */
static inline int json_index(const json *string, const char *const *names, size_t n_names) {
    for (size_t i = 0; i < n_names; i++)
        if (json_is(string, names[i])) return (int)i;
    return -1;
}

#endif
