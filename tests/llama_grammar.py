"""llama.cpp's own grammar sampler, bound by itself: what it allows is independent of the code that it judges."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from cffi import FFI
from typing_extensions import Self

sys.path.insert(0, str(Path(__file__).resolve().parent / "llama"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "models"))
from libllama import Library, Vocabulary
from locate import libllama_path

DECLARATIONS = """
struct llama_token_data { int32_t id; float logit, p; };
struct llama_token_data_array { struct llama_token_data *data; size_t size; int64_t selected; bool sorted; };
void *llama_sampler_init_grammar(void *vocab, const char *grammar_str, const char *grammar_root);
void llama_sampler_apply(void *smpl, struct llama_token_data_array *cur_p);
void llama_sampler_accept(void *smpl, int32_t token);
void llama_sampler_free(void *smpl);
"""
LOG = "void llama_log_get(void **log_callback, void **user_data);"


@contextmanager
def quiet_library() -> Iterator[Library]:
    """The libllama of the tests. Its messages go nowhere meanwhile, then where they went before."""
    path = libllama_path()
    ffi = FFI()
    ffi.cdef(LOG)
    callback, user_data = ffi.new("void **"), ffi.new("void **")
    ffi.dlopen(str(path)).llama_log_get(callback, user_data)
    library = Library(path)
    try:
        yield library
    finally:
        before = [library.ffi.cast("void *", int(ffi.cast("uintptr_t", one[0]))) for one in (callback, user_data)]
        library.c.llama_log_set(*before)


class Pieces:
    """The tokens of a vocabulary as llama.cpp's grammars take them: special ones are text, too."""

    def __init__(self, library: Library, vocabulary: Vocabulary) -> None:
        library.ffi.cdef(DECLARATIONS, override=True)
        self.library = library
        self.handle: Any = vocabulary._vocab
        self.texts = [self._text(token) for token in range(vocabulary.size)]
        self.ends = [n for n in range(vocabulary.size) if library.c.llama_vocab_is_eog(self.handle, n)]

    def _text(self, token: int) -> bytes:
        buffer = self.library.ffi.new("char[]", 512)
        length = self.library.c.llama_token_to_piece(self.handle, token, buffer, 512, 0, True)
        assert length >= 0
        return bytes(self.library.ffi.buffer(buffer, length))


class LlamaGrammar:
    """The sampler of one text. It ends the process if it is made to accept what it does not allow."""

    def __init__(self, pieces: Pieces, grammar: str) -> None:
        self.c, ffi = pieces.library.c, pieces.library.ffi
        self.n = len(pieces.texts)
        self.sampler = self.c.llama_sampler_init_grammar(pieces.handle, grammar.encode(), b"root")
        assert self.sampler != ffi.NULL, grammar
        self.data = ffi.new("struct llama_token_data[]", self.n)
        self.array = ffi.new("struct llama_token_data_array *")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.c.llama_sampler_free(self.sampler)

    def allowed(self) -> set[int]:
        for token in range(self.n):
            self.data[token].id, self.data[token].logit = token, 0
        self.array.data, self.array.size, self.array.selected = self.data, self.n, -1
        self.c.llama_sampler_apply(self.sampler, self.array)
        return {token for token in range(self.n) if self.data[token].logit == 0}

    def accept(self, token: int) -> None:
        self.c.llama_sampler_accept(self.sampler, token)
