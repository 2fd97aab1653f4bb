/**
 * Masks of one case through the TypeScript package, under bun with the native library or in Node.js as WebAssembly:
 *
 *     masks.ts VOCABULARY KIND DEFINITION DOCUMENTS PASSES
 *
 * The files are those that bench/native/languages.h describes. Prints JSON: milliseconds to make the vocabulary and to
 * compile, and for each position the least time of its mask, in ns, cold and warm, and the mask's hash.
 */
import { readFileSync } from "node:fs";
import { Matcher } from "../../bindings-ts/src/index.js";
import { compile, readDocuments, readVocabulary } from "./inputs.js";

const COLD_REPEATS = 5;
const WARM_MASKS = 20_000;

const [vocabularyFile, kind, definitionFile, documentsFile, passes] = process.argv.slice(2).map(String);

const began = performance.now();
const vocabulary = readVocabulary(readFileSync(vocabularyFile!));
const vocabularyMs = performance.now() - began;
const definition = readFileSync(definitionFile!, "utf8");
const documents = readDocuments(readFileSync(documentsFile!));
const nPositions = documents.reduce((n, tokens) => n + tokens.length, 0);
const words = new Int32Array(Math.ceil(vocabulary.size / 32));
const hashes: number[] = [];

const compileMs: number[] = [];
const cold = new Float64Array(nPositions).fill(Number.POSITIVE_INFINITY);
for (let i = 0; i < COLD_REPEATS; i++) {
  const start = performance.now();
  using constraint = compile(vocabulary, kind!, definition);
  compileMs.push(performance.now() - start);
  using matcher = new Matcher(constraint);
  pass(matcher, cold, i === 0);
}
const warm = new Float64Array(nPositions).fill(Number.POSITIVE_INFINITY);
using constraint = compile(vocabulary, kind!, definition);
using matcher = new Matcher(constraint);
pass(matcher, new Float64Array(nPositions), false);
// At least as many masks as V8 needs to compile for speed what it runs.
const nPasses = Math.max(Number(passes), Math.ceil(WARM_MASKS / nPositions));
for (let i = 0; i < nPasses; i++) pass(matcher, warm, false);

const figures = { vocabularyMs, compileMs: Math.min(...compileMs), cold: [...cold], warm: [...warm], hashes };
console.log(JSON.stringify(figures));

/** Walks all documents, and lowers `times` to what their masks took. */
function pass(matcher: Matcher, times: Float64Array, isHashed: boolean): void {
  let position = 0;
  for (const tokens of documents) {
    matcher.reset();
    for (const token of tokens) {
      const start = performance.now();
      matcher.fillBitmap(words);
      const ns = (performance.now() - start) * 1e6;
      times[position] = Math.min(times[position]!, ns);
      if (isHashed) hashes.push(hash());
      matcher.accept(token);
      position++;
    }
  }
}

/** FNV-1a over words. */
function hash(): number {
  let hash = 0x811c9dc5;
  for (const word of words) hash = Math.imul(hash ^ word, 0x01000193);
  return hash >>> 0;
}
