"""What Xcode takes, read as its tools would; nothing of Apple's runs here."""

from __future__ import annotations

import io
import plistlib

import lief
import pytest

from release.conftest import ABI, LEGAL, ROOT, Release

FRAMEWORK = "apple/CElizaInference.xcframework"
PLATFORM = lief.MachO.BuildVersion.PLATFORMS
CPU = lief.MachO.Header.CPU_TYPE

# What a slice is for: the platform of its objects and the oldest system.
SLICES = {
    "ios-arm64": (PLATFORM.IOS, [15, 0, 0]),
    "ios-arm64_x86_64-simulator": (PLATFORM.IOS_SIMULATOR, [15, 0, 0]),
    "macos-arm64_x86_64": (PLATFORM.MACOS, [11, 0, 0]),
}

# Declared in Apple's public headers, or helpers that its compiler calls and its linker brings.
PUBLIC = set(
    """__dyld_get_image_name __dyld_image_count _bzero ___bzero _calloc _clock_gettime _close _closedir _dladdr
    _dlclose _dlerror _dlopen _dlsym _fclose _fopen _fread _free _fwrite _getenv _getpid _lseek _malloc
    _malloc_size _memcpy _memmove _memset _memset_pattern16 _mmap _munmap _open _opendir _os_unfair_lock_lock
    _os_unfair_lock_unlock _posix_memalign _pthread_attr_destroy _pthread_attr_init _pthread_attr_setguardsize
    _pthread_attr_setstacksize _pthread_create _pthread_join _pthread_self _readdir _readdir$INODE64 _realloc _rename
    _strlen _sysctlbyname _unlink ___error ___ashlti3 ___divti3 ___modti3 ___udivti3 ___umodti3""".split()
)


@pytest.fixture(params=list(SLICES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_frameworks_list_is_what_lies_there(release: Release) -> None:
    information = plistlib.loads((release.folder / FRAMEWORK / "Info.plist").read_bytes())
    assert (information["CFBundlePackageType"], information["XCFrameworkFormatVersion"]) == ("XFWK", "1.0")
    assert {library["LibraryIdentifier"] for library in information["AvailableLibraries"]} == set(SLICES)
    for library in information["AvailableLibraries"]:
        folder = release.folder / FRAMEWORK / library["LibraryIdentifier"]
        found = architectures((folder / library["LibraryPath"]).read_bytes())
        assert sorted(found) == sorted(library["SupportedArchitectures"])
        header = folder / library["HeadersPath"] / "eliza_inference.h"
        assert header.read_bytes() == (ROOT / "native/include/eliza_inference.h").read_bytes()
        assert 'header "eliza_inference.h"' in (header.parent / "module.modulemap").read_text()
        variant = library.get("SupportedPlatformVariant", "device")
        assert (variant == "simulator") == ("simulator" in library["LibraryIdentifier"])


def test_the_framework_brings_the_licences(release: Release) -> None:
    assert {name: (release.folder / FRAMEWORK / name).read_bytes() for name in LEGAL} == LEGAL


def test_objects_name_their_functions_and_can_be_unwound(release: Release, name: str) -> None:
    """The app's linker puts both into the app, and its own tools into the app's symbols."""
    for macho in objects((release.folder / FRAMEWORK / name / "libelizainference.a").read_bytes()):
        assert any("recognizer.state" in str(symbol.name) for symbol in macho.symbols)
        assert {"__compact_unwind"} <= {str(section.name) for section in macho.sections}


def test_objects_are_for_their_platform_and_export_the_header(release: Release, name: str) -> None:
    for macho in objects((release.folder / FRAMEWORK / name / "libelizainference.a").read_bytes()):
        assert macho.build_version is not None
        assert (macho.build_version.platform, macho.build_version.minos) == SLICES[name]
        defined = {str(symbol.name) for symbol in macho.symbols if is_global(symbol) and not is_undefined(symbol)}
        assert {f"_{function['name']}" for function in ABI["functions"]} <= defined


def test_no_symbol_is_private(release: Release, name: str) -> None:
    for macho in objects((release.folder / FRAMEWORK / name / "libelizainference.a").read_bytes()):
        assert {str(symbol.name) for symbol in macho.symbols if is_undefined(symbol)} <= PUBLIC


def test_the_library_for_both_processors_is_the_two(release: Release) -> None:
    joined = architectures((release.folder / "lib/darwin-universal/libelizainference.dylib").read_bytes())
    assert joined == {
        architecture: (release.folder / f"lib/darwin-{folder}/libelizainference.dylib").read_bytes()
        for architecture, folder in {"arm64": "arm64", "x86_64": "x64"}.items()
    }


def architectures(file: bytes) -> dict[str, bytes]:
    """The parts of a file for several processors, or the file."""
    names = {CPU.ARM64: "arm64", CPU.X86_64: "x86_64"}
    if not file.startswith(b"\xca\xfe\xba\xbe"):
        return {names[macho.header.cpu_type]: file for macho in objects(file)}
    found = {}
    for i in range(int.from_bytes(file[4:8], "big")):
        entry = file[8 + 20 * i :][:20]
        processor, _, offset, size, alignment = (int.from_bytes(entry[at : at + 4], "big") for at in range(0, 20, 4))
        assert offset % (1 << alignment) == 0
        found[names[CPU(processor)]] = file[offset : offset + size]
    return found


def objects(file: bytes) -> list[lief.MachO.Binary]:
    """Those of an archive, or of the archives for several processors."""
    if file.startswith(b"\xca\xfe\xba\xbe"):
        return [macho for part in architectures(file).values() for macho in objects(part)]
    archive, found = io.BytesIO(file), []
    assert archive.read(8) == b"!<arch>\n"
    while header := archive.read(60):
        label, size = header[:16].decode().strip(), int(header[48:58])
        extended = int(label.removeprefix("#1/")) if label.startswith("#1/") else 0
        label = archive.read(extended).rstrip(b"\0").decode() if extended else label
        content = archive.read(size - extended)
        archive.read(size % 2)
        if not label.startswith("__.SYMDEF"):
            universal = lief.MachO.parse(content)
            assert universal is not None, label
            macho = universal.at(0)
            assert macho is not None
            found.append(macho)
    return found


def is_undefined(symbol: lief.MachO.Symbol) -> bool:
    return symbol.type == lief.MachO.Symbol.TYPE.UNDEFINED


def is_global(symbol: lief.MachO.Symbol) -> bool:
    return bool(symbol.raw_type & 1)
