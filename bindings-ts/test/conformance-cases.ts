/** The cases of tests/conformance, whose form its case.schema.json defines. Zig, C and Python run the same files. */
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
} from "../src/index.js";
import {
  type Failure,
  type Octets,
  type Piece,
  type Steps,
  camelCase,
  expectFailure,
  octets,
  runSteps,
  tokenizerOf,
} from "./conformance-steps.js";
import { expectEqual } from "./equal.js";

type Token = string | (Piece & { flags?: string[] });

export interface VocabularyData {
  size?: number;
  tokens?: Token[];
  single_bytes?: true;
  model_id?: string;
  tokenizer?: true;
}

/** One of the kinds, with its options. */
interface ConstraintData {
  token_trie?: Octets[];
  choices?: Octets[];
  canonical?: true;
  regex?: Octets;
  ignore_case?: true;
  search?: true;
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
  numbers?: "double";
  additional?: "forbid";
  integer_fraction?: true;
  draft?: JsonDraft;
  documents?: Record<string, object | boolean | string>;
  lenient?: true;
  tags?: Octets;
}

/** Saved files: of a case with an error one is changed and opened; else both are opened. */
export interface Open {
  as?: "constraint" | "vocabulary";
  path?: string;
  flip?: number;
  length?: number;
  for?: VocabularyData;
  how?: "trusted" | "copy";
  emptied?: true;
}

export interface Case extends Steps {
  name: string;
  vocabulary: VocabularyData;
  constraint: ConstraintData;
  budget?: Record<string, number | boolean>;
  open?: Open;
  span_timeout?: number;
  end?: number[];
  prefill?: Octets;
  error?: Failure;
  info?: Record<string, unknown>;
}

/** How a constraint is come by; `unkept`: with room for next to no mask; `opened`: from files, as its vocabulary is. */
const WAYS = ["compiled", "unkept", "opened"] as const;

/** A constraint with one of its payloads, if it has any. */
export interface Run {
  name: string;
  way: (typeof WAYS)[number];
  constraint: ConstraintData;
}

/** What a host with files does. */
export interface Files {
  /** Prepared, saved, and opened, as its vocabulary is. */
  reopen(each: Case, vocabulary: Vocabulary, compiled: Constraint, budget: Budget): Constraint;
  /** Saves both, changes a file, and opens it. */
  openChanged(vocabulary: Vocabulary, constraint: Constraint, open: Open): void;
}

/** Whether it runs where there are no files. */
export function needsNoFiles({ open }: Case, { way }: Run): boolean {
  return !open && way !== "opened";
}

/** One for each payload; without payloads one for each way, if it compiles at all and the case says no way itself. */
export function runsOf({ constraint, error, open }: Case): Run[] {
  const { token_trie: payloads } = constraint;
  if (!payloads) return (error || open ? WAYS.slice(0, 1) : WAYS).map((way) => ({ name: way, way, constraint }));
  return payloads.map((payload, index) => {
    return { name: `payload ${index + 1}`, way: "compiled", constraint: { token_trie: [payload] } };
  });
}

/** `files` opens what is saved; without, cases that are about files, and the way `opened`, cannot run. */
export function runCase(each: Case, { way, constraint: data }: Run, files?: Files): void {
  using vocabulary = newVocabulary(each.vocabulary);
  const prefill = each.prefill === undefined ? undefined : octets(each.prefill);
  const options = { spanTimeout: each.span_timeout, end: each.end, prefill };
  const budget = budgetOf({ ...each.budget, ...(way === "unkept" ? { mask_bytes_max: 1 } : {}) });
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = compile(vocabulary, data, budget);
      if (each.open) files!.openChanged(vocabulary, constraint, each.open);
      using _matcher = new Matcher(constraint, options);
    });
    return;
  }
  using compiled = compile(vocabulary, data, budget);
  const isFromFiles = way === "opened" || each.open !== undefined;
  using constraint = isFromFiles ? files!.reopen(each, vocabulary, compiled, budget) : compiled;
  checkInfo(constraint, each.info ?? {});
  runSteps(new Matcher(constraint, options), each, vocabulary);
}

function checkInfo(constraint: Constraint, expected: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(expected))
    expectEqual({ [key]: infoOf(constraint, key) }, { [key]: value });
}

function infoOf(constraint: Constraint, key: string): unknown {
  if (key === "kind") return kindName(constraint);
  if (key === "warnings") return constraint.warnings;
  return (constraint.info as unknown as Record<string, number>)[camelCase(key)];
}

function kindName({ kind }: Constraint): string | undefined {
  return Object.entries(ConstraintKind)
    .find(([, value]) => value === kind)?.[0]
    .toLowerCase();
}

// ---- Vocabularies and constraints

export function newVocabulary(data: VocabularyData): Vocabulary {
  const { size, tokens = [], single_bytes, model_id: modelId } = data;
  if (size !== undefined) return new Vocabulary(size, { modelId });
  const all: Token[] = [...(single_bytes ? singleBytes : []), ...tokens];
  const options = { tokenBytes: all.map(octets), flags: all.map(flagsOf), modelId };
  return withTokenizer(data, new Vocabulary(all.length, options));
}

/** Of a vocabulary that was opened, too. */
export function withTokenizer({ tokenizer }: VocabularyData, vocabulary: Vocabulary): Vocabulary {
  if (tokenizer) vocabulary.setTokenizer(tokenizerOf(vocabulary));
  return vocabulary;
}

const singleBytes = Array.from({ length: 256 }, (_, byte) => ({ hex: byte.toString(16).padStart(2, "0") }));

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
  regex: (vocabulary, { regex, ignore_case: ignoreCase, search }, budget) =>
    Constraint.regex(vocabulary, textOf(regex!), { ignoreCase, search, budget }),
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
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(octets(value));
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
