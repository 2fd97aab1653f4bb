"""A small runner of the cases of token tries, for those who write one in another language.

    python tests/conformance/minimal_runner.py

It says what it cannot do yet. When yours has no such cases left, let it fail on what is in none of its tables.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from eliza_inference import Constraint, ElizaError, Matcher, Status, Step, Vocabulary

KINDS: dict[str, Callable[[Vocabulary, Any], Constraint]] = {
    "token_trie": lambda vocabulary, payload: Constraint(vocabulary, octets(payload)),
}
VERBS: dict[str, Callable[[Matcher, Any], None]] = {
    "accept": lambda matcher, step: check("result", names(matcher.accept(step["token"])), set(step.get("result", []))),
    "activate": lambda matcher, step: matcher.activate(step["path"]),
    "deactivate": lambda matcher, step: matcher.deactivate(),
    "rollback": lambda matcher, step: matcher.rollback(step["n"]),
    "reset": lambda matcher, step: matcher.reset(),
    "set_span_timeout": lambda matcher, step: matcher.set_span_timeout(step["n"]),
}
STATE: dict[str, Callable[[Matcher], Any]] = {
    "active": lambda matcher: matcher.state.active,
    "can_stop": lambda matcher: matcher.state.can_stop,
    "constrained": lambda matcher: matcher.state.constrained,
    "descriptor": lambda matcher: matcher.state.descriptor,
    "allowed": lambda matcher: "all" if (ids := matcher.allowed()) is None else list(ids),
    "forced": lambda matcher: matcher.forced(),
    "leaf": lambda matcher: matcher.leaf,
    "span_tokens": lambda matcher: matcher.state.span_tokens,
    "spans_started": lambda matcher: matcher.state.spans_started,
    "spans_ended": lambda matcher: matcher.state.spans_ended,
    "timeouts": lambda matcher: matcher.state.timeouts,
    "illegal": lambda matcher: matcher.state.illegal,
}


class NotYet(Exception):
    """What is in none of the tables."""


def main() -> int:
    outcomes: Counter[str] = Counter()
    for path in sorted(Path(__file__).parent.glob("*/*.json")):
        for case in json.loads(path.read_text("utf-8"))["cases"]:
            for payload in case.get("constraint", {}).get("token_trie", [None]):
                outcomes[outcome_of(case, payload, f"{path.stem}: {case['name']}")] += 1
    for outcome, count in outcomes.most_common():
        print(f"{outcome}: {count}")
    return 1 if outcomes["failed"] else 0


def outcome_of(case: Any, payload: Any, where: str) -> str:
    try:
        run_case(case, payload)
    except NotYet as missing:
        return f"not yet, {missing}"
    except AssertionError as problem:
        print(f"{where}: {problem}")
        return "failed"
    return "passed"


def run_case(case: Any, payload: Any) -> None:
    if "stream" in case:
        raise NotYet("stream")
    if "error" in case:
        check_error(lambda: make_matcher(case, payload), case["error"])
        return
    matcher = make_matcher(case, payload)
    if "info" in case:
        raise NotYet("info")
    check_state(matcher, case.get("expect", {}))
    for step in case.get("steps", []):
        verb, before = row(VERBS, step["do"]), look(matcher)
        if "error" in step:
            check_error(partial(verb, matcher, step), step["error"])
            check("the state after an error", look(matcher), before)
        else:
            verb(matcher, step)
        check_state(matcher, step.get("expect", {}))


def make_matcher(case: Any, payload: Any) -> Matcher:
    kind, data = next(iter(case["constraint"])), case["vocabulary"]
    compile_kind = row(KINDS, kind)
    if "size" not in data:
        raise NotYet("tokens")
    vocabulary = Vocabulary(data["size"], model_id=data.get("model_id"))
    return Matcher(compile_kind(vocabulary, payload), span_timeout=case.get("span_timeout"))


def row(table: dict[str, Any], key: str) -> Any:
    if key not in table:
        raise NotYet(key)
    return table[key]


def octets(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join(map(octets, value))
    if isinstance(value, str):
        return value.encode()
    piece = bytes.fromhex(value["hex"]) if "hex" in value else str(value["text"]).encode()
    return piece * int(value.get("count", 1))


def names(bits: Step) -> set[str]:
    return {str(bit.name).lower() for bit in Step if bit != Step.NONE and bit in bits}


def look(matcher: Matcher) -> dict[str, Any]:
    return {key: read(matcher) for key, read in STATE.items()}


def check_state(matcher: Matcher, expected: dict[str, Any]) -> None:
    for key, value in expected.items():
        check(key, row(STATE, key)(matcher), value)


def check_error(call: Callable[[], object], expected: dict[str, str]) -> None:
    try:
        call()
    except ElizaError as error:
        status = "ELIZA_ERR_" + Status(error.status).name
        check("error", {"status": status, "message": error.message}, expected)
    else:
        raise AssertionError(f"nothing failed, expected {expected}")


def check(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what} is {actual}, expected {expected}")


if __name__ == "__main__":
    sys.exit(main())
