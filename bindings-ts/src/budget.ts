/** What compiling a recognizer may take. */
import { FFIType, JSCallback } from "bun:ffi";
import { eliza_compile_config_t } from "./abi.generated";
import { UINT32_MAX, checkInteger } from "./errors";
import { bytesOf, newStruct, writeStruct } from "./structs";

/** What is absent or 0 is the default. Beyond a bound: ELIZA_ERR_LIMIT, with what was being built. */
export interface Budget {
  /** States of each automaton; 65,535 by default and at most. */
  statesMax?: number | undefined;
  /** Memory taken while compiling; 256 MiB by default. */
  bytesMax?: number | undefined;
  /** Wall-clock milliseconds; no bound by default. */
  msMax?: number | undefined;
  /** Memory of the masks and tables that the constraint keeps; 64 MiB by default. */
  maskBytesMax?: number | undefined;
  /** Called now and then: true cancels (ELIZA_ERR_CANCELLED), and so does throwing, which the call then throws too. */
  cancel?: (() => boolean) | undefined;
}

/** Makes a call with the budget as an `eliza_compile_config_t`, which is valid during the call only. */
export function withBudget<T>(budget: Budget | undefined, call: (config: Uint8Array | null) => T): T {
  if (!budget) return call(null);
  const config = newStruct(eliza_compile_config_t);
  writeStruct(eliza_compile_config_t, config, {
    states_max: checkInteger(budget.statesMax ?? 0, "statesMax", 0, UINT32_MAX),
    bytes_max: checkInteger(budget.bytesMax ?? 0, "bytesMax", 0, Number.MAX_SAFE_INTEGER),
    ms_max: checkInteger(budget.msMax ?? 0, "msMax", 0, Number.MAX_SAFE_INTEGER),
    mask_bytes_max: checkInteger(budget.maskBytesMax ?? 0, "maskBytesMax", 0, Number.MAX_SAFE_INTEGER),
  });
  const { cancel } = budget;
  return cancel ? withCancel(config, cancel, call) : call(bytesOf(config));
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
