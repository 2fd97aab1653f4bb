/** Sets of tokens as bitmaps: bit i % 32 of word i / 32 is token i. */
import { unexpected } from "./arguments.js";

/** The words of a bitmap for so many tokens. */
export function bitmapWords(nTokens: number): number {
  return Math.ceil(nTokens / 32);
}

/** The library writes 4 bytes for each element: past the end of any other kind of array. */
export function checkBitmap(words: Int32Array): void {
  if (!(words instanceof Int32Array)) throw unexpected("words", "an Int32Array", words);
}

/** The indices of the bits that are set, ascending; `count` is how many there are. */
export function setBits(words: Int32Array, count: number): Int32Array {
  const bits = new Int32Array(count);
  let n = 0;
  for (let i = 0; i < words.length; i++) {
    for (let word = words[i]!; word !== 0; word &= word - 1) bits[n++] = 32 * i + 31 - Math.clz32(word & -word);
  }
  return bits;
}
