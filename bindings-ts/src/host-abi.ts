/** The streaming interfaces that a host speaks, in its names and shapes. */
import type { LlmStreamConfig, LlmStreamStep } from "./llm-stream";

/** An open session; opaque. */
export interface FfiLlmHandle {
  readonly _brand: "FfiLlmHandle";
}

/** Receives each token with its text; at the end comes one call more, `(-1, "", true)`. */
export type TokenCallback = (tokenId: number, tokenText: string, isDone: boolean) => void;

/** One session on one model. `NativeLlmStreaming` implements it. */
export interface FfiLlmStreamingAbi {
  /** Null if the model cannot be opened. */
  eliza_inference_llm_stream_open(
    modelPath: string,
    contextSizeTokens: number,
    numThreads: number,
    gpuLayers: number,
  ): FfiLlmHandle | null;
  /** The number of prompt tokens, or -1. */
  eliza_inference_llm_stream_prefill(handle: FfiLlmHandle, promptTokens: Int32Array, slotId: number): number;
  /** 0 on an ordinary end, else a status. */
  eliza_inference_llm_stream_generate(
    handle: FfiLlmHandle,
    maxNewTokens: number,
    temperature: number,
    topP: number,
    tokenCallback: TokenCallback,
  ): number | Promise<number>;
  eliza_inference_llm_stream_cancel(handle: FfiLlmHandle): void;
  eliza_inference_llm_stream_close(handle: FfiLlmHandle): void;
  /** Absent in a build without the trie sampler. */
  eliza_inference_set_token_trie?(handle: FfiLlmHandle, triePayloadJson: string, mode: number): void;
  eliza_inference_clear_token_trie?(handle: FfiLlmHandle): void;
}

/** The address of a context: `Model.handle`, for as long as the model is open. */
export type LlmCtxHandle = number | bigint;
/** The address of a stream. */
export type LlmStreamHandle = number | bigint;

/** Streams on a context. `loadAospStreamingLlmBinding` makes one on the library. */
export interface LlmStreamingBinding {
  llmStreamSupported(): boolean;
  llmStreamOpen(args: { ctx: LlmCtxHandle; config: LlmStreamConfig }): LlmStreamHandle;
  llmStreamPrefill(args: { stream: LlmStreamHandle; tokens: Int32Array }): void;
  llmStreamNext(args: {
    stream: LlmStreamHandle;
    maxTokensPerStep?: number | undefined;
    maxTextBytes?: number | undefined;
  }): LlmStreamStep;
  llmStreamCancel(stream: LlmStreamHandle): void;
  llmStreamClose(stream: LlmStreamHandle): void;
  llmStreamSaveSlot?(args: { stream: LlmStreamHandle; filename: string }): void;
  llmStreamRestoreSlot?(args: { stream: LlmStreamHandle; filename: string }): void;
  /** Absent in a build without the trie sampler. */
  llmStreamSetTokenTrie?(args: { stream: LlmStreamHandle; triePayloadJson: string; mode: number }): void;
  llmStreamClearTokenTrie?(args: { stream: LlmStreamHandle }): void;
}

export type AospInferenceContextHandle = LlmCtxHandle;
export type AospLlmStreamHandle = LlmStreamHandle;
export type AospLlmStreamConfig = LlmStreamConfig;
export type AospLlmStreamStep = LlmStreamStep;

/** As LlmStreamingBinding, with slots. */
export interface AospStreamingLlmBinding extends LlmStreamingBinding {
  llmStreamSaveSlot(args: { stream: AospLlmStreamHandle; filename: string }): void;
  llmStreamRestoreSlot(args: { stream: AospLlmStreamHandle; filename: string }): void;
}
