/** Sets of tokens as bitmaps: bit i % 32 of word i / 32 is token i. */
import { unexpected } from "./arguments";

export function bitmapWords(nTokens: number): number {
  return Math.ceil(nTokens / 32);
}

/** The library writes 4 bytes for each element, so that another kind of array would be written beyond its end. */
export function checkBitmap(words: Int32Array): void {
  if (!(words instanceof Int32Array)) throw unexpected("words", "an Int32Array", words);
}

/** The numbers of the bits that are set, ascending; there are `count` of them. */
export function setBits(words: Int32Array, count: number): Int32Array {
  const bits = new Int32Array(count);
  let n = 0;
  for (let i = 0; i < words.length; i++) {
    for (let word = words[i]!; word !== 0; word &= word - 1) bits[n++] = 32 * i + 31 - Math.clz32(word & -word);
  }
  return bits;
}
