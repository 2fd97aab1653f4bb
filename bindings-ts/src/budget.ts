/** What compiling a recognizer may cost. */
import { ELIZA_COMPILE_STATES, eliza_compile_config_t } from "./abi.generated.js";
import { checkNoMore } from "./arguments.js";
import { withCallback } from "./callbacks.js";
import { checkInteger } from "./errors.js";
import type { Library } from "./library.js";
import { Struct } from "./structs.js";

/**
 * Bounds on compiling, each at least 1. Exceeding one throws ELIZA_ERR_LIMIT; the message says what was being built.
 */
export interface Budget {
  /** States of each automaton; 65,535 by default and at most. */
  statesMax?: number | undefined;
  /** Bytes of memory used while compiling; 256 MiB by default. */
  bytesMax?: number | undefined;
  /** Wall-clock milliseconds; no bound by default. */
  msMax?: number | undefined;
  /**
   * Bytes of the masks and tables that the constraint keeps; 64 MiB by default. If given, what a JSON Schema keeps of
   * texts is bounded by it, too (1 MiB at least; else 1 GiB): beyond it, a text that leads to anything new is
   * ELIZA_ERR_LIMIT.
   */
  maskBytesMax?: number | undefined;
  /**
   * Wall-clock milliseconds of each later call on a matcher of the constraint: beyond it the call throws
   * ELIZA_ERR_LIMIT, and the matcher is as it was. No bound by default.
   */
  maskMsMax?: number | undefined;
  /**
   * Called from time to time. Returning true cancels (ELIZA_ERR_CANCELLED), and so does throwing: the call then throws
   * the same.
   */
  cancel?: (() => boolean) | undefined;
}

/** One budget for several calls, one after another. */
export class SharedBudget {
  readonly #budget: Budget | undefined;
  readonly #end: number;

  constructor(budget: Budget | undefined) {
    this.#budget = budget;
    this.#end = performance.now() + (budget?.msMax ?? Number.POSITIVE_INFINITY);
  }

  get isSpent(): boolean {
    return performance.now() >= this.#end;
  }

  /** What the next call may take. */
  rest(): Budget | undefined {
    if (this.#budget?.msMax === undefined) return this.#budget;
    return { ...this.#budget, msMax: Math.max(1, Math.trunc(this.#end - performance.now())) };
  }
}

/** Makes a call with the budget as an `eliza_compile_config_t`, which is valid during the call only. */
export function withBudget<T>(library: Library, budget: Budget | undefined, call: (config: Uint8Array | null) => T): T {
  if (!budget) return call(null);
  const { statesMax, bytesMax, msMax, maskBytesMax, maskMsMax, cancel, ...unknown } = budget;
  checkNoMore(unknown);
  const config = new Struct(eliza_compile_config_t, library);
  config.write({
    states_max: bound("statesMax", statesMax, ELIZA_COMPILE_STATES),
    bytes_max: bound("bytesMax", bytesMax),
    ms_max: bound("msMax", msMax),
    mask_bytes_max: bound("maskBytesMax", maskBytesMax),
    mask_ms_max: bound("maskMsMax", maskMsMax),
  });
  if (!cancel) return call(config.bytes);
  const callback = library.memory.callback("cancel");
  return withCallback("cancel", cancel, true, (user_data) => {
    config.write({ cancel: callback, user_data });
    return call(config.bytes);
  });
}

/** The bound as C takes it. There 0 is the default, which a caller who writes 0 does not mean. */
function bound(name: string, value: number | undefined, max: number = Number.MAX_SAFE_INTEGER): number {
  return value === undefined ? 0 : checkInteger(value, name, 1, max);
}
