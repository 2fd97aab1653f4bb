import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ElizaInferenceError,
  type FfiLlmHandle,
  type FfiStreamingGenerateArgs,
  FfiStreamingRunner,
  type LlmStreamStep,
  type LlmStreamingBinding,
  Model,
  NativeLlmStreaming,
  type SymbolName,
  type VerifierStreamEvent,
  abi,
  loadAospStreamingLlmBinding,
  resolveMaxTokensPerStep,
} from "../src";
import { actions, examples, libraryWithLlama, modelPath, olderBuild } from "./support";

let model: Model;
let native: NativeLlmStreaming;
let handle: FfiLlmHandle;
const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
beforeAll(() => {
  const library = libraryWithLlama();
  model = new Model(modelPath, { library });
  native = new NativeLlmStreaming(library);
  handle = native.eliza_inference_llm_stream_open(modelPath, 0, 1, 0)!;
});
afterAll(() => {
  native.eliza_inference_llm_stream_close(handle);
  model.close();
  rmSync(folder, { recursive: true });
});

function argsFor(
  { prompt }: { prompt: string },
  more: Partial<FfiStreamingGenerateArgs> = {},
): FfiStreamingGenerateArgs {
  return {
    promptTokens: Int32Array.from(model.tokenize(prompt, { addSpecial: true })),
    slotId: -1,
    maxTokens: 32,
    temperature: 0,
    topP: 1,
    topK: 0,
    repeatPenalty: 1,
    draftMin: 0,
    draftMax: 0,
    draftModelPath: null,
    ...more,
  };
}

/** The real binding, with a list of the methods that were called. */
function recorded(): { binding: LlmStreamingBinding; calls: string[] } {
  const calls: string[] = [];
  const binding = new Proxy(loadAospStreamingLlmBinding(model.library)!, {
    get: (target, name: keyof LlmStreamingBinding) => {
      const method = target[name] as ((...args: unknown[]) => unknown) | undefined;
      if (!method) return undefined;
      return (...args: unknown[]) => {
        calls.push(name.replace("llmStream", ""));
        return method(...args);
      };
    },
  });
  return { binding, calls };
}

const runners: [string, () => FfiStreamingRunner][] = [
  ["a binding", () => new FfiStreamingRunner(loadAospStreamingLlmBinding(model.library)!, model.handle)],
  ["a FfiLlmStreamingAbi", () => new FfiStreamingRunner(native, { handle })],
];

describe.each(runners)("FfiStreamingRunner on %s", (_, newRunner) => {
  test("names the action of each message under a token tree", async () => {
    const runner = newRunner();
    const tokenTreePayload = model.tokenTree(actions);
    for (const example of examples.slice(0, 5)) {
      const longest = Math.max(...tokenTreePayload.descriptors[0]!.leaves.map(({ tokens }) => tokens.length));
      const chunks: string[] = [];
      const result = await runner.generateWithUsage(
        argsFor(example, { tokenTreePayload, maxTokens: longest, onTextChunk: (chunk) => void chunks.push(chunk) }),
      );
      expect(result).toEqual({
        text: ` ${example.action}`,
        slotId: -1,
        firstTokenMs: expect.any(Number),
        drafted: 0,
        accepted: 0,
      });
      expect(chunks.join("")).toBe(result.text);
    }
  });

  test("tells each token once, in order", async () => {
    const events: VerifierStreamEvent[] = [];
    const { text } = await newRunner().generateWithUsage(
      argsFor(examples[0]!, { onVerifierEvent: (event) => void events.push(event) }),
    );
    const tokens = events.flatMap((event) => event.tokens);
    expect(tokens.map(({ index }) => index)).toEqual([...tokens.keys()]);
    expect(model.detokenize(tokens.map(({ id }) => id))).toBe(text);
    expect(tokens.map((token) => token.text).join("")).toBe(text);
  });

  test("the tree is gone afterwards, also when a callback threw", async () => {
    const runner = newRunner();
    const free = await runner.generateWithUsage(argsFor(examples[0]!));
    const tokenTreePayload = model.tokenTree(actions.filter((name) => name !== examples[0]!.action));
    const constrained = await runner.generateWithUsage(argsFor(examples[0]!, { tokenTreePayload }));
    expect(constrained.text).not.toBe(free.text);
    const onTextChunk = () => Promise.reject(new RangeError("enough"));
    const failing = runner.generateWithUsage(argsFor(examples[0]!, { tokenTreePayload, onTextChunk }));
    await expect(failing).rejects.toThrow(new RangeError("enough"));
    expect(await runner.generateWithUsage(argsFor(examples[0]!))).toMatchObject({ text: free.text });
  });

  test("an abort between steps ends the generation with the signal's reason", async () => {
    const controller = new AbortController();
    const chunks: string[] = [];
    const onTextChunk = (chunk: string) => {
      chunks.push(chunk);
      setImmediate(() => controller.abort(new Error("the user left")));
    };
    const runner = newRunner();
    const args = argsFor(examples[0]!, { signal: controller.signal, maxTokensPerStep: 1, onTextChunk });
    await expect(runner.generateWithUsage(args)).rejects.toThrow("the user left");
    expect(chunks.length).toBeLessThanOrEqual(2); // the next one may have been on its way
    expect((await runner.generateWithUsage(argsFor(examples[0]!))).text).not.toBe("");
  });

  test("an abort before the start decodes nothing", async () => {
    const args = argsFor(examples[0]!, { signal: AbortSignal.abort(), onTextChunk: () => expect.unreachable() });
    await expect(newRunner().generateWithUsage(args)).rejects.toThrow("aborted");
  });

  test("timers run between steps", async () => {
    const order: string[] = [];
    const onTextChunk = () => {
      order.push("chunk");
      setImmediate(() => order.push("timer"));
    };
    await newRunner().generateWithUsage(argsFor(examples[0]!, { maxTokensPerStep: 1, onTextChunk }));
    expect(order.indexOf("timer")).toBeLessThan(order.lastIndexOf("chunk"));
  });

  test("a refused tree throws, and nothing was generated", async () => {
    const runner = newRunner();
    const tokenTreePayload = { modelId: "", descriptors: [{ path: "a", leaves: [{ name: "A", tokens: [-1] }] }] };
    const args = argsFor(examples[0]!, { tokenTreePayload, onTextChunk: () => expect.unreachable() });
    const error = await runner.generateWithUsage(args).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ElizaInferenceError);
    expect((error as ElizaInferenceError).statusName).toBe("ELIZA_ERR_PAYLOAD");
    expect((await runner.generateWithUsage(argsFor(examples[0]!))).text).not.toBe("");
  });

  test("a prompt that does not fit throws", async () => {
    const args = { ...argsFor(examples[0]!), promptTokens: new Int32Array(100_000) };
    await expect(newRunner().generateWithUsage(args)).rejects.toMatchObject({ statusName: "ELIZA_ERR_CONTEXT_FULL" });
  });

  test("generations on one slot run one after the other", async () => {
    const runner = newRunner();
    const order: number[] = [];
    const run = (id: number, example = examples[id]!) =>
      runner.generateWithUsage(
        argsFor(example, { slotId: 0, maxTokensPerStep: 1, onTextChunk: () => void order.push(id) }),
      );
    const failing = runner.generateWithUsage({
      ...argsFor(examples[0]!),
      slotId: 0,
      promptTokens: new Int32Array(100_000),
    });
    const results = await Promise.all([run(1), failing.catch(() => null), run(2), run(3)]);
    expect(order).toEqual([...order].sort());
    expect(new Set(order)).toEqual(new Set([1, 2, 3]));
    for (const [index, result] of [results[0]!, results[2]!, results[3]!].entries()) {
      const alone = await runner.generateWithUsage(argsFor(examples[index + 1]!));
      expect(result.text).toBe(alone.text);
    }
  });

  test("leaving the stream of steps ends the generation", async () => {
    const runner = newRunner();
    const steps: LlmStreamStep[] = [];
    for await (const step of runner.generateStream(argsFor(examples[0]!, { slotId: 0, maxTokensPerStep: 1 }))) {
      steps.push(step);
      if (steps.length === 2) break;
    }
    expect(steps.map(({ tokens }) => tokens.length)).toEqual([1, 1]);
    expect((await runner.generateWithUsage(argsFor(examples[0]!, { slotId: 0 }))).text).toStartWith(
      steps.map(({ text }) => text).join(""),
    );
  });
});

describe("the flow on a binding", () => {
  test("opens, prefills, sets, steps, clears and closes", async () => {
    const { binding, calls } = recorded();
    const tokenTreePayload = model.tokenTree(["REPLY"]);
    const runner = new FfiStreamingRunner(binding, BigInt(model.handle));
    await runner.generateWithUsage(argsFor(examples[0]!, { tokenTreePayload, maxTokensPerStep: 1 }));
    expect(calls.slice(0, 4)).toEqual(["Open", "Prefill", "SetTokenTrie", "Next"]);
    expect(calls.slice(-2)).toEqual(["ClearTokenTrie", "Close"]);
    expect(new Set(calls.slice(3, -2))).toEqual(new Set(["Next"]));
  });

  test("decodes the prompt alone when no token is asked for", async () => {
    const { binding, calls } = recorded();
    const runner = new FfiStreamingRunner(binding, model.handle);
    const result = await runner.generateWithUsage(argsFor(examples[0]!, { maxTokens: 0 }));
    expect([result.text, result.firstTokenMs]).toEqual(["", null]);
    expect(calls).toEqual(["Open", "Prefill", "Close"]);
  });

  test("clears and closes when a step throws", async () => {
    const { binding, calls } = recorded();
    const controller = new AbortController();
    const onTextChunk = () => controller.abort();
    const tokenTreePayload = model.tokenTree(actions);
    const runner = new FfiStreamingRunner(binding, model.handle);
    const args = argsFor(examples[0]!, {
      tokenTreePayload,
      onTextChunk,
      maxTokensPerStep: 1,
      signal: controller.signal,
    });
    await expect(runner.generateWithUsage(args)).rejects.toThrow("aborted");
    expect(calls.slice(-3)).toContain("ClearTokenTrie");
    expect(calls.at(-1)).toBe("Close");
    expect(calls.filter((name) => name === "Cancel").length).toBe(1);
  });

  test("closes without clearing when the tree was refused", async () => {
    const { binding, calls } = recorded();
    const runner = new FfiStreamingRunner(binding, model.handle);
    const args = argsFor(examples[0]!, { tokenTreePayload: { modelId: "", descriptors: [] } });
    await expect(runner.generateWithUsage(args)).rejects.toThrow(ElizaInferenceError);
    expect(calls).toEqual(["Open", "Prefill", "SetTokenTrie", "Close"]);
  });

  test("all settings reach the stream", async () => {
    const runner = new FfiStreamingRunner(loadAospStreamingLlmBinding(model.library)!, model.handle);
    const { text } = await runner.generateWithUsage(
      argsFor(examples[0]!, {
        gbnfGrammar: 'root ::= " " "NONE"',
        topK: 5,
        repeatPenalty: 1.1,
        contextSize: 128,
        cacheTypeK: "f16",
      }),
    );
    expect(text).toBe(" NONE");
    for (const [more, name] of [
      [{ draftModelPath: "/drafter.gguf", draftMin: 1, draftMax: 4 }, "/drafter.gguf"],
      [{ cacheTypeV: "q3_0" }, "cache_type_v"],
      [{ gbnfGrammar: "root ::= (" }, "gbnf_grammar"],
    ] as const) {
      await expect(runner.generateWithUsage(argsFor(examples[0]!, more))).rejects.toThrow(name);
    }
  });

  test("slots are saved and restored", () => {
    const binding = loadAospStreamingLlmBinding(model.library)!;
    const runner = new FfiStreamingRunner(binding, model.handle);
    const path = join(folder, "slot");
    const stream = binding.llmStreamOpen({ ctx: model.handle, config: {} });
    binding.llmStreamPrefill({ stream, tokens: argsFor(examples[0]!).promptTokens });
    runner.saveSlot(stream, path);
    const expected = binding.llmStreamNext({ stream });
    runner.restoreSlot(stream, path);
    expect(binding.llmStreamNext({ stream })).toEqual(expected);
    binding.llmStreamClose(stream);
    binding.llmStreamClose(stream);
    expect(() => new FfiStreamingRunner(native, { handle }).saveSlot(stream, path)).toThrow(
      "is not exported by this build",
    );
  });
});

describe("a build without the trie sampler", () => {
  test("generates with the grammar alone, and warns", async () => {
    const path = await olderBuild(folder, ["eliza_inference_set_token_trie", "eliza_inference_clear_token_trie"]);
    const library = libraryWithLlama(path);
    using older = new Model(modelPath, { library });
    const binding = loadAospStreamingLlmBinding(library)!;
    expect(binding.llmStreamSupported()).toBe(true);
    expect(binding.llmStreamSetTokenTrie).toBeUndefined();
    expect(binding.llmStreamClearTokenTrie).toBeUndefined();
    const olderNative = new NativeLlmStreaming(library);
    expect(olderNative.eliza_inference_set_token_trie).toBeUndefined();
    expect(olderNative.eliza_inference_clear_token_trie).toBeUndefined();

    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const runner = new FfiStreamingRunner(binding, older.handle, { warn });
    const tokenTreePayload = model.tokenTree(["REPLY"]);
    const args = argsFor(examples[0]!, { tokenTreePayload, gbnfGrammar: 'root ::= " " ("NONE" | "IGNORE")' });
    expect((await runner.generateWithUsage(args)).text).toMatch(/^ (NONE|IGNORE)$/);
    expect(warnings).toEqual([
      "this build of libelizainference has no token-trie sampler: generating with the grammar alone",
    ]);

    const olderHandle = olderNative.eliza_inference_llm_stream_open(modelPath, 0, 0, 0)!;
    const onHandle = new FfiStreamingRunner(olderNative, { handle: olderHandle }, { warn });
    expect((await onHandle.generateWithUsage(argsFor(examples[0]!, { tokenTreePayload }))).text).toBe(
      ` ${examples[0]!.action}`,
    );
    expect(warnings.length).toBe(2);
    olderNative.eliza_inference_llm_stream_close(olderHandle);
  });

  test("a build with the host's functions alone generates too", async () => {
    const library = libraryWithLlama(await olderBuild(folder, SYMBOLS_OF_THIS_LIBRARY));
    expect(library.missing.size).toBe(SYMBOLS_OF_THIS_LIBRARY.length);
    using older = new Model(modelPath, { library });
    const warn = () => {};
    const runner = new FfiStreamingRunner(loadAospStreamingLlmBinding(library)!, older.handle, { warn });
    const args = argsFor(examples[0]!, { tokenTreePayload: model.tokenTree(["REPLY"]) });
    expect((await runner.generateWithUsage(args)).text).toBe(` ${examples[0]!.action}`);

    const olderNative = new NativeLlmStreaming(library);
    const olderHandle = olderNative.eliza_inference_llm_stream_open(modelPath, 0, 1, 0)!;
    const onHandle = new FfiStreamingRunner(olderNative, { handle: olderHandle }, { warn });
    for (const slotId of [-1, 0, 0]) {
      expect((await onHandle.generateWithUsage({ ...args, slotId })).text).toBe(` ${examples[0]!.action}`);
    }
    await expect(onHandle.generateWithUsage({ ...args, temperature: 0.5 })).rejects.toThrow(
      "is an older build: it lacks eliza_inference_llm_stream_set_sampling",
    );
    olderNative.eliza_inference_llm_stream_close(olderHandle);
  });

  test("a build without streams gives no binding", async () => {
    const library = libraryWithLlama(await olderBuild(folder, ["eliza_inference_llm_stream_next"]));
    expect(loadAospStreamingLlmBinding(library)).toBeNull();
  });
});

/** What a build of the host's ABI 15 does not have. */
const SYMBOLS_OF_THIS_LIBRARY = (Object.keys(abi.declarations) as SymbolName[]).filter(
  (name) =>
    !/^eliza_inference_(abi_version|free_string|create|destroy|tokenize|free_tokens|detokenize)$/.test(name) &&
    !/^eliza_inference_llm_(stream|mtp|kv_quant)_supported$/.test(name) &&
    !/^eliza_inference_llm_stream_(open|prefill|next|generate|cancel|reset|reset_keep)$/.test(name) &&
    !/^eliza_inference_llm_stream_(close|save_slot|restore_slot)$/.test(name),
);

/** A binding that gives these texts, a token each, and writes down what is called. */
function scripted(...texts: string[]) {
  const calls: string[] = [];
  const caps: (number | undefined)[] = [];
  const steps = new Map<unknown, number>();
  const binding: LlmStreamingBinding = {
    llmStreamSupported: () => true,
    llmStreamOpen: () => {
      calls.push("open");
      return calls.length;
    },
    llmStreamPrefill: () => void calls.push("prefill"),
    llmStreamNext: ({ stream, maxTokensPerStep }) => {
      caps.push(maxTokensPerStep);
      const i = steps.get(stream) ?? 0;
      steps.set(stream, i + 1);
      return { tokens: [i], text: texts[i]!, done: i === texts.length - 1, drafterDrafted: 2, drafterAccepted: 1 };
    },
    llmStreamCancel: () => void calls.push("cancel"),
    llmStreamClose: () => void calls.push("close"),
  };
  return { binding, calls, caps };
}

describe("the runner as the host's tests ask", () => {
  const variable = "ELIZA_LOCAL_STREAM_TOKENS_PER_STEP";
  const before = process.env[variable];
  afterEach(() => {
    if (before === undefined) delete process.env[variable];
    else process.env[variable] = before;
  });
  const greedy = { temperature: 0, topP: 1, topK: 0, repeatPenalty: 1 };
  const noDrafts = { draftMin: 0, draftMax: 0, draftModelPath: null };
  const args = { promptTokens: Int32Array.of(1, 2, 3), slotId: 0, maxTokens: 32, ...greedy, ...noDrafts };

  test.each([
    [undefined, undefined, 32],
    [undefined, 4, 4],
    ["8", undefined, 8],
    ["8", 1, 1],
    [undefined, 0, 1],
    [undefined, 100_000, 512],
    ["9999", undefined, 512],
    ["0", undefined, 1],
    ["smooth", undefined, 32],
    [undefined, Number.NaN, 32],
  ])("tokens of a step: %p in the environment and %p in the call give %p", async (set, given, expected) => {
    if (set === undefined) delete process.env[variable];
    else process.env[variable] = set;
    const { binding, caps } = scripted("a", "b");
    await new FfiStreamingRunner(binding, 1n).generateWithUsage({ ...args, maxTokensPerStep: given });
    expect(caps).toEqual([expected, expected]);
    if (given === undefined) expect(resolveMaxTokensPerStep()).toBe(expected);
  });

  test("texts and drafts are summed up", async () => {
    const { binding, calls } = scripted("hello", " world", "!");
    const result = await new FfiStreamingRunner(binding, 1n).generateWithUsage(args);
    expect(result).toMatchObject({ text: "hello world!", slotId: 0, drafted: 6, accepted: 3 });
    expect(calls).toEqual(["open", "prefill", "close"]);
  });

  test("no tokens: the prompt alone is decoded", async () => {
    const { binding, calls, caps } = scripted("x");
    const onTextChunk = () => expect.unreachable();
    const result = await new FfiStreamingRunner(binding, 1n).generateWithUsage({ ...args, maxTokens: 0, onTextChunk });
    expect(result).toEqual({ text: "", slotId: 0, firstTokenMs: null, drafted: 0, accepted: 0 });
    expect([calls, caps]).toEqual([["open", "prefill", "close"], []]);
  });

  test("a signal that is aborted already cancels the stream", async () => {
    const { binding, calls } = scripted("x");
    const reason = new Error("the user left");
    const running = new FfiStreamingRunner(binding, 1n).generateWithUsage({
      ...args,
      signal: AbortSignal.abort(reason),
    });
    expect(await running.catch((error) => [error.message, error.cause])).toEqual(["aborted before start", reason]);
    expect(calls).toEqual(["open", "cancel", "close"]);
  });

  test("what a build lacks is told", async () => {
    const { llmStreamOpen: _, ...older } = scripted("x").binding;
    const runner = new FfiStreamingRunner(older as LlmStreamingBinding, 1n);
    await expect(runner.generateWithUsage(args)).rejects.toThrow("missing streaming-LLM symbols");
    expect(() => runner.saveSlot(1n, "slot")).toThrow("llmStreamSaveSlot is not exported by this build");
    expect(() => runner.restoreSlot(1n, "slot")).toThrow("llmStreamRestoreSlot is not exported by this build");
  });

  test("a step comes while its callback still runs, and the slot is taken until the end", async () => {
    const { binding, calls } = scripted("a", "b");
    const runner = new FfiStreamingRunner(binding, 1n);
    let resolve!: () => void;
    const promise = new Promise<void>((called) => {
      resolve = called;
    });
    const steps = runner.generateStream({ ...args, onTextChunk: () => promise });
    expect((await steps.next()).value?.text).toBe("a");
    const second = runner.generateWithUsage(args);
    await new Promise((after) => setImmediate(after));
    expect(calls).toEqual(["open", "prefill"]);
    resolve();
    while (!(await steps.next()).done);
    expect((await second).text).toBe("ab");
    expect(calls).toEqual(["open", "prefill", "close", "open", "prefill", "close"]);
  });

  test("a step that fails is told to who iterates", async () => {
    const { binding } = scripted("a");
    binding.llmStreamNext = () => {
      throw new Error("native fault");
    };
    const steps = new FfiStreamingRunner(binding, 1n).generateStream(args);
    await expect(steps.next()).rejects.toThrow("native fault");
  });
});
