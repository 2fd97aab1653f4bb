/** What can go wrong between JavaScript and the WebAssembly module, in any host. Each throws if it does. */
import { Constraint, ElizaInferenceError, Matcher, Model, TokenFlag, Vocabulary, loadLibrary } from "../src/index.js";
import { expectEqual } from "./equal.js";

export const CHECKS: Record<string, () => void> = {
  "a tokenizer may call the library": () => {
    using vocabulary = bytes(257);
    vocabulary.setTokenizer((text) => Array.from(text, (byte) => vocabulary.tokenBytes(byte)[0]!));
    using matcher = new Matcher(Constraint.choices(vocabulary, ["abc"]));
    expectEqual([...matcher.forced()], [..."abc"].map(code));
  },

  "what a callback throws comes out, and the library continues": () => {
    using vocabulary = bytes(257);
    const documents = (): never => {
      throw new TypeError("mine");
    };
    const failure = thrownBy(() => Constraint.jsonSchema(vocabulary, { $ref: "http://a.b/c" }, { documents }));
    expectEqual([failure instanceof TypeError, failure.message], [true, "mine"]);
    using matcher = new Matcher(Constraint.regex(vocabulary, "a"));
    expectEqual(matcher.allowed(), Int32Array.of(code("a")));
  },

  "arrays of any size are passed": () => {
    using vocabulary = bytes(60_000);
    using matcher = new Matcher(Constraint.regex(vocabulary, "[ab]"));
    const logits = new Float32Array(70_000);
    matcher.maskLogits(logits);
    expectEqual([...logits.keys()].filter((id) => logits[id] === 0).length, 2);
    logits[code("b")] = 1;
    expectEqual(matcher.sample(logits), code("b"));
  },

  "what the library lent stays when its memory grows": () => {
    using vocabulary = bytes(257);
    using matcher = new Matcher(Constraint.regex(vocabulary, "[^a]"));
    const ids = matcher.allowed()!;
    const before = ids.slice();
    const others = Array.from({ length: 8 }, () => bytes(200_000));
    expectEqual(ids, before);
    expectEqual(matcher.allowed(), ids);
    for (const other of others) other.close();
  },

  "a trap is an error, and the library continues": () => {
    const { symbols } = loadLibrary();
    type Handle = Parameters<typeof symbols.eliza_inference_matcher_can_stop>[0];
    const failure = thrownBy(() => symbols.eliza_inference_matcher_can_stop(0x7fff0000 as Handle));
    expectEqual(statusOf(failure), "ELIZA_ERR_FFI_FAULT");
    using vocabulary = bytes(257);
    expectEqual(vocabulary.tokenBytes(7), Uint8Array.of(7));
  },

  "a length that no memory has is refused": () => {
    using vocabulary = bytes(257);
    using matcher = new Matcher(Constraint.regex(vocabulary, "a*"));
    expectEqual(statusOf(thrownBy(() => matcher.rollback(2 ** 32))), "ELIZA_ERR_INVALID_ARG");
    matcher.setSeed(2n ** 64n - 1n);
  },

  "models and files are not there": () => {
    using vocabulary = bytes(257);
    expectEqual(statusOf(thrownBy(() => new Model("none.gguf"))), "ELIZA_ERR_UNSUPPORTED");
    expectEqual(statusOf(thrownBy(() => vocabulary.save("none"))), "ELIZA_ERR_UNSUPPORTED");
  },
};

const END = 256;

/** So many tokens: the bytes, one that ends the generation, and others that are unknown. */
function bytes(size: number): Vocabulary {
  const none = new Uint8Array(0);
  const flags = new Uint8Array(size);
  flags[END] = TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION;
  const tokenBytes = Array.from({ length: size }, (_, id) => (id < END ? Uint8Array.of(id) : none));
  return new Vocabulary(size, { tokenBytes, flags });
}

function code(character: string): number {
  return character.charCodeAt(0);
}

function thrownBy(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("the call did not fail");
}

function statusOf(error: Error): string {
  return error instanceof ElizaInferenceError ? error.statusName : String(error);
}
