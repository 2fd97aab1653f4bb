"""Limits on what a caller may pass, and default bounds. Exceeding one is a `LimitError`."""

from __future__ import annotations

from typing import Final

from eliza_inference._constants import constant

PAYLOAD_BYTES_MAX: Final = constant("ELIZA_PAYLOAD_BYTES_MAX")
"""Bytes of one payload."""
PAYLOAD_DEPTH_MAX: Final = constant("ELIZA_PAYLOAD_DEPTH_MAX")
"""Nesting of arrays and objects in a payload."""
DESCRIPTORS_MAX: Final = constant("ELIZA_DESCRIPTORS_MAX")
"""Descriptors in a payload."""
LEAVES_MAX: Final = constant("ELIZA_LEAVES_MAX")
"""Leaves in a payload, all descriptors together."""
LEAF_TOKENS_MAX: Final = constant("ELIZA_LEAF_TOKENS_MAX")
"""Tokens of one leaf."""
TOKENS_MAX: Final = constant("ELIZA_TOKENS_MAX")
"""Tokens in a payload, all leaves together."""
TRIGGERS_MAX: Final = constant("ELIZA_TRIGGERS_MAX")
"""Triggers of one descriptor."""
TRIGGER_TOKENS_MAX: Final = constant("ELIZA_TRIGGER_TOKENS_MAX")
"""Tokens of one trigger."""
END_TOKENS_MAX: Final = constant("ELIZA_END_TOKENS_MAX")
PREFILL_BYTES_MAX: Final = constant("ELIZA_PREFILL_BYTES_MAX")
"""End tokens of one descriptor."""
NAME_BYTES_MAX: Final = constant("ELIZA_NAME_BYTES_MAX")
"""Bytes of a name, a path or a model id."""
HANDLES_MAX: Final = constant("ELIZA_HANDLES_MAX")
"""Models open at the same time, and as many streams."""
ROLLBACK_TOKENS_MAX: Final = constant("ELIZA_ROLLBACK_TOKENS_MAX")
"""Tokens that `Matcher.rollback` can undo."""
SPAN_TIMEOUT_TOKENS: Final = constant("ELIZA_SPAN_TIMEOUT_TOKENS")
"""Default span timeout, in tokens."""
REGEX_BYTES_MAX: Final = constant("ELIZA_REGEX_BYTES_MAX")
"""Bytes of one regular expression."""
GRAMMAR_BYTES_MAX: Final = constant("ELIZA_GRAMMAR_BYTES_MAX")
"""Bytes of one grammar."""
TERMINALS_MAX: Final = constant("ELIZA_TERMINALS_MAX")
"""Terminals of one grammar."""
TAGS_DESCRIPTOR_BYTES_MAX: Final = constant("ELIZA_TAGS_DESCRIPTOR_BYTES_MAX")
"""Bytes of one descriptor of tags."""
TAGS_MAX: Final = constant("ELIZA_TAGS_MAX")
"""Tags of one descriptor."""
TAGS_TEXT_BYTES_MAX: Final = constant("ELIZA_TAGS_TEXT_BYTES_MAX")
"""Bytes of its triggers and excluded texts together."""
TAGS_BEGIN_BYTES_MAX: Final = constant("ELIZA_TAGS_BEGIN_BYTES_MAX")
"""Of all begin texts together."""
TAGS_END_BYTES_MAX: Final = constant("ELIZA_TAGS_END_BYTES_MAX")
"""Bytes of an end text."""
TAGS_COUNT_MAX: Final = constant("ELIZA_TAGS_COUNT_MAX")
"""The largest `at_least` and `at_most`."""
CHOICES_MAX: Final = constant("ELIZA_CHOICES_MAX")
"""Strings of one set of choices."""
CHOICES_BYTES_MAX: Final = constant("ELIZA_CHOICES_BYTES_MAX")
"""Bytes of one set of choices, all strings together."""
FORCED_BYTES_MAX: Final = constant("ELIZA_FORCED_BYTES_MAX")
"""Bytes after which a run of forced bytes is cut."""
COMPILE_STATES: Final = constant("ELIZA_COMPILE_STATES")
"""States of one automaton: the default of a `Budget`, and its most."""
COMPILE_BYTES: Final = constant("ELIZA_COMPILE_BYTES")
"""Default bound on the memory that compiling uses, in bytes."""
MASK_BYTES: Final = constant("ELIZA_MASK_BYTES")
"""Default bound on the masks and tables that a constraint keeps, in bytes."""
TRIE_CACHE_ENTRIES: Final = constant("ELIZA_TRIE_CACHE_ENTRIES")
"""Compiled token trees that the process caches."""
TRIE_CACHE_BYTES: Final = constant("ELIZA_TRIE_CACHE_BYTES")
"""Default bound on the memory of that cache, in bytes."""
