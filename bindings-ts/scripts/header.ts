/**
 * Reads the declarations of eliza_inference.h: plain C with one declaration a statement, no macros with parameters and no
 * nested types. Anything else is an error, so that the header cannot outgrow this parser in silence.
 */

/** What bun:ffi passes an argument as. `cstring` is a NUL-terminated string, `u64_fast` a size or a 64-bit integer. */
export type ArgType = "i32" | "u32" | "u64_fast" | "ptr" | "cstring";
export type ReturnType = "i32" | "ptr" | "cstring" | "void";
export type FieldType = "i32" | "u32" | "f32" | "u64" | "ptr";

export interface StructField {
  name: string;
  type: FieldType;
}

export interface Header {
  constants: { name: string; value: number }[];
  structs: { name: string; fields: StructField[] }[];
  functions: { name: string; args: ArgType[]; returns: ReturnType }[];
}

export function parseHeader(text: string): Header {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, " ");
  const header: Header = { constants: parseConstants(code), structs: [], functions: [] };
  const callbacks = new Set<string>();
  for (const statement of statements(code)) {
    const struct = /^typedef struct \w+ \{(.*)\} (\w+)$/.exec(statement);
    const callback = /^typedef \w+ \(\*(\w+)\)\(.*\)$/.exec(statement);
    const declaration = /^(.*?[\s*])(\w+)\((.*)\)$/.exec(statement);
    if (struct) {
      header.structs.push({ name: struct[2]!, fields: parseFields(struct[1]!, callbacks) });
    } else if (callback) {
      callbacks.add(callback[1]!);
    } else if (/^typedef (struct )?\w+ \*?\w+$/.test(statement) || /^struct \w+$/.test(statement)) {
      // An opaque type: only pointers to it are passed.
    } else if (declaration) {
      const [, returns, name, parameters] = declaration;
      header.functions.push({
        name: name!,
        args: parseParameters(parameters!, callbacks),
        returns: returnType(returns!),
      });
    } else {
      throw new Error(`cannot parse: ${statement}`);
    }
  }
  return header;
}

function parseConstants(code: string): Header["constants"] {
  return [...code.matchAll(/^#define (\w+) (.+)$/gm)].map(([, name, text]) => {
    const literal = /^\(?(-?\d+)u?\)?$/.exec(text!.trim());
    if (!literal) throw new Error(`#define ${name}: not an integer: ${text}`);
    return { name: name!, value: Number(literal[1]) };
  });
}

/** The statements outside the preprocessor lines and the `extern "C"` frame, with single spaces. */
function statements(code: string): string[] {
  const body = code
    .replace(/^#ifdef __cplusplus[\s\S]*?^#endif/gm, "")
    .replace(/^#.*$/gm, "")
    .replace(/\s+/g, " ");
  return body.match(/(?:[^;{]|\{[^}]*\})+(?=;)/g)?.map((statement) => statement.trim()) ?? [];
}

function parseFields(body: string, callbacks: Set<string>): StructField[] {
  return body
    .split(";")
    .map((field) => field.trim())
    .filter((field) => field !== "")
    .flatMap((field) => {
      const match = /^(const \w+|\w+) (.+)$/.exec(field);
      if (!match) throw new Error(`cannot parse the field: ${field}`);
      return match[2]!.split(",").map((declarator) => parseField(match[1]!, declarator.trim(), callbacks));
    });
}

function parseField(type: string, declarator: string, callbacks: Set<string>): StructField {
  if (declarator.startsWith("*")) return { name: declarator.slice(1), type: "ptr" };
  if (callbacks.has(type)) return { name: declarator, type: "ptr" };
  const types: Record<string, FieldType> = {
    int32_t: "i32",
    uint32_t: "u32",
    float: "f32",
    uint64_t: "u64",
    size_t: "u64",
  };
  const fieldType = types[type];
  if (!fieldType || !/^\w+$/.test(declarator)) throw new Error(`unknown field: ${type} ${declarator}`);
  return { name: declarator, type: fieldType };
}

/** A `const char *` is pointer + length when a `size_t` follows it, a terminated string otherwise. */
function parseParameters(text: string, callbacks: Set<string>): ArgType[] {
  if (text.trim() === "void") return [];
  const parameters = text.split(",").map((parameter) => parameter.trim());
  return parameters.map((parameter, index) => {
    if (/^const char \*\w+$/.test(parameter) && !parameters[index + 1]?.startsWith("size_t ")) return "cstring";
    if (parameter.includes("*")) return "ptr";
    const type = parameter.split(" ")[0]!;
    if (type === "FfiLlmHandle" || callbacks.has(type)) return "ptr";
    const argType = ARG_TYPES[type];
    if (!argType) throw new Error(`unknown parameter: ${parameter}`);
    return argType;
  });
}

const ARG_TYPES: Record<string, ArgType> = {
  int: "i32",
  int32_t: "i32",
  uint32_t: "u32",
  uint64_t: "u64_fast",
  size_t: "u64_fast",
};

function returnType(text: string): ReturnType {
  const type = text.trim();
  if (type === "const char *") return "cstring";
  if (type.endsWith("*")) return "ptr";
  if (type === "int") return "i32";
  if (type === "void") return "void";
  throw new Error(`unknown return type: ${type}`);
}
