/** The cases of tests/conformance/recognizers: choices, regular expressions and grammars. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Budget, Constraint, ConstraintKind, Matcher, TokenFlag, Vocabulary, grammars } from "../src";
import { type Case as Steps, type Failure, camelCase, checkKeys, expectFailure, runSteps } from "./conformance-steps";

type Token = string | { text?: string; hex?: string; count?: number; flags?: string[] };
type Text = string | [text: string, count: number][];

interface Case extends Steps {
  name: string;
  bytes?: boolean;
  tokens?: Token[];
  regex?: Text;
  ignore_case?: boolean;
  grammar?: Text;
  shipped?: string;
  choices?: string[];
  canonical?: boolean;
  budget?: Record<string, number>;
  span_timeout?: number;
  end?: number[];
  error?: Failure;
  notes?: string[];
  kind?: string;
}

const CASE_KEYS = [
  "name", "bytes", "tokens", "regex", "ignore_case", "grammar", "shipped", "choices", "canonical", "budget", "span_timeout",
  "end", "error", "notes", "kind", "expect", "steps",
];

const folder = join(import.meta.dir, "../../tests/conformance/recognizers");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));

test("there are cases", () => expect(files.length).toBeGreaterThan(0));

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) test(each.name, () => run(each));
  });
}

function run(each: Case): void {
  checkKeys(each, CASE_KEYS);
  using vocabulary = newVocabulary(each);
  const options = { spanTimeout: each.span_timeout, end: each.end };
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = compile(vocabulary, each);
      using _matcher = new Matcher(constraint, options);
    });
    return;
  }
  using constraint = compile(vocabulary, each);
  if (each.notes) expect(constraint.notes).toEqual(each.notes);
  if (each.kind) expect(kindName(constraint)).toBe(each.kind);
  runSteps(new Matcher(constraint, options), each, vocabulary);
}

function newVocabulary({ bytes, tokens = [] }: Case): Vocabulary {
  const all: Token[] = [...(bytes ? singleBytes : []), ...tokens];
  return new Vocabulary(all.length, { tokenBytes: all.map(bytesOf), flags: all.map(flagsOf) });
}

const singleBytes = Array.from({ length: 256 }, (_, byte) => ({ hex: Buffer.of(byte).toString("hex") }));

function bytesOf(token: Token): Uint8Array {
  if (typeof token === "string") return Buffer.from(token);
  const { text, hex, count = 1 } = token;
  return hex !== undefined ? Buffer.from(hex.repeat(count), "hex") : Buffer.from(text!.repeat(count));
}

function flagsOf(token: Token): number {
  const names = typeof token === "string" ? [] : (token.flags ?? []);
  return names.reduce((flags, name) => flags | TokenFlag[name.toUpperCase() as keyof typeof TokenFlag], 0);
}

function compile(vocabulary: Vocabulary, each: Case): Constraint {
  const budget = each.budget && budgetOf(each.budget);
  if (each.choices) return Constraint.choices(vocabulary, each.choices, { canonical: each.canonical, budget });
  if (each.regex !== undefined) {
    return Constraint.regex(vocabulary, textOf(each.regex), { ignoreCase: each.ignore_case, budget });
  }
  const grammar = each.grammar !== undefined ? textOf(each.grammar) : grammars.text(each.shipped!);
  return Constraint.lark(vocabulary, grammar, { budget });
}

function textOf(text: Text): string {
  return typeof text === "string" ? text : text.map(([part, count]) => part.repeat(count)).join("");
}

function budgetOf(values: Record<string, number>): Budget {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [camelCase(name), value]));
}

function kindName({ kind }: Constraint): string | undefined {
  return Object.entries(ConstraintKind).find(([, value]) => value === kind)?.[0].toLowerCase();
}
