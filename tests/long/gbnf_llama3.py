"""GBNF against llama.cpp itself on the vocabulary of Llama-3: `python tests/long/gbnf_llama3.py VOCABULARY [WALKS]`.

VOCABULARY is a GGUF file with the vocabulary of 128,256 tokens and no weights: `ggml-vocab-llama-bpe.gguf`, which
bench/models/make_llama3.py brings to bench/.cache. At each position of legal walks by chance, the mask of
`llama_sampler_init_grammar` and that of this library must be equal, but for what tests/python/test_gbnf_llama.py
leaves out, too. llama.cpp takes some ten milliseconds for each position.
"""

import sys
import time
from pathlib import Path
from random import Random

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "python"), str(TESTS / "models")]

from eliza_inference import Constraint, Matcher, Step, TokenFlag, Vocabulary  # noqa: E402

from libllama import Vocabulary as LlamaVocabulary  # noqa: E402
from llama_grammar import LlamaGrammar, Pieces, quiet_library  # noqa: E402
from test_gbnf_llama import GRAMMARS, is_text  # noqa: E402

TOKENS = 30


def main() -> None:
    file, n_walks = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 24
    with quiet_library() as library, LlamaVocabulary(library, file) as opened:
        pieces = Pieces(library, opened)
        ends = set(pieces.ends)
        flags = [TokenFlag.END_OF_GENERATION if n in ends else TokenFlag(0) for n in range(len(pieces.texts))]
        vocabulary = Vocabulary(len(pieces.texts), pieces.texts, flags)
        total = 0
        for name, grammar in GRAMMARS.items():
            started = time.monotonic()
            constraint = Constraint.gbnf(vocabulary, grammar)
            compared = sum(walk(constraint, grammar, pieces, Random(f"{name} {n}")) for n in range(n_walks))
            total += compared
            print(f"{name}: {compared} positions equal, {time.monotonic() - started:.0f} s", flush=True)
        print(f"{total} positions of {len(pieces.texts):,} tokens, all equal")


def walk(constraint: Constraint, grammar: str, pieces: Pieces, random: Random) -> int:
    """Compares the masks along one text; returns at how many positions."""
    matcher, text, ends = Matcher(constraint), b"", set(pieces.ends)
    sampler = LlamaGrammar(pieces, grammar)
    with sampler:
        candidates = np.frombuffer(
            pieces.library.ffi.buffer(sampler.data), dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)]
        )
        for position in range(TOKENS):
            candidates["id"], candidates["logit"] = np.arange(sampler.n), 0
            sampler.array.data, sampler.array.size, sampler.array.selected = sampler.data, sampler.n, -1
            sampler.c.llama_sampler_apply(sampler.sampler, sampler.array)
            legal = np.flatnonzero(candidates["logit"] == 0).tolist()
            expected = {token for token in legal if is_text(text + pieces.texts[token])}
            allowed = matcher.allowed()
            assert allowed is not None
            found = set(allowed.tolist())
            if found != expected:
                more, less = (sorted(each)[:20] for each in (found - expected, expected - found))
                sys.exit(f"after {text!r}: allowed but wrong {more}, missing {less}\n{grammar}")
            possible = sorted(found - ends)
            if not possible:
                return position + 1
            token = random.choice(possible)
            assert Step.REFUSED not in matcher.accept(token)
            sampler.accept(token)
            text += pieces.texts[token]
    return TOKENS


if __name__ == "__main__":
    main()
