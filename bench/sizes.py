"""What the bytes of the native library are for: by folder of the sources, as it is shipped and compiled for size
alone, beside the libraries of its peers."""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import files, version
from pathlib import Path, PurePosixPath
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from bench import machine
from bench.paths import BENCH, ROOT, use_llama
from bench.requirement import Requirement
from bench.tables import Table, requirements

MODES = ("fast", "small")
"""As it is shipped, where the engine is compiled for speed and the shell for size; and all of it for size."""
BEFORE = 414_160
"""Bytes before there were JSON Schemas, ambiguous grammars, GBNF and tags."""
SCHEMAS_MORE_MAX, GRAMMARS_MORE_MAX = 120_000, 100_000
PARTS = {
    "JSON Schemas": ["engine/schema", "shell/compile/schema"],
    "grammars": [f"engine/{name}" for name in ("lr", "glr")]
    + [f"shell/compile/{name}" for name in ("lark", "gbnf", "cfg", "lr")],
    "regular expressions": ["shell/compile/regex"],
    "tags, and parameters in XML": ["engine/tags", "shell/compile/tags", "shell/compile/parameters"],
    "token tries and payloads": ["engine/trie", "engine/payload"],
    "streams, samplers, slots of libllama": ["shell/llama"],
    "arrays, maps, memory, messages": ["engine/base", "engine/platform", "message.zig"],
    "vocabularies, masks, recognizers, files, C boundary": ["engine", "shell", "library.zig"],
    "Zig's standard library": ["std"],
}
"""Folders of native/src. The first that holds a file counts."""
PEERS = ("llguidance", "xgrammar")


@dataclass(frozen=True)
class Library:
    loaded_bytes: int
    """All that is mapped into a process: code, constants, tables for unwinding."""
    code_bytes: dict[str, int]
    """By part; inlined code counts where it was written."""


def collect(announce: Callable[[str], None]) -> dict[str, Library]:
    found = {}
    for mode in MODES:
        announce(mode)
        with tempfile.TemporaryDirectory() as folder:
            options = [f"-Doptimize={mode}", "-Dstrip=false", "--prefix", folder]
            subprocess.run([sys.executable, "-m", "ziglang", "build", *options], cwd=ROOT, check=True)
            found[mode] = read(Path(folder, "lib", "libelizainference.so"))
    return found


def read(path: Path) -> Library:
    with path.open("rb") as file:
        elf = ELFFile(file)
        loaded = [each for each in elf.iter_sections() if each["sh_flags"] & SH_FLAGS.SHF_ALLOC]
        n_bytes = sum(each["sh_size"] for each in loaded if each["sh_type"] != "SHT_NOBITS")
        by_part: Counter[str] = Counter()
        for source, n in _code(elf):
            by_part[_part(source)] += n
        return Library(n_bytes, dict(by_part))


def _code(elf: Any) -> Iterator[tuple[str, int]]:
    """Source files and how many bytes of code come from them, by the table of lines. What the linker dropped has
    addresses before the code's."""
    start = elf.get_section_by_name(".text")["sh_addr"]
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        first = 0 if program.header.version >= 5 else 1
        folders, names = program.header.include_directory, program.header.file_entry
        last = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if last is not None and last.address >= start:
                source = names[last.file - first]
                folder = folders[source.dir_index - first].decode() if source.dir_index >= first else ""
                yield f"{folder}/{source.name.decode()}", state.address - last.address
            last = None if state.end_sequence else state


def _part(source: str) -> str:
    own = source.partition("native/src/")[2] or "std"
    holders = {own, *map(str, PurePosixPath(own).parents)}
    return next(part for part, folders in PARTS.items() if holders & set(folders))


def bars(found: dict[str, Library]) -> list[Requirement]:
    shipped, least = (found[mode] for mode in MODES)
    most = BEFORE + SCHEMAS_MORE_MAX + GRAMMARS_MORE_MAX
    rows = [("library, as shipped", shipped.loaded_bytes, most), ("library, all for size", least.loaded_bytes, most)]
    rows += [
        (f"code of {part} alone, all for size", least.code_bytes[part], bar)
        for part, bar in (("JSON Schemas", SCHEMAS_MORE_MAX), ("grammars", GRAMMARS_MORE_MAX))
    ]
    return [Requirement(what, f"≤ {bar:,} bytes", f"{n:,}", n <= bar, "sizes") for what, n, bar in rows]


def parts_table(found: dict[str, Library]) -> Table:
    shipped, least = (found[mode] for mode in MODES)
    rows = [[part, f"{shipped.code_bytes[part]:,}", f"{least.code_bytes[part]:,}"] for part in PARTS]
    rest = [each.loaded_bytes - sum(each.code_bytes.values()) for each in (shipped, least)]
    rows.append(["constants, tables for unwinding and linking", *(f"{n:,}" for n in rest)])
    rows.append(["all", f"{shipped.loaded_bytes:,}", f"{least.loaded_bytes:,}"])
    return Table(["bytes of", "as shipped", "all for size"], rows)


def peers_table() -> Table:
    rows = []
    for name in PEERS:
        libraries = [each for each in files(name) or [] if ".so" in each.suffixes]
        sizes = [Path(each.locate()).stat().st_size for each in libraries]
        rows.append([f"{name} {version(name)}", f"{sum(sizes):,}"])
    return Table(["its libraries, as installed from its wheel", "bytes"], rows)


def write(found: dict[str, Library]) -> Path:
    use_llama()
    sections = [
        f"# What the bytes of the library are for, {date.today().isoformat()}",
        Table(["", ""], list(map(list, machine.description().items())), n_left=2).markdown(),
        ABOUT.strip(),
        requirements(bars(found)).markdown(),
        parts_table(found).markdown(),
        "## Peers",
        peers_table().markdown(),
    ]
    path = BENCH / "reports" / f"{date.today().isoformat()}-sizes.md"
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return path


ABOUT = """
Made by `python -m bench sizes --report`, for x86-64 Linux. Code is told by the table of lines, so that what is inlined
counts where it was written. The bars are what the library had before there were JSON Schemas, ambiguous grammars, GBNF
and tags, and what each of the two was to add. What came besides (streams with drafts, embeddings, a function for each
of the host's header, budgets, checked files, tables for unwinding) has no bar of its own.
"""
