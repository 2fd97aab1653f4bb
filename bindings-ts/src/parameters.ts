/** Reads the arguments of calls that are parameters between tags like those of XML (docs/reference/tags.md). */

/** How a template writes parameters. */
export interface ParametersForm {
  style: "qwen_xml" | "minimax_xml" | "deepseek_xml" | "glm_xml";
  /** A regular expression for what stands before a value: the name, and "true" if the tag says that it is a string. */
  open: string;
  close: string;
  /** A string may stand on lines of its own. */
  lines?: boolean | undefined;
}

type Schema = Readonly<Record<string, unknown>>;
/** A schema, and the document that it is of. */
type Place = readonly [schema: unknown, root: unknown];
type Types = ReadonlySet<string>;

const all: Types = new Set(["null", "boolean", "number", "string", "array", "object"]);
const brackets: Readonly<Record<string, string>> = { "[": "array", "{": "object" };

/** Those of one function. */
export class Parameters {
  readonly #form: ParametersForm;
  readonly #types: ParameterTypes;

  constructor(form: ParametersForm, schema: string, documents: Readonly<Record<string, string>>, draft: string) {
    this.#form = form;
    this.#types = new ParameterTypes(JSON.parse(schema), documents, draft);
  }

  /** The arguments as JSON, and where they end; null if a value has no end. */
  read(text: string, from: number): { arguments: string; end: number } | null {
    const members = new Map<string, string>();
    const open = new RegExp(this.#form.open, "y");
    let end = from;
    open.lastIndex = end;
    for (let begin = open.exec(text); begin; begin = open.exec(text)) {
      const name = begin[1]!;
      const found = this.#value(text, open.lastIndex, this.#typesOf(name, begin[2]));
      if (!found) return null;
      members.set(JSON.stringify(name), found.value);
      end = found.end;
      open.lastIndex = end;
    }
    const made = [...members].map(([name, value]) => `${name}: ${value}`).join(", ");
    return { arguments: `{${made}}`, end: text.startsWith("\n", end) ? end + 1 : end };
  }

  /** `isString` is what the tag says of it. */
  #typesOf(name: string, isString: string | undefined): Types {
    if (isString === undefined) return this.#types.ofParameter(name);
    return isString === "true" ? new Set(["string"]) : without(all, "string");
  }

  /** A value as JSON, and where its tag ends. */
  #value(text: string, from: number, types: Types): { value: string; end: number } | null {
    const { close } = this.#form;
    const kind = brackets[text[skipSpace(text, from)] ?? ""];
    const last = kind && types.has(kind) ? endOfJson(text, from) : text.indexOf(close, from);
    if (last === null || last < 0) return null;
    const end = text.startsWith(close, last) ? last : skipSpace(text, last);
    if (!text.startsWith(close, end)) return null;
    return { value: this.#asJson(text.slice(from, end), types), end: end + close.length };
  }

  #asJson(value: string, types: Types): string {
    const bare = value.replaceAll(/^[ \n\r\t]+|[ \n\r\t]+$/g, "");
    if (without(types, "string").has(kindOf(bare))) return bare;
    return JSON.stringify(this.#form.lines ? value.replace(/^\n/, "").replace(/\n$/, "") : value);
  }
}

/** After the JSON object or array that begins here; null if there is none. */
export function endOfJson(text: string, from: number): number | null {
  const pieces = /\s+|\\.|["{}[\]]|[^\s\\"{}[\]]+/gs;
  pieces.lastIndex = from;
  let depth = 0;
  let inString = false;
  for (let match = pieces.exec(text); match; match = pieces.exec(text)) {
    const piece = match[0];
    if (inString) inString = piece !== '"';
    else if (piece === '"') inString = true;
    else if (piece === "{" || piece === "[") depth += 1;
    else if (piece === "}" || piece === "]") {
      depth -= 1;
      if (depth === 0) return pieces.lastIndex;
    }
    if (depth === 0 && piece.trim() !== "") return null;
  }
  return null;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \n\r\t".includes(text[at] ?? "none")) at += 1;
  return at;
}

function without(types: Types, one: string): Types {
  return new Set([...types].filter((type) => type !== one));
}

/** The type of a JSON text; of any other "string". */
function kindOf(text: string): string {
  try {
    return typeOf(JSON.parse(text));
  } catch {
    return "string";
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/**
 * The types that values may have, by the rule of docs/reference/tags.md: what `type`, `enum`, `const`, `$ref` and
 * combinations of schemas say.
 */
class ParameterTypes {
  readonly #root: unknown;
  readonly #documents: Readonly<Record<string, string>>;
  /** What stands beside a reference does not count. */
  readonly #referencesStandAlone: boolean;

  constructor(root: unknown, documents: Readonly<Record<string, string>>, draft: string) {
    this.#root = root;
    this.#documents = documents;
    const dialect = isSchema(root) ? root.$schema : undefined;
    this.#referencesStandAlone =
      typeof dialect === "string" ? /draft-0[467]/.test(dialect) : ["4", "6", "7"].includes(draft);
  }

  /** Of a member of the object. */
  ofParameter(name: string): Types {
    const objects = this.#parts([this.#root, this.#root], 0);
    for (const [schema, root] of objects) {
      const { properties } = schema;
      if (isSchema(properties) && Object.hasOwn(properties, name)) return this.#of([properties[name], root], 0);
    }
    const rest = objects.find(([schema]) => schema.additionalProperties !== undefined);
    return rest ? this.#of([rest[0].additionalProperties, rest[1]], 0) : all;
  }

  /** A schema and those that hold with it. */
  #parts([schema, root]: Place, depth: number): (readonly [Schema, unknown])[] {
    if (!isSchema(schema) || depth > 99) return [];
    const places: Place[] = listOf(schema.allOf).map((part) => [part, root]);
    if (typeof schema.$ref === "string") places.unshift(this.#target(schema.$ref, root));
    return [[schema, root], ...places.flatMap((place) => this.#parts(place, depth + 1))];
  }

  #of([schema, root]: Place, depth: number): Types {
    if (!isSchema(schema) || depth > 99) return schema === false ? new Set() : all;
    const sets: Types[] = [];
    if (typeof schema.$ref === "string") sets.push(this.#of(this.#target(schema.$ref, root), depth + 1));
    if (sets.length > 0 && this.#referencesStandAlone) return sets[0]!;
    if (schema.type !== undefined) sets.push(named(schema.type, schema.nullable === true));
    if (schema.const !== undefined) sets.push(new Set([typeOf(schema.const)]));
    if (schema.enum !== undefined) sets.push(new Set(listOf(schema.enum).map(typeOf)));
    for (const part of listOf(schema.allOf)) sets.push(this.#of([part, root], depth + 1));
    for (const choices of [schema.anyOf, schema.oneOf]) {
      if (choices === undefined) continue;
      sets.push(new Set(listOf(choices).flatMap((part) => [...this.#of([part, root], depth + 1)])));
    }
    return new Set([...all].filter((type) => sets.every((set) => set.has(type))));
  }

  /** What a reference leads to, and its document; of other references than pointers nothing is known. */
  #target(reference: string, from: unknown): Place {
    const cut = reference.indexOf("#");
    const uri = cut < 0 ? reference : reference.slice(0, cut);
    const pointer = cut < 0 ? "" : reference.slice(cut + 1);
    const text = Object.hasOwn(this.#documents, uri) ? this.#documents[uri] : undefined;
    const root = uri === "" ? from : text === undefined ? undefined : (JSON.parse(text) as unknown);
    if (pointer !== "" && !pointer.startsWith("/")) return [undefined, root];
    let at = root;
    for (const token of pointer.split("/").slice(1)) {
      const key = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
      at = typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Schema)[key] : undefined;
    }
    return [at, root];
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function named(names: unknown, nullable: boolean): Types {
  const listed = (Array.isArray(names) ? names : [names]).map((name) => (name === "integer" ? "number" : String(name)));
  return new Set(nullable ? [...listed, "null"] : listed);
}
