/** JSON Schemas: what they are given as, and the other documents that they refer to. */
import {
  ELIZA_JSON_ADDITIONAL_FORBID,
  ELIZA_JSON_DRAFT_2019_09,
  ELIZA_JSON_DRAFT_2020_12,
  ELIZA_JSON_DRAFT_4,
  ELIZA_JSON_DRAFT_6,
  ELIZA_JSON_DRAFT_7,
  ELIZA_JSON_INTEGER_FRACTION,
  ELIZA_JSON_LENIENT,
  ELIZA_JSON_NUMBERS_DOUBLE,
  ELIZA_JSON_ORDER_ANY,
  ELIZA_JSON_ORDER_DECLARED,
  ELIZA_JSON_SPACE_ANY,
  ELIZA_JSON_SPACE_COMPACT,
  ELIZA_JSON_SPACE_LOOSE,
  ELIZA_JSON_SPACE_SPACED,
  eliza_json_schema_options_t,
} from "./abi.generated.js";
import { unexpected } from "./arguments.js";
import type { Budget } from "./budget.js";
import { invalidArgument } from "./errors.js";
import type { Library } from "./library.js";
import { encodeUnicode } from "./memory.js";
import { Struct } from "./structs.js";
import { withTexts } from "./texts.js";

/** A schema of a library that makes a JSON Schema of it (Standard JSON Schema): Zod 4, for one. */
export interface StandardJsonSchema {
  readonly "~standard": { readonly jsonSchema: { input(options: { target: string }): Record<string, unknown> } };
  /** Reads a value, as Zod does. */
  parse?(value: unknown): unknown;
}

/** A JSON Schema as a plain object, a boolean or a text, or a Zod schema. */
export type JsonSchema = object | boolean | string | StandardJsonSchema;

/** Other documents by URI, or what gives them; undefined or null: there is none. */
export type JsonDocuments = Readonly<Record<string, JsonSchema>> | ((uri: string) => JsonSchema | null | undefined);

/**
 * Where white space may stand in a JSON document: at each place none, one space, or a newline with up to 32 spaces or
 * tabs (`loose`); nowhere (`compact`); one space after each comma and colon (`spaced`); anywhere (`any`).
 */
export type JsonSpace = "loose" | "compact" | "spaced" | "any";

/**
 * In which order the members of an object come: as `properties` has them, then the other required ones, then the rest
 * (`declared`); in any (`any`).
 */
export type JsonOrder = "declared" | "any";

/** How long numbers may be: any length (`any`), or no longer than the text of a double (`double`). */
export type JsonNumbers = "any" | "double";

/** Whether an object whose schema names members may have others that it does not speak of. */
export type JsonAdditional = "allow" | "forbid";

/** The drafts of JSON Schema. */
export type JsonDraft = "2020-12" | "2019-09" | "7" | "6" | "4";

/** Options of `Constraint.jsonSchema`. */
export interface JsonSchemaOptions {
  /** Where white space may stand; by default `loose`, of a Zod schema that of `GENERATION`. */
  space?: JsonSpace | undefined;
  /** In which order members come; by default `declared`. */
  order?: JsonOrder | undefined;
  /** How long numbers may be; by default `any`, of a Zod schema that of `GENERATION`. */
  numbers?: JsonNumbers | undefined;
  /** Members that the schema does not name; by default `allow`, of a Zod schema that of `GENERATION`. */
  additional?: JsonAdditional | undefined;
  /** Lets an integer be spelled `1.0`. */
  integerFraction?: boolean | undefined;
  /** The draft of a schema without `$schema`; by default 2020-12. */
  draft?: JsonDraft | undefined;
  /**
   * What `$ref` to other documents leads to: an object by URI, or a function of a URI, whose errors come through. The
   * drafts' own meta-schemas are there.
   */
  documents?: JsonDocuments | undefined;
  /** Ignores what cannot be enforced exactly, and says so in `warnings`, instead of throwing. */
  lenient?: boolean | undefined;
  /** What compiling may cost. */
  budget?: Budget | undefined;
}

/**
 * The options with which models end their answers most often: the defaults of Zod schemas, `responseFormat` and tools,
 * which have loose white space, as models were trained on calls.
 * docs/reference/json-schema.md says what they do, and what was measured.
 */
export const GENERATION = {
  space: "compact",
  numbers: "double",
  additional: "forbid",
} as const satisfies JsonSchemaOptions;

/** The options with these in the place of absent ones. */
export function forGeneration<T extends JsonSchemaOptions>(options: T): T {
  const { space, numbers, additional } = GENERATION;
  return {
    ...options,
    space: options.space ?? space,
    numbers: options.numbers ?? numbers,
    additional: options.additional ?? additional,
  };
}

/** The same, but models write calls with the white space that they were trained on. */
export function forCalls<T extends JsonSchemaOptions>(options: T): T {
  return forGeneration({ ...options, space: options.space ?? "loose" });
}

/** Reads a document's value. */
export type ReadValue = (value: unknown) => unknown;

/** The text of a schema, and what reads its documents. Messages call it `name`. */
export function schemaText(schema: JsonSchema, name: string): { text: string; read: ReadValue } {
  const read = (value: unknown): unknown => value;
  if (typeof schema === "string") return { text: schema, read };
  if (isStandard(schema)) {
    const content = schema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    return { text: stringify(content, name), read: (value) => schema.parse?.(value) ?? value };
  }
  if (typeof schema === "boolean" || isPlainObject(schema)) return { text: stringify(schema, name), read };
  throw unexpected(name, "a plain object, a boolean, a text or a Zod schema", schema, " (Zod has it from 4.2 on)");
}

export function isStandard(schema: JsonSchema): schema is StandardJsonSchema {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard = (schema as Partial<StandardJsonSchema>)["~standard"];
  return typeof standard?.jsonSchema?.input === "function";
}

/** JSON.stringify would write null for a number that JSON has not. */
function stringify(schema: object | boolean, name: string): string {
  return JSON.stringify(schema, (key, value) => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw invalidArgument(`${name}: ${key}: JSON has no ${value}`);
  });
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Makes a call with the options as an `eliza_json_schema_options_t`, which is valid during the call only. */
export function withSchemaOptions<T>(
  library: Library,
  {
    space = "loose",
    order = "declared",
    numbers = "any",
    additional = "allow",
    integerFraction = false,
    draft = "2020-12",
    documents,
    lenient = false,
  }: JsonSchemaOptions,
  call: (options: Uint8Array) => T,
): T {
  const options = new Struct(eliza_json_schema_options_t, library);
  options.write({
    flags:
      (lenient ? ELIZA_JSON_LENIENT : 0) |
      (integerFraction ? ELIZA_JSON_INTEGER_FRACTION : 0) |
      choice(NUMBERS, numbers, "numbers") |
      choice(ADDITIONAL, additional, "additional"),
    space: choice(SPACES, space, "space"),
    order: choice(ORDERS, order, "order"),
    draft: choice(DRAFTS, draft, "draft"),
  });
  if (!documents) return call(options.bytes);
  const find = finder(documents);
  const give = (uri: string): Uint8Array | null => {
    const schema = find(uri);
    if (schema === null || schema === undefined) return null;
    return encodeUnicode(schemaText(schema, `documents[${uri}]`).text, `documents[${uri}]`);
  };
  return withTexts(library, give, ({ callback, userData }) => {
    options.write({ document: callback, user_data: userData });
    return call(options.bytes);
  });
}

const SPACES: Record<JsonSpace, number> = {
  loose: ELIZA_JSON_SPACE_LOOSE,
  compact: ELIZA_JSON_SPACE_COMPACT,
  spaced: ELIZA_JSON_SPACE_SPACED,
  any: ELIZA_JSON_SPACE_ANY,
};

const ORDERS: Record<JsonOrder, number> = {
  declared: ELIZA_JSON_ORDER_DECLARED,
  any: ELIZA_JSON_ORDER_ANY,
};

const NUMBERS: Record<JsonNumbers, number> = { any: 0, double: ELIZA_JSON_NUMBERS_DOUBLE };

const ADDITIONAL: Record<JsonAdditional, number> = { allow: 0, forbid: ELIZA_JSON_ADDITIONAL_FORBID };

const DRAFTS: Record<JsonDraft, number> = {
  "2020-12": ELIZA_JSON_DRAFT_2020_12,
  "2019-09": ELIZA_JSON_DRAFT_2019_09,
  "7": ELIZA_JSON_DRAFT_7,
  "6": ELIZA_JSON_DRAFT_6,
  "4": ELIZA_JSON_DRAFT_4,
};

function choice<K extends string>(choices: Record<K, number>, value: K, name: string): number {
  if (Object.hasOwn(choices, value)) return choices[value];
  throw invalidArgument(`${name}: ${String(value)} is none of ${Object.keys(choices).join(", ")}`);
}

type Find = (uri: string) => JsonSchema | null | undefined;

function finder(documents: JsonDocuments): Find {
  if (typeof documents === "function") return documents as Find;
  if (!isPlainObject(documents)) throw unexpected("documents", "an object by URI, or a function of a URI", documents);
  return (uri) => (Object.hasOwn(documents, uri) ? documents[uri] : undefined);
}
