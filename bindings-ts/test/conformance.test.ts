/** The cases of tests/conformance, whose form its case.schema.json defines. Zig, C and Python run the same files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Budget,
  Constraint,
  ConstraintKind,
  type JsonDraft,
  type JsonOrder,
  type JsonSpace,
  Matcher,
  TokenFlag,
  Vocabulary,
  grammars,
} from "../src";
import {
  type Failure,
  type Octets,
  type Piece,
  type Steps,
  camelCase,
  expectFailure,
  octets,
  runSteps,
} from "./conformance-steps";

type Token = string | (Piece & { flags?: string[] });

interface VocabularyData {
  size?: number;
  tokens?: Token[];
  single_bytes?: true;
  model_id?: string;
}

/** One of the kinds, with its options. */
interface ConstraintData {
  token_trie?: Octets[];
  choices?: Octets[];
  canonical?: true;
  regex?: Octets;
  ignore_case?: true;
  grammar?: Octets;
  start?: string;
  imports?: Record<string, string>;
  gbnf?: Octets;
  root?: string;
  ebnf?: true;
  shipped?: string;
  json_schema?: object | boolean | string;
  space?: JsonSpace;
  order?: JsonOrder;
  integer_fraction?: true;
  draft?: JsonDraft;
  documents?: Record<string, object | boolean | string>;
  lenient?: true;
  tags?: Octets;
}

/** A saved file that is changed and opened. */
interface Open {
  as: "constraint" | "vocabulary";
  path?: string;
  flip?: number;
  length?: number;
  for?: VocabularyData;
}

interface Case extends Steps {
  name: string;
  vocabulary: VocabularyData;
  constraint: ConstraintData;
  budget?: Record<string, number | boolean>;
  open?: Open;
  span_timeout?: number;
  end?: number[];
  error?: Failure;
  info?: Record<string, unknown>;
}

/** How a constraint is come by; `unkept`: with room for next to no mask; `opened`: from files, as its vocabulary is. */
const WAYS = ["compiled", "unkept", "opened"] as const;

/** A constraint with one of its payloads, if it has any. */
interface Run {
  name: string;
  way: (typeof WAYS)[number];
  constraint: ConstraintData;
}

const folder = join(import.meta.dir, "../../tests/conformance");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (path) => dirname(path) !== "." && path.endsWith(".json"),
);

test("there are cases", () => expect(files.length).toBeGreaterThan(20));

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
      for (const run of runsOf(each)) test(`${each.name} (${run.name})`, () => runCase(each, run));
    }
  });
}

/** One for each payload; without payloads one for each way, if it compiles at all. */
function runsOf({ constraint, error }: Case): Run[] {
  const { token_trie: payloads } = constraint;
  if (!payloads) return (error ? WAYS.slice(0, 1) : WAYS).map((way) => ({ name: way, way, constraint }));
  return payloads.map((payload, index) => {
    return { name: `payload ${index + 1}`, way: "compiled", constraint: { token_trie: [payload] } };
  });
}

function runCase(each: Case, { way, constraint: data }: Run): void {
  using vocabulary = newVocabulary(each.vocabulary);
  const options = { spanTimeout: each.span_timeout, end: each.end };
  const budget = budgetOf({ ...each.budget, ...(way === "unkept" ? { mask_bytes_max: 1 } : {}) });
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = compile(vocabulary, data, budget);
      if (each.open) openChanged(vocabulary, constraint, each.open);
      using _matcher = new Matcher(constraint, options);
    });
    return;
  }
  using compiled = compile(vocabulary, data, budget);
  using constraint = way === "opened" ? reopen(vocabulary, compiled, budget) : compiled;
  checkInfo(constraint, each.info ?? {});
  runSteps(new Matcher(constraint, options), each, vocabulary);
}

function checkInfo(constraint: Constraint, expected: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(expected))
    expect({ [key]: infoOf(constraint, key) }).toEqual({ [key]: value });
}

function infoOf(constraint: Constraint, key: string): unknown {
  if (key === "kind") return kindName(constraint);
  if (key === "notes") return constraint.notes;
  return (constraint.info as unknown as Record<string, number>)[camelCase(key)];
}

function kindName({ kind }: Constraint): string | undefined {
  return Object.entries(ConstraintKind)
    .find(([, value]) => value === kind)?.[0]
    .toLowerCase();
}

// ---- Vocabularies and constraints

function newVocabulary({ size, tokens = [], single_bytes, model_id: modelId }: VocabularyData): Vocabulary {
  if (size !== undefined) return new Vocabulary(size, { modelId });
  const all: Token[] = [...(single_bytes ? singleBytes : []), ...tokens];
  return new Vocabulary(all.length, { tokenBytes: all.map(octets), flags: all.map(flagsOf), modelId });
}

const singleBytes = Array.from({ length: 256 }, (_, byte) => ({ hex: Buffer.of(byte).toString("hex") }));

function flagsOf(token: Token): number {
  const names = typeof token === "string" ? [] : (token.flags ?? []);
  return names.reduce((flags, name) => flags | TokenFlag[name.toUpperCase() as keyof typeof TokenFlag], 0);
}

type Compile = (vocabulary: Vocabulary, data: ConstraintData, budget: Budget) => Constraint;

/** By the key of the constraint that says its kind. */
const kinds: Record<string, Compile> = {
  token_trie: (vocabulary, { token_trie: [payload] = [] }) => new Constraint(vocabulary, payloadOf(payload!)),
  choices: (vocabulary, { choices, canonical }, budget) =>
    Constraint.choices(vocabulary, choices!.map(textOf), { canonical, budget }),
  regex: (vocabulary, { regex, ignore_case: ignoreCase }, budget) =>
    Constraint.regex(vocabulary, textOf(regex!), { ignoreCase, budget }),
  grammar: (vocabulary, { grammar, start, imports }, budget) =>
    Constraint.lark(vocabulary, textOf(grammar!), { start, imports, budget }),
  gbnf: (vocabulary, { gbnf, root, ebnf }, budget) =>
    Constraint.gbnf(vocabulary, textOf(gbnf!), { root, ebnf, budget }),
  shipped: (vocabulary, { shipped }, budget) => Constraint.lark(vocabulary, grammars.text(shipped!), { budget }),
  json_schema: (vocabulary, { json_schema: schema, integer_fraction: integerFraction, ...options }, budget) =>
    Constraint.jsonSchema(vocabulary, schema!, { ...options, integerFraction, budget }),
  tags: (vocabulary, { tags }, budget) => Constraint.tags(vocabulary, payloadOf(tags!), { budget }),
};

function compile(vocabulary: Vocabulary, data: ConstraintData, budget: Budget): Constraint {
  const kind = Object.keys(data).find((key) => key in kinds);
  if (!kind) throw new Error(`unknown constraint: ${Object.keys(data)}`);
  return kinds[kind]!(vocabulary, data, budget);
}

function textOf(value: Octets): string {
  return octets(value).toString();
}

/** A text, unless something in it is hexadecimal. */
function payloadOf(value: Octets): string | Uint8Array {
  const pieces = Array.isArray(value) ? value : [value];
  return pieces.some((piece) => typeof piece !== "string" && piece.hex !== undefined) ? octets(value) : textOf(value);
}

function budgetOf(values: Record<string, number | boolean>): Budget {
  const { cancel, ...bounds } = values;
  const named = Object.entries(bounds).map(([name, value]) => [camelCase(name), value]);
  return { ...Object.fromEntries(named), cancel: cancel === undefined ? undefined : () => cancel };
}

// ---- Files

function save(vocabulary: Vocabulary, constraint: Constraint): void {
  vocabulary.save("vocabulary");
  constraint.save("constraint");
}

/** Prepared, saved, and opened, as its vocabulary is. */
function reopen(vocabulary: Vocabulary, compiled: Constraint, { maskBytesMax }: Budget): Constraint {
  if (compiled.kind === ConstraintKind.TOKEN_TRIE) return compiled;
  compiled.prepare();
  save(vocabulary, compiled);
  using opened = Vocabulary.open("vocabulary");
  return Constraint.open(opened, "constraint", { maskBytesMax });
}

/** Saves both, changes a file, and opens it. */
function openChanged(vocabulary: Vocabulary, constraint: Constraint, open: Open): void {
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
