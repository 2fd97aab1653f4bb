"""A model in this process, and its streams."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from eliza_inference._arguments import INT32_MIN, UINT32_MAX, UINT64_MAX, integer, integers, number, utf8
from eliza_inference._constants import constant
from eliza_inference._library import call, ffi, lib
from eliza_inference._named import NamedInt
from eliza_inference._open_model import OpenModel
from eliza_inference.token_stream import TokenStream
from eliza_inference.token_tree import TokenTree, build_token_trie, has_prefix_leaf
from eliza_inference.vocabulary import Vocabulary

__all__ = ["Model", "Pooling", "Stream"]

_THREADS_MAX = 512  # of eliza_inference_llm_stream_set_threads


class Pooling(NamedInt):
    """How the vectors of a text's tokens become its embedding."""

    MEAN = constant("ELIZA_POOLING_MEAN")
    FIRST = constant("ELIZA_POOLING_FIRST")
    """That of the first token, as of models with a classification token."""
    LAST = constant("ELIZA_POOLING_LAST")
    """That of the last token, as of models that generate."""


class Model(OpenModel):
    """An open model: a GGUF file, or a folder with one under `text/`.

    A context manager: `close` frees it; streams that are still open, and calls that run in other threads, keep what
    they need. Any number of threads may use it at once. Raises `ModelFileError` if the file is missing or damaged,
    and `AbiMismatchError` without a usable libllama (see `load_llama`).
    """

    def __init__(self, path: str | os.PathLike[str], *, model_id: str = "") -> None:
        super().__init__(path, model_id=model_id)
        self._vocabulary: Vocabulary | None = None

    @property
    def model_id(self) -> str:
        """The name of the model; "" if it is not known. Once it is set, token trees for a model with another id
        are refused (`ModelMismatchError`)."""
        return self._model_id

    @model_id.setter
    def model_id(self, model_id: str) -> None:
        self._set_model_id(model_id)
        self._vocabulary = None

    @property
    def vocabulary(self) -> Vocabulary:
        """The token ids with their bytes and kinds. It outlives the model."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary.from_model(self)
        return self._vocabulary

    def tokenize(self, text: str, *, add_special: bool = False, parse_special: bool = False) -> list[int]:
        """The token ids of a text.

        `add_special` adds the tokens that the model puts at the beginning (and end) of a text, as at the
        start of a prompt. `parse_special` reads the names of control tokens as these tokens.
        """
        encoded = utf8("text", text)
        tokens, count = ffi.new("int **"), ffi.new("size_t *")
        call(
            lib.eliza_inference_tokenize, self._handle, encoded, len(encoded), add_special, parse_special, tokens, count
        )
        try:
            return list(ffi.unpack(tokens[0], count[0])) if count[0] else []
        finally:
            lib.eliza_inference_free_tokens(tokens[0])

    def detokenize(self, tokens: Sequence[int], *, remove_special: bool = False, unparse_special: bool = False) -> str:
        """The text of token ids; bytes that are not UTF-8 become U+FFFD.

        `remove_special` leaves out the tokens that `add_special` adds. `unparse_special` spells control
        tokens by their names.
        """
        owned = integers("tokens", tokens)
        ids = ffi.cast("int *", owned)
        capacity = 8 * len(owned) + 64
        while True:
            text = ffi.new("char[]", capacity)
            length = call(
                lib.eliza_inference_detokenize,
                self._handle,
                ids,
                len(owned),
                remove_special,
                unparse_special,
                text,
                capacity,
            )
            if length < capacity:
                return str(ffi.buffer(text, length)[:].decode("utf-8", "replace"))
            capacity = length + 1

    def embed(self, text: str, *, pooling: Pooling = Pooling.MEAN) -> list[float]:
        """The embedding of a text, a vector of length 1. Of a text with more tokens than the model was trained with,
        the beginning counts, and the last token."""
        encoded = utf8("text", text)
        given = self._handle, encoded, len(encoded), Pooling(pooling)
        dimension = ffi.new("int *")
        lib.eliza_inference_embed(*given, ffi.NULL, 0, dimension, ffi.NULL)  # fails, and tells the dimension
        vector = ffi.new("float[]", dimension[0])
        call(lib.eliza_inference_embed, *given, vector, len(vector), dimension)
        return list(ffi.unpack(vector, len(vector)))

    def token_tree(
        self,
        names: Iterable[str],
        *,
        path: str = "action",
        prefix: str = " ",
        trigger: Iterable[Iterable[int]] = (),
    ) -> TokenTree:
        """A token tree with one descriptor, of names in this model's tokens; `tree + other` combines two trees.

        `path` names the place in the output, and `prefix` is the text between what is there already and
        the name: it is tokenised with the name. `trigger` lists token sequences that open the span.
        A model without an id gives the tree the fingerprint of its vocabulary, so that another one refuses it.
        Where a name is the beginning of another, the end-of-generation tokens end it. An empty name is
        an `InvalidArgumentError`; `PayloadError` if there are no names.
        """
        model_id = self.model_id or f"vocabulary:{self.vocabulary.info.fingerprint:016x}"
        tree = TokenTree.from_names(names, self.tokenize, path=path, prefix=prefix, trigger=trigger, model_id=model_id)
        (descriptor,) = tree.descriptors
        if has_prefix_leaf(build_token_trie(descriptor.leaves)):
            descriptor = replace(descriptor, end=self.vocabulary.end_of_generation_tokens())
        return replace(tree, descriptors=(descriptor,))

    def stream(
        self,
        *,
        max_tokens: int = 0,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        repeat_penalty: float = 1.0,
        grammar: str | None = None,
        context_size: int = 0,
        seed: int = 0,
        threads: int | None = None,
        time_budget_ms: int = 0,
        span_timeout: int | None = None,
        skip_ahead: bool = True,
        disable_thinking: bool = False,
        gpu_layers: int = -1,
        cache_type_k: str | None = None,
        cache_type_v: str | None = None,
        draft_max: int = 0,
        draft_min: int = 1,
        draft_model: str | os.PathLike[str] | None = None,
    ) -> Stream:
        """Opens a stream: one generation, with a KV cache of its own.

        - `max_tokens`: the most tokens to emit after a prompt; 0: no bound.
        - `temperature` (0 or less: greedy), `top_p` (1 or more, or 0 or less: off), `top_k` (0 or
          less: off), `repeat_penalty` (over the last 64 tokens; 1, or 0 or less: off) and `seed`:
          how tokens are chosen.
        - `grammar`: a llama.cpp grammar (GBNF) with a rule `root`, for the output outside spans.
        - `context_size`: in tokens; 0 or less: what the model was trained with.
        - `threads`: CPU threads, from 1 to 512; None: as llama.cpp chooses.
        - `time_budget_ms`: the most milliseconds from the first step after a prompt; 0: no bound.
        - `span_timeout`: tokens after which a token tree's span that has not ended is given up; None: 500.
        - `skip_ahead`: whether forced tokens are decoded together.
        - `disable_thinking`: whether `<think>` is never sampled.
        - `gpu_layers`: layers on the GPU; 0: none, all on the CPU; negative: as the model was loaded.
        - `cache_type_k`, `cache_type_v`: types of the KV cache, such as "q8_0"; None: f16.
        - `draft_max`: the most tokens of a draft, up to 64; 0: no drafts. A pass then also decodes tokens that
          may follow: fewer passes, the same output.
        - `draft_min`: drafts with fewer tokens are not tried.
        - `draft_model`: the GGUF file of a smaller model with the same vocabulary, which drafts; None: prompt
          lookup, which drafts what followed the same tokens earlier in the text.

        Raises `InvalidArgumentError` for a value out of range or a grammar that does not parse.
        """
        if threads is not None:
            threads = integer("threads", threads, 1, _THREADS_MAX)
        if span_timeout is not None:
            span_timeout = integer("span_timeout", span_timeout, 1, UINT32_MAX)
        time_budget_ms = integer("time_budget_ms", time_budget_ms, 0, UINT64_MAX)
        stream = Stream(
            self,
            {
                "max_tokens": integer("max_tokens", max_tokens),
                "temperature": number("temperature", temperature),
                "top_p": number("top_p", top_p),
                "top_k": integer("top_k", top_k, INT32_MIN),
                "repeat_penalty": number("repeat_penalty", repeat_penalty),
                "gbnf_grammar": utf8("grammar", grammar or ""),
                "disable_thinking": disable_thinking,
                "n_gpu_layers": integer("gpu_layers", gpu_layers, INT32_MIN),
                "cache_type_k": utf8("cache_type_k", cache_type_k or ""),
                "cache_type_v": utf8("cache_type_v", cache_type_v or ""),
                "context_size": integer("context_size", context_size, INT32_MIN),
                "draft_max": integer("draft_max", draft_max),
                "draft_min": integer("draft_min", draft_min, 1),
                "mtp_drafter_path": os.fsencode(draft_model or ""),
            },
        )
        try:
            stream.set_seed(seed)
            stream.set_time_budget_ms(time_budget_ms)
            stream.set_skip_ahead(skip_ahead)
            if threads is not None:
                stream.set_threads(threads)
            if span_timeout is not None:
                stream.set_span_timeout(span_timeout)
        except BaseException:
            stream.close()
            raise
        return stream


class Stream(TokenStream):
    """One generation of a model, with a KV cache of its own. `Model.stream` opens one.

        stream.prefill("User: draw a cat\\nAction:")
        for step in stream:
            print(step.text, end="")

    A context manager, and an iterable of steps. One thread uses it at a time: while a call on it runs, another
    thread's is a `BusyError` and changes nothing, `close` included; only `cancel` may come from any thread. A token
    callback may call the setters, `clear_token_trie`, `clear_constraint`, `activate` and `cancel`, which take
    effect before the next token; what decodes, and `close`, is a `BusyError` there.
    """

    def __init__(self, model: Model, config: Mapping[str, int | float | bytes]) -> None:
        super().__init__(model._handle, config)
        self.model = model

    def prefill(self, prompt: str | Sequence[int], *, add_special: bool | None = None) -> int:
        """Decodes a prompt, given as text or token ids, and returns its number of tokens.

        May be called again at any time: the tokens are appended to the context. The token tree, the
        grammar and the triggers never see them. `add_special` is for text: whether to add the tokens that
        the model puts at the beginning of a text; None: only if the context is empty. `ContextFullError`
        if the tokens do not fit; nothing changed then. `StateError` while a token of an earlier step
        waits for room for its text.
        """
        if isinstance(prompt, str):
            if add_special is None:
                stats = self.stats
                add_special = stats.context_tokens + stats.pending_tokens == 0
            prompt = self.model.tokenize(prompt, add_special=add_special)
        tokens = integers("prompt", prompt)
        self._call(lib.eliza_inference_llm_stream_prefill, tokens, len(tokens))
        return len(tokens)

    def _describe(self) -> str:
        return f"of {self.model}{'' if self._is_open else ', closed'}"
