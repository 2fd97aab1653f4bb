"""The WebAssembly module beside the native library: size, masks of the recognizers' texts, and the first mask in a
browser's tab. Both are driven by the same TypeScript, the native one under bun, the module in Node.js."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from eliza_inference import library_path

from bench import machine
from bench.paths import BENCH, ROOT, use_llama
from bench.recognizers import cases, vocabularies
from bench.recognizers.measure import InputFiles, write_inputs
from bench.tables import Table

CASES = ("choices-30", "choices-5000", "letters", "date-time", "email", "json", "c11")
VOCABULARY = "o200k"
IN_TAB = ("json", "c11", "email")
PASSES = 5
TABS = 8
WHOLE = "elizainference.wasm"
MODULES = {
    WHOLE: "all",
    "elizainference-schemas.wasm": "all but grammars",
    "elizainference-regexes.wasm": "choices, regular expressions, token trees, tags of them",
}
BUN = ["node", str(ROOT / "bindings-ts" / "scripts" / "bun.mjs")]
WARM_MAX, COLD_MAX, FIRST_MASK_MS_MAX, BYTES_MAX, COMPRESSED_MAX = 3.0, 4.0, 100.0, 400_000, 160_000


@dataclass(frozen=True)
class Compared:
    """One case: milliseconds, mean microseconds of a mask, and whether all masks are equal."""

    case: str
    n_positions: int
    native: dict[str, float]
    wasm: dict[str, float]
    are_equal: bool

    def times(self, what: str) -> float:
        return self.wasm[what] / self.native[what]


@dataclass(frozen=True)
class Results:
    modules: dict[str, tuple[int, int]]  # bytes of each as it is, and compressed
    cases: list[Compared]
    tab: dict[str, dict[str, float]]


def collect(names: tuple[str, ...], announce: Callable[[str], None]) -> Results:
    table = vocabularies.load(VOCABULARY)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        announce("the module")
        module = build_module(folder)
        compared = []
        for case in names or CASES:
            announce(case)
            files = write_inputs(cases.load(case), table, folder)
            compared.append(_compare(case, files, module, folder))
        announce("a tab")
        tab = _in_tab(module, folder)
        modules = {name: (len((folder / name).read_bytes()), _brotli_bytes(folder / name)) for name in MODULES}
        return Results(modules, compared, tab)


def build_module(folder: Path) -> Path:
    """Also the bundles `bun.js`, `node.js` and `tab.js` beside it."""
    subprocess.run([sys.executable, "-m", "ziglang", "build", "wasm", "--prefix", folder], cwd=ROOT, check=True)
    for name in MODULES:
        shutil.move(folder / "wasm" / name, folder)
    for source, target, name in (("masks", "bun", "bun"), ("masks", "node", "node"), ("tab", "browser", "tab")):
        bundle = ["build", str(BENCH / "web" / f"{source}.ts"), "--target", target, "--outfile", f"{folder}/{name}.js"]
        subprocess.run([*BUN, *bundle], cwd=ROOT / "bindings-ts", check=True, capture_output=True)
    return folder / WHOLE


def _compare(case: str, files: InputFiles, module: Path, folder: Path) -> Compared:
    arguments = [str(files.vocabulary), files.kind, str(files.definition), str(files.documents), str(PASSES)]
    native = _run([*BUN, f"{folder}/bun.js", *arguments], str(library_path()))
    wasm = _run(["node", f"{folder}/node.js", *arguments], str(module))
    are_equal = native["hashes"] == wasm["hashes"]
    return Compared(case, len(native["hashes"]), _means(native), _means(wasm), are_equal)


def _run(command: list[str], library: str) -> dict[str, Any]:
    environment = {**os.environ, "ELIZA_INFERENCE_LIBRARY": library}
    done = subprocess.run(command, cwd=ROOT / "bindings-ts", env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _means(figures: dict[str, Any]) -> dict[str, float]:
    means = {name: statistics.fmean(figures[name]) / 1000 for name in ("cold", "warm")}
    return {"vocabulary": figures["vocabularyMs"], "compile": figures["compileMs"], **means}


def _in_tab(module: Path, folder: Path) -> dict[str, dict[str, float]]:
    """In Chromium, the least of several tabs, each of a browser that has just been started."""
    sys.path.insert(0, str(ROOT / "tests"))
    from web.browsers import posted_by

    table = vocabularies.load(VOCABULARY)
    kinds = {}
    for name in IN_TAB:
        files = write_inputs(cases.load(name), table, folder)
        kinds[name] = files.kind
        shutil.copy(files.definition, folder / f"{name}.definition")
    (folder / "kinds.json").write_text(json.dumps(kinds))
    page = '<!doctype html><meta charset="utf-8"><script type="module" src="tab.js"></script>'
    (folder / "tab.html").write_text(page)
    least: dict[str, dict[str, float]] = {}
    for tab in range(TABS):
        figures = posted_by("chromium", folder, "tab.html", folder / f"profile-{tab}")
        if "error" in figures:
            raise RuntimeError(figures["error"])
        for name, found in figures.items():
            least[name] = {what: min(found[what], least.get(name, found)[what]) for what in found}
    return least


def _brotli_bytes(file: Path) -> int:
    """As Node.js compresses it."""
    code = (
        f"console.log(require('zlib').brotliCompressSync(require('fs').readFileSync({json.dumps(str(file))})).length)"
    )
    return int(subprocess.run(["node", "-e", code], capture_output=True, check=True).stdout)


def masks_table(results: Results) -> Table:
    heading = ["case", "positions", "native, cold", "WebAssembly", "times", "native, warm", "WebAssembly", "times"]
    table = Table([*heading, "equal"], [])
    for each in results.cases:
        table.rows.append(
            [
                each.case,
                f"{each.n_positions:,}",
                *(f"{each.native['cold']:.2f} µs", f"{each.wasm['cold']:.2f} µs", f"{each.times('cold'):.1f}"),
                *(f"{each.native['warm']:.2f} µs", f"{each.wasm['warm']:.2f} µs", f"{each.times('warm'):.1f}"),
                "all" if each.are_equal else "NO",
            ]
        )
    return table


def requirements_table(results: Results) -> Table:
    cold, warm = (max(each.times(what) for each in results.cases) for what in ("cold", "warm"))
    first = max(figures["firstMaskMs"] for figures in results.tab.values())
    table = Table(["what", "measured", "bar", "reached"], [])
    sizes = []
    for module, languages in MODULES.items():
        n_bytes, compressed = results.modules[module]
        sizes.append((f"bytes of {module}: {languages}", n_bytes, BYTES_MAX, "{:,.0f}"))
        sizes.append(("the same compressed (brotli)", compressed, COMPRESSED_MAX, "{:,.0f}"))
    for name, value, bar, text in (
        *sizes,
        ("warm masks, times native, at most", warm, WARM_MAX, "{:.1f}"),
        ("cold masks, times native, at most", cold, COLD_MAX, "{:.1f}"),
        ("first mask in a tab, ms, at most", first, FIRST_MASK_MS_MAX, "{:.1f}"),
        ("cases with an unequal mask", sum(not each.are_equal for each in results.cases), 0, "{:.0f}"),
    ):
        table.rows.append([name, text.format(value), text.format(bar), "yes" if value <= bar else "no"])
    return table


def tab_table(results: Results) -> Table:
    table = Table(["case", "vocabulary", "then to the first mask"], [])
    for case, figures in results.tab.items():
        table.rows.append([case, f"{figures['vocabularyMs']:.0f} ms", f"{figures['firstMaskMs']:.1f} ms"])
    return table


def write(results: Results) -> Path:
    use_llama()
    path = BENCH / "reports" / f"{date.today().isoformat()}-wasm.md"
    about = Table(
        ["", ""], [[name, value] for name, value in {**machine.description(), "load": machine.load()}.items()]
    )
    parts = [
        "# WebAssembly beside the native library",
        about.markdown(),
        EXPLANATION,
        requirements_table(results).markdown(),
        f"## Masks on {VOCABULARY}: the mean over all positions of a case's documents",
        masks_table(results).markdown(),
        f"## In a tab of Chromium, on {VOCABULARY}",
        tab_table(results).markdown(),
    ]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


EXPLANATION = """The same TypeScript fills a bitmap and accepts a token at each position of the recognizers' documents:
the native library under bun, the module in Node.js, where V8 compiles it while it runs. Times of a position are the
least of five passes or more; cold ones are with a constraint that was just compiled. A mask is equal if its hash is.
A first mask in a tab includes compiling the constraint, and is the least of eight tabs."""
