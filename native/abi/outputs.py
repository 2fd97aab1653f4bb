"""The files that are written from the manifest."""

from __future__ import annotations

import json
from typing import Any

Manifest = dict[str, Any]

LINE_MAX = 160

# How bun:ffi passes what the manifest says.
BUN_ARGUMENTS = {
    "i32": "i32",
    "u32": "u32",
    "u64": "u64_fast",
    "usize": "u64_fast",
    "f32": "f32",
    "pointer": "ptr",
    "callback": "ptr",
    "cstring": "cstring",
    "void": "void",
}
# A field where pointers have 64 bits: bun runs nowhere else.
BUN_FIELDS = {
    "i32": "i32",
    "u32": "u32",
    "u64": "u64",
    "usize": "u64",
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


def bun_module(manifest: Manifest) -> str:
    """What the package for bun needs to call the library, as a TypeScript module."""
    lines = [
        "// Generated from native/abi/manifest.json by `python native/abi/abi.py generate`. Do not edit.",
        'import { FFIType } from "bun:ffi";',
        "",
    ]
    lines += [f"export const {constant['name']} = {constant['value']};" for constant in manifest["constants"]]
    for struct in manifest["structs"]:
        lines += ["", f"export const {struct['name']} = {{", f"  size: {struct['size']['64']},", "  fields: {"]
        for field in struct["fields"]:
            offset, type_ = field["offset"]["64"], BUN_FIELDS[field["ffi"]]
            lines.append(f'    {field["name"]}: {{ offset: {offset}, type: "{type_}" }},')
        lines += ["  },", "} as const;"]
    lines += ["", "export const declarations = {"]
    for function in manifest["functions"]:
        types = ", ".join(f"FFIType.{BUN_ARGUMENTS[parameter['ffi']]}" for parameter in function["parameters"])
        returns = BUN_ARGUMENTS[function["returns"]["ffi"]]
        lines.append(f"  {function['name']}: {{ args: [{types}], returns: FFIType.{returns} }},")
    return "\n".join([*lines, "} as const;", ""])
