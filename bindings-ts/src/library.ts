/** Finding and loading libelizainference. */
import { type Pointer, dlopen } from "bun:ffi";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ELIZA_ERR_ABI_MISMATCH, ELIZA_ERR_NOT_IMPLEMENTED, declarations } from "./abi.generated";
import { ElizaInferenceError } from "./errors";
import { loadAdvice } from "./load-advice";
import { libraryFile, packagedLibrary, platformPackage } from "./platform-package";

/** The name of a function of the header. */
export type SymbolName = keyof typeof declarations;
/** The functions of the header, by name. */
export type Symbols = ReturnType<typeof dlopen<typeof declarations>>["symbols"];

/** A native object as bun:ffi passes it: its address, or 0 once it is closed. */
export type Handle = Pointer;

/** A loaded libelizainference. */
export interface Library {
  /** The file it was loaded from. */
  readonly path: string;
  /** All functions of the header. One that this build lacks throws ELIZA_ERR_NOT_IMPLEMENTED when called. */
  readonly symbols: Symbols;
  /** The functions that this build lacks because it is older than this package. */
  readonly missing: ReadonlySet<SymbolName>;
}

/**
 * Loads the library from `path`. Without a path, it tries the environment variable ELIZA_INFERENCE_LIBRARY, the
 * installed package `@eliza-inference/<platform>-<arch>`, then `../zig-out/` of a checkout. A path without a folder
 * names a library that the process has loaded or that the system can find. Each path is loaded once and never unloaded.
 * Throws ELIZA_ERR_ABI_MISMATCH if there is no such library.
 */
export function loadLibrary(path: string = findLibrary()): Library {
  const file = basename(path) === path ? path : resolve(path);
  const known = loaded.get(file);
  if (known) return known;
  const library = open(file);
  loaded.set(file, library);
  return library;
}

/** Whether this build has all of these functions. */
export function hasSymbols(library: Library, ...names: SymbolName[]): boolean {
  return names.every((name) => !library.missing.has(name));
}

/** The file, or the name without a folder, that an environment variable gives; undefined if it is not set. */
export function fileOfVariable(name: string): string | undefined {
  const path = process.env[name];
  if (!path || basename(path) === path || existsSync(path)) return path;
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${name} is ${path}: no such file`);
}

const loaded = new Map<string, Library>();

function findLibrary(): string {
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

function open(path: string): Library {
  try {
    return { path, symbols: dlopen(path, declarations).symbols, missing: new Set() };
  } catch {
    return openOlder(path);
  }
}

/** Symbol by symbol, since one that is missing fails the whole of a dlopen. */
function openOlder(path: string): Library {
  const missing = new Set<SymbolName>();
  const symbols: Record<string, unknown> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    try {
      symbols[name] = dlopen(path, { [name]: declaration }).symbols[name];
    } catch (error) {
      // If even the oldest function is missing, the file cannot be loaded, or is something else.
      if (name === "eliza_inference_abi_version") {
        const { message } = error as Error;
        const advice = loadAdvice(path, message);
        throw new ElizaInferenceError(
          ELIZA_ERR_ABI_MISMATCH,
          `${path} is not a libelizainference: ${message}${advice}`,
        );
      }
      missing.add(name as SymbolName);
      symbols[name] = () => {
        throw new ElizaInferenceError(ELIZA_ERR_NOT_IMPLEMENTED, `${path} is an older build: it lacks ${name}`);
      };
    }
  }
  return { path, symbols: symbols as Symbols, missing };
}
