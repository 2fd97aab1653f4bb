/** The library as the host's desktop loader opens it: every function of its header in one dlopen, with its types. */

import { CString, FFIType, type Pointer, dlopen, ptr, toArrayBuffer } from "bun:ffi";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Model } from "../src";
import { actions, examples, libraryWithLlama, modelPath } from "./support";

const { cstring, f32, i32, ptr: P, u64: usize, void: none } = FFIType;

/** Arguments and result of each function, as the host declares them: handles come back as numbers. */
const hostDeclarations = {
  eliza_inference_abi_version: { args: [], returns: cstring },
  eliza_inference_create: { args: [P, P], returns: P },
  eliza_inference_destroy: { args: [P], returns: none },
  eliza_inference_mmap_acquire: { args: [P, P, P], returns: i32 },
  eliza_inference_mmap_evict: { args: [P, P, P], returns: i32 },
  eliza_inference_tts_synthesize: { args: [P, P, usize, P, P, usize, P], returns: i32 },
  eliza_inference_asr_transcribe: { args: [P, P, usize, i32, P, usize, P], returns: i32 },
  eliza_inference_tts_stream_supported: { args: [], returns: i32 },
  eliza_inference_tts_synthesize_stream: { args: [P, P, usize, P, usize, usize, P], returns: i32 },
  eliza_inference_cancel_tts: { args: [P, P], returns: i32 },
  eliza_inference_set_verifier_callback: { args: [P, usize, usize, P], returns: i32 },
  eliza_inference_asr_stream_supported: { args: [], returns: i32 },
  eliza_inference_asr_stream_open: { args: [P, i32, P], returns: P },
  eliza_inference_asr_stream_feed: { args: [usize, P, usize, P], returns: i32 },
  eliza_inference_asr_stream_partial: { args: [usize, P, usize, P, P, P], returns: i32 },
  eliza_inference_asr_stream_finish: { args: [usize, P, usize, P, P, P], returns: i32 },
  eliza_inference_asr_stream_close: { args: [usize], returns: none },
  eliza_inference_free_string: { args: [usize], returns: none },
  eliza_inference_encode_reference: { args: [P, P, usize, i32, P, P, P, P], returns: i32 },
  eliza_inference_free_tokens: { args: [usize], returns: none },
  eliza_inference_vad_supported: { args: [], returns: i32 },
  eliza_inference_vad_open: { args: [P, i32, P], returns: P },
  eliza_inference_vad_process: { args: [usize, P, usize, P, P], returns: i32 },
  eliza_inference_vad_reset: { args: [usize, P], returns: i32 },
  eliza_inference_vad_close: { args: [usize], returns: none },
  eliza_inference_wakeword_supported: { args: [], returns: i32 },
  eliza_inference_wakeword_open: { args: [P, i32, P, P], returns: P },
  eliza_inference_wakeword_score: { args: [usize, P, usize, P, P], returns: i32 },
  eliza_inference_wakeword_reset: { args: [usize, P], returns: i32 },
  eliza_inference_wakeword_close: { args: [usize], returns: none },
  eliza_inference_speaker_supported: { args: [], returns: i32 },
  eliza_inference_speaker_open: { args: [P, P, P], returns: P },
  eliza_inference_speaker_embed: { args: [usize, P, usize, P, P], returns: i32 },
  eliza_inference_speaker_close: { args: [usize], returns: none },
  eliza_inference_diariz_supported: { args: [], returns: i32 },
  eliza_inference_diariz_open: { args: [P, P, P], returns: P },
  eliza_inference_diariz_segment: { args: [usize, P, usize, P, P, P], returns: i32 },
  eliza_inference_diariz_close: { args: [usize], returns: none },
  eliza_inference_llm_stream_supported: { args: [], returns: i32 },
  eliza_inference_llm_stream_open: { args: [P, P, P], returns: P },
  eliza_inference_llm_stream_prefill: { args: [usize, P, usize, P], returns: i32 },
  eliza_inference_llm_stream_next: { args: [usize, P, usize, P, P, usize, P, P, P], returns: i32 },
  eliza_inference_llm_stream_cancel: { args: [usize], returns: i32 },
  eliza_inference_llm_stream_reset: { args: [usize], returns: i32 },
  eliza_inference_llm_stream_reset_keep: { args: [usize, i32], returns: i32 },
  eliza_inference_llm_stream_save_slot: { args: [usize, P, P], returns: i32 },
  eliza_inference_llm_stream_restore_slot: { args: [usize, P, P], returns: i32 },
  eliza_inference_llm_stream_close: { args: [usize], returns: none },
  eliza_inference_llm_mtp_supported: { args: [], returns: i32 },
  eliza_inference_llm_kv_quant_supported: { args: [], returns: i32 },
  eliza_inference_embed_supported: { args: [], returns: i32 },
  eliza_inference_embed: { args: [P, P, usize, i32, P, usize, P, P], returns: i32 },
  eliza_inference_vision_supported: { args: [], returns: i32 },
  eliza_inference_describe_image: { args: [P, P, usize, P, P, P, usize, P], returns: i32 },
  eliza_inference_tokenize_supported: { args: [], returns: i32 },
  eliza_inference_tokenize: { args: [P, P, usize, i32, i32, P, P, P], returns: i32 },
  eliza_inference_detokenize: { args: [P, P, usize, i32, i32, P, usize, P], returns: i32 },
  eliza_inference_kokoro_supported: { args: [], returns: i32 },
  eliza_inference_kokoro_load: { args: [P, P, P, i32, P], returns: i32 },
  eliza_inference_kokoro_synthesize: { args: [P, P, usize, f32, P, usize, P], returns: i32 },
  eliza_inference_kokoro_sample_rate: { args: [P], returns: i32 },
  eliza_inference_kokoro_g2p_kind: { args: [P], returns: i32 },
  eliza_inference_kokoro_synthesize_ipa: { args: [P, P, usize, f32, P, usize, P], returns: i32 },
  eliza_inference_llm_eot_supported: { args: [], returns: i32 },
  eliza_inference_llm_eot_score: { args: [P, P, usize, i32, P, P, P, P], returns: i32 },
  eliza_inference_asr_timestamps_supported: { args: [], returns: i32 },
  eliza_inference_asr_transcribe_timed: { args: [P, P, usize, i32, P, usize, P, P, P, P], returns: i32 },
  eliza_inference_vision_stream_supported: { args: [], returns: i32 },
  eliza_inference_describe_image_stream_open: { args: [P, P, usize, P, P, P], returns: P },
  eliza_inference_set_token_trie: { args: [usize, P, usize, i32], returns: i32 },
  eliza_inference_llm_stream_last_error: { args: [usize], returns: cstring },
} as const;

let host: ReturnType<typeof dlopen<typeof hostDeclarations>>["symbols"];
let context: Pointer;
beforeAll(() => {
  host = dlopen(libraryWithLlama().path, hostDeclarations).symbols;
  context = host.eliza_inference_create(ptr(terminated(modelPath)), ptr(errorSlot)) as Pointer;
  expect(context).not.toBeNull();
});
afterAll(() => host.eliza_inference_destroy(context));

const errorSlot = new BigUint64Array(1);

/** The message that the last call left, freed as the host does. */
function takeError(): string | null {
  const address = errorSlot[0]!;
  errorSlot[0] = 0n;
  if (address === 0n) return null;
  const message = new CString(Number(address) as Pointer).toString();
  host.eliza_inference_free_string(address);
  return message;
}

function terminated(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function tokenize(text: string): Int32Array {
  const bytes = Buffer.from(text);
  const tokensOut = new BigUint64Array(1);
  const countOut = new BigUint64Array(1);
  const length = BigInt(bytes.length);
  const result = host.eliza_inference_tokenize(
    context,
    ptr(bytes),
    length,
    1,
    1,
    ptr(tokensOut),
    ptr(countOut),
    ptr(errorSlot),
  );
  expect([result, takeError()]).toEqual([0, null]);
  const tokens = new Int32Array(Number(countOut[0]));
  const view = new DataView(toArrayBuffer(Number(tokensOut[0]) as Pointer, 0, tokens.byteLength));
  for (let i = 0; i < tokens.length; i++) tokens[i] = view.getInt32(4 * i, true);
  host.eliza_inference_free_tokens(tokensOut[0]!);
  return tokens;
}

/** The host's 88 bytes. */
function openStream(change: (config: Buffer) => void = () => {}): bigint {
  const config = Buffer.alloc(88);
  config.writeInt32LE(32, 0);
  config.writeFloatLE(0, 4);
  config.writeFloatLE(1, 8);
  config.writeInt32LE(0, 12);
  config.writeFloatLE(1, 16);
  config.writeInt32LE(-1, 20);
  config.writeInt32LE(-1, 60);
  config.writeInt32LE(512, 80);
  change(config);
  const stream = host.eliza_inference_llm_stream_open(context, ptr(config), ptr(errorSlot));
  expect(takeError()).toBeNull();
  return BigInt(stream!);
}

function prefill(stream: bigint, tokens: Int32Array): void {
  const length = BigInt(tokens.length);
  const result = host.eliza_inference_llm_stream_prefill(stream, ptr(tokens), length, ptr(errorSlot));
  expect([result, takeError()]).toEqual([0, null]);
}

let nSteps = 0;

function generate(stream: bigint): string {
  const tokens = new Int32Array(32);
  const text = new Uint8Array(1024);
  const count = new BigUint64Array(1);
  const drafted = new Int32Array(2);
  let answer = "";
  nSteps = 0;
  for (let done = 0; done === 0; nSteps++) {
    done = host.eliza_inference_llm_stream_next(
      stream,
      ptr(tokens),
      32n,
      ptr(count),
      ptr(text),
      1024n,
      ptr(drafted),
      ptr(drafted, 4),
      ptr(errorSlot),
    );
    expect(takeError()).toBeNull();
    answer += Buffer.from(text.buffer, 0, text.indexOf(0)).toString();
  }
  return answer;
}

const { prompt, action } = examples[0]!;

test("it opens, tells its version and passes the gates", () => {
  expect(String(host.eliza_inference_abi_version())).toBe("15");
  expect(host.eliza_inference_llm_stream_supported()).toBe(1);
  expect(host.eliza_inference_llm_kv_quant_supported()).toBe(1);
  expect(host.eliza_inference_tokenize_supported()).toBe(1);
  expect(host.eliza_inference_llm_mtp_supported()).toBe(1);
});

test("a generation, with the cache types that the host asks for", () => {
  const names = [terminated("qjl1_256"), terminated("q4_polar")];
  const quantized = openStream((config) => {
    config.writeInt32LE(0, 60); // the CPU
    for (const [i, name] of names.entries()) config.writeBigUInt64LE(BigInt(ptr(name)), 64 + 8 * i);
  });
  for (const stream of [openStream(), quantized]) {
    prefill(stream, tokenize(prompt));
    expect(generate(stream).trim()).toBe(action);
    host.eliza_inference_llm_stream_close(stream);
  }
});

test("what the host drafts with takes fewer steps, and gives the same", () => {
  const grammar = terminated('root ::= (" SEND_" ("MESSAGE" | "EMAIL") "\\n"){8}');
  const answers = [0, 6].map((draftMax) => {
    const stream = openStream((config) => {
      config.writeInt32LE(draftMax && 1, 32);
      config.writeInt32LE(draftMax, 36);
      config.writeBigUInt64LE(BigInt(ptr(grammar)), 48);
    });
    prefill(stream, tokenize(prompt));
    const answer = generate(stream);
    host.eliza_inference_llm_stream_close(stream);
    return { answer, nSteps };
  });
  const [plain, drafting] = answers;
  expect(drafting!.answer).toBe(plain!.answer);
  expect(drafting!.nSteps).toBeLessThan(plain!.nSteps / 2);
});

test("a conversation continues from the tokens that reset_keep says were kept", () => {
  const first = tokenize(prompt);
  const stream = openStream();
  prefill(stream, first);
  generate(stream);
  const kept = host.eliza_inference_llm_stream_reset_keep(stream, first.length - 1);
  expect(kept).toBe(first.length - 1);
  prefill(stream, first.subarray(kept));
  expect(generate(stream).trim()).toBe(action);
  host.eliza_inference_llm_stream_close(stream);
});

test("a token tree chooses", () => {
  const other = actions.find((name) => name !== action)!;
  const leaf = { name: other, tokens: [...tokenize(`Action: ${other}`).subarray(tokenize("Action:").length)] };
  const payload = Buffer.from(JSON.stringify({ modelId: "", descriptors: [{ path: "action", leaves: [leaf] }] }));
  const stream = openStream();
  prefill(stream, tokenize(prompt));
  expect(host.eliza_inference_set_token_trie(stream, ptr(payload), BigInt(payload.length), 0)).toBe(0);
  expect(generate(stream).trim()).toStartWith(other);
  host.eliza_inference_llm_stream_close(stream);
});

describe("the host's payloads, whose descriptors have no triggers", () => {
  /** A leaf as the host's tokenizer client makes it: the tokens of the name after a space. */
  const leafOf = (name: string) => ({
    name,
    tokens: [...tokenize(`Action: ${name}`).subarray(tokenize("Action:").length)],
  });

  function constrained(payload: object): { status: number; message: string; text: string } {
    const bytes = Buffer.from(JSON.stringify(payload));
    const stream = openStream((config) => config.writeInt32LE(8, 0));
    prefill(stream, tokenize(prompt));
    const status = host.eliza_inference_set_token_trie(stream, ptr(bytes), BigInt(bytes.length), 0);
    const message = String(host.eliza_inference_llm_stream_last_error(stream));
    const text = generate(stream);
    host.eliza_inference_llm_stream_close(stream);
    return { status, message, text };
  }

  test("the action comes first, then each of its parameters", () => {
    const descriptors = [
      { path: "action", leaves: [leafOf("MUTE_ROOM")] },
      { path: "parameters.level", leaves: [leafOf("high")] },
      { path: "parameters.target", leaves: [leafOf("office")] },
    ];
    const { status, text } = constrained({ modelId: "", descriptors });
    expect([status, text.slice(0, " MUTE_ROOM high".length)]).toEqual([0, " MUTE_ROOM high"]);
  });

  test("one for another vocabulary is refused, and the generation is as without", () => {
    const tokens = leafOf("REPLY").tokens.map((token) => token + 1);
    const descriptors = [{ path: "action", leaves: [{ name: "REPLY", tokens }] }];
    const { status, message, text } = constrained({ modelId: "", descriptors });
    expect(status).toBe(-12); // ELIZA_ERR_MODEL_MISMATCH
    expect(message).toContain('the tokens of "REPLY" are');
    expect(message).toContain("in this vocabulary: the payload is for another one");
    expect(text.trim()).toStartWith(action);
  });
});

describe("the patch of docs/integrations/elizaos.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/integrations/elizaos.md"), "utf8");
  const [declarations, binding, runner] = [
    ...page.slice(page.indexOf("## The patch")).matchAll(/^```\n(.*?)^```/gms),
  ].map(([, code]) => code!);

  /** The methods that the first piece adds to the host's own, on the functions that it declares. */
  function patched() {
    const [functions, methods] = declarations!.split("\n\n");
    const T = { usize, ptr: P, i32, cstring };
    const declared = new Function("T", `return {${functions}}`)(T);
    const { symbols } = dlopen(libraryWithLlama().path, declared);
    return new Function("symbols", "ptr", "Buffer", `return {${methods}}`)(symbols, ptr, Buffer);
  }

  test("its methods set a tree, say what is wrong with one, and clear it", () => {
    const ffi = patched();
    using model = new Model(modelPath, { library: libraryWithLlama() });
    const other = actions.find((name) => name !== action)!;
    const stream = openStream();
    const answer = (): string => {
      host.eliza_inference_llm_stream_reset(stream);
      prefill(stream, tokenize(prompt));
      return generate(stream).trim();
    };
    const triePayloadJson = JSON.stringify(model.tokenTree([other]));
    ffi.llmStreamSetTokenTrie({ stream, triePayloadJson, mode: 0 });
    expect(answer()).toStartWith(other);
    expect(() => ffi.llmStreamSetTokenTrie({ stream, triePayloadJson: "{}", mode: 0 })).toThrow(`missing "modelId"`);
    ffi.llmStreamClearTokenTrie({ stream });
    expect(answer()).toBe(action);
    host.eliza_inference_llm_stream_close(stream);
  });

  test("its runner sets the tree through them, and warns of a build without", () => {
    const step = new Function("args", "stream", "logger", runner!);
    const calls: object[] = [];
    const warnings: string[] = [];
    const logger = { warn: (message: string) => warnings.push(message) };
    const args = { tokenTreePayload: { modelId: "", descriptors: [] } };
    step.call({ ffi: { llmStreamSetTokenTrie: (call: object) => calls.push(call) } }, args, 7n, logger);
    step.call({ ffi: {} }, args, 7n, logger);
    expect(calls).toEqual([{ stream: 7n, triePayloadJson: '{"modelId":"","descriptors":[]}', mode: 0 }]);
    expect(warnings.length).toBe(1);
    expect(binding).toContain(
      "llmStreamSetTokenTrie?(args: { stream: LlmStreamHandle; triePayloadJson: string; mode: number })",
    );
  });
});

test("memory advice is taken, and embeddings are there", () => {
  for (const name of ["text", "mtp"]) {
    const region = terminated(name);
    expect(host.eliza_inference_mmap_acquire(context, ptr(region), ptr(errorSlot))).toBe(0);
    expect(host.eliza_inference_mmap_evict(context, ptr(region), ptr(errorSlot))).toBe(0);
  }
  expect(host.eliza_inference_embed_supported()).toBe(1);
  const text = Buffer.from("hello");
  const vector = new Float32Array(4096);
  const dimension = new Int32Array(1);
  const status = host.eliza_inference_embed(
    context,
    ptr(text),
    BigInt(text.length),
    1,
    ptr(vector),
    BigInt(vector.length),
    ptr(dimension),
    ptr(errorSlot),
  );
  expect([status, takeError(), dimension[0]]).toEqual([0, null, 96]);
  expect(vector.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(1);
});

describe("speech", () => {
  test("is not supported, say the probes", () => {
    for (const [name, call] of Object.entries(host)) {
      if (!name.endsWith("_supported") || /llm_stream|kv_quant|mtp|tokenize|embed/.test(name)) continue;
      expect([name, (call as () => number)()]).toEqual([name, 0]);
    }
  });

  test("gives a message that says so", () => {
    const region = terminated("tts");
    expect(host.eliza_inference_mmap_acquire(context, ptr(region), ptr(errorSlot))).toBe(-1);
    expect(takeError()).toBe('region_name: this library has "text" and "mtp", not "tts"');
    expect(host.eliza_inference_vad_open(context, 16000, ptr(errorSlot))).toBeNull();
    expect(takeError()).toContain("voice activity detection");
    expect(host.eliza_inference_cancel_tts(context, ptr(errorSlot))).toBe(0);
    expect(takeError()).toBeNull();
  });
});
