"""Token healing: prompts that end inside a word, against the oracle. Seeds are fixed."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eliza_inference import Constraint, InvalidArgumentError, LimitError, Matcher, TokenTree, limits

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles import gbnf, lark_text, recognizer
from oracles.prefilled import Prefilled, n_kept
from recognizer_walk import Tokens, Walk

ARITHMETIC = 'start: sum\nsum: sum "+" product | product\nproduct: "a" | "(" sum ")"'
AMBIGUOUS = 'root ::= root root | "a" | "(" root ")"'
LANGUAGES: list[tuple[Any, Any]] = [
    *((lambda v, one=one: Constraint.regex(v, one), recognizer.of_regex(one)) for one in ("(ab|b)*", "a+", "b?")),
    (lambda v: Constraint.choices(v, ["a", "ab", "((a"]), recognizer.of_regex("a|ab|\\(\\(a")),
    (lambda v: Constraint.lark(v, ARITHMETIC), lark_text.recognizer_of(ARITHMETIC)),
    (lambda v: Constraint.gbnf(v, AMBIGUOUS), gbnf.Recognizer(gbnf.read(AMBIGUOUS))),
]


@pytest.mark.parametrize("seed", range(60))
def test_texts_behind_a_prefill(seed: int) -> None:
    random = Random(f"prefill {seed}")
    letters = "ab()+"
    pieces = {letter.encode() for letter in letters} | {
        "".join(random.choices(letters, k=random.randint(2, 5))).encode() for _ in range(40)
    }
    prefill = "".join(random.choices(letters, k=random.randint(1, 4))).encode()
    pieces |= {prefill + piece for piece in random.sample(sorted(pieces), 20)}
    tokens = Tokens(sorted(pieces))
    make, language = random.choice(LANGUAGES)
    walk = Walk(make(tokens.vocabulary), Prefilled(language, prefill), tokens, prefill=prefill)
    for _ in range(3):
        walk.at_random(random, 6)


def test_prompts_that_are_healed() -> None:
    random = Random(4)
    for _ in range(200):
        pieces = {"".join(random.choices("ab ", k=random.randint(1, 5))).encode() for _ in range(12)} | {b"a", b"b"}
        tokens = Tokens(sorted(pieces))
        prompt = random.choices(range(len(tokens.text)), k=random.randint(0, 6))
        kept, prefill = tokens.vocabulary.heal(prompt)
        n = n_kept(prompt, tokens.text, limits.PREFILL_BYTES_MAX)
        assert kept == prompt[:n]
        assert prefill == b"".join(tokens.text[token] for token in prompt[n:])


def test_a_word_that_the_prompt_began() -> None:
    """Behind "The answer is gre", the model can write "green", which no token of the prompt and another spell."""
    texts = [b"The answer is", b" g", b" gr", b"re", b"e", b" green", b" great", b" red", b"en"]
    tokens = Tokens(texts)
    prompt = [texts.index(text) for text in (b"The answer is", b" g", b"re")]
    kept, prefill = tokens.vocabulary.heal(prompt)
    assert (kept, prefill) == ([0], b" gre")
    constraint = Constraint.choices(tokens.vocabulary, ["en", "y"])
    matcher = Matcher(constraint, prefill=prefill)
    allowed = matcher.allowed()
    assert allowed is not None
    assert [texts[token] for token in allowed] == [b" g", b" gr", b" green"]
    matcher.accept(texts.index(b" green"))
    assert matcher.can_stop


def test_what_is_wrong_is_told() -> None:
    tokens = Tokens([b"a"])
    constraint = Constraint.regex(tokens.vocabulary, "a")
    with pytest.raises(LimitError, match="prefill: 257 bytes are more than 256"):
        Matcher(constraint, prefill=b"a" * 257)
    with pytest.raises(InvalidArgumentError, match="is outside 0"):
        tokens.vocabulary.heal([len(tokens.text)])
    tree = TokenTree.from_names(["a"], {"a": [0]})
    with pytest.raises(InvalidArgumentError, match="prefill: a token trie takes its own tokens"):
        Matcher(Constraint(tokens.vocabulary, tree), prefill="a")
