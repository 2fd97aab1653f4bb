export * as abi from "./abi.generated";
export { loadAospStreamingLlmBinding } from "./aosp-binding";
export * from "./constraint";
export { ElizaInferenceError } from "./errors";
export type * from "./host-abi";
export { type Library, type SymbolName, hasSymbols, loadLibrary } from "./library";
export { type LlamaInfo, findLlama, llamaInfo, loadLlama } from "./llama";
export type { LlmStreamConfig, LlmStreamStep } from "./llm-stream";
export { Matcher, type MatcherOptions, Step } from "./matcher";
export {
  type DetokenizeOptions,
  Model,
  type ModelOptions,
  type StreamOptions,
  type TokenTreeOptions,
  type TokenizeOptions,
} from "./model";
export { NativeLlmStreaming } from "./native-llm-streaming";
export { type Payload, encodePayload } from "./payload";
export { Mode, type SamplingOptions } from "./sampling";
export type { SpanState } from "./span-state";
export { type Span, type SpanOptions, StopReason, Stream, type StreamStats } from "./stream";
export * from "./streaming-runner";
export * from "./token-tree";
export * from "./tokenizer-client";
export { TokenFlag, Vocabulary, type VocabularyOptions } from "./vocabulary";
