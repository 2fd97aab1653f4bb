/** Tokenising names for a token tree, with a cache for each model. */

/** A tokenizer in this process, such as `(text) => model.tokenize(text)`. */
export type LocalTokenizer = (text: string) => ArrayLike<number> | Promise<ArrayLike<number>>;

export interface TokenizerClientOptions {
  /** In place of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Texts kept for one model; a model that reaches it starts from empty. 8192 by default. */
  maxEntriesPerModel?: number | undefined;
}

const MAX_ENTRIES_PER_MODEL = 8192;

/**
 * Token ids by model and text. `source` is the base URL of a llama-server, whose `POST /tokenize` is asked without adding
 * special tokens, or a local tokenizer. Arrays that are handed out may be changed by the caller.
 */
export class TokenizerClient {
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #maxEntriesPerModel: number;
  readonly #cache = new Map<string, Map<string, number[]>>();

  constructor(options: TokenizerClientOptions = {}) {
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#maxEntriesPerModel = options.maxEntriesPerModel ?? MAX_ENTRIES_PER_MODEL;
  }

  /** Throws an error with `HTTP <status>`, or one that names `tokens[]` if the answer has none. */
  async tokenize(modelId: string, source: string | LocalTokenizer, text: string): Promise<number[]> {
    const known = this.#cache.get(modelId)?.get(text);
    if (known) return [...known];
    const tokens = typeof source === "string" ? await this.#ask(source, text) : await tokenizeLocally(source, text);
    this.#keep(modelId, text, tokens);
    return [...tokens];
  }

  /** The ids of each text, in the order of the texts; a text that is given twice is tokenised once. */
  async tokenizeMany(
    modelId: string,
    source: string | LocalTokenizer,
    texts: ReadonlyArray<string>,
  ): Promise<Map<string, number[]>> {
    const entries = [...new Set(texts)].map(
      async (text) => [text, await this.tokenize(modelId, source, text)] as const,
    );
    return new Map(await Promise.all(entries));
  }

  /** Texts kept for the model. */
  cachedSize(modelId: string): number {
    return this.#cache.get(modelId)?.size ?? 0;
  }

  /** Drops what is kept for the model. */
  forgetModel(modelId: string): void {
    this.#cache.delete(modelId);
  }

  async #ask(baseUrl: string, text: string): Promise<number[]> {
    const url = `${baseUrl.replace(/\/+$/, "")}/tokenize`;
    const response = await this.#fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: text, add_special: false, with_pieces: false }),
    });
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    const answer: unknown = await response.json().catch(() => null);
    const tokens = (answer as { tokens?: unknown } | null)?.tokens;
    return checkTokens(Array.isArray(tokens) ? tokens : null, url);
  }

  #keep(modelId: string, text: string, tokens: number[]): void {
    let texts = this.#cache.get(modelId);
    if (!texts) {
      texts = new Map();
      this.#cache.set(modelId, texts);
    }
    if (texts.size >= this.#maxEntriesPerModel) texts.clear();
    texts.set(text, tokens);
  }
}

async function tokenizeLocally(tokenizer: LocalTokenizer, text: string): Promise<number[]> {
  return checkTokens(Array.from(await tokenizer(text)), "the local tokenizer");
}

function checkTokens(tokens: unknown[] | null, source: string): number[] {
  if (!tokens) throw new Error(`${source}: the answer has no tokens[]`);
  const bad = tokens.findIndex((token) => !Number.isInteger(token));
  if (bad >= 0) throw new Error(`${source}: tokens[${bad}] of the answer is not an integer`);
  return tokens as number[];
}
