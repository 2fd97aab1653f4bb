"""Exceptions in what the library calls."""

from __future__ import annotations

from types import TracebackType

from eliza_inference._library import ffi

__all__ = ["keep_error"]


def keep_error(_kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """For what a callback raises outside of its own `try`, such as a `KeyboardInterrupt` on its first instruction: what
    its `user_data` is the handle of raises it once the library has returned."""
    if trace is not None:
        ffi.from_handle(trace.tb_frame.f_locals["user_data"]).error = error
