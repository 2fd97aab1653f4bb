"""What debuggers and crash reporters need of a library: an id, its code with names and lines, tables to unwind by."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import lief
import pytest

from release.conftest import Release
from release.machines import MACHINES, Machine, Programs

HERE = Path(__file__).parent
ELF = {
    **{f"lib/{name}/libelizainference.so": name for name in ("linux-x64", "linux-arm64")},
    **{f"lib/{name}/libelizainference.so": name for name in ("linux-x64-musl", "linux-arm64-musl")},
    **{
        f"android/jniLibs/{abi}/{name}": f"android/{abi}"
        for abi in ("arm64-v8a", "armeabi-v7a", "x86_64")
        for name in ("libelizainference.so", "libelizainference_jni.so")
    },
}
SHA1_BYTES = 20


@pytest.mark.parametrize("path", list(ELF))
def test_symbols_of_elf_are_of_the_same_build_and_the_same_code(release: Release, path: str) -> None:
    shipped, whole = elf(release.folder / path), elf(symbols_of(release, path))
    assert len(build_id(shipped)) == SHA1_BYTES
    assert build_id(whole) == build_id(shipped)
    assert {".debug_info", ".debug_line", ".symtab"} <= {str(section.name) for section in whole.sections}
    loaded, behind_the_head = lief.ELF.Segment.TYPE.LOAD, 64
    segments = [[each for each in binary.segments if each.type == loaded] for binary in (shipped, whole)]
    for one, other in zip(*segments, strict=True):
        assert (one.virtual_address, one.virtual_size) == (other.virtual_address, other.virtual_size)
        start = behind_the_head if one.file_offset == 0 else 0
        assert bytes(one.content[start:]) == bytes(other.content[start:])


@pytest.mark.parametrize("platform", ["darwin-x64", "darwin-arm64"])
def test_symbols_of_a_mac_are_of_the_same_build(release: Release, platform: str) -> None:
    library = macho(release.folder / "lib" / platform / "libelizainference.dylib")
    symbols = macho(mac_symbols(release, platform))
    assert symbols.header.file_type == lief.MachO.Header.FILE_TYPE.DSYM
    assert library.uuid is not None and symbols.uuid is not None
    assert bytes(library.uuid.uuid) == bytes(symbols.uuid.uuid)


@pytest.mark.parametrize("platform", ["win32-x64", "win32-arm64"])
def test_symbols_of_windows_are_of_the_same_build(release: Release, platform: str) -> None:
    pe = lief.PE.parse(release.folder / "lib" / platform / "elizainference.dll")
    assert pe is not None
    [entry] = [entry for entry in pe.debug if isinstance(entry, lief.PE.CodeViewPDB)]
    assert entry.filename == "elizainference.pdb"
    described = subprocess.run(
        ["llvm-pdbutil", "dump", "--summary", release.folder / "symbols" / platform / "elizainference.pdb"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert re.search(r"GUID: \{([0-9A-F-]+)\}", described)[1].lower() == entry.guid.lower()  # type: ignore[index]


def symbol_files() -> list[str]:
    return [*ELF, *(f"lib/{name}/libelizainference.dylib" for name in ("darwin-x64", "darwin-arm64"))]


@pytest.mark.parametrize("path", symbol_files())
def test_an_address_is_found_in_the_sources(release: Release, path: str) -> None:
    """As a crash report has it: of the library that runs, looked up in its symbols."""
    name, place = "eliza_inference_matcher_accept", r"shell/abi/matcher\.zig:(\d+)"
    if path.endswith("_jni.so"):
        name, place = "JNI_OnLoad", r"android/jni/bridge\.zig:(\d+)"
    binary = lief.parse(release.folder / path)
    assert isinstance(binary, (lief.ELF.Binary, lief.MachO.Binary))
    address = binary.get_function_address(name if path.endswith(".so") else f"_{name}")
    assert isinstance(address, int)
    symbols = symbols_of(release, path) if path.endswith(".so") else mac_symbols(release, path.split("/")[1])
    if "armeabi" in path:
        address &= ~1  # an odd address is Thumb code
    command = ["llvm-symbolizer", f"--obj={symbols}", hex(address)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert name in told
    found = re.search(place, told)
    assert found is not None and int(found[1]) > 0, told


def test_gdb_finds_symbols_by_the_build_id(release: Release, tmp_path: Path) -> None:
    """In the folder where distributions keep them."""
    path = "lib/linux-x64/libelizainference.so"
    shipped = build_id(elf(release.folder / path)).hex()
    (tmp_path / ".build-id" / shipped[:2]).mkdir(parents=True)
    shutil.copy(symbols_of(release, path), tmp_path / ".build-id" / shipped[:2] / f"{shipped[2:]}.debug")
    commands = [f"set debug-file-directory {tmp_path}", f"file {release.folder / path}"]
    commands.append("info line eliza_inference_matcher_accept")
    options = [part for command in commands for part in ("-ex", command)]
    told = subprocess.run(["gdb", "-nx", "-batch", *options], check=True, capture_output=True, text=True).stdout
    assert re.search(r'Line \d+ of ".*matcher\.zig" starts at address', told), told


# Where the C library of the program can walk a stack; 32-bit ARM has tables of another kind.
UNWINDING = [machine for machine in MACHINES if re.match(r"(x86_64|aarch64)-linux-gnu", machine.triple)]


@pytest.mark.parametrize("machine", UNWINDING, ids=lambda machine: machine.name)
def test_a_stack_is_walked_through_the_library(release: Release, tmp_path: Path, machine: Machine) -> None:
    programs = Programs(machine, release, tmp_path)
    result = programs.run(programs.compile("unwind", HERE / "unwind.c"))
    assert (result.returncode, result.stdout) == (0, "4 forced, the caller was reached\n"), result.stderr


def test_32_bit_arm_has_its_own_tables(release: Release) -> None:
    binary = elf(release.folder / "android/jniLibs/armeabi-v7a/libelizainference.so")
    [index] = [segment for segment in binary.segments if segment.type == lief.ELF.Segment.TYPE.ARM_EXIDX]
    cannot_unwind = 1
    entries = bytes(index.content)
    rules = [int.from_bytes(entries[at + 4 : at + 8], "little") for at in range(0, len(entries), 8)]
    assert len(rules) > 1000
    assert sum(rule == cannot_unwind for rule in rules) < len(rules) / 10


def symbols_of(release: Release, path: str) -> Path:
    return release.folder / "symbols" / ELF[path] / Path(path).name


def mac_symbols(release: Release, platform: str) -> Path:
    bundle = release.folder / "symbols" / platform / "libelizainference.dylib.dSYM"
    return bundle / "Contents" / "Resources" / "DWARF" / "libelizainference.dylib"


def elf(path: Path) -> lief.ELF.Binary:
    binary = lief.ELF.parse(path)
    assert binary is not None
    return binary


def macho(path: Path) -> lief.MachO.Binary:
    universal = lief.MachO.parse(path)
    assert universal is not None
    binary = universal.at(0)
    assert binary is not None
    return binary


def build_id(binary: lief.ELF.Binary) -> bytes:
    [note] = [note for note in binary.notes if note.type == lief.ELF.Note.TYPE.GNU_BUILD_ID]
    return bytes(note.description)
