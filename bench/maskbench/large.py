"""Schemas of 1 MB, and how long compiling them takes."""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.maskbench.measure import Worker
from bench.tables import Table

LIBRARIES = ("ours", "llguidance")
REPEATS = 10
SECONDS = 5
"""After so many of compiling, a schema is not repeated."""
BAR_MS = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Compiled:
    schema: str
    n_bytes: int
    library: str
    ms: float | None
    """The least; none if it is refused."""
    refusal: str = ""


def measure(libraries: Iterable[str] = LIBRARIES) -> list[Compiled]:
    """Each library compiles each schema in a process of its own, up to `REPEATS` times."""
    found: list[Compiled] = []
    for library in libraries:
        worker = Worker(library)
        try:
            found += [_compile(worker, library, name, json.dumps(schema)) for name, schema in _schemas().items()]
        finally:
            worker.close()
    return found


def _compile(worker: Worker, library: str, name: str, text: str) -> Compiled:
    answers: list[dict[str, Any]] = []
    while len(answers) < REPEATS and sum(each["compile_ns"] for each in answers) < SECONDS * 1e9:
        answers.append({"compile_ns": 0, **worker.ask(json.dumps([text, []]))})
    refusal = next((each["refusal"] for each in answers if "refusal" in each), "")
    ms = None if refusal else min(each["compile_ns"] for each in answers) / 1e6
    return Compiled(name, len(text), library, ms, refusal)


def table(found: list[Compiled]) -> Table:
    rows = [
        [
            each.schema,
            each.library,
            f"{each.n_bytes:,}",
            f"refused: {each.refusal[:80]}" if each.ms is None else f"{each.ms:,.1f}",
        ]
        for each in found
    ]
    return Table(["schema", "library", "bytes", "ms"], rows, n_left=2)


def _schemas() -> dict[str, object]:
    """About 1 MB each, always the same."""
    chosen = random.Random(1)

    def word(n: int) -> str:
        return "".join(chosen.choices(LETTERS, k=n))

    def enum(n: int, letters: int) -> dict[str, object]:
        return {"enum": [word(letters) for _ in range(n)]}

    def text() -> dict[str, object]:
        return {"type": "string", "description": word(30)}

    members = {f"{word(10)}{at}": {**text(), "type": chosen.choice(["string", "integer"])} for at in range(11_800)}
    names = [f"{word(8)}{at}" for at in range(2_700)]

    def definition(at: int) -> dict[str, object]:
        one, other = ({"$ref": f"#/$defs/{names[(at * step + 1) % len(names)]}"} for step in (7, 3))
        of = {word(8): text(), word(8): one, word(8): {"type": "array", "items": other}, word(8): enum(6, 8)}
        return {"type": "object", "properties": of, "additionalProperties": False}

    definitions = {name: definition(at) for at, name in enumerate(names)}
    return {
        "11,800 properties": {"type": "object", "properties": members, "required": list(members)[:1000]},
        "2,700 definitions": {"$ref": f"#/$defs/{names[0]}", "$defs": definitions},
        "62,000 values": enum(62_000, 12),
        "350 properties of 200 values": {"type": "object", "properties": {word(8): enum(200, 10) for _ in range(350)}},
    }
