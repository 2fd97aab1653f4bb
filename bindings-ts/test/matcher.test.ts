import { describe, expect, test } from "bun:test";
import {
  Constraint,
  ElizaInferenceError,
  Matcher,
  Mode,
  Step,
  TokenFlag,
  type TokenTreePayload,
  Vocabulary,
  encodePayload,
  setTrieCacheLimit,
  trieCacheStats,
} from "../src";
import { failure } from "./support";

const payload: TokenTreePayload = {
  modelId: "tiny",
  descriptors: [
    {
      path: "action",
      leaves: [
        { name: "REPLY", tokens: [10, 11, 12] },
        { name: "STOP", tokens: [20] },
      ],
    },
  ],
};

function newMatcher(): Matcher {
  return new Matcher(new Constraint(new Vocabulary(100), payload));
}

describe("Vocabulary", () => {
  test("gives back the bytes and the flags of each token", () => {
    const tokenBytes = [new Uint8Array([65]), new Uint8Array(0), new Uint8Array([0xf0, 0x9f])];
    using vocabulary = new Vocabulary(3, {
      tokenBytes,
      flags: [0, TokenFlag.END_OF_GENERATION | TokenFlag.SPECIAL, 0],
    });
    expect(vocabulary.size).toBe(3);
    expect([0, 1, 2].map((token) => vocabulary.tokenBytes(token))).toEqual(tokenBytes);
    expect([0, 1, 2].map((token) => vocabulary.flags(token))).toEqual([0, 3, 0]);
  });

  test("bytes that are not known are empty", () => {
    using vocabulary = new Vocabulary(2);
    expect(vocabulary.tokenBytes(1)).toEqual(new Uint8Array(0));
    expect(vocabulary.flags(1)).toBe(0);
  });

  test.each([2, -1, 1.5, NaN, 2 ** 40])("token %p is an error", (token) => {
    using vocabulary = new Vocabulary(2);
    expect(failure(() => vocabulary.flags(token))).toEqual({
      statusName: "ELIZA_ERR_INVALID_ARG",
      message: `token ${token} is not below the vocabulary size 2`,
    });
  });

  test("a wrong number of items names the list", () => {
    const make = () => new Vocabulary(3, { flags: [0] });
    expect(failure(make)).toEqual({ statusName: "ELIZA_ERR_INVALID_ARG", message: "flags: 1 items for 3 tokens" });
    expect(failure(() => new Vocabulary(3, { tokenBytes: [] })).message).toBe("tokenBytes: 0 items for 3 tokens");
  });

  test.each([0, -1, 1.5, 2 ** 31])("a size of %p is an error", (nTokens) => {
    expect(failure(() => new Vocabulary(nTokens)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });
});

describe("Constraint", () => {
  test("an object, its JSON and its MessagePack compile to the same", () => {
    using vocabulary = new Vocabulary(100, { modelId: "tiny" });
    const forms = [
      payload,
      encodePayload(payload),
      Buffer.from(encodePayload(payload)),
      encodePayload(payload, "msgpack"),
    ];
    for (const form of forms) {
      using constraint = new Constraint(vocabulary, form);
      expect(constraint.paths).toEqual(["action"]);
      expect(constraint.info).toMatchObject({ nDescriptors: 1, nLeaves: 2, longestLeafTokens: 3, widestNode: 2 });
    }
  });

  test("a descriptor may have a language, whose text is told", () => {
    const tokenBytes = ["go", "{", '"n"', ":", "1", "}", "x"].map((text) => Buffer.from(text));
    using vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes });
    const schema = {
      type: "object",
      properties: { n: { $ref: "urn:n" } },
      required: ["n"],
      additionalProperties: false,
    };
    const mixed: TokenTreePayload = {
      modelId: "",
      descriptors: [
        { path: "action", leaves: [{ name: "go", tokens: [0] }] },
        { path: "n", json_schema: schema, schema_options: { documents: { "urn:n": { type: "integer" } } } },
        { path: "x", regex: "x+", end: [0] },
      ],
    };
    for (const form of [mixed, encodePayload(mixed), encodePayload(mixed, "msgpack")]) {
      using constraint = new Constraint(vocabulary, form);
      expect(constraint.paths).toEqual(["action", "n", "x"]);
      using matcher = new Matcher(constraint);
      for (const token of [0, 1, 2, 3, 4, 5]) matcher.accept(token);
      expect(matcher.leaf).toBe('{"n":1}');
      matcher.accept(6);
      expect([matcher.leaf, [...(matcher.allowed() ?? [])]]).toEqual([null, [0, 6]]);
      matcher.accept(0);
      expect([matcher.leaf, matcher.state.leafDescriptor, matcher.state.leaf]).toEqual(["x", 2, -1]);
    }
  });

  test("the message of a bad payload gives the place", () => {
    using vocabulary = new Vocabulary(100);
    const bad = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "A", tokens: [1, 100] }] }] };
    const { statusName, message } = failure(() => new Constraint(vocabulary, bad));
    expect(statusName).toBe("ELIZA_ERR_PAYLOAD");
    expect(message).toContain("descriptors[0].leaves[0].tokens[1]");
  });

  test("a payload for another model is refused", () => {
    using vocabulary = new Vocabulary(100, { modelId: "other" });
    expect(failure(() => new Constraint(vocabulary, payload)).statusName).toBe("ELIZA_ERR_MODEL_MISMATCH");
  });

  test("paths of any script come back whole", () => {
    using vocabulary = new Vocabulary(100);
    const paths = ["\ufeffa", "contexts[]", "\u{1f600}", ""];
    const descriptors = paths.map((path) => ({ path, leaves: [{ name: path, tokens: [1] }] }));
    using constraint = new Constraint(vocabulary, { modelId: "", descriptors });
    expect(constraint.paths).toEqual(paths);
    using matcher = new Matcher(constraint);
    for (const path of paths) {
      matcher.activate(path);
      matcher.accept(1);
      expect(matcher.leaf).toBe(path);
    }
  });

  test("the cache counts hits, and a limit of 0 keeps nothing", () => {
    using vocabulary = new Vocabulary(100);
    const { bytesMax } = trieCacheStats();
    try {
      setTrieCacheLimit(0);
      expect(trieCacheStats()).toMatchObject({ entries: 0, bytes: 0, bytesMax: 0 });
      setTrieCacheLimit(bytesMax);
      const before = trieCacheStats();
      new Constraint(vocabulary, payload).close();
      new Constraint(vocabulary, payload).close();
      const after = trieCacheStats();
      expect({ hits: after.hits - before.hits, misses: after.misses - before.misses }).toEqual({ hits: 1, misses: 1 });
    } finally {
      setTrieCacheLimit(bytesMax);
    }
  });

  test.each([-1, 0.5, NaN, 2 ** 64])("a cache limit of %p is an error", (limit) => {
    expect(failure(() => setTrieCacheLimit(limit)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });
});

describe("Matcher", () => {
  test("walks a name to its leaf", () => {
    using matcher = newMatcher();
    expect(matcher.allowed()).toEqual(Int32Array.of(10, 20));
    expect(matcher.accept(30)).toBe(Step.REFUSED);
    expect(matcher.accept(10)).toBe(Step.IN_SPAN);
    expect(matcher.forced()).toEqual(Int32Array.of(11, 12));
    expect(matcher.canStop).toBe(false);
    matcher.accept(11);
    expect(matcher.accept(12)).toBe(Step.IN_SPAN | Step.SPAN_ENDED);
    expect(matcher.leaf).toBe("REPLY");
    expect(matcher.allowed()).toBeNull();
    expect(matcher.canStop).toBe(true);
    expect(matcher.state).toEqual({
      active: false,
      descriptor: -1,
      canStop: true,
      constrained: false,
      nAllowed: 0,
      spanTokens: 0,
      leafDescriptor: 0,
      leaf: 0,
      spansStarted: 1,
      spansEnded: 1,
      timeouts: 0,
      illegal: 0,
    });
    matcher.rollback(3);
    expect(matcher.state).toMatchObject({ active: true, spanTokens: 0, spansEnded: 0 });
    expect(matcher.leaf).toBeNull();
  });

  test("several tokens are taken together or not at all", () => {
    using matcher = newMatcher();
    expect(matcher.acceptTokens([10, 11, 20])).toBe(false);
    expect(matcher.state.spanTokens).toBe(0);
    expect(matcher.validateTokens([10, 11, 20])).toBe(2);
    expect(matcher.state.spanTokens).toBe(0);
    expect(matcher.acceptTokens([10, 11])).toBe(true);
    expect(matcher.state.spanTokens).toBe(2);
  });

  test("a forced run longer than the first buffer comes whole", () => {
    const tokens = Array.from({ length: 400 }, (_, i) => i % 100);
    const long = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "LONG", tokens }] }] };
    using matcher = new Matcher(new Constraint(new Vocabulary(100), long));
    expect([...matcher.forced()]).toEqual(tokens);
  });

  test("masks in place, also a view into a larger buffer", () => {
    using matcher = newMatcher();
    const whole = new Float32Array(300).fill(1);
    matcher.maskLogits(whole.subarray(100, 200));
    const kept = [...whole.keys()].filter((i) => whole[i] === 1);
    expect(kept).toEqual([...Array(100).keys(), 110, 120, ...Array.from({ length: 100 }, (_, i) => 200 + i)]);
  });

  test("samples the best legal token, and does not accept it", () => {
    using matcher = newMatcher();
    const logits = new Float32Array(100);
    logits[99] = 9;
    logits[20] = 1;
    expect(matcher.sample(logits)).toBe(20);
    expect(matcher.state.spanTokens).toBe(0);
  });

  test("the same seed gives the same draws, a clone continues with its own", () => {
    using matcher = newMatcher();
    const logits = new Float32Array(100);
    const draws = (from: Matcher) => Array.from({ length: 32 }, () => from.sample(logits, Mode.SAMPLED));
    matcher.setSeed(7n);
    using clone = matcher.clone();
    const first = draws(matcher);
    expect(new Set(first)).toEqual(new Set([10, 20]));
    expect(draws(clone)).toEqual(first);
    matcher.setSeed(7);
    expect(draws(matcher)).toEqual(first);
    using seeded = new Matcher(new Constraint(new Vocabulary(100), payload), { seed: 7 });
    expect(draws(seeded)).toEqual(first);
  });

  test("a span timeout ends the span", () => {
    using matcher = new Matcher(new Constraint(new Vocabulary(100), payload), { spanTimeout: 3 });
    matcher.setSpanTimeout(1);
    expect(matcher.accept(10)).toBe(Step.IN_SPAN | Step.SPAN_ENDED | Step.TIMED_OUT);
    expect(matcher.state.timeouts).toBe(1);
  });

  test("deactivate ends the span, activate opens it again, reset starts over", () => {
    using matcher = newMatcher();
    matcher.accept(10);
    matcher.deactivate();
    expect(matcher.allowed()).toBeNull();
    matcher.activate("action");
    expect(matcher.state).toMatchObject({ active: true, spanTokens: 0, spansStarted: 2, spansEnded: 1 });
    matcher.reset();
    expect(matcher.state).toMatchObject({ active: true, spansStarted: 1, spansEnded: 0 });
  });

  test("an allowed list outlives what made it for as long as it is used", async () => {
    const allowed = newMatcher().allowed()!;
    for (let i = 0; i < 20; i++) {
      newMatcher().allowed();
      Bun.gc(true);
      await new Promise(setImmediate); // collected objects are freed between tasks
    }
    expect(allowed).toEqual(Int32Array.of(10, 20));
  });

  test("what the argument check refuses changes nothing", () => {
    using matcher = newMatcher();
    const calls: [() => unknown, string][] = [
      [() => matcher.accept(10.5), "token: 10.5 is not a 32-bit integer"],
      [() => matcher.accept(2 ** 32 + 10), "token: 4294967306 is not a 32-bit integer"],
      [() => matcher.accept(NaN), "token: NaN is not a 32-bit integer"],
      [() => matcher.rollback(-1), "nTokens: -1 is not an integer from 0 to 9007199254740991"],
      [() => matcher.setSpanTimeout(2 ** 32), "nTokens: 4294967296 is not an integer from 0 to 4294967295"],
      [
        () => matcher.maskLogits(new Float64Array(100) as unknown as Float32Array),
        "logits: expected a Float32Array, got Float64Array",
      ],
      [() => matcher.sample([0] as unknown as Float32Array), "logits: expected a Float32Array, got an array"],
      [() => matcher.sample(new Float32Array(100), 0.5), "mode: 0.5 is not an integer from -2147483648 to 2147483647"],
    ];
    for (const [call, message] of calls) {
      expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_INVALID_ARG", message });
    }
    expect(matcher.state).toMatchObject({ active: true, spanTokens: 0 });
  });

  test("every method of a closed matcher throws, closing twice does not", () => {
    const matcher = newMatcher();
    matcher.close();
    matcher.close();
    const logits = new Float32Array(100);
    const calls = [
      () => matcher.accept(10),
      () => matcher.rollback(),
      () => matcher.reset(),
      () => matcher.clone(),
      () => matcher.activate("action"),
      () => matcher.deactivate(),
      () => matcher.allowed(),
      () => matcher.forced(),
      () => matcher.canStop,
      () => matcher.maskLogits(logits),
      () => matcher.sample(logits),
      () => matcher.setSeed(1),
      () => matcher.setSpanTimeout(1),
      () => matcher.state,
      () => matcher.leaf,
    ];
    for (const call of calls) {
      expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_CLOSED", message: "the matcher is closed" });
    }
  });

  test("closed vocabularies and constraints are told, what was made from them continues", () => {
    const vocabulary = new Vocabulary(100);
    const constraint = new Constraint(vocabulary, payload);
    vocabulary.close();
    using matcher = new Matcher(constraint);
    constraint.close();
    expect(matcher.accept(20)).toBe(Step.IN_SPAN | Step.SPAN_ENDED);
    expect(failure(() => new Constraint(vocabulary, payload)).message).toBe("the vocabulary is closed");
    expect(failure(() => new Matcher(constraint)).message).toBe("the constraint is closed");
    expect(failure(() => constraint.info).message).toBe("the constraint is closed");
  });

  test("the error of a closed object is an ElizaInferenceError with a status", () => {
    const matcher = newMatcher();
    matcher[Symbol.dispose]();
    expect(() => matcher.accept(1)).toThrow(ElizaInferenceError);
    expect(matcher.closed).toBe(true);
  });
});
