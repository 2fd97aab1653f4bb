"""The ELF files for Android, read byte by byte: what its loader and its stores ask for."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import lief
import pytest

from release.conftest import ABI, LEGAL, ROOT, Release

ABIS = {
    "arm64-v8a": lief.ELF.ARCH.AARCH64,
    "armeabi-v7a": lief.ELF.ARCH.ARM,
    "x86_64": lief.ELF.ARCH.X86_64,
}
PAGE_BYTES = 16384
ARM64_BYTES_MAX = 1_285_000
"""JSON Schemas take about 320,000 of it, of which conditions that are followed side by side 59,000; tables for crash
reporters 72,000; grammars that are ambiguous, come as GBNF or have schemas in them 73,000; look-around, and masks in
strings by the shapes of tokens, with all else that was added with them, 50,000; tags 46,000; parameters in XML 24,000;
counted repetitions 15,000; checks of files 13,000; drafts and embeddings 12,000; the texts of two grammars to import
10,000; Unicode's properties 9,000."""
TAG = lief.ELF.DynamicEntry.TAG
SEGMENT = lief.ELF.Segment.TYPE

# What `System.loadLibrary` finds in every app: nothing else may be needed.
SYSTEM_LIBRARIES = {"libc.so", "libdl.so"}

# Later than API 24, or what some devices of it lack.
TOO_NEW = {"getauxval", "aligned_alloc", "memfd_create", "pthread_getaffinity_np", "syncfs", "getrandom", "getentropy"}


@pytest.fixture(params=list(ABIS))
def abi(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["libelizainference.so", "libelizainference_jni.so"])
def path(request: pytest.FixtureRequest, release: Release, abi: str) -> Path:
    return release.folder / "android" / "jniLibs" / abi / str(request.param)


@pytest.fixture
def elf(path: Path) -> lief.ELF.Binary:
    binary = lief.ELF.parse(path)
    assert binary is not None
    return binary


def test_it_is_a_shared_library_for_the_processor(elf: lief.ELF.Binary, abi: str) -> None:
    assert elf.header.machine_type == ABIS[abi]
    assert elf.header.file_type == lief.ELF.Header.FILE_TYPE.DYN
    assert elf.interpreter == ""


def test_it_needs_nothing_but_the_c_library(elf: lief.ELF.Binary, path: Path) -> None:
    own = {"libelizainference.so"} if path.name.endswith("_jni.so") else set()
    assert own <= set(elf.libraries) <= SYSTEM_LIBRARIES | own
    assert "libc.so" in elf.libraries


def test_its_name_is_its_soname_and_it_has_no_path_of_the_build(elf: lief.ELF.Binary, path: Path) -> None:
    assert elf[TAG.SONAME].name == path.name  # type: ignore[union-attr]
    assert not elf.has(TAG.RUNPATH) and not elf.has(TAG.RPATH)
    assert b"/zig" not in path.read_bytes() and b"/home" not in path.read_bytes()


def test_segments_fit_pages_of_16_kib(elf: lief.ELF.Binary) -> None:
    loaded = [segment for segment in elf.segments if segment.type == SEGMENT.LOAD]
    assert len(loaded) >= 2
    ends_at_page = 0
    for segment in sorted(loaded, key=lambda segment: segment.virtual_address):
        assert segment.alignment % PAGE_BYTES == 0
        assert (segment.virtual_address - segment.file_offset) % PAGE_BYTES == 0
        assert segment.virtual_address // PAGE_BYTES >= ends_at_page, "two segments share a page"
        ends_at_page = -(-(segment.virtual_address + segment.virtual_size) // PAGE_BYTES)


def test_no_segment_is_both_written_and_executed(elf: lief.ELF.Binary) -> None:
    flag = lief.ELF.Segment.FLAGS
    for segment in elf.segments:
        assert not (segment.has(flag.W) and segment.has(flag.X)), segment.type
    stack = [segment for segment in elf.segments if segment.type == SEGMENT.GNU_STACK]
    assert len(stack) == 1 and not stack[0].has(flag.X)
    assert any(segment.type == SEGMENT.GNU_RELRO for segment in elf.segments)


def test_no_text_is_relocated(elf: lief.ELF.Binary) -> None:
    assert not elf.has(TAG.TEXTREL)
    writable = [
        (segment.virtual_address, segment.virtual_address + segment.virtual_size)
        for segment in elf.segments
        if segment.type == SEGMENT.LOAD and segment.has(lief.ELF.Segment.FLAGS.W)
    ]
    relocations = list(elf.dynamic_relocations) + list(elf.pltgot_relocations)
    assert relocations
    for relocation in relocations:
        assert any(start <= relocation.address < end for start, end in writable), hex(relocation.address)


def test_no_thread_local_storage(elf: lief.ELF.Binary) -> None:
    assert not any(segment.type == SEGMENT.TLS for segment in elf.segments)
    assert not any(symbol.type == lief.ELF.Symbol.TYPE.TLS for symbol in elf.dynamic_symbols)
    assert not any("tls" in symbol.name for symbol in elf.imported_symbols)


def test_both_hash_tables_are_there(elf: lief.ELF.Binary) -> None:
    assert elf.has(TAG.HASH) and elf.has(TAG.GNU_HASH)


def test_imports_are_versioned_as_in_bionic_and_old_enough(elf: lief.ELF.Binary) -> None:
    undefined = [symbol for symbol in elf.dynamic_symbols if symbol.name and symbol.shndx == 0]
    assert undefined
    for symbol in undefined:
        if str(symbol.name).startswith("eliza_inference_"):
            continue
        assert symbol.name not in TOO_NEW
        version = symbol.symbol_version
        assert version is not None and version.symbol_version_auxiliary is not None, symbol.name
        assert version.symbol_version_auxiliary.name == "LIBC", symbol.name


def test_it_exports_the_header_and_nothing_else(elf: lief.ELF.Binary, path: Path) -> None:
    exported = {symbol.name for symbol in elf.exported_symbols}
    assert exported == ({"JNI_OnLoad", "JNI_OnUnload"} if path.name.endswith("_jni.so") else DECLARED)


def test_debug_information_is_stripped(elf: lief.ELF.Binary) -> None:
    assert not any(str(section.name).startswith(".debug") or section.name == ".symtab" for section in elf.sections)


def test_the_library_for_arm64_is_small(release: Release) -> None:
    size = (release.folder / "android" / "jniLibs" / "arm64-v8a" / "libelizainference.so").stat().st_size
    assert size <= ARM64_BYTES_MAX


def test_the_second_name_is_all_that_differs(release: Release, abi: str) -> None:
    """For apps that have the host's library, whose file has the first name."""
    first = release.folder / "android" / "jniLibs" / abi / "libelizainference.so"
    second = release.folder / "android" / "second-name" / abi / "libelizaconstrain.so"
    elf = lief.ELF.parse(second)
    assert elf is not None
    assert elf[TAG.SONAME].name == "libelizaconstrain.so"  # type: ignore[union-attr]
    assert second.read_bytes().replace(b"libelizaconstrain.so", b"libelizainference.so") == first.read_bytes()


# Of the host's header; they read nothing there.
TAKE_A_FLOAT = {"eliza_inference_kokoro_synthesize", "eliza_inference_kokoro_synthesize_ipa"}


def test_no_float_is_passed_by_value() -> None:
    """On 32-bit ARM the two sides would pass it differently."""
    for function in ABI["functions"] + ABI["callbacks"]:
        if function["name"] in TAKE_A_FLOAT:
            continue
        passed = [function["returns"], *function["parameters"]]
        assert not any(entry["ffi"] == "f32" for entry in passed), function["name"]


def test_the_archive_holds_what_gradle_looks_for(release: Release) -> None:
    with zipfile.ZipFile(release.folder / "android" / f"elizainference-{release.version}.aar") as aar:
        assert aar.testzip() is None
        names = set(aar.namelist())
        module = "prefab/modules/elizainference"
        assert {"AndroidManifest.xml", "classes.jar", "R.txt", "proguard.txt", "prefab/prefab.json"} <= names
        assert aar.read(f"{module}/include/eliza_inference.h") == HEADER.read_bytes()
        for abi in ABIS:
            core = (release.folder / "android" / "jniLibs" / abi / "libelizainference.so").read_bytes()
            assert aar.read(f"jni/{abi}/libelizainference.so") == core
            assert aar.read(f"{module}/libs/android.{abi}/libelizainference.so") == core
            assert f"jni/{abi}/libelizainference_jni.so" in names
        assert {name: aar.read(name) for name in LEGAL} == LEGAL


HEADER = ROOT / "native" / "include" / "eliza_inference.h"
DECLARED = {function["name"] for function in ABI["functions"]}


def test_the_maven_repository_has_the_archive(release: Release) -> None:
    name = f"elizainference-{release.version}"
    folder = release.folder / "maven" / "eliza" / "inference" / "elizainference" / release.version
    assert (folder / f"{name}.aar").read_bytes() == (release.folder / "android" / f"{name}.aar").read_bytes()
    project = ElementTree.fromstring((folder / f"{name}.pom").read_text("utf-8"))
    fields = {element.tag.rpartition("}")[2]: element.text for element in project}
    assert fields == {
        "modelVersion": "4.0.0",
        "groupId": "eliza.inference",
        "artifactId": "elizainference",
        "version": release.version,
        "packaging": "aar",
    }
