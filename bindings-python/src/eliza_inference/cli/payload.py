"""Token trees from files."""

from __future__ import annotations

from pathlib import Path

from eliza_inference.errors import ElizaError, PayloadError
from eliza_inference.token_tree import TokenTree


def read_payload(file: Path) -> TokenTree:
    """Reads a token tree in JSON or MessagePack, told apart by the first byte as the library does."""
    payload = file.read_bytes()
    is_json = payload.lstrip()[:1] in (b"{", b"")
    try:
        return TokenTree.from_json(payload) if is_json else TokenTree.from_msgpack(payload)
    except ElizaError as error:
        raise PayloadError(f"{file}: {error.message}") from error
