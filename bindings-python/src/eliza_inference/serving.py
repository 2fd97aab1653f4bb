"""What the backends of inference servers share."""

from __future__ import annotations

from typing import Any

from eliza_inference.vocabulary import Vocabulary

__all__ = ["served_vocabulary"]


def served_vocabulary(tokenizer: Any, n_logits: int) -> Vocabulary:
    """The vocabulary of a fast tokenizer, at least as long as the model's logits, and ready."""
    n_tokens = max(n_logits, 1 + max(tokenizer.get_vocab().values()))
    vocabulary = Vocabulary.from_transformers(tokenizer, n_tokens=n_tokens)
    vocabulary.prepare()
    return vocabulary
