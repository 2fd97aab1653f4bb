"""A grammar backend of SGLang, by its plugin entry point.

    pip install './bindings-python[sglang]'
    python -m sglang.launch_server --grammar-backend eliza ...

SGLang finds the plugin by itself; without that option it changes nothing. JSON Schemas, regular expressions, EBNF and
structural tags are supported, with speculative decoding and reasoning parsers.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarRow,
    GrammarStats,
    InvalidGrammarObject,
    register_grammar_backend,
    register_vocab_mask_buffer,
)

from eliza_inference._bitmap import n_bitmap_words
from eliza_inference._logits import apply_bitmaps
from eliza_inference.bitmap import fill_bitmaps
from eliza_inference.constraint import Constraint
from eliza_inference.errors import ElizaError
from eliza_inference.json_schema import JsonSpace
from eliza_inference.matcher import Matcher
from eliza_inference.serving import served_vocabulary
from eliza_inference.token_flag import TokenFlag
from eliza_inference.vocabulary import Vocabulary

__all__ = ["NAME", "ElizaGrammar", "ElizaGrammarBackend", "register"]

NAME = "eliza"
"""The name for `--grammar-backend`."""

_LOGGER = logging.getLogger("eliza_inference")


def register() -> None:
    """The entry point of the group `sglang.srt.plugins`."""
    from sglang.srt.arg_groups.choices import add_grammar_backend_choices

    register_grammar_backend(NAME, _create)
    add_grammar_backend_choices([NAME])


def _create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None) -> Any:
    from sglang.srt.runtime_context import get_serving

    serving = get_serving()
    if serving.constrained_json_whitespace_pattern:
        _LOGGER.warning("SGLang: constrained_json_whitespace_pattern is not read by the grammar backend %s", NAME)
    space: JsonSpace = "spaced" if serving.constrained_json_disable_any_whitespace else "loose"
    backend = ElizaGrammarBackend(tokenizer, vocab_size, eos_token_ids, space=space)
    if not serving.reasoning_parser:
        return backend
    # SGLang does this for its own backends only.
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking)


class ElizaGrammar(BaseGrammarObject):
    """One request's text under a constraint."""

    def __init__(
        self, constraint: Constraint, end: list[int] | None, stats: Any, content: dict[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.grammar_stats = stats
        self.content = content
        """The format of a structural tag that has the same texts."""
        self._constraint = constraint
        self._end = end
        self._matcher = Matcher(constraint, end=end)
        self._n_after_end = 0

    def accept_token(self, token: int) -> None:
        """Moves on by a token; a `ValueError` if it is not legal. After the end every token is taken."""
        if self.is_terminated():
            self._n_after_end += 1
        elif not self._matcher.accept_tokens([token]):
            raise ValueError(f"token {token} is not legal here")
        self.current_token = token

    def rollback(self, k: int) -> None:
        """Undoes the last `k` tokens."""
        behind = min(k, self._n_after_end)
        self._n_after_end -= behind
        self._matcher.rollback(k - behind)

    def is_terminated(self) -> bool:
        """Whether the end token was taken, or none is needed."""
        return self._matcher.is_terminated()

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """Rows in which every token is legal."""
        return ElizaGrammarBackend.allocate_vocab_mask(
            max(vocab_size, len(self._constraint.vocabulary)), batch_size, device
        )

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Writes the legal next tokens to a row."""
        self._matcher.fill_bitmap(vocab_mask[idx].numpy())

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: Any) -> None:
        """Writes the rows of several requests in several threads; other rows stay as they are."""
        if all(type(entry.grammar) is ElizaGrammar for entry in entries):
            matchers = [entry.grammar._matcher for entry in entries]
            fill_bitmaps(matchers, vocab_mask.numpy(), rows=[entry.row for entry in entries])
        else:
            BaseGrammarObject.fill_vocab_mask_batched(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Makes every token legal again."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """The mask on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Writes -inf to what is not legal, in place; on GPUs with SGLang's own kernel."""
        if logits.device.type in ("cuda", "xpu", "musa") and torch.version.hip is None:
            from sglang.kernels.ops.grammar.bitmask_ops import apply_token_bitmask_inplace_triton

            apply_token_bitmask_inplace_triton(logits, vocab_mask)
        else:
            apply_bitmaps(logits, vocab_mask)

    def copy(self) -> ElizaGrammar:
        """A new request under the same constraint, with its masks and tables."""
        stats = replace(self.grammar_stats, is_cache_hit=True, tree_traversal_time=[])
        return ElizaGrammar(self._constraint, self._end, stats, self.content)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """The text that must follow, in whole characters."""
        text = self._matcher.forced_bytes().decode("utf-8", "ignore")
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """The text of `try_jump_forward`."""
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Continues from other tokens of the same text."""
        common = 0
        while common < min(len(old_output_ids), len(new_output_ids)):
            if old_output_ids[common] != new_output_ids[common]:
                break
            common += 1
        self.rollback(len(old_output_ids) - common)
        for token in new_output_ids[common:]:
            self.accept_token(token)


class ElizaGrammarBackend(BaseGrammarBackend):
    """Compiles what requests ask for. What cannot be compiled fails its request, with the place of the error."""

    def __init__(
        self, tokenizer: Any, vocab_size: int, eos_token_ids: set[int] | None = None, *, space: JsonSpace = "loose"
    ) -> None:
        super().__init__()
        self._vocabulary = self._framing_vocabulary = served_vocabulary(tokenizer, vocab_size)
        self._end = sorted(eos_token_ids) if eos_token_ids else None
        self._space: JsonSpace = space

    def initialize_vocab_mask_buffer(self, name: str, vocab_size: int, max_rows: int, device: Any) -> Any:
        """A mask that is used again for each batch."""
        vocab_mask = self.allocate_vocab_mask(max(vocab_size, len(self._vocabulary)), max_rows, device)
        return register_vocab_mask_buffer(name, vocab_mask, max_rows)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema; "$$ANY$$" is any document."""
        schema = "true" if key_string == "$$ANY$$" else key_string
        compiled = self._compile("json", lambda: Constraint.json_schema(self._vocabulary, schema, space=self._space))
        return self._with_content(compiled, lambda: self._schema_format(json.loads(schema)))

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A regular expression."""
        compiled = self._compile("regex", lambda: Constraint.regex(self._vocabulary, key_string))
        return self._with_content(compiled, lambda: {"type": "regex", "pattern": key_string})

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """XGrammar's EBNF."""
        compiled = self._compile("ebnf", lambda: Constraint.gbnf(self._vocabulary, key_string, ebnf=True))
        return self._with_content(compiled, lambda: {"type": "grammar", "grammar": key_string})

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """XGrammar's structural tags, in both of their notations."""
        return self._compile("structural_tag", lambda: Constraint.tags(self._vocabulary, key_string))

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Makes tokens no text in framed answers, whatever they spell."""
        vocabulary, reserved = self._vocabulary, set(token_ids)
        flags = [vocabulary.flags(token) for token in range(len(vocabulary))]
        if all(flags[token] & TokenFlag.SPECIAL for token in reserved):
            return
        flags = [flag | TokenFlag.SPECIAL if token in reserved else flag for token, flag in enumerate(flags)]
        token_bytes = [vocabulary.token_bytes(token) for token in range(len(vocabulary))]
        self._framing_vocabulary = Vocabulary(len(vocabulary), token_bytes, flags)

    def compile_framed_grammar(
        self, grammar: BaseGrammarObject, frame: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> BaseGrammarObject | None:
        """A request's grammar in the messages that a model writes around it."""
        if not isinstance(grammar, ElizaGrammar) or grammar.content is None:
            return None
        tag = json.dumps(frame(grammar.content))
        return self._compile("structural_tag", lambda: Constraint.tags(self._framing_vocabulary, tag))

    @staticmethod
    def _with_content(compiled: BaseGrammarObject, content: Callable[[], dict[str, Any]]) -> BaseGrammarObject:
        if isinstance(compiled, ElizaGrammar):
            compiled.content = content()
        return compiled

    def _schema_format(self, schema: Any) -> dict[str, Any]:
        if self._space == "spaced" and schema is not False:
            separators = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
            schema = {**schema, "x-guidance": separators} if schema is not True else {"x-guidance": separators}
        return {"type": "json_schema", "json_schema": schema}

    def _compile(self, dispatch_type: str, compile_one: Any) -> BaseGrammarObject:
        try:
            constraint = compile_one()
        except ElizaError as error:
            _LOGGER.warning("SGLang: %s: %s", dispatch_type, error)
            return InvalidGrammarObject(str(error))
        return ElizaGrammar(constraint, self._end, GrammarStats(dispatch_type=dispatch_type))

    # What a reasoning parser asks of a backend.

    @property
    def is_support_token_filter(self) -> bool:
        """Tokens can be banned while the model reasons."""
        return True

    def set_token_filter(
        self, vocab_mask: Any, token_ids: Any, batch_idx: int, is_allowed: bool = True, reset_vocab_mask: bool = True
    ) -> None:
        """Allows or bans tokens in a row."""
        from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

        set_token_filter_torch(
            vocab_mask, token_ids, batch_idx, is_allowed=is_allowed, reset_vocab_mask=reset_vocab_mask
        )

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> Any:
        """Rows in which every token is legal."""
        shape = (batch_size, n_bitmap_words(vocab_size))
        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    move_vocab_mask = staticmethod(ElizaGrammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(ElizaGrammar.apply_vocab_mask)
