/** The libllama of installed npm packages. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The libllama files of installed packages, best first: in `folder`, in this package's folder, and in the folders above
 * them.
 */
export function findLlama(folder: string = process.cwd()): string[] {
  return [folder, dirname(fileURLToPath(import.meta.url))].flatMap(foldersAbove).flatMap(packageFiles);
}

/** The npm package that has a libllama for this platform. */
export function llamaPackage(): string {
  return `@node-llama-cpp/${llamaPlatform()}`;
}

function llamaPlatform(): string {
  const system = { darwin: "mac", win32: "win" }[process.platform as string] ?? process.platform;
  return `${system}-${process.arch}`;
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

/** node_modules/@node-llama-cpp/<package>/bins/<build>/libllama*.so of one folder. */
function packageFiles(folder: string): string[] {
  const scope = join(folder, "node_modules", "@node-llama-cpp");
  const platform = llamaPlatform();
  const builds = entries(scope)
    .filter((name) => name === platform || name.startsWith(`${platform}-`))
    .flatMap((name) => entries(join(scope, name, "bins")).map((build) => join(scope, name, "bins", build)));
  return builds.flatMap((build) =>
    entries(build)
      .filter((file) => LLAMA_FILE.test(file))
      .map((file) => join(build, file)),
  );
}

/** Tells libllama.so and libllama.v1.2.3.so from libllama-common.so. */
const LLAMA_FILE = /^(lib)?llama(\.v[\d.]+)?\.(so|dylib|dll)$/;

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
