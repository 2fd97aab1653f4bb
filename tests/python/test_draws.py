"""Draws where llama.cpp's samplers take part: how often each token comes is what the logits and the settings say.
Those of matchers are in tests/native/numbers_test.c, by the million."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from eliza_inference import Constraint, Matcher, Mode, Model, TokenTree, token_trie_sampler

from conftest import PROMPT
from test_sampler import Chain, open_host

LEGAL = range(100, 140)
DRAWS = 333_333
"""Of each chain; a million of all."""
STREAM_DRAWS = 4000
TOO_FAR = 4.0
"""Standard deviations. The seeds are fixed, and so is what comes out."""

MORE = """
void *llama_sampler_init_top_p(float p, size_t min_keep);
void *llama_sampler_init_min_p(float p, size_t min_keep);
void *llama_sampler_init_temp(float t);
"""

Shares = dict[int, float]


host = pytest.fixture(scope="module", name="host")(open_host)


def shares_of(logits: dict[int, float]) -> Shares:
    top = max(logits.values())
    weights = {token: math.exp(logit - top) for token, logit in logits.items()}
    total = sum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def nucleus(logits: dict[int, float], p: float) -> dict[int, float]:
    """The fewest most likely tokens that have this share."""
    shares, kept, reached = shares_of(logits), {}, 0.0
    for token in sorted(shares, key=lambda one: (-shares[one], one)):
        if reached >= p:
            break
        kept[token] = logits[token]
        reached += shares[token]
    return kept


def highest(logits: dict[int, float], k: int) -> dict[int, float]:
    return dict(sorted(logits.items(), key=lambda item: (-item[1], item[0]))[:k])


def likely(logits: dict[int, float], share_of_the_best: float) -> dict[int, float]:
    floor = max(logits.values()) + math.log(share_of_the_best)
    return {token: logit for token, logit in logits.items() if logit >= floor}


def cooled(logits: dict[int, float], temperature: float) -> dict[int, float]:
    return {token: logit / temperature for token, logit in logits.items()}


def deviation(counts: Counter[int], shares: Shares) -> float:
    """Pearson's chi-square as a standard normal deviate (Wilson and Hilferty, 1931). Rare tokens count together."""
    n = counts.total()
    if set(counts) - set(shares):
        return math.inf
    common = {token: share * n for token, share in shares.items() if share * n >= 10}
    pairs = [(counts[token], expected) for token, expected in common.items()]
    rest = n - sum(expected for _, expected in pairs)
    if rest >= 10:
        pairs.append((n - sum(count for count, _ in pairs), rest))
    freedom = len(pairs) - 1
    statistic = sum((count - expected) ** 2 / expected for count, expected in pairs)
    root: float = (statistic / freedom) ** (1 / 3)
    return (root - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))


CHAINS: dict[str, tuple[Callable[[Any], list[Any]], Callable[[dict[int, float]], dict[int, float]]]] = {
    "top-k": (lambda c: [c.llama_sampler_init_top_k(10)], lambda logits: highest(logits, 10)),
    "min-p": (lambda c: [c.llama_sampler_init_min_p(0.1, 1)], lambda logits: likely(logits, 0.1)),
    "top-p, temperature": (
        lambda c: [c.llama_sampler_init_top_p(0.8, 1), c.llama_sampler_init_temp(0.7)],
        lambda logits: cooled(nucleus(logits, 0.8), 0.7),
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_foreign_chain_draws_the_legal_tokens_by_their_shares(host: Any, name: str) -> None:
    """Illegal tokens have higher logits; some legal ones have none."""
    samplers, cut = CHAINS[name]
    chain = Chain(host)
    chain.ffi.cdef(MORE)
    names = {f"N{token}": [token] for token in LEGAL}
    first = token_trie_sampler(chain.vocab, TokenTree.from_names(list(names), names, labels=True), Mode.SAMPLED)
    whole = chain.c.llama_sampler_chain_init(chain.c.llama_sampler_chain_default_params())
    chain.samplers.append(whole)
    for each in (chain.pointer(first), *samplers(chain.c), chain.c.llama_sampler_init_dist(7)):
        chain.c.llama_sampler_chain_add(whole, each)
    logits = {token: math.sin(token * 1.7) * 4 for token in LEGAL if token % 9}
    others = {token: math.nan for token in LEGAL if not token % 9} | dict.fromkeys(range(200, 240), 9.0)
    array = chain.candidates([*LEGAL, *range(200, 240)], logits | others)
    size = array.size
    pristine = chain.ffi.buffer(chain.data)[:]
    counts: Counter[int] = Counter()
    for _ in range(DRAWS):
        chain.ffi.memmove(chain.data, pristine, len(pristine))
        array.size, array.selected, array.sorted = size, -1, False
        chain.c.llama_sampler_apply(whole, array)
        counts[array.data[array.selected].id] += 1
    chain.close()
    assert abs(deviation(counts, shares_of(cut(logits)))) < TOO_FAR
    assert deviation(counts, shares_of(cooled(cut(logits), 1.2))) > TOO_FAR, "the test can tell"


def logits_after(host: Any, tokens: list[int]) -> dict[int, float]:
    native, ffi = host.library.c, host.library.ffi
    native.llama_memory_clear(native.llama_get_memory(host._context), True)
    batch = ffi.new("llama_token[]", tokens)
    assert native.llama_decode(host._context, native.llama_batch_get_one(batch, len(tokens))) == 0
    found = np.frombuffer(ffi.buffer(native.llama_get_logits_ith(host._context, -1), 4 * host.size), np.float32)
    return dict(enumerate(found.tolist()))


@pytest.mark.parametrize("is_constrained", [False, True])
def test_a_stream_draws_by_its_settings(model: Model, host: Any, is_constrained: bool) -> None:
    """The first token after a prompt, with a seed for each draw. In a span, top-k does not choose, and top-p cuts what
    the temperature has made of the logits; outside, it would cut before."""
    prompt = model.tokenize(PROMPT.format("hello"), add_special=True)
    logits = logits_after(host, prompt)
    end = {token for token in logits if host.is_end(token)}
    counts: Counter[int] = Counter()
    top_p = 0.9 if is_constrained else 1.0
    with model.stream(context_size=64, threads=1, temperature=2.5, top_k=60, top_p=top_p) as stream:
        if is_constrained:
            constraint = Constraint.regex(model.vocabulary, "[ A-Z]{1,9}[a-z_]*")
            stream.set_constraint(constraint, mode=Mode.SAMPLED)
            allowed = Matcher(constraint).allowed()
            assert allowed is not None
            expected = nucleus(cooled({int(token): logits[int(token)] for token in allowed}, 2.5), 0.9)
        else:
            expected = cooled(highest(logits, 60), 2.5)
        stream.prefill(prompt)
        for seed in range(STREAM_DRAWS):
            stream.set_seed(seed)
            stream.reset(keep=len(prompt) - 1)
            stream.prefill(prompt[-1:])
            tokens = stream.step(max_tokens=1).tokens
            counts[tokens[0] if tokens else min(end)] += 1
    shares = shares_of(expected)
    if end & set(shares):
        shares[min(end)] = sum(shares.pop(token) for token in end & set(shares))
    assert len(shares) > 3
    assert abs(deviation(counts, shares)) < TOO_FAR
