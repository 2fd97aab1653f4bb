import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type FfiLlmHandle, type FfiLlmStreamingAbi, Model, NativeLlmStreaming, type TokenCallback } from "../src";
import { actions, examples, failure, libraryWithLlama, modelPath } from "./support";

let model: Model;
let abi: NativeLlmStreaming;
let handle: FfiLlmHandle;
beforeAll(() => {
  const library = libraryWithLlama();
  model = new Model(modelPath, { library });
  abi = new NativeLlmStreaming(library);
  handle = abi.eliza_inference_llm_stream_open(modelPath, 512, 1, 0)!;
});
afterAll(() => {
  abi.eliza_inference_llm_stream_close(handle);
  model.close();
});

const { prompt, action } = examples[0]!;

function tokenize(text: string): Int32Array {
  return Int32Array.from(model.tokenize(text, { addSpecial: true }));
}

async function generate(maxNewTokens = 32): Promise<{ status: number; calls: Parameters<TokenCallback>[] }> {
  const calls: Parameters<TokenCallback>[] = [];
  const onToken: TokenCallback = (...call) => void calls.push(call);
  const status = await abi.eliza_inference_llm_stream_generate(handle, maxNewTokens, 0, 1, onToken);
  return { status, calls };
}

test("it has the shape of the host's interface", () => {
  const shaped: FfiLlmStreamingAbi = abi;
  const trie = ["eliza_inference_set_token_trie", "eliza_inference_clear_token_trie"];
  expect(Object.keys(shaped)).toEqual(expect.arrayContaining(trie));
});

test('prefill gives the prompt\'s length, generate each token and at the end (-1, "", true)', async () => {
  const tokens = tokenize(prompt);
  expect(abi.eliza_inference_llm_stream_prefill(handle, tokens, -1)).toBe(tokens.length);
  const { status, calls } = await generate();
  expect(status).toBe(0);
  expect(calls.at(-1)).toEqual([-1, "", true]);
  const output = calls.slice(0, -1);
  expect(output.every(([token, , done]) => token >= 0 && !done)).toBe(true);
  expect(output.map(([, text]) => text).join("")).toBe(` ${action}`);
  expect(model.detokenize(output.map(([token]) => token))).toBe(` ${action}`);
});

test("maxNewTokens bounds the tokens", async () => {
  abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
  expect((await generate(2)).calls.map(([token]) => token >= 0)).toEqual([true, true, false]);
});

test("a token tree constrains the output until it is cleared", async () => {
  abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
  const others = actions.filter((name) => name !== action);
  abi.eliza_inference_set_token_trie!(handle, JSON.stringify(model.tokenTree(others)), 0);
  const constrained = await generate();
  expect(others).toContain(
    constrained.calls
      .map(([, text]) => text)
      .join("")
      .trim(),
  );
  abi.eliza_inference_clear_token_trie!(handle);
  abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
  expect((await generate()).calls.map(([, text]) => text).join("")).toBe(` ${action}`);
  expect(failure(() => abi.eliza_inference_set_token_trie!(handle, "{", 0)).statusName).toBe("ELIZA_ERR_PAYLOAD");
});

describe("a slot", () => {
  test("continues from what a prompt has in common with the session", async () => {
    for (const slotId of [-1, 0]) {
      expect(abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), slotId)).toBeGreaterThan(0);
      const first = await generate();
      const output = first.calls.slice(0, -1).map(([token]) => token);
      const longer = Int32Array.of(...tokenize(prompt), ...output, ...model.tokenize("\nUser: no\nAction:"));
      for (const next of [tokenize(prompt), longer]) {
        using fresh = model.stream();
        fresh.prefill(next);
        const expected = fresh.generate(undefined, { maxTokens: 32 });
        expect(abi.eliza_inference_llm_stream_prefill(handle, next, slotId)).toBe(next.length);
        expect((await generate()).calls.map(([, text]) => text).join("")).toBe(expected);
      }
    }
  });
});

describe("failures", () => {
  test("a model that cannot be opened gives null, and lastError says why", () => {
    expect(abi.eliza_inference_llm_stream_open("/nowhere/none.gguf", 0, 0, 0)).toBeNull();
    expect(abi.lastError!.statusName).toBe("ELIZA_ERR_BUNDLE_INVALID");
    expect(abi.lastError!.message).toContain("/nowhere/none.gguf");
  });

  test("a prompt that is refused gives -1", () => {
    expect(abi.eliza_inference_llm_stream_prefill(handle, new Int32Array(100_000), -1)).toBe(-1);
    expect(abi.lastError!.statusName).toBe("ELIZA_ERR_CONTEXT_FULL");
    expect(abi.eliza_inference_llm_stream_prefill(handle, Int32Array.of(model.vocabulary.size), -1)).toBe(-1);
    expect(abi.lastError!.statusName).toBe("ELIZA_ERR_INVALID_ARG");
  });

  test("cancel ends a running generation, prefill makes the session usable", async () => {
    abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
    const calls: boolean[] = [];
    const status = await abi.eliza_inference_llm_stream_generate(handle, 0, 0, 1, (_, __, done) => {
      calls.push(done);
      abi.eliza_inference_llm_stream_cancel(handle);
    });
    expect(status).toBe(-7);
    expect(calls).toEqual([false, true]);
    for (const slotId of [0, -1]) {
      expect(abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), slotId)).toBeGreaterThan(0);
      expect((await generate()).status).toBe(0);
    }
  });

  test("a session generates once at a time", async () => {
    abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
    const first = generate();
    expect((await generate()).status).toBe(-8);
    expect(abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1)).toBe(-1);
    expect(abi.lastError!.statusName).toBe("ELIZA_ERR_BUSY");
    expect((await first).status).toBe(0);
  });

  test("what the callback throws comes out", async () => {
    abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1);
    const failing = abi.eliza_inference_llm_stream_generate(handle, 0, 0, 1, () => {
      throw new RangeError("enough");
    });
    await expect(failing).rejects.toThrow(new RangeError("enough"));
    expect(abi.eliza_inference_llm_stream_prefill(handle, tokenize(prompt), -1)).toBeGreaterThan(0);
  });

  test("a closed handle, and one of someone else, are told", async () => {
    const closed = abi.eliza_inference_llm_stream_open(modelPath, 0, 0, 0)!;
    abi.eliza_inference_llm_stream_close(closed);
    abi.eliza_inference_llm_stream_close(closed);
    for (const bad of [closed, { _brand: "FfiLlmHandle" } as const]) {
      expect(abi.eliza_inference_llm_stream_prefill(bad, tokenize(prompt), -1)).toBe(-1);
      expect(abi.lastError!.statusName).toBe("ELIZA_ERR_CLOSED");
      expect(await abi.eliza_inference_llm_stream_generate(bad, 1, 0, 1, () => {})).toBe(-9);
      expect(failure(() => abi.eliza_inference_set_token_trie!(bad, "{}", 0)).statusName).toBe("ELIZA_ERR_CLOSED");
    }
  });
});
