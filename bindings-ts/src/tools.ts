/** `tools` and `toolChoice` as OpenAI's, Anthropic's and Gemini's APIs have them, and tools as MCP lists them. */
import { ELIZA_ERR_GRAMMAR, ELIZA_ERR_INVALID_ARG, ELIZA_ERR_LIMIT, ELIZA_ERR_UNSUPPORTED } from "./abi.generated.js";
import { checkSeveral, kindOf, unexpected } from "./arguments.js";
import { ElizaInferenceError, invalidArgument } from "./errors.js";
import type { JsonSchema } from "./json-schema.js";
import { checkKeys } from "./keys.js";

/** The schema of a tool's arguments, by OpenAI's key, MCP's, Anthropic's or Gemini's. A Zod schema will do. */
interface Parameters {
  parameters?: JsonSchema | null | undefined;
  inputSchema?: JsonSchema | null | undefined;
  input_schema?: JsonSchema | null | undefined;
  parametersJsonSchema?: JsonSchema | null | undefined;
}

/** What a tool is called, and what says nothing about the text of a call. */
interface ToolInfo {
  name: string;
  description?: string | undefined;
  title?: string | undefined;
  strict?: boolean | null | undefined;
  annotations?: object | undefined;
  outputSchema?: object | undefined;
  _meta?: object | undefined;
  icons?: readonly object[] | undefined;
  cache_control?: object | null | undefined;
}

/** The language of a custom tool's text; by default any. */
export type CustomToolFormat =
  | { type: "text" }
  | { type: "grammar"; grammar: { syntax: "lark" | "regex"; definition: string } }
  | { type: "grammar"; syntax: "lark" | "regex"; definition: string };

interface CustomTool extends ToolInfo {
  format?: CustomToolFormat | undefined;
}

/** What a model may call. It takes no arguments if it has no schema of them. */
export type Tool =
  | { type: "function"; function: ToolInfo & Parameters }
  | ({ type?: "function" | "custom" } & ToolInfo & Parameters)
  | { type: "custom"; custom: CustomTool }
  | ({ type: "custom" } & CustomTool)
  | { functionDeclarations: readonly (ToolInfo & Parameters)[] };

/** A tool as OpenAI's API names it; in the Responses API the name has no level of its own. */
export type NamedTool =
  | { type: "function"; function: { name: string } }
  | { type: "custom"; custom: { name: string } }
  | { type: "function" | "custom"; name: string };

/** Gemini's; its modes are AUTO, ANY, NONE and VALIDATED. */
export interface FunctionCallingConfig {
  mode?: string | undefined;
  allowedFunctionNames?: readonly string[] | undefined;
}

/** Which tools are to be called: any or none, none, any, or these. */
export type ToolChoice =
  | "auto"
  | "none"
  | "required"
  | "any"
  | NamedTool
  | { type: "allowed_tools"; allowed_tools: { mode: "auto" | "required"; tools: readonly NamedTool[] } }
  | { type: "allowed_tools"; mode: "auto" | "required"; tools: readonly NamedTool[] }
  | { type: "auto" | "any" | "none"; disable_parallel_tool_use?: boolean | undefined }
  | { type: "tool"; name: string; disable_parallel_tool_use?: boolean | undefined }
  | { functionCallingConfig: FunctionCallingConfig }
  | FunctionCallingConfig;

/** A tool that may be called. @internal */
export interface ToolDefinition {
  name: string;
  /** Of its arguments. */
  schema: JsonSchema;
  /** Instead of arguments, a text: the language of it, as a tag has it. */
  custom: { lark: string } | { regex: string } | null;
}

/** What a tool choice says. @internal */
export interface Choice {
  mode: "auto" | "none" | "required";
  /** Of the tools that may be called. */
  names: string[];
  /** Whether there may be several calls. */
  parallel: boolean;
}

type Given = Readonly<Record<string, unknown>>;
type Mode = Choice["mode"];

/** The tools by name. With a list `bad`, those that are wrong are left out, and it is told of each. */
export function readTools(tools: Iterable<Tool>, bad?: string[]): Map<string, ToolDefinition> {
  const found = new Map<string, ToolDefinition>();
  for (const [at, tool] of checkSeveral(tools, "tools", "function definitions").entries()) {
    for (const { place, one } of declared(tool, `tools[${at}]`)) {
      try {
        const definition = definitionOf(one, place);
        const { name } = definition;
        if (found.has(name)) throw invalidArgument(`${place}: another tool is called ${name}`);
        found.set(name, definition);
      } catch (error) {
        leaveOut(error, bad);
      }
    }
  }
  return found;
}

/** One tool, in any of the shapes that are known. */
export function readTool(tool: Tool): ToolDefinition {
  const found = declared(tool, "tool");
  if (found.length !== 1) throw invalidArgument(`tool: expected one function, found ${found.length}`);
  return definitionOf(found[0]!.one, found[0]!.place);
}

/** The schema of a tool's arguments where they are JSON. The text of a custom tool is a string there, `input`. */
export function jsonArguments({ name, schema, custom }: ToolDefinition): JsonSchema {
  if (!custom) return schema;
  if (!("regex" in custom)) {
    const message = "a grammar of a custom tool needs a template that writes its text as it is, such as harmony";
    throw new ElizaInferenceError(ELIZA_ERR_UNSUPPORTED, `${labelOf(name)}: ${message}`);
  }
  const pattern = custom.regex === ANY_TEXT ? {} : { pattern: `^(?:${custom.regex})$` };
  const properties = { input: { type: "string", ...pattern } };
  return { type: "object", properties, required: ["input"], additionalProperties: false };
}

/** What a tool choice says, with the names of the tools that may be called. */
export function choose(tools: ReadonlyMap<string, ToolDefinition>, toolChoice: ToolChoice): Choice {
  const { mode, names = [...tools.keys()], parallel = true } = choiceOf(toolChoice);
  if (mode === "none") return { mode, names: [], parallel };
  if (names.length === 0 && mode === "required") throw invalidArgument("tools: there are none to choose from");
  for (const name of names) if (!tools.has(name)) throw invalidArgument(`toolChoice: no tool is called ${name}`);
  return { mode, names, parallel };
}

/** What messages call a tool. */
export function labelOf(name: string): string {
  return `tool ${JSON.stringify(name)}`;
}

/** An error in the schema of a tool's arguments, with its name. */
export function ofTool(name: string, error: unknown): unknown {
  if (!(error instanceof ElizaInferenceError)) return error;
  return new ElizaInferenceError(error.status, `${labelOf(name)}: ${error.message}`);
}

/** Adds a warning about a tool that is wrong; without a list, or if it is no such error, throws the error. */
export function leaveOut(error: unknown, bad: string[] | undefined): void {
  if (!bad || !(error instanceof ElizaInferenceError) || !OF_ONE_TOOL.has(error.status)) throw error;
  const warning = `left out: ${error.message}`;
  if (!bad.includes(warning)) bad.push(warning);
}

/** The errors that may be those of one tool. */
const OF_ONE_TOOL = new Set<number>([ELIZA_ERR_GRAMMAR, ELIZA_ERR_INVALID_ARG, ELIZA_ERR_LIMIT, ELIZA_ERR_UNSUPPORTED]);

const KINDS = ["function", "custom"];
const ANY_TEXT = "(?s:.*)";
const PARAMETERS = ["parameters", "inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema"];

/** Keys that say nothing about the text of a call. A schema is always enforced, whether it is `strict` or not. */
const NO_EFFECT = (
  "type description title strict annotations outputSchema output_schema _meta meta icons execution cache_control " +
  "input_examples defer_loading allowed_callers eager_input_streaming behavior response response_json_schema " +
  "responseJsonSchema examples"
).split(" ");

const MEANT = Object.fromEntries(
  ["arguments", "args", "params", "schema", "input", "json_schema"].map((word) => [word, "parameters"]),
);

/** The tools in a tool of Gemini's, which is a list of them; else the tool itself. */
function declared(tool: unknown, place: string): { place: string; one: Given }[] {
  if (!isObject(tool)) throw unexpected(place, "a function definition", tool);
  for (const key of ["functionDeclarations", "function_declarations"]) {
    if (!Object.hasOwn(tool, key)) continue;
    checkKeys(place, tool, [key]);
    const listed = checkSeveral(tool[key] as Iterable<unknown>, `${place}.${key}`, "function definitions");
    return listed.flatMap((one, at) => declared(one, `${place}.${key}[${at}]`));
  }
  return [{ place, one: tool }];
}

function definitionOf(tool: Given, place: string): ToolDefinition {
  const kind = tool.type ?? "function";
  if (typeof kind !== "string" || !KINDS.includes(kind)) {
    throw invalidArgument(`${named(tool, place)}: the type ${String(kind)} is none of ${KINDS.join(", ")}`);
  }
  if (!Object.hasOwn(tool, kind)) return inner(tool, kind, place);
  const own = tool[kind];
  if (!isObject(own)) throw unexpected(`${place}.${kind}`, "an object", own);
  checkKeys(named(own, place), tool, [kind, ...NO_EFFECT]);
  return inner(own, kind, place);
}

function inner(given: Given, kind: string, where: string): ToolDefinition {
  const { name } = given;
  if (typeof name !== "string") throw invalidArgument(`${where}: a ${kind} has no name`);
  const place = named(given, where);
  const none = { type: "object", additionalProperties: false };
  const schemas = PARAMETERS.filter((key) => given[key] !== undefined && given[key] !== null);
  if (kind === "custom" && schemas.length === 0) {
    checkKeys(place, given, ["name", "format", ...NO_EFFECT], { grammar: "format" });
    return { name, schema: none, custom: languageOf(given.format, `${place}: format`) };
  }
  checkKeys(place, given, ["name", ...PARAMETERS, ...NO_EFFECT], MEANT);
  if (schemas.length > 1) throw invalidArgument(`${place}: both ${schemas[0]} and ${schemas[1]} are given`);
  return { name, schema: schemas.length > 0 ? (given[schemas[0]!] as JsonSchema) : none, custom: null };
}

/** The language of a custom tool's text. In the Responses API a grammar has no level of its own. */
function languageOf(given: unknown, place: string): ToolDefinition["custom"] {
  if (given === undefined || given === null) return { regex: ANY_TEXT };
  if (!isObject(given)) throw unexpected(place, "an object", given);
  if (given.type === "text") {
    checkKeys(place, given, ["type"]);
    return { regex: ANY_TEXT };
  }
  if (given.type !== "grammar") {
    throw invalidArgument(`${place}: the type ${String(given.type)} is none of text, grammar`);
  }
  const grammar = Object.hasOwn(given, "grammar") ? given.grammar : given;
  if (!isObject(grammar)) throw unexpected(`${place}.grammar`, "an object", grammar);
  if (grammar !== given) checkKeys(place, given, ["type", "grammar"]);
  checkKeys(place, grammar, ["syntax", "definition", ...(grammar === given ? ["type"] : [])]);
  const { syntax, definition } = grammar;
  if (syntax !== "lark" && syntax !== "regex") {
    throw invalidArgument(`${place}: the syntax ${String(syntax)} is none of lark, regex`);
  }
  if (typeof definition !== "string") throw unexpected(`${place}: definition`, "a text", definition);
  return syntax === "lark" ? { lark: definition } : { regex: definition };
}

function named(tool: Given, place: string): string {
  return typeof tool.name === "string" ? labelOf(tool.name) : place;
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// ---- Choices

type PartChoice = { mode: Mode; names?: string[]; parallel?: boolean };

const MODES: Readonly<Record<string, Mode>> = { auto: "auto", none: "none", required: "required", any: "required" };
const GEMINI: Readonly<Record<string, Mode>> = {
  MODE_UNSPECIFIED: "auto",
  AUTO: "auto",
  VALIDATED: "auto",
  ANY: "required",
  NONE: "none",
};

function choiceOf(choice: ToolChoice): PartChoice {
  if (typeof choice === "string" && Object.hasOwn(MODES, choice)) return { mode: MODES[choice]! };
  const given: unknown = choice;
  if (!isObject(given)) throw noChoice(given);
  for (const key of ["functionCallingConfig", "function_calling_config"]) {
    if (!Object.hasOwn(given, key)) continue;
    checkKeys("toolChoice", given, [key]);
    return gemini(given[key]);
  }
  const { type, name } = given;
  if (type === undefined && Object.hasOwn(given, "mode")) return gemini(given);
  const parallel = given.disable_parallel_tool_use !== true;
  const own = ["type", "disable_parallel_tool_use"];
  switch (type) {
    case "auto":
    case "any":
    case "none":
      checkKeys("toolChoice", given, own);
      return { mode: MODES[type]!, parallel };
    case "tool":
      checkKeys("toolChoice", given, ["name", ...own]);
      return { mode: "required", names: [nameOf({ name }, "toolChoice")], parallel };
    case "function":
    case "custom":
      return { mode: "required", names: [chosen(given, "toolChoice")] };
    case "allowed_tools":
      return allowed(given);
    default:
      throw noChoice(given);
  }
}

function noChoice(given: unknown): ElizaInferenceError {
  const said = typeof given === "string" ? given : kindOf(given);
  return invalidArgument(`toolChoice: ${said} is none of auto, none, required, nor names a tool`);
}

/** Gemini's `functionCallingConfig`. */
function gemini(config: unknown): PartChoice {
  if (!isObject(config)) throw unexpected("toolChoice", "an object", config);
  const keys = ["allowedFunctionNames", "allowed_function_names"];
  checkKeys("toolChoice", config, ["mode", ...keys]);
  const said = config.mode ?? "AUTO";
  const mode = typeof said === "string" ? said.toUpperCase() : "";
  if (!Object.hasOwn(GEMINI, mode)) {
    throw invalidArgument(`toolChoice: the mode ${String(said)} is none of ${Object.keys(GEMINI).join(", ")}`);
  }
  const names = keys.map((key) => config[key]).find((one) => Array.isArray(one) && one.length > 0);
  if (names === undefined) return { mode: GEMINI[mode]! };
  if (mode !== "ANY" && mode !== "VALIDATED") {
    throw invalidArgument(`toolChoice: allowedFunctionNames have no meaning with the mode ${mode}`);
  }
  return { mode: GEMINI[mode]!, names: names as string[] };
}

/** OpenAI's `allowed_tools`; in the Responses API without a level of its own. */
function allowed(given: Given): PartChoice {
  const own = Object.hasOwn(given, "allowed_tools") ? given.allowed_tools : given;
  if (!isObject(own)) throw unexpected("toolChoice.allowed_tools", "an object", own);
  if (own === given) checkKeys("toolChoice", given, ["type", "mode", "tools"]);
  else {
    checkKeys("toolChoice", given, ["type", "allowed_tools"]);
    checkKeys("toolChoice.allowed_tools", own, ["mode", "tools"]);
  }
  const mode = own.mode ?? "auto";
  if (mode !== "auto" && mode !== "required") {
    throw invalidArgument(`toolChoice: the mode ${String(mode)} of allowed_tools is none of auto, required`);
  }
  const listed = checkSeveral((own.tools ?? []) as Iterable<unknown>, "toolChoice.tools", "tools");
  if (listed.length === 0) throw invalidArgument("toolChoice.tools: there are none");
  return { mode, names: [...new Set(listed.map((one, at) => chosen(one, `toolChoice.tools[${at}]`)))] };
}

/** The name of a tool, in OpenAI's words. */
function chosen(given: unknown, place: string): string {
  const kind = isObject(given) ? given.type : undefined;
  if (!isObject(given) || typeof kind !== "string" || !KINDS.includes(kind)) {
    throw invalidArgument(`${place}: ${kindOf(given)} names no tool`);
  }
  if (Object.hasOwn(given, kind)) {
    checkKeys(place, given, ["type", kind]);
    return nameOf(given[kind], place);
  }
  checkKeys(place, given, ["type", "name"]);
  return nameOf(given, place);
}

function nameOf(given: unknown, place: string): string {
  if (isObject(given) && typeof given.name === "string") return given.name;
  throw invalidArgument(`${place}: the name of a tool is missing`);
}
