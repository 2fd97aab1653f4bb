"""libllama, the copy of llama.cpp that models and streams run on: finding it, and loading it at run time."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eliza_inference._library import call, ffi, lib, new_struct
from eliza_inference.errors import AbiMismatchError

__all__ = ["LlamaInfo", "find_llama", "llama_info", "load_llama"]

_FILE_PATTERNS = {"win32": "llama*.dll", "darwin": "libllama*.dylib"}
# How the packages of node-llama-cpp name systems and machines.
_NODE_SYSTEMS = {"win32": "win", "darwin": "mac"}
_NODE_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_LOAD_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class LlamaInfo:
    """The libllama in use."""

    path: str
    version: str
    """What the library says of itself, or "unknown"."""
    layout: str
    """Name of the struct layout in use."""


def load_llama(path: str | os.PathLike[str] | None = None) -> LlamaInfo:
    """Loads libllama for the process, once for all. `Model` calls it, without a path.

    Without `path` these are tried in turn: the copy that was loaded before, the environment variable
    `ELIZA_INFERENCE_LLAMA`, a copy that is already in the process, the folder of the native library, an
    installed `llama_cpp` package, and `node_modules/@node-llama-cpp/*` in the working directory and in
    the folders above it. Raises `AbiMismatchError` if there is none or its version is unknown, and
    `StateError` if `path` is given while another copy is loaded.
    """
    with _LOAD_LOCK:
        if path is not None:
            _load(os.fspath(path))
        elif llama_info() is None:
            _search()
    info = llama_info()
    assert info is not None
    return info


def llama_info() -> LlamaInfo | None:
    """The libllama that is loaded, or None if none is yet."""
    info = new_struct("eliza_llama_info_t")
    if lib.eliza_inference_llama_info(info) < 0:
        return None
    path, version, layout = (ffi.string(text).decode() for text in (info.path, info.version, info.layout))
    return LlamaInfo(path, version, layout)


def find_llama() -> list[Path]:
    """The libllama files of installed packages, best first: `llama_cpp`, then `@node-llama-cpp/*`."""
    pattern = _FILE_PATTERNS.get(sys.platform, "libllama*.so")
    return [file for folder in _package_folders() for file in sorted(folder.glob(pattern)) if _is_llama(file)]


def _load(path: str) -> None:
    encoded = os.fsencode(path)
    call(lib.eliza_inference_llama_load, encoded, len(encoded))


def _search() -> None:
    try:
        _load("")
    except AbiMismatchError as error:
        # A copy that was chosen must not be replaced by another after the caller's back.
        if os.environ.get("ELIZA_INFERENCE_LLAMA"):
            raise AbiMismatchError(f"ELIZA_INFERENCE_LLAMA: {error.message}") from None
        missing = error
    else:
        return
    _load_from_packages(missing)


def _load_from_packages(missing: AbiMismatchError) -> None:
    refused = [missing.message]
    for file in find_llama():
        try:
            _load(str(file))
            return
        except AbiMismatchError as error:
            refused.append(error.message)
    if len(refused) == 1:
        refused.append(
            "no installed package has one either: pip install llama-cpp-python, or npm install "
            f"@node-llama-cpp/{_node_platform()}, or set ELIZA_INFERENCE_LLAMA to the file"
        )
    raise AbiMismatchError("; ".join(refused))


def _package_folders() -> Iterator[Path]:
    # The package is located but not imported: importing it would load its own libllama.
    package = importlib.util.find_spec("llama_cpp")
    for location in (package and package.submodule_search_locations) or ():
        yield Path(location) / "lib"
    working = Path.cwd()
    for folder in (working, *working.parents):
        yield from sorted(folder.glob(f"node_modules/@node-llama-cpp/{_node_platform()}*/bins/*"))


def _node_platform() -> str:
    """This machine, as node-llama-cpp names its packages: "linux-x64"."""
    machine = platform.machine().lower()
    return f"{_NODE_SYSTEMS.get(sys.platform, sys.platform)}-{_NODE_MACHINES.get(machine, machine)}"


def _is_llama(file: Path) -> bool:
    """Tells libllama.so and libllama.v1.2.3.so from libllama-common.so."""
    return file.is_file() and not file.name.removeprefix("lib").removeprefix("llama").startswith("-")
