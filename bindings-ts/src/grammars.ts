/** The grammars that the package ships, for `Constraint.lark`: JSON, C11, arithmetic and others. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { invalidArgument } from "./errors";

/** The names of the grammars, sorted. */
export function names(): string[] {
  const files = readdirSync(folder()).filter((file) => file.endsWith(SUFFIX));
  return files.map((file) => file.slice(0, -SUFFIX.length)).sort();
}

/** A grammar in Lark's notation. Throws ELIZA_ERR_INVALID_ARG if there is none with this name. */
export function text(name: string): string {
  const known = names();
  if (!known.includes(name)) {
    throw invalidArgument(`no grammar ${JSON.stringify(name)}; there are: ${known.join(", ")}`);
  }
  return readFileSync(join(folder(), name + SUFFIX), "utf8");
}

const SUFFIX = ".lark";

/** Beside this package's `src`, or in the checkout. */
function folder(): string {
  const packaged = join(import.meta.dir, "..", "grammars");
  return existsSync(packaged) ? packaged : join(import.meta.dir, "..", "..", "native", "grammars");
}
