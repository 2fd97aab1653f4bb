/** The function that the library asks how a text is spelled in tokens. */
import { tokenIds } from "./arguments.js";
import { register as registerCallback, unregister } from "./callbacks.js";
import type { Handle, Library } from "./library.js";

/**
 * Returns the tokens of a text as the model's tokenizer spells it, without special tokens. The text is bytes, since it
 * may begin or end in the middle of a character.
 */
export type Tokenize = (text: Uint8Array) => ArrayLike<number>;

/**
 * The tokenizer of a vocabulary. The vocabulary, its constraints and what uses them share one slot, so that the library
 * finds the function as long as one of them lives.
 */
export class TokenizerSlot {
  /** Never read: holds the function, which is otherwise held weakly. */
  registered: Registered | null = null;

  /** Replaces the function; null removes it. Returns a status. */
  set(library: Library, vocabulary: Handle, tokenize: Tokenize | null): number {
    const { eliza_inference_vocab_set_tokenizer: setTokenizer } = library.symbols;
    const registered = tokenize && register(tokenize);
    const status = registered
      ? setTokenizer(vocabulary, library.memory.callback("tokenize"), registered.key)
      : setTokenizer(vocabulary, null, null);
    if (status >= 0) this.registered = registered;
    return status;
  }
}

/**
 * Makes a call in which the library may tokenise. Throws what the tokenizer threw, since an exception cannot pass
 * through the library.
 */
export function watchingTokenizer<T>(call: () => T): T {
  const watched: Thrown[] = [];
  const outer = thrown;
  thrown = watched;
  try {
    const result = call();
    if (watched.length === 0) return result;
    throw watched[0]!.error;
  } catch (error) {
    throw watched.length === 0 ? error : watched[0]!.error;
  } finally {
    thrown = outer;
  }
}

/** A tokenizer, and the number that the library knows it by. */
export interface Registered {
  key: Handle;
  tokenize: Tokenize;
}

interface Thrown {
  error: unknown;
}

// The functions are held weakly, since they may refer to the vocabulary that holds them.
const collected = new FinalizationRegistry<Handle>(unregister);
let thrown: Thrown[] = [];

function register(tokenize: Tokenize): Registered {
  const weak: { ref?: WeakRef<Registered> } = {};
  const key = registerCallback("tokenize", (text) => {
    const registered = weak.ref?.deref();
    return registered ? answer(registered, text) : null;
  });
  const registered = { key, tokenize };
  weak.ref = new WeakRef(registered);
  collected.register(registered, key);
  return registered;
}

function answer({ tokenize }: Registered, text: Uint8Array): Int32Array | null {
  try {
    return tokenIds(tokenize(text), "tokens");
  } catch (error) {
    thrown.push({ error });
    return null;
  }
}
