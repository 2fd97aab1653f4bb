/** The vocabularies of the page, and how their tokenizers spell a text. */
import { TokenFlag, Vocabulary } from "../../bindings-ts/src/index.js";

export const VOCABULARIES = {
  bytes: "256 bytes",
  gpt2: "GPT-2 (50,257)",
  o200k_base: "o200k (200,019)",
} as const;

export type VocabularyName = keyof typeof VOCABULARIES;

/** A vocabulary that is ready, and what it took. */
export interface Loaded {
  vocabulary: Vocabulary;
  /** By id; none of those that are no text. */
  tokenBytes: readonly Uint8Array[];
  tokenize: (text: string) => number[];
  /** Milliseconds to read it and to build its byte trie, without fetching it. */
  ms: number;
}

const loading = new Map<VocabularyName, Promise<Loaded>>();

/** Each is fetched once. */
export function loadVocabulary(name: VocabularyName): Promise<Loaded> {
  let found = loading.get(name);
  if (!found) {
    found = name === "bytes" ? Promise.resolve(bytesVocabulary()) : fetchVocabulary(name);
    loading.set(name, found);
  }
  return found;
}

function bytesVocabulary(): Loaded {
  const start = performance.now();
  const tokenBytes = Array.from({ length: 257 }, (_, id) => (id < 256 ? Uint8Array.of(id) : new Uint8Array(0)));
  const vocabulary = makeVocabulary(tokenBytes, [256]);
  return { vocabulary, tokenBytes, tokenize: (text) => [...encode(text)], ms: performance.now() - start };
}

/** The file that build.mjs writes. */
async function fetchVocabulary(name: string): Promise<Loaded> {
  const response = await fetch(`vocabularies/${name}.bin`);
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  const file = new Uint8Array(await response.arrayBuffer());
  const start = performance.now();
  const headEnd = file.indexOf(0x0a);
  const head: { pattern: string; special: Record<string, number>; size: number } = JSON.parse(
    decoder.decode(file.subarray(0, headEnd)),
  );
  const lengths = file.subarray(headEnd + 1, headEnd + 1 + head.size);
  let end = headEnd + 1 + head.size;
  const tokenBytes = Array.from(lengths, (length) => {
    end += length;
    return file.subarray(end - length, end);
  });
  const vocabulary = makeVocabulary(tokenBytes, Object.values(head.special));
  const ms = performance.now() - start;
  return { vocabulary, tokenBytes, tokenize: bytePairs(tokenBytes, new RegExp(head.pattern, "gu")), ms };
}

/** The special tokens all end the generation here: the page shows one of them. */
function makeVocabulary(tokenBytes: Uint8Array[], special: number[]): Vocabulary {
  const flags = Uint8Array.from(tokenBytes, (bytes) => (bytes.length === 0 ? TokenFlag.UNUSED : 0));
  const [end] = special;
  flags[end!] = TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION;
  const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });
  vocabulary.prepare();
  return vocabulary;
}

/** Byte pair encoding: the text is split by the pattern, and in each part the pair of the lowest rank is merged. */
function bytePairs(tokenBytes: Uint8Array[], pattern: RegExp): (text: string) => number[] {
  let ranks: Map<string, number> | null = null;
  const merge = (part: string): number[] => {
    ranks ??= new Map(tokenBytes.map((bytes, rank) => [binary(bytes), rank]));
    const pieces = Array.from(encode(part), (byte) => String.fromCharCode(byte));
    while (pieces.length > 1) {
      let best = -1;
      let bestRank = Number.POSITIVE_INFINITY;
      for (let i = 0; i + 1 < pieces.length; i++) {
        const rank = ranks.get(pieces[i]! + pieces[i + 1]!) ?? Number.POSITIVE_INFINITY;
        if (rank < bestRank) [best, bestRank] = [i, rank];
      }
      if (best < 0) break;
      pieces.splice(best, 2, pieces[best]! + pieces[best + 1]!);
    }
    return pieces.map((piece) => ranks!.get(piece)!);
  };
  return (text) => (text.match(pattern) ?? []).flatMap(merge);
}

function binary(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
