"""Readers of the tokenizer files that people have, each in its own module.

`Vocabulary.from_tokenizer_json` and `Vocabulary.from_tiktoken` are the way to use them.
"""
