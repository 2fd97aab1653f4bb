/** Texts that the library asks for by name while it compiles. */
import { withCallback } from "./callbacks.js";
import type { Handle, Library } from "./library.js";
import { decodeUtf8, lending } from "./memory.js";

/** The callback that a struct holds, and its `user_data`. */
export interface TextsCallback {
  callback: Handle;
  userData: Handle;
}

/** Makes a call with a callback that gives texts; null: there is none. What `give` throws comes out. */
export function withTexts<T>(
  library: Library,
  give: (name: string) => Uint8Array | null,
  call: (texts: TextsCallback) => T,
): T {
  return lending(library, (addressOf) => {
    const answer = (name: Uint8Array) => {
      const text = give(decodeUtf8(name));
      return text && { address: addressOf(text), length: text.length };
    };
    const callback = library.memory.callback("document");
    return withCallback("document", answer, false, (userData) => call({ callback, userData }));
  });
}
