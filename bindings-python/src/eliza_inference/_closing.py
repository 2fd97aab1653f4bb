"""What is closed at the end of a `with`."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

from eliza_inference._described import Described

__all__ = ["Closing"]

Opened = TypeVar("Opened", bound="Closing")


class Closing(Described):
    """An object of the library that `with` closes."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: Opened) -> Opened:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
