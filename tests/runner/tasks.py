"""What can be run by name: formatters, linters, types, every kind of test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner.counts import bun_counts, native_counts, pytest_counts, zig_counts
from runner.setup import has_fuzz_tests, has_release_tests, has_rust_tests, has_valgrind_tests, has_web_tests
from runner.step import PYTHON, ROOT, TESTS, Step

MODEL = TESTS / "models" / "eliza-router.gguf"
TYPESCRIPT = ROOT / "bindings-ts"
ZIG = [PYTHON, "-m", "ziglang"]
ZIG_FILES = ["native", "tests/native", "tests/mutation", "android/jni", "build.zig", "build.zig.zon"]
RUFF = [PYTHON, "-m", "ruff"]
NPM_RUN = ["npm", "run", "--silent"]
# A worker for each of some processors; the tests of a file share one, which opens their vocabularies once.
PARALLEL = ["--numprocesses", "auto", "--maxprocesses", "4", "--dist", "loadfile"]
QUICK = ("lint", "types", "test tidy", "test zig")
# Each keeps one processor busy, or little more. The longest first.
SIDE_BY_SIDE = (
    "test threads",
    "test valgrind",
    "test c",
    "test web",
    "test transformers",
    "test hosts",
    "gate",
    "test typescript",
    "test rust",
    "test docs",
)


@dataclass(frozen=True)
class Task:
    name: str
    about: str
    needs: tuple[str, ...]
    """Parts of runner.setup.ALL."""
    steps: list[Step]
    """Further arguments of the command line go to the last command of the last one."""
    library: str | None = None
    """How the native library is built for a run of this task alone, if it uses one: "debug" takes a second and has
    safety checks, "fast" takes seven and is what is shipped, as `all` uses it."""
    in_all: bool = True


def _tasks() -> list[Task]:
    found = [
        _format(),
        _lint(),
        _types(),
        _pytest("test tidy", "imports, dead files, links, long lines", TESTS / "tidy", "Tidiness", needs=("python",)),
        Task(
            "test zig",
            "unit tests and conformance cases; -Dtest-filter=NAME for some",
            ("python",),
            [Step("Zig tests", [[*ZIG, "build", "test", "--summary", "all"]], counts=zig_counts)],
        ),
        _c_tests("test c", "the C boundary", "C tests", ["--model", str(MODEL)]),
        _pytest(
            "test python",
            "the Python package; -k EXPRESSION for some",
            TESTS / "python",
            "Python tests",
            needs=("python", "libllama", "package", "suites"),
            library="debug",
            options=PARALLEL,
        ),
        _pytest(
            "test transformers",
            "the Python package in Hugging Face transformers and in Outlines",
            TESTS / "transformers",
            "transformers tests",
            needs=("python", "libllama", "package", "transformers"),
            library="debug",
        ),
        replace(
            _pytest(
                "test llama-cpp-python",
                "the Python package in llama-cpp-python, which is compiled first",
                TESTS / "llama_cpp_python",
                "llama-cpp-python tests",
                needs=("python", "package", "llama-cpp-python"),
                library="debug",
            ),
            in_all=False,
        ),
        _hosts(),
        Task(
            "test typescript",
            "the TypeScript package; a file name, or -t NAME, for some",
            ("python", "libllama", "typescript", "suites"),
            [Step("TypeScript tests", [[*NPM_RUN, "test", "--"]], folder=TYPESCRIPT, counts=bun_counts)],
            library="fast",
        ),
    ]
    found.append(
        _pytest(
            "test docs",
            "the documentation: its programs, its links, the API reference, the site",
            TESTS / "docs",
            "Documentation tests",
            needs=("python", "libllama", "package", "typescript", "web", "site", "docs"),
            library="fast",
        )
    )
    if has_rust_tests():
        found.append(
            _pytest(
                "test rust",
                "the Rust crate",
                TESTS / "rust",
                "Rust tests",
                needs=("python", "libllama", "rust"),
                library="fast",
            )
        )
    if has_web_tests():
        found.append(
            _pytest(
                "test web",
                "the TypeScript package in Node.js, Deno, Chromium and Firefox",
                TESTS / "web",
                "Web tests",
                needs=("python", "libllama", "typescript", "web", "site"),
                library="fast",
            )
        )
    if has_valgrind_tests():
        valgrind = _c_tests("test valgrind", "the same under memcheck", "C tests under valgrind", ["--valgrind"])
        found += [valgrind, _threads(), _gate()]
    if has_fuzz_tests():
        found.append(_fuzz())
    if has_release_tests():
        found.append(_release())
    return found


def _format() -> Task:
    commands = [[*ZIG, "fmt", *ZIG_FILES], [*RUFF, "check", "--fix"], [*RUFF, "format"]]
    steps = [Step("Format", commands), Step("TypeScript format", [[*NPM_RUN, "format"]], folder=TYPESCRIPT)]
    return Task("format", "writes: zig fmt, ruff, biome", ("python", "typescript"), steps, in_all=False)


def _lint() -> Task:
    steps = [
        Step("Zig format", [[*ZIG, "fmt", "--check", *ZIG_FILES]]),
        Step("Python lint", [[*RUFF, "check"], [*RUFF, "format", "--check"]]),
        Step("TypeScript lint", [[*NPM_RUN, "lint"]], folder=TYPESCRIPT),
    ]
    return Task("lint", "reads: zig fmt, ruff, biome", ("python", "typescript"), steps)


def _types() -> Task:
    steps = [
        Step("Python types", [[PYTHON, "-m", "mypy"]]),
        Step("TypeScript types", [[*NPM_RUN, "typecheck"]], folder=TYPESCRIPT),
    ]
    return Task("types", "mypy, tsc", ("python", "package", "typescript"), steps)


def _pytest(
    name: str,
    about: str,
    folder: Path,
    title: str,
    needs: tuple[str, ...],
    library: str | None = None,
    options: Sequence[str] = (),
) -> Task:
    step = Step(title, [[PYTHON, "-m", "pytest", str(folder), *options]], counts=pytest_counts)
    return Task(name, about, needs, [step], library)


def _hosts() -> Task:
    """In a process for each: SGLang's tests leave empty modules behind."""
    folders = {"SGLang tests": TESTS / "hosts" / "sglang", "vLLM tests": TESTS / "hosts" / "vllm"}
    steps = [
        Step(title, [[PYTHON, "-m", "pytest", str(folder)]], counts=pytest_counts) for title, folder in folders.items()
    ]
    needs = ("python", "package", "transformers", "hosts")
    return Task("test hosts", "the Python package in SGLang and in vLLM", needs, steps, library="fast")


def _c_tests(name: str, about: str, title: str, options: list[str]) -> Task:
    build = [PYTHON, str(TESTS / "native" / "build.py")]
    needs = ("python", "libllama", "valgrind") if "--valgrind" in options else ("python", "libllama")
    return Task(name, about, needs, [Step(title, [[*build, *options]], counts=native_counts)], library="fast")


def _threads() -> Task:
    run = [PYTHON, str(TESTS / "native" / "threads.py")]
    return Task(
        "test threads",
        "32 threads under ThreadSanitizer; --seconds N for longer",
        ("python", "libllama"),
        [Step("C tests with threads", [run], counts=native_counts)],
    )


def _gate() -> Task:
    needs = ("python", "libllama", "package", "valgrind")
    steps = [Step("Benchmark gate", [[PYTHON, "-m", "bench", "gate"]])]
    return Task("gate", "instructions of the hot paths against bench/baseline.json", needs, steps)


def _fuzz() -> Task:
    run = Step("Fuzzing", [[PYTHON, "-m", "fuzz"]], folder=TESTS, counts=native_counts)
    about = "libFuzzer on the C boundary; target names, --seconds N, --workers N"
    return Task("test fuzz", about, ("python", "fuzz"), [run])


def _release() -> Task:
    needs = ("python", "libllama", "typescript", "kotlin", "release")
    steps = [
        Step("Release", [[*ZIG, "build", "release", "jni", "-Doptimize=fast"]]),
        Step("Release tests", [[PYTHON, "-m", "pytest", str(TESTS / "release"), *PARALLEL]], counts=pytest_counts),
    ]
    return Task("test release", "every file that is shipped, run where it can be; -k EXPRESSION for some", needs, steps)


TASKS = {task.name: task for task in _tasks()}
"""By name."""


def stages_of_all() -> list[list[Task]]:
    """What `all` runs, one stage after the other, the quickest first. The tasks of a stage are run side by side."""
    beside = [TASKS[name] for name in SIDE_BY_SIDE if name in TASKS]
    rest = [task for task in TASKS.values() if task.in_all and task.name not in (*QUICK, *SIDE_BY_SIDE)]
    return [*([TASKS[name]] for name in QUICK), beside, *([task] for task in rest)]
