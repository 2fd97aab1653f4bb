/** The cases of tests/conformance: the same files run through Zig, C, Python and here. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import * as path from "node:path";
import { Constraint, Matcher, Vocabulary } from "../src";
import { type Failure, type Case as Steps, camelCase, expectFailure, runSteps } from "./conformance-steps";

interface Case extends Steps {
  name: string;
  vocab_size: number;
  span_timeout?: number;
  model_id?: string;
  payload?: string;
  payload_hex?: string;
  payload_parts?: [string, number][];
  payload_hex_parts?: [string, number][];
  error?: Failure;
  info?: Record<string, number>;
}

const folder = path.join(import.meta.dir, "../../tests/conformance");
const files = readdirSync(folder).filter((name) => name.endsWith(".json") && name !== "decisions.json");

test("there are cases", () => expect(files.length).toBeGreaterThan(0));

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(path.join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) {
      const text = each.payload_parts ?? (each.payload !== undefined ? [[each.payload, 1] as const] : null);
      const hex = each.payload_hex_parts ?? (each.payload_hex !== undefined ? [[each.payload_hex, 1] as const] : null);
      if (text) test(`${each.name} (text)`, () => run(each, join(text)));
      if (hex) test(`${each.name} (bytes)`, () => run(each, Uint8Array.from(Buffer.from(join(hex), "hex"))));
    }
  });
}

function join(parts: ReadonlyArray<readonly [string, number]>): string {
  return parts.map(([part, count]) => part.repeat(count)).join("");
}

function run(each: Case, payload: string | Uint8Array): void {
  using vocabulary = new Vocabulary(each.vocab_size, { modelId: each.model_id });
  if (each.error) {
    expectFailure(each.error, () => {
      using constraint = new Constraint(vocabulary, payload);
      using _matcher = new Matcher(constraint, { spanTimeout: each.span_timeout });
    });
    return;
  }
  using constraint = new Constraint(vocabulary, payload);
  checkInfo(constraint, each.info ?? {});
  runSteps(new Matcher(constraint, { spanTimeout: each.span_timeout }), each, vocabulary);
}

function checkInfo(constraint: Constraint, expected: Record<string, number>): void {
  const info = constraint.info as unknown as Record<string, number>;
  for (const [key, value] of Object.entries(expected)) {
    expect({ [key]: info[camelCase(key)] }).toEqual({ [key]: value });
  }
}
