"""The files that are written from the manifest."""

from __future__ import annotations

import json
from typing import Any

Manifest = dict[str, Any]

LINE_MAX = 160

# A pointer as the TypeScript package passes it: what the library alone reads and writes, else an array that it reads,
# or one that it writes too.
OPAQUE, READ, WRITTEN = "handle", "in", "out"

# A field whose width is that of a pointer is "ptr".
TYPESCRIPT_FIELDS = {
    "i32": "i32",
    "u32": "u32",
    "u64": "u64",
    "usize": "ptr",
    "f32": "f32",
    "pointer": "ptr",
    "callback": "ptr",
}


def manifest_json(manifest: Manifest) -> str:
    return pretty(manifest) + "\n"


def pretty(value: Any, indent: str = "") -> str:
    """JSON in which what fits a line is on one, so that a change is a line of a diff."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or (indent and len(indent) + len(line) < LINE_MAX):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {pretty(item, inner)}" for key, item in value.items()]
    else:
        items = [pretty(item, inner) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{last}"


def exports_map(manifest: Manifest) -> str:
    """A version script for linkers of ELF files: the library exports these functions and nothing else."""
    names = "".join(f"    {function['name']};\n" for function in manifest["functions"])
    return "{\n  global:\n" + names + "  local:\n    *;\n};\n"


def first_sizes_header(manifest: Manifest) -> str:
    """For the tests in C: the size of each struct's first version, which a caller may still pass."""
    lines = ["/* Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit. */"]
    for struct in manifest["structs"]:
        if first := struct.get("first_size"):
            same = first["64"] == first["32"]
            size = first["64"] if same else f"(sizeof(void *) == 8 ? {first['64']} : {first['32']})"
            lines.append(f"#define FIRST_SIZE_{struct['name']} {size}")
    return "\n".join([*lines, ""])


def typescript_module(manifest: Manifest) -> str:
    """What the TypeScript package needs to call the library: natively, or as WebAssembly with pointers of 4 bytes."""
    lines = ["// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.", ""]
    lines += [f"export const {constant['name']} = {constant['value']};" for constant in manifest["constants"]]
    for struct in manifest["structs"]:
        sizes = struct["size"]
        lines += ["", f"export const {struct['name']} = {{", f"  size: {{ 4: {sizes['32']}, 8: {sizes['64']} }},"]
        lines += ["  fields: {"]
        for field in struct["fields"]:
            offset, type_ = field["offset"], TYPESCRIPT_FIELDS[field["ffi"]]
            lines.append(f'    {field["name"]}: {{ 4: {offset["32"]}, 8: {offset["64"]}, type: "{type_}" }},')
        lines += ["  },", "} as const;"]
    opaque = opaque_types(manifest)
    lines += ["", "/** @internal */", "export const declarations = {"]
    for function in manifest["functions"]:
        types = ", ".join(f'"{typescript_argument(parameter, opaque)}"' for parameter in function["parameters"])
        returns = {"pointer": OPAQUE}.get(function["returns"]["ffi"], function["returns"]["ffi"])
        lines.append(f'  {function["name"]}: {{ args: [{types}], returns: "{returns}" }},')
    return "\n".join([*lines, "} as const;", ""])


def opaque_types(manifest: Manifest) -> set[str]:
    handles = [f"{prefix}{handle} *" for handle in manifest["handles"] for prefix in ("", "const ")]
    return {"void *", *handles, *(alias["name"] for alias in manifest["aliases"])}


def typescript_argument(parameter: dict[str, Any], opaque: set[str]) -> str:
    if parameter["ffi"] == "callback":
        return OPAQUE
    if parameter["ffi"] != "pointer":
        return str(parameter["ffi"])
    if parameter["direction"] == "inout":
        return WRITTEN
    if parameter["type"] in opaque or parameter.get("owner") == "freed":
        return OPAQUE
    return READ if parameter["direction"] == "in" else WRITTEN


RUST_TYPES = {
    "char": "c_char",
    "float": "f32",
    "int": "c_int",
    "int8_t": "i8",
    "int32_t": "i32",
    "size_t": "usize",
    "uint8_t": "u8",
    "uint32_t": "u32",
    "uint64_t": "u64",
    "void": "c_void",
}


def rust_module(manifest: Manifest) -> str:
    """The declarations of the Rust crate."""
    lines = ["// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.", ""]
    lines += ["use std::os::raw::{c_char, c_int, c_void};", ""]
    for constant in manifest["constants"]:
        width = "i32" if -(2**31) <= constant["value"] < 2**31 else "i64"
        lines.append(f"pub const {constant['name']}: {width} = {constant['value']};")
    for handle in manifest["handles"]:
        name = handle.removeprefix("struct ")
        lines += ["", "#[repr(C)]", f"pub struct {name} {{", "    _private: [u8; 0],", "}"]
    lines.append("")
    lines += [f"pub type {alias['name']} = {rust_type(alias['type'])};" for alias in manifest["aliases"]]
    for callback in manifest["callbacks"]:
        lines.append(f'pub type {callback["name"]} = Option<unsafe extern "C" fn{rust_signature(callback)}>;')
    for struct in manifest["structs"]:
        name, size = struct["name"], struct["size"]
        lines += ["", "#[repr(C)]", "#[derive(Clone, Copy)]", f"pub struct {name} {{"]
        lines += [f"    pub {field['name']}: {rust_type(field['type'])}," for field in struct["fields"]]
        lines += ["}", ""]
        for width in ("32", "64"):
            lines.append(f'#[cfg(target_pointer_width = "{width}")]')
            lines.append(f"const _: [(); {size[width]}] = [(); std::mem::size_of::<{name}>()];")
    lines += ["", 'extern "C" {']
    lines += [f"    pub fn {function['name']}{rust_signature(function)};" for function in manifest["functions"]]
    return "\n".join([*lines, "}", ""])


def rust_signature(function: dict[str, Any]) -> str:
    parameters = ", ".join(
        f"{parameter['name']}: {rust_type(parameter['type'])}" for parameter in function["parameters"]
    )
    returns = function["returns"]["type"]
    return f"({parameters})" + ("" if returns == "void" else f" -> {rust_type(returns)}")


def rust_type(type_: str) -> str:
    """Of a C type: a base, and pointers to it, each of which points to a constant or to a variable."""
    base, *pointers = type_.split("*")
    words = base.split()
    [name] = [word for word in words if word not in ("const", "struct")]
    found, is_constant = RUST_TYPES.get(name, name), "const" in words
    for qualifier in pointers:
        found = f"{'*const' if is_constant else '*mut'} {found}"
        is_constant = "const" in qualifier
    return found
