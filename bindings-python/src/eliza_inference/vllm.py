"""Structured output of vLLM by this library, through its plugin entry point.

    pip install './bindings-python[vllm]'
    VLLM_PLUGINS=eliza_inference vllm serve MODEL --structured-outputs-config.backend guidance

vLLM has a closed list of backends, and no place for another: the plugin takes the place of the one named "guidance". It
does so only if `VLLM_PLUGINS` names it, since vLLM loads every plugin that is installed.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import torch
from vllm.v1.structured_output import backend_guidance
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)

from eliza_inference._bitmap import n_bitmap_words
from eliza_inference.constraint import Constraint
from eliza_inference.errors import ElizaError
from eliza_inference.json_schema import JsonSpace
from eliza_inference.matcher import Matcher, Step
from eliza_inference.serving import served_vocabulary
from eliza_inference.structural_tags import names_tokens
from eliza_inference.vocabulary import TokenFlag, Vocabulary

__all__ = ["NAME", "ElizaBackend", "ElizaGrammar", "register"]

NAME = "eliza_inference"
"""The name for `VLLM_PLUGINS`."""

_KEPT_CONSTRAINTS = 256


def register() -> None:
    """The entry point of the group `vllm.general_plugins`. vLLM calls it in each of its processes, and once or more."""
    import vllm.envs
    import vllm.v1.structured_output

    if NAME not in (vllm.envs.VLLM_PLUGINS or ()):
        return
    # The manager has the class by name; requests are validated, and beams begun, with what the module has then.
    vllm.v1.structured_output.GuidanceBackend = ElizaBackend
    backend_guidance.GuidanceBackend = ElizaBackend
    backend_guidance.validate_guidance_grammar = _validate


class ElizaGrammar(StructuredOutputGrammar):
    """One request's text under a constraint."""

    def __init__(self, constraint: Constraint, end: set[int] | None) -> None:
        self._matcher = Matcher(constraint, end=sorted(end) if end else None)
        self._n_tokens = len(constraint.vocabulary)
        self._terminated = False

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Moves on by these tokens; False if one is not legal. Tokens after the end are ignored."""
        return self._advance(tokens) == len(tokens) or self._terminated

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """The first of these tokens that are legal one after the other, up to the end. Nothing changes."""
        if self._terminated:
            return []
        n_legal = self._advance(tokens)
        self.rollback(n_legal)
        return tokens[:n_legal]

    def rollback(self, num_tokens: int) -> None:
        """Undoes the last accepted tokens."""
        self._matcher.rollback(num_tokens)
        self._terminated = self._matcher.is_terminated()

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Writes the legal next tokens to a row."""
        self._matcher.fill_bitmap(bitmask[batch_index].numpy())

    def is_terminated(self) -> bool:
        """Whether the end token was taken, or none is needed."""
        return self._terminated

    def reset(self) -> None:
        """Goes back to the beginning."""
        self._matcher.reset()
        self._terminated = False

    def _advance(self, tokens: list[int]) -> int:
        """How many of the tokens were taken."""
        for at, token in enumerate(tokens):
            # Drafts are padded with -1.
            if self._terminated or not 0 <= token < self._n_tokens:
                return at
            step = self._matcher.accept(token)
            if Step.REFUSED in step:
                return at
            self._terminated = Step.SPAN_ENDED in step
        return len(tokens)


class ElizaBackend(StructuredOutputBackend):
    """Compiles what requests ask for, and keeps the latest constraints with their masks and tables."""

    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Fast tokenizers of transformers are."""
        return getattr(tokenizer, "backend_tokenizer", None) is not None

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        config = vllm_config.structured_outputs_config
        vocabulary = served_vocabulary(tokenizer, vocab_size)
        self._n_words = n_bitmap_words(len(vocabulary))

        @lru_cache(_KEPT_CONSTRAINTS)
        def compiled(request_type: StructuredOutputOptions, spec: str) -> Constraint:
            return _compile(
                vocabulary,
                request_type,
                spec,
                space="compact" if config.disable_any_whitespace else "loose",
                closed=config.disable_additional_properties,
            )

        self._compiled = compiled

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> StructuredOutputGrammar:
        """A request's grammar; raises what `Constraint` raises, with the place of the error."""
        return ElizaGrammar(self._compiled(request_type, grammar_spec), stop_token_ids)

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Rows in which every token is legal."""
        return torch.full((max_num_seqs, self._n_words), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Lets the kept constraints go."""
        self._compiled.cache_clear()


def _compile(
    vocabulary: Vocabulary, request_type: StructuredOutputOptions, spec: str, *, space: JsonSpace, closed: bool
) -> Constraint:
    """With `closed`, an object has no members beyond those that its schema names."""
    kind = StructuredOutputOptions
    if request_type == kind.JSON_OBJECT:
        return Constraint.json_schema(vocabulary, {"type": "object"}, space=space)
    if request_type == kind.JSON:
        schema = backend_guidance.process_for_additional_properties(spec) if closed else spec
        return Constraint.json_schema(vocabulary, schema, space=space)
    if request_type == kind.REGEX:
        return Constraint.regex(vocabulary, spec)
    if request_type == kind.CHOICE:
        return Constraint.choices(vocabulary, json.loads(spec))
    if request_type == kind.STRUCTURAL_TAG:
        return Constraint.tags(vocabulary, spec)
    from vllm.v1.structured_output.utils import grammar_is_likely_lark

    if grammar_is_likely_lark(spec):
        return Constraint.lark(vocabulary, spec)
    return Constraint.gbnf(vocabulary, spec, ebnf=True)


def _validate(sampling_params: Any, tokenizer: Any = None) -> None:
    """Refuses what cannot be compiled when the request comes in, as `validate_guidance_grammar` does."""
    from vllm.exceptions import VLLMValidationError
    from vllm.v1.structured_output.request import get_structured_output_key

    if sampling_params.structured_outputs is None:
        return
    try:
        key = get_structured_output_key(sampling_params.structured_outputs)
        if key[0] == StructuredOutputOptions.STRUCTURAL_TAG and names_tokens(key[1]):
            return  # it is compiled with the model's tokens alone
        _compile(_byte_vocabulary(), *key, space="loose", closed=False)
    except (ElizaError, ValueError, TypeError) as error:
        raise VLLMValidationError(f"Grammar error: {error}") from error


@lru_cache(1)
def _byte_vocabulary() -> Vocabulary:
    """Whether something compiles does not depend on the tokens, but for a grammar that names some."""
    flags = [TokenFlag.NORMAL] * 256 + [TokenFlag.END_OF_GENERATION]
    return Vocabulary(257, [*(bytes([byte]) for byte in range(256)), b"</s>"], flags)
