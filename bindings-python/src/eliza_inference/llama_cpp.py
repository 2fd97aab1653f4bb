"""Constrained decoding with llama-cpp-python.

    from eliza_inference import Constraint, Vocabulary
    from eliza_inference.llama_cpp import generate

    vocabulary = Vocabulary.from_llama_cpp(llama)
    print(generate(llama, "A colour, as JSON: ", Constraint.json_schema(vocabulary, schema)))

Needs the extra `llama-cpp`. In a chain of samplers of your own, `add_to_chain` costs less than a processor: there is no
pass over all logits in Python. `Llama` makes a chain for each call, and has a place for processors only.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eliza_inference._arguments import instance
from eliza_inference.constraint import Constraint, ConstraintKind
from eliza_inference.errors import InvalidArgumentError
from eliza_inference.matcher import Matcher, Mode
from eliza_inference.sampler import constraint_sampler

__all__ = ["ConstraintLogitsProcessor", "add_to_chain", "generate"]

_LOGGER = logging.getLogger("eliza_inference")


class ConstraintLogitsProcessor:
    """A processor for the `logits_processor` of one call of a `Llama`: its text obeys the constraint.

    `Llama.generate` calls it once for each token; tokens of a draft model that are not verified yet do no harm. What
    the first call sees is the prompt. Where the text is over, only end tokens are legal: `end`, or None: those of the
    vocabulary.

    llama-cpp-python prints what a processor raises, and continues with logits that nothing has masked. So this one
    raises nothing: what went wrong is in `error`, and logged, and from then on only end tokens, if any, are legal.
    """

    def __init__(self, constraint: Constraint, *, end: Iterable[int] | None = None) -> None:
        instance("constraint", constraint, Constraint)
        self.error: Exception | None = None
        self._end = list(constraint.vocabulary.end_of_generation_tokens() if end is None else end)
        # A token tree has its end tokens in the payload.
        self._matcher = Matcher(
            constraint, end=None if end is None or constraint.kind == ConstraintKind.TOKEN_TRIE else self._end
        )
        self._n_accepted = 0
        self._prompt_length: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import numpy as np

        try:
            if self.error is None and not self._is_over(input_ids):
                logits = np.ascontiguousarray(scores, np.float32)  # they lie among ids and probabilities
                self._matcher.mask_logits(logits)
                return logits
        except Exception as error:
            _LOGGER.exception("llama-cpp-python: the constraint failed")
            self.error = error
        if self._end:  # llama.cpp aborts where nothing is left
            kept = np.asarray(scores)[self._end]
            scores[:] = -np.inf
            scores[self._end] = kept
        return scores

    def _is_over(self, input_ids: Any) -> bool:
        if self._prompt_length is None:
            self._prompt_length = len(input_ids)
        else:
            # After this one there may be drafted tokens.
            token = int(input_ids[self._prompt_length + self._n_accepted])
            if not self._matcher.is_terminated() and not self._matcher.accept_tokens([token]):
                raise InvalidArgumentError(f"token {token} at {self._n_accepted} is not legal: was it masked?")
            self._n_accepted += 1
        return bool(self._end) and self._matcher.is_terminated()


def generate(
    llama: Any, prompt: str | Sequence[int] | Sequence[Mapping[str, Any]], constraint: Constraint, **settings: Any
) -> str:
    """The text that the model says to a prompt, under the constraint.

    A prompt is a text or its tokens, for `Llama.create_completion`, or messages, for `Llama.create_chat_completion`.
    `settings` are those of that function, such as `max_tokens` (None: as many as it takes) or `temperature`.
    """
    import llama_cpp

    processor = ConstraintLogitsProcessor(constraint)
    settings.setdefault("max_tokens", None)
    settings["logits_processor"] = llama_cpp.LogitsProcessorList([*settings.pop("logits_processor", []), processor])
    if not isinstance(prompt, str) and all(isinstance(message, Mapping) for message in prompt):
        text = llama.create_chat_completion(prompt, **settings)["choices"][0]["message"]["content"]
    else:
        text = llama.create_completion(prompt, **settings)["choices"][0]["text"]
    if processor.error is not None:
        raise processor.error
    return str(text)


def add_to_chain(
    chain: Any,
    llama: Any,
    constraint: Constraint,
    mode: Mode = Mode.SAMPLED,
    *,
    end: Iterable[int] | None = None,
) -> None:
    """Adds a sampler to a chain of `llama_cpp.llama_sampler_chain_init`, which frees it; put it first.

    With `Mode.SAMPLED` it leaves the legal candidates to what follows; with `Mode.GREEDY` it selects the best of them.
    """
    import llama_cpp

    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    sampler = constraint_sampler(vocab, constraint, mode, end=end)
    llama_cpp.llama_sampler_chain_add(chain, ctypes.cast(sampler, llama_cpp.llama_sampler_p_ctypes))
