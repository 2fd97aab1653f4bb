/** The whole library over plain handles, as elizaOS's own loader gives it to its runtimes. */

import { loadAospStreamingLlmBinding } from "./aosp-binding.js";
import { type DraftEvent, register, unregister } from "./callbacks.js";
import type { LlmStreamHandle, LlmStreamingBinding } from "./host-abi.js";
import { type Handle, type Library, hasSymbols } from "./library.js";
import { Pooling, detokenize, embed, openContext, tokenize } from "./llm-context.js";
import { loadLibrary } from "./load.js";
import { OutError, checkNoNul, encodeUtf8 } from "./memory.js";

/** The address of a context. */
export type ElizaInferenceContextHandle = bigint;

/** A part of a bundle; this library has "text" and "mtp". */
export type ElizaInferenceRegion = "tts" | "asr" | "text" | "mtp" | "vad" | "wakeword";

/** What became of a draft: `rejectedFrom` and `rejectedTo` are places in the output, -1 if nothing was rejected. */
export type NativeVerifierEvent = DraftEvent;

/** The methods of streams, which a build may lack. */
type StreamMethods = Partial<LlmStreamingBinding>;

/**
 * The host's interface, but for speech and images, of which it has the probes alone: a host asks them first. What fails
 * throws an ElizaInferenceError.
 */
export interface ElizaInferenceFfi extends StreamMethods {
  /** The file that the library was loaded from. */
  readonly libraryPath: string;
  /** "15". */
  readonly libraryAbiVersion: string;
  /** Opens a model: a GGUF file, or a folder with one under `text/`. */
  create(bundleDir: string): ElizaInferenceContextHandle;
  /** Closes it. */
  destroy(ctx: ElizaInferenceContextHandle): void;
  /** Reads the region into memory. */
  mmapAcquire(ctx: ElizaInferenceContextHandle, region: ElizaInferenceRegion): void;
  /** Gives its memory back. */
  mmapEvict(ctx: ElizaInferenceContextHandle, region: ElizaInferenceRegion): void;
  /** Tells `callback` what becomes of each draft, until `close`; null: nothing does. */
  setVerifierCallback(
    ctx: ElizaInferenceContextHandle,
    callback: ((event: NativeVerifierEvent) => void) | null,
  ): { close(): void };
  /** Nothing is spoken: does nothing. */
  cancelTts(ctx: ElizaInferenceContextHandle): void;
  /** Whether streams draft. */
  llmMtpSupported?(): boolean;
  /** Whether the KV cache can be quantized. */
  llmKvQuantSupported?(): boolean;
  /** Whether there is `embed`. */
  embedSupported?(): boolean;
  /** The embedding of a text, a vector of length 1; `pooling` is one of Pooling. */
  embed?(args: { ctx: ElizaInferenceContextHandle; text: string; pooling?: number | undefined }): Float32Array;
  /** Whether there are `tokenize` and `detokenize`. */
  tokenizeSupported?(): boolean;
  /** The tokens of a text; with the special ones around it, unless `addSpecial` is false. */
  tokenize?(args: {
    ctx: ElizaInferenceContextHandle;
    text: string;
    addSpecial?: boolean | undefined;
    parseSpecial?: boolean | undefined;
  }): Int32Array;
  /** The text of tokens. */
  detokenize?(args: {
    ctx: ElizaInferenceContextHandle;
    tokens: Int32Array;
    removeSpecial?: boolean | undefined;
    unparseSpecial?: boolean | undefined;
  }): string;
  ttsStreamSupported(): false;
  asrStreamSupported(): false;
  timedAsrSupported(): false;
  vadSupported?(): false;
  wakewordSupported?(): false;
  speakerSupported?(): false;
  diarizSupported?(): false;
  kokoroSupported?(): false;
  eotSupported?(): false;
  visionSupported?(): false;
  visionStreamSupported?(): false;
  /** Does nothing: the library stays loaded. */
  close(): void;
}

/** The library at a path, or the one that `loadLibrary` finds. Throws if there is none that fits. */
export function loadElizaInferenceFfi(path?: string): ElizaInferenceFfi {
  return ffiOf(loadLibrary(path));
}

function ffiOf(library: Library): ElizaInferenceFfi {
  const { symbols } = library;
  const isYes = (probe: "mtp" | "kv_quant"): boolean => symbols[`eliza_inference_llm_${probe}_supported`]() === 1;
  const advise = (what: "acquire" | "evict", ctx: bigint, region: string): void => {
    const error = new OutError();
    const status = symbols[`eliza_inference_mmap_${what}`](
      address(ctx),
      encodeUtf8(`${checkNoNul(region, "region")}\0`),
      error.view,
    );
    if (status < 0) throw error.take(library, status, `the region ${region}`);
  };
  const no = (): false => false;
  return {
    libraryPath: library.path,
    libraryAbiVersion: symbols.eliza_inference_abi_version() ?? "",
    create: (bundleDir) => BigInt(openContext(library, bundleDir)),
    destroy: (ctx) => void symbols.eliza_inference_destroy(address(ctx)),
    mmapAcquire: (ctx, region) => advise("acquire", ctx, region),
    mmapEvict: (ctx, region) => advise("evict", ctx, region),
    setVerifierCallback: (ctx, callback) => setVerifierCallback(library, address(ctx), callback),
    cancelTts: () => {},
    ...loadAospStreamingLlmBinding(library),
    llmMtpSupported: () => isYes("mtp"),
    llmKvQuantSupported: () => isYes("kv_quant"),
    embedSupported: () => symbols.eliza_inference_embed_supported() === 1,
    embed: ({ ctx, text, pooling = Pooling.MEAN }) => embed(library, address(ctx), text, pooling),
    tokenizeSupported: () => hasSymbols(library, "eliza_inference_tokenize"),
    tokenize: ({ ctx, text, addSpecial = true, parseSpecial = false }) =>
      tokenize(library, address(ctx), text, addSpecial, parseSpecial),
    detokenize: ({ ctx, tokens, removeSpecial = false, unparseSpecial = false }) =>
      detokenize(library, address(ctx), tokens, removeSpecial, unparseSpecial),
    ...{ ttsStreamSupported: no, asrStreamSupported: no, timedAsrSupported: no, vadSupported: no },
    ...{ wakewordSupported: no, speakerSupported: no, diarizSupported: no, kokoroSupported: no, eotSupported: no },
    ...{ visionSupported: no, visionStreamSupported: no },
    close: () => {},
  };
}

function setVerifierCallback(
  library: Library,
  ctx: Handle,
  callback: ((event: NativeVerifierEvent) => void) | null,
): { close(): void } {
  const key = callback ? register("verifier", callback) : null;
  const set = (given: Handle | null): number => {
    const error = new OutError();
    const { eliza_inference_set_verifier_callback: call } = library.symbols;
    const status = call(ctx, given && library.memory.callback("verifier"), given, error.view);
    if (status < 0) throw error.take(library, status, "the verifier callback cannot be set");
    return status;
  };
  set(key);
  return {
    close: () => {
      if (key !== null) unregister(key); // the library finds nothing under it
    },
  };
}

/**
 * The streams of the host's interface, for `FfiStreamingRunner`. Throws if the build has none, or no libllama.
 */
export function wrapElizaInferenceFfi(ffi: ElizaInferenceFfi): LlmStreamingBinding {
  const needed = ["llmStreamSupported", "llmStreamOpen", "llmStreamPrefill", "llmStreamNext"] as const;
  const missing = [...needed, "llmStreamCancel" as const, "llmStreamClose" as const].filter((name) => !ffi[name]);
  if (missing.length > 0 || !ffi.llmStreamSupported?.()) {
    const why = missing.length > 0 ? missing.join(", ") : "llmStreamSupported() is false: there is no libllama for it";
    throw new Error(`${ffi.libraryPath} does not expose the streaming-LLM symbol set: ${why}`);
  }
  const { llmStreamSupported, llmStreamOpen, llmStreamPrefill, llmStreamNext, llmStreamCancel, llmStreamClose } =
    ffi as LlmStreamingBinding;
  const binding: LlmStreamingBinding = {
    llmStreamSupported: () => llmStreamSupported(),
    llmStreamOpen: (args) => llmStreamOpen(args),
    llmStreamPrefill: (args) => llmStreamPrefill(args),
    llmStreamNext: (args) => llmStreamNext(args),
    llmStreamCancel: (stream) => llmStreamCancel(stream),
    llmStreamClose: (stream) => llmStreamClose(stream),
  };
  const { llmStreamSaveSlot, llmStreamRestoreSlot, llmStreamSetTokenTrie, llmStreamClearTokenTrie } = ffi;
  if (llmStreamSaveSlot) binding.llmStreamSaveSlot = (args) => llmStreamSaveSlot(args);
  if (llmStreamRestoreSlot) binding.llmStreamRestoreSlot = (args) => llmStreamRestoreSlot(args);
  if (llmStreamSetTokenTrie) binding.llmStreamSetTokenTrie = (args) => llmStreamSetTokenTrie(args);
  if (llmStreamClearTokenTrie) binding.llmStreamClearTokenTrie = (args) => llmStreamClearTokenTrie(args);
  return binding;
}

function address(handle: LlmStreamHandle): Handle {
  return Number(handle) as Handle;
}
