/** One generation over tokens, free or constrained. */
import {
  ELIZA_ERR_BUSY,
  ELIZA_ERR_STATE,
  ELIZA_STOP_CALLBACK,
  ELIZA_STOP_CANCELLED,
  ELIZA_STOP_CONTEXT_FULL,
  ELIZA_STOP_END_OF_GENERATION,
  ELIZA_STOP_MAX_TOKENS,
  ELIZA_STOP_NONE,
  ELIZA_STOP_SPAN_END,
  ELIZA_STOP_TIME_BUDGET,
  eliza_llm_stream_stats_t,
  eliza_span_state_t,
} from "./abi.generated.js";
import { checkInstance, checkNoMore, checkString, seedBits } from "./arguments.js";
import { withCallback } from "./callbacks.js";
import { Constraint, ConstraintKind } from "./constraint.js";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, UINT32_MAX, checkInteger, invalidArgument } from "./errors.js";
import { type Handle, type Library, hasSymbols } from "./library.js";
import type { LlmStreamConfig, LlmStreamStep } from "./llm-stream.js";
import * as llm from "./llm-stream.js";
import { OutError, OutSlot, encodeUtf8, readText } from "./memory.js";
import { Owned } from "./owned.js";
import { type Payload, payloadBytes } from "./payload.js";
import { Mode, type SamplingOptions, SamplingStruct } from "./sampling.js";
import type { SpanConfig } from "./span-config.js";
import { type SpanState, readSpanState } from "./span-state.js";
import { Struct } from "./structs.js";
import { watchingTokenizer } from "./tokenizer.js";

/** Why a generation ended: values of `Stream.stopReason`. */
export const StopReason = {
  /** It has not ended. */
  NONE: ELIZA_STOP_NONE,
  /** The model produced a token that ends the generation. */
  END_OF_GENERATION: ELIZA_STOP_END_OF_GENERATION,
  /** `maxTokens` were emitted. */
  MAX_TOKENS: ELIZA_STOP_MAX_TOKENS,
  /** A span ended, and the stream stops at the end of a span. */
  SPAN_END: ELIZA_STOP_SPAN_END,
  /** A token callback returned true or threw. */
  CALLBACK: ELIZA_STOP_CALLBACK,
  /** The time budget ran out. */
  TIME_BUDGET: ELIZA_STOP_TIME_BUDGET,
  /** `cancel` was called. */
  CANCELLED: ELIZA_STOP_CANCELLED,
  /** The KV cache is full. */
  CONTEXT_FULL: ELIZA_STOP_CONTEXT_FULL,
} as const;

/** Counters of a stream since it was opened or reset. */
export interface StreamStats {
  /** Whether the grammar was switched off: a token tree emitted a token that it refuses, or a file was restored. */
  grammarOff: boolean;
  /** Calls of the model for prompts. */
  prefillPasses: number;
  /** Calls of the model for output tokens. */
  forwardPasses: number;
  /** Tokens decoded in all of these calls. */
  decodedTokens: number;
  /** Output tokens. */
  emittedTokens: number;
  /** Output tokens chosen from logits. */
  sampledTokens: number;
  /** The other output tokens, which needed no logits. */
  forcedTokens: number;
  /** Choices inside a span, including the one that ends the generation. */
  constrainedSteps: number;
  /** The tokens ruled out, summed over the constrained steps. */
  skippedCandidates: number;
  /** Constrained steps in which no legal logit was above -Infinity. */
  fallbacks: number;
  /** Tokens outside spans that the grammar refused, so that the whole vocabulary had to be checked. */
  grammarRejections: number;
  /** Nanoseconds spent choosing tokens, forced ones included. */
  sampleNs: number;
  /** Nanoseconds spent in the model. */
  decodeNs: number;
  /** Tokens in the KV cache. */
  contextTokens: number;
  /** Tokens accepted but not yet decoded. */
  pendingTokens: number;
  /** Tokens that were drafted. */
  draftedTokens: number;
  /** Those of them that came out. */
  acceptedDrafts: number;
  /** Choices that took no pass, since a draft had left the logits. */
  savedPasses: number;
  /** Calls of the drafting model. */
  drafterPasses: number;
}

/**
 * Options of `Stream.span`. `end` and `spanTimeout` need a Constraint: a payload has end tokens of its own, and the
 * timeout is that of the stream.
 */
export interface SpanOptions extends SpanConfig {
  /** Opens the span of the descriptor with this path. Without triggers, spans open by themselves, in order. */
  path?: string | undefined;
  /** One of Mode; Mode.SAMPLED by default, which is greedy at a temperature of 0 or less. */
  mode?: number | undefined;
}

/** How much one step may return. */
export interface StepOptions {
  /** Tokens, at least 1; 32 by default. */
  maxTokens?: number | undefined;
  /** Bytes of UTF-8 text including a terminator, at least 5; 1024 by default. */
  maxTextBytes?: number | undefined;
}

/** What a stream does with tokens alone; `Stream` adds the model and its text. */
export abstract class TokenStream extends Owned implements Iterable<LlmStreamStep> {
  // Its tokenizer must live as long as the library may call it.
  #constraint: Constraint | null = null;
  #generating = false;
  #stopsAtSpanEnd = false;

  /** Opens a stream on the context of a model. */
  constructor(library: Library, context: Handle, config: LlmStreamConfig) {
    super(library, llm.openStream(library, context, config), "stream", "eliza_inference_llm_stream_close");
  }

  /**
   * One step: at most one forward pass and one chosen token, plus the forced tokens before and after it and those that
   * were drafted rightly. A step ends with a token that starts or ends a span. A token whose text no longer fits
   * `maxTextBytes` comes with the next step; if its text alone does not fit, the text comes in parts, in steps without
   * tokens but the last. Throws ELIZA_ERR_STATE before the first `prefill`.
   */
  step({ maxTokens, maxTextBytes, ...unknown }: StepOptions = {}): LlmStreamStep {
    checkNoMore(unknown);
    return watchingTokenizer(() => llm.next(this.library, this.handle, maxTokens, maxTextBytes));
  }

  /** Iterates over steps up to and including the final one, which may be empty. */
  *[Symbol.iterator](): Generator<LlmStreamStep> {
    for (let done = false; !done; ) {
      const step = this.step();
      done = step.done;
      yield step;
    }
  }

  /**
   * Generates until the end, or until `maxTokens` tokens (0: as the stream was opened with), and returns the text. It
   * blocks; FfiStreamingRunner generates beside other work. `onToken` receives each token and its text, and stops the
   * generation by returning true, or by throwing: `generate` then throws the same.
   */
  generate(
    // biome-ignore lint/suspicious/noConfusingVoidType: most callbacks return nothing
    onToken?: (token: number, text: string) => boolean | void,
    { maxTokens = 0, ...unknown }: { maxTokens?: number | undefined } = {},
  ): string {
    checkNoMore(unknown);
    checkInteger(maxTokens, "maxTokens", INT32_MIN, INT32_MAX);
    const parts: string[] = [];
    const receive = (token: number, text: string): boolean => {
      parts.push(text);
      return onToken?.(token, text) === true;
    };
    watchingTokenizer(() => this.#runGenerate(maxTokens, receive));
    return parts.join("");
  }

  /**
   * Makes every later step throw ELIZA_ERR_CANCELLED until `reset`; inside a token callback, the running generation
   * too.
   */
  cancel(): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_cancel(this.handle));
  }

  /**
   * Empties the KV cache, or keeps the first `keep` tokens of it, and goes back to the state right after opening.
   * Returns how many tokens it kept: `keep`, or all if there are fewer. Settings and constraint stay; the constraint
   * starts over.
   */
  reset(keep?: number): number {
    const { symbols } = this.library;
    if (keep === undefined) return this.#check(symbols.eliza_inference_llm_stream_reset(this.handle));
    checkInteger(keep, "keep", INT32_MIN, INT32_MAX);
    return this.#check(symbols.eliza_inference_llm_stream_reset_keep(this.handle, keep));
  }

  /**
   * Why the generation ended: one of StopReason. `prefill`, `setTokenTrie`, `setConstraint`, `activate` and `generate`
   * resume a finished stream, but after the end of generation only `prefill` does.
   */
  get stopReason(): number {
    return this.#check(this.library.symbols.eliza_inference_llm_stream_stop_reason(this.handle));
  }

  /** Counters since the stream was opened or reset. */
  get stats(): StreamStats {
    const struct = new Struct(eliza_llm_stream_stats_t, this.library);
    this.#check(this.library.symbols.eliza_inference_llm_stream_stats(this.handle, struct.bytes));
    const stats = struct.read();
    return {
      grammarOff: stats.grammar_off === 1,
      prefillPasses: stats.prefill_passes,
      forwardPasses: stats.forward_passes,
      decodedTokens: stats.decoded_tokens,
      emittedTokens: stats.emitted_tokens,
      sampledTokens: stats.sampled_tokens,
      forcedTokens: stats.forced_tokens,
      constrainedSteps: stats.constrained_steps,
      skippedCandidates: stats.skipped_candidates,
      fallbacks: stats.fallbacks,
      grammarRejections: stats.grammar_rejections,
      sampleNs: stats.sample_ns,
      decodeNs: stats.decode_ns,
      contextTokens: stats.context_tokens,
      pendingTokens: stats.pending_tokens,
      draftedTokens: stats.drafted_tokens,
      acceptedDrafts: stats.accepted_drafts,
      savedPasses: stats.saved_passes,
      drafterPasses: stats.drafter_passes,
    };
  }

  /**
   * Generates one name of a token tree, or a text that a recognizer accepts, and returns it: `span` and `generate` in
   * one. A text may end the generation; `prefill` then resumes it. Throws ELIZA_ERR_STATE if the generation ends too
   * early, such as by `maxTokens`.
   */
  choose(
    constraint: Payload | Constraint,
    { path, mode, ...unknown }: Pick<SpanOptions, "path" | "mode"> = {},
  ): string {
    checkNoMore(unknown);
    const isText = constraint instanceof Constraint && constraint.kind !== ConstraintKind.TOKEN_TRIE;
    using span = this.span(constraint, { path, mode });
    const text = this.generate();
    if (!isText && span.leaf !== null) return span.leaf;
    if (isText && this.state.canStop) return text;
    const { stopReason } = this;
    const reason = Object.entries(StopReason).find(([, value]) => value === stopReason)?.[0];
    const what = isText ? "text" : "name";
    throw new ElizaInferenceError(ELIZA_ERR_STATE, `no ${what} was complete when the generation ended: ${reason}`);
  }

  /**
   * Constrains the output by a token tree or a constraint until the span is disposed of, and stops at the end of a
   * span:
   *
   *     using span = stream.span(payload, { path: "action" });
   *     stream.generate();
   *     console.log(span.leaf);
   *
   * Spans do not nest.
   */
  span(constraint: Payload | Constraint, { path, mode, ...config }: SpanOptions = {}): Span {
    this.#constrain(constraint, mode, config);
    try {
      if (path !== undefined) this.activate(path);
      const stoppedBefore = this.#stopsAtSpanEnd;
      this.setStopAtSpanEnd(true);
      return new Span(this, () => {
        this.#unconstrain();
        this.setStopAtSpanEnd(stoppedBefore);
      });
    } catch (error) {
      this.#unconstrain();
      throw error;
    }
  }

  /**
   * Constrains the stream by a token tree, in place of any constraint so far. Mode.SAMPLED draws from the legal tokens
   * with the temperature (0 or less: greedy), top-p and seed of the stream; Mode.GREEDY takes the likeliest of them
   * whatever the temperature. If it throws, nothing has changed.
   */
  setTokenTrie(payload: Payload, mode: number = Mode.SAMPLED): void {
    llm.setTokenTrie(this.library, this.handle, payloadBytes(payload), mode);
    this.#constraint = null;
  }

  /** Removes the token tree; the grammar, if there is one, applies again. */
  clearTokenTrie(): void {
    llm.clearTokenTrie(this.library, this.handle);
    this.#constraint = null;
  }

  /**
   * Constrains the stream by a constraint, in place of any so far. Throws ELIZA_ERR_MODEL_MISMATCH if its vocabulary is
   * not that of the model: it needs as many tokens and, for a recognizer, the same bytes. If it throws, nothing has
   * changed.
   */
  setConstraint(constraint: Constraint, mode: number = Mode.SAMPLED, config: SpanConfig = {}): void {
    const { handle } = checkInstance(constraint, Constraint, "constraint");
    llm.setConstraint(this.library, this.handle, handle, mode, config);
    this.#constraint = constraint;
  }

  /** Removes the constraint or token tree; the grammar, if there is one, applies again. */
  clearConstraint(): void {
    llm.clearConstraint(this.library, this.handle);
    this.#constraint = null;
  }

  /** The constraint that `setConstraint` set; null once it is cleared or replaced. */
  get constraint(): Constraint | null {
    return this.#constraint;
  }

  /**
   * Opens a span at the descriptor with this path; a span that is open starts over. Throws ELIZA_ERR_STATE without a
   * constraint, and ELIZA_ERR_UNKNOWN_PATH if there is no such descriptor.
   */
  activate(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    this.#check(this.library.symbols.eliza_inference_llm_stream_activate(this.handle, bytes, bytes.length));
  }

  /** The span, and the counters of spans. Without a constraint all is 0 or false, and indices are -1. */
  get state(): SpanState {
    const struct = new Struct(eliza_span_state_t, this.library);
    this.#check(this.library.symbols.eliza_inference_llm_stream_state(this.handle, struct.bytes));
    return readSpanState(struct);
  }

  /**
   * The name that is complete here or, outside a span, the name or the text of a `TokenTreePart` that the last span
   * ended with; null if there is none.
   */
  get leaf(): string | null {
    const name = new OutSlot();
    const length = new OutSlot();
    this.#check(this.library.symbols.eliza_inference_llm_stream_leaf(this.handle, name.view, length.view));
    return name.value === 0 ? null : readText(this.library, name.handle, length.value);
  }

  /** Seeds the choice of tokens with an integer from 0 to 2^64-1; 0 by default. */
  setSeed(seed: number | bigint): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_seed(this.handle, seedBits(seed)));
  }

  /** Changes the temperature and top-p that the stream was opened with. */
  setSampling(options: SamplingOptions): void {
    const sampling = new SamplingStruct(this.library).fill(Mode.GREEDY, options);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_sampling(this.handle, sampling));
  }

  /**
   * Ends the generation this many milliseconds of wall-clock time after the first step that follows a prompt; 0: never.
   */
  setTimeBudgetMs(milliseconds: number): void {
    checkInteger(milliseconds, "milliseconds", 0, Number.MAX_SAFE_INTEGER);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_time_budget_ms(this.handle, milliseconds));
  }

  /**
   * Ends a span of a token tree that is still open after `nTokens` tokens, at least 1; 500 by default. A constraint
   * that was set with a `spanTimeout` keeps it.
   */
  setSpanTimeout(nTokens: number): void {
    checkInteger(nTokens, "nTokens", 0, UINT32_MAX);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_span_timeout(this.handle, nTokens));
  }

  /** Whether the generation stops at the end of a span; it does not by default. */
  setStopAtSpanEnd(on: boolean): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_stop_at_span_end(this.handle, on ? 1 : 0));
    this.#stopsAtSpanEnd = on;
  }

  /** Whether forced tokens are decoded together instead of one by one; they are by default. */
  setSkipAhead(on: boolean): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_skip_ahead(this.handle, on ? 1 : 0));
  }

  /** The number of CPU threads that the model runs on, from 1 to 512. */
  setThreads(nThreads: number): void {
    checkInteger(nThreads, "nThreads", INT32_MIN, INT32_MAX);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_threads(this.handle, nThreads));
  }

  /**
   * Decodes pending tokens, then writes the tokens and the state of the KV cache to a file for `restore`. Throws
   * ELIZA_ERR_IO if it cannot be written.
   */
  save(path: string): void {
    llm.saveSlot(this.library, this.handle, path);
  }

  /**
   * Restores what `save` wrote; removes the constraint and switches the grammar off. Throws ELIZA_ERR_MODEL_MISMATCH if
   * the model, the context size or the type of the KV cache differs. If it throws, the stream is empty but usable.
   */
  restore(path: string): void {
    this.#constraint = null;
    llm.restoreSlot(this.library, this.handle, path);
  }

  /** Closes the stream. Throws ELIZA_ERR_BUSY inside a callback of a call on it. */
  override close(): void {
    if (this.#generating || this.#isBusy()) {
      throw new ElizaInferenceError(ELIZA_ERR_BUSY, "the stream cannot be closed inside a callback of a call on it");
    }
    super.close();
  }

  #isBusy(): boolean {
    const ask = "eliza_inference_llm_stream_set_stop_at_span_end";
    if (this.closed || !hasSymbols(this.library, ask)) return false;
    return this.library.symbols[ask](this.handle, this.#stopsAtSpanEnd ? 1 : 0) === ELIZA_ERR_BUSY;
  }

  #constrain(constraint: Payload | Constraint, mode: number | undefined, config: SpanConfig): void {
    if (constraint instanceof Constraint) return this.setConstraint(constraint, mode, config);
    const { end, spanTimeout, ...unknown } = config;
    checkNoMore(unknown);
    if (end || spanTimeout !== undefined) throw invalidArgument("end and spanTimeout: a token tree has its own");
    this.setTokenTrie(constraint, mode);
  }

  #unconstrain(): void {
    if (this.#constraint) this.clearConstraint();
    else this.clearTokenTrie();
  }

  #runGenerate(maxTokens: number, receive: (token: number, text: string) => boolean): void {
    const error = new OutError();
    const callback = this.library.memory.callback("token");
    const wasGenerating = this.#generating;
    this.#generating = true;
    try {
      const { eliza_inference_llm_stream_generate: generate } = this.library.symbols;
      withCallback("token", receive, true, (userData) => {
        const status = generate(this.handle, maxTokens, callback, userData, error.view);
        if (status < 0) throw error.take(this.library, status, "the generation failed");
      });
    } finally {
      this.#generating = wasGenerating;
    }
  }

  #check(status: number): number {
    if (status < 0) throw llm.streamError(this.library, this.handle, status);
    return status;
  }
}

/** What `Stream.span` returns. Disposing of it removes the constraint. */
export class Span implements Disposable {
  readonly #stream: TokenStream;
  readonly #restore: () => void;
  #leaf: string | null = null;
  #active = true;

  /** @internal */
  constructor(stream: TokenStream, restore: () => void) {
    this.#stream = stream;
    this.#restore = restore;
  }

  /**
   * The name that came out, also once the span is disposed of; null while there is none, and always for a recognizer.
   */
  get leaf(): string | null {
    return this.#active ? this.#stream.leaf : this.#leaf;
  }

  /** Removes the constraint and restores whether the stream stops at the end of a span. */
  [Symbol.dispose](): void {
    if (!this.#active) return;
    if (!this.#stream.closed) {
      this.#leaf = this.#stream.leaf;
      this.#restore();
    }
    this.#active = false;
  }
}
