/** The library under bun: native, or the WebAssembly module if its path is given. */
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { bunFfi } from "./bun-ffi.js";
import { ElizaInferenceError } from "./errors.js";
import { fileOfVariable } from "./files.js";
import type { Library } from "./library.js";
import { nativeLibraries } from "./native-library.js";
import { installedLibrary, libraryFile, platformPackage, secondLibraryFile } from "./platform-package.js";
import { openModule } from "./wasm-file.js";

export { fileOfVariable, readFile } from "./files.js";
export { findLlama, llamaPackage } from "./llama-files.js";
export { resolveLibrary as resolvePath } from "./platform-package.js";

const openNative = nativeLibraries(bunFfi);

export function open(path: string): Library {
  return path.endsWith(".wasm") ? openModule(path) : openNative(path);
}

function canOpen(name: string): boolean {
  try {
    openNative(name);
    return true;
  } catch {
    return false;
  }
}

export function defaultPath(): string {
  const explicit = fileOfVariable("ELIZA_INFERENCE_LIBRARY");
  if (explicit) return explicit;
  // An Android app may bring it: its name alone finds it. What has the first name may be another library.
  const names = (process.platform as string) === "android" ? [secondLibraryFile(), libraryFile()] : [];
  const found = names.find(canOpen) ?? installedLibrary();
  if (found) return found;
  throw new ElizaInferenceError(
    ELIZA_ERR_ABI_MISMATCH,
    `libelizainference was not found: install the package ${platformPackage()} (npm leaves it out with ` +
      "--omit=optional, or for a lockfile of another platform), or set ELIZA_INFERENCE_LIBRARY to the path of " +
      libraryFile(),
  );
}
