"""Types of Python in Outlines, with this library as the backend of its generator.

pip install './bindings-python[outlines,transformers]' gguf accelerate     # the last two read the model's format
"""

from typing import Literal

import outlines
from eliza_inference.outlines import generator
from outlines.types import ipv4

from transformers import AutoModelForCausalLM, AutoTokenizer

folder, file = "tests/models", "eliza-router.gguf"
model = outlines.from_transformers(
    AutoModelForCausalLM.from_pretrained(folder, gguf_file=file),
    AutoTokenizer.from_pretrained(folder, gguf_file=file),
)
prompt = "User: set a timer for ten minutes\nAction:"

name = generator(model, Literal[" REPLY", " SET_TIMER", " PLAY_MUSIC"])
print(name(prompt, max_new_tokens=8).strip())  # prints: SET_TIMER

address = generator(model, ipv4)
print(address(prompt, max_new_tokens=40).count("."))  # prints: 3
