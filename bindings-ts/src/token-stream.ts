/** One generation of a model, free or constrained. */
import { CString, FFIType, JSCallback } from "bun:ffi";
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
} from "./abi.generated";
import { checkInstance, checkNoMore, checkString, seedBits } from "./arguments";
import { Constraint, ConstraintKind } from "./constraint";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, UINT32_MAX, checkInteger, invalidArgument } from "./errors";
import type { Handle, Library } from "./library";
import type { LlmStreamConfig, LlmStreamStep } from "./llm-stream";
import * as llm from "./llm-stream";
import { OutError, OutSlot, encodeUtf8, readText } from "./memory";
import { Owned } from "./owned";
import { type Payload, payloadBytes } from "./payload";
import { Mode, type SamplingOptions, SamplingStruct } from "./sampling";
import type { SpanConfig } from "./span-config";
import { type SpanState, readSpanState } from "./span-state";
import { bytesOf, newStruct, readStruct } from "./structs";
import { watchingTokenizer } from "./tokenizer";

/** Why the last step was final. */
export const StopReason = {
  /** Not ended. */
  NONE: ELIZA_STOP_NONE,
  END_OF_GENERATION: ELIZA_STOP_END_OF_GENERATION,
  MAX_TOKENS: ELIZA_STOP_MAX_TOKENS,
  SPAN_END: ELIZA_STOP_SPAN_END,
  CALLBACK: ELIZA_STOP_CALLBACK,
  TIME_BUDGET: ELIZA_STOP_TIME_BUDGET,
  CANCELLED: ELIZA_STOP_CANCELLED,
  CONTEXT_FULL: ELIZA_STOP_CONTEXT_FULL,
} as const;

/** Counters of a stream since it was opened or reset. */
export interface StreamStats {
  /** The grammar was switched off: a tree's token that it refuses, or a restored slot. */
  grammarOff: boolean;
  /** Calls of the model for prompts. */
  prefillPasses: number;
  /** Calls of the model for output tokens. */
  forwardPasses: number;
  /** Tokens in all of these calls. */
  decodedTokens: number;
  emittedTokens: number;
  /** Emitted tokens that were chosen from logits. */
  sampledTokens: number;
  /** The other emitted tokens: they needed no logits. */
  forcedTokens: number;
  /** Choices inside a span, the one that ends the generation included. */
  constrainedSteps: number;
  /** Sum over constrained steps of the vocabulary size less the legal tokens. */
  skippedCandidates: number;
  /** Constrained steps in which no legal logit was above -Infinity. */
  fallbacks: number;
  /** Free tokens that the grammar refused, so that the full grammar ran. */
  grammarRejections: number;
  /** Nanoseconds in choosing tokens, forced ones included. */
  sampleNs: number;
  /** Nanoseconds in the model. */
  decodeNs: number;
  /** Tokens in the KV cache. */
  contextTokens: number;
  /** Tokens accepted and not yet decoded. */
  pendingTokens: number;
}

/** `end` and `spanTimeout` are for a Constraint; without `spanTimeout`, a token tree has that of the stream. */
export interface SpanOptions extends SpanConfig {
  /** Opens the span of this descriptor; a tree with one descriptor and no trigger opens by itself. */
  path?: string | undefined;
  /** Mode.GREEDY by default. */
  mode?: number | undefined;
}

export interface StepOptions {
  maxTokens?: number | undefined;
  maxTextBytes?: number | undefined;
}

/**
 * `Model.stream` opens one; it has a KV cache of its own and belongs to one thread. Inside a token callback the settings,
 * `setTokenTrie`, `setConstraint`, their `clear...`, `activate` and `cancel` are allowed and act before the next token;
 * everything that decodes, and `close`, throws ELIZA_ERR_BUSY.
 */
export abstract class TokenStream extends Owned implements Iterable<LlmStreamStep> {
  // Its tokenizer must live as long as the library may call it.
  #constraint: Constraint | null = null;
  #generating = false;
  #stopsAtSpanEnd = false;

  constructor(library: Library, context: Handle, config: LlmStreamConfig) {
    super(library, llm.openStream(library, context, config), "stream", "eliza_inference_llm_stream_close");
  }

  /**
   * One step: at most one forward pass, one chosen token, and the tokens without a choice. A step ends with the token that
   * starts or ends a span. A token whose text does not fit `maxTextBytes` (at least 5) comes with the next step; text that
   * does not fit a whole step comes in parts, in steps without tokens.
   */
  step({ maxTokens, maxTextBytes, ...unknown }: StepOptions = {}): LlmStreamStep {
    checkNoMore(unknown);
    return watchingTokenizer(() => llm.next(this.library, this.handle, maxTokens, maxTextBytes));
  }

  /** Steps until the final one, which comes too, even if it is empty. */
  *[Symbol.iterator](): Generator<LlmStreamStep> {
    for (let done = false; !done; ) {
      const step = this.step();
      done = step.done;
      yield step;
    }
  }

  /**
   * Generates until the end, or until `maxTokens` tokens (0: as the stream was opened with); returns the text. It blocks:
   * see FfiStreamingRunner for generating beside other work. `onToken` receives each token and its text, and stops the
   * generation by returning true or by throwing, which `generate` then throws too.
   */
  generate(
    // biome-ignore lint/suspicious/noConfusingVoidType: most callbacks return nothing
    onToken?: (token: number, text: string) => boolean | void,
    { maxTokens = 0, ...unknown }: { maxTokens?: number | undefined } = {},
  ): string {
    checkNoMore(unknown);
    checkInteger(maxTokens, "maxTokens", INT32_MIN, INT32_MAX);
    const parts: string[] = [];
    let thrown: { error: unknown } | null = null;
    const receive = (token: number, text: Handle): number => {
      try {
        parts.push(CString(text));
        return onToken?.(token, parts[parts.length - 1]!) === true ? 1 : 0;
      } catch (error) {
        thrown = { error };
        return 1;
      }
    };
    const failure = watchingTokenizer(() => this.#runGenerate(maxTokens, receive));
    if (thrown) throw (thrown as { error: unknown }).error;
    if (failure) throw failure;
    return parts.join("");
  }

  /** Makes all later steps throw ELIZA_ERR_CANCELLED until `reset`; in a token callback, the running one too. */
  cancel(): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_cancel(this.handle));
  }

  /**
   * Empties the KV cache and goes back to the state right after opening; a token tree stays set and starts over. `keep`
   * keeps the first tokens of the context.
   */
  reset(keep?: number): void {
    const { symbols } = this.library;
    if (keep === undefined) {
      this.#check(symbols.eliza_inference_llm_stream_reset(this.handle));
    } else {
      checkInteger(keep, "keep", INT32_MIN, INT32_MAX);
      this.#check(symbols.eliza_inference_llm_stream_reset_keep(this.handle, keep));
    }
  }

  /**
   * One of StopReason. `prefill`, `setTokenTrie`, `activate` and `generate` take a finished stream up again, except after the
   * end of generation, which needs `prefill`.
   */
  get stopReason(): number {
    return this.#check(this.library.symbols.eliza_inference_llm_stream_stop_reason(this.handle));
  }

  get stats(): StreamStats {
    const view = newStruct(eliza_llm_stream_stats_t);
    this.#check(this.library.symbols.eliza_inference_llm_stream_stats(this.handle, bytesOf(view)));
    const stats = readStruct(eliza_llm_stream_stats_t, view);
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
    };
  }

  /**
   * Generates one name of a token tree, or a text that a recognizer accepts, and returns it: `span` and `generate` in one.
   * A text may end the generation: then it goes on with `prefill`. ELIZA_ERR_STATE if the generation ended before it was
   * complete, such as by `maxTokens`.
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
   * Constrains the output by a tree, or by a constraint, until the span is disposed, and stops at the end of a span:
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
   * Constrains the stream by a token tree, in place of what constrains it now. Mode.SAMPLED uses the stream's temperature,
   * top-p and seed on the legal tokens alone. If it fails, nothing changed.
   */
  setTokenTrie(payload: Payload, mode: number = Mode.GREEDY): void {
    llm.setTokenTrie(this.library, this.handle, payloadBytes(payload), mode);
    this.#constraint = null;
  }

  /** Removes the token tree: back to the grammar, if there is one. */
  clearTokenTrie(): void {
    llm.clearTokenTrie(this.library, this.handle);
    this.#constraint = null;
  }

  /**
   * Constrains the stream by any constraint, in place of what constrains it now. The constraint's vocabulary must be that of
   * the model: as many tokens, and for a recognizer the same bytes (ELIZA_ERR_MODEL_MISMATCH). If it fails, nothing changed.
   */
  setConstraint(constraint: Constraint, mode: number = Mode.GREEDY, config: SpanConfig = {}): void {
    const { handle } = checkInstance(constraint, Constraint, "constraint");
    llm.setConstraint(this.library, this.handle, handle, mode, config);
    this.#constraint = constraint;
  }

  /** Removes what constrains the stream, a token tree too: back to the grammar, if there is one. */
  clearConstraint(): void {
    llm.clearConstraint(this.library, this.handle);
    this.#constraint = null;
  }

  /** What `setConstraint` set last; null once it was cleared or replaced. */
  get constraint(): Constraint | null {
    return this.#constraint;
  }

  /** Opens a span at the descriptor with this path; an open span starts over. */
  activate(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    this.#check(this.library.symbols.eliza_inference_llm_stream_activate(this.handle, bytes, bytes.length));
  }

  /** The span; all zero, -1 where an index is meant, without a constraint. */
  get state(): SpanState {
    const view = newStruct(eliza_span_state_t);
    this.#check(this.library.symbols.eliza_inference_llm_stream_state(this.handle, bytesOf(view)));
    return readSpanState(view);
  }

  /** The name that is complete here, or, outside a span, that the last span ended with. */
  get leaf(): string | null {
    const name = new OutSlot();
    const length = new OutSlot();
    this.#check(this.library.symbols.eliza_inference_llm_stream_leaf(this.handle, name.view, length.view));
    return name.value === 0 ? null : readText(name.handle, length.value);
  }

  /** The state of the generator that tokens are drawn from (0): an integer of 64 bits. */
  setSeed(seed: number | bigint): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_seed(this.handle, seedBits(seed)));
  }

  setSampling(options: SamplingOptions): void {
    const sampling = new SamplingStruct().fill(Mode.GREEDY, options);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_sampling(this.handle, sampling));
  }

  /** Wall-clock time from the first step after a prompt; 0: none. */
  setTimeBudgetMs(milliseconds: number): void {
    checkInteger(milliseconds, "milliseconds", 0, Number.MAX_SAFE_INTEGER);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_time_budget_ms(this.handle, milliseconds));
  }

  /**
   * Tokens after which a token tree's span that did not end is given up; at least 1. A constraint that was set with a
   * `spanTimeout` keeps it.
   */
  setSpanTimeout(nTokens: number): void {
    checkInteger(nTokens, "nTokens", 0, UINT32_MAX);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_span_timeout(this.handle, nTokens));
  }

  /** Whether the step that ends a span is final (not by default). */
  setStopAtSpanEnd(on: boolean): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_stop_at_span_end(this.handle, on ? 1 : 0));
    this.#stopsAtSpanEnd = on;
  }

  /** Whether tokens without a choice are decoded together (as by default). */
  setSkipAhead(on: boolean): void {
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_skip_ahead(this.handle, on ? 1 : 0));
  }

  /** CPU threads of the model; at least 1. */
  setThreads(nThreads: number): void {
    checkInteger(nThreads, "nThreads", INT32_MIN, INT32_MAX);
    this.#check(this.library.symbols.eliza_inference_llm_stream_set_threads(this.handle, nThreads));
  }

  /** Stores the tokens and the model's state in a file, after decoding what is pending. */
  save(path: string): void {
    llm.saveSlot(this.library, this.handle, path);
  }

  /** Restores them; clears the constraint and switches the grammar off. After a failure the stream is empty and usable. */
  restore(path: string): void {
    this.#constraint = null;
    llm.restoreSlot(this.library, this.handle, path);
  }

  override close(): void {
    if (this.#generating) {
      throw new ElizaInferenceError(ELIZA_ERR_BUSY, "the stream cannot be closed inside a token callback");
    }
    super.close();
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

  #runGenerate(maxTokens: number, receive: (token: number, text: Handle) => number): ElizaInferenceError | null {
    const error = new OutError();
    const callback = new JSCallback(receive, { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 });
    const wasGenerating = this.#generating;
    this.#generating = true;
    try {
      const { eliza_inference_llm_stream_generate: generate } = this.library.symbols;
      const status = generate(this.handle, maxTokens, callback.ptr, null, error.view);
      return status < 0 ? error.take(this.library, status, "the generation failed") : null;
    } finally {
      this.#generating = wasGenerating;
      callback.close();
    }
  }

  #check(status: number): number {
    if (status < 0) throw llm.streamError(this.library, this.handle, status);
    return status;
  }
}

/** What `Stream.span` returns; disposing it removes the constraint. */
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

  /** The name that came out, also after the end; null as long as there is none, and in a recognizer. */
  get leaf(): string | null {
    return this.#active ? this.#stream.leaf : this.#leaf;
  }

  [Symbol.dispose](): void {
    if (!this.#active) return;
    if (!this.#stream.closed) {
      this.#leaf = this.#stream.leaf;
      this.#restore();
    }
    this.#active = false;
  }
}
