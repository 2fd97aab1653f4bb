"""How objects of the library show themselves, and that they are not pickled."""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex

__all__ = ["Described", "Shared"]


class Shared:
    """Never changes, so that a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class Described:
    """Has a short `repr` that reads nothing which changes, so that a debugger may show it in any thread."""

    __slots__ = ()

    def __repr__(self) -> str:
        try:
            what = self._describe()
        except Exception:  # shown while, or after, its creation failed
            what = "not initialised"
        return f"<{type(self).__name__} {what}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} lies in the library's memory: it is not pickled or copied")

    def _describe(self) -> str:
        raise NotImplementedError
