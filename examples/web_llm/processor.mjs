// A constraint in WebLLM: the processor, and how its engine calls it.
import { Constraint, TokenFlag, Vocabulary, WebLlmProcessor } from "eliza-inference";

// Single bytes, and a token that ends the text. A real program has `Vocabulary.fromTokenizerJson`.
const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, id) => (id < END ? Uint8Array.of(id) : new Uint8Array(0)));
const flags = tokenBytes.map((_, id) => (id < END ? 0 : TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

const processor = new WebLlmProcessor(Constraint.choices(vocabulary, ["red", "green", "blue"]));

// A real program has the engine do the rest:
//   await CreateMLCEngine(modelId, { logitProcessorRegistry: new Map([[modelId, processor]]) })
let answer = "";
for (let token = -1; token !== END; ) {
  const logits = Float32Array.from(tokenBytes, (_, id) => id); // these would rather say `zzz`
  processor.processLogits(logits);
  token = logits.indexOf(Math.max(...logits));
  processor.processSampledToken(token);
  if (token !== END) answer += String.fromCharCode(token);
}
console.log(answer); // prints: red
