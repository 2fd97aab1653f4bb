// Makes tests of bindings-ts programs for Node.js, run by bun: `bun bundle-tests.mjs OUTPUT FILE...`.
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [output, ...files] = process.argv.slice(2);

const bunTest = {
  name: "bun:test",
  setup(build) {
    build.onResolve({ filter: /^bun:test$/ }, () => ({ path: join(here, "bun-test.mjs") }));
  },
};

for (const file of files) {
  const result = await Bun.build({
    entrypoints: [file],
    target: "node",
    outdir: output,
    naming: `${basename(file, ".ts")}.mjs`,
    plugins: [bunTest],
  });
  for (const message of result.logs) console.error(message);
  if (!result.success) process.exit(1);
}
