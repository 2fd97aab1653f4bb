"""Masks for an engine of your own: several texts at once, and a draft of several tokens of one text."""

import numpy as np
from eliza_inference import Constraint, Matcher, Vocabulary, apply_bitmaps, fill_bitmaps, fill_draft_bitmaps

# The bytes are the tokens here; `Vocabulary.from_tokenizer_json` and others read real ones.
vocabulary = Vocabulary.from_tiktoken({bytes([byte]): byte for byte in range(256)}, special={"<|end|>": 256})
date = Constraint.regex(vocabulary, r"20[0-9]{2}-(0[1-9]|1[0-2])")

texts = [b"", b"2026-", b"2026-1"]
matchers = [Matcher(date) for _ in texts]
for matcher, text in zip(matchers, texts, strict=True):
    matcher.accept_tokens(text)

bitmaps = np.zeros((len(texts), (len(vocabulary) + 31) // 32), np.int32)
logits = np.zeros((len(texts), len(vocabulary)), np.float16)  # a model's; tensors of torch too
apply_bitmaps(logits, fill_bitmaps(matchers, bitmaps))
for row in logits:
    print(bytes(np.flatnonzero(row == 0).astype(np.uint8)).decode())
# prints: 2
# prints: 01
# prints: 012

# A tree of drafts behind "2026-": "1" with "2" or "3" after it. One row before it, and one after each token.
draft, parents = b"123", [0, 1, 1]
rows = np.zeros((1 + len(draft), bitmaps.shape[1]), np.int32)
fill_draft_bitmaps(matchers[1], draft, rows, parents=parents)
ended = np.zeros(len(vocabulary), np.float32)
apply_bitmaps(ended, rows[2])
print(np.flatnonzero(ended == 0))  # prints: [256]
print(matchers[1].validate_tokens(b"13"))  # prints: 1
