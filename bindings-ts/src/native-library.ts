/** The native library, through bun:ffi. */
import { CString, FFIType, JSCallback, type Pointer, dlopen, ptr, toArrayBuffer } from "bun:ffi";
import { ELIZA_ERR_ABI_MISMATCH, ELIZA_ERR_NOT_IMPLEMENTED, declarations } from "./abi.generated.js";
import { callbacks } from "./callbacks.js";
import { ElizaInferenceError } from "./errors.js";
import type { CallbackName, Handle, Library, Loan, Memory, MemoryView, SymbolName, Symbols } from "./library.js";
import { loadAdvice } from "./load-advice.js";

/** Opens a file, or a name that the process or the system knows. */
export function openNative(path: string): Library {
  try {
    return { path, symbols: dlopen(path, FUNCTIONS).symbols as unknown as Symbols, missing: new Set(), memory };
  } catch {
    return openOlder(path);
  }
}

/** Symbol by symbol, since one that is missing fails the whole of a dlopen. */
function openOlder(path: string): Library {
  const missing = new Set<SymbolName>();
  const symbols: Record<string, unknown> = {};
  for (const [name, declaration] of Object.entries(FUNCTIONS)) {
    try {
      symbols[name] = dlopen(path, { [name]: declaration }).symbols[name];
    } catch (error) {
      // If even the oldest function is missing, the file cannot be loaded, or is something else.
      if (name === "eliza_inference_abi_version") {
        const { message } = error as Error;
        const advice = loadAdvice(path, message);
        throw new ElizaInferenceError(
          ELIZA_ERR_ABI_MISMATCH,
          `${path} is not a libelizainference: ${message}${advice}`,
        );
      }
      missing.add(name as SymbolName);
      symbols[name] = () => {
        throw new ElizaInferenceError(ELIZA_ERR_NOT_IMPLEMENTED, `${path} is an older build: it lacks ${name}`);
      };
    }
  }
  return { path, symbols: symbols as unknown as Symbols, missing, memory };
}

/** How bun:ffi passes what abi.generated.ts says. */
const TYPES = {
  i32: FFIType.i32,
  u32: FFIType.u32,
  f32: FFIType.f32,
  u64: FFIType.u64_fast,
  usize: FFIType.u64_fast,
  handle: FFIType.ptr,
  in: FFIType.ptr,
  out: FFIType.ptr,
  cstring: FFIType.cstring,
  void: FFIType.void,
} as const;

const FUNCTIONS = Object.fromEntries(
  Object.entries(declarations).map(([name, { args, returns }]) => [
    name,
    { args: args.map((type) => TYPES[type]), returns: TYPES[returns] },
  ]),
);

const { ptr: address, u64_fast: size, i32 } = FFIType;
const CALLBACKS: Record<CallbackName, FFIType[]> = {
  cancel: [address],
  document: [address, size, address, address, address],
  token: [i32, address, address],
  tokenize: [address, size, address, size, address],
  verifier: [address, address],
};

class BufferLoan implements Loan {
  readonly #lent: MemoryView[] = [];

  addressOf(view: MemoryView): Handle {
    this.#lent.push(view);
    return (view.byteLength === 0 ? 0 : ptr(view)) as number as Handle;
  }

  end(): void {
    this.#lent.length = 0; // used here, so that the buffers outlive the call
  }
}

/** That of the process. */
const memory: Memory = {
  pointerBytes: 8,
  copy: (address, length) => new Uint8Array(buffer(address, length)).slice(),
  int32s: (address, length) => new Int32Array(buffer(address, length * Int32Array.BYTES_PER_ELEMENT)),
  text: (address) => CString(address as number as Pointer),
  write: (address, bytes) => new Uint8Array(buffer(address, bytes.length)).set(bytes),
  loan: () => new BufferLoan(),
  callback: (name) => {
    const callback = made[name] ?? make(name);
    made[name] = callback;
    return callback.ptr as number as Handle;
  },
};

const made: Partial<Record<CallbackName, JSCallback>> = {};

function make(name: CallbackName): JSCallback {
  return new JSCallback(callbacks(memory)[name] as never, { args: CALLBACKS[name], returns: i32 });
}

function buffer(address: Handle, byteLength: number): ArrayBuffer {
  return byteLength === 0 ? new ArrayBuffer(0) : toArrayBuffer(address as number as Pointer, 0, byteLength);
}
