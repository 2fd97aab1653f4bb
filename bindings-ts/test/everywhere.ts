/** The conformance cases with the WebAssembly module, for Node.js, Deno and browsers. */
import { type Case, needsNoFiles, runCase, runsOf } from "./conformance-cases.js";

/** What came of the cases. */
export interface Outcome {
  passed: number;
  /** Name and message of each that failed. */
  failed: string[];
}

/** Runs the cases of some files, given by name. */
export function runAll(files: Record<string, { cases: Case[] }>): Outcome {
  const outcome: Outcome = { passed: 0, failed: [] };
  for (const [file, { cases }] of Object.entries(files)) {
    for (const each of cases) {
      for (const run of runsOf(each).filter((run) => needsNoFiles(each, run))) {
        try {
          runCase(each, run);
          outcome.passed++;
        } catch (error) {
          outcome.failed.push(`${file}: ${each.name} (${run.name}): ${(error as Error).message}`);
        }
      }
    }
  }
  return outcome;
}
