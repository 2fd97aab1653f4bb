"""Calls that take long, for programs that run on asyncio."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_thread"]

Result = TypeVar("Result")


async def in_thread(function: Callable[[], Result], stop: Callable[[], object]) -> Result:
    """What the function returns, called in a thread of the loop's executor.

    If the task is cancelled, `stop` is called, which makes the function return soon, and the task ends when it has:
    nothing that the function uses is in use afterwards.
    """
    import asyncio  # not before it is used: it takes as long to import as this package

    future = asyncio.get_running_loop().run_in_executor(None, function)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait([future])
        future.exception()  # which nobody else looks at
        raise
