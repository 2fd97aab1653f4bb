"""How objects of the library show themselves."""

from __future__ import annotations

__all__ = ["Described"]


class Described:
    """Has a short `repr` that reads nothing which changes, so that a debugger may show it in any thread."""

    __slots__ = ()

    def __repr__(self) -> str:
        try:
            what = self._describe()
        except Exception:  # shown while, or after, its creation failed
            what = "not initialised"
        return f"<{type(self).__name__} {what}>"

    def _describe(self) -> str:
        raise NotImplementedError
