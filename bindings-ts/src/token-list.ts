/** The tokens of a vocabulary as a tokenizer's file lists them: in any order, with gaps. */
import {
  ELIZA_ERR_FILE_INVALID,
  ELIZA_TOKEN_END_OF_GENERATION,
  ELIZA_TOKEN_SPECIAL,
  ELIZA_TOKEN_UNUSED,
} from "./abi.generated.js";
import { checkNoMore } from "./arguments.js";
import { ElizaInferenceError, INT32_MAX, checkInteger, invalidArgument } from "./errors.js";

/** What a tokenizer's file does not say of its tokens. */
export interface TokenListOptions {
  /** The length of the model's logits, if padded; by default the highest id + 1. */
  nTokens?: number | undefined;
  /**
   * The tokens that end a generation: ids, or the text of special tokens. By default, the special tokens with a usual
   * text for it, such as `</s>` or `<|im_end|>`.
   */
  endOfGeneration?: ReadonlyArray<number | string> | undefined;
}

/** The highest token id: a vocabulary has at most 16,777,215 tokens. */
const TOKEN_ID_MAX = 0xfffffe;

const END_OF_GENERATION_NAMES = new Set([
  "</s>",
  "<EOT>",
  "<end_of_turn>",
  "<end_of_utterance>",
  "<eos>",
  "<|END_OF_TURN_TOKEN|>",
  "<|call|>",
  "<|end_of_text|>",
  "<|endoftext|>",
  "<|end|>",
  "<|eom_id|>",
  "<|eot_id|>",
  "<|eot|>",
  "<|im_end|>",
  "<|return|>",
  "<turn|>",
  "<\uff5cend\u2581of\u2581sentence\uff5c>",
  "[EOS]",
  "[EOT]",
]);

/** Collects tokens; its errors name the source and the place in it. */
export class TokenList {
  readonly #source: string;
  readonly #bytes: Uint8Array[] = [];
  readonly #special: [text: string, id: number][] = [];
  readonly #replaced = new Set<number>();

  /** Messages begin with `source`. */
  constructor(source: string) {
    this.#source = source;
  }

  /** Adds a token. Throws if the id is taken, or is no token id. */
  add(id: unknown, bytes: Uint8Array, place: string): void {
    if (this.#bytes[this.#checkId(id, place)]) throw this.error(place, `${id} is the id of two tokens`);
    this.#bytes[id as number] = bytes;
  }

  /** Adds a token in place of one that `add` may have added. */
  replace(id: unknown, bytes: Uint8Array, place: string): void {
    const checked = this.#checkId(id, place);
    if (!this.#replaced.has(checked)) delete this.#bytes[checked];
    this.#replaced.add(checked);
    this.add(id, bytes, place);
  }

  /** Makes a token special: its text is not part of the output. */
  markSpecial(id: number, text: string): void {
    this.#special.push([text, id]);
  }

  /** The bytes and flags of all ids from 0 on. Ids without a token are unused. */
  finish(options: TokenListOptions): { tokenBytes: Uint8Array[]; flags: Uint8Array } {
    const { nTokens, endOfGeneration, ...unknown } = options;
    checkNoMore(unknown);
    const { length } = this.#bytes;
    if (length === 0) throw this.error("", "no tokens");
    const size = nTokens === undefined ? length : checkInteger(nTokens, "nTokens", 1, INT32_MAX);
    if (size < length) throw invalidArgument(`nTokens: ${size} is less than the ${length} tokens of ${this.#source}`);
    const flags = Uint8Array.from({ length: size }, (_, id) => (this.#bytes[id] ? 0 : ELIZA_TOKEN_UNUSED));
    for (const [, id] of this.#special) flags[id]! |= ELIZA_TOKEN_SPECIAL;
    for (const id of this.#endTokens(endOfGeneration)) flags[id]! |= ELIZA_TOKEN_END_OF_GENERATION;
    const none = new Uint8Array(0);
    return { tokenBytes: Array.from({ length: size }, (_, id) => this.#bytes[id] ?? none), flags };
  }

  /** The error at a place of the source; "" for the source as a whole. */
  error(place: string, what: string): ElizaInferenceError {
    const where = place ? `${this.#source}: ${place}` : this.#source;
    return new ElizaInferenceError(ELIZA_ERR_FILE_INVALID, `${where}: ${what}`);
  }

  #checkId(id: unknown, place: string): number {
    if (Number.isInteger(id) && (id as number) >= 0 && (id as number) <= TOKEN_ID_MAX) return id as number;
    throw this.error(place, `${JSON.stringify(id)} is not a token id, an integer from 0 to ${TOKEN_ID_MAX}`);
  }

  #endTokens(given: TokenListOptions["endOfGeneration"]): number[] {
    if (!given) return this.#special.filter(([text]) => END_OF_GENERATION_NAMES.has(text)).map(([, id]) => id);
    return given.flatMap((each) => {
      const ids =
        typeof each === "string" ? this.#special.filter(([text]) => text === each).map(([, id]) => id) : [each];
      if (ids.length > 0 && ids.every((id) => this.#bytes[id])) return ids;
      throw invalidArgument(`endOfGeneration: ${JSON.stringify(each)} is no special token of ${this.#source}`);
    });
  }
}
