/** Failures: a status of the C ABI, and the message that came with it. */
import * as abi from "./abi.generated.js";

/** A call failed. `message` is the library's own text: what is wrong, and where. */
export class ElizaInferenceError extends Error {
  /** "ElizaInferenceError". */
  override readonly name = "ElizaInferenceError";
  /** One of `abi.ELIZA_ERR_*`, negative. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** The name of the status, such as "ELIZA_ERR_PAYLOAD". */
  get statusName(): string {
    return nameOfStatus(this.status);
  }
}

/** The name of a status, such as "ELIZA_ERR_PAYLOAD"; "ELIZA_ERR_UNKNOWN" for one that a newer library gives. */
export function nameOfStatus(status: number): string {
  return statusNames.get(status) ?? "ELIZA_ERR_UNKNOWN";
}

const statusNames = new Map<number, string>(
  Object.entries(abi).flatMap(([name, value]) =>
    name.startsWith("ELIZA_ERR_") && typeof value === "number" ? [[value, name]] : [],
  ),
);

export function invalidArgument(message: string): ElizaInferenceError {
  return new ElizaInferenceError(abi.ELIZA_ERR_INVALID_ARG, message);
}

/** Refuses what is no integer or is out of range, since bun:ffi would silently wrap it. */
export function checkInteger(value: number, name: string, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalidArgument(`${name}: ${value} is not an integer from ${min} to ${max}`);
  }
  return value;
}

export const INT32_MIN = -0x80000000;
export const INT32_MAX = 0x7fffffff;
export const UINT32_MAX = 0xffffffff;
