/** Walking a matcher through the steps of a conformance case, and checking its state. */
import { expect } from "bun:test";
import { ElizaInferenceError, type Matcher, Mode, Step, type Vocabulary, fillBitmaps } from "../src";

export interface Failure {
  status: string;
  /** Absent: not compared. */
  message?: string;
}

/** What every case has. */
export interface Case {
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
  result?: string[];
  error?: Failure;
  expect?: Expectation;
}

const STEP_KEYS = [
  "do",
  "text",
  "count",
  "token",
  "n",
  "path",
  "seed",
  "logits",
  "fill",
  "kept",
  "mode",
  "temperature",
  "top_p",
  "tokens",
  "n_threads",
  "n_words",
  "rows",
  "result",
  "error",
  "expect",
];

/** Walks the matcher through the steps of a case, and closes it. */
export function runSteps(fresh: Matcher, { expect: expected, steps = [] }: Case, vocabulary: Vocabulary): void {
  let matcher = fresh;
  check(matcher, expected);
  for (const [index, step] of steps.entries()) {
    try {
      checkKeys(step, STEP_KEYS);
      matcher = runStep(matcher, step, vocabulary);
      check(matcher, step.expect);
    } catch (error) {
      throw new Error(`steps[${index}] ${JSON.stringify(step)}: ${(error as Error).message}`, { cause: error });
    }
  }
  matcher.close();
}

/** What a runner does not know is a failure, not a pass. */
export function checkKeys(object: object, known: string[]): void {
  expect(Object.keys(object).filter((key) => !known.includes(key))).toEqual([]);
}

function runStep(matcher: Matcher, step: CaseStep, vocabulary: Vocabulary): Matcher {
  if (step.do === "clone") return goOnWithClone(matcher);
  if (step.error) expectFailure(step.error, () => act(matcher, step, vocabulary));
  else act(matcher, step, vocabulary);
  return matcher;
}

function act(matcher: Matcher, step: CaseStep, vocabulary: Vocabulary): void {
  switch (step.do) {
    case "text":
      return acceptText(matcher, step.text!.repeat(step.count ?? 1), vocabulary);
    case "accept": {
      const bits = matcher.accept(step.token!);
      if (step.result) expect(stepNames(bits)).toEqual([...step.result].sort());
      return;
    }
    case "rollback":
      return matcher.rollback(step.n);
    case "activate":
      return matcher.activate(step.path!);
    case "deactivate":
      return matcher.deactivate();
    case "reset":
      return matcher.reset();
    case "set_span_timeout":
      return matcher.setSpanTimeout(step.n!);
    case "set_seed":
      return matcher.setSeed(step.seed!);
    case "mask":
      return checkMask(matcher, step, vocabulary.size);
    case "sample":
      return checkSample(matcher, step, vocabulary.size);
    case "fill_bitmaps":
      return checkBitmaps(matcher, step);
    default:
      throw new Error(`unknown step: ${step.do}`);
  }
}

/** Byte by byte, each as the first token that is just this byte. */
function acceptText(matcher: Matcher, text: string, vocabulary: Vocabulary): void {
  const tokenOfByte = new Map<number, number>();
  for (let token = vocabulary.size - 1; token >= 0; token--) {
    const bytes = vocabulary.tokenBytes(token);
    if (bytes.length === 1 && vocabulary.flags(token) === 0) tokenOfByte.set(bytes[0]!, token);
  }
  for (const [index, byte] of Buffer.from(text).entries()) {
    const bits = matcher.accept(tokenOfByte.get(byte)!);
    // Not by `expect`, which would take most of the time of a long text.
    if (bits !== Step.IN_SPAN) throw new Error(`byte ${index} gave ${stepNames(bits).join(" ")}`);
  }
}

function goOnWithClone(original: Matcher): Matcher {
  const before = { state: original.state, allowed: original.allowed(), leaf: original.leaf };
  const clone = original.clone();
  expect({ state: clone.state, allowed: clone.allowed(), leaf: clone.leaf }).toEqual(before);
  expect({ state: original.state, allowed: original.allowed(), leaf: original.leaf }).toEqual(before);
  original.close();
  return clone;
}

function checkMask(matcher: Matcher, step: CaseStep, vocabSize: number): void {
  const logits = logitsOf(step, vocabSize);
  const before = logits.slice();
  matcher.maskLogits(logits);
  if (step.kept === undefined) return;
  const kept = new Set(step.kept === "all" ? before.keys() : step.kept);
  expect([...logits]).toEqual([...before].map((logit, token) => (kept.has(token) ? logit : -Infinity)));
}

function checkSample(matcher: Matcher, step: CaseStep, vocabSize: number): void {
  const logits = logitsOf(step, vocabSize);
  const draw = (): number =>
    matcher.sample(logits, step.mode ?? Mode.GREEDY, { temperature: step.temperature, topP: step.top_p });
  if (step.error || !step.tokens) draw();
  else expect(step.tokens.map(draw)).toEqual(step.tokens);
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
      expect(allowedOf(matchers[index]!)).toEqual(allowed);
      expect(row).toEqual([...matchers[index]!.fillBitmap(new Int32Array(nWords))]);
    }
  } finally {
    for (const each of matchers) each.close();
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
  const state = matcher.state as unknown as Record<string, unknown>;
  const actual = (key: string, value: unknown): unknown => {
    switch (key) {
      case "allowed":
        return allowedOf(matcher);
      case "forced_bytes":
        return bytesAs(value, matcher.forcedBytes());
      case "forced":
        return [...matcher.forced()];
      case "leaf":
        return matcher.leaf;
      case "can_stop":
        expect(matcher.canStop).toBe(state.canStop as boolean);
        return state.canStop;
      default:
        return state[camelCase(key)];
    }
  };
  for (const [key, value] of Object.entries(expected)) expect({ [key]: actual(key, value) }).toEqual({ [key]: value });
}

/** The ids, which the bitmap must have too, or "all". */
function allowedOf(matcher: Matcher): number[] | "all" {
  const ids = matcher.allowed();
  const words = matcher.fillBitmap();
  const inBitmap = Array.from({ length: matcher.nTokens }, (_, id) => id).filter(
    (id) => (words[id >> 5]! >> (id & 31)) & 1,
  );
  expect(inBitmap.length).toBe(ids ? ids.length : matcher.nTokens);
  if (!ids) return "all";
  expect([...ids]).toEqual(inBitmap);
  return inBitmap;
}

/** Bytes in the notation of what they are compared with: a text, or `{"hex": ...}`. */
function bytesAs(expected: unknown, bytes: Uint8Array): unknown {
  const buffer = Buffer.from(bytes);
  return typeof expected === "string" ? buffer.toString() : { hex: buffer.toString("hex") };
}

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function expectFailure(expected: Failure, call: () => void): void {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(ElizaInferenceError);
    const { statusName, message } = error as ElizaInferenceError;
    expect({ status: statusName, message }).toEqual({ message, ...expected });
    return;
  }
  throw new Error(`expected ${expected.status}`);
}
