import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Constraint, ConstraintKind, ElizaInferenceError, Matcher, Vocabulary, hasSymbols, loadLibrary } from "../src";
import * as abi from "../src/abi.generated";
import { libraryFile, platformPackage } from "../src/platform-package";
import { failure, olderBuild } from "./support";

const folder = mkdtempSync(join(tmpdir(), "eliza-inference-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the library has every function of the header", () => {
  const library = loadLibrary();
  expect([...library.missing]).toEqual([]);
  expect(library.symbols.eliza_inference_abi_version()).toBe(String(abi.ELIZA_INFERENCE_ABI_VERSION));
  expect(loadLibrary(library.path)).toBe(library);
});

test("every status has the name that the library gives it", () => {
  const { symbols } = loadLibrary();
  const statuses = Object.entries(abi).filter(([name]) => name.startsWith("ELIZA_ERR_")) as [string, number][];
  expect(statuses.length).toBe(18);
  for (const [name, status] of statuses) {
    expect(symbols.eliza_inference_status_name(status)).toBe(name);
    expect(new ElizaInferenceError(status, "").statusName).toBe(name);
  }
  expect(new ElizaInferenceError(-99, "").statusName).toBe(symbols.eliza_inference_status_name(-99)!);
});

test("a missing file is named", () => {
  const path = join(folder, "none.so");
  const { statusName, message } = failure(() => loadLibrary(path));
  expect(statusName).toBe("ELIZA_ERR_ABI_MISMATCH");
  expect(message).toStartWith(`${path} is not a libelizainference: `);
});

test("a file that is no library is named", async () => {
  const path = join(folder, "text.so");
  await Bun.write(path, "not a library");
  expect(failure(() => loadLibrary(path)).message).toStartWith(`${path} is not a libelizainference: `);
});

test("the environment variable chooses the library", async () => {
  const { exitCode, stdout } = await loadInChild({ ELIZA_INFERENCE_LIBRARY: loadLibrary().path });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${loadLibrary().path}\n` });
  const failed = await loadInChild({ ELIZA_INFERENCE_LIBRARY: "/nowhere/libelizainference.so" });
  expect(failed.exitCode).not.toBe(0);
  expect(failed.stderr).toContain("ELIZA_INFERENCE_LIBRARY is /nowhere/libelizainference.so: no such file");
});

test("on Android the second name is looked for first, since another library may have the first", async () => {
  const android = `Object.defineProperty(process, "platform", { value: "android" });
    const { loadLibrary } = await import(${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))});
    console.log(loadLibrary().path);`;
  const apps = ["libelizainference.so", "libelizaconstrain.so"].map((name) => {
    const app = mkdtempSync(join(folder, "app-"));
    cpSync(loadLibrary().path, join(app, "libelizainference.so"));
    cpSync(loadLibrary().path, join(app, name));
    return { app, name };
  });
  for (const { app, name } of apps) {
    const { exitCode, stdout } = await runInChild(android, { LD_LIBRARY_PATH: app, ELIZA_INFERENCE_LIBRARY: "" });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${name}\n` });
  }
});

test("a libllama of the environment that is not there is named with its variable", async () => {
  const index = JSON.stringify(join(import.meta.dirname, "../src/index.ts"));
  const script = `import { loadLlama } from ${index}; loadLlama();`;
  const { exitCode, stderr } = await runInChild(script, { ELIZA_INFERENCE_LLAMA: "/nowhere/libllama.so" });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("ELIZA_INFERENCE_LLAMA is /nowhere/libllama.so: no such file");
});

test("a package without a library says what to install", async () => {
  const copy = join(folder, "node_modules", "eliza-inference");
  cpSync(join(import.meta.dirname, "../src"), join(copy, "src"), { recursive: true });
  cpSync(join(import.meta.dirname, "../package.json"), join(copy, "package.json"));
  for (const texts of ["native/grammars", "native/templates"]) {
    cpSync(join(import.meta.dirname, "../..", texts), join(folder, "node_modules", texts), { recursive: true });
  }
  const msgpack = "node_modules/@msgpack";
  cpSync(join(import.meta.dirname, "..", msgpack), join(folder, msgpack), { recursive: true });
  const { exitCode, stderr } = await loadInChild({ ELIZA_INFERENCE_LIBRARY: "" }, join(copy, "src"));
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("libelizainference was not found: install the package @eliza-inference/");
  expect(stderr).toContain("or set ELIZA_INFERENCE_LIBRARY to the path of ");

  const installed = join(folder, "node_modules", platformPackage(), libraryFile());
  cpSync(loadLibrary().path, installed);
  expect((await loadInChild({ ELIZA_INFERENCE_LIBRARY: "" }, join(copy, "src"))).stdout).toBe(`${installed}\n`);
});

test("an older build is used for what it has", async () => {
  const library = loadLibrary(
    await olderBuild(folder, ["eliza_inference_matcher_sample", "eliza_inference_set_token_trie"]),
  );
  expect([...library.missing].sort()).toEqual(["eliza_inference_matcher_sample", "eliza_inference_set_token_trie"]);
  expect(hasSymbols(library, "eliza_inference_matcher_accept")).toBe(true);
  expect(hasSymbols(library, "eliza_inference_matcher_accept", "eliza_inference_matcher_sample")).toBe(false);
  using vocabulary = new Vocabulary(100, { library });
  const payload = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "A", tokens: [1] }] }] };
  using matcher = new Matcher(new Constraint(vocabulary, payload));
  expect(matcher.allowed()).toEqual(Int32Array.of(1));
  expect(failure(() => matcher.sample(new Float32Array(100)))).toEqual({
    statusName: "ELIZA_ERR_UNSUPPORTED",
    message: `${library.path} is an older build: it lacks eliza_inference_matcher_sample`,
  });
});

test("a build from before the recognizers serves token trees", async () => {
  const library = loadLibrary(
    await olderBuild(folder, [
      "eliza_inference_constraint_recognizer_info",
      "eliza_inference_constraint_create_regex",
      "eliza_inference_matcher_create_span",
      "eliza_inference_matcher_fill_bitmap",
    ]),
  );
  using vocabulary = new Vocabulary(100, { library });
  const payload = { modelId: "", descriptors: [{ path: "action", leaves: [{ name: "A", tokens: [1] }] }] };
  using constraint = new Constraint(vocabulary, payload);
  expect([constraint.kind, constraint.paths]).toEqual([ConstraintKind.TOKEN_TRIE, ["action"]]);
  using matcher = new Matcher(constraint, { spanTimeout: 3 });
  expect(matcher.allowed()).toEqual(Int32Array.of(1));
  for (const call of [
    () => Constraint.regex(vocabulary, "a"),
    () => matcher.fillBitmap(),
    () => new Matcher(constraint, { end: [1] }),
  ]) {
    expect(failure(call).statusName).toBe("ELIZA_ERR_UNSUPPORTED");
  }
});

async function loadInChild(env: Record<string, string>, source = join(import.meta.dirname, "../src")) {
  return runInChild(
    `import { loadLibrary } from ${JSON.stringify(join(source, "index.ts"))}; console.log(loadLibrary().path);`,
    env,
  );
}

async function runInChild(script: string, env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}
