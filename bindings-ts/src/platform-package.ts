/** The optional npm packages that hold the library, one for each platform; npm installs the one that fits. */
import { createRequire } from "node:module";

/** The package for this process, such as "@eliza-inference/linux-x64". */
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

/** The library in the installed package, or null. */
export function packagedLibrary(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`${platformPackage()}/${libraryFile()}`);
  } catch {
    return null;
  }
}

function usesMusl(): boolean {
  if (process.platform !== "linux") return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return !report.header?.glibcVersionRuntime;
}
