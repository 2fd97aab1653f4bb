// Runs the bun of this package's devDependencies: `node scripts/bun.mjs test`.
//
// The `bun` package links its command in an install script, which `npm ci --ignore-scripts` leaves out. The binary
// itself is in the package for the platform, which npm has already chosen.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

function findBun() {
  const executable = process.platform === "win32" ? "bun.exe" : "bun";
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const os = process.platform === "win32" ? "windows" : process.platform;
  const wanted = [`@oven/bun-${os}-${arch}`, `@oven/bun-${os}-${arch}-musl`];
  for (const name of wanted) {
    try {
      return require.resolve(`${name}/bin/${executable}`);
    } catch {
      // Not the package that npm installed here.
    }
  }
  console.error(`none of ${wanted.join(", ")} is installed: run \`npm ci --ignore-scripts\` first`);
  process.exit(1);
}

const child = spawnSync(findBun(), process.argv.slice(2), { stdio: "inherit" });
if (child.error) throw child.error;
process.exit(child.status ?? 1);
