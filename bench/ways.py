"""The ways to let a model answer with one of some names, each after the same two calls."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from eliza_inference import Model, Stream

from bench.guided import GuidedModel, guided_library
from bench.prompts import final_texts, grammar_of

Mode = Literal["free", "strict-guided", "common-sampler", "strict-trie-ffi"]
MODES: tuple[Mode, ...] = get_args(Mode)

MAX_TOKENS = 24
"""Ends an answer that does not end by itself."""
CONTEXT_SIZE = 256


@dataclass(frozen=True, slots=True)
class WayName:
    """One way to generate."""

    mode: Mode
    stop_at_leaf: bool = False
    """Of a grammar mode: the host stops as soon as a name has come out that no other continues."""
    skip_ahead: bool = True
    """Of the trie mode: tokens without a choice are decoded together."""

    def __str__(self) -> str:
        if self.stop_at_leaf:
            return f"{self.mode}, stopped at the leaf"
        if self.mode == "strict-trie-ffi" and not self.skip_ahead:
            return "strict-trie-ffi, no skip-ahead"
        return self.mode


@dataclass(frozen=True, slots=True)
class Output:
    """What came out after the prompt."""

    tokens: list[int]
    text: str
    passes: int
    """Forward passes, that of the prompt not among them."""


class Way(ABC):
    @abstractmethod
    def prefill(self, prompt: list[int]) -> None:
        """Forgets the last answer and reads a prompt."""

    @abstractmethod
    def generate(self) -> object:
        """Answers it; the time that this takes is what is measured."""

    @abstractmethod
    def output(self, generated: object) -> Output:
        """What `generate` gave."""


class Guided(Way):
    def __init__(self, model: GuidedModel) -> None:
        self._model = model

    def prefill(self, prompt: list[int]) -> None:
        self._model.prefill(prompt)

    def generate(self) -> tuple[list[int], int]:
        return self._model.generate(MAX_TOKENS)

    def output(self, generated: object) -> Output:
        assert isinstance(generated, tuple)
        tokens, passes = generated
        return Output(tokens, self._model.text(tokens), passes)


class Streamed(Way):
    """The library's own stream: free, or with a grammar in the way of llama.cpp's common_sampler."""

    def __init__(self, stream: Stream, stop_at: set[str]) -> None:
        self._stream = stream
        self._stop_at = stop_at
        self._tokens: list[int] = []

    def prefill(self, prompt: list[int]) -> None:
        self._tokens = []
        self._stream.reset()
        self._stream.prefill(prompt)

    def generate(self) -> str:
        text = ""

        def on_token(token: int, piece: str) -> bool:
            nonlocal text
            text += piece
            if token >= 0:
                self._tokens.append(token)
            return text in self._stop_at

        return self._stream.generate(on_token)

    def output(self, generated: object) -> Output:
        assert isinstance(generated, str)
        return Output(self._tokens, generated, self._stream.stats.forward_passes)


class Constrained(Streamed):
    """The stream with a token trie, set again for each answer, as a host does."""

    def __init__(self, stream: Stream, payload: bytes) -> None:
        super().__init__(stream, set())
        self._payload = payload

    def generate(self) -> str:
        with self._stream.span(self._payload):
            return super().generate()


@contextmanager
def open_way(name: WayName, model: Model, path: Path, names: list[str], payload: bytes) -> Iterator[Way]:
    """Opens a way on one thread. `path` is the file of `model`."""
    with ExitStack() as stack:
        if name.mode == "strict-guided":
            yield Guided(stack.enter_context(GuidedModel(guided_library(), path, grammar_of(names))))
            return
        grammar = grammar_of(names) if name.mode == "common-sampler" else None
        stream = stack.enter_context(
            model.stream(
                max_tokens=MAX_TOKENS,
                context_size=CONTEXT_SIZE,
                grammar=grammar,
                skip_ahead=name.skip_ahead,
                threads=1,
            )
        )
        if name.mode == "strict-trie-ffi":
            yield Constrained(stream, payload)
        else:
            yield Streamed(stream, final_texts(names) if name.stop_at_leaf else set())
