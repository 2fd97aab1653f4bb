"""Vocabularies: their bytes, flags and limits."""

import numpy as np
import pytest
from eliza_inference import InvalidArgumentError, Model, TokenFlag, Vocabulary


def test_bytes_and_flags_come_back() -> None:
    vocabulary = Vocabulary(
        3, [b"a", b"", b"\xff\x00"], [0, TokenFlag.SPECIAL, TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION]
    )
    assert len(vocabulary) == 3
    assert [vocabulary.token_bytes(token) for token in range(3)] == [b"a", b"", b"\xff\x00"]
    assert vocabulary.flags(1) == TokenFlag.SPECIAL
    assert vocabulary.end_of_generation_tokens() == (2,)


def test_a_number_is_enough() -> None:
    vocabulary = Vocabulary(5)
    assert len(vocabulary) == 5
    assert vocabulary.token_bytes(4) == b""
    assert vocabulary.flags(4) == TokenFlag.NORMAL


@pytest.mark.parametrize("token", [-1, 5])
def test_a_token_outside_is_an_error(token: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"token {token} is outside 0..4"):
        Vocabulary(5).token_bytes(token)


@pytest.mark.parametrize("n_tokens", [0, -1])
def test_an_empty_vocabulary_is_an_error(n_tokens: int) -> None:
    with pytest.raises(InvalidArgumentError):
        Vocabulary(n_tokens)


def test_lists_of_the_wrong_length_are_errors() -> None:
    with pytest.raises(InvalidArgumentError, match="token_bytes: 1 items for 2 tokens"):
        Vocabulary(2, [b"a"])
    with pytest.raises(InvalidArgumentError, match="flags: 3 items for 2 tokens"):
        Vocabulary(2, flags=[0, 0, 0])


def test_a_model_has_a_vocabulary(model: Model) -> None:
    vocabulary = Vocabulary.from_model(model)
    assert len(vocabulary) == len(model.vocabulary)
    token = model.tokenize(" REPLY")[0]
    assert b" REPLY".startswith(vocabulary.token_bytes(token))
    (end,) = vocabulary.end_of_generation_tokens()
    assert TokenFlag.END_OF_GENERATION in vocabulary.flags(end)


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64", ">u2"])
def test_flags_may_be_an_array_of_any_integers(kind: str) -> None:
    flags = np.array([0, 0, TokenFlag.END_OF_GENERATION], kind)
    vocabulary = Vocabulary(3, [b"a", b"b", b"</s>"], flags)  # type: ignore[arg-type]
    assert [vocabulary.flags(token) for token in range(3)] == [0, 0, TokenFlag.END_OF_GENERATION]


@pytest.mark.parametrize("flag", [-1, 256, 1.0, "a"])
def test_flags_of_other_values_are_refused(flag: object) -> None:
    with pytest.raises((InvalidArgumentError, TypeError), match=r"flags\[1\]"):
        Vocabulary(2, [b"a", b"b"], [0, flag])  # type: ignore[list-item]
