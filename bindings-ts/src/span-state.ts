/** The span of a matcher or of a stream. */
import { eliza_span_state_t } from "./abi.generated";
import { readStruct } from "./structs";

export interface SpanState {
  /** A span is open. */
  active: boolean;
  /** Index of the active descriptor, -1 outside a span. */
  descriptor: number;
  /** True outside a span and where a leaf is complete. */
  canStop: boolean;
  /** The next token is restricted. */
  constrained: boolean;
  /** Legal next tokens if constrained, else 0. */
  nAllowed: number;
  /** Tokens accepted in the open span. */
  spanTokens: number;
  /** Descriptor of `leaf`, or -1. */
  leafDescriptor: number;
  /** Index in the payload of the leaf that is complete here, or, outside a span, that the last span ended with; -1: none. */
  leaf: number;
  /** Counters since creation or reset. */
  spansStarted: number;
  /** Timeouts, refusals and deactivations included. */
  spansEnded: number;
  timeouts: number;
  /** Spans that an illegal token ended; a matcher refuses such tokens instead. */
  illegal: number;
}

export function readSpanState(view: DataView): SpanState {
  const state = readStruct(eliza_span_state_t, view);
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
