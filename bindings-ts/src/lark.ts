/** Grammars in Lark's notation: their start, and the grammars and schemas that they name. */
import { eliza_lark_options_t } from "./abi.generated.js";
import { unexpected } from "./arguments.js";
import type { Budget } from "./budget.js";
import { type JsonSchema, schemaText } from "./json-schema.js";
import type { Library } from "./library.js";
import { encodeUnicode, lending } from "./memory.js";
import { Struct } from "./structs.js";
import { withTexts } from "./texts.js";

/**
 * The grammars that `%import` and `@name` name, each a text, and the JSON Schemas that `@name` names; or what gives
 * them; undefined or null: there is none.
 */
export type Grammars = Readonly<Record<string, JsonSchema>> | ((name: string) => JsonSchema | null | undefined);

/** Options of `Constraint.lark`. */
export interface LarkOptions {
  /** The rule that a text is of; by default `start`. */
  start?: string | undefined;
  /**
   * The grammars that `%import` names, `"a.b"` for `%import a.b.rule`, and what `@name` names: grammars, and JSON
   * Schemas as `Constraint.jsonSchema` takes them; also schemas that references in schemas lead to, by URI. An object
   * by name, or a function of a name, whose errors come through.
   */
  imports?: Grammars | undefined;
  /** What compiling may cost. */
  budget?: Budget | undefined;
}

/** Makes a call with the options as an `eliza_lark_options_t`, which is valid during the call only. */
export function withLarkOptions<T>(
  library: Library,
  { start = "start", imports }: LarkOptions,
  call: (options: Uint8Array) => T,
): T {
  return lending(library, (addressOf) => {
    const options = new Struct(eliza_lark_options_t, library);
    const name = encodeUnicode(start, "start");
    options.write({ start: addressOf(name), start_len: name.length });
    if (!imports) return call(options.bytes);
    const find = finder(imports);
    const give = (wanted: string): Uint8Array | null => {
      const name = `imports[${wanted}]`;
      const found = find(wanted);
      return found === null || found === undefined ? null : encodeUnicode(schemaText(found, name).text, name);
    };
    return withTexts(library, give, ({ callback, userData }) => {
      options.write({ grammar: callback, user_data: userData });
      return call(options.bytes);
    });
  });
}

function finder(imports: Grammars): (name: string) => JsonSchema | null | undefined {
  if (typeof imports === "function") return imports;
  if (typeof imports !== "object") throw unexpected("imports", "an object by name, or a function of a name", imports);
  return (name) => (Object.hasOwn(imports, name) ? imports[name] : undefined);
}
