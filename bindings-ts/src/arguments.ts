/** Checks of arguments. Messages name the argument, what was expected and what came. */
import { type ElizaInferenceError, INT32_MAX, INT32_MIN, checkInteger, invalidArgument } from "./errors.js";

type Class<T> = abstract new (...parameters: never[]) => T;

const REMEDIES: Record<string, string> = {
  "Vocabulary Model": " (use model.vocabulary)",
  "Constraint an object": " (new Constraint(vocabulary, tree) makes one)",
  "Constraint Matcher": " (use the constraint that it was made from)",
};

/** Refuses objects of other classes: they have handles too, which would crash the library. */
export function checkInstance<T>(value: T, type: Class<T>, name: string): T {
  if (value instanceof type) return value;
  throw unexpected(name, `a ${type.name}`, value, REMEDIES[`${type.name} ${kindOf(value)}`]);
}

export function checkString(value: string, name: string): string {
  if (typeof value !== "string") throw unexpected(name, "a string", value);
  return value;
}

/** The values as a list. Refuses a single text, whose characters JavaScript would iterate over. */
export function checkSeveral<T>(values: Iterable<T>, name: string, of: string): T[] {
  const isOne = typeof values === "string" || values instanceof Uint8Array;
  if (!isOne && typeof values?.[Symbol.iterator] === "function") return [...values];
  const got = isOne ? `one ${typeof values === "string" ? "string" : kindOf(values)}` : kindOf(values);
  throw invalidArgument(`${name}: expected several ${of}, got ${got}`);
}

/** Token ids as C takes them; an Int32Array is not copied. */
export function tokenIds(values: ArrayLike<number>, name: string, expected = "token ids"): Int32Array {
  if (values instanceof Int32Array) return values;
  if (typeof values !== "object" || typeof values?.length !== "number") throw unexpected(name, expected, values);
  return Int32Array.from(values, (token, i) => checkInteger(token, `${name}[${i}]`, INT32_MIN, INT32_MAX));
}

/** Refuses options that a call does not know: a misspelt one would be silently ignored. A string has its indices. */
export function checkNoMore(options: object, known: object = {}): void {
  for (const name in options) {
    if (Object.hasOwn(known, name)) continue;
    if (name === "0")
      throw invalidArgument('options: expected an object such as { toolChoice: "required" }, got a string');
    throw invalidArgument(`unknown option ${name}`);
  }
}

/** A seed as C takes it. */
export function seedBits(seed: number | bigint): bigint {
  const bits = typeof seed === "bigint" || Number.isInteger(seed) ? BigInt(seed) : -1n;
  if (bits >= 0n && bits <= SEED_MAX) return bits;
  throw invalidArgument(`seed: ${seed} is not an integer from 0 to ${SEED_MAX}`);
}

const SEED_MAX = 2n ** 64n - 1n;

export function unexpected(name: string, expected: string, value: unknown, remedy = ""): ElizaInferenceError {
  return invalidArgument(`${name}: expected ${expected}, got ${kindOf(value)}${remedy}`);
}

/** The type of a value, as messages name it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const type = value.constructor;
  return !type || type === Object ? "an object" : type.name;
}
