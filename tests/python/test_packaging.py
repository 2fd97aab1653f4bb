"""The generated declarations, the version, and what the package needs."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import eliza_inference
import pytest
from eliza_inference import LibraryError, LlamaInfo, Step, library_version
from eliza_inference._library import ffi, lib

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "native" / "abi" / "manifest.json"
ABI = json.loads(MANIFEST.read_text(encoding="utf-8"))


def test_the_declarations_are_those_of_the_manifest(tmp_path: Path) -> None:
    generated = tmp_path / "_abi.py"
    script = ROOT / "bindings-python" / "declarations.py"
    subprocess.run([sys.executable, script, MANIFEST, generated], check=True)
    installed = Path(eliza_inference.__file__).with_name("_abi.py")
    assert installed.read_text() == generated.read_text(), "stale: install the package again"


def test_every_function_of_the_header_is_exported() -> None:
    assert len(ABI["functions"]) > 60
    for function in ABI["functions"]:
        assert getattr(lib, function["name"])


def test_a_function_that_a_build_lacks_is_an_error_that_names_it() -> None:
    with pytest.raises(LibraryError, match="no function eliza_inference_of_the_future"):
        lib.eliza_inference_of_the_future()


def test_the_stream_config_has_the_size_that_hosts_know() -> None:
    assert ffi.sizeof("eliza_llm_stream_config_t") == {8: 88, 4: 64}[ffi.sizeof("void *")]


def test_the_package_and_the_library_have_one_version() -> None:
    assert version("eliza-inference") == library_version()


def test_constants_come_from_the_header() -> None:
    assert {name: int(step) for name, step in Step.__members__.items()} == {
        "NONE": 0, "IN_SPAN": 1, "SPAN_ENDED": 2, "SPAN_STARTED": 4, "TIMED_OUT": 8, "REFUSED": 16,
    }  # fmt: skip
    limits = [constant for constant in ABI["constants"] if constant["section"] == 3]
    assert len(limits) > 10
    for limit in limits:
        assert getattr(eliza_inference.limits, limit["name"].removeprefix("ELIZA_")) == limit["value"]


def test_importing_the_package_needs_neither_numpy_nor_click() -> None:
    code = "import sys, eliza_inference; print(sorted({'numpy', 'click', 'rich', 'msgpack'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_without_numpy_allowed_ids_are_a_memoryview() -> None:
    code = """
import sys
sys.modules["numpy"] = None
from eliza_inference import Constraint, Matcher, TokenTree, Vocabulary
allowed = Matcher(Constraint(Vocabulary(9), TokenTree.from_names(["A", "B"], {"A": [3], "B": [5]}))).allowed()
print(type(allowed).__name__, allowed.tolist(), allowed.readonly)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "memoryview [3, 5] True\n"


def test_the_grammars_are_those_of_the_repository() -> None:
    shipped = {name: eliza_inference.grammars.text(name) for name in eliza_inference.grammars.names()}
    files = (ROOT / "native" / "grammars").glob("*.lark")
    assert shipped == {file.stem: file.read_text(encoding="utf-8") for file in files}, (
        "stale: install the package again"
    )


def test_the_examples_of_the_package_run_as_written_in_a_plain_install(llama: LlamaInfo) -> None:
    text = (ROOT / "bindings-python" / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 4
    without_extras = "import sys\nsys.modules.update(dict.fromkeys(['numpy', 'msgpack']))\n"
    for example in examples:
        command = [sys.executable, "-c", without_extras + example]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert result.stdout.split() == re.findall(r"print\(.*\)  # (\w+)", example)
