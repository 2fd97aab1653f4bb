"""Beams in transformers: the best few answers, each of which is one of the names.

pip install './bindings-python[transformers]' gguf accelerate     # the last two read the model's format
"""

from eliza_inference import Constraint, Vocabulary
from eliza_inference.transformers import generate

from transformers import AutoModelForCausalLM, AutoTokenizer

folder, file = "tests/models", "eliza-router.gguf"
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file)

names = [" SET_TIMER", " SEND_MESSAGE", " SEND_EMAIL", " PLAY_MUSIC", " GENERATE_IMAGE"]
constraint = Constraint.choices(Vocabulary.from_transformers(tokenizer), names)
prompt = "User: set a timer for ten minutes\nAction:"
beams = generate(model, tokenizer, prompt, constraint, max_new_tokens=8, num_beams=4, num_return_sequences=3)

print(beams[0].strip())  # prints: SET_TIMER
print(len(set(beams)), set(beams) <= set(names))  # prints: 3 True
