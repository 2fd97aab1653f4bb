"""`tokenizer.json` of Hugging Face: models of the types BPE and Unigram.

The file's decoder, or without one its pre-tokenizer and normalizer, tells how bytes are spelled:

- byte-level (GPT-2): a character for each byte;
- SentencePiece ("metaspace"): U+2581 is a space, and with byte fallback `<0x0A>` is one byte.

A token has the bytes that it has inside a text: U+2581 is a space at the beginning of a token too. (A
tokenizer that puts a space before a text removes it when it decodes. A constraint sees the tokens as the
model gives them: to it, a text that such a model begins starts with a space.)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from eliza_inference.converters.byte_level import bytes_from_spelling
from eliza_inference.converters.token_table import TokenTable
from eliza_inference.errors import FileInvalidError

__all__ = ["read_tokenizer_json"]

Kind = TypeVar("Kind")

TokenizerJson = str | bytes | os.PathLike[str] | Mapping[str, Any]

_METASPACE = "\u2581"
_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")


def read_tokenizer_json(source: TokenizerJson) -> TokenTable:
    """The tokens of a file, of its text, or of the object that the text is."""
    decoded, name = _decode(source)
    table = TokenTable(name)
    root = _Place(decoded, "", table)
    model = root.key("model")
    _check_kind(model)
    spelling = _spelling(root, model)
    for token, piece, where in _pieces(model):
        try:
            token_bytes = spelling.to_bytes(piece)
        except UnicodeEncodeError as error:
            raise table.error(where, f"{piece!r} is not valid Unicode") from error
        table.add(token, token_bytes, where)
    _mark_unknown(model, table)
    for place in root.key("added_tokens", []).items():
        _add_added_token(place, spelling, table)
    return table


def _decode(source: TokenizerJson) -> tuple[object, str]:
    """The object, and what messages call it."""
    if isinstance(source, Mapping):
        return source, "tokenizer.json"
    is_text = isinstance(source, bytes) or (isinstance(source, str) and source.lstrip()[:1] == "{")
    name = "tokenizer.json" if isinstance(source, bytes) or is_text else os.fspath(source)
    text = source if isinstance(source, bytes) or is_text else Path(source).read_bytes()
    try:
        return json.loads(text), name  # type: ignore[arg-type]
    except (ValueError, RecursionError) as error:
        raise TokenTable(name).error("", f"not JSON: {error}") from error


def _check_kind(model: _Place) -> None:
    kind, vocabulary = model.key("type", None), model.key("vocab")
    if kind.value is None:
        if isinstance(vocabulary.value, list):
            raise kind.error("missing; a vocabulary that is an array is of the type Unigram")
    elif kind.text() not in ("BPE", "Unigram"):
        raise kind.error(f"{kind.value} is unsupported, only BPE and Unigram: its tokens have no bytes of their own")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        affix = model.key(name, "")
        if affix.value:
            raise affix.error(f"tokens with {affix.value!r} have no bytes of their own")


def _pieces(model: _Place) -> Iterator[tuple[object, str, str]]:
    """The id, the spelling and the place of each token of the model."""
    vocabulary = model.key("vocab")
    if model.key("type", "BPE").value == "Unigram":
        for index, entry in enumerate(vocabulary.items()):
            yield index, entry.first_of_pair().text(), entry.name
    else:
        for piece, token in vocabulary.mapping().items():
            yield token, piece, f"model.vocab[{piece!r}]"


def _mark_unknown(model: _Place, table: TokenTable) -> None:
    """The token that stands for what the vocabulary lacks spells nothing."""
    vocabulary = model.key("vocab").value
    if isinstance(vocabulary, list):
        index = model.key("unk_id", None)
        if index.value is None:
            return
        if type(index.value) is not int or not 0 <= index.value < len(vocabulary):
            raise index.error(f"{index.value!r} is outside 0..{len(vocabulary) - 1}")
        table.mark_special(index.value, vocabulary[index.value][0])
    else:
        name = model.key("unk_token", None).value
        if isinstance(name, str) and name in vocabulary:
            table.mark_special(vocabulary[name], name)


def _add_added_token(place: _Place, spelling: _Spelling, table: TokenTable) -> None:
    token, content = place.key("id"), place.key("content")
    try:
        # Added tokens are found in the text as it is: a byte-level vocabulary has them as text.
        token_bytes = content.text().encode() if spelling.byte_level else spelling.to_bytes(content.text())
    except UnicodeEncodeError as error:
        raise content.error(f"{content.value!r} is not valid Unicode") from error
    table.replace(token.value, token_bytes, token.name)
    if place.key("special", False).boolean():
        table.mark_special(token.value, content.text())


@dataclass(slots=True)
class _Spelling:
    """How tokens are spelled."""

    byte_level: bool = False
    byte_fallback: bool = False
    replacements: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return self.byte_level or self.byte_fallback or bool(self.replacements)

    def to_bytes(self, piece: str) -> bytes:
        if self.byte_level:
            return bytes_from_spelling(piece)
        if self.byte_fallback and (byte := _BYTE.fullmatch(piece)):
            return bytes.fromhex(byte[1])
        for old, new in self.replacements:
            piece = piece.replace(old, new)
        return piece.encode()


def _spelling(root: _Place, model: _Place) -> _Spelling:
    spelling = _Spelling(byte_fallback=model.key("byte_fallback", False).boolean())
    decoder = root.key("decoder", None)
    if decoder.value is not None:
        _read_decoder(decoder, spelling)
        return spelling
    for place in (*_sequence(root.key("pre_tokenizer", None)), *_sequence(root.key("normalizer", None))):
        kind = place.key("type").text()
        if kind == "ByteLevel":
            spelling.byte_level = True
        elif kind == "Metaspace":
            spelling.replacements.append((place.key("replacement", _METASPACE).replaced(), " "))
        elif kind == "Replace" and place.key("pattern").mapping().get("String") == " ":
            spelling.replacements.append((place.key("content").replaced(), " "))
    if not spelling.is_known:
        raise decoder.error("missing; neither pre_tokenizer nor normalizer tells how tokens are spelled")
    return spelling


def _read_decoder(decoder: _Place, spelling: _Spelling) -> None:
    fused = False
    for place in _sequence(decoder):
        kind = place.key("type").text()
        if kind == "ByteLevel":
            spelling.byte_level = True
        elif kind == "ByteFallback":
            spelling.byte_fallback = True
        elif kind == "Metaspace":
            spelling.replacements.append((place.key("replacement", _METASPACE).replaced(), " "))
        elif kind == "Replace" and isinstance(place.key("pattern").mapping().get("String"), str):
            replaced = place.key("pattern").key("String").replaced()
            spelling.replacements.append((replaced, place.key("content").text()))
        elif kind == "Fuse":
            fused = True
        # After Fuse it works on the whole text: it takes away the space that was put before the text.
        elif kind != "Strip" or not fused:
            raise place.error(f"the decoder {kind} is unsupported here: it does not give a token bytes of its own")
    if spelling.byte_level and spelling.replacements:
        raise decoder.error("ByteLevel beside Replace or Metaspace is unsupported: two ways to spell a token")


def _sequence(place: _Place) -> Iterator[_Place]:
    """The parts of a decoder, pre-tokenizer or normalizer, which may be a sequence of them."""
    if place.value is None:
        return
    if place.key("type").text() != "Sequence":
        yield place
        return
    for name in ("decoders", "pretokenizers", "normalizers"):
        for part in place.key(name, []).items():
            yield from _sequence(part)


_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class _Place:
    """A value and where it stands, for messages that say where."""

    value: Any
    name: str
    table: TokenTable

    def key(self, key: str, default: object = _REQUIRED) -> _Place:
        """What the object has under a key; null is the same as no key."""
        name = f"{self.name}.{key}" if self.name else key
        value = self.mapping().get(key)
        if value is None and default is _REQUIRED:
            raise self.table.error(name, "missing")
        return _Place(default if value is None else value, name, self.table)

    def mapping(self) -> Mapping[str, Any]:
        return self._expect(Mapping, "an object")  # type: ignore[type-abstract]

    def items(self) -> Iterator[_Place]:
        for index, value in enumerate(self._expect(list, "an array")):
            yield _Place(value, f"{self.name}[{index}]", self.table)

    def first_of_pair(self) -> _Place:
        pair = self._expect(list, "a pair")
        return _Place(pair[0] if len(pair) == 2 else pair, f"{self.name}[0]", self.table)

    def text(self) -> str:
        return self._expect(str, "a string")

    def replaced(self) -> str:
        """A text that stands for another one."""
        if not self.text():
            raise self.error("empty")
        return self.text()

    def boolean(self) -> bool:
        return self._expect(bool, "true or false")

    def error(self, what: str) -> FileInvalidError:
        return self.table.error(self.name, what)

    def _expect(self, kind: type[Kind], expected: str) -> Kind:
        if not isinstance(self.value, kind):
            raise self.error(f"expected {expected}, got {self.value!r:.40}")
        return self.value
