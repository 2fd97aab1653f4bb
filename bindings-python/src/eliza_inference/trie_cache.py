"""The cache of compiled token trees."""

from __future__ import annotations

from dataclasses import dataclass

from eliza_inference._arguments import UINT64_MAX, integer
from eliza_inference._library import lib, new_struct
from eliza_inference.errors import error_from_status

__all__ = ["TrieCacheStats", "set_trie_cache_limit", "trie_cache_stats"]


@dataclass(frozen=True, slots=True)
class TrieCacheStats:
    """The size and counters of the process's one cache of compiled token trees."""

    entries: int
    bytes: int
    """Memory that the entries keep."""
    bytes_max: int
    """The bound on `bytes`."""
    hits: int
    misses: int
    evictions: int


def trie_cache_stats() -> TrieCacheStats:
    """The size and the counters of the cache, since the process began."""
    stats = new_struct("eliza_trie_cache_stats_t")
    _check(lib.eliza_inference_trie_cache_stats(stats))
    return TrieCacheStats(stats.entries, stats.bytes, stats.bytes_max, stats.hits, stats.misses, stats.evictions)


def set_trie_cache_limit(bytes_max: int) -> None:
    """Bounds the bytes that the cache keeps, which evicts at once; 0 keeps nothing. Constraints in use stay
    valid."""
    _check(lib.eliza_inference_trie_cache_set_limit(integer("bytes_max", bytes_max, 0, UINT64_MAX)))


def _check(status: int) -> None:
    if status < 0:
        raise error_from_status(status, "the cache of compiled token trees failed")
