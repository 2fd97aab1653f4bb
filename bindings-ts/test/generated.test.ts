import { expect, test } from "bun:test";
import { generate, headerPath, outputPath } from "../scripts/generate";
import { parseHeader } from "../scripts/header";
import * as abi from "../src/abi.generated";

const header = await Bun.file(headerPath).text();

test("the checked-in declarations are those of the header", async () => {
  expect(await Bun.file(outputPath).text()).toBe(generate(header));
});

test("every function that the header declares is there", () => {
  const declared = [...header.matchAll(/^[a-zA-Z].*?(\w+)\(/gm)]
    .map((match) => match[1]!)
    .filter((name) => name !== "typedef");
  const functions = declared.filter((name) => /^(eliza_inference|llama_sampler)_/.test(name));
  expect(functions.sort()).toEqual(Object.keys(abi.declarations).sort());
});

test("layouts are those that the header promises", () => {
  expect(abi.eliza_llm_stream_config_t.size).toBe(88);
  expect(abi.eliza_llm_stream_config_t.fields.context_size.offset).toBe(80);
  expect(abi.eliza_span_state_t.fields.spans_started.offset % 8).toBe(0);
});

test("what the parser does not know is an error, not a guess", () => {
  expect(() => parseHeader("int f(long x);")).toThrow("unknown parameter: long x");
  expect(() => parseHeader("double f(void);")).toThrow("unknown return type: double");
  expect(() => parseHeader("typedef struct s { uint16_t x; } s;")).toThrow("unknown field: uint16_t x");
  expect(() => parseHeader("#define X sizeof(int)\n")).toThrow("#define X: not an integer");
  expect(() => parseHeader("typedef union u { int x; } u;")).toThrow("cannot parse");
});
