"""Constrained decoding with Hugging Face transformers.

    from eliza_inference import Constraint, Vocabulary
    from eliza_inference.transformers import generate

    vocabulary = Vocabulary.from_transformers(tokenizer)
    print(generate(model, tokenizer, "A colour, as JSON: ", Constraint.json_schema(vocabulary, schema)))

Needs the extra `transformers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, overload

from eliza_inference._arguments import instance
from eliza_inference._logits import apply_bitmaps
from eliza_inference.bitmap import fill_bitmaps
from eliza_inference.constraint import Constraint, ConstraintKind
from eliza_inference.errors import InvalidArgumentError
from eliza_inference.matcher import Matcher, Step, mask_rows

__all__ = ["ConstraintLogitsProcessor", "generate"]


class ConstraintLogitsProcessor:
    """A `LogitsProcessor` for one call of `model.generate`: every text of the batch obeys the constraint.

    It serves padded batches, several sequences for each prompt, sampling and beams, logits of every float type, on
    any device, and wider than the vocabulary. What the first call sees is the prompt. Where a text is over, only
    end tokens are legal: `end`, or None: those of the vocabulary. Each step masks the whole batch at once, in place.
    """

    def __init__(self, constraint: Constraint, *, end: Iterable[int] | None = None) -> None:
        import numpy as np

        instance("constraint", constraint, Constraint)
        self._constraint = constraint
        self._end = list(constraint.vocabulary.end_of_generation_tokens() if end is None else end)
        # A token tree has its end tokens in the payload.
        spans_end = None if end is None or constraint.kind == ConstraintKind.TOKEN_TRIE else self._end
        self._start = Matcher(constraint, end=spans_end)
        self._prompt_length: int | None = None
        self._rows: list[_Row] = []
        self._texts: tuple[tuple[int, ...], bytes] = (0, 0), b""
        """The tokens after the prompts in the last call: shape and memory."""
        self._nothing = np.zeros(constraint._n_words, np.int32)
        self._end_bitmap = self._nothing.copy()
        for token in self._end:
            self._end_bitmap.view(np.uint32)[token // 32] |= np.uint32(1 << token % 32)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        _check(input_ids, scores)
        self._move_on(input_ids)
        n_logits = scores.shape[1]
        stride, step = scores.stride()
        # A tokenizer may have tokens that the model has not.
        if not scores.is_cpu or step != 1 or stride < n_logits or n_logits < len(self._constraint.vocabulary):
            apply_bitmaps(scores, self._bitmaps())
            return scores
        # The library writes to the rows where they lie.
        matchers, rows = [], []
        for at, row in enumerate(self._rows):
            closed = self._bitmap_of_closed(row)
            if closed is None:
                matchers.append(row.matcher)
                rows.append(at)
            else:
                apply_bitmaps(scores[at], closed)
        mask_rows(matchers, rows, scores.data_ptr(), _name(scores.dtype), n_logits, stride)
        return scores

    def _bitmaps(self) -> Any:
        """What is legal in each row."""
        import numpy as np

        bitmaps = np.empty((len(self._rows), self._constraint._n_words), np.int32)
        open_rows = []
        for at, row in enumerate(self._rows):
            closed = self._bitmap_of_closed(row)
            if closed is None:
                open_rows.append(at)
            else:
                bitmaps[at] = closed
        rows = open_rows if len(open_rows) < len(self._rows) else None
        return fill_bitmaps([self._rows[at].matcher for at in open_rows], bitmaps, rows=rows)

    def _bitmap_of_closed(self, row: _Row) -> Any:
        """What is legal in a row that does not ask its matcher; else None."""
        if row.is_illegal:
            return self._nothing
        return self._end_bitmap if row.is_over and self._end else None

    def _move_on(self, input_ids: Any) -> None:
        if self._prompt_length is None:
            self._prompt_length = input_ids.shape[1]
            self._rows = [_Row([], self._start.clone()) for _ in range(len(input_ids))]
            self._texts = (len(input_ids), 0), b""
            return
        texts = input_ids.cpu().numpy()[:, self._prompt_length :]
        before, self._texts = self._texts, (texts.shape, texts.tobytes())
        # As bytes they are compared several times as fast as by numpy, whose code other work drives out of the caches.
        if texts.shape[1] > 0 and (texts[:, :-1].shape, texts[:, :-1].tobytes()) == before:
            for row, token in zip(self._rows, texts[:, -1].tolist(), strict=True):
                row.accept(token)
        else:
            self._follow(texts.tolist())

    def _follow(self, texts: list[list[int]]) -> None:
        """Gives each text the matcher of the row that it continues from: with beams this may be another one, and
        several texts may continue from one."""
        before = self._rows
        sources = [self._source(at, tokens) for at, tokens in enumerate(texts)]
        last_use = {source: at for at, source in enumerate(sources)}
        # The last text that continues from a row takes its matcher; all copies are made before.
        matchers = []
        for at, source in enumerate(sources):
            matcher = before[source].matcher
            matchers.append(matcher if last_use[source] == at else matcher.clone())
        self._rows = [
            before[source].go_on(tokens, matcher)
            for source, tokens, matcher in zip(sources, texts, matchers, strict=True)
        ]

    def _source(self, at: int, tokens: list[int]) -> int:
        """The row with the longest common beginning: mostly the same one, and all of it."""
        rows = self._rows
        if at < len(rows) and rows[at].tokens == tokens[: len(rows[at].tokens)]:
            return at
        return max(range(len(rows)), key=lambda row: _common(rows[row].tokens, tokens))


def _check(input_ids: Any, scores: Any) -> None:
    import torch

    for name, value in (("input_ids", input_ids), ("scores", scores)):
        instance(name, value, torch.Tensor)
        if value.ndim != 2:
            raise InvalidArgumentError(f"{name}: expected two dimensions, got the shape {list(value.shape)}")
    if len(input_ids) != len(scores):
        raise InvalidArgumentError(f"scores: {len(scores)} rows for input_ids of {len(input_ids)} rows")


@cache
def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


_REFUSED, _SPAN_CHANGED = int(Step.REFUSED), int(Step.SPAN_ENDED | Step.SPAN_STARTED)


class _Row:
    """One text: its tokens after the prompt, as far as they are legal, and where they lead. Beams without a legal
    token left take an illegal one; nothing may follow there."""

    __slots__ = ("_accept", "_n_tokens", "is_illegal", "is_over", "matcher", "tokens")

    def __init__(self, tokens: list[int], matcher: Matcher, is_illegal: bool = False) -> None:
        self.tokens = tokens
        self.matcher = matcher
        self.is_illegal = is_illegal
        self.is_over = matcher.is_terminated()
        self._n_tokens = len(matcher._constraint.vocabulary)
        self._accept = matcher._accept

    def accept(self, token: int) -> None:
        """Continues by one token."""
        if self.is_illegal:
            return
        # Without a Step for each row of each step.
        step = self._accept(self.matcher._handle, token) if token < self._n_tokens else _REFUSED
        if step < 0:
            raise self.matcher._error(step)
        if step & _REFUSED:
            self.is_illegal = True
            return
        self.tokens.append(token)
        if step & _SPAN_CHANGED:
            self.is_over = self.matcher.is_terminated()

    def go_on(self, tokens: list[int], matcher: Matcher) -> _Row:
        """`matcher` stands where this text does."""
        common = _common(self.tokens, tokens)
        matcher.rollback(len(self.tokens) - common)
        row = _Row(tokens[:common], matcher)
        for token in tokens[common:]:
            row.accept(token)
        return row


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(at for at in range(length) if one[at] != other[at])


@overload
def generate(model: Any, tokenizer: Any, prompt: str, constraint: Constraint, **settings: Any) -> str: ...
@overload
def generate(
    model: Any, tokenizer: Any, prompt: Sequence[str], constraint: Constraint, **settings: Any
) -> list[str]: ...
def generate(model: Any, tokenizer: Any, prompt: Any, constraint: Constraint, **settings: Any) -> Any:
    """The text that the model says to a prompt, or the texts to several, under the constraint.

    `settings` are those of `model.generate`, such as `max_new_tokens`, `do_sample` or `num_beams`. With
    `num_return_sequences` the texts to one prompt stand side by side, and are a list for one prompt too.
    """
    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token_id = tokenizer.eos_token_id
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left").to(model.device)
    ends = settings.get("eos_token_id", model.generation_config.eos_token_id)
    end = None if ends is None else [ends] if isinstance(ends, int) else list(ends)
    settings.setdefault("pad_token_id", tokenizer.pad_token_id)
    processors = [*settings.pop("logits_processor", []), ConstraintLogitsProcessor(constraint, end=end)]
    output = model.generate(**inputs, logits_processor=processors, **settings)
    skipped = 0 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
    texts: list[str] = tokenizer.batch_decode(output[:, skipped:], skip_special_tokens=True)
    return texts[0] if isinstance(prompt, str) and len(texts) == 1 else texts
