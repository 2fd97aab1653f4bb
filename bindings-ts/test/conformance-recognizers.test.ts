/** The cases of tests/conformance/recognizers: choices, regular expressions and grammars. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Budget, Constraint, ConstraintKind, Matcher, TokenFlag, Vocabulary, grammars } from "../src";
import { type Failure, type Case as Steps, camelCase, checkKeys, expectFailure, runSteps } from "./conformance-steps";

type Token = string | { text?: string; hex?: string; count?: number; flags?: string[] };
type Text = string | [text: string, count: number][];

interface Tokens {
  bytes?: boolean;
  tokens: Token[];
}

/** A saved file that is changed and opened. */
interface Open {
  as: "constraint" | "vocabulary";
  path?: string;
  flip?: number;
  length?: number;
  for?: Tokens;
}

interface Case extends Steps, Tokens {
  name: string;
  regex?: Text;
  ignore_case?: boolean;
  grammar?: Text;
  shipped?: string;
  choices?: string[];
  canonical?: boolean;
  budget?: Record<string, number | boolean>;
  open?: Open;
  span_timeout?: number;
  end?: number[];
  error?: Failure;
  notes?: string[];
  kind?: string;
}

const CASE_KEYS = [
  "name",
  "bytes",
  "tokens",
  "regex",
  "ignore_case",
  "grammar",
  "shipped",
  "choices",
  "canonical",
  "budget",
  "open",
  "span_timeout",
  "end",
  "error",
  "notes",
  "kind",
  "expect",
  "steps",
];
const BUDGET_KEYS = ["states_max", "bytes_max", "ms_max", "mask_bytes_max", "cancel"];
const OPEN_KEYS = ["as", "path", "flip", "length", "for"];

/** How a recognizer is come by; `unkept`: with room for next to no mask; `opened`: from files, as its vocabulary is. */
const WAYS = ["compiled", "unkept", "opened"] as const;
type Way = (typeof WAYS)[number];

const folder = join(import.meta.dir, "../../tests/conformance/recognizers");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));

test("there are cases", () => expect(files.length).toBeGreaterThan(0));

// Files are in the working folder, since their paths are in messages.
const scratch = mkdtempSync(join(tmpdir(), "conformance-"));
const before = process.cwd();
beforeAll(() => process.chdir(scratch));
afterAll(() => {
  process.chdir(before);
  rmSync(scratch, { recursive: true });
});

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) {
      for (const way of each.error ? WAYS.slice(0, 1) : WAYS) test(`${each.name} (${way})`, () => run(each, way));
    }
  });
}

function run(each: Case, way: Way): void {
  checkKeys(each, CASE_KEYS);
  using vocabulary = newVocabulary(each);
  const options = { spanTimeout: each.span_timeout, end: each.end };
  const budget = budgetOf({ ...each.budget, ...(way === "unkept" ? { mask_bytes_max: 1 } : {}) });
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = compile(vocabulary, each, budget);
      if (each.open) openChanged(vocabulary, constraint, each.open);
      using _matcher = new Matcher(constraint, options);
    });
    return;
  }
  using compiled = compile(vocabulary, each, budget);
  using constraint = way === "opened" ? reopen(vocabulary, compiled, budget) : compiled;
  if (each.notes) expect(constraint.notes).toEqual(each.notes);
  if (each.kind) expect(kindName(constraint)).toBe(each.kind);
  runSteps(new Matcher(constraint, options), each, vocabulary);
}

function newVocabulary({ bytes, tokens }: Tokens): Vocabulary {
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

function compile(vocabulary: Vocabulary, each: Case, budget: Budget): Constraint {
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

function budgetOf(values: Record<string, number | boolean>): Budget {
  checkKeys(values, BUDGET_KEYS);
  const { cancel, ...bounds } = values;
  const named = Object.entries(bounds).map(([name, value]) => [camelCase(name), value]);
  return { ...Object.fromEntries(named), cancel: cancel === undefined ? undefined : () => cancel };
}

function save(vocabulary: Vocabulary, constraint: Constraint): void {
  vocabulary.save("vocabulary");
  constraint.save("constraint");
}

/** Prepared, saved, and opened, as its vocabulary is. A token trie is not saved. */
function reopen(vocabulary: Vocabulary, compiled: Constraint, { maskBytesMax }: Budget): Constraint {
  if (compiled.kind === ConstraintKind.TOKEN_TRIE) return compiled;
  compiled.prepare();
  save(vocabulary, compiled);
  using opened = Vocabulary.open("vocabulary");
  return Constraint.open(opened, "constraint", { maskBytesMax });
}

/** Saves both, changes a file, and opens it. */
function openChanged(vocabulary: Vocabulary, constraint: Constraint, open: Open): void {
  checkKeys(open, OPEN_KEYS);
  save(vocabulary, constraint);
  const path = open.path ?? open.as;
  if (open.flip !== undefined || open.length !== undefined) {
    const bytes = readFileSync(path);
    if (open.flip !== undefined) bytes[open.flip < 0 ? bytes.length + open.flip : open.flip]! ^= 0xff;
    writeFileSync(path, bytes.subarray(0, open.length));
  }
  if (open.as === "vocabulary") return Vocabulary.open(path).close();
  using other = open.for ? newVocabulary(open.for) : null;
  Constraint.open(other ?? vocabulary, path).close();
}

function kindName({ kind }: Constraint): string | undefined {
  return Object.entries(ConstraintKind)
    .find(([, value]) => value === kind)?.[0]
    .toLowerCase();
}
