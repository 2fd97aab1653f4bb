"""Embeddings of texts, with the real libllama; memory advice."""

import logging
import math
import re
import sys
from pathlib import Path

import pytest
from eliza_inference import InvalidArgumentError, Model, Pooling
from eliza_inference._library import ffi, lib

from conftest import MODEL_FILE

TEXT = "remind me to water the plants"


def cosine(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize("pooling", list(Pooling))
def test_an_embedding_has_length_1_and_is_that_of_the_text(model: Model, pooling: Pooling) -> None:
    vector = model.embed(TEXT, pooling=pooling)
    assert len(vector) == 96, "the model's width"
    assert math.isclose(cosine(vector, vector), 1, abs_tol=1e-5)
    model.embed("another text", pooling=Pooling.MEAN)
    assert model.embed(TEXT, pooling=pooling) == vector


def test_texts_that_are_alike_have_like_embeddings(model: Model) -> None:
    reminder = model.embed(TEXT)
    assert cosine(reminder, model.embed("remind me to feed the cat")) > cosine(reminder, model.embed("who are you"))


def test_pooling(model: Model) -> None:
    """The model looks back only: its first token has the same vector in every text, and its last one is that of the
    whole text."""
    first = [model.embed(text, pooling=Pooling.FIRST) for text in (TEXT, "who are you", "")]
    assert all(cosine(first[0], other) > 0.9999 for other in first)
    assert model.embed("") == model.embed("", pooling=Pooling.LAST) == first[2], "one token, that of the beginning"
    assert cosine(model.embed(TEXT, pooling=Pooling.LAST), model.embed("plants", pooling=Pooling.LAST)) < 0.999


def test_of_a_longer_text_the_beginning_counts(model: Model, caplog: pytest.LogCaptureFixture) -> None:
    window = 256
    long = "a b" * window
    n_tokens = len(model.tokenize(long, add_special=True))
    assert n_tokens > window
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        vector = model.embed(long)
    warning = f"embed: the text has {n_tokens} tokens, and the model was trained with {window}"
    assert [record.getMessage().startswith(warning) for record in caplog.records].count(True) == 1
    assert vector == model.embed(long + "a b" * 10)


def test_streams_and_embeddings_do_not_disturb_each_other(model: Model) -> None:
    with model.stream(context_size=64, max_tokens=6) as stream:
        stream.prefill("User: hello\nAction:")
        before = stream.step()
        model.embed(TEXT)
        again = stream.generate()
    with model.stream(context_size=64, max_tokens=6) as stream:
        stream.prefill("User: hello\nAction:")
        assert before.text + again == stream.generate()


def test_a_pooling_that_is_none_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="7 is not a valid Pooling"):
        model.embed(TEXT, pooling=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError):
        model.embed("\udc00")


@pytest.mark.skipif(sys.platform != "linux", reason="the mappings of the process are told by /proc")
def test_memory_advice(model: Model) -> None:
    def resident() -> int:
        total, is_model = 0, False
        for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
            if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
                is_model = line.endswith(str(MODEL_FILE))
            elif is_model and line.startswith("Rss:"):
                total += int(line.split()[1])
        return total

    vector = model.embed(TEXT)
    in_use = resident()
    assert in_use > 0
    assert lib.eliza_inference_mmap_evict(model._handle, b"text", ffi.NULL) == 0
    assert resident() < in_use / 2
    assert lib.eliza_inference_mmap_acquire(model._handle, b"text", ffi.NULL) == 0
    assert model.embed(TEXT) == vector
    assert resident() >= in_use / 2
