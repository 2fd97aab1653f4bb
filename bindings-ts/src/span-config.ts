/** How a span ends. */
import { eliza_span_config_t } from "./abi.generated.js";
import { checkNoMore, tokenIds } from "./arguments.js";
import { UINT32_MAX, checkInteger } from "./errors.js";
import type { Library } from "./library.js";
import { encodeUnicode, lending } from "./memory.js";
import { Struct } from "./structs.js";

/** How the span of a constraint ends. */
export interface SpanConfig {
  /**
   * The tokens that end the span of a recognizer where its text is complete, at most 16; by default the tokens that end
   * a generation. With `[]`, a span ends by itself once its text cannot continue; where it could, any token is allowed:
   * one that cannot continue the text is not part of the span, and ends it. A token tree has its end tokens in the
   * payload.
   */
  end?: ArrayLike<number> | undefined;
  /**
   * What the first tokens of a recognizer spell before its text begins: the end of a prompt, which `Vocabulary.heal`
   * took back. At most 256 bytes.
   */
  prefill?: string | Uint8Array | undefined;
  /**
   * Ends a span that is still open after this many tokens, at least 1. By default 500 for a token tree; no limit for a
   * recognizer.
   */
  spanTimeout?: number | undefined;
}

/** Makes a call with an `eliza_span_config_t`, which is valid during the call only. */
export function withSpanConfig<T>(
  library: Library,
  { end, spanTimeout, prefill = "", ...unknown }: SpanConfig,
  call: (config: Uint8Array) => T,
): T {
  checkNoMore(unknown);
  const config = new Struct(eliza_span_config_t, library);
  config.write({ span_timeout: checkSpanTimeout(spanTimeout) });
  const before = typeof prefill === "string" ? encodeUnicode(prefill, "prefill") : prefill;
  if (!end && before.length === 0) return call(config.bytes);
  return lending(library, (addressOf) => {
    // No end tokens differ from the default by an address, which an empty array does not have.
    if (end) {
      const tokens = end.length === 0 ? new Int32Array(1) : tokenIds(end, "end");
      config.write({ end: addressOf(tokens), n_end: end.length });
    }
    if (before.length > 0) config.write({ prefill: addressOf(before), prefill_len: before.length });
    return call(config.bytes);
  });
}

/** The timeout as C takes it. There 0 is the default, which a caller who writes 0 does not mean. */
export function checkSpanTimeout(nTokens: number | undefined): number {
  return nTokens === undefined ? 0 : checkInteger(nTokens, "spanTimeout", 1, UINT32_MAX);
}
