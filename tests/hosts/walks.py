"""What servers are asked for, and the same without a server: fresh matchers, to compare masks with."""

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from eliza_inference import Constraint, Matcher, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "size": {"type": "integer", "minimum": 1, "maximum": 1000},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "grey"]}, "maxItems": 4},
    },
    "required": ["name", "size"],
    "additionalProperties": False,
}
REGEX = r"(red|green|gr[ae]y|#[0-9a-f]{6})(, (red|green)){0,5}"
EBNF = """
root ::= "[" item ("," item)* "]"
item ::= root | [a-z]+ | "(" item ")"
"""
STRUCTURAL_TAG = json.dumps(
    {
        "type": "structural_tag",
        "structures": [
            {
                "begin": "<red>",
                "schema": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
                "end": "</red>",
            },
            {"begin": "<green>", "schema": {"enum": ["green", "grey"]}, "end": "</green>"},
        ],
        "triggers": ["<red", "<green"],
    }
)


def constraints(vocabulary: Vocabulary) -> dict[str, Constraint]:
    """By the names that SGLang has for their kinds."""
    return {
        "json": Constraint.json_schema(vocabulary, SCHEMA),
        "regex": Constraint.regex(vocabulary, REGEX),
        "ebnf": Constraint.gbnf(vocabulary, EBNF, ebnf=True),
        "structural_tag": Constraint.tags(vocabulary, STRUCTURAL_TAG),
    }


def direct_mask(constraint: Constraint, end: list[int], tokens: Sequence[int]) -> Any:
    """The bitmap behind some legal tokens; None if the text is over, or one of them is not legal."""
    matcher = Matcher(constraint, end=end)
    for token in tokens:
        if matcher.is_terminated() or not matcher.accept_tokens([token]):
            return None
    return None if matcher.is_terminated() else matcher.fill_bitmap()


def legal_tokens(bitmap: Any) -> Any:
    return np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little"))


class Chooser:
    """Chooses tokens by a seed: legal ones, and drafts of which some are not."""

    def __init__(self, seed: int, n_tokens: int) -> None:
        self.random = random.Random(seed)
        self._n_tokens = n_tokens

    def legal(self, bitmap: Any) -> int:
        return int(self.random.choice(legal_tokens(bitmap)))

    def drafted(self, bitmap: Any) -> int:
        """After a token that is not legal there is no bitmap."""
        if bitmap is None or self.random.random() < 0.25:
            return self.random.randrange(self._n_tokens)
        return self.legal(bitmap)
