/** The library in a browser: the WebAssembly module beside this file, fetched while it is imported. */
import { ELIZA_ERR_ABI_MISMATCH, ELIZA_ERR_IO } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import type { Library } from "./library.js";
import { instantiate } from "./wasm-library.js";

const URL_OF_MODULE = new URL("./elizainference.wasm", import.meta.url).href;

/** Fetched at once, since what asks for the library cannot wait. A failure is thrown to those who ask. */
const fetched: { module: WebAssembly.Module } | { failure: unknown } = await fetchModule().catch((failure) => ({
  failure,
}));

async function fetchModule(): Promise<{ module: WebAssembly.Module }> {
  const response = await fetch(URL_OF_MODULE);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const isTyped = response.headers.get("content-type")?.startsWith("application/wasm");
  // A server that does not know the type would make the quicker way fail.
  return {
    module: isTyped
      ? await WebAssembly.compileStreaming(response)
      : await WebAssembly.compile(await response.arrayBuffer()),
  };
}

export function defaultPath(): string {
  return URL_OF_MODULE;
}

export function resolvePath(path: string): string {
  return new URL(path, import.meta.url).href;
}

export function open(path: string): Library {
  if (path !== URL_OF_MODULE) throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${path} is not ${URL_OF_MODULE}`);
  if ("module" in fetched) return instantiate(path, fetched.module);
  throw new ElizaInferenceError(
    ELIZA_ERR_ABI_MISMATCH,
    `${path} cannot be loaded: ${(fetched.failure as Error).message}`,
  );
}

export function readFile(path: string): string {
  throw new ElizaInferenceError(ELIZA_ERR_IO, `${path}: a browser has no files; give the text`);
}

export function fileOfVariable(_name: string): string | undefined {
  return undefined;
}

export function llamaPackage(): string {
  return "a native library";
}

export function findLlama(_folder?: string): string[] {
  return [];
}
