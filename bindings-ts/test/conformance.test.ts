/** The conformance cases under bun, with the native library. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Budget, Constraint, ConstraintKind, Vocabulary } from "../src";
import { type Case, type Open, newVocabulary, runCase, runsOf } from "./conformance-cases";

const folder = join(import.meta.dirname, "../../tests/conformance");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (path) => dirname(path) !== "." && path.endsWith(".json"),
);

test("there are cases", () => expect(files.length).toBeGreaterThan(20));

// Files are in the working folder, since their paths are in messages.
const scratch = mkdtempSync(join(tmpdir(), "conformance-"));
const before = process.cwd();
beforeAll(() => process.chdir(scratch));
afterAll(() => {
  process.chdir(before);
  rmSync(scratch, { recursive: true });
});

for (const file of files) {
  const { cases }: { cases: Case[] } = await Bun.file(join(folder, file)).json();
  describe(file, () => {
    for (const each of cases) {
      for (const run of runsOf(each))
        test(`${each.name} (${run.name})`, () => runCase(each, run, { reopen, openChanged }));
    }
  });
}

// ---- Files

function save(vocabulary: Vocabulary, constraint: Constraint): void {
  vocabulary.save("vocabulary");
  constraint.save("constraint");
}

function reopen(vocabulary: Vocabulary, compiled: Constraint, { maskBytesMax }: Budget): Constraint {
  if (compiled.kind === ConstraintKind.TOKEN_TRIE) return compiled;
  compiled.prepare();
  save(vocabulary, compiled);
  using opened = Vocabulary.open("vocabulary");
  return Constraint.open(opened, "constraint", { maskBytesMax });
}

function openChanged(vocabulary: Vocabulary, constraint: Constraint, open: Open): void {
  save(vocabulary, constraint);
  const path = open.path ?? open.as;
  if (open.flip !== undefined || open.length !== undefined) {
    const bytes = readFileSync(path);
    if (open.flip !== undefined) bytes[open.flip < 0 ? bytes.length + open.flip : open.flip]! ^= 0xff;
    writeFileSync(path, bytes.subarray(0, open.length));
  }
  if (open.as === "vocabulary") return Vocabulary.open(path).close();
  using other = open.for ? newVocabulary(open.for) : null;
  Constraint.open(other ?? vocabulary, path).close();
}
