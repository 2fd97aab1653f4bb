// Makes the page: `node build.mjs MODULE OUTPUT`, with elizainference.wasm as `zig build wasm` makes it. OUTPUT can be
// served by anything that serves files.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const binding = join(here, "..", "bindings-ts");
const [module, output] = process.argv.slice(2).map((path) => resolve(path));
if (!output) {
  console.error("usage: node build.mjs MODULE OUTPUT");
  process.exit(2);
}

mkdirSync(join(output, "vocabularies"), { recursive: true });
cpSync(join(here, "public"), output, { recursive: true });
cpSync(module, join(output, "elizainference.wasm"));
const bundle = [
  "build",
  join(here, "src", "main.ts"),
  "--target",
  "browser",
  "--minify",
  "--outfile",
  join(output, "main.js"),
];
execFileSync("node", ["scripts/bun.mjs", ...bundle], { cwd: binding, stdio: ["ignore", "ignore", "inherit"] });
for (const name of ["gpt2", "o200k_base"]) {
  const { default: ranks } = await import(`js-tiktoken/ranks/${name}`);
  writeFileSync(join(output, "vocabularies", `${name}.bin`), vocabulary(ranks));
}

/** A line of JSON with pattern, special tokens and number of tokens; the tokens' lengths, a byte each; their bytes. */
function vocabulary({ bpe_ranks: lines, pat_str: pattern, special_tokens: special }) {
  const tokens = [];
  // Lines of "! FIRST_ID BASE64 BASE64 ...".
  for (const line of lines.split("\n").filter(Boolean)) {
    const [, first, ...spelled] = line.split(" ");
    for (const [index, token] of spelled.entries()) tokens[Number(first) + index] = Buffer.from(token, "base64");
  }
  const size = Math.max(tokens.length, ...Object.values(special).map((id) => id + 1));
  const all = Array.from({ length: size }, (_, id) => tokens[id] ?? Buffer.alloc(0));
  const head = `${JSON.stringify({ pattern, special, size })}\n`;
  return Buffer.concat([Buffer.from(head), Uint8Array.from(all, (token) => token.length), ...all]);
}
