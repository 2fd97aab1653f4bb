"""How much compiling a constraint may take, and how it is cancelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from time import monotonic
from typing import Any, TypeVar

from eliza_inference._arguments import UINT64_MAX, instance, integer
from eliza_inference._callbacks import keep_error
from eliza_inference._library import CData, call, ffi, new_struct
from eliza_inference._threads import in_thread
from eliza_inference.limits import COMPILE_STATES

__all__ = ["Budget", "compile_async"]

Result = TypeVar("Result")

Cancel = Callable[[], bool | None]


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds on compiling, each at least 1; None is the default. Exceeding one is a `LimitError`, which says
    what was being built.

    - `states_max`: states of each automaton; `limits.COMPILE_STATES` is the default and the most.
    - `bytes_max`: bytes of memory in use while compiling; default: `limits.COMPILE_BYTES`.
    - `ms_max`: milliseconds of wall-clock time; default: no bound.
    - `mask_bytes_max`: bytes of the masks and tables that the constraint keeps for reuse; reaching
      it is no error. Default: `limits.MASK_BYTES`. If given, what a JSON Schema keeps of texts is bounded by it, too
      (1 MiB at least; else 1 GiB): beyond it, a text that leads to anything new is a `LimitError`.
    - `mask_ms_max`: milliseconds of wall-clock time of each later call on a matcher of the constraint, which is then a
      `LimitError` too and leaves the matcher as it was; default: no bound.
    - `cancel`: called now and then, in the thread that compiles. If it returns true, the call raises
      `CancelledError`; if it raises, the call raises the same.
    """

    states_max: int | None = None
    bytes_max: int | None = None
    ms_max: int | None = None
    mask_bytes_max: int | None = None
    cancel: Cancel | None = None
    mask_ms_max: int | None = None

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            value = getattr(self, name)
            if value is not None:
                integer(name, value, 1, most)


class SharedBudget:
    """One budget for several calls, one after another."""

    def __init__(self, budget: Budget | None) -> None:
        self._budget = budget
        most = None if budget is None else budget.ms_max
        self._end = None if most is None else monotonic() + most / 1e3

    @property
    def is_spent(self) -> bool:
        return self._end is not None and monotonic() >= self._end

    def rest(self) -> Budget | None:
        """What the next call may take."""
        if self._budget is None or self._end is None:
            return self._budget
        return replace(self._budget, ms_max=max(1, int((self._end - monotonic()) * 1e3)))


async def compile_async(compiler: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """What a constructor of recognizers returns, such as `Constraint.json_schema`, called in a thread, so that other
    tasks continue: `await compile_async(Constraint.json_schema, vocabulary, schema)`.

    If the task is cancelled, so is the compiler, and the task ends when it has.
    """
    given = options.pop("budget", None) or Budget()
    instance("budget", given, Budget)
    stopped = Event()

    def cancel() -> bool:
        asked = given.cancel is not None and bool(given.cancel())
        return stopped.is_set() or asked

    budget = replace(given, cancel=cancel)
    return await in_thread(partial(compiler, *arguments, budget=budget, **options), stopped.set)


_MOST = {
    "states_max": COMPILE_STATES,
    "bytes_max": UINT64_MAX,
    "ms_max": UINT64_MAX,
    "mask_bytes_max": UINT64_MAX,
    "mask_ms_max": UINT64_MAX,
}


def call_within(budget: Budget | None, function: Callable[..., int], arguments: tuple[Any, ...], *last: Any) -> None:
    """Calls a function whose `config` comes after `arguments` and before the `last` ones and `out_error`."""
    if budget is None:
        call(function, *arguments, ffi.NULL, *last)
        return
    instance("budget", budget, Budget)
    config = new_struct("eliza_compile_config_t")
    for name in _MOST:
        setattr(config, name, getattr(budget, name) or 0)
    run = _Run(budget.cancel)
    user_data = ffi.new_handle(run)
    if budget.cancel is not None:
        config.cancel, config.user_data = _on_cancel, user_data
    try:
        call(function, *arguments, config, *last)
    finally:
        if run.error is not None:
            raise run.error


class _Run:
    """What the C callback works on."""

    def __init__(self, cancel: Cancel | None) -> None:
        self.cancel = cancel
        self.error: BaseException | None = None


@ffi.callback("eliza_cancel_callback", error=1, onerror=keep_error)  # type: ignore[untyped-decorator]
def _on_cancel(user_data: CData) -> int:
    run: _Run = ffi.from_handle(user_data)
    try:
        return run.cancel is not None and bool(run.cancel())
    except BaseException as error:  # KeyboardInterrupt too: it must pass through C to the caller
        run.error = error
        return 1
