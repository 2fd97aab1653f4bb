/** The conformance cases and checks of the WebAssembly module, for Node.js, Deno and browsers. */
import { type Case, needsNoFiles, runCase, runsOf } from "./conformance-cases.js";
import { CHECKS } from "./module-checks.js";

/** What came of the cases. */
export interface Outcome {
  passed: number;
  /** How many ask for a language that the module is built without, and were told so. */
  absent: number;
  /** Name and message of each that failed. */
  failed: string[];
}

const ABSENT = "this build of the library has no ";

/** Runs the checks, and the cases of some files, given by name. */
export function runAll(files: Record<string, { cases: Case[] }>): Outcome {
  const outcome: Outcome = { passed: 0, absent: 0, failed: [] };
  const attempt = (name: string, run: () => void): void => {
    try {
      run();
      outcome.passed++;
    } catch (error) {
      const { message } = error as Error;
      if (message.includes(ABSENT)) outcome.absent++;
      else outcome.failed.push(`${name}: ${message}`);
    }
  };
  for (const [name, check] of Object.entries(CHECKS)) attempt(name, check);
  for (const [file, { cases }] of Object.entries(files)) {
    for (const each of cases) {
      for (const run of runsOf(each).filter((run) => needsNoFiles(each, run))) {
        attempt(`${file}: ${each.name} (${run.name})`, () => runCase(each, run));
      }
    }
  }
  return outcome;
}
