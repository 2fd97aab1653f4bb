"""Reads the conformance cases of recognizers (tests/conformance/README.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import conformance_cases as conformance

TESTS = Path(__file__).resolve().parent
DIRECTORY = TESTS / "conformance" / "recognizers"
GRAMMARS = TESTS.parent / "native" / "grammars"

SOURCES = ["regex", "grammar", "shipped", "choices"]
KINDS = ["token_trie", "choices", "regex", "grammar"]  # ELIZA_CONSTRAINT_*, by number
FLAGS = ["special", "end_of_generation", "unused"]  # ELIZA_TOKEN_*, by bit
BUDGET_KEYS = {"states_max", "bytes_max", "ms_max", "mask_bytes_max", "cancel"}
OPEN_KEYS = {"as", "path", "flip", "length", "for"}
ROW_KEYS = {"rollback", "allowed"}
CASE_KEYS = {"name", "tokens", "bytes", "ignore_case", "canonical", "budget", "span_timeout", "end", "error", "notes"}
CASE_KEYS |= {"open", "kind", "expect", "steps", *SOURCES}
EXPECT_KEYS = conformance.EXPECT_KEYS - {"leaf"} | {"forced_bytes"}
STEP_KEYS = conformance.STEP_KEYS | {"text": {"text", "count"}, "fill_bitmaps": {"n_threads", "n_words", "rows"}}


@dataclass(frozen=True)
class Case:
    file: str
    data: dict[str, Any]

    @property
    def id(self) -> str:
        return f"recognizers/{self.file}: {self.data['name']}"

    @property
    def source(self) -> str:
        """Which of `SOURCES` it has."""
        (source,) = self.data.keys() & set(SOURCES)
        return str(source)

    @cached_property
    def text(self) -> str:
        """The regular expression, or the grammar."""
        value = self.data[self.source]
        if self.source == "shipped":
            return (GRAMMARS / f"{value}.lark").read_text("utf-8")
        return value if isinstance(value, str) else "".join(part * count for part, count in value)

    @cached_property
    def tokens(self) -> list[bytes]:
        return tokens_of(self.data)

    @cached_property
    def flags(self) -> list[int]:
        return token_flags_of(self.data)

    def single_byte_tokens(self) -> dict[int, int]:
        """The first token that is just one byte, by the byte: what a `text` step accepts."""
        found: dict[int, int] = {}
        for token, octets in enumerate(self.tokens):
            if len(octets) == 1 and not self.flags[token]:
                found.setdefault(octets[0], token)
        return found


def tokens_of(data: dict[str, Any]) -> list[bytes]:
    """Of a case, or of another vocabulary in it."""
    single = [bytes([byte]) for byte in range(256)] if data.get("bytes") else []
    return single + [octets * count for octets, count in map(part_of, data["tokens"])]


def token_flags_of(data: dict[str, Any]) -> list[int]:
    return [0] * (256 if data.get("bytes") else 0) + [flags_of(token) for token in data["tokens"]]


def part_of(token: str | dict[str, Any]) -> tuple[bytes, int]:
    """The bytes of a token, and how often they stand."""
    return bytes_of_text(token), int(token.get("count", 1)) if isinstance(token, dict) else 1


def flags_of(token: str | dict[str, Any]) -> int:
    names = token.get("flags", []) if isinstance(token, dict) else []
    return sum(1 << FLAGS.index(name) for name in names)


def bytes_of_text(value: str | dict[str, Any]) -> bytes:
    """Of a text, or of `{"hex": ...}`."""
    if isinstance(value, str):
        return value.encode()
    return bytes.fromhex(value["hex"]) if "hex" in value else str(value["text"]).encode()


def files() -> dict[str, dict[str, Any]]:
    """The case files by the stem of their names."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(DIRECTORY.glob("*.json"))}


def cases() -> Iterator[Case]:
    for file, content in files().items():
        for data in content["cases"]:
            yield Case(file, data)


def unknown_keys(case: dict[str, Any]) -> list[str]:
    """What in a case no runner knows."""
    found = sorted(case.keys() - CASE_KEYS) + sorted(case.get("expect", {}).keys() - EXPECT_KEYS)
    found += sorted(case.get("budget", {}).keys() - BUDGET_KEYS) + sorted(case.get("open", {}).keys() - OPEN_KEYS)
    for step in case.get("steps", []):
        known = STEP_KEYS.get(step["do"])
        if known is None:
            found.append(step["do"])
            continue
        found += sorted(step.keys() - known - {"do", "error", "expect"})
        found += sorted(step.get("expect", {}).keys() - EXPECT_KEYS)
        found += [name for name in step.get("result", []) if name not in conformance.STEP_RESULTS]
        found += [key for row in step.get("rows", []) for key in sorted(row.keys() - ROW_KEYS)]
    return found
