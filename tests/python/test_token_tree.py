"""Building token trees, and their two formats."""

import json

import pytest
from eliza_inference import (
    TRIE_ROOT_TOKEN_ID,
    Constraint,
    ModelMismatchError,
    PayloadError,
    TokenSequence,
    TokenTree,
    TokenTreeDescriptor,
    Vocabulary,
    build_token_tree_descriptor,
    build_token_trie,
    count_terminals,
    has_prefix_leaf,
    is_unique_continuation,
    step,
)

REPLY = TokenSequence("REPLY", (5, 6))
REPLY_THREAD = TokenSequence("REPLY_THREAD", (5, 6, 7))
NONE = TokenSequence("NONE", (8,))


def test_a_trie_of_nothing_is_a_bare_root() -> None:
    root = build_token_trie([])
    assert root.token_id == TRIE_ROOT_TOKEN_ID
    assert not root.children
    assert not root.is_terminal
    assert count_terminals(root) == 0


def test_names_share_their_common_beginning() -> None:
    root = build_token_trie([REPLY, REPLY_THREAD, NONE])
    first = step(root, 5)
    assert first is not None and not first.is_terminal
    shared = step(first, 6)
    assert shared is not None and shared.is_terminal and shared.leaf_name == "REPLY"
    last = step(shared, 7)
    assert last is not None and last.leaf_name == "REPLY_THREAD"
    assert count_terminals(root) == 3


def test_step_with_a_token_that_is_not_legal_is_none() -> None:
    assert step(build_token_trie([REPLY]), 6) is None


def test_only_a_name_that_no_other_continues_is_a_unique_continuation() -> None:
    root = build_token_trie([REPLY, REPLY_THREAD, NONE])
    assert is_unique_continuation(root.children[8])
    assert not is_unique_continuation(root.children[5])
    assert not is_unique_continuation(root.children[5].children[6])


def test_a_prefix_leaf_is_noticed() -> None:
    assert has_prefix_leaf(build_token_trie([REPLY, REPLY_THREAD]))
    assert not has_prefix_leaf(build_token_trie([REPLY, NONE]))


def test_empty_sequences_are_skipped() -> None:
    root = build_token_trie([TokenSequence("EMPTY", ()), REPLY])
    assert not root.is_terminal
    assert count_terminals(root) == 1


@pytest.mark.parametrize(
    ("names", "smaller"), [(("B", "A"), "A"), (("é", "z"), "z"), (("\U0001f600", "\uffff"), "\uffff")]
)
def test_of_two_names_with_the_same_tokens_the_smaller_in_utf8_stays(names: tuple[str, ...], smaller: str) -> None:
    root = build_token_trie(TokenSequence(name, (1,)) for name in names)
    assert root.children[1].leaf_name == smaller
    tree = TokenTree.from_names(names, lambda _name: [1])
    assert [leaf.name for leaf in tree.descriptors[0].leaves] == sorted(names, key=str.encode)


def test_a_descriptor_has_each_name_once_sorted_without_those_that_have_no_tokens() -> None:
    descriptor = build_token_tree_descriptor(
        "action", ["B", "A", "B", "EMPTY", "UNKNOWN"], {"A": [1], "B": [2], "EMPTY": []}
    )
    assert descriptor == TokenTreeDescriptor("action", (TokenSequence("A", (1,)), TokenSequence("B", (2,))))


def test_a_descriptor_without_names_is_none() -> None:
    assert build_token_tree_descriptor("action", ["UNKNOWN"], {}) is None


def test_a_tree_without_names_is_an_error() -> None:
    with pytest.raises(PayloadError, match="action: no name has any tokens"):
        TokenTree.from_names([], {})


def test_names_are_tokenised_with_their_prefix() -> None:
    tree = TokenTree.from_names(["A"], lambda text: list(text.encode()), prefix=" ")
    assert tree.descriptors[0].leaves == (TokenSequence("A", (32, 65)),)


def test_several_paths() -> None:
    tokens = {"A": [1], "B": [2]}
    tree = TokenTree.from_names(["A"], tokens) + TokenTree.from_names(["B"], tokens, path="parameters.unit")
    assert [descriptor.path for descriptor in tree.descriptors] == ["action", "parameters.unit"]


def test_trees_for_two_models_do_not_add_up() -> None:
    tokens = {"A": [1]}
    with pytest.raises(ModelMismatchError, match="'one' and 'two'"):
        TokenTree.from_names(["A"], tokens, model_id="one") + TokenTree.from_names(["A"], tokens, model_id="two")


def test_both_formats_give_the_same_tree_back() -> None:
    tree = TokenTree.from_names(["é", "B"], {"é": [1, 300], "B": [70000]}, trigger=[[9, 9]], end=[2], model_id="m")
    assert TokenTree.from_json(tree.to_json()) == tree
    assert TokenTree.from_msgpack(tree.to_msgpack()) == tree


def test_the_library_reads_what_the_builder_writes_in_both_formats() -> None:
    tree = TokenTree.from_names(["A", "B"], {"A": [1, 3], "B": [70000]}, trigger=[[9, 9]], end=[2])
    vocabulary = Vocabulary(70001)
    text, packed = Constraint(vocabulary, tree.to_json()), Constraint(vocabulary, tree.to_msgpack())
    assert text.info.n_nodes == packed.info.n_nodes
    assert text.info.n_leaves == 2


def test_optional_keys_are_left_out_when_empty() -> None:
    tree = TokenTree.from_names(["A"], {"A": [1]})
    assert json.loads(tree.to_json()) == {
        "modelId": "",
        "descriptors": [{"path": "action", "leaves": [{"name": "A", "tokens": [1]}]}],
    }


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("", "not JSON"),
        ("[]", "payload: expected an object, got an array"),
        ('{"modelId":""}', "payload: the key descriptors is missing"),
        ('{"modelId":1,"descriptors":[]}', "modelId: expected a string, got int"),
        ('{"modelId":"","descriptors":[{"path":"a","leaves":[{"name":"x","tokens":[1,true]}]}]}',
         r"descriptors\[0\].leaves\[0\].tokens\[1\]: expected an integer, got a boolean"),
    ],
)  # fmt: skip
def test_a_malformed_payload_is_an_error_that_says_where(payload: str, message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        TokenTree.from_json(payload)


def test_malformed_messagepack_is_an_error() -> None:
    with pytest.raises(PayloadError, match="not MessagePack"):
        TokenTree.from_msgpack(b"\x81\xa1")
