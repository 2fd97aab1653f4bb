"""A step of a logits processor in transformers, beside those of XGrammar and llguidance, in turns in one process."""

import gc
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

import torch

from bench import machine
from bench.paths import REPORTS
from bench.recognizers import cases, vocabularies
from bench.recognizers.subjects import Llguidance, Ours, Subject, XGrammar
from bench.recognizers.vocabularies import TokenTable
from bench.requirement import Requirement
from bench.tables import Table, requirements

N_TOKENS = 151_936
"""As many as Qwen 2 and 3 have."""
BATCH = 8
STEPS = 80
PASSES = 7
PROMPT = 5
BAR = 0.5

Processor = Callable[[Any, Any], Any]

ABOUT = f"""
`python -m bench hosts`. A batch of {BATCH} texts, the beginnings of JSON documents, under a grammar for JSON; float32
logits of {N_TOKENS:,} tokens on the CPU, the vocabulary of o200k up to there. A step is one call of a processor with
the tokens so far: it takes the new token of each text, finds the masks and writes -inf. The libraries take turns, pass
by pass; a step's figure is the least of {PASSES} passes, percentiles are over {STEPS} steps. The first pass comes right
after compiling.
"""
ABOUT_OTHERS = """
XGrammar's processor is its own, `xgrammar.contrib.hf.LogitsProcessor`. llguidance ships none for transformers: here it
has one of its fastest calls, the masks of all rows by `fill_next_token_bitmask_par`, applied by its compiled kernel, or
by XGrammar's kernel for the CPU, which takes its masks as they are.
"""


@dataclass(frozen=True)
class Steps:
    name: str
    first_us: list[float]
    """Of the first pass, in microseconds."""
    least_us: list[float]
    n_legal: int
    """Tokens that were left, over all steps: grammars for JSON differ in white space."""

    def percentile(self, share: int) -> float:
        return quantiles(self.least_us, n=100, method="inclusive")[share - 1]


def measure(told: Callable[[str], object]) -> list[Steps]:
    table = _vocabulary()
    case = cases.CASES["json"]()
    told("compiling")
    makers = _makers(table, case)
    # Each document, and again with its members in the opposite order.
    turned = [json.dumps(dict(reversed(json.loads(text).items())), indent=2) for text in case.documents]
    rows = [tokens for tokens in map(table.encode, [*case.documents, *turned]) if len(tokens) >= STEPS][:BATCH]
    assert len(rows) == BATCH
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(BATCH, N_TOKENS, generator=generator)
    passes: dict[str, list[list[float]]] = {name: [] for name in makers}
    n_legal = dict.fromkeys(makers, 0)
    for at in range(PASSES):
        for name, make in makers.items():
            told(f"{name}, pass {at + 1} of {PASSES}")
            timed, n_left = _walk(make(), rows, logits, checks=at == 0)
            passes[name].append(timed)
            n_legal[name] = n_legal[name] or n_left
    return [
        Steps(name, each[0], [min(step) for step in zip(*each, strict=True)], n_legal[name])
        for name, each in passes.items()
    ]


def _walk(processor: Processor, rows: list[list[int]], logits: Any, checks: bool) -> tuple[list[float], int]:
    """The time of each step; with `checks`, how many tokens were left, among which those of the texts must be."""
    prompt = torch.zeros(BATCH, PROMPT, dtype=torch.int64)
    tokens = torch.tensor([row[:STEPS] for row in rows])
    timed, n_legal = [], 0
    gc.disable()
    for step in range(STEPS):
        input_ids, scores = torch.cat([prompt, tokens[:, :step]], dim=1), logits.clone()
        begun = time.perf_counter_ns()
        scores = processor(input_ids, scores)
        timed.append((time.perf_counter_ns() - begun) / 1000)
        n_legal += int(torch.isfinite(scores).sum()) if checks else 0
        for row in range(BATCH if checks else 0):
            if not torch.isfinite(scores[row, tokens[row, step]]):
                raise RuntimeError(f"{processor}: token {step} of row {row} was masked")
    gc.enable()
    return timed, n_legal


def _vocabulary() -> TokenTable:
    """A prefix of the ranks of byte pairs is a vocabulary of its own."""
    table, n_pieces = vocabularies.load("o200k"), N_TOKENS - 1
    return replace(table, pieces=table.pieces[:n_pieces], special={"<|endoftext|>": n_pieces}, n_tokens=N_TOKENS)


def _makers(table: TokenTable, case: Any) -> dict[str, Callable[[], Processor]]:
    """By library, what makes a new processor; all is compiled."""
    import xgrammar
    from eliza_inference.transformers import ConstraintLogitsProcessor
    from llguidance.torch import apply_token_bitmask_inplace

    subjects: list[Subject] = [Ours(), XGrammar(), Llguidance()]
    for subject in subjects:
        subject.prepare(table)
    ours, other, matcher = (subject.compile(case) for subject in subjects)
    return {
        "ours": lambda: ConstraintLogitsProcessor(ours),
        "XGrammar": lambda: xgrammar.contrib.hf.LogitsProcessor(other),
        "llguidance": lambda: _Llguidance(matcher, apply_token_bitmask_inplace),
        "llguidance, XGrammar's kernel": lambda: _Llguidance(matcher, xgrammar.apply_token_bitmask_inplace),
    }


class _Llguidance:
    def __init__(self, matcher: Any, apply: Callable[[Any, Any], None]) -> None:
        from llguidance import LLExecutor
        from llguidance.torch import allocate_token_bitmask

        self._executor = LLExecutor()
        self._rows = [(matcher.deep_copy(), row) for row in range(BATCH)]
        self._bitmasks = allocate_token_bitmask(BATCH, N_TOKENS)
        self._apply = apply
        self._begun = False

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        from llguidance.torch import fill_next_token_bitmask_par

        if self._begun:
            for (matcher, _), token in zip(self._rows, input_ids[:, -1].tolist(), strict=True):
                if not matcher.consume_token(token):
                    raise ValueError(matcher.get_error())
        self._begun = True
        fill_next_token_bitmask_par(self._executor, self._rows, self._bitmasks)
        self._apply(scores, self._bitmasks)
        return scores


def bars(measured: list[Steps]) -> list[Requirement]:
    ours, *others = measured
    found = []
    for what, of in (("p50", lambda steps: steps.percentile(50)), ("mean", lambda steps: fmean(steps.least_us))):
        ratio = of(ours) / min(map(of, others))
        found.append(
            Requirement(
                f"a step in transformers, batch {BATCH}, JSON, {N_TOKENS:,} tokens, {what}",
                f"≤ {BAR:g} × the better of XGrammar and llguidance",
                f"{ratio:.2f} ×",
                ratio <= BAR,
                "hosts",
            )
        )
    return found


def steps_table(measured: list[Steps]) -> Table:
    rows = [
        [
            each.name,
            f"{each.percentile(50):,.0f}",
            f"{fmean(each.least_us):,.0f}",
            f"{each.percentile(99):,.0f}",
            f"{fmean(each.first_us):,.0f}",
            f"{each.n_legal:,}",
        ]
        for each in measured
    ]
    return Table(["us for a step", "p50", "mean", "p99", "first pass, mean", "tokens left"], rows)


def write(measured: list[Steps], loads: tuple[str, str]) -> Path:
    rows = [*map(list, machine.description().items()), ["load", f"{loads[0]} before, {loads[1]} after"]]
    rows += [["AVX-512, by which the library writes", "yes" if machine.has_extension("avx512vl") else "no"]]
    rows += [[name, version(name)] for name in ("torch", "transformers", "xgrammar", "llguidance")]
    sections = [
        f"# A step in transformers, {date.today().isoformat()}",
        Table(["", ""], rows, n_left=2).markdown(),
        ABOUT.strip(),
        ABOUT_OTHERS.strip(),
        requirements(bars(measured)).markdown(),
        steps_table(measured).markdown(),
    ]
    path = REPORTS / f"{date.today().isoformat()}-transformers.md"
    path.write_text("\n\n".join(sections) + "\n", encoding="utf-8")
    return path
