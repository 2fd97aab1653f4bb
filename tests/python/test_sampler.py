"""The sampler in a chain of llama.cpp that the library does not own."""

from __future__ import annotations

import importlib.util
import logging
import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cffi import FFI
from eliza_inference import (
    Budget,
    BusyError,
    Constraint,
    InvalidArgumentError,
    LimitError,
    LlamaInfo,
    Matcher,
    Mode,
    Model,
    ModelMismatchError,
    PayloadError,
    Status,
    Stream,
    TokenSequence,
    TokenTree,
    TokenTreeDescriptor,
    TokenTreePart,
    UnknownPathError,
    Vocabulary,
    activate_sampler,
    clear_sampler_trie,
    constraint_sampler,
    limits,
    sampler_state,
    set_sampler_constraint,
    set_sampler_trie,
    token_trie_sampler,
)
from eliza_inference._library import ffi, lib

from conftest import MODEL_FILE, PROMPT, TESTS

DECLARATIONS = """
typedef struct { int32_t id; float logit; float p; } llama_token_data;
typedef struct { llama_token_data *data; size_t size; int64_t selected; bool sorted; } llama_token_data_array;
struct llama_sampler_chain_params { bool no_perf; };
struct llama_sampler_chain_params llama_sampler_chain_default_params(void);
void *llama_sampler_chain_init(struct llama_sampler_chain_params params);
void llama_sampler_chain_add(void *chain, void *sampler);
void *llama_sampler_init_greedy(void);
void *llama_sampler_init_top_k(int32_t k);
void *llama_sampler_init_dist(uint32_t seed);
void llama_sampler_accept(void *sampler, int32_t token);
void llama_sampler_apply(void *sampler, llama_token_data_array *candidates);
void llama_sampler_reset(void *sampler);
void *llama_sampler_clone(void *sampler);
void llama_sampler_free(void *sampler);
int32_t llama_sampler_sample(void *sampler, void *context, int32_t index);
"""

KEPT: list[object] = []
"""The host's libraries: libllama continues calling their log callback."""

TREE = TokenTree.from_names(["ONE", "TWO", "THREE"], {"ONE": [10, 11], "TWO": [20, 21], "THREE": [20, 31]})


class Chain:
    """Samplers of libllama and arrays of candidates, called as a host calls them."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.vocab = int(model.library.ffi.cast("uintptr_t", model._vocab))
        self.ffi = FFI()
        self.ffi.cdef(DECLARATIONS)
        self.c = self.ffi.dlopen(model.library.path)
        self.samplers: list[Any] = []

    def sampler(self, tree: TokenTree | str, mode: Mode = Mode.SAMPLED) -> int:
        address = token_trie_sampler(self.vocab, tree, mode)
        self.samplers.append(self.pointer(address))
        return address

    def pointer(self, address: int) -> Any:
        return self.ffi.cast("void *", address)

    def candidates(self, ids: list[int], logits: dict[int, float] | None = None, *, is_sorted: bool = False) -> Any:
        """Candidates whose logits are their ids over 1000, but for those given."""
        values = {token: token / 1000 for token in ids} | (logits or {})
        self.data = self.ffi.new("llama_token_data[]", [{"id": token, "logit": values[token]} for token in ids])
        return self.ffi.new(
            "llama_token_data_array *", {"data": self.data, "size": len(ids), "selected": -1, "sorted": is_sorted}
        )

    def whole_vocabulary(self, logits: dict[int, float] | None = None) -> Any:
        return self.candidates(list(range(self.model.size)), logits)

    def apply(self, sampler: int, candidates: Any) -> list[int]:
        self.c.llama_sampler_apply(self.pointer(sampler), candidates)
        return [candidates.data[index].id for index in range(candidates.size)]

    def accept(self, sampler: int, *tokens: int) -> None:
        for token in tokens:
            self.c.llama_sampler_accept(self.pointer(sampler), token)

    def close(self) -> None:
        for sampler in self.samplers:
            self.c.llama_sampler_free(sampler)


def open_host(llama: LlamaInfo) -> Iterator[Any]:
    """A model that a host has opened with the same libllama, through a binding of its own."""
    binding = load_binding()
    library = binding.Library(Path(llama.path))
    library.path = llama.path
    KEPT.append(library)
    with binding.Model(library, MODEL_FILE) as model:
        yield model


host = pytest.fixture(scope="module", name="host")(open_host)


def load_binding() -> ModuleType:
    spec = importlib.util.spec_from_file_location("host_libllama", TESTS / "models" / "libllama.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def chain(host: Any) -> Iterator[Chain]:
    opened = Chain(host)
    yield opened
    opened.close()


def test_decision_04_on_the_whole_vocabulary_only_the_legal_candidates_stay(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    candidates = chain.whole_vocabulary({10: -5.0})
    assert sorted(chain.apply(sampler, candidates)) == [10, 20]
    logits = {candidates.data[index].id: candidates.data[index].logit for index in range(2)}
    assert logits == {10: -5.0, 20: pytest.approx(0.02)}
    assert candidates.selected == -1
    assert not candidates.sorted


def test_decision_04_any_other_array_keeps_its_order(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    candidates = chain.candidates([50, 20, 40, 10], {50: 4.0, 20: 3.0, 40: 2.0, 10: 1.0}, is_sorted=True)
    assert chain.apply(sampler, candidates) == [20, 10]
    assert candidates.sorted
    assert [chain.data[index].logit for index in (2, 3)] == [-math.inf] * 2
    assert {chain.data[index].id for index in (2, 3)} == {50, 40}


@pytest.mark.parametrize("logits", [{10: -math.inf, 20: -math.inf}, {10: math.nan, 20: math.nan}])
def test_decision_04_without_a_legal_logit_all_legal_tokens_are_equal(chain: Chain, logits: dict[int, float]) -> None:
    sampler = chain.sampler(TREE)
    candidates = chain.whole_vocabulary(logits)
    assert sorted(chain.apply(sampler, candidates)) == [10, 20]
    assert candidates.data[0].logit == candidates.data[1].logit
    assert math.isfinite(candidates.data[0].logit)


def test_decision_04_after_truncation_the_legal_tokens_come_back(
    chain: Chain, caplog: pytest.LogCaptureFixture
) -> None:
    sampler = chain.sampler(TREE)
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        for _ in range(3):
            assert sorted(chain.apply(sampler, chain.candidates([50, 51]))) == [10, 20]
    assert ["put it first" in record.getMessage() for record in caplog.records] == [True], "told once"
    empty = chain.candidates([])
    chain.apply(sampler, empty)
    assert sampler_state(sampler).span_tokens == 0


def test_decision_04_applying_does_not_move(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    for _ in range(3):
        assert sorted(chain.apply(sampler, chain.whole_vocabulary())) == [10, 20]
    chain.accept(sampler, 20)
    for _ in range(3):
        assert sorted(chain.apply(sampler, chain.whole_vocabulary())) == [21, 31]


def test_decision_05_greedy_selects_the_best_legal_candidate(chain: Chain) -> None:
    sampler = chain.sampler(TREE, Mode.GREEDY)
    candidates = chain.whole_vocabulary({10: 1.0, 20: 2.0, 50: 9.0})
    assert chain.apply(sampler, candidates) == [20]
    assert (candidates.selected, candidates.sorted) == (0, True)


def test_a_name_that_is_complete_lets_everything_through(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    chain.accept(sampler, 20, 31)
    assert sampler_state(sampler).leaf_descriptor == 0
    assert len(chain.apply(sampler, chain.whole_vocabulary())) == chain.model.size


def test_decision_13_an_illegal_token_ends_the_span(chain: Chain, caplog: pytest.LogCaptureFixture) -> None:
    sampler = chain.sampler(TREE)
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        chain.accept(sampler, 50)
    state = sampler_state(sampler)
    assert (state.active, state.illegal) == (False, 1)
    assert len(caplog.records) == 1
    assert len(chain.apply(sampler, chain.whole_vocabulary())) == chain.model.size


def test_decision_13_the_illegal_token_is_tested_for_triggers(chain: Chain) -> None:
    tokens = {"A": [10, 11], "B": [12]}
    tree = TokenTree.from_names(["A"], tokens, trigger=[[7]])
    tree += TokenTree.from_names(["B"], tokens, path="b", trigger=[[8]])
    sampler = chain.sampler(tree)
    chain.accept(sampler, 7, 8)
    state = sampler_state(sampler)
    assert (state.active, state.descriptor, state.illegal) == (True, 1, 1)


def test_decision_01_reset_and_clone(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    chain.accept(sampler, 20)
    copy = chain.c.llama_sampler_clone(chain.pointer(sampler))
    chain.samplers.append(copy)
    chain.c.llama_sampler_reset(chain.pointer(sampler))
    assert sorted(chain.apply(sampler, chain.whole_vocabulary())) == [10, 20]
    assert sorted(chain.apply(int(chain.ffi.cast("uintptr_t", copy)), chain.whole_vocabulary())) == [21, 31]


def test_set_clear_and_activate(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    clear_sampler_trie(sampler)
    assert len(chain.apply(sampler, chain.whole_vocabulary())) == chain.model.size
    tokens = {"A": [40], "B": [50]}
    set_sampler_trie(sampler, TokenTree.from_names(["A"], tokens) + TokenTree.from_names(["B"], tokens, path="b"))
    activate_sampler(sampler, "b")
    assert chain.apply(sampler, chain.whole_vocabulary()) == [50]
    with pytest.raises(UnknownPathError, match='"nope"'):
        activate_sampler(sampler, "nope")
    with pytest.raises(PayloadError):
        set_sampler_trie(sampler, "{}")
    assert chain.apply(sampler, chain.whole_vocabulary()) == [50]


@pytest.mark.parametrize("payload", ["", "{}", '{"modelId":"","descriptors":[]}'])
def test_a_bad_payload_makes_no_sampler(chain: Chain, payload: str) -> None:
    with pytest.raises(PayloadError):
        chain.sampler(payload)


def test_another_sampler_is_refused(chain: Chain) -> None:
    greedy = chain.c.llama_sampler_init_greedy()
    chain.samplers.append(greedy)
    address = int(chain.ffi.cast("uintptr_t", greedy))
    calls = (
        sampler_state,
        clear_sampler_trie,
        lambda it: activate_sampler(it, "a"),
        lambda it: set_sampler_trie(it, TREE),
    )
    for call in calls:
        with pytest.raises(InvalidArgumentError):
            call(address)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_real_chain_says_only_names(chain: Chain, host: Any, actions: list[str], mode: Mode) -> None:
    few = actions[2::3]
    tree = TokenTree.from_names(few, host.tokenize, prefix=" ")
    whole = chain.c.llama_sampler_chain_init(chain.c.llama_sampler_chain_default_params())
    chain.samplers.append(whole)
    sampler = token_trie_sampler(chain.vocab, tree, mode)
    chain.c.llama_sampler_chain_add(whole, chain.pointer(sampler))
    chain.c.llama_sampler_chain_add(whole, chain.c.llama_sampler_init_top_k(5))
    chain.c.llama_sampler_chain_add(whole, chain.c.llama_sampler_init_dist(1))
    for message in ("remind me to water the plants", "mute the dev room", "hello"):
        chain.c.llama_sampler_reset(whole)
        assert answer(chain, host, whole, sampler, PROMPT.format(message)) in [f" {name}" for name in few]


def answer(chain: Chain, host: Any, whole: Any, sampler: int, prompt: str) -> str:
    """What the host generates with its chain until the span is over."""
    native, ffi = host.library.c, host.library.ffi
    native.llama_memory_clear(native.llama_get_memory(host._context), True)
    tokens, text = host.tokenize(prompt, add_special=True), b""
    while sampler_state(sampler).active:
        batch = ffi.new("llama_token[]", tokens)
        assert native.llama_decode(host._context, native.llama_batch_get_one(batch, len(tokens))) == 0
        context = chain.pointer(int(ffi.cast("uintptr_t", host._context)))
        tokens = [chain.c.llama_sampler_sample(whole, context, -1)]
        text += host.piece(tokens[0])
    return text.decode()


def test_a_legal_logit_that_is_not_a_number_is_never_drawn(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    candidates = chain.whole_vocabulary({10: math.nan, 20: 3.0})
    assert sorted(chain.apply(sampler, candidates)) == [10, 20]
    logits = {candidates.data[i].id: candidates.data[i].logit for i in range(candidates.size)}
    assert logits == {10: -math.inf, 20: 3.0}


def test_a_sampler_in_a_foreign_chain(chain: Chain, model: Model) -> None:
    def legal(sampler: int) -> set[bytes]:
        return {model.vocabulary.token_bytes(token) for token in chain.apply(sampler, chain.whole_vocabulary())}

    constraint = Constraint.regex(model.vocabulary, "[a-c]x")
    sampler = constraint_sampler(chain.vocab, constraint, Mode.SAMPLED)
    chain.samplers.append(chain.pointer(sampler))
    assert legal(sampler) == {b"a", b"b", b"c"}
    chain.accept(sampler, *model.tokenize("a"))
    assert legal(sampler) == {b"x"}
    chain.accept(sampler, *model.tokenize("x"))
    ends = {model.vocabulary.token_bytes(token) for token in model.vocabulary.end_of_generation_tokens()}
    assert legal(sampler) == ends
    set_sampler_constraint(sampler, Constraint.choices(model.vocabulary, ["z"]), Mode.SAMPLED, end=[])
    assert legal(sampler) == {b"z"}
    chain.accept(sampler, *model.tokenize("z"))
    assert not sampler_state(sampler).active
    clear_sampler_trie(sampler)
    assert len(chain.apply(sampler, chain.whole_vocabulary())) == len(model.vocabulary)


def test_a_sampler_of_a_tree_with_a_part(chain: Chain, model: Model) -> None:
    (letter,) = model.tokenize("a", add_special=False)[-1:]
    leaf = TokenTreeDescriptor("action", (TokenSequence("a", (letter,)),))
    tree = TokenTree((leaf, TokenTreePart("text", regex="[0-9]x")))
    with pytest.raises(InvalidArgumentError, match=r"^descriptors\[1\]: a sampler of a payload knows no bytes"):
        token_trie_sampler(chain.vocab, tree)
    sampler = constraint_sampler(chain.vocab, Constraint(model.vocabulary, tree), Mode.SAMPLED)
    chain.samplers.append(chain.pointer(sampler))
    assert chain.apply(sampler, chain.whole_vocabulary()) == [letter]
    chain.accept(sampler, letter)
    legal = {model.vocabulary.token_bytes(token) for token in chain.apply(sampler, chain.whole_vocabulary())}
    assert {b"1", b"9"} <= legal
    assert all(piece[:1].isdigit() for piece in legal)
    copy = chain.c.llama_sampler_clone(chain.pointer(sampler))
    chain.samplers.append(copy)
    for each in (sampler, int(chain.ffi.cast("uintptr_t", copy))):
        chain.accept(each, letter)
        assert (sampler_state(each).active, sampler_state(each).illegal) == (False, 1)
        activate_sampler(each, "text")
        chain.accept(each, *model.tokenize("7x", add_special=False)[-2:])
        state = sampler_state(each)
        assert (state.active, state.leaf_descriptor, state.leaf) == (False, 1, -1)


def test_a_sampler_of_a_json_schema(chain: Chain, model: Model) -> None:
    schema = {"type": "array", "items": {"enum": [1, 25]}, "minItems": 1}
    constraint = Constraint.json_schema(model.vocabulary, schema, space="compact")
    sampler = constraint_sampler(chain.vocab, constraint, Mode.SAMPLED)
    chain.samplers.append(chain.pointer(sampler))
    for text, expected in (("[", {b"[", b"[1", b"[2", b"[25"}), ("2", {b"1", b"2", b"25"}), ("5", {b"5"})):
        legal = {model.vocabulary.token_bytes(token) for token in chain.apply(sampler, chain.whole_vocabulary())}
        assert text.encode() in legal <= expected
        chain.accept(sampler, *model.tokenize(text))
    copy = chain.c.llama_sampler_clone(chain.pointer(sampler))
    chain.samplers.append(copy)
    both = [chain.apply(each, chain.whole_vocabulary()) for each in (sampler, int(chain.ffi.cast("uintptr_t", copy)))]
    assert both[0] == both[1]
    assert {model.vocabulary.token_bytes(token)[:1] for token in both[0]} == {b",", b"]"}


def test_candidates_that_the_vocabulary_has_not_are_not_legal(chain: Chain, model: Model) -> None:
    letter = model.tokenize("a")[-1]
    for pattern in ("a", "[^b]+"):  # few legal tokens, and most of them
        sampler = constraint_sampler(chain.vocab, Constraint.regex(model.vocabulary, pattern), Mode.SAMPLED)
        chain.samplers.append(chain.pointer(sampler))
        assert chain.apply(sampler, chain.candidates([-1, letter, chain.model.size + 1000, 2**31 - 1])) == [letter]


def test_a_search_without_an_answer_constrains_nothing_and_is_told_once(
    chain: Chain, model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    either = [{"anyOf": [{"pattern": f"a{number}"}, {"pattern": f"b{number}"}]} for number in range(30)]
    constraint = Constraint.json_schema(model.vocabulary, {"properties": {"a": {"allOf": either}}}, space="compact")
    sampler = constraint_sampler(chain.vocab, constraint, Mode.SAMPLED)
    chain.samplers.append(chain.pointer(sampler))
    chain.accept(sampler, *model.tokenize('{"a":', add_special=False))
    with caplog.at_level(logging.WARNING, logger="eliza_inference"):
        for _ in range(2):
            assert len(chain.apply(sampler, chain.whole_vocabulary())) == chain.model.size
    told = "the candidates are not constrained: what may follow here has more alternatives than are followed at once"
    assert [record.getMessage() for record in caplog.records] == [told]


def test_decision_09_the_timeout_of_a_constraint_is_its_own(chain: Chain, model: Model) -> None:
    tokens = [10 + i % 2 for i in range(limits.SPAN_TIMEOUT_TOKENS + 2)]
    constraint = Constraint(model.vocabulary, TokenTree.from_names(["LONG"], {"LONG": tokens}, labels=True))
    with pytest.raises(LimitError):
        constraint_sampler(chain.vocab, constraint)
    sampler = constraint_sampler(chain.vocab, constraint, span_timeout=len(tokens))
    chain.samplers.append(chain.pointer(sampler))
    copy = chain.c.llama_sampler_clone(chain.pointer(sampler))
    chain.samplers.append(copy)
    for each in (sampler, int(chain.ffi.cast("uintptr_t", copy))):
        chain.accept(each, *tokens)
        state = sampler_state(each)
        assert (state.active, state.leaf, state.timeouts) == (False, 0, 0)


@pytest.mark.parametrize("of", ["sampler", "stream"])
def test_what_texts_left_is_dropped_where_the_same_is_set_again(
    chain: Chain, model: Model, open_stream: Callable[..., Stream], of: str
) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    constraint = Constraint.json_schema(model.vocabulary, schema, space="compact", budget=Budget(mask_bytes_max=1))
    if of == "sampler":
        sampler = constraint_sampler(chain.vocab, constraint, Mode.SAMPLED)
        chain.samplers.append(chain.pointer(sampler))
        set_again: Callable[[], None] = lambda: set_sampler_constraint(sampler, constraint)  # noqa: E731
    else:
        stream = open_stream()
        stream.set_constraint(constraint)
        set_again = lambda: stream.set_constraint(constraint)  # noqa: E731
    matcher = Matcher(constraint)
    n = 0
    while constraint.recognizer_info.automaton_bytes < 700_000:
        for token in model.tokenize(f"{n}," if n else "[0,", add_special=False):
            matcher.accept(token)
        n += 1
    del matcher
    set_again()
    assert constraint.recognizer_info.automaton_bytes < 100_000


def test_a_sampler_refuses_another_vocabulary(chain: Chain) -> None:
    other = Vocabulary(256, [bytes([byte]) for byte in range(256)])
    with pytest.raises(ModelMismatchError):
        constraint_sampler(chain.vocab, Constraint.regex(other, "a"))


def test_what_succeeds_returns_ok(chain: Chain, model: Model) -> None:
    """As the header says it: C compares with ELIZA_OK, the package asks for what is negative."""
    sampler = ffi.cast("struct llama_sampler *", chain.sampler(TREE))
    payload = TREE.to_json().encode()
    constraint = Constraint.regex(model.vocabulary, "a")
    state = ffi.new("eliza_span_state_t *", {"struct_size": ffi.sizeof("eliza_span_state_t")})
    statuses = [
        lib.eliza_inference_sampler_set_token_trie(sampler, payload, len(payload), Mode.GREEDY, ffi.NULL),
        lib.eliza_inference_sampler_set_constraint(sampler, constraint._handle, Mode.GREEDY, ffi.NULL, ffi.NULL),
        lib.eliza_inference_sampler_activate(sampler, b"", 0, ffi.NULL),
        lib.eliza_inference_sampler_state(sampler, state),
        lib.eliza_inference_sampler_clear_token_trie(sampler),
    ]
    assert statuses == [Status.OK] * len(statuses)


def test_what_receives_a_message_cannot_use_the_sampler_that_logs(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    refused: list[str] = []
    clones: list[bool] = []

    class Handler(logging.Handler):
        def emit(self, _record: logging.LogRecord) -> None:
            for call in (
                lambda: clear_sampler_trie(sampler),
                lambda: set_sampler_trie(sampler, TREE),
                lambda: activate_sampler(sampler, "action"),
                lambda: sampler_state(sampler),
            ):
                try:
                    call()
                except BusyError as error:
                    refused.append(str(error))
            chain.c.llama_sampler_reset(chain.pointer(sampler))
            clones.append(chain.c.llama_sampler_clone(chain.pointer(sampler)) != chain.ffi.NULL)

    handler = Handler()
    logging.getLogger("eliza_inference").addHandler(handler)
    try:
        candidates = chain.candidates([40, 41])  # none is legal
        assert chain.apply(sampler, candidates) == [10, 20]
    finally:
        logging.getLogger("eliza_inference").removeHandler(handler)
    assert len(refused) == 4 and all("callback" in message for message in refused)
    assert clones == [False]
    clear_sampler_trie(sampler)


def test_another_thread_cannot_use_a_sampler_whose_call_runs(chain: Chain) -> None:
    sampler = chain.sampler(TREE)
    reached, over = threading.Event(), threading.Event()
    messages: list[str] = []

    class Handler(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:  # `emit` would be called under the handler's lock
            messages.append(record.getMessage())
            if len(messages) == 1:
                reached.set()
                assert over.wait(60)
            return True

    handler = Handler()
    logging.getLogger("eliza_inference").addHandler(handler)
    applied: list[list[int]] = []
    none_is_legal, data = chain.candidates([40, 41]), chain.data
    thread = threading.Thread(target=lambda: applied.append(chain.apply(sampler, none_is_legal)))
    thread.start()
    try:
        assert reached.wait(60)
        for call in (
            lambda: set_sampler_trie(sampler, TREE),
            lambda: activate_sampler(sampler, "action"),
            lambda: clear_sampler_trie(sampler),
            lambda: sampler_state(sampler),
        ):
            with pytest.raises(BusyError, match="another thread"):
                call()
        assert chain.c.llama_sampler_clone(chain.pointer(sampler)) == chain.ffi.NULL
        assert chain.apply(sampler, chain.candidates([10, 40])) == [10, 40]
        chain.c.llama_sampler_reset(chain.pointer(sampler))
        chain.c.llama_sampler_accept(chain.pointer(sampler), 10)
        assert len(messages) == 4 and all("another thread" in message for message in messages[1:])
    finally:
        over.set()
        thread.join()
        logging.getLogger("eliza_inference").removeHandler(handler)
    assert applied == [[10, 20]] and data is not chain.data
    assert chain.apply(sampler, chain.candidates([10, 40])) == [10]
