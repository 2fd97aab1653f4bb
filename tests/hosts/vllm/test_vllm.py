"""The backend in vLLM's own manager, requests and validation, on the CPU."""

import json
import os
import runpy
import subprocess
import sys
from concurrent.futures import wait
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import vllm.v1.structured_output
from eliza_inference import Vocabulary
from eliza_inference.vllm import ElizaBackend, ElizaGrammar
from vllm.exceptions import VLLMValidationError
from vllm.plugins import load_general_plugins
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

from examples import EXAMPLES, ROOT, expected_output
from tiny_tokenizer import tiny_tokenizer
from walks import EBNF, REGEX, SCHEMA, STRUCTURAL_TAG, Chooser, constraints, direct_mask

PADDING = 21
"""By how many ids the logits are wider than the vocabulary."""
N_DRAFTED = 3
PARAMETERS: dict[str, dict[str, Any]] = {
    "json": {"json": SCHEMA},
    "regex": {"regex": REGEX},
    "ebnf": {"grammar": EBNF},
    "structural_tag": {"structural_tag": STRUCTURAL_TAG},
}

load_general_plugins()

NUMBER = {"type": "json_schema", "json_schema": {"type": "integer"}}
ELEMENTS = [{"type": "const_string", "value": "so "}, {"type": "exclude_token", "exclude_tokens": [0]}, NUMBER]
SEQUENCE = json.dumps({"type": "structural_tag", "format": {"type": "sequence", "elements": ELEMENTS}})


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny_tokenizer()


@pytest.fixture
def config(tokenizer: Any) -> SimpleNamespace:
    """What the manager reads of `VllmConfig`."""
    return SimpleNamespace(
        model_config=SimpleNamespace(
            skip_tokenizer_init=False, is_diffusion=False, get_vocab_size=lambda: len(tokenizer) + PADDING
        ),
        scheduler_config=SimpleNamespace(max_num_seqs=8),
        parallel_config=SimpleNamespace(distributed_executor_backend=None),
        structured_outputs_config=SimpleNamespace(
            backend="guidance",
            reasoning_parser="",
            reasoning_parser_plugin="",
            enable_in_reasoning=False,
            disable_any_whitespace=False,
            disable_additional_properties=False,
        ),
        speculative_config=None,
        num_speculative_tokens=N_DRAFTED,
    )


@pytest.fixture
def manager(config: SimpleNamespace, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(vllm.v1.structured_output, "cached_tokenizer_from_config", lambda model_config: tokenizer)
    return StructuredOutputManager(config)


def requested(manager: Any, name: str, **parameters: Any) -> Any:
    """A request that was validated, and whose grammar is ready."""
    sampling = SamplingParams(structured_outputs=StructuredOutputsParams(**parameters))
    sampling.update_from_generation_config({}, manager.tokenizer.eos_token_id)
    config = manager.vllm_config
    sampling._validate_structured_outputs(config.model_config, config.structured_outputs_config, manager.tokenizer)
    request = Request(name, [1, 2, 3], sampling, None)
    manager.grammar_init(request)
    wait([request.structured_output_request._grammar])
    return request


def grammar_of(request: Any) -> ElizaGrammar:
    grammar = request.structured_output_request.grammar
    assert type(grammar) is ElizaGrammar
    return grammar


def same(row: Any, bitmap: Any) -> bool:
    """None: every token is allowed."""
    return bool((row == -1).all() if bitmap is None else (row[: len(bitmap)] == bitmap).all())


def test_the_plugin_takes_the_place_of_guidance_if_it_is_named() -> None:
    assert vllm.v1.structured_output.GuidanceBackend is ElizaBackend
    script = (
        "import vllm.v1.structured_output as s; from vllm.plugins import load_general_plugins as load; load(); "
        "print(s.GuidanceBackend.__module__)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "VLLM_PLUGINS"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    output = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert output.stdout.split()[-1] == "vllm.v1.structured_output.backend_guidance"


def test_masks_of_random_steps_with_drafts_and_rollbacks(manager: Any, tokenizer: Any) -> None:
    """A thousand steps of a batch: drafts are validated, all their places masked, some accepted, and some undone."""
    width = len(tokenizer) + PADDING
    vocabulary, end = Vocabulary.from_transformers(tokenizer, n_tokens=width), [tokenizer.eos_token_id]
    direct = constraints(vocabulary)
    choose = Chooser(12, width)
    names = [*direct, *direct]
    requests: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    texts: dict[str, list[int]] = {}

    def begin(row: int) -> str:
        name = f"{row}-{len(kinds)}"
        requests[name] = requested(manager, name, **PARAMETERS[names[row]])
        kinds[name], texts[name] = names[row], []
        return name

    ids = [begin(row) for row in range(len(names))]
    n_compared = n_ended = n_undone = 0
    for step in range(1000):
        drafts: dict[str, list[int]] = {}
        for name in ids:
            constraint, text = direct[kinds[name]], texts[name]
            drafted: list[int] = []
            for _ in range(choose.random.randint(0, N_DRAFTED)):
                drafted.append(choose.drafted(direct_mask(constraint, end, [*text, *drafted])))
            legal = [at for at in range(len(drafted)) if is_legal(constraint, end, text, drafted[: at + 1])]
            valid = manager.validate_tokens(requests[name], drafted)
            assert valid == drafted[: len(legal)], (step, name)
            if valid:  # what is scheduled is padded
                drafts[name] = [*valid, *[-1] * (choose.random.randint(0, 1) * (N_DRAFTED - len(valid)))]
        masks = manager.grammar_bitmask(requests, ids, drafts)
        assert masks.shape[0] == len(ids) * (1 + N_DRAFTED)
        for row, name in enumerate(ids):
            scheduled = drafts.get(name, [])
            valid = [token for token in scheduled if token >= 0]
            for at in range(len(valid) + 1):
                expected = direct_mask(direct[kinds[name]], end, [*texts[name], *valid[:at]])
                assert same(masks[row * (1 + N_DRAFTED) + at], expected), (step, name, at)
                n_compared += 1
        for row, name in enumerate(ids):
            # The model takes some of the drafts, and one token more.
            taken = [token for token in drafts.get(name, []) if token >= 0]
            taken = taken[: choose.random.randint(0, len(taken))]
            mask = direct_mask(direct[kinds[name]], end, [*texts[name], *taken])
            if mask is not None:
                taken.append(choose.legal(mask))
            assert manager.accept_tokens(requests[name], taken)
            texts[name] += taken
            if texts[name] and choose.random.random() < 0.15:
                n_back = choose.random.randint(1, min(9, len(texts[name])))
                grammar_of(requests[name]).rollback(n_back)
                del texts[name][-n_back:]
                n_undone += n_back
            ended = direct_mask(direct[kinds[name]], end, texts[name]) is None
            assert grammar_of(requests[name]).is_terminated() == ended
            n_ended += ended
            if ended or len(texts[name]) > 120:
                del requests[name]
                ids[row] = begin(row)
    assert n_compared > 9000 and n_ended > 100 and n_undone > 1000


def is_legal(constraint: Any, end: list[int], text: list[int], drafted: list[int]) -> bool:
    """Whether the last drafted token is, after the others."""
    before = direct_mask(constraint, end, [*text, *drafted[:-1]])
    token = drafted[-1]
    return before is not None and bool(before.view(np.uint32)[token // 32] >> np.uint32(token % 32) & np.uint32(1))


def says(request: Any, tokenizer: Any, text: str) -> bool:
    """Whether a text is legal, and complete."""
    tokens = [*tokenizer.encode(text), tokenizer.eos_token_id]
    grammar = grammar_of(request)
    legal = grammar.validate_tokens(tokens)
    return legal == tokens


def test_every_kind_of_request(manager: Any, tokenizer: Any) -> None:
    for parameters, right, wrong in (
        ({"json": SCHEMA}, '{"name": "a", "size": 7}', '{"name": "a"}'),
        ({"json": json.dumps(SCHEMA)}, '{"name": "a", "size": 7}', '{"name": "a"}'),
        ({"json_object": True}, '{"a": [1]}', "[]"),
        ({"regex": REGEX}, "grey, red", "blue"),
        ({"choice": ["red", "red rose"]}, "red rose", "rose"),
        ({"grammar": EBNF}, "[a,(b)]", "(b)"),
        ({"grammar": 'start: "a"~2 B?\nB: /b+/'}, "aabb", "ab"),
        ({"structural_tag": STRUCTURAL_TAG}, "so <red>[true]</red>.", "so <red>[1]</red>"),
        ({"structural_tag": SEQUENCE}, "so 17", "so red"),
    ):
        request = requested(manager, str(parameters), **parameters)
        assert says(request, tokenizer, right), parameters
        assert not says(request, tokenizer, wrong), parameters


def test_what_is_illegal_is_not_accepted_and_what_follows_the_end_is_ignored(manager: Any, tokenizer: Any) -> None:
    request = requested(manager, "a", regex="red|green")
    assert not manager.accept_tokens(request, tokenizer.encode("blue"))
    request = requested(manager, "b", regex="red|green")
    assert manager.accept_tokens(request, [*tokenizer.encode("red"), tokenizer.eos_token_id, 5, 6])
    assert grammar_of(request).is_terminated()
    assert manager.validate_tokens(request, [5]) == []
    assert grammar_of(request).accept_tokens("b", [7])
    grammar_of(request).rollback(1)
    assert not grammar_of(request).is_terminated()
    grammar_of(request).reset()
    assert grammar_of(request).validate_tokens(tokenizer.encode("green")) == tokenizer.encode("green")


def test_a_constraint_is_compiled_once(manager: Any) -> None:
    first, again = (grammar_of(requested(manager, name, regex="a+b+c")) for name in "ab")
    assert first._matcher._constraint is again._matcher._constraint
    manager.clear_backend()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"json": {"type": "wrong"}}, "wrong"),
        ({"regex": r"(a)\1"}, "back-references"),
        ({"grammar": "root ::= missing"}, "missing"),
        ({"structural_tag": '{"structures": [], "triggers": ["a"]}'}, "tags"),
        ({"structural_tag": '{"type": "structural_tag", "format": {"type": "xml"}}'}, "unsupported"),
    ],
)
def test_a_request_that_cannot_be_compiled_is_refused(manager: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(VLLMValidationError, match=message):
        requested(manager, "a", **parameters)


def test_the_options_of_the_server(config: SimpleNamespace, manager: Any, tokenizer: Any) -> None:
    config.structured_outputs_config.disable_any_whitespace = True
    config.structured_outputs_config.disable_additional_properties = True
    request = requested(manager, "a", json={"properties": {"a": {"type": "integer"}}, "type": "object"})
    assert says(request, tokenizer, '{"a":1}')
    assert not says(request, tokenizer, '{"a": 1}')
    assert not says(request, tokenizer, '{"b":1}')


def test_the_example_prints_what_it_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    script = EXAMPLES / "vllm" / "backend.py"
    monkeypatch.chdir(ROOT)
    capsys.readouterr()
    runpy.run_path(str(script))
    assert capsys.readouterr().out == expected_output(script.read_text("utf-8"))
