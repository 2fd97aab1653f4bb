"""XGrammar's structural tags, whatever their formats: as descriptors of tags, or as grammars in Lark's notation.

bindings-ts/src/structural-tags.ts does the same; tests/structural_tags holds both to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from eliza_inference._keys import unknown_key
from eliza_inference.errors import ElizaError, GrammarError
from eliza_inference.vocabulary import Vocabulary

__all__ = ["TagGrammar", "as_structural_tag", "names_tokens", "read_as"]

Format = Mapping[str, Any]

FLAT = {"json_schema", "qwen_xml_parameter", "regex", "grammar", "const_string", "any_text"}
"""The contents of tags that the library reads."""

TEXT_KEYS = ("excludes", "max_tokens", "max_chars")
SCHEMA_KEYS = ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes")

FORMAT_KEYS: Mapping[str, tuple[str, ...]] = {
    "const_string": ("value",),
    "json_schema": SCHEMA_KEYS,
    "qwen_xml_parameter": SCHEMA_KEYS,
    "any_text": TEXT_KEYS,
    "regex": ("pattern",),
    "grammar": ("grammar",),
    "token": ("token",),
    "exclude_token": ("exclude_tokens",),
    "any_tokens": ("exclude_tokens", "max_tokens"),
    "sequence": ("elements",),
    "or": ("elements",),
    "optional": ("content",),
    "star": ("content",),
    "plus": ("content",),
    "repeat": ("content", "min", "max"),
    "tag": ("begin", "content", "end"),
    "triggered_tags": ("triggers", "tags", "excludes", "at_least_one", "stop_after_first"),
    "token_triggered_tags": ("trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"),
    "tags_with_separator": ("tags", "separator", "at_least_one", "stop_after_first"),
    "dispatch": ("rules", "loop", "excludes"),
    "token_dispatch": ("rules", "loop", "exclude_tokens"),
}
"""What formats have besides their type."""

MAX_TOKENS = 1_000_000
"""The most that a terminal may have of them."""
MAX_WHITESPACE = 255


class TagGrammar(NamedTuple):
    """A structural tag as a grammar in Lark's notation."""

    text: str
    schemas: dict[str, str]
    """What `@name` stands for."""
    places: list[str]
    """What of the structural tag each line says."""

    def placed(self, error: ElizaError) -> ElizaError:
        """An error about the grammar as one about the structural tag."""
        found = re.match(r"(\d+):\d+: ", error.message)
        if found is None:
            return error
        place = self.places[int(found[1]) - 1]
        return type(error)(f"{place}: {error.message[found.end() :]}", error.status)


def as_structural_tag(tags: object) -> dict[str, Any] | None:
    """A structural tag, in JSON or as a dict; None if it is something else, which the library reads."""
    if isinstance(tags, str) and re.search('"(format|structures)"', tags):
        try:
            tags = json.loads(tags)
        except ValueError:
            return None  # the library says what is wrong with it
    if not isinstance(tags, Mapping) or not isinstance(tags.get("format", tags.get("structures")), (Mapping, list)):
        return None
    return dict(tags)


def read_as(vocabulary: Vocabulary, tag: dict[str, Any]) -> dict[str, Any] | TagGrammar:
    """The descriptor that the library reads, or a grammar. What is wrong or unsupported is a `GrammarError` with the
    place."""
    form = tag.get("format")
    if not isinstance(form, Mapping):
        return tag | {"structures": [_with_schema(part) for part in tag["structures"]]}
    if _is_flat(form):
        return tag | {"format": {**form, "tags": [_descriptor_tag(part) for part in form["tags"]]}}
    writer = _Writer(vocabulary)
    writer.check_keys(tag, ("format",), "structural_tag")
    try:
        start = writer.write(form, ())
    except GrammarError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GrammarError(f"{'.'.join(writer.place)}: {error!r}") from error
    lines = ["%lexing any", f"start: {start}", *writer.definitions]
    return TagGrammar("\n".join(lines), writer.schemas, ["format", "format", *writer.places])


def names_tokens(text: str) -> bool:
    """Whether a structural tag has formats of tokens, so that another vocabulary may lack them."""
    return re.search(r'"(token|exclude_token|any_tokens|token_triggered_tags|token_dispatch)"', text) is not None


# ---- What the library reads


def _is_flat(form: Format) -> bool:
    tags = form.get("tags")
    return (
        form.get("type") == "triggered_tags"
        and isinstance(tags, list)
        and all(isinstance(tag, Mapping) and _is_flat_tag(tag) for tag in tags)
    )


def _is_flat_tag(tag: Format) -> bool:
    content, end = tag.get("content"), tag.get("end")
    if not isinstance(content, Mapping) or content.get("type") not in FLAT or (isinstance(end, list) and len(end) != 1):
        return False
    if content["type"] == "any_text":
        return all(content.get(key) in (None, []) for key in TEXT_KEYS)
    return not (content.get("excludes") or content.get("max_whitespace_cnt"))


def _with_schema(part: Any) -> Any:
    """Servers leave out schemas that allow everything."""
    return {**part, "schema": {}} if isinstance(part, Mapping) and part.get("schema") is None else part


def _descriptor_tag(tag: Format) -> Format:
    """Without the options of contents, which are others in the library's words."""
    content = tag["content"]
    if content["type"] == "any_text":
        return {**tag, "content": {key: content[key] for key in content if key not in TEXT_KEYS}}
    if content["type"] not in ("json_schema", "qwen_xml_parameter"):
        return tag
    schema = content.get("json_schema")
    said: dict[str, Any] = {"json_schema": {} if schema is None else schema}
    said["style"] = "qwen_xml" if content["type"] == "qwen_xml_parameter" else content.get("style") or "json"
    options = {"order": "any"} if content.get("any_order") else {}
    said["schema_options"] = options | ({"space": "compact"} if content.get("max_whitespace_cnt") == 0 else {})
    rest = {key: content[key] for key in content if key not in (*SCHEMA_KEYS, "type")}
    return {key: tag[key] for key in tag if key != "content"} | said | rest


# ---- What is written as a grammar


class _Piece(NamedTuple):
    """A part of a marker: text, or a control token."""

    text: str
    token: int | None = None


class _Writer:
    """Writes formats as expressions of Lark's notation, and the terminals and rules that they use."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.definitions: list[str] = []
        self.places: list[str] = []
        """Of the definitions."""
        self.schemas: dict[str, str] = {}
        self.place: list[str] = ["format"]
        self._control = vocabulary.control_tokens()

    def write(self, form: Format, ends: Sequence[str]) -> str:
        """A format in parentheses. `ends` are texts before which free text ends."""
        kind = form["type"]
        writers: dict[str, Callable[[Format, Sequence[str]], str]] = {
            "const_string": lambda f, _: self._marker(f["value"]),
            "json_schema": lambda f, _: self._json_schema(f, f.get("style") or "json"),
            "qwen_xml_parameter": lambda f, _: self._json_schema(f, "qwen_xml"),
            "any_text": self._any_text,
            "regex": lambda f, _: self._terminal(_regex(f["pattern"])),
            "grammar": lambda f, _: self._ebnf(f["grammar"]),
            "token": lambda f, _: self._tokens([f["token"]]),
            "exclude_token": lambda f, _: self._tokens(f.get("exclude_tokens", []), others=True),
            "any_tokens": lambda f, _: (
                self._tokens(f.get("exclude_tokens", []), others=True) + _number(f.get("max_tokens"))
            ),
            "sequence": self._sequence,
            "or": lambda f, ends: " | ".join(self._each(f["elements"], ends)),
            "optional": lambda f, ends: self._content(f, ends) + "?",
            "star": lambda f, ends: self._content(f, ends) + "*",
            "plus": lambda f, ends: self._content(f, ends) + "+",
            "repeat": lambda f, ends: self._content(f, ends) + _count(f.get("min") or 0, f.get("max")),
            "tag": lambda f, _: self._tag(f),
            "triggered_tags": self._triggered_tags,
            "token_triggered_tags": lambda f, _: self._token_triggered_tags(f),
            "tags_with_separator": lambda f, _: self._tags_with_separator(f),
            "dispatch": self._dispatch,
            "token_dispatch": lambda f, _: self._token_dispatch(f),
        }
        if kind not in writers:
            raise self._wrong(f"the format {kind} is unsupported")
        self.check_keys(form, FORMAT_KEYS[kind])
        return f"({writers[kind](form, ends)})"

    def check_keys(self, form: Format, known: Sequence[str], place: str = "") -> None:
        """Refuses keys that nothing reads."""
        for key in form:
            if key not in ("type", *known):
                raise GrammarError(f"{place or '.'.join(self.place)}: {unknown_key(key, known)}")

    def _wrong(self, what: str) -> GrammarError:
        return GrammarError(f"{'.'.join(self.place)}: {what}")

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
            self.check_keys(marker, ("token",))
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
        return _written_all(self._pieces(marker))

    def _token(self, token: Any) -> int:
        if isinstance(token, bool) or not isinstance(token, (int, str)):
            raise TypeError(f"expected a token, got {token!r}")
        if isinstance(token, int):
            return token
        if token not in self._control:
            raise self._wrong(f"{token!r} is no control token of the vocabulary")
        return self._control[token]

    def _tokens(self, tokens: Sequence[Any], *, others: bool = False) -> str:
        numbers = ",".join(str(self._token(token)) for token in tokens)
        if others:
            return f"<[^{numbers}]>" if numbers else "<[*]>"
        return f"<[{numbers}]>"

    def _define(self, kind: str, definition: str) -> str:
        name = f"{kind}{len(self.definitions)}"
        self.definitions.append(f"{name}{definition}")
        self.places.append(".".join(self.place))
        return name

    def _terminal(self, definition: str) -> str:
        return self._define("T", f": {definition}")

    def _json_schema(self, form: Format, style: str) -> str:
        space = form.get("max_whitespace_cnt")
        if space is not None and not 0 <= space <= MAX_WHITESPACE:
            raise self._wrong(f"max_whitespace_cnt is from 0 to {MAX_WHITESPACE}, not {space}")
        options: dict[str, Any] = {"order": "any"} if form.get("any_order") else {}
        options |= {} if style == "json" else {"style": style}
        options |= {} if space is None else {"whitespace_max": space}
        options |= {"excludes": form["excludes"]} if form.get("excludes") else {}
        schema = form.get("json_schema")
        schema = {} if schema is None else schema
        if options and schema is not False:
            schema = {} if schema is True else schema
            schema = {**schema, "x-guidance": {**schema.get("x-guidance", {}), **options}}
        name = f"s{len(self.schemas)}"
        self.schemas[name] = json.dumps(schema)
        return self._define("r", f": @{name}")

    def _any_text(self, form: Format, ends: Sequence[str]) -> str:
        most = form.get("max_tokens")
        if most is not None and most > MAX_TOKENS:
            raise self._wrong(f"max_tokens above {MAX_TOKENS} is unsupported")
        text = f"/.{_count(0, form.get('max_chars'))}/s"
        terminal = self._terminal(_without(text, [*self._texts(form.get("excludes", [])), *ends]))
        return f"{terminal}?" if most is None else self._define("r", f"[max_tokens={most}]: {terminal}") + "?"

    def _ebnf(self, text: str) -> str:
        number = len(self.definitions)
        rules = _ebnf_rules(text, f"g{number}_", ".".join(self.place))
        self.definitions.extend(rules)
        self.places.extend([".".join(self.place)] * len(rules))
        return f"g{number}_root"

    # ---- Parts

    def _sequence(self, form: Format, ends: Sequence[str]) -> str:
        elements = form["elements"]
        last = max(len(elements) - 1, 0)
        return " ".join([*self._each(elements[:last], ()), *self._each(elements[last:], ends, last)]) or '""'

    def _tag(self, tag: Format, behind: str = "") -> str:
        """A part. Of its begin text `behind` was read."""
        self.check_keys(tag, FORMAT_KEYS["tag"])
        begin = _written_all(self._behind(tag["begin"], behind))
        ends = tag.get("end", "")
        ends = ends if isinstance(ends, list) else [ends]
        content = self._content(tag, self._texts(ends))
        return f"{begin} {content} ({' | '.join(map(self._marker, ends))})"

    def _behind(self, begin: Any, read: str) -> list[_Piece]:
        """The pieces of a begin text after those that were read."""
        pieces, before = self._pieces(begin), self._pieces(read)
        while before:
            piece, first = before.pop(0), pieces.pop(0) if pieces else _Piece("")
            if piece.token != first.token or not first.text.startswith(piece.text) or (before and piece != first):
                raise self._wrong(f"the text {begin!r} does not begin with {read!r}")
            if len(piece.text) < len(first.text):
                pieces.insert(0, _Piece(first.text[len(piece.text) :]))
        return pieces

    def _texts(self, markers: Sequence[Any]) -> list[str]:
        """Those without control tokens, which free text has not anyway."""
        found = [self._pieces(marker) for marker in markers]
        return [pieces[0].text for pieces in found if len(pieces) == 1 and pieces[0].token is None]

    def _tags(self, form: Format, behind: str = "") -> list[str]:
        return [
            "(" + self._at(f"tags[{i}]", self._tag, tag, behind) + ")"
            for i, tag in enumerate(form["tags"])
            if not behind or tag["begin"].startswith(behind)
        ]

    def _triggered_tags(self, form: Format, ends: Sequence[str]) -> str:
        rules = []
        for trigger in form["triggers"]:
            tags = self._tags(form, trigger)
            if not tags:
                raise self._wrong(f"no begin text begins with the trigger {trigger!r}")
            rules.append((trigger, f"({' | '.join(tags)})"))
        for i, tag in enumerate(form["tags"]):
            if not any(tag["begin"].startswith(trigger) for trigger in form["triggers"]):
                raise self._wrong(f"tags[{i}].begin: begins with no trigger")
        first = f"({' | '.join(self._tags(form))})" if form.get("at_least_one") else None
        return self._free_text(rules, form.get("excludes", []), ends, form.get("stop_after_first", False), first)

    def _dispatch(self, form: Format, ends: Sequence[str]) -> str:
        rules = [
            (pattern, self._at(f"rules[{i}]", self.write, content))
            for i, (pattern, content) in enumerate(form["rules"])
        ]
        return self._free_text(rules, form.get("excludes", []), ends, not form.get("loop", True), None)

    def _free_text(
        self,
        rules: Sequence[tuple[str, str]],
        excludes: Sequence[str],
        ends: Sequence[str],
        stops: bool,
        first: str | None,
    ) -> str:
        """Text up to the first of some texts, which leads to a rule, and so on. It may stop in such a text, and after
        a rule if it stops there. `first` is what must come first of all."""
        texts = self._texts([trigger for trigger, _ in rules])
        never = [*self._texts(excludes), *ends]
        ways = " | ".join(f"{self._up_to(trigger, texts, never)} {rule}" for trigger, rule in rules)
        free = self._terminal(_without("/.*/s", [*texts, *never])) + "?"
        if stops:
            return first or (f"({ways}) | {free}" if ways else free)
        loop = f"({ways})* {free}" if ways else free
        return f"{first} {loop}" if first else loop

    def _up_to(self, trigger: str, texts: Sequence[str], never: Sequence[str]) -> str:
        """Free text that ends with a trigger; before that it has none of `texts`, and nowhere what it has `never`."""
        first, *rest = self._pieces(trigger)
        if first.token is not None:
            return f"{self._terminal(_without('/.*/s', [*texts, *never]))}? {_written_all([first, *rest])}"
        if rest:
            before = self._terminal(_without(f"(/.*/s {_string(first.text)})", [*texts, *never]))
            return f"{before} {_written_all(rest)}"
        return self._terminal(_up_to_text(first.text, texts, never))

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


def _written_all(pieces: Sequence[_Piece]) -> str:
    return " ".join(f"<[{at.token}]>" if at.token is not None else _string(at.text) for at in pieces) or '""'


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _regex(pattern: str) -> str:
    """As Lark writes it: a slash is escaped, and a line end is not written as it is."""
    if "|" not in pattern:  # a pattern is a whole text anyway
        pattern = re.sub(r"(?<!\\)((?:\\\\)*)\$\Z", r"\1", pattern.removeprefix("^"))
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


def _number(most: int | None) -> str:
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
    """The rules of XGrammar's EBNF in Lark's notation, with other names."""
    names: dict[str, str] = {"root": f"{prefix}root"}
    rules: list[str] = []
    at = 0
    while at < len(text):
        found = _EBNF.match(text, at)
        if found is None or (not rules and found["define"] is None and found["space"] is None):
            raise GrammarError(f"{place}: the EBNF is unsupported from {text[at : at + 20]!r} on")
        at = found.end()
        if found["define"]:
            rules.append(f"{names.setdefault(found['name'], f'{prefix}{len(names)}')}:")
        elif found["rule"]:
            rules[-1] += f" {names.setdefault(found['rule'], f'{prefix}{len(names)}')}"
        elif found["string"]:
            rules[-1] += f" {found['string']}"
        elif found["set"]:
            rules[-1] += f" {_set(found['set'])}"
        elif found["count"] or found["other"]:
            rules[-1] += found[0]
    return rules


def _set(characters: str) -> str:
    if characters in ("[]", "[^]"):
        return "/(.|\\n)/" if characters == "[^]" else "/[]/"
    return f"/{characters.replace('/', chr(92) + '/')}/"
