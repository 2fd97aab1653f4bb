/** The conformance cases under bun, with the native library. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Budget, Constraint, ConstraintKind, Vocabulary } from "../src";
import { type Case, type Open, newVocabulary, runCase, runsOf, withTokenizer } from "./conformance-cases";

const folder = join(import.meta.dirname, "../../tests/conformance");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (path) => ![".", "streams"].includes(dirname(path)) && path.endsWith(".json"),
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

function reopen(each: Case, vocabulary: Vocabulary, compiled: Constraint, budget: Budget): Constraint {
  if (compiled.kind === ConstraintKind.TOKEN_TRIE) return compiled;
  compiled.prepare();
  save(vocabulary, compiled);
  const how = howOf(each.open);
  using opened = withTokenizer(each.vocabulary, Vocabulary.open("vocabulary", how));
  const constraint = Constraint.open(opened, "constraint", { budget, ...how });
  if (each.open?.emptied) for (const name of ["vocabulary", "constraint"]) writeFileSync(name, "");
  return constraint;
}

function howOf(open?: Open): { trusted?: boolean; copy?: boolean } {
  return open?.how ? { [open.how]: true } : {};
}

function openChanged(vocabulary: Vocabulary, constraint: Constraint, open: Open): void {
  save(vocabulary, constraint);
  const path = open.path ?? open.as!;
  if (open.flip !== undefined || open.length !== undefined) {
    const bytes = readFileSync(path);
    if (open.flip !== undefined) bytes[open.flip < 0 ? bytes.length + open.flip : open.flip]! ^= 0xff;
    writeFileSync(path, bytes.subarray(0, open.length));
  }
  if (open.as === "vocabulary") return Vocabulary.open(path, howOf(open)).close();
  using other = open.for ? newVocabulary(open.for) : null;
  Constraint.open(other ?? vocabulary, path, howOf(open)).close();
}
