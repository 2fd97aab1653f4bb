"""One of your names with llama-cpp-python, greedily, and a drawn document of a JSON Schema.

pip install './bindings-python[llama-cpp]'
"""

import json

from eliza_inference import Constraint, Vocabulary
from eliza_inference.llama_cpp import generate
from llama_cpp import Llama

llama = Llama("tests/models/eliza-router.gguf", n_ctx=256, verbose=False)
vocabulary = Vocabulary.from_llama_cpp(llama)
prompt = "User: set a timer for ten minutes\nAction:"

names = Constraint.choices(vocabulary, [" REPLY", " SET_TIMER", " PLAY_MUSIC"])
print(generate(llama, prompt, names, temperature=0).strip())  # prints: SET_TIMER

timer = Constraint.json_schema(vocabulary, {"enum": [{"minutes": 10}, {"minutes": 20}]}, space="compact")
print(json.loads(generate(llama, prompt, timer))["minutes"] in (10, 20))  # prints: True
