"""Builds the targets of this folder and runs libFuzzer on them.

    python3 tests/run.py test fuzz [TARGET...] [--seconds N] [--workers N] [--report]

Each target first runs its regressions, then seeds and mutations of them, as many targets at a time as there are
workers. What is found stays in build/fuzz/findings, and fails the run. Without --seconds, as in the full test run, the
mutations are so many and the same ones each time, on any machine: what is found comes from a change. With it they are
others each time, and what was covered stays in build/fuzz/corpus, where the next one continues; for a long run give
hours. --report writes bench/reports/<date>-fuzz.md with the executions of all runs since build/fuzz/counts.json was
removed.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from fuzz.seeds import seeds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "fuzz"
LIBRARY = BUILD / "fuzz" / "libelizainference.a"
COUNTS = BUILD / "counts.json"
TARGETS = sorted(path.stem for path in (HERE / "targets").glob("*.c"))

# What every target is linked with. Some of it stands in for what the library calls: fuzz.c counts memory, clock.c has a
# clock of its own.
SHARED = ("fuzz", "clock", "walk", "samples", "llama", "written", "write_schema", "write_grammar")
WRAPPED = ("malloc", "free", "realloc", "posix_memalign", "clock_gettime")

INPUT_BYTES_MAX = 4096
# Of the wall clock, on a machine that may be busy: an input is held to ten seconds of the processor by fuzz.c.
INPUT_SECONDS_MAX = 60
MEMORY_MB_MAX = 2048
FINDINGS_MAX = 20
# Part of the time, for targets that have soon seen all.
SHARES = {"gguf": 0.25}
# Of each target without --seconds: about a minute.
EXECUTIONS = {
    "files": 60_000,
    "gbnf": 60_000,
    "gguf": 350_000,
    "lark": 150_000,
    "matcher": 20_000,
    "payload": 600_000,
    "regex": 45_000,
    "schema": 200_000,
    "shapes": 4_000,
    "stream": 28_000,
}
# The same mutations again: neither what is compared in memory nor where memory lies has a say in them.
SAME_AGAIN = ["-seed=1", "-use_cmp=0"]
AT_FIXED_ADDRESSES = ["setarch", "--addr-no-randomize"]


@dataclass
class Count:
    """Of one target, over one run or several."""

    executions: int = 0
    seconds: float = 0
    edges: int = 0
    edges_of_all: int = 0
    inputs: int = 0
    findings: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.executions + other.executions,
            self.seconds + other.seconds,
            max(self.edges, other.edges),
            other.edges_of_all or self.edges_of_all,
            other.inputs or self.inputs,
            self.findings + other.findings,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, help="for each target; default: the same mutations each time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    chosen = options.targets or TARGETS
    if unknown := set(chosen) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    build(chosen)
    with ThreadPoolExecutor(options.workers) as workers:
        results = list(workers.map(lambda target: run(target, options.seconds), chosen))
    counts = read_counts()
    for target, result in zip(chosen, results, strict=True):
        counts[target] = counts.get(target, Count()) + result
    COUNTS.write_text(json.dumps({name: asdict(count) for name, count in counts.items()}, indent=2))
    if options.report:
        write_report(counts)
    return 1 if any(result.findings for result in results) else 0


# ---- Building --------------------------------------------------------------------------------------------------------


def build(targets: list[str]) -> None:
    zig = [sys.executable, "-m", "ziglang", "build", "fuzz", "--prefix", str(BUILD)]
    subprocess.run(zig, cwd=ROOT, check=True)
    # Not instrumented: libFuzzer is to look for ways of the library alone.
    shared = [compiled(HERE / f"{name}.c") for name in (*SHARED, "coverage")]
    wrapped = [f"-Wl,--wrap={name}" for name in WRAPPED]
    for target in targets:
        objects = [str(one) for one in (compiled(HERE / "targets" / f"{target}.c"), *shared, LIBRARY)]
        subprocess.run(
            ["clang", "-fsanitize=fuzzer", "-rdynamic", *objects, *wrapped, "-lm", "-ldl", "-o", str(BUILD / target)],
            check=True,
        )


def compiled(source: Path) -> Path:
    made = BUILD / f"{source.stem}.o"
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    flags += [f"-I{HERE}", f"-I{ROOT / 'native' / 'include'}"]
    subprocess.run(["clang", *flags, "-c", str(source), "-o", str(made)], check=True)
    return made


# ---- Running ---------------------------------------------------------------------------------------------------------


def run(target: str, seconds: float | None) -> Count:
    """Prints a line for the target, and where its findings are."""
    findings = BUILD / "findings" / target
    findings.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    total = replay(target, sorted((HERE / "regressions" / target).glob("*")))
    begun = written_seeds(target)
    if seconds is None:
        total += fuzz(target, [f"-runs={EXECUTIONS[target]}", *SAME_AGAIN], begun, before=AT_FIXED_ADDRESSES)
    else:
        total += fuzz_for(target, seconds * SHARES.get(target, 1), begun)
    total.findings = max(total.findings, len(set(findings.iterdir()) - before))
    print(
        f"{target}: {total.executions:,} executions in {total.seconds:.0f} s, {total.edges:,} of "
        f"{total.edges_of_all:,} edges, {total.inputs:,} inputs kept, {total.findings} failed",
        flush=True,
    )
    for path in sorted(set(findings.iterdir()) - before):
        print(f"    {path.relative_to(ROOT)}")
    return total


def written_seeds(target: str) -> str:
    """An option that names the seeds' files, in one order on any machine."""
    folder = BUILD / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    texts = {hashlib.sha1(text).hexdigest(): text for text in seeds(target)}
    for name, text in texts.items():
        (folder / name).write_bytes(text)
    listed = BUILD / "seeds" / f"{target}.txt"
    listed.write_text(",".join(str(folder / name) for name in sorted(texts)))
    return f"-seed_inputs=@{listed}"


def replay(target: str, inputs: list[Path]) -> Count:
    if not inputs:
        return Count()
    done = libfuzzer(target, [], inputs)
    if done.returncode != 0:
        print(tail(done.stderr))
    return Count(executions=len(inputs), findings=int(done.returncode != 0))


def fuzz_for(target: str, seconds: float, begun: str) -> Count:
    corpus = BUILD / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    total = Count()
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 1 and total.findings < FINDINGS_MAX:
        total += fuzz(target, [f"-max_total_time={int(left)}", "-reload=0"], begun, [corpus])
    return total


def fuzz(target: str, bounds: list[str], begun: str, folders: Sequence[Path] = (), before: Sequence[str] = ()) -> Count:
    """Until they are reached, or something is found."""
    started = time.monotonic()
    options = [
        *bounds,
        begun,
        f"-max_len={INPUT_BYTES_MAX}",
        "-print_final_stats=1",
        "-entropic=0",  # which costs more than most inputs take
        *(f"-dict={path}" for path in (HERE / "dictionaries").glob(f"{target}.dict")),
    ]
    done = libfuzzer(target, options, folders, before)
    text = done.stderr
    (BUILD / f"{target}.log").write_text(text)
    if done.returncode != 0:
        print(tail(text))
    status = re.findall(r"^#(\d+)\t\w+ .*cov: (\d+) .*corp: (\d+)", text, re.MULTILINE)
    executed = re.search(r"number_of_executed_units: (\d+)", text)
    edges_of_all = re.search(r"\((\d+) inline 8-bit counters\)", text)
    last = status[-1] if status else ("0", "0", "0")
    return Count(
        executions=int(executed[1] if executed else last[0]),
        seconds=time.monotonic() - started,
        edges=int(last[1]),
        edges_of_all=int(edges_of_all[1]) if edges_of_all else 0,
        inputs=int(last[2]),
        findings=int(done.returncode != 0),
    )


def libfuzzer(
    target: str, options: list[str], inputs: Sequence[Path], before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    bounds = [f"-timeout={INPUT_SECONDS_MAX}", f"-rss_limit_mb={MEMORY_MB_MAX}"]
    where = f"-artifact_prefix={BUILD / 'findings' / target}{os.sep}"
    command = [*before, str(BUILD / target), *options, *bounds, where, *map(str, inputs)]
    # Of libllama the one within the program is to be found.
    environment = {name: value for name, value in os.environ.items() if name != "ELIZA_INFERENCE_LLAMA"}
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment
    )


def tail(text: str) -> str:
    """What was found: the message, and where."""
    lines = [line for line in text.splitlines() if re.search(r"hold:|panic:|ERROR|^ +#\d+ .*/(native|tests)/", line)]
    return "\n".join(lines[:24])


# ---- Reporting -------------------------------------------------------------------------------------------------------


def read_counts() -> dict[str, Count]:
    if not COUNTS.exists():
        return {}
    return {name: Count(**count) for name, count in json.loads(COUNTS.read_text()).items()}


def write_report(counts: dict[str, Count]) -> None:
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout
    clang = subprocess.run(["clang", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    rows = [
        f"| `{name}` | {one.executions:,} | {one.seconds / 60:.0f} | {one.executions / max(one.seconds, 1):,.0f} "
        f"| {one.edges:,} | {100 * one.edges / max(one.edges_of_all, 1):.0f} % | {one.inputs:,} |"
        for name, one in sorted(counts.items())
    ]
    total = sum(one.executions for one in counts.values())
    text = f"""# Fuzzing, {today}

Made by `python3 tests/run.py test fuzz --report`: all runs on the machine since the counts were begun, up to
commit {commit.strip()}, with safety checks, {clang}. What was found on the way is in the regressions of
[tests/fuzz](../../tests/fuzz/README.md).

**{total:,} executions.**

| target | executions | minutes | each second | edges | of all | inputs kept |
|---|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}

Edges are those of the library, the parts of Zig's standard library in it included; a target reaches its own part alone.
Other work on the machine lowers the rate.
"""
    (ROOT / "bench" / "reports" / f"{today}-fuzz.md").write_text(text)


if __name__ == "__main__":
    if shutil.which("clang") is None:
        sys.exit("clang is not installed; on Debian: apt-get install clang libclang-rt-dev")
    sys.exit(main())
