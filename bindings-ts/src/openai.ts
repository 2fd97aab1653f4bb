/** `response_format` of OpenAI's API, and calls of tools as JSON documents. */
import { kindOf } from "./arguments.js";
import { ElizaInferenceError, invalidArgument } from "./errors.js";
import type { JsonDocuments, JsonSchema, JsonSchemaOptions, StandardJsonSchema } from "./json-schema.js";
import { checkKeys } from "./keys.js";
import type { StructuralTag } from "./structural-tags.js";
import { type ToolChoice, labelOf } from "./tools.js";

/** The schema of an answer; the other keys have no effect. */
interface NamedSchema {
  schema?: JsonSchema | undefined;
  name?: string | undefined;
  description?: string | undefined;
  strict?: boolean | null | undefined;
}

/**
 * What an answer is to be. As `text.format` of the Responses API, `json_schema` has no level of its own. The last three
 * are what servers know besides; a grammar without a syntax is GBNF if it has `::=`, else in Lark's notation.
 */
export type ResponseFormat =
  | { type: "text" }
  | { type: "json_object"; schema?: JsonSchema | undefined }
  | { type: "json_schema"; json_schema: NamedSchema }
  | ({ type: "json_schema" } & NamedSchema)
  | ({ type: "structural_tag" } & StructuralTag)
  | { type: "regex"; pattern: string }
  | { type: "grammar"; grammar: string; syntax?: GrammarSyntax | undefined }
  | { type: "grammar"; grammar: { syntax: "lark" | "regex"; definition: string } };

/** The notation of a `grammar` in a response format. */
export type GrammarSyntax = "lark" | "gbnf" | "ebnf" | "regex";

/** How a model writes calls as JSON. Tags around them are not part of it. */
export interface ToolForm {
  /** The key of the function's name; by default `name`. */
  name?: string;
  /** The key of its arguments; by default `arguments`. */
  arguments?: string;
  /** An array of calls, at least one. */
  isList?: boolean;
}

/** The forms of common models, within the tags of their templates. */
export const TOOL_FORMS = {
  hermes: {},
  qwen: {},
  llama: { arguments: "parameters" },
  mistral: { isList: true },
} as const satisfies Record<string, ToolForm>;

/** Options of `Constraint.toolCall`. */
export interface ToolCallOptions extends JsonSchemaOptions {
  /** By default "required". */
  toolChoice?: ToolChoice | undefined;
  /** By default "hermes". */
  form?: ToolForm | keyof typeof TOOL_FORMS | undefined;
  /** Leaves out tools that are wrong, unsupported or can never be called, each with a warning. */
  skipBadTools?: boolean | undefined;
}

/** The schema of an answer; null for any text. */
export function responseSchema(
  responseFormat: ResponseFormat | StandardJsonSchema | null | undefined,
): JsonSchema | null {
  if (responseFormat === null || responseFormat === undefined) return null;
  if ("~standard" in responseFormat) return responseFormat;
  switch (responseFormat.type) {
    case "text":
      checkKeys("responseFormat", responseFormat, ["type"]);
      return null;
    case "json_object":
      checkKeys("responseFormat", responseFormat, ["type", "schema"]);
      return responseFormat.schema ?? { type: "object" };
    case "json_schema":
      return namedSchema(responseFormat);
    default:
      throw invalidArgument(
        `responseFormat: the type ${String(responseFormat.type)} is none of text, json_object, json_schema, ` +
          "structural_tag, grammar, regex",
      );
  }
}

/** The notation and the text of a grammar or regular expression; null if it is no such format. */
export function responseLanguage(
  responseFormat: ResponseFormat | StandardJsonSchema | null | undefined,
): { syntax: GrammarSyntax; text: string } | null {
  if (typeof responseFormat !== "object" || responseFormat === null || !("type" in responseFormat)) return null;
  const given = responseFormat as Readonly<Record<string, unknown>>;
  const kind = given.type;
  if (kind !== "grammar" && kind !== "regex") return null;
  const texts = kind === "regex" ? ["pattern", "regex", "value"] : ["grammar", "definition", "value"];
  checkKeys("responseFormat", given, ["type", ...texts, ...(kind === "grammar" ? ["syntax"] : [])]);
  const found = texts.filter((key) => given[key] !== undefined);
  if (found.length !== 1) {
    throw invalidArgument(`responseFormat: expected one of ${texts.join(", ")}, found ${found.length}`);
  }
  let text = given[found[0]!];
  let syntax = kind === "regex" ? "regex" : given.syntax;
  if (kind === "grammar" && typeof text === "object" && text !== null) {
    checkKeys("responseFormat.grammar", text, ["syntax", "definition"]); // as in a tool
    ({ syntax, definition: text } = text as { syntax: unknown; definition: unknown });
  }
  if (typeof text !== "string") throw invalidArgument(`responseFormat: expected a text, got ${kindOf(text)}`);
  syntax ??= text.includes("::=") ? "gbnf" : "lark";
  if (syntax === "lark" || syntax === "gbnf" || syntax === "ebnf" || syntax === "regex") return { syntax, text };
  throw invalidArgument(`responseFormat: the syntax ${String(syntax)} is none of lark, gbnf, ebnf, regex`);
}

/**
 * The schema of a call, and the documents that it refers to: the schema of each function's arguments is one, so that
 * its references stay its own.
 */
export function callSchema(
  schemas: ReadonlyMap<string, JsonSchema>,
  form: ToolForm | keyof typeof TOOL_FORMS = "hermes",
): { schema: JsonSchema; documents: Map<string, JsonSchema> } {
  const keys = typeof form === "string" ? knownForm(form) : form;
  const { name: nameKey = "name", arguments: argumentsKey = "arguments", isList = false } = keys;
  const names = [...schemas.keys()];
  const anyOf = names.map((name) => ({
    type: "object",
    properties: { [nameKey]: { const: name }, [argumentsKey]: { $ref: uriOf(name) } },
    required: [nameKey, argumentsKey],
    additionalProperties: false,
  }));
  return {
    schema: isList ? { type: "array", items: { anyOf }, minItems: 1 } : { anyOf },
    documents: new Map(names.map((name) => [uriOf(name), schemas.get(name)!])),
  };
}

/** A message about a schema of `callSchema`, with the tool that it is about. */
export function ofTools(message: string): string {
  return message.replace(/^at tool:([^#]*)#/, (_, name: string) => `${labelOf(decodeURIComponent(name))}: at #`);
}

/** An error of `callSchema`, as `ofTools` has it. */
export function errorOfTools(error: unknown): unknown {
  if (!(error instanceof ElizaInferenceError)) return error;
  return new ElizaInferenceError(error.status, ofTools(error.message));
}

/** Both; the own ones first. */
export function withOwn(own: ReadonlyMap<string, JsonSchema>, others: JsonDocuments | undefined): JsonDocuments {
  return (uri: string) => {
    const found = own.get(uri);
    if (found !== undefined || !others) return found;
    if (typeof others === "function") return others(uri) as JsonSchema | null | undefined;
    return Object.hasOwn(others, uri) ? others[uri] : undefined;
  };
}

function knownForm(name: string): ToolForm {
  if (Object.hasOwn(TOOL_FORMS, name)) return TOOL_FORMS[name as keyof typeof TOOL_FORMS];
  throw invalidArgument(`form: ${name} is none of ${Object.keys(TOOL_FORMS).join(", ")}`);
}

/** Of a `json_schema`. */
function namedSchema(given: Extract<ResponseFormat, { type: "json_schema" }>): JsonSchema {
  const known = ["schema", "name", "strict", "description"];
  const inner: NamedSchema = "json_schema" in given ? given.json_schema : given;
  if (inner === given) checkKeys("responseFormat", given, ["type", ...known]);
  else {
    checkKeys("responseFormat", given, ["type", "json_schema"]);
    checkKeys("responseFormat.json_schema", inner, known);
  }
  if (inner.schema !== undefined) return inner.schema;
  throw invalidArgument("responseFormat: a json_schema has no schema");
}

function uriOf(name: string): string {
  return `tool:${encodeURIComponent(name)}`;
}
