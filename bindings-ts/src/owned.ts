/** Native objects that JavaScript owns: freed when closed, at the latest when collected. */
import type { Handle, Library } from "./library.js";
import { CLOSED, closedError } from "./memory.js";

type FreeSymbol =
  | "eliza_inference_vocab_free"
  | "eliza_inference_constraint_free"
  | "eliza_inference_matcher_free"
  | "eliza_inference_destroy"
  | "eliza_inference_llm_stream_close";

/** A handle that a call has just returned, for a constructor to take over instead of making one. */
export class Adopted {
  readonly library: Library;
  readonly handle: Handle;

  constructor(library: Library, handle: Handle) {
    this.library = library;
    this.handle = handle;
  }
}

/** A native object. `using` or `close` frees it at once; otherwise the garbage collector does in time. */
export abstract class Owned implements Disposable {
  /** The library that it belongs to. */
  readonly library: Library;
  readonly #what: string;
  readonly #free: FreeSymbol;
  #handle: Handle;

  /** Takes over `handle`. `what` names the object in messages. */
  protected constructor(library: Library, handle: Handle, what: string, free: FreeSymbol) {
    this.library = library;
    this.#handle = handle;
    this.#what = what;
    this.#free = free;
    collected.register(this, { library, handle, free }, this);
  }

  /** The address of the native object, valid until `close`. Throws ELIZA_ERR_CLOSED after it. */
  get handle(): Handle {
    if (this.#handle === CLOSED) throw closedError(this.#what);
    return this.#handle;
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#handle === CLOSED;
  }

  /** Frees the native object now. A second call does nothing. */
  close(): void {
    if (this.#handle === CLOSED) return;
    collected.unregister(this);
    this.library.symbols[this.#free](this.#handle);
    this.#handle = CLOSED;
  }

  /** Closes it at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

const collected = new FinalizationRegistry<{ library: Library; handle: Handle; free: FreeSymbol }>(
  ({ library, handle, free }) => library.symbols[free](handle),
);
