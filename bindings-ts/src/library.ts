/** Finding and loading libelizainference. */
import { type Pointer, dlopen } from "bun:ffi";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ELIZA_ERR_ABI_MISMATCH, ELIZA_ERR_NOT_IMPLEMENTED, declarations } from "./abi.generated";
import { ElizaInferenceError } from "./errors";
import { loadAdvice } from "./load-advice";
import { libraryFile, packagedLibrary, platformPackage } from "./platform-package";

export type SymbolName = keyof typeof declarations;
export type Symbols = ReturnType<typeof dlopen<typeof declarations>>["symbols"];

/** A handle of the library as bun:ffi passes it: an address. 0 stands for a closed one. */
export type Handle = Pointer;

export interface Library {
  /** The file. */
  readonly path: string;
  /** Every function of the header. One that this build lacks throws ELIZA_ERR_NOT_IMPLEMENTED when it is called. */
  readonly symbols: Symbols;
  /** Functions of the header that this build lacks: it is older than this package. */
  readonly missing: ReadonlySet<SymbolName>;
}

/**
 * Loads the library from `path`, or searches: the environment variable ELIZA_INFERENCE_LIBRARY, the installed package
 * `@eliza-inference/<platform>-<arch>`, then `../zig-out/` of a checkout. A name without a folder is one that the process
 * has loaded, or that the system finds. Loaded once for a path, and never unloaded.
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

/** The file that an environment variable names, or a name without a folder; undefined if it is not set. */
export function fileOfVariable(name: string): string | undefined {
  const path = process.env[name];
  if (!path || basename(path) === path || existsSync(path)) return path;
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${name} is ${path}: no such file`);
}

const loaded = new Map<string, Library>();

function findLibrary(): string {
  const explicit = fileOfVariable("ELIZA_INFERENCE_LIBRARY");
  if (explicit) return explicit;
  // An app on Android has it in its process, where it is found by its name alone.
  if ((process.platform as string) === "android") return libraryFile();
  const folder = process.platform === "win32" ? "bin" : "lib";
  const built = join(import.meta.dir, "..", "..", "zig-out", folder, libraryFile());
  const found = packagedLibrary() ?? (existsSync(built) ? built : null);
  if (found) return found;
  throw new ElizaInferenceError(
    ELIZA_ERR_ABI_MISMATCH,
    `libelizainference was not found: install the package ${platformPackage()} (npm leaves it out with --omit=optional, or for a lockfile of another platform), or set ELIZA_INFERENCE_LIBRARY to the path of ${libraryFile()}`,
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
      // Without the oldest function of all, the file cannot be loaded, or is something else.
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
