/**
 * In a browser's tab: what a vocabulary takes, and then the first mask of a case, compiling included, each with a new
 * constraint. Posts JSON to its server; the files are those that bench/native/languages.h describes.
 */
import { measureFirst } from "./inputs.js";

const read = async (name: string): Promise<Uint8Array> => new Uint8Array(await (await fetch(name)).arrayBuffer());
const kinds: Record<string, string> = await (await fetch("kinds.json")).json();
const figures: Record<string, unknown> = {};
try {
  for (const [name, kind] of Object.entries(kinds)) {
    figures[name] = measureFirst(await read("vocabulary"), kind, await read(`${name}.definition`));
  }
} catch (error) {
  figures.error = String((error as Error).stack);
}
await fetch("/", { method: "POST", body: JSON.stringify(figures) });
