/** What crosses the boundary besides numbers: strings, out-parameters, borrowed memory. */
import { ELIZA_ERR_CLOSED, ELIZA_OK } from "./abi.generated.js";
import { checkString, unexpected } from "./arguments.js";
import { ElizaInferenceError, invalidArgument, nameOfStatus } from "./errors.js";
import { type Handle, type Library, type MemoryView, hasSymbols } from "./library.js";

/** The handle of a closed object, and NULL. */
export const CLOSED = 0 as Handle;

const encoder = new TextEncoder();
// A name may begin with U+FEFF, which is a mark of byte order only by default.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Encodes a text whose every character counts: a lone surrogate, which would silently become U+FFFD, is refused. */
export function encodeUnicode(text: string, name: string): Uint8Array {
  return encodeUtf8(checkUnicode(text, name));
}

function checkUnicode(text: string, name: string): string {
  if (!checkString(text, name).isWellFormed()) throw invalidArgument(`${name}: not valid Unicode`);
  return text;
}

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Refuses a NUL in a text that C reads up to the first NUL: the rest would be silently lost. */
export function checkNoNul(text: string, name: string): string {
  if (checkString(text, name).includes("\0")) {
    throw invalidArgument(`${name}: a NUL character at index ${text.indexOf("\0")}`);
  }
  return text;
}

/** A slot that a call writes a pointer or a size to. */
export class OutSlot {
  readonly view = new BigUint64Array(1);

  get value(): number {
    return Number(this.view[0]);
  }

  get handle(): Handle {
    return this.value as Handle;
  }
}

/** The `char **out_error` of one call. */
export class OutError extends OutSlot {
  /** As `take`, for a call that returned NULL. The message knows the status, except in older builds. */
  takeFromNull(library: Library, otherwise: number, fallback: string): ElizaInferenceError {
    const known = this.handle !== CLOSED && hasSymbols(library, "eliza_inference_error_status");
    const status = known ? library.symbols.eliza_inference_error_status(this.handle) : otherwise;
    return this.take(library, status, fallback);
  }

  /** The error with this status. Takes the message out of the slot and frees it. */
  take(library: Library, status: number, fallback: string): ElizaInferenceError {
    const address = this.handle;
    if (address === CLOSED) return new ElizaInferenceError(status, fallback);
    const message = library.memory.text(address);
    library.symbols.eliza_inference_free_string(address);
    this.view[0] = 0n;
    return new ElizaInferenceError(status, message);
  }
}

/** A list as C takes it, item after item: item i is the bytes from offsets[i] up to offsets[i+1]. */
export interface Concatenation {
  length: number;
  bytes: Uint8Array;
  offsets: BigUint64Array;
}

/** Concatenates items; texts become UTF-8. `name` is what messages call the list. */
export function concatenate(items: Iterable<string | Uint8Array>, name: string): Concatenation {
  const ends: number[] = [];
  let bytes = new Uint8Array(1024);
  let end = 0;
  for (const item of items) {
    const isText = typeof item === "string";
    if (!isText && !(item instanceof Uint8Array)) {
      throw unexpected(`${name}[${ends.length}]`, "a string or a Uint8Array", item);
    }
    // A UTF-16 unit takes at most 3 bytes.
    const endMax = end + (isText ? 3 * item.length : item.length);
    if (isText) checkUnicode(item, `${name}[${ends.length}]`);
    if (endMax > bytes.length) bytes = grown(bytes, endMax);
    if (!isText) bytes.set(item, end);
    end = isText ? end + encoder.encodeInto(item, bytes.subarray(end)).written : endMax;
    ends.push(end);
  }
  const offsets = new BigUint64Array(ends.length + 1);
  for (const [i, each] of ends.entries()) offsets[i + 1] = BigInt(each);
  return { length: ends.length, bytes: bytes.subarray(0, end), offsets };
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(Math.max(length, 2 * bytes.length));
  longer.set(bytes);
  return longer;
}

/** Calls `read` with a buffer, then again with a larger one if `read` returns that it did not fit. */
export function readWhole<T extends Int32Array | Uint8Array>(
  make: (length: number) => T,
  firstLength: number,
  read: (buffer: T) => number,
): T {
  let buffer = make(firstLength);
  let length = read(buffer);
  if (length > buffer.length) {
    buffer = make(length);
    length = read(buffer);
  }
  return buffer.subarray(0, length) as T;
}

export function readText(library: Library, address: Handle, length: number): string {
  return length === 0 ? "" : decodeUtf8(library.memory.copy(address, length));
}

/** Addresses as C takes a list of them. */
export function pointers(library: Library, addresses: readonly Handle[]): MemoryView {
  if (library.memory.pointerBytes === 4) return Uint32Array.from(addresses);
  return BigUint64Array.from(addresses, BigInt);
}

/** Makes a call in which buffers have addresses, to be written into a struct. */
export function lending<T>(library: Library, call: (addressOf: (view: MemoryView) => Handle) => T): T {
  const loan = library.memory.loan();
  try {
    return call((view) => loan.addressOf(view));
  } finally {
    loan.end();
  }
}

/** Throws for the failed status of a call that has no error text. */
export function checkStatus(status: number, call: string): number {
  if (status >= ELIZA_OK) return status;
  throw new ElizaInferenceError(status, `${call}: ${nameOfStatus(status)}`);
}

export function closedError(what: string): ElizaInferenceError {
  return new ElizaInferenceError(ELIZA_ERR_CLOSED, `the ${what} is closed`);
}
