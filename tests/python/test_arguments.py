"""What is said of arguments that are not what is expected: their name, what was expected, what came."""

import re
from array import array
from collections.abc import Callable

import numpy as np
import pytest
from eliza_inference import Constraint, InvalidArgumentError, Matcher, Model, TokenTree, Vocabulary, fill_bitmaps

BYTES = Vocabulary(256, [bytes([byte]) for byte in range(256)])
N_WORDS = 8


def matcher() -> Matcher:
    return Matcher(Constraint.choices(BYTES, ["ab", "ac"]))


def refused(kind: type[Exception], message: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        call()


# ---- Names and strings -----------------------------------------------------------------------------------------------


def test_one_text_is_not_several_names() -> None:
    refused(TypeError, "names: expected several names, got one str", lambda: TokenTree.from_names("AB", {"A": [1]}))
    refused(TypeError, "names: expected several names, got None", lambda: TokenTree.from_names(None, {}))
    refused(TypeError, "strings: expected several strings, got one str", lambda: Constraint.choices(BYTES, "abc"))
    refused(TypeError, "strings: expected several strings, got one bytes", lambda: Constraint.choices(BYTES, b"abc"))


def test_a_name_is_a_text_and_not_empty() -> None:
    refused(InvalidArgumentError, "names[1] is empty", lambda: TokenTree.from_names(["A", ""], {"A": [1], "": [2]}))
    refused(TypeError, "names[0]: expected a str, got int", lambda: TokenTree.from_names([1], {1: [1]}))
    refused(TypeError, "strings[1]: expected a str, got int", lambda: Constraint.choices(BYTES, ["a", 1]))


def test_a_model_refuses_them_too(model: Model) -> None:
    refused(TypeError, "names: expected several names, got one str", lambda: model.token_tree("REPLY"))
    refused(InvalidArgumentError, "names[0] is empty", lambda: model.token_tree([""]))


# ---- Arrays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "out",
    [np.zeros(N_WORDS, np.int32), np.zeros(N_WORDS, np.uint32), array("i", [0] * N_WORDS), bytearray(4 * N_WORDS)],
    ids=["int32", "uint32", "array", "bytes"],
)
def test_arrays_of_words_and_bytes_are_bitmaps(out: object) -> None:
    assert bytes(memoryview(matcher().fill_bitmap(out))) == bytes(memoryview(matcher().fill_bitmap()))
    assert bytes(memoryview(fill_bitmaps([matcher()], out))) == bytes(memoryview(matcher().fill_bitmap()))


@pytest.mark.parametrize(
    ("out", "got"),
    [
        (np.zeros(32 * N_WORDS, bool), "bool"),
        (np.zeros(N_WORDS, np.float32), "float32"),
        (np.zeros(N_WORDS, np.int64), "int64"),
        (np.zeros(N_WORDS, ">i4"), ">i4"),
        (array("f", [0] * N_WORDS), "format 'f'"),
        ([0] * N_WORDS, "list (numpy.array or array.array makes an array)"),
        (5, "int"),
    ],
)
def test_arrays_of_anything_else_are_not(out: object, got: str) -> None:
    refused(TypeError, f"bitmap: expected 32-bit integers, got {got}", lambda: matcher().fill_bitmap(out))
    refused(TypeError, f"bitmaps: expected 32-bit integers, got {got}", lambda: fill_bitmaps([matcher()], out))


def test_an_array_that_is_written_to_is_writable_and_contiguous() -> None:
    read_only = "expected a writable array, got a read-only one"
    gaps = "expected a contiguous array, got one with gaps"
    every_second = np.zeros(2 * N_WORDS, np.int32)[::2]
    refused(BufferError, f"bitmap: {read_only}", lambda: matcher().fill_bitmap(bytes(4 * N_WORDS)))
    refused(BufferError, f"bitmaps: {read_only}", lambda: fill_bitmaps([matcher()], bytes(4 * N_WORDS)))
    refused(BufferError, f"bitmap: {gaps}", lambda: matcher().fill_bitmap(every_second))
    refused(BufferError, f"bitmaps: {gaps}", lambda: fill_bitmaps([matcher()], every_second))
    logits = memoryview(array("f", [0] * 256)).toreadonly()
    refused(BufferError, f"logits: {read_only}", lambda: matcher().mask_logits(logits))


def test_a_list_is_no_array_of_logits() -> None:
    got = "got list (numpy.array or array.array makes an array)"
    message = f"logits: expected a contiguous 1-d array of 32-bit floats, {got}"
    refused(TypeError, message, lambda: matcher().sample([0.0] * 256))
    refused(TypeError, message, lambda: matcher().mask_logits([0.0] * 256))


def test_only_matchers_fill_bitmaps() -> None:
    out = np.zeros((2, N_WORDS), np.int32)
    refused(TypeError, "matchers[1]: expected a Matcher, got int", lambda: fill_bitmaps([matcher(), 1], out))
    refused(TypeError, "matchers: expected several matchers, got Matcher", lambda: fill_bitmaps(matcher(), out))
