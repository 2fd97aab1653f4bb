/** Tokenises names for a token tree, with a cache for each model. */

/** A tokenizer in this process, such as `(text) => model.tokenize(text)`. */
export type LocalTokenizer = (text: string) => ArrayLike<number> | Promise<ArrayLike<number>>;

/** Options of a TokenizerClient. */
export interface TokenizerClientOptions {
  /** Replaces the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Texts cached for each model, 8192 by default. A model that reaches the limit starts again from none. */
  maxEntriesPerModel?: number | undefined;
}

const MAX_ENTRIES_PER_MODEL = 8192;

/**
 * Looks up the token ids of texts, and caches them for each model. A `source` is a local tokenizer, or the base URL of
 * a llama-server, whose `POST /tokenize` is asked not to add special tokens. The caller owns the arrays that it
 * receives.
 */
export class TokenizerClient {
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #maxEntriesPerModel: number;
  readonly #cache = new Map<string, Map<string, number[]>>();

  constructor(options: TokenizerClientOptions = {}) {
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#maxEntriesPerModel = options.maxEntriesPerModel ?? MAX_ENTRIES_PER_MODEL;
  }

  /**
   * The token ids of a text. Throws an error with `HTTP <status>` if the server refuses, or one that names `tokens[]`
   * if the answer has no token ids.
   */
  async tokenize(modelId: string, source: string | LocalTokenizer, text: string): Promise<number[]> {
    const known = this.#cache.get(modelId)?.get(text);
    if (known) return [...known];
    const tokens = typeof source === "string" ? await this.#ask(source, text) : await tokenizeLocally(source, text);
    this.#keep(modelId, text, tokens);
    return [...tokens];
  }

  /** The token ids of each text, in the order of the texts. A text that occurs twice is tokenised once. */
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

  /** The number of texts cached for the model. */
  cachedSize(modelId: string): number {
    return this.#cache.get(modelId)?.size ?? 0;
  }

  /** Drops the texts cached for the model. */
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
