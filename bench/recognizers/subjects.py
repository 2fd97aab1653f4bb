"""The libraries that are measured, each after the same few functions.

What is timed is the library's own function with its arguments bound, without a layer of Python around it.
Every one fills or changes a mask that the caller owns.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bench.paths import MODEL
from bench.recognizers import notations
from bench.recognizers.case import Case
from bench.recognizers.vocabularies import CACHE, MODEL_NAME, TokenTable

Fill = Callable[[], object]
Words = np.ndarray[Any, np.dtype[np.int32]]
"""A mask: bit i % 32 of word i / 32 is token i."""


class Matcher(Protocol):
    fill: Fill
    """Finds the legal next tokens. Timed."""
    accept: Callable[[int], object]
    """Takes a token; `took` tells from the result whether it was legal. Timed."""

    def before_fill(self) -> None:
        """What a host does anyway before a mask is applied. Not timed."""

    def took(self, result: object) -> bool: ...

    def allows(self, token: int) -> bool:
        """Whether the mask of the last `fill` has the token."""

    def reset(self) -> None: ...
    def clone(self) -> "Matcher":
        """One more at the same place, with the same mask to fill."""


class Subject(Protocol):
    name: str

    def prepare(self, vocabulary: TokenTable) -> None:
        """What the library does with a vocabulary before anything is compiled. Timed."""

    def compile(self, case: Case) -> Any:
        """From the text of a language to what matchers are made of. Timed; raises if it is refused."""

    def matcher(self, compiled: Any) -> Matcher: ...


def _words(n_tokens: int) -> Words:
    return np.zeros((n_tokens + 31) // 32, np.int32)


def _has(words: Words, token: int) -> bool:
    return bool(int(words[token >> 5]) >> (token & 31) & 1)


# ---- This library ------------------------------------------------------------------------------------------


class Ours:
    name = "ours"

    def prepare(self, vocabulary: TokenTable) -> None:
        from eliza_inference import TokenFlag, Vocabulary

        flags = bytearray(vocabulary.n_tokens)
        for token in vocabulary.special.values():
            flags[token] = TokenFlag.SPECIAL
        flags[vocabulary.end] = TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION
        self.vocabulary = Vocabulary(vocabulary.n_tokens, vocabulary.all_pieces, list(flags))
        self.vocabulary.prepare()
        self._n_tokens = vocabulary.n_tokens

    def compile(self, case: Case) -> Any:
        from eliza_inference import Constraint

        if case.choices is not None:
            return Constraint.choices(self.vocabulary, case.choices)
        if case.pattern is not None:
            return Constraint.regex(self.vocabulary, case.pattern)
        if "tags" in case.sources:
            return Constraint.tags(self.vocabulary, case.sources["tags"])
        if "lark" in case.sources:
            return Constraint.lark(self.vocabulary, case.sources["lark"])
        if "gbnf" in case.sources:
            return Constraint.gbnf(self.vocabulary, case.sources["gbnf"])
        assert case.grammar is not None
        return Constraint.lark(self.vocabulary, notations.read_grammar(case.grammar))

    def matcher(self, compiled: Any) -> Matcher:
        from eliza_inference import Matcher as OurMatcher

        return _OurMatcher(OurMatcher(compiled), _words(self._n_tokens))


class _OurMatcher:
    def __init__(self, matcher: Any, words: Words) -> None:
        self._matcher, self._words = matcher, words
        self.fill: Fill = partial(matcher.fill_bitmap, self._words)
        self.accept = matcher.accept

    def before_fill(self) -> None:
        pass

    def took(self, result: object) -> bool:
        return True  # a refused token is an exception

    def allows(self, token: int) -> bool:
        return _has(self._words, token)

    def reset(self) -> None:
        self._matcher.reset()

    def clone(self) -> "_OurMatcher":
        return _OurMatcher(self._matcher.clone(), self._words)


# ---- llguidance --------------------------------------------------------------------------------------------


class Llguidance:
    name = "llguidance"

    def prepare(self, vocabulary: TokenTable) -> None:
        from llguidance.tiktoken import lltokenizer_from_encoding

        self.tokenizer = lltokenizer_from_encoding(
            vocabulary.encoding, n_vocab=vocabulary.n_tokens, eos_token=vocabulary.end
        )
        self._n_tokens = vocabulary.n_tokens

    def compile(self, case: Case) -> Any:
        from llguidance import LLMatcher, LLParserLimits

        if case.choices is not None:
            grammar = LLMatcher.grammar_from_regex(notations.regex_choices(case.choices))
        elif case.pattern is not None:
            grammar = LLMatcher.grammar_from_regex(case.pattern)
        elif "llguidance" in case.sources:
            grammar = LLMatcher.grammar_from_lark(case.sources["llguidance"])
        else:
            text = notations.LLGUIDANCE_JSON if case.grammar == "json" else notations.llguidance_c11()
            grammar = LLMatcher.grammar_from_lark(text)
        limits = LLParserLimits(
            max_items_in_row=1_000_000,
            initial_lexer_fuel=1_000_000_000,
            step_lexer_fuel=1_000_000_000,
            step_max_items=100_000_000,
            max_lexer_states=10_000_000,
            max_grammar_size=100_000_000,
        )
        matcher = LLMatcher(self.tokenizer, grammar, limits=limits)
        _raise_its_error(matcher)
        return matcher

    def matcher(self, compiled: Any) -> Matcher:
        return _LlguidanceMatcher(compiled.deep_copy(), _words(self._n_tokens))


class _LlguidanceMatcher:
    def __init__(self, matcher: Any, words: Words) -> None:
        self._matcher, self._words = matcher, words
        self.fill: Fill = partial(matcher.unsafe_compute_mask_ptr, self._words.ctypes.data, self._words.nbytes)
        self.accept = matcher.consume_token

    def before_fill(self) -> None:
        pass

    def took(self, result: object) -> bool:
        if not result:
            _raise_its_error(self._matcher)
        return bool(result)

    def allows(self, token: int) -> bool:
        return _has(self._words, token)

    def reset(self) -> None:
        self._matcher.reset()
        _raise_its_error(self._matcher)

    def clone(self) -> "_LlguidanceMatcher":
        return _LlguidanceMatcher(self._matcher.deep_copy(), self._words)


def _raise_its_error(matcher: Any) -> None:
    if matcher.is_error():
        raise ValueError(matcher.get_error())


# ---- XGrammar ----------------------------------------------------------------------------------------------


class XGrammar:
    name = "XGrammar"

    def prepare(self, vocabulary: TokenTable) -> None:
        import xgrammar

        info = xgrammar.TokenizerInfo(
            vocabulary.all_pieces, vocab_size=vocabulary.n_tokens, stop_token_ids=[vocabulary.end]
        )
        self._compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)
        self._n_tokens = vocabulary.n_tokens

    def compile(self, case: Case) -> Any:
        import xgrammar

        if case.choices is not None:
            return self._compiler.compile_grammar(xgrammar.Grammar.from_ebnf(notations.ebnf_choices(case.choices)))
        if case.pattern is not None:
            return self._compiler.compile_regex(case.pattern)
        if "structural_tag" in case.sources:
            return self._compiler.compile_structural_tag(case.sources["structural_tag"])
        if "ebnf" in case.sources:
            return self._compiler.compile_grammar(xgrammar.Grammar.from_ebnf(case.sources["ebnf"]))
        if case.grammar == "json":
            return self._compiler.compile_builtin_json_grammar()
        return self._compiler.compile_grammar(xgrammar.Grammar.from_ebnf(notations.ebnf_c11()))

    def matcher(self, compiled: Any) -> Matcher:
        import xgrammar

        return _XGrammarMatcher(xgrammar.GrammarMatcher(compiled), _words(self._n_tokens))


class _XGrammarMatcher:
    def __init__(self, matcher: Any, words: Words) -> None:
        import torch

        self._matcher, self._words = matcher, words
        self._mask = torch.from_numpy(self._words.reshape(1, -1))
        self.fill: Fill = partial(matcher.fill_next_token_bitmask, self._mask)
        self.accept = matcher.accept_token

    def before_fill(self) -> None:
        self._words[:] = -1  # it leaves the mask alone where everything is allowed

    def took(self, result: object) -> bool:
        return bool(result)

    def allows(self, token: int) -> bool:
        return _has(self._words, token)

    def reset(self) -> None:
        self._matcher.reset()

    def clone(self) -> "_XGrammarMatcher":
        return _XGrammarMatcher(self._matcher.fork(), self._words)


# ---- llama.cpp ---------------------------------------------------------------------------------------------

SAMPLER_DECLARATIONS = """
struct token_data { int32_t id; float logit, p; };
struct token_data_array { struct token_data *data; size_t size; int64_t selected; bool sorted; };
void *llama_sampler_init_grammar(void *vocab, const char *grammar, const char *root);
void llama_sampler_accept(void *sampler, int32_t token);
void llama_sampler_apply(void *sampler, struct token_data_array *candidates);
void llama_sampler_reset(void *sampler);
void *llama_sampler_clone(void *sampler);
"""
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Gbnf:
    """Through libllama: the grammar sampler sets the logits of illegal tokens to -inf."""

    name = "llama.cpp"

    def prepare(self, vocabulary: TokenTable) -> None:
        from bench.paths import use_llama
        from libllama import Library, Vocabulary

        library = Library(use_llama())
        library.ffi.cdef(SAMPLER_DECLARATIONS)
        self._vocabulary = Vocabulary(library, gguf_file(vocabulary))
        self._n_tokens = vocabulary.n_tokens

    def compile(self, case: Case) -> Any:
        if case.choices is not None:
            text = notations.ebnf_choices(case.choices)
        elif case.pattern is not None:
            text = f"root ::= {notations.ebnf_regex(case.pattern)}"
        elif "gbnf" in case.sources:
            text = case.sources["gbnf"]
        else:
            text = notations.EBNF_JSON if case.grammar == "json" else notations.ebnf_c11()
        library, vocabulary = self._vocabulary.library, self._vocabulary
        sampler = library.c.llama_sampler_init_grammar(vocabulary._vocab, text.encode(), b"root")
        if sampler == library.ffi.NULL:
            raise ValueError("libllama refuses the grammar")
        return sampler

    def matcher(self, compiled: Any) -> Matcher:
        library = self._vocabulary.library
        fresh = np.zeros(self._n_tokens, CANDIDATE)
        fresh["id"] = np.arange(self._n_tokens)
        return _GbnfMatcher(library, library.c.llama_sampler_clone(compiled), fresh, fresh.copy())


class _GbnfMatcher:
    def __init__(self, library: Any, sampler: Any, fresh: "np.ndarray[Any, Any]", data: "np.ndarray[Any, Any]") -> None:
        self._library, self._sampler, self._fresh, self._data = library, sampler, fresh, data
        self._candidates = library.ffi.new("struct token_data_array *")
        self.fill: Fill = partial(library.c.llama_sampler_apply, sampler, self._candidates)
        self.accept: Callable[[int], object] = partial(library.c.llama_sampler_accept, sampler)

    def before_fill(self) -> None:
        self._data[:] = self._fresh
        pointer = self._library.ffi.cast("struct token_data *", self._data.ctypes.data)
        self._candidates[0] = {"data": pointer, "size": len(self._data), "selected": -1, "sorted": False}

    def took(self, result: object) -> bool:
        return True  # a token that is not legal is an error that ends the process

    def allows(self, token: int) -> bool:
        return bool(self._data["logit"][token] == 0)

    def reset(self) -> None:
        self._library.c.llama_sampler_reset(self._sampler)

    def clone(self) -> "_GbnfMatcher":
        sampler = self._library.c.llama_sampler_clone(self._sampler)
        return _GbnfMatcher(self._library, sampler, self._fresh, self._data)


def gguf_file(vocabulary: TokenTable) -> Path:
    """The vocabulary as a GGUF file without weights, for its grammar sampler; made only the first time.

    Grammars need no merges, but libllama does not load a vocabulary of byte pairs without any.
    """
    import gguf

    if vocabulary.name == MODEL_NAME:
        return MODEL
    file = CACHE / f"{vocabulary.name}.gguf"
    if file.is_file():
        return file
    character_of = _printable_characters()
    by_id = {token: text for text, token in vocabulary.special.items()}
    tokens = ["".join(character_of[byte] for byte in piece) for piece in vocabulary.pieces]
    tokens += [by_id.get(token, f"<|unused_{token}|>") for token in range(len(tokens), vocabulary.n_tokens)]
    n_ordinary = len(vocabulary.pieces)
    partial_file = file.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial_file, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens)
    types = [gguf.TokenType.NORMAL] * n_ordinary + [gguf.TokenType.CONTROL] * (len(tokens) - n_ordinary)
    writer.add_token_types(types)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(vocabulary.end)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    partial_file.rename(file)
    return file


def _printable_characters() -> dict[int, str]:
    """How GPT-2 spells bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + n) for n, byte in enumerate(others)}


SUBJECTS: dict[str, Callable[[], Subject]] = {each.name: each for each in (Ours, Llguidance, XGrammar, Gbnf)}


@dataclass(frozen=True)
class Version:
    subject: str
    version: str
    library_bytes: int


def versions() -> list[Version]:
    """The versions of the peers and the sizes of their native libraries."""
    import importlib.metadata
    import importlib.util

    found = []
    for subject, package, pattern in (
        ("llguidance", "llguidance", r".*\.so"),
        ("XGrammar", "xgrammar", r"libxgrammar.*\.so"),
    ):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        files = [file for file in Path(spec.origin).parent.rglob("*") if re.fullmatch(pattern, file.name)]
        found.append(Version(subject, importlib.metadata.version(package), sum(f.stat().st_size for f in files)))
    return found
