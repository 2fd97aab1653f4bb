"""A llama.cpp sampler that constrains a chain which someone else owns, such as llama-cpp-python's.

    sampler = token_trie_sampler(vocab, tree)               # vocab: address of a llama_vocab
    llama_cpp.llama_sampler_chain_add(chain, sampler)       # put it first; the chain frees it

The functions work on addresses, as ctypes does, and only with the libllama that is already loaded in
the process. Put the sampler before truncating samplers. With `Mode.GREEDY` the best legal token is
selected, whatever follows; with `Mode.SAMPLED` only legal candidates stay for what follows.
"""

from __future__ import annotations

from collections.abc import Iterable

from eliza_inference._arguments import instance, mode_number, utf8
from eliza_inference._library import CData, call, create, ffi, lib, new_struct
from eliza_inference.constraint import Constraint, Payload, payload_bytes
from eliza_inference.errors import error_from_status
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
    """Makes a sampler for the `llama_vocab` at this address; returns the address of the sampler.

    The caller owns it until it is added to a chain (or frees it with `llama_sampler_free`).
    """
    payload = payload_bytes(tree)
    data = ffi.from_buffer("char[]", payload)
    function = lib.eliza_inference_sampler_init_token_trie
    sampler = create(function, ffi.cast("struct llama_vocab *", vocab), data, len(payload), mode_number(mode))
    return int(ffi.cast("uintptr_t", sampler))


def set_sampler_trie(sampler: int, tree: Payload, mode: Mode = Mode.GREEDY) -> None:
    """Constrains such a sampler by another tree. If it fails, nothing changed."""
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
    """The same for any constraint, with `end` and `span_timeout` as for a `Matcher`.

    The sampler keeps the constraint. A tokenizer of its vocabulary that was set in Python is used as long
    as the vocabulary lives.
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
    """Constrains such a sampler by another constraint. If it fails, nothing changed."""
    instance("constraint", constraint, Constraint)
    config = SpanConfig(end, span_timeout)
    function = lib.eliza_inference_sampler_set_constraint
    call(function, _sampler(sampler), constraint._handle, mode_number(mode), config.pointer)


def clear_sampler_trie(sampler: int) -> None:
    """Removes the tree or constraint: the sampler lets everything through."""
    _check(lib.eliza_inference_sampler_clear_token_trie(_sampler(sampler)))


def activate_sampler(sampler: int, path: str) -> None:
    """Opens a span at the descriptor with this path; an open span starts over."""
    encoded = utf8("path", path)
    call(lib.eliza_inference_sampler_activate, _sampler(sampler), encoded, len(encoded))


def sampler_state(sampler: int) -> SpanState:
    """The span of the sampler."""
    state = new_struct("eliza_span_state_t")
    _check(lib.eliza_inference_sampler_state(_sampler(sampler), state))
    return span_state(state)


def _sampler(address: int) -> CData:
    return ffi.cast("struct llama_sampler *", address)


def _check(status: int) -> None:
    if status < 0:
        raise error_from_status(status, "not a sampler of this library")
