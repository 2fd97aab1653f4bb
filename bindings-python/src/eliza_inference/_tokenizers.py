"""Tokenizers written in Python, for the library to call."""

from __future__ import annotations

import itertools
import threading
from array import array
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar
from weakref import WeakValueDictionary

from eliza_inference._library import CData, ffi, lib
from eliza_inference.errors import error_from_status

__all__ = ["ByteTokenizer", "RegisteredTokenizer", "watching_tokenizer"]

ByteTokenizer = Callable[[bytes], Sequence[int]]
"""From the bytes of a text to token ids, without special tokens."""

Result = TypeVar("Result")


class RegisteredTokenizer:
    """A tokenizer that a native vocabulary may call while this object lives; later calls fail."""

    def __init__(self, vocabulary: CData, tokenize: ByteTokenizer) -> None:
        self.tokenize = tokenize
        # The library is given a number and not an address, so that a constraint that outlives this
        # object finds nothing instead of freed memory.
        key = next(_KEYS)
        _REGISTERED[key] = self
        set_tokenizer(vocabulary, _on_tokenize, ffi.cast("void *", key))


def set_tokenizer(vocabulary: CData, callback: CData, user_data: CData) -> None:
    """Gives a native vocabulary its tokenizer; NULL takes it away."""
    status = lib.eliza_inference_vocab_set_tokenizer(vocabulary, callback, user_data)
    if status < 0:
        raise error_from_status(status, "the tokenizer was refused")


def watching_tokenizer(function: Callable[..., Result], *arguments: object) -> Result:
    """Calls a function during which the library may tokenise; raises what the tokenizer raised."""
    _raised.error = None
    try:
        return function(*arguments)
    finally:
        error, _raised.error = _raised.error, None
        if error is not None:
            raise error


class _Raised(threading.local):
    error: BaseException | None = None


_raised = _Raised()
_KEYS = itertools.count(1)
_REGISTERED: WeakValueDictionary[int, RegisteredTokenizer] = WeakValueDictionary()


def _keep_error(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    """For what is raised outside of the callback's `try`, such as a `KeyboardInterrupt` on its first instruction."""
    _raised.error = error


@ffi.callback("eliza_tokenize_callback", error=-1, onerror=_keep_error)  # type: ignore[untyped-decorator]
def _on_tokenize(text: CData, length: int, out: CData, capacity: int, user_data: CData) -> int:
    registered = _REGISTERED.get(int(ffi.cast("uintptr_t", user_data)))
    if registered is None:
        return -1
    try:
        tokens = array("i", registered.tokenize(ffi.buffer(text, length)[:] if length else b""))
        ffi.memmove(out, tokens, tokens.itemsize * min(len(tokens), capacity))
        return len(tokens)
    except BaseException as error:  # must pass through C to the caller
        _raised.error = error
        return -1
