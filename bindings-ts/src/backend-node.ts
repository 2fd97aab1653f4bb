/** The library in Node.js: native where koffi is installed, else the WebAssembly module. In Deno always the module. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import { fileOfVariable } from "./files.js";
import { installedKoffi } from "./koffi.js";
import type { Library } from "./library.js";
import { nativeLibraries } from "./native-library.js";
import { installedLibrary } from "./platform-package.js";
import { openModule } from "./wasm-file.js";

export { fileOfVariable, readFile } from "./files.js";
export { findLlama, llamaPackage } from "./llama-files.js";
export { resolveLibrary as resolvePath } from "./platform-package.js";

export function open(path: string): Library {
  if (path.endsWith(".wasm")) return openModule(path);
  const openNative = native();
  if (openNative) return openNative(path);
  throw new ElizaInferenceError(
    ELIZA_ERR_ABI_MISMATCH,
    `${path} is not a WebAssembly module, and for a native library the package koffi (3.x) must be installed`,
  );
}

export function defaultPath(): string {
  const explicit = fileOfVariable("ELIZA_INFERENCE_LIBRARY");
  // Without koffi, a native one is that of a program that runs under bun, too.
  if (explicit && (explicit.endsWith(".wasm") || native())) return explicit;
  return (native() && installedLibrary()) ?? modulePath();
}

function modulePath(): string {
  const places = ["elizainference.wasm", "../../zig-out/wasm/elizainference.wasm"];
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  if (found) return found;
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, "elizainference.wasm was not found beside this package");
}

/** Opens native libraries; null where nothing can. */
let opener: ((path: string) => Library) | null | undefined;

function native(): ((path: string) => Library) | null {
  if (opener !== undefined) return opener;
  const koffi = "deno" in process.versions ? null : installedKoffi();
  opener = koffi && nativeLibraries(koffi);
  return opener;
}
