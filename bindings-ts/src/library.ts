/** A loaded libelizainference, native or as WebAssembly, and what the rest of the package needs to call it. */
import type { declarations } from "./abi.generated.js";

/** The name of a function of the header. */
export type SymbolName = keyof typeof declarations;

/** A native object: its address, or 0 once it is closed. */
export type Handle = number & { readonly __handle: never };

/** An array whose memory a call may use. */
export type MemoryView = Uint8Array | Int32Array | Uint32Array | BigUint64Array | Float32Array;

/** What a function takes for each kind of argument in `declarations`. An address may stand in for an array. */
interface Arguments {
  i32: number;
  u32: number;
  f32: number;
  u64: number | bigint;
  usize: number;
  handle: Handle | null;
  in: MemoryView | Handle | null;
  out: MemoryView | Handle | null;
  cstring: string | MemoryView | Handle | null;
}

interface Results {
  i32: number;
  u32: number;
  f32: number;
  u64: number | bigint;
  usize: number | bigint;
  handle: Handle | null;
  cstring: string | null;
  void: undefined;
}

type Declared = typeof declarations;
type ArgumentsOf<T extends readonly (keyof Arguments)[]> = { -readonly [I in keyof T]: Arguments[T[I]] };

/** The functions of the header, by name. */
export type Symbols = {
  readonly [N in SymbolName]: (...args: ArgumentsOf<Declared[N]["args"]>) => Results[Declared[N]["returns"]];
};

/** The kinds of callback that a library can be given. */
export type CallbackName = "cancel" | "document" | "token" | "tokenize" | "verifier";

/** The memory of a library. */
export interface Memory {
  /** Of a pointer and of a size_t. */
  readonly pointerBytes: 4 | 8;
  /** A copy of borrowed bytes. */
  copy(address: Handle, length: number): Uint8Array<ArrayBuffer>;
  /** Borrowed numbers: the library's own memory, or a copy if that cannot be lent. */
  int32s(address: Handle, length: number): Int32Array;
  /** The text up to a NUL. */
  text(address: Handle): string;
  /** Writes to memory that the library gave for it. */
  write(address: Handle, bytes: Uint8Array): void;
  /** Addresses for structs. */
  loan(): Loan;
  /** The address of the callback of this kind, which passes its `user_data` to what `register` made it of. */
  callback(name: CallbackName): Handle;
}

/** Gives buffers addresses that stand in structs, until `end`. */
export interface Loan {
  /** 0 for an empty buffer, which has no address. */
  addressOf(view: MemoryView): Handle;
  /** Afterwards no address is valid. */
  end(): void;
}

/** A loaded libelizainference. */
export interface Library {
  /** The file or URL that it was loaded from. */
  readonly path: string;
  /** All functions of the header. One that this build lacks throws ELIZA_ERR_UNSUPPORTED when called. */
  readonly symbols: Symbols;
  /** The functions that this build lacks: because it is older than this package, or because it is WebAssembly. */
  readonly missing: ReadonlySet<SymbolName>;
  /** @internal */
  readonly memory: Memory;
}

/** Whether this build has all of these functions. */
export function hasSymbols(library: Library, ...names: SymbolName[]): boolean {
  return names.every((name) => !library.missing.has(name));
}
