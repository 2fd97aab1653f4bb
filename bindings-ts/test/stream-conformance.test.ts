/** The conformance cases of streams: `stream_case` of their case.schema.json. C and Python run the same files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Constraint,
  Mode,
  Model,
  type NativeVerifierEvent,
  StopReason,
  type Stream,
  type StreamOptions,
  type TokenTreePayload,
  type Vocabulary,
  loadElizaInferenceFfi,
} from "../src";
import { type Failure, type Octets, camelCase, expectFailure, octets } from "./conformance-steps";
import { libraryWithLlama, modelPath } from "./support";

interface Case {
  name: string;
  stream: Record<string, unknown>;
  error?: Failure;
  steps?: Step[];
}

interface ConstraintData {
  tree?: { path: string; leaves?: string[]; regex?: string; trigger?: string[]; end?: string[] }[];
  regex?: string;
  grammar?: string;
  mask_ms_max?: number;
}

/** What the verifier is told of a draft. */
interface Draft {
  accepted: string[];
  rejected?: number[];
  corrected: string[];
}

interface Inside {
  token: number;
  calls?: Step[];
  stop?: true;
}

interface Step {
  do: string;
  text?: Octets;
  tokens?: unknown[];
  healed?: string;
  done?: boolean;
  max_tokens?: number;
  max_text_bytes?: number;
  inside?: Inside;
  drafts?: Draft[];
  constraint?: ConstraintData;
  mode?: number;
  calls?: Step[];
  step?: Step;
  path?: string;
  result?: string;
  end?: string[];
  span_timeout?: number;
  prefill?: string;
  n?: number;
  kept?: number;
  on?: boolean;
  temperature?: number;
  error?: Failure;
  expect?: Record<string, unknown>;
}

const folder = join(import.meta.dirname, "../../tests/conformance/streams");
const files = readdirSync(folder);
const scratch = mkdtempSync(join(tmpdir(), "conformance-"));
const before = process.cwd();
let model: Model;
/** For vocabularies with a tokenizer of a case. */
let other: Model;
let told: NativeVerifierEvent[] = [];
let watch: { close(): void };

beforeAll(() => {
  process.chdir(scratch); // for slots and copies
  const library = libraryWithLlama();
  [model, other] = [new Model(modelPath, { library }), new Model(modelPath, { library })];
  watch = loadElizaInferenceFfi(library.path).setVerifierCallback(BigInt(model.handle), (event) => told.push(event));
});
afterAll(() => {
  watch.close();
  other.close();
  model.close();
  process.chdir(before);
  rmSync(scratch, { recursive: true });
});

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) test(each.name, () => runCase(each));
  });
}

function runCase({ stream: options, error, steps = [] }: Case): void {
  if (error) return expectFailure(error, () => open(options).close());
  using stream = open(options);
  for (const step of steps) runStep(stream, step);
}

function open({ draft_model: drafter, ...data }: Record<string, unknown>): Stream {
  if (drafter === "copy") copyFileSync(modelPath, "copy.gguf");
  const named = Object.entries(data).map(([name, value]) => [camelCase(name), value]);
  const draftModelPath = drafter === "copy" ? "copy.gguf" : (drafter as string | undefined);
  const options: StreamOptions = { contextSize: 256, threads: 1, draftModelPath, ...Object.fromEntries(named) };
  return model.stream(options);
}

function runStep(stream: Stream, step: Step): void {
  const verb = verbs[step.do];
  if (!verb) throw new Error(`unknown verb: ${step.do}`);
  if (step.error) expectFailure(step.error, () => verb(stream, step));
  else verb(stream, step);
  for (const [key, expected] of Object.entries(step.expect ?? {})) check(key, look(stream, key), expected);
}

// ---- The state

function look(stream: Stream, key: string): unknown {
  if (key === "stop") {
    const { stopReason } = stream;
    return Object.entries(StopReason)
      .find(([, value]) => value === stopReason)?.[0]
      .toLowerCase();
  }
  if (key === "leaf") return stream.leaf;
  return ({ ...stream.stats, ...stream.state } as Record<string, unknown>)[camelCase(key)];
}

function check(key: string, actual: unknown, expected: unknown): void {
  const { min = actual, max = actual } = (expected ?? {}) as { min?: unknown; max?: unknown };
  if (typeof expected !== "object" || expected === null) expect({ [key]: actual }).toEqual({ [key]: expected });
  else expect((min as number) <= (actual as number) && (actual as number) <= (max as number)).toBe(true);
}

// ---- Constraints

function tokensOf(text: string): number[] {
  return model.tokenize(text, { parseSpecial: true });
}

function recognizerOf(vocabulary: Vocabulary, { regex, grammar, mask_ms_max }: ConstraintData): Constraint {
  const budget = mask_ms_max === undefined ? {} : { maskMsMax: mask_ms_max };
  return regex === undefined
    ? Constraint.lark(vocabulary, grammar!, { budget })
    : Constraint.regex(vocabulary, regex, { budget });
}

function constraintOf(data: ConstraintData): TokenTreePayload | Constraint {
  if (!data.tree) return recognizerOf(model.vocabulary, data);
  const descriptors = data.tree.map(({ path, leaves = [], regex: pattern, trigger, end }) => ({
    path,
    ...(pattern ? { regex: pattern } : { leaves: leaves.map((name) => ({ name, tokens: tokensOf(name) })) }),
    ...(trigger && { trigger: trigger.map(tokensOf) }),
    ...(end && { end: end.flatMap(tokensOf) }),
  }));
  return { modelId: "", descriptors };
}

// ---- The verbs

const verbs: Record<string, (stream: Stream, step: Step) => void> = {
  prefill,
  next: (stream, { max_tokens: maxTokens, max_text_bytes: maxTextBytes, ...expected }) => {
    const { tokens, text, done } = stream.step({ maxTokens, maxTextBytes });
    const pieces = tokens.map((token) => Buffer.from(model.vocabulary.tokenBytes(token)));
    if (expected.tokens) expect(pieces).toEqual(expected.tokens.map((piece) => Buffer.from(octets(piece as Octets))));
    expect({ text, done }).toEqual({ text: (expected.text as string) ?? text, done: expected.done ?? done });
  },
  generate: (stream, { max_tokens: maxTokens, text, inside, drafts }) => {
    let received = 0;
    told = [];
    const generated = stream.generate(
      () => {
        received++;
        if (received !== inside?.token) return false;
        for (const step of inside.calls ?? []) runStep(stream, step);
        return inside.stop === true;
      },
      { maxTokens },
    );
    if (text !== undefined) expect(generated).toBe(text as string);
    if (inside) expect(received).toBeGreaterThanOrEqual(inside.token);
    if (drafts) expect(told.map(draftOf)).toEqual(drafts);
  },
  reenter,
  choose: (stream, { constraint, path, result }) =>
    expect(stream.choose(constraintOf(constraint!), { path })).toBe(result!),
  constrain: (stream, { constraint, mode = Mode.GREEDY, end, span_timeout: spanTimeout, prefill }) => {
    const made = constraintOf(constraint!);
    if (!(made instanceof Constraint)) return stream.setTokenTrie(made, mode);
    stream.setConstraint(made, mode, { end: end?.flatMap(tokensOf), spanTimeout, prefill });
  },
  clear: (stream) => stream.clearConstraint(),
  cancel: (stream) => stream.cancel(),
  reset: (stream) => stream.reset(),
  reset_keep: (stream, { n, kept }) => expect(stream.reset(n!)).toBe(kept!),
  activate: (stream, { path }) => stream.activate(path!),
  save: (stream, { path }) => stream.save(path!),
  restore: (stream, { path }) => stream.restore(path!),
  set_seed: (stream, { n }) => stream.setSeed(n!),
  set_sampling: (stream, { temperature }) => stream.setSampling({ temperature }),
  set_stop_at_span_end: (stream, { on }) => stream.setStopAtSpanEnd(on!),
  set_span_timeout: (stream, { n }) => stream.setSpanTimeout(n!),
  set_time_budget_ms: (stream, { n }) => stream.setTimeBudgetMs(n!),
};

function draftOf({ acceptedTokenIds, rejectedFrom, rejectedTo, correctedTokenIds }: NativeVerifierEvent): Draft {
  const spelled = (tokens: number[]): string[] =>
    tokens.map((token) => Buffer.from(model.vocabulary.tokenBytes(token)).toString());
  return {
    accepted: spelled(acceptedTokenIds),
    corrected: spelled(correctedTokenIds),
    ...(rejectedFrom >= 0 && { rejected: [rejectedFrom, rejectedTo] }),
  };
}

function reenter(stream: Stream, { constraint, calls = [], step }: Step): void {
  let nAsked = 0;
  other.vocabulary.setTokenizer((text) => {
    for (const call of calls) runStep(stream, call);
    nAsked++;
    return tokensOf(new TextDecoder().decode(text));
  });
  stream.setConstraint(recognizerOf(other.vocabulary, constraint!));
  runStep(stream, step!);
  expect(nAsked).toBeGreaterThan(0);
}

function prefill(stream: Stream, { text, tokens, healed }: Step): void {
  if (tokens) stream.prefill(tokens as number[]);
  else if (healed === undefined) stream.prefill(new TextDecoder().decode(octets(text!)));
  else {
    const kept = model.vocabulary.heal(model.tokenize(text as string, { addSpecial: true }));
    expect(Buffer.from(kept.prefill).toString()).toBe(healed);
    stream.prefill(kept.tokens);
  }
}
