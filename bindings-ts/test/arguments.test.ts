/** Arguments that TypeScript refuses and JavaScript lets through. */
import { describe, expect, test } from "bun:test";
import { Constraint, Matcher, Model, Stream, TokenFlag, Vocabulary, fillBitmaps } from "../src";
import { failure, libraryWithLlama, modelPath } from "./support";

const vocabulary = new Vocabulary(256, {
  tokenBytes: Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  flags: Array.from({ length: 256 }, (_, byte) => (byte === 255 ? TokenFlag.END_OF_GENERATION : 0)),
});
const constraint = Constraint.regex(vocabulary, "a");
const matcher = new Matcher(constraint);
const tree = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "A", tokens: [1] }] }] };
const model = new Model(modelPath, { library: libraryWithLlama() });
const stream = model.stream();

/** Calls with arguments of wrong types, and the message of each. */
function testRefusals(cases: [call: () => unknown, message: string][]): void {
  for (const [call, message] of cases) {
    test(String(call), () => expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_INVALID_ARG", message }));
  }
}

const any = (value: unknown): never => value as never;

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
    [
      () => new Matcher(any(tree)),
      "constraint: expected a Constraint, got an object (new Constraint(vocabulary, tree) makes one)",
    ],
    [() => new Stream(any(vocabulary), {}), "model: expected a Model, got Vocabulary"],
    [
      () => stream.setConstraint(any(matcher)),
      "constraint: expected a Constraint, got Matcher (use the constraint that it was made from)",
    ],
    [() => stream.setConstraint(any(vocabulary)), "constraint: expected a Constraint, got Vocabulary"],
    [
      () => fillBitmaps([matcher, any(constraint)], new Int32Array(16)),
      "matchers[1]: expected a Matcher, got Constraint",
    ],
    [() => fillBitmaps([any(constraint)]), "matchers[0]: expected a Matcher, got Constraint"],
    [
      () => stream.choose(any(matcher)),
      "payload: expected a token tree, as Model.tokenTree(names) makes it, got Matcher",
    ],
  ]);
});

describe("one text is no list of texts", () => {
  testRefusals([
    [() => model.tokenTree(any("REPLY")), "names: expected several names, got one string"],
    [() => model.tokenTree(any(5)), "names: expected several names, got a number"],
    [() => model.tokenTree(["REPLY", ""]), "names[1] is empty"],
    [() => model.tokenTree([any(1)]), "names[0]: expected a string, got a number"],
    [() => Constraint.choices(vocabulary, "abc"), "strings: expected several strings, got one string"],
    [
      () => Constraint.choices(vocabulary, any(Uint8Array.of(1))),
      "strings: expected several strings, got one Uint8Array",
    ],
    [() => Constraint.choices(vocabulary, any(undefined)), "strings: expected several strings, got undefined"],
    [
      () => Constraint.choices(vocabulary, ["a", any(1)]),
      "strings[1]: expected a string or a Uint8Array, got a number",
    ],
  ]);

  test("any iterable of names makes a tree", () => {
    expect(model.tokenTree(any(new Set(["REPLY", "STOP"])))).toEqual(model.tokenTree(["REPLY", "STOP"]));
  });
});

describe("a value of a wrong type is named", () => {
  testRefusals([
    [() => Constraint.regex(vocabulary, any(/a/)), "pattern: expected a string, got RegExp"],
    [() => Constraint.lark(vocabulary, any(undefined)), "grammar: expected a string, got undefined"],
    [() => Constraint.jsonSchema(vocabulary, any(undefined)), schemaExpected("undefined")],
    [() => Constraint.jsonSchema(vocabulary, any([])), schemaExpected("an array")],
    [() => Constraint.jsonSchema(vocabulary, new Map()), schemaExpected("Map")],
    [() => Constraint.jsonSchema(vocabulary, { minimum: Number.NaN }), "schema: minimum: JSON has no NaN"],
    [() => Constraint.jsonSchema(vocabulary, "\ud800"), "schema: not valid Unicode"],
    [
      () => Constraint.jsonSchema(vocabulary, true, { space: any("wide") }),
      "space: wide is none of loose, compact, spaced, any",
    ],
    [() => Constraint.open(vocabulary, any(null)), "path: expected a string, got null"],
    [() => new Model(any(undefined), { library: model.library }), "path: expected a string, got undefined"],
    [() => Vocabulary.open(any([])), "path: expected a string, got an array"],
    [() => new Vocabulary(2, { modelId: any(5) }), "modelId: expected a string, got a number"],
    [() => matcher.activate(any(undefined)), "path: expected a string, got undefined"],
    [() => matcher.accept(any(5n)), "token: 5 is not a 32-bit integer"],
    [() => matcher.accept(any("5")), "token: 5 is not a 32-bit integer"],
    [() => new Matcher(constraint, { end: any(5) }), "end: expected token ids, got a number"],
    [() => model.tokenize(any(undefined)), "text: expected a string, got undefined"],
    [() => model.detokenize(any("abc")), "tokens: expected token ids, got a string"],
    [() => stream.prefill(any(undefined)), "prompt: expected a string or token ids, got undefined"],
    [() => stream.prefill(any(["a"])), "prompt[0]: a is not an integer from -2147483648 to 2147483647"],
    [() => model.stream({ grammar: any(5) }), "grammar: expected a string, got a number"],
  ]);
});

describe("an unknown option is named", () => {
  const message = "unknown option max_tokens";
  const unknown = any({ max_tokens: 3 });
  testRefusals([
    [() => new Model(modelPath, unknown), message],
    [() => model.stream(unknown), message],
    [() => model.stream(any({ gbnfGrammar: "root ::= [a]" })), "unknown option gbnfGrammar"],
    [() => model.stream(any({ toString: 1 })), "unknown option toString"],
    [() => model.tokenize("a", unknown), message],
    [() => model.detokenize([1], unknown), message],
    [() => model.tokenTree(["A"], unknown), message],
    [() => stream.prefill("a", unknown), message],
    [() => stream.step(unknown), message],
    [() => stream.generate(undefined, unknown), message],
    [() => stream.choose(tree, unknown), message],
    [() => stream.span(tree, unknown), message],
    [() => stream.span(constraint, unknown), message],
    [() => stream.setConstraint(constraint, 0, unknown), message],
    [() => stream.setSampling(unknown), message],
    [() => new Vocabulary(2, unknown), message],
    [() => Vocabulary.open(modelPath, unknown), message],
    [() => Vocabulary.fromGguf(modelPath, unknown), message],
    [() => Vocabulary.fromTiktoken([[Uint8Array.of(1), 0]], unknown), message],
    [() => Constraint.choices(vocabulary, ["a"], unknown), message],
    [() => Constraint.regex(vocabulary, "a", unknown), message],
    [
      () => Constraint.toolCalls(vocabulary, [], any("required")),
      'options: expected an object such as { toolChoice: "required" }, got a string',
    ],
    [() => Constraint.regex(vocabulary, "a", { budget: unknown }), message],
    [() => Constraint.lark(vocabulary, 'start: "a"', unknown), message],
    [() => Constraint.jsonSchema(vocabulary, true, unknown), message],
    [() => Constraint.open(vocabulary, modelPath, unknown), message],
    [() => constraint.prepare(unknown), message],
    [() => new Matcher(constraint, unknown), message],
    [() => matcher.sample(new Float32Array(256), 0, unknown), message],
  ]);
});

describe("a seed is an integer of 64 bits", () => {
  const refused = (seed: unknown) => `seed: ${seed} is not an integer from 0 to 18446744073709551615`;
  testRefusals([
    [() => model.stream({ seed: -1 }), refused(-1)],
    [() => stream.setSeed(2n ** 64n), refused(2n ** 64n)],
    [() => matcher.setSeed(-1n), refused(-1)],
    [() => matcher.setSeed(0.5), refused(0.5)],
    [() => matcher.setSeed(any("7")), refused(7)],
    [() => new Matcher(constraint, { seed: NaN }), refused(NaN)],
  ]);

  test.each([0, 7, 2 ** 60, 2n ** 64n - 1n])("such as %p", (seed) => matcher.setSeed(seed));
});

function schemaExpected(got: string): string {
  return `schema: expected a plain object, a boolean, a text or a Zod schema, got ${got} (Zod has it from 4.2 on)`;
}
