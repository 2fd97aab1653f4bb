"""Compiled token trees, and the cache that keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from eliza_inference._library import CData, call, ffi, lent_text, lib, new_struct
from eliza_inference.errors import PayloadError, error_from_status
from eliza_inference.token_tree import TokenTree
from eliza_inference.vocabulary import Vocabulary

__all__ = ["Constraint", "ConstraintInfo", "Payload", "TrieCacheStats", "set_trie_cache_limit", "trie_cache_stats"]

Payload = TokenTree | str | bytes
"""A token tree, or one serialised: JSON as text or bytes, MessagePack as bytes."""


@dataclass(frozen=True, slots=True)
class ConstraintInfo:
    """The size of a compiled token tree."""

    n_descriptors: int
    n_leaves: int
    """Distinct token sequences, all descriptors together."""
    n_nodes: int
    """Nodes of the tries, roots and end nodes included."""
    longest_leaf_tokens: int
    """Tokens of the longest leaf."""
    widest_node: int
    """The most legal tokens at one node."""
    retained_bytes: int
    """Memory kept, the copy of the payload included."""


class Constraint:
    """A token tree compiled for a vocabulary. Immutable; any number of threads may use it.

    The same bytes compile once: later constraints come from a cache. Raises `PayloadError` with the
    place in the tree, `LimitError`, or `ModelMismatchError` if both model ids are known and differ.
    """

    __slots__ = ("_handle", "info", "paths")

    info: ConstraintInfo
    """What the tree compiled to."""
    paths: tuple[str, ...]
    """The paths of the descriptors, in their order."""

    def __init__(self, vocabulary: Vocabulary, tree: Payload) -> None:
        payload = payload_bytes(tree)
        out = ffi.new("eliza_constraint **")
        call(
            lib.eliza_inference_constraint_create_token_trie,
            vocabulary._handle,
            ffi.from_buffer("char[]", payload),
            len(payload),
            out,
        )
        self._handle = ffi.gc(out[0], lib.eliza_inference_constraint_free)
        self.info = _info(self._handle)
        self.paths = tuple(_path(self._handle, index) for index in range(self.info.n_descriptors))

    def _keep(self, _lent: CData) -> None:
        """A destructor that frees nothing: while memory lent by the constraint is in use, its owner
        holds this method, and so the constraint."""


@dataclass(frozen=True, slots=True)
class TrieCacheStats:
    """The cache of compiled token trees, one for the process."""

    entries: int
    bytes: int
    """Retained by the entries."""
    bytes_max: int
    """The bound in force."""
    hits: int
    misses: int
    evictions: int


def trie_cache_stats() -> TrieCacheStats:
    """Size and counters of the cache."""
    stats = new_struct("eliza_trie_cache_stats_t")
    _check(lib.eliza_inference_trie_cache_stats(stats), "cache statistics")
    return TrieCacheStats(stats.entries, stats.bytes, stats.bytes_max, stats.hits, stats.misses, stats.evictions)


def set_trie_cache_limit(bytes_max: int) -> None:
    """Bounds the bytes that the cache retains, evicting at once; 0 keeps nothing."""
    _check(lib.eliza_inference_trie_cache_set_limit(bytes_max), "cache limit")


def payload_bytes(tree: Payload) -> bytes:
    """The bytes of a payload as the library reads them."""
    if isinstance(tree, bytes):
        return tree
    text = tree.to_json() if isinstance(tree, TokenTree) else tree
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PayloadError(f"the payload is not valid Unicode: {error}") from error


def _info(handle: CData) -> ConstraintInfo:
    info = new_struct("eliza_constraint_info_t")
    _check(lib.eliza_inference_constraint_info(handle, info), "constraint info")
    return ConstraintInfo(
        info.n_descriptors,
        info.n_leaves,
        info.n_nodes,
        info.longest_leaf_tokens,
        info.widest_node,
        info.retained_bytes,
    )


def _path(handle: CData, index: int) -> str:
    path, length = ffi.new("const char **"), ffi.new("size_t *")
    _check(lib.eliza_inference_constraint_path(handle, index, path, length), f"path of descriptor {index}")
    return lent_text(path[0], length[0]) or ""


def _check(status: int, what: str) -> None:
    if status < 0:
        raise error_from_status(status, what)
