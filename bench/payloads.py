"""Token trees that the microbenchmarks run on, made again and the same each time."""

import random
from pathlib import Path

from eliza_inference import Model, TokenSequence, TokenTree, TokenTreeDescriptor

from bench.paths import BUILD
from bench.prompts import PREFIX

WIDTHS = (1, 2, 4, 8, 16, 32)
"""Numbers of legal tokens at which a step is measured."""
SETS = 8
"""Different sets of legal tokens of each width."""
LONG_TOKENS = 400

COMMON_TOKENS = 3000
"""Distinct tokens in the random names: names are made of few words."""
NAME_TOKENS = (2, 6)
ORDINARY_SHARE = 0.9
"""Control tokens are at the end of the vocabularies that are used here; ids are drawn below them."""


def named(model: Model, names: list[str]) -> TokenTree:
    """Names as the model's tokenizer splits them."""
    return model.token_tree(names, prefix=PREFIX)


def random_names(n_leaves: int, n_vocabulary: int) -> TokenTree:
    """Names of 2 to 6 tokens, few of which are frequent."""
    draw = random.Random(n_leaves)
    words = [draw.randrange(int(ORDINARY_SHARE * n_vocabulary)) for _ in range(COMMON_TOKENS)]
    leaves: dict[tuple[int, ...], str] = {}
    while len(leaves) < n_leaves:
        tokens = tuple(words[int(draw.random() ** 2 * COMMON_TOKENS)] for _ in range(draw.randint(*NAME_TOKENS)))
        leaves.setdefault(tokens, f"ACTION_{len(leaves)}_{draw.randrange(1 << 16):x}")
    sequences = tuple(TokenSequence(name, tokens) for tokens, name in leaves.items())
    return TokenTree((TokenTreeDescriptor("action", sequences),), labels=True)


def steps(n_vocabulary: int) -> TokenTree:
    """For each width some descriptors with so many leaves of one token each, and one with a single long leaf."""
    draw = random.Random(n_vocabulary)
    descriptors = [
        TokenTreeDescriptor(
            f"width-{width}-{index}",
            tuple(
                TokenSequence(f"leaf {token}", (token,))
                for token in draw.sample(range(int(ORDINARY_SHARE * n_vocabulary)), width)
            ),
        )
        for width in WIDTHS
        for index in range(SETS)
    ]
    long = TokenTreeDescriptor("long", (TokenSequence("long", (7,) * LONG_TOKENS),))
    return TokenTree((*descriptors, long), labels=True)


def write_json(tree: TokenTree, name: str) -> Path:
    path = BUILD / f"{name}.json"
    BUILD.mkdir(exist_ok=True)
    path.write_text(tree.to_json(), encoding="utf-8")
    return path


def write_msgpack(tree: TokenTree, name: str) -> Path:
    path = BUILD / f"{name}.msgpack"
    BUILD.mkdir(exist_ok=True)
    path.write_bytes(tree.to_msgpack())
    return path
