/** What several tests need. */
import { join } from "node:path";
import { ElizaInferenceError, type Library, type SymbolName, findLlama, loadLibrary, loadLlama } from "../src";

try {
  loadLibrary();
} catch (error) {
  // Once, in place of a failure for each test.
  console.error((error as Error).message);
  process.exit(1);
}

/** The error that a call throws. */
export function failure(call: () => unknown): { statusName: string; message: string } {
  try {
    call();
  } catch (error) {
    if (!(error instanceof ElizaInferenceError)) throw error;
    return { statusName: error.statusName, message: error.message };
  }
  throw new Error("the call did not fail");
}

/** Writes a copy of the library without these exports, as a build from before them would be; returns its path. */
export async function olderBuild(folder: string, without: SymbolName[]): Promise<string> {
  const bytes = Buffer.from(await Bun.file(loadLibrary().path).bytes());
  for (const name of without) {
    // In the table of the exported names; the hash of the new name leads nowhere, so it is not found either.
    const at = bytes.indexOf(`\0${name}\0`);
    if (at < 0) throw new Error(`${loadLibrary().path} does not export ${name}`);
    bytes.write("_", at + 1);
  }
  const path = join(folder, `older-${without.length}-${without[0]}.so`);
  await Bun.write(path, bytes);
  return path;
}

const tests = join(import.meta.dirname, "../../tests");

/** The libllama of the tests: that of ELIZA_INFERENCE_LLAMA, else the one that tests/llama/package.json brings. */
export function libllama(): string {
  const path = process.env.ELIZA_INFERENCE_LLAMA || findLlama(join(tests, "llama"))[0];
  if (!path) throw new Error("no libllama: set ELIZA_INFERENCE_LLAMA, or run `npm ci --ignore-scripts` in tests/llama");
  return path;
}

/** The library, or another build of it, with its libllama. */
export function libraryWithLlama(path?: string): Library {
  const library = loadLibrary(path);
  // An older build finds the copy that is in the process.
  if (!library.missing.has("eliza_inference_llama_load")) loadLlama(libllama(), library);
  return library;
}

export const modelPath = join(tests, "models/eliza-router.gguf");
export const actions = (await Bun.file(join(tests, "models/actions.txt")).text()).trim().split("\n");

/** Messages that the model was not trained on, with the action that it names. */
export const examples = (await Bun.file(join(tests, "models/heldout.tsv")).text())
  .trim()
  .split("\n")
  .map((line) => line.split("\t"))
  .map(([message, action]) => ({ prompt: `User: ${message}\nAction:`, action: action! }));
