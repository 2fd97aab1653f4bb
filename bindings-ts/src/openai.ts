/** `response_format`, `tools` and `tool_choice` of OpenAI's API, as JSON Schemas. */
import { checkSeveral, kindOf, unexpected } from "./arguments.js";
import { invalidArgument } from "./errors.js";
import type { JsonDocuments, JsonSchema, JsonSchemaOptions, StandardJsonSchema } from "./json-schema.js";

/** What an answer is to be. As `text.format` of the Responses API, `json_schema` has no level of its own. */
export type ResponseFormat =
  | { type: "text" | "json_object" }
  | { type: "json_schema"; json_schema: { schema?: JsonSchema | undefined; name?: string } }
  | { type: "json_schema"; schema: JsonSchema };

interface ToolFunction {
  name: string;
  /** The schema of its arguments; it takes none if this is absent. A Zod schema will do. */
  parameters?: JsonSchema | null | undefined;
}

/** A function that a model may call. In the Responses API it has no level of its own. */
export type Tool = { type: "function"; function: ToolFunction } | ({ type: "function" } & ToolFunction);

/** Which function is to be called: any or none, none, any, or this one. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | { type: "function"; function: { name: string } }
  | { type: "function"; name: string };

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
}

/** The schema of an answer; null for any text. */
export function responseSchema(
  responseFormat: ResponseFormat | StandardJsonSchema | null | undefined,
): JsonSchema | null {
  if (responseFormat === null || responseFormat === undefined) return null;
  if ("~standard" in responseFormat) return responseFormat;
  switch (responseFormat.type) {
    case "text":
      return null;
    case "json_object":
      return { type: "object" };
    case "json_schema": {
      const { schema } = "json_schema" in responseFormat ? responseFormat.json_schema : responseFormat;
      if (schema !== undefined) return schema;
      throw invalidArgument("responseFormat: a json_schema has no schema");
    }
    default: {
      const { type } = responseFormat as { type: unknown };
      throw invalidArgument(`responseFormat: the type ${String(type)} is none of text, json_object, json_schema`);
    }
  }
}

/** The schema of the arguments of one function. */
export function argumentSchema(tool: Tool): JsonSchema {
  return functionOf(tool, "tool").schema;
}

/**
 * The schema of a call, and the documents that it refers to: the schema of each function's arguments is one, so that
 * its references stay its own. Null if there is to be no call.
 */
export function callSchema(
  tools: Iterable<Tool>,
  toolChoice: ToolChoice = "required",
  form: ToolForm | keyof typeof TOOL_FORMS = "hermes",
): { schema: JsonSchema; documents: Map<string, JsonSchema> } | null {
  const keys = typeof form === "string" ? knownForm(form) : form;
  const { name: nameKey = "name", arguments: argumentsKey = "arguments", isList = false } = keys;
  const functions = functionsOf(tools);
  if (toolChoice === "auto") {
    throw invalidArgument(
      'toolChoice: with "auto" the text may be no call: Constraint.toolCalls serves that, with the template of a ' +
        "model; or constrain the call alone, once it has begun",
    );
  }
  const names = chosenFunctions(functions, toolChoice);
  if (names.length === 0) return null;
  const anyOf = names.map((name) => ({
    type: "object",
    properties: { [nameKey]: { const: name }, [argumentsKey]: { $ref: uriOf(name) } },
    required: [nameKey, argumentsKey],
    additionalProperties: false,
  }));
  return {
    schema: isList ? { type: "array", items: { anyOf }, minItems: 1 } : { anyOf },
    documents: new Map(names.map((name) => [uriOf(name), functions.get(name)!])),
  };
}

/** The schema of the arguments of each function, by its name. */
export function functionsOf(tools: Iterable<Tool>): Map<string, JsonSchema> {
  const functions = new Map<string, JsonSchema>();
  for (const [at, tool] of checkSeveral(tools, "tools", "function definitions").entries()) {
    const { name, schema } = functionOf(tool, `tools[${at}]`);
    if (functions.has(name)) throw invalidArgument(`tools[${at}]: another function is called ${name}`);
    functions.set(name, schema);
  }
  return functions;
}

/** The names of those that may be called. */
export function chosenFunctions(functions: ReadonlyMap<string, JsonSchema>, toolChoice: ToolChoice): string[] {
  if (toolChoice === "none") return [];
  if (toolChoice === "auto") return [...functions.keys()];
  if (toolChoice === "required") {
    if (functions.size > 0) return [...functions.keys()];
    throw invalidArgument("tools: there are none to choose from");
  }
  const name = nameOf(toolChoice);
  if (name === undefined) {
    throw invalidArgument(`toolChoice: ${kindOf(toolChoice)} is none of auto, none, required, nor a function`);
  }
  if (functions.has(name)) return [name];
  throw invalidArgument(`toolChoice: no function is called ${name}`);
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

function functionOf(tool: Tool, where: string): { name: string; schema: JsonSchema } {
  if (typeof tool !== "object" || tool === null) throw unexpected(where, "a function definition", tool);
  if (tool.type !== undefined && tool.type !== "function") {
    throw invalidArgument(`${where}: the type ${String((tool as { type: unknown }).type)} is not function`);
  }
  const { name, parameters }: Partial<ToolFunction> = ("function" in tool ? tool.function : tool) ?? {};
  if (typeof name !== "string") throw invalidArgument(`${where}: a function has no name`);
  return { name, schema: parameters ?? { type: "object", additionalProperties: false } };
}

function nameOf(toolChoice: Exclude<ToolChoice, string>): string | undefined {
  if (typeof toolChoice !== "object" || toolChoice === null || toolChoice.type !== "function") return undefined;
  return "function" in toolChoice ? toolChoice.function?.name : toolChoice.name;
}

function uriOf(name: string): string {
  return `tool:${encodeURIComponent(name)}`;
}
