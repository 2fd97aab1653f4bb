/** The function that the library asks how a text is spelt in tokens. */
import { FFIType, JSCallback, toArrayBuffer } from "bun:ffi";
import { tokenIds } from "./arguments";
import type { Handle, Library } from "./library";
import { copyBytes } from "./memory";

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
      ? setTokenizer(vocabulary, tokenizeCallback().ptr, registered.key as Handle)
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
  key: number;
  tokenize: Tokenize;
}

interface Thrown {
  error: unknown;
}

// The library receives a number, not an address: what outlives a function finds nothing instead of freed memory. The
// functions are held weakly, since they may refer to the vocabulary that holds them.
const functions = new Map<number, WeakRef<Registered>>();
const collected = new FinalizationRegistry<number>((key) => functions.delete(key));
let lastKey = 0;
let callback: JSCallback | null = null;
let thrown: Thrown[] = [];

function register(tokenize: Tokenize): Registered {
  const registered = { key: ++lastKey, tokenize };
  functions.set(registered.key, new WeakRef(registered));
  collected.register(registered, registered.key);
  return registered;
}

/** The one `eliza_tokenize_callback` for all vocabularies. */
function tokenizeCallback(): JSCallback {
  const { ptr, u64_fast, i32 } = FFIType;
  callback ??= new JSCallback(answer, { args: [ptr, u64_fast, ptr, u64_fast, ptr], returns: i32 });
  return callback;
}

function answer(text: Handle, length: number | bigint, out: Handle, capacity: number | bigint, key: number): number {
  const registered = functions.get(key)?.deref();
  if (!registered) return -1;
  try {
    return writeTokens(registered.tokenize(copyBytes(text, Number(length))), out, Number(capacity));
  } catch (error) {
    thrown.push({ error });
    return -1;
  }
}

function writeTokens(tokens: ArrayLike<number>, out: Handle, capacity: number): number {
  const ids = tokenIds(tokens, "tokens");
  const written = ids.subarray(0, capacity);
  if (written.length > 0) new Int32Array(toArrayBuffer(out, 0, written.byteLength)).set(written);
  return ids.length;
}
