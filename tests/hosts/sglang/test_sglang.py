"""The grammar backend in SGLang's own registry, cache, batches, drafts and reasoning, on the CPU."""

import json
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from eliza_inference import Vocabulary
from eliza_inference.sglang import NAME, ElizaGrammar, ElizaGrammarBackend
from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
from sglang.srt.constrained import base_grammar_backend
from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject, create_grammar_backend
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.plugins import load_plugins
from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo
from sglang.srt.speculative.spec_utils import generate_token_bitmask

from tiny_tokenizer import tiny_tokenizer
from walks import EBNF, REGEX, SCHEMA, STRUCTURAL_TAG, Chooser, constraints, direct_mask

KEYS = [("json", json.dumps(SCHEMA)), ("regex", REGEX), ("ebnf", EBNF), ("structural_tag", STRUCTURAL_TAG)]
PADDING = 21
"""By how many ids the logits are wider than the vocabulary."""


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_tokenizer("<think>", "</think>")


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The configuration that a server would have made of its arguments: `--grammar-backend eliza`."""
    load_plugins()
    kernel = SimpleNamespace(grammar_backend=NAME)
    monkeypatch.setattr(base_grammar_backend, "get_exec", lambda: SimpleNamespace(kernel=kernel))
    serving = SimpleNamespace(
        constrained_json_whitespace_pattern=None,
        constrained_json_disable_any_whitespace=False,
        reasoning_parser=None,
        enable_strict_thinking=False,
    )
    monkeypatch.setattr("sglang.srt.runtime_context.get_serving", lambda: serving)
    return serving


@pytest.fixture
def backend(serving: SimpleNamespace, tokenizer: Any) -> Any:
    return create_grammar_backend(None, tokenizer, len(tokenizer) + PADDING, {tokenizer.eos_token_id})


def compiled(backend: Any, key: tuple[str, str], reasoning: bool = False) -> Any:
    """A request's grammar, through the cache as `GrammarManager` goes."""
    value, is_hit = backend.get_cached_or_future_value(key, reasoning)
    if is_hit:
        return value
    assert isinstance(value, Future)
    backend.set_cache(key, value.result().copy())
    return value.result()


def batch_mask(grammars: list[Any], width: int) -> Any:
    """A step of a batch, in which some rows have no grammar; what `GrammarMask.apply` leaves of logits."""
    batch = SimpleNamespace(
        grammars=grammars, temperatures=torch.ones(len(grammars)), vocab_size=width, device="cpu", grammar_mask=None
    )
    SamplingBatchInfo.update_regex_vocab_mask(batch)
    logits = torch.zeros(len(grammars), width, dtype=torch.bfloat16)
    batch.grammar_mask.apply(logits)
    return torch.isfinite(logits).numpy()


def bits(bitmap: Any, width: int) -> Any:
    """What a row of logits is expected to keep."""
    if bitmap is None:
        return np.ones(width, bool)
    return np.unpackbits(bitmap.view(np.uint8), bitorder="little", count=width).astype(bool)


def test_the_plugin_is_found_and_chosen(backend: Any) -> None:
    assert NAME in GRAMMAR_BACKEND_CHOICES
    assert type(backend) is ElizaGrammarBackend
    first, again = compiled(backend, KEYS[0]), compiled(backend, KEYS[0])
    assert type(first) is type(again) is ElizaGrammar
    assert again is not first and again.grammar_stats.is_cache_hit and not first.grammar_stats.is_cache_hit


def test_masks_of_random_steps_with_drafts_and_rollbacks(backend: Any, tokenizer: Any) -> None:
    """A thousand steps of a batch: each masks all rows, verifies a tree of drafts, moves on, and sometimes back."""
    width = len(tokenizer) + PADDING
    vocabulary, end = Vocabulary.from_transformers(tokenizer, n_tokens=width), [tokenizer.eos_token_id]
    direct = constraints(vocabulary)
    choose = Chooser(11, width)
    rows = [*KEYS, *KEYS]
    grammars = [compiled(backend, key) for key in rows]
    texts: list[list[int]] = [[] for _ in rows]
    n_compared = n_ended = n_rolled_back = 0
    for step in range(1000):
        masks = [direct_mask(direct[kind], end, text) for (kind, _), text in zip(rows, texts, strict=True)]
        kept = batch_mask([*grammars, None], width)
        for row, mask in enumerate([*masks, None]):
            assert (kept[row] == bits(mask, width)).all(), (step, row)
        n_compared += len(rows)

        chosen = choose.random.randrange(len(rows))
        if masks[chosen] is not None:
            n_compared += compare_drafts(grammars[chosen], direct[rows[chosen][0]], end, texts[chosen], choose, width)

        for row, (key, mask) in enumerate(zip(rows, masks, strict=True)):
            if mask is None or len(texts[row]) > 120:
                n_ended += mask is None
                if mask is not None or choose.random.random() < 0.5:
                    grammars[row], texts[row] = compiled(backend, key), []
                    continue
            else:
                token = choose.legal(mask)
                grammars[row].accept_token(token)
                texts[row].append(token)
            if texts[row] and choose.random.random() < 0.15:
                n_back = choose.random.randint(1, min(9, len(texts[row])))
                grammars[row].rollback(n_back)
                del texts[row][-n_back:]
                n_rolled_back += n_back
            ended = direct_mask(direct[key[0]], end, texts[row]) is None
            assert grammars[row].is_terminated() == ended
    assert n_compared > 9000 and n_ended > 100 and n_rolled_back > 1000


def compare_drafts(grammar: Any, constraint: Any, end: list[int], text: list[int], choose: Chooser, width: int) -> int:
    """SGLang walks a tree of drafts, of which row 0 is the place of the text. Returns how many rows it compared."""
    n_rows = int(choose.random.randint(2, 8))
    next_token, next_sibling = [-1] * n_rows, [-1] * n_rows
    paths: list[list[int]] = [[]]
    tokens = [0]
    for row in range(1, n_rows):
        parent = choose.random.randrange(row)
        token = choose.drafted(direct_mask(constraint, end, [*text, *paths[parent]]))
        tokens.append(token)
        paths.append([*paths[parent], token])
        next_sibling[row], next_token[parent] = next_token[parent], row
    mask, applied_by = generate_token_bitmask(
        [SimpleNamespace(grammar=grammar)],
        torch.tensor([next_token]),
        torch.tensor([next_sibling]),
        torch.tensor([tokens]),
        width,
    )
    assert applied_by is grammar
    for row, path in enumerate(paths):
        expected = direct_mask(constraint, end, [*text, *path])
        assert (bits(mask[row].numpy(), width) == bits(expected, width)).all(), path
    return n_rows


def test_a_buffer_is_used_again(backend: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers: dict[str, Any] = {}
    resources = SimpleNamespace(buffers=buffers)
    monkeypatch.setattr(base_grammar_backend, "get_resources", lambda: resources)
    mask = backend.initialize_vocab_mask_buffer("decode", len(tokenizer) + PADDING, 3, "cpu")
    assert mask is buffers["decode"] and (mask == -1).all()
    grammar = compiled(backend, KEYS[1])
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == -1).all() and (mask[2] == -1).all() and not (mask[1] == -1).all()
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()


def test_jumping_forward_and_other_tokens_of_the_same_text(backend: Any, tokenizer: Any) -> None:
    grammar = compiled(backend, ("json", json.dumps({"const": {"red": "grün"}})))
    grammar.accept_token(*tokenizer.encode("{"))
    while (helper := grammar.try_jump_forward(tokenizer)) is None:
        grammar.accept_token(tokenizer.encode('"')[0])
    text, state = grammar.jump_forward_str_state(helper)
    assert "red" in text
    # One token for each byte before; `encode` joins some of them.
    grammar = compiled(backend, ("regex", "red green"))
    text, state = grammar.jump_forward_str_state(grammar.try_jump_forward(tokenizer))
    assert text == "red green"
    old = [token for letter in "red" for token in tokenizer.encode(letter)]
    for token in old:
        grammar.accept_token(token)
    new = tokenizer.encode("red gr")
    assert new[: len(old)] != old
    grammar.jump_and_retokenize(old, new, state)
    assert grammar.try_jump_forward(tokenizer) == ([], "een")
    grammar.rollback(len(new))
    assert grammar.try_jump_forward(tokenizer) == ([], "red green")
    with pytest.raises(ValueError, match="not legal"):
        grammar.accept_token(tokenizer.encode("x")[0])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("json", '{"type": "wrong"}'), "wrong"),
        (("json", "{"), "JSON"),
        (("regex", r"(a)\1"), "back-references"),
        (("ebnf", "root ::= missing"), "missing"),
        (("structural_tag", '{"structures": [], "triggers": []}'), "tags"),
        (("structural_tag", "no JSON"), "descriptor"),
    ],
)
def test_what_cannot_be_compiled_says_why(backend: Any, key: tuple[str, str], message: str) -> None:
    grammar = compiled(backend, key)
    assert type(grammar) is InvalidGrammarObject
    assert message.lower() in grammar.error_message.lower()


def test_any_document_and_spaces(serving: SimpleNamespace, backend: Any, tokenizer: Any) -> None:
    for text in ('[1, {"a": null}]', "true"):
        grammar = compiled(backend, ("json", "$$ANY$$"))
        for token in [*tokenizer.encode(text), tokenizer.eos_token_id]:
            grammar.accept_token(token)
        assert grammar.is_terminated()
    serving.constrained_json_disable_any_whitespace = True
    strict = create_grammar_backend(None, tokenizer, len(tokenizer), None)
    grammar = compiled(strict, ("json", '{"const": [1, 2]}'))
    for token in tokenizer.encode("[1, 2"):
        grammar.accept_token(token)
    with pytest.raises(ValueError, match="not legal"):
        grammar.accept_token(tokenizer.encode(" ")[0])


def test_the_text_is_free_until_the_model_has_reasoned(serving: SimpleNamespace, tokenizer: Any) -> None:
    serving.reasoning_parser = "deepseek-r1"
    backend = create_grammar_backend(None, tokenizer, len(tokenizer), {tokenizer.eos_token_id})
    assert type(backend) is ReasonerGrammarBackend
    grammar = compiled(backend, KEYS[1], reasoning=True)
    grammar.maybe_init_reasoning(True)
    width = len(tokenizer)
    for token in tokenizer.encode("{ gr"):
        assert batch_mask([grammar], width).all()
        grammar.accept_token(token)
    grammar.accept_token(tokenizer.convert_tokens_to_ids("</think>"))
    direct = constraints(Vocabulary.from_transformers(tokenizer))["regex"]
    expected = bits(direct_mask(direct, [tokenizer.eos_token_id], []), width)
    assert (batch_mask([grammar], width)[0] == expected).all()
