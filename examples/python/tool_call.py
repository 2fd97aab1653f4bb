"""A call of a function, as JSON that its schema allows. `tools` is what OpenAI's API takes."""

from eliza_inference import Constraint, Model

tools = [
    {
        "type": "function",
        "function": {
            "name": "set_timer",
            "parameters": {
                "type": "object",
                "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 90}},
                "required": ["minutes"],
                "additionalProperties": False,
            },
        },
    }
]

with Model("tests/models/eliza-router.gguf") as model, model.stream() as stream:
    constraint = Constraint.tool_call(model.vocabulary, tools, space="compact")
    stream.prefill("User: set a timer for ten minutes\nAction:")
    call = constraint.parse(stream.choose(constraint))
    stats = stream.stats

print(call["name"])  # prints: set_timer
print(1 <= call["arguments"]["minutes"] <= 90)  # prints: True
# Most of the text could not have been otherwise, and took no pass of the model.
print(stats.forced_tokens > stats.sampled_tokens)  # prints: True
