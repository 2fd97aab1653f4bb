/** Reads and writes the C structs of abi.generated.ts in JavaScript buffers. */

type FieldType = "i32" | "u32" | "f32" | "u64" | "ptr";

/** The layout of a C struct. */
export interface StructLayout {
  /** Bytes. */
  readonly size: number;
  readonly fields: { readonly [name: string]: { readonly offset: number; readonly type: FieldType } };
}

/** The values of the fields, by name. */
export type StructValues<L extends StructLayout> = { [K in keyof L["fields"]]: number };

/** A zeroed buffer for one struct, with `struct_size` set if the struct has it. */
export function newStruct(layout: StructLayout): DataView {
  const view = new DataView(new ArrayBuffer(layout.size));
  const structSize = layout.fields.struct_size;
  if (structSize) view.setUint32(structSize.offset, layout.size, true);
  return view;
}

/** The struct as an argument of a call. */
export function bytesOf(view: DataView): Uint8Array {
  return new Uint8Array(view.buffer);
}

/** Reads all fields. Pointers and 64-bit counters become numbers, exact below 2^53. */
export function readStruct<L extends StructLayout>(layout: L, view: DataView): StructValues<L> {
  const values: Record<string, number> = {};
  for (const name in layout.fields) {
    const { offset, type } = layout.fields[name]!;
    values[name] = readField(view, offset, type);
  }
  return values as StructValues<L>;
}

/** Writes some fields. */
export function writeStruct<L extends StructLayout>(layout: L, view: DataView, values: Partial<StructValues<L>>): void {
  for (const name in values) {
    const { offset, type } = layout.fields[name]!;
    writeField(view, offset, type, values[name]!);
  }
}

function readField(view: DataView, offset: number, type: FieldType): number {
  switch (type) {
    case "i32":
      return view.getInt32(offset, true);
    case "u32":
      return view.getUint32(offset, true);
    case "f32":
      return view.getFloat32(offset, true);
    case "u64":
    case "ptr":
      return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * 2 ** 32;
  }
}

function writeField(view: DataView, offset: number, type: FieldType, value: number): void {
  switch (type) {
    case "i32":
      return view.setInt32(offset, value, true);
    case "u32":
      return view.setUint32(offset, value, true);
    case "f32":
      return view.setFloat32(offset, value, true);
    case "u64":
    case "ptr":
      return view.setBigUint64(offset, BigInt(value), true);
  }
}
