"""Exceptions that come while the library calls back, such as Ctrl-C."""

import sys
from collections.abc import Callable, Iterator
from types import FrameType

import pytest
from eliza_inference import Budget, Constraint, Matcher, Model, TokenFlag, Vocabulary

GRAMMARS = {"other": 'A: "a"\n'}


@pytest.fixture
def interrupt() -> Iterator[Callable[[str], None]]:
    """Interrupts a function on its first instruction, before any `try` of it, as a signal may."""
    before = sys.gettrace()

    def interrupt_in(name: str) -> None:
        def trace(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call" and frame.f_code.co_name == name:
                raise KeyboardInterrupt(name)

        sys.settrace(trace)

    yield interrupt_in
    sys.settrace(before)


@pytest.fixture
def vocabulary() -> Vocabulary:
    token_bytes = [bytes([byte]) for byte in range(256)]
    return Vocabulary(257, [*token_bytes, b""], [TokenFlag.NORMAL] * 256 + [TokenFlag.END_OF_GENERATION])


def test_the_cancel_callback_of_a_budget(interrupt: Callable[[str], None], vocabulary: Vocabulary) -> None:
    interrupt("_on_cancel")
    with pytest.raises(KeyboardInterrupt, match="_on_cancel"):
        Constraint.regex(vocabulary, "a+b", budget=Budget(cancel=lambda: False))


def test_the_documents_of_a_schema(interrupt: Callable[[str], None], vocabulary: Vocabulary) -> None:
    interrupt("_on_document")
    with pytest.raises(KeyboardInterrupt, match="_on_document"):
        Constraint.json_schema(vocabulary, {"$ref": "http://h/x"}, documents={"http://h/x": True})


def test_the_grammars_of_a_grammar(interrupt: Callable[[str], None], vocabulary: Vocabulary) -> None:
    interrupt("_on_grammar")
    with pytest.raises(KeyboardInterrupt, match="_on_grammar"):
        Constraint.lark(vocabulary, "%import other.A\nstart: A\n", imports=GRAMMARS)


def test_a_tokenizer(interrupt: Callable[[str], None], vocabulary: Vocabulary) -> None:
    vocabulary.set_tokenizer(list)
    matcher = Matcher(Constraint.lark(vocabulary, 'start: "abc"'))
    interrupt("_on_tokenize")
    with pytest.raises(KeyboardInterrupt, match="_on_tokenize"):
        matcher.forced()
    sys.settrace(None)
    assert matcher.forced()[:1] == [ord("a")]


def test_the_callback_of_a_stream(interrupt: Callable[[str], None], model: Model) -> None:
    with model.stream(context_size=64, threads=1) as stream:
        stream.prefill(model.tokenize("User: hi\nAction:"))
        interrupt("_on_token")
        with pytest.raises(KeyboardInterrupt, match="_on_token"):
            stream.generate(lambda _token, _text: None)
