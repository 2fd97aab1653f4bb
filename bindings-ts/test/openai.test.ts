/** `response_format` and `tools` of OpenAI's API, as constraints. */
import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { Constraint, Matcher, Step, TokenFlag, type Tool, type ToolCallOptions, Vocabulary } from "../src";
import { failure } from "./support";

const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, byte) => (byte < END ? Uint8Array.of(byte) : new Uint8Array()));
const flags = tokenBytes.map((_, token) => (token === END ? TokenFlag.END_OF_GENERATION : 0));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

const weather: Tool = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { place: { $ref: "#/$defs/place" } },
      required: ["place"],
      additionalProperties: false,
      $defs: { place: { type: "string", minLength: 1 } },
    },
  },
};
const timer: Tool = { type: "function", name: "set/timer", parameters: z.strictObject({ minutes: z.int() }) };
const stop: Tool = { type: "function", function: { name: "stop" } };
const tools = [weather, timer, stop];

function accepts(constraint: Constraint | null, value: unknown): boolean {
  return acceptsText(constraint, JSON.stringify(value));
}

function acceptsText(constraint: Constraint | null, text: string): boolean {
  using matcher = new Matcher(constraint!);
  for (const byte of Buffer.from(text)) if (matcher.accept(byte) & Step.REFUSED) return false;
  return matcher.canStop;
}

function forced(constraint: Constraint | null): string {
  using matcher = new Matcher(constraint!);
  return Buffer.from(matcher.forcedBytes()).toString();
}

describe("responseFormat", () => {
  const schema = { const: { kind: "answer" } };

  test("has a schema, or any object, or any text", () => {
    for (const format of [
      { type: "json_schema", json_schema: { name: "x", schema } },
      { type: "json_schema", schema },
    ] as const) {
      expect(forced(Constraint.responseFormat(vocabulary, format, { space: "compact" }))).toBe('{"kind":"answer"}');
    }
    const object = Constraint.responseFormat(vocabulary, { type: "json_object" });
    expect([{ a: [1] }, [], 1].map((value) => accepts(object, value))).toEqual([true, false, false]);
    expect(Constraint.responseFormat(vocabulary, { type: "text" })).toBeNull();
    expect(Constraint.responseFormat(vocabulary, undefined)).toBeNull();
  });

  test("what a model writes has the defaults of GENERATION", () => {
    const parameters = z.object({ n: z.number() });
    const plain = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const long = `{"n":0.${"5".repeat(30)}}`;
    const every = { space: "loose", numbers: "any", additional: "allow" } as const;
    const takes = (constraint: Constraint | null, texts: string[]): boolean[] =>
      texts.map((text) => acceptsText(constraint, text));
    const texts = ['{"n":0.5}', '{"n": 0.5}', '{"n":1,"m":2}', long];
    const tool: Tool = { type: "function", function: { name: "f", parameters: plain } };
    expect(takes(Constraint.jsonSchema(vocabulary, parameters), texts)).toEqual([true, false, false, false]);
    const format = { type: "json_schema", schema: plain } as const;
    expect(takes(Constraint.responseFormat(vocabulary, format), texts)).toEqual([true, false, false, false]);
    expect(takes(Constraint.toolArguments(vocabulary, tool), texts)).toEqual([true, true, false, false]);
    expect(takes(Constraint.jsonSchema(vocabulary, plain), texts)).toEqual([true, true, true, true]);
    expect(takes(Constraint.responseFormat(vocabulary, format, every), texts)).toEqual([true, true, true, true]);
  });

  test("may be a Zod schema, which reads the answer", () => {
    const constraint = Constraint.responseFormat(
      vocabulary,
      z.literal("p").transform(() => 7),
    );
    expect(forced(constraint)).toBe('"p"');
    expect(constraint!.parse('"p"')).toBe(7);
  });

  test("errors", () => {
    const message = (format: object): string =>
      failure(() => Constraint.responseFormat(vocabulary, format as { type: "text" })).message;
    expect(message({ type: "xml" })).toBe(
      "responseFormat: the type xml is none of text, json_object, json_schema, structural_tag, grammar, regex",
    );
    expect(message({ type: "json_schema", json_schema: {} })).toBe("responseFormat: a json_schema has no schema");
  });
});

describe("toolCall", () => {
  const call = (name: string, args: object): object => ({ name, arguments: args });
  const legal = [call("get_weather", { place: "Oslo" }), call("set/timer", { minutes: 10 }), call("stop", {})];
  const illegal = [
    call("get_weather", { place: "" }),
    call("get_weather", { minutes: 10 }),
    call("set/timer", { minutes: "10" }),
    call("stop", { now: true }),
    call("go", {}),
    { name: "stop" },
  ];

  test("is one of the functions, with its own arguments", () => {
    const constraint = Constraint.toolCall(vocabulary, tools);
    for (const each of legal) expect(accepts(constraint, each)).toBe(true);
    for (const each of illegal) expect(accepts(constraint, each)).toBe(false);
    const list = Constraint.toolCall(vocabulary, tools, { form: "mistral" });
    expect(accepts(list, legal)).toBe(true);
    expect(accepts(list, [])).toBe(false);
  });

  test("has the keys of a form", () => {
    const spelled = (form: ToolCallOptions["form"]): string =>
      forced(Constraint.toolCall(vocabulary, [stop], { form, space: "compact" }));
    expect(spelled("llama")).toBe('{"name":"stop","parameters":{}}');
    expect(spelled({ name: "tool", arguments: "input" })).toBe('{"tool":"stop","input":{}}');
  });

  test("is of the function that is chosen, or there is none", () => {
    for (const toolChoice of [
      { type: "function", function: { name: "stop" } },
      { type: "function", name: "stop" },
    ] as const) {
      const constraint = Constraint.toolCall(vocabulary, tools, { toolChoice });
      expect(legal.map((each) => accepts(constraint, each))).toEqual([false, false, true]);
    }
    expect(Constraint.toolCall(vocabulary, tools, { toolChoice: "none" })).toBeNull();
  });

  test("has arguments that stand alone", () => {
    expect(accepts(Constraint.toolArguments(vocabulary, weather), { place: "Oslo" })).toBe(true);
    expect(accepts(Constraint.toolArguments(vocabulary, stop), { now: 1 })).toBe(false);
    const constraint = Constraint.toolArguments(vocabulary, timer);
    expect(constraint.parse('{"minutes": 3}')).toEqual({ minutes: 3 });
  });

  test("may refer to documents of the caller", () => {
    const referring: Tool = { type: "function", name: "f", parameters: { $ref: "http://h/a" } };
    const table = { "http://h/a": { const: {} } };
    for (const documents of [table, (uri: string) => (uri in table ? { const: {} } : undefined)]) {
      const constraint = Constraint.toolCall(vocabulary, [referring], { documents, space: "compact" });
      expect(forced(constraint)).toBe('{"name":"f","arguments":{}}');
    }
  });

  test("errors name the place", () => {
    const message = (given: unknown, options: object = {}): string =>
      failure(() => Constraint.toolCall(vocabulary, given as Tool[], options)).message;
    expect(message(tools, { toolChoice: "auto" })).toStartWith('toolChoice: with "auto" the text may be no call');
    expect(message(tools, { toolChoice: "always" })).toStartWith("toolChoice: always is none of auto");
    expect(message(tools, { toolChoice: { type: "function", name: "go" } })).toBe("toolChoice: no tool is called go");
    expect(message([])).toBe("tools: there are none to choose from");
    expect(message([stop, stop])).toBe("tools[1]: another tool is called stop");
    expect(message([{ type: "web_search" }])).toBe("tools[0]: the type web_search is none of function, custom");
    expect(message([{ type: "function" }])).toBe("tools[0]: a function has no name");
    expect(message(["f"])).toBe("tools[0]: expected a function definition, got a string");
    expect(message(tools, { form: "x" })).toStartWith("form: x is none of hermes");
    expect(message([{ type: "function", name: "a b", parameters: { type: "int" } }])).toStartWith(
      'tool "a b": at #/type: ',
    );
    expect(message(tools, { unknown: 1 })).toContain("unknown");
  });
});
