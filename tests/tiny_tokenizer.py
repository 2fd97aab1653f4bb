"""A tokenizer of transformers with a small vocabulary."""

from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers


def tiny_tokenizer(*special: str) -> Any:
    """Bytes and a few pairs of them in GPT-2's spelling, `<pad>`, `</s>`, and more special tokens."""
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("r", "e"), ("e", "d"), ("re", "d"), ("g", "r"), ("gr", "e"), ('"', ":")]
    words = [*letters, *(one + other for one, other in merges), "<pad>", "</s>", *special]
    built = Tokenizer(models.BPE(vocab={word: at for at, word in enumerate(words)}, merges=merges))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=built, pad_token="<pad>", eos_token="</s>")
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    return tokenizer
