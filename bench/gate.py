"""The gate: instructions of the hot paths, counted by callgrind, against those recorded in baseline.json.

Instructions do not depend on what else the machine does, so a path that has become slower shows even
where times are noisy. Nor do they depend on the machine, but for its C library: the library is built by a
pinned compiler for a fixed target, and what both it and the C library choose by the processor at run time,
they choose by the one that valgrind shows them, a Haswell wherever the real one has AVX2. What another
version of the C library does differently in memcpy and malloc is what TOLERANCE is for.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eliza_inference import Model

from bench import machine, native, payloads
from bench.micro import cpu_backend
from bench.paths import ACTIONS, BENCH, BUILD, MODEL, ROOT, use_llama
from bench.prompts import read_names
from bench.recognizers import cases, vocabularies
from bench.recognizers.case import Case
from bench.recognizers.measure import write_inputs

BASELINE = BENCH / "baseline.json"
TARGET = "x86_64-linux-gnu.2.28"
TOLERANCE = 0.05
"""The C library's share differs a little from system to system."""
N_VOCABULARY = 128_256


@dataclass(frozen=True, slots=True)
class HotPath:
    name: str
    arguments: list[str | int | Path]
    """Of the harness; the count goes after the first one."""
    count: int
    program: str = "hot"
    """The harness of bench/native."""


@dataclass(frozen=True, slots=True)
class Count:
    path: str
    instructions: float
    """Of one pass of the path."""
    recorded: float | None

    @property
    def change(self) -> float | None:
        return None if self.recorded is None else self.instructions / self.recorded - 1

    @property
    def passes(self) -> bool:
        return self.change is not None and self.change <= TOLERANCE


def measure() -> Iterator[Count]:
    """Counts each hot path."""
    if shutil.which("valgrind") is None:
        raise FileNotFoundError("valgrind is not installed: apt-get install valgrind")
    if not machine.has_extension("avx2"):
        raise RuntimeError("this processor has no AVX2, so valgrind shows another one than the baseline was counted on")
    shared = _build_library()
    programs = {name: native.build(name, against=shared) for name in ("hot", "hot_masks")}
    recorded: dict[str, float] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    for path in [*_hot_paths(), *_hot_masks()]:
        once, twice = (_instructions(programs[path.program], path, n * path.count) for n in (1, 2))
        yield Count(path.name, (twice - once) / path.count, recorded.get(path.name))


def record(counts: list[Count]) -> None:
    """Makes these counts the baseline."""
    BASELINE.write_text(json.dumps({count.path: round(count.instructions, 1) for count in counts}, indent=2) + "\n")


def _hot_paths() -> list[HotPath]:
    llama = use_llama()
    with Model(MODEL) as model:
        n_tokens = len(model.vocabulary)
        names = payloads.write_json(payloads.named(model, read_names(ACTIONS)), "gate-names")
    many = payloads.random_names(1000, N_VOCABULARY)
    json_file, msgpack_file = payloads.write_json(many, "gate-1000"), payloads.write_msgpack(many, "gate-1000")
    return [
        HotPath("matcher sample and accept, 30 names", ["step", names, n_tokens], 10_000),
        HotPath("sampler apply at the root, 30 names", ["apply", names, llama, cpu_backend(llama), MODEL], 10_000),
        HotPath("cache hit, 30 names, JSON", ["hit", names, n_tokens], 1000),
        HotPath("compile 30 names, JSON", ["compile", names, n_tokens], 100),
        HotPath("compile 1,000 leaves, JSON", ["compile", json_file, N_VOCABULARY], 10),
        HotPath("compile 1,000 leaves, MessagePack", ["compile", msgpack_file, N_VOCABULARY], 10),
    ]


def _hot_masks() -> list[HotPath]:
    vocabulary = vocabularies.load("o200k")

    def path(name: str, scenario: str, case: str, count: int) -> HotPath:
        folder = BUILD / f"gate-{case}"
        folder.mkdir(exist_ok=True)
        files = write_inputs(_booking() if case == "booking" else cases.load(case), vocabulary, folder)
        arguments: list[str | int | Path] = [scenario, files.vocabulary, files.kind, files.definition, files.documents]
        return HotPath(name, arguments, count, "hot_masks")

    return [
        path("byte trie of o200k", "vocabulary", "choices-30", 1),
        path("compile 30 choices", "compile", "choices-30", 100),
        path("compile the JSON grammar", "compile", "json", 10),
        path("compile the C grammar", "compile", "c11", 2),
        path("compile and first mask, [a-z]{1,20}", "first", "letters", 10),
        path("all masks and tokens, JSON", "pass", "json", 10),
        path("all masks and tokens, C", "pass", "c11", 2),
        path("compile a JSON Schema", "compile", "booking", 50),
        path("masks and tokens of a document, JSON Schema again", "again", "booking", 10),
        path("all masks and tokens, JSON Schema", "pass", "booking", 50),
    ]


def _booking() -> Case:
    """A schema of middle size, with what is most common in schemas, and a document."""
    text = {"type": "string"}
    name = {"type": "string", "minLength": 1, "maxLength": 80}
    guest = {
        "type": "object",
        "properties": {
            "name": name,
            "email": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 0, "maximum": 130},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[a-f0-9]{8}-[a-f0-9]{4}$"},
            "status": {"enum": ["open", "confirmed", "cancelled"]},
            "created": {"type": "string", "format": "date-time"},
            "guests": {"type": "array", "items": {"$ref": "#/$defs/guest"}, "minItems": 1},
            "room": {"anyOf": [{"type": "object", "properties": {"number": {"type": "integer"}}}, {"type": "null"}]},
            "price": {"type": "number", "exclusiveMinimum": 0},
            "labels": {"type": "object", "additionalProperties": text, "propertyNames": {"pattern": "^[a-z_]+$"}},
            "notes": text,
        },
        "required": ["id", "status", "guests"],
        "$defs": {"guest": guest},
    }
    document = {
        "id": "0a1b2c3d-4e5f",
        "status": "confirmed",
        "created": "2026-03-14T15:09:26Z",
        "guests": [{"name": "Ada Lovelace", "email": "ada@example.org", "age": 36}, {"name": "Charles"}],
        "room": {"number": 42, "view": "garden"},
        "price": 129.5,
        "labels": {"source": "web", "campaign_code": "spring"},
        "notes": 'Late arrival, after "ten".',
        "loyalty": True,
    }
    return Case("booking", "a booking", [json.dumps(document)], schema=json.dumps(schema))


def _build_library() -> Path:
    prefix = BUILD / "gate"
    command = ["build", "-Doptimize=fast", f"-Dtarget={TARGET}", "--prefix", str(prefix)]
    subprocess.run([sys.executable, "-m", "ziglang", *command], cwd=ROOT, check=True)
    return prefix / "lib" / "libelizainference.so"


def _instructions(program: Path, path: HotPath, count: int) -> int:
    output = BUILD / "callgrind.out"
    scenario, *rest = path.arguments
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", program, scenario, count, *rest]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{path.name}: {done.stderr}")
    totals = [line for line in output.read_text().splitlines() if line.startswith("totals:")]
    return int(totals[0].split()[1])
