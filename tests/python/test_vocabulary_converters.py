"""Vocabularies from tokenizer files: the cases of tests/vocabularies, and the libraries whose files these are."""

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from eliza_inference import (
    Constraint,
    ElizaError,
    FileInvalidError,
    InvalidArgumentError,
    LlamaInfo,
    Matcher,
    Model,
    Status,
    TokenFlag,
    Vocabulary,
)

from conftest import MODEL_FILE, TESTS

Case = dict[str, Any]
OPTIONS = ("special", "n_tokens", "end_of_generation")
TEXTS = [
    "The cat sat on the mat.",
    "  two  spaces\tand\na line\r\n",
    "Größe, naïve café, 日本語, emoji 😀👩‍👩‍👧, \u0000\u007f\u00ad\u00a0",
    "def f(x):\n    return x ** 2  # x²\n",
]


def cases(file: str) -> list[Any]:
    read = json.loads((TESTS / "vocabularies" / file).read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["name"]) for case in read]


def expected_token(token: str | dict[str, Any]) -> tuple[bytes, TokenFlag]:
    if isinstance(token, str):
        return token.encode(), TokenFlag.NORMAL
    flags = TokenFlag.NORMAL
    for name in token.get("flags", []):
        flags |= TokenFlag[name.upper()]
    return bytes.fromhex(token["hex"]) if "hex" in token else token["text"].encode(), flags


def all_tokens(vocabulary: Vocabulary) -> list[tuple[bytes, TokenFlag]]:
    return [(vocabulary.token_bytes(token), vocabulary.flags(token)) for token in range(len(vocabulary))]


def check(case: Case, convert: Any, source: object) -> None:
    options = {name: case[name] for name in OPTIONS if name in case}
    if "error" not in case:
        assert all_tokens(convert(source, **options)) == list(map(expected_token, case["tokens"]))
        return
    with pytest.raises(ElizaError) as caught:
        convert(source, **options)
    status = {f"ELIZA_ERR_{status.name}": status for status in Status}[case["error"]["status"]]
    assert caught.value.status == status, caught.value
    for part in case["error"]["message"]:
        assert part in str(caught.value)


@pytest.mark.parametrize("case", cases("tokenizer_json.json"))
def test_tokenizer_json(case: Case, tmp_path: Path) -> None:
    if "tokenizer_json" in case:
        check(case, Vocabulary.from_tokenizer_json, case["tokenizer_json"])
    text = case["text"] if "text" in case else json.dumps(case["tokenizer_json"])
    check(case, Vocabulary.from_tokenizer_json, text)
    check(case, Vocabulary.from_tokenizer_json, text.encode())
    file = tmp_path / "tokenizer.json"
    file.write_text(text)
    check(case, Vocabulary.from_tokenizer_json, file)
    check(case, Vocabulary.from_tokenizer_json, str(file))


@pytest.mark.parametrize("case", cases("tiktoken.json"))
def test_tiktoken(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "made_up.tiktoken"
    file.write_bytes(case["ranks"].encode())
    check(case, Vocabulary.from_tiktoken, file)
    if "error" not in case:
        lines = [line.split() for line in case["ranks"].splitlines() if line]
        check(case, Vocabulary.from_tiktoken, {base64.b64decode(token): int(rank) for token, rank in lines})


def test_a_message_begins_with_the_file_and_the_place(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"decoder": {"type": "ByteLevel"}, "model": {"vocab": {"a": 0, "b": "one"}}}))
    with pytest.raises(FileInvalidError) as caught:
        Vocabulary.from_tokenizer_json(file)
    assert str(caught.value).startswith(f"{file}: model.vocab['b']: 'one'")
    ranks = tmp_path / "ranks"
    ranks.write_text("YQ== 0\n\n*** 1\n")
    with pytest.raises(FileInvalidError) as caught:
        Vocabulary.from_tiktoken(ranks)
    assert str(caught.value).startswith(f"{ranks}: line 3: expected base64 and a rank, got '*** 1'")


@pytest.mark.parametrize("text", ["[1]", "null", "5"])
def test_a_file_that_is_no_object_is_told_without_a_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(text)
    with pytest.raises(FileInvalidError, match=f"^{re.escape(str(file))}: expected an object, got "):
        Vocabulary.from_tokenizer_json(file)


def test_a_missing_file_is_the_error_of_the_system(tmp_path: Path) -> None:
    for convert in (Vocabulary.from_tokenizer_json, Vocabulary.from_tiktoken):
        with pytest.raises(FileNotFoundError):
            convert(tmp_path / "missing")


def test_ranks_that_are_no_bytes_are_an_error() -> None:
    with pytest.raises(FileInvalidError, match="'a': expected bytes"):
        Vocabulary.from_tiktoken({"a": 0})  # type: ignore[dict-item]


def test_an_end_token_that_is_not_there_is_an_error() -> None:
    for end in (2, "a", "</s>"):
        with pytest.raises(InvalidArgumentError, match=f"end_of_generation: {end!r}"):
            Vocabulary.from_tiktoken({b"a": 0}, special={"<end>": 1}, end_of_generation=[end])


# ---- The libraries themselves as the reference -----------------------------------------------------------------------


def token_texts(vocabulary: Vocabulary, tokens: list[int]) -> bytes:
    return b"".join(map(vocabulary.token_bytes, tokens))


def trained(tokenizer: tokenizers.Tokenizer, trainer: Any) -> tokenizers.Tokenizer:
    tokenizer.train_from_iterator(TEXTS * 2, trainer)
    return tokenizer


def byte_level(split: bool) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=split)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>", "<|im_end|>"]
    return trained(tokenizer, trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=special))


def sentencepiece_bpe() -> tokenizers.Tokenizer:
    """As in Llama 2: spaces by a normalizer, bytes by fallback, a decoder of four steps."""
    from tokenizers import Tokenizer, decoders, models, normalizers, trainers

    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trained(tokenizer, trainers.BpeTrainer(vocab_size=340, special_tokens=special, limit_alphabet=40))
    # The tokens of bytes are ordinary ones, which the trainer cannot be told.
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = document["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(document))


def metaspace_unigram() -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    return trained(tokenizer, trainers.UnigramTrainer(vocab_size=150, special_tokens=special, unk_token="<unk>"))


@pytest.mark.parametrize("split", [False, True])
def test_a_byte_level_vocabulary_spells_what_its_tokenizer_encodes(split: bool) -> None:
    tokenizer = byte_level(split)
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer.to_str())
    assert len(vocabulary) == tokenizer.get_vocab_size()
    assert vocabulary.end_of_generation_tokens() == (0, 1)
    for text in TEXTS:
        assert token_texts(vocabulary, tokenizer.encode(text).ids) == text.encode()
    for token in range(2, len(vocabulary)):
        assert vocabulary.token_bytes(token).decode("utf-8", "replace") == tokenizer.decode([token])


def test_a_sentencepiece_vocabulary_spells_what_its_tokenizer_encodes() -> None:
    tokenizer = sentencepiece_bpe()
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer.to_str())
    assert [vocabulary.flags(token) for token in range(4)] == [
        TokenFlag.SPECIAL,
        TokenFlag.SPECIAL,
        TokenFlag.SPECIAL | TokenFlag.END_OF_GENERATION,
        TokenFlag.NORMAL,
    ]
    used_bytes = False
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        used_bytes |= any(3 <= token < 259 for token in ids)
        # The tokenizer puts a space before the text; the decoder takes it away.
        assert token_texts(vocabulary, ids) == b" " + text.encode()
        assert tokenizer.decode(ids) == text
    assert used_bytes


def test_a_unigram_vocabulary_spells_what_its_tokenizer_encodes() -> None:
    tokenizer = metaspace_unigram()
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer.to_str())
    assert vocabulary.end_of_generation_tokens() == (1,)
    assert vocabulary.flags(2) == TokenFlag.SPECIAL
    text = TEXTS[0]
    ids = tokenizer.encode(text).ids
    assert token_texts(vocabulary, ids) == b" " + text.encode()
    assert tokenizer.decode(ids) == text


def test_added_tokens_spell_what_they_are_found_as() -> None:
    tokenizer = byte_level(split=False)
    tokenizer.add_tokens(["    ", "日本"])
    tokenizer.add_special_tokens(["<|tool|>"])
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer.to_str())
    ids = tokenizer.encode("    in 日本<|tool|>").ids
    assert token_texts(vocabulary, ids) == "    in 日本<|tool|>".encode()
    assert vocabulary.flags(ids[-1]) == TokenFlag.SPECIAL


def tiktoken_encoding() -> tiktoken.Encoding:
    from tiktoken._educational import bpe_train

    pattern = r"\s?\p{L}+|\s?\p{N}+|\s?[^\s\p{L}\p{N}]+|\s+"
    ranks = bpe_train("".join(TEXTS * 2), 300, pattern, visualise=None)
    return tiktoken.Encoding(
        "made-up", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 310, "<|fim_prefix|>": 311}
    )


def written(ranks: Mapping[bytes, int], file: Path) -> Path:
    file.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
    return file


def test_a_tiktoken_vocabulary_spells_what_its_encoding_does(tmp_path: Path) -> None:
    encoding = tiktoken_encoding()
    ranks, special = encoding._mergeable_ranks, encoding._special_tokens
    from_file = Vocabulary.from_tiktoken(written(ranks, tmp_path / "ranks"), special=special, n_tokens=320)
    assert all_tokens(from_file) == all_tokens(Vocabulary.from_tiktoken(ranks, special=special, n_tokens=320))
    assert from_file.end_of_generation_tokens() == (310,)
    for token in range(320):
        try:
            assert from_file.token_bytes(token) == encoding.decode_single_token_bytes(token)
        except KeyError:
            assert (from_file.token_bytes(token), from_file.flags(token)) == (b"", TokenFlag.UNUSED)
    for text in TEXTS:
        assert token_texts(from_file, encoding.encode_ordinary(text)) == text.encode()


def test_a_gguf_file_has_the_vocabulary_of_its_model(llama: LlamaInfo, model: Model) -> None:
    vocabulary = Vocabulary.from_gguf(MODEL_FILE, model_id="eliza-router")
    assert all_tokens(vocabulary) == all_tokens(model.vocabulary)
    # Its tokenizer outlives the model that it was read from.
    canonical = Constraint.choices(vocabulary, [" SEND_REMINDER"], canonical=True)
    assert Matcher(canonical).forced() == model.tokenize(" SEND_REMINDER")
    with pytest.raises(ElizaError):
        Vocabulary.from_gguf(TESTS / "models" / "actions.txt")
