/** A value of a JSON document, and its place, for messages that say where. */
import type { ElizaInferenceError } from "./errors.js";
import type { TokenList } from "./token-list.js";

/** Its methods throw an error with the place if the value is not as asked. */
export class JsonPlace {
  readonly value: unknown;
  /** The path from the root, "" for the root itself. */
  readonly name: string;
  readonly #list: TokenList;

  constructor(value: unknown, name: string, list: TokenList) {
    this.value = value;
    this.name = name;
    this.#list = list;
  }

  /** A member that has to be there. */
  key(key: string): JsonPlace {
    const place = this.optional(key);
    if (!place) throw this.missing(key);
    return place;
  }

  /** A member, or null if it is absent or null. */
  optional(key: string): JsonPlace | null {
    const object = this.object();
    const value = Object.hasOwn(object, key) ? object[key] : null;
    return value === null || value === undefined ? null : this.#at(key, value);
  }

  object(): Record<string, unknown> {
    const isObject = typeof this.value === "object" && this.value !== null && !Array.isArray(this.value);
    return this.#expect(isObject, "an object") as Record<string, unknown>;
  }

  items(): JsonPlace[] {
    const list = this.#expect(Array.isArray(this.value), "an array") as unknown[];
    return list.map((value, index) => new JsonPlace(value, `${this.name}[${index}]`, this.#list));
  }

  /** The first of two items. */
  firstOfPair(): JsonPlace {
    const items = this.items();
    if (items.length !== 2) throw this.error(`expected two items, got ${items.length}`);
    return items[0]!;
  }

  text(): string {
    const text = this.#expect(typeof this.value === "string", "a string") as string;
    if (!text.isWellFormed()) throw this.error("not valid Unicode");
    return text;
  }

  /** A text that stands for another one. */
  replaced(): string {
    const text = this.text();
    if (text === "") throw this.error("empty");
    return text;
  }

  boolean(): boolean {
    return this.#expect(typeof this.value === "boolean", "true or false") as boolean;
  }

  /** The error for an absent member. */
  missing(key: string, why = ""): ElizaInferenceError {
    return this.#at(key, undefined).error(why ? `missing; ${why}` : "missing");
  }

  error(what: string): ElizaInferenceError {
    return this.#list.error(this.name, what);
  }

  #at(key: string, value: unknown): JsonPlace {
    return new JsonPlace(value, this.name ? `${this.name}.${key}` : key, this.#list);
  }

  #expect(isExpected: boolean, expected: string): unknown {
    if (isExpected) return this.value;
    throw this.error(`expected ${expected}, got ${JSON.stringify(this.value)?.slice(0, 40)}`);
  }
}
