/** How saved files are opened. */
import { ELIZA_OPEN_COPY, ELIZA_OPEN_TRUSTED } from "./abi.generated.js";

export interface OpenOptions {
  /** Someone trustworthy wrote the file: what it says is not checked, but for its checksum. */
  trusted?: boolean | undefined;
  /** Reads the file into memory in place of mapping it, so that it may change afterwards. */
  copy?: boolean | undefined;
}

export function openFlags({ trusted, copy }: OpenOptions): number {
  return (trusted ? ELIZA_OPEN_TRUSTED : 0) | (copy ? ELIZA_OPEN_COPY : 0);
}
