/** The streaming interfaces that a host uses, with its names and shapes. */
import type { LlmStreamConfig, LlmStreamStep } from "./llm-stream.js";

/** An open session; opaque. */
export interface FfiLlmHandle {
  readonly _brand: "FfiLlmHandle";
}

/** Receives each token with its text, and a last call `(-1, text, true)` with the text held back, mostly "". */
export type TokenCallback = (tokenId: number, tokenText: string, isDone: boolean) => void;

/** One session on one model. `NativeLlmStreaming` implements it. */
export interface FfiLlmStreamingAbi {
  /** Opens a model and a session on it; null if that fails. */
  eliza_inference_llm_stream_open(
    modelPath: string,
    contextSizeTokens: number,
    numThreads: number,
    gpuLayers: number,
  ): FfiLlmHandle | null;
  /** Decodes the prompt; returns its number of tokens, or -1 if that fails. */
  eliza_inference_llm_stream_prefill(handle: FfiLlmHandle, promptTokens: Int32Array, slotId: number): number;
  /** Generates up to `maxNewTokens` tokens; returns 0 at an ordinary end, else a status. */
  eliza_inference_llm_stream_generate(
    handle: FfiLlmHandle,
    maxNewTokens: number,
    temperature: number,
    topP: number,
    tokenCallback: TokenCallback,
  ): number | Promise<number>;
  /** Ends the running generation. */
  eliza_inference_llm_stream_cancel(handle: FfiLlmHandle): void;
  /** Closes the session. */
  eliza_inference_llm_stream_close(handle: FfiLlmHandle): void;
  /** Constrains the output by a payload. Absent in builds without the trie sampler. */
  eliza_inference_set_token_trie?(handle: FfiLlmHandle, triePayloadJson: string, mode: number): void;
  /** Removes that constraint. Absent in builds without the trie sampler. */
  eliza_inference_clear_token_trie?(handle: FfiLlmHandle): void;
}

/** The address of a context: `Model.handle`, valid while the model is open. */
export type LlmCtxHandle = number | bigint;
/** The address of a stream. */
export type LlmStreamHandle = number | bigint;

/** Streams on a context. `loadAospStreamingLlmBinding` makes a binding to the library. Failures throw. */
export interface LlmStreamingBinding {
  /** Whether there is a libllama that this build can use. */
  llmStreamSupported(): boolean;
  /** Opens a stream, which the caller closes. */
  llmStreamOpen(args: { ctx: LlmCtxHandle; config: LlmStreamConfig }): LlmStreamHandle;
  /** Decodes prompt tokens, after those already there. */
  llmStreamPrefill(args: { stream: LlmStreamHandle; tokens: Int32Array }): void;
  /** One step, of up to 32 tokens and 1024 bytes of text by default. */
  llmStreamNext(args: {
    stream: LlmStreamHandle;
    maxTokensPerStep?: number | undefined;
    maxTextBytes?: number | undefined;
  }): LlmStreamStep;
  /** Makes the running and all later steps fail. */
  llmStreamCancel(stream: LlmStreamHandle): void;
  /** Closes the stream. */
  llmStreamClose(stream: LlmStreamHandle): void;
  /** Writes the tokens and the state of the KV cache to a file. */
  llmStreamSaveSlot?(args: { stream: LlmStreamHandle; filename: string }): void;
  /** Restores what was saved; removes the token tree and switches the grammar off. */
  llmStreamRestoreSlot?(args: { stream: LlmStreamHandle; filename: string }): void;
  /** Constrains the output by a payload. Absent in builds without the trie sampler. */
  llmStreamSetTokenTrie?(args: { stream: LlmStreamHandle; triePayloadJson: string; mode: number }): void;
  /** Removes that constraint. Absent in builds without the trie sampler. */
  llmStreamClearTokenTrie?(args: { stream: LlmStreamHandle }): void;
}

/** The AOSP host's name for LlmCtxHandle. */
export type AospInferenceContextHandle = LlmCtxHandle;
/** The AOSP host's name for LlmStreamHandle. */
export type AospLlmStreamHandle = LlmStreamHandle;
/** The AOSP host's name for LlmStreamConfig. */
export type AospLlmStreamConfig = LlmStreamConfig;
/** The AOSP host's name for LlmStreamStep. */
export type AospLlmStreamStep = LlmStreamStep;

/** An LlmStreamingBinding that can save and restore slots. */
export interface AospStreamingLlmBinding extends LlmStreamingBinding {
  /** Writes the tokens and the state of the KV cache to a file. */
  llmStreamSaveSlot(args: { stream: AospLlmStreamHandle; filename: string }): void;
  /** Restores what was saved; removes the token tree and switches the grammar off. */
  llmStreamRestoreSlot(args: { stream: AospLlmStreamHandle; filename: string }): void;
}
