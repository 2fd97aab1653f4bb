/** The examples for this package, run as they lie there. */
import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libllama } from "./support";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(root, "bindings-ts"), join(folder, "node_modules/eliza-inference"));
cpSync(join(root, "examples/elizaos"), folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

test("elizaOS's planner: one generation for two, fewer passes, and parameters that are the action's", async () => {
  const env = { ...process.env, ELIZA_INFERENCE_LLAMA: libllama() };
  const child = Bun.spawn([process.execPath, join(folder, "planner.ts")], {
    cwd: root,
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(stderr).toBe("");
  const lines = [...stdout.matchAll(/^(.*?): (\{.*\}), (\d+) passes$/gm)];
  const passes = lines.map(([, , , n]) => Number(n));
  expect(lines.map(([, name]) => name)).toEqual(["two generations", "one", "one, with drafts"]);
  expect(passes[1]!).toBeLessThan(passes[0]! / 3);
  expect(passes[2]!).toBeLessThanOrEqual(passes[1]!);
  const answers = lines.map(([, , text]) => JSON.parse(text!));
  const keys = { SET_TIMER: ["minutes"], SEND_REMINDER: ["about", "urgent"], MUTE_ROOM: ["room"] };
  for (const { action, parameters } of answers)
    expect(Object.keys(parameters)).toEqual(keys[action as keyof typeof keys]);
  expect(answers[2]).toEqual(answers[1]);
  expect(Object.keys(answers[1])).toEqual(["action", "parameters", "priority", "thought"]);
});
