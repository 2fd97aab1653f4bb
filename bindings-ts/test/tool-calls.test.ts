/** Calls of functions as models write them: the cases of tests/tool_calls. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  type AssistantMessage,
  Constraint,
  Matcher,
  Step,
  TokenFlag,
  type Tool,
  type ToolCallsOptions,
  Vocabulary,
  toolTemplates,
} from "../src";
import { failure } from "./support";

interface Case {
  name: string;
  template: string;
  /** By default those of the file. */
  tools?: Tool[];
  options?: { tool_choice?: ToolCallsOptions["toolChoice"]; parallel_tool_calls?: boolean; after?: string };
  legal: { text: string; message: AssistantMessage }[];
  illegal: string[];
}

const path = join(import.meta.dirname, "..", "..", "tests", "tool_calls", "cases.json");
const file = (await Bun.file(path).json()) as {
  tools: Tool[];
  special_tokens: { text: string; ends?: boolean }[];
  cases: Case[];
};

// Bytes, special tokens, and an end token.
const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
const texts = file.special_tokens.map(({ text }) => Buffer.from(text));
const flagOf = (ends: boolean | undefined): number =>
  TokenFlag.SPECIAL | (ends === true ? TokenFlag.END_OF_GENERATION : 0);
const special = new Vocabulary(257 + texts.length, {
  tokenBytes: [...bytes, ...texts, new Uint8Array()],
  flags: [...bytes.map(() => 0), ...file.special_tokens.map(({ ends }) => flagOf(ends)), TokenFlag.END_OF_GENERATION],
});
const plain = new Vocabulary(257, {
  tokenBytes: [...bytes, new Uint8Array()],
  flags: [...bytes.map(() => 0), TokenFlag.END_OF_GENERATION],
});

function tokensOf(text: string, vocabulary: Vocabulary): number[] {
  const tokens: number[] = [];
  const data = Buffer.from(text);
  for (let at = 0; at < data.length; ) {
    const rest = data.subarray(at);
    const found = vocabulary === special ? texts.findIndex((one) => rest.subarray(0, one.length).equals(one)) : -1;
    tokens.push(found >= 0 ? 256 + found : data[at]!);
    at += found >= 0 ? texts[found]!.length : 1;
  }
  return tokens;
}

function goes(constraint: Constraint, vocabulary: Vocabulary, text: string): boolean {
  using matcher = new Matcher(constraint);
  const tokens = tokensOf(text, vocabulary);
  return tokens.every((token) => (matcher.accept(token) & Step.IN_SPAN) !== 0) && matcher.canStop;
}

function withoutIds(message: AssistantMessage): unknown {
  const { tool_calls: calls, ...rest } = message;
  for (const { id } of calls ?? []) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
  return calls ? { ...rest, tool_calls: calls.map(({ id: _, ...call }) => call) } : rest;
}

describe("tool calls", () => {
  for (const { name, template, tools = file.tools, options = {}, legal, illegal } of file.cases) {
    const { tool_choice: toolChoice, parallel_tool_calls: parallelToolCalls, after } = options;
    for (const vocabulary of [plain, special]) {
      test(`${name}, ${vocabulary === plain ? "as text" : "with special tokens"}`, () => {
        const made = { template, toolChoice, parallelToolCalls, after };
        const constraint = Constraint.toolCalls(vocabulary, tools, made);
        for (const { text, message } of legal) {
          expect([text, goes(constraint, vocabulary, text)]).toEqual([text, true]);
          expect(withoutIds(constraint.parse(text) as AssistantMessage)).toEqual(message);
        }
        for (const text of illegal) expect([text, goes(constraint, vocabulary, text)]).toEqual([text, false]);
      });
    }
  }

  test("what is cut off stays content", () => {
    for (const { template, tools = file.tools, legal } of file.cases) {
      const constraint = Constraint.toolCalls(plain, tools, { template });
      for (const { text } of legal) {
        const whole = (constraint.parse(text) as AssistantMessage).tool_calls ?? [];
        for (let n = 0; n < text.length; n++) {
          const calls = (constraint.parse(text.slice(0, n)) as AssistantMessage).tool_calls ?? [];
          const left = { role: "assistant" as const, content: null };
          expect(withoutIds({ ...left, tool_calls: calls })).toEqual(
            withoutIds({ ...left, tool_calls: whole.slice(0, calls.length) }),
          );
        }
      }
    }
  });

  test("every template has cases", () => {
    expect(new Set(file.cases.map(({ template }) => template))).toEqual(new Set(Object.keys(toolTemplates())));
  });

  test("errors name what is wrong", () => {
    const message = (given: object): string =>
      failure(() => Constraint.toolCalls(plain, file.tools, { template: "hermes", ...given })).message;
    expect(message({ template: "gpt" })).toStartWith("template: gpt is none of hermes");
    expect(message({ toolChoice: "always" })).toStartWith("toolChoice: always is none of auto");
    expect(message({ documents: () => null })).toContain("a function is not supported");
    expect(message({ space: "wide" })).toContain('tool "get_weather".space: "wide" is not known');
    expect(message({ unknown: 1 })).toContain("unknown");
  });
});
