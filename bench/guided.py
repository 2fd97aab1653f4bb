"""Strict guiding as llama.cpp offers it: its grammar sampler over the whole vocabulary at every step.

libllama is driven by itself here, without the library that is measured: a chain of the grammar sampler
and the greedy one, through `llama_sampler_sample`.
"""

from functools import cache
from pathlib import Path
from typing import Any

from bench.paths import use_llama
from libllama import Library, Model

DECLARATIONS = """
struct llama_sampler_chain_params { bool no_perf; };
void *llama_sampler_chain_init(struct llama_sampler_chain_params params);
void llama_sampler_chain_add(void *chain, void *sampler);
void *llama_sampler_init_grammar(void *vocab, const char *grammar, const char *root);
void *llama_sampler_init_greedy(void);
int32_t llama_sampler_sample(void *chain, void *ctx, int32_t index);
void llama_sampler_reset(void *sampler);
void llama_sampler_free(void *sampler);
"""


@cache
def guided_library() -> Library:
    """One for the process: libllama keeps the address of its log callback permanently."""
    library = Library(use_llama())
    library.ffi.cdef(DECLARATIONS)
    return library


class GuidedModel(Model):
    """A model whose every token is chosen by the grammar sampler. One thread."""

    def __init__(self, library: Library, path: Path, grammar: str) -> None:
        super().__init__(library, path)
        self._chain = self._c.llama_sampler_chain_init({"no_perf": True})
        sampler = self._c.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        if sampler == library.ffi.NULL:
            raise RuntimeError(f"libllama does not accept the grammar {grammar}")
        self._c.llama_sampler_chain_add(self._chain, sampler)
        self._c.llama_sampler_chain_add(self._chain, self._c.llama_sampler_init_greedy())

    def __exit__(self, *error: object) -> None:
        self._c.llama_sampler_free(self._chain)
        super().__exit__(*error)

    def prefill(self, tokens: list[int]) -> None:
        """Forgets what was there and decodes a prompt."""
        self._c.llama_sampler_reset(self._chain)
        self._c.llama_memory_clear(self._c.llama_get_memory(self._context), True)
        self._decode(self.library.ffi.new("llama_token[]", tokens), len(tokens))

    def generate(self, max_tokens: int) -> tuple[list[int], int]:
        """The tokens up to the end of the generation, which is not among them, and the passes that they took."""
        tokens: list[int] = []
        room = self.library.ffi.new("llama_token[1]")
        while len(tokens) < max_tokens:
            token: int = self._c.llama_sampler_sample(self._chain, self._context, -1)
            if self.is_end(token):
                break
            tokens.append(token)
            room[0] = token
            self._decode(room, 1)
        return tokens, len(tokens)

    def text(self, tokens: list[int]) -> str:
        return b"".join(map(self.piece, tokens)).decode(errors="replace")

    def _decode(self, tokens: Any, count: int) -> None:
        status = self._c.llama_decode(self._context, self._c.llama_batch_get_one(tokens, count))
        if status != 0:
            raise RuntimeError(f"llama_decode: status {status}")
