"""Opening models, and text to tokens and back."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from eliza_inference import (
    ClosedError,
    LlamaInfo,
    Model,
    ModelFileError,
    StateError,
    find_llama,
    llama_info,
    load_llama,
)

from conftest import MODEL_FILE


def test_text_comes_back_from_its_tokens(model: Model) -> None:
    text = "User: héllo 😀\nAction:"
    tokens = model.tokenize(text)
    assert model.detokenize(tokens) == text
    assert model.tokenize(text, add_special=True) != [] and model.tokenize("") == []
    assert model.detokenize([]) == ""


def test_control_tokens_are_spelled_if_that_is_asked_for(model: Model) -> None:
    (end, *_) = model.vocabulary.end_of_generation_tokens()
    tokens = [*model.tokenize("a"), end]
    assert model.detokenize(tokens) == "a"
    assert model.detokenize(tokens, unparse_special=True).removeprefix("a") != ""


def test_a_text_longer_than_the_first_guess_comes_back(model: Model) -> None:
    text = "remind me to summarize the conversation " * 200
    assert model.detokenize(model.tokenize(text)) == text


def test_a_missing_model_is_an_error_that_names_the_file(llama: LlamaInfo, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"missing\.gguf") as caught:
        Model(tmp_path / "missing.gguf")
    assert isinstance(caught.value, OSError)


def test_a_damaged_model_is_an_error_that_names_the_file(llama: LlamaInfo, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(MODEL_FILE.read_bytes()[:5000])
    with pytest.raises(ModelFileError, match=r"damaged\.gguf"):
        Model(damaged)


def test_a_folder_with_a_model_under_text_is_a_bundle(llama: LlamaInfo, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "model.gguf").symlink_to(MODEL_FILE)
    with Model(tmp_path) as model:
        assert model.tokenize("a")


def test_a_closed_model_says_so(llama: LlamaInfo) -> None:
    with Model(MODEL_FILE) as model:
        pass
    model.close()
    for call in (lambda: model.tokenize("a"), lambda: model.detokenize([1]), lambda: model.vocabulary, model.stream):
        with pytest.raises(ClosedError, match="the model is closed"):
            call()


def test_a_stream_outlives_its_model(llama: LlamaInfo) -> None:
    with Model(MODEL_FILE) as model:
        stream = model.stream(context_size=64, max_tokens=4)
        prompt = model.tokenize("User: hello\nAction:", add_special=True)
    with stream:
        stream.prefill(prompt)
        assert stream.generate()


def test_names_that_begin_others_get_the_end_of_generation(model: Model) -> None:
    (end,) = model.vocabulary.end_of_generation_tokens()
    (descriptor,) = model.token_tree(["REPLY", "REPLY_THREAD"]).descriptors
    assert descriptor.end == (end,)
    assert [list(leaf.tokens) for leaf in descriptor.leaves] == [
        model.tokenize(" REPLY"),
        model.tokenize(" REPLY_THREAD"),
    ]
    assert model.token_tree(["REPLY", "NONE"]).descriptors[0].end == ()


def test_the_llama_in_use_is_told(llama: LlamaInfo) -> None:
    assert Path(llama.path).is_file()
    assert llama.version
    assert llama.layout
    assert llama_info() == load_llama() == llama


def test_another_llama_is_refused(llama: LlamaInfo) -> None:
    with pytest.raises(StateError, match="already loaded"):
        load_llama("/elsewhere/libllama.so")


def test_packages_near_the_working_directory_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[1] / "llama" / "node_modules")
    found = find_llama()
    assert found
    assert all("libllama-common" not in file.name for file in found)


@pytest.mark.parametrize("percent", range(1, 100, 7))
def test_a_model_that_is_cut_is_refused_at_once(llama: LlamaInfo, tmp_path: Path, percent: int) -> None:
    content = MODEL_FILE.read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(content[: len(content) * percent // 100])
    with pytest.raises(ModelFileError, match="is damaged"):
        Model(cut)


def test_a_libllama_without_its_backends_is_told_to_be_one(llama: LlamaInfo, tmp_path: Path) -> None:
    """As in an app whose libraries stay inside its archive, where no folder can be searched for them."""
    for file in Path(llama.path).parent.iterdir():
        if not file.name.startswith("libggml-cpu"):
            (tmp_path / file.name).symlink_to(file)
    code = f"from eliza_inference import Model\nModel({str(MODEL_FILE)!r})"
    environment = {**os.environ, "ELIZA_INFERENCE_LLAMA": str(tmp_path / Path(llama.path).name)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode != 0
    assert "has no backend that could run it" in result.stderr
    assert "ggml_backend_load" in result.stderr


def test_all_files_of_a_model_are_checked(tmp_path: Path, llama: LlamaInfo) -> None:
    key = b"split.count"
    head = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(key)) + key + struct.pack("<IH", 2, 3)  # a u16
    files = [tmp_path / f"part-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    files[0].write_bytes(head)
    with pytest.raises(ModelFileError, match=r"part-00002-of-00003\.gguf: there is no such file"):
        Model(files[0])
    files[1].write_bytes(head)
    files[2].write_bytes(head[:-1])
    with pytest.raises(ModelFileError, match=r"part-00003-of-00003\.gguf is damaged"):
        Model(files[0])
    files[2].write_bytes(head)
    with pytest.raises(ModelFileError, match="libllama cannot load it"):
        Model(files[0])
    (tmp_path / "other.gguf").write_bytes(head)
    with pytest.raises(ModelFileError, match="libllama cannot load it"):
        Model(tmp_path / "other.gguf")
