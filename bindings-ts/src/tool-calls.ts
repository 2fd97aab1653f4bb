/** Calls of functions as the chat templates of models write them: a descriptor of tags, and reading them back. */
import templates from "../../native/templates/tool_calls.json" with { type: "json" };
import { checkNoMore } from "./arguments.js";
import { invalidArgument } from "./errors.js";
import { type JsonSchemaOptions, schemaText } from "./json-schema.js";
import type { TagSchemaOptions } from "./languages.js";
import { Parameters, type ParametersForm, endOfJson } from "./parameters.js";
import type { Tag, TagsDescriptor } from "./tags.js";
import {
  type Choice,
  type Tool,
  type ToolChoice,
  type ToolDefinition,
  choose,
  jsonArguments,
  labelOf,
  leaveOut,
  readTools,
} from "./tools.js";

/** How a family of models writes calls; native/templates/README.md describes it. */
export interface ToolTemplate {
  calls: readonly {
    /** What a call begins with; once free text has it, a call must follow. */
    trigger: string;
    before_name: string;
    /** Whether the name is written as within a JSON string, or as it is. */
    name: "json" | "text";
    after_name: string;
    end: string;
    /** How arguments are written that are no JSON. */
    arguments?: ParametersForm | undefined;
    /** How the text of a custom tool is written; without it, it is the string `input` of arguments in JSON. */
    custom?: { after_name: string; end: string } | undefined;
    /** Calls follow each other, with a text in between. */
    row?: { begin: string; separator: string; end: string } | undefined;
  }[];
  /** The marks of what the model thinks; the prompt may have the first one already. */
  reasoning?: { begin: string; end: string; may_be_open: boolean } | undefined;
  /** What is no content of a message. */
  removed?: readonly string[] | undefined;
  /** Control tokens that free text may have. */
  special_tokens?: readonly string[] | undefined;
}

/** Options of `Constraint.toolCalls`; those of `jsonSchema` are for the arguments. */
export interface ToolCallsOptions extends JsonSchemaOptions {
  /** The name of one in `toolTemplates()`, or another. */
  template: string | ToolTemplate;
  /** By default "auto". */
  toolChoice?: ToolChoice | undefined;
  /** False: at most one call. */
  parallelToolCalls?: boolean | undefined;
  /** Before this text, such as `</think>`, nothing is a call. */
  after?: string | undefined;
  /** Leaves out tools that are wrong, unsupported or can never be called, each with a warning. */
  skipBadTools?: boolean | undefined;
}

/** A call of a function, or of a custom tool. */
export type Called =
  | { type: "function"; function: { name: string; arguments: string } }
  | { type: "custom"; custom: { name: string; input: string } };

/** A message of OpenAI's API. */
export interface AssistantMessage {
  role: "assistant";
  content: string | null;
  reasoning_content?: string;
  tool_calls?: ({ id: string } & Called)[];
}

/** The templates that ship, by name. */
export function toolTemplates(): Record<string, ToolTemplate> {
  return templates as Record<string, object> as Record<string, ToolTemplate>;
}

/** How a call of one function is written. */
interface Call {
  tool: ToolDefinition;
  /** With the row's: as the first of a row begins. */
  begin: string;
  /** As another of a row begins. */
  nextBegin: string;
  end: string;
  row: { begin: string; separator: string; end: string } | undefined;
  tag: Tag;
  /** What reads the arguments, if they are no JSON. */
  parameters: Parameters | undefined;
}

type ToolCall = NonNullable<AssistantMessage["tool_calls"]>[number];

/** The functions that may be called, as one template writes the calls. */
export class ToolCalls {
  readonly descriptor: TagsDescriptor;
  readonly #template: ToolTemplate;
  readonly #after: string;
  readonly #calls: Call[];
  /** The longer ones first, of which a shorter one may be the beginning. */
  readonly #byBegin: ReadonlyMap<string, Call>;
  readonly #begins: RegExp;

  /** With a list `bad`, tools that are wrong are left out, and it is told of each. */
  constructor(tools: Iterable<Tool>, given: ToolCallsOptions, bad?: string[]) {
    const { template, toolChoice = "auto", parallelToolCalls = true, after = "", ...others } = given;
    const { budget: _, skipBadTools: skips = false, ...options } = others;
    const found = readTools(tools, bad);
    const schemaOptions = optionsOf(options);
    this.#template = typeof template === "string" ? knownTemplate(template) : template;
    this.#after = after;
    const choice = choose(found, toolChoice);
    const chosen = choice.names.map((name) => found.get(name)!);
    this.#calls = this.#template.calls.flatMap((form) =>
      chosen.flatMap((tool) => {
        try {
          return [callOf(form, tool, schemaOptions)];
        } catch (error) {
          leaveOut(error, bad);
          return [];
        }
      }),
    );
    const longestFirst = this.#calls.toSorted((a, b) => b.begin.length - a.begin.length);
    this.#byBegin = new Map(longestFirst.map((call) => [call.begin, call]));
    this.#begins = new RegExp([...this.#byBegin.keys()].map(escaped).join("|") || "(?!)", "g");
    this.descriptor = this.#describe(choice, parallelToolCalls && choice.parallel, skips);
  }

  /** A text as a message. What is no whole call stays in its content. */
  parse(text: string): AssistantMessage {
    const start = this.#after === "" ? 0 : text.indexOf(this.#after) + this.#after.length;
    const from = start < this.#after.length ? text.length : start;
    const calls: ToolCall[] = [];
    let content = text.slice(0, from);
    let at = from;
    this.#begins.lastIndex = at;
    for (let match = this.#begins.exec(text); match; match = this.#begins.exec(text)) {
      const { made, end } = this.#read(text, match[0], match.index + match[0].length);
      content += text.slice(at, made.length > 0 ? match.index : end);
      calls.push(...made);
      at = end;
      this.#begins.lastIndex = at;
    }
    return this.#message(content + text.slice(at), calls);
  }

  #describe({ mode }: Choice, parallel: boolean, skips: boolean): TagsDescriptor {
    const triggers = [...new Set(this.#template.calls.map((form) => form.trigger))];
    const said = { special_tokens: this.#template.special_tokens ?? [], after: this.#after };
    if (this.#calls.length === 0) return { ...said, tags: [], excludes: triggers };
    const tags: Tag[] = [];
    const rows = new Map<Call["row"], Tag[]>();
    for (const { row, tag } of this.#calls) {
      if (!row) tags.push(tag);
      else if (rows.has(row)) rows.get(row)!.push(tag);
      else {
        rows.set(row, [tag]);
        tags.push({ ...row, tags: rows.get(row) });
      }
    }
    const count = { at_least: mode === "required" ? 1 : 0, ...(parallel ? {} : { at_most: 1 }) };
    return { ...said, triggers, tags, ...count, ...(skips ? { skip_bad_tags: true } : {}) };
  }

  /** The calls that begin with `begin`, behind which `from` is, and where they end. */
  #read(text: string, begin: string, from: number): { made: ToolCall[]; end: number } {
    const made: ToolCall[] = [];
    let call = this.#byBegin.get(begin);
    let first = from;
    let end = from;
    while (call) {
      const { row } = call;
      const found = readCall(call, text, first);
      if (!found || !text.startsWith(call.end, found.end)) break;
      end = found.end + call.end.length;
      const id = `call_${Array.from(crypto.getRandomValues(new Uint8Array(12)), hexadecimal).join("")}`;
      made.push({ id, ...found.made });
      if (!row) break;
      if (text.startsWith(row.end, end)) {
        end += row.end.length;
        break;
      }
      const behind = end;
      call = [...this.#byBegin.values()].find((one) => one.row === row && text.startsWith(one.nextBegin, behind));
      first = end + (call?.nextBegin.length ?? 0);
    }
    return { made, end };
  }

  #message(text: string, calls: ToolCall[]): AssistantMessage {
    const { reasoning: marks, removed = [] } = this.#template;
    const { reasoning, rest } = marks ? split(text, marks) : { reasoning: "", rest: text };
    const content = removed.reduce((left, one) => left.replaceAll(one, ""), rest).trim();
    return {
      role: "assistant",
      content: content === "" ? null : content,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }
}

function knownTemplate(name: string): ToolTemplate {
  const known = toolTemplates();
  if (Object.hasOwn(known, name)) return known[name]!;
  throw invalidArgument(`template: ${name} is none of ${Object.keys(known).join(", ")}`);
}

/** The call whose arguments begin here, without its id, and where these end. */
function readCall(call: Call, text: string, from: number): { made: Called; end: number } | null {
  const { name, custom } = call.tool;
  if (custom && call.tag.json_schema === undefined) {
    const end = text.indexOf(call.end, from);
    return end < 0 ? null : { made: { type: "custom", custom: { name, input: text.slice(from, end) } }, end };
  }
  const found = argumentsOf(call, text, from);
  if (!found) return null;
  if (!custom) return { made: { type: "function", function: { name, arguments: found.arguments } }, end: found.end };
  const input = inputOf(found.arguments);
  return input === null ? null : { made: { type: "custom", custom: { name, input } }, end: found.end };
}

/** The text of a custom tool, of its arguments; null if it is none of this constraint. */
function inputOf(said: string): string | null {
  try {
    const { input } = JSON.parse(said) as { input?: unknown };
    return typeof input === "string" ? input : null;
  } catch {
    return null;
  }
}

/** Those that begin here, as JSON, and where they end. */
function argumentsOf(call: Call, text: string, from: number): { arguments: string; end: number } | null {
  if (call.parameters) return call.parameters.read(text, from);
  const end = endOfJson(text, from);
  return end === null ? null : { arguments: text.slice(from, end).trim(), end };
}

function callOf(
  form: ToolTemplate["calls"][number],
  tool: ToolDefinition,
  shared: { schema_options?: TagSchemaOptions },
): Call {
  const { row, arguments: style } = form;
  const label = labelOf(tool.name);
  const before = form.before_name + (form.name === "json" ? JSON.stringify(tool.name).slice(1, -1) : tool.name);
  if (tool.custom && form.custom) {
    const { after_name: after, end } = form.custom;
    const begin = before + after;
    return inRow({ tool, begin, end, row, tag: { name: label, begin, end, ...tool.custom }, parameters: undefined });
  }
  const { end } = form;
  const begin = before + form.after_name;
  const schema = schemaText(jsonArguments(tool), label).text;
  const tag = { name: label, begin, end, json_schema: schema, ...shared, ...(style && { style: style.style }) };
  const { documents = {}, draft = "" } = shared.schema_options ?? {};
  const parameters = style && new Parameters(style, schema, documents as Record<string, string>, draft);
  return inRow({ tool, begin, end, row, tag, parameters });
}

function inRow(call: Omit<Call, "nextBegin">): Call {
  const { begin, row } = call;
  if (!row) return { ...call, nextBegin: "" };
  return { ...call, begin: row.begin + begin, nextBegin: row.separator + begin };
}

/** As a descriptor has them. */
function optionsOf(options: JsonSchemaOptions): { schema_options?: TagSchemaOptions } {
  const { space, order, numbers, additional, integerFraction, draft, documents, lenient, ...unknown } = options;
  checkNoMore(unknown);
  const said: TagSchemaOptions = {};
  if (space !== undefined) said.space = space;
  if (order !== undefined) said.order = order;
  if (numbers !== undefined) said.numbers = numbers;
  if (additional !== undefined) said.additional = additional;
  if (draft !== undefined) said.draft = draft;
  if (integerFraction !== undefined) said.integer_fraction = integerFraction;
  if (lenient !== undefined) said.lenient = lenient;
  if (typeof documents === "function") {
    throw invalidArgument("documents: tags have them in an object; a function is not supported");
  }
  if (documents !== undefined) {
    const texts = Object.entries(documents).map(([uri, one]) => [uri, schemaText(one, `documents[${uri}]`).text]);
    said.documents = Object.fromEntries(texts) as Record<string, string>;
  }
  return Object.keys(said).length === 0 ? {} : { schema_options: said };
}

/** What is between the marks, and the rest. The prompt may have the first mark. */
function split(text: string, marks: NonNullable<ToolTemplate["reasoning"]>): { reasoning: string; rest: string } {
  const { begin, end, may_be_open: mayBeOpen } = marks;
  const last = text.indexOf(end);
  const isOpen = mayBeOpen && last >= 0 && !text.slice(0, last).includes(begin);
  const whole = isOpen ? begin + text : text;
  const thoughts = new RegExp(`${escaped(begin)}(.*?)${escaped(end)}`, "gs");
  const reasoning = [...whole.matchAll(thoughts)].map((match) => match[1]!.trim()).join("\n");
  return { reasoning, rest: whole.replaceAll(thoughts, "") };
}

function hexadecimal(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}
