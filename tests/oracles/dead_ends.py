"""Whether texts of a recognizer can come to a dead end."""

from __future__ import annotations

from collections import deque
from typing import Any

STATES = 200


def has_dead_end(recognizer: Any, alphabet: bytes) -> bool:
    """Whether some text of these bytes can continue and never be whole, as far as `STATES` states tell."""
    before: dict[Any, set[Any]] = {recognizer.begin(): set()}
    waiting = deque(before)
    while waiting and len(before) < STATES:
        state = waiting.popleft()
        for after in filter(None, (recognizer.take(state, bytes([byte])) for byte in alphabet)):
            if after not in before:
                waiting.append(after)
            before.setdefault(after, set()).add(state)
    waiting += (state for state in before if recognizer.can_stop(state))  # what is left may come to an end
    alive: set[Any] = set()
    while waiting:
        state = waiting.popleft()
        if state not in alive:
            alive.add(state)
            waiting += before[state]
    return len(alive) < len(before)
