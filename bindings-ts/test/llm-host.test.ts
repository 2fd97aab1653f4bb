/** The host's interface to the whole library, and its streams under the runner. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ElizaInferenceFfi,
  FfiStreamingRunner,
  Model,
  type NativeVerifierEvent,
  loadElizaInferenceFfi,
  wrapElizaInferenceFfi,
} from "../src";
import { actions, examples, libraryWithLlama, modelPath } from "./support";

let ffi: ElizaInferenceFfi;
let context: bigint;
beforeAll(() => {
  ffi = loadElizaInferenceFfi(libraryWithLlama().path);
  context = ffi.create(modelPath);
});
afterAll(() => ffi.destroy(context));

const { prompt, action } = examples[0]!;
const settings = {
  slotId: -1,
  maxTokens: 60,
  temperature: 0,
  topP: 1,
  topK: 0,
  repeatPenalty: 1,
  draftModelPath: null,
};

function promptTokens(): Int32Array {
  return ffi.tokenize!({ ctx: context, text: prompt });
}

test("it says what the library has", () => {
  expect(ffi.libraryPath).toBe(libraryWithLlama().path);
  expect(ffi.libraryAbiVersion).toBe("15");
  const yes = ["llmStreamSupported", "llmMtpSupported", "llmKvQuantSupported", "embedSupported", "tokenizeSupported"];
  for (const [name, method] of Object.entries(ffi)) {
    if (name.endsWith("Supported")) expect([name, method()]).toEqual([name, yes.includes(name)]);
  }
});

test("tokens, embeddings and memory of a context", () => {
  using model = new Model(modelPath, { library: libraryWithLlama() });
  expect([...promptTokens()]).toEqual(model.tokenize(prompt, { addSpecial: true }));
  const tokens = ffi.tokenize!({ ctx: context, text: prompt, addSpecial: false });
  expect(ffi.detokenize!({ ctx: context, tokens })).toBe(prompt);
  expect(ffi.embed!({ ctx: context, text: prompt })).toEqual(model.embed(prompt));
  ffi.mmapEvict(context, "text");
  ffi.mmapAcquire(context, "text");
  expect(() => ffi.mmapAcquire(context, "tts")).toThrow('this library has "text" and "mtp", not "tts"');
  expect(() => ffi.create("/absent")).toThrow("there is no such file");
});

test("a drafting model is kept for the next generation until its memory is given back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
  const draftModelPath = join(folder, "drafter.gguf");
  copyFileSync(modelPath, draftModelPath);
  const runner = new FfiStreamingRunner(wrapElizaInferenceFfi(ffi), context);
  const args = { ...settings, promptTokens: promptTokens(), draftMin: 1, draftMax: 4, draftModelPath };
  expect((await runner.generateWithUsage(args)).text).toBe(` ${action}`);
  rmSync(folder, { recursive: true });
  expect((await runner.generateWithUsage(args)).text).toBe(` ${action}`);
  ffi.mmapEvict(context, "mtp");
  await expect(runner.generateWithUsage(args)).rejects.toThrow(`${draftModelPath}: there is no such file`);
});

describe("wrapElizaInferenceFfi", () => {
  test("gives the runner what it needs", async () => {
    const runner = new FfiStreamingRunner(wrapElizaInferenceFfi(ffi), context);
    using model = new Model(modelPath, { library: libraryWithLlama() });
    const args = { ...settings, promptTokens: promptTokens(), draftMin: 0, draftMax: 0 };
    expect((await runner.generateWithUsage(args)).text).toBe(` ${action}`);
    const tokenTreePayload = model.tokenTree([actions.find((name) => name !== action)!]);
    const { text } = await runner.generateWithUsage({ ...args, tokenTreePayload });
    expect(text).toStartWith(` ${tokenTreePayload.descriptors[0]!.leaves[0]!.name}`);
  });

  test("says what is missing", () => {
    const { llmStreamOpen: _, ...older } = ffi;
    expect(() => wrapElizaInferenceFfi(older)).toThrow(/does not expose the streaming-LLM symbol set: llmStreamOpen$/);
    expect(() => wrapElizaInferenceFfi({ ...ffi, llmStreamSupported: () => false })).toThrow(
      /does not expose the streaming-LLM symbol set: llmStreamSupported\(\) is false/,
    );
  });

  test("leaves out what the build does not have", () => {
    const { llmStreamSaveSlot: _, llmStreamSetTokenTrie: __, ...older } = ffi;
    const binding = wrapElizaInferenceFfi(older);
    expect([binding.llmStreamSaveSlot, binding.llmStreamSetTokenTrie]).toEqual([undefined, undefined]);
    expect(binding.llmStreamRestoreSlot).toBeFunction();
  });
});

test("the verifier's callback tells of each draft until it is closed", async () => {
  const events: NativeVerifierEvent[] = [];
  const watch = ffi.setVerifierCallback(context, (event) => events.push(event));
  const runner = new FfiStreamingRunner(wrapElizaInferenceFfi(ffi), context);
  const gbnfGrammar = 'root ::= (" SEND_" ("MESSAGE" | "EMAIL") "\\n"){8}';
  const args = { ...settings, gbnfGrammar, promptTokens: promptTokens(), draftMin: 1, draftMax: 6 };
  const output: number[] = [];
  const onVerifierEvent = (event: { tokens: { id: number }[] }) =>
    void output.push(...event.tokens.map(({ id }) => id));
  const result = await runner.generateWithUsage({ ...args, onVerifierEvent });
  const plain = await runner.generateWithUsage({ ...args, draftMax: 0 });
  expect(result.text).toBe(plain.text);
  expect(result.drafted).toBeGreaterThan(0);
  expect(events.reduce((n, event) => n + event.acceptedTokenIds.length, 0)).toBe(result.accepted);
  const rejected = events.reduce((n, event) => n + event.rejectedTo - event.rejectedFrom, 0);
  expect(result.accepted + rejected).toBe(result.drafted);
  for (const { rejectedFrom, acceptedTokenIds, correctedTokenIds } of events) {
    if (rejectedFrom < 0) continue;
    const from = rejectedFrom - acceptedTokenIds.length;
    const came = output.slice(from, rejectedFrom + correctedTokenIds.length);
    expect([...acceptedTokenIds, ...correctedTokenIds]).toEqual(came);
  }
  const told = events.length;
  watch.close();
  await runner.generateWithUsage(args);
  expect(events.length).toBe(told);
});
