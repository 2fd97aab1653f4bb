/**
 * Keys of objects that users write: one that nothing reads is an error, which names the key that was probably meant.
 *
 * _keys.py of the Python package does the same.
 */
import { invalidArgument } from "./errors.js";

/** Refuses keys that are not `known`. `meant` has what other words for them mean. */
export function checkKeys(
  place: string,
  given: object,
  known: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): void {
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && !known.includes(key))
      throw invalidArgument(`${place}: ${unknownKey(key, known, meant)}`);
  }
}

/** A message, with the known key that is nearest if one is near. */
export function unknownKey(
  key: string,
  known: readonly string[],
  meant: Readonly<Record<string, string>> = {},
): string {
  const near = Object.hasOwn(meant, key) ? meant[key] : nearest(key, known);
  const advice = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return `the key ${JSON.stringify(key)} is not known${advice}`;
}

function nearest(key: string, known: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor(key.length / 2));
  const near = known
    .map((one) => ({ one, distance: distanceOf(plain(key), plain(one)), exact: distanceOf(key, one) }))
    .filter(({ distance }) => distance <= most);
  return near.sort((a, b) => a.distance - b.distance || a.exact - b.exact || (a.one < b.one ? -1 : 1))[0]?.one;
}

/** So that `inputSchema` is `input_schema`. */
function plain(word: string): string {
  return word.replaceAll(/[_-]/g, "").toLowerCase();
}

/** How many letters to insert, remove or change. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
