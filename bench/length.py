"""Long outputs and many matchers: what a token takes after how many, up to 100,000 of them, in each kind of constraint;
and what a second thread gains where the masks of a batch are filled."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

import numpy as np
from eliza_inference import Budget, Constraint, Matcher, Step, TokenTree, Vocabulary, fill_bitmaps, grammars

from bench.recognizers.vocabularies import TokenTable
from bench.tables import Table

BLOCK = 1000
"""Tokens of which each point of the chart is the median."""
REPEATS = 2
"""A token's time is the least of so many passes."""
SECONDS_MAX = 120
"""Of a pass; a kind that takes longer is shown as far as it came."""
BATCH, STEPS, THREADS = 32, 8, (1, 2)
BATCH_REPEATS = 25

OBJECT = '{"name": "item %d", "tags": ["red", "green"], "price": %d.5, "on": true}'
JSON_GBNF = r"""
root   ::= value
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}"
array  ::= "[" ws (value ("," ws value)*)? "]"
string ::= "\"" [^"\\]* "\""
number ::= "-"? [0-9]+ ("." [0-9]+)?
ws     ::= " "?
"""
ITEM = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"enum": ["red", "green"]}},
        "price": {"type": "number"},
        "on": {"type": "boolean"},
    },
    "required": ["name", "price"],
    "additionalProperties": False,
}
WORDS = "the timer is set for the room and all plants have water now so that nobody must think of them".split()


@dataclass(frozen=True, slots=True)
class Length:
    """One kind of constraint along one text."""

    kind: str
    us: list[float]
    """The median of each block of tokens."""
    p99: list[float]
    retained: list[int]
    """Bytes of the matcher, at the end of each block."""

    @property
    def n_tokens(self) -> int:
        return BLOCK * len(self.us)


@dataclass(frozen=True, slots=True)
class Spent:
    """Microseconds that filling a batch took: the median over positions of the least of the passes."""

    wall: float
    all_threads: float
    """Processor time."""
    busiest_thread: float
    """The same of that thread: on idle processors no batch can take less."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Filling the bitmaps of a batch."""

    what: str
    by_threads: dict[int, Spent]


Case = tuple[Constraint, list[int]]


def cases(table: TokenTable, n_tokens: int) -> dict[str, Callable[[Vocabulary], Case]]:
    """Each kind, with a text of at least so many tokens."""
    random = Random(1)
    numbers = [random.randrange(1000) for _ in range(n_tokens)]
    # No object has fewer than 10 tokens, no word fewer than one.
    objects = [OBJECT % (n, n % 7) for n in numbers[: n_tokens // 10]]
    document = "[" + ", ".join(objects) + "]"
    words = " ".join(islice(cycle(WORDS), n_tokens + 1))
    sums = "".join(f"{'+'.join(islice(cycle(WORDS), n % 9 + 1))};" for n in numbers[: n_tokens // 4])
    calls = "".join(f" we ask <call>{one}</call> and wait" for one in objects)
    leaves = {"A": [300, 301], "B": [300, 302, 303], "C": [304]}
    tree = TokenTree.from_names(list(leaves), leaves, trigger=[[500]], labels=True)
    spans = [token for n in numbers for token in (500, *leaves["ABC"[n % 3]])]
    tags = {"tags": [{"begin": "<call>", "json_schema": ITEM, "end": "</call>"}]}
    ambiguous = 'start: s*\ns: e ";"\ne: e "+" e | WORD\nWORD: /[a-z]+/\n'
    sources: dict[str, tuple[Callable[[Vocabulary], Constraint], str | list[int]]] = {
        "token tree": (lambda vocabulary: Constraint(vocabulary, tree), spans),
        "choices": (lambda vocabulary: Constraint.choices(vocabulary, [words, words[:-1] + "!"]), words),
        "regular expression": (lambda vocabulary: Constraint.regex(vocabulary, r"(?:[a-z]+ ?)*"), words),
        "grammar, LR(1)": (lambda vocabulary: Constraint.lark(vocabulary, grammars.text("json")), document),
        "grammar, ambiguous": (lambda vocabulary: Constraint.lark(vocabulary, ambiguous), sums),
        "GBNF": (lambda vocabulary: Constraint.gbnf(vocabulary, JSON_GBNF), document),
        "JSON Schema": (
            lambda vocabulary: Constraint.json_schema(vocabulary, {"type": "array", "items": ITEM}, space="any"),
            document,
        ),
        "tags": (lambda vocabulary: Constraint.tags(vocabulary, tags), calls),
    }

    def case(make: Callable[[Vocabulary], Constraint], text: str | list[int]) -> Callable[[Vocabulary], Case]:
        return lambda vocabulary: (make(vocabulary), table.encode(text) if isinstance(text, str) else text)

    return {kind: case(*source) for kind, source in sources.items()}


def vocabulary_of(table: TokenTable) -> Vocabulary:
    flags = [0] * table.n_tokens
    flags[table.end] = 2
    return Vocabulary(table.n_tokens, table.all_pieces, flags)


def measure(table: TokenTable, n_tokens: int, told: Callable[[str], object]) -> list[Length]:
    found = []
    for kind, case in cases(table, n_tokens).items():
        told(kind)
        constraint, tokens = case(vocabulary_of(table))
        passes = [_walk(constraint, tokens[:n_tokens]) for _ in range(REPEATS)]
        n = min(len(times) for times, _ in passes) // BLOCK * BLOCK
        least = np.min([times[:n] for times, _ in passes], axis=0).reshape(-1, BLOCK) / 1000
        medians, p99 = np.percentile(least, [50, 99], axis=1)
        found.append(Length(kind, medians.tolist(), p99.tolist(), passes[0][1][: n // BLOCK]))
    return found


def _walk(constraint: Constraint, tokens: list[int]) -> tuple[list[int], list[int]]:
    """Nanoseconds of accepting each token and finding what is legal after it."""
    matcher, times, retained = Matcher(constraint), [], []
    out = matcher.fill_bitmap()
    ends = time.monotonic() + SECONDS_MAX
    for n, token in enumerate(tokens, 1):
        before = time.perf_counter_ns()
        step = matcher.accept(token)
        matcher.fill_bitmap(out)
        times.append(time.perf_counter_ns() - before)
        if Step.REFUSED in step:
            raise ValueError(f"token {n} is refused")
        if n % BLOCK == 0:
            retained.append(matcher.info.retained_bytes)
            if time.monotonic() > ends:
                break
    return times, retained


def measure_batches(table: TokenTable, told: Callable[[str], object]) -> list[Batch]:
    """Matchers at different places of a text. Masks that are not kept are found at each step."""
    found = []
    for kind in ("regular expression", "grammar, LR(1)", "JSON Schema"):
        for what, budget in (("computed", Budget(mask_bytes_max=1)), ("kept", Budget())):
            told(f"{kind}, {what}")
            vocabulary = vocabulary_of(table)
            _, tokens = cases(table, 4000)[kind](vocabulary)
            constraint = _MAKERS[kind](vocabulary, budget)
            passes = {n: [_fill(constraint, tokens, n) for _ in range(BATCH_REPEATS)] for n in THREADS}
            spent = {n: Spent(*np.median(np.min(of, axis=0), axis=0).tolist()) for n, of in passes.items()}
            found.append(Batch(f"{kind}, {what}", spent))
    return found


def _fill(constraint: Constraint, tokens: list[int], n_threads: int) -> list[list[float]]:
    """What each step spent, in the order of `Spent`."""
    matchers = [Matcher(constraint) for _ in range(BATCH)]
    for n, matcher in enumerate(matchers):
        matcher.accept_tokens(tokens[: 3 * n])
    rows = np.empty((BATCH, (len(constraint.vocabulary) + 31) // 32), np.int32)
    clocks = (time.perf_counter_ns, time.process_time_ns, time.thread_time_ns)
    steps = []
    for step in range(STEPS):
        before = [clock() for clock in clocks]
        fill_bitmaps(matchers, rows, n_threads)
        wall, every, calling = ((clock() - then) / 1000 for clock, then in zip(clocks, before, strict=True))
        steps.append([wall, every, max(calling, every - calling)])
        for n, matcher in enumerate(matchers):
            matcher.accept(tokens[3 * n + step])
    return steps


_MAKERS: dict[str, Callable[[Vocabulary, Budget], Constraint]] = {
    "regular expression": lambda vocabulary, budget: Constraint.regex(vocabulary, r"(?:[a-z]+ ?)*", budget=budget),
    "grammar, LR(1)": lambda vocabulary, budget: Constraint.lark(vocabulary, grammars.text("json"), budget=budget),
    "JSON Schema": lambda vocabulary, budget: Constraint.json_schema(
        vocabulary, {"type": "array", "items": ITEM}, space="any", budget=budget
    ),
}


def lengths_table(lengths: list[Length]) -> Table:
    """The first block is not shown alone: there masks are found for the first time."""
    rows = []
    for each in lengths:
        parts = np.array_split(np.asarray(each.us), 10)
        p99 = np.array_split(np.asarray(each.p99), 10)
        figures = [f"{np.median(parts[part]):.2f}" for part in (0, 1, 4, 9)]
        tails = [f"{np.median(p99[part]):.2f}" for part in (0, 9)]
        kb = [f"{each.retained[part * len(each.retained) // 10 - 1] / 1024:,.0f}" for part in (1, 10)]
        rows.append([each.kind, f"{each.n_tokens:,}", *figures, *tails, *kb])
    tenths = ["1st tenth", "2nd", "5th", "10th"]
    heading = ["us for a token", "tokens", *tenths, "p99, 1st", "p99, 10th", "KB, 1st", "KB, 10th"]
    return Table(heading, rows)


def batches_table(batches: list[Batch]) -> Table:
    rows = []
    for each in batches:
        one, two = (each.by_threads[n] for n in THREADS)
        times = (one.wall, two.wall, one.all_threads, two.all_threads, two.busiest_thread)
        rows.append([each.what, *(f"{us:,.0f}" for us in times)])
    heading = ["wall, 1 thread", "wall, 2", "processors, 1 thread", "processors, 2", "of which the busier one"]
    return Table([f"us for {BATCH} masks", *heading], rows)
