/** The constraint of the page as a program in each language. */
import type { State } from "./state.js";

export const LANGUAGES = { python: "Python", typescript: "TypeScript", c: "C" } as const;

export type Language = keyof typeof LANGUAGES;

/** A program that compiles the constraint for the vocabulary of a `tokenizer.json`; in C, for one that is there. */
export function program(state: State, language: Language): string {
  return PROGRAMS[language](state);
}

const PROGRAMS: Record<Language, (state: State) => string> = {
  python: (state) =>
    [
      "from eliza_inference import Constraint, Matcher, Vocabulary",
      "",
      'vocabulary = Vocabulary.from_tokenizer_json("tokenizer.json")',
      `constraint = ${python(state)}`,
      "matcher = Matcher(constraint)",
      "",
    ].join("\n"),
  typescript: (state) =>
    [
      'import { readFileSync } from "node:fs";',
      'import { Constraint, Matcher, Vocabulary } from "eliza-inference";',
      "",
      'const tokenizer = JSON.parse(readFileSync("tokenizer.json", "utf8"));',
      "const vocabulary = Vocabulary.fromTokenizerJson(tokenizer);",
      `const constraint = ${typescript(state)};`,
      "const matcher = new Matcher(constraint);",
      "",
    ].join("\n"),
  c: (state) => {
    const text = state.kind === "names" ? [] : [`const char text[] = ${cString(state.source)};`];
    return [...text, ...c(state), ""].join("\n");
  },
};

function python(state: State): string {
  const { kind, source, space, order } = state;
  const isPlain = source.includes("\n") && !source.includes('"""') && !/["\\]$/.test(source);
  const literal = isPlain ? `r"""${source}"""` : JSON.stringify(source);
  switch (kind) {
    case "names":
      return `Constraint.choices(vocabulary, ${JSON.stringify(namesOf(source))})`;
    case "schema":
      return `Constraint.json_schema(vocabulary, ${literal}, space="${space}", order="${order}")`;
    case "payload":
      return `Constraint(vocabulary, ${literal})`;
    default:
      return `Constraint.${kind}(vocabulary, ${literal})`;
  }
}

function typescript(state: State): string {
  const { kind, source, space, order } = state;
  const isPlain = source.includes("\n") && !/`|\$\{|\\$/.test(source);
  const literal = isPlain ? `String.raw\`${source}\`` : JSON.stringify(source);
  switch (kind) {
    case "names":
      return `Constraint.choices(vocabulary, ${JSON.stringify(namesOf(source))})`;
    case "schema":
      return `Constraint.jsonSchema(vocabulary, ${literal}, { space: "${space}", order: "${order}" })`;
    case "payload":
      return `new Constraint(vocabulary, ${literal})`;
    default:
      return `Constraint.${kind}(vocabulary, ${literal})`;
  }
}

function c({ kind, source, space, order }: State): string[] {
  const made = "&constraint, &error";
  const call = (name: string, middle: string): string[] => [
    "eliza_constraint *constraint = NULL;",
    "char *error = NULL;",
    `int status = eliza_inference_constraint_create_${name}(vocab, ${middle}, ${made});`,
  ];
  switch (kind) {
    case "names": {
      const names = namesOf(source);
      const offsets = [0];
      for (const name of names) offsets.push(offsets.at(-1)! + byteLength(name));
      return [
        `const char names[] = ${cString(names.join(""))};`,
        `const uint64_t offsets[] = {${offsets.join(", ")}};`,
        ...call("choices", `(const uint8_t *)names, offsets, ${names.length}, 0, NULL`),
      ];
    }
    case "schema":
      return [
        "eliza_json_schema_options_t options = {.struct_size = sizeof options};",
        `options.space = ELIZA_JSON_SPACE_${space.toUpperCase()};`,
        `options.order = ELIZA_JSON_ORDER_${order.toUpperCase()};`,
        ...call("json_schema", "text, sizeof text - 1, &options, NULL"),
      ];
    case "regex":
      return call("regex", "text, sizeof text - 1, 0, NULL");
    case "gbnf":
      return call("gbnf", "text, sizeof text - 1, NULL, 0, 0, NULL");
    case "lark":
      return call("lark", "text, sizeof text - 1, NULL");
    case "tags":
      return call("tags", "(const uint8_t *)text, sizeof text - 1, NULL");
    case "payload":
      return call("token_trie", "text, sizeof text - 1");
  }
}

export function namesOf(source: string): string[] {
  return source.split("\n").filter((line) => line !== "");
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** One literal a line. Octal escapes end after three digits, unlike those in hexadecimal. */
function cString(text: string): string {
  const escaped = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === "\\" || character === "?") return `\\${character}`;
    if (character === "\n") return '\\n"\n    "';
    return byte >= 0x20 && byte < 0x7f ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${escaped.join("")}"`;
}
