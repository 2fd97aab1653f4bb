/** What the page begins with, and what its list of examples offers. */
import { DEFAULTS, type Kind, type State } from "./state.js";

const schema = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    days: { type: "integer", minimum: 1, maximum: 14 },
    units: { enum: ["metric", "imperial"] },
  },
  required: ["city", "days"],
  additionalProperties: false,
};

const tags = {
  tags: [{ begin: "<answer>", end: "</answer>", choices: ["yes", "no", "it depends"] }],
  at_least: 1,
};

const payload = {
  modelId: "",
  descriptors: [
    {
      path: "action",
      leaves: [
        { name: "GO", tokens: [71, 79] },
        { name: "STOP", tokens: [83, 84, 79, 80] },
      ],
    },
  ],
};

const examples: Record<string, Omit<State, keyof typeof DEFAULTS>> = {
  "a forecast, as JSON": {
    kind: "schema",
    source: JSON.stringify(schema, null, 2),
    vocabulary: "gpt2",
    text: '{"city": "Bath", "days": 1',
  },
  "one of some names": {
    kind: "names",
    source: "REPLY\nREMIND_ME\nREPORT_BUG\nSET_TIMER\nSET_ALARM",
    vocabulary: "gpt2",
    text: "RE",
  },
  "a date": {
    kind: "regex",
    source: "20\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])",
    vocabulary: "gpt2",
    text: "2026-1",
  },
  arithmetic: {
    kind: "lark",
    source: [
      "start: sum",
      'sum: product | sum ("+" | "-") product',
      'product: factor | product ("*" | "/") factor',
      'factor: NUMBER | "(" sum ")"',
      "NUMBER: /[0-9]+/",
      "%ignore / +/",
    ].join("\n"),
    vocabulary: "gpt2",
    text: "(1 + 23) * ",
  },
  "a list, in GBNF": {
    kind: "gbnf",
    source: 'root ::= "- " line+\nline ::= [^\\n-] [^\\n]* "\\n" ("- " line)?',
    vocabulary: "gpt2",
    text: "- bread\n- ",
  },
  "an answer in free text": {
    kind: "tags",
    source: JSON.stringify(tags, null, 2),
    vocabulary: "gpt2",
    text: "That took a while. <answer>it",
  },
  "a token-tree payload": {
    kind: "payload",
    source: JSON.stringify(payload, null, 2),
    vocabulary: "bytes",
    text: "ST",
  },
};

export const EXAMPLES: Record<string, State> = Object.fromEntries(
  Object.entries(examples).map(([name, example]) => [name, { ...DEFAULTS, ...example }]),
);

/** What the page shows of a kind that nothing was written for yet. */
export function exampleOf(kind: Kind): State {
  return Object.values(EXAMPLES).find((example) => example.kind === kind)!;
}
