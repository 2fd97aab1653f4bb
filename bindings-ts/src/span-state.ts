/** The span of a matcher or of a stream. */
import type { eliza_span_state_t } from "./abi.generated.js";
import type { Struct } from "./structs.js";

/** The span of a matcher or stream, and the counters of its spans. */
export interface SpanState {
  /** Whether a span is open. */
  active: boolean;
  /** Index of the active descriptor, -1 outside a span. */
  descriptor: number;
  /** Whether the output may stop here: outside a span, at a complete leaf, or where the text is complete. */
  canStop: boolean;
  /** Whether the next token is restricted. */
  constrained: boolean;
  /** Legal next tokens, if constrained; else 0. */
  nAllowed: number;
  /** Tokens accepted in the open span. */
  spanTokens: number;
  /** Index of the descriptor of `leaf`, or of the text that the last span ended with; -1 if there is none. */
  leafDescriptor: number;
  /**
   * Index, in the payload, of the leaf that is complete here or, outside a span, that the last span ended with; -1 if
   * there is none, or a text.
   */
  leaf: number;
  /** Spans opened since creation or reset. */
  spansStarted: number;
  /** Spans ended since then, by whatever cause. */
  spansEnded: number;
  /** Spans that reached their timeout. */
  timeouts: number;
  /** Spans that an illegal token ended. A matcher refuses such a token instead. */
  illegal: number;
}

export function readSpanState(struct: Struct<typeof eliza_span_state_t>): SpanState {
  const state = struct.read();
  return {
    active: state.active === 1,
    descriptor: state.descriptor,
    canStop: state.can_stop === 1,
    constrained: state.constrained === 1,
    nAllowed: state.n_allowed,
    spanTokens: state.span_tokens,
    leafDescriptor: state.leaf_descriptor,
    leaf: state.leaf,
    spansStarted: state.spans_started,
    spansEnded: state.spans_ended,
    timeouts: state.timeouts,
    illegal: state.illegal,
  };
}
