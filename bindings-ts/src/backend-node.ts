/** The library in Node.js and Deno: the WebAssembly module. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import { fileOfVariable } from "./files.js";
import { openModule } from "./wasm-file.js";

export { fileOfVariable, readFile } from "./files.js";
export { findLlama } from "./llama-files.js";
export const resolvePath = resolve;
export const open = openModule;

export function defaultPath(): string {
  const explicit = fileOfVariable("ELIZA_INFERENCE_LIBRARY");
  // That of a program that runs under bun, too.
  if (explicit?.endsWith(".wasm")) return explicit;
  const places = ["elizainference.wasm", "../../zig-out/wasm/elizainference.wasm"];
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  if (found) return found;
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, "elizainference.wasm was not found beside this package");
}
