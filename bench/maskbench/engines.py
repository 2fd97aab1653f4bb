"""The libraries that are measured, each after the same few functions."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from bench.recognizers.subjects import Fill, Llguidance, Ours, Words
from bench.recognizers.vocabularies import TokenTable


class Matcher(Protocol):
    fill: Fill
    """Finds the legal next tokens. Timed."""
    accept: Callable[[int], object]
    """Takes a token. Timed."""
    words: Words
    """The mask: bit i % 32 of word i / 32 is token i."""

    def can_stop(self) -> bool: ...

    def retained_bytes(self) -> int | None:
        """What the library says it keeps for the constraint and the matcher."""


class Engine(Protocol):
    def compile(self, schema: str) -> Callable[[], Matcher]:
        """From the text of a schema to what makes matchers. Timed; raises ValueError if it is refused."""


def load(name: str, vocabulary: TokenTable) -> Engine:
    words = np.zeros((vocabulary.n_tokens + 31) // 32, np.int32)
    return ENGINES[name](vocabulary, words)


class _OurEngine:
    def __init__(self, vocabulary: TokenTable, words: Words, order: Literal["declared", "any"] = "declared") -> None:
        from eliza_inference import Constraint  # here, since the other libraries' processes have none of it

        subject = Ours()
        subject.prepare(vocabulary)
        self._json_schema, self._vocabulary, self._order = Constraint.json_schema, subject.vocabulary, order
        self._words = words

    def compile(self, schema: str) -> Callable[[], Matcher]:
        constraint = self._json_schema(self._vocabulary, schema, order=self._order)
        return lambda: _OurMatcher(constraint, self._words)


class _OurMatcher:
    def __init__(self, constraint: Any, words: Words) -> None:
        from eliza_inference import Matcher as MatcherOfOurs

        self._constraint, self._matcher, self.words = constraint, MatcherOfOurs(constraint), words
        self.fill: Fill = partial(self._matcher.fill_bitmap, words)
        self.accept: Callable[[int], object] = self._matcher.accept

    def can_stop(self) -> bool:
        stops: bool = self._matcher.can_stop
        return stops

    def retained_bytes(self) -> int:
        info = self._constraint.recognizer_info
        retained: int = info.automaton_bytes + info.table_bytes + self._matcher.info.retained_bytes
        return retained


class _LlguidanceEngine:
    def __init__(self, vocabulary: TokenTable, words: Words) -> None:
        from llguidance import LLMatcher

        subject = Llguidance()
        subject.prepare(vocabulary)
        self._matcher, self._tokenizer, self._words = LLMatcher, subject.tokenizer, words

    def compile(self, schema: str) -> Callable[[], Matcher]:
        matcher = self._matcher(self._tokenizer, self._matcher.grammar_from_json_schema(schema))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return lambda: _LlguidanceMatcher(matcher, self._words)


class _LlguidanceMatcher:
    def __init__(self, compiled: Any, words: Words) -> None:
        self._matcher, self.words = compiled.deep_copy(), words
        self.fill: Fill = partial(self._matcher.unsafe_compute_mask_ptr, words.ctypes.data, words.nbytes)
        self.accept: Callable[[int], object] = self._matcher.consume_token

    def can_stop(self) -> bool:
        stops: bool = self._matcher.is_accepting()
        return stops

    def retained_bytes(self) -> None:
        return None


class _XGrammarEngine:
    """Not in its strict mode, which allows no member that a schema does not name."""

    def __init__(self, vocabulary: TokenTable, words: Words) -> None:
        import xgrammar

        info = xgrammar.TokenizerInfo(
            vocabulary.all_pieces, vocab_size=vocabulary.n_tokens, stop_token_ids=[vocabulary.end]
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._words, self._end = words, vocabulary.end

    def compile(self, schema: str) -> Callable[[], Matcher]:
        compiled = self._compiler.compile_json_schema(schema, strict_mode=False)
        return lambda: _XGrammarMatcher(compiled, self._words, self._end)


class _XGrammarMatcher:
    def __init__(self, compiled: Any, words: Words, end: int) -> None:
        import torch
        import xgrammar

        self._matcher, self.words, self._end = xgrammar.GrammarMatcher(compiled), words, end
        self._mask = torch.from_numpy(words.reshape(1, -1))
        self.fill: Fill = self._fill
        self.accept: Callable[[int], object] = self._matcher.accept_token

    def _fill(self) -> None:
        if not self._matcher.fill_next_token_bitmask(self._mask):
            self.words[:] = -1  # everything is legal

    def can_stop(self) -> bool:
        stops: bool = self._matcher.accept_token(self._end)
        return stops

    def retained_bytes(self) -> None:
        return None


ENGINES: dict[str, Callable[[TokenTable, Words], Engine]] = {
    "ours": _OurEngine,
    "ours, any order": partial(_OurEngine, order="any"),
    "llguidance": _LlguidanceEngine,
    "XGrammar": _XGrammarEngine,
}
