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
import { OutError, OutSlot, checkNoNul, checkStatus, encodeUtf8 } from "./memory.js";

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
