/**
 * Functions that the library calls. It knows each by a number, its `user_data`: no address is freed while the library
 * may still have it.
 */
import { EliVerifierEvent } from "./abi.generated.js";
import type { CallbackName, Handle, Memory } from "./library.js";
import { Struct } from "./structs.js";

/** What can be registered, by the kind of callback. They must not throw: nothing can pass through the library. */
export interface Answers {
  /** Whether to stop. */
  cancel: () => boolean;
  /** The text with this name: its address and length; null if there is none; `false` to stop. */
  document: (name: Uint8Array) => { address: Handle; length: number } | null | false;
  /** Takes a token with its text. Whether to stop. */
  token: (token: number, text: string) => boolean;
  /** The tokens of a text; null if it cannot be told. */
  tokenize: (text: Uint8Array) => Int32Array | null;
  /** Takes what became of a draft. */
  verifier: (event: DraftEvent) => void;
}

/** EliVerifierEvent of the header. */
export interface DraftEvent {
  acceptedTokenIds: number[];
  rejectedFrom: number;
  rejectedTo: number;
  correctedTokenIds: number[];
}

/** Makes a function known. Returns its `user_data`. */
export function register<N extends CallbackName>(_name: N, answer: Answers[N]): Handle {
  const key = ++lastKey as Handle;
  registered.set(key, answer);
  return key;
}

/** Afterwards the library finds nothing under this number. */
export function unregister(key: Handle): void {
  registered.delete(key);
}

/** Makes a call while a function is known, and throws what that threw. */
export function withCallback<N extends CallbackName, T>(
  name: N,
  answer: Answers[N],
  /** What the callback returns if `answer` throws. */
  ifThrown: ReturnType<Answers[N]>,
  call: (userData: Handle) => T,
): T {
  let thrown: { error: unknown } | null = null;
  const caught = (...args: never[]) => {
    try {
      return (answer as (...args: never[]) => unknown)(...args);
    } catch (error) {
      thrown ??= { error };
      return ifThrown;
    }
  };
  const key = register(name, caught as Answers[N]);
  try {
    const result = call(key);
    if (thrown) throw (thrown as { error: unknown }).error;
    return result;
  } catch (error) {
    throw thrown ? (thrown as { error: unknown }).error : error;
  } finally {
    unregister(key);
  }
}

/** The callbacks in the types of the header, for a library with this memory. */
export function callbacks(memory: Memory) {
  const writeWord = (address: Handle, value: number): void => {
    const word = new DataView(new ArrayBuffer(8));
    word.setBigUint64(0, BigInt(value), true);
    memory.write(address, new Uint8Array(word.buffer, 0, memory.pointerBytes));
  };
  return {
    cancel(userData: Handle): number {
      return find("cancel", userData)?.() ? 1 : 0;
    },
    document(name: Handle, length: number | bigint, outText: Handle, outLength: Handle, userData: Handle): number {
      const text = find("document", userData)?.(memory.copy(name, Number(length))) ?? null;
      if (text === false) return 1;
      if (text === null) return 0;
      // An empty text has no address, but NULL would mean that there is none.
      writeWord(outText, text.address || outText);
      writeWord(outLength, text.length);
      return 0;
    },
    token(token: number, text: Handle, userData: Handle): number {
      return find("token", userData)?.(token, memory.text(text)) ? 1 : 0;
    },
    tokenize(text: Handle, length: number | bigint, out: Handle, capacity: number | bigint, userData: Handle): number {
      const tokens = find("tokenize", userData)?.(memory.copy(text, Number(length)));
      if (!tokens) return -1;
      const written = tokens.subarray(0, Number(capacity));
      if (written.length > 0) memory.write(out, new Uint8Array(written.buffer, written.byteOffset, written.byteLength));
      return tokens.length;
    },
    verifier(event: Handle, userData: Handle): number {
      const answer = find("verifier", userData);
      if (!answer) return 0;
      const struct = new Struct(EliVerifierEvent, { memory });
      struct.bytes.set(memory.copy(event, struct.bytes.length));
      const fields = struct.read();
      answer({
        acceptedTokenIds: [...memory.int32s(fields.accepted_token_ids as Handle, fields.n_accepted)],
        rejectedFrom: fields.rejected_from,
        rejectedTo: fields.rejected_to,
        correctedTokenIds: [...memory.int32s(fields.corrected_token_ids as Handle, fields.n_corrected)],
      });
      return 0;
    },
  };
}

const registered = new Map<number, Answers[CallbackName]>();
let lastKey = 0;

function find<N extends CallbackName>(_name: N, userData: Handle): Answers[N] | undefined {
  return registered.get(Number(userData)) as Answers[N] | undefined;
}
