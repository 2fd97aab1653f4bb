"""Where `tests/run.py test transformers` has put transformers, torch and Outlines: behind everything else, so that what
is installed anyway is what is used. And a tiny model of random weights."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "build" / "transformers"))

import torch
from eliza_inference import Vocabulary

from tiny_tokenizer import tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM

PADDING = 13
"""By how many ids the logits are wider than the vocabulary."""


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return tiny_tokenizer()


@pytest.fixture(scope="session")
def vocabulary(tokenizer: Any) -> Vocabulary:
    return Vocabulary.from_transformers(tokenizer)


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> Any:
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer) + PADDING,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=1.0,
    )
    return LlamaForCausalLM(config).eval()
