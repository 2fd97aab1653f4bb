"""Constrained decoding with Outlines, whose `Generator` asks a backend for a logits processor.

    import outlines
    from eliza_inference.outlines import generator

    model = outlines.from_transformers(hf_model, hf_tokenizer)     # or outlines.from_llamacpp(llama)
    print(generator(model, Order)("The order as JSON: ", max_new_tokens=200))

Needs the extra `outlines`, and that of what holds the model. `outlines.Generator(model, Order, backend="...")` has a
fixed list of names; `generator` makes the same object with this library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outlines.backends import BaseBackend
from outlines.generator import SteerableGenerator
from outlines.models import LlamaCpp, Transformers
from outlines.types.dsl import CFG, JsonSchema, python_types_to_terms, to_regex

from eliza_inference.constraint import Constraint
from eliza_inference.json_schema import JsonSpace
from eliza_inference.vocabulary import Vocabulary

__all__ = ["ElizaBackend", "generator"]


def generator(model: Any, output_type: Any) -> SteerableGenerator:
    """What `outlines.Generator(model, output_type)` makes: called with a prompt, it gives a text of that type; it has
    `batch` and `stream` too."""
    backend, term = ElizaBackend(model), python_types_to_terms(output_type)
    if isinstance(term, CFG):
        processor = backend.get_cfg_logits_processor(term.definition)
    elif isinstance(term, JsonSchema):
        processor = backend.get_json_schema_logits_processor(term.schema, term.whitespace_pattern)
    else:
        processor = backend.get_regex_logits_processor(to_regex(term))
    return SteerableGenerator.from_processor(model, processor)


class ElizaBackend(BaseBackend):
    """A backend of Outlines for its models of transformers and of llama-cpp-python. Its processors go to
    `outlines.Generator(model, processor=...)`. Making one reads the vocabulary; keep it."""

    def __init__(self, model: Any) -> None:
        self._host: Callable[[Constraint], Any]
        if isinstance(model, Transformers):
            from eliza_inference.transformers import ConstraintLogitsProcessor

            self._vocabulary = Vocabulary.from_transformers(model.hf_tokenizer)
            self._host = ConstraintLogitsProcessor
        elif isinstance(model, LlamaCpp):
            from eliza_inference.llama_cpp import ConstraintLogitsProcessor as LlamaProcessor

            self._vocabulary = Vocabulary.from_llama_cpp(model.model)
            self._host = LlamaProcessor
        else:
            raise TypeError(f"model: expected Transformers or LlamaCpp of outlines, got {type(model).__name__}")

    def get_json_schema_logits_processor(self, json_schema: str, whitespace_pattern: str | None = None) -> Any:
        """For documents of a JSON Schema. Of patterns of white space there are None and "", which allows none."""
        if whitespace_pattern:
            raise NotImplementedError(f"whitespace_pattern: only None and '' are supported, got {whitespace_pattern!r}")
        space: JsonSpace = "loose" if whitespace_pattern is None else "compact"
        return self._processor(Constraint.json_schema(self._vocabulary, json_schema, space=space))

    def get_regex_logits_processor(self, regex: str) -> Any:
        """For texts that match a regular expression."""
        return self._processor(Constraint.regex(self._vocabulary, regex))

    def get_cfg_logits_processor(self, grammar: str) -> Any:
        """For texts of a grammar in Lark's notation."""
        return self._processor(Constraint.lark(self._vocabulary, grammar))

    def _processor(self, constraint: Constraint) -> Any:
        return _Processor(lambda: self._host(constraint))


class _Processor:
    """A processor for one call after the other: Outlines resets it before each."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self.reset()

    def reset(self) -> None:
        self._current = self._start()

    def __call__(self, input_ids: Any, logits: Any) -> Any:
        return self._current(input_ids, logits)
