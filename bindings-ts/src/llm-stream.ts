/** The stream functions of the library over plain handles, which `Stream` and the host's interfaces share. */
import { ELIZA_ERR_INVALID_ARG, eliza_llm_stream_config_t } from "./abi.generated.js";
import { unexpected } from "./arguments.js";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, checkInteger, nameOfStatus } from "./errors.js";
import { type Handle, type Library, hasSymbols } from "./library.js";
import { OutError, OutSlot, checkNoNul, decodeUtf8, encodeUtf8, lending } from "./memory.js";
import { type SpanConfig, withSpanConfig } from "./span-config.js";
import { Struct } from "./structs.js";

/** The host's stream settings, with its names. What is absent is off, or as the model has it. */
export interface LlmStreamConfig {
  /** Tokens to emit; 0: no bound. */
  maxTokens?: number | undefined;
  /** 0 or less: greedy. */
  temperature?: number | undefined;
  /** 1 or more, or 0 or less: off. */
  topP?: number | undefined;
  /** 0 or less: off. */
  topK?: number | undefined;
  /** Penalty on the last 64 tokens; 1: off. */
  repeatPenalty?: number | undefined;
  /** Accepted but unused: each stream has its own KV cache. */
  slotId?: number | undefined;
  /** Accepted but unused. */
  promptCacheKey?: string | null | undefined;
  /** Drafts with fewer tokens are not tried; 1 by default, 0: no drafts. */
  draftMin?: number | undefined;
  /** The most tokens of a draft, up to 64; 0, the default: no drafts. A draft saves passes, and changes no output. */
  draftMax?: number | undefined;
  /** The GGUF file of a smaller model with the same vocabulary, which drafts; by default, prompt lookup does. */
  mtpDrafterPath?: string | null | undefined;
  /** Another name for `mtpDrafterPath`. */
  draftModelPath?: string | null | undefined;
  /** A llama.cpp grammar (GBNF) with a rule `root`. */
  gbnfGrammar?: string | null | undefined;
  /** Never samples `<think>`. */
  disableThinking?: boolean | undefined;
  /** Layers on the GPU; 0: none, all on the CPU; -1, the default: as the model was loaded. */
  gpuLayers?: number | null | undefined;
  /** The type of the keys in the KV cache, such as "q8_0"; "f16" by default. */
  cacheTypeK?: string | null | undefined;
  /** The type of the values in the KV cache; "f16" by default. */
  cacheTypeV?: string | null | undefined;
  /** Tokens; 0: as many as the model was trained with. */
  contextSize?: number | null | undefined;
}

/** What one step emitted. */
export interface LlmStreamStep {
  /** Output tokens, without the one that ends the generation. */
  tokens: number[];
  /** Their text, in whole characters: the bytes of an incomplete one wait for the next step. */
  text: string;
  /** Whether this is the final step. */
  done: boolean;
  /** Tokens that were drafted in this step. */
  drafterDrafted: number;
  /** Tokens that came out as they were drafted, in this step or one before. */
  drafterAccepted: number;
}

/** Tokens of one step. */
export const DEFAULT_MAX_TOKENS_PER_STEP = 32;
/** Bytes of text of one step, including a terminator. */
export const DEFAULT_MAX_TEXT_BYTES = 1024;

/** Opens a stream. The caller frees it with `eliza_inference_llm_stream_close`. */
export function openStream(library: Library, context: Handle, config: LlmStreamConfig): Handle {
  const error = new OutError();
  const handle = lending(library, (addressOf) => {
    const struct = new Struct(eliza_llm_stream_config_t, library);
    fillConfig(struct, config, addressOf);
    return library.symbols.eliza_inference_llm_stream_open(context, struct.bytes, error.view);
  });
  if (!handle) throw error.takeFromNull(library, ELIZA_ERR_INVALID_ARG, "the stream cannot be opened");
  return Number(handle) as Handle;
}

export function prefill(library: Library, stream: Handle, tokens: Int32Array): void {
  if (!(tokens instanceof Int32Array)) throw unexpected("tokens", "an Int32Array", tokens);
  const error = new OutError();
  const status = library.symbols.eliza_inference_llm_stream_prefill(stream, tokens, tokens.length, error.view);
  if (status < 0) throw error.take(library, status, "the prompt cannot be decoded");
}

/** One step; see `Stream.step`. */
export function next(
  library: Library,
  stream: Handle,
  maxTokens: number = DEFAULT_MAX_TOKENS_PER_STEP,
  maxTextBytes: number = DEFAULT_MAX_TEXT_BYTES,
): LlmStreamStep {
  checkInteger(maxTokens, "maxTokens", 1, INT32_MAX);
  checkInteger(maxTextBytes, "maxTextBytes", 0, INT32_MAX);
  const tokens = new Int32Array(maxTokens);
  const text = new Uint8Array(maxTextBytes);
  const drafter = new Int32Array(2);
  const count = new OutSlot();
  const error = new OutError();
  const status = library.symbols.eliza_inference_llm_stream_next(
    stream,
    tokens,
    maxTokens,
    count.view,
    text,
    maxTextBytes,
    drafter,
    drafter.subarray(1),
    error.view,
  );
  if (status < 0) throw error.take(library, status, "the step failed");
  return {
    tokens: Array.from(tokens.subarray(0, count.value)),
    text: decodeUtf8(text.subarray(0, text.indexOf(0))),
    done: status === 1,
    drafterDrafted: drafter[0]!,
    drafterAccepted: drafter[1]!,
  };
}

export function setTokenTrie(library: Library, stream: Handle, payload: Uint8Array, mode: number): void {
  checkInteger(mode, "mode", INT32_MIN, INT32_MAX);
  const status = library.symbols.eliza_inference_set_token_trie(stream, payload, payload.length, mode);
  if (status < 0) throw streamError(library, stream, status);
}

export function clearTokenTrie(library: Library, stream: Handle): void {
  const status = library.symbols.eliza_inference_clear_token_trie(stream);
  if (status < 0) throw streamError(library, stream, status);
}

export function setConstraint(
  library: Library,
  stream: Handle,
  constraint: Handle,
  mode: number,
  config: SpanConfig,
): void {
  checkInteger(mode, "mode", INT32_MIN, INT32_MAX);
  const { eliza_inference_set_constraint: set } = library.symbols;
  const status = withSpanConfig(library, config, (span) => set(stream, constraint, mode, span));
  if (status < 0) throw streamError(library, stream, status);
}

export function clearConstraint(library: Library, stream: Handle): void {
  const status = library.symbols.eliza_inference_clear_constraint(stream);
  if (status < 0) throw streamError(library, stream, status);
}

export function saveSlot(library: Library, stream: Handle, filename: string): void {
  const error = new OutError();
  const { eliza_inference_llm_stream_save_slot: save } = library.symbols;
  const status = save(stream, checkNoNul(filename, "filename"), error.view);
  if (status < 0) throw error.take(library, status, `${filename} cannot be written`);
}

export function restoreSlot(library: Library, stream: Handle, filename: string): void {
  const error = new OutError();
  const { eliza_inference_llm_stream_restore_slot: restore } = library.symbols;
  const status = restore(stream, checkNoNul(filename, "filename"), error.view);
  if (status < 0) throw error.take(library, status, `${filename} cannot be read`);
}

/** The error of a failed call without an `out_error`. */
export function streamError(library: Library, stream: Handle, status: number): ElizaInferenceError {
  const text = hasSymbols(library, "eliza_inference_llm_stream_last_error")
    ? library.symbols.eliza_inference_llm_stream_last_error(stream)
    : "";
  return new ElizaInferenceError(status, text || nameOfStatus(status));
}

function fillConfig(
  struct: Struct<typeof eliza_llm_stream_config_t>,
  config: LlmStreamConfig,
  addressOf: (view: Uint8Array) => Handle,
): void {
  const integer = (name: string, value: number | null | undefined, absent = 0): number =>
    checkInteger(value ?? absent, name, INT32_MIN, INT32_MAX);
  const string = (name: string, text: string | null | undefined): number => {
    return text ? addressOf(encodeUtf8(`${checkNoNul(text, name)}\0`)) : 0;
  };
  struct.write({
    max_tokens: integer("maxTokens", config.maxTokens),
    temperature: config.temperature ?? 0,
    top_p: config.topP ?? 1,
    top_k: integer("topK", config.topK),
    repeat_penalty: config.repeatPenalty ?? 1,
    slot_id: integer("slotId", config.slotId, -1),
    prompt_cache_key: string("promptCacheKey", config.promptCacheKey),
    draft_min: integer("draftMin", config.draftMin, 1),
    draft_max: integer("draftMax", config.draftMax),
    mtp_drafter_path: string("mtpDrafterPath", config.mtpDrafterPath ?? config.draftModelPath),
    gbnf_grammar: string("gbnfGrammar", config.gbnfGrammar),
    disable_thinking: config.disableThinking ? 1 : 0,
    // The host's older libraries read 0 as "on the CPU".
    n_gpu_layers: integer("gpuLayers", config.gpuLayers, -1),
    cache_type_k: string("cacheTypeK", config.cacheTypeK),
    cache_type_v: string("cacheTypeV", config.cacheTypeV),
    context_size: integer("contextSize", config.contextSize),
  });
}
