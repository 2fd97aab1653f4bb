"""XGrammar's structural tags by the definition: a text is matched against a format from each place to each other.

    oracle = Oracle(form, control, regex_texts)
    oracle.goes_on(tokens), oracle.is_whole(tokens)

A control token is a character of its own, which no text has; `control` has them by their texts. Schemas are `enum`
of scalars and, as parameters in XML, objects of these and of strings. A regular expression comes with a few of its
texts (`regex_texts`), by whose ends a text that has begun is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import permutations
from typing import Any

from oracles.parameters import DSML, kind_of

Form = Mapping[str, Any]
Ends = tuple[frozenset[int], bool]
"""Where a match ends, and whether the whole rest is the beginning of one."""
NONE: Ends = (frozenset(), False)

STYLES = {
    "qwen_xml": ("<parameter=", ">", ">", "</parameter>"),
    "minimax_xml": ('<parameter name="', '">', '">', "</parameter>"),
    "glm_xml": ("<arg_key>", "</arg_key>\n<arg_value>", "</arg_key>\n<arg_value>", "</arg_value>"),
    "deepseek_xml": (f'<{DSML}parameter name="', '" string="true">', '" string="false">', f"</{DSML}parameter>"),
    "deepseek_v4_1_xml": (f'<{DSML} parameter name="', '" string="true">', '" string="false">', f"</{DSML} parameter>"),
    "kimi_k3_xml": (
        '<|open|>argument key="',
        '" type="string"<|sep|>',
        '" type="TYPE"<|sep|>',
        "<|close|>argument<|sep|>",
    ),
}
"""Before a name, after it if the value is a string, if not, and what closes the value."""


class Oracle:
    def __init__(self, form: Form, control: Mapping[str, str], regex_texts: Mapping[str, Sequence[str]]) -> None:
        self.form, self.control, self.regex_texts = form, control, regex_texts
        self._cuts = "|".join(map(re.escape, control)) or "(?!)"

    def goes_on(self, tokens: Sequence[str]) -> bool:
        return _Text(self, tokens).match(self.form, 0, ())[1]

    def is_whole(self, tokens: Sequence[str]) -> bool:
        text = _Text(self, tokens)
        return len(text.text) in text.match(self.form, 0, ())[0]

    def spelled(self, marker: Any) -> str:
        """A text in which control tokens are characters of their own."""
        text = marker["token"] if isinstance(marker, Mapping) else marker
        return re.sub(self._cuts, lambda found: self.control[found[0]], text)


class _Text:
    def __init__(self, oracle: Oracle, tokens: Sequence[str]) -> None:
        self.oracle, self.text = oracle, "".join(tokens)
        self.starts = [sum(map(len, tokens[:n])) for n in range(len(tokens))]
        self.known: dict[Any, Ends] = {}

    def match(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        key = (id(form), at, tuple(never))
        if key not in self.known:
            self.known[key] = getattr(self, "one_of" if form["type"] == "or" else form["type"])(form, at, never)
        return self.known[key]

    def behind(self, form: Form, never: Sequence[str], at: int) -> Ends:
        return self.match(form, at, never)

    # ---- Combinations

    def follow(self, start: Ends, then: Callable[[int], Ends]) -> Ends:
        """The second after each end of the first."""
        found: set[int] = set()
        is_open = start[1]
        for at in start[0]:
            ends, goes_on = then(at)
            found |= ends
            is_open |= goes_on
        return frozenset(found), is_open

    @staticmethod
    def any_of(several: Sequence[Ends]) -> Ends:
        return frozenset().union(*(ends for ends, _ in several)), any(is_open for _, is_open in several)

    def times(self, one: Callable[[int], Ends], at: int, least: int, most: int | None) -> Ends:
        one = lru_cache(None)(one)
        here, found = frozenset({at}), set[int]()
        is_open = self.is_end(at)
        n = 0
        while here and (most is None or n <= most):
            if n >= least:
                here = here - found if most is None else here
                found |= here
            if n != most:
                here, goes_on = self.follow((here, False), one)
                is_open |= goes_on
            n += 1
        return frozenset(found), is_open

    def is_end(self, at: int) -> bool:
        return at == len(self.text)

    def nothing(self, at: int) -> Ends:
        return frozenset({at}), self.is_end(at)

    # ---- Texts

    def letters(self, wanted: str, at: int) -> Ends:
        found = {at + len(wanted)} if self.text.startswith(wanted, at) else ()
        return frozenset(found), wanted.startswith(self.text[at:])

    def chars(self, at: int, never: Sequence[str], most: int | None = None) -> Ends:
        """Any text that has none of some."""
        found: set[int] = set()
        for end in range(at, len(self.text) + 1):
            here = self.text[at:end]
            is_text = not any(sign in self.oracle.control.values() for sign in here)
            if not is_text or any(one in here for one in never) or (most is not None and len(here) > most):
                return frozenset(found), False
            found.add(end)
        return frozenset(found), True

    def marker(self, marker: Any, at: int) -> Ends:
        return self.letters(self.oracle.spelled(marker), at)

    def listed(self, texts: Sequence[str], at: int) -> Ends:
        return self.any_of([self.letters(text, at) for text in texts])

    # ---- Formats

    def const_string(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.marker(form["value"], at)

    def token(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.marker(form, at)

    def regex(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        pattern = re.compile(form["pattern"])
        ends = {end for end in range(at, len(self.text) + 1) if pattern.fullmatch(self.text, at, end)}
        rest, more = self.text[at:], self.oracle.regex_texts[form["pattern"]]
        is_open = any(pattern.fullmatch(rest + one[n:]) for one in more for n in range(len(one) + 1))
        return frozenset(ends), is_open

    def any_text(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        ends, is_open = self.chars(at, [*form.get("excludes", ()), *never], form.get("max_chars"))
        most = form.get("max_tokens")
        if most is None:
            return ends, is_open
        few = frozenset(end for end in ends if self.n_tokens(at, end) <= most)
        return few, is_open and len(self.text) in few

    def n_tokens(self, at: int, end: int) -> int:
        """Those with a character between two places."""
        behind = [*self.starts, len(self.text)][1:]
        return sum(start < end and stop > at for start, stop in zip(self.starts, behind, strict=True))

    def json_schema(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        schema, style = form["json_schema"], form.get("style", "json")
        if style == "json":
            return self.listed([json.dumps(value) for value in schema["enum"]], at)
        return self.parameters(schema, style, bool(form.get("any_order")), at)

    def qwen_xml_parameter(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.parameters(form["json_schema"], "qwen_xml", False, at)

    def sequence(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        here = self.nothing(at)
        for i, element in enumerate(form["elements"]):
            last = never if i == len(form["elements"]) - 1 else ()
            here = self.follow(here, partial(self.behind, element, last))
        return here

    def one_of(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.choice(form["elements"], at, never)

    def choice(self, forms: Sequence[Form], at: int, never: Sequence[str]) -> Ends:
        return self.any_of([self.match(one, at, never) for one in forms])

    def repeated(self, form: Form, at: int, never: Sequence[str], least: int, most: int | None) -> Ends:
        return self.times(lambda end: self.match(form["content"], end, never), at, least, most)

    def optional(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.repeated(form, at, never, 0, 1)

    def star(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.repeated(form, at, never, 0, None)

    def plus(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.repeated(form, at, never, 1, None)

    def repeat(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        return self.repeated(form, at, never, form["min"], form["max"] if form["max"] >= 0 else None)

    def tag(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        ends = form["end"] if isinstance(form["end"], list) else [form["end"]]
        spelled = [self.oracle.spelled(end) for end in ends]
        inner = [end for end in spelled if end and not any(sign in end for sign in self.oracle.control.values())]
        here = self.follow(self.marker(form["begin"], at), lambda end: self.match(form["content"], end, inner))
        return self.follow(here, lambda end: self.listed(spelled, end))

    def tags_with_separator(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        first = self.choice(form["tags"], at, ())
        if not form.get("stop_after_first"):

            def another(end: int) -> Ends:
                return self.follow(self.marker(form["separator"], end), lambda to: self.choice(form["tags"], to, ()))

            first = self.follow(first, lambda end: self.times(another, end, 0, None))
        if form.get("at_least_one"):
            return first
        return self.any_of([first, self.nothing(at)])

    def triggered_tags(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        def tags(trigger: str, end: int) -> Ends:
            """After a trigger, the rest of a tag that begins with it."""
            return self.choice(
                [one for one in form["tags"] if self.oracle.spelled(one["begin"]).startswith(trigger)],
                end - len(trigger),
                (),
            )

        ways = [
            (trigger, lambda end, trigger=trigger: tags(trigger, end))
            for trigger in map(self.oracle.spelled, form["triggers"])
        ]
        never = [*form.get("excludes", ()), *never]
        first = self.choice(form["tags"], at, ()) if form.get("at_least_one") else None
        return self.free(ways, never, bool(form.get("stop_after_first")), first, at)

    def dispatch(self, form: Form, at: int, never: Sequence[str]) -> Ends:
        ways = [
            (self.oracle.spelled(text), lambda end, one=one: self.match(one, end, ())) for text, one in form["rules"]
        ]
        return self.free(ways, [*form.get("excludes", ()), *never], not form.get("loop", True), None, at)

    def free(
        self,
        ways: Sequence[tuple[str, Callable[[int], Ends]]],
        never: Sequence[str],
        stops: bool,
        first: Ends | None,
        at: int,
    ) -> Ends:
        texts = [text for text, _ in ways]

        def one(start: int) -> Ends:
            """Free text up to the first trigger, and what it leads to."""
            found: list[Ends] = []
            for trigger, then in ways:
                for end in range(start + len(trigger), len(self.text) + 1):
                    here = self.text[start:end]
                    signs = [sign for sign in here[: -len(trigger)] if sign in self.oracle.control.values()]
                    if not here.endswith(trigger) or signs or any(text in here[:-1] for text in texts):
                        continue
                    if not any(text in here for text in never):
                        found.append(then(end))
                found.append((frozenset(), begins(trigger, self.text[start:])))
            return self.any_of(found) if found else NONE

        def begins(trigger: str, rest: str) -> bool:
            """Whether the text stops in a trigger, after a control token of it."""
            for n in range(1, len(trigger)):
                before = rest[: len(rest) - n]
                if rest.endswith(trigger[:n]) and any(sign in trigger[:n] for sign in self.oracle.control.values()):
                    is_free = not any(sign in before for sign in self.oracle.control.values())
                    return is_free and not any(text in rest for text in [*texts, *never])
            return False

        def last(start: int) -> Ends:
            return self.chars(start, [*texts, *never])

        if stops:
            return first or self.any_of([one(at), last(at)])
        start = first or self.nothing(at)
        return self.follow(self.follow(start, lambda end: self.times(one, end, 0, None)), last)

    # ---- Parameters

    def parameters(self, schema: Form, style: str, any_order: bool, at: int) -> Ends:
        """All orders of all sets of them that have what is required."""
        names, required = list(schema["properties"]), schema.get("required", [])
        found = []
        for n in range(len(names) + 1):
            for order in permutations(names, n):
                if set(required) <= set(order) and (any_order or list(order) == [one for one in names if one in order]):
                    here = self.nothing(at)
                    for name in order:
                        here = self.follow(here, partial(self.parameter, name, schema["properties"][name], style))
                    found.append(self.follow(here, lambda end: self.listed(["", "\n"], end)))
        return self.any_of(found)

    def parameter(self, name: str, value: Form, style: str, at: int) -> Ends:
        before, is_string, is_other, close = STYLES[style]
        line = (lambda end: self.listed(["", "\n"], end)) if style == "qwen_xml" else self.nothing

        def opened(behind: str) -> Ends:
            parts = f"\n{before}{name}{behind}".split("\n")
            here = self.nothing(at)
            for i, part in enumerate(parts):
                if i:
                    here = self.follow(here, lambda end: self.listed(["", "\n"], end))
                here = self.follow(here, partial(self.letters, part))
            return here

        if "enum" in value:
            ways = []
            for one in value["enum"]:
                here = self.follow(opened(is_other.replace("TYPE", kind_of(one))), line)
                here = self.follow(here, partial(self.letters, json.dumps(one)))
                ways.append(self.follow(self.follow(here, line), partial(self.letters, close)))
            return self.any_of(ways)
        return self.follow(opened(is_string), lambda end: self.string(style, close, end))

    def string(self, style: str, close: str, at: int) -> Ends:
        """Up to what closes it."""
        stop = self.text.find(close, at)
        free = self.chars(at, ())[0]
        if stop < 0:
            return frozenset(), len(self.text) in free
        value = self.text[at:stop]
        edges = (value[:1] == "\n", value[-1:] == "\n")
        is_framed = style != "qwen_xml" or (edges[0] == edges[1] and value != "\n")
        if stop not in free or not is_framed:
            return NONE
        return frozenset({stop + len(close)}), stop + len(close) == len(self.text)
