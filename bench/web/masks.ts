/**
 * Masks of one case through the TypeScript package, under bun with the native library or in Node.js as WebAssembly:
 *
 *     masks.ts VOCABULARY KIND DEFINITION DOCUMENTS PASSES
 *
 * The files are those that bench/native/languages.h describes. Prints JSON: milliseconds to make and prepare the
 * vocabulary and to compile, and for each position the least time of its mask, in ns, cold and warm, and its hash.
 */
import { readFileSync } from "node:fs";
import { Constraint, Matcher, Vocabulary } from "../../bindings-ts/src/index.js";

const COLD_REPEATS = 3;

const [vocabularyFile, kind, definitionFile, documentsFile, passes] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];

const began = performance.now();
const vocabulary = readVocabulary(readFileSync(vocabularyFile));
vocabulary.prepare();
const vocabularyMs = performance.now() - began;
const definition = readFileSync(definitionFile, "utf8");
const documents = readDocuments(readFileSync(documentsFile));
const nPositions = documents.reduce((n, tokens) => n + tokens.length, 0);
const words = new Int32Array(Math.ceil(vocabulary.size / 32));
const hashes: number[] = [];

const compiled: number[] = [];
const cold = new Float64Array(nPositions).fill(Infinity);
for (let i = 0; i < COLD_REPEATS; i++) {
  const start = performance.now();
  using constraint = compile();
  compiled.push(performance.now() - start);
  using matcher = new Matcher(constraint);
  pass(matcher, cold, i === 0);
}
const warm = new Float64Array(nPositions).fill(Infinity);
using constraint = compile();
using matcher = new Matcher(constraint);
for (let i = 0; i <= Number(passes); i++) pass(matcher, i === 0 ? new Float64Array(nPositions) : warm, false);

console.log(
  JSON.stringify({ vocabularyMs, compileMs: Math.min(...compiled), cold: [...cold], warm: [...warm], hashes }),
);

/** Walks all documents, and lowers `times` to what their masks took. */
function pass(matcher: Matcher, times: Float64Array, hashed: boolean): void {
  let position = 0;
  for (const tokens of documents) {
    matcher.reset();
    for (const token of tokens) {
      const start = performance.now();
      matcher.fillBitmap(words);
      const ns = (performance.now() - start) * 1e6;
      times[position] = Math.min(times[position]!, ns);
      if (hashed) hashes.push(hash());
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

function compile(): Constraint {
  switch (kind) {
    case "choices":
      return Constraint.choices(vocabulary, definition.trimEnd().split("\n"));
    case "regex":
      return Constraint.regex(vocabulary, definition);
    case "schema":
      return Constraint.jsonSchema(vocabulary, definition);
    case "lark":
      return Constraint.lark(vocabulary, definition);
    default:
      throw new Error(`no kind ${kind}`);
  }
}

function readVocabulary(file: Buffer): Vocabulary {
  const size = file.readUInt32LE(0);
  const offsetsEnd = 4 + 8 * (size + 1);
  const flags = file.subarray(offsetsEnd, offsetsEnd + size);
  const bytes = file.subarray(offsetsEnd + size);
  const offset = (i: number): number => Number(file.readBigUInt64LE(4 + 8 * i));
  const tokenBytes = Array.from({ length: size }, (_, i) => bytes.subarray(offset(i), offset(i + 1)));
  return new Vocabulary(size, { tokenBytes, flags });
}

/** Each is its number of tokens, then the tokens. */
function readDocuments(file: Buffer): Int32Array[] {
  const numbers = new Int32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength));
  const found: Int32Array[] = [];
  for (let i = 0; i < numbers.length; i += 1 + numbers[i]!) found.push(numbers.subarray(i + 1, i + 1 + numbers[i]!));
  return found;
}
