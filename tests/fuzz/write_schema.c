/* JSON Schemas: many definitions that refer to each other, by as few ways to write one. */
#include "written.h"

enum { DEPTH_MAX = 5, FORMS_MAX = 4, PATTERN_BYTES_MAX = 400 };

/* What a keyword has for a value. */
enum value {
    ONE,
    LIST,
    NAMED,
    PATTERNED,
    NAMES,
    NAME_LISTS,
    COUNT,
    NUMBER,
    STEP,
    TYPES,
    VALUE,
    VALUES,
    PATTERN,
    FORMAT,
    ALWAYS,
    REF,
    DYNAMIC_REF
};

/* First those of members and items, of these first the one of members that are named. */
static const struct {
    const char *name;
    enum value value;
} keywords[] = {
    {"properties", NAMED}, {"additionalProperties", ONE}, {"patternProperties", PATTERNED}, {"propertyNames", ONE},
    {"unevaluatedProperties", ONE}, {"items", ONE}, {"prefixItems", LIST}, {"contains", ONE},
    {"unevaluatedItems", ONE}, {"$ref", REF}, {"$dynamicRef", DYNAMIC_REF}, {"allOf", LIST}, {"anyOf", LIST},
    {"oneOf", LIST}, {"not", ONE}, {"if", ONE}, {"then", ONE}, {"else", ONE}, {"dependentSchemas", NAMED},
    {"dependentRequired", NAME_LISTS}, {"required", NAMES}, {"minProperties", COUNT}, {"maxProperties", COUNT},
    {"minContains", COUNT}, {"maxContains", COUNT}, {"minItems", COUNT}, {"maxItems", COUNT}, {"uniqueItems", ALWAYS},
    {"type", TYPES}, {"enum", VALUES}, {"const", VALUE}, {"minimum", NUMBER}, {"maximum", NUMBER},
    {"exclusiveMinimum", NUMBER}, {"exclusiveMaximum", NUMBER}, {"multipleOf", STEP}, {"minLength", COUNT},
    {"maxLength", COUNT}, {"pattern", PATTERN}, {"format", FORMAT},
};
enum { N_BELOW = 9, OF_TYPE = 28, N_KEYWORDS = sizeof keywords / sizeof *keywords };

/* Whether each definition has an address of its own. */
static bool has_addresses;

static void schema(text *to, input *in, place at, int depth);

/* ---- Values of keywords ---- */

/* Mostly the next one; another one before it only within a member or an item, so that there is a document. */
static int referred(input *in, place at) {
    uint32_t how = take_below(in, 16);
    if (how < 4 && !at.is_below) how = 4;
    switch (how) {
        case 0: return at.i > 0 ? at.i : 0;
        case 1: return at.i > 0 ? at.i - 1 : 0;
        case 2: return 0;
        case 3: return (int)take_below(in, (uint32_t)at.n);
        case 4: return at.n - 1;
        case 5:
        case 6: return at.i + 2 < at.n ? at.i + 2 : at.n - 1;
        default: return at.i + 1 < at.n ? at.i + 1 : at.n - 1;
    }
}

static void reference(text *to, input *in, place at, bool is_dynamic) {
    int which = referred(in, at);
    if (has_addresses) {
        put(to, "\"x:/d%d%s\"", which, is_dynamic ? "#n" : "");
    } else {
        put(to, "\"#/$defs/d%d\"", which);
    }
}

static void name(text *to, uint32_t how, place at) {
    switch (how % 4) {
        case 0: return put(to, "\"k%d\"", at.j);
        case 1: return put(to, "\"k%d\"", at.i + 1 + at.j);
        case 2: return put(to, "\"%c%d\"", 'a' + (at.i + 1) % 26, at.j);
        default: return put(to, "\"%.*s%d\"", at.j % 60, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", at.j / 60);
    }
}

static void pattern_of_names(text *to, uint32_t how, place at) {
    static const char *const forms[] = {"\"^k%d\"", "\"%d$\"", "\"^(a|k).{%d}$\"", "\"a.{%d}b\""};
    int j = how / 4 % 2 ? at.i + 1 + at.j : at.j;
    put(to, forms[how % 4], j);
}

enum listing { SCHEMAS, NAMED_SCHEMAS, PATTERNED_SCHEMAS, NAMES_ALONE, LISTS_OF_NAMES, LITERALS };

static void literal(text *to, input *in, place at, int depth);

static void listed(text *to, input *in, place at, int depth, enum listing what) {
    many of = take_many(in, 7000);
    uint32_t how = take(in);
    input same = *in;
    for (at.j = 0; at.j < of.n && !(at.j > 0 && is_enough(to)); at.j++) {
        input each = same, *from = of.is_same ? &each : in;
        if (at.j > 0) put(to, ",");
        if (what == NAMED_SCHEMAS || what == NAMES_ALONE || what == LISTS_OF_NAMES) name(to, how, at);
        if (what == PATTERNED_SCHEMAS) pattern_of_names(to, how, at);
        if (what == NAMED_SCHEMAS || what == PATTERNED_SCHEMAS) put(to, ":");
        if (what == LISTS_OF_NAMES) put(to, ":[\"k%d\"]", at.j + 1);
        if (what == SCHEMAS || what == NAMED_SCHEMAS || what == PATTERNED_SCHEMAS) schema(to, from, at, depth + 1);
        if (what == LITERALS) literal(to, from, at, depth + 1);
    }
}

static void literal(text *to, input *in, place at, int depth) {
    uint32_t how = take_below(in, 8);
    if (depth >= DEPTH_MAX || is_enough(to)) how %= 5;
    switch (how) {
        case 0: return put(to, "%d", at.j);
        case 1: return put(to, "\"v%d\"", at.j);
        case 2: return put(to, "%d.5e%d", at.i + 1, at.j % 20);
        case 3: return put(to, "%s", take(in) % 2 ? "null" : "true");
        case 4: return put(to, "\"%.*s\"", 2 + at.j % 60, "\xc3\xa9" "abababababababababababababababababababababababababababababab");
        case 5:
            put(to, "{");
            for (int j = 0, n = 1 + (int)take_below(in, 3); j < n; j++) {
                put(to, "%s\"k%d\":", j > 0 ? "," : "", j);
                literal(to, in, at, depth + 1);
            }
            return put(to, "}");
        default:
            put(to, "[%d,", at.j);
            listed(to, in, at, depth, LITERALS);
            return put(to, "]");
    }
}

static void count(text *to, input *in, place at) {
    static const char *const counts[] = {"0", "1", "2", "3", "5", "8", "12", "60", "1000", "40000", "1000000000",
                                         "18446744073709551616"};
    uint32_t how = take_below(in, 16);
    if (how >= 12) {
        put(to, "%d", how == 12 ? at.i + 1 : how == 13 ? at.j : how == 14 ? at.n - at.i : (at.i + 1) % 9);
    } else {
        put(to, "%s", counts[how]);
    }
}

static void number(text *to, input *in, place at) {
    static const char *const numbers[] = {"0", "1", "-1", "0.1", "7", "1e300", "-1e-300", "3.3333",
                                          "123456789012345678901234567890", "-99999.5"};
    uint32_t how = take_below(in, 14);
    if (how >= 10) {
        put(to, how % 2 ? "%d" : "-%d.25", at.i + 1 + at.j);
    } else {
        put(to, "%s", numbers[how]);
    }
}

static void step(text *to, input *in, place at) {
    static const char *const steps[] = {"1", "2", "0.1", "7", "0.003", "1e-20", "97", "12345", "65537.5", "1e300"};
    uint32_t how = take_below(in, 12);
    if (how >= 10) {
        put(to, "%d", 2 + at.i + at.j);
    } else {
        put(to, "%s", steps[how]);
    }
}

static void types(text *to, input *in) {
    static const char *const names[] = {"object", "array", "string", "integer", "number", "boolean", "null"};
    uint32_t first = take_below(in, 7), n = take(in) % 4 == 0 ? 1 + take_below(in, 7) : 1;
    put(to, "[");
    for (uint32_t k = 0; k < n; k++) put(to, "%s\"%s\"", k > 0 ? "," : "", names[(first + k) % 7]);
    put(to, "]");
}

static void pattern(text *to, input *in) {
    static char bytes[4 * PATTERN_BYTES_MAX];
    text of = {.bytes = bytes, .enough = PATTERN_BYTES_MAX, .room = sizeof bytes};
    uint32_t anchors = take(in);
    if (anchors & 1) put(&of, "^");
    write_regex(&of, in);
    if (anchors & 2) put(&of, "$");
    put_json_string(to, &of);
}

static void format(text *to, input *in) {
    static const char *const formats[] = {"date-time", "time", "duration", "email", "hostname", "idn-hostname", "ipv6", "uri",
                                          "iri-reference", "uri-template", "uuid", "json-pointer", "regex", "unknown"};
    put(to, "\"%s\"", formats[take_below(in, sizeof formats / sizeof *formats)]);
}

static void value(text *to, input *in, place at, int depth, enum value what) {
    static const char open[] = {[LIST] = '[', [NAMED] = '{', [PATTERNED] = '{', [NAMES] = '[', [NAME_LISTS] = '{', [VALUES] = '['};
    static const char shut[] = {[LIST] = ']', [NAMED] = '}', [PATTERNED] = '}', [NAMES] = ']', [NAME_LISTS] = '}', [VALUES] = ']'};
    static const enum listing listing[] = {[LIST] = SCHEMAS, [NAMED] = NAMED_SCHEMAS, [PATTERNED] = PATTERNED_SCHEMAS,
                                           [NAMES] = NAMES_ALONE, [NAME_LISTS] = LISTS_OF_NAMES, [VALUES] = LITERALS};
    switch (what) {
        case ONE: return schema(to, in, at, depth + 1);
        case COUNT: return count(to, in, at);
        case NUMBER: return number(to, in, at);
        case STEP: return step(to, in, at);
        case TYPES: return types(to, in);
        case VALUE: return literal(to, in, at, depth + 1);
        case PATTERN: return pattern(to, in);
        case FORMAT: return format(to, in);
        case ALWAYS: return put(to, "true");
        case REF:
        case DYNAMIC_REF: return reference(to, in, at, what == DYNAMIC_REF);
        default:
            put(to, "%c", open[what]);
            listed(to, in, at, depth, listing[what]);
            put(to, "%c", shut[what]);
    }
}

/* ---- Schemas ---- */

static void leaf(text *to, input *in) {
    static const char *const leaves[] = {"{\"type\":\"object\"}", "{\"type\":\"string\"}", "{\"type\":\"integer\"}", "{\"type\":\"array\"}",
                                         "{\"enum\":[1,\"a\",null]}", "{\"type\":\"string\",\"maxLength\":50}", "true", "false",
                                         "{\"type\":[\"object\",\"string\"]}", "{\"minLength\":2}", "{\"const\":0}",
                                         "{\"type\":\"number\"}"};
    put(to, "%s", leaves[take_below(in, sizeof leaves / sizeof *leaves)]);
}

static void members(text *to, input *in, place at, int depth, bool is_of_objects) {
    bool is_there[N_KEYWORDS] = {[OF_TYPE] = is_of_objects};
    if (is_of_objects) put(to, "\"type\":\"object\",");
    int n = 1 + (int)take_below(in, 5);
    for (int k = 0, written = 0; k < n; k++) {
        uint32_t which = is_of_objects && k == 0 ? 0 : take_below(in, N_KEYWORDS);
        if (is_there[which]) continue;
        is_there[which] = true;
        put(to, "%s\"%s\":", written++ > 0 ? "," : "", keywords[which].name);
        place of = at;
        of.is_below |= which < N_BELOW;
        value(to, in, of, depth, keywords[which].value);
    }
}

static void within_each_other(text *to, input *in, place at, int depth) {
    static const char *const begins[] = {"{\"items\":", "{\"additionalProperties\":", "{\"not\":", "{\"properties\":{\"a\":",
                                         "{\"allOf\":[",
                                         "{\"anyOf\":[{\"minLength\":1},", "{\"if\":", "{\"type\":\"array\",\"minItems\":1,\"items\":",
                                         "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":", "{\"oneOf\":[",
                                         "{\"contains\":"};
    static const char *const ends[] = {"}", "}", "}", "}}", "]}", "]}", "}", "}", "}}", "]}", "}"};
    int n = take_scale(in, 1100);
    uint32_t first = take_below(in, 11), second = take_below(in, 11);
    for (int k = 0; k < n; k++) put(to, "%s", begins[k % 2 ? second : first]);
    schema(to, in, at, depth + 1);
    for (int k = n - 1; k >= 0; k--) put(to, "%s", ends[k % 2 ? second : first]);
}

static void schema(text *to, input *in, place at, int depth) {
    uint32_t how = take_below(in, 16);
    bool is_last = depth >= DEPTH_MAX || is_enough(to);
    if (how == 0 || (is_last && how > 8)) return leaf(to, in);
    if (how == 15) return within_each_other(to, in, at, depth);
    put(to, "{");
    if (how <= 8) {
        put(to, "\"$ref\":");
        reference(to, in, at, false);
    } else {
        members(to, in, at, depth, false);
    }
    put(to, "}");
}

/* A definition, which is more than a reference where it can be. */
static void definition(text *to, input *in, place at) {
    put(to, "\"d%d\":{", at.i);
    if (has_addresses) put(to, "\"$id\":\"x:/d%d\",\"$dynamicAnchor\":\"n\",", at.i);
    if (at.i == at.n - 1) {
        put(to, "\"const\":");
        literal(to, in, at, 0);
    } else {
        members(to, in, at, 0, false);
    }
    put(to, "}");
}

void write_schema(text *to, input *in, bool is_of_objects, const char *before) {
    place at = {.n = take_scale(in, 7000)};
    has_addresses = take(in) % 8 == 7;
    input forms[FORMS_MAX], last = take_text(in, 40), root = take_text(in, 255);
    int n_forms = 1 + (int)take_below(in, FORMS_MAX);
    for (int k = 0; k < n_forms; k++) forms[k] = take_text(in, 255);
    size_t enough = to->enough;
    put(to, "{%s%s\"$defs\":{", before, has_addresses ? "\"$id\":\"x:/r\"," : "");
    for (; at.i < at.n; at.i++) {
        to->enough = to->n + (to->n < enough ? enough - to->n : 0) / (size_t)(at.n - at.i + 1);
        if (at.i > 0) put(to, ",");
        input form = at.i == at.n - 1 ? last : forms[at.i % n_forms];
        definition(to, &form, at);
    }
    to->enough = enough;
    at.i = -1;
    put(to, "},");
    members(to, &root, at, 0, is_of_objects);
    put(to, "}");
}
