"""Schemas with instances, from a file of MaskBench's data."""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).parent / "sample.jsonl.xz"


@dataclass(frozen=True)
class Instance:
    is_valid: bool
    text: str
    """As `json.dumps` writes it."""


@dataclass(frozen=True)
class Problem:
    name: str
    schema: str
    """As JSON text."""
    instances: list[Instance]

    @property
    def group(self) -> str:
        """Where the schema comes from: what stands before the first `---` or the number."""
        return re.sub(r"(_[a-z]+)*_\d+$", "", self.name.partition("---")[0])


def read(path: Path = SAMPLE) -> Iterator[Problem]:
    """One problem a line: `{"id", "schema", "tests": [{"valid", "data"}]}`, compressed with xz or as it is."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            read: dict[str, Any] = json.loads(line)
            instances = [Instance(each["valid"], _text(each["data"])) for each in read["tests"]]
            yield Problem(read["id"], _text(read["schema"]), instances)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
