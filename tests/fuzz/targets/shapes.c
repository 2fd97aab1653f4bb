/* Decisions, by which a constraint is written: well-formed, and of a shape that asks for much. Schemas, alone, in tags and in
 * grammars; grammars in each notation; many tags; regular expressions. Not in payloads, whose compiling has no budget but by default. */
#include "../written.h"

enum { ENOUGH_MAX = 1 << 19, BEYOND = 1 << 18 };

static const char *const styles[] = {"cohere_xml", "minimax_m3_xml", "glm_xml", "qwen_xml", "kimi_k3_xml",
                                     "deepseek_xml", "minimax_xml", "deepseek_v4_1_xml", "json"};

/* Another text, for what stands in a string. */
static text within(size_t enough) {
    static char bytes[ENOUGH_MAX + BEYOND];
    return (text){.bytes = bytes, .enough = enough, .room = sizeof bytes};
}

/* ---- Kinds ---- */

/* What each is compiled with. */
typedef struct {
    eliza_vocab *vocab;
    const eliza_compile_config_t *limits;
    eliza_constraint **made;
    char **error;
} call;

/* Writes the text, and compiles it. Returns the call's status. */
typedef int kind(const call *of, input *in, text *to);

static int json_schema(const call *of, input *in, text *to) {
    uint8_t how = take(in);
    eliza_json_schema_options_t options = {
        .struct_size = sizeof options, .flags = how & 3, .space = how / 4 & 3, .order = how / 16 & 1, .draft = how >= 192 ? how % 5 : 0};
    write_schema(to, in, false, "");
    return eliza_inference_constraint_create_json_schema(of->vocab, to->bytes, to->n, &options, of->limits, of->made, of->error);
}

static void grammar_in_string(text *to, input *in) {
    static const char *const names[] = {"lark", "gbnf", "ebnf"};
    uint32_t which = take_below(in, 3);
    text grammar = within(to->enough / 2);
    write_grammar(&grammar, in, (enum dialect)which);
    put(to, "\"%s\":", names[which]);
    put_json_string(to, &grammar);
}

static void language(text *to, input *in) {
    uint8_t how = take(in);
    if (how % 8 == 0) return grammar_in_string(to, in);
    if (how % 8 == 1) {
        text regex = within(to->enough / 2);
        write_regex(&regex, in);
        put(to, "\"regex\":");
        return put_json_string(to, &regex);
    }
    uint8_t options = take(in);
    if (how % 8 > 2) put(to, "\"style\":\"%s\",", styles[how / 8 % (sizeof styles / sizeof *styles)]);
    if (options % 2) {
        put(to, "\"schema_options\":{\"order\":\"%s\",", options & 2 ? "any" : "declared");
        put(to, "\"lenient\":%s},", options & 4 ? "true" : "false");
    }
    put(to, "\"json_schema\":");
    write_schema(to, in, true, "");
}

static int tags(const call *of, input *in, text *to) {
    many all = take_many(in, 480);
    uint8_t how = take(in);
    input same = *in;
    size_t enough = to->enough;
    put(to, "{\"tags\":[");
    for (int j = 0; j < all.n && !(j > 0 && to->n > enough); j++) {
        input each = same;
        to->enough = to->n + enough / (size_t)all.n;
        put(to, how & 1 ? "%s{\"begin\":\"<%d>\"," : "%s{\"begin\":\"<f%d\",", j > 0 ? "," : "", j + (how & 1 ? 0 : 1000));
        if (how & 6) put(to, "\"end\":\"</%d>\",", j);
        if (how & 4) put(to, "\"separator\":\"%s\",\"tags\":[{\"begin\":\"a\",\"end\":\"b\",", how & 8 ? "," : "");
        language(to, all.is_same ? &each : in);
        put(to, how & 4 ? "}]}" : "}");
    }
    put(to, "]");
    if (how & 16) put(to, ",\"triggers\":[\"<\"]");
    if (how & 32) put(to, ",\"at_least\":%d", 1 + how / 64);
    put(to, "}");
    return eliza_inference_constraint_create_tags(of->vocab, (const uint8_t *)to->bytes, to->n, of->limits, of->made, of->error);
}

static int schema_in_grammar(const call *of, input *in, text *to) {
    char before[100] = "";
    uint8_t how = take(in);
    if (how % 2) {
        const char *style = styles[how / 2 % 8];
        snprintf(before, sizeof before, "\"x-guidance\":{\"style\":\"%s\",\"lenient\":true},", style);
        put(to, "%%lexing any\n");
    }
    put(to, "start: \"a\" doc%s\ndoc: %%json ", how / 16 % 2 ? "+ \"b\" | doc doc" : "");
    write_schema(to, in, *before != 0, before);
    put(to, "\n");
    return eliza_inference_constraint_create_lark(of->vocab, to->bytes, to->n, of->limits, of->made, of->error);
}

static int lark(const call *of, input *in, text *to) {
    write_grammar(to, in, LARK);
    return eliza_inference_constraint_create_lark(of->vocab, to->bytes, to->n, of->limits, of->made, of->error);
}

static int gbnf(const call *of, input *in, text *to) {
    bool is_ebnf = take(in) % 4 == 0;
    write_grammar(to, in, is_ebnf ? EBNF : GBNF);
    uint32_t flags = is_ebnf ? ELIZA_GBNF_EBNF : 0;
    return eliza_inference_constraint_create_gbnf(of->vocab, to->bytes, to->n, NULL, 0, flags, of->limits, of->made, of->error);
}

static int regex(const call *of, input *in, text *to) {
    write_regex(to, in);
    return eliza_inference_constraint_create_regex(of->vocab, to->bytes, to->n, take(in) & 3, of->limits, of->made, of->error);
}

/* ---- An input ---- */

static kind *const kinds[] = {json_schema, json_schema, tags, tags, lark, lark, gbnf, gbnf, schema_in_grammar, regex};

enum { LATE_MS = 2000 }; /* where there is no other limit */

static int compile(eliza_vocab *vocab, uint8_t flags, input in, bool *names_tokens, eliza_constraint **made, char **error) {
    static char bytes[ENOUGH_MAX + BEYOND];
    kind *one = kinds[(flags & 127) % (sizeof kinds / sizeof *kinds)];
    *names_tokens = one != json_schema && one != regex;
    uint8_t how = take(&in);
    text to = {.bytes = bytes, .enough = (size_t)1024 << how % 10, .room = sizeof bytes};
    eliza_compile_config_t limits = budget;
    limits.ms_max = budget.ms_max == 0 ? LATE_MS : budget.ms_max << how / 16 % 2 * 3; /* some come to what is done last */
    limits.states_max <<= how / 32 % 2 * 5;
    int status = one(&(call){vocab, &limits, made, error}, &in, &to);
    if (getenv("SHOW_SHAPES") != NULL) fprintf(stderr, "%s\n%d %s\n", to.bytes, status, *error != NULL ? *error : "");
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return try_notation(compile, data, size);
}
