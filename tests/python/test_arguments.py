"""What is said of arguments that are not what is expected: their name, what was expected, what came."""

import re
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from eliza_inference import (
    Budget,
    Constraint,
    InvalidArgumentError,
    Matcher,
    Model,
    PayloadError,
    Stream,
    TokenTree,
    Vocabulary,
    apply_bitmaps,
    constraint_sampler,
    fill_bitmaps,
    set_sampler_constraint,
    set_trie_cache_limit,
)

BYTES = Vocabulary(256, [bytes([byte]) for byte in range(256)], [0] * 255 + [2])
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
    refused(BufferError, f"logits: {gaps}", lambda: matcher().mask_logits(np.zeros(512, np.float32)[::2]))


def test_a_list_is_no_array_of_logits() -> None:
    got = "got list (numpy.array or array.array makes an array)"
    message = f"logits: expected a contiguous 1-d array of 32-bit floats, {got}"
    refused(TypeError, message, lambda: matcher().sample([0.0] * 256))
    refused(TypeError, message, lambda: matcher().mask_logits([0.0] * 256))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_logits_of_another_float_type_name_what_takes_them(dtype: str) -> None:
    with pytest.raises(TypeError, match=rf"got {dtype} with shape \(256,\) \(apply_bitmap takes other float types\)"):
        matcher().mask_logits(np.zeros(256, dtype))


def test_one_bitmap_is_one_row() -> None:
    message = "bitmap: expected one row, got 2 (fill_bitmaps fills several)"
    refused(InvalidArgumentError, message, lambda: matcher().fill_bitmap(np.zeros((2, N_WORDS), np.int32)))
    assert matcher().fill_bitmap(np.zeros((1, N_WORDS), np.int32)).any()


def test_a_list_is_no_row_of_logits() -> None:
    message = "logits: expected an array of numpy or a tensor of torch, got list"
    refused(TypeError, message, lambda: apply_bitmaps([0.0] * 256, matcher().fill_bitmap()))


def test_only_matchers_fill_bitmaps() -> None:
    out = np.zeros((2, N_WORDS), np.int32)
    refused(TypeError, "matchers[1]: expected a Matcher, got int", lambda: fill_bitmaps([matcher(), 1], out))
    refused(TypeError, "matchers: expected several matchers, got Matcher", lambda: fill_bitmaps(matcher(), out))


# ---- Objects ---------------------------------------------------------------------------------------------------------

TREE = TokenTree.from_names(["A"], {"A": [65]})


def test_objects_of_another_class_are_told_with_a_remedy(model: Model) -> None:
    makes_one = "(Constraint(vocabulary, tree) makes one)"
    refused(TypeError, f"constraint: expected a Constraint, got TokenTree {makes_one}", lambda: Matcher(TREE))
    refused(TypeError, "constraint: expected a Constraint, got None", lambda: Matcher(None))
    use = "vocabulary: expected a Vocabulary, got Model (use model.vocabulary)"
    for create in (Constraint, Constraint.choices, Constraint.regex, Constraint.lark, Constraint.open):
        refused(TypeError, use, lambda create=create: create(model, ["a"] if create == Constraint.choices else "a"))
    refused(TypeError, "vocabulary: expected a Vocabulary, got None", lambda: Constraint.lark(None, "a"))
    refused(TypeError, "budget: expected a Budget, got int", lambda: Constraint.regex(BYTES, "a", budget=5))
    refused(TypeError, "model: expected a Model, got Vocabulary", lambda: Vocabulary.from_model(BYTES))
    for call in (lambda: constraint_sampler(8, TREE), lambda: set_sampler_constraint(8, TREE)):
        refused(TypeError, f"constraint: expected a Constraint, got TokenTree {makes_one}", call)


def test_a_stream_refuses_them_too(stream: Stream) -> None:
    remedy = "(use the constraint that it was made from)"
    message = f"constraint: expected a Constraint, got Matcher {remedy}"
    refused(TypeError, message, lambda: stream.set_constraint(matcher()))
    refused(TypeError, "path: expected a str, got int", lambda: stream.activate(5))
    refused(TypeError, "prompt: expected several ints, got None", lambda: stream.prefill(None))
    with pytest.raises(PayloadError, match=r"'REPLY' \(model.token_tree"):
        stream.choose("REPLY")


def test_texts_are_told_apart_from_other_things(model: Model) -> None:
    refused(TypeError, "pattern: expected a str, got bytes", lambda: Constraint.regex(BYTES, b"a"))
    refused(TypeError, "grammar: expected a str, got None", lambda: Constraint.lark(BYTES, None))
    refused(TypeError, "path: expected a str, got int", lambda: matcher().activate(5))
    refused(TypeError, "text: expected a str, got None", lambda: model.tokenize(None))
    refused(TypeError, "grammar: expected a str, got int", lambda: model.stream(grammar=5))


# ---- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call", "least", "most"),
    [
        ("token", lambda value: matcher().accept(value), 0, 255),
        ("token", lambda value: BYTES.flags(value), 0, 255),
        ("n_tokens", lambda value: matcher().rollback(value), 0, 2**31 - 1),
        ("n_tokens", lambda value: matcher().set_span_timeout(value), 0, 2**32 - 1),
        ("n_tokens", Vocabulary, 1, 2**31 - 1),
        ("seed", lambda value: matcher().set_seed(value), 0, 2**64 - 1),
        ("seed", lambda value: Matcher(matcher()._constraint, seed=value), 0, 2**64 - 1),
        ("span_timeout", lambda value: Matcher(matcher()._constraint, span_timeout=value), 1, 2**32 - 1),
        ("states_max", lambda value: Budget(states_max=value), 1, 65535),
        ("bytes_max", set_trie_cache_limit, 0, 2**64 - 1),
        ("n_threads", lambda value: fill_bitmaps([], bytearray(), value), 0, 2**32 - 1),
    ],
)
def test_integers_of_another_type_or_range(name: str, call: Callable[[object], object], least: int, most: int) -> None:
    for value, got in (("a", "str"), (1.5, "float"), ({1}, "set")):
        refused(TypeError, f"{name}: expected an int, got {got}", lambda value=value: call(value))
    refused(InvalidArgumentError, f"{name}: {2**80} is outside {least}..{most}", lambda: call(2**80))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("max_tokens", 0, 2**31 - 1),
        ("top_k", -(2**31), 2**31 - 1),
        ("context_size", -(2**31), 2**31 - 1),
        ("gpu_layers", -(2**31), 2**31 - 1),
        ("seed", 0, 2**64 - 1),
        ("threads", 1, 512),
        ("time_budget_ms", 0, 2**64 - 1),
        ("span_timeout", 1, 2**32 - 1),
    ],
)
def test_options_of_a_stream_are_named(model: Model, name: str, least: int, most: int) -> None:
    refused(TypeError, f"{name}: expected an int, got str", lambda: model.stream(**{name: "a"}))
    for value in (least - 1, most + 1):
        refused(
            InvalidArgumentError,
            f"{name}: {value} is outside {least}..{most}",
            lambda value=value: model.stream(**{name: value}),
        )


def test_a_negative_number_is_out_of_range(stream: Stream) -> None:
    refused(InvalidArgumentError, f"n_tokens: -1 is outside 0..{2**31 - 1}", lambda: matcher().rollback(-1))
    refused(InvalidArgumentError, f"seed: -1 is outside 0..{2**64 - 1}", lambda: stream.set_seed(-1))
    refused(InvalidArgumentError, f"max_tokens: -1 is outside 0..{2**31 - 1}", lambda: stream.step(max_tokens=-1))
    refused(InvalidArgumentError, f"keep: -1 is outside 0..{2**31 - 1}", lambda: stream.reset(-1))


def test_token_ids_are_named_by_their_index(model: Model) -> None:
    message = f"tokens[1]: {2**40} is outside {-(2**31)}..{2**31 - 1}"
    refused(InvalidArgumentError, message, lambda: model.detokenize([5, 2**40]))
    refused(TypeError, "tokens[0]: expected an int, got str", lambda: model.detokenize("a"))
    constraint = Constraint.regex(BYTES, "a")
    refused(TypeError, "end: expected several ints, got int", lambda: Matcher(constraint, end=5))
    refused(TypeError, "end[0]: expected an int, got str", lambda: Matcher(constraint, end="a"))


def test_settings_of_a_choice_are_named(stream: Stream, action_tree: TokenTree) -> None:
    logits = array("f", [0] * 256)
    refused(TypeError, "mode: expected a Mode, got str", lambda: matcher().sample(logits, "greedy"))
    refused(TypeError, "temperature: expected a number, got str", lambda: matcher().sample(logits, temperature="a"))
    refused(TypeError, "top_p: expected a number, got None", lambda: matcher().sample(logits, top_p=None))
    refused(TypeError, "temperature: expected a number, got str", lambda: stream.set_sampling(temperature="a"))
    refused(TypeError, "mode: expected a Mode, got str", lambda: stream.choose(action_tree, mode="greedy"))


@pytest.mark.parametrize(
    ("schema", "kind", "message"),
    [
        (
            "a/b.json",
            InvalidArgumentError,
            r"schema: 'a/b.json' is a path, not JSON: pass pathlib.Path\('a/b.json'\).read_text\(\)",
        ),
        (Path("a.json"), TypeError, r".*got \w+Path \(pass path.read_text\(\)\)"),
        (list[int], TypeError, r".*got GenericAlias \(pydantic.TypeAdapter makes a model of any type\)"),
    ],
)
def test_what_is_no_schema_says_what_would_be(schema: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Constraint.json_schema(BYTES, schema)
