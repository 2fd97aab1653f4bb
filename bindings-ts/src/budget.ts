/** What compiling a recognizer may cost. */
import { FFIType, JSCallback } from "bun:ffi";
import { ELIZA_COMPILE_STATES, eliza_compile_config_t } from "./abi.generated";
import { checkNoMore } from "./arguments";
import { checkInteger } from "./errors";
import { bytesOf, newStruct, writeStruct } from "./structs";

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
  /** Bytes of the masks and tables that the constraint keeps; 64 MiB by default. */
  maskBytesMax?: number | undefined;
  /**
   * Called from time to time. Returning true cancels (ELIZA_ERR_CANCELLED), and so does throwing: the call then throws
   * the same.
   */
  cancel?: (() => boolean) | undefined;
}

/** Makes a call with the budget as an `eliza_compile_config_t`, which is valid during the call only. */
export function withBudget<T>(budget: Budget | undefined, call: (config: Uint8Array | null) => T): T {
  if (!budget) return call(null);
  const { statesMax, bytesMax, msMax, maskBytesMax, cancel, ...unknown } = budget;
  checkNoMore(unknown);
  const config = newStruct(eliza_compile_config_t);
  writeStruct(eliza_compile_config_t, config, {
    states_max: bound("statesMax", statesMax, ELIZA_COMPILE_STATES),
    bytes_max: bound("bytesMax", bytesMax),
    ms_max: bound("msMax", msMax),
    mask_bytes_max: bound("maskBytesMax", maskBytesMax),
  });
  return cancel ? withCancel(config, cancel, call) : call(bytesOf(config));
}

/** The bound as C takes it. There 0 is the default, which a caller who writes 0 does not mean. */
function bound(name: string, value: number | undefined, max: number = Number.MAX_SAFE_INTEGER): number {
  return value === undefined ? 0 : checkInteger(value, name, 1, max);
}

function withCancel<T>(config: DataView, cancel: () => boolean, call: (config: Uint8Array) => T): T {
  let thrown: { error: unknown } | null = null;
  const ask = (): number => {
    try {
      return cancel() ? 1 : 0;
    } catch (error) {
      thrown = { error };
      return 1;
    }
  };
  const callback = new JSCallback(ask, { args: [FFIType.ptr], returns: FFIType.i32 });
  try {
    writeStruct(eliza_compile_config_t, config, { cancel: Number(callback.ptr) });
    return call(bytesOf(config));
  } catch (error) {
    throw thrown ? (thrown as { error: unknown }).error : error;
  } finally {
    callback.close();
  }
}
