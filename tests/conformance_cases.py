"""Reads the conformance cases, whose form is tests/conformance/case.schema.json: how often each runs, and what the
notations in it stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).resolve().parent / "conformance"
GRAMMARS = DIRECTORY.parents[1] / "native" / "grammars"

STREAMS = "streams/"

WAYS = ["compiled", "unkept", "opened"]
"""How a constraint is come by: compiled; compiled with room for next to no mask; from files, as its vocabulary is."""

FLAGS = ["special", "end_of_generation", "unused"]  # ELIZA_TOKEN_*, by bit


@dataclass(frozen=True)
class Run:
    """One run of a case. Its constraint has one payload under `token_trie`."""

    id: str
    data: dict[str, Any]
    way: str


def files() -> dict[str, dict[str, Any]]:
    """The case files by folder and name, but for those of streams."""
    return {name: content for name, content in all_files().items() if not name.startswith(STREAMS)}


def stream_files() -> dict[str, dict[str, Any]]:
    return {name: content for name, content in all_files().items() if name.startswith(STREAMS)}


def all_files() -> dict[str, dict[str, Any]]:
    paths = sorted(DIRECTORY.glob("*/*.json"))
    return {str(path.relative_to(DIRECTORY).with_suffix("")): json.loads(path.read_text("utf-8")) for path in paths}


def schema() -> Any:
    return json.loads((DIRECTORY / "case.schema.json").read_text("utf-8"))


def decisions() -> dict[int, list[str]]:
    """The rules by number."""
    text = (DIRECTORY / "decisions.json").read_text("utf-8")
    return {int(number): rules for number, rules in json.loads(text)["decisions"].items()}


def runs() -> Iterator[Run]:
    """Every run of every case, in the order of the files."""
    for file, content in files().items():
        for data in content["cases"]:
            yield from runs_of(f"{file}: {data['name']}", data)


def runs_of(name: str, data: dict[str, Any]) -> Iterator[Run]:
    """One for each payload; without payloads one for each way, if it compiles and the case says no way itself."""
    payloads = data["constraint"].get("token_trie", [])
    for number, payload in enumerate(payloads, 1):
        yield Run(f"{name} (payload {number})", data | {"constraint": {"token_trie": payload}}, "compiled")
    if not payloads:
        for way in WAYS[:1] if data.keys() & {"error", "open"} else WAYS:
            yield Run(f"{name} ({way})", data, way)


# ---- Notations -------------------------------------------------------------------------------------------------------


def octets(value: str | dict[str, Any] | list[Any]) -> bytes:
    """Of a text, a piece, or a list of these."""
    if isinstance(value, list):
        return b"".join(map(octets, value))
    if isinstance(value, str):
        return value.encode()
    piece = bytes.fromhex(value["hex"]) if "hex" in value else str(value["text"]).encode()
    return piece * int(value.get("count", 1))


def tokens_of(vocabulary: dict[str, Any]) -> list[tuple[bytes, int]]:
    """The bytes and the flags of each token."""
    singles = [(bytes([byte]), 0) for byte in range(256)] if vocabulary.get("single_bytes") else []
    return singles + [(octets(token), flags_of(token)) for token in vocabulary.get("tokens", [])]


def flags_of(token: str | dict[str, Any]) -> int:
    names = token.get("flags", []) if isinstance(token, dict) else []
    return sum(1 << FLAGS.index(name) for name in names)


def vocab_size(vocabulary: dict[str, Any]) -> int:
    return int(vocabulary.get("size", 0)) or len(tokens_of(vocabulary))


def tokens_of_bytes(vocabulary: dict[str, Any]) -> dict[int, int]:
    """The first token without flags that is just one byte, by the byte: what a `text` step accepts."""
    found: dict[int, int] = {}
    for token, (piece, flags) in enumerate(tokens_of(vocabulary)):
        if len(piece) == 1 and not flags:
            found.setdefault(piece[0], token)
    return found


def schema_text(schema: Any) -> str:
    """The text of a JSON Schema, which may be a text already."""
    return schema if isinstance(schema, str) else json.dumps(schema)


def shipped_grammars() -> dict[str, str]:
    """The texts of the grammars that ship, by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(GRAMMARS.glob("*.lark"))}


def logits_of(logits: dict[str, float | str], fill: float | str, n: int) -> list[float]:
    """Single values by id over what all others are."""
    values = [float(fill)] * n
    for token, value in logits.items():
        values[int(token)] = float(value)
    return values


def run_step(subject: Any, step: dict[str, Any]) -> None:
    """A verb is the subject's method of this name; the rest of the step are its arguments."""
    verb = getattr(subject, step["do"])
    verb(**{key: value for key, value in step.items() if key not in ("do", "error", "expect")})
