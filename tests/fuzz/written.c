#include "written.h"

#include <stdarg.h>

/* ---- A text ---- */

void put(text *to, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int n = vsnprintf(to->bytes + to->n, to->room - to->n, format, values);
    va_end(values);
    to->n += (size_t)n < to->room - to->n ? (size_t)n : to->room - to->n - 1;
}

void put_json_string(text *to, const text *content) {
    put(to, "\"");
    for (size_t i = 0; i < content->n; i++) {
        char c = content->bytes[i];
        if (c == '\n') {
            put(to, "\\n");
        } else {
            put(to, c == '"' || c == '\\' ? "\\%c" : "%c", c);
        }
    }
    put(to, "\"");
}

int take_scale(input *in, int most) {
    static const int scale[] = {1, 2, 3, 4, 6, 10, 20, 40, 60, 150, 480, 1100, 3000, 7000};
    int taken = scale[take_below(in, sizeof scale / sizeof *scale)];
    return taken < most ? taken : most;
}

many take_many(input *in, int most) {
    uint32_t how = take_below(in, 16);
    if (how < 12) return (many){1 + (int)how % 4, false};
    return (many){take_scale(in, most), true};
}

/* ---- Regular expressions ---- */

enum { REGEX_DEPTH_MAX = 6 };

static void regex(text *to, input *in, int depth);

static void atom(text *to, input *in) {
    static const char *const atoms[] = {"a", "b", "ab", "[a-z]", ".", "[^a]", "\\d", "\\w", "\\p{L}", "\xc3\xa9", " ", "[0-9a-f]"};
    put(to, "%s", atoms[take_below(in, sizeof atoms / sizeof *atoms)]);
}

static void repeated(text *to, input *in, int depth) {
    static const char *const counts[] = {"*", "+", "?", "*?", "+?", "{2}", "{0,9}", "{1,60}", "{40}", "{3,}", "{0,1000}", "{2,5}?"};
    put(to, "(");
    regex(to, in, depth);
    put(to, ")%s", counts[take_below(in, sizeof counts / sizeof *counts)]);
}

static void around(text *to, input *in, int depth) {
    static const char *const begins[] = {"(?=", "(?!", "(?<=", "(?<!"};
    if (take(in) % 3 == 0) {
        put(to, "\\%c", take(in) % 2 ? 'b' : 'B');
        return;
    }
    put(to, "%s", begins[take_below(in, 4)]);
    regex(to, in, depth);
    put(to, ")");
}

static void listed(text *to, input *in, int depth, const char *between) {
    many of = take_many(in, 480);
    input same = *in;
    for (int j = 0; j < of.n && !(j > 0 && is_enough(to)); j++) {
        input each = same;
        put(to, "%s", j > 0 ? between : "");
        regex(to, of.is_same ? &each : in, depth);
        if (of.is_same && take(&each) % 2) put(to, "%d", j);
    }
}

static void within_each_other(text *to, input *in, int depth) {
    static const char *const ends[] = {")", ")?", ")*", ")+", "){2}", "|a)", "){0,2}", "b)"};
    int n = take_scale(in, 150);
    const char *end = ends[take_below(in, sizeof ends / sizeof *ends)];
    for (int k = 0; k < n; k++) put(to, "(");
    regex(to, in, depth);
    for (int k = 0; k < n; k++) put(to, "%s", end);
}

static void regex(text *to, input *in, int depth) {
    uint32_t how = take_below(in, 12);
    if (depth == REGEX_DEPTH_MAX || is_enough(to)) how = 0;
    if (how < 3) return atom(to, in);
    if (how < 6) return repeated(to, in, depth + 1);
    if (how < 8) return listed(to, in, depth + 1, "");
    if (how == 8) return around(to, in, depth + 1);
    if (how == 9) return within_each_other(to, in, depth + 1);
    put(to, "(");
    listed(to, in, depth + 1, "|");
    put(to, ")");
}

void write_regex(text *to, input *in) {
    regex(to, in, 0);
}
