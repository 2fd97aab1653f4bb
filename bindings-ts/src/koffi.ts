/** C through koffi, an optional package for Node.js. */
import { createRequire } from "node:module";
import type koffiPackage from "koffi";
import { type Foreign, type NativeType, findEach } from "./foreign.js";
import type { Handle } from "./library.js";

type Koffi = typeof koffiPackage;

/** koffi as it is installed, or null. Another major version than the one that this is written for counts as none. */
export function installedKoffi(): Foreign | null {
  try {
    const koffi: Koffi = createRequire(import.meta.url)("koffi");
    return koffi.version.startsWith("3.") ? foreign(koffi) : null;
  } catch {
    return null;
  }
}

/** Of arguments; buffers are passed as pointers without a copy. */
const ARGUMENTS: Record<NativeType, string> = {
  i32: "int32_t",
  u32: "uint32_t",
  f32: "float",
  u64: "uint64_t",
  usize: "size_t",
  handle: "void *",
  in: "void *",
  out: "void *",
  cstring: "const char *",
  void: "void",
};

/** Of what C gives. A pointer would be a bigint, which code for handles does not take. */
const RESULTS: Record<NativeType, string> = { ...ARGUMENTS, handle: "uintptr_t", in: "uintptr_t", out: "uintptr_t" };

/** An empty buffer, which would be passed as NULL, has an address too. */
function withBuffers(call: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
  return (...args) => {
    for (const [i, value] of args.entries()) if (isEmpty(value)) args[i] = NOTHING;
    return call(...args);
  };
}

const NOTHING = new Uint8Array(1);

function isEmpty(value: unknown): boolean {
  return ArrayBuffer.isView(value) && value.byteLength === 0;
}

function foreign(koffi: Koffi): Foreign {
  const { int32_t, uint8_t } = koffi.types;
  return {
    open(path, signatures) {
      const library = koffi.load(path);
      return findEach(Object.keys(signatures), (name) => {
        const { args, returns } = signatures[name]!;
        const types = args.map((type) => ARGUMENTS[type]);
        const call = library.func(name, RESULTS[returns], types);
        return types.includes("void *") ? withBuffers(call) : call;
      });
    },
    callback({ args, returns }, answer) {
      const types = args.map((type) => RESULTS[type]);
      return Number(koffi.register(answer, koffi.pointer(koffi.proto(ARGUMENTS[returns], types)))) as Handle;
    },
    addressOf: (view) => Number(koffi.address(view)) as Handle,
    // Not `koffi.view`: some hosts, such as Electron, let no ArrayBuffer have foreign memory.
    copy: (address, length) => koffi.decode(address, uint8_t, length),
    int32s: (address, length) => koffi.decode(address, int32_t, length),
    text: (address) => koffi.decode.string(address),
    write: (address, bytes) => koffi.encode(address, uint8_t, bytes, bytes.length),
  };
}
