"""What objects show of themselves."""

import pytest
from eliza_inference import (
    Constraint,
    ConstraintKind,
    LlamaInfo,
    Matcher,
    Mode,
    Model,
    Span,
    Step,
    StopReason,
    Stream,
    TokenTree,
    Vocabulary,
)

from conftest import MODEL_FILE

WORDS = Vocabulary(4, [b"a", b"b", b"ab", b"</s>"], [0, 0, 0, 2])


def test_a_vocabulary_and_what_is_compiled_for_it() -> None:
    assert repr(WORDS) == "<Vocabulary of 4 tokens>"
    tree = TokenTree.from_names(["a"], {"a": [0]})
    assert repr(Constraint(WORDS, tree)) == "<Constraint TOKEN_TRIE for 4 tokens>"
    assert repr(Constraint.choices(WORDS, ["a"])) == "<Constraint CHOICES for 4 tokens>"
    assert repr(Constraint.lark(WORDS, 'start: "a"')) == "<Constraint GRAMMAR for 4 tokens>"
    matcher = Matcher(Constraint.regex(WORDS, "ab+"))
    assert repr(matcher) == "<Matcher of <Constraint REGEX for 4 tokens>>"
    matcher.close()
    assert repr(matcher) == "<Matcher of <Constraint REGEX for 4 tokens>, closed>"


def test_numbers_with_names() -> None:
    assert f"{StopReason.CONTEXT_FULL} {ConstraintKind.REGEX!s} {Mode.GREEDY:>7}" == "CONTEXT_FULL REGEX  GREEDY"
    assert str(Step.IN_SPAN | Step.SPAN_ENDED) == "IN_SPAN|SPAN_ENDED" and str(Step(0)) == "NONE"


def test_a_model_and_its_streams(llama: LlamaInfo) -> None:
    with Model(MODEL_FILE) as model:
        shown = f"<Model {str(MODEL_FILE)!r}>"
        assert repr(model) == shown
        stream = model.stream(context_size=64)
        assert repr(stream) == f"<Stream of {shown}>"
        assert repr(stream.span(model.token_tree(["NONE"]), path="action")) == f"<Span of <Stream of {shown}>>"
        stream.close()
        assert repr(stream) == f"<Stream of {shown}, closed>"
    assert repr(model) == f"<Model {str(MODEL_FILE)!r}, closed>"


@pytest.mark.parametrize("kind", [Vocabulary, Constraint, Matcher, Model, Stream, Span])
def test_one_that_could_not_be_made_is_shown_too(kind: type[object]) -> None:
    assert repr(kind.__new__(kind)) == f"<{kind.__name__} not initialised>"
