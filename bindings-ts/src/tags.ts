/** Parts in free text, for `Constraint.tags`. */

import type { Languages } from "./languages.js";
import { encodeUnicode } from "./memory.js";
import type { TokenTreePayload } from "./token-tree.js";

/** A text, or a token by its number or text. */
export type TagMarker = string | { token: number | string };

/**
 * A part of a text: where free text has `begin`, a text of one language follows, and then `end`. Without an `end` the
 * part ends before the first byte or token that does not continue it.
 */
export interface Tag extends Languages {
  /** What errors and warnings call it, in place of `tags[0]`. */
  name?: string | undefined;
  begin: TagMarker;
  end?: TagMarker | undefined;
  /** An object of the schema as parameters between tags like those of XML; by default it is JSON. */
  style?:
    | "json"
    | "qwen_xml"
    | "minimax_xml"
    | "deepseek_xml"
    | "deepseek_v4_1_xml"
    | "glm_xml"
    | "kimi_k3_xml"
    | "cohere_xml"
    | "minimax_m3_xml"
    | undefined;
  /** Of one descriptor, without a trigger: its tokens follow the token that ends `begin`. */
  token_tree?: TokenTreePayload | undefined;
  /** Instead of a language: one or more parts that follow each other, with `separator` in between. */
  tags?: readonly Tag[] | undefined;
  separator?: TagMarker | undefined;
}

/** What the library reads; docs/reference/tags.md describes it. */
export interface TagsDescriptor {
  tags: readonly Tag[];
  /** What begin texts begin with. Once free text has one, one of its begin texts must follow. */
  triggers?: readonly TagMarker[] | undefined;
  /** Texts that free text never has. */
  excludes?: readonly TagMarker[] | undefined;
  /** Before it, such as `</think>`, nothing is a trigger. */
  after?: TagMarker | undefined;
  at_least?: number | undefined;
  at_most?: number | undefined;
  /** The text ends with the first part. */
  stop_after_first?: boolean | undefined;
  /** Leaves out tags whose language cannot be compiled, each with a warning. */
  skip_bad_tags?: boolean | undefined;
  /** Control tokens that free text may have, besides those in the texts above. */
  special_tokens?: readonly (string | number)[] | undefined;
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
