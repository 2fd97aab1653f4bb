/** A model in this process, and its streams. */
import { ELIZA_ERR_PAYLOAD } from "./abi.generated.js";
import { checkInstance, checkNoMore, checkSeveral, checkString, tokenIds } from "./arguments.js";
import { ElizaInferenceError, invalidArgument } from "./errors.js";
import type { Library } from "./library.js";
import { Pooling, detokenize, embed, openContext, readVocabulary, setModelId, tokenize } from "./llm-context.js";
import { type LlmStreamConfig, prefill } from "./llm-stream.js";
import { loadLibrary } from "./load.js";
import { Adopted, Owned } from "./owned.js";
import { TokenStream } from "./token-stream.js";
import {
  type TokenTreeDescriptor,
  type TokenTreePayload,
  buildTokenTreeDescriptor,
  buildTokenTrie,
  hasPrefixLeaf,
} from "./token-tree.js";
import { TokenFlag, Vocabulary } from "./vocabulary.js";

/** Options of `new Model`. */
export interface ModelOptions {
  /** The name of the model. A payload for another model is refused if both names are known. */
  modelId?: string | undefined;
  /** The native library; `loadLibrary()` by default. */
  library?: Library | undefined;
}

/** Options of `Model.stream`. */
export interface StreamOptions extends Omit<LlmStreamConfig, "gbnfGrammar"> {
  /** A llama.cpp grammar (GBNF) with a rule `root`, for the output outside spans. */
  grammar?: string | undefined;
  /** Seeds the choice of tokens with an integer from 0 to 2^64-1; 0 by default. */
  seed?: number | bigint | undefined;
  /** The number of CPU threads, from 1 to 512; by default llama.cpp chooses. */
  threads?: number | undefined;
  /**
   * Ends the generation this many milliseconds of wall-clock time after the first step that follows a prompt; 0, the
   * default: never.
   */
  timeBudgetMs?: number | undefined;
  /** Ends a span of a token tree that is still open after this many tokens, at least 1; 500 by default. */
  spanTimeout?: number | undefined;
  /** Whether forced tokens are decoded together instead of one by one; true by default. */
  skipAhead?: boolean | undefined;
}

/** The other options by name: a caller's misspelt option is refused, though a host's configuration may hold more. */
const CONFIG_NAMES: Record<keyof Omit<LlmStreamConfig, "gbnfGrammar">, true> = {
  maxTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  repeatPenalty: true,
  slotId: true,
  promptCacheKey: true,
  draftMin: true,
  draftMax: true,
  mtpDrafterPath: true,
  draftModelPath: true,
  disableThinking: true,
  gpuLayers: true,
  cacheTypeK: true,
  cacheTypeV: true,
  contextSize: true,
};

/** Options of `Model.tokenize`; all off by default. */
export interface TokenizeOptions {
  /** Adds the tokens that the model begins (and ends) a text with, as at the start of a prompt. */
  addSpecial?: boolean | undefined;
  /** Reads the names of control tokens in the text as those tokens. */
  parseSpecial?: boolean | undefined;
}

/** Options of `Model.detokenize`; all off by default. */
export interface DetokenizeOptions {
  /** Leaves out the tokens that `addSpecial` adds. */
  removeSpecial?: boolean | undefined;
  /** Writes control tokens by name. */
  unparseSpecial?: boolean | undefined;
}

/** Options of `Model.embed`. */
export interface EmbedOptions {
  /** One of Pooling; Pooling.MEAN by default. */
  pooling?: number | undefined;
}

/** Options of `Model.tokenTree`. */
export interface TokenTreeOptions {
  /** The path of the descriptor; "action" by default. */
  path?: string | undefined;
  /** The text before each name, tokenised with it; " " by default. */
  prefix?: string | undefined;
  /** Token sequences that open the span when the output ends with one of them. */
  trigger?: number[][] | undefined;
}

/** A language model in this process. Streams that are open when it closes keep what they need of it. */
export class Model extends Owned {
  #modelId = "";
  #vocabulary: Vocabulary | null = null;

  /**
   * Opens a GGUF file, or a folder with one under `text/`; loads libllama first if need be. Throws
   * ELIZA_ERR_BUNDLE_INVALID if the file is missing or damaged, and ELIZA_ERR_ABI_MISMATCH if no libllama is found that
   * fits.
   */
  constructor(path: string, { modelId, library = loadLibrary(), ...unknown }: ModelOptions = {}) {
    checkNoMore(unknown);
    super(library, openContext(library, path), "model", "eliza_inference_destroy");
    if (modelId) this.modelId = modelId;
  }

  /** The name of the model; "" if unknown. Setting it makes later payloads for another model fail. */
  get modelId(): string {
    return this.#modelId;
  }

  set modelId(modelId: string) {
    setModelId(this.library, this.handle, modelId);
    this.#modelId = modelId;
    this.#vocabulary = null;
  }

  /**
   * The tokens of the model, with their bytes, flags and tokenizer. It closes with the model, and a new one is made
   * when `modelId` changes.
   */
  get vocabulary(): Vocabulary {
    this.#vocabulary ??= new Vocabulary(new Adopted(this.library, readVocabulary(this.library, this.handle)));
    return this.#vocabulary;
  }

  /** The token ids of a text. */
  tokenize(text: string, { addSpecial = false, parseSpecial = false, ...unknown }: TokenizeOptions = {}): number[] {
    checkNoMore(unknown);
    return Array.from(tokenize(this.library, this.handle, checkString(text, "text"), addSpecial, parseSpecial));
  }

  /** The text of token ids; bytes that are not UTF-8 become U+FFFD. */
  detokenize(
    tokens: ArrayLike<number>,
    { removeSpecial = false, unparseSpecial = false, ...unknown }: DetokenizeOptions = {},
  ): string {
    checkNoMore(unknown);
    return detokenize(this.library, this.handle, tokenIds(tokens, "tokens"), removeSpecial, unparseSpecial);
  }

  /**
   * The embedding of a text, a vector of length 1. Of a text with more tokens than the model was trained with, the
   * beginning counts, and the last token.
   */
  embed(text: string, { pooling = Pooling.MEAN, ...unknown }: EmbedOptions = {}): Float32Array {
    checkNoMore(unknown);
    return embed(this.library, this.handle, checkString(text, "text"), pooling);
  }

  /**
   * A token tree of names, in the tokens of this model; without an id it has the fingerprint of its vocabulary, so that
   * another one refuses the tree. Where one name is the beginning of another, a token that ends
   * the generation chooses the shorter. Throws ELIZA_ERR_PAYLOAD if no name has any tokens. The descriptors of several
   * trees may be combined in one payload.
   */
  tokenTree(
    names: ReadonlyArray<string>,
    { path = "action", prefix = " ", trigger, ...unknown }: TokenTreeOptions = {},
  ): TokenTreePayload<TokenTreeDescriptor> {
    checkNoMore(unknown);
    const list = checkSeveral(names, "names", "names");
    list.forEach((name, i) => {
      if (checkString(name, `names[${i}]`) === "") throw invalidArgument(`names[${i}] is empty`);
    });
    const tokens = new Map(list.map((name) => [name, this.tokenize(prefix + name)]));
    const descriptor = buildTokenTreeDescriptor(path, list, tokens);
    if (!descriptor) throw new ElizaInferenceError(ELIZA_ERR_PAYLOAD, `${path}: no name has any tokens`);
    if (trigger) descriptor.trigger = trigger;
    if (hasPrefixLeaf(buildTokenTrie(descriptor.leaves))) descriptor.end = this.#endOfGenerationTokens();
    const modelId = this.modelId || `vocabulary:${this.vocabulary.info.fingerprint.toString(16).padStart(16, "0")}`;
    return { modelId, descriptors: [descriptor] };
  }

  /** Opens a stream: one generation, with its own KV cache. */
  stream(options: StreamOptions = {}): Stream {
    const { grammar, seed, threads, timeBudgetMs, spanTimeout, skipAhead, ...config } = options;
    checkNoMore(config, CONFIG_NAMES);
    const stream = new Stream(this, { ...config, gbnfGrammar: grammar && checkString(grammar, "grammar") });
    try {
      if (seed !== undefined) stream.setSeed(seed);
      if (threads !== undefined) stream.setThreads(threads);
      if (timeBudgetMs !== undefined) stream.setTimeBudgetMs(timeBudgetMs);
      if (spanTimeout !== undefined) stream.setSpanTimeout(spanTimeout);
      if (skipAhead !== undefined) stream.setSkipAhead(skipAhead);
      return stream;
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  /** Closes the model and its `vocabulary`. Open streams keep working. */
  override close(): void {
    this.#vocabulary?.close();
    super.close();
  }

  #endOfGenerationTokens(): number[] {
    const { vocabulary } = this;
    const tokens = Array.from({ length: vocabulary.size }, (_, token) => token);
    return tokens.filter((token) => vocabulary.flags(token) & TokenFlag.END_OF_GENERATION);
  }
}

/**
 * One generation of a model, free or constrained, with its own KV cache; `Model.stream` opens one.
 *
 * Inside a token callback of `generate`, the settings, `setTokenTrie`, `setConstraint`, their `clear...`, `activate`
 * and `cancel` are allowed and apply from the next token on. Whatever decodes, and `close`, throws ELIZA_ERR_BUSY
 * there.
 */
export class Stream extends TokenStream {
  /** The model that the stream was opened on. */
  readonly model: Model;

  /** Use `Model.stream`, which checks its options. */
  constructor(model: Model, config: LlmStreamConfig) {
    const { library, handle } = checkInstance(model, Model, "model");
    super(library, handle, config);
    this.model = model;
  }

  /**
   * Decodes a prompt, given as text or tokens, and returns its number of tokens. May be called again at any time: the
   * tokens are appended. They do not advance the constraint, the grammar or the triggers. `addSpecial` is for text:
   * whether to add the tokens that the model begins a text with; by default, only if nothing has been decoded yet.
   * Throws ELIZA_ERR_CONTEXT_FULL, and decodes nothing, if the tokens do not fit.
   */
  prefill(
    prompt: string | ArrayLike<number>,
    { addSpecial, ...unknown }: { addSpecial?: boolean | undefined } = {},
  ): number {
    checkNoMore(unknown);
    const ids = typeof prompt === "string" ? this.#tokenize(prompt, addSpecial) : prompt;
    const tokens = tokenIds(ids, "prompt", "a string or token ids");
    prefill(this.library, this.handle, tokens);
    return tokens.length;
  }

  #tokenize(text: string, addSpecial: boolean | undefined): number[] {
    const { contextTokens, pendingTokens } = this.stats;
    return this.model.tokenize(text, { addSpecial: addSpecial ?? contextTokens + pendingTokens === 0 });
  }
}
