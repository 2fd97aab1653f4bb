"""Readers of the tokenizer files that people have, each in its own module.

Use them through `Vocabulary.from_tokenizer_json` and `Vocabulary.from_tiktoken`.
"""
