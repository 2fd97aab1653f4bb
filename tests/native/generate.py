"""Writes the conformance cases as C data (see json.h), so that the C runner needs no parser of JSON.

python tests/native/generate.py OUTPUT.c
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import conformance_cases as conformance

INT64_MAX = 2**63 - 1


def main(output: Path) -> None:
    writer = Writer()
    files = named(conformance.files())
    for constraint in (case["constraint"] for file in files for case in file["cases"]):
        if "json_schema" in constraint:
            constraint["json_schema"] = conformance.schema_text(constraint["json_schema"])
            documents = constraint.get("documents", {})
            constraint["documents"] = {uri: conformance.schema_text(schema) for uri, schema in documents.items()}
    writer.define("conformance_files", files)
    writer.define("stream_files", named(conformance.stream_files()))
    writer.define("shipped_grammars", conformance.shipped_grammars())
    output.write_text("".join(writer.lines), "utf-8")


def named(files: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": name} | content for name, content in files.items()]


class Writer:
    def __init__(self) -> None:
        self.lines = ["/* Made by generate.py from the conformance cases. */\n", '#include "json.h"\n\n']
        self.n_arrays = 0

    def define(self, name: str, value: Any) -> None:
        initializer = self.value(value)
        self.lines.append(f"const json {name} = {initializer};\n")

    def value(self, value: Any, key: str | None = None) -> str:
        """The initializer of a value; the arrays that it needs are defined before."""
        named = f".key = {c_string(key)}, " if key is not None else ""
        return f"{{{named}{self.fields(value)}}}"

    def fields(self, value: Any) -> str:
        match value:
            case None:
                return ".type = JSON_NULL"
            case bool():
                return f".type = JSON_BOOL, .integer = {int(value)}"
            case int() | float():
                whole = max(-INT64_MAX, min(int(value), INT64_MAX))
                return f".type = JSON_NUMBER, .integer = INT64_C({whole}), .number = {float(value)!r}"
            case str():
                return f".type = JSON_STRING, .text = {c_string(value)}, .length = {len(value.encode())}"
            case list():
                items = [self.value(item) for item in value]
                return f".type = JSON_ARRAY, {self.items(items)}"
            case dict():
                members = [self.value(member, key) for key, member in value.items()]
                return f".type = JSON_OBJECT, {self.items(members)}"
        raise TypeError(f"{value!r} is not of JSON")

    def items(self, items: list[str]) -> str:
        if not items:
            return ".length = 0"
        self.n_arrays += 1
        array = f"array_{self.n_arrays}"
        self.lines.append(f"static const json {array}[] = {{{', '.join(items)}}};\n")
        return f".items = {array}, .length = {len(items)}"


def c_string(text: str) -> str:
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
