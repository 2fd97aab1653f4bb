/** Walking a matcher through the steps of a conformance case, and checking its state. */
import {
  ElizaInferenceError,
  type Matcher,
  Mode,
  Step,
  type Tokenize,
  type Vocabulary,
  fillBitmaps,
  maskRows,
} from "../src/index.js";
import { expectEqual } from "./equal.js";

export interface Piece {
  text?: string;
  hex?: string;
  count?: number;
}

/** A text, a piece, or several, one after the other. */
export type Octets = string | Piece | (string | Piece)[];

export interface Failure {
  status: string;
  /** Absent: not compared. */
  message?: string;
}

/** What a case says of its matcher. */
export interface Steps {
  expect?: Expectation;
  steps?: CaseStep[];
}

type Expectation = Record<string, unknown>;

/** A clone that is taken back by so many tokens, and what is allowed there. */
interface Row {
  rollback?: number;
  allowed: number[] | "all";
}

interface CaseStep {
  do: string;
  text?: string;
  count?: number;
  token?: number;
  n?: number;
  path?: string;
  seed?: number;
  logits?: Record<string, number | string>;
  fill?: number | string;
  kept?: number[] | "all";
  mode?: number;
  temperature?: number;
  top_p?: number;
  tokens?: number[];
  n_threads?: number;
  n_words?: number;
  rows?: Row[];
  calls?: CaseStep[];
  forced?: number[];
  result?: string[];
  error?: Failure;
  expect?: Expectation;
}

/** Walks the matcher through the steps of a case, and closes it. A clone continues; its original must stay as it is. */
export function runSteps(fresh: Matcher, { expect: expected, steps = [] }: Steps, vocabulary: Vocabulary): void {
  let matcher = fresh;
  const originals: { original: Matcher; before: object }[] = [];
  check(matcher, expected);
  for (const [index, step] of steps.entries()) {
    try {
      if (step.do === "clone") {
        originals.push({ original: matcher, before: look(matcher) });
        matcher = matcher.clone();
        expectEqual(look(matcher), originals.at(-1)!.before);
      } else {
        runStep(matcher, step, vocabulary);
      }
      check(matcher, step.expect);
    } catch (error) {
      throw new Error(`steps[${index}] ${JSON.stringify(step)}: ${(error as Error).message}`, { cause: error });
    }
  }
  matcher.close();
  for (const { original, before } of originals) {
    expectEqual(look(original), before);
    original.close();
  }
}

/** What a matcher shows of itself, to tell whether it changed. */
function look(matcher: Matcher): object {
  return { state: matcher.state, allowed: matcher.allowed(), leaf: matcher.leaf };
}

function runStep(matcher: Matcher, step: CaseStep, vocabulary: Vocabulary): void {
  const verb = verbs[step.do];
  if (!verb) throw new Error("unknown verb");
  if (!step.error) return verb(matcher, step, vocabulary);
  const before = look(matcher);
  expectFailure(step.error, () => verb(matcher, step, vocabulary));
  expectEqual(look(matcher), before);
}

type Verb = (matcher: Matcher, step: CaseStep, vocabulary: Vocabulary) => void;

/** All but `clone`, which runSteps does. */
const verbs: Record<string, Verb> = {
  accept: (matcher, { token, result }) => {
    const bits = matcher.accept(token!);
    if (result) expectEqual(stepNames(bits), [...result].sort());
  },
  text: acceptText,
  rollback: (matcher, { n }) => matcher.rollback(n),
  activate: (matcher, { path }) => matcher.activate(path!),
  deactivate: (matcher) => matcher.deactivate(),
  reset: (matcher) => matcher.reset(),
  set_span_timeout: (matcher, { n }) => matcher.setSpanTimeout(n!),
  set_seed: (matcher, { seed }) => matcher.setSeed(seed!),
  mask: checkMask,
  sample: checkSample,
  fill_bitmaps: checkBitmaps,
  reenter,
};

/** By the byte, the first token that is just this byte. */
function tokensOfBytes(vocabulary: Vocabulary): Map<number, number> {
  const tokenOfByte = new Map<number, number>();
  for (let token = vocabulary.size - 1; token >= 0; token--) {
    const bytes = vocabulary.tokenBytes(token);
    if (bytes.length === 1 && vocabulary.flags(token) === 0) tokenOfByte.set(bytes[0]!, token);
  }
  return tokenOfByte;
}

/** What the tokenizers of cases do first when they are asked. */
let meanwhile: (() => void) | undefined;

export function tokenizerOf(vocabulary: Vocabulary): Tokenize {
  const tokenOfByte = tokensOfBytes(vocabulary);
  return (text) => {
    meanwhile?.();
    return Array.from(text, (byte) => tokenOfByte.get(byte)!);
  };
}

/** Calls a clone of the matcher from within a call on it. */
function reenter(matcher: Matcher, { calls = [], forced }: CaseStep, vocabulary: Vocabulary): void {
  const asked = matcher.clone();
  let nAsked = 0;
  meanwhile = () => {
    nAsked++;
    for (const call of calls) expectFailure(call.error!, () => verbs[call.do]!(asked, call, vocabulary));
  };
  try {
    expectEqual([...asked.forced()], forced);
  } finally {
    meanwhile = undefined;
    asked.close();
  }
  expectEqual(nAsked > 0, true);
}

/** Byte by byte. */
function acceptText(matcher: Matcher, step: CaseStep, vocabulary: Vocabulary): void {
  const tokenOfByte = tokensOfBytes(vocabulary);
  for (const [index, byte] of octets(step as Piece).entries()) {
    const bits = matcher.accept(tokenOfByte.get(byte)!);
    // Not by `expect`, which would take most of the time of a long text.
    if (bits !== Step.IN_SPAN) throw new Error(`byte ${index} gave ${stepNames(bits).join(" ")}`);
  }
}

function checkMask(matcher: Matcher, step: CaseStep, { size }: Vocabulary): void {
  const logits = logitsOf(step, size);
  const before = logits.slice();
  matcher.maskLogits(logits);
  if (step.kept === undefined) return;
  const kept = new Set(step.kept === "all" ? before.keys() : step.kept);
  expectEqual(
    [...logits],
    [...before].map((logit, token) => (kept.has(token) ? logit : -Infinity)),
  );
}

function checkSample(matcher: Matcher, step: CaseStep, { size }: Vocabulary): void {
  const logits = logitsOf(step, size);
  const draw = (): number =>
    matcher.sample(logits, step.mode ?? Mode.GREEDY, { temperature: step.temperature, topP: step.top_p });
  if (!step.tokens) draw();
  else expectEqual(step.tokens.map(draw), step.tokens);
}

/** Of clones, each taken back to its place: all at once as one by one. */
function checkBitmaps(matcher: Matcher, { rows = [], n_words, n_threads }: CaseStep): void {
  const matchers = rows.map(() => matcher.clone());
  for (const [index, { rollback = 0 }] of rows.entries()) matchers[index]!.rollback(rollback);
  const nWords = n_words ?? Math.ceil(matcher.nTokens / 32);
  try {
    const words = fillBitmaps(matchers, new Int32Array(rows.length * nWords), n_threads);
    for (const [index, { allowed }] of rows.entries()) {
      const row = [...words.subarray(index * nWords, (index + 1) * nWords)];
      expectEqual(allowedOf(matchers[index]!), allowed);
      expectEqual(row, [...matchers[index]!.fillBitmap(new Int32Array(nWords))]);
    }
    testMaskedRows(matchers, words, n_threads);
  } finally {
    for (const each of matchers) each.close();
  }
}

/** -Infinity exactly where bitmaps have no bit, in rows that lie the other way round. */
function testMaskedRows(matchers: Matcher[], words: Int32Array, nThreads = 0): void {
  const nTokens = matchers[0]?.nTokens ?? 0;
  const [nLogits, nWords] = [nTokens + 2, words.length / matchers.length];
  const logits = new Float32Array(matchers.length * nLogits);
  maskRows(matchers, logits, nLogits, { rows: [...matchers.keys()].reverse(), nThreads });
  for (const index of matchers.keys()) {
    const last = matchers.length - index;
    const bits = words.subarray(index * nWords, (index + 1) * nWords);
    const legal = Array.from(
      { length: nLogits },
      (_, token) => token < nTokens && (bits[token >> 5]! >>> (token & 31)) & 1,
    );
    const row = [...logits.subarray((last - 1) * nLogits, last * nLogits)];
    expectEqual(
      row,
      legal.map((bit) => (bit ? 0 : -Infinity)),
    );
  }
}

function logitsOf(step: CaseStep, vocabSize: number): Float32Array {
  const logits = new Float32Array(step.n ?? vocabSize).fill(logit(step.fill ?? 0));
  for (const [token, value] of Object.entries(step.logits ?? {})) logits[Number(token)] = logit(value);
  return logits;
}

function logit(value: number | string): number {
  const named: Record<string, number> = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  return typeof value === "number" ? value : named[value]!;
}

function stepNames(bits: number): string[] {
  const names = Object.entries(Step).filter(([, bit]) => bits & bit);
  return names.map(([name]) => name.toLowerCase()).sort();
}

function check(matcher: Matcher, expected: Expectation = {}): void {
  for (const [key, value] of Object.entries(expected)) {
    const { error } = Object(value) as { error?: Failure };
    if (error) {
      expectFailure(error, () => stateOf(matcher, key));
      continue;
    }
    const wanted = key === "forced_bytes" ? hexOf(octets(value as Octets)) : value;
    expectEqual({ [key]: stateOf(matcher, key) }, { [key]: wanted });
  }
}

function stateOf(matcher: Matcher, key: string): unknown {
  switch (key) {
    case "allowed":
      return allowedOf(matcher);
    case "forced_bytes":
      return hexOf(matcher.forcedBytes());
    case "forced":
      return [...matcher.forced()];
    case "leaf":
      return matcher.leaf;
    case "can_stop":
      expectEqual(matcher.canStop, matcher.state.canStop);
      return matcher.canStop;
    default:
      return (matcher.state as unknown as Record<string, unknown>)[camelCase(key)];
  }
}

/** The ids, which the bitmap must have too, or "all". */
function allowedOf(matcher: Matcher): number[] | "all" {
  const ids = matcher.allowed();
  const words = matcher.fillBitmap();
  const inBitmap = Array.from({ length: matcher.nTokens }, (_, id) => id).filter(
    (id) => (words[id >> 5]! >> (id & 31)) & 1,
  );
  expectEqual(inBitmap.length, ids ? ids.length : matcher.nTokens);
  if (!ids) return "all";
  expectEqual([...ids], inBitmap);
  return inBitmap;
}

export function octets(value: Octets): Uint8Array {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (Array.isArray(value)) return joined(value.map(octets));
  const { text, hex, count = 1 } = value;
  if (hex === undefined) return octets(text!.repeat(count));
  const once = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  return joined(Array.from({ length: count }, () => once));
}

function joined(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function expectFailure(expected: Failure, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof ElizaInferenceError)) throw error;
    const { statusName, message } = error;
    expectEqual({ status: statusName, message }, { message, ...expected });
    return;
  }
  throw new Error(`expected ${expected.status}`);
}
