/** How a token is chosen among the legal ones. */
import { ELIZA_MODE_GREEDY, ELIZA_MODE_SAMPLED, eliza_sampling_t } from "./abi.generated";
import { checkNoMore } from "./arguments";
import { INT32_MAX, INT32_MIN, checkInteger } from "./errors";
import { bytesOf, newStruct, writeStruct } from "./structs";

export const Mode = {
  /** The highest logit, of equal ones the smallest id. */
  GREEDY: ELIZA_MODE_GREEDY,
  /** Temperature, then top-p, over the legal tokens; then a draw. */
  SAMPLED: ELIZA_MODE_SAMPLED,
} as const;

export interface SamplingOptions {
  /** 0 or less: greedy. 1 by default. */
  temperature?: number | undefined;
  /** 1 or more: off, the default. */
  topP?: number | undefined;
}

/** A list: gathering the others in an object takes 23 ns, and this is called for each token. */
const OPTION_NAMES: Record<keyof SamplingOptions, true> = { temperature: true, topP: true };

/** An `eliza_sampling_t`, to be used again. */
export class SamplingStruct {
  readonly #view = newStruct(eliza_sampling_t);
  readonly #bytes = bytesOf(this.#view);

  /** The struct as an argument of a call, until the next `fill`. */
  fill(mode: number, options: SamplingOptions): Uint8Array {
    checkNoMore(options, OPTION_NAMES);
    const { temperature = 1, topP = 1 } = options;
    checkInteger(mode, "mode", INT32_MIN, INT32_MAX);
    writeStruct(eliza_sampling_t, this.#view, { mode, temperature, top_p: topP });
    return this.#bytes;
  }
}
