/** Arguments that TypeScript refuses and JavaScript lets through. */
import { describe, expect, test } from "bun:test";
import { Constraint, Matcher, Model, Stream, Vocabulary, fillBitmaps } from "../src";
import { failure, libraryWithLlama, modelPath } from "./support";

const vocabulary = new Vocabulary(256, { tokenBytes: Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)) });
const constraint = Constraint.regex(vocabulary, "a");
const matcher = new Matcher(constraint);
const tree = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "A", tokens: [1] }] }] };
const model = new Model(modelPath, { library: libraryWithLlama() });
const stream = model.stream();

/** Calls with arguments of wrong types, and the message of each. */
function testRefusals(cases: [call: () => unknown, message: string][]): void {
  test.each(cases)("%p", (call, message) => {
    expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_INVALID_ARG", message });
  });
}

const any = (value: unknown): any => value;

describe("an object of another class never reaches the library", () => {
  const noVocabulary = "vocabulary: expected a Vocabulary, got Model (use model.vocabulary)";
  testRefusals([
    [() => new Constraint(any(model), tree), noVocabulary],
    [() => Constraint.choices(any(model), ["a"]), noVocabulary],
    [() => Constraint.regex(any(model), "a"), noVocabulary],
    [() => Constraint.lark(any(model), 'start: "a"'), noVocabulary],
    [() => Constraint.open(any(model), modelPath), noVocabulary],
    [() => Constraint.regex(any(undefined), "a"), "vocabulary: expected a Vocabulary, got undefined"],
    [() => new Matcher(any(vocabulary)), "constraint: expected a Constraint, got Vocabulary"],
    [() => new Matcher(any(vocabulary), { end: [1] }), "constraint: expected a Constraint, got Vocabulary"],
    [() => new Matcher(any(tree)), "constraint: expected a Constraint, got an object (new Constraint(vocabulary, tree) makes one)"],
    [() => new Stream(any(vocabulary), {}), "model: expected a Model, got Vocabulary"],
    [
      () => stream.setConstraint(any(matcher)),
      "constraint: expected a Constraint, got Matcher (use the constraint that it was made from)",
    ],
    [() => stream.setConstraint(any(vocabulary)), "constraint: expected a Constraint, got Vocabulary"],
    [() => fillBitmaps([matcher, any(constraint)], new Int32Array(16)), "matchers[1]: expected a Matcher, got Constraint"],
    [() => fillBitmaps([any(constraint)]), "matchers[0]: expected a Matcher, got Constraint"],
    [() => stream.choose(any(matcher)), "payload: expected a token tree, as Model.tokenTree(names) makes it, got Matcher"],
  ]);
});
