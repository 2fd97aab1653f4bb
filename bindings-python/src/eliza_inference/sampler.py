"""A llama.cpp sampler that constrains somebody else's chain, such as llama-cpp-python's.

    sampler = token_trie_sampler(vocab, tree)       # vocab: address of a llama_vocab
    sampler = ctypes.cast(sampler, llama_cpp.llama_sampler_p_ctypes)
    llama_cpp.llama_sampler_chain_add(chain, sampler)       # put it first; the chain frees it

Samplers and vocabularies are given by address, as ctypes has them, and only the libllama that the process
has already loaded is used. Put the sampler before samplers that drop candidates. With `Mode.GREEDY` it
selects the best legal token, whatever follows in the chain; with `Mode.SAMPLED` it leaves only the legal
candidates to what follows. A chain, with its samplers, is used by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

from eliza_inference._arguments import instance, mode_number, utf8
from eliza_inference._library import CData, call, create, ffi, lib, new_struct
from eliza_inference.constraint import Constraint, Payload, payload_bytes
from eliza_inference.errors import Status, error_from_status
from eliza_inference.matcher import Mode, SpanState, span_state
from eliza_inference.span_config import SpanConfig

__all__ = [
    "activate_sampler",
    "clear_sampler_trie",
    "constraint_sampler",
    "sampler_state",
    "set_sampler_constraint",
    "set_sampler_trie",
    "token_trie_sampler",
]


def token_trie_sampler(vocab: int, tree: Payload, mode: Mode = Mode.GREEDY) -> int:
    """Makes a sampler for the `llama_vocab` at the address `vocab`, and returns the sampler's address.

    The caller owns the sampler until it adds it to a chain, or frees it with `llama_sampler_free`. Raises
    what `Constraint` raises for a tree.
    """
    payload = payload_bytes(tree)
    data = ffi.from_buffer("char[]", payload)
    function = lib.eliza_inference_sampler_init_token_trie
    sampler = create(function, ffi.cast("struct llama_vocab *", vocab), data, len(payload), mode_number(mode))
    return int(ffi.cast("uintptr_t", sampler))


def set_sampler_trie(sampler: int, tree: Payload, mode: Mode = Mode.GREEDY) -> None:
    """Constrains the sampler by this tree from now on. If it fails, nothing changes."""
    payload = payload_bytes(tree)
    data = ffi.from_buffer("char[]", payload)
    call(lib.eliza_inference_sampler_set_token_trie, _sampler(sampler), data, len(payload), mode_number(mode))


def constraint_sampler(
    vocab: int,
    constraint: Constraint,
    mode: Mode = Mode.GREEDY,
    *,
    end: Iterable[int] | None = None,
    span_timeout: int | None = None,
) -> int:
    """As `token_trie_sampler`, for any constraint, with `end` and `span_timeout` as for a `Matcher`.

    The sampler keeps the native constraint alive. A tokenizer set by `Vocabulary.set_tokenizer` is used
    only as long as that `Vocabulary` lives.
    """
    instance("constraint", constraint, Constraint)
    config = SpanConfig(end, span_timeout)
    function = lib.eliza_inference_sampler_init_constraint
    arguments = (ffi.cast("struct llama_vocab *", vocab), constraint._handle, mode_number(mode), config.pointer)
    return int(ffi.cast("uintptr_t", create(function, *arguments)))


def set_sampler_constraint(
    sampler: int,
    constraint: Constraint,
    mode: Mode = Mode.GREEDY,
    *,
    end: Iterable[int] | None = None,
    span_timeout: int | None = None,
) -> None:
    """Constrains the sampler by this constraint from now on. If it fails, nothing changes."""
    instance("constraint", constraint, Constraint)
    config = SpanConfig(end, span_timeout)
    function = lib.eliza_inference_sampler_set_constraint
    call(function, _sampler(sampler), constraint._handle, mode_number(mode), config.pointer)


def clear_sampler_trie(sampler: int) -> None:
    """Removes the tree or constraint: from now on the sampler lets every token through."""
    _check(lib.eliza_inference_sampler_clear_token_trie(_sampler(sampler)))


def activate_sampler(sampler: int, path: str) -> None:
    """Opens a span at the descriptor with this path ("" in a recognizer); an open span starts over.
    `UnknownPathError`, which lists the known paths, if there is none."""
    encoded = utf8("path", path)
    call(lib.eliza_inference_sampler_activate, _sampler(sampler), encoded, len(encoded))


def sampler_state(sampler: int) -> SpanState:
    """The sampler's span and its counters."""
    state = new_struct("eliza_span_state_t")
    _check(lib.eliza_inference_sampler_state(_sampler(sampler), state))
    return span_state(state)


def _sampler(address: int) -> CData:
    return ffi.cast("struct llama_sampler *", address)


def _check(status: int) -> None:
    if status < 0:
        busy = "the sampler is in use: by another thread, or by the call whose callback this is in"
        raise error_from_status(status, busy if status == Status.BUSY else "not a sampler of this library")
