/** The library under bun: native, or the WebAssembly module if its path is given. */
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import { fileOfVariable } from "./files.js";
import type { Library } from "./library.js";
import { openNative } from "./native-library.js";
import { libraryFile, packagedLibrary, platformPackage } from "./platform-package.js";
import { openModule } from "./wasm-file.js";

export { fileOfVariable, readFile } from "./files.js";
export { findLlama } from "./llama-files.js";

export function resolvePath(path: string): string {
  return basename(path) === path ? path : resolve(path);
}

export function open(path: string): Library {
  return path.endsWith(".wasm") ? openModule(path) : openNative(path);
}

export function defaultPath(): string {
  const explicit = fileOfVariable("ELIZA_INFERENCE_LIBRARY");
  if (explicit) return explicit;
  // An Android app has loaded it: its name alone finds it.
  if ((process.platform as string) === "android") return libraryFile();
  const folder = process.platform === "win32" ? "bin" : "lib";
  const built = join(import.meta.dir, "..", "..", "zig-out", folder, libraryFile());
  const found = packagedLibrary() ?? (existsSync(built) ? built : null);
  if (found) return found;
  throw new ElizaInferenceError(
    ELIZA_ERR_ABI_MISMATCH,
    `libelizainference was not found: install the package ${platformPackage()} (npm leaves it out with ` +
      "--omit=optional, or for a lockfile of another platform), or set ELIZA_INFERENCE_LIBRARY to the path of " +
      libraryFile(),
  );
}
