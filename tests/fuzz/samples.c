#include "samples.h"

enum kind { TREE, CHOICES, CANONICAL, REGEX, LARK, COUNTED, GBNF, EBNF, SCHEMA, ANY_ORDER, TAGS };

/* Their texts are quickly compiled, unless the machine is busy. */
/* No time by the wall clock: what a sampler may not finish on a busy machine, it lets through. */
static const eliza_compile_config_t within = {.struct_size = sizeof within, .mask_bytes_max = 4 << 20};

static const eliza_json_schema_options_t any_order = {.struct_size = sizeof any_order, .order = ELIZA_JSON_ORDER_ANY};

static const struct {
    enum kind kind;
    const char *text;
} samples[N_SAMPLES] = {
    {TREE, "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":["
           "{\"path\":\"p\",\"leaves\":[{\"name\":\"ab\",\"tokens\":[97,98]},{\"name\":\"abc\",\"tokens\":[97,98,99]},"
           "{\"name\":\"d\",\"tokens\":[100]}],\"end\":[32,10]},"
           "{\"path\":\"q\",\"leaves\":[{\"name\":\"t\",\"tokens\":[260]}]}]}"},
    {TREE, "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":["
           "{\"path\":\"p\",\"trigger\":[[60,97],[60]],\"leaves\":[{\"name\":\"x\",\"tokens\":[1,2,3]},{\"name\":\"y\",\"tokens\":[1,2]}]},"
           "{\"path\":\"q\",\"trigger\":[[97,97,98]],\"leaves\":[{\"name\":\"z\",\"tokens\":[60]},"
           "{\"name\":\"w\",\"tokens\":[60,97,97,98]}],\"end\":[292]}]}"},
    {TREE, "{\"modelId\":\"\",\"names\":\"labels\",\"descriptors\":["
           "{\"path\":\"\",\"leaves\":[{\"name\":\"a\",\"tokens\":[97]},{\"name\":\"b\",\"tokens\":[97]},"
           "{\"name\":\"c\",\"tokens\":[97,97,97,97,97]}]},"
           "{\"path\":\"q\",\"trigger\":[[295]],\"leaves\":[{\"name\":\"s\",\"tokens\":[294,297,296]}]}]}"},
    {TREE, "{\"modelId\":\"\",\"descriptors\":["
           "{\"path\":\"p\",\"leaves\":[{\"name\":\"yes\",\"tokens\":[286]},{\"name\":\"no\",\"tokens\":[287]},"
           "{\"name\":\"no\\n\\n\",\"tokens\":[287,271]}],\"end\":[293]}]}"},
    {CANONICAL, "abc\nabd\nb\ntrue\n"},
    {CHOICES, "abc\nabd\nb\ntrue\n"},
    {REGEX, "(ab|[0-9]+)*c"},
    {REGEX, "(?s:.{0,6})\xc3\xa9?"},
    {LARK, "start: \"[\" [start (\",\" start)*] \"]\" | WORD | NUMBER\nWORD: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore /[ ]+/\n"},
    {LARK, "start: a b c\na: \nb: | \"x\" b\nc: a | \"(\" start \")\" a\n"},
    {LARK, "start: e\ne: e \"+\" e | e e | \"a\" | \"(\" e \")\"\n"},
    {LARK, "start: \"a\" doc \"b\" | \"ab\"\ndoc: %json {\"type\": \"array\", \"items\": {\"type\": \"integer\"}}\n"},
    {GBNF, "root ::= <[292]> | !<[293]> root | \"a\" root"},
    {GBNF, "root ::= \"a\" root \"b\" | [^a-c]{0,3} | \"true\" | \"a\" <tool>"},
    {EBNF, "root ::= TagDispatch((\"<a>\", x))\nx ::= [0-9]+ \"</a>\"\n"},
    {SCHEMA, "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\", \"maxLength\": 3}, "
             "\"b\": {\"enum\": [1, true, \"ab\"]}}}"},
    {SCHEMA, "{\"type\": \"array\", \"items\": {\"anyOf\": [{\"$ref\": \"#\"}, {\"type\": \"number\", \"minimum\": -1.5, "
             "\"multipleOf\": 0.5}, {\"type\": \"string\", \"pattern\": \"^a+b?$\"}]}, \"uniqueItems\": true, \"maxItems\": 4}"},
    {SCHEMA, "{\"not\": {\"type\": \"object\"}, \"oneOf\": [{\"format\": \"date\"}, {\"type\": [\"null\", \"boolean\"]}]}"},
    {TAGS, "{\"tags\": [{\"begin\": \"<a>\", \"regex\": \"[a-z]+\", \"end\": \"</a>\"}]}"},
    {TAGS, "{\"triggers\": [\"<\"], \"tags\": [{\"begin\": \"<a>\", \"json_schema\": {\"type\": \"integer\"}, \"end\": \"</a>\"}, "
           "{\"begin\": \"<b\", \"lark\": \"start: \\\"x\\\" start | \", \"end\": \"b\"}], \"at_least\": 1, \"excludes\": [\"no\"]}"},
    {COUNTED, "start: word \".\" start?\nword[max_tokens=2]: /[a-z]+/\n"},
    {COUNTED, "start: (name | doc | <[292]> | \"true\")+\nname[max_tokens=3]: /[a-z ]+/\n"
              "doc[max_tokens=5]: \"<\" inner \">\"\ninner: %json {\"type\": [\"array\", \"boolean\"]}\n"},
    {ANY_ORDER, "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\", \"maxLength\": 3}, "
                "\"b\": {\"$ref\": \"#\"}, \"ab\": true}, \"required\": [\"ab\", \"c\"], "
                "\"additionalProperties\": {\"type\": \"integer\"}, \"maxProperties\": 4}"},
    {TAGS, "{\"tags\": [{\"begin\": \"<a>\", \"lark\": \"start: a \\\"b\\\"\\na[max_tokens=2]: /[a-z]+/\", \"end\": \"</a>\"}, "
           "{\"begin\": \"{\", \"gbnf\": \"root ::= \\\"a\\\" root \\\"b\\\" | \\\"\\\"\", \"end\": \"}\"}], \"at_least\": 2}"},
};

static int create_choices(const eliza_vocab *vocab, const char *text, uint32_t flags, eliza_constraint **out) {
    uint8_t bytes[64];
    uint64_t offsets[8] = {0}, at = 0;
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '\n') {
            offsets[++n] = at;
        } else {
            bytes[at++] = (uint8_t)*text;
        }
    }
    return eliza_inference_constraint_create_choices(vocab, bytes, offsets, n, flags, &within, out, NULL);
}

static int create(enum kind kind, const char *text, const eliza_vocab *vocab, eliza_constraint **out) {
    size_t n = strlen(text);
    switch (kind) {
        case TREE: return eliza_inference_constraint_create_token_trie(vocab, text, n, out, NULL);
        case CHOICES: return create_choices(vocab, text, 0, out);
        case CANONICAL: return create_choices(vocab, text, ELIZA_CHOICES_CANONICAL, out);
        case REGEX: return eliza_inference_constraint_create_regex(vocab, text, n, 0, &within, out, NULL);
        case LARK:
        case COUNTED: return eliza_inference_constraint_create_lark(vocab, text, n, &within, out, NULL);
        case GBNF: return eliza_inference_constraint_create_gbnf(vocab, text, n, NULL, 0, 0, &within, out, NULL);
        case EBNF: return eliza_inference_constraint_create_gbnf(vocab, text, n, NULL, 0, ELIZA_GBNF_EBNF, &within, out, NULL);
        case SCHEMA: return eliza_inference_constraint_create_json_schema(vocab, text, n, NULL, &within, out, NULL);
        case ANY_ORDER: return eliza_inference_constraint_create_json_schema(vocab, text, n, &any_order, &within, out, NULL);
        default: return eliza_inference_constraint_create_tags(vocab, (const uint8_t *)text, n, &within, out, NULL);
    }
}

eliza_constraint *sample(uint32_t which, const eliza_vocab *vocab) {
    enum kind kind = samples[which].kind;
    eliza_constraint *made = NULL;
    int status = create(kind, samples[which].text, vocab, &made);
    /* A tokenizer of its own may spell no choice. */
    CHECK(status == ELIZA_OK || kind == CANONICAL);
    return made;
}

const char *sample_text(uint32_t which) {
    return samples[which].text;
}

bool sample_takes_any_tokens(uint32_t which) {
    enum kind kind = samples[which].kind;
    return kind == CHOICES || kind == REGEX || kind == LARK || kind == SCHEMA || kind == ANY_ORDER;
}
