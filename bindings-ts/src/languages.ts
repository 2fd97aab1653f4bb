/** Languages of parts, by the keys of docs/reference/tags.md. */

import type { JsonAdditional, JsonDraft, JsonNumbers, JsonOrder, JsonSpace } from "./json-schema.js";

/** One of these, with the options of a schema. */
export interface Languages {
  /** A JSON Schema, or its text. */
  json_schema?: object | boolean | string | undefined;
  schema_options?: TagSchemaOptions | undefined;
  regex?: string | undefined;
  lark?: string | undefined;
  gbnf?: string | undefined;
  /** XGrammar's. */
  ebnf?: string | undefined;
  choices?: readonly string[] | undefined;
}

/** The options of `Constraint.jsonSchema`. */
export interface TagSchemaOptions {
  space?: JsonSpace | undefined;
  order?: JsonOrder | undefined;
  numbers?: JsonNumbers | undefined;
  additional?: JsonAdditional | undefined;
  draft?: JsonDraft | undefined;
  integer_fraction?: boolean | undefined;
  lenient?: boolean | undefined;
  /** By URI. */
  documents?: Readonly<Record<string, object | boolean | string>> | undefined;
}
