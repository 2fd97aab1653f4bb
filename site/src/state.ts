/** What the page shows, as the fragment of its address. */
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

export interface State {
  kind: Kind;
  /** The constraint. */
  source: string;
  vocabulary: VocabularyName;
  text: string;
}

/** For a link: every state has one, and `read` gives it back. */
export function fragment(state: State): string {
  return `#${new URLSearchParams({ ...state })}`;
}

/** The state of a fragment; null if it says none. */
export function read(hash: string): State | null {
  const values = new URLSearchParams(hash.slice(1));
  const kind = values.get("kind");
  const vocabulary = values.get("vocabulary") ?? "gpt2";
  if (!kind || !Object.hasOwn(KINDS, kind) || !Object.hasOwn(VOCABULARIES, vocabulary)) return null;
  return {
    kind: kind as Kind,
    source: values.get("source") ?? "",
    vocabulary: vocabulary as VocabularyName,
    text: values.get("text") ?? "",
  };
}
