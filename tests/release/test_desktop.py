"""The manifest, the libraries for desktops, and find_package."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path

import lief
import pytest

from release.conftest import LEGAL, ROOT, Release

GLIBC_MAX = (2, 17)
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.16)
project(example {languages})
find_package(elizainference {version} REQUIRED)
get_target_property(location elizainference::elizainference IMPORTED_LOCATION)
message(STATUS "found ${{location}}")
{rest}
"""


def test_the_manifest_tells_every_file_and_nothing_else(release: Release) -> None:
    found = {str(path.relative_to(release.folder)) for path in release.folder.rglob("*") if path.is_file()}
    assert found == {*release.files, "manifest.json", "SHA256SUMS"}
    for path, file in release.files.items():
        content = file.path.read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256), path


def test_the_release_brings_the_licences(release: Release) -> None:
    assert {name: release.files[name].path.read_bytes() for name in LEGAL} == LEGAL


def test_there_is_a_library_for_every_platform(release: Release) -> None:
    assert {path: file.target for path, file in release.libraries().items()} == {
        "lib/linux-x64/libelizainference.so": "x86_64-linux-gnu.2.17",
        "lib/linux-arm64/libelizainference.so": "aarch64-linux-gnu.2.17",
        "lib/linux-x64-musl/libelizainference.so": "x86_64-linux-musl",
        "lib/linux-arm64-musl/libelizainference.so": "aarch64-linux-musl",
        "lib/darwin-x64/libelizainference.dylib": "x86_64-macos.11.0",
        "lib/darwin-arm64/libelizainference.dylib": "aarch64-macos.11.0",
        "lib/win32-x64/elizainference.dll": "x86_64-windows-gnu",
        "lib/win32-arm64/elizainference.dll": "aarch64-windows-gnu",
        "android/jniLibs/arm64-v8a/libelizainference.so": "aarch64-linux-android.24",
        "android/jniLibs/armeabi-v7a/libelizainference.so": "arm-linux-android.24",
        "android/jniLibs/x86_64/libelizainference.so": "x86_64-linux-android.24",
    }


def test_the_manifest_tells_what_is_exported(release: Release) -> None:
    for path, file in [*release.libraries().items(), *release.libraries("elizainference_jni").items()]:
        assert file.exports == sorted(exported_names(file.path)), path


def test_the_version_is_that_of_the_build(release: Release) -> None:
    assert f'.version = "{release.version}"' in (ROOT / "build.zig.zon").read_text("utf-8")
    assert f'version = "{release.version}"' in (ROOT / "bindings-rust/Cargo.toml").read_text("utf-8"), "cargo needs it"
    for name in ("bindings-python/pyproject.toml", "bindings-ts/package.json", "native/src"):
        path = ROOT / name
        files = path.rglob("*.zig") if path.is_dir() else [path]
        assert not any(f'"{release.version}"' in file.read_text("utf-8") for file in files), "a second version number"
    assert f"## {release.version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("platform", ["linux-x64", "linux-arm64"])
def test_linux_libraries_run_on_glibc_2_17(release: Release, platform: str) -> None:
    elf = lief.ELF.parse(release.folder / "lib" / platform / "libelizainference.so")
    assert elf is not None
    of_glibc = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert set(elf.libraries) <= of_glibc
    for requirement in elf.symbols_version_requirement:
        for version in requirement.get_auxiliary_symbols():
            numbers = tuple(int(part) for part in re.findall(r"\d+", str(version.name)))
            assert numbers[:2] <= GLIBC_MAX, version.name


def test_elf_libraries_are_hardened(release: Release) -> None:
    """Position-independent, no page both written and executed, and what the loader writes read-only afterwards."""
    elves = [lief.ELF.parse(file.path) for file in release.files.values() if file.target and file.path.suffix == ".so"]
    assert len(elves) == 13
    kinds, tags = lief.ELF.Segment.TYPE, lief.ELF.DynamicEntry.TAG
    for elf in elves:
        assert elf is not None
        assert elf.header.file_type == lief.ELF.Header.FILE_TYPE.DYN
        assert not elf.has(tags.TEXTREL)
        now = elf[tags.FLAGS]
        assert isinstance(now, lief.ELF.DynamicEntryFlags) and now.has(lief.ELF.DynamicEntryFlags.FLAG.BIND_NOW)
        assert any(segment.type == kinds.GNU_RELRO for segment in elf.segments)
        [stack] = [segment for segment in elf.segments if segment.type == kinds.GNU_STACK]
        assert not stack.has(lief.ELF.Segment.FLAGS.X)
        for segment in elf.segments:
            assert not (segment.has(lief.ELF.Segment.FLAGS.W) and segment.has(lief.ELF.Segment.FLAGS.X))


@pytest.mark.parametrize("platform", ["darwin-x64", "darwin-arm64"])
def test_macos_libraries_can_be_moved_and_are_signed_where_they_must_be(release: Release, platform: str) -> None:
    universal = lief.MachO.parse(release.folder / "lib" / platform / "libelizainference.dylib")
    assert universal is not None
    macho = universal.at(0)
    assert macho is not None
    names = [library.name for library in macho.libraries]
    assert names == ["@rpath/libelizainference.dylib", "/usr/lib/libSystem.B.dylib"]
    assert macho.build_version is not None
    assert macho.build_version.minos == [11, 0, 0]
    assert macho.has_code_signature or platform == "darwin-x64"


@pytest.mark.parametrize("platform", ["win32-x64", "win32-arm64"])
def test_windows_libraries_need_the_system_alone(release: Release, platform: str) -> None:
    folder = release.folder / "lib" / platform
    pe = lief.PE.parse(folder / "elizainference.dll")
    assert pe is not None
    system = re.compile(r"kernel32\.dll|ntdll\.dll|api-ms-win-crt-[\w-]+\.dll", re.IGNORECASE)
    for library in pe.imports:
        assert system.fullmatch(str(library.name)), library.name
    assert (folder / "elizainference.lib").read_bytes().startswith(b"!<arch>\n")


@pytest.mark.parametrize("platform", ["win32-x64", "win32-arm64"])
def test_windows_libraries_lie_anywhere_in_memory_and_data_is_no_code(release: Release, platform: str) -> None:
    pe = lief.PE.parse(release.folder / "lib" / platform / "elizainference.dll")
    assert pe is not None
    found = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    for wanted in (found.DYNAMIC_BASE, found.HIGH_ENTROPY_VA, found.NX_COMPAT):
        assert pe.optional_header.has(wanted), wanted


@pytest.mark.parametrize("platform", ["win32-x64", "win32-arm64"])
def test_windows_shows_the_version(release: Release, platform: str) -> None:
    pe = lief.PE.parse(release.folder / "lib" / platform / "elizainference.dll")
    assert pe is not None and isinstance(pe.resources_manager, lief.PE.ResourcesManager)
    [resource] = pe.resources_manager.version
    numbers = resource.file_info
    found = (numbers.file_version_ms >> 16, numbers.file_version_ms & 0xFFFF, numbers.file_version_ls >> 16)
    assert ".".join(map(str, found)) == release.version
    assert resource.string_file_info is not None
    [table] = resource.string_file_info.children
    texts = {entry.key: entry.value for entry in table.entries}
    assert texts["OriginalFilename"] == "elizainference.dll"
    assert texts["FileVersion"] == texts["ProductVersion"] == release.version


def test_no_library_names_a_folder_of_the_build(release: Release) -> None:
    for path, file in release.libraries().items():
        assert str(ROOT).encode() not in file.path.read_bytes(), path


@pytest.mark.parametrize("platform", ["linux-x64", "linux-arm64-musl", "darwin-universal"])
def test_pkg_config_finds_a_library(release: Release, platform: str) -> None:
    folder = release.folder / "lib" / platform
    command = ["pkg-config", "--cflags", "--libs", "elizainference"]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder / "pkgconfig")}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    include, search, library = result.stdout.split()
    assert Path(include.removeprefix("-I")).resolve() == (release.folder / "include").resolve()
    assert Path(search.removeprefix("-L")).resolve() == folder.resolve()
    assert library == "-lelizainference"


def test_find_package_links_a_program(release: Release, tmp_path: Path) -> None:
    example = ROOT / "examples" / "c" / "router.c"
    rest = f'add_executable(example "{example}")\ntarget_link_libraries(example elizainference::elizainference)'
    result = cmake(tmp_path, release, "C", rest, [])
    assert result.returncode == 0, result.stderr
    subprocess.run(["cmake", "--build", tmp_path / "build"], check=True, capture_output=True)
    output = subprocess.run([tmp_path / "build" / "example"], check=True, capture_output=True, text=True).stdout
    assert output == "SEND_MAIL after 1 pass\n"


@pytest.mark.parametrize("abi", ["arm64-v8a", "armeabi-v7a", "x86_64"])
def test_find_package_finds_the_library_of_an_android_abi(release: Release, tmp_path: Path, abi: str) -> None:
    result = cmake(tmp_path, release, "NONE", "", ["-DANDROID=1", f"-DANDROID_ABI={abi}"])
    assert result.returncode == 0, result.stderr
    assert f"found {release.folder}/android/jniLibs/{abi}/libelizainference.so" in result.stdout


@pytest.mark.parametrize(
    ("system", "sdk", "path"),
    [
        ("iOS", "iPhoneOS.sdk", "ios-arm64/libelizainference.a"),
        ("iOS", "iPhoneSimulator.sdk", "ios-arm64_x86_64-simulator/libelizainference.a"),
        ("Darwin", "MacOSX.sdk", "lib/darwin-universal/libelizainference.dylib"),
    ],
)
def test_find_package_finds_what_xcode_builds_for(
    release: Release, tmp_path: Path, system: str, sdk: str, path: str
) -> None:
    (tmp_path / sdk).mkdir()
    options = {
        "CMAKE_SYSTEM_NAME": system,
        "CMAKE_SYSTEM_PROCESSOR": "arm64",
        "CMAKE_OSX_SYSROOT": tmp_path / sdk,
        "CMAKE_OSX_ARCHITECTURES": "arm64;x86_64",
        "elizainference_DIR": release.folder / "lib/cmake/elizainference",
    }
    result = cmake(tmp_path, release, "NONE", "", [f"-D{name}={value}" for name, value in options.items()])
    assert result.returncode == 0, result.stderr
    [found] = re.findall("found (.*)", result.stdout)
    assert found.startswith(str(release.folder))
    assert found.endswith(path)


def test_find_package_refuses_a_system_that_a_release_has_nothing_for(release: Release, tmp_path: Path) -> None:
    options = ["-DCMAKE_SYSTEM_NAME=FreeBSD", "-DCMAKE_SYSTEM_PROCESSOR=x86_64"]
    result = cmake(tmp_path, release, "NONE", "", options)
    assert result.returncode != 0
    assert "no library for this platform" in " ".join(result.stderr.split())


def test_find_package_says_what_a_release_lacks(release: Release, tmp_path: Path) -> None:
    result = cmake(tmp_path, release, "NONE", "", ["-DANDROID=1", "-DANDROID_ABI=riscv64"])
    assert result.returncode != 0
    assert "no library for this platform" in " ".join(result.stderr.split())
    result = cmake(tmp_path / "newer", release, "NONE", "", [], version="99.0")
    assert result.returncode != 0
    assert "99.0" in result.stderr


def cmake(
    folder: Path, release: Release, languages: str, rest: str, options: list[str], version: str = ""
) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    version = version or release.version
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS.format(languages=languages, version=version, rest=rest))
    folders = ["-S", str(folder), "-B", str(folder / "build"), f"-DCMAKE_PREFIX_PATH={release.folder}"]
    return subprocess.run(["cmake", *folders, *options], capture_output=True, text=True)


def exported_names(path: Path) -> list[str]:
    """Read by another program than the one that wrote the manifest."""
    binary = lief.parse(path)
    if isinstance(binary, lief.ELF.Binary):
        return [str(symbol.name) for symbol in binary.exported_symbols]
    if isinstance(binary, lief.MachO.Binary):
        return [str(symbol.name).removeprefix("_") for symbol in binary.exported_symbols]
    assert isinstance(binary, lief.PE.Binary)
    exports = binary.get_export()
    assert exports is not None
    return [str(entry.name) for entry in exports.entries]
