/** Token ids and their bytes, for any engine's logits. */
import {
  ELIZA_ERR_INVALID_ARG,
  ELIZA_TOKEN_END_OF_GENERATION,
  ELIZA_TOKEN_SPECIAL,
  ELIZA_TOKEN_UNUSED,
  eliza_vocab_config_t,
  eliza_vocab_info_t,
} from "./abi.generated.js";
import { checkNoMore, checkString, tokenIds } from "./arguments.js";
import { ElizaInferenceError, INT32_MAX, INT32_MIN, checkInteger, invalidArgument } from "./errors.js";
import type { Library } from "./library.js";
import { openContext, readVocabulary, setModelId } from "./llm-context.js";
import { loadLibrary } from "./load.js";
import { OutError, OutSlot, checkStatus, concatenate, encodeUtf8, lending } from "./memory.js";
import { type OpenOptions, openFlags } from "./opening.js";
import { Adopted, Owned } from "./owned.js";
import { Struct } from "./structs.js";
import { type TiktokenRanks, readTiktokenRanks } from "./tiktoken.js";
import type { TokenList, TokenListOptions } from "./token-list.js";
import { type Tokenize, TokenizerSlot } from "./tokenizer.js";
import { type TokenizerJson, readTokenizerJson } from "./tokenizer-json.js";

/** The bits of a token's flags. */
export const TokenFlag = {
  /** A control token: its text is not part of the output. */
  SPECIAL: ELIZA_TOKEN_SPECIAL,
  /** Ends the generation. */
  END_OF_GENERATION: ELIZA_TOKEN_END_OF_GENERATION,
  /** The model never produces it. */
  UNUSED: ELIZA_TOKEN_UNUSED,
} as const;

/** What is known of the tokens besides their number. */
export interface VocabularyOptions {
  /** The bytes of each token, by id; empty where they are unknown. Token trees work without, recognizers need them. */
  tokenBytes?: ReadonlyArray<Uint8Array> | undefined;
  /** The TokenFlag bits of each token, by id; 0 by default. */
  flags?: ReadonlyArray<number> | Uint8Array | undefined;
  /** The name of the model. A payload for another model is refused if both names are known. */
  modelId?: string | undefined;
  /** The native library; `loadLibrary()` by default. */
  library?: Library | undefined;
}

/** What a tokenizer's file does not say. */
export interface ConverterOptions extends TokenListOptions {
  /** As in VocabularyOptions. */
  modelId?: string | undefined;
  /** As in VocabularyOptions. */
  library?: Library | undefined;
}

/** What a file of ranks does not say. */
export interface TiktokenOptions extends ConverterOptions {
  /** The ids of the special tokens, by their text. */
  special?: Readonly<Record<string, number>> | undefined;
}

/** The sizes of a vocabulary. */
export interface VocabularyInfo {
  /** Number of tokens. */
  nTokens: number;
  /** Nodes of the byte trie that recognizers walk, including the root; 0 until it is built. */
  nNodes: number;
  /** Tokens with the same bytes as another token. */
  nDuplicates: number;
  /** Byte values without a token of their own. Where only such a byte is legal, there may be no legal token. */
  missingBytes: number;
  /** Bytes of the longest token. */
  longestToken: number;
  /** A hash of the token bytes and flags, by which a saved constraint recognises its vocabulary. */
  fingerprint: bigint;
  /** Bytes of memory kept, including mapped files. */
  retainedBytes: number;
}

/**
 * The tokens 0 to `size`-1 of a model. It copies all that it is given, and only its tokenizer can change. What is made
 * from it keeps what it needs, so it may be closed at any time.
 */
export class Vocabulary extends Owned {
  /** Number of tokens. */
  readonly size: number;
  /** @internal */
  readonly tokenizer = new TokenizerSlot();

  /**
   * A vocabulary of `nTokens` tokens, at least 1. Throws ELIZA_ERR_INVALID_ARG if a list in the options has another
   * length.
   */
  constructor(nTokens: number, options?: VocabularyOptions);
  /** @internal */
  constructor(adopted: Adopted);
  constructor(source: number | Adopted, options: VocabularyOptions = {}) {
    const { library, handle } = source instanceof Adopted ? source : createNative(source, options);
    super(library, handle, "vocabulary", "eliza_inference_vocab_free");
    this.size = library.symbols.eliza_inference_vocab_size(handle);
  }

  /**
   * Opens a file that `save` wrote. The file is mapped, not read: unless a `copy` is asked for, do not change it while
   * the vocabulary, or what was made from it, is in use. Whoever wrote it, all that it says is checked; not so if it is
   * `trusted`. Throws ELIZA_ERR_FILE_INVALID if it is damaged.
   */
  static open(path: string, options: OpenOptions & { library?: Library | undefined } = {}): Vocabulary {
    const { library = loadLibrary(), trusted, copy, ...unknown } = options;
    checkNoMore(unknown);
    const bytes = encodeUtf8(checkString(path, "path"));
    const out = new OutSlot();
    const error = new OutError();
    const flags = openFlags({ trusted, copy });
    const status = library.symbols.eliza_inference_vocab_open_with(bytes, bytes.length, flags, out.view, error.view);
    if (status < 0) throw error.take(library, status, `${path} cannot be opened`);
    return new Vocabulary(new Adopted(library, out.handle));
  }

  /**
   * The vocabulary of a model file (GGUF), with its tokenizer, for which the model stays loaded; after `save` and
   * `open`, only the tokens are left. For a model that is open, use `Model.vocabulary`.
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
   * The vocabulary of a Hugging Face `tokenizer.json`, given by its path, as text, or parsed. Supports BPE and Unigram
   * models in byte-level and SentencePiece spelling; tests/vocabularies/README.md has the rules. Throws
   * ELIZA_ERR_FILE_INVALID with the place if the file is malformed or of another type.
   */
  static fromTokenizerJson(source: string | TokenizerJson, options: ConverterOptions = {}): Vocabulary {
    return fromTokenList(readTokenizerJson(source), options);
  }

  /**
   * The vocabulary of tiktoken ranks: the path or the text of a rank file (lines of base64 and rank), or pairs of token
   * bytes and rank. Throws ELIZA_ERR_FILE_INVALID with the line if the file is malformed.
   */
  static fromTiktoken(ranks: TiktokenRanks, options: TiktokenOptions = {}): Vocabulary {
    const { special = {}, ...others } = options;
    return fromTokenList(readTiktokenRanks(ranks, special), others);
  }

  /**
   * Builds the byte trie that recognizers walk, now instead of at first use. Tokens without bytes and special,
   * end-of-generation and unused tokens are left out: no text allows them. Throws ELIZA_ERR_INVALID_ARG if the token
   * bytes are unknown.
   */
  prepare(): void {
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_vocab_prepare(this.handle, error.view);
    if (status < 0) throw error.take(this.library, status, "the vocabulary cannot be prepared");
  }

  /** The sizes and the fingerprint. */
  get info(): VocabularyInfo {
    const struct = new Struct(eliza_vocab_info_t, this.library);
    checkStatus(this.library.symbols.eliza_inference_vocab_info(this.handle, struct.bytes), "info");
    const info = struct.read();
    return {
      nTokens: info.n_tokens,
      nNodes: info.n_nodes,
      nDuplicates: info.n_duplicates,
      missingBytes: info.missing_bytes,
      longestToken: info.longest_token,
      fingerprint: struct.bigint("fingerprint"),
      retainedBytes: info.retained_bytes,
    };
  }

  /** Writes the tokens and their byte trie to a file for `open`. The tokenizer is not saved. */
  save(path: string): void {
    const bytes = encodeUtf8(checkString(path, "path"));
    const error = new OutError();
    const status = this.library.symbols.eliza_inference_vocab_save(this.handle, bytes, bytes.length, error.view);
    if (status < 0) throw error.take(this.library, status, `${path} cannot be written`);
  }

  /**
   * Sets how the model's tokenizer spells a text, which forced tokens and canonical choices need; null removes it.
   * Without one, a text is spelled with the longest token first. The change also applies to what was already made from
   * this vocabulary. A model's vocabulary has a tokenizer from the start.
   */
  setTokenizer(tokenize: Tokenize | null): void {
    checkStatus(this.tokenizer.set(this.library, this.handle, tokenize), "setTokenizer");
  }

  /**
   * The bytes of a token (a copy); empty where they are unknown. Throws ELIZA_ERR_INVALID_ARG for an id that is not in
   * the vocabulary.
   */
  tokenBytes(token: number): Uint8Array {
    const bytes = new OutSlot();
    const length = new OutSlot();
    this.#token(token, bytes.view, length.view, null);
    return this.library.memory.copy(bytes.handle, length.value);
  }

  /**
   * Token healing: takes back the tokens at the end of a prompt that the model might not write if it knew what follows,
   * since another token begins with them. Returns those that stay, and the bytes of those that do not: the `prefill` of
   * a matcher or of a stream's constraint, which spells them again.
   */
  heal(prompt: ArrayLike<number>): { tokens: Int32Array; prefill: Uint8Array } {
    const tokens = tokenIds(prompt, "prompt");
    const kept = new OutSlot();
    const error = new OutError();
    const { eliza_inference_vocab_heal: heal } = this.library.symbols;
    const status = heal(this.handle, tokens, tokens.length, kept.view, error.view);
    if (status < 0) throw error.take(this.library, status, "the prompt cannot be healed");
    const bytes = [...tokens.subarray(kept.value)].flatMap((token) => [...this.tokenBytes(token)]);
    return { tokens: tokens.slice(0, kept.value), prefill: Uint8Array.from(bytes) };
  }

  /** The TokenFlag bits of a token. Throws ELIZA_ERR_INVALID_ARG for an id that is not in the vocabulary. */
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
  return lending(library, (addressOf) => {
    const config = new Struct(eliza_vocab_config_t, library);
    const modelId = encodeUtf8(checkString(id, "modelId"));
    config.write({ n_tokens: nTokens, model_id: addressOf(modelId), model_id_len: modelId.length });
    if (tokenBytes) {
      const { bytes, offsets } = concatenate(tokenBytes, "tokenBytes");
      config.write({ bytes: addressOf(bytes), offsets: addressOf(offsets) });
    }
    if (flags) config.write({ flags: addressOf(Uint8Array.from(flags)) });
    const out = new OutSlot();
    const error = new OutError();
    const status = library.symbols.eliza_inference_vocab_create(config.bytes, out.view, error.view);
    if (status < 0) throw error.take(library, status, "the vocabulary could not be made");
    return new Adopted(library, out.handle);
  });
}
