/** The native library, through a foreign function interface. */
import { ELIZA_ERR_ABI_MISMATCH, ELIZA_ERR_UNSUPPORTED, declarations } from "./abi.generated.js";
import { callbacks } from "./callbacks.js";
import { ElizaInferenceError } from "./errors.js";
import type { Foreign, Signature } from "./foreign.js";
import type { CallbackName, Handle, Library, Loan, Memory, MemoryView, SymbolName, Symbols } from "./library.js";
import { loadAdvice } from "./load-advice.js";

/** Returns what opens a file, or a name that the process or the system knows. */
export function nativeLibraries(foreign: Foreign): (path: string) => Library {
  const memory = new ProcessMemory(foreign);
  return (path) => {
    const symbols = open(path, foreign);
    const missing = new Set<SymbolName>();
    for (const name of Object.keys(declarations) as SymbolName[]) {
      if (symbols[name]) continue;
      missing.add(name);
      symbols[name] = () => {
        throw new ElizaInferenceError(ELIZA_ERR_UNSUPPORTED, `${path} is an older build: it lacks ${name}`);
      };
    }
    return { path, symbols: symbols as unknown as Symbols, missing, memory };
  };
}

function open(path: string, foreign: Foreign): Record<string, unknown> {
  try {
    return { ...foreign.open(path, declarations) };
  } catch (error) {
    const { message } = error as Error;
    const advice = loadAdvice(path, message);
    throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${path} is not a libelizainference: ${message}${advice}`);
  }
}

const CALLBACKS: Record<CallbackName, Signature["args"]> = {
  cancel: ["handle"],
  document: ["handle", "usize", "handle", "handle", "handle"],
  token: ["i32", "handle", "handle"],
  tokenize: ["handle", "usize", "handle", "usize", "handle"],
  verifier: ["handle", "handle"],
};

/** That of the process. */
class ProcessMemory implements Memory {
  readonly pointerBytes = 8;
  readonly #foreign: Foreign;
  readonly #callbacks: Partial<Record<CallbackName, Handle>> = {};

  constructor(foreign: Foreign) {
    this.#foreign = foreign;
  }

  copy(address: Handle, length: number): Uint8Array<ArrayBuffer> {
    return length === 0 ? new Uint8Array(0) : this.#foreign.copy(address, length);
  }

  int32s(address: Handle, length: number): Int32Array {
    return length === 0 ? new Int32Array(0) : this.#foreign.int32s(address, length);
  }

  text(address: Handle): string {
    return this.#foreign.text(address);
  }

  write(address: Handle, bytes: Uint8Array): void {
    if (bytes.length > 0) this.#foreign.write(address, bytes);
  }

  loan(): Loan {
    return new BufferLoan(this.#foreign);
  }

  callback(name: CallbackName): Handle {
    const answer = callbacks(this)[name] as (...args: never[]) => number;
    this.#callbacks[name] ??= this.#foreign.callback({ args: CALLBACKS[name], returns: "i32" }, answer);
    return this.#callbacks[name];
  }
}

class BufferLoan implements Loan {
  readonly #foreign: Foreign;
  readonly #lent: MemoryView[] = [];

  constructor(foreign: Foreign) {
    this.#foreign = foreign;
  }

  addressOf(view: MemoryView): Handle {
    this.#lent.push(view);
    return view.byteLength === 0 ? (0 as Handle) : this.#foreign.addressOf(view);
  }

  end(): void {
    this.#lent.length = 0; // used here, so that the buffers outlive the call
  }
}
