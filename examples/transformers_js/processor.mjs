// A constraint in transformers.js, in Node.js or a page: the processor, and how a model's `generate` calls it.
import { LogitsProcessorList, Tensor } from "@huggingface/transformers";
import { Constraint, TokenFlag, Vocabulary, transformersProcessor } from "eliza-inference";

// Single bytes, and a token that ends the text. A real program has `Vocabulary.fromTokenizerJson`.
const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, id) => (id < END ? Uint8Array.of(id) : new Uint8Array(0)));
const flags = tokenBytes.map((_, id) => (id < END ? 0 : TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

const processors = new LogitsProcessorList();
processors.push(transformersProcessor(Constraint.regex(vocabulary, "(SET|STOP)_TIMER")));

// A real program has the model do the rest: await model.generate({ ...inputs, logits_processor: processors })
const rows = [[1n], [2n]]; // a batch of two prompts
const answers = ["", ""];
while (!rows.every((row) => row.at(-1) === BigInt(END))) {
  const data = Float32Array.from({ length: rows.length * vocabulary.size }, (_, i) => Math.sin(i)); // these say nothing
  processors(rows, new Tensor("float32", data, [rows.length, vocabulary.size]));
  for (const [i, row] of rows.entries()) {
    const logits = data.subarray(i * vocabulary.size, (i + 1) * vocabulary.size);
    const token = logits.indexOf(Math.max(...logits));
    row.push(BigInt(token));
    if (token !== END) answers[i] += String.fromCharCode(token);
  }
}
console.log(answers.map((answer) => /^(SET|STOP)_TIMER$/.test(answer))); // prints: [ true, true ]
