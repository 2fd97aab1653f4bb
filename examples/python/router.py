"""One of your names: the model reads a message and says which action answers it."""

from eliza_inference import Model

ACTIONS = ["REPLY", "SEND_EMAIL", "SET_TIMER", "PLAY_MUSIC", "GENERATE_IMAGE"]
MESSAGES = ["set a timer for ten minutes", "draw a picture of a house", "shuffle techno"]

with Model("tests/models/eliza-router.gguf") as model:
    names = model.token_tree(ACTIONS)
    for message in MESSAGES:
        with model.stream() as stream:
            stream.prefill(f"User: {message}\nAction:")
            print(stream.choose(names))
# prints: SET_TIMER
# prints: GENERATE_IMAGE
# prints: PLAY_MUSIC
