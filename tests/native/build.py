"""Compiles the C programs of this folder against the header and the library, and runs them.

    python tests/native/build.py LIBRARY                         zig-out/lib/libelizainference.so, for example
    python tests/native/build.py LIBRARY --model MODEL.gguf      also the checks that need a model
    python tests/native/build.py LIBRARY --valgrind              under memcheck; leaks are failures

LIBRARY may be in ELIZA_INFERENCE_LIBRARY instead. The compiler is that of the Python package ziglang. With
--model, ELIZA_INFERENCE_LLAMA names the libllama. For --valgrind the library is to be built for a baseline CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FUZZ = HERE.parent / "fuzz"
EXAMPLE = HERE.parents[1] / "examples" / "c" / "router.c"
INCLUDE = HERE.parents[1] / "native" / "include"
MANIFEST = HERE.parents[1] / "native" / "abi" / "manifest.json"

VALGRIND = [
    "valgrind",
    "--quiet",
    "--leak-check=full",
    "--error-exitcode=9",
    f"--suppressions={HERE / 'valgrind.supp'}",
]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
MADE_UP_ANSWER = "SEND_MAIL after 1 pass\n"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("library", type=Path, nargs="?", default=os.environ.get("ELIZA_INFERENCE_LIBRARY"))
    arguments.add_argument("--model", type=Path)
    arguments.add_argument("--valgrind", action="store_true")
    chosen = arguments.parse_args()
    if chosen.library is None:
        arguments.error("no library: neither the argument nor ELIZA_INFERENCE_LIBRARY names one")
    library = chosen.library.resolve()

    failures = check_exports(library) + check_out_of_memory()
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(Path(folder), library, VALGRIND if chosen.valgrind else [])
        failures += programs.run_example()
        failures += programs.run_conformance(chosen.model)
        failures += programs.run_oom_test()
        failures += programs.run_faults_test(chosen.model)
        failures += programs.run_recognizer_test()
        failures += programs.run_abi_test(chosen.model)
        if not chosen.valgrind:
            failures += programs.run_numbers_test() + programs.run_threads_test(chosen.model)
            failures += programs.run_long_test(chosen.model)
        failures += programs.run_fuzz_regressions()
    print("native tests:", f"{failures} failed" if failures else "all passed")
    return 1 if failures else 0


# ---- What the library exports ----------------------------------------------------------------------------------------


def check_exports(library: Path) -> int:
    """The header declares exactly what the library exports, and the ABI tests attack all of it."""
    declared, exported = declared_functions(), exported_symbols(library)
    tests = [(HERE / f"{name}.c").read_text("utf-8") for name in ("abi_test", "recognizer_test")]
    attacked = set(re.findall(r"\w+", "".join(tests)))
    problems = [
        *(f"declared, not exported: {name}" for name in sorted(declared - exported)),
        *(f"exported, not declared: {name}" for name in sorted(exported - declared)),
        *(f"not attacked: {name}" for name in sorted(declared - attacked)),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"exports: {len(declared)} functions of the header, {len(problems)} problems")
    return len(problems)


ALLOCATE_NOTHING = re.compile(
    r"eliza_inference_(abi_version|status_name|set_log_callback|vocab_(token|info|set_tokenizer)|llama_info"
    r"|constraint_(warnings|recognizer_info|info|path)|trie_cache_stats"
    r"|matcher_(reset|deactivate|set_\w+|leaf|info)"
    r"|llm_stream_(last_error|leaf|set_\w+)|set_verifier_callback|clear_constraint|sampler_clear_token_trie"
    r"|\w+_supported)"
)
LOADS_CODE = {"eliza_inference_llama_load"}
"""Allocates while the first session of each program begins, which is before any failure."""
SAME_AS = {"llama_sampler_init_token_trie", "llama_sampler_init_constraint"}
"""Each calls one with a longer name and more parameters."""


def check_out_of_memory() -> int:
    """Whatever may allocate runs out of memory in a test. What section 12 of the header has makes a message at most."""
    tests = [(HERE / f"{name}.c").read_text("utf-8") for name in ("oom_test", "faults_test")]
    covered = set(re.findall(r"\w+", "".join(tests))) | LOADS_CODE | SAME_AS
    functions = json.loads(MANIFEST.read_text("utf-8"))["functions"]
    names = {function["name"] for function in functions if function["section"] < 12}
    missing = sorted(name for name in names - covered if not ALLOCATE_NOTHING.fullmatch(name))
    for name in missing:
        print(f"never out of memory in a test: {name}", file=sys.stderr)
    print(f"out of memory: {len(names)} functions, {len(missing)} of them in no test")
    return len(missing)


def declared_functions() -> set[str]:
    return {function["name"] for function in json.loads(MANIFEST.read_text("utf-8"))["functions"]}


def exported_symbols(library: Path) -> set[str]:
    """The defined symbols of an ELF file's dynamic symbol table (64 bits, little-endian)."""
    data = library.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit(f"{library} is not a 64-bit ELF file")
    sections_at = struct.unpack_from("<Q", data, 0x28)[0]
    entry_size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * entry_size) for i in range(count)]
    found = set()
    for _, kind, _, _, at, size, link, *_ in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        names_at = sections[link][4]
        for symbol in range(at, at + size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, symbol)
            if section != 0:  # SHN_UNDEF
                start = names_at + name
                found.add(data[start : data.index(b"\0", start)].decode())
    return found


# ---- What the programs do --------------------------------------------------------------------------------------------


class Programs:
    def __init__(self, folder: Path, library: Path, runner: list[str]) -> None:
        self.folder, self.library, self.runner = folder, library, runner

    def run_example(self) -> int:
        program = self.compile("example", ["-std=c99", *WARNINGS], EXAMPLE)
        result = self.run(program, [], stdout=subprocess.PIPE, text=True)
        print("example:", result.stdout, end="")
        return int(result.returncode != 0 or result.stdout != MADE_UP_ANSWER)

    def run_conformance(self, model: Path | None = None) -> int:
        """The cases of streams with a model."""
        cases = self.folder / "cases.c"
        subprocess.run([sys.executable, HERE / "generate.py", cases], check=True)
        program = self.compile("conformance", ["-std=c11", *WARNINGS], HERE / "conformance.c", cases)
        failures = int(self.run(program, [], cwd=self.folder).returncode != 0)
        if model is not None:
            program = self.compile("stream_conformance", ["-std=c11", *WARNINGS], HERE / "stream_conformance.c", cases)
            failures += int(self.run(program, [str(model.resolve())], cwd=self.folder).returncode != 0)
        return failures

    def run_recognizer_test(self) -> int:
        program = self.compile("recognizer_test", ["-std=c11", *WARNINGS], HERE / "recognizer_test.c")
        return int(self.run(program, [str(self.folder)]).returncode != 0)

    def run_abi_test(self, model: Path | None) -> int:
        """Where there is no libllama, and then with a model."""
        program = self.compile("abi_test", ["-std=c11", *WARNINGS], HERE / "abi_test.c")
        without = {name: value for name, value in os.environ.items() if name != "ELIZA_INFERENCE_LLAMA"}
        failures = int(self.run(program, [], env=without).returncode != 0)
        if model is not None:
            failures += int(self.run(program, [str(model.resolve())]).returncode != 0)
        return failures

    def run_numbers_test(self) -> int:
        program = self.compile("numbers_test", ["-std=c11", *WARNINGS], HERE / "numbers_test.c")
        return int(self.run(program, ["50000"]).returncode != 0)

    def run_threads_test(self, model: Path | None) -> int:
        """For its results. Races are what threads.py finds with it."""
        program = self.compile("threads_test", ["-std=c11", *WARNINGS], HERE / "threads_test.c")
        arguments = [str(self.folder), "2", "1", *([str(model.resolve())] if model else [])]
        return int(self.run(program, arguments).returncode != 0)

    def run_long_test(self, model: Path | None) -> int:
        """For less than a minute: tests/long/random_use.py runs it for longer."""
        if model is None:
            return 0
        program = self.compile("long_test", ["-std=c11", *WARNINGS], HERE / "long_test.c")
        return int(self.run(program, [str(self.folder), "30", "1", str(model.resolve())]).returncode != 0)

    def run_oom_test(self) -> int:
        """Has allocation functions of its own, so that it always runs without valgrind."""
        program = self.compile("oom_test", ["-std=c11", *WARNINGS], HERE / "oom_test.c")
        return int(subprocess.run([program, self.folder]).returncode != 0)

    def run_fuzz_regressions(self) -> int:
        """Inputs that once found something, on the library as it is, without libFuzzer."""
        failures = 0
        # Streams run on the libllama that the program has itself.
        environment = {name: value for name, value in os.environ.items() if name != "ELIZA_INFERENCE_LLAMA"}
        for folder in sorted((FUZZ / "regressions").iterdir()):
            shared = ("replay", "fuzz", "walk", "samples", "llama", "written", "write_schema", "write_grammar")
            sources = [FUZZ / f"{name}.c" for name in shared]
            wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "free", "realloc", "posix_memalign")]
            # Under memcheck a millisecond of the processor is fifty.
            options = [
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-DINPUT_MS_MAX=60000",
                "-DCOMPILE_MS_MAX=0",
                "-DMASK_MS_MAX=10",
                f"-I{FUZZ}",
                "-rdynamic",
                *wrapped,
            ]
            program = self.compile(
                f"fuzz-{folder.name}", [*WARNINGS, *options], *sources, FUZZ / "targets" / f"{folder.name}.c"
            )
            inputs = [str(path) for path in sorted(folder.iterdir())]
            failures += int(self.run(program, inputs, env=environment).returncode != 0)
        return failures

    def run_faults_test(self, model: Path | None) -> int:
        """With allocation functions of its own, too; and a libllama that it has fail, made for x86-64 Linux."""
        if model is None or self.runner or sys.platform != "linux" or platform.machine() != "x86_64":
            return 0
        folder = self.folder / "faults"
        folder.mkdir()
        real = Path(os.environ["ELIZA_INFERENCE_LLAMA"]).resolve()
        for backend in real.parent.glob("libggml*"):  # which are looked for beside libllama
            (folder / backend.name).symlink_to(backend)
        faulty = folder / "libllama_faults.so"
        linked = ["-Wl,--no-as-needed", str(real), f"-Wl,-rpath,{real.parent}"]
        compiler = [sys.executable, "-m", "ziglang", "cc", "-O1", "-shared", "-fPIC", *WARNINGS]
        subprocess.run([*compiler, str(HERE / "llama_faults.c"), *linked, "-o", str(faulty)], check=True)
        program = self.compile("faults_test", ["-std=c11", *WARNINGS], HERE / "faults_test.c")
        files = folder / "files"
        files.mkdir()
        command = [str(program), str(model.resolve()), str(files)]
        return int(subprocess.run(command, env=os.environ | {"ELIZA_INFERENCE_LLAMA": str(faulty)}).returncode != 0)

    def compile(self, name: str, options: list[str], *sources: Path) -> Path:
        program = self.folder / name
        compiler = [sys.executable, "-m", "ziglang", "cc", "-g", "-O1", "-mcpu=baseline", f"-I{INCLUDE}", f"-I{HERE}"]
        linked = [str(self.library), f"-Wl,-rpath,{self.library.parent}", "-lm", "-lpthread"]
        command = [*compiler, *options, *map(str, sources), *linked, "-o", str(program)]
        subprocess.run(command, check=True)
        return program

    def run(self, program: Path, arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        command = [*self.runner, str(program), *arguments]
        result: subprocess.CompletedProcess[str] = subprocess.run(command, **options)
        return result


if __name__ == "__main__":
    sys.exit(main())
