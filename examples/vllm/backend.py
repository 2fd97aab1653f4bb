"""vLLM's structured output without a server: what the plugin does with a batch of requests, and with a draft.

pip install './bindings-python[vllm]' gguf     # the last one reads the model's format
"""

import json
from types import SimpleNamespace

import torch
from eliza_inference import apply_bitmaps
from eliza_inference.vllm import ElizaBackend
from vllm.config import StructuredOutputsConfig
from vllm.v1.structured_output.backend_types import StructuredOutputOptions

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("tests/models", gguf_file="eliza-router.gguf")
config = SimpleNamespace(structured_outputs_config=StructuredOutputsConfig(backend="guidance"))
backend = ElizaBackend(config, tokenizer, len(tokenizer))

end = {tokenizer.eos_token_id}
requests = [
    backend.compile_grammar(StructuredOutputOptions.JSON, '{"enum": [{"minutes": 5}, {"minutes": 10}]}', end),
    backend.compile_grammar(StructuredOutputOptions.REGEX, "(SET|STOP)_TIMER", end),
]

torch.manual_seed(1)
texts = ["" for _ in requests]
masks = backend.allocate_token_bitmask(len(requests))
while not all(request.is_terminated() for request in requests):
    for row, request in enumerate(requests):
        request.fill_bitmask(masks, row)
    logits = torch.randn(len(requests), len(tokenizer))  # a model's; these say nothing
    apply_bitmaps(logits, masks)
    for row, request in enumerate(requests):
        token = int(logits[row].argmax())
        if not request.is_terminated() and request.accept_tokens(f"request {row}", [token]):
            texts[row] += tokenizer.decode([token], skip_special_tokens=True)

print(json.loads(texts[0]).keys())  # prints: dict_keys(['minutes'])
print(texts[1].endswith("_TIMER"))  # prints: True

requests[1].reset()
draft = tokenizer.encode("SET_TIMERS", add_special_tokens=False)
print(tokenizer.decode(requests[1].validate_tokens(draft)))  # prints: SET_TIMER
