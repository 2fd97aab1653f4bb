/** Parts in free text, for `Constraint.tags`. */

import { encodeUnicode } from "./memory.js";

/**
 * A part of a text: where free text has `begin`, a text of one language follows, and then `end`. The language is given
 * by one of the others; `ebnf` is XGrammar's. Without an `end` the part ends before the first byte that does not
 * continue it.
 */
export interface Tag {
  begin: string;
  end?: string | undefined;
  /** A JSON Schema, or its text. */
  json_schema?: object | boolean | string | undefined;
  regex?: string | undefined;
  lark?: string | undefined;
  gbnf?: string | undefined;
  ebnf?: string | undefined;
  choices?: readonly string[] | undefined;
}

/** What the library reads; native/TAGS.md describes it. */
export interface TagsDescriptor {
  tags: readonly Tag[];
  /** What begin texts begin with. Once free text has one, one of its begin texts must follow. */
  triggers?: readonly string[] | undefined;
  /** Texts that free text never has. */
  excludes?: readonly string[] | undefined;
  /** Before it, such as `</think>`, nothing is a trigger. */
  after?: string | undefined;
  at_least?: number | undefined;
  at_most?: number | undefined;
  /** The text ends with the first part. */
  stop_after_first?: boolean | undefined;
}

/** @internal */
export function descriptorBytes(descriptor: TagsDescriptor | string | Uint8Array): Uint8Array {
  if (descriptor instanceof Uint8Array) return descriptor;
  if (typeof descriptor === "string") return encodeUnicode(descriptor, "descriptor");
  if (typeof descriptor !== "object" || descriptor === null) {
    throw new TypeError("descriptor: expected an object, a string or a Uint8Array");
  }
  return encodeUnicode(JSON.stringify(descriptor), "descriptor");
}
