/** The files of bench/native/languages.h, for any host of the TypeScript package. */
import { Constraint, Matcher, Vocabulary } from "../../bindings-ts/src/index.js";

export function readVocabulary(file: Uint8Array): Vocabulary {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const size = view.getUint32(0, true);
  const offsetsEnd = 4 + 8 * (size + 1);
  const flags = file.subarray(offsetsEnd, offsetsEnd + size);
  const bytes = file.subarray(offsetsEnd + size);
  const offset = (i: number): number => Number(view.getBigUint64(4 + 8 * i, true));
  const tokenBytes = Array.from({ length: size }, (_, i) => bytes.subarray(offset(i), offset(i + 1)));
  const vocabulary = new Vocabulary(size, { tokenBytes, flags });
  vocabulary.prepare();
  return vocabulary;
}

/** Each is its number of tokens, then the tokens. */
export function readDocuments(file: Uint8Array): Int32Array[] {
  const numbers = new Int32Array(new Uint8Array(file).buffer); // a Buffer of Node.js is part of a larger one
  const found: Int32Array[] = [];
  for (let i = 0; i < numbers.length; i += 1 + numbers[i]!) found.push(numbers.subarray(i + 1, i + 1 + numbers[i]!));
  return found;
}

export function compile(vocabulary: Vocabulary, kind: string, definition: string): Constraint {
  switch (kind) {
    case "choices":
      return Constraint.choices(vocabulary, definition.trimEnd().split("\n"));
    case "regex":
      return Constraint.regex(vocabulary, definition);
    case "lark":
      return Constraint.lark(vocabulary, definition);
    default:
      throw new Error(`no kind ${kind}`);
  }
}

/** Milliseconds for the vocabulary, and from there to the first mask. */
export function measureFirst(
  vocabularyFile: Uint8Array,
  kind: string,
  definition: Uint8Array,
): { vocabularyMs: number; firstMaskMs: number } {
  const began = performance.now();
  using vocabulary = readVocabulary(vocabularyFile);
  const text = new TextDecoder().decode(definition);
  const ready = performance.now();
  using constraint = compile(vocabulary, kind, text);
  using matcher = new Matcher(constraint);
  matcher.fillBitmap();
  return { vocabularyMs: ready - began, firstMaskMs: performance.now() - ready };
}
