"""XGrammar's structural tags, as servers send them, whatever their formats: written as a grammar in Lark's notation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from eliza_inference.constraint import Constraint
from eliza_inference.errors import GrammarError
from eliza_inference.vocabulary import Vocabulary

__all__ = ["names_tokens", "structural_tag_constraint"]

Format = Mapping[str, Any]

FLAT = {"json_schema", "qwen_xml_parameter", "regex", "grammar", "const_string", "any_text"}
"""The contents of tags that `Constraint.tags` reads."""


def structural_tag_constraint(vocabulary: Vocabulary, text: str) -> Constraint:
    """The constraint of a structural tag in JSON. What is wrong or not served is a `GrammarError` with the place."""
    try:
        tag = json.loads(text)
    except ValueError:
        return Constraint.tags(vocabulary, text)  # the library says what is wrong with it
    if not isinstance(tag, dict) or not isinstance(tag.get("format"), dict):
        return Constraint.tags(vocabulary, _with_schemas(tag) if isinstance(tag, dict) else text)
    if _is_flat(tag["format"]):
        return Constraint.tags(vocabulary, _with_schemas(tag))
    writer = _Writer(vocabulary)
    try:
        start = writer.write(tag["format"], ())
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GrammarError(f"{'.'.join(writer.place)}: {error!r}") from error
    grammar = "\n".join(["%lexing contextual", f"start: {start}", *writer.definitions])
    return Constraint.lark(vocabulary, grammar, imports=writer.schemas)


def names_tokens(text: str) -> bool:
    """Whether a structural tag has formats of tokens, so that another vocabulary may lack them."""
    return re.search(r'"(token|exclude_token|any_tokens|token_triggered_tags|token_dispatch)"', text) is not None


def _is_flat(form: Format) -> bool:
    tags = form.get("tags")
    return (
        form.get("type") == "triggered_tags"
        and isinstance(tags, list)
        and all(isinstance(tag, dict) and _is_flat_tag(tag) for tag in tags)
    )


def _is_flat_tag(tag: Format) -> bool:
    content = tag.get("content")
    return isinstance(content, dict) and content.get("type") in FLAT and isinstance(tag.get("end", ""), str)


def _with_schemas(tag: dict[str, Any]) -> dict[str, Any]:
    """Servers leave out schemas that allow everything, and write out options that say nothing."""
    for part in tag.get("structures") or ():
        if isinstance(part, dict) and part.get("schema") is None:
            part["schema"] = {}
    for part in (tag.get("format") or {}).get("tags") or ():
        content = part["content"]
        if content["type"] in ("json_schema", "qwen_xml_parameter"):
            if content.get("json_schema") is None:
                content["json_schema"] = {}
            for option in ("any_order", "max_whitespace_cnt", "excludes"):
                if content.get(option, False) in (None, False, []):
                    content.pop(option, None)
    return tag


class _Piece(NamedTuple):
    """A part of a marker: text, or a control token."""

    text: str
    token: int | None = None


class _Writer:
    """Writes formats as expressions of Lark's notation, and the terminals and rules that they use."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.definitions: list[str] = []
        self.schemas: dict[str, str] = {}
        self.place: list[str] = ["format"]
        self._control = vocabulary.control_tokens()

    def write(self, form: Format, ends: Sequence[str]) -> str:
        """A format in parentheses. `ends` are texts before which free text ends."""
        kind = form["type"]
        writers: dict[str, Callable[[Format, Sequence[str]], str]] = {
            "const_string": lambda f, _: self._marker(f["value"]),
            "json_schema": lambda f, _: self._json_schema(f),
            "any_text": self._any_text,
            "regex": lambda f, _: _regex(f["pattern"]),
            "grammar": lambda f, _: self._ebnf(f["grammar"]),
            "token": lambda f, _: self._tokens([f["token"]]),
            "exclude_token": lambda f, _: self._tokens(f.get("exclude_tokens", []), others=True),
            "any_tokens": lambda f, _: self._tokens(f.get("exclude_tokens", []), others=True) + _up_to(f),
            "sequence": self._sequence,
            "or": lambda f, ends: " | ".join(self._each(f["elements"], ends)),
            "optional": lambda f, ends: self._content(f, ends) + "?",
            "star": lambda f, ends: self._content(f, ends) + "*",
            "plus": lambda f, ends: self._content(f, ends) + "+",
            "repeat": lambda f, ends: self._content(f, ends) + _count(f["min"], f["max"]),
            "tag": lambda f, _: self._tag(f),
            "triggered_tags": self._triggered_tags,
            "token_triggered_tags": lambda f, _: self._token_triggered_tags(f),
            "tags_with_separator": lambda f, _: self._tags_with_separator(f),
            "dispatch": self._dispatch,
            "token_dispatch": lambda f, _: self._token_dispatch(f),
        }
        if kind not in writers:
            raise self._not_served(f"the format {kind}")
        return f"({writers[kind](form, ends)})"

    def _not_served(self, what: str) -> GrammarError:
        return GrammarError(f"{'.'.join(self.place)}: {what} is not served")

    def _at(self, place: str, write: Callable[[Any, Any], str], form: Any, more: Any = ()) -> str:
        self.place.append(place)
        written = write(form, more)
        self.place.pop()
        return written

    def _content(self, form: Format, ends: Sequence[str]) -> str:
        return self._at("content", self.write, form["content"], ends)

    def _each(self, forms: Sequence[Format], ends: Sequence[str], first: int = 0) -> list[str]:
        return [self._at(f"elements[{i}]", self.write, form, ends) for i, form in enumerate(forms, first)]

    # ---- Texts and tokens

    def _pieces(self, marker: Any) -> list[_Piece]:
        """A text, in which control tokens stand for themselves, or a token."""
        if isinstance(marker, Mapping):
            return [_Piece("", self._token(marker["token"]))]
        if not isinstance(marker, str):
            raise TypeError(f"expected a text, got {marker!r}")
        if not self._control:
            return [_Piece(marker)] if marker else []
        names = "|".join(map(re.escape, sorted(self._control, key=len, reverse=True)))
        return [
            _Piece("", self._control[part]) if part in self._control else _Piece(part)
            for part in re.split(f"({names})", marker)
            if part
        ]

    def _marker(self, marker: Any) -> str:
        return " ".join(_written(piece) for piece in self._pieces(marker)) or '""'

    def _token(self, token: Any) -> int:
        if isinstance(token, bool) or not isinstance(token, (int, str)):
            raise TypeError(f"expected a token, got {token!r}")
        if isinstance(token, int):
            return token
        if token not in self._control:
            raise GrammarError(f"{'.'.join(self.place)}: {token!r} is no control token of the vocabulary")
        return self._control[token]

    def _tokens(self, tokens: Sequence[Any], *, others: bool = False) -> str:
        numbers = ",".join(str(self._token(token)) for token in tokens)
        if others:
            return f"<[^{numbers}]>" if numbers else "<[*]>"
        return f"<[{numbers}]>"

    def _terminal(self, definition: str) -> str:
        name = f"T{len(self.definitions)}"
        self.definitions.append(f"{name}: {definition}")
        return name

    def _json_schema(self, form: Format) -> str:
        for option in ("style", "any_order", "max_whitespace_cnt", "excludes"):
            if form.get(option) not in (None, False, "json", []):
                raise self._not_served(f"the option {option} of a JSON Schema")
        name = f"s{len(self.schemas)}"
        schema = form.get("json_schema")
        self.schemas[name] = json.dumps({} if schema is None else schema)
        return f"@{name}"

    def _any_text(self, form: Format, ends: Sequence[str]) -> str:
        if form.get("max_tokens") is not None:
            raise self._not_served("max_tokens of any_text")
        text = f"/.{_count(0, form.get('max_chars'))}/s"
        return self._terminal(_without(text, [*form.get("excludes", []), *ends])) + "?"

    def _ebnf(self, text: str) -> str:
        number = len(self.definitions)
        rules = _ebnf_rules(text, f"g{number}_", "|".join(self.place))
        self.definitions.extend(rules)
        return f"g{number}_root"

    # ---- Parts

    def _sequence(self, form: Format, ends: Sequence[str]) -> str:
        elements = form["elements"]
        last = max(len(elements) - 1, 0)
        return " ".join([*self._each(elements[:last], ()), *self._each(elements[last:], ends, last)]) or '""'

    def _tag(self, tag: Format, behind: str = "") -> str:
        """A part. Of its begin text `behind` was read."""
        begin = tag["begin"]
        if isinstance(begin, str):
            if not begin.startswith(behind):
                raise ValueError(f"the text {begin!r} does not begin with {behind!r}")
            begin = begin[len(behind) :]
        ends = tag.get("end", "")
        ends = ends if isinstance(ends, list) else [ends]
        pieces = [self._pieces(end) for end in ends]
        before = [each[0].text for each in pieces if each and each[0].text]
        content = self._content(tag, before)
        return f"{self._marker(begin)} {content} ({' | '.join(self._marker(end) for end in ends)})"

    def _tags(self, form: Format, behind: str = "") -> list[str]:
        tags = form["tags"]
        return [
            "(" + self._at(f"tags[{i}]", self._tag, tag, behind) + ")"
            for i, tag in enumerate(tags)
            if not behind or tag["begin"].startswith(behind)
        ]

    def _triggered_tags(self, form: Format, ends: Sequence[str]) -> str:
        rules = []
        for trigger in form["triggers"]:
            tags = self._tags(form, trigger)
            if not tags:
                raise ValueError(f"no begin text begins with the trigger {trigger!r}")
            rules.append((trigger, f"({' | '.join(tags)})"))
        first = f"({' | '.join(self._tags(form))})" if form.get("at_least_one") else None
        return self._free_text(rules, [*form.get("excludes", []), *ends], form.get("stop_after_first", False), first)

    def _dispatch(self, form: Format, ends: Sequence[str]) -> str:
        rules = [
            (pattern, self._at(f"rules[{i}]", self.write, content))
            for i, (pattern, content) in enumerate(form["rules"])
        ]
        return self._free_text(rules, [*form.get("excludes", []), *ends], not form.get("loop", True), None)

    def _free_text(
        self, rules: Sequence[tuple[str, str]], excludes: Sequence[str], stops: bool, first: str | None
    ) -> str:
        """Text up to the first of some texts, which leads to a rule, and so on. It may stop in such a text, and after
        a rule if it stops there. `first` is what must come first of all."""
        texts = [trigger for trigger, _ in rules]
        if any(piece.token is not None for text in texts for piece in self._pieces(text)):
            raise self._not_served("a control token in a trigger, beside token_triggered_tags and token_dispatch,")
        ways = " | ".join(f"{self._terminal(_up_to_text(text, texts, excludes))} {rule}" for text, rule in rules)
        free = self._terminal(_without("/.*/s", [*texts, *excludes])) + "?"
        if stops:
            return first or f"({ways}) | {free}"
        loop = f"({ways})* {free}" if ways else free
        return f"{first} {loop}" if first else loop

    def _token_triggered_tags(self, form: Format) -> str:
        triggers = [self._token(token) for token in form["trigger_tokens"]]
        free = self._tokens([*form.get("exclude_tokens", []), *triggers], others=True)
        tags = f"({' | '.join(self._tags(form))})"
        return _token_loop(free, tags, stops=form.get("stop_after_first", False), at_least_one=form.get("at_least_one"))

    def _token_dispatch(self, form: Format) -> str:
        triggers = [self._token(token) for token, _ in form["rules"]]
        free = self._tokens([*form.get("exclude_tokens", []), *triggers], others=True)
        ways = [
            f"<[{trigger}]> {self._at(f'rules[{i}]', self.write, content)}"
            for i, (trigger, (_, content)) in enumerate(zip(triggers, form["rules"], strict=True))
        ]
        return _token_loop(free, f"({' | '.join(ways)})", stops=not form.get("loop", True), at_least_one=False)

    def _tags_with_separator(self, form: Format) -> str:
        tags = f"({' | '.join(self._tags(form))})"
        if not form.get("stop_after_first"):
            tags = f"({tags} ({self._marker(form['separator'])} {tags})*)"
        return tags if form.get("at_least_one") else f"{tags}?"


def _written(piece: _Piece) -> str:
    return f"<[{piece.token}]>" if piece.token is not None else _string(piece.text)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _regex(pattern: str) -> str:
    """As Lark writes it: a slash is escaped, and a line end is not written as it is."""
    escaped = re.sub(r"\\.|/", lambda found: r"\/" if found[0] == "/" else found[0], pattern).replace("\n", r"\n")
    return f"/{escaped}/" if escaped else '""'


def _without(terminal: str, texts: Sequence[str]) -> str:
    if not texts:
        return terminal
    return f"{terminal} & ~(/.*/s ({' | '.join(map(_string, texts))}) /.*/s)"


def _up_to_text(text: str, texts: Sequence[str], excludes: Sequence[str]) -> str:
    """Any text that ends with `text`, and in which none of `texts` ends before."""
    first = f"(/.*/s {_string(text)}) & ~(/.*/s ({' | '.join(map(_string, texts))}) /.+/s)"
    return f"{first} & ~(/.*/s ({' | '.join(map(_string, excludes))}) /.*/s)" if excludes else first


def _count(least: int, most: int | None) -> str:
    if most is None or most < 0:
        return f"{{{least},}}"
    return f"{{{least},{most}}}"


def _up_to(form: Format) -> str:
    most = form.get("max_tokens")
    return "*" if most is None else _count(0, most)


def _token_loop(free: str, ways: str, *, stops: bool, at_least_one: Any) -> str:
    if stops:
        return ways if at_least_one else f"{free}* {ways}?"
    loop = f"({free} | {ways})*"
    return f"{ways} {loop}" if at_least_one else loop


# ---- EBNF

_EBNF = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<define>(?P<name>[A-Za-z_][\w.-]*)\s*::=)|(?P<string>"(?:\\.|[^"\\\n])*")
      |(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<count>\{[^}]*\})|(?P<rule>[A-Za-z_][\w.-]*)|(?P<other>[()|*+?])""",
    re.VERBOSE,
)


def _ebnf_rules(text: str, prefix: str, place: str) -> list[str]:
    """The rules of XGrammar's EBNF in Lark's notation, with other names. Strings become single characters, since
    nothing there is cut into lexemes."""
    names: dict[str, str] = {"root": f"{prefix}root"}
    rules: list[str] = []
    at = 0
    while at < len(text):
        found = _EBNF.match(text, at)
        if found is None or (not rules and found["define"] is None and found["space"] is None):
            raise GrammarError(f"{place}: the EBNF is not served from {text[at : at + 20]!r} on")
        at = found.end()
        if found["define"]:
            rules.append(f"{names.setdefault(found['name'], f'{prefix}{len(names)}')}:")
        elif found["rule"]:
            rules[-1] += f" {names.setdefault(found['rule'], f'{prefix}{len(names)}')}"
        elif found["string"]:
            rules[-1] += f" {_characters(found['string'])}"
        elif found["set"]:
            rules[-1] += f" {_set(found['set'])}"
        elif found["count"] or found["other"]:
            rules[-1] += found[0]
    return rules


def _characters(string: str) -> str:
    characters = re.findall(r"\\(?:x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.", string[1:-1])
    return "(" + " ".join(f'"{character}"' for character in characters) + ")" if characters else '""'


def _set(characters: str) -> str:
    if characters in ("[]", "[^]"):
        return "/(.|\\n)/" if characters == "[^]" else "/[]/"
    return f"/{characters.replace('/', chr(92) + '/')}/"
