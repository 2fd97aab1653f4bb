// A model's `generate` of transformers.js, over logits that this program makes: prints the texts of two sequences, one
// line of JSON. `node transformers.mjs PACKAGE`.
import { LlamaForCausalLM, LogitsProcessorList, PretrainedConfig, Tensor } from "@huggingface/transformers";

const { Constraint, Vocabulary, transformersProcessor } = await import(process.argv[2]);

const [END, WIDTH] = [256, 264];
const config = new PretrainedConfig({
  model_type: "llama",
  num_attention_heads: 1,
  num_key_value_heads: 1,
  num_hidden_layers: 1,
  hidden_size: 8,
  head_dim: 8,
  vocab_size: WIDTH,
});

/** Logits as a model makes them that has learnt nothing: wild, but the same for the same ids. */
async function forward({ input_ids: ids }) {
  const [nRows, nIds] = ids.dims;
  const data = Float32Array.from(
    { length: nRows * nIds * WIDTH },
    (_, i) => 10 * Math.sin(i * 12.9898 + Number(ids.data[0]) * 7),
  );
  return { logits: new Tensor("float32", data, [nRows, nIds, WIDTH]) };
}

const model = Object.assign(new LlamaForCausalLM(config, {}, {}), { forward });
const tokenBytes = Array.from({ length: END + 1 }, (_, id) => (id < END ? Uint8Array.of(id) : new Uint8Array(0)));
const vocabulary = new Vocabulary(END + 1, { tokenBytes, flags: tokenBytes.map((bytes) => (bytes.length ? 0 : 3)) });
const processors = new LogitsProcessorList();
processors.push(transformersProcessor(Constraint.regex(vocabulary, "[a-z]{2,5}=[0-9]{1,9};")));

const generate = async (prompt) => {
  const inputs = new Tensor("int64", prompt, [2, prompt.length / 2]);
  const ids = await model.generate({ inputs, logits_processor: processors, max_new_tokens: 24, eos_token_id: END });
  return ids.tolist().map((row) => row.slice(prompt.length / 2).map(Number));
};
// The second prompt is another one: the same processor begins again.
const rows = [...(await generate([1n, 2n, 3n, 4n])), ...(await generate([5n, 6n, 7n, 8n, 9n, 10n]))];
console.log(JSON.stringify(rows));
