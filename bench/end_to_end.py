"""Whole answers of a model, in several ways side by side: time, forward passes, and whether they agree."""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from eliza_inference import Constraint, Matcher, Model, TokenTree

from bench.figures import figure
from bench.prompts import PREFIX, Prompt
from bench.ways import Output, Way, WayName, open_way


@dataclass(slots=True)
class Answer:
    """One answer. The times are the least of the repeats."""

    name: str
    """What came out, without the space before it: a name if the answer is valid."""
    tokens: list[int]
    passes: int
    """Forward passes, that of the prompt included."""
    prompt_ms: float
    answer_ms: float
    """From the end of the prompt's pass to the end of the answer; with a trie, setting it is part of it."""

    @property
    def ms(self) -> float:
        return self.prompt_ms + self.answer_ms


@dataclass(slots=True)
class Run:
    """All answers of one way."""

    way: WayName
    model: Path
    names: list[str]
    prompts: list[Prompt]
    answers: list[Answer]
    skip_ratios: list[float] | None
    """Share of the vocabulary that is illegal, at each step inside the trie."""

    def n_valid(self) -> int:
        return sum(answer.name in self.names for answer in self.answers)

    def n_expected_allowed(self) -> int:
        return sum(prompt.expected in self.names for prompt in self.prompts)

    def n_exact(self) -> int:
        """Answers that are the expected name, where that is allowed."""
        pairs = zip(self.answers, self.prompts, strict=True)
        return sum(answer.name == prompt.expected and answer.name in self.names for answer, prompt in pairs)

    def passes(self) -> int:
        return sum(answer.passes for answer in self.answers)

    def tokens_per_second(self) -> float:
        seconds = sum(answer.answer_ms for answer in self.answers) / 1000
        return sum(len(answer.tokens) for answer in self.answers) / seconds


def measure(
    ways: list[WayName],
    path: Path,
    names: list[str],
    prompts: list[Prompt],
    payload: bytes | None = None,
    *,
    repeats: int,
    advance: Callable[[], None] = lambda: None,
) -> list[Run]:
    """Answers each prompt in every way before the next one, `repeats` times over, greedily, on one thread.

    What comes out is taken from the first repeat and must not change after it. `payload` is the token
    tree; made from the names if it is not given. `advance` is called after each answer.
    """
    with Model(path) as model, ExitStack() as stack:
        payload = payload or model.token_tree(names, prefix=PREFIX).to_json().encode()
        opened = [stack.enter_context(open_way(way, model, path, names, payload)) for way in ways]
        tokenized = [model.tokenize(prompt.text, add_special=True) for prompt in prompts]
        answers: list[list[Answer]] = [[] for _ in ways]
        for repeat in range(repeats):
            for index, tokens in enumerate(tokenized):
                for way, collected in zip(opened, answers, strict=True):
                    answer = _answer(way, tokens)
                    if repeat == 0:
                        collected.append(answer)
                    else:
                        _merge(collected[index], answer)
                    advance()
        ratios = _skip_ratios(model, payload)
        return [
            Run(way, path, names, prompts, found, ratios(found) if way.mode == "strict-trie-ffi" else None)
            for way, found in zip(ways, answers, strict=True)
        ]


def summary(run: Run, baseline: "Run | dict[str, Any] | None" = None) -> dict[str, Any]:
    """The figures of a run; those against a grammar need one, as a run or as such a summary."""
    against = summary(baseline) if isinstance(baseline, Run) else baseline
    figures = {
        "mode": run.way.mode,
        "way": str(run.way),
        "model": str(run.model),
        "skip_ratio_mean": None if run.skip_ratios is None else float(np.mean(run.skip_ratios)),
        "skip_ratio_std": None if run.skip_ratios is None else float(np.std(run.skip_ratios)),
        "tokens_per_second": run.tokens_per_second(),
        "tokens_per_second_vs_grammar": None,
        "token_accuracy": None,
        "name_agreement": None,
        "forward_passes_saved": None,
        "forward_passes_total": run.passes(),
        "passes_per_answer": run.passes() / len(run.answers),
        "n_prompts": len(run.prompts),
        "n_names": len(run.names),
        "valid_names": run.n_valid(),
        "exact_names": run.n_exact(),
        "exact_names_possible": run.n_expected_allowed(),
        **_times("ms_per_answer", [answer.ms for answer in run.answers]),
        **_times("ms_after_prompt", [answer.answer_ms for answer in run.answers]),
        "answers": [asdict(answer) for answer in run.answers],
    }
    if against is not None:
        figures |= _comparison(figures, against)
    return figures


def names_of(payload: bytes) -> list[str]:
    """The names of a token tree, JSON or MessagePack."""
    is_json = payload[:1] in b"{ \t\r\n"
    tree = TokenTree.from_json(payload) if is_json else TokenTree.from_msgpack(payload)
    return [leaf.name for descriptor in tree.descriptors for leaf in descriptor.leaves]


def read_summary(path: Path) -> dict[str, Any]:
    """An output of an earlier run."""
    figures: dict[str, Any] = json.loads(path.read_text())
    return figures


def _answer(way: Way, prompt: list[int]) -> Answer:
    started = time.perf_counter_ns()
    way.prefill(prompt)
    read = time.perf_counter_ns()
    generated = way.generate()
    ended = time.perf_counter_ns()
    output: Output = way.output(generated)
    return Answer(
        name=output.text.removeprefix(PREFIX),
        tokens=output.tokens,
        passes=output.passes + 1,
        prompt_ms=(read - started) / 1e6,
        answer_ms=(ended - read) / 1e6,
    )


def _merge(first: Answer, repeated: Answer) -> None:
    if repeated.tokens != first.tokens or repeated.passes != first.passes:
        raise RuntimeError(f"greedy answers differ from repeat to repeat: {first} and {repeated}")
    first.prompt_ms = min(first.prompt_ms, repeated.prompt_ms)
    first.answer_ms = min(first.answer_ms, repeated.answer_ms)


def _skip_ratios(model: Model, payload: bytes) -> Callable[[list[Answer]], list[float]]:
    """Walks the answers through a matcher, which tells how many tokens were legal at each step."""
    size = len(model.vocabulary)
    matcher = Matcher(Constraint(model.vocabulary, payload))

    def ratios(answers: list[Answer]) -> list[float]:
        found = []
        for answer in answers:
            matcher.reset()
            for token in answer.tokens:
                found.append((size - matcher.state.n_allowed) / size)
                matcher.accept(token)
        return found

    return ratios


def _times(name: str, samples: list[float]) -> dict[str, float]:
    distribution = figure(samples)
    return {f"{name}_median": distribution.median, f"{name}_p95": distribution.p95}


def _comparison(figures: dict[str, Any], grammar: dict[str, Any]) -> dict[str, Any]:
    pairs = list(zip(figures["answers"], grammar["answers"], strict=True))
    positions = sum(max(len(answer["tokens"]), len(other["tokens"])) for answer, other in pairs)
    same = sum(a == b for answer, other in pairs for a, b in zip(answer["tokens"], other["tokens"], strict=False))
    return {
        "tokens_per_second_vs_grammar": figures["tokens_per_second"] / grammar["tokens_per_second"],
        "token_accuracy": same / positions,
        "name_agreement": sum(answer["name"] == other["name"] for answer, other in pairs) / len(pairs),
        "forward_passes_saved": grammar["forward_passes_total"] - figures["forward_passes_total"],
    }
