/** Choices, regular expressions and grammars as this binding serves them; what they mean is in tests/conformance. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import {
  Constraint,
  ConstraintKind,
  type JsonDraft,
  type JsonSpace,
  Matcher,
  Step,
  TokenFlag,
  Vocabulary,
  fillBitmaps,
  grammars,
  maskRows,
} from "../src";
import { failure } from "./support";

const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
afterAll(() => rmSync(folder, { recursive: true }));

const END = 256;
const WORDS = ["yes", "no", "ye", "true", "false", "null", "{}", "12", "  "];

/** Each byte, the end of generation, and some words. */
function newVocabulary(): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const tokenBytes = [...bytes, Buffer.from("<end>"), ...WORDS.map((word) => Buffer.from(word))];
  const flags = tokenBytes.map((_, token) => (token === END ? TokenFlag.END_OF_GENERATION | TokenFlag.SPECIAL : 0));
  return new Vocabulary(tokenBytes.length, { tokenBytes, flags });
}

const vocabulary = newVocabulary();

function idOf(text: string): number {
  return text.length === 1 ? text.charCodeAt(0) : 257 + WORDS.indexOf(text);
}

function ids(...texts: string[]): number[] {
  return texts.map(idOf).sort((a, b) => a - b);
}

function accept(matcher: Matcher, text: string): void {
  for (const byte of Buffer.from(text)) expect(matcher.accept(byte)).toBe(Step.IN_SPAN);
}

describe("Schemas in grammars", () => {
  test("a schema by name is whatever jsonSchema takes", () => {
    const schemas = { plain: { const: "a" }, text: '{"const": "a"}', zod: z.literal("a") };
    for (const [name, schema] of Object.entries(schemas)) {
      for (const imports of [{ [name]: schema }, (wanted: string) => (wanted === name ? schema : null)]) {
        using constraint = Constraint.lark(vocabulary, `start: "<" @${name} ">"`, { imports });
        using matcher = new Matcher(constraint);
        expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('<"a">');
      }
    }
    const refused = failure(() => Constraint.lark(vocabulary, "start: @other", { imports: schemas }));
    expect(refused.message).toContain("1:8: there is no grammar or schema other among those given");
  });
});

describe("Vocabulary", () => {
  test("prepare builds the trie, info counts it", () => {
    using fresh = newVocabulary();
    expect(fresh.info).toMatchObject({ nTokens: 266, nNodes: 0 });
    fresh.prepare();
    const { nNodes, nDuplicates, missingBytes, longestToken, fingerprint } = fresh.info;
    expect({ nDuplicates, missingBytes, longestToken }).toEqual({ nDuplicates: 0, missingBytes: 0, longestToken: 5 });
    expect(nNodes).toBeGreaterThan(257);
    expect(fingerprint).toBe(vocabulary.info.fingerprint);
  });

  test("bytes that are not known are an error", () => {
    using unknown = new Vocabulary(10);
    expect(failure(() => unknown.prepare()).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(failure(() => Constraint.regex(unknown, "a")).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("a saved vocabulary opens with the same tokens", () => {
    const path = join(folder, "h\u00e9.vocabulary");
    vocabulary.save(path);
    using opened = Vocabulary.open(path);
    expect(opened.size).toBe(vocabulary.size);
    expect(opened.info.fingerprint).toBe(vocabulary.info.fingerprint);
    expect(opened.info.nNodes).toBeGreaterThan(257);
    expect([idOf("yes"), END].map((token) => [opened.tokenBytes(token), opened.flags(token)])).toEqual(
      [idOf("yes"), END].map((token) => [vocabulary.tokenBytes(token), vocabulary.flags(token)]),
    );
    using matcher = new Matcher(Constraint.regex(opened, "yes|no"));
    expect([...matcher.allowed()!]).toEqual(ids("y", "n", "ye", "yes", "no"));
  });

  test("what is read into memory continues if the file changes, and trusted files must be whole", async () => {
    const paths = { vocabulary: join(folder, "own.vocabulary"), constraint: join(folder, "own.constraint") };
    vocabulary.save(paths.vocabulary);
    Constraint.regex(vocabulary, "yes|no").save(paths.constraint);
    for (const options of [{ copy: true }, { copy: true, trusted: true }, { trusted: true }, {}]) {
      using opened = Vocabulary.open(paths.vocabulary, options);
      using constraint = Constraint.open(opened, paths.constraint, options);
      const before: Record<string, Uint8Array<ArrayBuffer>> = {};
      for (const path of Object.values(paths)) before[path] = await Bun.file(path).bytes();
      if (options.copy) for (const path of Object.values(paths)) await Bun.write(path, "none");
      using matcher = new Matcher(constraint);
      expect([...matcher.allowed()!]).toEqual(ids("y", "n", "ye", "yes", "no"));
      expect(Buffer.from(opened.tokenBytes(idOf("yes"))).toString()).toBe("yes");
      for (const path of Object.values(paths)) await Bun.write(path, before[path]!);
    }
    for (const path of Object.values(paths)) await Bun.write(path, (await Bun.file(path).bytes()).slice(0, -1));
    for (const options of [{ copy: true }, { trusted: true }]) {
      expect(failure(() => Vocabulary.open(paths.vocabulary, options)).statusName).toBe("ELIZA_ERR_FILE_INVALID");
      expect(failure(() => Constraint.open(vocabulary, paths.constraint, options)).statusName).toBe(
        "ELIZA_ERR_FILE_INVALID",
      );
    }
  });

  test("a file that is missing, or damaged, is named or refused", async () => {
    const path = join(folder, "damaged.vocabulary");
    expect(failure(() => Vocabulary.open(path)).statusName).toBe("ELIZA_ERR_IO");
    vocabulary.save(path);
    const bytes = await Bun.file(path).bytes();
    bytes[bytes.length >> 1]! ^= 1;
    await Bun.write(path, bytes);
    expect(failure(() => Vocabulary.open(path)).statusName).toBe("ELIZA_ERR_FILE_INVALID");
    await Bun.write(path, bytes.slice(0, 20));
    expect(failure(() => Vocabulary.open(path)).statusName).toBe("ELIZA_ERR_FILE_INVALID");
  });
});

describe("a prompt that ends inside a word", () => {
  const texts = ["The answer is", " g", " gr", "re", "e", " green", " great", "en"];
  const tokenBytes = [...texts, "</s>"].map((text) => new Uint8Array(Buffer.from(text)));
  const flags = tokenBytes.map((_, token) => (token === texts.length ? TokenFlag.END_OF_GENERATION : 0));

  test("is taken back, and spelled again in other tokens", () => {
    using vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });
    const { tokens, prefill } = vocabulary.heal(["The answer is", " g", "re"].map((text) => texts.indexOf(text)));
    expect([...tokens]).toEqual([0]);
    expect(Buffer.from(prefill).toString()).toBe(" gre");
    using constraint = Constraint.choices(vocabulary, ["en", "y"]);
    using matcher = new Matcher(constraint, { prefill });
    expect(texts.filter((_, token) => matcher.allowed()!.includes(token))).toEqual([" g", " gr", " green"]);
    matcher.accept(texts.indexOf(" green"));
    expect(matcher.canStop).toBe(true);
    expect(failure(() => vocabulary.heal([99])).message).toBe("tokens[0]: 99 is outside 0..8");
    expect(failure(() => new Matcher(constraint, { prefill: "a".repeat(257) })).message).toBe(
      "prefill: 257 bytes are more than 256",
    );
  });
});

describe("Constraint", () => {
  test("choices allow each string in any tokenisation", () => {
    using constraint = Constraint.choices(vocabulary, new Set(["yes", Buffer.from("no"), "y\u00e9"]));
    expect(constraint.kind).toBe(ConstraintKind.CHOICES);
    expect(constraint.paths).toEqual([""]);
    using matcher = new Matcher(constraint);
    expect([...matcher.allowed()!]).toEqual(ids("y", "n", "ye", "yes", "no"));
    accept(matcher, "y\u00e9");
    expect([...matcher.allowed()!]).toEqual([END]);
    expect(matcher.accept(END)).toBe(Step.IN_SPAN | Step.SPAN_ENDED);
  });

  test("100,000 choices arrive whole", () => {
    const strings = Array.from({ length: 100_000 }, (_, i) => `n${i}`);
    using matcher = new Matcher(Constraint.choices(vocabulary, strings));
    accept(matcher, "n99999");
    expect(matcher.canStop).toBe(true);
    matcher.reset();
    accept(matcher, "n10000");
    expect(matcher.accept(idOf("0"))).toBe(Step.REFUSED);
  });

  test("canonical choices are a token tree of what the tokenizer gives", () => {
    using own = newVocabulary();
    const asked: string[] = [];
    own.setTokenizer((text) => {
      asked.push(Buffer.from(text).toString());
      return text.length === 3 ? [idOf("ye"), idOf("s")] : [idOf("n"), idOf("o")];
    });
    using constraint = Constraint.choices(own, ["yes", "no"], { canonical: true });
    expect(asked.sort()).toEqual(["no", "yes"]);
    expect(constraint.kind).toBe(ConstraintKind.TOKEN_TRIE);
    expect(constraint.paths).toEqual(["choices"]);
    using matcher = new Matcher(constraint);
    expect([...matcher.allowed()!]).toEqual(ids("n", "ye"));
  });

  test("a pattern is matched whole, with and without case", () => {
    using matcher = new Matcher(Constraint.regex(vocabulary, "yes|\\p{Lu}+"));
    accept(matcher, "yes");
    expect([...matcher.allowed()!]).toEqual([END]);
    using either = new Matcher(Constraint.regex(vocabulary, "yes", { ignoreCase: true }));
    accept(either, "YeS");
    expect(either.canStop).toBe(true);
  });

  test("the message of a bad pattern or grammar gives the place", () => {
    const pattern = failure(() => Constraint.regex(vocabulary, "ab(?>c)"));
    expect(pattern.statusName).toBe("ELIZA_ERR_GRAMMAR");
    expect(pattern.message).toStartWith("at byte 2: ");
    const grammar = failure(() => Constraint.lark(vocabulary, 'start: "a"\n  | b\n'));
    expect(grammar.statusName).toBe("ELIZA_ERR_GRAMMAR");
    expect(grammar.message).toStartWith("2:5: ");
  });

  test("a JSON Schema is an object, a boolean or a text", () => {
    for (const schema of [{ const: "a" }, '{"const": "a"}']) {
      using constraint = Constraint.jsonSchema(vocabulary, schema, { space: "compact" });
      expect(constraint.kind).toBe(ConstraintKind.JSON_SCHEMA);
      using matcher = new Matcher(constraint);
      expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('"a"');
    }
    using any = new Matcher(Constraint.jsonSchema(vocabulary, true));
    accept(any, '{"a": [1, 2]}');
    expect(any.canStop).toBe(true);
    expect(failure(() => Constraint.jsonSchema(vocabulary, false)).statusName).toBe("ELIZA_ERR_GRAMMAR");
  });

  test("what a JSON Schema cannot enforce is an error, and lenient a warning", () => {
    const schema = { properties: { a: { pattern: "(a)\\1" } } };
    const error = failure(() => Constraint.jsonSchema(vocabulary, schema));
    expect(error.statusName).toBe("ELIZA_ERR_GRAMMAR");
    expect(error.message).toStartWith("at #/properties/a/pattern: ");
    const { warnings } = Constraint.jsonSchema(vocabulary, schema, { lenient: true });
    expect(warnings.length).toBe(1);
    expect(warnings[0]).toStartWith("at #/properties/a/pattern: ");
  });

  test("white space stands where a JSON Schema's space says", () => {
    const schema = { type: "array", items: { const: 1 }, minItems: 2, maxItems: 2 };
    const forced = (space: JsonSpace): string =>
      Buffer.from(new Matcher(Constraint.jsonSchema(vocabulary, schema, { space })).forcedBytes()).toString();
    expect([forced("compact"), forced("spaced"), forced("loose")]).toEqual(["[1,1]", "[1, 1]", "["]);
    using loose = new Matcher(Constraint.jsonSchema(vocabulary, schema));
    accept(loose, "[\n    1,");
    using wide = new Matcher(Constraint.jsonSchema(vocabulary, schema, { space: "any" }));
    accept(wide, " \r\n\n [1 \n\n,");
  });

  test("a call that takes longer than maskMsMax fails, and the matcher is as it was", () => {
    const grammar = 'start: "a"~65000 | "a"~65000 "b"'; // its forced tokens take two million steps to find
    using matcher = new Matcher(Constraint.lark(vocabulary, grammar, { budget: { maskMsMax: 1 } }));
    for (let i = 0; i < 2; i++) {
      const thrown = failure(() => matcher.forced());
      expect([thrown.statusName, thrown.message]).toEqual(["ELIZA_ERR_LIMIT", expect.stringContaining("mask_ms_max")]);
    }
    expect(matcher.state.spanTokens).toBe(0);
    accept(matcher, "a");
    expect([...matcher.allowed()!]).toEqual(ids("a"));
    expect(failure(() => Constraint.regex(vocabulary, "a", { budget: { maskMsMax: -1 } })).statusName).toBe(
      "ELIZA_ERR_INVALID_ARG",
    );
  });

  test("a JSON Schema is saved with the documents that it used", () => {
    const path = join(folder, "schema");
    const documents = { "http://h/a": { $ref: "b" }, "http://h/b": '{"const": [1]}' };
    Constraint.jsonSchema(vocabulary, { $ref: "http://h/a" }, { documents, space: "compact" }).save(path);
    using opened = Constraint.open(vocabulary, path);
    expect(opened.kind).toBe(ConstraintKind.JSON_SCHEMA);
    using matcher = new Matcher(opened);
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe("[1]");
    expect(opened.parse("[1]")).toEqual([1]);
  });

  test("a function gives documents, and may compile", () => {
    const asked: string[] = [];
    const documents = (uri: string): object | undefined => {
      asked.push(uri);
      if (uri.endsWith("inner")) return { const: "x" };
      if (uri.endsWith("none")) return undefined;
      using inner = new Matcher(Constraint.jsonSchema(vocabulary, { $ref: "http://h/inner" }, { documents }));
      return { const: Buffer.from(inner.forcedBytes()).toString() };
    };
    const schema = { allOf: [{ $ref: "http://h/é" }, { $ref: "http://h/é#" }] };
    using matcher = new Matcher(Constraint.jsonSchema(vocabulary, schema, { documents }));
    expect(asked).toEqual(["http://h/é", "http://h/inner"]);
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('"\\"x\\""');
    const dangling = failure(() => Constraint.jsonSchema(vocabulary, { $ref: "http://h/none" }, { documents }));
    expect(dangling.message).toBe(
      'at #/$ref: there is no "http://h/none": pass other documents with documents, in a grammar with imports',
    );
  });

  test("what a function of documents throws comes through", () => {
    const schema = { $ref: "http://h/a" };
    const thrown = new RangeError("mine");
    const documents = (): never => {
      throw thrown;
    };
    expect(() => Constraint.jsonSchema(vocabulary, schema, { documents })).toThrow(thrown);
    const wrong = (given: object): string =>
      failure(() => Constraint.jsonSchema(vocabulary, schema, { documents: given as Record<string, object> })).message;
    expect(wrong({ "http://h/a": 3 })).toStartWith("documents[http://h/a]: expected a plain object");
    expect(wrong({ "http://h/a": "" })).toStartWith('in "http://h/a": the schema is not JSON');
    expect(wrong({ "http://h/a": "\ud800" })).toBe("documents[http://h/a]: not valid Unicode");
    expect(wrong([])).toStartWith("documents: expected an object by URI");
  });

  test("a Zod schema constrains, and reads its documents", () => {
    const point = z.strictObject({ x: z.int().min(1).max(1), name: z.literal("p").transform((name) => name.length) });
    using constraint = Constraint.jsonSchema(vocabulary, point, { space: "compact" });
    using matcher = new Matcher(constraint);
    const document = Buffer.from(matcher.forcedBytes()).toString();
    expect(document).toBe('{"x":1,"name":"p"}');
    expect(constraint.parse(document)).toEqual({ x: 1, name: 1 });
    expect(() => constraint.parse('{"x": 2}')).toThrow(z.ZodError);
    using plain = Constraint.jsonSchema(vocabulary, z.toJSONSchema(z.boolean()));
    expect(plain.parse("true")).toBe(true);
    expect(failure(() => Constraint.regex(vocabulary, "a").parse("a")).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("the draft of a schema is an option", () => {
    using matcher = new Matcher(Constraint.jsonSchema(vocabulary, { enum: [1], const: 2 }, { draft: "4" }));
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe("1");
    const error = failure(() => Constraint.jsonSchema(vocabulary, true, { draft: "3" as JsonDraft }));
    expect(error.message).toBe("draft: 3 is none of 4, 6, 7, 2020-12, 2019-09");
  });

  test("what is no Unicode is an error, not a replacement character", () => {
    const calls: [() => unknown, string][] = [
      [() => Constraint.regex(vocabulary, "a\ud800"), "pattern: not valid Unicode"],
      [() => Constraint.lark(vocabulary, 'start: "\udc00"'), "grammar: not valid Unicode"],
      [() => Constraint.choices(vocabulary, ["a", "\ud83d"]), "strings[1]: not valid Unicode"],
    ];
    for (const [call, message] of calls) {
      expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_INVALID_ARG", message });
    }
  });

  test("an empty choice is an error", () => {
    expect(failure(() => Constraint.choices(vocabulary, ["a", ""])).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(failure(() => Constraint.choices(vocabulary, [])).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("warnings are lines", () => {
    expect(Constraint.regex(vocabulary, "a").warnings).toEqual([]);
    const { warnings } = Constraint.lark(vocabulary, 'start: "a"\nunused: "b"\n');
    expect(warnings.length).toBe(1);
    expect(warnings[0]).toContain("unused");
  });

  test("info is of token trees, recognizerInfo of recognizers", () => {
    using constraint = Constraint.lark(vocabulary, grammars.text("json"));
    expect(constraint.kind).toBe(ConstraintKind.GRAMMAR);
    expect(failure(() => constraint.info).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    const { nStates, nParserStates, nTerminals, nProductions, automatonBytes } = constraint.recognizerInfo;
    for (const size of [nStates, nParserStates, nTerminals, nProductions, automatonBytes]) {
      expect(size).toBeGreaterThan(0);
    }
  });

  test("prepare builds tables within the bound", () => {
    using constraint = Constraint.lark(vocabulary, grammars.text("json"), { budget: { maskBytesMax: 1 << 20 } });
    constraint.prepare({ msMax: 600_000, cancel: () => false });
    const { nTables, tableBytes } = constraint.recognizerInfo;
    expect(nTables).toBeGreaterThan(0);
    expect(tableBytes).toBeLessThanOrEqual(1 << 20);
  });

  test("a saved constraint opens for the same vocabulary alone", () => {
    const path = join(folder, "json.constraint");
    using constraint = Constraint.lark(vocabulary, grammars.text("json"));
    constraint.prepare();
    constraint.save(path);
    using opened = Constraint.open(vocabulary, path, { budget: { maskBytesMax: 1 << 20 } });
    expect(opened.kind).toBe(ConstraintKind.GRAMMAR);
    const [matcher, mapped] = [new Matcher(constraint), new Matcher(opened)];
    for (const byte of Buffer.from('{"a": [12, nul')) {
      expect(mapped.allowed()).toEqual(matcher.allowed());
      expect([matcher.accept(byte), mapped.accept(byte)]).toEqual([Step.IN_SPAN, Step.IN_SPAN]);
    }
    using other = new Vocabulary(2, { tokenBytes: [Buffer.from("{"), Buffer.from("}")] });
    expect(failure(() => Constraint.open(other, path)).statusName).toBe("ELIZA_ERR_FILE_INVALID");
    expect(failure(() => Constraint.open(vocabulary, join(folder, "none"))).statusName).toBe("ELIZA_ERR_IO");
    using tree = new Constraint(vocabulary, {
      modelId: "",
      descriptors: [{ path: "", leaves: [{ name: "A", tokens: [1] }] }],
      names: "labels",
    });
    expect(failure(() => tree.save(path)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });
});

describe("Budget", () => {
  test("what is beyond it is an error that names it", () => {
    const { statusName, message } = failure(() =>
      Constraint.regex(vocabulary, "a text of many states", { budget: { statesMax: 10 } }),
    );
    expect(statusName).toBe("ELIZA_ERR_LIMIT");
    expect(message).toContain("states");
    expect(failure(() => Constraint.regex(vocabulary, "((ab){1,1000}){1,1000}")).statusName).toBe("ELIZA_ERR_LIMIT");
  });

  test("cancel stops the compilation, and so does an error in it, which comes out", () => {
    const compile = (cancel: () => boolean) => Constraint.regex(vocabulary, "\\w{1,30}x", { budget: { cancel } });
    expect(failure(() => compile(() => true)).statusName).toBe("ELIZA_ERR_CANCELLED");
    const failing = () => {
      throw new RangeError("no more");
    };
    expect(() => compile(failing)).toThrow(new RangeError("no more"));
    compile(() => false).close();
  });

  test("it bounds and cancels JSON Schemas, too", () => {
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`key ${i}`, { enum: [i] }]));
    const compile = (budget: object) => () => Constraint.jsonSchema(vocabulary, { properties }, { budget });
    expect(failure(compile({ bytesMax: 1000 })).message).toEndWith("needs more than 1000 bytes");
    let asked = 0;
    expect(failure(compile({ cancel: () => ++asked === 2 })).statusName).toBe("ELIZA_ERR_CANCELLED");
    expect(asked).toBe(2);
    const thrown = new RangeError("mine");
    const cancel = () => {
      throw thrown;
    };
    expect(compile({ cancel })).toThrow(thrown);
  });

  test.each([0, -1, 0.5, 65_536])("statesMax %p is an error", (statesMax) => {
    expect(failure(() => Constraint.regex(vocabulary, "a", { budget: { statesMax } }))).toEqual({
      statusName: "ELIZA_ERR_INVALID_ARG",
      message: `statesMax: ${statesMax} is not an integer from 1 to 65535`,
    });
  });
});

describe("Matcher", () => {
  test("the legal tokens as a list, and as a bitmap where that is their natural form", () => {
    using matcher = new Matcher(Constraint.regex(vocabulary, "yes|no"));
    const allowed = matcher.allowed()!;
    const words = matcher.fillBitmap();
    expect(words.length).toBe(Math.ceil(vocabulary.size / 32));
    expect(bitsOf(words)).toEqual([...allowed]);
    const natural = matcher.bitmap();
    if (natural) expect(natural).toEqual(words);
    const longer = new Int32Array(words.length + 3).fill(-1);
    expect(matcher.fillBitmap(longer)).toBe(longer);
    expect(bitsOf(longer)).toEqual([...allowed]);
  });

  test("a wide set is a bitmap, lent until the matcher changes", () => {
    // More tokens than any list would hold.
    const tokenBytes = Array.from({ length: 40_000 }, (_, i) => Buffer.from(i.toString(36)));
    using wide = new Vocabulary(tokenBytes.length, { tokenBytes });
    using matcher = new Matcher(Constraint.regex(wide, "[0-9a-z]*"), { end: [] });
    matcher.accept(10);
    expect(matcher.allowed()).toBeNull(); // it may stop, and then everything is allowed
    using must = new Matcher(Constraint.regex(wide, "[0-9a-z]*!"), { end: [] });
    const words = must.bitmap()!;
    expect(bitsOf(words)).toEqual([...tokenBytes.keys()]);
    expect(must.allowed()).toEqual(Int32Array.from(tokenBytes.keys()));
    expect(must.fillBitmap()).toEqual(words);
  });

  test("the list of a recognizer is a copy", () => {
    using matcher = new Matcher(Constraint.regex(vocabulary, "yes|no"));
    const before = matcher.allowed()!;
    const kept = [...before];
    accept(matcher, "n");
    expect([...matcher.allowed()!]).toEqual(ids("o"));
    expect([...before]).toEqual(kept);
  });

  test("end tokens: by default those of the vocabulary, the given ones, or none", () => {
    const constraint = Constraint.regex(vocabulary, "no*");
    const after = (end?: number[]) => {
      const matcher = new Matcher(constraint, { end });
      accept(matcher, "n");
      return matcher.allowed();
    };
    expect([...after()!]).toEqual([idOf("o"), END]);
    expect([...after([idOf("!"), idOf(".")])!]).toEqual(ids("!", ".", "o"));
    expect(after([])).toBeNull();
    expect(failure(() => new Matcher(constraint, { end: [1.5] })).message).toContain("end[0]: 1.5");
    expect(failure(() => new Matcher(constraint, { end: [vocabulary.size] })).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("a span timeout counts in recognizers, too", () => {
    using matcher = new Matcher(Constraint.regex(vocabulary, "a*"), { spanTimeout: 2 });
    accept(matcher, "a");
    expect(matcher.accept(idOf("a"))).toBe(Step.IN_SPAN | Step.SPAN_ENDED | Step.TIMED_OUT);
    expect(failure(() => new Matcher(Constraint.regex(vocabulary, "a"), { spanTimeout: 0 })).statusName).toBe(
      "ELIZA_ERR_INVALID_ARG",
    );
  });

  test("the rows of a batch are masked in place", () => {
    const constraint = Constraint.lark(vocabulary, grammars.text("json"));
    const matchers = ['{"a"', "[1", "tru"].map((text) => {
      const matcher = new Matcher(constraint);
      accept(matcher, text);
      return matcher;
    });
    const width = vocabulary.size + 3;
    const expected = [2, 0, 1].map((place) => {
      const row = new Float32Array(width).fill(1);
      matchers[place]!.maskLogits(row);
      return [...row];
    });
    for (const nThreads of [0, 2]) {
      const logits = new Float32Array(4 * width).fill(1);
      maskRows(matchers, logits, width, { rows: [1, 2, 0], nThreads });
      expect([...logits.subarray(0, 3 * width)]).toEqual(expected.flat());
      expect(logits.subarray(3 * width).every((logit) => logit === 1)).toBe(true);
    }
    const logits = new Float32Array(3 * width);
    maskRows(matchers, logits, width);
    expect(logits[vocabulary.size]).toBe(Number.NEGATIVE_INFINITY);
    maskRows([], logits, width);
    expect(failure(() => maskRows([matchers[0]!, matchers[0]!], logits, width)).message).toContain("twice");
    expect(failure(() => maskRows(matchers, logits, width, { rows: [0, 1] })).message).toBe("rows: 2 for 3 matchers");
    expect(failure(() => maskRows(matchers, logits, width, { rows: [0, 1, 3] })).message).toContain("rows[2]");
    expect(failure(() => maskRows(matchers, logits, width + 1)).message).toContain("rows[2]");
    expect(failure(() => maskRows(matchers, logits, vocabulary.size - 1)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("many bitmaps at once, with threads", () => {
    const constraint = Constraint.lark(vocabulary, grammars.text("json"));
    const matchers = ['{"a"', "[1", "tru", '"x', ""].map((text) => {
      const matcher = new Matcher(constraint);
      accept(matcher, text);
      return matcher;
    });
    const nWords = Math.ceil(vocabulary.size / 32);
    const expected = matchers.flatMap((matcher) => [...matcher.fillBitmap()]);
    for (const nThreads of [0, 1, 3]) {
      const words = new Int32Array(matchers.length * nWords);
      expect(fillBitmaps(matchers, words, nThreads)).toBe(words);
      expect([...words]).toEqual(expected);
    }
    expect([...fillBitmaps(matchers)]).toEqual(expected);
    expect(fillBitmaps([])).toEqual(new Int32Array(0));
    expect(failure(() => fillBitmaps([matchers[0]!, matchers[0]!])).message).toBe("matchers: one is there twice");
    expect(failure(() => fillBitmaps(matchers, new Int32Array(nWords))).message).toContain("rows");
    expect(failure(() => fillBitmaps(matchers, new Int32Array(matchers.length))).statusName).toBe(
      "ELIZA_ERR_INVALID_ARG",
    );
    expect(failure(() => matchers[0]!.fillBitmap(new Int32Array(nWords - 1))).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(failure(() => matchers[0]!.fillBitmap(new Uint8Array(999) as unknown as Int32Array)).message).toBe(
      "words: expected an Int32Array, got Uint8Array",
    );
  });

  test("forced bytes, also a long run, and their tokens", () => {
    using matcher = new Matcher(Constraint.regex(vocabulary, "yes(ab){500}c"));
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe(`yes${"ab".repeat(500)}c`);
    const tokens = [...matcher.forced()];
    const text = tokens.flatMap((token) => [...vocabulary.tokenBytes(token)]);
    expect(tokens[0]).toBe(idOf("yes"));
    expect(`yes${"ab".repeat(500)}c`).toStartWith(Buffer.from(text).toString());
  });

  test("info counts what it keeps", () => {
    using matcher = new Matcher(Constraint.lark(vocabulary, grammars.text("json")));
    accept(matcher, '{"a": [');
    matcher.allowed();
    const { retainedBytes, historyBytes, stackBytes, maskHits, maskMisses } = matcher.info;
    expect(retainedBytes).toBeGreaterThanOrEqual(historyBytes + stackBytes);
    expect(historyBytes).toBeGreaterThan(0);
    expect(maskHits + maskMisses).toBeGreaterThan(0);
  });

  test("a vocabulary and a constraint may be closed, and the rest continues", () => {
    const own = newVocabulary();
    const constraint = Constraint.regex(own, "yes|no");
    own.close();
    using matcher = new Matcher(constraint);
    constraint.close();
    accept(matcher, "no");
    expect([...matcher.fillBitmap()]).toEqual([...matcher.fillBitmap()]);
    expect(failure(() => constraint.kind).statusName).toBe("ELIZA_ERR_CLOSED");
    expect(failure(() => own.prepare()).statusName).toBe("ELIZA_ERR_CLOSED");
  });
});

describe("the tokenizer of a vocabulary", () => {
  test("spells forced bytes, until it is removed", () => {
    using own = newVocabulary();
    const constraint = Constraint.regex(own, "yes!?");
    const forced = () => [...new Matcher(constraint).forced()];
    expect(forced()).toEqual([idOf("yes")]);
    own.setTokenizer((text) => Int32Array.from(text));
    expect(forced()).toEqual([..."yes"].map(idOf));
    own.setTokenizer(null);
    expect(forced()).toEqual([idOf("yes")]);
  });

  test("what it throws comes out, and the matcher continues", () => {
    using own = newVocabulary();
    using matcher = new Matcher(Constraint.regex(own, "yes!?"));
    own.setTokenizer(() => {
      throw new RangeError("no tokens");
    });
    expect(() => matcher.forced()).toThrow(new RangeError("no tokens"));
    expect(() => Constraint.choices(own, ["yes"], { canonical: true })).toThrow(new RangeError("no tokens"));
    own.setTokenizer(() => [0.5]);
    expect(failure(() => matcher.forced()).message).toContain("tokens[0]: 0.5");
    own.setTokenizer(null);
    expect([...matcher.forced()]).toEqual([idOf("yes")]);
  });

  test("cannot use the matcher that asks it", () => {
    using own = newVocabulary();
    const matcher = new Matcher(Constraint.regex(own, "yes!?"));
    const refused: string[] = [];
    own.setTokenizer((text) => {
      for (const call of [
        () => matcher.accept(text[0]!),
        () => matcher.allowed(),
        () => matcher.forced(),
        () => matcher.reset(),
        () => matcher.clone(),
        () => matcher.close(),
      ])
        refused.push(failure(call).statusName);
      return Int32Array.from(text);
    });
    expect([...matcher.forced()]).toEqual([..."yes"].map(idOf));
    expect(refused).toEqual(Array(6).fill("ELIZA_ERR_BUSY"));
    matcher.close();
    expect(matcher.closed).toBe(true);
  });

  test("lives as long as a matcher that may call it, also when all else was collected", async () => {
    const matcher = ((): Matcher => {
      const own = newVocabulary();
      own.setTokenizer((text) => Int32Array.from(text));
      return new Matcher(Constraint.regex(own, "yes!?"));
    })();
    for (let i = 0; i < 10; i++) {
      Bun.gc(true);
      await new Promise(setImmediate);
    }
    expect([...matcher.forced()]).toEqual([..."yes"].map(idOf));
  });

  test("does not keep what it refers to", async () => {
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    const make = (): void => {
      const own = newVocabulary();
      registry.register(own, null);
      own.setTokenizer((text) => [own.size - text.length]);
    };
    for (let i = 0; i < 20; i++) make();
    for (let i = 0; i < 20 && collected === 0; i++) {
      Bun.gc(true);
      await new Promise(setImmediate);
    }
    expect(collected).toBeGreaterThan(0);
  });
});

describe("grammars", () => {
  test("all that ship compile, and are named", () => {
    const names = grammars.names();
    expect(names).toEqual(expect.arrayContaining(["arithmetic", "c11", "function_call", "json", "sql_select"]));
    for (const name of names) {
      using constraint = Constraint.lark(vocabulary, grammars.text(name));
      using matcher = new Matcher(constraint);
      // A file without a line is one of Python, and of Lark's notation.
      expect([name, matcher.canStop]).toEqual([name, ["lark", "python"].includes(name)]);
    }
  });

  test("a name that there is not is an error with those that there are", () => {
    const { statusName, message } = failure(() => grammars.text("../json"));
    expect(statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(message).toStartWith('no grammar "../json"; there are: arithmetic, c11,');
  });
});

function bitsOf(words: Int32Array): number[] {
  return Array.from({ length: 32 * words.length }, (_, bit) => bit).filter(
    (bit) => (words[bit >> 5]! >> (bit & 31)) & 1,
  );
}
