/** The grammars that the package ships, for `Constraint.lark`: JSON, C11, arithmetic and others. */
import arithmetic from "../../native/grammars/arithmetic.lark" with { type: "text" };
import c11 from "../../native/grammars/c11.lark" with { type: "text" };
import function_call from "../../native/grammars/function_call.lark" with { type: "text" };
import json from "../../native/grammars/json.lark" with { type: "text" };
import python from "../../native/grammars/python.lark" with { type: "text" };
import sql_select from "../../native/grammars/sql_select.lark" with { type: "text" };
import { invalidArgument } from "./errors.js";

/** The names of the grammars, sorted. */
export function names(): string[] {
  return Object.keys(TEXTS).sort();
}

/** A grammar in Lark's notation. Throws ELIZA_ERR_INVALID_ARG if there is none with this name. */
export function text(name: string): string {
  if (Object.hasOwn(TEXTS, name)) return TEXTS[name as keyof typeof TEXTS];
  throw invalidArgument(`no grammar ${JSON.stringify(name)}; there are: ${names().join(", ")}`);
}

/** Those of native/grammars. */
const TEXTS = { arithmetic, c11, function_call, json, python, sql_select };
