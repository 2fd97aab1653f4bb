/** libllama: the copy of llama.cpp that models and streams run on, loaded at run time. */
import * as backend from "#backend";
import { ELIZA_ERR_ABI_MISMATCH, eliza_llama_info_t } from "./abi.generated.js";
import { checkString } from "./arguments.js";
import { ElizaInferenceError } from "./errors.js";
import { type Handle, type Library, hasSymbols } from "./library.js";
import { loadLibrary } from "./load.js";
import { OutError, encodeUtf8 } from "./memory.js";
import { Struct } from "./structs.js";

/** The libllama in use. */
export interface LlamaInfo {
  /** The file it was loaded from. */
  path: string;
  /** The version it reports, or "unknown". */
  version: string;
  /** The name of the struct layout in use. */
  layout: string;
}

/**
 * Loads libllama for the process, which keeps it; `Model` does so itself. Throws ELIZA_ERR_ABI_MISMATCH if no supported
 * version is found, and ELIZA_ERR_STATE if another file is already loaded.
 *
 * Without `path`, these are tried in turn: the copy already loaded, the environment variable ELIZA_INFERENCE_LLAMA, any
 * other copy in the process, the folder of this library, and `node_modules/@node-llama-cpp/*` in the working directory,
 * in this package's folder, and in the folders above them.
 */
export function loadLlama(path?: string, library: Library = loadLibrary()): LlamaInfo {
  if (path !== undefined) load(library, path);
  else if (!llamaInfo(library)) search(library);
  return llamaInfo(library)!;
}

/** The libllama that is loaded, or null. */
export function llamaInfo(library: Library = loadLibrary()): LlamaInfo | null {
  const struct = new Struct(eliza_llama_info_t, library);
  if (library.symbols.eliza_inference_llama_info(struct.bytes) < 0) return null;
  const info = struct.read();
  const text = (address: number): string => library.memory.text(address as Handle);
  return { path: text(info.path), version: text(info.version), layout: text(info.layout) };
}

/** Loads libllama unless it is loaded; does nothing for an older build, which finds libllama its own way. */
export function ensureLlama(library: Library): void {
  if (hasSymbols(library, "eliza_inference_llama_load", "eliza_inference_llama_info")) loadLlama(undefined, library);
}

/**
 * The libllama files of installed packages, best first: in `folder`, by default the working directory, in this
 * package's folder, and in the folders above them.
 */
export function findLlama(folder?: string): string[] {
  return backend.findLlama(folder);
}

function load(library: Library, path: string): void {
  const bytes = encodeUtf8(checkString(path, "path"));
  const error = new OutError();
  const status = library.symbols.eliza_inference_llama_load(bytes, bytes.length, error.view);
  if (status < 0) throw error.take(library, status, `libllama cannot be loaded: ${path}`);
}

function search(library: Library): void {
  const refused: string[] = [];
  // Another copy must not silently replace the one that was chosen.
  const candidates = backend.fileOfVariable("ELIZA_INFERENCE_LLAMA") ? [""] : ["", ...findLlama()];
  for (const path of candidates) {
    try {
      return load(library, path);
    } catch (error) {
      if (!(error instanceof ElizaInferenceError) || error.status !== ELIZA_ERR_ABI_MISMATCH) throw error;
      refused.push(error.message);
    }
  }
  if (candidates.length === 1) {
    refused.push(`npm install ${backend.llamaPackage()}, or set ELIZA_INFERENCE_LLAMA to the file`);
  }
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, refused.join("; "));
}
