/** Finding and loading libelizainference. Which one that is depends on the host: see `imports` in package.json. */
import * as backend from "#backend";
import type { Library } from "./library.js";

/**
 * Loads the library from `path`. Each path is loaded once and never unloaded. Without a path:
 *
 * - under bun, it tries the environment variable ELIZA_INFERENCE_LIBRARY, the installed package
 *   `@eliza-inference/<platform>-<arch>`, then `../zig-out/` of a checkout. A path without a folder names a library
 *   that the process has loaded or that the system can find; one that ends in `.wasm` is a WebAssembly module;
 * - in Node.js with the package koffi the same, and else, as in Deno, the WebAssembly module of
 *   ELIZA_INFERENCE_LIBRARY, of this package, or of a checkout;
 * - in a browser, the WebAssembly module that was fetched when this package was imported.
 *
 * Throws ELIZA_ERR_ABI_MISMATCH if there is no such library.
 */
export function loadLibrary(path: string = backend.defaultPath()): Library {
  const place = backend.resolvePath(path);
  const known = loaded.get(place);
  if (known) return known;
  const library = backend.open(place);
  loaded.set(place, library);
  return library;
}

const loaded = new Map<string, Library>();
