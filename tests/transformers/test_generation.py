"""Generation with transformers' own classes on the CPU, with a tiny model of random weights: whatever it would like to
say, each text obeys the constraint."""

import json
import re
from typing import Any

import pytest
import torch
from eliza_inference import Constraint, InvalidArgumentError, Matcher, TokenTree, Vocabulary, apply_bitmaps
from eliza_inference._logits import _mask_on_device
from eliza_inference.transformers import ConstraintLogitsProcessor, generate

from transformers import LogitsProcessorList

PROMPTS = ["a colour: ", "a somewhat longer prompt for another colour, please: "]
COLOURS = r"(red|green|blue|gr[ae]y|[0-9a-f]{6})"


def test_the_vocabulary_is_that_of_the_tokenizer(tokenizer: Any, vocabulary: Vocabulary) -> None:
    assert len(vocabulary) == len(tokenizer)
    assert vocabulary.end_of_generation_tokens() == (tokenizer.eos_token_id,)
    matcher = Matcher(Constraint.choices(vocabulary, ["red rose"]))
    assert matcher.forced()[:2] == tokenizer.encode("red rose", add_special_tokens=False)[:2]
    with pytest.raises(TypeError, match="expected a fast tokenizer"):
        Vocabulary.from_transformers(object())


SETTINGS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 2.0},
    "sequences": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 4},
    "beams-returned": {"num_beams": 4, "num_return_sequences": 4},
    "beams-sampled": {"num_beams": 3, "do_sample": True},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_every_text_of_a_padded_batch_is_a_colour(
    model: Any, tokenizer: Any, vocabulary: Vocabulary, settings: dict[str, Any], dtype: Any
) -> None:
    torch.manual_seed(1)
    constraint = Constraint.regex(vocabulary, COLOURS)
    texts = generate(model.to(dtype), tokenizer, PROMPTS, constraint, max_new_tokens=20, **settings)
    assert len(texts) == 2 * settings.get("num_return_sequences", 1)
    for text in texts:
        assert re.fullmatch(COLOURS, text), text


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_documents_of_a_json_schema(
    model: Any, tokenizer: Any, vocabulary: Vocabulary, settings: dict[str, Any]
) -> None:
    torch.manual_seed(2)
    schema = {
        "type": "object",
        "properties": {"red": {"type": "boolean"}, "size": {"enum": [1, 2, 10]}},
        "required": ["red", "size"],
        "additionalProperties": False,
    }
    constraint = Constraint.json_schema(vocabulary, schema, space="compact")
    texts = generate(model.float(), tokenizer, PROMPTS, constraint, max_new_tokens=60, **settings)
    for text in texts:
        document = json.loads(text)
        assert document["size"] in (1, 2, 10)
        assert isinstance(document["red"], bool)


def test_one_prompt_gives_one_text(model: Any, tokenizer: Any, vocabulary: Vocabulary) -> None:
    constraint = Constraint.choices(vocabulary, ["red", "reddish"])
    text = generate(model.float(), tokenizer, PROMPTS[0], constraint, max_new_tokens=9)
    assert text in ("red", "reddish")


def test_after_the_name_of_a_token_tree_only_the_end_is_legal(
    model: Any, tokenizer: Any, vocabulary: Vocabulary
) -> None:
    def tokenize(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False))

    tree = TokenTree.from_names(["red", "green", "blue"], tokenize)
    texts = generate(model.float(), tokenizer, PROMPTS, Constraint(vocabulary, tree), max_new_tokens=30)
    assert set(texts) <= {"red", "green", "blue"}


def test_beams_with_fewer_texts_than_beams(model: Any, tokenizer: Any, vocabulary: Vocabulary) -> None:
    constraint = Constraint.choices(vocabulary, ["red", "blue"])
    texts = generate(model.float(), tokenizer, PROMPTS, constraint, max_new_tokens=10, num_beams=6)
    assert set(texts) <= {"red", "blue"}


def test_the_processor_masks_what_a_matcher_of_each_text_does(
    model: Any, tokenizer: Any, vocabulary: Vocabulary
) -> None:
    """Rows change places, are doubled and go back, as in beams, and each step is compared with fresh matchers."""
    constraint = Constraint.regex(vocabulary, "[a-c]*x?")
    processor = ConstraintLogitsProcessor(constraint)
    prompt = [[5, 6], [7, 8], [9, 10]]
    width = model.config.vocab_size
    histories = [
        ["", "", ""],
        ["a", "b", "c"],
        ["bx", "ba", "bb"],
        ["bab", "bab", "bx?"],
        ["bxaa", "bxcc", "babb"],
        ["bx", "ca", "b?"],
        ["cac", "bcx", "bbc"],
        ["caca", "bcxb", "bbcc"],
        ["cacac", "bcxba", "bbcca"],
    ]
    for texts in histories:
        ids = torch.tensor([[*start, *tokenizer.encode(text)] for start, text in zip(prompt, texts, strict=True)])
        masked = processor(ids, torch.zeros(3, width))
        for row, text in zip(masked, texts, strict=True):
            matcher = Matcher(constraint)
            allowed = matcher.allowed() if matcher.accept_tokens(tokenizer.encode(text)) else ()
            assert allowed is not None
            assert torch.isfinite(row).nonzero().flatten().tolist() == [int(token) for token in allowed]


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_where_every_token_is_legal_those_that_the_tokenizer_has_not_are_masked(
    vocabulary: Vocabulary, dtype: Any
) -> None:
    constraint = Constraint.choices(vocabulary, ["a"])
    processor = ConstraintLogitsProcessor(constraint, end=[])
    n_tokens, allowed = len(vocabulary), Matcher(constraint, end=[]).allowed()
    assert allowed is not None
    [letter] = map(int, allowed)
    for ids, legal in ([[5], [6]], [letter]), ([[5, letter], [6, letter]], range(n_tokens)):
        masked = processor(torch.tensor(ids), torch.zeros(2, n_tokens + 7, dtype=dtype))
        for row in masked:
            assert torch.isfinite(row).nonzero().flatten().tolist() == list(legal)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_scores_of_other_rows_than_the_texts_are_refused_and_stay(vocabulary: Vocabulary, dtype: Any) -> None:
    processor = ConstraintLogitsProcessor(Constraint.choices(vocabulary, ["a"]))
    wrong = torch.zeros(2, len(vocabulary), dtype=dtype)
    for ids in (torch.tensor([[5], [6], [7]]), torch.tensor([[5]])):
        with pytest.raises(InvalidArgumentError, match=f"scores: 2 rows for input_ids of {len(ids)} rows"):
            processor(ids, wrong)
    with pytest.raises(InvalidArgumentError, match=r"scores: expected two dimensions, got the shape \[5\]"):
        processor(torch.tensor([[5]]), torch.zeros(5, dtype=dtype))
    assert not wrong.any()
    # It was not moved on: this is the first call.
    assert torch.isfinite(processor(torch.tensor([[5], [6]]), wrong)).sum() == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_scores_that_record_gradients_are_masked(vocabulary: Vocabulary, dtype: Any) -> None:
    constraint = Constraint.choices(vocabulary, ["a"])
    scores = torch.zeros(1, len(vocabulary) + 7, dtype=dtype, requires_grad=True)
    assert ConstraintLogitsProcessor(constraint)(torch.tensor([[5]]), scores) is scores
    assert torch.isfinite(scores).sum() == 1
    row = torch.zeros(len(vocabulary) + 7, dtype=dtype, requires_grad=True)
    for mask in (apply_bitmaps, _mask_on_device):
        mask(row, torch.from_numpy(Matcher(constraint).fill_bitmap()))
        assert torch.isfinite(row).sum() == 1


def test_what_is_no_tensor_is_refused(vocabulary: Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(Constraint.choices(vocabulary, ["a"]))
    ids, scores = torch.tensor([[5]]), torch.zeros(1, len(vocabulary))
    with pytest.raises(TypeError, match="scores: expected a Tensor, got ndarray"):
        processor(ids, scores.numpy())
    with pytest.raises(TypeError, match="input_ids: expected a Tensor, got list"):
        processor([[5]], scores)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scores_may_be_a_part_of_a_tensor(vocabulary: Vocabulary, dtype: Any) -> None:
    n_tokens, constraint = len(vocabulary), Constraint.regex(vocabulary, "[a-c]+")
    legal = Matcher(constraint).allowed()
    assert legal is not None
    allowed = list(map(int, legal))
    for part in ((slice(1, None, 2), slice(3, n_tokens + 5)), (slice(2), slice(None, 2 * n_tokens + 4, 2))):
        whole = torch.randn(5, 3 * n_tokens).to(dtype)
        expected, scores = whole.clone(), whole[part]
        kept = expected[part][:, allowed]
        expected[part] = float("-inf")
        expected[part][:, allowed] = kept
        ConstraintLogitsProcessor(constraint)(torch.tensor([[5], [6]]), scores)
        assert whole.equal(expected)


def test_scores_of_integers_are_refused(vocabulary: Vocabulary) -> None:
    processor = ConstraintLogitsProcessor(Constraint.choices(vocabulary, ["a"]))
    with pytest.raises(TypeError, match="expected floats of 16, 32 or 64 bits, got int32"):
        processor(torch.tensor([[5]]), torch.zeros(1, len(vocabulary), dtype=torch.int32))


def test_it_stands_among_other_processors(model: Any, tokenizer: Any, vocabulary: Vocabulary) -> None:
    inputs = tokenizer(PROMPTS, return_tensors="pt", padding=True, padding_side="left")
    processor = ConstraintLogitsProcessor(Constraint.regex(vocabulary, COLOURS))
    output = model.float().generate(
        **inputs, logits_processor=LogitsProcessorList([processor]), max_new_tokens=20, repetition_penalty=1.3
    )
    for text in tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True):
        assert re.fullmatch(COLOURS, text), text


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_tensors_of_every_float_type_are_masked_in_place(vocabulary: Vocabulary, dtype: Any) -> None:
    matcher = Matcher(Constraint.regex(vocabulary, "[a-c]+"))
    logits = torch.randn(3, len(vocabulary) + 13).to(dtype)
    before = logits.clone()
    matcher.apply_bitmap(logits[1])
    assert logits[0].equal(before[0]) and logits[2].equal(before[2])
    allowed = matcher.allowed()
    assert allowed is not None
    kept = torch.isfinite(logits[1]).nonzero().flatten().tolist()
    assert kept == [int(token) for token in allowed]
    assert logits[1, kept].equal(before[1, kept])
    for mask in (apply_bitmaps, _mask_on_device):
        again = before[1].clone()
        mask(again, torch.from_numpy(matcher.fill_bitmap()))
        assert again.equal(logits[1])
    with pytest.raises(TypeError):
        apply_bitmaps(torch.zeros(5, dtype=torch.int64), matcher.fill_bitmap())
