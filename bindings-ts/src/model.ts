/** A model in this process. */
import { ELIZA_ERR_PAYLOAD } from "./abi.generated";
import { checkInstance, checkNoMore, checkSeveral, checkString, tokenIds } from "./arguments";
import { ElizaInferenceError, invalidArgument } from "./errors";
import { type Library, loadLibrary } from "./library";
import { openContext, readVocabulary, setModelId } from "./llm-context";
import { type LlmStreamConfig, prefill } from "./llm-stream";
import { OutError, OutSlot, copyBytes, decodeUtf8, encodeUtf8 } from "./memory";
import { Adopted, Owned } from "./owned";
import { TokenStream } from "./token-stream";
import { type TokenTreePayload, buildTokenTreeDescriptor, buildTokenTrie, hasPrefixLeaf } from "./token-tree";
import { TokenFlag, Vocabulary } from "./vocabulary";

export interface ModelOptions {
  /** The name of the model; token trees for a model with another id are then refused. */
  modelId?: string | undefined;
  library?: Library | undefined;
}

export interface StreamOptions extends Omit<LlmStreamConfig, "gbnfGrammar"> {
  /** A llama.cpp grammar (GBNF) with a rule `root`, for the output outside spans. */
  grammar?: string | undefined;
  /** 0 by default. */
  seed?: number | bigint | undefined;
  /** CPU threads, at least 1; by default as llama.cpp chooses. */
  threads?: number | undefined;
  /** Milliseconds from the first step after a prompt; 0: none. */
  timeBudgetMs?: number | undefined;
  /** Tokens after which a token tree's span that did not end is given up; 500 by default. */
  spanTimeout?: number | undefined;
  /** Whether tokens without a choice are decoded together; true by default. */
  skipAhead?: boolean | undefined;
}

/** The names of the others: a host's configuration may have more, a caller's may not. */
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

export interface TokenizeOptions {
  /** Adds the tokens with which the model begins (and ends) a text, as at the start of a prompt. */
  addSpecial?: boolean | undefined;
  /** Reads the names of control tokens in the text as these tokens. */
  parseSpecial?: boolean | undefined;
}

export interface DetokenizeOptions {
  /** Leaves out the tokens that `addSpecial` adds. */
  removeSpecial?: boolean | undefined;
  /** Writes control tokens by their names. */
  unparseSpecial?: boolean | undefined;
}

export interface TokenTreeOptions {
  /** "action" by default. */
  path?: string | undefined;
  /** What stands between the text before a name and the name, tokenised with it; " " by default. */
  prefix?: string | undefined;
  /** Token sequences after which the span opens by itself. */
  trigger?: number[][] | undefined;
}

/** An open model: a GGUF file, or a folder with one under `text/`. Streams that are still open keep what they need. */
export class Model extends Owned {
  #modelId = "";
  #vocabulary: Vocabulary | null = null;

  constructor(path: string, { modelId, library = loadLibrary(), ...unknown }: ModelOptions = {}) {
    checkNoMore(unknown);
    super(library, openContext(library, path), "model", "eliza_inference_destroy");
    if (modelId) this.modelId = modelId;
  }

  /** The name of the model; "" if it is not known. */
  get modelId(): string {
    return this.#modelId;
  }

  set modelId(modelId: string) {
    setModelId(this.library, this.handle, modelId);
    this.#modelId = modelId;
    this.#vocabulary = null;
  }

  /** The token ids, their bytes and their kinds. */
  get vocabulary(): Vocabulary {
    this.#vocabulary ??= new Vocabulary(new Adopted(this.library, readVocabulary(this.library, this.handle)));
    return this.#vocabulary;
  }

  /** The token ids of a text. */
  tokenize(text: string, { addSpecial = false, parseSpecial = false, ...unknown }: TokenizeOptions = {}): number[] {
    checkNoMore(unknown);
    const bytes = encodeUtf8(checkString(text, "text"));
    const tokens = new OutSlot();
    const count = new OutSlot();
    const error = new OutError();
    const { symbols } = this.library;
    const [add, parse] = [addSpecial ? 1 : 0, parseSpecial ? 1 : 0];
    const { eliza_inference_tokenize: tokenize } = symbols;
    const status = tokenize(this.handle, bytes, bytes.length, add, parse, tokens.view, count.view, error.view);
    if (status < 0) throw error.take(this.library, status, "the text cannot be tokenised");
    const copy = copyBytes(tokens.handle, count.value * Int32Array.BYTES_PER_ELEMENT);
    symbols.eliza_inference_free_tokens(tokens.handle);
    return Array.from(new Int32Array(copy.buffer));
  }

  /** The text of token ids; bytes that are not UTF-8 become U+FFFD. */
  detokenize(
    tokens: ArrayLike<number>,
    { removeSpecial = false, unparseSpecial = false, ...unknown }: DetokenizeOptions = {},
  ): string {
    checkNoMore(unknown);
    const ids = tokenIds(tokens, "tokens");
    const error = new OutError();
    const [remove, unparse] = [removeSpecial ? 1 : 0, unparseSpecial ? 1 : 0];
    const write = (text: Uint8Array): number => {
      const { eliza_inference_detokenize: detokenize } = this.library.symbols;
      const length = detokenize(this.handle, ids, ids.length, remove, unparse, text, text.length, error.view);
      if (length < 0) throw error.take(this.library, length, "the tokens cannot be written as text");
      return length;
    };
    let text = new Uint8Array(8 * ids.length + 64);
    const length = write(text);
    if (length >= text.length) {
      text = new Uint8Array(length + 1);
      write(text);
    }
    return decodeUtf8(text.subarray(0, length));
  }

  /**
   * A token tree of names in this model's tokens. Where a name is the beginning of another, the tokens that end a generation
   * end it. ELIZA_ERR_PAYLOAD if no name has tokens. The descriptors of several trees may be put together in one payload.
   */
  tokenTree(
    names: ReadonlyArray<string>,
    { path = "action", prefix = " ", trigger, ...unknown }: TokenTreeOptions = {},
  ): TokenTreePayload {
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
    return { modelId: this.modelId, descriptors: [descriptor] };
  }

  /** Opens a stream: one generation, with a KV cache of its own. */
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

/** One generation of a model, free or constrained. `Model.stream` opens one. */
export class Stream extends TokenStream {
  readonly model: Model;

  /** See `Model.stream`. */
  constructor(model: Model, config: LlmStreamConfig) {
    const { library, handle } = checkInstance(model, Model, "model");
    super(library, handle, config);
    this.model = model;
  }

  /**
   * Decodes a prompt, text or tokens; returns its number of tokens. May be called again at any time: the tokens are
   * appended to what is there. They never reach the token tree, the grammar or the triggers. `addSpecial` is for text:
   * whether the tokens with which the model begins a text are added; by default, if nothing was decoded yet.
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
