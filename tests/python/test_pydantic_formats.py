"""Formats that Pydantic writes into schemas, against Pydantic: walks by chance are valid, and so are known texts."""

from __future__ import annotations

import fractions
import ipaddress
import json
from random import Random
from typing import Any

import pydantic
import pytest
from eliza_inference import Constraint, Matcher, Step, Vocabulary

BYTES = Vocabulary(257, [bytes([byte]) for byte in range(256)] + [b"</s>"], [0] * 256 + [2])
N_WALKS = 20
LENGTH = 60
UUID = "2eb8aa08-aa98-{}1ea-b4aa-73b441d16380"

TYPES: dict[str, tuple[Any, list[str]]] = {
    **{f"uuid{n}": (getattr(pydantic, f"UUID{n}"), [UUID.format(n)]) for n in (1, 3, 4, 5, 6, 7, 8)},
    "ipv4": (ipaddress.IPv4Address, ["127.0.0.1"]),
    "ipv6": (ipaddress.IPv6Address, ["::1", "1:2::8"]),
    "ipv4interface": (ipaddress.IPv4Interface, ["10.0.0.1/8", "10.0.0.1"]),
    "ipv6interface": (ipaddress.IPv6Interface, ["::1/64"]),
    "ipv4network": (ipaddress.IPv4Network, ["10.0.0.0/8", "172.16.0.0/12", "1.2.3.4"]),
    "ipv6network": (ipaddress.IPv6Network, ["2001:db8::/32", "fe80::/10"]),
    "ipvanyaddress": (pydantic.IPvAnyAddress, ["127.0.0.1", "::1"]),
    "ipvanyinterface": (pydantic.IPvAnyInterface, ["10.0.0.1/8", "::1/64"]),
    "ipvanynetwork": (pydantic.IPvAnyNetwork, ["10.0.0.0/8", "fe80::/10"]),
    "base64": (pydantic.Base64Bytes, ["", "QQ==", "QUFB"]),
    "fraction": (fractions.Fraction, ["1/3", "-2", "1.5"]),
}
# Python's parsers of databases' addresses look at more than the syntax.
EXAMPLES: dict[str, tuple[Any, list[str]]] = {
    "multi-host-uri": (pydantic.PostgresDsn, ["postgres://u:p@a:1,b:2/db?x=1", "postgres://h/db"]),
    "base64url": (pydantic.Base64UrlBytes, ["", "QQ==", "Q_-B"]),
    "password": (pydantic.SecretStr, ["a b"]),
    "binary": (bytes, ["a b"]),
}


def constraint_of(name: str, of: Any) -> tuple[Constraint, pydantic.TypeAdapter[Any]]:
    adapter = pydantic.TypeAdapter(of)
    schema = adapter.json_schema()
    assert any(one.get("format") == name for one in [schema, *schema.get("anyOf", [])])
    return Constraint.json_schema(BYTES, schema), adapter


@pytest.mark.parametrize("name", TYPES | EXAMPLES)
def test_known_texts_are_taken(name: str) -> None:
    of, texts = (TYPES | EXAMPLES)[name]
    constraint, adapter = constraint_of(name, of)
    assert not constraint.warnings
    for text in texts:
        adapter.validate_python(text)
        matcher = Matcher(constraint)
        for byte in json.dumps(text).encode():
            assert Step.REFUSED not in matcher.accept(byte), text
        assert matcher.can_stop, text


@pytest.mark.parametrize("name", TYPES)
def test_walks_by_chance_are_valid(name: str) -> None:
    constraint, adapter = constraint_of(name, TYPES[name][0])
    for n in range(N_WALKS):
        random = Random(f"{name} {n}")
        matcher = Matcher(constraint)
        text = b""
        while not matcher.can_stop:
            legal = matcher.allowed()
            assert legal is not None
            allowed = [int(token) for token in legal]
            quote = ord('"')
            token = quote if len(text) > LENGTH and quote in allowed else random.choice(allowed)
            matcher.accept(token)
            text += bytes([token])
        adapter.validate_python(json.loads(text))
