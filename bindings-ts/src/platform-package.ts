/** Where the native library is: in optional npm packages, one for each platform, or in a checkout. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The package for this process, such as "@eliza-inference/linux-x64". npm installs the one that fits. */
export function platformPackage(): string {
  return `@eliza-inference/${process.platform}-${process.arch}${usesMusl() ? "-musl" : ""}`;
}

/** The file name of the library on this platform. */
export function libraryFile(name = "elizainference"): string {
  if (process.platform === "win32") return `${name}.dll`;
  return `lib${name}.${process.platform === "darwin" ? "dylib" : "so"}`;
}

/** Its file in an app that has another library of the first name. */
export function secondLibraryFile(): string {
  return libraryFile("elizaconstrain");
}

/** The library in the installed package, else the one that a checkout has built, else null. */
export function installedLibrary(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage()}/${libraryFile()}`);
  } catch {
    const folder = fileURLToPath(
      new URL(`../../zig-out/${process.platform === "win32" ? "bin" : "lib"}`, import.meta.url),
    );
    const files = [libraryFile(), secondLibraryFile()].map((file) => join(folder, file));
    return files.find((file) => existsSync(file)) ?? null;
  }
}

/** A path in full; a name without a folder, which the process or the system may know, as it is. */
export function resolveLibrary(path: string): string {
  return basename(path) === path ? path : resolve(path);
}

function usesMusl(): boolean {
  if (process.platform !== "linux") return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return !report.header?.glibcVersionRuntime;
}
