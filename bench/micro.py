"""Microbenchmarks: one operation at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eliza_inference import Mode, Model

from bench import native, payloads
from bench.figures import Figure, figure, least_per_position
from bench.paths import BUILD, use_llama
from bench.prompts import PREFIX, TEMPLATE, grammar_of

PAYLOAD_REPEATS = {30: 2000, 1000: 200, 100_000: 15}
MATCHER_VOCABULARIES = (512, 128_256, 262_144)
SAMPLER_REPEATS = 5
STREAM_STEPS = 200


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
        for format, write in (("JSON", payloads.write_json), ("MessagePack", payloads.write_msgpack)):
            file = write(tree, f"leaves-{n_leaves}")
            found = native.run("payload", file, n_vocabulary, PAYLOAD_REPEATS[n_leaves])
            yield PayloadFigures(
                n_leaves=found["leaves"],
                format=format,
                payload_bytes=found["payload_bytes"],
                retained_bytes=found["retained_bytes"],
                n_nodes=found["nodes"],
                compile_us=figure(found["compile_ns"]).scaled(1e-3),
                hit_us=figure(found["hit_ns"]).scaled(1e-3),
            )


def matcher_steps() -> dict[int, dict[str, Figure]]:
    """Nanoseconds per call of a matcher, by vocabulary size: the same trie each time, warm caches."""
    found = {}
    for size in MATCHER_VOCABULARIES:
        file = payloads.write_json(payloads.steps(size), f"steps-{size}")
        samples = native.run("steps", file, size, *payloads.WIDTHS)
        found[size] = {name: figure(values) for name, values in samples.items() if name.endswith("_ns")}
    return found


@dataclass(frozen=True, slots=True)
class StreamSteps:
    """One constrained step of a stream without its forward pass, after a real one; by legal tokens."""

    n_vocabulary: int
    greedy_ns: dict[int, Figure]
    drawn_ns: dict[int, Figure]


def stream_steps(model_path: Path) -> StreamSteps:
    """What the stream counts as the time of choosing, over single steps."""
    with Model(model_path) as model:
        n_vocabulary = len(model.vocabulary)
        greedy, drawn = (_stream_steps(model, mode) for mode in (Mode.GREEDY, Mode.SAMPLED))
    return StreamSteps(n_vocabulary, greedy, drawn)


def _stream_steps(model: Model, mode: Mode) -> dict[int, Figure]:
    tree = payloads.steps(len(model.vocabulary)).to_json()
    samples: dict[int, list[float]] = {width: [] for width in payloads.WIDTHS}
    with model.stream(context_size=256, temperature=0.8, top_p=0.95, threads=1) as stream:
        n_prompt = stream.prefill(TEMPLATE.format(message="wake me at noon"))
        stream.set_token_trie(tree, mode)
        for _ in range(STREAM_STEPS):
            for width in payloads.WIDTHS:
                stream.reset(keep=n_prompt)
                stream.activate(f"width-{width}")
                stream.step()
                samples[width].append(stream.stats.sample_ns)
    return {width: figure(values) for width, values in samples.items()}


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
    found = native.run(
        "sampler", llama, cpu_backend(llama), model_path, grammar, payload, listed, SAMPLER_REPEATS
    )
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
