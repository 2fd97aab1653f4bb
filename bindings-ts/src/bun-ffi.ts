/** C through bun:ffi. */
import { CString, FFIType, JSCallback, type Pointer, dlopen, ptr, toArrayBuffer } from "bun:ffi";
import { type Foreign, type NativeType, findEach } from "./foreign.js";
import type { Handle } from "./library.js";

const TYPES: Record<NativeType, FFIType> = {
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
};

export const bunFfi: Foreign = {
  open(path, signatures) {
    const functions = Object.fromEntries(
      Object.entries(signatures).map(([name, { args, returns }]) => [
        name,
        { args: args.map((type) => TYPES[type]), returns: TYPES[returns] },
      ]),
    );
    try {
      return dlopen(path, functions).symbols;
    } catch {
      // One that is missing fails the whole of a dlopen.
      return findEach(Object.keys(functions), (name) => dlopen(path, { [name]: functions[name]! }).symbols[name]);
    }
  },
  callback({ args, returns }, answer) {
    const types = { args: args.map((type) => TYPES[type]), returns: TYPES[returns] };
    const callback = new JSCallback(answer as never, types);
    kept.push(callback);
    return callback.ptr as number as Handle;
  },
  addressOf: (view) => ptr(view) as number as Handle,
  copy: (address, length) => new Uint8Array(memory(address, length)).slice(),
  int32s: (address, length) => new Int32Array(memory(address, length * Int32Array.BYTES_PER_ELEMENT)),
  text: (address) => CString(address as number as Pointer),
  write: (address, bytes) => new Uint8Array(memory(address, bytes.length)).set(bytes),
};

const kept: JSCallback[] = [];

function memory(address: Handle, byteLength: number): ArrayBuffer {
  return toArrayBuffer(address as number as Pointer, 0, byteLength);
}
