/** Follows one output through a constraint, and chooses among the legal tokens. */
import {
  ELIZA_ALLOWED_ALL,
  ELIZA_ALLOWED_BITMAP,
  ELIZA_ERR_BUSY,
  ELIZA_LOGITS_F32,
  ELIZA_STEP_IN_SPAN,
  ELIZA_STEP_REFUSED,
  ELIZA_STEP_SPAN_ENDED,
  ELIZA_STEP_SPAN_STARTED,
  ELIZA_STEP_TIMED_OUT,
  eliza_matcher_info_t,
  eliza_span_state_t,
} from "./abi.generated.js";
import { checkInstance, checkNoMore, checkSeveral, checkString, seedBits, unexpected } from "./arguments.js";
import { bitmapWords, checkBitmap, setBits } from "./bitmap.js";
import { Constraint, ConstraintKind } from "./constraint.js";
import { ElizaInferenceError, UINT32_MAX, checkInteger, invalidArgument } from "./errors.js";
import type { Handle, Symbols } from "./library.js";
import { OutError, OutSlot, checkStatus, encodeUtf8, pointers, readText, readWhole } from "./memory.js";
import { Adopted, Owned } from "./owned.js";
import { Mode, type SamplingOptions, SamplingStruct } from "./sampling.js";
import { type SpanConfig, checkSpanTimeout, withSpanConfig } from "./span-config.js";
import { type SpanState, readSpanState } from "./span-state.js";
import { Struct } from "./structs.js";
import { watchingTokenizer } from "./tokenizer.js";

/** The bits of what `Matcher.accept` returns. 0: the token lies outside any span, and starts none. */
export const Step = {
  /** The token belongs to a span; so does an end token. */
  IN_SPAN: ELIZA_STEP_IN_SPAN,
  /** A span ended: with this token if IN_SPAN is set too, else just before it. */
  SPAN_ENDED: ELIZA_STEP_SPAN_ENDED,
  /** A span is open from the next token on: a trigger fired, or it is the next in order. */
  SPAN_STARTED: ELIZA_STEP_SPAN_STARTED,
  /** The span reached its timeout; SPAN_ENDED is set too. */
  TIMED_OUT: ELIZA_STEP_TIMED_OUT,
  /** The token is not legal here; nothing changed. */
  REFUSED: ELIZA_STEP_REFUSED,
} as const;

/** Options of a matcher. */
export interface MatcherOptions extends SpanConfig {
  /** The seed of `sample`, an integer from 0 to 2^64-1; 0 by default. */
  seed?: number | bigint | undefined;
}

/** What a matcher keeps in memory, and how often it found its masks ready. */
export interface MatcherInfo {
  /** Bytes of memory in all, including those below. */
  retainedBytes: number;
  /** Bytes kept for `rollback`. */
  historyBytes: number;
  /** Bytes of the parser's stacks. */
  stackBytes: number;
  /** Masks found ready. */
  maskHits: number;
  /** Masks that had to be computed. */
  maskMisses: number;
}

/** The state of one output under a constraint. Cheap to make and to clone. */
export class Matcher extends Owned {
  readonly #constraint: Constraint;
  readonly #symbols: Symbols;
  // What the calls of a sampling loop write to, made once.
  readonly #sampling: SamplingStruct;
  readonly #token = new Int32Array(1);

  /**
   * A matcher at the start of an output. Throws ELIZA_ERR_LIMIT if a leaf of the token tree is longer than
   * `spanTimeout`, and ELIZA_ERR_INVALID_ARG if `end` is given for a token tree.
   */
  constructor(constraint: Constraint, options?: MatcherOptions);
  /** @internal */
  constructor(constraint: Constraint, adopted: Adopted);
  constructor(constraint: Constraint, options: MatcherOptions | Adopted = {}) {
    const handle = options instanceof Adopted ? options.handle : createNative(constraint, options);
    super(constraint.library, handle, "matcher", "eliza_inference_matcher_free");
    this.#constraint = constraint;
    this.#symbols = constraint.library.symbols;
    this.#sampling = new SamplingStruct(constraint.library);
    if (options instanceof Adopted) return;
    if (options.seed !== undefined) this.setSeed(options.seed);
  }

  /** @internal */
  get nTokens(): number {
    return this.#constraint.nTokens;
  }

  /**
   * Takes one token and returns a set of Step bits. A token that is not legal here changes nothing and gives
   * Step.REFUSED; an id outside the vocabulary throws ELIZA_ERR_INVALID_ARG.
   */
  accept(token: number): number {
    const handle = this.handle;
    if (typeof token !== "number" || (token | 0) !== token) {
      throw invalidArgument(`token: ${token} is not a 32-bit integer`);
    }
    const result = this.#symbols.eliza_inference_matcher_accept(handle, token);
    if (result < 0) throw this.#error(result);
    return result;
  }

  /**
   * Takes all of these tokens; true if each is legal. If one is not, false, and nothing changed but that the oldest
   * tokens of a history of 65,536 are forgotten.
   */
  acceptTokens(tokens: Iterable<number>): boolean {
    let nAccepted = 0;
    for (const token of checkSeveral(tokens, "tokens", "token ids")) {
      if (this.accept(token) === Step.REFUSED) {
        this.rollback(nAccepted);
        return false;
      }
      nAccepted++;
    }
    return true;
  }

  /** How many of these tokens, from the first on, are legal one after the other. Nothing changes. */
  validateTokens(tokens: Iterable<number>): number {
    using probe = this.clone();
    let nLegal = 0;
    for (const token of checkSeveral(tokens, "tokens", "token ids")) {
      if (probe.accept(token) === Step.REFUSED) break;
      nLegal++;
    }
    return nLegal;
  }

  /**
   * Takes back the last `nTokens` accepted tokens and all that they did. Throws ELIZA_ERR_INVALID_ARG, and changes
   * nothing, if fewer were accepted since the last `reset`, or for more than 65,536.
   */
  rollback(nTokens = 1): void {
    checkInteger(nTokens, "nTokens", 0, Number.MAX_SAFE_INTEGER);
    this.#check(this.#symbols.eliza_inference_matcher_rollback(this.handle, nTokens));
  }

  /** Goes back to the state right after creation, counters included. Seed and timeout stay. */
  reset(): void {
    this.#check(this.#symbols.eliza_inference_matcher_reset(this.handle));
  }

  /** An independent copy, with the position, the rollback history and the state of the random number generator. */
  clone(): Matcher {
    const out = new OutSlot();
    this.#check(this.#symbols.eliza_inference_matcher_clone(this.handle, out.view));
    return new Matcher(this.#constraint, new Adopted(this.library, out.handle));
  }

  /**
   * Opens a span at the descriptor with this path; a span that is open starts over. The path of a recognizer is "".
   * Throws ELIZA_ERR_UNKNOWN_PATH if there is no such descriptor.
   */
  activate(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    this.#check(this.#symbols.eliza_inference_matcher_activate(this.handle, bytes, bytes.length));
  }

  /** Ends an open span without a leaf. Triggers can still open another. */
  deactivate(): void {
    this.#check(this.#symbols.eliza_inference_matcher_deactivate(this.handle));
  }

  /**
   * The legal next tokens, ascending, or null if every token is legal. For a token tree, the array is the library's own
   * memory: do not write to it, nor use it once both the constraint and its matchers are closed (left to the garbage
   * collector, they stay alive as long as the array). For a recognizer, and in WebAssembly, it is a copy; `bitmap`
   * costs less.
   */
  allowed(): Int32Array | null {
    const ids = new OutSlot();
    const count = new OutSlot();
    const form = this.#check(this.#symbols.eliza_inference_matcher_allowed(this.handle, ids.view, count.view));
    if (form === ELIZA_ALLOWED_ALL) return null;
    if (form === ELIZA_ALLOWED_BITMAP) return setBits(this.bitmap()!, count.value);
    if (count.value === 0) return new Int32Array(0);
    const lent = lend(this, ids.handle, count.value);
    return this.#constraint.kind === ConstraintKind.TOKEN_TRIE ? lent : lent.slice();
  }

  /**
   * The legal next tokens as a bitmap (bit i % 32 of word i / 32 is token i), or null where their natural form is a
   * list: then use `allowed`. The array is the library's own memory: do not write to it, nor use it after the next call
   * that changes or closes the matcher. In WebAssembly it is a copy.
   */
  bitmap(): Int32Array | null {
    const words = new OutSlot();
    const count = new OutSlot();
    const form = this.#check(this.#symbols.eliza_inference_matcher_bitmap(this.handle, words.view, count.view));
    return form === ELIZA_ALLOWED_BITMAP ? lend(this, words.handle, count.value) : null;
  }

  /**
   * Writes the legal next tokens to `words` as a bitmap, in the layout of llguidance and XGrammar, and returns `words`.
   * It needs at least ceil(vocabulary size / 32) elements; any beyond become 0. By default it is a new array.
   */
  fillBitmap(words: Int32Array = new Int32Array(bitmapWords(this.nTokens))): Int32Array {
    checkBitmap(words);
    this.#check(this.#symbols.eliza_inference_matcher_fill_bitmap(this.handle, words, words.length));
    return words;
  }

  /**
   * The tokens that must come next. In a token tree: as long as there is one legal token and the output cannot stop. In
   * a recognizer: `forcedBytes` as the vocabulary's tokenizer spells them, up to where a longer token could take their
   * place, plus the end token if only that is legal.
   */
  forced(): Int32Array {
    const { eliza_inference_matcher_forced: forced } = this.#symbols;
    const count = new OutSlot();
    return watchingTokenizer(() =>
      readWhole(
        (length) => new Int32Array(length),
        32,
        (tokens) => {
          this.#check(forced(this.handle, tokens, tokens.length, count.view));
          return count.value;
        },
      ),
    );
  }

  /**
   * The bytes that must come next in a recognizer: as long as only one byte can follow and the text cannot stop. At
   * most 65,536, and fewer if long searches are needed to find them; always empty in a token tree.
   */
  forcedBytes(): Uint8Array {
    const { eliza_inference_matcher_forced_bytes: forcedBytes } = this.#symbols;
    const count = new OutSlot();
    return readWhole(
      (length) => new Uint8Array(length),
      256,
      (bytes) => {
        this.#check(forcedBytes(this.handle, bytes, bytes.length, count.view));
        return count.value;
      },
    );
  }

  /** Whether the output may stop here: outside a span, at a complete leaf, or where the text is complete. */
  get canStop(): boolean {
    return this.#check(this.#symbols.eliza_inference_matcher_can_stop(this.handle)) === 1;
  }

  /**
   * Writes -Infinity, in place, to every logit that is not legal; leaves all as they are if every token is legal.
   * `logits` is at least as long as the vocabulary; what lies beyond the vocabulary is masked too.
   */
  maskLogits(logits: Float32Array): void {
    checkLogits(logits);
    this.#check(this.#symbols.eliza_inference_matcher_mask_logits(this.handle, logits, logits.length));
  }

  /**
   * Chooses one of the legal tokens, without accepting it. `logits` is at least as long as the vocabulary, and is only
   * read. NaN counts as -Infinity; if no legal logit is above that, all legal tokens count as equal. The same logits
   * and seed give the same tokens on every platform.
   */
  sample(logits: Float32Array, mode: number = Mode.GREEDY, options: SamplingOptions = {}): number {
    checkLogits(logits);
    const sampling = this.#sampling.fill(mode, options);
    const token = this.#token;
    this.#check(this.#symbols.eliza_inference_matcher_sample(this.handle, logits, logits.length, sampling, token));
    return token[0]!;
  }

  /** Seeds `sample` with an integer from 0 to 2^64-1. */
  setSeed(seed: number | bigint): void {
    this.#check(this.#symbols.eliza_inference_matcher_set_seed(this.handle, seedBits(seed)));
  }

  /** Ends a span that is still open after `nTokens` tokens, at least 1. Applies to an open span too. */
  setSpanTimeout(nTokens: number): void {
    checkInteger(nTokens, "nTokens", 0, UINT32_MAX);
    this.#check(this.#symbols.eliza_inference_matcher_set_span_timeout(this.handle, nTokens));
  }

  /** The span, and the counters of spans. */
  get state(): SpanState {
    const struct = new Struct(eliza_span_state_t, this.library);
    this.#check(this.#symbols.eliza_inference_matcher_state(this.handle, struct.bytes));
    return readSpanState(struct);
  }

  /** Memory, and how often masks were found ready. */
  get info(): MatcherInfo {
    const struct = new Struct(eliza_matcher_info_t, this.library);
    this.#check(this.#symbols.eliza_inference_matcher_info(this.handle, struct.bytes));
    const info = struct.read();
    return {
      retainedBytes: info.retained_bytes,
      historyBytes: info.history_bytes,
      stackBytes: info.stack_bytes,
      maskHits: info.mask_hits,
      maskMisses: info.mask_misses,
    };
  }

  /**
   * The name that is complete here or, outside a span, the name or the text of a `TokenTreePart` that the last span
   * ended with; null if there is none, and always in a recognizer.
   */
  get leaf(): string | null {
    const name = new OutSlot();
    const length = new OutSlot();
    this.#check(this.#symbols.eliza_inference_matcher_leaf(this.handle, name.view, length.view));
    return name.value === 0 ? null : readText(this.library, name.handle, length.value);
  }

  /** Frees the matcher now. A second call does nothing. Throws ELIZA_ERR_BUSY inside a tokenizer that it asks. */
  override close(): void {
    if (!this.closed && this.#symbols.eliza_inference_matcher_rollback(this.handle, 0) === ELIZA_ERR_BUSY) {
      throw new ElizaInferenceError(ELIZA_ERR_BUSY, "the matcher cannot be closed inside a tokenizer that it asks");
    }
    super.close();
  }

  #check(status: number): number {
    if (status < 0) throw this.#error(status);
    return status;
  }

  #error(status: number): ElizaInferenceError {
    return new ElizaInferenceError(status, this.#symbols.eliza_inference_matcher_last_error(this.handle) ?? "");
  }
}

/**
 * Fills the bitmaps of several matchers of one vocabulary, with up to `nThreads` threads (0: one for each processor),
 * and returns `words`. `words` has equal rows, one for each matcher in order, as `Matcher.fillBitmap` writes them; by
 * default it is a new array. Each matcher may appear only once. If one fails, the others are still filled before the
 * call throws.
 */
export function fillBitmaps(
  matchers: ReadonlyArray<Matcher>,
  words: Int32Array = new Int32Array(matchers.length * bitmapWords(matchers[0]?.nTokens ?? 0)),
  nThreads = 0,
): Int32Array {
  checkBitmap(words);
  checkInteger(nThreads, "nThreads", 0, UINT32_MAX);
  const [first] = matchers;
  if (!first) return words;
  if (new Set(matchers).size !== matchers.length) throw invalidArgument("matchers: one is there twice");
  const nWords = words.length / matchers.length;
  if (!Number.isInteger(nWords)) throw invalidArgument(`words: ${words.length} are no ${matchers.length} rows`);
  const handles = matchers.map((matcher, i) => checkInstance(matcher, Matcher, `matchers[${i}]`).handle);
  const { eliza_inference_matcher_fill_bitmaps: fill } = first.library.symbols;
  checkStatus(fill(pointers(first.library, handles), matchers.length, words, nWords, nThreads), "fillBitmaps");
  return words;
}

/**
 * Writes -Infinity, in place, to every logit that is not legal in rows of a batch, and to those beyond the
 * vocabulary, also where every token is legal. `logits` has rows of `nLogits`, at least as many as the vocabulary has
 * tokens; matcher `i` has the row `rows[i]`, by default `i`, and rows without a matcher stay. Masks that are not ready
 * are computed first, with up to `nThreads` threads (0: one for each processor). Each matcher may appear only once. If
 * one fails, no logit changes.
 */
export function maskRows(
  matchers: ReadonlyArray<Matcher>,
  logits: Float32Array,
  nLogits: number,
  { rows, nThreads = 0, ...unknown }: { rows?: ReadonlyArray<number>; nThreads?: number } = {},
): void {
  checkNoMore(unknown);
  checkLogits(logits);
  checkInteger(nLogits, "nLogits", 1, UINT32_MAX);
  checkInteger(nThreads, "nThreads", 0, UINT32_MAX);
  const [first] = matchers;
  if (!first) return;
  if (new Set(matchers).size !== matchers.length) throw invalidArgument("matchers: one is there twice");
  const nRows = Math.floor(logits.length / nLogits);
  const places = rows ?? [...matchers.keys()];
  if (places.length !== matchers.length)
    throw invalidArgument(`rows: ${places.length} for ${matchers.length} matchers`);
  for (const [i, row] of places.entries()) checkInteger(row, `rows[${i}]`, 0, nRows - 1);
  const handles = matchers.map((matcher, i) => checkInstance(matcher, Matcher, `matchers[${i}]`).handle);
  const { eliza_inference_matcher_mask_rows: mask } = first.library.symbols;
  const [all, of] = [pointers(first.library, handles), Uint32Array.from(places)];
  checkStatus(mask(all, matchers.length, logits, ELIZA_LOGITS_F32, nLogits, nLogits, of, nThreads), "maskRows");
}

/** Keeps a matcher, and so what it keeps, for as long as an array lends its memory. */
const lenders = new WeakMap<Int32Array, Matcher>();

function lend(matcher: Matcher, address: Handle, length: number): Int32Array {
  const view = matcher.library.memory.int32s(address, length);
  lenders.set(view, matcher);
  return view;
}

function createNative(constraint: Constraint, { seed, end, spanTimeout, prefill, ...unknown }: MatcherOptions): Handle {
  checkNoMore(unknown);
  const { library, handle } = checkInstance(constraint, Constraint, "constraint");
  const out = new OutSlot();
  const error = new OutError();
  // Without end tokens as builds without recognizers do it, too.
  const status =
    end || prefill
      ? withSpanConfig(library, { end, spanTimeout, prefill }, (config) =>
          library.symbols.eliza_inference_matcher_create_span(handle, config, out.view, error.view),
        )
      : library.symbols.eliza_inference_matcher_create(handle, checkSpanTimeout(spanTimeout), out.view, error.view);
  if (status < 0) throw error.take(library, status, "the matcher could not be made");
  return out.handle;
}

/** The library reads 4 bytes for each element, so that another kind of array would be read beyond its end. */
function checkLogits(logits: Float32Array): void {
  if (!(logits instanceof Float32Array)) throw unexpected("logits", "a Float32Array", logits);
}
