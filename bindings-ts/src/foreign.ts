/** Calling C from JavaScript: what native-library.ts asks of bun:ffi and of koffi. */
import type { declarations } from "./abi.generated.js";
import type { Handle, MemoryView } from "./library.js";

type Declaration = (typeof declarations)[keyof typeof declarations];

/** A kind of argument or result, as abi.generated.ts names them. */
export type NativeType = Declaration["args"][number] | Declaration["returns"];

/** The types of a function or of a callback. */
export interface Signature {
  readonly args: readonly NativeType[];
  readonly returns: NativeType;
}

/** A way to call C. Addresses are numbers. */
export interface Foreign {
  /**
   * Loads a file, or a name that the process or the system knows, permanently. Returns those of the functions it has;
   * throws if it has none.
   */
  open(path: string, signatures: Readonly<Record<string, Signature>>): Record<string, unknown>;
  /** The address of a function that calls `answer`, permanently. */
  callback(signature: Signature, answer: (...args: never[]) => number): Handle;
  /** The address of a buffer that is not empty, as long as it lives. */
  addressOf(view: MemoryView): Handle;
  /** A copy of bytes, at least one. */
  copy(address: Handle, length: number): Uint8Array<ArrayBuffer>;
  /** Numbers, at least one: C's own memory, or a copy. */
  int32s(address: Handle, length: number): Int32Array;
  /** The text up to a NUL. */
  text(address: Handle): string;
  /** Writes bytes, at least one. */
  write(address: Handle, bytes: Uint8Array): void;
}

/** Calls `find` for each name, and keeps what it does not throw for. Throws what came first if that is all. */
export function findEach<T>(names: readonly string[], find: (name: string) => T): Record<string, T> {
  const found: Record<string, T> = {};
  const failures: unknown[] = [];
  for (const name of names) {
    try {
      found[name] = find(name);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === names.length) throw failures[0];
  return found;
}
