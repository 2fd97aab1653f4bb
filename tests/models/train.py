"""Makes the action router: `python tests/models/train.py` (see README.md here).

Draws the corpus, trains a byte-level BPE vocabulary and the network on it, writes `eliza-router.gguf`,
runs that file with libllama on the held-out messages, and fails if fewer than 98 % of them get exactly
the right action.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import gguf
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from tqdm import tqdm

import corpus
import libllama
import network

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "llama"))
from locate import libllama_path

HERE = Path(__file__).resolve().parent

SEED = 1
PER_ACTION = 400
N_HELD_OUT = 200
EXACT_MIN = 0.98
VOCABULARY_SIZE = 640
CONTROL = ["<|begin|>", "<|end|>"]
THINKING = ["<think>", "</think>"]  # never trained: there so that barring them can be tested
SHAPE = network.Shape(width=96, n_layers=2, n_heads=3, feed_forward=256, context_tokens=256)
SCHEDULE = network.Schedule(n_steps=1000, batch=32, learning_rate=3e-3, prompt_weight=0.1, seed=SEED)


def main() -> None:
    arguments = parse_arguments()
    started = time.monotonic()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    library = libllama.Library(arguments.llama or libllama_path())

    training, held_out = corpus.make_corpus(SEED, PER_ACTION, N_HELD_OUT)
    corpus.write_examples(HERE / "heldout.tsv", held_out)
    vocabulary = train_vocabulary(training)
    network.write_gguf(arguments.output, "eliza-router", SHAPE, vocabulary, None)
    with libllama.Vocabulary(library, arguments.output) as tokenizer:
        sequences = [encode(tokenizer, example, vocabulary.end) for example in training]
        print(f"{len(training)} training messages, {tokenizer.size} tokens in the vocabulary")
        print_names(tokenizer)

    router = network.Network(SHAPE, len(vocabulary.pieces))
    train(router, sequences)
    network.write_gguf(arguments.output, "eliza-router", SHAPE, vocabulary, router)
    n_parameters = sum(p.numel() for p in router.parameters())
    print(f"{n_parameters} parameters, {arguments.output.stat().st_size} bytes, {time.monotonic() - started:.0f} s")

    with libllama.Model(library, arguments.output) as model:
        print_exact(model, "paraphrases", corpus.read_examples(HERE / "paraphrases.tsv"))
        exact = print_exact(model, "held out", held_out)
    if exact < EXACT_MIN:
        sys.exit(f"fewer than {EXACT_MIN:.0%} of the held-out messages are exact")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Trains the action router and checks it with libllama.")
    parser.add_argument("--output", type=Path, default=HERE / "eliza-router.gguf", help="GGUF file to write")
    parser.add_argument("--llama", type=Path, help="libllama to check with (default: that of tests/llama)")
    return parser.parse_args()


def train_vocabulary(examples: Iterable[corpus.Example]) -> network.Vocabulary:
    """Trains a BPE on the corpus, with the pre-tokenizer of GPT-2, which is one of llama.cpp's too."""
    bytes_and_words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = bytes_and_words
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE - len(CONTROL + THINKING),
        initial_alphabet=bytes_and_words.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((e.prompt + e.answer for e in examples), trainer)
    state = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(state["vocab"], key=state["vocab"].__getitem__)
    return network.Vocabulary(
        pieces=pieces + CONTROL + THINKING,
        types=[gguf.TokenType.NORMAL] * len(pieces)
        + [gguf.TokenType.CONTROL] * len(CONTROL)
        + [gguf.TokenType.USER_DEFINED] * len(THINKING),
        merges=[" ".join(pair) for pair in state["merges"]],
        pre_tokenizer="gpt-2",
        begin=len(pieces),
        end=len(pieces) + 1,
    )


def encode(tokenizer: libllama.Vocabulary, example: corpus.Example, end: int) -> network.Sequence:
    prompt = tokenizer.tokenize(example.prompt, add_special=True)
    return network.Sequence(prompt, [*tokenizer.tokenize(example.answer), end])


def train(router: network.Network, sequences: list[network.Sequence], n_zero_rows: int = 0) -> None:
    """Trains with the schedule of this file, and shows the progress."""
    losses = network.train(router, sequences, SCHEDULE, n_zero_rows)
    progress = tqdm(losses, total=SCHEDULE.n_steps, desc="training", unit="step")
    for loss in progress:
        progress.set_postfix(loss=f"{loss:.3f}", refresh=False)


def print_names(tokenizer: libllama.Vocabulary) -> None:
    names = corpus.action_names()
    pieces = [[tokenizer.piece(token).decode() for token in tokenizer.tokenize(" " + name)] for name in names]
    print(f"{sum(map(len, pieces)) / len(names):.2f} tokens per action name:")
    for name in pieces:
        print("  " + "|".join(name))


def print_exact(model: libllama.Model, title: str, examples: list[corpus.Example]) -> float:
    """Prints what greedy decoding gets wrong, and returns the fraction of exact answers."""
    answers = [model.answer(example.prompt) for example in examples]
    wrong = [(e, answer) for e, answer in zip(examples, answers, strict=True) if answer != e.answer]
    for example, answer in wrong:
        print(f"  {example.message!r}: {answer.strip()}, expected {example.action}")
    n_exact = len(examples) - len(wrong)
    print(f"{title}: {n_exact} of {len(examples)} exact")
    return n_exact / len(examples)


if __name__ == "__main__":
    main()
