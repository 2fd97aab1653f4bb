/** What to do about a library that cannot be loaded, which the system's message rarely says. */
import { readFileSync, statSync } from "node:fs";

/** Advice to append to the message; "" if there is none. */
export function loadAdvice(path: string, message: string): string {
  const platform = platformOf(path);
  if (platform !== null && platform !== HERE) {
    return ` (it is for ${platform}, this process is ${HERE}: use the file for this platform)`;
  }
  if (/failed to map segment|operation not permitted|code signature|not valid for use in process/i.test(message)) {
    return (
      " (the system does not let this process execute it: put it in a folder that is not mounted noexec, " +
      "and allow the process to map executable pages)"
    );
  }
  return "";
}

/** This process, as `platformOf` would name it. */
const HERE =
  process.platform === "win32"
    ? `Windows ${process.arch}`
    : process.platform === "darwin"
      ? `macOS ${process.arch}`
      : `Linux ${process.arch}`;

/**
 * The platform that a library is for, such as "Linux arm64", read from the start of the file; null if it cannot be
 * told.
 */
function platformOf(path: string): string | null {
  let start: Buffer;
  try {
    if (!statSync(path).isFile()) return null;
    start = readFileSync(path).subarray(0, 4096);
  } catch {
    return null;
  }
  if (start.length < 64) return null;
  const signature = start.readUInt32BE(0);
  if (signature === 0x7f454c46) return named("Linux", ELF_MACHINES, start.readUInt16LE(18));
  if (signature === 0xcffaedfe) return named("macOS", MACHO_PROCESSORS, start.readUInt32LE(4));
  const pe = signature >>> 16 === 0x4d5a ? start.readUInt32LE(60) : start.length;
  return pe + 6 <= start.length ? named("Windows", PE_MACHINES, start.readUInt16LE(pe + 4)) : null;
}

function named(system: string, processors: ReadonlyMap<number, string>, value: number): string {
  return `${system} ${processors.get(value) ?? "of another processor"}`;
}

const ELF_MACHINES = new Map([
  [3, "ia32"],
  [40, "arm"],
  [62, "x64"],
  [183, "arm64"],
]);
const MACHO_PROCESSORS = new Map([
  [0x01000007, "x64"],
  [0x0100000c, "arm64"],
]);
const PE_MACHINES = new Map([
  [0x8664, "x64"],
  [0xaa64, "arm64"],
]);
