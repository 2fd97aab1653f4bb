"""The native library: finding it, calling it, and turning its statuses into exceptions.

`lib.eliza_inference_...` are the functions of the C header. The file is opened when one is first used, so
that the package can be imported, and `eliza-inference doctor` can run, without it.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eliza_inference._abi import ffi
from eliza_inference._constants import constant
from eliza_inference.errors import ElizaError, LibraryError, OutOfMemoryError, error_from_status

__all__ = [
    "CData",
    "call",
    "create",
    "ffi",
    "kept_alive_by",
    "lent_text",
    "lib",
    "library_path",
    "library_version",
    "new_struct",
]

CData = Any
"""A value of cffi; it has no useful static type."""

_LOGGER = logging.getLogger("eliza_inference")
_LOGGER.addHandler(logging.NullHandler())
_LOG_LEVELS = {
    constant("ELIZA_LOG_ERROR"): logging.ERROR,
    constant("ELIZA_LOG_WARN"): logging.WARNING,
    constant("ELIZA_LOG_INFO"): logging.INFO,
}
_ABI_VERSION = constant("ELIZA_INFERENCE_ABI_VERSION")


def library_path() -> Path:
    """The path of the native library: the environment variable `ELIZA_INFERENCE_LIBRARY`, or the file inside
    this package."""
    override = os.environ.get("ELIZA_INFERENCE_LIBRARY")
    if override:
        return Path(override)
    names = {"win32": "elizainference.dll", "darwin": "libelizainference.dylib"}
    return Path(__file__).parent / "native" / names.get(sys.platform, "libelizainference.so")


def library_version() -> str:
    """The version of the native library, such as "1.2.3"."""
    return str(ffi.string(lib.eliza_inference_version()).decode())


def call(function: Callable[..., int], *arguments: Any) -> int:
    """Calls a function whose last parameter is `char **out_error`; raises a negative status, else returns it."""
    out_error = ffi.new("char **")
    status = function(*arguments, out_error)
    if status < 0:
        raise take_error(out_error, status)
    return status


def create(function: Callable[..., CData], *arguments: Any) -> CData:
    """Calls a function whose last parameter is `char **out_error` and that returns a pointer; raises if that is
    NULL."""
    out_error = ffi.new("char **")
    pointer = function(*arguments, out_error)
    if not pointer:
        raise take_error(out_error, lib.eliza_inference_error_status(out_error[0]))
    return pointer


def take_error(out_error: CData, status: int) -> ElizaError:
    """The exception for a failed call; reads and frees its message. Without a message, memory ran out."""
    if not out_error[0]:
        return OutOfMemoryError("out of memory")
    try:
        return error_from_status(status, ffi.string(out_error[0]).decode("utf-8", "replace"))
    finally:
        lib.eliza_inference_free_string(out_error[0])


def new_struct(name: str) -> CData:
    """A zeroed struct of the library, with its `struct_size` set."""
    pointer_type, size = _struct_type(name)
    struct = ffi.new(pointer_type)
    struct.struct_size = size
    return struct


@functools.cache
def _struct_type(name: str) -> tuple[CData, int]:
    return ffi.typeof(f"{name} *"), ffi.sizeof(name)


def lent_text(pointer: CData, length: int) -> str | None:
    """Copies text that the library lends; None for a NULL pointer."""
    return str(ffi.buffer(pointer, length)[:].decode("utf-8", "replace")) if pointer else None


def kept_alive_by(owner: object, pointer: CData) -> CData:
    """A pointer to memory that the owner lends, which keeps the owner alive."""
    return ffi.gc(pointer, _Owner(owner))


class _Owner:
    """A destructor that frees nothing, and holds the owner."""

    def __init__(self, owner: object) -> None:
        self._owner = owner

    def __call__(self, _pointer: CData) -> None:
        pass


class _Library:
    """Opens the library at the first function and keeps each function as an attribute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: Any = None

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("eliza_", "llama_")):
            raise AttributeError(name)
        with self._lock:
            if self._opened is None:
                self._opened = _open(library_path())
        try:
            function = getattr(self._opened, name)
        except (AttributeError, ffi.error):
            raise LibraryError(f"{library_path()}: this build has no function {name}") from None
        setattr(self, name, function)
        return function


def _open(path: Path) -> Any:
    try:
        # Objects may still be freed while the interpreter goes down: the library is never unloaded.
        opened = ffi.dlopen(str(path), ffi.RTLD_NOW | getattr(ffi, "RTLD_NODELETE", 0))
        found = ffi.string(opened.eliza_inference_abi_version()).decode()
    except (OSError, AttributeError, ffi.error) as error:
        from eliza_inference._load_advice import load_advice  # here, since importing it takes a while

        advice = load_advice(path, str(error))
        raise LibraryError(f"{path}: not a usable libelizainference: {error}{advice}") from error
    if found != str(_ABI_VERSION):
        raise LibraryError(f"{path}: ABI version {found}, this package needs {_ABI_VERSION}")
    opened.eliza_inference_set_log_callback(_log, ffi.NULL)
    atexit.register(opened.eliza_inference_set_log_callback, ffi.NULL, ffi.NULL)
    return opened


@ffi.callback("eliza_log_callback")  # type: ignore[untyped-decorator]
def _log(level: int, message: CData, length: int, _user_data: CData) -> None:
    text = ffi.buffer(message, length)[:].decode("utf-8", "replace")
    _LOGGER.log(_LOG_LEVELS.get(level, logging.INFO), "%s", text)


lib = _Library()
