"""A stream with a `grammar`: this library's engine against llama.cpp's sampler over the whole vocabulary."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from eliza_inference import Model, Stream

from bench import llama_sources
from bench.guided import GuidedModel, guided_library
from bench.paths import ACTIONS, LARGE_MODEL, MESSAGES, MODEL
from bench.prompts import grammar_of, read_names, read_prompts

N_PROMPTS = 20
REPEATS = 3
MAX_TOKENS = 48
CONTEXT_SIZE = 512


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """Greedy answers of a model to the same prompts, in turns."""

    model: str
    grammar: str
    n_answers: int
    n_tokens: int
    n_equal: int
    """Answers whose tokens are all the same."""
    ours_us: float
    """Choosing a token, in the mean; of each answer the least of the repeats. The stream's own count."""
    llama_us: float
    """The call of `llama_sampler_sample`."""

    @property
    def ratio(self) -> float:
        return self.llama_us / self.ours_us


def measure(announce: Callable[[str], None]) -> list[StreamFigures]:
    """Both models; the names of the main job, and llama.cpp's JSON and list."""
    names = grammar_of(read_names(ACTIONS))
    written = {
        name: llama_sources.fetch(f"grammars/{name}.gbnf").read_text(encoding="utf-8") for name in ("json", "list")
    }
    figures = []
    for path in (MODEL, LARGE_MODEL):
        for title, grammar in {"30 names": names, "json.gbnf": written["json"], "list.gbnf": written["list"]}.items():
            announce(f"stream: {path.stem}: {title}")
            figures.append(_measure(path, title, grammar))
    return figures


def _measure(path: Path, title: str, grammar: str) -> StreamFigures:
    prompts = [each.text for each in read_prompts(MESSAGES)[:N_PROMPTS]]
    ours_ns, llama_ns, n_tokens, n_steps, n_equal = 0.0, 0.0, 0, [0, 0], 0
    with ExitStack() as stack:
        model = stack.enter_context(Model(path))
        stream = stack.enter_context(
            model.stream(max_tokens=MAX_TOKENS, context_size=CONTEXT_SIZE, grammar=grammar, threads=1)
        )
        guided = stack.enter_context(_TimedModel(guided_library(), path, grammar))
        for prompt in prompts:
            tokens = model.tokenize(prompt, add_special=True)
            answers = [(_ours(stream, tokens), guided.answer_of(tokens)) for _ in range(REPEATS)]
            (mine, _), (theirs, _) = answers[0]
            n_equal += mine == theirs
            n_tokens += len(mine)
            n_steps[0] += len(mine)
            n_steps[1] += len(theirs)
            ours_ns += min(each[0][1] for each in answers)
            llama_ns += min(each[1][1] for each in answers)
    return StreamFigures(
        path.stem, title, len(prompts), n_tokens, n_equal, ours_ns / n_steps[0] / 1e3, llama_ns / n_steps[1] / 1e3
    )


def _ours(stream: Stream, prompt: list[int]) -> tuple[list[int], float]:
    """The tokens, and the ns that choosing them took."""
    stream.reset()
    stream.prefill(prompt)
    tokens: list[int] = []
    before = stream.stats.sample_ns

    def on_token(token: int, _piece: str) -> bool:
        if token >= 0:
            tokens.append(token)
        return False

    stream.generate(on_token)
    return tokens, stream.stats.sample_ns - before


class _TimedModel(GuidedModel):
    """Counts the time in the sampler."""

    def answer_of(self, prompt: list[int]) -> tuple[list[int], float]:
        self.prefill(prompt)
        clock, sample, chain, context = time.perf_counter_ns, self._c.llama_sampler_sample, self._chain, self._context
        room = self.library.ffi.new("llama_token[1]")
        tokens: list[int] = []
        ns = 0
        while len(tokens) < MAX_TOKENS:
            started = clock()
            token: int = sample(chain, context, -1)
            ns += clock() - started
            if self.is_end(token):
                break
            tokens.append(token)
            room[0] = token
            self._decode(room, 1)
        return tokens, ns
