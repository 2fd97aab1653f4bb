/** Token ids and their bytes, for any engine's logits. */
import {
  ELIZA_ERR_INVALID_ARG,
  ELIZA_TOKEN_END_OF_GENERATION,
  ELIZA_TOKEN_SPECIAL,
  ELIZA_TOKEN_UNUSED,
  eliza_vocab_config_t,
  eliza_vocab_info_t,
} from "./abi.generated";
import { checkNoMore, checkString } from "./arguments";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, checkInteger, invalidArgument } from "./errors";
import { type Library, loadLibrary } from "./library";
import { openContext, readVocabulary, setModelId } from "./llm-context";
import { OutError, OutSlot, addressOf, checkStatus, concatenate, copyBytes, encodeUtf8 } from "./memory";
import { Adopted, Owned } from "./owned";
import { bytesOf, newStruct, readStruct, writeStruct } from "./structs";
import { type TiktokenRanks, readTiktokenRanks } from "./tiktoken";
import type { TokenList, TokenListOptions } from "./token-list";
import { type Tokenize, TokenizerSlot } from "./tokenizer";
import { type TokenizerJson, readTokenizerJson } from "./tokenizer-json";

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

/** What the file of a tokenizer does not say. */
export interface ConverterOptions extends TokenListOptions {
  modelId?: string | undefined;
  library?: Library | undefined;
}

export interface TiktokenOptions extends ConverterOptions {
  /** The ids of the special tokens by their texts. */
  special?: Readonly<Record<string, number>> | undefined;
}

export interface VocabularyInfo {
  nTokens: number;
  /** Of the trie of the token bytes that recognizers walk, the root included; 0: not prepared. */
  nNodes: number;
  /** Tokens with the same bytes as another one. */
  nDuplicates: number;
  /** Bytes without a token of their own: where one of them is the only legal byte, no token may be. */
  missingBytes: number;
  /** Bytes of the longest token. */
  longestToken: number;
  /** Of the token bytes and flags: what saved constraints are compared with. */
  fingerprint: bigint;
  /** Memory kept, mapped files included. */
  retainedBytes: number;
}

/**
 * The token ids 0 to `size`-1. Everything is copied, and nothing but the tokenizer ever changes. Constraints made from it
 * keep what they need, so it may be closed at any time.
 */
export class Vocabulary extends Owned {
  /** Number of tokens. */
  readonly size: number;
  /** @internal */
  readonly tokenizer = new TokenizerSlot();

  constructor(nTokens: number, options?: VocabularyOptions);
  /** @internal */
  constructor(adopted: Adopted);
  constructor(source: number | Adopted, options: VocabularyOptions = {}) {
    const { library, handle } = source instanceof Adopted ? source : createNative(source, options);
    super(library, handle, "vocabulary", "eliza_inference_vocab_free");
    this.size = library.symbols.eliza_inference_vocab_size(handle);
  }

  /** Opens a file that `save` wrote, by mapping it: it must not be changed while the vocabulary lives. */
  static open(
    path: string,
    { library = loadLibrary(), ...unknown }: { library?: Library | undefined } = {},
  ): Vocabulary {
    checkNoMore(unknown);
    const bytes = encodeUtf8(checkString(path, "path"));
    const out = new OutSlot();
    const error = new OutError();
    const status = library.symbols.eliza_inference_vocab_open(bytes, bytes.length, out.view, error.view);
    if (status < 0) throw error.take(library, status, `${path} cannot be opened`);
    return new Vocabulary(new Adopted(library, out.handle));
  }

  /**
   * The vocabulary of a model file (GGUF), with its tokenizer, for which it keeps the model loaded. `save` and `open` give the
   * tokens alone. See also `Model.vocabulary`.
   */
  static fromGguf(
    path: string,
    options: { modelId?: string | undefined; library?: Library | undefined } = {},
  ): Vocabulary {
    const { modelId, library = loadLibrary(), ...unknown } = options;
    checkNoMore(unknown);
    const context = openContext(library, path);
    try {
      if (modelId) setModelId(library, context, modelId);
      return new Vocabulary(new Adopted(library, readVocabulary(library, context)));
    } finally {
      library.symbols.eliza_inference_destroy(context);
    }
  }

  /**
   * The vocabulary of a Hugging Face `tokenizer.json`: its path, its text, or the parsed document. Byte-level and
   * SentencePiece spellings are served; tests/vocabularies/README.md has the rules.
   */
  static fromTokenizerJson(source: string | TokenizerJson, options: ConverterOptions = {}): Vocabulary {
    return fromTokenList(readTokenizerJson(source), options);
  }

  /**
   * The vocabulary of tiktoken ranks: the path or the text of a rank file (lines of base64 and rank), or the ranks by the
   * bytes of their tokens.
   */
  static fromTiktoken(ranks: TiktokenRanks, options: TiktokenOptions = {}): Vocabulary {
    const { special = {}, ...others } = options;
    return fromTokenList(readTiktokenRanks(ranks, special), others);
  }

  /**
   * Builds the trie of bytes that recognizers walk, now instead of at first use. Tokens without bytes, special, end-of-
   * generation and unused tokens are not in it: no text allows them.
   */
  prepare(): void {
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_vocab_prepare(this.handle, error.view);
    if (status < 0) throw error.take(this.library, status, "the vocabulary cannot be prepared");
  }

  /** Sizes, and the fingerprint. */
  get info(): VocabularyInfo {
    const view = newStruct(eliza_vocab_info_t);
    checkStatus(this.library.symbols.eliza_inference_vocab_info(this.handle, bytesOf(view)), "info");
    const info = readStruct(eliza_vocab_info_t, view);
    return {
      nTokens: info.n_tokens,
      nNodes: info.n_nodes,
      nDuplicates: info.n_duplicates,
      missingBytes: info.missing_bytes,
      longestToken: info.longest_token,
      fingerprint: view.getBigUint64(eliza_vocab_info_t.fields.fingerprint.offset, true),
      retainedBytes: info.retained_bytes,
    };
  }

  /** Writes the vocabulary with its trie to a file, for `open`. The tokenizer is not in it. */
  save(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_vocab_save(this.handle, bytes, bytes.length, error.view);
    if (status < 0) throw error.take(this.library, status, `${path} cannot be written`);
  }

  /**
   * Says how the model's tokenizer spells a text, for forced tokens and canonical choices; without one, the longest token
   * first. It serves what was made from this vocabulary before, too. The vocabulary of a model has one. null removes it.
   */
  setTokenizer(tokenize: Tokenize | null): void {
    checkStatus(this.tokenizer.set(this.library, this.handle, tokenize), "setTokenizer");
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

function fromTokenList(list: TokenList, { modelId, library, ...options }: ConverterOptions): Vocabulary {
  const { tokenBytes, flags } = list.finish(options);
  return new Vocabulary(tokenBytes.length, { tokenBytes, flags, modelId, library });
}

function createNative(nTokens: number, options: VocabularyOptions): Adopted {
  const { tokenBytes, flags, modelId: id = "", library = loadLibrary(), ...unknown } = options;
  checkNoMore(unknown);
  checkInteger(nTokens, "nTokens", INT32_MIN, INT32_MAX);
  for (const [name, values] of Object.entries({ tokenBytes, flags })) {
    if (values && values.length !== nTokens) {
      throw invalidArgument(`${name}: ${values.length} items for ${nTokens} tokens`);
    }
  }
  const lent: NodeJS.TypedArray[] = [];
  const lend = (array: NodeJS.TypedArray): number => {
    lent.push(array);
    return addressOf(array);
  };
  const config = newStruct(eliza_vocab_config_t);
  const modelId = encodeUtf8(checkString(id, "modelId"));
  writeStruct(eliza_vocab_config_t, config, {
    n_tokens: nTokens,
    model_id: lend(modelId),
    model_id_len: modelId.length,
  });
  if (tokenBytes) {
    const { bytes, offsets } = concatenate(tokenBytes, "tokenBytes");
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
