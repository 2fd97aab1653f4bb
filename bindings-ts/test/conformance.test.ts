/** The cases of tests/conformance: the same files run through Zig, C, Python and here. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import * as path from "node:path";
import { Constraint, ElizaInferenceError, Matcher, Mode, Step, Vocabulary } from "../src";

interface Failure {
  status: string;
  message: string;
}

interface Case {
  name: string;
  vocab_size: number;
  span_timeout?: number;
  model_id?: string;
  payload?: string;
  payload_hex?: string;
  payload_parts?: [string, number][];
  payload_hex_parts?: [string, number][];
  error?: Failure;
  info?: Record<string, number>;
  expect?: Expectation;
  steps?: CaseStep[];
}

type Expectation = Record<string, unknown>;

interface CaseStep {
  do: string;
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
  result?: string[];
  error?: Failure;
  expect?: Expectation;
}

const folder = path.join(import.meta.dir, "../../tests/conformance");
const files = readdirSync(folder).filter((name) => name.endsWith(".json") && name !== "decisions.json");

test("there are cases", () => expect(files.length).toBeGreaterThan(0));

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(path.join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) {
      const text = each.payload_parts ?? (each.payload !== undefined ? [[each.payload, 1] as const] : null);
      const hex = each.payload_hex_parts ?? (each.payload_hex !== undefined ? [[each.payload_hex, 1] as const] : null);
      if (text) test(`${each.name} (text)`, () => run(each, join(text)));
      if (hex) test(`${each.name} (bytes)`, () => run(each, Uint8Array.from(Buffer.from(join(hex), "hex"))));
    }
  });
}

function join(parts: ReadonlyArray<readonly [string, number]>): string {
  return parts.map(([part, count]) => part.repeat(count)).join("");
}

function run(each: Case, payload: string | Uint8Array): void {
  using vocabulary = new Vocabulary(each.vocab_size, { modelId: each.model_id });
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = new Constraint(vocabulary, payload);
      using _matcher = new Matcher(constraint, { spanTimeout: each.span_timeout });
    });
    return;
  }
  using constraint = new Constraint(vocabulary, payload);
  checkInfo(constraint, each.info ?? {});
  let matcher = new Matcher(constraint, { spanTimeout: each.span_timeout });
  check(matcher, each.expect);
  for (const [index, step] of (each.steps ?? []).entries()) {
    try {
      matcher = runStep(matcher, step, each.vocab_size);
      check(matcher, step.expect);
    } catch (error) {
      throw new Error(`steps[${index}] ${JSON.stringify(step)}: ${(error as Error).message}`, { cause: error });
    }
  }
  matcher.close();
}

function runStep(matcher: Matcher, step: CaseStep, vocabSize: number): Matcher {
  if (step.do === "clone") return goOnWithClone(matcher);
  if (step.error) expectFailure(step.error, () => act(matcher, step, vocabSize));
  else act(matcher, step, vocabSize);
  return matcher;
}

function act(matcher: Matcher, step: CaseStep, vocabSize: number): void {
  switch (step.do) {
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
      return checkMask(matcher, step, vocabSize);
    case "sample":
      return checkSample(matcher, step, vocabSize);
    default:
      throw new Error(`unknown step: ${step.do}`);
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

function checkInfo(constraint: Constraint, expected: Record<string, number>): void {
  const info = constraint.info as unknown as Record<string, number>;
  for (const [key, value] of Object.entries(expected)) expect({ [key]: info[camelCase(key)] }).toEqual({ [key]: value });
}

function check(matcher: Matcher, expected: Expectation = {}): void {
  const state = matcher.state as unknown as Record<string, unknown>;
  const actual = (key: string): unknown => {
    switch (key) {
      case "allowed": {
        const ids = matcher.allowed();
        return ids ? [...ids] : "all";
      }
      case "forced":
        return [...matcher.forced()];
      case "leaf":
        return matcher.leaf;
      case "can_stop":
        expect(matcher.canStop).toBe(state["canStop"] as boolean);
        return state["canStop"];
      default:
        return state[camelCase(key)];
    }
  };
  for (const [key, value] of Object.entries(expected)) expect({ [key]: actual(key) }).toEqual({ [key]: value });
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function expectFailure(expected: Failure, call: () => void): void {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(ElizaInferenceError);
    const { statusName, message } = error as ElizaInferenceError;
    expect({ status: statusName, message }).toEqual(expected);
    return;
  }
  throw new Error(`expected ${expected.status}`);
}
