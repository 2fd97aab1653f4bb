/** The library as a WebAssembly module: vocabularies, constraints and matchers, without models and files. */
import {
  ELIZA_ERR_ABI_MISMATCH,
  ELIZA_ERR_FFI_FAULT,
  ELIZA_ERR_OOM,
  ELIZA_ERR_UNSUPPORTED,
  declarations,
} from "./abi.generated.js";
import { callbacks } from "./callbacks.js";
import { ElizaInferenceError } from "./errors.js";
import type { CallbackName, Handle, Library, Loan, Memory, MemoryView, SymbolName, Symbols } from "./library.js";

/** A library from a compiled module; `path` is where that is from. Each has a memory of its own. */
export function instantiate(path: string, module: WebAssembly.Module): Library {
  const memory = new ModuleMemory();
  const answers = callbacks(memory);
  // Addresses come as signed numbers.
  const unsigned =
    (answer: (...args: never[]) => number) =>
    (...args: number[]): number =>
      answer(...(args.map((value) => value >>> 0) as never[]));
  const instance = new WebAssembly.Instance(module, {
    host: {
      nowMs: () => performance.now(),
      cancel: unsigned(answers.cancel),
      document: unsigned(answers.document),
      tokenize: unsigned(answers.tokenize),
      log: () => {},
    },
  });
  const exports = instance.exports as unknown as Exports;
  if (typeof exports.eliza_webassembly_allocate !== "function") {
    throw new ElizaInferenceError(ELIZA_ERR_ABI_MISMATCH, `${path} is not a libelizainference`);
  }
  memory.attach(exports);
  const missing = new Set<SymbolName>();
  const symbols: Record<string, unknown> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    const exported = exports[name] as Exported | undefined;
    if (exported) {
      symbols[name] = memory.caller(name, exported, declaration);
    } else {
      missing.add(name as SymbolName);
      symbols[name] = () => {
        throw new ElizaInferenceError(
          ELIZA_ERR_UNSUPPORTED,
          `${name} is not in the WebAssembly module, which has no models and no files: use the native library`,
        );
      };
    }
  }
  return { path, symbols: symbols as unknown as Symbols, missing, memory };
}

type Exported = (...args: (number | bigint)[]) => number | bigint | undefined;

interface Exports extends Readonly<Record<string, unknown>> {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global;
  readonly eliza_webassembly_allocate: (bytes: number) => number;
  readonly eliza_webassembly_free: (address: number, bytes: number) => void;
}

type Argument = number | bigint | MemoryView | null;
type Types = (typeof declarations)[SymbolName];

/** Arrays are copied into the module's memory for a call, and those that it writes to back. */
class ModuleMemory implements Memory {
  readonly pointerBytes = 4;
  #exports!: Exports;
  #view = new Uint8Array(0);
  /** Memory for the arrays of a call; a callback's calls use what is above those of the call around it. */
  #scratch = 0;
  #scratchUsed = 0;
  #stackTop = 0;
  #depth = 0;

  attach(exports: Exports): void {
    this.#exports = exports;
    this.#scratch = this.#allocate(SCRATCH_BYTES);
    this.#stackTop = exports.__stack_pointer.value as number;
  }

  /** The bytes of the memory, which is another buffer once it has grown. */
  get #bytes(): Uint8Array {
    if (this.#view.byteLength === 0) this.#view = new Uint8Array(this.#exports.memory.buffer);
    return this.#view;
  }

  copy(address: Handle, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.slice(address, address + length).buffer as ArrayBuffer);
  }

  int32s(address: Handle, length: number): Int32Array {
    return new Int32Array(this.copy(address, 4 * length).buffer);
  }

  text(address: Handle): string {
    const bytes = this.#bytes;
    return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }

  write(address: Handle, bytes: Uint8Array): void {
    this.#bytes.set(bytes, address);
  }

  callback(name: CallbackName): Handle {
    return (this.#exports[`eliza_webassembly_${name}_callback`] as () => number)() as Handle;
  }

  loan(): Loan {
    const lent: { address: number; length: number }[] = [];
    return {
      addressOf: (view) => {
        if (view.byteLength === 0) return 0 as Handle;
        const address = this.#allocate(view.byteLength);
        lent.push({ address, length: view.byteLength });
        this.write(address as Handle, octets(view));
        return address as Handle;
      },
      end: () => {
        for (const { address, length } of lent.splice(0)) this.#exports.eliza_webassembly_free(address, length);
      },
    };
  }

  /** The function as the native library has it. */
  caller(name: string, exported: Exported, { args: types, returns }: Types): (...args: Argument[]) => unknown {
    const call = (args: (number | bigint)[]): unknown => {
      const result = this.#guarded(exported, args);
      if (returns !== "cstring") return result;
      return result === 0 ? null : this.text(Number(result) as Handle);
    };
    // Of all that have neither a length nor an array, such as `matcher_accept`, the arguments are as they are.
    const isPlain = !types.some((type: string) => !["handle", "i32", "u32", "f32"].includes(type));
    if (isPlain) return (...args) => call(args as number[]);
    const copiesIn = !FILLERS.has(name);
    return (...args) => this.#withArrays(args, types, copiesIn, call);
  }

  /** In plain loops, since it runs for each mask. */
  #withArrays(
    args: Argument[],
    types: readonly string[],
    copiesIn: boolean,
    call: (args: (number | bigint)[]) => unknown,
  ): unknown {
    const base = this.#scratchUsed;
    let length = 0;
    for (const value of args) if (isArray(value)) length += padded(value.byteLength);
    const fits = base + length <= SCRATCH_BYTES;
    const start = fits ? this.#scratch + base : this.#allocate(length);
    if (fits) this.#scratchUsed = base + length;
    try {
      const passed: (number | bigint)[] = [];
      let at = start;
      for (let i = 0; i < args.length; i++) {
        const value = args[i]!;
        if (!isArray(value)) {
          passed.push(scalar(value, types[i]!));
          continue;
        }
        if (copiesIn) this.#bytes.set(octets(value), at);
        passed.push(at);
        at += padded(value.byteLength);
      }
      const result = call(passed);
      if (!copiesIn && (result as number) < 0) return result;
      for (let i = 0; i < args.length; i++) {
        const value = args[i]!;
        if (types[i] !== "out" || !isArray(value)) continue;
        const from = passed[i] as number;
        octets(value).set(this.#bytes.subarray(from, from + value.byteLength));
      }
      return result;
    } finally {
      this.#scratchUsed = base;
      if (!fits) this.#exports.eliza_webassembly_free(start, length);
    }
  }

  /** A call that runs out of stack, or fails an assertion of the engine, must not take the module with it. */
  #guarded(exported: Exported, args: (number | bigint)[]): number | bigint | undefined {
    this.#depth++;
    try {
      return exported(...args);
    } catch (error) {
      if (this.#depth === 1) this.#exports.__stack_pointer.value = this.#stackTop;
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      throw new ElizaInferenceError(ELIZA_ERR_FFI_FAULT, `the WebAssembly module failed: ${error.message}`);
    } finally {
      this.#depth--;
    }
  }

  #allocate(bytes: number): number {
    const address = this.#exports.eliza_webassembly_allocate(bytes) >>> 0;
    if (address !== 0) return address;
    throw new ElizaInferenceError(ELIZA_ERR_OOM, `the WebAssembly module has no memory for ${bytes} bytes`);
  }
}

/** Holds the arrays of all calls but those with logits or a whole vocabulary. */
const SCRATCH_BYTES = 1 << 16;
const ALIGNMENT = 16;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What writes all of the array that it is given, unless it fails. */
const FILLERS = new Set(["eliza_inference_matcher_fill_bitmap"]);

function isArray(value: Argument): value is MemoryView {
  return typeof value === "object" && value !== null;
}

function padded(length: number): number {
  return (length + ALIGNMENT - 1) & -ALIGNMENT;
}

function scalar(value: number | bigint | null, type: string): number | bigint {
  if (type === "u64") return BigInt(value ?? 0);
  return type === "usize" ? Math.min(Number(value), SIZE_MAX) : Number(value ?? 0);
}

/** A larger one is more than there can be of anything, and so is this. */
const SIZE_MAX = 0xffffffff;

function octets(view: MemoryView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
