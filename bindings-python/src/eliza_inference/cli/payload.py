"""Token trees from files."""

from __future__ import annotations

from pathlib import Path

from eliza_inference.errors import ElizaError, PayloadError
from eliza_inference.token_tree import TokenTree


def read_payload(file: Path) -> TokenTree:
    """Reads a token tree in JSON or MessagePack, told apart by the first byte as the library does."""
    payload = file.read_bytes()
    is_json = payload.lstrip(b" \t\n\r")[:1] == b"{"
    if not is_json and not (payload and (0x80 <= payload[0] <= 0x8F or payload[0] in (0xDE, 0xDF))):
        raise PayloadError(f"{file}: neither JSON (begins with {{) nor MessagePack (begins with a map)")
    try:
        return TokenTree.from_json(payload) if is_json else TokenTree.from_msgpack(payload)
    except ElizaError as error:
        raise PayloadError(f"{file}: {error.message}") from error
