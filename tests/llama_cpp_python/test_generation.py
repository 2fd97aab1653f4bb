"""Generation with llama-cpp-python's own classes, and the model that ships."""

import ctypes
import json
import re
from pathlib import Path
from typing import Any

import llama_cpp
import pytest
from eliza_inference import Constraint, InvalidArgumentError, Matcher, TokenFlag, TokenTree, Vocabulary
from eliza_inference.llama_cpp import ConstraintLogitsProcessor, add_to_chain, generate
from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

MODEL = Path(__file__).resolve().parents[1] / "models" / "eliza-router.gguf"
PROMPT = "User: set a timer for ten minutes\nAction:"
COLOURS = r" (red|green|blue|gr[ae]y|[0-9a-f]{6})"
SCHEMA = {
    "type": "object",
    "properties": {"red": {"type": "boolean"}, "size": {"enum": [1, 2, 10]}},
    "required": ["red", "size"],
    "additionalProperties": False,
}


def open_llama(**settings: Any) -> Any:
    return llama_cpp.Llama(str(MODEL), n_ctx=256, n_threads=1, n_threads_batch=1, seed=5, verbose=False, **settings)


@pytest.fixture(scope="module")
def llama() -> Any:
    return open_llama()


@pytest.fixture(scope="module")
def vocabulary(llama: Any) -> Vocabulary:
    return Vocabulary.from_llama_cpp(llama)


def test_the_vocabulary_is_that_of_the_file(vocabulary: Vocabulary) -> None:
    same = Vocabulary.from_gguf(MODEL)
    assert vocabulary.info.fingerprint == same.info.fingerprint
    assert [vocabulary.token_bytes(token) for token in range(len(same))] == [
        same.token_bytes(token) for token in range(len(same))
    ]
    texts = Constraint.choices(vocabulary, [" SET_TIMER"]), Constraint.choices(same, [" SET_TIMER"])
    assert Matcher(texts[0]).forced() == Matcher(texts[1]).forced()


def test_it_says_the_right_name_of_those_that_are_allowed(llama: Any, vocabulary: Vocabulary) -> None:
    names = [" REPLY", " SET_TIMER", " PLAY_MUSIC"]
    assert generate(llama, PROMPT, Constraint.choices(vocabulary, names), temperature=0) == " SET_TIMER"
    others = [" SEND_MESSAGE", " PLAY_MUSIC"]
    assert generate(llama, PROMPT, Constraint.choices(vocabulary, others), temperature=0) in others


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.0},
        {"temperature": 3.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
        {"temperature": 2.0, "repeat_penalty": 1.5},
        {"mirostat_mode": 2},
        {"mirostat_mode": 1},
    ],
    ids=str,
)
def test_every_way_to_sample_obeys(llama: Any, vocabulary: Vocabulary, settings: dict[str, Any]) -> None:
    for pattern in (COLOURS, "[a-c]{3,9}x", "(ä|é|☃){4}"):
        text = generate(llama, PROMPT, Constraint.regex(vocabulary, pattern), **settings)
        assert re.fullmatch(pattern, text), text
    constraint = Constraint.json_schema(vocabulary, SCHEMA, space="compact")
    document = json.loads(generate(llama, PROMPT, constraint, **settings))
    assert document["size"] in (1, 2, 10) and isinstance(document["red"], bool)


def test_messages_and_tokens_are_prompts_too(llama: Any, vocabulary: Vocabulary) -> None:
    constraint = Constraint.choices(vocabulary, ["red", "reddish"])
    messages = [{"role": "user", "content": "A colour?"}]
    assert generate(llama, messages, constraint) in ("red", "reddish")
    assert generate(llama, llama.tokenize(b"A colour:"), constraint) in ("red", "reddish")


def test_after_the_name_of_a_token_tree_only_the_end_is_legal(llama: Any, vocabulary: Vocabulary) -> None:
    tree = TokenTree.from_names(
        ["SET_TIMER", "PLAY_MUSIC"], lambda text: llama.tokenize(text.encode(), add_bos=False), prefix=" "
    )
    assert generate(llama, PROMPT, Constraint(vocabulary, tree), temperature=0) == " SET_TIMER"


def test_a_stream_of_tokens(llama: Any, vocabulary: Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(Constraint.regex(vocabulary, COLOURS))
    processors = llama_cpp.LogitsProcessorList([processor])
    parts = llama.create_completion(PROMPT, logits_processor=processors, max_tokens=None, stream=True)
    assert re.fullmatch(COLOURS, "".join(part["choices"][0]["text"] for part in parts))


def test_drafted_tokens_are_constrained_as_others_are(llama: Any, vocabulary: Vocabulary) -> None:
    """The prompt repeats itself, so that much of what follows is drafted, and some of that is refused."""
    constraint = Constraint.regex(vocabulary, r"( set a timer){4}( for ten){3} [a-d]{8}")
    prompt = "set a timer for ten set a timer set a timer for ten minutes set a timer for ten minutes"
    drafting = open_llama(draft_model=LlamaPromptLookupDecoding(num_pred_tokens=6, max_ngram_size=2))
    passes: list[int] = []
    evaluate = drafting.eval

    def counted(tokens: list[int]) -> None:
        passes.append(len(tokens))
        evaluate(tokens)

    drafting.eval = counted
    plain = generate(llama, prompt, constraint, temperature=0)
    assert generate(drafting, prompt, constraint, temperature=0) == plain
    assert len(passes) < len(llama.tokenize(plain.encode(), add_bos=False))


def test_a_failure_ends_the_text_and_is_raised(llama: Any) -> None:
    for end in (TokenFlag.END_OF_GENERATION, TokenFlag.NORMAL):
        longer = Vocabulary(645, [b"a"] * 645, [end if token == llama.token_eos() else 0 for token in range(645)])
        with pytest.raises(InvalidArgumentError, match="640 logits are fewer"):
            generate(llama, PROMPT, Constraint.regex(longer, "a*"), max_tokens=5)


def test_a_chain_of_samplers(llama: Any, vocabulary: Vocabulary) -> None:
    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    constraint = Constraint.regex(vocabulary, COLOURS)
    for seed in range(20):
        chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        add_to_chain(chain, llama, constraint)
        llama_cpp.llama_sampler_chain_add(chain, llama_cpp.llama_sampler_init_temp(ctypes.c_float(5.0)))
        llama_cpp.llama_sampler_chain_add(chain, llama_cpp.llama_sampler_init_dist(seed))
        llama.reset()
        llama.eval(llama.tokenize(PROMPT.encode()))
        tokens: list[int] = []
        while not tokens or not llama_cpp.llama_vocab_is_eog(vocab, tokens[-1]):
            tokens.append(llama_cpp.llama_sampler_sample(chain, llama.ctx, -1))
            llama.eval(tokens[-1:])
        llama_cpp.llama_sampler_free(chain)
        assert re.fullmatch(COLOURS, llama.detokenize(tokens[:-1]).decode())
