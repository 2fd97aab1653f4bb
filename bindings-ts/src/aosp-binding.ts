/** The binding that the AOSP host uses, in its own process. */
import type { AospStreamingLlmBinding, LlmStreamHandle } from "./host-abi.js";
import { type Handle, type Library, hasSymbols } from "./library.js";
import { ensureLlama } from "./llama.js";
import * as llm from "./llm-stream.js";
import { loadLibrary } from "./load.js";
import { encodeUtf8 } from "./memory.js";

/**
 * A binding to this library, or null if the build has no streams. It has the two trie methods only if the build has
 * their functions.
 */
export function loadAospStreamingLlmBinding(library: Library = loadLibrary()): AospStreamingLlmBinding | null {
  if (!hasSymbols(library, ...STREAM_SYMBOLS)) return null;
  const { symbols } = library;
  const binding: AospStreamingLlmBinding = {
    llmStreamSupported: () => isSupported(library),
    llmStreamOpen: ({ ctx, config }) => llm.openStream(library, address(ctx), config),
    llmStreamPrefill: ({ stream, tokens }) => llm.prefill(library, address(stream), tokens),
    llmStreamNext: ({ stream, maxTokensPerStep, maxTextBytes }) =>
      llm.next(library, address(stream), maxTokensPerStep, maxTextBytes),
    llmStreamCancel: (stream) => void symbols.eliza_inference_llm_stream_cancel(address(stream)),
    llmStreamClose: (stream) => symbols.eliza_inference_llm_stream_close(address(stream)),
    llmStreamSaveSlot: ({ stream, filename }) => llm.saveSlot(library, address(stream), filename),
    llmStreamRestoreSlot: ({ stream, filename }) => llm.restoreSlot(library, address(stream), filename),
  };
  if (hasSymbols(library, ...TRIE_SYMBOLS)) {
    binding.llmStreamSetTokenTrie = ({ stream, triePayloadJson, mode }) =>
      llm.setTokenTrie(library, address(stream), encodeUtf8(triePayloadJson), mode);
    binding.llmStreamClearTokenTrie = ({ stream }) => llm.clearTokenTrie(library, address(stream));
  }
  return binding;
}

/** The functions after the two trie methods of the host's interfaces. */
export const TRIE_SYMBOLS = ["eliza_inference_set_token_trie", "eliza_inference_clear_token_trie"] as const;

const STREAM_SYMBOLS = [
  "eliza_inference_llm_stream_supported",
  "eliza_inference_llm_stream_open",
  "eliza_inference_llm_stream_prefill",
  "eliza_inference_llm_stream_next",
  "eliza_inference_llm_stream_cancel",
  "eliza_inference_llm_stream_close",
] as const;

function isSupported(library: Library): boolean {
  try {
    ensureLlama(library);
  } catch {
    return false; // no libllama that this library can drive: `loadLlama` says why
  }
  return library.symbols.eliza_inference_llm_stream_supported() === 1;
}

function address(handle: LlmStreamHandle): Handle {
  return Number(handle) as Handle;
}
