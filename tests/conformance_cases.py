"""Reads the conformance cases (tests/conformance/README.md): which there are, their payloads, their keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).resolve().parent / "conformance"

STEP_RESULTS = ["in_span", "span_ended", "span_started", "timed_out", "refused"]  # in the order of their bits

PAYLOAD_KEYS = {"payload", "payload_hex", "payload_parts", "payload_hex_parts"}
CASE_KEYS = {
    "name",
    "decisions",
    "vocab_size",
    "model_id",
    "span_timeout",
    "error",
    "info",
    "expect",
    "steps",
} | PAYLOAD_KEYS
INFO_KEYS = ["n_descriptors", "n_leaves", "n_nodes", "longest_leaf_tokens", "widest_node"]
EXPECT_FLAGS = ["active", "can_stop", "constrained"]
EXPECT_NUMBERS = ["descriptor", "span_tokens", "spans_started", "spans_ended", "timeouts", "illegal"]
EXPECT_KEYS = {*EXPECT_FLAGS, *EXPECT_NUMBERS, "allowed", "forced", "leaf"}
STEP_KEYS = {
    "accept": {"token", "result"},
    "rollback": {"n"},
    "activate": {"path"},
    "deactivate": set(),
    "reset": set(),
    "clone": set(),
    "set_span_timeout": {"n"},
    "set_seed": {"seed"},
    "mask": {"logits", "fill", "n", "kept"},
    "sample": {"logits", "fill", "n", "mode", "temperature", "top_p", "tokens"},
}


@dataclass(frozen=True)
class Case:
    """One run of a case: with one of its payloads."""

    file: str
    form: str  # "text" or "hex"
    data: dict[str, Any]
    parts: list[tuple[bytes, int]]

    @property
    def id(self) -> str:
        return f"{self.file}: {self.data['name']} ({self.form})"

    @property
    def payload_length(self) -> int:
        return sum(len(part) * count for part, count in self.parts)

    @cached_property
    def payload(self) -> bytes:
        return b"".join(part * count for part, count in self.parts)


def files() -> dict[str, dict[str, Any]]:
    """The case files by the stem of their names."""
    paths = sorted(path for path in DIRECTORY.glob("*.json") if path.name != "decisions.json")
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def decisions() -> dict[int, list[str]]:
    """The rules by number."""
    text = (DIRECTORY / "decisions.json").read_text("utf-8")
    return {int(number): rules for number, rules in json.loads(text)["decisions"].items()}


def cases() -> Iterator[Case]:
    """Every case, once for each of its payloads, in the order in which they run."""
    for file, content in files().items():
        for data in content["cases"]:
            for form, parts in payloads(data):
                yield Case(file, form, data, parts)


def payloads(case: dict[str, Any]) -> list[tuple[str, list[tuple[bytes, int]]]]:
    """The payloads of a case, each as its parts: bytes and how often they stand."""
    forms: list[tuple[str, list[tuple[bytes, int]]]] = []
    if "payload" in case:
        forms.append(("text", [(case["payload"].encode(), 1)]))
    if "payload_parts" in case:
        forms.append(("text", [(part.encode(), count) for part, count in case["payload_parts"]]))
    if "payload_hex" in case:
        forms.append(("hex", [(bytes.fromhex(case["payload_hex"]), 1)]))
    if "payload_hex_parts" in case:
        forms.append(("hex", [(bytes.fromhex(part), count) for part, count in case["payload_hex_parts"]]))
    return forms


def logits(step: dict[str, Any], vocab_size: int) -> list[float]:
    """The logits of a `mask` or `sample` step."""
    values = [float(step["fill"])] * step.get("n", vocab_size)
    for token, value in step["logits"].items():
        values[int(token)] = float(value)
    return values


def unknown_keys(case: dict[str, Any]) -> list[str]:
    """What in a case no runner knows."""
    found = sorted(case.keys() - CASE_KEYS) + sorted(case.get("info", {}).keys() - set(INFO_KEYS))
    found += sorted(case.get("expect", {}).keys() - EXPECT_KEYS)
    for step in case.get("steps", []):
        known = STEP_KEYS.get(step["do"])
        if known is None:
            found.append(step["do"])
            continue
        found += sorted(step.keys() - known - {"do", "error", "expect"})
        found += sorted(step.get("expect", {}).keys() - EXPECT_KEYS)
        found += [name for name in step.get("result", []) if name not in STEP_RESULTS]
    return found
