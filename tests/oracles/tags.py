"""Free text with parts in it, by the definition: byte by byte, with all that was read kept and looked through again.

    recognizer = Recognizer(parts, triggers=["<"], ...)     parts: begin text, end text, and the oracle of the language

The operations are those of recognizer.py. A control token that a text around parts has is a byte that no text has, and
no language takes: `CONTROL` and above.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

CONTROL = 0xF8


class Row(NamedTuple):
    separator: bytes
    end: bytes


class Part(NamedTuple):
    begin: bytes
    end: bytes
    language: Any
    """Another oracle."""
    row: Row | None = None
    """What it stands in, one after the other; `begin` has the row's before its own."""
    own_begin: bytes = b""
    """Of a part in a row."""


class State(NamedTuple):
    mode: str
    """before, free, behind (a trigger), part, row (after a part of one), or finished."""
    text: bytes
    """What was read in this mode; after a trigger, with it."""
    n_parts: int
    part: Part | None = None
    language: Any = None
    """The state in the part; None where the part cannot continue."""
    stops: tuple[int, ...] = ()
    """After how many bytes of the part it may have ended, where the end text can still be meant."""


class Recognizer:
    def __init__(
        self,
        parts: Sequence[Part],
        triggers: Sequence[bytes] = (),
        excludes: Sequence[bytes] = (),
        after: bytes = b"",
        at_least: int = 0,
        at_most: int | None = None,
        stop_after_first: bool = False,
        end_tokens: bytes = b"",
    ) -> None:
        self.parts = parts
        self.triggers = triggers or [part.begin for part in parts]
        self.excludes = excludes
        self.after = after
        self.at_least, self.at_most, self.stop_after_first = at_least, at_most, stop_after_first
        self.end_tokens = end_tokens
        """Control tokens that end the generation: never in free text."""
        self.longest = max(map(len, [*self.triggers, *excludes]))
        self.letters = sorted({*b"".join([*self.triggers, *excludes]), 0})
        self.may_begin = lru_cache(None)(self._may_begin)

    def begin(self) -> State:
        return State("before" if self.after else "free", b"", 0)

    def allowed(self, state: State, tokens: Sequence[bytes]) -> list[int]:
        return [n for n, token in enumerate(tokens) if token and self.take(state, token) is not None]

    def take(self, state: State | None, text: bytes) -> State | None:
        for byte in text:
            if state is None:
                return None
            state = self._take_byte(state, bytes([byte]))
        return state

    def can_stop(self, state: State) -> bool:
        if state.mode in ("behind", "row"):
            state = self._chosen(state) or state
        if state.mode == "part":
            assert state.part is not None
            ends_itself = not state.part.end and not state.part.row and state.n_parts + 1 >= self.at_least
            return ends_itself and state.part.language.can_stop(state.language)
        return state.mode == "finished" or (state.mode not in ("behind", "row") and state.n_parts >= self.at_least)

    def _take_byte(self, state: State, byte: bytes) -> State | None:
        if byte in self.end_tokens and state.mode in ("before", "free"):
            return None
        match state.mode:
            case "before":
                text = state.text + byte
                return State("free", b"", 0) if text.endswith(self.after) else state._replace(text=text)
            case "free":
                return self._take_free(state, byte)
            case "behind" | "row":
                return self._take_choice(state, byte)
            case "part":
                return self._take_in_part(state, byte)
        return None

    def _choices(self, state: State) -> list[tuple[bytes, State]]:
        """The texts of which one follows a trigger, or a part of a row, and what each leads to."""

        def start(part: Part) -> State:
            return State("part", b"", state.n_parts, part, part.language.begin())

        if state.mode == "behind":
            return [(part.begin, start(part)) for part in self.parts]
        assert state.part is not None
        row = state.part.row
        assert row is not None
        choices = [(row.end, State("finished" if self.stop_after_first else "free", b"", state.n_parts))]
        if not self.stop_after_first and state.n_parts != self.at_most:
            choices += [(row.separator + part.own_begin, start(part)) for part in self.parts if part.row is row]
        return choices

    def _chosen(self, state: State) -> State | None:
        """What begins unless the text continues as a longer choice does."""
        return next((after for text, after in self._choices(state) if text == state.text), None)

    def _among_choices(self, state: State) -> State | None:
        longer = [text for text, _ in self._choices(state) if text.startswith(state.text) and text != state.text]
        return state if longer else self._chosen(state)

    def _take_choice(self, state: State, byte: bytes) -> State | None:
        longer = self._among_choices(state._replace(text=state.text + byte))
        if longer is not None:
            return longer
        chosen = self._chosen(state)
        return None if chosen is None else self._take_byte(chosen, byte)

    def _take_free(self, state: State, byte: bytes) -> State | None:
        text = state.text + byte
        if any(text.endswith(excluded) for excluded in self.excludes):
            return None
        for trigger in self.triggers:
            if text.endswith(trigger):
                is_last = state.n_parts == self.at_most
                return None if is_last else self._among_choices(State("behind", trigger, state.n_parts))
        if state.n_parts < self.at_least and not self.may_begin(text[-self.longest :]):
            return None
        return state._replace(text=text)

    def _take_in_part(self, state: State, byte: bytes) -> State | None:
        part = state.part
        assert part is not None
        text, stops = state.text + byte, state.stops
        language = None if state.language is None else part.language.take(state.language, byte)
        may_stop = state.language is not None and part.language.can_stop(state.language)
        behind = State("finished" if self.stop_after_first else "free", b"", state.n_parts + 1)
        if part.row:
            behind = State("row", b"", state.n_parts + 1, part)
        if not part.end:
            if language is not None:
                return state._replace(text=text, language=language)
            return self._take_byte(behind, byte) if may_stop else None
        if may_stop:
            stops = (*stops, len(state.text))
        stops = tuple(stop for stop in stops if part.end.startswith(text[stop:]))
        if any(text[stop:] == part.end for stop in stops):
            return behind
        if language is None and not stops:
            return None
        return state._replace(text=text, language=language, stops=stops)

    def _may_begin(self, text: bytes) -> bool:
        """Whether some text leads on to a trigger, without what is excluded."""
        seen, waiting = {text}, [text]
        for one in waiting:
            if any(self._may_follow(one, trigger) for trigger in self.triggers):
                return True
            for letter in self.letters:
                after = (one + bytes([letter]))[-self.longest :]
                if after not in seen and self._may_follow(one, bytes([letter])):
                    seen.add(after)
                    waiting.append(after)
        return False

    def _may_follow(self, text: bytes, more: bytes) -> bool:
        whole = [text + more[: n + 1] for n in range(len(more))]
        return not any(one.endswith(excluded) for one in whole for excluded in self.excludes)
