"""Calls of functions as models write them: the cases of tests/tool_calls, cut into tokens everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import (
    Constraint,
    ElizaError,
    InvalidArgumentError,
    JsonSpace,
    Matcher,
    Step,
    TokenFlag,
    Vocabulary,
    tool_templates,
)

FILE = json.loads((Path(__file__).parent.parent / "tool_calls" / "cases.json").read_text(encoding="utf-8"))
TOOLS, CASES = FILE["tools"], FILE["cases"]
SPECIAL = {
    token["text"]: TokenFlag.SPECIAL | (token.get("ends", False) * TokenFlag.END_OF_GENERATION)
    for token in FILE["special_tokens"]
}
END = b"</s>"
Json = Any


class Cut:
    """A vocabulary with all pieces of a text, in which special tokens are whole, or text as the rest is."""

    def __init__(self, text: str, *, special: bool) -> None:
        marks = "|".join(map(re.escape, SPECIAL)) if special else "(?!)"
        self.segments = [part for part in re.split(f"({marks})", text) if part]
        pieces = {bytes([byte]): TokenFlag(0) for byte in text.encode()}
        for segment in self.segments:
            if special and segment in SPECIAL:
                pieces[segment.encode()] = SPECIAL[segment]
                continue
            data = segment.encode()
            pieces |= {data[i:j]: TokenFlag(0) for i in range(len(data)) for j in range(i + 1, len(data) + 1)}
        pieces[END] = TokenFlag.END_OF_GENERATION
        self.special = special
        self.number = {piece: n for n, piece in enumerate(pieces)}
        self.vocabulary = Vocabulary(len(pieces), list(pieces), [int(flag) for flag in pieces.values()])

    def whole(self) -> list[int]:
        """The text in as few tokens as there are, but for the end."""
        return [self.number[segment.encode()] for segment in self.segments]

    def goes_at_every_two_places(self, matcher: Matcher) -> bool:
        """Whether the text is legal, cut at two places of each segment in turn."""
        numbers = self.whole()
        for n, segment in enumerate(self.segments):
            data = segment.encode()
            pieces = 1 if self.special and segment in SPECIAL else len(data)
            for i in range(pieces):
                for j in range(i + 1, pieces + 1):
                    cut = (data[:i], data[i:j], data[j:]) if pieces > 1 else (data,)
                    tokens = [self.number[piece] for piece in cut if piece] + numbers[n + 1 :]
                    if not goes(matcher, tokens):
                        return False
                    matcher.rollback(len(tokens))
            matcher.accept(numbers[n])
        return matcher.can_stop


def goes(matcher: Matcher, tokens: list[int]) -> bool:
    """Whether all are legal, and the text may stop or has ended."""
    return all(Step.IN_SPAN in matcher.accept(token) for token in tokens) and matcher.can_stop


def without_ids(message: Json) -> Json:
    for call in message.get("tool_calls", ()):
        assert re.fullmatch("call_[0-9a-f]{24}", call.pop("id"))
    return message


def constraint_of(case: Json, vocabulary: Vocabulary) -> Constraint:
    tools = case.get("tools", TOOLS)
    return Constraint.tool_calls(vocabulary, tools, template=case["template"], **case.get("options", {}))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_cases(case: Json, special: bool) -> None:
    first = next((legal for legal in case["legal"] if "tool_calls" in legal["message"]), None)
    for legal in case["legal"]:
        cut = Cut(legal["text"], special=special)
        constraint = constraint_of(case, cut.vocabulary)
        assert without_ids(constraint.parse(legal["text"])) == legal["message"]
        if special or legal is first:
            assert cut.goes_at_every_two_places(Matcher(constraint)), legal["text"]
        else:
            assert goes(Matcher(constraint), cut.whole()), legal["text"]
    for text in case["illegal"]:
        cut = Cut(text, special=special)
        constraint = constraint_of(case, cut.vocabulary)
        assert not goes(Matcher(constraint), cut.whole()), text


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_masks_have_what_is_legal(case: Json, special: bool) -> None:
    """Along each text, byte by byte where no special token stands."""
    for legal in case["legal"]:
        cut = Cut(legal["text"], special=special)
        matcher = Matcher(constraint_of(case, cut.vocabulary))
        for segment in cut.segments:
            whole = special and segment in SPECIAL
            pieces = [segment.encode()] if whole else [bytes([byte]) for byte in segment.encode()]
            for piece in pieces:
                allowed = matcher.allowed()
                assert allowed is not None
                assert cut.number[piece] in allowed
                matcher.accept(cut.number[piece])


def test_every_template_has_cases() -> None:
    assert {case["template"] for case in CASES} == set(tool_templates())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_is_cut_off_stays_content(case: Json) -> None:
    """No cut of a text is an error, and no call comes twice or is made up."""
    for legal in case["legal"]:
        text, whole = legal["text"], legal["message"].get("tool_calls", [])
        constraint = constraint_of(case, Cut(text, special=False).vocabulary)
        for n in range(len(text)):
            calls = without_ids(constraint.parse(text[:n])).get("tool_calls", [])
            assert calls == whole[: len(calls)]


def test_names_are_forced_with_what_is_around_them() -> None:
    """After a trigger all is forced but the choice of a function: few tokens need the model."""
    special = dict.fromkeys(["<|channel|>", "<|constrain|>", "<|message|>", "<|call|>"], TokenFlag.SPECIAL)
    texts = ["commentary to=functions.", *special]
    pieces = [*(bytes([byte]) for byte in range(256)), *(text.encode() for text in texts), END]
    flags = [0] * 257 + [int(flag) for flag in special.values()] + [int(TokenFlag.END_OF_GENERATION)]
    vocabulary = Vocabulary(len(pieces), pieces, flags)
    constraint = Constraint.tool_calls(vocabulary, TOOLS[1:], template="harmony", space="compact")
    matcher = Matcher(constraint)
    for token in (257, 256):
        assert Step.IN_SPAN in matcher.accept(token)
    text = b""
    while forced := matcher.forced():
        for token in forced:
            matcher.accept(token)
            text += pieces[token]
    assert text == b"set_timer"  # then with a space or without
    for byte in b" ":
        matcher.accept(byte)
    while forced := matcher.forced():
        for token in forced:
            matcher.accept(token)
            text += pieces[token]
    assert text == b'set_timer<|constrain|>json<|message|>{"minutes":'


def test_options_of_the_arguments() -> None:
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    tool = {"type": "function", "function": {"name": "f", "parameters": {"$ref": "http://h/a"}}}
    schema = {"const": {"a": [1, 2]}}
    spaces: list[tuple[JsonSpace, bytes]] = [("compact", b'{"a":[1,2]}'), ("spaced", b'{"a": [1, 2]}')]
    for space, text in spaces:
        constraint = Constraint.tool_calls(
            vocabulary,
            [tool],
            template="llama_function",
            space=space,
            documents={"http://h/a": schema},
        )
        matcher = Matcher(constraint)
        assert goes(matcher, list(b"<function=f>" + text + b"</function>"))
    with pytest.raises(InvalidArgumentError, match="a function is not supported"):
        Constraint.tool_calls(vocabulary, [tool], template="hermes", documents=lambda _: None)


def test_what_is_wrong_is_told() -> None:
    vocabulary = Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b""], [0] * 256 + [2])
    wrong: list[tuple[Json, str]] = [
        ({"template": "gpt"}, "template: 'gpt' is none of hermes"),
        ({"template": "hermes", "tool_choice": "always"}, "tool_choice: 'always' is none of auto"),
        ({"template": "hermes", "tools": [], "tool_choice": "required"}, "tools: there are none"),
        ({"template": "hermes", "tools": [{"name": "f", "parameters": {"type": "int"}}]}, 'tool "f": at #/type'),
        ({"template": "hermes", "space": "wide"}, 'tool "get_weather".space'),
    ]
    for options, message in wrong:
        with pytest.raises(ElizaError, match=re.escape(message)):
            Constraint.tool_calls(vocabulary, options.pop("tools", TOOLS), **options)
    assert Matcher(Constraint.tool_calls(vocabulary, [], template="hermes")).can_stop
