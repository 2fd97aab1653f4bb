/** XGrammar's structural tags: the cases of tests/structural_tags. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { StructuralTag } from "../src";
import { Constraint, Matcher, Step, TokenFlag, Vocabulary } from "../src";
import { failure } from "./support";

interface Case {
  name: string;
  tag: StructuralTag;
  legal?: string[];
  illegal?: string[];
  error?: string;
}

const path = join(import.meta.dirname, "..", "..", "tests", "structural_tags", "cases.json");
const file = (await Bun.file(path).json()) as { control_tokens: string[]; cases: Case[] };

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
const vocabulary = new Vocabulary(257 + file.control_tokens.length, {
  tokenBytes: [...bytes, ...file.control_tokens.map((text) => Buffer.from(text)), new Uint8Array()],
  flags: [
    ...bytes.map(() => 0),
    ...file.control_tokens.map(() => TokenFlag.SPECIAL),
    TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION,
  ],
});

function tokensOf(text: string): number[] {
  const cuts = text.split(new RegExp(`(${file.control_tokens.join("|")})`));
  return cuts.flatMap((cut) => {
    const found = file.control_tokens.indexOf(cut);
    return found >= 0 ? [256 + found] : [...Buffer.from(cut)];
  });
}

function goes(constraint: Constraint, text: string): boolean {
  using matcher = new Matcher(constraint);
  return tokensOf(text).every((token) => matcher.accept(token) & Step.IN_SPAN) && matcher.canStop;
}

for (const { name, tag, legal = [], illegal = [], error } of file.cases) {
  test(name, () => {
    if (error !== undefined) {
      expect(failure(() => Constraint.tags(vocabulary, tag)).message).toBe(error);
      return;
    }
    for (const given of [tag, JSON.stringify(tag)]) {
      using constraint = Constraint.tags(vocabulary, given);
      expect(legal.filter((text) => !goes(constraint, text))).toEqual([]);
      expect(illegal.filter((text) => goes(constraint, text))).toEqual([]);
    }
  });
}
