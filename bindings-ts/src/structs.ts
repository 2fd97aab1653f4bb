/** C structs of abi.generated.ts in JavaScript buffers. */
import type { Library } from "./library.js";

type FieldType = "i32" | "u32" | "f32" | "u64" | "ptr";
type ByPointerBytes = { readonly 4: number; readonly 8: number };

/** The layout of a C struct, for both widths of a pointer. */
export interface StructLayout {
  /** Bytes. */
  readonly size: ByPointerBytes;
  readonly fields: { readonly [name: string]: ByPointerBytes & { readonly type: FieldType } };
}

/** The values of the fields, by name. */
export type StructValues<L extends StructLayout> = { [K in keyof L["fields"]]: number };

/** A zeroed buffer for one struct, with `struct_size` set if the struct has it. */
export class Struct<L extends StructLayout> {
  /** The struct as an argument of a call. */
  readonly bytes: Uint8Array;
  readonly #layout: L;
  readonly #view: DataView;
  readonly #pointerBytes: 4 | 8;

  constructor(layout: L, library: Pick<Library, "memory">) {
    this.#layout = layout;
    this.#pointerBytes = library.memory.pointerBytes;
    this.bytes = new Uint8Array(layout.size[this.#pointerBytes]);
    this.#view = new DataView(this.bytes.buffer);
    const { struct_size } = layout.fields;
    if (struct_size) this.#view.setUint32(struct_size[this.#pointerBytes], this.bytes.length, true);
  }

  /** All fields. Pointers and 64-bit counters become numbers, exact below 2^53. */
  read(): StructValues<L> {
    const values: Record<string, number> = {};
    for (const name in this.#layout.fields) {
      const field = this.#layout.fields[name]!;
      values[name] = this.#readField(field[this.#pointerBytes], field.type);
    }
    return values as StructValues<L>;
  }

  /** A 64-bit field, exactly. */
  bigint(name: keyof L["fields"] & string): bigint {
    return this.#view.getBigUint64(this.#layout.fields[name]![this.#pointerBytes], true);
  }

  /** Writes some fields. */
  write(values: Partial<StructValues<L>>): void {
    for (const name in values) {
      const field = this.#layout.fields[name]!;
      this.#writeField(field[this.#pointerBytes], field.type, values[name]!);
    }
  }

  #readField(offset: number, type: FieldType): number {
    const view = this.#view;
    if (type === "i32") return view.getInt32(offset, true);
    if (type === "f32") return view.getFloat32(offset, true);
    if (type === "u32" || this.#isNarrow(type)) return view.getUint32(offset, true);
    return view.getUint32(offset, true) + view.getUint32(offset + 4, true) * 2 ** 32;
  }

  #writeField(offset: number, type: FieldType, value: number): void {
    const view = this.#view;
    if (type === "i32") view.setInt32(offset, value, true);
    else if (type === "f32") view.setFloat32(offset, value, true);
    else if (type === "u32" || this.#isNarrow(type)) view.setUint32(offset, value, true);
    else view.setBigUint64(offset, BigInt(value), true);
  }

  #isNarrow(type: FieldType): boolean {
    return type === "ptr" && this.#pointerBytes === 4;
  }
}
