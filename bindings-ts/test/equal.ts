/** Equality of what conformance cases compare, in any host. */

/** Throws unless both have the same structure and values. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isEqual(actual, expected)) throw new Error(`expected ${show(expected)}, got ${show(actual)}`);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a.constructor !== b.constructor) return false;
  if (Array.isArray(a) || ArrayBuffer.isView(a)) return isEqualList(a as unknown[], b as unknown[]);
  const [keysOfA, keysOfB] = [Object.keys(a), Object.keys(b)];
  const entry = (object: object, key: string) => (object as Record<string, unknown>)[key];
  return keysOfA.length === keysOfB.length && keysOfA.every((key) => key in b && isEqual(entry(a, key), entry(b, key)));
}

function isEqualList(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!isEqual(a[i], b[i])) return false;
  return true;
}

function show(value: unknown): string {
  return (
    JSON.stringify(value, (_, each) => (typeof each === "bigint" ? `${each}n` : each))?.slice(0, 2000) ?? "undefined"
  );
}
