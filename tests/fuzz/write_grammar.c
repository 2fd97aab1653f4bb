/* Grammars in Lark's notation, GBNF and EBNF: many rules and terminals that use each other, by as few ways to write one. */
#include "written.h"

enum { DEPTH_MAX = 5, FORMS_MAX = 4, REGEX_BYTES_MAX = 300 };

static enum dialect dialect;
/* Of Lark's notation: how many terminals and templates there are. */
static int n_terminals, n_templates;

/* Where an expression stands: in a rule, which may use rules, or in a terminal, which may use those after it. */
typedef struct {
    place at;
    bool is_terminal;
} where;

static void expression(text *to, input *in, where in_this, int depth);

/* ---- What is no list ---- */

static void literal(text *to, input *in, where here) {
    static const char *const texts[] = {"a", "b", "ab", "abc", "(", ")", " ", "true", "\\n", "aaaaaaaaaaaaaaaaaaaaaaaa"};
    uint32_t how = take_below(in, 14);
    if (how < 10) return put(to, "\"%s\"", texts[how]);
    if (how == 10) return put(to, "\"%.*s\"", 1 + here.at.j % 40, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    put(to, how == 11 ? "\"a%d\"" : how == 12 ? "\"%d\"" : "\"x%db\"", here.at.i + here.at.j);
}

static void regular(text *to, input *in) {
    static char bytes[4 * REGEX_BYTES_MAX];
    text of = {.bytes = bytes, .enough = REGEX_BYTES_MAX, .room = sizeof bytes};
    write_regex(&of, in);
    put(to, "/%.*s/", (int)of.n, of.bytes);
}

static void class(text *to, input *in) {
    static const char *const classes[] = {"[a-z]", "[^a]", "[0-9]", "[ \\n\\t]", "[a-cx-z]", "[^\\n\"]"};
    uint32_t which = take_below(in, 6);
    if (dialect == LARK) {
        put(to, "/%s/", classes[which]);
    } else {
        put(to, "%s", classes[which]);
    }
}

static void terminal(text *to, input *in, where here) {
    int first = here.is_terminal ? here.at.i + 1 : 0;
    if (first >= n_terminals) return literal(to, in, here);
    uint32_t how = take_below(in, 4);
    int which = how < 2 ? first + (int)how : (int)take_below(in, (uint32_t)n_terminals);
    if (how == 3) which = here.at.i + here.at.j;
    put(to, "T%d", which < first ? first : which < n_terminals ? which : n_terminals - 1);
}

static void used(text *to, input *in, where here) {
    if (here.is_terminal) return terminal(to, in, here);
    place at = here.at;
    int which = at.i + 1;
    switch (take_below(in, 16)) {
        case 0: which = at.i; break;
        case 1: which = at.i - 1; break;
        case 2: which = (int)take_below(in, (uint32_t)at.n); break;
        case 3: which = at.i + at.j; break;
        case 4:
        case 5: which = at.i + 2; break;
        default: break;
    }
    which = which < 0 ? 0 : which < at.n ? which : at.n - 1;
    put(to, which > 0 ? "r%d" : dialect == LARK ? "start" : "root", which);
}

static void token(text *to, input *in, where here) {
    static const char *const tokens[] = {"<[292]>", "<tool>", "<[97]>", "<[256]>", "<[*]>", "<[^97]>", "<[0-9,98]>"};
    if (dialect == EBNF) return put(to, "Token(256, 97)");
    if (here.is_terminal) return literal(to, in, here);
    put(to, "%s", tokens[take_below(in, dialect == LARK ? 7 : 4)]);
}

/* What only one notation has. */
static void special(text *to, input *in, where here, int depth) {
    uint32_t how = take(in);
    int n = take_scale(in, 480);
    if (here.is_terminal || dialect == GBNF) return class(to, in);
    if (dialect == EBNF && how % 2 == 0) {
        put(to, "TagDispatch(");
        int n_others = here.at.n > 1 ? here.at.n - 1 : 1;
        for (int j = 0; j < n; j++) put(to, how % 4 ? "(\"<%d>\", r%d), " : "(\"<%d\", r%d), ", j, 1 + j % n_others);
        return put(to, "loop_after_dispatch=%s)", how % 8 < 4 ? "true" : "false");
    }
    if (dialect == EBNF) {
        put(to, "Substring(\"a\"");
        for (int j = 0; j < n; j++) put(to, ", \"%s%d\"", how % 4 == 1 ? "a" : "", j % 9);
        return put(to, ")");
    }
    if (how % 3 == 0) {
        put(to, "%%json {\"x-guidance\": {\"lenient\": true}, \"type\": [\"array\", \"integer\"], \"maxItems\": %d}", here.at.j);
    } else if (how % 3 == 1) {
        put(to, "%%regex {\"substring_chars\": \"");
        for (int j = 0; j < n; j++) put(to, "%c", 'a' + (how % 2 ? 0 : j * j % 5));
        put(to, "\"}");
    } else if (n_templates > 0) {
        put(to, "t0{");
        literal(to, in, here);
        put(to, ", ");
        expression(to, in, here, depth + 1);
        put(to, "}");
    } else {
        put(to, "p::%d", n);
    }
}

/* ---- Lists and repetitions ---- */

static void repetition(text *to, input *in) {
    static const char *const repetitions[] = {"*", "+", "?", "{2}", "{0,1}", "{2,60}", "{1,1000}", "{3,}", "{0,5}", "{64}", "{0,2}",
                                              "{100000}"};
    put(to, "%s", repetitions[take_below(in, sizeof repetitions / sizeof *repetitions)]);
}

static void repeated(text *to, input *in, where here, int depth) {
    put(to, "(");
    expression(to, in, here, depth);
    put(to, ")");
    repetition(to, in);
}

static void listed(text *to, input *in, where here, int depth, const char *between) {
    many of = take_many(in, 3000);
    input same = *in;
    for (here.at.j = 0; here.at.j < of.n && !(here.at.j > 0 && is_enough(to)); here.at.j++) {
        input each = same;
        put(to, "%s", here.at.j > 0 ? between : "");
        expression(to, of.is_same ? &each : in, here, depth);
    }
}

static void within_each_other(text *to, input *in, where here, int depth) {
    static const char *const ends[] = {")", ")?", ")*", ")+", "){2}", "| \"a\")", "){0,2}", "\"b\")"};
    int n = take_scale(in, dialect == LARK ? 100 : 900);
    const char *end = ends[take_below(in, sizeof ends / sizeof *ends)];
    for (int k = 0; k < n; k++) put(to, "(");
    expression(to, in, here, depth);
    for (int k = 0; k < n; k++) put(to, "%s", end);
}

static void expression(text *to, input *in, where here, int depth) {
    uint32_t how = take_below(in, 20);
    if (depth >= DEPTH_MAX || is_enough(to)) how %= 10;
    switch (how) {
        case 0:
        case 1: return literal(to, in, here);
        case 2:
        case 3:
        case 4:
        case 5:
        case 6: return used(to, in, here);
        case 7: return dialect == LARK ? terminal(to, in, here) : class(to, in);
        case 8: return dialect == LARK ? regular(to, in) : class(to, in);
        case 9: return put(to, "%s", "\"\"");
        case 10:
        case 11:
        case 12: return repeated(to, in, here, depth + 1);
        case 13:
        case 14: return listed(to, in, here, depth + 1, " ");
        case 15:
        case 16:
            put(to, "(");
            listed(to, in, here, depth + 1, here.is_terminal && how == 16 ? " & " : " | ");
            return put(to, ")");
        case 17: return within_each_other(to, in, here, depth + 1);
        case 18: return token(to, in, here);
        default: return special(to, in, here, depth);
    }
}

/* ---- Rules ---- */

static void rule(text *to, input *in, place at) {
    static const char *const attributes[] = {"[max_tokens=%d]", "[lazy]", "[stop=\"a\"]", "[stop=\"b%d\", max_tokens=2]", "[capture]"};
    static const char *const of_ebnf[] = {"[lazy]", "[max_chars=5]"};
    uint32_t how = take_below(in, 32);
    put(to, at.i > 0 ? "r%d" : dialect == LARK ? "start" : "root", at.i);
    if (dialect == LARK && how < 5) put(to, attributes[how], 1 + at.i % 9);
    if (dialect == EBNF && how < 2) put(to, "%s", of_ebnf[how]);
    put(to, dialect == LARK ? ": " : " ::= ");
    where here = {at, dialect == LARK && how > 0 && how < 4};
    here.at.i -= here.is_terminal ? at.i + 1 : 0;
    listed(to, in, here, 0, " ");
    put(to, "\n");
}

static void terminals(text *to, input *in) {
    input form = take_text(in, 255), other = take_text(in, 255);
    for (int i = 0; i < n_terminals; i++) {
        input each = i % 2 ? other : form;
        uint32_t how = take(&each);
        put(to, how % 8 == 7 ? "T%d.%d: " : "T%d: ", i, i % 3);
        where here = {{.i = i, .n = n_terminals, .j = i}, true};
        put(to, "%s", how % 16 == 8 ? "~" : "");
        expression(to, &each, here, 1);
        if (how % 16 == 9) {
            put(to, " & ");
            expression(to, &each, here, 1);
        }
        put(to, "\n");
    }
}

/* Each of which has the next one in it, with arguments that grow. */
static void templates(text *to, input *in) {
    static const char *const arguments[] = {"x", "y", "\"a\"", "u{x, y}", "u{y, u{x, x}}"};
    uint32_t form = take(in), first = take_below(in, 5), second = take_below(in, 5);
    for (int i = 0; i + 1 < n_templates; i++) {
        put(to, "t%d{x, y}: t%d{%s, %s}", i, i + 1, arguments[first], arguments[second]);
        if (form & 1) put(to, " t%d{%s, %s}", i + 1, arguments[second], arguments[first]);
        put(to, form & 2 ? " | x y\n" : "\n");
    }
    put(to, "t%d{x, y}: %s\nu{x, y}: x | y \"b\"\n", n_templates - 1, form & 4 ? "t0{x, u{y, x}}? \"c\"" : "x y");
}

static void numbered(text *to, input *in) {
    static const char *const bodies[] = {"\"a\" p::incr(_)", "\"a\" p::set_bit(3) p::incr([0:8])", "p::set_bit(%d) p::clear_bit(1)"};
    static const char *const conditions[] = {"lt(_, %d)", "bit_clear(%d)", "not(is_ones([0:%d]))", "true"};
    put(to, "p::_: ");
    put(to, bodies[take_below(in, 3)], 5);
    put(to, " %%if ");
    put(to, conditions[take_below(in, 4)], 1 + take_scale(in, 60));
    put(to, " | \"b\"\n");
}

static void directives(text *to, input *in) {
    static const char *const lines[] = {
        "%%lexing longest\n", "%%lexing any\n", "%%lexing contextual\n", "%%conflicts shift\n", "%%conflicts follow\n",
        "%%grammar_options {\"ignore_once\": true}\n", "%%grammar_options {\"allow_initial_skip\": false}\n", "%%case ascii\n",
        "%%import common.NUMBER\n%%ignore NUMBER\n", "%%import common (WS, CPP_COMMENT)\n%%ignore WS\n%%ignore CPP_COMMENT\n",
        "%%left \"a\"\n%%right \"b\"\n", "%%soft \"a\" \"b\"\n",
    };
    bool is_there[sizeof lines / sizeof *lines] = {false};
    for (int k = (int)take_below(in, 4); k > 0; k--) {
        uint32_t which = take_below(in, sizeof lines / sizeof *lines);
        if (!is_there[which]) put(to, lines[which], 0);
        is_there[which] = true;
    }
    if (take(in) % 2) return;
    int n = take_scale(in, 480);
    input form = take_text(in, 60);
    for (int i = 0; i < n && !is_enough(to); i++) {
        input each = form;
        put(to, "%%ignore ");
        expression(to, &each, (where){{.i = -1, .n = n, .j = i}, true}, 2);
        put(to, "\n");
    }
}

void write_grammar(text *to, input *in, enum dialect of) {
    dialect = of;
    place at = {.n = take_scale(in, 7000)};
    input forms[FORMS_MAX], last = take_text(in, 60), first = take_text(in, 255);
    int n_forms = 1 + (int)take_below(in, FORMS_MAX);
    for (int k = 0; k < n_forms; k++) forms[k] = take_text(in, 255);
    uint32_t how = take(in);
    n_terminals = of == LARK ? take_scale(in, 1100) : 0;
    n_templates = of == LARK && how % 8 == 0 ? take_scale(in, 60) : 0;
    size_t enough = to->enough;
    for (; at.i < at.n; at.i++) {
        to->enough = to->n + (to->n < enough ? enough - to->n : 0) / (size_t)(at.n - at.i + 1);
        input form = at.i == 0 ? first : at.i == at.n - 1 ? last : forms[at.i % n_forms];
        rule(to, &form, at);
    }
    to->enough = enough;
    if (of != LARK) return;
    terminals(to, in);
    if (n_templates > 0) templates(to, in);
    numbered(to, in);
    directives(to, in);
}
