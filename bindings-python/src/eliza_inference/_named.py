"""Numbers of the C library with names."""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = ["NamedFlag", "NamedInt"]


class NamedInt(IntEnum):
    """Prints as its name, in every version of Python, where an `IntEnum` prints as a number in some."""

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class NamedFlag(IntFlag):
    """Prints as the names of its flags, such as "IN_SPAN|SPAN_ENDED"."""

    def __str__(self) -> str:
        names = [name for name, flag in type(self).__members__.items() if flag.value and self.value & flag.value]
        return "|".join(names) or next((name for name, flag in type(self).__members__.items() if not flag.value), "0")

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)
