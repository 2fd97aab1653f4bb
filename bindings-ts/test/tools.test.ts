/** Tools, tool choices and response formats in the shapes of several APIs: tests/tool_calls/tools.json. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  Constraint,
  Matcher,
  type ResponseFormat,
  Step,
  TokenFlag,
  type Tool,
  type ToolChoice,
  Vocabulary,
} from "../src";
import { failure } from "./support";

interface Texts {
  name: string;
  legal: string[];
  illegal: string[];
}

const path = join(import.meta.dirname, "..", "..", "tests", "tool_calls", "tools.json");
const file = (await Bun.file(path).json()) as {
  shapes: (Texts & { tool: Tool })[];
  wrong: { name: string; tool: Tool; message: string }[];
  choices: { name: string; choice: ToolChoice; names: string[]; required: boolean; parallel: boolean }[];
  wrong_choices: { choice: ToolChoice; message: string }[];
  response_formats: (Texts & { format: ResponseFormat })[];
  wrong_response_formats: { format: ResponseFormat; message: string }[];
  skipped: { tools: Tool[]; warnings: string[]; legal: string };
};

const END = 256;
const tokenBytes = Array.from({ length: END + 1 }, (_, byte) => (byte < END ? Uint8Array.of(byte) : new Uint8Array()));
const flags = tokenBytes.map((_, token) => (token === END ? TokenFlag.END_OF_GENERATION : 0));
const vocabulary = new Vocabulary(tokenBytes.length, { tokenBytes, flags });

function accepts(constraint: Constraint | null, text: string): boolean {
  using matcher = new Matcher(constraint!);
  for (const byte of Buffer.from(text)) if (!(matcher.accept(byte) & Step.IN_SPAN)) return false;
  return matcher.canStop;
}

/** The legal texts, then the illegal ones. */
function check(constraint: Constraint | null, { legal, illegal }: Omit<Texts, "name">): void {
  const all = [...legal, ...illegal];
  expect(all.map((text) => [text, accepts(constraint, text)])).toEqual(all.map((text, i) => [text, i < legal.length]));
}

describe("tools", () => {
  for (const { name, tool, ...texts } of file.shapes) {
    test(name, () => check(Constraint.toolArguments(vocabulary, tool), texts));
  }

  for (const { name, tool, message } of file.wrong) {
    test(`errors: ${name}`, () => {
      expect(failure(() => Constraint.toolArguments(vocabulary, tool)).message).toStartWith(message);
    });
  }

  test("bad ones are left out", () => {
    const { warnings, legal } = file.skipped;
    const tools = file.skipped.tools;
    const calls = Constraint.toolCalls(vocabulary, tools, { template: "hermes", skipBadTools: true });
    const pairs = [
      [Constraint.toolCall(vocabulary, tools, { skipBadTools: true })!, legal],
      [calls, `<tool_call>\n${legal}\n</tool_call>`],
    ] as const;
    for (const [constraint, text] of pairs) {
      const told = constraint.warnings.toSorted().map((warning, i) => warning.startsWith(warnings.toSorted()[i]!));
      expect(told).toEqual(warnings.map(() => true));
      expect([text, text.replace("good", "odd")].map((one) => accepts(constraint, one))).toEqual([true, false]);
    }
    const bad = tools.slice(1, 3);
    const free = Constraint.toolCalls(vocabulary, bad, { template: "hermes", skipBadTools: true });
    expect(["text", "<tool_call>"].map((text) => accepts(free, text))).toEqual([true, false]);
    const none = { template: "hermes", skipBadTools: true, toolChoice: "required" } as const;
    expect(failure(() => Constraint.toolCalls(vocabulary, bad, none)).message).toContain("none is left; left out");
    expect(failure(() => Constraint.toolCall(vocabulary, bad, { skipBadTools: true })).message).toContain(
      "none is left",
    );
  });
});

describe("tool choices", () => {
  const names = ["a", "b", "c"];
  const call = (name: string): string => `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>`;

  for (const { name, choice, required, parallel, names: chosen } of file.choices) {
    test(name, () => {
      const tools = names.map((one) => ({ name: one }));
      const options = { template: "hermes", toolChoice: choice };
      const constraint = Constraint.toolCalls(vocabulary, tools, options);
      const legal = names.filter((one) => accepts(constraint, call(one)));
      expect(legal).toEqual(chosen);
      expect(accepts(constraint, "text")).toBe(!required);
      if (legal.length > 0) expect(accepts(constraint, call(legal[0]!).repeat(2))).toBe(parallel);
    });
  }

  test("errors", () => {
    for (const { choice, message } of file.wrong_choices) {
      const options = { template: "hermes", toolChoice: choice };
      expect(failure(() => Constraint.toolCalls(vocabulary, [{ name: "a" }], options)).message).toContain(message);
    }
  });
});

describe("response formats", () => {
  for (const { name, format, ...texts } of file.response_formats) {
    test(name, () => check(Constraint.responseFormat(vocabulary, format), texts));
  }

  test("errors", () => {
    for (const { format, message } of file.wrong_response_formats) {
      const make = (): unknown => Constraint.responseFormat(vocabulary, format);
      expect(failure(make).message).toContain(message);
    }
  });
});
