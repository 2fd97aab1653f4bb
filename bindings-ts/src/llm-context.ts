/** The model functions of the library over plain handles, which `Model` and `Vocabulary` share. */
import {
  ELIZA_ERR_BUNDLE_INVALID,
  ELIZA_POOLING_FIRST,
  ELIZA_POOLING_LAST,
  ELIZA_POOLING_MEAN,
} from "./abi.generated.js";
import { checkString } from "./arguments.js";
import type { Handle, Library } from "./library.js";
import { ensureLlama } from "./llama.js";
import { OutError, OutSlot, checkNoNul, checkStatus, decodeUtf8, encodeUtf8 } from "./memory.js";

/** Opens a model, loading libllama if need be. The caller frees it with `eliza_inference_destroy`. */
export function openContext(library: Library, path: string): Handle {
  ensureLlama(library);
  const error = new OutError();
  const handle = library.symbols.eliza_inference_create(checkNoNul(path, "path"), error.view);
  if (!handle) throw error.takeFromNull(library, ELIZA_ERR_BUNDLE_INVALID, `${path} cannot be opened`);
  return Number(handle) as Handle;
}

/** Names the model; "" if unknown. */
export function setModelId(library: Library, context: Handle, modelId: string): void {
  const bytes = encodeUtf8(checkString(modelId, "modelId"));
  const status = library.symbols.eliza_inference_set_model_id(context, bytes, bytes.length);
  checkStatus(status, `modelId ${JSON.stringify(modelId)}`);
}

/** The model's vocabulary, which outlives the model. The caller frees it with `eliza_inference_vocab_free`. */
export function readVocabulary(library: Library, context: Handle): Handle {
  const out = new OutSlot();
  const error = new OutError();
  const status = library.symbols.eliza_inference_vocab_from_context(context, out.view, error.view);
  if (status < 0) throw error.take(library, status, "the vocabulary cannot be read");
  return out.handle;
}

/** The token ids of a text. */
export function tokenize(
  library: Library,
  context: Handle,
  text: string,
  addSpecial: boolean,
  parseSpecial: boolean,
): Int32Array {
  const bytes = encodeUtf8(text);
  const tokens = new OutSlot();
  const count = new OutSlot();
  const error = new OutError();
  const { eliza_inference_tokenize: call, eliza_inference_free_tokens: free } = library.symbols;
  const [add, parse] = [addSpecial ? 1 : 0, parseSpecial ? 1 : 0];
  const status = call(context, bytes, bytes.length, add, parse, tokens.view, count.view, error.view);
  if (status < 0) throw error.take(library, status, "the text cannot be tokenised");
  const copy = library.memory.copy(tokens.handle, count.value * Int32Array.BYTES_PER_ELEMENT);
  free(tokens.handle);
  return new Int32Array(copy.buffer);
}

/** The text of token ids; bytes that are not UTF-8 become U+FFFD. */
export function detokenize(
  library: Library,
  context: Handle,
  tokens: Int32Array,
  removeSpecial: boolean,
  unparseSpecial: boolean,
): string {
  const error = new OutError();
  const [remove, unparse] = [removeSpecial ? 1 : 0, unparseSpecial ? 1 : 0];
  const write = (text: Uint8Array): number => {
    const { eliza_inference_detokenize: call } = library.symbols;
    const length = call(context, tokens, tokens.length, remove, unparse, text, text.length, error.view);
    if (length < 0) throw error.take(library, length, "the tokens cannot be written as text");
    return length;
  };
  let text = new Uint8Array(8 * tokens.length + 64);
  const length = write(text);
  if (length >= text.length) {
    text = new Uint8Array(length + 1);
    write(text);
  }
  return decodeUtf8(text.subarray(0, length));
}

/** How the vectors of a text's tokens become its embedding. */
export const Pooling = {
  MEAN: ELIZA_POOLING_MEAN,
  /** That of the first token, as of models with a classification token. */
  FIRST: ELIZA_POOLING_FIRST,
  /** That of the last token, as of models that generate. */
  LAST: ELIZA_POOLING_LAST,
} as const;

/** The embedding of a text; `pooling` is one of Pooling. */
export function embed(library: Library, context: Handle, text: string, pooling: number): Float32Array {
  const bytes = encodeUtf8(text);
  const dimension = new Int32Array(1);
  const error = new OutError();
  const { eliza_inference_embed: call } = library.symbols;
  const write = (out: Float32Array | null, errorOut: BigUint64Array | null): number =>
    call(context, bytes, bytes.length, pooling, out, out?.length ?? 0, dimension, errorOut);
  write(null, null); // fails, and tells the dimension
  const vector = new Float32Array(dimension[0]!);
  const status = write(vector, error.view);
  if (status < 0) throw error.take(library, status, "the text cannot be embedded");
  return vector;
}
