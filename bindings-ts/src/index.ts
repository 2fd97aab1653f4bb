export * as abi from "./abi.generated";
export { loadAospStreamingLlmBinding } from "./aosp-binding";
export type { Budget } from "./budget";
export * from "./constraint";
export { ElizaInferenceError } from "./errors";
export * as grammars from "./grammars";
export type * from "./host-abi";
export type {
  JsonDocuments,
  JsonDraft,
  JsonOrder,
  JsonSchema,
  JsonSchemaOptions,
  JsonSpace,
  StandardJsonSchema,
} from "./json-schema";
export type { Grammars, LarkOptions } from "./lark";
export { type Library, type SymbolName, hasSymbols, loadLibrary } from "./library";
export { type LlamaInfo, findLlama, llamaInfo, loadLlama } from "./llama";
export { Pooling } from "./llm-context";
export type { LlmStreamConfig, LlmStreamStep } from "./llm-stream";
export { Matcher, type MatcherInfo, type MatcherOptions, Step, fillBitmaps } from "./matcher";
export {
  type DetokenizeOptions,
  type EmbedOptions,
  Model,
  type ModelOptions,
  Stream,
  type StreamOptions,
  type TokenTreeOptions,
  type TokenizeOptions,
} from "./model";
export { NativeLlmStreaming } from "./native-llm-streaming";
export {
  type ResponseFormat,
  TOOL_FORMS,
  type Tool,
  type ToolCallOptions,
  type ToolChoice,
  type ToolForm,
} from "./openai";
export { type Payload, encodePayload } from "./payload";
export { Mode, type SamplingOptions } from "./sampling";
export type { SpanConfig } from "./span-config";
export type { SpanState } from "./span-state";
export * from "./streaming-runner";
export type { Tag, TagsDescriptor } from "./tags";
export type { TiktokenRanks } from "./tiktoken";
export type { TokenListOptions } from "./token-list";
export { type Span, type SpanOptions, type StepOptions, StopReason, type StreamStats } from "./token-stream";
export * from "./token-tree";
export type { Tokenize } from "./tokenizer";
export * from "./tokenizer-client";
export type { TokenizerJson } from "./tokenizer-json";
export {
  type ConverterOptions,
  type TiktokenOptions,
  TokenFlag,
  Vocabulary,
  type VocabularyInfo,
  type VocabularyOptions,
} from "./vocabulary";
