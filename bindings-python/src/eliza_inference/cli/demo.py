"""The model that ships routes messages to actions, in every way there is, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eliza_inference.constraint import Constraint
from eliza_inference.llama import LlamaInfo, load_llama
from eliza_inference.model import Model, Stream
from eliza_inference.tool_calls import ToolTemplate

DATA = Path(__file__).parents[1] / "data"
PROMPT = "User: {message}\nAction:"
ACTION_CALL: ToolTemplate = {
    "calls": [
        {"trigger": "\nAction: ", "before_name": "\nAction: ", "name": "text", "after_name": "(", "end": ")"},
    ]
}
"""How the model would call an action: behind what it was trained to write before the name of one."""
PREFIX = " "
"""Between the prompt and the name."""
MAX_TOKENS = 24
"""Ends an answer that does not end by itself."""
CONTEXT_SIZE = 256
N_CALLS = 40
"""Messages that are answered with a tool call."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a user wrote, and the action that it asks for."""

    text: str
    action: str


@dataclass(slots=True)
class Score:
    """The answers of one way to generate."""

    way: str
    n_messages: int = 0
    n_valid: int = 0
    """Answers that are one of the allowed names."""
    n_expected_allowed: int = 0
    """Messages whose action is allowed."""
    n_exact: int = 0
    """Answers that are the expected action."""
    forward_passes: int = 0
    """Calls of the model, those for the prompt included."""
    seconds: float = 0.0

    def add(self, message: Message, answer: str, names: list[str], stream: Stream, seconds: float) -> None:
        stats = stream.stats
        self.n_messages += 1
        self.n_valid += answer in names
        self.n_expected_allowed += message.action in names
        self.n_exact += answer == message.action
        self.forward_passes += stats.prefill_passes + stats.forward_passes
        self.seconds += seconds


Way = Callable[[Stream], str]
"""Answers the prompt that the stream has read."""


def run(console: Console) -> None:
    """Runs the demo and prints its tables."""
    llama = load_llama()
    messages, actions = read_messages(), read_actions()
    shown = Progress(console=Console(stderr=True), transient=True)
    with Model(DATA / "eliza-router.gguf") as model, shown as progress:
        task = progress.add_task("routing messages", total=6 * len(messages))
        scores = list(measure(model, messages, actions, lambda: progress.advance(task)))
        calls = list(measure_calls(model, messages, actions))
        calls_in_text = list(measure_calls_in_text(model, messages, actions))
    _print_scores(console, scores, llama)
    _print_calls(console, calls)
    _print_calls_in_text(console, calls_in_text)


def measure(model: Model, messages: list[Message], actions: list[str], advance: Callable[[], None]) -> Iterator[Score]:
    """One score per way; the last way allows every third action only."""
    grammar = gbnf(actions)
    few = actions[::3]
    ways: list[tuple[str, list[str], str | None, bool, Way]] = [
        ("free", actions, None, True, _generate),
        ("grammar", actions, grammar, True, _generate),
        ("grammar up to the name", actions, grammar, True, _until(actions)),
        ("trie", actions, None, False, _choose(model, actions)),
        ("trie, skip-ahead", actions, None, True, _choose(model, actions)),
        (f"trie, skip-ahead, {len(few)} of {len(actions)} actions", few, None, True, _choose(model, few)),
    ]
    for title, names, used_grammar, skip_ahead, way in ways:
        score = Score(title)
        with model.stream(
            max_tokens=MAX_TOKENS, context_size=CONTEXT_SIZE, grammar=used_grammar, skip_ahead=skip_ahead, threads=1
        ) as stream:
            for message in messages:
                started = time.perf_counter()
                stream.reset()
                stream.prefill(PROMPT.format(message=message.text))
                answer = way(stream)
                score.add(message, answer, names, stream, time.perf_counter() - started)
                advance()
        yield score


@dataclass(slots=True)
class Calls:
    """Tool calls as JSON, each one of the actions."""

    last: str = ""
    n_calls: int = 0
    tokens: int = 0
    forced_tokens: int = 0
    forward_passes: int = 0


def measure_calls(model: Model, messages: list[Message], actions: list[str]) -> Iterator[Calls]:
    """Without skip-ahead, and with it."""
    tools = [{"type": "function", "function": {"name": name}} for name in actions]
    constraint = Constraint.tool_call(model.vocabulary, tools, space="compact")
    assert constraint is not None
    for skip_ahead in (False, True):
        calls = Calls()
        with model.stream(context_size=CONTEXT_SIZE, skip_ahead=skip_ahead, threads=1) as stream:
            for message in messages[:N_CALLS]:
                stream.reset()
                stream.prefill(PROMPT.format(message=message.text))
                calls.last = stream.choose(constraint)
                calls.n_calls += 1
                calls.tokens += stream.stats.emitted_tokens
                calls.forced_tokens += stream.stats.forced_tokens
                calls.forward_passes += stream.stats.prefill_passes + stream.stats.forward_passes
        yield calls


def measure_calls_in_text(model: Model, messages: list[Message], actions: list[str]) -> Iterator[Calls]:
    """The model writes the end of the message as it likes, and then a call. Without skip-ahead, and with it."""
    tools = [{"type": "function", "function": {"name": name}} for name in actions]
    constraint = Constraint.tool_calls(model.vocabulary, tools, "required", template=ACTION_CALL, space="compact")
    for skip_ahead in (False, True):
        calls = Calls()
        with model.stream(max_tokens=64, context_size=CONTEXT_SIZE, skip_ahead=skip_ahead, threads=1) as stream:
            stream.set_constraint(constraint)
            for message in messages[:N_CALLS]:
                begun = message.text[: len(message.text) // 2]
                stream.reset()
                stream.prefill(f"User: {begun}")
                calls.last = begun + _generate_call(stream)
                calls.n_calls += "tool_calls" in constraint.parse(calls.last)
                calls.tokens += stream.stats.emitted_tokens
                calls.forced_tokens += stream.stats.forced_tokens
                calls.forward_passes += stream.stats.prefill_passes + stream.stats.forward_passes
        yield calls


def _generate_call(stream: Stream) -> str:
    """Stops after the call."""
    text = ""

    def on_token(_token: int, piece: str) -> bool:
        nonlocal text
        text += piece
        return text.endswith("})")

    stream.generate(on_token)
    return text


def read_actions() -> list[str]:
    """The names of the actions."""
    return (DATA / "actions.txt").read_text(encoding="utf-8").split()


def read_messages() -> list[Message]:
    """Messages that the model was not trained on."""
    lines = (DATA / "heldout.tsv").read_text(encoding="utf-8").splitlines()
    return [Message(*line.split("\t")) for line in lines]


def gbnf(names: list[str]) -> str:
    """A llama.cpp grammar of the names."""
    return "root ::= " + " | ".join(f'"{PREFIX}{name}"' for name in names)


def _generate(stream: Stream) -> str:
    return stream.generate().removeprefix(PREFIX)


def _until(names: list[str]) -> Way:
    """Stops as soon as a name has come out that is not the beginning of another."""
    final = {PREFIX + name for name in names if not any(other != name and other.startswith(name) for other in names)}

    def answer(stream: Stream) -> str:
        text = ""

        def on_token(_token: int, piece: str) -> bool:
            nonlocal text
            text += piece
            return text in final

        return stream.generate(on_token).removeprefix(PREFIX)

    return answer


def _choose(model: Model, names: list[str]) -> Way:
    tree = model.token_tree(names, prefix=PREFIX)
    return lambda stream: stream.choose(tree)


def _print_scores(console: Console, scores: list[Score], llama: LlamaInfo) -> None:
    *all_actions, few = scores
    table = Table(
        title=f"{few.n_messages} messages, one of {len(read_actions())} actions each, greedy, libllama {llama.version}",
        caption="Forward passes and milliseconds are per answer, with the prompt. "
        "With a model this small the passes count, not the milliseconds.",
        box=SIMPLE_HEAD,
    )
    table.add_column("", no_wrap=True)
    for heading in ("valid names", "exact names", "forward passes", "ms"):
        table.add_column(heading, justify="right")
    for score in all_actions:
        table.add_row(
            score.way,
            f"{score.n_valid} of {score.n_messages}",
            f"{score.n_exact} of {score.n_messages}",
            f"{score.forward_passes / score.n_messages:.2f}",
            f"{1000 * score.seconds / score.n_messages:.2f}",
        )
    console.print(table)
    console.print(
        f"{few.way}: {few.n_valid} of {few.n_messages} names valid; "
        f"{few.n_exact} of {few.n_expected_allowed} exact where the action asked for is allowed; "
        f"{few.forward_passes / few.n_messages:.2f} forward passes, {1000 * few.seconds / few.n_messages:.2f} ms",
        highlight=False,
    )


def _print_calls(console: Console, calls: list[Calls]) -> None:
    one_by_one, skipping = calls
    n = skipping.n_calls
    console.print(
        f"tool calls by a JSON Schema, such as {skipping.last}: {skipping.tokens / n:.1f} tokens, "
        f"{skipping.forced_tokens / n:.1f} of them forced, {skipping.forward_passes / n:.2f} forward passes; "
        f"without skip-ahead {one_by_one.forward_passes / n:.2f}. "
        "The model has seen names alone, and no JSON: the calls are valid, not clever.",
        highlight=False,
        markup=False,
    )


def _print_calls_in_text(console: Console, calls: list[Calls]) -> None:
    one_by_one, skipping = calls
    console.print(
        f"tool calls in free text, {skipping.n_calls} of {N_CALLS}, such as {skipping.last!r}: "
        f"{skipping.tokens / N_CALLS:.1f} tokens, {skipping.forced_tokens / N_CALLS:.1f} of them forced, "
        f"{skipping.forward_passes / N_CALLS:.2f} forward passes; without skip-ahead "
        f"{one_by_one.forward_passes / N_CALLS:.2f}. The second half of the message is the model's, too.",
        highlight=False,
        markup=False,
    )
