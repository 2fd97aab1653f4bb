"""Turns the manifest of the ABI into the module `_abi.py`: cffi declarations, out of line, in ABI mode.

    python declarations.py path/to/manifest.json path/to/_abi.py

Runs when the package is built, and needs only cffi.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from cffi import FFI


def declarations(manifest: dict[str, Any]) -> str:
    """The constants, types and functions in the form that `cffi.FFI.cdef` reads."""
    lines = [f"#define {constant['name']} {constant['value']}" for constant in manifest["constants"]]
    foreign = [name for name in manifest["handles"] if name.startswith("struct ")]
    named = [*manifest["handles"], *(struct["name"] for struct in manifest["structs"])]
    lines += [f"{name};" if name in foreign else f"typedef struct {name} {name};" for name in named]
    lines += [f"typedef {declared(alias)};" for alias in manifest["aliases"]]
    lines += [f"typedef {prototype(callback, '(*{})')};" for callback in manifest["callbacks"]]
    for struct in manifest["structs"]:
        fields = " ".join(f"{declared(field)};" for field in struct["fields"])
        lines.append(f"struct {struct['name']} {{ {fields} }};")
    lines += [f"{prototype(function, '{}')};" for function in manifest["functions"]]
    return "\n".join(lines)


def prototype(function: dict[str, Any], form: str) -> str:
    parameters = ", ".join(map(declared, function["parameters"])) or "void"
    return f"{function['returns']['type']} {form.format(function['name'])}({parameters})"


def declared(entry: dict[str, Any]) -> str:
    return f"{entry['type']} {entry['name']}"


def write_module(manifest: Path, module: Path) -> None:
    """Writes the declarations of `manifest` as the Python file `module`."""
    builder = FFI()
    builder.cdef(declarations(json.loads(manifest.read_text(encoding="utf-8"))))
    builder.set_source("eliza_inference._abi", None)
    module.parent.mkdir(parents=True, exist_ok=True)
    builder.emit_python_code(str(module))


if __name__ == "__main__":
    write_module(Path(sys.argv[1]), Path(sys.argv[2]))
