"""Microbenchmarks: one operation at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eliza_inference import Mode, Model

from bench import native, payloads
from bench.figures import Figure, figure, least_per_position
from bench.paths import BUILD, use_llama
from bench.prompts import PREFIX, grammar_of

PAYLOAD_REPEATS = {30: 2000, 1000: 200, 100_000: 15}
MATCHER_VOCABULARIES = (512, 128_256, 262_144)
SAMPLER_REPEATS = 5
SAMPLER_WAYS = {
    "array_only": "candidate array alone",
    "adapter_greedy": "token trie, greedy",
    "adapter": "token trie + temp + dist",
    "free": "temp + dist, unconstrained",
    "minus_infinity": "-inf everywhere + temp + dist",
    "grammar": "llama.cpp grammar + temp + dist",
}
STREAM_REPEATS = 25


@dataclass(frozen=True, slots=True)
class PayloadFigures:
    n_leaves: int
    format: str
    payload_bytes: int
    retained_bytes: int
    n_nodes: int
    compile_us: Figure
    hit_us: Figure


def payload_to_trie(model_path: Path, names: list[str]) -> Iterator[PayloadFigures]:
    """Compiling payloads of three sizes in both formats, and finding them in the cache."""
    with Model(model_path) as model:
        n_vocabulary = len(model.vocabulary)
        trees = {30: payloads.named(model, names)}
    trees |= {n: payloads.random_names(n, n_vocabulary) for n in (1000, 100_000)}
    for n_leaves, tree in trees.items():
        for name, write in (("JSON", payloads.write_json), ("MessagePack", payloads.write_msgpack)):
            file = write(tree, f"leaves-{n_leaves}")
            found = native.run("payload", file, n_vocabulary, PAYLOAD_REPEATS[n_leaves])
            yield PayloadFigures(
                n_leaves=found["leaves"],
                format=name,
                payload_bytes=found["payload_bytes"],
                retained_bytes=found["retained_bytes"],
                n_nodes=found["nodes"],
                compile_us=figure(found["compile_ns"]).scaled(1e-3),
                hit_us=figure(found["hit_ns"]).scaled(1e-3),
            )


@dataclass(frozen=True, slots=True)
class MatcherSteps:
    n_vocabulary: int
    call_ns: dict[str, Figure]


def matcher_steps() -> Iterator[MatcherSteps]:
    """The calls of a matcher from C, with warm caches."""
    for size in MATCHER_VOCABULARIES:
        file = payloads.write_json(payloads.steps(size), f"steps-{size}")
        samples = native.run("steps", file, size, *payloads.WIDTHS)
        yield MatcherSteps(size, {name: figure(each) for name, each in samples.items() if name.endswith("_ns")})


@dataclass(frozen=True, slots=True)
class StreamSteps:
    """One constrained step of a stream without its forward pass, but after it, with the caches as it leaves them.

    By the number of legal tokens. There are several sets of tokens of each number, and several repeats of each set.
    """

    n_vocabulary: int
    drawn: bool
    """Sampled with temperature 0.8 and top-p 0.95, else greedy."""
    choosing_ns: dict[int, Figure]
    """What the stream counts: choosing the token and accepting it. The least of each set's repeats."""
    choosing_all_ns: dict[int, Figure]
    """The same over every repeat."""
    call_ns: dict[int, Figure]
    """The whole call of `next` but the time in the model. The least of each set's repeats."""

    def __str__(self) -> str:
        return f"{self.n_vocabulary:,} tokens, {'drawn' if self.drawn else 'greedy'}"


def stream_steps(model_path: Path) -> Iterator[StreamSteps]:
    """Single steps of a stream, greedy and drawn."""
    llama = use_llama()
    with Model(model_path) as model:
        n_vocabulary = len(model.vocabulary)
    file = payloads.write_json(payloads.steps(n_vocabulary), f"steps-{n_vocabulary}")
    names = {width: [f"width-{width}-{index}" for index in range(payloads.SETS)] for width in payloads.WIDTHS}
    listed = [name for sets in names.values() for name in sets]
    for mode in (Mode.GREEDY, Mode.SAMPLED):
        found = native.run("stream", llama, model_path, file, int(mode), STREAM_REPEATS, *listed)
        by_width = {
            kind: {width: [found[f"{name}.{kind}"] for name in sets] for width, sets in names.items()}
            for kind in ("choosing_ns", "call_ns")
        }
        yield StreamSteps(
            n_vocabulary=n_vocabulary,
            drawn=mode == Mode.SAMPLED,
            choosing_ns={width: figure(list(map(min, sets))) for width, sets in by_width["choosing_ns"].items()},
            choosing_all_ns={
                width: figure([seconds for each in sets for seconds in each])
                for width, sets in by_width["choosing_ns"].items()
            },
            call_ns={width: figure(list(map(min, sets))) for width, sets in by_width["call_ns"].items()},
        )


@dataclass(frozen=True, slots=True)
class SamplerFigures:
    """A step of a foreign chain, in each way, over the whole vocabulary."""

    n_vocabulary: int
    n_positions: int
    step_us: dict[str, Figure]
    """Building the candidate array, the constraint, temperature and draw; least of the repeats of a position."""
    rest_us: dict[str, Figure]
    """The same without building the array."""
    all_us: dict[str, Figure]
    """As `step_us`, every repeat."""

    def ratio(self, way: str, base: str) -> float:
        return self.step_us[way].median / self.step_us[base].median


def sampler_chains(model_path: Path, names: list[str]) -> SamplerFigures:
    """The adapter against the other ways to constrain llama.cpp's own chain."""
    llama = use_llama()
    with Model(model_path) as model:
        payload = payloads.write_json(payloads.named(model, names), "sampler")
        sequences = [model.tokenize(PREFIX + name) for name in names]
    grammar, listed = BUILD / "sampler.gbnf", BUILD / "sampler.txt"
    grammar.write_text(grammar_of(names), encoding="utf-8")
    listed.write_text("".join(" ".join(map(str, tokens)) + "\n" for tokens in sequences))
    found = native.run("sampler", llama, cpu_backend(llama), model_path, grammar, payload, listed, SAMPLER_REPEATS)
    return _sampler_figures(found)


def cpu_backend(llama: Path) -> Path:
    """A backend beside libllama that every machine can load; nothing is computed with it here."""
    candidates = sorted(llama.parent.glob("*ggml-cpu-x64.*")) or sorted(llama.parent.glob("*ggml-cpu*"))
    return candidates[0]


def _sampler_figures(found: dict[str, Any]) -> SamplerFigures:
    repeats = found["repeats"]
    ways = [name.removesuffix(".rest_ns") for name in found if name.endswith(".rest_ns")]
    rest = {way: found[f"{way}.rest_ns"] for way in ways}
    whole = {way: [a + b for a, b in zip(found[f"{way}.build_ns"], rest[way], strict=True)] for way in ways}
    return SamplerFigures(
        n_vocabulary=found["vocabulary_size"],
        n_positions=len(whole["adapter"]) // repeats,
        step_us={way: figure(least_per_position(whole[way], repeats)).scaled(1e-3) for way in ways},
        rest_us={way: figure(least_per_position(rest[way], repeats)).scaled(1e-3) for way in ways},
        all_us={way: figure(whole[way]).scaled(1e-3) for way in ways},
    )
