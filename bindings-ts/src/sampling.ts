/** How a token is chosen from the legal ones. */
import { ELIZA_MODE_GREEDY, ELIZA_MODE_SAMPLED, eliza_sampling_t } from "./abi.generated.js";
import { checkNoMore } from "./arguments.js";
import { INT32_MAX, INT32_MIN, checkInteger } from "./errors.js";
import type { Library } from "./library.js";
import { Struct } from "./structs.js";

/** How to choose a token. */
export const Mode = {
  /** The highest logit; among equals, the smallest id. */
  GREEDY: ELIZA_MODE_GREEDY,
  /** A draw from the legal tokens, after temperature and top-p. */
  SAMPLED: ELIZA_MODE_SAMPLED,
} as const;

/** Options of Mode.SAMPLED. */
export interface SamplingOptions {
  /** Finite; 1 by default, 0 or less is greedy. */
  temperature?: number | undefined;
  /** Keeps the most likely tokens until their share reaches this; 1 or more, the default, or 0 or less keeps all. */
  topP?: number | undefined;
}

/** A constant, since gathering unknown options in an object takes 23 ns, for each token. */
const OPTION_NAMES: Record<keyof SamplingOptions, true> = { temperature: true, topP: true };

/** A reusable `eliza_sampling_t`. */
export class SamplingStruct {
  readonly #struct: Struct<typeof eliza_sampling_t>;

  constructor(library: Library) {
    this.#struct = new Struct(eliza_sampling_t, library);
  }

  /** The struct as an argument of a call, valid until the next `fill`. */
  fill(mode: number, options: SamplingOptions): Uint8Array {
    checkNoMore(options, OPTION_NAMES);
    const { temperature = 1, topP = 1 } = options;
    checkInteger(mode, "mode", INT32_MIN, INT32_MAX);
    this.#struct.write({ mode, temperature, top_p: topP });
    return this.#struct.bytes;
  }
}
