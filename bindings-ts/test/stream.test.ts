import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Constraint,
  Matcher,
  Mode,
  Model,
  Pooling,
  StopReason,
  type Stream,
  TokenFlag,
  Vocabulary,
  encodePayload,
  llamaInfo,
  loadLlama,
} from "../src";
import { actions, examples, failure, libraryWithLlama, modelPath } from "./support";

let model: Model;
const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
beforeAll(() => {
  model = new Model(modelPath, { library: libraryWithLlama() });
});
afterAll(() => {
  model.close();
  rmSync(folder, { recursive: true });
});

const { prompt } = examples[0]!;

function withPrompt(options: Parameters<Model["stream"]>[0] = {}): Stream {
  const stream = model.stream(options);
  stream.prefill(prompt);
  return stream;
}

describe("libllama", () => {
  test("the loaded copy is named, and asking again gives it", () => {
    const info = llamaInfo()!;
    expect(info.path).toContain("llama");
    expect(info.layout).not.toBe("");
    expect(loadLlama()).toEqual(info);
  });

  test("another copy is refused once one is loaded", () => {
    expect(failure(() => loadLlama("/nowhere/libllama.so")).statusName).toBe("ELIZA_ERR_STATE");
  });
});

describe("Model", () => {
  test("text comes back from its tokens", () => {
    for (const text of ["", prompt, "h\u00e9llo \u{1f600} \ufeff", "x".repeat(1000)]) {
      expect(model.detokenize(model.tokenize(text))).toBe(text);
    }
  });

  test("a text longer than the first buffer comes whole", () => {
    const longest = [...Array(model.vocabulary.size).keys()].sort(
      (a, b) => model.vocabulary.tokenBytes(b).length - model.vocabulary.tokenBytes(a).length,
    )[0]!;
    const piece = model.detokenize([longest]);
    expect(model.detokenize(Array(500).fill(longest))).toBe(piece.repeat(500));
  });

  test("addSpecial adds what the model begins a text with", () => {
    const plain = model.tokenize("a");
    const special = model.tokenize("a", { addSpecial: true });
    expect(special.slice(special.indexOf(plain[0]!))).toEqual(expect.arrayContaining(plain));
    expect(model.detokenize(special, { removeSpecial: true })).toBe("a");
  });

  test("its vocabulary has the tokens' bytes and flags", () => {
    const { vocabulary } = model;
    expect(
      model
        .tokenize(" REPLY")
        .map((token) => Buffer.from(vocabulary.tokenBytes(token)).toString())
        .join(""),
    ).toBe(" REPLY");
    const ends = [...Array(vocabulary.size).keys()].filter(
      (token) => vocabulary.flags(token) & TokenFlag.END_OF_GENERATION,
    );
    expect(ends.length).toBeGreaterThan(0);
  });

  test("a model id refuses trees for another model", () => {
    using named = new Model(modelPath, { modelId: "router" });
    expect(named.modelId).toBe("router");
    const tree = named.tokenTree(["REPLY"]);
    expect(tree.modelId).toBe("router");
    using stream = named.stream();
    stream.setTokenTrie(tree);
    expect(failure(() => stream.setTokenTrie({ ...tree, modelId: "other" })).statusName).toBe(
      "ELIZA_ERR_MODEL_MISMATCH",
    );
    named.modelId = "";
    stream.prefill(prompt);
  });

  test("a tree of names where one is the beginning of another has end tokens", () => {
    expect(model.tokenTree(["STOP", "WAIT"]).descriptors[0]!.end).toBeUndefined();
    const { path, leaves, end } = model.tokenTree(["REPLY", "REPLY_ALL"], { path: "parameters.kind" }).descriptors[0]!;
    expect(path).toBe("parameters.kind");
    expect(leaves.map(({ name }) => name)).toEqual(["REPLY", "REPLY_ALL"]);
    expect(leaves[0]!.tokens).toEqual(model.tokenize(" REPLY"));
    expect(end!.every((token) => model.vocabulary.flags(token) & TokenFlag.END_OF_GENERATION)).toBe(true);
    expect(failure(() => model.tokenTree([]))).toEqual({
      statusName: "ELIZA_ERR_PAYLOAD",
      message: "action: no name has any tokens",
    });
  });

  test("a missing or damaged file is named", async () => {
    const missing = join(folder, "none.gguf");
    expect(failure(() => new Model(missing))).toEqual({
      statusName: "ELIZA_ERR_BUNDLE_INVALID",
      message: expect.stringContaining(missing),
    });
    const damaged = join(folder, "damaged.gguf");
    await Bun.write(damaged, (await Bun.file(modelPath).bytes()).slice(0, 5000));
    expect(failure(() => new Model(damaged)).statusName).toBe("ELIZA_ERR_BUNDLE_INVALID");
    expect(failure(() => new Model(`${modelPath}\0.old`))).toEqual({
      statusName: "ELIZA_ERR_INVALID_ARG",
      message: `path: a NUL character at index ${modelPath.length}`,
    });
  });

  test("a closed model is told, its streams continue", () => {
    const closing = new Model(modelPath);
    using stream = closing.stream();
    closing.close();
    closing.close();
    expect(failure(() => closing.stream())).toEqual({ statusName: "ELIZA_ERR_CLOSED", message: "the model is closed" });
    expect(failure(() => closing.tokenize("a")).statusName).toBe("ELIZA_ERR_CLOSED");
    expect(failure(() => closing.vocabulary).statusName).toBe("ELIZA_ERR_CLOSED");
    stream.prefill(model.tokenize(prompt));
    expect(stream.choose(model.tokenTree(actions))).toBe(examples[0]!.action);
  });
});

describe("Stream", () => {
  test("steps give the text of their tokens, the last one is done", () => {
    using stream = withPrompt();
    const steps = [...stream];
    expect(steps.map(({ done }) => done)).toEqual([...Array(steps.length - 1).fill(false), true]);
    const tokens = steps.flatMap((step) => step.tokens);
    expect(steps.map(({ text }) => text).join("")).toBe(model.detokenize(tokens));
    expect(stream.stopReason).toBe(StopReason.END_OF_GENERATION);
    expect(stream.stats.emittedTokens).toBe(tokens.length);
  });

  test("generate gives each token to the callback, which stops it with true", () => {
    using stream = withPrompt();
    const seen: [number, string][] = [];
    const text = stream.generate((token, piece) => {
      seen.push([token, piece]);
      return seen.length === 2;
    });
    expect(seen.length).toBe(2);
    expect(text).toBe(seen.map(([, piece]) => piece).join(""));
    expect(text).toBe(model.detokenize(seen.map(([token]) => token)));
    expect(stream.stopReason).toBe(StopReason.CALLBACK);
  });

  test("what the callback throws comes out, and the stream continues", () => {
    using stream = withPrompt();
    const error = new RangeError("enough");
    expect(() =>
      stream.generate(() => {
        throw error;
      }),
    ).toThrow(error);
    stream.generate();
    expect(stream.stopReason).toBe(StopReason.END_OF_GENERATION);
  });

  test("it cannot be closed inside a callback", () => {
    using stream = withPrompt();
    stream.generate(() => {
      expect(failure(() => stream.close()).statusName).toBe("ELIZA_ERR_BUSY");
      return true;
    });
    expect(stream.closed).toBe(false);
  });

  test("settings that this build does not serve, or that are no numbers of C, are refused by name", () => {
    for (const drafter of [{ mtpDrafterPath: "/drafter.gguf" }, { draftModelPath: "/drafter.gguf" }]) {
      expect(failure(() => model.stream({ draftMax: 4, ...drafter })).message).toStartWith(
        "/drafter.gguf: there is no",
      );
    }
    expect(failure(() => model.stream({ draftMax: 65 })).message).toBe("draft_max: 65 is more than 64");
    expect(failure(() => model.stream({ cacheTypeK: "q3_0" })).message).toContain("cache_type_k");
    expect(failure(() => model.stream({ maxTokens: 2 ** 31 })).message).toStartWith(
      "maxTokens: 2147483648 is not an integer",
    );
    expect(failure(() => model.stream({ topK: 0.5 })).message).toStartWith("topK: 0.5 is not an integer");
    expect(failure(() => model.stream({ grammar: "a\0b" })).message).toBe("gbnfGrammar: a NUL character at index 1");
  });

  test("a text has an embedding", () => {
    const vector = model.embed("hello");
    expect(vector.length).toBe(96);
    expect(vector.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1);
    expect(model.embed("hello", { pooling: Pooling.LAST })).not.toEqual(vector);
    expect(failure(() => model.embed("hello", { pooling: 0 })).message).toStartWith("pooling: 0 is none of 1 (mean)");
  });

  test("drafts save passes and change no output", () => {
    const grammar = 'root ::= (" SEND_" ("MESSAGE" | "EMAIL") "\\n"){8}';
    using plain = withPrompt({ grammar, maxTokens: 40 });
    using drafting = withPrompt({ grammar, maxTokens: 40, draftMax: 6 });
    const steps = [...drafting];
    expect(steps.map((step) => step.text).join("")).toBe(plain.generate());
    const { stats } = drafting;
    const sum = (name: "drafterDrafted" | "drafterAccepted"): number => steps.reduce((n, step) => n + step[name], 0);
    expect([sum("drafterDrafted"), sum("drafterAccepted")]).toEqual([stats.draftedTokens, stats.acceptedDrafts]);
    expect(stats.savedPasses).toBeGreaterThan(10);
    expect(stats.forwardPasses + stats.savedPasses).toBe(plain.stats.forwardPasses);
    expect(stats.drafterPasses).toBe(0);
  });

  test("the settings act", () => {
    using stream = withPrompt({ timeBudgetMs: 60_000, spanTimeout: 100, threads: 1, seed: 3, skipAhead: false });
    stream.setTimeBudgetMs(0);
    expect(failure(() => stream.setThreads(0)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(failure(() => stream.setSpanTimeout(0)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    expect(failure(() => stream.setTimeBudgetMs(-1)).statusName).toBe("ELIZA_ERR_INVALID_ARG");
    stream.setSpanTimeout(1);
    expect(failure(() => stream.setTokenTrie(model.tokenTree(actions))).statusName).toBe("ELIZA_ERR_LIMIT");
  });

  test("every method of a closed stream throws, closing twice does not", () => {
    const stream = model.stream();
    stream.close();
    stream.close();
    const calls = [
      () => stream.prefill("a"),
      () => stream.prefill([1]),
      () => stream.step(),
      () => [...stream],
      () => stream.generate(),
      () => stream.cancel(),
      () => stream.reset(),
      () => stream.reset(1),
      () => stream.stopReason,
      () => stream.stats,
      () => stream.setTokenTrie(model.tokenTree(["A"])),
      () => stream.clearTokenTrie(),
      () => stream.activate("a"),
      () => stream.state,
      () => stream.leaf,
      () => stream.setSeed(1),
      () => stream.setSampling({}),
      () => stream.save("a"),
      () => stream.restore("a"),
    ];
    for (const call of calls) {
      expect(failure(call)).toEqual({ statusName: "ELIZA_ERR_CLOSED", message: "the stream is closed" });
    }
  });

  test("a handle that is no stream is told by the library", () => {
    const { symbols } = model.library;
    const stream = model.stream();
    const { handle } = stream;
    stream.close();
    expect(symbols.eliza_inference_llm_stream_reset(handle)).toBe(-9);
    expect(symbols.eliza_inference_llm_stream_reset(null)).toBeLessThan(0);
  });
});

describe("a token tree on a stream", () => {
  test("chooses the right name for messages that the model has not seen", () => {
    using stream = model.stream();
    const tree = model.tokenTree(actions);
    for (const { prompt, action } of examples.slice(0, 20)) {
      stream.reset();
      stream.prefill(prompt);
      expect(stream.choose(tree)).toBe(action);
    }
  });

  test("only legal names come out, whatever the model would say, in both formats and modes", () => {
    const few = actions.slice(0, 3);
    const tree = model.tokenTree(few);
    for (const payload of [tree, encodePayload(tree), encodePayload(tree, "msgpack")]) {
      for (const mode of Object.values(Mode)) {
        using stream = withPrompt({ temperature: 1.5, seed: 1 });
        expect(few).toContain(stream.choose(payload, { mode }));
      }
    }
  });

  test("without a mode the temperature of the stream decides", () => {
    const draws = (temperature: number): Set<string> => {
      const found = new Set<string>();
      for (let seed = 0; seed < 20; seed++) {
        using stream = withPrompt({ temperature, seed });
        found.add(stream.choose(model.tokenTree(actions)));
      }
      return found;
    };
    expect(draws(50).size).toBeGreaterThan(5);
    expect(draws(0).size).toBe(1);
    expect(draws(-1).size).toBe(1);
  });

  test("a span is opened by path, tells the leaf also afterwards, and leaves the stream free", () => {
    using stream = withPrompt();
    const [first, second] = [model.tokenTree(["REPLY"]), model.tokenTree(["NONE", "IGNORE"], { path: "kind" })];
    const both = { modelId: "", descriptors: [...first.descriptors, ...second.descriptors] };
    const span = stream.span(both, { path: "kind" });
    expect(stream.state).toMatchObject({ active: true, descriptor: 1, constrained: true });
    expect(span.leaf).toBeNull();
    stream.generate();
    expect(stream.stopReason).toBe(StopReason.SPAN_END);
    expect(["NONE", "IGNORE"]).toContain(span.leaf!);
    const { leaf } = span;
    span[Symbol.dispose]();
    span[Symbol.dispose]();
    expect(span.leaf).toBe(leaf);
    expect(stream.state).toMatchObject({ active: false, descriptor: -1 });
    expect(stream.leaf).toBeNull();
  });

  test("an unknown path lists the known ones, and no tree is left", () => {
    using stream = withPrompt();
    const { statusName, message } = failure(() => stream.span(model.tokenTree(["REPLY"]), { path: "nowhere" }));
    expect(statusName).toBe("ELIZA_ERR_UNKNOWN_PATH");
    expect(message).toContain("action");
    expect(failure(() => stream.activate("action")).statusName).toBe("ELIZA_ERR_STATE");
  });

  test("a generation that ends before a name is complete is an error", () => {
    using stream = withPrompt({ maxTokens: 1 });
    const choose = () => stream.choose(model.tokenTree(["SEARCH_MESSAGES"]));
    expect(failure(choose)).toEqual({
      statusName: "ELIZA_ERR_STATE",
      message: "no name was complete when the generation ended: MAX_TOKENS",
    });
  });
});

test("what is no token tree is an error that says how to make one", () => {
  using stream = withPrompt();
  const constraint = Constraint.regex(model.vocabulary, "a");
  for (const [other, shown] of [
    [["NONE"], "an array"],
    [null, "null"],
    [5, "a number"],
    [constraint, "Constraint"],
  ]) {
    expect(failure(() => stream.setTokenTrie(other as unknown as string))).toEqual({
      statusName: "ELIZA_ERR_INVALID_ARG",
      message: `payload: expected a token tree, as Model.tokenTree(names) makes it, got ${shown}`,
    });
  }
  expect(failure(() => stream.choose(["NONE"] as unknown as string)).message).toContain("Model.tokenTree(names)");
});

describe("a constraint of a stream", () => {
  const spelled = actions.map((action) => ` ${action}`);
  const choices = () => Constraint.choices(model.vocabulary, spelled);

  test("chooses what the tree of the same names does", () => {
    for (const { prompt: each, action } of examples.slice(0, 5)) {
      using stream = model.stream();
      stream.prefill(each);
      using span = stream.span(choices(), { end: [] });
      expect(stream.generate()).toBe(` ${action}`);
      expect(span.leaf).toBeNull();
      expect(stream.stopReason).toBe(StopReason.SPAN_END);
    }
  });

  test("choose gives the text of a recognizer, and the name of a compiled tree", () => {
    const { action } = examples[0]!;
    using stream = withPrompt();
    expect(stream.choose(choices())).toBe(` ${action}`);
    expect(stream.constraint).toBeNull();
    stream.prefill(prompt);
    expect(stream.choose(new Constraint(model.vocabulary, model.tokenTree(actions)))).toBe(action);
  });

  test("choose stops at a bound only where the text is complete", () => {
    using stream = withPrompt({ maxTokens: 2 });
    expect(failure(() => stream.choose(Constraint.regex(model.vocabulary, "[a-b]{3}")))).toEqual({
      statusName: "ELIZA_ERR_STATE",
      message: "no text was complete when the generation ended: MAX_TOKENS",
    });
    expect(stream.choose(Constraint.regex(model.vocabulary, "[a-b]+"))).toMatch(/^[ab]+$/);
  });

  test("a pattern with sampling stays in the pattern", () => {
    const pattern = Constraint.regex(model.vocabulary, " [A-Z]{3,5}(_[a-z]+)?!");
    for (let seed = 0; seed < 10; seed++) {
      using stream = withPrompt({ temperature: 1.5, seed });
      stream.setConstraint(pattern, Mode.SAMPLED, { spanTimeout: 400 });
      expect(stream.generate()).toMatch(/^ [A-Z]{3,5}(_[a-z]+)?!$/);
    }
  });

  test("a constraint for another vocabulary is refused, and nothing changed", () => {
    using other = new Vocabulary(2, { tokenBytes: [Buffer.from("a"), Buffer.from("b")] });
    using stream = withPrompt();
    const constraint = choices();
    stream.setConstraint(constraint);
    expect(failure(() => stream.setConstraint(Constraint.regex(other, "a"))).statusName).toBe(
      "ELIZA_ERR_MODEL_MISMATCH",
    );
    expect(stream.constraint).toBe(constraint);
    expect(spelled).toContain(stream.generate());
  });

  test("a token tree takes its place, and it that of a token tree", () => {
    using stream = withPrompt();
    stream.setConstraint(choices());
    stream.setTokenTrie(model.tokenTree(actions));
    expect(stream.constraint).toBeNull();
    stream.setConstraint(choices());
    stream.clearTokenTrie();
    expect(stream.constraint).toBeNull();
    stream.setConstraint(new Constraint(model.vocabulary, model.tokenTree([actions[0]!])));
    stream.setStopAtSpanEnd(true);
    stream.generate();
    expect(stream.leaf).toBe(actions[0]!);
    expect(failure(() => stream.span(model.tokenTree(actions), { end: [] })).statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("a tokenizer cannot use the stream that asks it", () => {
    using own = Vocabulary.fromGguf(modelPath);
    using stream = withPrompt();
    const refused: string[] = [];
    own.setTokenizer(() => {
      for (const call of [
        () => stream.step(),
        () => stream.prefill([1]),
        () => stream.reset(),
        () => stream.clearConstraint(),
        () => stream.setSeed(1),
        () => stream.state,
        () => stream.close(),
      ])
        refused.push(failure(call).statusName);
      return model.tokenize("timer");
    });
    stream.setConstraint(Constraint.regex(own, "timer"));
    stream.setStopAtSpanEnd(true);
    stream.step();
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused)).toEqual(new Set(["ELIZA_ERR_BUSY"]));
    expect(stream.closed).toBe(false);
  });

  test("the tokenizer of the model spells what is forced", () => {
    const text = ` ${actions[0]}, ${actions[1]}.`;
    using matcher = new Matcher(Constraint.regex(model.vocabulary, text.replaceAll(".", "\\.")));
    const forced = [...matcher.forced()];
    const all = model.tokenize(text);
    expect(forced.length).toBeGreaterThan(1);
    expect(forced.slice(0, all.length)).toEqual(all.slice(0, forced.length));
  });
});
