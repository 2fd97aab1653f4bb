"""Changes the library in small ways, one at a time, and sees whether a test fails.

    .venv/bin/python tests/mutation/mutate.py                    300 mutants; what is done is not done again
    .venv/bin/python tests/mutation/mutate.py --again            those that are alive, with the tests as they are now
    .venv/bin/python tests/mutation/mutate.py --seed 2 --mutants 50 --seconds 10
    .venv/bin/python tests/mutation/mutate.py --again --python tests/python/test_drafts.py tests/python/test_sampler.py

`sites.zig` finds the sites, and a seed chooses among them. All mutants are compiled into one copy of the sources, in
which `switch.zig` chooses one when the program runs; those that the compiler must know are built one by one. First the
tests run once without a mutant and tell which mutants they come by; each mutant then meets the tests that come by it,
the quickest first: unit tests, conformance cases, C programs, Python tests, of each kind as many as take so many
seconds. It is killed when one fails, crashes, or takes ten times its time.

Mutants that do not compile do not count, nor do those of which the compiler makes no code in the library: what only
tests call, what is for another system or processor, what runs while compiling. Of those that are built one by one it is
seen from the library, which is the same byte for byte.

Everything is in build/mutation: results.jsonl has a line for each mutant and round, report.md the table. Those that
reasons.json names are alive, whether that file is there or not. The Python tests need what `tests/run.py test python`
installs.
"""

import argparse
import json
import os
import random
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import ladder
from ladder import ROOT, TREE, WORK, ZIG, Ladder

HERE = Path(__file__).resolve().parent

RESULTS = WORK / "results.jsonl"
COPIED = ("native", "tests/native", "tests/conformance", "tests/mutation", "android", "build.zig", "build.zig.zon")
ROOTS = ("native/src/engine", "native/src/shell", "native/src")
LEFT_OUT = re.compile(r"_test\.zig$|unicode_tables\.zig$|webassembly\.zig$|blocks\.zig$|_avx\w+\.zig$")
ALIVE = ("survived", "not reached")
NOT_THERE = "not in the program"
NOT_COUNTED = ("does not compile", NOT_THERE)
GONE = "gone"
"""Was alive, in code that is another now."""
REASONS = HERE / "reasons.json"
"""Of mutants that may live: why, by their `key`."""


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Site:
    """Bytes of a file that are replaced by another text; as `sites.zig` says it."""

    file: str
    line: int
    start: int
    end: int
    what: str
    text: str
    how: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"

    def key(self) -> str:
        """The same when lines elsewhere in the file come and go."""
        new = "" if self.how == "check" else in_one_line(self.text)
        return f"{self.file}: `{in_one_line(self.old())}` becomes `{new}` in `{self.code()}`"

    def code(self) -> str:
        """The line that it begins in."""
        return (ROOT / self.file).read_text("utf-8").split("\n")[self.line - 1].strip()

    def folder(self) -> str:
        """Such as engine/trie."""
        return "/".join(Path(self.file).parts[2:4]).removesuffix(".zig")

    def old(self) -> str:
        return (ROOT / self.file).read_bytes()[self.start : self.end].decode()


@dataclass
class Mutant:
    number: int
    site: Site
    alone: bool = False
    """Built by itself."""
    state: str = ""
    """Empty before it was met; killed, survived, not reached, does not compile, not in the program, gone."""
    by: str = ""
    """The test that killed it."""
    first: str = ""
    """Its state in the first run."""
    key: str = ""


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--mutants", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--again", action="store_true")
    arguments.add_argument("--seconds", type=float, default=30, help="of the processor, for each kind of test")
    arguments.add_argument("--python", nargs="+", default=["tests/python"], help="files and folders of Python tests")
    chosen = arguments.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    locate = runpy.run_path(str(ROOT / "tests" / "llama" / "locate.py"))["libllama_path"]
    os.environ.setdefault("ELIZA_INFERENCE_LLAMA", str(locate()))
    mutants = alive() if chosen.again else sample(chosen.mutants, chosen.seed)
    copy_tree()
    build_together(mutants)
    meet_all(mutants, Ladder(chosen.seconds, chosen.python))
    write_report(chosen.seed)


# ---- Mutants ---------------------------------------------------------------------------------------------------------


def sample(count: int, seed: int) -> list[Mutant]:
    """Some more than are wanted: not all of them compile, or are in the program."""
    sites = all_sites()
    random.Random(seed).shuffle(sites)
    taken: list[Mutant] = []
    for site in sites:
        if len(taken) == count + count // 10:
            break
        if not any(overlap(site, mutant.site) for mutant in taken):
            taken.append(Mutant(len(taken) + 1, site, site.how == "constant", key=site.key()))
    done = {mutant.key: mutant for mutant in read_results()}
    return [mutant for mutant in taken if mutant.key not in done]


def alive() -> list[Mutant]:
    """Those of the last run and those that have a reason, where they are now; what has become other code is gone."""
    now: dict[str, list[Site]] = {}
    for site in all_sites():
        now.setdefault(site.key(), []).append(site)
    known = {mutant.key: mutant for mutant in read_results()}
    keys = [mutant.key for mutant in known.values() if mutant.state in ALIVE]
    keys += [key for key in read_reasons() if key not in known]
    found = []
    for number, key in enumerate(keys, 1):
        before = known.get(key)
        sites = now.get(key, [])
        if sites:
            site = min(sites, key=lambda site: abs(site.line - before.site.line) if before else 0)
            first = before.first if before else "survived"
            found.append(Mutant(number, site, site.how == "constant", first=first, key=key))
        elif before:
            save(replace(before, state=GONE))
    return found


def all_sites() -> list[Site]:
    program = WORK / "sites"
    _call([*ZIG, "build-exe", str(ROOT / "tests/mutation/sites.zig"), f"-femit-bin={program}"], cwd=WORK)
    sources = sorted((ROOT / "native/src").rglob("*.zig"))
    files = [str(path.relative_to(ROOT)) for path in sources if not LEFT_OUT.search(path.name)]
    lines = _call([str(program), *files], cwd=ROOT).splitlines()
    return [Site(**json.loads(line)) for line in lines]


def _call(command: list[str], cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def overlap(a: Site, b: Site) -> bool:
    return a.file == b.file and a.start < b.end and b.start < a.end


# ---- Building --------------------------------------------------------------------------------------------------------


def copy_tree() -> None:
    for name in COPIED:
        source, target = ROOT / name, TREE / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "__pycache__", "build"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for root in ROOTS:
        shutil.copyfile(ROOT / "tests/mutation/switch.zig", TREE / root / "mutation_switch.zig")


def build_together(mutants: list[Mutant]) -> None:
    """Those in which the compiler finds something wrong are built alone."""
    while True:
        write_sources(mutants)
        output = ladder.build("debug")
        if output is None:
            break
        wrong = blamed(mutants, output)
        if not wrong:
            sys.exit(output)
        for mutant in wrong:
            print(f"alone: {mutant.number} {mutant.site}", flush=True)
            mutant.alone = True
    output = ladder.build("safe")
    if output is not None:
        sys.exit(output)
    library = ladder.library("safe").read_bytes()
    marked = {int(number) for number in re.findall(rb"mutant (\d+);", library)}
    for mutant in mutants:
        if not mutant.alone and mutant.number not in marked:
            mutant.state = NOT_THERE
            save(mutant)


def write_sources(mutants: list[Mutant]) -> None:
    together = [mutant for mutant in mutants if not mutant.alone]
    for file in {mutant.site.file for mutant in mutants}:
        here = sorted((m for m in together if m.site.file == file), key=lambda m: -m.site.start)
        data = (ROOT / file).read_bytes()
        for mutant in here:
            site = mutant.site
            data = data[: site.start] + with_switch(mutant).encode() + data[site.end :]
        root = next(root for root in ROOTS if file.startswith(f"{root}/"))
        up = "../" * (len(Path(file).parts) - len(Path(root).parts) - 1)
        if here:
            data += f'\nconst mutation_switch = @import("{up}mutation_switch.zig");\n'.encode()
        (TREE / file).write_bytes(data)


def with_switch(mutant: Mutant) -> str:
    """Lines stay where they are, so that what the compiler says can be told to belong to a mutant."""
    site, old = mutant.site, mutant.site.old()
    new = site.text if "//" in site.text or "\\\\" in site.text else site.text.replace("\n", " ")
    if site.how == "check":
        return f"(if (!mutation_switch.on({mutant.number})) {old} else {{}})"
    return f"(if (mutation_switch.on({mutant.number})) {new} else {old})"


def blamed(mutants: list[Mutant], output: str) -> list[Mutant]:
    """The mutants at the lines of errors; where there is none, those at the lines of notes, or in the file."""
    together = [mutant for mutant in mutants if not mutant.alone]
    found: dict[int, Mutant] = {}
    for block in re.split(r"\n(?=\S+\.zig:\d+:\d+: error: )", f"\n{output}"):
        places = re.findall(r"(native/src/\S+\.zig):(\d+):\d+", block)
        if ": error: " not in block:
            continue
        for file, line in places:
            hit = [
                m
                for m in together
                if m.site.file == file and m.site.line <= int(line) <= m.site.line + m.site.old().count("\n")
            ]
            if hit:
                found |= {m.number: m for m in hit}
                break
        else:
            found |= {m.number: m for m in together if places and m.site.file == places[0][0]}
    return list(found.values())


# ---- Meeting the tests -----------------------------------------------------------------------------------------------


def meet_all(mutants: list[Mutant], run: Ladder) -> None:
    together = [mutant for mutant in mutants if not mutant.alone and mutant.state != NOT_THERE]
    for rung in ladder.RUNGS:
        for mutant in together:
            if mutant.state != "killed":
                meet(mutant, run, rung)
    without = ladder.library("debug").read_bytes()
    for mutant in mutants:
        if mutant.alone:
            beside = [m for m in together if m.site.file == mutant.site.file]
            beside = beside or [m for m in together if m.site.folder() == mutant.site.folder()]
            meet_alone(mutant, [m.number for m in beside], run, without)


def meet(mutant: Mutant, run: Ladder, rung: str) -> None:
    reached, killer = run.climb(mutant.number, rung)
    if killer:
        mutant.state, mutant.by = "killed", killer
    elif reached:
        mutant.state = "survived"
    elif mutant.state == "":
        mutant.state = "not reached"
    if killer or rung == ladder.RUNGS[-1]:
        save(mutant)


def meet_alone(mutant: Mutant, neighbours: list[int], run: Ladder, without: bytes) -> None:
    """`without`: the library without it."""
    site = mutant.site
    data = (ROOT / site.file).read_bytes()
    (TREE / site.file).write_bytes(data[: site.start] + site.text.encode() + data[site.end :])
    if ladder.build("debug") is not None:
        mutant.state = "does not compile"
    elif ladder.library("debug").read_bytes() == without:
        mutant.state = NOT_THERE
    else:
        mutant.by = run.climb_all(neighbours)
        mutant.state = "killed" if mutant.by else "survived"
    save(mutant)
    (TREE / site.file).write_bytes(data)


def save(mutant: Mutant) -> None:
    mutant.first = mutant.first or mutant.state
    print(f"{mutant.number:4} {mutant.state:<18} {mutant.site} {mutant.by}", flush=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(mutant)) + "\n")


def read_reasons() -> dict[str, str]:
    reasons: dict[str, str] = json.loads(REASONS.read_text("utf-8"))
    return reasons


def read_results() -> list[Mutant]:
    """The last line of each counts."""
    if not RESULTS.exists():
        return []
    found: dict[str, Mutant] = {}
    for line in RESULTS.read_text("utf-8").splitlines():
        fields = json.loads(line)
        found[fields["key"]] = Mutant(**fields | {"site": Site(**fields["site"])})
    return list(found.values())


# ---- The report ------------------------------------------------------------------------------------------------------


def write_report(seed: int) -> None:
    counted = [mutant for mutant in read_results() if mutant.state not in NOT_COUNTED]
    left = [mutant for mutant in counted if mutant.state in ALIVE]
    reasons = read_reasons()
    folders = sorted({mutant.site.folder() for mutant in counted})
    first = share(m.first == "killed" for m in counted)
    now = share(m.state == "killed" for m in counted)
    there = share(m.state == "killed" for m in counted if m.state != GONE)
    rows = [row(folder, [m for m in counted if m.site.folder() == folder]) for folder in folders]
    text = [
        "# Mutants of native/src",
        "",
        f"By `tests/mutation/mutate.py --seed {seed}`, with the tests of Zig, C and Python. The first run is the one",
        "before tests were written for what it left alive.",
        "",
        "| folder | mutants | killed first | killed | gone with their code | alive |",
        "|---|---|---|---|---|---|",
        *rows,
        row("all", counted),
        "",
        f"Killed at first: {first}; now: {now}; of those whose code is there: {there}.",
        "",
        "## Alive",
        "",
        *(shown(mutant, reasons) for mutant in left),
        "",
    ]
    (WORK / "report.md").write_text("\n".join(text), "utf-8")
    print(f"see {WORK / 'report.md'}")


def row(name: str, mutants: list[Mutant]) -> str:
    first = sum(mutant.first == "killed" for mutant in mutants)
    killed = sum(mutant.state == "killed" for mutant in mutants)
    gone = sum(mutant.state == GONE for mutant in mutants)
    return f"| {name} | {len(mutants)} | {first} | {killed} | {gone} | {len(mutants) - killed - gone} |"


def share(each: Iterable[bool]) -> str:
    flags = list(each)
    return f"{sum(flags)} of {len(flags)}, {100 * sum(flags) / max(len(flags), 1):.1f} %"


def shown(mutant: Mutant, reasons: dict[str, str]) -> str:
    reason = reasons.get(mutant.key, "No reason is known: a test is missing.")
    return f"- {mutant.key}, {mutant.state}: {reason}"


if __name__ == "__main__":
    main()
