"""The few functions of libllama that training and checking a model need: tokenise, and answer greedily.

A binding of its own, not the project's: what it reports about a model is independent of the code that
the model tests.
"""

from pathlib import Path

import numpy as np
from cffi import FFI
from typing_extensions import Self

DECLARATIONS = """
typedef int32_t llama_token;
struct llama_model_params {
    void *devices, *tensor_buft_overrides;
    int32_t n_gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
    void *tensor_split, *progress_callback, *progress_callback_user_data, *kv_overrides;
    bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};
struct llama_context_params { uint64_t opaque[20]; };
struct llama_batch {
    int32_t n_tokens;
    llama_token *token;
    void *embd, *pos, *n_seq_id, *seq_id, *logits;
};
const char *llama_version(void);
void llama_log_set(void *callback, void *user_data);
void llama_backend_init(void);
void ggml_backend_load_all_from_path(const char *dir_path);
struct llama_model_params llama_model_default_params(void);
struct llama_context_params llama_context_default_params(void);
void *llama_model_load_from_file(const char *path, struct llama_model_params params);
void llama_model_free(void *model);
void *llama_model_get_vocab(void *model);
int32_t llama_vocab_n_tokens(void *vocab);
bool llama_vocab_is_eog(void *vocab, llama_token token);
int32_t llama_tokenize(void *vocab, const char *text, int32_t text_len, llama_token *tokens, int32_t n_tokens_max,
                       bool add_special, bool parse_special);
int32_t llama_token_to_piece(void *vocab, llama_token token, char *buf, int32_t length, int32_t lstrip, bool special);
void *llama_init_from_model(void *model, struct llama_context_params params);
void llama_free(void *ctx);
void llama_set_n_threads(void *ctx, int32_t n_threads, int32_t n_threads_batch);
void *llama_get_memory(void *ctx);
void llama_memory_clear(void *memory, bool data);
struct llama_batch llama_batch_get_one(llama_token *tokens, int32_t n_tokens);
int32_t llama_decode(void *ctx, struct llama_batch batch);
float *llama_get_logits_ith(void *ctx, int32_t i);
"""

LAYOUT_VERSIONS = ("0.4.", "0.5.")
"""Versions of libllama whose parameter structs have the layout above."""


class Library:
    """A loaded libllama with its CPU backends."""

    def __init__(self, path: Path) -> None:
        self.ffi = FFI()
        self.ffi.cdef(DECLARATIONS)
        self.c = self.ffi.dlopen(str(path))
        self.version = self.ffi.string(self.c.llama_version()).decode()
        if not self.version.startswith(LAYOUT_VERSIONS):
            raise RuntimeError(f"{path} is libllama {self.version}; the layouts known here are of {LAYOUT_VERSIONS}")
        self._silent = self.ffi.callback("void(int, char *, void *)", lambda _level, _text, _user_data: None)
        self.c.llama_log_set(self._silent, self.ffi.NULL)
        self.c.llama_backend_init()
        self.c.ggml_backend_load_all_from_path(str(path.resolve().parent).encode())


class Vocabulary:
    """The tokeniser of a GGUF file, which may be without weights."""

    vocab_only = True

    def __init__(self, library: Library, path: Path) -> None:
        self.library = library
        self._c = library.c
        params = self._c.llama_model_default_params()
        params.vocab_only = self.vocab_only
        self._model = self._c.llama_model_load_from_file(str(path).encode(), params)
        if self._model == library.ffi.NULL:
            raise RuntimeError(f"libllama cannot load {path}")
        self._vocab = self._c.llama_model_get_vocab(self._model)
        self.size = int(self._c.llama_vocab_n_tokens(self._vocab))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._c.llama_model_free(self._model)

    def tokenize(self, text: str, add_special: bool = False) -> list[int]:
        data = text.encode()
        room = len(data) + 2
        tokens = self.library.ffi.new("llama_token[]", room)
        n = self._c.llama_tokenize(self._vocab, data, len(data), tokens, room, add_special, False)
        assert 0 <= n <= room
        return list(tokens[0:n])

    def piece(self, token: int) -> bytes:
        buffer = self.library.ffi.new("char[]", 256)
        n = self._c.llama_token_to_piece(self._vocab, token, buffer, 256, 0, True)
        assert n >= 0
        return bytes(self.library.ffi.buffer(buffer, n))

    def is_end(self, token: int) -> bool:
        return bool(self._c.llama_vocab_is_eog(self._vocab, token))


class Model(Vocabulary):
    """A GGUF file with weights, and one context that runs on one thread."""

    vocab_only = False

    def __init__(self, library: Library, path: Path) -> None:
        super().__init__(library, path)
        self._context = self._c.llama_init_from_model(self._model, self._c.llama_context_default_params())
        if self._context == library.ffi.NULL:
            raise RuntimeError(f"libllama cannot make a context for {path}")
        self._c.llama_set_n_threads(self._context, 1, 1)

    def __exit__(self, *_: object) -> None:
        self._c.llama_free(self._context)
        super().__exit__()

    def answer(self, prompt: str, max_tokens: int = 24) -> str:
        """The text that greedy decoding without any constraint gives, up to the end of the text."""
        self._c.llama_memory_clear(self._c.llama_get_memory(self._context), True)
        text = b""
        tokens = self.tokenize(prompt, add_special=True)
        for _ in range(max_tokens):
            token = self._most_likely_after(tokens)
            if self.is_end(token):
                break
            text += self.piece(token)
            tokens = [token]
        return text.decode(errors="replace")

    def _most_likely_after(self, tokens: list[int]) -> int:
        ffi = self.library.ffi
        batch = ffi.new("llama_token[]", tokens)
        status = self._c.llama_decode(self._context, self._c.llama_batch_get_one(batch, len(tokens)))
        if status != 0:
            raise RuntimeError(f"llama_decode: status {status}")
        logits = self._c.llama_get_logits_ith(self._context, -1)
        return int(np.frombuffer(ffi.buffer(logits, 4 * self.size), dtype=np.float32).argmax())
