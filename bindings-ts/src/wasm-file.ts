/** The WebAssembly module from a file. */
import { readFileSync } from "node:fs";
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import type { Library } from "./library.js";
import { instantiate } from "./wasm-library.js";

/** Throws ELIZA_ERR_ABI_MISMATCH if the file is missing or something else. */
export function openModule(path: string): Library {
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(readFileSync(path));
  } catch (error) {
    const { message } = error as Error;
    throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${path} is not a libelizainference: ${message}`);
  }
  return instantiate(path, module);
}
