// A JSON document of a schema, with any engine's logits, in Node.js or Deno with the package eliza-inference.
import { Constraint, Matcher, Mode, TokenFlag, Vocabulary } from "eliza-inference";

// Single bytes, and a token that ends the text. A real program has `Vocabulary.fromTokenizerJson`.
const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, id) => (id < END ? Uint8Array.of(id) : new Uint8Array(0)));
const flags = tokenBytes.map((_, id) => (id < END ? 0 : TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

const schema = {
  type: "object",
  properties: { colour: { enum: ["red", "green", "blue"] }, size: { type: "integer", minimum: 1, maximum: 9 } },
  required: ["colour", "size"],
};
const matcher = new Matcher(Constraint.jsonSchema(vocabulary, schema, { space: "compact" }), { seed: 7 });

const logits = new Float32Array(vocabulary.size); // a model's; these say nothing
const text = [];
for (let token = -1; token !== END; ) {
  token = matcher.sample(logits, Mode.SAMPLED);
  matcher.accept(token);
  if (token !== END) text.push(token);
}
const document = JSON.parse(Buffer.from(text).toString());
console.log(Object.keys(document)); // prints: [ 'colour', 'size' ]
