"""Compiling token trees, and the cache."""

from collections.abc import Iterator

import pytest
from eliza_inference import (
    Constraint,
    LimitError,
    Matcher,
    ModelMismatchError,
    PayloadError,
    Status,
    TokenTree,
    Vocabulary,
    limits,
    set_trie_cache_limit,
    trie_cache_stats,
)


@pytest.fixture
def cache_limit() -> Iterator[None]:
    yield
    set_trie_cache_limit(limits.TRIE_CACHE_BYTES)


def test_what_a_tree_compiled_to(vocabulary: Vocabulary) -> None:
    tokens = {"A": [1, 2], "B": [1, 3], "C": [4, 5, 6]}
    tree = TokenTree.from_names(["A", "B"], tokens) + TokenTree.from_names(["C"], tokens, path="unit")
    constraint = Constraint(vocabulary, tree)
    assert constraint.paths == ("action", "unit")
    info = constraint.info
    assert (info.n_descriptors, info.n_leaves, info.longest_leaf_tokens, info.widest_node) == (2, 3, 3, 2)
    assert info.n_nodes == 4 + 4
    assert info.retained_bytes > len(tree.to_json())


def test_a_tree_for_a_larger_vocabulary_is_an_error_that_says_where() -> None:
    tree = TokenTree.from_names(["A"], {"A": [1, 300]})
    with pytest.raises(PayloadError, match=r"descriptors\[0\]\.leaves\[0\]\.tokens\[1\]: 300 is not below") as caught:
        Constraint(Vocabulary(300), tree)
    assert caught.value.status == Status.PAYLOAD
    assert isinstance(caught.value, ValueError)


def test_a_tree_for_another_model_is_an_error(vocabulary: Vocabulary) -> None:
    tree = TokenTree.from_names(["A"], {"A": [1]}, model_id="other")
    with pytest.raises(ModelMismatchError, match="other"):
        Constraint(vocabulary, tree)
    Constraint(Vocabulary(100), tree)


def test_text_that_is_not_unicode_is_an_error(vocabulary: Vocabulary) -> None:
    with pytest.raises(PayloadError, match="not valid Unicode"):
        Constraint(vocabulary, TokenTree.from_names(["\ud800"], {"\ud800": [1]}))


def test_beyond_a_limit_is_an_error(vocabulary: Vocabulary) -> None:
    tree = TokenTree.from_names(["A"], {"A": [1] * (limits.LEAF_TOKENS_MAX + 1)})
    with pytest.raises(LimitError, match=str(limits.LEAF_TOKENS_MAX)):
        Constraint(vocabulary, tree)


def test_a_leaf_longer_than_the_span_timeout_is_an_error(vocabulary: Vocabulary) -> None:
    tree = TokenTree.from_names(["A"], {"A": [1] * (limits.SPAN_TIMEOUT_TOKENS + 1)})
    with pytest.raises(LimitError):
        Matcher(Constraint(vocabulary, tree))


def test_the_same_bytes_compile_once(vocabulary: Vocabulary) -> None:
    tree = TokenTree.from_names(["ONCE"], {"ONCE": [1, 2, 3]})
    Constraint(vocabulary, tree)
    before = trie_cache_stats()
    Constraint(vocabulary, tree)
    after = trie_cache_stats()
    assert (after.hits, after.misses) == (before.hits + 1, before.misses)


def test_a_cache_without_room_keeps_nothing(vocabulary: Vocabulary, cache_limit: None) -> None:
    set_trie_cache_limit(0)
    constraint = Constraint(vocabulary, TokenTree.from_names(["NOT_KEPT"], {"NOT_KEPT": [1]}))
    stats = trie_cache_stats()
    assert (stats.entries, stats.bytes, stats.bytes_max) == (0, 0, 0)
    assert constraint.paths == ("action",)
