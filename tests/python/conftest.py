"""What the tests share: the libllama from npm, the model that ships, and vocabularies."""

import os
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from eliza_inference import LlamaInfo, Model, Stream, TokenTree, Vocabulary, load_llama

TESTS = Path(__file__).resolve().parents[1]
MODEL_FILE = TESTS / "models" / "eliza-router.gguf"
PROMPT = "User: {}\nAction:"


def pytest_configure() -> None:
    """Chooses the libllama that `npm ci` brought to tests/llama, unless another one was chosen; for
    the processes that tests start, too."""
    if not os.environ.get("ELIZA_INFERENCE_LLAMA"):
        locate = runpy.run_path(str(TESTS / "llama" / "locate.py"))["libllama_path"]
        os.environ["ELIZA_INFERENCE_LLAMA"] = str(locate())


@pytest.fixture(scope="session")
def llama() -> LlamaInfo:
    return load_llama()


@pytest.fixture(scope="session")
def model(llama: LlamaInfo) -> Iterator[Model]:
    with Model(MODEL_FILE, model_id="eliza-router") as opened:
        yield opened


@pytest.fixture(scope="session")
def actions() -> list[str]:
    return (TESTS / "models" / "actions.txt").read_text(encoding="utf-8").split()


@pytest.fixture(scope="session")
def action_tree(model: Model, actions: list[str]) -> TokenTree:
    return model.token_tree(actions)


@pytest.fixture
def open_stream(model: Model) -> Iterator[Callable[..., Stream]]:
    """Opens streams that are closed after the test."""
    opened: list[Stream] = []

    def open_one(**options: Any) -> Stream:
        opened.append(model.stream(**{"context_size": 256, "threads": 1} | options))
        return opened[-1]

    yield open_one
    for stream in opened:
        stream.close()


@pytest.fixture
def stream(open_stream: Callable[..., Stream]) -> Stream:
    """A greedy stream that has read a message."""
    opened = open_stream()
    opened.prefill(PROMPT.format("remind me to water the plants"))
    return opened


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(100, model_id="tiny")
