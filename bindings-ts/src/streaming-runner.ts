/** Generation beside other work: the host's runner. */
import type { ElizaInferenceError } from "./errors.js";
import { yieldToEventLoop } from "./event-loop.js";
import type {
  FfiLlmHandle,
  FfiLlmStreamingAbi,
  LlmCtxHandle,
  LlmStreamHandle,
  LlmStreamingBinding,
} from "./host-abi.js";
import { DEFAULT_MAX_TEXT_BYTES, DEFAULT_MAX_TOKENS_PER_STEP, type LlmStreamStep } from "./llm-stream.js";
import { encodePayload } from "./payload.js";
import { Mode } from "./sampling.js";
import type { TokenTreePayload } from "./token-tree.js";

/** One generation: its prompt, its settings and its callbacks. */
export interface FfiStreamingGenerateArgs {
  /** The prompt, in tokens of the model. */
  promptTokens: Int32Array;
  /** Generations with the same slot run one after the other; -1: no slot. */
  slotId: number;
  /** Accepted but unused. */
  cacheKey?: string | undefined;
  /** Tokens to emit; 0: none, so that only the prompt is decoded. */
  maxTokens: number;
  /** 0 or less: greedy. */
  temperature: number;
  /** 1 or more, or 0 or less: off. */
  topP: number;
  /** 0 or less: off. */
  topK: number;
  /** Penalty on the last 64 tokens; 1: off. */
  repeatPenalty: number;
  /** As in LlmStreamConfig. */
  draftMin: number;
  /** As in LlmStreamConfig. */
  draftMax: number;
  /** As mtpDrafterPath in LlmStreamConfig. */
  draftModelPath: string | null;
  /** As in LlmStreamConfig. */
  gpuLayers?: number | undefined;
  /** As in LlmStreamConfig. */
  cacheTypeK?: string | null | undefined;
  /** As in LlmStreamConfig. */
  cacheTypeV?: string | null | undefined;
  /** As in LlmStreamConfig. */
  contextSize?: number | undefined;
  /** As in LlmStreamConfig. */
  gbnfGrammar?: string | null | undefined;
  /** Ends the generation, which then throws the signal's reason, or that it was aborted before its start. */
  signal?: AbortSignal | undefined;
  /** Tokens of one step, from 1 to 512; by default what `resolveMaxTokensPerStep` says. */
  maxTokensPerStep?: number | undefined;
  /** Receives the text of each step, unless it is empty. The next step waits for it. */
  onTextChunk?: ((chunk: string) => void | Promise<void>) | undefined;
  /** Receives the tokens of each step, unless there are none. The next step waits for it. */
  onVerifierEvent?: ((event: VerifierStreamEvent) => void | Promise<void>) | undefined;
  /** Constrains the output, in place of the grammar. */
  tokenTreePayload?: TokenTreePayload | undefined;
  /** One of Mode; Mode.GREEDY by default. */
  tokenTreeMode?: number | undefined;
}

/** The tokens accepted in one step. The first carries the text of them all. */
export interface VerifierStreamEvent {
  /** Always "accept". */
  kind: "accept";
  /** The tokens; `index` counts from the start of the output. */
  tokens: { index: number; text: string; id: number }[];
}

/** What a generation gave. */
export interface FfiStreamingGenerateResult {
  /** All of the output. */
  text: string;
  /** The slot that was asked for. */
  slotId: number;
  /** Milliseconds until the first text, including the prompt; null if there was no text. */
  firstTokenMs: number | null;
  /** Tokens that were drafted. */
  drafted: number;
  /** Those of them that came out. */
  accepted: number;
}

/** Options of a FfiStreamingRunner. */
export interface FfiStreamingRunnerOptions {
  /** Receives the warning that a build has no trie sampler; `console.warn` by default. */
  warn?: ((message: string) => void) | undefined;
}

/**
 * Runs generations: decodes the prompt, sets the token tree, generates, and clears the tree, even if the generation
 * throws or is aborted. Yields to the event loop at each step. Throws if a token tree is refused; only a build without
 * the trie sampler continues with the grammar alone, after a warning.
 *
 * With a binding, each generation opens a stream on the context, with all settings of `args`. With an
 * FfiLlmStreamingAbi it uses the open handle, and only maxTokens, temperature and topP of the settings.
 */
export class FfiStreamingRunner {
  readonly #open: (args: FfiStreamingGenerateArgs) => Session;
  readonly #warn: (message: string) => void;
  readonly #slots = new Map<number, Promise<void>>();
  readonly #binding: LlmStreamingBinding | null;

  /** A runner on the address of a context, such as `Model.handle`. Keep the model open while it runs. */
  constructor(ffi: LlmStreamingBinding, ctx: LlmCtxHandle, options?: FfiStreamingRunnerOptions);
  /** A runner on an open session, which stays the caller's. */
  constructor(ffi: FfiLlmStreamingAbi, ctx: { handle: FfiLlmHandle }, options?: FfiStreamingRunnerOptions);
  constructor(
    ffi: LlmStreamingBinding | FfiLlmStreamingAbi,
    ctx: LlmCtxHandle | { handle: FfiLlmHandle },
    options: FfiStreamingRunnerOptions = {},
  ) {
    this.#warn = options.warn ?? ((message) => console.warn(message));
    const handles = "eliza_inference_llm_stream_open" in ffi ? ffi : null;
    const binding = handles ? null : (ffi as LlmStreamingBinding);
    this.#binding = binding;
    this.#open = handles
      ? (args) => new HandleSession(handles, (ctx as { handle: FfiLlmHandle }).handle, args)
      : (args) => new BindingSession(binding!, ctx as LlmCtxHandle, args);
  }

  /** Generates to the end. */
  async generateWithUsage(args: FfiStreamingGenerateArgs): Promise<FfiStreamingGenerateResult> {
    const started = performance.now();
    const result: FfiStreamingGenerateResult = {
      text: "",
      slotId: args.slotId,
      firstTokenMs: null,
      drafted: 0,
      accepted: 0,
    };
    for await (const step of this.generateStream(args)) {
      if (step.text !== "") result.firstTokenMs ??= performance.now() - started;
      result.text += step.text;
      result.drafted += step.drafterDrafted;
      result.accepted += step.drafterAccepted;
    }
    return result;
  }

  /** Yields the steps as they come, and calls the callbacks of `args`. Leaving the loop ends the generation. */
  async *generateStream(args: FfiStreamingGenerateArgs): AsyncGenerator<LlmStreamStep> {
    const leave = await this.#enterSlot(args.slotId);
    try {
      let index = 0;
      for await (const step of this.#run(args)) {
        const told = tell(args, step, index);
        told.catch(() => {}); // awaited below, unless the loop is left
        index += step.tokens.length;
        yield step;
        await told;
      }
    } finally {
      leave();
    }
  }

  /**
   * Writes the tokens and the KV cache of a stream to a file. Throws with an FfiLlmStreamingAbi, which has no slots.
   */
  saveSlot(stream: LlmStreamHandle, filename: string): void {
    if (!this.#binding?.llmStreamSaveSlot) throw new Error("llmStreamSaveSlot is not exported by this build");
    this.#binding.llmStreamSaveSlot({ stream, filename });
  }

  /** Restores what `saveSlot` wrote. Throws with an FfiLlmStreamingAbi, which has no slots. */
  restoreSlot(stream: LlmStreamHandle, filename: string): void {
    if (!this.#binding?.llmStreamRestoreSlot) throw new Error("llmStreamRestoreSlot is not exported by this build");
    this.#binding.llmStreamRestoreSlot({ stream, filename });
  }

  async *#run(args: FfiStreamingGenerateArgs): AsyncGenerator<LlmStreamStep> {
    const { signal } = args;
    const session = this.#open(args);
    const cancel = (): void => session.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      if (signal?.aborted) {
        session.cancel();
        throw new Error("aborted before start", { cause: signal.reason });
      }
      session.prefill();
      if (args.maxTokens <= 0) return;
      const clear = this.#constrain(session, args);
      try {
        for await (const step of session.steps()) {
          signal?.throwIfAborted();
          yield step;
        }
      } catch (error) {
        signal?.throwIfAborted(); // a step that failed because of it
        throw error;
      } finally {
        clear();
      }
    } finally {
      signal?.removeEventListener("abort", cancel);
      session.close();
    }
  }

  /** Sets the token tree; returns what removes it. */
  #constrain(session: Session, args: FfiStreamingGenerateArgs): () => void {
    if (!args.tokenTreePayload) return () => {};
    const { trie } = session;
    if (!trie) {
      this.#warn("this build of libelizainference has no token-trie sampler: generating with the grammar alone");
      return () => {};
    }
    trie.set(encodePayload(args.tokenTreePayload), args.tokenTreeMode ?? Mode.GREEDY);
    return () => trie.clear();
  }

  /** Waits for earlier generations on this slot; returns what lets the next one in. */
  async #enterSlot(slotId: number): Promise<() => void> {
    if (slotId < 0) return () => {};
    const before = this.#slots.get(slotId);
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#slots.set(slotId, left);
    await before;
    return () => {
      if (this.#slots.get(slotId) === left) this.#slots.delete(slotId);
      leave();
    };
  }
}

/** One generation on one of the host's interfaces. */
interface Session {
  /** Absent in a build without the trie sampler. */
  readonly trie: { set(payloadJson: string, mode: number): void; clear(): void } | null;
  prefill(): void;
  steps(): AsyncGenerator<LlmStreamStep>;
  cancel(): void;
  close(): void;
}

class BindingSession implements Session {
  readonly #ffi: LlmStreamingBinding;
  readonly #args: FfiStreamingGenerateArgs;
  readonly #stream: LlmStreamHandle;
  readonly trie: Session["trie"];

  constructor(ffi: LlmStreamingBinding, ctx: LlmCtxHandle, args: FfiStreamingGenerateArgs) {
    this.#ffi = ffi;
    this.#args = args;
    const { maxTokens, temperature, topP, topK, repeatPenalty, slotId, draftMin, draftMax, draftModelPath } = args;
    const { gpuLayers, cacheTypeK, cacheTypeV, contextSize } = args;
    const { llmStreamOpen, llmStreamPrefill, llmStreamNext, llmStreamCancel, llmStreamClose } = ffi;
    if (!llmStreamOpen || !llmStreamPrefill || !llmStreamNext || !llmStreamCancel || !llmStreamClose) {
      throw new Error("this build is missing streaming-LLM symbols: it is older than the streams");
    }
    const stream = ffi.llmStreamOpen({
      ctx,
      config: {
        ...{ maxTokens, temperature, topP, topK, repeatPenalty, slotId, draftMin, draftMax, draftModelPath },
        ...{ gpuLayers, cacheTypeK, cacheTypeV, contextSize },
        promptCacheKey: args.cacheKey ?? null,
        mtpDrafterPath: draftModelPath,
        gbnfGrammar: args.gbnfGrammar ?? null,
      },
    });
    this.#stream = stream;
    this.trie =
      ffi.llmStreamSetTokenTrie && ffi.llmStreamClearTokenTrie
        ? {
            set: (triePayloadJson, mode) => ffi.llmStreamSetTokenTrie!({ stream, triePayloadJson, mode }),
            clear: () => ffi.llmStreamClearTokenTrie!({ stream }),
          }
        : null;
  }

  prefill(): void {
    this.#ffi.llmStreamPrefill({ stream: this.#stream, tokens: this.#args.promptTokens });
  }

  async *steps(): AsyncGenerator<LlmStreamStep> {
    const { maxTokensPerStep: given } = this.#args;
    const maxTokensPerStep = given === undefined ? resolveMaxTokensPerStep() : clampTokensPerStep(given);
    for (let done = false; !done; ) {
      await yieldToEventLoop();
      const step = this.#ffi.llmStreamNext({
        stream: this.#stream,
        maxTokensPerStep,
        maxTextBytes: DEFAULT_MAX_TEXT_BYTES,
      });
      done = step.done;
      yield step;
    }
  }

  cancel(): void {
    this.#ffi.llmStreamCancel(this.#stream);
  }

  close(): void {
    this.#ffi.llmStreamClose(this.#stream);
  }
}

class HandleSession implements Session {
  readonly #ffi: FfiLlmStreamingAbi & { readonly lastError?: ElizaInferenceError | null };
  readonly #handle: FfiLlmHandle;
  readonly #args: FfiStreamingGenerateArgs;
  readonly trie: Session["trie"];

  constructor(ffi: FfiLlmStreamingAbi, handle: FfiLlmHandle, args: FfiStreamingGenerateArgs) {
    this.#ffi = ffi;
    this.#handle = handle;
    this.#args = args;
    this.trie =
      ffi.eliza_inference_set_token_trie && ffi.eliza_inference_clear_token_trie
        ? {
            set: (payloadJson, mode) => ffi.eliza_inference_set_token_trie!(handle, payloadJson, mode),
            clear: () => ffi.eliza_inference_clear_token_trie!(handle),
          }
        : null;
  }

  prefill(): void {
    const { promptTokens, slotId } = this.#args;
    const count = this.#ffi.eliza_inference_llm_stream_prefill(this.#handle, promptTokens, slotId);
    if (count < 0) throw this.#ffi.lastError ?? new Error(`prefill failed: ${count}`);
  }

  async *steps(): AsyncGenerator<LlmStreamStep> {
    const steps: LlmStreamStep[] = [];
    let running = true;
    let wake = (): void => {};
    const generation = this.#generate((step) => {
      steps.push(step);
      wake();
    }).finally(() => {
      running = false;
      wake();
    });
    generation.catch(() => {}); // awaited below, but not before the steps that came first were taken
    try {
      while (running || steps.length > 0) {
        const step = steps.shift();
        if (step) yield step;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      await generation;
    } finally {
      if (running) {
        this.cancel();
        await generation.catch(() => {});
      }
    }
  }

  cancel(): void {
    this.#ffi.eliza_inference_llm_stream_cancel(this.#handle);
  }

  /** The handle is the caller's. */
  close(): void {}

  async #generate(onStep: (step: LlmStreamStep) => void): Promise<void> {
    const { maxTokens, temperature, topP } = this.#args;
    const onToken = (tokenId: number, text: string, done: boolean): void =>
      onStep({ tokens: tokenId < 0 ? [] : [tokenId], text, done, drafterDrafted: 0, drafterAccepted: 0 });
    const { eliza_inference_llm_stream_generate: generate } = this.#ffi;
    const status = await generate.call(this.#ffi, this.#handle, maxTokens, temperature, topP, onToken);
    if (status !== 0) throw this.#ffi.lastError ?? new Error(`generate failed: ${status}`);
  }
}

/** What a step may have at most: ELIZA_LOCAL_STREAM_TOKENS_PER_STEP, from 1 to 512; 32 if that is no number. */
export function resolveMaxTokensPerStep(): number {
  const set = globalThis.process?.env.ELIZA_LOCAL_STREAM_TOKENS_PER_STEP;
  return clampTokensPerStep(Number.parseInt(set ?? "", 10));
}

function clampTokensPerStep(tokens: number): number {
  if (!Number.isFinite(tokens)) return DEFAULT_MAX_TOKENS_PER_STEP;
  return Math.min(Math.max(Math.trunc(tokens), 1), TOKENS_PER_STEP_MAX);
}

/** A step with more would be no stream any more. */
const TOKENS_PER_STEP_MAX = 512;

/** Calls the callbacks. */
async function tell(args: FfiStreamingGenerateArgs, step: LlmStreamStep, index: number): Promise<void> {
  if (step.text !== "") await args.onTextChunk?.(step.text);
  if (step.tokens.length > 0) await args.onVerifierEvent?.(acceptEvent(step, index));
}

function acceptEvent(step: LlmStreamStep, index: number): VerifierStreamEvent {
  const tokens = step.tokens.map((id, i) => ({ index: index + i, text: i === 0 ? step.text : "", id }));
  return { kind: "accept", tokens };
}
