"""Structural tags of every format beside XGrammar's own matcher, and answer frames in SGLang's reasoning backend."""

import json
import random
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xgrammar
from eliza_inference import Constraint, Matcher, Vocabulary
from eliza_inference.errors import GrammarError
from eliza_inference.sglang import ElizaGrammar, ElizaGrammarBackend
from eliza_inference.structural_tags import names_tokens

from examples import EXAMPLES, ROOT, expected_output
from oracles.structural_tag_forms import Forms
from tiny_tokenizer import tiny_tokenizer

FRAME_TOKENS = ("<|message_model|>", "<|content_text|>", "<|content_thinking|>", "<|end_message|>")
TOKENIZER = tiny_tokenizer("<think>", "</think>", *FRAME_TOKENS)
VOCABULARY = Vocabulary.from_transformers(TOKENIZER)
END = TOKENIZER.eos_token_id
THINK, BEHIND = TOKENIZER.convert_tokens_to_ids(["<think>", "</think>"])


def const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def regex(pattern: str) -> dict[str, Any]:
    return {"type": "regex", "pattern": pattern}


def token(number: int | str) -> dict[str, Any]:
    return {"type": "token", "token": number}


def sequence(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "sequence", "elements": elements}


def tag(begin: Any, content: dict[str, Any], end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def thinking(**limits: int) -> dict[str, Any]:
    return {"type": "any_tokens", "exclude_tokens": [BEHIND], **limits}


JSON = {"type": "json_schema", "json_schema": {"enum": [12, "q", True]}}
LIST = {"type": "array", "items": {"enum": [12, True]}}
EBNF = 'root ::= item ("," item)*  # a list\nitem ::= [a-z]+ "abc" | "[" root "]"\n'
A, B = tag("<a>", const("q"), "</a>"), tag("<b>", regex("[0-9]+"), "</b>")
LONGER = tag("<ax>", const("r"), "</a>")
TRIGGERED = {"type": "triggered_tags", "triggers": ["<a", "<b"], "tags": [A, LONGER, B]}
SEPARATED = {"type": "tags_with_separator", "tags": [A, B], "separator": ", "}
TOKEN_TAGS = {"type": "token_triggered_tags", "trigger_tokens": [THINK]}
TOKEN_TAGS["tags"] = [tag(token(THINK), const("q"), token(BEHIND))]

FORMATS: dict[str, dict[str, Any]] = {
    "a sequence": sequence(const("ab"), regex("[0-9]{1,3}"), const("/x\n")),
    "one of several": {"type": "or", "elements": [const("red"), const("re"), regex("g[re]+y/?")]},
    "repetition": sequence(
        {"type": "optional", "content": const("a")},
        {"type": "star", "content": const("bc")},
        {"type": "plus", "content": const("d")},
        {"type": "repeat", "min": 1, "max": 3, "content": const("e")},
        {"type": "repeat", "min": 2, "max": -1, "content": const("f")},
    ),
    "a document": sequence(const("x"), JSON, const("y")),
    "few white space": sequence(
        const("x"),
        {"type": "json_schema", "json_schema": LIST, "max_whitespace_cnt": 2},
        const("y"),
    ),
    "a grammar": sequence(const("g"), {"type": "grammar", "grammar": EBNF}, const(";")),
    "any text": tag("<a>", {"type": "any_text"}, "</a>"),
    "some text": tag("<a>", {"type": "any_text", "excludes": ["x"], "max_chars": 9}, ["</a>", "<b>"]),
    "triggers": sequence(const("!"), TRIGGERED),
    "at least one": sequence(const("!"), TRIGGERED | {"at_least_one": True}),
    "only one": sequence(const("!"), TRIGGERED | {"stop_after_first": True}),
    "just one": sequence(const("!"), TRIGGERED | {"at_least_one": True, "stop_after_first": True}),
    "triggers in a tag": tag("<t>", TRIGGERED | {"excludes": ["zz"]}, "</t>"),
    "separators": SEPARATED,
    "separators, at least one": SEPARATED | {"at_least_one": True},
    "separators, only one": SEPARATED | {"stop_after_first": True},
    "dispatch": {"type": "dispatch", "rules": [["<a", const("b>")], ["re", regex("d+")]], "excludes": ["zz"]},
    "dispatch once": {"type": "dispatch", "rules": [["<a", const("b>")]], "loop": False},
    "tokens": sequence(token(THINK), thinking(), token(BEHIND), const("ok")),
    "few tokens": sequence(thinking(max_tokens=3), token(BEHIND)),
    "another token": sequence({"type": "exclude_token", "exclude_tokens": [THINK, 3]}, const("x")),
    "token triggers": TOKEN_TAGS,
    "token triggers, at least one": TOKEN_TAGS | {"at_least_one": True},
    "token dispatch": {"type": "token_dispatch", "rules": [[THINK, const("q")]], "loop": False},
}


def structural_tag(form: dict[str, Any]) -> str:
    return json.dumps({"type": "structural_tag", "format": form})


# In XGrammar free text has bytes that are no UTF-8, and special tokens: what is not ASCII is left out here, and special
# tokens are compared where the format has tokens.
TEXT = [
    number
    for number in range(len(VOCABULARY))
    if number == END or (VOCABULARY.token_bytes(number).isascii() and number not in TOKENIZER.all_special_ids)
]
LIKELY = set(b'<>/ab,qxt!re{}"10 dz;[]gyfok\n')


def bits(bitmap: Any, tokens: list[int]) -> Any:
    return np.unpackbits(bitmap.view(np.uint8), bitorder="little", count=len(VOCABULARY))[tokens].astype(bool)


@pytest.fixture(scope="module")
def peer() -> Any:
    info = xgrammar.TokenizerInfo.from_huggingface(TOKENIZER, vocab_size=len(VOCABULARY), stop_token_ids=[END])
    return xgrammar.GrammarCompiler(info, cache_enabled=False)


@pytest.mark.parametrize("name", FORMATS)
def test_masks_are_those_of_xgrammar(peer: Any, name: str) -> None:
    text = structural_tag(FORMATS[name])
    ours, theirs = Constraint.tags(VOCABULARY, text), peer.compile_structural_tag(text)
    compared = [*TEXT, THINK, BEHIND] if names_tokens(text) else TEXT
    assert sum(n_compared_along(seed, ours, theirs, compared) for seed in range(12)) > 30


def n_compared_along(seed: int, ours: Constraint, theirs: Any, compared: list[int]) -> int:
    """Positions of a text by chance."""
    choices = random.Random(seed)
    matcher, other = Matcher(ours, end=[END]), xgrammar.GrammarMatcher(theirs)
    tokens: list[int] = []
    while len(tokens) < 30 and not matcher.is_terminated():
        bitmap = xgrammar.allocate_token_bitmask(1, len(VOCABULARY))
        other.fill_next_token_bitmask(bitmap)
        mask = bits(matcher.fill_bitmap(), compared)
        assert (mask == bits(bitmap.numpy(), compared)).all(), tokens
        legal = [compared[at] for at in np.flatnonzero(mask)]
        if not legal:
            break
        likely = [one for one in legal if one >= END or VOCABULARY.token_bytes(one)[0] in LIKELY]
        tokens.append(choices.choice(likely if likely and choices.random() < 0.9 else legal))
        assert matcher.accept_tokens(tokens[-1:]) and other.accept_token(tokens[-1])
    assert matcher.is_terminated() == other.is_terminated()
    return len(tokens) + 1


def test_masks_of_formats_by_chance_are_those_of_xgrammar(peer: Any) -> None:
    """Within each other, without control tokens and XML. Some XGrammar does not compile."""
    n_forms = n_compared = 0
    for seed in range(400):
        form = Forms(random.Random(seed)).whole()
        text = structural_tag(form)
        if "<|" in text or "_xml" in text:
            continue
        try:
            theirs = peer.compile_structural_tag(text)
        except RuntimeError:
            continue
        n_forms += 1
        n_compared += n_compared_along(seed, Constraint.tags(VOCABULARY, text), theirs, TEXT)
    assert n_forms > 100
    assert n_compared > 1000


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (sequence(JSON | {"style": "glm_xml"}), "format.elements[0]: at #: parameters must be an object"),
        (sequence({"type": "const_string"}), "format.elements[0]: KeyError('value')"),
    ],
)
def test_what_is_not_served_says_where(form: dict[str, Any], message: str) -> None:
    with pytest.raises(GrammarError) as raised:
        Constraint.tags(VOCABULARY, structural_tag(form))
    assert message in str(raised.value)


NESTED = {
    "type": "object",
    "properties": {"l": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
    "required": ["l"],
    "additionalProperties": False,
}
PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "o": NESTED},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("is_within", [False, True])
@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("qwen_xml", "<parameter=a>\nred\n</parameter>\n<parameter=n>\n12\n</parameter>\n"),
        ("minimax_xml", '<parameter name="a">re d</parameter>\n<parameter name="n">12</parameter>\n'),
        (
            "kimi_k3_xml",
            '<|open|>argument key="a" type="string"<|sep|>red<|close|>argument<|sep|>'
            '<|open|>argument key="n" type="number"<|sep|>12<|close|>argument<|sep|>',
        ),
        ("glm_xml", "<arg_key>a</arg_key><arg_value>red</arg_value><arg_key>n</arg_key><arg_value>-3</arg_value>"),
        (
            "cohere_xml",
            '<cofl:value name="a" type="raw">red</cofl:value>\n<cofl:value name="n" type="json">12</cofl:value>\n'
            '<cofl:value name="o" type="dict">\n  <cofl:value name="l" type="list">'
            '<cofl:value type="json">1</cofl:value><cofl:value type="json">2</cofl:value></cofl:value>\n</cofl:value>',
        ),
        (
            "minimax_m3_xml",
            "]<]minimax[>[<a>red]<]minimax[>[</a>]<]minimax[>[<n>12]<]minimax[>[</n>]<]minimax[>[<o>]<]minimax[>[<l>"
            "]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<item>2]<]minimax[>[</item>"
            "]<]minimax[>[</l>]<]minimax[>[</o>",
        ),
    ],
)
def test_parameters_in_xml(peer: Any, style: str, text: str, is_within: bool) -> None:
    """As servers send them, with options that say nothing; XGrammar takes more white space."""
    content = xgrammar.structural_tag.JSONSchemaFormat(json_schema=PARAMETERS, style=style).model_dump()
    one = tag("<f>", content, "</f>")
    form = sequence(one) if is_within else {"type": "triggered_tags", "triggers": ["<f>"], "tags": [one]}
    ours = Constraint.tags(VOCABULARY, structural_tag(form))
    theirs = peer.compile_structural_tag(structural_tag(form))
    for whole, is_legal in ((f"<f>{text}</f>", True), (f"<f>{text.replace('n', 'z')}</f>", False)):
        tokens = TOKENIZER.encode(whole)
        matcher, other = Matcher(ours, end=[END]), xgrammar.GrammarMatcher(theirs)
        assert matcher.accept_tokens(tokens) == is_legal
        assert all(other.accept_token(one) for one in tokens) == is_legal


@pytest.mark.parametrize(
    ("schema", "texts", "others"),
    [
        ({"type": "string"}, ['"<a"', '"\\\\tb"', '"\\n"'], ['"<a>"', '"x<a>y"', '"\\ta"', '"data"']),
        ({"enum": ["red", "data"]}, ['"red"'], ['"data"']),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, ['{"tb": 1}'], ['{"ta": 1}', '{"<a>": 1}']),
        ({"type": "array"}, ['[{"a>": ["<a"]}]'], ['[{"a>": ["<a>"]}]', '[{"ta": 1}]']),
    ],
)
def test_excluded_texts(peer: Any, schema: dict[str, Any], texts: list[str], others: list[str]) -> None:
    form = sequence({"type": "json_schema", "json_schema": schema, "excludes": ["<a>", "ta"]})
    ours = Constraint.tags(VOCABULARY, structural_tag(form))
    theirs = peer.compile_structural_tag(structural_tag(form))
    for whole in [*texts, *others]:
        tokens = TOKENIZER.encode(whole)
        matcher, other = Matcher(ours, end=[END]), xgrammar.GrammarMatcher(theirs)
        assert matcher.accept_tokens(tokens) == (whole in texts), whole
        assert all(other.accept_token(one) for one in tokens) == (whole in texts), whole


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Any:
    """SGLang's backend for a format that frames answers, with the tokens of the tokenizer here."""
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser import answer_frame

    numbers = dict(zip(FRAME_TOKENS, TOKENIZER.convert_tokens_to_ids(list(FRAME_TOKENS)), strict=True))
    monkeypatch.setattr(answer_frame, "INKLING_SPECIAL_TOKEN_IDS", numbers)
    detector = SimpleNamespace(
        get_think_end_token_ids=lambda tokenizer: [numbers["<|end_message|>"]],
        get_answer_frame=answer_frame.InklingAnswerFrame,
        think_excluded_tokens=None,
    )
    inner = ElizaGrammarBackend(TOKENIZER, len(VOCABULARY), {END})
    return ReasonerGrammarBackend(inner, SimpleNamespace(detector=detector), TOKENIZER)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (("json", '{"const": {"red": 1}}'), '{"red": 1}'),
        (("json", "$$ANY$$"), "[1, true]"),
        (("regex", "gr[ae]y"), "grey"),
        (("ebnf", EBNF), "[xabc]"),
    ],
)
def test_an_answer_is_framed(backend: Any, key: tuple[str, str], answer: str) -> None:
    grammar = backend.get_cached_or_future_value(key, True)[0].result()
    assert type(grammar) is ElizaGrammar
    model, text, thinking, end = TOKENIZER.convert_tokens_to_ids(list(FRAME_TOKENS))
    thought = [model, thinking, *TOKENIZER.encode("red"), end]
    said = [model, text, *TOKENIZER.encode(answer), end, END]
    for tokens in (said, thought + said):
        copy = grammar.copy()
        for one in tokens:
            assert not copy.is_terminated()
            copy.accept_token(one)
        assert copy.is_terminated()
    for tokens in (TOKENIZER.encode(answer), [*thought, END], [*said[:-1], model]):
        copy = grammar.copy()
        with pytest.raises(ValueError, match="not legal"):
            for one in tokens:
                copy.accept_token(one)


def test_a_prompt_may_have_opened_the_answer(backend: Any) -> None:
    model, text, _, end = TOKENIZER.convert_tokens_to_ids(list(FRAME_TOKENS))
    key = backend.get_request_grammar_key(("regex", "red"), input_ids=[model, text], thinking_budget=None)
    grammar = backend.get_cached_or_future_value(key, True)[0].result()
    for one in [*TOKENIZER.encode("red"), end, END]:
        grammar.accept_token(one)
    assert grammar.is_terminated()


def test_the_example_prints_what_it_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process, which has stand-ins for what needs a GPU."""
    script = EXAMPLES / "sglang" / "backend.py"
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(script))
    assert capsys.readouterr().out == expected_output(script.read_text("utf-8"))
