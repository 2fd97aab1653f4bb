"""Structural tags: the cases that all bindings share, and all formats within each other, by chance, against the oracle,
where after each token the same tokens continue. Seeds are fixed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from eliza_inference import Constraint, ElizaError, Matcher, Step, Vocabulary

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracles.structural_tag_forms import CONTROL, REGEX_TEXTS, Forms
from oracles.structural_tags import Oracle

FORMS = range(30, 150, 40)
N_STEPS = 9


def vocabulary_of(texts: list[str], random: Random) -> tuple[Vocabulary, list[str]]:
    """Their characters, pieces of them by chance, control tokens and an end token; and the text of each token, where
    control tokens are characters."""
    pieces = sorted({character for text in [*texts, 'xyz{}":\ntrue null12 <'] for character in text})
    for text in texts:
        at = random.randrange(len(text))
        pieces.append(text[at : at + random.randint(2, 12)])
        pieces.append(text)
    pieces = list(dict.fromkeys(piece for piece in pieces if piece and piece not in CONTROL))
    spelled = [*(piece.encode() for piece in pieces), *(text.encode() for text in CONTROL), b"</s>"]
    flags = [0] * len(pieces) + [1] * len(CONTROL) + [3]
    return Vocabulary(len(spelled), spelled, flags), [*pieces, *CONTROL.values()]


@pytest.mark.parametrize("first", FORMS)
def test_positions_are_those_of_the_oracle(first: int) -> None:
    n_compared = n_whole = 0
    for seed in range(first, first + 40):
        random = Random(seed)
        forms = Forms(random)
        form = forms.whole()
        vocabulary, tokens = vocabulary_of(forms.texts, random)
        oracle = Oracle(form, CONTROL, REGEX_TEXTS)
        tag = {"type": "structural_tag", "format": form}
        constraint = Constraint.tags(vocabulary, json.dumps(tag) if seed % 2 else tag)
        for _ in range(2):
            matcher, read = Matcher(constraint), list[str]()
            for _ in range(N_STEPS):
                expected = [n for n, token in enumerate(tokens) if oracle.goes_on([*read, token])]
                mask = matcher.allowed()
                assert mask is not None
                allowed = [int(token) for token in mask if token < len(tokens)]
                assert allowed == expected, (seed, tag, read, [tokens[n] for n in {*allowed} ^ {*expected}])
                assert matcher.can_stop == oracle.is_whole(read), (seed, tag, read)
                n_compared += 1
                n_whole += matcher.can_stop
                if not expected:
                    break
                long = [n for n in expected if len(tokens[n]) > 1]
                chosen = random.choice(long if long and random.random() < 0.6 else expected)
                assert Step.IN_SPAN in matcher.accept(chosen)
                read.append(tokens[chosen])
    assert n_compared > 500
    assert n_whole > 100


FILE = json.loads((Path(__file__).resolve().parent.parent / "structural_tags" / "cases.json").read_text("utf-8"))
Spelled = [*(bytes([byte]) for byte in range(256)), *(text.encode() for text in FILE["control_tokens"]), b"</s>"]
BYTES = Vocabulary(len(Spelled), Spelled, [0] * 256 + [1] * len(FILE["control_tokens"]) + [3])


def tokens_of(text: str) -> list[int]:
    cuts = re.split(f"({'|'.join(FILE['control_tokens'])})", text)
    return [
        token
        for cut in cuts
        for token in ([Spelled.index(cut.encode(), 256)] if cut.encode() in Spelled[256:] else cut.encode())
    ]


def goes(constraint: Constraint, text: str) -> bool:
    matcher = Matcher(constraint)
    return all(Step.IN_SPAN in matcher.accept(token) for token in tokens_of(text)) and matcher.can_stop


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
def test_the_cases_that_all_bindings_share(case: dict[str, Any], tmp_path: Path) -> None:
    if "error" in case:
        with pytest.raises(ElizaError) as raised:
            Constraint.tags(BYTES, case["tag"])
        assert str(raised.value) == case["error"]
        return
    constraint = Constraint.tags(BYTES, case["tag"])
    constraint.save(tmp_path / "saved")
    for one in (
        constraint,
        Constraint.tags(BYTES, json.dumps(case["tag"])),
        Constraint.open(BYTES, tmp_path / "saved"),
    ):
        for text in case["legal"]:
            assert goes(one, text), text
        for text in case["illegal"]:
            assert not goes(one, text), text
