"""The corpus of the action router: what people write to an assistant, and the action that answers it.

A message is a sentence of the action (`sentences.txt`) with its slots filled (`fillers.txt`), in half of
the cases inside a carrier such as "please {}". Messages are drawn with a fixed seed. A filled sentence
that is held out is never seen in training, under any carrier; the sentence with other fillers is. The
messages of `paraphrases.tsv` are not made from `sentences.txt` at all.
"""

import itertools
import random
import re
from dataclasses import dataclass
from pathlib import Path

PROMPT = "User: {message}\nAction:"
"""What the model reads. It answers with " NAME" and ends the text."""

HERE = Path(__file__).resolve().parent

Groups = dict[str, list[str]]
"""Lines of a text file by the `[heading]` above them."""


@dataclass(frozen=True)
class Example:
    message: str
    action: str

    @property
    def prompt(self) -> str:
        return PROMPT.format(message=self.message)

    @property
    def answer(self) -> str:
        return " " + self.action


def action_names() -> list[str]:
    """The actions in the order of `actions.txt`."""
    return (HERE / "actions.txt").read_text(encoding="utf-8").split()


def make_corpus(seed: int, per_action: int, n_held_out: int) -> tuple[list[Example], list[Example]]:
    """Draws the training examples, and `n_held_out` examples whose filled sentences are not among them.

    Each action has the same number of held-out messages (give or take one), and at most `per_action`
    distinct messages for training: fewer if its sentences do not yield more.
    """
    rng = random.Random(seed)
    names = action_names()
    sentences = _read_groups(HERE / "sentences.txt")
    fillers = _read_groups(HERE / "fillers.txt")
    carriers = fillers["carrier"]
    training: list[Example] = []
    held_out: list[Example] = []
    for index, action in enumerate(names):
        n_held = n_held_out // len(names) + (index < n_held_out % len(names))
        fillings = [_fillings(sentence, fillers) for sentence in sentences[action]]
        held = _hold_out(rng, fillings, n_held)
        held_out += [Example(_vary(rng, filled, carriers), action) for filled in held]
        drawn = _draw_messages(rng, fillings, carriers, per_action)
        training += [Example(message, action) for message in drawn]
    rng.shuffle(training)
    rng.shuffle(held_out)
    return training, held_out


def read_examples(path: Path) -> list[Example]:
    """Reads lines of message, tab, action."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Example(*line.split("\t")) for line in lines]


def write_examples(path: Path, examples: list[Example]) -> None:
    path.write_text("".join(f"{e.message}\t{e.action}\n" for e in examples), encoding="utf-8")


def _read_groups(path: Path) -> Groups:
    groups: Groups = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            group = groups.setdefault(line.strip("[]"), [])
        elif line:
            group.append(line)
    return groups


def _fillings(sentence: str, fillers: Groups) -> list[str]:
    """The sentence with each choice of fillers."""
    slots = re.findall(r"\{(\w+)\}", sentence)
    pattern = re.sub(r"\{\w+\}", "{}", sentence)
    return [pattern.format(*values) for values in itertools.product(*(fillers[slot] for slot in slots))]


def _hold_out(rng: random.Random, fillings: list[list[str]], n: int) -> list[str]:
    """Takes `n` filled sentences out of `fillings`, from each sentence that has several in turn."""
    for filled in fillings:
        rng.shuffle(filled)
    several = [filled for filled in fillings if len(filled) > 1]
    rng.shuffle(several)
    return [several[i % len(several)].pop() for i in range(n)]


def _draw_messages(rng: random.Random, fillings: list[list[str]], carriers: list[str], n: int) -> list[str]:
    """Distinct messages, from each sentence in turn."""
    messages: dict[str, None] = {}
    for attempt in range(20 * n):
        if len(messages) == n:
            break
        messages[_vary(rng, rng.choice(fillings[attempt % len(fillings)]), carriers)] = None
    return list(messages)


def _vary(rng: random.Random, sentence: str, carriers: list[str]) -> str:
    text = rng.choice(carriers).format(sentence) if rng.random() < 0.5 else sentence
    if rng.random() < 0.3:
        text = text[0].upper() + text[1:]
    if rng.random() < 0.15:
        text += rng.choice(".!?")
    return text
