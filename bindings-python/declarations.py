"""Turns the C header into the module `_abi.py`: cffi declarations, out of line, in ABI mode.

    python declarations.py path/to/eliza_inference.h path/to/_abi.py

The header is the only source of the declarations. Functions, types and every `#define` of an
integer come through; comments and the rest of the preprocessor do not.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cffi import FFI

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CPLUSPLUS = re.compile(r"^#ifdef __cplusplus\n.*?^#endif$", re.DOTALL | re.MULTILINE)
INTEGER = re.compile(r"^#define +(?P<name>\w+) +\(?(?P<value>-?\d+)u?\)? *$", re.MULTILINE)
DIRECTIVE = re.compile(r"^ *#.*$", re.MULTILINE)


def declarations(header: str) -> str:
    """The declarations of a header in the form that `cffi.FFI.cdef` reads."""
    code = CPLUSPLUS.sub("", COMMENT.sub("", header))
    constants = [f"#define {match['name']} {match['value']}" for match in INTEGER.finditer(code)]
    return "\n".join(constants) + "\n" + DIRECTIVE.sub("", code)


def write_module(header: Path, module: Path) -> None:
    """Writes the declarations of `header` as the Python file `module`."""
    builder = FFI()
    builder.cdef(declarations(header.read_text(encoding="utf-8")))
    builder.set_source("eliza_inference._abi", None)
    module.parent.mkdir(parents=True, exist_ok=True)
    builder.emit_python_code(str(module))


if __name__ == "__main__":
    write_module(Path(sys.argv[1]), Path(sys.argv[2]))
