"""What the backends of inference servers share."""

from __future__ import annotations

import json
from typing import Any

from eliza_inference.vocabulary import Vocabulary

__all__ = ["served_vocabulary", "structural_tag"]


def served_vocabulary(tokenizer: Any, n_logits: int) -> Vocabulary:
    """The vocabulary of a fast tokenizer, at least as long as the model's logits, and ready."""
    n_tokens = max(n_logits, 1 + max(tokenizer.get_vocab().values()))
    vocabulary = Vocabulary.from_transformers(tokenizer, n_tokens=n_tokens)
    vocabulary.prepare()
    return vocabulary


def structural_tag(text: str) -> str | dict[str, Any]:
    """A structural tag as `Constraint.tags` reads it: servers leave out schemas that allow everything."""
    try:
        tag = json.loads(text)
        for part in tag.get("structures") or ():
            if part.get("schema") is None:
                part["schema"] = {}
        for part in (tag.get("format") or {}).get("tags") or ():
            content = part["content"]
            if content["type"] == "json_schema" and content.get("json_schema") is None:
                content["json_schema"] = {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return text  # the library says what is wrong with it
    return dict(tag)
