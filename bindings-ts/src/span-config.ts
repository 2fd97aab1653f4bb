/** How a span ends. */
import { eliza_span_config_t } from "./abi.generated";
import { checkNoMore, tokenIds } from "./arguments";
import { UINT32_MAX, checkInteger } from "./errors";
import { addressOf } from "./memory";
import { bytesOf, newStruct, writeStruct } from "./structs";

export interface SpanConfig {
  /**
   * The tokens that end the span of a recognizer, where its text is complete; by default the tokens that end a generation.
   * None (`[]`): a span that must stop ends by itself, and where it may stop everything is allowed for one token, which
   * goes on with the text if it can, and otherwise is not part of the span and ends it. A token tree has its own in the
   * payload.
   */
  end?: ArrayLike<number> | undefined;
  /** Tokens after which a span that did not end is given up; by default 500 for a token tree, no bound for a recognizer. */
  spanTimeout?: number | undefined;
}

/** Makes a call with an `eliza_span_config_t`, which is valid during the call only. */
export function withSpanConfig<T>({ end, spanTimeout, ...unknown }: SpanConfig, call: (config: Uint8Array) => T): T {
  checkNoMore(unknown);
  const config = newStruct(eliza_span_config_t);
  writeStruct(eliza_span_config_t, config, { span_timeout: checkSpanTimeout(spanTimeout) });
  if (!end) return call(bytesOf(config));
  // None is told from the default by an address, which an empty array would not have.
  const tokens = end.length === 0 ? new Int32Array(1) : tokenIds(end, "end");
  writeStruct(eliza_span_config_t, config, { end: addressOf(tokens), n_end: end.length });
  const lent = [tokens];
  const result = call(bytesOf(config));
  lent.length = 0; // read until here, so that the tokens outlive the call
  return result;
}

/** 0 is the default in C; a caller who writes 0 means something else. */
export function checkSpanTimeout(nTokens: number | undefined): number {
  return nTokens === undefined ? 0 : checkInteger(nTokens, "spanTimeout", 1, UINT32_MAX);
}
