/**
 * Writes src/abi.generated.ts from the C header: `npm run generate`. A test fails when the checked-in file is stale.
 */
import { join } from "node:path";
import { type Header, type StructField, parseHeader } from "./header";

export const headerPath = join(import.meta.dir, "../../native/include/eliza_inference.h");
export const outputPath = join(import.meta.dir, "../src/abi.generated.ts");

/** The whole text of the generated module. */
export function generate(headerText: string): string {
  const header = parseHeader(headerText);
  return [preamble, constants(header), structs(header), symbols(header)].join("\n\n");
}

const preamble = [
  "// Generated from native/include/eliza_inference.h by `npm run generate`. Do not edit.",
  'import { FFIType } from "bun:ffi";',
].join("\n");

function constants(header: Header): string {
  return header.constants.map(({ name, value }) => `export const ${name} = ${value};`).join("\n");
}

function structs(header: Header): string {
  return header.structs.map(({ name, fields }) => structLayout(name, fields)).join("\n\n");
}

/** Offsets and size as the System V, AArch64 and Windows 64-bit ABIs lay the struct out: natural alignment. */
function structLayout(name: string, fields: StructField[]): string {
  let end = 0;
  let alignment = 1;
  const lines = fields.map((field) => {
    const size = field.type === "u64" || field.type === "ptr" ? 8 : 4;
    const offset = Math.ceil(end / size) * size;
    end = offset + size;
    alignment = Math.max(alignment, size);
    return `    ${field.name}: { offset: ${offset}, type: "${field.type}" },`;
  });
  const size = Math.ceil(end / alignment) * alignment;
  return [`export const ${name} = {`, `  size: ${size},`, "  fields: {", ...lines, "  },", "} as const;"].join("\n");
}

function symbols(header: Header): string {
  const lines = header.functions.map(
    ({ name, args, returns }) =>
      `  ${name}: { args: [${args.map((arg) => `FFIType.${arg}`).join(", ")}], returns: FFIType.${returns} },`,
  );
  return ["export const declarations = {", ...lines, "} as const;", ""].join("\n");
}

if (import.meta.main) {
  await Bun.write(outputPath, generate(await Bun.file(headerPath).text()));
}
