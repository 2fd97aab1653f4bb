/** The processors for hosts of browsers; tests/web runs transformers.js itself. */
import { expect, test } from "bun:test";
import { Constraint, TokenFlag, Vocabulary, WebLlmProcessor, transformersProcessor } from "../src";
import { failure } from "./support";

const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, id) => (id < END ? Uint8Array.of(id) : new Uint8Array(0)));
const flags = tokenBytes.map((_, id) => (id < END ? 0 : TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION));
const vocabulary = new Vocabulary(END + 1, { tokenBytes, flags });
const constraint = Constraint.regex(vocabulary, "ab?");

/** The ids that are not masked, of logits that are wider than the vocabulary. */
function left(logits: Float32Array): number[] {
  return [...logits.keys()].filter((id) => logits[id] !== -Infinity);
}

const legal = (processor: WebLlmProcessor): number[] => left(processor.processLogits(new Float32Array(300)));
const [a, b] = [97, 98];

test("WebLLM's processor follows a text, and begins another one after its end", () => {
  const processor = new WebLlmProcessor(constraint);
  for (let answer = 0; answer < 2; answer++) {
    expect(legal(processor)).toEqual([a]);
    processor.processSampledToken(a);
    expect(legal(processor)).toEqual([b, END]);
    processor.processSampledToken(END);
  }
  processor.processLogits(new Float32Array(300));
  processor.processSampledToken(a);
  processor.resetState();
  expect(legal(processor)).toEqual([a]);
});

test("a token that the mask left out is an error", () => {
  const processor = new WebLlmProcessor(constraint);
  expect(failure(() => processor.processSampledToken(b)).statusName).toBe("ELIZA_ERR_STATE");
});

test("transformers' processor goes back where a sequence does, and begins again with a prompt", () => {
  const processor = transformersProcessor(constraint);
  const step = (...ids: number[]): number[] => {
    const logits = { dims: [1, 300], data: new Float32Array(300) };
    return left(processor([ids.map(BigInt)], logits).data);
  };
  expect(step(7)).toEqual([a]);
  expect(step(7, a)).toEqual([b, END]);
  expect(step(7, a, END)).toEqual([END]);
  expect(step(7, a, b)).toEqual([END]);
  expect(step(7, a, b, END)).toEqual([END]);
  expect(step(7)).toEqual([a]);
  expect(step(8, 9)).toEqual([a]);
  processor.reset();
  expect(step(8, 9, a)).toEqual([a]);
});
