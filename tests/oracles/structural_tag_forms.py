"""Formats of structural tags by chance, of which structural_tags.py is the oracle."""

from __future__ import annotations

from random import Random
from typing import Any

from oracles.structural_tags import STYLES

CONTROL = {"<|x|>": "\ue001", "<|y|>": "\ue002"}
REGEX_TEXTS = {"[0-9]+": ["1"], "gr[ae]y": ["grey"], "(ab)*c": ["abc"], "a|ab": ["ab"], "[a-c]{1,3}": ["a"]}
WORDS = ["a", "b", "ab", "aba", "c1", "</a>", "<b", "1", ", "]
VALUES = [12, "q", True, None, "ab"]


class Forms:
    """Formats by chance, and texts that they have."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.texts: list[str] = [*WORDS]

    def whole(self) -> dict[str, Any]:
        """One that is not read by the rules of tags (docs/reference/tags.md)."""
        form = self.one(self.random.choice([0, 1, 1, 2, 2, 3]))
        return {"type": "sequence", "elements": [form]} if form["type"] == "triggered_tags" else form

    def one(self, depth: int) -> dict[str, Any]:
        leaves = ["const_string", "regex", "any_text", "json_schema", "json_schema", "token"]
        inner = ["sequence", "sequence", "or", "optional", "star", "plus", "repeat", "tag", "tag"]
        inner += ["tags_with_separator", "triggered_tags", "triggered_tags", "dispatch"]
        kind = self.random.choice(leaves if depth == 0 else leaves[:2] + inner * 2)
        return {"type": kind, **getattr(self, "any_of" if kind == "or" else kind)(depth - 1)}

    def word(self) -> str:
        return self.random.choice(WORDS) if self.random.random() < 0.9 else self.random.choice([*CONTROL])

    def const_string(self, _: int) -> dict[str, Any]:
        return {"value": self.word() + self.random.choice(["", self.word()])}

    def token(self, _: int) -> dict[str, Any]:
        return {"token": self.random.choice([*CONTROL])}

    def regex(self, _: int) -> dict[str, Any]:
        return {"pattern": self.random.choice([*REGEX_TEXTS])}

    def any_text(self, _: int) -> dict[str, Any]:
        keys = {
            "excludes": self.random.sample(WORDS, 1),
            "max_chars": 3,
            "max_tokens": self.random.choice([0, 1, 2, 4]),
        }
        return {key: value for key, value in keys.items() if self.random.random() < 0.3}

    def json_schema(self, _: int) -> dict[str, Any]:
        style = self.random.choice(["json", *STYLES])
        if style == "json":
            return {"json_schema": {"enum": self.random.sample(VALUES, 2)}}
        values: list[dict[str, Any]] = [{"type": "string"}, {"enum": [12, None]}, {"enum": [True]}]
        names = self.random.sample(["a", "ab", "c1"], self.random.randint(1, 3))
        properties = {name: self.random.choice(values) for name in names}
        required = [name for name in names if self.random.random() < 0.5]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        before, is_string, is_other, close = STYLES[style]
        for name, value in properties.items():
            is_other = is_other.replace("TYPE", "number")
            self.texts += [before + name, is_other if "enum" in value else is_string, close, "\n"]
            self.texts += [before + name + (is_other + "12" if "enum" in value else is_string + "ab") + close]
        return {"json_schema": schema, "style": style, "any_order": self.random.random() < 0.5}

    def sequence(self, depth: int) -> dict[str, Any]:
        return {"elements": [self.one(depth) for _ in range(self.random.randint(1, 3))]}

    def any_of(self, depth: int) -> dict[str, Any]:
        return {"elements": [self.one(depth) for _ in range(2)]}

    def content(self, depth: int) -> dict[str, Any]:
        return {"content": self.one(depth)}

    optional = star = plus = content

    def repeat(self, depth: int) -> dict[str, Any]:
        least = self.random.randint(0, 2)
        return {"min": least, "max": self.random.choice([-1, least + 1]), **self.content(depth)}

    def tag(self, depth: int, begin: str | None = None) -> dict[str, Any]:
        end = self.random.choice(
            ["</a>", "</a>", "x", ["</a>", "<b"], "", "<|y|>", {"type": "token", "token": "<|y|>"}]
        )
        begin = begin or self.random.choice(["<a>", "", "<|x|>"])
        self.texts += [one for one in (begin, end) if isinstance(one, str) and one]
        return {"type": "tag", "begin": begin, "end": end, **self.content(depth)}

    def tags_with_separator(self, depth: int) -> dict[str, Any]:
        tags = [self.tag(depth, begin) for begin in ("<a>", "<b>")]
        return {
            "tags": tags,
            "separator": self.random.choice([", ", "", "<|x|>"]),
            **self.flags("at_least_one", "stop_after_first"),
        }

    def triggered_tags(self, depth: int) -> dict[str, Any]:
        triggers, begins = self.random.choice(
            [
                (["<a", "<b"], ["<a>", "<b>"]),
                (["<"], ["<a>", "<b>"]),
                (["a<|x|>"], ["a<|x|>b"]),
                (["<|x|>"], ["<|x|>b", "<|x|>a"]),
            ]
        )
        tags = [self.tag(depth, begin) for begin in begins]
        return {"triggers": triggers, "tags": tags, **self.excludes(), **self.flags("at_least_one", "stop_after_first")}

    def dispatch(self, depth: int) -> dict[str, Any]:
        rules = [[pattern, self.one(depth)] for pattern in self.random.choice([["<a"], ["ab", "<|x|>"]])]
        return {"rules": rules, "loop": self.random.random() < 0.5, **self.excludes()}

    def excludes(self) -> dict[str, Any]:
        return {"excludes": ["c1"]} if self.random.random() < 0.3 else {}

    def flags(self, *names: str) -> dict[str, Any]:
        return {name: True for name in names if self.random.random() < 0.3}
