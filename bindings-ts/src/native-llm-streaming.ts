/** FfiLlmStreamingAbi on this library. */
import { ELIZA_ERR_BUSY, ELIZA_ERR_CLOSED, ELIZA_ERR_FFI_FAULT, ELIZA_OK } from "./abi.generated.js";
import { TRIE_SYMBOLS } from "./aosp-binding.js";
import { ElizaInferenceError } from "./errors.js";
import { yieldToEventLoop } from "./event-loop.js";
import type { FfiLlmHandle, FfiLlmStreamingAbi, TokenCallback } from "./host-abi.js";
import { type Library, hasSymbols } from "./library.js";
import { loadLibrary } from "./load.js";
import { Model, type Stream } from "./model.js";

/**
 * Implements the host's interface. A call that fails returns null, -1 or a status, and leaves the error in `lastError`.
 * `generate` yields to the event loop between tokens, so that `cancel` works while it runs.
 */
export class NativeLlmStreaming implements FfiLlmStreamingAbi {
  readonly #library: Library;
  readonly #models = new Map<string, { model: Model; sessions: number }>();

  /** Why the last `open`, `prefill` or `generate` failed; null if it succeeded. */
  lastError: ElizaInferenceError | null = null;

  /**
   * Constrains the output; `mode` is one of Mode. Throws if the payload is refused, and then nothing has changed.
   * Absent in builds without the trie sampler.
   */
  eliza_inference_set_token_trie?: (handle: FfiLlmHandle, triePayload: string | Uint8Array, mode: number) => void;
  /** Removes that constraint. Absent in builds without the trie sampler. */
  eliza_inference_clear_token_trie?: (handle: FfiLlmHandle) => void;

  /** Throws ELIZA_ERR_ABI_MISMATCH if there is no library and none is given. */
  constructor(library: Library = loadLibrary()) {
    this.#library = library;
    if (!hasSymbols(library, ...TRIE_SYMBOLS)) return;
    this.eliza_inference_set_token_trie = (handle, payload, mode) =>
      sessionOf(handle).stream.setTokenTrie(payload, mode);
    this.eliza_inference_clear_token_trie = (handle) => sessionOf(handle).stream.clearTokenTrie();
  }

  /** Opens a session, with a model that all sessions on the same path share. `numThreads` 0: llama.cpp chooses. */
  eliza_inference_llm_stream_open(
    modelPath: string,
    contextSizeTokens: number,
    numThreads: number,
    gpuLayers: number,
  ): FfiLlmHandle | null {
    return this.#report(null, () => {
      const model = this.#acquire(modelPath);
      try {
        const canSetThreads = hasSymbols(this.#library, "eliza_inference_llm_stream_set_threads");
        const threads = numThreads > 0 && canSetThreads ? numThreads : undefined;
        return new Session(modelPath, model.stream({ contextSize: contextSizeTokens, gpuLayers, threads }));
      } catch (error) {
        this.#release(modelPath);
        throw error;
      }
    });
  }

  /**
   * Takes the whole prompt. With `slotId` below 0, it starts from empty; otherwise, the tokens that it begins with and
   * that the session already holds are not decoded again.
   */
  eliza_inference_llm_stream_prefill(handle: FfiLlmHandle, promptTokens: Int32Array, slotId: number): number {
    return this.#report(-1, () => {
      sessionOf(handle).prefill(promptTokens, slotId >= 0);
      return promptTokens.length;
    });
  }

  /**
   * Generates up to `maxNewTokens` tokens (0: no bound), greedy with a `temperature` of 0 or less. An exception of the
   * callback comes out as it is.
   */
  async eliza_inference_llm_stream_generate(
    handle: FfiLlmHandle,
    maxNewTokens: number,
    temperature: number,
    topP: number,
    tokenCallback: TokenCallback,
  ): Promise<number> {
    try {
      this.lastError = null;
      await sessionOf(handle).generate(maxNewTokens, temperature, topP, tokenCallback);
      return ELIZA_OK;
    } catch (error) {
      if (!(error instanceof ElizaInferenceError)) throw error;
      this.lastError = error;
      return error.status;
    }
  }

  /** Ends the running generation with ELIZA_ERR_CANCELLED; the next `prefill` makes the session usable again. */
  eliza_inference_llm_stream_cancel(handle: FfiLlmHandle): void {
    sessionOf(handle).stream.cancel();
  }

  /** Closes the session, and the model with its last session. A second call does nothing. */
  eliza_inference_llm_stream_close(handle: FfiLlmHandle): void {
    const session = sessionOf(handle);
    if (session.stream.closed) return;
    session.stream.close();
    this.#release(session.modelPath);
  }

  #acquire(path: string): Model {
    let shared = this.#models.get(path);
    if (!shared) {
      shared = { model: new Model(path, { library: this.#library }), sessions: 0 };
      this.#models.set(path, shared);
    }
    shared.sessions++;
    return shared.model;
  }

  #release(path: string): void {
    const shared = this.#models.get(path)!;
    if (--shared.sessions > 0) return;
    this.#models.delete(path);
    shared.model.close();
  }

  /** The result of `call`, or `failed` with the error in `lastError`. */
  #report<T>(failed: T, call: () => T): T {
    try {
      this.lastError = null;
      return call();
    } catch (error) {
      this.lastError =
        error instanceof ElizaInferenceError ? error : new ElizaInferenceError(ELIZA_ERR_FFI_FAULT, String(error));
      return failed;
    }
  }
}

/** What a handle stands for. */
class Session implements FfiLlmHandle {
  readonly _brand = "FfiLlmHandle";
  readonly modelPath: string;
  readonly stream: Stream;
  /** Prompt and output so far. */
  #tokens: number[] = [];
  #generating = false;

  constructor(modelPath: string, stream: Stream) {
    this.modelPath = modelPath;
    this.stream = stream;
  }

  prefill(prompt: Int32Array, reuse: boolean): void {
    this.#checkIdle();
    const keep = reuse ? this.#reusable(prompt) : 0;
    this.stream.reset(keep > 0 ? keep : undefined);
    this.#tokens.length = keep;
    this.stream.prefill(prompt.subarray(keep));
    for (const token of prompt.subarray(keep)) this.#tokens.push(token);
  }

  async generate(maxNewTokens: number, temperature: number, topP: number, onToken: TokenCallback): Promise<void> {
    this.#checkIdle();
    this.#setSampling(temperature, topP);
    this.#generating = true;
    let heldBack = "";
    try {
      for (let emitted = 0, done = false; !done && (maxNewTokens <= 0 || emitted < maxNewTokens); ) {
        await yieldToEventLoop();
        const step = this.stream.step({ maxTokens: 1 });
        done = step.done;
        heldBack += step.text;
        for (const token of step.tokens) {
          this.#tokens.push(token);
          onToken(token, heldBack, false);
          heldBack = "";
          emitted++;
        }
      }
    } finally {
      this.#generating = false;
      onToken(-1, heldBack, true);
    }
  }

  #setSampling(temperature: number, topP: number): void {
    // Streams are opened greedy, and older builds cannot change that.
    if (temperature <= 0 && !hasSymbols(this.stream.library, "eliza_inference_llm_stream_set_sampling")) return;
    this.stream.setSampling({ temperature, topP: topP > 0 ? topP : 1 });
  }

  /**
   * The leading tokens of the prompt that are in the KV cache, less one if they are all, so that there are logits after
   * it.
   */
  #reusable(prompt: Int32Array): number {
    if (!hasSymbols(this.stream.library, ...REUSE_SYMBOLS)) return 0;
    const limit = Math.min(this.stream.stats.contextTokens, this.#tokens.length, prompt.length - 1);
    let common = 0;
    while (common < limit && this.#tokens[common] === prompt[common]) common++;
    return common;
  }

  #checkIdle(): void {
    if (this.#generating) throw new ElizaInferenceError(ELIZA_ERR_BUSY, "the session is generating");
  }
}

const REUSE_SYMBOLS = ["eliza_inference_llm_stream_stats", "eliza_inference_llm_stream_reset_keep"] as const;

function sessionOf(handle: FfiLlmHandle): Session {
  if (handle instanceof Session) return handle;
  throw new ElizaInferenceError(ELIZA_ERR_CLOSED, "the handle is not one of an open session");
}
