/** The cases of tests/vocabularies, and what only this binding takes. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Constraint, ElizaInferenceError, Matcher, Model, TokenFlag, Vocabulary } from "../src";
import { failure, libraryWithLlama, modelPath } from "./support";

type Token = string | { text?: string; hex?: string; flags?: string[] };

interface Case {
  name: string;
  tokenizer_json?: object;
  text?: string;
  ranks?: string;
  special?: Record<string, number>;
  n_tokens?: number;
  end_of_generation?: (number | string)[];
  tokens?: Token[];
  error?: { status: string; message: string[] };
}

const vocabularies = join(import.meta.dirname, "../../tests/vocabularies");
const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function casesOf(file: string): Promise<Case[]> {
  const { cases }: { cases: Case[] } = await Bun.file(join(vocabularies, file)).json();
  expect(cases.length).toBeGreaterThan(0);
  return cases;
}

function check(each: Case, convert: () => Vocabulary): void {
  const { error } = each;
  if (!error) {
    using vocabulary = convert();
    expect(tokensOf(vocabulary)).toEqual(each.tokens!.map(expectedToken));
    return;
  }
  const { statusName, message } = failure(convert);
  expect(statusName).toBe(error.status);
  for (const part of error.message) expect(message).toContain(part);
}

function tokensOf(vocabulary: Vocabulary): { bytes: string; flags: number }[] {
  return Array.from({ length: vocabulary.size }, (_, token) => ({
    bytes: Buffer.from(vocabulary.tokenBytes(token)).toString("hex"),
    flags: vocabulary.flags(token),
  }));
}

function expectedToken(token: Token): { bytes: string; flags: number } {
  const { text = "", hex, flags = [] } = typeof token === "string" ? { text: token } : token;
  const bits = flags.map((name) => TokenFlag[name.toUpperCase() as keyof typeof TokenFlag]);
  return { bytes: hex ?? Buffer.from(text).toString("hex"), flags: bits.reduce((all, bit) => all | bit, 0) };
}

describe("fromTokenizerJson", async () => {
  for (const each of await casesOf("tokenizer_json.json")) {
    const options = { nTokens: each.n_tokens, endOfGeneration: each.end_of_generation };
    test(each.name, async () => {
      const text = each.text ?? JSON.stringify(each.tokenizer_json);
      const path = join(folder, "tokenizer.json");
      await Bun.write(path, text);
      check(each, () => Vocabulary.fromTokenizerJson(text, options));
      check(each, () => Vocabulary.fromTokenizerJson(path, options));
      if (each.tokenizer_json) check(each, () => Vocabulary.fromTokenizerJson(each.tokenizer_json!, options));
    });
  }
});

describe("fromTiktoken", async () => {
  for (const each of await casesOf("tiktoken.json")) {
    const { special } = each;
    const options = { special, nTokens: each.n_tokens, endOfGeneration: each.end_of_generation };
    test(each.name, async () => {
      const text = each.ranks!;
      const path = join(folder, "ranks.tiktoken");
      await Bun.write(path, text);
      check(each, () => Vocabulary.fromTiktoken(text, options));
      check(each, () => Vocabulary.fromTiktoken(path, options));
      if (!each.error) check(each, () => Vocabulary.fromTiktoken(ranksOf(text), options));
    });
  }
});

function ranksOf(text: string): Map<Uint8Array, number> {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
  return new Map(lines.map(([token, rank]) => [Buffer.from(token!, "base64"), Number(rank)]));
}

test("a message begins with the file and the place", async () => {
  const path = join(folder, "named.json");
  await Bun.write(path, '{"decoder": {"type": "ByteLevel"}, "model": {"vocab": {"a": 0, "b": "one"}}}');
  expect(failure(() => Vocabulary.fromTokenizerJson(path)).message).toStartWith(`${path}: model.vocab["b"]: "one"`);
  const ranks = join(folder, "named.tiktoken");
  await Bun.write(ranks, "YQ== 0\n\n*** 1\n");
  const { message } = failure(() => Vocabulary.fromTiktoken(ranks));
  expect(message).toBe(`${ranks}: line 3: expected base64 and a rank, got "*** 1"`);
});

test("a file that is no object is told without a place", async () => {
  for (const text of ["[1]", "null", "5"]) {
    const path = join(folder, "no-object.json");
    await Bun.write(path, text);
    const { message } = failure(() => Vocabulary.fromTokenizerJson(path));
    expect(message).toBe(`${path}: expected an object, got ${text}`);
  }
  const none = undefined as unknown as object;
  expect(failure(() => Vocabulary.fromTokenizerJson(none)).message).toEndWith("expected an object, got undefined");
});

test("a missing file is the error of the system", () => {
  for (const convert of [Vocabulary.fromTokenizerJson, Vocabulary.fromTiktoken]) {
    expect(() => convert(join(folder, "missing"))).toThrow("ENOENT");
  }
});

test("the model id is that of the options", () => {
  using vocabulary = Vocabulary.fromTiktoken("YQ== 0\n", { modelId: "tiny" });
  expect(vocabulary.size).toBe(1);
  expect(() => Vocabulary.fromTiktoken("YQ== 0\n", { nTokens: 1.5 })).toThrow(ElizaInferenceError);
});

test("a model file gives the vocabulary of its model, with the tokenizer", () => {
  const library = libraryWithLlama();
  using model = new Model(modelPath, { library });
  using vocabulary = Vocabulary.fromGguf(modelPath, { library });
  expect(tokensOf(vocabulary)).toEqual(tokensOf(model.vocabulary));
  const text = " SET_TIMER, now";
  using matcher = new Matcher(Constraint.choices(vocabulary, [text], { canonical: true }));
  expect([...matcher.forced()]).toEqual(model.tokenize(text));
  expect(failure(() => Vocabulary.fromGguf(join(folder, "none.gguf"))).statusName).toBe("ELIZA_ERR_BUNDLE_INVALID");
});
