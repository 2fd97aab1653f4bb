"""Token trees: which names may come out, as sequences of token ids.

A `TokenTree` is what the library calls a payload: one or more descriptors, each with a path (the place
in the output that it is for, such as `action` or `parameters.unit`) and leaves (the names, with their
tokens), or a language, of which any text may come out there. It is plain data, which `Constraint` and streams
compile.

Ids depend on the tokenizer and on the text around a name: " REPLY" after "Action:" has other tokens than
"REPLY" at the start of a line. Tokenise names as they will stand in the output.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from eliza_inference._arguments import instance, several
from eliza_inference.errors import InvalidArgumentError, ModelMismatchError, PayloadError
from eliza_inference.json_schema import JsonSchema
from eliza_inference.languages import language_value

__all__ = [
    "TRIE_ROOT_TOKEN_ID",
    "TokenSequence",
    "TokenTree",
    "TokenTreeDescriptor",
    "TokenTreePart",
    "TokenTrieNode",
    "Tokenizer",
    "build_token_tree_descriptor",
    "build_token_trie",
    "count_terminals",
    "has_prefix_leaf",
    "is_unique_continuation",
    "step",
]

TRIE_ROOT_TOKEN_ID = -1
"""The token id of a root, which stands for no token."""

Tokenizer = Callable[[str], Sequence[int]]
"""From a text to token ids, without special tokens."""


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """A leaf: one name and its token ids."""

    name: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TokenTreeDescriptor:
    """The names that are legal at one place of the output.

    `trigger` lists token sequences: when the output ends with one of them, the span opens by itself. `end`
    lists the tokens that close a name which is also the beginning of another (such as `REPLY` beside
    `REPLY_THREAD`); without them any token may follow such a name.
    """

    path: str
    leaves: tuple[TokenSequence, ...]
    trigger: tuple[tuple[int, ...], ...] = ()
    end: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenTreePart:
    """Any text of a language at one place of the output.

    The language is given by one of the others, as in a `Tag`; `schema_options` are those of `Constraint.json_schema`,
    by name. `trigger` is that of a `TokenTreeDescriptor`. `end` lists the tokens that close a text which is complete
    but could continue; without them any token may follow such a text, and one that does not continue it ends the span
    before it. A text that nothing can continue ends the span by itself. Only vocabularies with bytes take such a tree.
    """

    path: str
    json_schema: JsonSchema | None = None
    regex: str | None = None
    lark: str | None = None
    gbnf: str | None = None
    ebnf: str | None = None
    choices: Sequence[str] | None = None
    schema_options: Mapping[str, Any] | None = None
    trigger: tuple[tuple[int, ...], ...] = ()
    end: tuple[int, ...] = ()

    @property
    def leaves(self) -> tuple[TokenSequence, ...]:
        """None: there are no names."""
        return ()

    @property
    def language(self) -> str:
        """The name of the one that is given; "" if none is."""
        return next((key for key in _LANGUAGE_KEYS if getattr(self, key) is not None), "")


@dataclass(slots=True)
class TokenTrieNode:
    """A node of the trie that `build_token_trie` makes."""

    token_id: int
    children: dict[int, TokenTrieNode] = field(default_factory=dict)
    is_terminal: bool = False
    leaf_name: str | None = None


@dataclass(frozen=True, slots=True)
class TokenTree:
    """Descriptors and the model whose token ids they use ("" if it is not known). A vocabulary refuses a tree in
    which the tokens of a name do not spell it, since it is for another one; `labels` says that names are not what
    their tokens spell."""

    descriptors: tuple[TokenTreeDescriptor | TokenTreePart, ...]
    model_id: str = ""
    labels: bool = False
    _json: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    """The payload in JSON once it was asked for, so that a tree is written once and used often."""

    @classmethod
    def from_names(
        cls,
        names: Iterable[str],
        tokens: Tokenizer | Mapping[str, Sequence[int]],
        *,
        path: str = "action",
        prefix: str = "",
        trigger: Iterable[Iterable[int]] = (),
        end: Iterable[int] = (),
        model_id: str = "",
        labels: bool = False,
    ) -> TokenTree:
        """A tree with one descriptor; `tree + other` combines two trees.

        `tokens` is a tokenizer, which is called with `prefix + name`, or a mapping from names to token ids,
        for which `prefix` has no meaning. `trigger` and `end` are those of the `TokenTreeDescriptor`. Names
        without tokens are left out; `PayloadError` if none is left. An empty name is an
        `InvalidArgumentError`.
        """
        listed = several("names", names, "names")
        for at, name in enumerate(listed):
            instance(f"names[{at}]", name, str)
            if not name:
                raise InvalidArgumentError(f"names[{at}] is empty")
        token_map = tokens if isinstance(tokens, Mapping) else {name: tokens(prefix + name) for name in listed}
        descriptor = build_token_tree_descriptor(path, listed, token_map, trigger=trigger, end=end)
        if descriptor is None:
            raise PayloadError(f"{path}: no name has any tokens")
        return cls((descriptor,), model_id, labels)

    def __add__(self, other: TokenTree | TokenTreePart) -> TokenTree:
        """A tree with the descriptors of both, or with the part too. `ModelMismatchError` if they are for different
        models."""
        if isinstance(other, TokenTreePart):
            return replace(self, descriptors=(*self.descriptors, other))
        if self.model_id != other.model_id:
            raise ModelMismatchError(f"trees for the models {self.model_id!r} and {other.model_id!r}")
        return TokenTree(self.descriptors + other.descriptors, self.model_id, self.labels or other.labels)

    @classmethod
    def from_json(cls, payload: str | bytes) -> TokenTree:
        """Reads a payload in JSON. `PayloadError`, which says where, if it is malformed."""
        try:
            decoded = json.loads(payload)
        except ValueError as error:
            raise PayloadError(f"not JSON: {error}") from error
        return cls._from_object(decoded)

    @classmethod
    def from_msgpack(cls, payload: bytes) -> TokenTree:
        """Reads a payload in MessagePack. `PayloadError`, which says where, if it is malformed. Needs the extra
        `msgpack`."""
        try:
            decoded = _msgpack().unpackb(payload)
        except ValueError as error:
            raise PayloadError(f"not MessagePack: {error}") from error
        return cls._from_object(decoded)

    def to_json(self) -> str:
        """The payload in JSON."""
        if not self._json:
            self._json.append(json.dumps(self._to_object(), ensure_ascii=False, separators=(",", ":")))
        return self._json[0]

    def to_msgpack(self) -> bytes:
        """The payload in MessagePack, which is smaller than JSON and faster to read. Needs the extra
        `msgpack`."""
        return bytes(_msgpack().packb(self._to_object()))

    def _to_object(self) -> dict[str, Any]:
        descriptors = [_descriptor_to_object(at, each) for at, each in enumerate(self.descriptors)]
        names = {"names": "labels"} if self.labels else {}
        return {"modelId": self.model_id, "descriptors": descriptors, **names}

    @classmethod
    def _from_object(cls, decoded: object) -> TokenTree:
        payload = _Place(decoded, "payload")
        descriptors = tuple(_descriptor_at(each) for each in payload.key("descriptors").items())
        names = payload.key("names", "text").text()
        if names not in ("text", "labels"):
            raise PayloadError(f'names: expected "text" or "labels", got {names!r}')
        return cls(descriptors, payload.key("modelId").text(), names == "labels")


def build_token_trie(sequences: Iterable[TokenSequence]) -> TokenTrieNode:
    """The root of a trie of the sequences.

    Empty sequences are skipped. Of names with the same tokens, the smallest stays.
    """
    root = TokenTrieNode(TRIE_ROOT_TOKEN_ID)
    for sequence in sequences:
        if not sequence.tokens:
            continue
        node = root
        for token in sequence.tokens:
            node = node.children.setdefault(token, TokenTrieNode(token))
        if node.leaf_name is None or sequence.name < node.leaf_name:
            node.leaf_name = sequence.name
        node.is_terminal = True
    return root


def build_token_tree_descriptor(
    path: str,
    names: Iterable[str],
    token_map: Mapping[str, Sequence[int]],
    *,
    trigger: Iterable[Iterable[int]] = (),
    end: Iterable[int] = (),
) -> TokenTreeDescriptor | None:
    """A descriptor of those names that have tokens in `token_map`, sorted and without duplicates; None if
    there are none."""
    leaves = tuple(TokenSequence(name, tuple(token_map[name])) for name in sorted(set(names)) if token_map.get(name))
    return TokenTreeDescriptor(path, leaves, tuple(map(tuple, trigger)), tuple(end)) if leaves else None


def step(node: TokenTrieNode, token_id: int) -> TokenTrieNode | None:
    """The node's child for a token, or None if the token is not legal there."""
    return node.children.get(token_id)


def is_unique_continuation(node: TokenTrieNode) -> bool:
    """Whether a name ends at the node and no other name continues from there."""
    return node.is_terminal and not node.children


def count_terminals(node: TokenTrieNode) -> int:
    """How many names end at the node or below it."""
    return sum(each.is_terminal for each in _nodes(node))


def has_prefix_leaf(node: TokenTrieNode) -> bool:
    """Whether a name at the node or below it is the beginning of another."""
    return any(each.is_terminal and each.children for each in _nodes(node))


def _nodes(node: TokenTrieNode) -> Iterator[TokenTrieNode]:
    """The node and all below it; without recursion, since a leaf may have thousands of tokens."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(current.children.values())


_LANGUAGE_KEYS = ("json_schema", "regex", "lark", "gbnf", "ebnf", "choices", "schema_options")


def _descriptor_at(place: _Place) -> TokenTreeDescriptor | TokenTreePart:
    path = place.key("path").text()
    trigger = tuple(trigger.ids() for trigger in place.key("trigger", []).items())
    end = place.key("end", []).ids()
    language = place.given(_LANGUAGE_KEYS)
    if language and not place.given(("leaves",)):
        return TokenTreePart(path, **language, trigger=trigger, end=end)
    leaves = tuple(
        TokenSequence(leaf.key("name").text(), leaf.key("tokens").ids()) for leaf in place.key("leaves").items()
    )
    return TokenTreeDescriptor(path, leaves, trigger, end)


def _descriptor_to_object(at: int, descriptor: TokenTreeDescriptor | TokenTreePart) -> dict[str, Any]:
    result: dict[str, Any] = {"path": descriptor.path}
    if isinstance(descriptor, TokenTreePart):
        for key in _LANGUAGE_KEYS:
            if (value := getattr(descriptor, key)) is not None:
                result[key] = language_value(f"descriptors[{at}]", key, value)
    else:
        result["leaves"] = [{"name": leaf.name, "tokens": list(leaf.tokens)} for leaf in descriptor.leaves]
    if descriptor.trigger:
        result["trigger"] = [list(tokens) for tokens in descriptor.trigger]
    if descriptor.end:
        result["end"] = list(descriptor.end)
    return result


@dataclass(frozen=True, slots=True)
class _Place:
    """A decoded value and where it stands, for messages that say where."""

    value: object
    where: str

    def key(self, name: str, default: object = None) -> _Place:
        value = self._expect(dict, "an object").get(name, default)
        if value is None:
            raise PayloadError(f"{self.where}: the key {name} is missing")
        return _Place(value, name if self.where == "payload" else f"{self.where}.{name}")

    def given(self, names: Iterable[str]) -> dict[str, Any]:
        """What stands under those of the keys that there are."""
        found = self._expect(dict, "an object")
        return {name: found[name] for name in names if name in found}

    def items(self) -> Iterator[_Place]:
        for index, value in enumerate(self._expect(list, "an array")):
            yield _Place(value, f"{self.where}[{index}]")

    def text(self) -> str:
        return str(self._expect(str, "a string"))

    def ids(self) -> tuple[int, ...]:
        return tuple(item._id() for item in self.items())

    def _id(self) -> int:
        # A bool is an int in Python, but not in the formats.
        if type(self.value) is not int:
            raise PayloadError(f"{self.where}: expected an integer, got {_kind(self.value)}")
        return self.value

    def _expect(self, kind: type, expected: str) -> Any:
        if not isinstance(self.value, kind):
            raise PayloadError(f"{self.where}: expected {expected}, got {_kind(self.value)}")
        return self.value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _msgpack() -> ModuleType:
    try:
        return importlib.import_module("msgpack")
    except ImportError as error:
        raise ModuleNotFoundError(
            "MessagePack needs the package msgpack: pip install msgpack", name="msgpack"
        ) from error
