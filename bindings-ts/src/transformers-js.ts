/** A logits processor for transformers.js. */

import { ELIZA_ERR_STATE } from "./abi.generated.js";
import { type Constraint, ConstraintKind } from "./constraint.js";
import { ElizaInferenceError, invalidArgument } from "./errors.js";
import { Matcher, type MatcherOptions, Step } from "./matcher.js";

/** What the processor reads of a tensor of transformers.js: rows of logits, one for each sequence. */
export interface LogitsTensor {
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** A function, as `LogitsProcessorList.push` takes one. */
export interface TransformersProcessor {
  <T extends LogitsTensor>(inputIds: readonly (readonly bigint[])[], logits: T): T;
  _call<T extends LogitsTensor>(inputIds: readonly (readonly bigint[])[], logits: T): T;
  /** Forgets the texts so far: the next call begins others. A call with another prompt does so by itself. */
  reset(): void;
}

/**
 * Constrains what follows the prompt in each sequence of a batch: the argument `logits_processor` of a model's
 * `generate` in transformers.js is a LogitsProcessorList with it. The vocabulary is that of the tokenizer: see
 * `Vocabulary.fromTokenizerJson`; logits may be wider.
 */
export function transformersProcessor(constraint: Constraint, options: MatcherOptions = {}): TransformersProcessor {
  let rows: Row[] = [];
  const process = <T extends LogitsTensor>(inputIds: readonly (readonly bigint[])[], logits: T): T => {
    const { data, dims } = logits;
    if (!(data instanceof Float32Array)) throw invalidArgument("logits: expected float32");
    const width = dims[dims.length - 1]!;
    if (rows.length !== inputIds.length || !rows.every((row, i) => row.continues(inputIds[i]!))) {
      rows = inputIds.map((ids) => new Row(constraint, options, ids));
    }
    for (const [i, row] of rows.entries()) {
      row.follow(inputIds[i]!);
      row.mask(data.subarray(i * width, (i + 1) * width));
    }
    return logits;
  };
  const reset = (): void => {
    rows = [];
  };
  return Object.assign(process, { _call: process, reset });
}

/** One sequence: its prompt, and the tokens after it that the matcher has taken. */
class Row {
  readonly matcher: Matcher;
  readonly #isText: boolean;
  readonly #prompt: readonly bigint[];
  readonly #taken: bigint[] = [];
  /** How many of them there were when a text was over, with the token that ended it. */
  #nOver = Number.POSITIVE_INFINITY;

  constructor(constraint: Constraint, options: MatcherOptions, prompt: readonly bigint[]) {
    this.matcher = new Matcher(constraint, options);
    this.#isText = constraint.kind !== ConstraintKind.TOKEN_TRIE;
    this.#prompt = prompt.slice();
  }

  /** Whether these ids are the prompt with something after it. The very same prompt begins a new text. */
  continues(ids: readonly bigint[]): boolean {
    return ids.length > this.#prompt.length && this.#prompt.every((id, i) => ids[i] === id);
  }

  /** Brings the matcher to the end of the ids: back to where they differ from what it took, then on. */
  follow(ids: readonly bigint[]): void {
    const texts = ids.slice(this.#prompt.length);
    let common = 0;
    while (common < this.#taken.length && this.#taken[common] === texts[common]) common++;
    this.matcher.rollback(this.#taken.length - common);
    this.#taken.length = common;
    if (common < this.#nOver) this.#nOver = Number.POSITIVE_INFINITY;
    for (const id of texts.slice(common)) {
      const step = accept(this.matcher, Number(id));
      this.#taken.push(id);
      if (this.#isText && (step & OVER) === OVER) this.#nOver = Math.min(this.#nOver, this.#taken.length);
    }
  }

  /** A row that is over continues while others are not: with the token that ended it. */
  mask(logits: Float32Array): void {
    const end = this.#taken[this.#nOver - 1];
    if (end === undefined) this.matcher.maskLogits(logits);
    else logits.fill(Number.NEGATIVE_INFINITY).fill(0, Number(end), Number(end) + 1);
  }
}

/** The span ended, with a token that belongs to it. */
const OVER = Step.IN_SPAN | Step.SPAN_ENDED;

/** Takes a token that was chosen from what the mask left. */
export function accept(matcher: Matcher, token: number): number {
  const step = matcher.accept(token);
  if (step !== Step.REFUSED) return step;
  throw new ElizaInferenceError(
    ELIZA_ERR_STATE,
    `token ${token} was chosen, but is not legal: did something unmask it?`,
  );
}
