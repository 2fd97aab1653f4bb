"""SGLang's grammar backend without a server: what `--grammar-backend eliza` does with a batch of requests.

pip install './bindings-python[sglang]' gguf     # the last one reads the model's format
"""

import json

import torch
from eliza_inference.sglang import ElizaGrammarBackend
from sglang.srt.constrained.base_grammar_backend import GrammarRow

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("tests/models", gguf_file="eliza-router.gguf")
backend = ElizaGrammarBackend(tokenizer, len(tokenizer), {tokenizer.eos_token_id})

call = {"type": "json_schema", "json_schema": {"enum": [{"minutes": 5}, {"minutes": 10}]}}
tag = {"type": "tag", "begin": "<call>", "content": call, "end": "</call>"}
requests = [
    backend.dispatch_json('{"enum": ["red", "green", "blue"]}'),
    backend.dispatch_regex("(SET|STOP)_TIMER"),
    backend.dispatch_structural_tag(json.dumps({"type": "structural_tag", "format": tag})),
]

torch.manual_seed(1)
texts = ["" for _ in requests]
while not all(request.is_terminated() for request in requests):
    mask = backend.allocate_vocab_mask(len(tokenizer), len(requests), "cpu")
    rows = [GrammarRow(row, request) for row, request in enumerate(requests) if not request.is_terminated()]
    requests[0].fill_vocab_mask_batched(rows, mask)
    logits = torch.randn(len(requests), len(tokenizer))  # a model's; these say nothing
    backend.apply_vocab_mask(logits, mask)
    for row, request in rows:
        token = int(logits[row].argmax())
        request.accept_token(token)
        if not request.is_terminated():
            texts[row] += tokenizer.decode([token])

print(json.loads(texts[0]) in ("red", "green", "blue"))  # prints: True
print(texts[1].endswith("_TIMER"))  # prints: True
print(json.loads(texts[2][len("<call>") : -len("</call>")]).keys())  # prints: dict_keys(['minutes'])
