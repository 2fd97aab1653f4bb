/** Token ids and their bytes, for any engine's logits. */
import {
  ELIZA_ERR_INVALID_ARG,
  ELIZA_TOKEN_END_OF_GENERATION,
  ELIZA_TOKEN_SPECIAL,
  ELIZA_TOKEN_UNUSED,
  eliza_vocab_config_t,
} from "./abi.generated";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, checkInteger, invalidArgument } from "./errors";
import { type Library, loadLibrary } from "./library";
import { OutError, OutSlot, addressOf, copyBytes, encodeUtf8 } from "./memory";
import { Adopted, Owned } from "./owned";
import { bytesOf, newStruct, writeStruct } from "./structs";

/** Bits of a token's flags. */
export const TokenFlag = {
  /** A control token: its text is not output. */
  SPECIAL: ELIZA_TOKEN_SPECIAL,
  END_OF_GENERATION: ELIZA_TOKEN_END_OF_GENERATION,
  /** Never produced. */
  UNUSED: ELIZA_TOKEN_UNUSED,
} as const;

export interface VocabularyOptions {
  /** The bytes of each token. A token tree needs only their number. */
  tokenBytes?: ReadonlyArray<Uint8Array> | undefined;
  /** A set of TokenFlag bits for each token. */
  flags?: ReadonlyArray<number> | Uint8Array | undefined;
  /** Compared with that of a payload if both are known. */
  modelId?: string | undefined;
  library?: Library | undefined;
}

/**
 * The token ids 0 to `size`-1. Immutable; everything is copied. Constraints made from it keep what they need, so it may be
 * closed at any time.
 */
export class Vocabulary extends Owned {
  /** Number of tokens. */
  readonly size: number;

  constructor(nTokens: number, options?: VocabularyOptions);
  /** @internal */
  constructor(adopted: Adopted);
  constructor(source: number | Adopted, options: VocabularyOptions = {}) {
    const { library, handle } = source instanceof Adopted ? source : createNative(source, options);
    super(library, handle, "vocabulary", "eliza_inference_vocab_free");
    this.size = library.symbols.eliza_inference_vocab_size(handle);
  }

  /** The bytes of a token; empty where they are not known. */
  tokenBytes(token: number): Uint8Array {
    const bytes = new OutSlot();
    const length = new OutSlot();
    this.#token(token, bytes.view, length.view, null);
    return copyBytes(bytes.handle, length.value);
  }

  /** The TokenFlag bits of a token. */
  flags(token: number): number {
    const flags = new Uint32Array(1);
    this.#token(token, null, null, flags);
    return flags[0]!;
  }

  #token(token: number, bytes: BigUint64Array | null, length: BigUint64Array | null, flags: Uint32Array | null): void {
    const isInt32 = (token | 0) === token;
    const { symbols } = this.library;
    const status = isInt32
      ? symbols.eliza_inference_vocab_token(this.handle, token, bytes, length, flags)
      : ELIZA_ERR_INVALID_ARG;
    if (status < 0) {
      throw new ElizaInferenceError(status, `token ${token} is not below the vocabulary size ${this.size}`);
    }
  }
}

function createNative(nTokens: number, options: VocabularyOptions): Adopted {
  const { tokenBytes, flags } = options;
  const library = options.library ?? loadLibrary();
  checkInteger(nTokens, "nTokens", INT32_MIN, INT32_MAX);
  for (const [name, values] of Object.entries({ tokenBytes, flags })) {
    if (values && values.length !== nTokens) throw invalidArgument(`${name}: ${values.length} items for ${nTokens} tokens`);
  }
  const lent: NodeJS.TypedArray[] = [];
  const lend = (array: NodeJS.TypedArray): number => {
    lent.push(array);
    return addressOf(array);
  };
  const config = newStruct(eliza_vocab_config_t);
  const modelId = encodeUtf8(options.modelId ?? "");
  writeStruct(eliza_vocab_config_t, config, { n_tokens: nTokens, model_id: lend(modelId), model_id_len: modelId.length });
  if (tokenBytes) {
    const { bytes, offsets } = concatenate(tokenBytes);
    writeStruct(eliza_vocab_config_t, config, { bytes: lend(bytes), offsets: lend(offsets) });
  }
  if (flags) writeStruct(eliza_vocab_config_t, config, { flags: lend(Uint8Array.from(flags)) });
  const out = new OutSlot();
  const error = new OutError();
  const status = library.symbols.eliza_inference_vocab_create(bytesOf(config), out.view, error.view);
  lent.length = 0; // read until here, so that the buffers outlive the call
  if (status < 0) throw error.take(library, status, "the vocabulary could not be made");
  return new Adopted(library, out.handle);
}

function concatenate(tokens: ReadonlyArray<Uint8Array>): { bytes: Uint8Array; offsets: BigUint64Array } {
  const offsets = new BigUint64Array(tokens.length + 1);
  let total = 0;
  tokens.forEach((token, i) => {
    total += token.length;
    offsets[i + 1] = BigInt(total);
  });
  const bytes = new Uint8Array(total);
  tokens.forEach((token, i) => bytes.set(token, Number(offsets[i])));
  return { bytes, offsets };
}
