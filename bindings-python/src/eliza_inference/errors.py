"""The exceptions of this package: one for each status of the C library.

Each derives from `ElizaError` and, where one fits, from a built-in exception, so that code which knows
nothing of this package still catches it (`except ValueError`).
"""

from __future__ import annotations

from eliza_inference._constants import constant
from eliza_inference._named import NamedInt

__all__ = [
    "AbiMismatchError",
    "BusyError",
    "CancelledError",
    "ClosedError",
    "ContextFullError",
    "ElizaError",
    "FileInvalidError",
    "GrammarError",
    "InvalidArgumentError",
    "LibraryError",
    "LimitError",
    "LlamaError",
    "ModelFileError",
    "ModelMismatchError",
    "OutOfMemoryError",
    "PayloadError",
    "SlotFileError",
    "StateError",
    "Status",
    "UnknownPathError",
    "UnsupportedError",
]


class Status(NamedInt):
    """The status codes of the C library."""

    OK = constant("ELIZA_OK")
    UNSUPPORTED = constant("ELIZA_ERR_UNSUPPORTED")
    INVALID_ARG = constant("ELIZA_ERR_INVALID_ARG")
    BUNDLE_INVALID = constant("ELIZA_ERR_BUNDLE_INVALID")
    FFI_FAULT = constant("ELIZA_ERR_FFI_FAULT")
    OOM = constant("ELIZA_ERR_OOM")
    ABI_MISMATCH = constant("ELIZA_ERR_ABI_MISMATCH")
    CANCELLED = constant("ELIZA_ERR_CANCELLED")
    BUSY = constant("ELIZA_ERR_BUSY")
    CLOSED = constant("ELIZA_ERR_CLOSED")
    PAYLOAD = constant("ELIZA_ERR_PAYLOAD")
    LIMIT = constant("ELIZA_ERR_LIMIT")
    MODEL_MISMATCH = constant("ELIZA_ERR_MODEL_MISMATCH")
    UNKNOWN_PATH = constant("ELIZA_ERR_UNKNOWN_PATH")
    CONTEXT_FULL = constant("ELIZA_ERR_CONTEXT_FULL")
    IO = constant("ELIZA_ERR_IO")
    STATE = constant("ELIZA_ERR_STATE")
    GRAMMAR = constant("ELIZA_ERR_GRAMMAR")
    FILE_INVALID = constant("ELIZA_ERR_FILE_INVALID")


class ElizaError(Exception):
    """A failed call. The object is as it was before the call, unless the call's documentation says otherwise.

    `status` is the `Status`, and `message`, which is also `str(error)`, says what is wrong and where.
    """

    default_status = Status.FFI_FAULT

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = self.default_status if status is None else status


class UnsupportedError(ElizaError, NotImplementedError):
    """This build of the library does not support a setting; the message names it."""

    default_status = Status.UNSUPPORTED


class InvalidArgumentError(ElizaError, ValueError):
    """An argument is out of range or otherwise unusable; the message names it."""

    default_status = Status.INVALID_ARG


class ModelFileError(ElizaError, OSError):
    """The model file is missing or damaged."""

    default_status = Status.BUNDLE_INVALID


class LlamaError(ElizaError, RuntimeError):
    """llama.cpp failed; the message says in which call."""

    default_status = Status.FFI_FAULT


class OutOfMemoryError(ElizaError, MemoryError):
    """Memory could not be allocated; nothing changed."""

    default_status = Status.OOM


class AbiMismatchError(ElizaError, OSError):
    """libllama is missing or of an unknown version, or a library lacks a function that is needed."""

    default_status = Status.ABI_MISMATCH


class LibraryError(AbiMismatchError):
    """The native library of this package cannot be loaded."""


class CancelledError(ElizaError, RuntimeError):
    """`Stream.cancel` was called (`Stream.reset` makes the stream usable again), or the `cancel` of a
    `Budget` returned true."""

    default_status = Status.CANCELLED


class BusyError(ElizaError, RuntimeError):
    """The object is in use: another thread is in a call on it, or this is inside a callback of one. Nothing changed."""

    default_status = Status.BUSY


class ClosedError(ElizaError, ValueError):
    """The object was closed."""

    default_status = Status.CLOSED


class PayloadError(ElizaError, ValueError):
    """The token tree is malformed; the message gives the place, as in `descriptors[2].leaves[7]`."""

    default_status = Status.PAYLOAD


class LimitError(ElizaError, ValueError):
    """One of the limits in `eliza_inference.limits`, or a `Budget`, was exceeded; the message says what
    exceeded it, or what was being built."""

    default_status = Status.LIMIT


class ModelMismatchError(ElizaError, ValueError):
    """The token tree, the constraint or the slot file is for another model."""

    default_status = Status.MODEL_MISMATCH


class UnknownPathError(ElizaError, LookupError):
    """No descriptor has this path; the message lists the paths that there are."""

    default_status = Status.UNKNOWN_PATH


class ContextFullError(ElizaError, RuntimeError):
    """The tokens do not fit the context; nothing was decoded."""

    default_status = Status.CONTEXT_FULL


class SlotFileError(ElizaError, OSError):
    """A slot file, or a saved vocabulary or constraint, cannot be read or written."""

    default_status = Status.IO


class StateError(ElizaError, RuntimeError):
    """The call is not possible now, such as a step before any prompt."""

    text: str | None = None
    """What came out, if `Stream.choose` ended before a name or text was complete; else None."""

    default_status = Status.STATE


class GrammarError(ElizaError, ValueError):
    """A regular expression or grammar is wrong. The message begins with the place: the byte offset in a
    regular expression, as in `at byte 7: `, line and column in a grammar, as in `3:12: `."""

    default_status = Status.GRAMMAR


class FileInvalidError(ElizaError, ValueError):
    """A file has the wrong content: a saved vocabulary or constraint that is damaged, of another version or
    for another vocabulary, or a tokenizer file that is not one."""

    default_status = Status.FILE_INVALID


_BY_STATUS: dict[int, type[ElizaError]] = {
    error.default_status: error
    for error in (
        UnsupportedError,
        InvalidArgumentError,
        ModelFileError,
        LlamaError,
        OutOfMemoryError,
        AbiMismatchError,
        CancelledError,
        BusyError,
        ClosedError,
        PayloadError,
        LimitError,
        ModelMismatchError,
        UnknownPathError,
        ContextFullError,
        SlotFileError,
        StateError,
        GrammarError,
        FileInvalidError,
    )
}


def busy_reason(what: str, last_error: str) -> str:
    """Why an object is busy, by its `last_error`, which says so in a callback, and in another thread while the call
    there runs."""
    return last_error if "callback" in last_error else f"another thread is using the {what}"


def error_from_status(status: int, message: str) -> ElizaError:
    """The exception for a negative status."""
    return _BY_STATUS.get(status, ElizaError)(message, status)
