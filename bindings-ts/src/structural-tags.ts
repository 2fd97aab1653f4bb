/**
 * XGrammar's structural tags, whatever their formats: as descriptors of tags, or as grammars in Lark's notation.
 *
 * structural_tags.py of the Python package does the same; tests/structural_tags holds both to it.
 */
import { ELIZA_ERR_GRAMMAR } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";
import { unknownKey } from "./keys.js";
import { TokenFlag, type Vocabulary } from "./vocabulary.js";

/** Of XGrammar: `{"type": "structural_tag", "format": ...}`, or the older one with `structures` and `triggers`. */
export interface StructuralTag {
  type?: "structural_tag" | undefined;
  format?: StructuralTagFormat | undefined;
  structures?: readonly object[] | undefined;
  triggers?: readonly string[] | undefined;
}

/** One of XGrammar's formats, which docs/reference/tags.md lists. */
export interface StructuralTagFormat {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A structural tag as a grammar in Lark's notation. */
export interface TagGrammar {
  text: string;
  /** What `@name` stands for. */
  schemas: Record<string, string>;
  /** What of the structural tag each line says. */
  places: string[];
}

/** The keys of structural tags and of their formats. */
type Key =
  | "any_order"
  | "at_least_one"
  | "begin"
  | "content"
  | "elements"
  | "end"
  | "exclude_tokens"
  | "excludes"
  | "format"
  | "grammar"
  | "json_schema"
  | "loop"
  | "max"
  | "max_chars"
  | "max_tokens"
  | "max_whitespace_cnt"
  | "min"
  | "pattern"
  | "rules"
  | "schema"
  | "separator"
  | "stop_after_first"
  | "structures"
  | "style"
  | "tags"
  | "token"
  | "trigger_tokens"
  | "triggers"
  | "type"
  | "value"
  | "x-guidance";
type Form = Readonly<Partial<Record<Key, unknown>>>;

/** The contents of tags that the library reads. */
const FLAT = new Set(["json_schema", "qwen_xml_parameter", "regex", "grammar", "const_string", "any_text"]);
const TEXT_KEYS: readonly Key[] = ["excludes", "max_tokens", "max_chars"];
const SCHEMA_KEYS = ["json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"];
/** What formats have besides their type. */
const FORMAT_KEYS: Readonly<Record<string, readonly string[]>> = {
  const_string: ["value"],
  json_schema: SCHEMA_KEYS,
  qwen_xml_parameter: SCHEMA_KEYS,
  any_text: TEXT_KEYS,
  regex: ["pattern"],
  grammar: ["grammar"],
  token: ["token"],
  exclude_token: ["exclude_tokens"],
  any_tokens: ["exclude_tokens", "max_tokens"],
  sequence: ["elements"],
  or: ["elements"],
  optional: ["content"],
  star: ["content"],
  plus: ["content"],
  repeat: ["content", "min", "max"],
  tag: ["begin", "content", "end"],
  triggered_tags: ["triggers", "tags", "excludes", "at_least_one", "stop_after_first"],
  token_triggered_tags: ["trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"],
  tags_with_separator: ["tags", "separator", "at_least_one", "stop_after_first"],
  dispatch: ["rules", "loop", "excludes"],
  token_dispatch: ["rules", "loop", "exclude_tokens"],
};
/** The most tokens that a terminal may have. */
const MAX_TOKENS = 1_000_000;
const MAX_WHITESPACE = 255;

/** A structural tag, in JSON or as an object; null if it is something else, which the library reads. */
export function asStructuralTag(given: unknown): Form | null {
  let tags = given;
  if (typeof tags === "string" && /"(format|structures)"/.test(tags)) {
    try {
      tags = JSON.parse(tags);
    } catch {
      return null; // the library says what is wrong with it
    }
  }
  return isObject(tags) && (isObject(tags.format) || Array.isArray(tags.structures)) ? tags : null;
}

/**
 * The descriptor that the library reads, or a grammar. What is wrong or unsupported throws ELIZA_ERR_GRAMMAR with the
 * place.
 */
export function readAs(vocabulary: Vocabulary, tag: Form): { descriptor: string } | TagGrammar {
  const form = tag.format;
  if (!isObject(form)) {
    const structures = (tag.structures as unknown[]).map(withSchema);
    return { descriptor: JSON.stringify({ ...tag, structures }) };
  }
  if (isFlat(form)) {
    const tags = (form.tags as Form[]).map(descriptorTag);
    return { descriptor: JSON.stringify({ ...tag, format: { ...form, tags } }) };
  }
  checkFormat("structural_tag", tag, ["format"]);
  const writer = new Writer(vocabulary);
  const start = writer.write(form, []);
  const text = ["%lexing any", `start: ${start}`, ...writer.definitions].join("\n");
  return { text, schemas: writer.schemas, places: ["format", "format", ...writer.places] };
}

/** An error about a grammar as one about its structural tag. */
export function placed(error: unknown, grammar: TagGrammar): unknown {
  if (!(error instanceof ElizaInferenceError)) return error;
  const found = /^(\d+):\d+: /.exec(error.message);
  if (!found) return error;
  const place = grammar.places[Number(found[1]) - 1];
  return new ElizaInferenceError(error.status, `${place}: ${error.message.slice(found[0].length)}`);
}

function isObject(value: unknown): value is Form {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(place: string, what: string): ElizaInferenceError {
  return new ElizaInferenceError(ELIZA_ERR_GRAMMAR, `${place}: ${what}`);
}

/** Refuses keys that nothing reads. */
function checkFormat(place: string, form: Form, known: readonly string[]): void {
  const other = Object.keys(form).find((key) => key !== "type" && !known.includes(key));
  if (other !== undefined) throw wrong(place, unknownKey(other, known));
}

// ---- What the library reads

function isFlat(form: Form): boolean {
  const tags = form.tags;
  return form.type === "triggered_tags" && Array.isArray(tags) && tags.every((tag) => isObject(tag) && isFlatTag(tag));
}

function isFlatTag(tag: Form): boolean {
  const { content, end } = tag;
  if (!isObject(content) || !FLAT.has(content.type as string) || (Array.isArray(end) && end.length !== 1)) return false;
  if (content.type === "any_text") return !TEXT_KEYS.some((key) => isGiven(content[key]));
  return !(isGiven(content.excludes) || content.max_whitespace_cnt);
}

/** Whether an option says something. */
function isGiven(option: unknown): boolean {
  return option !== undefined && option !== null && !(Array.isArray(option) && option.length === 0);
}

/** Servers leave out schemas that allow everything. */
function withSchema(part: unknown): unknown {
  return isObject(part) && (part.schema ?? null) === null ? { ...part, schema: {} } : part;
}

/** Without the options of contents, which are others in the library's words. */
function descriptorTag(tag: Form): object {
  const { content, ...others } = tag as { content: Form };
  const type = content.type;
  if (type === "any_text") return { ...tag, content: without(content, TEXT_KEYS) };
  if (type !== "json_schema" && type !== "qwen_xml_parameter") return tag;
  return {
    ...others,
    json_schema: content.json_schema ?? {},
    style: type === "qwen_xml_parameter" ? "qwen_xml" : content.style || "json",
    schema_options: {
      ...(content.any_order ? { order: "any" } : {}),
      ...(content.max_whitespace_cnt === 0 ? { space: "compact" } : {}),
    },
    ...without(content, [...SCHEMA_KEYS, "type"]),
  };
}

function without(form: Form, keys: readonly string[]): Form {
  return Object.fromEntries(Object.entries(form).filter(([key]) => !keys.includes(key)));
}

// ---- What is written as a grammar

/** A part of a marker: text, or a control token. */
type Piece = string | number;
type Rule = readonly [text: string, rule: string];

/** Writes formats as expressions of Lark's notation, and the terminals and rules that they use. */
class Writer {
  readonly definitions: string[] = [];
  /** Of the definitions. */
  readonly places: string[] = [];
  readonly schemas: Record<string, string> = {};
  readonly #place = ["format"];
  readonly #control: Map<string, number>;

  constructor(vocabulary: Vocabulary) {
    this.#control = controlTokens(vocabulary);
  }

  /** A format in parentheses. `ends` are texts before which free text ends. */
  write(form: Form, ends: readonly string[]): string {
    if (typeof form.type === "string" && Object.hasOwn(FORMAT_KEYS, form.type)) {
      checkFormat(this.#place.join("."), form, FORMAT_KEYS[form.type]!);
    }
    return `(${this.#written(form, ends)})`;
  }

  #written(form: Form, ends: readonly string[]): string {
    switch (form.type) {
      case "const_string":
        return this.#marker(this.#text(form, "value"));
      case "json_schema":
        return this.#jsonSchema(form, (form.style as string) || "json");
      case "qwen_xml_parameter":
        return this.#jsonSchema(form, "qwen_xml");
      case "any_text":
        return this.#anyText(form, ends);
      case "regex":
        return this.#terminal(regexOf(this.#text(form, "pattern")));
      case "grammar":
        return this.#ebnf(this.#text(form, "grammar"));
      case "token":
        return this.#tokens([form.token]);
      case "exclude_token":
        return this.#others(this.#list(form, "exclude_tokens", []));
      case "any_tokens": {
        const most = this.#number(form, "max_tokens");
        return this.#others(this.#list(form, "exclude_tokens", [])) + (most === null ? "*" : count(0, most));
      }
      case "sequence":
        return this.#sequence(form, ends);
      case "or":
        return this.#each(form, ends).join(" | ");
      case "optional":
        return `${this.#content(form, ends)}?`;
      case "star":
        return `${this.#content(form, ends)}*`;
      case "plus":
        return `${this.#content(form, ends)}+`;
      case "repeat":
        return this.#content(form, ends) + count(this.#number(form, "min") ?? 0, this.#number(form, "max"));
      case "tag":
        return this.#tag(form);
      case "triggered_tags":
        return this.#triggeredTags(form, ends);
      case "token_triggered_tags":
        return this.#tokenTriggeredTags(form);
      case "tags_with_separator":
        return this.#tagsWithSeparator(form);
      case "dispatch":
        return this.#dispatch(form, ends);
      case "token_dispatch":
        return this.#tokenDispatch(form);
      default:
        throw this.#wrong(`the format ${String(form.type)} is unsupported`);
    }
  }

  // ---- What a format says

  #wrong(what: string): ElizaInferenceError {
    return wrong(this.#place.join("."), what);
  }

  #at<T>(place: string, write: () => T): T {
    this.#place.push(place);
    const written = write();
    this.#place.pop();
    return written;
  }

  #text(form: Form, key: Key): string {
    const value = form[key];
    if (typeof value !== "string") throw this.#wrong(`${key}: expected a string`);
    return value;
  }

  #number(form: Form, key: Key): number | null {
    const value = form[key] ?? null;
    if (value !== null && !Number.isInteger(value)) throw this.#wrong(`${key}: expected an integer`);
    return value as number | null;
  }

  #list(form: Form, key: Key, absent?: readonly unknown[]): readonly unknown[] {
    const value = form[key] ?? absent;
    if (!Array.isArray(value)) throw this.#wrong(`${key}: expected a list`);
    return value;
  }

  #forms(form: Form, key: Key): readonly Form[] {
    const list = this.#list(form, key);
    if (!list.every(isObject)) throw this.#wrong(`${key}: expected a list of objects`);
    return list as readonly Form[];
  }

  #texts(form: Form, key: Key, absent?: readonly unknown[]): readonly string[] {
    const list = this.#list(form, key, absent);
    if (!list.every((one) => typeof one === "string")) throw this.#wrong(`${key}: expected a list of strings`);
    return list as readonly string[];
  }

  #content(form: Form, ends: readonly string[]): string {
    const content = form.content;
    if (!isObject(content)) throw this.#wrong("content: expected an object");
    return this.#at("content", () => this.write(content, ends));
  }

  /** Only the last one ends with what is around it, if they are a sequence. */
  #each(form: Form, ends: readonly string[], isSequence = false): string[] {
    const elements = this.#forms(form, "elements");
    return elements.map((element, i) =>
      this.#at(`elements[${i}]`, () => this.write(element, isSequence && i < elements.length - 1 ? [] : ends)),
    );
  }

  // ---- Texts and tokens

  /** A text, in which control tokens stand for themselves, or a token. */
  #pieces(marker: unknown): Piece[] {
    if (isObject(marker)) {
      checkFormat(this.#place.join("."), marker, ["token"]);
      return [this.#token(marker.token)];
    }
    if (typeof marker !== "string") throw this.#wrong("expected a text or a token");
    if (this.#control.size === 0) return marker === "" ? [] : [marker];
    const names = [...this.#control.keys()].sort((a, b) => b.length - a.length);
    return marker
      .split(new RegExp(`(${names.map(escaped).join("|")})`))
      .filter((part) => part !== "")
      .map((part) => this.#control.get(part) ?? part);
  }

  #marker(marker: unknown): string {
    return writtenAll(this.#pieces(marker));
  }

  #token(token: unknown): number {
    if (Number.isInteger(token)) return token as number;
    if (typeof token !== "string") throw this.#wrong("expected a token");
    const found = this.#control.get(token);
    if (found === undefined) throw this.#wrong(`'${token}' is no control token of the vocabulary`);
    return found;
  }

  #tokens(tokens: readonly unknown[]): string {
    return `<[${tokens.map((token) => this.#token(token)).join(",")}]>`;
  }

  #others(tokens: readonly unknown[]): string {
    return tokens.length > 0 ? `<[^${tokens.map((token) => this.#token(token)).join(",")}]>` : "<[*]>";
  }

  #define(kind: string, definition: string): string {
    const name = `${kind}${this.definitions.length}`;
    this.definitions.push(name + definition);
    this.places.push(this.#place.join("."));
    return name;
  }

  #terminal(definition: string): string {
    return this.#define("T", `: ${definition}`);
  }

  #jsonSchema(form: Form, style: string): string {
    const space = this.#number(form, "max_whitespace_cnt");
    if (space !== null && (space < 0 || space > MAX_WHITESPACE)) {
      throw this.#wrong(`max_whitespace_cnt is from 0 to ${MAX_WHITESPACE}, not ${space}`);
    }
    const guidance = {
      ...(form.any_order ? { order: "any" } : {}),
      ...(style === "json" ? {} : { style }),
      ...(space === null ? {} : { whitespace_max: space }),
      ...(isGiven(form.excludes) ? { excludes: form.excludes } : {}),
    };
    let schema = form.json_schema ?? {};
    if (Object.keys(guidance).length > 0 && schema !== false) {
      const own = isObject(schema) ? schema : {};
      const given = own["x-guidance"];
      schema = { ...own, "x-guidance": { ...(isObject(given) ? given : {}), ...guidance } };
    }
    const name = `s${Object.keys(this.schemas).length}`;
    this.schemas[name] = JSON.stringify(schema);
    return this.#define("r", `: @${name}`);
  }

  #anyText(form: Form, ends: readonly string[]): string {
    const most = this.#number(form, "max_tokens");
    if (most !== null && most > MAX_TOKENS) throw this.#wrong(`max_tokens above ${MAX_TOKENS} is unsupported`);
    const excludes = this.#plain(this.#texts(form, "excludes", []));
    const text = `/.${count(0, this.#number(form, "max_chars"))}/s`;
    const terminal = this.#terminal(withoutTexts(text, [...excludes, ...ends]));
    return `${most === null ? terminal : this.#define("r", `[max_tokens=${most}]: ${terminal}`)}?`;
  }

  #ebnf(text: string): string {
    const prefix = `g${this.definitions.length}_`;
    const rules = ebnfRules(text, prefix, (what) => this.#wrong(what));
    this.definitions.push(...rules);
    this.places.push(...rules.map(() => this.#place.join(".")));
    return `${prefix}root`;
  }

  // ---- Parts

  #sequence(form: Form, ends: readonly string[]): string {
    return this.#each(form, ends, true).join(" ") || '""';
  }

  /** A part. Of its begin text `behind` was read. */
  #tag(tag: Form, behind = ""): string {
    checkFormat(this.#place.join("."), tag, FORMAT_KEYS.tag!);
    const begin = writtenAll(this.#behind(tag.begin, behind));
    const end = tag.end ?? "";
    const ends: readonly unknown[] = Array.isArray(end) ? end : [end];
    const content = this.#content(tag, this.#plain(ends));
    return `${begin} ${content} (${ends.map((one) => this.#marker(one)).join(" | ")})`;
  }

  /** The pieces of a begin text after those that were read. */
  #behind(begin: unknown, read: string): Piece[] {
    const pieces = this.#pieces(begin);
    const before = this.#pieces(read);
    for (const [i, piece] of before.entries()) {
      const first = pieces.shift();
      if (first === piece) continue;
      const isStart =
        i === before.length - 1 && typeof first === "string" && typeof piece === "string" && first.startsWith(piece);
      if (!isStart) throw this.#wrong(`the text '${String(begin)}' does not begin with '${read}'`);
      pieces.unshift((first as string).slice((piece as string).length));
    }
    return pieces;
  }

  /** The texts without control tokens, which free text has not anyway. */
  #plain(markers: readonly unknown[]): string[] {
    return markers
      .map((marker) => this.#pieces(marker))
      .filter((pieces) => pieces.length === 1 && typeof pieces[0] === "string")
      .map(([text]) => text as string);
  }

  #tags(form: Form, behind = ""): string[] {
    return this.#forms(form, "tags").flatMap((tag, i) =>
      behind !== "" && !(typeof tag.begin === "string" && tag.begin.startsWith(behind))
        ? []
        : [`(${this.#at(`tags[${i}]`, () => this.#tag(tag, behind))})`],
    );
  }

  #triggeredTags(form: Form, ends: readonly string[]): string {
    const rules = this.#texts(form, "triggers").map((trigger): Rule => {
      const tags = this.#tags(form, trigger);
      if (tags.length === 0) throw this.#wrong(`no begin text begins with the trigger '${trigger}'`);
      return [trigger, `(${tags.join(" | ")})`];
    });
    const triggers = this.#texts(form, "triggers");
    const other = this.#forms(form, "tags").findIndex(
      ({ begin }) => !triggers.some((one) => typeof begin === "string" && begin.startsWith(one)),
    );
    if (other >= 0) throw this.#wrong(`tags[${other}].begin: begins with no trigger`);
    const first = form.at_least_one ? `(${this.#tags(form).join(" | ")})` : null;
    return this.#freeText(form, rules, ends, Boolean(form.stop_after_first), first);
  }

  #rules(form: Form): (readonly [unknown, string])[] {
    return this.#list(form, "rules").map((rule, i) => {
      if (!Array.isArray(rule) || rule.length !== 2 || !isObject(rule[1]))
        throw this.#wrong(`rules[${i}]: expected a pair`);
      const content = rule[1];
      return [rule[0], this.#at(`rules[${i}]`, () => this.write(content, []))];
    });
  }

  #dispatch(form: Form, ends: readonly string[]): string {
    const rules = this.#rules(form).map(([pattern, rule]): Rule => {
      if (typeof pattern !== "string") throw this.#wrong("rules: expected a text");
      return [pattern, rule];
    });
    return this.#freeText(form, rules, ends, form.loop === false, null);
  }

  /**
   * Text up to the first of some texts, which leads to a rule, and so on. It may stop in such a text, and after a rule
   * if it stops there. `first` is what must come first of all.
   */
  #freeText(form: Form, rules: readonly Rule[], ends: readonly string[], stops: boolean, first: string | null): string {
    const texts = this.#plain(rules.map(([trigger]) => trigger));
    const never = [...this.#plain(this.#texts(form, "excludes", [])), ...ends];
    const ways = rules.map(([trigger, rule]) => `${this.#upTo(trigger, texts, never)} ${rule}`).join(" | ");
    const free = `${this.#terminal(withoutTexts("/.*/s", [...texts, ...never]))}?`;
    if (stops) return first ?? (ways === "" ? free : `(${ways}) | ${free}`);
    const loop = ways === "" ? free : `(${ways})* ${free}`;
    return first === null ? loop : `${first} ${loop}`;
  }

  /** Free text that ends with a trigger; before that it has none of `texts`, and nowhere what it has `never`. */
  #upTo(trigger: string, texts: readonly string[], never: readonly string[]): string {
    const [first, ...rest] = this.#pieces(trigger);
    if (first === undefined) throw this.#wrong("a trigger is empty");
    if (typeof first === "number") {
      return `${this.#terminal(withoutTexts("/.*/s", [...texts, ...never]))}? ${writtenAll([first, ...rest])}`;
    }
    if (rest.length > 0) {
      const before = this.#terminal(withoutTexts(`(/.*/s ${JSON.stringify(first)})`, [...texts, ...never]));
      return `${before} ${writtenAll(rest)}`;
    }
    return this.#terminal(upToText(first, texts, never));
  }

  #tokenTriggeredTags(form: Form): string {
    const free = this.#others([...this.#list(form, "exclude_tokens", []), ...this.#list(form, "trigger_tokens")]);
    const tags = `(${this.#tags(form).join(" | ")})`;
    return tokenLoop(free, tags, Boolean(form.stop_after_first), Boolean(form.at_least_one));
  }

  #tokenDispatch(form: Form): string {
    const rules = this.#rules(form);
    const free = this.#others([...this.#list(form, "exclude_tokens", []), ...rules.map(([trigger]) => trigger)]);
    const ways = rules.map(([trigger, rule]) => `${this.#tokens([trigger])} ${rule}`);
    return tokenLoop(free, `(${ways.join(" | ")})`, form.loop === false, false);
  }

  #tagsWithSeparator(form: Form): string {
    let tags = `(${this.#tags(form).join(" | ")})`;
    if (!form.stop_after_first) tags = `(${tags} (${this.#marker(form.separator)} ${tags})*)`;
    return form.at_least_one ? tags : `${tags}?`;
  }
}

/** By their texts, but for those that a token of text spells too. */
function controlTokens(vocabulary: Vocabulary): Map<string, number> {
  const decoder = new TextDecoder();
  const spelled = new Set([""]);
  const control = new Map<string, number>();
  for (let token = 0; token < vocabulary.size; token += 1) {
    const flags = vocabulary.flags(token);
    const text = decoder.decode(vocabulary.tokenBytes(token));
    if (flags === 0) spelled.add(text);
    else if (flags & TokenFlag.SPECIAL && !control.has(text)) control.set(text, token);
  }
  for (const text of spelled) control.delete(text);
  return control;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function writtenAll(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === "number" ? `<[${piece}]>` : JSON.stringify(piece))).join(" ") || '""';
}

/** As Lark writes it: a slash is escaped, and a line end is not written as it is. */
function regexOf(given: string): string {
  // A pattern is a whole text anyway.
  const pattern = given.includes("|") ? given : given.replace(/^\^/, "").replace(/(?<!\\)((?:\\\\)*)\$$/, "$1");
  const written = pattern.replace(/\\[^\n]|\//g, (found) => (found === "/" ? "\\/" : found)).replaceAll("\n", "\\n");
  return written === "" ? '""' : `/${written}/`;
}

function anyOf(texts: readonly string[]): string {
  return `(${texts.map((text) => JSON.stringify(text)).join(" | ")})`;
}

function withoutTexts(terminal: string, texts: readonly string[]): string {
  return texts.length === 0 ? terminal : `${terminal} & ~(/.*/s ${anyOf(texts)} /.*/s)`;
}

/** Any text that ends with `text`, in which none of `texts` ends before, and that has nothing of `never`. */
function upToText(text: string, texts: readonly string[], never: readonly string[]): string {
  return withoutTexts(`(/.*/s ${JSON.stringify(text)}) & ~(/.*/s ${anyOf(texts)} /.+/s)`, never);
}

function count(least: number, most: number | null): string {
  return most === null || most < 0 ? `{${least},}` : `{${least},${most}}`;
}

function tokenLoop(free: string, ways: string, stops: boolean, atLeastOne: boolean): string {
  if (stops) return atLeastOne ? ways : `${free}* ${ways}?`;
  const loop = `(${free} | ${ways})*`;
  return atLeastOne ? `${ways} ${loop}` : loop;
}

// ---- EBNF

const EBNF = new RegExp(
  [
    /(?<space>\s+|#[^\n]*)/,
    /(?:(?<name>[A-Za-z_][\w.-]*)\s*::=)/,
    /(?<string>"(?:\\.|[^"\\\n])*")/,
    /(?<set>\[(?:\\.|[^\]\\])*\])/,
    /(?<rule>[A-Za-z_][\w.-]*)/,
    /(?<other>\{[^}]*\}|[()|*+?])/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "y",
);

type EbnfPart = "space" | "name" | "string" | "set" | "rule" | "other";

/** The rules of XGrammar's EBNF in Lark's notation, with other names. */
function ebnfRules(text: string, prefix: string, failed: (what: string) => Error): string[] {
  const names = new Map([["root", `${prefix}root`]]);
  const nameOf = (name: string): string => {
    const known = names.get(name) ?? `${prefix}${names.size}`;
    names.set(name, known);
    return known;
  };
  const rules: string[] = [];
  EBNF.lastIndex = 0;
  for (let at = 0; at < text.length; at = EBNF.lastIndex) {
    const found: Partial<Record<EbnfPart, string>> | undefined = EBNF.exec(text)?.groups;
    const isFirst = rules.length === 0;
    if (!found || (isFirst && found.name === undefined && found.space === undefined)) {
      throw failed(`the EBNF is unsupported from '${text.slice(at, at + 20)}' on`);
    }
    if (found.space !== undefined) continue;
    if (found.name !== undefined) rules.push(`${nameOf(found.name)}:`);
    else rules[rules.length - 1] += ebnfPart(found, nameOf);
  }
  return rules;
}

function ebnfPart(found: Partial<Record<EbnfPart, string>>, nameOf: (name: string) => string): string {
  if (found.rule !== undefined) return ` ${nameOf(found.rule)}`;
  if (found.string !== undefined) return ` ${found.string}`;
  return found.set === undefined ? found.other! : ` ${setOf(found.set)}`;
}

function setOf(characters: string): string {
  if (characters === "[^]") return "/(.|\\n)/";
  return `/${characters.replaceAll("/", "\\/")}/`;
}
