/** A logit processor for WebLLM. */

import { checkInstance } from "./arguments.js";
import { Constraint, ConstraintKind } from "./constraint.js";
import { Matcher, type MatcherOptions, Step } from "./matcher.js";
import { accept } from "./transformers-js.js";

/**
 * Constrains the answers of a model in WebLLM, whose `LogitProcessor` it implements: the engine's
 * `logitProcessorRegistry` maps the model's id to it. Each answer is a text of its own; call the engine's `resetChat`
 * after one that was cut off. The vocabulary is that of the model's `tokenizer.json`: see
 * `Vocabulary.fromTokenizerJson`; logits may be wider.
 */
export class WebLlmProcessor {
  readonly #matcher: Matcher;
  readonly #isText: boolean;
  #isOver = false;

  constructor(constraint: Constraint, options: MatcherOptions = {}) {
    this.#isText = checkInstance(constraint, Constraint, "constraint").kind !== ConstraintKind.TOKEN_TRIE;
    this.#matcher = new Matcher(constraint, options);
  }

  /** Masks the logits in place, and returns them. */
  processLogits(logits: Float32Array): Float32Array {
    if (this.#isOver) this.resetState();
    this.#matcher.maskLogits(logits);
    return logits;
  }

  /** Takes the token that was chosen. */
  processSampledToken(token: number): void {
    const step = accept(this.#matcher, token);
    // Outside the spans of a token tree, any text may follow.
    this.#isOver = this.#isText && (step & Step.SPAN_ENDED) !== 0;
  }

  /** Begins a new text. */
  resetState(): void {
    this.#matcher.reset();
    this.#isOver = false;
  }
}
