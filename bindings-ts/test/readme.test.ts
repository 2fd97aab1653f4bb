/**
 * The examples of README.md and docs/integrations/elizaos.md, run as written. A comment `prints: X` is what a line must
 * print.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libllama } from "./support";

const root = join(import.meta.dirname, "../..");
const pages = ["bindings-ts/README.md", "docs/integrations/elizaos.md"];
const texts = await Promise.all(pages.map((page) => Bun.file(join(root, page)).text()));
const examples = [...texts.join("\n").matchAll(/^```ts\n(.*?)^```/gms)].map((match) => match[1]!);
const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(root, "bindings-ts"), join(folder, "node_modules/eliza-inference"));
afterAll(() => rmSync(folder, { recursive: true }));

test("there are examples", () => expect(examples.length).toBe(8));

test.each(examples.entries().toArray())("example %i", async (index, code) => {
  const file = join(folder, `example-${index}.ts`);
  await Bun.write(file, code);
  const child = Bun.spawn([process.execPath, file], {
    cwd: root,
    env: { ...process.env, ELIZA_INFERENCE_LLAMA: libllama() },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(stderr).toBe("");
  expect(await child.exited).toBe(0);
  expect(stdout).toBe([...code.matchAll(/prints: (.*)$/gm)].map((match) => `${match[1]}\n`).join(""));
});
