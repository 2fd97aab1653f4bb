"""The vocabularies that commands compile for."""

from __future__ import annotations

from pathlib import Path

from eliza_inference.model import Model
from eliza_inference.vocabulary import TokenFlag, Vocabulary

END = 256
"""The token of the end, after those of the single bytes."""


def vocabulary_of(model_path: Path | None) -> Vocabulary:
    """The model's; without one, that of bytes: warnings and sizes of automata do not depend on the vocabulary."""
    if model_path is None:
        return byte_vocabulary()
    with Model(model_path) as model:
        return model.vocabulary


def byte_vocabulary() -> Vocabulary:
    """Single bytes, and the end: what a schema allows does not depend on the vocabulary."""
    pieces = [*(bytes([byte]) for byte in range(END)), b""]
    vocabulary = Vocabulary(END + 1, pieces, [TokenFlag(0)] * END + [TokenFlag.END_OF_GENERATION])
    vocabulary.prepare()
    return vocabulary
