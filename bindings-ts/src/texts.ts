/** Texts that the library asks for by name while it compiles. */
import { FFIType, JSCallback, toArrayBuffer } from "bun:ffi";
import type { Handle } from "./library";
import { addressOf, copyBytes, decodeUtf8 } from "./memory";

/** Makes a call with the address of a callback that gives texts; null: there is none. What `give` throws comes out. */
export function withTexts<T>(give: (name: string) => Uint8Array | null, call: (callback: number) => T): T {
  let thrown: { error: unknown } | null = null;
  // The library copies it before it asks for another one.
  let lent: Uint8Array | null = null;
  const answer = (name: Handle, length: number, outText: Handle, outLength: Handle): number => {
    try {
      lent = give(decodeUtf8(copyBytes(name, Number(length))));
      if (lent === null) return 0;
      new BigUint64Array(toArrayBuffer(outText, 0, 8))[0] = BigInt(addressOf(lent) || outText);
      new BigUint64Array(toArrayBuffer(outLength, 0, 8))[0] = BigInt(lent.length);
      return 0;
    } catch (error) {
      thrown = { error };
      return 1;
    }
  };
  const { ptr, u64_fast, i32 } = FFIType;
  const callback = new JSCallback(answer, { args: [ptr, u64_fast, ptr, ptr, ptr], returns: i32 });
  try {
    return call(Number(callback.ptr));
  } catch (error) {
    throw thrown ? (thrown as { error: unknown }).error : error;
  } finally {
    callback.close();
  }
}
