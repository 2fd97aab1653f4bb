/** What the page shows, as the fragment of its address. */
import type { JsonOrder, JsonSpace } from "../../bindings-ts/src/index.js";
import type { VocabularyName } from "./vocabularies.js";
import { VOCABULARIES } from "./vocabularies.js";

export const KINDS = {
  names: "Names",
  regex: "Regular expression",
  lark: "Grammar (Lark)",
  gbnf: "Grammar (GBNF)",
  schema: "JSON Schema",
  tags: "Tags in free text",
  payload: "Token-tree payload",
} as const;

export type Kind = keyof typeof KINDS;

/** Options of a JSON Schema. */
export const SPACES: Record<JsonSpace, string> = {
  loose: "loose: none, one space, or a line break with indentation",
  compact: "compact: none",
  spaced: "spaced: one space after , and :",
  any: "any",
};
export const ORDERS: Record<JsonOrder, string> = { declared: "as declared", any: "any" };

export interface State {
  kind: Kind;
  /** The constraint. */
  source: string;
  vocabulary: VocabularyName;
  text: string;
  /** Of a JSON Schema alone. */
  space: JsonSpace;
  order: JsonOrder;
}

export const DEFAULTS = { space: "loose", order: "declared" } as const;

/** For a link: every state has one, and `read` gives it back. Options are in it where they are no defaults. */
export function fragment({ space, order, ...state }: State): string {
  const options: Record<string, string> = {};
  if (state.kind === "schema" && space !== DEFAULTS.space) options.space = space;
  if (state.kind === "schema" && order !== DEFAULTS.order) options.order = order;
  return `#${new URLSearchParams({ ...state, ...options })}`;
}

/** The state of a fragment; null if it says none. */
export function read(hash: string): State | null {
  const values = new URLSearchParams(hash.slice(1));
  const kind = values.get("kind");
  const vocabulary = values.get("vocabulary") ?? "gpt2";
  const space = values.get("space") ?? DEFAULTS.space;
  const order = values.get("order") ?? DEFAULTS.order;
  if (!Object.hasOwn(SPACES, space) || !Object.hasOwn(ORDERS, order)) return null;
  if (!kind || !Object.hasOwn(KINDS, kind) || !Object.hasOwn(VOCABULARIES, vocabulary)) return null;
  return {
    kind: kind as Kind,
    source: values.get("source") ?? "",
    vocabulary: vocabulary as VocabularyName,
    text: values.get("text") ?? "",
    space: space as JsonSpace,
    order: order as JsonOrder,
  };
}
