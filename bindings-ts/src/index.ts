export * as abi from "./abi.generated.js";
export { loadAospStreamingLlmBinding } from "./aosp-binding.js";
export type { Budget } from "./budget.js";
export * from "./constraint.js";
export { ElizaInferenceError } from "./errors.js";
export * as grammars from "./grammars.js";
export type * from "./host-abi.js";
export {
  GENERATION,
  type JsonAdditional,
  type JsonDocuments,
  type JsonDraft,
  type JsonNumbers,
  type JsonOrder,
  type JsonSchema,
  type JsonSchemaOptions,
  type JsonSpace,
  type StandardJsonSchema,
} from "./json-schema.js";
export type { Languages, TagSchemaOptions } from "./languages.js";
export type { Grammars, LarkOptions } from "./lark.js";
export { type Library, type SymbolName, hasSymbols } from "./library.js";
export { type LlamaInfo, findLlama, llamaInfo, loadLlama } from "./llama.js";
export { Pooling } from "./llm-context.js";
export {
  type ElizaInferenceContextHandle,
  type ElizaInferenceFfi,
  type ElizaInferenceRegion,
  type NativeVerifierEvent,
  loadElizaInferenceFfi,
  wrapElizaInferenceFfi,
} from "./llm-host.js";
export type { LlmStreamConfig, LlmStreamStep } from "./llm-stream.js";
export { loadLibrary } from "./load.js";
export { Matcher, type MatcherInfo, type MatcherOptions, Step, fillBitmaps, maskRows } from "./matcher.js";
export {
  type DetokenizeOptions,
  type EmbedOptions,
  Model,
  type ModelOptions,
  Stream,
  type StreamOptions,
  type TokenTreeOptions,
  type TokenizeOptions,
} from "./model.js";
export { NativeLlmStreaming } from "./native-llm-streaming.js";
export { type GrammarSyntax, type ResponseFormat, TOOL_FORMS, type ToolCallOptions, type ToolForm } from "./openai.js";
export { type Payload, encodePayload } from "./payload.js";
export { Mode, type SamplingOptions } from "./sampling.js";
export type { SpanConfig } from "./span-config.js";
export type { SpanState } from "./span-state.js";
export * from "./streaming-runner.js";
export type { StructuralTag, StructuralTagFormat } from "./structural-tags.js";
export type { Tag, TagMarker, TagsDescriptor } from "./tags.js";
export type { TiktokenRanks } from "./tiktoken.js";
export type { TokenListOptions } from "./token-list.js";
export { type Span, type SpanOptions, type StepOptions, StopReason, type StreamStats } from "./token-stream.js";
export * from "./token-tree.js";
export type { Tokenize } from "./tokenizer.js";
export * from "./tokenizer-client.js";
export type { TokenizerJson } from "./tokenizer-json.js";
export {
  type AssistantMessage,
  type Called,
  type ToolCallsOptions,
  type ToolTemplate,
  toolTemplates,
} from "./tool-calls.js";
export type { CustomToolFormat, FunctionCallingConfig, NamedTool, Tool, ToolChoice } from "./tools.js";
export { type LogitsTensor, type TransformersProcessor, transformersProcessor } from "./transformers-js.js";
export {
  type ConverterOptions,
  type TiktokenOptions,
  TokenFlag,
  Vocabulary,
  type VocabularyInfo,
  type VocabularyOptions,
} from "./vocabulary.js";
export { WebLlmProcessor } from "./web-llm.js";
