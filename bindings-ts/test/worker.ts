/** What each worker of workers.test.ts does: walks along texts of constraints of its own, and sends what was legal. */
import { Constraint, Matcher, TokenFlag, Vocabulary, loadLibrary, setTrieCacheLimit, trieCacheStats } from "../src";

declare const self: { onmessage: ((event: { data: number }) => void) | null; postMessage: (found: Found) => void };

/** A hash of all masks of each constraint. */
export interface Found {
  path: string;
  masks: Record<string, string>;
  hits: number;
}

const words = ["the ", "set ", "timer", '": ', '", ', "true", "red", "</call>", "<call>"];
const nTokens = 256 + words.length + 1;
const schema = {
  type: "object",
  properties: { name: { type: "string" }, tags: { type: "array", items: { enum: ["red", "green"] } } },
};
const trie = { modelId: "", descriptors: [{ path: "p", leaves: [{ name: "ab", tokens: [97, 98] }] }] };
const makers: Record<string, (vocabulary: Vocabulary) => Constraint> = {
  tree: (vocabulary) => new Constraint(vocabulary, trie),
  choices: (vocabulary) => Constraint.choices(vocabulary, ["set the timer", "set it", "no"]),
  regex: (vocabulary) => Constraint.regex(vocabulary, "(?:the |[a-z]{3}[0-9])+"),
  lark: (vocabulary) => Constraint.lark(vocabulary, 'start: "[" [start ("," start)*] "]" | /[a-z]+/'),
  gbnf: (vocabulary) => Constraint.gbnf(vocabulary, 'root ::= s\ns ::= s s | "(" s ")" | [a-z]'),
  schema: (vocabulary) => Constraint.jsonSchema(vocabulary, schema),
  tags: (vocabulary) =>
    Constraint.tags(vocabulary, { tags: [{ begin: "<call>", json_schema: schema, end: "</call>" }] }),
};

function newVocabulary(): Vocabulary {
  const texts = words.map((word) => new TextEncoder().encode(word));
  const bytes = [...Array(256).keys()].map((byte) => new Uint8Array([byte]));
  const flags = [...Array(nTokens - 1).fill(0), TokenFlag.END_OF_GENERATION];
  return new Vocabulary(nTokens, { tokenBytes: [...bytes, ...texts, new Uint8Array(0)], flags });
}

/** Takes the same tokens wherever it runs. Each mask is asked of a clone, too. */
function masksOf(constraint: Constraint): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (let walk = 0; walk < 8; walk++) {
    using matcher = new Matcher(constraint);
    for (let step = 0; step < 20; step++) {
      using clone = matcher.clone();
      const mask = matcher.fillBitmap();
      hash.update(mask);
      hash.update(clone.fillBitmap());
      const legal = [...Array(nTokens - 1).keys()].filter((token) => ((mask[token >> 5] ?? 0) >> (token & 31)) & 1);
      const token = legal[(walk * 7919 + step * 104729) % legal.length];
      if (token === undefined) break;
      matcher.accept(token);
    }
  }
  return hash.digest("hex");
}

/** Does all of it `times` times, each time from the beginning. */
export function work(times: number): Found {
  const masks: Record<string, string> = {};
  for (let i = 0; i < times; i++) {
    using vocabulary = newVocabulary();
    for (const [name, make] of Object.entries(makers)) {
      using constraint = make(vocabulary);
      const found = masksOf(constraint);
      if (masks[name] && masks[name] !== found) throw new Error(`${name}: other masks the second time`);
      masks[name] = found;
    }
    setTrieCacheLimit(1 << (20 + (i % 3)));
  }
  return { path: loadLibrary().path, masks, hits: trieCacheStats().hits };
}

if (!Bun.isMainThread) self.onmessage = ({ data }) => self.postMessage(work(data));
