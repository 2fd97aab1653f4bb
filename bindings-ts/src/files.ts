/** Files and the environment, where there are any. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { ELIZA_ERR_ABI_MISMATCH } from "./abi.generated.js";
import { ElizaInferenceError } from "./errors.js";

/** The text of a file. */
export function readFile(path: string): string {
  return readFileSync(path, "utf8");
}

/** The file, or the name without a folder, that an environment variable gives; undefined if it is not set. */
export function fileOfVariable(name: string): string | undefined {
  const path = process.env[name];
  if (!path || basename(path) === path || existsSync(path)) return path;
  throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${name} is ${path}: no such file`);
}
